"""Front matter, read line by line: which keys a note or an agent definition sets, and on which lines.

Headers are written by hand and by agents, and one real header in fourteen is not valid YAML. So this reader takes
what it can, keeps every value as the text that was written (`2026-03-15` and `no` stay text), lists the lines it
could not place, and never raises (docs/protocol.md, decision 28).
"""

from ..limits import split_lines

_FENCE = "---"
_BLANK = " \t"
_ESCAPES = {"n": "\n", "t": "\t", "r": "\r", "0": "\0", "e": "\x1b", "a": "\a", "b": "\b", "v": "\v", "f": "\f"}
_ESCAPES |= {"N": "\x85", "_": "\xa0", "L": "\u2028", "P": "\u2029"}
_HEX_LENGTHS = {"x": 2, "u": 4, "U": 8}


class Field:
    """One key of a header, with all lines that belong to it."""

    __slots__ = ("children", "end", "items", "key", "line", "text")

    def __init__(self, key: str, line: int, end: int) -> None:
        self.key = key  # as written, without quotes
        self.line = line  # the line of the key, counted from 1 as in the file
        self.end = end  # the last line that belongs to it
        self.text = ""  # the value as written, without quotes and comments; "" for a list, a table or nothing
        # the items of a list, `[a, b]` or one `- a` a line; None if the value is not a list
        self.items: list[str] | None = None
        self.children: list[Field] = []  # the fields indented under the key; empty if there are none

    def __repr__(self) -> str:
        return f"Field({self.key!r}, {self.children or self.items or self.text!r}, lines {self.line}-{self.end})"


class Header:
    """The front matter of a text."""

    __slots__ = ("fields", "lines", "unreadable")

    def __init__(self, fields: list[Field], lines: int, unreadable: list[int]) -> None:
        self.fields = fields  # the keys at the left edge, in their order
        self.lines = lines  # how many lines the front matter takes, both `---` included
        self.unreadable = unreadable  # the numbers of the lines that are neither key, value nor comment

    def find(self, *keys: str) -> Field | None:
        """Return the field of that key, or below it: `find("metadata", "type")`. Of two alike the last counts."""
        fields, found = self.fields, None
        for key in keys:
            found = next((field for field in reversed(fields) if field.key == key), None)
            if found is None:
                return None
            fields = found.children
        return found

    def get(self, *keys: str) -> str | None:
        """Return the value as text; None if the key is missing or holds a list or a table."""
        field = self.find(*keys)
        return None if field is None or field.items is not None or field.children else field.text

    def texts(self, *keys: str) -> list[str] | None:
        """Return the items of a list; a single text is a list of one. None if the key is missing."""
        field = self.find(*keys)
        if field is None:
            return None
        if field.items is not None:
            return field.items
        return [field.text] if field.text else []


def front_matter_end(lines: list[str]) -> int:
    """Return how many lines the front matter takes, both `---` included; 0 without front matter.

    Front matter opens on the first line and holds a key before anything else, so that a document that begins with a
    rule (`---`) and has another further down does not lose what is between them.
    """
    if not lines or not _is_fence(lines[0]):
        return 0
    seen_key = seen_comment = False
    for index in range(1, len(lines)):
        line = lines[index]
        if _is_fence(line):
            return index + 1 if seen_key or not seen_comment else 0
        if not seen_key and line.strip(_BLANK):
            if line.startswith("#"):
                seen_comment = True
            elif _split_key(line):
                seen_key = True
            else:
                return 0
    return 0


def split_header(text: str) -> Header | None:
    """Read the front matter of a text; None without one."""
    return read_header(split_lines(text)) if text.startswith(_FENCE) else None


def read_header(lines: list[str]) -> Header | None:
    """Read the front matter of the lines of a text; None without one."""
    end = front_matter_end(lines)
    if not end:
        return None
    unreadable: list[int] = []
    return Header(_read_fields(lines, 1, end - 1, 0, unreadable), end, unreadable)


def _is_fence(line: str) -> bool:
    # Blanks after the dashes cannot be seen, and every host reads over them.
    return line == _FENCE or (line.startswith(_FENCE) and line.rstrip(_BLANK) == _FENCE)


def _read_fields(lines: list[str], start: int, stop: int, indent: int, unreadable: list[int]) -> list[Field]:
    """Read the keys that are exactly `indent` deep; what is deeper belongs to the key above it."""
    fields = []
    index = start
    while index < stop:
        line = lines[index]
        if not line.strip(_BLANK) or line.lstrip(_BLANK).startswith("#"):
            index += 1
            continue
        split = _split_key(line[indent:]) if _indent(line) == indent else None
        if split is None:
            unreadable.append(index + 1)
            index += 1
            continue
        key, value = split
        end = _end_of_field(lines, index, stop, indent, value)
        field = Field(key, index + 1, end)
        _read_value(field, value, lines, index + 1, end, indent, unreadable)
        fields.append(field)
        index = end
    return fields


def _end_of_field(lines: list[str], index: int, stop: int, indent: int, value: str) -> int:
    """Return the index after the last line of the field that begins at `index`."""
    if value.startswith("[") and _flow_items(value) is None:
        closing = _close_flow(lines, index + 1, stop, value)
        if closing:
            return closing
    end = index + 1
    dashes = not _without_comment(value)  # only then may a list follow the key without being indented
    for position in range(index + 1, stop):
        line = lines[position]
        if not line.strip(_BLANK):
            continue
        if _indent(line) > indent or (dashes and _indent(line) == indent and _is_item(line.strip(_BLANK))):
            end = position + 1
        elif not _is_idle(line):
            break
    return end


def _close_flow(lines: list[str], start: int, stop: int, value: str) -> int:
    """Return the index after the line that closes a `[` left open, or 0."""
    pieces = [_without_comment(value)]
    for position in range(start, stop):
        pieces.append(_without_comment(lines[position].strip(_BLANK)))
        if pieces[-1].endswith("]"):
            return position + 1 if _flow_items(" ".join(pieces)) is not None else 0
    return 0


def _read_value(
    field: Field, value: str, lines: list[str], start: int, end: int, indent: int, unreadable: list[int]
) -> None:
    if start == end and value[:1].isalnum() and "#" not in value:
        field.text = value.strip(_BLANK)  # as most are: no quote, bracket or comment, and nothing below
        return
    plain = _without_comment(value)
    if plain[:1] in ("|", ">") and not plain[1:].strip("+-0123456789"):
        field.text = _block_text(lines[start:end], folded=plain[0] == ">")
        return
    below = [position for position in range(start, end) if not _is_idle(lines[position])]
    if plain.startswith(("[", "{")):
        items = _flow_items(" ".join([plain] + [_without_comment(lines[position].strip(_BLANK)) for position in below]))
        if items is not None and plain[0] == "[":
            field.items = [_unquote(item) for item in items]
            return
        if items is not None:
            field.children = [_flow_child(item, field) for item in items]
            return
    if not below or plain:
        field.text = _scalar(value, [lines[position] for position in range(start, end)] if below else [])
        return
    first = lines[below[0]]
    if _is_item(first.strip(_BLANK)):
        field.items = _block_items([lines[position] for position in below])
    elif _split_key(first.strip(_BLANK)) and not indent:
        field.children = _read_fields(lines, start, end, _indent(first), unreadable)
    elif not indent:
        _read_value(field, first.strip(_BLANK), lines, below[0] + 1, end, indent, unreadable)


def _split_key(line: str) -> tuple[str, str] | None:
    """Split `key: value` at the first colon that a blank or the end follows."""
    if line[:1] in ("", " ", "\t", "#", "[", "{", "|", ">", "&", "*", "!", "%", "@", "`") or _is_item(line):
        return None
    start = 0
    if line[0] in "\"'":
        start = _closing_quote(line)
        if start < 0:
            return None
    colon = line.find(":", start)
    while colon >= 0 and line[colon + 1 : colon + 2] not in ("", " ", "\t"):
        colon = line.find(":", colon + 1)
    key = line[:colon].rstrip(_BLANK)
    if colon < 0 or not key or " #" in key[start:]:
        return None
    return _unquote(key), line[colon + 1 :].strip(_BLANK)


def _scalar(value: str, more: list[str]) -> str:
    """Return a value without comments and quotes, its further lines joined on as a reader of YAML would."""
    if value[:1] in ('"', "'"):
        whole = _fold([value, *more])
        closing = _closing_quote(whole)
        if closing > 0 and not _without_comment(" " + whole[closing + 1 :]).strip(_BLANK):
            return _unquote(whole[: closing + 1])
    return _fold([_without_comment(value)] + [_without_comment(line.strip(_BLANK)) for line in more])


def _fold(lines: list[str]) -> str:
    """Join lines with one space; a blank line between two is a line break."""
    text, breaks = "", 0
    for line in lines:
        stripped = line.strip(_BLANK)
        if not stripped:
            breaks += 1
            continue
        text += ("\n" * breaks or " ") + stripped if text else stripped
        breaks = 0
    return text


def _block_text(lines: list[str], *, folded: bool) -> str:
    """Return the text under `key: |` or `key: >`, without the line break at its end."""
    filled = [line for line in lines if line.strip(_BLANK)]
    if not filled:
        return ""
    margin = min(_indent(line) for line in filled)
    body = [line[margin:] for line in lines]
    return _fold(body) if folded else "\n".join(body).strip("\n")


def _block_items(lines: list[str]) -> list[str]:
    """Return the items of a list written one `- item` a line; deeper lines belong to the item above them."""
    margin = _indent(lines[0])
    items: list[list[str]] = []
    for line in lines:
        stripped = line.strip(_BLANK)
        if _indent(line) == margin and _is_item(stripped):
            items.append([stripped[1:].strip(_BLANK)])
        else:
            items[-1].append(stripped)
    return [_scalar(first, more) for first, *more in items]


def _flow_items(value: str) -> list[str] | None:
    """Split `[a, "b, c", d]` or `{a: 1, b: 2}`, quotes kept; None if there is more."""
    items: list[str] = []
    depth = begin = index = 0
    fresh = False  # a quote opens a quoted item only at its beginning; later it is an apostrophe
    while index < len(value):
        character = value[index]
        if character in "\"'" and fresh:
            index = _closing_quote(value, index)
            if index < 0:
                return None
        elif character in "[{":
            depth += 1
            if depth == 1:
                begin = index + 1
        elif character in "]}" or (character == "," and depth == 1):
            if depth == 1:
                item = value[begin:index].strip(_BLANK)
                if item or character == ",":
                    items.append(item)
                begin = index + 1
            if character != ",":
                depth -= 1
            if not depth:
                return None if _without_comment(" " + value[index + 1 :]).strip(_BLANK) else items
        fresh = character in "[{," or (character in _BLANK and (fresh or value[index - 1] == ":"))
        index += 1
    return None


def _flow_child(item: str, parent: Field) -> Field:
    key, value = _split_key(item) or (_unquote(item), "")
    child = Field(key, parent.line, parent.end)
    child.text = _unquote(value)
    return child


def _unquote(text: str) -> str:
    """Take the quotes off a text that is quoted as a whole; any other text stays as it is."""
    if len(text) < 2 or text[0] not in "\"'" or _closing_quote(text) != len(text) - 1:
        return text
    body = text[1:-1]
    if text[0] == "'":
        return body.replace("''", "'")
    return _unescape(body) if "\\" in body else body


def _unescape(body: str) -> str:
    pieces = []
    index = 0
    while index < len(body):
        character = body[index]
        index += 1
        if character == "\\" and index < len(body):
            character = body[index]
            index += 1
            length = _HEX_LENGTHS.get(character, 0)
            digits = body[index : index + length]
            if length and len(digits) == length and not digits.strip("0123456789abcdefABCDEF"):
                index += length
                code = int(digits, 16)
                character = chr(code) if code < 0x110000 and not 0xD800 <= code < 0xE000 else "\ufffd"
            else:
                character = _ESCAPES.get(character, character)
        pieces.append(character)
    return "".join(pieces)


def _closing_quote(text: str, start: int = 0) -> int:
    """Return where the quote at `start` is closed; -1 if it is not."""
    quote = text[start]
    index = start + 1
    while index < len(text):
        if text[index] == "\\" and quote == '"':
            index += 1
        elif text[index] == quote:
            if quote == '"' or text[index + 1 : index + 2] != "'":
                return index
            index += 1
        index += 1
    return -1


def _without_comment(value: str) -> str:
    """Drop a `# comment`, which begins the value or follows a blank; inside quotes there are no comments."""
    if "#" not in value:
        return value.rstrip(_BLANK)
    start = 0
    if value[:1] in ('"', "'"):
        start = max(_closing_quote(value), 0)
    elif value[:1] == "[":
        start = max(value.rfind('"'), value.rfind("'"), 0)
    position = value.find("#", start)
    while position > 0 and value[position - 1] not in " \t":
        position = value.find("#", position + 1)
    return value.rstrip(_BLANK) if position < 0 else value[:position].rstrip(_BLANK)


def _is_item(stripped: str) -> bool:
    return stripped == "-" or stripped.startswith(("- ", "-\t"))


def _is_idle(line: str) -> bool:
    stripped = line.strip(_BLANK)
    return not stripped or stripped[0] == "#"


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip(_BLANK))

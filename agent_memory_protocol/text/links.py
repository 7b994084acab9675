"""Links to notes: read the forms people write, write one that every Markdown parser reads the same way."""

from ..limits import split_lines

_ESCAPES = str.maketrans({special: f"\\{special}" for special in "\\`*_[]<>&"})
_SPECIAL_IN_TARGET = frozenset(" ()<>%\"'\\&?#:")
_LONGEST_NAME = 255 * len("%00")  # No file system has longer names, even with each byte as a percent escape
_LONGEST_TARGET = 4_096  # No more of a link's destination is read, so that a line of many takes linear time

_NOT_IN_NAME = frozenset(" \t`\"'()[]<>|,;:*!?\0/\\#")

SEPARATORS = (" \u2014 ", " - ", " \u2013 ", " -- ", ": ")
"""What is between an index line's link and its hook, in the forms found in real files."""


def note_target(text: str) -> str:
    """Return the note of the same folder that the link at the start of a text leads to; "" without one.

    `[Title](file.md)`, bold or not, `./file.md`, `<file.md>`, an anchor after `.md`, percent escapes.
    """
    opened = text.lstrip("*_")
    if not opened.startswith("[") or "](" not in opened:
        return ""
    closing = _closing_bracket(opened)
    if closing < 0 or opened[closing + 1 : closing + 2] != "(":
        return ""
    return _same_folder(_destination(opened, closing + 2))


def outside_target(line: str) -> str:
    """Return the Markdown file of another folder that the link beginning a bullet leads to; "" without one."""
    bare = line.strip(" \t")
    if line[:1] not in ("-", "*", "+") or bare[1:2] != " ":
        return ""
    opened = bare[1:].lstrip(" \t").lstrip("*_")
    closing = _closing_bracket(opened) if opened.startswith("[") else -1
    if closing < 0 or opened[closing + 1 : closing + 2] != "(":
        return ""
    destination = _unquoted(_destination(opened, closing + 2).partition("#")[0])
    is_outside = "/" in destination.removeprefix("./") and "://" not in destination
    return destination if is_outside and destination.lower().endswith(".md") else ""


def note_link_end(text: str) -> int:
    """Return where the link that `note_target` finds ends, its closing emphasis included; 0 without one."""
    if not note_target(text):
        return 0
    opening = text.index("[")
    end = text.index(")", opening + _closing_bracket(text[opening:])) + 1
    while text[end : end + 1] in ("*", "_"):
        end += 1
    return end


def separator_of(text: str) -> str:
    """Return which of these is between an index line's link and its hook; "" if none is."""
    rest = text[note_link_end(text) :]
    return next((separator for separator in SEPARATORS if rest.startswith(separator)), "")


def index_line(title: str, file: str, hook: str, separator: str, width: int) -> str:
    """Return a note's line, without bullet, at most `width` characters if a shorter hook is enough.

    A CommonMark parser finds exactly one link in it, to `file`.
    """
    line = f"[{escape(title)}]({target(file)})"
    hook = escape(" ".join(hook.split()))
    if not hook:
        return line
    whole = f"{line}{separator}{hook}"
    if len(whole) <= width:
        return whole
    room = max(width - len(line) - len(separator) - 1, 0)
    cut = hook[:room].rpartition(" ")[0] or hook[:room]
    cut = cut.rstrip("\\ ")
    return f"{line}{separator}{cut}\u2026" if cut else line


def escape(text: str) -> str:
    """Return a text that Markdown shows as it is."""
    return text.translate(_ESCAPES)


def target(file: str) -> str:
    """Return a file name as a link's destination."""
    if file.isprintable() and _SPECIAL_IN_TARGET.isdisjoint(file):
        return file
    return "".join(
        "".join(f"%{byte:02X}" for byte in character.encode())
        if character in _SPECIAL_IN_TARGET or not character.isprintable()
        else character
        for character in file
    )


def mentioned_notes(lines: list[str]) -> set[str]:
    """Return every `.md` file name, and every `[[wikilink]]` as a file name, that lines mention, in whatever form.

    In backticks the stem of a file is enough where it has a `_` or `-`: a plain word there is mostly a command.
    """
    found: set[str] = set()
    for line in lines:
        if ".md" in line:
            start = looked = 0
            position = line.find(".md")
            while position >= 0:
                for number in range(position, looked, -1):
                    if line[number - 1] in _NOT_IN_NAME:
                        start = number
                        break
                looked = position
                if position - start <= _LONGEST_NAME:
                    found.add(_unquoted(line[start : position + 3]))
                position = line.find(".md", position + 3)
            position = line.find("](")
            while position >= 0:
                found.add(_same_folder(_destination(line, position + 2)))
                position = line.find("](", position + 2)
        if "[[" in line:
            for part in line.split("[[")[1:]:
                name = part.partition("]]")[0].partition("|")[0].partition("#")[0].strip()
                found.add(name if name.endswith(".md") else f"{name}.md")
        if "`" in line:
            stems = (part for part in line.split("`")[1::2] if len(part) <= _LONGEST_NAME)
            found.update(f"{stem}.md" for stem in stems if set(stem) & {"_", "-"} and not set(stem) & _NOT_IN_NAME)
    found.discard("")
    return found


def visible_lines(text: str) -> list[str]:
    """Return the lines of a text with those in fences and comments blanked: samples are not index lines."""
    lines = split_lines(text)
    fence = ""
    in_comment = False
    for number, line in enumerate(lines):
        bare = line.strip(" \t")
        if in_comment:
            in_comment = "-->" not in bare
            lines[number] = ""
        elif fence:
            if bare and not bare.strip(fence[0]) and len(bare) >= len(fence):
                fence = ""
            lines[number] = ""
        elif bare.startswith("<!--"):
            in_comment = "-->" not in bare
            lines[number] = ""
        elif bare.startswith(("```", "~~~")):
            fence = bare[0] * (len(bare) - len(bare.lstrip(bare[0])))
            lines[number] = ""
    return lines


def _closing_bracket(text: str) -> int:
    """Return where the bracket that begins a text closes, past inner pairs, escapes and code spans."""
    first = text.find("]")
    inside = text[1:first]
    if first > 0 and "[" not in inside and "\\" not in inside and "`" not in inside:
        return first
    depth = 0
    position = 0
    while position < len(text):
        character = text[position]
        if character == "\\":
            position += 1
        elif character == "`":
            closing = text.find("`", position + 1)
            position = closing if closing > 0 else position
        elif character == "[":
            depth += 1
        elif character == "]":
            depth -= 1
            if not depth:
                return position
        position += 1
    return -1


def _destination(text: str, start: int) -> str:
    rest = text[start : start + _LONGEST_TARGET].lstrip(" ")
    if rest.startswith("<"):
        return rest[1:].partition(">")[0]
    return rest.partition(")")[0].partition(" ")[0]


def _same_folder(destination: str) -> str:
    written = destination.removeprefix("./").partition("#")[0]
    name = _unquoted(written)
    # A backslash is a separator as people write it, and part of a name as `target` does.
    return name if name.lower().endswith(".md") and "/" not in name and "\\" not in written else ""


def _unquoted(text: str) -> str:
    if "%" not in text:
        return text
    from urllib.parse import unquote

    return unquote(text)

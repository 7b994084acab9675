"""A line scanner that finds the top-level blocks of a Markdown document, and says when it is not certain.

It names the same blocks as CommonMark with tables, on the subset of Markdown that memory files are written in,
at a tenth of the cost of a parser. On any construct outside that subset `scan` returns None, and the caller asks
`text.referee`, which has the whole grammar (docs/protocol.md, decision 17). A property test holds that the two never
differ where the scanner answers.
"""

HEADING = "heading"
ITEM = "item"
PARAGRAPH = "paragraph"
FENCE = "fence"
QUOTE = "quote"
TABLE = "table"
RULE = "rule"
COMMENT = "comment"
DEFINITION = "definition"
HTML = "html"
CODE = "code"

PROSE = frozenset([PARAGRAPH, FENCE, QUOTE, TABLE, HTML, CODE])  # The kinds of block that make up prose entries

_MAX_DEPTH = 6  # Nested lists deeper than this are left to the referee
_MOST_CELLS = 0x10000  # So are larger tables, which markdown-it ends if too many cells are missing


class Block:
    """One top-level block: lines `start` to `end` (exclusive), trailing blank lines not counted."""

    __slots__ = ("closed", "column", "end", "kind", "level", "paragraph_end", "start")

    def __init__(
        self,
        kind: str,
        start: int,
        end: int,
        *,
        level: int = 0,
        column: int = 0,
        paragraph_end: int | None = None,
        closed: bool = True,
    ) -> None:
        self.kind = kind  # HEADING, ITEM (one item of a top-level list), PARAGRAPH, …
        self.start = start
        self.end = end
        self.level = level  # of a heading, 1 to 6; else 0
        # of an item, the index in its first line where the content begins; of a paragraph, of its text
        self.column = column
        # the line after the block's first paragraph; `start` if it does not begin with one
        self.paragraph_end = start if paragraph_end is None else paragraph_end
        self.closed = closed  # False for a fence that is still open at the end of the document

    def __repr__(self) -> str:
        return f"Block({self.kind} {self.start}:{self.end} level={self.level} paragraph_end={self.paragraph_end})"


def scan(lines: list[str], begin: int = 0) -> list[Block] | None:
    """Return the top-level blocks of `lines` from `begin` on, or None if only a full parser can tell.

    Lines come without their endings; front matter is not the scanner's: pass the line after it as `begin`.
    """
    blocks: list[Block] = []
    line_number = begin
    count = len(lines)
    is_plain = [False] * begin
    is_plain += [line[:2] == "- " and (line[2:3].isalpha() or is_plain_item(line)) for line in lines[begin:]]
    try:
        while line_number < count:
            if is_plain[line_number] and line_number + 1 < count and is_plain[line_number + 1]:
                blocks.append(Block(ITEM, line_number, line_number + 1, column=2, paragraph_end=line_number + 1))
                line_number += 1
                continue
            line = lines[line_number]
            text = line.strip(" \t")
            if not text:
                line_number += 1
                continue
            indent = column_of(line, text)
            if indent >= 4:
                return None
            block, line_number = _read_block(lines, line_number, text, indent)
            blocks.append(block)
            if block.kind == PARAGRAPH and line_number < count:
                table = _read_table(lines, block, line_number)
                if table is not None:
                    if table.start == block.start:
                        blocks.pop()
                    blocks.append(table)
                    line_number = table.end
    except _NotCertain:
        return None
    return blocks


class _NotCertain(Exception):
    """The scanner met a construct it leaves to the referee."""


def _read_block(lines: list[str], start: int, text: str, indent: int) -> tuple[Block, int]:
    first = text[0]
    if first == "#" and heading_level(text):
        _refuse_table(lines, start, text)
        return Block(HEADING, start, start + 1, level=heading_level(text)), start + 1
    if first in "`~" and fence_length(text):
        _refuse_table(lines, start, text)
        return _read_fence(lines, start, text)
    if first == ">":
        return _read_quote(lines, start)
    if first == "<":
        _refuse_table(lines, start, text)
        return _read_comment(lines, start, text)
    if first in "-*_" and is_rule(text):
        return Block(RULE, start, start + 1), start + 1
    if marker_width(text):
        _refuse_table(lines, start, text)
        return _read_item(lines, start, text, indent)
    return _read_paragraph(lines, start, text)


def _read_fence(lines: list[str], start: int, text: str) -> tuple[Block, int]:
    character, length = text[0], fence_length(text)
    for number in range(start + 1, len(lines)):
        line = lines[number]
        text = line.strip(" \t")
        if closes_fence(text, character, length) and column_of(line, text) < 4:
            return Block(FENCE, start, number + 1), number + 1
    end = len(lines)
    while not lines[end - 1].strip(" \t"):
        end -= 1
    return Block(FENCE, start, end, closed=False), len(lines)


def _read_quote(lines: list[str], start: int) -> tuple[Block, int]:
    for number in range(start + 1, len(lines)):
        line = lines[number]
        text = line.strip(" \t")
        if not text or (heading_level(text) and column_of(line, text) < 4):
            return Block(QUOTE, start, number), number
        # What follows a quote without a blank line may be its lazy continuation.
        if text[0] != ">" or column_of(line, text) >= 4:
            raise _NotCertain
    return Block(QUOTE, start, len(lines)), len(lines)


def _read_comment(lines: list[str], start: int, text: str) -> tuple[Block, int]:
    if not text.startswith("<!--"):
        raise _NotCertain
    for number in range(start, len(lines)):
        text = lines[number].strip(" \t")
        if "-->" in text:
            if text.index("-->") != len(text) - 3:
                raise _NotCertain
            return Block(COMMENT, start, number + 1), number + 1
    raise _NotCertain


def _read_paragraph(lines: list[str], start: int, text: str) -> tuple[Block, int]:
    _refuse_odd_start(text)
    column = lines[start].index(text[0])
    for number in range(start + 1, len(lines)):
        line = lines[number]
        text = line.strip(" \t")
        if not text:
            break
        if column_of(line, text) >= 4:
            continue
        first = text[0]
        if first == "[" and footnote_name(line):
            raise _NotCertain
        if first in "=-" and not text.strip(first):
            if "|" in lines[number - 1]:
                raise _NotCertain
            level = 1 if first == "=" else 2
            return Block(HEADING, start, number + 1, level=level, column=column), number + 1
        if _interrupts_paragraph(text) or _is_delimiter_row(text):
            break
    else:
        number = max(start + 1, len(lines))
    return Block(PARAGRAPH, start, number, column=column, paragraph_end=number), number


def _read_table(lines: list[str], paragraph: Block, number: int) -> Block | None:
    """Return the table whose delimiter row is line `number`, taking its header row from `paragraph`'s end.

    A delimiter row that makes no table belongs to the paragraph, which then may go on: left to the referee.
    """
    text = lines[number].strip(" \t")
    if not text or not _is_delimiter_row(text):
        return None
    header_line = lines[number - 1]
    header = header_line.strip(" \t")
    delimiters = _cells(text)
    if (
        "|" not in header
        or header.strip() != header
        or not header.strip("| \t")
        or text.startswith(("- ", "-\t"))
        or "\\" in header
        or "`" in header
        or column_of(header_line, header) >= 4
        or len(_cells(header)) != len(delimiters)
        or not all(_is_delimiter(cell) for cell in delimiters)
    ):
        raise _NotCertain
    start = number - 1
    for following in range(number + 1, len(lines)):
        line = lines[following]
        text = line.strip(" \t")
        if not text or (heading_level(text) and column_of(line, text) < 4):
            end = following
            break
        if column_of(line, text) >= 4 or _starts_block(text) or not text.strip():
            raise _NotCertain
    else:
        end = len(lines)
    if len(delimiters) * (end - start) > _MOST_CELLS:
        raise _NotCertain
    if start > paragraph.start:
        paragraph.end = paragraph.paragraph_end = start
    return Block(TABLE, start, end)


def is_plain_item(line: str) -> bool:
    """Say whether a line that begins with `- ` is what most are in a memory file: a bullet with ordinary text."""
    first = line[2:3]
    if first == "[":
        return "]" in line and "]:" not in line
    return first.isalpha() or (first in "*`" and line[3:4].isalpha()) or (line[2:4] == "**" and line[4:5].isalpha())


class _Item:
    """What is known about the open item while its lines are read."""

    __slots__ = ("fence", "lazy", "markers", "offsets")

    def __init__(self) -> None:
        self.offsets: list[int] = []
        """The column where the content of each open list item begins, outermost first."""
        self.markers: list[int] = []
        """The column of each open item's marker."""
        self.fence: tuple[str, int, int] | None = None
        """The open fence: its character, its length, the content column of the item it is in."""
        self.lazy: bool | None = False
        """Whether plain text on the next line would go on a paragraph, wherever it begins; None: cannot tell."""


def _read_item(lines: list[str], start: int, text: str, indent: int) -> tuple[Block, int]:
    item = _Item()
    content = _open_items(item, text, indent)
    rest = text[marker_width(text) :]
    column = lines[start].index(text[0]) + len(text) - len(rest.lstrip(" \t"))
    begins_with_paragraph = len(item.offsets) == 1 and _open_leaf(item, content)
    if len(item.offsets) > 1:
        _open_leaf(item, content)
    paragraph_end = start + 1 if begins_with_paragraph else start
    in_first_paragraph = begins_with_paragraph
    end = start + 1
    after_blank = False
    for number in range(start + 1, len(lines)):
        line = lines[number]
        text = line.strip(" \t")
        if not text:
            after_blank = True
            in_first_paragraph = False
            continue
        indent = column_of(line, text)
        if item.fence is not None:
            character, length, inside = item.fence
            if indent >= inside:
                if closes_fence(text, character, length) and indent - inside < 4:
                    item.fence = None
                end = number + 1
                after_blank = False
                continue
            item.fence = None
            item.lazy = False
        if _is_delimiter_row(text):
            raise _NotCertain
        outside = indent < item.offsets[0]
        continues = False
        if outside:
            if indent >= 4:
                raise _NotCertain
            if _starts_block(text):
                return Block(ITEM, start, end, column=column, paragraph_end=paragraph_end), number
            if text[0] == "[" and footnote_name(line):
                raise _NotCertain
            if after_blank or item.lazy is False:
                return Block(ITEM, start, end, column=column, paragraph_end=paragraph_end), number
            if item.lazy is None or not text.strip("="):
                raise _NotCertain
            continues = True
        else:
            continues = _read_child(item, text, indent, after_blank)
        in_first_paragraph = in_first_paragraph and continues
        if in_first_paragraph:
            paragraph_end = number + 1
        end = number + 1
        after_blank = False
    return Block(ITEM, start, end, column=column, paragraph_end=paragraph_end), len(lines)


def _read_child(item: _Item, text: str, indent: int, after_blank: bool) -> bool:
    """Take in one line that belongs to the item. Says whether it goes on the paragraph of the line before."""
    open_paragraph = item.lazy is not False and not after_blank
    if open_paragraph and not _starts_block(text):
        if not text.strip("=") or not text.strip("-"):
            raise _NotCertain
        return True
    depth = len(item.offsets)
    while depth > 1 and indent < item.offsets[depth - 1]:
        depth -= 1
        if marker_width(text) and indent - item.markers[depth] >= 4:
            raise _NotCertain
    relative = indent - item.offsets[depth - 1]
    if relative >= 4:
        if item.lazy is None or depth < len(item.offsets):
            raise _NotCertain
        if open_paragraph:
            return True
        item.lazy = False
        return False
    if open_paragraph and text[0] in "-=" and not text.strip(text[0]):
        raise _NotCertain
    if (
        open_paragraph
        and depth == len(item.offsets)
        and marker_width(text)
        and not _interrupts_paragraph(text)
        and not is_rule(text)
    ):
        return True
    del item.offsets[depth:], item.markers[depth:]
    content = _open_items(item, text, indent)
    _open_leaf(item, content)
    return False


def _open_items(item: _Item, text: str, column: int) -> str:
    """Open the item or items whose markers begin `text`, which is at `column`. Return what follows them."""
    while (width := marker_width(text)) and not is_rule(text):
        rest = text[width:]
        content = rest.lstrip(" \t")
        if not content:
            raise _NotCertain
        offset = column + width
        for character in rest[: len(rest) - len(content)]:
            offset += 4 - offset % 4 if character == "\t" else 1
        if offset - column - width > 4 or len(item.offsets) >= _MAX_DEPTH:
            raise _NotCertain
        item.offsets.append(offset)
        item.markers.append(column)
        text, column = content, offset
    return text


def _open_leaf(item: _Item, text: str) -> bool:
    """Take in the block that begins with `text`, at the innermost item. Says whether it is a paragraph."""
    first = text[0]
    item.lazy = False
    if length := fence_length(text):
        item.fence = (first, length, item.offsets[-1])
        return False
    if heading_level(text) or is_rule(text):
        return False
    if first == ">":
        item.lazy = None
        return False
    _refuse_odd_start(text)
    if first == "<":
        raise _NotCertain
    item.lazy = None if _is_delimiter_row(text) else True
    return True


def _starts_block(text: str) -> bool:
    """Say whether a line begins something other than paragraph text, if a block may begin there."""
    first = text[0]
    if first == ">" or first == "<":
        return True
    if first == "#":
        return heading_level(text) > 0
    if first in "`~":
        return fence_length(text) > 0
    return marker_width(text) > 0 or is_rule(text)


def _interrupts_paragraph(text: str) -> bool:
    first = text[0]
    if first == "<":
        if text.startswith("<!--"):
            return True
        raise _NotCertain
    width = marker_width(text)
    if not width:
        return _starts_block(text)
    if is_rule(text):
        return True
    # An empty item, and a numbered one that does not begin with 1, cannot interrupt a paragraph.
    if not text[width:].strip(" \t"):
        return False
    return first in "-+*" or int(text[: width - 1]) == 1


def heading_level(text: str) -> int:
    """Return the level of the ATX heading that a line, stripped of blanks, is; 0 if it is not one."""
    if text[0] != "#":
        return 0
    level = len(text) - len(text.lstrip("#"))
    return level if level <= 6 and text[level : level + 1] in ("", " ", "\t") else 0


def heading_text(text: str) -> str:
    """Return the text of an ATX heading's line without its opening and closing marks."""
    text = text.strip(" \t").lstrip("#").strip(" \t")
    without = text.rstrip("#")
    if without == "" or (without != text and without[-1] in " \t"):
        return without.rstrip(" \t")
    return text


def fence_length(text: str) -> int:
    """Return how long the fence is that this stripped line opens; 0 if it opens none."""
    character = text[0]
    if character not in "`~":
        return 0
    rest = text.lstrip(character)
    length = len(text) - len(rest)
    return length if length >= 3 and not (character == "`" and "`" in rest) else 0


def closes_fence(text: str, character: str, length: int) -> bool:
    """Say whether this stripped line closes a fence of that character and length."""
    return len(text) >= length and not text.strip(character)


def close_fence(lines: list[str]) -> list[str]:
    """Return the lines with a closing fence added where they end inside one: no cut leaves a fence open."""
    fence = ""
    # Where the content of the document and of each open list item begins, as far as single lines tell.
    offsets = [0]
    in_paragraph = False
    for line in lines:
        text = line.strip(" \t")
        if not text:
            in_paragraph = False
            continue
        if in_paragraph and not _starts_block(text):
            continue
        column = column_of(line, text)
        while column < offsets[-1]:
            offsets.pop()
            fence = ""
        if fence:
            if closes_fence(text, fence[0], len(fence)) and column - offsets[-1] < 4:
                fence = ""
            in_paragraph = False
            continue
        while (width := marker_width(text)) and column - offsets[-1] < 4 and not is_rule(text):
            rest = text[width:].lstrip(" \t")
            if not rest:
                break
            column = column_of(" " * (column + width) + text[width:], rest)
            offsets.append(column)
            text = rest
        if column - offsets[-1] < 4 and (length := fence_length(text)):
            fence = text[0] * length
        in_paragraph = not _starts_block(text)
    return [*lines, " " * offsets[-1] + fence] if fence else lines


_ENDS_OF_HTML = {
    "<!--": "-->",
    "<?": "?>",
    "<![cdata[": "]]>",
    "<pre": "</pre>",
    "<script": "</script>",
    "<style": "</style>",
    "<textarea": "</textarea>",
}
"""What begins a block of HTML that goes on past blank lines, and what ends it."""


def left_open(lines: list[str], blocks: list[Block]) -> tuple[int, str] | None:
    """Return the line of what is never closed, so that it takes in all that follows, and what would close it."""
    if not blocks:
        return None
    last = blocks[-1]
    text = lines[last.start].strip(" \t")
    if last.kind == FENCE and not last.closed:
        return last.start, text[0] * fence_length(text)
    if last.kind == HTML:
        end = next((end for begin, end in _ENDS_OF_HTML.items() if text.lower().startswith(begin)), "")
        if end and end not in "\n".join(lines[last.start : last.end]).lower():
            return last.start, end
    return None


def footnote_name(line: str) -> str:
    """Return the name of the footnote that a line begins to define, `[^name]: …`; "" if it defines none."""
    if "]:" not in line:
        return ""
    opened, _, rest = line.lstrip(" \t>").partition("]:")
    name = opened[2:]
    return name if opened[:2] == "[^" and rest.strip(" \t") and name and not set(name) & set(" \t[]") else ""


def is_rule(text: str) -> bool:
    """Say whether this stripped line is a thematic break: three or more of one of `-`, `*`, `_`."""
    character = text[0]
    if character not in "-*_" or text[-1] != character:
        return False
    return text.count(character) >= 3 and not text.strip(character + " \t")


def marker_width(text: str) -> int:
    """Return the width of the list marker that begins this stripped line, 0 if none does."""
    first = text[0]
    if first in "-+*":
        return 1 if text[1:2] in ("", " ", "\t") else 0
    if first in "0123456789":
        digits = len(text) - len(text.lstrip("0123456789"))
        if digits <= 9 and text[digits : digits + 1] in (".", ")") and text[digits + 1 : digits + 2] in ("", " ", "\t"):
            return digits + 1
    return 0


def column_of(line: str, text: str) -> int:
    """Return the column where a line's text begins, tabs counted to stops of four."""
    blanks = line[: line.index(text[0])]
    if "\t" not in blanks:
        return len(blanks)
    column = 0
    for character in blanks:
        column += 4 - column % 4 if character == "\t" else 1
    return column


def _refuse_odd_start(text: str) -> None:
    """Stop at what may be a link definition, and at lines that are blank in Unicode only."""
    if text[0] == "[" and ("]" not in text or "]:" in text):
        raise _NotCertain
    if not text.strip():
        raise _NotCertain


def _refuse_table(lines: list[str], number: int, text: str) -> None:
    """Stop where this line and the next would make a table: a table takes precedence over what the line looks like."""
    if "|" in text and number + 1 < len(lines):
        following = lines[number + 1].strip(" \t")
        # Under a single cell, such as `# a |`, a row of dashes alone will do.
        one_cell = "|" not in text.strip().strip("|").replace("\\|", "")
        if following and (_is_delimiter_row(following) or (one_cell and not following.strip("-"))):
            raise _NotCertain


def _is_delimiter_row(text: str) -> bool:
    return ("|" in text or ":" in text) and "-" in text and not text.strip("|:- \t")


def _is_delimiter(cell: str) -> bool:
    dashes = cell.strip(" \t").removeprefix(":").removesuffix(":")
    return dashes != "" and not dashes.strip("-")


def _cells(text: str) -> list[str]:
    return text.removeprefix("|").removesuffix("|").split("|")

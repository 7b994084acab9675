"""Entries: the smallest things in a tier document that are dated, pruned, archived and left out (decision 17).

`outline` turns the blocks of a document into its entries, headings and index lines. It reads nothing and changes
nothing: lines in, values out.
"""

from ..text import dates, links, markdown
from ..text.markdown import Block

OWN = "own mark"
FROM_HEADING = "heading"
FROM_LABEL = "label"

_PLACEHOLDERS = frozenset(
    [
        "empty",
        "n/a",
        "no entries",
        "no entries yet",
        "no knowledge yet",
        "no memories yet",
        "no memory yet",
        "none",
        "none yet",
        "nothing here yet",
        "nothing yet",
        "tbd",
        "to be filled in",
        "todo",
    ]
)


class Heading:
    """A heading: its line span, level, text, the day it gives its entries, and the headings above it.

    Attributes:
        above: the indexes, in the outline's `headings`, of the headings it stands under, outermost first.
        day: the day its text or its label line says, as an ordinal; None for the title.
    """

    __slots__ = ("above", "day", "day_source", "end", "level", "start", "text")

    def __init__(self, block: Block, text: str, above: tuple[int, ...]) -> None:
        self.start = block.start
        self.end = block.end
        self.level = block.level
        self.text = text
        self.above = above
        self.day: int | None = None
        self.day_source = ""


class Entry:
    """One entry: a top-level list item with all that belongs to it, or one run of prose.

    Attributes:
        start, end: its lines, end exclusive, counted from 0, without the blank lines after it.
        is_item: a list item; otherwise prose.
        column: where the text begins in its first line.
        paragraph: its first paragraph, lines joined with a newline; "" where it does not begin with one.
        headings: the indexes of the headings it stands under, outermost first.
        label: the line of the label above its list, or None.
        mark: its own date mark, positions counted in `paragraph`; None if it has none.
        day: the day it is dated with, own or inherited, as an ordinal; None for a lasting entry.
        day_source: OWN, FROM_HEADING, FROM_LABEL, or "" for an undated entry.
        closed: False where it holds a fence that never closes.
    """

    __slots__ = (
        "closed",
        "column",
        "day",
        "day_source",
        "end",
        "headings",
        "is_item",
        "label",
        "mark",
        "paragraph",
        "start",
    )

    def __init__(self, start: int, end: int, *, is_item: bool, column: int, paragraph: str) -> None:
        self.start = start
        self.end = end
        self.is_item = is_item
        self.column = column
        self.paragraph = paragraph
        self.headings: tuple[int, ...] = ()
        self.label: int | None = None
        self.mark = dates.own_mark(paragraph)
        self.day = self.mark.day if self.mark else None
        self.day_source = OWN if self.mark else ""
        self.closed = True

    @property
    def kept(self) -> bool:
        """Whether `[keep]` in its first paragraph exempts it from pruning (decision 22)."""
        return "[keep]" in dates.without_code_and_links(self.paragraph).lower()


class IndexLine:
    """A top-level bullet that begins with a link to a note in the same folder: the note's line, no entry."""

    __slots__ = ("end", "headings", "label", "start", "target")

    def __init__(self, start: int, end: int, target: str) -> None:
        self.start = start
        self.end = end
        self.target = target
        self.headings: tuple[int, ...] = ()
        self.label: int | None = None


class Outline:
    """What stands in a document, in file order.

    Attributes:
        blocks: the top-level blocks it was made from.
        title: the index of the file's first heading in `headings`, or None.
        labels: the line span of each list label, by its first line.
    """

    __slots__ = ("blocks", "entries", "headings", "index_lines", "labels")

    def __init__(self, blocks: list[Block]) -> None:
        self.blocks = blocks
        self.headings: list[Heading] = []
        self.entries: list[Entry] = []
        self.index_lines: list[IndexLine] = []
        self.labels: dict[int, Block] = {}


def outline(lines: list[str], blocks: list[Block]) -> Outline:
    """Find the entries, headings, labels and index lines in `blocks`, which are the blocks of `lines`."""
    found = Outline(blocks)
    above: tuple[int, ...] = ()
    label: int | None = None
    run: list[Block] = []
    for position, block in enumerate(blocks):
        if block.kind in markdown.PROSE and not _is_label(lines, blocks, position):
            run.append(block)
            label = None
            continue
        if run:
            _add_prose(found, lines, run, above)
            run = []
        if block.kind == markdown.HEADING:
            above = _add_heading(found, lines, block, above)
        elif block.kind == markdown.ITEM:
            _add_item(found, lines, block, above, label)
        elif block.kind in markdown.PROSE:
            label = block.start
            found.labels[label] = block
        if block.kind != markdown.ITEM and block.kind not in markdown.PROSE:
            label = None
    if run:
        _add_prose(found, lines, run, above)
    _date_headings(found, lines)
    _inherit_dates(found)
    return found


def is_placeholder(line: str) -> bool:
    """Say whether a line only holds the place of entries to come."""
    return line.strip(" \t-+*_()[].…").lower() in _PLACEHOLDERS


def paragraph_text(lines: list[str], block: Block) -> str:
    """Return a block's first paragraph, its lines joined with a newline and freed of their indentation."""
    if block.paragraph_end <= block.start:
        return ""
    first = lines[block.start][block.column :].rstrip(" \t")
    if block.paragraph_end == block.start + 1:
        return first
    rest = [line.strip(" \t") for line in lines[block.start + 1 : block.paragraph_end]]
    return "\n".join([first, *rest])


def _add_heading(found: Outline, lines: list[str], block: Block, above: tuple[int, ...]) -> tuple[int, ...]:
    above = tuple(index for index in above if found.headings[index].level < block.level)
    if block.end == block.start + 1:
        text = markdown.heading_text(lines[block.start])
    else:
        text = " ".join(line.strip(" \t") for line in lines[block.start : block.end - 1])
    found.headings.append(Heading(block, text, above))
    return (*above, len(found.headings) - 1)


def _add_item(found: Outline, lines: list[str], block: Block, above: tuple[int, ...], label: int | None) -> None:
    paragraph = paragraph_text(lines, block)
    target = links.note_target(paragraph)
    if target:
        line = IndexLine(block.start, block.end, target)
        line.headings, line.label = above, label
        found.index_lines.append(line)
        return
    entry = Entry(block.start, block.end, is_item=True, column=block.column, paragraph=paragraph)
    entry.headings, entry.label = above, label
    found.entries.append(entry)


def _add_prose(found: Outline, lines: list[str], run: list[Block], above: tuple[int, ...]) -> None:
    """Add a run of prose: one entry, and a further one wherever a paragraph or line begins with its own date."""
    starts = [run[0].start]
    for block in run:
        if block.kind == markdown.PARAGRAPH:
            for number in range(block.start, block.end):
                if number > starts[-1] and dates.leading_mark(lines[number].strip(" \t")) is not None:
                    starts.append(number)
    for start, limit in zip(starts, [*starts[1:], run[-1].end], strict=True):
        end = limit
        while not lines[end - 1].strip(" \t"):
            end -= 1
        paragraph = ""
        column = len(lines[start]) - len(lines[start].lstrip(" \t"))
        for block in run:
            if block.kind == markdown.PARAGRAPH and block.start <= start < block.end:
                part = [line.strip(" \t") for line in lines[start : min(end, block.end)]]
                paragraph = "\n".join(part)
        entry = Entry(start, end, is_item=False, column=column, paragraph=paragraph)
        entry.headings = above
        entry.closed = all(block.closed for block in run if start <= block.start < end)
        found.entries.append(entry)


def _is_label(lines: list[str], blocks: list[Block], position: int) -> bool:
    """Say whether a paragraph is the label of the list that follows it at once (decision 17)."""
    block = blocks[position]
    if block.kind != markdown.PARAGRAPH or position + 1 == len(blocks) or blocks[position + 1].kind != markdown.ITEM:
        return False
    text = paragraph_text(lines, block)
    if text.endswith(":"):
        return True
    return len(text) > 4 and text.startswith("**") and text.endswith("**") and "**" not in text[2:-2]


def _date_headings(found: Outline, lines: list[str]) -> None:
    """Give each heading the day its text or its label line says. The title dates nothing."""
    first_level = [heading for heading in found.headings if heading.level == 1]
    for heading in found.headings:
        if heading is found.headings[0] and first_level == [heading]:
            continue
        heading.day = dates.heading_day(heading.text)
        heading.day_source = FROM_HEADING
        if heading.day is None and heading.end < len(lines):
            following = heading.end
            while following < len(lines) and not lines[following].strip(" \t"):
                following += 1
            if following < len(lines):
                heading.day = dates.label_day(lines[following])
                heading.day_source = FROM_LABEL


def _inherit_dates(found: Outline) -> None:
    for entry in found.entries:
        if entry.day is None:
            for index in reversed(entry.headings):
                heading = found.headings[index]
                if heading.day is not None:
                    entry.day, entry.day_source = heading.day, heading.day_source
                    break

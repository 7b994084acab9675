"""Entries: the smallest things in a tier document that are dated, pruned, archived and left out (decision 17).

`outline` turns the blocks of a document into its entries, headings and index lines. It reads nothing and changes
nothing: lines in, values out.
"""

from bisect import bisect_left, bisect_right

from ..text import dates, links, markdown, marks
from ..text.markdown import Block
from ..text.over_lists import is_label, label_in, on_one_line, one_label, seen, states_condition
from ..text.placeholders import is_placeholder

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

OWN = "own mark"
FROM_HEADING = "heading"
FROM_LABEL = "label"

SUSPICIOUS_DAYS = 180

MOST_LIST_LINES = 20
MOST_LIST_BYTES = 2000  # A numbered list that is larger is not a sequence of steps: each of its items is an entry
MOST_DATE_LINES = 5  # So many lines of data, the date first, go with each entry that they date

_COLONS = (":", "\uff1a")


class Heading:
    """A heading: its line span, level, text, the day it gives its entries, and the headings above it."""

    __slots__ = ("above", "date_line", "day", "day_source", "end", "level", "start", "text")

    def __init__(self, block: Block, text: str, above: tuple[int, ...]) -> None:
        self.start = block.start
        self.end = block.end
        self.level = block.level
        self.text = text
        self.above = above  # the indexes, in the outline's `headings`, of the headings it is under, outermost first
        self.day: int | None = None  # the day its text or its label line says, as an ordinal; None for the title
        self.day_source = ""
        self.date_line = -1  # the line below it that says its day, `**Date:** …`; -1 for none


class Label:
    """The label of a list: the end of the paragraph before it, which governs each of its items."""

    __slots__ = ("day", "end", "is_entry", "start", "text")

    def __init__(self, block: Block, text: str, *, is_entry: bool) -> None:
        self.start = block.start  # with `end`: the lines of the paragraph
        self.end = block.end
        self.text = text  # what governs the items: the paragraph's last sentence or line
        date = marks.read(text).date
        self.day = date.day if date else None  # the day it dates its items with, as an ordinal; None if it names no day
        # whether more comes before the label in its paragraph, so that the paragraph is an entry as well
        self.is_entry = is_entry


class Entry:
    """One entry: a list item with all that belongs to it, a short numbered list, or one run of prose.

    Attributes:
        start, end: its lines, end exclusive, counted from 0, without the blank lines after it.
        is_item: an item or a numbered list; otherwise prose.
        is_numbered: a numbered list, or an item of one.
        items: how many list items it has.
        column: where the text begins in its first line.
        paragraph: its first paragraph, lines joined with a newline; "" if it does not begin with one.
        headings: the indexes of the headings it is under, outermost first.
        label: the first line of the label that governs it, or None.
        marks: what it says of itself: date, `[keep]`, `[until D]`, `[disputed]`.
        day: the day it is dated with, own or inherited, as an ordinal; None for a lasting entry.
        day_source: OWN, FROM_LABEL, FROM_HEADING, or "" for an undated entry.
        dated_by: the date line below its heading that dates it, or -1.
        closed: False where it holds a fence that never closes.
        alone: what it says without its label and its number, once that was asked; what begins a document keeps it.
        bag: the words that carry its meaning, its label's too, kept in the same way.
    """

    __slots__ = (
        "alone",
        "bag",
        "closed",
        "column",
        "dated_by",
        "day",
        "day_source",
        "end",
        "headings",
        "is_item",
        "is_numbered",
        "items",
        "label",
        "marks",
        "paragraph",
        "start",
    )

    def __init__(
        self,
        start: int,
        end: int,
        *,
        is_item: bool,
        column: int,
        paragraph: str,
        items: int = 1,
        is_numbered: bool = False,
    ) -> None:
        self.start = start
        self.end = end
        self.is_item = is_item
        self.is_numbered = is_numbered
        self.items = items if is_item else 0
        self.column = column
        self.paragraph = paragraph
        self.headings: tuple[int, ...] = ()
        self.label: int | None = None
        self.marks = marks.read(paragraph)
        date = self.marks.date
        self.day = date.day if date else None
        self.day_source = OWN if date else ""
        self.dated_by = -1
        self.closed = True
        self.alone: str | None = None
        self.bag: frozenset[str] | None = None

    @property
    def mark(self) -> marks.Mark | None:
        """Its own date mark, positions counted in `paragraph`; None if it has none."""
        return self.marks.date

    @property
    def kept(self) -> bool:
        """Whether `[keep]` in its first paragraph exempts it from pruning (decision 22)."""
        return self.marks.keep

    @property
    def is_marked_keep(self) -> bool:
        """Whether the mark `[keep]` is in front of it, where it does not belong to what it says."""
        return any(self.paragraph[start:end].lower() == "[keep]" for start, end in self.marks.spans)

    def is_expired(self, today: int) -> bool:
        """Say whether it no longer holds on a day, given as an ordinal: its mark `[until D]` names an earlier one."""
        return self.marks.until is not None and self.marks.until < today

    def holds_place(self, lines: "Sequence[str]") -> bool:
        """Say whether it only holds the place of entries to come. Under a label, “none” is an answer."""
        return self.end == self.start + 1 and self.label is None and is_placeholder(lines[self.start])


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
    """What is in a document, in file order."""

    __slots__ = ("blocks", "entries", "headings", "index_lines", "is_scanned", "labels", "notes", "title")

    def __init__(self, blocks: list[Block]) -> None:
        self.blocks = blocks  # the top-level blocks it was made from
        self.is_scanned = False  # whether `markdown.scan` has found them all
        self.headings: list[Heading] = []
        self.entries: list[Entry] = []
        self.index_lines: list[IndexLine] = []
        self.labels: dict[int, Label] = {}  # the label of each list that has one, by its first line
        self.title: Heading | None = None  # the first heading, where no other one is of level 1
        self.notes: dict[str, Entry] | None = None  # its footnotes by their names, where they were asked for


def outline(lines: list[str], blocks: list[Block]) -> Outline:
    """Find the entries, headings, labels and index lines in `blocks`, which are the blocks of `lines`."""
    return go_on(Outline(blocks), lines, 0, (), None)


def go_on(found: Outline, lines: list[str], position: int, above: tuple[int, ...], label: Label | None) -> Outline:
    """Find what is in an outline's blocks from one on, under these headings and this label."""
    blocks, known, dated = found.blocks, len(found.entries), len(found.headings)
    run: list[Block] = []
    waits = False  # whether the label is a condition, and prose is between it and its list
    while position < len(blocks):
        block = blocks[position]
        if block.kind in markdown.PROSE:
            own = _label(lines, blocks, position)
            if own is not None or not waits:
                label = own
            if own is None or label is None:
                # What only closes an element around a list is a part of nothing.
                if run or not _only_closes(lines, block):
                    run.append(block)
            else:
                _add_outer(lines, label, run)
                _add_prose(found, lines, run, above)
                run = []
                found.labels[label.start] = label
                waits = blocks[_following(lines, blocks, position)].kind != markdown.ITEM
                if label.is_entry:
                    first = next(one for one in blocks[: position + 1] if one.start == label.start)
                    _add_prose(found, lines, [first], above)
            position += 1
            continue
        if label is not None and _is_passed_over(lines, block):
            position += 1
            continue
        if run:
            _add_prose(found, lines, run, above)
            run = []
        count, waits = 1, False
        if block.kind == markdown.HEADING:
            above = _add_heading(found, lines, block, above)
        elif block.kind == markdown.ITEM:
            count = _add_items(found, lines, blocks, position, above, label)
        if block.kind != markdown.ITEM:
            label = None
        position += count
    _add_prose(found, lines, run, above)
    _date_headings(found, lines, found.headings[dated:])
    _inherit_dates(found, found.entries[known:])
    return found


def read(lines: list[str], begin: int = 0) -> Outline:
    """Find what is in a document's lines from `begin` on, where its front matter ends."""
    scanned = markdown.scan(lines, begin)
    found = outline(lines, _all_blocks(lines, begin) if scanned is None else scanned)
    found.is_scanned = scanned is not None
    return found


def blocks_of(lines: list[str]) -> list[Block]:
    """Return the top-level blocks of a document's lines: quickly, where a quick look can tell."""
    scanned = markdown.scan(lines)
    return _all_blocks(lines, 0) if scanned is None else scanned


def _all_blocks(lines: list[str], begin: int) -> list[Block]:
    from ..text import referee

    return referee.find_blocks(lines, begin)


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


def _add_items(
    found: Outline, lines: list[str], blocks: list[Block], position: int, above: tuple[int, ...], label: Label | None
) -> int:
    """Add the item at a position, or the numbered list that begins there. Returns how many blocks that took."""
    block = blocks[position]
    is_numbered = lines[block.start].lstrip(" \t")[:1].isdigit()
    count = _steps(lines, blocks, position) if is_numbered else 1
    last = blocks[position + count - 1]
    paragraph = paragraph_text(lines, block)
    target = links.note_target(paragraph) if "](" in paragraph else ""
    if target:
        line = IndexLine(block.start, block.end, target)
        line.headings, line.label = above, label.start if label else None
        found.index_lines.append(line)
        return 1
    entry = Entry(
        block.start,
        last.end,
        is_item=True,
        column=block.column,
        paragraph=paragraph,
        items=count,
        is_numbered=is_numbered,
    )
    entry.headings, entry.label = above, label.start if label else None
    found.entries.append(entry)
    return count


def _steps(lines: list[str], blocks: list[Block], position: int) -> int:
    """Return how many items make one entry from a position on: those of a short numbered list, else the one item."""
    number, delimiter = _number(lines, blocks[position])
    if not delimiter or (position and _number(lines, blocks[position - 1])[1] == delimiter):
        return 1
    end = position
    while end < len(blocks) and _number(lines, blocks[end])[1] == delimiter:
        end += 1
    items = blocks[position:end]
    span = lines[items[0].start : items[-1].end]
    if number > 1 or is_long(span):
        return 1
    for item in items:
        paragraph = paragraph_text(lines, item)
        own = marks.read(paragraph)
        if own.date is not None or own.until is not None or links.note_target(paragraph):
            return 1
    breaks = (*markdown.PROSE, markdown.COMMENT)
    later = next((block for block in blocks[end:] if block.kind not in breaks), None)
    goes_on = later is not None and _number(lines, later) == (_number(lines, items[-1])[0] + 1, delimiter)
    return 1 if goes_on else len(items)


def is_long(lines: "Sequence[str]") -> bool:
    """Say whether a numbered list of these lines is too long to be steps."""
    return len(lines) > MOST_LIST_LINES or sum(len(line.encode()) + 1 for line in lines) > MOST_LIST_BYTES


def suspicious_days(entries: "Sequence[Entry]", among: "Iterable[int] | None" = None) -> set[int]:
    """Return the indexes of entries dated over 180 days before both dated neighbours: mistyped years, mostly."""
    indexes = range(len(entries)) if among is None else among
    dated = [(index, day) for index in indexes if (day := entries[index].day) and entries[index].day_source == OWN]
    return {
        index
        for (_, before), (index, day), (_, after) in zip(dated, dated[1:], dated[2:], strict=False)
        if min(before, after) - day > SUSPICIOUS_DAYS
    }


def may_be_pruned(entries: "Sequence[Entry]") -> bool:
    """Say whether any of these may go by its own date or its end, some day at least."""
    dated = (entry for entry in entries if entry.day_source == OWN or entry.marks.until is not None)
    return not all(entry.kept for entry in dated)


def items_of(lines: list[str], found: Outline, entry: Entry) -> list[Entry]:
    """Return the items of a numbered list that is one entry, each as an entry; every other entry alone."""
    if entry.items < 2:
        return [entry]
    items = []
    for block in found.blocks:
        if entry.start <= block.start < entry.end:
            item = Entry(
                block.start,
                block.end,
                is_item=True,
                column=block.column,
                paragraph=paragraph_text(lines, block),
                is_numbered=True,
            )
            item.headings, item.label = entry.headings, entry.label
            item.day, item.day_source = entry.day, entry.day_source
            items.append(item)
    return items


def _number(lines: list[str], block: Block) -> tuple[int, str]:
    """Return the number and the delimiter of a numbered item; 0 and "" for every other block."""
    if block.kind != markdown.ITEM:
        return 0, ""
    text = lines[block.start].lstrip(" \t")
    digits = text[: len(text) - len(text.lstrip("0123456789"))]
    return (int(digits), text[len(digits)]) if digits else (0, "")


def _add_prose(found: Outline, lines: list[str], run: list[Block], above: tuple[int, ...]) -> None:
    """Add a run of prose: one entry, and a further one wherever a paragraph or line has its own date.

    Other blocks belong to the entry before them, and so does an undated paragraph that goes on with a dated one: it
    begins with bold text or `Word:`, or ends in a colon.
    """
    if not run:
        return
    starts: list[int] = []
    dated = False
    for block in run:
        if block.kind != markdown.PARAGRAPH:
            starts = starts or [block.start]
            continue
        text = "\n".join(line.strip(" \t") for line in lines[block.start : block.end])
        own = marks.read(text)
        is_note = markdown.footnote_name(lines[block.start]) != ""
        if not starts or own.date is not None or is_note or (dated and not _goes_on(text)):
            starts.append(block.start)
            # What is only a date dates the paragraph behind it.
            dated = own.date is not None and marks.bare(text, own).strip("*_ ") != ""
        later = [
            number for number in range(block.start + 1, block.end) if marks.begins_entry(lines[number].strip(" \t"))
        ]
        starts += later
        dated = dated or bool(later)
    begins = [block.start for block in run]
    for start, limit in zip(starts, [*starts[1:], run[-1].end], strict=True):
        end = limit
        while not lines[end - 1].strip(" \t"):
            end -= 1
        paragraph = ""
        column = len(lines[start]) - len(lines[start].lstrip(" \t"))
        place = bisect_right(begins, start) - 1
        first, inside = run[place], run[place : bisect_left(begins, end)]
        if first.kind == markdown.PARAGRAPH and start < first.end:
            paragraph = "\n".join(line.strip(" \t") for line in lines[start : min(end, first.end)])
        entry = Entry(start, end, is_item=False, column=column, paragraph=paragraph)
        entry.headings = above
        entry.closed = all(block.closed for block in inside if block.start >= start)
        found.entries.append(entry)


def _goes_on(text: str) -> bool:
    """Say whether an undated paragraph continues what the dated one before it says."""
    first = next(iter(text.split(None, 1)), "")
    return text.startswith("**") or (first[-1:] == ":" and first[:-1].isalpha()) or text.endswith(_COLONS)


def _label(lines: list[str], blocks: list[Block], position: int) -> Label | None:
    """Return the label that a paragraph is, or ends in, for the list that follows it at once; None for no label."""
    block = blocks[position]
    following = _following(lines, blocks, position)
    may_open = block.kind in (markdown.PARAGRAPH, markdown.HTML)
    if not may_open or following == len(blocks):
        return None
    last = label_in(lines[block.start : block.end])
    is_entry = last != on_one_line(lines[block.start : block.end])
    if states_condition(last) and not is_entry:
        # It holds for the list below it also where prose is between the two.
        while following < len(blocks) and _is_plain_prose(lines, blocks[following]):
            following = _following(lines, blocks, following)
    if following == len(blocks) or blocks[following].kind != markdown.ITEM:
        return None
    if not is_label(last) or (block.kind == markdown.HTML and (is_entry or "<" in last)):
        return None
    return Label(block, last, is_entry=is_entry)


def _following(lines: list[str], blocks: list[Block], position: int) -> int:
    """Return the place of the next block that a reader sees."""
    following = position + 1
    while following < len(blocks) and _is_passed_over(lines, blocks[following]):
        following += 1
    return following


def _is_plain_prose(lines: list[str], block: Block) -> bool:
    """Say whether a block is a paragraph of which no part is a label."""
    return block.kind == markdown.PARAGRAPH and not is_label(label_in(lines[block.start : block.end]))


def _only_closes(lines: list[str], block: Block) -> bool:
    """Say whether a block has nothing but tags that close an element, such as `</details>`."""
    text = "".join(lines[block.start : block.end])
    return block.kind == markdown.HTML and text.count("<") == text.count("</") > 0 and seen(text) == ""


def closing_after(lines: list[str], outline: Outline, label: Label) -> Block | None:
    """Return the block that closes what a label opens around its list, such as `</details>`; None if nothing does."""
    later = [block for block in outline.blocks if block.start >= label.end]
    after = next((block for block in later if block.kind != markdown.ITEM), None)
    opens = any("<" in line for line in lines[label.start : label.end])
    return after if opens and after is not None and _only_closes(lines, after) else None


def _is_passed_over(lines: list[str], block: Block) -> bool:
    """Say whether nobody sees this block between a label and its list. An empty comment parts the two."""
    is_seen = block.kind not in (markdown.COMMENT, markdown.DEFINITION)
    return not is_seen and "".join(lines[block.start : block.end]).strip("<!- \t>") != ""


def _add_outer(lines: list[str], label: Label, run: list[Block]) -> None:
    """Put the labels right above a label in front of it, as one: `Git:` and then `Never:`. They leave the run."""
    while run and not label.is_entry and run[-1].kind in (markdown.PARAGRAPH, markdown.HTML):
        above = lines[run[-1].start : run[-1].end]
        outer = label_in(above)
        is_html = run[-1].kind == markdown.HTML
        if not is_label(outer) or (is_html and ("<" in outer or outer != on_one_line(above))):
            break
        label.text = one_label(outer, label.text)
        label.start, label.is_entry = run.pop().start, outer != on_one_line(above)
        date = marks.read(label.text).date
        label.day = date.day if date else None


def _date_headings(found: Outline, lines: list[str], new: list[Heading]) -> None:
    """Give each new heading the day its text or its label line says. The title dates nothing."""
    first_level = [heading for heading in found.headings if heading.level == 1]
    found.title = found.headings[0] if found.headings and first_level == found.headings[:1] else None
    for heading in new:
        if heading is found.title:
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
                heading.date_line = -1 if heading.day is None else following


def _inherit_dates(found: Outline, new: list[Entry]) -> None:
    if all(day is None for day in [*(one.day for one in found.headings), *(one.day for one in found.labels.values())]):
        return
    for entry in new:
        label = found.labels[entry.label] if entry.label is not None else None
        if entry.day is None and label is not None and label.day is not None:
            entry.day, entry.day_source = label.day, FROM_LABEL
        if entry.day is None:
            for index in reversed(entry.headings):
                heading = found.headings[index]
                if heading.day is not None:
                    entry.day, entry.day_source, entry.dated_by = heading.day, heading.day_source, heading.date_line
                    break


def notes_of(lines: "Sequence[str]", found: Outline, said: "Iterable[str]") -> list[Entry]:
    """Return the footnotes that some lines of a document refer to, and those that the footnotes refer to."""
    said = [line for line in said if "[^" in line]
    if not said:
        return []
    from ..text.footnotes import names_in

    if found.notes is None:
        named = ((markdown.footnote_name(line), one) for one in found.entries for line in lines[one.start : one.end])
        found.notes = {name: one for name, one in reversed([*named]) if name}  # the first of a name counts
    notes = found.notes
    told: list[Entry] = []
    while said:
        new = [notes[name] for name in sorted(names_in(said)) if name in notes and notes[name] not in told]
        told += dict.fromkeys(new)
        said = [line for note in new for line in lines[note.start : note.end]]
    return told


def date_lines(found: Outline) -> dict[int, Entry]:
    """Return the short entries that begin with the line which dates other entries, each by that line."""
    dating = {entry.dated_by for entry in found.entries if entry.dated_by not in (-1, entry.start)}
    short = (entry for entry in found.entries if entry.start in dating and entry.end - entry.start <= MOST_DATE_LINES)
    return {entry.start: entry for entry in short}

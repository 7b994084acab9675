"""Add an entry to a document: where it goes, and that nothing else has changed."""

from collections.abc import Callable, Sequence

from ..errors import Refused
from ..text import labels, markdown
from ..text.labels import BELOW
from ..text.over_lists import is_label, label_in
from ..text.visible import KEEPER
from ..values import dataclass
from .compose import NewEntry
from .document import (
    Document,
    Section,
    after_heading,
    end_of_section,
    find_sections,
    item_lines,
    path_of,
    with_block,
)
from .entries import Entry, Heading, IndexLine
from .taken import back_over_blanks

_SENTENCE_ENDS = (".", "!", "\u3002", "\uff01")


@dataclass(frozen=True, slots=True)
class Added:
    """A document with a new entry in it, which entry that is, and what the writer should be told."""

    document: Document
    entry: Entry
    notes: tuple[str, ...]

    @property
    def entry_id(self) -> str:
        """The id of the new entry."""
        return self.document.ids[self.document.outline.entries.index(self.entry)]


def add(document: Document, new: NewEntry, section: Section | None = None, label: str | None = None) -> Added:
    """Add an entry: after the last one that no label governs under the section's heading, or the file's first one.

    With a label, as `check_label` returns it, the entry goes to the end of that label's list: one directly under that
    heading, or where no section is named, the last one in the file. A section or label that does not exist is made,
    with the headings above it that its name says; of two sections with that name the last is used. The notes say so.
    (docs/protocol.md, “Labels”.)

    Raises:
        Refused: the document's structure would change: a fence that never closes would swallow the entry.
    """
    notes = []
    matching = find_sections(document, section or ())
    heading = matching[-1] if matching else None
    if len(matching) > 1:
        named = section if isinstance(section, str) else BELOW.join(section or ())
        notes.append(
            f"{len(matching)} sections are called {named!r}; the last one, line {matching[-1].start + 1}, is used"
        )
    made, place, of = _missing(document, section) if section and not matching else ([], _end(document), "")
    if made:
        names = " and ".join(map(repr, made))
        notes.append(f"added the missing section{'s' if len(made) > 1 else ''} {names} at the end{of}")
    if label is not None and not made:
        governed = _last_under(document, heading, label, anywhere=section is None)
        if governed is not None:
            return _add_at(document, new, governed.end, governed, [], notes, label)
    if label is not None:
        end = place if heading is None else _end_under(document, heading)
        if not made and _opens(document, end, label):
            return _add_at(document, new, end, None, [], notes, label)
        made.append(label)
        notes.append(f"added the missing label {made[-1]!r}")
        return _add_at(document, new, end, None, made, notes, label)
    if made:
        return _add_at(document, new, place, None, made, notes)
    limit = len(document.lines)
    if not section and heading is not None and _says_more(heading):
        limit, heading = heading.start, None  # What names no section goes above it.
    while (last := _last_unit(document, heading, limit)) and (prose := _opens_list(document, last)) is not None:
        limit = prose.start
    if heading is None and not document.outline.labels and limit == len(document.lines):
        position = _end(document)
    elif last is None:
        position = document.begin if heading is None else after_heading(document, heading)
    else:
        position = last.end
    return _add_at(document, new, position, last, [], notes)


def _says_more(heading: Heading) -> bool:
    """Say whether a heading dates or denies what is under it: a day, `Never`, `Rejected ideas`."""
    return heading.day is not None or labels.turns(" ".join(heading.text.split()[:3]))


def _opens_list(document: Document, last: Entry | IndexLine) -> Entry | None:
    """Return the prose, this or right over the list of this item, that a reader would take for the label of a list.

    `Do not do these` is not a label, but no other entry belongs under it. A sentence ends in a full stop.
    """
    if isinstance(last, Entry) and not last.is_item:
        return last if is_label(document.lines[last.end - 1]) else None
    blocks = document.outline.blocks
    index = next(index for index, block in enumerate(blocks) if block.start == last.start)
    while index and blocks[index].kind == markdown.ITEM:
        index -= 1
    over = blocks[index]
    if over.kind != markdown.PARAGRAPH or document.lines[over.end - 1].rstrip(" \t*_)").endswith(_SENTENCE_ENDS):
        return None
    return next((one for one in document.outline.entries if one.start <= over.start < one.end), None)


def label_meant(document: Document, section: Section | None, label: str) -> str:
    """Return the label that a name means in a section, or without one anywhere; unchanged if it means no label."""
    matching = find_sections(document, section or ())
    heading = matching[-1] if matching else None
    if heading is None and section:
        return label
    governed = _last_under(document, heading, label, anywhere=section is None)
    return label if governed is None else document.label(governed)


def _missing(document: Document, section: Section) -> tuple[list[str], int, str]:
    """Return the headings to make for a section, the line they go to, and of which section that is the end."""
    path, above = path_of(section), None
    count = len(path)
    while above is None and count > 1:
        count -= 1
        above = next(reversed(find_sections(document, path[:count])), None)
    if above is None:
        count, level, place, of = 0, 1, _end(document), ""
    else:
        level, place = above.level, back_over_blanks(document, end_of_section(document, above))
        of = f" of {above.text!r}"
    return [f"{'#' * min(level + n, 6)} {text}" for n, text in enumerate(path[count:], start=1)], place, of


def _last_under(document: Document, heading: Heading | None, label: str, *, anywhere: bool) -> Entry | IndexLine | None:
    """Return the last entry or index line that a label governs directly under a heading, else with `anywhere` any."""
    outline = document.outline
    above = () if heading is None else (outline.headings.index(heading),)
    wanted = labels.key(label)
    units: list[Entry | IndexLine] = sorted([*outline.index_lines, *outline.entries], key=lambda unit: unit.start)
    governed = [unit for unit in units if unit.label is not None and labels.key(document.label(unit)) == wanted]
    if not governed:
        named = [unit for unit in units if unit.label is not None and labels.names(document.label(unit), label)]
        governed = named if len({labels.shown(document.label(unit)).casefold() for unit in named}) == 1 else []
    here = [unit for unit in governed if unit.headings[-1:] == above]
    return next(reversed(here or (governed if anywhere else [])), None)


def _opens(document: Document, end: int, label: str) -> bool:
    """Say whether a paragraph that ends at a line would be that label, or end in it, with a list after it."""
    last = next((block for block in document.outline.blocks if block.end == end), None)
    if last is None or last.kind != markdown.PARAGRAPH:
        return False
    said = label_in(document.lines[last.start : last.end])
    return is_label(said) and labels.key(said) == labels.key(label)


def _end_under(document: Document, heading: Heading) -> int:
    """Return the line after the last one directly under a heading, blank lines not counted."""
    later = [other.start for other in document.outline.headings if other.start > heading.start]
    end = later[0] if later else len(document.lines)
    while end > heading.end and not document.lines[end - 1].strip(" \t"):
        end -= 1
    return end


def _last_unit(document: Document, heading: Heading | None, limit: int) -> Entry | IndexLine | None:
    """Return the last unlabelled entry directly under a heading (None: anywhere), else the last such index line.

    Only what begins before the line `limit` counts.
    """
    outline = document.outline
    index = outline.headings.index(heading) if heading is not None else None
    units: list[Entry | IndexLine] = [*outline.index_lines, *outline.entries]
    governed = {unit.label: unit.start for unit in reversed(units) if unit.label is not None}
    # What a condition does not govern never goes into the prose between the condition and its list.
    between = [range(outline.labels[label].end, first) for label, first in governed.items()]

    def stands_here(unit: Entry | IndexLine) -> bool:
        here = heading is None or (bool(unit.headings) and unit.headings[-1] == index)
        return here and unit.label is None and unit.start < limit and not any(unit.start in one for one in between)

    return next((unit for unit in reversed(units) if stands_here(unit)), None)


def _end(document: Document) -> int:
    return back_over_blanks(document, len(document.lines))


def _add_at(
    document: Document,
    new: NewEntry,
    position: int,
    after: Entry | IndexLine | None,
    made: Sequence[str],
    notes: list[str],
    label: str = "",
) -> Added:
    """Add an entry at a line, under a heading and a label made for it, and hold that nothing else has changed."""
    marker, indent = ("-", "") if made else _marker(document, after)
    after_text = position > 0 and document.lines[position - 1].strip(" \t") != ""
    lead = after_text and (bool(made) or new.is_steps or not _follows_tightly(document, after))
    blank, apart = [""], ["", KEEPER, ""]
    near = blank * lead
    before_text = after is None and "".join(document.lines[position : position + 1]).strip(" \t") != ""
    ways = [(above, below) for below in ([], blank)[:: -1 if before_text else 1] for above in (near, blank)]
    ways += [(near, apart), (blank, apart), (apart, []), (apart, apart)]
    for (above, below), bullet in ((way, one) for one in ["", marker][not new.is_steps :] for way in ways):
        block = item_lines(new, bullet, indent)
        for line in reversed(made):
            block = [line, "", *block]
        lines = [*above, *block, *below]
        changed = with_block(document, position, position, lines)
        first = position + len(lines) - len(below) - len(new.lines)
        entry = next((entry for entry in changed.outline.entries if entry.start == first), None)
        if entry is None or not entry.is_item or entry.end != first + len(new.lines):
            continue
        if labels.key(changed.label(entry)) != labels.key(label):
            continue
        if _only_added(document, changed, entry, made, range(position, position + len(lines))):
            return Added(changed, entry, tuple(notes))
    opened = next((block.start + 1 for block in document.outline.blocks if not block.closed), None)
    why = f"the fence opened in line {opened} never closes; close it" if opened else "what is around it would change"
    raise Refused(f"{document.target.path}: the entry cannot be placed: {why}, or name another section")


def _marker(document: Document, after: Entry | IndexLine | None) -> tuple[str, str]:
    """Return the bullet and the indentation of the list that an entry joins."""
    if after is None or (isinstance(after, Entry) and not after.is_item):
        return "-", ""
    line = document.lines[after.start]
    text = line.lstrip(" ")
    return (text[0], line[: len(line) - len(text)]) if text[0] in "-*+" else ("-", "")


def _follows_tightly(document: Document, after: Entry | IndexLine | None) -> bool:
    """Say whether a new item joins the list before it without a blank line: if that list has none between its items."""
    if after is None or (isinstance(after, Entry) and not after.is_item):
        return False
    return not (after.start > 0 and not document.lines[after.start - 1].strip(" \t") and _has_sibling(document, after))


def _has_sibling(document: Document, after: Entry | IndexLine) -> bool:
    blocks = document.outline.blocks
    index = next(index for index, block in enumerate(blocks) if block.start == after.start)
    return index > 0 and blocks[index - 1].kind == markdown.ITEM


def _only_added(old: Document, new: Document, entry: Entry, made: Sequence[str], added: range) -> bool:
    """Say whether nothing but this entry in the added lines, and what was made for it, is new."""

    def before(line: int) -> int:
        return line if line <= added.start else line - len(added)

    def governing(document: Document, line: Callable[[int], int]) -> list[tuple[object, ...]]:
        above = [line(heading.start) for heading in document.outline.headings]
        units: list[Entry | IndexLine] = [*document.outline.entries, *document.outline.index_lines]
        over = {headings: [above[index] for index in headings] for headings in {one.headings for one in units}}
        return [
            (
                line(one.start),
                line(one.end),
                over[one.headings],
                document.label(one),
                getattr(one, "day", None),
            )
            for one in units
            if one is not entry
        ]

    headings = [(heading.start, heading.level, heading.text) for heading in new.outline.headings]
    stayed = [(before(start), level, text) for start, level, text in headings if start not in added]
    came = [(level, text) for start, level, text in headings if start in added]
    wanted = [(level, markdown.heading_text(line)) for line in made if (level := markdown.heading_level(line))]
    return (
        governing(new, before) == governing(old, int)
        and stayed == [(heading.start, heading.level, heading.text) for heading in old.outline.headings]
        and came == wanted
    )

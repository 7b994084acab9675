"""Take entries out of a document, put them back where they were, and replace one by another.

After every edit the document is read again: everything else must be what it was, or the edit is refused
(decisions 17 and 21).
"""

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from dataclasses import replace as replace_fields
from itertools import pairwise
from typing import Any

from agent_memory_protocol import markdown
from agent_memory_protocol.errors import Refused
from agent_memory_protocol.markdown import Block
from agent_memory_protocol.tiers.compose import NewEntry
from agent_memory_protocol.tiers.document import (
    Document,
    entry_id,
    item_lines,
    plain_id,
    rebuilt,
    section_key,
    signature,
)
from agent_memory_protocol.tiers.entries import Entry, Heading

_Span = Block | Heading


@dataclass(frozen=True, slots=True)
class Above:
    """A heading or label that an entry stood under.

    Attributes:
        markdown: its Markdown.
        blank_before, blank_after: the blank lines around it.
        previous: the key of the block before it.
        twins: how many headings had the same name in the same place, this one included.
    """

    markdown: str
    blank_before: int = 1
    blank_after: int = 1
    previous: str = ""
    twins: int = 1


@dataclass(frozen=True, slots=True)
class Place:
    """Where an entry stood, in words that survive other edits.

    A block's key is made from its text alone, as an entry's id is, so a place tells nothing of what stood around it.

    Attributes:
        headings: the headings above it, outermost first.
        label: the label above its list; None where there is none.
        after: the id of the entry before it in the file, "" for the first.
        before: the id of the entry after it in the file, "" for the last.
        previous: the key of the block right before it, be it an entry, a heading, a rule or a comment; "" for none.
        following: the key of the block right after it.
        next_heading: the key of the next heading in the file.
        blank_before, blank_after: the blank lines around it.
    """

    headings: tuple[Above, ...] = ()
    label: Above | None = None
    after: str = ""
    before: str = ""
    previous: str = ""
    following: str = ""
    next_heading: str = ""
    blank_before: int = 0
    blank_after: int = 0


_Edge = Above | Place


@dataclass(frozen=True, slots=True)
class Taken:
    """An entry outside its document: its id, its exact Markdown, and where it stood."""

    id: str
    markdown: str
    place: Place


def as_json(taken: Taken) -> dict[str, object]:
    """Return an entry's Markdown and place as JSON values, for the ledger and the journal."""
    place = taken.place
    fields: dict[str, object] = {"headings": [_above_json(one) for one in place.headings]}
    if place.label is not None:
        fields["label"] = _above_json(place.label)
    fields |= {"after": place.after, "before": place.before}
    fields |= {"previous": place.previous, "following": place.following, "next_heading": place.next_heading}
    fields["blank"] = [place.blank_before, place.blank_after]
    return {"markdown": taken.markdown, "place": fields}


def from_json(entry_id: str, fields: Mapping[str, Any]) -> Taken:
    """Read back what `as_json` returned. A place that is not as it writes one counts as unknown.

    Raises:
        ValueError: there is no Markdown.
    """
    text = fields.get("markdown")
    if not isinstance(text, str):
        raise ValueError("no Markdown")  # noqa: TRY004 - a line of another tool, not a caller's mistake
    try:
        place = fields["place"]
        label = place.get("label")
        before, after = place["blank"]
        return Taken(
            entry_id,
            text,
            Place(
                headings=tuple(_read_above(one) for one in place["headings"]),
                label=None if label is None else _read_above(label),
                after=str(place["after"]),
                before=str(place["before"]),
                previous=str(place["previous"]),
                following=str(place["following"]),
                next_heading=str(place["next_heading"]),
                blank_before=int(before),
                blank_after=int(after),
            ),
        )
    except (KeyError, TypeError, ValueError, AttributeError):
        return Taken(entry_id, text, Place())


def section_of(place: Place) -> str:
    """Return the text of the heading an entry stood under, "" where it stood under none."""
    return _heading_text(place.headings[-1].markdown) if place.headings else ""


def _above_json(one: Above) -> list[object]:
    return [one.markdown, one.blank_before, one.blank_after, one.previous, one.twins]


def _read_above(value: Any) -> Above:
    text, before, after, previous, twins = value
    return Above(str(text), int(before), int(after), str(previous), int(twins))


def take(document: Document, entry_id: str) -> Taken:
    """Describe an entry so that `put_back` can restore it. Changes nothing."""
    index = document.ids.index(entry_id)
    entry = document.outline.entries[index]
    headings = document.outline.headings
    label = None if entry.label is None else document.outline.labels[entry.label]
    place = Place(
        headings=tuple(
            _above(document, heading, twins=len(_twins(document, heading.text, heading.above)))
            for heading in (headings[number] for number in entry.headings)
        ),
        label=None if label is None else _above(document, label),
        after=document.ids[index - 1] if index else "",
        before=document.ids[index + 1] if index + 1 < len(document.ids) else "",
        previous=_key_before(document, entry.start),
        following=_key_after(document, entry.end),
        next_heading=next((_key(document, one) for one in headings if one.start >= entry.end), ""),
        blank_before=_blank_before(document, entry.start),
        blank_after=_blank_after(document, entry.end),
    )
    return Taken(entry_id, document.text(entry), place)


def leaving(old: Document, new: Document, named: Collection[str] = ()) -> list[tuple[str, Taken]]:
    """Describe each entry that a newer version of a document lacks, with the id it had.

    When one of several equal entries goes, the others move up, so it is described under the id that is free now. Which
    of them went is known from `named`, else from their texts, for their dates may differ. Prose that is a part of
    other prose now, because what stood between has gone, has not left.
    """
    staying = {*new.ids, *(one for one in regrouped_prose(new, old) if one not in named)}
    groups: dict[str, list[str]] = {}
    for one in old.ids:
        groups.setdefault(plain_id(one), []).append(one)
    found: dict[str, tuple[str, Taken]] = {}
    for group in groups.values():
        free = [one for one in group if one not in staying]
        gone = [one for one in group if one in named]
        if len(gone) != len(free):
            left = Counter(new.text(entry) for one in group if (entry := new.entry(one)) is not None)
            gone = [one for one in group if not _stands(old, one, left)]
        if len(gone) != len(free):
            gone = free
        for one, described in zip(gone, free, strict=True):
            found[one] = (one, replace_fields(take(old, one), id=described))
    return [found[one] for one in old.ids if one in found]


def regrouped_prose(old: Document, new: Document) -> set[str]:
    """Return the ids of prose that is new only as an entry: its lines stood in the old document in other pieces.

    What keeps two pieces of prose apart makes two entries of them, and may come and go.
    """
    before, after = _prose_lines(old), _prose_lines(new)
    gone = {line for entry_id, lines in before.items() if entry_id not in after for line in lines}
    return {entry_id for entry_id, lines in after.items() if entry_id not in before and gone.issuperset(lines)}


def _prose_lines(document: Document) -> dict[str, list[str]]:
    return {
        entry_id: [line for line in document.lines[entry.start : entry.end] if line.strip(" \t")]
        for entry_id, entry in zip(document.ids, document.outline.entries, strict=True)
        if not entry.is_item
    }


def _stands(document: Document, entry_id: str, left: Counter[str]) -> bool:
    entry = document.entry(entry_id)
    text = "" if entry is None else document.text(entry)
    left[text] -= 1
    return left[text] >= 0


def remove(document: Document, ids: Collection[str]) -> Document:
    """Return the document without these entries. A heading or label goes with its last entry (decisions 17, 22).

    The file's first heading stays, and a heading that a comment stands under.

    Raises:
        Refused: what stands around them would change its meaning.
    """
    if not ids:
        return document
    gone = [entry for entry, entry_id in zip(document.outline.entries, document.ids, strict=True) if entry_id in ids]
    spans = [(entry.start, entry.end) for entry in gone]
    spans += _orphaned_headings(document, gone)
    spans += _orphaned_labels(document, gone)
    joined = _joined(document.lines, sorted(spans))
    expected = _texts(document, [entry for entry in document.outline.entries if entry not in gone])
    for apart in _apart(document, joined):
        changed = rebuilt(document, _without_spans(document, joined, blank_for=apart))
        changed = _without_doubled_rules(document, changed)
        if _texts(changed, changed.outline.entries) == expected:
            return changed
    raise Refused(f"{document.target.path}: taking the entry out would change what stands around it; edit it by hand")


def replace(document: Document, entry_id: str, new: NewEntry) -> tuple[Document, str]:
    """Return the document with another entry in an entry's place, and the new one's id.

    Raises:
        Refused: what stands around it would change.
    """
    index = document.ids.index(entry_id)
    entry = document.outline.entries[index]
    line = document.lines[entry.start]
    text = line.lstrip(" ")
    marker, indent = "-", ""
    if entry.is_item:
        marker, indent = text[: markdown.marker_width(text)], line[: len(line) - len(text)]
    lines = item_lines(new, marker, indent)
    for before, after in ((False, False), (True, False), (False, True), (True, True)):
        block = [""] * before + lines + [""] * after
        changed = _with_block(document, entry.start, entry.end, block)
        others = [signature(changed, other) for other in changed.outline.entries]
        wanted = [signature(document, other) for other in document.outline.entries]
        if len(others) == len(wanted) and others[:index] + others[index + 1 :] == wanted[:index] + wanted[index + 1 :]:
            there = changed.outline.entries[index]
            if there.end - there.start == len(lines):
                return changed, changed.ids[index]
    raise Refused(f"{document.target.path}:{entry.start + 1}: the text cannot stand there; edit the file by hand")


def put_back(document: Document, taken: Taken, gone: Mapping[str, Taken] | None = None) -> Document:
    """Return the document with an entry back where it was, as near as can be told.

    Headings and the label that went with it come back too, and the blank lines that stood around it. What else has
    gone, by id, helps to find the place where the entry's neighbours are missing as well. Prose that came back beside
    other prose is a part of it, and does not come back twice.

    Raises:
        Refused: it cannot stand there without changing what stands around it.
    """
    spot = _find_spot(document, taken.place, gone or {})
    if _stands_in_prose(document, taken, spot):
        return document
    places = _positions(document, taken.place, spot)
    for is_back in (_is_in_its_place, _is_back):
        for position in places:
            for changed, line in _tries(document, taken, spot, position):
                if is_back(document, changed, taken, spot, line):
                    return changed
    raise Refused(f"{document.target.path}: the entry {taken.id} cannot go back where it stood; add it by hand")


@dataclass(frozen=True, slots=True)
class _Spot:
    """What is left of an entry's surroundings.

    Attributes:
        heading: the index of the innermost of its headings that stands, None where none does.
        missing: its headings that do not, outermost first.
        start, end: the lines between which it belongs.
        neighbours: the nearest entries before and after it that stand.
    """

    heading: int | None
    missing: Sequence[Above]
    start: int
    end: int
    neighbours: tuple[Entry | None, Entry | None]


def _find_spot(document: Document, place: Place, gone: Mapping[str, Taken]) -> _Spot:
    before = _nearest(document, place.after, gone, lambda other: other.after)
    after = _nearest(document, place.before, gone, lambda other: other.before)
    start = document.begin if before is None else before.end
    end = len(document.lines) if after is None else after.start
    if start > end:  # things were moved since
        start, end, before, after = document.begin, len(document.lines), None, None
    # Nothing that is left stood between an entry and its neighbour.
    if before is not None or (not place.after and place != Place()):
        end = min([end, *(one.start for one in document.outline.entries if one.start >= start)])
    elif after is not None or (not place.before and place != Place()):
        start = max([start, *(one.end for one in document.outline.entries if one.end <= end)])
    heading, missing = _find_headings(document, place, (before, after), start, end)
    first = document.begin if heading is None else document.outline.headings[heading].end
    last = _end_under(document, heading)
    if max(start, first) > min(end, last):
        return _Spot(heading, missing, first, last, (None, None))
    return _Spot(heading, missing, max(start, first), min(end, last), (before, after))


def _nearest(
    document: Document, entry_id: str, gone: Mapping[str, Taken], further: Callable[[Place], str]
) -> Entry | None:
    """Return the nearest entry on one side that stands: the neighbour, else its neighbour when it went, and so on."""
    seen: set[str] = set()
    while entry_id and entry_id not in seen:
        entry = document.entry(entry_id)
        if entry is not None:
            return entry
        seen.add(entry_id)
        entry_id = further(gone[entry_id].place) if entry_id in gone else ""
    return None


def _find_headings(
    document: Document, place: Place, neighbours: Sequence[Entry | None], start: int, end: int
) -> tuple[int | None, Sequence[Above]]:
    """Follow an entry's headings as far as they stand. Return the last one found, and those that are missing."""
    headings = document.outline.headings
    found: int | None = None
    for depth, one in enumerate(place.headings):
        above = () if found is None else (*headings[found].above, found)
        matching = _twins(document, _heading_text(one.markdown), above)
        meant = matching[0] if matching else None
        if one.twins > 1 or len(matching) > 1:
            near = [index for index in matching if headings[index].start < end and _end_under(document, index) >= start]
            meant = _meant(document, place, depth, near, neighbours, len(matching))
        if meant is not None:
            found = meant
            continue
        # The title may have been reworded; what stood under it stands under the file's first heading now.
        titles = [index for index, heading in enumerate(headings) if heading.level == 1]
        if depth == 0 and not one.previous and titles == [0] and _level(one.markdown) == 1:
            found = 0
            continue
        return found, place.headings[depth:]
    return found, ()


def _meant(
    document: Document, place: Place, depth: int, near: Sequence[int], neighbours: Sequence[Entry | None], found: int
) -> int | None:
    """Say which of several headings with one name an entry stood under; None where its own is none of them.

    Args:
        document: where the headings stand.
        place: the entry's place.
        depth: which of its headings is looked for.
        near: the headings of that name that are not too far up or down.
        neighbours: the nearest entries that stand.
        found: how many headings of that name there are at all.
    """
    one = place.headings[depth]
    same = [index for index in near if _key_before(document, document.outline.headings[index].start) == one.previous]
    if found < one.twins:
        # Its own may have gone. What held its neighbour as well, and begins where it began, is it.
        neighbours = [document.entry(place.after), document.entry(place.before)]
        near = same
    elif same:
        return same[0]
    held = [index for entry in neighbours if entry is not None for index in entry.headings if index in near]
    return next(iter(held if found < one.twins else [*held, *near]), None)


def _twins(document: Document, text: str, above: tuple[int, ...]) -> list[int]:
    """Return the headings of one name under the same headings."""
    key = section_key(text)
    return [
        index
        for index, heading in enumerate(document.outline.headings)
        if heading.above == above and section_key(heading.text) == key
    ]


def _positions(document: Document, place: Place, spot: _Spot) -> list[int]:
    """List the lines where an entry may go back, best first, each right after what stands before it."""
    outline = document.outline
    previous = (spot.missing[0] if spot.missing else place).previous
    inside = [block for block in outline.blocks if spot.start <= block.end and block.start <= spot.end]
    found = [block.end for block in inside if block.end <= spot.end and _key(document, block) == previous]
    if not spot.missing and place.label is not None:
        above = place.label.previous
        found += [block.end for block in inside if block.end <= spot.end and _key(document, block) == above]
    found += [
        block.start
        for block in inside
        if spot.start <= block.start and _key(document, block) in (place.following, place.next_heading)
    ]
    here = [entry for entry in outline.entries if _innermost(entry) == spot.heading]
    before, after = spot.neighbours
    if spot.missing:
        # Its own heading is made again before the next one that is as high.
        level = _level(spot.missing[0].markdown)
        found += [one.start for one in outline.headings if one.level <= level and spot.start <= one.start <= spot.end]
    else:
        found += [before.end] if before in here and before is not None else []
        found += [after.start if after.label is None else after.label] if after in here and after is not None else []
        found += [_after_heading(document, spot.heading), *([here[-1].end] if here else [])]
    found += [spot.end, _end_under(document, spot.heading)]
    positions = dict.fromkeys(_back_over_blanks(document, position) for position in found)
    return sorted(positions, key=lambda position: not _stands_between(document, position, previous, place.following))


def _tries(document: Document, taken: Taken, spot: _Spot, position: int) -> Iterator[tuple[Document, int]]:
    """Yield the document with the entry at a line, in every way it may stand there, and the line it begins at then."""
    place = taken.place
    labels = [[], [place.label]] if place.label is not None else [[]]
    if spot.missing:
        labels.reverse()
    for label in labels:
        above = [*spot.missing, *label]
        block: list[str] = []
        for one in above:
            block += [*one.markdown.split("\n"), *[""] * one.blank_after]
        first = above[0] if above else place
        for skip, drop, before, after in _blanks(document, position, first, place):
            lines = [""] * before + block + taken.markdown.split("\n") + [""] * after
            changed = _with_block(document, position + skip, position + skip + drop, lines)
            yield changed, position + skip + before + len(block)


def _blanks(document: Document, position: int, first: _Edge, last: Place) -> Iterable[tuple[int, int, int, int]]:
    """List how blank lines may go around what comes in at a line, best first.

    Each way says how many of the blank lines that stand there stay above it, how many of the next go, and how many
    come in before and after.
    """
    standing = _blank_after(document, position)
    at_end = position + standing == len(document.lines)
    ways = []
    if _stands_between(document, position, first.previous, last.following):
        ways.append((0, standing, first.blank_before, last.blank_after))
    used = min(standing, last.blank_after)
    if not at_end and _key_after(document, position) == last.following:
        # Blank lines that stand there count: first those after it, else first those before it.
        ways.append((standing - used, 0, max(0, first.blank_before - standing + used), last.blank_after - used))
    blocks = document.outline.blocks
    above = next((block for block in reversed(blocks) if block.end <= position), None)
    begins_section = above is not None and above.kind in (markdown.HEADING, markdown.COMMENT)
    if above is not None and begins_section and _key(document, above) != first.previous:
        # First in a section where it was not: what keeps the heading apart stays above it.
        below = next((block for block in blocks if block.start >= position), None)
        joins = at_end or (below is not None and below.kind == markdown.ITEM)
        before, after = 0 if standing else first.blank_before, last.blank_after if joins else max(1, last.blank_after)
        ways.append((standing, 0, before, 0 if at_end else after))
    used = min(standing, first.blank_before)
    before, after = first.blank_before - used, 0 if at_end else max(0, last.blank_after - standing + used)
    ways += [(used, 0, before, after), (used, 0, before, after + 1), (0, 0, 0, 0), (0, 0, 1, 0), (0, 0, 1, 1)]
    return dict.fromkeys(ways)


def _stands_between(document: Document, position: int, previous: str, following: str) -> bool:
    """Say whether a line is between the same two blocks as before."""
    return _key_before(document, position) == previous and _key_after(document, position) == following


def _is_in_its_place(old: Document, new: Document, taken: Taken, spot: _Spot, line: int) -> bool:
    """Say whether the entry is back under its own headings and label, and nothing else is another."""
    entry = _find_back(old, new, taken, spot, line)
    headings = new.outline.headings
    if entry is None or len(headings) != len(old.outline.headings) + len(spot.missing):
        return False
    own = [] if spot.heading is None else [*old.outline.headings[spot.heading].above, spot.heading]
    wanted = [old.outline.headings[index].text for index in own]
    wanted += [_heading_text(one.markdown) for one in spot.missing]
    label = "" if entry.label is None else _text(new, new.outline.labels[entry.label])
    return [section_key(headings[index].text) for index in entry.headings] == [
        section_key(text) for text in wanted
    ] and label == ("" if taken.place.label is None else taken.place.label.markdown)


def _is_back(old: Document, new: Document, taken: Taken, spot: _Spot, line: int) -> bool:
    """Say whether the entry is back somewhere, and nothing else is another."""
    return _find_back(old, new, taken, spot, line) is not None


def _find_back(old: Document, new: Document, taken: Taken, spot: _Spot, line: int) -> Entry | None:
    """Return the entry that is back at a line, or the prose it is a part of; None where something else has changed."""
    index = next((index for index, entry in enumerate(new.outline.entries) if entry.start <= line < entry.end), None)
    if index is None:
        return None
    entry = new.outline.entries[index]
    if entry.start == line and new.text(entry) == taken.markdown:
        # Its date and headings may be others by now; the headings of every other entry may not.
        others = [*new.outline.entries[:index], *new.outline.entries[index + 1 :]]
        return entry if _texts(new, others) == _texts(old, old.outline.entries) else None
    # Prose that something kept apart is one entry once that has gone. Paragraph by paragraph it must be the same.
    end = line + len(taken.markdown.split("\n"))
    if entry.is_item or spot.missing or end > entry.end or _changes_others(old, new, line, end):
        return None
    return entry


def _stands_in_prose(document: Document, taken: Taken, spot: _Spot) -> bool:
    here = (entry for entry in document.outline.entries if _innermost(entry) == spot.heading and not spot.missing)
    texts = (document.text(entry) for entry in here if not entry.is_item)
    return any(text != taken.markdown and f"\n{taken.markdown}\n" in f"\n{text}\n" for text in texts)


def _changes_others(old: Document, new: Document, start: int, end: int) -> bool:
    """Say whether a block outside these lines of the new document is not one of the old."""
    outside = [_text(new, block) for block in new.outline.blocks if block.end <= start or block.start >= end]
    return outside != [_text(old, block) for block in old.outline.blocks]


def _texts(document: Document, entries: Sequence[Entry]) -> list[tuple[str, tuple[str, ...]]]:
    """Return the text and headings of entries. Prose under one heading is joined: what stood between may have gone."""
    texts: list[tuple[str, tuple[str, ...]]] = []
    was_prose = False
    for entry in entries:
        text, headings, _ = signature(document, entry)
        if not entry.is_item:
            text = "\n".join(line for line in text.split("\n") if line.strip(" \t"))
        if was_prose and not entry.is_item and texts[-1][1] == headings:
            texts[-1] = (f"{texts[-1][0]}\n{text}", headings)
        else:
            texts.append((text, headings))
        was_prose = not entry.is_item
    return texts


def _level(text: str) -> int:
    first, *rest = text.split("\n")
    if rest:
        return 1 if rest[-1].strip()[:1] == "=" else 2
    return markdown.heading_level(first.strip(" \t"))


def _heading_text(text: str) -> str:
    lines = text.split("\n")
    return markdown.heading_text(lines[0]) if len(lines) == 1 else " ".join(line.strip() for line in lines[:-1])


def _innermost(entry: Entry) -> int | None:
    return entry.headings[-1] if entry.headings else None


def _above(document: Document, span: _Span, twins: int = 1) -> Above:
    return Above(
        _text(document, span),
        _blank_before(document, span.start),
        _blank_after(document, span.end),
        _key_before(document, span.start),
        twins,
    )


def _key(document: Document, span: _Span) -> str:
    return entry_id(_text(document, span), document.target)


def _key_before(document: Document, line: int) -> str:
    """Return the key of the block that ends before a line; "" where there is none, or the line is inside one."""
    last = next((block for block in reversed(document.outline.blocks) if block.start < line), None)
    return "" if last is None or last.end > line else _key(document, last)


def _key_after(document: Document, line: int) -> str:
    """Return the key of the block that begins at or after a line; "" where there is none, or the line is inside one."""
    first = next((block for block in document.outline.blocks if block.end > line), None)
    return "" if first is None or first.start < line else _key(document, first)


def _blank_before(document: Document, line: int) -> int:
    return line - _back_over_blanks(document, line)


def _back_over_blanks(document: Document, line: int) -> int:
    while line > document.begin and not document.lines[line - 1].strip(" \t"):
        line -= 1
    return line


def _blank_after(document: Document, line: int) -> int:
    end = line
    while end < len(document.lines) and not document.lines[end].strip(" \t"):
        end += 1
    return end - line


def _end_under(document: Document, heading: int | None) -> int:
    """Return the line after the last one that stands under a heading, blank lines not counted."""
    end = len(document.lines)
    if heading is not None:
        own = document.outline.headings[heading]
        later = [other.start for other in document.outline.headings[heading + 1 :] if other.level <= own.level]
        end = later[0] if later else end
    return _back_over_blanks(document, end)


def _after_heading(document: Document, heading: int | None) -> int:
    if heading is None:
        return document.begin
    position = document.outline.headings[heading].end
    for block in document.outline.blocks:
        if block.start >= position:
            if block.kind != markdown.COMMENT:
                break
            position = block.end
    return position


def _orphaned_headings(document: Document, gone: Collection[Entry]) -> list[tuple[int, int]]:
    """Return the headings that lose their last entry: not the first of the file, nor one a comment stands under."""
    outline = document.outline
    losing = {index for entry in gone for index in entry.headings}
    staying = {index for entry in outline.entries if entry not in gone for index in entry.headings}
    staying |= {index for line in outline.index_lines for index in line.headings}
    spans = []
    for index in losing - staying - {0}:
        heading = outline.headings[index]
        end = _end_under(document, index)
        held = any(
            heading.end <= block.start < end and block.kind in (markdown.COMMENT, markdown.DEFINITION, markdown.HTML)
            for block in outline.blocks
        )
        if not held:
            spans.append((heading.start, heading.end))
    return spans


def _orphaned_labels(document: Document, gone: Collection[Entry]) -> list[tuple[int, int]]:
    outline = document.outline
    staying = {entry.label for entry in outline.entries if entry not in gone}
    staying |= {line.label for line in outline.index_lines}
    losing = {entry.label for entry in gone if entry.label is not None} - staying
    return [(outline.labels[label].start, outline.labels[label].end) for label in losing if label is not None]


def _apart(document: Document, spans: list[tuple[int, int]]) -> Iterator[list[tuple[int, int]]]:
    """Yield the spans that leave a blank line: none, those that keep two things from running into each other, all."""
    yield []
    yield [span for span in spans if _holds_apart(document, span)]
    yield spans


def _holds_apart(document: Document, span: tuple[int, int]) -> bool:
    """Say whether other entries would be others, were these lines gone alone and no blank line left for them."""
    start, end = span
    staying = [entry for entry in document.outline.entries if entry.end <= start or entry.start >= end]
    changed = rebuilt(document, _without_spans(document, [span], blank_for=()))
    return _texts(changed, changed.outline.entries) != _texts(document, staying)


def _without_spans(
    document: Document, spans: Sequence[tuple[int, int]], *, blank_for: Collection[tuple[int, int]]
) -> list[str]:
    """Return the lines without these spans, and without the blank lines that would be left doubled where one was."""
    lines = document.lines
    raw = list(document.raw)
    drop: set[int] = set()
    for start, end in spans:
        drop.update(range(start, end))
        before, after = start, end
        while before and not lines[before - 1].strip(" \t"):
            before -= 1
        while after < len(lines) and not lines[after].strip(" \t"):
            after += 1
        at_end = after == len(lines)
        if at_end:
            drop.update(range(before, start))
        elif before < start or start == 0:
            drop.update(range(end, after))
        elif after == end and (start, end) in blank_for:
            drop.discard(start)
            raw[start] = document.newline
    return [line for number, line in enumerate(raw) if number not in drop]


def _joined(lines: Sequence[str], spans: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """Join spans that only blank lines keep apart."""
    joined: list[tuple[int, int]] = []
    for start, end in spans:
        if joined and not any(line.strip(" \t") for line in lines[joined[-1][1] : start]):
            joined[-1] = (joined[-1][0], max(end, joined[-1][1]))
        else:
            joined.append((start, end))
    return joined


def _without_doubled_rules(old: Document, new: Document) -> Document:
    """Take out a rule that stands right after a rule now and did not before (decision 22)."""

    def doubled(document: Document) -> list[tuple[int, int]]:
        blocks = document.outline.blocks
        return [
            (second.start, second.end)
            for first, second in pairwise(blocks)
            if first.kind == second.kind == markdown.RULE
        ]

    spans = doubled(new)
    if len(spans) <= len(doubled(old)):
        return new
    return rebuilt(new, _without_spans(new, spans, blank_for=()))


def _with_block(document: Document, start: int, end: int, block: Sequence[str]) -> Document:
    # A file may mix line endings: those next to the block are its own.
    own = document.raw[start:end] or document.raw[max(0, start - 1) : start]
    newline = own[0][len(own[0].rstrip("\r\n")) :] if own else ""
    newline = newline or document.newline
    before, after = list(document.raw[:start]), list(document.raw[end:])
    if before and not before[-1].endswith(("\n", "\r")):
        before[-1] += newline
    return rebuilt(document, [*before, *(line + newline for line in block), *after])


def _text(document: Document, span: _Span) -> str:
    return "\n".join(document.lines[span.start : span.end])

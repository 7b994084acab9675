"""Put an entry back where it was, as near as can be told.

Its neighbours, headings and label may be gone, moved or reworded, so the place is found from what is left of them. The
document is read again after every try: everything else must be what it was, or the entry does not come back.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import pairwise

from ..errors import Refused
from ..layout import Target
from ..text import labels, markdown
from ..text.visible import KEEPER, LIST_KEEPER
from ..values import dataclass
from . import frame
from .document import Document, key_of_label, plain_id, section_key, with_block
from .edit import texts, texts_apart
from .entries import Entry, items_of
from .taken import (
    TITLE,
    Above,
    Place,
    Taken,
    after_heading,
    back_over_blanks,
    blanks_after,
    block_key,
    end_under,
    has_key,
    innermost,
    is_part_of,
    near,
    span_text,
    stands_after,
    stands_before,
    stands_between,
    twins,
)


def put_back_all(
    document: Document,
    taken: Sequence[Taken],
    gone: Mapping[str, Taken] | None = None,
    check: Callable[[Document, Document], None] = lambda _, __: None,
) -> tuple[Document, dict[str, Refused]]:
    """Return the document with entries back where they were, and why others, by their ids, cannot go back.

    What was together goes back together. `check` raises Refused where a step breaks a limit.
    """
    refused: dict[str, Refused] = {}
    waiting = _chains(taken, document.target)[::-1]
    while waiting:
        chain = waiting.pop()
        try:
            changed = put_back(document, chain[0], gone) if len(chain) == 1 else _with_chain(document, chain, gone)
            check(document, changed)
        except Refused as error:
            if len(chain) == 1:
                refused[chain[0].id] = error
            else:
                middle = len(chain) // 2
                waiting += [chain[middle:], chain[:middle]]
        else:
            document = changed
    return document, refused


_PAIR = 2  # How often a name is said where one entry has it, and the next one says that it is after it


def _chains(taken: Sequence[Taken], target: Target) -> list[list[Taken]]:
    """Return the entries in groups that were one right after the other, under the same headings and label."""
    after = {one.place.after: one for one in taken if one.place.after}
    # Of very many ids some begin alike: there the next one in the list is the one after it, or none is.
    named = Counter(near(one.id) for one in taken) + Counter(one.place.after for one in taken)
    alike = {name for name, count in named.items() if count > _PAIR}
    beside = {one.id: other for one, other in pairwise(taken) if other.place.after == near(one.id)}
    next_to = [
        (one, other)
        for one in taken
        if (other := beside.get(one.id) if near(one.id) in alike else after.get(near(one.id))) is not None
    ]
    followers = {one.id: other for one, other in next_to if _follows(other, one, target)}
    begun = {one.id for one in followers.values()}
    chains = []
    for one in taken:
        if one.id in begun:
            continue
        chains.append([one])
        while (last := chains[-1][-1]).id in followers:
            chains[-1].append(followers.pop(last.id))
    return chains


def _follows(one: Taken, other: Taken, target: Target) -> bool:
    governed = one.place.headings == other.place.headings and one.place.label == other.place.label
    return (
        governed
        and one.id != other.id
        and one.place.previous in (plain_id(near(other.id)), block_key(other.markdown, target))
    )


def _with_chain(document: Document, chain: Sequence[Taken], gone: Mapping[str, Taken] | None) -> Document:
    """Return the document with entries back that were together. Raises Refused where they cannot go so."""
    first, last = chain[0], chain[-1]
    lines = [first.markdown]
    for one in chain[1:]:
        lines += [*[""] * one.place.blank_before, one.markdown]
    end = last.place
    place = replace(first.place, before=end.before, following=end.following, next_heading=end.next_heading)
    whole = Taken(first.id, "\n".join(lines), replace(place, blank_after=end.blank_after))
    spot = _find_spot(document, place, gone or {})
    standing = texts(document, document.outline.entries)
    for position in _positions(document, place, spot):
        for changed, line in _tries(document, whole, spot, position):
            entries = changed.outline.entries
            start = next((index for index, entry in enumerate(entries) if entry.start == line), None)
            if start is None or len(entries) != len(standing) + len(chain):
                continue
            back, others = entries[start : start + len(chain)], [*entries[:start], *entries[start + len(chain) :]]
            if [changed.text(entry) for entry in back] != [one.markdown for one in chain]:
                continue
            governed = {(entry.headings, entry.label) for entry in back}
            is_home = len(governed) == 1 and _is_governed(changed, back[0], first, _named_above(document, spot))
            if is_home and texts(changed, others) == standing:
                return changed
    raise Refused(f"{document.target.path}: {len(chain)} entries cannot be restored together")


def put_back(document: Document, taken: Taken, gone: Mapping[str, Taken] | None = None) -> Document:
    """Put an entry back as `_put_back` does, without a comment that was left to keep its neighbours apart."""
    if taken.part:
        return frame.put_back(document, taken)
    spot = _find_spot(document, taken.place, gone or {})
    around_it = (taken.place.previous, taken.place.following)
    for block in document.outline.blocks:
        inside = spot.start <= block.start and block.end <= spot.end
        if (
            not inside
            or span_text(document, block) not in (KEEPER, LIST_KEEPER)
            or has_key(document, block, *around_it)
        ):
            continue
        end = block.end + blanks_after(document, block.end)
        try:
            changed = _put_back(with_block(document, block.start, end, []), taken, gone)
        except Refused:
            continue
        back = changed.entry(taken.id)
        others = [entry for entry in changed.outline.entries if entry is not back]
        if texts_apart(changed, others) == texts_apart(document, document.outline.entries):
            return changed
    return _put_back(document, taken, gone)


def _put_back(document: Document, taken: Taken, gone: Mapping[str, Taken] | None = None) -> Document:
    """Return the document with an entry back where it was, with its headings, its label and the blank lines around it.

    What else has gone, by id, helps to find the place. Prose that came back beside other prose is a part of it, and
    does not come back twice. Raises Refused if something else would change.
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
    raise Refused(f"{document.target.path}: the entry {taken.id} cannot be restored to its old place; add it by hand")


@dataclass(frozen=True, slots=True)
class _Spot:
    """What is left of an entry's surroundings."""

    heading: int | None  # the index of the innermost of its headings that is there, None if nothing is
    missing: Sequence[Above]  # its headings that do not, outermost first
    start: int  # with `end`: the lines between which it belongs
    end: int
    neighbours: tuple[Entry | None, Entry | None]  # the nearest entries before and after it that are there


def _find_spot(document: Document, place: Place, gone: Mapping[str, Taken]) -> _Spot:
    """Say what is left of an entry's surroundings. `gone` has, by id, what went as well."""
    standing, gone = _near_ids(document), {near(one): taken for one, taken in gone.items()}
    before = _nearest(standing, place.after, gone, lambda other: other.after)
    after = _nearest(standing, place.before, gone, lambda other: other.before)
    start = document.begin if before is None else before.end
    end = len(document.lines) if after is None else after.start
    if start > end:  # things were moved since
        start, end, before, after = document.begin, len(document.lines), None, None
    # Nothing that is left was between an entry and its neighbour.
    if before is not None or (not place.after and place != Place()):
        end = min([end, *(one.start for one in document.outline.entries if one.start >= start)])
    elif after is not None or (not place.before and place != Place()):
        start = max([start, *(one.end for one in document.outline.entries if one.end <= end)])
    heading, missing = _find_headings(document, place, (before, after), start, end)
    first = document.begin if heading is None else document.outline.headings[heading].end
    last = end_under(document, heading)
    if max(start, first) > min(end, last):
        return _Spot(heading, missing, first, last, (None, None))
    return _Spot(heading, missing, max(start, first), min(end, last), (before, after))


def _positions(document: Document, place: Place, spot: _Spot) -> list[int]:
    """List the lines where an entry may go back, best first, each right after what is before it."""
    outline = document.outline
    previous = (spot.missing[0] if spot.missing else place).previous
    inside = [block for block in outline.blocks if spot.start <= block.end and block.start <= spot.end]
    found = [block.end for block in inside if block.end <= spot.end and has_key(document, block, previous)]
    if not spot.missing and place.label is not None:
        above = place.label.previous
        found += [block.end for block in inside if block.end <= spot.end and has_key(document, block, above)]
    found += [
        block.start
        for block in inside
        if spot.start <= block.start and has_key(document, block, place.following, place.next_heading)
    ]
    here = [entry for entry in outline.entries if innermost(entry) == spot.heading]
    before, after = spot.neighbours
    if spot.missing:
        # Its own heading is made again before the next one that is as high.
        level = spot.missing[0].level
        found += [one.start for one in outline.headings if one.level <= level and spot.start <= one.start <= spot.end]
    else:
        found += [before.end] if before in here and before is not None else []
        found += [after.start if after.label is None else after.label] if after in here and after is not None else []
        first, last = after_heading(document, spot.heading), [here[-1].end] if here else []
        was_first = not place.after or stands_after(document, first, previous)
        found += [first, *last] if was_first else [*last, first]
    found += [spot.end, end_under(document, spot.heading)]
    positions = dict.fromkeys(back_over_blanks(document, position) for position in found)
    return sorted(positions, key=lambda position: not stands_between(document, position, previous, place.following))


def _near_ids(document: Document) -> dict[str, Entry]:
    """Return the entries of a document by what a place calls them."""
    return {near(entry_id): entry for entry_id, entry in document.by_id}


def _nearest(
    standing: Mapping[str, Entry], name: str, gone: Mapping[str, Taken], further: Callable[[Place], str]
) -> Entry | None:
    """Return the nearest entry on one side that is there: the neighbour, else its neighbour when it went, and so on."""
    seen: set[str] = set()
    while name and name not in seen:
        if name in standing:
            return standing[name]
        seen.add(name)
        name = further(gone[name].place) if name in gone else ""
    return None


def _find_headings(
    document: Document, place: Place, neighbours: Sequence[Entry | None], start: int, end: int
) -> tuple[int | None, Sequence[Above]]:
    """Follow an entry's headings as far as they are there. Return the last one found, and those that are missing."""
    headings = document.outline.headings
    found: int | None = None
    for depth, one in enumerate(place.headings):
        above = () if found is None else (*headings[found].above, found)
        matching = twins(document, one.title, above)
        meant = matching[0] if matching else None
        if one.twins > 1 or len(matching) > 1:
            near = [index for index in matching if headings[index].start < end and end_under(document, index) >= start]
            meant = _meant(document, place, depth, near, neighbours, len(matching))
        if meant is not None:
            found = meant
            continue
        # The title may have been reworded; what was under it is under the file's first heading now.
        if depth == 0 and not one.previous and document.outline.title and one.level == 1:
            found = 0
            continue
        if one.markdown == TITLE:
            continue
        return found, place.headings[depth:]
    return found, ()


def _meant(
    document: Document, place: Place, depth: int, near: Sequence[int], neighbours: Sequence[Entry | None], found: int
) -> int | None:
    """Return which heading of those `near`, of `found` with its name, an entry was under at a depth; else None."""
    one = place.headings[depth]
    same = [index for index in near if stands_after(document, document.outline.headings[index].start, one.previous)]
    if found < one.twins:
        # Its own may have gone. What held its neighbour as well, and begins where it began, is it.
        standing = _near_ids(document)
        neighbours = [standing.get(place.after), standing.get(place.before)]
        near = same
    elif same:
        return same[0]
    held = [index for entry in neighbours if entry is not None for index in entry.headings if index in near]
    return next(iter(held if found < one.twins else [*held, *near]), None)


def _tries(document: Document, taken: Taken, spot: _Spot, position: int) -> Iterator[tuple[Document, int]]:
    """Yield the document with the entry at a line, in every way it may be there, and the line it begins at then."""
    place = taken.place
    ways: list[list[Above]] = [[]]
    if place.label is not None:
        # A label may have been the end of a paragraph that is an entry, or have opened an element: it comes back alone.
        alone = replace(place.label, markdown=place.label_text)
        ways += [[alone]] if "<details" in place.label.markdown else [[place.label], [alone]]
    if spot.missing:
        ways = ways[1:] + ways[:1]
    for label in ways:
        above = [*spot.missing, *label]
        block: list[str] = []
        for one in above:
            block += [*one.markdown.split("\n"), *[""] * one.blank_after]
        first = above[0] if above else place
        for skip, drop, before, after in _blanks(document, position, first, place):
            lines = [""] * before + block + taken.markdown.split("\n") + [""] * after
            changed = with_block(document, position + skip, position + skip + drop, lines)
            yield changed, position + skip + before + len(block)


def _blanks(
    document: Document, position: int, first: Above | Place, last: Place
) -> Iterable[tuple[int, int, int, int]]:
    """List how blank lines may go around what comes in at a line, best first.

    Each way says how many of the blank lines that are there stay above it, how many of the next go, and how many
    come in before and after.
    """
    standing = blanks_after(document, position)
    at_end = position + standing == len(document.lines)
    ways = []
    if stands_between(document, position, first.previous, last.following):
        ways.append((0, standing, first.blank_before, last.blank_after))
    blocks = document.outline.blocks
    above = next((block for block in reversed(blocks) if block.end <= position), None)
    below = next((block for block in blocks if block.start >= position), None)
    begins_section = above is not None and above.kind in (markdown.HEADING, markdown.COMMENT)
    if above is not None and begins_section and (standing or not has_key(document, above, first.previous)):
        # First in a section, not between what it was between: what keeps the heading apart stays above it.
        joins = at_end or (below is not None and below.kind == markdown.ITEM)
        before, after = 0 if standing else first.blank_before, last.blank_after if joins else max(1, last.blank_after)
        ways.append((standing, 0, before, 0 if at_end else after))
    used = min(standing, last.blank_after)
    if not at_end and stands_before(document, position, last.following):
        # Blank lines that are there count: first those after it, else first those before it.
        ways.append((standing - used, 0, max(0, first.blank_before - standing + used), last.blank_after - used))
    used = min(standing, first.blank_before)
    before, after = first.blank_before - used, 0 if at_end else max(0, last.blank_after - standing + used)
    if below is not None and below.kind == markdown.HEADING and standing == used > 0:
        after = max(1, after)  # a heading that was apart stays apart
    ways += [(used, 0, before, after), (used, 0, before, after + 1), (0, 0, 0, 0), (0, 0, 1, 0), (0, 0, 1, 1)]
    return dict.fromkeys(ways)


def _is_in_its_place(old: Document, new: Document, taken: Taken, spot: _Spot, line: int) -> bool:
    """Say whether the entry is back under its own headings and label, and nothing else is another."""
    entry = _find_back(old, new, taken, spot, line)
    headings = new.outline.headings
    if entry is None or len(headings) != len(old.outline.headings) + len(spot.missing):
        return False
    return _is_governed(new, entry, taken, _named_above(old, spot))


def _is_governed(document: Document, entry: Entry, taken: Taken, headings: Sequence[str]) -> bool:
    """Say whether an entry is under headings of these names, and under the very label that it was under."""
    label = "" if entry.label is None else span_text(document, document.outline.labels[entry.label])
    named = [section_key(document.outline.headings[index].text) for index in entry.headings]
    return named == [*headings] and label == ("" if taken.place.label is None else taken.place.label.markdown)


def _named_above(document: Document, spot: _Spot) -> list[str]:
    """Return the names of the headings that an entry is under once it is back."""
    headings = document.outline.headings
    own = [] if spot.heading is None else [*headings[spot.heading].above, spot.heading]
    return [
        section_key(text) for text in [*(headings[index].text for index in own), *(one.title for one in spot.missing)]
    ]


def _is_back(old: Document, new: Document, taken: Taken, spot: _Spot, line: int) -> bool:
    """Say whether the entry is back somewhere, under a label that says the same, and nothing else is another."""
    entry = _find_back(old, new, taken, spot, line)
    return entry is not None and key_of_label(new.outline, entry) == labels.key(taken.place.label_text)


def _find_back(old: Document, new: Document, taken: Taken, spot: _Spot, line: int) -> Entry | None:
    """Return the entry that is back at a line, or the prose it is a part of; None if something else has changed."""
    index = next((index for index, entry in enumerate(new.outline.entries) if entry.start <= line < entry.end), None)
    if index is None:
        return None
    entry = new.outline.entries[index]
    if entry.start == line and new.text(entry) == taken.markdown:
        # Its date and headings may be others by now; the headings of every other entry may not.
        others = [*new.outline.entries[:index], *new.outline.entries[index + 1 :]]
        return entry if texts(new, others) == texts(old, old.outline.entries) else None
    # An item goes back into a numbered list that is one entry now.
    items = items_of(new.lines, new.outline, entry)
    if len(items) > 1 and any(item.start == line and new.text(item) == taken.markdown for item in items):
        others = [one for each in new.outline.entries for one in items_of(new.lines, new.outline, each)]
        others = [one for one in others if one.start != line]
        return entry if texts(new, others) == texts(old, old.outline.entries) else None
    # Prose that something kept apart is one entry once that has gone. Paragraph by paragraph it must be the same.
    end = line + len(taken.markdown.split("\n"))
    if entry.is_item or spot.missing or end > entry.end or _changes_others(old, new, line, end):
        return None
    return entry


def _stands_in_prose(document: Document, taken: Taken, spot: _Spot) -> bool:
    here = (entry for entry in document.outline.entries if innermost(entry) == spot.heading and not spot.missing)
    return any(is_part_of(document, entry, taken.markdown) for entry in here)


def _changes_others(old: Document, new: Document, start: int, end: int) -> bool:
    """Say whether a block outside these lines of the new document is not one of the old."""
    outside = [span_text(new, block) for block in new.outline.blocks if block.end <= start or block.start >= end]
    return outside != [span_text(old, block) for block in old.outline.blocks]

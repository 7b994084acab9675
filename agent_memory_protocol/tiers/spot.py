"""Where in a document an entry belongs that goes back: under which headings, between which lines.

Its neighbours, headings and label may be gone, moved or reworded, so the place is found from what is left of them.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from . import around
from .document import Document
from .entries import Entry
from .taken import Above, Place, Taken


@dataclass(frozen=True, slots=True)
class Spot:
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


def find_spot(document: Document, place: Place, gone: Mapping[str, Taken]) -> Spot:
    """Say what is left of an entry's surroundings. `gone` has, by id, what went as well."""
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
    last = around.end_under(document, heading)
    if max(start, first) > min(end, last):
        return Spot(heading, missing, first, last, (None, None))
    return Spot(heading, missing, max(start, first), min(end, last), (before, after))


def positions(document: Document, place: Place, spot: Spot) -> list[int]:
    """List the lines where an entry may go back, best first, each right after what stands before it."""
    outline = document.outline
    previous = (spot.missing[0] if spot.missing else place).previous
    inside = [block for block in outline.blocks if spot.start <= block.end and block.start <= spot.end]
    found = [block.end for block in inside if block.end <= spot.end and around.key(document, block) == previous]
    if not spot.missing and place.label is not None:
        above = place.label.previous
        found += [block.end for block in inside if block.end <= spot.end and around.key(document, block) == above]
    found += [
        block.start
        for block in inside
        if spot.start <= block.start and around.key(document, block) in (place.following, place.next_heading)
    ]
    here = [entry for entry in outline.entries if around.innermost(entry) == spot.heading]
    before, after = spot.neighbours
    if spot.missing:
        # Its own heading is made again before the next one that is as high.
        level = spot.missing[0].level
        found += [one.start for one in outline.headings if one.level <= level and spot.start <= one.start <= spot.end]
    else:
        found += [before.end] if before in here and before is not None else []
        found += [after.start if after.label is None else after.label] if after in here and after is not None else []
        first, last = around.after_heading(document, spot.heading), [here[-1].end] if here else []
        was_first = not place.after or previous == around.key_before(document, first)
        found += [first, *last] if was_first else [*last, first]
    found += [spot.end, around.end_under(document, spot.heading)]
    positions = dict.fromkeys(around.back_over_blanks(document, position) for position in found)
    return sorted(
        positions, key=lambda position: not around.stands_between(document, position, previous, place.following)
    )


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
        matching = around.twins(document, one.title, above)
        meant = matching[0] if matching else None
        if one.twins > 1 or len(matching) > 1:
            near = [
                index
                for index in matching
                if headings[index].start < end and around.end_under(document, index) >= start
            ]
            meant = _meant(document, place, depth, near, neighbours, len(matching))
        if meant is not None:
            found = meant
            continue
        # The title may have been reworded; what stood under it stands under the file's first heading now.
        titles = [index for index, heading in enumerate(headings) if heading.level == 1]
        if depth == 0 and not one.previous and titles == [0] and one.level == 1:
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
    same = [
        index for index in near if around.key_before(document, document.outline.headings[index].start) == one.previous
    ]
    if found < one.twins:
        # Its own may have gone. What held its neighbour as well, and begins where it began, is it.
        neighbours = [document.entry(place.after), document.entry(place.before)]
        near = same
    elif same:
        return same[0]
    held = [index for entry in neighbours if entry is not None for index in entry.headings if index in near]
    return next(iter(held if found < one.twins else [*held, *near]), None)

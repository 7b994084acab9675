"""Put an entry back where it was, as near as can be told.

The document is read again after every try: everything else must be what it was, or the entry does not come back.
"""

from collections.abc import Iterable, Iterator, Mapping

from ..errors import Refused
from ..text import markdown
from . import around
from .document import Document, section_key, with_block
from .edit import texts
from .entries import Entry
from .spot import Spot, find_spot, positions
from .taken import Above, Place, Taken


def put_back(document: Document, taken: Taken, gone: Mapping[str, Taken] | None = None) -> Document:
    """Return the document with an entry back where it was, as near as can be told.

    Headings and the label that went with it come back too, and the blank lines that stood around it. What else has
    gone, by id, helps to find the place where the entry's neighbours are missing as well. Prose that came back beside
    other prose is a part of it, and does not come back twice.

    Raises:
        Refused: it cannot stand there without changing what stands around it.
    """
    spot = find_spot(document, taken.place, gone or {})
    if _stands_in_prose(document, taken, spot):
        return document
    places = positions(document, taken.place, spot)
    for is_back in (_is_in_its_place, _is_back):
        for position in places:
            for changed, line in _tries(document, taken, spot, position):
                if is_back(document, changed, taken, spot, line):
                    return changed
    raise Refused(f"{document.target.path}: the entry {taken.id} cannot go back where it stood; add it by hand")


def _tries(document: Document, taken: Taken, spot: Spot, position: int) -> Iterator[tuple[Document, int]]:
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
            changed = with_block(document, position + skip, position + skip + drop, lines)
            yield changed, position + skip + before + len(block)


def _blanks(
    document: Document, position: int, first: Above | Place, last: Place
) -> Iterable[tuple[int, int, int, int]]:
    """List how blank lines may go around what comes in at a line, best first.

    Each way says how many of the blank lines that stand there stay above it, how many of the next go, and how many
    come in before and after.
    """
    standing = around.blanks_after(document, position)
    at_end = position + standing == len(document.lines)
    ways = []
    if around.stands_between(document, position, first.previous, last.following):
        ways.append((0, standing, first.blank_before, last.blank_after))
    blocks = document.outline.blocks
    above = next((block for block in reversed(blocks) if block.end <= position), None)
    below = next((block for block in blocks if block.start >= position), None)
    begins_section = above is not None and above.kind in (markdown.HEADING, markdown.COMMENT)
    if above is not None and begins_section and (standing or around.key(document, above) != first.previous):
        # First in a section, not between what it stood between: what keeps the heading apart stays above it.
        joins = at_end or (below is not None and below.kind == markdown.ITEM)
        before, after = 0 if standing else first.blank_before, last.blank_after if joins else max(1, last.blank_after)
        ways.append((standing, 0, before, 0 if at_end else after))
    used = min(standing, last.blank_after)
    if not at_end and around.key_after(document, position) == last.following:
        # Blank lines that stand there count: first those after it, else first those before it.
        ways.append((standing - used, 0, max(0, first.blank_before - standing + used), last.blank_after - used))
    used = min(standing, first.blank_before)
    before, after = first.blank_before - used, 0 if at_end else max(0, last.blank_after - standing + used)
    if below is not None and below.kind == markdown.HEADING and standing == used > 0:
        after = max(1, after)  # a heading that stood apart stays apart
    ways += [(used, 0, before, after), (used, 0, before, after + 1), (0, 0, 0, 0), (0, 0, 1, 0), (0, 0, 1, 1)]
    return dict.fromkeys(ways)


def _is_in_its_place(old: Document, new: Document, taken: Taken, spot: Spot, line: int) -> bool:
    """Say whether the entry is back under its own headings and label, and nothing else is another."""
    entry = _find_back(old, new, taken, spot, line)
    headings = new.outline.headings
    if entry is None or len(headings) != len(old.outline.headings) + len(spot.missing):
        return False
    own = [] if spot.heading is None else [*old.outline.headings[spot.heading].above, spot.heading]
    wanted = [old.outline.headings[index].text for index in own]
    wanted += [one.title for one in spot.missing]
    label = "" if entry.label is None else around.text(new, new.outline.labels[entry.label])
    return [section_key(headings[index].text) for index in entry.headings] == [
        section_key(text) for text in wanted
    ] and label == ("" if taken.place.label is None else taken.place.label.markdown)


def _is_back(old: Document, new: Document, taken: Taken, spot: Spot, line: int) -> bool:
    """Say whether the entry is back somewhere, and nothing else is another."""
    return _find_back(old, new, taken, spot, line) is not None


def _find_back(old: Document, new: Document, taken: Taken, spot: Spot, line: int) -> Entry | None:
    """Return the entry that is back at a line, or the prose it is a part of; None where something else has changed."""
    index = next((index for index, entry in enumerate(new.outline.entries) if entry.start <= line < entry.end), None)
    if index is None:
        return None
    entry = new.outline.entries[index]
    if entry.start == line and new.text(entry) == taken.markdown:
        # Its date and headings may be others by now; the headings of every other entry may not.
        others = [*new.outline.entries[:index], *new.outline.entries[index + 1 :]]
        return entry if texts(new, others) == texts(old, old.outline.entries) else None
    # Prose that something kept apart is one entry once that has gone. Paragraph by paragraph it must be the same.
    end = line + len(taken.markdown.split("\n"))
    if entry.is_item or spot.missing or end > entry.end or _changes_others(old, new, line, end):
        return None
    return entry


def _stands_in_prose(document: Document, taken: Taken, spot: Spot) -> bool:
    here = (entry for entry in document.outline.entries if around.innermost(entry) == spot.heading and not spot.missing)
    return any(around.is_part_of(document, entry, taken.markdown) for entry in here)


def _changes_others(old: Document, new: Document, start: int, end: int) -> bool:
    """Say whether a block outside these lines of the new document is not one of the old."""
    outside = [around.text(new, block) for block in new.outline.blocks if block.end <= start or block.start >= end]
    return outside != [around.text(old, block) for block in old.outline.blocks]

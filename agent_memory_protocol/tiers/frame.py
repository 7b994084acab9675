"""The frame of a document: the headings, labels and index lines that govern entries or lead to notes, and are not.

A fact without the label above it may say the opposite, and the hook of an index line may be the only copy of a fact. So
what of the frame goes without its entries is kept as an entry is (docs/protocol.md, “The ledger”).
"""

from bisect import bisect_left
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping

from ..errors import Refused
from ..text import labels, markers
from .document import Document, entry_id, key_of_label, plain_id, section_key, with_block
from .edit import texts
from .entries import Entry, Heading, IndexLine, Label
from .taken import (
    Above,
    Place,
    Taken,
    above_of,
    back_over_blanks,
    blanks_after,
    blanks_before,
    end_under,
    has_key,
    key_after,
    key_before,
    near,
    span_text,
    stands_between,
)

INDEX_LINE, LABEL, HEADING = "index line", "label", "heading"


def parts(document: Document) -> dict[str, Taken]:
    """Return what of a document is frame, by id: all but its first heading, and what a program builds."""
    return {taken.id: taken for _, taken in placed(document)}


def placed(document: Document) -> Iterator[tuple[int, Taken]]:
    """Yield the same, each with its line, from 0."""
    if not (document.outline.index_lines or document.outline.labels or len(document.outline.headings) > 1):
        return
    governed: defaultdict[int, list[str]] = defaultdict(list)
    for one, unit in _units(document).items():
        for number in unit.headings:
            governed[document.outline.headings[number].start].append(one)
        if unit.label is not None:
            governed[unit.label].append(one)
    seen: Counter[str] = Counter()
    for kind, span in _spans(document):
        text = span_text(document, span)
        plain = entry_id(text, document.target)
        seen[plain] += 1
        name = plain if seen[plain] == 1 else f"{plain}-{seen[plain]}"
        governs = () if kind == INDEX_LINE else tuple(governed[span.start])
        yield span.start, Taken(name, text, _place(document, span), seen[plain], kind, governs)


def above(taken: Taken, document: Document) -> Iterator[Taken]:
    """Yield what governed an entry, as it says itself."""
    # Of the first heading of a file it is not said what was before it.
    governing = [(HEADING, one) for depth, one in enumerate(taken.place.headings) if depth or one.previous]
    governing += [] if taken.place.label is None else [(LABEL, taken.place.label)]
    for kind, one in governing:
        name = entry_id(one.markdown, document.target)
        below = near(plain_id(taken.id))
        place = Place(
            previous=one.previous, following=below, blank_before=one.blank_before, blank_after=one.blank_after
        )
        yield Taken(name, one.markdown, place, part=kind, governs=(taken.id,))


def gone(known: Mapping[str, Taken], entry_ids: Iterable[str], document: Document) -> list[Taken]:
    """Return what of a frame that was known a document lacks, while something that it governed is there.

    What went with the last of its entries is in their places. An index line is missed for itself. `entry_ids` are those
    of the entries that were known with it.
    """
    if not known:
        return []
    # When one of several equal entries goes, the others move up, and the ids no longer say which it was.
    fewer = Counter(map(plain_id, entry_ids)) - Counter(map(plain_id, document.ids))
    standing, before = Counter(map(_key_of_part, parts(document).values())), Counter(map(_key_of_part, known.values()))
    units = _units(document)
    found = []
    for one in known.values():
        key = _key_of_part(one)
        if standing[key] >= before[key]:
            continue
        if one.part == INDEX_LINE:
            before[key] -= 1  # of equal lines, as many as are missing
            found.append(one)
        elif any(
            unit in units and plain_id(unit) not in fewer and not _has_above(document, units[unit], key)
            for unit in one.governs
        ):
            found.append(one)
    return found


def leaving(old: Document, new: Document) -> list[Taken]:
    """Return what of the frame of a document its newer version lacks; see `gone`."""
    lines = {*new.lines}
    if lines.issuperset(old.lines):
        return []
    return gone(parts(old), old.ids, new)


def coming(old: Document, new: Document) -> list[Taken]:
    """Return what of a document's frame its older version lacks."""
    lines = {*old.lines}
    if lines.issuperset(new.lines):
        return []
    there = parts(old)
    return [one for name, one in parts(new).items() if name not in there]


def sayings(document: Document) -> set[tuple[str, str, int]]:
    """Return what the frame of a document says, as `Taken.saying`."""
    return {one.saying for one in parts(document).values()}


def put_back(document: Document, taken: Taken) -> Document:
    """Return the document with a part of its frame back; Refused if there is no place, or an entry would change."""
    for position in _positions(document, taken):
        for before, after in _blanks(document, position, taken):
            lines = [*[""] * before, *taken.markdown.split("\n"), *[""] * after]
            changed = with_block(document, position, position + blanks_after(document, position), lines)
            if _is_back(document, changed, taken):
                return changed
    raise Refused(
        f"{document.target.path}: the {taken.part} {taken.markdown!r} cannot be restored to its old place; "
        "add it by hand"
    )


def _positions(document: Document, taken: Taken) -> list[int]:
    """List the lines where a part may go back: first between what it was between, else above what it governed."""
    place, blocks = taken.place, document.outline.blocks
    behind = [one.end for one in blocks if has_key(document, one, place.previous)]
    ahead = [back_over_blanks(document, one.start) for one in blocks if has_key(document, one, place.following)]
    if taken.part == INDEX_LINE:
        wanted = [section_key(one.title) for one in place.headings]
        named = [n for n, one in enumerate(document.outline.headings) if [section_key(one.text)] == wanted[-1:]]
        found = [*behind, *ahead, *(end_under(document, number) for number in named)]
    else:
        found = [*ahead, *behind]
    between = (place.previous, place.following)
    return sorted(dict.fromkeys(found), key=lambda position: not stands_between(document, position, *between))


def _blanks(document: Document, position: int, taken: Taken) -> list[tuple[int, int]]:
    """List how many blank lines may go before and after what comes in, best first."""
    place = taken.place
    is_joined = taken.part == INDEX_LINE and not stands_between(document, position, place.previous, place.following)
    return [(place.blank_before, 0 if is_joined else place.blank_after), (1, 1), (0, 1), (1, 0), (0, 0)]


def _is_back(old: Document, new: Document, taken: Taken) -> bool:
    """Say whether a part is back, governs nothing that it did not govern, and every entry is what it was."""
    there = [one for one in parts(new).values() if one.saying == taken.saying]
    if not there or not {*there[0].governs} <= {*taken.governs}:
        return False
    if taken.part == INDEX_LINE:
        return texts(new, new.outline.entries) == texts(old, old.outline.entries)
    return [new.text(one) for one in new.outline.entries] == [old.text(one) for one in old.outline.entries]


def _spans(document: Document) -> Iterator[tuple[str, Heading | Label | IndexLine]]:
    outline = document.outline
    built = markers.pairs(document.lines, *markers.INDEX).spans
    for heading in outline.headings[1:]:
        yield HEADING, heading
    for label in outline.labels.values():
        if not label.is_entry:
            yield LABEL, label
    for line in outline.index_lines:
        if not any(start <= line.start < end for start, end in built):
            yield INDEX_LINE, line


def _units(document: Document) -> dict[str, Entry | IndexLine]:
    """Return what can be governed: entries, and index lines by the ids that they would have as entries."""
    found: dict[str, Entry | IndexLine] = {
        entry_id(span_text(document, line), document.target): line for line in document.outline.index_lines
    }
    return found | dict(document.by_id)


def _has_above(document: Document, unit: Entry | IndexLine, key: tuple[str, str]) -> bool:
    kind, name = key
    if kind == LABEL:
        return key_of_label(document.outline, unit) == name
    return any(section_key(document.outline.headings[number].text) == name for number in unit.headings)


def _key_of_part(taken: Taken) -> tuple[str, str]:
    """Return what two spellings of one part have in common."""
    if taken.part == LABEL:
        return LABEL, labels.key(Place(label=Above(taken.markdown)).label_text)
    if taken.part == HEADING:
        return HEADING, section_key(Above(taken.markdown).title)
    return INDEX_LINE, plain_id(taken.id)


def _place(document: Document, span: Heading | Label | IndexLine) -> Place:
    headings = document.outline.headings
    last = bisect_left(headings, span.start, key=lambda one: one.start) - 1
    numbers = () if last < 0 else (*headings[last].above, last)
    if isinstance(span, Heading):
        numbers = span.above
    return Place(
        headings=tuple(above_of(document, headings[number]) for number in numbers),
        previous=key_before(document, span.start),
        following=key_after(document, span.end),
        blank_before=blanks_before(document, span.start),
        blank_after=blanks_after(document, span.end),
    )

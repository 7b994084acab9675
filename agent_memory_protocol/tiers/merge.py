"""Merge two versions of a tier document that come from one: entry by entry, so that neither side loses a fact.

What is in a document is a row of units: headings, entries, index lines, comments. A unit that one side added is
in the result, one that a side took out is not, and one that both changed is there in both its forms. The result is
read again before it counts: if it does not hold exactly what it should, it is not given.
"""

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import replace as replace_fields
from difflib import SequenceMatcher
from itertools import pairwise

from ..layout import Target
from ..text import footnotes, markdown
from ..text.labels import key as label_key
from ..text.markdown import Block
from ..text.opposites import scope
from ..values import dataclass
from .document import Document, conflict_line, entry_id, identity_text, parse, rebuilt, section_key
from .entries import Entry, Heading, IndexLine, items_of
from .taken import blocks_in
from .weave import weave

TOP, HEADING, ENTRY, INDEX, RULE, OTHER = "top", "heading", "entry", "index", "rule", "other"
_SIMILAR = 0.5  # From this share of common words on, two entries in the same place are two forms of one

Key = tuple[str, ...]
Where = Callable[[Document, Entry, str], Iterable[str]]
"""What tells an entry of a document, by its id, from the same text under the same label elsewhere."""


@dataclass(frozen=True, slots=True)
class Unit:
    """What is merged as a whole."""

    kind: str  # TOP (the front matter, or nothing), HEADING, ENTRY, INDEX, RULE (one that sets off a heading) or OTHER
    key: Key  # what makes units of two versions the same one
    lines: tuple[str, ...]  # its lines without their endings
    section: tuple[Key, ...] = ()  # the keys of the headings above it, outermost first, and of the label above its list
    is_item: bool = False  # whether it is a list item
    day: int = 0  # the day an entry is dated with, as an ordinal; 0 for an undated one
    blanks: tuple[str, ...] = ()  # the blank lines that follow it
    parts: tuple[tuple[str, ...], ...] = ()  # the blocks of which prose is made, each as its lines


@dataclass(frozen=True, slots=True)
class Merged:
    """The merged document, and the pairs of entries that are two forms of one: ours first, then theirs."""

    document: Document
    twice: tuple[tuple[str, str], ...]


def _scope(document: Document, entry: Entry, _: str) -> Iterable[str]:
    return scope(document.sections(entry))


def merge(base: Document, ours: Document, theirs: Document, *, where: Where = _scope) -> Merged | None:
    """Merge two versions that were made from `base`; None if that is not certain to be right.

    The result keeps the order and line endings of ours. An entry re-dated on both sides has the newer date. What is not
    an entry and was changed on both sides, such as the title, is for a person to decide.
    """
    if any(conflict_line(document) for document in (base, ours, theirs)):
        return None
    theirs = named_apart(theirs, ours, base)
    moved = _found_once(base, ours, theirs)
    rows = [_units(document, moved, where) for document in (base, ours, theirs)]
    if any(line.strip(" \t") for row in rows for unit in row for line in unit.blanks):
        return None  # something is there that is not a unit
    versions = _Versions(*({unit.key: unit for unit in row} for row in rows))
    woven, parts = _woven(versions, ours.target)
    document = _merged(woven, ours, moved, where)
    if document is None and woven is not versions:
        woven, parts = versions, []
        document = _merged(versions, ours, moved, where)
    return None if document is None else Merged(document, (*parts, *_twice(woven)))


def named_apart(theirs: Document, ours: Document, base: Document | None = None) -> Document:
    """Return a document with other names for its footnotes and links where one of that name says something else."""
    old = base.lines if base else []
    lines = footnotes.apart(theirs.lines, ours.lines, old) if "]:" in "".join(ours.lines) else theirs.lines
    return theirs if lines == theirs.lines else rebuilt(theirs, [line + theirs.newline for line in lines])


def _merged(versions: "_Versions", ours: Document, moved: Collection[str], where: Where) -> Document | None:
    """Return the document that has what both sides did; None if it is not certain to be right."""
    chosen = _chosen(versions)
    if chosen is None:
        return None
    row = _with_blanks(_ordered(versions, chosen), versions)
    document = _document(ours, row)
    return document if _told(_units(document, moved, where)) == _told(row) else None


@dataclass(frozen=True, slots=True)
class _Versions:
    base: Mapping[Key, Unit]
    ours: Mapping[Key, Unit]
    theirs: Mapping[Key, Unit]


def _single(document: Document) -> dict[int, tuple[Entry, str]]:
    """Return each entry with its id, by its first line."""
    outline = document.outline
    single = [item for entry in outline.entries for item in items_of(document.lines, outline, entry)]
    return {item.start: (item, entry_id(identity_text(document.lines, item), document.target)) for item in single}


def _found_once(base: Document, *sides: Document) -> set[str]:
    """Return the ids that the base has and no version has twice: such an entry is the same under another label."""
    counts = [Counter(one for _, one in _single(document).values()) for document in (base, *sides)]
    return {one for one in counts[0] if all(count[one] <= 1 for count in counts)}


def _units(document: Document, moved: Collection[str], where: Where) -> list[Unit]:
    """Return all that is in a document, in its order. Only the `moved` are the same under another label."""
    outline = document.outline
    single = _single(document)
    entries = [entry for entry, _ in single.values()]
    spans: list[Block | Heading | Entry | IndexLine] = [*outline.headings, *entries, *outline.index_lines]
    spans += [Block(markdown.PARAGRAPH, one.start, one.end) for one in outline.labels.values() if not one.is_entry]
    covered = {number for span in spans for number in range(span.start, span.end)}
    spans += [block for block in outline.blocks if block.start not in covered]
    spans.sort(key=lambda span: span.start)
    ends = [*(span.start for span in spans), len(document.lines)]
    units = [_unit(document, TOP, (TOP,), 0, document.begin, ends[0])]
    counts: dict[Key, int] = {}
    headings: list[Key] = []
    labels: dict[int, Key] = {}
    here: tuple[Key, ...] = ()
    for span, end, following in zip(spans, ends[1:], [*spans[1:], None][: len(spans)], strict=True):
        above = tuple(headings[index] for index in getattr(span, "headings", ()))
        if isinstance(span, Heading):
            above = tuple(headings[index] for index in span.above)
            # The first one is the title, whatever it says.
            kind, name = HEADING, section_key(span.text) if headings else ""
        elif isinstance(span, Entry):
            kind, name = ENTRY, single[span.start][1]
            if name not in moved:
                place = " ".join(sorted(where(document, span, name)))
                name = f"{name} {label_key(document.label(span))} {place}"
        elif isinstance(span, IndexLine):
            kind, name = INDEX, span.target
        else:
            kind, name = OTHER, _words(document, span)
            if span.kind == markdown.RULE and following is not None:
                # It sets off what follows: two sides may each have set off something of their own.
                kind = RULE if isinstance(following, Heading) else OTHER
                name = f"{name} {_words(document, following)}"
        counts[kind, name] = count = counts.get((kind, name), 0) + 1
        key = (kind, name) if count == 1 else (kind, name, str(count))
        if isinstance(span, Heading):
            headings.append(key)
            here = (*above, key)
        elif isinstance(span, Block):
            above = here
            if kind == RULE and isinstance(following, Heading):
                above = tuple(headings[index] for index in following.above)
        elif span.label is not None:
            above = (*above, labels[span.label])
        if span.start in outline.labels:
            labels[span.start] = key
        unit = _unit(document, kind, key, span.start, span.end, end)
        is_item = isinstance(span, IndexLine) or (isinstance(span, Entry) and span.is_item)
        day = (span.day or 0) if isinstance(span, Entry) else 0
        parts = _blocks(document, span) if isinstance(span, Entry) else ()
        units.append(replace_fields(unit, section=above, is_item=is_item, day=day, parts=parts))
    return units


def _blocks(document: Document, entry: Entry) -> tuple[tuple[str, ...], ...]:
    """Return the blocks of which prose is made; a list item is one unit, without such blocks."""
    blocks = [] if entry.is_item else blocks_in(document, entry)
    return tuple(tuple(document.lines[start:end]) for start, end in blocks)


def _words(document: Document, span: Block | Heading | Entry | IndexLine) -> str:
    return " ".join(" ".join(document.lines[span.start : span.end]).split())


def _unit(document: Document, kind: str, key: Key, start: int, end: int, following: int) -> Unit:
    return Unit(kind, key, tuple(document.lines[start:end]), blanks=tuple(document.lines[end:following]))


def _chosen(versions: _Versions) -> dict[Key, Unit] | None:
    """Return what the result holds, each unit in the form it has there; None if nobody but a person can say."""
    base, ours, theirs = versions.base, versions.ours, versions.theirs
    chosen: dict[Key, Unit] = {}
    for key in {**ours, **theirs}:
        mine, other, old = ours.get(key), theirs.get(key), base.get(key)
        if mine is not None and other is not None:
            unit = _one_form(old, mine, other)
            if unit is None:
                return None
            chosen[key] = unit
            continue
        unit = mine or theirs[key]
        if old is None:
            chosen[key] = unit
        elif unit.lines != old.lines or _label(unit) != _label(old):
            # Taken out on one side and changed on the other: an entry with a new date has been confirmed, and one under
            # another label says something else.
            if unit.kind != ENTRY:
                return None
            chosen[key] = unit
    # An entry that stays keeps its headings and its label, no matter who took them out.
    for unit in list(chosen.values()):
        for key in unit.section:
            if key not in chosen:
                chosen[key] = ours.get(key) or theirs[key]
    return chosen


def _label(unit: Unit) -> Key | None:
    return next((key for key in unit.section[-1:] if unit.kind == ENTRY and key[0] != HEADING), None)


def _one_form(old: Unit | None, mine: Unit, other: Unit) -> Unit | None:
    """Return the form of a unit that both sides have, under the headings where it was moved, if it was."""
    section = other.section if old is not None and mine.section == old.section else mine.section
    if mine.lines == other.lines or (old is not None and other.lines == old.lines):
        form = mine
    elif old is not None and mine.lines == old.lines:
        form = other
    elif mine.kind == ENTRY:
        form = mine if mine.day >= other.day else other
    elif mine.kind == HEADING and old is None:
        form = mine
    else:
        return None
    return replace_fields(form, section=section)


def _ordered(versions: _Versions, chosen: Mapping[Key, Unit]) -> list[Unit]:
    """Put what the result holds in order: that of ours, with what came from theirs where it is there."""
    ours, theirs = versions.ours, versions.theirs
    row = [chosen[key] for key, unit in ours.items() if key in chosen and chosen[key].section == unit.section]
    placed = {unit.key for unit in row}
    before: Key = (TOP,)
    for key in theirs:
        if key in chosen and key not in placed:
            row.insert(_place(row, chosen[key], before, versions), chosen[key])
            placed.add(key)
        if key in placed:
            before = key
    return row


def _place(row: Sequence[Unit], unit: Unit, before: Key, versions: _Versions) -> int:
    """Return where a unit of theirs goes that is after this one there: after what ours added in that place."""
    keys = [one.key for one in row]
    position = keys.index(before) + 1
    if unit.kind in (HEADING, RULE):
        # What follows stays under its own heading, and a rule with the heading that it sets off.
        while position < len(row) and not _ends(row[position], unit, versions):
            position += 1
        return position
    if not _is_in(row[position - 1], unit.section):
        inside = [index for index, one in enumerate(row) if _is_in(one, unit.section)]
        position = max(inside, default=position - 1) + 1
    # A comment under a heading says what the section is for, so it stays right under it.
    kinds = (ENTRY, INDEX, OTHER) if row[position - 1].kind == HEADING else (ENTRY, INDEX)
    while position < len(row):
        one = row[position]
        is_label = any(one.key in after.section for after in row[position + 1 : position + 2])
        if one.kind not in kinds or is_label or one.key in versions.base or one.key in versions.theirs:
            break
        position += 1
    return position


def _ends(one: Unit, unit: Unit, versions: _Versions) -> bool:
    """Say whether a new section may not go past this unit. Without a common past it goes past all that ours has."""
    if one.kind not in (HEADING, RULE) or (one.kind == HEADING and len(one.section) > len(unit.section)):
        return False
    has_past = any(old.kind == HEADING for old in versions.base.values())
    return has_past or one.key in versions.theirs or len(one.section) < len(unit.section)


def _is_in(unit: Unit, section: tuple[Key, ...]) -> bool:
    """Say whether a unit is in a section, or begins it."""
    return (*unit.section, unit.key)[: len(section)] == section


def _with_blanks(row: Sequence[Unit], versions: _Versions) -> list[Unit]:
    """Give each unit the blank lines that are after it where the same two meet, else those that suit the two."""
    sides = [list(versions.ours.values()), list(versions.theirs.values())]
    meetings = {
        (one.key, next_key): one.blanks
        for units in reversed(sides)
        for one, next_key in zip(units, [*(unit.key for unit in units[1:]), None], strict=True)
    }
    spaced = []
    for unit, following in zip(row, [*row[1:], None], strict=True):
        blanks = meetings.get((unit.key, None if following is None else following.key))
        if blanks is None:
            blanks = ("",) * _blank_between(unit, following, sides)
        spaced.append(replace_fields(unit, blanks=blanks))
    return spaced


def _blank_between(unit: Unit, following: Unit | None, sides: Sequence[Sequence[Unit]]) -> int:
    """Return how many blank lines set two units apart that have not met before."""
    if following is None or (unit.kind == TOP and not unit.lines):
        return 0
    if not unit.is_item or not following.is_item:
        return 1
    # As tight as the list was where either of them comes from.
    both = {unit.key, following.key}
    met = (pair for units in sides for pair in pairwise(units) if pair[0].is_item and pair[1].is_item)
    return min((len(one.blanks) for one, after in met if {one.key, after.key} & both), default=0)


def _document(ours: Document, row: Sequence[Unit]) -> Document:
    """Write the units down, in the line ending of ours, whose last line ends or not as it did."""
    newline = ours.newline
    raw = [line + newline for unit in row for line in [*unit.lines, *unit.blanks]]
    if raw and ours.raw and not ours.raw[-1].endswith(("\n", "\r")):
        raw[-1] = raw[-1].removesuffix(newline)
    return rebuilt(ours, raw)


def _told(units: Iterable[Unit]) -> list[tuple[object, ...]]:
    """Return what a document says, without its blank lines; prose that came together is one."""
    told: list[tuple[object, ...]] = []
    was_prose = False
    for unit in units:
        lines: tuple[object, ...] = unit.parts or tuple(line for line in unit.lines if line.strip(" \t"))
        is_prose = unit.kind == ENTRY and not unit.is_item
        if is_prose and was_prose and told[-1][1] == unit.section:
            told[-1] = (ENTRY, unit.section, (*told[-1][2], *lines))  # type: ignore[misc]
        else:
            told.append((unit.kind, unit.section, lines))
        was_prose = is_prose
    return told


def _woven(versions: _Versions, target: Target) -> tuple[_Versions, list[tuple[str, str]]]:
    """Make one form of each entry of which both sides changed other parts; return with it what both changed there."""
    ours, theirs = versions.ours, versions.theirs
    told: list[tuple[str, str]] = []
    governing = {key for side in (ours, theirs) for unit in side.values() for key in unit.section}
    for old, mine, other in [*_edited_twice(versions)]:
        if not governing.isdisjoint((mine.key, other.key)):
            continue
        lines, twice = weave(old.lines, mine.lines, other.lines, is_item=mine.is_item) or ((), [])
        alone = parse("\n".join(lines).encode(), target)
        if len(alone.outline.entries) == 1:
            parts = _blocks(alone, alone.outline.entries[0])
            form = replace_fields(mine, lines=lines, day=max(mine.day, other.day), parts=parts)
            ours, theirs = _with_form(ours, mine, form), _with_form(theirs, other, form)
            told += twice
    return _Versions(versions.base, ours, theirs), told


def _with_form(side: Mapping[Key, Unit], old: Unit, form: Unit) -> dict[Key, Unit]:
    """Return the units of a side with a form in the place of the one that it had, under its headings there."""
    new = replace_fields(form, section=old.section)
    return dict((form.key, new) if key == old.key else (key, unit) for key, unit in side.items())


def _twice(versions: _Versions) -> Iterable[tuple[str, str]]:
    """Find the entries that both sides edited, and that are in the result in both forms."""
    for _, mine, other in _edited_twice(versions):
        if mine.key != other.key:
            yield "\n".join(mine.lines), "\n".join(other.lines)


def _edited_twice(versions: _Versions) -> Iterable[tuple[Unit, Unit, Unit]]:
    """Find the entries that both sides edited: each has another one, or a similar one, where the old one was."""
    for key, old in versions.base.items():
        if old.kind != ENTRY:
            continue
        sides = (side.get(key) or _successor(old, versions.base, side) for side in (versions.ours, versions.theirs))
        mine, other = sides
        if mine is not None and other is not None and old.lines not in (mine.lines, other.lines):
            yield old, mine, other


def _successor(old: Unit, base: Mapping[Key, Unit], side: Mapping[Key, Unit]) -> Unit | None:
    words = " ".join(old.lines).split()
    new = [unit for key, unit in side.items() if unit.kind == ENTRY and key not in base and unit.section == old.section]
    scored = [(SequenceMatcher(None, words, " ".join(unit.lines).split()).ratio(), unit) for unit in new]
    best = max(scored, key=lambda one: one[0], default=None)
    if best is not None and best[0] >= _SIMILAR:
        return best[1]
    before, after = _beside(old, base)
    there = ((unit, _beside(unit, side)) for unit in new)
    return next((unit for unit, (above, below) in there if above == before or below == after), None)


def _beside(unit: Unit, units: Mapping[Key, Unit]) -> tuple[Key, Key]:
    """Return what is right before and behind a unit. What replaces another has one of its neighbours at least."""
    row = [*units, ()]
    place = row.index(unit.key)
    return row[place - 1], row[place + 1]

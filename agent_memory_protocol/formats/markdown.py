"""Tier documents as entries of record files, and back: headings as tags, dates as times.

A document is for people, so it keeps what people read: the texts, under which headings they are, and the days they
are dated with. What it is read from is never written over; a new document is written from nothing.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import date
from functools import lru_cache
from pathlib import PurePath
from types import MappingProxyType
from typing import NamedTuple

from ..errors import DamagedFile, InvalidName, RefusedText
from ..layout import OWNED_TIERS, Target, Tier, check_owner
from ..text import headers, labels, marks
from ..text.dates import heading_day
from ..text.topics import topic_of_memory
from ..tiers import compose, document
from ..tiers.document import Document, item_lines
from ..tiers.entries import OWN, Entry
from . import known, record_files
from .entry import ENTRY_BYTES, BadEntry, MemoryEntry, Problem, attempt, check, named, original_id
from .loss import EMBEDDING, OVER, RELEVANCE, Loss, unknown_fields

TITLE = "# Memory"
DAY = 86_400_000  # Milliseconds of a day
LARGEST = 16 << 20  # No document that people read is larger

_EPOCH = date(1970, 1, 1).toordinal()
_LAST_DAY = (date.max.toordinal() - _EPOCH) * DAY
_DEEPEST = 5  # Below the title, Markdown has headings of five further levels

HEADER = "header."  # What the keys in `extra` begin with that hold what the header of a file says
LABEL = "label"
"""The key in `extra` of the label that an entry was under. It is in front of the text as well."""


class Piece(NamedTuple):
    """An entry as it will be in a document: the headings above it, outermost first, its lines, and its label."""

    headings: tuple[str, ...]
    lines: tuple[str, ...]
    label: str = ""


# Reading


def read(path: str) -> Iterator[MemoryEntry | Problem]:
    """Read a document, as the tier document that its path names.

    Raises:
        DamagedFile: it holds the markers of a merge conflict.
    """
    found = document.parse(record_files.read_whole(path, LARGEST), target_of(path))
    if (line := document.conflict_line(found)) is not None:
        raise DamagedFile("unresolved merge conflict; resolve it first", path=path, line=line)
    title = found.outline.title
    topic = topic_of_memory(title.text) if title and not _is_tier_document(path) else ""
    yield from entries_of(found, (topic,) if topic else ())


def entries_of(found: Document, above: tuple[str, ...] = ()) -> Iterator[MemoryEntry | Problem]:
    """Yield the entries of a document, the title left out of their tags; an undated one has the time 0.

    What all of it is about, if `above` says so, is the first of their tags. A label goes in front of the text and
    into `extra`, from where it can go back; marks go into `extra` alone.
    """
    front = dict(_front_matter(found))
    for entry_id, entry in found.by_id:
        if entry.holds_place(found.lines) or found.is_footnote(entry):
            continue
        label = found.spelled_out(found.label(entry))
        key, extra = named(
            entry_id, MappingProxyType({**({LABEL: label} if label else {}), **dict(_said(entry)), **front})
        )
        made = MemoryEntry(
            id=key,
            timestamp_ms=0 if entry.day is None else max(entry.day - _EPOCH, 0) * DAY,
            text=found.alone(entry),
            tags=(*above, *map(found.spelled_out, found.sections(entry))),
            extra=extra,
        )
        yield attempt(f"line {entry.start + 1:,}", check, made)


def _front_matter(found: Document) -> Iterator[tuple[str, str]]:
    """Yield what the header of a file says of all that is in it: for which files a rule holds, and the like."""
    header = headers.split_header("\n".join(found.lines[: found.begin])) if found.begin else None
    for field in header.fields if header else ():
        for key, one in [(field.key, field), *((f"{field.key}.{below.key}", below) for below in field.children)]:
            if said := ", ".join(one.items) if one.items is not None else one.text:
                yield f"{HEADER}{key}", said


def _said(entry: Entry) -> Iterator[tuple[str, str]]:
    """Yield the marks of an entry, and what dates it where it does not say so itself."""
    if entry.day is not None and entry.day_source != OWN:
        yield known.DATED_BY, entry.day_source
    if entry.is_marked_keep:
        yield known.KEEP, known.YES
    if entry.marks.disputed:
        yield known.DISPUTED, known.YES
    if entry.marks.until is not None:
        yield from known.ends_on(date.fromordinal(entry.marks.until)).items()


def _is_tier_document(path: str) -> bool:
    return PurePath(path).name.lower() in {tier.file.lower() for tier in (Tier.SHARED, *OWNED_TIERS)}


def marks_of(entry: MemoryEntry) -> list[str]:
    """Return the marks in front of an entry in a document."""
    last = known.end_of(entry.extra)
    keep, disputed = (entry.extra.get(key) == known.YES for key in (known.KEEP, known.DISPUTED))
    return marks.words_of(keep=keep, until=last.toordinal() if last else None, disputed=disputed)


def target_of(path: str) -> Target:
    """Return which tier document a path names; the shared one where it names none, for ids are made with it."""
    parts = PurePath(path).parts
    for tier in OWNED_TIERS:
        place = len(parts) - len(tier.below) - 2
        if place >= 0 and parts[-1] == tier.file:
            try:
                return Target(tier, check_owner(tier, parts[place]))
            except InvalidName:
                break
    return Target(Tier.SHARED)


def label_and_text(entry: MemoryEntry) -> tuple[str, str]:
    """Return the label that an entry was under, "" for none, and its text without it."""
    label = entry.extra.get(LABEL, "")
    text = labels.taken_off(label, entry.text)
    if text is None or not _is_label(label, entry.timestamp_ms >= DAY):
        return "", entry.text
    return label, text


# Writing


def encode(entry: MemoryEntry) -> Piece:
    """Return an entry as it will be in a document. What its heading or its label dates gets no date of its own."""
    day = entry.timestamp_ms // DAY
    label, text = label_and_text(entry)
    front = marks_of(entry)
    headings = known.headings_of(entry.extra, entry.tags)
    is_dated = day and not is_dated_by_others(entry, headings)
    new = compose.compose(text, day=day + _EPOCH if is_dated else None, front=front, max_bytes=ENTRY_BYTES)
    return Piece(headings, new.lines, label)


def is_dated_by_others(entry: MemoryEntry, headings: Sequence[str]) -> bool:
    """Say whether an entry had its day from a heading or its label, and will have it from them under these headings."""
    if known.DATED_BY not in entry.extra:
        return False
    label = marks.read(label_and_text(entry)[0]).date
    days = [label.day if label else None, *map(heading_day, reversed(headings))]
    day = next((day for day in days if day is not None), None)
    return day is not None and (day - _EPOCH) * DAY == entry.timestamp_ms


def write(path: str, pieces: Iterable[Piece]) -> None:
    """Write a new document from what `encode` has returned."""
    with open(path, "wb") as file:
        file.write(render(pieces).encode())


def render(pieces: Iterable[Piece]) -> str:
    """Return the text of a document: entries of one heading together, first those without a label, each in order."""
    lines = [TITLE, ""]
    _add_section(lines, pieces, 0)
    return "\n".join(lines).rstrip("\n") + "\n"


def _add_section(lines: list[str], pieces: Iterable[Piece], depth: int) -> None:
    here: dict[str, list[str]] = {"": []}
    below: dict[str, list[Piece]] = {}
    for piece in pieces:
        if len(piece.headings) == depth:
            _add_item(here.setdefault(piece.label, []), compose.NewEntry(piece.lines, None))
        else:
            below.setdefault(piece.headings[depth], []).append(piece)
    for label, items in here.items():
        lines += [*([""] if label and lines[-1] else []), *([label, ""] if label else []), *items]
    for heading, inner in below.items():
        lines += [*([""] if lines[-1] else []), f"{'#' * (depth + 2)} {heading}", ""]
        _add_section(lines, inner, depth + 1)


def _add_item(lines: list[str], new: compose.NewEntry) -> None:
    """Add an entry to a list. Of two numbered lists that would be one, the second is in a bullet."""
    was_steps = bool(lines) and (lines[-1] == "" or lines[0][:1].isdigit())
    if new.is_steps and not was_steps:
        lines += [*([""] if lines else []), *item_lines(new, "", ""), ""]
    else:
        lines += item_lines(new, "-", "")


# What is lost


def _read_back(piece: Piece) -> MemoryEntry | None:
    """Return the entry that is read where one is written; None if it does not come back as one."""
    found = document.parse(render([piece]).encode(), Target(Tier.SHARED))
    back = list(entries_of(found))
    return back[0] if len(back) == 1 and isinstance(back[0], MemoryEntry) else None


def _as_read(entry: MemoryEntry) -> MemoryEntry:
    """Return an entry with text and day as they are read back; as it is where it cannot be written at all."""
    alone = {key: value for key, value in entry.extra.items() if key != known.DATED_BY}
    try:
        piece = encode(entry._replace(extra=MappingProxyType(alone)))
    except RefusedText:
        return entry
    back = _read_back(piece._replace(headings=()))
    if back is None:
        raise BadEntry("its text is not a single entry in Markdown")
    said = {key: value for key, value in entry.extra.items() if key not in known.MARKS}
    extra = MappingProxyType({**said, **{key: back.extra[key] for key in known.MARKS if key in back.extra}})
    return entry._replace(text=back.text, timestamp_ms=back.timestamp_ms, extra=extra)


@lru_cache(maxsize=4096)
def _is_heading(tag: str, is_dated: bool) -> bool:
    """Say whether a tag can be a heading, and gives an undated entry under it no date."""
    back = _read_back(Piece((tag,), ("[1970-01-02] x",) if is_dated else ("x",)))
    return back is not None and (back.tags, back.text, back.timestamp_ms) == ((tag,), "x", DAY * is_dated)


def _headings(entry: MemoryEntry) -> tuple[str, ...]:
    tags = known.headings_of(entry.extra, entry.tags)
    return tuple(tag for tag in tags if _is_heading(tag, entry.timestamp_ms >= DAY))[:_DEEPEST]


@lru_cache(maxsize=4096)
def _is_label(label: str, is_dated: bool) -> bool:
    """Say whether a text can be the label above a list, and gives an undated entry under it no date."""
    try:
        if document.check_label(label) != label:
            return False
    except RefusedText:
        return False
    lines = ("[1970-01-02] x",) if is_dated else ("x",)
    found = document.parse(render([Piece((), lines, label)]).encode(), Target(Tier.SHARED))
    entries = found.outline.entries
    return [(found.label(one), one.day) for one in entries] == [(label, _EPOCH + 1 if is_dated else None)]


def _marks_as_read(entry: MemoryEntry) -> MemoryEntry:
    """Return an entry with the expiry that its mark means; as it is where no mark can be made of it."""
    last = known.end_of(entry.extra)
    return entry._replace(extra=MappingProxyType({**entry.extra, **(known.ends_on(last) if last else {})}))


def _own_id(entry: MemoryEntry) -> str:
    text = label_and_text(entry)[1]
    return document.entry_id(document.bare_text(text) if text[:1].isdigit() else text, Target(Tier.SHARED))


def _own_extra(entry: MemoryEntry) -> Mapping[str, str]:
    """Return what a document keeps of `extra`: the label, the marks, and what dates it where that is written."""
    label = label_and_text(entry)[0]
    marked = {key: entry.extra[key] for key in known.MARKS if key in entry.extra}
    if is_dated_by_others(entry, known.headings_of(entry.extra, entry.tags)):
        marked[known.DATED_BY] = entry.extra[known.DATED_BY]
    return MappingProxyType({**({LABEL: label} if label else {}), **marked})


def _of_document(entry: MemoryEntry) -> MemoryEntry:
    rest = {key: value for key, value in entry.extra.items() if key not in known.IN_LEDGERS}
    return entry._replace(source="", extra=MappingProxyType(rest))


def _renamed(entry: MemoryEntry, extra: Mapping[str, str]) -> MemoryEntry:
    key, named_extra = named(_own_id(entry), extra)
    return entry._replace(id=key, extra=named_extra)


LOSSES = (
    OVER,
    EMBEDDING,
    RELEVANCE,
    Loss(
        "what is known of an entry: kind, source, confidence, scope, writer, what it replaced or is disputed with",
        "left out; the marks [keep], [until D] and [disputed] stay",
        lambda entry: entry.source != "" or not entry.extra.keys().isdisjoint(known.IN_LEDGERS),
        _of_document,
    ),
    Loss(
        "times of day",
        "the day; none for times in 1970-01-01",
        lambda entry: entry.timestamp_ms % DAY != 0 or entry.timestamp_ms > _LAST_DAY,
        lambda entry: entry._replace(timestamp_ms=min(entry.timestamp_ms // DAY * DAY, _LAST_DAY)),
    ),
    Loss(
        "the moment of an expiry",
        "its last day, [until D]",
        lambda entry: known.EXPIRES in entry.extra and _marks_as_read(entry) != entry,
        _marks_as_read,
    ),
    Loss(
        "spacing in texts, dates and marks in front, and what would be structure in Markdown",
        "the text as an entry's lines spell it",
        lambda entry: _as_read(entry) != entry,
        _as_read,
    ),
    Loss(
        "tags that cannot be headings, and more than five",
        "left out",
        lambda entry: _headings(entry) != entry.tags,
        lambda entry: entry._replace(tags=_headings(entry)),
    ),
    unknown_fields(),
    Loss(
        "ids of other formats",
        "an id made from the text",
        lambda entry: original_id(entry) != _own_id(entry),
        lambda entry: _renamed(entry, entry.extra),
    ),
    Loss(
        "extra",
        "left out",
        lambda entry: bool({*entry.extra} - {"id", *_own_extra(entry)}),
        lambda entry: _renamed(entry, _own_extra(entry)),
    ),
)

"""Tier documents as entries of record files, and back: headings as tags, dates as times.

A document is for people, so it keeps what people read: the texts, under which headings they stand, and the days they
are dated with. What it is read from is never written over; a new document is written from nothing.
"""

from collections.abc import Iterable, Iterator, Mapping
from datetime import date
from functools import lru_cache
from pathlib import PurePath
from typing import NamedTuple

from ..errors import InvalidName, RefusedText
from ..layout import OWNED_TIERS, Target, Tier, check_owner
from ..text import labels
from ..tiers import compose, document
from ..tiers.document import Document, item_lines
from . import record_files
from .entry import ENTRY_BYTES, NOTHING, BadEntry, MemoryEntry, Problem, attempt, check, named, original_id
from .loss import EMBEDDING, RELEVANCE, SOURCE, Loss, unknown_fields

TITLE = "# Memory"
DAY = 86_400_000
"""Milliseconds of a day."""

LARGEST = 16 << 20
"""No document that people read is larger."""

_EPOCH = date(1970, 1, 1).toordinal()
_LAST_DAY = (date.max.toordinal() - _EPOCH) * DAY
_DEEPEST = 5
"""Below the title, Markdown has headings of five further levels."""

LABEL = "label"
"""The key in `extra` of the label that an entry stood under. It is in front of the text as well."""


class Piece(NamedTuple):
    """An entry as it will stand in a document: the headings above it, outermost first, its lines, and its label."""

    headings: tuple[str, ...]
    lines: tuple[str, ...]
    label: str = ""


# Reading


def read(path: str) -> Iterator[MemoryEntry | Problem]:
    """Read a document, as the tier document that its path names."""
    yield from entries_of(document.parse(record_files.read_whole(path, LARGEST), target_of(path)))


def entries_of(found: Document) -> Iterator[MemoryEntry | Problem]:
    """Yield the entries of a document, the title left out of their tags; an undated one has the time 0.

    A label goes in front of the text, for most formats have no place for it, and into `extra`, from where it finds
    its way back above a list.
    """
    headings = found.outline.headings
    titles = [heading for heading in headings if heading.level == 1]
    title = headings[0] if headings and titles == [headings[0]] else None
    for entry_id, entry in found.by_id:
        label = found.label(entry)
        key, extra = named(entry_id, {LABEL: label} if label else NOTHING)
        above = [headings[index] for index in entry.headings]
        made = MemoryEntry(
            id=key,
            timestamp_ms=0 if entry.day is None else max(entry.day - _EPOCH, 0) * DAY,
            text=found.alone(entry),
            tags=tuple(heading.text for heading in above if heading is not title),
            extra=extra,
        )
        yield attempt(f"line {entry.start + 1:,}", check, made)


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
    """Return the label that an entry stood under, and its text without it.

    No label, and the text as it is, where there is none that can be above a list and in front of the text.
    """
    label = entry.extra.get(LABEL, "")
    text = labels.taken_off(label, entry.text)
    if text is None or not _is_label(label, entry.timestamp_ms >= DAY):
        return "", entry.text
    return label, text


# Writing


def encode(entry: MemoryEntry) -> Piece:
    """Return an entry as it will stand in a document."""
    day = entry.timestamp_ms // DAY
    label, text = label_and_text(entry)
    new = compose.compose(text, day=day + _EPOCH if day else None, max_bytes=ENTRY_BYTES)
    return Piece(entry.tags, new.lines, label)


def write(path: str, pieces: Iterable[Piece]) -> None:
    """Write a new document from what `encode` has returned."""
    with open(path, "wb") as file:
        file.write(render(pieces).encode())


def render(pieces: Iterable[Piece]) -> str:
    """Return the text of a document: entries of one heading together, those above it first, in the order they came.

    Under each heading come first the entries without a label, then those of each label, below it.
    """
    lines = [TITLE, ""]
    _add_section(lines, pieces, 0)
    return "\n".join(lines).rstrip("\n") + "\n"


def _add_section(lines: list[str], pieces: Iterable[Piece], depth: int) -> None:
    here: dict[str, list[str]] = {"": []}
    below: dict[str, list[Piece]] = {}
    for piece in pieces:
        if len(piece.headings) == depth:
            here.setdefault(piece.label, []).extend(item_lines(compose.NewEntry(piece.lines, None), "-", ""))
        else:
            below.setdefault(piece.headings[depth], []).append(piece)
    for label, items in here.items():
        lines += [*([""] if label and lines[-1] else []), *([label, ""] if label else []), *items]
    for heading, inner in below.items():
        lines += [*([""] if lines[-1] else []), f"{'#' * (depth + 2)} {heading}", ""]
        _add_section(lines, inner, depth + 1)


# What is lost


def _read_back(piece: Piece) -> MemoryEntry | None:
    """Return the entry that is read where one is written; None where it does not come back as one."""
    found = document.parse(render([piece]).encode(), Target(Tier.SHARED))
    back = list(entries_of(found))
    return back[0] if len(back) == 1 and isinstance(back[0], MemoryEntry) else None


def _as_read(entry: MemoryEntry) -> MemoryEntry:
    """Return an entry with text and day as they are read back; as it is where it cannot be written at all."""
    try:
        piece = encode(entry)
    except RefusedText:
        return entry
    back = _read_back(piece._replace(headings=()))
    if back is None:
        raise BadEntry("its text is no single entry in Markdown")
    return entry._replace(text=back.text, timestamp_ms=back.timestamp_ms)


@lru_cache(maxsize=4096)
def _is_heading(tag: str, is_dated: bool) -> bool:
    """Say whether a tag can be a heading, and gives an undated entry under it no date."""
    back = _read_back(Piece((tag,), ("[1970-01-02] x",) if is_dated else ("x",)))
    return back is not None and (back.tags, back.text, back.timestamp_ms) == ((tag,), "x", DAY * is_dated)


def _headings(entry: MemoryEntry) -> tuple[str, ...]:
    return tuple(tag for tag in entry.tags if _is_heading(tag, entry.timestamp_ms >= DAY))[:_DEEPEST]


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


def _own_id(entry: MemoryEntry) -> str:
    return document.entry_id(label_and_text(entry)[1], Target(Tier.SHARED))


def _own_extra(entry: MemoryEntry) -> Mapping[str, str]:
    """Return what a document keeps of `extra`: the label."""
    label = label_and_text(entry)[0]
    return {LABEL: label} if label else NOTHING


def _renamed(entry: MemoryEntry, extra: Mapping[str, str]) -> MemoryEntry:
    key, named_extra = named(_own_id(entry), extra)
    return entry._replace(id=key, extra=named_extra)


LOSSES = (
    EMBEDDING,
    RELEVANCE,
    SOURCE,
    Loss(
        "times of day",
        "the day; none for times in 1970-01-01",
        lambda entry: entry.timestamp_ms % DAY != 0 or entry.timestamp_ms > _LAST_DAY,
        lambda entry: entry._replace(timestamp_ms=min(entry.timestamp_ms // DAY * DAY, _LAST_DAY)),
    ),
    Loss(
        "spacing in texts, dates that begin one, and what would be structure in Markdown",
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

"""What a check asks of a tier document besides its text: it is read once for each text, and can be kept.

Rules that compare a document with others, with the repository or with the day look at this first. So a document that
says nothing of that kind is not taken apart again.
"""

from collections.abc import Iterator
from datetime import date
from itertools import groupby
from typing import Any

from ..text import markdown
from ..text.digest import blake2b
from ..text.gist import normalised
from ..text.paths import Mention
from ..tiers.document import Document
from ..tiers.entries import OWN
from ..tiers.named import named
from ..values import dataclass


@dataclass(frozen=True, slots=True)
class Line:
    """An entry of lasting memory that others may repeat word for word.

    Attributes:
        number: its first line, from 1.
        key: what it shares with those that say the same; see `key_of`.
        entry_id: its id; "" for prose, which is not told to go.
        sections: the headings it is under.
    """

    number: int
    key: str
    entry_id: str
    sections: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Excerpt:
    """What is asked of a document.

    Attributes:
        has_title: whether it begins with a heading that says whose memory it is, or is empty.
        count: how many entries it has.
        days: the first and the last day that entries are dated with; empty where no entry has its own date.
        until: the first day of a mark `[until D]`, as an ordinal.
        mentions: what its entries name of the repository.
        lines: its entries, where it is lasting memory.
    """

    has_title: bool
    count: int
    days: tuple[int, ...]
    until: int | None
    mentions: tuple[Mention, ...]
    lines: tuple[Line, ...]

    def to_json(self) -> list[object]:
        """Return it as it is kept: lines under the same headings share them."""
        lines = [
            [*above, *((one.number, one.key, one.entry_id) for one in under)]
            for above, under in groupby(self.lines, key=lambda one: (one.sections,))
        ]
        mentions = [(one.path, one.line, one.symbol, one.at) for one in self.mentions]
        return [self.has_title, self.count, self.days, self.until, mentions, lines]


def from_json(value: Any) -> Excerpt:
    """Return an excerpt that was kept. Raises TypeError, ValueError or OverflowError for another value."""
    has_title, count, days, until, mentions, under = value
    lines = [Line(number, key, entry_id, tuple(above)) for above, *more in under for number, key, entry_id in more]
    mentioned = tuple(Mention(*one) for one in mentions)
    numbers = [count, *days, *([] if until is None else [until]), *(one.number for one in lines)]
    texts = [one for line in lines for one in (line.key, line.entry_id, *line.sections)]
    for one in mentioned:
        numbers += [one.line, one.at]
        texts += [one.path, one.symbol]
    if {*map(type, numbers)} - {int} or {*map(type, texts)} - {str}:
        raise TypeError("another shape than that of an excerpt")
    for day in (*days, until or 1):
        date.fromordinal(day)
    return Excerpt(bool(has_title), count, tuple(days), until, mentioned, tuple(lines))


def of(document: Document) -> Excerpt:
    """Read what is asked of a document."""
    entries = document.outline.entries
    days = [entry.day for entry in entries if entry.day is not None and entry.day_source == OWN]
    ends = [entry.marks.until for entry in entries if entry.marks.until is not None]
    mentions = tuple(one for entry in entries for one in named(document, entry))
    lines = tuple(_lines(document)) if document.target.tier.lasts else ()
    bounds = (min(days), max(days)) if days else ()
    return Excerpt(_has_title(document), len(entries), bounds, min(ends, default=None), mentions, lines)


def _has_title(document: Document) -> bool:
    """Say whether a document begins with a level-1 heading: only front matter, comments and blanks are above it."""
    first = next(iter(document.outline.headings), None)
    if first is None or first.level != 1:
        return not document.lines
    return all(block.kind == markdown.COMMENT for block in document.outline.blocks if block.start < first.start)


def _lines(document: Document) -> Iterator[Line]:
    for entry, entry_id in zip(document.outline.entries, document.ids, strict=True):
        key = key_of(document.alone(entry))
        if key:
            yield Line(entry.start + 1, key, entry_id if entry.is_item else "", document.sections(entry))


def key_of(text: str) -> str:
    """Return what texts share that say the same word for word; "" for one too short to tell."""
    plain = normalised(text)
    return blake2b(plain.encode("utf-8", "surrogatepass"), digest_size=8).hexdigest() if plain else ""

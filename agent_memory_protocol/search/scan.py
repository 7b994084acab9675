"""Search without an index file: every passage is looked at for every query.

For where SQLite has no FTS5, and for what need not outlive the process. Threads may share it.
"""

import threading
from collections import Counter
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from functools import partial

from . import words
from .port import Hit, Source
from .ranking import CountedPassage, rank
from .slips import mend


@dataclass(frozen=True, slots=True)
class _Read:
    """A source as it was read."""

    fingerprint: str
    passages: tuple[CountedPassage, ...]
    spellings: frozenset[str]


class ScanIndex:
    """A search index in this process; see `SearchIndex`."""

    def __init__(self) -> None:
        self._sources: dict[str, _Read] = {}
        self._lock = threading.Lock()

    def refresh(self, sources: Iterable[Source], gone: Collection[str] | None = None) -> int:
        """Bring the index in line with these sources; see `SearchIndex`."""
        sources = list(sources)
        with self._lock:
            known = self._sources
            forgotten = (known.keys() if gone is None else known.keys() & gone) - {source.key for source in sources}
            read = {
                source.key: _read(source)
                for source in sources
                if source.key not in known or known[source.key].fingerprint != source.fingerprint
            }
            self._sources = {key: source for key, source in known.items() if key not in forgotten} | read
            return len(read) + len(forgotten)

    def search(self, query: str, *, limit: int = 10, within: Collection[str] | None = None) -> list[Hit]:
        """Return the passages that fit best; see `SearchIndex`."""
        sources = self._sources
        everything = [passage for source in sources.values() for passage in source.passages]
        inside = [source for key, source in sources.items() if within is None or key in within]
        matches = [passage for source in inside for passage in source.passages]
        terms = mend(
            words.terms(query),
            lambda token: any(map(partial(_has, token), matches)),
            lambda _: {spelling for source in inside for spelling in source.spellings},
        )
        holding = {token: sum(map(partial(_has, token), everything)) for term in terms for token in term.tokens}
        size = sum(one.size for one in everything)
        return rank(terms, matches, limit, passages=len(everything), size=size, holding=holding)

    def close(self) -> None:
        """Do nothing; see `SearchIndex`."""

    def delete(self) -> None:
        """Forget everything; see `SearchIndex`."""
        self._sources = {}


def _read(source: Source) -> _Read:
    spellings: set[str] = set()
    passages = []
    for passage in source.read(source.key):
        text, context = (Counter(words.tokens(part, spellings)) for part in (passage.text, passage.context))
        size = text.total() + context.total()
        passages.append(CountedPassage(source.key, passage.key, text, context, size))
    return _Read(source.fingerprint, tuple(passages), frozenset(spellings))


def _has(token: str, passage: CountedPassage) -> bool:
    return token in passage.text or token in passage.context

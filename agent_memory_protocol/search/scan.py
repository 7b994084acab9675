"""Search without an index file: every passage is looked at for every query.

For where SQLite has no FTS5, and for what need not outlive the process. Threads may share it.
"""

import threading
from collections import Counter
from collections.abc import Collection, Iterable

from ..values import dataclass
from . import words
from .languages import inflect
from .lookup import often
from .names import besides
from .passages import read
from .port import Hit, Source
from .ranking import APART, Postings, Stock, rank
from .slips import mend


@dataclass(frozen=True, slots=True)
class _Passage:
    """A passage as it was read: its words and those around it, its size, and whether it is talk."""

    key: str
    text: "_Words"
    context: "_Words"
    size: int
    talk: bool

    def holds(self, token: str) -> bool:
        return bool(self.text.often(token) or self.context.often(token))


class _Words:
    """The words of a text in their order."""

    __slots__ = ("_joined", "_times")

    def __init__(self, tokens: list[str]) -> None:
        self._times = Counter(tokens)
        self._joined = " ".join(tokens)

    def often(self, token: str) -> int:
        """Return how often a token, or two that follow each other, is in it."""
        return often(token, self._joined) if " " in token else self._times[token]


@dataclass(frozen=True, slots=True)
class _Source:
    """A source as it was read."""

    fingerprint: str
    passages: tuple[_Passage, ...]
    spellings: set[str]


class ScanIndex:
    """A search index in this process; see `SearchIndex`."""

    def __init__(self) -> None:
        self._sources: dict[str, _Source] = {}
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
        numbered: dict[int, tuple[str, _Passage]] = {}
        last = 0
        for name, source in self._sources.items():
            numbered |= {last + APART + place: (name, one) for place, one in enumerate(source.passages)}
            last += APART + len(source.passages)
        if not numbered:
            return []
        allowed = {number for number, (name, _) in numbered.items() if within is None or name in within}
        spellings = {
            spelling
            for name, source in self._sources.items()
            if within is None or name in within
            for spelling in source.spellings
        }

        def is_known(token: str) -> bool:
            return any(numbered[one][1].holds(token) for one in allowed)

        def share(token: str) -> float:
            return sum(one.holds(token) for _, one in numbered.values()) / max(len(numbered), 1)

        def beginning_with(start: str, most: int) -> list[str]:
            return sorted(one for one in spellings if one.startswith(start))[:most]

        terms = mend(inflect(words.terms(query), share, beginning_with), is_known, lambda _: spellings)
        postings: dict[str, Postings] = {}
        more = besides(query)
        for token in words.wanted(terms) | dict.fromkeys(more):
            inside = {number: times for number, (_, one) in numbered.items() if (times := one.text.often(token))}
            around = {number: times for number, (_, one) in numbered.items() if (times := one.context.often(token))}
            if inside or around:
                postings[token] = Postings(inside, around)
        sizes = {number: one.size for number, (_, one) in numbered.items()}
        holding = {token: len(found.text.keys() | found.context.keys()) for token, found in postings.items()}
        names = {number: (name, one.key) for number, (name, one) in numbered.items()}
        talk = [number for number, (_, one) in numbered.items() if one.talk]
        return rank(terms, postings, holding, Stock(sizes, talk=talk), limit, lambda _: names, allowed, more)

    def close(self) -> None:
        """Do nothing; see `SearchIndex`."""

    def delete(self) -> None:
        """Forget everything; see `SearchIndex`."""
        self._sources = {}


def _read(source: Source) -> _Source:
    passages, spellings = read(source)
    counted = (_Passage(one.key, _Words(one.text), _Words(one.context), one.size, one.talk) for one in passages)
    return _Source(source.fingerprint, tuple(counted), spellings)

"""A search index by meaning: a passage is found where its vector lies close to that of the query.

Of a turn in a dialogue what is said is embedded, without who says it, and of a query that names one of the speakers
what else it asks. With a name in both, all that somebody says would lie closer than what is meant. That they say it
counts as it does by words.
"""

import os
from array import array
from collections.abc import Collection, Iterable, Mapping, Sequence
from functools import cached_property
from heapq import nsmallest
from itertools import pairwise
from types import MappingProxyType
from typing import TYPE_CHECKING

from ..disk.errors import shown
from ..errors import DamagedFile, InvalidVector
from .float32 import from_half, places_from, similarities, to_half, usual
from .kept import KeptIndex
from .passages import turns
from .port import Embedder, Hit, Source
from .ranking import Postings, gains
from .words import places, said_by, terms

if TYPE_CHECKING:
    from sqlite3 import Connection

LEAST = 0.2  # The similarity below which two texts have nothing in common; it goes from -1 to 1
BESIDE, IN_TALK = 0.1, 0.3  # What a neighbour's cosine adds to that of a passage, and of a turn, which is short

_FLAT = 1e-6  # A spread of cosines that is nothing but rounding

Stored = list[tuple[str, bytes, int, str]]
"""Of each passage of a source the key, the vector, how many words it has, and what marks its speaker."""


class Passages:
    """The passages of an index in their order."""

    __slots__ = ("names", "places", "said", "talk", "together", "words")

    def __init__(self, names: list[tuple[str, str]], words: float = 0, marks: Iterable[str] = ()) -> None:
        self.names = names  # of each the key of its source and its own
        self.words = words  # how many each has, on average
        self.places = {name: place for place, name in enumerate(names)}  # where each of them is
        # of each but the last, whether the next one is of the same source
        self.together = [one == other for (one, _), (other, _) in pairwise(names)]
        self.said: dict[str, Postings] = {}  # the places of turns by what marks their speaker; see `words.said_by`
        self.talk: set[int] = set()  # the places of all turns
        for place, marked in enumerate(marks):
            if marked:
                self.talk.add(place)
                for mark in marked.split():
                    turns_of = self.said.setdefault(mark, Postings({}, {})).context
                    turns_of[place] = turns_of.get(place, 0) + 1


class Nearness:
    """How close passages lie to one query: from -1 to 1, as the cosine of their vectors with the query's."""

    def __init__(
        self,
        passages: Passages,
        cosines: Sequence[float],
        within: frozenset[str] | None = None,
        gains: Mapping[int, float] = MappingProxyType({}),
    ) -> None:
        self._passages = passages
        self._cosines = cosines
        self._within = within
        self._gains = gains

    def stands_out(self, passage: tuple[str, str]) -> float:
        """Return how much closer a passage lies than most do, in standard deviations; 0 for an unknown one.

        What lies beside it in its source counts a little: who talks of something goes on talking of it. What is said by
        somebody whom the query names counts more.
        """
        place = self._passages.places.get(passage)
        mean, spread = self._usual
        if place is None or spread <= _FLAT:
            return 0.0
        cosines, together = self._cosines, self._passages.together
        before = cosines[place - 1] if place and together[place - 1] else 0.0
        behind = cosines[place + 1] if place < len(together) and together[place] else 0.0
        beside = (IN_TALK if place in self._passages.talk else BESIDE) * max(before, behind, 0.0)
        far = (cosines[place] + beside - mean) / spread
        return far * self._gains.get(place, 1) if far > 0 else far

    def cosine(self, passage: tuple[str, str]) -> float:
        """Return how close a passage lies; 0 for an unknown one."""
        place = self._passages.places.get(passage)
        return 0.0 if place is None else self._cosines[place]

    @property
    def words(self) -> float:
        """How many words a passage has, on average."""
        return self._passages.words

    @cached_property
    def _usual(self) -> tuple[float, float]:
        """The mean of all cosines, and how far they spread around it."""
        return usual(self._cosines)

    def best(self, count: int) -> list[tuple[tuple[str, str], float, float]]:
        """Return so many passages, the best first, how close each lies, and what that is worth with who says it.

        None has nothing in common with the query.
        """
        cosines, names, within = self._cosines, self._passages.names, self._within
        close = places_from(cosines, LEAST)
        if within is not None:
            close = [place for place in close if names[place][0] in within]
        gain = self._gains
        found = nsmallest(count, ((-round(cosines[place] * gain.get(place, 1), 4), place) for place in close))
        found.sort(key=lambda pair: (pair[0], names[pair[1]]))
        return [(names[place], round(cosines[place], 4), -worth) for worth, place in found]


def similar(cosine: float) -> str:
    """Return the reason of a hit that lies close."""
    return f"similar meaning {cosine:.2f}"


class VectorIndex(KeptIndex[Stored]):
    """A search index by meaning; see `SearchIndex` for what it does, and `KeptIndex` for its file.

    A file keeps to the embedder that it was begun with, or InvalidVector is raised. To use another one, `delete` it.
    """

    version = 5
    tables = (
        "CREATE TABLE embedder (name TEXT NOT NULL, dimensions INTEGER NOT NULL)",
        """CREATE TABLE passages (
            source INTEGER NOT NULL, key TEXT NOT NULL, vector BLOB NOT NULL, words INTEGER NOT NULL, said TEXT NOT NULL
        )""",
        "CREATE INDEX passages_of_source ON passages (source)",
    )

    def __init__(self, path: str | os.PathLike[str] | None, embedder: Embedder) -> None:
        super().__init__(path)
        self._embedder = embedder
        self._loaded: tuple[object, Passages, array[float]] = (None, Passages([]), array("f"))

    @property
    def weight(self) -> float | None:
        """What its embedder says that a standard deviation above the mean counts beside words, if it does."""
        return getattr(self._embedder, "weight", None)

    @property
    def full_at(self) -> float:
        """Of how many words texts must be to have that weight; 0 where they have it in any case."""
        return getattr(self._embedder, "full_at", 0)

    @property
    def fits_at(self) -> float | None:
        """The sum of a word fit and a cosine at which a passage answers a query, if its embedder says so."""
        return getattr(self._embedder, "fits_at", None)

    def search(self, query: str, *, limit: int = 10, within: Collection[str] | None = None) -> list[Hit]:
        """Return the passages that fit best; see `SearchIndex`."""
        near = self.nearness(query, within) if limit > 0 else None
        found = near.best(limit) if near else []
        return [Hit(*passage, worth / found[0][2], (similar(far),)) for passage, far, worth in found]

    def nearness(self, query: str, within: Collection[str] | None = None) -> "Nearness | None":
        """Return how close each passage of these sources, or of all, lies to a query; None for an empty one."""
        if not query.strip():
            return None
        passages, vectors = self._ask(self._load)
        asked = terms(query)
        names = [token for term in asked for token in term.tokens if said_by(token) in passages.said]
        (data,) = embed(self._embedder, [_without(query, names)])
        cosines = similarities(vectors, from_half(data))
        return Nearness(passages, cosines, None if within is None else frozenset(within), gains(asked, passages.said))

    def _load(self, connection: "Connection") -> "tuple[Passages, array[float]]":
        """Return all passages and their vectors, which are kept until the file changes."""
        state = (self._in_line, connection.total_changes)
        if self._loaded[0] != state:
            rows = connection.execute(
                "SELECT sources.key, passages.key, vector, words, said FROM passages"
                " JOIN sources ON sources.id = passages.source ORDER BY passages.rowid"
            ).fetchall()
            for source, key, data, *_ in rows:
                if len(data) != 2 * self._embedder.dimensions:
                    raise DamagedFile(f"the vector of {source} {key} has {len(data)} bytes; it was cut off")
            try:
                numbers = from_half(b"".join(data for _, _, data, *_ in rows))
            except InvalidVector as error:
                raise DamagedFile(str(error)) from error
            average = sum(words for *_, words, _ in rows) / max(len(rows), 1)
            names = [(source, key) for source, key, *_ in rows]
            self._loaded = (state, Passages(names, average, [said for *_, said in rows]), numbers)
        return self._loaded[1:]

    def _read(self, sources: Iterable[Source]) -> dict[str, Stored]:
        passages = {source.key: list(source.read(source.key)) for source in sources}
        spoken = {source: turns([passage.text for passage in listed]) for source, listed in passages.items()}
        vectors = iter(embed(self._embedder, [text for listed in spoken.values() for text, _ in listed]))
        return {
            source: [
                (passage.key, next(vectors), len(passage.text.split()), " ".join(marks))
                for passage, (_, marks) in zip(listed, spoken[source], strict=True)
            ]
            for source, listed in passages.items()
        }

    def _add(self, connection: "Connection", contents: Mapping[int, Stored]) -> None:
        query = "INSERT INTO embedder SELECT ?, ? WHERE NOT EXISTS (SELECT 1 FROM embedder)"
        connection.execute(query, (self._embedder.name, self._embedder.dimensions))
        rows = ((source, *one) for source, stored in contents.items() for one in stored)
        connection.executemany("INSERT INTO passages VALUES (?, ?, ?, ?, ?)", rows)

    def _forget(self, connection: "Connection", source: int) -> None:
        connection.execute("DELETE FROM passages WHERE source = ?", (source,))

    def _difference(self, connection: "Connection", wanted: Mapping[str, Source]) -> tuple[list[str], list[str]]:
        """Refuse vectors of another embedder before anything is compared."""
        ours = (self._embedder.name, self._embedder.dimensions)
        theirs = connection.execute("SELECT name, dimensions FROM embedder").fetchone()
        if theirs not in (None, ours):
            raise InvalidVector(
                f"{shown(self._file.path or '')}: holds vectors of {theirs[0]}, {theirs[1]} wide, and those of"
                f" {ours[0]} are {ours[1]} wide; delete this file, and every text is embedded again"
            )
        return super()._difference(connection, wanted)


def _without(query: str, names: Collection[str]) -> str:
    """Return a query without the names of speakers, unless it has no other words."""
    rest, last = "", 0
    for start, end in places(query, names) if names else ():
        rest, last = rest + query[last:start], end
    rest += query[last:]
    return rest if terms(rest) else query


def embed(embedder: Embedder, texts: list[str]) -> list[bytes]:
    """Return the vectors of texts as bytes; InvalidVector unless they are what was promised."""
    vectors = embedder.embed(texts) if texts else []
    if len(vectors) != len(texts):
        raise InvalidVector(f"{embedder.name} made {len(vectors)} vectors of {len(texts)} texts")
    for vector in vectors:
        if len(vector) != embedder.dimensions:
            raise InvalidVector(
                f"{embedder.name} made a vector {len(vector)} wide, and says that all are {embedder.dimensions} wide"
            )
    return [to_half(vector, of=f"a vector of {embedder.name}") for vector in vectors]

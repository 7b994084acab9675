"""A search index by meaning: a passage is found where its vector lies close to that of the query."""

import math
import os
from array import array
from collections.abc import Collection, Iterable, Mapping, Sequence
from functools import cached_property
from heapq import nsmallest
from itertools import pairwise
from operator import mul
from typing import TYPE_CHECKING

from ..disk.errors import shown
from ..errors import DamagedFile, InvalidVector
from .float32 import from_half, similarities, to_half
from .kept import KeptIndex
from .port import Embedder, Hit, Source

if TYPE_CHECKING:
    from sqlite3 import Connection

LEAST = 0.2
"""The similarity below which two texts have nothing in common; it goes from -1 to 1."""

BESIDE = 0.1
"""What a neighbour's cosine adds to that of a passage."""

_FLAT = 1e-6
"""A spread of cosines that is nothing but rounding."""

Stored = list[tuple[str, bytes, int]]
"""Of each passage of a source the key, the vector, and how many words it has."""


class Passages:
    """The passages of an index in their order.

    Attributes:
        names: of each the key of its source and its own.
        places: where each of them is.
        together: of each but the last, whether the next one is of the same source.
        words: how many each has, on average.
    """

    __slots__ = ("names", "places", "together", "words")

    def __init__(self, names: list[tuple[str, str]], words: float = 0) -> None:
        self.names = names
        self.words = words
        self.places = {name: place for place, name in enumerate(names)}
        self.together = [one == other for (one, _), (other, _) in pairwise(names)]


class Nearness:
    """How close passages lie to one query: from -1 to 1, as the cosine of their vectors with the query's."""

    def __init__(self, passages: Passages, cosines: Sequence[float], within: frozenset[str] | None = None) -> None:
        self._passages = passages
        self._cosines = cosines
        self._within = within

    def stands_out(self, passage: tuple[str, str]) -> float:
        """Return how much closer a passage lies than most do, in standard deviations; 0 for an unknown one.

        What lies beside it in its source counts a little: who talks of something goes on talking of it.
        """
        place = self._passages.places.get(passage)
        mean, spread = self._usual
        if place is None or spread <= _FLAT:
            return 0.0
        cosines, together = self._cosines, self._passages.together
        before = cosines[place - 1] if place and together[place - 1] else 0.0
        behind = cosines[place + 1] if place < len(together) and together[place] else 0.0
        return (cosines[place] + BESIDE * max(before, behind, 0.0) - mean) / spread

    @property
    def words(self) -> float:
        """How many words a passage has, on average."""
        return self._passages.words

    @cached_property
    def _usual(self) -> tuple[float, float]:
        """The mean of all cosines, and how far they spread around it."""
        count = len(self._cosines) or 1
        mean = sum(self._cosines) / count
        return mean, math.sqrt(max(sum(map(mul, self._cosines, self._cosines)) / count - mean * mean, 0))

    def best(self, count: int) -> list[tuple[tuple[str, str], float]]:
        """Return so many passages, the closest first, and how close they lie; none that has nothing in common."""
        cosines, names, within = self._cosines, self._passages.names, self._within
        close = (place for place, cosine in enumerate(cosines) if cosine >= LEAST)
        if within is not None:
            close = (place for place in close if names[place][0] in within)
        found = nsmallest(count, ((-round(cosines[place], 4), place) for place in close))
        return [(names[place], -far) for far, place in sorted(found, key=lambda pair: (pair[0], names[pair[1]]))]


def similar(cosine: float) -> str:
    """Return the reason of a hit that lies close."""
    return f"similar meaning {cosine:.2f}"


class VectorIndex(KeptIndex[Stored]):
    """A search index by meaning; see `SearchIndex` for what it does, and `KeptIndex` for its file.

    A file keeps to the embedder that it was begun with. To use another one, `delete` it: every text is embedded again.

    Args:
        path: the file. Whatever else is there is replaced. None: the vectors are in this process.
        embedder: what makes the vectors.

    Raises:
        InvalidVector: from every method: the file holds vectors of another embedder, or this one breaks its word.
    """

    version = 4
    tables = (
        "CREATE TABLE embedder (name TEXT NOT NULL, dimensions INTEGER NOT NULL)",
        """CREATE TABLE passages (
            source INTEGER NOT NULL, key TEXT NOT NULL, vector BLOB NOT NULL, words INTEGER NOT NULL
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

    def search(self, query: str, *, limit: int = 10, within: Collection[str] | None = None) -> list[Hit]:
        """Return the passages that fit best; see `SearchIndex`."""
        near = self.nearness(query, within) if limit > 0 else None
        found = near.best(limit) if near else []
        return [Hit(*passage, far / found[0][1], (similar(far),)) for passage, far in found]

    def nearness(self, query: str, within: Collection[str] | None = None) -> "Nearness | None":
        """Return how close each passage of these sources, or of all, lies to a query; None for an empty one."""
        if not query.strip():
            return None
        (data,) = embed(self._embedder, [query])
        passages, vectors = self._ask(self._load)
        cosines = similarities(vectors, from_half(data))
        return Nearness(passages, cosines, None if within is None else frozenset(within))

    def _load(self, connection: "Connection") -> "tuple[Passages, array[float]]":
        """Return all passages and their vectors, which are kept until the file changes."""
        state = (self._in_line, connection.total_changes)
        if self._loaded[0] != state:
            rows = connection.execute(
                "SELECT sources.key, passages.key, vector, words FROM passages"
                " JOIN sources ON sources.id = passages.source ORDER BY passages.rowid"
            ).fetchall()
            for source, key, data, _ in rows:
                if len(data) != 2 * self._embedder.dimensions:
                    raise DamagedFile(f"the vector of {source} {key} has {len(data)} bytes; it was cut off")
            try:
                numbers = from_half(b"".join(data for _, _, data, _ in rows))
            except InvalidVector as error:
                raise DamagedFile(str(error)) from error
            average = sum(words for *_, words in rows) / max(len(rows), 1)
            self._loaded = (state, Passages([(source, key) for source, key, *_ in rows], average), numbers)
        return self._loaded[1:]

    def _read(self, sources: Iterable[Source]) -> dict[str, Stored]:
        passages = {source.key: list(source.read(source.key)) for source in sources}
        texts = [passage.text for listed in passages.values() for passage in listed]
        vectors = iter(embed(self._embedder, texts))
        return {
            source: [(passage.key, next(vectors), len(passage.text.split())) for passage in listed]
            for source, listed in passages.items()
        }

    def _add(self, connection: "Connection", contents: Mapping[int, Stored]) -> None:
        query = "INSERT INTO embedder SELECT ?, ? WHERE NOT EXISTS (SELECT 1 FROM embedder)"
        connection.execute(query, (self._embedder.name, self._embedder.dimensions))
        rows = ((source, *one) for source, stored in contents.items() for one in stored)
        connection.executemany("INSERT INTO passages VALUES (?, ?, ?, ?)", rows)

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


def embed(embedder: Embedder, texts: list[str]) -> list[bytes]:
    """Return the vectors of texts as bytes, after a look at whether they are what was promised.

    Raises:
        InvalidVector: they are not.
    """
    vectors = embedder.embed(texts) if texts else []
    if len(vectors) != len(texts):
        raise InvalidVector(f"{embedder.name} made {len(vectors)} vectors of {len(texts)} texts")
    for vector in vectors:
        if len(vector) != embedder.dimensions:
            raise InvalidVector(
                f"{embedder.name} made a vector {len(vector)} wide, and says that all are {embedder.dimensions} wide"
            )
    return [to_half(vector, of=f"a vector of {embedder.name}") for vector in vectors]

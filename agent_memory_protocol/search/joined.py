"""One answer from words and from meaning: what both say of a passage is added up.

Adding places in place of scores loses what the model knows: how much closer the first passage lies than the second.
Measured with `python -m benchmarks.search --set own --vectors`, and on dialogues.
"""

from collections.abc import Collection, Iterable
from dataclasses import replace

from .port import Hit, SearchIndex, Source
from .vectors import Nearness, VectorIndex, similar

WEIGHT = 1.25
"""What a cosine of 1 counts; the best passage by words counts 1. From 1 to 1.5 it finds about the same."""

DEPTH = 200
"""How many passages of each index are looked at, at least."""


class JoinedIndex:
    """A search index by words and by meaning; see `SearchIndex`.

    Args:
        words: finds by words.
        vectors: finds by meaning.
    """

    def __init__(self, words: SearchIndex, vectors: VectorIndex) -> None:
        self._words = words
        self._vectors = vectors

    def refresh(self, sources: Iterable[Source], gone: Collection[str] | None = None) -> int:
        """Bring both in line with these sources; see `SearchIndex`."""
        sources = list(sources)
        return max(self._words.refresh(sources, gone), self._vectors.refresh(sources, gone))

    def search(self, query: str, *, limit: int = 10, within: Collection[str] | None = None) -> list[Hit]:
        """Return the passages that fit best; see `SearchIndex`."""
        near = self._vectors.nearness(query, within) if limit > 0 else None
        if near is None:
            return []
        depth = max(DEPTH, 2 * limit)
        return join(self._words.search(query, limit=depth, within=within), near, depth)[:limit]

    def close(self) -> None:
        """Close both; see `SearchIndex`."""
        self._words.close()
        self._vectors.close()

    def delete(self) -> None:
        """Forget everything in both; see `SearchIndex`."""
        self._words.delete()
        self._vectors.delete()


def join(by_words: Iterable[Hit], near: Nearness, depth: int) -> list[Hit]:
    """Return what was found by words, and as many of the closest passages, best first, ties by source and key."""
    found = {(hit.source, hit.key): hit for hit in by_words}
    scores = {passage: hit.score + WEIGHT * max(near.of(passage), 0) for passage, hit in found.items()}
    for passage, cosine in near.best(depth):
        scores.setdefault(passage, WEIGHT * cosine)
        hit = found.get(passage) or Hit(*passage, 0, ())
        found[passage] = replace(hit, reasons=(*hit.reasons, similar(cosine)))
    best = max(scores.values(), default=1)
    ordered = sorted((-max(round(score / best, 6), 1e-6), passage) for passage, score in scores.items())
    return [replace(found[passage], score=-score) for score, passage in ordered]

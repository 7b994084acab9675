"""One answer from several indexes: a high place in one counts, and a high place in several counts more.

Only places are added up (reciprocal rank fusion), so scores of different kinds need not be compared.
"""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import replace

from .port import Hit, SearchIndex, Source

SMOOTHING = 5  # The first place counts 1 / 6, the second 1 / 7
DEPTH = 100  # How many hits of each index are looked at, at least


def fuse(answers: Iterable[tuple[float, Sequence[Hit]]], limit: int) -> list[Hit]:
    """Return the best hits of several answers, each with its weight. A hit has the reasons of all that found it."""
    scores: dict[tuple[str, str], float] = {}
    merged: dict[tuple[str, str], Hit] = {}
    for weight, hits in answers:
        for place, hit in enumerate(hits, start=1):
            found = (hit.source, hit.key)
            scores[found] = scores.get(found, 0) + weight / (SMOOTHING + place)
            before = merged.get(found)
            merged[found] = hit if before is None else _both(before, hit)
    best = max(scores.values(), default=1)
    ordered = sorted((-round(score / best, 6), found) for found, score in scores.items())
    return [replace(merged[found], score=-score) for score, found in ordered[: max(limit, 0)]]


def _both(one: Hit, other: Hit) -> Hit:
    """Return a passage that two indexes have found, with what each of them says of it."""
    return replace(
        one,
        reasons=(*one.reasons, *other.reasons),
        tokens=(*one.tokens, *other.tokens),
        meant=(*one.meant, *other.meant),
    )


class FusedIndex:
    """A search index of several, each with what its places count; see `SearchIndex`."""

    def __init__(self, *indexes: tuple[float, SearchIndex]) -> None:
        self._indexes = indexes

    def refresh(self, sources: Iterable[Source], gone: Collection[str] | None = None) -> int:
        """Bring all in line with these sources; see `SearchIndex`."""
        sources = list(sources)
        return max((index.refresh(sources, gone) for _, index in self._indexes), default=0)

    def search(self, query: str, *, limit: int = 10, within: Collection[str] | None = None) -> list[Hit]:
        """Return the passages that fit best; see `SearchIndex`."""
        depth = max(DEPTH, 2 * limit) if limit > 0 else 0
        return fuse(
            ((weight, index.search(query, limit=depth, within=within)) for weight, index in self._indexes), limit
        )

    def close(self) -> None:
        """Close all; see `SearchIndex`."""
        for _, index in self._indexes:
            index.close()

    def delete(self) -> None:
        """Forget everything in all; see `SearchIndex`."""
        for _, index in self._indexes:
            index.delete()

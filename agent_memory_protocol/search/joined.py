"""One answer from words and from meaning: what both say of a passage is added up.

By words, the best passage has 1. By meaning, it counts how much closer a passage lies than the others do: models differ
in how close all texts lie, and so do queries. To add places in place of scores would lose how much better the first is.
"""

from collections.abc import Collection, Iterable
from dataclasses import replace

from .port import LEAST_FIT, Hit, SearchIndex, Source
from .vectors import Nearness, VectorIndex, similar

WEIGHT = 0.15
"""What a standard deviation above the mean counts, unless the embedder has a `weight` of its own.

Chosen with `python -m benchmarks.search --set … --vectors`.
"""

LOOKED_AT = (
    10  # How many of the best hits may say that an answer fits: mostly it is not the first one that says so most
)

DEPTH = 200  # How many passages are looked at for their meaning, at least, and half as many for their words


class JoinedIndex:
    """A search index by words and by meaning; see `SearchIndex`."""

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
        return join(
            self._words.search(query, limit=max(DEPTH // 2, 2 * limit), within=within),
            near,
            limit,
            weight_of(self._vectors.weight or WEIGHT, self._vectors.full_at, near.words),
            self._vectors.fits_at,
        )

    def close(self) -> None:
        """Close both; see `SearchIndex`."""
        self._words.close()
        self._vectors.close()

    def delete(self) -> None:
        """Forget everything in both; see `SearchIndex`."""
        self._words.delete()
        self._vectors.delete()


def weight_of(weight: float, full_at: float, words: float) -> float:
    """Return what meaning counts where texts have so many words on average: less in short ones, to twice in long."""
    return weight * min(words / full_at, 2) if full_at else weight


def join(
    by_words: Iterable[Hit], near: Nearness, limit: int, weight: float = WEIGHT, fits_at: float | None = None
) -> list[Hit]:
    """Return the best of what was found by words and of the closest passages, ties by source and key.

    What a hit fits by words and its cosine are added; `fits_at` is the sum at which it answers a query. Without one,
    what was found by meaning alone always does.
    """
    found: dict[tuple[str, str], Hit | None] = {(hit.source, hit.key): hit for hit in by_words}
    close = {passage: far for passage, far, _ in near.best(max(DEPTH, 2 * limit))}
    found |= {passage: None for passage in close if passage not in found}
    scores = {passage: (hit.score if hit else 0) + weight * near.stands_out(passage) for passage, hit in found.items()}
    best = max(scores.values(), default=1) or 1
    ordered = sorted((-max(round(score / best, 6), 1e-6), passage) for passage, score in scores.items())
    answer = []
    for score, passage in ordered[: max(limit, LOOKED_AT)]:
        hit = found[passage]
        both = (hit.fit if hit else 0) + max(near.cosine(passage), 0)
        fit = min(LEAST_FIT * both / fits_at, 1) if fits_at else hit.fit if hit else 1
        hit = hit or Hit(*passage, 0, ())
        reasons = (*hit.reasons, similar(close[passage])) if passage in close else hit.reasons
        answer.append(replace(hit, score=-score, reasons=reasons, fit=round(fit, 4)))
    return (_none_below_the_next(answer) if fits_at else answer)[:limit]


def _none_below_the_next(hits: list[Hit]) -> list[Hit]:
    """Let none of the first hits fit less than one behind it, which was found to be worse."""
    most, found = 0.0, list[Hit]()
    for hit in reversed(hits[:LOOKED_AT]):
        most = max(most, hit.fit)
        found.append(replace(hit, fit=most))
    return [*reversed(found), *hits[LOOKED_AT:]]

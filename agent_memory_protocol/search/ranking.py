"""Which passages fit a query best, how well, and why, given which passages hold each of its words.

The measure is BM25: a rare word counts more than a common one, a second occurrence less than the first, and a word in a
short passage more than in a long one. A word around a passage counts a part, and so does one in its neighbours: an
answer comes after its question. Of two passages that score alike, the one with more of the query's words comes first.
"""

import heapq
import math
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass

from .port import Hit
from .words import Term

CONTEXT_WEIGHT = 0.5
"""How much a word around a passage counts, in headings, labels and tags; in its text it is 1."""

NEXT_WEIGHT, SECOND_WEIGHT = 0.2, 0.1
"""How much a word counts in the passage before or after, and in the one before or after that, of the same source."""

APART = 3
"""Neighbours have numbers that follow each other; passages of two sources are so far apart that none is a neighbour."""

CANDIDATES = 200
"""Passages that are weighed with their neighbours, at least: those with the best words in and around them."""

_K1, _B = 0.9, 0.4
"""Lower than usual, as passages are short: that a word is there says most, how often and among how many says little."""

_WEIGHTIEST = 8
"""So many words of a query say what it asks for; a page that is a query is never said twice."""

_PARTIAL = 0.5
"""What the score of a passage keeps that has none of the query's words; one that has all of them keeps it whole."""


@dataclass(frozen=True, slots=True)
class Postings:
    """The passages that hold a word, by number: how often it is in their text, and how often around it."""

    text: dict[int, int]
    context: dict[int, int]


class Stock:
    """What is known of all passages.

    Args:
        sizes: the size of each by its number, with a part of its neighbours'; see `sizes_with_neighbours`.
        passages: how many there are, and
        average: their average size, where these are not all.
    """

    def __init__(self, sizes: Mapping[int, float], passages: int | None = None, average: float | None = None) -> None:
        self.passages = len(sizes) if passages is None else passages
        average = max(sum(sizes.values()) / max(len(sizes), 1) if average is None else average, 1.0)
        self.damping = {number: _K1 * (1 - _B + _B * size / average) for number, size in sizes.items()}
        """What its size takes from the worth of a word in a passage."""


def sizes_with_neighbours(sizes: Sequence[int]) -> list[int]:
    """Return the sizes of the passages of a source as they count: each with half of its neighbours'.

    Alone, a short passage would gain too much.
    """
    return [size + (sum(sizes[max(place - 2, 0) : place + 3]) - size) // 2 for place, size in enumerate(sizes)]


def rank(
    terms: Sequence[Term],
    postings: Mapping[str, Postings],
    holding: Mapping[str, int],
    stock: Stock,
    limit: int,
    names: Callable[[Collection[int]], Mapping[int, tuple[str, str]]],
    allowed: Collection[int] | None = None,
) -> list[Hit]:
    """Return the best passages as hits. One without any word of the query in or around it is left out.

    Args:
        terms: the words of the query.
        postings: which passages hold each of their tokens.
        holding: how many passages hold each token.
        stock: what is known of all passages.
        limit: how many hits at most.
        names: returns for the numbers of passages the keys of their sources and their own.
        allowed: the numbers of the only passages that may be answered with; None means all.
    """
    rarity = {
        token: math.log(1 + (stock.passages - held + 0.5) / (held + 0.5))
        for term in terms
        for token in term.tokens
        for held in [holding.get(token, 0)]
    }
    candidates = _candidates(rarity, postings, stock.damping, max(CANDIDATES, 2 * limit), allowed)
    scored = _scores(terms, rarity, postings, stock.damping, candidates)
    best = max((score for score, _, _ in scored), default=0)
    # Passages that score alike are put in order by name, so names are asked for beyond the limit.
    kept = heapq.nlargest(max(limit, 0) + CANDIDATES // 2, scored)
    known = names([number for _, _, number in kept])
    ordered = sorted((-max(round(score / best, 6), 1e-6), *known[number], number, fit) for score, fit, number in kept)
    return [
        Hit(source, key, -score, _reasons(terms, postings, number), *_matched(terms, postings, number), fit)
        for score, source, key, number, fit in ordered[: max(limit, 0)]
    ]


def _candidates(
    rarity: Mapping[str, float],
    postings: Mapping[str, Postings],
    damping: Mapping[int, float],
    count: int,
    allowed: Collection[int] | None,
) -> list[int]:
    """Return the passages with the best words in and around them."""
    scores: dict[int, float] = {}
    for token, found in postings.items():
        times: Mapping[int, float] = found.text
        if found.context:
            times = dict(found.text)
            for number, around in found.context.items():
                times[number] = times.get(number, 0) + CONTEXT_WEIGHT * around
        weight = rarity[token] * (_K1 + 1)
        for number, often in times.items():
            scores[number] = scores.get(number, 0) + weight * often / (often + damping[number])
    if allowed is not None:
        scores = {number: score for number, score in scores.items() if number in allowed}
    return sorted(scores, key=scores.__getitem__, reverse=True)[:count]


def _scores(
    terms: Sequence[Term],
    rarity: Mapping[str, float],
    postings: Mapping[str, Postings],
    damping: Mapping[int, float],
    numbers: Sequence[int],
) -> list[tuple[float, float, int]]:
    """Return for each of these passages its score, how well it fits, and its number."""
    damped = [damping[number] for number in numbers]
    scores, covered, inside = ([0.0] * len(numbers) for _ in range(3))
    weights = [max(rarity[token] for token in term.tokens) for term in terms]
    total, known = sum(sorted(weights)[-_WEIGHTIEST:]), 0.0
    for term, weight in zip(terms, weights, strict=True):
        held = [token for token in term.tokens if token in postings]
        known += weight if held else 0
        most, here = [0.0] * len(numbers), [0.0] * len(numbers)
        for token in held:
            text, context = postings[token].text, postings[token].context
            worth, get = rarity[token] * (_K1 + 1), text.get
            for place, number in enumerate(numbers):
                own: float = get(number, 0)
                if context:
                    own += CONTEXT_WEIGHT * context.get(number, 0)
                times = own + NEXT_WEIGHT * (get(number - 1, 0) + get(number + 1, 0))
                times += SECOND_WEIGHT * (get(number - 2, 0) + get(number + 2, 0))
                if times:
                    scores[place] += worth * times / (times + damped[place])
                    most[place] = max(most[place], times)
                    here[place] = max(here[place], own)
        for place, times in enumerate(most):
            if times:
                covered[place] += weight * min(times, 1)
                inside[place] += here[place] > 0
    return [
        (score * (_PARTIAL + (1 - _PARTIAL) * share / known), round(min(share / total * count, 1), 4), number)
        for score, share, count, number in zip(scores, covered, inside, numbers, strict=True)
    ]


def _matched(
    terms: Iterable[Term], postings: Mapping[str, Postings], number: int
) -> tuple[tuple[str, ...], tuple[tuple[str, str], ...]]:
    """Return the tokens of the query that a passage holds, and each slip with the word it was taken for."""
    tokens: dict[str, None] = {}
    meant: dict[tuple[str, str], None] = {}
    for term in terms:
        for place, token in enumerate(term.tokens):
            found = postings.get(token)
            if found is not None and (number in found.text or number in found.context):
                tokens[token] = None
                if term.meant:
                    meant[term.shown, term.meant[place]] = None
    return tuple(tokens), tuple(meant)


def _reasons(terms: Iterable[Term], postings: Mapping[str, Postings], number: int) -> tuple[str, ...]:
    """Say for a person why a passage was found."""
    inside: dict[str, None] = {}
    around: dict[str, None] = {}
    for term in terms:
        for token, shown in zip(term.tokens, term.meant or (term.shown,), strict=True):
            if (found := postings.get(token)) is not None:
                name = f"{shown} (for {term.shown})" if term.meant else shown
                if number in found.text:
                    inside[name] = None
                elif number in found.context:
                    around[name] = None
    lists = {"words": list(inside), "context": [name for name in around if name not in inside]}
    return tuple(f"{what}: {', '.join(names)}" for what, names in lists.items() if names)

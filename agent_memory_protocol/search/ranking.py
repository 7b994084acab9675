"""Which passages fit a query best, and why, given the tokens of passages and how rare each token is.

The measure is BM25: a rare word counts more than a common one, a second occurrence less than the first, and a word in a
short passage more than in a long one. Words around a passage count a part of those in it.
"""

import math
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass

from .port import Hit
from .words import Term

CONTEXT_WEIGHT = 0.2
"""How much a word around a passage counts; in its text it is 1."""

_K1, _B = 0.9, 0.4
"""Lower than usual, as passages are short: that a word is there says most, how often and among how many says little."""


@dataclass(frozen=True, slots=True)
class CountedPassage:
    """A passage that may fit: how often each token of the query is in its text and around it, and its size in tokens.

    `source` is the key of its source. There may be counts of other tokens, too.
    """

    source: str
    key: str
    text: Mapping[str, int]
    context: Mapping[str, int]
    size: int


def rank(
    terms: Collection[Term],
    candidates: Iterable[CountedPassage],
    limit: int,
    *,
    passages: int,
    size: int,
    holding: Mapping[str, int],
) -> list[Hit]:
    """Return the best candidates as hits. One without any word of the query is left out.

    Of all passages, `passages` says how many there are, `size` how many tokens they have together, and `holding` how
    many of them each token of the query is in.
    """
    average = max(size / max(passages, 1), 1)
    rarity = {
        token: math.log(1 + (passages - holding.get(token, 0) + 0.5) / (holding.get(token, 0) + 0.5))
        for term in terms
        for token in term.tokens
    }
    scored = [(_score(rarity, candidate, average), candidate) for candidate in candidates]
    best = max((score for score, _ in scored), default=0)
    ordered = sorted(
        ((max(round(score / best, 6), 1e-6), candidate) for score, candidate in scored if score > 0),
        key=lambda pair: (-pair[0], pair[1].source, pair[1].key),
    )
    return [
        Hit(candidate.source, candidate.key, score, _reasons(terms, candidate), *_matched(terms, candidate))
        for score, candidate in ordered[: max(limit, 0)]
    ]


def _score(rarity: Mapping[str, float], candidate: CountedPassage, average: float) -> float:
    length = 1 - _B + _B * candidate.size / average
    score = 0.0
    for token, weight in rarity.items():
        times = candidate.text.get(token, 0) + CONTEXT_WEIGHT * candidate.context.get(token, 0)
        if times:
            score += weight * times * (_K1 + 1) / (times + _K1 * length)
    return score


def _matched(terms: Iterable[Term], candidate: CountedPassage) -> tuple[tuple[str, ...], tuple[tuple[str, str], ...]]:
    """Return the tokens of the query that a passage holds, and each slip with the word it was taken for."""
    tokens: dict[str, None] = {}
    meant: dict[tuple[str, str], None] = {}
    for term in terms:
        for number, token in enumerate(term.tokens):
            if token in candidate.text or token in candidate.context:
                tokens[token] = None
                if term.meant:
                    meant[term.shown, term.meant[number]] = None
    return tuple(tokens), tuple(meant)


def _reasons(terms: Iterable[Term], candidate: CountedPassage) -> tuple[str, ...]:
    inside: dict[str, None] = {}
    around: dict[str, None] = {}
    for term in terms:
        for token, shown in zip(term.tokens, term.meant or (term.shown,), strict=True):
            name = f"{shown} (for {term.shown})" if term.meant else shown
            if token in candidate.text:
                inside[name] = None
            elif token in candidate.context:
                around[name] = None
    lists = {"words": list(inside), "context": [name for name in around if name not in inside]}
    return tuple(f"{what}: {', '.join(names)}" for what, names in lists.items() if names)

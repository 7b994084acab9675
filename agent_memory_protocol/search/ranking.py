"""Which passages fit a query best, how well, and why, given which passages hold each of its words.

The measure is BM25: a rare word counts more than a common one, a second occurrence less than the first, and a word in a
short passage more than in a long one. A word around a passage counts a part, and so does one in its neighbours: an
answer comes after its question, and in talk it may come several turns after. What is said by somebody whom the query
names counts more. Of two passages that score alike, the one with more of the query's words comes first.
"""

import heapq
import math
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

from ..values import dataclass
from .port import Hit
from .words import Term, said_by

CONTEXT_WEIGHT = 0.5  # How much a word around a passage counts, in headings, labels and tags; in its text it is 1

_NEXT, _SECOND = 0.2, 0.1
"""How much a word counts in the passage before or after, and in the one before or after that, of the same source."""

_BESIDE = ((-2, _SECOND), (-1, _NEXT), (1, _NEXT), (2, _SECOND))

_TURNS = (_NEXT, 0.12, 0.1, 0.08, 0.06, 0.05)
"""The same for the turns of a dialogue: they are short, and who talks of something goes on talking of it."""

_IN_TALK = tuple((side * step, weight) for step, weight in enumerate(_TURNS, start=1) for side in (-1, 1))

REACH = len(_TURNS)  # How far away a neighbour is at most

APART = REACH + 1
"""Neighbours have numbers that follow each other; passages of two sources are so far apart that none is a neighbour."""

CANDIDATES = 200
"""Passages that are weighed with their neighbours, at least: those with the best words in and around them."""

_K1, _B = 0.9, 0.4
"""Lower than usual, as passages are short: that a word is there says most, how often and among how many says little."""

_WEIGHTIEST = 8  # So many words of a query say what it asks for; a page that is a query is never said twice
_FORM_WEIGHT = 0.5  # How much another form of a word counts: `bought` where `buy` is asked for
_DOUBTFUL_WEIGHT = 0.25  # How much a word counts that few mistype so; alone it does not fit

_SPEAKER, _OF_THEMSELF = 0.6, 0.4
"""How much better a passage is said by somebody whom the query names, and one in which they speak of themself.

Where the query names several of the speakers, they share it: it then asks for what they do together.
"""

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
        sizes: the size of each by its number, with a part of its neighbours'; see `passages.Read`.
        passages: how many there are, and
        average: their average size, where these are not all.
        talk: the numbers of those that are turns of a dialogue; see `passages.Read`.
    """

    def __init__(
        self,
        sizes: Mapping[int, float],
        passages: int | None = None,
        average: float | None = None,
        talk: Collection[int] = (),
    ) -> None:
        self.talk = frozenset(talk)
        self.passages = len(sizes) if passages is None else passages
        average = max(sum(sizes.values()) / max(len(sizes), 1) if average is None else average, 1.0)
        self.damping = {number: _K1 * (1 - _B + _B * size / average) for number, size in sizes.items()}
        """What its size takes from the worth of a word in a passage."""


def rank(
    terms: Sequence[Term],
    postings: Mapping[str, Postings],
    holding: Mapping[str, int],
    stock: Stock,
    limit: int,
    names: Callable[[Collection[int]], Mapping[int, tuple[str, str]]],
    allowed: Collection[int] | None = None,
    besides: Collection[str] = (),
) -> list[Hit]:
    """Return the best passages as hits, of those that are `allowed`. One without any word of the query is left out.

    `postings` say which passages hold each token, `holding` how many do, and `names` their sources' keys and their
    own. The tokens `besides` add to what the words have found; see `search.names`.
    """
    terms = [_in_use(term, postings) for term in terms]
    weighed = [_weighed(term, postings, holding, stock.passages) for term in terms]
    more = [
        _Word(_rarity(holding.get(token, 0), stock.passages), *_both(postings[token]))
        for token in besides
        if token in postings
    ]
    candidates = _candidates([*weighed, (0, more)], stock, max(CANDIDATES, 2 * limit), allowed)
    scored = _scores(weighed, gains(terms, postings), stock, candidates, more)
    best = max((score for score, _, _ in scored), default=0)
    # Passages that score alike are put in order by name, so names are asked for beyond the limit.
    kept = heapq.nlargest(max(limit, 0) + CANDIDATES // 2, scored)
    known = names([number for _, _, number in kept])
    ordered = sorted((-max(round(score / best, 6), 1e-6), *known[number], number, fit) for score, fit, number in kept)
    sought = [one for term in terms for one in _sought(term, postings)]
    return [
        Hit(source, key, -score, *_matched(sought, number), fit)
        for score, source, key, number, fit in ordered[: max(limit, 0)]
    ]


def _in_use(term: Term, postings: Mapping[str, Postings]) -> Term:
    """Return a word of a query without the forms that no passage has, which are most of them."""
    forms = tuple([token for token in term.forms if token in postings])
    return term if len(forms) == len(term.forms) else replace(term, forms=forms)


class _Word(NamedTuple):
    """A word of a query, or what is meant by one: how rare it is, and how often passages have it, by number."""

    rarity: float
    text: Mapping[int, float]
    context: Mapping[int, float]


def _weighed(
    term: Term, postings: Mapping[str, Postings], holding: Mapping[str, int], passages: int
) -> tuple[float, list[_Word]]:
    """Return what a word of a query weighs, and each word it means that any passage has, its other forms among it."""
    if term.forms:
        times: tuple[dict[int, float], dict[int, float]] = ({}, {})
        for token in (*term.tokens, *term.forms):
            weight = 1 if token in term.tokens else _DOUBTFUL_WEIGHT if term.meant else _FORM_WEIGHT
            for into, found in zip(times, _both(postings.get(token)), strict=True):
                for number, often in found.items():
                    into[number] = into.get(number, 0) + weight * often
        rarity = _rarity(sum(holding.get(token, 0) for token in (*term.tokens, *term.forms)), passages)
        return rarity, [_Word(rarity, *times)] if any(times) else []
    rarities = {token: _rarity(holding.get(token, 0), passages) for token in term.tokens}
    return max(rarities.values()), [_Word(rarities[one], *_both(postings[one])) for one in rarities if one in postings]


def _both(found: Postings | None) -> tuple[Mapping[int, float], Mapping[int, float]]:
    return (found.text, found.context) if found else ({}, {})


def _rarity(held: int, passages: int) -> float:
    held = min(held, passages)
    return math.log(1 + (passages - held + 0.5) / (held + 0.5))


def gains(terms: Iterable[Term], postings: Mapping[str, Postings]) -> dict[int, float]:
    """Return by what passages gain that somebody says whom the query names."""
    named = (postings.get(said_by(token)) for term in terms for token in term.tokens)
    said = {frozenset(found.context): found.context for found in named if found is not None}
    found: dict[int, float] = {}
    for turns in said.values():  # who has two names is here once
        for number, times in turns.items():
            gain = 1 + (_SPEAKER + (_OF_THEMSELF if times > 1 else 0)) / len(said)
            found[number] = max(gain, found.get(number, 1))
    return found


def _candidates(
    weighed: Iterable[tuple[float, list[_Word]]], stock: Stock, count: int, allowed: Collection[int] | None
) -> list[int]:
    """Return the passages with the best words in and around them, and in talk also those beside such."""
    damping = stock.damping
    scores: dict[int, float] = {}
    for rarity, text, context in (word for _, words in weighed for word in words):
        times = text
        if context:
            times = dict(text)
            for number, around in context.items():
                times[number] = times.get(number, 0) + CONTEXT_WEIGHT * around
        weight = rarity * (_K1 + 1)
        for number, often in times.items():
            scores[number] = scores.get(number, 0) + weight * often / (often + damping[number])
    if allowed is not None:
        scores = {number: score for number, score in scores.items() if number in allowed}
    best = sorted(scores, key=scores.__getitem__, reverse=True)[:count]
    if stock.talk.isdisjoint(best):
        return best
    spread = {number: scores[number] for number in best}
    for number in stock.talk.intersection(best):
        for step, weight in _IN_TALK:
            beside = number + step
            if beside in stock.talk and (allowed is None or beside in allowed):
                spread[beside] = spread.get(beside, 0) + weight * scores[number]
    return sorted(spread, key=spread.__getitem__, reverse=True)[:count]


def _scores(
    weighed: Sequence[tuple[float, list[_Word]]],
    speakers: Mapping[int, float],
    stock: Stock,
    numbers: Sequence[int],
    besides: Sequence[_Word],
) -> list[tuple[float, float, int]]:
    """Return for each of these passages its score, how well it fits, and its number."""
    damping = stock.damping
    damped = [damping[number] for number in numbers]
    alone = {number for number in numbers if number - 1 not in damping and number + 1 not in damping}
    scores, covered, inside = ([0.0] * len(numbers) for _ in range(3))
    total = sum(sorted(weight for weight, _ in weighed)[-_WEIGHTIEST:])
    known = sum(weight for weight, words in weighed if words)
    for weight, words in weighed:
        most, here = [0.0] * len(numbers), [False] * len(numbers)
        for word in words:
            worth, near = word.rarity * (_K1 + 1), _near(word, numbers, stock.talk, alone)
            for place, number in enumerate(numbers):
                if times := near.get(number):
                    scores[place] += worth * times / (times + damped[place])
                    most[place] = max(most[place], times)
                    here[place] = here[place] or number in word.text or number in word.context
        for place, times in enumerate(most):
            if times:
                covered[place] += weight * min(times, 1)
                inside[place] += here[place]
    for word in besides:
        worth = word.rarity * (_K1 + 1)
        for place, number in enumerate(numbers):
            if covered[place] and (times := max(word.text.get(number, 0), word.context.get(number, 0))):
                scores[place] += worth * times / (times + damped[place])
    return [
        (
            score * (_PARTIAL + (1 - _PARTIAL) * share / known) * speakers.get(number, 1),
            round(min(share / total * count, 1), 4),
            number,
        )
        for score, share, count, number in zip(scores, covered, inside, numbers, strict=True)
    ]


def _near(word: _Word, numbers: Sequence[int], talk: Collection[int], alone: Collection[int]) -> dict[int, float]:
    """Return how often passages have a word in them, around them and, less, beside them; of some, or of all."""
    get, near = word.text.get, dict[int, float]()
    if len(word.text) < len(numbers):
        near.update(word.text)
        for number, often in word.text.items():
            for step, weight in _IN_TALK if number in talk else _BESIDE:
                near[number + step] = near.get(number + step, 0) + weight * often
    else:
        for number in numbers:
            if number in alone:
                near[number] = get(number, 0)
            elif number in talk:
                near[number] = get(number, 0) + sum([weight * get(number + step, 0) for step, weight in _IN_TALK])
            else:
                beside = _NEXT * (get(number - 1, 0) + get(number + 1, 0))
                near[number] = get(number, 0) + beside + _SECOND * (get(number - 2, 0) + get(number + 2, 0))
    for number, often in word.context.items():
        near[number] = near.get(number, 0) + CONTEXT_WEIGHT * often
    return near


class _Sought(NamedTuple):
    """A token of a query that some passages hold: how it is shown, what slip it is taken for, and who holds it."""

    token: str
    name: str
    slip: tuple[str, str] | None
    found: Postings


def _sought(term: Term, postings: Mapping[str, Postings]) -> list[_Sought]:
    meant = term.meant or (term.shown,) * (len(term.tokens) + len(term.forms))
    return [
        _Sought(
            token,
            f"{shown} (for {term.shown})" if term.meant else shown,
            (term.shown, shown) if term.meant else None,
            postings[token],
        )
        for token, shown in zip((*term.tokens, *term.forms), meant, strict=True)
        if token in postings
    ]


def _matched(
    sought: Sequence[_Sought], number: int
) -> tuple[tuple[str, ...], tuple[str, ...], tuple[tuple[str, str], ...]]:
    """Return why a passage was found, for a person, the tokens it holds, and each slip with the word it was taken for.

    It was found by words in it or around it, or only by what is beside it.
    """
    tokens, slips, inside, around = (dict[str, None](), dict[tuple[str, str], None](), list[str](), list[str]())
    for token, name, slip, found in sought:
        if number in found.text:
            inside.append(name)
        elif number in found.context:
            around.append(name)
        else:
            continue
        tokens |= dict.fromkeys(token.split(" "))
        if slip:
            slips[slip] = None
    lists = {"words": inside, "context": [name for name in around if name not in inside]}
    if not tokens:
        near = [number + step for step, _ in _IN_TALK]
        lists = {"beside it": [one.name for one in sought if any(place in one.found.text for place in near)]}
    reasons = tuple(f"{what}: {', '.join(dict.fromkeys(names))}" for what, names in lists.items() if names)
    return reasons, tuple(tokens), tuple(slips)

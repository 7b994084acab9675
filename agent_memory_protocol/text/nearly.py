"""Nearly: texts that use much the same words, so that a person is asked whether they say the same.

Words in common prove nothing, so nothing may be merged or promoted by them alone. What surely says the same is in
`alike`.
"""

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from functools import lru_cache
from math import log

from . import alike, east_asian, renewed
from .apart import names_apart
from .essence import SAYS_LITTLE
from .gist import gist, shared_words
from .holding import sharing
from .language import ENGLISH, english, plain, tokenise
from .opposites import opposed
from .values import find_values

MANY = 0.45  # Which part of all their words two texts share that are worth comparing

_DIGIT = re.compile(r"\d")
_FEWEST_WORDS = 4
_ENOUGH_WORDS, _ENOUGH_WEIGHT, _PART_OF_ALL = 3, 0.5, 0.35  # What two texts share that may be one lesson in other words
_SAME_START = 3  # So many words, if two texts begin with them, are what each line of a list begins with
_COMMON = 20  # A word that more texts have than this brings no two of them together
_TURNING = {"against", "even", "only"}  # “Decided against X” is not “decided on X”, nor is “even if” “only if”
_ENDS = ".!"
_ADDED = re.compile(r"\s*[.!;,(—–]|\s+--?\s")  # what more begins with
_OF_AN_END = {"anymore", "longer", "more", "true"}
_OF_CONSEQUENCES = ENGLISH.cuts | {"if", "or", "else", "otherwise", "unless", "without"}


def pairs(texts: Sequence[str]) -> list[tuple[int, int]]:
    """Return the places of each two texts that share many of their words; see `share`."""
    shares = shared_words(texts, max(_COMMON, len(texts) // 50), least=MANY)
    return [(one, other) for one, other in sorted(shares) if _may_be_the_same(texts[one], texts[other])]


def on_one_lesson(texts: Sequence[str]) -> list[tuple[int, int]]:
    """Return the places of each two texts that may be one lesson in other words: a guess, for a person to look at.

    They share three words or more, and those weigh half of the one that has less, and a good part of both; the rarer a
    word is, the more it weighs. What has one form, as the lines of a list do, is not one lesson.
    """
    topics = [renewed.topic(text) for text in texts]
    counts = Counter(word for words in topics for word in words)
    weights = {word: log(len(texts) / count) for word, count in counts.items()}

    def weight(words: Iterable[str]) -> float:
        return sum(sorted(weights[word] for word in words))

    found = []
    for one, other in sorted(sharing(topics, _COMMON)):
        shared, least = topics[one] & topics[other], min(weight(topics[one]), weight(topics[other]))
        enough = max(_ENOUGH_WEIGHT * least, _PART_OF_ALL * weight(topics[one] | topics[other]))
        if len(shared) >= _ENOUGH_WORDS and weight(shared) >= enough > 0:
            words, others = gist(texts[one]).words, gist(texts[other]).words
            is_list = _have_one_form(words, others) or words[:_SAME_START] == others[:_SAME_START]
            if not is_list and not names_apart(texts[one], texts[other]):
                found.append((one, other))
    return found


def share(one: str, other: str) -> float:
    """Return which part of all their words two texts share; 0 where they cannot say the same, or share few.

    Texts with other numbers, paths, names or opposite words cannot, nor those of one form that speak of other things:
    “The cart worker caches names”, “The login worker caches names”.
    """
    words, others = gist(one).bag, gist(other).bag
    part = len(words & others) / len(words | others) if words else 0.0
    return part if part >= MANY and _may_be_the_same(one, other) else 0.0


def is_near(one: str, other: str) -> bool:
    """Say whether two texts may say the same: they share many words, and neither seems to deny the other."""
    return share(one, other) > 0 and not may_deny(one, other)


def negate_alike(one: str, other: str) -> bool:
    """Say whether both texts say “not” and its like equally often."""
    return len(gist(one).negations) == len(gist(other).negations)


def may_deny(one: str, other: str) -> bool:
    """Say whether one of two alike texts seems to deny the other."""
    if any(east_asian.denials([one, other])):
        return True
    if _only_adds(one, other) or _only_adds(other, one):
        return False
    return not negate_alike(one, other) and _OF_CONSEQUENCES & _forms(one) == _OF_CONSEQUENCES & _forms(other)


def _only_adds(text: str, other: str) -> bool:
    """Say whether a text says the other one word for word, and then something more: “Use pnpm, not npm”, “Use pnpm”.

    What has no words of its own denies what it is added to: “We deploy by hand (no longer)”.
    """
    said = other.strip().rstrip(_ENDS)
    if not said or not text.strip().casefold().startswith(said.casefold()):
        return False
    rest = text.strip()[len(said) :]
    return bool(_ADDED.match(rest)) and bool({*gist(rest).words} - _OF_AN_END)


@lru_cache(maxsize=4_000)
def _forms(text: str) -> frozenset[str]:
    """Return the words of a text, each as it is written and as it is compared."""
    tokens = tokenise(plain(text), ENGLISH)
    return frozenset(form for token in tokens for form in (token.lowered, english(token.lowered)))


def _measures(text: str) -> set[str]:
    tokens = tokenise(plain(text), ENGLISH)
    values = [
        one for one in find_values(tokens) if any(_DIGIT.search(token.written) for token in tokens[one.start : one.end])
    ]
    return {f"{one.kind} {one.amount}" for one in values if one.is_measured}


def _may_be_the_same(one: str, other: str) -> bool:
    words, others = gist(one).words, gist(other).words
    return (
        min(len(set(words)), len(set(others))) >= _FEWEST_WORDS
        and _identifiers(words) == _identifiers(others)
        and _measures(one) == _measures(other)
        and _TURNING & _forms(one) == _TURNING & _forms(other)
        and not (_have_one_form(words, others) and negate_alike(one, other) and not alike.same(one, other))
        and not opposed(_forms(one) - ENGLISH.negators, _forms(other) - ENGLISH.negators)
        and not names_apart(one, other)
    )


def _have_one_form(one: Sequence[str], other: Sequence[str]) -> bool:
    """Say whether two texts are word for word the same, but for a few words in the same places, or one in any place."""
    own, others = {*one} - {*other}, {*other} - {*one}
    if len(own) == len(others) == 1 and SAYS_LITTLE.isdisjoint(own | others):
        return True
    return len(one) == len(other) and 0 < sum(a != b for a, b in zip(one, other, strict=True)) <= max(1, len(one) // 3)


def _identifiers(words: Iterable[str]) -> set[str]:
    return {word for word in words if not word.isalpha()}

"""Nearly: texts that use much the same words, so that a person is asked whether they say the same.

Words in common prove nothing, so nothing may be merged or promoted by them alone. What surely says the same is in
`alike`.
"""

from collections.abc import Iterable, Sequence

from . import alike
from .gist import gist, shared_words
from .language import ENGLISH, plain, tokenise

MOST_WORDS, MANY_WORDS = 0.6, 0.4
"""Which part of their words two texts share: so that they are shown as one, or so that it is worth asking."""

_FEWEST_WORDS = 4
_COMMON = 20
"""A word that more texts have than this brings no two of them together."""
_OF_CONSEQUENCES = ENGLISH.conditions | ENGLISH.cuts | {"or", "else", "otherwise", "without"}


def pairs(texts: Sequence[str], least: float = MOST_WORDS) -> list[tuple[int, int]]:
    """Return the places of each two texts that share at least this part of their words.

    Texts with other numbers, paths or names are not a pair, nor are those of one form that speak of other things: “The
    cart worker caches names”, “The login worker caches names”.
    """
    shares = shared_words(texts, max(_COMMON, len(texts) // 50), least=least)
    words = [gist(text).words for text in texts]
    return [
        (one, other)
        for one, other in sorted(shares)
        if len(set(words[one])) >= _FEWEST_WORDS
        and _identifiers(words[one]) == _identifiers(words[other])
        and not (_have_one_form(words[one], words[other]) and _speak_of_other_things(texts[one], texts[other]))
    ]


def negate_alike(one: str, other: str) -> bool:
    """Say whether both texts say “not” and its like equally often."""
    return len(gist(one).negations) == len(gist(other).negations)


def may_deny(one: str, other: str) -> bool:
    """Say whether one of two alike texts seems to deny the other.

    What tells what happens on a condition does not: “X needs Y, or Z” and “without Y, Z” say the same.
    """
    return not negate_alike(one, other) and not any(map(_says_what_follows, (one, other)))


def _says_what_follows(text: str) -> bool:
    return not _OF_CONSEQUENCES.isdisjoint(token.lowered for token in tokenise(plain(text), ENGLISH))


def _have_one_form(one: Sequence[str], other: Sequence[str]) -> bool:
    """Say whether two texts are word for word the same, but for a few words in the same places."""
    return len(one) == len(other) and 0 < sum(a != b for a, b in zip(one, other, strict=True)) <= max(1, len(one) // 3)


def _speak_of_other_things(one: str, other: str) -> bool:
    return negate_alike(one, other) and not alike.same(one, other)


def _identifiers(words: Iterable[str]) -> set[str]:
    return {word for word in words if not word.isalpha()}

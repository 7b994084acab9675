"""What tells two texts apart, in any wording: a number, name, path, negation, mood or opposite that only one has.

A program or a model may take two texts for the same that are put differently. This says what would be lost then. It
errs on one side: where it cannot be told whether a word is a name, it is one.
"""

import re
from collections.abc import Iterator, Sequence

from .alike import same
from .gist import gist
from .language import ENGLISH, Token, english, plain, tokenise
from .mood import ASKS, GUESSES
from .opposites import opposed
from .values import find_values, number_said

_NO_NAMES = ENGLISH.subjects | ENGLISH.pronouns | ENGLISH.negators | frozenset(["an", "both", "his", "her", "its"])
_VERBS = frozenset(
    [
        "am",
        "are",
        "became",
        "built",
        "can",
        "did",
        "does",
        "got",
        "had",
        "has",
        "is",
        "made",
        "may",
        "might",
        "must",
        "ran",
        "said",
        "sent",
        "shall",
        "should",
        "was",
        "went",
        "were",
        "will",
        "won",
        "would",
        "wrote",
    ]
)
"""Verbs that follow what a sentence is about, and do not end as others do."""

_ENDINGS = ("s", "ed")
_OTHER_ENDINGS = ("ss", "eed")
_SENTENCE_ENDS = (".", "!", "?", ":")
_OWNER = re.compile(r"(\w+)'s\b")


def told_apart(one: str, other: str) -> str:
    """Return what only one of two texts has and makes them two; "" where nothing does."""
    if same(one, other):
        return ""
    first, second = gist(one), gist(other)
    for asked in (ASKS, GUESSES):
        if asked in first.mood | second.mood:
            return asked
    if first.mood != second.mood:
        return ", ".join(sorted(first.mood ^ second.mood))
    if (len(first.negations) - len(second.negations)) % 2:
        return "a negation"
    tokens, others = tokenise(plain(one), ENGLISH), tokenise(plain(other), ENGLISH)
    if against := opposed({token.lowered for token in tokens}, {token.lowered for token in others}):
        return against
    in_first, in_second = _words(tokens), _words(others)
    apart = _exact(tokens) ^ _exact(others)
    apart |= {name for name, word in _names(one, tokens) if word not in in_second}
    apart |= {name for name, word in _names(other, others) if word not in in_first}
    return ", ".join(sorted(apart))


def _words(tokens: Sequence[Token]) -> set[str]:
    return {english(token.lowered, past=False) for token in tokens} | {token.written for token in tokens}


def _exact(tokens: Sequence[Token]) -> set[str]:
    """Return what is compared to the letter: values, numbers, and what is not a plain word."""
    found: set[str] = set()
    rest = list(tokens)
    for value in reversed(find_values(tokens)):
        found.add(f"{value.kind} {value.amount}" if value.is_measured else value.amount)
        del rest[value.start : value.end]
    for token in rest:
        if number := number_said(token.lowered):
            found.add(number)
        elif not token.is_plain:
            found.add(token.written)
    return found


def _names(text: str, tokens: Sequence[Token]) -> Iterator[tuple[str, str]]:
    """Yield the words that are capitalised as names are, and the word that the other text must have for each.

    The first word of a sentence is a name where something is said of it: a verb follows, or it has something.
    """
    owners = {match[1] for match in _OWNER.finditer(plain(text))}
    for place, token in enumerate(tokens):
        is_first = place == 0 or token.after in _SENTENCE_ENDS
        is_capital = token.written[:1].isupper() and token.lowered not in _NO_NAMES
        if is_capital and (not is_first or token.written in owners or _is_subject(tokens, place)):
            yield token.written, english(token.lowered, past=False)


def _is_subject(tokens: Sequence[Token], place: int) -> bool:
    """Say whether something is said of the first word of a sentence."""
    if place + 1 == len(tokens) or tokens[place].lowered in ENGLISH.imperatives:
        return False
    word = tokens[place + 1].lowered
    if word in ("and", "or"):
        return place + 2 < len(tokens) and tokens[place + 2].written[:1].isupper()
    return word in _VERBS or (
        len(word) > 3 and word.isalpha() and word.endswith(_ENDINGS) and not word.endswith(_OTHER_ENDINGS)
    )

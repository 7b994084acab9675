"""Slips of the pen in a query: one letter too many, one missing, another one, or two swapped.

A word that is in no passage is taken to mean the words that are one slip away. Words with digits are never taken so:
port 8081 does not mean port 8080.
"""

from collections.abc import Callable, Collection, Iterable
from dataclasses import replace

from ..text.stem import stem
from .words import Term

SHORTEST = 4
"""Letters of the shortest word that may be a slip; of three, one is too much of the word."""


def mend(
    terms: Iterable[Term], known: Callable[[str], bool], like: Callable[[str], Collection[str]]
) -> tuple[Term, ...]:
    """Let the words of a query that are in no passage mean those that they may be slips of.

    Args:
        terms: the words of a query.
        known: says whether a token is in any passage.
        like: returns spellings among which all are that are one slip away from this one.
    """
    return tuple(
        _meaning(term, [other for other in sorted(like(term.spelling)) if one_slip(term.spelling, other)])
        if len(term.spelling) >= SHORTEST and not any(map(known, (*term.tokens, *term.forms)))
        else term
        for term in terms
    )


def one_slip(one: str, other: str) -> bool:
    """Say whether one slip turns one word into the other; a word is not a slip of itself."""
    if one == other or abs(len(one) - len(other)) > 1:
        return False
    longer, shorter = (one, other) if len(one) > len(other) else (other, one)
    start = 0
    while start < len(shorter) and one[start] == other[start]:
        start += 1
    if longer[start + 1 :] == shorter[start + (len(longer) == len(shorter)) :]:
        return True
    return one[start : start + 2] == other[start : start + 2][::-1] and one[start + 2 :] == other[start + 2 :]


def untouched(word: str) -> tuple[str, str]:
    """Return a beginning and an end of a word of which every slip leaves one as it is, to look others up by."""
    middle = len(word) // 2
    return word[: middle - 1], word[middle + 1 :]


def _meaning(term: Term, spellings: list[str]) -> Term:
    meant = {stem(spelling): spelling for spelling in spellings}
    return replace(term, tokens=tuple(meant), meant=tuple(meant.values()), forms=()) if meant else term

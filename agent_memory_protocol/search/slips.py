"""What a word of a query may mean that is in no passage: a slip of the pen, or a part of longer words.

A slip is one letter too many, one missing, another one, or two swapped. Words with digits are never taken so: port 8081
does not mean port 8080. Where no word is one slip away, those count that begin or end with it: `Datenbank` finds
`Datenbankverbindung`, `sunucu` finds `sunucusu`. Where no word does, it may be two words: `worktree`.
"""

from collections.abc import Callable, Collection, Iterable
from dataclasses import replace

from ..text.stem import stem
from .words import Term

SHORTEST = 4  # Letters of the shortest word that may be a slip; of three, one is too much of the word

_SHORTEST_HALF = 3  # Letters of the shortest word of two that are written as one

_SHORTEST_BEGINNING, _SHORTEST_END, _MOST = 5, 7, 20
"""Letters of the shortest word that others may begin or end with, and how many count, the shortest ones.

An end needs more letters: `recommended` is not about what was mended.
"""


def mend(
    terms: Iterable[Term], known: Callable[[str], bool], like: Callable[[str], Collection[str]]
) -> tuple[Term, ...]:
    """Let the words of a query that no passage knows mean those that they may be slips or parts of.

    `like` returns spellings among which all are that are one slip away from this one, or begin or end with it.
    """
    found = list[Term]()
    for term in terms:
        if len(term.spelling) < SHORTEST or any(map(known, (*term.tokens, *term.forms))):
            found.append(term)
        else:
            meant = _meaning(term, like(term.spelling))
            cut = () if meant != term else (both for both in halves(term) if all(known(one.tokens[0]) for one in both))
            found += next(iter(cut), [meant])
    return tuple(found)


def halves(term: Term) -> list[list[Term]]:
    """Return each two words that may be written as this one, the most even ones first: `work`, `tree` of `worktree`."""
    word = term.spelling
    cuts = sorted(range(_SHORTEST_HALF, len(word) - _SHORTEST_HALF + 1), key=lambda cut: abs(2 * cut - len(word)))
    return [
        [replace(term, tokens=(stem(half),), spelling=half, shown=half) for half in (word[:cut], word[cut:])]
        for cut in cuts
    ]


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


def _meaning(term: Term, spellings: Collection[str]) -> Term:
    word = term.spelling
    if slips := sorted(other for other in spellings if one_slip(word, other)):
        meant = {stem(spelling): spelling for spelling in slips}
        return replace(term, tokens=tuple(meant), meant=tuple(meant.values()), forms=())
    begins, ends = len(word) >= _SHORTEST_BEGINNING, len(word) >= _SHORTEST_END
    longer = [one for one in spellings if (begins and one.startswith(word)) or (ends and one.endswith(word))]
    shortest = sorted(longer, key=lambda one: (len(one), one))[:_MOST]
    return replace(term, forms=tuple(dict.fromkeys(map(stem, shortest))))

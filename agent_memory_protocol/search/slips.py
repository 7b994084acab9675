"""What a word of a query may mean that is in no passage: a slip of the pen, or a part of longer words.

A slip is one letter too many, one missing, another one, or two swapped; a long word may have two. Words with digits are
never taken so: port 8081 does not mean port 8080. Where no word is a slip away, those count that begin or end with
it: `Datenbank` finds `Datenbankverbindung`, `sunucu` finds `sunucusu`. `worktree` finds `work tree`. Last comes what
few people mistype, and counts little: the first letter, or another letter in a short word, as `Marta` for `Maria`.
"""

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import replace
from itertools import islice

from ..text.stem import stem
from .words import Term

SHORTEST = 4  # Letters of the shortest word that may be a slip; of three, one is too much of the word

LONG = 8  # Letters of the shortest word that may have two slips

_SHORT = 5
"""Letters of the longest word that another letter mostly makes another word.

Of the words so short that a memory does not know, two in five are one letter away from one that it knows.
"""

_VOWELS = frozenset("aeiouy")

_SHORTEST_HALF = 3  # Letters of the shortest word of two that are written as one

_SHORTEST_BEGINNING, _SHORTEST_END, _MOST = 5, 7, 20
"""Letters of the shortest word that others may begin or end with, and how many count, the shortest ones.

An end needs more letters: `recommended` is not about what was mended.
"""


def mend(
    terms: Sequence[Term], known: Callable[[str], bool], like: Callable[[str], Collection[str]]
) -> tuple[Term, ...]:
    """Let the words of a query that no passage knows mean those that they may be slips or parts of.

    `like` returns spellings among which all are that are one slip away from this one, or two from a long one, or begin
    or end with it. Only those count that `known` knows; it knows two tokens with a blank between them where they follow
    each other.
    """
    found, asked = list[Term](), {token for term in terms for token in term.tokens}
    for place, term in enumerate(terms):
        if len(term.spelling) < SHORTEST:
            found.append(term)
        elif any(map(known, (*term.tokens, *term.forms))):
            # Who asks for `work-tree` asks for both words, too.
            apart = [both for both in _apart(term.spelling, known) if not asked.issuperset(both.split(" "))]
            found.append(replace(term, forms=(*term.forms, *apart)) if apart else term)
        else:
            found.append(_meaning(term, known, like(term.spelling), may_be_name=place > 0 and not term.shown.islower()))
    return tuple(found)


def halves(word: str) -> list[str]:
    """Return each two tokens that may be written as one word, with a blank between them: `work tree` of `worktree`."""
    cuts = range(_SHORTEST_HALF, len(word) - _SHORTEST_HALF + 1)
    return [f"{stem(word[:cut])} {stem(word[cut:])}" for cut in cuts]


def _apart(word: str, known: Callable[[str], bool]) -> tuple[str, ...]:
    return tuple([both for both in halves(word) if all(map(known, both.split(" "))) and known(both)])


def slipped(one: str, other: str, most: int = 1) -> bool:
    """Say whether so many slips, or fewer, turn one word into the other."""
    if abs(len(one) - len(other)) > most:
        return False
    start = 0
    while start < min(len(one), len(other)) and one[start] == other[start]:
        start += 1
    one, other = one[start:], other[start:]
    if one == other or not most:
        return one == other
    if one[:2] == other[1::-1] and slipped(one[2:], other[2:], most - 1):
        return True
    return any(slipped(one[left:], other[right:], most - 1) for left, right in ((1, 1), (1, 0), (0, 1)))


def untouched(word: str) -> tuple[str, str]:
    """Return a beginning and an end of a word of which every slip leaves one as it is, to look others up by."""
    middle = len(word) // 2
    return word[: middle - 1], word[middle + 1 :]


def thirds(word: str) -> tuple[str, str, str]:
    """Return three parts of a word. Two slips mostly leave one of them as it is, and only such two are looked for."""
    third = len(word) // 3
    return word[:third], word[third:-third], word[-third:]


def _meaning(term: Term, known: Callable[[str], bool], spellings: Collection[str], *, may_be_name: bool) -> Term:
    """Return what a word may mean that no passage has."""
    word = term.spelling
    near = [one for one in sorted(spellings) if one != word and slipped(word, one) and known(stem(one))]
    if likely := [one for one in near if _is_likely(term, one)]:
        return _instead(term, likely)
    begins, ends = len(word) >= _SHORTEST_BEGINNING, len(word) >= _SHORTEST_END
    longer = [one for one in spellings if (begins and one.startswith(word)) or (ends and one.endswith(word))]
    shortest = (stem(one) for one in sorted(longer, key=lambda one: (len(one), one)))
    if forms := tuple(islice((one for one in dict.fromkeys(shortest) if known(one)), _MOST)) or _apart(word, known):
        return replace(term, forms=forms)
    if near:
        doubtful = _instead(term, near)
        return replace(doubtful, tokens=(), forms=doubtful.tokens)
    if len(word) >= LONG and not may_be_name:
        near = [one for one in sorted(spellings) if _is_twice_slipped(word, one) and known(stem(one))]
    return _instead(term, near) if near else replace(term, forms=())


def _is_likely(term: Term, other: str) -> bool:
    """Say whether people write this word for that one, which is a slip away, and not because they mean another."""
    word = term.spelling
    if term.shown[:1].isupper() and word[:-1] == other[:-1]:
        return False  # Johanna is not Johanne
    if len(word) >= LONG:
        return True
    if word[0] != other[0]:
        return word[:2] == other[1::-1]
    if len(word) > _SHORT or len(word) < len(other) or sorted(word) == sorted(other):
        return True
    place = next((at for at, letter in enumerate(other) if word[at] != letter), len(other))
    if len(word) > len(other):
        return word[place] == word[place - 1]
    return len(word) == _SHORT and place < len(word) - 1 and {word[place], other[place]} <= _VOWELS


def _is_twice_slipped(word: str, other: str) -> bool:
    """Say whether a word is written for that one with two slips.

    What has other letters at its end is another word: `databank`, `database`. So is what has a consonant that the other
    has not, unless only that is wrong beside what is missing: `inspection`, `injection`.
    """
    if word[0] != other[0] or other.startswith(word[:-2]) or not any(part in other for part in thirds(word)):
        return False
    if not slipped(word, other, 2):
        return False
    more = Counter(word) - Counter(other)
    return more.total() <= 1 or all(letter in _VOWELS or letter in other for letter in more)


def _instead(term: Term, spellings: Iterable[str]) -> Term:
    meant = {stem(spelling): spelling for spelling in spellings}
    return replace(term, tokens=tuple(meant), meant=tuple(meant.values()), forms=())

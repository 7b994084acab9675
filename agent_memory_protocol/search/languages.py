"""Other forms of a word in nine languages beside English, by Snowball's stemmers where `snowballstemmer` is installed.

An index is the same with the stemmers and without: they are asked at a query, which of the words that the memory has
are forms of one that is asked for. Which languages a memory is written in, its little words say.
"""

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from functools import cache, lru_cache
from importlib.util import find_spec
from typing import TYPE_CHECKING

from ..text.stem import stem
from .words import Term

if TYPE_CHECKING:
    from snowballstemmer.basestemmer import BaseStemmer

_HAS_STEMMERS = find_spec("snowballstemmer") is not None

_LITTLE_WORDS = {
    "danish": "og ikke af til skal efter bliver hvor hvad eller kun blev",
    "dutch": "het een niet wordt zijn voor naar bij zonder welke wat maar wordt werd",
    "french": "les des est une dans pour avec sur pas aux quel quelle sont comment ou",
    "german": "und der das nicht ist wird werden nach wo wie welche nur bei auf sind ein eine",
    "italian": "della che gli sono una viene nel dopo senza dove quale delle dei come ogni",
    "portuguese": "nao uma pelo sao depois sem onde qual como para quando cada apenas foi",
    "russian": "и не на что для по из при после где как какой какая только",
    "spanish": "los las una del por despues donde cual como para cuando cada solo fue sin",
    "swedish": "och att som inte av efter ska blir var vad eller bara blev vilken",
}
"""For each language words that texts in it have and texts in English, on the whole, have not."""

_ENOUGH, _OFTEN = 3, 0.01
"""A memory is in a language where so many of its little words are in the query, or each in such a share of passages."""

_LOST = {
    "french": [(re.compile("e(es?)$"), r"é\1")],
    "portuguese": [(re.compile("ao$"), "ão"), (re.compile("oes$"), "ões"), (re.compile("c([ãõ])"), r"ç\1")],
    "russian": [(re.compile("(?<=[аеиоуыэюя])и$"), "й")],
}
"""Accents that words have lost, and that an ending is not known without."""

_JOINING = {"danish", "dutch", "german", "swedish"}
"""Languages that write words together: what begins with a word of five letters or more is a form of it, too."""

_SHORTEST, _BEGINNING = 4, 3
"""Letters of the shortest word that has forms, and those that all its forms begin with, at least."""

_MOST = 60  # So many words that begin alike are looked at


def inflect(
    terms: Sequence[Term], share: Callable[[str], float], beginning_with: Callable[[str, int], Iterable[str]]
) -> Sequence[Term]:
    """Add to the words of a query their forms in the memory, where its languages, and stemmers, are known.

    `share` is that of the passages that hold a token, `beginning_with` the words that begin with some letters, so
    many.
    """
    if not _HAS_STEMMERS:
        return terms
    asked = {token for term in terms for token in term.tokens}
    languages = [
        language
        for language, tokens in _little_tokens().items()
        if sum(token in asked or share(token) >= _OFTEN for token in tokens) >= _ENOUGH
    ]
    return [_with_forms(term, languages, beginning_with) for term in terms] if languages else terms


def _with_forms(term: Term, languages: Iterable[str], beginning_with: Callable[[str, int], Iterable[str]]) -> Term:
    word = term.spelling
    if len(word) < _SHORTEST or word.isdigit():
        return term
    forms = dict.fromkeys(term.forms)
    for language in languages:
        root = _root(language, word)
        start = root[: max(_BEGINNING, len(root) - 1)]
        if word.startswith(start):
            joins = language in _JOINING and len(root) > _SHORTEST
            alike = (
                one
                for one in sorted(beginning_with(start, _MOST))
                if _root(language, one) == root or (joins and one.startswith(root))
            )
            forms |= dict.fromkeys(stem(one) for one in alike)
    return replace(term, forms=tuple(one for one in forms if one not in term.tokens))


@cache
def _little_tokens() -> dict[str, frozenset[str]]:
    # A word with an English ending is found as another one: `dans` as `dan`.
    return {
        language: frozenset(word for word in words.split() if stem(word) == word)
        for language, words in _LITTLE_WORDS.items()
    }


@lru_cache(maxsize=1 << 14)
def _root(language: str, word: str) -> str:
    """Return a word without its endings; twice, as some have two."""
    for lost, accented in _LOST.get(language, ()):
        word = lost.sub(accented, word)
    stemmer = _stemmer(language)
    return str(stemmer.stemWord(stemmer.stemWord(word)))


@cache
def _stemmer(language: str) -> "BaseStemmer":
    import snowballstemmer

    return snowballstemmer.stemmer(language)

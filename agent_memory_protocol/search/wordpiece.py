"""A text as the numbers that BERT models read: words, and where a word is rare, the pieces of it that are not."""

from collections.abc import Iterator, Mapping
from functools import lru_cache
from itertools import groupby
from unicodedata import category, normalize

_LONGEST = 100  # Letters of the longest word that is taken apart; a longer one is unknown

_IDEOGRAPHS = ((0x4E00, 0x9FFF), (0x3400, 0x4DBF), (0x20000, 0x2CEAF), (0xF900, 0xFAFF), (0x2F800, 0x2FA1F))
"""What the model was taught as single characters."""


def pieces(text: str, vocabulary: Mapping[str, int], longest: int) -> list[int]:
    """Return the numbers of a text's pieces between those that mean start and end, at most `longest` in all."""
    found = [vocabulary["[CLS]"]]
    for word in _words(text):
        found += _pieces(word, vocabulary)
        if len(found) >= longest:
            break
    return [*found[: longest - 1], vocabulary["[SEP]"]]


def _words(text: str) -> Iterator[str]:
    """Yield words and single marks, in lower case and without accents."""
    spaced = "".join(map(_apart, text.lower()))
    bare = "".join(character for character in normalize("NFD", spaced) if category(character) != "Mn")
    for word in bare.split():
        for are_marks, characters in groupby(word, _is_mark):
            found = "".join(characters)
            yield from found if are_marks else [found]


def _pieces(word: str, vocabulary: Mapping[str, int]) -> list[int]:
    found: list[int] = []
    start = 0
    while start < len(word) <= _LONGEST:
        prefix = "##" if start else ""
        end = next((end for end in range(len(word), start, -1) if prefix + word[start:end] in vocabulary), start)
        if end == start:
            break
        found.append(vocabulary[prefix + word[start:end]])
        start = end
    return found if start == len(word) else [vocabulary["[UNK]"]]


@lru_cache(maxsize=1 << 12)
def _apart(character: str) -> str:
    """Return a character with what it needs around it to be a word, or nothing where it is invisible."""
    if character in "\t\n\r":
        return " "
    kind = category(character)
    if kind in ("Cc", "Cf", "Co") or character == "\ufffd":
        return ""
    if any(first <= ord(character) <= last for first, last in _IDEOGRAPHS):
        return f" {character} "
    return " " if kind == "Zs" else character


@lru_cache(maxsize=1 << 12)
def _is_mark(character: str) -> bool:
    return category(character)[0] == "P" or (character.isascii() and not character.isalnum())

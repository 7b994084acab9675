"""English words without their endings, by Porter's algorithm of 1980.

Search takes every ending away: `migrations` and `migrate` both become `migrat`. Claims are compared by its first steps
alone, which take a word's form away and never its sense: `product` and `production` stay two words.

It is our own so that an index and a scan agree to the letter. SQLite has the same algorithm, and a test compares them.
"""

import re
from collections.abc import Callable
from functools import lru_cache

_CACHED = 1 << 16

_CONSONANT = "[^aeiou]"
_VOWEL = "[aeiouy]"
_CONSONANTS = "[^aeiou][^aeiouy]*"
_VOWELS = "[aeiouy][aeiou]*"

_HAS_MEASURE = re.compile(f"^({_CONSONANTS})?{_VOWELS}{_CONSONANTS}")
_MEASURE_IS_ONE = re.compile(f"^({_CONSONANTS})?{_VOWELS}{_CONSONANTS}({_VOWELS})?$")
_MEASURE_IS_MORE = re.compile(f"^({_CONSONANTS})?{_VOWELS}{_CONSONANTS}{_VOWELS}{_CONSONANTS}")
_HAS_VOWEL = re.compile(f"^({_CONSONANTS})?{_VOWEL}")
_SHORT = re.compile(f"^{_CONSONANTS}{_VOWEL}[^aeiouwxy]$")
_DOUBLE = re.compile(r"([^aeiouylsz])\1$")

_STEP_2 = {
    "ational": "ate",
    "tional": "tion",
    "enci": "ence",
    "anci": "ance",
    "izer": "ize",
    "bli": "ble",
    "alli": "al",
    "entli": "ent",
    "eli": "e",
    "ousli": "ous",
    "ization": "ize",
    "ation": "ate",
    "ator": "ate",
    "alism": "al",
    "iveness": "ive",
    "fulness": "ful",
    "ousness": "ous",
    "aliti": "al",
    "iviti": "ive",
    "biliti": "ble",
    "logi": "log",
}
_STEP_3 = {"icate": "ic", "ative": "", "alize": "al", "iciti": "ic", "ical": "ic", "ful": "", "ness": ""}
_STEP_4 = (
    *("al", "ance", "ence", "er", "ic", "able", "ible", "ant", "ement", "ment", "ent", "ou", "ism", "ate", "iti"),
    *("ous", "ive", "ize"),
)
_ENDING_2 = re.compile(f"^(.+?)({'|'.join(_STEP_2)})$")
_ENDING_3 = re.compile(f"^(.+?)({'|'.join(_STEP_3)})$")
_ENDING_4 = re.compile(f"^(.+?)({'|'.join(_STEP_4)})$")


_IRREGULAR = {
    "built": "build",
    "chosen": "choose",
    "found": "find",
    "kept": "keep",
    "made": "make",
    "ran": "run",
    "sent": "send",
    "written": "write",
    "wrote": "write",
}


@lru_cache(maxsize=_CACHED)
def stem(word: str) -> str:
    """Return a word without its English endings. It is in lower case; what is not all ASCII letters stays as it is."""
    return _cut(word, _plural, _past, _final_y, _long_endings, _last_ending, _final_e, _final_l)


@lru_cache(maxsize=_CACHED)
def base(word: str, *, past: bool = True) -> str:
    """Return a word without its plural, third-person, past and -ing endings; without `past`, `used` is not `use`."""
    if past:
        return _cut(_IRREGULAR.get(word, word), _plural, _past, _final_y, _final_e)
    return _cut(word, _plural, *(() if word.endswith("ed") else (_past,)), _final_y, _final_e)


def _cut(word: str, *steps: Callable[[str], str]) -> str:
    if len(word) < 3 or not (word.isascii() and word.isalpha()):
        return word
    # A y at the start is a consonant; a capital keeps it from being taken for a vowel.
    word = f"Y{word[1:]}" if word[0] == "y" else word
    for step in steps:
        word = step(word)
    return word.lower()


def _plural(word: str) -> str:
    if word.endswith(("sses", "ies")):
        return word[:-2]
    return word[:-1] if word.endswith("s") and not word.endswith("ss") else word


def _past(word: str) -> str:
    if word.endswith("eed"):
        return word[:-1] if _HAS_MEASURE.match(word[:-3]) else word
    base = word.removesuffix("ed") if word.endswith("ed") else word.removesuffix("ing")
    if base == word or not _HAS_VOWEL.match(base):
        return word
    if base.endswith(("at", "bl", "iz")) or _SHORT.match(base):
        return f"{base}e"
    return base[:-1] if _DOUBLE.search(base) else base


def _final_y(word: str) -> str:
    return f"{word[:-1]}i" if word.endswith("y") and _HAS_VOWEL.match(word[:-1]) else word


def _long_endings(word: str) -> str:
    for ending, shorter in ((_ENDING_2, _STEP_2), (_ENDING_3, _STEP_3)):
        found = ending.match(word)
        if found and _HAS_MEASURE.match(found[1]):
            word = found[1] + shorter[found[2]]
    return word


def _last_ending(word: str) -> str:
    found = _ENDING_4.match(word)
    if found:
        return found[1] if _MEASURE_IS_MORE.match(found[1]) else word
    base = word.removesuffix("ion")
    return base if base != word and base.endswith(("s", "t")) and _MEASURE_IS_MORE.match(base) else word


def _final_e(word: str) -> str:
    if not word.endswith("e"):
        return word
    rest = word[:-1]
    is_long = _MEASURE_IS_MORE.match(rest) or (_MEASURE_IS_ONE.match(rest) and not _SHORT.match(rest))
    return rest if is_long else word


def _final_l(word: str) -> str:
    return word[:-1] if word.endswith("ll") and _MEASURE_IS_MORE.match(word) else word

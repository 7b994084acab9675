"""Tense: whether a sentence tells what was, by a word that says so or by the form of its verb.

“Ana led the team” is over, and “Ana leads the team” is not: neither repeats nor denies the other. English does not tell
a verb of the past from “cached entries” by its ending alone, so a sentence that has another verb tells what is.
"""

from collections.abc import Sequence

from .language import ENGLISH, Language, Token, word_set

_SURELY = word_set(
    "became began broke came chose drew drove fell forgot froze gave grew knew ran saw spoke stole took threw went wore"
    " wrote"
)
_PAST = _SURELY | word_set(
    "bought brought built caught felt found got held hid kept led lost made meant met paid said sent sold spent stood"
    " taught thought told won"
)
_PARTICIPLES = word_set(
    "bought bound brought built caught cut done drawn fed found gone held hit kept known led lost made met paid put"
    " read run sent set shown shut sold spent split taken taught thrown told understood won written"
)
_NO_PAST = word_set("embed hundred needed required")
_HAVE = word_set("has have")
_VERBS = _HAVE | word_set(
    "am are can cannot could do does get gets is may might must need needs require requires shall should use uses will"
    " would"
)
"""What is, can be or must be; behind them, what ends in “ed” says how something is."""

_TELLING = word_set(
    "accept approve contain emit expose honor honour obey parse produce receive refuse retain scan strip support trust"
)
_KNOWN_VERBS = frozenset(map(ENGLISH.stem, ENGLISH.imperatives | _TELLING))
_BEFORE_NOUN = ENGLISH.empty | ENGLISH.prepositions | ENGLISH.directions | word_set("and or")
_SPEAKERS = word_set("he i she they we you")
_NEAR = 2


def is_past(tokens: Sequence[Token], language: Language = ENGLISH) -> bool:
    """Say whether a sentence tells what was, or has been done; of other languages, by their words alone."""
    lowered = [token.lowered for token in tokens]
    if not language.past.isdisjoint(lowered) or language is not ENGLISH:
        return not language.past.isdisjoint(lowered)
    if not _SURELY.isdisjoint(lowered) or "been" in lowered:
        return True
    ended = [place for place, word in enumerate(lowered) if place and _is_past_form(word)]
    if any(not _HAVE.isdisjoint(lowered[max(0, place - _NEAR) : place]) for place in ended):
        return True
    if (lowered and lowered[0] in ENGLISH.imperatives) or not _VERBS.isdisjoint(lowered):
        return any(lowered[place - 1] in _SPEAKERS for place in ended)
    return any(not _is_before_noun(lowered[place - 1]) for place in ended)


def is_known_verb(stem: str) -> bool:
    """Say whether a sentence may tell somebody to do what this stem says."""
    return stem in _KNOWN_VERBS


def is_participle(word: str) -> bool:
    """Say whether a word may tell behind “be” what is done to something: “kept”, “cached”."""
    is_known = not _PARTICIPLES.isdisjoint((word, word.removeprefix("re")))
    return is_known or (len(word) > 3 and word.endswith(("ed", "en")))


def _is_before_noun(word: str) -> bool:
    """Say whether what follows a word may say how something is: “the cached”, “retries failed”."""
    return word in _BEFORE_NOUN - _SPEAKERS or (word.endswith("s") and is_known_verb(ENGLISH.stem(word)))


def _is_past_form(word: str) -> bool:
    return word in _PAST or (len(word) > 3 and word.endswith("ed") and word[-3] != "e" and word not in _NO_PAST)

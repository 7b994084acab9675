"""Mood: whether a text claims something, asks or guesses it, and how firmly it demands it.

Texts of another mood never say the same: a question replaces no fact, and what should be is not what must be.
"""

import re
from collections.abc import Sequence
from functools import cache

from .language import ENGLISH, Language, Token, plain, tokenise

ASKS, GUESSES, ADVISES, OBLIGES = "a question", "a guess", "what should be", "what must be"
PLANS, PREFERS = "what is planned", "what is preferred"
ADDS, PICKS = "what is so as well", "one of several"

UNCLAIMED = frozenset([ASKS, GUESSES])  # The moods of what claims nothing

_SENTENCE = re.compile(r"(?<=[.!?？])\s+|\n+")
_TRAILING = "\"'`“”‘’„«»)]}*_ \t"
_INTERROGATIVE_WORDS = 2  # A question word may have one word with it: “Which port does it use”


def mood_of(text: str, language: Language = ENGLISH) -> frozenset[str]:
    """Return the moods of a text; a plain claim has none."""
    found: set[str] = set()
    for sentence in _SENTENCE.split(plain(text)):
        tokens = tokenise(sentence, language)
        if is_question(sentence, tokens, language):
            found.add(ASKS)
        words = {token.lowered for token in tokens}
        said = f" {' '.join([token.lowered for token in tokens])} "
        if not words.isdisjoint(language.guesses) or _says_one_of(language.guessing_phrases, said):
            found.add(GUESSES)
        if not words.isdisjoint(language.advice):
            found.add(ADVISES)
        if not words.isdisjoint(language.duty) or _says_one_of(language.duty_phrases, said):
            found.add(OBLIGES)
        if _says_one_of(language.plan_phrases, said):
            found.add(PLANS)
        if tokens and tokens[0].lowered in language.preferring:
            found.add(PREFERS)
        if not words.isdisjoint(language.adding) or _says_one_of(language.adding_ends, f"{said}. "):
            found.add(ADDS)
        if _picks_one(tokens, language):
            found.add(PICKS)
    return frozenset(found)


def _picks_one(tokens: Sequence[Token], language: Language) -> bool:
    """Say whether a sentence tells where one of several is, or what becomes of it: “An API is hosted in Oslo”."""
    words = [token.lowered for token in tokens]
    if not words or words[0] not in language.picking:
        return False
    verb = next((place for place, word in enumerate(words) if word in language.copulas), 0)
    done, *behind = [*words[verb + 1 : verb + 3], ""]
    is_needed = language.stem(done) in map(language.stem, language.needs)
    return verb > 1 and not is_needed and not language.prepositions.isdisjoint(behind)


def _says_one_of(phrases: tuple[str, ...], said: str) -> bool:
    return any(map(said.__contains__, _padded(phrases)))


@cache
def _padded(phrases: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(f" {phrase} " for phrase in phrases)


def is_question(sentence: str, tokens: Sequence[Token], language: Language = ENGLISH) -> bool:
    """Say whether a sentence asks: it ends with a question mark, or begins as questions do."""
    return sentence.rstrip(_TRAILING).endswith(("?", "？")) or _is_asked(tokens, language)


def _is_asked(tokens: Sequence[Token], language: Language) -> bool:
    """Say whether a sentence begins as questions do, with a verb in front of its subject."""
    words = [token.lowered for token in tokens]
    if len(words) > 1 and words[0] in language.question_words:
        return any(word in language.inverted | language.imperative_too for word in words[1 : 1 + _INTERROGATIVE_WORDS])
    if len(words) < 3 or (words[1] in language.negators and words[0] in language.imperative_too):
        return False
    if words[0] in language.imperative_too:
        return words[1] in language.subjects
    return words[0] in language.inverted

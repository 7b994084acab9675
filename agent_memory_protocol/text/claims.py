"""Tell whether two sentences say the same thing, or one the opposite of the other, by their words alone.

Where this says *same*, a memory is left out because another one stands for it. So it errs on one side: two texts
are the same only when, apart from case, punctuation, plurals and words that carry nothing, they hold the same words
in the same order. Ports, versions, paths, flags and names are compared letter by letter.
"""

import re
from dataclasses import dataclass
from functools import lru_cache
from unicodedata import normalize

SAME, OPPOSITE, DIFFERENT = "same", "opposite", "different"

_KEPT = 1_000
"""Characters of the longest text whose gist is kept in this process."""

_LONGEST_CLAIM = 400
_FEWEST_WORDS = 2
"""Of a text that is a single claim."""

_QUOTES = "\"'`“”‘’„«»"
_OPENING = _QUOTES + "([{"
_CLOSING = _QUOTES + ")]}.,;:!?…。、，！？；："

_ARTICLES = ["a", "an", "the", "this", "that", "these", "those", "it", "its", "it's", "any", "all", "every", "each"]
_AUXILIARIES = ["is", "are", "be", "do", "does", "must", "should", "shall"]
_MANNERS = ["please", "always", "simply", "just", "also", "really"]
_PREPOSITIONS = ["in", "on", "at", "of", "with"]  # "by" and "for" make a difference
_EMPTY = frozenset([*_ARTICLES, *_AUXILIARIES, *_MANNERS, *_PREPOSITIONS])
_SPEAKERS = frozenset(["i", "we", "you", "user"])
_OPENERS = frozenset(["note", "remember", "important", "reminder", "fyi"])
_SEPARATORS = "-–—•*·|/"
_NEGATIONS = frozenset(["not", "no", "never", "without", "cannot", "nor", "neither", "none", "avoid"])
_SHORT_FORMS = {
    "&": "and",
    "app": "application",
    "config": "configuration",
    "db": "database",
    "deps": "dependency",
    "dir": "directory",
    "docs": "documentation",
    "env": "environment",
    "prod": "production",
    "repo": "repository",
}
_LONGER = frozenset(["longer", "more"])
_NOT = re.compile(r"(.*)n['’]t")
_BEFORE_NOT = {"ca": "can", "cannot": "can", "wo": "will", "sha": "shall"}
_BOLD = re.compile(r"(?<![\w*])\*\*(?=\w)([^*]+)\*\*(?![\w*/])")
_MIXED_CASE = re.compile(r"[^\W\d_]*[a-zß-ÿ][A-Z]")


@dataclass(frozen=True, slots=True)
class Gist:
    """What is left of a sentence. Same words: it is about the same; same negations too: it says the same.

    Attributes:
        words: the words that carry meaning, in order.
        negations: before which of them a negation stands.
    """

    words: tuple[str, ...]
    negations: frozenset[int]


def compare(one: str, other: str) -> str:
    """Return `SAME`, `OPPOSITE` (the same words, negated in one of them) or `DIFFERENT`."""
    return compare_gists(gist(one), gist(other))


def compare_gists(one: Gist, other: Gist) -> str:
    """Compare what `gist` returned."""
    if one.words != other.words or not one.words:
        return DIFFERENT
    if one.negations == other.negations:
        return SAME
    # "Needs no approval" and "does not need approval" are no opposites.
    return OPPOSITE if (len(one.negations) - len(other.negations)) % 2 else DIFFERENT


def gist(text: str) -> Gist:
    """Reduce a sentence to the words that carry its meaning."""
    return _gist_once(text) if len(text) <= _KEPT else _gist(text)


def claim(text: str) -> Gist | None:
    """Return the gist of what another text could repeat or negate; None for a mere word, or more than one claim."""
    if len(text) > _LONGEST_CLAIM:
        return None
    told = gist(text)
    return told if len(told.words) >= _FEWEST_WORDS else None


@lru_cache(maxsize=4_000)
def _gist_once(text: str) -> Gist:
    """Reduce what is mostly compared again with the next text that comes."""
    return _gist(text)


def _gist(text: str) -> Gist:
    words: list[str] = []
    negations: set[int] = set()
    previous = ""
    tokens = _BOLD.sub(r"\1", normalize("NFC", text)).replace("’", "'").split()
    for token, following in zip(tokens, [*tokens[1:], ""], strict=False):
        bare = token.lstrip(_OPENING).rstrip(_CLOSING)
        lowered = bare.casefold()
        contraction = _NOT.fullmatch(lowered)
        negated = contraction is not None or lowered in _NEGATIONS
        if contraction is not None or lowered in _BEFORE_NOT:
            lowered = lowered if contraction is None else contraction[1]
            bare = lowered = _BEFORE_NOT.get(lowered, lowered)
        if not (
            lowered in _NEGATIONS
            or lowered in _EMPTY
            or (lowered in _SPEAKERS and not words)
            or (lowered in _OPENERS and not words and (token[-1] == ":" or following.casefold() == "that"))
            or (previous == "no" and lowered in _LONGER)
            or not bare.strip(_SEPARATORS)
        ):
            words.append(_word(lowered) if _is_plain(bare) else bare)
        if negated:
            negations ^= {len(words)}  # two negations cancel out
        previous = lowered
    return Gist(tuple(words), frozenset(negations))


def _is_plain(bare: str) -> bool:
    """Say whether it is a word, whose case and ending do not matter, and no name that code is called by."""
    return (bare.isalpha() and not _MIXED_CASE.match(bare)) or bare in _SHORT_FORMS


@lru_cache(maxsize=20_000)
def _word(lowered: str) -> str:
    """Return a word without its plural or third-person ending, and the base of its -ing form."""
    word = _SHORT_FORMS.get(lowered, lowered)
    if not word.isascii() or len(word) < 3:
        return word
    if word.endswith("ies") and len(word) > 4:
        return word[:-3] + "y"
    if len(word) > 3 and word.endswith("s") and not word.endswith(("ss", "us", "is")):
        word = word[:-1]
    base = word[:-3]
    if word.endswith("ing") and len(base) > 1 and any(vowel in base for vowel in "aeiouy"):
        if base[-1] == base[-2] and base[-1] not in "lsz":
            return base[:-1]
        return base
    # "using" and "use" meet without their last letter.
    return word[:-1] if word.endswith("e") and len(word) > 2 else word


def normalised(text: str) -> str:
    """Return what two lines that say the same word for word have in common; "" for one too short to tell."""
    plain = "".join(character if character.isalnum() else " " for character in text.casefold())
    words = plain.split()
    return " ".join(words) if len(words) >= 5 else ""

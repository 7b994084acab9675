"""The gist of a text: the words that carry its meaning, in order. Texts with the same gist say the same.

Where two texts say the same, one of them is left out. So this errs on one side: apart from case, punctuation, plurals
and words that carry nothing, both must have the same words in the same order. Ports, versions, paths, flags and names
are compared letter by letter.
"""

import re
from collections import Counter
from collections.abc import Sequence
from functools import lru_cache
from math import ceil
from unicodedata import normalize

from ..values import dataclass, once
from .east_asian import is_written_in
from .holding import sharing
from .language import ENGLISH, SHORT_FORMS, Token, english, plain, tokenise
from .mood import UNCLAIMED, mood_of
from .values import number_said

_KEPT = 1_000  # Characters of the longest text whose gist is kept in this process

_ALPHANUMERIC = re.compile(r"[^\W_]+")
_LONGEST_CLAIM = 400
_FEWEST_WORDS = 2  # Of a text that is a single claim

_ARTICLES = ["a", "an", "the", "this", "that", "these", "those", "it", "its", "any", "all", "every", "each"]
_AUXILIARIES = ["is", "are", "be", "do", "does", "must", "should", "shall"]
_MANNERS = ["please", "always", "simply", "just", "also", "really"]
_PREPOSITIONS = ["in", "on", "at", "of", "with"]  # "by" and "for" make a difference
_OFTEN = frozenset(["each", "every"])  # “every 5 minutes” is how often, and “5 minutes” how long
EMPTY = frozenset([*_ARTICLES, *_AUXILIARIES, *_MANNERS, *_PREPOSITIONS])
_SPEAKERS = frozenset(["i", "we", "you", "user"])
_OPENERS = frozenset(["note", "remember", "important", "reminder", "fyi"])
# Fewer than deny in a claim: "nobody" names who, and "never" does not.
_NEGATIONS = frozenset(["not", "no", "never", "without", "cannot", "nor", "neither", "none", "avoid"])
_LIMITED = frozenset(["at", "for", "from", "if", "in", "on", "when", "with"])
"""After “just”, say to what something is limited, as after “only”."""
_LONGER = frozenset(["longer", "more"])


@dataclass(frozen=True)
class Gist:
    """The words of a text that carry its meaning, in order, before which of them (by index) a negation is, its mood."""

    words: tuple[str, ...]
    negations: frozenset[int]
    mood: frozenset[str] = frozenset()

    @property
    def is_claim(self) -> bool:
        """Whether the text says something: it neither asks nor guesses."""
        return UNCLAIMED.isdisjoint(self.mood)

    @once
    def bag(self) -> frozenset[str]:
        """The words in no order."""
        return frozenset(self.words)


class Near:
    """Says of texts, letter by letter, which may have enough words of one text to claim the same or to deny it.

    It leaves out none that has them, and is a hundred times as fast as a look at the words themselves.
    """

    def __init__(self, text: str) -> None:
        self.words = words = gist(text).bag
        # Without blanks a sentence is one word, so there is nothing to share.
        self.enough = 0 if is_written_in(text) else max(1, min(_FEWEST_WORDS, len(words) // 2))
        self._begin = [_beginnings(word) for word in words]

    def __call__(self, text: str) -> bool:
        """Say so of a text, which may be a whole file."""
        if not self.enough:
            return True
        lowered = (text if text.isascii() else normalize("NFC", text).replace("’", "'")).casefold()
        count = 0
        for word in self._begin:
            for one in word:
                if one in lowered:
                    count += 1
                    break
            if count == self.enough:
                return True
        return False


def _beginnings(word: str) -> tuple[str, ...]:
    """Return what every form of a word begins with, its short form included."""
    short = [one for one, long in SHORT_FORMS.items() if english(long, past=False) == word]
    lowered = word.casefold()
    return (lowered[:-1] if lowered[-1:] in ("e", "i") and len(lowered) > 2 else lowered, *short)


def gist(text: str) -> Gist:
    """Reduce a text to the words that carry its meaning."""
    return _gist_once(text) if len(text) <= _KEPT else _gist(text)


def same(one: str, other: str) -> bool:
    """Say whether two texts claim the same. Texts without a word that carries meaning never do."""
    first = gist(one)
    return bool(first.words) and first.is_claim and first == gist(other)


def is_claim(text: str) -> bool:
    """Say whether another text could repeat or deny this one: it is more than one word, not long, and no code."""
    if len(text) > _LONGEST_CLAIM or "```" in text:
        return False
    return len(gist(text).words) >= _FEWEST_WORDS


def shared_words(texts: Sequence[str], common: int, *, least: float = 0.0) -> dict[tuple[int, int], float]:
    """Return, for the places of two texts with a rare word in common, which part of all their words both have.

    A word that more than `common` texts have is not rare, so that many texts take time in proportion to their number.
    Pairs that share less than the part `least` are left out.
    """
    words = [gist(text).bag for text in texts]
    counts = Counter(word for own in words for word in own)
    # Two texts that share enough share one of their rarest words: the others are too few to hold all they share.
    few = [len(own) - ceil(least * len(own) - 1e-9) + 1 for own in words]
    rarest = [
        [word for word in sorted(own, key=lambda one: (counts[one], one))[:count] if counts[word] <= common]
        for own, count in zip(words, few, strict=True)
    ]
    near = sharing(rarest, common)
    shares = {(one, other): len(words[one] & words[other]) / len(words[one] | words[other]) for one, other in near}
    return {pair: share for pair, share in shares.items() if share >= least}


def forget(most: int) -> None:
    """Let go of what was kept in this process, where it is more than so many texts."""
    if _gist_once.cache_info().currsize > most:
        _gist_once.cache_clear()


def normalised(text: str) -> str:
    """Return what two lines that say the same word for word have in common; "" for one too short to tell."""
    words = _ALPHANUMERIC.findall(text.casefold())
    return " ".join(words) if len(words) >= 5 else ""


@lru_cache(maxsize=1 << 18)
def _gist_once(text: str) -> Gist:
    """Reduce a text that is likely to be compared again with the next one that comes."""
    return _gist(text)


def _gist(text: str) -> Gist:
    words, negations = words_of(tokenise(plain(text), ENGLISH))
    return Gist(tuple(word for word, _ in words), negations, mood_of(text))


def words_of(tokens: Sequence[Token]) -> tuple[list[tuple[str, int]], frozenset[int]]:
    """Return the words that carry the meaning of tokens, each with its place, and where the negations are."""
    words: list[tuple[str, int]] = []
    negations: set[int] = set()
    previous = ""
    for place, (token, following) in enumerate(zip(tokens, [*tokens[1:], None], strict=False)):
        word = token.lowered
        if word in _NEGATIONS:
            words += [("can", place)] if word == "cannot" else []
            negations ^= {len(words)}  # two negations cancel out
        elif not (
            (word in EMPTY and not (word in _OFTEN and _is_number(following)) and not _limits(word, words, following))
            or (not words and ((word in _SPEAKERS and previous != "a") or _opens(word, following)))
            or (previous == "no" and word in _LONGER)
        ) or (previous == "not" and word in ENGLISH.partial):
            words.append((english(word, past=False) if token.is_plain else token.written, place))
        previous = word
    return words, frozenset(negations)


def _is_number(token: Token | None) -> bool:
    return token is not None and (token.lowered[:1].isdigit() or number_said(token.lowered) != "")


def _limits(word: str, before: Sequence[object], following: Token | None) -> bool:
    """Say whether a word limits what is said before it: “Tag releases just on Fridays”."""
    return word == "just" and bool(before) and following is not None and following.lowered in _LIMITED


def _opens(word: str, following: Token | None) -> bool:
    """Say whether a word only announces what comes: "Note: …", "Remember that …"."""
    return word in _OPENERS and following is not None and (following.after == ":" or following.lowered == "that")

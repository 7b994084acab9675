"""A vector for a text, made without a model: the same everywhere and always, so texts of common words lie close.

Every word, and every three letters in a row of it, add to a place of the vector that a hash names. So forms and
misspellings of a word are close to it; that two words mean the same, only a model knows.
"""

import math
import re
from collections.abc import Sequence
from functools import lru_cache
from unicodedata import normalize

from ..errors import InvalidArgument
from ..text.digest import blake2b

DIMENSIONS = 256

_LONG = 8  # Letters from which a word counts fully; shorter ones say less: `the`, `is`

_WORD = re.compile(r"\w+")


class HashEmbedder:
    """Makes vectors without a model; the narrower they are, the more words share a place."""

    def __init__(self, dimensions: int = DIMENSIONS) -> None:
        if dimensions < 1:
            raise InvalidArgument(f"a vector cannot be {dimensions} wide; give a number from 1")
        self.dimensions = dimensions

    @property
    def name(self) -> str:
        """What makes these vectors."""
        return f"hash-{self.dimensions}"

    def embed(self, texts: Sequence[str]) -> list[Sequence[float]]:
        """Return one vector for each text, of length 1, or all zeros for a text without words."""
        return [self._vector(text) for text in texts]

    def _vector(self, text: str) -> list[float]:
        vector = [0.0] * self.dimensions
        for word in _WORD.findall(normalize("NFKC", text).casefold()):
            for place, weight in _features(word):
                vector[place % self.dimensions] += weight
        length = math.sqrt(sum(number * number for number in vector))
        return [number / length for number in vector] if length else vector


@lru_cache(maxsize=1 << 14)
def _features(word: str) -> tuple[tuple[int, float], ...]:
    """Return to which places a word adds how much."""
    framed = f"<{word}>"
    threes = [framed[start : start + 3] for start in range(len(framed) - 2)]
    weight = min(len(word), _LONG) / _LONG
    return (_hashed(word, weight), *(_hashed(three, weight / math.sqrt(len(threes))) for three in threes))


def _hashed(feature: str, weight: float) -> tuple[int, float]:
    digest = blake2b(feature.encode("utf-8", "surrogatepass"), digest_size=9).digest()
    # Half of the features subtract, so that what shares a place by accident cancels out on the whole.
    return int.from_bytes(digest[:8], "big"), weight if digest[8] % 2 else -weight

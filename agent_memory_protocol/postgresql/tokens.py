"""The words of a record as a `tsvector`: ours, so that the server finds by the same words as an index on this machine.

What the text says stands under the weight A, and its tags, which are around it, under D. There are as many positions as
occurrences; where in the text they were is not kept.
"""

from collections import Counter
from dataclasses import dataclass
from itertools import islice

from ..records.record import Record
from ..search import words

WORDS = 2
"""How texts are read; goes up when `words` reads them differently. Then `init-store` reads every record again."""

_MOST = 255
"""How many occurrences a tsvector keeps of one word."""

_LONGEST = 20_000
"""How many different words of a record are kept: a tsvector has an end, and no memory of this package comes near."""


@dataclass(frozen=True, slots=True)
class Tokens:
    """What finds a record: its tsvector, None where nothing should; how many words it has; and the plain ones."""

    vector: str | None
    size: int
    spellings: frozenset[str]


def tokens_of(record: Record) -> Tokens:
    """Return what finds a record; nothing finds one that was redacted."""
    if record.redacted:
        return Tokens(None, 0, frozenset())
    spellings: set[str] = set()
    text, tags = (Counter(words.tokens(part, spellings)) for part in (record.body, " ".join(record.tags)))
    vector = " ".join(f"'{token}':{_places(text[token], tags[token])}" for token in islice(text | tags, _LONGEST))
    return Tokens(vector, text.total() + tags.total(), frozenset(spellings))


def words_of(record: Record) -> dict[str, str]:
    """Return the plain words of a record, each with its token."""
    return {word: token for word, token in words.read(" ".join((record.body, *record.tags))) if word}


def _places(inside: int, around: int) -> str:
    inside = min(inside, _MOST - 1)
    around = min(around, _MOST - inside)
    places = [f"{place}A" for place in range(1, inside + 1)]
    return ",".join([*places, *map(str, range(inside + 1, inside + around + 1))])

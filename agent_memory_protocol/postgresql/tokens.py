"""The words of a record as a `tsvector`: ours, so that the server finds by the same words as an index on this machine.

Words of the text have the weight A; those of its tags, which are around it, have D. There are as many positions as
occurrences; where in the text they were is not kept.
"""

from collections import Counter
from itertools import islice

from ..records.record import Record
from ..search import words
from ..search.names import called
from ..search.numbered import numbered
from ..values import dataclass

WORDS = 4
"""How texts are read; goes up when `words` reads them differently. Then `init-store` reads every record again."""

_MOST = 255  # How many occurrences a tsvector keeps of one word

_LONGEST = 20_000
"""How many different words of a record are kept: a tsvector has an end, and no memory of this package comes near."""


@dataclass(frozen=True, slots=True)
class Tokens:
    """What finds a record."""

    # each word, a blank, and a weight for each occurrence: `disk AAD`; None if nothing should find it
    marks: tuple[str, ...] | None
    size: int
    spellings: frozenset[str]  # the plain ones

    @property
    def vector(self) -> str | None:
        """The words as a tsvector, as SQL spells it."""
        return None if self.marks is None else " ".join(map(_spelled, self.marks))


def tokens_of(record: Record) -> Tokens:
    """Return what finds a record; nothing finds one that was redacted."""
    if record.redacted:
        return Tokens(None, 0, frozenset())
    spellings: set[str] = set()
    around = "\n".join(record.tags)
    text, tags = (Counter(words.tokens(part, spellings)) for part in (record.body, around))
    size = text.total()
    text.update(numbered(record.body))
    tags.update([*numbered(around), *called(record.body, around)])
    marks = (f"{token} {('A' * text[token] + 'D' * tags[token])[:_MOST]}" for token in islice(text | tags, _LONGEST))
    return Tokens(tuple(marks), size, frozenset(spellings))


def words_of(record: Record) -> dict[str, str]:
    """Return the plain words of a record, each with its token."""
    return {word: token for word, token in words.read(" ".join((record.body, *record.tags))) if word}


def _spelled(mark: str) -> str:
    token, _, weights = mark.partition(" ")
    return f"'{token}':{','.join(f'{place}{weight}' for place, weight in enumerate(weights, 1))}"

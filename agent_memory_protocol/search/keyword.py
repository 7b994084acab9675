"""A search index by words in one SQLite file, which many processes share.

SQLite picks the passages that may fit, and `ranking` puts them in order, so the answer is a scan's.
"""

import os
from collections.abc import Collection
from typing import TYPE_CHECKING

from . import words
from .kept import KeptIndex
from .port import Hit
from .ranking import rank
from .slips import mend
from .tables import KeywordTables, Lookup, Read

if TYPE_CHECKING:
    from sqlite3 import Connection

CANDIDATES = 200
"""Passages that SQLite picks for `ranking` to order, at least."""


class KeywordIndex(KeptIndex[Read]):
    """A search index by words; see `SearchIndex` for what it does, and `KeptIndex` for its file."""

    def __init__(self, path: str | os.PathLike[str] | None = None) -> None:
        super().__init__(path, KeywordTables())

    def search(self, query: str, *, limit: int = 10, within: Collection[str] | None = None) -> list[Hit]:
        """Return the passages that fit best; see `SearchIndex`."""
        asked = words.terms(query)

        def question(connection: "Connection") -> list[Hit]:
            lookup = Lookup(connection, within)
            terms = mend(asked, lookup.known, lookup.like)
            tokens = dict.fromkeys(token for term in terms for token in term.tokens)
            candidates = lookup.candidates(tokens, max(CANDIDATES, 2 * limit))
            return rank(terms, candidates, lookup.collected(tokens), limit)

        return self._ask(question) if asked and limit > 0 else []

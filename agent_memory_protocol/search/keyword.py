"""A search index by words in one SQLite file, which many processes share.

SQLite's full-text search (FTS5) picks the passages that may fit, and `ranking` puts them in order, so the answer is a
scan's.
"""

import json
from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import TYPE_CHECKING

from . import words
from .kept import KeptIndex
from .port import Hit, Source
from .ranking import CONTEXT_WEIGHT, CountedPassage, rank
from .slips import mend, untouched

if TYPE_CHECKING:
    from sqlite3 import Connection

CANDIDATES = 200
"""Passages that SQLite picks for `ranking` to order, at least."""

_TABLES = (
    "CREATE TABLE passages (id INTEGER PRIMARY KEY, source INTEGER NOT NULL, key TEXT NOT NULL, size INTEGER NOT NULL)",
    "CREATE INDEX passages_of_source ON passages (source)",
    "CREATE TABLE spellings (word TEXT PRIMARY KEY, backwards TEXT NOT NULL) WITHOUT ROWID",
    "CREATE INDEX spellings_backwards ON spellings (backwards)",
    """CREATE VIRTUAL TABLE tokens USING fts5(text, context, tokenize = "ascii tokenchars '.+#'")""",
    "CREATE VIRTUAL TABLE standing USING fts5vocab(tokens, row)",
)

_FOUND = """
    FROM tokens WHERE tokens MATCH :match AND (:within IS NULL OR EXISTS (
        SELECT 1 FROM passages JOIN sources ON sources.id = passages.source
        WHERE passages.id = tokens.rowid AND sources.key IN (SELECT value FROM json_each(:within))))"""
_IS_KNOWN = f"SELECT 1 {_FOUND} LIMIT 1"
_MATCHES = f"""
    SELECT sources.key, passages.key, tokens.text, tokens.context, passages.size
    FROM tokens JOIN passages ON passages.id = tokens.rowid JOIN sources ON sources.id = passages.source
    WHERE tokens.rowid IN (SELECT rowid {_FOUND} ORDER BY bm25(tokens, 1.0, :context_weight) LIMIT :limit)"""  # noqa: S608 ours
_COUNT = """
    SELECT COUNT(*) FROM tokens JOIN passages ON passages.id = tokens.rowid
    WHERE tokens MATCH :match AND (:keys IS NULL OR passages.key IN (SELECT value FROM json_each(:keys)))"""
_LIKE = """
    SELECT word FROM spellings WHERE word BETWEEN :start AND :start || :last
        AND length(word) BETWEEN :length - 1 AND :length + 1
    UNION SELECT word FROM spellings WHERE backwards BETWEEN :end AND :end || :last
        AND length(word) BETWEEN :length - 1 AND :length + 1"""
_LAST = "\U0010ffff"
_MOST = 2**63 - 1
"""The largest number that SQLite knows."""


Stored = tuple[list[tuple[str, list[str], list[str]]], set[str]]
"""Of each passage of a source the key, and the tokens of its text and around it; and the plain words in all of them."""


class KeywordIndex(KeptIndex[Stored]):
    """A search index by words; see `SearchIndex` for what it does, and `KeptIndex` for its file."""

    version = 2  # goes up when `words` reads texts differently, too
    tables = _TABLES
    inner = "tokens_*"

    def search(self, query: str, *, limit: int = 10, within: Collection[str] | None = None) -> list[Hit]:
        """Return the passages that fit best; see `SearchIndex`."""
        asked = words.terms(query)

        def question(connection: "Connection") -> list[Hit]:
            lookup = _Lookup(connection, within)
            terms = mend(asked, lookup.known, lookup.like)
            tokens = dict.fromkeys(token for term in terms for token in term.tokens)
            passages, size = connection.execute("SELECT COUNT(*), CAST(TOTAL(size) AS INT) FROM passages").fetchone()
            matches = lookup.matches(tokens, max(CANDIDATES, 2 * limit))
            return rank(terms, matches, limit, passages=passages, size=size, holding=lookup.holding(tokens))

        return self._ask(question) if asked and limit > 0 else []

    def count(self, query: str, *, keys: Collection[str] | None = None) -> int:
        """Return how many passages a search with no limit would find, of all or of those with one of these keys."""
        asked = words.terms(query)

        def question(connection: "Connection") -> int:
            lookup = _Lookup(connection, None)
            tokens = {token for term in mend(asked, lookup.known, lookup.like) for token in term.tokens}
            values = {"match": _any_of(tokens), "keys": None if keys is None else json.dumps(list(keys))}
            return int(connection.execute(_COUNT, values).fetchone()[0])

        return self._ask(question) if asked else 0

    def _read(self, sources: Iterable[Source]) -> dict[str, Stored]:
        found = {}
        for source in sources:
            spellings: set[str] = set()
            passages = [
                (one.key, words.tokens(one.text, spellings), words.tokens(one.context, spellings))
                for one in source.read(source.key)
            ]
            found[source.key] = (passages, spellings)
        return found

    def _add(self, connection: "Connection", contents: Mapping[int, Stored]) -> None:
        for source, (passages, _) in contents.items():
            for key, text, context in passages:
                passage = (source, key, len(text) + len(context))
                number = connection.execute("INSERT INTO passages VALUES (NULL, ?, ?, ?)", passage).lastrowid
                tokens = (number, " ".join(text), " ".join(context))
                connection.execute("INSERT INTO tokens (rowid, text, context) VALUES (?, ?, ?)", tokens)
        spellings = sorted(set().union(*(found for _, found in contents.values())))
        pairs = [(word, word[::-1]) for word in spellings]
        connection.executemany("INSERT OR IGNORE INTO spellings VALUES (?, ?)", pairs)

    def _forget(self, connection: "Connection", source: int) -> None:
        # The plain words stay: they only suggest what a slip may mean, and a word that is in no passage finds nothing.
        connection.execute("DELETE FROM tokens WHERE rowid IN (SELECT id FROM passages WHERE source = ?)", (source,))
        connection.execute("DELETE FROM passages WHERE source = ?", (source,))


class _Lookup:
    """What is asked of the tables for one query, of all sources or `within` some."""

    def __init__(self, connection: "Connection", within: Collection[str] | None) -> None:
        self._connection = connection
        self._within = None if within is None else json.dumps(list(within))

    def known(self, token: str) -> bool:
        """Say whether a token is anywhere."""
        asked = {"match": _any_of([token]), "within": self._within}
        return self._connection.execute(_IS_KNOWN, asked).fetchone() is not None

    def like(self, spelling: str) -> set[str]:
        """Return spellings among which all are that are one slip away, some of them outside `within`."""
        start, end = untouched(spelling)
        asked = {"start": start, "end": end[::-1], "last": _LAST, "length": len(spelling)}
        return {word for (word,) in self._connection.execute(_LIKE, asked)}

    def matches(self, tokens: Collection[str], limit: int) -> Iterator[CountedPassage]:
        """Return the passages that SQLite ranks highest."""
        asked = {
            "match": _any_of(tokens),
            "within": self._within,
            "context_weight": CONTEXT_WEIGHT,
            "limit": min(limit, _MOST),
        }
        for source, key, text, context, size in self._connection.execute(_MATCHES, asked):
            inside, around = text.split(" "), context.split(" ")
            yield CountedPassage(source, key, _counts(tokens, inside), _counts(tokens, around), size)

    def holding(self, tokens: Iterable[str]) -> dict[str, int]:
        """Return how many passages each token is in."""
        query = "SELECT term, doc FROM standing WHERE term = ?"
        return dict(row for token in tokens for row in self._connection.execute(query, (token,)))


def _any_of(tokens: Iterable[str]) -> str:
    # Tokens hold no quotation marks, so nothing in them is syntax.
    return " OR ".join(f'"{token}"' for token in tokens)


def _counts(tokens: Iterable[str], found: list[str]) -> dict[str, int]:
    return {token: count for token in tokens if (count := found.count(token))}

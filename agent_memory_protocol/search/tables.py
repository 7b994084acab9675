"""The tables of a keyword index, and what is asked of them. SQLite's full-text search (FTS5) finds the passages."""

import json
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from . import words
from .port import Source
from .ranking import CONTEXT_WEIGHT, Candidate, Collected
from .slips import untouched

if TYPE_CHECKING:
    from sqlite3 import Connection

VERSION = 1
"""Goes up when `words` reads texts differently; an index of another version is made anew."""

_TABLES = (
    "CREATE TABLE passages (id INTEGER PRIMARY KEY, source INTEGER NOT NULL, key TEXT NOT NULL, size INTEGER NOT NULL)",
    "CREATE INDEX passages_of_source ON passages (source)",
    "CREATE TABLE spellings (word TEXT PRIMARY KEY, backwards TEXT NOT NULL) WITHOUT ROWID",
    "CREATE INDEX spellings_backwards ON spellings (backwards)",
    """CREATE VIRTUAL TABLE tokens USING fts5(text, context, tokenize = "ascii tokenchars '.+#'")""",
    "CREATE VIRTUAL TABLE standing USING fts5vocab(tokens, row)",
)

_IS_KNOWN = """
    SELECT 1 FROM tokens WHERE tokens MATCH :match AND (:within IS NULL OR EXISTS (
        SELECT 1 FROM passages JOIN sources ON sources.id = passages.source
        WHERE passages.id = tokens.rowid AND sources.key IN (SELECT value FROM json_each(:within))))
    LIMIT 1"""
_CANDIDATES = """
    SELECT sources.key, passages.key, tokens.text, tokens.context, passages.size
    FROM tokens JOIN passages ON passages.id = tokens.rowid JOIN sources ON sources.id = passages.source
    WHERE tokens.rowid IN (
        SELECT rowid FROM tokens WHERE tokens MATCH :match AND (:within IS NULL OR EXISTS (
            SELECT 1 FROM passages JOIN sources ON sources.id = passages.source
            WHERE passages.id = tokens.rowid AND sources.key IN (SELECT value FROM json_each(:within))))
        ORDER BY bm25(tokens, 1.0, :context_weight) LIMIT :limit)"""
_LIKE = """
    SELECT word FROM spellings WHERE word BETWEEN :start AND :start || :last
        AND length(word) BETWEEN :length - 1 AND :length + 1
    UNION SELECT word FROM spellings WHERE backwards BETWEEN :end AND :end || :last
        AND length(word) BETWEEN :length - 1 AND :length + 1"""
_LAST = "\U0010ffff"
_MOST = 2**63 - 1
"""The largest number that SQLite knows."""


@dataclass(frozen=True, slots=True)
class Read:
    """A source as it is stored: of each passage the key, and the tokens of its text and around it."""

    passages: list[tuple[str, list[str], list[str]]]
    spellings: set[str]


class KeywordTables:
    """What is stored for an index of words; see `Tables`."""

    version = VERSION
    statements = _TABLES
    inner = "tokens_*"

    def read(self, sources: Iterable[Source]) -> dict[str, Read]:
        """Read sources, and their texts."""
        return {source.key: _read(source) for source in sources}

    def add(self, connection: "Connection", contents: Mapping[int, Read]) -> None:
        """Store what was read."""
        for source, content in contents.items():
            for key, text, context in content.passages:
                passage = (source, key, len(text) + len(context))
                number = connection.execute("INSERT INTO passages VALUES (NULL, ?, ?, ?)", passage).lastrowid
                tokens = (number, " ".join(text), " ".join(context))
                connection.execute("INSERT INTO tokens (rowid, text, context) VALUES (?, ?, ?)", tokens)
        spellings = sorted(set().union(*(content.spellings for content in contents.values())))
        pairs = [(word, word[::-1]) for word in spellings]
        connection.executemany("INSERT OR IGNORE INTO spellings VALUES (?, ?)", pairs)

    def forget(self, connection: "Connection", source: int) -> None:
        """Remove what is stored of a source. Its spellings stay: what stands nowhere is not found by them."""
        connection.execute("DELETE FROM tokens WHERE rowid IN (SELECT id FROM passages WHERE source = ?)", (source,))
        connection.execute("DELETE FROM passages WHERE source = ?", (source,))


def _read(source: Source) -> Read:
    spellings: set[str] = set()

    def tokens(text: str) -> list[str]:
        pairs = words.read(text)
        spellings.update(spelling for spelling, _ in pairs)
        return [token for _, token in pairs]

    passages = [(passage.key, tokens(passage.text), tokens(passage.context)) for passage in source.read(source.key)]
    return Read(passages, spellings - {""})


class Lookup:
    """What is asked of the tables for one query, of all sources or `within` some."""

    def __init__(self, connection: "Connection", within: Collection[str] | None) -> None:
        self._connection = connection
        self._within = None if within is None else json.dumps(list(within))

    def known(self, token: str) -> bool:
        """Say whether a token stands anywhere."""
        asked = {"match": _any_of([token]), "within": self._within}
        return self._connection.execute(_IS_KNOWN, asked).fetchone() is not None

    def like(self, spelling: str) -> set[str]:
        """Return spellings among which all are that are one slip away; they may stand outside too."""
        start, end = untouched(spelling)
        asked = {"start": start, "end": end[::-1], "last": _LAST, "length": len(spelling)}
        return {word for (word,) in self._connection.execute(_LIKE, asked)}

    def candidates(self, tokens: Collection[str], limit: int) -> Iterator[Candidate]:
        """Return the passages that SQLite ranks highest."""
        asked = {
            "match": _any_of(tokens),
            "within": self._within,
            "context_weight": CONTEXT_WEIGHT,
            "limit": min(limit, _MOST),
        }
        for source, key, text, context, size in self._connection.execute(_CANDIDATES, asked):
            inside, around = text.split(" "), context.split(" ")
            yield Candidate(source, key, _counts(tokens, inside), _counts(tokens, around), size)

    def collected(self, tokens: Iterable[str]) -> Collected:
        """Return what is known of all passages together."""
        passages, size = self._connection.execute("SELECT COUNT(*), TOTAL(size) FROM passages").fetchone()
        query = "SELECT doc FROM standing WHERE term = ?"
        rows = ((token, self._connection.execute(query, (token,)).fetchone()) for token in tokens)
        return Collected(passages, int(size), {token: row[0] for token, row in rows if row})


def _any_of(tokens: Iterable[str]) -> str:
    # Tokens hold no quotation marks, so nothing in them is syntax.
    return " OR ".join(f'"{token}"' for token in tokens)


def _counts(tokens: Iterable[str], found: list[str]) -> dict[str, int]:
    return {token: count for token in tokens if (count := found.count(token))}

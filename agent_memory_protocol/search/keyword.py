"""A search index by words in one SQLite file, which many processes share.

SQLite's full-text search (FTS5) picks the passages that may fit, and `ranking` puts them in order, so the answer is a
scan's. Among very many, see `picking` for what frequent words pick.
"""

import json
from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import TYPE_CHECKING

from . import picking, words
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
    "CREATE INDEX passages_of_key ON passages (key)",
    "CREATE TABLE sums (key TEXT PRIMARY KEY, passages INTEGER NOT NULL, size INTEGER NOT NULL) WITHOUT ROWID",
    """CREATE TRIGGER passage_added AFTER INSERT ON passages BEGIN
        INSERT INTO sums VALUES (new.key, 1, new.size)
            ON CONFLICT (key) DO UPDATE SET passages = passages + 1, size = size + excluded.size;
    END""",
    """CREATE TRIGGER passage_removed AFTER DELETE ON passages BEGIN
        UPDATE sums SET passages = passages - 1, size = size - old.size WHERE key = old.key;
    END""",
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
_MATCHES = """
    SELECT sources.key, passages.key, tokens.text, tokens.context, passages.size
    FROM tokens JOIN passages ON passages.id = tokens.rowid JOIN sources ON sources.id = passages.source
    WHERE tokens.rowid IN ({} LIMIT :limit)"""
_BEST = f"SELECT rowid {_FOUND} ORDER BY bm25(tokens, 1.0, :context_weight)"
_BEST_WITH_ALL = """
    SELECT id FROM passages
    WHERE id IN (SELECT rowid FROM tokens WHERE tokens MATCH :match ORDER BY rowid DESC LIMIT :most) ORDER BY size"""
"""Of those that have the same words the shortest are the best, which SQLite says sooner than their rank."""
_SUMS = "SELECT key, passages, size FROM sums"
_COUNT = """
    SELECT COUNT(*) FROM tokens WHERE tokens MATCH :match AND (:keys IS NULL OR rowid IN
        (SELECT id FROM passages WHERE key IN (SELECT value FROM json_each(:keys))))"""
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

    version = 3  # goes up when `words` reads texts differently, too
    tables = _TABLES
    inner = "tokens_*"

    def search(self, query: str, *, limit: int = 10, within: Collection[str] | None = None) -> list[Hit]:
        """Return the passages that fit best; see `SearchIndex`."""
        asked = words.terms(query)

        def question(connection: "Connection") -> list[Hit]:
            lookup = _Lookup(connection, within)
            terms = mend(asked, lookup.known, lookup.like)
            tokens = dict.fromkeys(token for term in terms for token in term.tokens)
            sums = connection.execute(_SUMS).fetchall()
            passages, size, holding = sum(row[1] for row in sums), sum(row[2] for row in sums), lookup.holding(tokens)
            is_large = within is None and passages > picking.MANY
            matches = lookup.picked(tokens, holding, limit) if is_large else lookup.matches(tokens, limit)
            return rank(terms, matches, limit, passages=passages, size=size, holding=holding)

        return self._ask(question) if asked and limit > 0 else []

    def count(self, query: str, *, keys: Collection[str] | None = None) -> int:
        """Return how many passages a search with no limit would find, of all or of those with one of these keys."""
        asked = words.terms(query)

        def question(connection: "Connection") -> int:
            lookup = _Lookup(connection, None)
            tokens = {token for term in mend(asked, lookup.known, lookup.like) for token in term.tokens}
            others = [] if keys is None else [key for (key, *_) in connection.execute(_SUMS) if key not in keys]
            # Mostly few have another key, or none has, so those are counted and taken off.
            found = lookup.count(tokens)
            return found - lookup.count(tokens, others) if others else found

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

    def count(self, tokens: Collection[str], keys: Collection[str] | None = None) -> int:
        """Return how many passages have any of these tokens, of all or of those with one of these keys."""
        asked = {"match": _any_of(tokens), "keys": None if keys is None else json.dumps([*keys])}
        return int(self._connection.execute(_COUNT, asked).fetchone()[0])

    def matches(self, tokens: Collection[str], limit: int) -> Iterator[CountedPassage]:
        """Return the passages that SQLite ranks highest."""
        return self._best(_BEST, _any_of(tokens), tokens, limit)

    def picked(self, tokens: Collection[str], holding: Mapping[str, int], limit: int) -> Iterable[CountedPassage]:
        """Return the passages that SQLite ranks highest among those that rare tokens, or all others, pick."""
        rare, frequent = picking.divided(holding, picking.LOOKED_AT)
        picks = [(_BEST_WITH_ALL, _all_of(frequent))] if frequent else []
        if rare and holding[rare[0]] > picking.LOOKED_AT:
            picks = [(_BEST_WITH_ALL, _all_of([*rare, *frequent])), (_BEST_WITH_ALL, _all_of(rare))]
        elif rare:
            # Ranked by the other tokens, too.
            picks.insert(0, (_BEST, f"({_any_of(rare)}) AND ({_any_of(tokens)})"))
        found: dict[tuple[str, str], CountedPassage] = {}
        for query, match in picks:
            if len(found) < limit:
                found |= {(one.source, one.key): one for one in self._best(query, match, tokens, limit)}
        return found.values()

    def _best(self, query: str, match: str, tokens: Collection[str], limit: int) -> Iterator[CountedPassage]:
        asked = {
            "match": match,
            "within": self._within,
            "context_weight": CONTEXT_WEIGHT,
            "most": picking.LOOKED_AT,
            "limit": min(max(CANDIDATES, 2 * limit), _MOST),
        }
        for source, key, text, context, size in self._connection.execute(_MATCHES.format(query), asked):
            inside, around = text.split(" "), context.split(" ")
            yield CountedPassage(source, key, _counts(tokens, inside), _counts(tokens, around), size)

    def holding(self, tokens: Iterable[str]) -> dict[str, int]:
        """Return how many passages each token is in."""
        query = "SELECT term, doc FROM standing WHERE term = ?"
        return dict(row for token in tokens for row in self._connection.execute(query, (token,)))


def _any_of(tokens: Iterable[str]) -> str:
    # Tokens hold no quotation marks, so nothing in them is syntax.
    return " OR ".join(f'"{token}"' for token in tokens)


def _all_of(tokens: Iterable[str]) -> str:
    return " AND ".join(f'"{token}"' for token in tokens)


def _counts(tokens: Iterable[str], found: list[str]) -> dict[str, int]:
    return {token: count for token in tokens if (count := found.count(token))}

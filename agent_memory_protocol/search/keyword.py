"""A search index by words in one SQLite file, which many processes share.

SQLite's full-text index (FTS5) knows which passages hold a word, and `ranking` weighs them, so the answer is a scan's.
Among very many, see `picking` for what frequent words pick.
"""

import os
from collections.abc import Collection, Iterable, Mapping
from typing import TYPE_CHECKING

from . import picking, words
from .kept import KeptIndex
from .lookup import COUNTED_TABLES, Lookup, Snapshot
from .names import besides
from .passages import Read, read
from .port import Hit, Source
from .ranking import APART, Stock, rank

if TYPE_CHECKING:
    from sqlite3 import Connection

_TABLES = (
    """CREATE TABLE passages (
        id INTEGER PRIMARY KEY, source INTEGER NOT NULL, key TEXT NOT NULL, size INTEGER NOT NULL, talk INTEGER NOT NULL
    )""",
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
    *COUNTED_TABLES,
)

_KEYS = "SELECT key FROM sums"


Stored = tuple[list[Read], set[str]]  # The passages of a source, and the plain words in all of them


class KeywordIndex(KeptIndex[Stored]):
    """A search index by words; see `SearchIndex` for what it does, and `KeptIndex` for its file."""

    version = 7  # goes up when `words` reads texts differently, too
    tables = _TABLES
    inner = "tokens_*"

    def __init__(self, path: str | os.PathLike[str] | None = None) -> None:
        super().__init__(path)
        self._snapshot: Snapshot | None = None

    def search(self, query: str, *, limit: int = 10, within: Collection[str] | None = None) -> list[Hit]:
        """Return the passages that fit best; see `SearchIndex`."""
        asked, more = words.terms(query), besides(query)

        def question(connection: "Connection") -> list[Hit]:
            lookup = Lookup(connection)
            snapshot = self._look(connection)
            if within is None and snapshot.passages > picking.MANY:
                terms = snapshot.meant(asked)
                tokens = words.wanted(terms) | dict.fromkeys(more)
                holding = snapshot.holding(tokens)
                picked = lookup.picked(_picking(terms, holding), limit)
                postings, sizes, talk = lookup.counted(picked, tokens)
                stock = Stock(sizes, snapshot.passages, snapshot.average, talk)
                return rank(terms, postings, holding, stock, limit, lookup.names, picked, more)
            allowed = None if within is None else lookup.within(within)
            terms = snapshot.meant(asked, allowed)
            postings = snapshot.postings_of(words.wanted(terms) | dict.fromkeys(more))
            holding = {token: len(found.text.keys() | found.context.keys()) for token, found in postings.items()}
            return rank(terms, postings, holding, snapshot.stock, limit, lookup.names, allowed, more)

        return self._ask(question) if asked and limit > 0 else []

    def count(self, query: str, *, keys: Collection[str] | None = None) -> int:
        """Return how many passages a search with no limit would find, of all or of those with one of these keys."""
        asked = words.terms(query)

        def question(connection: "Connection") -> int:
            lookup = Lookup(connection)
            snapshot = self._look(connection)
            tokens = {token for term in snapshot.meant(asked) for token in (*term.tokens, *term.forms)}
            holding = snapshot.holding(tokens)
            others = [] if keys is None else [key for (key,) in connection.execute(_KEYS) if key not in keys]
            # Mostly few have another key, or none has, so those are counted and taken off.
            return lookup.count(holding) - (lookup.count_with(holding, others) if others and holding else 0)

        return self._ask(question) if asked else 0

    def _look(self, connection: "Connection") -> Snapshot:
        """Return what is known of the tables as they are now."""
        state = (self._in_line, connection.total_changes)
        if self._snapshot is None or self._snapshot.state != state:
            self._snapshot = Snapshot(connection, state)
        return self._snapshot

    def _read(self, sources: Iterable[Source]) -> dict[str, Stored]:
        return {source.key: read(source) for source in sources}

    def _add(self, connection: "Connection", contents: Mapping[int, Stored]) -> None:
        (last,) = connection.execute("SELECT COALESCE(MAX(id), 0) FROM passages").fetchone()
        for source, (passages, _) in contents.items():
            last += APART
            for one in passages:
                last += 1
                row = (last, source, one.key, one.size, one.talk)
                connection.execute("INSERT INTO passages VALUES (?, ?, ?, ?, ?)", row)
                tokens = (last, " ".join(one.text), " ".join(one.context))
                connection.execute("INSERT INTO tokens (rowid, text, context) VALUES (?, ?, ?)", tokens)
        spellings = sorted(set().union(*(found for _, found in contents.values())))
        pairs = [(word, word[::-1]) for word in spellings]
        connection.executemany("INSERT OR IGNORE INTO spellings VALUES (?, ?)", pairs)

    def _forget(self, connection: "Connection", source: int) -> None:
        # The plain words stay: they only suggest what a slip may mean, and a word that is in no passage finds nothing.
        connection.execute("DELETE FROM tokens WHERE rowid IN (SELECT id FROM passages WHERE source = ?)", (source,))
        connection.execute("DELETE FROM passages WHERE source = ?", (source,))


def _picking(terms: Iterable[words.Term], holding: Mapping[str, int]) -> dict[str, int]:
    """Return the tokens that pick passages, with how many hold each: a word's own, else those of its forms."""
    held = ([token for token in term.tokens if token in holding] or term.forms for term in terms)
    return {token: holding[token] for tokens in held for token in tokens if token in holding}

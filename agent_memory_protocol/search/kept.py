"""A SQLite file kept in line with sources, for an index to answer from.

Many processes share it, and each answers from exactly the sources that it was given, even where another has changed the
file in between. Nothing in the file is of worth by itself: one that is damaged, foreign or of another version is made
anew, and where none can be written the tables live in this process.
"""

import os
import threading
from collections.abc import Callable, Collection, Iterable, Mapping
from contextlib import suppress
from typing import TYPE_CHECKING, Generic, Protocol, TypeVar

from ..disk.database import Database
from ..errors import DamagedFile, StorageError
from ..text.digest import blake2b
from .port import Source

if TYPE_CHECKING:
    from sqlite3 import Connection

_SOURCES = "CREATE TABLE sources (id INTEGER PRIMARY KEY, key TEXT NOT NULL UNIQUE, fingerprint TEXT NOT NULL)"
_STATE = "CREATE TABLE state (digest TEXT NOT NULL)"
"""What stands for all rows of `sources` together, so that they need not be fetched to be compared; or no row."""

_TRIES = 5
"""How often others may change the file just before a question, until this process keeps its tables to itself."""

Content = TypeVar("Content")
Answer = TypeVar("Answer")


class Tables(Protocol[Content]):
    """What an index stores of each source, beside the table of sources."""

    @property
    def version(self) -> int:
        """Goes up when something is stored differently; a file of another version is made anew."""

    @property
    def statements(self) -> tuple[str, ...]:
        """What creates the tables."""

    @property
    def inner(self) -> str:
        """A GLOB of the names of tables that SQLite itself makes for these."""

    def read(self, sources: Iterable[Source]) -> dict[str, Content]:
        """Read sources, and return what is to be stored of each by its key."""

    def add(self, connection: "Connection", contents: Mapping[int, Content]) -> None:
        """Store what was read, by the number that each source has in the file."""

    def forget(self, connection: "Connection", source: int) -> None:
        """Remove what is stored of a source."""


class KeptIndex(Generic[Content]):
    """What indexes with such a file have in common. Threads may share one.

    Args:
        path: the file. Whatever else stands there is replaced. None: the tables live in this process.
        tables: what is stored.
    """

    def __init__(self, path: str | os.PathLike[str] | None, tables: Tables[Content]) -> None:
        self._tables = tables
        self._database = Database(path, self._prepare)
        self._lock = threading.RLock()
        self._wanted: dict[str, Source] = {}
        self._in_line: tuple[Connection, int] | None = None

    def close(self) -> None:
        """Close the file. The next call opens it again."""
        self._database.close()

    def delete(self) -> None:
        """Remove the file, with all that is left in it of passages that are gone. The next call makes it anew."""
        with self._lock:
            self.close()
            if self._database.path is not None:
                for ending in ("", "-wal", "-shm"):
                    with suppress(OSError):
                        os.unlink(self._database.path + ending)

    def available(self) -> bool:
        """Say whether this SQLite has what the tables need."""
        try:
            with Database(None, self._prepare).connection():
                return True
        except StorageError:
            return False

    def refresh(self, sources: Iterable[Source]) -> int:
        """Bring the index in line with exactly these sources; see `SearchIndex`."""
        with self._lock:
            return self._bring_in_line({source.key: source for source in sources}, None)

    def update(self, sources: Iterable[Source], gone: Iterable[str] = ()) -> int:
        """Bring the index in line with these sources and forget those that are gone; see `SearchIndex`."""
        with self._lock:
            changed = {source.key: source for source in sources}
            gone = set(gone)
            wanted = {key: source for key, source in (self._wanted | changed).items() if key not in gone}
            return self._bring_in_line(wanted, changed.keys() | gone)

    def _ask(self, question: "Callable[[Connection], Answer]") -> Answer:
        """Ask something of the file while it is in line with the sources."""
        with self._lock:
            for _ in range(_TRIES):
                answer = self._do(
                    lambda connection: None if any(self._difference(connection)) else (question(connection),)
                )
                if answer is not None:
                    return answer[0]
                self._bring_in_line(self._wanted, None)
            self._keep_to_this_process()
            self._bring_in_line(self._wanted, None)
            return self._do(question)

    def _bring_in_line(self, wanted: dict[str, Source], touched: Collection[str] | None) -> int:
        """Read what has changed, write it down, and return how many sources differed.

        `touched` are the keys in which these sources differ from those before; None: any may.
        """
        read: dict[str, Content] = {}
        differed = 0
        while True:
            changed, gone = self._do(lambda connection: self._difference(connection, wanted, touched))
            differed = max(differed, len(changed) + len(gone))
            # Sources are read between transactions: it may take long, and their errors are none of the file's.
            read |= self._tables.read([wanted[key] for key in changed if key not in read])
            if not (changed or gone) or self._do(self._write(wanted, touched, read), write=True):
                self._wanted = wanted
                return differed

    def _difference(
        self, connection: "Connection", wanted: dict[str, Source] | None = None, touched: Collection[str] | None = ()
    ) -> tuple[list[str], list[str]]:
        """Return the keys of sources that the file lacks as they are wanted, and of those that are not wanted."""
        wanted = self._wanted if wanted is None else wanted
        state = (connection, connection.execute("PRAGMA data_version").fetchone()[0])
        if touched is None or self._in_line != state:
            touched = None
            if connection.execute("SELECT 1 FROM state WHERE digest = ?", (_digest(wanted),)).fetchone():
                self._in_line = state
                return [], []
            stored = dict(connection.execute("SELECT key, fingerprint FROM sources"))
        else:
            query = "SELECT key, fingerprint FROM sources WHERE key = ?"
            stored = dict(row for key in touched for row in connection.execute(query, (key,)))
        changed = [
            key
            for key in (wanted if touched is None else touched)
            if key in wanted and stored.get(key) != wanted[key].fingerprint
        ]
        gone = [key for key in stored if key not in wanted]
        if not (changed or gone):
            self._in_line = state
        return changed, gone

    def _write(
        self, wanted: dict[str, Source], touched: Collection[str] | None, read: dict[str, Content]
    ) -> "Callable[[Connection], bool]":
        """Return what writes the difference, unless another process has made it one that is not read yet."""

        def write(connection: "Connection") -> bool:
            changed, gone = self._difference(connection, wanted, touched)
            if any(key not in read for key in changed):
                return False
            for key in (*changed, *gone):
                for row in connection.execute("SELECT id FROM sources WHERE key = ?", (key,)).fetchall():
                    self._tables.forget(connection, row[0])
                    connection.execute("DELETE FROM sources WHERE id = ?", row)
            contents = {}
            for key in changed:
                row = (key, wanted[key].fingerprint)
                done = connection.execute("INSERT INTO sources (key, fingerprint) VALUES (?, ?)", row)
                contents[done.lastrowid or 0] = read[key]
            self._tables.add(connection, contents)
            connection.execute("DELETE FROM state")
            if touched is None:
                connection.execute("INSERT INTO state VALUES (?)", (_digest(wanted),))
            self._in_line = (connection, connection.execute("PRAGMA data_version").fetchone()[0])
            return True

        return write

    def _do(self, work: "Callable[[Connection], Answer]", *, write: bool = False) -> Answer:
        """Do something in one transaction: in a new file if this one is of no use, and in none if that fails too."""
        for mend_file in (self.delete, self._keep_to_this_process):
            try:
                if self._database.path is not None and os.path.islink(self._database.path):
                    self.delete()  # it could lead anywhere
                with self._database.transaction(write=write) as connection:
                    return work(connection)
            except DamagedFile:
                mend_file()
            except StorageError:
                self._keep_to_this_process()
        with self._database.transaction(write=write) as connection:
            return work(connection)

    def _keep_to_this_process(self) -> None:
        self.close()
        self._database = Database(None, self._prepare)

    def _prepare(self, connection: "Connection") -> None:
        """Create the tables, or make sure that they are ours: the file may come from anyone."""
        connection.execute("PRAGMA trusted_schema = OFF")
        connection.execute("PRAGMA synchronous = NORMAL")
        statements = (_SOURCES, _STATE, *self._tables.statements)
        ours = (self._tables.version, {*statements})
        if self._schema(connection) == ours:
            return
        connection.execute("BEGIN IMMEDIATE")
        try:
            if self._schema(connection) == (0, set()):
                for statement in statements:
                    connection.execute(statement)
                connection.execute(f"PRAGMA user_version = {self._tables.version}")
            elif self._schema(connection) != ours:
                raise DamagedFile("is no index of this version")
            connection.execute("COMMIT")
        finally:
            if connection.in_transaction:
                connection.execute("ROLLBACK")

    def _schema(self, connection: "Connection") -> tuple[int, set[str]]:
        (version,) = connection.execute("PRAGMA user_version").fetchone()
        query = "SELECT sql FROM sqlite_master WHERE sql NOT NULL AND name NOT GLOB ?"
        return version, {sql for (sql,) in connection.execute(query, (self._tables.inner,))}


def _digest(sources: Mapping[str, Source]) -> str:
    """Return what changes whenever a key or a fingerprint does. In another order it may be another: that only costs."""
    fingerprints = "\0".join([source.fingerprint for source in sources.values()])
    text = "\0".join([str(len(sources)), *sources, fingerprints])
    return blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()

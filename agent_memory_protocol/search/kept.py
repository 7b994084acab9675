"""An index in a SQLite file that many processes share, kept in line with sources.

Each process answers from exactly the sources that it was given, even where another has changed the file in between.
"""

import os
import threading
from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Iterable, Mapping
from functools import partial
from typing import TYPE_CHECKING, ClassVar, Generic, TypeVar

from ..disk.side_file import SideFile
from ..errors import LockBusy, StorageError
from .port import Source

if TYPE_CHECKING:
    from sqlite3 import Connection

_SOURCES = "CREATE TABLE sources (id INTEGER PRIMARY KEY, key TEXT NOT NULL UNIQUE, fingerprint TEXT NOT NULL)"

_TRIES = 5  # How often others may change the file just before a question, until this process keeps its tables to itself

Content = TypeVar("Content")
Answer = TypeVar("Answer")


class KeptIndex(ABC, Generic[Content]):
    """What indexes in a file have in common; without a path the tables are in this process. Threads may share one."""

    version: ClassVar[int]  # Goes up when something is stored differently; a file of another version is replaced
    tables: ClassVar[tuple[str, ...]]  # What creates the tables, besides the table of sources
    inner: ClassVar[str] = ""  # A GLOB of the names of tables that SQLite itself makes for these

    def __init__(self, path: str | os.PathLike[str] | None = None) -> None:
        self._file = self._open(path)
        self._lock = threading.RLock()
        self._wanted: dict[str, Source] = {}
        self._in_line: tuple[Connection, int] | None = None

    @abstractmethod
    def _read(self, sources: Iterable[Source]) -> dict[str, Content]:
        """Read sources, and return what is to be stored of each by its key."""

    @abstractmethod
    def _add(self, connection: "Connection", contents: Mapping[int, Content]) -> None:
        """Store what was read, by the number that each source has in the file."""

    @abstractmethod
    def _forget(self, connection: "Connection", source: int) -> None:
        """Remove what is stored of a source."""

    def close(self) -> None:
        """Close the file. The next call opens it again."""
        self._file.close()

    def delete(self) -> None:
        """Remove the file, with all that is left in it of passages that are gone. The next call makes it again."""
        with self._lock:
            self._file.delete()

    @classmethod
    def available(cls) -> bool:
        """Say whether this SQLite has what the tables need."""
        try:
            cls._open(None).do(lambda _: None)
        except StorageError:
            return False
        return True

    def refresh(self, sources: Iterable[Source], gone: Collection[str] | None = None) -> int:
        """Bring the index in line with these sources; see `SearchIndex`."""
        with self._lock:
            rest = {} if gone is None else {key: one for key, one in self._wanted.items() if key not in gone}
            return self._bring_in_line(rest | {source.key: source for source in sources})

    def _ask(self, question: "Callable[[Connection], Answer]") -> Answer:
        """Ask something of the file while it is in line with the sources."""

        def ask(connection: "Connection") -> tuple[Answer] | None:
            is_in_line = self._in_line == _state(connection) or not any(self._difference(connection, self._wanted))
            return (question(connection),) if is_in_line else None

        with self._lock:
            for _ in range(_TRIES):
                if (answer := self._do(ask)) is not None:
                    return answer[0]
                self._bring_in_line(self._wanted)
            self._file.keep_in_process()
            self._bring_in_line(self._wanted)
            return self._do(question)

    def _bring_in_line(self, wanted: dict[str, Source]) -> int:
        """Read what has changed and store it; return how many sources differed."""
        read: dict[str, Content] = {}
        differed = 0
        while True:
            changed, gone = self._do(lambda connection: self._difference(connection, wanted))
            differed = max(differed, len(changed) + len(gone))
            # Sources are read between transactions: it may take long, and their errors are not those of the file.
            read.update(self._read([wanted[key] for key in changed if key not in read]))
            if not (changed or gone) or self._do(partial(self._write, wanted=wanted, read=read), write=True):
                self._wanted = wanted
                return differed

    def _difference(self, connection: "Connection", wanted: Mapping[str, Source]) -> tuple[list[str], list[str]]:
        """Return the keys of sources that the file lacks as they are wanted, and of those that are not wanted."""
        stored = dict(connection.execute("SELECT key, fingerprint FROM sources"))
        changed = [key for key, source in wanted.items() if stored.get(key) != source.fingerprint]
        gone = [key for key in stored if key not in wanted]
        if not (changed or gone):
            self._in_line = _state(connection)
        return changed, gone

    def _write(self, connection: "Connection", *, wanted: Mapping[str, Source], read: Mapping[str, Content]) -> bool:
        """Write the difference, unless another process has made it one that is not read yet."""
        changed, gone = self._difference(connection, wanted)
        if any(key not in read for key in changed):
            return False
        for key in (*changed, *gone):
            for row in connection.execute("SELECT id FROM sources WHERE key = ?", (key,)).fetchall():
                self._forget(connection, row[0])
                connection.execute("DELETE FROM sources WHERE id = ?", row)
        contents = {}
        for key in changed:
            done = connection.execute("INSERT INTO sources VALUES (NULL, ?, ?)", (key, wanted[key].fingerprint))
            contents[done.lastrowid or 0] = read[key]
        self._add(connection, contents)
        self._in_line = _state(connection)
        return True

    def _do(self, work: "Callable[[Connection], Answer]", *, write: bool = False) -> Answer:
        """Do something in one transaction; in this process where another keeps the file busy."""
        try:
            return self._file.do(work, write=write)
        except LockBusy:
            self._file.keep_in_process()
            return self._file.do(work, write=write)

    @classmethod
    def _open(cls, path: str | os.PathLike[str] | None) -> SideFile:
        return SideFile(path, _SOURCES, *cls.tables, version=cls.version, inner=cls.inner)


def _state(connection: "Connection") -> "tuple[Connection, int]":
    """Return what is equal as long as no other connection has written."""
    return connection, connection.execute("PRAGMA data_version").fetchone()[0]

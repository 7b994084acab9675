"""A SQLite file beside the records that may be deleted or lost at any time, so nothing ever fails because of it.

Where it is damaged, it is made anew; where it cannot be read or written, its tables are kept in this process instead.
"""

import os
import sqlite3
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from typing import Any, TypeVar

WAIT = 0.5
"""Seconds to wait while another process writes; after that a write is let go."""

_BUSY = (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED)
_DAMAGED = (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_ERROR)  # the last: other tables stand there

_inherited: list[sqlite3.Connection] = []
"""Connections that a fork has copied. SQLite wants them neither used nor closed by the child."""

Answer = TypeVar("Answer")


class SideFile:
    """Some tables in a file, or with the path "" in this process. Whoever uses it lets no two threads in at once."""

    def __init__(self, path: str, tables: str) -> None:
        self.path = path
        self._tables = tables
        self._connection: sqlite3.Connection | None = None
        self._process = 0

    def close(self) -> None:
        """Close the file. The next call opens it again."""
        connection, self._connection = self._connection, None
        if connection is not None and self._process == os.getpid():
            connection.close()
        elif connection is not None:
            _inherited.append(connection)

    def __del__(self) -> None:
        self.close()

    def rows(self, query: str, values: Sequence[object] = ()) -> list[tuple[Any, ...]]:
        """Return what a query finds. Where there is no file yet, that is nothing, and none is made."""
        if self.path and self._connection is None and not os.path.exists(self.path):
            return []
        return self._do(lambda connection: connection.execute(query, values).fetchall()) or []

    def write(self, *changes: tuple[str, Iterable[Sequence[object]]]) -> None:
        """Make changes, all or none: statements, each with the rows of values that it is done for."""
        listed = [(statement, list(rows)) for statement, rows in changes]

        def work(connection: sqlite3.Connection) -> None:
            with connection:  # commits, or takes back what was done
                connection.execute("BEGIN IMMEDIATE")
                for statement, rows in listed:
                    connection.executemany(statement, rows)

        self._do(work)

    def _do(self, work: Callable[[sqlite3.Connection], Answer]) -> Answer | None:
        for _ in range(3):
            try:
                return work(self._open())
            except (sqlite3.Error, OSError) as error:
                self.close()
                code = getattr(error, "sqlite_errorcode", 0) & 0xFF
                if code in _BUSY:
                    return None
                if code in _DAMAGED and self.path:
                    _remove(self.path)
                else:
                    self.path = ""
        return None

    def _open(self) -> sqlite3.Connection:
        if self._process != os.getpid():
            self.close()
        if self._connection is None:
            if self.path:
                os.makedirs(os.path.dirname(self.path), exist_ok=True)
            connection = sqlite3.connect(
                self.path or ":memory:", timeout=WAIT, isolation_level=None, check_same_thread=False
            )
            self._connection, self._process = connection, os.getpid()
            # What is lost with the power is made anew, so the disk is not asked to confirm anything.
            connection.execute("PRAGMA journal_mode = WAL")
            connection.execute("PRAGMA synchronous = OFF")
            connection.execute("PRAGMA secure_delete = ON")
            connection.executescript(self._tables)
        return self._connection


def _remove(path: str) -> None:
    for ending in ("", "-wal", "-shm"):
        with suppress(OSError):
            os.remove(path + ending)

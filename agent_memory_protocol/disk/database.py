"""One SQLite file for many processes and threads: opened when needed, whole transactions, errors that say what to do.

Processes write one after the other and read meanwhile (WAL). A file that is removed or replaced while it is open is
opened again; a forked child opens it again, too.
"""

from __future__ import annotations

import errno
import os
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from ..errors import DamagedFile, LockBusy, StorageError
from .errors import explain, shown

if TYPE_CHECKING:
    import sqlite3

WAIT = 10.0  # Seconds to wait while another process writes

_BUSY = (5, 6)  # SQLITE_BUSY, SQLITE_LOCKED
_IO_ERROR, _FULL = 10, 13  # SQLITE_IOERR, SQLITE_FULL
_DAMAGED = (26, 11)  # SQLITE_NOTADB, SQLITE_CORRUPT

_inherited: list[sqlite3.Connection] = []
"""Connections that a fork has copied. SQLite wants them neither used nor closed by the child."""


def check_sqlite() -> None:
    """Refuse to go on where Python was built without SQLite; a caller that can do without it catches StorageError."""
    try:
        import sqlite3  # noqa: F401
    except ImportError as error:
        raise StorageError(
            f"this Python has no SQLite ({error}), which is needed here; use one that was built with it"
        ) from error


class Database:
    """A SQLite file, which the first writing transaction creates. Threads may share it, one at a time.

    `opened` counts how often it was opened. The path None keeps everything in this process. `prepare` is given each
    new connection, and the empty database that is read while there is no file, to see to settings and tables.
    """

    def __init__(self, path: str | os.PathLike[str] | None, prepare: Callable[[sqlite3.Connection], None]) -> None:
        self.path = None if path is None else os.path.abspath(os.fspath(path))
        self._prepare = prepare
        self._lock = threading.RLock()
        self._connection: sqlite3.Connection | None = None
        self._of: tuple[int, tuple[int, int] | None] = (0, None)
        self.opened = 0

    def close(self) -> None:
        """Close the file. The next call opens it again."""
        with self._lock:
            if self._connection is not None and self._of[0] == os.getpid():
                self._connection.close()
            self._connection = None

    def __del__(self) -> None:
        self.close()

    @contextmanager
    def transaction(self, *, write: bool = False) -> Iterator[sqlite3.Connection]:
        """Do several things at once: an error undoes them all. Without `write`, a file that is not there is empty."""
        with self.connection(create=write) as connection:
            connection.execute("BEGIN IMMEDIATE" if write else "BEGIN")
            try:
                yield connection
                connection.execute("COMMIT")
            finally:
                if connection.in_transaction:
                    connection.execute("ROLLBACK")

    @contextmanager
    def connection(self, *, create: bool = False) -> Iterator[sqlite3.Connection]:
        """Lend the connection without a transaction. Raises as `transaction`."""
        with self._lock, explaining(self.path):
            connection = self._connect(create=create)
            try:
                yield connection
            finally:
                if connection is not self._connection:
                    connection.close()

    def _connect(self, *, create: bool) -> sqlite3.Connection:
        if self._connection is not None:
            if self._of == (os.getpid(), self._identity()):
                return self._connection
            if self._of[0] == os.getpid():
                self._connection.close()
            else:
                _inherited.append(self._connection)
            self._connection = None
        if self.path is None:
            self._connection = self._open(":memory:")
        elif not create and not os.path.lexists(self.path):
            return self._open(":memory:")
        elif not os.path.isdir(os.path.dirname(self.path)):
            raise StorageError(f"{shown(self.path)}: its folder does not exist; create it first")
        else:
            self._connection = self._open(self.path)
        self._of = (os.getpid(), self._identity())
        self.opened += 1
        return self._connection

    def _open(self, path: str) -> sqlite3.Connection:
        import sqlite3

        connection = sqlite3.connect(path, timeout=WAIT, isolation_level=None, check_same_thread=False)
        try:
            if path != ":memory:":
                _share(connection)
            self._prepare(connection)
        except BaseException:
            connection.close()
            raise
        return connection

    def _identity(self) -> tuple[int, int] | None:
        try:
            info = os.stat(self.path) if self.path is not None else None
        except OSError:
            return (0, 0)
        return info and (info.st_dev, info.st_ino)


@contextmanager
def explaining(path: str | None) -> Iterator[None]:
    """Say in our words what goes wrong in a `with` block that uses a SQLite file; None is one in memory."""
    check_sqlite()
    import sqlite3

    place = "the database" if path is None else shown(path)
    try:
        yield
    except UnicodeDecodeError as error:  # in what SQLite says of a damaged file, it quotes the file
        raise _damaged(error, place) from error
    except sqlite3.Error as error:
        code = getattr(error, "sqlite_errorcode", 0) & 0xFF
        if code in _BUSY:
            raise LockBusy(f"{place}: another process has been writing for {WAIT:.0f} s; try again") from error
        if code in _DAMAGED:
            raise _damaged(error, place) from error
        if code == _FULL:
            raise StorageError(f"{place}: not written: {explain(OSError(errno.ENOSPC, str(error)))}") from error
        if code == _IO_ERROR:
            raise StorageError(f"{place}: not written: {explain(OSError(_why_io(), str(error)))}") from error
        raise StorageError(f"{place}: {error}; mend that and try again") from error


def _why_io() -> int:
    """Return the error that SQLite does not name: a limit on file sizes where this process has one, else the disk."""
    try:
        import resource
    except ImportError:  # Windows has no such limit
        return errno.EIO
    is_limited = resource.getrlimit(resource.RLIMIT_FSIZE)[0] != resource.RLIM_INFINITY
    return errno.EFBIG if is_limited else errno.EIO


def _damaged(error: Exception, place: str) -> DamagedFile:
    return DamagedFile(f"is not a sound SQLite file: {error}; restore it from a backup", path=place)


def _share(connection: sqlite3.Connection) -> None:
    import sqlite3

    deadline = time.monotonic() + WAIT
    while connection.execute("PRAGMA journal_mode").fetchone()[0] != "wal":
        try:
            connection.execute("PRAGMA journal_mode = WAL")
        except sqlite3.OperationalError as error:
            # For this one change SQLite does not wait by itself when another process makes it too.
            if error.sqlite_errorcode not in _BUSY or time.monotonic() > deadline:
                raise
            time.sleep(0.01)

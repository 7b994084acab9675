"""A SQLite file beside the records that may be deleted or lost at any time, so nothing ever fails because of it.

Where it is damaged, it is made anew; where it cannot be read or written, its tables are kept in this process instead.
"""

import os
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any, TypeVar

from ..disk.database import Database
from ..errors import DamagedFile, LockBusy, StorageError

if TYPE_CHECKING:
    from sqlite3 import Connection

Answer = TypeVar("Answer")


class SideFile:
    """Some tables in a file, or with the path None in this process. Whoever uses it lets no two threads in at once."""

    def __init__(self, path: str | None, *tables: str) -> None:
        self._tables = tables
        self._database = Database(path, self._prepare)

    def close(self) -> None:
        """Close the file. The next call opens it again."""
        self._database.close()

    def __del__(self) -> None:
        self.close()

    def rows(self, query: str, values: Sequence[object] = ()) -> list[tuple[Any, ...]]:
        """Return what a query finds. Where there is no file yet, that is nothing, and none is made."""
        return self._do(lambda connection: connection.execute(query, values).fetchall(), write=False) or []

    def write(self, *changes: tuple[str, Iterable[Sequence[object]]]) -> None:
        """Make changes, all or none: statements, each with the rows of values that it is done for."""
        listed = [(statement, list(rows)) for statement, rows in changes]

        def work(connection: "Connection") -> None:
            for statement, rows in listed:
                connection.executemany(statement, rows)

        self._do(work, write=True)

    def _do(self, work: "Callable[[Connection], Answer]", *, write: bool) -> Answer | None:
        for _ in range(3):
            try:
                with self._database.transaction(write=write) as connection:
                    return work(connection)
            except LockBusy:
                return None
            except DamagedFile:
                self._remove()
            except StorageError:
                self.close()
                self._database = Database(None, self._prepare)
        return None

    def _prepare(self, connection: "Connection") -> None:
        # What is lost with the power is made anew, so the disk is not asked to confirm anything.
        connection.execute("PRAGMA synchronous = OFF")
        connection.execute("PRAGMA secure_delete = ON")
        for table in self._tables:
            connection.execute(table)

    def _remove(self) -> None:
        self.close()
        for ending in ("", "-wal", "-shm"):
            with suppress(OSError):
                os.remove(f"{self._database.path}{ending}")

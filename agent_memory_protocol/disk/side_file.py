"""A SQLite file of what may be lost at any time: an index, what was seen, counts. Nothing fails because of it.

A file that is damaged, or that somebody else made, is replaced. Where there can be no file, the tables are kept in this
process.
"""

import os
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any, TypeVar

from ..errors import DamagedFile, LockBusy, StorageError
from .database import Database

if TYPE_CHECKING:
    from sqlite3 import Connection

Answer = TypeVar("Answer")


class SideFile(Database):
    """Some tables in a file. A caller lets in one thread at a time.

    Args:
        path: the file; None keeps the tables in this process.
        version: goes up when the tables mean something else; a file of another version is replaced.
        inner: a GLOB of the names of tables that SQLite itself adds to these.
    """

    def __init__(
        self, path: str | os.PathLike[str] | None, *statements: str, version: int = 0, inner: str = ""
    ) -> None:
        self._schema = (version, {*statements})
        self._statements = statements
        self._inner = inner
        super().__init__(path, self._create)

    def delete(self) -> None:
        """Remove the file, with all that is left in it of what was taken out. The next call makes it again."""
        self.close()
        if self.path is not None:
            for ending in ("", "-wal", "-shm"):
                with suppress(OSError):
                    os.unlink(self.path + ending)

    def keep_in_process(self) -> None:
        """Leave the file alone from now on, and begin with empty tables in this process."""
        self.close()
        self.path = None

    def do(self, work: "Callable[[Connection], Answer]", *, write: bool = False) -> Answer:
        """Do something in one transaction: in a new file if this one is of no use, or else in this process."""
        for mend in (self.delete, self.keep_in_process):
            try:
                if self.path is not None and os.path.islink(self.path):
                    self.delete()  # it could lead anywhere
                with self.transaction(write=write) as connection:
                    return work(connection)
            except LockBusy:
                raise
            except DamagedFile:
                mend()
            except StorageError:
                self.keep_in_process()
        with self.transaction(write=write) as connection:
            return work(connection)

    def rows(self, query: str, values: Sequence[object] = ()) -> list[tuple[Any, ...]]:
        """Return what a query finds; nothing if nothing can be read. Where there is no file yet, none is made."""
        with suppress(StorageError):
            return self.do(lambda connection: connection.execute(query, values).fetchall())
        return []

    def write(self, *changes: tuple[str, Iterable[Sequence[object]]]) -> None:
        """Make changes, all or none: statements, each with the rows of values that it is done for."""
        listed = [(statement, list(rows)) for statement, rows in changes]

        def work(connection: "Connection") -> None:
            for statement, rows in listed:
                connection.executemany(statement, rows)

        with suppress(StorageError):
            self.do(work, write=True)

    def _create(self, connection: "Connection") -> None:
        """Create the tables, or make sure that they are ours: the file may come from anyone."""
        connection.execute("PRAGMA trusted_schema = OFF")
        connection.execute("PRAGMA synchronous = NORMAL")
        connection.execute("PRAGMA secure_delete = ON")
        if self._found(connection) == self._schema:
            return
        connection.execute("BEGIN IMMEDIATE")
        try:
            found = self._found(connection)
            if found == (0, set()):
                for statement in self._statements:
                    connection.execute(statement)
                connection.execute(f"PRAGMA user_version = {self._schema[0]}")
            elif found != self._schema:
                raise DamagedFile("is not a file of this version")
            connection.execute("COMMIT")
        finally:
            if connection.in_transaction:
                connection.execute("ROLLBACK")

    def _found(self, connection: "Connection") -> tuple[int, set[str]]:
        (version,) = connection.execute("PRAGMA user_version").fetchone()
        query = "SELECT sql FROM sqlite_master WHERE sql NOT NULL AND name NOT GLOB ?"
        return version, {sql for (sql,) in connection.execute(query, (self._inner,))}

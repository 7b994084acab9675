"""A store in one SQLite file, for many records or many writers; or in this process, for what leaves nothing behind.

The versions are the truth; the other two tables, latest versions and their tags, are there for people who query the
file, and for the published reference implementation, which works on the same tables. One `put` is one transaction.
"""

import builtins
import json
import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import datetime
from functools import partial
from itertools import groupby
from operator import itemgetter
from typing import TYPE_CHECKING, Any, Self

from ..disk.database import Database
from ..disk.errors import shown
from ..disk.writing import NotConfirmed
from ..errors import DamagedFile
from .record import Record, RecordType, State
from .store import batches, check_put, chosen, parsed, read_version, tombstone_of, unknown

if TYPE_CHECKING:
    from sqlite3 import Connection, Cursor

_TABLES = (
    """CREATE TABLE IF NOT EXISTS history (
        record_id TEXT NOT NULL, version INTEGER NOT NULL, payload TEXT NOT NULL, PRIMARY KEY (record_id, version))""",
    """CREATE TABLE IF NOT EXISTS records (
        record_id TEXT PRIMARY KEY, seq INTEGER NOT NULL, state TEXT NOT NULL, type TEXT NOT NULL,
        payload TEXT NOT NULL)""",
    "CREATE TABLE IF NOT EXISTS record_tags (record_id TEXT NOT NULL, tag TEXT NOT NULL, PRIMARY KEY (record_id, tag))",
    "CREATE INDEX IF NOT EXISTS idx_records_state ON records (state)",
    "CREATE INDEX IF NOT EXISTS idx_records_type ON records (type)",
)


_QUERIED = (
    "SELECT record_id, state, type, payload,"
    " (SELECT json_group_array(tag) FROM record_tags WHERE record_id = one.record_id) FROM records AS one WHERE {}"
)
"""What people query of each record, its tags as JSON."""


class SqliteStore:
    """Records in one SQLite file, which the first `put` creates. Threads may share it; a forked child opens its own.

    Args:
        path: the file; None keeps the records in this process.
    """

    def __init__(self, path: str | os.PathLike[str] | None) -> None:
        self._database = Database(path, _prepare)
        self.path = self._database.path

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the file. The next call opens it again."""
        self._database.close()

    def put(self, record: Record, *, after: Record | None = None) -> int:
        """Add a version; see `RecordStore`."""
        with self._database.transaction(write=True) as connection:
            number, newest = _versions(connection, record.id).fetchone() or (0, "")
            check_put(self._read(newest, record.id) if number else None, record, after)
            payload = record.to_bytes().decode()
            connection.execute("INSERT INTO history VALUES (?, ?, ?)", (record.id, number + 1, payload))
            _project(connection, record, payload)
            return int(number) + 1

    def get(self, id: str) -> Record:
        """Return the newest version; see `RecordStore`."""
        with self._database.transaction() as connection:
            newest = _versions(connection, id).fetchone()
        if newest is None:
            raise unknown(id)
        return self._read(newest[1], id)

    def history(self, id: str) -> tuple[Record, ...]:
        """Return every version; see `RecordStore`."""
        with self._database.transaction() as connection:
            versions = _versions(connection, id).fetchall()[::-1]
        return self._whole(id, versions)

    def newest(self, ids: Iterable[str]) -> Iterator[tuple[str, Callable[[], Record]]]:
        """Yield what reads the newest version of each; see `Bulk`."""
        query = "SELECT record_id, payload, MAX(version) FROM history WHERE {} GROUP BY record_id"
        return ((name, partial(self._read, payload, name)) for name, payload, _ in self._of_many(query, ids))

    def histories(self, ids: Iterable[str]) -> Iterator[tuple[str, Callable[[], tuple[Record, ...]]]]:
        """Yield what reads the versions of each; see `Bulk`."""
        query = "SELECT record_id, version, payload FROM history WHERE {} ORDER BY record_id, version"
        for batch in batches(ids):
            queried = {name: row for name, *row in self._of_many(_QUERIED, batch)}
            for name, rows in groupby(self._of_many(query, batch), itemgetter(0)):
                yield name, partial(self._verified, name, [row[1:] for row in rows], queried.get(name))

    def list(
        self, *, state: State | None = None, type: RecordType | None = None, tag: str | None = None
    ) -> tuple[Record, ...]:
        """Return the newest versions; see `RecordStore`."""
        with self._database.transaction() as connection:
            rows = connection.execute(
                "SELECT record_id, payload FROM history AS one WHERE version ="
                " (SELECT MAX(version) FROM history WHERE record_id = one.record_id)"
            ).fetchall()
        return chosen((self._read(payload, name, once=True) for name, payload in rows), state, type, tag)

    def redact(self, id: str, *, reason: str, now: datetime) -> Record:
        """Put a tombstone in place of every version. The file is written again without the old bytes.

        Raises NotConfirmed if another process still reads these; call it again later.
        """
        with self._database.transaction(write=self.path is None or os.path.exists(self.path)) as connection:
            versions = _versions(connection, id).fetchall()
            if not versions:
                raise unknown(id)
            tombstone = tombstone_of((partial(self._read, one, id) for _, one in versions), reason=reason, now=now)
            payload = tombstone.to_bytes().decode()
            connection.execute("UPDATE history SET payload = ? WHERE record_id = ?", (payload, id))
            _project(connection, tombstone, payload)
        parsed.cache_clear()
        with self._database.connection() as connection:
            connection.execute("VACUUM")
            if connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()[0]:
                raise NotConfirmed(
                    f"{self._shown}: {id} is redacted, but another process still reads what was there;"
                    " redact it again when that has ended"
                )
        return tombstone

    def mark(self) -> object:
        """Return what is equal as long as nobody has written; see `Watched`."""
        with self._database.transaction() as connection:
            # The first tells what other connections have written, the second what this one has.
            version = connection.execute("PRAGMA data_version").fetchone()[0]
            return self._database.opened, version, connection.total_changes

    def stamps(self, ids: Iterable[str] | None = None) -> dict[str, str]:
        """Return a text for each record's newest version; see `Watched`."""
        # Of the other columns, SQLite returns those of the row that has the maximum.
        query = "SELECT record_id, MAX(version), LENGTH(payload) FROM history {} GROUP BY record_id"
        with self._database.transaction() as connection:
            if ids is None:
                rows = connection.execute(query.format("")).fetchall()
            else:
                one = query.format("WHERE record_id = ?")
                rows = [row for name in ids for row in connection.execute(one, (name,))]
            return {name: f"{version} {length}" for name, version, length in rows}

    def strays(self) -> builtins.list[str]:
        """Return the ids that only the tables have which people query; see `Tables`."""
        tables = "SELECT record_id FROM records UNION SELECT record_id FROM record_tags"
        with self._database.transaction() as connection:
            rows = connection.execute(f"{tables} EXCEPT SELECT record_id FROM history")  # noqa: S608 ours
            return [str(name) for (name,) in rows]

    def _of_many(self, query: str, ids: Iterable[str]) -> Iterator[tuple[Any, ...]]:
        """Yield the rows of these records; the query says nothing else of which rows it wants."""
        for batch in batches(ids):
            asked = query.format("record_id IN (SELECT value FROM json_each(?))")
            with self._database.transaction() as connection:
                rows = connection.execute(asked, (json.dumps(batch),)).fetchall()
            yield from rows

    def _whole(self, id: str, versions: Sequence[tuple[int, object]]) -> tuple[Record, ...]:
        """Return the versions of a record from their numbers and payloads. Raises as `history`."""
        if not versions:
            raise unknown(id)
        if [number for number, _ in versions] != [*range(1, len(versions) + 1)]:
            raise DamagedFile(f"a version of {id} is missing; restore the file from a backup", path=self._shown)
        return tuple(self._read(payload, id, once=True) for _, payload in versions)

    def _verified(
        self, id: str, versions: Sequence[tuple[int, object]], queried: Sequence[Any] | None
    ) -> tuple[Record, ...]:
        """Return the versions of a record, if the tables that people query say the same as the newest one."""
        found = self._whole(id, versions)
        newest = found[-1]
        *said, tags = queried or ("[]",)
        if said != [newest.state, newest.type, versions[-1][1]] or {*json.loads(tags)} != {*newest.tags}:
            reason = f"the tables records and record_tags do not say what the newest version of {id} says"
            raise DamagedFile(f"{reason}; restore the file from a backup", path=self._shown)
        return found

    @property
    def _shown(self) -> str:
        return shown(self.path or "")

    def _read(self, payload: object, id: str, *, once: bool = False) -> Record:
        return read_version(payload.encode() if isinstance(payload, str) else b"", id, self._shown, once=once)


class MemoryStore(SqliteStore):
    """Records in this process, for tests and for work that leaves nothing behind. Threads may share it."""

    def __init__(self) -> None:
        super().__init__(None)


def has_history(path: str) -> bool:
    """Say whether a database holds the versions of records. Nothing in it is changed."""
    with Database(path, lambda _: None).transaction() as connection:
        return _has_table(connection, "name = 'history'")


def _has_table(connection: "Connection", condition: str) -> bool:
    query = f"SELECT name FROM sqlite_master WHERE type = 'table' AND {condition}"  # noqa: S608 ours
    return connection.execute(query).fetchone() is not None


def _prepare(connection: "Connection") -> None:
    if _has_table(connection, "name NOT LIKE 'sqlite_%'") and not _has_table(connection, "name = 'history'"):
        raise DamagedFile("is a database of something else, and holds no records; name another file")
    connection.execute("PRAGMA synchronous = FULL")
    connection.execute("PRAGMA secure_delete = ON")
    if not _has_table(connection, "name = 'record_tags'"):
        connection.execute("BEGIN IMMEDIATE")
        for table in _TABLES:
            connection.execute(table)
        connection.execute("COMMIT")


def _versions(connection: "Connection", id: str) -> "Cursor":
    """Find the versions of a record: numbers and payloads, the newest first."""
    return connection.execute("SELECT version, payload FROM history WHERE record_id = ? ORDER BY version DESC", (id,))


def _project(connection: "Connection", record: Record, payload: str) -> None:
    """Bring the tables that people query up to the newest version."""
    connection.execute(
        "INSERT INTO records VALUES (?, (SELECT COALESCE(MAX(seq), 0) + 1 FROM records), ?, ?, ?)"
        " ON CONFLICT (record_id) DO UPDATE SET state = excluded.state, type = excluded.type,"
        " payload = excluded.payload",
        (record.id, record.state, record.type, payload),
    )
    connection.execute("DELETE FROM record_tags WHERE record_id = ?", (record.id,))
    connection.executemany("INSERT INTO record_tags VALUES (?, ?)", [(record.id, tag) for tag in set(record.tags)])

"""A store in one SQLite file, for many records or many writers.

The versions are the truth; the other two tables, latest versions and their tags, are there for people who query the
file, and for the published reference implementation, which works on the same tables. One `put` is one transaction.
"""

import os
from collections.abc import Iterable
from datetime import datetime
from typing import TYPE_CHECKING, Self

from ..disk.database import Database
from ..disk.errors import shown
from ..disk.writing import NotConfirmed
from ..errors import AgentMemoryError, DamagedFile, InvalidRecord
from .lifecycle import redact
from .record import Record, RecordType, State
from .store import check_put, chosen, parsed, unknown

if TYPE_CHECKING:
    from sqlite3 import Connection

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


class SqliteStore:
    """Records in one SQLite file, which the first `put` creates. Threads may share it; a forked child opens its own."""

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = os.path.abspath(os.fspath(path))
        self._database = Database(self.path, _prepare)

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
            versions = _payloads(connection, record.id, newest=True)
            check_put(self._parse(versions[-1][1], record.id) if versions else None, record, after)
            number: int = versions[-1][0] + 1 if versions else 1
            payload = record.to_bytes().decode()
            connection.execute("INSERT INTO history VALUES (?, ?, ?)", (record.id, number, payload))
            _project(connection, record, payload)
            return number

    def get(self, id: str) -> Record:
        """Return the newest version; see `RecordStore`."""
        with self._database.transaction() as connection:
            versions = _payloads(connection, id, newest=True)
        if not versions:
            raise unknown(id)
        return self._parse(versions[-1][1], id)

    def history(self, id: str) -> tuple[Record, ...]:
        """Return every version; see `RecordStore`."""
        with self._database.transaction() as connection:
            versions = _payloads(connection, id)
        if not versions:
            raise unknown(id)
        if [number for number, _ in versions] != list(range(1, len(versions) + 1)):
            raise DamagedFile(f"a version of {id} is missing; restore the file from a backup", path=shown(self.path))
        return tuple(self._parse(payload, id) for _, payload in versions)

    def list(
        self, *, state: State | None = None, type: RecordType | None = None, tag: str | None = None
    ) -> tuple[Record, ...]:
        """Return the newest versions; see `RecordStore`."""
        with self._database.transaction() as connection:
            rows = connection.execute(
                "SELECT record_id, payload FROM history AS one WHERE version ="
                " (SELECT MAX(version) FROM history WHERE record_id = one.record_id)"
            ).fetchall()
        return chosen((self._parse(payload, name) for name, payload in rows), state, type, tag)

    def redact(self, id: str, *, reason: str, now: datetime) -> Record:
        """Put a tombstone in place of every version; see `Redacting`. The file is written again without the old bytes.

        Raises:
            NotConfirmed: it is redacted, but another process still reads the old bytes; call this again later.
        """
        with self._database.transaction(write=os.path.exists(self.path)) as connection:
            versions = _payloads(connection, id)
            if not versions:
                raise unknown(id)
            newest = self._newest_readable([payload for _, payload in versions], id)
            tombstone = newest if newest.redacted else redact(newest, reason=reason, now=now)
            payload = tombstone.to_bytes().decode()
            connection.execute("UPDATE history SET payload = ? WHERE record_id = ?", (payload, id))
            _project(connection, tombstone, payload)
        parsed.cache_clear()
        self._forget_old_bytes(id)
        return tombstone

    def mark(self) -> object:
        """Return what is equal as long as nobody has written; see `Watched`."""
        with self._database.transaction() as connection:
            # The first tells what other connections have written, the second what this one has.
            version = connection.execute("PRAGMA data_version").fetchone()[0]
            return self._database.opened, version, connection.total_changes

    def stamps(self, ids: Iterable[str] | None = None) -> dict[str, str]:
        """Return a text for each record's newest version; see `Watched`."""
        with self._database.transaction() as connection:
            if ids is not None:
                newest = ((name, _payloads(connection, name, newest=True)) for name in ids)
                return {name: f"{rows[0][0]} {len(rows[0][1])}" for name, rows in newest if rows}
            # Of the other columns, SQLite returns those of the row that has the maximum.
            query = "SELECT record_id, MAX(version), LENGTH(payload) FROM history GROUP BY record_id"
            return {name: f"{version} {length}" for name, version, length in connection.execute(query)}

    def _forget_old_bytes(self, id: str) -> None:
        with self._database.connection() as connection:
            connection.execute("VACUUM")
            busy = connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()[0]
        if busy:
            raise NotConfirmed(
                f"{shown(self.path)}: {id} is redacted, but another process still reads what stood there;"
                " redact it again when that has ended"
            )

    def _parse(self, payload: object, id: str) -> Record:
        try:
            record = parsed(payload.encode() if isinstance(payload, str) else b"")
        except InvalidRecord as error:
            raise DamagedFile(f"{error}; restore the file from a backup", path=shown(self.path)) from None
        if record.id != id:
            raise DamagedFile(f"the record {record.id} stands in the place of {id}", path=shown(self.path))
        return record

    def _newest_readable(self, payloads: Iterable[str], id: str) -> Record:
        """Return the newest version that can be read: what is damaged may hold what has to go as well."""
        damage: AgentMemoryError = unknown(id)
        for payload in reversed(list(payloads)):
            try:
                return self._parse(payload, id)
            except DamagedFile as error:
                damage = error
        raise damage


def _prepare(connection: "Connection") -> None:
    connection.execute("PRAGMA synchronous = FULL")
    connection.execute("PRAGMA secure_delete = ON")
    if connection.execute("SELECT name FROM sqlite_master WHERE name = 'record_tags'").fetchone() is None:
        connection.execute("BEGIN IMMEDIATE")
        for table in _TABLES:
            connection.execute(table)
        connection.execute("COMMIT")


def _payloads(connection: "Connection", id: str, *, newest: bool = False) -> list[tuple[int, str]]:
    """Return the versions of a record by number; with `newest` only the last one."""
    rows = connection.execute(
        "SELECT version, payload FROM history WHERE record_id = ? ORDER BY version DESC LIMIT ?",
        (id, 1 if newest else -1),
    )
    return rows.fetchall()[::-1]


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

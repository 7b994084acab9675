"""What was last seen of each record in a store, so that a look reads only what is new.

Other processes write to the same store. A record's text never changes, and what was replaced or archived never comes
back, so little of what is known from an older version is wrong. What was seen is kept in a file without content, only
hashes. The file may be deleted at any time: then every record is read again.
"""

import time
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from datetime import date, datetime

from ..disk import collector
from ..disk.database import check_sqlite
from ..disk.side_file import SideFile
from ..errors import StorageError, UnknownRecord
from ..text.digest import blake2b
from . import heads
from .canonical import format_moment
from .record import Record, RecordType
from .store import Bulk, RecordStore, Watched

_TABLES = (
    "CREATE TABLE seen (record_id TEXT PRIMARY KEY, stamp TEXT, type TEXT, body BLOB)",
    "CREATE INDEX seen_body ON seen (body)",
    "CREATE INDEX seen_type ON seen (type)",
    heads.TABLE,
)

_TIMES_BETWEEN = 20  # A hurried caller spends at most one part in so many of its time on looking


class Seen:
    """A store as it was at the last look.

    Args:
        store: the records.
        path: the file of what was seen; None keeps that in this process.
    """

    tables: tuple[str, ...] = _TABLES

    def __init__(self, store: RecordStore, path: str | None = None) -> None:
        self.problems: dict[str, str] = {}  # why a record could not be read, by id
        self._stamps: dict[str, str] = {}
        self._store = store
        self._watched: Watched = store if isinstance(store, Watched) else _Unwatched(store)
        self._file = SideFile(path, *self.tables)
        self.revision = 0  # goes up whenever `stamps` may have changed
        self._looked = False
        self._mark: object = None
        self._wrote = False
        self._rest_until = 0.0

    @property
    def stamps(self) -> Mapping[str, str]:
        """For each record that can be read, a text that changes with its newest version."""
        return self._stamps

    def close(self) -> None:
        """Close the file. The next call opens it again."""
        self._file.close()

    def look(self, *, hurried: bool = False) -> list[Record]:
        """Return the newest versions of the records that are new or have changed.

        With `hurried`, what others add may be noticed a little later: a look takes time in proportion to the store.
        """
        mark = self._watched.mark()
        if self._looked:
            if mark is not None and mark == self._mark:
                return []
            if hurried and self._wrote and time.monotonic() < self._rest_until:
                return []
        begin = time.monotonic()
        known = self._stamps if self._looked else dict(self._file.rows("SELECT record_id, stamp FROM seen"))
        found = self._watched.stamps()
        self.problems.clear()
        with collector.left_alone():
            changed = self.read_each(name for name, stamp in found.items() if known.get(name) != stamp)
        self._stamps = {name: stamp for name, stamp in found.items() if name in changed or known.get(name) == stamp}
        gone = known.keys() - self._stamps.keys()
        if changed or gone:
            self._note(changed, gone)
        self.revision += 1
        end = time.monotonic()
        self._looked, self._mark, self._wrote = True, mark, False
        self._rest_until = end + _TIMES_BETWEEN * (end - begin)
        return list(changed.values())

    def read(self, id: str) -> Record | None:
        """Return the newest version of a record as it is now; None if it cannot be read, which is a problem."""
        return self._read(id, lambda: self._store.get(id))

    def _read(self, id: str, read: Callable[[], Record]) -> Record | None:
        try:
            return read()
        except UnknownRecord:  # a writer was killed before its first version, or has not come to it yet
            return None
        except StorageError as error:
            self.problems[id] = str(error)
            return None

    def read_each(self, ids: Iterable[str]) -> dict[str, Record]:
        """Return by id what `read` returns of each of these records, where it is one."""
        if not isinstance(self._store, Bulk):
            return {name: record for name in ids if (record := self.read(name)) is not None}
        wanted = [*ids]
        found = {name: record for name, read in self._store.newest(wanted) if (record := self._read(name, read))}
        return {name: found[name] for name in wanted if name in found}

    def beginning(self, start: str) -> Iterable[str]:
        """Return the ids that begin so."""
        return [name for name in self.stamps if name.startswith(start)]

    def changed(self, since: date, ids: Collection[str]) -> set[str]:
        """Return which of these records have changed on a day (UTC) or later, as they were seen."""
        rows = self._file.rows("SELECT record_id FROM heads WHERE updated >= ?", (since.isoformat(),))
        return {name for (name,) in rows}.intersection(ids)

    def set_back(self, newest: Mapping[str, datetime | None]) -> list[str]:
        """Say which of the records have an earlier version now than was seen before, or are gone."""
        return heads.set_back(self._file, newest)

    def was_set_back(self, record: Record) -> bool:
        """Say whether this is the newest version of a record now, and this machine has seen a later one."""
        later = "SELECT 1 FROM heads WHERE record_id = ? AND updated > ?"
        has_later = bool([*self._file.rows(later, (record.id, format_moment(record.updated_at)))])
        return has_later and self.read(record.id) == record  # another process may just have written the later one

    def wrote(self, record: Record) -> None:
        """Take in what this process has just written."""
        self._stamps |= self._watched.stamps([record.id])
        self.revision += 1
        self._note({record.id: record})
        self._wrote = True

    def saying(self, body: str) -> list[Record]:
        """Return, as they are now, the records that said exactly this when they were seen. It needs SQLite."""
        return self._chosen("body", hash_of(body))

    def rules(self) -> list[Record]:
        """Return the rules, as they are now. Raises as `saying`."""
        return self._chosen("type", RecordType.RULE)

    def _chosen(self, column: str, value: object) -> list[Record]:
        check_sqlite()
        rows = self._file.rows(f"SELECT record_id FROM seen WHERE {column} = ?", (value,))  # noqa: S608 ours
        return [record for (name,) in rows if (record := self.read(name)) is not None]

    def _note(
        self, records: Mapping[str, Record], gone: Iterable[str] = (), *more: tuple[str, Iterable[Sequence[object]]]
    ) -> None:
        self._file.write(
            *more,
            heads.noted(records.values()),
            ("DELETE FROM seen WHERE record_id = ?", [(name,) for name in gone]),
            (
                "INSERT OR REPLACE INTO seen VALUES (?, ?, ?, ?)",
                [
                    (name, self._stamps[name], record.type, hash_of(record.body))
                    for name, record in records.items()
                    if name in self._stamps
                ],
            ),
        )


class _Unwatched:
    """Any store, which is read as a whole at each look."""

    def __init__(self, store: RecordStore) -> None:
        self._store = store

    def mark(self) -> object:
        return None

    def stamps(self, ids: Iterable[str] | None = None) -> dict[str, str]:
        records = self._store.list() if ids is None else map(self._store.get, ids)
        return {record.id: blake2b(record.to_bytes(), digest_size=8).hexdigest() for record in records}


def hash_of(body: str) -> bytes:
    """Return by what a text is recognised, without its content."""
    return blake2b(body.encode(), digest_size=16).digest()

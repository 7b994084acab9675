"""What has changed in a store since it was last looked at, without reading all of it again.

Other processes write to the same store. A record's text never changes, and what was replaced or archived never comes
back, so whoever holds an older version knows little that is wrong; here is noticed which records came, went or have
another version.
"""

import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from ..errors import StorageError, UnknownRecord
from ..text.digest import blake2b
from .catalog import Catalog
from .record import Record
from .store import RecordStore, Watched

_TIMES_BETWEEN = 20
"""Whoever is in a hurry spends at most one part in so many of its time on looking."""


@dataclass(frozen=True, slots=True)
class Changes:
    """What one look has found.

    Attributes:
        records: the newest versions of the records that are new or have another version.
        gone: the ids of those that are no longer there, or cannot be read any more.
    """

    records: tuple[Record, ...] = ()
    gone: tuple[str, ...] = ()


class View:
    """A store as it was at the last look.

    Attributes:
        problems: why a record could not be read, by id.
    """

    def __init__(self, store: RecordStore, catalog: Catalog) -> None:
        self.problems: dict[str, str] = {}
        self._store = store
        self._watched: Watched = store if isinstance(store, Watched) else _Unwatched(store)
        self._catalog = catalog
        self._stamps: dict[str, str] | None = None
        self._mark: object = None
        self._wrote = False
        self._rest_until = 0.0

    @property
    def stamps(self) -> Mapping[str, str]:
        """For each record that can be read, a text that changes with its newest version."""
        return self._stamps or {}

    def look(self, *, hurried: bool = False) -> Changes:
        """Say what has changed.

        With `hurried`, records that others add while this process writes many may be noticed a little later: a look
        takes time in proportion to the store.

        Raises:
            StorageError: the store cannot be listed.
        """
        mark = self._watched.mark()
        if self._stamps is not None:
            if mark is not None and mark == self._mark:
                return Changes()
            if hurried and self._wrote and time.monotonic() < self._rest_until:
                return Changes()
        begin = time.monotonic()
        known = self._catalog.stamps() if self._stamps is None else self._stamps
        found = self._watched.stamps()
        self.problems.clear()
        read = (self.read(name) for name, text in found.items() if known.get(name) != text)
        changed = {record.id: record for record in read if record is not None}
        self._stamps = {name: text for name, text in found.items() if name in changed or known.get(name) == text}
        gone = tuple(known.keys() - self._stamps.keys())
        if changed or gone:
            self._catalog.note([(record, found[name]) for name, record in changed.items()], gone)
        end = time.monotonic()
        self._mark, self._wrote, self._rest_until = mark, False, end + _TIMES_BETWEEN * (end - begin)
        return Changes(tuple(changed.values()), gone)

    def read(self, id: str) -> Record | None:
        """Return the newest version of a record as it is now; None where it cannot be read, which is a problem."""
        try:
            return self._store.get(id)
        except UnknownRecord:  # a writer was killed before its first version, or has not come to it yet
            return None
        except StorageError as error:
            self.problems[id] = str(error)
            return None

    def wrote(self, records: Iterable[Record]) -> None:
        """Take in what this process has just written."""
        newest = {record.id: record for record in records}
        stamps = self._watched.stamps(newest)
        if self._stamps is not None:
            self._stamps |= stamps
        self._catalog.note((newest[name], text) for name, text in stamps.items())
        self._wrote = True


class _Unwatched:
    """Any store, which is read as a whole at each look."""

    def __init__(self, store: RecordStore) -> None:
        self._store = store

    def mark(self) -> object:
        return None

    def stamps(self, ids: Iterable[str] | None = None) -> dict[str, str]:
        records = self._store.list() if ids is None else map(self._store.get, ids)
        return {record.id: blake2b(record.to_bytes(), digest_size=8).hexdigest() for record in records}

"""Stores: where every version of every record stays, behind one port; here in memory and in a directory.

A store only adds. It takes a version that the lifecycle allows after the newest one it holds, and a caller that lost a
race finds that out instead of writing over the other. Redaction is not part of the port: it is the one act that
replaces what is stored, for people, and a tombstone is then in place of every version.

A directory holds `<32 hex digits>/000001.json` and so on, each file the canonical bytes of one version. A number is
claimed by a hard link to a finished file, so versions are whole or absent, and processes on one disk need no lock.
"""

import os
import re
import threading
import time
from collections.abc import Iterable
from contextlib import suppress
from datetime import datetime
from functools import lru_cache
from typing import Protocol, runtime_checkable

from ..disk.errors import shown
from ..disk.files import Root, stamp
from ..disk.writing import ChangedMeanwhile, create, make_folders, remove_leftovers, replace
from ..errors import DamagedFile, IllegalMove, InvalidRecord, Refused, UnknownRecord
from .lifecycle import check_version, redact
from .record import Record, RecordType, State, is_id

LAST_VERSION = 999_999

_VERSION = re.compile(r"[0-9]{6}\.json")
_FOLDER = re.compile(r"[0-9a-f]{32}")
_REFERENCE_TEMPORARY = ".tmp-"
_TRIES = 1000
_SECOND = 10**9
_TICK = _SECOND // 10
_COARSE_TICK = 3 * _SECOND
"""Nanoseconds between which two changes have different times: as the systems of today keep time, and as old ones do."""


class RecordStore(Protocol):
    """What every store does. All of them pass the same tests."""

    def put(self, record: Record, *, after: Record | None = None) -> int:
        """Add a version, the first one of its id or one that may follow the newest; return its number from 1.

        With `after`, only if that is the newest version still.

        Raises:
            IllegalMove: the lifecycle does not let it follow the newest version.
            ChangedMeanwhile: another version has come since `after`.
            StorageError: it was not written, or what is there cannot be read.
        """

    def get(self, id: str) -> Record:
        """Return the newest version.

        Raises:
            UnknownRecord: there is no such record.
            StorageError: it cannot be read.
        """

    def history(self, id: str) -> tuple[Record, ...]:
        """Return every version, oldest first. Raises as `get`, also when one is missing."""

    def list(
        self, *, state: State | None = None, type: RecordType | None = None, tag: str | None = None
    ) -> tuple[Record, ...]:
        """Return the newest versions that meet every condition given, by birth and then by id.

        Raises:
            StorageError: one cannot be read.
        """


@runtime_checkable
class Redacting(Protocol):
    """What a store can do besides, for people only; nothing that proposes changes may hold this."""

    def redact(self, id: str, *, reason: str, now: datetime) -> Record:
        """Put a tombstone in place of every version, and return it. What an earlier call left undone is finished.

        Raises:
            IllegalMove: no reason is given.
            UnknownRecord: there is no such record.
            StorageError: something could not be replaced; call it again.
        """


parsed = lru_cache(maxsize=4096)(Record.from_bytes)
"""Read the bytes of a record, or recognise them: a recall reads the same records again and again."""


@runtime_checkable
class Watched(Protocol):
    """What a store can do besides, so that who has read it need not read all of it again. All of ours do."""

    def mark(self) -> object:
        """Return what is equal as long as no record has come or gone; None where that cannot be told now."""

    def stamps(self, ids: Iterable[str] | None = None) -> dict[str, str]:
        """Return for these records, or all, a text that is another one when the record has another version.

        Raises:
            StorageError: the records cannot be listed.
        """


class MemoryStore:
    """Records in this process, for tests and for work that leaves nothing behind. Threads may share it."""

    def __init__(self) -> None:
        self._versions: dict[str, tuple[Record, ...]] = {}
        self._lock = threading.Lock()

    def put(self, record: Record, *, after: Record | None = None) -> int:
        """Add a version; see `RecordStore`."""
        with self._lock:
            versions = self._versions.get(record.id, ())
            check_put(versions[-1] if versions else None, record, after)
            self._versions[record.id] = (*versions, record)
            return len(versions) + 1

    def get(self, id: str) -> Record:
        """Return the newest version; see `RecordStore`."""
        return self.history(id)[-1]

    def history(self, id: str) -> tuple[Record, ...]:
        """Return every version; see `RecordStore`."""
        versions = self._versions.get(id, ())
        if not versions:
            raise unknown(id)
        return versions

    def list(
        self, *, state: State | None = None, type: RecordType | None = None, tag: str | None = None
    ) -> tuple[Record, ...]:
        """Return the newest versions; see `RecordStore`."""
        with self._lock:
            newest = [versions[-1] for versions in self._versions.values()]
        return chosen(newest, state, type, tag)

    def redact(self, id: str, *, reason: str, now: datetime) -> Record:
        """Put a tombstone in place of every version; see `Redacting`."""
        with self._lock:
            versions = self.history(id)
            tombstone = versions[-1] if versions[-1].redacted else redact(versions[-1], reason=reason, now=now)
            self._versions[id] = (tombstone,) * len(versions)
            return tombstone

    def mark(self) -> object:
        """Return what is equal as long as no record has come; see `Watched`."""
        return len(self._versions)

    def stamps(self, ids: Iterable[str] | None = None) -> dict[str, str]:
        """Return a text for each record's newest version; see `Watched`."""
        with self._lock:
            kept = {name: self._versions[name] for name in (self._versions if ids is None else ids)}
        return {name: f"{len(versions)} {versions[-1].redacted}" for name, versions in kept.items()}


class DirectoryStore:
    """Records as files that git can hold. Every call sees the disk as it is then, and nothing stays open.

    `path` is the folder, or with `parts` one above it that is not left, whatever links are on the way down. Folders
    are created by the first `put`.
    """

    def __init__(self, path: str | os.PathLike[str], parts: tuple[str, ...] = ()) -> None:
        self.path = os.path.abspath(os.fspath(path))
        self.parts = parts

    def put(self, record: Record, *, after: Record | None = None) -> int:
        """Add a version; see `RecordStore`."""
        data = record.to_bytes()
        root, top = self._open_or_make()
        with root:
            parts = (*top, _folder_name(record.id))
            for _ in range(_TRIES):
                numbers = _numbers(root, parts)
                _check_complete(numbers, parts)
                last = len(numbers)
                check_put(_read(root, parts, last, record.id) if last else None, record, after)
                if last == LAST_VERSION:
                    raise Refused(f"{record.id} has {LAST_VERSION} versions, and there is no number for another")
                make_folders(root, parts)
                path = (*parts, _file_name(last + 1))
                if create(root, path, data):
                    _follow_redaction(root, parts, last + 1, record.id)
                    return last + 1
                if _numbers(root, parts) == numbers:
                    raise DamagedFile(
                        "is no version, and stands in the place of the next one; move it", path=shown(*path)
                    )
        raise _never_still(record.id)

    def get(self, id: str) -> Record:
        """Return the newest version; see `RecordStore`."""
        with self._open(id) as root:
            parts = (*self.parts, _folder_name(id))
            return _read(root, parts, _existing(root, parts, id)[-1], id)

    def history(self, id: str) -> tuple[Record, ...]:
        """Return every version; see `RecordStore`."""
        with self._open(id) as root:
            parts = (*self.parts, _folder_name(id))
            numbers = _existing(root, parts, id)
            _check_complete(numbers, parts)
            return tuple(_read(root, parts, number, id) for number in numbers)

    def list(
        self, *, state: State | None = None, type: RecordType | None = None, tag: str | None = None
    ) -> tuple[Record, ...]:
        """Return the newest versions; see `RecordStore`."""
        if not os.path.lexists(self.path):
            return ()
        newest = []
        with Root.open(self.path) as root:
            for name in root.list_folders(self.parts):
                if _FOLDER.fullmatch(name):
                    parts = (*self.parts, name)
                    numbers = _numbers(root, parts)
                    if numbers:  # a killed first `put` leaves an empty folder
                        newest.append(_read(root, parts, numbers[-1], f"mem:{name}"))
        return chosen(newest, state, type, tag)

    def redact(self, id: str, *, reason: str, now: datetime) -> Record:
        """Put a tombstone in place of every version; see `Redacting`.

        The disk may keep the old bytes where no file is any more, and git its history.
        """
        with self._open(id) as root:
            parts = (*self.parts, _folder_name(id))
            newest = _newest_readable(root, parts, _existing(root, parts, id), id)
            tombstone = newest if newest.redacted else redact(newest, reason=reason, now=now)
            data = tombstone.to_bytes()
            for _ in range(_TRIES):
                left = [number for number in _numbers(root, parts) if _bytes(root, parts, number) != data]
                if not left:
                    break
                # The newest first, so that nobody adds to the record while its past is replaced.
                for number in reversed(left):
                    _overwrite(root, parts, number, data)
            else:
                raise _never_still(id)
            remove_leftovers(root, parts, _REFERENCE_TEMPORARY)
            parsed.cache_clear()
            return tombstone

    def mark(self) -> object:
        """Return what is equal as long as no folder has come or gone; see `Watched`."""
        try:
            info = os.stat(os.path.join(self.path, *self.parts))
        except FileNotFoundError:
            return ()
        except OSError:
            return None
        # A clock ticks: of two changes within one tick the second leaves no trace, so what is that new is not believed.
        tick = _TICK if info.st_mtime_ns % _SECOND else _COARSE_TICK
        return stamp(info) if info.st_mtime_ns < time.time_ns() - tick else None

    def stamps(self, ids: Iterable[str] | None = None) -> dict[str, str]:
        """Return a text for each record's folder; see `Watched`. Files that were edited in place do not show."""
        if not os.path.lexists(self.path):
            return {}
        found = {}
        with Root.open(self.path) as root:
            names = root.list_folders(self.parts) if ids is None else map(_folder_name, ids)
            for name in names:
                if _FOLDER.fullmatch(name):
                    place = root.locate((*self.parts, name))
                    if place is not None and place.info is not None:
                        found[f"mem:{name}"] = str(place.info.st_mtime_ns)
        return found

    def _open(self, id: str) -> Root:
        if not is_id(id) or not os.path.lexists(self.path):
            raise unknown(id)
        return Root.open(self.path)

    def _open_or_make(self) -> tuple[Root, tuple[str, ...]]:
        """Open the folder, or the nearest one above it that exists, and say where the records go below that."""
        path, missing = self.path, self.parts
        while not os.path.lexists(path):
            path, name = os.path.split(path)
            missing = (name, *missing)
        return Root.open(path), missing


def check_put(newest: Record | None, record: Record, after: Record | None) -> None:
    """Say whether a store may add a version after the newest one it holds. Raises as `RecordStore.put`."""
    if after is not None and newest != after:
        raise ChangedMeanwhile(f"{record.id}: someone else has changed it; nothing was written, read it again")
    if newest is not None:
        check_version(newest, record)
        if record.updated_at < newest.updated_at:
            raise IllegalMove(f"{record.id}: this version is older than the newest one, from which the next is made")


def chosen(
    newest: Iterable[Record], state: State | None, type: RecordType | None, tag: str | None
) -> tuple[Record, ...]:
    """Return the records that meet every condition given, by birth and then by id."""
    found = [
        record
        for record in newest
        if (state is None or record.state is state)
        and (type is None or record.type is type)
        and (tag is None or tag in record.tags)
    ]
    return tuple(sorted(found, key=lambda record: (record.created_at, record.id)))


def unknown(id: str) -> UnknownRecord:
    """Return the error for an id that a store does not hold."""
    return UnknownRecord(f"there is no record {shown(id)[:80]}")


def _never_still(id: str) -> ChangedMeanwhile:
    return ChangedMeanwhile(f"{id}: others write it all the time; try again")


def _folder_name(id: str) -> str:
    return id.removeprefix("mem:")


def _file_name(number: int) -> str:
    return f"{number:06d}.json"


def _numbers(root: Root, parts: tuple[str, ...]) -> list[int]:
    numbers = [int(name[:6]) for name in root.list_files(parts) if _VERSION.fullmatch(name)]
    if numbers and numbers[-1] > len(numbers):
        # Of what others add while a folder is read, the listing may have a later number and lack an earlier one.
        for missing in sorted(set(range(1, numbers[-1])).difference(numbers)):
            if not root.exists((*parts, _file_name(missing))):
                break
            numbers.append(missing)
    return sorted(numbers)


def _existing(root: Root, parts: tuple[str, ...], id: str) -> list[int]:
    numbers = _numbers(root, parts)
    if not numbers:
        raise unknown(id)
    return numbers


def _check_complete(numbers: list[int], parts: tuple[str, ...]) -> None:
    expected = list(range(1, len(numbers) + 1))
    if numbers != expected:
        missing = next(number for number in (*expected, len(numbers) + 1) if number not in numbers)
        path = shown(*parts, _file_name(missing))
        raise DamagedFile("a version is missing; restore it from version control or a backup", path=path)


def _bytes(root: Root, parts: tuple[str, ...], number: int) -> bytes:
    content = root.read((*parts, _file_name(number)))
    if content is None:
        raise DamagedFile("has just gone; try again", path=shown(*parts, _file_name(number)))
    return content.data


def _read(root: Root, parts: tuple[str, ...], number: int, id: str) -> Record:
    data = _bytes(root, parts, number)
    path = shown(*parts, _file_name(number))
    try:
        record = parsed(data)
    except InvalidRecord as error:
        raise DamagedFile(f"{error}; restore it from version control or a backup", path=path) from None
    if record.id != id:
        raise DamagedFile(f"holds the record {record.id}, which belongs in another folder", path=path)
    return record


def _newest_readable(root: Root, parts: tuple[str, ...], numbers: list[int], id: str) -> Record:
    """Return the newest version that can be read: what is damaged may hold what has to go as well."""
    for number in reversed(numbers[1:]):
        with suppress(DamagedFile):
            return _read(root, parts, number, id)
    return _read(root, parts, numbers[0], id)


def _overwrite(root: Root, parts: tuple[str, ...], number: int, data: bytes) -> None:
    path = (*parts, _file_name(number))
    content = root.read(path)
    if content is not None and content.data != data:
        # Where another process has just done the same, the caller looks again.
        with suppress(ChangedMeanwhile):
            replace(root, path, data, expected=content)


def _follow_redaction(root: Root, parts: tuple[str, ...], number: int, id: str) -> None:
    """Take back the version just added if the record has been redacted meanwhile: its content must not return."""
    if number == 1:
        return
    before = _read(root, parts, number - 1, id)
    if before.redacted:
        data = before.to_bytes()
        for _ in range(_TRIES):
            if _bytes(root, parts, number) == data:
                break
            _overwrite(root, parts, number, data)
        else:
            raise _never_still(id)
        raise IllegalMove(f"{id} has been redacted meanwhile; no version is added")

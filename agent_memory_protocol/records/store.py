"""Stores: where every version of every record stays, behind one port; here in a directory.

A store only adds. It takes a version that the lifecycle allows after the newest one it holds, and a caller that lost a
race finds that out instead of writing over the other. Redaction is not part of the port: it is the one act that
replaces what is stored, for people, and a tombstone is then in place of every version.

A directory holds `<32 hex digits>/000001.json` and so on, each file the canonical bytes of one version. A number is
claimed by a hard link to a finished file, so versions are whole or absent, and processes on one disk need no lock.
"""

import os
import re
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from datetime import datetime
from functools import lru_cache, partial
from itertools import islice
from typing import Protocol, runtime_checkable

from ..disk import collector
from ..disk.errors import shown
from ..disk.files import Content, Root, stamp
from ..disk.writing import ChangedMeanwhile, create, make_folders, remove_empty_folder, remove_leftovers, replace
from ..errors import DamagedFile, IllegalMove, InvalidRecord, Refused, UnknownRecord
from .lifecycle import check_version, redact
from .record import SCHEME, Record, RecordType, State, by_birth, is_id

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
        """Return the newest version."""

    def history(self, id: str) -> tuple[Record, ...]:
        """Return every version, oldest first. Raises as `get`, also when one is missing."""

    def list(
        self, *, state: State | None = None, type: RecordType | None = None, tag: str | None = None
    ) -> tuple[Record, ...]:
        """Return the newest versions that meet every condition given, by birth and then by id."""


@runtime_checkable
class Redacting(Protocol):
    """What a store can do besides, for people only; nothing that proposes changes may hold this."""

    def redact(self, id: str, *, reason: str, now: datetime) -> Record:
        """Put a tombstone in place of every version, and return it. What an earlier call left undone is finished."""


parsed = lru_cache(maxsize=4096)(Record.from_bytes)
"""Read the bytes of a record, or recognise them: a recall reads the same records again and again."""


@runtime_checkable
class Watched(Protocol):
    """What a store can do besides, so that who has read it need not read all of it again. All of ours do."""

    def mark(self) -> object:
        """Return what is equal as long as no record has come or gone; None if that cannot be told now."""

    def stamps(self, ids: Iterable[str] | None = None) -> dict[str, str]:
        """Return for these records, or all, a text that is another one when the record has another version."""


@runtime_checkable
class Bulk(Protocol):
    """What a store can do besides, so that many records are read at less cost than one by one. All of ours do.

    Each record is read only when its function is called, so a damaged one hides no other. A missing record
    may be left out. The functions are good until the next one is asked for.
    """

    def newest(self, ids: Iterable[str]) -> Iterator[tuple[str, Callable[[], Record]]]:
        """Yield the id of each of these records and what reads its newest version, which raises as `get`."""

    def histories(self, ids: Iterable[str]) -> Iterator[tuple[str, Callable[[], tuple[Record, ...]]]]:
        """Yield the id of each of these records and what reads its versions, which raises as `history`."""


@runtime_checkable
class Tables(Protocol):
    """What a store of tables can do besides, since one row may be gone and others of the same record still there."""

    def strays(self) -> list[str]:
        """Return the ids of rows that belong to no record, so that nothing finds what they hold."""


BATCH = 500  # So many records are asked for at once


def batches(ids: Iterable[str]) -> Iterator[list[str]]:
    """Yield ids in parts that are asked for at once."""
    left = iter(ids)
    return iter(lambda: list(islice(left, BATCH)), [])


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
        root, top = self._open_or_make()
        with root:
            folder = _Folder(root, top, record.id)
            for _ in range(_TRIES):
                last = folder.count()
                check_put(folder.read(last) if last else None, record, after)
                if last == LAST_VERSION:
                    raise Refused(f"{record.id} has {LAST_VERSION} versions, and there is no number for another")
                path = folder.path(last + 1)
                if folder.create(path, record.to_bytes()):
                    before = folder.read(last) if last else None
                    if before is not None and before.redacted:  # its content must not return
                        folder.bury(before)
                        raise IllegalMove(f"{record.id} has been redacted meanwhile; no version is added")
                    return last + 1
                if folder.count() == last:
                    raise DamagedFile("is not a version, and has the place of the next one; move it", path=shown(*path))
        raise never_still(record.id)

    def get(self, id: str) -> Record:
        """Return the newest version; see `RecordStore`."""
        with self._open(id) as folder:
            return folder.newest()

    def history(self, id: str) -> tuple[Record, ...]:
        """Return every version; see `RecordStore`."""
        with self._open(id) as folder:
            return folder.versions()

    def newest(self, ids: Iterable[str]) -> Iterator[tuple[str, Callable[[], Record]]]:
        """Yield what reads the newest version of each; see `Bulk`."""
        return ((folder.id, folder.newest) for folder in self._folders(ids))

    def histories(self, ids: Iterable[str]) -> Iterator[tuple[str, Callable[[], tuple[Record, ...]]]]:
        """Yield what reads the versions of each; see `Bulk`."""
        return ((folder.id, folder.versions) for folder in self._folders(ids))

    def list(
        self, *, state: State | None = None, type: RecordType | None = None, tag: str | None = None
    ) -> tuple[Record, ...]:
        """Return the newest versions; see `RecordStore`."""
        if not os.path.lexists(self.path):
            return ()
        with Root.open(self.path) as root:
            names = [f"mem:{name}" for name in filter(_FOLDER.fullmatch, root.list_folders(self.parts))]
        with collector.left_alone():
            found = ((folder, folder.numbers()) for folder in self._folders(names))
            newest = [folder.read(numbers[-1], once=True) for folder, numbers in found if numbers]
        return chosen(newest, state, type, tag)

    def redact(self, id: str, *, reason: str, now: datetime) -> Record:
        """Put a tombstone in place of every version; see `Redacting`.

        The disk may keep the old bytes where no file is any more, and git its history.
        """
        with self._open(id) as folder:
            if not folder.numbers():
                raise unknown(id)
            versions = (partial(folder.read, number) for number in reversed(folder.numbers()))
            tombstone = tombstone_of(versions, reason=reason, now=now)
            remove_leftovers(folder.root, folder.parts, _REFERENCE_TEMPORARY)
            folder.bury(tombstone)
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
            names = [one.removeprefix("mem:") for one in ids or ()]
            if ids is None:  # what is in the place of a folder is named too: reading it says what is wrong
                names = root.list_all(self.parts)
            for name in filter(_FOLDER.fullmatch, names):
                try:
                    place = root.locate((*self.parts, name))
                except DamagedFile:  # a link that leads outside: reading it says so
                    found[f"mem:{name}"] = ""
                    continue
                if place is not None and place.info is not None:
                    found[f"mem:{name}"] = str(place.info.st_mtime_ns)
        return found

    def _folders(self, ids: Iterable[str]) -> Iterator["_Folder"]:
        """Yield the folders of records, below a root that is open until the last of them."""
        if os.path.lexists(self.path):
            with Root.open(self.path) as root:
                yield from (_Folder(root, self.parts, name) for name in filter(is_id, ids))

    @contextmanager
    def _open(self, id: str) -> Iterator["_Folder"]:
        """Open the folder of a record that has a version."""
        if not is_id(id) or not os.path.lexists(self.path):
            raise unknown(id)
        with Root.open(self.path) as root:
            folder = _Folder(root, self.parts, id)
            yield folder

    def _open_or_make(self) -> tuple[Root, tuple[str, ...]]:
        """Open the folder, or the nearest one above it that exists, and say where the records go below that."""
        path, missing = self.path, self.parts
        while not os.path.lexists(path):
            path, name = os.path.split(path)
            missing = (name, *missing)
        return Root.open(path), missing


class _Folder:
    """The versions of one record, below a root that is open."""

    def __init__(self, root: Root, top: tuple[str, ...], id: str) -> None:
        self.root = root
        self.parts = (*top, id.removeprefix("mem:"))
        self.id = id

    def path(self, number: int) -> tuple[str, ...]:
        return (*self.parts, f"{number:06d}.json")

    def numbers(self) -> list[int]:
        numbers = [int(name[:6]) for name in self.root.list_files(self.parts) if _VERSION.fullmatch(name)]
        if numbers and numbers[-1] > len(numbers):
            # Of what others add while a folder is read, the listing may have a later number and lack an earlier one.
            for missing in sorted(set(range(1, numbers[-1])).difference(numbers)):
                if not self.root.exists(self.path(missing)):
                    break
                numbers.append(missing)
        return sorted(numbers)

    def newest(self, *, once: bool = False) -> Record:
        """Return the newest version. Raises as `RecordStore.get`."""
        numbers = self.numbers()
        if not numbers:  # a killed first `put` leaves an empty folder
            raise unknown(self.id)
        return self.read(numbers[-1], once=once)

    def versions(self) -> tuple[Record, ...]:
        """Return every version, oldest first. Raises as `RecordStore.get`, also when one is missing."""
        count = self.count()
        if not count:
            raise unknown(self.id)
        return tuple(self.read(number, once=True) for number in range(1, count + 1))

    def count(self) -> int:
        """Return how many versions there are, if none is missing."""
        numbers = self.numbers()
        for expected, number in enumerate(numbers, start=1):
            if number != expected:
                path = shown(*self.path(expected))
                raise DamagedFile("a version is missing; restore it from version control or a backup", path=path)
        return len(numbers)

    def read(self, number: int, *, once: bool = False) -> Record:
        return read_version(self._content(number).data, self.id, shown(*self.path(number)), once=once)

    def create(self, path: tuple[str, ...], data: bytes) -> bool:
        """Write a version that is not there yet, as `writing.create`; what cannot be written leaves no folder."""
        try:
            make_folders(self.root, self.parts)
            return create(self.root, path, data)
        except BaseException:
            remove_empty_folder(self.root, self.parts)
            raise

    def bury(self, tombstone: Record) -> None:
        """Put a tombstone in place of every version, those among them that others add meanwhile."""
        data = tombstone.to_bytes()
        for _ in range(_TRIES):
            is_done = True
            # The newest first, so that nobody adds to the record while its past is replaced.
            for number in reversed(self.numbers()):
                content = self._content(number)
                if content.data != data:
                    is_done = False
                    with suppress(ChangedMeanwhile):  # another process has just done the same, so look again
                        replace(self.root, self.path(number), data, expected=content)
            if is_done:
                return
        raise never_still(self.id)

    def _content(self, number: int) -> Content:
        content = self.root.read(self.path(number))
        if content is None:
            raise DamagedFile("has just gone; try again", path=shown(*self.path(number)))
        return content


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
    return tuple(sorted(found, key=by_birth))


def read_version(data: bytes, id: str, path: str, *, once: bool = False) -> Record:
    """Return the version of a record that a store keeps at `path`; `once` where all are read, and none is kept."""
    try:
        record = Record.from_bytes(data) if once else parsed(data)
    except InvalidRecord as error:
        named = "" if id in str(error) or id.removeprefix(SCHEME) in path else f"{id}: "
        raise DamagedFile(f"{named}{error}; restore it from version control or a backup", path=path) from None
    if record.id != id:
        raise DamagedFile(f"holds {record.id} in the place of {id}", path=path)
    return record


def tombstone_of(versions: Iterable[Callable[[], Record]], *, reason: str, now: datetime) -> Record:
    """Return the tombstone of a record, from the newest of its `versions` that can be read."""
    for read in versions:
        try:
            newest = read()
        except DamagedFile as error:
            damage = error
        else:
            return newest if newest.redacted else redact(newest, reason=reason, now=now)
    raise damage


def unknown(id: str) -> UnknownRecord:
    """Return the error for an id that a store does not hold."""
    return UnknownRecord(f"there is no record {shown(id)[:80]}")


def never_still(id: str) -> ChangedMeanwhile:
    """Return the error for a record that others write without a pause."""
    return ChangedMeanwhile(f"{id}: others write it all the time; try again")

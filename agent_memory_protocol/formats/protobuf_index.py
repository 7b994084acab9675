"""The newest entries of a protobuf stream, without reading the others: a side index, which may be deleted at any time.

A stream has no order but that of writing, and most of an entry is its embedding; so `memory.pb.index`, an SQLite file,
says where the entries with each tag stand, by time. Before it is asked it is brought up to date: what was appended is
read, and a file that did not just grow is read anew. An answer counts only if each entry stands where the index says.
"""

import os
from collections.abc import Iterator
from contextlib import closing, suppress
from typing import TYPE_CHECKING, BinaryIO

from ..disk.database import Database
from ..disk.errors import shown
from ..errors import DamagedFile, StorageError
from ..text.digest import blake2b
from . import record_files
from .entry import BadEntry, MemoryEntry
from .protobuf import Torn, decode, frames, is_header

if TYPE_CHECKING:
    from sqlite3 import Connection

SUFFIX = ".index"

_EVERY = ""
"""The tag under which each entry stands besides its own, which begin with `#` here."""

_COMPARED = 4096
"""How many bytes at the start of the file, and before the place that the index knows it to, must still be the same."""

_SIGN = 2**63
"""SQLite's numbers have a sign and times have none, so they are shifted."""

_TABLES = (
    "CREATE TABLE IF NOT EXISTS known (inode TEXT, mtime INTEGER, size INTEGER, digest BLOB)",
    """CREATE TABLE IF NOT EXISTS places (
        tag TEXT, time INTEGER, place INTEGER, PRIMARY KEY (tag, time, place)) WITHOUT ROWID""",
)


def newest(path: str | os.PathLike[str], tag: str | None = None, limit: int = 10) -> list[MemoryEntry]:
    """Return the newest entries, those with a tag if one is given, newest first; of equal times the last one written.

    What breaks a rule is left out, and so is a torn end; `iter_entries` reports both.

    Raises:
        DamagedFile: the header names an unknown version, or the file changes all the while.
        StorageError: the file cannot be read.
        MissingExtra: the protobuf runtime is not installed.
    """
    name = record_files.path_of(path)
    with record_files.reading(name) as file:
        if (first := next(_messages(file, os.fstat(file.fileno()).st_size, 0), None)) and first[2] is not None:
            is_header(first[2], name)
        for index in _indexes(name + SUFFIX):
            # An index that is damaged, foreign or read-only is worth no more than one that is not there.
            with suppress(StorageError), closing(index):
                _catch_up(index, file)
                found = _look_up(index, file, tag, limit)
                if found is not None:
                    return found
    raise DamagedFile("changes while it is read; try again", path=shown(name))


def _indexes(path: str) -> Iterator[Database]:
    """Give the index as it is; then one in its place, where it was wrong; then one in memory."""
    yield Database(path, _prepare)
    for suffix in ("", "-wal", "-shm"):
        with suppress(OSError):
            os.unlink(path + suffix)
    yield Database(path, _prepare)
    yield Database(None, _prepare)


def _prepare(connection: "Connection") -> None:
    connection.execute("PRAGMA trusted_schema = OFF")
    for table in _TABLES:
        connection.execute(table)


def _look_up(index: Database, file: BinaryIO, tag: str | None, limit: int) -> list[MemoryEntry] | None:
    """Return the entries that the index names; None where one of them does not stand there."""
    with index.transaction() as connection:
        rows = connection.execute(
            "SELECT time, place FROM places WHERE tag = ? ORDER BY time DESC, place DESC LIMIT ?",
            (_EVERY if tag is None else f"#{tag}", limit),
        ).fetchall()
    size = os.fstat(file.fileno()).st_size
    found = []
    for time, place in rows:
        try:
            _, _, message = next(_messages(file, size, place))
            entry = decode(message)
        except (BadEntry, StopIteration):
            return None
        if entry.timestamp_ms - _SIGN != time or (tag is not None and tag not in entry.tags):
            return None
        found.append(entry)
    return found


def _catch_up(index: Database, file: BinaryIO) -> None:
    """Read what the index does not know: what was appended to its file, or the whole of any other."""
    with index.transaction() as connection:
        if _known(connection, file)[0]:
            return
    with index.transaction(write=True) as connection:
        # Another process may have done it meanwhile.
        is_whole, begin = _known(connection, file)
        if is_whole:
            return
        connection.execute("DELETE FROM known")
        if not begin:
            connection.execute("DELETE FROM places")
        info = os.fstat(file.fileno())
        reached = begin
        for place, end, message in _messages(file, info.st_size, begin):
            reached = end
            with suppress(BadEntry):  # a header is none, either
                _add(connection, place, decode(message))
        connection.execute(
            "INSERT INTO known VALUES (?, ?, ?, ?)", (_inode(info), info.st_mtime_ns, reached, _digest(file, reached))
        )


def _messages(file: BinaryIO, size: int, begin: int) -> Iterator[tuple[int, int, bytes | None]]:
    """Yield the messages from a place on, up to a torn end."""
    file.seek(begin)
    with suppress(Torn):
        yield from frames(file, size, begin)


def _add(connection: "Connection", place: int, entry: MemoryEntry) -> None:
    time = entry.timestamp_ms - _SIGN
    tags = [_EVERY, *(f"#{tag}" for tag in entry.tags)]
    connection.executemany("INSERT OR IGNORE INTO places VALUES (?, ?, ?)", [(tag, time, place) for tag in tags])


def _known(connection: "Connection", file: BinaryIO) -> tuple[bool, int]:
    """Say whether the index knows the whole file, and up to which byte it does."""
    row = connection.execute("SELECT inode, mtime, size, digest FROM known").fetchone()
    info = os.fstat(file.fileno())
    if row is None:
        return False, 0
    inode, mtime, size, digest = row
    if inode != _inode(info) or size > info.st_size or digest != _digest(file, size):
        return False, 0
    if size == info.st_size:
        return mtime == info.st_mtime_ns, 0
    return False, size


def _inode(info: os.stat_result) -> str:
    return f"{info.st_dev}:{info.st_ino}"


def _digest(file: BinaryIO, end: int) -> bytes:
    digest = blake2b(digest_size=16)
    for start in (0, max(0, end - _COMPARED)):
        file.seek(start)
        digest.update(file.read(min(_COMPARED, end - start)))
    return digest.digest()

"""An agent-memory/0.1 file while one writer has it to itself.

The kernel's lock lies on the file itself, so it goes with its holder and leaves nothing behind. `compact` puts another
file in this one's place; whoever gets the lock therefore looks whether what it has locked is still the file.
"""

import os
import time
from collections.abc import Iterator
from datetime import datetime

from ..disk import kernel_lock
from ..disk.errors import check_regular, shown
from ..disk.files import Root, split_bom
from ..disk.walk import SAFE_FLAGS, close
from ..disk.writing import ChangedMeanwhile, replace
from ..errors import LockBusy, Refused
from .jsonl import FORMAT, HeaderLine, Line, UnreadableLine, encode, parse_file, parse_line
from .jsonl_view import Compacted, compacted
from .moments import sort_key

WAIT = 10.0
"""Seconds a writer waits for the others."""

_PAUSES = (0.0005, 0.001, 0.002, 0.005, 0.01, 0.02)
_CHUNK = 1 << 20
_START = 1 << 16
_TAIL = 1 << 12
_HEADER_START = encode(HeaderLine(FORMAT))[:-1].partition(b',"created_at"')[0]
_HEADER_LENGTH = 200


class Locked:
    """The file while its lock is held."""

    def __init__(self, root: Root, parts: tuple[str, ...], fd: int) -> None:
        self.root = root
        self.parts = parts
        self.fd = fd
        self.header = HeaderLine(FORMAT)
        self._owner = 0

    def lock(self, deadline: float) -> bool:
        """Take the lock; False when another file has taken this one's place meanwhile."""
        pauses = iter(_PAUSES)
        while not kernel_lock.take(self.fd):
            left = deadline - time.monotonic()
            if left <= 0:
                holder = _holder(self.fd)
                raise LockBusy(f"{shown(*self.parts)}: another process{holder} has been writing for {WAIT:g} seconds")
            time.sleep(min(next(pauses, _PAUSES[-1]), left))
        self._owner = os.getpid()
        place = self.root.locate(self.parts)
        return place is not None and place.info is not None and os.path.samestat(place.info, os.fstat(self.fd))

    def unlock(self) -> None:
        """Give the lock up, if it was taken, and close the file."""
        # A child forked meanwhile shares the lock: only the process that took it gives it up.
        if self._owner == os.getpid():
            kernel_lock.give_up(self.fd)
        close(self.fd)

    def begins_with(self, header: bytes) -> bool:
        """Make sure of the header; False when it has just been put there, by another file in this one's place."""
        data = self._read(0, _START)
        first = next((line for line in split_bom(data)[1].split(b"\n") if line.strip()), b"")
        line = parse_line(first, 1)
        if isinstance(line, HeaderLine) and line.format == FORMAT:
            self.header = line
            return True
        # Whoever created the file may have been stopped in the middle of the header; nothing else is in it then.
        torn = (
            data == first
            and len(data) < _HEADER_LENGTH
            and (_HEADER_START.startswith(data) or data.startswith(_HEADER_START))
        )
        if not torn or isinstance(line, HeaderLine):
            found = f"its format is {ascii(line.format)[:60]}" if isinstance(line, HeaderLine) else "it has no header"
            raise Refused(f"{shown(*self.parts)} is no {FORMAT} file, {found}; nothing was written")
        content = self.root.read(self.parts)
        if content is not None and content.data == data:
            replace(self.root, self.parts, header, expected=content)
        return False

    def latest_at_end(self) -> str:
        """Return the latest stamp of the last lines: enough to never go back, as nobody else does."""
        size = os.fstat(self.fd).st_size
        length = _TAIL
        while True:
            start = max(0, size - length)
            pieces = self._read(start, length).split(b"\n")
            found = [parse_line(piece, 1) for piece in (pieces[1:] if start else pieces)]
            stamps = [line.created_at for line in found if not isinstance(line, UnreadableLine) and line.created_at]
            if stamps or not start:
                return max(stamps, key=sort_key, default="")
            length *= 8

    def lines(self) -> Iterator[Line]:
        """Read all lines."""
        os.lseek(self.fd, 0, os.SEEK_SET)
        return parse_file(chunks(self.fd))

    def compact(self, now: datetime) -> Compacted:
        """Put a file with only what holds in this one's place."""
        content = self.root.read(self.parts)
        if content is None:
            raise ChangedMeanwhile(f"{shown(*self.parts)}: someone has removed it")
        if self.header.is_ledger:
            raise Refused(f"{shown(*self.parts)} is a ledger and is never compacted")
        data, done = compacted(content.data, now)
        if done.dropped:
            replace(self.root, self.parts, data, expected=content)
        return done

    def _read(self, start: int, length: int) -> bytes:
        os.lseek(self.fd, start, os.SEEK_SET)
        data = b""
        while len(data) < length and (more := os.read(self.fd, length - len(data))):
            data += more
        return data


def open_for_lock(root: Root, parts: tuple[str, ...]) -> int | None:
    """Open the file for locking it; None when it does not exist. NFS wants a lock's file to be open for writing."""
    place = root.locate(parts)
    if place is None or place.info is None:
        return None
    check_regular(place.info, parts)
    path, folder_fd = place.folder.at(place.name)
    try:
        return os.open(path, os.O_RDWR | SAFE_FLAGS, dir_fd=folder_fd)
    except FileNotFoundError:
        return None


def chunks(fd: int) -> Iterator[bytes]:
    """Read a file from where its descriptor stands, piece by piece."""
    while chunk := os.read(fd, _CHUNK):
        yield chunk


def _holder(fd: int) -> str:
    """Name the process that holds the lock, where the system tells."""
    try:
        with open("/proc/locks", encoding="ascii") as table:
            inode = f":{os.fstat(fd).st_ino}"
            found = [row.split() for row in table if " FLOCK " in row and "->" not in row]
    except OSError:
        return ""
    return next((f" ({row[4]})" for row in found if len(row) > 5 and row[5].endswith(inode)), "")

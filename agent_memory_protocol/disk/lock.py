"""Keep writers apart: one process at a time reads, changes and writes what is locked.

The lock is the kernel's and lies on an open file, so it goes when its holder ends, however that ends. `hold` locks a
name: the files for that in `.scaffolding/.amp/locks/` block nobody when they stay behind. `hold_file` locks a file
itself. A file that merely exists is never taken for a lock. Readers never wait: they see the whole file before or
after a replacement.
"""

import errno
import os
import platform
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Protocol

from ..errors import DamagedFile, LockBusy, StorageError
from .errors import explain, shown
from .files import Root
from .walk import SAFE_FLAGS, check_name, close
from .writing import LOCAL, LOCKS, create, make_local_folder, open_for_append, regular

WAIT = 10.0  # Seconds to wait for another process, unless the caller says otherwise

_PAUSE, _FIRST_PAUSE = 0.001, 0.005
"""Seconds to wait before each further look, and before the first: who has waited for long looks more often.

Who waits for its turn looks as seldom as at first: many who look often take the processor from who holds the lock.
"""

_TRIES = 500
_RECORD_SIZE = 1000

if sys.platform == "win32":
    # Windows locks the first byte, which filelock knows how to do. It takes as long to load as all of `amp recall`
    # takes to run, and elsewhere it does what the lines below do.
    from filelock import lock_descriptor, unlock_descriptor

    def take(fd: int) -> bool:
        """Take the lock on an open file if it is free; say whether it was. Raises OSError where there are no locks."""
        return lock_descriptor(fd, blocking=False)

    def give_up(fd: int) -> None:
        """Give the lock up; the file stays open."""
        unlock_descriptor(fd)

else:
    import fcntl

    def take(fd: int) -> bool:
        """Take the lock on an open file if it is free; say whether it was.

        Raises:
            OSError: the file system has no locks.
        """
        try:
            fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            # Some file systems say EACCES of what another process holds.
            if error.errno in (errno.EACCES, errno.EAGAIN, errno.EWOULDBLOCK):
                return False
            raise
        return True

    def give_up(fd: int) -> None:
        """Give the lock up; the file stays open."""
        fcntl.flock(fd, fcntl.LOCK_UN)


class WhileWaiting(Protocol):
    """What a process asks for while it waits for a lock; see `waiting.Request`."""

    def ask(self) -> None:
        """Ask the process that holds the lock."""

    def is_answered(self) -> bool:
        """Say whether what was asked for is done."""

    def withdraw(self) -> None:
        """Ask no more."""


class Answered(Exception):
    """The lock is not needed any more: another process has done what it was wanted for."""


@contextmanager
def hold(
    root: Root, name: str, *, wait: float = WAIT, local: tuple[str, ...] = LOCAL, request: WhileWaiting | None = None
) -> Iterator[None]:
    """Hold the lock `name` of this project for the length of a `with` block. It cannot be taken twice.

    What `root` knew of its folders is forgotten: another process may have moved them. A `wait` of 0 seconds tries
    once. LockBusy names the process that held it all the time. A `request` is made of that process: Answered is raised
    in place of the block if it is done.
    """
    start = time.monotonic()

    def acquire(ending: str, pause: float) -> int:
        parts = (*local, LOCKS, f"{name}.{ending}")
        return _acquire(root, parts, lambda: _open_lock(root, parts), busy, start + wait, pause, request)

    def busy(_: int) -> str:
        holder = _read_record(root, (*local, LOCKS, f"{name}.lock")) or ", which left no name"
        return (
            f"{shown(name)}: another process is writing{holder}; waited {time.monotonic() - start:.1f} s;"
            " try again, or end that process if it hangs"
        )

    try:
        # A process that releases the lock and wants it again at once is quicker than all that look for it now and
        # then, and could keep them waiting for ever. So one waiter at a time has the turn, a lock of its own.
        turn = acquire("turn", _FIRST_PAUSE)
        try:
            fd = acquire("lock", _PAUSE)
        finally:
            close(turn)
    except OSError as error:
        raise StorageError(f"{shown(name)}: the lock cannot be taken: {explain(error)}") from error
    _record(fd, _own_record())
    with _held(fd, clear=lambda fd: _record(fd, b"")):
        if request is not None:
            if request.is_answered():
                raise Answered
            request.withdraw()
        yield


@contextmanager
def hold_file(root: Root, parts: tuple[str, ...], *, begin: bytes) -> Iterator[int]:
    """Hold the lock of a file itself for the length of a `with` block; give its descriptor, for reading.

    A file that does not exist is created with the bytes `begin`. One that another process puts in its place meanwhile
    is locked in its turn. LockBusy names who held it for `WAIT` seconds.
    """

    def busy(fd: int) -> str:
        return f"{shown(*parts)}: another process{_holder(fd)} has been writing for {WAIT:g} seconds; try again"

    def opened() -> int:
        create(root, parts, begin)
        return open_for_append(root, parts, create=False)[1]  # NFS locks only what is open for writing

    fd = _acquire(root, parts, opened, busy, time.monotonic() + WAIT)
    with _held(fd):
        yield fd


def _acquire(
    root: Root,
    parts: tuple[str, ...],
    opened: Callable[[], int],
    busy: Callable[[int], str],
    deadline: float,
    pause: float = _PAUSE,
    request: WhileWaiting | None = None,
) -> int:
    """Open a file and take its lock, again and again until the file that is locked is the one that is there."""
    for _ in range(_TRIES):
        root.forget()  # the folder may be deleted at any time
        try:
            fd = opened()
        except FileNotFoundError:
            continue
        try:
            _wait_for(fd, busy, deadline, pause, request)
            # A lock on a file that is no longer there keeps nobody away.
            root.forget()
            place = root.locate(parts)
            if place is not None and place.info is not None and os.path.samestat(place.info, os.fstat(fd)):
                return fd
        except BaseException:
            close(fd)
            raise
        close(fd)
    raise StorageError(f"{shown(*parts)}: the file is being replaced all the time; find out what does that")


def _wait_for(
    fd: int, busy: Callable[[int], str], deadline: float, later: float, request: WhileWaiting | None = None
) -> None:
    pause, later = (_FIRST_PAUSE, later) if request is None else (_PAUSE, _PAUSE)  # it may be answered at any time
    while not take(fd):
        if request is not None:
            request.ask()
            if request.is_answered():
                raise Answered
        left = deadline - time.monotonic()
        if left <= 0:
            raise LockBusy(busy(fd))
        time.sleep(min(pause, left))
        pause = later


@contextmanager
def _held(fd: int, clear: Callable[[int], None] = lambda _: None) -> Iterator[None]:
    """Give up a lock and close its file at the end; a child forked meanwhile shares the lock, and only closes."""
    holder = os.getpid()
    try:
        yield
    finally:
        if os.getpid() == holder:
            clear(fd)
            with suppress(OSError):
                give_up(fd)
        close(fd)


def _open_lock(root: Root, parts: tuple[str, ...]) -> int:
    check_name(*parts)
    make_local_folder(root, LOCKS, local=parts[:-2])
    folder = root.folder(parts[:-1])
    if folder is None:
        raise FileNotFoundError
    path, folder_fd = folder.at(parts[-1])
    try:
        fd = os.open(path, os.O_RDWR | os.O_CREAT | SAFE_FLAGS, 0o666, dir_fd=folder_fd)
    except PermissionError as error:
        # Another user made it. Reading is enough to lock it; only the record of the holder cannot be written.
        try:
            fd = os.open(path, os.O_RDONLY | SAFE_FLAGS, dir_fd=folder_fd)
        except FileNotFoundError:  # it is missing, and we may not write in its folder
            raise error from None
    return regular(fd, parts)


# The record starts at the second byte: on Windows the lock covers the first one, and nobody else can read that.


def _own_record() -> bytes:
    command = os.path.basename(sys.argv[0] if sys.argv else "") or "python"
    lines = [str(os.getpid()), command, platform.node(), time.strftime("%Y-%m-%d %H:%M:%S %z")]
    return "\n".join(map(shown, lines)).encode()[: _RECORD_SIZE - 1]


def _record(fd: int, record: bytes) -> None:
    """Write who holds a lock; no bytes mean nobody."""
    with suppress(OSError):
        # With a second name it is perhaps somebody else's file.
        if os.fstat(fd).st_nlink == 1:
            os.lseek(fd, 1, os.SEEK_SET)
            os.write(fd, record)
            os.ftruncate(fd, 1 + len(record) if record else 0)


def _read_record(root: Root, parts: tuple[str, ...]) -> str:
    def read(fd: int, _: os.stat_result) -> bytes:
        os.lseek(fd, 1, os.SEEK_SET)
        return os.read(fd, _RECORD_SIZE)

    try:
        lines = (root.use_file(parts, read) or b"").decode(errors="replace").split("\n")
    except DamagedFile:
        return ""
    if len(lines) != 4 or not lines[0].isdecimal():
        return ""
    pid, command, host, since = (shown(line)[:100] for line in lines)
    return f", probably process {pid} ({command}) on {host}, since {since}"


def _holder(fd: int) -> str:
    """Name the process that holds the lock of a file, where the system tells."""
    try:
        with open("/proc/locks", encoding="ascii") as table:
            inode = f":{os.fstat(fd).st_ino}"
            found = [row.split() for row in table if " FLOCK " in row and "->" not in row]
    except OSError:
        return ""
    return next((f" ({row[4]})" for row in found if len(row) > 5 and row[5].endswith(inode)), "")

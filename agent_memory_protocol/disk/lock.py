"""Keep writers apart: one process at a time reads, changes and writes what a lock's name stands for.

The lock is the kernel's and lies on an open file, so it goes when its holder ends, however that ends, and the files
that stay behind in `.scaffolding/.amp/locks/` block nobody. There is no fallback to a lock by the mere presence of a
file. Readers never wait: they see the whole file before or after a replacement.
"""

import os
import platform
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress

from ..errors import LockBusy, StorageError
from . import kernel_lock
from .errors import check_regular, explain, shown
from .files import Root
from .walk import SAFE_FLAGS, close
from .writing import LOCAL, make_local_folder

FOLDER = "locks"

_PAUSE, _FIRST_PAUSE = 0.001, 0.005
"""Seconds to wait before each further look, and before the first: who has waited for long looks more often."""

_TRIES = 100
_RECORD_SIZE = 1000


@contextmanager
def hold(root: Root, name: str, *, wait: float = 10.0, local: tuple[str, ...] = LOCAL) -> Iterator[None]:
    """Hold the lock `name` of this project for the length of a `with` block. It cannot be taken twice.

    `wait` is the number of seconds to wait while another process holds it; 0 tries once. `local` is the folder for what
    may be deleted at any time.

    Raises:
        LockBusy: another process held it all the time; the message names it.
        StorageError: the lock file cannot be made, or the file system has no locks.
    """
    try:
        fd = _acquire(root, local, name, wait)
    except OSError as error:
        raise StorageError(f"{shown(name)}: the lock cannot be taken: {explain(error)}") from error
    holder = os.getpid()
    try:
        _write_record(fd)
        yield
    finally:
        # A child forked inside the block shares the lock; only the process that took it gives it up.
        if os.getpid() == holder:
            _clear_record(fd)
            with suppress(OSError):
                kernel_lock.give_up(fd)
        close(fd)


def _acquire(root: Root, local: tuple[str, ...], name: str, wait: float) -> int:
    """Take the lock, after whoever came before.

    Who releases a lock and wants it again at once is quicker than all who look for it now and then, and could keep
    them waiting for ever. So one waiter at a time has the turn, a lock of its own, and nobody takes the lock without.
    """
    start = time.monotonic()
    turn = _open(root, local, f"{name}.turn")
    try:
        _wait_for(turn, root, local, name, start, wait)
        return _acquire_in_turn(root, local, name, start, wait)
    finally:
        close(turn)


def _acquire_in_turn(root: Root, local: tuple[str, ...], name: str, start: float, wait: float) -> int:
    for _ in range(_TRIES):
        fd = _open(root, local, f"{name}.lock")
        try:
            _wait_for(fd, root, local, name, start, wait)
            # The folder may be deleted at any time, and a lock on a file that is no longer there keeps nobody away.
            if _stands(root, local, name, fd):
                return fd
        except BaseException:
            close(fd)
            raise
        close(fd)
    raise _never_still(name)


def _wait_for(fd: int, root: Root, local: tuple[str, ...], name: str, start: float, wait: float) -> None:
    while not kernel_lock.take(fd):
        waited = time.monotonic() - start
        if waited >= wait:
            raise LockBusy(_busy(root, local, name, waited))
        time.sleep(min(_FIRST_PAUSE if waited < _FIRST_PAUSE else _PAUSE, wait - waited))


def _open(root: Root, local: tuple[str, ...], name: str) -> int:
    for _ in range(_TRIES):
        # The folder may be deleted at any time: just after it was made, too.
        with suppress(FileNotFoundError):
            return _open_once(root, local, name)
        root.forget()
    raise _never_still(name)


def _open_once(root: Root, local: tuple[str, ...], name: str) -> int:
    parts = (*make_local_folder(root, FOLDER, local=local), name)
    root.exists(parts)  # refuses a name that is a path
    folder = root.folder(parts[:-1])
    if folder is None:
        raise FileNotFoundError
    path, folder_fd = folder.at(parts[-1])
    try:
        fd = os.open(path, os.O_RDWR | os.O_CREAT | SAFE_FLAGS, 0o666, dir_fd=folder_fd)
    except PermissionError:
        # Another user made it. Reading is enough to lock it; only the record of the holder cannot be written.
        fd = os.open(path, os.O_RDONLY | SAFE_FLAGS, dir_fd=folder_fd)
    try:
        check_regular(os.fstat(fd), parts)
    except BaseException:
        close(fd)
        raise
    return fd


def _stands(root: Root, local: tuple[str, ...], name: str, fd: int) -> bool:
    root.forget()
    folder = root.folder((*local, FOLDER))
    info = None if folder is None else folder.stat(f"{name}.lock")
    return info is not None and os.path.samestat(info, os.fstat(fd))


# The record starts at the second byte: on Windows the lock covers the first one, and nobody else can read that.


def _write_record(fd: int) -> None:
    command = os.path.basename(sys.argv[0] if sys.argv else "") or "python"
    lines = [str(os.getpid()), command, platform.node(), time.strftime("%Y-%m-%d %H:%M:%S %z")]
    record = "\n".join(shown(line) for line in lines).encode()[: _RECORD_SIZE - 1]
    with suppress(OSError):
        # With a second name it is perhaps somebody else's file.
        if os.fstat(fd).st_nlink == 1:
            os.lseek(fd, 1, os.SEEK_SET)
            os.write(fd, record)
            os.ftruncate(fd, 1 + len(record))


def _clear_record(fd: int) -> None:
    with suppress(OSError):
        if os.fstat(fd).st_nlink == 1:
            os.ftruncate(fd, 0)


def _read_record(fd: int) -> str:
    try:
        os.lseek(fd, 1, os.SEEK_SET)
        lines = os.read(fd, _RECORD_SIZE).decode(errors="replace").split("\n")
    except OSError:
        return ""
    if len(lines) != 4 or not lines[0].isdecimal():
        return ""
    pid, command, host, since = (shown(line)[:100] for line in lines)
    return f", probably process {pid} ({command}) on {host}, since {since}"


def _never_still(name: str) -> StorageError:
    return StorageError(f"{shown(name)}: the lock file is being replaced all the time; find out what does that")


def _busy(root: Root, local: tuple[str, ...], name: str, waited: float) -> str:
    fd = _open(root, local, f"{name}.lock")
    try:
        holder = _read_record(fd) or ", which left no name"
    finally:
        close(fd)
    return (
        f"{shown(name)}: another process is writing{holder}; waited {waited:.1f} s;"
        " try again, or end that process if it hangs"
    )

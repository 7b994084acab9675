"""How record files are opened, appended to, and put in place whole.

A user names these files outright, so links are followed. A reader gets a regular file or an error that says what else
stands there; a writer gets a new file beside the final one, which takes its place once the disk has confirmed it; one
who appends has the file to itself, and leaves either the whole entry behind or nothing.
"""

import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import BinaryIO

from ..disk import kernel_lock
from ..disk.errors import check_regular, explain, shown
from ..disk.files import TEMPORARY, Root
from ..disk.walk import SAFE_FLAGS
from ..errors import InvalidArgument, LockBusy, Refused, StorageError
from ..project.root import find_root
from ..project.settings import load_settings

WAIT = 10.0
"""Seconds to wait for another writer."""

CHUNK = 1 << 18


def path_of(path: str | os.PathLike[str]) -> str:
    """Return a path as text.

    Raises:
        InvalidArgument: no file can have it.
    """
    name = os.fspath(path)
    if not isinstance(name, str) or not name or "\0" in name:
        raise InvalidArgument(f"{name!a} cannot be the path of a file")
    return name


@contextmanager
def reading(path: str) -> Iterator[BinaryIO]:
    """Open a file for reading.

    Raises:
        DamagedFile: a folder, a pipe or a device stands there.
        StorageError: it does not exist or cannot be read.
    """
    try:
        with open(path, "rb", buffering=CHUNK, opener=_open_at_once) as file:
            check_regular(os.fstat(file.fileno()), (path,))
            yield file
    except OSError as error:
        raise StorageError(f"{shown(path)}: {_why(error)}") from error


@contextmanager
def replacing(path: str, *, overwrite: bool = False) -> Iterator[str]:
    """Give the path of a new file, which takes the place of `path` when all went well, and is removed otherwise.

    Raises:
        Refused: something stands there, and may not be overwritten.
        StorageError: it cannot be written; what stood there is as it was.
    """
    if not overwrite and os.path.lexists(path):
        raise Refused(f"{shown(path)} exists already; name another file, or say --force to replace it")
    path = os.path.realpath(path)
    if os.path.isdir(path):
        raise StorageError(f"{shown(path)}: a folder stands where a file should be; name a file")
    if os.path.exists(path) and not os.path.isfile(path):
        # To replace a device or a pipe would take it from every other program.
        raise StorageError(f"{shown(path)}: is no regular file and is not replaced; name a file, or - for stdout")
    temporary = f"{path}.{os.urandom(8).hex()}{TEMPORARY}"
    try:
        os.close(os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | SAFE_FLAGS, _mode_of(path)))
        yield temporary
        _sync(temporary)
        os.replace(temporary, path)
        _sync_folder(os.path.dirname(path))
    except OSError as error:
        raise StorageError(f"{shown(path)}: not written: {_why(error)}") from error
    finally:
        for leftover in (temporary, f"{temporary}-wal", f"{temporary}-shm", f"{temporary}-journal"):
            with suppress(OSError):
                os.unlink(leftover)


def append(path: str, data: bytes, prepare: Callable[[int], bytes]) -> os.stat_result:
    """Add bytes to the end of a file, which is created if need be, all of them or none, and confirmed by the disk.

    Returns what the file is then.

    Args:
        path: the file.
        data: what to add.
        prepare: is given the descriptor, open for reading, and returns what must stand before the data, mostly nothing;
            it raises where the file may not be added to.

    Raises:
        LockBusy: another process has been writing for too long.
        StorageError: it cannot be written; the file is as it was.
    """
    try:
        fd = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND | SAFE_FLAGS, 0o666)
    except OSError as error:
        raise StorageError(f"{shown(path)}: not written: {_why(error)}") from error
    try:
        check_regular(os.fstat(fd), (path,))
        _lock(fd, path)
        try:
            _write_whole(fd, prepare(fd) + data)
            return os.fstat(fd)
        finally:
            kernel_lock.give_up(fd)
    except OSError as error:
        raise StorageError(f"{shown(path)}: not written: {_why(error)}") from error
    finally:
        os.close(fd)


def allowances(path: str) -> tuple[str, ...]:
    """Return the fingerprints of what is no secret, from the settings of the project that a file is in."""
    folder = os.path.dirname(os.path.realpath(path))
    try:
        with Root.open(find_root(folder).path) as root:
            return load_settings(root).secrets_allow
    except StorageError:
        return ()


def _write_whole(fd: int, data: bytes) -> None:
    size = os.fstat(fd).st_size
    try:
        left = memoryview(data)
        while left:
            left = left[os.write(fd, left) :]
        os.fsync(fd)
    except BaseException:
        # Half an entry would hide every later one from readers.
        with suppress(OSError):
            os.ftruncate(fd, size)
        raise


def _lock(fd: int, path: str) -> None:
    deadline = time.monotonic() + WAIT
    while not kernel_lock.take(fd):
        if time.monotonic() > deadline:
            raise LockBusy(f"{shown(path)}: another process has been writing for {WAIT:.0f} s; try again")
        time.sleep(0.002)


def _open_at_once(path: str, flags: int) -> int:
    # A pipe would keep whoever opens it waiting for a writer.
    return os.open(path, flags | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_CLOEXEC", 0))


def _mode_of(path: str) -> int:
    try:
        return os.stat(path).st_mode & 0o777
    except OSError:
        return 0o666


def _sync(path: str) -> None:
    fd = os.open(path, os.O_RDWR)
    try:
        os.fsync(fd)
    finally:
        os.close(fd)


def _sync_folder(path: str) -> None:
    # Some systems cannot open or confirm a folder, and the file itself is confirmed.
    with suppress(OSError):
        fd = os.open(path, os.O_RDONLY)
        try:
            os.fsync(fd)
        finally:
            os.close(fd)


def _why(error: OSError) -> str:
    if isinstance(error, FileNotFoundError):
        return "there is no such file or folder"
    return explain(error)

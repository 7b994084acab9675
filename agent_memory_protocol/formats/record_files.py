"""How files that people name are opened, locked, and put in place whole.

Links are followed. A reader gets a regular file or an error that says what else is there. A writer gets a new file,
which takes the place of the old one once the disk has confirmed it. To append, a process has the file to itself.
"""

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import BinaryIO

from ..disk.errors import check_regular, explain, shown
from ..disk.files import TEMPORARY, Root
from ..disk.lock import hold_file
from ..disk.walk import SAFE_FLAGS
from ..disk.writing import is_abandoned, writer_mark
from ..errors import DamagedFile, InvalidArgument, Refused, StorageError
from ..project.root import find_root
from ..project.settings import load_settings

CHUNK = 1 << 18


def path_of(path: str | os.PathLike[str]) -> str:
    """Return a path as text. Raises InvalidArgument if no file can have it."""
    name = os.fspath(path)
    if not isinstance(name, str) or not name or "\0" in name:
        raise InvalidArgument(f"{name!a} cannot be the path of a file")
    return name


@contextmanager
def reading(path: str) -> Iterator[BinaryIO]:
    """Open a regular file for reading. Raises DamagedFile for anything else, and StorageError if it is missing."""
    try:
        with open(path, "rb", buffering=CHUNK, opener=_opened) as file:
            check_regular(os.fstat(file.fileno()), (path,))
            yield file
    except OSError as error:
        raise StorageError(f"{shown(path)}: {_why(error)}") from error


def read_whole(path: str, most: int) -> bytes:
    """Read a regular file of at most `most` bytes. Raises DamagedFile for a larger one, and for anything else."""
    with reading(path) as file:
        data = file.read(most + 1)
    if len(data) > most:
        raise DamagedFile(f"has more than {most:,} bytes", path=shown(path))
    return data


@contextmanager
def replacing(path: str, *, overwrite: bool = False) -> Iterator[str]:
    """Give the path of a new file, which takes the place of `path` when all went well, and is removed otherwise.

    Raises Refused if something is there that may not be overwritten, StorageError if it cannot be written.
    """
    if "\0" in path:
        raise StorageError(f"{shown(path)} is not a path: no file has a NUL in its name; name another file")
    if not overwrite and os.path.lexists(path):
        raise Refused(f"{shown(path)} exists already; name another file, or say --force to replace it")
    path = os.path.realpath(path)
    if os.path.isdir(path):
        raise StorageError(f"{shown(path)}: there is a folder where a file should be; name a file")
    if os.path.exists(path) and not os.path.isfile(path):
        # To replace a device or a pipe would take it from every other program.
        raise StorageError(f"{shown(path)}: is not a regular file and is not replaced; name a file, or - for stdout")
    temporary = f"{path}.{writer_mark()}{TEMPORARY}"
    try:
        for name in os.listdir(os.path.dirname(path)):
            if TEMPORARY in name and is_abandoned(name):
                os.unlink(os.path.join(os.path.dirname(path), name))
        mode = os.stat(path).st_mode & 0o777 if os.path.exists(path) else 0o666
        os.close(os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | SAFE_FLAGS, mode))
        yield temporary
        _sync(temporary, os.O_RDWR)
        os.replace(temporary, path)
        with suppress(OSError):  # some systems cannot open or confirm a folder, and the file itself is confirmed
            _sync(os.path.dirname(path), os.O_RDONLY)
    except OSError as error:
        raise StorageError(f"{shown(path)}: not written: {_why(error)}") from error
    except StorageError as error:
        error.args = (str(error).replace(shown(temporary), shown(path)),)
        raise
    finally:
        for leftover in (temporary, f"{temporary}-wal", f"{temporary}-shm", f"{temporary}-journal"):
            with suppress(OSError):
                os.unlink(leftover)


@contextmanager
def locked(path: str, *, begin: bytes = b"") -> Iterator[tuple[Root, tuple[str, ...], BinaryIO]]:
    """Lock a file for a `with` block: give its folder, its name there, and the open file.

    A file that does not exist is created with the bytes `begin`.
    """
    with opened_folder(path) as (root, parts):
        try:
            with hold_file(root, parts, begin=begin) as fd, open(fd, "rb", closefd=False) as file:
                yield root, parts, file
        except OSError as error:
            raise StorageError(f"{shown(path)}: not written: {_why(error)}") from error


@contextmanager
def opened_folder(path: str) -> Iterator[tuple[Root, tuple[str, ...]]]:
    """Open the folder of a file, once links are followed: a root, and the path below it."""
    try:
        folder, name = os.path.split(os.path.realpath(path))
    except OSError as error:
        raise StorageError(f"{shown(path)}: cannot be reached: {_why(error)}") from error
    if not os.path.isdir(folder):
        raise StorageError(f"{shown(path)}: its folder does not exist; create it first")
    with Root.open(folder) as root:
        yield root, (name,)


def allowances(path: str) -> tuple[str, ...]:
    """Return the fingerprints of what is not a secret, from the settings of the project that a file is in."""
    folder = os.path.dirname(os.path.realpath(path))
    try:
        with Root.open(find_root(folder).path) as root:
            return load_settings(root).secrets_allow
    except StorageError:
        return ()


def _opened(path: str, flags: int) -> int:
    # Without it, opening a pipe would wait for a writer.
    return os.open(path, flags | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_CLOEXEC", 0))


def _sync(path: str, flags: int) -> None:
    fd = os.open(path, flags)
    try:
        os.fsync(fd)
    finally:
        os.close(fd)


def _why(error: OSError) -> str:
    return "there is no such file or folder" if isinstance(error, FileNotFoundError) else explain(error)

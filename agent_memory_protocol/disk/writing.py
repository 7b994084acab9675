"""Change files so that each is, at any moment and after any failure, whole: the old bytes or the new ones.

Every function takes an open `Root` and a path below it, follows links as reading does, and returns when the disk has
confirmed the change. A caller that reads a file in order to change it holds a `lock` around both.
"""

import errno
import os
import stat
import time
import zlib
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import cache

from ..errors import InvalidArgument, StorageError
from ..layout import SCAFFOLDING
from .errors import check_regular, explain, shown
from .files import TEMPORARY, Content, Root, stamp
from .walk import SAFE_FLAGS, FilePlace, OpenFolder, close

LOCAL = (SCAFFOLDING, ".amp")
"""The folder of what belongs to this checkout only and may be deleted at any time (decision 6)."""

LOCKS = "locks"  # The folder in it of what keeps writers apart
WAITING = "waiting"  # The folder in it of what writers ask for that wait for a lock

CHECKED = (*LOCAL, "checked.json")  # The file in it of what a check has found

RENAME_PAUSES = (0.01, 0.02, 0.05, 0.1, 0.2, 0.3)
"""Seconds to wait before each further try when a virus scanner or indexer holds the file (Windows)."""

_NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL | SAFE_FLAGS
_APPEND = os.O_RDWR | os.O_APPEND | SAFE_FLAGS

_LONGEST_NAME = 60
_NO_FOLDER_SYNC = (errno.EINVAL, errno.EBADF, errno.ENOTSUP, errno.ENOSYS)
_NO_HARD_LINKS = (errno.EPERM, errno.ENOTSUP, errno.EOPNOTSUPP, errno.ENOSYS, errno.EMLINK, errno.EXDEV)
_OPEN_FILES = "/proc/self/fd"  # By its name there, an open file without one is given one
_LINKS_LINKS = os.link in os.supports_follow_symlinks


class ChangedMeanwhile(StorageError):
    """Someone else changed the file after it was read. Nothing was written: read it again and start over."""


class NotConfirmed(StorageError):
    """The file is changed, but the disk has not confirmed that the change will survive a crash."""


def make_folders(root: Root, parts: tuple[str, ...]) -> None:
    """Create a folder and those above it, where they are missing."""
    for depth in range(len(parts)):
        path = parts[: depth + 1]
        if root.folder(path) is not None:
            continue
        with _saying(path, "the folder was not created"):
            parent = _folder(root, parts[:depth])
            name, fd = parent.at(path[-1])
            with suppress(FileExistsError):
                os.mkdir(name, 0o777, dir_fd=fd)
                _sync(parent)


def make_local_folder(root: Root, *names: str, local: tuple[str, ...] = LOCAL) -> tuple[str, ...]:
    """Create `.scaffolding/.amp/NAMES` where it is missing, with the `.gitignore` that keeps it out of git."""
    make_folders(root, (*local, *names))
    if not root.exists((*local, ".gitignore")):
        create(root, (*local, ".gitignore"), b"*\n")
    return (*local, *names)


def create(root: Root, parts: tuple[str, ...], data: bytes, *, alone: bool = False, mode: int = 0o666) -> bool:
    """Create a file that does not exist yet, all at once; False when something is there already.

    With `alone`, no other writer of this file is at work, and what killed ones left is removed. At no moment does the
    file allow more than `mode`, less the process's umask.
    """
    if root.exists(parts):
        return False
    with _saying(parts, "not written"):
        folder = _folder(root, parts[:-1])
        _sweep(folder, parts[-1], alone=alone)
        try:
            _write_new(folder, parts[-1], data, mode=mode)
        except FileExistsError:
            return False
    _confirm(folder, parts)
    return True


def replace(root: Root, parts: tuple[str, ...], data: bytes, *, expected: Content) -> Content:
    """Replace a file that was read as `expected`, all at once, and return it as it is now.

    A link stays a link: what it leads to is replaced. The mode stays, and where the system allows it the owner.
    Raises ChangedMeanwhile if it is not the one that was read.
    """
    with _saying(parts, "not written"):
        place = root.locate(parts)
        if place is None:
            raise _changed(parts)
        _check_unchanged(place.info, parts, expected)
        _sweep(place.folder, place.name, alone=True)
        temporary = _temporary(place.name)
        info = _write_new(place.folder, temporary, data, like=place.info)
        try:
            _rename(place, temporary, parts, expected)
        except BaseException:
            remove_quietly(place.folder, temporary)
            raise
    _confirm(place.folder, parts)
    return Content(data, info)


def write_file(path: str, data: bytes) -> None:
    """Write a file that a person names, wherever it lies: a new one, or in place of what was there."""
    with Root.open(os.path.dirname(path), external_links=True) as root:
        parts = (os.path.basename(path),)
        content = root.read(parts)
        if content is None:
            create(root, parts, data)
        else:
            replace(root, parts, data, expected=content)


def append(root: Root, parts: tuple[str, ...], data: bytes, *, sync: bool = True, lines: bool = True) -> None:
    r"""Add bytes to the end of a file in a single write, all of them or none; create the file where it is missing.

    `sync` asks the disk to confirm; not for what may be lost with the power. With `lines`, the data are whole lines,
    and start on one of their own, also behind one without an end, which a killed writer has left.
    """
    if lines and not data.endswith(b"\n"):
        raise InvalidArgument("a line to append must end with a line feed")
    with _saying(parts, "not written"):
        place, fd, created = open_for_append(root, parts)
        try:
            _append(fd, data, parts, sync=sync, lines=lines)
        except BaseException:
            if created and os.fstat(fd).st_size == 0:
                remove_quietly(place.folder, place.name)
            raise
        finally:
            # The disk has confirmed the data, so whatever closing says does not undo it.
            close(fd)
    if created and sync:
        _confirm(place.folder, parts)


def cut(root: Root, parts: tuple[str, ...], size: int) -> None:
    """Cut a file off after so many bytes: take back what was just appended, which needs no room on the disk."""
    with _saying(parts, "not written"):
        _, fd, _ = open_for_append(root, parts)
        try:
            os.ftruncate(fd, min(size, os.fstat(fd).st_size))
        finally:
            os.close(fd)


def remove(root: Root, parts: tuple[str, ...]) -> bool:
    """Remove a file, or a link itself and not what it leads to; False when nothing is there."""
    if not root.exists(parts):
        return False
    with _saying(parts, "not removed"):
        try:
            folder = _folder(root, parts[:-1])
            path, fd = folder.at(parts[-1])
            os.unlink(path, dir_fd=fd)
        except FileNotFoundError:
            return False
    _confirm(folder, parts)
    return True


def rename_folder(root: Root, old: tuple[str, ...], new: tuple[str, ...]) -> None:
    """Give a folder another name beside its old one, with all that is in it; refused if something has the name."""
    root.forget()  # the folder may be open
    with _saying(old, "not renamed"):
        parent = _folder(root, old[:-1])
        (name, fd), (new_name, _) = parent.at(old[-1]), parent.at(new[-1])
        os.rename(name, new_name, src_dir_fd=fd, dst_dir_fd=fd)
    _confirm(parent, new)


def remove_empty_folder(root: Root, parts: tuple[str, ...]) -> bool:
    """Remove a folder that holds nothing; False if something is in it, or it is not a folder."""
    root.forget()  # the folder may be open
    parent = root.folder(parts[:-1])
    if parent is None:
        return False
    path, fd = parent.at(parts[-1])
    try:
        os.rmdir(path, dir_fd=fd)
    except OSError:
        return False
    return True


def remove_tree(root: Root, parts: tuple[str, ...]) -> None:
    """Remove a file, or a folder with all that is in it. A link goes itself, and what it leads to stays."""
    with _saying(parts, "not removed"):
        above = root.folder(parts[:-1])
        info = None if above is None else above.stat(parts[-1])
        if info is None or not stat.S_ISDIR(info.st_mode):
            remove(root, parts)
            return
        for name in _folder(root, parts).names():
            remove_tree(root, (*parts, name))
    remove_empty_folder(root, parts)


def move(root: Root, parts: tuple[str, ...], to: tuple[str, ...]) -> None:
    """Give a file or folder another name, in place of a file that has it. Raises StorageError if it cannot be moved."""
    with _saying(parts, "not moved"):
        old, fd = _folder(root, parts[:-1]).at(parts[-1])
        new, new_fd = _folder(root, to[:-1]).at(to[-1])
        os.replace(old, new, src_dir_fd=fd, dst_dir_fd=new_fd)
    root.forget()  # what is open below the old name is open still


def remove_leftovers(root: Root, parts: tuple[str, ...], also: str = TEMPORARY) -> int:
    """Remove every half-written file in a folder, and those whose names start with `also`; return how many went.

    A writer that is at work on one finds it gone and starts over, or fails, without harm to what is there.
    """
    with _saying(parts, "cannot be listed"):
        files = [name for name, is_folder, _ in _folder(root, parts).scan() if not is_folder]
    return sum(remove(root, (*parts, name)) for name in files if name.endswith(TEMPORARY) or name.startswith(also))


def _write_new(
    folder: OpenFolder, name: str, data: bytes, *, like: os.stat_result | None = None, mode: int = 0o600
) -> os.stat_result:
    """Write a new file, with the mode and owner of `like`, else with `mode`; FileExistsError if the name is taken.

    It has its name only when all of it is on the disk. Where the system can do so it has none before, and a killed
    writer leaves nothing; elsewhere it has that of a half-written file.
    """
    mode = mode if like is None else 0o600
    fd = _open_nameless(folder, mode)
    if fd is not None:
        target, folder_fd = folder.at(name)
        try:
            info = _fill(fd, data, like)
            os.link(f"{_OPEN_FILES}/{fd}", target, dst_dir_fd=folder_fd, follow_symlinks=True)
        except OSError as error:
            if error.errno not in (*_NO_HARD_LINKS, errno.ENOENT):
                raise
        else:
            return info
        finally:
            close(fd)
    temporary = name if name.endswith(TEMPORARY) else _temporary(name)
    path, folder_fd = folder.at(temporary)
    fd = os.open(path, _NEW, mode, dir_fd=folder_fd)
    try:
        try:
            info = _fill(fd, data, like)
        finally:
            close(fd)
        if temporary != name:
            _publish(folder, temporary, name)
    except BaseException:
        remove_quietly(folder, temporary)
        raise
    return info


def _open_nameless(folder: OpenFolder, mode: int) -> int | None:
    """Open a new file without a name; None where the system or the file system cannot do that, or give it one later."""
    if folder.fd is None or not hasattr(os, "O_TMPFILE"):
        return None
    try:
        return os.open(".", os.O_WRONLY | os.O_TMPFILE, mode, dir_fd=folder.fd)
    except OSError as error:
        if error.errno in (errno.EOPNOTSUPP, errno.ENOTSUP, errno.EISDIR, errno.EINVAL, errno.ENOENT):
            return None
        raise


def _fill(fd: int, data: bytes, like: os.stat_result | None) -> os.stat_result:
    left = memoryview(data)
    while left:
        left = left[os.write(fd, left) :]
    if like is not None:
        _keep_owner_and_mode(fd, like)
    os.fsync(fd)
    return os.fstat(fd)


def _temporary(name: str) -> str:
    return f"{_temporary_start(name)}{writer_mark()}{TEMPORARY}"


def _temporary_start(name: str) -> str:
    if len(name) > _LONGEST_NAME:
        # So that the whole stays within the 255 bytes a name may have, and still belongs to this file alone.
        name = f"{name[: _LONGEST_NAME // 2]}~{zlib.crc32(os.fsencode(name)):08x}"
    return f".{name}."


def _keep_owner_and_mode(fd: int, old: os.stat_result) -> None:
    new = os.fstat(fd)
    if (new.st_uid, new.st_gid) != (old.st_uid, old.st_gid) and hasattr(os, "fchown"):
        try:
            os.fchown(fd, old.st_uid, old.st_gid)
        except OSError:
            # Only the superuser gives files away; the group is ours to set where we are in it.
            with suppress(OSError):
                os.fchown(fd, -1, old.st_gid)
    if stat.S_IMODE(os.fstat(fd).st_mode) != stat.S_IMODE(old.st_mode) and hasattr(os, "fchmod"):
        os.fchmod(fd, stat.S_IMODE(old.st_mode))


def _sweep(folder: OpenFolder, name: str, *, alone: bool) -> None:
    """Remove what writers left behind when they were killed: of this file with its lock (`alone`), else of any file."""
    if folder.leftovers is None:
        # Hardly any of thousands of names begins with a dot, as those of half-written files do.
        folder.leftovers = [name for name in folder.names() if name[0] == "." and name.endswith(TEMPORARY)]
    start = _temporary_start(name)
    for left in folder.leftovers:
        is_of_file = left.startswith(start) and len(left) == len(start) + 16 + len(TEMPORARY)
        if (alone and is_of_file) or is_abandoned(left):
            remove_quietly(folder, left)


def writer_mark() -> str:
    """Return 16 digits for the name of a half-written file, that tell later whether its writer is still at work."""
    return f"{_machine()}{os.getpid() & 0xFFFFFF:06x}{os.urandom(3).hex()}"


def is_abandoned(name: str) -> bool:
    """Say whether a half-written file is of a process of this machine that has ended."""
    mark = name.partition(TEMPORARY)[0][-16:]
    if os.name != "posix" or not mark.startswith(_machine()) or mark.strip("0123456789abcdef") or len(mark) < 16:
        return False
    try:
        os.kill(int(mark[4:10], 16), 0)
    except ProcessLookupError:
        return True
    except OSError:  # it is another user's, and at work
        return False
    return False


@cache
def _machine() -> str:
    """Return what identifies this machine or container: process numbers repeat on others."""
    try:
        space = os.readlink("/proc/self/ns/pid")
    except OSError:
        space = ""
    node = os.uname().nodename if hasattr(os, "uname") else ""
    return f"{zlib.crc32(f'{space} {node}'.encode()) & 0xFFFF:04x}"


def _rename(place: FilePlace, temporary: str, parts: tuple[str, ...], expected: Content) -> None:
    source, fd = place.folder.at(temporary)
    target, _ = place.folder.at(place.name)
    if not os.access(target, os.W_OK, dir_fd=fd):
        # Renaming would ask only the folder, and so pass over a file that someone has write-protected.
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))
    for pause in (*RENAME_PAUSES, None):
        _check_unchanged(place.folder.stat(place.name), parts, expected)
        try:
            os.replace(source, target, src_dir_fd=fd, dst_dir_fd=fd)
        except PermissionError:
            if pause is None:
                raise
            time.sleep(pause)
        except FileNotFoundError:  # a redaction has removed every half-written file
            raise _changed(parts) from None
        else:
            return


def _publish(folder: OpenFolder, temporary: str, name: str) -> None:
    """Give a finished file its name; FileExistsError if the name is taken."""
    source, fd = folder.at(temporary)
    target, _ = folder.at(name)
    try:
        os.link(source, target, src_dir_fd=fd, dst_dir_fd=fd, follow_symlinks=not _LINKS_LINKS)
    except OSError as error:
        if error.errno not in _NO_HARD_LINKS:
            raise
    else:
        remove_quietly(folder, temporary)
        return
    # A file system without hard links: take the name with an empty file, then put the finished one over it.
    os.close(os.open(target, _NEW, 0o666, dir_fd=fd))
    try:
        os.replace(source, target, src_dir_fd=fd, dst_dir_fd=fd)
    except BaseException:
        remove_quietly(folder, name)
        raise


def open_for_append(root: Root, parts: tuple[str, ...], *, create: bool = True) -> tuple[FilePlace, int, bool]:
    """Open a file for reading and appending.

    Say where it is, and whether this call has created it. May raise OSError.
    """
    place = root.locate(parts)
    if place is None:
        raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT))
    path, folder_fd = place.folder.at(place.name)
    if place.info is not None:
        # Opening a device can already do something.
        check_regular(place.info, parts)
    elif create:
        with suppress(FileExistsError):
            return place, os.open(path, _APPEND | os.O_CREAT | os.O_EXCL, 0o666, dir_fd=folder_fd), True
    return place, regular(os.open(path, _APPEND, dir_fd=folder_fd), parts), False


def regular(fd: int, parts: tuple[str, ...]) -> int:
    """Return the descriptor of a regular file; close that of anything else, and refuse it as `check_regular` does."""
    try:
        check_regular(os.fstat(fd), parts)
    except BaseException:
        close(fd)
        raise
    return fd


def _append(fd: int, data: bytes, parts: tuple[str, ...], *, sync: bool, lines: bool) -> None:
    size = os.fstat(fd).st_size
    if size and lines:
        os.lseek(fd, size - 1, os.SEEK_SET)
        if os.read(fd, 1) != b"\n":
            data = b"\n" + data
    try:
        if os.write(fd, data) < len(data):
            # A disk takes a part when there is no room for the rest, and a limit on file sizes cuts there, too.
            why = errno.EFBIG if size + len(data) > _largest_file() else errno.ENOSPC
            raise OSError(why, os.strerror(why))  # noqa: TRY301 - what was written is taken back
        if sync:
            os.fsync(fd)
    except BaseException as error:
        left = _take_back(fd, size, data)
        if left:
            reason = explain(error) if isinstance(error, OSError) else "interrupted"
            raise StorageError(
                f"{shown(*parts)}: not confirmed, {left} new bytes may be at its end: {reason}"
            ) from error
        raise


def _largest_file() -> float:
    """Return how many bytes this process may make a file; no bound where the system sets none."""
    try:
        import resource
    except ImportError:
        return float("inf")
    limit = resource.getrlimit(resource.RLIMIT_FSIZE)[0]
    return float("inf") if limit == resource.RLIM_INFINITY else limit


def _take_back(fd: int, size: int, data: bytes) -> int:
    """Cut off what was just appended, unless a writer without the lock has added to it; return how many bytes stay."""
    added = 0
    try:
        added = os.fstat(fd).st_size - size
        os.lseek(fd, size, os.SEEK_SET)
        if added <= len(data) and data.startswith(os.read(fd, len(data))):
            os.ftruncate(fd, size)
            return 0
    except OSError:
        pass
    return added


def _folder(root: Root, parts: tuple[str, ...]) -> OpenFolder:
    folder = root.folder(parts)
    if folder is None:
        raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT))
    return folder


def _sync(folder: OpenFolder) -> None:
    """Make the names in a folder durable, where the system can."""
    if folder.fd is None:
        return
    try:
        os.fsync(folder.fd)
    except OSError as error:
        if error.errno not in _NO_FOLDER_SYNC:
            raise


def _confirm(folder: OpenFolder, parts: tuple[str, ...]) -> None:
    try:
        _sync(folder)
    except OSError as error:
        reason = f"changed, but the disk has not confirmed that it will survive a crash: {explain(error)}"
        raise NotConfirmed(f"{shown(*parts)}: {reason}") from error


def remove_quietly(folder: OpenFolder, name: str) -> None:
    """Remove a file if that can be done."""
    path, fd = folder.at(name)
    with suppress(OSError):
        os.unlink(path, dir_fd=fd)


def _check_unchanged(info: os.stat_result | None, parts: tuple[str, ...], expected: Content) -> None:
    if info is None or stamp(info) != expected.stamp:
        raise _changed(parts)


def _changed(parts: tuple[str, ...]) -> ChangedMeanwhile:
    return ChangedMeanwhile(f"{shown(*parts)}: someone else has changed it; nothing was written, read it again")


@contextmanager
def _saying(parts: tuple[str, ...], what: str) -> Iterator[None]:
    """Add to a system error which file it is about, what was not done to it, and why."""
    try:
        yield
    except OSError as error:
        raise StorageError(f"{shown(*parts)}: {what}: {explain(error)}") from error

"""What is wrong on the disk, said in one line: what it is, where, and what to do about it."""

import errno
import stat

from ..errors import DamagedFile

TYPE_CHECKING = False
if TYPE_CHECKING:
    import os

_REASONS = {
    errno.EACCES: "permission denied; change the permissions of the file or its folder",
    errno.EPERM: "the system does not permit it; look at the owner and attributes of the file and its folder",
    errno.ENOENT: "its folder has gone; make it again",
    errno.ENOTDIR: "there is a file where a folder should be; move it away",
    errno.EISDIR: "there is a folder where a file should be; move it away",
    errno.ELOOP: "it is a link; replace it by the file itself",
    errno.ENXIO: "it is a socket, a device or an unused pipe, not a file; move it away",
    errno.EMFILE: "this process has too many open files; close some and try again",
    errno.ENFILE: "the system has too many open files; close some and try again",
    errno.EIO: "the disk reports an input/output error; check the disk",
    errno.ENOSPC: "the disk is full; free some space and try again",
    errno.EROFS: "the file system is read-only; write somewhere else or mount it writable",
    errno.EBUSY: "another program is using it; close that program and try again",
    errno.EFBIG: "it would be larger than the system allows; raise the limit on file sizes",
    errno.ENAMETOOLONG: "its name is too long for this file system; shorten it",
    errno.ENOLCK: "the file system offers no locks; keep the project on a local disk",
}
if hasattr(errno, "EDQUOT"):
    _REASONS[errno.EDQUOT] = "your disk quota is used up; free some space and try again"

_KINDS = {
    stat.S_IFDIR: "a folder",
    stat.S_IFLNK: "a link",
    stat.S_IFIFO: "a named pipe",
    stat.S_IFSOCK: "a socket",
    stat.S_IFCHR: "a device",
    stat.S_IFBLK: "a device",
}


def explain(error: "OSError | UnicodeEncodeError") -> str:
    """Say what a system error means and what to do."""
    if isinstance(error, UnicodeEncodeError):
        return "its name holds characters this file system cannot hold; rename it"
    reason = _REASONS.get(error.errno or 0)
    return reason or f"{error.strerror or error}; mend that and try again"


def damaged(error: OSError, parts: tuple[str, ...]) -> DamagedFile:
    """Turn a system error met while reading into one that names the file."""
    return DamagedFile(f"cannot be read: {explain(error)}", path=shown(*parts))


def check_regular(info: "os.stat_result", parts: tuple[str, ...]) -> None:
    """Refuse what is not a regular file. Raises DamagedFile if it is a folder, a pipe, a device or a socket."""
    if not stat.S_ISREG(info.st_mode):
        kind = _KINDS.get(stat.S_IFMT(info.st_mode), "something else")
        raise DamagedFile(f"is {kind}, not a file; move it away", path=shown(*parts))


def shown(*parts: str) -> str:
    """Join names for a message; what would break its line or hide in it is escaped."""
    path = "/".join(parts)
    return path if path.isprintable() else ascii(path)[1:-1]

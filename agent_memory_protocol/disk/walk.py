"""From a path to an open folder, one component at a time, never leaving the root.

Each component is opened relative to a descriptor of the folder it lies in, without following links, so a link swapped
in half way cannot lead outside (decision 5). Where the system has no such calls (Windows), what is at a path is
checked just before it is used, and a swap in the moment between is not noticed.
"""

import errno
import os
import stat

from ..errors import DamagedFile, InvalidArgument
from .errors import check_regular, damaged, explain, shown

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import TypeVar

    Used = TypeVar("Used")

_NEEDED = {os.open, os.stat, os.mkdir, os.rename, os.unlink, os.link, os.access}
USE_DESCRIPTORS = os.supports_dir_fd >= _NEEDED and os.scandir in os.supports_fd and hasattr(os, "O_NOFOLLOW")

# Python opens every descriptor close-on-exec by itself (PEP 446). A named pipe must not wait for its other end,
# and a terminal must not become ours.
SAFE_FLAGS: int = (
    getattr(os, "O_NOFOLLOW", 0)
    | getattr(os, "O_NONBLOCK", 0)
    | getattr(os, "O_NOCTTY", 0)
    | getattr(os, "O_BINARY", 0)
)
_READ = os.O_RDONLY | SAFE_FLAGS
_FOLDER: int = os.O_RDONLY | getattr(os, "O_DIRECTORY", 0)

# What opening a link without following it answers: ELOOP by POSIX, ENOTDIR for folders on Linux, the others on BSD.
_LINK_ERRORS = frozenset([errno.ELOOP, errno.ENOTDIR, errno.EMLINK, getattr(errno, "EFTYPE", errno.ELOOP)])

_KEEP_OPEN = 64
_FEW = 8  # The folders over one file, and a few: with fewer open there is nothing to let go


class OpenFolder:
    """An open folder. Good until the next call of its root, which may close it."""

    __slots__ = ("_name", "_parent", "fd", "leftovers")

    def __init__(self, name: str, fd: int | None, parent: "OpenFolder | None" = None) -> None:
        self._name = name
        self._parent = parent
        self.fd = fd
        """Its descriptor; None if the system offers none."""
        self.leftovers: list[str] | None = None
        """The half-written files found in it, once `writing` has looked."""

    @property
    def path(self) -> str:
        """Its whole path, put together when asked for: with a descriptor it is hardly ever needed."""
        return self._name if self._parent is None else os.path.join(self._parent.path, self._name)

    def at(self, name: str) -> tuple[str, int | None]:
        """Return what the functions of `os` take as path and `dir_fd` for `name` in this folder."""
        return (os.path.join(self.path, name), None) if self.fd is None else (name, self.fd)

    def stat(self, name: str) -> os.stat_result | None:
        """Look at `name` without following it; None when nothing is there."""
        # Asked of thousands of names in a row, so `at` is left aside where it has nothing to add.
        path, fd = self.at(name) if self.fd is None else (name, self.fd)
        try:
            return os.stat(path, dir_fd=fd, follow_symlinks=False)
        except FileNotFoundError:
            return None

    def scan(self) -> "Iterator[tuple[str, bool, bool]]":
        """Yield the names in it, each with whether it is a folder and whether it is a link."""
        with os.scandir(self.path if self.fd is None else self.fd) as entries:
            for entry in entries:
                yield entry.name, entry.is_dir(follow_symlinks=False), entry.is_symlink()

    def names(self) -> list[str]:
        """List the names in it."""
        return os.listdir(self.path if self.fd is None else self.fd)


class FilePlace:
    """Where a path leads once its links are followed: a folder, a name, and what is there (None: nothing)."""

    __slots__ = ("folder", "info", "name")

    def __init__(self, folder: OpenFolder, name: str, info: os.stat_result | None) -> None:
        self.folder = folder
        self.name = name
        self.info = info


class Walk:
    """The folders of one root that are open.

    They stay open between calls, so a file beside one that was read costs one call, and a folder replaced meanwhile
    is not noticed. Not for several threads at once.
    """

    __slots__ = ("_folders", "_most", "_real", "called", "external_links", "path")

    def __init__(self, top: OpenFolder, *, external_links: bool = False) -> None:
        self.path = top.path
        self.external_links = external_links
        self.called = "the project"
        self._folders: dict[tuple[str, ...], OpenFolder] = {(): top}
        self._most = _KEEP_OPEN
        self._real = ""

    def close(self) -> None:
        """Close every folder. The root cannot be used any more."""
        _close(self._folders)

    def forget(self) -> None:
        """Close every folder but the root itself, so that the next call looks at the disk again."""
        top = self._folders.pop(())
        _close(self._folders)
        self._folders[()] = top

    def folder(self, parts: tuple[str, ...]) -> OpenFolder | None:
        """Open a folder, or return the one that is open; None when it does not exist."""
        if len(self._folders) > self._most:
            self.forget()
        try:
            return self._folder(parts)
        except DamagedFile as error:
            if not self._let_go(error.__cause__):
                raise
        return self.folder(parts)

    def _let_go(self, error: BaseException | None) -> bool:
        """Close folders and keep fewer open, if the system has run out of open files; False for another error."""
        if getattr(error, "errno", None) != errno.EMFILE or len(self._folders) < _FEW:
            return False
        self._most = min(self._most, len(self._folders)) // 2
        self.forget()
        return True

    def locate(self, parts: tuple[str, ...]) -> FilePlace | None:
        """Follow the links of a path; None when the folder it lies in does not exist."""
        folder = self.folder(parts[:-1])
        if folder is None:
            return None
        check_name(*parts)
        try:
            info = folder.stat(parts[-1])
            if info is None or not stat.S_ISLNK(info.st_mode):
                return FilePlace(folder, parts[-1], info)
            folder, name = self._follow(folder, parts)
            return FilePlace(folder, name, folder.stat(name))
        except OSError as error:
            raise damaged(error, parts) from error

    def use_file(self, parts: tuple[str, ...], use: "Callable[[int, os.stat_result], Used]") -> "Used | None":
        """Open a regular file for reading and return what `use` makes of it; None when it does not exist.

        `use` is given the descriptor, which is closed afterwards, and what the system says of the file.
        """
        try:
            fd = self._open_file(parts)
        except FileNotFoundError:
            return None
        except OSError as error:
            if self._let_go(error):
                return self.use_file(parts, use)
            raise damaged(error, parts) from error
        try:
            info = os.fstat(fd)
            check_regular(info, parts)
            return use(fd, info)
        except OSError as error:
            raise damaged(error, parts) from error
        finally:
            close(fd)

    def _open_file(self, parts: tuple[str, ...]) -> int:
        folder = self.folder(parts[:-1])
        if folder is None:
            raise FileNotFoundError
        check_name(*parts)
        if folder.fd is not None:
            try:
                return os.open(parts[-1], _READ, dir_fd=folder.fd)
            except OSError as error:
                if error.errno not in _LINK_ERRORS:
                    raise
        place = self.locate(parts)
        if place is None or place.info is None:
            raise FileNotFoundError
        check_regular(place.info, parts)
        path, folder_fd = place.folder.at(place.name)
        return os.open(path, _READ, dir_fd=folder_fd)

    def _folder(self, parts: tuple[str, ...]) -> OpenFolder | None:
        found = self._folders.get(parts)
        if found is not None:
            return found
        parent = self._folder(parts[:-1])
        if parent is None:
            return None
        check_name(*parts)
        try:
            found = self._enter(parent, parts)
        except FileNotFoundError:
            return None
        except OSError as error:
            raise damaged(error, parts) from error
        self._folders[parts] = found
        return found

    def _enter(self, parent: OpenFolder, parts: tuple[str, ...]) -> OpenFolder:
        name = parts[-1]
        try:
            return self._enter_unlinked(parent, name)
        except OSError as error:
            if error.errno not in _LINK_ERRORS:
                raise
            info = parent.stat(name)
            if info is None or stat.S_ISREG(info.st_mode):
                raise
        return self._enter_unlinked(*self._follow(parent, parts))

    def _enter_unlinked(self, parent: OpenFolder, name: str) -> OpenFolder:
        if parent.fd is not None:
            return OpenFolder(name, os.open(name, _FOLDER | SAFE_FLAGS, dir_fd=parent.fd), parent)
        path = os.path.join(parent.path, name)
        mode = os.stat(path, follow_symlinks=False).st_mode
        # A Windows junction passes for a folder; only the resolved path shows where it leads.
        if stat.S_ISLNK(mode) or (self._inside(os.path.realpath(path)) is None and not self.external_links):
            raise OSError(errno.ELOOP, os.strerror(errno.ELOOP))
        if not stat.S_ISDIR(mode):
            raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR))
        return OpenFolder(path, None)

    def _follow(self, folder: OpenFolder, parts: tuple[str, ...]) -> tuple[OpenFolder, str]:
        """Say where the link at `parts` leads: its resolved target is walked from the root like any other path."""
        link = os.path.join(folder.path, parts[-1])
        try:
            os.stat(link)  # The system's own word on it: realpath takes `file/..` for a folder.
            full = os.path.realpath(link, strict=True)
        except OSError as error:
            if error.errno == errno.ELOOP:
                reason = "a loop of links; replace it by the file itself"
            elif error.errno == errno.ENOENT:
                reason = f"a link to {_target(link)}, which does not exist; mend the link or remove it"
            else:
                reason = f"a link to {_target(link)}, which cannot be followed: {explain(error)}"
            raise DamagedFile(reason, path=shown(*parts)) from error
        inside = self._inside(full)
        if inside is None and not self.external_links:
            raise DamagedFile(
                f"a link to {_target(link)}, which leads outside {self.called}; replace it by the file itself,"
                " or set external_links = true in your own settings",
                path=shown(*parts),
            )
        if inside == ():
            return self._folders[()], "."
        above, name = os.path.split(full)
        parent = self._outside(above) if inside is None else self._folder(inside[:-1])
        if parent is None:
            raise DamagedFile(f"a link to {_target(link)}, which has just gone; try again", path=shown(*parts))
        return parent, name or "."

    def _outside(self, path: str) -> OpenFolder:
        """Open a folder outside the root, as the person's own settings allow."""
        key = ("", path)
        if key not in self._folders:
            self._folders[key] = open_outright(path)
        return self._folders[key]

    def _inside(self, full: str) -> tuple[str, ...] | None:
        """Return the parts of a resolved path below the root; None when it lies elsewhere."""
        self._real = self._real or os.path.realpath(self.path)
        if full == self._real:
            return ()
        start = os.path.join(self._real, "")
        return tuple(full[len(start) :].split(os.sep)) if full.startswith(start) else None


def check_name(*parts: str) -> None:
    """Refuse a path whose last name is a path itself, or is not text: no link, ledger or index could hold it."""
    name = parts[-1]
    bad = name in ("", ".", "..") or "/" in name or "\0" in name or (os.sep == "\\" and ("\\" in name or ":" in name))
    if not bad and not name.isascii():
        try:
            spelled = os.fsencode(name)
        except UnicodeEncodeError:
            bad = True
        else:
            # Python hands out the bytes of a name that are not text as halves of a pair.
            if name != spelled.decode(errors="replace"):
                raise DamagedFile("has a name that is not UTF-8; rename it", path=shown(*parts))
    if bad:
        raise InvalidArgument(f"{name!a} cannot be the name of a file or folder")


def open_outright(path: str) -> OpenFolder:
    """Open a folder by its whole path, following links."""
    if USE_DESCRIPTORS:
        return OpenFolder(path, os.open(path, _FOLDER))
    if not stat.S_ISDIR(os.stat(path).st_mode):
        raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR))
    return OpenFolder(path, None)


def _close(folders: dict[tuple[str, ...], OpenFolder]) -> None:
    while folders:
        fd = folders.popitem()[1].fd
        if fd is not None:
            close(fd)


def close(fd: int) -> None:
    """Close a descriptor that nothing was written through: what the system says to that changes nothing."""
    try:  # noqa: SIM105  (recall loads no contextlib)
        os.close(fd)
    except OSError:
        pass


def _target(link: str) -> str:
    try:
        return shown(os.readlink(link))
    except OSError:
        return "something else"

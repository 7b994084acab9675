"""The door to the disk: open a project root, and read and list what lies inside it, never what lies outside.

`walk` finds the way there. `writing` changes files and `lock` keeps writers apart; recall needs neither.
"""

import os
import stat

from ..errors import AgentMemoryError, DamagedFile, InvalidArgument, StorageError
from ..limits import count_lines
from .errors import damaged, explain, shown
from .walk import OpenFolder, Walk, check_name, open_outright

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from typing import Self

TEMPORARY = ".amp-tmp"  # The ending of half-written files, which `writing` renames into place and listings leave out
Stamp = tuple[int, int, int]  # What `stamp` returns

MOST = 256 << 20  # A larger file is never read to its end, whatever it is: no memory has that much

_CHUNK = 1 << 20
_SMALL = 64


class Content:
    """A whole file as it was read: its bytes, and what tells later whether it is still the same.

    `links` is how many names the file had. With more than one, those others keep the old bytes when it is replaced.
    """

    __slots__ = ("data", "links", "mode", "stamp")

    def __init__(self, data: bytes, info: os.stat_result) -> None:
        self.data = data
        self.mode = stat.S_IMODE(info.st_mode)
        self.links = info.st_nlink
        self.stamp = stamp(info)

    @property
    def size(self) -> int:
        """The number of bytes."""
        return len(self.data)


class TooLarge(DamagedFile):
    """A file has more bytes than the caller is willing to hold; `large_files` reads its ends."""


class Root(Walk):
    """An opened project root. Paths are tuples of names below it: `(".scaffolding", "conversations")`.

    Open one for one piece of work, and close it.
    """

    __slots__ = ("_listings",)

    def __init__(self, top: OpenFolder, *, external_links: bool = False) -> None:
        super().__init__(top, external_links=external_links)
        self._listings: dict[tuple[str, ...], dict[str, bool]] | None = None

    def list_once(self) -> None:
        """Keep what each folder holds from now on: for a verb that asks much of many folders and writes nothing."""
        self._listings = {}

    @classmethod
    def open(cls, path: str, *, external_links: bool = False) -> "Self":
        """Open the folder at `path`. With `external_links`, links that lead out of it are followed (decision 6)."""
        if not path or "\0" in path:
            raise InvalidArgument(f"{path!a} cannot be the path of a project root")
        path = os.path.abspath(path)
        try:
            return cls(open_outright(path), external_links=external_links)
        except FileNotFoundError as error:
            raise StorageError(f"{shown(path)}: there is no such folder; create it or name another") from error
        except NotADirectoryError as error:
            raise StorageError(f"{shown(path)}: this is a file; name the folder it lies in") from error
        except (OSError, UnicodeEncodeError) as error:
            raise StorageError(f"{shown(path)}: the folder cannot be opened: {explain(error)}") from error

    def __enter__(self) -> "Self":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def read(self, parts: tuple[str, ...], *, limit: int = MOST) -> Content | None:
        """Read a whole file; None if it, or a folder on the way, is missing. Raises TooLarge over `limit` bytes."""
        if self._listings is not None and self._is_surely_missing(parts):
            return None

        def whole(fd: int, info: os.stat_result) -> Content:
            return Content(_read_all(fd, info.st_size, parts, limit), info)

        return self.use_file(parts, whole)

    def read_start(self, parts: tuple[str, ...], size: int) -> bytes | None:
        """Read at most the first `size` bytes of a file; None when it does not exist. Raises as `read` does."""
        return self.use_file(parts, lambda fd, _: os.read(fd, size))

    def exists(self, parts: tuple[str, ...]) -> bool:
        """Say whether anything is there: a file, a folder, or a link, wherever it leads."""
        if self._listings is not None and parts and parts[-1] in self._listing(parts[:-1]):
            return True  # what is not listed may be there by another spelling
        folder = self.folder(parts[:-1])
        if folder is None or not parts:
            return folder is not None
        check_name(*parts)
        try:
            return folder.stat(parts[-1]) is not None
        except OSError as error:
            raise damaged(error, parts) from error

    def list_folders(self, parts: tuple[str, ...]) -> list[str]:
        """List the folders in a folder, and the links to a folder that may be followed; [] when it does not exist."""
        return sorted(name for name, is_folder in self._scan(parts) if is_folder and not name.endswith(TEMPORARY))

    def list_files(self, parts: tuple[str, ...]) -> list[str]:
        """List everything else in a folder. A pipe or a bad link is named too: reading it says what is wrong."""
        return sorted(name for name, is_folder in self._scan(parts) if not is_folder and not name.endswith(TEMPORARY))

    def list_all(self, parts: tuple[str, ...]) -> list[str]:
        """List what is in a folder, whatever it is; [] when it does not exist."""
        return sorted(name for name, _ in self._scan(parts) if not name.endswith(TEMPORARY))

    def has_file(self, parts: tuple[str, ...], wanted: "Callable[[str], bool]") -> bool:
        """Say whether `list_files` would name a file that is wanted, without listing them all."""
        return any(wanted(name) for name, is_folder in self._scan(parts) if not is_folder)

    def files_below(
        self,
        top: tuple[str, ...],
        enter: "Callable[[tuple[str, ...]], bool]",
        failed: "Callable[[AgentMemoryError], object]" = lambda _: None,
    ) -> "Iterator[tuple[str, ...]]":
        """Yield the files in a folder, then those in the folders below it that are to be entered, each once.

        `failed` is told why one cannot be listed.
        """
        seen = set()
        waiting = [top]
        while waiting:
            folder = waiting.pop()
            real = os.path.realpath(os.path.join(self.path, *folder))
            if real in seen:
                continue
            seen.add(real)
            try:
                files, folders = self.list_files(folder), self.list_folders(folder)
            except AgentMemoryError as error:
                failed(error)
                continue
            yield from ((*folder, name) for name in files)
            waiting += [below for name in folders if enter(below := (*folder, name))][::-1]

    def _is_surely_missing(self, parts: tuple[str, ...]) -> bool:
        """Say whether a file is under no spelling in a folder that was listed; not asked of a large one."""
        listing = self._listing(parts[:-1])
        return len(listing) < _SMALL and parts[-1].isascii() and parts[-1].lower() not in map(str.lower, listing)

    def _scan(self, parts: tuple[str, ...]) -> "Iterable[tuple[str, bool]]":
        """Return each name in a folder, and whether it is a folder or a link to one that may be followed."""
        return self._scan_now(parts) if self._listings is None else self._listing(parts).items()

    def _listing(self, parts: tuple[str, ...]) -> dict[str, bool]:
        listings = {} if self._listings is None else self._listings
        if parts not in listings:
            listings[parts] = dict(self._scan_now(parts))
        return listings[parts]

    def _scan_now(self, parts: tuple[str, ...]) -> "Iterator[tuple[str, bool]]":
        folder = self.folder(parts)
        try:
            for name, is_folder, is_link in () if folder is None else folder.scan():
                yield name, self.leads_to_folder((*parts, name)) if is_link else is_folder
        except OSError as error:
            if self._let_go(error):  # nothing was yielded yet: what cannot be opened cannot be read
                yield from self._scan_now(parts)
                return
            raise damaged(error, parts) from error

    def leads_to_folder(self, parts: tuple[str, ...]) -> bool:
        """Say whether a link leads to a folder that may be entered."""
        try:
            place = self.locate(parts)
        except DamagedFile:
            return False
        return place is not None and place.info is not None and stat.S_ISDIR(place.info.st_mode)


class MissingRoot(Root):
    """A root that is not there: nothing lies below it, and nothing can be written to it."""

    __slots__ = ()

    def __init__(self, path: str) -> None:
        super().__init__(OpenFolder(path, None))

    def folder(self, _: tuple[str, ...]) -> None:
        """Return None: there is no folder, the root itself included."""
        return


def read_named(path: str, *, limit: int = MOST) -> Content | None:
    """Read a file that a person has named, as `Root.read` does; None when it does not exist."""
    folder, name = os.path.split(os.path.abspath(path))
    with Root.open(folder) as root:
        return root.read((name,), limit=limit)


def is_there(path: str) -> bool:
    """Say whether anything is at a path. What cannot be looked at counts as there: who opens it says why."""
    try:
        os.stat(path)
    except (FileNotFoundError, NotADirectoryError):
        return False
    except OSError:
        return True
    return True


def split_bom(data: bytes) -> tuple[bytes, bytes]:
    """Split a UTF-8 byte-order mark from what follows it."""
    return (data[:3], data[3:]) if data.startswith(b"\xef\xbb\xbf") else (b"", data)


def decode(data: bytes, path: str) -> str:
    """Decode strict UTF-8, without its byte-order mark; DamagedFile names `path`, the line and the byte."""
    _, rest = split_bom(data)
    try:
        return rest.decode()
    except UnicodeDecodeError as error:
        for name, marks in (("UTF-32", (b"\xff\xfe\0\0", b"\0\0\xfe\xff")), ("UTF-16", (b"\xff\xfe", b"\xfe\xff"))):
            if data.startswith(marks):
                raise DamagedFile(f"is {name}, not UTF-8; save it as UTF-8", path=path) from None
        # The bad byte ends no line itself, so the lines up to it, itself included, are the number of its line.
        line = count_lines(rest[: error.start + 1])
        reason = f"byte 0x{rest[error.start]:02X} is not UTF-8; save the file as UTF-8"
        raise DamagedFile(reason, path=path, line=line) from None


def stamp(info: os.stat_result) -> Stamp:
    """Return what changes when a file is edited or replaced: inode, size, time of the change (decision 23)."""
    return info.st_ino, info.st_size, info.st_mtime_ns


def check_size(size: int, parts: tuple[str, ...], limit: int = MOST) -> None:
    """Refuse to read a file that has more bytes than `limit`. Raises TooLarge."""
    if size > limit:
        reason = f"has {size} bytes, more than the {limit} that are read; make it smaller, or move it away"
        raise TooLarge(reason, path=shown(*parts))


def _read_all(fd: int, size: int, parts: tuple[str, ...], limit: int) -> bytes:
    check_size(size, parts, limit)
    # One byte more than expected: a steady file takes a single call, one that grows meanwhile is read to its end.
    data = os.read(fd, size + 1)
    while len(data) != size:
        more = os.read(fd, max(_CHUNK, len(data)))
        if not more:
            break
        data += more
        check_size(len(data), parts, limit)  # one that grows faster than it is read has no end
    return data

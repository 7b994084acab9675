"""Looked: a folder of many files as it was when it was last looked at, so that the next look finds quickly what is new.

A change is seen by disk, inode, size and both times: an edit of equal size may set back the one that it can set. A file
that was changed just before a look may be changed again within one tick of the clock of its disk, which leaves the
times as they are. So only a look at which every file had rested says that nothing has changed since.
"""

import os
import stat
import time
from collections.abc import Callable
from functools import partial
from operator import attrgetter, itemgetter

from .errors import damaged
from .files import Root
from .walk import OpenFolder

Sign = tuple[int, ...]
"""What tells one state of a file from another: its mode, disk, inode, size and both times."""

TICK = 2_000_000_000
"""The coarsest clock, in nanoseconds, by which a file system tells when a file was written."""

_SIGN: Callable[[os.stat_result], Sign] = attrgetter(
    "st_mode", "st_dev", "st_ino", "st_size", "st_mtime_ns", "st_ctime_ns"
)
_times = itemgetter(4, 5)
_MOST = 16

_lately: "dict[tuple[str, tuple[str, ...]], Looked]" = {}


class Looked:
    """The files of a folder that are wanted, as they were at one moment.

    `files` says by name, in the order of names, what tells one state of a file from another; None for what is not a
    regular file: the one that a link leads to may change where it lies. `made` is for what is made of them.
    """

    __slots__ = ("_names", "_signs", "at", "files", "is_settled", "made")

    def __init__(self, at: int, names: list[str], signs: list[Sign], files: dict[str, Sign | None]) -> None:
        self.at = at
        """When that was, in nanoseconds since the epoch."""
        self.files = files
        signed = [*filter(None, files.values())]
        latest = max((max(_times(one)) for one in signed), default=0)
        self.is_settled = len(signed) == len(files) and latest <= at - TICK
        """Whether every file had rested by then: one that looks the same later is the same."""
        self.made: dict[str, object] = {}
        self._names = names
        self._signs = signs

    def is_as(self, names: list[str], signs: list[Sign]) -> bool:
        """Say whether nothing that is wanted differs in another look, given every name in the folder and its sign."""
        if names != self._names:
            return False
        if signs == self._signs:
            return True
        return all(
            one == other or name not in self.files for name, one, other in zip(names, signs, self._signs, strict=True)
        )


def look(root: Root, parts: tuple[str, ...], wanted: Callable[[str], bool]) -> Looked:
    """Look at the files of a folder that are wanted, each time the same ones for a folder.

    Returns what it did the last time, the same object, if that is settled and nothing has changed since.
    """
    at = time.time_ns()
    folder = root.folder(parts)
    if folder is None:
        return Looked(at, [], [], {})
    try:
        names, signs = _read(folder)
    except OSError as error:
        raise damaged(error, parts) from error
    key = (root.path, parts)
    known = _lately.pop(key, None)
    if known is None or not known.is_settled or not known.is_as(names, signs):
        by_name = dict(zip(names, signs, strict=True))
        files: dict[str, Sign | None] = {}
        for name in sorted(filter(wanted, names)):
            sign = by_name[name]
            if stat.S_ISREG(sign[0]):
                files[name] = sign
            elif not (stat.S_ISDIR(sign[0]) or (stat.S_ISLNK(sign[0]) and root.leads_to_folder((*parts, name)))):
                files[name] = None
        known = Looked(at, names, signs, files)
    _lately[key] = known
    for one in [*_lately][:-_MOST]:
        _lately.pop(one, None)
    return known


def _read(folder: OpenFolder) -> tuple[list[str], list[Sign]]:
    """List a folder, with what tells one state of each file from another."""
    names = folder.names()
    try:
        # A call in between for each of many thousands would cost more than the system takes to answer.
        if folder.fd is not None:
            ask = partial(os.stat, dir_fd=folder.fd, follow_symlinks=False)
            return names, [*map(_SIGN, map(ask, names))]
    except FileNotFoundError:
        pass
    found = [(name, _SIGN(info)) for name in names if (info := folder.stat(name)) is not None]
    return [name for name, _ in found], [sign for _, sign in found]

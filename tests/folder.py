"""Folders that tests look at and put back: quick, because a run reads some ten thousand of them."""

import os
import shutil
import stat
from pathlib import Path


def files(folder: Path) -> dict[str, bytes]:
    """Return every file below a folder with its bytes, in the order of their paths."""
    top = str(folder)
    found = {}
    for place, _, names in os.walk(top):
        for name in names:
            path = os.path.join(place, name)
            if os.path.isfile(path):
                with open(path, "rb") as file:
                    found[path[len(top) + 1 :]] = file.read()
    return dict(sorted(found.items()))


def everything(folder: Path) -> dict[str, tuple[int, bytes]]:
    """Return every file, link and folder below a folder with its mode and bytes."""
    top = str(folder)
    found = {}
    for place, folders, names in os.walk(top):
        for name in (*folders, *names):
            path = os.path.join(place, name)
            mode = os.lstat(path).st_mode
            data = b""
            if stat.S_ISLNK(mode):
                data = os.fsencode(os.readlink(path))
            elif stat.S_ISREG(mode):
                with open(path, "rb") as file:
                    data = file.read()
            found[path[len(top) + 1 :]] = mode, data
    return dict(sorted(found.items()))


class Kept:
    """A folder as it is now, which comes back after whatever is done in it.

    A folder that is still there stays the one it is, so what a project keeps for itself alone still counts as its own.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._was = everything(folder)

    def put_back(self) -> None:
        """Make the folder what it was."""
        now = everything(self.folder)
        for name in reversed(now):
            was = self._was.get(name)
            path = self.folder / name
            if now[name] == was or not os.path.lexists(path):
                continue
            is_folder = stat.S_ISDIR(now[name][0])
            if was is not None and is_folder and stat.S_ISDIR(was[0]):
                path.chmod(stat.S_IMODE(was[0]))
            elif is_folder:
                shutil.rmtree(path)
            else:
                path.unlink()
        for name, (mode, data) in self._was.items():
            path = self.folder / name
            if os.path.lexists(path):
                continue
            if stat.S_ISDIR(mode):
                path.mkdir()
            elif stat.S_ISLNK(mode):
                path.symlink_to(os.fsdecode(data))
                continue
            else:
                path.write_bytes(data)
            path.chmod(stat.S_IMODE(mode))

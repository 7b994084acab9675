"""Marks: empty files in `.scaffolding/.amp` that say what was done once in a conversation.

A mark is not memory: it is not confirmed by the disk, and one that is lost costs a repetition. So this loads little.
"""

import os
from time import time

from ..errors import AgentMemoryError
from ..layout import SCAFFOLDING
from .files import Root

_DAYS = 30  # After so many days a mark goes: no conversation lasts that long


def leave(root: Root, kind: str, name: str) -> bool:
    """Leave a mark; False if it is there already, or cannot be left. Old marks of this kind are removed."""
    today = int(time()) // 86_400
    try:
        names = _names(root, kind)
        if names is None:
            from .writing import make_local_folder

            make_local_folder(root, kind)
            names = []
        if any(one.endswith(name) for one in names):
            return False
        for one in names:
            day = one.partition(".")[0]
            if not day.isdigit() or int(day) < today - _DAYS:
                _remove(root, kind, one)
        folder = root.folder(_folder(kind))
        if folder is None:
            return False
        file, fd = folder.at(f"{today}.{name}")
        os.close(os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o666, dir_fd=fd))
    except (AgentMemoryError, OSError):
        return False
    return True


def has(root: Root, kind: str, name: str) -> bool:
    """Say whether a mark is there."""
    try:
        return any(one.endswith(name) for one in _names(root, kind) or ())
    except AgentMemoryError:
        return False


def lift(root: Root, kind: str, name: str) -> None:
    """Take a mark away, if it is there."""
    try:
        for one in _names(root, kind) or ():
            if one.endswith(name):
                _remove(root, kind, one)
    except (AgentMemoryError, OSError):
        return


def _folder(kind: str) -> tuple[str, ...]:
    return (SCAFFOLDING, ".amp", kind)


def _names(root: Root, kind: str) -> list[str] | None:
    return root.list_files(_folder(kind)) if root.exists(_folder(kind)) else None


def _remove(root: Root, kind: str, name: str) -> None:
    folder = root.folder(_folder(kind))
    if folder is not None:
        file, fd = folder.at(name)
        os.unlink(file, dir_fd=fd)

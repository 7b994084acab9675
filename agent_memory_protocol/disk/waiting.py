"""Waiting: what a process that finds a lock taken asks of the one that holds it, which may do the work of both at once.

A request is a file that its writer holds locked for as long as it waits, and the answer is written behind it. So what
a killed process has left there, or came with a copied folder, is taken for no request. Where a request has no answer,
its writer does the work itself as soon as it has the lock.
"""

import os
from contextlib import suppress

from ..errors import AgentMemoryError
from .files import Root
from .lock import take
from .walk import SAFE_FLAGS, close
from .writing import LOCAL, WAITING, make_local_folder, regular, remove_quietly, writer_mark

FOLDER = (*LOCAL, WAITING)

_MOST_BYTES = 1 << 20
_MOST = 64  # So many requests are granted at once
_CAN_ASK = hasattr(os, "pread")  # on Windows nobody else reads what is locked


class Request:
    """What is asked of the process that holds a lock, from when the lock is first found taken; one line."""

    def __init__(self, root: Root, name: str, line: bytes) -> None:
        self._root = root
        self._name = f"{name}.{writer_mark()}"
        self._line = line
        self._fd = -1
        self._is_asked = not _CAN_ASK
        self.answer = b""

    def ask(self) -> None:
        """Put the request where the one that holds the lock looks for it. Where that fails, nothing is asked."""
        if self._is_asked:
            return
        self._is_asked = True
        with suppress(OSError, AgentMemoryError):
            make_local_folder(self._root, FOLDER[-1])
            folder = self._root.folder(FOLDER)
            if folder is not None:
                path, folder_fd = folder.at(self._name)
                flags = os.O_RDWR | os.O_CREAT | os.O_EXCL | SAFE_FLAGS
                self._fd = os.open(path, flags, 0o600, dir_fd=folder_fd)
                take(self._fd)
                os.write(self._fd, self._line)

    def is_answered(self) -> bool:
        """Say whether what was asked for is done."""
        if self._fd >= 0 and not self.answer:
            with suppress(OSError):
                found = os.pread(self._fd, _MOST_BYTES, len(self._line))
                self.answer = found if found.endswith(b"\n") else b""
        return self.answer != b""

    def withdraw(self) -> None:
        """Ask no more, whether it is answered or not."""
        if self._fd >= 0:
            with suppress(AgentMemoryError):
                folder = self._root.folder(FOLDER)
                if folder is not None:
                    remove_quietly(folder, self._name)
            close(self._fd)
            self._fd = -1


class OtherRequest:
    """A request of another process, as the one that holds the lock sees it."""

    def __init__(self, line: bytes, fd: int) -> None:
        self.line = line
        self._fd = fd

    def answer(self, line: bytes) -> None:
        """Tell that process that it is done."""
        with suppress(OSError):
            os.pwrite(self._fd, line, len(self.line))

    def close(self) -> None:
        """Let go of it."""
        close(self._fd)


def asked(root: Root, name: str) -> list[OtherRequest]:
    """Return what other processes that wait for the lock `name` ask for; what a killed one has left is removed."""
    found: list[OtherRequest] = []
    folder = root.folder(FOLDER) if _CAN_ASK else None
    for one in () if folder is None else folder.names():
        if folder is None or one.rpartition(".")[0] != name or len(found) == _MOST:
            continue
        path, folder_fd = folder.at(one)
        with suppress(OSError, AgentMemoryError):
            fd = regular(os.open(path, os.O_RDWR | SAFE_FLAGS, dir_fd=folder_fd), (*FOLDER, one))
            line = b""
            try:
                if take(fd):
                    remove_quietly(folder, one)
                else:
                    line = os.read(fd, _MOST_BYTES)
            finally:
                # One that is not written yet has no end, and one that is answered already has two.
                if line.endswith(b"\n") and line.count(b"\n") == 1:
                    found.append(OtherRequest(line, fd))
                else:
                    close(fd)
    return found

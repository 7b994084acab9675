"""Messages from a pipe, one a line. Of one that is longer than a cap, only the ends are kept.

A thread reads, since nothing else reads a pipe, a file and a terminal alike on every system. It belongs to no pool, so
a program whose work is done ends even while the other side keeps the pipe open.
"""

import asyncio
import os
import re
import threading
from collections.abc import Awaitable, Callable
from contextlib import suppress

from ..values import dataclass

LARGEST = 1 << 20  # The most bytes of one message: 1 MiB, without its line feed

_CHUNK = 1 << 16
_EDGE = 256
_WAITING = 8
_ID = re.compile(rb'"id"\s*:\s*(?:(-?\d{1,18})|"([^"\\]{1,100})")\s*[,}]')


@dataclass(frozen=True, slots=True)
class TooLong:
    """A line that was longer than the cap, and the id of the request in it, as far as its two ends show one."""

    id: int | str | None


class Splitter:
    """Cuts what comes in pieces into lines. Of one that is too long, only its ends are kept."""

    def __init__(self, largest: int = LARGEST) -> None:
        self._largest = largest
        self._line = bytearray()
        self._head: bytes | None = None

    def feed(self, piece: bytes) -> list[str | TooLong]:
        """Take the next piece; return the lines that end in it."""
        *ended, rest = piece.split(b"\n")
        found = []
        for one in ended:
            self._add(one)
            found.append(self._end())
        self._add(rest)
        return found

    def last(self) -> list[str | TooLong]:
        """Return the last line, if no line feed ended it."""
        return [self._end()] if self._line else []

    def _add(self, piece: bytes) -> None:
        self._line += piece
        if self._head is None and len(self._line) > self._largest:
            self._head = bytes(self._line[:_EDGE])
        if self._head is not None:
            del self._line[:-_EDGE]

    def _end(self) -> str | TooLong:
        line, head = bytes(self._line), self._head
        self._line.clear()
        self._head = None
        return line.decode(errors="replace") if head is None else TooLong(request_id(head, line))


class Lines:
    """The lines that come from a descriptor, as an asynchronous iterator. `refuse` gets those that are too long."""

    def __init__(self, fd: int, refuse: Callable[[TooLong], Awaitable[None]]) -> None:
        self._fd = fd
        self._refuse = refuse
        self._waiting: asyncio.Queue[str | TooLong | None] = asyncio.Queue(_WAITING)
        self._loop = asyncio.get_running_loop()
        threading.Thread(target=self._read, daemon=True).start()

    def __aiter__(self) -> "Lines":
        return self

    async def __anext__(self) -> str:
        while True:
            line = await self._waiting.get()
            if line is None:
                raise StopAsyncIteration
            if isinstance(line, str):
                return line
            await self._refuse(line)

    def _read(self) -> None:
        lines = Splitter()
        with suppress(RuntimeError):  # the loop has ended, and nothing waits for more
            with suppress(OSError):  # what can no longer be read has ended
                while piece := os.read(self._fd, _CHUNK):
                    self._hand_over(lines.feed(piece))
            self._hand_over([*lines.last(), None])

    def _hand_over(self, lines: "list[str | TooLong] | list[str | TooLong | None]") -> None:
        for line in lines:
            asyncio.run_coroutine_threadsafe(self._waiting.put(line), self._loop).result()


def request_id(head: bytes, tail: bytes) -> int | str | None:
    """Find a request's own id at its two ends: before the first object inside it, or behind the last one."""
    outside = (
        head[: head.find(b"{", 1)] if head.find(b"{", 1) > 0 else b"",
        tail.rstrip()[:-1].rpartition(b"}")[2] + b"}",
    )
    for part in outside:
        found = _ID.search(part)
        if found is not None:
            return int(found[1]) if found[1] else found[2].decode(errors="replace")
    return None

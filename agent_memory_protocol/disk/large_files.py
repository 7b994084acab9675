"""Read the two ends of a file too large to be held in memory, and count its lines on the way (decision 14).

Loaded only when `Root.read` has said that a file is too large, which in a healthy project is never.
"""

import os
import stat

from ..limits import count_lines
from .errors import damaged
from .files import Root, stamp
from .walk import close

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

_CHUNK = 1 << 20


class Ends:
    """The first and the last lines of a file, and how long it is."""

    __slots__ = ("head", "lines", "mode", "size", "stamp", "tail")

    def __init__(self, head: bytes, tail: bytes, lines: int, info: os.stat_result) -> None:
        self.head = head
        self.tail = tail
        self.lines = lines
        """The lines of the whole file, counted as `limits.count_lines` does."""
        self.size = info.st_size
        self.mode = stat.S_IMODE(info.st_mode)
        self.stamp = stamp(info)


def read_ends(
    root: Root, parts: tuple[str, ...], *, head: int, tail: int, middle: "Callable[[bytes], object] | None" = None
) -> Ends | None:
    """Read at most `head` bytes of a file's beginning and `tail` of its end; None when it does not exist.

    Both are cut at a line border, or, within a line longer than that, at a character border. `middle` is given all
    that is left out, in order, in pieces of at most 1 MiB that may be cut anywhere. A file no larger than `head` +
    `tail` is all head.

    Raises:
        DamagedFile: as `Root.read`.
    """
    opened = root.open_file(parts)
    if opened is None:
        return None
    fd, info = opened
    try:
        if info.st_size <= head + tail:
            whole = _read(fd, info.st_size)
            return Ends(whole, b"", count_lines(whole), info)
        return _read_ends(fd, info, head, tail, middle or len)
    except OSError as error:
        raise damaged(error, parts) from error
    finally:
        close(fd)


def _read_ends(fd: int, info: os.stat_result, head: int, tail: int, middle: "Callable[[bytes], object]") -> Ends:
    count = _LineCount()
    first = count.add(_read(fd, head))
    cut = _cut_before(first)
    middle(first[cut:])
    left = info.st_size - head - tail
    while left > 0:
        piece = count.add(os.read(fd, min(left, _CHUNK)))
        if not piece:
            break
        middle(piece)
        left -= len(piece)
    last = count.add(_read(fd, tail))
    start = _cut_after(last)
    middle(last[:start])
    return Ends(first[:cut], last[start:], count.total(), info)


def _read(fd: int, size: int) -> bytes:
    """Read exactly `size` bytes, fewer only where the file has become shorter."""
    data = b""
    while len(data) < size:
        more = os.read(fd, size - len(data))
        if not more:
            break
        data += more
    return data


def _cut_before(data: bytes) -> int:
    """Where to cut so that no line, or else no character, is broken at the end of `data`."""
    border = data.rfind(b"\n") + 1
    if border:
        return border
    # The last character is whole unless its first byte announces more bytes than there are.
    for back in range(1, min(4, len(data)) + 1):
        first = data[-back]
        if first >= 0xC0:
            width = 2 if first < 0xE0 else 3 if first < 0xF0 else 4
            return len(data) - back if width > back else len(data)
        if first < 0x80:
            break
    return len(data)


def _cut_after(data: bytes) -> int:
    """Where to cut so that no line, or else no character, is broken at the start of `data`."""
    border = data.find(b"\n") + 1
    if border:
        return border
    while border < min(4, len(data)) and 0x80 <= data[border] < 0xC0:
        border += 1
    return border


class _LineCount:
    """`limits.count_lines`, for a file that is seen piece by piece."""

    __slots__ = ("_ended", "_last")

    def __init__(self) -> None:
        self._ended = 0
        self._last = b""

    def add(self, data: bytes) -> bytes:
        """Count a piece, and return it."""
        if data:
            self._ended += data.count(b"\n")
            if b"\r" in data:
                self._ended += data.count(b"\r") - data.count(b"\r\n")
            if self._last == b"\r" and data.startswith(b"\n"):
                self._ended -= 1
            self._last = data[-1:]
        return data

    def total(self) -> int:
        return self._ended if self._last in (b"", b"\n", b"\r") else self._ended + 1

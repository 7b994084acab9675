"""Read the two ends of a file too large to be held in memory, and count its lines on the way (decision 14).

Loaded only when `Root.read` has said that a file is too large, which in a healthy project is never.
"""

import os
import stat
from codecs import utf_8_decode

from ..limits import count_lines
from .files import Root, check_size, stamp

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

_CHUNK = 1 << 20
_INSIDE_CHARACTERS = bytes(range(0x80, 0xC0))  # What a character of several bytes in UTF-8 goes on with


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
    root: Root, parts: tuple[str, ...], *, head: int, tail: int, middle: "Callable[[bytes], object]" = len
) -> Ends | None:
    """Read at most `head` bytes of a file's beginning and `tail` of its end; None when it does not exist.

    Both are cut at a line border, or, within a longer line, at a character border. `middle` is given all that is left
    out, in pieces of at most 1 MiB that may be cut anywhere. Raises TooLarge if the file has more than `MOST` bytes.
    """

    def ends(fd: int, info: os.stat_result) -> Ends:
        check_size(info.st_size, parts)
        if info.st_size <= head + tail:
            whole = _read(fd, info.st_size)
            return Ends(whole, b"", count_lines(whole), info)
        lines, before = 0, b""

        def piece(size: int) -> bytes:
            nonlocal lines, before
            data = _read(fd, size)
            lines += data.count(b"\n") + data.count(b"\r") - (before + data).count(b"\r\n")
            before = data[-1:] or before
            return data

        first = piece(head)
        cut = first.rfind(b"\n") + 1 or utf_8_decode(first, "replace", False)[1]
        middle(first[cut:])
        for start in range(head, info.st_size - tail, _CHUNK):
            middle(piece(min(_CHUNK, info.st_size - tail - start)))
        last = piece(tail)
        begin = last.find(b"\n") + 1 or len(last[:4]) - len(last[:4].lstrip(_INSIDE_CHARACTERS))
        middle(last[:begin])
        return Ends(first[:cut], last[begin:], lines + (before not in b"\r\n"), info)

    return root.use_file(parts, ends)


def _read(fd: int, size: int) -> bytes:
    """Read exactly `size` bytes, fewer only where the file has become shorter."""
    data = b""
    while len(data) < size:
        more = os.read(fd, size - len(data))
        if not more:
            break
        data += more
    return data

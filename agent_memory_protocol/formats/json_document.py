"""Entries as one JSON document: an array with an entry on each line, as `json_schema` describes it.

It is read in pieces, so only as much is in memory as its largest entry takes.
"""

import json
from collections.abc import Iterable, Iterator
from io import TextIOWrapper
from typing import BinaryIO

from ..disk.errors import shown
from ..errors import DamagedFile
from . import record_files
from .entry import BadEntry, MemoryEntry, Problem, attempt
from .json_schema import BLANKS, DECODER, LINE_BYTES, LOSSES, encode, entry_of

__all__ = ["LOSSES", "encode", "read", "write"]


def write(path: str, lines: Iterable[bytes]) -> None:
    """Write a new document from what `encode` has returned."""
    with open(path, "wb", buffering=record_files.CHUNK) as file:
        before = b"[\n"
        for line in lines:
            file.write(before + line)
            before = b",\n"
        file.write(b"\n]\n" if before == b",\n" else b"[]\n")


def read(path: str) -> Iterator[MemoryEntry | Problem]:
    """Read a document: an array of entries, or one entry."""
    with record_files.reading(path) as file:
        text = _Text(file)
        try:
            for place, value in _values(text):
                yield attempt(place, entry_of, value)
        except (BadEntry, UnicodeDecodeError) as error:
            why = error if isinstance(error, BadEntry) else "there are bytes that are not UTF-8"
            raise DamagedFile(
                f"from {text.place} on it is not a JSON array of entries: {why}", path=shown(path)
            ) from None


def _values(text: "_Text") -> Iterator[tuple[str, object]]:
    """Yield where each item of the array begins, or the one value that is there, and what it is."""
    is_array = text.take("[")
    if not (is_array and text.take("]")):
        yield text.value()
        while is_array and text.take(","):
            yield text.value()
        if is_array and not text.take("]"):
            raise BadEntry("a comma or the end of the array is missing")
    if text.sign():
        raise BadEntry("something follows the end")


class _Text:
    """What of a file is in memory, and how far it has been taken."""

    def __init__(self, file: BinaryIO) -> None:
        self._file = TextIOWrapper(file, "utf-8-sig", newline="")
        self._text = ""
        self._at = 0
        self._line = 1
        """The line on which the text in memory begins."""
        self._has_more = True

    @property
    def place(self) -> str:
        return f"line {self._line + self._text.count(chr(10), 0, self._at):,}"

    def sign(self) -> str:
        """Go to what is not blank and return its first character; "" at the end."""
        while True:
            while self._at < len(self._text) and self._text[self._at] in BLANKS:
                self._at += 1
            if self._at < len(self._text) or not self._has_more:
                return self._text[self._at : self._at + 1]
            self._read_on()

    def take(self, sign: str) -> bool:
        """Pass over this sign, if it is the next one."""
        found = self.sign() == sign
        self._at += found
        return found

    def value(self) -> tuple[str, object]:
        """Pass over the next value; return where it begins, and the value."""
        self.sign()
        while True:
            try:
                value, end = DECODER.raw_decode(self._text, self._at)
                # A number that reaches the end of what is in memory may go on behind it.
                if end < len(self._text) or not self._has_more:
                    place, self._at = self.place, end
                    return place, value
            except json.JSONDecodeError as error:
                if not self._has_more:
                    raise BadEntry(error.msg) from None
            except BadEntry:
                raise
            except (ValueError, RecursionError):
                raise BadEntry("a number is too long, or something is nested too deeply") from None
            if len(self._text) - self._at > LINE_BYTES:
                raise BadEntry(f"no entry ends within {LINE_BYTES:,} characters")
            self._read_on()

    def _read_on(self) -> None:
        """Forget what has been taken, and read more: as much as is there, so that a long entry is not parsed often."""
        self._line += self._text.count("\n", 0, self._at)
        self._text = self._text[self._at :]
        self._at = 0
        more = self._file.read(max(record_files.CHUNK, len(self._text)))
        self._has_more = more != ""
        self._text += more

"""The formats there are: name, endings, what reads and writes each, and what it cannot carry.

Everything that asks which formats exist asks this table: conversion, import, export, the bench and the documentation.
A format's module is loaded when the format is used, so that nobody needs what only another one needs.
"""

import json
import os
from collections.abc import Iterable, Iterator, Mapping
from importlib import import_module
from io import BytesIO
from types import ModuleType
from typing import Any

from ..disk.errors import shown
from ..disk.files import split_bom
from ..errors import DamagedFile, InvalidArgument
from ..values import dataclass
from .entry import MemoryEntry, Problem, newest_of
from .loss import Loss
from .record_files import reading

AUTO = "auto"
_START = 1 << 16


@dataclass(frozen=True, slots=True)
class Format:
    """One format: how it is called, and what does its work."""

    name: str  # what `--format` takes
    suffixes: tuple[str, ...]  # the endings of its files, the usual one first
    # the module of this package that has it. All have `read`. Those that can be written have `LOSSES`, `encode` and
    # `write`; some also have `append` and `newest`, which do not go through the whole file. What each does, and
    # raises, is said at the methods below
    module: str
    needs_embedding: bool = False  # whether an entry without an embedding cannot be written (decision 33)

    @property
    def writes(self) -> bool:
        """Whether it can be written."""
        return hasattr(self._code, "write")

    @property
    def appends(self) -> bool:
        """Whether an entry is added without writing the whole file again."""
        return hasattr(self._code, "append")

    @property
    def losses(self) -> tuple[Loss, ...]:
        """What it cannot carry."""
        losses: tuple[Loss, ...] = getattr(self._code, "LOSSES", ())
        return losses

    def read(self, path: str) -> Iterator[MemoryEntry | Problem]:
        """Read a file, one entry at a time. Raises DamagedFile for another format."""
        found: Iterator[MemoryEntry | Problem] = self._code.read(path)
        return found

    def carry(self, entry: MemoryEntry) -> tuple[MemoryEntry, list[Loss]]:
        """Return what the format carries of an entry, and what it loses of it."""
        lost = []
        for loss in self.losses:
            if loss.found(entry):
                lost.append(loss)
                entry = loss.without(entry)
        return entry, lost

    def encode(self, entry: MemoryEntry) -> Any:
        """Return an entry as `write` and `append` take it, or raise what the format's rules forbid."""
        return self._code.encode(entry)

    def write(self, path: str, encoded: Iterable[Any]) -> None:
        """Write a new file from what `encode` has returned."""
        self._code.write(path, encoded)

    def append(self, path: str, encoded: Any) -> None:
        """Add what `encode` has returned to a file."""
        self._code.append(path, encoded)

    def newest(self, path: str, tag: str, limit: int = 10) -> list[MemoryEntry]:
        """Return the newest entries with a tag, newest first; of equal times the last one in the file."""
        if not hasattr(self._code, "newest"):
            return newest_of(self.read(path), tag, limit)
        found: list[MemoryEntry] = self._code.newest(path, tag, limit)
        return found

    @property
    def _code(self) -> ModuleType:
        return import_module(f".{self.module}", __package__)


FORMATS = (
    Format("ndjson", (".ndjson",), "json_schema", needs_embedding=True),
    Format("json", (".json",), "json_document", needs_embedding=True),
    Format("protobuf", (".pb",), "protobuf", needs_embedding=True),
    Format("sqlite", (".sqlite",), "sqlite"),
    Format("parquet", (".parquet",), "parquet"),
    Format("jsonl", (".jsonl",), "jsonl_entries"),
    Format("memory-file", (".amem.json",), "record_entries"),
    Format("markdown", (".md",), "markdown"),
    Format("mcp-graph", (), "graph"),
)


def by_name(name: str) -> Format:
    """Return the format of a name. Raises InvalidArgument if it is unknown."""
    for one in FORMATS:
        if one.name == name:
            return one
    raise InvalidArgument(f"there is no format {name[:40]!a}; there are {', '.join(one.name for one in FORMATS)}")


def by_suffix(path: str) -> Format | None:
    """Return the format whose ending a path has, the longest one counts; None if it has none."""
    name = os.path.basename(path).lower()
    fitting = [(len(suffix), one) for one in FORMATS for suffix in one.suffixes if name.endswith(suffix)]
    return max(fitting, key=lambda pair: pair[0])[1] if fitting else None


def to_write(path: str, name: str | None = None) -> Format:
    """Return the format to write: the one named, else that of the path's ending. Raises InvalidArgument for none."""
    found = by_name(name) if name else by_suffix(path)
    if found is None:
        endings = ", ".join(suffix for one in FORMATS for suffix in one.suffixes)
        raise InvalidArgument(f"in which format? say --format, or end the name with one of {endings}")
    if not found.writes:
        raise InvalidArgument(f"{found.name} can only be read")
    return found


_PACKED = {b"\x1f\x8b": "gzip", b"PK\x03\x04": "zip", b"\x28\xb5\x2f\xfd": "zstd", b"BZh": "bzip2", b"\xfd7zXZ": "xz"}


def detect(path: str, *, name: str = "", option: str = "--format") -> Format:
    """Say which format a file has: its content decides, the ending of its `name` only where the content cannot.

    `option` is what a person names the format with.
    """
    with reading(path) as file:
        start = file.read(_START)
        size = os.fstat(file.fileno()).st_size
    packed = next((by for sign, by in _PACKED.items() if start.startswith(sign)), "")
    if packed:
        raise DamagedFile(f"is packed with {packed}; unpack it first", path=shown(name or path))
    ending = by_suffix(name or path)
    found = _by_content(start, size, ending.name if ending else "")
    if not found:
        raise DamagedFile(f"has none of the known formats; say which with {option}", path=shown(name or path))
    return by_name(found)


def _by_content(start: bytes, size: int, ending: str) -> str:
    """Name the format of a file that begins so, "" if it has none; `ending` is that of its name, or ""."""
    if start.startswith(b"SQLite format 3\0"):
        return "sqlite"
    if start.startswith(b"PAR1"):
        return "parquet"
    text = split_bom(start)[1].lstrip()
    if text.startswith(b"["):
        return "json"
    if text.startswith(b"{") and (found := _by_object(text.split(b"\n", 1)[0], ending)):
        return found
    is_text = _is_text(start)
    if _begins_with_message(start, size) and not (ending and is_text):
        return "protobuf"
    return ending or ("markdown" if text and is_text and not text.startswith(b"{") else "")


def _by_object(line: bytes, ending: str) -> str:
    """Name the format of JSON whose first line is an object, or begins one; "" if that could be any."""
    if b'"format":"fg-agent-memory/' in line:
        return "memory-file"
    try:
        value = json.loads(line)
    except (ValueError, RecursionError):
        # One object over many lines, or a line longer than what was read: both may be an entry.
        return "" if ending else "json"
    from .graph import is_graph

    if is_graph(value):
        return "mcp-graph"
    if "timestamp_ms" in value:
        return "json" if ending == "json" else "ndjson"
    if is_jsonl(value):
        return "jsonl"
    # Many tools call their files so; the reader of graphs tells what keys they have.
    return "mcp-graph" if ending == "jsonl" else ""


def is_jsonl(value: Mapping[str, object]) -> bool:
    """Say whether an object is the header or an entry of an agent-memory/0.1 file."""
    return str(value.get("format", "")).startswith("agent-memory/") or (
        {"id", "kind", "text", "created_at"} <= value.keys()
    )


def _begins_with_message(start: bytes, size: int) -> bool:
    """Say whether a length comes first, and behind it a message that begins with field 1, a text."""
    from .protobuf import read_length

    file = BytesIO(start)
    length = read_length(file)
    return length is not None and 2 <= length <= size - file.tell() and file.read(1) == b"\n"


def _is_text(start: bytes) -> bool:
    try:
        # What was read may end in the middle of a character.
        start[: start.rfind(b"\n") + 1 or None].decode()
    except UnicodeDecodeError:
        return False
    return b"\0" not in start


def loss_rows() -> Iterator[tuple[str, str, str]]:
    """Yield, for each format and thing that it cannot carry: the format, the thing, and what is in its place."""
    for one in FORMATS:
        for loss in one.losses:
            yield one.name, loss.what, loss.instead

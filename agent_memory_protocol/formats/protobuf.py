"""Protobuf streams: entries one after the other, each a message with its length before it, in a file that only grows.

The official runtime reads and writes the messages; it comes with the extra `protobuf` and is imported where it is used.
The lengths are read here, so that nothing is trusted with memory before it is known to be there: a length is held
against what is left of the file, and a message against the largest that an entry can be.
"""

import os
import re
import time
import uuid
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import cache
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, BinaryIO

from ..disk import writing
from ..disk.errors import shown
from ..errors import DamagedFile, MissingExtra
from ..secrets.find import check_text
from . import record_files
from .entry import (
    ENTRY_BYTES,
    NOTHING,
    BadEntry,
    MemoryEntry,
    Problem,
    Unknown,
    attempt,
    check,
    newest_of,
    plain_float32,
    to_float32,
    too_many,
)
from .loss import Loss, unknown_fields

if TYPE_CHECKING:
    from types import ModuleType

    from google.protobuf.message import DecodeError, Message

VERSION = "v1.0"
WIRE = "protobuf"
MESSAGE_BYTES = ENTRY_BYTES + (1 << 16)
"""No entry makes a larger message: what it says, and what tells its fields and tags apart."""

_READABLE = re.compile(r"v1(\.[0-9]+)?")
_TEXT, _EMBEDDING = 3, 6

LOSSES = (
    Loss(
        "relevance scores of more than about 7 digits",
        "the nearest float32",
        lambda entry: entry.relevance != 0 and plain_float32(to_float32(entry.relevance)) != entry.relevance,
        lambda entry: entry._replace(relevance=plain_float32(to_float32(entry.relevance))),
    ),
    unknown_fields(WIRE),
)

_sound: dict[tuple[int, int], int] = {}
"""How long each file was when this process last knew that it ends with a whole entry, by device and inode."""


# Writing


def append_entry(
    text: str,
    embedding: bytes,
    tags: Sequence[str] | None = None,
    source: str | None = None,
    relevance: float | None = None,
    extra: Mapping[str, str] | None = None,
    *,
    path: str | os.PathLike[str] = "agent_memory.pb",
) -> MemoryEntry:
    """Add an entry to the end of a file and return it once the disk has confirmed it.

    It gets a random UUID and the time that it is now. The first one creates the file; no earlier byte is touched.

    The arguments are fields of `MemoryEntry`; `entry.embedding_of` makes an embedding from numbers.

    Raises:
        BadEntry: it breaks a rule, such as an embedding that is empty, of odd length or not finite.
        SecretFound: a text holds a secret; nothing was written.
        DamagedFile: the file ends in half an entry, behind which no reader would find this one, or its header names a
            version that this program does not know.
        MissingExtra: the protobuf runtime is not installed.
    """
    if isinstance(tags, str):
        raise BadEntry("tags is a list of texts, not one text")
    if not isinstance(embedding, (bytes, bytearray, memoryview)):
        raise BadEntry("the embedding is given as bytes; entry.embedding_of makes them from numbers")
    made = MemoryEntry(
        id=str(uuid.uuid4()),
        timestamp_ms=time.time_ns() // 1_000_000,
        text=text,
        tags=tuple(tags or ()),
        source=source or "",
        embedding=bytes(embedding),
        relevance=plain_float32(to_float32(relevance)) if relevance else 0.0,
        extra=MappingProxyType(dict(extra or {})),
    )
    data = encode(check(made))
    name = record_files.path_of(path)
    allow = record_files.allowances(name)
    for what, said in (("text", text), ("source", made.source), *(("tag", tag) for tag in made.tags)):
        check_text(said, allow=allow, what=what)
    for key, value in made.extra.items():
        check_text(f"{key}={value}", allow=allow, what="extra")
    append(name, data)
    return made


def append(path: str, message: bytes) -> None:
    """Add what `encode` has returned to the end of a file. Raises as `append_entry` does."""
    with record_files.locked(path) as (root, parts, file):
        info = os.fstat(file.fileno())
        if _sound.get((info.st_dev, info.st_ino)) != info.st_size:
            try:
                for offset, first in frames(file, info.st_size, path):
                    if offset == 0 and first is not None:
                        is_header(first, path)
            except Torn as torn:
                reason = "and nobody would find an entry behind that; `amp convert` saves the whole ones"
                raise DamagedFile(f"{torn}, {reason}") from None
        writing.append(root, parts, message, lines=False)
        _sound[info.st_dev, info.st_ino] = os.fstat(file.fileno()).st_size


def encode(entry: MemoryEntry) -> bytes:
    """Return an entry as it is in a file: its length, then its message."""
    key, when, text, tags, source, vector, score, extra, unknown = entry
    if not vector:
        raise BadEntry("it has no embedding, which a protobuf entry needs")
    message = _runtime()[0].MemoryEntry(
        id=key, timestamp_ms=when, text=text, tags=tags, source=source, embedding=vector, relevance=score, extra=extra
    )
    if unknown is not None:
        message.MergeFromString(unknown.content)
    # Only maps of several keys have several spellings, and putting them in order takes time.
    return _delimited(message.SerializeToString(deterministic=True) if len(extra) > 1 else message.SerializeToString())


def write(path: str, messages: Iterable[bytes]) -> None:
    """Write a new file: a header, then what `encode` has returned."""
    header = _runtime()[0].MemoryFileHeader(format_version=VERSION, created_unix_ms=time.time_ns() // 1_000_000)
    with open(path, "wb", buffering=record_files.CHUNK) as file:
        file.write(_delimited(header.SerializeToString()))
        file.writelines(messages)


def _delimited(message: bytes) -> bytes:
    length = len(message)
    prefix = bytearray()
    while length > 127:
        prefix.append(length & 127 | 128)
        length >>= 7
    prefix.append(length)
    return bytes(prefix) + message


# Reading


def iter_entries(path: str | os.PathLike[str] = "agent_memory.pb") -> Iterator[MemoryEntry]:
    """Yield the entries of a file, one at a time, in the order they were written.

    Every whole entry is yielded; then, if there were problems, they are raised as one error.

    Raises:
        DamagedFile: the end is torn off, a length is impossible, an entry breaks a rule, or the header names a version
            that this program does not know. The message says which and where.
        StorageError: the file cannot be read.
    """
    name = record_files.path_of(path)
    problems = []
    for one in read(name):
        if isinstance(one, Problem):
            problems.append(one)
        else:
            yield one
    if problems:
        first, more = problems[0], len(problems) - 1
        also = f"; and {more:,} more are wrong" if more else ""
        raise DamagedFile(f"{first.place}: {first.reason}{also}", path=shown(name))


def newest(path: str | os.PathLike[str], tag: str | None = None, limit: int = 10) -> list[MemoryEntry]:
    """Return the newest entries, those with a tag if one is given, newest first; of equal times the last one written.

    What breaks a rule is left out, and so is a torn end; `iter_entries` reports both.
    """

    def whole() -> Iterator[MemoryEntry | Problem]:
        with suppress(Torn):
            yield from read(record_files.path_of(path), (tag or "").encode(errors="surrogatepass"))

    return newest_of(whole(), tag, limit)


def read(path: str, part: bytes = b"") -> Iterator[MemoryEntry | Problem]:
    """Read a file, one entry at a time, until it is Torn; messages without the bytes `part` are passed over unread."""
    with record_files.reading(path) as file:
        for number, (offset, message) in enumerate(frames(file, os.fstat(file.fileno()).st_size, path)):
            if message is not None and ((offset == 0 and is_header(message, path)) or part not in message):
                continue
            yield attempt(f"message {number + 1}, at byte {offset:,}", decode, message)


class Torn(DamagedFile):
    """Why nothing more can be read, and from which byte on."""


def frames(file: BinaryIO, size: int, path: str) -> Iterator[tuple[int, bytes | None]]:
    """Yield where each message begins with its length, and what it is; None for one that is too large.

    What is appended beyond `size` meanwhile is not read. `path` names the file where the rest is `Torn`.
    """
    while (begin := file.tell()) < size:
        length = read_length(file)
        left = size - file.tell()
        if length is None and left <= 0:
            why = f"the last {size - begin:,} bytes, from byte {begin:,} on, are half a length"
        elif not length:
            why = f"at byte {begin:,} there is a length {'that' if length is None else 'of 0, which'} no entry has"
        elif length > left:
            why = f"at byte {begin:,} a message of {length:,} bytes begins, and {left:,} follow"
        elif length > MESSAGE_BYTES:
            yield begin, None
            file.seek(length, os.SEEK_CUR)
            continue
        elif len(message := file.read(length)) == length:
            yield begin, message
            continue
        else:
            why = f"at byte {begin:,} a message begins that has been cut off meanwhile"
        raise Torn(why, path=shown(path))


def read_length(file: BinaryIO) -> int | None:
    """Read the length in front of a message; None if it is missing or longer than five bytes."""
    length = 0
    for shift in (0, 7, 14, 21, 28):
        if not (byte := file.read(1)):
            return None
        length |= (byte[0] & 127) << shift
        if byte[0] < 128:
            return length
    return None


def decode(message: bytes | None) -> MemoryEntry:
    """Return the entry that a message is, or raise a `BadEntry` that says why it is not one."""
    if message is None:
        raise BadEntry(f"is larger than {MESSAGE_BYTES:,} bytes")
    messages, undecodable, unknown_in = _runtime()
    try:
        found = messages.MemoryEntry.FromString(message)
    except undecodable:
        raise BadEntry("is not an entry: its bytes are not what the schema says") from None
    # Counted before they become texts, which take far more room.
    if problems := too_many(len(found.tags), len(found.extra)):
        raise BadEntry("; ".join(problems))
    text, embedding, relevance, extra = found.text, found.embedding, found.relevance, found.extra
    if not text and not embedding:
        raise BadEntry("it has neither text nor embedding; a header may only be at the start of a file")
    return check(
        MemoryEntry(
            found.id,
            found.timestamp_ms,
            text,
            tuple(found.tags),
            found.source,
            embedding,
            plain_float32(relevance) if relevance else 0.0,
            MappingProxyType(dict(extra)) if extra else NOTHING,
            _unknown_of(found) if len(unknown_in(found)) else None,
        )
    )


def is_header(message: bytes, path: str) -> bool:
    """Say whether a file's first message is its header: it has neither text nor embedding (decision 34).

    Raises DamagedFile if its version is unknown.
    """
    messages, undecodable, unknown_in = _runtime()
    try:
        found = messages.MemoryFileHeader.FromString(message)
    except undecodable:
        return False
    if {_TEXT, _EMBEDDING} & {field.field_number for field in unknown_in(found)}:
        return False
    if not _READABLE.fullmatch(found.format_version):
        version = f"{found.format_version[:20]!a}"
        reason = f"its header names the format version {version}, and this program reads v1"
        raise DamagedFile(reason, path=shown(path))
    return True


def _unknown_of(found: "Message") -> Unknown:
    """Return the fields that the schema does not name, as they came."""
    rest = type(found)()
    rest.CopyFrom(found)
    for field in rest.DESCRIPTOR.fields:
        rest.ClearField(field.name)
    return Unknown(WIRE, rest.SerializeToString())


@cache
def _runtime() -> "tuple[ModuleType, type[DecodeError], Any]":
    """Return the messages, the error of what is not a message, and what lists fields that the schema does not name."""
    try:
        from google.protobuf.message import DecodeError
        from google.protobuf.unknown_fields import UnknownFieldSet

        from . import agentmemory_pb2
    except ImportError:
        reason = "protobuf files need the protobuf runtime: pip install 'agent-memory-protocol[protobuf]'"
        raise MissingExtra(reason) from None
    return agentmemory_pb2, DecodeError, UnknownFieldSet

"""Entries as JSON that `agent_memory_schema.json` describes: one a line (NDJSON), or all in one array.

What is read is checked against the schema here, so that nothing else has to be installed; the tests compare the
verdicts with those of a validator. The embedding is the last key of a line, where it hides the least from people.
"""

import binascii
import json
from collections.abc import Callable, Iterable, Iterator
from io import TextIOWrapper
from types import MappingProxyType
from typing import Any, BinaryIO, NoReturn

from ..disk import writing
from ..disk.errors import shown
from ..disk.files import split_bom
from ..errors import DamagedFile
from . import record_files
from .entry import NOTHING, BadEntry, MemoryEntry, Problem, Unknown, attempt, check, newest_of
from .loss import FOREIGN_IDS, unknown_fields

WIRE = "json"
LINE_BYTES = 2 << 20
"""No entry of an ordinary text makes a longer line; a longer one is not held in memory."""

LOSSES = (FOREIGN_IDS, unknown_fields(WIRE))

_REQUIRED = ("id", "timestamp_ms", "text", "embedding")
_EMBEDDING = b',"embedding":"'
_BLANKS = " \t\n\r"


# Writing


def encode(entry: MemoryEntry) -> bytes:
    r"""Return an entry as one line of JSON in UTF-8, without its ``\n``. What is empty is left out, as it may be.

    Raises:
        BadEntry: it has no embedding, which the schema requires, or the line would be too long to be read.
    """
    key, timestamp_ms, text, tags, source, embedding, relevance, extra, unknown = entry
    if not embedding:
        raise BadEntry("it has no embedding, which the schema requires")
    fields: dict[str, object] = {"id": key, "timestamp_ms": timestamp_ms, "text": text}
    if tags:
        fields["tags"] = tags
    if source:
        fields["source"] = source
    if relevance:
        fields["relevance"] = relevance
    if extra:
        fields["extra"] = dict(extra)
    if unknown is not None:
        fields |= json.loads(unknown.content)
    line = _dump(fields).encode()
    line = b"%b%b%b%b" % (line[:-1], _EMBEDDING, binascii.b2a_base64(embedding, newline=False), b'"}')
    if len(line) > LINE_BYTES:
        raise BadEntry(f"it makes a line of {len(line):,} bytes, {LINE_BYTES:,} are allowed")
    return line


def write(path: str, lines: Iterable[bytes]) -> None:
    """Write a new NDJSON file from what `encode` has returned."""
    with open(path, "wb", buffering=record_files.CHUNK) as file:
        file.writelines(line + b"\n" for line in lines)


def append(path: str, line: bytes) -> None:
    """Add a line to the end of an NDJSON file, which is created where it is missing; wait until the disk confirms it.

    Raises:
        LockBusy: another process has been writing for too long.
        StorageError: it cannot be written; the file is as it was.
    """
    with record_files.locked(path) as (root, parts, _):
        writing.append(root, parts, line + b"\n")


def write_document(path: str, lines: Iterable[bytes]) -> None:
    """Write a new JSON document: an array with an entry on each line."""
    with open(path, "wb", buffering=record_files.CHUNK) as file:
        before = b"[\n"
        for line in lines:
            file.write(before + line)
            before = b",\n"
        file.write(b"\n]\n" if before == b",\n" else b"[]\n")


def _dump(value: object) -> str:
    text = _ENCODER.encode(value)
    if not text.isascii():
        # Some tools end a line at these, JSON does not.
        for separator in "\x85\u2028\u2029":
            text = text.replace(separator, f"\\u{ord(separator):04x}")
    return text


_ENCODER = json.JSONEncoder(ensure_ascii=False, allow_nan=False, separators=(",", ":"))


# Reading


def read(path: str, *, vectors: bool = True) -> Iterator[MemoryEntry | Problem]:
    """Read an NDJSON file, one line at a time. A line that is no entry is a problem, and costs no other line.

    Without `vectors` the embeddings are left out, and neither decoded nor checked: half of the work, for callers
    that want texts, tags or times.
    """
    return _read(path, bool, vectors=vectors)


def newest(path: str, tag: str, limit: int = 10) -> list[MemoryEntry]:
    """Return the newest entries with a tag, newest first; of equal times the last one in the file.

    What is no entry is left out.
    """
    spelled = tag.encode(errors="surrogatepass")

    def can_have_it(line: bytes) -> bool:
        return spelled in line or b"\\" in line  # an escape spells any character

    return newest_of(_read(path, can_have_it), tag, limit)


def _read(path: str, wanted: Callable[[bytes], bool], *, vectors: bool = True) -> Iterator[MemoryEntry | Problem]:
    for number, line in _lines(path):
        if line is None:
            yield Problem(f"line {number:,}", f"is longer than {LINE_BYTES:,} bytes")
        elif wanted(line):
            yield attempt(f"line {number:,}", decode if vectors else _decode_without_vector, line)


def _lines(path: str) -> Iterator[tuple[int, bytes | None]]:
    """Yield the lines that are not blank, by number; None in place of one that is too long to be held."""
    with record_files.reading(path) as file:
        if not split_bom(file.read(3))[0]:
            file.seek(0)
        for number, line in enumerate(iter(lambda: file.readline(LINE_BYTES + 2), b""), start=1):
            if len(line) > LINE_BYTES and not line.endswith(b"\n"):
                while (rest := file.readline(record_files.CHUNK)) and not rest.endswith(b"\n"):
                    pass
                yield number, None
            elif not line.isspace():
                yield number, line


def read_document(path: str) -> Iterator[MemoryEntry | Problem]:
    """Read a JSON document: an array of entries, or one entry. It is read in pieces, however long it is.

    Raises:
        DamagedFile: from some line on it is no JSON.
    """
    with record_files.reading(path) as file:
        document = _Document(file)
        try:
            yield from document.entries()
        except UnicodeDecodeError:
            raise document.damaged("there are bytes that are not UTF-8", path) from None
        except BadEntry as error:
            raise document.damaged(str(error), path) from None


def decode(line: bytes) -> MemoryEntry:
    """Return the entry that a line is.

    Raises:
        BadEntry: it is none; the message says every reason.
    """
    return _entry(_parse(line))


def _decode_without_vector(line: bytes) -> MemoryEntry:
    fields = _parse(line)
    if isinstance(fields, dict) and isinstance(fields.get("embedding"), str):
        fields["embedding"] = b""
    return _entry(fields)


def _parse(data: bytes) -> object:
    try:
        return _DECODER.decode(data.decode())
    except BadEntry:
        raise
    except UnicodeDecodeError as error:
        raise BadEntry(f"byte 0x{data[error.start]:02X} at {error.start + 1} is not UTF-8") from None
    except json.JSONDecodeError as error:
        raise BadEntry(f"is no JSON: {error.msg} at character {error.pos + 1}") from None
    except (ValueError, RecursionError):
        raise BadEntry("is no JSON that can be read: a number is too long, or it is nested too deeply") from None


def _refuse_constant(name: str) -> NoReturn:
    raise BadEntry(f"is no JSON: it holds {name}")


_DECODER = json.JSONDecoder(parse_constant=_refuse_constant)


def _entry(fields: object) -> MemoryEntry:
    """Return the entry that a parsed value is; its embedding may have been decoded already."""
    if not isinstance(fields, dict):
        raise BadEntry("is no JSON object")
    problems = [f"it has no {name}" for name in _REQUIRED if name not in fields]
    # Whether the other values are what they must be is asked where all entries are checked.
    problems += [
        f"{name} is not {what}" for name, kinds, what in _TYPES if name in fields and type(fields[name]) not in kinds
    ]
    if problems:
        raise BadEntry("; ".join(problems))
    when, embedding, extra = fields["timestamp_ms"], fields["embedding"], fields.get("extra")
    try:
        return check(
            MemoryEntry(
                fields["id"],
                # To JSON Schema, 1.0 is a whole number.
                int(when) if isinstance(when, float) and when.is_integer() else when,
                fields["text"],
                tuple(fields.get("tags", ())),
                fields.get("source", ""),
                binascii.a2b_base64(embedding, strict_mode=True) if isinstance(embedding, str) else embedding,
                float(fields.get("relevance", 0)),
                MappingProxyType(extra) if extra else NOTHING,
                None if fields.keys() <= _KNOWN else _unknown_of(fields),
            )
        )
    except BadEntry:
        raise
    except binascii.Error:
        raise BadEntry("embedding is not base64") from None
    except (ValueError, OverflowError, RecursionError):
        raise BadEntry("it holds a number or a text that cannot be written again") from None


def _unknown_of(fields: dict[str, Any]) -> Unknown:
    return Unknown(WIRE, _dump({key: value for key, value in fields.items() if key not in _KNOWN}).encode())


_KNOWN = {*_REQUIRED, "tags", "source", "relevance", "extra"}
_TYPES = (
    ("tags", (list,), "a list of texts"),
    ("source", (str,), "a text"),
    ("embedding", (str, bytes), "a text"),
    ("relevance", (int, float), "a number"),
    ("extra", (dict,), "an object of texts"),
)


class _Document:
    """A JSON document of which only as much is in memory as its largest entry takes."""

    def __init__(self, file: BinaryIO) -> None:
        self._file = TextIOWrapper(file, "utf-8-sig", newline="")
        self._text = ""
        self._at = 0
        self._line = 1
        """The line on which the text in memory begins."""
        self._has_more = True

    def entries(self) -> Iterator[MemoryEntry | Problem]:
        """Yield the items of the array, or the one object that is there."""
        if self._sign() != "[":
            yield self._entry()
        else:
            self._at += 1
            if self._sign() != "]":
                yield self._entry()
                while self._sign() == ",":
                    self._at += 1
                    yield self._entry()
                if self._sign() != "]":
                    raise BadEntry("a comma or the end of the array is missing")
            self._at += 1
        if self._sign():
            raise BadEntry("something follows the end")

    def damaged(self, why: str, path: str) -> DamagedFile:
        """Return what it means that nothing can be read from here on."""
        return DamagedFile(f"from {self._place()} on it is no JSON array of entries: {why}", path=shown(path))

    def _sign(self) -> str:
        """Go to what is not blank and return it; "" at the end."""
        while True:
            while self._at < len(self._text) and self._text[self._at] in _BLANKS:
                self._at += 1
            if self._at < len(self._text) or not self._has_more:
                return self._text[self._at : self._at + 1]
            self._read_on()

    def _entry(self) -> MemoryEntry | Problem:
        self._sign()
        value, end = self._value()
        found = attempt(self._place(), _entry, value)
        self._at = end
        return found

    def _value(self) -> tuple[object, int]:
        """Return the value that begins here, and where it ends."""
        while True:
            try:
                value, end = _DECODER.raw_decode(self._text, self._at)
                # A number that reaches the end of what is in memory may go on behind it.
                if end < len(self._text) or not self._has_more:
                    return value, end
            except json.JSONDecodeError as error:
                if not self._has_more:
                    raise BadEntry(error.msg) from None
            except RecursionError:
                raise BadEntry("something is nested too deeply") from None
            except ValueError as error:
                raise error if isinstance(error, BadEntry) else BadEntry("a number is too long") from None
            if len(self._text) - self._at > LINE_BYTES:
                raise BadEntry(f"no entry ends within {LINE_BYTES:,} characters")
            self._read_on()

    def _read_on(self) -> None:
        """Forget what has been read, and read more: as much as is there, so that a long entry is not parsed often."""
        self._line += self._text.count("\n", 0, self._at)
        self._text = self._text[self._at :]
        self._at = 0
        more = self._file.read(max(record_files.CHUNK, len(self._text)))
        self._has_more = more != ""
        self._text += more

    def _place(self) -> str:
        return f"line {self._line + self._text.count(chr(10), 0, self._at):,}"

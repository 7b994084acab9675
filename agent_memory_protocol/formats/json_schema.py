"""Entries as JSON that `agent_memory_schema.json` describes, one a line: NDJSON.

What is read is checked against the schema here, so that nothing else has to be installed; the tests compare the
verdicts with those of a validator. The embedding is the last key of a line, where it hides the least from people.
"""

import binascii
import json
from collections.abc import Callable, Iterable, Iterator
from types import MappingProxyType
from typing import Any, NoReturn

from ..disk import writing
from ..disk.files import split_bom
from . import record_files
from .entry import NOTHING, BadEntry, MemoryEntry, Problem, Unknown, check, newest_of
from .jsonl import escape_separators
from .loss import FOREIGN_IDS, unknown_fields

WIRE = "json"
LINE_BYTES = 2 << 20  # No entry of an ordinary text makes a longer line; a longer one is not held in memory

LOSSES = (FOREIGN_IDS, unknown_fields(WIRE))

_REQUIRED = ("id", "timestamp_ms", "text", "embedding")
BLANKS = " \t\r\n"
_DEFAULTS: dict[str, Any] = {**dict.fromkeys(_REQUIRED, b""), "tags": [], "source": "", "relevance": 0, "extra": {}}
_TYPES = (
    ("tags", (list,), "a list of texts"),
    ("source", (str,), "a text"),
    ("embedding", (str, bytes), "a text"),
    ("relevance", (int, float), "a number"),
    ("extra", (dict,), "an object of texts"),
)
_EMBEDDING = b',"embedding":"'


# Writing


def encode(entry: MemoryEntry, *, embeds: bool = True) -> bytes:
    r"""Return an entry as one line of JSON in UTF-8, without its ``\n``. What is empty is left out, as it may be.

    Without `embeds`, the embedding is the empty text, which the schema allows.
    """
    key, timestamp_ms, text, tags, source, embedding, relevance, extra, unknown = entry
    if embeds and not embedding:
        raise BadEntry("it has no embedding, which the schema requires")
    embedding = embedding if embeds else b""
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
    line = b"%b%b%b%b" % (_dump(fields)[:-1], _EMBEDDING, binascii.b2a_base64(embedding, newline=False), b'"}')
    if len(line) > LINE_BYTES:
        raise BadEntry(f"it makes a line of {len(line):,} bytes, {LINE_BYTES:,} are allowed")
    return line


def write(path: str, lines: Iterable[bytes]) -> None:
    """Write a new NDJSON file from what `encode` has returned."""
    with open(path, "wb", buffering=record_files.CHUNK) as file:
        file.writelines(line + b"\n" for line in lines)


def append(path: str, line: bytes) -> None:
    """Add what `encode` has returned to the end of an NDJSON file, which is created where it is missing."""
    with record_files.locked(path) as (root, parts, _):
        writing.append(root, parts, line + b"\n")


def _dump(value: object) -> bytes:
    return escape_separators(_ENCODER.encode(value)).encode()


_ENCODER = json.JSONEncoder(ensure_ascii=False, allow_nan=False, separators=(",", ":"))


# Reading


def read(path: str, *, vectors: bool = True) -> Iterator[MemoryEntry | Problem]:
    """Read an NDJSON file, one line at a time. What is not an entry is a problem; `vectors` says whether to decode."""
    return _read(path, decode if vectors else _decode_without_vector)


def newest(path: str, tag: str, limit: int = 10) -> list[MemoryEntry]:
    """Return the newest entries with a tag, without decoding the lines that cannot have it."""
    spelled = tag.encode(errors="surrogatepass")

    def can_have_it(line: bytes) -> bool:
        return spelled in line or b"\\" in line  # an escape spells any character

    return newest_of(_read(path, decode, can_have_it), tag, limit)


def _read(
    path: str, make: Callable[[bytes], MemoryEntry], wanted: Callable[[bytes], object] = bytes.strip
) -> Iterator[MemoryEntry | Problem]:
    """Yield what is made of each line that is wanted: of each that is not blank."""
    with record_files.reading(path) as file:
        if not split_bom(file.read(3))[0]:
            file.seek(0)
        for number, line in enumerate(iter(lambda: file.readline(LINE_BYTES + 2), b""), start=1):
            if len(line) > LINE_BYTES and not line.endswith(b"\n"):
                while (rest := file.readline(record_files.CHUNK)) and not rest.endswith(b"\n"):
                    pass
                yield Problem(f"line {number:,}", f"is longer than {LINE_BYTES:,} bytes")
            elif wanted(line):
                try:
                    found: MemoryEntry | Problem = make(line)
                except BadEntry as error:
                    found = Problem(f"line {number:,}", str(error))
                yield found


def decode(line: bytes) -> MemoryEntry:
    """Return the entry that a line is, or raise a `BadEntry` with every reason why it is not one."""
    return entry_of(_parse(line))


def _decode_without_vector(line: bytes) -> MemoryEntry:
    # Most of a line is its vector. Where that comes last, as `encode` puts it, JSON is parsed only up to it.
    begin = line.find(_EMBEDDING)
    end = line.find(b'"', begin + len(_EMBEDDING))
    cut = begin > 0 and line[end:].rstrip() == b'"}' and line.find(b"\\", begin) < 0
    fields = _parse(line[:begin] + b"}" if cut else line)
    if isinstance(fields, dict) and (cut or isinstance(fields.get("embedding"), str)):
        fields["embedding"] = b""
    return entry_of(fields)


def _parse(data: bytes) -> object:
    try:
        text = data.decode().strip(BLANKS)
        # What `decode` does about blanks takes a quarter of its time.
        value, end = DECODER.raw_decode(text)
    except BadEntry:
        raise
    except UnicodeDecodeError as error:
        raise BadEntry(f"byte 0x{data[error.start]:02X} at {error.start + 1} is not UTF-8") from None
    except json.JSONDecodeError as error:
        raise BadEntry(f"is not JSON: {error.msg} at character {error.pos + 1}") from None
    except (ValueError, RecursionError):
        raise BadEntry("is not JSON that can be read: a number is too long, or it is nested too deeply") from None
    if end < len(text):
        raise BadEntry(f"is not JSON: Extra data at character {end + 1}")
    return value


def _refuse_constant(name: str) -> NoReturn:
    raise BadEntry(f"is not JSON: it holds {name}")


DECODER = json.JSONDecoder(parse_constant=_refuse_constant)


def entry_of(fields: object) -> MemoryEntry:
    """Return the entry that a parsed value is; its embedding may have been decoded already."""
    if not isinstance(fields, dict):
        raise BadEntry("is not a JSON object")
    values = _DEFAULTS | fields
    problems = [f"it has no {name}" for name in _REQUIRED if name not in fields]
    # Whether the other values are what they must be is asked where all entries are checked.
    for name, kinds, what in _TYPES:
        if type(values[name]) not in kinds:
            problems.append(f"{name} is not {what}")
    if problems:
        raise BadEntry("; ".join(problems))
    when, embedding, extra = values["timestamp_ms"], values["embedding"], values["extra"]
    try:
        return check(
            MemoryEntry(
                values["id"],
                # To JSON Schema, 1.0 is a whole number.
                int(when) if isinstance(when, float) and when.is_integer() else when,
                values["text"],
                tuple(values["tags"]),
                values["source"],
                embedding if isinstance(embedding, bytes) else binascii.a2b_base64(embedding, strict_mode=True),
                float(values["relevance"]),
                MappingProxyType(extra) if extra else NOTHING,
                None if len(values) == len(_DEFAULTS) else _unknown_of(fields),
            )
        )
    except BadEntry:
        raise
    except binascii.Error:
        raise BadEntry("embedding is not base64") from None
    except (ValueError, OverflowError, RecursionError):
        raise BadEntry("it holds a number or a text that cannot be written again") from None


def _unknown_of(fields: dict[str, Any]) -> Unknown:
    return Unknown(WIRE, _dump({key: value for key, value in fields.items() if key not in _DEFAULTS}))

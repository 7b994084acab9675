"""One remembered thing as record files carry it: the value that every format reads and writes.

Its fields are those of `agentmemory.proto` and `agent_memory_schema.json`. A value is checked once, where it enters
(`check`), so nobody who writes one asks again. "" for the source, 0 for the relevance and no embedding mean the same
as their absence, as they do on the wire.
"""

import re
import struct
import uuid
from collections.abc import Callable, Iterable, Iterator, Mapping
from datetime import UTC, datetime, timedelta
from heapq import nlargest
from math import isfinite
from types import MappingProxyType
from typing import NamedTuple

from ..errors import InvalidArgument
from ..search.float32 import pack, unpack

ENTRY_BYTES = 1 << 20
"""The most bytes of text and embedding that one entry has. A file that claims more is damaged or hostile."""

MOST_TAGS = 1_000  # The most tags, and the most pairs in `extra`, that one entry has
LATEST = 2**64 - 1  # The latest time, in milliseconds: `timestamp_ms` is an unsigned number of 64 bits

MADE_BY = "embedding"
"""The key in `extra` that names what made an embedding, where an entry came without one (decision 33)."""

NOTHING: Mapping[str, str] = MappingProxyType({})

_NAMESPACE = uuid.UUID("5b6d3c1e-8a0f-5f53-9d6e-2f1c7a4b9e10")
_UUID = re.compile(r"[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}")
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


class BadEntry(InvalidArgument):
    """This cannot be an entry, or not one of the format it is written in; the message says every reason."""


class Unknown(NamedTuple):
    """Fields that the schema does not name, in the spelling of the wire they came on: `protobuf` or `json`."""

    wire: str
    content: bytes


class MemoryEntry(NamedTuple):
    """One entry of a record file. A named tuple, because files have a hundred thousand of them."""

    id: str  # what it is called, preferably a UUID
    timestamp_ms: int  # when it was created, in milliseconds since 1970; 0 where nobody knows
    text: str
    tags: tuple[str, ...] = ()  # what it is found by
    source: str = ""  # where it comes from: a tool, an address, a person; "" for unknown
    embedding: bytes = b""  # its vector, as float32 in little-endian order; b"" without one
    relevance: float = 0.0  # its score in the latest search; 0 for none
    extra: Mapping[str, str] = NOTHING  # whatever else is known about it
    unknown: Unknown | None = None  # fields of a later schema, which a rewrite in the same format keeps


class Problem(NamedTuple):
    """A part of a file that is not an entry: where it is, as a reader of the file would find it, and why."""

    place: str
    reason: str


def check(entry: MemoryEntry) -> MemoryEntry:
    """Return an entry that keeps the rules. Raises BadEntry if it does not."""
    key, timestamp_ms, text, tags, source, embedding, relevance, extra, unknown = entry
    problems: list[str] = []
    size = len(embedding) + (len(unknown.content) if unknown else 0)
    try:
        size += len("".join((key, text, source, *tags, *extra, *extra.values())).encode())
    except (TypeError, UnicodeEncodeError):
        problems += _text_problems(entry)
    if key == "":
        problems.append("it has no id")
    if type(timestamp_ms) is not int or not 0 <= timestamp_ms <= LATEST:
        problems.append("timestamp_ms is not a number of milliseconds from 0 to 2^64 - 1")
    problems += too_many(len(tags), len(extra))
    if embedding:
        problems += embedding_problems(embedding)
    if not isinstance(relevance, (int, float)) or not isfinite(relevance):
        problems.append("relevance is not a finite number")
    if size > ENTRY_BYTES:
        problems.append(f"it has {size:,} bytes, {ENTRY_BYTES:,} are allowed")
    if problems:
        raise BadEntry("; ".join(problems))
    return entry


def _text_problems(entry: MemoryEntry) -> Iterator[str]:
    for name, texts in (
        ("id", (entry.id,)),
        ("text", (entry.text,)),
        ("source", (entry.source,)),
        ("a tag", entry.tags),
        ("a text in extra", (*entry.extra, *entry.extra.values())),
    ):
        try:
            "".join(texts).encode()
        except TypeError:
            yield f"{name} is not text"
        except UnicodeEncodeError:
            yield f"{name} holds half of a surrogate pair"


def attempt(place: str, make: Callable[..., MemoryEntry], *given: object) -> MemoryEntry | Problem:
    """Return the entry that is made of what is given; where it breaks a rule, the problem in this place of the file."""
    try:
        return make(*given)
    except BadEntry as error:
        return Problem(place, str(error))


def too_many(tags: int, pairs: int) -> list[str]:
    """Say of what an entry with so many tags, and pairs in `extra`, has too many."""
    numbers = (("tags", tags), ("pairs in extra", pairs))
    return [f"it has {number:,} {name}, {MOST_TAGS:,} are allowed" for name, number in numbers if number > MOST_TAGS]


def embedding_problems(embedding: bytes) -> list[str]:
    """Say what keeps bytes from being an embedding; [] when nothing does."""
    if len(embedding) % 4:
        return [f"its embedding has {len(embedding)} bytes, which is not a whole number of float32"]
    # No sum of float32 is too large for a float, so a sum that is not finite has a part that is not.
    if not isfinite(sum(unpack(embedding))):
        return ["its embedding holds a number that is not finite (NaN or infinity)"]
    return []


def newest_of(entries: Iterable[MemoryEntry | Problem], tag: str | None, limit: int) -> list[MemoryEntry]:
    """Return the newest entries, those with a tag if one is given, newest first; of equal times the last one."""
    fitting = (one for one in entries if isinstance(one, MemoryEntry) and (tag is None or tag in one.tags))
    rows = nlargest(limit, ((one.timestamp_ms, place, one) for place, one in enumerate(fitting)))
    return [one for _, _, one in rows]


def embedding_of(numbers: Iterable[float]) -> bytes:
    """Return an embedding from its numbers, cut to float32. Raises BadEntry if float32 cannot hold one of them."""
    made = pack(numbers)
    problems = embedding_problems(made)
    if problems:
        raise BadEntry(problems[0])
    return made


def plain_float32(number: float) -> float:
    """Return the shortest decimal that means the same float32: 0.8 for what came off the wire as 0.800000011920929."""
    for digits in (6, 7, 8):
        short = float(f"{number:.{digits}g}")
        if to_float32(short) == number:
            return short
    return float(f"{number:.9g}")


def to_float32(number: float) -> float:
    """Return a number cut to float32; the largest one for what is beyond it."""
    try:
        return float(struct.unpack("<f", struct.pack("<f", number))[0])
    except OverflowError:
        return float(struct.unpack("<f", b"\xff\xff\x7f\x7f" if number > 0 else b"\xff\xff\x7f\xff")[0])


def is_uuid(id: str) -> bool:
    """Say whether an id is spelled as a UUID."""
    return _UUID.fullmatch(id) is not None


def uuid_of(said: str, space: uuid.UUID = _NAMESPACE) -> str:
    """Return the UUID for a text, always the same, also for half of a surrogate pair, which is refused later."""
    return str(uuid.uuid5(space, said.encode(errors="replace").decode()))


def named(id: str, extra: Mapping[str, str] = NOTHING) -> tuple[str, Mapping[str, str]]:
    """Return the UUID for an id of another kind, always the same, and `extra` with the id as it was (decision 33)."""
    if is_uuid(id):
        return id, extra
    return uuid_of(id), MappingProxyType({**extra, "id": id})


def original_id(entry: MemoryEntry) -> str:
    """Return the id that `named` was given, or the entry's own."""
    original = entry.extra.get("id", "")
    return original if original and uuid_of(original) == entry.id else entry.id


def to_milliseconds(moment: datetime) -> int:
    """Return a moment in milliseconds since 1970, the rest cut off. Raises BadEntry if it is before 1970."""
    milliseconds = (moment - _EPOCH) // timedelta(milliseconds=1)
    if milliseconds < 0:
        raise BadEntry(f"{moment:%Y-%m-%d} is before 1970, where timestamp_ms begins")
    return milliseconds


def to_moment(timestamp_ms: int) -> datetime:
    """Return a time as a moment in UTC. One after the year 9999 is the last moment of it."""
    try:
        return _EPOCH + timedelta(milliseconds=timestamp_ms)
    except OverflowError:
        return datetime.max.replace(microsecond=999_000, tzinfo=UTC)

"""Records, and the memory file that carries them, as entries of record files, and back.

An entry keeps its record word for word in `extra.record`, so a record that travels through any format that carries
`extra` comes back as the same record, its signature included; unless somebody has changed the entry meanwhile.
"""

import json
import re
import unicodedata
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from datetime import UTC, datetime
from functools import partial
from types import MappingProxyType

from ..disk.errors import shown
from ..errors import DamagedFile, InvalidRecord
from ..records.record import CARRIED, Provenance, Record, RecordType, State, new_record
from ..records.signing import ADDRESS_PREFIX
from ..records.store import parsed
from . import known, record_files
from .entry import MADE_BY, BadEntry, MemoryEntry, Problem, attempt, check, named, to_milliseconds, to_moment
from .jsonl_rules import on_one_line
from .loss import EMBEDDING, LATE_TIMES, RELEVANCE, STATE, Loss, unknown_fields
from .signed_file import SignedMemoryFile

LARGEST = 256 << 20  # A memory file is verified, and therefore read, as a whole; a larger one is refused
IMPORT = "import"  # The kind of provenance of a record that is made from an entry

RECORD, KIND, CONFIDENCE = "record", "kind", "confidence"
_ID, _ADDRESS = re.compile("mem:[0-9a-f]{32}"), re.compile(f"{ADDRESS_PREFIX}[1-9A-Za-z]+")


def entry_of(record: Record) -> MemoryEntry:
    """Return a record as an entry. Raises BadEntry if it is too large for one, or from before 1970."""
    pairs = record.slots.get(CARRIED)
    extra = {key: value for key, value in pairs.items() if isinstance(value, str)} if isinstance(pairs, Mapping) else {}
    said = {KIND: record.type.value}
    if record.confidence != 1:
        said[CONFIDENCE] = json.dumps(record.confidence)
    if record.supersedes is not None:
        said[known.SUPERSEDES] = record.supersedes
    if record.redacted or record.state is not State.ACTIVE:
        said[STATE] = "redacted" if record.redacted else record.state.value
    if record.transition is not None:
        said[known.DISPUTED] = known.YES
    extra = {**said, **extra, RECORD: record.to_bytes().decode()}
    key, frozen = named(record.id, extra)
    return check(
        MemoryEntry(
            id=key,
            timestamp_ms=to_milliseconds(record.created_at),
            text=record.body,
            tags=record.tags,
            source=record.provenance.ref or "",
            extra=frozen,
        )
    )


def record_of(entry: MemoryEntry) -> Record:
    """Return the record that an entry was, or a new one; InvalidRecord if a record cannot spell its text."""
    kept = kept_record(entry)
    if kept is not None:
        return kept
    kind, confidence = entry.extra.get(KIND, ""), _confidence(entry)
    # A kind that this record cannot have is one of another format, and goes back to it.
    own = [
        *([KIND] if kind in (*RecordType,) and kind != RecordType.RULE else []),
        *([] if confidence is None else [CONFIDENCE]),
        *([STATE, known.DISPUTED] if RECORD in entry.extra else []),
    ]
    rest = {key: value for key, value in entry.extra.items() if key not in (RECORD, MADE_BY, *own)}
    return new_record(
        # A rule needs evidence among the records, which an entry does not name.
        RecordType(kind) if kind in (*RecordType,) and kind != RecordType.RULE else RecordType.FACT,
        entry.text,
        provenance=Provenance(IMPORT, entry.source or None),
        now=to_moment(entry.timestamp_ms),
        slots={CARRIED: rest} if rest else {},
        confidence=1.0 if confidence is None else confidence,
        tags=entry.tags,
    )


encode = record_of


def _confidence(entry: MemoryEntry) -> float | None:
    """Return the confidence that an entry names, where a record spells it just so; None otherwise."""
    text = entry.extra.get(CONFIDENCE, "")
    with suppress(ValueError):
        value = float(text)
        return value if 0 <= value < 1 and json.dumps(round(value, 4)) == text else None
    return None


def kept_record(entry: MemoryEntry) -> Record | None:
    """Return the record that an entry carries, if the entry still says what the record says."""
    text = entry.extra.get(RECORD)
    if text is None:
        return None
    with suppress(InvalidRecord, BadEntry):
        record = parsed(text.encode())  # each entry is asked several times
        said = entry_of(record)
        if entry[:5] in (said[:5], said._replace(text=on_one_line(said.text))[:5]):
            return record
    return None


def named_in(entry: MemoryEntry) -> str:
    """Return the id or the address of ours that an entry without its record names as its own; "" for a plain fact."""
    unknown = b"" if entry.unknown is None else entry.unknown.content
    own = [entry.id, entry.extra.get("id", ""), entry.extra.get(RECORD, "")]
    found = next(filter(None, map(_ID.search, own)), None)
    found = found or next(filter(None, map(_ADDRESS.search, (entry.source, *entry.extra.values()))), None)
    found = found or _ADDRESS.search(unknown.decode(errors="replace"))
    return found[0] if found else ""


def _is_new(entry: MemoryEntry) -> bool:
    return kept_record(entry) is None


def _as_read(entry: MemoryEntry) -> MemoryEntry:
    """Return an entry that carries no record as it is read back: under the address of the record made from it."""
    made = entry_of(record_of(entry))
    return entry._replace(id=made.id, extra=made.extra)


def _normalized(entry: MemoryEntry) -> MemoryEntry:
    nfc = partial(unicodedata.normalize, "NFC")
    return entry._replace(
        text=nfc(entry.text),
        source=nfc(entry.source),
        tags=tuple(map(nfc, entry.tags)),
        extra=MappingProxyType({nfc(key): nfc(value) for key, value in entry.extra.items()}),
    )


OF_CONTENT = (
    RELEVANCE,
    Loss(
        "texts in another Unicode form than NFC",
        "the same in NFC",
        lambda entry: _normalized(entry) != entry and _is_new(entry),
        _normalized,
    ),
    LATE_TIMES,
    unknown_fields(),
)
"""What a record cannot keep of an entry, besides its embedding and its id."""

LOSSES = (
    EMBEDDING,
    *OF_CONTENT,
    Loss("ids that are not those of a record", "an id made from the content", _is_new, _as_read),
)


def read(path: str) -> Iterator[MemoryEntry | Problem]:
    """Read a memory file, verified wherever it is signed."""
    data = record_files.read_whole(path, LARGEST)
    try:
        found = SignedMemoryFile.load(data, allow_unsigned=True)
    except InvalidRecord as error:
        raise DamagedFile(str(error), path=shown(path)) from None
    for record in found.records:
        yield attempt(record.id, entry_of, record)


def write(path: str, records: Iterable[Record]) -> None:
    """Write a new memory file, which nobody has signed; its records keep their own signatures."""
    made = SignedMemoryFile(created_at=datetime.now(UTC), records=tuple(records))
    with open(path, "wb") as file:
        file.write(made.to_bytes())

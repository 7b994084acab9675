"""agent-memory/0.1 files as entries of record files, and back.

What holds in the file becomes entries; what was deleted, replaced or has expired stays behind. A record of ours that no
longer holds is written as deleted, and comes back all the same: it says itself what has become of it. The fields that
only this format has (kind, scope, confidence, …) are in `extra`, from where they find their way back.
"""

import json
from collections.abc import Iterable, Iterator, Mapping
from datetime import UTC, datetime
from types import MappingProxyType

from ..text.moments import instant, is_expiry, new_stamp
from . import jsonl, record_files
from .entry import MemoryEntry, Problem, Unknown, attempt, check, named, original_id, to_milliseconds, to_moment
from .jsonl import EntryLine, HeaderLine, Tombstone, default_confidence
from .jsonl_rules import KINDS, LINE_BREAKS, is_writable_scope, on_one_line
from .jsonl_view import Contents, FileView, current, sort_out
from .loss import EMBEDDING, FOREIGN_IDS, LATE_TIMES, RELEVANCE, Loss, is_over, unknown_fields

WIRE = "agent-memory/0.1"
NAME = "jsonl"
_DEFAULT_KIND, _DEFAULT_SCOPE = "fact", "global"


LOSSES = (
    FOREIGN_IDS,
    EMBEDDING,
    RELEVANCE,
    Loss(
        "line breaks and tabs in a text",
        "blanks",
        lambda entry: not LINE_BREAKS.isdisjoint(entry.text),
        lambda entry: entry._replace(text=on_one_line(entry.text)),
    ),
    LATE_TIMES,
    unknown_fields(WIRE),
)


def read(path: str) -> Iterator[MemoryEntry | Problem]:
    """Read what holds now in a file, oldest first, and which of its lines are not of the format."""
    contents, found = _view(path)
    for notice in found.warnings:
        yield Problem(f"line {notice.line:,}" if notice.line else "the file", notice.message)
    for entry in found.entries:
        yield attempt(f"entry {entry.id[:40]!a}", entry_of, entry)
    holds = {entry.id for entry in (*found.entries, *found.expired)}
    for entry in contents.entries.values() if contents.known else ():
        if entry.id not in holds and isinstance(one := attempt("", entry_of, entry), MemoryEntry) and is_over(one):
            yield one


def expired(path: str) -> tuple[EntryLine, ...]:
    """Return the entries of a file that `read` leaves behind because they have expired."""
    return _view(path)[1].expired


def _view(path: str) -> tuple[Contents, FileView]:
    with record_files.reading(path) as file:
        contents = sort_out(jsonl.parse_file(iter(lambda: file.read(record_files.CHUNK), b"")))
    return contents, current(contents, datetime.now(UTC))


def encode(entry: MemoryEntry) -> bytes:
    """Return an entry as a line; one that no longer holds with the line that deletes it."""
    line = _to(entry)
    more = jsonl.encode(Tombstone(line.id, line.created_at), allow=None) if is_over(entry) else b""
    return jsonl.encode(line, allow=None) + more


def write(path: str, lines: Iterable[bytes]) -> None:
    """Write a new file: a header, then what `encode` has returned."""
    with open(path, "wb", buffering=record_files.CHUNK) as file:
        file.write(jsonl.encode(HeaderLine(jsonl.FORMAT, new_stamp(datetime.now(UTC)))))
        file.writelines(lines)


def entry_of(entry: EntryLine) -> MemoryEntry:
    """Return a line as an entry. Raises BadEntry if it is too large for one."""
    own = dict(_told(entry))
    more = dict(entry.extra or {})
    pairs = more.pop("extra", None)
    if isinstance(pairs, dict) and all(isinstance(value, str) for value in pairs.values()):
        own |= pairs
    elif pairs is not None:
        more["extra"] = pairs
    key, extra = named(entry.id, own)
    moment = instant(entry.created_at)
    return check(
        MemoryEntry(
            id=key,
            timestamp_ms=to_milliseconds(moment) if moment else 0,
            text=entry.text,
            tags=entry.tags,
            source=entry.source or "",
            extra=MappingProxyType(dict(extra)),
            unknown=Unknown(WIRE, json.dumps(more, ensure_ascii=False).encode()) if more else None,
        )
    )


def _told(entry: EntryLine) -> Iterator[tuple[str, str]]:
    """Yield what is put into `extra` for the fields that only this format has; nothing for what is usual."""
    if entry.kind != _DEFAULT_KIND:
        yield "kind", entry.kind
    if entry.scope != _DEFAULT_SCOPE:
        yield "scope", entry.scope
    if entry.confidence != default_confidence(entry.source):
        yield "confidence", json.dumps(entry.confidence)
    if entry.expires_at is not None:
        yield "expires_at", entry.expires_at
    if entry.supersedes is not None:
        yield "supersedes", entry.supersedes


def _to(entry: MemoryEntry) -> EntryLine:
    pairs = dict(entry.extra)
    key = original_id(entry)
    source = entry.source or None
    made = EntryLine(
        id=key,
        kind=pairs["kind"] if pairs.get("kind") in KINDS else _DEFAULT_KIND,
        text=entry.text,
        scope=pairs["scope"] if is_writable_scope(pairs.get("scope", "")) else _DEFAULT_SCOPE,
        tags=entry.tags,
        source=source,
        confidence=_confidence(pairs, default_confidence(source)),
        expires_at=pairs["expires_at"] if is_expiry(pairs.get("expires_at")) else None,
        supersedes=pairs.get("supersedes") or None,
        created_at=_stamp(entry.timestamp_ms),
    )
    # What the fields do not say again when they are read stays a pair.
    said = dict(_told(made)) | ({"id": key} if key != entry.id else {})
    rest = {key: value for key, value in pairs.items() if said.get(key) != value}
    more = json.loads(entry.unknown.content) if entry.unknown is not None else {}
    if rest:
        more["extra"] = rest
    return made._replace(extra=more or None)


def _confidence(pairs: Mapping[str, str], default: float) -> float:
    try:
        value = float(pairs["confidence"])
    except (KeyError, ValueError):
        return default
    return value if 0 <= value <= 1 else default


def _stamp(timestamp_ms: int) -> str:
    moment = to_moment(timestamp_ms).replace(tzinfo=None)
    return moment.isoformat(timespec="milliseconds" if timestamp_ms % 1000 else "seconds") + "Z"

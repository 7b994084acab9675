"""What a format cannot carry, as data: the same rows change an entry, count what was lost, and make the table.

A conversion asks each row of its target whether an entry has what the row is about, counts it, and goes on with what
the row leaves of it. So what is lost and what is said about it cannot differ (decision 32).
"""

from collections.abc import Callable
from datetime import UTC, datetime
from types import MappingProxyType

from ..values import dataclass
from .entry import MADE_BY, MemoryEntry, is_uuid, named, to_milliseconds

STATE = "state"  # The pair of `extra` that says what has become of a record which is not active

_LAST_TIME = to_milliseconds(datetime.max.replace(tzinfo=UTC))


@dataclass(frozen=True, slots=True)
class Loss:
    """One thing that a format cannot carry."""

    what: str  # the thing, as a plural or a noun: "relevance scores"
    instead: str  # what the file has in its place
    found: Callable[[MemoryEntry], bool]  # whether an entry has it
    without: Callable[[MemoryEntry], MemoryEntry]  # the entry as the format carries it


def unknown_fields(wire: str = "") -> Loss:
    """Return the row for fields that the schema does not name: kept where the wire is the same, dropped elsewhere."""
    return Loss(
        "fields that the schema does not name",
        "left out" + (f", unless they came as {wire}" if wire else ""),
        lambda entry: entry.unknown is not None and entry.unknown.wire != wire,
        lambda entry: entry._replace(unknown=None),
    )


def is_over(entry: MemoryEntry) -> bool:
    """Say whether an entry is a record that no longer holds."""
    return entry.extra.get(STATE) in ("superseded", "archived", "redacted")


OVER = Loss("records that no longer hold: replaced, archived or redacted", "left out", is_over, lambda entry: entry)
"""Of a format that has this row, such an entry stays out: there it would pass for one that holds."""


def _without_embedding(entry: MemoryEntry) -> MemoryEntry:
    rest = {key: value for key, value in entry.extra.items() if key != MADE_BY}
    return entry._replace(embedding=b"", extra=MappingProxyType(rest))


EMBEDDING = Loss(
    "embeddings",
    "left out; where one is needed, it is made from the text",
    lambda entry: entry.embedding != b"",
    _without_embedding,
)
RELEVANCE = Loss(
    "relevance scores",
    "left out",
    lambda entry: entry.relevance != 0,
    lambda entry: entry._replace(relevance=0.0),
)
LATE_TIMES = Loss(
    "times after the year 9999",
    "its last moment",
    lambda entry: entry.timestamp_ms > _LAST_TIME,
    lambda entry: entry._replace(timestamp_ms=_LAST_TIME),
)


def _with_uuid(entry: MemoryEntry) -> MemoryEntry:
    key, extra = named(entry.id, entry.extra)
    return entry._replace(id=key, extra=extra)


FOREIGN_IDS = Loss(
    "ids that are not UUIDs",
    "a UUID made from the id, which is kept in extra.id",
    lambda entry: not is_uuid(entry.id),
    _with_uuid,
)

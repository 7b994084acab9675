"""What the tests of record files share: entries of every kind, and a small file of each format."""

import uuid

import pytest
from hypothesis import strategies as st

from agent_memory_protocol.formats.entry import NOTHING, MemoryEntry, Unknown, check, embedding_of

TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=40)
NAMES = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=12)
FLOATS = st.floats(width=32, allow_nan=False, allow_infinity=False)
UNKNOWN = st.sampled_from(
    [None, None, None, Unknown("json", b'{"later":[1,{"a":null}]}'), Unknown("protobuf", b"\x48\x07")]
)
"""Fields that a later schema may have: a key of JSON, and field 9 of the message."""

KEYS = ["kind", "scope", "confidence", "record", "id", "why", "writer", "headings"]
KEYS += ["keep", "disputed", "until", "expires_at"]
VALUES = ["true", "avoid", "0.5", "2027-01-01", "2027-01-02T00:00:00Z", "2027-01-02T10:00:00+02:00", '["task"]']

ENTRIES = st.builds(
    MemoryEntry,
    id=st.one_of(st.uuids().map(str), NAMES),
    timestamp_ms=st.one_of(st.just(0), st.integers(0, 2**42), st.integers(0, 2**64 - 1)),
    text=TEXT,
    tags=st.lists(st.one_of(st.sampled_from(["task", "Infrastructure", "2026-02-01"]), NAMES), max_size=4).map(tuple),
    source=TEXT,
    embedding=st.one_of(st.just(b""), st.lists(FLOATS, min_size=1, max_size=6).map(embedding_of)),
    relevance=st.one_of(st.just(0.0), FLOATS, st.floats(allow_nan=False, allow_infinity=False)),
    extra=st.one_of(
        st.just(NOTHING),
        st.dictionaries(st.one_of(st.sampled_from(KEYS), NAMES), st.one_of(TEXT, st.sampled_from(VALUES))),
    ),
    unknown=UNKNOWN,
).map(check)


@pytest.fixture(scope="session")
def entries() -> st.SearchStrategy[MemoryEntry]:
    """Entries that nobody would write, all of them within the rules."""
    return ENTRIES


@pytest.fixture
def some() -> list[MemoryEntry]:
    """Three ordinary entries."""
    return [
        MemoryEntry(
            id=str(uuid.UUID(int=number)),
            timestamp_ms=1_767_225_600_000 + number,
            text=text,
            tags=tags,
            source="shell",
            embedding=embedding_of([0.5, -1.25, float(number)]),
            relevance=0.8,
            extra={"host": "ci", "run": str(number)},
        )
        for number, (text, tags) in enumerate(
            [("Redis needs AOF on.", ("task", "redis")), ("Größe, 日本語 👩\u200d💻", ()), ("Two\nlines.", ("task",))]
        )
    ]

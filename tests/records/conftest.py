"""What the tests of records share: records of every kind for hypothesis, one of each store, and fixed keys."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import strategies as st

from agent_memory_protocol.errors import InvalidRecord
from agent_memory_protocol.postgresql.sharing import SharedStore
from agent_memory_protocol.records import lifecycle
from agent_memory_protocol.records.canonical import freeze_text
from agent_memory_protocol.records.record import Provenance, Record, RecordType, State, Transition, new_record
from agent_memory_protocol.records.sqlite_store import MemoryStore, SqliteStore
from agent_memory_protocol.records.store import DirectoryStore

NOW = datetime(2026, 11, 15, 12, tzinfo=UTC)
DEFINED = set(Record.__dataclass_fields__)


def can_be_canonical(text: str) -> bool:
    try:
        freeze_text(text)
    except InvalidRecord:
        return False
    return True


# Each draw costs as much as a whole test of ours, so what is interesting about text mostly comes from a list.
TEXTS = [
    "",
    "a",
    "Größe 5 µm",
    "e\u0301",
    "\u212b",
    "a\n# Title\r\n",
    '"\\/',
    "\0\x1f\x7f",
    "\U0001f600\uffff",
    "\u2028",
]
texts = st.sampled_from(TEXTS) | st.text(st.characters(exclude_categories=["Cs"]), max_size=5).filter(can_be_canonical)
names = st.sampled_from(TEXTS[1:])
ids = st.integers(0, 2**128 - 1).map("mem:{:032x}".format)
moments = st.integers(-30 * 10**12, 250 * 10**12).map(
    lambda milliseconds: datetime(1970, 1, 1, tzinfo=UTC) + timedelta(milliseconds=milliseconds)
)
values: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | st.integers() | texts,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts.map(freeze_text), inner, max_size=3),
    max_leaves=6,
)
OBJECTS: list[dict[str, Any]] = [
    {},
    {"port": 8080, "hosts": ["a", "é"]},
    {"é": {"z": None, "Z": [True, -(10**20)]}, "\U0001f600": "", "\uffff": {}},
]
objects = st.sampled_from(OBJECTS) | st.dictionaries(texts.map(freeze_text), values, max_size=2)


@st.composite
def births(draw: st.DrawFn) -> Record:
    """Draw a record as it is born, with any field that may be set then."""
    record_type = draw(st.sampled_from(RecordType))
    record = new_record(
        record_type,
        draw(texts),
        provenance=Provenance(draw(names), draw(st.none() | texts), draw(st.none() | texts)),
        now=draw(moments),
        slots=draw(objects),
        confidence=draw(st.integers(0, 10_000)) / 10_000,
        occurred_at=draw(st.none() | moments),
        evidence=tuple(draw(st.lists(ids, min_size=record_type is RecordType.RULE, max_size=3))),
        supersedes=draw(st.none() | ids),
        tags=tuple(draw(st.lists(texts, max_size=3))),
    )
    extra = draw(objects)
    return replace(record, extra={name: item for name, item in extra.items() if name not in DEFINED})


@st.composite
def records(draw: st.DrawFn) -> Record:
    """Draw a record in any state, redacted ones among them."""
    record = draw(births())
    later = record.created_at + timedelta(milliseconds=draw(st.integers(0, 10**9)))
    changes: dict[str, Any] = {"updated_at": later, "state_reason": draw(st.none() | texts)}
    state = draw(st.sampled_from(State))
    if state is State.TRANSITIONAL:
        sides = (record.id, draw(ids.filter(lambda other: other != record.id)))
        changes["transition"] = Transition(sides if draw(st.booleans()) else sides[::-1], draw(names))
    elif state is State.SUPERSEDED:
        changes["superseded_by"] = draw(ids)
    elif state is State.ARCHIVED and draw(st.booleans()):
        return lifecycle.redact(record, reason=draw(names.filter(str.strip)), now=later)
    if record.type is RecordType.RULE and draw(st.booleans()):
        changes |= {"flagged": True, "flag_reason": draw(texts)}
    return replace(record, state=state, **changes)


st.register_type_strategy(Record, records())


@pytest.fixture(params=["memory", "directory", "sqlite", "postgresql"])
def open_store(request: pytest.FixtureRequest, tmp_path: Any) -> Iterator[Callable[[], Any]]:
    """Open one and the same store each time it is called; each kind of store in turn."""
    with ExitStack() as stack:
        kept = MemoryStore()
        if request.param == "postgresql":
            address = request.getfixturevalue("postgresql").new_namespace()
        yield {
            "memory": lambda: kept,
            "directory": lambda: DirectoryStore(tmp_path / "memory" / "records"),
            "sqlite": lambda: stack.enter_context(SqliteStore(tmp_path / "records.sqlite")),
            "postgresql": lambda: stack.enter_context(SharedStore(address)),
        }[request.param]


@pytest.fixture
def store(open_store: Callable[[], Any]) -> Any:
    return open_store()

"""What the tests of consolidation share: records that read like what people remember."""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from agent_memory_protocol.records.record import Provenance, Record, RecordType, new_record

NOW = datetime(2026, 11, 15, 12, tzinfo=UTC)


@pytest.fixture
def now() -> datetime:
    return NOW


@pytest.fixture
def make() -> Callable[..., Record]:
    """Return what makes a record; each is a minute younger than the one before."""
    minutes = iter(range(100_000))

    def make(body: str, kind: str = "conversation", type: RecordType = RecordType.FACT, **fields: Any) -> Record:
        born = NOW - timedelta(days=1) + timedelta(minutes=next(minutes))
        return new_record(type, body, provenance=Provenance(kind), now=born, **fields)

    return make

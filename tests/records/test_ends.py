"""What holds up to a day: afterwards it is no answer, and it neither hides, replaces nor denies what holds now."""

from datetime import UTC, date, datetime
from types import MappingProxyType

import pytest

from agent_memory_protocol import Memory
from agent_memory_protocol.formats import markdown
from agent_memory_protocol.formats.entry import MemoryEntry
from agent_memory_protocol.formats.known import ends_on
from agent_memory_protocol.formats.record_entries import record_of
from agent_memory_protocol.records.record import Provenance, RecordType, State, new_record

NOW = datetime(2026, 11, 15, 12, tzinfo=UTC)
FREEZE, AGAIN = "The code freeze holds for the shop.", "The code freeze holds for the shop!"
OVER, TO_COME = "2026-11-01", "2026-12-01"


@pytest.fixture
def memory(tmp_path):
    with Memory(tmp_path / "memory", clock=lambda: NOW, consolidate_every=0) as made:
        yield made


def ends(body, day):
    """Return a record as an import makes it of an entry marked `[until D]`."""
    extra = {"until": day, "expires_at": f"{day[:-2]}{int(day[-2:]) + 1:02}T00:00:00Z"} if day else {"kind": "fact"}
    return new_record(
        RecordType.FACT, body, provenance=Provenance("import"), now=NOW.replace(year=2025), slots={"extra": extra}
    )


def recalled(memory):
    return sorted(hit.record.body for hit in memory.recall("code freeze shop port"))


WAYS = [
    lambda day: {"until": day},
    lambda day: {"expires_at": day},
    lambda day: {"expires_at": f"{day}T23:00:00Z"},
    lambda day: {"until": day, "expires_at": "2027-06-01T00:00:00Z"},
    lambda day: {"until": "2027-06-01", "expires_at": day},
    lambda day: ends_on(date.fromisoformat(day)) if day[0] == "2" else {},
]


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize(("day", "found"), [(OVER, []), (TO_COME, [FREEZE]), ("no day", [FREEZE])])
def test_a_row_ends_on_the_day_that_any_of_its_pairs_names_as_record_and_as_entry(memory, way, day, found):
    row = MemoryEntry(id="row", text=FREEZE, timestamp_ms=0, extra=MappingProxyType(way(day)))
    memory.add(record_of(row))
    assert recalled(memory) == found
    if day != "no day":
        assert markdown.marks_of(row) == [f"[until {day}]"]


@pytest.mark.parametrize(
    ("text", "holds"),
    [
        (f"[until {OVER}] {FREEZE}", False),
        (f"[ ] [keep] [until {OVER}] {FREEZE}", False),
        (f"[until {TO_COME}] {FREEZE}", True),
        (f"The mark `[until {OVER}]` ends the code freeze.", True),
        (f"[shop](https://example.org) closes [until {OVER}] for the freeze.", True),
    ],
)
def test_a_record_whose_text_begins_with_its_end_ends_then(memory, text, holds):
    memory.remember(text)
    assert recalled(memory) == ([text] if holds else [])
    assert [hit.record.body for hit in memory.recall("code freeze shop", include_history=True)] == [text]


def test_what_is_said_again_after_its_end_is_remembered_again(memory):
    memory.add(ends(FREEZE, OVER))
    done = memory.remember(FREEZE)
    assert (done.new, recalled(memory)) == (True, [FREEZE])


def test_what_is_said_again_before_its_end_is_known(memory):
    old, _ = memory.add(ends(FREEZE, TO_COME))
    done = memory.remember(FREEZE)
    assert (done.new, done.record_id, recalled(memory)) == (False, old, [FREEZE])


@pytest.mark.parametrize("day", [OVER, TO_COME])
def test_what_comes_in_twice_is_one_record_whether_its_end_is_over_or_not(memory, day):
    memory.add(ends(FREEZE, day))
    assert not memory.add(ends(FREEZE, day), once=True)[1]
    assert len(memory.records()) == 1


@pytest.mark.parametrize(
    ("one", "other", "merged"), [(OVER, "", 0), (TO_COME, "", 0), (TO_COME, TO_COME, 1), ("", "", 1)]
)
def test_only_what_ends_at_the_same_time_is_merged(memory, one, other, merged):
    for body, day in ((FREEZE, one), (AGAIN, other)):
        memory.add(ends(body, day))
    report = memory.consolidate()
    assert sum(action.kind == "supersede" for action in report.done) == merged
    assert len(recalled(memory)) == (1 if merged or one == OVER else 2)


@pytest.mark.parametrize(
    ("day", "state"), [(OVER, State.ACTIVE), (TO_COME, State.TRANSITIONAL), ("", State.TRANSITIONAL)]
)
def test_what_is_over_is_in_no_dispute(memory, day, state):
    old, _ = memory.add(ends("The shop needs the port 8080.", day))
    memory.remember("The shop does not need the port 8080.")
    memory.consolidate()
    assert memory.history(old)[-1].state is state


def test_a_new_record_is_not_compared_with_what_is_over(memory):
    memory.add(ends(FREEZE, OVER))
    assert memory.remember("The code freeze holds for our shop.").notes == ()


def test_a_new_record_is_compared_with_what_holds(memory):
    memory.add(ends(FREEZE, TO_COME))
    assert memory.remember("The code freeze holds for our shop.").notes

"""An agent-memory/0.1 file against a table: whatever is done to it, it holds what was acknowledged and no more."""

import tempfile
from collections.abc import Iterable
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from agent_memory_protocol.errors import InvalidArgument
from agent_memory_protocol.formats.jsonl_file import MemoryFile

BEGIN = datetime(2026, 11, 15, 12, tzinfo=UTC)


def one_of(data: st.DataObject, ids: Iterable[str]) -> str:
    """Draw one by its place: ids are random, and a case must be the same when it is tried again."""
    listed = list(ids)
    return listed[data.draw(st.integers(0, len(listed) - 1))]


class AgainstATable(RuleBasedStateMachine):
    """`holds` is the table: the text and the expiry of what was appended and neither deleted nor superseded since."""

    def __init__(self) -> None:
        super().__init__()
        self.folder = tempfile.TemporaryDirectory()
        self.path = Path(self.folder.name, "memory.jsonl")
        self.file = MemoryFile.open(self.path)
        self.now = BEGIN
        self.holds: dict[str, tuple[str, datetime | None]] = {}
        self.deleted: list[str] = []
        self.count = 0

    def teardown(self) -> None:
        self.folder.cleanup()

    def _append(self, hours: int | None, supersedes: str | None = None) -> None:
        self.count += 1
        text = f"Fact number {self.count}."
        expires = None if hours is None else self.now + timedelta(hours=hours)
        entry = self.file.append(text, kind="fact", expires_at=expires, supersedes=supersedes, now=self.now)
        self.holds[entry.id] = (text, expires)

    @rule(hours=st.none() | st.integers(1, 48))
    def append(self, hours: int | None) -> None:
        self._append(hours)

    @precondition(lambda self: self.holds)
    @rule(data=st.data(), hours=st.none() | st.integers(1, 48))
    def supersede(self, data: st.DataObject, hours: int | None) -> None:
        old = one_of(data, self.holds)
        self._append(hours, supersedes=old)
        del self.holds[old]

    @precondition(lambda self: self._alive())
    @rule(data=st.data())
    def delete(self, data: st.DataObject) -> None:
        old = one_of(data, self._alive())
        self.file.delete(old, self.now)
        del self.holds[old]
        self.deleted.append(old)

    @precondition(lambda self: self.deleted)
    @rule(data=st.data())
    def delete_again(self, data: st.DataObject) -> None:
        with pytest.raises(InvalidArgument):
            self.file.delete(one_of(data, self.deleted), self.now)

    @rule(hours=st.integers(1, 60))
    def time_goes_by(self, hours: int) -> None:
        self.now += timedelta(hours=hours)

    @rule()
    def compact(self) -> None:
        self.file.compact(self.now)
        # What had expired by then is gone from the file, whatever a clock says later.
        self.holds = self._alive()

    @precondition(lambda self: self.path.exists())
    @rule(half=st.sampled_from([b'{"id":"torn","kind":"fa', b"{", b"\xff\xfe", b'{"id":"t","text":1}']))
    def another_writer_is_killed_half_way(self, half: bytes) -> None:
        with self.path.open("ab") as file:
            file.write(half)

    @rule()
    def open_again(self) -> None:
        self.file = MemoryFile.open(self.path)

    def _alive(self) -> dict[str, tuple[str, datetime | None]]:
        return {one: (text, end) for one, (text, end) in self.holds.items() if end is None or end > self.now}

    @invariant()
    def the_view_is_the_table(self) -> None:
        view = self.file.view(self.now)
        assert {entry.id: entry.text for entry in view.entries} == {
            one: text for one, (text, _) in self._alive().items()
        }


AgainstATable.TestCase.settings = settings(
    max_examples=min(settings().max_examples, 60), stateful_step_count=30, deadline=None
)
TestAgainstATable = AgainstATable.TestCase

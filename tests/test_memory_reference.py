"""A memory directory is one for both: what the reference implementation has begun is continued here, and back again."""

from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from agent_memory_protocol import Memory
from agent_memory_protocol.formats.signed_file import SignedMemoryFile
from agent_memory_protocol.records.record import State

fg = pytest.importorskip("fg_agent_memory")
pytest.importorskip("nacl")

POSTGRES, NOT_POSTGRES = "The staging database is Postgres.", "The staging database is not Postgres."


@pytest.fixture(autouse=True)
def elsewhere(tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.delenv("AMP_DISABLE", raising=False)
    monkeypatch.chdir(tmp_path)


def bodies(recalled: Any) -> set[str]:
    hits = recalled.hits if hasattr(recalled, "hits") else recalled.records
    return {hit.record.body for hit in hits}


def states(store: Any) -> Counter[tuple[str, str]]:
    return Counter((record.body, str(record.state.value)) for record in store.list())


@pytest.mark.requirement("S1-24", "S1-25", "S1-27", "S1-57")
def test_each_continues_the_memory_of_the_other():
    theirs = fg.Memory("memory", identity="agent.key")
    a = theirs.remember(POSTGRES, tags=("db",), source="session-1")
    theirs.remember("The API listens on port 8080.")
    Path("agent.key").chmod(0o600)

    ours = Memory("memory", identity="agent.key")
    assert bodies(ours.recall("staging database")) == {POSTGRES}
    assert ours.remember(POSTGRES).known == (a.record_id,)
    b = ours.remember(NOT_POSTGRES)
    assert [action.kind for action in ours.consolidate().done] == ["dispute"]
    ours.verify()
    assert {record.signed_by for record in ours.records()} == {theirs.store.get(a.record_id).provenance.agent}

    theirs = fg.Memory("memory", identity="agent.key")
    assert theirs.status()["open_contradictions"] == 1
    assert bodies(theirs.recall("staging database")) == {POSTGRES, NOT_POSTGRES}
    theirs.resolve(a.record_id, b.record_id, "moved in March")
    for version in theirs.store.history(b.record_id):
        if version.signature:
            version.verify()

    assert ours.recall("staging database").ids == (b.record_id,)
    assert [version.state for version in ours.history(a.record_id)] == ["active", "transitional", "superseded"]
    ours.verify()
    assert states(ours.store) == states(theirs.store)


@pytest.mark.requirement("S1-06", "S1-25", "S1-83")
def test_each_reads_what_the_other_has_taken_away_and_exported():
    ours = Memory("memory", identity="agent.key")
    ids = [ours.remember(text).record_id for text in ("The code is 4711.", "The door is green.", "The key is blue.")]
    theirs = fg.Memory("memory", identity="agent.key")
    theirs.redact(ids[0], "a door code")
    assert ours.recall("code door key").ids == tuple(one for one in ours.recall("key door").ids if one != ids[0])
    assert len(ours.recall("code door key")) == 2
    ours.redact(ids[1], "a colour")
    theirs = fg.Memory("memory", identity="agent.key")
    assert bodies(theirs.recall("door key")) == {"The key is blue."}
    ours.verify()
    ours.export("ours.json")
    theirs.export("theirs.json")
    loaded = fg.Memory.load("ours.json")
    assert states(loaded.store) == states(ours.store)
    file = SignedMemoryFile.load(Path("theirs.json").read_bytes())
    assert set(file.records) == set(ours.records())


@pytest.mark.requirement("S1-42", "S1-69")
def test_what_the_other_has_recalled_counts_as_used():
    theirs = fg.Memory("memory")
    theirs.remember("The licence is Apache.")
    for _ in range(3):
        theirs.recall("licence")
    ours = Memory("memory")
    assert "used 3 times before" in ours.recall("licence").hits[0].reasons


@pytest.mark.slow
@pytest.mark.parametrize("first", ["ours", "theirs"])
def test_two_programs_at_one_directory_lose_nothing(first):
    made = {"ours": lambda: Memory("memory"), "theirs": lambda: fg.Memory("memory")}
    opened = [made[first](), made["theirs" if first == "ours" else "ours"]()]
    for number in range(10):
        for memory in opened:
            memory.remember(f"{type(memory).__module__} says fact number {number}, which is new.")
    ours = Memory("memory")
    ours.verify()
    assert len(ours.records(state=State.ACTIVE)) + len(ours.records(state=State.SUPERSEDED)) >= 20
    said = {record.body for record in ours.records()}
    assert {f"agent_memory_protocol.memory says fact number {number}, which is new." for number in range(10)} <= said

"""`Memory`: what is remembered is recalled, what is wrong is refused before the first byte, and all of it verifies."""

import json
import os
import random
import sqlite3
import stat
import subprocess
import sys
import textwrap
import threading
from collections.abc import Callable, Iterator
from contextlib import closing, suppress
from dataclasses import replace
from datetime import UTC, date, datetime, timedelta
from itertools import product
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from agent_memory_protocol import Actor, Memory
from agent_memory_protocol.consolidation.pipeline import Operators
from agent_memory_protocol.consolidation.proposals import Create, Resolve
from agent_memory_protocol.errors import (
    AccessDenied,
    BadSignature,
    DamagedFile,
    Disabled,
    IllegalMove,
    InvalidArgument,
    Refused,
    RefusedText,
    SecretFound,
    StorageError,
    UnknownRecord,
)
from agent_memory_protocol.formats.signed_file import SignedMemoryFile
from agent_memory_protocol.postgresql.sharing import SharedStore
from agent_memory_protocol.records.lifecycle import archive, dispute, redact
from agent_memory_protocol.records.rank import partner_of
from agent_memory_protocol.records.record import Provenance, Record, RecordType, State, new_record
from agent_memory_protocol.records.signing import Identity, verify_record
from agent_memory_protocol.records.sqlite_store import MemoryStore, SqliteStore
from agent_memory_protocol.records.store import DirectoryStore
from agent_memory_protocol.search.opening import open_index
from agent_memory_protocol.search.scan import ScanIndex

NOW = datetime(2026, 11, 15, 12, tzinfo=UTC)
TOKEN = "ghp" + "_" + "Kq7Zt2Xw9Lm4Rb6Yc1Vn8Hd3Js5Pf0Ga7Ue2"
POSTGRES, NOT_POSTGRES = "The staging database is Postgres.", "The staging database is not Postgres."


@pytest.fixture(autouse=True)
def elsewhere(tmp_path, monkeypatch):
    """Stand in an empty folder, with no settings of whoever runs the tests."""
    (tmp_path / "home").mkdir()
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    for name in ("XDG_CONFIG_HOME", "AMP_ROOT", "AMP_DISABLE", "AMP_AGENT", "CLAUDE_PLUGIN_ROOT"):
        monkeypatch.delenv(name, raising=False)
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")


@pytest.fixture
def memory() -> Iterator[Memory]:
    with Memory("memory") as made:
        yield made


def disputed(memory: Memory) -> tuple[Record, Record]:
    """Two records that contradict each other, and are known to."""
    ids = [memory.remember(text).record_id for text in (POSTGRES, NOT_POSTGRES)]
    sides = dispute(memory.store.get(ids[0]), memory.store.get(ids[1]), reason="one negates the other", now=NOW)
    for side in sides:
        memory.store.put(side)
    return sides


def tree(folder: Path, *, local: bool = False) -> dict[str, bytes]:
    """Every file and its bytes; with `local` also what may be deleted at any time."""
    files = (path for path in sorted(folder.rglob("*")) if path.is_file() and (local or ".amp" not in path.parts))
    return {str(path): path.read_bytes() for path in files}


# Remember and recall


@pytest.mark.requirement("S1-23", "S1-24", "S1-26", "S1-38")
def test_two_calls_are_enough(memory):
    memory.remember("Sandro's favorite editor is Zed.")
    assert memory.recall("what editor does Sandro use?").as_prompt_block() == "- Sandro's favorite editor is Zed."


@pytest.mark.requirement("S1-24", "S1-25", "S1-66")
def test_a_memory_is_a_folder_of_records_and_what_git_does_not_see(memory):
    one = memory.remember("One.").record_id
    memory.recall("one")
    assert sorted(os.listdir("memory")) == [".amp", "records"]
    assert Path("memory", ".amp", ".gitignore").read_text() == "*\n"
    assert tree(Path("memory", "records")) == {
        f"memory/records/{one[4:]}/000001.json": memory.store.get(one).to_bytes()
    }


def test_records_are_chosen_by_a_state_and_a_type_or_their_names(memory):
    kept = memory.remember("The API listens on 8080.").record_id
    for chosen in ({"state": State.ACTIVE}, {"state": "active"}, {"type": "fact"}, {"state": "active", "type": "fact"}):
        assert [record.id for record in memory.records(**chosen)] == [kept], chosen
    assert memory.records(state="archived") == memory.records(type="rule") == ()
    for wrong in ({"state": "actve"}, {"type": "state"}, {"state": ""}):
        with pytest.raises(InvalidArgument, match="states are active, transitional, superseded, archived, types fact"):
            memory.records(**wrong)


def test_nothing_is_created_before_the_first_record(memory):
    assert memory.recall("anything").as_prompt_block() == ""
    assert memory.records() == ()
    assert memory.status().records == 0
    assert memory.check().problems == memory.saying("x") == ()
    memory.verify()
    with pytest.raises(UnknownRecord):
        memory.history("mem:" + "0" * 32)
    with pytest.raises(UnknownRecord):
        memory.find_id("mem:")
    assert os.listdir() == []


def test_what_stands_beside_the_records_may_be_deleted_at_any_time(memory):
    memory.remember("One fact.")
    memory.recall("fact")
    for file in Path("memory", ".amp", "records").iterdir():
        file.unlink()
    with Memory("memory") as other:
        assert other.recall("fact").as_prompt_block() == "- One fact."
        assert not other.remember("One fact.").new


@pytest.mark.skipif(os.name == "nt" or os.geteuid() == 0, reason="who may do everything can write everywhere")
def test_what_cannot_be_written_can_be_recalled(memory):
    memory.remember("One fact.")
    Path("memory").chmod(0o500)
    try:
        with Memory("memory") as other:
            assert other.recall("fact").as_prompt_block() == "- One fact."
    finally:
        Path("memory").chmod(0o700)


@pytest.mark.requirement("S1-03", "S1-39")
def test_a_record_says_where_it_comes_from_and_is_born_active(memory):
    one = memory.store.get(memory.remember("  One.\r\nTwo. \n", tags=("a", "b", "a"), source="session-7").record_id)
    assert (one.body, one.tags, one.state) == ("One.\nTwo.", ("a", "b"), State.ACTIVE)
    assert (one.provenance.kind, one.provenance.ref, one.provenance.agent) == ("conversation", "session-7", None)


@pytest.mark.requirement("S1-25", "S1-70", "S1-76")
def test_the_same_again_is_no_other_record_but_counts_as_a_use_and_adds_its_tags(memory):
    first = memory.remember("Café", tags=("a",))
    with Memory("memory") as other:
        again = other.remember(" Cafe\u0301\n", tags=("b", "a"))
    assert (first.new, again.new) == (True, False)
    assert again.record_id == first.record_id
    assert [one.tags for one in memory.history(first.record_id)] == [("a",), ("a", "b")]
    assert not memory.remember("Café").new
    assert len(memory.history(first.record_id)) == 2
    assert "used 2 times before" in memory.recall("café").hits[0].reasons


def test_what_holds_no_more_can_be_remembered_anew(memory):
    one = memory.remember("One fact.").record_id
    memory.store.put(archive(memory.store.get(one), reason="old", now=datetime.now(UTC)))
    again = memory.remember("One fact.")
    assert again.new
    assert {record.id for record in memory.saying("One fact.")} == {one, again.record_id}
    assert memory.recall("fact").ids == (again.record_id,)


def test_a_disputed_text_is_not_added_again(memory):
    one, _ = disputed(memory)
    assert memory.remember(POSTGRES).record_id == one.id


@pytest.mark.slow
@settings(max_examples=40, suppress_health_check=list(HealthCheck))
@given(st.lists(st.sampled_from(["!!", "a", "日本語", "s1 on 1001", "s2 on 1002", "x" * 400, "é", "the"]), max_size=8))
def test_any_text_is_remembered_once(texts):
    with Memory(store=MemoryStore()) as memory:
        ids = [memory.remember(text).record_id for text in texts]
        assert len(memory.records()) == len(set(texts)) == len(set(ids))


def test_what_came_later_is_later_in_every_list(monkeypatch):
    with Memory(store=MemoryStore(), clock=lambda: NOW) as memory:
        ids = [memory.remember(f"Fact {number}.").record_id for number in range(5)]
        assert [record.id for record in memory.records()] == ids
        born = [record.created_at for record in memory.records()]
        assert born == sorted(set(born))
        assert NOW < born[-1] < NOW + timedelta(seconds=1)


@pytest.mark.requirement("S1-43", "S1-73")
def test_a_budget_holds_and_what_is_left_out_is_counted(memory):
    for number in range(20):
        memory.remember(f"Fact number {number} about the deploy.")
    recalled = memory.recall("deploy", budget_tokens=30)
    assert 0 < recalled.tokens <= 30
    assert len(recalled) + recalled.left_out == 20
    assert len(memory.recall("deploy")) == 20
    for bad in (0, -1):
        with pytest.raises(InvalidArgument):
            memory.recall("deploy", budget_tokens=bad)


@pytest.mark.requirement("S1-74")
def test_every_hit_says_why_it_is_there(memory):
    memory.remember("Redis needs AOF on.", tags=("infrastructure",))
    (hit,) = memory.recall("redis")
    assert "redis" in str(hit.reasons)
    assert memory.recall("infrastructure").ids == (hit.record.id,)


@pytest.mark.slow
@pytest.mark.requirement("S1-67")
@pytest.mark.parametrize("query", ['"', "NEAR(a b)", "a AND", "*", "body:x", "", "\0", "-" * 10_000, "' OR 1=1 --"])
def test_any_text_is_a_query(memory, query):
    memory.remember("Redis needs AOF on.")
    assert len(memory.recall(query)) <= 1


@pytest.mark.slow
def test_what_is_replaced_does_not_crowd_out_what_holds(memory):
    with Memory(store=MemoryStore(), consolidate_every=0) as crowded:
        for number in range(300):
            one = crowded.store.get(crowded.remember(f"deploy deploy deploy {number}").record_id)
            crowded.store.put(archive(one, reason="old", now=datetime.now(UTC)))
        crowded.remember("A much longer sentence that holds, and speaks of the next deploy only in passing.")
        assert len(crowded.recall("deploy")) == 1


# Others who write


WRITER = """
    import sys
    from agent_memory_protocol import Memory
    with Memory(sys.argv[1]) as memory:
        for text in sys.argv[2:]:
            print(memory.remember(text).record_id)
"""


def in_another_process(path: str, *texts: str) -> list[str]:
    command = [sys.executable, "-c", textwrap.dedent(WRITER), path, *texts]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.split()


@pytest.mark.slow
def test_what_another_process_writes_is_recalled_at_once(memory):
    memory.remember("One fact.")
    assert len(memory.recall("fact")) == 1
    (theirs,) = in_another_process("memory", "Another fact.")
    assert set(memory.recall("fact").ids) > {theirs}
    assert memory.remember("Another fact.").record_id == theirs
    DirectoryStore("memory/records").put(archive(memory.store.get(theirs), reason="old", now=datetime.now(UTC)))
    assert theirs not in memory.recall("fact").ids
    DirectoryStore("memory/records").redact(theirs, reason="x", now=datetime.now(UTC))
    assert theirs not in memory.recall("fact", include_history=True).ids


CROWD = """
    import sys
    from agent_memory_protocol import Memory
    with Memory("memory") as memory:
        for step in range(int(sys.argv[2])):
            print(memory.remember(f"Worker {sys.argv[1]} took step {step}.").record_id)
            memory.recall("step")
"""


@pytest.mark.slow
@pytest.mark.parametrize("count", [5, pytest.param(200, marks=pytest.mark.long)])
def test_eight_processes_lose_nothing(memory, count):
    program = textwrap.dedent(CROWD)
    workers = [
        subprocess.Popen(
            [sys.executable, "-c", program, str(number), str(count)],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        for number in range(8)
    ]
    ended = [worker.communicate() for worker in workers]
    assert [(errors, worker.returncode) for (_, errors), worker in zip(ended, workers, strict=True)] == [("", 0)] * 8
    said = [one for out, _ in ended for one in out.split()]
    assert len(set(said)) == 8 * count
    assert {record.id for record in memory.records()} >= set(said)
    found = {record.body for record in memory.records()}
    assert found >= {f"Worker {number} took step {step}." for number in range(8) for step in range(count)}
    memory.verify()


def test_a_damaged_record_is_said_to_be_and_hides_no_other(memory):
    one, other = (memory.remember(text).record_id for text in ("One fact.", "Another fact."))
    file = Path("memory", "records", one[4:], "000001.json")
    file.write_bytes(file.read_bytes()[:-1])
    with Memory("memory") as reopened:
        recalled = reopened.recall("fact")
        assert recalled.ids == (other,)
        assert len(recalled.problems) == 1
        assert one[4:] in recalled.problems[0]
        assert len(reopened.status().problems) == 1
        with pytest.raises(DamagedFile):
            reopened.records()


# Refusals


def refuses(memory: Memory, error: type[Exception], call: Any, match: str | None = None) -> None:
    before = tree(Path())
    with pytest.raises(error, match=match) as caught:
        call()
    assert "\n" not in str(caught.value)
    assert TOKEN not in str(caught.value)
    assert tree(Path()) == before


@pytest.mark.requirement("S0-30", "S1-75")
def test_a_secret_is_refused_before_the_first_byte(memory):
    for call in (
        lambda: memory.remember(f"CI uses {TOKEN}."),
        lambda: memory.remember("A fact.", tags=["ci", TOKEN]),
        lambda: memory.remember("A fact.", source=TOKEN),
    ):
        refuses(memory, SecretFound, call, "rule github-token")
    assert os.listdir() == []
    one, other = disputed(memory)
    for call in (lambda: memory.resolve(one.id, other.id, TOKEN), lambda: memory.redact(one.id, TOKEN)):
        refuses(memory, SecretFound, call, "rule github-token")


def test_what_the_project_allows_is_no_secret(tmp_path):
    project = tmp_path / "project"
    (project / ".scaffolding").mkdir(parents=True)
    memory = Memory(project / "notes" / "memory")
    with pytest.raises(SecretFound) as caught:
        memory.remember(f"The docs show {TOKEN}.")
    fingerprint = str(caught.value).split("fingerprint ")[1].split(")")[0]
    (project / ".scaffolding" / "amp.toml").write_text(f'[secrets]\nallow = ["{fingerprint}"]\n')
    assert memory.remember(f"The docs show {TOKEN}.").new


@pytest.mark.slow
@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("", "empty"),
        (" \n", "empty"),
        ("a\u200bb", "invisible or control character"),
        ("a\x1b[31m", "invisible or control character"),
        ("x" * 25_601, "bytes"),
    ],
)
def test_a_text_that_no_memory_may_hold_is_refused(memory, text, why):
    refuses(memory, RefusedText, lambda: memory.remember(text), why)
    assert memory.remember("x" * 25_600).new
    with pytest.raises(InvalidArgument):
        memory.remember("One.", tags="word")


@pytest.mark.parametrize("slots", [{"extra": {"a\x1bb": "c"}}, {"extra": {"a": "b\x07"}}, {"a\u200b": "b"}])
def test_what_is_brought_with_a_record_hides_nothing(memory, slots):
    """As JSON a control character is an escape, which hid it from the check."""
    made = new_record(
        RecordType.FACT, "Redis needs AOF.", provenance=Provenance("import"), now=datetime.now(UTC), slots=slots
    )
    refuses(memory, RefusedText, lambda: memory.add(made), "invisible or control character")


def test_a_read_only_agent_changes_nothing(tmp_path):
    project = tmp_path / "project"
    (project / ".claude" / "agents").mkdir(parents=True)
    (project / ".scaffolding").mkdir()
    (project / ".claude" / "agents" / "seer.md").write_text("---\nname: seer\ntools: Read\n---\n")
    path = project / ".scaffolding" / "agent-memory"
    sides = disputed(Memory(path, actor=Actor("developer")))
    seer = Memory(path, actor=Actor("seer"))
    assert len(seer.recall("staging")) == 2
    for call in (
        lambda: seer.remember("A fact."),
        lambda: seer.resolve(sides[0].id, sides[1].id, "x"),
        lambda: seer.redact(sides[0].id, "x"),
        seer.sign,
    ):
        with pytest.raises(AccessDenied, match="read-only"):
            call()
    assert len(seer.records()) == 2


@pytest.mark.parametrize("how", ["environment", "settings"])
def test_memory_that_is_switched_off_reads_and_writes_nothing(memory, monkeypatch, how):
    one, other = disputed(memory)
    if how == "environment":
        monkeypatch.setenv("AMP_DISABLE", "1")
    else:
        Path(".scaffolding").mkdir()
        Path(".scaffolding", "amp.toml").write_text("enabled = false\n")
    off = Memory("memory")
    assert off.recall("staging").as_prompt_block() == ""
    assert off.records() == ()
    assert off.search("staging").hits == ()
    assert off.saying(POSTGRES) == ()
    assert off.status().records == 0
    for call in (
        lambda: off.remember("A fact."),
        lambda: off.resolve(one.id, other.id, "x"),
        off.consolidate,
        lambda: off.decay(apply=False),
        lambda: off.history(one.id),
        off.verify,
        off.check,
        off.export,
    ):
        with pytest.raises(Disabled, match="switched off"):
            call()


@pytest.mark.parametrize("path", ["", "a\0b"])
def test_what_cannot_be_a_path_is_refused(path):
    with pytest.raises(InvalidArgument):
        Memory(path)


# Where it is


def test_the_memory_of_a_project_lies_in_its_scaffolding(tmp_path, monkeypatch):
    project = tmp_path / "project"
    (project / ".scaffolding").mkdir(parents=True)
    (project / "src").mkdir()
    monkeypatch.chdir(project / "src")
    with Memory() as memory:
        one = memory.remember("A fact.").record_id
        memory.recall("fact")
    assert memory.path == str(project / ".scaffolding" / "agent-memory")
    assert (project / ".scaffolding" / "agent-memory" / "records" / one[4:] / "000001.json").is_file()
    assert sorted(os.listdir(project / ".scaffolding" / "agent-memory")) == ["records"]
    assert (project / ".scaffolding" / ".amp" / "records" / "catalog.sqlite").is_file()
    with Memory(project / ".scaffolding" / "agent-memory") as again:
        assert again.recall("fact").ids == (one,)


@pytest.mark.requirement("S1-16", "S1-26")
def test_the_store_can_be_another_one(tmp_path):
    with SqliteStore(tmp_path / "x.sqlite") as sqlite:
        for store in (MemoryStore(), sqlite):
            with Memory(store=store) as memory:
                one = memory.remember("A fact.").record_id
                assert memory.recall("fact").ids == (one,)
                assert memory.redact(one, "x").redacted
                assert memory.path is None
                assert os.listdir() == []


# Deciding


@pytest.mark.requirement("S1-08", "S1-28", "S1-30", "S1-31", "S1-32", "S1-38")
def test_who_decides_names_the_winner_and_the_reason_stays(memory):
    one, other = disputed(memory)
    assert len(memory.recall("staging database")) == 2
    lost, won = memory.resolve(one.id, other.id, "moved in March")
    assert (lost.state, lost.superseded_by, lost.state_reason) == (State.SUPERSEDED, other.id, "moved in March")
    assert (won.state, won.state_reason) == (State.ACTIVE, "moved in March")
    assert memory.recall("staging database").ids == (other.id,)
    assert memory.recall("staging database", include_history=True).ids == (other.id, one.id)
    assert [version.state for version in memory.history(one.id)] == ["active", "transitional", "superseded"]


def test_what_is_no_dispute_is_not_decided(memory):
    one, other = disputed(memory)
    third = memory.remember("A third thing.").record_id
    for loser, winner in ((one.id, third), (third, one.id), (one.id, one.id)):
        refuses(memory, IllegalMove, lambda loser=loser, winner=winner: memory.resolve(loser, winner, "x"))
    refuses(memory, UnknownRecord, lambda: memory.resolve(one.id, "mem:" + "0" * 32, "x"))
    refuses(memory, RefusedText, lambda: memory.resolve(one.id, other.id, " "))


@pytest.mark.requirement("S1-83")
def test_redacting_takes_a_text_out_of_everything(memory):
    one = memory.remember("The code is 4711.", tags=("4711",)).record_id
    kept = memory.remember("The door is green.").record_id
    memory.store.put(archive(memory.store.get(one), reason="old", now=datetime.now(UTC)))
    memory.recall("code door")
    stone = memory.redact(one, "a door code")
    assert (stone.body, stone.redaction_reason) == ("[redacted]", "a door code")
    assert memory.history(one) == (stone, stone)
    assert memory.recall("4711 code door", include_history=True).ids == (kept,)
    assert memory.saying("The code is 4711.") == ()
    memory.close()
    for path, data in tree(Path(), local=True).items():
        assert b"4711" not in data, path
    refuses(memory, RefusedText, lambda: memory.redact(kept, ""))
    refuses(memory, UnknownRecord, lambda: memory.redact("mem:" + "0" * 32, "x"))


@pytest.mark.requirement("S1-83")
def test_what_another_program_redacts_does_not_stay_in_the_index(memory):
    one = memory.remember("The code is 4711.").record_id
    memory.remember("The door is green.")
    memory.recall("code")
    DirectoryStore("memory/records").redact(one, reason="x", now=datetime.now(UTC))
    memory.remember("The key is blue.")
    assert len(memory.recall("code door key")) == 2
    memory.close()
    assert not [path for path, data in tree(Path(), local=True).items() if b"4711" in data]


def test_a_record_that_differs_in_what_never_changes_is_refused_by_the_name_of_that():
    happened: dict[str, Any] = {
        "type": RecordType.EPISODE,
        "body": "It failed.",
        "provenance": Provenance("ci"),
        "now": NOW,
    }
    memory = Memory(store=MemoryStore())
    memory.add(new_record(**happened, occurred_at=NOW))
    other = new_record(**happened, occurred_at=NOW - timedelta(days=1))
    with pytest.raises(IllegalMove, match=r"has another occurred_at in the file than here; it stays as it is"):
        memory.add(other)


def test_tags_arrive_though_somebody_else_was_quicker(memory, monkeypatch):
    one = memory.remember("A fact.").record_id
    put = DirectoryStore.put
    others = iter([DirectoryStore("memory/records")])

    def overtaken(self: Any, record: Any, *, after: Any = None) -> int:
        for other in others:
            put(other, replace(other.get(one), tags=("theirs",)))
        return put(self, record, after=after)

    monkeypatch.setattr(DirectoryStore, "put", overtaken)
    assert memory.remember("A fact.", tags=("ours",)).record_id == one
    assert memory.store.get(one).tags == ("theirs", "ours")


def test_a_store_that_cannot_redact_says_so():
    class Bare:
        def __init__(self) -> None:
            inner = MemoryStore()
            self.put, self.get, self.history, self.list = inner.put, inner.get, inner.history, inner.list

    with Memory(store=Bare()) as memory:
        one = memory.remember("A fact.").record_id
        assert memory.recall("fact").ids == (one,)
        with pytest.raises(Refused, match="cannot redact"):
            memory.redact(one, "x")


@pytest.mark.slow
def test_an_id_may_be_shortened_as_long_as_it_is_one(memory):
    ids = [memory.remember(f"Fact {number}.").record_id for number in range(40)]
    assert memory.find_id(ids[0]) == memory.find_id(ids[0][4:]) == memory.find_id(ids[0][:16]) == ids[0]
    with pytest.raises(InvalidArgument, match="too short for the beginning of an id"):
        memory.find_id(ids[0][:7])
    for unknown in ("mem:nothing", "mem:", ""):
        with pytest.raises(UnknownRecord):
            memory.find_id(unknown)


def test_a_beginning_that_several_records_have_names_them_and_what_they_say(memory, monkeypatch):
    monkeypatch.setattr("agent_memory_protocol.text.ids.FEWEST", 1)
    ids = [memory.remember(f"Fact {number}.").record_id for number in range(17)]  # two begin with the same digit
    twice = next(one for one in ids if sum(other[4] == one[4] for other in ids) > 1)
    with pytest.raises(InvalidArgument, match=rf"several begin with {twice[4]}: .*{twice[4:]} \(Fact \d+\.\)"):
        memory.find_id(twice[:5])


# Signatures


@pytest.mark.requirement("S1-05", "S1-27", "S1-57")
def test_an_identity_is_made_once_and_signs_everything(memory):
    signed = Memory("memory", identity="agent.key")
    assert stat.S_IMODE(Path("agent.key").stat().st_mode) == 0o600
    address = Identity.load("agent.key").address
    one, other = disputed(signed)
    lost, won = signed.resolve(one.id, other.id, "x")
    signed.remember(NOT_POSTGRES, tags=("new",))
    for version in (lost, won, *signed.history(one.id)[:1], signed.store.get(other.id)):
        verify_record(version)
        assert version.signed_by == version.provenance.agent == address
    with Memory("memory", identity="agent.key") as again:
        assert again.remember("Another.").new
        assert {record.signed_by for record in again.records()} == {address}
        file = again.export()
        file.verify()
        assert file.agent == address
    keyed = Memory(store=MemoryStore(), identity=Identity.load("agent.key"))
    assert keyed.store.get(keyed.remember("One.").record_id).signed_by == address


@pytest.mark.skipif(os.name == "nt", reason="modes are those of POSIX")
def test_an_identity_that_others_may_read_is_refused():
    Memory("memory", identity="agent.key")
    Path("agent.key").chmod(0o640)
    with pytest.raises(StorageError, match="chmod 600"):
        Memory("memory", identity="agent.key")


def test_what_nobody_has_signed_can_be_signed_later(memory):
    ids = [memory.remember(f"Fact {number}.").record_id for number in range(3)]
    with pytest.raises(InvalidArgument, match="identity"):
        memory.sign()
    memory.redact(ids[2], "x")
    signer = Memory("memory", identity="agent.key")
    assert [record.id for record in signer.sign([ids[1]])] == [ids[1]]
    assert [record.id for record in signer.sign()] == [ids[0]]
    assert signer.sign() == ()
    for one in ids[:2]:
        verify_record(signer.store.get(one))
    assert signer.check().signed == 2
    signer.verify()


def changed(version: Record, **changes: Any) -> bytes:
    return replace(version, **changes).to_bytes()


@pytest.mark.slow
@pytest.mark.requirement("S1-06", "S1-50", "S1-58", "S1-63")
@pytest.mark.parametrize(
    ("damage", "error", "why"),
    [
        (lambda file, version: file.write_bytes(changed(version, confidence=0.1)), BadSignature, "version 1"),
        (lambda file, version: file.write_bytes(version.to_bytes() + b"\n"), DamagedFile, "000001.json"),
        (lambda file, _: file.rename(file.with_name("000003.json")), DamagedFile, "missing"),
        (
            lambda file, version: file.with_name("000003.json").write_bytes(version.to_bytes()),
            DamagedFile,
            "cannot become active",
        ),
        (
            lambda file, version: file.write_bytes(redact(version, reason="x", now=version.updated_at).to_bytes()),
            DamagedFile,
            "not every version",
        ),
    ],
)
def test_verifying_names_what_is_wrong(damage, error, why):
    with Memory("memory", identity="agent.key") as memory:
        good = memory.remember("A good fact.").record_id
        one = memory.remember("A fact.").record_id
        version = memory.store.get(one)
        memory.store.put(archive(version, reason="x", now=version.updated_at))
        memory.verify()
        assert memory.check().problems == ()
        damage(Path("memory", "records", one[4:], "000001.json"), version)
    with Memory("memory") as reopened:
        with pytest.raises(error, match=why):
            reopened.verify()
        (problem,) = reopened.check().problems
        assert why in problem
        assert reopened.recall("good").ids == (good,)


@pytest.mark.requirement("S1-06", "S1-38", "S1-59")
def test_an_export_is_one_file_that_anyone_can_verify(memory, tmp_path):
    memory.remember("A fact.")
    unsigned = memory.export()
    assert not unsigned.signature
    with pytest.raises(BadSignature):
        unsigned.verify()
    with Memory("memory", identity="agent.key") as signer:
        signer.remember("Another fact.")
        Path("out.json").write_text("something that was there before")
        file = signer.export("out.json")
    assert Path("out.json").read_bytes() == file.to_bytes() == file.to_json().encode()
    assert json.loads(file.to_json()) == file.to_dict()
    assert SignedMemoryFile.load(Path("out.json").read_bytes()).records == memory.records()
    assert file.to_dict()["format"] == "fg-agent-memory/0.1"
    with pytest.raises(StorageError):
        memory.export("nowhere/out.json")


@pytest.mark.requirement("S1-58")
def test_a_signature_that_does_not_verify_is_never_passed_over(tmp_path):
    """Recall marks it, and an export, which nobody could load, is refused until the record is signed again."""
    with Memory("memory", identity="agent.key") as memory:
        one = memory.remember("A fact.").record_id
        memory.remember("A good fact.")
        version = memory.store.get(one)
        file = Path("memory", "records", one[4:], "000001.json")
        file.write_bytes(changed(version, confidence=0.1))
    with Memory("memory", identity="agent.key") as memory:
        block = memory.recall("fact").as_prompt_block()
        assert block.splitlines() == ["- A good fact.", "- A fact. [signature does not verify]"]
        with pytest.raises(BadSignature, match=f"{one}: its signature does not verify; restore it, or sign it again"):
            memory.export("out.json")
        assert not Path("out.json").exists()
        memory.sign([one])
        SignedMemoryFile.load(memory.export("out.json").to_bytes())
        assert "[signature" not in memory.recall("fact").as_prompt_block()


def test_a_status_counts_what_there_is(memory):
    disputed(memory)
    memory.remember("A third thing.")
    status = memory.status()
    assert (status.records, status.disputes, status.problems) == (3, 1, ())
    assert status.by_state == {"transitional": 2, "active": 1}
    assert status.by_type == {"fact": 3}


# Looking after records

DEMO = """
memory = Memory("./memory")

a = memory.remember("The staging database is Postgres.")
b = memory.remember("The staging database is not Postgres.")

memory.consolidate()
print(memory.recall("staging database").as_prompt_block())

memory.resolve(a.record_id, b.record_id, "checked infra: staging moved off Postgres in March")

print(memory.recall("staging database").as_prompt_block())

print(memory.recall("staging database", include_history=True).as_prompt_block())
"""
PRINTED = """\
- The staging database is Postgres. [disputed: one side negates the other]
- The staging database is not Postgres. [disputed: one side negates the other]
- The staging database is not Postgres.
- The staging database is not Postgres.
- The staging database is Postgres. [superseded — kept for history]
"""


@pytest.mark.slow
@pytest.mark.requirement("S1-28", "S1-29", "S1-30", "S1-31", "S1-32", "S1-33")
def test_the_ghost_memory_demo_prints_what_it_promises():
    command = [sys.executable, "-c", f"from agent_memory_protocol import Memory\n{DEMO}"]
    environ = {**os.environ, "PYTHONIOENCODING": "utf-8"}
    done = subprocess.run(command, capture_output=True, encoding="utf-8", env=environ, check=True)
    assert done.stdout == PRINTED
    assert done.stderr == ""


@pytest.mark.requirement("S1-09", "S1-28", "S1-38")
def test_consolidating_marks_a_contradiction_once_and_decides_nothing(memory):
    ids = [memory.remember(text).record_id for text in (POSTGRES, NOT_POSTGRES)]
    shown = memory.consolidate(apply=False)
    assert [(action.kind, action.ids) for action in shown.done] == [("dispute", tuple(ids))]
    assert {record.state for record in memory.records()} == {State.ACTIVE}
    assert memory.consolidate().done == shown.done
    assert {record.state for record in memory.records()} == {State.TRANSITIONAL}
    assert memory.consolidate().done == ()
    memory.verify()


@pytest.mark.requirement("S1-25")
def test_after_every_few_records_the_new_ones_are_compared_with_what_resembles_them(memory):
    reports = [memory.remember(text).consolidation for text in (POSTGRES, "The sky is blue.", "Tea is hot.")]
    assert reports == [None] * 3
    done = memory.remember(NOT_POSTGRES)
    assert done.consolidation is not None
    assert [action.kind for action in done.consolidation.done] == ["dispute"]
    assert len(memory.records(state=State.TRANSITIONAL)) == 2
    with Memory("other", consolidate_every=0) as never, Memory("third", consolidate_every=1) as always:
        for text in (POSTGRES, NOT_POSTGRES) * 3:
            never.remember(text)
            always.remember(text)
        assert {record.state for record in never.records()} == {State.ACTIVE}
        assert {record.state for record in always.records()} == {State.TRANSITIONAL}


@pytest.mark.slow
def test_thirty_services_on_thirty_ports_stay_thirty_facts(memory):
    for number in range(30):
        memory.remember(f"service s{number} listens on port {1000 + number}")
    memory.consolidate()
    assert len(memory.records(state=State.ACTIVE)) == 30


@pytest.mark.slow
@pytest.mark.requirement("S1-11", "S1-44", "S1-62")
@pytest.mark.parametrize("how", ["resolve", "redact"])
def test_a_rule_is_flagged_the_moment_its_evidence_is_gone(memory, how):
    one, other = disputed(memory)
    others = [memory.remember(f"Thing {number}.").record_id for number in range(2)]
    source = Provenance("consolidation")
    rules = [
        new_record(RecordType.RULE, body, provenance=source, now=NOW, evidence=evidence)
        for body, evidence in (("One.", (one.id,)), ("Two.", (one.id, others[0])), ("Three.", (others[1],)))
    ]
    for rule in rules:
        memory.store.put(rule)
    if how == "resolve":
        memory.resolve(one.id, other.id, "x")
    else:
        memory.redact(one.id, "x")
    assert [memory.store.get(rule.id).flagged for rule in rules] == [True, False, False]
    assert "[flagged: all evidence" in memory.recall("one").as_prompt_block()
    memory.verify()


def test_a_rule_that_rests_on_records_out_of_sight_is_not_flagged_in_passing(memory):
    """Only some records are looked at when new ones are compared, and what a rule rests on may be none of them."""
    one, other = (memory.remember(text).record_id for text in ("The queue is Redis.", "Quite another thing."))
    rule = new_record(
        RecordType.RULE, "The queue rule.", provenance=Provenance("consolidation"), now=NOW, evidence=(one, other)
    )
    memory.store.put(rule)
    memory.store.put(archive(memory.store.get(one), reason="x", now=datetime.now(UTC)))
    for text in ("The queue is Redis Cluster.", "the queue has a rule", "the rule is in the queue", "Redis is a queue"):
        memory.remember(text)
    assert len(memory.history(rule.id)) == 1


class Splitting:
    """An extractor that makes a record of each line, whatever it is."""

    name = "splitting"

    def propose(self, question):
        return [
            Create(
                new_record(
                    RecordType(line.partition(" ")[0]),
                    line.partition(" ")[2],
                    provenance=question.provenance,
                    now=question.now,
                    evidence=("mem:" + "0" * 32,) if line.startswith("rule") else (),
                )
            )
            for line in question.text.split("\n")
        ]


@pytest.mark.requirement("S1-14", "S1-26", "S1-39", "S1-45", "S1-75")
def test_an_extractor_may_create_and_nothing_else(memory):
    with Memory("memory", extractor=Splitting(), identity="agent.key") as split:
        done = split.remember("fact One.\nrule Two.\nepisode Three.\nfact Four.", tags=("a",))
        assert (len(done.added), len(done.refused)) == (3, 1)
        assert "rule" in done.refused[0]
        again = split.remember("fact One.\nfact Five.")
        assert (again.record_id, again.known, len(again.added)) == (done.record_id, (done.record_id,), 1)
        nothing = split.remember("rule Six.")
        assert (nothing.record_id, nothing.new, len(nothing.refused)) == ("", False, 1)
        assert {(record.type.value, record.body) for record in split.records(tag="a")} == {
            ("fact", "One."),
            ("episode", "Three."),
            ("fact", "Four."),
        }
        assert all(record.signed for record in split.records())
        split.verify()


class Deciding:
    """A resolver that lets the newer side win."""

    name = "deciding"

    def propose(self, question):
        sides = [record for record in question.records if record.transition is not None]
        return [Resolve(sides[-1].id, sides[0].id, "newer")] if sides else []


@pytest.mark.requirement("S1-16", "S1-26", "S1-35")
def test_operators_propose_and_the_lifecycle_decides(memory):
    with Memory("memory", operators=Operators(resolution=(Deciding(),)), identity="agent.key") as deciding:
        one, other = (deciding.remember(text).record_id for text in (POSTGRES, NOT_POSTGRES))
        assert [action.kind for action in deciding.consolidate().done] == ["dispute", "resolve"]
        assert deciding.recall("staging").ids == (other,)
        assert [version.signed for version in deciding.history(one)] == [True] * 3
        deciding.verify()


@pytest.mark.requirement("S1-42", "S1-69", "S1-82")
def test_what_was_of_use_lately_does_not_decay(memory):
    long_ago = datetime.now(UTC) - timedelta(days=365)
    with Memory("memory", clock=lambda: long_ago) as old:
        ids = [old.remember(text).record_id for text in ("The sprint ends.", "The licence is Apache.")]
    assert memory.recall("licence").ids == (ids[1],)
    shown = memory.decay(apply=False)
    assert [action.ids for action in shown.done] == [(ids[0],)]
    assert len(memory.records(state=State.ARCHIVED)) == 0
    assert memory.decay().done == shown.done
    assert [record.id for record in memory.records(state=State.ARCHIVED)] == [ids[0]]
    assert memory.recall("sprint").ids == ()
    assert memory.recall("sprint", include_history=True).as_prompt_block() == "- The sprint ends. [archived]"


class Interrupted(Exception):
    """Stands for a process that is killed."""


@pytest.mark.slow
@pytest.mark.requirement("S1-44", "S1-64")
@pytest.mark.parametrize("work", ["consolidate", "resolve"])
def test_what_was_interrupted_is_finished_by_the_next_pass(memory, work, monkeypatch):
    texts = (POSTGRES, NOT_POSTGRES, "Deploys go out on Tuesdays.", "deploys go out on Tuesdays")
    with Memory("expected", consolidate_every=0, clock=lambda: NOW) as whole:
        for text in texts:
            whole.remember(text)
        whole.consolidate()
        if work == "resolve":
            whole.resolve(whole.records()[0].id, whole.records()[1].id, "x")
        expected = sorted((record.body, record.state) for record in whole.records())
    for writes in range(10):
        path = f"memory{writes}"
        with Memory(path, consolidate_every=0, clock=lambda: NOW) as memory:
            ids = [memory.remember(text).record_id for text in texts]
            if work == "resolve":
                memory.consolidate()
            left = writes
            put = DirectoryStore.put

            def dying(self: Any, record: Any, *, after: Any = None, put: Callable[..., int] = put) -> int:
                nonlocal left
                left -= 1
                if left < 0:
                    raise Interrupted
                return put(self, record, after=after)

            def call(memory: Memory = memory, ids: list[str] = ids) -> Any:
                return memory.consolidate() if work == "consolidate" else memory.resolve(ids[0], ids[1], "x")

            with monkeypatch.context() as patch:
                patch.setattr(DirectoryStore, "put", dying)
                try:
                    call()
                    finished = True
                except Interrupted:
                    finished = False
        with Memory(path, consolidate_every=0, clock=lambda: NOW) as again:
            with suppress(DamagedFile):  # a dispute of which one side was marked is told, until the next pass
                again.verify()
            again.consolidate()
            if work == "resolve" and again.store.get(ids[0]).state is State.TRANSITIONAL:
                again.resolve(ids[0], ids[1], "x")
            assert sorted((record.body, record.state) for record in again.records()) == expected
            again.verify()
        if finished:
            break
    assert writes > 1


def test_who_is_overtaken_while_consolidating_plans_anew(memory, monkeypatch):
    ids = [memory.remember(text).record_id for text in (POSTGRES, NOT_POSTGRES)]
    put = DirectoryStore.put
    others = iter([DirectoryStore("memory/records")])

    def overtaken(self: Any, record: Any, *, after: Any = None) -> int:
        for other in others:
            put(other, archive(other.get(ids[1]), reason="theirs", now=datetime.now(UTC)))
        return put(self, record, after=after)

    monkeypatch.setattr(DirectoryStore, "put", overtaken)
    report = memory.consolidate()
    monkeypatch.undo()
    assert memory.store.get(ids[1]).state is State.ARCHIVED
    memory.consolidate()
    assert memory.store.get(ids[0]).state is State.ACTIVE
    assert {action.kind for action in report.done} <= {"dispute", "resolve"}
    memory.verify()


@pytest.mark.slow
def test_two_processes_that_consolidate_at_once_do_it_once(memory):
    for number in range(10):
        memory.remember(f"Service {number} is up.")
        memory.remember(f"Service {number} is not up.")
    with Memory("plain", consolidate_every=0) as plain:
        for record in memory.records():
            plain.remember(record.body)
    program = "from agent_memory_protocol import Memory\nMemory('plain').consolidate()"
    workers = [subprocess.Popen([sys.executable, "-c", program], stderr=subprocess.PIPE, text=True) for _ in range(3)]
    assert [(worker.communicate()[1], worker.returncode) for worker in workers] == [("", 0)] * 3
    with Memory("plain") as plain:
        assert len(plain.records()) == 20
        assert {len(plain.history(record.id)) for record in plain.records()} == {2}
        assert plain.status().disputes == 10
        plain.verify()


@pytest.mark.slow
@pytest.mark.requirement("S1-62")
def test_a_rule_that_looks_like_what_is_new_keeps_its_evidence(tmp_path):
    """What is new is compared with what resembles it, and evidence that does not is there all the same."""
    episodes = [
        new_record(
            RecordType.EPISODE, f"Deploy {number} failed.", provenance=Provenance("test"), now=NOW, tags=("deploy",)
        )
        for number in range(3)
    ]
    store = MemoryStore()
    for episode in episodes:
        store.put(episode)
    with Memory(store=store, consolidate_every=1) as memory:
        memory.consolidate()
        (rule,) = memory.records(type=RecordType.RULE)
        for number in range(20):
            memory.remember(f"What happened {number} times most recently.")
        assert memory.records(type=RecordType.RULE) == (rule,)


# Finding


@pytest.mark.slow
@pytest.mark.requirement("S1-67")
@pytest.mark.parametrize(
    ("text", "query"),
    [
        ("重启之后队列会丢失，除非打开持久化", "队列丢失"),
        ("設定ファイルは毎回読み直される", "設定ファイル"),
        ("설정 파일은 저장소 루트에서만 찾는다", "설정 파일"),
        ("Die Größe der Tür ist 5 µm.", "grosse tur"),
        ("El café está en la oficina.", "cafe"),
        ("Call recall_for_agent before the task.", "recallForAgent"),
        ("Call recall_for_agent before the task.", "agent"),
        ("The settings are in src/config/settings_file.py.", "settings_file.py"),
        ("The migrations run before the tests.", "run migration"),
        ("Redis is pinned to version 7.2.4.", "7.2.4"),
    ],
)
def test_words_of_any_script_and_code_words_find_what_holds_them(memory, text, query):
    one = memory.remember(text).record_id
    for other in ("The door is green.", "今日は天気がいい", "Deploys go out on Tuesdays."):
        memory.remember(other)
    assert memory.recall(query).ids[:1] == (one,)


@pytest.mark.requirement("S1-16", "S1-26")
def test_several_indexes_answer_together(memory):
    indexes = (ScanIndex(), open_index())
    with Memory("memory", indexes=indexes) as two:
        one = two.remember("Redis needs AOF on.").record_id
        assert two.recall("redis").ids == (one,)
        two.redact(one, "x")
        assert [index.search("redis") for index in indexes] == [[], []]


@pytest.mark.slow
def test_threads_may_share_a_memory(memory):
    failed: list[BaseException] = []

    def work(number: int) -> None:
        try:
            for count in range(5):
                memory.remember(f"Thread {number} took step {count}.")
                memory.recall("step")
        except BaseException as error:
            failed.append(error)
            raise

    threads = [threading.Thread(target=work, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failed
    assert {record.body for record in memory.records()} >= {
        f"Thread {number} took step {count}." for number in range(4) for count in range(5)
    }


def test_what_another_process_made_and_changed_in_the_same_millisecond_is_there_already():
    class Raced(MemoryStore):
        """A store in which somebody has just made the record that comes, and archived it."""

        def put(self, record: Record, *, after: Record | None = None) -> int:
            if after is None and not self.list():
                super().put(record)
                super().put(archive(record, reason="done with", now=NOW + timedelta(seconds=1)), after=record)
            return super().put(record, after=after)

    with Memory(store=Raced(), clock=lambda: NOW) as memory:
        kept = memory.remember(POSTGRES)
        (record,) = memory.records()
        assert (kept.record_id, kept.new, record.state) == (record.id, False, State.ARCHIVED)


def test_what_this_process_has_changed_before_the_first_question_is_found_as_it_is_now(tmp_path):
    with Memory(tmp_path, consolidate_every=0) as memory:
        old = memory.remember("The API listens on port 8080.").record_id
    with Memory(tmp_path, consolidate_every=0) as memory:
        memory.remember("The API listens on port 9090.", replaces=old)
        assert [hit.record.body for hit in memory.recall("port")] == ["The API listens on port 9090."]
        assert memory.search("port", limit=1).left_out == 0


COLOURS = ("red", "green", "blue", "white", "black")


@pytest.mark.slow
@pytest.mark.parametrize("number", [4, 25])
def test_recall_gives_nothing_where_nothing_fits_and_search_shows_what_has_a_word(memory, number):
    for place in range(number):
        memory.remember(f"The {COLOURS[place % 5]} team of room {place} owns service s{place}.")
    query = "which horse did the blue grandmother ride through Vienna in winter?"
    assert bool(memory.recall(query)) is (number < 20)
    assert memory.recall(query).left_out == (5 if number == 25 else 0)
    assert memory.search(query).hits
    assert memory.recall("who owns service s3?").hits[0].record.body.endswith("s3.")


TAMPERED = {
    "a text": "UPDATE history SET payload = replace(payload, 'S3', 'S4')",
    "the first version gone": "DELETE FROM history WHERE version = 1",
    "the last version gone": "DELETE FROM history WHERE version = 2",
    "a record gone": "DELETE FROM history",
    "the state that people query": "UPDATE records SET state = 'active'",
    "the text that people query": "UPDATE records SET payload = replace(payload, 'S3', 'S4')",
    "no row that people query": "DELETE FROM records",
    "a tag that people query": "UPDATE record_tags SET tag = 'other' WHERE tag = 'a'",
    "no tag that people query": "DELETE FROM record_tags",
    "a tag more that people query": "INSERT INTO record_tags SELECT record_id, 'other' FROM records",
}


@pytest.mark.slow
@pytest.mark.parametrize("sql", TAMPERED.values(), ids=TAMPERED)
def test_what_somebody_changed_in_any_table_of_a_database_does_not_verify(tmp_path, monkeypatch, sql):
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    path = tmp_path / "all.sqlite"
    with Memory(store=SqliteStore(path)) as made:
        made.archive(made.remember("Logs go to S3, “always”.", tags=["a", "ü"]).record_id, "over")
        made.verify()
        assert made.check().problems == ()
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute(sql)
    with Memory(store=SqliteStore(path)) as again:
        assert len(again.check().problems) == 1
        with pytest.raises(DamagedFile):
            again.verify()


def test_a_path_that_ends_in_sqlite_is_one_file_and_a_folder_of_that_name_a_folder(tmp_path):
    path = tmp_path / "memory.sqlite"
    for _ in range(2):
        with Memory(path) as memory:
            memory.remember("The cache is Redis.")
    assert path.is_file()
    with Memory(store=SqliteStore(path)) as memory:
        assert [one.body for one in memory.records()] == ["The cache is Redis."]
    (tmp_path / "folder.sqlite").mkdir()
    with Memory(tmp_path / "folder.sqlite") as memory:
        memory.remember("The cache is Redis.")
    assert (tmp_path / "folder.sqlite" / "records").is_dir()


class Near:
    """An embedder for which texts about the harbour lie close to each other, and all others at a cosine of 0.3."""

    name, dimensions, fits_at = "near", 2, 0.7

    def embed(self, texts):
        return [(0.6, 0.8) if "harbour" in text else (0.943, -0.332) for text in texts]


def test_with_a_model_nothing_is_recalled_that_lies_far_from_the_query():
    with Memory(store=MemoryStore(), embedder=Near()) as memory:
        for number in range(25):
            memory.remember(f"Ship {number} lies in the harbour, berth {number + 100}.")
        assert memory.recall("Where does the harbour keep vessels?")
        far = memory.recall("the dentist's bill")
        assert not far
        assert far.left_out
        assert all(one.fit < 0.2 for one in memory.search("the dentist's bill"))


@pytest.mark.slow
@pytest.mark.parametrize("where", ["directory", "file.sqlite", "server"])
def test_what_a_limit_leaves_out_is_counted_and_the_best_comes_first_on_every_store(tmp_path, where, request):
    place = request.getfixturevalue("address") if where == "server" else tmp_path / where
    words = ["alpha", "beta", "gamma", "delta", "epsilon", "zeta"]
    chance = random.Random(7)
    with Memory(place, consolidate_every=0) as memory:
        ids = [
            memory.remember(f"Unit {one} has {' '.join(chance.sample(words, chance.randint(1, 4)))}.").record_id
            for one in range(90)
        ]
        for _ in range(8):
            memory.archive(ids.pop(), "gone")
            memory.supersede(ids.pop(), ids[0], "newer")
            memory.dispute(ids.pop(), ids.pop(), "unclear")
        for history, since in product((False, True), (None, date(2020, 1, 1))):
            everything = memory.search("alpha beta", limit=1000, include_history=history, since=since)
            came_along = ("the other side", "replaced by")
            matching = {one.record.id for one in everything if not one.reasons[0].startswith(came_along)}
            assert everything.left_out == 0
            assert len(matching) > 41
            for limit in (1, 2, 20, 39, 40, 41, 60):
                found = memory.search("alpha beta", limit=limit, include_history=history, since=since)
                assert len(matching.intersection(found.ids)) + found.left_out == len(matching)
                assert limit > 40 or found.ids == everything.ids[:limit]
                for one in found:
                    other = partner_of(one.record) or ""
                    assert other in ("", *found.ids) or any(other in reason for reason in one.reasons)
        found = memory.recall("alpha beta", include_history=True)
        assert len(matching.intersection(found.ids)) + found.left_out == len(matching)
        assert memory.search("alpha", limit=3, since=date(2999, 1, 1)).left_out == 0


@pytest.mark.slow
@pytest.mark.parametrize("where", ["directory", "file.sqlite", "fed", "asked"])
def test_a_question_for_what_has_changed_reads_only_what_it_gives(tmp_path, where, request, monkeypatch):
    place = request.getfixturevalue("address") if where in ("fed", "asked") else tmp_path / where
    now = NOW
    with Memory(place, consolidate_every=0, clock=lambda: now) as memory:
        for number in range(300):
            memory.remember(f"Unit {number} has a valve.")
        now += timedelta(days=3)
        late = {memory.remember(f"Unit {number} has a new valve.").record_id for number in range(300, 305)}
        late.add(memory.archive(memory.records()[0].id, "gone").id)
    store = SharedStore(str(place)) if where == "asked" else None
    read: list[str] = []
    with Memory(None if store else place, store=store, consolidate_every=0, clock=lambda: now) as memory:
        memory.search("valve")
        get, newest = memory.store.get, getattr(memory.store, "newest", tuple)

        def one_by_one(record_id: str) -> Record:
            read.append(record_id)
            return get(record_id)

        def at_once(ids: Any) -> Any:
            read.extend(chosen := [*ids])
            return newest(chosen)

        monkeypatch.setattr(memory.store, "get", one_by_one)
        monkeypatch.setattr(memory.store, "newest", at_once, raising=False)
        day = now.date()
        found = memory.search("valve", limit=3, since=day)
        assert (len(found), found.left_out) == (3, 2)
        assert {*found.ids} < late
        assert {*memory.search("valve", limit=9, include_history=True, since=day).ids} == late
        assert len(read) < 50
        assert memory.search("valve", limit=3, since=NOW.date()).left_out == 301


def test_what_is_gone_does_not_crowd_out_what_holds(memory):
    for number in range(60):
        memory.archive(memory.remember(f"Port port {number}.").record_id, "gone")
    held = memory.remember("Among the many things that are said of it, the gateway has a port.").record_id
    assert memory.search("port", limit=1, include_history=True).ids == (held,)
    assert memory.recall("port", include_history=True).ids[0] == held

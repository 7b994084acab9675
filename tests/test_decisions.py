"""What people decide about records: what was replaced, put away and brought back, and how it shows in each door."""

import subprocess

import pytest

from agent_memory_protocol import Memory
from agent_memory_protocol.consolidation.proposals import Stage
from agent_memory_protocol.errors import IllegalMove, InvalidArgument, UnknownRecord
from agent_memory_protocol.records.record import State
from agent_memory_protocol.records.signing import Identity
from agent_memory_protocol.records.sqlite_store import MemoryStore
from tests.each_row import each_row

OLD, NEW = "The API listens on port 8080.", "The API listens on port 9090."


@pytest.fixture
def memory() -> Memory:
    return Memory(store=MemoryStore(), consolidate_every=0)


def said(memory: Memory, query: str) -> list[str]:
    return [hit.record.body for hit in memory.recall(query)]


def test_a_fact_that_was_replaced_is_read_in_the_chain_and_not_recalled(memory):
    old = memory.remember(OLD, tags=["api"]).record_id
    new = memory.remember(NEW, replaces=old).record_id
    assert said(memory, "API port") == [NEW]
    assert [(one.id, one.state) for one in memory.chain(old)] == [(old, State.SUPERSEDED), (new, State.ACTIVE)]
    assert memory.chain(new) == memory.chain(old)
    assert memory.store.get(new).tags == ("api",)
    assert memory.check().problems == ()
    with pytest.raises(IllegalMove, match=f"superseded, so nothing new replaces it; {new} replaced it"):
        memory.remember("The API listens on port 7070.", replaces=old)
    with pytest.raises(UnknownRecord):
        memory.remember("Another.", replaces="mem:" + "0" * 32)
    assert len(memory.records()) == 2


def test_the_chain_holds_all_that_one_fact_replaced_and_what_was_brought_back(memory):
    late = memory.remember(NEW).record_id
    olds = [memory.remember(f"The API listens on port {port}.").record_id for port in (8080, 8081)]
    for old in olds:
        memory.supersede(old, late, "moved")
    assert [one.id for one in memory.chain(late)] == [*olds, late]
    memory.archive(late, "never came to it")
    back = memory.reactivate(olds[0], "still there").id
    last = memory.remember("The API listens on port 7070.", replaces=back).record_id
    chain = [one.id for one in memory.chain(olds[1])]
    assert sorted(chain) == sorted([*olds, late, back, last])
    for old, new in ((olds[0], late), (olds[1], late), (olds[0], back), (back, last)):
        assert chain.index(old) < chain.index(new)
    assert all([one.id for one in memory.chain(each)] == chain for each in chain)
    alone = memory.remember("Logs go to S3.").record_id
    assert [one.id for one in memory.chain(alone)] == [alone]
    assert memory.chain("mem:" + "0" * 32) == ()


def test_what_is_disputed_is_not_replaced_and_nothing_is_written(memory):
    old, other = memory.remember(OLD).record_id, memory.remember(NEW).record_id
    memory.dispute(old, other, "which?")
    with pytest.raises(IllegalMove):
        memory.remember("The API listens on port 7070.", replaces=old)
    with pytest.raises(IllegalMove):
        memory.supersede(old, other, "moved")
    assert len(memory.records()) == 2


def test_an_archived_record_comes_back_as_another_one_that_names_it(memory):
    old = memory.remember(OLD, tags=["api"]).record_id
    assert memory.archive(old, "gone").state is State.ARCHIVED
    assert said(memory, "API port") == []
    back = memory.reactivate(old, "needed after all")
    assert (back.body, back.tags, back.supersedes) == (OLD, ("api",), old)
    assert said(memory, "API port") == [OLD]
    assert memory.reactivate(old, "again").id == back.id
    assert [one.id for one in memory.chain(back.id)] == [old, back.id] == [one.id for one in memory.chain(old)]
    with pytest.raises(IllegalMove, match="nothing to bring back"):
        memory.reactivate(back.id, "again")
    memory.redact(old, "secret")
    with pytest.raises(IllegalMove, match="redacted"):
        memory.reactivate(old, "again")
    assert memory.check().problems == ()


def test_archiving_one_side_of_a_dispute_frees_the_other(memory):
    one, other = memory.remember(OLD).record_id, memory.remember(NEW).record_id
    memory.dispute(one, other, "which?")
    memory.archive(one, "neither matters")
    assert said(memory, "API port") == [NEW]
    assert memory.recall("API port").as_prompt_block() == f"- {NEW}"


def test_what_changed_is_said_and_decided_by_a_person_only(memory):
    old, new = memory.remember(OLD).record_id, memory.remember(NEW).record_id
    report = memory.consolidate()
    (changed,) = report.deferred
    assert (changed.stage, changed.ids) == (Stage.CONTRADICTION, (old, new))
    assert f"amp resolve {old} {new}" in changed.reason
    assert report.done == ()
    memory.supersede(old, new, "moved")
    assert memory.consolidate().deferred == ()


@pytest.mark.slow
def test_what_did_not_fit_is_counted_truly_and_the_limits_are_the_callers(memory):
    for number in range(60):
        memory.remember(f"Service s{number} writes its logs to bucket b{number}.")
    gone = memory.remember("Service s99 writes its logs to bucket b99.").record_id
    memory.archive(gone, "over")
    few, all_of_them = memory.search("logs bucket", limit=5), memory.search("logs bucket", limit=100)
    assert (len(few), few.left_out, len(all_of_them), all_of_them.left_out) == (5, 55, 60, 0)
    large, small = (memory.recall("logs bucket", budget_tokens=budget) for budget in (10_000, 100))
    assert (len(large), large.left_out) == (60, 0)
    assert len(small) + small.left_out == 60
    assert len(memory.search("logs bucket", limit=50, include_history=True)) == 50
    assert memory.search("logs bucket", limit=50, include_history=True).left_out == 11


def test_what_cannot_sign_is_refused_by_name():
    class KeyPair:
        secret = b""

    with pytest.raises(InvalidArgument, match="KeyPair has not"):
        Memory(store=MemoryStore(), identity=KeyPair())  # type: ignore[arg-type]


@each_row("returned", [b"", bytes(64), "text", None])
def test_what_signs_wrongly_writes_nothing(returned):
    class KeyPair:
        address = Identity.generate().address

        def sign(self, _):
            return returned

    with Memory(store=MemoryStore(), identity=KeyPair()) as memory:
        with pytest.raises(InvalidArgument, match="what its sign returned does not verify"):
            memory.remember("The vault is sealed at night.")
        assert memory.records() == ()


def test_a_new_private_key_in_a_checkout_is_ignored_by_git(tmp_path):
    subprocess.run(["git", "init", "-q", str(tmp_path)], check=True)
    (tmp_path / "keys").mkdir()
    Memory(store=MemoryStore(), identity=tmp_path / "keys" / "own.key")
    told = subprocess.run(
        ["git", "-C", str(tmp_path), "status", "--porcelain", "-uall"], check=True, capture_output=True, text=True
    )
    assert told.stdout == ""

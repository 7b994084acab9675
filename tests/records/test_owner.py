"""What the owner has signed holds until the owner signs something else; without an identity the newest version does."""

from dataclasses import replace as changed
from datetime import UTC, datetime

import pytest

from agent_memory_protocol import Memory
from agent_memory_protocol.records.proof import CHANGED, FOREIGN, SET_BACK, Owner
from agent_memory_protocol.records.record import State

pytest.importorskip("nacl")

NOW = datetime(2026, 11, 15, 12, tzinfo=UTC)
RULE, OTHER = "Deploys need two reviews.", "Deploys need no reviews."


@pytest.fixture(params=["memory", "memory.sqlite"])
def opened(request, tmp_path):
    made = []

    def open_as(name):
        key = None if name is None else tmp_path / f"{name}.key"
        made.append(Memory(tmp_path / request.param, identity=key, consolidate_every=0))
        return made[-1]

    yield open_as
    for memory in made:
        memory.close()


def archive(memory, rule):
    memory.archive(rule, "no longer wanted")


def replace(memory, rule):
    memory.remember(OTHER, replaces=rule)


def dispute(memory, rule):
    memory.dispute(rule, memory.remember(OTHER).record_id, "they differ")


def consolidate(memory, rule):
    memory.remember("Deploys do not need two reviews.")
    memory.consolidate()


WAYS = [archive, replace, dispute, consolidate]


def seen(memory):
    """Return by each way of reading what holds of the rule: its line, or its state."""
    lines = [line for line in memory.recall("deploys reviews").as_prompt_block().splitlines() if RULE in line]
    hits = [hit.line for hit in memory.search("deploys reviews", limit=5) if hit.record.body == RULE]
    return lines, hits, [one.state for one in memory.records() if one.body == RULE]


@pytest.mark.parametrize("way", WAYS)
def test_nobody_else_hides_or_replaces_what_the_owner_has_signed(opened, way):
    rule = opened("owner").remember(RULE).record_id
    way(opened("stranger"), rule)
    owner = opened("owner")
    line = f"- {RULE} [{CHANGED}]"
    assert seen(owner) == ([line], [line], [State.ACTIVE])
    assert owner.records(state="active")[0].id == rule
    assert rule in owner.check().foreign


@pytest.mark.requirement("S1-57")
@pytest.mark.parametrize("way", WAYS)
def test_a_change_of_state_that_nobody_has_signed_holds_and_is_named(opened, way):
    rule = opened("owner").remember(RULE).record_id
    way(opened(None), rule)
    owner = opened("owner")
    assert [one.state for one in owner.records() if one.id == rule] == [owner.history(rule)[-1].state]
    assert CHANGED not in owner.recall("deploys reviews", include_history=True).as_prompt_block()
    assert rule in owner.check().foreign


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("reader", [None, "owner"])
def test_what_the_owner_decides_holds(opened, way, reader):
    rule = opened("owner").remember(RULE).record_id
    way(opened("owner"), rule)
    read = opened(reader)
    assert CHANGED not in read.recall("deploys reviews", include_history=True).as_prompt_block()
    assert [one.state for one in read.records() if one.id == rule] == [opened(None).history(rule)[-1].state]


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("who", [None, "stranger"])
def test_without_an_identity_or_with_another_one_the_newest_version_holds(opened, way, who):
    rule = opened("owner").remember(RULE).record_id
    way(opened("stranger"), rule)
    read = opened(who)
    assert CHANGED not in read.recall("deploys reviews", include_history=True).as_prompt_block()
    assert [one.state for one in read.records() if one.id == rule] == [read.history(rule)[-1].state]


def test_a_change_that_the_owner_signs_holds(opened):
    rule = opened("owner").remember(RULE).record_id
    archive(opened("stranger"), rule)
    opened("owner").sign([rule])
    assert seen(opened("owner")) == ([], [], [State.ARCHIVED])


def test_a_signature_that_was_copied_onto_a_change_hides_nothing(opened):
    rule = opened("owner").remember(RULE).record_id
    first = opened(None).history(rule)[0]
    archive(opened(None), rule)
    memory = opened(None)
    last = memory.history(rule)[-1]
    memory.store.put(changed(last, signed_by=first.signed_by, signature=first.signature), after=last)
    assert seen(opened("owner"))[2] == [State.ACTIVE]


def test_what_another_has_signed_alone_is_as_it_was(opened):
    rule = opened("stranger").remember(RULE).record_id
    owner = opened("owner")
    assert seen(owner) == ([f"- {RULE} [{FOREIGN}]"], [f"- {RULE} [{FOREIGN}]"], [State.ACTIVE])
    archive(opened("stranger"), rule)
    assert seen(opened("owner"))[0] == []


def test_among_several_writers_what_any_of_them_signs_holds(opened):
    owner = opened("owner")
    rule = owner.remember(RULE).record_id
    archive(opened("stranger"), rule)
    signed = owner.history(rule)
    shared = Owner(signed[0].signed_by, owner.history, has_writers=True)
    assert shared.hold(signed[-1]) == signed[-1]
    assert Owner(signed[0].signed_by, owner.history).hold(signed[-1]) == signed[0]
    stripped = changed(signed[-1], signed_by=None, signature="")
    over_own, over_strange = [signed[0], stripped], [*signed, stripped]
    assert Owner(signed[0].signed_by, lambda _: over_own).hold(stripped) == stripped
    assert Owner(signed[0].signed_by, lambda _: over_strange).hold(stripped) == signed[0]


def test_what_the_owner_imports_over_a_record_of_its_own_is_the_owners(opened, tmp_path):
    owner, stranger = opened("owner"), opened("stranger")
    rule = owner.remember(RULE).record_id
    with Memory(tmp_path / "elsewhere", identity=tmp_path / "stranger.key") as elsewhere:
        elsewhere.add(stranger.history(rule)[-1])
        elsewhere.archive(rule, "no longer wanted")
        owner.add(elsewhere.history(rule)[-1])
    assert seen(opened("owner")) == ([], [], [State.ARCHIVED])


@pytest.mark.parametrize("mark", [CHANGED, SET_BACK, FOREIGN])
def test_a_text_cannot_pass_for_the_mark(opened, mark):
    opened(None).remember(f"{RULE} [{mark}]")
    assert f"[{mark}]" not in opened(None).recall("deploys reviews").as_prompt_block()


@pytest.mark.parametrize("who", [None, "owner"])
def test_a_record_that_was_set_back_is_marked_until_it_is_as_new_again(tmp_path, who):
    key = None if who is None else tmp_path / "owner.key"
    with Memory(tmp_path / "memory", identity=key) as memory:
        rule = memory.remember(RULE).record_id
        memory.remember(OTHER)
        archive(memory, rule)
    [last] = (tmp_path / "memory/records" / rule.removeprefix("mem:")).glob("*2.json")
    content = last.read_bytes()
    last.unlink()
    for _ in range(2):  # what was seen is not forgotten by looking
        with Memory(tmp_path / "memory", identity=key) as memory:
            block = memory.recall("deploys reviews").as_prompt_block().splitlines()
            assert sorted(block) == sorted([f"- {OTHER}", f"- {RULE} [{SET_BACK}]"])
    last.write_bytes(content)
    with Memory(tmp_path / "memory", identity=key) as memory:
        assert memory.recall("deploys reviews").as_prompt_block() == f"- {OTHER}"

"""The lifecycle: every legal move ends in a legal record, every other one is refused and changes nothing."""

import json
import re
from collections.abc import Callable
from dataclasses import fields, replace
from datetime import UTC, datetime, timedelta
from itertools import product
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.stateful import Bundle, RuleBasedStateMachine, initialize, invariant, rule

from agent_memory_protocol.errors import DamagedFile, IllegalMove
from agent_memory_protocol.records.lifecycle import (
    MOVES,
    NO_EVIDENCE,
    archive,
    check_version,
    dispute,
    is_legal,
    redact,
    refresh_flag,
    resolve,
    supersede,
)
from agent_memory_protocol.records.proof import check_history
from agent_memory_protocol.records.record import Provenance, Record, RecordType, State, Transition, new_record
from agent_memory_protocol.records.sqlite_store import MemoryStore
from tests.each_row import each_row

NOW = datetime(2026, 11, 15, 12, tzinfo=UTC)
LATER = NOW + timedelta(days=1)
BIRTH = ("id", "type", "body", "slots", "created_at", "occurred_at", "provenance", "extra")
WHY: dict[str, Any] = {"reason": "because", "now": LATER}


def fact(body: str, **changes: Any) -> Record:
    return new_record(RecordType.FACT, body, provenance=Provenance("test"), now=NOW, **changes)


def rule_on(*evidence: Record) -> Record:
    ids = tuple(record.id for record in evidence)
    return new_record(RecordType.RULE, "A rule.", provenance=Provenance("test"), now=NOW, evidence=ids)


A, B = fact("The database is Postgres."), fact("The database is not Postgres.")
SUCCESSOR = fact("The database is SQLite.", supersedes=A.id)
ONE, OTHER = dispute(A, B, **WHY)
WON, LOST = resolve(ONE, OTHER, **WHY)
IN: dict[State, Record] = {
    State.ACTIVE: A,
    State.TRANSITIONAL: ONE,
    State.SUPERSEDED: supersede(A, SUCCESSOR, **WHY),
    State.ARCHIVED: archive(A, **WHY),
}


def birth_of(record: Record) -> list[object]:
    return [getattr(record, name) for name in BIRTH]


@pytest.mark.requirement("S1-07", "S1-12")
def test_the_table_lists_the_seven_legal_moves():
    assert {(move.source.value, move.target.value) for move in MOVES} == {
        ("active", "superseded"),
        ("active", "transitional"),
        ("active", "archived"),
        ("transitional", "active"),
        ("transitional", "superseded"),
        ("transitional", "archived"),
        ("superseded", "archived"),
    }
    assert sum(is_legal(*pair) for pair in product(State, State)) == len(MOVES)
    assert not any(is_legal(State.ARCHIVED, state) for state in State)


DOES: dict[str, Callable[[Record], object]] = {
    "supersede": lambda record: supersede(record, SUCCESSOR, **WHY),
    "dispute": lambda record: dispute(record, B, **WHY),
    "dispute, the other way": lambda record: dispute(B, record, **WHY),
    "win": lambda record: resolve(record, OTHER, **WHY),
    "lose": lambda record: resolve(OTHER, record, **WHY),
    "archive": lambda record: archive(record, **WHY),
}
MAY = {
    ("supersede", State.ACTIVE),
    ("dispute", State.ACTIVE),
    ("dispute, the other way", State.ACTIVE),
    ("win", State.TRANSITIONAL),
    ("lose", State.TRANSITIONAL),
    # It left the dispute by being archived, and its other side is set free.
    ("lose", State.ARCHIVED),
    ("archive", State.ACTIVE),
    ("archive", State.TRANSITIONAL),
    ("archive", State.SUPERSEDED),
}


@pytest.mark.requirement("S1-07", "S1-12", "S1-44")
@each_row("move, state", list(product(DOES, State)))
def test_a_move_works_from_the_states_that_the_table_names_and_from_no_other(move, state):
    if (move, state) in MAY:
        DOES[move](IN[state])
    else:
        with pytest.raises(IllegalMove) as caught:
            DOES[move](IN[state])
        assert "\n" not in str(caught.value)
        assert caught.value.exit_code == 3


@pytest.mark.requirement("S1-08")
def test_superseding_names_the_successor_and_the_reason():
    old = supersede(A, SUCCESSOR, reason="moved in March", now=LATER)
    assert (old.state, old.superseded_by, old.state_reason, old.updated_at) == (
        State.SUPERSEDED,
        SUCCESSOR.id,
        "moved in March",
        LATER,
    )
    assert birth_of(old) == birth_of(A)
    for successor in (B, replace(A, supersedes=A.id), archive(SUCCESSOR, **WHY)):
        with pytest.raises(IllegalMove):
            supersede(A, successor, **WHY)


@pytest.mark.requirement("S1-08", "S1-30", "S1-61", "S1-83")
@pytest.mark.parametrize("reason", ["", " \n\t"])
def test_no_move_without_a_reason(reason):
    moves: list[Callable[..., object]] = [
        lambda **why: supersede(A, SUCCESSOR, **why),
        lambda **why: dispute(A, B, **why),
        lambda **why: resolve(ONE, OTHER, **why),
        lambda **why: archive(A, **why),
        lambda **why: redact(A, **why),
    ]
    for move in moves:
        with pytest.raises(IllegalMove, match="say why"):
            move(reason=reason, now=LATER)


@pytest.mark.requirement("S1-09", "S1-28", "S1-60")
def test_a_contradiction_leaves_both_sides_standing_and_pointing_at_each_other():
    assert ONE.transition == OTHER.transition == Transition((A.id, B.id), "because")
    assert birth_of(ONE) == birth_of(A)
    assert birth_of(OTHER) == birth_of(B)
    with pytest.raises(IllegalMove, match="cannot contradict itself"):
        dispute(A, A, **WHY)


@pytest.mark.requirement("S1-30", "S1-61")
def test_a_resolution_has_a_winner_a_loser_and_a_reason():
    for winner, loser in ((ONE, OTHER), (OTHER, ONE)):
        won, lost = resolve(winner, loser, reason="checked", now=LATER)
        assert (won.state, won.transition, won.state_reason) == (State.ACTIVE, None, "checked")
        assert (lost.state, lost.transition, lost.superseded_by) == (State.SUPERSEDED, None, winner.id)
        assert lost.state_reason == "checked"
    third, _ = dispute(fact("Third."), fact("Fourth."), **WHY)
    again, _ = dispute(A, B, reason="another reason", now=LATER)
    for winner, loser in ((ONE, third), (third, ONE), (ONE, ONE), (OTHER, again)):
        with pytest.raises(IllegalMove, match="not the two sides of one dispute"):
            resolve(winner, loser, **WHY)


@pytest.mark.requirement("S1-61")
def test_the_side_that_is_left_when_the_other_is_archived_or_redacted_can_win():
    for gone in (archive(OTHER, **WHY), redact(OTHER, **WHY)):
        won, lost = resolve(ONE, gone, reason="the other is gone", now=LATER)
        assert won.state is State.ACTIVE
        assert lost is gone
    with pytest.raises(IllegalMove):
        resolve(ONE, archive(fact("Somebody else."), **WHY), **WHY)


@pytest.mark.requirement("S1-12", "S1-13")
def test_archiving_keeps_everything_but_the_dispute():
    gone = archive(ONE, reason="old", now=LATER)
    assert (gone.state, gone.transition, gone.state_reason, gone.body) == (State.ARCHIVED, None, "old", A.body)
    assert archive(IN[State.SUPERSEDED], **WHY).superseded_by == SUCCESSOR.id


@pytest.mark.requirement("S1-10", "S1-11", "S1-62")
def test_a_rule_is_flagged_when_no_evidence_is_live_and_unflagged_when_any_is():
    rule = rule_on(A, B)
    dead = {A.id: archive(A, **WHY), B.id: supersede(B, fact("x", supersedes=B.id), **WHY)}
    flagged = refresh_flag(rule, dead, now=LATER)
    assert (flagged.flagged, flagged.flag_reason, flagged.state) == (True, NO_EVIDENCE, State.ACTIVE)
    assert refresh_flag(flagged, dead, now=LATER) is flagged
    for live in (A, ONE):
        cleared = refresh_flag(flagged, dead | {A.id: live}, now=LATER)
        assert (cleared.flagged, cleared.flag_reason) == (False, None)
    assert refresh_flag(rule, {A.id: A, B.id: None}, now=LATER) is rule
    assert refresh_flag(rule, {A.id: None, B.id: None}, now=LATER).flagged
    assert refresh_flag(rule, {A.id: redact(A, **WHY), B.id: None}, now=LATER).flagged


@pytest.mark.requirement("S1-62")
def test_a_flag_is_never_set_from_a_part_of_the_evidence():
    with pytest.raises(IllegalMove, match=f"also rests on {B.id}"):
        refresh_flag(rule_on(A, B), {A.id: A}, now=LATER)
    with pytest.raises(IllegalMove, match="only rules"):
        refresh_flag(A, {}, now=LATER)


@pytest.mark.requirement("S1-83")
def test_a_tombstone_keeps_the_links_and_nothing_that_was_said():
    secret = fact("The code is 4711.", slots={"code": 4711}, tags=("4711",), occurred_at=NOW, supersedes=A.id)
    full = replace(secret, state_reason="4711", extra={"note": "4711"}, signed_by="4711", signature="4711")
    stone = redact(supersede(full, fact("x", supersedes=full.id), **WHY), reason="a door code", now=LATER)
    assert "4711" not in stone.to_bytes().decode()
    assert (stone.id, stone.type, stone.created_at) == (full.id, full.type, full.created_at)
    assert (stone.supersedes, stone.superseded_by) == (A.id, fact("x", supersedes=full.id).id)
    assert stone.to_json() | {"redacted": True} == stone.to_json()
    assert (stone.body, stone.state, stone.confidence) == ("[redacted]", State.ARCHIVED, 0)
    assert (stone.redaction_reason, stone.birth_digest) == ("a door code", full.digest())
    assert redact(rule_on(A), **WHY).evidence == (A.id,)
    for record in IN.values():
        assert redact(record, **WHY).redacted
    with pytest.raises(IllegalMove, match="redacted already"):
        redact(stone, **WHY)
    for move in (lambda: archive(stone, **WHY), lambda: dispute(stone, A, **WHY)):
        with pytest.raises(IllegalMove):
            move()


def test_a_clock_that_was_set_back_does_not_make_a_version_older_than_the_one_before():
    late = replace(A, updated_at=LATER)
    assert archive(late, reason="x", now=NOW).updated_at == LATER
    assert redact(late, reason="x", now=NOW).updated_at == LATER


@pytest.mark.requirement("S1-83")
@given(st.from_type(Record), st.text(min_size=1).filter(str.strip))
def test_every_record_can_be_redacted_once(record, reason):
    if record.redacted:
        return
    try:
        stone = redact(record, reason=reason, now=LATER)
    except ValueError:
        assert not reason.isascii(), "only what has no spelling is refused"
        return
    assert stone.id == record.id
    assert Record.from_bytes(stone.to_bytes()) == stone
    assert stone.updated_at >= record.updated_at


# What may follow what, as stores ask

FOLLOWS = {
    "the same again": (A, A),
    "signed": (A, replace(A, signed_by="x", signature="y")),
    "surer": (A, replace(A, confidence=0.5, tags=("new",))),
    "flagged": (rule_on(A), replace(rule_on(A), flagged=True)),
    "archived, signed": (IN[State.ARCHIVED], replace(IN[State.ARCHIVED], signed_by="x", signature="y")),
    "archived, flagged": (
        archive(rule_on(A), **WHY),
        refresh_flag(archive(rule_on(A), **WHY), {A.id: None}, now=LATER),
    ),
    "active to superseded": (A, IN[State.SUPERSEDED]),
    "active to transitional": (A, ONE),
    "transitional to active": (ONE, WON),
    "transitional to superseded": (OTHER, LOST),
    **{f"{state} to archived": (IN[state], archive(IN[state], **WHY)) for state in IN if state is not State.ARCHIVED},
}
CANNOT_FOLLOW = {
    "another record": (A, B),
    "alive again": (IN[State.ARCHIVED], A),
    "undecided again": (IN[State.SUPERSEDED], ONE),
    "decided by nobody": (ONE, A),
    "decided for no reason": (ONE, replace(WON, state_reason=" ")),
    "lost for no reason": (OTHER, replace(LOST, state_reason=None)),
    "lost to a third": (OTHER, replace(LOST, superseded_by=SUCCESSOR.id)),
    "lost to itself": (OTHER, replace(LOST, superseded_by=OTHER.id)),
    "replaced for no reason": (A, replace(IN[State.SUPERSEDED], state_reason=None)),
    "archived for no reason": (A, replace(IN[State.ARCHIVED], state_reason="")),
    "archived for another reason": (IN[State.ARCHIVED], replace(IN[State.ARCHIVED], state_reason="x")),
    "another successor": (IN[State.SUPERSEDED], replace(IN[State.SUPERSEDED], superseded_by=B.id)),
    "another transition": (ONE, replace(ONE, transition=Transition((A.id, SUCCESSOR.id), "x"))),
    "another moment": (A, replace(A, occurred_at=NOW)),
    "a tombstone": (A, redact(A, **WHY)),
    "after a tombstone": (redact(A, **WHY), A),
    "signed tombstone": (redact(A, **WHY), replace(redact(A, **WHY), signed_by="x", signature="y")),
}


@pytest.mark.requirement("S1-44")
@each_row("newest, record", FOLLOWS.values(), ids=FOLLOWS)
def test_what_may_follow_the_newest_version(newest, record):
    check_version(newest, record)


@pytest.mark.requirement("S1-12", "S1-44")
@each_row("newest, record", CANNOT_FOLLOW.values(), ids=CANNOT_FOLLOW)
def test_what_may_not_follow_the_newest_version(newest, record):
    with pytest.raises(IllegalMove) as caught:
        check_version(newest, record)
    assert "\n" not in str(caught.value)


class Lives(RuleBasedStateMachine):
    """Records that live on in a store, by any moves in any order; what is refused leaves the store as it was."""

    known = Bundle("known")

    def __init__(self) -> None:
        super().__init__()
        self.store = MemoryStore()
        self.count = 0

    def newest(self, id: str) -> Record:
        return self.store.get(id)

    def attempt(self, move: Callable[[], tuple[Record, ...]]) -> None:
        before = {record.id: self.store.history(record.id) for record in self.store.list()}
        try:
            versions = move()
        except IllegalMove:
            assert before == {record.id: self.store.history(record.id) for record in self.store.list()}
            return
        for version in versions:
            old = self.newest(version.id)
            assert version is old or old.state is version.state or is_legal(old.state, version.state)
            if version is not old:
                self.store.put(version, after=old)
            assert self.store.history(version.id)[: len(before[version.id])] == before[version.id]

    @initialize(target=known)
    def first_born(self) -> str:
        return self.bear([])

    @rule(target=known, evidence=st.lists(known, max_size=2))
    def born(self, evidence: list[str]) -> str:
        return self.bear(evidence)

    def bear(self, evidence: list[str]) -> str:
        self.count += 1
        kind = RecordType.RULE if evidence else RecordType.FACT
        source = Provenance("test", str(self.count))
        record = new_record(kind, "x", provenance=source, now=NOW, evidence=tuple(evidence))
        assert self.store.put(record) == 1
        return record.id

    @rule(one=known, other=known)
    def superseded(self, one: str, other: str) -> None:
        self.attempt(lambda: self.named(one, other))

    def named(self, one: str, other: str) -> tuple[Record, ...]:
        successor = replace(self.newest(other), supersedes=one)
        return supersede(self.newest(one), successor, **WHY), successor

    @rule(one=known, other=known)
    def disputed(self, one: str, other: str) -> None:
        self.attempt(lambda: dispute(self.newest(one), self.newest(other), **WHY))

    @rule(one=known, other=known)
    def resolved(self, one: str, other: str) -> None:
        self.attempt(lambda: resolve(self.newest(one), self.newest(other), **WHY))

    @rule(one=known)
    def resolved_with_its_other_side(self, one: str) -> None:
        transition = self.newest(one).transition
        if transition is not None:
            (other,) = set(transition.sides) - {one}
            self.attempt(lambda: resolve(self.newest(one), self.newest(other), **WHY))

    @rule(one=known)
    def archived(self, one: str) -> None:
        self.attempt(lambda: (archive(self.newest(one), **WHY),))

    @rule(one=known)
    def looked_at_again(self, one: str) -> None:
        evidence = {other: self.newest(other) for other in self.newest(one).evidence}
        self.attempt(lambda: (refresh_flag(self.newest(one), evidence, now=LATER),))

    @rule(one=known)
    def redacted(self, one: str) -> None:
        count = len(self.store.history(one))
        stone = self.store.redact(one, reason="x", now=LATER)
        assert self.store.history(one) == (stone,) * count

    @invariant()
    def every_version_can_be_written_and_read(self) -> None:
        for record in self.store.list():
            assert Record.from_bytes(record.to_bytes()) == record

    @invariant()
    def no_birth_has_changed(self) -> None:
        for record in self.store.list():
            versions = self.store.history(record.id)
            assert all(birth_of(version) == birth_of(versions[0]) for version in versions)


Lives.TestCase.settings = settings(max_examples=min(settings().max_examples, 40), stateful_step_count=25)
test_any_life_is_legal = pytest.mark.requirement("S1-07", "S1-12", "S1-44")(Lives.TestCase)


def test_the_fields_of_a_birth_are_fields_of_records():
    assert set(BIRTH) <= {field.name for field in fields(Record)}


def test_the_documented_tables_are_those_of_the_code():
    page = (Path(__file__).parents[2] / "docs" / "records.md").read_text(encoding="utf-8")
    rows = [f"| `{move.source}` | `{move.target}` | `{move.by}` | {move.condition} |" for move in MOVES]
    assert "\n".join(rows) in page
    section = page.partition("## The fields")[2].partition("\n## ")[0]
    described = re.findall(r"^\| `(\w+)` \|", section, re.MULTILINE)
    assert described == [field.name for field in fields(Record) if field.name != "extra"]


@pytest.mark.requirement("S1-17")
def test_a_history_is_judged_from_its_records_alone_whatever_has_kept_it():
    born = fact("The port is 80.")
    versions = [born, archive(born, **WHY)]
    read = [Record.from_json(json.loads(json.dumps(version.to_json()))) for version in versions]
    check_history(read)
    with pytest.raises(DamagedFile, match="version 2"):
        check_history(read[::-1])

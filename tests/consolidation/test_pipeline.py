"""Consolidation: what is the same becomes one, what contradicts stays visible, and everything is accounted for."""

from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent_memory_protocol.consolidation.pipeline import Operators, consolidate, refresh_flags, resolve
from agent_memory_protocol.consolidation.promotion import RepeatedEpisodes
from agent_memory_protocol.consolidation.proposals import (
    Archive,
    Create,
    Defer,
    Dispute,
    Outcome,
    Proposal,
    Question,
    Resolve,
    Stage,
    Unreadable,
)
from agent_memory_protocol.consolidation.resolution import CautiousResolver
from agent_memory_protocol.errors import InvalidArgument, OperatorFailed
from agent_memory_protocol.records import lifecycle
from agent_memory_protocol.records.record import Provenance, Record, RecordType, State, new_record
from agent_memory_protocol.records.sqlite_store import MemoryStore

NOW = datetime(2026, 11, 15, 12, tzinfo=UTC)
X, NOT_X = "The staging database is Postgres.", "The staging database is not Postgres."


def after(records: Iterable[Record], outcome: Outcome) -> dict[str, Record]:
    """Return what a store holds after an outcome was written to it; it refuses what the lifecycle forbids."""
    store = MemoryStore()
    for record in records:
        store.put(record)
    for record in outcome.writes:
        store.put(record)
    return {record.id: record for record in store.list()}


def states(records: dict[str, Record]) -> Counter[str]:
    return Counter(record.state.value for record in records.values())


class Says:
    """An operator that answers with what it is given."""

    name = "says"

    def __init__(self, *proposals: Proposal) -> None:
        self.proposals = proposals
        self.asked: list[Question] = []

    def propose(self, question: Question) -> tuple[Proposal, ...]:
        self.asked.append(question)
        return self.proposals


class Fails:
    name = "fails"

    def propose(self, question: Question) -> tuple[Proposal, ...]:
        raise OperatorFailed(f"the model for {question.stage} is not there")


@pytest.mark.requirement("S1-09", "S1-28", "S1-41")
def test_a_fact_and_its_negation_both_stay_and_say_so(make):
    records = [make(X), make(NOT_X)]
    outcome = consolidate(records, now=NOW)
    one, other = after(records, outcome).values()
    assert one.state is other.state is State.TRANSITIONAL
    assert one.transition == other.transition
    assert one.transition is not None
    assert one.transition.reason == "one side negates the other"
    (action,) = outcome.report.done
    assert (action.stage, action.kind, action.ids) == (Stage.CONTRADICTION, "dispute", (records[0].id, records[1].id))
    assert (action.before, action.after) == (("active", "active"), ("transitional", "transitional"))


@pytest.mark.requirement("S1-30", "S1-31", "S1-61")
def test_a_decision_leaves_one_side_active_and_the_other_superseded_by_it(make):
    records = [make(X), make(NOT_X)]
    disputed = after(records, consolidate(records, now=NOW))
    outcome = resolve(disputed.values(), winner=records[1].id, loser=records[0].id, reason="moved in March", now=NOW)
    lost, won = (outcome.changed[record.id] for record in records)
    assert (won.state, won.transition) == (State.ACTIVE, None)
    assert (lost.state, lost.superseded_by, lost.state_reason) == (State.SUPERSEDED, won.id, "moved in March")
    assert not consolidate(outcome.changed.values(), now=NOW).writes


def test_facts_that_differ_in_numbers_all_stay(make):
    records = [make(f"service s{number} listens on port {1000 + number}") for number in range(30)]
    outcome = consolidate(records, now=NOW)
    assert outcome == Outcome()
    assert states(after(records, outcome)) == {"active": 30}


@pytest.mark.requirement("S1-40", "S1-77")
def test_exact_copies_are_replaced_by_the_strongest_which_takes_over_their_tags(make):
    weak, strong, middle = (
        make("The build is green.", confidence=confidence, tags=(tag,))
        for confidence, tag in ((0.5, "ci"), (0.9, "build"), (0.7, "ci"))
    )
    records = [weak, strong, middle]
    stored = after(records, consolidate(records, now=NOW))
    assert len(stored) == 3
    assert {stored[old.id].superseded_by for old in (weak, middle)} == {strong.id}
    assert (stored[strong.id].state, set(stored[strong.id].tags)) == (State.ACTIVE, {"build", "ci"})


@pytest.mark.requirement("S1-77")
def test_what_says_the_same_becomes_one_record_that_names_every_side(make):
    records = [
        make("Use pnpm.", tags=("js",), slots={"tool": "pnpm"}),
        make("Always use `pnpm`!", confidence=0.5, tags=("setup",)),
        make("use pnpm", confidence=0.7, slots={"for": "installs"}),
    ]
    stored = after(records, consolidate(records, now=NOW))
    (merged,) = (record for record in stored.values() if record.state is State.ACTIVE)
    assert (merged.body, merged.confidence) == ("Use pnpm.", 1.0)
    assert merged.evidence == tuple(sorted(record.id for record in records))
    assert (dict(merged.slots), merged.tags) == ({"tool": "pnpm", "for": "installs"}, ("js", "setup"))
    assert {stored[record.id].superseded_by for record in records} == {merged.id}


@pytest.mark.requirement("S1-77")
def test_a_correction_lends_its_words_to_the_merged_record_and_keeps_its_rank(make):
    records = [make("Use `pnpm`.", "correction", confidence=0.5), make("Always use pnpm")]
    stored = after(records, consolidate(records, now=NOW))
    (merged,) = (record for record in stored.values() if record.state is State.ACTIVE)
    assert (merged.body, merged.provenance.kind) == ("Use `pnpm`.", "correction")


@pytest.mark.requirement("S1-77", "S1-78")
def test_events_are_neither_merged_nor_disputed(make):
    episode = RecordType.EPISODE
    records = [
        make("The deploy failed.", type=episode),
        make("The deploy failed.", type=episode),
        make("The deploy did not fail.", type=episode),
        make("The deploy failed.", type=episode, occurred_at=NOW),
        make("The deploy failed.", type=episode, occurred_at=NOW - timedelta(hours=1)),
    ]
    assert consolidate(records, now=NOW, operators=Operators(promotion=())) == Outcome()


def test_one_event_that_was_remembered_twice_is_one(make):
    records = [make("The deploy failed.", type=RecordType.EPISODE, occurred_at=NOW) for _ in range(2)]
    assert states(after(records, consolidate(records, now=NOW))) == {"active": 1, "superseded": 1}


@pytest.mark.requirement("S1-77", "S1-78")
def test_slots_that_disagree_are_a_contradiction_and_no_repetition(make):
    records = [make("Server region.", slots={"region": "eu"}), make("Server region!", slots={"region": "us"})]
    outcome = consolidate(records, now=NOW)
    assert states(after(records, outcome)) == {"transitional": 2}
    assert [action.reason for action in outcome.report.done] == ["the slot region has two values"]


def test_slots_of_two_things_do_not_contradict_each_other(make):
    records = [
        make("Service s1 listens on port 1001.", slots={"port": 1001}),
        make("Service s2 listens on port 1002.", slots={"port": 1002}),
        make("Service s3 has a port.", slots={"service": "s3", "port": 1003}),
        make("Service s4 has a port.", slots={"service": "s4", "port": 1004}),
    ]
    assert consolidate(records, now=NOW) == Outcome()


def carried(target, **more):
    return {"extra": {"id": f"of {target}", "target": target, **more}}


def test_what_a_record_file_carried_beside_two_texts_makes_no_contradiction(make):
    records = [
        make("Run black.", slots=carried("shared", description="Run black.", why="diffs")),
        make("Keep tests short.", slots=carried("shared", description="Keep tests short.", why="speed")),
    ]
    assert consolidate(records, now=NOW) == Outcome()


@pytest.mark.requirement("S1-77")
def test_what_two_files_say_the_same_is_merged_and_keeps_what_they_carried(make):
    records = [
        make("Use pnpm.", slots=carried("shared") | {"tool": "pnpm"}),
        make("Always use pnpm!", confidence=0.5, slots=carried("agent:developer", why="speed")),
        make("use pnpm", confidence=0.5),
    ]
    stored = after(records, consolidate(records, now=NOW))
    (merged,) = (record for record in stored.values() if record.state is State.ACTIVE)
    assert dict(merged.slots) == carried("shared", why="speed") | {"tool": "pnpm"}
    assert consolidate(list(stored.values()), now=NOW) == Outcome()


@pytest.mark.requirement("S1-78")
def test_slots_that_disagree_are_a_contradiction_wherever_the_texts_were_carried_from(make):
    records = [
        make("Server region.", slots=carried("shared") | {"region": "eu"}),
        make("Server region!", slots=carried("agent:developer") | {"region": "us"}),
    ]
    (action,) = consolidate(records, now=NOW).report.done
    assert action.reason == "the slot region has two values"


def test_events_are_not_of_one_kind_because_a_file_carried_them(make):
    records = [make(f"Took {n} s.", type=RecordType.EPISODE, slots=carried("shared")) for n in range(3)]
    assert consolidate(records, now=NOW) == Outcome()


@pytest.mark.requirement("S1-78")
def test_a_record_is_in_one_dispute_and_the_other_pairs_wait(make):
    records = [make(X), make(NOT_X), make(f"{X} It is old.")]
    outcome = consolidate(records, now=NOW)
    assert [action.ids for action in outcome.report.done] == [(records[0].id, records[1].id)]
    (waiting,) = outcome.report.deferred
    assert waiting.ids == (records[1].id, records[2].id)
    assert waiting.reason == f"{records[1].id}: already disputed; consolidate again when that is decided"
    stored = after(records, outcome)
    again = consolidate(stored.values(), now=NOW)
    assert (again.writes, again.report.deferred) == ((), outcome.report.deferred)
    decided = resolve(stored.values(), winner=records[1].id, loser=records[0].id, reason="seen", now=NOW)
    stored = after(stored.values(), decided)
    assert [action.ids for action in consolidate(stored.values(), now=NOW).report.done] == [waiting.ids]


@pytest.mark.requirement("S1-28")
def test_nothing_is_decided_unless_a_resolver_is_given(make):
    records = [make(X), make(NOT_X)]
    assert states(after(records, consolidate(records, now=NOW))) == {"transitional": 2}
    decided = consolidate(records, now=NOW, operators=Operators(resolution=(CautiousResolver(),)))
    stored = after(records, decided)
    assert (stored[records[0].id].state, stored[records[1].id].state) == (State.SUPERSEDED, State.ACTIVE)


LATER = {"occurred_at": NOW}
EARLIER = {"occurred_at": NOW - timedelta(days=9)}


@pytest.mark.requirement("S1-79")
@pytest.mark.parametrize(
    ("one", "other", "winner"),
    [
        pytest.param(("correction", {}), ("conversation", {}), 0, id="a correction, though older"),
        pytest.param(("conversation", {}), ("correction", {}), 1, id="a correction"),
        pytest.param(("correction", {}), ("correction", {}), 1, id="the newer of two corrections"),
        pytest.param(("tool", {}), ("tool", {}), 1, id="the newer of one kind"),
        pytest.param(("tool", LATER), ("tool", EARLIER), 0, id="what happened later, though learned before"),
        pytest.param(("tool", LATER), ("tool", {}), 1, id="what was learned later, where one has no time"),
        pytest.param(("tool", LATER), ("tool", LATER), None, id="nobody, where both happened at once"),
        pytest.param(("tool", {}), ("conversation", {}), None, id="nobody, of two kinds"),
        pytest.param(("tool", {"slots": {"a": 1}}), ("tool", {}), None, id="nobody, with different slots"),
    ],
)
def test_who_wins_without_anybody_being_asked(make, one, other, winner):
    records = [make(X, one[0], **one[1]), make(NOT_X, other[0], **other[1])]
    stored = after(records, consolidate(records, now=NOW, operators=Operators(resolution=(CautiousResolver(),))))
    if winner is None:
        assert states(stored) == {"transitional": 2}
    else:
        assert stored[records[winner].id].state is State.ACTIVE
        assert stored[records[1 - winner].id].superseded_by == records[winner].id


@pytest.mark.requirement("S1-79")
def test_no_operator_overrules_a_correction_and_a_person_may(make):
    records = [make(X, "correction"), make(NOT_X)]
    operator = Says(Resolve(records[1].id, records[0].id, "the model is sure"))
    outcome = consolidate(records, now=NOW, operators=Operators(resolution=(operator,)))
    (refused,) = outcome.report.refused
    assert "only a person overrules" in refused.reason
    disputed = after(records, outcome)
    decided = resolve(disputed.values(), winner=records[1].id, loser=records[0].id, reason="it was wrong", now=NOW)
    assert decided.changed[records[1].id].state is State.ACTIVE


@pytest.mark.requirement("S1-10", "S1-80")
def test_what_happens_again_and_again_becomes_one_rule_that_names_every_time(make):
    episodes = [
        make(f"Deploy failed on day {day}.", type=RecordType.EPISODE, tags=("deploy", "ci")) for day in range(4)
    ]
    others = [make(f"Release on day {day}.", type=RecordType.EPISODE, tags=("deploy",)) for day in range(2)]
    records = [*episodes, *others]
    stored = after(records, consolidate(records, now=NOW))
    (rule,) = (record for record in stored.values() if record.type is RecordType.RULE)
    assert rule.body == "Happened 4 times (ci, deploy), most recently: Deploy failed on day 3."
    assert set(rule.evidence) == {episode.id for episode in episodes}
    more = [*stored.values(), make("Deploy failed again.", type=RecordType.EPISODE, tags=("ci", "deploy"))]
    assert consolidate(more, now=NOW) == Outcome()


def test_episodes_without_tags_are_told_by_the_names_of_their_slots(make):
    records = [make(f"Took {n} s.", type=RecordType.EPISODE, slots={"seconds": n}) for n in range(3)]
    (rule,) = consolidate(records, now=NOW).writes
    assert rule.tags == ("seconds",)


def test_episodes_without_tags_and_slots_make_a_rule_where_they_say_the_same(make):
    stalled = [make("The import stalled.", type=RecordType.EPISODE) for _ in range(3)]
    others = [make(f"The import took {n} minutes.", type=RecordType.EPISODE) for n in range(5)]
    stored = after([*stalled, *others], consolidate([*stalled, *others], now=NOW))
    (rule,) = (record for record in stored.values() if record.type is RecordType.RULE)
    assert rule.body == "Happened 3 times: The import stalled."
    assert set(rule.evidence) == {episode.id for episode in stalled}
    more = [make("The import stalled.", type=RecordType.EPISODE) for _ in range(3)]
    assert consolidate([*stored.values(), *more], now=NOW) == Outcome()
    failed = [make("The upload failed.", type=RecordType.EPISODE) for _ in range(3)]
    assert len(consolidate([*stored.values(), *failed], now=NOW).writes) == 1


def test_how_often_is_often_enough_can_be_chosen(make):
    records = [make(f"Deploy {n} failed.", type=RecordType.EPISODE, tags=("deploy",)) for n in range(2)]
    assert not consolidate(records, now=NOW).writes
    twice = Operators(promotion=(RepeatedEpisodes(at_least=2),))
    assert len(consolidate(records, now=NOW, operators=twice).writes) == 1
    with pytest.raises(InvalidArgument, match="two episodes or more"):
        RepeatedEpisodes(at_least=1)


def rule_on(*evidence: Record, **fields: Any) -> Record:
    ids = tuple(record.id for record in evidence)
    return new_record(RecordType.RULE, "A rule.", provenance=Provenance("test"), now=NOW, evidence=ids, **fields)


@pytest.mark.requirement("S1-11", "S1-62")
def test_a_rule_is_flagged_when_its_last_evidence_goes_and_unflagged_when_some_is_live(make):
    one, other = make("Deploys fail."), make("Deploys do not fail.")
    rule = rule_on(one)
    gone = lifecycle.archive(one, reason="gone", now=NOW)
    (flagged,) = refresh_flags([gone, rule], now=NOW).writes
    assert (flagged.flagged, flagged.flag_reason) == (True, lifecycle.NO_EVIDENCE)
    (missing,) = refresh_flags([rule], now=NOW).writes
    assert missing.flagged
    (live,) = refresh_flags([one, flagged], now=NOW).writes
    assert (live.flagged, live.flag_reason) == (False, None)
    assert refresh_flags([one, rule], now=NOW) == Outcome()
    # Of a part of the records nobody can tell.
    assert consolidate([rule], now=NOW).writes
    assert consolidate([rule], now=NOW, whole=False) == Outcome()
    assert consolidate([rule, gone], now=NOW, whole=False).writes == (flagged,)

    disputed = after([one, other, rule], consolidate([one, other, rule], now=NOW))
    decided = resolve(disputed.values(), winner=other.id, loser=one.id, reason="seen", now=NOW)
    assert decided.changed[rule.id].flagged
    assert [action.stage for action in decided.report.done] == [Stage.RESOLUTION, Stage.FLAGS]


@pytest.mark.requirement("S1-10")
def test_what_a_rule_rests_on_is_not_merged_away(make):
    cited, copy, same = make("Deploys fail.", confidence=0.2), make("Deploys fail."), make("The deploys fail!")
    records = [cited, copy, rule_on(cited)]
    stored = after(records, consolidate(records, now=NOW))
    assert (stored[cited.id].state, stored[copy.id].superseded_by) == (State.ACTIVE, cited.id)

    records = [cited, same, rule_on(cited)]
    outcome = consolidate(records, now=NOW)
    assert not outcome.writes
    (kept,) = outcome.report.protected
    assert "a rule rests on" in kept.reason

    records = [cited, same, make("the deploys fail"), make("The deploys do not fail."), rule_on(cited)]
    stored = after(records, consolidate(records, now=NOW))
    assert (stored[cited.id].state, stored[same.id].state) == (State.TRANSITIONAL, State.SUPERSEDED)
    assert not consolidate(stored.values(), now=NOW).writes


def test_a_merged_record_that_comes_out_as_a_copy_is_folded_at_once(make):
    cited = make(X, slots={"a": 1, "b": 1})
    records = [cited, make(X, slots={"a": 1}), make(X, slots={"b": 1}), rule_on(cited)]
    stored = after(records, consolidate(records, now=NOW))
    assert states(stored) == {"active": 2, "superseded": 3}
    assert not consolidate(stored.values(), now=NOW).writes


# What a pass that was stopped has left behind


@pytest.mark.requirement("S1-60")
@pytest.mark.parametrize("scene", ["dispute", "merge", "copies", "decision"])
def test_a_pass_that_was_stopped_anywhere_is_finished_by_the_next(make, scene):
    bodies = {"dispute": [X, NOT_X], "merge": ["Use pnpm.", "use pnpm", "Use `pnpm`"], "copies": ["A fact."] * 3}
    records = [make(body) for body in bodies.get(scene, [X, NOT_X])]
    if scene == "decision":
        records = list(after(records, consolidate(records, now=NOW)).values())
        outcome = resolve(records, winner=records[1].id, loser=records[0].id, reason="seen", now=NOW)
    else:
        outcome = consolidate(records, now=NOW)
    whole = after(records, outcome)
    assert len(outcome.writes) > 1
    for stop in range(1, len(outcome.writes)):
        partly = after(records, replace(outcome, writes=outcome.writes[:stop]))
        finished = after(partly.values(), consolidate(partly.values(), now=NOW))
        assert states(finished) == states(whole)
        assert {record.id for record in finished.values()} == {record.id for record in whole.values()}
        assert not consolidate(finished.values(), now=NOW).writes


def test_a_side_whose_opponent_is_gone_is_free_again(make):
    records = [make(X), make(NOT_X)]
    one, other = after(records, consolidate(records, now=NOW)).values()
    gone = lifecycle.redact(one, reason="a secret", now=NOW)
    outcome = consolidate([gone, other], now=NOW)
    assert outcome.changed[other.id].state is State.ACTIVE
    assert [action.reason for action in outcome.report.done] == ["the other side is archived"]
    alone = consolidate([other], now=NOW)
    assert not alone.writes
    assert [action.reason for action in alone.report.deferred] == ["the other side of its dispute is not here"]


# Operators


@pytest.mark.requirement("S1-14", "S1-15", "S1-45")
def test_an_operator_sees_records_and_no_store_and_what_it_may_not_ask_for_is_refused_as_it_stands(make):
    records = [make("One."), make("Two.")]
    ids = (records[0].id, records[1].id)
    operator = Says(
        Archive(records[0].id, "forget it"),
        Create(make("Three.")),
        Dispute(ids, "  "),
        Dispute(ids, "a\nb"),
        Dispute((ids[0], "mem:gone"), "why"),
        Dispute((ids[0], ids[0]), "why"),
        Unreadable("no proposal at all"),
        Defer(ids, "ask me later"),
        Dispute(ids, "the model says so"),
    )
    outcome = consolidate(records, now=NOW, operators=Operators(contradiction=(operator,)))
    assert [action.kind for action in outcome.report.refused] == [
        *("archive", "create", "dispute", "dispute", "dispute", "dispute"),
        "unreadable",
    ]
    assert [action.reason for action in outcome.report.deferred] == ["ask me later"]
    (done,) = outcome.report.done
    assert (done.by, done.reason) == ("says", "the model says so")
    (question,) = operator.asked
    assert (question.stage, list(question.records)) == (Stage.CONTRADICTION, records)


def test_an_operator_that_fails_is_reported_and_the_others_go_on(make):
    records = [make(X), make(NOT_X)]
    default = Operators()
    operators = Operators(contradiction=(Fails(), *default.contradiction))
    outcome = consolidate(records, now=NOW, operators=operators)
    (refused,) = outcome.report.refused
    assert (refused.by, refused.reason) == ("fails", "the model for contradiction is not there")
    assert len(outcome.report.done) == 1


def test_a_later_operator_sees_what_the_ones_before_have_changed(make):
    records = [make("Use pnpm."), make("use pnpm")]
    last = Says()
    default = Operators()
    consolidate(records, now=NOW, operators=Operators(dedup=(*default.dedup, last)))
    assert [record.state.value for record in last.asked[0].records] == ["superseded", "superseded", "active"]


def test_two_records_with_one_id_are_refused(make):
    record = make("One.")
    with pytest.raises(InvalidArgument, match="one id"):
        consolidate([record, record], now=NOW)


# Properties

BODIES = [
    *(X, NOT_X, "the staging database is Postgres", "The staging DB is no longer Postgres."),
    *("Use pnpm.", "Never use pnpm.", "use pnpm", "Use npm."),
    *("Port 8080 is open.", "Port 8081 is open.", "Port 8080 is not open."),
    *("The API needs a token.", "No token needed for the API.", "The API has no token.", "…"),
]
SLOTS = [{}, {"a": 1}, {"a": 2}, {"b": 1}, {"a": 1, "b": 1}]


@st.composite
def stores(draw: Callable[..., Any]) -> list[Record]:
    """Draw what a store may hold: records of every type, some in a later state, and rules on some of them."""
    records: dict[str, Record] = {}
    for number in range(draw(st.integers(0, 9))):
        record = new_record(
            draw(st.sampled_from([RecordType.FACT, RecordType.FACT, RecordType.PROCEDURE, RecordType.EPISODE])),
            draw(st.sampled_from(BODIES)),
            provenance=Provenance(draw(st.sampled_from(["conversation", "correction", "tool"]))),
            now=NOW - timedelta(minutes=number),
            slots=draw(st.sampled_from(SLOTS)),
            confidence=draw(st.sampled_from([0.5, 1.0])),
            occurred_at=draw(st.sampled_from([None, NOW])),
            tags=draw(st.sampled_from([(), ("a",), ("a", "b")])),
        )
        records[record.id] = record
    ids = sorted(records)
    for number in range(draw(st.integers(0, 2)) if ids else 0):
        evidence = tuple(draw(st.lists(st.sampled_from(ids), min_size=1, max_size=3, unique=True)))
        tags = draw(st.sampled_from([("a",), (), ("z",)]))
        provenance = Provenance("test")
        rule = new_record(
            RecordType.RULE, f"Rule {number}.", provenance=provenance, now=NOW, evidence=evidence, tags=tags
        )
        records[rule.id] = rule
    for _ in range(draw(st.integers(0, 4)) if len(ids) > 1 else 0):
        one, other = draw(st.lists(st.sampled_from(ids), min_size=2, max_size=2, unique=True))
        move = draw(st.sampled_from(["dispute", "half a dispute", "archive", "redact", "supersede"]))
        if move == "archive" and records[one].state is not State.ARCHIVED:
            records[one] = lifecycle.archive(records[one], reason="old", now=NOW)
        elif move == "redact" and not records[one].redacted:
            records[one] = lifecycle.redact(records[one], reason="a secret", now=NOW)
        elif records[one].state is records[other].state is State.ACTIVE:
            if move == "supersede":
                successor = replace(records[other], supersedes=one)
                records[one] = lifecycle.supersede(records[one], successor, reason="new", now=NOW)
                records[other] = successor
            elif "dispute" in move:
                sides = lifecycle.dispute(records[one], records[other], reason="who knows", now=NOW)
                records |= {side.id: side for side in (sides if move == "dispute" else sides[:1])}
    return list(records.values())


resolvers = st.sampled_from([Operators(), Operators(resolution=(CautiousResolver(),))])


def put_all(records: list[Record], outcome: Outcome) -> dict[str, Record]:
    """Return the newest versions after an outcome; each must be allowed after the one before, and be readable."""
    newest = {record.id: record for record in records}
    for record in outcome.writes:
        if record.id in newest:
            lifecycle.check_version(newest[record.id], record)
        else:
            assert record.state is State.ACTIVE
        newest[record.id] = Record.from_bytes(record.to_bytes())
    return newest


@pytest.mark.requirement("S1-44", "S1-60")
@given(stores(), resolvers)
def test_whatever_the_records_are_every_version_is_legal_and_every_dispute_is_whole(records, operators):
    newest = put_all(records, consolidate(records, now=NOW, operators=operators))
    for record in newest.values():
        if record.transition is not None and {*record.transition.sides} <= newest.keys():
            one, other = (newest[side] for side in record.transition.sides)
            assert one.transition == other.transition or State.TRANSITIONAL in (one.state, other.state)
        if record.type is RecordType.RULE and record.state is not State.ARCHIVED:
            live = [newest[one].state in (State.ACTIVE, State.TRANSITIONAL) for one in record.evidence]
            assert record.flagged is not any(live)


@given(stores())
def test_consolidating_twice_is_consolidating_once(records):
    first = put_all(records, consolidate(records, now=NOW))
    again = consolidate(first.values(), now=NOW)
    assert not again.writes
    assert not again.report.done


@pytest.mark.requirement("S1-81")
@given(stores(), resolvers, st.randoms(use_true_random=False))
def test_the_same_records_in_any_order_give_the_same_outcome(records, operators, shuffler):
    shuffled = records[:]
    shuffler.shuffle(shuffled)
    outcome = consolidate(records, now=NOW, operators=operators)
    assert consolidate(shuffled, now=NOW, operators=operators) == outcome
    assert consolidate(shuffled, now=NOW, operators=operators).report.to_json() == outcome.report.to_json()


@given(stores())
def test_no_fact_is_lost(records):
    """What was active has an active or disputed record that says the same, or is itself there."""
    newest = put_all(records, consolidate(records, now=NOW))
    for record in records:
        now = newest[record.id]
        seen = {record.id}
        while record.state is State.ACTIVE and now.state is State.SUPERSEDED:
            assert now.superseded_by is not None
            now = newest[now.superseded_by]
            assert now.id not in seen
            seen.add(now.id)
        assert record.state is not State.ACTIVE or now.state in (State.ACTIVE, State.TRANSITIONAL)

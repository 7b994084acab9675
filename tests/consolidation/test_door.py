"""The door: what an operator may do and what it may not, in pairs."""

from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pytest

from agent_memory_protocol.consolidation.door import Kept, Standing, Waits, admit
from agent_memory_protocol.consolidation.duplicates import merge
from agent_memory_protocol.consolidation.promotion import promote
from agent_memory_protocol.consolidation.proposals import (
    Archive,
    Create,
    Dispute,
    Promote,
    Proposal,
    Resolve,
    Stage,
    Supersede,
)
from agent_memory_protocol.errors import AgentMemoryError, IllegalMove, SecretFound
from agent_memory_protocol.records import lifecycle
from agent_memory_protocol.records.record import Provenance, Record, RecordType, State, new_record
from agent_memory_protocol.secrets.find import find_secrets
from agent_memory_protocol.text.apart import told_apart

NOW = datetime(2026, 11, 15, 12, tzinfo=UTC)
TOKEN = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"


def through(proposal: Proposal, stage: Stage, *records: Record) -> tuple[Record, ...]:
    return admit(proposal, stage, Standing(records), now=NOW)


def refused(proposal: Proposal, stage: Stage, *records: Record) -> str:
    """Return why a proposal is refused; that it is refused is what the test is about."""
    with pytest.raises(AgentMemoryError) as raised:
        through(proposal, stage, *records)
    return str(raised.value)


def rule_on(*evidence: Record, **fields: Any) -> Record:
    ids = tuple(record.id for record in evidence)
    return new_record(RecordType.RULE, "A rule.", provenance=Provenance("test"), now=NOW, evidence=ids, **fields)


@pytest.mark.requirement("S1-75")
def test_what_is_written_is_new_born_active_and_no_rule(make):
    record = make("A fact.")
    assert through(Create(record), Stage.WRITE) == (record,)
    assert "is there already" in refused(Create(record), Stage.WRITE, record)
    assert "promotion only" in refused(Create(rule_on(record)), Stage.WRITE, record)
    assert "born active" in refused(Create(lifecycle.archive(record, reason="x", now=NOW)), Stage.WRITE)
    assert "replaces nothing" in refused(Create(make("Another.", supersedes=record.id)), Stage.WRITE, record)
    assert "takes no proposal to archive" in refused(Archive(record.id, "x"), Stage.WRITE, record)


@pytest.mark.parametrize(
    "fields",
    [{}, {"tags": (TOKEN,)}, {"slots": {"a": [{"b": TOKEN}]}}, {"slots": {TOKEN: 1}}],
    ids=["body", "tag", "slot", "name of a slot"],
)
def test_a_secret_is_refused_wherever_it_stands_and_never_repeated(make, fields):
    body = "A fact." if fields else f"The token is {TOKEN}."
    with pytest.raises(SecretFound) as raised:
        through(Create(make(body, **fields)), Stage.WRITE)
    assert TOKEN not in str(raised.value)


def test_a_text_that_is_empty_or_hides_something_is_refused(make):
    assert "remembers nothing" in refused(Create(make(" \n")), Stage.WRITE)
    assert "invisible or control character" in refused(Create(make("A \u200bfact.")), Stage.WRITE)
    assert through(Create(make("Zwei\n\nZeilen\tmit 👩‍💻.")), Stage.WRITE)


@pytest.mark.parametrize(
    "reason",
    ["", " ", "a\nb", "a\u2028b", "x" * 501, "a\u202eb", TOKEN],
    ids=["none", "blank", "two lines", "two lines for some", "long", "turned round", "a secret"],
)
def test_a_reason_is_one_short_line_that_shows_all_of_itself(make, reason):
    records = [make("One."), make("Two.")]
    sides = (records[0].id, records[1].id)
    assert TOKEN not in refused(Dispute(sides, reason), Stage.CONTRADICTION, *records)
    assert len(through(Dispute(sides, "x" * 500), Stage.CONTRADICTION, *records)) == 2


@pytest.mark.requirement("S1-77")
def test_a_merge_names_every_side_and_replaces_each(make):
    one, other = make("Use pnpm."), make("use pnpm")
    proposal = merge([one, other], now=NOW)
    *_, last, lost = through(proposal, Stage.DEDUP, one, other)
    assert (last.state, lost.state, lost.superseded_by) == (State.ACTIVE, State.SUPERSEDED, last.id)
    record = proposal.record
    alone = replace(proposal, replaced=(one.id,))
    assert "at least two" in refused(alone, Stage.DEDUP, one, other)
    half = Supersede(replace(record, evidence=(one.id,)), proposal.replaced, "x")
    assert "as evidence" in refused(half, Stage.DEDUP, one, other)
    unnamed = Supersede(replace(record, supersedes=None), proposal.replaced, "x")
    assert "names one of them" in refused(unnamed, Stage.DEDUP, one, other)
    assert "there is no record" in refused(proposal, Stage.DEDUP, one)
    assert "once" in refused(replace(proposal, replaced=(one.id, one.id)), Stage.DEDUP, one, other)
    gone = lifecycle.archive(other, reason="x", now=NOW)
    with pytest.raises(IllegalMove):
        through(proposal, Stage.DEDUP, one, gone)


@pytest.mark.requirement("S1-77")
@pytest.mark.parametrize(
    ("one", "other", "body", "why"),
    [
        ("Port 8080 is open.", "Port 8081 is open.", "", "8080"),
        ("Port 8080 is open.", "The open port: 8080", "Port 8081 is open.", "8080, 8081"),
        ("Edit src/api.py.", "You edit src/app.py.", "", "src/api.py"),
        ("Use Python 3.11.", "Take Python 3.12.", "", "3.11"),
        ("We call get_user.", "We call getUser.", "", "getUser"),
        ("The owner is Alice.", "The owner is Bob.", "", "Alice, Bob"),
        ("Deploys need a review.", "Deploys need no review.", "", "negation"),
        ("Deploys need a review.", "A deploy requires a review.", "Deploys do not need a review.", "negation"),
    ],
)
def test_no_operator_merges_what_a_number_path_version_name_or_negation_tells_apart(make, one, other, body, why):
    sides = [make(one), make(other)]
    assert why in refused(merge(sides, now=NOW, body=body), Stage.DEDUP, *sides)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Redis needs AOF switched on.", "Turn AOF on for Redis."),
        ("The port is 8080.", "We listen on 8080."),
        ("Deploys are never done on Friday.", "No deploys on Friday."),
    ],
)
def test_an_operator_may_merge_the_same_in_other_words(make, one, other):
    assert told_apart(one, other) == ""
    sides = [make(one), make(other)]
    assert len(through(merge(sides, now=NOW, body=one), Stage.DEDUP, *sides)) == 4


def test_facts_procedures_and_events_are_not_merged_with_each_other(make):
    fact, procedure = make("Run make."), make("Run make.", type=RecordType.PROCEDURE)
    assert "only facts are merged" in refused(merge([fact, procedure], now=NOW), Stage.DEDUP, fact, procedure)
    events = [make("It ran.", type=RecordType.EPISODE), make("It ran!", type=RecordType.EPISODE)]
    assert "an event may happen twice" in refused(merge(events, now=NOW), Stage.DEDUP, *events)
    eu, us = make("Region.", slots={"r": "eu"}), make("Region!", slots={"r": "us"})
    assert "slots" in refused(merge([eu, us], now=NOW), Stage.DEDUP, eu, us)


def test_a_record_that_stands_replaces_only_its_copies_and_what_it_was_made_from(make):
    keeper, copy, other = make("One.", tags=("a",)), make("One.", tags=("b",)), make("Two.")
    version, lost = through(Supersede(keeper, (copy.id,), "a copy"), Stage.DEDUP, keeper, copy)
    assert (version.id, version.supersedes, version.tags) == (keeper.id, copy.id, ("a", "b"))
    assert (lost.id, lost.superseded_by) == (copy.id, keeper.id)
    assert "not an exact copy" in refused(Supersede(keeper, (other.id,), "x"), Stage.DEDUP, keeper, other)
    resting = make("Three 3.", evidence=(other.id,))
    assert "told apart" in refused(Supersede(resting, (other.id,), "x"), Stage.DEDUP, resting, other)
    # What the proposal says of the record itself does not count; what stands does.
    forged = replace(keeper, evidence=(other.id,))
    assert "not an exact copy" in refused(Supersede(forged, (other.id,), "x"), Stage.DEDUP, keeper, other)


def test_what_a_rule_rests_on_is_kept(make):
    one, other = make("Use pnpm."), make("use pnpm")
    with pytest.raises(Kept, match="a rule rests on"):
        through(merge([one, other], now=NOW), Stage.DEDUP, one, other, rule_on(one))


@pytest.mark.requirement("S1-60", "S1-78")
def test_a_dispute_has_two_active_sides_of_one_type_that_is_no_event(make):
    one, other, third = make("One."), make("Two."), make("Three.")
    sides = through(Dispute((one.id, other.id), "why"), Stage.CONTRADICTION, one, other)
    assert {side.state for side in sides} == {State.TRANSITIONAL}
    with pytest.raises(Waits, match="already disputed"):
        through(Dispute((one.id, third.id), "why"), Stage.CONTRADICTION, *sides, third)
    with pytest.raises(Waits, match="already disputed"):
        through(Dispute((one.id, other.id), "another reason"), Stage.CONTRADICTION, *sides)
    procedure, episode = (make("P.", type=kind) for kind in (RecordType.PROCEDURE, RecordType.EPISODE))
    assert "two facts or two procedures" in refused(
        Dispute((one.id, procedure.id), "x"), Stage.CONTRADICTION, one, procedure
    )
    again = make("E.", type=RecordType.EPISODE)
    assert "of events" in refused(Dispute((episode.id, again.id), "x"), Stage.CONTRADICTION, episode, again)
    gone = lifecycle.archive(other, reason="x", now=NOW)
    assert "cannot become" in refused(Dispute((one.id, gone.id), "x"), Stage.CONTRADICTION, one, gone)


@pytest.mark.requirement("S1-08", "S1-61")
def test_a_decision_is_between_the_sides_of_one_dispute(make):
    one, other, third, fourth = (make(f"{number}.") for number in range(4))
    pair = lifecycle.dispute(one, other, reason="why", now=NOW)
    apart = lifecycle.dispute(third, fourth, reason="why", now=NOW)
    lost, won = through(Resolve(one.id, other.id, "seen"), Stage.RESOLUTION, *pair)
    assert (lost.id, lost.superseded_by, won.id) == (other.id, one.id, one.id)
    assert "two sides of one dispute" in refused(Resolve(one.id, third.id, "x"), Stage.RESOLUTION, *pair, *apart)
    assert "cannot become" in refused(Resolve(one.id, other.id, "x"), Stage.RESOLUTION, one, other)


@pytest.mark.requirement("S1-55", "S1-80")
def test_a_rule_rests_on_active_episodes_and_there_is_one_of_a_kind(make):
    episodes = [make(f"Deploy {n} failed.", type=RecordType.EPISODE, tags=("deploy",)) for n in range(2)]
    proposal = promote(episodes, signature=("deploy",), now=NOW)
    (rule,) = through(proposal, Stage.PROMOTION, *episodes)
    assert rule.type is RecordType.RULE
    assert "a rule for deploy already" in refused(proposal, Stage.PROMOTION, *episodes, rule)
    archived = lifecycle.archive(rule, reason="x", now=NOW)
    later = promote(episodes, signature=("deploy",), now=NOW, body="Deploys fail.")
    assert through(later, Stage.PROMOTION, *episodes, archived)
    fact = make("A fact.")
    assert "two active episodes" in refused(Promote(rule_on(fact, episodes[0]), "x"), Stage.PROMOTION, fact, *episodes)
    assert "two active episodes" in refused(Promote(rule_on(episodes[0]), "x"), Stage.PROMOTION, *episodes)
    assert "makes rules" in refused(Promote(fact, "x"), Stage.PROMOTION, fact)
    assert "there is no record" in refused(proposal, Stage.PROMOTION, episodes[0])


@pytest.mark.requirement("S1-12", "S1-82")
def test_what_is_disputed_a_live_rule_its_evidence_or_kept_by_a_person_is_not_put_away(make):
    one, other, third = make("One."), make("Two."), make("Three.")
    (archived,) = through(Archive(third.id, "old"), Stage.DECAY, third)
    assert (archived.state, archived.state_reason) == (State.ARCHIVED, "old")
    pair = lifecycle.dispute(one, other, reason="why", now=NOW)
    kept = make("Keep me.", tags=("keep",))
    rule = rule_on(third)
    for records, one_of_them in (
        (pair, one.id),
        ((rule, third), rule.id),
        ((rule, third), third.id),
        ((kept,), kept.id),
    ):
        with pytest.raises(Kept):
            through(Archive(one_of_them, "old"), Stage.DECAY, *records)
    flagged = lifecycle.refresh_flag(rule, {third.id: None}, now=NOW)
    assert through(Archive(rule.id, "old"), Stage.DECAY, flagged)
    assert "cannot become archived" in refused(Archive(third.id, "old"), Stage.DECAY, archived)


def test_an_allowed_fingerprint_lets_a_text_through(make):
    record = make(f"The token is {TOKEN}.")
    (secret,) = find_secrets(record.body)
    assert "The token is" not in refused(Create(record), Stage.WRITE)
    assert admit(Create(record), Stage.WRITE, Standing(), now=NOW, allow=[secret.fingerprint]) == (record,)

"""Decay: what nobody needed for long is put away, what must stay stays, and the report says which was which."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent_memory_protocol.consolidation.decay import Rates, decay, salience
from agent_memory_protocol.consolidation.proposals import Outcome, Stage
from agent_memory_protocol.errors import InvalidArgument
from agent_memory_protocol.records import lifecycle
from agent_memory_protocol.records.record import Provenance, Record, RecordType, State, new_record
from agent_memory_protocol.records.usage import Uses

NOW = datetime(2026, 11, 15, 12, tzinfo=UTC)
fg = pytest.importorskip("fg_agent_memory")
fg_pipeline = pytest.importorskip("fg_agent_memory.pipeline")


def aged(body: str, days: float, **fields: Any) -> Record:
    born = NOW - timedelta(days=days)
    return new_record(RecordType.FACT, body, provenance=Provenance("test"), now=born, **fields)


@pytest.mark.requirement("S1-13", "S1-42")
def test_what_nobody_touched_for_long_is_archived_with_its_salience_as_the_reason():
    old, young = aged("Old.", 200), aged("Young.", 10)
    outcome = decay([old, young], now=NOW)
    (archived,) = outcome.writes
    assert (archived.id, archived.state) == (old.id, State.ARCHIVED)
    assert archived.state_reason == "its salience is 0.0098, below 0.05"
    (action,) = outcome.report.done
    assert (action.stage, action.kind, action.ids, action.after) == (Stage.DECAY, "archive", (old.id,), ("archived",))
    assert decay([archived, young], now=NOW) == Outcome()


@pytest.mark.requirement("S1-70", "S1-76")
def test_use_keeps_a_record():
    old = aged("Old.", 200)
    assert not decay([old], now=NOW, uses={old.id: Uses(1, NOW - timedelta(days=3))}).writes
    assert not decay([old], now=NOW, uses={old.id: Uses(40, NOW - timedelta(days=199))}).writes
    assert decay([old], now=NOW, uses={"mem:other": Uses(40, NOW)}).writes


@pytest.mark.requirement("S1-42", "S1-82")
def test_what_is_protected_is_reported_with_what_protects_it():
    one, other, cited, kept = (aged(name, 900) for name in ("One.", "Two.", "Cited.", "Kept."))
    kept = replace(kept, tags=("keep",))
    born = NOW - timedelta(days=900)
    rule = new_record(RecordType.RULE, "Rule.", provenance=Provenance("t"), now=born, evidence=(cited.id,))
    pair = lifecycle.dispute(one, other, reason="why", now=NOW - timedelta(days=800))
    outcome = decay([*pair, cited, kept, rule], now=NOW)
    assert not outcome.writes
    reasons = {action.ids[0]: action.reason.split("kept, since ")[1] for action in outcome.report.protected}
    assert reasons == {
        one.id: "it is disputed, and both sides stay until someone decides",
        other.id: "it is disputed, and both sides stay until someone decides",
        cited.id: "a rule rests on it",
        kept.id: "it is tagged keep",
        rule.id: "it is a rule, and its evidence is live",
    }


def test_a_rule_without_evidence_decays_and_frees_what_it_rested_on():
    cited = aged("Cited.", 900)
    successor = aged("Successor.", 1, supersedes=cited.id)
    replaced = lifecycle.supersede(cited, successor, reason="new", now=NOW - timedelta(days=800))
    born = NOW - timedelta(days=900)
    rule = new_record(RecordType.RULE, "Rule.", provenance=Provenance("t"), now=born, evidence=(cited.id,))
    flagged = lifecycle.refresh_flag(rule, {cited.id: replaced}, now=NOW - timedelta(days=800))
    outcome = decay([replaced, successor, flagged], now=NOW)
    assert set(outcome.changed) == {cited.id, rule.id}
    again = decay([*outcome.changed.values(), successor], now=NOW)
    assert again == Outcome()


def test_the_rates_can_be_chosen_within_reason():
    record = aged("A fact.", 10)
    assert decay([record], now=NOW, rates=Rates(half_life=timedelta(days=1))).writes
    assert decay([record], now=NOW, rates=Rates(threshold=0.9)).writes
    wrongs: list[dict[str, Any]] = [{"half_life": timedelta(0)}, {"bonus": -1.0}, {"threshold": -0.1}]
    for wrong in wrongs:
        with pytest.raises(InvalidArgument):
            Rates(**wrong)


@pytest.mark.requirement("S1-69")
@given(st.floats(0, 5000), st.integers(0, 50), st.floats(0, 5000), st.floats(0, 1))
def test_touches_never_lower_salience_and_age_never_raises_it(days, count, ago, confidence):
    record = aged("A fact.", days, confidence=confidence)
    rates = Rates()
    touch = Uses(count, NOW - timedelta(days=ago))
    score = salience(record, touch, now=NOW, rates=rates)
    assert score >= salience(record, None, now=NOW, rates=rates) >= 0
    assert salience(record, replace(touch, count=count + 1), now=NOW, rates=rates) >= score
    assert salience(record, touch, now=NOW + timedelta(days=1), rates=rates) <= score


@pytest.mark.requirement("S1-42")
@given(st.floats(0, 1000), st.integers(0, 20), st.floats(0, 1000), st.floats(0, 1))
def test_the_reference_gives_the_same_salience(days, count, ago, confidence):
    record = aged("A fact.", days, confidence=confidence)
    last = NOW - timedelta(days=ago)
    theirs = fg_pipeline.salience(
        fg.MemoryRecord.model_validate(record.to_json()),
        touches=count,
        last_touched=last if count else None,
        now=NOW,
        config=fg_pipeline.DecayConfig(),
    )
    ours = salience(record, Uses(count, last) if count else None, now=NOW, rates=Rates())
    assert ours == pytest.approx(theirs)

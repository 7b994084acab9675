"""The write stage: an extractor creates records and nothing else, and every proposal is accounted for."""

from datetime import UTC, datetime, timedelta

import pytest

from agent_memory_protocol.consolidation.proposals import Archive, Create, Defer, Proposal, Question, Report, Stage
from agent_memory_protocol.consolidation.write import Sentences, WholeText, take_in
from agent_memory_protocol.errors import OperatorFailed
from agent_memory_protocol.records.record import Provenance, RecordType, State, new_record

NOW = datetime(2026, 11, 15, 12, tzinfo=UTC)
SOURCE = Provenance("conversation", "session-7")


class Says:
    name = "says"

    def __init__(self, *proposals: Proposal) -> None:
        self.proposals = proposals

    def propose(self, question: Question) -> tuple[Proposal, ...]:
        assert question.stage is Stage.WRITE
        return self.proposals


class Fails:
    name = "fails"

    def propose(self, question: Question) -> tuple[Proposal, ...]:
        raise OperatorFailed(f"no model for {len(question.text)} characters")


@pytest.mark.requirement("S1-20", "S1-23")
def test_the_whole_text_becomes_one_fact_word_for_word():
    outcome = take_in(
        "  Sandro’s editor is Zed.\n\nSince March.\n", extractor=WholeText(), provenance=SOURCE, known=(), now=NOW
    )
    (record,) = outcome.writes
    assert record.body == "Sandro’s editor is Zed.\n\nSince March."
    assert (record.type, record.state, record.confidence) == (RecordType.FACT, State.ACTIVE, 0.9)
    assert (record.provenance, record.created_at) == (SOURCE, NOW)
    assert [(action.kind, action.by, action.after) for action in outcome.report.done] == [
        ("create", "whole text", ("active",))
    ]


def test_white_space_is_nothing_to_remember():
    outcome = take_in(" \n\t", extractor=WholeText(), provenance=SOURCE, known=(), now=NOW)
    assert (outcome.writes, outcome.report) == ((), Report())


@pytest.mark.requirement("S1-20")
def test_sentences_become_facts_and_events_and_never_rules():
    text = "The API listens on port 8080. We deployed on Friday, and it failed! Hello there everyone. Ok."
    outcome = take_in(text, extractor=Sentences(), provenance=SOURCE, known=(), now=NOW)
    assert [(record.type.value, record.body) for record in outcome.writes] == [
        ("fact", "The API listens on port 8080."),
        ("episode", "We deployed on Friday, and it failed!"),
    ]


@pytest.mark.requirement("S1-75")
def test_an_event_is_read_as_lines_in_one_order():
    event = {"tool": "pytest", "passed": 12, "branch": "main"}
    shuffled = dict(reversed(event.items()))
    bodies = {
        take_in(one, extractor=WholeText(), provenance=SOURCE, known=(), now=NOW).writes[0].body
        for one in (event, shuffled)
    }
    assert bodies == {"branch: main\npassed: 12\ntool: pytest"}


@pytest.mark.requirement("S1-25", "S1-76")
def test_what_is_there_already_is_reinforced_and_not_written_again():
    first = take_in("A fact.", extractor=WholeText(), provenance=SOURCE, known=(), now=NOW)
    known = {record.id for record in first.writes}
    again = take_in("A fact.", extractor=WholeText(), provenance=SOURCE, known=known, now=NOW)
    assert (again.writes, again.reinforced) == ((), tuple(known))
    assert [action.kind for action in again.report.done] == ["reinforce"]
    later = take_in("A fact.", extractor=WholeText(), provenance=SOURCE, known=known, now=NOW + timedelta(days=1))
    assert len(later.writes) == 1


@pytest.mark.requirement("S1-39", "S1-75")
def test_an_extractor_only_creates_and_one_refusal_leaves_the_others():
    good = new_record(RecordType.FACT, "Good.", provenance=SOURCE, now=NOW)
    rule = new_record(RecordType.RULE, "Rule.", provenance=SOURCE, now=NOW, evidence=(good.id,))
    extractor = Says(Archive(good.id, "away"), Create(rule), Create(good), Create(good), Defer((), "more later"))
    outcome = take_in("A text.", extractor=extractor, provenance=SOURCE, known=(), now=NOW)
    assert outcome.writes == (good,)
    assert outcome.reinforced == (good.id,)
    assert [(action.kind, action.by) for action in outcome.report.refused] == [("archive", "says"), ("create", "says")]
    assert [action.reason for action in outcome.report.deferred] == ["more later"]


def test_every_record_gets_the_tags_it_is_remembered_with():
    tagged = new_record(RecordType.FACT, "Good.", provenance=SOURCE, now=NOW, tags=("a",))
    outcome = take_in("A text.", extractor=Says(Create(tagged)), provenance=SOURCE, known=(), now=NOW, tags=["b", "a"])
    assert (outcome.writes[0].id, outcome.writes[0].tags) == (tagged.id, ("a", "b"))


def test_an_extractor_that_fails_is_reported():
    outcome = take_in("A text.", extractor=Fails(), provenance=SOURCE, known=(), now=NOW)
    assert not outcome.writes
    assert [action.reason for action in outcome.report.refused] == ["no model for 7 characters"]

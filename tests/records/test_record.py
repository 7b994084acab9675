"""Records: what the format allows can be made, read and written, and nothing else can."""

import hashlib
import pickle
from dataclasses import FrozenInstanceError, replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent_memory_protocol.errors import InvalidRecord
from agent_memory_protocol.records import lifecycle
from agent_memory_protocol.records.canonical import canonical
from agent_memory_protocol.records.record import Provenance, Record, RecordType, State, Transition, is_id, new_record
from tests.each_row import each_row

NOW = datetime(2026, 11, 15, 12, tzinfo=UTC)
OTHER = "mem:" + "0" * 32


def fact(body: str = "The port is 8080.", **changes: Any) -> Record:
    return new_record(RecordType.FACT, body, provenance=Provenance("conversation", "s1"), now=NOW, **changes)


def rule(**changes: Any) -> Record:
    record = new_record(
        RecordType.RULE, "Ask first.", provenance=Provenance("consolidation"), now=NOW, evidence=(OTHER,)
    )
    return replace(record, **changes)


FACT = fact()
TOMBSTONE = lifecycle.redact(FACT, reason="a token", now=NOW)


@pytest.mark.requirement("S1-02", "S1-03", "S1-04", "S1-51", "S1-52", "S1-65")
@given(st.from_type(Record))
def test_a_record_survives_its_own_bytes(record):
    again = Record.from_bytes(record.to_bytes())
    assert again == record
    assert again.to_bytes() == record.to_bytes()
    assert Record.from_json(record.to_json()) == record
    assert hash(again) == hash(record)
    assert is_id(record.id)


@pytest.mark.requirement("S1-04", "S1-50")
@given(st.from_type(Record))
def test_the_id_is_the_hash_of_the_birth_and_of_nothing_else(record):
    if record.redacted:
        assert record.id == f"mem:{record.birth_digest[:32]}"
        return
    wire = record.to_json()
    birth = {name: wire[name] for name in ("type", "body", "slots", "provenance", "created_at")}
    assert record.id == f"mem:{hashlib.sha256(canonical(birth)).hexdigest()[:32]}"
    with pytest.raises(InvalidRecord, match="its id is not that of its content"):
        replace(record, body=record.body + ".")


@pytest.mark.requirement("S1-52")
def test_optional_fields_are_written_only_when_set():
    assert not {"occurred_at", "redacted", "redaction_reason", "birth_digest"} & set(FACT.to_json())
    assert fact(occurred_at=NOW).to_json()["occurred_at"] == "2026-11-15T12:00:00.000Z"
    assert fact(occurred_at=NOW).id == FACT.id
    assert TOMBSTONE.to_json()["redacted"] is True


@pytest.mark.requirement("S1-51")
def test_fields_we_do_not_know_are_kept_where_they_belong():
    wire = FACT.to_json() | {"x_mood": {"b": [1, "é"], "a": None}, "extra": "no field of the format"}
    record = Record.from_json(wire)
    assert record.extra["extra"] == "no field of the format"
    assert record.id == FACT.id
    assert record.to_json() == wire
    assert "x_mood" in record.payload()
    assert Record.from_bytes(canonical(wire)) == record


@pytest.mark.requirement("S1-51")
@each_row("name", ["body", "signature", "redacted", "occurred_at"])
def test_an_extra_field_may_not_take_the_name_of_a_defined_one(name):
    with pytest.raises(InvalidRecord, match=f"extra fields may not be called {name}"):
        replace(FACT, extra={name: "x"})


@pytest.mark.requirement("S1-53")
@each_row("given_, written", [(0, "0.0000"), (1, "1.0000"), (0.5, "0.5000"), (0.123449, "0.1234"), (-0.0, "0.0000")])
def test_confidence_is_written_with_four_digits(given_, written):
    record = fact(confidence=given_)
    assert record.to_json()["confidence"] == written
    assert Record.from_bytes(record.to_bytes()).confidence == record.confidence == float(written)


@pytest.mark.requirement("S1-53")
@each_row("value", [1.00001, -0.1, float("nan"), float("inf"), "0.5", True, None])
def test_what_is_no_confidence_is_refused(value):
    with pytest.raises(InvalidRecord, match="confidence"):
        fact(confidence=value)


ALLOWED = {
    "superseded": {"state": State.SUPERSEDED, "superseded_by": OTHER},
    "archived after it was superseded": {"state": State.ARCHIVED, "superseded_by": OTHER},
    "one side of a transition": {"state": State.TRANSITIONAL, "transition": Transition((OTHER, FACT.id), "no")},
    "a link that is not an id": {"supersedes": "some other system's 42"},
    "an address without a signature": {"signed_by": "amp:key:x"},
}


@each_row("changes", ALLOWED.values(), ids=ALLOWED)
def test_what_the_format_allows_is_a_record(changes):
    record = replace(FACT, **changes)
    assert Record.from_bytes(record.to_bytes()) == record


REFUSED: dict[str, tuple[Record, dict[str, Any], str]] = {
    "successor of an active one": (FACT, {"superseded_by": OTHER}, "active has no superseded_by"),
    "superseded by nobody": (FACT, {"state": State.SUPERSEDED}, "must name its successor"),
    "transitional without transition": (FACT, {"state": State.TRANSITIONAL}, "and no other, has a transition"),
    "transition of an active one": (FACT, {"transition": Transition((FACT.id, OTHER), "x")}, "and no other"),
    "transition of two others": (
        FACT,
        {"state": State.TRANSITIONAL, "transition": Transition((OTHER, "mem:1"), "x")},
        "does not name it",
    ),
    "flagged fact": (FACT, {"flagged": True}, "only a rule can be flagged"),
    "rule without evidence": (rule(), {"evidence": ()}, "a rule needs evidence"),
    "empty link": (rule(), {"evidence": (OTHER, "")}, "link to another record is empty"),
    "reason of no redaction": (FACT, {"redaction_reason": "x"}, "belong to a redacted record"),
    "digest of no redaction": (FACT, {"birth_digest": "0" * 64}, "belong to a redacted record"),
    "living tombstone": (TOMBSTONE, {"state": State.ACTIVE}, "a redacted record is archived"),
    "tombstone without reason": (TOMBSTONE, {"redaction_reason": ""}, "needs a redaction_reason"),
    "tombstone without digest": (TOMBSTONE, {"birth_digest": None}, "needs the birth_digest"),
    "tombstone of another": (TOMBSTONE, {"birth_digest": "0" * 64}, "its id is not"),
    "tombstone with a body": (TOMBSTONE, {"body": "The door code is 4711."}, "has no content"),
    "tombstone with slots": (TOMBSTONE, {"slots": {"code": 4711}}, "has no content"),
    "tombstone with tags": (TOMBSTONE, {"tags": ("4711",)}, "has no content"),
    "tombstone with a source": (TOMBSTONE, {"provenance": Provenance("redaction", "s1")}, "has no content"),
    "unknown state": (FACT, {"state": "forgotten"}, "forgotten"),
    "text that is none": (FACT, {"body": 5}, "where text belongs"),
    "no text": (FACT, {"body": None}, "where text belongs"),
    "no signature text": (FACT, {"signature": None}, "where text belongs"),
    "source that is a text": (FACT, {"provenance": "me"}, "provenance cannot be of type str"),
    "moment that is a text": (FACT, {"created_at": "2026-11-15T12:00:00.000Z"}, "created_at cannot be of type str"),
    "flag that is a number": (rule(), {"flagged": 1}, "flagged cannot be of type int"),
    "slots that are a list": (FACT, {"slots": [1]}, "slots cannot be of type list"),
    "tags that are text": (FACT, {"tags": "abc"}, "list of texts"),
    "moment without zone": (FACT, {"updated_at": NOW.replace(tzinfo=None)}, "no time zone"),
    "float in a slot": (FACT, {"slots": {"port": 1.5}}, "float"),
}


@pytest.mark.requirement("S1-02", "S1-50", "S1-54", "S1-55", "S1-60", "S1-83")
@each_row("record, changes, reason", REFUSED.values(), ids=REFUSED)
def test_what_the_format_forbids_cannot_be_made(record, changes, reason):
    with pytest.raises(InvalidRecord) as caught:
        replace(record, **changes)
    assert reason in str(caught.value)
    assert "\n" not in str(caught.value)


MISSPELLED: dict[str, dict[str, Any]] = {
    "confidence as a number": {"confidence": 1},
    "confidence in two digits": {"confidence": "0.50"},
    "confidence with a sign": {"confidence": "+0.5000"},
    "negative nothing": {"confidence": "-0.0000"},
    "confidence over one": {"confidence": "1.0001"},
    "moment without milliseconds": {"updated_at": "2026-11-15T12:00:00Z"},
    "null moment": {"occurred_at": None},
    "not redacted": {"redacted": False},
    "flag as a number": {"flagged": 0},
    "null slots": {"slots": None},
    "slots as a list": {"slots": []},
    "tags as text": {"tags": "ab"},
    "number among tags": {"tags": [1]},
    "null signature": {"signature": None},
    "source with more fields": {"provenance": {"kind": "x", "ref": None, "agent": None, "mood": 1}},
    "source with fewer fields": {"provenance": {"kind": "x"}},
    "source that is a number": {"provenance": {"kind": "x", "ref": 5, "agent": None}},
    "source of no kind": {"provenance": {"kind": "", "ref": None, "agent": None}},
    "one side": {"state": "transitional", "transition": {"sides": [FACT.id], "reason": "x"}},
    "the same side twice": {"state": "transitional", "transition": {"sides": [FACT.id] * 2, "reason": "x"}},
    "no reason": {"state": "transitional", "transition": {"sides": [FACT.id, OTHER], "reason": ""}},
    "empty id": {"id": ""},
    "another's id": {"id": OTHER},
    "unknown type": {"type": "opinion"},
    "type as a list": {"type": ["fact"]},
}


@pytest.mark.requirement("S1-50", "S1-52", "S1-53", "S1-60")
@each_row("changes", MISSPELLED.values(), ids=MISSPELLED)
def test_a_record_that_is_spelled_wrongly_is_refused(changes):
    with pytest.raises(InvalidRecord) as caught:
        Record.from_json(FACT.to_json() | changes)
    assert "\n" not in str(caught.value)


@each_row("name", list(FACT.to_json()))
def test_a_record_without_one_of_its_fields_is_refused(name):
    wire = FACT.to_json()
    del wire[name]
    with pytest.raises(InvalidRecord, match=f"{name} is missing"):
        Record.from_json(wire)


def test_one_line_says_all_that_is_wrong():
    with pytest.raises(InvalidRecord) as caught:
        Record.from_json(FACT.to_json() | {"confidence": "2", "tags": None, "body": 5})
    assert str(caught.value) == (
        f"{FACT.id}: body must be text; confidence must be text with four digits, from 0.0000 to 1.0000;"
        " tags must be a list of texts"
    )
    with pytest.raises(InvalidRecord) as caught:
        replace(FACT, flagged=True, superseded_by=OTHER)
    assert str(caught.value) == (f"{FACT.id}: a record that is active has no superseded_by; only a rule can be flagged")


@each_row("value", [None, [], "text", 5])
def test_what_is_no_object_is_no_record(value):
    with pytest.raises(InvalidRecord, match="a record is a JSON object"):
        Record.from_json(value)


def test_a_record_is_a_value():
    slots: dict[str, Any] = {"hosts": ["a"]}
    record = fact(slots=slots)
    slots["hosts"].append("b")
    assert record.slots == {"hosts": ("a",)}
    assert record == fact(slots={"hosts": ["a"]})
    with pytest.raises(TypeError):
        record.slots["hosts"] = ()  # type: ignore[index]
    with pytest.raises(FrozenInstanceError):
        record.body = "x"  # type: ignore[misc]


def test_moments_are_as_precise_as_they_are_written():
    precise = NOW + timedelta(microseconds=1999)
    assert replace(FACT, updated_at=precise).updated_at == NOW + timedelta(milliseconds=1)
    assert fact(body="e\u0301") == fact(body="é")


def test_records_travel_between_processes():
    record = fact(slots={"hosts": ["a"]})
    assert pickle.loads(pickle.dumps(record)) == record

"""Beside the published reference: the same becomes of the same records, and each goes on where the other stopped."""

import json
from collections import Counter
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from agent_memory_protocol.consolidation.decay import decay
from agent_memory_protocol.consolidation.pipeline import consolidate, resolve
from agent_memory_protocol.records.record import Provenance, Record, RecordType, State, new_record
from tests.each_row import each_row

fg = pytest.importorskip("fg_agent_memory")
pipeline = pytest.importorskip("fg_agent_memory.pipeline")

NOW = datetime(2026, 11, 15, 12, tzinfo=UTC)


def made(*given: str | dict[str, Any]) -> list[Record]:
    source = Provenance("conversation")
    records = []
    for minute, one in enumerate(given):
        fields: dict[str, Any] = {"type": RecordType.FACT} | ({"body": one} if isinstance(one, str) else one)
        records.append(new_record(provenance=source, now=NOW - timedelta(minutes=60 - minute), **fields))
    return records


def theirs_of(records: list[Record]) -> Any:
    store = fg.InMemoryRecordStore()
    for record in records:
        store.put(fg.MemoryRecord.model_validate(json.loads(record.to_bytes())))
    return store


def ours_of(store: Any) -> dict[str, Record]:
    records = [Record.from_json(record.model_dump()) for record in store.list()]
    return {record.id: record for record in records}


def states(records: Any) -> Counter[tuple[str, str]]:
    return Counter((str(record.type.value), str(record.state.value)) for record in records)


DEPLOYS: list[dict[str, Any]] = [
    {"body": f"Deploy failed on day {day}.", "type": RecordType.EPISODE, "tags": ("deploy",)} for day in range(3)
]


@pytest.mark.requirement("S1-34", "S1-41", "S1-77", "S1-78", "S1-80")
@each_row(
    "bodies",
    [
        pytest.param(["The staging database is Postgres.", "The staging database is not Postgres."], id="negation"),
        pytest.param(["The deploy pipeline is green.", "The deploy pipeline is not green."], id="green"),
        pytest.param(
            [
                "The backend requires a restart after edits.",
                "The backend does not require a restart after edits.",
            ],
            id="requires",
        ),
        pytest.param(
            [
                "The operator backend hot-reloads; no restart needed.",
                "The operator backend requires a restart after edits.",
            ],
            id="no X needed",
        ),
        pytest.param(["The deploy target is us-east-1.", "The staging password rotates weekly."], id="unrelated"),
        pytest.param(["Sandro likes coffee.", "Sandro likes tea."], id="two likings"),
        pytest.param(["The build is green.", "The build is green."], id="exact copies"),
        pytest.param(["Sandro prefers small focused files.", "Sandro prefers small, focused files!"], id="near copies"),
        pytest.param(
            [{"body": "Region.", "slots": {"region": "eu"}}, {"body": "Region!", "slots": {"region": "us"}}], id="slots"
        ),
        pytest.param(DEPLOYS, id="three episodes"),
        pytest.param(DEPLOYS[:2], id="two episodes"),
    ],
)
def test_the_same_becomes_of_the_same_records(bodies):
    records = made(*bodies)
    store = theirs_of(records)
    default = pipeline.default_operators()
    undecided = pipeline.ConsolidationOperators(near_dup=default.near_dup, contradiction=default.contradiction)
    pipeline.consolidate(store, now=NOW, operators=undecided)
    newest = {record.id: record for record in records} | consolidate(records, now=NOW).changed
    assert states(newest.values()) == states(store.list())


def test_each_decides_what_the_other_has_disputed():
    records = made("The staging database is Postgres.", "The staging database is not Postgres.")
    loser, winner = (record.id for record in records)

    store = theirs_of(records)
    for record in consolidate(records, now=NOW).writes:
        store.put(fg.MemoryRecord.model_validate(json.loads(record.to_bytes())))
    won, lost = pipeline.resolve(store, winner_id=winner, loser_id=loser, reason="seen", now=NOW)
    assert (won.state.value, lost.superseded_by) == ("active", winner)
    assert not consolidate(ours_of(store).values(), now=NOW).writes

    store = theirs_of(records)
    default = pipeline.default_operators()
    pipeline.consolidate(store, now=NOW, operators=pipeline.ConsolidationOperators(contradiction=default.contradiction))
    outcome = resolve(ours_of(store).values(), winner=winner, loser=loser, reason="seen", now=NOW)
    assert [record.state for record in outcome.writes] == [State.SUPERSEDED, State.ACTIVE]


@pytest.mark.requirement("S1-42", "S1-82")
def test_the_same_decays():
    born = NOW - timedelta(days=500)
    source = Provenance("conversation")
    old, cited = (new_record(RecordType.FACT, body, provenance=source, now=born) for body in ("Old.", "Cited."))
    rule = new_record(RecordType.RULE, "Rule.", provenance=source, now=born, evidence=(cited.id,))
    young = new_record(RecordType.FACT, "Young.", provenance=source, now=NOW)
    records = [old, cited, rule, young]
    theirs = pipeline.decay(theirs_of(records), now=NOW)
    ours = decay(records, now=NOW).report
    assert {action.record_ids for action in theirs.archived} == {action.ids for action in ours.done} == {(old.id,)}
    assert {action.record_ids for action in theirs.protected} == {action.ids for action in ours.protected}

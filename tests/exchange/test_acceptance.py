"""Acceptance: what of a file is a record of somebody, which is asked for, and what is a plain fact."""

import json
from pathlib import Path

import pytest

from agent_memory_protocol.exchange.acceptance import Acceptance, acceptance_of
from agent_memory_protocol.exchange.foreign import reader_of
from agent_memory_protocol.exchange.import_ import Import, import_file, into_records
from agent_memory_protocol.formats import rows
from agent_memory_protocol.formats.record_entries import entry_of
from agent_memory_protocol.formats.rows import Columns
from agent_memory_protocol.memory import Memory
from agent_memory_protocol.records.signing import Identity
from agent_memory_protocol.records.sqlite_store import MemoryStore
from tests.each_row import each_row

CHANGES = {
    "text changed": lambda row: {**row, "text": "Backups go nowhere."},
    "record cut": lambda row: {**row, "extra": {**row["extra"], "record": row["extra"]["record"][:-9]}},
    "record taken out": lambda row: {**row, "extra": {"id": row["extra"]["id"]}},
    "id in a column": lambda row: {"id": row["extra"]["id"], "text": row["text"]},
    "signer in a column": lambda row: {"text": row["text"], "signed_by": row["signed_by"]},
    "owner in an object": lambda row: {"text": row["text"], "provenance": {"agent": row["signed_by"]}},
    "address as source": lambda row: {"text": row["text"], "source": row["signed_by"]},
    "record as a row": lambda row: json.loads(row["extra"]["record"]),
}


@pytest.mark.slow
def test_what_names_an_id_or_an_address_of_ours_and_is_no_record_is_asked_for(tmp_path):
    memory = Memory(store=MemoryStore(), identity=str(tmp_path / "own.key"))
    memory.remember("Backups go to S3.")
    (record,) = memory.records()
    entry = entry_of(record)
    row = {"id": entry.id, "text": entry.text, "extra": dict(entry.extra), "signed_by": record.signed_by}
    path = str(tmp_path / "x.ndjson")
    for name, change in CHANGES.items():
        Path(path).write_text(json.dumps(change(row)))
        into = Memory(store=MemoryStore(), identity=str(tmp_path / "mine.key"))

        def bring(into: Memory, unsigned: bool) -> Import:
            kind, read = reader_of(path, path, "auto", Columns())
            accept = acceptance_of(path, kind, into, [str(record.signed_by)], unsigned=unsigned)
            return import_file(path, read, into_records(into, accept=accept), apply=True)

        done = bring(into, unsigned=False)
        assert (done.refused, into.records()) == (True, ()), name
        assert "no signature covers it; take it as a new fact with --accept-unsigned" in done.problems[0].reason, name
        assert bring(into, unsigned=True).counts["new"] == 1, name
        (taken,) = into.records()
        assert taken.id != record.id, name
        assert taken.signed_by == Identity.load(str(tmp_path / "mine.key")).address, name


PLAIN = {
    "a row": {"text": "Use tabs.", "id": "17", "tags": ["style"]},
    "columns called as ours": {"text": "Use tabs.", "id": "mem:12", "record": "vinyl", "signed_by": "Ana"},
    "an address in the text": {"text": "Ana signs as amp:key:8qjc3Ve22XxLFjwK7VaXVnovF2pux3sjWB1AMn65pW6i."},
}


@each_row("row", PLAIN.values(), ids=PLAIN)
def test_a_plain_fact_of_another_tool_comes_in_unasked(row):
    assert Acceptance(Memory(store=MemoryStore())).check(rows.entry(row, Columns())) is None

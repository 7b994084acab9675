"""Looking again at a store: what came, went or changed is noticed, whoever did it, and nothing else is read."""

from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pytest

from agent_memory_protocol.records.lifecycle import archive
from agent_memory_protocol.records.record import Provenance, Record, RecordType, new_record
from agent_memory_protocol.records.seen import Seen
from agent_memory_protocol.records.store import DirectoryStore, RecordStore

NOW = datetime(2026, 11, 15, 12, tzinfo=UTC)
WHY: dict[str, Any] = {"reason": "because", "now": NOW}


def record(body: str = "A fact.", type: RecordType = RecordType.FACT) -> Record:
    evidence = ("mem:" + "0" * 32,) if type is RecordType.RULE else ()
    return new_record(type, body, provenance=Provenance("test"), now=NOW, evidence=evidence)


class OnlyThePort:
    """A store that can do what the port asks for and nothing else."""

    def __init__(self, store: Any) -> None:
        self.put, self.get, self.history, self.list = store.put, store.get, store.history, store.list


@pytest.fixture(params=["watched", "only the port"])
def looked_at(request, open_store):
    """Two ways to the same records: one that is looked at, one by which others write."""
    ours: RecordStore = open_store() if request.param == "watched" else OnlyThePort(open_store())
    return Seen(ours), open_store()


@pytest.mark.slow
def test_what_others_write_is_noticed_at_the_next_look(looked_at):
    seen, others = looked_at
    assert seen.look() == []
    one, two = record("one"), record("two")
    others.put(one)
    assert seen.look() == [one]
    assert seen.look() == []
    others.put(two)
    others.put(archive(one, **WHY))
    assert {(now.id, now.state) for now in seen.look()} >= {(two.id, two.state)}
    assert set(seen.stamps) == {one.id, two.id}


def test_a_first_look_reads_what_another_version_or_a_redaction_has_changed(open_store, tmp_path):
    path, store = str(tmp_path / "catalog.sqlite"), open_store()
    records = [record(f"fact {number}") for number in range(5)]
    for one in records:
        store.put(one)
    assert len(Seen(store, path).look()) == 5
    gone = archive(records[1], **WHY)
    store.put(gone)
    stone = store.redact(records[3].id, **WHY)
    assert {now.id: now for now in Seen(open_store(), path).look()} == {gone.id: gone, stone.id: stone}
    assert Seen(open_store(), path).look() == []


@pytest.mark.slow
def test_what_this_process_writes_is_no_news_to_it(looked_at):
    seen, others = looked_at
    seen.look()
    one, two = record("one"), record("two")
    seen._store.put(one)
    seen.wrote(one)
    assert seen.look() == []
    others.put(two)
    assert seen.look() == [two]


def test_a_record_that_went_is_noticed(tmp_path):
    store, path = DirectoryStore(tmp_path / "records"), str(tmp_path / "catalog.sqlite")
    one = record()
    store.put(one)
    seen = Seen(store, path)
    seen.look()
    (tmp_path / "records" / one.id[4:]).rename(tmp_path / "elsewhere")
    assert seen.look() == []
    assert seen.stamps == {}
    assert Seen(store, path).look() == []


def test_a_damaged_record_is_a_problem_and_hides_no_other(tmp_path):
    store = DirectoryStore(tmp_path / "records")
    one, two = record("one"), record("two")
    store.put(one)
    store.put(two)
    (tmp_path / "records" / ("0" * 32)).mkdir()  # what a writer that was killed leaves
    file = tmp_path / "records" / one.id[4:] / "000001.json"
    whole = file.read_bytes()
    file.write_bytes(whole[:-1])
    seen = Seen(store)
    assert seen.look() == [two]
    assert list(seen.problems) == [one.id]
    assert "000001.json" in seen.problems[one.id]
    file.write_bytes(whole)
    store.put(record("three"))
    assert one in seen.look()
    assert seen.problems == {}


def test_who_writes_much_and_is_in_a_hurry_does_not_look_each_time(tmp_path):
    class Counting(DirectoryStore):
        looks = 0

        def stamps(self, ids: Any = None) -> dict[str, str]:
            self.looks += ids is None
            return super().stamps(ids)

    store = Counting(tmp_path / "records")
    seen = Seen(store)
    seen.look()
    seen._rest_until = float("inf")
    for number in range(20):
        seen.look(hurried=True)
        store.put(one := record(f"fact {number}"))
        seen.wrote(one)
    assert store.looks == 1
    others = record("from elsewhere")
    DirectoryStore(tmp_path / "records").put(others)
    assert seen.look() == [others]


# The file of what was seen


def test_a_text_and_the_rules_are_found_from_a_file_that_holds_no_content(tmp_path):
    store, path = DirectoryStore(tmp_path / "records"), str(tmp_path / "catalog.sqlite")
    one, again = record("Say this."), replace(record("Say this.", RecordType.EPISODE), tags=("x",))
    rule = record("A rule.", RecordType.RULE)
    for each in (one, again, rule):
        store.put(each)
    seen = Seen(store, path)
    seen.look()
    seen.close()
    seen = Seen(store, path)
    assert {now.id for now in seen.saying("Say this.")} == {one.id, again.id}
    assert seen.saying("Say that.") == []
    assert seen.rules() == [rule]
    (tmp_path / "records" / one.id[4:]).rename(tmp_path / "elsewhere")
    seen.look()
    (tmp_path / "elsewhere").rename(tmp_path / "records" / one.id[4:])
    assert seen.saying("Say this.") == [again]
    seen.close()
    assert b"Say this" not in (tmp_path / "catalog.sqlite").read_bytes()

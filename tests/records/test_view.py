"""Looking again at a store: what came, went or changed is noticed, whoever did it, and nothing else is read."""

import json
import os
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from agent_memory_protocol.records.catalog import Catalog
from agent_memory_protocol.records.lifecycle import archive
from agent_memory_protocol.records.record import Provenance, Record, RecordType, new_record
from agent_memory_protocol.records.side_file import SideFile
from agent_memory_protocol.records.store import DirectoryStore, RecordStore
from agent_memory_protocol.records.usage import Usage, Uses, read_counts
from agent_memory_protocol.records.view import Changes, View

NOW = datetime(2026, 11, 15, 12, tzinfo=UTC)
WHY: dict[str, Any] = {"reason": "because", "now": NOW}
TABLE = "CREATE TABLE IF NOT EXISTS one (word TEXT)"


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
    return View(ours, Catalog()), open_store()


def test_what_others_write_is_noticed_at_the_next_look(looked_at):
    view, others = looked_at
    assert view.look() == Changes()
    one, two = record("one"), record("two")
    others.put(one)
    assert view.look() == Changes((one,))
    assert view.look() == Changes()
    others.put(two)
    others.put(archive(one, **WHY))
    assert {(now.id, now.state) for now in view.look().records} >= {(two.id, two.state)}
    assert set(view.stamps) == {one.id, two.id}


def test_a_first_look_reads_what_another_version_or_a_redaction_has_changed(open_store):
    catalog, store = Catalog(), open_store()
    records = [record(f"fact {number}") for number in range(5)]
    for one in records:
        store.put(one)
    assert len(View(store, catalog).look().records) == 5
    gone = archive(records[1], **WHY)
    store.put(gone)
    stone = store.redact(records[3].id, **WHY)
    assert {now.id: now for now in View(open_store(), catalog).look().records} == {gone.id: gone, stone.id: stone}
    assert View(open_store(), catalog).look() == Changes()


def test_what_this_process_writes_is_no_news_to_it(looked_at):
    view, others = looked_at
    view.look()
    one, two = record("one"), record("two")
    view._store.put(one)
    view.wrote([one])
    assert view.look() == Changes()
    others.put(two)
    assert view.look() == Changes((two,))


def test_a_record_that_went_is_noticed(tmp_path):
    store, catalog = DirectoryStore(tmp_path / "records"), Catalog()
    one = record()
    store.put(one)
    view = View(store, catalog)
    view.look()
    (tmp_path / "records" / one.id[4:]).rename(tmp_path / "elsewhere")
    assert view.look() == Changes((), (one.id,))
    assert catalog.stamps() == {}


def test_a_damaged_record_is_a_problem_and_hides_no_other(tmp_path):
    store = DirectoryStore(tmp_path / "records")
    one, two = record("one"), record("two")
    store.put(one)
    store.put(two)
    (tmp_path / "records" / ("0" * 32)).mkdir()  # what a writer that was killed leaves
    file = tmp_path / "records" / one.id[4:] / "000001.json"
    whole = file.read_bytes()
    file.write_bytes(whole[:-1])
    view = View(store, Catalog())
    assert view.look() == Changes((two,))
    assert list(view.problems) == [one.id]
    assert "000001.json" in view.problems[one.id]
    file.write_bytes(whole)
    store.put(record("three"))
    assert one in view.look().records
    assert view.problems == {}


def test_who_writes_much_and_is_in_a_hurry_does_not_look_each_time(tmp_path):
    class Counting(DirectoryStore):
        looks = 0

        def stamps(self, ids: Any = None) -> dict[str, str]:
            self.looks += ids is None
            return super().stamps(ids)

    store = Counting(tmp_path / "records")
    view = View(store, Catalog())
    view.look()
    view._rest_until = float("inf")
    for number in range(20):
        view.look(hurried=True)
        store.put(one := record(f"fact {number}"))
        view.wrote([one])
    assert store.looks == 1
    others = record("from elsewhere")
    DirectoryStore(tmp_path / "records").put(others)
    assert view.look() == Changes((others,))


# The catalog


def test_a_catalog_finds_a_text_and_the_rules_and_holds_no_content(tmp_path):
    catalog = Catalog(str(tmp_path / "catalog.sqlite"))
    one, again = record("Say this."), replace(record("Say this.", RecordType.EPISODE), tags=("x",))
    rule = record("A rule.", RecordType.RULE)
    catalog.note([(one, "1"), (again, "1"), (rule, "1")])
    catalog.close()
    catalog = Catalog(str(tmp_path / "catalog.sqlite"))
    assert set(catalog.saying("Say this.")) == {one.id, again.id}
    assert catalog.saying("Say that.") == []
    assert catalog.rules() == [rule.id]
    catalog.note([], gone=[one.id])
    assert catalog.saying("Say this.") == [again.id]
    catalog.close()
    assert b"Say this" not in (tmp_path / "catalog.sqlite").read_bytes()


# Uses


def test_uses_are_counted_by_several_at_once(tmp_path):
    one, other = Usage(str(tmp_path / "usage.sqlite")), Usage(str(tmp_path / "usage.sqlite"))
    one.count(["mem:a", "mem:b"], NOW)
    other.count(["mem:a"], NOW + timedelta(days=1))
    one.count(["mem:a"], NOW)
    expected = {"mem:a": Uses(3, NOW + timedelta(days=1)), "mem:b": Uses(1, NOW)}
    assert one.all() == other.all() == expected
    assert one.of(["mem:a", "mem:c"]) == {"mem:a": expected["mem:a"]}
    one.forget("mem:a")
    assert other.all() == {"mem:b": Uses(1, NOW)}


def test_what_the_reference_has_counted_is_added():
    name = "mem:" + "a" * 32
    counted = {"scores": {name: {"touches": 2, "last_touched": "2026-11-15T12:00:00.000Z"}}}
    usage = Usage(others=read_counts(json.dumps(counted).encode()))
    assert usage.of([name]) == usage.all() == {name: Uses(2, NOW)}
    usage.count([name], NOW + timedelta(days=1))
    assert usage.of([name]) == usage.all() == {name: Uses(3, NOW + timedelta(days=1))}


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"{",
        b"[]",
        b'{"scores": 1}',
        b'{"scores": {"x": {"touches": 1, "last_touched": "2026-11-15T12:00:00.000Z"}}}',
        b'{"scores": {"mem:%s": {"touches": "1"}}}' % (b"a" * 32),
        b'{"scores": {"mem:%s": {"touches": 1, "last_touched": "yesterday"}}}' % (b"a" * 32),
        b"[" * 100_000,
        b"\xff",
    ],
)
def test_what_is_no_count_counts_nothing(data):
    assert read_counts(data) == {}


# A file that may be lost


def test_reading_makes_no_file(tmp_path):
    assert SideFile(str(tmp_path / "b.sqlite"), TABLE).rows("SELECT word FROM one") == []
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("data", [b"no database at all, and long enough to be looked at" * 50, b"SQLite format 3\0xx"])
def test_a_damaged_file_is_made_anew(tmp_path, data):
    path = tmp_path / "b.sqlite"
    path.write_bytes(data)
    file = SideFile(str(path), TABLE)
    assert file.rows("SELECT word FROM one") == []
    file.write(("INSERT INTO one VALUES (?)", [("a",)]))
    assert SideFile(str(path), TABLE).rows("SELECT word FROM one") == [("a",)]


def test_where_no_file_can_be_its_tables_are_kept_in_the_process(tmp_path):
    (tmp_path / "in the way").write_text("x")
    file = SideFile(str(tmp_path / "in the way" / "b.sqlite"), TABLE)
    file.write(("INSERT INTO one VALUES (?)", [("a",)]))
    assert file.rows("SELECT word FROM one") == [("a",)]


def test_what_cannot_be_written_at_once_is_let_go_whole(tmp_path):
    file = SideFile(str(tmp_path / "b.sqlite"), TABLE)
    file.write(("INSERT INTO one VALUES (?)", [("a",)]), ("INSERT INTO two VALUES (?)", [("b",)]))
    assert file.rows("SELECT word FROM one") == []
    file.write(("INSERT INTO one VALUES (?)", [("c",)]))
    assert file.rows("SELECT word FROM one") == [("c",)]


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork")
@pytest.mark.filterwarnings("ignore:This process")
def test_a_forked_child_opens_the_file_anew(tmp_path):
    file = SideFile(str(tmp_path / "b.sqlite"), TABLE)
    file.write(("INSERT INTO one VALUES (?)", [("parent",)]))
    child = os.fork()
    if child == 0:
        file.write(("INSERT INTO one VALUES (?)", [("child",)]))
        os._exit(0)
    assert os.waitpid(child, 0)[1] == 0
    assert file.rows("SELECT word FROM one") == [("parent",), ("child",)]

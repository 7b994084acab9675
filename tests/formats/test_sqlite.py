import json
import os
import sqlite3
import subprocess
import sys
from contextlib import closing, suppress
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agent_memory_protocol.errors import DamagedFile, InvalidArgument, StorageError
from agent_memory_protocol.formats import sqlite
from agent_memory_protocol.formats.derived import derived
from agent_memory_protocol.formats.entry import BadEntry, MemoryEntry, Problem, embedding_of

from .conftest import ENTRIES

VECTOR = embedding_of([1.0, 2.0])


def write(path: Path, *entries: MemoryEntry) -> None:
    sqlite.write(str(path), map(sqlite.encode, entries))


def do(path: Path, statement: str, *values: object) -> list[tuple[object, ...]]:
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        return connection.execute(statement, values).fetchall()


@pytest.fixture
def path(tmp_path):
    return tmp_path / "memory.sqlite"


@pytest.mark.requirement("S3-02", "S3-23")
@settings(max_examples=min(settings().max_examples, 20))
@given(st.lists(ENTRIES, max_size=5, unique_by=lambda entry: entry.id))
def test_entries_come_back_in_their_order(tmp_path_factory, found):
    path = tmp_path_factory.mktemp("one") / "memory.sqlite"
    for loss in sqlite.LOSSES:
        found = [loss.without(entry) if loss.found(entry) else entry for entry in found]
    write(path, *found)
    assert list(sqlite.read(str(path))) == found
    assert os.listdir(path.parent) == ["memory.sqlite"]


def test_the_file_is_in_wal_mode_with_indexes_and_vectors_as_blobs(path, some):
    write(path, *some)
    assert do(path, "PRAGMA journal_mode") == [("wal",)]
    assert do(path, "SELECT typeof(embedding), embedding FROM entries LIMIT 1") == [("blob", some[0].embedding)]
    plans = [
        do(path, f"EXPLAIN QUERY PLAN SELECT * FROM {rest}")
        for rest in ("entries ORDER BY timestamp_ms DESC", "entry_tags WHERE tag = 'a' ORDER BY timestamp_ms DESC")
    ]
    assert ["INDEX" in str(plan) or "PRIMARY KEY" in str(plan) for plan in plans] == [True, True]
    assert not any("TEMP B-TREE" in str(plan) for plan in plans)


@pytest.mark.requirement("S3-08")
def test_the_newest_with_a_tag_are_found_by_time_then_by_place(path):
    times = [5, 9, 9, 1, 7]
    entries = [
        MemoryEntry(str(place), when, "x", ("task", "task", "b") if place != 4 else (), embedding=VECTOR)
        for place, when in enumerate(times)
    ]
    write(path, *entries)
    assert [entry.id for entry in sqlite.newest(str(path), "task", 3)] == ["2", "1", "0"]
    assert [entry.id for entry in sqlite.newest(str(path))] == ["2", "1", "4", "0", "3"]
    assert sqlite.newest(str(path), "unheard of") == []


def test_a_row_added_changed_or_removed_with_plain_sql_is_found_by_its_tags(path, some):
    write(path, *some)
    do(path, "INSERT INTO entries (id, timestamp_ms, text, tags) VALUES ('new', 1, 'by hand', '[\"task\"]')")
    assert [entry.id for entry in sqlite.newest(str(path), "task")][-1] == "new"
    do(path, "UPDATE entries SET tags = '[\"other\"]', timestamp_ms = 2 WHERE id = 'new'")
    assert [entry.timestamp_ms for entry in sqlite.newest(str(path), "other")] == [2]
    assert len(sqlite.newest(str(path), "task")) == 2
    do(path, "DELETE FROM entries")
    assert do(path, "SELECT * FROM entry_tags") == []


@pytest.mark.requirement("S3-20")
def test_an_entry_is_appended_and_its_id_is_taken_once(path, some):
    write(path, *some[:2])
    sqlite.append(str(path), sqlite.encode(some[2]))
    assert list(sqlite.read(str(path))) == some
    with pytest.raises(InvalidArgument, match="is there already"):
        sqlite.append(str(path), sqlite.encode(some[2]))
    assert list(sqlite.read(str(path))) == some


def test_the_nearest_are_those_of_the_same_width_by_cosine(path):
    vectors = {
        "same": [2.0, 0.0],
        "near": [1.0, 1.0],
        "opposite": [-1.0, 0.0],
        "wide": [1.0, 0.0, 0.0],
        "zero": [0.0, 0.0],
    }
    write(
        path,
        *(
            MemoryEntry(name, 1, "x", ("b",) if name == "near" else (), embedding=embedding_of(numbers))
            for name, numbers in vectors.items()
        ),
    )
    found = sqlite.nearest(str(path), embedding_of([1.0, 0.0]))
    assert [(entry.id, round(entry.relevance, 4)) for entry in found] == [
        ("same", 1.0),
        ("near", 0.7071),
        ("zero", 0.0),
        ("opposite", -1.0),
    ]
    assert [entry.id for entry in sqlite.nearest(str(path), embedding_of([1.0, 0.0]), tag="b")] == ["near"]


@pytest.mark.parametrize("vector", [b"abc", b"\0\0\xc0\x7f"])
def test_what_is_no_vector_is_not_compared(path, some, vector):
    write(path, *some)
    with pytest.raises(BadEntry, match="its embedding"):
        sqlite.nearest(str(path), vector)


def test_readers_wait_for_no_writer(path, some):
    write(path, *some)
    with closing(sqlite3.connect(path, isolation_level=None)) as writer:
        writer.execute("BEGIN IMMEDIATE")
        writer.execute("DELETE FROM entries")
        assert list(sqlite.read(str(path))) == some
        writer.execute("ROLLBACK")


@pytest.mark.skipif(os.name == "nt" or os.geteuid() == 0, reason="root may write everywhere")
def test_a_file_in_a_folder_that_cannot_be_written_is_read(path, some):
    write(path, *some)
    path.parent.chmod(0o500)
    try:
        assert list(sqlite.read(str(path))) == some
    finally:
        path.parent.chmod(0o700)


# Foreign and hostile files

WRONG = {
    "tags that are not a list": ("UPDATE entries SET tags = '{}' WHERE seq = 2", "no JSON array"),
    "extra that is not an object": ("UPDATE entries SET extra = '[[' WHERE seq = 2", "no JSON object"),
    "an embedding of odd length": ("UPDATE entries SET embedding = x'00' WHERE seq = 2", "1 bytes"),
    "an embedding that is not finite": ("UPDATE entries SET embedding = x'0000c07f' WHERE seq = 2", "not finite"),
    "an embedding that is text": ("UPDATE entries SET embedding = 'abcd' WHERE seq = 2", "another type"),
    "a time that is text": ("UPDATE entries SET timestamp_ms = 'now' WHERE seq = 2", "timestamp_ms"),
    "a relevance beyond numbers": ("UPDATE entries SET relevance = 9e999 WHERE seq = 2", "relevance"),
    "an empty id": ("UPDATE entries SET id = '' WHERE seq = 2", "no id"),
}


@pytest.mark.requirement("S3-18")
def test_a_column_of_a_later_schema_does_no_harm(path, some):
    write(path, *some)
    do(path, "ALTER TABLE entries ADD COLUMN later TEXT DEFAULT 'x'")
    assert list(sqlite.read(str(path))) == some


@pytest.mark.parametrize("name", WRONG)
def test_one_wrong_row_is_named_and_costs_no_other(path, some, name):
    write(path, *some)
    do(path, "DROP TRIGGER entries_changed")
    statement, reason = WRONG[name]
    do(path, statement)
    found = list(sqlite.read(str(path)))
    assert [found[0], found[2]] == [some[0], some[2]]
    assert isinstance(found[1], Problem)
    assert found[1].place == "row 2"
    assert reason in found[1].reason


def test_a_file_with_something_else_in_it_is_refused(path, some):
    do(path, "CREATE TABLE entries (a)")
    with pytest.raises(DamagedFile, match="no tables entries and entry_tags"):
        list(sqlite.read(str(path)))
    path.unlink()
    write(path, *some)
    do(path, "PRAGMA user_version = 2")
    with pytest.raises(DamagedFile, match="its version is 2"):
        list(sqlite.read(str(path)))
    do(path, "PRAGMA user_version = 1")
    do(path, "DROP TABLE entry_tags")
    do(path, "CREATE VIEW entry_tags AS SELECT 1 AS tag, 1 AS timestamp_ms, 1 AS seq")
    with pytest.raises(DamagedFile, match="no tables"):
        sqlite.newest(str(path), "a")


@pytest.mark.parametrize("data", [b"", b"rubbish" * 100, b"SQLite format 3\0" + bytes(5000)])
def test_a_file_that_is_no_database_is_refused(path, data):
    path.write_bytes(data)
    with pytest.raises(DamagedFile, match=r"memory\.sqlite: is no"):
        list(sqlite.read(str(path)))


def test_a_file_cut_off_is_damaged(path):
    entries = [MemoryEntry(str(number), number, "x" * 500, ("task",), embedding=bytes(400)) for number in range(40)]
    write(path, *entries)
    data = path.read_bytes()
    for cut in range(0, len(data), 997):
        path.write_bytes(data[:cut])
        with pytest.raises(DamagedFile):
            list(sqlite.read(str(path)))


@pytest.mark.slow
def test_a_file_with_a_wrong_byte_anywhere_in_its_tables_is_read_or_damaged(path, some):
    write(path, *some)
    data = path.read_bytes()
    start = data.index(b"CREATE TABLE entries")
    for place in range(start, start + 200):
        path.write_bytes(data[:place] + b"\x8f" + data[place + 1 :])
        with suppress(DamagedFile, StorageError):
            list(sqlite.read(str(path)))


def test_what_is_not_there_or_no_file_is_named(tmp_path):
    with pytest.raises(StorageError, match="no such file"):
        list(sqlite.read(str(tmp_path / "missing.sqlite")))
    with pytest.raises(StorageError, match="folder"):
        list(sqlite.read(str(tmp_path)))


def test_a_name_with_signs_of_an_address_is_a_name(tmp_path, some):
    path = tmp_path / "a?mode=ro#x%20.sqlite"
    write(path, *some)
    assert list(sqlite.read(str(path))) == some
    assert os.listdir(tmp_path) == [path.name]


def test_anybody_reads_it_with_nothing_but_sql(path, some):
    write(path, *some)
    program = "import sqlite3, sys\nfor row in sqlite3.connect(sys.argv[1]).execute(sys.argv[2]): print(*row)"
    query = "SELECT text, json_extract(extra, '$.host') FROM entries WHERE source = 'shell' AND seq = 1"
    done = subprocess.run(
        [sys.executable, "-c", program, path, query], capture_output=True, encoding="utf-8", check=True
    )
    assert done.stdout == "Redis needs AOF on. ci\n"
    assert json.loads(str(do(path, "SELECT tags FROM entries LIMIT 1")[0][0])) == ["task", "redis"]


def test_the_time_and_the_place_of_an_entry_are_columns(path):
    extra = {"target": "agent:developer", "headings": '["Tests", "On \\"CI\\""]'}
    known = MemoryEntry("1", 1_775_001_600_250, "Retry once.", ("Tests", 'On "CI"'), extra=extra)
    latest = MemoryEntry("3", 253_402_300_799_999, "The last day.", extra={"headings": "not JSON"})
    write(path, known, MemoryEntry("2", 0, "Undated."), latest, MemoryEntry("4", 2**63 - 1, "Beyond."))
    do(path, "INSERT INTO entries (id, timestamp_ms, text) VALUES ('5', 1, 'By hand.')")
    assert do(path, "SELECT created_at, tier, section, date FROM entries ORDER BY id") == [
        ("2026-04-01 00:00:00.250", "agent:developer", 'On "CI"', "2026-04-01"),
        (None, None, None, None),
        ("9999-12-31 23:59:59.999", None, None, "9999-12-31"),
        (None, None, None, None),
        ("1970-01-01 00:00:00.001", None, None, "1970-01-01"),
    ]
    with closing(sqlite3.connect(path)) as connection:
        kinds = {row[1]: row[2] for row in connection.execute("PRAGMA table_xinfo(entries)")}
    assert (kinds["created_at"], kinds["date"]) == ("TIMESTAMP", "DATE")


def test_a_file_of_before_there_were_these_columns_is_read_and_appended_to(path, some):
    write(path, some[0])
    for name in ("created_at", "date", "tier", "section"):
        do(path, f"ALTER TABLE entries DROP COLUMN {name}")
    sqlite.append(str(path), sqlite.encode(some[1]))
    assert [*sqlite.read(str(path))] == [*some[:2]]


@given(st.lists(ENTRIES, max_size=3, unique_by=lambda entry: entry.id))
def test_the_columns_are_those_that_are_derived(tmp_path_factory, found):
    path = tmp_path_factory.mktemp("one") / "memory.sqlite"
    found = [one._replace(timestamp_ms=min(one.timestamp_ms, sqlite.LAST_TIME)) for one in found]
    write(path, *found)
    rows = do(path, "SELECT created_at, tier, section, date FROM entries ORDER BY seq")
    assert rows == [tuple(derived(one)) for one in found]


@pytest.mark.skipif(os.name != "posix", reason="Windows has no limit on file sizes")
def test_a_limit_on_file_sizes_is_named_and_the_file_that_was_asked_for(tmp_path):
    (tmp_path / "many.md").write_text("# M\n\n" + "- A fact of some length.\n" * 400)
    command = f"ulimit -f 1; {sys.executable} -B -m agent_memory_protocol convert many.md out.sqlite"
    done = subprocess.run(["bash", "-c", command], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 4
    assert done.stderr.startswith(f"amp: {tmp_path}/out.sqlite: not written: it would be larger than the system allows")
    assert [path.name for path in tmp_path.iterdir()] == ["many.md"]

"""Stores: one contract for all of them, and what each does with its disk, with other processes, and when killed."""

import errno
import json
import os
import signal
import sqlite3
import subprocess
import sys
import textwrap
import threading
import time
from collections.abc import Callable, Iterable
from contextlib import closing, suppress
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from agent_memory_protocol import Memory
from agent_memory_protocol.disk import writing
from agent_memory_protocol.disk.files import Root
from agent_memory_protocol.disk.writing import ChangedMeanwhile, NotConfirmed
from agent_memory_protocol.errors import DamagedFile, IllegalMove, LockBusy, Refused, StorageError, UnknownRecord
from agent_memory_protocol.records import store as store_module
from agent_memory_protocol.records.lifecycle import archive, dispute, redact, resolve, supersede
from agent_memory_protocol.records.record import Provenance, Record, RecordType, State, new_record
from agent_memory_protocol.records.sqlite_store import SqliteStore
from agent_memory_protocol.records.store import DirectoryStore, RecordStore

NOW = datetime(2026, 11, 15, 12, tzinfo=UTC)
UNKNOWN = "mem:" + "0" * 32
WHY: dict[str, Any] = {"reason": "because", "now": NOW}


def record(body: str = "A fact.", type: RecordType = RecordType.FACT, **changes: Any) -> Record:
    source = Provenance("test")
    evidence = (UNKNOWN,) if type is RecordType.RULE else ()
    now = changes.pop("now", NOW)
    return new_record(type, body, provenance=source, now=now, evidence=evidence, **changes)


# What every store does


@pytest.mark.requirement("S1-40", "S1-46", "S1-63")
def test_a_record_is_there_once_it_is_put(store, open_store):
    one = record(slots={"port": 1})
    assert store.put(one) == 1
    for reader in (store, open_store()):
        assert reader.get(one.id) == one
        assert reader.history(one.id) == (one,)
        assert reader.list() == (one,)


@pytest.mark.requirement("S1-13", "S1-40", "S1-46", "S1-63")
def test_every_version_stays_oldest_first(store):
    one = record()
    surer = replace(one, confidence=0.5)
    gone = archive(surer, **WHY)
    assert [store.put(version) for version in (one, surer, gone)] == [1, 2, 3]
    assert store.history(one.id) == (one, surer, gone)
    assert store.get(one.id) == gone
    assert store.list() == (gone,)


@pytest.mark.slow
@pytest.mark.requirement("S1-46", "S1-63")
@pytest.mark.parametrize("id", [UNKNOWN, "", "mem:", "mem:../../etc", "mem:" + "A" * 32, "../x", "mem:\n", "\0"])
def test_an_unknown_id_is_an_error_and_never_an_empty_answer(store, id):
    for _ in range(2):
        for ask in (store.get, store.history, lambda given: store.redact(given, **WHY)):
            with pytest.raises(UnknownRecord) as caught:
                ask(id)
            assert "\n" not in str(caught.value)
        store.put(record())


def test_many_records_are_read_as_each_alone_and_what_is_missing_is_left_out(store, monkeypatch):
    monkeypatch.setattr(store_module, "BATCH", 2)
    records = [record(f"Fact {number}.") for number in range(5)]
    for one in records:
        store.put(one)
        store.put(archive(one, **WHY))
    asked = [records[3].id, UNKNOWN, "../x", *(one.id for one in records[:3])]
    there = sorted(asked[:1] + asked[3:])
    assert known(store.newest(asked)) == {name: store.get(name) for name in there}
    assert known(store.histories(asked)) == {name: store.history(name) for name in there}
    assert [*store.newest([]), *known(store.histories([UNKNOWN]))] == []


def known(found: Iterable[tuple[str, Callable[[], Any]]]) -> dict[str, Any]:
    """Return what is read of each record that there is."""
    there = {}
    for name, read in found:
        with suppress(UnknownRecord):
            there[name] = read()
    return there


@pytest.mark.requirement("S1-46")
def test_the_list_meets_every_condition_and_has_one_order(store):
    late = record("late", now=NOW + timedelta(seconds=1), tags=("a", "b"))
    early = record("early", RecordType.EPISODE, tags=("b",))
    rule = record("rule", RecordType.RULE)
    for one in (late, early, rule, archive(rule, **WHY)):
        store.put(one)
    early_ones = sorted([early, archive(rule, **WHY)], key=lambda one: one.id)
    assert store.list() == (*early_ones, late)
    assert store.list(tag="b") == (early, late)
    assert store.list(tag="") == ()
    assert store.list(type=RecordType.FACT) == (late,)
    assert store.list(state=State.ARCHIVED) == (archive(rule, **WHY),)
    assert store.list(state=State.ACTIVE, type=RecordType.EPISODE, tag="b") == (early,)
    assert store.list(state=State.ACTIVE, type=RecordType.RULE) == ()


@pytest.mark.requirement("S1-12", "S1-44", "S1-46", "S1-63")
def test_what_the_lifecycle_forbids_is_not_stored(store):
    one = record()
    gone = archive(one, **WHY)
    store.put(one)
    store.put(gone)
    for bad in (one, replace(gone, state_reason="x"), redact(one, **WHY)):
        with pytest.raises(IllegalMove):
            store.put(bad)
    assert store.history(one.id) == (one, gone)


@pytest.mark.requirement("S1-44", "S1-46", "S1-61")
def test_no_earlier_version_can_be_put_again(store):
    """A dispute is not undone, or a decision brought back, by whoever still holds an old version."""
    one, other = record("The cache is on."), record("The cache is not on.")
    disputed = dispute(one, other, reason="x", now=NOW + timedelta(seconds=1))
    won, _ = resolve(*disputed, reason="y", now=NOW + timedelta(seconds=2))
    again, _ = dispute(won, other, reason="z", now=NOW + timedelta(seconds=3))
    versions = (one, disputed[0], won, again)
    for version in versions:
        store.put(version)
    for earlier in versions[:-1]:
        with pytest.raises(IllegalMove):
            store.put(earlier)
    assert store.history(one.id) == versions


@pytest.mark.requirement("S1-44", "S1-46")
def test_who_was_overtaken_is_told_and_nothing_is_written(store):
    one, other = record("one"), record("other")
    surer = replace(one, confidence=0.5)
    with pytest.raises(ChangedMeanwhile):
        store.put(one, after=other)
    store.put(one)
    assert store.put(surer, after=one) == 2
    with pytest.raises(ChangedMeanwhile):
        store.put(archive(one, **WHY), after=one)
    assert store.history(one.id) == (one, surer)


@pytest.mark.requirement("S1-46")
def test_a_record_may_arrive_in_any_state(store):
    one, other = record("one"), record("other")
    successor = record("new", supersedes=one.id)
    arriving = (supersede(one, successor, **WHY), *dispute(other, successor, **WHY), redact(record("x"), **WHY))
    for version in arriving:
        store.put(version)
        assert store.get(version.id) == version


@pytest.mark.slow
@pytest.mark.requirement("S1-65")
@pytest.mark.parametrize(
    "body", ["", "\0\x1f\x7f\u2028\n\r\n", "é\U0001f600", "'; DROP TABLE history; --", "x" * 300_000]
)
def test_any_text_comes_back_as_it_was(store, body):
    one = replace(record(body, tags=(body[:9], "", body[:9])), extra={"x": (1, {"y": None})})
    store.put(one)
    assert store.get(one.id).to_bytes() == one.to_bytes()
    assert store.list(tag=body[:9])[0].to_bytes() == one.to_bytes()


@pytest.mark.slow
@pytest.mark.requirement("S1-13", "S1-83")
def test_a_tombstone_takes_the_place_of_every_version(store, open_store):
    one = record("The code is 4711.", tags=("4711",))
    kept = record("kept")
    for version in (kept, one, replace(one, confidence=0.5), archive(one, **WHY)):
        store.put(version)
    stone = store.redact(one.id, reason="a door code", now=NOW)
    assert stone.redaction_reason == "a door code"
    for reader in (store, open_store()):
        assert reader.history(one.id) == (stone,) * 3
        assert reader.list(tag="4711") == ()
        assert set(reader.list()) == {stone, kept}
    assert store.redact(one.id, reason="again", now=NOW) == stone
    for bad in (one, archive(one, **WHY), stone):
        with pytest.raises(IllegalMove):
            store.put(bad)
    assert store.history(one.id) == (stone,) * 3


@pytest.mark.requirement("S1-83")
def test_nothing_is_redacted_without_a_reason(store):
    one = record()
    store.put(one)
    with pytest.raises(IllegalMove, match="say why"):
        store.redact(one.id, reason=" ", now=NOW)
    assert store.history(one.id) == (one,)


@pytest.mark.requirement("S1-13", "S1-16", "S1-18", "S1-83")
def test_the_port_can_neither_delete_nor_redact(store):
    assert {name for name in vars(RecordStore) if not name.startswith("_")} == {"put", "get", "history", "list"}
    assert not [name for name in dir(store) if "delete" in name or "remove" in name]
    port: RecordStore = store
    assert port.list() == ()


@pytest.mark.slow
def test_threads_may_share_a_store(store):
    shared = record("shared")
    store.put(shared)
    failed: list[BaseException] = []

    def work(number: int) -> None:
        try:
            for count in range(5):
                store.put(record(f"{number} {count}"))
                store.put(replace(shared, confidence=(5 * number + count) / 100))
                store.list()
        except BaseException as error:
            failed.append(error)
            raise

    threads = [threading.Thread(target=work, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failed
    assert len(store.list()) == 1 + 4 * 5
    assert len(store.history(shared.id)) == 1 + 4 * 5


# Other processes

WORKER = """
    import sys
    from dataclasses import replace
    from datetime import UTC, datetime
    from agent_memory_protocol.records.record import *
    from agent_memory_protocol.records.sqlite_store import SqliteStore
    from agent_memory_protocol.records.store import DirectoryStore
    kind, path, number, count = sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4])
    store = (DirectoryStore if kind == "directory" else SqliteStore)(path)
    now = datetime(2026, 11, 15, tzinfo=UTC)
    shared = new_record(RecordType.FACT, "shared", provenance=Provenance("test"), now=now)
    for step in range(count):
        body = f"fact {number}.{step}"
        store.put(new_record(RecordType.FACT, body, provenance=Provenance("test"), now=now))
        store.put(replace(shared, state_reason=body))
        print(body, flush=True)
"""


def start(script: str, *arguments: object) -> subprocess.Popen[str]:
    command = [sys.executable, "-c", textwrap.dedent(script), *map(str, arguments)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def opened(kind: str, path: Path) -> Any:
    return DirectoryStore(path) if kind == "directory" else SqliteStore(path)


@pytest.mark.slow
@pytest.mark.requirement("S1-40", "S1-63", "S1-64")
@pytest.mark.parametrize("kind", ["directory", "sqlite"])
@pytest.mark.parametrize("count", [10, pytest.param(200, marks=pytest.mark.long)])
def test_eight_processes_lose_nothing(kind, count, tmp_path):
    path = tmp_path / "new" if kind == "directory" else tmp_path / "new.sqlite"
    workers = [start(WORKER, kind, path, number, count) for number in range(8)]
    ended = [(worker.communicate()[1], worker.returncode) for worker in workers]
    assert ended == [("", 0)] * 8
    store = opened(kind, path)
    expected = {f"fact {number}.{step}" for number in range(8) for step in range(count)}
    assert {one.body for one in store.list()} == expected | {"shared"}
    (shared,) = (one for one in store.list() if one.body == "shared")
    assert sorted(str(one.state_reason) for one in store.history(shared.id)) == sorted(expected)
    if kind == "sqlite":
        store.close()
    else:
        assert not [name for _, _, names in os.walk(path) for name in names if not name.endswith(".json")]


@pytest.mark.slow
@pytest.mark.requirement("S1-64")
@pytest.mark.parametrize("kind", ["directory", "sqlite"])
def test_a_writer_killed_at_any_moment_leaves_whole_versions(kind, tmp_path):
    path = tmp_path / "new" if kind == "directory" else tmp_path / "new.sqlite"
    acknowledged: list[str] = []
    for number in range(5):
        worker = start(WORKER, kind, path, number, 100_000)
        assert worker.stdout is not None
        acknowledged.append(worker.stdout.readline().strip())
        time.sleep(0.01 * number)
        worker.kill()
        acknowledged += worker.communicate()[0].split("\n")[:-1]
    store = opened(kind, path)
    assert {one.body for one in store.list()} >= set(acknowledged)
    (shared,) = (one for one in store.list() if one.body == "shared")
    assert {one.state_reason for one in store.history(shared.id)} >= set(acknowledged)
    if kind == "sqlite":
        store.close()


CALLS = ("open", "write", "fsync", "link", "unlink", "mkdir", "close", "replace", "scandir", "listdir", "read", "stat")


def put_archive_redact(path: Path, one: Record, say: Callable[[str], object]) -> None:
    store = DirectoryStore(path)
    store.put(one)
    say("born ")
    store.put(archive(one, **WHY))
    say("archived ")
    store.redact(one.id, **WHY)
    say("redacted ")


def run_until_killed(path: Path, one: Record, calls: int) -> tuple[bool, list[str]]:
    """Do all that a store does in a child that dies before a call of the system; return whether it died, and when."""
    heard, said = os.pipe()
    write = os.write
    child = os.fork()
    if child == 0:
        left = calls

        def counted(call: Callable[..., Any]) -> Callable[..., Any]:
            def do(*arguments: Any, **options: Any) -> Any:
                nonlocal left
                left -= 1
                if left < 0:
                    os.kill(os.getpid(), signal.SIGKILL)
                return call(*arguments, **options)

            return do

        for name in CALLS:
            setattr(os, name, counted(getattr(os, name)))
        try:
            put_archive_redact(path, one, lambda word: write(said, word.encode()))
        finally:
            os._exit(0)
    os.close(said)
    with open(heard, encoding="utf-8") as pipe:
        words = pipe.read().split()
    return os.WIFSIGNALED(os.waitpid(child, 0)[1]), words


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork")
@pytest.mark.filterwarnings("ignore:This process")
@pytest.mark.requirement("S1-64", "S1-83")
def test_a_writer_killed_at_any_of_its_calls_leaves_whole_versions(tmp_path, sized):
    one = record()
    for calls in range(0, 1000, sized(5, 1, 1)):
        path = tmp_path / str(calls) / "records"
        killed, words = run_until_killed(path, one, calls)
        store = DirectoryStore(path)
        found = store.list()  # which reads every newest version, so each is whole
        assert len(found) >= ("born" in words)
        if found:
            versions = store.history(one.id)
            assert len(versions) >= 1 + ("archived" in words)
            assert "redacted" not in words or all(version.redacted for version in versions)
            stone = store.redact(one.id, **WHY)
            assert store.history(one.id) == (stone,) * len(versions)
            assert sorted(os.listdir(path / one.id[4:])) == [f"{n + 1:06d}.json" for n in range(len(versions))]
        if not killed:
            break
    assert words == ["born", "archived", "redacted"]
    assert calls > 60, "it was killed at each of its calls"


# The directory


@pytest.fixture
def directory(tmp_path: Path) -> DirectoryStore:
    return DirectoryStore(tmp_path / "records")


@pytest.mark.requirement("S1-24", "S1-25", "S1-65", "S1-66")
def test_a_directory_holds_the_canonical_bytes_of_each_version(directory, tmp_path):
    one = record()
    directory.put(one)
    directory.put(archive(one, **WHY))
    files = {str(file.relative_to(tmp_path)): file.read_bytes() for file in tmp_path.rglob("*") if file.is_file()}
    assert files == {
        f"records/{one.id[4:]}/000001.json": one.to_bytes(),
        f"records/{one.id[4:]}/000002.json": archive(one, **WHY).to_bytes(),
    }
    assert json.loads(files[f"records/{one.id[4:]}/000001.json"]) == one.to_json()


def test_reading_creates_nothing(tmp_path):
    for store in (DirectoryStore(tmp_path / "a" / "b"), SqliteStore(tmp_path / "c.sqlite")):
        assert store.list() == ()
        with pytest.raises(UnknownRecord):
            store.get(UNKNOWN)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.requirement("S1-63")
def test_a_missing_version_is_reported_at_once(directory, tmp_path):
    one = record()
    for version in (one, replace(one, confidence=0.5), replace(one, confidence=0.4)):
        directory.put(version)
    (tmp_path / "records" / one.id[4:] / "000002.json").unlink()
    for ask in (lambda: directory.history(one.id), lambda: directory.put(archive(one, **WHY))):
        with pytest.raises(DamagedFile, match=r"000002\.json: a version is missing; restore it"):
            ask()
    assert directory.get(one.id).confidence == 0.4
    stone = directory.redact(one.id, **WHY)
    assert [file.read_bytes() for file in (tmp_path / "records").rglob("*.json")] == [stone.to_bytes()] * 2


def test_a_version_that_a_listing_lacks_is_not_missing(directory, monkeypatch):
    """What is added while a folder is read may be listed or not, in any order."""
    one = record()
    for _ in range(4):
        directory.put(one)
    list_files = Root.list_files

    def lacking(self: Root, parts: tuple[str, ...]) -> list[str]:
        return [name for name in list_files(self, parts) if name not in ("000001.json", "000003.json")]

    monkeypatch.setattr(Root, "list_files", lacking)
    assert len(directory.history(one.id)) == 4
    assert directory.put(one) == 5


@pytest.mark.requirement("S1-50", "S1-64", "S1-65")
@pytest.mark.parametrize(
    "damage",
    [
        lambda data: data[:-1],
        lambda _: b"",
        lambda data: data + b"\n",
        lambda data: data.replace(b"A fact", b"A fib"),
        lambda data: json.dumps(json.loads(data)).encode(),
        lambda data: b"<<<<<<< HEAD\n" + data,
        lambda data: b"\xff" + data,
        lambda _: record("Another.").to_bytes(),
    ],
)
def test_a_damaged_version_is_reported_with_its_path(directory, tmp_path, damage):
    one = record()
    directory.put(one)
    file = tmp_path / "records" / one.id[4:] / "000001.json"
    file.write_bytes(damage(file.read_bytes()))
    for ask in (
        lambda: directory.get(one.id),
        lambda: directory.history(one.id),
        directory.list,
        lambda: directory.put(archive(one, **WHY)),
        lambda: directory.redact(one.id, **WHY),
    ):
        with pytest.raises(DamagedFile, match=f"{one.id[4:]}/000001.json: ") as caught:
            ask()
        assert caught.value.exit_code == 4


@pytest.mark.requirement("S1-83")
def test_redaction_reaches_damaged_versions_and_what_killed_writers_left(directory, tmp_path):
    one = record("The code is 4711.")
    for version in (one, replace(one, confidence=0.5), archive(one, **WHY)):
        directory.put(version)
    folder = tmp_path / "records" / one.id[4:]
    (folder / "000003.json").write_bytes(b"<<<<<<< HEAD\n" + one.to_bytes())
    (folder / ".000004.json.0123456789abcdef.amp-tmp").write_bytes(one.to_bytes())
    (folder / ".tmp-0123456789abcdef").write_bytes(one.to_bytes())
    directory.redact(one.id, **WHY)
    assert not [file for file in folder.iterdir() if b"4711" in file.read_bytes()]
    assert sorted(file.name for file in folder.iterdir()) == ["000001.json", "000002.json", "000003.json"]


@pytest.mark.requirement("S1-83")
def test_a_version_that_was_on_its_way_does_not_bring_redacted_content_back(directory, tmp_path, monkeypatch):
    one = record("The code is 4711.")
    directory.put(one)

    def redacted_first(*arguments: Any, **options: Any) -> bool:
        monkeypatch.undo()
        directory.redact(one.id, **WHY)
        return writing.create(*arguments, **options)

    monkeypatch.setattr(store_module, "create", redacted_first)
    with pytest.raises(IllegalMove, match="redacted meanwhile"):
        directory.put(archive(one, **WHY))
    files = list((tmp_path / "records").rglob("*.json"))
    assert len(files) == 2
    assert not [file for file in files if b"4711" in file.read_bytes()]


def test_what_is_no_record_is_left_alone(directory, tmp_path):
    one = record()
    directory.put(one)
    folder = tmp_path / "records"
    (folder / "README.md").write_text("x")
    (folder / "notes").mkdir()
    (folder / ("0" * 32)).mkdir()
    (folder / one.id[4:] / "0000001.json").write_text("x")
    (folder / one.id[4:] / "000002.json.orig").write_text("x")
    assert directory.list() == (one,)
    assert directory.history(one.id) == (one,)
    with pytest.raises(UnknownRecord):
        directory.get(UNKNOWN)


def test_a_pipe_in_place_of_a_version_hangs_nobody(directory, tmp_path):
    one = record()
    directory.put(one)
    file = tmp_path / "records" / one.id[4:] / "000001.json"
    file.unlink()
    os.mkfifo(file)
    with pytest.raises(DamagedFile, match="named pipe"):
        directory.get(one.id)


def test_a_record_that_cannot_be_written_leaves_no_folder(directory, tmp_path, monkeypatch):
    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, "full")

    directory.put(record())
    before = sorted(tmp_path.rglob("*"))
    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(StorageError, match="the disk is full"):
        directory.put(record("Another fact."))
    assert sorted(tmp_path.rglob("*")) == before


def test_with_a_root_above_it_no_link_leads_out(tmp_path):
    (tmp_path / "project").mkdir()
    (tmp_path / "outside").mkdir()
    store = DirectoryStore(tmp_path / "project", (".scaffolding", "agent-memory", "records"))
    one = record()
    store.put(one)
    assert (tmp_path / "project/.scaffolding/agent-memory/records" / one.id[4:] / "000001.json").is_file()
    (tmp_path / "project/.scaffolding/agent-memory/records" / UNKNOWN[4:]).symlink_to(tmp_path / "outside")
    other = DirectoryStore(tmp_path / "project", (".scaffolding", "agent-memory", "records"))
    with pytest.raises(StorageError, match="outside"):
        other.get(UNKNOWN)
    assert other.list() == (one,)


def test_what_stands_in_the_place_of_the_next_version_is_named(directory, tmp_path):
    one = record()
    directory.put(one)
    (tmp_path / "records" / one.id[4:] / "000002.json").mkdir()
    with pytest.raises(DamagedFile, match=r"000002\.json: is not a version"):
        directory.put(archive(one, **WHY))
    assert directory.history(one.id) == (one,)


def test_a_refusal_leaves_not_even_a_folder(directory, tmp_path):
    with pytest.raises(ChangedMeanwhile):
        directory.put(record(), after=record("Another."))
    assert list(tmp_path.iterdir()) == []


def test_a_record_that_never_keeps_still_hangs_nobody(directory, monkeypatch):
    one = record()
    directory.put(one)

    def overtaken(*_: Any, **__: Any) -> None:
        raise ChangedMeanwhile("always")

    monkeypatch.setattr(store_module, "_TRIES", 5)
    monkeypatch.setattr(store_module, "replace", overtaken)
    with pytest.raises(ChangedMeanwhile, match="all the time"):
        directory.redact(one.id, **WHY)


def test_no_number_is_left_after_the_last(directory, monkeypatch):
    monkeypatch.setattr(store_module, "LAST_VERSION", 2)
    one = record()
    directory.put(one)
    directory.put(one)
    with pytest.raises(Refused, match="no number"):
        directory.put(one)


# SQLite


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "records.sqlite"


@pytest.mark.requirement("S1-83")
def test_no_byte_of_redacted_content_is_left_in_the_files(path):
    with SqliteStore(path) as store:
        one = record("The code is 4711-" * 2000, tags=("4711",))
        for version in (one, replace(one, confidence=0.5), archive(one, **WHY)):
            store.put(version)
        store.put(record("kept"))
        store.redact(one.id, **WHY)
        for file in path.parent.iterdir():
            assert b"4711" not in file.read_bytes(), file.name
        assert len(store.list()) == 2


@pytest.mark.requirement("S1-83")
def test_a_reader_that_holds_on_to_redacted_content_is_named(path):
    with SqliteStore(path) as store:
        one = record("The code is 4711.")
        store.put(one)
        reader = sqlite3.connect(path, isolation_level=None)
        reader.execute("BEGIN")
        reader.execute("SELECT * FROM history").fetchall()
        with store._database.connection() as connection:
            connection.execute("PRAGMA busy_timeout = 50")
        with pytest.raises(NotConfirmed, match="redact it again"):
            store.redact(one.id, **WHY)
        assert store.get(one.id).redacted
        reader.close()
        store.redact(one.id, **WHY)
        assert b"4711" not in path.read_bytes()


@pytest.mark.parametrize("data", [b"no database at all", b"SQLite format 3\0" + b"x" * 5000])
def test_what_is_no_database_is_reported(path, data):
    path.write_bytes(data)
    store = SqliteStore(path)
    for ask in (store.list, lambda: store.put(record()), lambda: store.get(UNKNOWN)):
        with pytest.raises(DamagedFile, match="is not a sound SQLite file"):
            ask()
    assert path.read_bytes() == data


@pytest.mark.requirement("S1-50", "S1-65")
def test_a_changed_row_is_reported(path):
    one, other = record(), record("Another.")
    with SqliteStore(path) as store:
        store.put(one)
        connection = sqlite3.connect(path, isolation_level=None)
        for payload in (one.to_bytes().decode().replace("fact.", "fib."), other.to_bytes().decode(), "", b"x"):
            connection.execute("UPDATE history SET payload = ?", (payload,))
            for ask in (store.list, lambda: store.get(one.id), lambda: store.put(one), lambda: store.history(one.id)):
                with pytest.raises(DamagedFile):
                    ask()
        connection.execute("UPDATE history SET version = 2, payload = ?", (one.to_bytes().decode(),))
        connection.close()
        with pytest.raises(DamagedFile, match="is missing"):
            store.history(one.id)


def test_a_writer_that_never_ends_is_not_waited_for_for_ever(path, monkeypatch):
    monkeypatch.setattr("agent_memory_protocol.disk.database.WAIT", 0.1)
    with SqliteStore(path) as store:
        store.put(record())
        blocker = sqlite3.connect(path, isolation_level=None)
        blocker.execute("BEGIN IMMEDIATE")
        with pytest.raises(LockBusy):
            store.put(record("Another."))
        assert len(store.list()) == 1
        blocker.close()
        assert store.put(record("Another.")) == 1


def test_a_folder_that_does_not_exist_is_named(tmp_path):
    with pytest.raises(StorageError, match="its folder does not exist"):
        SqliteStore(tmp_path / "gone" / "records.sqlite").put(record())


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork")
@pytest.mark.filterwarnings("ignore:This process")
def test_a_forked_child_opens_the_file_anew(path):
    with SqliteStore(path) as store:
        store.put(record())
        child = os.fork()
        if child == 0:
            done = 1
            try:
                store.put(record("From the child."))
                done = 0
            finally:
                os._exit(done)
        assert os.waitpid(child, 0)[1] == 0
        assert len(store.list()) == 2


def test_a_closed_store_opens_again(path):
    store = SqliteStore(path)
    store.put(record())
    store.close()
    assert len(store.list()) == 1
    store.close()


@pytest.mark.parametrize("table", ["records", "record_tags"])
def test_what_only_the_queried_tables_have_left_of_a_record_does_not_verify(tmp_path, table):
    path = tmp_path / "a.sqlite"
    with Memory(path) as memory:
        one, other = (memory.remember(text, tags=["ci"]).record_id for text in ("Use tabs.", "Logs go to S3."))
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        for emptied in {"history", "records", "record_tags"} - {table}:
            connection.execute(f"DELETE FROM {emptied} WHERE record_id = ?", (one,))
    with SqliteStore(path) as store:
        assert store.strays() == [one]
    with Memory(path) as memory:
        problems = memory.check().problems
    assert any(f"'{one}' is in the store, and nothing finds it" in line for line in problems)
    assert not any(other in line for line in problems)

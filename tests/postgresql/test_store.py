"""The store on a server: its feed, its rights, its versions, and what a lost connection leaves behind."""

import os
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agent_memory_protocol import Memory
from agent_memory_protocol.disk.writing import ChangedMeanwhile, NotConfirmed
from agent_memory_protocol.errors import AccessDenied, DamagedFile, StorageError
from agent_memory_protocol.postgresql import preparing, schema, server
from agent_memory_protocol.postgresql.address import Address
from agent_memory_protocol.postgresql.sharing import SharedStore
from agent_memory_protocol.postgresql.store import PostgresqlStore
from agent_memory_protocol.records.lifecycle import archive
from agent_memory_protocol.records.record import Provenance, Record, RecordType, new_record

NOW = datetime(2026, 11, 15, 12, tzinfo=UTC)
WHY: dict[str, Any] = {"reason": "because", "now": NOW}


def record(body: str = "A fact.", **changes: Any) -> Record:
    return new_record(RecordType.FACT, body, provenance=Provenance("test"), now=changes.pop("now", NOW), **changes)


def name_of(address: str) -> str:
    return Address.parse(address).namespace


def bodies(changes: Any) -> list[str]:
    return sorted(Record.from_bytes(one.payload.encode()).body for one in changes)


# The change feed


def test_the_feed_never_skips_what_began_early_and_was_committed_late(address):
    """A bare sequence would: the reader has seen the later number when the earlier one appears."""
    import psycopg

    with PostgresqlStore(address) as slow, PostgresqlStore(address) as quick, PostgresqlStore(address) as reader:
        conninfo = Address.parse(address).conninfo
        with psycopg.connect(conninfo) as connection:  # its transaction begins now and ends at the end
            slow.server._connection = connection
            slow.server._process = os.getpid()
            assert slow.put(record("slow")) == 1
            quick.put(record("quick"))
            changes, position, is_all = reader.changes()
            assert (bodies(changes), is_all) == (["quick"], True)
            quick.put(record("quicker"))
            connection.commit()
            slow.server._connection = None
        changes, position, is_all = reader.changes(position)
        assert (bodies(changes), is_all) == (["quicker", "slow"], False)
        assert reader.changes(position)[0] == ()


@pytest.mark.slow
@settings(max_examples=8)
@given(data=st.data())
def test_the_feed_brings_every_change_once_in_whatever_order_writers_end(data, postgresql):
    import psycopg

    address = postgresql.new_namespace()
    conninfo = Address.parse(address).conninfo
    count = data.draw(st.integers(1, 4))
    writers = [PostgresqlStore(address) for _ in range(count)]
    connections: list[Any] = [psycopg.connect(conninfo) for _ in writers]
    for writer, connection in zip(writers, connections, strict=True):
        writer.server._connection, writer.server._process = connection, os.getpid()
    reader = PostgresqlStore(address)
    written: list[str] = []
    told: list[str] = []
    position = None
    for step, (number, ends) in enumerate(
        data.draw(st.lists(st.tuples(st.integers(0, count - 1), st.booleans()), max_size=12))
    ):
        written.append(f"{step}")
        writers[number].put(record(f"{step}"))
        if ends:
            connections[number].commit()
        changes, position, _ = reader.changes(position)
        told += bodies(changes)
    for connection in connections:
        connection.commit()
        connection.close()
    told += bodies(reader.changes(position)[0])
    assert sorted(told) == sorted(written)
    for store in (*writers, reader):
        store.close()


def test_a_later_version_and_a_redaction_are_changes_and_a_position_of_another_server_begins_again(address):
    with PostgresqlStore(address) as store:
        one = record()
        store.put(one)
        changes, position, _ = store.changes()
        store.put(archive(one, **WHY))
        changes, position, _ = store.changes(position)
        assert [Record.from_bytes(change.payload.encode()).state.value for change in changes] == ["archived"]
        store.redact(one.id, **WHY)
        changes, position, is_all = store.changes(position)
        assert (bodies(changes), is_all) == (["[redacted]"], False)
        for other in ("", "elsewhere 1:1:", position.replace(position[:3], "xxx", 1)):
            assert store.changes(other)[2]
        preparing.prepare(store.address)  # as after a restore
        assert store.changes(position)[2]


# Versions


def test_the_newest_version_put_again_adds_nothing(address):
    with PostgresqlStore(address) as store:
        one = record()
        surer = replace(one, confidence=0.5)
        assert [store.put(version) for version in (one, one, surer, surer, one)] == [1, 1, 2, 2, 3]
        with pytest.raises(ChangedMeanwhile):
            store.put(archive(one, **WHY), after=surer)


@pytest.mark.slow
@pytest.mark.parametrize("where", ["birth", "later"])
def test_a_commit_whose_answer_is_lost_is_acknowledged_once_the_server_is_back(where, address, postgresql, wire):
    with PostgresqlStore(f"postgresql://postgres@127.0.0.1:{wire.port}/postgres?namespace={name_of(address)}") as store:
        one = record()
        with PostgresqlStore(address) as other:
            if where == "later":
                other.put(one)
            change = archive(one, **WHY) if where == "later" else one
            with pytest.MonkeyPatch.context() as patch:
                patch.setenv("PGPASSWORD", "correct-horse")
                store.stamps()
                wire.cut_at = b"INSERT INTO"
                assert store.put(change) == (2 if where == "later" else 1)
            assert wire.cuts == 1
            assert other.history(one.id)[-1] == change
            assert len(other.history(one.id)) == (2 if where == "later" else 1)


@pytest.mark.slow
def test_a_commit_whose_answer_is_lost_for_good_is_unknown_and_a_retry_writes_nothing_twice(address, wire, monkeypatch):
    monkeypatch.setattr(server, "WAIT", 0.2)
    monkeypatch.setenv("PGPASSWORD", "correct-horse")
    through = f"postgresql://postgres@127.0.0.1:{wire.port}/postgres?namespace={name_of(address)}"
    with PostgresqlStore(through) as store, PostgresqlStore(address) as other:
        one = record()
        store.stamps()
        wire.cut_at, wire.mends = b"INSERT INTO", False
        with pytest.raises(NotConfirmed, match=r"whether .* was written is unknown"):
            store.put(one)
        with pytest.raises(StorageError, match="cannot be reached"):
            store.get(one.id)
        wire.mends = True
        assert store.put(one) == 1
        assert other.history(one.id) == (one,)


@pytest.mark.slow
def test_a_text_remembered_again_after_its_answer_was_lost_is_one_fact(address, wire, monkeypatch, tmp_path):
    monkeypatch.setattr(server, "WAIT", 0.2)
    monkeypatch.setenv("PGPASSWORD", "correct-horse")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    through = f"postgresql://postgres@127.0.0.1:{wire.port}/postgres?namespace={name_of(address)}"
    with Memory(store=SharedStore(through)) as memory:
        memory.remember("The queue is Redis.")
        wire.cut_at, wire.mends = b"INSERT INTO", False
        with pytest.raises(StorageError):
            memory.remember("The cache is Redis.")
        wire.mends = True
        memory.remember("The cache is Redis.")
        assert [one.body for one in memory.records()] == ["The queue is Redis.", "The cache is Redis."]


@pytest.mark.slow
def test_clocks_an_hour_apart_lose_nothing_and_the_order_of_versions_is_that_of_writing(address):
    ahead, behind = NOW + timedelta(hours=1), NOW
    with PostgresqlStore(address) as one, PostgresqlStore(address) as other:
        first = Memory(store=one, clock=lambda: ahead, consolidate_every=0)
        second = Memory(store=other, clock=lambda: behind, consolidate_every=0)
        ids = [memory.remember(f"The {name} is up.").record_id for memory, name in ((first, "api"), (second, "web"))]
        position = one.changes()[1]
        said = [memory.remember(f"The {name} is down.").record_id for memory, name in ((first, "job"), (second, "db"))]
        changes, _, _ = one.changes(position)
        assert {change.id for change in changes} == {*said}, "the feed goes by commits, not by clocks"
        second.dispute(ids[0], ids[1], "one of the two")
        lost, won = second.resolve(ids[0], ids[1], "asked")
        assert (lost.state.value, won.state.value) == ("superseded", "active")
        moments = [version.updated_at for version in one.history(ids[0])]
        assert moments == sorted(moments)
        second.verify()


# What is damaged, and what goes


def test_a_changed_or_missing_row_is_reported(address, postgresql):
    name = name_of(address)
    with PostgresqlStore(address) as store:
        one, other = record(), record("Another.")
        for version in (one, archive(one, **WHY), other):
            store.put(version)
        postgresql.run(f"DELETE FROM {name}.versions WHERE record_id = %s AND version = 1", one.id)
        with pytest.raises(DamagedFile, match=r"a version of .* is missing"):
            store.history(one.id)
        postgresql.run(f"UPDATE {name}.versions SET payload = replace(payload, 'Another', 'Other')")
        for ask in (lambda: store.get(other.id), lambda: store.history(other.id), store.list):
            with pytest.raises(DamagedFile):
                ask()
        postgresql.run(f"DELETE FROM {name}.versions WHERE record_id = %s", other.id)
        with pytest.raises(DamagedFile, match="is missing"):
            store.history(other.id)


@pytest.mark.slow
def test_a_record_that_was_taken_out_of_every_table_is_told_by_who_has_seen_it(
    address, postgresql, tmp_path, monkeypatch
):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    name = name_of(address)
    with Memory(address, consolidate_every=0) as memory:
        gone = memory.remember("Logs go to S3.").record_id
        memory.verify()
    for table in ("versions", "heads"):
        postgresql.run(f"DELETE FROM {name}.{table} WHERE record_id = %s", gone)
    with Memory(address) as again:
        assert [problem.startswith(f"{gone}: is gone") for problem in again.check().problems] == [True]
        with pytest.raises(DamagedFile, match="is gone"):
            again.verify()


@pytest.mark.slow
@pytest.mark.parametrize(
    "change",
    ["state = 'superseded'", "tokens = NULL", "tokens = 'sesame:1A'", "size = 9", "said = ''", "type = 'rule'"],
)
def test_what_finds_a_record_cannot_be_changed_without_a_trace_and_is_mended(change, address):
    with PostgresqlStore(address) as store:
        one = record("The disk of the disk.", tags=("disk",))
        store.put(one)
        store.server.ask(f"UPDATE $ns.heads SET {change}")
        with pytest.raises(DamagedFile, match=r"what finds .* is not made of its newest version"):
            store.history(one.id)
        preparing.prepare(store.address)
        assert store.history(one.id) == (one,)


def test_a_word_that_is_missing_among_the_spellings_shows_and_is_mended(address):
    with PostgresqlStore(address) as store:
        records = [record("The disk is full."), record("The disk is new.")]
        for one in records:
            store.put(one)
        store.server.ask("DELETE FROM $ns.spellings WHERE word = 'full'")
        read = dict(store.histories([one.id for one in records]))
        with pytest.raises(DamagedFile, match=rf"what finds {records[0].id} is not made of its newest version"):
            read[records[0].id]()
        assert read[records[1].id]() == (records[1],)
        preparing.prepare(store.address)
        assert store.history(records[0].id) == (records[0],)


def test_a_use_that_is_no_count_counts_nothing_and_stops_nobody(address, monkeypatch, tmp_path):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    with Memory(address, consolidate_every=0) as memory, PostgresqlStore(address) as store:
        ids = [memory.remember(f"Disk {number} is full.").record_id for number in range(3)]
        for name, count, last in zip(ids, (1, -5, 7), ("soon", "2026-11-15T12:00:00.000Z", ""), strict=True):
            store.server.ask("INSERT INTO $ns.uses VALUES (%s, %s, %s)", [name, count, last])
        assert {*memory.recall("full disk").ids} == {*ids}
        assert memory.decay(apply=False).done == ()
        assert any("how often records were used" in one for one in memory.check().unproved)


def test_no_row_keeps_a_word_of_what_was_redacted(address, postgresql):
    name = name_of(address)
    with PostgresqlStore(address) as store:
        one, kept = record("The sesame opens doors.", tags=("marzipan",)), record("Other doors.")
        for version in (one, replace(one, confidence=0.5), kept):
            store.put(version)
        store.redact(one.id, **WHY)
        tables = ("versions", "heads", "spellings", "uses")
        left = "".join(str(postgresql.run(f"SELECT * FROM {name}.{table}")) for table in tables)
        assert "sesame" not in left
        assert "marzipan" not in left
        assert "doors" in left


# Who may what, and which version


@pytest.fixture
def user(address, postgresql):
    name = name_of(address)
    postgresql.run(f"CREATE ROLE {name}_user LOGIN")
    as_user = address.replace("postgres@", f"{name}_user@")
    return as_user, lambda role: postgresql.run(f"GRANT {name}_{role} TO {name}_user")


@pytest.mark.slow
def test_a_reader_reads_and_a_writer_adds_and_neither_replaces(address, user):
    as_user, grant = user
    one = record()
    with PostgresqlStore(address) as owner:
        owner.put(one)
    for role, may_write in (("reader", False), ("writer", True)):
        with SharedStore(as_user) as store:
            if role == "reader":
                with pytest.raises(AccessDenied, match=r"GRANT .*_reader or .*_writer"):
                    store.get(one.id)
            grant(role)
            assert store.get(one.id) == one
            assert store.changes()[0]
            with Memory(store=store) as memory:
                assert memory.recall("fact").ids == (one.id,)
            if may_write:
                assert store.put(record("Another.")) == 1
                assert store.put(archive(one, **WHY)) == 2
            else:
                with pytest.raises(AccessDenied):
                    store.put(record("Another."))
            for ask in (
                lambda: store.redact(one.id, **WHY),
                lambda: store.server.ask("DELETE FROM $ns.versions"),
                lambda: store.server.ask("UPDATE $ns.versions SET payload = ''"),
                lambda: store.server.ask("DELETE FROM $ns.heads"),
                lambda: store.server.ask("UPDATE $ns.about SET version = 0"),
            ):
                with pytest.raises(AccessDenied):
                    ask()


def test_who_may_not_make_a_namespace_is_told_who_may(address, user):
    as_user, grant = user
    grant("writer")
    for namespace in ("", "_new"):
        with pytest.raises(AccessDenied, match="give the SQL to somebody who may"):
            preparing.prepare(Address.parse(f"{as_user}{namespace}"))
    with PostgresqlStore(address) as store:
        store.put(record())


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork")
@pytest.mark.filterwarnings("ignore:This process")
def test_a_forked_child_has_a_connection_of_its_own(address):
    with PostgresqlStore(address) as store:
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


def test_namespaces_know_nothing_of_each_other(address, postgresql):
    with PostgresqlStore(address) as one, PostgresqlStore(postgresql.new_namespace()) as other:
        one.put(record())
        assert other.list() == ()
        assert other.changes()[0] == ()


@pytest.mark.slow
@pytest.mark.parametrize(
    ("column", "change", "words"),
    [
        ("version", -1, "init-store .* --apply"),
        ("version", 1, "newer agent-memory-protocol"),
        ("words", -1, "init-store .* --apply"),
        ("words", 1, "newer agent-memory-protocol"),
    ],
)
def test_tables_of_another_version_are_refused(column, change, words, address, postgresql):
    postgresql.run(f"UPDATE {name_of(address)}.about SET {column} = {column} + {change}")
    with PostgresqlStore(address) as store, pytest.raises(StorageError, match=words):
        store.list()


def test_tables_of_an_earlier_version_are_brought_up_and_keep_everything(address, monkeypatch):
    with PostgresqlStore(address) as store:
        one = record("Deploys go out on Tuesdays.")
        store.put(one)
        before = store.server.ask("SELECT tokens::text, size FROM $ns.heads")
        store.server.ask("UPDATE $ns.heads SET tokens = '', size = 0")
        store.server.ask("UPDATE $ns.about SET words = 1")
        step = 'ALTER TABLE "NAME".heads ADD COLUMN IF NOT EXISTS colour text;'
        monkeypatch.setattr(schema, "STEPS", (*schema.STEPS, step))
        for module in (schema, preparing, server):
            monkeypatch.setattr(module, "VERSION", schema.VERSION + 1 if module is schema else schema.VERSION)
        assert preparing.prepare(store.address) == "version 1.1"
        store.close()
        assert store.server.ask("SELECT colour FROM $ns.heads") == [(None,)]
        assert store.server.ask("SELECT tokens::text, size FROM $ns.heads") == before
        assert store.history(one.id) == (one,)


@pytest.mark.slow
def test_the_printed_sql_does_the_same_as_apply_and_may_run_twice(postgresql):
    address = Address.parse(f"{postgresql.local}&namespace=by_hand")
    for _ in range(2):
        postgresql.run(preparing.sql_of(address))
    with PostgresqlStore(address) as store:
        assert store.put(record()) == 1
    assert preparing.prepare(address) == "version 1.4"
    with PostgresqlStore(address) as store:
        assert len(store.list()) == 1


def test_a_newer_namespace_is_not_brought_down(address, postgresql):
    postgresql.run(f"UPDATE {name_of(address)}.about SET version = 99")
    with pytest.raises(StorageError, match="newer agent-memory-protocol"):
        preparing.prepare(Address.parse(address))

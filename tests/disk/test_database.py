import os
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from agent_memory_protocol.disk.database import Database
from agent_memory_protocol.errors import DamagedFile, LockBusy, StorageError


def prepare(connection):
    connection.execute("CREATE TABLE IF NOT EXISTS thing (name TEXT)")


@pytest.fixture
def database(tmp_path):
    with closing(Database(tmp_path / "things.sqlite", prepare)) as made:
        yield made


def add(database: Database, name: str) -> None:
    with database.transaction(write=True) as connection:
        connection.execute("INSERT INTO thing VALUES (?)", (name,))


def names(database: Database) -> list[str]:
    with database.transaction() as connection:
        return [name for (name,) in connection.execute("SELECT name FROM thing")]


def test_reading_creates_nothing_and_writing_does(database):
    assert names(database) == []
    assert not os.path.exists(database.path)
    add(database, "one")
    assert names(database) == ["one"]
    assert os.path.exists(database.path)


def test_an_error_undoes_the_whole_transaction(database):
    def fail() -> None:
        with database.transaction(write=True) as connection:
            connection.execute("INSERT INTO thing VALUES ('one')")
            connection.execute("INSERT INTO none VALUES ('two')")

    with pytest.raises(StorageError):
        fail()
    assert names(database) == []


def test_a_full_disk_is_named_with_what_to_do_and_nothing_is_written(database):
    add(database, "one")
    with database.connection() as connection:
        connection.execute("PRAGMA max_page_count = 3")
    with pytest.raises(StorageError, match="not written: the disk is full; free some space and try again"):
        add(database, "x" * 100_000)
    assert names(database) == ["one"]


def test_without_a_path_it_lives_until_it_is_closed():
    database = Database(None, prepare)
    add(database, "one")
    assert names(database) == ["one"]
    database.close()
    assert names(database) == []
    database.close()


def test_a_file_that_was_removed_or_replaced_is_opened_anew(database, tmp_path):
    add(database, "one")
    # A copy stands in for another process that makes the file again.
    with closing(Database(tmp_path / "other.sqlite", prepare)) as other:
        add(other, "two")
    for ending in ("", "-wal", "-shm"):
        Path(f"{database.path}{ending}").unlink()
    os.replace(tmp_path / "other.sqlite", database.path)
    assert names(database) == ["two"]
    os.unlink(database.path)
    assert names(database) == []
    add(database, "three")
    assert names(database) == ["three"]


def test_errors_name_the_file_and_what_to_do(database, monkeypatch):
    monkeypatch.setattr("agent_memory_protocol.disk.database.WAIT", 0.01)
    add(database, "one")
    database.close()
    with closing(sqlite3.connect(database.path, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(LockBusy, match=r"things\.sqlite: another process .*; try again"):
            add(database, "two")
    with (
        pytest.raises(StorageError, match=r"things\.sqlite: no such table: none; mend that"),
        database.transaction() as connection,
    ):
        connection.execute("SELECT * FROM none")
    database.close()
    with open(database.path, "wb") as file:
        file.write(b"no database" * 1000)
    with pytest.raises(DamagedFile, match=r"things\.sqlite: is not a sound SQLite file: .*; restore it"):
        names(database)

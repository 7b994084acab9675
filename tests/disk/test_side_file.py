"""A file that may be lost makes nothing fail, whatever becomes of it."""

import os
import sqlite3
from contextlib import closing

import pytest

from agent_memory_protocol.disk.side_file import SideFile

TABLE = "CREATE TABLE one (word TEXT)"


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


def test_a_file_that_somebody_else_made_is_replaced(tmp_path):
    path = tmp_path / "b.sqlite"
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("CREATE TABLE one (word INTEGER)")
        connection.execute("INSERT INTO one VALUES (1)")
        connection.commit()
    assert SideFile(str(path), TABLE).rows("SELECT word FROM one") == []


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

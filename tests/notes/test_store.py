"""The notes of a folder on disk, and what is read again the next time."""

import os
import time

import pytest

from agent_memory_protocol.disk import looked
from agent_memory_protocol.disk.files import Root
from agent_memory_protocol.notes import store
from agent_memory_protocol.notes.note import Head
from agent_memory_protocol.notes.store import KnownNotes, read_folder

FOLDER = ("notes",)
LONG_AGO = time.time_ns() - 3_600_000_000_000


@pytest.fixture
def root(tmp_path):
    (tmp_path / "notes").mkdir()
    with Root.open(str(tmp_path)) as opened:
        yield opened


def write(tmp_path, name, description, when=LONG_AGO):
    path = tmp_path / "notes" / name
    path.write_text(f"---\nname: n\ndescription: {description}\n---\n")
    os.utime(path, ns=(when, when))
    return path


def look(known, root):
    known.look(root, FOLDER, "MEMORY.md")
    return {name: head.description for name, head in known.folder.heads.items()}


def test_what_is_known_is_what_a_fresh_look_finds(root, tmp_path):
    write(tmp_path, "b.md", "b")
    write(tmp_path, "a.md", "a")
    write(tmp_path, "MEMORY.md", "the index")
    (tmp_path / "notes" / "bad.md").write_bytes(b"\xff")
    (tmp_path / "notes" / "folder.md").mkdir()
    known = KnownNotes()
    assert look(known, root) == {"a.md": "a", "b.md": "b"}
    assert known.folder == read_folder(root, FOLDER, "MEMORY.md")
    assert list(known.folder.problems) == ["bad.md"]


def test_only_a_note_whose_file_has_changed_is_read_again_be_it_of_equal_size_and_time(root, tmp_path, monkeypatch):
    monkeypatch.setattr(looked, "TICK", -3_600_000_000_000)  # what was written just now is old enough
    path = write(tmp_path, "a.md", "old")
    write(tmp_path, "b.md", "b")
    known, read = KnownNotes(), []
    once = store.read_head

    def read_head(root, parts):
        read.append(parts[-1])
        return once(root, parts)

    monkeypatch.setattr(store, "read_head", read_head)
    look(known, root)
    look(known, root)
    assert read == ["a.md", "b.md"]
    before = path.stat()
    time.sleep(0.02)  # the clock of the disk ticks
    write(tmp_path, "a.md", "new")
    after = path.stat()
    assert (before.st_ino, before.st_size, before.st_mtime_ns) == (after.st_ino, after.st_size, after.st_mtime_ns)
    assert look(known, root) == {"a.md": "new", "b.md": "b"}
    assert read == ["a.md", "b.md", "a.md"]


def test_a_note_that_was_written_just_now_is_read_again_whatever_its_time_says(root, tmp_path):
    now = time.time_ns()
    write(tmp_path, "a.md", "old", now)
    known = KnownNotes()
    look(known, root)
    write(tmp_path, "a.md", "new", now)
    assert look(known, root) == {"a.md": "new"}


def test_notes_come_and_go_and_problems_are_mended(root, tmp_path):
    gone = write(tmp_path, "gone.md", "x")
    bad = tmp_path / "notes" / "bad.md"
    bad.write_bytes(b"\xff")
    known = KnownNotes()
    look(known, root)
    gone.unlink()
    write(tmp_path, "new.md", "y")
    write(tmp_path, "bad.md", "mended")
    assert look(known, root) == {"bad.md": "mended", "new.md": "y"}
    assert known.folder.problems == {}


@pytest.mark.skipif(not hasattr(os, "symlink"), reason="the system has no links")
def test_what_a_link_leads_to_is_read_again_each_time(root, tmp_path):
    (tmp_path / "real.md").write_text("---\nname: n\ndescription: old\n---\n")
    (tmp_path / "notes" / "a.md").symlink_to("../real.md")
    known = KnownNotes()
    assert look(known, root) == {"a.md": "old"}
    (tmp_path / "real.md").write_text("---\nname: n\ndescription: new\n---\n")
    assert look(known, root) == {"a.md": "new"}


def test_a_look_at_some_notes_says_whether_their_index_lines_can_have_changed(root, tmp_path):
    path = write(tmp_path, "a.md", "a")
    write(tmp_path, "b.md", "b")
    known = KnownNotes()
    look(known, root)
    path.write_text(path.read_text() + "More of the body.\n")
    assert not known.look_at(root, FOLDER, ["a.md"])
    write(tmp_path, "a.md", "new")
    assert known.look_at(root, FOLDER, ["a.md", "b.md"])
    assert [head.description for head in known.folder.heads.values()] == ["new", "b"]
    assert known.folder.heads["b.md"] == Head("n", "b")
    path.unlink()
    assert known.look_at(root, FOLDER, ["a.md"])
    assert "a.md" not in known
    assert "b.md" in known

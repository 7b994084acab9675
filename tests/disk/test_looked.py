"""Looked: what has changed in a folder since it was looked at is seen, whatever the clock of its disk can tell."""

import os
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from random import Random

import pytest

from agent_memory_protocol import Workspace
from agent_memory_protocol.disk import looked
from agent_memory_protocol.disk.files import Root
from agent_memory_protocol.disk.looked import TICK, look
from agent_memory_protocol.notes.store import KnownNotes, read_folder

OLD = 1_700_000_000_000_000_000


@pytest.fixture
def root(tmp_path: Path) -> Iterator[Root]:
    for number in range(5):
        write(tmp_path / "notes" / f"n{number}.md", f"fact {number}")
    (tmp_path / "notes" / "other.txt").write_text("no note")
    with Root.open(str(tmp_path)) as opened:
        yield opened


def write(path: Path, text: str, at: int = OLD) -> None:
    path.parent.mkdir(exist_ok=True)
    path.write_text(text)
    os.utime(path, ns=(at, at))


def is_markdown(name: str) -> bool:
    return name.endswith(".md")


def look_later(root: Root, monkeypatch: pytest.MonkeyPatch) -> looked.Looked:
    """Look when everything has rested for a day."""
    now = time.time_ns
    with monkeypatch.context() as patched:
        patched.setattr(time, "time_ns", lambda: now() + 86_400 * 10**9)
        root.forget()
        return look(root, ("notes",), is_markdown)


def put_in_its_place(folder: Path) -> None:
    write(folder / "new", "fact 1")
    os.replace(folder / "new", folder / "n1.md")


def link(folder: Path) -> None:
    os.unlink(folder / "n1.md")
    os.symlink("n2.md", folder / "n1.md")


def make_a_folder(folder: Path) -> None:
    os.unlink(folder / "n1.md")
    os.mkdir(folder / "n1.md")


CHANGES: dict[str, Callable[[Path], object]] = {
    "an edit of equal size whose time is set back": lambda folder: write(folder / "n1.md", "FACT 1"),
    "a file in the place of another": put_in_its_place,
    "a new file": lambda folder: write(folder / "n9.md", "fact 9"),
    "a file that is gone": lambda folder: (folder / "n1.md").unlink(),
    "another name": lambda folder: (folder / "n1.md").rename(folder / "n7.md"),
    "a link in its place": link,
    "a folder in its place": make_a_folder,
    "another mode": lambda folder: (folder / "n1.md").chmod(0o600),
}


@pytest.mark.parametrize("change", CHANGES)
def test_a_change_is_seen(root, monkeypatch, change):
    before = look_later(root, monkeypatch)
    assert before.is_settled
    assert look_later(root, monkeypatch) is before
    CHANGES[change](Path(root.path, "notes"))
    after = look_later(root, monkeypatch)
    assert after is not before
    assert after.files != before.files


def test_what_is_not_wanted_may_change(root, monkeypatch):
    before = look_later(root, monkeypatch)
    (Path(root.path, "notes") / "other.txt").write_text("it has changed")
    assert look_later(root, monkeypatch) is before
    assert [*before.files] == [f"n{number}.md" for number in range(5)]


def test_a_folder_with_a_link_or_with_a_file_of_just_now_is_never_told_to_be_the_same(root, monkeypatch):
    folder = Path(root.path, "notes")
    first = look(root, ("notes",), is_markdown)  # the files were made just now, whatever their times were set to
    assert not first.is_settled
    assert look(root, ("notes",), is_markdown) is not first
    os.symlink("other.txt", folder / "linked.md")
    second = look_later(root, monkeypatch)
    assert (second.is_settled, second.files["linked.md"]) == (False, None)


def test_writes_within_one_tick_of_a_coarse_clock_are_read(root, monkeypatch, sized):
    dice = Random(3)
    clock = [OLD]
    written: dict[int, int] = {}
    folder = Path(root.path, "notes")

    def sign(info: os.stat_result) -> tuple[int, ...]:
        at = written.get(info.st_ino, OLD) // TICK * TICK
        return info.st_mode, info.st_dev, info.st_ino, info.st_size, at, at

    monkeypatch.setattr(looked, "_SIGN", sign)
    monkeypatch.setattr(time, "time_ns", lambda: clock[0])
    known = KnownNotes()
    same = 0
    for _ in range(sized(60, 600, 5_000)):
        clock[0] += dice.choice([0, 1, TICK // 3, TICK, 3 * TICK])
        for _ in range(dice.choice([0, 0, 0, 1, 2])):
            path = folder / f"n{dice.randrange(5)}.md"
            path.write_text(f"# Title {dice.randrange(10)}\n")
            written[path.stat().st_ino] = clock[0]
            clock[0] += dice.choice([0, 1, TICK // 5])
        before = known.folder
        root.forget()
        known.look(root, ("notes",), "KNOWLEDGE.md")
        same += known.folder is before
        assert known.folder == read_folder(root, ("notes",), "KNOWLEDGE.md")
    assert same > 5


@pytest.mark.parametrize("rested", [False, True])
def test_an_index_and_a_search_tell_of_an_edit_of_equal_size_and_time(tmp_path, monkeypatch, rested):
    note = tmp_path / ".scaffolding/agent-memory/shared/reference_a.md"
    note.parent.mkdir(parents=True)
    said = "---\nname: reference_a\ndescription: The {} is blue.\nmetadata:\n  type: reference\n---\n\nFact.\n"
    workspace = Workspace.open(tmp_path, environ={})
    now = time.time_ns
    for word in ("door", "roof", "wall"):
        write(note, said.format(word))
        if rested:
            monkeypatch.setattr(time, "time_ns", lambda: now() + 86_400 * 10**9)
        for _ in range(3):
            workspace.index()
            assert f"The {word} is blue" in (note.parent / "KNOWLEDGE.md").read_text()
            assert [one.id for one in workspace.search(word) if one.id == note.name] == [note.name]
        assert not [
            one for one in workspace.search({"door": "roof", "roof": "door"}.get(word, "door")) if "blue" in one.text
        ]

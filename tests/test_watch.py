"""The watcher: real files, real events, every wait is for an outcome with a deadline."""

import asyncio
import errno
import json
import os
import shutil
import signal
import subprocess
import sys
import sysconfig
import threading
import time
from pathlib import Path

import pytest
from watchdog.events import (
    DirCreatedEvent,
    DirDeletedEvent,
    DirModifiedEvent,
    DirMovedEvent,
    FileCreatedEvent,
    FileModifiedEvent,
    FileMovedEvent,
    FileOpenedEvent,
)
from watchdog.observers import Observer

from agent_memory_protocol import Workspace
from agent_memory_protocol.disk import file_events
from agent_memory_protocol.disk.file_events import FileEvents
from agent_memory_protocol.watch import Watcher, changes
from tests.each_row import each_row

SECONDS = 20
SHARED = ".scaffolding/agent-memory/shared"
NOTE = "---\nname: {0}\ndescription: {1}\n---\nbody\n"


@pytest.fixture
def folder(tmp_path):
    path = tmp_path / SHARED
    path.mkdir(parents=True)
    return path


@pytest.fixture
def workspace(tmp_path):
    return Workspace.open(tmp_path, environ={"HOME": str(tmp_path)})


class Running:
    """A watcher in a thread, and what it has said so far."""

    def __init__(self, watcher):
        self.watcher = watcher
        self.said = []
        self._thread = threading.Thread(target=self._run, daemon=True)

    def _run(self):
        for happened in self.watcher.run():
            self.said.append(happened)

    def __enter__(self):
        self._thread.start()
        wait_for(lambda: any(one.what == "watching" for one in self.said))
        return self

    def __exit__(self, *_):
        self.watcher.stop()
        self._thread.join(SECONDS)
        assert not self._thread.is_alive()

    def count(self, what):
        return sum(one.what == what for one in self.said)

    def indexed(self):
        return [str(one.target) for one in self.said if one.what == "indexed"]


def wait_for(outcome):
    deadline = time.monotonic() + SECONDS
    while not outcome():
        assert time.monotonic() < deadline, "the outcome did not come"
        time.sleep(0.02)


def index(folder):
    file = folder / "KNOWLEDGE.md"
    return file.read_text() if file.exists() else ""


def place(path, text):
    """Let a file appear whole: one that is written bit by bit may be seen, rightly, in two states."""
    path.with_name(".being-written").write_text(text)
    os.replace(path.with_name(".being-written"), path)


def test_notes_made_before_the_watcher_started_are_indexed_at_its_start(workspace, folder):
    for name in "abc":
        (folder / f"user_{name}.md").write_text(NOTE.format(name, f"about {name}"))
    with Running(Watcher(workspace)):
        wait_for(lambda: index(folder).count("](user_") == 3)


def save_by_rename(folder):
    (folder / ".tmp123").write_text(NOTE.format("a", "new words"))
    os.replace(folder / ".tmp123", folder / "user_a.md")


def save_by_backup(folder):
    os.rename(folder / "user_a.md", folder / "user_a.md~")
    (folder / "user_a.md").write_text(NOTE.format("a", "new words"))
    os.remove(folder / "user_a.md~")


def save_in_place(folder):
    (folder / "user_a.md").write_text(NOTE.format("a", "new words"))


@pytest.mark.slow
@pytest.mark.parametrize("save", [save_by_rename, save_by_backup, save_in_place])
@pytest.mark.parametrize("poll", [None, 0.1])
def test_a_save_is_in_the_index_however_the_editor_makes_it(workspace, folder, save, poll):
    (folder / "user_a.md").write_text(NOTE.format("a", "old words"))
    with Running(Watcher(workspace, debounce=0.05, poll=poll)):
        wait_for(lambda: "old words" in index(folder))
        save(folder)
        wait_for(lambda: "new words" in index(folder))
        assert index(folder).count("](user_") == 1
        assert "tmp" not in index(folder)


@pytest.mark.slow
def test_a_change_is_indexed_once_and_other_folders_are_left_alone(workspace, folder):
    for number in range(50):
        place(folder / f"user_{number}.md", NOTE.format(number, "d"))
    with Running(Watcher(workspace, debounce=0.05)) as running:
        wait_for(lambda: running.indexed() == ["shared"])
        place(folder / "user_last.md", NOTE.format("last", "marker one"))
        wait_for(lambda: running.indexed() == ["shared", "shared"])
        written = (folder / "KNOWLEDGE.md").stat().st_mtime_ns
        other = folder.parent / "agents" / "dev"
        other.mkdir(parents=True)
        place(other / "user_z.md", NOTE.format("z", "marker two"))
        wait_for(lambda: len(running.indexed()) > 2)
        assert running.indexed() == ["shared", "shared", "agent:dev"]
        assert (folder / "KNOWLEDGE.md").stat().st_mtime_ns == written


@pytest.mark.slow
def test_it_does_not_wake_itself_and_reading_wakes_it_neither(workspace, folder):
    (folder / "user_a.md").write_text(NOTE.format("a", "d"))
    watcher = Watcher(workspace)

    def woken_by_a_look(marker):
        """Return the memory files whose events would wake it, all that come before those of a marker."""
        events = FileEvents()
        named: set[str] = set()

        def came():
            named.update(events.take() or ())
            return str(folder / marker) in named

        assert events.start(str(folder.parents[1])) == ""
        try:
            list(watcher.look())
            for path in folder.iterdir():
                path.read_bytes()
            (folder / marker).write_text("no note")
            wait_for(came)
            return {os.path.basename(path) for path in named if path.endswith(".md")}
        finally:
            events.close()

    assert woken_by_a_look("first.txt") == {"KNOWLEDGE.md"}
    (folder / "user_b.md").write_text(NOTE.format("b", "d"))
    assert woken_by_a_look("second.txt") == {"KNOWLEDGE.md"}
    assert woken_by_a_look("third.txt") == set()


def test_one_bad_file_is_reported_once_and_the_others_are_indexed(workspace, folder):
    (folder / "user_bad.md").write_bytes(b"---\nname: x\ndescription: caf\xe9\n---\n")
    with Running(Watcher(workspace, debounce=0.05)) as running:
        wait_for(lambda: running.count("problem") == 1)
        place(folder / "user_good.md", NOTE.format("good", "is indexed"))
        wait_for(lambda: "is indexed" in index(folder))
        place(folder / "user_bad.md", NOTE.format("bad", "is mended"))
        wait_for(lambda: "is mended" in index(folder))
        assert running.count("problem") == 1


@pytest.mark.slow
def test_deleted_and_made_again_folders_are_followed(workspace, folder):
    (folder / "user_a.md").write_text(NOTE.format("a", "first"))
    with Running(Watcher(workspace, debounce=0.05)):
        wait_for(lambda: "first" in index(folder))
        moved = folder.with_name("moved")
        os.rename(folder, moved)
        folder.mkdir()
        (folder / "user_b.md").write_text(NOTE.format("b", "second"))
        wait_for(lambda: "second" in index(folder))


@pytest.mark.slow
@pytest.mark.parametrize(
    "place_of_all", [".scaffolding", ".scaffolding/agent-memory", ".scaffolding/agent-memory/agents"]
)
def test_what_stands_in_the_way_for_a_while_is_told_once_and_does_not_end_it(workspace, folder, tmp_path, place_of_all):
    (folder / "user_a.md").write_text(NOTE.format("a", "first"))
    (tmp_path / ".scaffolding/agent-memory/agents").mkdir()
    all_of_it = tmp_path / place_of_all
    with Running(Watcher(workspace, poll=0.05)) as running:
        wait_for(lambda: "first" in index(folder))
        all_of_it.rename(tmp_path / "away")
        all_of_it.write_text("a file")
        wait_for(lambda: running.count("problem") > 0)
        all_of_it.unlink()
        (tmp_path / "away").rename(all_of_it)
        place(folder / "user_b.md", NOTE.format("b", "second"))
        wait_for(lambda: "second" in index(folder))
        told = [str(one.target) for one in running.said if one.what == "problem"]
        assert len(told) == len({*told})


@pytest.mark.slow
def test_another_branch_that_git_checks_out_is_indexed(workspace, folder, tmp_path):
    """B31: what git writes is a save like any other."""

    def git(*args):
        who = ("-c", "user.name=a", "-c", "user.email=a@b.invalid")
        subprocess.run(["git", *who, *args], cwd=tmp_path, check=True, capture_output=True)

    git("init", "-q")
    note = folder / "user_a.md"
    for branch in ("one", "other"):
        git("checkout", "-q", "-b", branch)
        note.write_text(NOTE.format("a", f"as {branch} says"))
        git("add", str(note))
        git("commit", "-q", "-m", branch)
    with Running(Watcher(workspace, debounce=0.05)):
        wait_for(lambda: "as other says" in index(folder))
        git("checkout", "-q", "one")
        wait_for(lambda: "as one says" in index(folder))
        assert index(folder).count("](user_") == 1


@pytest.mark.slow
def test_an_overwritten_entry_is_put_back(workspace, folder, tmp_path):
    workspace.remember("The old fact.")
    old = (folder / "KNOWLEDGE.md").read_text()
    workspace.remember("The new fact.")
    with Running(Watcher(workspace, debounce=0.05)) as running:
        place(folder / "KNOWLEDGE.md", old + "\n## From an editor\n\n- That held an older copy.\n")
        wait_for(lambda: running.count("healed") == 1)
        assert "The new fact." in index(folder)
        assert "That held an older copy." in index(folder)


@pytest.mark.slow
def test_it_warns_once_when_a_file_is_nearly_full(workspace, folder):
    lines = "\n".join(f"- entry {number}" for number in range(183))
    (folder / "KNOWLEDGE.md").write_text(f"# Shared Knowledge\n\n{lines}\n")
    with Running(Watcher(workspace, debounce=0.05)) as running:
        wait_for(lambda: running.count("near-limit") == 1)
        place(folder / "KNOWLEDGE.md", f"# Shared Knowledge\n\n{lines}\n- one more\n")
        place(folder / "user_a.md", NOTE.format("a", "marker"))
        wait_for(lambda: "marker" in index(folder))
        assert running.count("near-limit") == 1


# -- looking where an event says ---------------------------------------------------------------------------------------


@pytest.fixture
def watcher(workspace, folder):
    """A watcher that has seen two notes and an entry."""
    workspace.remember("Redis needs AOF on.")
    for name in "ab":
        (folder / f"user_{name}.md").write_text(NOTE.format(name, f"about {name}"))
    made = Watcher(workspace)
    list(made.look())
    return made


def look_at(watcher, *paths):
    return [(one.what, str(one.target)) for one in watcher.look_at({str(path) for path in paths})]


def test_a_note_that_an_event_names_is_read_whatever_its_time_says(watcher, folder):
    path = folder / "user_a.md"
    before = path.stat()
    path.write_text(NOTE.format("a", "about z"))
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))
    assert look_at(watcher, path) == [("indexed", "shared")]
    assert "- [A](user_a.md) - about z\n" in index(folder)
    assert list(watcher.look()) == []


def test_a_change_that_no_index_line_shows_writes_nothing(watcher, folder):
    before = (folder / "KNOWLEDGE.md").stat()
    path = folder / "user_a.md"
    path.write_text(path.read_text() + "More of the body.\n")
    assert look_at(watcher, path, folder / "KNOWLEDGE.md") == []
    assert (folder / "KNOWLEDGE.md").stat() == before


def test_notes_that_come_and_go_are_found_from_the_events_that_name_them(watcher, folder):
    (folder / "user_c.md").write_text(NOTE.format("c", "about c"))
    (folder / "user_a.md").unlink()
    assert look_at(watcher, folder / "user_c.md", folder / "user_a.md") == [("indexed", "shared")]
    assert "user_a.md" not in index(folder)
    assert "user_c.md" in index(folder)


def test_a_folder_that_is_new_is_found_from_the_event_of_one_of_its_files(watcher, folder):
    other = folder.parent / "agents" / "dev"
    other.mkdir(parents=True)
    (other / "user_z.md").write_text(NOTE.format("z", "d"))
    assert look_at(watcher, other / "user_z.md") == [("indexed", "agent:dev")]


def test_a_document_that_another_program_changed_is_healed_and_indexed(watcher, workspace, folder):
    old = index(folder)
    workspace.remember("The new fact.")
    (folder / "KNOWLEDGE.md").write_text(old.replace("- [A](user_a.md) - about a\n", ""))
    assert look_at(watcher, folder / "KNOWLEDGE.md") == [("healed", "shared"), ("indexed", "shared")]
    assert "The new fact." in index(folder)
    assert "user_a.md" in index(folder)
    assert look_at(watcher, folder / "KNOWLEDGE.md") == []


def test_other_limits_are_known_as_soon_as_the_settings_change(watcher, tmp_path):
    settings = tmp_path / ".scaffolding" / "amp.toml"
    settings.write_text("[limits]\nmax_lines = 14\n")
    assert look_at(watcher, settings) == [("near-limit", "shared")]


def test_what_cannot_be_done_is_told_once_and_tried_again(watcher, folder):
    good = index(folder)
    (folder / "KNOWLEDGE.md").write_text(good + "\n<<<<<<< ours\n- x\n=======\n- y\n>>>>>>> theirs\n")
    (folder / "user_c.md").write_text(NOTE.format("c", "about c"))
    assert [one.what for one in watcher.look()] == ["problem"]
    assert list(watcher.look()) == []
    (folder / "KNOWLEDGE.md").write_text(good)
    assert [one.what for one in watcher.look()] == ["indexed"]
    assert "about c" in index(folder)


def test_a_conversation_has_no_notes(watcher, workspace, folder):
    workspace.remember("We keep Postgres.", conversation="c1")
    context = folder.parents[1] / "conversations" / "c1" / "agent-memory" / "context.md"
    context.with_name("user_a.md").write_text(NOTE.format("a", "about a"))
    before = context.read_bytes()
    assert list(watcher.look()) == []
    assert context.read_bytes() == before


@pytest.mark.slow
def test_where_events_get_lost_it_says_so_and_looks_again_and_again(workspace, folder, monkeypatch):
    monkeypatch.setattr(FileEvents, "on_any_event", lambda *_: None)
    (folder / "user_a.md").write_text(NOTE.format("a", "first"))
    with Running(Watcher(workspace, debounce=0.05, look_again=0.1)) as running:
        wait_for(lambda: running.indexed() == ["shared"])
        assert running.count("polling") == 0
        begun = time.monotonic()

        def is_lost():  # a note that comes while it still looks needs no event, so another one comes each second
            name = f"user_b{int(time.monotonic() - begun)}.md"
            if not (folder / name).exists():
                place(folder / name, NOTE.format("b", "second"))
            return running.count("polling") == 1

        wait_for(is_lost)
        assert "second" in index(folder)


@each_row(
    "event, is_taken",
    [
        (FileModifiedEvent("/p/.scaffolding/agent-memory/shared/user_a.md"), True),
        (FileMovedEvent("/p/.scaffolding/x.tmp", "/p/.scaffolding/agent-memory/shared/user_a.md"), True),
        (FileOpenedEvent("/p/.scaffolding/agent-memory/shared/user_a.md"), False),
        (FileModifiedEvent("/p/.scaffolding/.amp/journal/shared.md"), False),
        (FileModifiedEvent("/p/.scaffolding/agent-memory/shared/.user_a.md.swp"), False),
        (FileCreatedEvent("/p/.scaffolding/agent-memory/shared/user_a.md~"), False),
        (FileModifiedEvent("/p/.scaffolding/agent-memory/shared/ledger.jsonl"), False),
        (DirModifiedEvent("/p/.scaffolding/agent-memory/shared"), False),
    ],
)
def test_only_events_that_can_mean_a_change_of_memory_wake_it(event, is_taken):
    events = FileEvents()
    events.on_any_event(event)
    assert bool(events.take()) is is_taken
    assert events.take() == set()


@pytest.mark.parametrize("event", [DirMovedEvent("/p/a", "/p/b"), DirDeletedEvent("/p/a"), DirCreatedEvent("/p/a")])
def test_a_folder_that_comes_or_goes_means_that_anything_may_have_changed(event):
    events = FileEvents()
    events.on_any_event(FileModifiedEvent("/p/x.md"))
    events.on_any_event(event)
    events.on_any_event(FileModifiedEvent("/p/y.md"))
    assert events.take() is None
    assert events.take() == set()


def test_very_many_files_at_once_mean_the_same():
    events = FileEvents()
    for number in range(1_000):
        events.on_any_event(FileModifiedEvent(f"/p/{number}.md"))
    assert events.take() is None


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="inotify is Linux's")
def test_a_limit_that_is_met_after_the_start_is_noticed(workspace, folder, monkeypatch):
    (folder / "user_a.md").write_text(NOTE.format("a", "first"))
    monkeypatch.setattr(file_events, "_watched", lambda: {folder.parents[1].stat().st_ino})
    with Running(Watcher(workspace, debounce=0.05)) as running:
        wait_for(lambda: running.count("polling") == 1)
        assert "limit of inotify watches" in next(one.message for one in running.said if one.what == "polling")


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="inotify is Linux's")
@pytest.mark.parametrize("way", ["conversations", "conversations/c9", "agent-memory/agents"])
def test_a_limit_that_is_met_where_no_memory_is_yet_is_noticed(workspace, folder, monkeypatch, way):
    scaffolding = folder.parents[1]
    (scaffolding / way).parent.mkdir(exist_ok=True)
    heard = {one.stat().st_ino for one in [scaffolding, *scaffolding.rglob("*")] if one.is_dir()}
    monkeypatch.setattr(file_events, "_watched", lambda: heard)
    with Running(Watcher(workspace, debounce=0.05)) as running:
        wait_for(lambda: running.count("watching") == 1)
        (scaffolding / way).mkdir()
        wait_for(lambda: running.count("polling") == 1)
        assert "limit of inotify watches" in next(one.message for one in running.said if one.what == "polling")


def test_an_observer_that_cannot_even_be_made_leads_to_polling(workspace, monkeypatch):
    def refuse():
        raise OSError(errno.EMFILE, os.strerror(errno.EMFILE))

    monkeypatch.setattr(file_events, "Observer", refuse)
    with Running(Watcher(workspace)) as running:
        wait_for(lambda: running.count("watching") == 1)
        assert running.count("polling") == 1


def test_a_tree_that_is_deleted_and_made_again_is_seen(workspace, folder):
    with Running(Watcher(workspace, debounce=0.05)) as running:
        wait_for(lambda: running.count("watching") == 1)
        shutil.rmtree(folder.parents[1])
        workspace.init()
        place(folder / "user_n.md", NOTE.format("n", "made again"))
        wait_for(lambda: "made again" in index(folder))
        assert running.count("polling") == 0


def test_a_poll_sees_an_edit_of_equal_size_and_time(watcher, folder):
    path = folder / "user_a.md"
    path.write_text(NOTE.format("a", "first"))
    list(watcher.look())
    info = path.stat()
    path.write_text(NOTE.format("a", "other"))
    os.utime(path, ns=(info.st_atime_ns, info.st_mtime_ns))
    assert [one.what for one in watcher.look()] == ["indexed"]
    assert "other" in index(folder)


@pytest.mark.slow
@pytest.mark.parametrize(("number", "limit"), [(errno.ENOSPC, "watches"), (errno.EMFILE, "instances")])
def test_where_the_system_gives_no_events_it_says_so_and_polls(workspace, folder, monkeypatch, number, limit):
    def refuse(self):
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr(Observer, "start", refuse)
    (folder / "user_a.md").write_text(NOTE.format("a", "first"))
    with Running(Watcher(workspace)) as running:
        wait_for(lambda: running.count("polling") == 1)
        assert f"the limit of inotify {limit}" in next(one.message for one in running.said if one.what == "polling")
        assert "looking every" in next(one.message for one in running.said if one.what == "polling")
        (folder / "user_b.md").write_text(NOTE.format("b", "second"))
        wait_for(lambda: "second" in index(folder))


def test_inside_a_running_event_loop_a_change_is_awaited_and_stopping_does_not_block(workspace, folder):
    async def first_change():
        found = []
        async for happened in changes(Watcher(workspace, debounce=0.05)):
            if happened.what == "watching":
                place(folder / "user_a.md", NOTE.format("a", "awaited"))
            if happened.what == "indexed":
                found.append(happened)
                break
        return found

    assert len(asyncio.run(asyncio.wait_for(first_change(), SECONDS))) == 1
    assert "awaited" in index(folder)


def start(tmp_path, *args):
    script = Path(sysconfig.get_path("scripts"), "amp")
    return subprocess.Popen(
        [script, "watch", "--json", *args],
        cwd=tmp_path,
        env={**os.environ, "HOME": str(tmp_path)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


@pytest.mark.slow
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
@pytest.mark.skipif(sys.platform == "win32", reason="signals are POSIX")
def test_the_command_prints_one_object_a_line_and_ends_cleanly_at_a_signal(tmp_path, folder, number):
    process = start(tmp_path)
    first = json.loads(process.stdout.readline())
    assert (first["version"], first["event"]) == (1, "watching")
    (folder / "user_a.md").write_text(NOTE.format("a", "seen"))
    wait_for(lambda: "seen" in index(folder))
    process.send_signal(number)
    out, err = process.communicate(timeout=SECONDS)
    assert (process.returncode, err) == (0, "")
    assert all(json.loads(line)["event"] for line in out.splitlines())


@pytest.mark.slow
def test_once_does_one_full_pass_and_ends(tmp_path, folder):
    (folder / "user_a.md").write_text(NOTE.format("a", "once"))
    process = start(tmp_path, "--once")
    out, err = process.communicate(timeout=SECONDS)
    assert (process.returncode, err) == (0, "")
    assert [json.loads(line)["event"] for line in out.splitlines()] == ["indexed"]
    assert "once" in index(folder)

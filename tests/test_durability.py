"""Durability: each fault of the table in docs/durability.md, made and measured in its quickest form.

The trials live in benchmarks/durability. `--slow` tries them more often, `--long` with the full numbers.
"""

import errno
import json
import os
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from agent_memory_protocol.answers import StoredEntry
from agent_memory_protocol.change import journal, transaction
from agent_memory_protocol.disk import writing
from agent_memory_protocol.disk.files import Root
from agent_memory_protocol.errors import StorageError
from agent_memory_protocol.layout import Target, Tier
from agent_memory_protocol.tiers import document as documents
from agent_memory_protocol.workspace import Workspace
from benchmarks.durability.trials import TRIALS

REPOSITORY = Path(__file__).parents[1]
DOCUMENT = Path(*Target(Tier.SHARED).parts)
LEDGER = DOCUMENT.with_name("ledger.jsonl")
JOURNAL = Path(".scaffolding", ".amp", "journal", "shared.jsonl")

linux = pytest.mark.skipif(sys.platform != "linux", reason="strace, mounts and /proc are Linux's")


@pytest.fixture
def tried(sized: Callable[[int, int, int], int]) -> Any:
    """Run a trial, and skip where this machine cannot make its fault."""

    def run(name: str) -> None:
        how = (["--quick"], [], ["--long"])[sized(0, 1, 2)]
        command = [sys.executable, "-m", "benchmarks.durability", "--json", *how, name]
        done = subprocess.run(command, cwd=REPOSITORY, capture_output=True, text=True, check=False)
        assert done.stdout, done.stderr
        rows = json.loads(done.stdout)
        broken = [f"{row['fault']}: {row['measured']}" for row in rows if row["held"] is False]
        assert not broken
        if all(row["held"] is None for row in rows):
            pytest.skip(rows[0]["measured"])

    return run


@pytest.mark.slow
@linux
def test_eight_writers_lose_nothing_and_readers_see_whole_files(tried):
    tried("many-writers")


@pytest.mark.slow
@linux
def test_a_writer_killed_at_random_loses_nothing_that_it_was_told_is_saved(tried):
    tried("kill-at-random")


@pytest.mark.slow
@linux
def test_writers_killed_while_one_writes_for_the_others_lose_nothing_that_they_were_told_is_saved(tried):
    tried("kill-among-writers")


@pytest.mark.slow
@linux
def test_a_writer_killed_at_a_system_call_leaves_the_old_document_or_the_new_one(tried):
    tried("kill-each-call")


@pytest.mark.slow
@linux
def test_a_system_call_that_fails_is_never_taken_for_success(tried):
    tried("fail-each-call")


@pytest.mark.slow
@linux
def test_what_the_disk_has_not_confirmed_is_not_acknowledged(tried):
    tried("fsync-fails")


@pytest.mark.slow
@linux
def test_disks_that_are_full_read_only_busy_or_someone_elses_refuse_writes_and_allow_recall(tried):
    tried("disks")


@pytest.mark.slow
@linux
def test_an_editor_without_our_lock_costs_no_entry(tried):
    tried("editors")


@linux
@pytest.mark.slow
def test_what_a_person_deletes_stays_deleted_whatever_is_run(tried):
    tried("by-hand")


@linux
@pytest.mark.slow
def test_the_lock_of_a_stopped_writer_is_not_stolen(tried):
    tried("stopped-holder")


@pytest.mark.slow
@linux
@pytest.mark.requirement("S0-35")
def test_damaged_lines_cost_no_other_line(tried):
    tried("damaged-lines")


@pytest.mark.slow
@linux
def test_no_link_swapped_in_leads_a_write_outside(tried):
    tried("links")


@linux
@pytest.mark.slow
def test_wrong_clocks_bring_nothing_back_and_lose_nothing(tried):
    tried("clocks")


@pytest.mark.slow
@linux
def test_what_the_promises_cost_is_a_table():
    command = [sys.executable, "-m", "benchmarks.durability", "--quick", "speed"]
    done = subprocess.run(command, cwd=REPOSITORY, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    header, _, *rows = done.stdout.splitlines()
    assert header.startswith("| fault | method | target | measured |")
    assert [row.split(" | ")[-1] for row in rows] == ["not judged |"] * 4, "so few writes say nothing about speed"


def test_every_fault_of_the_table_is_tried_here():
    tried = re.findall(r'(?:tried\("|"--quick", ")([a-z-]+)"', Path(__file__).read_text(encoding="utf-8"))
    assert sorted(tried) == sorted(trial.name for trial in TRIALS)


@pytest.mark.slow
def test_the_table_can_be_asked_for_what_there_is():
    command = [sys.executable, "-m", "benchmarks.durability", "nonsense"]
    done = subprocess.run(command, cwd=REPOSITORY, capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert "there is no nonsense" in done.stderr


# What the trials have found, each by its kind.


@pytest.fixture
def memory(tmp_path: Path) -> Workspace:
    workspace = Workspace.open(tmp_path, environ={"HOME": str(tmp_path)})
    for text in ("The first port is 80.", "Use pnpm here.", "Ask Ada about billing."):
        workspace.remember(text)
    return workspace


def texts(workspace: Workspace) -> list[str]:
    return [entry.text.removeprefix("- ") for entry in workspace.entries()]


def archived(workspace: Workspace) -> list[tuple[str, str]]:
    return [(one.archived.taken.markdown.removeprefix("- "), one.archived.reason) for one in workspace.restorable()]


def entry(workspace: Workspace, text: str) -> StoredEntry:
    return next(one for one in workspace.entries() if one.text == f"- {text}")


def rewrite(workspace: Workspace, old: str, new: str, *, age: float = 1) -> None:
    """Save the document as an editor does, a second ago."""
    path = workspace.path / DOCUMENT
    path.write_text(path.read_text().replace(old, new))
    os.utime(path, (time.time() - age, time.time() - age))


def refuse(monkeypatch: pytest.MonkeyPatch, error: type[StorageError] = StorageError) -> None:
    """Let the next replacement of a document fail."""

    def fails(*_: object, **__: object) -> None:
        monkeypatch.undo()
        raise error("not today")

    monkeypatch.setattr("agent_memory_protocol.change.transaction.replace", fails)


def files_of(workspace: Workspace) -> dict[Path, bytes]:
    return {path: path.read_bytes() for path in workspace.path.rglob("*") if path.is_file()}


def stop_before_replacing(workspace: Workspace, monkeypatch: pytest.MonkeyPatch, action: Any) -> None:
    """End the process, as far as disk and lock can tell, just before the document is replaced."""

    def stops(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr("agent_memory_protocol.change.transaction.replace", stops)
        with pytest.raises(KeyboardInterrupt):
            action()


def test_an_entry_whose_writer_was_stopped_is_added_by_the_next_write(memory, monkeypatch):
    stop_before_replacing(memory, monkeypatch, lambda: memory.remember("Half said."))
    assert "Half said." not in texts(memory)
    memory.remember("Said next.")
    assert texts(memory)[-2:] == ["Half said.", "Said next."]


@pytest.mark.parametrize("next_one", ["Said next.", "Use npm here."])
def test_an_edit_that_was_stopped_half_way_leaves_one_text_never_both(memory, monkeypatch, next_one):
    old = entry(memory, "Use pnpm here.").id
    stop_before_replacing(memory, monkeypatch, lambda: memory.edit(old, "Use npm here."))
    memory.sync(apply=True)
    assert texts(memory) == ["The first port is 80.", "Use pnpm here.", "Ask Ada about billing."]
    memory.remember(next_one)
    assert texts(memory)[:3] == ["The first port is 80.", "Use pnpm here.", "Ask Ada about billing."]


def test_an_edit_that_was_stopped_half_way_does_not_come_true_later(memory, monkeypatch):
    old = entry(memory, "Use pnpm here.").id
    stop_before_replacing(memory, monkeypatch, lambda: memory.edit(old, "Use npm here."))
    rewrite(memory, "- The first port is 80.\n", "- Written by hand.\n")
    memory.remember("Said next.")
    assert "Use npm here." not in texts(memory)
    assert "Use pnpm here." in texts(memory)


def test_an_edit_that_was_stopped_still_puts_back_what_an_editor_had_overwritten(memory, monkeypatch):
    memory.remember("Overwritten by an editor.")
    rewrite(memory, "- Overwritten by an editor.\n", "- Written by hand.\n")
    old = entry(memory, "Use pnpm here.").id
    stop_before_replacing(memory, monkeypatch, lambda: memory.edit(old, "Use npm here."))
    memory.sync(apply=True)
    assert "Overwritten by an editor." in texts(memory)
    assert "Use pnpm here." in texts(memory)
    assert "Use npm here." not in texts(memory)


@pytest.mark.parametrize("verb", ["remember", "edit", "forget"])
def test_a_write_that_is_refused_leaves_every_file_as_it_was(memory, monkeypatch, verb):
    memory.forget([entry(memory, "The first port is 80.").id])
    one = entry(memory, "Use pnpm here.").id
    before = files_of(memory)
    refuse(monkeypatch)
    with pytest.raises(StorageError, match="not today"):
        {
            "remember": lambda: memory.remember("Refused."),
            "edit": lambda: memory.edit(one, "Refused."),
            "forget": lambda: memory.forget([one]),
        }[verb]()
    assert files_of(memory) == before
    memory.remember("Said next.")
    assert texts(memory) == ["Use pnpm here.", "Ask Ada about billing.", "Said next."]


def test_what_has_left_stays_in_the_ledger_when_the_disk_has_not_confirmed_the_document(memory, monkeypatch):
    real = writing.replace

    def unconfirmed(*given: Any, **options: Any) -> None:
        real(*given, **options)
        monkeypatch.undo()
        raise writing.NotConfirmed("who knows")

    monkeypatch.setattr("agent_memory_protocol.change.transaction.replace", unconfirmed)
    with pytest.raises(StorageError, match="who knows"):
        memory.forget([entry(memory, "Use pnpm here.").id])
    assert archived(memory) == [("Use pnpm here.", "forgotten")]


def test_a_save_in_the_middle_of_a_write_costs_neither_the_save_nor_what_stood_there(memory, monkeypatch):
    real = writing.replace
    path = memory.path / DOCUMENT

    def save_first(*given: Any, **options: Any) -> Any:
        monkeypatch.undo()
        path.write_text(path.read_text() + "- Saved by hand.\n")
        return real(*given, **options)

    monkeypatch.setattr("agent_memory_protocol.change.transaction.replace", save_first)
    memory.remember("Said meanwhile.")
    expected = {
        "The first port is 80.",
        "Use pnpm here.",
        "Ask Ada about billing.",
        "Saved by hand.",
        "Said meanwhile.",
    }
    assert set(texts(memory)) == expected
    assert archived(memory) == []


@pytest.mark.parametrize("left", [0, 120])
def test_a_document_that_an_editor_is_saving_is_waited_for(memory, monkeypatch, left):
    monkeypatch.setattr(transaction, "QUIET_SECONDS", 3600)  # however long this test takes, the save was just now
    path = memory.path / DOCUMENT
    data = path.read_bytes()
    path.write_bytes(data[:left])
    waits = []

    def rest(seconds: float) -> None:
        waits.append(seconds)
        path.write_bytes(data + b"- Saved by hand.\n")
        os.utime(path, (time.time() - 7200, time.time() - 7200))

    monkeypatch.setattr(time, "sleep", rest)
    memory.remember("Said meanwhile.")
    assert waits
    assert len(texts(memory)) == 5
    assert archived(memory) == []


def test_a_document_that_is_written_all_the_time_is_not_waited_for_for_ever(memory, monkeypatch):
    monkeypatch.setattr(transaction, "QUIET_SECONDS", 3600)  # however long this test takes, the saves were just now
    path = memory.path / DOCUMENT
    waits = []

    def rest(seconds: float) -> None:
        waits.append(seconds)
        path.write_text(path.read_text() + f"- Saved by hand {len(waits)}.\n")

    path.write_text(path.read_text() + "- Saved by hand.\n")
    monkeypatch.setattr(time, "sleep", rest)
    memory.remember("Said meanwhile.")
    assert 1 <= len(waits) <= 20
    assert "Said meanwhile." in texts(memory)


def test_what_a_person_edits_by_hand_is_in_the_ledger_as_it_was(memory):
    rewrite(memory, "Ask Ada about billing.", "Ask Ada Lovelace about billing.")
    rewrite(memory, "The first port is 80.", "The first port is 8080.")
    memory.sync(apply=True)
    memory.remember("Said next.")
    assert "Ask Ada about billing." not in texts(memory)
    assert archived(memory) == [
        ("The first port is 80.", "edited by hand"),
        ("Ask Ada about billing.", "edited by hand"),
    ]


def test_what_goes_with_an_older_version_brought_back_is_in_the_ledger(memory):
    path = memory.path / DOCUMENT
    before = path.read_bytes()
    memory.remember("Said on the other branch.")
    path.write_bytes(before)
    os.utime(path, (time.time() - 1, time.time() - 1))
    memory.sync(apply=True)
    assert "Said on the other branch." not in texts(memory)
    reason = "gone with an earlier version of the file, by git or an undo"
    assert archived(memory) == [("Said on the other branch.", reason)]


def deleted(path: Path, _: bytes) -> None:
    path.unlink()


def saved_by_an_older_editor(path: Path, older: bytes) -> None:
    path.write_bytes(older.replace(b"Ask Ada", b"Always ask Ada"))


def edited_by_hand(path: Path, _: bytes) -> None:
    path.write_bytes(path.read_bytes().replace(b"Ask Ada", b"Always ask Ada"))


def brought_back(path: Path, older: bytes) -> None:
    path.write_bytes(older)


def emptied(path: Path, _: bytes) -> None:
    path.write_bytes(b"")


@pytest.mark.slow
@pytest.mark.parametrize("begun", ["by amp", "by hand"])
@pytest.mark.parametrize("change", [deleted, saved_by_an_older_editor, edited_by_hand, brought_back, emptied])
def test_the_next_write_does_with_what_is_missing_as_the_list_had_said(tmp_path, change, begun):
    path = tmp_path / DOCUMENT
    if begun == "by hand":
        path.parent.mkdir(parents=True)
        path.write_text("# Ours\n\nWhat we know.\n")
    memory = Workspace.open(tmp_path, environ={})
    for text in ("Ask Ada about billing.", "The first port is 80.", "Use pnpm here."):
        memory.remember(text)
    older = path.read_bytes()
    for number in range(6):
        memory.remember(f"Fact {number} is new.")
    change(path, older)
    said = {one.archived.taken.markdown: one.archived.reason for one in memory.restorable()}
    assert said
    memory.remember("Said next.")
    back = {text for text, why in said.items() if why == transaction.PUT_BACK}
    gone = {one.archived.taken.markdown: one.archived.reason for one in memory.restorable()}
    assert {one.removeprefix("- ") for one in back} <= {*texts(memory)}
    assert gone == {text: why for text, why in said.items() if text not in back}
    assert bool(back) == (change is saved_by_an_older_editor)


@pytest.mark.slow
@pytest.mark.parametrize("verb", ["sync", "say again", "recall"])
def test_an_entry_taken_out_by_hand_is_noted_once(memory, verb):
    rewrite(memory, "- The first port is 80.\n", "")
    for _ in range(3):
        if verb == "say again":
            memory.remember("Use pnpm here.")
        memory.sync(apply=True)
    assert archived(memory) == [("The first port is 80.", "taken out by hand")]
    lines = (memory.path / LEDGER).read_text().splitlines()
    assert len(lines) == 3, "a header, the entry, its tombstone"
    assert not memory.sync()


def overwrite_with(memory: Workspace, lines: int) -> str:
    """Let an editor that held an older copy fill the document up to this many lines; return the id it overwrites."""
    lost = memory.remember("Overwritten by an editor.").entry.id
    there = len((memory.path / DOCUMENT).read_text().splitlines()) - 1
    full = "".join(f"- Written by hand {number}.\n" for number in range(lines - there))
    rewrite(memory, "- Overwritten by an editor.\n", full)
    return lost


@pytest.mark.requirement("S4-59")
def test_what_was_overwritten_goes_back_up_to_the_limit(memory):
    overwrite_with(memory, 199)
    memory.sync(apply=True)
    assert "Overwritten by an editor." in texts(memory)
    assert len((memory.path / DOCUMENT).read_text().splitlines()) == 200


@pytest.mark.slow
@pytest.mark.requirement("S4-59")
def test_what_was_overwritten_and_has_no_room_any_more_is_in_the_ledger_and_can_be_restored(memory):
    lost = overwrite_with(memory, 200)
    before = (memory.path / DOCUMENT).read_bytes()
    (planned,) = memory.sync()
    (done,) = memory.sync(apply=True)
    assert dict(planned.kept_out) == dict(done.kept_out) == {lost: "- Overwritten by an editor."}
    assert done.put_back == ()
    assert (memory.path / DOCUMENT).read_bytes() == before
    assert archived(memory) == [("Overwritten by an editor.", transaction.KEPT_OUT)]
    assert f"`amp restore {lost} --apply`" in memory.notices[-1]
    memory.forget([entry(memory, "Use pnpm here.").id])
    assert "Overwritten by an editor." not in texts(memory), "it is not put back behind a person's back later"
    memory.restore([one for one in memory.restorable() if one.archived.taken.id == lost])
    assert "Overwritten by an editor." in texts(memory)
    assert not memory.sync()


@pytest.mark.slow
def test_what_had_no_room_is_noted_once_whatever_happens_to_the_document_next(memory):
    overwrite_with(memory, 200)
    memory.sync(apply=True)
    for number in range(3):
        rewrite(memory, f"- Written by hand {number}.\n", f"- Written by hand once more {number}.\n")
        memory.sync(apply=True)
    assert [text for text, _ in archived(memory)].count("Overwritten by an editor.") == 1
    assert "Overwritten by an editor." not in texts(memory)


def test_a_document_killed_while_it_was_created_leaves_nothing_for_long(tmp_path):
    workspace = Workspace.open(tmp_path)
    left = tmp_path / DOCUMENT.parent / f".{DOCUMENT.name}.0123456789abcdef.amp-tmp"
    left.parent.mkdir(parents=True)
    left.write_text("# Half")
    workspace.remember("The first.")
    assert not left.exists()


def test_a_note_that_a_write_is_done_does_not_decide_whether_it_is(memory, monkeypatch):
    def append(root: Root, parts: tuple[str, ...], line: bytes, *, sync: bool = True) -> None:
        if line.startswith(b'{"done"'):
            raise StorageError("no room for the note")
        writing.append(root, parts, line, sync=sync)

    monkeypatch.setattr("agent_memory_protocol.change.books.append", append)
    memory.remember("Said.")
    assert "Said." in texts(memory)
    monkeypatch.undo()
    memory.remember("Said next.")
    assert texts(memory)[-2:] == ["Said.", "Said next."]


def test_a_journal_is_small_again_after_a_day(memory):
    path = memory.path / JOURNAL
    os.utime(path, (time.time() - journal.KEEP_SECONDS - 60,) * 2)
    memory.remember("Said a day later.")
    records = journal.decode(path.read_bytes())
    assert [type(record).__name__ for record in records] == ["Version", "Write", "Done"]
    assert datetime.fromtimestamp(path.stat().st_mtime, UTC).date() == datetime.now(UTC).date()


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("git") is None, reason="git is not installed")
def test_two_branches_that_both_remember_merge_their_ledgers_by_union(tmp_path):
    def git(*words: str) -> None:
        identity = ["-c", "user.name=A", "-c", "user.email=a@example.org", "-c", "commit.gpgsign=false"]
        subprocess.run(["git", *identity, *words], cwd=tmp_path, check=True, capture_output=True)

    git("init", "-q", "-b", "main")
    workspace = Workspace.open(tmp_path)
    workspace.init()
    for number in range(6):
        workspace.remember(f"Fact {number}, with words of its own.", section=f"Part {number}")
    git("add", "-A")
    git("commit", "-q", "-m", "start")
    git("checkout", "-q", "-b", "other")
    workspace.forget([entry(workspace, "Fact 0, with words of its own.").id])
    git("add", "-A")
    git("commit", "-q", "-m", "theirs")
    git("checkout", "-q", "main")
    workspace.forget([entry(workspace, "Fact 5, with words of its own.").id])
    git("add", "-A")
    git("commit", "-q", "-m", "ours")
    git("merge", "-q", "--no-edit", "other")
    assert {text for text, _ in archived(workspace)} == {
        "Fact 0, with words of its own.",
        "Fact 5, with words of its own.",
    }
    workspace.remember("After the merge.")
    assert len(texts(workspace)) == 5


def test_a_document_that_was_deleted_is_in_the_ledger_after_the_next_write(memory):
    (memory.path / DOCUMENT).unlink()
    memory.remember("Said next.")
    assert {"Use pnpm here.", "Said next."} <= {*texts(memory), *(text for text, _ in archived(memory))}
    assert len(texts(memory)) + len(archived(memory)) == 4


@pytest.mark.slow
def test_an_outside_edit_costs_no_more_after_many_of_them(memory, monkeypatch):
    parsed: list[int] = []
    real = documents.parse

    def parse(data: bytes, target: Target) -> Any:
        parsed.append(len(data))
        return real(data, target)

    for number in range(12):
        rewrite(memory, "- Use pnpm here.\n", f"- Use pnpm here.\n- Written by hand, {number} of twelve.\n")
        memory.remember(f"Said afterwards, number {number}.")
    monkeypatch.setattr(documents, "parse", parse)
    rewrite(memory, "- Use pnpm here.\n", "- Use pnpm here.\n- Written by hand at last.\n")
    memory.sync()
    assert len(parsed) <= 3, "the document, and the last version that is written out"


@pytest.mark.slow
@pytest.mark.parametrize("number", range(1, 25))
def test_a_descriptor_that_cannot_be_closed_never_ends_in_a_traceback(memory, monkeypatch, number):
    real = os.close
    closed = 0

    def close(fd: int) -> None:
        nonlocal closed
        closed += 1
        real(fd)
        if closed == number:
            raise OSError(errno.EIO, os.strerror(errno.EIO))

    monkeypatch.setattr(os, "close", close)
    try:
        memory.remember("Said.")
    except StorageError:
        monkeypatch.undo()
        assert "Said." not in texts(memory)
    monkeypatch.undo()
    memory.remember("Said next.")
    assert texts(memory)[-1] == "Said next."


@pytest.mark.slow
@linux
def test_a_redaction_that_was_killed_is_finished_by_the_same_command(tried):
    tried("redact-each-call")


@pytest.mark.slow
@linux
def test_git_editors_and_kills_in_any_order_lose_nothing(tried):
    tried("through-git")

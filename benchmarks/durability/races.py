"""Several at once: processes that remember, a reader, editors that know no lock, people, a stopped holder."""

import os
import random
import signal
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path

from agent_memory_protocol.change.books import lock_name
from agent_memory_protocol.disk.files import Root
from agent_memory_protocol.disk.lock import hold
from agent_memory_protocol.errors import LockBusy, StorageError
from agent_memory_protocol.tiers import document as documents

from .project import Project, amp, new_project, start, wait_for, wait_until
from .row import Row, Size, problems


def eight_writers(folder: Path, size: Size) -> list[Row]:
    """Let eight processes remember into one document while another reads it all the time."""
    each = (4, 15, 500)[size]
    project = new_project(folder / "project")
    stop = folder / "stop"
    reader = start(lambda: _read_until(project, stop, folder / "seen"))
    began = time.perf_counter()
    writers = [start(partial(_remember, project, name, each, folder / "said")) for name in range(8)]
    codes = [wait_for(one) for one in writers]
    seconds = time.perf_counter() - began
    stop.touch()
    wait_for(reader)
    said = (folder / "said").read_text().splitlines()
    there = project.texts()
    reads, *torn = (folder / "seen").read_text().splitlines()
    missing = len(set(said) - {text.removeprefix("- ") for text in there})
    doubled = len(there) - len(set(there))
    litter = project.litter() + project.temporaries()
    held = len(said) == len(there) == 8 * each and not (missing or doubled or litter or torn or any(codes))
    return [
        Row(
            "many writers",
            f"8 processes × {each} `remember` into one document, a reader beside them",
            "all acknowledged are there, none twice; no litter; no partial file is ever read",
            f"{len(said):,} acknowledged, {len(said) - missing:,} there, {doubled} twice, {len(litter)} files left "
            f"behind, {len(torn)} of {int(reads):,} reads partial; {len(said) / seconds:.0f} a second",
            held,
        )
    ]


def _remember(project: Project, name: object, count: int, said: Path, *, pause: float = 0) -> None:
    workspace = project.workspace()
    with said.open("ab", buffering=0) as acknowledged:
        for number in range(count):
            text = f"Fact {number} of writer {name}: port {random.randrange(10_000)} answers."
            while True:
                try:
                    workspace.remember(text)
                    break
                except LockBusy:
                    continue
                except StorageError:
                    return
            acknowledged.write(f"{text}\n".encode())
            time.sleep(pause)


def _read_until(project: Project, stop: Path, seen: Path) -> None:
    """Read the document until told to stop, and note each time it was not whole or had lost something."""
    reads, most, torn = 0, 0, []
    while not stop.exists():
        with suppress(FileNotFoundError):
            data = project.document.read_bytes()
            reads += 1
            count = data.count(b"\n- ")
            if not data.startswith(b"# ") or not data.endswith(b"\n") or count < most:
                torn.append(f"{len(data)} bytes, {count} entries after {most}")
            most = max(most, count)
    seen.write_text("\n".join([str(reads), *torn]) + "\n")


def editors(folder: Path, size: Size) -> list[Row]:
    """Let an editor that knows no lock rewrite the document beside a process that remembers."""
    count = (6, 20, 300)[size]
    kinds = [
        ("in place", _save_in_place, 0.3),
        ("by rename", _save_by_rename, 0.3),
        ("in place, slowly", _save_slowly, 0.3),
        ("in place, restless", _save_in_place, 0.1),
    ]
    return [
        _beside_an_editor(folder / str(number), count, how, save, pause)
        for number, (how, save, pause) in enumerate(kinds)
    ]


def _beside_an_editor(folder: Path, count: int, how: str, save: Callable[[Path, bytes], None], pause: float) -> Row:
    folder.mkdir()
    project = new_project(folder / "project")
    for number in range(20):
        project.workspace().remember(f"Standing fact {number}.")
    stop = folder / "stop"
    overwritten = folder / "overwritten"
    editor = start(lambda: _edit_until(project, stop, folder / "saved", overwritten, save, pause))
    wait_for(start(lambda: _remember(project, "one", count, folder / "said", pause=0.01)))
    stop.touch()
    wait_for(editor)
    amp(project, "sync", "--apply")
    said = (folder / "said").read_text().splitlines()
    saved = (folder / "saved").read_text().splitlines()
    text = "\n".join(project.texts())
    there = {line.removeprefix("- ") for one in project.texts() for line in one.split("\n")}
    kept = {one.removeprefix("- ") for one in project.archived()}
    standing = {f"Standing fact {number}." for number in range(20)}
    gone = [one for one in said if one not in there]
    unseen = [one for one in gone if one not in overwritten.read_text()]
    lost = [one for one in [*said, *standing] if one not in there | kept]
    lost_saves = len([one for one in saved if one not in text])
    return Row(
        f"editor without our lock, {how}",
        f"{count} `remember` beside an editor that reads, thinks 50 ms, saves and rests {pause:g} s",
        "none lost: in the document after `amp sync --apply`, or in the ledger if the editor overwrote it again",
        f"{len(said)} acknowledged, {len(said) - len(gone)} in the document, {len(gone) - len(lost)} in the ledger, "
        f"{len(lost)} lost; {lost_saves} of {len(saved)} saves of the editor lost "
        f"({lost_saves / max(1, len(saved)):.1%})",
        bool(said) and not lost and not unseen,
    )


def _edit_until(
    project: Project, stop: Path, saved: Path, overwritten: Path, save: Callable[[Path, bytes], None], pause: float
) -> None:
    """Add a line again and again, as an editor does, and note which entries its older copy overwrites."""
    number = 0
    with saved.open("ab", buffering=0) as acknowledged, overwritten.open("ab", buffering=0) as noted:
        while not stop.exists():
            data = project.document.read_bytes()
            time.sleep(0.05)
            line = f"Edited by hand, number {number}."
            noted.write(b"".join(sorted({*project.document.read_bytes().splitlines(True)} - {*data.splitlines(True)})))
            save(project.document, data + f"- {line}\n".encode())
            acknowledged.write(f"{line}\n".encode())
            number += 1
            time.sleep(pause)


def _save_in_place(path: Path, data: bytes) -> None:
    path.write_bytes(data)


def _save_by_rename(path: Path, data: bytes) -> None:
    other = path.with_name("KNOWLEDGE.md~")
    other.write_bytes(data)
    other.rename(path)


def _save_slowly(path: Path, data: bytes) -> None:
    """Save as an editor on a slow disk does: the file is empty, then half there, for a while."""
    with path.open("wb", buffering=0) as file:
        for start_at in range(0, len(data), 1 + len(data) // 3):
            time.sleep(0.02)
            file.write(data[start_at : start_at + 1 + len(data) // 3])


def removed_by_hand(folder: Path, size: Size) -> list[Row]:
    """Take an entry out by hand, then run each verb: it stays away, and the ledger knows it."""
    verbs: Sequence[tuple[str, ...]] = (
        ("remember", "Something else."),
        ("remember", "[2020-01-01] Old."),
        ("sync", "--apply"),
        ("prune", "--apply"),
        ("prune", "--apply", "--older-than", "1d"),
        ("forget", "ID"),
        ("edit", "ID", "Changed."),
        ("restore", "--last"),
        ("recall", "developer"),
        ("list",),
    )
    wrong = []
    tried = 0
    for number, verb in enumerate(verbs):
        for again, also in enumerate(("", "- Written by hand.\n")):
            for which in range(3) if size == Size.LONG else [(number + again) % 3]:
                tried += 1
                project = new_project(folder / f"project-{number}-{len(also)}-{which}")
                for text in ("[2020-01-01] Old.", "The first port is 80.", "Use pnpm here.", "Ask Ada about billing."):
                    project.workspace().remember(text)
                words = [project.parsed().ids[0] if word == "ID" else word for word in verb]
                text = project.texts()[which + 1]
                _take_out(project, text, also)
                if which == 2 and also:
                    # To a program this is what an older copy looks like that an editor had open: it comes back, once.
                    amp(project, *words)
                    amp(project, "sync", "--apply")
                    if project.texts().count(text) != 1:
                        wrong.append(f"{' '.join(verb)}: the newest entry was not put back")
                        continue
                    _take_out(project, text, "")
                wrong += _trouble_after(project, words, text)
    return [
        Row(
            "an entry deleted by hand",
            f"{'each' if size == Size.LONG else 'one'} of three entries is deleted in an editor, alone or while "
            f"another line is added, then one of {len(verbs)} verbs is run; {tried} times",
            "it stays deleted and the ledger has it (the newest one, deleted within ten minutes while something else "
            "was written, comes back once: so does what an editor's older copy has overwritten)",
            problems(wrong) or f"{tried} of {tried}",
            not wrong,
        )
    ]


def _take_out(project: Project, text: str, also: str) -> None:
    data = project.document.read_text()
    project.document.write_text(data.replace(f"{text}\n", "") + also)


def _trouble_after(project: Project, verb: list[str], text: str) -> list[str]:
    for words in (verb, ["sync", "--apply"], ["remember", "One more."], ["sync", "--apply"]):
        done = amp(project, *words)
        if done.code not in (0, 2):
            return [f"{' '.join(words)}: {done.code} {done.err.strip()}"]
    ledger = project.ledger.read_bytes()
    amp(project, "sync", "--apply")
    if project.ledger.read_bytes() != ledger:
        return [f"{' '.join(verb)}: the ledger grows with each sync"]
    if text not in project.texts() and text in project.archived():
        return []
    return [f"{' '.join(verb)}, {text!r}: {'back' if text in project.texts() else 'unknown to the ledger'}"]


def stopped_holder(folder: Path, size: Size) -> list[Row]:  # noqa: ARG001  (nothing in it is random)
    """Stop whoever holds the lock in the middle of a write: the others wait, give up, and take nothing."""
    project = new_project(folder / "project")
    project.workspace().remember("The first.")
    gate = folder / "gate"

    def hold_on() -> None:
        with Root.open(str(project.path)) as root, hold(root, lock_name(project.target)):
            gate.touch()
            time.sleep(3600)

    def write_late() -> None:
        import agent_memory_protocol.disk.writing as writing

        def rename(*given: object, real: Callable[..., None] = writing._rename) -> None:
            gate.touch()
            os.kill(os.getpid(), signal.SIGSTOP)
            real(*given)

        writing._rename = rename  # type: ignore[assignment]
        project.workspace().remember("Said by the one that was stopped.")

    rows = []
    holder = start(hold_on)
    wait_until(gate.exists)
    os.kill(holder, signal.SIGSTOP)
    before = project.document.read_bytes()
    began = time.monotonic()
    done = amp(project, "remember", "Said by another.")
    waited = time.monotonic() - began
    named = f"process {holder}" in done.err
    same = project.document.read_bytes() == before
    recalls = amp(project, "recall", "developer").code == 0
    os.kill(holder, signal.SIGKILL)
    wait_for(holder)
    after = amp(project, "remember", "Said by another.").code
    rows.append(
        Row(
            "lock holder stopped",
            "SIGSTOP while it holds the lock; another remembers, a third recalls; then it is killed",
            "the other gives up within its wait (10 s) and names the holder; recall does not wait; then all goes on",
            f"exit {done.code} after {waited:.1f} s, holder {'named' if named else 'NOT named'}, "
            f"file {'untouched' if same else 'CHANGED'}, recall {'at once' if recalls else 'FAILED'}, "
            f"next write exit {after}",
            done.code == 4 and done.is_clear and named and same and recalls and after == 0 and waited < 11,
        )
    )
    gate.unlink()
    late = start(write_late)
    wait_until(gate.exists)
    time.sleep(0.05)
    newer = project.document.read_bytes() + b"- Saved meanwhile by an editor.\n"
    project.document.write_bytes(newer)
    os.kill(late, signal.SIGCONT)
    code = _resume(late)
    texts = project.texts()
    both = {"- Saved meanwhile by an editor.", "- Said by the one that was stopped."} <= set(texts)
    rows.append(
        Row(
            "a writer stopped before its rename resumes",
            "SIGSTOP between the temporary file and the rename, an editor saves meanwhile, SIGCONT",
            "it overwrites nothing newer, and does its own write",
            f"exit {code}, {'both are there' if both else 'SOMETHING IS MISSING'}, {len(project.litter())} files left",
            code == 0 and both and not project.litter(),
        )
    )
    return rows


def _resume(child: int) -> int:
    """Let a child go on as often as it stops itself; return its exit code."""
    while True:
        _, status = os.waitpid(child, os.WUNTRACED)
        if not os.WIFSTOPPED(status):
            return os.waitstatus_to_exitcode(status)
        os.kill(child, signal.SIGCONT)


def whole(project: Project) -> bool:
    """Say whether the document parses and gives its own bytes back."""
    data = project.document.read_bytes()
    return documents.parse(data, project.target).data == data

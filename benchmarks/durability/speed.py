"""What the promises cost: against a bare script that locks and syncs as often, and in writes a second."""

import fcntl
import os
import statistics
import time
from collections.abc import Callable, Sequence
from datetime import date
from functools import partial
from pathlib import Path

from agent_memory_protocol.layout import Target, Tier

from .project import Project, new_project, start, wait_for
from .row import Row

_LINES = 200


def figures(folder: Path, long: bool) -> list[Row]:
    """Measure remembering and planning."""
    return [
        _beside_a_script(folder, 300 if long else 30),
        *_a_second(folder, 100 if long else 10),
        _plan(folder, 2000 if long else 100),
    ]


def _beside_a_script(folder: Path, count: int) -> Row:
    project = new_project(folder / "one")
    for number in range(_LINES - 7):
        _write_entry(project, number)
    script = folder / "script"
    script.mkdir()
    (script / "document").write_bytes(project.document.read_bytes())
    workspace = project.workspace()
    ours, theirs = [], []
    for number in range(count):
        entry = f"Measured {number}."
        began = time.perf_counter()
        made = workspace.remember(entry).entry.id
        ours.append(time.perf_counter() - began)
        workspace.forget([made])
        began = time.perf_counter()
        _bare(script, f"- {entry}\n".encode())
        theirs.append(time.perf_counter() - began)
        (script / "document").write_bytes(project.document.read_bytes())
    ratios = [mine / other for mine, other in zip(ours, theirs, strict=True)]
    return Row(
        "speed of one `remember`",
        f"into {_LINES} lines, in a running process, in turn with a script that locks, appends, syncs, replaces "
        f"and syncs file and folder; {count} times",
        "at most 2 × the script",
        f"{statistics.median(ratios):.2f} × ({statistics.median(ours) * 1000:.1f} ms to "
        f"{statistics.median(theirs) * 1000:.1f} ms)",
        statistics.median(ratios) <= 2,
    )


def _write_entry(project: Project, number: int) -> None:
    if not project.document.exists():
        project.workspace().init()
    with project.document.open("a") as file:
        file.write(f"- Fact {number}: the service listens at port {8000 + number} and answers in {number} ms.\n")


def _bare(folder: Path, line: bytes) -> None:
    """Do what any careful program must: lock, note, sync, replace, sync, unlock."""
    lock = os.open(folder / "lock", os.O_RDWR | os.O_CREAT)
    fcntl.flock(lock, fcntl.LOCK_EX)
    note = os.open(folder / "journal", os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    os.write(note, line)
    os.fsync(note)
    os.close(note)
    data = (folder / "document").read_bytes()
    new = os.open(folder / "new", os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
    os.write(new, data + line)
    os.fsync(new)
    os.close(new)
    os.replace(folder / "new", folder / "document")
    place = os.open(folder, os.O_RDONLY)
    os.fsync(place)
    os.close(place)
    os.close(lock)


def _a_second(folder: Path, each: int) -> list[Row]:
    """Count what eight processes write in a second, and what eight bare scripts do on the same disk."""
    script = folder / "scripts"
    script.mkdir()
    (script / "document").write_bytes(b"")
    bare = _rate([partial(_bare_often, script, each)] * 8, each)
    rows = []
    for where, name in (("one document", "same"), ("a document each", "own")):
        project = new_project(folder / name)
        rate = _rate(
            [partial(_remember, project, each, one, f"run-{0 if name == 'same' else one}") for one in range(8)], each
        )
        rows.append(
            Row(
                f"`remember` from 8 processes, {where}",
                f"{each} each, in running processes, {os.cpu_count()} cores",
                "at least 200 a second",
                f"{rate:.0f} a second; the bare script, 8 times on one document: {bare:.0f}",
                rate >= 200,
            )
        )
    return rows


def _rate(work: Sequence[Callable[[], None]], each: int) -> float:
    began = time.perf_counter()
    children = [start(one) for one in work]
    if any(code != 0 for code in map(wait_for, children)):
        raise RuntimeError("a writer has failed")
    return len(work) * each / (time.perf_counter() - began)


def _bare_often(folder: Path, count: int) -> None:
    for number in range(count):
        _bare(folder, f"- Fact {number}.\n".encode())


def _remember(project: Project, count: int, writer: int, conversation: str) -> None:
    workspace = project.workspace()
    for number in range(count):
        workspace.remember(f"Fact {number} of writer {writer}.", conversation=conversation, dated=False)


def _plan(folder: Path, documents: int) -> Row:
    project = new_project(folder / "many")
    text = "# Context\n\n" + "".join(
        f"- [{2020 + number % 7}-{1 + number % 12:02}-01] Fact {number}: the service listens at port {8000 + number}.\n"
        for number in range(_LINES - 2)
    )
    for number in range(documents):
        path = project.path.joinpath(*Target(Tier.CONVERSATION, f"run-{number}").parts)
        path.parent.mkdir(parents=True)
        path.write_text(text)
    began = time.perf_counter()
    plans = project.workspace().plan_pruning(today=date(2026, 6, 1))
    seconds = time.perf_counter() - began
    found = sum(len(plan.removals) for plan in plans)
    per_2000 = seconds * 2000 / documents
    return Row(
        "plan of pruning",
        f"{documents:,} documents of {_LINES} lines, {found:,} entries outdated",
        "under 10 s for 2,000",
        f"{seconds:.1f} s" + (f", {per_2000:.1f} s for 2,000" if documents != 2000 else ""),
        per_2000 < 10,
    )

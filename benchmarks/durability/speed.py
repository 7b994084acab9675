"""What the promises cost: against a bare script that locks and syncs as often, and in writes a second.

One `remember` is compared in a running process, where both sides do the same work on the same disk. As whole processes
both are measured as well, without a target: what `amp` loads before it begins has nothing to do with what it promises.
"""

import os
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import date
from functools import partial
from pathlib import Path

from agent_memory_protocol.layout import Target, Tier

from . import bare
from .project import Project, new_project, start, wait_for
from .row import Row, Size

_LINES = 200
WRITERS = 8


def figures(folder: Path, size: Size) -> list[Row]:
    """Measure remembering and planning."""
    rows = [
        _beside_a_script(folder, (5, 30, 300)[size]),
        *_a_second(folder, (2, 10, 100)[size], (1, 3, 5)[size]),
        _plan(folder, (10, 100, 2000)[size]),
    ]
    # So few writes say nothing about speed.
    return [replace(row, held=None) for row in rows] if size == Size.QUICK else rows


def _beside_a_script(folder: Path, count: int) -> Row:
    project = new_project(folder / "one")
    for number in range(_LINES - 7):
        _write_entry(project, number)
    script = folder / "script"
    script.mkdir()
    workspace = project.workspace()
    workspace.forget([workspace.remember("Loads what is loaded once.").entry.id])

    def ours(text: str) -> None:
        workspace.remember(text)

    def theirs(text: str) -> None:
        bare.add(str(script), f"- {text}\n".encode())

    def our_process(text: str) -> None:
        _run("-m", "agent_memory_protocol", "remember", text, "--root", str(project.path))

    def their_process(text: str) -> None:
        _run(bare.__file__, str(script), f"- {text}")

    warm = _in_turn(project, script, ours, theirs, count)
    _in_turn(project, script, our_process, their_process, 1)  # byte-code is compiled once
    whole = _in_turn(project, script, our_process, their_process, max(5, count // 10))
    ratio = statistics.median(mine / other for mine, other in warm)
    return Row(
        "speed of one `remember`",
        f"into {_LINES} lines, in a running process, in turn with a script that locks, appends, syncs, replaces "
        f"and syncs file and folder; {count} times",
        "at most 2 × the script",
        f"{ratio:.2f} × ({_medians(warm)}); as whole processes "
        f"{statistics.median(mine / other for mine, other in whole):.1f} × ({_medians(whole)})",
        ratio <= 2,
    )


def _in_turn(
    project: Project, script: Path, ours: Callable[[str], None], theirs: Callable[[str], None], count: int
) -> list[tuple[float, float]]:
    """Let both add an entry to the same document, again and again; return the seconds that each took."""
    text = project.document.read_bytes()
    pairs = []
    for number in range(count):
        entry = f"Measured {number}."
        (script / "document").write_bytes(text)
        seconds = []
        for add in (ours, theirs):
            began = time.perf_counter()
            add(entry)
            seconds.append(time.perf_counter() - began)
        workspace = project.workspace()
        workspace.forget([one.id for one in workspace.entries() if one.text == f"- {entry}"])
        pairs.append((seconds[0], seconds[1]))
    return pairs


def _medians(pairs: Sequence[tuple[float, float]]) -> str:
    mine, other = (statistics.median(side) * 1000 for side in zip(*pairs, strict=True))
    return f"{mine:.1f} ms to {other:.1f} ms"


def _run(*words: str) -> None:
    environ = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
    root = Path(__file__).parents[2]
    subprocess.run([sys.executable, *words], cwd=root, env=environ, stdout=subprocess.DEVNULL, check=True)


def _write_entry(project: Project, number: int) -> None:
    if not project.document.exists():
        project.workspace().init()
    with project.document.open("a") as file:
        file.write(f"- Fact {number}: the service listens at port {8000 + number} and answers in {number} ms.\n")


def rates(folder: Path, each: int, rounds: int) -> dict[str, float]:
    """Count what eight processes write in a second, in turn with eight bare scripts on the same disk."""
    script = folder / "scripts"
    script.mkdir()
    (script / "document").write_bytes(b"")
    new_project(folder / "warm").workspace().remember("Loads what is loaded once, before the writers are forked.")
    found: dict[str, list[float]] = {"bare": [], "one document": [], "a document each": []}
    for number in range(rounds):
        found["bare"].append(_rate([partial(_bare_often, script, each)] * WRITERS, each))
        for where in ("one document", "a document each"):
            project = new_project(folder / f"{where} {number}")
            owners = [f"run-{writer if where == 'a document each' else 0}" for writer in range(WRITERS)]
            work = [partial(_remember, project, each, writer, owner) for writer, owner in enumerate(owners)]
            found[where].append(_rate(work, each))
    return {where: statistics.median(many) for where, many in found.items()}


def _a_second(folder: Path, each: int, rounds: int) -> list[Row]:
    bare_rate, *ours = (measured := rates(folder, each, rounds)).values()
    return [
        Row(
            f"`remember` from {WRITERS} processes, {where}",
            f"{each} each, {rounds} times, in running processes, {os.cpu_count()} cores, in turn with the bare script",
            "at least 200 a second",
            f"{rate:.0f} a second, {rate / bare_rate:.2f} × the bare script's {bare_rate:.0f} into one document",
            rate >= 200,
        )
        for where, rate in zip([*measured][1:], ours, strict=True)
    ]


def _rate(work: Sequence[Callable[[], None]], each: int) -> float:
    began = time.perf_counter()
    children = [start(one) for one in work]
    if any(code != 0 for code in map(wait_for, children)):
        raise RuntimeError("a writer has failed")
    return len(work) * each / (time.perf_counter() - began)


def _bare_often(folder: Path, count: int) -> None:
    for number in range(count):
        bare.add(str(folder), f"- Fact {number}.\n".encode())


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
    began, busy = time.perf_counter(), time.process_time()
    plans = project.workspace().plan_pruning(today=date(2026, 6, 1))
    seconds, busy = time.perf_counter() - began, time.process_time() - busy
    found = sum(len(plan.removals) for plan in plans)
    scale = 2000 / documents
    return Row(
        "plan of pruning",
        f"{documents:,} documents of {_LINES} lines, {found:,} entries outdated; counted up to 2,000 documents",
        "under 10 s for 2,000",
        f"{seconds * scale:.1f} s, of which {busy * scale:.1f} s on the processor",
        seconds * scale < 10,
    )

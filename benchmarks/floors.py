"""What must be fast, each beside its floor, in one run: `python -m benchmarks.floors [--quick] [--json]`.

A floor is the least that any program would have to do for the same: read the files, ask the disk what has changed.
`benchmarks.speed` measures more, of an installed package; this measures the checkout, so it soon says what a change
does.
"""

import json
import os
import random
import shutil
import sqlite3
import sys
from argparse import ArgumentParser
from collections.abc import Callable, Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from time import process_time, sleep

from agent_memory_protocol import Workspace, recall_for_agent
from benchmarks.durability import speed as durability
from benchmarks.speed import material
from benchmarks.speed.in_process import join_lines
from benchmarks.speed.measure import Effort, Figure, add_quick, figure, in_turn, ratio, run, table

_NOTES = 10_000
_LINES = 8
_QUERIES = 40
_IDLE = 20.0
_STARTING = 10.0
_SETTLING = 2.5
"""Seconds after which a file that was just written is no longer read at every look."""

_WATCH = (
    "import sys, time, threading; from agent_memory_protocol import Workspace;"
    "from agent_memory_protocol.watch import Watcher; watcher = Watcher(Workspace.open(sys.argv[1]));"
    "threading.Thread(target=lambda: list(watcher.run()), daemon=True).start();"
    "time.sleep(float(sys.argv[2])); begin = time.process_time(); time.sleep(float(sys.argv[3]));"
    "print(time.process_time() - begin)"
)


def many_notes(folder: Path, effort: Effort) -> Iterator[Figure]:
    """Index, search and check very many notes."""
    count = effort.size(_NOTES)
    root = material.many_notes(folder / "notes", notes=count)
    notes = (root / material.SHARED).parent
    workspace = Workspace.open(root)

    def build() -> float:
        (root / material.SHARED).unlink(missing_ok=True)
        shutil.rmtree(root / ".scaffolding" / ".amp", ignore_errors=True)
        return _seconds(workspace.index)

    pairs = in_turn(build, lambda: _seconds(lambda: _read_starts(notes)), effort.rounds(5))
    yield ratio(f"index of {count:,} notes : their first 512 bytes", pairs, target=2.5)
    if not effort.quick:
        sleep(_SETTLING)
    workspace.index()
    pairs = in_turn(lambda: _seconds(workspace.index), lambda: _seconds(lambda: _look(notes)), effort.rounds(7))
    yield ratio("the same with nothing changed : scandir and stat", pairs, target=1.2)
    yield ratio("search on a warm index : bare FTS5, scandir, stat", _searches(workspace, root, effort), target=1.3)
    yield from _checks(root, folder / "checks", f"{count:,} notes", 1.5, effort)
    if not effort.quick:
        idle = run([sys.executable, "-c", _WATCH, root, _STARTING, _IDLE], folder, dict(os.environ), folder / "idle")
        share = 100 * float(idle.output) / _IDLE
        yield Figure("watcher, nothing changes, of a core", share, " %", 0.1, share, share)


def many_agents(folder: Path, effort: Effort) -> Iterator[Figure]:
    """Check very many agents."""
    count = effort.size(_NOTES)
    root = material.many_agents(folder / "agents", agents=count, lines=_LINES)
    yield from _checks(root, folder / "checks", f"{count:,} agents of {_LINES} lines", 3, effort)


def _checks(root: Path, output: Path, what: str, target: float, effort: Effort) -> Iterator[Figure]:
    """Check a memory in processes of their own: a first check has a second process, and only so its work counts too."""
    Workspace.open(root).remember("Deploys go through the pipeline.")  # only with local state is anything kept
    (root / ".scaffolding" / ".amp" / "checked.json").unlink(missing_ok=True)
    amp = [Path(sys.executable).with_name("amp"), "check"]
    for when, rounds in (("the first one", 1), ("nothing changed since", effort.rounds(3))):
        took = [run(amp, root, dict(os.environ), output, codes=(0, 1)) for _ in range(rounds)]
        best = min(took, key=lambda one: one.elapsed)
        note = f"{best.processor:.1f} s on the processors"
        most = max(one.elapsed for one in took)
        yield Figure(f"amp check of {what}, {when}", best.elapsed, " s", target, best.elapsed, most, note)


def _searches(workspace: Workspace, root: Path, effort: Effort) -> list[tuple[float, float]]:
    """Take times of the same queries, ours and of SQLite alone."""
    words = sorted({word for text in material.ordinary_texts() for word in text.lower().split() if word.isalpha()})
    queries = [random.Random(number).sample(words, 3) for number in range(_QUERIES)]
    workspace.search("warm")
    (path,) = (root / ".scaffolding" / ".amp" / "search").glob("*.sqlite")
    connection = sqlite3.connect(path)
    notes = (root / material.SHARED).parent
    bare = "SELECT rowid FROM tokens WHERE tokens MATCH ? ORDER BY rank LIMIT 10"

    def ask(query: list[str]) -> None:
        connection.execute(bare, (" OR ".join(f'"{word}"' for word in query),)).fetchall()
        _look(notes)

    pairs = []
    for query in queries[: effort.rounds(_QUERIES)]:
        pairs += in_turn(
            lambda: _seconds(lambda: workspace.search(" ".join(query), counts=False)),  # noqa: B023
            lambda: _seconds(lambda: ask(query)),  # noqa: B023
            1,
        )
    connection.close()
    return pairs


def recall(folder: Path, effort: Effort) -> Iterator[Figure]:
    """Recall in this process, and in one of its own."""
    for kind, target in (("ASCII", 2.8), ("umlauts and arrows", 3.0), ("CJK", 3.0)):
        root = material.three_files(folder / kind, lines=200, kind=kind)
        paths = [str(path) for path in sorted(root.rglob("*.md"))]
        pairs = in_turn(
            lambda: _seconds(lambda: recall_for_agent(material.AGENT, material.CONVERSATION, root=root)),  # noqa: B023
            lambda: _seconds(lambda: join_lines(paths)),  # noqa: B023
            effort.rounds(300),
        )
        yield ratio(f"recall of 3 × 200 lines in process : reading them, {kind}", pairs, target=target)
    amp = [Path(sys.executable).with_name("amp"), "recall", material.AGENT]
    click = [sys.executable, "-c", "import click"]

    def processor(command: list[object]) -> float:
        return run(command, root, dict(os.environ), folder / "output").processor

    pairs = in_turn(lambda: processor([*amp]), lambda: processor([*click]), effort.rounds(30))
    more = [1000 * (ours - other) for ours, other in pairs]
    yield figure("amp recall, more than import click", more, " ms", 80)


def writers(folder: Path, effort: Effort) -> Iterator[Figure]:
    """Let eight processes write one file, in turn with a script that locks, appends, syncs and replaces."""
    (folder / "writers").mkdir()
    rates = durability.rates(folder / "writers", effort.size(2_000) // 20, effort.rounds(3))
    bare, ours = rates["bare"], rates["one document"]
    note = f"{ours:.0f} a second : {bare:.0f}; wanted are 300, where the disk confirms as fast"
    slower = bare / ours
    what = f"remember, {durability.WRITERS} processes, one file : a bare script"
    yield Figure(what, slower, "×", None, slower, slower, note)


def _read_starts(folder: Path) -> None:
    for entry in os.listdir(folder):
        fd = os.open(f"{folder}/{entry}", os.O_RDONLY)
        os.read(fd, 512)
        os.close(fd)


def _look(folder: Path) -> None:
    with os.scandir(folder) as entries:
        for entry in entries:
            entry.stat(follow_symlinks=False)


def _seconds(call: Callable[[], object]) -> float:
    begin = process_time()
    call()
    return process_time() - begin


BENCHMARKS = (many_notes, many_agents, recall, writers)


def main() -> None:
    """Measure all, and print one table."""
    parser = ArgumentParser(prog="python -m benchmarks.floors", description=(__doc__ or "").partition(":")[0])
    add_quick(parser)
    parser.add_argument("--json", action="store_true", help="print JSON in place of the table")
    arguments = parser.parse_args()
    figures: list[Figure] = []
    with TemporaryDirectory(prefix="amp-benchmarks-") as folder:
        for benchmark in BENCHMARKS:
            print(f"measuring {benchmark.__name__} …", file=sys.stderr)
            figures += benchmark(Path(folder), Effort(arguments.quick))
    print(json.dumps([one.as_json() for one in figures], indent=2) if arguments.json else table(figures))


if __name__ == "__main__":
    main()

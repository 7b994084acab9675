"""A folder of very many notes: its index built, one note of it changed under a watcher, and everything checked.

This module runs in two interpreters: the one that was asked to measure, and the one that has the package installed.
"""

import json
import os
import shutil
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from time import process_time

from benchmarks.speed import material
from benchmarks.speed.installed import environment
from benchmarks.speed.measure import Effort, Figure, figure, in_turn, ratio, run

_MANY, _FEW = 10_000, 1_000
_ROUNDS = 15
_LISTED = 50
"""The number of a note that the index has room for."""


def figures(python: Path, folder: Path, effort: Effort) -> Iterator[Figure]:
    """Measure folders of 10,000 and of 1,000 notes."""
    most, least = max(effort.size(_MANY), 2 * _LISTED), max(effort.size(_FEW), _LISTED)
    rounds = effort.rounds(_ROUNDS)
    many = material.many_notes(folder / "many-notes", notes=most)
    few = material.many_notes(folder / "few-notes", notes=least)
    reading = f"reading the first 512 bytes of {most:,} notes"
    yield ratio(f"building an index : {reading}", _compare(python, folder, rounds, "building", many), target=2.5)
    for how in ("describing again", "writing on in"):
        pairs = _compare(python, folder, rounds, how, many)
        what = f"watcher, after {how} one note of {most:,}"
        yield figure(what, [1000 * ours for ours, _ in pairs], " ms", 10)
        yield ratio(f"{what} : {reading}", pairs)
    what = f"checking {most:,} notes : {least:,} notes"
    yield ratio(what, _compare(python, folder, effort.rounds(3), "checking", many, few), target=12)


def _compare(python: Path, folder: Path, rounds: int, how: str, *paths: Path) -> list[tuple[float, float]]:
    call = "import sys; sys.path.append(sys.argv[1]); from benchmarks.speed.notes import answer; answer()"
    command = [python, "-c", call, material.REPOSITORY, rounds, how, *paths]
    return [(ours, other) for ours, other in json.loads(run(command, folder, environment(folder), folder / "a").output)]


def answer() -> None:
    """Take the times asked for on the command line, and print them."""
    rounds, how, root, *others = sys.argv[2:]
    notes = os.path.dirname(os.path.join(root, material.SHARED))
    ours: dict[str, Callable[[], Callable[[], float]]] = {
        "building": lambda: _building(root),
        "describing again": lambda: _changing(root, lambda text, number: text.replace("About", f"About {number}:", 1)),
        "writing on in": lambda: _changing(root, lambda text, number: f"{text}And {number}.\n"),
        "checking": lambda: _checking(root),
    }
    other = _checking(*others) if others else lambda: _time(lambda: _read_starts(notes))
    print(json.dumps(in_turn(ours[how](), other, int(rounds))))


def _building(root: str) -> Callable[[], float]:
    from agent_memory_protocol import Workspace

    workspace = Workspace.open(root)

    def build() -> float:
        # With the journal gone too nobody wonders where the document has gone.
        Path(root, material.SHARED).unlink(missing_ok=True)
        shutil.rmtree(Path(root, ".scaffolding", ".amp"), ignore_errors=True)
        return _time(workspace.index)

    return build


def _changing(root: str, change: Callable[[str, int], str]) -> Callable[[], float]:
    """Change one note that is known, as often as this is called, and let a watcher look where an event has said."""
    from agent_memory_protocol import Workspace
    from agent_memory_protocol.watch import Watcher

    watcher = Watcher(Workspace.open(root))
    list(watcher.look())
    path = Path(root, material.SHARED).with_name(material.note_file(_LISTED))
    text, number = path.read_text("utf-8"), 0

    def look() -> float:
        nonlocal number
        number += 1
        path.write_text(change(text, number), encoding="utf-8")
        return _time(lambda: list(watcher.look_at({str(path)})))

    return look


def _checking(root: str) -> Callable[[], float]:
    from agent_memory_protocol import Workspace

    return lambda: _time(Workspace.open(root).check)


def _read_starts(folder: str) -> None:
    """Do the least that brings the headers of all notes into memory."""
    for name in os.listdir(folder):
        fd = os.open(f"{folder}/{name}", os.O_RDONLY)
        os.read(fd, 512)
        os.close(fd)


def _time(call: Callable[[], object]) -> float:
    begin = process_time()
    call()
    return process_time() - begin

"""`recall_for_agent` in a process that has it loaded, against reading the same three files and joining their lines.

This module runs in two interpreters: the one that was asked to measure, and the one that has the package installed.
"""

import json
import sys
from collections.abc import Callable, Iterator
from itertools import count
from pathlib import Path
from time import process_time

from benchmarks.speed import material
from benchmarks.speed.installed import environment
from benchmarks.speed.measure import Effort, Figure, in_turn, ratio, run

_PROCESSES, _PAIRS, _CALLS = 4, 500, 1
_NEWCOMER = "newcomer"


def figures(python: Path, folder: Path, effort: Effort) -> Iterator[Figure]:
    """Measure three files of 200 lines, once for each kind of line."""
    for kind in material.KINDS:
        root = material.three_files(folder / kind, lines=200, kind=kind)
        files = sorted(root.rglob("*.md"))
        pairs = compare(python, folder, effort, "reading", root, *files)
        yield ratio(f"recall_for_agent in process, 3 × 200 lines, {kind}", pairs, target=2.8 if kind == "ASCII" else 3)
        pairs = compare(python, folder, effort, "reading what is new", root, *files)
        yield ratio(f"the same, {kind}, each file changed before each call", pairs, target=5)


def compare(python: Path, folder: Path, effort: Effort, how: str, *paths: Path) -> list[tuple[float, float]]:
    """Let the installed interpreter take pairs of times, in several processes: no two lay out memory alike."""
    call = "import sys; sys.path.append(sys.argv[1]); from benchmarks.speed.in_process import answer; answer()"
    command = [python, "-c", call, material.REPOSITORY, effort.rounds(_PAIRS), how, *paths]
    pairs = []
    for _ in range(effort.rounds(_PROCESSES)):
        pairs += json.loads(run(command, paths[0], environment(folder), folder / "answer").output)
    return pairs


def answer() -> None:
    """Take the times asked for on the command line, and print them."""
    pairs, how, root, *paths = sys.argv[2:]
    # A host has run for a while and has freed memory to give. A bare interpreter returns it to the system after each
    # call and pays for every page of the next one.
    spare = [bytes(100_000) for _ in range(40)]
    del spare[:-1]

    other = {
        "reading": lambda: join_lines(paths),
        "reading what is new": lambda: join_lines(paths),
        "recalling": lambda: recall(material.AGENT, paths[0]),
        "recalling a newcomer": lambda: recall(_NEWCOMER, paths[0]),
    }[how]
    agent = _NEWCOMER if how == "recalling a newcomer" else material.AGENT
    changed = count(1000) if how == "reading what is new" else None

    def ours() -> float:
        if changed is not None:
            _change(paths, next(changed))
        return _time(lambda: recall(agent, root))

    print(json.dumps(in_turn(ours, lambda: _time(other), int(pairs))))


def _change(paths: list[str], number: int) -> None:
    """Give each file another last line, as long as the one before."""
    for path in paths:
        with open(path, "r+b") as file:
            end = file.read().rfind(b"\n- ")
            file.seek(end)
            file.write(f"\n- Entry {number} is new here.\n".encode())
            file.truncate()


def recall(agent: str, root: str) -> str:
    """Recall as a hook does that knows the project."""
    from agent_memory_protocol import recall_for_agent

    return recall_for_agent(agent, material.CONVERSATION, root=root)


def join_lines(paths: list[str]) -> str:
    """Do the least that brings the files into a prompt."""
    lines = []
    for path in paths:
        with open(path, encoding="utf-8") as file:
            lines += file.read().splitlines()
    return "\n".join(lines)


def _time(call: Callable[[], str]) -> float:
    begin = process_time()
    for _ in range(_CALLS):
        call()
    return (process_time() - begin) / _CALLS

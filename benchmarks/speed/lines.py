"""Files of very many lines: an agent-memory/0.1 file viewed, and a document of many entries checked.

This module runs in two interpreters: the one that was asked to measure, and the one that has the package installed.
"""

import json
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from time import process_time

from benchmarks.speed import material
from benchmarks.speed.installed import environment
from benchmarks.speed.measure import Effort, Figure, in_turn, ratio, run

_LINES = 100_000
_MANY, _FEW = 5_000, 500
_ROUNDS = 7


def figures(python: Path, folder: Path, effort: Effort) -> Iterator[Figure]:
    """Measure a file of 100,000 lines, and documents of 5,000 and of 500 entries."""
    lines, many_entries, few_entries = map(effort.size, (_LINES, _MANY, _FEW))
    file = _memory_file(folder / "lines.jsonl", lines)
    what = f"view of an agent-memory/0.1 file, {lines:,} lines : json.loads of each line"
    yield ratio(what, _compare(python, folder, effort.rounds(_ROUNDS), "viewing", file), target=2)
    many, few = (_document(folder / f"entries-{count}", count) for count in (many_entries, few_entries))
    what = f"checking a document of {many_entries:,} entries : of {few_entries:,}"
    yield ratio(what, _compare(python, folder, effort.rounds(3), "checking", many, few), target=20)


def _compare(python: Path, folder: Path, rounds: int, how: str, *paths: Path) -> list[tuple[float, float]]:
    call = "import sys; sys.path.append(sys.argv[1]); from benchmarks.speed.lines import answer; answer()"
    command = [python, "-c", call, material.REPOSITORY, rounds, how, *paths]
    return [(ours, other) for ours, other in json.loads(run(command, folder, environment(folder), folder / "a").output)]


def answer() -> None:
    """Take the times asked for on the command line, and print them."""
    from agent_memory_protocol import MemoryFile, Workspace

    rounds, how, path, *others = sys.argv[2:]
    if how == "viewing":
        memory = MemoryFile.open(path)
        pairs = in_turn(lambda: _time(memory.view), lambda: _time(lambda: _parse(path)), int(rounds))
    else:
        many, few = Workspace.open(path), Workspace.open(others[0])
        pairs = in_turn(lambda: _time(many.check), lambda: _time(few.check), int(rounds))
    print(json.dumps(pairs))


def _memory_file(path: Path, lines: int) -> Path:
    stamp = "2026-11-09T{:02d}:{:02d}:{:02d}Z"
    with path.open("w", encoding="utf-8") as file:
        file.write(json.dumps({"format": "agent-memory/0.1", "created_at": stamp.format(0, 0, 0)}) + "\n")
        for number in range(lines):
            entry = {
                "id": f"{number:012x}",
                "kind": "lesson",
                "text": f"The harbor site number {number} blocks requests without a user agent.",
                "scope": "harbor.example",
                "tags": ["fetching"],
                "source": "s:a",
                "confidence": 0.9,
                "created_at": stamp.format(number // 3600 % 24, number // 60 % 60, number % 60),
            }
            file.write(json.dumps(entry) + "\n")
    return path


def _document(root: Path, count: int) -> Path:
    file = root / material.SHARED
    file.parent.mkdir(parents=True)
    lines = "".join(f"- Entry {number} says something of its own, {number * 7}.\n" for number in range(count))
    file.write_text(f"# Shared Knowledge\n\n{lines}", encoding="utf-8")
    return root


def _parse(path: str) -> None:
    with open(path, encoding="utf-8") as lines:
        for line in lines:
            json.loads(line)


def _time(call: Callable[[], object]) -> float:
    begin = process_time()
    call()
    return process_time() - begin

"""Beside the published reference implementation, with the same records: reopening, consolidating, recalling."""

import gc
import os
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from statistics import quantiles
from time import process_time
from typing import Any

import fg_agent_memory

from agent_memory_protocol import Memory
from benchmarks.records import material
from benchmarks.speed.measure import Effort, Figure, figure, in_turn, ratio, run

ROUNDS = 5
QUERIES = 200

_HOLDING = {
    "ours": "from agent_memory_protocol import Memory",
    "the reference": "from fg_agent_memory import Memory",
}

_PEAK = """
import re, resource
from pathlib import Path
status = Path("/proc/self/status")
kilobytes = re.search("VmHWM:[^0-9]*([0-9]+)", status.read_text())[1] if status.exists() else None
print(kilobytes or resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024)
"""


def figures(folder: Path, effort: Effort, *, few: int, many: int) -> Iterator[Figure]:
    """Measure both with `few` records where the reference takes long, and with `many`."""
    yield _reopening(folder, few, effort.rounds(ROUNDS))
    yield _consolidating(folder, few)
    yield from _recalling(folder, many, effort.size(QUERIES))


def _reopening(folder: Path, count: int, rounds: int) -> Figure:
    source = material.filled(folder / "reopen", material.facts(count))
    ours, theirs = material.copied(source, folder / "reopen-ours"), material.copied(source, folder / "reopen-theirs")
    query = material.queries(1)[0]

    def ask(made: Callable[[Path], Any], path: Path) -> Callable[[], float]:
        def timed() -> float:
            begin = process_time()
            memory = made(path)
            assert memory.recall(query).as_prompt_block()
            took = process_time() - begin
            if isinstance(memory, Memory):
                memory.close()
            return took

        return timed

    pairs = in_turn(ask(Memory, ours), ask(fg_agent_memory.Memory, theirs), rounds)
    return ratio(f"open {count:,} records and ask, beside the reference", pairs, target=0.05)


def _consolidating(folder: Path, count: int) -> Figure:
    source = material.filled(folder / "services", material.services(count))

    def consolidate(made: Callable[[Path], Any], name: str) -> float:
        memory = made(material.copied(source, folder / name))
        begin = process_time()
        memory.consolidate()
        took = process_time() - begin
        if isinstance(memory, Memory):
            memory.close()
        return took

    pairs = [
        (consolidate(Memory, "services-ours"), consolidate(fg_agent_memory.Memory, "services-theirs")) for _ in range(2)
    ]
    return ratio(f"consolidate {count:,} records, beside the reference", pairs, target=0.05)


def _recalling(folder: Path, count: int, queries: int) -> Iterator[Figure]:
    source = material.filled(folder / "recall", material.facts(count))
    ours, theirs = material.copied(source, folder / "recall-ours"), material.copied(source, folder / "recall-theirs")
    questions = material.queries(queries, among=count)
    pairs = []
    with Memory(ours) as memory:
        other = fg_agent_memory.Memory(theirs)
        memory.recall(questions[0])
        gc.collect()
        for number, question in enumerate(questions):
            asked = [(memory, number), (other, number)]
            took = {}
            for one, _ in asked if number % 2 else asked[::-1]:
                begin = process_time()
                assert one.recall(question).as_prompt_block()
                took[one] = process_time() - begin
            pairs.append((took[memory], took[other]))
    yield ratio(f"recall over {count:,} records, beside the reference", pairs)
    ours_alone = [mine * 1000 for mine, _ in pairs]
    quarter, _, three_quarters = quantiles(ours_alone, n=4, method="inclusive")
    slowest = quantiles(ours_alone, n=20, method="inclusive")[-1]
    yield Figure(f"recall over {count:,} records, 95th percentile", slowest, " ms", 20, quarter, three_quarters)
    for name, line in _HOLDING.items():
        path = ours if name == "ours" else theirs
        held = [_megabytes(f"{line}\nassert Memory({str(path)!r}).recall({questions[0]!r}).as_prompt_block()", folder)]
        yield figure(f"memory of a process that asks {count:,} records, {name}", held * 2, " MB", None)


def _megabytes(program: str, folder: Path) -> float:
    """Return the most memory that a program holds. Until it begins, a process counts what its parent holds."""
    asked = run([sys.executable, "-c", f"{program}\n{_PEAK}"], folder, dict(os.environ), folder / "output")
    return int(asked.output) / 1024

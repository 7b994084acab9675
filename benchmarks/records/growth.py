"""What a record costs when there are ten times as many, to remember, open and consolidate; and what a recall costs."""

import os
import resource
import sys
from collections.abc import Iterator
from pathlib import Path
from statistics import median
from time import process_time

from agent_memory_protocol import Memory
from benchmarks.records import material
from benchmarks.speed.measure import Figure

QUERIES = 100
_MICROSECONDS = 1e6


def figures(folder: Path, *, counts: list[int]) -> Iterator[Figure]:
    """Measure with each number of records; each figure is compared with the one for fewer."""
    before: dict[str, float] = {}
    for count in counts:
        for what, cost, note in _costs(folder / str(count), count):
            grown = cost / before[what] if what in before else 1.0
            before[what] = cost
            yield Figure(f"{what}, {count:,} records", grown, "×", None, grown, grown, note)


def _costs(path: Path, count: int) -> Iterator[tuple[str, float, str]]:
    """Yield what was done, what it cost, which for all but a recall is the cost of one record, and that in words."""
    begin = process_time()
    material.filled(path, material.facts(count))
    yield _row("remember", process_time() - begin, count)

    begin = process_time()
    with Memory(path) as memory:
        memory.recall(material.queries(1)[0])
    yield _row("open without an index", process_time() - begin, count)

    begin = process_time()
    memory = Memory(path)
    memory.recall(material.queries(1)[0])
    yield _row("open again", process_time() - begin, count)

    times = []
    for question in material.queries(QUERIES):
        begin = process_time()
        memory.recall(question)
        times.append(process_time() - begin)
    yield "recall", median(times), f"{median(times) * 1000:.3g} ms"

    begin = process_time()
    memory.consolidate()
    memory.close()
    yield _row("consolidate", process_time() - begin, count)
    held = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024)
    yield "memory at most", held / count, f"{held / 2**20:.0f} MB, process {os.getpid()}"


def _row(what: str, seconds: float, count: int) -> tuple[str, float, str]:
    return what, seconds / count, f"{seconds:.3g} s, {seconds / count * _MICROSECONDS:.3g} µs each"

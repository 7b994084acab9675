"""What looking after records costs when there are ten times as many, and what a recall takes among them.

Each cost is of the best of some rounds, since whatever else the machine does only adds to it. Ten times the records may
cost at most `MOST` times as much. The reference does the same with the fewest records, in the same run.
"""

import os
import resource
import shutil
import sys
from collections.abc import Callable, Iterator, Sequence
from itertools import islice, pairwise
from pathlib import Path
from statistics import median
from time import process_time
from typing import Any

import fg_agent_memory

from agent_memory_protocol import Memory
from agent_memory_protocol.records.store import parsed
from agent_memory_protocol.text import alike
from benchmarks.records import material
from benchmarks.speed.measure import Figure

MOST = 12.0
RECALL_MS = 15.0
QUERIES = 100
REMEMBERED = 50

_ROUNDS = 5
"""For the fewest records. Ten times more have two less, since a round of them takes longer than what disturbs it."""

Costs = dict[str, float]
"""Seconds of processor time by what was done."""


def figures(folder: Path, *, counts: list[int]) -> Iterator[Figure]:
    """Measure with each number of records; each figure is compared with the one for fewer."""
    found: list[tuple[int, Costs]] = []
    for number, count in enumerate(counts):
        path = material.written(folder / str(count), material.facts(count))
        costs = _best([_costs(Memory, path) for _ in range(max(_ROUNDS - 2 * number, 2))])
        recall = 1000 * costs.pop("recall")
        yield Figure(f"recall among {count:,} records, half faster", recall, " ms", RECALL_MS, recall, recall)
        held = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024) / 2**20
        yield Figure(f"memory with {count:,} records", held, " MB", None, held, held, f"process {os.getpid()}")
        if not number:
            others = _best([_costs(fg_agent_memory.Memory, path) for _ in range(2)])
            for what, other in others.items():
                ours = recall / 1000 if what == "recall" else costs[what]
                yield _figure(f"{what}, {count:,} records, beside the reference", ours, other, 1.0)
        costs["remember one"] = _remembering(path, count)
        found.append((count, costs))
        shutil.rmtree(path)
    for (few, before), (many, after) in pairwise(found):
        for what, cost in after.items():
            most = MOST * many / few / 10 if what != "remember one" else None
            yield _figure(f"{what}, {many:,} for {few:,} records", cost, before[what], most)


def _costs(made: Callable[[Path], Any], path: Path) -> Costs:
    """Return what each thing costs over records that nobody has asked for yet."""
    costs: Costs = {}

    def timed(what: str, work: Callable[[], object]) -> None:
        begin = process_time()
        work()
        costs[what] = process_time() - begin

    shutil.rmtree(path / ".amp", ignore_errors=True)
    questions = material.queries(QUERIES)
    # What this process knows of the records of an earlier round, another process would not.
    parsed.cache_clear()
    alike.forget(0)
    begin = process_time()
    memory = made(path)
    memory.recall(questions[0])
    costs["open cold"] = process_time() - begin
    times = []
    for question in questions:
        begin = process_time()
        memory.recall(question)
        times.append(process_time() - begin)
    costs["recall"] = median(times)
    timed(
        "consolidate", lambda: memory.consolidate(apply=False) if isinstance(memory, Memory) else memory.consolidate()
    )
    if isinstance(memory, Memory):  # the reference has no such call
        timed("verify", memory.verify)
    timed("decay", lambda: memory.decay(apply=False) if isinstance(memory, Memory) else memory.decay())
    if isinstance(memory, Memory):
        memory.close()
    return costs


def _remembering(path: Path, count: int) -> float:
    """Return what one more costs; it is asked last, since then there are more."""
    with Memory(path, consolidate_every=0) as memory:
        memory.recall("what is there")
        texts = [*islice(material.facts(count + REMEMBERED), count, None)]
        begin = process_time()
        for text in texts:
            memory.remember(text)
        return (process_time() - begin) / REMEMBERED


def _best(rounds: Sequence[Costs]) -> Costs:
    return {what: min(one[what] for one in rounds) for what in rounds[0]}


def _figure(what: str, cost: float, other: float, target: float | None) -> Figure:
    times = f"{cost * 1000:.3g} ms : {other * 1000:.3g} ms"
    return Figure(what, cost / other, "×", target, cost / other, cost / other, times)

"""What looking after records costs when there are ten times as many, and what a recall takes among them.

Each round is a process of its own, so that no round profits from the caches of another. It first works on a few
records, to load what a process loads once. Fewer and more records are measured in turn, and more are compared with the
mean of the fewer before and after: other load on the machine then affects both. Ten times the records may cost at most
`MOST` times as much. The reference does the same with the fewest records, in the same run.
"""

import json
import os
import shutil
import sys
from collections.abc import Callable, Iterator
from itertools import pairwise
from pathlib import Path
from statistics import median
from time import process_time
from typing import Any

from agent_memory_protocol import Memory
from benchmarks.records import material
from benchmarks.speed.measure import Figure, figure, run

MOST = 12.0
RECALL_MS = 15.0
QUERIES = 100
REMEMBERED = 50
ROUNDS = 2

_WARM = 50
_ROOT = Path(__file__).parents[2]

Costs = dict[str, float]
"""Seconds of processor time by what was done, and the megabytes that the process held."""


def figures(folder: Path, *, counts: list[int]) -> Iterator[Figure]:
    """Measure with each number of records, in a folder and in a SQLite file, each compared with the number before."""
    material.written(folder / "warm", material.services(_WARM))
    for few, many in pairwise(counts):
        paths = [material.written(folder / str(count), material.facts(count)) for count in (few, many)]
        if few == counts[0]:
            yield from _beside(folder, paths[0], few)
        yield from _growing(folder, paths, few, many, "a folder")
        files = [material.in_a_file(folder / f"{count}.sqlite", material.facts(count)) for count in (few, many)]
        yield from _growing(folder, files, few, many, "SQLite")
        for path in paths:
            shutil.rmtree(path)


def _growing(folder: Path, paths: list[Path], few: int, many: int, store: str) -> Iterator[Figure]:
    rounds = [_in_a_process(folder, paths[number % 2]) for number in range(2 * ROUNDS + 1)]
    more = rounds[1::2]
    fewer = [{what: (one[what] + other[what]) / 2 for what in one} for one, other in pairwise(rounds[::2])]
    for name, costs in ((few, rounds[::2]), (many, more)):
        what = f"{store}, {name:,} records"
        yield figure(f"recall, {what}", [1000 * one["recall"] for one in costs], " ms", RECALL_MS)
        yield figure(f"memory of the process, {what}", [one["memory"] for one in costs], " MB", None)
    for what in ("open cold", "consolidate", "verify", "decay"):
        times = " : ".join(f"{median(one[what] for one in costs) * 1000:.3g} ms" for costs in (more, fewer))
        ratios = [one[what] / other[what] for one, other in zip(more, fewer, strict=True)]
        yield figure(f"{what}, {store}, {many:,} for {few:,} records", ratios, "×", MOST * many / few / 10, times)
    one, other = (_in_a_process(folder, path, "remember")["remember one"] for path in reversed(paths))
    times = f"{one * 1000:.3g} ms : {other * 1000:.3g} ms"
    yield figure(f"remember one, {store}, {many:,} for {few:,} records", [one / other] * 2, "×", None, times)


def _beside(folder: Path, path: Path, count: int) -> Iterator[Figure]:
    """Yield what we cost in proportion to the reference; it has no call that verifies."""
    ours = _in_a_process(folder, path)
    others = _in_a_process(folder, material.copied(path, folder / "reference"), "reference")
    for what in ("open cold", "recall", "consolidate", "decay"):
        times = f"{ours[what] * 1000:.3g} ms : {others[what] * 1000:.3g} ms"
        found = [ours[what] / others[what]] * 2
        yield figure(f"{what}, {count:,} records, beside the reference", found, "×", 1.0, times)


def _in_a_process(folder: Path, path: Path, *more: str) -> Costs:
    shutil.rmtree(path / ".amp", ignore_errors=True)
    environ = {**os.environ, "PYTHONPATH": str(_ROOT), "XDG_STATE_HOME": str(folder / "state")}
    shutil.rmtree(folder / "state", ignore_errors=True)
    command = [sys.executable, "-m", "benchmarks.records.growth", folder / "warm", path, *more]
    asked = run(command, _ROOT, environ, folder / "output")
    return {**json.loads(asked.output), "memory": asked.memory / 2**20}


def _costs(made: Callable[[Path], Any], path: Path) -> Costs:
    """Return what each thing costs over records that nobody has asked for yet."""
    costs: Costs = {}

    def timed(what: str, work: Callable[[], object]) -> None:
        begin = process_time()
        work()
        costs[what] = process_time() - begin

    questions = material.queries(QUERIES)
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
    ours = isinstance(memory, Memory)
    timed("consolidate", lambda: memory.consolidate(apply=False) if ours else memory.consolidate())
    if ours:
        timed("verify", memory.verify)
    timed("decay", lambda: memory.decay(apply=False) if ours else memory.decay())
    if ours:
        memory.close()
    return costs


def _remembering(path: Path) -> Costs:
    """Return what one more costs; it is asked last, since then there are more."""
    with Memory(path, consolidate_every=0) as memory:
        memory.recall("what is there")
        texts = [f"One more: {text}" for text in material.facts(REMEMBERED)]
        begin = process_time()
        for text in texts:
            memory.remember(text)
        return {"remember one": (process_time() - begin) / REMEMBERED}


def _main(warm: Path, path: Path, what: str = "") -> None:
    """Print what one process finds."""
    if what == "remember":
        costs = _remembering(path)
    elif what == "reference":
        import fg_agent_memory

        _costs(fg_agent_memory.Memory, material.copied(warm, warm.with_name("copy")))
        costs = _costs(fg_agent_memory.Memory, path)
    else:
        shutil.rmtree(warm / ".amp", ignore_errors=True)
        _costs(Memory, warm)
        costs = _costs(Memory, path)
    print(json.dumps(costs))


if __name__ == "__main__":
    _main(Path(sys.argv[1]), Path(sys.argv[2]), *sys.argv[3:])

"""What must stay quick when it should never have become so large: one huge file, and very many agents."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from statistics import median

from benchmarks.speed import material
from benchmarks.speed.in_process import compare
from benchmarks.speed.installed import environment
from benchmarks.speed.measure import Effort, Figure, Run, figure, ratio, run

_RUNS = 5
_AGENTS = 2000
_CHECKED = 10_000


def huge_file(python: Path, folder: Path, effort: Effort) -> Iterator[Figure]:
    """Recall an agent whose document has 50 MB."""
    root = material.huge_file(folder / "huge", size=50_000_000)
    runs = [_amp(python, folder, root, "recall", material.AGENT) for _ in range(effort.rounds(_RUNS))]
    said = next(line for line in runs[0].output.splitlines() if line.startswith("(") and "large file" in line)
    what = "amp recall developer, MEMORY.md of 50 MB"
    yield _seconds(what, runs, target=1, note=said)
    yield figure(f"{what}: peak memory", [one.memory / 1e6 for one in runs], " MB", 200)


def many_agents(python: Path, folder: Path, effort: Effort) -> Iterator[Figure]:
    """Show the status of very many agents, and recall for one of them, against the same agent alone."""
    agents = effort.size(_AGENTS)
    many = material.many_agents(folder / "many", agents=agents, lines=100)
    alone = material.many_agents(folder / "alone", agents=1, lines=100)
    runs = [_amp(python, folder, many, "status") for _ in range(effort.rounds(_RUNS))]
    rows = sum(line.startswith("agent:") for line in runs[0].output.splitlines())
    yield _seconds(f"amp status, {agents:,} agents of 100 lines", runs, target=3, note=f"{rows:,} agents listed")
    yield from checks(python, folder, effort)
    what = f"recall_for_agent in process, {agents:,} agents : 1 agent"
    yield ratio(what, compare(python, folder, effort, "recalling", many, alone), target=1.1)
    yield ratio(
        f"{what}, for one more that has no memory", compare(python, folder, effort, "recalling a newcomer", many, alone)
    )


def checks(python: Path, folder: Path, effort: Effort) -> Iterator[Figure]:
    """Check very many agents with little memory each, and very many notes: the time on the processor."""
    many, rounds = effort.size(_CHECKED), effort.rounds(3)
    agents = material.many_agents(folder / "little", agents=many, lines=5)
    notes = material.many_notes(folder / "notes-to-check", notes=many)
    for root, what, target in ((agents, "agents of 5 lines", 3), (notes, "notes", 1.5)):
        runs = [_amp(python, folder, root, "check", codes=(0, 1)) for _ in range(rounds)]
        yield _seconds(f"amp check, {many:,} {what}", runs, target=target, note="first look, nothing kept")
        _amp(python, folder, root, "remember", "Checks keep what they know beside this entry.")  # begins local state
        _amp(python, folder, root, "check", codes=(0, 1))
        runs = [_amp(python, folder, root, "check", codes=(0, 1)) for _ in range(rounds)]
        yield _seconds(f"the same, {many:,} {what}", runs, target=target, note="nothing changed since the last")


def _amp(python: Path, folder: Path, root: Path, *words: str, codes: Sequence[int] = (0,)) -> Run:
    return run([python.parent / "amp", *words], root, environment(folder), folder / "output", codes=codes)


def _seconds(what: str, runs: Sequence[Run], *, target: float, note: str) -> Figure:
    elapsed = f"{median(one.elapsed for one in runs):.2f} s elapsed"
    return figure(what, [one.processor for one in runs], " s", target, f"{elapsed}; {note}")

"""What must stay quick when it should never have become so large: one huge file, and very many agents."""

from collections.abc import Iterator
from pathlib import Path

from benchmarks import material
from benchmarks.in_process import compare
from benchmarks.installed import environment
from benchmarks.measure import Figure, figure, ratio, run

_RUNS = 5
_AGENTS = 2000


def huge_file(python: Path, folder: Path) -> Iterator[Figure]:
    """Recall an agent whose document has 50 MB."""
    root = material.huge_file(folder / "huge", size=50_000_000)
    command = [python.parent / "amp", "recall", material.AGENT]
    runs = [run(command, root, environment(folder), folder / "output") for _ in range(_RUNS)]
    said = next(line for line in runs[0].output.splitlines() if line.startswith("(") and "large file" in line)
    what = "amp recall developer, MEMORY.md of 50 MB"
    yield figure(f"{what}, elapsed", [one.seconds for one in runs], " s", 1, note=said)
    yield figure(f"{what}, peak memory", [one.memory / 1e6 for one in runs], " MB", 200)


def many_agents(python: Path, folder: Path) -> Iterator[Figure]:
    """Show the status of 2,000 agents, and recall one of them, against the same agent alone."""
    many = material.many_agents(folder / "many", agents=_AGENTS, lines=100)
    alone = material.many_agents(folder / "alone", agents=1, lines=100)
    command = [python.parent / "amp", "status"]
    runs = [run(command, many, environment(folder), folder / "output") for _ in range(_RUNS)]
    listed = sum(line.startswith("agent:") for line in runs[0].output.splitlines())
    yield figure(
        f"amp status, {_AGENTS:,} agents of 100 lines, elapsed",
        [one.seconds for one in runs],
        " s",
        3,
        note=f"{listed:,} rows",
    )
    yield ratio(
        f"recall_for_agent in process, {_AGENTS:,} agents : 1 agent",
        compare(python, folder, "recalling", many, alone),
        target=1.1,
    )

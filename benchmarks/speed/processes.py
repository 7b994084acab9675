"""Whole processes, from start to end: what recall costs at every task start."""

from collections.abc import Iterator
from pathlib import Path

from benchmarks.speed import material
from benchmarks.speed.installed import environment
from benchmarks.speed.measure import Effort, Figure, in_turn, ratio, run

_PAIRS = 60
_CALL = (
    "import agent_memory_protocol as amp; text = amp.recall_for_agent({agent!r}, {conversation!r}, max_chars={bound})"
)
_IS_LOADED = "; import sys; print('markdown_it' in sys.modules, len(text))"


def figures(python: Path, folder: Path, effort: Effort) -> Iterator[Figure]:
    """Measure the call from Python, the same call over the limit, and the command."""
    fits = material.three_files(folder / "fits", lines=200)
    over = material.three_files(folder / "over", lines=600)
    environ = environment(folder)

    def pairs(root: Path, ours: list[object], other: list[object]) -> list[tuple[float, float]]:
        def time_of(command: list[object]) -> float:
            return run(command, root, environ, folder / "output").processor

        return in_turn(lambda: time_of(ours), lambda: time_of(other), effort.rounds(_PAIRS))

    def call(bound: int | None) -> str:
        return _CALL.format(agent=material.AGENT, conversation=material.CONVERSATION, bound=bound)

    nothing: list[object] = [python, "-c", "pass"]
    what = "import and recall_for_agent, 3 × 200 lines : python -c pass"
    yield ratio(what, pairs(fits, [python, "-c", call(None)], nothing), target=3)

    answer = run([python, "-c", call(10_000) + _IS_LOADED], over, environ, folder / "output").output.split()
    note = f"{answer[1]} characters, markdown-it {'loaded' if answer[0] == 'True' else 'not loaded'}"
    what = "the same over the limit, 3 × 600 lines into 10,000 characters"
    yield ratio(what, pairs(over, [python, "-c", call(10_000)], nothing), target=3.5, note=note)

    amp = [python.parent / "amp", "recall", material.AGENT, "--conversation", material.CONVERSATION]
    yield ratio(
        "amp recall developer : python -c 'import click'", pairs(fits, amp, [python, "-c", "import click"]), target=1.4
    )

"""Whole verbs of `amp`, those of every day, from start to end: mostly what they load."""

from collections.abc import Iterator
from functools import partial
from itertools import count
from pathlib import Path

from benchmarks.speed import material
from benchmarks.speed.installed import environment
from benchmarks.speed.measure import Effort, Figure, in_turn, ratio, run

_PAIRS = 20
_TARGET = 12
_WORDS = {
    "--help": "--help",
    "where": "where",
    "show": "show",
    "list": "list",
    "status": "status",
    "search": "search database",
    "remember, a new entry": "remember Fact-{number}",
    "prune, a dry run": "prune",
    "note new": "note new project fact-{number} --description About-{number} --why Why --how How",
}
"""What is measured, and the words of the command, where `number` makes each call another one."""


def figures(python: Path, folder: Path, effort: Effort) -> Iterator[Figure]:
    """Measure each verb in a project of three documents, none of them full."""
    root = material.three_files(folder / "verbs", lines=40)
    environ = environment(folder)
    numbers = count()

    def time_of(*command: object) -> float:
        return run(command, root, environ, folder / "output").processor

    def time_of_verb(words: str) -> float:
        return time_of(python.parent / "amp", *words.format(number=next(numbers)).split())

    for what, words in _WORDS.items():
        pairs = in_turn(partial(time_of_verb, words), partial(time_of, python, "-c", "pass"), effort.rounds(_PAIRS))
        yield ratio(f"amp {what} : python -c pass", pairs, target=_TARGET)

"""Measure two things in turn, so that whatever else the machine does meets both alike, and compare them as a ratio.

Ratios are of processor time. On an idle machine it is the time that passes, as everything here is read from memory that
the system holds of the disk; on a busy one, what other programs take does not count.
"""

import os
import sys
from argparse import ArgumentParser
from collections.abc import Callable, Collection, Sequence
from contextlib import chdir
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import median, quantiles
from time import perf_counter


@dataclass(frozen=True, slots=True)
class Effort:
    """How much is measured.

    Attributes:
        quick: only enough to show that a benchmark runs; its figures mean nothing.
    """

    quick: bool = False

    def rounds(self, usual: int) -> int:
        """Return how often something is measured."""
        return min(usual, 2) if self.quick else usual

    def size(self, usual: int) -> int:
        """Return how many records, files or bytes something is measured with."""
        return min(max(usual // 100, 20), 1_000) if self.quick else usual


def add_quick(parser: ArgumentParser) -> None:
    """Give a benchmark its option `--quick`."""
    parser.add_argument("--quick", action="store_true", help="a hundredth of the work or less, to see that it runs")


@dataclass(frozen=True, slots=True)
class Run:
    """One process that has ended.

    Attributes:
        elapsed: the seconds from its start to its end.
        processor: the seconds the processor worked for it.
        memory: the most bytes it held.
        output: what it printed.
    """

    elapsed: float
    processor: float
    memory: int
    output: str


@dataclass(frozen=True, slots=True)
class Figure:
    """One line of the table.

    Attributes:
        what: what was measured.
        value: a ratio, seconds or megabytes.
        target: what `value` should not pass; None where there is none.
        low, high: the middle half of the values that `value` is the median of.
        note: what belongs to it: the two times behind a ratio, say.
    """

    what: str
    value: float
    unit: str
    target: float | None
    low: float
    high: float
    note: str = ""

    def row(self) -> list[str]:
        """Return the cells of its line."""
        target = "" if self.target is None else f"{self.target:g}{self.unit}"
        missed = self.target is not None and self.value > self.target
        spread = f"{self.low:.2f}–{self.high:.2f}"
        return [self.what, f"{self.value:.2f}{self.unit}", spread, target, "missed" if missed else "", self.note]

    def as_json(self) -> dict[str, object]:
        """Return it as it goes into JSON."""
        return asdict(self)


def ratio(what: str, pairs: Sequence[tuple[float, float]], *, target: float | None = None, note: str = "") -> Figure:
    """Compare the first of each pair of times with the second."""
    ours, others = (median(times) for times in zip(*pairs, strict=True))
    times = f"{ours * 1000:.3g} ms : {others * 1000:.3g} ms"
    return figure(what, [one / other for one, other in pairs], "×", target, "; ".join(filter(None, [times, note])))


def figure(what: str, values: Sequence[float], unit: str, target: float | None, note: str = "") -> Figure:
    """Return the median of some values, and where the middle half of them lies."""
    low, middle, high = quantiles(values, n=4, method="inclusive")
    return Figure(what, middle, unit, target, low, high, note)


def in_turn(ours: Callable[[], float], other: Callable[[], float], rounds: int) -> list[tuple[float, float]]:
    """Take pairs of times. Which of the two goes first changes, so that neither profits from it."""
    pairs = []
    ours(), other()  # the first call of anything fills caches
    for number in range(rounds):
        if number % 2:
            second = other()
            pairs.append((ours(), second))
        else:
            pairs.append((ours(), other()))
    return pairs


def run(
    command: Sequence[object],
    cwd: Path,
    environ: dict[str, str],
    output: Path,
    *,
    stdin: str | Path = os.devnull,
    codes: Sequence[int] = (0,),
) -> Run:
    """Run a program until it ends with one of these codes.

    Python's `subprocess` would itself take a good part of the time of `python -c pass`.
    """
    to = [
        (os.POSIX_SPAWN_OPEN, 0, str(stdin), os.O_RDONLY, 0),
        (os.POSIX_SPAWN_OPEN, 1, str(output), os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600),
    ]
    words = [str(word) for word in command]
    with chdir(cwd):
        begin = perf_counter()
        _, status, usage = os.wait4(os.posix_spawn(words[0], words, environ, file_actions=to), 0)
        elapsed = perf_counter() - begin
    code = os.waitstatus_to_exitcode(status)
    if code not in codes:
        raise SystemExit(f"{' '.join(words)} ended with {code}")
    memory = usage.ru_maxrss * (1 if sys.platform == "darwin" else 1024)
    return Run(elapsed, usage.ru_utime + usage.ru_stime, memory, output.read_text("utf-8"))


def table(figures: Sequence[Figure]) -> str:
    """Return the figures as an aligned table."""
    return aligned(
        [["what", "median", "middle half", "target", "", ""], *(figure.row() for figure in figures)], {1, 2, 3}
    )


def aligned(rows: Sequence[Sequence[str]], right: Collection[int] | None = None) -> str:
    """Return rows as a table, with these columns flush right; all but the first where none are named."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return "\n".join(
        "  ".join(
            cell.rjust(width) if (column in right if right is not None else column) else cell.ljust(width)
            for column, (cell, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in rows
    )

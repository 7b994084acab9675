"""One row of the table: a fault, how it was made, what is promised and what was measured."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import IntEnum
from pathlib import Path


class Size(IntEnum):
    """How much is tried. Each trial chooses its numbers by it."""

    QUICK = 0
    SHORT = 1
    LONG = 2


@dataclass(frozen=True, slots=True)
class Row:
    """The outcome of one trial.

    Attributes:
        fault: what went wrong.
        method: how it was made to.
        target: what is promised.
        measured: what happened.
        held: whether the promise was kept; None where the fault could not be made here, or too little was measured.
    """

    fault: str
    method: str
    target: str
    measured: str
    held: bool | None


@dataclass(frozen=True, slots=True)
class Trial:
    """One fault that can be tried by its name. `run` takes an empty folder and how much is tried."""

    name: str
    run: Callable[[Path, Size], Sequence[Row]]


class NotHere(Exception):
    """The fault cannot be made on this machine; the message says what is missing."""


def markdown(rows: Sequence[Row]) -> str:
    """Return the rows as a Markdown table."""
    lines = ["| fault | method | target | measured | |", "|---|---|---|---|---|"]
    words = {True: "held", False: "**broken**", None: "not judged"}
    lines += [
        f"| {row.fault} | {row.method} | {row.target} | {row.measured.replace('|', '/')} | {words[row.held]} |"
        for row in rows
    ]
    return "\n".join(lines)


def problems(found: Sequence[str], limit: int = 3) -> str:
    """Return the first of what went wrong, in words; "" for nothing."""
    if not found:
        return ""
    more = f" … and {len(found) - limit} more" if len(found) > limit else ""
    return "; ".join(found[:limit]) + more

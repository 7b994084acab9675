"""Measure what each format takes: to write, on disk, to read, to append to, to find ten entries in.

The formats take turns, round by round, so that whatever else the machine does meets them all alike; of each figure the
median and the spread are kept. That all formats give the same answer is checked, not assumed.
"""

import os
from collections.abc import Callable, Iterable, Sequence
from dataclasses import field
from glob import escape, glob
from itertools import chain
from statistics import median
from time import perf_counter

from ..errors import DamagedFile
from ..formats.entry import MemoryEntry, Problem, Unknown, embedding_of
from ..formats.table import Format, by_name
from ..values import dataclass

COMPARED = ("ndjson", "json", "protobuf", "sqlite", "parquet")
NEWEST = 10  # How many entries the question asks for: the 10 most recent ones with a tag

STEPS = {
    "write": "all written",
    "scan": "all read",
    "append": "one added",
    "first": "10 newest with a tag, asked first",
    "newest": "10 newest with a tag, asked again",
}
"""What is timed, in this order."""


@dataclass
class Measured:
    """What came out for one format."""

    format: Format
    size: int = 0
    seconds: dict[str, list[float]] = field(default_factory=lambda: {step: [] for step in STEPS})
    # whether a field of a later schema is still there when the entries are written again; all formats read entries
    # that have one
    keeps_unknown: bool = False

    def middle(self, step: str) -> float:
        """Return the median of a step's seconds."""
        return median(self.seconds[step])

    def to_json(self) -> dict[str, object]:
        """Return it as it is in a JSON answer."""
        return {
            "format": self.format.name,
            "bytes": self.size,
            "appends": self.format.appends,
            "keeps_unknown": self.keeps_unknown,
            "seconds": {
                step: {"median": self.middle(step), "fastest": min(times), "slowest": max(times)}
                for step, times in self.seconds.items()
            },
        }


def measure(
    entries: Sequence[MemoryEntry],
    tag: str,
    folder: str,
    *,
    names: Sequence[str] = COMPARED,
    rounds: int = 3,
    progress: Callable[[int, int], object] | None = None,
) -> list[Measured]:
    """Measure the formats with these entries, in files in an empty folder; all must find the same with the `tag`."""
    found = [Measured(by_name(name)) for name in names]
    total, done = rounds * len(found) * len(STEPS), 0
    expected: list[MemoryEntry] | None = None
    for number in range(rounds):
        for one in found:
            path = os.path.join(folder, f"{number}{one.format.suffixes[0]}")
            for step, work in _steps(one.format, path, entries, tag).items():
                begin = perf_counter()
                answer = work()
                one.seconds[step].append(perf_counter() - begin)
                done += 1
                if progress is not None:
                    progress(done, total)
                if step == "write":
                    one.size = os.path.getsize(path)
                if isinstance(answer, list):
                    expected = answer if expected is None else expected
                    _check_same(one.format, answer, expected)
            _remove(path)
    for one in found:
        one.keeps_unknown = _keeps_unknown(one.format, os.path.join(folder, f"later{one.format.suffixes[0]}"))
    return found


def _steps(
    target: Format, path: str, entries: Sequence[MemoryEntry], tag: str
) -> dict[str, Callable[[], list[MemoryEntry] | None]]:
    """Return what does each of `STEPS`. Where the format cannot append, the whole file is written again."""
    latest = max(entry.timestamp_ms for entry in entries)
    added = entries[0]._replace(id="ffffffff-ffff-4fff-bfff-ffffffffffff", timestamp_ms=latest + 1, tags=(tag,))

    def write(entries: Iterable[MemoryEntry] = entries) -> None:
        target.write(path, map(target.encode, entries))

    def scan() -> None:
        number = 0
        for one in target.read(path):
            if isinstance(one, Problem):
                raise DamagedFile(f"{target.name}: {one.place}: {one.reason}")
            number += 1
        if number != len(entries):
            raise DamagedFile(f"{target.name}: {number:,} entries came back of {len(entries):,}")

    def append() -> None:
        if target.appends:
            target.append(path, target.encode(added))
        else:
            write(chain(entries, [added]))

    def newest() -> list[MemoryEntry]:
        return target.newest(path, tag, NEWEST)

    return dict(zip(STEPS, (write, scan, append, newest, newest), strict=True))


def _check_same(target: Format, answer: list[MemoryEntry], expected: list[MemoryEntry]) -> None:
    if [entry.id for entry in answer] != [entry.id for entry in expected]:
        raise DamagedFile(f"{target.name} names other entries than the first format; this is a bug, please report it")


_LATER = (Unknown("json", b'{"later":7}'), Unknown("protobuf", b"\x48\x07"))
"""A field that the schema does not name, as each wire spells it."""


def _keeps_unknown(target: Format, path: str) -> bool:
    """Put a field of a later schema into a file, read it, write it again, and see whether the field is there."""
    for later in _LATER:
        entry = MemoryEntry("0f8fad5b-d9cb-469f-a165-70867728950e", 1, "x", embedding=embedding_of([1]), unknown=later)
        carried, _ = target.carry(entry)
        for _ in range(2):
            target.write(path, [target.encode(carried)])
            (carried,) = (one for one in target.read(path) if isinstance(one, MemoryEntry))
            _remove(path)
        if carried.unknown == later:
            return True
    return False


def _remove(path: str) -> None:
    """Remove a file with those whose names begin with its name."""
    for file in glob(f"{escape(path)}*"):
        os.unlink(file)

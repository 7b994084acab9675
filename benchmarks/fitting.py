"""What recall gives of real pages that do not fit: `python -m benchmarks.fitting`.

Each page of the collection that is over the limit of one file is fitted into 200 lines and 25,600 bytes: by the rule of
docs/protocol.md, and by two plain cuts, which keep the first lines as many hosts do, or the last ones. Printed is how
many entries each gives whole, how full the room is, whether each section has an entry where one of each fits, and
whether the newest day is whole where it fits.
"""

from argparse import ArgumentParser
from collections.abc import Callable, Iterator, Sequence
from itertools import accumulate, islice, takewhile
from pathlib import Path

from agent_memory_protocol.limits import MAX_BYTES, MAX_LINES, split_lines
from agent_memory_protocol.recall.agent import injected_text
from agent_memory_protocol.recall.fit import fit, told_units
from agent_memory_protocol.recall.order import day_of, section_of
from agent_memory_protocol.recall.sheet import NOTHING, Room, Segments, Sheet
from agent_memory_protocol.tiers import entries
from agent_memory_protocol.tiers.entries import Entry, IndexLine
from benchmarks.false_alarms import corpus_folder
from benchmarks.speed.measure import add_quick

_FULL = 0.95
_LONGEST = 1 << 40

Unit = Entry | IndexLine


class Page:
    """One page, and what is given of it."""

    def __init__(self, text: str, max_lines: int) -> None:
        self.lines = split_lines(injected_text(text)[0].removesuffix("\n"))
        self.outline = entries.read(self.lines)
        self.room = Room(max_lines, MAX_BYTES * max_lines // MAX_LINES, _LONGEST)
        labels = {label.start for label in self.outline.labels.values() if label.is_entry}
        # A paragraph that ends in a label is there as long as something under the label is.
        self.units: list[Unit] = [one for one in told_units(self.lines, self.outline) if one.start not in labels]

    @property
    def is_over(self) -> bool:
        """Whether the page does not fit as it is."""
        return not self.room.holds(self.lines)

    def by_rule(self) -> tuple[list[Unit], float]:
        """Return the entries that recall gives, and which part of the room they take; 1.0 where all are given."""
        fitted = fit(self.lines, self.outline, self.room, "amp show shared --left-out")
        given = [one for one in self.units if one not in fitted.left_out]
        return given, self._part_of_room(fitted.lines) if fitted.left_out else 1.0

    def first_lines(self) -> tuple[list[Unit], float]:
        """Return the entries in the first lines that fit, and which part of the room these take."""
        count = _how_many(self.lines, self.room)
        return [one for one in self.units if one.end <= count], self._part_of_room(self.lines[:count])

    def last_lines(self) -> tuple[list[Unit], float]:
        """Return the entries in the last lines that fit, and which part of the room these take."""
        start = len(self.lines) - _how_many(self.lines[::-1], self.room)
        return [one for one in self.units if one.start >= start], self._part_of_room(self.lines[start:])

    def _part_of_room(self, lines: list[str]) -> float:
        size = self.room.size_of(lines)
        return max(size.lines / self.room.lines, size.bytes / self.room.size)

    def holds(self, units: list[Unit]) -> bool:
        """Say whether some entries would fit, with their headings and labels and a line on what is left out."""
        segments = Segments(self.lines, self.outline, self.room)
        note = self.room.size_of(["x" * 120])
        return Sheet(segments).put_if_it_fits([one for unit in units for one in segments.of(unit)], note or NOTHING)

    def sections(self) -> dict[object, list[Unit]]:
        """Return the entries of each section."""
        found: dict[object, list[Unit]] = {}
        for unit in self.units:
            found.setdefault(section_of(unit), []).append(unit)
        return found

    def newest(self) -> list[Unit]:
        """Return the entries of the newest day."""
        last = max((day for one in self.units if (day := day_of(one)) is not None), default=None)
        return [one for one in self.units if last is not None and day_of(one) == last]


def pages(corpus: Path, max_lines: int) -> Iterator[Page]:
    """Yield the pages of a collection that are over the limit."""
    for path in sorted(corpus.rglob("*.md")):
        page = Page(path.read_bytes().decode("utf-8", "replace"), max_lines)
        if page.units and page.is_over and path.parent != corpus:
            yield page


def _how_many(lines: Sequence[str], room: Room) -> int:
    sizes = accumulate(len(line.encode()) + 1 for line in lines[: room.lines])
    return sum(1 for _ in takewhile(lambda size: size <= room.size, sizes))


class Tally:
    """What one way to cut gives of all pages."""

    def __init__(self) -> None:
        self.given = self.whole = self.full = 0
        self.sections: list[bool] = []
        self.newest: list[bool] = []

    def add(self, page: Page, given: list[Unit], part: float) -> None:
        """Take in one page."""
        self.given += len(given)
        self.whole += len(given) == len(page.units)
        self.full += len(given) == len(page.units) or part >= _FULL
        sections, newest = page.sections().values(), page.newest()
        if page.holds([min(own, key=lambda one: one.end - one.start) for own in sections]):
            self.sections.append(all(any(one in given for one in own) for own in sections))
        if newest and page.holds(newest):
            self.newest.append(all(one in given for one in newest))


WAYS: dict[str, Callable[[Page], tuple[list[Unit], float]]] = {
    "first lines": Page.first_lines,
    "last lines": Page.last_lines,
    "the rule": Page.by_rule,
}


def main() -> None:
    """Print what each way to cut gives."""
    parser = ArgumentParser(prog="python -m benchmarks.fitting", description=__doc__.partition("\n")[0])
    parser.add_argument("--corpus", type=Path, default=corpus_folder(), metavar="DIR", help="the memory files")
    parser.add_argument(
        "--lines", type=int, default=MAX_LINES, metavar="N", help="the room: lines, bytes in proportion"
    )
    add_quick(parser)
    arguments = parser.parse_args()
    tallies = {way: Tally() for way in WAYS}
    number = total = 0
    for page in islice(pages(arguments.corpus, arguments.lines), 3 if arguments.quick else None):
        number, total = number + 1, total + len(page.units)
        for way, cut in WAYS.items():
            tallies[way].add(page, *cut(page))
    print(f"{number} pages over the limit, {total:,} entries\n")
    print(f"{'':<52}" + "".join(f"{way:>13}" for way in WAYS))
    rows: dict[str, Callable[[Tally], int | list[bool]]] = {
        "entries given whole": lambda one: one.given,
        "pages of which every entry is given": lambda one: one.whole,
        f"pages that are whole, or use {_FULL:.0%} of the room": lambda one: one.full,
        "pages with each section, where one entry of each fits": lambda one: one.sections,
        "pages with all of the newest day, where it fits": lambda one: one.newest,
    }
    for name, row in rows.items():
        values = [row(one) for one in tallies.values()]
        shown = [f"{one:,}" if isinstance(one, int) else f"{sum(one)} of {len(one)}" for one in values]
        print(f"{name:<52}" + "".join(f"{one:>13}" for one in shown))


if __name__ == "__main__":
    main()

"""What recall gives of real pages that do not fit: `python -m benchmarks.fitting`.

Each page of the collection that is over the limit of one file is fitted into 200 lines and 25,600 bytes. Printed is how
many of its entries are given, how full the room is, whether each section has an entry where one of each fits, and
whether the newest day is whole where it fits.
"""

from argparse import ArgumentParser
from collections.abc import Iterator
from itertools import islice
from pathlib import Path

from agent_memory_protocol.limits import MAX_BYTES, MAX_LINES, split_lines
from agent_memory_protocol.recall.agent import injected_text
from agent_memory_protocol.recall.fit import Fitted, fit, told_units
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

    def fit(self) -> Fitted:
        """Return what is given."""
        return fit(self.lines, self.outline, self.room, "amp show shared --left-out")

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


def main() -> None:
    """Print the four figures."""
    parser = ArgumentParser(prog="python -m benchmarks.fitting", description=__doc__.partition("\n")[0])
    parser.add_argument("--corpus", type=Path, default=corpus_folder(), metavar="DIR", help="the memory files")
    parser.add_argument(
        "--lines", type=int, default=MAX_LINES, metavar="N", help="the room: lines, bytes in proportion"
    )
    add_quick(parser)
    arguments = parser.parse_args()
    given = total = full = whole = number = 0
    sections: list[bool] = []
    newest: list[bool] = []
    for page in islice(pages(arguments.corpus, arguments.lines), 3 if arguments.quick else None):
        number += 1
        fitted = page.fit()
        shown = [one for one in page.units if one not in fitted.left_out]
        total, given = total + len(page.units), given + len(shown)
        size = page.room.size_of(fitted.lines)
        whole += not fitted.left_out
        full += not fitted.left_out or max(size.lines / page.room.lines, size.bytes / page.room.size) >= _FULL
        smallest = [min(own, key=lambda one: one.end - one.start) for own in page.sections().values()]
        if page.holds(smallest):
            sections.append(all(any(one in shown for one in own) for own in page.sections().values()))
        if page.newest() and page.holds(page.newest()):
            newest.append(all(one in shown for one in page.newest()))
    print(f"{number} pages over the limit, {total:,} entries")
    print(f"{given:,} entries are given; {whole} pages whole, without some of their blank lines")
    print(f"{full} of {number} pages are whole or use {_FULL:.0%} of the lines or bytes")
    print(f"{sum(sections)} of {len(sections)} pages where one entry of each section fits have one of each")
    print(f"{sum(newest)} of {len(newest)} pages where the newest day fits have all of it")


if __name__ == "__main__":
    main()

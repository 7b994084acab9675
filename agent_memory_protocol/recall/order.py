"""In which order a document that does not fit gives up its entries: no topic lost, no news lost.

The rule is in docs/protocol.md, “What does not fit”. The order depends on the document alone, never on the room.
"""

from heapq import heapify, heappop, heappush
from itertools import pairwise

from ..limits import MAX_BYTES, MAX_LINES
from ..tiers.entries import Entry, IndexLine, suspicious_days

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    Unit = Entry | IndexLine

_OLD_DAYS = 30
_LONE_DATE_DAYS = 365
_LARGEST_OPENING = (MAX_LINES // 2, MAX_BYTES // 2)
"""Prose that opens a section goes last of it, unless it alone would take half the room of a whole document."""


def giving_up(units: "list[Unit]", sizes: list[int]) -> list[int]:
    """Return the indexes of units, which are in file order, in the order in which they are given up.

    First dated ones of more than 30 days before the newest, then undated ones, then the other dated ones. No section
    gives up its last one before all sections are at one; the newest goes last of all.
    """
    days = [day_of(unit) for unit in units]
    newest_day = newest([day for day in days if day is not None])
    last = max((index for index, day in enumerate(days) if day == newest_day), default=-1) if newest_day else -1
    sections = [section_of(unit) for unit in units]
    going = _Going(sections, sizes, keeping=last)
    dated: dict[int, list[int]] = {}
    for index, day in enumerate(days):
        if day is not None:
            dated.setdefault(day, []).append(index)
    entries = [unit for unit in units if isinstance(unit, Entry)]
    mistyped = {entries[index].start for index in suspicious_days(entries)}
    for day in sorted(dated):
        if newest_day is not None and newest_day - day > _OLD_DAYS:
            going.take(index for index in dated[day] if units[index].start not in mistyped)
    openings = _openings(units, sections, sizes)
    undated = [index for index, day in enumerate(days) if day is None]
    going.take([one for opens in (False, True) for one in undated if (one in openings) is opens])
    for day in sorted(dated):
        going.take(dated[day])
    taken = set(going.order)
    last_ones = [index for index in range(len(units)) if index not in taken]
    return going.order + sorted(
        last_ones, key=lambda index: (index == last, days[index] is not None, days[index] or 0, -sizes[index], index)
    )


def of_each_section(units: "list[Unit]", sizes: list[int], order: list[int]) -> "Iterator[list[int]]":
    """Yield the indexes of one unit of each section, for each way to choose it, the best first."""
    by_lines = [(unit.end - unit.start, size) for unit, size in zip(units, sizes, strict=True)]
    by_bytes = [(size, count) for count, size in by_lines]
    yield _one_of_each(units, order[::-1])
    for newest_stays in (True, False):
        for by in (by_lines, by_bytes):
            firsts = [index != order[-1] and newest_stays for index in range(len(units))]
            yield _one_of_each(units, sorted(range(len(units)), key=lambda one: (firsts[one], by[one], one)))


def _one_of_each(units: "list[Unit]", row: list[int]) -> list[int]:
    """Return the first of each section in a row of indexes."""
    return [*{section_of(units[index]): index for index in reversed(row)}.values()]


def day_of(unit: "Unit") -> int | None:
    """Return the day an entry is dated with; index lines have none."""
    return unit.day if isinstance(unit, Entry) else None


def section_of(unit: "Unit") -> int:
    """Return the index of the nearest heading above a unit, -1 where none is."""
    return unit.headings[-1] if unit.headings else -1


def newest(days: list[int]) -> int | None:
    """Return the newest day, passing over one that lies more than a year after all others: a mistyped year."""
    days = sorted(set(days), reverse=True)
    # Where no two are that near, a gap of ten years tells.
    for most in (_LONE_DATE_DAYS, 10 * _LONE_DATE_DAYS):
        for day, next_older in pairwise(days):
            if day - next_older <= most:
                return day
    return days[-1] if days else None


class _Going:
    """What has been given up so far, and what each section still has."""

    __slots__ = ("_bytes", "_keeping", "_left", "_sections", "_sizes", "_taken", "order")

    def __init__(self, sections: list[int], sizes: list[int], *, keeping: int) -> None:
        self.order: list[int] = []
        self._taken: set[int] = set()
        self._keeping = keeping
        self._sections = sections
        self._sizes = sizes
        self._left: dict[int, int] = {}
        self._bytes: dict[int, int] = {}
        for section, size in zip(sections, sizes, strict=True):
            self._left[section] = self._left.get(section, 0) + 1
            self._bytes[section] = self._bytes.get(section, 0) + size

    def take(self, indexes: "Iterable[int]") -> None:
        """Give these up one at a time, each from the section that has most bytes; never the last one of a section."""
        waiting: dict[int, list[int]] = {}
        for index in indexes:
            if index not in self._taken and index != self._keeping:
                waiting.setdefault(self._sections[index], []).append(index)
        largest = [(-self._bytes[section], section) for section in waiting]
        heapify(largest)
        for queue in waiting.values():
            queue.reverse()
        while largest:
            section = heappop(largest)[1]
            if self._left[section] == 1:
                continue
            index = waiting[section].pop()
            self.order.append(index)
            self._taken.add(index)
            self._left[section] -= 1
            self._bytes[section] -= self._sizes[index]
            if waiting[section]:
                heappush(largest, (-self._bytes[section], section))


def _openings(units: "list[Unit]", sections: list[int], sizes: list[int]) -> set[int]:
    """Return the indexes of the prose that opens a section, unless it is very large."""
    found = set()
    begun = set()
    most_lines, most_bytes = _LARGEST_OPENING
    for index, unit in enumerate(units):
        section = sections[index]
        if isinstance(unit, IndexLine) or unit.is_item:
            begun.add(section)
        elif section not in begun and unit.end - unit.start <= most_lines and sizes[index] <= most_bytes:
            found.add(index)
    return found


def sizes_of(lines: list[str], units: "list[Unit]") -> list[int]:
    """Return how many bytes each unit takes."""
    return [len("\n".join(lines[unit.start : unit.end]).encode()) + 1 for unit in units]

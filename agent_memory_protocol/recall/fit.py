"""Choose what of a document is injected when it does not fit: no topic lost, no news lost (decision 14).

Values in, values out. Entries go whole, in an order that depends on the document alone; the room only decides how
many go. So a smaller budget never brings back what a larger one left out, and the same input gives the same text.
"""

from heapq import heapify, heappop, heappush
from itertools import pairwise

from ..limits import LINE_BYTES, MAX_BYTES, MAX_LINES
from ..text import markdown
from ..text.dates import day_text
from ..tiers.entries import Entry, IndexLine, Outline

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

_OLD_DAYS = 90
_LONE_DATE_DAYS = 365
_LARGEST_OPENING = (MAX_LINES // 2, MAX_BYTES // 2)
"""Prose that opens a section goes last of it, unless it alone would take half the room of a whole document."""


class Room:
    """How much rendered text fits, the line that tells of omissions included; a final newline is not counted."""

    __slots__ = ("characters", "lines", "prefix", "size")

    def __init__(self, lines: int, size: int, characters: int, *, prefix: int = 0) -> None:
        self.lines = lines
        self.size = size
        """In bytes of UTF-8."""
        self.characters = characters
        self.prefix = prefix
        """How many ASCII characters are put before each line."""

    def holds(self, lines: list[str]) -> bool:
        """Say whether these lines, joined with newlines, fit."""
        if len(lines) > self.lines:
            return False
        prefixes = self.prefix * len(lines)
        text = "\n".join(lines)
        if len(text) + prefixes > min(self.characters, self.size):
            return False
        return text.isascii() or len(text.encode()) + prefixes <= self.size


class Fitted:
    """What was chosen.

    Attributes:
        lines: the text to inject, ending in the line that tells what was left out.
        left_out: the entries and index lines left out whole, in file order.
        cut: the one entry that is given in part, or None.
    """

    __slots__ = ("cut", "left_out", "lines")

    def __init__(self, lines: list[str], left_out: list[Entry | IndexLine], cut: Entry | IndexLine | None) -> None:
        self.lines = lines
        self.left_out = left_out
        self.cut = cut


def fit(
    lines: list[str],
    found: Outline,
    room: Room,
    command: str,
    unread_lines: int = 0,
    score: "Callable[[str], int] | None" = None,
) -> Fitted:
    """Return as much of a document as the room holds, entries whole.

    Args:
        lines: the document as it would be rendered, one string a line, without endings.
        found: its outline.
        room: what must not be passed; where not even the omission line fits, nothing is returned but that line.
        command: the command that shows what is left out.
        unread_lines: how many further lines of the file were not even looked at.
        score: says how well a text fits the task; what fits better stays longer. None: there is no task.
    """
    lines = [shorten_line(line) for line in lines]
    if not unread_lines and room.holds(lines):
        # One giant line was all that was too much.
        return Fitted(lines, [], None)
    units: list[Entry | IndexLine] = sorted([*found.entries, *found.index_lines], key=lambda unit: unit.start)
    order = removal_order(lines, units)
    if score is not None:
        scores = [score(_with_headings(lines, found, unit)) for unit in units]
        order.sort(key=lambda index: scores[index])

    def attempt(removals: int) -> list[str]:
        gone = set(order[:removals])
        left_out = [unit for index, unit in enumerate(units) if index in gone]
        kept = [unit for index, unit in enumerate(units) if index not in gone]
        note = omission_line(left_out, command, older=_all_older(left_out, kept), unread_lines=unread_lines)
        return [*render(lines, found, units, gone), note]

    removals = _estimate(lines, units, order, room, least=0 if unread_lines else 1)
    while removals > (0 if unread_lines else 1) and room.holds(attempt(removals - 1)):
        removals -= 1
    while removals < len(order) and not room.holds(attempt(removals)):
        removals += 1
    gone = set(order[:removals])
    if removals == len(order) and order:
        return _cut_last(lines, found, units, order, room, command, unread_lines)
    text = attempt(removals)
    return Fitted(text if room.holds(text) else text[-1:], [units[index] for index in sorted(gone)], None)


def _with_headings(lines: list[str], found: Outline, unit: Entry | IndexLine) -> str:
    above = [found.headings[index].text for index in unit.headings]
    return "\n".join([*above, *lines[unit.start : unit.end]])


def head(lines: list[str], found: Outline, room: Room, command: str, unread_lines: int = 0) -> Fitted:
    """Return the first lines of a document, as many as the room holds: what `overflow = "head"` asks for."""
    lines = [shorten_line(line) for line in lines]
    if not unread_lines and room.holds(lines):
        # One giant line was all that was too much.
        return Fitted(lines, [], None)
    units: list[Entry | IndexLine] = sorted([*found.entries, *found.index_lines], key=lambda unit: unit.start)
    low, high = 0, len(lines)
    while low < high:
        middle = (low + high + 1) // 2
        if room.holds(_head_attempt(lines, units, middle, command, unread_lines)):
            low = middle
        else:
            high = middle - 1
    left_out = [unit for unit in units if unit.start >= low]
    cut = next((unit for unit in units if unit.start < low < unit.end), None)
    return Fitted(_head_attempt(lines, units, low, command, unread_lines), left_out, cut)


def shorten_line(line: str) -> str:
    """Cut a line over 1,000 bytes to 1,000, at a character border and with `…` (decision 14)."""
    if len(line) <= LINE_BYTES // 4 or len(data := line.encode()) <= LINE_BYTES:
        return line
    return data[: LINE_BYTES - 3].decode("utf-8", "ignore") + "…"


def removal_order(lines: list[str], units: list[Entry | IndexLine]) -> list[int]:
    """Return the indexes of `units` in the order in which they are given up.

    First entries more than 90 days older than the newest, then one at a time from the section that takes most room,
    its oldest first. No section gives up its last one while another has two; the newest entry goes last of all.
    """
    days = [unit.day if isinstance(unit, Entry) else None for unit in units]
    newest_day = _newest([day for day in days if day is not None])
    newest = max((index for index, day in enumerate(days) if day == newest_day), default=-1) if newest_day else -1
    sections: dict[int, list[int]] = {}
    for index, unit in enumerate(units):
        sections.setdefault(unit.headings[-1] if unit.headings else -1, []).append(index)
    left = {section: len(members) for section, members in sections.items()}

    def section_of(index: int) -> int:
        return units[index].headings[-1] if units[index].headings else -1

    order: list[int] = []
    if newest_day is not None:
        aged = [(day, index) for index, day in enumerate(days) if day is not None and newest_day - day > _OLD_DAYS]
        for _, index in sorted(aged):
            if left[section_of(index)] > 1:
                left[section_of(index)] -= 1
                order.append(index)
    given_up = set(order)
    room = [sum(len(line.encode()) + 1 for line in lines[unit.start : unit.end]) for unit in units]
    most_lines, most_bytes = _LARGEST_OPENING
    small = [unit.end - unit.start <= most_lines and size <= most_bytes for unit, size in zip(units, room, strict=True)]
    openings: set[int] = set()

    def importance(index: int) -> tuple[bool, bool, bool, int, int]:
        day = days[index]
        return index == newest, index in openings, day is not None, day or 0, index

    queues: dict[int, list[int]] = {}
    for section, members in sections.items():
        first_item = next((i for i in members if not _is_prose(units[i])), len(units))
        openings.update(index for index in members if index < first_item and small[index])
        waiting = [index for index in members if index not in given_up]
        queues[section] = sorted(waiting, key=importance, reverse=True)
    heap = [(-sum(room[index] for index in queue), section) for section, queue in queues.items() if len(queue) > 1]
    heapify(heap)
    while heap:
        weight, section = heappop(heap)
        index = queues[section].pop()
        order.append(index)
        if len(queues[section]) > 1:
            heappush(heap, (weight + room[index], section))
    last_ones = [queue[0] for queue in queues.values() if queue]
    return order + sorted(last_ones, key=lambda index: (index == newest, -room[index], index))


def _estimate(lines: list[str], units: list[Entry | IndexLine], order: list[int], room: Room, *, least: int) -> int:
    """Return about how many units must go: near enough that a few attempts find the number."""
    too_many_lines = len(lines) + 1 - room.lines
    too_large = sum(len(line.encode()) + 1 for line in lines) - min(room.size, room.characters)
    for removals, index in enumerate(order):
        if removals >= least and too_many_lines <= 0 and too_large <= 0:
            return removals
        unit = units[index]
        too_many_lines -= unit.end - unit.start
        too_large -= sum(len(line.encode()) + 1 for line in lines[unit.start : unit.end])
    return max(len(order) - 1, least)


def render(lines: list[str], found: Outline, units: list[Entry | IndexLine], gone: set[int]) -> list[str]:
    """Return the lines of what is kept: the title, the units not in `gone`, their headings and labels."""
    kept_units = [unit for index, unit in enumerate(units) if index not in gone]
    headings = {0} if found.headings else set()
    labels = set()
    for unit in kept_units:
        headings.update(unit.headings)
        if unit.label is not None:
            labels.add(unit.label)
    spans = [(unit.start, unit.end) for unit in kept_units]
    spans += [(found.headings[index].start, found.headings[index].end) for index in headings]
    spans += [(found.labels[label].start, found.labels[label].end) for label in labels]
    text: list[str] = []
    previous = 0
    for start, end in sorted(spans):
        if text and start > previous and not (lines[start - 1].strip(" \t") and lines[previous].strip(" \t")):
            text.append("")
        text += lines[start:end]
        previous = end
    return text


def omission_line(
    left_out: list[Entry | IndexLine], command: str, *, older: bool = False, cut: str = "", unread_lines: int = 0
) -> str:
    """Return the line that says how much is not shown, which dates it spans, and the command that shows it.

    Args:
        left_out: the units left out whole.
        command: what a person types to see them.
        older: whether all of them are older than all that is shown.
        cut: what to say of an entry, or the end of the document, that is shown in part.
        unread_lines: lines of a huge file that were not looked at.
    """
    said = []
    if left_out:
        lines = sum(unit.end - unit.start for unit in left_out)
        days = sorted(unit.day for unit in left_out if isinstance(unit, Entry) and unit.day is not None)
        noun = ("older " if older else "") + ("entry" if len(left_out) == 1 else "entries")
        dated = ""
        if days:
            some = "" if len(days) == len(left_out) else f"{len(days)} of them "
            last = f" to {day_text(days[-1])}" if days[-1] != days[0] else ""
            dated = f", {some}dated {day_text(days[0])}{last},"
        verb = "is" if len(left_out) == 1 else "are"
        said.append(f"{len(left_out)} {noun} on {_lines(lines)}{dated} {verb} not shown")
    if cut:
        said.append(cut)
    if unread_lines:
        said.append(f"{_lines(unread_lines)} in the middle of this large file are not considered")
    if not said:
        said.append("there is no room for more")
    return f"({'; '.join(said)}; `{command}` shows {'it' if len(left_out) == 1 and len(said) == 1 else 'them'})"


def _lines(count: int) -> str:
    return f"{count} line{'' if count == 1 else 's'}"


def _all_older(left_out: list[Entry | IndexLine], kept: list[Entry | IndexLine]) -> bool:
    gone = [unit.day if isinstance(unit, Entry) else None for unit in left_out]
    shown = [unit.day for unit in kept if isinstance(unit, Entry) and unit.day is not None]
    return None not in gone and bool(shown) and max(day or 0 for day in gone) <= min(shown)


def _newest(days: list[int]) -> int | None:
    """Return the newest day, passing over one that lies more than a year after all others: a mistyped year."""
    days = sorted(set(days), reverse=True)
    # Where no two are that near, a gap of ten years tells.
    for most in (_LONE_DATE_DAYS, 10 * _LONE_DATE_DAYS):
        for day, next_older in pairwise(days):
            if day - next_older <= most:
                return day
    return days[-1] if days else None


def _is_prose(unit: Entry | IndexLine) -> bool:
    return isinstance(unit, Entry) and not unit.is_item


def _cut_last(
    lines: list[str],
    found: Outline,
    units: list[Entry | IndexLine],
    order: list[int],
    room: Room,
    command: str,
    unread_lines: int,
) -> Fitted:
    """Give the last entry in part, cut at a line border; where no line of it fits, give the title alone, or nothing."""
    last = units[order[-1]]
    others = [unit for unit in units if unit is not last]
    everything = render(lines, found, units, set(order[:-1]))
    size = last.end - last.start
    # The title stands after it where the document begins with something else.
    start = next(
        index for index in range(len(everything)) if everything[index : index + size] == lines[last.start : last.end]
    )

    def attempt(count: int) -> list[str]:
        said = f"the last entry shown is cut after {count} of {size} lines"
        note = omission_line(others, command, unread_lines=unread_lines, cut=said)
        return [*markdown.close_fence(everything[: start + count]), *everything[start + size :], note]

    low, high = 0, min(size - 1, room.lines)
    while low < high:
        middle = (low + high + 1) // 2
        if room.holds(attempt(middle)):
            low = middle
        else:
            high = middle - 1
    if low:
        return Fitted(attempt(low), others, last)
    note = omission_line(units, command, unread_lines=unread_lines)
    title = lines[found.headings[0].start : found.headings[0].end] if found.headings else []
    return Fitted([*title, note] if room.holds([*title, note]) else [note], units, None)


def _head_attempt(
    lines: list[str], units: list[Entry | IndexLine], count: int, command: str, unread_lines: int
) -> list[str]:
    left_out = [unit for unit in units if unit.start >= count]
    rest = len(lines) - count
    cut = "" if left_out else f"the last {_lines(rest)} {'is' if rest == 1 else 'are'} not shown"
    return [*markdown.close_fence(lines[:count]), omission_line(left_out, command, unread_lines=unread_lines, cut=cut)]

"""Choose what of a document is given when not all of it is: entries whole, no topic lost, no news lost.

Values in, values out. The rule is in docs/protocol.md, “What does not fit”. Entries are put on the sheet in the reverse
of the order in which they are given up, each if it fits: what stays longest is there first, and what went last is the
first to come back into the room that is left. The same input gives the same text.
"""

from ..limits import LINE_BYTES, most_that_fits
from ..text import markdown
from ..text.dates import day_text
from ..tiers.entries import Entry, IndexLine, Outline
from .order import day_of, giving_up, of_each_section, sizes_of
from .sheet import NOTHING, Room, Segments, Sheet

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    Unit = Entry | IndexLine


class Fitted:
    """What was chosen."""

    __slots__ = ("cut", "left_out", "lines")

    def __init__(self, lines: list[str], left_out: "list[Unit]", cut: "Unit | None" = None) -> None:
        self.lines = lines  # the text to inject, ending in the line that tells what was left out
        self.left_out = left_out  # the entries and index lines left out whole, in file order
        self.cut = cut  # the one entry that is given in part, or None


def fit(
    lines: list[str],
    found: Outline,
    room: Room,
    command: str,
    unread_lines: int = 0,
    scores: "Mapping[int, float] | None" = None,
    *,
    today: int = 0,
) -> Fitted:
    """Return as much of a document as the room holds, entries whole.

    Where not even the omission line fits, nothing is returned but that. `command` shows what is left out,
    `unread_lines` are those of a file that were not even looked at, and `scores` say by its first line how well each
    unit fits the task. What has expired on the day `today` is always left out.
    """
    lines = [shorten_line(line) for line in lines]
    told = told_units(lines, found)
    expired = {unit for unit in told if is_expired(unit, today)} if today else set()
    is_whole = not unread_lines and not expired
    if is_whole and room.holds(lines):
        # One giant line was all that was too much.
        return Fitted(lines, [])
    segments = Segments(lines, found, room)
    # What governs others is not given up on its own: what ends in a label, a line that dates a section, a footnote.
    paragraphs = {start for label in found.labels.values() if label.is_entry for start in range(label.start, label.end)}
    paragraphs.update(segments.date_lines)
    paragraphs.update(segments.notes)
    units = [unit for unit in told if unit.start not in paragraphs and unit not in expired]
    firsts = [lines[unit.start] for unit in units]
    sheet = Sheet(segments)
    may_fit = is_whole and room.holds(firsts)
    if may_fit and sheet.put_if_it_fits([segment for unit in units for segment in segments.of(unit)], NOTHING):
        return Fitted(sheet.text(), [])
    dated = all(day_of(unit) is not None for unit in told)
    note = omission_line(told, command, older=dated, unread_lines=unread_lines, today=today)
    longest = room.size_of([note])
    if not room.has(sheet.size + longest):
        return Fitted([omission_line(told, command, unread_lines=unread_lines, today=today)], told)
    sizes = sizes_of(lines, units)
    order = giving_up(units, sizes)
    if scores is not None:
        order.sort(key=lambda index: scores[units[index].start])
    elif order:
        for chosen in of_each_section(units, sizes, order):
            if sheet.put_if_it_fits([one for index in chosen for one in segments.of(units[index])], longest):
                break
    shown = set()
    left = sheet.left(longest)
    for index in reversed(order):
        unit = units[index]
        # Most do not fit. Their first lines mostly tell that, so that they need not be cut into blocks.
        may_fit = len(firsts[index]) <= left or sheet.has(unit.start)
        if may_fit and sheet.put_if_it_fits(segments.of(unit), longest):
            shown.add(unit)
            left = sheet.left(longest)
    shown |= {unit for unit in told if unit.start in paragraphs and sheet.has(unit.start)}
    left_out = [unit for unit in told if unit not in shown]

    def note_of(left_out: "list[Unit]", cut: str = "") -> str:
        older = _all_older(left_out, shown)
        return omission_line(left_out, command, older=older, cut=cut, unread_lines=unread_lines, today=today)

    last = units[order[-1]] if order else None
    if last is not None and not Sheet(segments).put_if_it_fits(segments.of(last), longest):
        others = [unit for unit in left_out if unit is not last]
        text = _with_part(sheet, last, lambda cut: note_of(others, cut))
        if text:
            return Fitted(text, others, last)
    return Fitted([*sheet.text(), note_of(left_out)], left_out)


def head(
    lines: list[str], found: Outline, room: Room, command: str, unread_lines: int = 0, *, today: int = 0
) -> Fitted:
    """Return the first lines of a document, as many as the room holds: what `overflow = "head"` asks for."""
    lines = [shorten_line(line) for line in lines]
    told = told_units(lines, found)
    expired = [unit for unit in told if is_expired(unit, today)]
    hidden = {number for unit in expired for number in range(unit.start, unit.end)}
    numbers = [number for number in range(len(lines)) if number not in hidden]
    if not unread_lines and not expired and room.holds(lines):
        # One giant line was all that was too much.
        return Fitted(lines, [])

    def attempt(count: int) -> list[str]:
        left_out = _left_from(told, expired, count, numbers)
        rest = len(numbers) - count
        cut = f"the last {_lines(rest)} {'is' if rest == 1 else 'are'} not shown" if rest and not left_out else ""
        note = omission_line(left_out, command, unread_lines=unread_lines, cut=cut, today=today)
        return [*markdown.close_fence([lines[number] for number in numbers[:count]]), note]

    count = most_that_fits(len(numbers), lambda count: room.holds(attempt(count)))
    left_out = _left_from(told, expired, count, numbers)
    end = numbers[count] if count < len(numbers) else len(lines)
    cut = next((unit for unit in told if unit.start < end < unit.end), None)
    return Fitted(attempt(count), left_out, cut)


def told_units(lines: list[str], found: Outline) -> "list[Unit]":
    """Return the entries and index lines that are told of, in file order: all that do not only hold a place."""
    units: list[Unit] = [entry for entry in found.entries if not entry.holds_place(lines)]
    return sorted([*found.index_lines, *units], key=lambda unit: unit.start) if found.index_lines else units


def is_expired(unit: "Unit", today: int) -> bool:
    """Say whether a unit has expired; index lines never do."""
    return isinstance(unit, Entry) and unit.is_expired(today)


def shorten_line(line: str) -> str:
    """Cut a line over 1,000 bytes to 1,000, at a character border and with `…` (decision 14)."""
    if len(line) <= LINE_BYTES // 4 or len(data := line.encode()) <= LINE_BYTES:
        return line
    return data[: LINE_BYTES - 3].decode("utf-8", "ignore") + "…"


def omission_line(
    left_out: "Sequence[Unit]",
    command: str,
    *,
    older: bool = False,
    cut: str = "",
    unread_lines: int = 0,
    today: int = 0,
) -> str:
    """Return the line that says how much is not shown, which dates it spans, and the command that shows it.

    `older`: all of them are older than what is shown. `cut` says what is shown in part.
    """
    said = []
    if left_out:
        count = len(left_out)
        lines = sum(unit.end - unit.start for unit in left_out)
        days = sorted(day for unit in left_out if (day := day_of(unit)) is not None)
        facts = [f"{count} {'older ' if older else ''}{'entry' if count == 1 else 'entries'} on {_lines(lines)}"]
        if days:
            last = f" to {day_text(days[-1])}" if days[-1] != days[0] else ""
            facts.append(f"{_some(len(days), count)}dated {day_text(days[0])}{last}")
        expired = sum(is_expired(unit, today) for unit in left_out) if today else 0
        if expired:
            facts.append(f"{_some(expired, count)}expired")
        end = "," if len(facts) > 1 else ""
        said.append(f"{', '.join(facts)}{end} {'is' if count == 1 else 'are'} not shown")
    if cut:
        said.append(cut)
    if unread_lines:
        said.append(f"{_lines(unread_lines)} in the middle of this large file are not considered")
    if not said:
        said.append("there is no room for more")
    is_one = len(said) == 1 and (len(left_out) == 1 or cut.startswith("one entry"))
    return f"({'; '.join(said)}; `{command}` shows {'it' if is_one else 'them'})"


def _some(count: int, of: int) -> str:
    return "" if count == of else f"{count} of them "


def _lines(count: int) -> str:
    return f"{count} line{'' if count == 1 else 's'}"


def with_context(lines: list[str], found: Outline, unit: "Unit") -> str:
    """Return the text of a unit with the headings and the label that govern it."""
    above = [found.headings[index].text for index in unit.headings]
    label = [found.labels[unit.label].text] if unit.label is not None else []
    return "\n".join([*above, *label, *lines[unit.start : unit.end]])


def _with_part(sheet: Sheet, unit: "Unit", note_of: "Callable[[str], str]") -> list[str]:
    """Return the text of the sheet with the first lines of a unit that is too large for it; nothing if none fits."""
    size = unit.end - unit.start

    def attempt(count: int) -> list[str]:
        new = sheet.put(sheet.segments.beginning(unit, count))
        text = sheet.text()
        sheet.take_back(new)
        return [*text, note_of(f"one entry is cut after {count} of {size} lines")]

    room = sheet.segments.room
    count = most_that_fits(size - 1, lambda count: room.holds(attempt(count)))
    return attempt(count) if count else []


def _left_from(told: "list[Unit]", expired: "list[Unit]", count: int, numbers: list[int]) -> "list[Unit]":
    """Return the units that are not among the first lines that are shown."""
    end = numbers[count] if count < len(numbers) else numbers[-1] + 1 if numbers else 0
    return [unit for unit in told if unit.start >= end or unit in expired]


def _all_older(left_out: "list[Unit]", shown: "set[Unit]") -> bool:
    gone = [day_of(unit) for unit in left_out]
    days = [day for unit in shown if (day := day_of(unit)) is not None]
    return None not in gone and bool(days) and max((day or 0 for day in gone), default=0) < min(days)

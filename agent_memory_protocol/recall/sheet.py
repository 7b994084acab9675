"""A sheet: the blocks of a document that are given, in file order, with no more blank lines than they need.

A blank line is dropped where the blocks are the same without it, which is decided by parsing again. Blocks that would
join or govern each other only because what was between them is gone are kept apart (docs/protocol.md, “What does not
fit”).
"""

from bisect import bisect_right

from ..text import markdown
from ..text.over_lists import is_label, label_in
from ..text.visible import KEEPER
from ..tiers import entries

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from ..text.markdown import Block
    from ..tiers.entries import Entry, Heading, IndexLine, Label, Outline


class Size:
    """How much a text takes: its lines, and its bytes and characters, with one for the end of each line."""

    __slots__ = ("bytes", "characters", "lines")

    def __init__(self, lines: int, size: int, characters: int) -> None:
        self.lines = lines
        self.bytes = size
        self.characters = characters

    def __add__(self, other: "Size") -> "Size":
        return Size(self.lines + other.lines, self.bytes + other.bytes, self.characters + other.characters)

    def __sub__(self, other: "Size") -> "Size":
        return Size(self.lines - other.lines, self.bytes - other.bytes, self.characters - other.characters)


NOTHING = Size(0, 0, 0)


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

    def size_of(self, lines: "Sequence[str]") -> Size:
        """Return how much these lines take."""
        text = "\n".join(lines)
        more = self.prefix * len(lines) + bool(lines)
        return Size(len(lines), (len(text) if text.isascii() else len(text.encode())) + more, len(text) + more)

    def has(self, size: Size) -> bool:
        """Say whether a text of this size fits."""
        return size.lines <= self.lines and size.bytes - 1 <= self.size and size.characters - 1 <= self.characters

    def holds(self, lines: "Sequence[str]") -> bool:
        """Say whether these lines, joined with newlines, fit."""
        return self.has(self.size_of(lines))


class Segment:
    """One block of a document, or the part of it that is an entry."""

    __slots__ = ("block", "end", "label", "lines", "place", "size", "start")

    def __init__(self, block: "Block", place: int, start: int, lines: list[str], size: Size) -> None:
        self.block = block
        self.place = place
        self.start = start  # with `end`: its lines in the document, end exclusive
        self.end = start + len(lines)
        # of an item, the label that governs it; of a label, itself. A label is named by its first line
        self.label: int | None = None
        self.lines = lines  # its text
        self.size = size  # how much that takes


class Segments:
    """What a document is cut into, and what any two segments need between them."""

    __slots__ = ("_between", "_cuts", "_found", "_lines", "_units", "date_lines", "notes", "room")

    def __init__(self, lines: list[str], found: "Outline", room: Room) -> None:
        self._lines = lines
        self._found = found
        self._cuts: dict[tuple[int, int], list[Segment]] = {}
        self._units: dict[int, list[Segment]] = {}
        self._between: dict[tuple[int, ...], tuple[list[str], Size]] = {}
        self.date_lines = entries.date_lines(found)
        notes = entries.notes_of(lines, found, lines)
        self.notes = {one.start for one in notes if markdown.footnote_name(lines[one.start])}
        self.room = room

    @property
    def title(self) -> list[Segment]:
        """The file's first heading, or nothing."""
        return self._cut(self._found.headings[0]) if self._found.headings else []

    def of(self, unit: "Entry | IndexLine") -> list[Segment]:
        """Return an entry's blocks, and those of the headings, the label and the date line that govern it."""
        segments = self._units.get(unit.start)
        if segments is None:
            segments = [one for index in unit.headings for one in self._cut(self._found.headings[index])]
            if dating := self.date_lines.get(getattr(unit, "dated_by", -1)):
                segments += self._cut(dating)
            own = self._cut(unit)
            if unit.label is not None:
                above = self._cut(self._found.labels[unit.label])
                for segment in (*above, *own):
                    segment.label = unit.label
                segments += above
            segments = self._units[unit.start] = segments + own
            if self.notes:
                said = [line for segment in segments for line in segment.lines]
                segments += [
                    one for note in entries.notes_of(self._lines, self._found, said) for one in self._cut(note)
                ]
        return segments

    def beginning(self, unit: "Entry | IndexLine", count: int) -> list[Segment]:
        """Return the same with only so many first lines of the entry; a fence that this leaves open is closed."""
        end = unit.start + count
        closing = markdown.close_fence(self._lines[unit.start : end])[count:]
        segments = []
        for segment in self.of(unit):
            if segment.start < end < segment.end:
                lines = [*segment.lines[: end - segment.start], *closing]
                part = Segment(segment.block, segment.place, segment.start, lines, self.room.size_of(lines))
                part.label = segment.label
                segments.append(part)
            elif segment.end <= end:
                segments.append(segment)
        return segments

    def _cut(self, span: "Entry | IndexLine | Heading | Label") -> list[Segment]:
        segments = self._cuts.get((span.start, span.end))
        if segments is None:
            segments = self._cuts[span.start, span.end] = []
            blocks = self._found.blocks
            place = bisect_right(blocks, span.start, key=lambda block: block.start) - 1
            while place < len(blocks) and blocks[place].start < span.end:
                start, end = max(blocks[place].start, span.start), min(blocks[place].end, span.end)
                lines = self._lines[start:end]
                segments.append(Segment(blocks[place], place, start, lines, self.room.size_of(lines)))
                place += 1
        return segments

    def between(self, above: Segment, below: Segment) -> tuple[list[str], Size]:
        """Return the lines that two segments need between them, and how much these take."""
        key = (above.start, above.end, below.start, below.end)
        needed = self._between.get(key)
        if needed is None:
            lines = _lines_between(above, below)
            needed = self._between[key] = lines, self.room.size_of(lines)
        return needed


class Sheet:
    """What of a document is given so far, and how much it takes."""

    __slots__ = ("_among", "_starts", "segments", "size")

    def __init__(self, segments: Segments) -> None:
        """Begin with the title alone."""
        self.segments = segments
        self._starts: list[int] = []
        self._among: dict[int, Segment] = {}
        self.size = Size(0, 0, 0)
        self.put(segments.title)

    def put(self, segments: "Iterable[Segment]") -> list[Segment]:
        """Put these in their places; return those that were not there yet."""
        new = []
        # In file order, what goes between two others is seldom, and what each two need between them is told once.
        for segment in sorted(segments, key=lambda segment: segment.start):
            if segment.start in self._among:
                continue
            new.append(segment)
            position = bisect_right(self._starts, segment.start)
            self.size += segment.size + self._around(position, segment)
            self._starts.insert(position, segment.start)
            self._among[segment.start] = segment
        return new

    def take_back(self, segments: "Iterable[Segment]") -> None:
        """Take out what `put` has put."""
        for segment in segments:
            position = bisect_right(self._starts, segment.start) - 1
            del self._starts[position], self._among[segment.start]
            self.size -= segment.size + self._around(position, segment)

    def put_if_it_fits(self, segments: "Sequence[Segment]", note: Size) -> bool:
        """Put these in their places if there is room for them and for a note of that size. Says whether there is."""
        room = self.segments.room
        least = self.size + note
        for segment in {segment.start: segment for segment in segments}.values():
            if segment.start not in self._among:
                least += segment.size
        if not room.has(least):
            return False  # without looking for what is needed between them
        new = self.put(segments)
        if room.has(self.size + note):
            return True
        self.take_back(new)
        return False

    def left(self, note: Size) -> int:
        """Return how many characters one more line may have, at most, beside a note of that size."""
        room, taken = self.segments.room, self.size + note
        return -1 if taken.lines >= room.lines else min(room.size - taken.bytes, room.characters - taken.characters)

    def has(self, start: int) -> bool:
        """Say whether the segment that begins with this line is on the sheet."""
        return start in self._among

    def text(self) -> list[str]:
        """Return the lines of the sheet."""
        text: list[str] = []
        above = None
        for start in self._starts:
            segment = self._among[start]
            if above is not None:
                text += self.segments.between(above, segment)[0]
            text += segment.lines
            above = segment
        return text

    def _around(self, position: int, segment: Segment) -> Size:
        """Return how much more is needed around a segment that goes between two others, before and at a position."""
        above = self._among[self._starts[position - 1]] if position else None
        below = self._among[self._starts[position]] if position < len(self._starts) else None
        more = NOTHING
        if above is not None:
            more += self.segments.between(above, segment)[1]
        if below is not None:
            more += self.segments.between(segment, below)[1]
        if above is not None and below is not None:
            more -= self.segments.between(above, below)[1]
        return more


def _lines_between(above: Segment, below: Segment) -> list[str]:
    if above.end == below.start or above.place == below.place:
        return []
    apart = ["", KEEPER, ""]
    is_torn = above.end < above.block.end or below.start > below.block.start
    was_between = is_torn or below.place > above.place + 1  # more than blank lines
    if was_between and _misleads(above, below):
        return apart
    if (_is_plain(above) and _is_plain(below)) or _keeps_blocks(above, [], below):
        return []
    return apart if was_between and not _keeps_blocks(above, [""], below) else [""]


def _misleads(above: Segment, below: Segment) -> bool:
    """Say whether an item would seem to be under a label that is not its own."""
    if below.block.kind != markdown.ITEM:
        return False
    governing = above.label
    if governing is None and above.block.kind == markdown.PARAGRAPH:
        governing = above.start if is_label(label_in(above.lines)) else None
    return governing != below.label


def _is_plain(segment: Segment) -> bool:
    """Say whether a segment is what most are: a bullet or a `#` heading that ends, and begins, what is beside it."""
    first, *others = segment.lines
    if segment.start > segment.block.start or segment.end < segment.block.end:
        return False
    if segment.block.kind == markdown.HEADING:
        return first[0] == "#" and not others
    is_bullet = segment.block.kind == markdown.ITEM and first[:2] == "- " and markdown.is_plain_item(first)
    return is_bullet and all(line[:2] == "  " and line[2:3].isalpha() for line in others)


def _keeps_blocks(above: Segment, between: list[str], below: Segment) -> bool:
    """Say whether two segments stay the blocks they are with these lines between them."""
    blocks = entries.blocks_of([*above.lines, *between, *below.lines])
    lines = len(above.lines)
    return list(map(_facts, blocks)) == [_facts_at(above, 0), _facts_at(below, lines + len(between))]


def _facts(block: "Block") -> tuple[str | int, ...]:
    return block.kind, block.level, block.column, block.closed, block.start, block.end, block.paragraph_end


def _facts_at(segment: Segment, start: int) -> tuple[str | int, ...]:
    """Return what there is to know of a segment that begins at a line."""
    block, end = segment.block, start + len(segment.lines)
    paragraph_end = min(block.paragraph_end - block.start + start, end)
    return block.kind, block.level, block.column, block.closed, start, end, paragraph_end

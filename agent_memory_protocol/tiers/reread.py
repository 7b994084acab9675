"""Read a text again from where it differs from one that was read before: nothing above that is read a second time."""

from bisect import bisect_left
from typing import Protocol

from ..limits import count_lines, same_lines, split_lines_with_ends
from ..text import headers, markdown, markers
from ..text.markdown import Block
from . import entries
from .entries import Entry, Heading, IndexLine, Outline


class Before(Protocol):
    """What was read of the earlier text."""

    @property
    def raw(self) -> tuple[str, ...]:
        """Its lines, each with its ending."""

    @property
    def lines(self) -> list[str]:
        """The same without endings."""

    @property
    def begin(self) -> int:
        """How many of them the front matter takes."""

    @property
    def outline(self) -> Outline:
        """What is in them."""


Again = tuple[tuple[str, ...], list[str], Outline]
"""The lines of the later text, the same without endings, and what is in them."""


def after(earlier: bytes, old: Before, later: bytes) -> Again | None:
    """Read what is behind the lines that two texts begin with; None if the later one must all be read."""
    if not old.outline.is_scanned or markers.CONFLICT in earlier or markers.CONFLICT in later:
        return None
    same = same_lines(earlier, later)
    try:
        behind = split_lines_with_ends(later[same:].decode())
    except UnicodeDecodeError:
        return None  # reading all of it says which line that is
    count = count_lines(later[:same])
    lines = [*old.lines[:count], *(line.rstrip("\r\n") for line in behind)]
    found = _outline_after(old.outline, lines, count) if headers.front_matter_end(lines) == old.begin else None
    return None if found is None else ((*old.raw[:count], *behind), lines, found)


def _outline_after(old: Outline, lines: list[str], same: int) -> Outline | None:
    """Find what is in lines of which so many are as they were in an older outline; None if it must all be read.

    The blocks of the old ones were found by `markdown.scan`. It goes on at an item that follows an item, both with
    bullets: nothing before it depends on what is behind it.
    """
    blocks = old.blocks
    position = bisect_left(blocks, same, key=_start) - 1
    while position > 0 and not (_is_bullet(lines, blocks[position - 1]) and _is_bullet(lines, blocks[position])):
        position -= 1
    if position <= 0:
        return None
    at, before = blocks[position].start, blocks[position - 1].start
    behind = markdown.scan(lines, at)
    if behind is None:
        return None
    found = Outline([*blocks[:position], *behind])
    found.is_scanned = True
    found.entries = old.entries[: bisect_left(old.entries, at, key=_start)]
    found.index_lines = old.index_lines[: bisect_left(old.index_lines, at, key=_start)]
    found.headings = old.headings[: bisect_left(old.headings, at, key=_start)]
    found.labels = {start: one for start, one in old.labels.items() if start < at}
    units: list[Entry | IndexLine] = [*found.entries[-1:], *found.index_lines[-1:]]
    unit = next(one for one in units if one.start == before)
    label = None if unit.label is None else found.labels[unit.label]
    found = entries.go_on(found, lines, position, unit.headings, label)
    return found if found.title is old.title else None


def _start(one: Block | Heading | Entry | IndexLine) -> int:
    return one.start


def _is_bullet(lines: list[str], block: Block) -> bool:
    return block.kind == markdown.ITEM and not lines[block.start].lstrip(" \t")[:1].isdigit()

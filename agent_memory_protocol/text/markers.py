"""Markers: lines that a tool or git puts around a part of a Markdown text, told from samples of them.

A marker of ours counts only as a comment of its own at the top level (decision 48): in a fence, a list item or a
sentence it is a sample. Those of git count only where git writes them: at the margin, in order, outside code.
"""

from . import headers, markdown

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from .markdown import Block

INDEX = ("<!-- amp:index -->", "<!-- /amp:index -->")  # The markers around the lines of notes that amp keeps up to date

CONFLICT = b"<<<<<<<"
"""What a file with a merge conflict holds somewhere; most that hold it have none."""

_CODE = (markdown.FENCE, markdown.CODE)


class Pairs:
    """The pairs of one kind of marker in a text."""

    __slots__ = ("spans", "stray")

    def __init__(self, spans: tuple[tuple[int, int], ...], stray: int | None) -> None:
        self.spans = spans  # the lines of each pair, markers included, from 0, end exclusive
        self.stray = stray  # the line of the first marker that belongs to no pair, from 0; None if all do


def pairs(lines: list[str], opening: str, closing: str) -> Pairs:
    """Find the pairs of markers in the lines of a whole text, which come without their endings."""
    if not any(opening in line or closing in line for line in lines):
        return Pairs((), None)
    spans: list[tuple[int, int]] = []
    opened: int | None = None
    stray: int | None = None
    for block in _top_level(lines):
        text = lines[block.start].strip(" \t")
        if block.kind != markdown.COMMENT or text not in (opening, closing):
            continue
        if (text == opening) == (opened is None):
            if opened is not None:
                spans.append((opened, block.end))
            opened = block.start if opened is None else None
        elif stray is None:
            stray = block.start
    return Pairs(tuple(spans), opened if stray is None else stray)


def conflict_line(lines: list[str]) -> int | None:
    """Return the line, from 1, where the markers of a merge conflict begin; None without any."""
    found = conflict_lines(lines)
    return found[0] + 1 if found else None


def conflict_lines(lines: list[str], blocks: "Sequence[Block] | None" = None) -> list[int]:
    """Return the lines, from 0, of merge conflicts that are on neither side: markers, and what was before both."""
    found: list[int] = []
    opened = base = parted = None
    code = None
    for number, line in enumerate(lines):
        if _is_mark(line, "<"):
            if code is None:
                known = _top_level(lines) if blocks is None else blocks
                code = {at for block in known if _is_code(block, lines) for at in range(block.start, block.end)}
            # The others may be in code where this one is not: one side of a conflict may open a fence.
            opened, base, parted = (None if number in code else number), None, None
        elif opened is not None and parted is None and _is_mark(line, "|"):
            base = number
        elif opened is not None and line == "=======":
            parted = number
        elif opened is not None and parted is not None and _is_mark(line, ">"):
            found += [opened, *range(parted if base is None else base, parted + 1), number]
            opened = None
    return found


def _is_code(block: "Block", lines: list[str]) -> bool:
    return block.kind in _CODE or (block.kind == markdown.HTML and lines[block.start].lstrip()[:4].lower() == "<pre")


def _is_mark(line: str, character: str) -> bool:
    return line.startswith(character * 7) and line[7:8] in ("", " ")


def _top_level(lines: list[str]) -> "Sequence[Block]":
    begin = headers.front_matter_end(lines)
    blocks = markdown.scan(lines, begin)
    if blocks is None:
        from . import referee

        blocks = referee.find_blocks(lines, begin)
    return blocks

"""The index: one line for each note of a folder, in the folder's tier file (decision 29).

A line that a person wrote is a person's and is never changed. The block between two markers, under `## Notes` at the
end, holds the lines of the notes that are named nowhere else. Building it again gives the same bytes. Where the markers
do not say for certain what lies between them, nothing is built (decision 48).
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from unicodedata import normalize

from ..limits import split_lines_with_ends
from ..text import links, markdown, markers, visible
from .note import Head, title_of

OPENING = "<!-- amp:index -->"
CLOSING = "<!-- /amp:index -->"
HEADING = "## Notes"
LINE_WIDTH = 150
_LEFT_OUT = re.compile(r"- \d+ more notes are not listed; `amp note list[^`]*` lists them")
_NEVER_ENDS = (
    "a fence, comment or HTML in it never ends, and an index would be a part of that; close it, then run `amp index`"
)
_MEND = f"leave `{OPENING}` and `{CLOSING}` once each, in this order, and run `amp index`"
SCREEN = 50
"""An index of more lines than this is no longer read at a glance (decision 30)."""


@dataclass(frozen=True, slots=True)
class NoteLine:
    """A line of the index: where it stands (from 1), the note it links to, whether the block holds it, its text."""

    line: int
    file: str
    in_block: bool
    text: str


@dataclass(frozen=True, slots=True)
class Index:
    """What a tier file says of the notes beside it.

    Attributes:
        lines: its index lines, in file order.
        mentioned: the file names it mentions outside the block in any form.
        blocks: the lines of the block, markers included, from 0, end exclusive; two where a merge has left both sides'.
        typed: the lines between the markers, from 0, that no index was ever made of: a person or agent put them there.
        separator: what stands before the hooks, in most lines.
        problem: why no index can be built, "" where one can; `problem_line` says where, from 1.
    """

    lines: tuple[NoteLine, ...]
    mentioned: frozenset[str]
    blocks: tuple[tuple[int, int], ...]
    typed: tuple[int, ...]
    separator: str
    problem: str = ""
    problem_line: int | None = None

    @property
    def files(self) -> set[str]:
        """The notes that have a line, or are named somewhere."""
        return {line.file for line in self.lines} | set(self.mentioned)


@dataclass(frozen=True, slots=True)
class Built:
    """A tier file's text with its block as it should be, how many notes had no room in it, and why it is as it was."""

    text: str
    unlisted: int
    problem: str = ""


@lru_cache(maxsize=4)
def read(text: str) -> Index:
    """Find the index in a tier file's text. A watcher mostly asks of what it has just written itself."""
    shown = links.visible_lines(text)
    all_lines = [line.rstrip("\r\n") for line in split_lines_with_ends(text)]
    marked = markers.pairs(all_lines, OPENING, CLOSING)
    blocks = marked.spans if marked.stray is None else ()
    typed = [number for block in blocks for number in _typed(all_lines, shown, block)]
    made = {number for start, end in blocks for number in range(start, end)}.difference(typed)
    lines = []
    outside = []
    for number, line in enumerate(shown):
        in_block = number in made
        if not in_block:
            outside.append(line)
        bare = line.strip(" \t")
        width = markdown.marker_width(bare) if bare and len(line) - len(line.lstrip(" ")) < 4 else 0
        file = links.note_target(bare[width:].lstrip(" \t")) if width else ""
        if file:
            lines.append(NoteLine(number + 1, key(file), in_block, bare[width:].lstrip(" \t")))
    counts: dict[str, int] = {}
    for found in lines:
        separator = "" if found.in_block else links.separator_of(found.text)
        if separator:
            counts[separator] = counts.get(separator, 0) + 1
    best = max(counts, key=lambda separator: counts[separator], default=" - ")
    mentioned = frozenset(map(key, links.mentioned_notes(outside)))
    if marked.stray is not None:
        return Index(
            tuple(lines), mentioned, (), (), best, f"this index marker has no partner; {_MEND}", marked.stray + 1
        )
    if len(blocks) > 1 and typed:
        problem = f"one of {len(blocks)} index blocks holds what no index has; {_MEND}"
        return Index(tuple(lines), mentioned, blocks, tuple(typed), best, problem, typed[0] + 1)
    return Index(tuple(lines), mentioned, blocks, tuple(typed), best)


def _typed(lines: Sequence[str], shown: Sequence[str], block: tuple[int, int]) -> list[int]:
    """Return the lines between two markers that no index was made of; an index line that goes on is one of them."""
    left = []
    for number in range(block[0] + 1, block[1] - 1):
        is_line = shown[number].startswith("- ") and bool(links.note_target(shown[number][2:]))
        goes_on = bool(lines[number + 1].strip(" \t")) and not lines[number + 1].startswith(("- ", "<!--"))
        if not (is_line or _LEFT_OUT.fullmatch(shown[number])) or goes_on:
            left.append(number)
    while left and not lines[left[0]].strip(" \t"):
        del left[0]
    while left and not lines[left[-1]].strip(" \t"):
        del left[-1]
    return left


def build(
    text: str,
    index: Index,
    files: Mapping[str, str],
    heads: Mapping[str, Head],
    *,
    max_lines: int,
    max_bytes: int,
    more: str,
) -> Built:
    """Return the tier file's text with its block brought up to date.

    Args:
        text: the tier file.
        index: what `read` finds in it.
        files: the notes of the folder, as `by_key` gives them.
        heads: for each of them, by file name, what its line is made from.
        max_lines: the limit of the tier file, which binds the index too.
        max_bytes: the other limit.
        more: the command that lists all notes, for the line that says how many had no room.
    """
    if index.problem:
        return Built(text, 0)
    unlisted = _in_order(index, files)
    raw = split_lines_with_ends(text)
    newline = raw[0][len(raw[0].rstrip("\r\n")) :] if raw else ""
    newline = newline or "\n"
    before, after = _around_blocks(raw, index, newline)
    without = "".join([*before, *_heading_for_rest(before, after, newline), *after]) if index.blocks else text
    if not unlisted:
        return Built(without, 0)
    if before and not before[-1].endswith(("\n", "\r")):
        before[-1] += newline
    frame = [*_heading_for(before, newline), OPENING + newline, newline]
    tail = [newline, CLOSING + newline]
    room_lines = max_lines - len(before) - len(frame) - len(tail) - len(after)
    room_bytes = max_bytes - sum(len(line.encode()) for line in [*before, *frame, *tail, *after])
    lines, left = _fill(unlisted, heads, index.separator, newline, room_lines, room_bytes, more)
    if not lines:
        return Built(without, left)
    built = "".join([*before, *frame, *lines, *tail, *after])
    return Built(built, left) if len(read(built).blocks) == 1 else Built(text, left, _NEVER_ENDS)


def _fill(
    files: Sequence[str],
    heads: Mapping[str, Head],
    separator: str,
    newline: str,
    room_lines: int,
    room_bytes: int,
    more: str,
) -> tuple[list[str], int]:
    """Return the lines of as many notes as there is room for, and how many are left."""
    lines = []
    sizes = 0
    for file in files[: max(room_lines, 0) + 1]:
        head = heads[file]
        line = f"- {_line(title_of(file, head), file, head.description, separator)}{newline}"
        lines.append(line)
        sizes += len(line.encode())
    if len(lines) == len(files) and len(lines) <= room_lines and sizes <= room_bytes:
        return lines, 0
    while lines:
        sizes -= len(lines.pop().encode())
        left = len(files) - len(lines)
        note = f"- {left} more notes are not listed; `{more}` lists them{newline}"
        if len(lines) + 1 <= room_lines and sizes + len(note) <= room_bytes:
            return [*lines, note], left
    return [], len(files)


@lru_cache(maxsize=1_000)
def _line(title: str, file: str, hook: str, separator: str) -> str:
    """Return a note's line. A watcher makes all lines of an index anew for each note that changes."""
    # A header may spell a character that nobody sees, and the tier file may not hold it.
    return links.index_line(visible.show_invisible(title), file, visible.show_invisible(hook), separator, LINE_WIDTH)


def _in_order(index: Index, files: Mapping[str, str]) -> list[str]:
    """Return the notes for the block: lines that stand there keep their order, new ones follow by name."""
    left = dict(files)
    for file in index.mentioned:
        left.pop(file, None)
    standing = [left.pop(line.file) for line in index.lines if line.in_block and line.file in left]
    return [*standing, *sorted(left.values())]


def _around_blocks(raw: list[str], index: Index, newline: str) -> tuple[list[str], list[str]]:
    """Return the lines before and after the block, its own heading and the blank lines it brought taken off.

    A merge may have left two blocks. One is enough, where the last of them stands. What somebody has put between the
    markers follows them.
    """
    before: list[str] = []
    position = 0
    blocks = index.blocks
    for start, end in blocks or [(len(raw), len(raw))]:
        between = raw[position:start]
        if before and between and between[0].strip():
            before.append(newline)
        before += between
        _drop_blanks(before)
        if blocks and before and before[-1].strip() == HEADING:
            before.pop()
            _drop_blanks(before)
        position = end
    typed = [raw[number] for number in index.typed]
    after = raw[position:]
    if typed:
        typed = [newline, *typed, *([newline] if after and after[0].strip() else [])]
    return before, [*typed, *after]


def _drop_blanks(lines: list[str]) -> None:
    while lines and not lines[-1].strip():
        lines.pop()


def _heading_for(before: list[str], newline: str) -> list[str]:
    blank = [newline] if before else []
    return [*blank, HEADING + newline, newline]


def _heading_for_rest(before: list[str], after: Sequence[str], newline: str) -> list[str]:
    """Return the heading of a block that goes, if what follows it stands under that heading; else nothing."""
    first = next((line for line in after if line.strip()), "#")
    return [] if first.startswith("#") else _heading_for(before, newline)[: None if after[0].strip() else -1]


def key(file: str) -> str:
    """Return what makes two spellings the same file: a link in NFC finds a file in NFD."""
    return file if file.isascii() else normalize("NFC", file)


def by_key(files: Iterable[str]) -> dict[str, str]:
    """Return files by what makes two spellings the same."""
    return {file if file.isascii() else key(file): file for file in files}

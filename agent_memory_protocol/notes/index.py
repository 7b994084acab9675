"""The index: one line for each note of a folder, in the folder's tier file (decision 29).

A line that a person wrote is a person's and is never changed. The block between two markers, under `## Notes` at the
end, holds the lines of the notes that are named nowhere else. Lines that have no room there are in `INDEX.md`, then
`INDEX-2.md`, to which the last line of the block leads (decision 44). Building it again gives the same bytes. Where the
markers do not say for certain what lies between them, nothing is built (decision 48).
"""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import lru_cache
from types import MappingProxyType
from unicodedata import normalize

from ..limits import split_lines_with_ends
from ..text import links, markdown, markers, visible
from ..values import dataclass
from .note import Head, title_of

OPENING, CLOSING = markers.INDEX
HEADING = "## Notes"
LINE_WIDTH = 150
_LEFT_OUT = re.compile(r"- \d+ more notes are not listed; `amp note list[^`]*` lists them")
_NEVER_ENDS = (
    "a fence, comment or HTML in it never ends, and an index would be a part of that; close it, then run `amp index`"
)
_SIGNS = ("](", "[[", ".md", "`", "<!--")  # Without any of these a text neither has an index nor names a note
_MEND = f"leave `{OPENING}` and `{CLOSING}` once each, in this order, and run `amp index`"
TITLE = "# More notes\n"
"""How a file for surplus lines begins."""
_FRAME_LINES = 7
_FRAME_BYTES = 200
_NAMED = 20  # So many of the other notes the last line of a block may name, as far as its width allows
SCREEN = 50  # An index of more lines than this is no longer read at a glance (decision 30)


@dataclass(frozen=True, slots=True)
class NoteLine:
    """A line of the index: where it is (from 1), the note it links to, whether the block holds it, its text."""

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
        separator: what is before the hooks, in most lines.
        problem: why no index can be built, "" if one can; `problem_line` says where, from 1.
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
    """A tier file's text with its block as it should be, and the files for the lines that have no room in it."""

    text: str
    beside: tuple[str, ...] = ()  # the text of `INDEX.md`, `INDEX-2.md` and so on; empty where they are not needed
    surplus: int = 0  # how many notes only they list
    problem: str = ""  # why the tier file is as it was, "" if it has its block


@lru_cache(maxsize=256)
def read(text: str) -> Index:
    """Find the index in a text of a tier file, or of one beside it; 10,000 notes take 50 of these."""
    if not any(sign in text for sign in _SIGNS):
        return Index((), frozenset(), (), (), " - ")
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
    files: Mapping[str, str],
    heads: Mapping[str, Head],
    *,
    max_lines: int,
    max_bytes: int,
    beside: Sequence[str] = (),
    standing: Mapping[str, str] = MappingProxyType({}),
) -> Built:
    """Return the tier file's text with its block brought up to date, and the files for what has no room there.

    `files` are the notes that are to have a line, as `by_key` gives them, `heads` what each line is made from, and
    `beside` the texts of `INDEX.md` and so on. The limits hold for each of these files. `standing` are lines that stay.
    """
    if read(text).problem:
        return Built(text, tuple(beside), problem=read(text).problem)
    unlisted = _in_order([read(one) for one in (text, *beside)], files)
    separator = read(text).separator

    def line_of(file: str, head: Head) -> str:
        return f"- {standing.get(file) or _line(title_of(file, head), file, head.description, separator)}"

    lines = [line_of(file, heads[file]) for file in unlisted]
    by_hand = [one for one in map(_without_block, beside) if one != TITLE]
    theirs = [line.file for one in by_hand for line in read(one).lines]

    def more(left: int) -> str:
        """Return the line that leads to the others, where some are left or a person has listed some there."""
        others = [*unlisted[len(unlisted) - left :], *theirs]
        if not others:
            return ""
        names = ", ".join(title_of(file, heads.get(file, Head())) for file in others[:_NAMED])
        title = f"{len(others)} more note{'' if len(others) == 1 else 's'}"
        return f"- {_line(title, beside_name(1), names, separator)}"

    made, count = _with_block(text, lines, max_lines, max_bytes, more)
    if count < 0:
        return Built(text, tuple(beside), problem=_NEVER_ENDS)
    kept = [one or TITLE for one in by_hand]
    number, surplus = 0, lines[count:]
    while count < len(lines) or number < len(kept):
        number += 1
        own = kept[number - 1] if number <= len(kept) else TITLE
        following = number + 1

        def next_one(left: int, following: int = following) -> str:
            wanted = left or following <= len(kept)
            return f"- [More notes]({beside_name(following)})" if wanted else ""

        page, taken = _with_block(own, lines[count:], max_lines, max_bytes, next_one, heading="")
        if taken < 1 and own == TITLE:
            break  # not even one line fits
        count += max(taken, 0)
        kept[number - 1 : number] = [page]
    return Built(made, tuple(kept), len(surplus))


def _with_block(
    text: str,
    lines: Sequence[str],
    max_lines: int,
    max_bytes: int,
    more: Callable[[int], str],
    *,
    heading: str = HEADING,
) -> tuple[str, int]:
    """Return a text with a block of as many of these lines as fit, and their number; -1 where it can have no block.

    `more` gives the last line of the block where so many are left out; "" if it needs none.
    """
    index = read(text)
    if index.problem:
        return text, 0
    raw = split_lines_with_ends(text)
    newline = raw[0][len(raw[0].rstrip("\r\n")) :] if raw else ""
    newline = newline or "\n"
    before, after = _around_blocks(raw, index, newline)
    rest = _heading_for_rest(before, after, newline) if heading else []
    bare = "".join([*before, *rest, *after]) if index.blocks else text
    if before and not before[-1].endswith(("\n", "\r")):
        before[-1] += newline
    opening = _heading_for(before, newline) if heading else [newline]
    frame = [*before, *opening, OPENING + newline, newline, newline, CLOSING + newline, *after]
    room_lines = max_lines - len(frame)
    room_bytes = max_bytes - sum(len(line.encode()) for line in frame)
    count = min(len(lines), max(room_lines, 0))
    sizes = [len(line.encode()) + len(newline) for line in lines[:count]]
    while count >= 0:
        last = more(len(lines) - count)
        size = sum(sizes[:count]) + (len(last.encode()) + len(newline) if last else 0)
        if count + bool(last) <= room_lines and size <= room_bytes:
            break
        count -= 1
    if count < 0 or not (count or last):
        return bare, 0
    inside = [line + newline for line in [*lines[:count], *filter(None, [last])]]
    built = "".join([*before, *opening, OPENING + newline, newline, *inside, newline, CLOSING + newline, *after])
    return (built, count) if len(read(built).blocks) == 1 else (text, -1)


def _without_block(text: str) -> str:
    """Return what a person has in a file of surplus lines: its text without its block."""
    return _with_block(text, (), 0, 0, lambda _: "")[0]


def told(text: str) -> str:
    """Return the line by which recall names the notes in `INDEX.md`, given its text; "" if it lists none."""
    files = [line.file for line in read(text).lines if not is_beside(line.file)]
    if not files:
        return ""
    more = " and more" if beside_name(2) in text or len(files) > _NAMED else ""
    names = ", ".join(title_of(file, Head()) for file in files[:_NAMED])
    count = f"{len(files)} more notes are" if len(files) > 1 else "1 more note is"
    return f"({count} listed in {beside_name(1)} next to this file: {visible.show_invisible(names)}{more})"


def beside_name(number: int) -> str:
    """Return the name of a file for surplus lines, from 1."""
    return "INDEX.md" if number == 1 else f"INDEX-{number}.md"


def is_beside(name: str) -> bool:
    """Say whether a file is reserved for surplus lines of an index, so that it is not a note."""
    number = name[5:-3]
    return name[:5] == "INDEX" and name[-3:] == ".md" and (not number or (number[0] == "-" and number[1:].isdigit()))


def add_lines(beside: Sequence[str], lines: Sequence[tuple[str, str]], max_lines: int, max_bytes: int) -> list[str]:
    """Return the texts of `INDEX.md` and so on with lines that a person wrote, each below what it was under."""
    texts = [_without_block(one) for one in beside] or [TITLE]
    there = {line for one in texts for line in one.split("\n")}
    for above, line in lines:
        if line.split("\n")[0] in there:
            continue
        added = _joined_to(texts[-1], above, line)
        # Room is left for the line that leads to the next file.
        if (
            len(split_lines_with_ends(added)) + _FRAME_LINES > max_lines
            or len(added.encode()) + _FRAME_BYTES > max_bytes
        ):
            texts.append(_joined_to(TITLE, above, line))
        else:
            texts[-1] = added
    return texts


def _joined_to(text: str, above: str, line: str) -> str:
    """Return a text with a line at its end, under what it was under."""
    start = text.rfind(f"\n{above}\n") if above else 0
    under = text[start:].removeprefix(f"\n{above}\n").removeprefix(TITLE) if start >= 0 else "-"
    if start >= 0 and all(one[:1] in ("", "-", "*", "+", " ") for one in under.split("\n")):
        return f"{text}{line}\n" if under.strip() else f"{text.rstrip()}\n\n{line}\n"
    return f"{text.rstrip()}\n\n{above or HEADING}\n\n{line}\n"


@lru_cache(maxsize=1 << 14)
def _line(title: str, file: str, hook: str, separator: str) -> str:
    """Return a note's line. A watcher makes all lines of an index again for each note that changes."""
    # A header may spell a character that nobody sees, and the tier file may not hold it.
    return links.index_line(visible.show_invisible(title), file, visible.show_invisible(hook), separator, LINE_WIDTH)


def _in_order(indexes: Sequence[Index], files: Mapping[str, str]) -> list[str]:
    """Return the notes for the blocks: lines that are there keep their order, new ones follow by name."""
    left = dict(files)
    for one in indexes:
        for file in one.mentioned:
            left.pop(file, None)
    standing = [left.pop(line.file) for one in indexes for line in one.lines if line.in_block and line.file in left]
    return [*standing, *sorted(left.values())]


def _around_blocks(raw: list[str], index: Index, newline: str) -> tuple[list[str], list[str]]:
    """Return the lines before and after the last block, without its own heading and the blank lines it brought.

    A merge may have left two blocks. What somebody has put between the markers follows them.
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
    """Return the heading of a block that goes, if what follows it is under that heading; else nothing."""
    first = next((line for line in after if line.strip()), "#")
    return [] if first.startswith("#") else _heading_for(before, newline)[: None if after[0].strip() else -1]


def key(file: str) -> str:
    """Return what makes two spellings the same file: a link in NFC finds a file in NFD."""
    return file if file.isascii() else normalize("NFC", file)


def by_key(files: Iterable[str]) -> dict[str, str]:
    """Return files by what makes two spellings the same."""
    return {file if file.isascii() else key(file): file for file in files}

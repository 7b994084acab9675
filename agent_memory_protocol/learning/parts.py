"""A text that is too long for one note becomes a note in parts, each within the limits (decision 44).

The first part, `STEM.md`, keeps the header and names the others, `STEM.2.md` and so on. Where a part begins in the
middle of a section or of a list with a label, that heading and label are above it again.
"""

import re
from bisect import bisect_right
from collections.abc import Callable, Iterator, Sequence
from itertools import accumulate

from ..limits import over_limits, split_lines
from ..notes import note as notes
from ..text import links, markdown
from ..text.headers import front_matter_end
from ..text.ids import id_of_proposal
from ..text.language import plain
from ..text.phrases import beginning
from ..tiers import document
from ..tiers.entries import Entry, Heading, IndexLine

_FRAME_LINES = 18
_FRAME_BYTES = 1_400  # What a part's header, Why, How and the names of other parts may take of its limits

_LONGEST_TITLE = 120
_LONGEST_SLUG = 60
_TRIES = 4
_NUMBER = re.compile(r"^\d+(?:\.\d+)*[.)]\s+")  # what a heading is counted with

_FRONT = re.compile(r"\s*(?:[-*+]|\d+[.)])\s+")  # what an item begins with
_LINK = re.compile(r"\[([^]]*)\]\([^)]*\)")
_HUMP = re.compile(r"(?<=[a-z])(?=[A-Z])")  # where a word of a name in camel case begins

_Cut = Callable[[list[str]], list[list[str]]]


def in_parts(stem: str, text: str, source: str, max_lines: int, max_bytes: int) -> dict[str, str]:
    """Return a text as a note, or the parts of one: their texts by file name, the first `STEM.md`.

    `source` is its file.
    """
    lines = split_lines(text)
    begin = front_matter_end(lines)
    header = lines[:begin]
    longest = max((max_bytes - _FRAME_BYTES) // 2, 100)
    body = _Body([piece for line in lines[begin:] for piece in _pieces(line, longest)])
    title = plain(next((one.text for one in body.outline.headings), "")) or " ".join(
        one if one.isupper() else one.lower() for one in _words(source[:-3])
    )
    spare = len("\n".join(header).encode())
    for _ in range(_TRIES):
        spans = body.spans(max_lines - _FRAME_LINES - len(header), max_bytes - _FRAME_BYTES - spare)
        made = _named(stem, header, body, spans, title, source)
        if not any(over_limits(one.encode(), max_lines, max_bytes) for one in made.values()):
            break
        spare += max_bytes // 8
    return made


def slug_of(text: str) -> str:
    """Return a text as part of a note's file name. One that is cut ends in a few digits that only it has."""
    slug = "-".join(_words(text)).lower()
    if len(slug) > _LONGEST_SLUG:
        slug = f"{slug[: _LONGEST_SLUG - 9].rstrip('-')}-{id_of_proposal(text)}"
    return slug or "memory"


def _words(text: str) -> list[str]:
    """Return the words of a name: `activeContext` and `active_context` have two."""
    spaced = _HUMP.sub(" ", text)
    return "".join(character if character.isascii() and character.isalnum() else " " for character in spaced).split()


def _named(
    stem: str, header: Sequence[str], body: "_Body", spans: Sequence[tuple[int, int]], title: str, source: str
) -> dict[str, str]:
    """Return the parts by file name, the first with the header that there was, and the names of the others."""
    names = [f"{stem}.md", *(f"{stem}.{number}.md" for number in range(2, len(spans) + 1))]
    others = ", ".join(f"[{name}]({links.target(name)})" for name in names[1:])
    found = {}
    for number, (name, span) in enumerate(zip(names, spans, strict=True), start=1):
        of = f" ({number} of {len(spans)})" if len(spans) > 1 else ""
        told = _about(f"{title}{of}", title, body.headings(*span), body.begins(*span))
        own = "\n".join(header) if header and number == 1 else _header(name, told)
        said = "\n\n".join(
            filter(None, [body.text(*span), f"It goes on in {others}." if others and number == 1 else ""])
        )
        found[name] = f"{own}\n\n{_with_reason(said, title, source)}\n"
    return found


def _about(told: str, title: str, headings: Sequence[Heading], begins: str) -> str:
    """Return what is told of a part, and what its sections are called, or how it begins if it has none.

    By that a line of the index is chosen.
    """
    named = [(one.level, _NUMBER.sub("", plain(one.text).removeprefix(f"{title}: "))) for one in headings]
    top = min((level for level, name in named if name != title), default=0)
    names = dict.fromkeys(name for level, name in named if level == top and name not in ("", title))
    said = accumulate(names, lambda before, name: f"{before}, {name}")
    told_more = [f"{told}: {one}" for one in said if len(told) + len(one) < _LONGEST_TITLE]
    if not told_more and begins not in ("", title) and len(told) < _LONGEST_TITLE // 2:
        return beginning(f"{told}: {begins}", _LONGEST_TITLE)
    return max(told_more, key=len, default=told)


def _header(name: str, title: str) -> str:
    described = notes.quoted(" ".join(title.split())[:_LONGEST_TITLE])
    return f"---\nname: {notes.quoted(name[:-3])}\ndescription: {described}\nmetadata:\n  type: reference\n---"


def _with_reason(body: str, title: str, source: str) -> str:
    """Return the body of a note that says where it comes from, if it has no reason of its own."""
    lines = body.split("\n")
    if any(line.lstrip(" ").startswith((notes.WHY, notes.HOW)) for line in lines):
        return body
    topic = " ".join(title.split())[:_LONGEST_TITLE]
    why = f"{notes.WHY} It was kept in `{source}` before this memory took it over."
    how = f"{notes.HOW} Read it when the task is about {topic}. Keep what still holds, one fact a note."
    return f"{body}\n\n{why}\n\n{how}"


class _Body:
    """The lines of a text, and what governs each of them."""

    def __init__(self, lines: list[str]) -> None:
        self.lines = lines
        self.outline = document.outline_of("\n".join(lines))
        units: list[Entry | IndexLine] = [*self.outline.entries, *self.outline.index_lines]
        self._units = sorted(units, key=lambda unit: unit.start)
        self._above: dict[int, list[str]] = {}

    def text(self, start: int, end: int) -> str:
        """Return some lines with the headings and the label that govern the first of them above it."""
        return "\n".join([*self.above(start), "\n".join(self.lines[start:end]).strip("\n")])

    def headings(self, start: int, end: int) -> list[Heading]:
        """Return the headings in some lines."""
        return [one for one in self.outline.headings if start <= one.start < end]

    def begins(self, start: int, end: int) -> str:
        """Return the first sentences in some lines without their marks; "" where a table or code comes first."""
        entry = next((one for one in self.outline.entries if start <= one.start < end), None)
        said = "" if entry is None else _FRONT.sub("", plain(" ".join(self.lines[entry.start : entry.end])), count=1)
        return "" if said.startswith(("|", "```", "~~~", "    ")) else _LINK.sub(r"\1", said).replace("`", "")

    def above(self, line: int) -> list[str]:
        """Return the headings and the label that govern a line and are above it, a blank line after each."""
        if line not in self._above:
            self._above[line] = self._find_above(line)
        return self._above[line]

    def _find_above(self, line: int) -> list[str]:
        while line < len(self.lines) and not self.lines[line].strip():
            line += 1
        headings = self.outline.headings
        last = bisect_right(headings, line, key=lambda one: one.start) - 1
        above = (*headings[last].above, last) if last >= 0 else ()
        spans = [(headings[index].start, headings[index].end) for index in above]
        place = bisect_right(self._units, line, key=lambda unit: unit.start) - 1
        unit = self._units[place] if place >= 0 else None
        if unit is not None and line < unit.end and unit.label is not None:
            label = self.outline.labels[unit.label]
            spans.append((label.start, label.end))
        return [text for start, end in spans if end <= line for text in (*self.lines[start:end], "")]

    def spans(self, max_lines: int, max_bytes: int) -> list[tuple[int, int]]:
        """Return the lines of each part: cut at headings, else at blank lines, else at lines, in as few as fit."""

        def fits(start: int, end: int) -> bool:
            text = "\n".join([*self.above(start), *self.lines[start:end]])
            return not over_limits(text.encode(), max(max_lines, 1), max(max_bytes, 1))

        cuts: list[_Cut] = [
            lambda lines: _cut(lines, lambda line: line.startswith("#") and markdown.heading_level(line) > 0),
            lambda lines: _cut(lines, lambda line: not line.strip()),
            lambda lines: [[line] for line in lines],
        ]
        found = _split(self.lines, 0, cuts, fits)
        return [span for span in found if any(line.strip() for line in self.lines[slice(*span)])] or [(0, 0)]


def _split(
    lines: list[str], start: int, cuts: Sequence[_Cut], fits: Callable[[int, int], bool]
) -> list[tuple[int, int]]:
    """Cut lines, the first of which has this number, into as few spans as fit, the coarsest cut first that does."""
    if fits(start, start + len(lines)) or not cuts:
        return [(start, start + len(lines))]
    found: list[tuple[int, int]] = []
    pieces = cuts[0](lines)
    starts = accumulate((len(piece) for piece in pieces), initial=start)
    for first, last in (
        span for piece, at in zip(pieces, starts, strict=False) for span in _split(piece, at, cuts[1:], fits)
    ):
        if found and fits(found[-1][0], last):
            found[-1] = (found[-1][0], last)
        else:
            found.append((first, last))
    return found


def _cut(lines: Sequence[str], begins: Callable[[str], bool]) -> list[list[str]]:
    """Cut before each line that begins something, but never in a fence."""
    pieces: list[list[str]] = [[]]
    in_fence = False
    for line in lines:
        if line.lstrip().startswith(("```", "~~~")):
            in_fence = not in_fence
        elif not in_fence and begins(line) and pieces[-1]:
            pieces.append([])
        pieces[-1].append(line)
    return pieces


def _pieces(line: str, size: int) -> Iterator[str]:
    """Yield a line in pieces of at most so many bytes, at character borders."""
    data = line.encode()
    while len(data) > size:
        piece = data[:size].decode(errors="ignore")
        yield piece
        data = data[len(piece.encode()) :]
    yield data.decode()

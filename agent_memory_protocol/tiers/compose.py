"""Turn a text into the lines of one entry, so that it can be nothing else (decision 20).

Whatever the text holds, it never makes a heading, a second entry, front matter, a fence that stays open, or
something a reader of the page would not see.
"""

from collections.abc import Sequence

from ..errors import RefusedText
from ..limits import split_lines
from ..text import dates, links, markdown, marks, visible
from ..text.placeholders import is_placeholder
from ..values import dataclass
from . import entries


@dataclass(frozen=True, slots=True)
class NewEntry:
    """The lines of an entry to be written, without marker and indentation, and the day it is dated with."""

    lines: tuple[str, ...]
    day: int | None

    @property
    def is_steps(self) -> bool:
        """Whether it is a numbered list that needs no bullet: it is one entry as it is."""
        if not self.lines[0][:1].isdigit() or len(self.lines) < 2:
            return False
        found = entries.read([*self.lines]).entries
        return [(one.items > 1, one.end) for one in found] == [(True, len(self.lines))]


def compose(text: str, *, day: int | None = None, front: Sequence[str] = (), max_bytes: int) -> NewEntry:
    """Return the entry that a text makes, its date first, then the marks in front of it.

    A date that begins the text is its date, unless `day` is given. `front` are marks that it gets unless the text
    begins with others of their kind. Raises RefusedText for what cannot be an entry.
    """
    lines = [line.rstrip(" \t") for line in split_lines(text)]
    while lines and not lines[0]:
        lines.pop(0)
    while lines and not lines[-1]:
        lines.pop()
    if not lines or not "".join(lines).strip():
        raise RefusedText("the text is empty; say what to remember")
    size = len(text.encode("utf-8", "surrogatepass"))
    if size > max_bytes:
        raise RefusedText(
            f"the text has {size:,} bytes, a whole memory file may have {max_bytes:,}; shorten it",
            limit=max_bytes,
            size=size,
            unit="bytes",
        )
    visible.refuse_invisible("\n".join(lines))
    if any("]:" in line for line in lines):
        from ..text import footnotes

        lines = footnotes.folded(lines)
    lines[0] = _without_marker(lines[0].lstrip(" \t"))
    _drop_blanks(lines)
    words, lines[0] = marks.taken_off(lines[0])
    box = lines[0][:4] if lines[0].startswith(marks.BOXES) else ""
    lines[0] = lines[0][len(box) :]
    _drop_blanks(lines)
    lines[0] = _without_marker(lines[0]) if words else lines[0]
    if words and not "".join(lines).strip():
        raise RefusedText("the text is only a mark; say what to remember")
    if not lines[0]:
        raise RefusedText("the text is only a bullet; say what to remember")
    _refuse_impossible(lines[0])
    mark = marks.date_in_front(lines[0])
    if mark is not None:
        lines[0] = marks.without_date_in_front(lines[0], mark)
        day = mark.day if day is None else day
        _drop_blanks(lines)
        if not "".join(lines).strip():
            raise RefusedText("the text is only a date; say what to remember")
    if len(lines) == 1 and is_placeholder(lines[0]):
        # Recall takes it for nothing, so to say that it is remembered would be a lie.
        raise RefusedText(f"{lines[0]!r} is only a placeholder; say what to remember")
    stamp = marks.in_front([*words, *front], day)
    if not stamp:
        lines[0] = box + lines[0]
    lines = markdown.close_fence(_escaped(lines))
    if stamp:
        stamp = box + stamp
        lines = [stamp, *lines] if _begins_with_block(lines) else [f"{stamp} {lines[0]}", *lines[1:]]
    elif links.note_target("\n".join(lines)):
        raise RefusedText("the text begins with a link to a note, as the index's lines do; begin with what it says")
    elif _begins_with_table(lines) and not _is_item(_as_item(lines)):
        # `- a | b` would be a table's head, not an item; with a column more than the row below it is not one.
        lines[0] = f"| {lines[0]}"
    _refuse_hidden(lines)
    return NewEntry(tuple(lines), day)


def with_marks(text: str, words: Sequence[str]) -> str:
    """Return a text that is to be composed, with these marks in front of it."""
    return "\n".join([" ".join(words), text]) if words else text


def _without_marker(line: str) -> str:
    """Take off a bullet the writer put before the text: the entry gets its own."""
    if line[:1] in ("-", "*", "+") and markdown.marker_width(line) and not markdown.is_rule(line):
        return line[1:].lstrip(" \t")
    return line


def _as_item(lines: list[str]) -> list[str]:
    """Return the lines under a bullet, as they will be in the document."""
    return ["- " + lines[0], *("  " + line if line else "" for line in lines[1:])]


def _is_item(lines: list[str]) -> bool:
    from ..text import referee

    return referee.find_blocks(lines)[0].kind == markdown.ITEM


def _begins_with_block(lines: list[str]) -> bool:
    """Say whether something begins here that would be none after a date in its first line: a fence, a list, a table."""
    text = lines[0].lstrip(" \t")
    begins = text.startswith(">") or markdown.marker_width(text) or markdown.fence_length(text)
    return bool(begins) or _begins_with_table(lines)


def _begins_with_table(lines: list[str]) -> bool:
    return len(lines) > 1 and "|" in lines[0] and "-" in lines[1] and not lines[1].strip("|:- \t")


def _drop_blanks(lines: list[str]) -> None:
    """Take off the blank lines before the text, and what indents its first line: it will be behind a bullet."""
    while len(lines) > 1 and not lines[0]:
        lines.pop(0)
    lines[0] = lines[0].lstrip(" \t")


def _escaped(lines: list[str]) -> list[str]:
    """Escape what would be a heading, a rule or a link definition, outside fences."""
    escaped = []
    fence = ""
    for written in lines:
        line, text = written, written.lstrip(" \t")
        if fence:
            if markdown.closes_fence(text, fence[0], len(fence)) and text:
                fence = ""
        elif text and (length := markdown.fence_length(text)):
            fence = text[0] * length
        elif text and (
            markdown.heading_level(text)
            or markdown.is_rule(text)
            or (text[0] in "-=" and not text.strip(text[0]))
            or (text[0] == "[" and "]:" in text)
        ):
            line = line[: len(line) - len(text)] + "\\" + text
        escaped.append(line)
    return escaped


def _refuse_impossible(line: str) -> None:
    if dates.may_hold_date(line):
        from ..text import unread

        for written in unread.impossible(line):
            raise RefusedText(f"{written} is not in the calendar; correct it or leave it out")


def _refuse_hidden(lines: list[str]) -> None:
    # A comment in code is visible and stays.
    text = "\n".join(_as_item(lines))
    if visible.without_hidden(text)[0] != text:
        raise RefusedText("the text holds a comment or link definition that a reader would not see; write it out")

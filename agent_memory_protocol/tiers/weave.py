"""Weave: one entry from two edited forms of it, where each side changed other rows, items, lines or paragraphs.

What governs the rest of an entry, such as the text over a list or the head of a table, must say the same for what is
below it: where one side changed that, and the other side something below it, there is no woven form.
"""

from collections.abc import Iterable, Mapping, Sequence
from difflib import SequenceMatcher
from itertools import groupby

from ..text import markdown, marks
from ..values import dataclass

_FRAME, _ROW, _ITEM, _CODE, _TEXT = "frame", "row", "item", "code", "text"
_SIMILAR = 0.5  # From this share of common words on, two items in the same place are two forms of one

Lines = tuple[str, ...]
Pairs = list[tuple[str, str]]


@dataclass(frozen=True, slots=True)
class _Part:
    """A part of an entry that is taken or left as a whole."""

    kind: str  # _FRAME governs what follows it; the others are rows of a table, list items, lines of code, paragraphs
    lines: Lines
    blanks: int = 0  # the blank lines behind it

    @property
    def text(self) -> str:
        return "\n".join(self.lines)

    @property
    def said(self) -> str:
        """What it says, whatever its marks in front are and however wide the columns of its table."""
        if self.kind == _ROW or (self.kind == _FRAME and "|" in self.lines[-1]):
            return "\n".join("|".join(_cells(line)) for line in self.lines)
        if self.kind != _FRAME:
            return self.text
        text = self.text.strip(" \t")
        text = text[markdown.marker_width(text) :].lstrip(" \t")
        return marks.bare(text, marks.read(text))

    @property
    def key(self) -> str:
        """What makes it the same row of a table: its first cell."""
        return _cells(self.text)[0]


def weave(old: Lines, mine: Lines, other: Lines, *, is_item: bool) -> tuple[Lines, Pairs] | None:
    """Return the entry with the changes of both sides, and the parts that both changed, of which it has both forms.

    None where that would not be certain to say what both sides said.
    """
    base, ours, theirs = (_runs(_parts(lines, is_item=is_item)) for lines in (old, mine, other))
    kinds = [[kind for kind, _ in runs] for runs in (base, ours, theirs)]
    if kinds[0] != kinds[1] or kinds[0] != kinds[2]:
        return None
    woven: list[_Part] = []
    told: Pairs = []
    governed_by: set[int] = set()  # the sides that have changed what governs the rest
    for (kind, was), (_, here), (_, there) in zip(base, ours, theirs, strict=True):
        changed = {side for side, parts in enumerate((here, there)) if _said(parts) != _said(was)}
        if governed_by and changed - governed_by:
            return None
        if kind == _FRAME:
            if len(changed) == 2 and _said(here) != _said(there):
                return None
            governed_by |= changed if len(changed) == 1 else set()
        edited = {side for side, parts in enumerate((here, there)) if _lines(parts) != _lines(was)}
        if kind == _FRAME and len(edited) == 2:
            if len(changed) == 1:
                return None  # A new date has confirmed what the other side has put in other words.
            woven += max(here, there, key=_lines)
            continue
        if len(edited) < 2:
            woven += there if edited == {1} else here
            continue
        merged = _lines_of_code(was, here, there) if kind == _CODE else _members(was, here, there, told)
        if merged is None:
            return None
        woven += merged
    return _written(woven), told


def _parts(lines: Lines, *, is_item: bool) -> list[_Part]:
    """Return the parts of an entry, in their order."""
    found: list[_Part] = []
    at = 0
    while at < len(lines):
        text = lines[at].strip(" \t")
        if not text:
            found[-1] = _Part(found[-1].kind, found[-1].lines, found[-1].blanks + 1)
            at += 1
        elif length := markdown.fence_length(text):
            end = next((n for n in range(at + 1, len(lines)) if _closes(lines[n], text[0], length)), len(lines))
            found += [_Part(_FRAME, (lines[at],)), *(_Part(_CODE, (line,)) for line in lines[at + 1 : end])]
            found += [_Part(_FRAME, (line,)) for line in lines[end : end + 1]]
            at = end + 1
        elif "|" in text and at + 1 < len(lines) and "-" in lines[at + 1] and not lines[at + 1].strip("|:- \t"):
            end = next((n for n in range(at + 2, len(lines)) if "|" not in lines[n]), len(lines))
            found += [_Part(_FRAME, lines[at : at + 2]), *(_Part(_ROW, (line,)) for line in lines[at + 2 : end])]
            at = end
        else:
            is_nested = bool(markdown.marker_width(text)) and (at > 0 or not is_item)
            end = _end_of(lines, at, is_nested=is_nested)
            is_frame = _governs(lines, at, end, is_nested=is_nested) or (is_item and at == 0)
            kind = _FRAME if is_frame else _ITEM if is_nested else _TEXT
            found.append(_Part(kind, lines[at:end]))
            at = end
    return found


def _closes(line: str, sign: str, length: int) -> bool:
    return markdown.closes_fence(line.strip(" \t"), sign, length)


def _end_of(lines: Lines, at: int, *, is_nested: bool) -> int:
    """Return where the paragraph or list item ends that begins in a line; an item ends where another block begins."""
    end = at + 1
    while end < len(lines) and lines[end].strip(" \t") and not _begins_block(lines, end):
        end += 1
    while is_nested and end < len(lines) and not lines[end].strip(" \t"):
        after = next((n for n in range(end, len(lines)) if lines[n].strip(" \t")), len(lines))
        if after == len(lines) or _begins_block(lines, after) or _indent(lines[after]) <= _indent(lines[at]):
            break
        end = after + 1
        while end < len(lines) and lines[end].strip(" \t") and not _begins_block(lines, end):
            end += 1
    return end


def _begins_block(lines: Lines, at: int) -> bool:
    text = lines[at].strip(" \t")
    return bool(markdown.marker_width(text) or markdown.fence_length(text) or text[:1] == "|")


def _governs(lines: Lines, at: int, end: int, *, is_nested: bool) -> bool:
    """Say whether what ends at a line governs the block behind it: a list, a table, code, or anything after a colon."""
    after = next((n for n in range(end, len(lines)) if lines[n].strip(" \t")), None)
    if after is None:
        return False
    if not is_nested:
        return lines[end - 1].rstrip("*_ \t").endswith((":", "\uff1a")) or _begins_block(lines, after)
    return _indent(lines[after]) > _indent(lines[at])


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip(" "))


def _runs(parts: Sequence[_Part]) -> list[tuple[str, list[_Part]]]:
    """Return the parts that follow each other and are of one kind, each frame alone, with what may be between two."""
    found: list[tuple[str, list[_Part]]] = []
    for kind, run in groupby(parts, lambda part: part.kind):
        members = list(run)
        found += [(kind, [part]) for part in members] if kind == _FRAME else [(kind, members)]
    return found


def _said(parts: Iterable[_Part]) -> list[str]:
    return [part.said for part in parts]


def _lines(parts: Iterable[_Part]) -> list[Lines]:
    return [part.lines for part in parts]


def _cells(line: str) -> list[str]:
    """Return what the cells of a row say; what only sets them off is as short as it may be."""
    cells = [cell.strip(" \t") for cell in line.strip(" \t").removeprefix("|").removesuffix("|").split("|")]
    return [cell if cell.strip(":-") else cell.replace("--", "-") for cell in cells]


def _lines_of_code(was: Sequence[_Part], here: Sequence[_Part], there: Sequence[_Part]) -> list[_Part] | None:
    """Merge lines that follow each other; None where both sides changed the same lines, or neighbours."""
    old = _said(was)
    changes: list[tuple[int, int, tuple[_Part, ...]]] = []
    for side in (here, there):
        for tag, start, end, from_, to in SequenceMatcher(None, old, _said(side), autojunk=False).get_opcodes():
            change = (start, end, tuple(side[from_:to]))
            if tag != "equal" and change not in changes:
                if any(start <= stop and begin <= end for begin, stop, _ in changes if side is there):
                    return None
                changes.append(change)
    merged = list(was)
    for start, end, lines in sorted(changes, key=lambda change: change[:2], reverse=True):
        merged[start:end] = lines
    return merged


def _members(was: Sequence[_Part], here: Sequence[_Part], there: Sequence[_Part], told: Pairs) -> list[_Part]:
    """Merge parts of which each says something of its own: both forms of one that both sides changed."""
    forms = [_forms(was, side) for side in (here, there)]
    origin = {place: number for number, place in forms[1].items()}
    row: list[tuple[int, _Part]] = []  # each with its place on their side, -1 for what is only on ours
    mine_of = {place: number for number, place in forms[0].items()}
    for place, part in enumerate(here):
        number = mine_of.get(place)
        at = -1 if number is None else forms[1].get(number, -1)
        if number is None:
            at = next((n for n, one in enumerate(there) if n not in origin and one.said == part.said), -1)
            row.append((at, part))
            continue
        is_mine = part.said != was[number].said
        if at >= 0 and is_mine and there[at].said not in (was[number].said, part.said):
            told.append((part.text, there[at].text))
            row += [(at, part), (at, there[at])]
        elif at >= 0:
            row.append((at, part if is_mine or there[at].lines == was[number].lines else there[at]))
        elif is_mine:
            row.append((-1, part))
    known = {at for at, _ in row}
    for at, part in enumerate(there):
        number = origin.get(at)
        if at in known or (number is not None and part.said == was[number].said):
            continue
        for mine in (one for place, one in row if place == -1 and part.kind == _ROW and one.key == part.key):
            told.append((mine.text, part.text))
        after = max((n for n, (place, _) in enumerate(row) if 0 <= place < at), default=-1) + 1
        while after < len(row) and row[after][0] == -1:
            after += 1
        row.insert(after, (at, part))
    return [part for _, part in row]


def _forms(was: Sequence[_Part], side: Sequence[_Part]) -> Mapping[int, int]:
    """Return where each old part is on a side, in the form it has there."""
    found: dict[int, int] = {}
    matcher = SequenceMatcher(None, _said(was), _said(side), autojunk=False)
    for tag, start, end, from_, to in matcher.get_opcodes():
        if tag == "equal":
            found.update(zip(range(start, end), range(from_, to), strict=True))
    old = [number for number in range(len(was)) if number not in found]
    new = [place for place in range(len(side)) if place not in {*found.values()}]
    scored = (
        (_likeness(was[number], side[place]), -abs(number - place), number, place) for number in old for place in new
    )
    taken: set[int] = set()
    for share, _, number, place in sorted(scored, reverse=True):
        if share >= _SIMILAR and number not in found and place not in taken:
            found[number] = place
            taken.add(place)
    return found


def _likeness(one: _Part, other: _Part) -> float:
    """Return how likely it is that two parts are two forms of one, from 0 to 1."""
    if one.kind == _ROW:
        return float(one.key == other.key)
    return SequenceMatcher(None, one.text.split(), other.text.split(), autojunk=False).ratio()


def _written(parts: Sequence[_Part]) -> Lines:
    """Return the lines of an entry: blank lines are between its parts where they were, and around a paragraph."""
    lines: list[str] = []
    for part, after in zip(parts, [*parts[1:], None], strict=True):
        lines += part.lines
        if after is not None:
            blanks = part.blanks
            if after.kind == part.kind != _FRAME:
                tight = [one.blanks for one in parts if one.kind == part.kind and one is not parts[-1]]
                blanks = blanks if part.kind == _CODE else min(tight, default=0)
            lines += [""] * max(blanks, _TEXT in (part.kind, after.kind) or (part.kind == _ROW != after.kind))
    return tuple(lines)

"""Take back a removal to the byte, as long as the document is as the removal left it.

An entry is put back where it was as near as can be told. What went with it, such as a rule between two sections or
the blank lines around them, is told by the removal itself, and counts only for the very text that it left.
"""

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from itertools import takewhile
from typing import Any

from ..text.digest import blake2b
from ..text.visible import KEEPER, LIST_KEEPER
from .document import Document, plain_id, rebuilt
from .taken import Taken, near

_MOST_ENDS = 1_000
"""So many lines may end in another way than most of their file; a removal from another file is not noted."""


def undo_of(old: Document, new: Document, gone: Sequence[tuple[str, Taken]]) -> dict[str, object] | None:
    """Return JSON values that take a removal back; None if more was changed than taken out, or that cannot be told."""
    spans = {entry.start: (entry.end, taken.id) for one, taken in gone if (entry := old.entry(one)) is not None}
    lines_gone = {line for start, (end, _) in spans.items() for line in range(start, end)}
    found = _hunks(new.lines, old.lines, lines_gone)
    if found is None:
        return None
    hunks = [[start, end - start, list(_pieces(old.lines, spans, first, last))] for start, end, first, last in found]
    undo: dict[str, object] = {"of": _fingerprint(new), "hunks": hunks}
    if old.newline != "\n":
        undo["newline"] = old.newline
    entries = [taken for _, taken in gone]
    lines = _lines(new, undo, entries)
    # A file may mix line endings, and its last line may have none.
    ends = [[at, _ending(line)] for at, (line, made) in enumerate(zip(old.raw, lines, strict=False)) if line != made]
    if ends:
        undo["ends"] = ends
    if len(ends) > _MOST_ENDS or "".join(_lines(new, undo, entries)) != "".join(old.raw):
        return None
    return undo


def undone(document: Document, undo: Mapping[str, object], gone: Sequence[Taken]) -> Document | None:
    """Return the document as it was before a removal; None if it is not as the removal left it."""
    if undo.get("of") != _fingerprint(document):
        return None
    try:
        made = rebuilt(document, _lines(document, undo, gone))
    except (KeyError, TypeError, ValueError, IndexError, AttributeError):
        return None  # a line that another program wrote
    back = Counter(plain_id(taken.id) for taken in gone if not taken.part)
    return made if back <= Counter(map(plain_id, made.ids)) else None


def _lines(document: Document, undo: Mapping[str, Any], gone: Sequence[Taken]) -> list[str]:
    """Return the lines of a document as they were before a removal, each with its ending."""
    texts = {name: one.markdown.split("\n") for one in gone for name in (near(one.id), one.id)}
    newline = undo.get("newline", "\n")
    lines = list(document.raw)
    for start, count, pieces in reversed(undo["hunks"]):
        if any(map(_says_something, lines[start : start + count])):
            raise ValueError("it would take out more than the removal put in")
        lines[start : start + count] = [
            line + newline
            for piece in pieces
            for line in ([piece] if isinstance(piece, str) else [line for one in piece for line in texts[one]])
        ]
    for at, ending in undo.get("ends", ()):
        lines[at] = lines[at].rstrip("\r\n") + ending
    return lines


def _says_something(line: str) -> bool:
    return line.strip(" \t\r\n") not in ("", KEEPER, LIST_KEEPER)


def _ending(line: str) -> str:
    return line[len(line.rstrip("\r\n")) :]


def literal_text(undo: Mapping[str, Any]) -> str:
    """Return what of the removed lines an undo holds itself: all that was not an entry."""
    return "\n".join(piece for _, _, pieces in undo["hunks"] for piece in pieces if isinstance(piece, str))


def _pieces(lines: Sequence[str], spans: Mapping[int, tuple[int, str]], first: int, last: int) -> Iterator[object]:
    """Yield lines as they are, and the entries that went, one right after the other, by how their ids begin."""
    together: list[str] = []
    while first < last:
        end, entry_id = spans.get(first, (last + 1, ""))
        if end <= last:
            together.append(near(entry_id))
            first = end
            continue
        if together:
            yield together
            together = []
        yield lines[first]
        first += 1
    if together:
        yield together


def _hunks(new: Sequence[str], old: Sequence[str], gone: Collection[int]) -> list[tuple[int, int, int, int]] | None:
    """Return where two texts differ: the lines of the new one, and those of the old one in their place.

    None unless every line that says something is one of the old text that is not `gone`, in the same order.
    """
    found: list[tuple[int, int, int, int]] = []
    after_new, after_old = 0, 0
    for number, line in enumerate([*new, None]):
        if line is not None and not _says_something(line):
            continue
        place = after_old
        while place < len(old) and (place in gone or old[place] != line):
            place += 1
        if place == len(old) and line is not None:
            return None
        inner, outer = new[after_new:number], old[after_old:place]
        if inner != outer:
            head = _alike(inner, outer)
            tail = _alike(inner[head:][::-1], outer[head:][::-1])
            found.append((after_new + head, number - tail, after_old + head, place - tail))
        after_new, after_old = number + 1, place + 1
    return found


def _alike(one: Sequence[str], other: Sequence[str]) -> int:
    """Return how many lines two texts begin with alike."""
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(one, other, strict=False)))


def _fingerprint(document: Document) -> str:
    return blake2b(document.data, digest_size=8).hexdigest()

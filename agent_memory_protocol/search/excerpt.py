"""Which part of a text a query matched: the line that has most of its words, and the text around them."""

from collections.abc import Collection, Sequence
from functools import partial
from itertools import takewhile

from .words import places

PASSAGE = 240  # Characters of the part that is shown of an entry, a note or a record, unless all of it is that short

_LEAD = 40  # Characters of a text that come before the first match of its excerpt, at most

_GAP = "…"


def best_line(lines: Sequence[str], tokens: Collection[str], start: int = 0) -> int | None:
    """Return the index of the first line with the most of these tokens; None if no line has one of them.

    Lines before `start` are the best only where they have more than all others.
    """
    counts = [len(_matched(line, tokens)) for line in lines] if tokens else []
    most = max(counts, default=0)
    if not most:
        return None
    return counts.index(most, start) if most in counts[start:] else counts.index(most)


def excerpt(text: str, tokens: Collection[str], most: int) -> str:
    """Return a text on one line; of one with more than `most` characters, the part that has most of these tokens."""
    flowed = " ".join(text.split())
    if len(flowed) <= most:
        return flowed
    start = _start(flowed, tokens, most - _LEAD)
    front = _GAP if start else ""
    part = flowed[start : start + most - len(front) - len(_GAP)]
    if start + len(part) >= len(flowed):
        return front + part
    whole = part.rpartition(" ")[0]  # words stay whole, where there are blanks between them
    return f"{front}{whole if len(whole) > most // 2 else part}{_GAP}"


def _start(text: str, tokens: Collection[str], room: int) -> int:
    """Return where to begin: a little before the place from which most different words are in so much room."""
    found = places(text, tokens)
    counts = [
        len({text[slice(*one)].casefold() for one in takewhile(partial(_ends_by, start + room), found[number:])})
        for number, (start, _) in enumerate(found)
    ]
    if not counts:
        return 0
    first = found[counts.index(max(counts))][0]
    if first <= _LEAD:
        return 0
    return text.find(" ", first - _LEAD, first) + 1 or first


def _ends_by(last: int, place: tuple[int, int]) -> bool:
    return place[1] <= last


def _matched(line: str, tokens: Collection[str]) -> set[str]:
    return {line[start:end].casefold() for start, end in places(line, tokens)}

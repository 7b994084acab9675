"""Dates in Markdown text: which date an entry or a heading carries, and where it is (docs/protocol.md, decision 18).

A day is an `int`, the proleptic Gregorian ordinal that `datetime.date.toordinal` gives. Text is what a paragraph or
heading says, lines joined with a newline.
"""

from ..errors import InvalidArgument

try:
    # `datetime` first reads the same module in Python: that takes as long as half of recall.
    from _datetime import date  # type: ignore[import-not-found]
except ImportError:
    from datetime import date

_SAYS_NOTHING = frozenset(["through", "until", "pre", "per", "archived"])
_MOST_PARENTHESES = 32
"""A link whose target is nested deeper is not a link in markdown-it either."""
_SEPARATORS = (":", "-", "\u2013", "\u2014")


class Mark:
    """A date that dates the text it is in.

    Attributes:
        day: the date, as an ordinal.
        start, end: where its mark is in the text, brackets included.
        bracketed: whether it is spelled `[YYYY-MM-DD]`, as the protocol asks.
    """

    __slots__ = ("bracketed", "day", "end", "start")

    def __init__(self, day: int, start: int, end: int, *, bracketed: bool) -> None:
        self.day = day
        self.start = start
        self.end = end
        self.bracketed = bracketed


def day_number(text: str) -> int | None:
    """Return the day that `YYYY-MM-DD` names, or None if it is not that shape or not in the calendar."""
    if not _has_shape(text):
        return None
    try:
        return int(date.fromisoformat(text).toordinal())
    except ValueError:
        return None


def parse_day(text: str) -> int:
    """Read a day that somebody has given, `YYYY-MM-DD`.

    Raises:
        InvalidArgument: it is not that shape or not in the calendar.
    """
    day = day_number(text)
    if day is None:
        raise InvalidArgument(f"{text[:40]!a} is no date; write it as YYYY-MM-DD, such as 2026-01-31")
    return day


def day_text(day: int) -> str:
    """Return a day as `YYYY-MM-DD`."""
    return str(date.fromordinal(day))


def own_mark(text: str) -> Mark | None:
    """Return the date that an entry's first paragraph gives it, or None.

    The newest of the bracketed dates counts. Without one, a date in another spelling counts: at the start, in the
    parenthesis that closes the lead-in before the first colon, or alone in a closing parenthesis. Dates in code and
    links do not count.
    """
    if not _may_hold_date(text):
        return None
    # Nearly every date is the first thing in its entry, where nothing can make it code or a link's text.
    if text[0] == "[" and text[11:12] == "]" and text[12:13] not in ("(", "[") and not _may_hold_date(text[12:]):
        day = day_number(text[1:11])
        if day is not None:
            return Mark(day, 0, 12, bracketed=True)
    plain = without_code_and_links(text)
    days = [(day, start) for start, inside in _bracketed(plain) if (day := day_number(inside)) is not None]
    if days:
        day, start = max(days, key=lambda one: one[0])
        return Mark(day, start, start + 12, bracketed=True)
    return _leading_mark(plain) or _lead_in_mark(plain) or _closing_mark(plain)


def leading_mark(text: str) -> Mark | None:
    """Return the date at the very start of a paragraph or line, bracketed or not: it begins an entry of its own."""
    if not _may_hold_date(text):
        return None
    plain = without_code_and_links(text)
    opened = len(plain) - len(plain.lstrip("*_"))
    if plain[opened : opened + 1] == "[" and plain[opened + 11 : opened + 12] == "]":
        day = day_number(plain[opened + 1 : opened + 11])
        if day is not None:
            return Mark(day, opened, opened + 12, bracketed=True)
    return _leading_mark(plain)


def heading_day(text: str) -> int | None:
    """Return the day a heading's text dates its entries with: at its start, its end or in its last parenthesis."""
    if not _may_hold_date(text):
        return None
    plain = without_code_and_links(text).replace("*", " ").strip()
    words = "".join(character if character.isalnum() else " " for character in plain.lower()).split()
    if not _SAYS_NOTHING.isdisjoint(words):
        return None
    days = [
        day
        for start, day in _dates(plain)
        if not plain[:start].strip(" [(_") or not _after_time(plain[start + 10 :]).strip(" ])_.")
    ]
    opening, closing = plain.rfind("("), plain.rfind(")")
    if 0 <= opening < closing:
        days += [day for _, day in _dates(plain[opening + 1 : closing])]
    return max(days, default=None)


def label_day(line: str) -> int | None:
    """Return the day of a label line right under a heading: `**Date**: 2026-02-15`."""
    name, colon, value = line.strip(" \t").partition(":")
    if not colon or name.strip("*_ ").lower() != "date":
        return None
    return next((day for start, day in _dates(value) if not value[:start].strip(" *_[")), None)


def impossible_dates(text: str) -> list[str]:
    """Return the bracketed dates of a text that are in no calendar, such as `[2026-02-30]`."""
    plain = without_code_and_links(text)
    return [inside for _, inside in _bracketed(plain) if _has_shape(inside) and day_number(inside) is None]


def _bracketed(text: str) -> list[tuple[int, str]]:
    """Return where each pair of brackets with ten characters in it begins, and those characters."""
    found = []
    position = text.find("[")
    while position >= 0:
        if text[position + 11 : position + 12] == "]":
            found.append((position, text[position + 1 : position + 11]))
        position = text.find("[", position + 1)
    return found


def without_code_and_links(text: str) -> str:
    """Blank out code spans, links and what is between angle brackets. Every other character keeps its position."""
    if "`" not in text and "](" not in text and "<" not in text:
        return text
    characters = list(text)
    position = 0
    brackets: list[int] = []
    while position < len(text):
        character = text[position]
        end = 0
        if character == "\\":
            position += 2
            continue
        if character == "`":
            run = len(text) - position - len(text[position:].lstrip("`"))
            end = _closing_run(text, position + run, run)
            if not end:
                position += run
                continue
        elif character == "<" and text[position + 1 : position + 2] not in ("", " ", "="):
            end = text.find(">", position) + 1
            if "[" in text[position:end]:
                end = 0
        elif character == "[":
            brackets.append(position)
        elif character == "]" and brackets:
            opening = brackets.pop()
            end = _link_end(text, position + 1)
            if end:
                position = opening
                if text[opening - 1 : opening] != "!":
                    brackets.clear()  # a link holds no other link
        if end:
            characters[position:end] = "\0" * (end - position)
            position = end
        else:
            position += 1
    return "".join(characters)


def _closing_run(text: str, position: int, run: int) -> int:
    """Return where the code span that a run of backticks opens ends, 0 if it never does."""
    ticks = "`" * run
    position = text.find(ticks, position)
    while position >= 0:
        end = position + run
        if text[end : end + 1] != "`" and text[position - 1] != "`":
            return end
        while text[end : end + 1] == "`":
            end += 1
        position = text.find(ticks, end)
    return 0


def _link_end(text: str, position: int) -> int:
    """Return where the target of an inline link ends whose text ended before `position`; 0 if no target follows."""
    if text[position : position + 1] != "(":
        return 0
    position = _skip_blanks(text, position + 1)
    if text[position : position + 1] == "<":
        position = text.find(">", position) + 1
        if not position:
            return 0
    else:
        depth = 0
        while position < len(text) and text[position] not in " \n" and (depth or text[position] != ")"):
            depth += {"(": 1, ")": -1}.get(text[position], 0)
            position += 1
            if depth > _MOST_PARENTHESES:
                return 0
        if depth:
            return 0
    position = _skip_blanks(text, position)
    if (quote := text[position : position + 1]) and quote in "\"'(":
        closing = text.find({"(": ")"}.get(quote, quote), position + 1)
        if closing < 0:
            return 0
        position = _skip_blanks(text, closing + 1)
    return position + 1 if text[position : position + 1] == ")" else 0


def _skip_blanks(text: str, position: int) -> int:
    while text[position : position + 1] in (" ", "\n", "\t"):
        position += 1
    return position


def _leading_mark(plain: str) -> Mark | None:
    opened = len(plain) - len(plain.lstrip("*_"))
    day = day_number(plain[opened : opened + 10])
    if day is None:
        return None
    rest = plain[opened + 10 :]
    after = _after_time(rest.lstrip("*_")).lstrip("*_")
    closed = opened and rest[:1] in ("*", "_")
    spaced = after.lstrip(" ")
    if closed or not spaced or spaced[0] == "\n" or spaced[0] == ":" or (spaced != after and spaced[0] in _SEPARATORS):
        return Mark(day, opened, opened + 10, bracketed=False)
    return None


def _lead_in_mark(plain: str) -> Mark | None:
    lead_in, colon, _ = plain.partition(":")
    lead_in = lead_in.rstrip("*_ ")
    if not colon or not lead_in.endswith(")"):
        return None
    opening = lead_in.rfind("(")
    inside = lead_in[opening + 1 : -1]
    for start, day in _dates(inside):
        before, after = inside[:start].rstrip(), _after_time(inside[start + 10 :]).lstrip()
        stands_alone = before[-1:] in ("", ",", ";") and after[:1] in ("", ",", ";")
        if opening > 0 and lead_in[opening - 1] != "]" and stands_alone:
            return Mark(day, opening + 1 + start, opening + 11 + start, bracketed=False)
    return None


def _closing_mark(plain: str) -> Mark | None:
    ended = plain.rstrip(" \t\n.*_")
    if ended[-1:] == ")" and ended[-12:-11] == "(" and ended[-13:-12] != "]":
        day = day_number(ended[-11:-1])
        if day is not None:
            return Mark(day, len(ended) - 11, len(ended) - 1, bracketed=False)
    return None


def _dates(text: str) -> list[tuple[int, int]]:
    """Return the position and the day of each date that is not part of an id or a path."""
    found = []
    position = text.find("-")
    while position >= 0:
        start = position - 4
        day = day_number(text[start : start + 10]) if start >= 0 else None
        if day is not None:
            before, after = text[start - 1 : start] if start else "", text[start + 10 : start + 11]
            if not _joins(before) and (not _joins(after) or _after_time(text[start + 10 :]) != text[start + 10 :]):
                found.append((start, day))
                position = start + 9
        position = text.find("-", position + 1)
    return found


def _joins(character: str) -> bool:
    return character != "" and (character.isalnum() or character in "-_/\\.#")


def _after_time(text: str) -> str:
    """Return the text after a date without the time of day that may follow the date."""
    rest = text[1:] if text[:1] in (" ", "T") else text
    if len(rest) >= 5 and rest[:2].isdigit() and rest[2] == ":" and rest[3:5].isdigit():
        rest = rest[5:]
        if rest[:1] == ":" and rest[1:3].isdigit():
            rest = rest[3:]
        return rest.removeprefix("Z").removeprefix(" UTC")
    return text


def _has_shape(text: str) -> bool:
    digits = text[:4] + text[5:7] + text[8:]
    return len(text) == 10 and text[4] == text[7] == "-" and digits.isascii() and digits.isdigit()


def _may_hold_date(text: str) -> bool:
    dash = text.find("-", 4)
    while dash >= 0:
        if text[dash + 3 : dash + 4] == "-" and text[dash - 1].isdigit():
            return True
        dash = text.find("-", dash + 1)
    return False

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

WEEKDAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
MONTHS = (
    *("january", "february", "march", "april", "may", "june"),
    *("july", "august", "september", "october", "november", "december"),
)
SHORT_MONTHS = {month[:3]: month for month in MONTHS} | {"sept": "september"}
SAYS_NO_DAY = frozenset(["through", "until", "pre", "per", "archived"])  # With one of these a heading dates nothing
_MOST_PARENTHESES = 32  # A link whose target is nested deeper is not a link in markdown-it either


def day_number(text: str) -> int | None:
    """Return the day that `YYYY-MM-DD` names, or None if it is not that shape or not in the calendar."""
    if not _has_shape(text):
        return None
    try:
        return int(date.fromisoformat(text).toordinal())
    except ValueError:
        return None


def parse_day(text: str) -> int:
    """Read a day, `YYYY-MM-DD`. Raises InvalidArgument for anything else."""
    day = day_number(text)
    if day is None:
        raise InvalidArgument(f"{text[:40]!a} is not a date; write it as YYYY-MM-DD, such as 2026-01-31")
    return day


def day_text(day: int) -> str:
    """Return a day as `YYYY-MM-DD`."""
    return str(date.fromordinal(day))


def heading_day(text: str) -> int | None:
    """Return the day a heading's text dates its entries with: at its start, its end or in its last parenthesis."""
    if not may_hold_date(text):
        return None
    plain = without_code_and_links(text).replace("*", " ").strip()
    words = "".join(character if character.isalnum() else " " for character in plain.lower()).split()
    if not SAYS_NO_DAY.isdisjoint(words):
        return None
    days = [
        day
        for start, day in dates_in(plain)
        if not plain[:start].strip(" [(_") or not after_time(plain[start + 10 :]).strip(" ])_.")
    ]
    opening, closing = plain.rfind("("), plain.rfind(")")
    if 0 <= opening < closing:
        days += [day for _, day in dates_in(plain[opening + 1 : closing])]
    return max(days, default=None)


def label_day(line: str) -> int | None:
    """Return the day of a label line right under a heading: `**Date**: 2026-02-15`."""
    name, colon, value = line.strip(" \t").partition(":")
    if not colon or name.strip("*_ ").lower() != "date":
        return None
    return next((day for start, day in dates_in(value) if not value[:start].strip(" *_[")), None)


def without_code_and_links(text: str) -> str:
    """Blank out code spans, links and what is between angle brackets. Every other character keeps its position."""
    if "`" not in text and "](" not in text and "<" not in text:
        return text
    characters = list(text)
    position = 0
    brackets: list[int] = []
    ahead = dict.fromkeys("\\`<[]", -1)
    while (position := _next_of(ahead, text, position)) < len(text):
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


def _next_of(ahead: dict[str, int], text: str, position: int) -> int:
    """Return where the first of some signs is from a position on; `ahead` keeps where each was found."""
    for sign, at in ahead.items():
        if at < position:
            ahead[sign] = text.find(sign, position) % (len(text) + 1)
    return min(ahead.values())


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


def dates_in(text: str) -> list[tuple[int, int]]:
    """Return the position and the day of each date that is by itself, no part of an id or a path."""
    found = []
    position = text.find("-")
    while position >= 0:
        start = position - 4
        day = day_number(text[start : start + 10]) if start >= 0 else None
        if day is not None:
            before, after = text[start - 1 : start] if start else "", text[start + 10 : start + 11]
            if not _joins(before) and (not _joins(after) or after_time(text[start + 10 :]) != text[start + 10 :]):
                found.append((start, day))
                position = start + 9
        position = text.find("-", position + 1)
    return found


def _joins(character: str) -> bool:
    return character != "" and (character.isalnum() or character in "-_/\\.#")


def after_time(text: str) -> str:
    """Return the text after a date without the time of day and the zone that may follow the date."""
    rest = text[1:] if text[:1] in (" ", "T") else text
    if not (len(rest) >= 5 and rest[:2].isdigit() and rest[2] == ":" and rest[3:5].isdigit()):
        return text
    rest = rest[5:]
    if rest[:1] == ":" and rest[1:3].isdigit():
        rest = rest[3:]
        if rest[:1] == "." and rest[1:2].isdigit():
            rest = rest[1:].lstrip("0123456789")
    for zone in ("Z", " UTC", " GMT"):
        if rest.startswith(zone):
            return rest[len(zone) :]
    offset = rest.lstrip(" ")
    if offset[:1] in ("+", "-") and offset[1:3].isdigit() and offset[-3:-2] != "/":
        minutes = offset[3:].removeprefix(":")
        if minutes[:2].isdigit():
            return minutes[2:]
    return rest


def _has_shape(text: str) -> bool:
    if len(text) != 10 or text[4] != "-" or text[7] != "-":
        return False
    digits = text[:4] + text[5:7] + text[8:]
    return digits.isascii() and digits.isdigit()


def may_hold_date(text: str) -> bool:
    """Say, quickly, whether a text may hold a date: four digits, two and two, with dashes or slashes between them."""
    for separator in ("-", "/"):
        at = text.find(separator, 4)
        while at >= 0:
            if text[at + 3 : at + 4] == separator and text[at - 1].isdigit():
                return True
            at = text.find(separator, at + 1)
    return False

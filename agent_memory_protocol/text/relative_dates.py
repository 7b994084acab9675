"""Days that people name from where they are: `yesterday`, `two weeks ago`, `last March`, as dates that texts have."""

import re
from datetime import date, timedelta

from .dates import MONTHS, WEEKDAYS

_NUMBERS = ("a", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve")
_NEAR = {"the day before yesterday": -2, "yesterday": -1, "today": 0, "tomorrow": 1, "the day after tomorrow": 2}
_PHRASE = re.compile(
    rf"\b(?:(?P<near>{'|'.join(_NEAR)})"
    rf"|(?P<count>an|{'|'.join(_NUMBERS)}|\d{{1,3}})\s+(?P<unit>day|week|month|year)s?\s+ago"
    r"|(?P<which>last|this)\s+(?P<period>week|month|year)"
    rf"|last\s+(?P<month>{'|'.join(MONTHS)})(?!\s+\d)"
    rf"|last\s+(?P<weekday>{'|'.join(WEEKDAYS)}))\b",
    re.IGNORECASE,
)


def with_dates(text: str, today: date) -> str:
    """Return a text with dates in place of what names a day, a month or a year by how far it is from today.

    A day becomes a date, `2026-03-07`; a week or a month the month it is in, `March 2026`; a year its number.
    """
    try:
        return _PHRASE.sub(lambda found: _dated(found, today), text)
    except OverflowError:  # before the first year of the calendar
        return text


def _dated(found: re.Match[str], today: date) -> str:
    if found["near"]:
        return _day(today, -_NEAR[" ".join(found["near"].casefold().split())])
    if found["month"]:
        number = MONTHS.index(found["month"].casefold()) + 1
        return _month(today.year - (number >= today.month), number)
    if found["weekday"]:
        back = (today.weekday() - WEEKDAYS.index(found["weekday"].casefold())) % 7
        return _day(today, back or 7)
    if found["period"]:
        return _ago(today, int(found["which"].casefold() == "last"), found["period"].casefold())
    return _ago(today, _number(found["count"].casefold()), found["unit"].casefold())


def _number(word: str) -> int:
    return int(word) if word.isdigit() else max(_NUMBERS.index(word.removesuffix("n") if word == "an" else word), 1)


def _ago(today: date, count: int, unit: str) -> str:
    if unit == "day":
        return _day(today, count)
    if unit == "year":
        return str(today.year - count)
    if unit == "month":
        year, month = divmod(today.year * 12 + today.month - 1 - count, 12)
        return _month(year, month + 1)
    then = today - timedelta(weeks=count)
    return _month(then.year, then.month)


def _month(year: int, month: int) -> str:
    return f"{MONTHS[month - 1].title()} {year}"


def _day(today: date, back: int) -> str:
    return (today - timedelta(days=back)).isoformat()

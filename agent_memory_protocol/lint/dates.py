"""Rules on the dates of entries: impossible, improbable, oddly spelled, or missing where there should be one."""

import re
from collections.abc import Iterator

from ..text import dates
from ..tiers.document import mark_span
from ..tiers.entries import OWN, suspicious_days
from .finding import ERROR, WARNING, Fix, Remark, rule
from .tiers import TierView

_UNREAD = re.compile(r"\[(?!\d{4}-\d\d-\d\d\])(?:\d{4}([-/])\d{1,2}\1\d{1,2}|\d\d([-/])\d\d\2\d\d)\]")
"""What was meant for a date, in digits and brackets, and is none."""

_OF_NOW = ("currently", "this week", "this month", "this sprint", "as of ", "right now")
_TERMS = frozenset(
    [
        *("next", "end", "further", "then", "tomorrow", "tonight", "q1", "q2", "q3", "q4"),
        *("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"),
        *("january", "february", "march", "april", "may", "june", "july"),
        *("august", "september", "october", "november", "december"),
        *("jan", "feb", "mar", "apr", "jun", "jul", "aug", "sep", "sept", "oct", "nov", "dec"),
    ]
)
"""What follows “until” where it means a time, and not an event that may come any day: until next week, until further
notice, until the end of May."""


@rule(
    "date-impossible",
    ERROR,
    "tier",
    "A bracketed date that no calendar has. The entry counts as undated and is never pruned. Correct it.",
)
def date_impossible(view: TierView) -> Iterator[Remark]:
    for entry, _ in view.entries():
        for written in dates.impossible_dates(entry.paragraph):
            yield Remark(entry.start + 1, f"[{written}] is no day of the calendar; correct it")


@rule(
    "date-future",
    WARNING,
    "tier",
    "An entry is dated in the future, mostly a mistyped year. It is never pruned. Correct it.",
)
def date_future(view: TierView) -> Iterator[Remark]:
    for entry, _ in view.entries():
        if entry.day is not None and entry.day_source == OWN and entry.day > view.today:
            yield Remark(entry.start + 1, f"dated {dates.day_text(entry.day)}, in the future; correct the date")


@rule(
    "date-suspicious",
    WARNING,
    "tier",
    "An entry is dated more than 180 days before both dated entries around it, mostly "
    "a mistyped year. It is never pruned. Correct it, or leave it where it is right.",
)
def date_suspicious(view: TierView) -> Iterator[Remark]:
    entries = view.document.outline.entries
    for index in sorted(suspicious_days(entries)):
        day = entries[index].day or 0
        yield Remark(
            entries[index].start + 1, f"dated {dates.day_text(day)}, long before its neighbours; is the year right?"
        )


@rule(
    "date-spelling",
    WARNING,
    "tier",
    "An entry is dated in another spelling than `[YYYY-MM-DD]`. `--fix` rewrites it; the date stays the same. A "
    "bracketed day such as `[2026-6-1]` or `[2026/06/01]` dates nothing, and is for you to rewrite.",
)
def date_spelling(view: TierView) -> Iterator[Remark]:
    for entry, _ in view.entries():
        mark = entry.mark
        if mark is None:
            for written in _UNREAD.finditer(dates.without_code_and_links(entry.paragraph)):
                yield Remark(entry.start + 1, f"{written[0]} dates nothing; write it as [YYYY-MM-DD]")
            continue
        if mark.bracketed:
            continue
        number, start, end = mark_span(view.document, entry, mark)
        fix = _respelled(view.document.lines[number], number + 1, start, end, dates.day_text(mark.day))
        yield Remark(number + 1, f"write the date as [{dates.day_text(mark.day)}]", fix)


@rule(
    "date-missing",
    WARNING,
    "tier",
    "An entry speaks of now (“currently”, “until …”, “as of”) and has no date, so nobody "
    "can tell when it stops being true. Date it.",
)
def date_missing(view: TierView) -> Iterator[Remark]:
    for entry, _ in view.entries():
        if entry.day is not None or not entry.is_item:
            continue
        text = dates.without_code_and_links(entry.paragraph).casefold()
        word = _word_of_now(text)
        if word:
            yield Remark(entry.start + 1, f"“{word}” without a date; begin it with [YYYY-MM-DD]")


def _word_of_now(text: str) -> str:
    """Return the words by which a text, in lower case, says that it speaks of a time; "" for none."""
    found = next((word for word in _OF_NOW if f" {word}" in f" {text}"), "")
    if found:
        return found.strip()
    for rest in f" {text}".split(" until ")[1:]:
        word = next(iter(rest.removeprefix("the ").split()), "").strip(".,;:!?)")
        if word[:1].isdigit() or word in _TERMS:
            return f"until {word}"
    return ""


def _respelled(line: str, number: int, start: int, end: int, day: str) -> Fix | None:
    """Return the fix that brackets a date; None where the entry's id would not stay the same."""
    if line[start:end] != day:
        return None
    # With its colon the date would be what Markdown calls a link definition, which nobody sees.
    return Fix(number, line, f"{line[:start]}[{day}]{line[end:].removeprefix(':')}")

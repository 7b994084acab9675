"""Rules on the dates of entries: impossible, improbable, oddly spelled, or missing where there should be one."""

import re
from collections.abc import Iterator

from ..text import dates, unread
from ..tiers.document import mark_span
from ..tiers.entries import OWN, Heading, suspicious_days
from .finding import ERROR, WARNING, Fix, Remark, rule
from .tiers import TierView

_DATE_LINE = re.compile(r"[*_]*date[*_]*:[*_ ]*", re.IGNORECASE)
_OF_NOW = ("currently", "this week", "this month", "this sprint", "as of ", "right now")
_TERMS = frozenset(
    [
        *("next", "end", "further", "then", "tomorrow", "tonight", "q1", "q2", "q3", "q4"),
        *(*dates.WEEKDAYS, *dates.MONTHS, *dates.SHORT_MONTHS),
    ]
)
"""What follows “until” where it means a time, and not an event that may come any day: until next week, until further
notice, until the end of May."""


@rule(
    "date-impossible",
    ERROR,
    "tier",
    "A date that no calendar has, in brackets or at the beginning of an item, paragraph or heading. It dates nothing, "
    "and `[until …]` ends nothing. Correct it.",
)
def date_impossible(view: TierView) -> Iterator[Remark]:
    headings = ((heading.start + 1, heading.text) for heading in view.document.outline.headings)
    for line, text in [*view.datable, *headings]:
        for written in unread.impossible(text):
            yield Remark(line, f"{written} is not in the calendar; correct it")


@rule(
    "date-expired",
    WARNING,
    "tier",
    "The mark `[until D]` of an entry names a day that is past. Recall leaves the entry out. `amp prune` takes it out, "
    "unless it is marked `[keep]`.",
)
def date_expired(view: TierView) -> Iterator[Remark]:
    if view.excerpt.until is None or view.excerpt.until >= view.today:
        return
    for entry, entry_id in view.entries():
        if entry.is_expired(view.today):
            ended = dates.day_text(entry.marks.until or 0)
            way_out = f"`amp forget {entry_id}`" if entry.kept else f"`amp prune {view.document.target} --apply`"
            yield Remark(
                entry.start + 1,
                f"expired on {ended}, so it is not recalled; {way_out} takes it out, or write a later day",
            )


@rule(
    "date-future",
    WARNING,
    "tier",
    "An entry is dated in the future, mostly a mistyped year. It is never pruned. Correct it.",
)
def date_future(view: TierView) -> Iterator[Remark]:
    if max(view.excerpt.days, default=0) <= view.today:
        return
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
    "An entry is dated in another spelling than `[YYYY-MM-DD]`. `--fix` rewrites it; the date stays the same. What "
    "begins with `04.04.2026` or `Apr 4, 2026`, or has `[2026-6-1]` in it, is not dated by that, nor is what is under "
    "a heading such as `Apr 4, 2026` or `2026-W14`. Only you know which day is meant, so rewrite it.",
)
def date_spelling(view: TierView) -> Iterator[Remark]:
    for entry, _ in view.entries():
        mark = entry.mark
        if mark is None or mark.bracketed:
            continue
        number, start, end = mark_span(view.document, entry, mark)
        fix = _respelled(view.document.lines[number], number + 1, start, end, dates.day_text(mark.day))
        yield Remark(number + 1, f"write the date as [{dates.day_text(mark.day)}]", fix)
    for line, text in view.datable:
        for written in unread.unread(_DATE_LINE.sub("", text)):
            what = "ends nothing; write it as [until YYYY-MM-DD]" if written[:6].lower() == "[until" else ""
            yield Remark(line, f"{written} {what or 'dates nothing; write it as [YYYY-MM-DD]'}")
    for heading in view.document.outline.headings:
        written = "" if heading.day is not None or not _governs(view, heading) else unread.in_heading(heading.text)
        if written:
            yield Remark(heading.start + 1, f"{written} dates nothing under this heading; write it as YYYY-MM-DD")


def _governs(view: TierView, heading: Heading) -> bool:
    """Say whether an undated entry is under a heading, other than the title."""
    outline = view.document.outline
    place = outline.headings.index(heading)
    return heading is not outline.title and any(
        entry.day is None and place in entry.headings for entry in outline.entries
    )


@rule(
    "date-missing",
    WARNING,
    "tier",
    "An entry speaks of now (“currently”, “until …”, “as of today”) and has no date, so nobody "
    "can tell when it stops being true. Date it. `as of 2026-03-06` says when it was true, and is not reported.",
)
def date_missing(view: TierView) -> Iterator[Remark]:
    for entry, _ in view.entries():
        if entry.day is not None or not entry.is_item:
            continue
        text = dates.without_code_and_links(entry.paragraph).casefold()
        word = "" if unread.has_claim_date(text) else _word_of_now(text)
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
    """Return the fix that brackets a date; None if the entry's id would not stay the same."""
    if line[start:end] != day:
        return None
    # With its colon the date would be what Markdown calls a link definition, which nobody sees.
    return Fix(number, line, f"{line[:start]}[{day}]{line[end:].removeprefix(':')}")

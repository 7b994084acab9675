"""Dates: which spelling dates an entry or a heading, which does not, and that days are those of the calendar."""

import re
from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent_memory_protocol.errors import InvalidArgument
from agent_memory_protocol.text import dates, marks, unread
from tests.each_row import each_row

DAY = date(2026, 2, 15)
JANUARY = date(2026, 1, 1)

IMPOSSIBLE = [
    "2026-02-30",
    "2026-13-01",
    "2026-00-10",
    "2026-01-00",
    "0000-00-00",
    "0000-01-01",
    "2025-02-29",
    "1900-02-29",
]


@pytest.mark.requirement("S4-62")
@each_row("written", IMPOSSIBLE)
def test_a_day_that_no_calendar_has_is_no_date_and_is_reported(written):
    """B65: a future timestamp crashes or turns the age ranking upside down."""
    assert dates.day_number(written) is None
    for text in (f"[{written}] x", f"{written}: x", f"x ({written})", f"x ({written}): y"):
        assert marks.read(text).date is None
    assert dates.heading_day(written) is None
    assert unread.impossible(f"[{written}] x, `[{written}]` and [2026-02-15]") == [f"[{written}]"]


@each_row("written", ["2026-6-1", "26-06-01", "2026/06/01", "2099-01-01"])
def test_a_date_of_the_calendar_is_not_reported_as_an_impossible_one(written):
    assert unread.impossible(f"[{written}] x") == []


HEADINGS = [
    pytest.param("2026-02-15", DAY, id="alone"),
    pytest.param("[2026-02-15]", DAY, id="in-brackets"),
    pytest.param("[2026-02-15] Release", DAY, id="brackets-first"),
    pytest.param("2026-02-15 Release", DAY, id="first"),
    pytest.param("2026-02-15: Release", DAY, id="first-with-colon"),
    pytest.param("2026-02-15 14:30 Release", DAY, id="first-with-a-time"),
    pytest.param("2026-02-15T14:30:00Z", DAY, id="iso-time"),
    pytest.param("Release 2026-02-15", DAY, id="last"),
    pytest.param("Release 2026-02-15 14:30 UTC", DAY, id="last-with-a-time"),
    pytest.param("Release [2026-02-15]", DAY, id="last-in-brackets"),
    pytest.param("**2026-02-15** Release", DAY, id="bold"),
    pytest.param("Fixed (PR #9, 2026-02-15)", DAY, id="in-the-last-parenthesis"),
    pytest.param("Review (2026-02-15, after overhaul)", DAY, id="in-the-last-parenthesis-with-words-after-it"),
    pytest.param("Review (2026-01-01, again 2026-02-15)", DAY, id="the-newest-of-several"),
    pytest.param("2026-01-01 to 2026-02-15", DAY, id="from-to"),
]
NO_HEADINGS = [
    "Release",
    "Notes on the 2026-02-15 outage",
    "Valid through 2026-02-15",
    "Until 2026-02-15",
    "Pre 2026-02-15",
    "pre-2026-02-15",
    "Status per 2026-02-15",
    "Archived (2026-02-15)",
    "ARCHIVED 2026-02-15",
    "`2026-02-15`",
    "[2026-02-15](x.md)",
    "file-2026-02-15",
    "Review (2026-02-15) of (this)",
    "Impossible 2026-02-30",
]


@pytest.mark.requirement("S4-62")
@each_row("text, day", HEADINGS)
def test_a_heading_that_begins_or_ends_with_a_date_dates_its_entries(text, day):
    found = dates.heading_day(text)
    assert found is not None
    assert dates.day_text(found) == day.isoformat()


@pytest.mark.requirement("S4-62")
@each_row("text", NO_HEADINGS)
def test_any_other_heading_dates_nothing(text):
    assert dates.heading_day(text) is None


@each_row(
    "line",
    ["**Date**: 2026-02-15", "**Date:** 2026-02-15", "Date: 2026-02-15", "*date*: [2026-02-15]", "Date: 2026-02-15 x"],
)
def test_a_label_line_that_says_date_has_a_day(line):
    assert dates.label_day(line) == DAY.toordinal()


@each_row("line", ["**Created**: 2026-02-15", "Updated: 2026-02-15", "Date 2026-02-15", "Date: soon", "", ":"])
def test_any_other_label_has_none(line):
    assert dates.label_day(line) is None


DAYS = st.dates()


@given(DAYS)
def test_a_day_is_the_ordinal_that_the_calendar_gives(day):
    assert dates.day_number(day.isoformat()) == day.toordinal()
    assert dates.day_text(day.toordinal()) == day.isoformat()


@each_row("day", [date.min, date.max, date(2000, 2, 29), date(2100, 3, 1), date(2024, 12, 31)])
def test_so_it_is_at_the_edges(day):
    assert dates.day_number(day.isoformat()) == day.toordinal()
    assert dates.day_text(day.toordinal()) == day.isoformat()


@pytest.mark.slow
def test_every_day_of_four_centuries_survives_there_and_back():
    for day in range(date(1799, 12, 31).toordinal(), date(2201, 1, 1).toordinal()):
        assert dates.day_number(dates.day_text(day)) == day


@given(st.one_of(st.text(max_size=12), st.from_regex(r"[0-9]{4}-[0-9]{2}-[0-9]{2}", fullmatch=True)))
def test_only_what_the_calendar_takes_is_a_day(text):
    try:
        expected = date.fromisoformat(text).toordinal() if re.fullmatch(r"\d{4}-\d\d-\d\d", text, re.ASCII) else None
    except ValueError:
        expected = None
    assert dates.day_number(text) == expected


def test_what_somebody_gives_as_a_day_and_is_none_is_told_with_the_right_spelling():
    assert dates.parse_day("2026-02-15") == DAY.toordinal()
    with pytest.raises(
        InvalidArgument, match=r"^'2026-02-30' is not a date; write it as YYYY-MM-DD, such as 2026-01-31$"
    ):
        dates.parse_day("2026-02-30")

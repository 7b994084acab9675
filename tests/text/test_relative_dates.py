from datetime import date

from hypothesis import given
from hypothesis import strategies as st

from agent_memory_protocol.text.relative_dates import with_dates
from tests.each_row import each_row

TODAY = date(2026, 3, 8)  # a Sunday


@each_row(
    "text, dated",
    [
        ("what broke yesterday?", "what broke 2026-03-07?"),
        ("the day before yesterday", "2026-03-06"),
        ("due tomorrow", "due 2026-03-09"),
        ("three days ago", "2026-03-05"),
        ("10 days ago", "2026-02-26"),
        ("two weeks ago", "February 2026"),
        ("a month ago", "February 2026"),
        ("an hour and a year ago", "an hour and 2025"),
        ("four months ago", "November 2025"),
        ("last week", "March 2026"),
        ("Last month we moved", "February 2026 we moved"),
        ("this year", "2026"),
        ("last March", "March 2025"),
        ("last february", "February 2026"),
        ("last December", "December 2025"),
        ("last Friday", "2026-03-06"),
        ("last Sunday", "2026-03-01"),
    ],
)
def test_a_day_that_is_named_from_today_becomes_a_date(text, dated):
    assert with_dates(text, TODAY) == dated


@each_row(
    "text",
    ["last March 3rd", "the last one", "weeks ago", "todays", "lastweek", "in March", "on the 8th", "0x2 days", "ago"],
)
def test_other_words_stay(text):
    assert with_dates(text, TODAY) == text


@given(st.text(), st.integers(0, 999), st.sampled_from(["day", "week", "month", "year"]))
def test_any_text_and_number_is_read(text, count, unit):
    assert "ago" not in with_dates(f"{count} {unit}s ago", TODAY)
    with_dates(text, TODAY)
    with_dates(f"{text} {count} {unit} ago", date(1, 1, 1))

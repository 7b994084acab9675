"""Dates: which spelling dates an entry or a heading, which does not, and that days are those of the calendar."""

import re
from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from agent_memory_protocol.errors import InvalidArgument
from agent_memory_protocol.text import dates

DAY = date(2026, 2, 15)
JANUARY = date(2026, 1, 1)

BRACKETED = [
    pytest.param("[2026-02-15] Redis needs AOF on.", DAY, id="at-the-start"),
    pytest.param("Redis needs AOF on. [2026-02-15]", DAY, id="at-the-end"),
    pytest.param("Since [2026-02-15] Redis needs AOF on.", DAY, id="inside"),
    pytest.param("Redis needs\nAOF on. [2026-02-15]", DAY, id="on-a-later-line-of-the-paragraph"),
    pytest.param("[2026-01-01] Redis, again [2026-02-15]", DAY, id="the-newest-of-several"),
    pytest.param("[2026-02-15] Redis, first [2026-01-01]", DAY, id="the-newest-wherever-it-stands"),
    pytest.param("2026-02-20: Redis [2026-02-15]", DAY, id="brackets-before-any-other-spelling"),
    pytest.param("**[2026-02-15]** Redis", DAY, id="bold"),
    pytest.param("[[2026-02-15]] Redis", DAY, id="in-further-brackets"),
    pytest.param("[2026-02-15][ref] Redis", DAY, id="before-other-brackets"),
    pytest.param("[2024-02-29] leap day", date(2024, 2, 29), id="leap-day"),
    pytest.param("[2099-01-01] later", date(2099, 1, 1), id="in-the-future"),
    pytest.param("[0001-01-01] first", date(1, 1, 1), id="the-first-day-there-is"),
    pytest.param("[9999-12-31] last", date(9999, 12, 31), id="the-last-day-there-is"),
    pytest.param("`code` [2026-02-15] `code`", DAY, id="between-code"),
    pytest.param("\\`[2026-02-15]\\`", DAY, id="between-escaped-backticks"),
    pytest.param("`[2026-02-15] and a backtick left alone", DAY, id="after-a-lone-backtick"),
    pytest.param("[doc](x.md) [2026-02-15] [doc](y.md)", DAY, id="between-links"),
    pytest.param("[2026-02-15](not closed", DAY, id="before-a-parenthesis-that-never-closes"),
    pytest.param('[2026-02-15](( "")', DAY, id="before-parentheses-that-do-not-match"),
    pytest.param("a < b [2026-02-15] > c", DAY, id="between-signs"),
]

OTHER_SPELLINGS = [
    pytest.param("2026-02-15: Redis", DAY, id="start-colon"),
    pytest.param("2026-02-15 - Redis", DAY, id="start-dash"),
    pytest.param("2026-02-15 \u2013 Redis", DAY, id="start-en-dash"),
    pytest.param("2026-02-15 \u2014 Redis", DAY, id="start-em-dash"),
    pytest.param("2026-02-15", DAY, id="date-alone"),
    pytest.param("2026-02-15\nRedis", DAY, id="date-alone-on-its-line"),
    pytest.param("**2026-02-15** Redis", DAY, id="bold"),
    pytest.param("**2026-02-15**: Redis", DAY, id="bold-colon"),
    pytest.param("**2026-02-15:** Redis", DAY, id="bold-with-colon-inside"),
    pytest.param("*2026-02-15* Redis", DAY, id="emphasis"),
    pytest.param("__2026-02-15__ Redis", DAY, id="bold-by-underscores"),
    pytest.param("**2026-02-15 - Redis** needs AOF", DAY, id="bold-goes-on"),
    pytest.param("2026-02-15 10:30: Redis", DAY, id="with-a-time"),
    pytest.param("2026-02-15T10:30:00Z: Redis", DAY, id="with-an-iso-time"),
    pytest.param("Team update (2026-02-15): Redis moved", DAY, id="lead-in"),
    pytest.param("**Team update (2026-02-15):** Redis moved", DAY, id="bold-lead-in"),
    pytest.param("**Team update** (2026-02-15): Redis moved", DAY, id="lead-in-after-bold"),
    pytest.param("Fix (PR #9, 2026-02-15): Redis", DAY, id="lead-in-with-more-in-its-parenthesis"),
    pytest.param("Redis needs AOF on. (2026-02-15)", DAY, id="closing-parenthesis"),
    pytest.param("Redis needs AOF on (2026-02-15).", DAY, id="closing-parenthesis-and-full-stop"),
    pytest.param("Redis needs AOF on **(2026-02-15)**", DAY, id="closing-parenthesis-in-bold"),
]

NO_DATES = [
    pytest.param("Redis needs AOF on.", id="no-date"),
    pytest.param("", id="nothing"),
    pytest.param("`[2026-02-15]` is how it is written", id="in-code"),
    pytest.param("`` ` [2026-02-15] ``", id="in-code-of-two-backticks"),
    pytest.param("[2026-02-15](notes/x.md) is a link", id="a-links-text"),
    pytest.param("[the [2026-02-15] notes](x.md)", id="inside-a-links-text"),
    pytest.param("![2026-02-15](x.png)", id="an-images-text"),
    pytest.param('[notes](x.md "[2026-02-15]")', id="a-links-title"),
    pytest.param("[notes](<[2026-02-15].md>)", id="a-links-target"),
    pytest.param("deployed on 2026-02-15 at noon", id="running-text"),
    pytest.param("2026-02-15 was the day", id="a-sentence-that-begins-with-a-date"),
    pytest.param("2026-02-15-notes.md holds it", id="a-file-name"),
    pytest.param("2026-02-15.md: notes", id="a-file-name-before-a-colon"),
    pytest.param("see logs/2026-02-15", id="a-path"),
    pytest.param("job-2026-02-15: failed", id="an-id"),
    pytest.param("(2026-02-15) first", id="parenthesis-at-the-start"),
    pytest.param("Redis (since 2026-02-15)", id="more-than-the-date-in-the-closing-parenthesis"),
    pytest.param("[Redis](2026-02-15)", id="a-links-target-is-no-closing-parenthesis"),
    pytest.param("Redis (see 2026-02-15 notes): moved", id="a-lead-in-that-says-something-else"),
    pytest.param("a: b (2026-02-15) c", id="a-parenthesis-after-the-first-colon"),
    pytest.param("[2026-02-15T10:00] x", id="time-in-brackets"),
    pytest.param("[due 2026-02-15] x", id="words-in-brackets"),
    pytest.param("[2026-02] x", id="a-month"),
    pytest.param("[26-02-15] x", id="two-digit-year"),
    pytest.param("[2026/02/15] x", id="slashes"),
    pytest.param("[2026-2-5] x", id="single-digits"),
    pytest.param("[15.02.2026] x", id="another-order"),
    pytest.param("[ 2026-02-15 ] x", id="blanks-in-brackets"),
    pytest.param("[2026\u201002\u201015] x", id="other-hyphens"),
    pytest.param("[\u0662\u0660\u0662\u0666-02-15] x", id="other-digits"),
    pytest.param("[20260215] x", id="no-dashes"),
]

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
@pytest.mark.parametrize(("text", "day"), BRACKETED)
def test_a_bracketed_date_dates_its_entry(text, day):
    mark = dates.own_mark(text)
    assert mark is not None
    assert dates.day_text(mark.day) == day.isoformat()
    assert mark.bracketed
    assert text[mark.start : mark.end] == f"[{day.isoformat()}]"


@pytest.mark.requirement("S4-62")
@pytest.mark.parametrize(("text", "day"), OTHER_SPELLINGS)
def test_so_does_another_spelling_at_the_start_or_in_a_parenthesis(text, day):
    mark = dates.own_mark(text)
    assert mark is not None
    assert dates.day_text(mark.day) == day.isoformat()
    assert not mark.bracketed
    assert text[mark.start : mark.end] == day.isoformat()


@pytest.mark.requirement("S4-62")
@pytest.mark.parametrize("text", NO_DATES)
def test_any_other_date_dates_nothing(text):
    assert dates.own_mark(text) is None


@pytest.mark.requirement("S4-62")
@pytest.mark.parametrize("written", IMPOSSIBLE)
def test_a_day_that_no_calendar_has_is_no_date_and_is_reported(written):
    """B65: a future timestamp crashes or turns the age ranking upside down."""
    assert dates.day_number(written) is None
    for text in (f"[{written}] x", f"{written}: x", f"x ({written})", f"x ({written}): y"):
        assert dates.own_mark(text) is None
    assert dates.heading_day(written) is None
    assert dates.impossible_dates(f"[{written}] x, `[{written}]` and [2026-02-15]") == [written]


@pytest.mark.parametrize("written", ["2026-6-1", "26-06-01", "2026/06/01", "2026-02-30 ", "2099-01-01"])
def test_what_is_no_bracketed_date_is_not_reported_as_an_impossible_one(written):
    assert dates.impossible_dates(f"[{written}] x") == []


LEADING = [
    ("[2026-02-15] x", 0),
    ("**[2026-02-15]** x", 2),
    ("2026-02-15: x", 0),
    ("**2026-02-15** x", 2),
    ("2026-02-15 - x", 0),
    ("2026-02-15", 0),
]
NOT_LEADING = ["x [2026-02-15]", "x (2026-02-15)", "Update (2026-02-15): x", "2026-02-15 was it", "[2026-02-15](x)", ""]


@pytest.mark.parametrize(("text", "start"), LEADING)
def test_a_date_at_the_very_start_begins_an_entry(text, start):
    mark = dates.leading_mark(text)
    assert mark is not None
    assert (mark.start, dates.day_text(mark.day)) == (start, "2026-02-15")


@pytest.mark.parametrize("text", NOT_LEADING)
def test_a_date_further_on_does_not(text):
    assert dates.leading_mark(text) is None


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
@pytest.mark.parametrize(("text", "day"), HEADINGS)
def test_a_heading_that_begins_or_ends_with_a_date_dates_its_entries(text, day):
    found = dates.heading_day(text)
    assert found is not None
    assert dates.day_text(found) == day.isoformat()


@pytest.mark.requirement("S4-62")
@pytest.mark.parametrize("text", NO_HEADINGS)
def test_any_other_heading_dates_nothing(text):
    assert dates.heading_day(text) is None


@pytest.mark.parametrize(
    "line",
    ["**Date**: 2026-02-15", "**Date:** 2026-02-15", "Date: 2026-02-15", "*date*: [2026-02-15]", "Date: 2026-02-15 x"],
)
def test_a_label_line_that_says_date_has_a_day(line):
    assert dates.label_day(line) == DAY.toordinal()


@pytest.mark.parametrize(
    "line", ["**Created**: 2026-02-15", "Updated: 2026-02-15", "Date 2026-02-15", "Date: soon", "", ":"]
)
def test_any_other_label_has_none(line):
    assert dates.label_day(line) is None


DAYS = st.dates()


@given(DAYS)
def test_a_day_is_the_ordinal_that_the_calendar_gives(day):
    assert dates.day_number(day.isoformat()) == day.toordinal()
    assert dates.day_text(day.toordinal()) == day.isoformat()


@pytest.mark.parametrize("day", [date.min, date.max, date(2000, 2, 29), date(2100, 3, 1), date(2024, 12, 31)])
def test_so_it_is_at_the_edges(day):
    assert dates.day_number(day.isoformat()) == day.toordinal()
    assert dates.day_text(day.toordinal()) == day.isoformat()


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
    with pytest.raises(InvalidArgument, match=r"^'2026-02-30' is no date; write it as YYYY-MM-DD, such as 2026-01-31$"):
        dates.parse_day("2026-02-30")


INLINE = MarkdownIt("commonmark")
PIECES = st.lists(
    st.sampled_from(
        [
            *("[2026-01-02]", "[2026-03-04]", "[2025-12-31]", "[2026-02-30]", "`", "``", "[", "]", "(x)", "](y)", "("),
            *(
                "text",
                " ",
                " ",
                "\\",
                "![",
                "\n",
                "*",
                "**",
                '(y "t")',
                "(<z>)",
                "(a(b)c)",
                " < ",
                " > ",
                "<b>",
                "</b>",
                "=",
            ),
        ]
    ),
    min_size=1,
    max_size=9,
).map("".join)


def visible_days(text: str) -> list[date]:
    """Return the bracketed dates in what markdown-it calls text: no code, no link, no image, no HTML."""
    shown, depth = "", 0
    for token in INLINE.parseInline(text)[0].children or []:
        depth += token.nesting if token.type in ("link_open", "link_close") else 0
        if token.type in ("softbreak", "hardbreak"):
            shown += "\n"
        elif token.type == "text" and not depth:
            shown += token.content
        elif token.nesting == 0:
            shown += "\0"
    found = []
    for written in re.findall(r"\[(\d{4}-\d\d-\d\d)\]", shown, re.ASCII):
        try:
            found.append(date.fromisoformat(written))
        except ValueError:
            continue
    return found


@pytest.mark.requirement("S4-62")
@given(PIECES)
def test_the_newest_bracketed_date_that_a_reader_sees_is_the_entrys(text):
    text = text.strip()
    if "\n\n" in re.sub(r"\n[ \t]*\n", "\n\n", text):
        return
    mark = dates.own_mark(text)
    expected = max(visible_days(text), default=None)
    assert (mark.day if mark is not None and mark.bracketed else None) == (expected and expected.toordinal())


@given(st.one_of(PIECES, st.text(max_size=40)))
def test_blanking_out_keeps_every_position(text):
    plain = dates.without_code_and_links(text)
    assert len(plain) == len(text)
    assert all(after in (before, "\0") for before, after in zip(text, plain, strict=True))


@pytest.mark.parametrize("piece", ["[a](", "](", "`a``b", "<a", "[", "[a](b '", "[2026-01-01]", "1-", "\\"])
def test_no_text_takes_long(piece):
    """A destination may be nested without end; without a bound the work grows with the square of the text."""
    text = "[2026-02-15] x " + piece * (25_000 // len(piece))
    mark = dates.own_mark(text)
    assert mark is None or mark.start == 0 or piece == "[2026-01-01]"

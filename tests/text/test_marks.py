"""Marks: which spelling dates an entry, which marks stand in front of it, and what it says without them."""

import re
from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from agent_memory_protocol.text import dates, marks
from tests.each_row import each_row

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
    pytest.param("[2026-02-15][keep] Redis", DAY, id="right-before-another-mark"),
    pytest.param("[x] [2026-02-15] Redis", DAY, id="behind-a-check-box"),
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
    pytest.param("Update (2026-02-15 14:30 UTC): Redis moved", DAY, id="lead-in-with-a-time"),
    pytest.param("2026-02-15 was the day", DAY, id="before-a-space"),
    pytest.param("2026-02-15 [x]: Redis", DAY, id="before-a-bracket"),
    pytest.param("2026-02-15. Redis", DAY, id="before-a-full-stop"),
    pytest.param("2026-02-15, again: Redis", DAY, id="before-a-comma"),
    pytest.param("2026-02-15 / Redis", DAY, id="before-a-slash-with-spaces"),
    pytest.param("(2026-02-15) first", DAY, id="in-parentheses-in-front"),
    pytest.param("**2026-02-15 Redis** needs AOF", DAY, id="bold-goes-on-after-a-space"),
    pytest.param("\u2705 2026-02-15: Redis", DAY, id="behind-an-emoji"),
    pytest.param("\u26a0\ufe0f **2026-02-15** Redis", DAY, id="behind-an-emoji-and-emphasis"),
    pytest.param("[x] 2026-02-15: Redis", DAY, id="behind-a-check-box"),
    pytest.param("[ ] [keep] 2026-02-15 Redis", DAY, id="behind-other-marks"),
    pytest.param("2026-02-15T23:04:05.123+02:00 Redis", DAY, id="with-an-iso-time-and-offset"),
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
    pytest.param("2026-02-15/16 on call", id="directly-before-a-slash"),
    pytest.param("2026-02-15 to 2026-02-20: freeze", id="a-range"),
    pytest.param("2026-02-15 until 2026-02-20", id="a-range-with-until"),
    pytest.param("2026-02-15 \u2013 2026-02-20: freeze", id="a-range-with-a-dash"),
    pytest.param("2026-02-15\u20132026-02-20: freeze", id="a-range-without-spaces"),
    pytest.param("[2026-02-15] to [2026-02-20] freeze", id="a-range-in-brackets"),
    pytest.param("Latency is 4 ms as of 2026-02-15.", id="the-day-of-a-claim"),
    pytest.param("[[2026-02-15]] Redis", id="a-wiki-link"),
    pytest.param("[2026-02-15][log] Redis", id="a-reference-link"),
    pytest.param("[2026-02-15][] Redis", id="a-collapsed-reference-link"),
    pytest.param("15.02.2026: Redis", id="an-order-that-is-ambiguous"),
    pytest.param("Feb 15, 2026: Redis", id="a-month-in-words"),
    pytest.param("2026-02-15-notes.md holds it", id="a-file-name"),
    pytest.param("2026-02-15.md: notes", id="a-file-name-before-a-colon"),
    pytest.param("see logs/2026-02-15", id="a-path"),
    pytest.param("job-2026-02-15: failed", id="an-id"),
    pytest.param("Redis (since 2026-02-15)", id="more-than-the-date-in-the-closing-parenthesis"),
    pytest.param("[Redis](2026-02-15)", id="a-links-target-is-no-closing-parenthesis"),
    pytest.param("Redis (see 2026-02-15 notes): moved", id="a-lead-in-that-says-something-else"),
    pytest.param("a: b (2026-02-15) c", id="a-parenthesis-after-the-first-colon"),
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


@pytest.mark.requirement("S4-62")
@each_row("text, day", BRACKETED)
def test_a_bracketed_date_dates_its_entry(text, day):
    mark = marks.read(text).date
    assert mark is not None
    assert dates.day_text(mark.day) == day.isoformat()
    assert mark.bracketed
    assert text[mark.start : mark.end] == f"[{day.isoformat()}]"


@pytest.mark.requirement("S4-62")
@each_row("text, day", OTHER_SPELLINGS)
def test_so_does_another_spelling_at_the_start_or_in_a_parenthesis(text, day):
    mark = marks.read(text).date
    assert mark is not None
    assert dates.day_text(mark.day) == day.isoformat()
    assert not mark.bracketed
    assert text[mark.start : mark.end] == day.isoformat()


@pytest.mark.requirement("S4-62")
@each_row("text", NO_DATES)
def test_any_other_date_dates_nothing(text):
    assert marks.read(text).date is None


def test_slashes_are_read_in_front_and_a_time_in_brackets_belongs_to_the_mark():
    slashed = marks.read("2026/02/15 Redis").date
    assert slashed is not None
    assert dates.day_text(slashed.day) == "2026-02-15"
    timed = marks.read("[2026-02-15 23:04 UTC] Redis").date
    assert timed is not None
    assert (timed.start, timed.end, timed.bracketed) == (0, 22, True)


SAID = [
    ("[2026-02-15] Redis", "Redis"),
    ("2026-02-15 Redis", "Redis"),
    ("2026/02/15: Redis", "Redis"),
    ("(2026-02-15) Redis", "Redis"),
    ("[2026-02-15 23:04 UTC] Redis", "Redis"),
    ("[x] [2026-02-15] Redis", "[x] Redis"),
    ("[x] 2026-02-15: Redis", "[x] Redis"),
    ("[keep] Redis", "Redis"),
    ("[KEEP] [until 2027-01-01] [disputed] Redis", "Redis"),
    ("[2026-02-15] [keep] Redis", "Redis"),
    ("[keep] [2026-02-15] Redis", "Redis"),
    ("[x] [keep] Redis", "[x] Redis"),
    ("Redis [keep] stays", "Redis [keep] stays"),
    ("Redis [until 2027-01-01]", "Redis [until 2027-01-01]"),
    ("[until 2027-02-30] Redis", "[until 2027-02-30] Redis"),
    ("[until tomorrow] Redis", "[until tomorrow] Redis"),
    ("`[keep]` is a mark", "`[keep]` is a mark"),
]


@each_row("text, said", SAID)
def test_what_an_entry_says_is_its_text_without_the_date_and_the_marks_in_front(text, said):
    assert marks.bare(text, marks.read(text)) == said


def test_marks_in_front_come_in_any_order_behind_a_check_box():
    found = marks.read("[ ] [disputed] [until 2027-01-01] [2026-02-15] [keep] Redis")
    assert found.disputed
    assert found.keep
    assert found.until == date(2027, 1, 1).toordinal()
    assert found.date is not None
    assert found.date.day == DAY.toordinal()


@each_row("text", ["Redis is [disputed]", "Redis [until 2027-01-01]", "[Disputed by all] x", "[disputed](x) y"])
def test_only_in_front_an_entry_is_disputed_or_ends(text):
    found = marks.read(text)
    assert not found.disputed
    assert found.until is None


def test_of_two_ends_the_nearer_holds():
    assert marks.read("[until 2027-01-01] [until 2026-06-01] x").until == date(2026, 6, 1).toordinal()


LEADING = [
    ("[2026-02-15] x", 0),
    ("**[2026-02-15]** x", 2),
    ("2026-02-15: x", 0),
    ("**2026-02-15** x", 2),
    ("2026-02-15 - x", 0),
    ("2026-02-15", 0),
]
NOT_LEADING = [
    "x [2026-02-15]",
    "x (2026-02-15)",
    "Update (2026-02-15): x",
    "2026-02-15-x was it",
    "[2026-02-15](x)",
    "",
]


@each_row("text, start", LEADING)
def test_a_date_at_the_very_start_begins_an_entry(text, start):
    mark = marks.date_in_front(text)
    assert mark is not None
    assert (mark.start, dates.day_text(mark.day)) == (start, "2026-02-15")


@each_row("text", NOT_LEADING)
def test_a_date_further_on_does_not(text):
    assert marks.date_in_front(text) is None


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
    mark = marks.read(text).date
    if any(pair in text for pair in ("[[", "]]", "][")):
        return  # markdown-it knows no wiki links, nor which references are defined elsewhere
    expected = max(visible_days(text), default=None)
    assert (mark.day if mark is not None and mark.bracketed else None) == (expected and expected.toordinal())


@given(st.one_of(PIECES, st.text(max_size=40)))
def test_blanking_out_keeps_every_position(text):
    plain = dates.without_code_and_links(text)
    assert len(plain) == len(text)
    assert all(after in (before, "\0") for before, after in zip(text, plain, strict=True))


@pytest.mark.slow
@each_row("piece", ["[a](", "](", "`a``b", "<a", "[", "[a](b '", "[2026-01-01]", "1-", "\\"])
def test_no_text_takes_long(piece):
    """A destination may be nested without end; without a bound the work grows with the square of the text."""
    text = "[2026-02-15] x " + piece * (25_000 // len(piece))
    mark = marks.read(text).date
    assert mark is None or mark.start == 0 or piece == "[2026-01-01]"

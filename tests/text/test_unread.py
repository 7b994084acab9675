"""What is meant for a date and dates nothing is found; what only has digits or a month's name in it is not."""

from agent_memory_protocol.text import dates, marks, unread
from tests.each_row import each_row

UNREAD = [
    *("04.04.2026", "4.4.2026", "4. 4. 2026", "04/04/2026", "4/4/26", "04-04-2026", "26-04-04", "2026.04.04"),
    *("2026-4-4", "2026/4/4", "20260404", "2026-W14", "2026-W14-6", "2026年4月4日"),
    *("4 de abril de 2026", "4. Mai 2026", "4 août 2026", "4 dicembre 2026"),
    *("Apr 4, 2026", "April 4 2026", "april 4th, 2026", "Apr. 4, 2026", "APR 4, '26", "4 April 2026"),
    *(
        "4th of April 2026",
        "4-Apr-2026",
        "04 Apr 2026",
        "4. April 2026",
        "2026 Apr 4",
        "2026-Apr-04",
        "Sept 4, 2026",
        "Apr 4",
        "4 Apr",
    ),
    *("Apr 4", "4 Apr", "Mon, 6 Apr 2026", "Monday, April 6, 2026", "Mon 2026-04-06"),
]
FRONTS = ["{}: a", "**{}:** a", "**{}** - a", "[{}]: a", "[{}]", "({}) - a", "{}", "[x] {}: a", "✅ {}: a"]
READ_OR_MEANT = [
    *("2026-04-04: a", "2026/04/04 a", "[2026-04-04] a", "(2026-04-04) a", "2026-04-04 10:30: a", "✅ 2026-04-04: a"),
    *("2026-04-04 to 2026-05-04: frozen", "Apr 4 - Apr 6, 2026: away", "04.04.2026 - 05.04.2026: away"),
    *(
        "2026-04-04..2026-04-06: frozen",
        "2026-04-04…2026-04-06 a",
        "2026-04-04/2026-04-06: a",
        "Apr 4 → Apr 6, 2026: a",
    ),
    *("[2026-04-04][log]", "[[2026-04-04]] note", "[[04.04.2026]]", "[Apr 4, 2026](a.md)", "[04.04.2026][log] a"),
    *("`2026-13-01`", "`04.04.2026`: a", "[2026-02-30][log]", "[[2026-02-30]]", "[2026-6-1][log]", "[[2026-6-1]]"),
    *("Apr 4, 2026: a [2026-04-04]", "due on Apr 4, 2026", "see 04.04.2026", "2026-04-04-plan.md is old"),
    *("1.2.3 is out: a", "2026.4 is out", "10.0.0.1: the gateway", "1/2/3 workers: a", "24/7: on call", "12345678: a"),
    *("May 4 people join", "Mar is short", "March on: a", "Marketing 4: a", "4 marks: a", "Mono 4: a", "3 decimals: a"),
    *("Sun 4 is hot", "Monday 4 people", "2026 was good", "2026: a year", "404: not found", "8080-8090: the ports"),
]


@each_row("written", UNREAD)
def test_a_date_in_another_spelling_is_found_in_front(written):
    for front in FRONTS:
        text = front.format(written)
        if marks.read(text).date is None:
            assert unread.unread(text), text
    assert unread.unread(f"due {written} or later") == []


@each_row("text", READ_OR_MEANT)
def test_what_dates_or_is_not_meant_as_a_date_is_left_alone(text):
    assert unread.unread(text) == []
    assert unread.impossible(text) == []


@each_row("written", [one for one in UNREAD if dates.heading_day(one) is None])
def test_a_heading_in_another_spelling_is_found_at_both_ends(written):
    fronts = ["{}", "**{}**", "({})"]
    fronts += [] if written in ("Apr 4", "4 Apr") else ["Release ({})", "Session – {}", "Log, {}"]
    for front in fronts:
        assert unread.in_heading(front.format(written)).strip("()") in (written, written.partition(" ")[2]), front


@each_row(
    "text, found",
    [
        *(
            (text, text)
            for text in ("April 2026", "2026-04", "Q2 2026", "2026 Q2", "2026-W14", "Week 14", "Mai 2026", "04/2026")
        ),
        *(
            (text, "")
            for text in ("Plan for April 2026", "May be useful", "Week 14 was bad", "RFC 2026-04", "Version 4.2026")
        ),
        *(
            (text, "")
            for text in ("2026-04-04..2026-04-06", "Apr 4 – Apr 6, 2026", "Archived Apr 4, 2026", "`Apr 4, 2026`")
        ),
    ],
)
def test_a_month_counts_where_it_is_the_whole_heading_and_a_range_does_not(text, found):
    assert unread.in_heading(text) == found


@each_row("front", [*FRONTS, "[until {}] a", "[keep] [until {}] a", "[x] [until {}] a"])
def test_a_day_that_no_calendar_has_is_impossible_in_front_and_not_unread_too(front):
    assert len(unread.impossible(front.format("2026-02-30"))) == 1
    assert unread.unread(front.format("2026-02-30")) == []
    assert unread.impossible(front.format("2026-02-28")) == []


def test_an_end_that_is_not_read_is_found_and_one_in_the_middle_is_not():
    assert unread.unread("[until May 2026] a") == ["[until May 2026]"]
    assert unread.unread("[disputed] [until 1.5.2026] a") == ["[until 1.5.2026]"]
    assert unread.unread("[until 2026-05-01] a") == unread.unread("wait [until done] a") == []


@each_row("text", ["true as of 2026-03-06", "as of March 6, 2026", "As of v2.1 a", "AS OF 2026-03-06"])
def test_as_of_a_day_is_a_claim_date(text):
    assert unread.has_claim_date(text)
    assert not marks.read(text.replace("[", "").replace("]", "")).date


@each_row("text", ["as of now 3 workers run", "As of May, use B", "as of today", "was off 2026-03-06"])
def test_as_of_now_is_no_claim_date(text):
    assert not unread.has_claim_date(text)


@each_row("text", ["2026-04-04→ a", "2026-04-04| a", "✅ 2026-04-04= a"])
def test_a_day_that_a_sign_follows_is_found_in_front(text):
    assert marks.read(text).date is None
    assert unread.unread(text)

"""Pruning goes by an entry's own date, says what it would do and why, and has nothing left to do the second time."""

from datetime import date, timedelta
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent_memory_protocol.errors import DamagedFile, Refused
from agent_memory_protocol.tiers import compose, prune
from agent_memory_protocol.tiers.add import add
from agent_memory_protocol.tiers.document import Document
from agent_memory_protocol.tiers.prune import Judged, Plan
from agent_memory_protocol.tiers.remove import remove
from tests.each_row import each_row

from .conftest import parse

TODAY = date(2026, 6, 15)
OLD = "2026-01-01"
RECENT = "2026-06-01"


def plan(text: str, *, today: date = TODAY, older_than: int = 90, sections: bool = False) -> Plan:
    return prune.plan_pruning(parse(text), today=today, older_than=older_than, sections=sections)


HELD = "[until 2026-06-14]"
"""The mark of an entry that has expired on TODAY."""


def to_limit(text: str, max_lines: int, **options: object) -> Plan:
    options = {"max_bytes": 25_600, "today": TODAY, **options}
    return prune.plan_to_limit(parse(text), max_lines=max_lines, **options)  # type: ignore[arg-type]


def only(made: Plan) -> Judged:
    """Return what the plan says of the only entry there is."""
    (one,) = (*made.removals, *made.kept)
    return one


def texts(judged: tuple[Judged, ...]) -> list[str]:
    return [one.text for one in judged]


# -- what goes and what stays ------------------------------------------------------------------------------------------

GOES = {
    "a bracketed date": "- [2026-01-01] old",
    "the day before the last that stays": "- [2026-03-16] old",
    "a bracketed date anywhere in the first paragraph": "- The cache was slow [2026-01-01] for a day.",
    "the newest of several dates": "- [2025-01-01] and again [2026-01-02]",
    "a date that begins the text, with a colon": "- 2026-01-01: old",
    "a date in bold": "- **2026-01-01** old",
    "a date that closes the lead-in": "- Team update (2026-01-01): old",
    "a date alone in a closing parenthesis": "- All tests were moved (2026-01-01)",
    "a numbered item": "1. [2026-01-01] old",
    "dated prose": "2026-01-01: old\nand more",
    "an entry with children that have newer dates": "- [2026-01-01] old\n  - [2026-06-14] child",
    "an entry whose heading is newer": "## 2026-06-14\n\n- [2026-01-01] old",
    "what only says keep in code": "- [2026-01-01] write `[keep]` to keep it",
    "a date of the first century": "- [0001-01-01] old",
}

STAYS = {
    "nothing says when": ("- lasting", "undated"),
    "ninety days": ("- [2026-03-17] not older", "recent"),
    "today": ("- [2026-06-15] today", "recent"),
    "a date yet to come": ("- [2099-01-01] planned", "future"),
    "tomorrow": ("- [2026-06-16] tomorrow", "future"),
    "marked to be kept": ("- [2026-01-01] [keep] old", "kept"),
    "marked in capitals": ("- [2026-01-01] old, but [KEEP]", "kept"),
    "a day that no calendar has": ("- [2026-02-30] never", "undated"),
    "the year 0": ("- [0000-00-00] never", "undated"),
    "a month of one digit": ("- [2026-1-1] spelled otherwise", "undated"),
    "a year of two digits": ("- [26-01-01] spelled otherwise", "undated"),
    "slashes": ("- [2026/01/01] spelled otherwise", "undated"),
    "a date in running text": ("- since 2026-01-01 the cache is on", "undated"),
    "a date in code": ("- run `job [2026-01-01]`", "undated"),
    "a date as a link's text": ("- [2026-01-01](x.html) has the notes", "undated"),
    "a date in a child": ("- a list\n  - [2026-01-01] child", "undated"),
    "a date in a second paragraph": ("- a text\n\n  [2026-01-01] later", "undated"),
    "a date in a fence": ("- sample\n  ```\n  [2026-01-01] old\n  ```", "undated"),
    "a date in a heading": ("## 2026-01-01\n\n- learned then", "section"),
    "a date in a label line": ("## Fix\n**Date**: 2026-01-01", "section"),
    "a date in the title": ("- learned then", "undated"),
    "an older heading that was kept till later": ("## Kept until 2026-01-01\n\n- learned then", "undated"),
}


@pytest.mark.requirement("S4-62", "S4-63")
@each_row("case", GOES)
def test_what_has_an_old_date_of_its_own_goes(case):
    made = plan(f"# T\n\n{GOES[case]}\n")
    one = only(made)
    assert (one.cause, one.date_source) == ("old", "own mark")
    assert one.reason == f"dated {one.date}, older than 90 days"
    assert one.text not in made.result.data.decode()


@pytest.mark.requirement("S4-62", "S4-63")
@each_row("case", STAYS)
def test_what_is_not_old_or_says_so_only_elsewhere_stays(case):
    text, cause = STAYS[case]
    title = "# Log 2026-01-01" if case == "a date in the title" else "# T"
    made = plan(f"{title}\n\n{text}\n")
    assert only(made).cause == cause
    assert made.removals == ()
    assert made.result is made.document


def test_the_plan_says_of_each_entry_where_it_stands_what_it_says_and_where_its_date_is_from():
    text = (
        "# T\n\n- lasting\n- [2026-01-01] old\n\n## 2025-12-01\n\n- learned\n\n"
        "## Fix\n**Date**: 2025-11-01\n\n- fixed\n- [2099-01-01] future\n"
    )
    made = plan(text)
    rows = [(one.line, one.cause, str(one.date), one.date_source, one.section) for one in (*made.removals, *made.kept)]
    assert rows == [
        (4, "old", "2026-01-01", "own mark", "T"),
        (3, "undated", "None", "", "T"),
        (8, "section", "2025-12-01", "heading", "2025-12-01"),
        (11, "section", "2025-11-01", "label", "Fix"),
        (13, "section", "2025-11-01", "label", "Fix"),
        (14, "future", "2099-01-01", "own mark", "Fix"),
    ]
    reasons = {one.cause: one.reason for one in made.kept}
    assert reasons["section"] == "its section is dated 2025-11-01; --sections takes it"
    assert reasons["future"] == "dated 2099-01-01, in the future; correct the date"
    assert reasons["undated"] == "undated, so lasting"
    assert [one.text for one in made.removals] == ["- [2026-01-01] old"]


def test_what_would_be_kept_but_is_not_old_counts_as_recent():
    made = plan("# T\n\n- [2026-06-01] [keep] x\n")
    assert (only(made).cause, only(made).reason) == ("recent", "dated 2026-06-01, not older than 90 days")


# -- sections ----------------------------------------------------------------------------------------------------------

SECTIONS = """\
# T

- lasting

## 2025-12-01

- a
- [keep] b
- [2026-06-01] newer than its section

### Details

- c

## 2026-06-01

- d
- [2026-01-01] older than its section
"""


def test_old_sections_are_named_and_taken_only_when_asked_for():
    doc = parse(SECTIONS)
    assert prune.old_sections(doc, today=TODAY, older_than=90) == [(5, "2025-12-01", date(2025, 12, 1))]
    assert texts(plan(SECTIONS).removals) == ["- [2026-01-01] older than its section"]
    made = plan(SECTIONS, sections=True)
    assert texts(made.removals) == ["- a", "- c", "- [2026-01-01] older than its section"]
    assert made.result.data.decode() == (
        "# T\n\n- lasting\n\n## 2025-12-01\n\n- [keep] b\n- [2026-06-01] newer than its section\n\n"
        "## 2026-06-01\n\n- d\n"
    )


def test_a_section_goes_whole_with_its_headings():
    text = "# T\n\n- x\n\n## 2025-12-01\n\nProse.\n\n### Details\n\n- c\n\n## B\n\n- y\n"
    assert plan(text, sections=True).result.data.decode() == "# T\n\n- x\n\n## B\n\n- y\n"


# -- suspicious dates --------------------------------------------------------------------------------------------------


def test_a_date_long_before_its_neighbours_is_taken_for_a_mistyped_year():
    made = plan("# T\n\n- [2026-06-01] a\n- [2025-06-02] b\n- [2026-06-03] c\n")
    (suspicious,) = [one for one in made.kept if one.cause == "suspicious"]
    assert suspicious.text == "- [2025-06-02] b"
    assert suspicious.reason == "dated 2025-06-02, long before the entries around it; is the year right?"


@each_row(
    "dates",
    [
        ["2026-06-01", "2025-12-01", "2026-06-03"],  # 182 days before, but less than that before the other
        ["2025-06-02", "2026-06-01", "2026-06-03"],  # the first
        ["2026-06-01", "2026-06-03", "2025-06-02"],  # the last
        ["2026-06-01", "2025-06-02", "2025-06-03", "2026-06-04"],  # two of one time
    ],
)
def test_a_date_that_something_near_it_confirms_is_believed(dates):
    dates = [one if one != "2025-12-01" else "2025-12-05" for one in dates]
    made = plan("# T\n\n" + "".join(f"- [{one}] x{number}\n" for number, one in enumerate(dates)))
    assert [one.date.isoformat() for one in made.removals if one.date] == [one for one in dates if one < "2026"]


def test_an_entry_is_suspicious_only_beside_entries_that_stay():
    # Once its neighbour has gone, nothing contradicts its date: a second run must not find out what the first did not.
    made = plan("# T\n\n- [2026-06-01] a\n- [2020-01-01] b\n- [2025-01-01] c\n")
    assert texts(made.removals) == ["- [2020-01-01] b", "- [2025-01-01] c"]
    again = plan("# T\n\n- [2026-06-01] a\n- [2020-01-01] b\n- [2025-01-01] [keep] c\n")
    assert [one.cause for one in again.kept] == ["recent", "suspicious", "kept"]


# -- to the limit ------------------------------------------------------------------------------------------------------

FULL = """\
# T

- lasting
- [2026-06-02] c
- [2026-06-01] b
- [2026-01-01] [keep] k
- [2026-06-01] b2
- [2026-05-01] a
"""


@each_row(
    "max_lines, gone",
    [(8, ""), (7, "a"), (6, "b a"), (5, "b b2 a"), (4, "c b b2 a"), (3, "c b b2 a"), (1, "c b b2 a")],
)
def test_to_the_limit_the_oldest_go_first_and_of_one_day_the_upper(max_lines, gone):
    made = to_limit(FULL, max_lines)
    assert [one.text.split("] ")[-1] for one in made.removals] == gone.split()
    assert made.result.line_count == max(4, 8 - len(gone.split()))
    assert {one.cause for one in made.kept} <= {"recent", "undated", "kept"}
    assert {one.reason for one in made.removals} <= {"among the oldest; the document is over its limit"}


def test_to_the_limit_of_bytes():
    size = len(FULL.encode())
    assert texts(to_limit(FULL, 200, max_bytes=size).removals) == []
    assert texts(to_limit(FULL, 200, max_bytes=size - 1).removals) == ["- [2026-05-01] a"]


def test_to_the_limit_takes_no_younger_ones_than_asked_no_sections_and_never_the_spared_one():
    assert texts(to_limit(FULL, 3, older_than=14).removals) == ["- [2026-05-01] a"]
    spared = parse(FULL).ids[-1]
    assert texts(to_limit(FULL, 7, spare=spared).removals) == ["- [2026-06-01] b"]
    text = "# T\n\n- lasting\n\n## 2026-01-01\n\n- s\n"
    assert texts(to_limit(text, 4).removals) == []
    assert texts(to_limit(text, 4, sections=True).removals) == ["- s"]


def test_to_the_limit_what_was_dated_today_goes_only_where_nothing_else_can():
    text = "# T\n\n- [2026-06-15] today\n- [2026-06-14] yesterday\n- [2026-06-16] tomorrow\n"
    assert texts(to_limit(text, 4).removals) == ["- [2026-06-14] yesterday"]
    assert texts(to_limit(text, 3).removals) == ["- [2026-06-15] today", "- [2026-06-14] yesterday"]


def test_what_would_fit_after_all_is_not_judged_suspicious_for_nothing():
    text = "# T\n\n- [2026-06-01] a\n- [2025-06-02] b\n- [2026-06-03] c\n"
    assert texts(to_limit(text, 4).removals) == ["- [2026-06-01] a"]
    assert texts(to_limit(text, 2).removals) == ["- [2026-06-01] a", "- [2025-06-02] b", "- [2026-06-03] c"]


# -- the plan as a whole -----------------------------------------------------------------------------------------------


@each_row("old, recent, most", [(0, 0, False), (1, 1, False), (2, 1, True), (2, 2, False), (1, 0, True)])
def test_more_than_half_is_most(old, recent, most):
    lines = [f"- [{OLD}] o{number}" for number in range(old)] + [f"- [{RECENT}] r{number}" for number in range(recent)]
    assert plan("\n".join(["# T", "", *lines, ""])).drops_most is most


def test_one_entry_that_cannot_be_cut_out_keeps_no_other():
    # The paragraph ends in what governs the list below it.
    text = f"# T\n\n- [{OLD}] one\n- stays\n\n[{OLD}] stuck. Always:\n\n- stays too\n\n## A\n\n- [{OLD}] two\n"
    with pytest.raises(Refused):
        remove(parse(text), parse(text).ids[2:3])
    made = plan(text)
    assert texts(made.removals) == [f"- [{OLD}] one", f"- [{OLD}] two"]
    (stuck,) = [one for one in made.kept if one.cause == "stuck"]
    assert stuck.text == f"[{OLD}] stuck. Always:"
    assert stuck.reason == "cannot be removed without changing the lines around it; edit it by hand"
    assert prune.plan_pruning(made.result, today=TODAY, older_than=90).removals == ()
    assert texts(to_limit(text, 11).removals) == [f"- [{OLD}] one"]
    assert texts(to_limit(text, 8).removals) == [f"- [{OLD}] one", f"- [{OLD}] two"]


def test_a_negative_age_takes_nothing_of_today():
    assert plan("# T\n\n- [2026-06-15] today\n", older_than=-300).removals == ()
    assert texts(plan("# T\n\n- [2026-06-14] x\n", older_than=0).removals) == ["- [2026-06-14] x"]


def test_fences_hold_no_entries_and_no_cut_leaves_one_open():
    text = (
        "# T\n\n- [2026-01-01] old\n  ````\n  ```\n  # Heading\n  - [2020-01-01] old\n  ```\n  ````\n"
        "- sample\n  ~~~\n  - [2020-01-01] old\n  ~~~\n- [2026-01-01] last\n  ```\n  never closed\n"
    )
    made = plan(text)
    assert made.result.data.decode() == "# T\n\n- sample\n  ~~~\n  - [2020-01-01] old\n  ~~~\n"


def test_a_remembered_text_with_dated_lines_is_one_entry_that_stays():
    new = compose.compose(
        "Release steps\n- [2020-01-02] tag the build\n- [2020-01-03] publish\n## 2020-01-04\n---", max_bytes=25_600
    )
    doc = add(parse("# T\n\n- first\n"), new).document
    assert len(doc.ids) == 2
    assert prune.plan_pruning(doc, today=TODAY, older_than=90, sections=True).removals == ()


def test_equal_entries_are_judged_each_by_its_own_date():
    made = plan("# T\n\n- [2026-01-01] same\n- [2026-06-01] same\n- same\n")
    assert texts(made.removals) == ["- [2026-01-01] same"]
    assert made.result.data.decode() == "# T\n\n- [2026-06-01] same\n- same\n"


def documents(corpus: list[Path], *, thorough: bool) -> list[Document]:
    found = []
    for path in corpus:
        try:
            if thorough or path.stat().st_size < 60_000:
                found.append(parse(path.read_bytes()))
        except DamagedFile:
            continue
    assert len(found) > 5
    return found


def check_done(made: Plan, again: Plan) -> None:
    """Check that a plan takes out what it says, and that one made from its result has nothing to do."""
    entries = len(made.document.ids)
    assert len(made.removals) + len(made.kept) == entries
    gone = {one.id for one in made.removals}
    assert [one.id for one in made.removals] == [one for one in made.document.ids if one in gone]
    assert all(one.date for one in made.removals)
    left = [line for line in made.result.lines if line.strip(" \t")]
    staying = [line for one in made.kept for line in one.text.split("\n") if line.strip(" \t")]
    position = iter(left)
    assert all(line in position for line in staying)
    assert again.removals == ()


def test_a_plan_for_some_of_it_takes_those_alone_and_keeps_the_rest_in_order():
    made = plan(f"# T\n\n- [{OLD}] a\n- b\n- [{OLD}] c\n- [{OLD}] d\n")
    a, c, d = made.removals
    some = prune.only(made, [c.id, "ffffffffffff"])
    assert [one.text for one in some.removals] == [c.text]
    assert [(one.text, one.cause) for one in some.kept] == [
        *((a.text, "unchosen"), ("- b", "undated"), (d.text, "unchosen")),
    ]
    assert some.result.data == made.document.data.replace(f"- [{OLD}] c\n".encode(), b"")
    assert made.drops_most
    assert not some.drops_most
    assert prune.only(made, []).result.data == made.document.data


@pytest.mark.slow
@pytest.mark.parametrize("sections", [False, True], ids=["own dates", "sections"])
def test_pruning_real_files_twice_is_pruning_them_once(some_files, request, sections):
    went = 0
    for doc in documents(some_files, thorough=request.config.getoption("--long")):
        days = [entry.day for entry in doc.outline.entries if entry.day]
        for age in (10, 30) if days else ():
            today = date.fromordinal(max(days)) + timedelta(days=20)
            made = prune.plan_pruning(doc, today=today, older_than=age, sections=sections)
            check_done(made, prune.plan_pruning(made.result, today=today, older_than=age, sections=sections))
            went += len(made.removals)
    assert went > 5


@pytest.mark.slow
def test_pruning_real_files_to_a_limit_twice_is_doing_it_once(some_files, request):
    went = 0
    for doc in documents(some_files, thorough=request.config.getoption("--long")):
        for share in (0.9, 0.3):
            limits = {"max_lines": int(doc.line_count * share), "max_bytes": 1 << 30, "today": date(2030, 1, 1)}
            made = prune.plan_to_limit(doc, sections=True, **limits)  # type: ignore[arg-type]
            check_done(made, prune.plan_to_limit(made.result, sections=True, **limits))  # type: ignore[arg-type]
            went += len(made.removals)
            if made.result.line_count > limits["max_lines"]:  # type: ignore[operator]
                assert not any(one.cause == "recent" for one in made.kept)
    assert went > 5


LINES = [
    *(
        "",
        "",
        "- lasting",
        "- same",
        "## Section",
        "## 2025-01-01",
        "### Sub",
        "---",
        "**Label:**",
        "<!-- c -->",
        "prose",
    ),
    *("1. numbered", "> quote", "  child", "[x]: /u", "- [N](n.md)", "| a | b |", "|---|---|", "```", "  <!-- in -->"),
]
DAYS = ["2019-05-01", "2025-01-01", "2025-12-01", "2026-03-01", "2026-05-30", "2026-06-15", "2026-07-01", "2026-02-30"]
DATED = [
    "- [{}] a",
    "- [{}] same",
    "- b ({})",
    "{}: c",
    "[{}] d",
    "- [{}] [keep] e",
    "## {}",
    "2. [{}] n",
    "- x\n  [{}] y",
]


@given(
    lines=st.lists(
        st.one_of(st.sampled_from(LINES), st.builds(str.format, st.sampled_from(DATED), st.sampled_from(DAYS))),
        max_size=14,
    ),
    age=st.sampled_from([0, 14, 90, 400]),
    sections=st.booleans(),
    max_lines=st.integers(1, 14),
)
def test_pruning_any_document_twice_is_pruning_it_once(lines, age, sections, max_lines):
    doc = parse("\n".join(["# T", *lines]))
    made = prune.plan_pruning(doc, today=TODAY, older_than=age, sections=sections)
    check_done(made, prune.plan_pruning(made.result, today=TODAY, older_than=age, sections=sections))
    limits = {"max_lines": max_lines, "max_bytes": 10_000, "today": TODAY, "sections": sections}
    fitted = prune.plan_to_limit(doc, **limits)
    check_done(fitted, prune.plan_to_limit(fitted.result, **limits))


# -- what has expired --------------------------------------------------------------------------------------------------


@each_row("text", [f"- {HELD} a", f"- [2026-06-13] {HELD} a", f"- {HELD} [2027-01-01] a", f"{HELD} a"])
def test_what_has_expired_goes_whatever_its_age(text):
    judged = only(plan(text))
    assert (judged.cause, judged.reason) == ("expired", "expired on 2026-06-14")
    assert only(plan(text, today=date(2026, 6, 14))).cause != "expired"


@each_row("text", [f"- [keep] {HELD} a", f"- {HELD} [keep] a", f"- {HELD} a, [keep] it", f"- a {HELD}"])
def test_what_is_kept_stays_though_it_has_expired(text):
    assert not plan(text).removals


def test_what_has_expired_does_not_count_for_more_than_half():
    expired = "".join(f"- {HELD} e{number}\n" for number in range(5))
    assert not plan(f"{expired}- a\n").drops_most
    assert not plan(f"{expired}- [{OLD}] old\n- a\n").drops_most
    assert plan(f"{expired}- [{OLD}] old\n- [{OLD}] older\n- a\n").drops_most
    assert not plan(expired).drops_most


def test_what_has_expired_makes_room_before_what_is_old():
    text = f"- [2026-01-01] a\n- {HELD} b\n- [2026-01-02] c\n"
    assert texts(to_limit(text, 2).removals) == [f"- {HELD} b"]
    assert texts(to_limit(text, 9).removals) == [f"- {HELD} b"]
    assert texts(to_limit(text, 1).removals) == ["- [2026-01-01] a", f"- {HELD} b"]


NEWEST_THAT_STAY = {
    "a value": ("- The API is on port 8410.\n- [2026-01-01] The API is on port 8500.", "- [2026-01-01] The"),
    "a value that has changed twice": (
        "- The API is on port 8410.\n- [2026-01-01] The API is on port 8500.\n- [2026-02-01] The API is on port 8600.",
        "- [2026-02-01] The API",
    ),
    "a name": ("- The jobs run with Celery.\n- [2026-01-01] The jobs run with Dramatiq.", "- [2026-01-01] The jobs"),
    "a denial": ("- The mail worker needs Redis.\n- [2026-01-01] The mail worker does not need Redis.", "- [2026-01"),
    "an older one that is kept": (
        "- [2025-01-01] [keep] The API is on port 8410.\n- [2026-01-01] The API is on port 8500.",
        "- [2026-01-01] The API",
    ),
    "what a branch has put above it": (
        "- [2026-01-01] The API is on port 8500.\n- The API is on port 8410.",
        "- [2026-01-01] The API",
    ),
}

OUTDATED = {
    "by a newer one": "- [2026-01-01] The API is on port 8410.\n- [2026-06-01] The API is on port 8500.",
    "by a newer one, of three": (
        "- The API is on port 8410.\n- [2026-01-01] The API is on port 8500.\n- [2026-06-01] The API is on port 8600."
    ),
    "about something else": "- The API is on port 8410.\n- [2026-01-01] The mock server is on port 8500.",
    "under another heading": "## Staging\n\n- The port is 8410.\n\n## Production\n\n- [2026-01-01] The port is 8500.",
}


@pytest.mark.requirement("S4-62", "S4-63")
@each_row("case", NEWEST_THAT_STAY)
def test_the_newest_value_does_not_go_before_an_older_one_that_stays(case):
    text, newest = NEWEST_THAT_STAY[case]
    made = plan(f"# T\n\n{text}\n")
    (spared,) = [one for one in made.kept if one.cause == "newer"]
    assert spared.text.startswith(newest)
    assert next(one.id for one in made.kept if one.cause in ("undated", "kept")) in spared.reason
    full = prune.plan_to_limit(made.document, today=TODAY, max_lines=1, max_bytes=25_600)
    assert spared.id in [one.id for one in full.kept]


@each_row("case", OUTDATED)
def test_an_old_value_goes_where_a_newer_one_stays_or_none_is_about_the_same(case):
    made = plan(f"# T\n\n{OUTDATED[case]}\n")
    assert [str(one.date) for one in made.removals] == ["2026-01-01"]

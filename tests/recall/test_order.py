"""The order in which entries are given up: no topic lost, no news lost."""

import pytest

from agent_memory_protocol.limits import split_lines
from agent_memory_protocol.recall.order import giving_up, newest, sizes_of
from agent_memory_protocol.text.dates import day_number
from agent_memory_protocol.tiers.entries import Entry, IndexLine, read
from tests.each_row import each_row


def given_up(text: str) -> list[str]:
    """Return the first line of each entry in the order in which they are given up."""
    document = split_lines(text)
    found = read(document)
    units: list[Entry | IndexLine] = sorted([*found.entries, *found.index_lines], key=lambda unit: unit.start)
    return [document[units[index].start].removeprefix("- ") for index in giving_up(units, sizes_of(document, units))]


ORDERS = [
    pytest.param("- a\n- b\n- c\n", ["a", "b", "c"], id="undated-from-the-top"),
    pytest.param(
        "- [2026-03-01] b\n- [2026-02-01] a\n- [2026-04-01] c\n",
        ["[2026-02-01] a", "[2026-03-01] b", "[2026-04-01] c"],
        id="oldest-first",
    ),
    pytest.param("- [2026-03-01] b\n- a\n", ["a", "[2026-03-01] b"], id="undated-before-recent"),
    pytest.param(
        "- [2026-06-01] new\n- [2025-06-01] old\n- a\n",
        ["[2025-06-01] old", "a", "[2026-06-01] new"],
        id="what-is-long-before-the-newest-goes-first",
    ),
    pytest.param(
        "- [2026-06-01] new\n- [2026-05-02] edge\n- a\n",
        ["a", "[2026-05-02] edge", "[2026-06-01] new"],
        id="thirty-days-are-not-more-than-thirty",
    ),
    pytest.param(
        "- [2026-06-01] new\n- [2026-05-01] old\n- a\n",
        ["[2026-05-01] old", "a", "[2026-06-01] new"],
        id="thirty-one-are",
    ),
    pytest.param(
        "- [2026-06-01] x\n- [2025-06-01] typo\n- [2026-06-01] y\n- a\n",
        ["a", "[2025-06-01] typo", "[2026-06-01] x", "[2026-06-01] y"],
        id="a-mistyped-year-between-new-ones-is-not-old",
    ),
    pytest.param(
        "- [2099-01-01] typo\n- [2026-06-01] new\n- a\n",
        ["a", "[2099-01-01] typo", "[2026-06-01] new"],
        id="a-lone-date-far-ahead-is-not-the-newest",
    ),
    pytest.param(
        "- [2026-06-01] new\n- [2024-06-01] old\n- a\n",
        ["[2024-06-01] old", "a", "[2026-06-01] new"],
        id="two-years-are-no-mistyped-year",
    ),
    pytest.param("opening\n\n- a\n- b\n", ["a", "b", "opening"], id="opening-prose-goes-last"),
    pytest.param("```\n" + "x\n" * 99 + "```\n\n- a\n- b\n", ["```", "a", "b"], id="unless-it-is-half-a-page"),
    pytest.param("- a\n- b\n\nclosing\n", ["a", "b", "closing"], id="later-prose-goes-in-turn"),
    pytest.param(
        "## Small\n- s1\n- s2\n## Large\n- l1 xxxxxxxxxxxxxxxxx\n- l2\n- l3\n",
        ["l1 xxxxxxxxxxxxxxxxx", "s1", "l2", "s2", "l3"],
        id="the-section-with-most-bytes",
    ),
    pytest.param(
        "## A\n- [2026-06-01] a1\n- [2026-06-01] a2\n"
        "## B\n- [2026-06-01] b1 x\n- [2026-06-01] b2 x\n- [2026-05-31] b3\n",
        ["[2026-05-31] b3", "[2026-06-01] b1 x", "[2026-06-01] a1", "[2026-06-01] a2", "[2026-06-01] b2 x"],
        id="of-one-day-the-section-with-most-bytes",
    ),
    pytest.param(
        "## A\n- a1\n## B\n- b1 x\n- b2 x\n- b3 x\n",
        ["b1 x", "b2 x", "b3 x", "a1"],
        id="no-last-entry-while-another-section-has-two",
    ),
    pytest.param(
        "## Old\n- [2020-01-01] only\n## New\n- [2026-06-01] n1\n- [2026-06-02] n2\n",
        ["[2026-06-01] n1", "[2020-01-01] only", "[2026-06-02] n2"],
        id="not-even-an-old-one",
    ),
    pytest.param(
        "## A\n- [2026-06-02] a\n## B\n- b\n## C\n- [2026-06-01] c\n## D\n- d, and more\n",
        ["d, and more", "b", "[2026-06-01] c", "[2026-06-02] a"],
        id="whole-sections-undated-before-dated-oldest-first",
    ),
    pytest.param(
        "## New\n- [2026-06-02] n1\n- [2026-06-02] n2\n## Old\n- [2026-05-20] o1\n- [2026-05-20] o2\n- u\n",
        ["u", "[2026-05-20] o1", "[2026-06-02] n1", "[2026-05-20] o2", "[2026-06-02] n2"],
        id="the-newest-day-after-the-others",
    ),
    pytest.param("- [T](a.md) - hook\n- a\n", ["[T](a.md) - hook", "a"], id="index-lines-are-undated"),
]


@pytest.mark.requirement("S4-60")
@each_row("text, order", ORDERS)
def test_entries_are_given_up_in_an_order_that_loses_neither_topic_nor_news(text, order):
    assert given_up(text) == order


def test_days_are_what_the_calendar_says():
    assert (day_number("2026-06-01") or 0) - (day_number("2026-05-02") or 0) == 30
    assert newest([]) is None

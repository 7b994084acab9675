"""How two entries meet: told over a table of pairs, and with the label and headings that govern them."""

from pathlib import Path

import pytest

from agent_memory_protocol.layout import Target, Tier
from agent_memory_protocol.tiers import document
from agent_memory_protocol.tiers.document import Document
from agent_memory_protocol.tiers.meet import CHANGED, OPPOSITE, SAME, meeting_of, meetings

NEITHER = "neither"
TABLE = Path(__file__).parents[1] / "data" / "meetings.tsv"
PAIRS = [line.split("\t") for line in TABLE.read_text(encoding="utf-8").splitlines()]
CORPUS = Path(__file__).parents[1] / "data" / "corpus"


def parse(text: str, target: Target = Target(Tier.SHARED)) -> Document:  # noqa: B008
    return document.parse(text.encode(), target)


def ways(*texts: str) -> list[str]:
    """Say how entries under one title meet, as a check sees it."""
    return [one.way for one in meetings([parse("# S\n\n" + "".join(f"- {text}\n" for text in texts))])]


def met(one: str, other: str) -> str:
    """Say how a new entry meets the one that is there, as a writer is told."""
    there = parse(f"# S\n\n- {one}\n- {other}\n")
    found = meeting_of(there, there.ids[1])
    return NEITHER if found is None else found.way


def figures(way: str) -> tuple[float, float]:
    """Return precision and recall of one way over the table."""
    told = [expected for expected, one, other in PAIRS if met(one, other) == way]
    right = told.count(way)
    return right / len(told), right / sum(expected == way for expected, *_ in PAIRS)


def test_the_table_has_twenty_pairs_of_each_kind():
    assert sorted(expected for expected, *_ in PAIRS) == sorted([SAME, CHANGED, NEITHER] * 20)


@pytest.mark.parametrize(("way", "recall"), [(SAME, 0.75), (CHANGED, 0.9)])
def test_what_is_told_of_a_pair_is_right_and_most_is_told(way, recall):
    precision, found = figures(way)
    assert precision == 1
    assert found >= recall


@pytest.mark.parametrize("pair", [pair for pair in PAIRS if pair[0] == NEITHER], ids=lambda pair: pair[1][:40])
def test_pairs_that_only_look_alike_are_told_apart(pair):
    assert met(*pair[1:]) == met(*reversed(pair[1:])) == NEITHER


# -- what governs an entry ---------------------------------------------------------------------------------------------

OLD = "The staging database is Postgres 14."
NEW = "The staging database is Postgres 16."


def document_ways(text: str) -> list[str]:
    return [one.way for one in meetings([parse(text)])]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("# S\n\n- push to main\n\nNever:\n\n- push to main\n", [OPPOSITE]),
        ("# S\n\n- push to main\n\n**Never**\n\n- push to main\n", [OPPOSITE]),
        ("# S\n\n- Never push to main\n\nNever:\n\n- push to main\n", []),
        ("# S\n\nStaging:\n\n- Uses Redis 6 here\n\nProduction:\n\n- Does not use Redis 6 here\n", []),
        ("# S\n\n## Staging\n\n- The database is Redis.\n\n## Production\n\n- The database is not Redis.\n", []),
        ("# S\n\n## A\n\n- The mail worker needs Redis.\n\n## B\n\n- The mail worker needs no Redis.\n", [OPPOSITE]),
        ("# S\n\n## 2026-01-05\n\n- The cache is shared.\n\n## 2026-02-05\n\n- The cache is not shared.\n", [OPPOSITE]),
        (f"# S\n\n## A\n\n- {OLD}\n\n## B\n\n- {NEW}\n", []),
        (f"# S\n\n## A\n\n- {OLD}\n- {NEW}\n", [CHANGED]),
        (f"# S\n\nLast year:\n\n- {OLD}\n\nThis year:\n\n- {NEW}\n", []),
        (f"# S\n\nNow:\n\n- {OLD}\n- Redis.\n- {NEW}\n", [CHANGED]),
        (f"# S\n\n- Billing. {OLD}\n- Search. {NEW}\n", []),
        (f"# S\n\n- Billing. {OLD} It is small.\n- Billing. {NEW}\n", [CHANGED]),
        (f"# S\n\n- [2026-01-01] {OLD}\n- [disputed] {NEW}\n", [CHANGED]),
    ],
)
def test_entries_meet_with_what_governs_them(text, found):
    assert document_ways(text) == found


def test_a_third_of_the_same_shape_makes_a_list_of_them():
    assert ways(OLD, NEW) == [CHANGED]
    assert ways(OLD, NEW, "The staging database is Postgres 15.") == []


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Tokens live for 60 minutes in the browser.", "Tokens live for 1 hour in the browser."),
        ("The image is at version v2.10 in CI.", "The image is at version 2.10 in CI."),
        ("Jobs start at 9am on the runner.", "Jobs start at 09:00 on the runner."),
        ("The build needs 1,000 MB on disk.", "The build needs 1000MB on disk."),
    ],
)
def test_one_value_in_two_spellings_has_not_changed(one, other):
    assert ways(one, other) == []


def test_a_changed_name_is_told_to_a_writer_and_never_found_in_a_check():
    pair = ("The staging database is Postgres.", "The staging database is MySQL.")
    assert met(*pair) == CHANGED
    assert ways(*pair) == []


@pytest.mark.parametrize(
    ("first", "second", "older"),
    [
        (OLD, NEW, OLD),
        (f"[2026-06-01] {OLD}", f"[2026-01-01] {NEW}", NEW),
        (f"[2026-06-01] {OLD}", NEW, OLD),
    ],
    ids=["file-order", "own-dates", "one-date"],
)
def test_the_older_is_told_by_its_own_date_and_else_by_its_place(first, second, older):
    (found,) = meetings([parse(f"# S\n\n- {first}\n- {second}\n")])
    assert found.in_order_of_age().first.text == older


def test_what_the_ledger_has_heard_of_first_is_older_than_its_place_says():
    (found,) = meetings([parse(f"# S\n\n- {OLD}\n- {NEW}\n")])
    heard = {OLD: "2026-02-01", NEW: "2026-01-01"}
    assert found.in_order_of_age(lambda one: heard[one.text]).first.text == NEW
    assert found.in_order_of_age(lambda one: heard[one.text] if one.text == OLD else "").first.text == OLD


def test_hardly_an_entry_of_real_files_is_told_wrongly():
    """Of the real files here, nothing is known to say the opposite or to have changed."""
    documents = [parse(path.read_text(encoding="utf-8")) for path in sorted(CORPUS.rglob("*.md"))]
    entries = sum(len(one.ids) for one in documents)
    found = [(one.first.text, one.second.text) for document in documents for one in meetings([document])]
    assert entries > 0
    assert len(found) <= entries / 1000, found


@pytest.mark.parametrize("text", ["**Owner:** Owner A", "Owner A is Owner.", "Stop.", "It is so.", "用户是", "5"])
def test_an_entry_of_hardly_any_words_meets_nothing(text):
    assert met("The mail worker needs Redis.", text) == NEITHER

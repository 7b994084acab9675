"""Entries fit a task by the words that they share with it, rare ones before common ones."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent_memory_protocol import recall_for_agent
from agent_memory_protocol.recall import task
from agent_memory_protocol.recall.task import fitting, scores
from benchmarks import tasks
from tests.each_row import each_row

COMMON = [f"Put the {topic} behaviour behind a flag." for topic in ("mail", "search", "login", "cart", "stock")]
SHARED = Path(".scaffolding/agent-memory/shared/KNOWLEDGE.md")


@each_row(
    "task, text",
    [
        ("Add a migration for a new column", "Migrations must be small."),
        ("migrate the database", "A migration locked the table."),
        ("fix parseDate", "parse_date takes ISO dates only."),
        ("fix parse_date", "`parseDate` takes ISO dates only."),
        ("the date parser in `utils/dates.py`", "utils/dates.py reads years with two digits."),
        ("Größe der Bilder ändern", "Bilder haben eine feste GRÖSSE: 300 Punkte für Größe L."),
        ("数据库迁移", "迁移必须小。"),
        ("behaviour of webhooks behind a flag", "Webhooks come twice."),
        ("fix the expiry of coupons", "They expire after an hour."),
        ("deploying on Friday", "Deployments need a second pair of eyes."),
        ("the pictures look wrong", "Photos keep their orientation."),
        ("the backup is broken", "Snapshots go to the bucket cold-eu."),
    ],
)
def test_the_text_with_the_rare_word_fits_best(task, text):
    found = scores(task, [*COMMON, text])
    assert max(found) == found[-1] > 0
    assert found.count(found[-1]) == 1


@each_row("task", ["", "please fix it", "Add a new one", "¯\\_(ツ)_/¯", "zzz qqq", "the of and"])
def test_a_task_that_says_nothing_of_the_memory_fits_nothing(task):
    assert scores(task, COMMON) == [0] * len(COMMON)


@each_row(
    "task, text",
    [
        ("the dashboard's charts", "The locale is the phone's, not the account's."),
        ("ok do it", "A range needs the header X-Range-Ok."),
        ("yes, continue, thanks", "The wizard asks: Continue? Yes or no."),
        ("crashes on iOS", "Size S of the shirts is sold out."),
    ],
)
def test_a_letter_or_a_word_of_assent_says_nothing(task, text):
    assert scores(task, [*COMMON, text])[-1] == 0


def test_the_same_word_counts_more_than_a_related_one_and_two_related_ones_once():
    same, related, twice = "Backups are daily.", "Snapshots are daily.", "A dump of a replica is enough."
    found = scores("check the backup", [*COMMON, same, related, twice])[-3:]
    assert found[0] > found[1] > 0
    assert found[2] == found[1]


def test_the_list_of_related_words_says_each_word_once_in_a_line():
    lines = (Path(task.__file__).parent / "related.txt").read_text(encoding="utf-8").splitlines()
    assert [line for line in lines if len({*line.split()}) < len(line.split()) or len(line.split()) < 3] == []
    assert max(map(len, lines)) < 121


def test_one_rare_word_of_six_is_enough():
    texts = [*COMMON, "Ingest workers deduplicate by sequence number."]
    assert fitting("Our cloud ingest drops readings at midnight UTC", texts)[-1] > 0
    assert fitting("Our cloud ingest drops all readings of sensors at midnight UTC", texts)[-1] == 0


@each_row("others, given", [(100, True), (240, True), (300, False), (450, False), (2000, False)])
def test_among_many_texts_one_rare_word_of_six_is_by_chance_and_two_are_not(others, given):
    texts = [*COMMON, *(f"Shelf {number} holds box {number}." for number in range(others))]
    task = "Our cloud ingest drops readings at midnight UTC"
    assert (fitting(task, [*texts, "Ingest workers deduplicate by sequence number."])[-1] > 0) == given
    assert fitting(task, [*texts, "Ingest workers restart at midnight."])[-1] > 0


@pytest.mark.parametrize(
    "task",
    [
        "Which florist sells yellow tulips beside the cart on Wednesday?",
        "Write an essay about whales, the login of sailors to harbours and old lighthouses",
    ],
)
def test_a_text_that_shares_one_word_of_many_does_not_fit(task):
    assert max(scores(task, COMMON)) > 0
    assert fitting(task, COMMON) == [0] * len(COMMON)


@each_row("task", ["the login is broken", "Put login behind a flag", "cart and stock", "mail"])
def test_a_text_that_shares_enough_of_a_task_fits_as_well_as_it_scores(task):
    best = max(scores(task, COMMON))
    assert max(fitting(task, COMMON)) == best > 0


@given(st.text(), st.lists(st.text(), max_size=6))
def test_a_word_more_never_makes_a_text_fit_worse_and_order_does_not_matter(task, texts):
    found = scores(task, texts)
    assert len(found) == len(texts)
    assert all(score >= 0 for score in found)
    assert scores(task, texts[::-1]) == pytest.approx(found[::-1])
    assert scores(task, [*texts, ""]) >= found


def test_recall_keeps_the_only_entry_that_has_the_rare_word(tmp_path):
    path = tmp_path / SHARED
    path.parent.mkdir(parents=True)
    rules = [f"- Put new {topic} behaviour behind a flag first.\n" for topic in tasks._THINGS if topic != "migrations"]
    boards = [
        f"- The new {topic} dashboard replaces the old one.\n" for topic in tasks._THINGS if topic != "migrations"
    ]
    small = "- Keep migrations small: the June one locked the table for four minutes.\n"
    path.write_text(f"# S\n\n## Rules\n\n{small}{''.join(rules)}\n## Dashboards\n\n{''.join(boards)}")
    for chars in (600, 900, 2_000):
        text = recall_for_agent(root=tmp_path, max_chars=chars, task="Add a migration for a new column", environ={})
        assert small in text
        assert small not in recall_for_agent(root=tmp_path, max_chars=chars, environ={})


@pytest.mark.parametrize("above", ["## Migrations\n\n", "## S2\n\nMigrations:\n\n"])
def test_the_words_of_a_heading_or_a_label_count_for_the_entries_below(tmp_path, above):
    path = tmp_path / SHARED
    path.parent.mkdir(parents=True)
    others = "".join(f"- Fact {number} about nothing of note.\n" for number in range(60))
    path.write_text(f"# S\n\n{above}- Keep them small.\n\n## Rest\n\n{others}")
    text = recall_for_agent(root=tmp_path, max_chars=700, task="Write a migration", environ={})
    assert f"{above.strip()}\n".replace("\n\n", "\n") in text.replace("\n\n", "\n")
    assert "- Keep them small." in text


@pytest.mark.slow
def test_what_tasks_need_is_given(tmp_path):
    tasks.fill(tmp_path)
    found = dict(tasks.shares(tmp_path))
    assert found["4,000 characters, with the task"] >= 0.85
    assert found["10,000 characters, with the task"] >= 0.95
    assert found["10,000 characters, no task, and 2,000 with the first prompt"] >= 0.95

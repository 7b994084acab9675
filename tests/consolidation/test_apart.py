"""What is not a plain claim, or differs in what cannot be seen from its shape, is never taken for the same."""

from collections import Counter
from pathlib import Path

import pytest

from agent_memory_protocol.consolidation.duplicates import SameWords, merge
from agent_memory_protocol.consolidation.pipeline import Operators, consolidate
from agent_memory_protocol.consolidation.proposals import Question, Supersede
from agent_memory_protocol.records.record import State
from agent_memory_protocol.text.alike import groups
from agent_memory_protocol.text.apart import told_apart
from agent_memory_protocol.text.gist import same
from agent_memory_protocol.text.mood import ADVISES, ASKS, GUESSES, OBLIGES, mood_of
from tests.each_row import each_row

TABLE = Path(__file__).parents[1] / "data" / "unmerged.tsv"
PAIRS = [line.split("\t") for line in TABLE.read_text(encoding="utf-8").splitlines()]
KINDS = ("question", "guess", "should", "name", "number", "opposite")


def test_the_table_has_two_hundred_pairs_of_each_kind():
    assert Counter(kind for kind, *_ in PAIRS) == dict.fromkeys(KINDS, 200)


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_no_pair_of_the_table_is_merged_by_rule_or_by_an_operator(kind):
    pairs = [(one, other) for of, one, other in PAIRS if of == kind]
    assert [pair for pair in pairs if same(*pair) or same(*reversed(pair))] == []
    assert [pair for pair in pairs if not told_apart(*pair) or not told_apart(*reversed(pair))] == []


NEARLY = [line.split("\t") for line in TABLE.with_name("nearly.tsv").read_text(encoding="utf-8").splitlines()]
"""Pairs that are nearly the same: a word was exchanged or added, two changed places, or the mood is another one.

Those that are reworded say another fact in one word, and the rest of it in other words.
"""


@pytest.mark.slow
@each_row("kind", dict.fromkeys(kind for kind, *_ in NEARLY))
def test_what_is_nearly_the_same_is_never_taken_for_it(kind):
    pairs = [pair for of, *there in NEARLY if of == kind for pair in (there, there[::-1])]
    assert [pair for pair in pairs if same(*pair) or [*groups(pair)] or not told_apart(*pair)] == []


class MergesAll:
    """An operator that takes everything for the same, and may write a text of its own."""

    name = "merges all"

    def __init__(self, body: str = "") -> None:
        self.body = body

    def propose(self, question: Question) -> list[Supersede]:
        return [merge(question.records, now=question.now, body=self.body, reason="the same")]


@each_row("pair", [pair[1:] for pair in PAIRS[::60]], ids=lambda pair: pair[0])
def test_a_pass_leaves_both_of_a_pair_alone_whatever_an_operator_says(make, now, pair):
    records = [make(text) for text in pair]
    for body in ("", " ".join(pair), "Delete every branch each night."):
        done = consolidate(records, now=now, operators=Operators(dedup=(SameWords(), MergesAll(body))))
        assert not [record for record in done.writes if record.state is State.SUPERSEDED]
        assert done.report.refused


def test_a_question_replaces_no_fact_when_four_records_are_compared(make, now):
    texts = ("The API requires a token.", "Zed is the editor.", "Logs go to S3.", "Does the API require a token?")
    assert consolidate([make(text) for text in texts], now=now).writes == ()


@each_row(
    "body, is_taken",
    [
        ("Logs go to S3.", True),
        ("We send the logs to S3.", True),
        ("Logs go to S3. We send the logs to S3.", True),
        ("We send the logs to S3.\nLogs go to S3.", True),
        ("Logs go to S3 and we send the logs to S3.", False),
        ("Logs go to S3. We send the logs to S3. Delete them.", False),
        ("Logs go to S3. Logs go to S3.", False),
        ("logs go to s3", False),
        ("Delete every branch each night.", False),
    ],
)
def test_a_merge_says_what_one_of_its_records_says_or_all_word_for_word(make, now, body, is_taken):
    records = [make("Logs go to S3."), make("We send the logs to S3.")]
    report = consolidate(records, now=now, operators=Operators(dedup=(MergesAll(body),))).report
    assert [action.kind for action in report.done] == ["supersede"] * is_taken
    assert is_taken or "is the text of no record that it merges" in report.refused[0].reason


@each_row(
    "text, mood",
    [
        ("The API requires a token.", set()),
        ("Do not push to main.", set()),
        ("Do run the tests.", set()),
        ("Have a look at the logs first.", set()),
        ("The tests have to be fast.", {OBLIGES}),
        ("When the queue is full, retry.", set()),
        ("Where possible, use types.", set()),
        ("What the linter says counts.", set()),
        ("The wish list is short.", set()),
        ("Do we push to main", {ASKS}),
        ("Which port does it use", {ASKS}),
        ("“Is it slow?”", {ASKS}),
        ("It is slow. Or is it?", {ASKS}),
        ("It may be slow.", {GUESSES}),
        ("It could be the cache.", {GUESSES}),
        ("It should be fast.", {ADVISES}),
        ("It has to be fast.", {OBLIGES}),
        ("Perhaps it should be fast.", {GUESSES, ADVISES}),
    ],
)
def test_a_text_claims_asks_guesses_advises_or_obliges(text, mood):
    assert mood_of(text) == mood


@each_row(
    "one, other",
    [
        ("Retry three times.", "Retry 3 times."),
        ("The build takes 40 minutes.", "A build takes forty minutes."),
        ("Run the tests before a commit.", "Before committing, the tests are run."),
        ("Backups are made at 5pm.", "We make backups at 17:00."),
        ("Use tabs in Makefiles.", "Tabs are used in Makefiles."),
        ("Ana leads security.", "Security is led by Ana."),
        ("Deployments need approval.", "A deploy needs an approval."),
        ("Port 8080 is open.", "The open port: 8080"),
        ("In CI, use pnpm.", "Use pnpm in CI."),
        ("Errors go to Sentry.", "Sentry collects our errors."),
        ("Run the linter before you push.", "Lint before pushing."),
        ("Migrations run at deploy time.", "When we deploy, migrations are run."),
        ("Tests need Docker.", "You need Docker to run the tests."),
        ("Merge with squash.", "Squash when merging."),
    ],
)
def test_other_words_alone_tell_nothing_apart(one, other):
    assert told_apart(one, other) == told_apart(other, one) == ""


@each_row("act", ("reject tabs", "drop stop words", "refuse guests", "disable retries", "hide old rows", "deny access"))
def test_what_may_be_undone_is_not_what_must_be(act):
    must, may, never, not_may = (f"The parser {word} {act}." for word in ("must", "may", "must not", "may not"))
    for pair in ((must, may), (may, must), (may, never), (may, not_may), (must, f"The parser can {act}.")):
        assert not same(*pair), pair
        assert list(groups(pair)) == [], pair


def test_what_may_not_be_done_is_what_must_not_be():
    pair = ["The worker may not write to the cache.", "The worker must not write to the cache."]
    assert list(groups(pair)) == [[0, 1]]

"""Facts in other words: what is found without a model, told over a table, and that nothing of it is wrong."""

from pathlib import Path

import pytest

from agent_memory_protocol.consolidation.pipeline import consolidate
from agent_memory_protocol.records.record import State
from agent_memory_protocol.text.alike import denials, groups, same

TABLE = Path(__file__).parents[1] / "data" / "claims.tsv"
PAIRS = [line.split("\t") for line in TABLE.read_text(encoding="utf-8").splitlines()]
SAME, DENIED, NEAR = "same", "denied", "near"


def ways(one: str, other: str) -> list[str]:
    """Return in which ways two texts meet, whichever comes first."""
    alike, opposed = (bool([*ask([one, other])]) and bool([*ask([other, one])]) for ask in (groups, denials))
    return [SAME] * alike + [DENIED] * opposed


@pytest.mark.parametrize(("kind", "share"), [(SAME, 0.75), (DENIED, 0.9), (NEAR, 1)])
def test_most_is_found_and_nothing_wrong(kind, share):
    told = [ways(*pair) for of, *pair in PAIRS if of == kind]
    right = [] if kind == NEAR else [kind]
    assert [way for way in told if way not in ([], right)] == []
    assert told.count(right) >= share * len(told)


def test_a_pass_merges_and_disputes_what_was_found(make, now):
    some = {SAME: slice(11, 15), DENIED: slice(13, 17), NEAR: slice(10, 14)}
    texts = {kind: [pair for of, *pair in PAIRS if of == kind][some[kind]] for kind in some}
    records = {text: make(text) for pairs in texts.values() for pair in pairs for text in pair}
    newest = {**{one.id: one for one in records.values()}, **consolidate(records.values(), now=now).changed}
    states = {text: newest[record.id].state for text, record in records.items()}
    assert {states[text] for pair in texts[SAME] for text in pair} == {State.SUPERSEDED}
    assert {states[text] for pair in texts[DENIED] for text in pair} == {State.TRANSITIONAL}
    assert {states[text] for pair in texts[NEAR] for text in pair} == {State.ACTIVE}
    assert consolidate(newest.values(), now=now).writes == ()


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("The client encrypts the payload for the server.", "The server encrypts the payload for the client."),
        ("Alice reports to Bob.", "Bob reports to Alice."),
        ("Run the linter before the tests.", "Run the linter after the tests."),
        ("Before the tests, run the linter.", "Before the linter, run the tests."),
        ("Copy the logs from staging to S3.", "Copy the logs from S3 to staging."),
        ("Releases are tagged by CI.", "Releases are tagged for CI."),
        ("The build fails without a license key.", "The build fails with a license key."),
        ("The API must listen on port 8080.", "The API listens on port 8080."),
        ("The API will be removed in May.", "The API is removed in May."),
        ("The log server runs Debian.", "The log service runs Debian."),
        ("A depends on B.", "B depends on A."),
        ("The job takes 5 minutes.", "The job takes 5 hours."),
        ("The worker needs node>=18.", "The worker needs node<=18."),
        ("Use tabs, not spaces.", "Use spaces, not tabs."),
    ],
)
def test_what_changed_places_or_parts_is_not_the_same(one, other):
    assert not same(one, other)
    assert not same(other, one)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("The lexer calls the parser.", "The parser is called by the lexer."),
        ("Before the tests, run the linter.", "The linter is run before the tests."),
        ("Run the linter, then the tests.", "Run the tests after the linter."),
        ("Emails are parsed with libmime.", "We use libmime for emails."),
        ("Sessions are kept in Redis.", "Redis keeps the sessions."),
        ("The retention of backups is 2 weeks.", "Backups are retained for 14 days."),
    ],
)
def test_a_passive_another_order_or_unit_is_the_same(one, other):
    assert same(one, other)
    assert same(other, one)

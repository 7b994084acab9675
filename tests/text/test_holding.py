import re
from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent_memory_protocol.learning import route, route_words
from agent_memory_protocol.text import alike, changed, claims, senses
from agent_memory_protocol.text.changed import Sourced
from agent_memory_protocol.text.holding import Holding, any_of
from agent_memory_protocol.text.language import Language

_FACTS = (
    "The cache is enabled in staging.",
    "The cache is not enabled in staging.",
    "The cache is disabled in staging.",
    "Use tabs in Go files.",
    "Never use tabs in Go files.",
    "We track issues with Linear.",
    "Linear isn't used for issues.",
    "Branches are unprotected during drafts.",
    "Branches are protected during drafts.",
    "Deploys no longer go out on Fridays.",
    "Deploys go out on Fridays.",
    "The API lacks pagination.",
    "The API has pagination.",
    "A restart is unnecessary; the queue survives it.",
    "A restart is needed.",
    "Indent with tabs, not spaces.",
    "Indent with spaces.",
    "Wait thirty seconds for the queue.",
    "The queue is on port 8080.",
    "The queue is on port 9090.",
    "The door is public.",
    "The door is private.",
    "The door is internal.",
    "Lint runs before the tests.",
    "Lint runs after the tests.",
    "Hot-reload is off in `src/app.py`.",
    "Hot-reload is on in `src/app.py`.",
)


@pytest.mark.slow
@given(st.lists(st.sampled_from(_FACTS), max_size=12))
def test_many_facts_at_once_deny_each_other_as_each_two_alone(facts):
    alone = {
        (numbers[one.denying], numbers[one.said])
        for numbers in combinations(range(len(facts)), 2)
        for one in alike.denials([facts[number] for number in numbers])
    }
    assert {(one.denying, one.said) for one in alike.denials(facts)} == alone


def test_a_denial_is_found_among_facts_that_are_not_read():
    facts = [f"Service {number} writes its log to disk." for number in range(200)]
    opposed = [*facts, "Use tabs in Go files.", "Never use tabs in Go files."]
    assert [(one.denying, one.said) for one in alike.denials(opposed)] == [(201, 200)]
    assert list(alike.denials(facts)) == []


def test_only_what_denies_and_what_it_may_deny_is_read(monkeypatch):
    read = []
    claims_of = claims.claims

    def noted(text: str, language: Language) -> list[claims.Claim]:
        read.append(text)
        return claims_of(text, language)

    monkeypatch.setattr(claims, "claims", noted)
    facts = [f"Service {number} writes its log to disk." for number in range(200)]
    list(claims.denials([*facts, "Use tabs in Go files.", "Never use tabs in Go files."]))
    assert sorted(read) == ["Never use tabs in Go files.", "Use tabs in Go files."]


@pytest.mark.parametrize(
    ("one", "other"),
    [
        pytest.param("Wait thirty seconds for the queue.", "Wait forty seconds for the queue.", id="number-words"),
        pytest.param("Releases go out on March 3.", "Releases go out on March 5.", id="month-and-day"),
        pytest.param("CI runs Python 3.11 with uv.", "CI runs Python 3.12 with uv.", id="version"),
    ],
)
def test_a_changed_value_is_found_among_facts_without_one(one, other):
    facts = ["The log goes to disk.", one, "The queue is durable.", other]
    assert list(changed.changes_between([Sourced(fact, number) for number, fact in enumerate(facts)])) == [(1, 3)]


def test_the_rarest_of_some_words_says_where_to_look():
    holding = Holding(["red blue", "red", "red green"], lambda raw: [raw])
    assert holding.of("red") == {0, 1, 2}
    assert holding.of_rarest(["red", "blue"]) == {0}
    assert holding.of_rarest(["red", "missing"]) == set()


@pytest.mark.parametrize(
    ("text", "loud"),
    [
        pytest.param("**Status:** APPROVED (v0.8)", True, id="emphasis-in-front"),
        pytest.param("The build is still failing.", True, id="in-the-middle"),
        pytest.param("Redis keeps the queue.", False, id="a-lesson"),
    ],
)
def test_what_may_speak_for_a_place_is_told_by_one_pattern(text, loud):
    kinds = route_words.STATE, route_words.REPOSITORY
    assert (route_words.may_speak(*kinds).search(text.lower()) is not None) is loud
    assert (route.outside(text) is not None) is loud


_PATTERNS = (
    "ab?c",
    "(?:is|are) ab(?:le|ove)?",
    "ab|ac|[ab]d",
    "a",
    "b{2}c",
    "a+d",
    "(?:ab|a(?:c|d))e",
    r"\d of",
    "(?:x|y)?ab",
    "",
)


@given(st.lists(st.sampled_from(_PATTERNS), min_size=1), st.text("abcdexy isrol12", max_size=12))
def test_patterns_put_together_by_their_letters_find_what_each_finds(patterns, text):
    together = re.compile(rf"\b{any_of(patterns)}(?!\w)").search(text)
    assert (together is not None) == any(re.search(rf"\b(?:{one})(?!\w)", text) for one in patterns)


_SAID = (
    "Is",
    "able to",
    "pull requests",
    "'s",
    "back",
    "up",
    "every",
    "other",
    "day",
    "At Least",
    "no",
    "longer",
    "5",
    "mfa",
    "p.m.",
)


@given(st.lists(st.sampled_from(_SAID), max_size=9).map(" ".join))
def test_a_phrase_that_is_looked_for_first_is_put_as_where_all_are(text):
    wanted = text
    for pattern, by in senses._SAID:
        wanted = re.sub(rf"\b(?:{pattern})(?!\w)", by, wanted, flags=re.IGNORECASE)
    assert senses.rephrase(text) == wanted

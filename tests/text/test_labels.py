"""Labels travel in front of the text that they govern, and come off it again."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent_memory_protocol.text import labels
from tests.each_row import each_row

FRONTS = [
    ("Never:", "push to main", "Never: push to main"),
    ("**Never:**", "push to main", "Never: push to main"),
    ("**Never**:", "push to main", "Never: push to main"),
    ("**Before a release**", "tag", "Before a release: tag"),
    ("_Nie:_", "a", "Nie: a"),
    ("决定：", "a", "决定: a"),
    ("**Never** on main:", "force", "**Never** on main: force"),
    ("🚫 **Never:**", "push to main", "🚫 Never: push to main"),
    ("**Do** ✅:", "lint", "Do ✅: lint"),
    ("Never: 🚫", "push", "Never 🚫: push"),
    ("", "push to main", "push to main"),
    ("Never:", "```\nrm\n```", "Never:\n```\nrm\n```"),
    ("To release:", "1. tag\n2. build", "To release:\n1. tag\n2. build"),
    ("Ports:", "| a | b |\n|---|---|", "Ports:\n| a | b |\n|---|---|"),
]


@each_row("label, text, front", FRONTS, ids=[front[:30] for _, _, front in FRONTS])
def test_a_label_stands_in_front_of_its_text_and_comes_off_again(label, text, front):
    assert labels.in_front(label, text) == front
    assert labels.taken_off(label, front) == (text if label else None)


@each_row(
    "label, wanted, is_meant",
    [
        ("🚫 **Never:**", "Never", True),
        ("🚫 **Never:**", "🚫 never:", True),
        ("✅ *Always* →", "always", True),
        ("**Do** ✅:", "do", True),
        ("❌ **Do**", "❌ Do", True),
        ("❌ **Do**", "Do", False),
        ("❌ Don\u2019t:", "Don't", False),
        ("❌ Don't:", "don't", True),
        ("✅ Do:", "❌ Do", False),
        ("Never:", "🚫 Never", False),
    ],
)
def test_a_label_is_meant_by_its_name_without_emoji_that_do_not_deny_it(label, wanted, is_meant):
    assert labels.names(label, wanted) is is_meant


def test_a_long_label_is_cut():
    front = labels.in_front("word " * 60 + ":", "text").removesuffix(": text")
    assert len(front) < labels.LONGEST
    assert front.endswith("word wor…")


@given(st.text(min_size=1, max_size=200), st.text(max_size=40))
def test_every_label_that_says_something_comes_off_again(label, text):
    if labels.plain(label):
        assert labels.taken_off(label, labels.in_front(label, text)) == text


def test_what_does_not_begin_with_the_label_keeps_its_text():
    assert labels.taken_off("Never:", "Nevertheless: a") is None
    assert labels.taken_off("Never:", "never: a") is None


@each_row("other", ["**Never:**", "never", "NEVER :", "__Never__", "*Never*:"])
def test_two_spellings_are_one_label(other):
    assert labels.key("Never:") == labels.key(other)


@pytest.mark.parametrize("other", ["Never ever:", "Ever:", "**Never** on main:"])
def test_other_words_are_another_label(other):
    assert labels.key("Never:") != labels.key(other)


ITEMS = [
    ("- push", "Never: push"),
    ("  * push", "Never: push"),
    ("7. push", "Never:\n7. push"),
    ("push", "Never: push"),
]


@each_row("item, front", ITEMS)
def test_the_bullet_of_an_item_gives_way_to_its_label(item, front):
    assert labels.in_front_of_item("Never:", item) == front
    assert labels.in_front_of_item("", item) == item

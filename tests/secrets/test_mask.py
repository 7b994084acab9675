"""What is shown of a text with secrets: their rules, in as many lines; all else as it was."""

import pytest

from agent_memory_protocol.secrets import mask
from agent_memory_protocol.secrets.find import find_secrets
from agent_memory_protocol.secrets.mask import beginning, masked, masked_lines, masked_values, may_hold
from tests.secrets.test_find import TOKEN, each_family, examples
from tests.test_secrets_measured import NO_SECRETS


@each_family
def test_no_value_of_a_family_is_shown(family):
    for text in examples(family, "found"):
        shown = masked(text)
        values = [text[one.start : one.end] for one in find_secrets(text)]
        assert may_hold(text), text
        assert values, text
        assert [value for value in values if value in shown and len(value) > 4] == [], text
        assert shown.count("\n") == text.count("\n"), text
        assert masked(shown) == shown, text


@each_family
def test_what_only_resembles_the_family_is_shown(family):
    assert [text for text in examples(family, "passed") if masked(text) != text] == []


def test_innocent_sentences_are_shown():
    assert [text for text in NO_SECRETS if masked(text) != text] == []


def test_the_rule_and_the_fingerprint_are_in_the_place_of_the_value():
    found = find_secrets(TOKEN)[0].fingerprint
    assert masked(f"CI uses `{TOKEN}`, as ever.") == (
        f"CI uses `(not shown: a GitHub token, rule github-token, fingerprint {found})`, as ever."
    )


def test_a_value_in_another_line_than_its_name_is_not_shown():
    assert masked_lines(["| user | password |", "|---|---|", "| bob | kX9.mQ2<vB7 |"])[2].startswith("| bob | (not ")
    key = ["-----BEGIN PRIVATE KEY-----", *["MIIEowIBAAKCAQEA0Z3VSqXg8Hk2PqLm"] * 3, "-----END PRIVATE KEY-----"]
    shown = masked_lines(["before", *key, "after"])
    assert (len(shown), shown[0], shown[-1]) == (7, "before", "after")
    assert "MII" not in "".join(shown)


def test_a_text_is_cut_after_its_secrets_are_out():
    assert TOKEN[:8] not in beginning(f"CI uses {TOKEN}", 20)


def test_the_texts_of_an_answer_are_shown_and_all_else_is_as_it_was():
    answer = {"text": TOKEN, "lines": [1, None, True, {"text": f"x {TOKEN}"}], "id": "3fa29c01"}
    shown = masked_values(answer)
    assert TOKEN not in str(shown)
    assert (shown["lines"][:3], shown["id"]) == ([1, None, True], "3fa29c01")


def test_what_a_project_allows_is_shown(monkeypatch):
    monkeypatch.setattr(mask, "_allowed", set())
    text = f"{TOKEN} and password: hunter2"
    mask.allow([find_secrets(TOKEN)[0].fingerprint])
    assert masked(text).startswith(f"{TOKEN} and password: (not shown")


@pytest.mark.parametrize(
    "text", ["", "\n", "The queue is Redis.", "日本語 and 👩\u200d💻", "- a [2026-01-02] `code` [a](b.md)"]
)
def test_a_plain_text_is_not_searched(text):
    assert not may_hold(text)
    assert masked(text) is text

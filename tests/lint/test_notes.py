"""Each rule on notes: what it must find, and what it must leave alone."""

import pytest

from tests.each_row import each_row

SHARED = ".scaffolding/agent-memory/shared/KNOWLEDGE.md"
GOOD = """\
---
name: feedback_a
description: Ask first
metadata:
  type: feedback
---
Ask before building.

**Why:** two months were lost.

**How to apply:** name three users.
"""
UNTYPED = GOOD.replace("metadata:\n  type: feedback\n", "")
EMPTY = GOOD.replace(" two months were lost.", "").replace(" name three users.", " ")
INDEX = "# Shared Knowledge\n- [A](feedback_a.md) - ask\n"


def found(project, rule, note, file="feedback_a.md", index=INDEX, **others):
    project.write({SHARED: index, file: note, **others})
    return [(one.line, one.severity) for one in project.check(rule)]


def test_a_good_note_and_its_index_have_no_findings(project):
    project.write({SHARED: INDEX, "feedback_a.md": GOOD})
    assert project.workspace.check(ignore=["review"]) == []


@each_row(
    "rule, note, expected",
    [
        ("note-header", "Ask first.\n", [(1, "warning")]),
        ("note-header", "---\nname: x\nAsk first.\n", [(1, "error")]),
        ("note-header", GOOD.replace("description: Ask first\n", ""), [(1, "warning")]),
        ("note-header", GOOD.replace("name:", "no key value line\nname:"), [(1, "error")]),
        ("note-header", GOOD.replace("name:", "<<<<<<< a\n=======\n>>>>>>> b\nname:"), [(2, "error")]),
        ("note-header", f"{GOOD}\n<<<<<<< a\nx\n=======\ny\n>>>>>>> b\n", [(GOOD.count("\n") + 2, "error")]),
        ("note-type", GOOD.replace("type: feedback", "type: project"), [(1, "error")]),
        ("note-type", GOOD.replace("type: feedback", "type: idea"), [(1, "warning")]),
        ("note-name", GOOD.replace("feedback_a\n", "Ask first\n"), [(1, "warning")]),
        ("note-no-why", GOOD.replace("**Why:** two", "Two"), [(None, "error")]),
        ("note-no-why", GOOD.replace("**Why:** two", "Why not ask two"), [(None, "error")]),
        ("note-no-how", GOOD.replace("**How to apply:** name", "Name"), [(None, "error")]),
        ("note-no-why", EMPTY, [(None, "error")]),
        ("note-no-why", GOOD.replace("**Why:** two", "**Why not ask?** Two"), [(None, "error")]),
        ("note-no-why", GOOD.replace("**Why:** two months were lost.", "## Why"), [(None, "error")]),
        ("note-no-why", GOOD.replace("**Why:** two", "That is **why** we ask. Two"), [(None, "error")]),
        (
            "note-no-how",
            GOOD.replace("**How to apply:** name", "How to apply the law is a question. Name"),
            [(None, "error")],
        ),
        ("note-no-how", EMPTY, [(None, "error")]),
        ("note-no-why", UNTYPED.replace("**Why:** two", "Two"), [(None, "error")]),
        ("note-no-how", UNTYPED.replace("**How to apply:** name", "Name"), [(None, "error")]),
        (
            "note-order",
            GOOD.replace("**Why:** two months were lost.\n\n", "") + "\n**Why:** two months.\n",
            [(9, "warning")],
        ),
        ("note-after", GOOD + "\n## Another fact\n- x\n", [(13, "warning")]),
        ("note-large", GOOD + "x" * 2_000, [(None, "warning")]),
        ("note-link", GOOD + "\nSee [[nowhere]].\n", [(13, "warning")]),
        ("note-invisible-characters", GOOD + "a\u200bb\n", [(12, "error")]),
    ],
    fresh=True,
)
def test_a_rule_finds(project, rule, note, expected):
    assert found(project, rule, note) == expected


@pytest.mark.requirement("S2-10")
@pytest.mark.parametrize(("size", "is_large"), [(600, False), (2_000, False), (2_001, True)])
def test_a_note_is_large_from_two_thousand_bytes_on(project, size, is_large):
    note = GOOD + "é" * ((size - len(GOOD)) // 2) + "x" * ((size - len(GOOD)) % 2)
    assert len(note.encode()) == size
    assert bool(found(project, "note-large", note)) is is_large


@pytest.mark.requirement("S2-15", "S2-16")
@pytest.mark.parametrize("note_type", ["user", "reference"])
def test_a_missing_why_is_a_warning_for_the_other_two_types(project, note_type):
    note = GOOD.replace("feedback", note_type).replace("**Why:** two", "Two")
    assert found(project, "note-no-why", note, f"{note_type}_a.md") == [(None, "warning")]


@pytest.mark.requirement("S2-15", "S2-17")
@pytest.mark.parametrize(
    ("file", "expected"), [("a.md", []), ("project-a.md", []), ("project_a.md", [(None, "error")])]
)
def test_a_note_without_a_type_in_its_header_has_that_of_its_file_and_a_mere_page_none(project, file, expected):
    for rule in ("note-no-why", "note-no-how"):
        assert found(project, rule, "# A page\n\nText.\n", file) == expected


@each_row(
    "rule, note",
    [
        ("note-header", GOOD.replace("metadata:\n  type", "type")),
        ("note-header", GOOD.replace("name:", "license: x\n# a comment\nname:")),
        ("note-header", f"{GOOD}\n```\n<<<<<<< a\nx\n=======\ny\n>>>>>>> b\n```\n"),
        ("note-type", GOOD.replace("metadata:\n  type: feedback\n", "")),
        ("note-name", GOOD),
        ("note-name", GOOD.replace("feedback_a\n", "a\n")),
        ("note-no-why", GOOD.replace("**Why:**", "**Why**:")),
        ("note-no-why", GOOD.replace("**Why:**", "**Why it matters:**")),
        ("note-no-why", GOOD.replace("**Why:** two", "## Why\n\nTwo")),
        ("note-no-why", GOOD.replace("**Why:** two", "**Why:**\n\n- two")),
        ("note-no-how", GOOD.replace("**How to apply:** name", "**How to apply:**\nname")),
        ("note-no-why", GOOD.replace("**Why:**", "**Why.**")),
        ("note-no-why", GOOD.replace("**Why:**", "**Why** —")),
        ("note-no-why", GOOD.replace("**Why:** two", "## Why this matters\n\nTwo")),
        ("note-no-why", GOOD.replace("**Why:**", "Why we do this:")),
        ("note-no-why", UNTYPED),
        ("note-no-how", GOOD.replace("**How to apply:**", "How to apply:")),
        ("note-no-how", GOOD.replace("**How to apply:**", "**How to apply (in this repository):**")),
        ("note-order", GOOD),
        ("note-after", GOOD + "\nMore of the how.\n\n- a step\n"),
        ("note-large", GOOD),
        ("note-link", GOOD + "\nSee [[feedback_a]], [[feedback-a]], [[a]], [[a.md|x]], [[a#why]], `[[code]]`.\n"),
        ("note-no-how", GOOD.replace("**How to apply:**", "**How to apply (reviewers):**")),
        ("note-no-how", GOOD.replace("**How to apply:**", "__How to apply.__")),
        ("note-no-how", GOOD.replace("**How to apply:** name", "## How to apply it\n\nName")),
        ("note-link", GOOD.replace("name: feedback_a", "name: Ask first of all") + "\n[[ask-first-of-all]], [[a]].\n"),
        ("note-link", GOOD + "\nA test `[[ -f x ]]` and [[../CLAUDE.md]].\n"),
        ("note-invisible-characters", GOOD.replace("\n", "\r\n")),
    ],
    fresh=True,
)
def test_a_rule_leaves_alone(project, rule, note):
    assert found(project, rule, note) == []


@pytest.mark.parametrize("label", ["**Why / how to apply:**", "**Why and how to apply:**", "## Why, how to apply\n\n"])
def test_one_paragraph_may_say_why_and_how(project, label):
    note = GOOD.partition("**Why:**")[0] + f"{label} two months were lost, so name three users.\n"
    for rule in ("note-no-why", "note-no-how"):
        assert found(project, rule, note) == []

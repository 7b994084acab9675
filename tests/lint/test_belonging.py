"""The rules on what does not belong in memory: what they must find, and what they must leave alone."""

import pytest

HEAD = "# Shared Knowledge\n"
AGENT = ".scaffolding/agent-memory/agents/developer/MEMORY.md"
CONVERSATION = ".scaffolding/conversations/7f3a/agent-memory/context.md"
PASSWORD = "password = " + "Rj7kQ20LqXz81mPw"
NOTE = """\
---
name: project_a
description: {}
metadata:
  type: project
---
Fact.

**Why:** w

**How to apply:** h
"""


@pytest.mark.requirement("S2-31", "S2-32", "S2-05")
@pytest.mark.parametrize(
    ("rule", "entry"),
    [
        ("secret", PASSWORD),
        ("belongs-state", "Sent the report on the 8th."),
        ("belongs-state", "All 214 tests pass, coverage 87 %."),
        ("belongs-state", "**Status:** PRs open, awaiting review."),
        ("belongs-repository", "The bug was introduced in PR #311 and fixed in #318."),
        ("belongs-repository", "The OrderStatus enum has the values pending and paid."),
    ],
)
def test_a_rule_finds_in_a_document_and_in_a_note(project, rule, entry):
    assert project.hits(rule, f"{HEAD}- Fine.\n- {entry}\n") == [3]
    project.write({"project_a.md": NOTE.format(entry), AGENT: f"# D\n- {entry}\n"})
    assert {one.path.rpartition("/")[2] for one in project.check(rule)} == {"KNOWLEDGE.md", "project_a.md", "MEMORY.md"}


@pytest.mark.parametrize(
    ("rule", "entry"),
    [
        ("secret", "The password is kept in env/db.txt."),
        ("secret", "password = <your password>"),
        ("secret", "Commit 9f8c2b7e41d05a6388c1f4d2ab93e07c5561d8fa broke it."),
        ("belongs-state", "[2026-05-08] Sent the report on the 8th."),
        ("belongs-state", "Never deploy while a migration is running."),
        ("belongs-state", "When the build is red, the cache is stale."),
        ("belongs-state", "Reports are sent on the 8th because the auditor asks for them."),
        ("belongs-repository", "Readers live in `src/readers/`."),
        ("belongs-repository", "Never rename the enum: customers' exports hold its values."),
        ("belongs-repository", "Fixed by hand after each release, otherwise the badge is wrong."),
    ],
)
def test_a_rule_leaves_alone(project, rule, entry):
    assert project.hits(rule, f"{HEAD}- {entry}\n") == []


@pytest.mark.parametrize(
    ("rule", "entry"),
    [("belongs-state", "Sent the report on the 8th."), ("belongs-repository", "Introduced in PR #311, fixed in #318.")],
)
def test_in_a_conversation_both_are_welcome(project, rule, entry):
    project.write({CONVERSATION: f"# Conversation 7f3a Context\n- {entry}\n"})
    assert project.check(rule) == []


def test_a_secret_is_found_in_conversations_too_and_never_repeated(project):
    project.write({CONVERSATION: f"# Conversation 7f3a Context\n- {PASSWORD}\n"})
    (found,) = project.check("secret")
    assert (found.severity, found.line) == ("error", 2)
    assert PASSWORD.rpartition(" ")[2] not in found.message


def test_an_allowed_fingerprint_is_no_secret(project):
    project.hits("secret", f"{HEAD}- {PASSWORD}\n")
    (found,) = project.check("secret")
    fingerprint = found.message.partition("allow ")[2].partition(" ")[0]
    project.write({".scaffolding/amp.toml": f'[secrets]\nallow = ["{fingerprint}"]\n'})
    assert project.check("secret") == []


@pytest.mark.requirement("S2-33")
def test_the_finding_asks_what_was_not_obvious(project):
    project.hits("belongs-repository", f"{HEAD}- The OrderStatus enum has the values pending and paid.\n")
    (found,) = project.check("belongs-repository")
    assert found.severity == "warning"
    assert "what was non-obvious about it? Save that instead" in found.message

"""Each rule on tier documents: what it must find, and what it must leave alone."""

import pytest

HEAD = "# Shared Knowledge\n"
CONVERSATION = ".scaffolding/conversations/7f3a/agent-memory/context.md"
CONFLICT = "- a\n<<<<<<< HEAD\n- ours\n=======\n- theirs\n>>>>>>> side\n"
LONG = "x" * 400


@pytest.mark.parametrize(
    ("rule", "text", "lines"),
    [
        ("tier-over-limit", HEAD + "- x\n" * 200, [None]),
        ("tier-over-limit", HEAD + f"- {LONG}\n" * 64, [None]),
        ("tier-near-limit", HEAD + "- x\n" * 179, [None]),
        ("tier-near-limit", HEAD + "- x\n" * 199, [None]),
        ("tier-near-limit", HEAD + f"- {LONG}\n" * 60, [None]),
        ("tier-header", "- a fact\n", [1]),
        ("tier-header", "## Topic\n- a fact\n", [1]),
        ("tier-header", "prose\n\n# Shared Knowledge\n", [1]),
        ("tier-no-heading", "- a fact\n- another\n", [1]),
        ("tier-no-heading", "<!-- c -->\n- a fact\n\n# Shared\n- b\n", [2]),
        ("tier-prose", HEAD + "\nTwo lines\nof prose.\n", [3]),
        ("tier-unclosed-fence", HEAD + "- a\n\n```sh\nx\n- b\n", [4]),
        ("tier-unclosed-fence", HEAD + "~~~\nx\n```\n", [2]),
        ("tier-unclosed-fence", HEAD + "- a\n\n<!-- open\n\n- b\n", [4]),
        ("tier-conflict-markers", HEAD + CONFLICT, [3]),
        ("tier-conflict-markers", HEAD + "```\nx\n```\n" + CONFLICT + "```\n" + CONFLICT + "```\n", [6]),
        ("tier-double-heading", HEAD + "## Redis\n- a\n\n## redis\n- b\n", [5]),
        ("tier-double-heading", HEAD + "## A\n- a\n\n## A\n- b\n\n## A\n- c\n", [5, 8]),
        ("invisible-characters", HEAD + "- a\u200bb\n- \x1b[31m\n- c\u202ed\n", [2, 3, 4]),
    ],
)
def test_a_rule_finds(project, rule, text, lines):
    assert project.hits(rule, text) == lines


@pytest.mark.parametrize(
    ("rule", "text"),
    [
        ("tier-over-limit", HEAD + "- x\n" * 199),
        ("tier-over-limit", (HEAD + "- x\n" * 199).replace("\n", "\r\n")),
        ("tier-over-limit", (HEAD + "- x\n" * 199).rstrip("\n")),
        ("tier-near-limit", HEAD + "- x\n" * 178),
        ("tier-near-limit", HEAD + "- x\n" * 200),
        ("tier-header", ""),
        ("tier-header", HEAD),
        ("tier-header", "<!-- a comment -->\n\n# Shared\n- a\n"),
        ("tier-header", "---\nowner: me\n---\n# Shared\n- a\n"),
        ("tier-no-heading", HEAD + "- a fact\n"),
        ("tier-no-heading", "- [A note](a.md) - an index line is not an entry\n"),
        ("tier-prose", HEAD + "\nOne line of prose.\n\n- a bullet\n  on two lines\n"),
        ("tier-unclosed-fence", HEAD + "```sh\nx\n```\n- b\n"),
        ("tier-unclosed-fence", HEAD + "````\n```\n````\n"),
        ("tier-unclosed-fence", HEAD + "- a\n\n<div>\n\n- b\n\n<!-- c\n-->\n"),
        ("tier-unclosed-fence", HEAD + "- inline ``` is not a fence\n"),
        ("tier-conflict-markers", HEAD + "Title\n=======\n- a\n"),
        ("tier-conflict-markers", HEAD + "```\n" + CONFLICT + "```\n"),
        ("tier-double-heading", HEAD + "## A\n### Why\n- a\n\n## B\n### Why\n- b\n"),
        ("invisible-characters", HEAD + "- café — naïve … 日本語 👩‍💻 ❤️\n\ttab\n"),
        ("invisible-characters", (HEAD + "- a\n").replace("\n", "\r\n")),
    ],
)
def test_a_rule_leaves_alone(project, rule, text):
    assert project.hits(rule, text) == []


@pytest.mark.requirement("S4-51")
@pytest.mark.parametrize(("lines", "is_found"), [(20, False), (21, True)])
def test_raw_data_in_a_conversation(project, lines, is_found):
    text = "# Conversation 7f3a Context\n- Log:\n\n  ```\n" + "  x\n" * lines + "  ```\n"
    project.write({CONVERSATION: text})
    assert bool(project.check("conversation-raw-data")) is is_found
    assert project.hits("conversation-raw-data", text) == []

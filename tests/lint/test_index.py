"""Each rule on the index: what it must find, and what it must leave alone."""

import pytest

SHARED = ".scaffolding/agent-memory/shared/KNOWLEDGE.md"
INDEX = "# Shared Knowledge\n- [A](feedback_a.md) - ask\n"
LINES = "".join(f"- [N {number}](n{number}.md) - x\n" for number in range(51))


def found(project, rule, index):
    project.write({SHARED: index, "feedback_a.md": "---\nname: feedback_a\ndescription: Ask first\n---\n"})
    return [(one.line, one.severity) for one in project.check(rule)]


@pytest.mark.requirement("S2-23", "S2-26")
@pytest.mark.parametrize(
    ("rule", "index", "expected"),
    [
        ("index-orphan", "# Shared Knowledge\n- a fact\n", [(None, "error")]),
        ("index-orphan", "# S\n- Run `feedback_a --now`, feedback_a, and `a`.\n", [(None, "error")]),
        ("index-dangling", INDEX + "- [Gone](feedback_gone.md) - x\n", [(3, "error")]),
        ("index-double", INDEX + "- [Again](feedback_a.md) - x\n", [(3, "warning")]),
        ("index-over-screen", f"# S\n{LINES}", [(None, "warning")]),
        ("index-line-long", INDEX + f"- [Long](feedback_a.md) - {'x' * 300}\n", [(3, "warning")]),
    ],
)
def test_an_index_rule_finds(project, rule, index, expected):
    assert found(project, rule, index) == expected


@pytest.mark.parametrize(
    ("rule", "index"),
    [
        ("index-orphan", INDEX),
        ("index-orphan", "# S\n| Note | About |\n|---|---|\n| `feedback_a.md` | ask |\n"),
        ("index-orphan", "# S\n- see [[feedback_a]]\n"),
        ("index-orphan", "# S\n- Ask before building (`feedback_a`).\n"),
        ("index-orphan", "# S\n1. **[A](./feedback_a.md#why)** — ask\n"),
        ("index-dangling", INDEX + "- [Docs](../../../docs/x.md) - elsewhere\n- [Web](https://a.example/x.md)\n"),
        ("index-dangling", INDEX + "```\n- [Gone](gone.md) - a sample\n```\n"),
        ("index-double", INDEX + "\nAlso [A](feedback_a.md) in running text.\n"),
        ("index-over-screen", f"# S\n{LINES.replace('- [N 50](n50.md) - x', '')}"),
        ("index-line-long", INDEX),
    ],
)
def test_an_index_rule_leaves_alone(project, rule, index):
    assert found(project, rule, index) == []

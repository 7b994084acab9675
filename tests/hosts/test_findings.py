"""Findings are read from what agents really write; a sample of a block is none."""

import pytest

from agent_memory_protocol.hosts.findings import Reported, entry_text, read_findings, reporter_named_in
from agent_memory_protocol.layout import Tier
from tests.each_row import each_row

BLOCK = """\
The review is done.

```memory-findings
- shared: Staging runs Postgres 14, production 15.
- conversation: The failing import comes from
  the new date format.
- **agent:** Look at conftest.py first.
* The linter ignores: generated files.
- Shared : spaced
-
```

Bye.
"""
FINDINGS = [
    Reported("Staging runs Postgres 14, production 15.", Tier.SHARED),
    Reported("The failing import comes from the new date format.", Tier.CONVERSATION),
    Reported("Look at conftest.py first.", Tier.AGENT),
    Reported("The linter ignores: generated files."),
    Reported("spaced", Tier.SHARED),
]


@pytest.mark.requirement("S4-56")
@each_row(
    "output",
    [BLOCK, BLOCK.replace("```", "~~~~"), BLOCK.replace("\n", "\r\n"), BLOCK.replace("```memory", "``` memory"),
     BLOCK.replace("```", "  ```"), BLOCK.rpartition("```")[0], "\ufeff" + BLOCK.partition("\n\n")[2]],
    ids=["backticks", "tildes", "crlf", "blank", "indented", "unclosed", "byte order mark"],
)  # fmt: skip
def test_each_bullet_of_a_block_is_a_finding(output):
    found = read_findings(output)
    assert found[: len(FINDINGS)] == FINDINGS


@each_row(
    "bullet, text",
    [
        ("- [ ] shared: rotate the key", "[ ] rotate the key"),
        ("- [2026-04-04] Shared: a hook", "[2026-04-04] a hook"),
        ("- ✅ 2026-04-04: **shared:** a hook", "✅ 2026-04-04: a hook"),
        ("* [keep] [2026-04-04] shared: a hook", "[keep] [2026-04-04] a hook"),
        ("1. shared: a", "a"),
        ("1. shared: a\n2. shared: b", "a b"),
        ("- [shared: a](b.md)", "[shared: a](b.md)"),
    ],
)
def test_the_tier_is_named_behind_the_marks_of_a_finding(bullet, text):
    found = read_findings(f"```memory-findings\n{bullet}\n```\n")
    assert " ".join(one.text for one in found) == text
    assert {one.tier for one in found} == {None if "shared:" in text else Tier.SHARED}


def test_two_blocks_are_read_in_their_order():
    assert read_findings(BLOCK + "\n" + BLOCK) == FINDINGS * 2


@each_row(
    "output",
    [
        "",
        "memory-findings\n- x",
        "```\n- x\n```",
        "```memory-findings-not\n- x\n```",
        "```text\n```memory-findings\n- x\n",
        f"````markdown\n{BLOCK}````\n",
        "```memory-findings\nno bullet\n```",
        "```memory-findings\n```\n- after\n",
        "```memory-findings `x`\n- x\n```",
        "- a\n\n      ```memory-findings\n      - x\n",
    ],
)
def test_what_is_no_block_has_no_findings(output):
    assert read_findings(output) == []


@pytest.mark.requirement("S4P-06")
@each_row(
    "header, name",
    [
        ("---\nagent: reviewer\ntask: look\nstatus: success\ngate: pass\n---\n", "reviewer"),
        ('\n---\nagent: "scaffolding:reviewer"\n---\n', "scaffolding:reviewer"),
        ("---\ntask: look\n---\n", None),
        ("agent: reviewer\n", None),
        ("", None),
    ],
)
def test_the_front_matter_of_an_output_names_who_reports(header, name):
    assert reporter_named_in(header + BLOCK) == name


@pytest.mark.requirement("S4-57")
def test_an_entry_names_who_reported_and_who_saved_it():
    finding = Reported("Staging runs Postgres 14.", Tier.SHARED)
    assert entry_text(finding, "reviewer") == "Staging runs Postgres 14. (reported by reviewer)"
    assert entry_text(finding, "reviewer", writer="dev").endswith("(reported by reviewer, saved by dev)")
    assert entry_text(finding, "dev", writer="dev").endswith("(reported by dev)")
    assert entry_text(finding, "dev", meant_for=Tier.SHARED).endswith("(reported by dev, meant for shared)")


GOVERNED = {
    "a label": ("Never:\n- push to main\n- force\n", [("push to main", "", "Never:"), ("force", "", "Never:")]),
    "a label of its own for each list": (
        "Never:\n\n- a\n\n**Always**\n\n- b\n",
        [("a", "", "Never:"), ("b", "", "**Always**")],
    ),
    "a heading": ("## Git\n\n- a\n\n## CI\n- b\n", [("a", "Git", ""), ("b", "CI", "")]),
    "a heading ends what a label governs": ("Never:\n- a\n\n## CI\n- b\n", [("a", "", "Never:"), ("b", "CI", "")]),
    "so does a paragraph": ("Never:\n- a\n\nIt is so.\n\n- b\n", [("a It is so.", "", "Never:"), ("b", "", "")]),
    "text above the first bullet": ("I have found this.\n\n- a\n", [("a", "", "")]),
    "no heading and no label": ("- a #1\n- b:\n- c\n", [("a #1", "", ""), ("b:", "", ""), ("c", "", "")]),
    "a numbered list, which is one finding": (
        "Never:\n\n1. push\n2. squash\n\n- a\n",
        [("1. push\n2. squash", "", "Never:"), ("a", "", "Never:")],
    ),
    "headings below each other": (
        "# Findings\n\n## Staging\n\n### Git\n\n- a\n\n## CI\n\n### Git\n\n- b\n",
        [("a", "Staging > Git", ""), ("b", "CI > Git", "")],
    ),
    "a nested list": ("- a:\n  - b\n    - c\n- d\n", [("a:\n- b\n  - c", "", ""), ("d", "", "")]),
    "a fence of the same length that says what it holds": (
        "- a:\n  ```sh\n  b\n  ```\n- c\n",
        [("a:\n```sh\nb\n```", "", ""), ("c", "", "")],
    ),
    "a bare fence in an item": ("- a:\n\n  ```\n  b\n  ```\n- c\n", [("a:\n\n```\nb\n```", "", ""), ("c", "", "")]),
    "a table": (
        "- a\n\n| b | c |\n|---|---|\n| d | e |\n",
        [("a", "", ""), ("| b | c |\n|---|---|\n| d | e |", "", "")],
    ),
    "two labels above each other": ("Git:\n\nNever:\n\n- a\n", [("a", "", "Git: Never:")]),
    "a label with a comment below it": ("Never:\n\n<!-- since May -->\n\n- a\n", [("a", "", "Never:")]),
    "a further line that ends in a colon": ("- a\n  and so:\n- b\n", [("a and so:", "", ""), ("b", "", "")]),
}


@each_row("block, found", GOVERNED.values(), ids=GOVERNED)
def test_a_finding_keeps_the_heading_and_the_label_above_it(block, found):
    read = read_findings(f"```memory-findings\n{block}```\n")
    assert [(one.text, one.section, one.label) for one in read] == found

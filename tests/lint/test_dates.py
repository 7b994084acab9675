"""Each rule on dates: what it must find, and what it must leave alone."""

import pytest

HEAD = "# Shared Knowledge\n"


@pytest.mark.requirement("S4-62")
@pytest.mark.parametrize(
    ("rule", "text", "lines"),
    [
        ("date-impossible", HEAD + "- [2026-02-30] x\n", [2]),
        ("date-impossible", HEAD + "- [2026-02-01] x [2025-02-29]\n- [0000-00-00] y\n", [2, 3]),
        ("date-future", HEAD + "- [2026-06-02] x\n- [2099-01-01] y\n", [2, 3]),
        ("date-suspicious", HEAD + "- [2026-01-05] a\n- [2025-01-06] b\n- [2026-01-07] c\n", [3]),
        ("date-spelling", HEAD + "- 2026-01-05: a\n- x (2026-01-06)\n- **2026-01-07** b\n", [2, 3, 4]),
        ("date-spelling", HEAD + "- Team update (2026-01-05): a\n", [2]),
        ("date-spelling", HEAD + "- [2026-6-1] a\n- [2026/06/01] b\n- [26-06-01] c\n- d [2026-06-1]\n", [2, 3, 4, 5]),
        ("date-impossible", HEAD + "- 2026-02-30: x\n- [until 2026-02-30] y\n\n(2026-13-01) z\n", [2, 3, 5]),
        ("date-spelling", HEAD + "- 04.04.2026: a\n\nApr 4, 2026: b\n\n## T\n\n1. tag\n2. [4/4/26] c\n", [2, 4, 9]),
        ("date-spelling", HEAD + "05.04.2026:\n\n- a\n", [2]),
        (
            "date-spelling",
            HEAD + "\n## Apr 4, 2026\n\n- a\n\n## 2026-W14\n\n- b\n\n## Fixes (4.4.2026)\n\n- c\n",
            [3, 7, 11],
        ),
        ("date-spelling", HEAD + "\n## Fixes\n\n**Date:** Apr 4, 2026\n\n- a\n", [5]),
        ("date-impossible", HEAD + "\n## 2026-02-30\n\n- a\n", [3]),
        ("date-expired", HEAD + "- [until 2026-05-31] a\n- [keep] [until 2026-01-01] b\n", [2, 3]),
        ("date-missing", HEAD + "- The build is currently red.\n- As of May, use B.\n", [2, 3]),
        ("date-missing", HEAD + "- Use the old key until May.\n- Wait until the end of the week.\n", [2, 3]),
        ("date-missing", HEAD + "- Frozen until 2026-07-01.\n- Frozen until further notice.\n", [2, 3]),
    ],
)
def test_a_rule_finds(project, rule, text, lines):
    assert project.hits(rule, text) == lines


@pytest.mark.parametrize(
    ("rule", "text"),
    [
        ("date-impossible", HEAD + "- [2024-02-29] x\n- `[2026-02-30]` in code\n- [2026-6-1] no date at all\n"),
        ("date-future", HEAD + "- [2026-06-01] today\n- due on 2099-01-01\n- [x](2099-01-01)\n"),
        ("date-suspicious", HEAD + "- [2025-01-05] a\n- [2025-03-06] b\n- [2026-01-07] c\n"),
        ("date-suspicious", HEAD + "- [2025-01-05] first\n- [2026-03-06] b\n- [2026-01-07] c\n"),
        ("date-spelling", HEAD + "- [2026-01-05] a\n- see 2026-01-06-notes.md\n- between 2026-01-01 and 2026-02-01\n"),
        ("date-spelling", HEAD + "- [2026-02-30] a\n- `[2026-6-1]` b\n- [2026-6-1](x.md) c\n- [1.2.3] d\n- [1-2] e\n"),
        ("date-impossible", HEAD + "- [2026-02-30][log] x\n- [[2026-02-30]] y\n\n`2026-02-30`: z\n"),
        ("date-spelling", HEAD + "- [04.04.2026][log] a\n- [[2026-6-1]]\n- see Apr 4, 2026\n- [Apr 4](file.md) - b\n"),
        ("date-spelling", "# Apr 4, 2026\n\n- a\n\n## Apr 5, 2026\n\n- [2026-04-05] b\n\n## May 4, 2026\n"),
        ("date-spelling", HEAD + "\n## 2026-04-04..2026-04-06\n\n- a\n\n## 2026-04-04 (Apr 5, 2026)\n\n- b\n"),
        ("date-impossible", HEAD + "\n## 2026-02-03\n\n- a\n\n## Fixed 2026-02-30\n\n- b\n"),
        ("date-expired", HEAD + "- [until 2026-06-01] a\n- wait [until 2026-05-01] b\n- [until 2026-07-01] c\n"),
        ("date-missing", HEAD + "- True as of 2026-03-06.\n- Currently 14, as of [2026-03-06](x.md) and as of v2.1.\n"),
        ("date-missing", HEAD + "- [2026-01-05] The build is currently red.\n- Use `currently` in code.\n"),
        ("date-missing", HEAD + "## Review (2026-01-05)\n- The build is currently red.\n"),
        ("date-missing", HEAD + "- Concurrently run both.\n"),
        ("date-missing", HEAD + "- Retry until the queue is empty.\n- Poll until decided.\n"),
        ("date-missing", HEAD + "- [2026-01-05] Frozen until May.\n"),
    ],
)
def test_a_rule_leaves_alone(project, rule, text):
    assert project.hits(rule, text) == []

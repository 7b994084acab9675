"""Each rule on tier documents: what it must find, and what it must leave alone."""

import pytest

from agent_memory_protocol.lint.tiers import normalised

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
        ("tier-conflict-markers", HEAD + CONFLICT, [3]),
        ("tier-conflict-markers", HEAD + "```\n" + CONFLICT + "```\n", [4]),
        ("tier-double-heading", HEAD + "## Redis\n- a\n\n## redis\n- b\n", [5]),
        ("tier-double-heading", HEAD + "## A\n- a\n\n## A\n- b\n\n## A\n- c\n", [5, 8]),
        ("tier-double-entry", HEAD + "- Redis needs AOF.\n- b\n- [2026-01-01]  Redis needs  AOF.\n", [4]),
        ("date-impossible", HEAD + "- [2026-02-30] x\n", [2]),
        ("date-impossible", HEAD + "- [2026-02-01] x [2025-02-29]\n- [0000-00-00] y\n", [2, 3]),
        ("date-future", HEAD + "- [2026-06-02] x\n- [2099-01-01] y\n", [2, 3]),
        ("date-suspicious", HEAD + "- [2026-01-05] a\n- [2025-01-06] b\n- [2026-01-07] c\n", [3]),
        ("date-spelling", HEAD + "- 2026-01-05: a\n- x (2026-01-06)\n- **2026-01-07** b\n", [2, 3, 4]),
        ("date-spelling", HEAD + "- Team update (2026-01-05): a\n", [2]),
        ("date-missing", HEAD + "- The build is currently red.\n- As of May, use B.\n", [2, 3]),
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
        ("tier-no-heading", "- [A note](a.md) - an index line is no entry\n"),
        ("tier-prose", HEAD + "\nOne line of prose.\n\n- a bullet\n  on two lines\n"),
        ("tier-unclosed-fence", HEAD + "```sh\nx\n```\n- b\n"),
        ("tier-unclosed-fence", HEAD + "````\n```\n````\n"),
        ("tier-unclosed-fence", HEAD + "- inline ``` is no fence\n"),
        ("tier-conflict-markers", HEAD + "Title\n=======\n- a\n"),
        ("tier-double-heading", HEAD + "## A\n### Why\n- a\n\n## B\n### Why\n- b\n"),
        ("tier-double-entry", HEAD + "- Redis needs AOF.\n- Redis needs RDB.\n- TODO\n- TODO\n"),
        ("date-impossible", HEAD + "- [2024-02-29] x\n- `[2026-02-30]` in code\n- [2026-6-1] no date at all\n"),
        ("date-future", HEAD + "- [2026-06-01] today\n- due on 2099-01-01\n- [x](2099-01-01)\n"),
        ("date-suspicious", HEAD + "- [2025-01-05] a\n- [2025-03-06] b\n- [2026-01-07] c\n"),
        ("date-suspicious", HEAD + "- [2025-01-05] first\n- [2026-03-06] b\n- [2026-01-07] c\n"),
        ("date-spelling", HEAD + "- [2026-01-05] a\n- see 2026-01-06-notes.md\n- between 2026-01-01 and 2026-02-01\n"),
        ("date-missing", HEAD + "- [2026-01-05] The build is currently red.\n- Use `currently` in code.\n"),
        ("date-missing", HEAD + "## Review (2026-01-05)\n- The build is currently red.\n"),
        ("date-missing", HEAD + "- Concurrently run both.\n"),
        ("invisible-characters", HEAD + "- café — naïve … 日本語 👩‍💻 ❤️\n\ttab\n"),
        ("invisible-characters", (HEAD + "- a\n").replace("\n", "\r\n")),
    ],
)
def test_a_rule_leaves_alone(project, rule, text):
    assert project.hits(rule, text) == []


@pytest.mark.requirement("S4-38")
@pytest.mark.parametrize("path", ["CLAUDE.md", "AGENTS.md", "docs/deep/a.md"])
@pytest.mark.parametrize(
    "line", ["- Run the migrations before the tests.", "1. **Run** the migrations before `the` tests"]
)
def test_an_entry_that_restates_the_documentation_names_its_place(project, path, line):
    file = project.root / path
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(f"# Title\n\n{line}\n")
    assert project.hits("tier-restates", HEAD + "- Run the migrations before the tests.\n") == [2]
    assert f"{path}:3 says the same" in project.check("tier-restates")[0].message
    file.write_text("# Title\n\nRun the migrations after the tests.\n")
    assert project.check("tier-restates") == []


def test_an_entry_in_two_tiers_is_found_once_and_one_of_its_own_file_is_not(project):
    agent = ".scaffolding/agent-memory/agents/developer/MEMORY.md"
    fact = "- Run the migrations before the tests.\n"
    project.write({agent: "# Developer Memory\n" + fact})
    project.hits("tier-restates", HEAD + fact)
    assert len(project.check("tier-restates")) == 1
    project.write({agent: "# Developer Memory\n- Something else that is long enough.\n"})
    assert project.check("tier-restates") == []


def test_what_is_too_short_to_tell_says_nothing_twice():
    assert normalised("Use pytest.") == ""
    assert normalised("**Run** `the` migrations, before tests!") == "run the migrations before tests"


@pytest.mark.parametrize(
    ("entry", "is_found"),
    [
        ("- See `src/gone.py` for the reader.", True),
        ("- See `./src/gone.py:42`.", True),
        ("- See `src/there.py` and `src/gone.py`.", True),
        ("- See `src/there.py`, line 3.", False),
        ("- See src/gone.py without code marks.", False),
        ("- Name it `src/<name>.py` or `src/*.py`.", False),
        ("- The package `lib/gone.py` starts where no lib is.", False),
        ("- The folder `src/gone` has no suffix.", False),
        ("- Not `src/../gone.py`.", False),
    ],
)
def test_an_entry_that_names_a_path_which_is_gone(project, entry, is_found):
    project.write({"src/there.py": ""})
    assert project.hits("tier-missing-path", f"{HEAD}{entry}\n") == ([2] if is_found else [])


@pytest.mark.requirement("S4-51")
@pytest.mark.parametrize(("lines", "is_found"), [(20, False), (21, True)])
def test_raw_data_in_a_conversation(project, lines, is_found):
    text = "# Conversation 7f3a Context\n- Log:\n\n  ```\n" + "  x\n" * lines + "  ```\n"
    project.write({CONVERSATION: text})
    assert bool(project.check("conversation-raw-data")) is is_found
    assert project.hits("conversation-raw-data", text) == []

"""Each rule on what is said twice: what it must find, and what it must leave alone."""

import pytest

from agent_memory_protocol.text.gist import normalised

SHARED = ".scaffolding/agent-memory/shared/KNOWLEDGE.md"
HEAD = "# Shared Knowledge\n"
AGENT = ".scaffolding/agent-memory/agents/developer/MEMORY.md"


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        (HEAD + "- Redis needs AOF.\n- b\n- [2026-01-01]  Redis needs  AOF.\n", [4]),
        (HEAD + "- Redis needs AOF.\n- Redis needs RDB.\n- TODO\n- TODO\n", []),
    ],
)
def test_the_same_entry_twice_in_one_file_is_found_where_it_stands_again(project, text, lines):
    assert project.hits("tier-double-entry", text) == lines


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


@pytest.mark.parametrize(
    "text", [{}, {"docs/deep/a.md": "Run the migrations before the tests.\n"}], ids=["empty", "one"]
)
def test_links_in_circles_in_the_documentation_are_followed_once(project, text):
    project.write(text)
    (project.root / "docs/deep").mkdir(parents=True, exist_ok=True)
    for name, target in (("self", "."), ("latest", "deep"), ("deep/up", ".."), ("deep/root", "../..")):
        (project.root / "docs" / name).symlink_to(target)
    assert project.hits("tier-restates", HEAD + "- Run the migrations before the tests.\n") == [2] * len(text)


def test_an_entry_in_two_tiers_is_found_once_and_one_of_its_own_file_is_not(project):
    fact = "- Run the migrations before the tests.\n"
    project.write({AGENT: "# Developer Memory\n" + fact})
    project.hits("tier-restates", HEAD + fact)
    assert len(project.check("tier-restates")) == 1
    project.write({AGENT: "# Developer Memory\n- Something else that is long enough.\n"})
    assert project.check("tier-restates") == []


CONVERSATIONS = [f".scaffolding/conversations/{one}/agent-memory/context.md" for one in ("c1", "c2")]
FACT = "- Redis loses its queue on restart without AOF.\n"


@pytest.mark.requirement("S4-32", "S4P-07")
def test_what_conversations_repeat_is_welcome_since_distill_goes_by_it(project):
    project.write(dict.fromkeys(CONVERSATIONS, f"# Conversation Context\n{FACT}"))
    assert project.check() == []
    project.write({SHARED: HEAD + FACT, "docs/redis.md": FACT})
    found = project.check("tier-restates")
    assert [(one.path, one.line) for one in found] == [(SHARED, 2)]
    assert "docs/redis.md:1 says the same" in found[0].message


@pytest.mark.parametrize(
    ("first", "second", "found"),
    [
        (CONVERSATIONS[0], CONVERSATIONS[1], 0),
        (CONVERSATIONS[0], CONVERSATIONS[0], 1),
        (SHARED, CONVERSATIONS[1], 1),
        (SHARED, AGENT, 1),
    ],
    ids=["two-conversations", "one-conversation", "shared-and-conversation", "shared-and-agent"],
)
def test_a_contradiction_is_found_where_somebody_may_be_given_both(project, first, second, found):
    texts = {first: "# Title\n", second: "# Title\n"}
    texts[first] += "- Staging uses Postgres.\n"
    texts[second] += "- Staging does not use Postgres.\n"
    project.write(texts)
    assert len(project.check("tier-contradiction")) == found


def test_what_is_too_short_to_tell_says_nothing_twice():
    assert normalised("Use pytest.") == ""
    assert normalised("**Run** `the` migrations, before tests!") == "run the migrations before tests"

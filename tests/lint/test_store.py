"""Each rule on a memory as a whole: what it must find, and what it must leave alone."""

import shutil
from datetime import date, timedelta

import pytest

from agent_memory_protocol import Actor
from agent_memory_protocol.errors import InvalidArgument
from agent_memory_protocol.layout import Target, Tier

SHARED = ".scaffolding/agent-memory/shared/KNOWLEDGE.md"
AGENT = ".scaffolding/agent-memory/agents/dev/MEMORY.md"
REVIEWED = ".scaffolding/agent-memory/reviewed"
HEAD = "# Shared Knowledge\n"
NOTE = "---\nname: feedback_a\ndescription: Ask first\n---\n"


def test_twin_folders_are_found(project):
    project.write({AGENT: "# Dev Memory\n"})
    assert project.check("store-twins") == []
    project.write({AGENT.replace("/dev/", "/Dev/"): "# Dev Memory\n"})
    if len(list((project.root / AGENT).parents[1].iterdir())) < 2:
        pytest.skip("this file system folds case")
    (found,) = project.check("store-twins")
    assert (found.rule, found.path) == ("store-twins", ".scaffolding/agent-memory/agents")


@pytest.mark.parametrize(
    ("path", "name"),
    [
        (SHARED, "knowledge.md"),
        (AGENT, "memory.md"),
        (".scaffolding/conversations/7f3a/agent-memory/context.md", "Context.MD"),
    ],
    ids=["shared", "agent", "conversation"],
)
@pytest.mark.parametrize("has_document", [True, False], ids=["beside", "alone"])
def test_a_file_called_as_a_tier_file_but_for_its_case_is_found(project, path, name, has_document):
    """B44: nobody reads it, and nobody would notice."""
    other = path.rpartition("/")[0] + "/" + name
    project.write({other: HEAD + "- Lost.\n"})
    if (project.root / path).exists():
        pytest.skip("this file system folds case")
    if has_document:
        project.write({path: HEAD})
    (found,) = project.check()
    assert (found.rule, found.path) == ("store-twins", other)
    assert ("move what it holds into" if has_document else "rename it to") in found.message
    assert found.message in "".join(one.message for one in project.workspace.diagnose(Actor()) if one.is_problem)
    (project.root / other).unlink()
    assert project.check() == []


SETTINGS = ".scaffolding/amp.toml"


@pytest.mark.parametrize(
    ("text", "lines", "word"),
    [
        ("[limits]\nmax_lins = 3\n", [None], "did you mean limits.max_lines"),
        ("[limits]\nmax_lines = 'many'\n", [None], "limits.max_lines must be"),
        ("external_links = true\n", [None], "counts only in your own settings"),
        ("a = 1\nb = 2\n", [None, None], "is not a setting"),
        ("enabled = true\nbroken = [\n", [2], "is not valid TOML"),
    ],
)
def test_what_is_wrong_in_the_settings_is_found(project, text, lines, word):
    project.write({SHARED: HEAD, SETTINGS: text})
    found = project.check("store-settings")
    assert [(one.path, one.line) for one in found] == [(SETTINGS, line) for line in lines]
    assert word in found[0].message
    assert not found[0].message.startswith(SETTINGS)


@pytest.mark.parametrize("text", ["", "[limits]\nmax_lines = 150\n", "enabled = false\n", "[tiers]\nagent = false\n"])
def test_what_may_stand_in_the_settings_is_nothing_wrong(project, text):
    project.write({SHARED: HEAD, SETTINGS: text, ".config/amp/config.toml": "nonsense = 1\n"})
    assert project.check("store-settings") == []


def test_local_state_of_another_checkout_is_found_until_somebody_has_looked(project):
    project.write({SHARED: HEAD, ".scaffolding/.amp/journal/shared.jsonl": "{}\n"})
    (one,) = project.check("store-local")
    assert "has no id of this checkout" in one.message
    project.workspace.remember("something")
    (one,) = project.check("store-local")
    assert "was set aside (has no id of this checkout" in one.message
    shutil.rmtree(project.root / ".scaffolding/.amp/set-aside")
    assert project.check("store-local") == []


@pytest.mark.requirement("S2-34", "S2-36", "S2-37")
@pytest.mark.parametrize(("path", "is_found"), [("app", True), ("apps/web", True), ("node_modules/x", False)])
def test_another_memory_of_the_same_project_is_found(project, path, is_found):
    project.write({SHARED: HEAD, f"{path}/{SHARED}": HEAD})
    assert bool(project.check("store-twice")) is is_found


@pytest.mark.requirement("S2-28")
def test_a_review_is_due_a_month_after_the_oldest_entry_or_the_last_review(project):
    project.write({SHARED: HEAD + "- [2026-04-20] a\n"})
    assert [one.rule for one in project.check("review-due")] == ["review-due"]
    project.workspace.record_review(today=date(2026, 5, 20))
    assert project.check("review-due") == []
    later = project.workspace.check(select=["review-due"], today=date(2026, 7, 1))
    assert [one.message.partition(";")[0] for one in later] == ["last reviewed: 2026-05-20"]


BEGINNINGS = {
    "init": lambda workspace: workspace.init(agents=["dev"]),
    "remember": lambda workspace: workspace.remember("Another fact."),
    "note": lambda workspace: workspace.new_note("feedback", "a", description="d", why="w", how="h"),
    "rewrite": lambda workspace: workspace.rewrite(Target(Tier.SHARED), lambda _: "# S\n\n- a\n"),
}


@pytest.mark.slow
@pytest.mark.requirement("S2-28")
@pytest.mark.parametrize("begin", BEGINNINGS.values(), ids=BEGINNINGS)
def test_a_memory_that_begins_today_is_due_in_a_month_however_old_what_it_holds_is(project, begin):
    begin(project.workspace)
    project.workspace.remember("An audit found nothing.", dated=date(2020, 1, 1))
    project.workspace.remember("A lasting fact.", agent="dev")
    assert project.workspace.check() == []
    today = date.today()
    assert project.workspace.check(today=today + timedelta(days=30)) == []
    (due,) = project.workspace.check(select=["review-due"], today=today + timedelta(days=31))
    assert due.message.startswith(f"last reviewed: never, and begun on {today};")
    project.workspace.record_review(today=today + timedelta(days=31))
    assert project.workspace.check(select=["review-due"], today=today + timedelta(days=61)) == []
    (due,) = project.workspace.check(select=["review-due"], today=today + timedelta(days=62))
    assert due.message.startswith(f"last reviewed: {today + timedelta(days=31)};")


def test_where_nothing_was_remembered_no_review_is_due(project):
    project.workspace.init(agents=["dev"])
    long_after = date.today() + timedelta(days=400)
    assert project.workspace.check(today=long_after) == []
    project.workspace.remember("A lasting fact.")
    assert [one.rule for one in project.workspace.check(today=long_after)] == ["review-due"]


def test_a_memory_that_was_there_before_does_not_begin_anew(project):
    project.write({SHARED: HEAD + "- [2026-04-20] a\n"})
    project.workspace.init(agents=["dev"])
    project.workspace.remember("b", agent="tester")
    assert [one.rule for one in project.check("review-due")] == ["review-due"]


def test_of_what_two_branches_say_of_reviews_the_last_review_and_the_first_beginning_count(project):
    project.write({SHARED: HEAD + "- a\n", REVIEWED: "begun 2026-03-02\nbegun 2026-03-01\nno day\n"})
    (due,) = project.check("review-due")
    assert due.message.startswith("last reviewed: never, and begun on 2026-03-01;")
    project.write({REVIEWED: "2026-03-09\nbegun 2026-03-01\n2026-05-20\n"})
    assert project.check("review-due") == []
    project.write({REVIEWED: "2026-03-09\n2026-03-08\n"})
    (due,) = project.check("review-due")
    assert due.message.startswith("last reviewed: 2026-03-09;")


@pytest.mark.requirement("S2-09")
@pytest.mark.parametrize(
    ("path", "is_found"), [("old/feedback_b.md", True), ("old/B.MD", True), ("old/log.txt", False), ("b.md", False)]
)
def test_notes_in_a_folder_of_their_own_are_found(project, path, is_found):
    project.write({SHARED: HEAD, f".scaffolding/agent-memory/shared/{path}": NOTE})
    expected = [(".scaffolding/agent-memory/shared/old", None)] if is_found else []
    assert [(one.path, one.line) for one in project.check("note-nested")] == expected


@pytest.mark.requirement("S2-09")
@pytest.mark.parametrize("slug", ["old/b", "../b", "old\\b", "old.d/../b"])
def test_no_note_is_made_in_a_folder_of_its_own(project, slug):
    with pytest.raises(InvalidArgument, match="cannot be a note's name"):
        project.workspace.new_note("feedback", slug, description="d", why="w", how="h")
    assert list(project.root.iterdir()) == []


def test_a_file_that_cannot_be_read_is_found_once_and_hides_no_other(project):
    project.write({AGENT: "- b\n", f"{AGENT[:-9]}feedback_a.md": NOTE})
    (project.root / AGENT).write_bytes(b"# Dev Memory\n\xff\n")
    (project.root / AGENT).with_name("feedback_b.md").write_bytes(b"\xff")
    found = [(one.path.rpartition("/")[2], one.line) for one in project.check("unreadable", "index-orphan")]
    assert found == [("MEMORY.md", 2), ("feedback_b.md", 1)]

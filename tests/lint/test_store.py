"""Each rule on a memory as a whole: what it must find, and what it must leave alone."""

from datetime import date

import pytest

from agent_memory_protocol.errors import InvalidArgument

SHARED = ".scaffolding/agent-memory/shared/KNOWLEDGE.md"
AGENT = ".scaffolding/agent-memory/agents/dev/MEMORY.md"
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

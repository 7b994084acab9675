"""Notes through the workspace: written, listed, indexed, merged and removed, and nothing lost."""

import os

import pytest

from agent_memory_protocol import Actor, Workspace
from agent_memory_protocol.errors import AccessDenied, InvalidArgument
from agent_memory_protocol.layout import Target, Tier

SHARED = ".scaffolding/agent-memory/shared"


@pytest.fixture
def workspace(tmp_path):
    return Workspace.open(tmp_path, environ={"HOME": str(tmp_path)})


def new(workspace, slug, note_type="feedback", **kwargs):
    parts = {"description": f"About {slug}", "why": "because", "how": "so", **kwargs}
    return workspace.new_note(note_type, slug, **parts)


@pytest.mark.requirement("S2-23", "S2-24")
def test_a_new_note_has_its_line_in_the_index_at_once(workspace):
    path = new(workspace, "market-first")
    assert path.read_text().startswith("---\nname: feedback_market-first\n")
    index = path.with_name("KNOWLEDGE.md").read_text()
    assert index.count("- [Market first](feedback_market-first.md) - About market-first\n") == 1
    assert [(row.file, row.is_listed) for row in workspace.notes()] == [("feedback_market-first.md", True)]


def test_a_note_that_exists_is_not_written_over(workspace):
    path = new(workspace, "x")
    before = path.read_bytes()
    with pytest.raises(InvalidArgument):
        new(workspace, "x", why="another")
    assert path.read_bytes() == before


@pytest.mark.requirement("S2-25")
@pytest.mark.parametrize("name", ["feedback_x.md", "feedback_x", "x"])
def test_a_note_is_shown_by_file_stem_or_slug(workspace, name):
    path = new(workspace, "x")
    assert workspace.show_note(name) == ("feedback_x.md", path.read_text())


@pytest.mark.requirement("S2-27")
def test_a_removed_note_leaves_the_index_and_comes_back_from_the_ledger_byte_for_byte(workspace):
    path = new(workspace, "x")
    before = path.read_bytes()
    workspace.remove_note("x", reason="wrong")
    assert not path.exists()
    assert "feedback_x.md" not in path.with_name("KNOWLEDGE.md").read_text()
    back = workspace.restore(workspace.restorable(last=True))
    assert back.notes == (str(path),)
    assert path.read_bytes() == before
    assert "feedback_x.md" in path.with_name("KNOWLEDGE.md").read_text()


@pytest.mark.requirement("S2-27")
def test_merged_notes_are_one_note_that_says_both_and_the_others_can_come_back(workspace):
    new(workspace, "keep", why="first reason")
    gone = new(workspace, "gone", why="second reason")
    workspace.merge_notes(["gone"], "keep")
    text = workspace.show_note("keep")[1]
    assert "first reason" in text
    assert "second reason" in text
    assert not gone.exists()
    assert [one.archived.note for one in workspace.restorable()] == ["feedback_gone.md"]


@pytest.mark.requirement("S2-23")
def test_check_names_the_orphan_and_the_dangling_line_and_indexing_deletes_no_note(workspace, tmp_path):
    folder = tmp_path / SHARED
    folder.mkdir(parents=True)
    (folder / "KNOWLEDGE.md").write_text(
        "# Shared Knowledge\n\n- [A](feedback_a.md) - a\n- [Gone](feedback_gone.md) - only copy\n"
    )
    (folder / "feedback_a.md").write_text("---\nname: a\ndescription: a\ntype: feedback\n---\n")
    (folder / "project_new.md").write_text("---\nname: new\ndescription: from its header\ntype: project\n---\n")
    (state,) = workspace.index(check=True)
    assert not state.is_clean
    assert state.added == ("project_new.md",)
    assert state.dangling == ((4, "feedback_gone.md"),)
    workspace.index()
    text = (folder / "KNOWLEDGE.md").read_text()
    assert "- [New](project_new.md) - from its header\n" in text
    assert "- [Gone](feedback_gone.md) - only copy\n" in text
    assert sorted(path.name for path in folder.glob("*_*.md")) == ["feedback_a.md", "project_new.md"]


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="the system has no named pipes")
def test_odd_files_are_named_once_and_keep_no_note_from_being_indexed(workspace, tmp_path):
    folder = tmp_path / SHARED
    folder.mkdir(parents=True)
    for number in range(5):
        (folder / f"user_{number}.md").write_text(f"---\nname: user_{number}\ndescription: d{number}\n---\n")
    (folder / "dangling.md").symlink_to("nowhere.md")
    (folder / "loop.md").symlink_to("loop.md")
    (folder / "x.md").mkdir()
    os.mkfifo(folder / "pipe.md")
    (state,) = workspace.index()
    assert (state.notes, len(state.added)) == (5, 5)
    for name in ("dangling.md", "loop.md", "pipe.md"):
        assert state.problem.count(f"/{name}: ") == 1


def test_a_folder_with_notes_and_no_tier_file_gets_one(workspace, tmp_path):
    folder = tmp_path / ".scaffolding/agent-memory/agents/dev"
    folder.mkdir(parents=True)
    (folder / "user_a.md").write_text("---\nname: user_a\ndescription: d\n---\n")
    workspace.index()
    assert (folder / "MEMORY.md").read_text().startswith("# Dev Memory\n")


def test_a_note_saved_with_a_byte_order_mark_and_crlf_is_indexed_by_its_description(workspace, tmp_path):
    folder = tmp_path / SHARED
    folder.mkdir(parents=True)
    (folder / "user_a.md").write_bytes(
        b"\xef\xbb\xbf---\r\nname: user_a\r\ndescription: from windows\r\n---\r\nbody\r\n"
    )
    workspace.index()
    assert "- [A](user_a.md) - from windows\n" in (folder / "KNOWLEDGE.md").read_text()


def test_indexing_twice_changes_nothing(workspace, tmp_path):
    new(workspace, "x")
    file = tmp_path / SHARED / "KNOWLEDGE.md"
    before = (file.read_bytes(), file.stat().st_mtime_ns)
    assert not any(state.changed for state in workspace.index())
    assert (file.read_bytes(), file.stat().st_mtime_ns) == before


@pytest.mark.requirement("S4-12", "S4-54")
def test_another_agent_and_a_read_only_agent_write_no_note(workspace):
    target = Target(Tier.AGENT, "developer")
    for agent in ("tester", "reviewer"):
        with pytest.raises(AccessDenied):
            new(workspace, "x", target=target, actor=Actor(agent))
    assert workspace.notes() == []


def test_index_lines_are_no_entries_and_stay_when_entries_are_remembered_and_pruned(workspace, tmp_path):
    new(workspace, "x")
    workspace.remember("Redis needs AOF on.")
    text = (tmp_path / SHARED / "KNOWLEDGE.md").read_text()
    assert text.index("Redis") < text.index("## Notes")
    assert [entry.text for entry in workspace.entries()] == ["- Redis needs AOF on."]

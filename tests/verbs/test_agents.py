"""An agent gets another name, and keeps its memory, its ledger and what is known about its entries."""

import subprocess
from datetime import date

import pytest

from agent_memory_protocol import Actor, Workspace
from agent_memory_protocol.answers import About
from agent_memory_protocol.errors import AccessDenied, InvalidArgument, InvalidName, Refused
from agent_memory_protocol.layout import Target, Tier

FOLDER = ".scaffolding/agent-memory/agents"


@pytest.fixture
def workspace(tmp_path):
    """An agent with entries, one that was forgotten, one that was edited, one disputed across files, and a note."""
    made = Workspace.open(tmp_path, environ={"HOME": str(tmp_path)})
    kept = made.remember(
        "The parser needs Redis.", agent="old", about=About(source="user", kind="avoid", tags=("git",))
    )
    gone = made.remember("Goes.", agent="old", dated=date(2026, 1, 2))
    made.forget([gone.entry.id])
    edited = made.remember("Say this.", agent="old")
    made.edit(edited.entry.id, "Say that.")
    other = made.remember("The parser does not need Redis.")
    made.dispute(kept.entry.id, other.entry.id)
    made.new_note("feedback", "small", description="Small.", why="w", how="h", actor=Actor("old"))
    return made


def known(workspace):
    """Return what is known of every entry and of all that was archived, without ids."""
    entries = [
        (one.text, one.about.kind, one.about.source, one.about.tags, one.disputed) for one in workspace.entries()
    ]
    return sorted(entries), sorted(one.archived.taken.markdown for one in workspace.restorable())


@pytest.mark.slow
@pytest.mark.parametrize("by_hand", [False, True])
def test_all_that_an_agent_remembers_moves_with_it(workspace, by_hand):
    before = known(workspace)
    if by_hand:
        (workspace.path / FOLDER / "old").rename(workspace.path / FOLDER / "new")
    planned = workspace.plan_renaming("old", "new")
    assert (planned.entries, "feedback_small.md" in planned.files) == (2, True)
    workspace.rename_agent(planned)
    assert not (workspace.path / FOLDER / "old").exists()
    assert (workspace.path / FOLDER / "new/MEMORY.md").read_text().startswith("# New Memory\n")
    assert known(workspace) == before
    (disputed,) = [one for one in workspace.entries() if one.disputed and one.target == Target(Tier.AGENT, "new")]
    (other,) = [one for one in workspace.entries() if one.disputed and one.target == Target(Tier.SHARED)]
    assert (disputed.about.disputed_with, other.about.disputed_with) == ((other.id,), (disputed.id,))
    workspace.restore([one for one in workspace.restorable() if "Goes" in one.archived.taken.markdown])
    assert "- [2026-01-02] Goes." in [one.text for one in workspace.entries()]
    assert workspace.check(select=["ledger", "note", "index"]) == []
    workspace.remember("And more.", agent="new")
    assert {one.target.owner for one in workspace.entries()} == {"", "new"}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("old", "new", "error"),
    [
        ("nobody", "new", InvalidArgument),
        ("old", "old", InvalidArgument),
        ("old", "../new", InvalidName),
        ("old", "other", Refused),
    ],
)
def test_a_name_that_cannot_be_given_changes_nothing(workspace, old, new, error):
    workspace.remember("I am here.", agent="other")
    before = {path: path.read_bytes() for path in workspace.path.rglob("*.md")}
    with pytest.raises(error):
        workspace.rename_agent(workspace.plan_renaming(old, new))
    assert {path: path.read_bytes() for path in workspace.path.rglob("*.md")} == before


def test_an_agent_gives_no_other_agent_a_name(workspace):
    with pytest.raises(AccessDenied):
        workspace.rename_agent(workspace.plan_renaming("old", "new"), actor=Actor("tester"))
    assert (workspace.path / FOLDER / "old").exists()


@pytest.mark.slow
def test_review_names_an_agent_that_was_renamed_by_hand_or_that_nobody_defines(workspace):
    git = ["git", "-C", workspace.path, "-c", "user.name=t", "-c", "user.email=t@t"]
    for step in ("init -q", "add -A", "commit -qm x", f"mv {FOLDER}/old {FOLDER}/new", "commit -qam y"):
        subprocess.run([*git, *step.split()], check=True)
    assert [one.command for one in workspace.review() if one.kind == "agent"] == ["amp agent rename old new"]
    workspace.rename_agent(workspace.plan_renaming("old", "new"))
    assert not [one for one in workspace.review() if one.kind == "agent"]
    (workspace.path / ".claude/agents").mkdir(parents=True)
    (workspace.path / ".claude/agents/news.md").write_text("---\nname: news\n---\nx\n")
    assert [one.command for one in workspace.review() if one.kind == "agent"] == ["amp agent rename new news"]

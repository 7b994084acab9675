"""What governs entries and is no entry leaves no document unsaid: a label, a heading, an index line written by hand.

Whichever way such a line goes, the ledger has it with its place, and it comes back to the byte.
"""

import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from agent_memory_protocol import Actor, Workspace
from agent_memory_protocol.layout import Target, Tier
from agent_memory_protocol.memory_tool.tool import MemoryTool
from agent_memory_protocol.watch import Watcher

SHARED = Target(Tier.SHARED)
PAGE = """# S

- [Deploys](project_deploys.md) - never on a Friday

Counted on Monday; fifteen were added:

- sixty tools

## Git

**Never:**

- push to main
- push to dev

## See also

- [Hooks](project_hooks.md) - what runs when
- more
"""
FRAME = {
    "index-line": "- [Deploys](project_deploys.md) - never on a Friday\n",
    "label-that-is-a-sentence": "Counted on Monday; fifteen were added:\n\n",
    "label": "**Never:**\n\n",
    "heading": "## See also\n\n",
    "index-line-under-a-heading": "- [Hooks](project_hooks.md) - what runs when\n",
}


class Case:
    """A project whose page is known to the journal."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.path = root / SHARED.path
        self.path.parent.mkdir(parents=True)
        self.path.write_text(PAGE)
        self.workspace = Workspace.open(root, environ={"HOME": str(root)})
        self.workspace.remember("the first")

    def gone(self) -> list[str]:
        """Return what the ledger has, or the next write gives it, of what is no entry."""
        return [one.archived.taken.markdown for one in self.workspace.restorable() if one.archived.taken.part]


@pytest.fixture
def case(tmp_path, monkeypatch) -> Case:
    monkeypatch.setenv("HOME", str(tmp_path))
    return Case(tmp_path / "project")


def without(case: Case, text: str) -> None:
    case.path.write_text(case.path.read_text().replace(text, ""))


def by_hand_then_nothing(case: Case, text: str) -> None:
    without(case, text)


def by_hand_then_remember(case: Case, text: str) -> None:
    without(case, text)
    case.workspace.remember("the second")


def by_hand_then_sync(case: Case, text: str) -> None:
    without(case, text)
    (synced,) = case.workspace.sync(apply=True)
    assert [text.strip()] == list(synced.removed_by_hand)


def by_hand_then_watch(case: Case, text: str) -> None:
    without(case, text)
    told = [one.message for one in Watcher(case.workspace).look()]
    assert any(text.strip()[:20] in one for one in told), told


def by_hand_after_the_tool_has_brought_it(case: Case, text: str) -> None:
    """What a write of ours brought in is known as well as what was found."""
    without(case, text)
    whole = case.path.read_text()
    case.workspace.remember("the second")
    tool = MemoryTool(root=case.root, actor=Actor())
    path = "/memories/shared/KNOWLEDGE.md"
    tool.execute({"command": "delete", "path": path})
    tool.execute({"command": "create", "path": path, "file_text": PAGE})
    case.path.write_text(PAGE.replace(text, ""))
    assert whole != PAGE
    case.workspace.sync(apply=True)


def by_the_memory_tool(case: Case, text: str) -> None:
    tool = MemoryTool(root=case.root, actor=Actor())
    tool.execute({"command": "str_replace", "path": "/memories/shared/KNOWLEDGE.md", "old_str": text, "new_str": ""})


WAYS: list[Callable[[Case, str], None]] = [
    by_hand_then_nothing,
    by_hand_then_remember,
    by_hand_then_sync,
    by_hand_then_watch,
    by_hand_after_the_tool_has_brought_it,
    by_the_memory_tool,
]


@pytest.mark.slow
@pytest.mark.parametrize("way", WAYS, ids=lambda way: way.__name__)
@pytest.mark.parametrize("text", FRAME.values(), ids=FRAME)
def test_what_governs_entries_is_kept_when_it_goes(case, way, text):
    way(case, text)
    assert text.strip() in case.gone()


@pytest.mark.slow
@pytest.mark.parametrize("text", FRAME.values(), ids=FRAME)
def test_it_comes_back_to_the_byte(case, text):
    before = case.path.read_bytes()
    without(case, text)
    case.workspace.sync(apply=True)
    back = case.workspace.restore([one for one in case.workspace.restorable() if one.archived.taken.part])
    assert [one.text for one in back.entries] == [text.strip()]
    assert back.problems == ()
    assert case.path.read_bytes() == before
    assert case.gone() == []


def test_a_label_that_is_worded_otherwise_is_kept_as_it_was(case):
    case.path.write_text(case.path.read_text().replace("**Never:**", "**Always:**"))
    case.workspace.remember("the second")
    assert case.gone() == ["**Never:**"]
    back = case.workspace.restore([one for one in case.workspace.restorable() if one.archived.taken.part])
    assert "**Never:**" in case.path.read_text() or "add it by hand" in back.problems[0]


@pytest.mark.slow
@pytest.mark.parametrize(
    "change",
    [
        lambda text: text.replace("**Never:**\n\n- push to main\n- push to dev\n", ""),
        lambda text: text.replace("**Never:**", "__Never__:"),
        lambda text: text.replace("## Git", "## git ##"),
        lambda text: text.replace("## Git", "# Git"),
        lambda text: text + "\nAlways:\n\n- pull\n",
        lambda text: text.replace("- push to main\n", "- push to main or to a fork\n"),
    ],
    ids=["with-its-entries", "emphasis", "spelling", "level", "one-more", "an-entry-edited"],
)
def test_what_still_governs_or_went_with_its_entries_needs_no_line_of_its_own(case, change):
    case.path.write_text(change(case.path.read_text()))
    case.workspace.remember("the second")
    assert case.gone() == []


def test_what_forget_takes_along_is_in_the_place_of_its_entries(case):
    case.workspace.forget([one.id for one in case.workspace.entries() if one.section == "Git"])
    case.workspace.remember("the second")
    assert case.gone() == []


def test_lines_that_the_index_builds_go_unnoted(case):
    note = case.path.with_name("project_deploys.md")
    other = case.path.with_name("project_other.md")
    for one in (note, other):
        one.write_text("---\nname: x\ndescription: d\ntype: project\n---\nx\n\n**Why:** w\n\n**How to apply:** h\n")
    case.workspace.index()
    assert "project_other.md" in case.path.read_text()
    other.unlink()
    case.workspace.index()
    assert "project_other.md" not in case.path.read_text()
    assert case.gone() == []


@pytest.mark.slow
def test_a_branch_that_has_a_label_is_owed_no_line_for_it(case):
    def git(*words: str) -> None:
        subprocess.run(["git", "-c", "user.name=t", "-c", "user.email=t@t", *words], cwd=case.root, check=True)

    case.path.write_text("# S\n\n- push to main\n- push to dev\n")
    case.workspace.sync(apply=True)
    for words in (("init", "-q", "-b", "main"), ("add", "-f", SHARED.path), ("commit", "-qm", "without")):
        git(*words)
    git("switch", "-qc", "other")
    case.path.write_text("# S\n\n*Rarely:*\n\n- push to main\n- push to dev\n")
    case.workspace.remember("the second")
    git("commit", "-qam", "with")
    git("switch", "-q", "main")
    case.workspace.remember("the third")
    assert "*Rarely:*" not in case.gone()

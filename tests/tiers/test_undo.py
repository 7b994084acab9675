"""Taking back a removal gives the very bytes that were there, or says that it cannot."""

import random
from datetime import date, timedelta
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent_memory_protocol import AgentMemoryError, Workspace
from agent_memory_protocol.errors import Refused
from agent_memory_protocol.tiers.document import Document
from agent_memory_protocol.tiers.remove import leaving, remove
from agent_memory_protocol.tiers.taken import Taken
from agent_memory_protocol.tiers.undo import literal_text, undo_of, undone
from tests.each_row import each_row

from .conftest import parse

PAGES = {
    "a rule between sections": "# T\n\n## A\n\n- a\n\n---\n\n## B\n\n- b\n\n---\n\n## C\n\n- c\n",
    "the header of a file with a sole entry": "Title\n=====\n\n<!-- h -->\n\n- a",
    "no final newline": "# T\n\n- a\n- b",
    "a file of one entry": "- a\n",
    "blank lines before and after": "\n\n# T\n\n\n- a\n\n\n\n- b\n\n\n",
    "CRLF": "# T\r\n\r\n- a\r\n- b\r\n",
    "mixed line endings": "# T\r\n\n- a\r\n- b\n\r\n- c",
    "labels and prose": "# T\n\nNever:\n\n- a\n- b\n\n2026-01-05: old\n\n2026-06-05: new\n\nRest.\n",
    "front matter": "---\na: b\n---\n# T\n- a\n- b\n",
    "equal entries": "# T\n\n- a\n- b\n- a\n\n## U\n\n- a\n",
    "a numbered list": "# T\n\n1. a\n2. b\n\ntext\n\n1. c\n",
}


def taking_out(text: str, chosen: "list[bool]") -> tuple[Document, Document, list[tuple[str, Taken]]]:
    old = parse(text)
    ids = [one for one, is_chosen in zip(old.ids, chosen, strict=False) if is_chosen]
    new = parse(remove(old, ids).data.decode())
    return old, new, leaving(old, new, ids)


@given(text=st.sampled_from([*PAGES.values()]), chosen=st.lists(st.booleans(), min_size=6, max_size=6))
def test_a_removal_is_taken_back_to_the_byte(text, chosen):
    try:
        old, new, gone = taking_out(text, chosen)
    except Refused:
        return
    undo = undo_of(old, new, gone)
    made = None if undo is None else undone(new, undo, [taken for _, taken in gone])
    assert made is not None
    assert made.data.decode() == text


@each_row("text", PAGES.values(), ids=PAGES)
def test_an_undo_holds_no_text_of_an_entry_and_counts_only_for_what_the_removal_left(text):
    old, new, gone = taking_out(text, [True] * 9)
    undo = undo_of(old, new, gone)
    assert undo is not None
    assert not {taken.markdown for _, taken in gone} & {*literal_text(undo).split("\n")}
    taken = [one for _, one in gone]
    assert undone(parse(new.data.decode() + "- more\n"), undo, taken) is None
    assert undone(new, undo, taken[1:]) is None
    assert undone(new, {**undo, "hunks": "x"}, taken) is None


@pytest.mark.parametrize("old", ["# T\n\n- a\n- b\n", "# Title\n\n- a\n\n## S\n\n- b\n"])
def test_what_was_changed_and_not_only_taken_out_has_no_undo(old):
    before, after = parse(old), parse("# Other\n\n- b\n")
    assert undo_of(before, after, leaving(before, after)) is None


def restored(folder: Path, data: bytes, share: int) -> bytes:
    """Forget each entry of a file whose place is not a multiple of a number, restore them, and return the file."""
    path = folder / ".scaffolding/agent-memory/shared/KNOWLEDGE.md"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)
    workspace = Workspace.open(folder, environ={"HOME": str(folder)})
    ids = [entry.id for number, entry in enumerate(workspace.entries()) if number % share]
    if ids:
        workspace.forget(ids[:80])
        workspace.restore(workspace.restorable(last=True))
    return path.read_bytes()


@pytest.mark.slow
@pytest.mark.parametrize("text", PAGES.values(), ids=PAGES)
def test_forget_and_restore_give_the_same_bytes(tmp_path, text):
    assert restored(tmp_path, text.encode(), 2) == text.encode()
    assert restored(tmp_path, text.encode(), 10**6) == text.encode()


def test_commands_are_taken_back_one_after_the_other(tmp_path):
    text = PAGES["a rule between sections"]
    assert restored(tmp_path, text.encode(), 10**6) == text.encode()
    workspace = Workspace.open(tmp_path, environ={"HOME": str(tmp_path)})
    for entry in workspace.entries():
        workspace.forget([entry.id])
    workspace.restore(workspace.restorable())
    assert (tmp_path / ".scaffolding/agent-memory/shared/KNOWLEDGE.md").read_text() == text


@pytest.mark.slow
@pytest.mark.parametrize(("lines", "comes_back"), [(205, True), (200, False)])
def test_what_left_a_file_over_its_limit_comes_back_as_far_as_it_was_over(tmp_path, lines, comes_back):
    path = tmp_path / ".scaffolding/agent-memory/shared/KNOWLEDGE.md"
    path.parent.mkdir(parents=True)
    path.write_text("# S\n\n" + "".join(f"- fact {number}\n" for number in range(lines - 2)))
    before = path.read_text()
    workspace = Workspace.open(tmp_path, environ={"HOME": str(tmp_path)})
    gone = workspace.entries()[7].id
    workspace.forget([gone])
    assert not workspace.restore(workspace.restorable([gone])).problems
    assert path.read_text() == before
    workspace.forget([gone])
    if not comes_back:
        (tmp_path / ".scaffolding/amp.toml").write_text("[limits]\nmax_lines = 150\n")
        workspace = Workspace.open(tmp_path, environ={"HOME": str(tmp_path)})
    path.write_text(path.read_text() + ("- more\n" if comes_back else ""))
    (problem,) = workspace.restore(workspace.restorable([gone])).problems
    assert gone in problem


@pytest.mark.slow
def test_forget_prune_and_restore_give_the_same_bytes_of_real_files(some_files, tmp_path, sized):
    differing = []
    for number, page in enumerate(some_files[:: sized(2, 2, 1)]):
        data, folder = page.read_bytes(), tmp_path / str(number)
        for share in (2, 10**6):
            try:
                if restored(folder, data, share) != data and b"\x1b" not in data:
                    differing.append(page.name)
            except (AgentMemoryError, Refused):
                (folder / ".scaffolding/agent-memory/shared/KNOWLEDGE.md").write_bytes(data)
        workspace = Workspace.open(folder, environ={"HOME": str(folder)})
        plans = workspace.plan_pruning(older_than=timedelta(0), sections=True, today=date(2099, 1, 1))
        workspace.apply_pruning(plans, force=True)
        workspace.restore(workspace.restorable(last=True))
        if (folder / ".scaffolding/agent-memory/shared/KNOWLEDGE.md").read_bytes() != data and b"\x1b" not in data:
            differing.append(page.name)
    assert differing == []


@pytest.mark.slow
@pytest.mark.parametrize("chosen", [[0], [1], [2], [0, 1], [2, 0], [3], [0, 1, 2, 3]], ids=str)
def test_equal_texts_under_different_labels_come_back_each_to_its_place(tmp_path, chosen):
    text = "# T\n\n- push\n\nNever:\n\n- push\n\nAlways:\n\n- push\n- push\n"
    path = tmp_path / ".scaffolding/agent-memory/shared/KNOWLEDGE.md"
    path.parent.mkdir(parents=True)
    path.write_text(text)
    workspace = Workspace.open(tmp_path, environ={"HOME": str(tmp_path)})
    ids = [workspace.entries()[number].id for number in chosen]
    workspace.forget(ids)
    assert len(workspace.restorable()) == len(chosen)
    workspace.restore(workspace.restorable())
    assert path.read_text() == text
    assert workspace.restorable() == []
    for one in ids:
        workspace.forget([one])
        workspace.restore(workspace.restorable(last=True))
        assert path.read_text() == text


def any_page(chance: random.Random) -> str:
    """Make a page of few different texts, so that many are equal, under headings and labels."""
    parts = ["# T"]
    for heading in chance.sample(["", "## A", "## B", "### C"], chance.randint(1, 3)):
        parts += [heading] if heading else []
        for label in chance.sample(["", "Never:", "Always:", "**Ask:**"], chance.randint(1, 3)):
            parts += [label] if label else []
            parts.append("\n".join(f"- {chance.choice(['push', 'pull', 'tag'])}" for _ in range(chance.randint(1, 3))))
    return "\n\n".join(parts) + "\n"


@pytest.mark.slow
@each_row("seed", range(250, 300), fresh=True)  # 252 came back below another section
@pytest.mark.parametrize("together", [True, False], ids=["at once", "one by one"])
def test_whatever_leaves_of_many_equal_texts_comes_back_each_to_its_place(tmp_path, seed, together):
    chance = random.Random(seed)
    text = any_page(chance)
    path = tmp_path / ".scaffolding/agent-memory/agents/dev/MEMORY.md"
    path.parent.mkdir(parents=True)
    path.write_text(text)
    workspace = Workspace.open(tmp_path, environ={"HOME": str(tmp_path)})
    ids = [one.id for one in workspace.entries()]
    chosen = chance.sample(ids, chance.randint(1, len(ids)))
    if together:
        workspace.forget(chosen)
    for one in () if together else chosen:
        if one in [entry.id for entry in workspace.entries()]:  # of equal texts the others have moved up
            workspace.forget([one])
    workspace.restore(workspace.restorable())
    assert path.read_text() == text

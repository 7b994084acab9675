"""A note that a merge has left with two headers: nobody has chosen one, so no door says what either says of it."""

import pytest

from agent_memory_protocol import Actor, Workspace
from agent_memory_protocol.exchange.export import documents
from agent_memory_protocol.formats.entry import Problem
from agent_memory_protocol.layout import Target, Tier
from agent_memory_protocol.notes.note import parse, read_head

SHARED = Target(Tier.SHARED)
FRONT = "---\nname: x\n{}type: project\n---\n\nThe body.\n"
SIDES = "<<<<<<< HEAD\ndescription: Staging.\n=======\ndescription: Production.\n>>>>>>> b\n"
BOTH = f"<<<<<<< HEAD\n{FRONT.format('description: a.' + chr(10))}=======\n{FRONT.format('')}>>>>>>> b\n"


@pytest.fixture
def here(tmp_path):
    folder = tmp_path / SHARED.path.rpartition("/")[0]
    folder.mkdir(parents=True)
    (folder / "project_x.md").write_text(FRONT.format("description: It is `staging`: <a>.\n"))
    workspace = Workspace.open(tmp_path, environ={"HOME": str(tmp_path)})
    workspace.index()
    return workspace, folder


@pytest.mark.parametrize("text", [FRONT.format(SIDES), BOTH])
def test_an_index_line_stays_while_the_header_of_its_note_is_in_conflict(here, text):
    workspace, folder = here
    before = (folder / "KNOWLEDGE.md").read_text()
    (folder / "project_x.md").write_text(text)
    (folder / "project_y.md").write_text(text)
    (found,) = workspace.index()
    after = (folder / "KNOWLEDGE.md").read_text()
    assert "staging" in before
    assert after.replace("- [Y](project_y.md)\n", "") == before
    assert "project_x.md: merge conflict" in found.problem
    assert not found.is_clean
    assert [row.description for row in workspace.notes(Actor())] == ["", ""]
    assert [type(one) for one in documents(workspace, Actor(), [SHARED])] == [Problem, Problem]
    (folder / "project_x.md").write_text(FRONT.format("description: Production.\n"))
    workspace.index()
    assert "(project_x.md) - Production." in (folder / "KNOWLEDGE.md").read_text()


def test_a_conflict_below_the_header_leaves_the_description(here):
    workspace, folder = here
    text = FRONT.format("description: Ports.\n") + "\n<<<<<<< HEAD\n80\n=======\n90\n>>>>>>> b\n"
    head = read_head(text)
    assert head is not None
    assert head.description == parse(text, "project_x.md").head.description == "Ports."
    (folder / "project_x.md").write_text(text)
    assert workspace.index()[0].problem == ""
    assert [type(one) for one in documents(workspace, Actor(), [SHARED])] == [Problem]

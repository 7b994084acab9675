"""What a new fact repeats, denies or changes is said at once: at every door, whatever holds the other fact.

The other fact is an entry of the same or of another document, a note, or a record. What is said names it and has a
command that settles it.
"""

import json
import re
import shutil
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest
from click.testing import CliRunner

from agent_memory_protocol import Actor, Memory, Tier, Workspace
from agent_memory_protocol.cli.main import amp
from agent_memory_protocol.mcp.tier_tools import find
from agent_memory_protocol.mcp.tool import Door as McpDoor
from agent_memory_protocol.memory_tool.tool import MemoryTool

SAME, OPPOSITE, CHANGED = "says the same", "says the opposite", "has another value"
RENEWED, ALIKE = "may be out of date", "uses much the same words"
WAYS = {
    SAME: ("The mail worker needs Redis.", "Redis is needed by the mail worker."),
    OPPOSITE: ("Uploads are scanned for viruses.", "Uploads are not scanned for viruses."),
    CHANGED: ("The staging database is Postgres 14.", "The staging database is Postgres 16."),
    RENEWED: ("The nightly backup runs at 2 am.", "Backups now run at 4 am every night."),
    ALIKE: ("Retries need an idempotency key, or customers pay twice.", "Without idempotency key customers pay twice."),
}
UNRELATED = "Release notes go to the wiki of the team."
COMMAND = re.compile(
    r"`(amp (resolve|forget|dispute|note merge|note remove|record archive)|memory_\w+|archive)\b[^`]*`"
)


@dataclass
class Case:
    """A project in which things are done as a person."""

    folder: Path

    @property
    def memory(self) -> str:
        return str(self.folder / ".scaffolding" / "agent-memory")

    @property
    def workspace(self) -> Workspace:
        return Workspace.open(self.folder, environ={"HOME": str(self.folder)})

    def amp(self, *args: str, stdin: str = "") -> str:
        environ = {"HOME": str(self.folder), "COLUMNS": "400"}
        done = CliRunner().invoke(amp, [*args, "--root", str(self.folder)], env=environ, input=stdin)
        assert done.exit_code == 0, (args, done.output)
        return done.stderr

    def call(self, name: str, **arguments: object) -> str:
        with Memory(self.memory, consolidate_every=0) as records:
            door = McpDoor(self.workspace, Actor(), records, keeps_records=True)
            tool = find(door, name)
            assert tool is not None
            return json.dumps(tool.call(door, arguments).to_json(), ensure_ascii=False)

    def tool(self, command: str, path: str, **more: object) -> str:
        call = {"command": command, "path": f"/memories/shared/{path}", **more}
        return MemoryTool(root=self.folder, actor=Actor()).execute(call)

    def note(self, text: str) -> str:
        here = self.workspace
        here.new_note("project", "new", description=text, why="Seen.", how="Mind it.")
        return "\n".join(here.notices)

    def record(self, text: str) -> str:
        with Memory(self.memory, consolidate_every=0) as records:
            return "\n".join(records.remember(text).notes)


THERE: dict[str, Callable[[Case, str], object]] = {
    "an entry": lambda at, text: at.workspace.remember(text),
    "an entry of an agent": lambda at, text: at.workspace.remember(text, tier=Tier.AGENT, agent="dev"),
    "a note": lambda at, text: at.workspace.new_note("project", "old", description=text, why="Seen.", how="Mind it."),
    "the body of a note": lambda at, text: at.workspace.new_note(
        "project", "old", description="What was seen there.", why="Seen.", how="Mind it.", body=f"Before.\n\n- {text}"
    ),
    "a record": lambda at, text: at.record(text),
}


def edited(at: Case, text: str) -> str:
    entry = at.workspace.remember(UNRELATED).entry
    return at.amp("edit", entry.id, text)


def replacing_a_record(at: Case, text: str) -> str:
    with Memory(at.memory, consolidate_every=0) as records:
        old = records.remember(UNRELATED).record_id
    return at.amp("remember", text, "--replaces", old)


def brought_back(at: Case, text: str) -> str:
    with Memory(at.memory, consolidate_every=0) as records:
        old = records.remember(text).record_id
        records.archive(old, "not needed")
    return at.amp("record", "reactivate", old)


def written_into_a_document(at: Case, text: str) -> str:
    at.workspace.remember(UNRELATED)
    return at.tool("str_replace", "KNOWLEDGE.md", old_str=UNRELATED, new_str=f"{UNRELATED}\n- {text}")


def written_into_a_note(at: Case, text: str) -> str:
    at.workspace.new_note("project", "new", description=UNRELATED, why="Seen.", how="Mind it.", body="Before.")
    return at.tool("str_replace", "project_new.md", old_str="Before.", new_str=f"Before.\n\n- {text}")


def harvested(at: Case, text: str) -> str:
    block = f"```memory-findings\n- shared: {text}\n```\n"
    return at.amp("harvest", "--reporter", "reviewer", "--conversation", "c1", "--as", "dev", stdin=block)


DOORS: dict[str, Callable[[Case, str], str]] = {
    "amp remember": lambda at, text: at.amp("remember", text),
    "amp edit": edited,
    "amp harvest": harvested,
    "amp note new": lambda at, text: at.amp(
        *("note", "new", "project", "new", "--description", text, "--why", "Seen.", "--how", "Mind it.")
    ),
    "amp remember --replaces a record": replacing_a_record,
    "amp record remember": lambda at, text: at.amp("record", "remember", text),
    "amp record reactivate": brought_back,
    "Workspace.remember": lambda at, text: "\n".join(at.workspace.remember(text).notes),
    "Workspace.new_note": lambda at, text: at.note(text),
    "Memory.remember": lambda at, text: at.record(text),
    "MCP memory_remember": lambda at, text: at.call("memory_remember", text=text),
    "MCP remember": lambda at, text: at.call("remember", text=text),
    "memory tool, a document": written_into_a_document,
    "memory tool, a new note": lambda at, text: at.tool(
        "create", "project_new.md", file_text=f"---\nname: new\ndescription: {text}\ntype: project\n---\nSeen.\n"
    ),
    "memory tool, a note": written_into_a_note,
}


@pytest.mark.parametrize("there", THERE)
@pytest.mark.parametrize("door", DOORS)
def test_what_a_new_fact_meets_is_said_at_once_with_the_command_that_settles_it(tmp_path, door, there, sized):
    ways = [*WAYS.items()]
    first = ([*DOORS].index(door) + [*THERE].index(there)) % len(ways)
    for number, (way, (old, new)) in enumerate(ways[first : first + 1] if sized(1, 0, 0) else ways):
        at = Case(tmp_path / str(number))
        (at.folder / ".scaffolding").mkdir(parents=True)
        THERE[there](at, old)
        said = DOORS[door](at, new)
        assert way in said, (way, said)
        assert old in said
        assert COMMAND.search(said[said.index(way) :]), said
        shutil.rmtree(at.folder)


@pytest.mark.slow
@pytest.mark.parametrize("door", DOORS)
def test_nothing_is_said_where_a_new_fact_meets_none(tmp_path, door):
    at = Case(tmp_path)
    (at.folder / ".scaffolding").mkdir()
    for number, there in enumerate(THERE.values()):
        if number != 3:  # the two notes have one name
            there(at, f"Service number {number} is deployed with Helm.")
    said = DOORS[door](at, "The search index is built from the titles of pages.")
    assert not any(way in said for way in WAYS), said


@pytest.mark.slow
@pytest.mark.parametrize("door", DOORS)
def test_what_is_true_only_now_is_asked_about_once_unless_it_has_a_date(tmp_path, door):
    for number, (text, asked) in enumerate(
        [("For now the uploads go to the old bucket.", 1), ("The uploads go to the old bucket.", 0)]
    ):
        at = Case(tmp_path / str(number))
        (at.folder / ".scaffolding").mkdir(parents=True)
        assert DOORS[door](at, text).count("will this still be true in a month?") == asked
    at = Case(tmp_path / "ended")
    (at.folder / ".scaffolding").mkdir(parents=True)
    if door in ("amp remember", "amp edit", "memory tool, a document"):
        assert "in a month?" not in DOORS[door](at, "[2026-05-02] For now the uploads go to the old bucket.")
        assert "in a month?" not in DOORS[door](at, "[until 2999-01-01] For now the uploads go to the new bucket.")


@pytest.mark.slow
def test_where_not_all_is_looked_at_the_answer_says_how_much_was(tmp_path, monkeypatch):
    at = Case(tmp_path)
    (at.folder / ".scaffolding").mkdir()
    at.record("The mail worker needs Redis.")
    at.record("The wiki of the team has release notes.")
    monkeypatch.setattr("agent_memory_protocol.verbs.meet._MOST_INDEXED", 1)
    monkeypatch.setattr("agent_memory_protocol.recall.records.MOST", 1)
    assert "looked at 1 of 2 records, those written last" in at.amp("remember", UNRELATED)
    for name in ("a", "b", "c"):
        at.workspace.remember(f"The mail worker {name} needs Redis.", tier=Tier.AGENT, agent=name)
    monkeypatch.setattr("agent_memory_protocol.learning.meet._MOST_READ", 1)
    assert "looked at 2 of 4 documents; `amp check` compares all" in at.amp("remember", "The mail worker is fast.")
    lines = "".join(f"- Fact {number} is about another subject.\n" for number in range(7))
    told = at.tool("insert", "KNOWLEDGE.md", insert_line=4, insert_text=lines)
    assert "looked at 5 of 7 new facts" in told

"""The MCP server, asked by the SDK's own client: what it offers, answers, refuses, and that nothing ends it."""

import asyncio
import json
import random
import subprocess
import sys
import sysconfig
import threading
import tomllib
from collections.abc import Awaitable, Callable, Iterator
from contextlib import suppress
from datetime import date
from pathlib import Path
from typing import Any

import jsonschema
import mcp_types as types
import pytest
from click.testing import CliRunner
from mcp import Client, MCPError
from mcp.client.stdio import StdioServerParameters

from agent_memory_protocol import Actor, Memory, Workspace
from agent_memory_protocol.cli.main import amp, main
from agent_memory_protocol.mcp import server
from agent_memory_protocol.mcp.server import build
from agent_memory_protocol.mcp.tier_tools import TIER_TOOLS, TOOLS
from agent_memory_protocol.mcp.tool import Door
from tests.each_row import each_row
from tests.raw import EVIL, raw_in

SCRIPT = Path(sysconfig.get_path("scripts"), "amp-mcp")
SECONDS = 120
"""How long a server may take before it is killed: one that hangs must not hang the tests."""

TOKEN = "ghp" + "_" + "Kq7Zt2Xw9Lm4Rb6Yc1Vn8Hd3Js5Pf0Ga7Ue2"
WRITING = {
    *("memory_remember", "memory_resolve", "memory_dispute", "memory_forget"),
    *("remember", "archive", "reactivate", "consolidate"),
}


class Project:
    """A project, and clients of servers that serve it in this process."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.records: Path | str = root / ".scaffolding" / "agent-memory"
        self.environ = {"HOME": str(root.parent)}

    @property
    def workspace(self) -> Workspace:
        return Workspace.open(self.root, environ=self.environ)

    def ask(
        self,
        questions: Callable[[Client], Awaitable[None]],
        *,
        agent: str | None = "developer",
        conversation: str | None = "c1",
        unnamed: bool = False,
        keeps_records: bool = True,
        mode: Any = "auto",
    ) -> None:
        actor = Actor(agent, conversation, unnamed=unnamed)

        async def connect(records: Memory) -> None:
            async with Client(
                build(Door(self.workspace, actor, records, keeps_records=keeps_records)), mode=mode
            ) as client:
                await questions(client)

        with Memory(self.records, actor=actor) as records:
            asyncio.run(connect(records))

    def call(self, name: str, arguments: dict[str, Any] | None = None, **who: Any) -> types.CallToolResult:
        """Call one tool; its answer matches the schema that the server gives for it."""
        found: list[types.CallToolResult] = []

        async def question(client: Client) -> None:
            tools = {tool.name: tool for tool in (await client.list_tools()).tools}
            result = await client.call_tool(name, arguments)
            assert isinstance(result, types.CallToolResult)
            if name in tools and not result.is_error:
                check_schema(tools[name], result)
            found.append(result)

        self.ask(question, **who)
        return found[0]

    def values(self, name: str, arguments: dict[str, Any] | None = None, **who: Any) -> Any:
        result = self.call(name, arguments, **who)
        assert not result.is_error, result
        return result.structured_content

    def refused(self, name: str, arguments: dict[str, Any] | None = None, **who: Any) -> str:
        before = tree(self.root)
        result = self.call(name, arguments, **who)
        assert result.is_error, result
        assert result.structured_content is None
        (content,) = result.content
        assert isinstance(content, types.TextContent)
        assert content.text.isprintable()
        assert tree(self.root) == before
        return content.text


def check_schema(tool: types.Tool, result: types.CallToolResult) -> None:
    assert tool.output_schema is not None
    jsonschema.Draft202012Validator(tool.output_schema).validate(result.structured_content)


def tree(folder: Path) -> dict[str, bytes]:
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file() and ".amp/" not in path.as_posix()
    }


@pytest.fixture
def project(tmp_path):
    (tmp_path / "project").mkdir()
    return Project(tmp_path / "project")


# -- what it offers ----------------------------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("mode", ["legacy", "auto"])
def test_tools_are_offered_with_schemas_that_allow_nothing_else(project, mode):
    """B75."""

    async def question(client: Client) -> None:
        tools = (await client.list_tools()).tools
        assert [tool.name for tool in tools] == [tool.name for tool in TOOLS]
        for tool in tools:
            for schema in (tool.input_schema, tool.output_schema):
                assert schema is not None
                jsonschema.Draft202012Validator.check_schema(schema)
                assert schema["type"] == "object"
                assert schema["additionalProperties"] is False
            assert tool.annotations is not None
            assert tool.annotations.read_only_hint is (tool.name not in WRITING)
            assert tool.annotations.destructive_hint is (tool.name in ("memory_resolve", "memory_forget"))
            assert tool.annotations.open_world_hint is False
            assert tool.description
        assert "agent developer, in conversation c1" in (client.instructions or "")
        assert client.server_info is not None
        assert client.server_info.name == "agent-memory"

    project.ask(question, mode=mode)
    assert tree(project.root) == {}


@pytest.mark.slow
@pytest.mark.requirement("S4-52", "S4-54", "S4-56", "S4-58")
def test_a_read_only_agent_is_offered_no_tool_that_writes_and_refused_by_each(project):
    """B79."""
    project.workspace.remember("a fact")

    async def question(client: Client) -> None:
        assert not WRITING & {tool.name for tool in (await client.list_tools()).tools}
        assert "memory-findings" in (client.instructions or "")

    project.ask(question, agent="reviewer")
    assert "- a fact" in project.values("memory_recall", agent="reviewer")["text"]
    (entry,) = project.values("memory_show", agent="reviewer")["entries"]
    for name, arguments in (
        ("memory_remember", {"text": "x"}),
        ("memory_forget", {"ids": [entry["id"]]}),
        ("remember", {"text": "x"}),
        ("consolidate", {}),
    ):
        assert "report findings in your output" in project.refused(name, arguments, agent="reviewer")


# -- what it answers ---------------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_what_is_remembered_is_recalled_shown_and_forgotten(project):
    done = project.values("memory_remember", {"text": "Redis needs AOF on.", "tier": "shared", "section": "Redis"})
    assert (done["status"], done["entry"]["target"], done["entry"]["section"]) == ("added", "shared", "Redis")
    assert done["headroom"]["lines"] == 194
    again = project.values("memory_remember", {"text": "Redis needs AOF on.", "tier": "shared"})
    assert (again["status"], again["entry"]["id"]) == ("kept", done["entry"]["id"])
    project.values("memory_remember", {"text": "Own.", "date": "2026-02-15", "tags": ["a"], "confidence": 0.5})
    project.values("memory_remember", {"text": "Decided.", "tier": "conversation"})

    recalled = project.call("memory_recall")
    assert recalled.structured_content is not None
    assert [part["target"] for part in recalled.structured_content["parts"]] == [
        "shared",
        "agent:developer",
        "conversation:c1",
    ]
    (content,) = recalled.content
    assert isinstance(content, types.TextContent)
    assert content.text == recalled.structured_content["text"]
    assert "- Redis needs AOF on." in content.text

    entries = project.values("memory_show")["entries"]
    assert [entry["text"] for entry in entries][:2] == ["- Redis needs AOF on.", "- [2026-02-15] Own."]
    assert entries[1]["date"] == "2026-02-15"
    (gone,) = project.values("memory_forget", {"ids": [entries[0]["id"]], "reason": "no longer so"})["removed"]
    assert gone["text"] == "- Redis needs AOF on."
    (archived,) = project.workspace.restorable()
    assert archived.archived.reason == "no longer so"


SAME = [
    ("memory_recall", {"max_lines": 20}, ["recall", "developer", "--conversation", "c1", "--max-lines", "20"], ""),
    ("memory_show", {}, ["list", "--as", "developer", "--conversation", "c1"], ""),
    ("memory_search", {"query": "queue"}, ["search", "queue", "--as", "developer", "--conversation", "c1"], ""),
    ("memory_remember", {"text": "Line 7.", "tier": "shared"}, ["remember", "Line 7.", "--tier", "shared"], "entry"),
]


@pytest.mark.slow
@pytest.mark.parametrize(("tool", "arguments", "command", "more"), SAME, ids=[tool for tool, *_ in SAME])
def test_an_answer_is_the_same_here_and_on_the_command_line(project, monkeypatch, tool, arguments, command, more):
    for name in ("AMP_AGENT", "AMP_CONVERSATION"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", project.environ["HOME"])
    for number in range(12):
        project.workspace.remember(f"Line {number}.")
    project.workspace.remember("The queue is Redis.", agent="developer", dated=date(2026, 2, 15))
    project.workspace.remember("The queue is full.", conversation="c1")
    printed = CliRunner().invoke(amp, [*command, "--json", "--root", str(project.root)])
    told = json.loads(printed.stdout)
    assert told.pop("version") == 1
    found = project.values(tool, arguments)
    assert {name: value for name, value in found.items() if name != more} == told


@pytest.mark.slow
def test_what_a_recall_leaves_out_is_named_as_on_the_command_line(project):
    for number in range(12):
        project.workspace.remember(f"Line {number}.")
    found = project.values("memory_recall", {"max_lines": 8})
    assert "are not shown; `memory_show` shows them)" in found["text"]
    (part,) = found["parts"]
    assert part["left_out"][0]["text"] == "- Line 0."
    assert {"line", "last_line", "date", "label", "text"} == part["left_out"][0].keys()


def test_nothing_to_recall_is_said_to_a_model_and_empty_to_a_program(project):
    result = project.call("memory_recall", {"max_tokens": 500})
    assert result.structured_content == {"text": "", "parts": [], "records": [], "warnings": []}
    (content,) = result.content
    assert isinstance(content, types.TextContent)
    assert content.text == "There is no memory to recall yet."


@pytest.mark.slow
def test_a_budget_that_holds_nothing_is_not_told_as_an_empty_memory(project):
    project.call("memory_remember", {"text": "Redis needs AOF on.", "tier": "shared"})
    (content,) = project.call("memory_recall", {"max_chars": 100}).content
    assert isinstance(content, types.TextContent)
    assert content.text == "the budget is too small for the block's frame and its notes; make it larger"


@pytest.mark.slow
@pytest.mark.requirement("S4-13", "S4-18")
def test_only_what_the_actor_may_read_is_given(project):
    """B74."""
    for agent in ("developer", "tester"):
        project.workspace.remember(f"of {agent}", agent=agent)
    for conversation in ("c1", "c10", "c"):
        project.workspace.remember(f"of {conversation}", conversation=conversation)
    texts = [entry["text"] for entry in project.values("memory_show")["entries"]]
    assert texts[0] == "- of developer"
    assert [text.rpartition(" ")[2] for text in texts[1:]] == ["c1"]
    assert "may not read agent:tester" in project.refused("memory_show", {"tier": "agent", "agent": "tester"})
    assert "is in no conversation" in project.refused("memory_show", {"tier": "conversation"}, conversation=None)
    (told,) = project.values("memory_show", {"agent": "tester"}, agent="architect")["entries"]
    assert told["text"] == "- of tester"
    (entry,) = project.workspace.entries(Actor("tester"))
    for given in (entry.id, entry.id[:6]):
        assert "there is no entry" in project.refused("memory_forget", {"ids": [given]})


@pytest.mark.slow
def test_entries_and_notes_are_found_and_what_has_changed_is_found_no_more(project):
    """B74: a search gives nobody another's memory."""
    workspace = project.workspace
    workspace.remember("Redis loses its queue on restart unless AOF is on.", section="Infrastructure")
    own = workspace.remember("The upload test waits for Redis.", agent="developer")
    workspace.remember("Redis is the tester's secret.", agent="tester")
    workspace.remember("Redis in another conversation.", conversation="c2")
    for actor in (Actor(), Actor("tester")):
        said = {"description": "Why the queue is Redis.", "why": "it was there", "how": "keep it"}
        workspace.new_note("project", "queue", **said, actor=actor)
    hits = project.values("memory_search", {"query": "redis"})["hits"]
    assert {(hit["kind"], hit["target"]) for hit in hits} == {
        ("entry", "shared"),
        ("entry", "agent:developer"),
        ("note", "shared"),
    }
    assert all(hit["reasons"] for hit in hits)
    assert len(project.values("memory_search", {"query": "redis", "limit": 1})["hits"]) == 1
    answer = project.values("memory_search", {"query": "upload tset", "context": 1})
    assert answer["hits"][0]["id"] == own.entry.id
    assert answer["hits"][0]["passage"]["text"] == "- The upload test waits for Redis."
    assert {"line": own.entry.line, "text": own.entry.text} in answer["hits"][0]["lines"]
    assert answer["corrections"] == [{"word": "tset", "searched": ["test"]}]
    for narrowed, targets in (({"tier": "agent"}, {"agent:developer"}), ({"agent": "developer"}, {"agent:developer"})):
        assert {
            hit["target"] for hit in project.values("memory_search", {"query": "redis", **narrowed})["hits"]
        } == targets
    assert project.values("memory_search", {"query": "redis", "tier": "conversation", "history": True})["hits"] == []

    async def question(client: Client) -> None:
        async def ids() -> list[str]:
            found = await client.call_tool("memory_search", {"query": "upload"})
            assert found.structured_content is not None
            return [hit["id"] for hit in found.structured_content["hits"]]

        assert await ids() == [own.entry.id]
        await client.call_tool("memory_forget", {"ids": [own.entry.id]})
        assert await ids() == []

    project.ask(question)


@pytest.mark.slow
@pytest.mark.requirement("S1-36")
def test_records_are_remembered_recalled_and_counted(project):
    assert project.values("status")["records"] == 0
    assert project.values("recall", {"query": "database"})["text"] == ""
    assert tree(project.root) == {}
    kept = project.values("remember", {"text": "The staging database is Postgres.", "tags": ["db"], "source": "me"})
    again = project.values("remember", {"text": "The staging database is Postgres."})
    assert (kept["new"], again) == (True, {"record_id": kept["record_id"], "new": False, "notes": []})
    recalled = project.values("recall", {"query": "staging database", "budget_tokens": 100, "include_history": True})
    assert recalled["text"] == "- The staging database is Postgres."
    (hit,) = recalled["hits"]
    assert (hit["record_id"], hit["state"], hit["body"]) == (kept["record_id"], "active", recalled["text"][2:])
    assert project.values("recall", {"query": "staging database", "budget_tokens": 1})["left_out"] == 1
    counted = project.values("status")
    assert (counted["records"], counted["by_state"], counted["by_type"]) == (1, {"active": 1}, {"fact": 1})
    assert counted["path"] == str(project.root / ".scaffolding" / "agent-memory")


@pytest.mark.slow
def test_records_may_be_on_a_server_that_others_share(project, address, monkeypatch, tmp_path):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    other = Project(project.root)
    project.records = other.records = address
    kept = project.values("remember", {"text": "The staging database is Postgres."})
    assert not other.values("remember", {"text": "The staging database is Postgres."})["new"]
    assert other.values("recall", {"query": "databse"})["hits"][0]["record_id"] == kept["record_id"]
    other.values("remember", {"text": "The staging database is not Postgres."})
    assert len(project.values("consolidate")["done"]) == 1
    counted = project.values("status")
    assert (counted["records"], counted["disputes"], counted["path"]) == (2, 1, address)
    assert tree(project.root) == {}
    project.records = address.replace("namespace=", "namespace=no_")
    assert "there is no namespace" in project.refused("remember", {"text": "x"})


@pytest.mark.slow
def test_what_is_kept_as_a_record_is_found_with_entries_and_notes_and_with_a_task(project):
    project.values("remember", {"text": "The staging database is Postgres."})
    project.values("memory_remember", {"text": "The staging database needs a VPN.", "tier": "shared"})
    hits = project.values("memory_search", {"query": "staging database"})["hits"]
    assert sorted((hit["kind"], hit["text"]) for hit in hits) == [
        ("entry", "- The staging database needs a VPN."),
        ("record", "The staging database is Postgres."),
    ]
    assert len(project.values("memory_search", {"query": "staging database", "limit": 1})["hits"]) == 1
    recalled = project.call("memory_recall", {"task": "move the staging database"})
    assert 'records="1">\n- The staging database is Postgres.\n</memory>' in recalled.content[0].text
    assert [hit["kind"] for hit in recalled.structured_content["records"]] == ["record"]
    assert [hit["text"] for hit in project.values("memory_recall")["records"]] == ["The staging database is Postgres."]


def test_the_tools_of_records_are_there_only_where_the_server_keeps_records(project):
    async def question(client: Client) -> None:
        names = {tool.name for tool in (await client.list_tools()).tools}
        assert names == {tool.name for tool in TIER_TOOLS}
        with pytest.raises(MCPError, match="there is no tool 'remember'; there are memory_recall"):
            await client.call_tool("remember", {"text": "x"})

    project.ask(question, keeps_records=False)
    kept = project.values("remember", {"text": "Kept in a store."})
    assert kept["new"]


@pytest.mark.slow
def test_a_caller_without_a_name_reads_shared_and_writes_nothing(project):
    project.values("memory_remember", {"text": "For all.", "tier": "shared"})
    project.values("memory_remember", {"text": "For the developer."})
    nobody: dict[str, Any] = {"agent": None, "unnamed": True}

    async def question(client: Client) -> None:
        assert not WRITING & {tool.name for tool in (await client.list_tools()).tools}

    project.ask(question, **nobody)
    recalled = project.values("memory_recall", **nobody)["text"]
    assert "For all." in recalled
    assert "For the developer." not in recalled
    for tier in ("shared", "conversation"):
        refused = project.call("memory_remember", {"text": "x", "tier": tier}, **nobody)
        assert refused.is_error
        assert "may not write" in refused.content[0].text
    assert project.call("memory_show", {"agent": "developer"}, **nobody).is_error
    assert project.call("remember", {"text": "x"}, **nobody).is_error
    # A person names nobody either, and may do everything.
    assert (
        project.values("memory_remember", {"text": "By a person.", "tier": "shared"}, agent=None)["status"] == "added"
    )


@pytest.mark.slow
@pytest.mark.requirement("S1-28", "S1-36")
def test_consolidating_marks_what_contradicts_and_decides_nothing(project):
    for text in ("The staging database is Postgres.", "The staging database is not Postgres."):
        project.values("remember", {"text": text})
    before = tree(project.root)
    planned = project.values("consolidate", {"dry_run": True})["done"]
    assert tree(project.root) == before
    done = project.values("consolidate")["done"]
    assert [action["kind"] for action in planned] == [action["kind"] for action in done] == ["dispute"]
    assert project.values("status")["disputes"] == 1
    assert project.values("recall", {"query": "staging database"})["text"].count("[disputed") == 2


def test_documents_and_notes_are_resources(project):
    workspace = project.workspace
    workspace.new_note("project", "plan", description="The plan.", why="w", how="h", actor=Actor("developer"))
    workspace.remember("of tester", agent="tester")
    workspace.remember("in c1", conversation="c1")
    workspace.remember("in c2", conversation="c2")

    async def question(client: Client) -> None:
        found = {one.uri: one for one in (await client.list_resources()).resources}
        assert list(found) == [
            "memory://agents/developer/MEMORY.md",
            "memory://agents/developer/project_plan.md",
            "memory://conversation/context.md",
        ]
        note = found["memory://agents/developer/project_plan.md"]
        assert (note.title, note.description, note.mime_type) == ("Plan", "The plan.", "text/markdown")
        (content,) = (await client.read_resource(note.uri)).contents
        assert isinstance(content, types.TextResourceContents)
        assert content.text.endswith("**How to apply:** h\n")
        assert note.size == len(content.text)
        for uri in ("memory://agents/tester/MEMORY.md", "memory://shared/../x", "file:///etc/passwd", "memory://"):
            with pytest.raises(MCPError, match="there is no resource"):
                await client.read_resource(uri)

    project.ask(question)


def test_what_a_reader_cannot_see_is_shown(project):
    """B71."""
    path = project.root / ".scaffolding/agent-memory/shared/KNOWLEDGE.md"
    path.parent.mkdir(parents=True)
    path.write_text("# S\n\n- zero\u200bwidth \x1b[31m\n")
    (entry,) = project.values("memory_show")["entries"]
    assert entry["text"] == r"- zero\u200bwidth \x1b[31m"

    async def question(client: Client) -> None:
        (content,) = (await client.read_resource("memory://shared/KNOWLEDGE.md")).contents
        assert isinstance(content, types.TextResourceContents)
        assert content.text == "# S\n\n" + entry["text"] + "\n"

    project.ask(question)


@pytest.mark.slow
def test_no_argument_of_a_tool_hides_anything_in_its_answer(project):
    project.values("memory_remember", {"text": "A fact."})
    of_kind: dict[str, Any] = {"string": "x", "number": 1, "integer": 1, "boolean": False, "array": ["x"]}
    with Memory(project.records, actor=Actor("developer", "c1")) as records:
        door = Door(project.workspace, Actor("developer", "c1"), records, keeps_records=True)
        for tool in TOOLS:
            fine = {one.name: (one.choices or (of_kind[one.kind],))[0] for one in tool.parameters if one.required}
            tried: list[dict[str, Any]] = [{EVIL: 1}]
            tried += [{one.name: value} for one in tool.parameters for value in (EVIL, [EVIL])]
            for sent in tried:
                answer = server._call(door, tool, {**fine, **sent})
                assert raw_in(answer.model_dump(mode="json")) == "", (tool.name, sent)


# -- what it refuses ---------------------------------------------------------------------------------------------------


BAD: list[tuple[str, dict[str, Any], str]] = [
    ("memory_remember", {}, "text is missing: What to remember"),
    ("memory_remember", {"text": 3}, "text must be a text"),
    ("memory_remember", {"text": " "}, "the text is empty"),
    ("memory_remember", {"text": "x", "colour": "red"}, "'colour' is not an argument; there are text, tier"),
    ("memory_remember", {"text": "x", "tier": "all"}, "tier must be one of shared, agent, conversation"),
    ("memory_remember", {"text": "x", "tier": ["shared"]}, "tier must be one of"),
    ("memory_remember", {"text": "x", "date": "yesterday"}, "'yesterday' is not a date"),
    ("memory_remember", {"text": "x", "dated": "yes"}, "dated must be true or false"),
    ("memory_remember", {"text": "x", "confidence": 2}, "confidence must be a number, at least 0, at most 1"),
    ("memory_remember", {"text": "x", "tags": "a"}, "tags must be a list of texts"),
    ("memory_remember", {"text": "x", "tags": [1]}, "tags must be a list of texts"),
    ("memory_remember", {"text": "x", "agent": "tester"}, "may not write agent:tester"),
    ("memory_remember", {"text": "x", "agent": "../x"}, "is not allowed: it holds a path separator"),
    ("memory_remember", {"text": f"CI uses {TOKEN}"}, "rule github-token"),
    ("memory_remember", {"text": "x\u202ey"}, r"the invisible or control character \u202e"),
    ("memory_remember", {"text": "x" * 30_000}, "shorten it"),
    ("memory_recall", {"max_chars": 0}, "max_chars must be a whole number, at least 1"),
    ("memory_recall", {"max_chars": 1.5}, "max_chars must be a whole number"),
    ("memory_recall", {"max_chars": True}, "max_chars must be a whole number"),
    ("memory_forget", {"ids": []}, "ids must be a list of texts, at least 1"),
    ("memory_forget", {"ids": ["0" * 12]}, "there is no entry 000000000000"),
    ("memory_forget", {"ids": ["0" * 12]}, "`memory_show` shows the ids"),
    ("memory_show", {"agent": ""}, "the agent name is empty"),
    ("remember", {}, "text is missing: The fact."),
    ("remember", {"text": ""}, "the text is empty"),
    ("remember", {"text": f"CI uses {TOKEN}"}, "rule github-token"),
    ("remember", {"text": "x", "source": TOKEN}, "rule github-token"),
    ("memory_search", {}, "query is missing"),
    ("memory_search", {"query": "x", "agent": "tester"}, "may not read agent:tester"),
    ("memory_search", {"query": "x", "tier": "shared", "agent": "developer"}, "is not in the tier shared"),
    ("memory_search", {"query": "x", "since": "today"}, "today"),
    ("memory_search", {"query": "x", "limit": 0}, "limit must be a whole number, at least 1"),
    ("recall", {}, "query is missing"),
    ("recall", {"query": "x", "budget_tokens": 0}, "budget_tokens must be a whole number, at least 1"),
    ("status", {"path": "/etc"}, "'path' is not an argument; there are none"),
]


@pytest.mark.slow
@each_row("name, arguments, words", BAD, ids=[f"{n} {str(a)[:40]}" for n, a, _ in BAD])
def test_what_cannot_be_done_is_an_answer_with_the_reason(project, name, arguments, words):
    told = project.refused(name, arguments)
    assert words in told
    assert TOKEN not in told


def test_every_bad_argument_is_named_at_once(project):
    told = project.refused("memory_remember", {"tier": "all", "colour": "red"})
    assert told.startswith("'colour' is not an argument; there are text, tier, ")
    assert "text is missing" in told
    assert "tier must be" in told


def test_a_tool_that_is_none_is_a_protocol_error(project):
    async def question(client: Client) -> None:
        with pytest.raises(MCPError, match="there is no tool 'memory_rm'; there are memory_recall, "):
            await client.call_tool("memory_rm", {})

    project.ask(question)


# -- over a pipe -------------------------------------------------------------------------------------------------------


@pytest.fixture
def environ(tmp_path):
    return {"HOME": str(tmp_path), "LC_ALL": "C"}


@pytest.mark.slow
@pytest.mark.requirement("S1-36", "S1-37")
def test_the_printed_settings_start_a_server_for_the_sdk_s_client(project, capsys, monkeypatch, environ):
    """A host pastes what `amp mcp --config` prints; the client starts exactly that."""
    records = project.root.parent / "records"
    asked = ["--root", str(project.root), "--agent", "developer", "--path", str(records)]
    monkeypatch.setattr("sys.argv", ["amp", "mcp", *asked, "--config"])
    monkeypatch.delenv("AMP_CONVERSATION", raising=False)
    with pytest.raises(SystemExit):
        main()
    (settings,) = json.loads(capsys.readouterr().out)["mcpServers"].values()
    server = StdioServerParameters(command=settings["command"], args=settings["args"], env=environ)

    async def converse() -> None:
        async with Client(server, read_timeout_seconds=SECONDS) as client:
            tools = {tool.name: tool for tool in (await client.list_tools()).tools}
            assert set(tools) == {tool.name for tool in TOOLS}
            done = await client.call_tool("memory_remember", {"text": "Überall: é 💡"})
            check_schema(tools["memory_remember"], done)
            for name in ("memory_recall", "memory_show"):
                result = await client.call_tool(name, {})
                check_schema(tools[name], result)
                assert "é 💡" in str(result.structured_content)
            assert (await client.call_tool("memory_forget", {"ids": ["x"]})).is_error
            assert len((await client.list_resources()).resources) == 1
            for name, arguments in (
                ("remember", {"text": "A record."}),
                ("recall", {"query": "record"}),
                ("status", {}),
            ):
                check_schema(tools[name], await client.call_tool(name, arguments))

    asyncio.run(converse())
    assert [record.body for record in Memory(records).records()] == ["A record."]


@pytest.mark.slow
@pytest.mark.requirement("S1-37")
def test_without_the_sdk_the_command_says_what_to_install(project, environ):
    blocked = "import sys; sys.modules['mcp_types'] = None; from agent_memory_protocol.cli.main import mcp; mcp()"
    command = [sys.executable, "-c", blocked, "--root", str(project.root)]
    done = subprocess.run(command, env=environ, capture_output=True, encoding="utf-8", check=False)
    told = "amp: the MCP server needs the SDK: pip install 'agent-memory-protocol[mcp]'\n"
    assert (done.returncode, done.stdout, done.stderr) == (2, "", told)


class Wire:
    """A server on a pipe, spoken to by hand."""

    def __init__(self, root: Path, environ: dict[str, str]) -> None:
        self.process = subprocess.Popen(
            [SCRIPT, "--root", root, "--agent", "developer"],
            env=environ,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        assert self.process.stderr is not None
        self.stdin, self.stdout, self.stderr = self.process.stdin, self.process.stdout, self.process.stderr
        self._watchdog = threading.Timer(SECONDS, self.process.kill)
        self._watchdog.start()
        self._errors: list[bytes] = []
        self._listener = threading.Thread(target=lambda: self._errors.append(self.stderr.read()))
        self._listener.start()

    def send(self, *lines: bytes) -> None:
        self.stdin.write(b"".join(line + b"\n" for line in lines))
        self.stdin.flush()

    def answer_to(self, request_id: object) -> Any:
        """Return the answer to a request. Each line before it, too, is a message."""
        while True:
            line = self.stdout.readline()
            assert line, "the server has ended"
            message = _message(line)
            if message.get("id") == request_id and "method" not in message:
                return message

    def begin(self) -> None:
        self.send(_request("first", "initialize", INITIALIZE))
        assert self.answer_to("first")["result"]["serverInfo"]["name"] == "agent-memory"
        self.send(b'{"jsonrpc":"2.0","method":"notifications/initialized"}')

    def end(self) -> tuple[int, str]:
        """Close the pipe; return the exit code and what was said on stderr. All that was still printed are messages."""
        if not self.stdin.closed:
            with suppress(BrokenPipeError):
                self.stdin.close()
        if not self.stdout.closed:
            for line in self.stdout:
                _message(line)
            self.stdout.close()
        code = self.process.wait()
        self._watchdog.cancel()
        self._listener.join()
        self.stderr.close()
        return code, b"".join(self._errors).decode()


INITIALIZE = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}}


def _message(line: bytes) -> Any:
    message = json.loads(line)
    assert isinstance(message, dict)
    assert message["jsonrpc"] == "2.0"
    return message


def _request(request_id: object, method: str, params: object) -> bytes:
    return json.dumps({"jsonrpc": "2.0", "id": request_id, "method": method, "params": params}).encode()


@pytest.fixture
def wire(project, environ):
    opened = Wire(project.root, environ)
    try:
        yield opened
    finally:
        opened.process.kill()
        opened.end()


@pytest.mark.slow
def test_it_ends_before_a_word_was_said(wire):
    assert wire.end() == (0, "")


@pytest.mark.slow
def test_it_ends_when_nobody_listens_any_more(wire):
    wire.begin()
    wire.stdout.close()
    with suppress(BrokenPipeError):
        wire.send(_request("last", "ping", {}))
    assert wire.process.wait() == 0
    assert wire.end() == (0, "")


@pytest.mark.slow
def test_a_message_over_a_mebibyte_is_refused_and_the_next_one_served(wire):
    wire.begin()
    text = "x" * (1 << 20)
    wire.send(_request("large", "tools/call", {"name": "memory_remember", "arguments": {"text": text}}))
    assert wire.answer_to("large")["error"]["message"] == "a message may have 1,048,576 bytes; send less"
    wire.send(_request("small", "tools/call", {"name": "memory_remember", "arguments": {"text": "x" * 100}}))
    assert wire.answer_to("small")["result"]["isError"] is False
    assert wire.end() == (0, "")


def remember(text: str, **more: object) -> dict[str, Any]:
    call = {"name": "memory_remember", "arguments": {"text": text}}
    return {"jsonrpc": "2.0", "id": 7, "method": "tools/call", "params": call, **more}


UNREADABLE = [
    (json.dumps(remember("half \ud800 of it")), 7, -32600, "params.arguments.text has half a character"),
    (json.dumps(remember("\udc00\ud800", id="seven")), "seven", -32600, "params.arguments.text has half a character"),
    (json.dumps(remember("x", id="\ud800")), None, -32600, "id has half a character"),
    (json.dumps(remember("x", **{"\ud800": 1})), 7, -32600, "a name in the message has half a character"),
    (json.dumps(remember("x", jsonrpc="1.0")), 7, -32600, "not a JSON-RPC 2.0 message"),
    (json.dumps([remember("x")]), None, -32600, "not a JSON-RPC 2.0 message"),
    (json.dumps(remember("x", id=None)), None, -32600, "its id a whole number or a text"),
    (json.dumps(remember("x", id=1.5)), None, -32600, "its id a whole number or a text"),
    (json.dumps(remember("x", id=True)), None, -32600, "its id a whole number or a text"),
    (json.dumps(remember("x", id={"id": 7})), None, -32600, "its id a whole number or a text"),
    (
        '{"jsonrpc":"2.0","id":7}',
        None,
        -32600,
        "not a JSON-RPC 2.0 message",
    ),  # perhaps an answer: nobody waits behind it
    ('{"jsonrpc":"2.0","id":7,"method":"ping"', 7, -32700, "not JSON"),
    ("hello", None, -32700, "not JSON"),
    ("[" * 100_000, None, -32700, "not JSON"),
    ("9" * 5000, None, -32700, "not JSON"),
]


@pytest.fixture(scope="module")
def serving(tmp_path_factory):
    """One server for all lines that it cannot read: none of them ends it, and it says nothing on stderr."""
    folder = tmp_path_factory.mktemp("serving")
    opened = Wire(folder, {"HOME": str(folder), "LC_ALL": "C"})
    try:
        opened.begin()
        yield opened
        assert opened.end() == (0, "")
    finally:
        opened.process.kill()


@pytest.mark.slow
@pytest.mark.parametrize(("line", "request_id", "code", "words"), UNREADABLE, ids=[row[0][:70] for row in UNREADABLE])
def test_a_line_that_cannot_be_read_is_answered_with_what_is_wrong(serving, line, request_id, code, words):
    serving.send(line.encode())
    answer = serving.answer_to(request_id)
    assert answer["error"]["code"] == code
    assert words in answer["error"]["message"]
    serving.send(json.dumps(remember("two halves make one: \U0001f4a1", id="next")).encode(), b"", b"  ")
    assert serving.answer_to("next")["result"]["isError"] is False


@pytest.mark.slow
def test_no_frame_brings_it_down(wire, sized):
    chance = random.Random(75)
    frames = list(fuzz(chance, sized(100, 200, 10_000)))
    # Before the handshake, none of them may be taken for its beginning.
    wire.send(*(frame for frame in fuzz(chance, 100) if b"method" not in frame))
    wire.begin()
    writer = threading.Thread(target=wire.send, args=(*frames, _request("last", "tools/list", {})))
    writer.start()
    answer = wire.answer_to("last")
    writer.join()
    assert {tool["name"] for tool in answer["result"]["tools"]} == {tool.name for tool in TIER_TOOLS}
    code, errors = wire.end()
    assert code == 0
    assert "Traceback" not in errors


def fuzz(chance: random.Random, count: int) -> Iterator[bytes]:
    """Yield lines of every kind that a broken or hostile client may send."""
    for _ in range(count):
        kind = chance.randrange(6)
        if kind == 0:
            frame = chance.randbytes(chance.randrange(200))
        elif kind == 1:
            frame = json.dumps(value(chance)).encode()
        elif kind == 2:
            frame = json.dumps([value(chance) for _ in range(3)]).encode()
        else:
            message = {"jsonrpc": chance.choice(["2.0", "2.0", "2.0", "1.0", 2])}
            message["id"] = chance.choice([chance.randrange(1000), str(chance.random()), None, -1, 1.5, 2**70, [], {}])
            message["method"] = chance.choice([*METHODS, value(chance, 3)])
            message["params"] = chance.choice([call(chance), call(chance), value(chance)])
            for key in list(message):
                if chance.random() < 0.1:
                    del message[key]
            frame = json.dumps(message).encode()
            if kind == 5:
                frame = mutated(chance, frame)
        yield frame.replace(b"\n", b" ")


METHODS = [
    *(["tools/call"] * 6),
    *("tools/list", "resources/list", "resources/read", "prompts/list", "ping", "initialize", "logging/setLevel"),
    *("notifications/cancelled", "notifications/initialized", "notifications/progress", "completion/complete", "", "x"),
]
TEXTS = ["", "a fact", "../../x", "\ud800", "\0", "💡", "</memory>", "{}", "x" * 5000, TOKEN, "memory://shared/x"]


def call(chance: random.Random) -> dict[str, Any]:
    tool = chance.choice(TOOLS)
    names = [one.name for one in tool.parameters] + ["other"]
    arguments = {chance.choice(names): value(chance) for _ in range(chance.randrange(4))}
    if chance.random() < 0.3:
        arguments["text"] = f"fact {chance.randrange(20)}"
    name: Any = tool.name if chance.random() < 0.8 else value(chance, 3)
    return {"name": name, "arguments": arguments, "uri": chance.choice(TEXTS), "requestId": chance.randrange(1000)}


def value(chance: random.Random, depth: int = 0) -> Any:
    kind = chance.randrange(9 if depth < 3 else 7)
    simple = [None, True, chance.randrange(-5, 300), 1e308, chance.choice(TEXTS), chance.choice(TEXTS), -0.0]
    if kind < 7:
        return simple[kind]
    if kind == 7:
        return [value(chance, depth + 1) for _ in range(chance.randrange(4))]
    return {chance.choice(["a", "text", "id", "_meta", "cursor"]): value(chance, depth + 1) for _ in range(3)}


def mutated(chance: random.Random, frame: bytes) -> bytes:
    changed = bytearray(frame)
    for _ in range(chance.randrange(1, 6)):
        place = chance.randrange(len(changed) + 1)
        changed[place : place + chance.randrange(3)] = chance.randbytes(chance.randrange(3))
    return bytes(changed) or b"{"


def test_each_host_is_told_in_its_own_form_how_to_start_the_server(project, capsys, monkeypatch):
    from agent_memory_protocol.project.agents import SERVERS

    for host, file in SERVERS.items():
        monkeypatch.setattr("sys.argv", ["amp", "mcp", "--root", str(project.root), "--config", "--host", host])
        with pytest.raises(SystemExit) as ended:
            main()
        assert ended.value.code == 0
        printed = capsys.readouterr()
        assert file in printed.err
        read = tomllib.loads(printed.out) if file.endswith(".toml") else json.loads(printed.out)
        ((server,),) = [list(table.values()) for table in read.values()]
        command = server["command"]
        words = command if isinstance(command, list) else [command, *server["args"]]
        assert words[1:] == ["--root", str(project.root)]

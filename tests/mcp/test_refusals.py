"""What the server refuses reaches an agent that has nothing but its tools: it names these, and no command to run."""

import asyncio
import re
from typing import Any

import pytest
from mcp import Client

from agent_memory_protocol import Actor, Memory, Workspace
from agent_memory_protocol.mcp.server import build
from agent_memory_protocol.mcp.tier_tools import instructions, offered
from agent_memory_protocol.mcp.tool import Door

Answers = list[tuple[str, bool, str]]
"""What was called, whether it was refused, and the text of the answer."""

FACT = "Staging uses Postgres 14."
CALLS: list[tuple[str, dict[str, Any]]] = [
    ("memory_recall", {"max_chars": 50}),
    ("memory_recall", {"max_lines": 0}),
    ("memory_recall", {"tasks": "x"}),
    *(
        ("memory_remember", {"text": "A fact.", **more})
        for more in (
            {"text": ""},
            {"text": "the password is hunter2hunter2"},
            {"text": "An invisible \u200b character."},
            {"text": "A word. " * 4000},
            {"tier": "conversation"},
            {"tier": "agent"},
            {"tier": "global"},
            {"agent": "tester"},
            {"agent": "../x"},
            {"date": "tomorrow"},
            {"replaces": "zz"},
            {"replaces": "a1b2c3"},
            {"section": "# x\n- y"},
            {"confidence": 3},
        )
    ),
    ("memory_remember", {"text": "Staging uses Postgres 15.", "tier": "shared"}),
    ("memory_show", {"agent": "tester"}),
    ("memory_show", {"tier": "conversation"}),
    ("memory_show", {"tier": "agent"}),
    ("memory_search", {"query": "x", "limit": 0}),
    ("memory_search", {"query": "x", "since": "yesterday"}),
    ("memory_search", {"query": "x", "agent": "tester"}),
    ("memory_search", {"query": "x", "tier": "conversation"}),
    ("memory_resolve", {"loser": "zz", "winner": "a1b2c3"}),
    ("memory_dispute", {"one": "zz", "other": "zz"}),
    ("memory_forget", {"ids": ["a1b2c3"]}),
    ("memory_forget", {"ids": []}),
    ("remember", {"text": ""}),
    ("remember", {"text": "x", "replaces": "mem:0000000"}),
    ("recall", {"query": "port", "budget_tokens": 1}),
    ("archive", {"record_id": "mem:0000000", "reason": "old"}),
    ("archive", {"record_id": "mem:0000000", "reason": ""}),
    ("reactivate", {"record_id": "zz", "reason": "back"}),
    ("consolidate", {"dry_run": "yes"}),
    ("status", {"x": 1}),
]
ACTORS = {
    "an agent": Actor("developer", unnamed=True),
    "an agent in a conversation": Actor("developer", "c1", unnamed=True),
    "a read-only agent": Actor("reviewer", unnamed=True),
    "an agent without a name": Actor(unnamed=True),
    "a person": Actor(),
}


@pytest.fixture(scope="module", params=[*ACTORS])
def door(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Any:
    root = tmp_path_factory.mktemp("home") / "project"
    folder = root / ".scaffolding" / "agent-memory"
    (folder / "shared").mkdir(parents=True)
    (folder / "shared" / "KNOWLEDGE.md").write_text(f"# Shared\n\n- {FACT}\n")
    actor = ACTORS[request.param]
    with Memory(folder, actor=Actor()) as memory:
        memory.remember("The API port is 8080.")
    with Memory(folder, actor=actor) as memory:
        yield Door(Workspace.open(root, environ={"HOME": str(root.parent)}), actor, memory, keeps_records=True)


@pytest.fixture(scope="module")
def answers(door: Door) -> Answers:
    found = []

    async def ask() -> None:
        async with Client(build(door)) as client:
            for name, arguments in CALLS:
                answer = await client.call_tool(name, arguments)
                text = "\n".join(one.text for one in answer.content if one.type == "text")
                found.append((f"{name} {str(arguments)[:60]}", bool(answer.is_error), text))

    asyncio.run(ask())
    return found


@pytest.mark.slow
def test_no_answer_names_a_command_an_option_or_a_tool_that_the_reader_has_not(door: Door, answers: Answers) -> None:
    has = {tool.name for tool in offered(door)}
    wrong = []
    for called, is_refused, text in [("instructions", False, instructions(door)), *answers]:
        commands = re.findall(r"`amp [^`]*`(?! \(a person runs that\))", text)
        options = re.findall(r"(?<![\w-])--[a-z][a-z-]*", re.sub(r"`amp [^`]*`", "", text))
        lacking = [one for one in re.findall(r"\bmemory_[a-z]+\b", text) if one not in has]
        if commands or options or lacking or (is_refused and not text.isprintable()):
            wrong.append((called, commands, options, lacking, text))
    assert wrong == []


def test_a_refusal_says_what_to_do_next(door: Door, answers: Answers) -> None:
    """A wrong argument is told with the right ones; what is missing, with the tool that shows what there is."""
    told = {called: text for called, is_refused, text in answers if is_refused}
    tools = {"memory_show", "memory_search"}
    for called, text in told.items():
        if "zz" in called or "a1b2c3" in called or "mem:0000000'" in called:
            assert any(tool in text for tool in tools) or "may not write" in text or "is empty" in text, (called, text)
        if "may not write" in text:
            assert "memory-findings" in text or "write to shared" in text, (called, text)
        if "'conversation'" in called and door.actor.conversation is None and "memory_search" not in called:
            assert text == "this server is in no conversation; choose the tier shared or agent"

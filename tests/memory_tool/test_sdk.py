"""The SDK's own tool runner drives the memory tool; only the model is a stand-in, behind the client's transport."""

import asyncio
import json
import subprocess
import sys
from typing import Any

import httpx2
import pytest

from agent_memory_protocol import Actor, Workspace

SHARED = "/memories/shared/KNOWLEDGE.md"
TURNS = [
    {"command": "view", "path": "/memories"},
    {"command": "create", "path": SHARED, "file_text": "# Shared\n\n- Redis needs AOF on.\n"},
    {"command": "view", "path": SHARED, "view_range": [1, -1]},
    {"command": "str_replace", "path": SHARED, "old_str": "AOF on", "new_str": "AOF on, always"},
    {"command": "create", "path": "/memories/agents/tester/MEMORY.md", "file_text": "x"},
    {"command": "nonsense", "path": SHARED},
    {"command": "delete", "path": SHARED},
]


class Model(httpx2.BaseTransport, httpx2.AsyncBaseTransport):
    """Answers as the model would: with one call of the memory tool each time, and a sentence at last."""

    def __init__(self) -> None:
        self.requests: list[Any] = []

    def _answer(self, request: httpx2.Request) -> httpx2.Response:
        self.requests.append(json.loads(request.content))
        number = len(self.requests) - 1
        content: dict[str, object] = {"type": "text", "text": "Done."}
        if number < len(TURNS):
            content = {"type": "tool_use", "id": f"toolu_{number}", "name": "memory", "input": TURNS[number]}
        message = {
            "id": f"msg_{number}",
            "type": "message",
            "role": "assistant",
            "model": "a-model",
            "content": [content],
            "stop_reason": "tool_use" if number < len(TURNS) else "end_turn",
            "stop_sequence": None,
            "usage": {"input_tokens": 1, "output_tokens": 1},
        }
        return httpx2.Response(200, json=message)

    def handle_request(self, request: httpx2.Request) -> httpx2.Response:
        return self._answer(request)

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        return self._answer(request)

    @property
    def results(self) -> list[tuple[bool, str]]:
        """What the tool answered, turn by turn: whether it was an error, and the text."""
        found = []
        for request in self.requests[1:]:
            (block,) = request["messages"][-1]["content"]
            content = block["content"]
            text = content if isinstance(content, str) else content[0]["text"]
            found.append((bool(block.get("is_error")), text))
        return found


ASK: Any = {"model": "a-model", "max_tokens": 100, "messages": [{"role": "user", "content": "Remember it."}]}


# The SDK takes seconds to import, and each worker imports every module of tests: only what uses it pays for it.


def drive_sync(root, environ) -> Model:
    from anthropic import Anthropic

    from agent_memory_protocol.memory_tool.sdk import AnthropicMemoryTool

    model = Model()
    client = Anthropic(api_key="none", http_client=httpx2.Client(transport=model))
    tool = AnthropicMemoryTool(root, actor=Actor("developer"), environ=environ)
    client.beta.messages.tool_runner(**ASK, tools=[tool]).until_done()
    return model


def drive_async(root, environ) -> Model:
    from anthropic import AsyncAnthropic

    from agent_memory_protocol.memory_tool.sdk import AsyncAnthropicMemoryTool

    async def drive() -> Model:
        model = Model()
        async with AsyncAnthropic(api_key="none", http_client=httpx2.AsyncClient(transport=model)) as client:
            tool = AsyncAnthropicMemoryTool(root, actor=Actor("developer"), environ=environ)
            await client.beta.messages.tool_runner(**ASK, tools=[tool]).until_done()
        return model

    return asyncio.run(drive())


@pytest.mark.slow
@pytest.mark.parametrize("drive", [drive_sync, drive_async])
def test_the_tool_runner_carries_out_what_the_model_asks(drive, tmp_path):
    environ = {"HOME": str(tmp_path)}
    root = tmp_path / "project"

    model = drive(root, environ)

    assert model.requests[0]["tools"] == [{"type": "memory_20250818", "name": "memory"}]
    assert [is_error for is_error, _ in model.results] == [False, False, False, False, True, True, False]
    texts = [text for _, text in model.results]
    assert texts[0].endswith("0B\t/memories/agents/\n0B\t/memories/agents/developer/\n0B\t/memories/shared/")
    assert texts[1] == f"File created successfully at: {SHARED}"
    assert texts[2].endswith("     1\t# Shared\n     2\t\n     3\t- Redis needs AOF on.\n     4\t")
    assert texts[3].endswith("     3\t- Redis needs AOF on, always.\n     4\t")
    assert texts[4].startswith("agent developer may not write agent:tester: ")
    assert texts[5] == "Unknown command: nonsense"
    assert texts[6] == f"Successfully deleted {SHARED}"
    archived = Workspace.open(root, environ=environ).restorable()
    assert sorted(one.archived.taken.markdown for one in archived) == [
        "- Redis needs AOF on, always.",
        "- Redis needs AOF on.",
    ]


@pytest.mark.slow
def test_a_command_as_the_sdk_reads_it_is_carried_out_too(tmp_path):
    from anthropic.types.beta import BetaMemoryTool20250818ViewCommand

    from agent_memory_protocol.memory_tool.sdk import AnthropicMemoryTool

    tool = AnthropicMemoryTool(tmp_path, actor=Actor("developer"), environ={"HOME": str(tmp_path)})
    command = BetaMemoryTool20250818ViewCommand(command="view", path="/memories")
    assert tool.view(command) == tool.execute(command) == tool.call({"command": "view", "path": "/memories"})


@pytest.mark.slow
def test_without_the_sdk_it_says_what_to_install():
    blocked = "import sys; sys.modules['anthropic'] = None\nimport agent_memory_protocol.memory_tool.sdk"
    done = subprocess.run([sys.executable, "-c", blocked], capture_output=True, encoding="utf-8", check=False)
    last = done.stderr.splitlines()[-1]
    assert "MissingExtra: the tool runner needs Anthropic's SDK: pip install" in last
    assert "agent-memory-protocol[anthropic]" in last

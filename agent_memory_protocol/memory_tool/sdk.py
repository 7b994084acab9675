"""The memory tool for Anthropic's SDK: what its tool runner takes and calls.

Only this module imports `anthropic`, which comes with the extra `anthropic`.
"""

import asyncio
import os
from collections.abc import Mapping
from typing import cast

from ..errors import AgentMemoryError, MissingExtra
from ..project.access import Actor
from ..text.visible import show_text
from .tool import MemoryTool

try:
    from anthropic import BaseModel
    from anthropic.lib.tools import BetaAbstractMemoryTool, BetaAsyncAbstractMemoryTool, ToolError
    from anthropic.types.beta import BetaCacheControlEphemeralParam
except ModuleNotFoundError:
    raise MissingExtra(
        "the tool runner needs Anthropic's SDK: pip install 'agent-memory-protocol[anthropic]'"
    ) from None


class _Ours:
    """What both tools are made of: ours, and what the SDK wants to know."""

    def __init__(
        self,
        root: "str | os.PathLike[str] | None" = None,
        *,
        actor: Actor,
        environ: Mapping[str, str] | None = None,
        cache_control: BetaCacheControlEphemeralParam | None = None,
    ) -> None:
        super().__init__(cache_control=cache_control)  # type: ignore[call-arg]
        self._tool = MemoryTool(root, actor=actor, environ=environ)


class AnthropicMemoryTool(_Ours, BetaAbstractMemoryTool):
    """The memory of one actor, for `client.beta.messages.tool_runner(tools=[…])`; see `MemoryTool`.

    What cannot be done reaches the model as a tool result with `is_error`, in one line.
    """

    def call(self, input: object) -> str:
        """Carry out what the model sent."""
        return _call(self._tool, input)

    def execute(self, command: object) -> str:
        """Carry out a command, as the model sent it or as the SDK reads it."""
        return _call(self._tool, command)

    view = create = str_replace = insert = delete = rename = execute


class AsyncAnthropicMemoryTool(_Ours, BetaAsyncAbstractMemoryTool):
    """The same for the asynchronous client. Commands run in threads, so nothing else waits for a lock of theirs."""

    async def call(self, input: object) -> str:
        """Carry out what the model sent."""
        return await asyncio.to_thread(_call, self._tool, input)

    async def execute(self, command: object) -> str:
        """Carry out a command, as the model sent it or as the SDK reads it."""
        return await asyncio.to_thread(_call, self._tool, command)

    view = create = str_replace = insert = delete = rename = execute


def _call(tool: MemoryTool, command: object) -> str:
    if isinstance(command, BaseModel):
        command = command.to_dict()
    try:
        return tool.execute(cast("Mapping[str, object]", command))
    except AgentMemoryError as error:
        raise ToolError(show_text(str(error))) from error

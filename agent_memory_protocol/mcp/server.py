"""The MCP server: tools, and documents and notes as resources, over stdin and stdout.

Only this module imports `mcp`, the official SDK, which comes with the extra `mcp`. What a tool refuses is an answer
with `isError` and one line, so that a model can do better; an unknown tool or resource is a protocol error.
"""

import asyncio
import os
from collections.abc import AsyncIterator
from typing import TYPE_CHECKING, cast

from .. import __version__
from ..errors import AgentMemoryError, MissingExtra
from ..secrets.mask import masked
from ..text.commands import by_tools
from ..text.visible import show_invisible
from . import refusals, tier_tools
from .frames import LARGEST, Lines, TooLong
from .tool import Door, Tool

try:
    import mcp_types as types
    from mcp import MCPError
    from mcp.server import Server, ServerRequestContext
    from mcp.server.stdio import stdio_server
    from mcp.shared.message import SessionMessage
except ModuleNotFoundError:
    raise MissingExtra("the MCP server needs the SDK: pip install 'agent-memory-protocol[mcp]'") from None

if TYPE_CHECKING:
    import anyio

_Context = ServerRequestContext[dict[str, object]]


_MARKDOWN = "text/markdown"
_STDIN = 0


def serve(door: Door) -> None:
    """Serve one client over stdin and stdout, until it closes one of them."""
    try:
        asyncio.run(_serve(door, _take_stdin()))
    except* (KeyboardInterrupt, BrokenPipeError):
        pass  # the client has gone


def build(door: Door) -> "Server[dict[str, object]]":
    """Return the server for one actor in one project. Calls are carried out one after the other, in a thread."""
    turn = asyncio.Lock()

    async def list_tools(_: _Context, __: types.PaginatedRequestParams | None) -> types.ListToolsResult:
        async with turn:
            offered = await asyncio.to_thread(tier_tools.offered, door)
        return types.ListToolsResult(tools=[_tool(tool) for tool in offered])

    async def call_tool(_: _Context, params: types.CallToolRequestParams) -> types.CallToolResult:
        tool = tier_tools.find(door, params.name)
        if tool is None:
            names = ", ".join(one.name for one in tier_tools.served(door))
            raise MCPError(types.INVALID_PARAMS, f"there is no tool {params.name[:60]!a}; there are {names}")
        async with turn:
            return await asyncio.to_thread(_call, door, tool, params.arguments)

    async def list_resources(_: _Context, __: types.PaginatedRequestParams | None) -> types.ListResourcesResult:
        async with turn:
            found = await asyncio.to_thread(_resources, door)
        return types.ListResourcesResult(resources=found)

    async def read_resource(_: _Context, params: types.ReadResourceRequestParams) -> types.ReadResourceResult:
        uri = str(params.uri)
        async with turn:
            try:
                text = await asyncio.to_thread(tier_tools.read_resource, door, uri)
            except AgentMemoryError as error:
                raise MCPError(types.INVALID_PARAMS, _one_line(error)) from error
        return types.ReadResourceResult(contents=[types.TextResourceContents(uri=uri, mime_type=_MARKDOWN, text=text)])

    return Server(
        "agent-memory",
        version=__version__,
        title="Agent memory",
        instructions=tier_tools.instructions(door),
        on_list_tools=list_tools,
        on_call_tool=call_tool,
        on_list_resources=list_resources,
        on_read_resource=read_resource,
    )


async def _serve(door: Door, wire: int) -> None:
    server = build(door)

    async def refuse(request: int | str | None, code: int, message: str) -> None:
        error = types.ErrorData(code=code, message=message)
        await write.send(SessionMessage(types.JSONRPCError(jsonrpc="2.0", id=request, error=error)))

    async def refuse_long(line: TooLong) -> None:
        await refuse(line.id, types.INVALID_REQUEST, f"a message may have {LARGEST:,} bytes; send less")

    async def messages() -> AsyncIterator[str]:
        """Yield what the SDK can read. It would drop all else, and the client would wait for an answer."""
        async for line in Lines(wire, refuse_long):
            if _is_message(line):
                yield line
            elif line.strip():
                refusal = refusals.explain(line)
                code = types.INVALID_REQUEST if refusal.is_json else types.PARSE_ERROR
                await refuse(refusal.id, code, show_invisible(refusal.message))

    # The SDK iterates over what it is given, and needs nothing else of it.
    lines = cast("anyio.AsyncFile[str]", messages())
    async with stdio_server(stdin=lines) as (read, write):
        await server.run(read, write, server.create_initialization_options())


def _is_message(line: str) -> bool:
    """Say whether a line is a message. With an id of the wrong kind it is not, and its sender waits for an answer."""
    try:
        message = types.jsonrpc_message_adapter.validate_json(line, by_name=False)
    except ValueError:
        return False
    return not (isinstance(message, types.JSONRPCNotification) and refusals.has_id(line))


def _take_stdin() -> int:
    """Return the descriptor that the client writes to. Nothing else in this process, nor a child, reads from it."""
    wire = os.dup(_STDIN)
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, _STDIN)
    os.close(nothing)
    return wire


def _tool(tool: Tool) -> types.Tool:
    return types.Tool(
        name=tool.name,
        title=tool.title,
        description=tool.description,
        input_schema=tool.input,
        output_schema=tool.output,
        annotations=types.ToolAnnotations(
            title=tool.title,
            read_only_hint=not tool.writes,
            destructive_hint=tool.takes_away,
            idempotent_hint=tool.repeatable,
            open_world_hint=False,
        ),
    )


def _call(door: Door, tool: Tool, sent: dict[str, object] | None) -> types.CallToolResult:
    try:
        answer = tool.call(door, sent)
    except AgentMemoryError as error:
        return types.CallToolResult(content=[types.TextContent(text=_one_line(error))], is_error=True)
    return types.CallToolResult(content=[types.TextContent(text=str(answer))], structured_content=answer.to_json())


def _resources(door: Door) -> list[types.Resource]:
    return [
        types.Resource(
            uri=one.uri,
            name=show_invisible(one.file.note or one.file.target.parts[-1]),
            title=one.title,
            description=one.description,
            mime_type=_MARKDOWN,
            size=one.file.size,
        )
        for one in tier_tools.resources(door)
    ]


def _one_line(error: AgentMemoryError) -> str:
    return show_invisible(masked(by_tools(" ".join(str(error).split()))))

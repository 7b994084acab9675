"""The settings by which each host starts an MCP server, and the file that they go into."""

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass

NAME = "agent-memory"
Settings = dict[str, dict[str, object]] | str


@dataclass(frozen=True, slots=True)
class HostForm:
    """How one host is told of a server.

    Attributes:
        file: where the settings go.
        write: makes them, from the program and its arguments: what is JSON, or the text of a TOML table.
    """

    file: str
    write: Callable[[str, Sequence[str]], Settings]


def plain(program: str, arguments: Sequence[str]) -> Settings:
    """Return what most hosts read."""
    return {"mcpServers": {NAME: {"command": program, "args": [*arguments]}}}


def _toml(program: str, arguments: Sequence[str]) -> Settings:
    # What JSON writes of these is TOML, too.
    return f"[mcp_servers.{NAME}]\ncommand = {json.dumps(program)}\nargs = {json.dumps([*arguments])}"


def _copilot(program: str, arguments: Sequence[str]) -> Settings:
    return {"mcpServers": {NAME: {"type": "local", "command": program, "args": [*arguments], "tools": ["*"]}}}


def _vscode(program: str, arguments: Sequence[str]) -> Settings:
    return {"servers": {NAME: {"type": "stdio", "command": program, "args": [*arguments]}}}


def _opencode(program: str, arguments: Sequence[str]) -> Settings:
    return {"mcp": {NAME: {"type": "local", "command": [program, *arguments], "enabled": True}}}


def _zed(program: str, arguments: Sequence[str]) -> Settings:
    return {"context_servers": {NAME: {"command": program, "args": [*arguments], "env": {}}}}


FORMS = {
    "claude": HostForm(".mcp.json", plain),
    "claude-desktop": HostForm("claude_desktop_config.json", plain),
    "codex": HostForm(".codex/config.toml", _toml),
    "copilot": HostForm("~/.copilot/mcp-config.json", _copilot),
    "cursor": HostForm(".cursor/mcp.json", plain),
    "gemini": HostForm(".gemini/settings.json", plain),
    "opencode": HostForm("opencode.json", _opencode),
    "qwen": HostForm(".qwen/settings.json", plain),
    "vscode": HostForm(".vscode/mcp.json", _vscode),
    "windsurf": HostForm("~/.codeium/windsurf/mcp_config.json", plain),
    "zed": HostForm(".zed/settings.json", _zed),
}
"""By the name of the host."""

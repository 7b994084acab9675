"""The settings by which each host starts an MCP server, and the file that they go into."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import field

from ..values import dataclass

NAME = "agent-memory"
Settings = dict[str, dict[str, object]] | str


@dataclass(frozen=True, slots=True)
class HostForm:
    """How one host is told of a server."""

    file: str
    table: str = "mcpServers"
    # with `ends`: what else is said of a server, before and after its command
    begins: Mapping[str, object] = field(default_factory=dict)
    ends: Mapping[str, object] = field(default_factory=dict)
    in_one: bool = False  # whether the program and its arguments are one list
    is_toml: bool = False

    def write(self, program: str, arguments: Sequence[str]) -> Settings:
        """Return the settings: what is JSON, or the text of a TOML table."""
        words = [program, *arguments]
        command = {"command": words} if self.in_one else {"command": program, "args": words[1:]}
        if self.is_toml:  # what JSON writes of these is TOML, too
            lines = [f"{key} = {json.dumps(value)}" for key, value in command.items()]
            return "\n".join([f"[{self.table}.{NAME}]", *lines])
        return {self.table: {NAME: {**self.begins, **command, **self.ends}}}


PLAIN = HostForm("")  # What most hosts read

FORMS = {
    "claude": HostForm(".mcp.json"),
    "claude-desktop": HostForm("claude_desktop_config.json"),
    "codex": HostForm(".codex/config.toml", "mcp_servers", is_toml=True),
    "copilot": HostForm("~/.copilot/mcp-config.json", begins={"type": "local"}, ends={"tools": ["*"]}),
    "cursor": HostForm(".cursor/mcp.json"),
    "gemini": HostForm(".gemini/settings.json"),
    "opencode": HostForm("opencode.json", "mcp", {"type": "local"}, {"enabled": True}, in_one=True),
    "qwen": HostForm(".qwen/settings.json"),
    "vscode": HostForm(".vscode/mcp.json", "servers", {"type": "stdio"}),
    "windsurf": HostForm("~/.codeium/windsurf/mcp_config.json"),
    "zed": HostForm(".zed/settings.json", "context_servers", ends={"env": {}}),
}
"""By the name of the host."""

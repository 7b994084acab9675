"""The settings by which each host starts an MCP server."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import field

from ..project.agents import SERVERS
from ..values import dataclass

NAME = "agent-memory"
Settings = dict[str, dict[str, object]] | str


@dataclass(frozen=True, slots=True)
class HostForm:
    """How one host is told of a server."""

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


PLAIN = HostForm()  # What most hosts read

FORMS = dict.fromkeys(SERVERS, PLAIN) | {
    "codex": HostForm("mcp_servers", is_toml=True),
    "copilot": HostForm(begins={"type": "local"}, ends={"tools": ["*"]}),
    "opencode": HostForm("mcp", {"type": "local"}, {"enabled": True}, in_one=True),
    "vscode": HostForm("servers", {"type": "stdio"}),
    "zed": HostForm("context_servers", ends={"env": {}}),
}
"""By the name of the host."""

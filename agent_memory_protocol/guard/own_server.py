"""amp's own MCP server among an agent's tools: why the calling agent may not make a call, whomever the server acts for.

A host starts one server for a whole session. So it is the agent that calls whose rights count: one that a server acts
for is its only caller, and whose memory is read is what that agent may read.
"""

from ..disk.files import Root
from ..errors import AgentMemoryError, InvalidName
from ..layout import Target, Tier, check_agent_name, name_key
from ..project.access import Actor, why_not_read

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from ..project.settings import Settings

_READING = ("memory_recall", "memory_search", "memory_show")
_WRITING = ("memory_remember", "memory_resolve", "memory_dispute", "memory_forget")
_RECORDS = ("remember", "archive", "reactivate", "consolidate")
_SERVERS = (".mcp.json", ".gemini/settings.json", ".qwen/settings.json", ".cursor/mcp.json")
"""Where hosts keep which servers a project has."""


def is_own_tool(tool: str) -> bool:
    """Say whether a tool is one of amp's own server, as any host spells its name."""
    return writes(tool) or _plain(tool).endswith(_READING)


def writes(tool: str) -> bool:
    """Say whether it is one that may change memory."""
    tool = _plain(tool)
    return tool.endswith(_WRITING) or ("agent_memory" in tool and tool.endswith(_RECORDS))


def target_of(given: "dict[str, Any]") -> Target:
    """Return the document that a call is about, as far as its arguments say: an agent's where they name one."""
    agent = given.get("agent")
    try:
        return Target(Tier.AGENT, check_agent_name(agent)) if isinstance(agent, str) and agent else Target(Tier.SHARED)
    except InvalidName:
        return Target(Tier.SHARED)


def why_not(root: Root, settings: "Settings", tool: str, given: "dict[str, Any]", name: str) -> str:
    """Say why an agent may not make this call; "" where it may, as far as the arguments and the host's settings say."""
    try:
        caller = Actor(name)
    except InvalidName as error:
        return f"{error}; so it may not use memory"
    acts_for = _agent_of(root, tool)
    if acts_for and name_key(acts_for) != name_key(caller.agent or ""):
        return (
            f"{caller} may not use this server, which acts for agent {acts_for}; the person who owns the project can "
            "leave out --agent, so that each agent uses it in its own name"
        )
    if writes(tool):
        return ""  # judged as a write
    return why_not_read(caller, target_of(given), settings.readers_of_all) or ""


def _agent_of(root: Root, tool: str) -> str:
    """Return the agent that a tool's server acts for, by the settings of hosts in the project; "" for none."""
    import json  # takes longer to load than all of the guard

    tool = _plain(tool)
    for path in _SERVERS:
        try:
            content = root.read(tuple(path.split("/")))
            servers = json.loads(content.data)["mcpServers"] if content else {}
            for server, started in servers.items():
                words = started["args"] if _plain(server) in tool else []
                if "--agent" in words[:-1]:
                    return str(words[words.index("--agent") + 1])
        except (AgentMemoryError, ValueError, KeyError, TypeError, AttributeError, RecursionError):
            continue
    return ""


def _plain(name: str) -> str:
    return "".join([letter if letter.isalnum() else "_" for letter in name])

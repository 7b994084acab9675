"""amp among what an agent uses: why it may not run one of its commands, or call a tool of its MCP server.

A command writes in the name of the agent that runs it (decision 7). A host starts one server for a whole session, so
it is the agent that calls a tool whose rights count: one that a server acts for is its only caller.
"""

from ..disk.files import Root, read_named
from ..errors import AgentMemoryError, InvalidName
from ..layout import Target, Tier, check_agent_name, name_key
from ..project.access import Actor, why_not_read
from ..project.agents import SERVER_FILES
from .programs import split
from .words import values

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from ..project.settings import Settings
    from .programs import Command

_READING = ("memory_recall", "memory_search", "memory_show")
_WRITING = ("memory_remember", "memory_resolve", "memory_dispute", "memory_forget")
_RECORDS = ("remember", "archive", "reactivate", "consolidate")


def writes(words: list[str]) -> bool:
    """Say whether a command of amp may change memory: every one that is not known to read."""
    name, about, rest, _ = split(words)
    if name == "amp" or values(rest, ["--help", "--version"]) or "-h" in rest:
        return False
    return bool(values(rest, about["!"])) or not ("reads" in about or values(rest, about["?"]))


def why_not_run(command: "Command", name: str) -> str:
    """Say why an agent may not run a command; "" if it may."""
    program, _, words, _ = split(command.words)
    if not program.startswith("amp-") or not writes(command.words):
        return ""
    try:
        own = check_agent_name(name)
    except InvalidName as error:
        return f"{error}; so nothing can be written in its name"
    options = words[: words.index("--")] if "--" in words else words
    agent = "".join(values(options, ["--as"])[-1:]) if values(options, ["--as"]) else command.agent
    try:
        if agent is not None and name_key(check_agent_name(agent)) == name_key(own):
            return ""
    except InvalidName:
        pass
    acts = "as nobody" if agent is None else f"as {agent!a}"
    return f"agent {own} runs `amp {program.split('-')[1]}` {acts}; memory is written in one's own name: add --as {own}"


def is_tool(tool: str) -> bool:
    """Say whether a tool is one of amp's own server, as any host spells its name."""
    return tool_writes(tool) or _plain(tool).endswith(_READING)


def tool_writes(tool: str) -> bool:
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


def why_not_call(root: Root, home: str, settings: "Settings", tool: str, given: "dict[str, Any]", name: str) -> str:
    """Say why an agent may not call a tool, besides what it writes; "" if it may, as far as is known."""
    try:
        caller = Actor(name)
    except InvalidName as error:
        return f"{error}; so it may not use memory"
    acts_for = _agent_of(root, home, _plain(tool))
    if acts_for and name_key(acts_for) != name_key(caller.agent or ""):
        return (
            f"{caller} may not use this server, which acts for agent {acts_for}; the person who owns the project can "
            "leave out --agent, so that each agent uses it in its own name"
        )
    return "" if tool_writes(tool) else why_not_read(caller, target_of(given), settings.readers_of_all) or ""


def _agent_of(root: Root, home: str, tool: str) -> str:
    """Return the agent that a tool's server acts for, by the settings of hosts here and at home; "" for none."""
    import json  # takes longer to load than all of the guard
    import tomllib

    for folder, path in ((folder, path) for folder in (root.path, home) if folder for path in SERVER_FILES):
        try:
            content = read_named(f"{folder}/{path}")
            text = content.data.decode("utf-8-sig") if content and b"--agent" in content.data else "{}"
            said = tomllib.loads(text) if path.endswith(".toml") and content else json.loads(text)
        except (AgentMemoryError, ValueError, RecursionError):
            continue
        for words in _started(said, root.path, tool):
            if "--agent" in words[:-1]:
                return str(words[words.index("--agent") + 1])
    return ""


def _started(said: object, root: str, tool: str) -> "Iterator[list[Any]]":
    """Yield with which words a server is started that a tool may be of; those of other projects are passed over."""
    for name, about in said.items() if isinstance(said, dict) else ():
        if isinstance(about, dict) and _plain(name) in tool:
            yield from (words for words in (about.get("args"), about.get("command")) if isinstance(words, list))
        if name == root or not name.startswith("/"):
            yield from _started(about, root, tool)


def _plain(name: str) -> str:
    return "".join([letter if letter.isalnum() else "_" for letter in name])

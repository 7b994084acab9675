"""The commands in a message, as its reader may give them: an agent in its own name, a model by the tools it has.

Messages are written for a person at the command line. What an agent runs without its name is refused by the guard, and
a client of the MCP server has no command line at all.
"""

import re
from shlex import quote

_COMMAND = re.compile(r"`amp ([a-z-]+)([^`]*)`")
_COMMAND_OR_OPTION = re.compile(_COMMAND.pattern + r"|(?<![\w`-])--(agent|make-room|section|under|tier|until|date)\b")
_WITHOUT_NAME = frozenset(["conformance", "find-stores", "hook", "mcp", "schema", "watch"])
"""Verbs that do not ask who calls."""
_BY_ID = frozenset(["dispute", "edit", "forget", "resolve"])
"""Verbs that find an entry of a conversation only if that conversation is named."""
_TOOLS = {
    **dict.fromkeys(("list", "show"), "memory_show"),
    **{verb: f"memory_{verb}" for verb in ("search", "recall", "remember", "forget", "resolve", "dispute")},
}
_RECORD_TOOLS = {
    "list": "memory_search",
    **{verb: f"memory_{verb}" for verb in ("resolve", "dispute")},
    **{verb: verb for verb in ("remember", "archive", "reactivate")},
}
_OF_NO_USE = {
    ", and with --conversation those of a conversation": "",
    "say which agent it is": "this server was started without an agent's name",
}
"""What a message says to someone at the command line, and what it says to a client of the server instead."""


def in_own_name(message: str, agent: str, conversation: str = "") -> str:
    """Return a message to an agent: its commands name it with `--as`, and the conversation that it has named."""

    def named(found: re.Match[str]) -> str:
        verb, rest = found.groups()
        if conversation and verb in _BY_ID and "--conversation" not in rest:
            rest = f"{rest} --conversation {quote(conversation)}"
        return f"`amp {verb}{rest}`" if verb in _WITHOUT_NAME or "--as" in rest else f"`amp {verb}{rest} --as {agent}`"

    return _COMMAND.sub(named, message)


def by_tools(message: str) -> str:
    """Return a message to a client of the MCP server: commands are the server's tools, or a person's."""

    def tool(found: re.Match[str]) -> str:
        verb, rest, option = found.groups()
        if option:
            return f"`{option.replace('-', '_')}`"
        if verb == "record" and (of_record := rest.split()[0]) in _RECORD_TOOLS:
            return f"`{_RECORD_TOOLS[of_record]}`"
        if verb in _TOOLS and "--redact" not in rest:
            return f"`{_TOOLS[verb]}`"
        return f"`amp {verb}{rest}` (a person runs that)"

    for said, told in _OF_NO_USE.items():
        message = message.replace(said, told)
    return _COMMAND_OR_OPTION.sub(tool, message)

"""What a host says to a hook, as one event in the same words for all.

Hosts spell the same fields in their own ways (`docs/hosts.md` names the sources). Only one thing is certain about a
message: it is an object. So every field is read as if it could hold anything.
"""

import os

from .table import HOSTS, Host

_SCAFFOLDING = ".scaffolding"

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from .table import Answer


class Event:
    """One event of a host."""

    __slots__ = (
        "agent",
        "cwd",
        "event",
        "host",
        "last_message",
        "mark",
        "prompt",
        "session",
        "source",
        "stop_active",
        "tool",
        "tool_input",
        "transcript",
    )

    def __init__(self, host: Host, event: str, message: "dict[str, Any]") -> None:
        self.host = host
        self.event = event
        said = {name.replace("_", "").lower(): value for name, value in message.items()}
        # the acting agent, as the host spells it; None for the session itself
        self.agent = _text(said, "agenttype", "subagenttype", "agentname") or None
        if self.agent is None and host.names_agent_in_id:
            self.agent = _text(said, "agentid").rpartition("-")[0] or None
        self.session = _text(said, "sessionid", "conversationid")  # the host's id of the session; "" if it gives none
        # the folder the agent works in; "" if the host does not say
        self.cwd = _text(said, "cwd") or _with_memory(said.get("workspaceroots"))
        self.source = _text(said, "source", "trigger")  # what started a session: startup, resume, clear, compact, fork
        self.prompt = _asked(_text(said, "prompt"))  # what a person, or the agent that started this one, asks for
        # with `tool_input`: the tool that is about to be used, and with what
        self.tool = _text(said, "toolname") or ("shell" if "command" in said else "")  # Cursor's beforeShellExecution
        self.tool_input = _input(said.get("toolinput", said.get("toolargs", said if "command" in said else None)))
        # what the agent said last
        self.last_message = _text(said, "lastassistantmessage", "promptresponse", "response", "summary")
        self.transcript = _text(said, "agenttranscriptpath", "transcriptpath")  # the file of the conversation
        # what the file holds once the host has written this event into it, for Copilot, which writes behind; else b""
        self.mark = b'"timestamp":%d' % moment if type(moment := said.get("timestamp")) is int else b""
        # whether the agent goes on only because a hook has asked for it
        self.stop_active = said.get("stophookactive") is True or said.get("loopcount") not in (None, 0)

    @property
    def whose(self) -> str:
        """The session and its agent, as one name for marks."""
        return digest_of(self.host.name, self.session, self.agent)


def digest_of(*names: str | None) -> str:
    """Return one name for several."""
    from ..text.digest import blake2b

    return blake2b("\n".join(name or "" for name in names).encode("utf-8", "surrogatepass"), digest_size=12).hexdigest()


def read(event: str, host: str, data: bytes) -> Event:
    """Read what a host says at an event; ValueError if it is not a JSON object, or the host has no such event."""
    from .quick_json import read as read_json

    known = HOSTS.get(host)
    if known is None:
        raise ValueError(f"--host {host!a} is unknown; the hosts are {', '.join(HOSTS)}")
    if event not in known.events:
        raise ValueError(f"{host} has no event {event}; it has {', '.join(known.events)}")
    if not data.strip():
        raise ValueError("nothing came on stdin; a host sends a JSON object there")
    try:
        message = read_json(data)
    except (ValueError, RecursionError) as error:
        raise ValueError(f"what came on stdin is not JSON: {error}") from error
    if not isinstance(message, dict):
        raise ValueError("what came on stdin is JSON, but not an object")  # noqa: TRY004  (the text is wrong, not the call)
    return Event(known, event, message)


def advice(call: Event, text: str) -> "Answer":
    """Tell a stopping agent something, or the person if the host cannot tell the agent. It holds nothing up."""
    return call.host.context(call.event, text) if call.host.hears_as_it_stops else {"systemMessage": text}


def _input(given: object) -> "dict[str, Any]":
    """Return what a tool is given: some hosts send it as JSON in a text, or as a patch or a command alone."""
    if isinstance(given, str):
        from .quick_json import read as read_json

        try:
            read = read_json(given.encode("utf-8", "surrogatepass")) if given.startswith("{") else given
        except (ValueError, RecursionError):
            read = given
        given = read if isinstance(read, dict) else {"input": given}
    return given if isinstance(given, dict) else {}


def _with_memory(roots: object) -> str:
    """Return the first folder of a window that has memory, or else its first one; "" for none."""
    folders = [one for one in roots if isinstance(one, str) and "\0" not in one] if isinstance(roots, list) else []
    having = [one for one in folders if os.path.isdir(os.path.join(one, _SCAFFOLDING))]
    return next(iter([*having, *folders]), "")


def _asked(prompt: str) -> str:
    """Return what is asked for, without what hooks have given the session, which Gemini CLI puts in front."""
    return prompt.rpartition("</hook_context>")[2].lstrip() if prompt.startswith("<hook_context>") else prompt


def _text(message: "dict[str, Any]", *keys: str) -> str:
    """Return the first of these fields that is a text with something in it."""
    return next((value for key in keys if isinstance(value := message.get(key), str) and value), "")

"""What a host says to a hook, and the answers that it expects to hear, as JSON.

Claude Code and Codex share one shape, Gemini CLI has its own; `docs/hosts.md` names the sources. Only one thing is
certain about a host's message: it is an object. So every field is read as if it could hold anything.
"""

from .table import HOSTS, Host

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    Answer = dict[str, Any]


class Event:
    """One event of a host.

    Attributes:
        host, event: which.
        agent: who acts, as the host spells it; None for the session itself.
        session: the host's id of the session; "" if it gives none.
        cwd: the folder the agent works in; "" if the host does not say.
        source: what started a session: startup, resume, clear, compact, fork.
        prompt: what a person, or the agent that started this one, asks for.
        tool, tool_input: the tool that is about to be used, and with what.
        last_message: what the agent said last.
        transcript: the file of the conversation.
        stop_active: whether the agent goes on only because a hook has asked for it.
    """

    __slots__ = (
        "agent",
        "cwd",
        "event",
        "host",
        "last_message",
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
        self.agent = _text(message, "agent_type") or None
        self.session = _text(message, "session_id")
        self.cwd = _text(message, "cwd")
        self.source = _text(message, "source") or _text(message, "trigger")
        self.prompt = _text(message, "prompt")
        self.tool = _text(message, "tool_name")
        given = message.get("tool_input")
        self.tool_input: dict[str, Any] = given if isinstance(given, dict) else {}
        self.last_message = _text(message, "last_assistant_message") or _text(message, "prompt_response")
        self.transcript = _text(message, "agent_transcript_path") or _text(message, "transcript_path")
        self.stop_active = message.get("stop_hook_active") is True

    @property
    def whose(self) -> str:
        """The session and its agent, as one name for marks."""
        return digest_of(self.host.name, self.session, self.agent)


def digest_of(*names: str | None) -> str:
    """Return one name for several."""
    from ..text.digest import blake2b

    return blake2b("\n".join(name or "" for name in names).encode("utf-8", "surrogatepass"), digest_size=12).hexdigest()


def read(event: str, host: str, data: bytes) -> Event:
    """Read what a host says at an event.

    Raises:
        ValueError: it is not a JSON object, or the host has no such event.
    """
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


def context(call: Event, text: str) -> "Answer":
    """Give the agent a text to know."""
    return _inside(call, {"additionalContext": text})


def denial(call: Event, reason: str) -> "Answer":
    """Deny a tool call; the agent is told the reason."""
    if call.host.plain_answers:
        return {"decision": "deny", "reason": reason}
    return _inside(call, {"permissionDecision": "deny", "permissionDecisionReason": reason})


def block(call: Event, reason: str) -> "Answer":
    """Have the agent go on instead of stopping, for this reason."""
    return {"decision": "deny" if call.host.plain_answers else "block", "reason": reason}


def advice(call: Event, text: str) -> "Answer":
    """Tell a stopping agent something, or the person if the host cannot tell the agent. It holds nothing up."""
    return context(call, text) if call.host.hears_as_it_stops else {"systemMessage": text}


def _inside(call: Event, said: "Answer") -> "Answer":
    return {"hookSpecificOutput": {"hookEventName": call.host.events[call.event][0], **said}}


def _text(message: "dict[str, Any]", key: str) -> str:
    value = message.get(key)
    return value if isinstance(value, str) else ""

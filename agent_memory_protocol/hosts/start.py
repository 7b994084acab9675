"""What an agent is given as its session starts: its memory, inside the host's limit, and the project's checklist.

On startup and after a clear or a compaction that is the block; a session that is resumed has it already, unless its
host forgets it, so it hears in a few lines what there is now. Its first prompt says what it is about: what the start
left out of that is given then. What is said are statements of fact.
"""

from ..disk.files import Root
from ..errors import AgentMemoryError, InvalidName
from ..layout import check_agent_name, check_conversation_id
from ..limits import estimate_tokens
from ..project.access import Actor
from ..project.root import find_root
from ..project.settings import fixed_conversation, is_disabled, load_settings
from ..recall.agent import recall, unreadable
from ..recall.block import Budget
from ..text.visible import escape_line

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from ..project.settings import Settings
    from ..recall.block import Recall
    from .envelopes import Event

_HAS_IT_ALREADY = ("resume", "fork")
_PROMPTED = "prompted"


def start(call: "Event", environ: "Mapping[str, str]", say: "Callable[[object], None]") -> str:
    """Return what a session or subagent is to know as it starts; "" for nothing. `say` tells a person of problems."""
    if is_disabled(environ):
        return ""
    try:
        found = find_root(call.cwd or None, environ=environ)
        if found.missing:
            return ""
        with Root.open(found.path) as root:
            settings = load_settings(root, environ)
            root.external_links = settings.external_links
            actor = actor_of(call, settings, environ, say)
            state = checklist(root, settings) if settings.enabled else ""
            recalled = recall(root, settings, actor, _budget(call, settings, state))
            if settings.count:
                from ..recall.use import count_recalled

                count_recalled(root, recalled)
            if call.source in ("clear", "compact"):
                from ..disk import once

                once.lift(root, _PROMPTED, call.whose)
    except (AgentMemoryError, OSError) as error:
        say(error)
        return unreadable(error, _budget(call, None, "")).text
    for warning in recalled.warnings:
        say(warning)
    if found.problem and settings.enabled:
        say(found.problem)
    has_it = call.source in _HAS_IT_ALREADY and call.source not in call.host.forgets
    if has_it and call.event == "session-start":
        return "\n".join(filter(None, [short(recalled, actor), state]))
    return "\n".join(filter(None, [recalled.text, state]))


def prompt(call: "Event", environ: "Mapping[str, str]", say: "Callable[[object], None]") -> str:
    """Return what the start left out and a prompt is about, once in a session; "" for nothing."""
    if is_disabled(environ) or not call.prompt.strip():
        return ""
    found = find_root(call.cwd or None, environ=environ)
    if found.missing:
        return ""
    with Root.open(found.path) as root:
        settings = load_settings(root, environ)
        root.external_links = settings.external_links
        from ..disk import once
        from ..recall.rest import rest

        if not settings.enabled or not settings.hook_prompt_chars or once.has(root, _PROMPTED, call.whose):
            return ""

        budget = _budget(call, settings, checklist(root, settings))
        actor = actor_of(call, settings, environ, say)
        text = rest(root, settings, actor, budget, call.prompt, settings.hook_prompt_chars)
        return text if text and (not call.session or once.leave(root, _PROMPTED, call.whose)) else ""


def actor_of(
    call: "Event", settings: "Settings", environ: "Mapping[str, str]", say: "Callable[[object], None]"
) -> Actor:
    """Return for whom the host speaks, in which conversation (decision 3). A name that breaks the rule is left out."""

    def checked(check: "Callable[[str], str]", name: str | None) -> str | None:
        try:
            return check(name) if name else None
        except InvalidName as error:
            say(error)
            return None

    conversation = fixed_conversation(settings, environ) or call.session
    return Actor(
        checked(check_agent_name, call.agent or environ.get("AMP_AGENT")),
        checked(lambda name: check_conversation_id(name, strict=settings.strict_conversation_ids), conversation),
    )


def checklist(root: Root, settings: "Settings") -> str:
    """Return the order in which a session finds out how things are: memory, state, then deciding.

    "" if the project names no state files. They are named, not read: what is true now is read when it is needed.
    """
    if not settings.hook_state_files:
        return ""
    named = ", ".join(
        f"{escape_line(path)}{'' if root.exists(tuple(path.split('/'))) else ' (not there)'}"
        for path in settings.hook_state_files
    )
    return (
        "<session-checklist>\n"
        "1. Memory, above, says how things are done here. It does not say what is true right now.\n"
        f"2. State says what is true right now: {named}\n"
        "3. Deciding comes after both.\n"
        "</session-checklist>"
    )


def short(recalled: "Recall", actor: Actor) -> str:
    """Say what memory there is, for an agent that was given it before; "" without one."""
    parts = [part for part in recalled.parts if not part.problem]
    listed = [f"- {part.target}: {part.target.path}, {part.lines_in_file} lines" for part in parts]
    if recalled.records is not None:
        listed.append(f"- records: {recalled.records.path}, {recalled.records.number}")
    if not listed:
        return ""
    command = ["amp recall", *([actor.agent] if actor.agent else [])]
    command += ["--conversation", actor.conversation] if actor.conversation else []
    command += ["--as", actor.agent] if actor.agent else []
    return (
        "This session was given this repository's agent memory when it began. Memory has now:\n"
        f"{chr(10).join(listed)}\n"
        f"`{' '.join(command)}` prints it as it is now."
    )


def _budget(call: "Event", settings: "Settings | None", beside: str) -> Budget:
    """Return the host's limit for one text, or the setting's, less what else the text holds."""
    chars = call.host.max_chars
    if settings is not None and settings.max_chars is not None:
        chars = settings.max_chars
    elif call.host.max_tokens is not None:
        return Budget(max_tokens=max(call.host.max_tokens - estimate_tokens(len(beside.encode())) - 1, 0))
    return Budget(max_chars=max((chars or 0) - len(beside) - 1, 0) if beside else chars)

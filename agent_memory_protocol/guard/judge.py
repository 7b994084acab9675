"""The guard: why a tool call of an agent is denied, or that it is not.

An agent has the tools of its host, and with them it could write where `amp` would refuse it. So the files a call
changes are held to the same policy as every door, to the limit and to the secrets; and a writing `amp` command is run
by an agent in its own name. Whatever does not concern memory passes without a word.
"""

import os

from ..disk.files import Root
from ..errors import AgentMemoryError, InvalidName, SecretFound, StorageError
from ..layout import OWNED_TIERS, SCAFFOLDING, Target, Tier, check_owner
from ..limits import count_lines
from ..project import agents
from ..project.access import Actor, joined, why_not_write
from ..project.root import find_root
from ..project.settings import fixed_conversation, is_disabled, load_settings
from . import amp_commands, own_server, touches
from .shell import read_commands

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from typing import Any, Protocol

    from ..project.settings import Settings
    from .touches import Touched

    class Call(Protocol):
        """A tool call as a host reports it: who makes it, where, with which tool and what input."""

        agent: str | None
        cwd: str
        tool: str
        tool_input: dict[str, Any]


_MOST_READ = 1 << 22
_MEMORY = "agent-memory"
_EVERYTHING = "all of memory"
_SHARED = frozenset([_MEMORY, "amp.toml", ".amp", "templates", "installed.json", ".gitattributes"])
_OF_HOSTS = (
    *(".mcp.json", ".claude/agents", ".claude/plugins", ".claude/settings", ".codex/hooks.json", ".codex/config.toml"),
    *(".gemini/settings.json", ".gemini/agents", ".qwen/settings.json", ".qwen/agents"),
    *(".github/hooks/", ".github/agents/", ".cursor/hooks.json", ".cursor/agents"),
    *(".opencode/agent", ".opencode/plugin", "opencode/agent", "opencode/plugin"),
)
"""Where hosts keep who their agents are, and what they run: to change it is to change who may write memory."""
_FOLDERS_OF_HOSTS = frozenset(path.split("/")[0] for path in _OF_HOSTS)


def reason_to_deny(call: "Call", environ: "Mapping[str, str]") -> str:
    """Return why a tool call is denied and what to do instead; "" where it may go on."""
    return "" if is_disabled(environ) else next(filter(None, _reasons(call, environ)), "")


def _reasons(call: "Call", environ: "Mapping[str, str]") -> "Iterator[str]":
    """Yield what each part of a call is denied for; "" where it may go on."""
    name = call.agent or environ.get("AMP_AGENT") or None
    cwd = call.cwd or os.getcwd()
    text = touches.command_of(call.tool, call.tool_input)
    if text:
        cwd = touches.folder_of(call.tool_input, cwd)
        text = text.replace("\\", "/") if "powershell" in call.tool.lower() else text
        commands = read_commands(text, environ, cwd)
        for command in commands if name is not None else []:
            yield amp_commands.why_not(command, name or "")
        found = [touch for command in commands for touch in touches.of_command(command)]
        if not touches.is_shell(call.tool) or "]::" in text:  # code, or `[IO.File]::WriteAllText(…)`
            found += touches.of_code(text.replace("]::W", "]::w"), cwd)
        for touch in found:
            touch.text = touch.text or text
    else:
        found = touches.of_tool(call.tool, call.tool_input, cwd)
        if own_server.is_own_tool(call.tool):
            root = _root_here(cwd, environ)
            yield _why_not_own(call, root, name, environ)
            path = own_server.target_of(call.tool_input).path
            found = [touches.Touched(os.path.join(root, path), "other")] if own_server.writes(call.tool) else []
    looked_at: set[tuple[str, str]] = set()
    for touch in found:
        if name is not None and _guards_agents(touch.path, cwd, environ):
            yield (
                f"{touch.path}: agent {name} may not change which agents there are or what their host runs; a person "
                "may"
            )
        for root, below in _places(touch.path, cwd, environ):
            yield _why_not(touch, root, below, name, environ, looked_at)


def _why_not_own(call: "Call", root: str, name: str | None, environ: "Mapping[str, str]") -> str:
    """Say why a tool of amp's own server is denied; "" where it is not, or writes what is judged as a write."""
    if name is None:
        return ""
    with Root.open(root) as opened:
        settings = load_settings(opened, environ)
        return own_server.why_not(opened, settings, call.tool, call.tool_input, name) if settings.enabled else ""


def _guards_agents(path: str, cwd: str, environ: "Mapping[str, str]") -> bool:
    """Say whether a path leads to agent definitions or to the settings of a host, in a project with memory."""
    parts = os.path.normpath(os.path.join(cwd, os.path.expanduser(path))).replace("\\", "/").lower().split("/")
    tails = ["/".join(parts[index:]) for index, part in enumerate(parts) if part in _FOLDERS_OF_HOSTS]
    return any(
        tail.startswith(_OF_HOSTS) or any(one.startswith(f"{tail}/") for one in _OF_HOSTS) for tail in tails
    ) and os.path.isdir(os.path.join(_root_here(cwd, environ), SCAFFOLDING))


def place_of(below: "tuple[str, ...]") -> "Target | str | None":
    """Return whose memory a path below `.scaffolding` belongs to: a document, all of memory, or None for no memory.

    What lies beside a document (notes, the ledger) is its owner's; the settings and what no agent owns are shared.
    """
    for tier in OWNED_TIERS:
        folder = tier.folder[1:]
        if below[: len(folder)] != folder:
            continue
        owner, *inside = below[len(folder) :] or ("",)
        if inside and tier.below not in ((), tuple(inside[:1])):
            return None
        try:
            return Target(tier, check_owner(tier, owner))
        except InvalidName:
            # No name, a pattern, or a variable that nobody knows: it may be anyone's.
            return _EVERYTHING
    if not below or below == (_MEMORY,) or _is_pattern(below[0]):
        return _EVERYTHING
    return Target(Tier.SHARED) if below[0] in _SHARED else None


def _places(path: str, cwd: str, environ: "Mapping[str, str]") -> "set[tuple[str, tuple[str, ...]]]":
    """Return the memory that a path leads into, by its text and by links on its way: a root, and what is below it."""
    found = set()
    named = path if path.startswith(("$", "`", "~")) else os.path.join(cwd, path)
    for one in (os.path.normpath(os.path.expanduser(named)), _real(named)):
        parts = one.replace("\\", "/").split("/")
        index = next((index for index, part in enumerate(parts) if _is_scaffolding(part)), None)
        if index is not None:
            root = "/".join(parts[:index])
            if "$" in root or "`" in root or not os.path.isabs(root or "/"):
                root = _root_here(cwd, environ)
            found.add((root or "/", tuple(parts[index + 1 :])))
    return found


def _is_pattern(part: str) -> bool:
    return any(mark in part for mark in "*?[$`")


def _is_scaffolding(part: str) -> bool:
    """Say whether a part of a path is that folder, or a pattern that a shell makes it of."""
    if part[:1] != "." or not _is_pattern(part):
        return part.lower() == SCAFFOLDING
    from fnmatch import fnmatchcase

    return fnmatchcase(SCAFFOLDING, part)


def _real(path: str) -> str:
    try:
        return os.path.realpath(path)
    except (OSError, ValueError):
        return path


def _root_here(cwd: str, environ: "Mapping[str, str]") -> str:
    try:
        return find_root(cwd, environ=environ).path
    except StorageError:
        return cwd


def _why_not(
    touch: "Touched",
    root: str,
    below: "tuple[str, ...]",
    name: str | None,
    environ: "Mapping[str, str]",
    looked_at: "set[tuple[str, str]]",
) -> str:
    """Say why a change of what is below `.scaffolding` is denied.

    `looked_at` are the places that may be changed, and the texts without a secret: one command may name a thousand
    files.
    """
    place = place_of(below)
    if place is None or (below == ("**",) and not os.path.isdir(os.path.join(root, SCAFFOLDING))):
        return ""  # no memory, or only what a search might have found
    if touch.how == "other" and {(root, str(place)), ("", touch.text)} <= looked_at:
        return ""
    path, inside = "/".join((SCAFFOLDING, *below)), root
    while not os.path.isdir(root):  # a project that is not there yet
        root = os.path.dirname(root)
    with Root.open(root) as opened:
        settings = load_settings(opened, environ)
        opened.external_links = settings.external_links
        if not settings.enabled:
            return ""
        reason = "" if name is None else _why_forbidden(place, opened, settings, name, environ)
        if reason:
            return f"{path}: {reason}"
        looked_at.add((inside, str(place)))
        if ("", touch.text) not in looked_at:
            looked_at.add(("", touch.text))
            from ..secrets.find import check_text

            try:
                check_text(touch.text, allow=settings.secrets_allow, what=f"text for {path}")
            except SecretFound as error:
                return str(error)
        if touch.how == "other" or not isinstance(place, Target) or not path.endswith(".md"):
            return ""
        return _why_too_large(touch, place, path, opened, settings)


def _why_forbidden(
    place: "Target | str", root: Root, settings: "Settings", name: str, environ: "Mapping[str, str]"
) -> str:
    try:
        actor = Actor(name, fixed_conversation(settings, environ))
    except InvalidName as error:
        return f"{error}; so it may not write memory"
    read_only = agents.read_only_reason(root, actor.agent or "", settings, environ=environ)
    if isinstance(place, Target):
        return why_not_write(joined(actor, place), place, read_only_reason=read_only) or ""
    own = f"agent:{actor.agent}"
    return why_not_write(actor, Target(Tier.SHARED), read_only_reason=read_only) or (
        f"{actor} may not change {place} at once: others' memory is in it, or may be; name the files of shared or {own}"
    )


def _why_too_large(touch: "Touched", place: Target, path: str, root: Root, settings: "Settings") -> str:
    """Say which limit a file would pass; "" where it would not, or becomes smaller."""
    try:
        content = root.read(tuple(path.split("/")), limit=_MOST_READ)
    except AgentMemoryError:
        return ""
    old = b"" if content is None else content.data
    new = b"" if touch.how == "write" else old
    for before, after, everywhere in touch.edits:
        new = new.replace(_bytes(before), _bytes(after), -1 if everywhere else 1) if before else _bytes(after) + new
        if len(new) > _MOST_READ:
            break  # edits can double it again and again
    new += b"" if touch.edits else _bytes(touch.text)
    gone = _bytes(touch.gone)
    for count, limit, unit in ((count_lines, settings.max_lines, "lines"), (len, settings.max_bytes, "bytes")):
        have = count(new) - count(gone)
        if have > limit and have > count(old):
            return (
                f"{path} would have {have:,} {unit}, {limit:,} are allowed: merge entries that say the same, look at "
                f"`amp prune {place}`, or add with `amp remember --make-room`, which archives the oldest dated ones"
            )
    return ""


def _bytes(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")

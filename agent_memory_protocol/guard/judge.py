"""The guard: why a tool call of an agent is denied, or that it is not.

An agent has the tools of its host, and with them it could write where `amp` would refuse it. So the files a call
changes are held to the same policy as every door: limit, secrets, hidden text. A writing `amp` command is run by an
agent in its own name. Whatever does not concern memory passes without a word.
"""

import os

from ..disk.files import Root
from ..errors import AgentMemoryError, InvalidName, SecretFound, StorageError
from ..layout import OWNED_TIERS, SCAFFOLDING, Target, Tier, check_owner
from ..limits import count_lines
from ..project import agents
from ..project.access import Actor, joined, why_not_write
from ..project.root import find_root
from ..project.settings import fixed_conversation, home_folder, is_disabled, load_settings
from . import touches

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from ..project.settings import Settings
    from .touches import Call, Touched

_MOST_READ = 1 << 22
_MEMORY = "agent-memory"
_EVERYTHING = "all of memory"
_SHARED = frozenset([_MEMORY, "amp.toml", ".amp", "templates", "installed.json", ".gitattributes"])
_OF_HOSTS = tuple(f"/{path}" for path in agents.PLACES)
_ABOVE = {path[: place + 1] for path in _OF_HOSTS for place in range(1, len(path)) if path[place] == "/"}
_FOLDERS_OF_HOSTS = tuple(_ABOVE - {f"/{SCAFFOLDING}/", "/.config/"})


def reason_to_deny(call: "Call", environ: "Mapping[str, str]") -> str:
    """Return why a tool call is denied and what to do instead; "" if it may go on."""
    return "" if is_disabled(environ) else next(filter(None, _Judge(call, environ).reasons()), "")


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


class _Judge:
    """Judges one call; `passed` are the places and texts that may change, as a command may name a thousand."""

    def __init__(self, call: "Call", environ: "Mapping[str, str]") -> None:
        self.call = call
        self.environ = environ
        self.name = call.agent or environ.get("AMP_AGENT") or None
        self.cwd = call.cwd or os.getcwd()
        self.passed: set[tuple[str, str, str]] = set()

    def reasons(self) -> "Iterator[str]":
        """Yield what each part of the call is denied for; "" if it may go on."""
        commands, found = touches.of_call(self.call, self.cwd, self.environ)
        if commands or "memory" in self.call.tool:
            from . import own

            for command in commands if self.name else ():
                yield own.why_not_run(command, self.name or "")
            if own.is_tool(self.call.tool):
                yield self._why_not_call()
                path = os.path.join(self._root(), own.target_of(self.call.tool_input).path)
                found = [touches.Touched(path, "other")] if own.tool_writes(self.call.tool) else []
        for touch in found:
            yield self._why_not_host(touch.path)
            for root, below in self._places(touch.path):
                reason = self._why_not(touch, root, below)
                yield reason and reason + touch.instead

    def _root(self) -> str:
        try:
            return find_root(self.cwd, environ=self.environ).path
        except StorageError:
            return self.cwd

    def _why_not_call(self) -> str:
        from . import own

        if self.name is None:
            return ""
        with Root.open(self._root()) as root:
            settings = load_settings(root, self.environ)
            given = self.call.tool_input
            home = home_folder(self.environ)
            return own.why_not_call(root, home, settings, self.call.tool, given, self.name) if settings.enabled else ""

    def _why_not_host(self, path: str) -> str:
        """Say why an agent may not change a file that says who agents are, in a project with memory."""
        if self.name is None:
            return ""
        whole = os.path.normpath(os.path.join(self.cwd, os.path.expanduser(path))).replace("\\", "/").lower()
        whole = whole.rstrip("*/") + "/"
        for folder, variable in agents.MOVED.items():
            if moved := folder != ".gemini" and self.environ.get(variable):
                moved = os.path.normpath(moved).replace("\\", "/").lower()
                whole = whole.replace(f"{moved}/", f"/{folder}/")
        concerned = whole.endswith(_FOLDERS_OF_HOSTS) or any(one in whole for one in _OF_HOSTS)
        if not concerned or not os.path.isdir(os.path.join(self._root(), SCAFFOLDING)):
            return ""
        return f"{path}: agent {self.name} may not change which agents there are or what their host runs; a person may"

    def _places(self, path: str) -> "set[tuple[str, tuple[str, ...]]]":
        """Return the memory a path leads into, by its text and by links on its way: a root, and what is below it."""
        found = set()
        named = path if path.startswith(("$", "`", "~")) else os.path.join(self.cwd, path)
        for one in (os.path.normpath(os.path.expanduser(named)), _real(named)):
            parts = one.replace("\\", "/").split("/")
            index = next((index for index, part in enumerate(parts) if _is_scaffolding(part)), None)
            if index is not None:
                root = "/".join(parts[:index]) or "/"
                is_known = os.path.isabs(root) and not _is_pattern(root)
                found.add((root if is_known else self._root(), tuple(parts[index + 1 :])))
        return found

    def _why_not(self, touch: "Touched", root: str, below: "tuple[str, ...]") -> str:
        """Say why a change of what is below `.scaffolding` is denied."""
        place = place_of(below)
        if place is None or (below == ("**",) and not os.path.isdir(os.path.join(root, SCAFFOLDING))):
            return ""  # no memory, or only what a search might have found
        key = (root, str(place), touch.text)
        if touch.how == "other" and key in self.passed:
            return ""
        path = "/".join((SCAFFOLDING, *below))
        while not os.path.isdir(root):  # a project that is not there yet
            root = os.path.dirname(root)
        with Root.open(root) as opened:
            settings = load_settings(opened, self.environ)
            opened.external_links = settings.external_links
            if not settings.enabled:
                return ""
            reason = self._why_forbidden(place, opened, settings)
            if reason:
                return f"{path}: {reason}"
            from ..secrets.glance import may_hold_secret
            from ..secrets.mask import holds_mask

            is_suspect = not _is_plain(touch.text) or holds_mask(touch.text) or may_hold_secret(touch.text)
            reason = _why_unfit(touch.text, path, settings) if is_suspect else ""
            if reason:
                return reason
            self.passed.add(key)
            if touch.how == "other" or not isinstance(place, Target) or not path.endswith(".md"):
                return ""
            by = f" --as {Actor(self.name).agent}" if self.name else ""
            return _why_too_large(touch, place, path, opened, settings, by)

    def _why_forbidden(self, place: "Target | str", root: Root, settings: "Settings") -> str:
        if self.name is None:
            return ""
        try:
            actor = Actor(self.name, fixed_conversation(settings, self.environ))
        except InvalidName as error:
            return f"{error}; so it may not write memory"
        read_only = agents.read_only_reason(root, actor.agent or "", settings, environ=self.environ)
        if isinstance(place, Target):
            return why_not_write(joined(actor, place), place, read_only_reason=read_only) or ""
        return why_not_write(actor, Target(Tier.SHARED), read_only_reason=read_only) or (
            f"{actor} may not change {place} at once: others' memory is in it, or may be; name the files of shared or "
            f"agent:{actor.agent}"
        )


def _is_plain(text: str) -> bool:
    """Say whether a text is in ASCII and all of it is seen: to look for what is hidden loads tables."""
    return text.isascii() and text.translate({9: None, 10: None, 13: None}).isprintable()


def _why_unfit(text: str, path: str, settings: "Settings") -> str:
    """Say which secret or hidden character a text holds, or that it would take the place of a secret."""
    from ..secrets.find import check_text
    from ..secrets.mask import COPIED, holds_mask
    from ..text.visible import name_invisible

    if holds_mask(text):
        return f"the text for {path} {COPIED}"
    try:
        check_text(text, allow=settings.secrets_allow, what=f"text for {path}")
    except SecretFound as error:
        return str(error)
    hidden = name_invisible(text.replace("\r\n", "\n"))
    return f"the text for {path} holds {hidden}; take it out" if hidden else ""


def _why_too_large(touch: "Touched", place: Target, path: str, root: Root, settings: "Settings", by: str) -> str:
    """Say which limit a file would pass; "" if it would not, or becomes smaller. `by` is in every command told."""
    try:
        content = root.read(tuple(path.split("/")), limit=_MOST_READ)
    except AgentMemoryError:
        return ""
    old = content.data if content else b""
    new = touch.applied_to(old, _MOST_READ)
    for count, limit, unit in ((count_lines, settings.max_lines, "lines"), (len, settings.max_bytes, "bytes")):
        have = count(new)
        if have > limit and have > count(old):
            return (
                f"{path} would have {have:,} {unit}, {limit:,} are allowed: merge entries that say the same, look at "
                f"`amp prune {place}{by}`, or add with `amp remember TEXT --make-room{by}`, which archives the oldest "
                "dated ones"
            )
    return ""


def _is_pattern(part: str) -> bool:
    return any(mark in part for mark in "*?[{$`")


def _is_scaffolding(part: str) -> bool:
    """Say whether a part of a path is that folder, or a pattern that a shell makes it of."""
    if part[:1] != "." or not _is_pattern(part):
        return part.lower() == SCAFFOLDING
    import re
    from fnmatch import fnmatchcase

    # What is not known in the middle of a name may be anything, where the name begins as that folder's.
    unknown = re.sub(r"\$\{[^}]*\}?|\$\([^)]*\)?|\$\w+|`[^`]*`?", "*", part)
    return fnmatchcase(SCAFFOLDING, unknown if unknown.startswith(".s") else part)


def _real(path: str) -> str:
    try:
        return os.path.realpath(path)
    except (OSError, ValueError):
        return path

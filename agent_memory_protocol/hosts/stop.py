"""What happens as an agent stops: the findings in its last message are harvested, and it is reminded once to save.

Nobody has judged these findings, so they go to the conversation's memory alone, where its agents read them. The
session's own agent writes them. A reminder leaves a mark, so that it comes once in a conversation.
"""

import os
import time
from contextlib import suppress
from datetime import datetime

from ..change.session import Session
from ..disk import once
from ..disk.files import Root
from ..errors import AgentMemoryError
from ..layout import SCAFFOLDING, name_key
from ..project.access import Actor
from ..project.root import find_root
from ..project.settings import is_disabled, load_settings
from ..text.phrases import counted
from ..tiers import store
from ..workspace import Workspace
from . import envelopes
from .findings import INFO
from .harvest import harvest
from .reminder import began_at, read_signs, reminder
from .start import actor_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from .envelopes import Event
    from .table import Answer

_MOST_OF_RECORD = 8 << 20
_SECONDS_BEHIND = 0.5
"""How long a host may take to write what has just happened into its record."""


def stop(call: "Event", environ: "Mapping[str, str]", say: "Callable[[object], None]") -> "Answer":
    """Return what is said as a session or a subagent stops: {} for nothing."""
    if is_disabled(environ):
        return {}
    found = find_root(call.cwd or None, environ=environ)
    if not os.path.isdir(os.path.join(found.path, SCAFFOLDING)):
        return {}
    with Root.open(found.path) as root:
        settings = load_settings(root, environ)
        root.external_links = settings.external_links
        if not settings.enabled or settings.damaged:
            return {}
        actor = actor_of(call, settings, environ, say)
        harvested = _harvest(call, actor, found.path, environ, say) if settings.hook_harvest else 0
        if harvested:
            them = counted(harvested, "finding")
            return {"systemMessage": f"amp: {them} of {call.agent or 'this agent'} saved in the conversation's memory"}
        if call.stop_active or settings.hook_reminder == "off":
            return {}
        text = _reminder(call, Session(root, settings, environ, actor))
        who = envelopes.digest_of(*(name and name_key(name) for name in (actor.conversation, actor.agent)))
        if not text or not once.leave(root, "reminded", who):
            return {}
    return call.host.block(text) if settings.hook_reminder == "block" else envelopes.advice(call, text)


def _harvest(
    call: "Event", actor: Actor, path: str, environ: "Mapping[str, str]", say: "Callable[[object], None]"
) -> int:
    """Save the findings in the last message, and say what could not be saved. Returns how many are new."""
    if INFO not in call.last_message:
        return 0
    try:
        # The agent of the session writes: a read-only agent reports, and does not write itself.
        writer = Actor(environ.get("AMP_AGENT") or None, actor.conversation)
        saved = harvest(
            Workspace.open(path, environ=environ),
            call.last_message,
            actor=writer,
            reporter=call.agent or environ.get("AMP_AGENT"),
            only_conversation=True,
        )
    except AgentMemoryError as error:
        say(error)
        return 0
    for one in saved:
        if one.problem:
            say(f"a finding was not saved: {one.problem}")
    return sum(one.done is not None and one.done.status == "added" for one in saved)


def _reminder(call: "Event", session: Session) -> str:
    """Return the reminder if something was learned and nothing was saved; else ""."""
    if session.read_only_reason():
        return ""
    until = time.monotonic() + _SECONDS_BEHIND
    while True:
        head, record = _record_of(call.transcript)
        signs = read_signs(record)
        if signs.something_was_learned or not record or call.mark in record or time.monotonic() > until:
            break
        time.sleep(0.02)
    if not signs.something_was_learned or _was_saved_since(session, began_at(head)):
        return ""
    return reminder(signs, session.actor.agent, session.actor.conversation)


def _record_of(path: str) -> tuple[bytes, bytes]:
    """Return the beginning and the last part of a conversation's record; nothing if it cannot be read."""

    def ends(fd: int, info: os.stat_result) -> tuple[bytes, bytes]:
        head = os.read(fd, 1 << 16)
        os.lseek(fd, max(info.st_size - _MOST_OF_RECORD, 0), os.SEEK_SET)
        return head, os.read(fd, _MOST_OF_RECORD)

    folder, name = os.path.split(path)
    try:
        with Root.open(folder, external_links=True) as root:
            return root.use_file((name,), ends) or (b"", b"")
    except AgentMemoryError:
        return b"", b""


def _was_saved_since(session: Session, moment: str) -> bool:
    """Say whether any document of the project has changed since then."""
    if not moment:
        return False
    began = datetime.fromisoformat(moment).timestamp()
    for target in store.list_targets(session.root):
        with suppress(OSError):
            if session.path(target).stat().st_mtime >= began:
                return True
    return False

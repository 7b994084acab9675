"""A rehearsal: run a hook's command line as its host would, in the same folder, and say what came of it."""

import json
import os
import signal
import subprocess
from collections.abc import Mapping
from contextlib import suppress

from ..values import dataclass
from .table import FAILS_OPEN, SECONDS, Host

_SHELL = ("/bin/sh", "-c") if os.name == "posix" else ("cmd", "/c")
_SESSION = "amp-doctor"
_NOT_FOUND = 127


@dataclass(frozen=True, slots=True)
class Rehearsed:
    """What a hook answered: the text for an agent, why it is of no use ("" if it works), and its line on stderr."""

    context: str = ""
    problem: str = ""
    said: str = ""


def rehearse(
    host: Host, event: str, command: str, folder: str, environ: Mapping[str, str], *, agent: str = ""
) -> Rehearsed:
    """Run a hook's command line at its event, in a folder, and without what would hide its failure."""
    message = {
        "session_id": _SESSION,
        "cwd": folder,
        "hook_event_name": host.events[event][0],
        "source": "startup",
        **({"agent_type": agent} if agent else {}),
    }
    names = {host.root.strip('"$'): folder} if host.root.startswith('"$') else {}
    named = {"AMP_AGENT": agent} if agent and event == "session-start" else {}
    try:
        with subprocess.Popen(
            [*_SHELL, command.removesuffix(FAILS_OPEN)],
            cwd=folder,
            env={**environ, **names, **named},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            start_new_session=True,
        ) as process:
            try:
                out, err = process.communicate(json.dumps(message).encode(), SECONDS)
            except subprocess.TimeoutExpired:
                _kill(process)
                return Rehearsed(problem=f"takes longer than the {SECONDS} seconds that the host waits")
    except OSError as error:
        return Rehearsed(problem=f"cannot be started: {error.strerror or error}")
    said = " ".join(err.decode(errors="replace").split())
    code = process.returncode
    if code:
        why = "the shell does not find it, or a program it needs" if code == _NOT_FOUND else f"it ends with {code}"
        return Rehearsed(problem=f"does not run: {why}{f' ({said})' if said else ''}")
    try:
        answer = json.loads(out or b"{}")
        inside = answer.get("hookSpecificOutput", answer)
        given = inside.get("additionalContext", inside.get("additional_context", ""))
    except (ValueError, AttributeError, RecursionError):
        return Rehearsed(problem="answers something else than amp-hook does")
    return Rehearsed(context=given if isinstance(given, str) else "", said=said.removeprefix("amp-hook: "))


def _kill(process: "subprocess.Popen[bytes]") -> None:
    """End a program and what it has started, which may hold its pipes open."""
    with suppress(OSError):
        if hasattr(os, "killpg"):
            os.killpg(process.pid, signal.SIGKILL)
        else:
            process.kill()
    process.communicate()

"""`amp-hook EVENT --host HOST`: the program a host runs at its events. JSON on stdin, JSON on stdout, never in the way.

It fails open (decision 37): whatever is wrong, it ends with 0 and a valid answer, and says why in one line on stderr.
A host starts it before every tool call, so it looks at the bytes before it loads anything that can read them.
"""

import os
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from .table import Answer, Host

EVENTS = ("session-start", "prompt", "subagent-start", "pre-tool-use", "stop", "subagent-stop")

MOST_BYTES = 16 << 20  # A longer message of a host is not read to its end: no model says that much in one call
PATIENCE = 2.0  # Seconds to wait for a host that has opened stdin and says nothing more

_PIECE = 1 << 16


def main() -> None:
    """Answer one event, as the command line names it, and end with 0."""
    answer = "{}"
    try:
        import gc

        gc.disable()  # nothing lives so long that to look for what could go would pay
        sys.unraisablehook = lambda _: None  # where Ctrl-C cannot raise, Python would tell of it, and go on
        answer = run(sys.argv[1:])
    except KeyboardInterrupt:
        pass
    _print(answer.encode())
    # Nothing is open and nothing is buffered, so an orderly end of the interpreter would only take time.
    os._exit(0)


USAGE = f"""Usage: amp-hook EVENT [--host HOST] [--user] < event.json

  Answer an event of an agent's host: JSON on stdin, JSON on stdout.

  EVENT is {", ".join(EVENTS)}.
  --host is the host as `amp install` names it; default: claude. --user says
  that the person's own settings call. It always ends with 0.

  Example:
      echo '{{"cwd": "."}}' | amp-hook session-start
"""


def run(words: "Sequence[str]") -> str:
    """Return the answer to one event as JSON: `{}` if there is nothing to say, or something is wrong."""
    if "--help" in words or "-h" in words:
        return USAGE
    try:
        event, host, for_person = _arguments(words)
        answer = answer_to(event, host, read_stdin(0), os.environ, for_person=for_person)
        if answer:
            from .quick_json import write

            return write(_told(answer))
    except KeyboardInterrupt:
        pass  # Ctrl-C in the terminal of a host reaches what the host has started, too
    except Exception as error:  # noqa: BLE001  (a hook must not keep its host from working, whatever went wrong)
        say(error)
    return "{}"


def answer_to(
    event: str, host: str, data: bytes, environ: "Mapping[str, str]", *, for_person: bool = False
) -> "Answer":
    """Return what to say to the host: {} for nothing. The caller answers {} to any error.

    `for_person` says that the person's own settings call. Where they do, those of the project are silent.
    """
    if event == "pre-tool-use":
        from ..guard.glance import may_concern_memory

        if not may_concern_memory(data, environ):
            return {}
    from . import envelopes

    if len(data) > MOST_BYTES:
        raise ValueError(f"more than {MOST_BYTES:,} bytes came on stdin; they were not looked at")
    call = envelopes.read(event, host, data)
    if not for_person and _person_has(call.host, event, environ):
        return {}
    if event == "pre-tool-use":
        from ..guard.judge import reason_to_deny

        reason = reason_to_deny(call, environ)
        return call.host.denial(event, reason) if reason else {}
    if event in ("session-start", "subagent-start"):
        from .start import start

        text = start(call, environ, say)
        return call.host.context(event, text) if text else {}
    if event == "prompt":
        from .start import prompt

        text = prompt(call, environ, say)
        return call.host.context(event, text) if text else {}
    from .stop import stop

    return stop(call, environ, say)


def _told(answer: object) -> object:
    """Return an answer with every character visible: names and paths come from the host, or from a checkout."""
    from ..text.visible import show_text

    if isinstance(answer, dict):
        return {key: _told(one) for key, one in answer.items()}
    return show_text(answer) if isinstance(answer, str) else answer


def read_stdin(fd: int) -> bytes:
    """Read what the host says, at most one byte more than `MOST_BYTES`, without waiting for an end that never comes.

    A pipe that stays open is read until it holds a whole JSON object, or nothing comes for `PATIENCE` seconds.
    """
    data = bytearray()
    while len(data) <= MOST_BYTES and _readable(fd, data):
        piece = os.read(fd, min(_PIECE, MOST_BYTES + 1 - len(data)))
        if not piece:
            break
        data += piece
    return bytes(data)


def say(problem: object) -> None:
    """Say in one line on stderr what keeps the hook from its work."""
    line = " ".join(str(problem).split()) or type(problem).__name__
    if not (line.isascii() and line.isprintable()):
        from ..text.visible import show_invisible

        line = show_invisible(line)
    try:  # noqa: SIM105  (contextlib takes time to load)
        os.write(2, f"amp-hook: {line}\n".encode("utf-8", "backslashreplace"))
    except OSError:
        pass


def _person_has(host: "Host", event: str, environ: "Mapping[str, str]") -> bool:
    """Say whether the person's own settings of this host have a hook of ours for this event, too."""
    folder = host.folder_of(environ.get("HOME") or environ.get("USERPROFILE") or "", environ)
    try:
        file = os.open(os.path.join(folder, host.settings[-1]), os.O_RDONLY | getattr(os, "O_NONBLOCK", 0))
    except (OSError, ValueError):
        return False
    try:
        return host.call(event, for_person=True).encode() in os.read(file, 1 << 20)
    except OSError:
        return False
    finally:
        os.close(file)


def _arguments(words: "Sequence[str]") -> tuple[str, str, bool]:
    """Return the event and the host that the command line names, and whether the person's own settings call."""
    host, for_person = "claude", False
    events = []
    left = list(words)
    while left:
        word = left.pop(0)
        if word == "--host":
            host = left.pop(0) if left else ""
        elif word.startswith("--host="):
            host = word.removeprefix("--host=")
        elif word == "--user":
            for_person = True
        else:
            events.append(word)
    if len(events) != 1 or events[0] not in EVENTS:
        wrong = f"{' '.join(events)!a} is not an event" if any(events) else "name the event"
        raise ValueError(f"{wrong}; the events are {', '.join(EVENTS)}")
    return events[0], host, for_person


def _readable(fd: int, data: bytearray) -> bool:
    """Say whether there may be more to read."""
    try:
        import select

        if select.select([fd], [], [], 0)[0]:
            return True
        if data.rstrip().endswith(b"}"):
            from .quick_json import is_whole

            if is_whole(bytes(data)):
                return False
        return bool(select.select([fd], [], [], PATIENCE)[0])
    except (ImportError, OSError, ValueError):
        # Windows has no such call for pipes, or stdin is closed: reading shows it.
        return True


def _print(data: bytes) -> None:
    """Write the answer. It is not an error if the host has stopped listening."""
    try:
        while data:
            data = data[os.write(1, data) :]
    except (OSError, KeyboardInterrupt):
        pass


if __name__ == "__main__":
    main()

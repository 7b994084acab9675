"""The `amp` command: each verb reads its input, calls one method, and prints the answer."""

import os
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_PROGRAMS = ("amp", "amp-mcp", "agent-memory")


def _stop(*_: object) -> None:
    """Exit at once, without a traceback: while a command loads, there is nothing to clean up."""
    try:  # noqa: SIM105  (contextlib takes time to load, in which Ctrl-C may come)
        os.write(2, b"amp: stopped\n")
    except OSError:
        pass
    os._exit(130)


def _in_program(started: str) -> bool:
    """Say whether this process is the program `amp` and not one that has imported it."""
    folder, name = os.path.split(started)
    is_module = name == "__main__.py" and os.path.basename(folder) == "agent_memory_protocol"
    return is_module or name.removesuffix(".exe").removesuffix("-script.py") in _PROGRAMS


IS_PROGRAM = bool(sys.argv) and _in_program(sys.argv[0])


def _stop_quietly() -> None:
    """Let Ctrl-C end the program at once, even in a callback of an import, where Python would report it and go on."""
    told, unraised = sys.excepthook, sys.unraisablehook

    def excepted(kind: type[BaseException], *rest: "Any") -> None:
        _stop() if issubclass(kind, KeyboardInterrupt) else told(kind, *rest)

    def not_raised(what: "Any") -> None:
        _stop() if issubclass(what.exc_type, KeyboardInterrupt) else unraised(what)

    sys.excepthook, sys.unraisablehook = excepted, not_raised


if IS_PROGRAM:
    _stop_quietly()  # before anything else is loaded

import signal  # noqa: E402


def raise_interrupts() -> None:
    """From now on Ctrl-C raises KeyboardInterrupt, so that what has begun is ended in order."""
    _answer_interrupts(_stop, signal.default_int_handler)


def ignore_interrupts() -> None:
    """From now on Ctrl-C comes too late: the answer is given, and Python only ends."""
    if IS_PROGRAM:
        _answer_interrupts(signal.getsignal(signal.SIGINT), signal.SIG_IGN)


def _answer_interrupts(now: "Any", then: "Any") -> None:
    """Replace the handler of Ctrl-C if it is the expected one; a shell may have disabled Ctrl-C."""
    try:
        if signal.getsignal(signal.SIGINT) == now:
            signal.signal(signal.SIGINT, then)
    except ValueError:
        pass  # not in the main thread


if IS_PROGRAM:
    _answer_interrupts(signal.default_int_handler, _stop)

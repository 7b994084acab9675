"""The `amp` command: each verb reads its input, calls one method, and prints the answer."""

import sys
from types import TracebackType


def _say_stopped(kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
    """Say in one line that a command was stopped while it loaded: nothing else has seen the key yet."""
    if issubclass(kind, KeyboardInterrupt):
        sys.stderr.write("amp: stopped\n")
    else:
        sys.__excepthook__(kind, error, trace)


if sys.excepthook is sys.__excepthook__:
    sys.excepthook = _say_stopped

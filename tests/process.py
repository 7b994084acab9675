"""What tests ask of a process: how many files it has open, and what an ordinary user would see."""

import os
from collections.abc import Callable

NOBODY = 65534


def open_descriptors() -> int:
    return len(os.listdir("/proc/self/fd"))


def as_nobody(action: Callable[[], str]) -> str:
    """Return what `action` returns when an ordinary user runs it."""
    if os.geteuid() != 0:
        return action()
    reader, writer = os.pipe()
    pid = os.fork()
    if pid == 0:
        try:
            os.setgroups([])
            os.setgid(NOBODY)
            os.setuid(NOBODY)
            os.write(writer, action().encode())
        except Exception as error:  # noqa: BLE001 a failed assertion must not run on in the child
            os.write(writer, f"failed: {error!r}".encode())
        finally:
            os._exit(0)
    os.close(writer)
    with os.fdopen(reader) as pipe:
        answer = pipe.read()
    os.waitpid(pid, 0)
    assert not answer.startswith("failed: "), answer
    return answer

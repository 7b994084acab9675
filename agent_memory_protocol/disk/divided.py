"""Work divided between this process and a copy of it, where there are two processors and nothing speaks against it.

The copy, made by `fork`, has all that was read without reading it again. Both take one job after the other, so they end
at about the same time. What the copy does not answer, for whatever reason, this process does itself: so an error is
that of one process, and nothing is lost but time.
"""

import os
import pickle
import signal
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from typing import Any, TypeVar

Answer = TypeVar("Answer")

_SIZE = 8
_MOST = 255  # So many jobs have a number in one byte: to read one from a pipe is to take it


def run(
    jobs: Sequence[Callable[[], Answer]], *, in_two: bool, report: Callable[[int, int], None] | None = None
) -> list[Answer]:
    """Return what each job returns, in their order; `in_two` if they are worth a second process.

    `report` is called with how many of how many jobs have been taken.
    """
    copy = _Copy(jobs) if in_two and 1 < len(jobs) <= _MOST and _may_fork() else None
    answers: dict[int, Answer] = {}
    try:
        for number in range(len(jobs)) if copy is None else copy.begin():
            answers[number] = jobs[number]()
            if report is not None:
                report(number + 1, len(jobs))
        if copy is not None:
            answers |= copy.answers()
    finally:
        if copy is not None:
            copy.end()
    answers |= {number: job() for number, job in enumerate(jobs) if number not in answers}
    if report is not None:
        report(1, 1)
    return [answers[number] for number in range(len(jobs))]


def _may_fork() -> bool:
    """Say whether this process may be copied: it has two processors, and no other thread with locks."""
    if sys.platform != "linux" or len(os.sched_getaffinity(0)) < 2:
        return False
    with suppress(OSError):
        return len(os.listdir("/proc/self/task")) == 1
    return False


class _Copy:
    """A copy of this process, which takes jobs while some are left, and answers all at once."""

    def __init__(self, jobs: Sequence[Callable[[], object]]) -> None:
        self._jobs = jobs
        self._id = 0
        self._turns, giving = os.pipe()
        self._answer, self._answering = os.pipe()
        os.write(giving, bytes(range(len(jobs))))
        os.close(giving)

    def begin(self) -> Iterator[int]:
        """Begin, and return the numbers of the jobs that are left, which both processes take one by one."""
        # No interrupt may come before the copy has begun to be one: it would go on with the work of this process.
        masked = signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGINT])
        with suppress(OSError):  # no further process is allowed: this one does it all
            self._id = os.fork()
            if not self._id:
                self._be()
        os.close(self._answering)
        signal.pthread_sigmask(signal.SIG_SETMASK, masked)
        return self._left()

    def _left(self) -> Iterator[int]:
        while number := os.read(self._turns, 1):
            yield number[0]

    def answers(self) -> dict[int, Any]:
        """Return what the copy has done, by the numbers of the jobs; nothing if it has come to an end."""
        data = b"".join(iter(lambda: os.read(self._answer, 1 << 20), b""))
        size = int.from_bytes(data[:_SIZE], "big")
        whole: dict[int, Any] = pickle.loads(data[_SIZE:]) if size and size == len(data) else {}  # noqa: S301  (it comes from a copy of this process)
        return whole

    def end(self) -> None:
        """End the copy, which has answered or is no longer asked."""
        if self._id:
            with suppress(ProcessLookupError):
                os.kill(self._id, signal.SIGKILL)
            with suppress(ChildProcessError):
                os.waitpid(self._id, 0)
        os.close(self._turns)
        os.close(self._answer)

    def _be(self) -> None:
        """Be the copy: it answers, and ends at once, whatever happens, without what a process does at its end."""
        try:
            signal.signal(signal.SIGINT, signal.SIG_DFL)
            signal.pthread_sigmask(signal.SIG_UNBLOCK, [signal.SIGINT])
            parent = os.getppid()
            answers = {number: self._jobs[number]() for number in self._left() if os.getppid() == parent}
            pickled = pickle.dumps(answers, pickle.HIGHEST_PROTOCOL)
            data = memoryview((_SIZE + len(pickled)).to_bytes(_SIZE, "big") + pickled)
            while data:
                data = data[os.write(self._answering, data) :]
        finally:
            os._exit(0)

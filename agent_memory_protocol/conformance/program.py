"""A program under test: started once, asked one case a line, and never waited for longer than the limit.

Whatever it does ends the case, never the run: it may be missing, silent or slow, be killed, or answer nonsense.
"""

import json
import queue
import subprocess
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from threading import Thread
from typing import IO, Any, Self

from ..disk.errors import explain

_LONGEST_LINE = 8 * 1024 * 1024
_PATIENCE = 3  # After so many cases in a row without an answer, a program is asked no more: the run must end
_MOST_LATE = 10
"""After so many in all that took the whole time, too: an answer to every second case would keep a run for an hour."""

_SHOWN = 200
_ENDING = 1.0  # Seconds in which a thread at a pipe finds that the program has ended

Json = dict[str, Any]


class NoAnswerError(Exception):
    """The program gave no answer to a case; the message says why."""


class Program:
    """A program that speaks the line protocol. Use it as a context manager: at the end, it is stopped."""

    def __init__(self, command: Sequence[str], *, seconds: float) -> None:
        self._command = command
        self._seconds = seconds
        self._process: subprocess.Popen[bytes] | None = None
        self._lines: queue.Queue[bytes] = queue.Queue()
        self._questions: queue.Queue[bytes] = queue.Queue()
        self._threads: list[Thread] = []
        self._unanswered: set[object] = set()
        self._failures = 0
        self._late = 0

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._stop()

    def ask(self, question: Mapping[str, Any]) -> Json:
        """Return the program's answer to a case.

        Raises:
            NoAnswerError: nothing came within the time, or it is not an answer.
        """
        if self._failures >= _PATIENCE:
            raise NoAnswerError(f"was not asked: {_PATIENCE} cases in a row had no answer")
        if self._late >= _MOST_LATE:
            raise NoAnswerError(f"was not asked: {_MOST_LATE} cases had no answer in time")
        try:
            answer = self._answer(question)
        except NoAnswerError:
            self._failures += 1
            self._unanswered.add(question["id"])
            raise
        self._failures = 0
        return answer

    def _answer(self, question: Mapping[str, Any]) -> Json:
        process = self._process or self._start()
        deadline = time.monotonic() + self._seconds
        # A program that does not read must not keep us: the pipe takes only so much.
        self._questions.put(json.dumps(question).encode() + b"\n")
        while True:
            try:
                line = self._lines.get(timeout=max(deadline - time.monotonic(), 0))
            except queue.Empty:
                self._late += 1
                raise NoAnswerError(f"no answer within {self._seconds:g} seconds") from None
            if not line:
                ended = _ended(process)
                self._stop()
                raise NoAnswerError(f"the program {ended}")
            answer = _read_answer(line)
            if answer is None:
                raise NoAnswerError(f"no answer: {line[:_SHOWN].decode('utf-8', 'replace').strip()!a}")
            name = answer.get("id")
            if name == question["id"]:
                return answer
            if not isinstance(name, str) or name not in self._unanswered:
                raise NoAnswerError(f"an answer to {str(name)[:_SHOWN]!a}")

    def _start(self) -> "subprocess.Popen[bytes]":
        """Start the program, also again where it has ended: one case that it does not survive is one case."""
        try:
            process = subprocess.Popen(self._command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        except (OSError, ValueError) as error:
            reason = explain(error) if isinstance(error, OSError) else str(error)
            raise NoAnswerError(f"the program does not start: {reason}") from None
        self._process = process
        self._lines = queue.Queue(maxsize=4)
        self._questions = queue.Queue()
        self._threads = [
            Thread(target=_write, args=(process.stdin, self._questions), daemon=True),
            Thread(target=_read, args=(process.stdout, self._lines), daemon=True),
        ]
        for thread in self._threads:
            thread.start()
        return process

    def _stop(self) -> None:
        process, self._process = self._process, None
        if process is None:
            return
        process.kill()
        process.wait()
        self._questions.put(b"")
        while not self._lines.empty():  # a reader that waits for room goes on, and finds the end
            self._lines.get()
        for thread in self._threads:
            thread.join(_ENDING)
        for pipe, thread in zip((process.stdin, process.stdout), self._threads, strict=True):
            # What it has started may hold the other end: then a thread still waits there, and the pipe is left to it.
            if pipe is not None and not thread.is_alive():
                with suppress(OSError):
                    pipe.close()


def _ended(process: "subprocess.Popen[bytes]") -> str:
    try:
        return f"ended with {process.wait(_ENDING)}"
    except subprocess.TimeoutExpired:
        return "has closed its output"


def _read_answer(line: bytes) -> Json | None:
    """Return what a line says; None if it is not one answer in JSON."""
    try:
        answer = json.loads(line, parse_constant=_refuse)
    except (ValueError, RecursionError):
        return None
    return answer if isinstance(answer, dict) and len({"result", "refused"} & answer.keys()) == 1 else None


def _refuse(constant: str) -> None:
    raise ValueError(f"{constant} is not JSON")


def _write(pipe: IO[bytes] | None, questions: "queue.Queue[bytes]") -> None:
    try:
        while pipe is not None and (line := questions.get()):
            pipe.write(line)
            pipe.flush()
    except (OSError, ValueError):
        return  # it has ended; its last line says so


def _read(pipe: IO[bytes] | None, lines: "queue.Queue[bytes]") -> None:
    try:
        while pipe is not None and (line := pipe.readline(_LONGEST_LINE)):
            lines.put(line)
    except (OSError, ValueError):
        pass
    lines.put(b"")

"""An operator that is a program: the question on its standard input, its answer on its standard output, both JSON.

The program may be a coding agent or a script around a model. It gets a time and a size; at the limit it and all that it
has started are killed. The caller names it, as a list of arguments that no shell reads; no setting of a repository
does (decision 6). Its answer goes through the same door as every other proposal.
"""

import os
import signal
import subprocess
import threading
import time
from collections.abc import Sequence
from contextlib import suppress
from typing import IO

from ..errors import InvalidArgument, OperatorFailed
from ..records.record import Record
from ..text.visible import show_invisible
from .proposals import Defer, Proposal, Question, Stage
from .wire import read, relevant, spell

_PIECE = 65_536
_SHOWN = 200


class CommandOperator:
    """Asks a program, in any stage.

    It runs in the folder and with the environment of the caller, plus `AMP_DISABLE=1`, so that an agent that answers
    does not read and write its own memory meanwhile.

    Args:
        name: its name in reports; by default that of the program.
        seconds: how long one answer may take.
        most_bytes: how long an answer may be.
        most_records: how many records it is shown, the last changed ones; the report says how many were left out.

    Raises:
        InvalidArgument: there is no program, or a limit is not above 0.
    """

    def __init__(
        self,
        command: Sequence[str],
        *,
        name: str = "",
        seconds: float = 120.0,
        most_bytes: int = 1_000_000,
        most_records: int = 500,
    ) -> None:
        if isinstance(command, str) or not command or not all(part and "\0" not in part for part in command[:1]):
            raise InvalidArgument('command is a list, of the program and its arguments: ["claude", "-p", "…"]')
        if min(seconds, most_bytes, most_records) <= 0:
            raise InvalidArgument("seconds, most_bytes and most_records are above 0")
        self.command = tuple(command)
        self.name = name or os.path.basename(command[0])
        self.seconds = seconds
        self.most_bytes = most_bytes
        self.most_records = most_records

    def propose(self, question: Question) -> Sequence[Proposal]:
        """Return the program's answer, or OperatorFailed. It is not asked where there is nothing to look at."""
        records = relevant(question)
        if not question.text.strip() if question.stage is Stage.WRITE else len(records) < 2:
            return ()
        shown = self._shown(records)
        proposals = read(self._run(spell(question, shown)), question)
        left = len(records) - len(shown)
        if left:
            proposals.append(Defer((), f"{left} records were not shown, since {self.most_records} are the limit"))
        return proposals

    def _shown(self, records: list[Record]) -> list[Record]:
        newest = sorted(records, key=lambda record: (record.updated_at, record.id))[-self.most_records :]
        ids = {record.id for record in newest}
        return [record for record in records if record.id in ids]

    def _run(self, data: bytes) -> bytes:
        try:
            process = subprocess.Popen(
                self.command,
                bufsize=0,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                start_new_session=True,  # a group of its own, to be killed as one
                env={**os.environ, "AMP_DISABLE": "1"},
            )
        except (OSError, ValueError) as error:
            reason = getattr(error, "strerror", None) or str(error)
            raise OperatorFailed(f"{self.command[0]} cannot be started: {reason}") from None
        deadline = time.monotonic() + self.seconds
        assert process.stdin is not None and process.stdout is not None and process.stderr is not None  # noqa: S101, PT018
        writer = threading.Thread(target=_write, args=(process.stdin, data), daemon=True)
        answer, complaints = _Reader(process.stdout, self.most_bytes), _Reader(process.stderr)
        ended = False
        for thread in (writer, answer, complaints):
            thread.start()
        try:
            # Read its output to the end first: until `wait`, its number and so its group belong to no other process.
            answer.join(self.seconds)
            if answer.is_alive():
                raise OperatorFailed(self._too_slow())
            if answer.too_much:
                raise OperatorFailed(f"it answered more than {self.most_bytes} bytes")
            try:
                code = process.wait(max(0.0, deadline - time.monotonic()))
            except subprocess.TimeoutExpired:
                raise OperatorFailed(self._too_slow()) from None
            ended = True
        finally:
            if not ended:
                _kill(process)
            for thread in (writer, answer, complaints):
                thread.join(1)
        if code != 0:
            raise OperatorFailed(f"it ended with exit code {code}{_last_line(bytes(complaints.data))}")
        return bytes(answer.data)

    def _too_slow(self) -> str:
        return f"it took longer than {self.seconds:g} s and was stopped"


class _Reader(threading.Thread):
    """Reads the output of a program: to the end, keeping the last piece, or up to a limit."""

    def __init__(self, stream: IO[bytes], most: int | None = None) -> None:
        super().__init__(daemon=True)
        self.data = bytearray()
        self.too_much = False
        self._stream = stream
        self._most = most

    def run(self) -> None:
        with self._stream:
            while piece := self._stream.read(_PIECE):
                self.data += piece
                if self._most is None:
                    del self.data[:-_PIECE]
                elif len(self.data) > self._most:
                    self.too_much = True
                    return


def _write(stream: IO[bytes], data: bytes) -> None:
    # A program that does not read to the end may still have answered.
    with suppress(OSError), stream:
        left = memoryview(data)
        while left:
            left = left[stream.write(left) :]


def _kill(process: subprocess.Popen[bytes]) -> None:
    if hasattr(os, "killpg"):
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, signal.SIGKILL)
    else:
        process.kill()
    process.wait()


def _last_line(complaints: bytes) -> str:
    lines = complaints.decode(errors="replace").split("\n")
    last = next((line for line in reversed(lines) if line.strip()), "")
    return f": {show_invisible(last.strip())[:_SHOWN]}" if last else ""

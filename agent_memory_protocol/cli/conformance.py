"""`amp conformance`: the published cases, asked of any program that speaks the line protocol."""

import json
import os
import re
import shlex
import sys
from typing import TYPE_CHECKING

import click

from .options import json_option
from .printing import note, print_json, progress, say

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from ..conformance.cases import Case


@click.command("conformance")
@click.option("--command", metavar="CMD", help="The program to ask. Default: this engine.")
@click.option(
    "--level",
    type=click.Choice(["reader", "writer", "full"]),
    default="full",
    show_default=True,
    help="The cases: for readers, for readers that also write, or all.",
)
@click.option(
    "--seconds",
    type=click.FloatRange(min=0, min_open=True),
    default=10,
    show_default=True,
    help="Time limit for a case.",
)
@click.option("--answer", is_flag=True, help="Be such a program: answer cases from stdin with this engine.")
@click.option("--requirements", is_flag=True, help="List the protocol's statements, and what shows each.")
@json_option
def conformance_command(
    command: str | None, level: str, seconds: float, answer: bool, requirements: bool, as_json: bool
) -> None:
    """Say which rules of the protocol a program keeps, case by case.

    CMD is started once. It reads one JSON object per line: id, files, call, args, clock. It answers each with one
    object: id, then result or refused, and files if they changed. A missing, silent or slow program fails its cases.
    Exit code 0: all cases of the level pass; 1: some fail.

    \b
    Examples:
        amp conformance --level reader
        amp conformance --command "node reader.js" --level reader
    """
    from ..conformance import cases, report
    from ..conformance.program import Program

    if sum((command is not None, answer, requirements)) > 1:
        raise click.UsageError("--command, --answer and --requirements are three different things; give one")
    if requirements:
        sys.exit(_list_statements(as_json))
    if answer:
        _answer()
        return
    from ..conformance.calls import answer as own_answer

    found = cases.load(level)
    step = progress("asked")
    if command is None:
        done = report.run(_counted(found, step), own_answer, level)
    else:
        try:
            words = shlex.split(command, posix=os.name != "nt")
        except ValueError as error:
            raise click.UsageError(f"--command {command!a} cannot be read: {error}") from None
        if not words:
            raise click.UsageError("--command is empty; name a program")
        with Program(words, seconds=seconds) as program:
            done = report.run(_counted(found, step), program.ask, level)
    if as_json:
        print_json(done.to_json())
    else:
        for line in report.lines(done):
            say(line)
    lacking = sorted({found for one in done.failures for found in re.findall(r"pip install '[^']+'", str(one.got))})
    if command is None and lacking:
        note(f"some cases need what is not installed here; run {' and '.join(lacking)}")
    sys.exit(1 if done.failures else 0)


def _counted(found: "list[Case]", step: "Callable[[int, int], None] | None") -> "Iterator[Case]":
    for number, case in enumerate(found, 1):
        yield case
        if step:
            step(number, len(found))


def _answer() -> None:
    """Answer each line of stdin. What is not a question gets no result, and the next one is read."""
    from ..conformance.calls import answer

    for line in sys.stdin.buffer:
        try:
            question = json.loads(line)
        except (ValueError, RecursionError):
            question = None
        if not isinstance(question, dict):
            say(json.dumps({"id": None, "refused": "this line is not a JSON object"}))
            continue
        try:
            answered = answer(question)
        except (TypeError, ValueError, KeyError, AttributeError) as error:
            answered = {"id": question.get("id"), "refused": f"this is not a question: {error}"}
        say(json.dumps(answered))


def _list_statements(as_json: bool) -> int:
    """List the statements, and return the exit code: 1 where one has nothing that shows it."""
    from ..conformance import cases, requirements

    found = requirements.read(requirements.page(), cases.load())
    bare = [one.number for one in found if not one.is_shown]
    if as_json:
        print_json({"statements": [one.to_json() for one in found], "unshown": bare})
    else:
        for one in found:
            say(f"{one.number}  {one.text}")
            for test in one.tests:
                say(f"    test  {test}")
            if one.cases:
                say(f"    cases {len(one.cases)}, such as {one.cases[0]}")
        say(f"{len(found)} statements; without a test or a case: {', '.join(bare) or 'none'}")
    return 1 if bare or not found else 0

"""`amp consolidate` and `amp decay`: looking after records."""

import shlex
import shutil
import sys
from collections.abc import Iterator
from dataclasses import fields, replace

import click

from ..consolidation.command_operator import CommandOperator
from ..consolidation.pipeline import Operators
from ..consolidation.proposals import Report, Stage, Unreadable, kind_of
from ..errors import AccessDenied, InvalidArgument
from ..memory import Memory
from ..project.access import Actor
from .options import NOT_APPLIED, Call, note
from .record_options import identity_option, open_memory, record_options
from .records import short

UNREADABLE = kind_of(Unreadable(""))


@click.command("consolidate")
@click.option("--apply", is_flag=True, help="Do it. Without it, only what would be done is shown.")
@click.option("--operator", metavar="COMMAND", help="Also ask this program: JSON in, JSON out. No shell runs it.")
@click.option(
    "--stage",
    "stages",
    multiple=True,
    type=click.Choice([field.name for field in fields(Operators)]),
    help="A stage to ask the program about; repeatable. Default: contradiction.",
)
@click.option(
    "--seconds",
    type=click.FloatRange(min=0, min_open=True),
    metavar="S",
    help="Time limit for one answer of the program (120).",
)
@identity_option
@record_options
def consolidate_command(
    call: Call,
    apply: bool,
    operator: str | None,
    stages: tuple[str, ...],
    seconds: float | None,
    identity: str | None,
    store: str | None,
) -> None:
    """Merge records that say the same, and mark contradictions.

    Repeated episodes become rules, and rules whose evidence is gone are flagged. The rules of amp decide no
    contradiction: `amp record resolve` does that.

    With --operator, amp also asks a program, such as a coding agent's command line, after its rules. The same checks
    apply to its proposals; it may decide only in the stage resolution. With --apply, amp asks it again. If its answer
    cannot be read, the rest is done and the exit code is 4.

    \b
    Examples:
        amp consolidate --apply
        amp consolidate --operator "python3 judge.py"
    """
    judge = None if operator is None else _program(operator, call.actor(), seconds)
    if judge is None and (stages or seconds is not None):
        raise InvalidArgument("--stage and --seconds are for a program; name it with --operator")
    operators = Operators()
    for stage in dict.fromkeys(stages or [Stage.CONTRADICTION.value]) if judge else ():
        operators = replace(operators, **{stage: (*getattr(operators, stage), judge)})
    memory = open_memory(call, store, identity if apply else None, operators=operators)
    report = memory.consolidate(apply=apply)
    program = judge.name if judge else ""
    call.answer({"applied": apply, **report.to_json()}, _lines(memory, report, applied=apply, program=program))
    if judge and any(action.by == judge.name and action.kind == UNREADABLE for action in report.refused):
        sys.exit(4)


def _program(command: str, who: Actor, seconds: float | None) -> CommandOperator:
    """Return the program that a person names as one that proposes.

    Raises:
        AccessDenied: an agent names it. What a guard lets an agent start is for its host to say.
        InvalidArgument: it is not a command, or the program does not exist.
    """
    if not who.is_person:
        raise AccessDenied(f"{who} may not have amp start a program; the person who owns the project may")
    try:
        words = shlex.split(command)
    except ValueError as error:
        raise InvalidArgument(f"--operator {command!a}: {error}; close what is quoted") from None
    if not words or shutil.which(words[0]) is None:
        name = words[0] if words else ""
        raise InvalidArgument(f"--operator: there is no program {name!a}; name one that is installed, or its path")
    return CommandOperator(words) if seconds is None else CommandOperator(words, seconds=seconds)


@click.command("decay")
@click.option("--apply", is_flag=True, help="Do it. Without it, only what would be done is shown.")
@identity_option
@record_options
def decay_command(call: Call, apply: bool, identity: str | None, store: str | None) -> None:
    """Archive records that nobody has used for a long time.

    They stay readable. Disputed records, the evidence of rules, and records with the tag `keep` do not change.

    \b
    Example:
        amp decay --apply
    """
    memory = open_memory(call, store, identity if apply else None)
    report = memory.decay(apply=apply)
    call.answer({"applied": apply, **report.to_json()}, _lines(memory, report, applied=apply))


_WORDS = {"done": "", "refused": "refused: ", "deferred": "waits: ", "protected": "kept: "}


def _lines(memory: Memory, report: Report, *, applied: bool, program: str = "") -> Iterator[str]:
    """Say what a pass has done, or would do, and what it leaves alone; and what of it a program has asked for."""
    actions = [(word, action) for kept, word in _WORDS.items() for action in getattr(report, kept)]
    records = {record.id: record for record in memory.records()} if actions else {}
    for word, action in actions:
        asked = f"  [{program}]" if program and action.by == program else ""
        yield f"{word}{action.kind}: {action.reason}{asked}"
        for one in action.ids:
            unknown = "(there is none)" if word else "(new)"
            yield f"  {one}  {short(records[one]) if one in records else unknown}"
    if not report.done:
        yield "there is nothing to do"
    elif not applied:
        note(NOT_APPLIED)

"""`amp consolidate` and `amp decay`: looking after records."""

import sys
from collections.abc import Iterator
from dataclasses import fields, replace

import click

from ..consolidation.pipeline import Operators
from ..consolidation.proposals import Report, Stage, Unreadable, kind_of
from ..errors import InvalidArgument
from ..memory import Memory
from ..text.phrases import counted
from .choosing import Choosing, ChoosingCommand, choosing_options
from .options import NOT_APPLIED, Call
from .printing import note
from .program import as_operator, seconds_option
from .record_options import identity_option, open_memory, record_options
from .records import short

UNREADABLE = kind_of(Unreadable(""))


@click.command("consolidate", cls=ChoosingCommand)
@click.option("--apply", is_flag=True, help="Do it. Without it, only what would be done is shown.")
@choosing_options("consolidate")
@click.option("--operator", metavar="COMMAND", help="Also ask this program: JSON in, JSON out. No shell runs it.")
@click.option(
    "--stage",
    "stages",
    multiple=True,
    type=click.Choice([field.name for field in fields(Operators)]),
    help="A stage to ask the program about; repeatable. Default: contradiction.",
)
@seconds_option
@identity_option
@record_options
def consolidate_command(
    call: Call,
    apply: bool,
    choosing: Choosing,
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

    Each proposal has an id that stays the same. What --refuse names is not proposed again.

    \b
    Examples:
        amp consolidate --apply
        amp consolidate --only 3fa29c01 --apply
        amp consolidate --operator "python3 judge.py"
    """
    judge = None if operator is None else as_operator(operator, call.actor(), seconds)
    if judge is None and (stages or seconds is not None):
        raise InvalidArgument("--stage and --seconds are for a program; name it with --operator")
    operators = Operators()
    for stage in dict.fromkeys(stages or [Stage.CONTRADICTION.value]) if judge else ():
        operators = replace(operators, **{stage: (*getattr(operators, stage), judge)})
    memory = open_memory(call, store, identity if apply else None, operators=operators)
    report = _chosen(call, memory, choosing, apply=apply)
    program = judge.name if judge else ""
    call.answer({"applied": apply, **report.to_json()}, _lines(memory, report, applied=apply, program=program))
    if judge and any(action.by == judge.name and action.kind == UNREADABLE for action in report.refused):
        sys.exit(4)


def _chosen(call: Call, memory: Memory, choosing: Choosing, *, apply: bool) -> Report:
    """Do what is chosen, or say what would be done. Where ids are named, it is planned first."""
    here, who = call.workspace(), call.actor()
    taken: set[str] | None = None

    def plan() -> Report:
        never = here.refused_proposals(who)
        return memory.consolidate(apply=False, takes=lambda one: one not in never)

    if choosing.only or choosing.without or choosing.refuse or choosing.forget_refusals:
        planned = choosing.settle(here, who, plan, lambda report: report.done)
        taken = {one.id for one in choosing.chosen([one for one in planned.done if one.id])}
        if not apply:
            return replace(planned, done=tuple(one for one in planned.done if not one.id or one.id in taken))
    never = here.refused_proposals(who)
    return memory.consolidate(apply=apply, takes=lambda one: one not in never and (taken is None or one in taken))


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
        named = f"{action.id}  " if action.id and not word else ""
        yield f"{named}{word}{action.kind}: {action.reason}{asked}"
        for one in action.ids:
            unknown = "(no such record)" if word else "(new)"
            yield f"  {one}  {short(records[one]) if one in records else unknown}"
    if report.left and applied:
        yield f"{counted(len(report.left), 'proposal')} left as {'it is' if len(report.left) == 1 else 'they are'}"
    if not report.done:
        yield "there is nothing to do"
    elif not applied:
        note(NOT_APPLIED)

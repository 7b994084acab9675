"""`amp distill` and `amp learn`: what conversations found reaches the agents who need it."""

import sys
from collections.abc import Iterator
from datetime import date

import click

from ..errors import InvalidArgument
from ..learning.insights import ADD, REMOVE
from ..project.access import Actor
from ..verbs.distill import Distillation, Distilled
from ..workspace import Workspace
from .options import NOT_APPLIED, Call, call_options, first_words, note, plain

_SIGNS = {ADD: "+", REMOVE: "-"}


@click.command("distill")
@click.option("--apply", "do", is_flag=True, help="Make the changes; without it, only the plan is shown.")
@click.option("--restore", "undo", is_flag=True, help="Go back to what was before a distillation.")
@click.option("--backup", metavar="NAME", help="With --restore: which one; by default the last.")
@call_options
def distill_command(call: Call, do: bool, undo: bool, backup: str | None) -> None:
    """Carry what conversations found to the memory that lasts.

    An insight that several conversations came to is proposed for the shared memory, a decision or lesson of one for
    the agent it is about. What names a file that is gone, or stands in two tiers, is proposed to go, and what a full
    shared file cannot hold, to move. --apply makes a backup first; where a change is refused, or a file cannot be read,
    the others are made, and the command ends with 3 or 4.

    \b
    Example:
        amp distill --apply
    """
    here, who = call.workspace(), call.actor()
    if undo:
        if do:
            raise InvalidArgument("--apply and --restore exclude each other")
        name, changed = here.restore_distillation(backup, actor=who)
        documents = [str(target) for target in changed]
        said = f"back at {name}: {', '.join(documents) or 'nothing had changed'}"
        call.answer({"backup": name, "documents": documents}, [said])
        return
    if backup is not None:
        raise InvalidArgument("--backup says what to go back to; add --restore")
    planned = here.plan_distillation(actor=who)
    code = _carry_out(call, here, who, planned, do=do)
    sys.exit(max(code, 4 if planned.problems else 0))


@click.command("learn")
@click.argument("conversation")
@click.option("--agent", metavar="NAME", help="Who learns what no other conversation confirms.")
@click.option("--apply", "do", is_flag=True, help="Save it; without it, only the plan is shown.")
@call_options
def learn_command(call: Call, conversation: str, agent: str | None, do: bool) -> None:
    """Carry what one conversation found to the memory that lasts.

    \b
    Example:
        amp learn c1 --agent developer --apply
    """
    here, who = call.workspace(), call.actor(conversation)
    planned = here.plan_learning(conversation, agent=agent, actor=who)
    sys.exit(_carry_out(call, here, who, planned, do=do))


def _carry_out(call: Call, here: Workspace, who: Actor, planned: Distillation, *, do: bool) -> int:
    """Make the changes, if asked to, and say what came of it; return the exit code of what was refused."""
    done = here.apply_distillation(planned, actor=who, today=date.today()) if do else None
    values = {
        "applied": do,
        "candidates": [one.to_json() for one in (done.done if done else planned.candidates)],
        "refused": [{**one.to_json(), "problem": str(error)} for one, error in (done.refused if done else ())],
        "waiting": planned.waiting,
        "backup": done.backup if done else "",
        "problems": [*planned.problems],
    }
    call.answer(values, _lines(planned, done))
    return max((error.exit_code for _, error in (done.refused if done else ())), default=0)


def _lines(planned: Distillation, done: Distilled | None) -> Iterator[str]:
    for problem in planned.problems:
        note(f"not read: {problem}")
    for one in done.done if done else planned.candidates:
        where = f"{one.target} · {one.section}" if one.section else str(one.target)
        yield f"{_SIGNS.get(one.action, '>')} {where}  {one.confidence:.1f}  {first_words(one.text)}"
        yield f"      {one.kind}: {plain(one.reason)}"
    for one, error in done.refused if done else ():
        note(f"not done: {first_words(one.text)}: {error}")
    if planned.waiting:
        more = "more waits" if planned.waiting == 1 else "more wait"
        yield f"{planned.waiting} {more} for another conversation to confirm what they say"
    if not planned.candidates:
        yield "nothing to distill"
    elif done is None:
        yield NOT_APPLIED
    elif not done.done:
        yield "nothing was changed"
    else:
        yield f"done; `amp distill --restore --backup {done.backup}` goes back"

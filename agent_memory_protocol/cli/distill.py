"""`amp distill` and `amp learn`: what conversations found reaches the agents who need it."""

import sys
from collections.abc import Sequence
from datetime import date
from typing import Any

import click

from ..errors import InvalidArgument
from ..learning.insights import ADD, REMOVE, Suggestion
from ..project.access import Actor
from ..verbs.distill import Distillation, Distilled
from ..workspace import Workspace
from .options import actor, as_option, first_words, json_option, note, plain, print_json, root_option, workspace

_VERBS = {ADD: "+", REMOVE: "-"}


@click.command("distill")
@click.option("--apply", "do", is_flag=True, help="Make the changes; without it, only the plan is shown.")
@click.option("--restore", "undo", is_flag=True, help="Go back to what was before a distillation.")
@click.option("--backup", metavar="NAME", help="With --restore: which one; by default the last.")
@json_option
@root_option
@as_option
def distill_command(
    do: bool, undo: bool, backup: str | None, as_json: bool, root: str | None, as_agent: str | None
) -> None:
    """Carry what conversations found to the memory that lasts.

    An insight that several conversations came to is proposed for the shared memory, a decision or lesson of one for
    the agent it is about. What names a file that is gone, or stands in two tiers, is proposed to go, and what a full
    shared file cannot hold, to move. --apply makes a backup first; where a change is refused, or a file cannot be read,
    the others are made, and the command ends with 3 or 4.

    \b
    Example:
        amp distill --apply
    """
    here, who = workspace(root), actor(as_agent)
    if undo:
        if do:
            raise InvalidArgument("--apply and --restore exclude each other")
        name, changed = here.restore_distillation(backup, actor=who)
        if as_json:
            print_json({"backup": name, "documents": [str(target) for target in changed]})
        else:
            click.echo(f"back at {name}: {', '.join(map(str, changed)) or 'nothing had changed'}")
        return
    if backup is not None:
        raise InvalidArgument("--backup says what to go back to; add --restore")
    planned = here.plan_distillation(actor=who)
    code = _carry_out(here, who, planned, do=do, as_json=as_json)
    sys.exit(max(code, 4 if planned.problems else 0))


@click.command("learn")
@click.argument("conversation")
@click.option("--agent", metavar="NAME", help="Who learns what no other conversation confirms.")
@click.option("--apply", "do", is_flag=True, help="Save it; without it, only the plan is shown.")
@json_option
@root_option
@as_option
def learn_command(
    conversation: str, agent: str | None, do: bool, as_json: bool, root: str | None, as_agent: str | None
) -> None:
    """Carry what one conversation found to the memory that lasts.

    \b
    Example:
        amp learn c1 --agent developer --apply
    """
    here, who = workspace(root), actor(as_agent, conversation)
    planned = here.plan_learning(conversation, agent=agent, actor=who)
    sys.exit(_carry_out(here, who, planned, do=do, as_json=as_json))


def _carry_out(here: Workspace, who: Actor, planned: Distillation, *, do: bool, as_json: bool) -> int:
    """Make the changes, if asked to, and say what came of it; return the exit code of what was refused."""
    done = here.apply_distillation(planned, actor=who, today=date.today()) if do else None
    candidates: Sequence[Suggestion] = planned.candidates if done is None else done.done
    refused = () if done is None else done.refused
    if as_json:
        answer = {
            "applied": do,
            "candidates": [_json(one) for one in candidates],
            "refused": [{**_json(one), "problem": str(error)} for one, error in refused],
            "waiting": planned.waiting,
            "backup": "" if done is None else done.backup,
            "problems": list(planned.problems),
        }
        print_json(answer)
    else:
        _tell(planned, candidates, done)
    return max((error.exit_code for _, error in refused), default=0)


def _tell(planned: Distillation, candidates: Sequence[Suggestion], done: Distilled | None) -> None:
    for problem in planned.problems:
        note(f"not read: {problem}")
    for one in candidates:
        _show(one)
    for one, error in () if done is None else done.refused:
        note(f"not done: {first_words(one.text)}: {error}")
    if planned.waiting:
        more = "more waits" if planned.waiting == 1 else "more wait"
        click.echo(f"{planned.waiting} {more} for another conversation to confirm what they say")
    if not planned.candidates:
        click.echo("nothing to distill")
    elif done is None:
        click.echo("nothing was changed; add --apply to do this")
    elif not done.done:
        click.echo("nothing was changed")
    else:
        click.echo(f"done; `amp distill --restore --backup {done.backup}` goes back")


def _show(one: Suggestion) -> None:
    where = f"{one.target} · {one.section}" if one.section else str(one.target)
    click.echo(f"{_VERBS.get(one.action, '>')} {where}  {one.confidence:.1f}  {first_words(one.text)}")
    click.echo(f"      {one.kind}: {plain(one.reason)}")


def _json(one: Suggestion) -> dict[str, Any]:
    return {
        "action": one.action,
        "kind": one.kind,
        "text": one.text,
        "target": str(one.target),
        "section": one.section,
        "entry_id": one.entry_id,
        "confidence": one.confidence,
        "reason": one.reason,
        "sightings": [
            {"conversation": seen.conversation, "line": seen.line, "in_design": seen.in_design}
            for seen in one.sightings
        ],
    }

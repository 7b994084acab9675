"""`amp distill`, `amp learn` and `amp close`: what conversations found reaches the agents who need it."""

import sys
from collections.abc import Iterator, Sequence
from datetime import date

import click

from ..errors import InvalidArgument
from ..learning.insights import ADD, REMOVE, Suggestion
from ..text.phrases import counted
from ..verbs.distill import Distillation, Distilled
from .choosing import Choosing, ChoosingCommand, choosing_options
from .options import NOT_APPLIED, Call, call_options, first_words, note
from .program import asked, asking_options

_SIGNS = {ADD: "+", REMOVE: "-"}
_apply = click.option("--apply", "do", is_flag=True, help="Make the changes that are safe, or those of --only.")


@click.command("distill", cls=ChoosingCommand)
@_apply
@choosing_options("distill")
@asking_options
@click.option("--restore", "undo", is_flag=True, help="Go back to the state before a distillation.")
@click.option("--backup", metavar="NAME", help="With --restore: the backup to use. Default: the last.")
@call_options
def distill_command(
    call: Call,
    do: bool,
    choosing: Choosing,
    operator: str | None,
    seconds: float | None,
    undo: bool,
    backup: str | None,
) -> None:
    """Copy lessons from conversations into lasting memory.

    It proposes an insight of several conversations for shared memory. It proposes a decision or lesson of one
    conversation for the agent it is about. It proposes to remove entries that name a missing file or are in two tiers.
    It proposes to move entries that a full shared file cannot hold.

    Each proposal has an id that stays the same. --apply makes the safe changes: additions, and removals of exact
    duplicates. --only makes the others. amp makes a backup first. It ends with 3 or 4 if a change was refused or a file
    could not be read; the other changes are made.

    With --operator, amp also asks a program, after its rules, which wordings say the same. It gets the question of the
    stage dedup of `amp consolidate`. A text and what denies it never count as the same.

    \b
    Examples:
        amp distill --apply
        amp distill --operator "python3 judge.py"
        amp distill --only 3fa29c01 --apply
        amp distill --refuse 3fa29c01
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
    judge = asked(operator, who, seconds)
    planned = choosing.settle(here, who, lambda: here.plan_distillation(operator=judge, actor=who), candidates_of)
    done = None
    if do:
        done = here.apply_distillation(
            planned, only=choosing.only, without=choosing.without, actor=who, today=date.today()
        )
    call.answer(_values(planned, done), _lines(planned, done, "distill"))
    sys.exit(max(_code(done), 4 if planned.problems or planned.failures else 0))


@click.command("learn", cls=ChoosingCommand)
@click.argument("conversation")
@click.option("--agent", metavar="NAME", help="The agent that learns what only this conversation says.")
@_apply
@choosing_options("learn")
@asking_options
@call_options
def learn_command(
    call: Call,
    conversation: str,
    agent: str | None,
    do: bool,
    choosing: Choosing,
    operator: str | None,
    seconds: float | None,
) -> None:
    """Copy lessons from one conversation into lasting memory. It may be closed already.

    \b
    Examples:
        amp learn c1 --agent developer --apply
        amp learn c1 --except 3fa29c01 --apply
    """
    here, who = call.workspace(), call.actor(conversation)
    judge = asked(operator, who, seconds)
    planned = choosing.settle(
        here, who, lambda: here.plan_learning(conversation, agent=agent, operator=judge, actor=who), candidates_of
    )
    done = None
    if do:
        done = here.apply_distillation(
            planned, only=choosing.only, without=choosing.without, actor=who, today=date.today()
        )
    call.answer(_values(planned, done), _lines(planned, done, "learn"))
    sys.exit(max(_code(done), 4 if planned.failures else 0))


@click.command("close", cls=ChoosingCommand)
@click.argument("conversation")
@_apply
@choosing_options("learn")
@asking_options
@call_options
def close_command(
    call: Call, conversation: str, do: bool, choosing: Choosing, operator: str | None, seconds: float | None
) -> None:
    """End a conversation: keep what it taught, archive the rest.

    It proposes lessons as `amp learn` does. The entries move to the ledger next to the document; `amp restore`, `amp
    search --history` and `amp learn` still find them. If a change was refused, the conversation stays open.

    \b
    Examples:
        amp close c1
        amp close c1 --apply
    """
    here, who = call.workspace(), call.actor(conversation)
    judge = asked(operator, who, seconds)
    planned = here.plan_closing(conversation, operator=judge, actor=who)
    if choosing.refuse or choosing.forget_refusals:
        choosing.settle(here, who, lambda: planned.kept, candidates_of)
        planned = here.plan_closing(conversation, operator=judge, actor=who)
    kept = planned.kept
    closed = None
    if do:
        closed = here.close(planned, only=choosing.only, without=choosing.without, actor=who, today=date.today())
    done = closed.kept if closed else None
    gone = closed.archived if closed else planned.entries
    values = {
        **_values(kept, done),
        "proposals": [one.to_json() for one in kept.candidates],
        "archived": [one.to_json() for one in gone],
    }
    call.answer(values, [*_lines(kept, done, "close", alone=False), *_closing(planned.target.owner, len(gone), done)])
    sys.exit(max(_code(done), 4 if kept.failures else 0))


def candidates_of(planned: Distillation) -> Sequence[Suggestion]:
    """Return the proposals of a plan."""
    return planned.candidates


def _closing(conversation: str, count: int, done: Distilled | None) -> Iterator[str]:
    if done is not None and done.refused:
        yield f"{conversation} stays open, since a change was refused"
    elif not count:
        yield f"{conversation} is closed already"
    elif done is not None:
        yield f"closed {conversation}: {counted(count, 'entry')} archived; `amp restore --last` brings them back"
    else:
        yield f"{counted(count, 'entry')} would go to the ledger of {conversation}"
        yield NOT_APPLIED


def _code(done: Distilled | None) -> int:
    return max((error.exit_code for _, error in done.refused), default=0) if done else 0


def _values(planned: Distillation, done: Distilled | None) -> dict[str, object]:
    return {
        "applied": done is not None,
        "candidates": [one.to_json() for one in (done.done if done else planned.candidates)],
        "refused": [{**one.to_json(), "problem": str(error)} for one, error in (done.refused if done else ())],
        "waiting": planned.waiting,
        "backup": done.backup if done else "",
        "problems": [*planned.problems, *planned.failures],
    }


def _lines(planned: Distillation, done: Distilled | None, verb: str, *, alone: bool = True) -> Iterator[str]:
    for problem in planned.problems:
        note(f"not read: {problem}")
    for failure in planned.failures:
        note(f"{failure}; the rest is planned without it")
    for number, one in enumerate(done.done if done else planned.candidates, 1):
        yield from _proposal(number, one, asks=done is None)
    for one, error in done.refused if done else ():
        note(f"not done: {one.id} {first_words(one.text)}: {error}")
    if planned.waiting:
        more = "more waits" if planned.waiting == 1 else "more wait"
        yield f"{planned.waiting} {more} for another conversation to confirm what they say"
    left = [one for one in planned.candidates if done and not one.is_safe and one not in done.done]
    if left and not (done and done.refused):
        ids = " ".join(one.id for one in left)
        yield f"{len(left)} more would take something out: `amp {verb} --only {ids} --apply`"
    if not planned.candidates:
        if alone:
            yield "nothing to distill"
    elif done is None:
        if alone:
            yield NOT_APPLIED
    elif not done.done:
        yield "nothing was changed"
    else:
        yield f"done; `amp distill --restore --backup {done.backup}` goes back"


def _proposal(number: int, one: Suggestion, *, asks: bool) -> Iterator[str]:
    where = f"{one.target} · {one.section}" if one.section else str(one.target)
    yield f"{number:>3}  {one.id}  {_SIGNS.get(one.action, '>')} {where}  {one.confidence:.1f}  {first_words(one.text)}"
    wants = "" if one.is_safe or not asks else f"; only with --only {one.id}"
    yield f"               {one.kind}: {one.reason}{wants}"

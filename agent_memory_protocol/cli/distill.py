"""`amp distill`, `amp learn` and `amp close`: what conversations found reaches the agents who need it."""

import sys
from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import date
from typing import cast

import click

from ..errors import InvalidArgument
from ..learning.insights import ADD, REMOVE, Suggestion
from ..project.access import Actor
from ..text.phrases import counted
from ..verbs.close import Closed, Closing
from ..verbs.distill import Distillation, Distilled
from ..workspace import Workspace
from .choosing import Choosing, ChoosingCommand, choosing_options
from .options import NOT_APPLIED, Call, call_options
from .printing import first_words, note, own_words
from .program import asked, asking_options

_MOST_IDS = 8  # Of more proposals that are left, the ids are not repeated

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

    With --operator, amp also asks a program, after its rules, which wordings say the same. It is asked as in
    the stage dedup of `amp consolidate`. A text and what denies it never count as the same.

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
    code = _answer(call, here, planned, who, choosing if do else None, "distill")
    sys.exit(max(code, 4 if planned.problems or planned.failures else 0))


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
    code = _answer(call, here, planned, who, choosing if do else None, "learn")
    sys.exit(max(code, 4 if planned.failures else 0))


def _answer(
    call: Call, here: Workspace, planned: Distillation, who: Actor | None, chosen: Choosing | None, verb: str
) -> int:
    """Answer a plan, or, with what is chosen of it, make the changes and answer what came of them."""
    done = None
    if chosen is not None:
        done = here.apply_distillation(planned, only=chosen.only, without=chosen.without, actor=who, today=date.today())
    call.answer(planned.to_json(done), _lines(planned, done, verb))
    return _code(done)


@click.command("close", cls=ChoosingCommand)
@click.argument("conversations", nargs=-1, metavar="[CONVERSATION]...")
@click.option("--over", is_flag=True, help="All conversations with nothing new in the last 30 days.")
@_apply
@choosing_options("learn")
@asking_options
@call_options
def close_command(
    call: Call,
    conversations: tuple[str, ...],
    over: bool,
    do: bool,
    choosing: Choosing,
    operator: str | None,
    seconds: float | None,
) -> None:
    """End conversations: keep what they taught, archive the rest.

    It proposes lessons as `amp learn` does. The entries move to the ledger next to the document; `amp restore`, `amp
    search --history` and `amp learn` still find them. If a change was refused, the conversation stays open.

    \b
    Examples:
        amp close c1
        amp close --over --apply
    """
    here, judge = call.workspace(), asked(operator, call.actor(), seconds)
    names = list(dict.fromkeys(conversations))
    if over:
        names += [one for one in here.conversations_over(call.actor()) if one not in names]
    elif not names:
        raise InvalidArgument("name the conversations to close, or say --over for all that are over")

    def plan(name: str) -> Closing:
        return here.plan_closing(name, operator=judge, actor=call.actor(name))

    def plan_all() -> tuple[dict[str, Closing], list[Suggestion]]:
        plans = {name: plan(name) for name in names}
        return plans, list({one.id: one for each in plans.values() for one in each.kept.candidates}.values())

    plans, proposed = plan_all()
    if choosing.refuse or choosing.forget_refusals:
        choosing.settle(here, call.actor(), lambda: proposed, list)
        plans, proposed = plan_all()
    taken = {one.id for one in choosing.chosen(proposed)}
    answers = []
    for number, name in enumerate(names):
        planned = plan(name) if do and number else plans[name]  # what came in from the one before counts
        closed = None
        if do:
            own = [one.id for one in planned.kept.candidates]
            chosen = [one for one in own if one in taken]
            only = chosen if choosing.only else []
            without = [one for one in own if one not in chosen] if not only else []
            closed = here.close(planned, only=only, without=without, actor=call.actor(name), today=date.today())
        answers.append((planned, closed))
    call.answer(_closing_values(answers, applied=do), _closing_lines(answers))
    done = [closed.kept for _, closed in answers if closed is not None]
    failed = any(planned.kept.failures for planned, _ in answers)
    sys.exit(max([*map(_code, done), 4 if failed else 0]))


_Answers = Sequence[tuple[Closing, Closed | None]]


def _closing_values(answers: _Answers, *, applied: bool) -> dict[str, object]:
    """Return the JSON answer: that for each conversation, their lists one after another."""
    values: dict[str, object] = {"applied": applied, "waiting": 0, "backup": ""}
    lists: dict[str, list[object]] = {key: [] for key in ("candidates", "refused", "problems", "proposals", "archived")}
    for planned, closed in answers:
        row = planned.to_json(closed)
        for key, found in lists.items():
            found += [one for one in cast("list[object]", row[key]) if one not in found]
        values |= {key: row[key] for key in ("waiting", "backup")}
    return {**values, **lists}


def _closing_lines(answers: _Answers) -> Iterator[str]:
    shown: set[str] = set()
    lone = 0
    for planned, closed in answers:
        kept = planned.kept if len(answers) == 1 else replace(planned.kept, waiting=0)
        new = tuple(one for one in kept.candidates if one.id not in shown)
        if len(answers) > 1 and not (closed and closed.kept.refused):
            lone += sum(one.is_unconfirmed for one in new)
            new = tuple(one for one in new if not one.is_unconfirmed)
        shown |= {one.id for one in new}
        done = closed.kept if closed else None
        yield from _lines(replace(kept, candidates=new), done, "close", alone=False)
        count = len(closed.archived if closed else planned.entries)
        yield from _closing(planned.target.owner, count, done, alone=len(answers) == 1)
    if lone:
        facts = counted(lone, "fact")
        yield own_words(f"{facts} that only one conversation said: `amp learn CONVERSATION` shows them, closed or not")
    if len(answers) > 1 and all(closed is not None for _, closed in answers):
        yield own_words(f"`amp restore --since {date.today()}` lists what can come back")
    if not answers:
        yield "no conversation is over"
    elif any(closed is None for _, closed in answers):
        yield NOT_APPLIED


def candidates_of(planned: Distillation) -> Sequence[Suggestion]:
    """Return the proposals of a plan."""
    return planned.candidates


def _closing(conversation: str, count: int, done: Distilled | None, *, alone: bool) -> Iterator[str]:
    if done is not None and done.refused:
        yield f"{conversation} stays open, since a change was refused"
    elif not count:
        yield f"{conversation} is closed already"
    elif done is not None:
        back = own_words("; `amp restore --last` brings them back") if alone else ""
        yield f"closed {conversation}: {counted(count, 'entry')} archived{back}"
    else:
        yield f"{counted(count, 'entry')} would go to the ledger of {conversation}"


def _code(done: Distilled | None) -> int:
    return max((error.exit_code for _, error in done.refused), default=0) if done else 0


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
        ids = " ".join(one.id for one in left) if len(left) <= _MOST_IDS else "ID…"
        more = f"{len(left)} more {'is' if len(left) == 1 else 'are'}"
        yield own_words(f"{more} done only if chosen: `amp {verb} --only {ids} --apply`")
    if not planned.candidates:
        if alone:
            yield "nothing to distill"
    elif done is None:
        if alone:
            yield NOT_APPLIED
    elif not done.done:
        yield "nothing was changed"
    else:
        yield own_words(f"done; `amp distill --restore --backup {done.backup}` goes back")


def _proposal(number: int, one: Suggestion, *, asks: bool) -> Iterator[str]:
    where = f"{one.target} · {one.section}" if one.section else str(one.target)
    yield f"{number:>3}  {one.id}  {_SIGNS.get(one.action, '>')} {where}  {one.confidence:.1f}  {first_words(one.text)}"
    wants = "" if one.is_safe or not asks else f"; only with --only {one.id}"
    yield f"               {one.kind}: {one.reason}{wants}"
    yield from (f"               or: {first_words(text)}" for text in one.wordings)

"""`amp prune`: what is outdated, shown as a plan and then taken out."""

import shlex
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from datetime import date

import click

from ..layout import Target, parse_target
from ..text.phrases import counted
from ..tiers.prune import Judged
from ..verbs.prune import parse_age
from ..verbs.upkeep_answers import Pruning, Removed
from .cells import cells
from .options import NOT_APPLIED, Call, call_options, conversation_option
from .printing import first_words, note, own_command, own_words, progress
from .write import parse_date

_LISTS = ("removals", "kept", "old_sections", "held", "ended", "unneeded", "problems")
# Of what stays, this is listed; the rest is counted
_WORTH_A_LINE = ("kept", "future", "suspicious", "newer", "held", "stuck")
_FEW = 3  # Of more conversations that are over, one line tells


@click.command("prune")
@click.argument("targets", nargs=-1, metavar="[TARGET]...")
@click.option("--older-than", metavar="AGE", help="90d, 12w or a date; default: the setting prune.older_than (90d).")
@click.option("--sections", is_flag=True, help="Also remove entries whose section has an old date.")
@click.option("--to-limit", is_flag=True, help="Remove the oldest dated entries until the file fits its limit.")
@click.option("--today", "day", metavar="YYYY-MM-DD", help="The day to count from; default: today.")
@click.option("--apply", is_flag=True, help="Apply the plan. Without it, amp only shows the plan.")
@click.option("--force", is_flag=True, help="Also prune a file that would lose more than half of its entries.")
@conversation_option
@call_options
def prune_command(
    call: Call,
    targets: tuple[str, ...],
    older_than: str | None,
    sections: bool,
    to_limit: bool,
    day: str | None,
    apply: bool,
    force: bool,
    conversation: str | None,
) -> None:
    """Remove old dated entries from memory files. It also removes expired ones; undated or [keep] entries stay.

    TARGET is shared, agent:NAME or conversation:ID; default: all files. The ledger next to the file keeps removed
    entries; `amp restore` brings them back. If a file would lose more than half of its entries, amp does not change it
    (exit code 3). Exit code 4: a file could not be read. The other files are pruned.

    \b
    Examples:
        amp prune
        amp prune shared --older-than 12w --apply
        amp prune agent:developer --to-limit --apply
    """
    here = call.workspace()
    who = call.actor(conversation)
    today = parse_date(day) if day else date.today()
    age = parse_age(older_than, today) if older_than else None
    chosen = [parse_target(target) for target in targets] if targets else None

    plans = here.plan_pruning(
        chosen,
        actor=who,
        older_than=age,
        sections=sections,
        to_limit=to_limit,
        today=today,
        progress=progress("planning"),
    )
    there = here.targets(who)
    for target in dict.fromkeys(chosen or ()):
        if target not in there:
            note(f"{target.path} does not exist yet")
    gone: list[Removed] = []
    if apply:
        again: dict[Target, Pruning] = {}

        def planned_again(plan: Pruning) -> None:
            note(f"{plan.target.path} was changed after the plan was made; plan again")
            again[plan.target] = plan

        gone = here.apply_pruning(
            plans,
            actor=who,
            force=force,
            progress=progress("pruning"),
            again=planned_again,
        )
        plans = [again.get(plan.target, plan) for plan in plans]
    rows = [plan.to_json() for plan in plans]
    lists = {key: [one for row in rows for one in row[key]] for key in _LISTS}
    left = [plan for plan in plans if plan.held and not force] if apply else []
    call.answer({"applied": apply, **lists}, _lines(plans, gone, left, applied=apply))
    sys.exit(4 if any(plan.problem for plan in plans) else 3 if left else 0)


def _lines(
    plans: Sequence[Pruning], gone: Sequence[Removed], left: Sequence[Pruning], *, applied: bool
) -> Iterator[str]:
    ended = [plan for plan in plans if plan.ended]
    for plan in plans:
        yield from _plan_lines(plan, applied=applied and plan not in left, names_end=len(ended) <= _FEW)
    if len(ended) > _FEW:
        named = ", ".join(plan.target.owner for plan in ended)
        yield f"{len(ended)} conversations with nothing new for 30 days: {named}"
        yield own_words("         `amp close --over` keeps what is worth it and archives the rest")
    if applied and gone:
        yield own_words(f"{counted(len(gone), 'entry')} archived; `amp restore --last` shows how to bring them back")
    elif not any(plan.removals for plan in plans):
        yield "nothing is outdated"
    elif not applied:
        yield NOT_APPLIED
    for plan in plans:
        if plan.problem:
            note(plan.problem)


def _plan_lines(plan: Pruning, *, applied: bool, names_end: bool) -> Iterator[str]:
    causes = Counter(one.cause for one in plan.kept)
    listed = [one for one in plan.kept if one.cause in _WORTH_A_LINE]
    if plan.ended and names_end:
        close = own_command(f"amp close {shlex.quote(plan.target.owner)}")
        yield f"{plan.target}  nothing new since {plan.ended}: `{close}` keeps what is worth it and archives the rest"
    if plan.unneeded:
        told = f"{plan.target}  {counted(plan.unneeded, 'entry')} not needed here for 90 days; `amp review` lists them"
        yield own_words(told)
    if not (plan.removals or listed or causes["section"] or any(plan.still_over)):
        return
    total = counted(len(plan.removals) + len(plan.kept), "entry")
    yield f"{plan.target}  {plan.target.path}: {len(plan.removals)} of {total} {'went' if applied else 'would go'}"
    for one in plan.removals:
        why = f"{one.reason}: " if one.cause == "expired" else ""
        yield f"  -{one.line:>5}  {_when(one)}  {why}{first_words(one.alone, behind=22 + cells(why))}"
    for one in listed:
        words = "" if one.cause == "held" else first_words(one.alone, 50)  # what is held has a secret in it
        yield f"  ={one.line:>5}  stays: {one.reason}  {words}".rstrip()
    for line, text, day, count in () if applied else _waiting(plan):
        taken = f"--sections takes its {counted(count, 'entry')}"
        yield f"  #{line:>5}  old section of {day.isoformat()}: {text}; {taken}"
    said = [f"{causes[cause]} {cause}" for cause in ("undated", "recent") if causes[cause]]
    if said:
        yield f"         stay: {', '.join(said)}"
    if any(plan.still_over):
        over, size = plan.still_over
        more = "--to-limit takes more" if causes["recent"] else "no other entry can be removed by its date"
        yield f"         still over its limit by {over} lines and {size:,} bytes; {more}"
        if not causes["recent"]:
            yield own_words("         merge entries, or remove some with `amp forget`")
    if plan.held and not applied:
        yield f"         more than half would go: `{own_command(plan.by_force)}` does it"


def _waiting(plan: Pruning) -> list[tuple[int, str, date, int]]:
    """Return the old sections of a document, and how many entries `--sections` would take from each."""
    counts: Counter[int] = Counter()
    for one in plan.kept:
        if one.cause == "section":
            # An entry is dated by the nearest of the headings above it that has a date.
            counts[
                max((line for line, _, day in plan.old_sections if line < one.line and day == one.date), default=0)
            ] += 1
    return [(line, text, day, counts[line]) for line, text, day in plan.old_sections if counts[line]]


def _when(one: Judged) -> str:
    day = one.date.isoformat() if one.date else "-" * 10
    source = "" if one.date_source in ("", "own mark") else f" ({one.date_source})"
    return f"{day}{source}"

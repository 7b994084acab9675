"""`amp prune`: what is outdated, shown as a plan and then taken out."""

import sys
from collections import Counter
from collections.abc import Sequence
from datetime import date, timedelta

import click

from ..errors import InvalidArgument
from ..layout import Target, parse_target
from ..text.phrases import counted
from ..tiers.prune import Judged
from ..verbs.upkeep import PlanOutdated
from ..verbs.upkeep_answers import Pruning, Removed
from .options import (
    actor,
    as_option,
    conversation_option,
    first_words,
    json_option,
    note,
    plain,
    print_json,
    progress,
    root_option,
    target_json,
    workspace,
)
from .write import parse_date

_WORTH_A_LINE = ("kept", "future", "suspicious", "held", "stuck")
"""Of what stays, this is listed; the rest is counted."""


@click.command("prune")
@click.argument("targets", nargs=-1, metavar="[TARGET]...")
@click.option("--older-than", metavar="AGE", help="90d, 12w or a date; default: the setting prune.older_than (90d).")
@click.option("--sections", is_flag=True, help="Also take entries whose section is dated, once that is old.")
@click.option("--to-limit", is_flag=True, help="Take the oldest dated entries until the file fits its limit.")
@click.option("--today", "day", metavar="YYYY-MM-DD", help="The day to count from; default: today.")
@click.option("--apply", is_flag=True, help="Do it. Without this, the plan is shown and nothing is changed.")
@click.option("--force", is_flag=True, help="Also where more than half of a file's entries would go.")
@conversation_option
@json_option
@root_option
@as_option
def prune_command(
    targets: tuple[str, ...],
    older_than: str | None,
    sections: bool,
    to_limit: bool,
    day: str | None,
    apply: bool,
    force: bool,
    conversation: str | None,
    as_json: bool,
    root: str | None,
    as_agent: str | None,
) -> None:
    """Take outdated dated entries out of memory files. Undated entries stay, and those marked [keep].

    TARGET is shared, agent:NAME or conversation:ID; without one, all files. What goes is kept in the ledger beside
    the file; `amp restore` brings it back. Ends with exit code 4 when a file cannot be read; the others are pruned.

    \b
    Examples:
        amp prune
        amp prune shared --older-than 12w --apply
        amp prune agent:developer --to-limit --apply
    """
    here = workspace(root)
    who = actor(as_agent, conversation)
    today = parse_date(day) if day else date.today()
    age = parse_age(older_than, today) if older_than else None
    chosen = [parse_target(target) for target in targets] if targets else None

    def make_plans(chosen: Sequence[Target] | None) -> list[Pruning]:
        return here.plan_pruning(
            chosen,
            actor=who,
            older_than=age,
            sections=sections,
            to_limit=to_limit,
            today=today,
            progress=progress("planning"),
        )

    plans = make_plans(chosen)
    there = here.targets(who)
    for target in dict.fromkeys(chosen or ()):
        if target not in there:
            note(f"{target.path} does not exist yet")
    gone: list[Removed] = []
    if apply:
        try:
            gone = here.apply_pruning(plans, actor=who, force=force, progress=progress("pruning"))
        except PlanOutdated as error:
            note(str(error))
            again = make_plans(error.targets)
            gone = [*error.removed, *here.apply_pruning(again, actor=who, force=force)]
            plans = [*(plan for plan in plans if plan.target not in error.targets), *again]
    problems = [plan.problem for plan in plans if plan.problem]
    if as_json:
        print_json(_pruning_json(plans, applied=apply))
    else:
        _say_plans(plans, gone, applied=apply)
        for problem in problems:
            note(problem)
    sys.exit(4 if problems else 0)


def _say_plans(plans: Sequence[Pruning], gone: Sequence[Removed], *, applied: bool) -> None:
    for line in _plan_lines(plans, applied=applied):
        click.echo(line)
    if applied and gone:
        click.echo(f"{counted(len(gone), 'entry')} archived; `amp restore --last` shows how to bring them back")
    elif not any(plan.removals for plan in plans):
        click.echo("nothing is outdated")
    elif not applied:
        click.echo("nothing was changed; add --apply to do this")


def parse_age(text: str, today: date) -> timedelta:
    """Read an age: `90d`, `12w`, `1y`, a number of days, or a date, which means older than that day."""
    if "-" in text:
        age = today - parse_date(text)
        if age < timedelta():
            raise InvalidArgument(f"{text} lies in the future; give a day that has passed, or an age such as 90d")
        return age
    from ..project.settings import parse_days

    days = parse_days(text)
    if days is None:
        raise InvalidArgument(f"{text!a} is no age; write 90d, 12w or a date such as 2026-01-31")
    return timedelta(days=days)


def _plan_lines(plans: Sequence[Pruning], *, applied: bool) -> list[str]:
    lines = []
    for plan in plans:
        listed = [one for one in plan.kept if one.cause in _WORTH_A_LINE]
        sections = _waiting(plan) if not applied else []
        if not (plan.removals or listed or any(one.cause == "section" for one in plan.kept) or any(plan.still_over)):
            continue
        total = len(plan.removals) + len(plan.kept)
        verb = "went" if applied else "would go"
        lines.append(f"{plan.target}  {plan.target.path}: {len(plan.removals)} of {counted(total, 'entry')} {verb}")
        lines += [f"  -{one.line:>5}  {_when(one)}  {first_words(one.text, behind=22)}" for one in plan.removals]
        lines += [f"  ={one.line:>5}  stays: {one.reason}  {_words_of_what_stays(one)}".rstrip() for one in listed]
        for line, text, day, count in sections:
            taken = f"--sections takes its {counted(count, 'entry')}"
            lines.append(f"  #{line:>5}  old section of {day.isoformat()}: {plain(text)}; {taken}")
        counts = {cause: sum(one.cause == cause for one in plan.kept) for cause in ("undated", "recent")}
        said = [f"{count} {cause}" for cause, count in counts.items() if count]
        if said:
            lines.append(f"         stay: {', '.join(said)}")
        if any(plan.still_over):
            over, size = plan.still_over
            has_more = any(one.cause == "recent" for one in plan.kept)
            more = "--to-limit takes more" if has_more else "nothing else may go by its date"
            lines.append(f"         still over its limit by {over} lines and {size:,} bytes; {more}")
            if not has_more:
                lines.append("         merge entries, or take some out with `amp forget`")
        if plan.plan is not None and plan.plan.drops_most and not applied:
            lines.append("         more than half of the entries: --apply needs --force")
    return lines


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
    source = "" if one.date_source == "own mark" else f" ({one.date_source})"
    return f"{day}{source}"


def _words_of_what_stays(one: Judged) -> str:
    # What is held holds a secret.
    return "" if one.cause == "held" else first_words(one.text, 50)


def _pruning_json(plans: Sequence[Pruning], *, applied: bool) -> dict[str, object]:
    return {
        "applied": applied,
        "removals": [_judged_json(plan.target, one) for plan in plans for one in plan.removals],
        "kept": [_judged_json(plan.target, one) for plan in plans for one in plan.kept],
        "old_sections": [
            {**target_json(plan.target), "line": line, "section": text, "date": day.isoformat()}
            for plan in plans
            for line, text, day in plan.old_sections
        ],
        "problems": [plan.problem for plan in plans if plan.problem],
    }


def _judged_json(target: Target, one: Judged) -> dict[str, object]:
    return {
        "id": one.id,
        **target_json(target),
        "line": one.line,
        "date": one.date.isoformat() if one.date else None,
        "date_source": one.date_source or None,
        "section": one.section,
        "text": one.text,
        "cause": one.cause,
        "reason": one.reason,
    }

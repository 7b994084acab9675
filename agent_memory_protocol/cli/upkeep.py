"""`amp prune`, `restore`, `forget`, `edit` and `sync`: keep memory current, and lose nothing."""

import sys
from collections import Counter
from collections.abc import Sequence
from datetime import date, timedelta

import click

from agent_memory_protocol.answers import Pruning, Removed, Restorable, Synced
from agent_memory_protocol.errors import InvalidArgument
from agent_memory_protocol.layout import Target, parse_target
from agent_memory_protocol.ledger import way_back
from agent_memory_protocol.tiers.prune import Judged
from agent_memory_protocol.upkeep import PlanOutdated

from .options import (
    TextCommand,
    actor,
    as_option,
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
from .write import parse_date, read_text

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
    who = actor(as_agent)
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
        click.echo(f"{_entries(len(gone))} archived; `amp restore --last` shows how to bring them back")
    elif not any(plan.removals for plan in plans):
        click.echo("nothing is outdated")
    elif not applied:
        click.echo("nothing was changed; add --apply to do this")


@click.command("restore")
@click.argument("entry_ids", nargs=-1, metavar="[ID]...")
@click.option("--last", is_flag=True, help="What the last command took out.")
@click.option("--since", metavar="YYYY-MM-DD", help="What was taken out since that day (UTC).")
@click.option("--list", "only_list", is_flag=True, help="List what can be restored.")
@click.option("--apply", is_flag=True, help="Do it. Without this, only what would come back is shown.")
@json_option
@root_option
@as_option
def restore_command(
    entry_ids: tuple[str, ...],
    last: bool,
    since: str | None,
    only_list: bool,
    apply: bool,
    as_json: bool,
    root: str | None,
    as_agent: str | None,
) -> None:
    """Bring entries back from the ledger. They go to where they stood, as near as can be told.

    \b
    Examples:
        amp restore --list
        amp restore --last --apply
    """
    here = workspace(root)
    who = actor(as_agent)
    chosen = here.restorable(entry_ids, actor=who, last=last, since=parse_date(since) if since else None)
    if apply and not (entry_ids or last or since):
        raise InvalidArgument(
            "which entries? name their ids, or say --last or --since; `amp restore --list` shows them"
        )
    problems: tuple[str, ...] = ()
    if apply and not only_list:
        back = here.restore(chosen, actor=who)
        problems = back.problems
        if as_json:
            entries = [{"id": entry.id, **target_json(entry.target), "line": entry.line} for entry in back.entries]
            print_json({"restored": entries, "notes": list(back.notes), "problems": list(problems)})
        else:
            for entry in back.entries:
                click.echo(f"restored: {entry.target.path}:{entry.line}  [{entry.id}]")
            for path in back.notes:
                click.echo(f"restored: {path}")
    elif as_json:
        print_json({"entries": [_restorable_json(one) for one in chosen]})
    else:
        for one in chosen:
            words = first_words(one.archived.taken.markdown)
            click.echo(f"{one.archived.taken.id:<14}  {one.archived.removed_at[:10]}  {one.target}  {words}")
            click.echo(f"{'':<14}  {plain(one.archived.reason)}")
        if chosen and not only_list:
            way = "add --apply" if entry_ids or last or since else "say their ids, or --last, with --apply"
            click.echo(f"nothing was changed; {way} to bring {'it' if len(chosen) == 1 else 'these'} back")
    if not chosen:
        note("there is nothing to restore")
    if not as_json:
        for problem in problems:
            note(problem)
    sys.exit(3 if problems else 0)


@click.command("forget")
@click.argument("entry_ids", nargs=-1, required=True, metavar="ID...")
@click.option("--reason", metavar="R", default="forgotten", help="Why; kept in the ledger.")
@click.option("--redact", is_flag=True, help="Take the text out of ledger and journal as well: for secrets.")
@json_option
@root_option
@as_option
def forget_command(
    entry_ids: tuple[str, ...], reason: str, redact: bool, as_json: bool, root: str | None, as_agent: str | None
) -> None:
    """Remove entries by id. Their text stays in the ledger, except with --redact.

    \b
    Examples:
        amp forget 3f9a1c2b7d10 --reason "no longer true since 2.0"
        amp forget 3f9a1c2b7d10 --redact
    """
    here = workspace(root)
    who = actor(as_agent)
    if redact:
        redacted = here.redact(entry_ids, actor=who)
        if as_json:
            rows = [{"id": one.id, **target_json(one.target), "elsewhere": list(one.elsewhere)} for one in redacted]
            print_json({"redacted": rows})
        for one in redacted:
            if not as_json:
                where = "document, " if one.was_in_document else ""
                click.echo(f"redacted: {one.id} from {where}ledger and journal of {one.target}")
            for path in one.elsewhere:
                note(f"the same text also stands in {path}")
        note("git history still has what was committed; rewrite it, or replace the secret")
        return
    gone = here.forget(entry_ids, actor=who, reason=reason)
    if as_json:
        print_json({"forgotten": [{"id": one.id, **target_json(one.target)} for one in gone]})
        return
    for removed in gone:
        click.echo(f"forgotten: {removed.id} from {removed.target}: {first_words(removed.text)}")
    click.echo(f"`amp restore --last --apply` brings {'it' if len(gone) == 1 else 'them'} back")


@click.command("edit", cls=TextCommand)
@click.argument("entry_id", metavar="ID")
@click.argument("text")
@json_option
@root_option
@as_option
def edit_command(entry_id: str, text: str, as_json: bool, root: str | None, as_agent: str | None) -> None:
    """Put TEXT in the place of an entry. Its date stays unless TEXT begins with one; `-` reads stdin.

    \b
    Example:
        amp edit 3f9a1c2b7d10 "Redis needs AOF on since 7.2."
    """
    done = workspace(root).edit(entry_id, read_text(text), actor=actor(as_agent))
    if as_json:
        print_json(
            {"id": done.entry.id, "old_id": done.old_id, **target_json(done.entry.target), "line": done.entry.line}
        )
    else:
        click.echo(f"edited: {done.entry.target.path}:{done.entry.line}  [{done.entry.id}], was [{done.old_id}]")


@click.command("sync")
@click.option("--apply", is_flag=True, help="Do it. Without this, only what would happen is shown.")
@json_option
@root_option
@as_option
def sync_command(apply: bool, as_json: bool, root: str | None, as_agent: str | None) -> None:
    """Put back remembered entries that another program overwrote.

    What was taken out by hand is noted in the ledger.

    Ends with exit code 4 when a file could not be healed; the others are.

    \b
    Example:
        amp sync --apply
    """
    found = workspace(root).sync(actor=actor(as_agent), apply=apply)
    if as_json:
        print_json({"applied": apply, "documents": [_synced_json(one) for one in found]})
    else:
        _say_healing(found, applied=apply)
    sys.exit(4 if any(one.problem for one in found) else 0)


def _say_healing(found: Sequence[Synced], *, applied: bool) -> None:
    for one in found:
        if one.problem:
            note(one.problem)
        for text in one.put_back:
            click.echo(f"{one.target}  {'back' if applied else 'goes back'}: {first_words(text)}")
        for text in one.kept_out.values():
            place = f"{'now' if applied else 'to be'} in the ledger"
            click.echo(f"{one.target}  overwritten, no room for it, {place}: {first_words(text)}")
        if one.kept_out and applied:
            note(f"{one.target.path}: {way_back(one.target, list(one.kept_out))}")
        for text in one.removed_by_hand:
            place = f"{'now' if applied else 'to be'} in the ledger"
            click.echo(f"{one.target}  taken out by hand, {place}: {first_words(text)}")
        for secret in one.unkept:
            click.echo(f"{one.target}  taken out by hand, kept nowhere: holds {secret}")
    if not found:
        click.echo("nothing to heal")
    elif not applied:
        click.echo("nothing was changed; add --apply to do this")


def parse_age(text: str, today: date) -> timedelta:
    """Read an age: `90d`, `12w`, `1y`, a number of days, or a date, which means older than that day."""
    if "-" in text:
        age = today - parse_date(text)
        if age < timedelta():
            raise InvalidArgument(f"{text} lies in the future; give a day that has passed, or an age such as 90d")
        return age
    from agent_memory_protocol.settings_file import parse_days

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
        lines.append(f"{plan.target}  {plan.target.path}: {len(plan.removals)} of {_entries(total)} {verb}")
        lines += [f"  -{one.line:>5}  {_when(one)}  {first_words(one.text)}" for one in plan.removals]
        lines += [f"  ={one.line:>5}  stays: {one.reason}  {_words_of_what_stays(one)}".rstrip() for one in listed]
        for line, text, day, count in sections:
            taken = f"--sections takes its {_entries(count)}"
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


def _entries(count: int) -> str:
    return f"{count} {'entry' if count == 1 else 'entries'}"


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


def _restorable_json(one: Restorable) -> dict[str, object]:
    archived = one.archived
    return {
        "id": archived.taken.id,
        **target_json(one.target),
        "removed_at": archived.removed_at,
        "reason": archived.reason,
        "run": archived.run,
        "text": archived.taken.markdown,
    }


def _synced_json(one: Synced) -> dict[str, object]:
    return {
        **target_json(one.target),
        "put_back": list(one.put_back),
        "removed_by_hand": list(one.removed_by_hand),
        "kept_out": [{"id": entry_id, "text": text} for entry_id, text in one.kept_out.items()],
        "unkept": list(one.unkept),
        "problem": one.problem or None,
    }

"""`amp restore`, `forget`, `edit` and `sync`: take out, put back, and lose nothing."""

import os
import sys
from collections.abc import Sequence
from datetime import date

import click

from ..change.ledger import way_back
from ..errors import InvalidArgument
from ..verbs.upkeep_answers import Restorable, Synced
from .options import (
    TextCommand,
    actor,
    as_option,
    conversation_option,
    first_words,
    json_option,
    note,
    plain,
    print_json,
    root_option,
    target_json,
    workspace,
)
from .write import parse_date, read_text


@click.command("restore")
@click.argument("entry_ids", nargs=-1, metavar="[ID]...")
@click.option("--last", is_flag=True, help="What the last command took out.")
@click.option("--since", metavar="YYYY-MM-DD", help="What was taken out since that day (UTC).")
@click.option("--list", "only_list", is_flag=True, help="List what can be restored.")
@click.option("--apply", is_flag=True, help="Do it. Without this, only what would come back is shown.")
@conversation_option
@json_option
@root_option
@as_option
def restore_command(
    entry_ids: tuple[str, ...],
    last: bool,
    since: str | None,
    only_list: bool,
    apply: bool,
    conversation: str | None,
    as_json: bool,
    root: str | None,
    as_agent: str | None,
) -> None:
    """Bring entries back from the ledger. They go to where they stood, as near as can be told.

    The beginning of an id is enough.

    \b
    Examples:
        amp restore --list
        amp restore --last --apply
    """
    here = workspace(root)
    who = actor(as_agent, conversation)
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
                click.echo(f"restored: {os.path.relpath(path, here.path)}")
    elif as_json:
        print_json({"entries": [_restorable_json(one) for one in chosen]})
    else:
        for one in chosen:
            head = f"{one.archived.taken.id:<14}  {one.archived.removed_at[:10]}  {one.target}  "
            note_file = one.archived.note
            words = (
                f"{plain(note_file)} (a note)"
                if note_file
                else first_words(one.archived.taken.markdown, behind=len(head))
            )
            click.echo(head + words)
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
@conversation_option
@json_option
@root_option
@as_option
def forget_command(
    entry_ids: tuple[str, ...],
    reason: str,
    redact: bool,
    conversation: str | None,
    as_json: bool,
    root: str | None,
    as_agent: str | None,
) -> None:
    """Remove entries by id. Their text stays in the ledger, except with --redact.

    The beginning of an id is enough: four characters or more that no other id begins with.

    \b
    Examples:
        amp forget 3f9a1c2b7d10 --reason "no longer true since 2.0"
        amp forget 3f9a --redact
    """
    here = workspace(root)
    who = actor(as_agent, conversation)
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
@click.argument("text", required=False)
@click.option("--dated", is_flag=True, help="Date it with today: it still holds.")
@click.option("--date", "day", metavar="YYYY-MM-DD", help="Date it with this day.")
@conversation_option
@json_option
@root_option
@as_option
def edit_command(
    entry_id: str,
    text: str | None,
    dated: bool,
    day: str | None,
    conversation: str | None,
    as_json: bool,
    root: str | None,
    as_agent: str | None,
) -> None:
    """Put TEXT in the place of an entry, or date it anew. Its date stays unless TEXT begins with one; `-` reads stdin.

    The beginning of its id is enough.

    \b
    Examples:
        amp edit 3f9a1c2b7d10 "Redis needs AOF on since 7.2."
        amp edit 3f9a1c2b7d10 --dated
    """
    if dated and day is not None:
        raise InvalidArgument("--dated and --date exclude each other; give one of them")
    if text is None and not dated and day is None:
        raise InvalidArgument("say the new TEXT, or --dated where the entry still holds")
    done = workspace(root).edit(
        entry_id,
        None if text is None else read_text(text),
        actor=actor(as_agent, conversation),
        dated=parse_date(day) if day is not None else date.today() if dated else None,
    )
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
    place = f"{'now' if applied else 'to be'} in the ledger"
    for one in found:
        if one.problem:
            note(one.problem)
        for text in one.put_back:
            click.echo(f"{one.target}  {'back' if applied else 'goes back'}: {first_words(text)}")
        for text in one.kept_out.values():
            click.echo(f"{one.target}  overwritten, no room for it, {place}: {first_words(text)}")
        if one.kept_out and applied:
            note(f"{one.target.path}: {way_back(one.target, list(one.kept_out))}")
        for text in one.removed_by_hand:
            click.echo(f"{one.target}  taken out by hand, {place}: {first_words(text)}")
        for secret in one.unkept:
            click.echo(f"{one.target}  taken out by hand, kept nowhere: holds {secret}")
    if not found:
        click.echo("nothing to heal")
    elif not applied:
        click.echo("nothing was changed; add --apply to do this")


def _restorable_json(one: Restorable) -> dict[str, object]:
    archived = one.archived
    return {
        "id": archived.taken.id,
        **target_json(one.target),
        "removed_at": archived.removed_at,
        "reason": archived.reason,
        "run": archived.run,
        "note": archived.note or None,
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

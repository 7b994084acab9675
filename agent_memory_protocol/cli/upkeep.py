"""`amp restore`, `forget`, `edit` and `sync`: take out, put back, and lose nothing."""

import os
import sys
from collections.abc import Iterator, Sequence
from datetime import date
from itertools import chain

import click

from ..change.ledger import way_back
from ..errors import InvalidArgument
from ..verbs.upkeep_answers import Restorable, Restored, Synced
from .cells import cells
from .options import NOT_APPLIED, Call, TextCommand, call_options, conversation_option
from .printing import first_words, note, own_words, say
from .write import parse_date, read_text


@click.command("restore")
@click.argument("entry_ids", nargs=-1, metavar="[ID]...")
@click.option("--last", is_flag=True, help="Restore what the last command removed.")
@click.option("--since", metavar="YYYY-MM-DD", help="Restore what was removed since that day (UTC).")
@click.option("--list", "only_list", is_flag=True, help="List what can be restored.")
@click.option("--apply", is_flag=True, help="Restore. Without it, amp only shows the plan.")
@conversation_option
@call_options
def restore_command(
    call: Call,
    entry_ids: tuple[str, ...],
    last: bool,
    since: str | None,
    only_list: bool,
    apply: bool,
    conversation: str | None,
) -> None:
    """Restore entries from the ledger. They return to their old place, if amp can still find it.

    The beginning of an id is enough.

    \b
    Examples:
        amp restore --list
        amp restore --last --apply
    """
    here = call.workspace()
    who = call.actor(conversation)
    chosen = here.restorable(entry_ids, actor=who, last=last, since=parse_date(since) if since else None)
    if apply and not (entry_ids or last or since):
        raise InvalidArgument("which entries? give their ids, or --last or --since; `amp restore --list` shows them")
    back = here.restore(chosen, actor=who) if apply and not only_list else Restored(())
    if apply and not only_list:
        places = [f"{entry.target.path}:{entry.line}  [{entry.id}]" for entry in back.entries]
        places += [os.path.relpath(path, here.path) for path in back.notes]
        call.answer(back.to_json(), [f"restored: {place}" for place in places])
    else:
        call.answer({"entries": [one.to_json() for one in chosen]}, _lines(chosen))
        if chosen and not only_list and not call.as_json:
            way = "add --apply" if entry_ids or last or since else "say their ids, or --last, with --apply"
            say(f"nothing was changed; {way} to bring {'it' if len(chosen) == 1 else 'these'} back")
    if not chosen:
        others = last and here.restorable((), actor=who)
        more = own_words("; `amp restore --list` shows older removals, and those by hand") if others else ""
        note(f"there is nothing to restore{more}")
    for problem in () if call.as_json else back.problems:
        note(problem)
    sys.exit(3 if back.problems else 0)


def _lines(chosen: Sequence[Restorable]) -> Iterator[str]:
    for one in chosen:
        archived = one.archived
        head = f"{archived.taken.id:<14}  {archived.removed_at[:10]}  {one.target}  "
        words = first_words(archived.taken.alone, behind=cells(head))
        yield head + (f"{archived.note} ({_kind(archived.note)})" if archived.note else words)
        yield f"{'':<14}  {archived.reason}"


def _kind(name: str) -> str:
    from ..verbs import originals

    return "a rules file" if originals.is_one(name) else "a note"


@click.command("forget")
@click.argument("entry_ids", nargs=-1, required=True, metavar="ID...")
@click.option("--reason", metavar="R", default="forgotten", help="Why; kept in the ledger.")
@click.option("--redact", is_flag=True, help="Also delete the text from the ledger and journal: for secrets.")
@conversation_option
@call_options
def forget_command(call: Call, entry_ids: tuple[str, ...], reason: str, redact: bool, conversation: str | None) -> None:
    """Remove entries by id; the ledger keeps them. With --redact no copy is kept.

    The beginning of an id is enough: at least four characters that match only one id.

    \b
    Examples:
        amp forget 3f9a1c2b7d10 --reason "no longer true since 2.0"
        amp forget 3f9a --redact
    """
    here = call.workspace()
    who = call.actor(conversation)
    if redact:
        redacted = here.redact(entry_ids, actor=who)
        said = [
            f"redacted: {one.id} from {'document, ' if one.was_in_document else ''}ledger and journal of {one.target}"
            for one in redacted
        ]
        call.answer({"redacted": [one.to_json() for one in redacted]}, said)
        for path in chain.from_iterable(one.elsewhere for one in redacted):
            note(f"the same text is also in {path}")
        note("git history still has what was committed; rewrite it, and change the secret")
        return
    gone = here.forget(entry_ids, actor=who, reason=reason)
    said = []
    for one in gone:
        said.append(f"forgotten: {one.id} from {one.target}: {first_words(one.alone)}")
        said += [f"  and the line that introduced it: {first_words(line)}" for line in one.went_along]
    said.append(own_words(f"`amp restore --last --apply` brings {'it' if len(gone) == 1 else 'them'} back"))
    call.answer({"forgotten": [one.to_json() for one in gone]}, said)


@click.command("edit", cls=TextCommand)
@click.argument("entry_id", metavar="ID")
@click.argument("text", required=False)
@click.option("--dated", is_flag=True, help="Set the date to today: the entry is still true.")
@click.option("--date", "day", metavar="YYYY-MM-DD", help="Set the date to this day.")
@click.option("--undated", is_flag=True, help="Take the date off: the entry stays until somebody removes it.")
@conversation_option
@call_options
def edit_command(
    call: Call,
    entry_id: str,
    text: str | None,
    dated: bool,
    day: str | None,
    undated: bool,
    conversation: str | None,
) -> None:
    """Replace the text of an entry, or change its date.

    The date stays unless TEXT begins with a date. `-` reads stdin. The beginning of the id is enough.

    \b
    Examples:
        amp edit 3f9a1c2b7d10 "Redis needs AOF on since 7.2."
        amp edit 3f9a1c2b7d10 --dated
    """
    if dated + undated + (day is not None) > 1:
        raise InvalidArgument("--dated, --date and --undated exclude each other; give one of them")
    if text is None and not (dated or undated) and day is None:
        raise InvalidArgument("give the new TEXT, or --dated if the entry is still true")
    done = call.workspace().edit(
        entry_id,
        None if text is None else read_text(text),
        actor=call.actor(conversation),
        dated=parse_date(day) if day is not None else date.today() if dated else None,
        undated=undated,
    )
    place = f"{done.entry.target.path}:{done.entry.line}"
    was = "" if done.old_id == done.entry.id else f", was [{done.old_id}]"
    call.answer(done.to_json(), [f"edited: {place}  [{done.entry.id}]{was}"])


@click.command("sync")
@click.option("--apply", is_flag=True, help="Apply the changes. Without it, amp only shows them.")
@call_options
def sync_command(call: Call, apply: bool) -> None:
    """Put back remembered entries that another program overwrote.

    It notes in the ledger what was removed by hand.

    Exit code 4: a file could not be repaired; the others were.

    \b
    Example:
        amp sync --apply
    """
    found = call.workspace().sync(actor=call.actor(), apply=apply)
    call.answer({"applied": apply, "documents": [one.to_json() for one in found]}, _healed(found, applied=apply))
    sys.exit(4 if any(one.problem for one in found) else 0)


def _healed(found: Sequence[Synced], *, applied: bool) -> Iterator[str]:
    place = f"{'now' if applied else 'to be'} in the ledger"
    for one in found:
        if one.problem:
            note(one.problem)
        for text in one.put_back:
            yield f"{one.target}  {'back' if applied else 'goes back'}: {first_words(text)}"
        for text in one.kept_out.values():
            yield f"{one.target}  overwritten, no room for it, {place}: {first_words(text)}"
        if one.kept_out and applied:
            note(f"{one.target.path}: {way_back(one.target, list(one.kept_out))}")
        for text in one.removed_by_hand:
            yield f"{one.target}  taken out by hand, {place}: {first_words(text)}"
        for text in one.noted_again:
            yield f"{one.target}  lost from the ledger, {place}: {first_words(text)}"
        for secret in one.unkept:
            yield f"{one.target}  taken out by hand, kept nowhere: holds {secret}"
    if not found:
        yield "nothing to heal"
    elif not applied:
        yield NOT_APPLIED

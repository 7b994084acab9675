"""`amp init` and `amp remember`: the verbs that make memory and add to it."""

import os
import sys
from collections.abc import Iterator
from datetime import date
from typing import TYPE_CHECKING

import click

from ..answers import About, Remembered
from ..disk.errors import shown
from ..errors import InvalidArgument, RefusedText
from ..formats.jsonl_rules import KINDS
from ..layout import SCAFFOLDING, Tier
from ..text.dates import parse_day
from .options import Call, TextCommand, call_options, document_options, tier_names, typed
from .printing import note
from .record_options import has_records, open_memory

if TYPE_CHECKING:
    from ..workspace import Workspace

LARGEST_TEXT = 1 << 20  # No memory file is as large; an endless stream must not fill the memory of the machine


@click.command("init")
@click.option("--agent", "agents", multiple=True, metavar="NAME", help="Create a memory for this agent; repeatable.")
@click.option("--conversation", metavar="ID", help="Create a memory for this conversation.")
@click.option("--track", "git", flag_value="track", help="Let git track the memory: remove its line from .gitignore.")
@click.option("--ignore", "git", flag_value="ignore", help="Keep the memory out of git: add a line to .gitignore.")
@call_options
def init_command(call: Call, agents: tuple[str, ...], conversation: str | None, git: str | None) -> None:
    """Create missing memory files with their headers.

    Existing files are not changed. Git tracks the memory unless you give --ignore.

    \b
    Example:
        amp init --agent developer --agent reviewer
    """
    here = call.workspace(begins=True)
    made = here.init(agents=agents, conversation=conversation, actor=call.actor(conversation))
    told = here.set_git_tracking(git) if git else here.git_notes()
    call.answer(
        {"root": str(here.path), "files": [one.to_json() for one in made], "notes": told},
        (f"{'created' if one.created else 'kept   '}  {one.target.path}" for one in made),
    )
    if not call.as_json:
        elsewhere = [] if os.path.samefile(here.path, ".") else [f"they are in {here.path} ({here.how})"]
        for line in [*elsewhere, *told, *(_to_adopt(here) if any(one.created for one in made) else ())]:
            note(line)


def _to_adopt(here: "Workspace") -> Iterator[str]:
    """Say which rules files there are, for who begins a memory beside them."""
    from ..learning.rules_files import find

    found = [os.path.relpath(path, here.path) for path, _ in find(str(here.path))]
    if found:
        more = f" and {len(found) - 1} more" if found[1:] else ""
        yield f"`amp adopt .` shows what it would import from {shown(found[0])}{more}"


@click.command("remember", cls=TextCommand)
@click.argument("text")
@click.option(
    "--tier",
    type=tier_names,
    help="Default: agent with --agent, conversation with --conversation; else agent if an agent acts, else shared.",
)
@document_options
@click.option("--section", metavar="HEADING", help="Write under this heading; created if missing.")
@click.option("--under", metavar="LABEL", help="Write to the list with this label, such as Never; created if missing.")
@click.option("--dated", is_flag=True, help="Add today's date: the entry is time-sensitive.")
@click.option("--date", "day", metavar="YYYY-MM-DD", help="Add this date.")
@click.option("--undated", is_flag=True, help="Add no date, even in a conversation: the entry is lasting.")
@click.option("--until", metavar="YYYY-MM-DD", help="The last day on which it is true; adds the mark [until D].")
@click.option("--source", metavar="S", help="Its source: a URL, a session id or user; kept in the ledger.")
@click.option("--kind", type=click.Choice(KINDS), help="The kind of memory; kept in the ledger.")
@click.option("--confidence", type=click.FloatRange(0, 1), metavar="C", help="From 0 to 1; kept in the ledger.")
@click.option("--tag", "tags", multiple=True, metavar="T", help="A tag, repeatable; kept in the ledger.")
@click.option("--replaces", metavar="ID", help="Retire this entry or record; the new one replaces it.")
@click.option("--make-room", is_flag=True, help="If the file is full, archive its oldest dated entries.")
@call_options
def remember_command(
    call: Call,
    text: str,
    tier: str | None,
    agent: str | None,
    conversation: str | None,
    section: str | None,
    under: str | None,
    dated: bool,
    day: str | None,
    undated: bool,
    until: str | None,
    source: str | None,
    kind: str | None,
    confidence: float | None,
    tags: tuple[str, ...],
    replaces: str | None,
    make_room: bool,
) -> None:
    """Save TEXT as one entry in a memory file. `-` reads the text from stdin.

    \b
    Examples:
        amp remember "Redis loses its queue without AOF." --section Infrastructure
        amp remember "test_upload is flaky; see #412." --agent developer --dated
        amp remember "We decided on Postgres." --conversation 7f3a
    """
    if sum([dated, day is not None, undated]) > 1:
        raise InvalidArgument("--dated, --date and --undated exclude each other; give one of them")
    here = call.workspace()
    is_new = not os.path.lexists(here.path / SCAFFOLDING)
    said = read_text(text)
    if replaces is not None and has_records(call, None):
        from ..settle import remember_instead

        records, about = open_memory(call, None), About(source, kind, confidence, tags)
        places = {"tier": tier, "agent": agent, "conversation": conversation, "section": section, "under": under}
        times = {"date": day, "dated": dated, "undated": undated, "until": until}
        more = {**places, **times, "make-room": make_room}
        instead = remember_instead(here, records, call.actor(conversation), said, replaces, about, **more)
        if instead is not None:
            for line in instead.notes:
                note(line)
            lines = [f"remembered as a record: {instead.id}", f"retired: {instead.replaced}"]
            call.answer(instead.to_json(), lines)
            return
    done = here.remember(
        said,
        tier=Tier.parse(tier) if tier else None,
        actor=call.actor(conversation),
        agent=agent,
        conversation=conversation,
        section=None if section is None else typed(section),
        under=None if under is None else typed(under),
        dated=parse_date(day) if day is not None else True if dated else False if undated else None,
        until=None if until is None else parse_date(until),
        about=About(source, kind, confidence, tags),
        make_room=make_room,
        replaces=replaces,
    )
    for line in done.notes:
        note(line)
    if is_new and here.how.startswith("the current folder"):
        note(f"this is not a project yet: creating memory in {here.path}; use --root DIR for another place")
    call.answer(done.to_json(), _said(done))
    if done.headroom.warning:
        note(
            f"{done.entry.target} is {done.headroom.warning}; `amp prune {done.entry.target}` shows what is outdated, "
            "`amp review` what could be merged"
        )


def read_text(text: str) -> str:
    """Return the text; for `-`, what stdin has."""
    if text != "-":
        return typed(text)
    try:
        data = sys.stdin.buffer.read(LARGEST_TEXT + 1)
    except (AttributeError, OSError) as error:
        raise InvalidArgument("stdin is empty; give the text there, or instead of the -") from error
    return decode_text(data, "the text on stdin")


def decode_text(data: bytes, what: str) -> str:
    """Return bytes as text; `what` names them where they are too many or no UTF-8."""
    if len(data) > LARGEST_TEXT:
        raise RefusedText(
            f"{what} has more than {LARGEST_TEXT:,} bytes; shorten it",
            limit=LARGEST_TEXT,
            size=len(data),
            unit="bytes",
        )
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise InvalidArgument(f"{what} is not UTF-8 (byte {error.start}); convert it first") from error


def parse_date(text: str) -> date:
    """Read a date as it is given on the command line."""
    return date.fromordinal(parse_day(text))


def _said(done: Remembered) -> Iterator[str]:
    kept = "already there" if done.notes else "already there; nothing changed"
    what = {"added": "remembered", "kept": kept, "redated": "already there; its date is updated"}
    room = done.headroom
    yield f"{what[done.status]}: {done.entry.target.path}:{done.line}  [{done.entry.id}]"
    yield f"{max(room.lines, 0)} of {room.max_lines} lines and {max(room.bytes, 0):,} of {room.max_bytes:,} bytes left"
    if done.replaced:
        yield f"retired: {done.replaced}"

"""`amp note` and `amp index`: one fact, one file, and one line for each."""

import sys
from collections.abc import Iterator, Sequence

import click

from ..answers import Indexed, NoteRow
from ..errors import InvalidArgument
from ..layout import Target, Tier, check_agent_name
from ..notes.note import TYPES
from ..project.access import Actor
from ..secrets.mask import masked_lines
from ..text.phrases import counted
from ..workspace import Workspace
from .options import Call, Function, TextCommand, call_options
from .printing import note, own_words, plain
from .write import read_text


def folder_options(function: Function) -> Function:
    """Add `--tier` and `--agent`, which say in which folder a note is."""
    tier = click.option(
        "--tier",
        type=click.Choice(["shared", "agent"]),
        help="Default: agent with --agent or if an agent acts, else shared.",
    )
    return tier(click.option("--agent", metavar="NAME", help="The notes of this agent.")(function))


def _target(here: Workspace, who: Actor, tier: str | None, agent: str | None) -> Target:
    if tier == "shared" and agent is not None:
        raise InvalidArgument("--tier shared and --agent name two folders; give one of them")
    return here.target(who, tier=Tier.parse(tier) if tier else None, agent=agent)


@click.group("note")
def note_command() -> None:
    """Write, read, remove and merge notes: one fact, one file.

    \b
    Example:
        amp note list
    """


@note_command.command("new", cls=TextCommand)
@click.argument("note_type", metavar="TYPE", type=click.Choice(TYPES))
@click.argument("slug")
@click.option("--description", required=True, metavar="D", help="One sentence; the index line shows it.")
@click.option("--why", required=True, metavar="W", help="Why it is true.")
@click.option("--how", required=True, metavar="H", help="How to apply it.")
@click.option("--body", default="", metavar="B", help="The fact, if the description is not enough; - reads stdin.")
@folder_options
@call_options
def new_command(
    call: Call,
    note_type: str,
    slug: str,
    description: str,
    why: str,
    how: str,
    body: str,
    tier: str | None,
    agent: str | None,
) -> None:
    """Write a new note next to a memory file, with its index line.

    \b
    Example:
        amp note new feedback market-first --description "Ask before building" \\
            --why "A tool nobody wanted." --how "Name three users first."
    """
    here = call.workspace()
    who = call.actor()
    target = _target(here, who, tier, agent)
    path = here.new_note(
        note_type,
        slug,
        description=description,
        why=why,
        how=how,
        body=read_text(body) if body else "",
        target=target,
        actor=who,
    )
    call.answer({"path": str(path), "file": path.name}, [f"written: {'/'.join(target.folder)}/{path.name}"])


@note_command.command("list")
@folder_options
@call_options
def list_command(call: Call, tier: str | None, agent: str | None) -> None:
    """List the notes: type, file, description. `!` marks a note without an index line.

    Without --tier and --agent, it lists all notes that you may read. Exit code 4: a note could not be read; the others
    are listed.

    \b
    Example:
        amp note list --agent developer
    """
    here = call.workspace()
    who = call.actor()
    rows = here.notes(who, [_target(here, who, tier, agent)] if tier or agent is not None else None)
    call.answer({"notes": [row.to_json() for row in rows]}, _rows(rows))
    sys.exit(4 if any(row.problem for row in rows) else 0)


def _rows(rows: Sequence[NoteRow]) -> Iterator[str]:
    if not rows:
        note("there are no notes; `amp note new` writes the first")
    shown: Target | None = None
    for row in rows:
        if row.target != shown:
            yield str(row.target)
            shown = row.target
        mark = " " if row.is_listed else "!"
        yield f"  {mark} {row.type or '-':<9}  {row.file}  {row.problem or row.description}"


@note_command.command("show")
@click.argument("name")
@folder_options
@call_options
def show_command(call: Call, name: str, tier: str | None, agent: str | None) -> None:
    """Show a note by its file, its stem or its slug.

    Without --tier and --agent, it shows the acting agent's note, else the shared one.

    \b
    Example:
        amp note show market-first
    """
    here = call.workspace()
    who = call.actor()
    target = _target(here, who, tier, agent) if tier or agent is not None else None
    file, text = here.show_note(name, target=target, actor=who)
    call.answer({"file": file, "text": text}, map(plain, masked_lines([text.rstrip("\n")])))


@note_command.command("remove")
@click.argument("name")
@click.option("--reason", default="removed", metavar="R", help="Why; kept in the ledger.")
@click.option("--redact", is_flag=True, help="Keep no copy, and delete old copies from the ledger: for secrets.")
@folder_options
@call_options
def remove_command(call: Call, name: str, reason: str, redact: bool, tier: str | None, agent: str | None) -> None:
    """Remove a note and its index line. The ledger keeps its text, except with --redact.

    `amp restore --last` shows the last removal.

    \b
    Example:
        amp note remove market-first --reason "decided otherwise"
    """
    here = call.workspace()
    who = call.actor()
    target = _target(here, who, tier, agent)
    file = here.remove_note(name, target=target, actor=who, reason=reason, redact=redact)
    way_back = "no copy was kept" if redact else own_words("`amp restore --last --apply` brings it back")
    call.answer({"file": file}, [f"removed: {file}; {way_back}"])
    for state in here.index([target], actor=who, check=True):
        _say_dangling(state)


@note_command.command("merge")
@click.argument("names", nargs=-1, required=True, metavar="NAME...")
@click.option("--into", required=True, metavar="NAME", help="The note that the others are appended to.")
@folder_options
@call_options
def merge_command(call: Call, names: tuple[str, ...], into: str, tier: str | None, agent: str | None) -> None:
    """Append notes to another note, and remove them. The ledger keeps their texts.

    \b
    Example:
        amp note merge redis-aof redis-limits --into redis
    """
    here = call.workspace()
    who = call.actor()
    target = _target(here, who, tier, agent)
    file = here.merge_notes(names, into, target=target, actor=who)
    merged = [name for name in names if name not in (into, file, file[:-3])]
    said = own_words(f"merged: {', '.join(merged)} into {file}; `amp note show {file[:-3]}` shows it")
    call.answer({"file": file, "merged": merged}, [said])


@click.command("index")
@click.option("--check", is_flag=True, help="Only report differences; exit code 1 if there are any.")
@click.option("--agent", "agents", multiple=True, metavar="NAME", help="This agent's index; repeatable. Default: all.")
@call_options
def index_command(call: Call, check: bool, agents: tuple[str, ...]) -> None:
    """Add every note to the index of its folder.

    The lines are in the block under `## Notes`, at the end of the memory file. amp does not remove notes or change
    lines that a person wrote.

    \b
    Example:
        amp index --check
    """
    targets = [Target(Tier.AGENT, check_agent_name(name)) for name in agents] or None
    found = call.workspace().index(targets, actor=call.actor(), check=check)
    clean = all(state.is_clean for state in found) if check else not any(state.problem for state in found)
    call.answer({"clean": clean, "indexes": [state.to_json() for state in found]}, _indexes(found, check=check))
    sys.exit(0 if clean else 1 if check else 4)


def _indexes(found: Sequence[Indexed], *, check: bool) -> Iterator[str]:
    if not found:
        note("there are no notes to index")
    for state in found:
        path = state.target.path
        listed = state.listed if check else state.listed + len(state.added)
        if state.notes or not state.problem:  # a document that was not read has not been counted
            yield f"{state.target}  {path}: {listed} of {counted(state.notes, 'note')} listed"
        for file in state.added:
            yield f"  + {file}{' has no line' if check else ''}"
        _say_dangling(state)
        if state.beside:
            them = "is 1 note" if state.beside == 1 else f"are {state.beside} notes"
            note(f"{path} has no room for more lines; in INDEX.md next to it {them}")
        if state.problem:
            note(state.problem)


def _say_dangling(state: Indexed) -> None:
    for line, file in state.dangling:
        note(f"{state.target.path}:{line} links to {file}, which does not exist; correct or remove the line")

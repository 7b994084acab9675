"""`amp note` and `amp index`: one fact, one file, and one line for each."""

import sys
from collections.abc import Sequence

import click

from ..answers import Indexed, NoteRow
from ..errors import InvalidArgument
from ..layout import Target, Tier, check_agent_name
from ..notes.note import TYPES
from ..project.access import Actor
from ..text.phrases import counted
from ..workspace import Workspace
from .options import (
    Function,
    TextCommand,
    actor,
    as_option,
    json_option,
    note,
    plain,
    print_json,
    root_option,
    target_json,
    workspace,
)
from .write import read_text


def folder_options(function: Function) -> Function:
    """Add `--tier` and `--agent`, which say beside which document a note lies."""
    tier = click.option(
        "--tier",
        type=click.Choice(["shared", "agent"]),
        help="Default: agent with --agent or where one acts, else shared.",
    )
    return tier(click.option("--agent", metavar="NAME", help="Beside this agent's MEMORY.md.")(function))


def _target(here: Workspace, who: Actor, tier: str | None, agent: str | None) -> Target:
    if tier == "shared" and agent is not None:
        raise InvalidArgument("--tier shared and --agent name two folders; give one of them")
    return here.target(who, tier=Tier.parse(tier) if tier else None, agent=agent)


@click.group("note")
def note_command() -> None:
    """Write, read, remove and merge notes: one fact, one file."""


@note_command.command("new", cls=TextCommand)
@click.argument("note_type", metavar="TYPE", type=click.Choice(TYPES))
@click.argument("slug")
@click.option("--description", required=True, metavar="D", help="One sentence; the hook of the index line.")
@click.option("--why", required=True, metavar="W", help="Why it is so.")
@click.option("--how", required=True, metavar="H", help="How to apply it.")
@click.option("--body", default="", metavar="B", help="The fact, where the description is not enough; - reads stdin.")
@folder_options
@json_option
@root_option
@as_option
def new_command(
    note_type: str,
    slug: str,
    description: str,
    why: str,
    how: str,
    body: str,
    tier: str | None,
    agent: str | None,
    as_json: bool,
    root: str | None,
    as_agent: str | None,
) -> None:
    """Write a new note beside a memory file, with its index line.

    \b
    Example:
        amp note new feedback market-before-machinery --description "Ask for the market before building" \\
            --why "Two months went into a tool nobody wanted." --how "Name three users before the first commit."
    """
    here = workspace(root)
    who = actor(as_agent)
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
    if as_json:
        print_json({"path": str(path), "file": path.name})
    else:
        click.echo(f"written: {'/'.join(target.parts[:-1])}/{path.name}")


@note_command.command("list")
@folder_options
@json_option
@root_option
@as_option
def list_command(tier: str | None, agent: str | None, as_json: bool, root: str | None, as_agent: str | None) -> None:
    """List the notes: type, file, description. `!` marks one that no index line names.

    Without --tier and --agent, all that may be read. Ends with exit code 4 when one cannot be read; the others are
    listed.
    """
    here = workspace(root)
    who = actor(as_agent)
    rows = here.notes(who, [_target(here, who, tier, agent)] if tier or agent is not None else None)
    if as_json:
        print_json({"notes": [_row_json(row) for row in rows]})
    else:
        _tell_rows(rows)
    sys.exit(4 if any(row.problem for row in rows) else 0)


def _row_json(row: NoteRow) -> dict[str, object]:
    return {
        **target_json(row.target),
        "file": row.file,
        "type": row.type or None,
        "title": row.title,
        "description": row.description,
        "listed": row.is_listed,
        "problem": row.problem or None,
    }


def _tell_rows(rows: Sequence[NoteRow]) -> None:
    if not rows:
        note("there are no notes; `amp note new` writes the first")
    shown: Target | None = None
    for row in rows:
        if row.target != shown:
            click.echo(str(row.target))
            shown = row.target
        mark = " " if row.is_listed else "!"
        click.echo(f"  {mark} {row.type or '-':<9}  {plain(row.file)}  {plain(row.problem or row.description)}")


@note_command.command("show")
@click.argument("name")
@folder_options
@json_option
@root_option
@as_option
def show_command(
    name: str, tier: str | None, agent: str | None, as_json: bool, root: str | None, as_agent: str | None
) -> None:
    """Show a note, named by its file, its stem or its slug.

    Without --tier and --agent, the note of the agent who acts, else the shared one.
    """
    here = workspace(root)
    who = actor(as_agent)
    target = _target(here, who, tier, agent) if tier or agent is not None else None
    file, text = here.show_note(name, target=target, actor=who)
    if as_json:
        print_json({"file": file, "text": text})
    else:
        click.echo("\n".join(plain(line) for line in text.rstrip("\n").split("\n")))


@note_command.command("remove")
@click.argument("name")
@click.option("--reason", default="removed", metavar="R", help="Why; kept in the ledger.")
@click.option("--redact", is_flag=True, help="Keep no copy, and take those there are out of the ledger: for secrets.")
@folder_options
@json_option
@root_option
@as_option
def remove_command(
    name: str,
    reason: str,
    redact: bool,
    tier: str | None,
    agent: str | None,
    as_json: bool,
    root: str | None,
    as_agent: str | None,
) -> None:
    """Remove a note and its index line. Its text stays in the ledger, except with --redact.

    `amp restore --last` shows what was removed last.
    """
    here = workspace(root)
    who = actor(as_agent)
    target = _target(here, who, tier, agent)
    file = here.remove_note(name, target=target, actor=who, reason=reason, redact=redact)
    if as_json:
        print_json({"file": file})
    elif redact:
        click.echo(f"removed: {file}; no copy was kept")
    else:
        click.echo(f"removed: {file}; `amp restore --last --apply` brings it back")
    for state in here.index([target], actor=who, check=True):
        _say_dangling(state)


@note_command.command("merge")
@click.argument("names", nargs=-1, required=True, metavar="NAME...")
@click.option("--into", required=True, metavar="NAME", help="The note that takes up the others.")
@folder_options
@json_option
@root_option
@as_option
def merge_command(
    names: tuple[str, ...],
    into: str,
    tier: str | None,
    agent: str | None,
    as_json: bool,
    root: str | None,
    as_agent: str | None,
) -> None:
    """Add what some notes say to another, and remove them. Their texts stay in the ledger."""
    here = workspace(root)
    who = actor(as_agent)
    target = _target(here, who, tier, agent)
    file = here.merge_notes(names, into, target=target, actor=who)
    merged = [name for name in names if name not in (into, file, file[:-3])]
    if as_json:
        print_json({"file": file, "merged": merged})
    else:
        click.echo(f"merged: {', '.join(merged)} into {file}; `amp note show {file[:-3]}` shows it")


@click.command("index")
@click.option("--check", is_flag=True, help="Only say what differs; exit code 1 when something does.")
@click.option("--agent", "agents", multiple=True, metavar="NAME", help="This agent's index; repeatable. Default: all.")
@json_option
@root_option
@as_option
def index_command(check: bool, agents: tuple[str, ...], as_json: bool, root: str | None, as_agent: str | None) -> None:
    """Give every note its line in the index of its folder.

    The lines stand in the block under `## Notes`, at the end of the memory file. No note is removed, and no line that a
    person wrote is changed.

    \b
    Example:
        amp index --check
    """
    targets = [Target(Tier.AGENT, check_agent_name(name)) for name in agents] or None
    found = workspace(root).index(targets, actor=actor(as_agent), check=check)
    clean = all(state.is_clean for state in found) if check else not any(state.problem for state in found)
    if as_json:
        print_json({"clean": clean, "indexes": [_as_json(state) for state in found]})
    else:
        for state in found:
            _say(state, check=check)
        if not found:
            note("there are no notes to index")
    sys.exit(0 if clean else 1 if check else 4)


def _say(state: Indexed, *, check: bool) -> None:
    listed = state.listed if check else state.listed + len(state.added)
    click.echo(f"{state.target}  {state.target.path}: {listed} of {counted(state.notes, 'note')} listed")
    for file in state.added:
        click.echo(f"  + {plain(file)}{' has no line' if check else ''}")
    _say_dangling(state)
    if state.unlisted:
        note(
            f"{state.target.path} is full: {state.unlisted} notes are not listed; merge some, or split the agent's work"
        )
    if state.problem:
        note(state.problem)


def _say_dangling(state: Indexed) -> None:
    for line, file in state.dangling:
        note(f"{state.target.path}:{line} links to {file}, which does not exist; correct or remove the line")


def _as_json(state: Indexed) -> dict[str, object]:
    return {
        **target_json(state.target),
        "notes": state.notes,
        "listed": state.listed,
        "added": list(state.added),
        "dangling": [{"line": line, "file": file} for line, file in state.dangling],
        "unlisted": state.unlisted,
        "changed": state.changed,
        "problem": state.problem or None,
    }

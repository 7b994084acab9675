"""`amp adopt` and `amp find-stores`: bring in memory that other tools keep, and find where it lies."""

import os
import sys
from collections.abc import Sequence
from shlex import quote
from typing import Any

import click

from ..learning.merge_in import Adoption
from ..text.phrases import counted
from .options import (
    actor,
    as_option,
    first_words,
    json_option,
    note,
    plain,
    print_json,
    root_option,
    target_json,
    workspace,
)

_SHOWN = 8
"""So many new entries and notes of a store are shown; the rest are counted."""


@click.command("adopt")
@click.argument("sources", nargs=-1, required=True, metavar="SOURCE...", type=click.Path())
@click.option("--apply", "do", is_flag=True, help="Bring it in; without it, only the plan is shown.")
@json_option
@root_option
@as_option
def adopt_command(sources: tuple[str, ...], do: bool, as_json: bool, root: str | None, as_agent: str | None) -> None:
    """Bring in memory that other tools keep, without doubles.

    SOURCE is a folder or a file: agent memory or auto memory of Claude Code, Serena's memories, Squad's histories, a
    memory bank, another .scaffolding, an agent-memory/0.1 file, a project that holds some of these. Nothing in it
    changes. What is too long for a memory file becomes notes, and what holds a secret stays out. Where something cannot
    be read there, or may not or cannot be written here, the rest comes in, and the command ends with 3 or 4.

    \b
    Example:
        amp adopt .claude/agent-memory --apply
    """
    here, who = workspace(root), actor(as_agent)
    planned = here.plan_adoption(sources, actor=who)
    if do:
        planned = here.apply_adoption(planned, actor=who)
    if as_json:
        print_json({"applied": do, "adoptions": [_json(one) for one in planned]})
    else:
        _tell(planned, is_done=do)
    sys.exit(max((left.exit_code for one in planned for left in one.left_out), default=0))


def _tell(planned: Sequence[Adoption], *, is_done: bool) -> None:
    for one in planned:
        _show(one)
    to_do = [one for one in planned if one.does_something]
    if not to_do:
        click.echo("nothing to bring in")
    elif is_done:
        click.echo(f"{_count(to_do)} brought in")
    else:
        click.echo(f"{_count(to_do)} would come in; nothing was changed; add --apply to do this")


@click.command("find-stores")
@json_option
@root_option
def find_stores_command(as_json: bool, root: str | None) -> None:
    """List where else memory of this project lies.

    Looked at are this project, its worktrees, the folders beside it that are checkouts of the same repository, and the
    person's own memory of Claude Code for any of these.

    \b
    Example:
        amp find-stores
    """
    here = workspace(root)
    found = here.find_stores()
    if as_json:
        print_json({"root": str(here.path), "stores": [{"path": one.path, "kind": one.kind} for one in found]})
        return
    if not found:
        click.echo("no memory of this project was found elsewhere")
    for one in found:
        path = quote(os.path.relpath(one.path, here.path))
        click.echo(f"{plain(one.path)}\n    {one.kind}; `amp adopt {plain(path)}` plans to bring it in")


def _show(one: Adoption) -> None:
    store = one.store
    click.echo(f"{plain(store.path)}  ({store.kind})  ->  {store.target}")
    if one.present:
        click.echo(f"  = {counted(one.present, 'entry')} {'is' if one.present == 1 else 'are'} here already")
    _list("+", [first_words(text, behind=4) for text in one.entries], "entries")
    if one.text is not None and not one.entries:
        click.echo("  + the lines of its index")
    _list("+", [f"{file} (a note)" for file in one.notes], "notes")
    for pair in one.contradictions:
        click.echo(f"  ? {first_words(pair.new)}\n    contradicts  {first_words(pair.standing)}")
    for left in one.left_out:
        note(f"left out: {left.where}: {left.reason}")


def _list(sign: str, lines: Sequence[str], what: str) -> None:
    for line in lines[:_SHOWN]:
        click.echo(f"  {sign} {line}")
    if len(lines) > _SHOWN:
        click.echo(f"  {sign} and {len(lines) - _SHOWN} more {what}")


def _count(adoptions: Sequence[Adoption]) -> str:
    entries, notes = sum(len(one.entries) for one in adoptions), sum(len(one.notes) for one in adoptions)
    return f"{counted(entries, 'entry')} and {counted(notes, 'note')}"


def _json(one: Adoption) -> dict[str, Any]:
    return {
        "source": one.store.path,
        "kind": one.store.kind,
        **target_json(one.store.target),
        "entries": list(one.entries),
        "present": one.present,
        "notes": list(one.notes),
        "left_out": [{"where": left.where, "reason": left.reason} for left in one.left_out],
        "contradictions": [{"new": pair.new, "standing": pair.standing} for pair in one.contradictions],
    }

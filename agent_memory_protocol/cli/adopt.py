"""`amp adopt` and `amp find-stores`: bring in memory that other tools keep, and find where it lies."""

import os
import sys
from collections.abc import Iterator, Sequence
from shlex import quote

import click

from ..learning.merge_in import Adoption
from ..text.phrases import counted
from .options import NOT_APPLIED, Call, call_options, call_with, first_words, json_option, note, root_option

_SHOWN = 8
"""So many new entries and notes of a store are shown; the rest are counted."""


@click.command("adopt")
@click.argument("sources", nargs=-1, required=True, metavar="SOURCE...", type=click.Path())
@click.option("--apply", "do", is_flag=True, help="Bring it in; without it, only the plan is shown.")
@call_options
def adopt_command(call: Call, sources: tuple[str, ...], do: bool) -> None:
    """Bring in memory that other tools keep, without doubles.

    SOURCE is a folder or a file: agent memory or auto memory of Claude Code, Serena's memories, Squad's histories, a
    memory bank, another .scaffolding, an agent-memory/0.1 file, a project that holds some of these. Nothing in it
    changes. What is too long for a memory file becomes notes, and what holds a secret stays out. Where something cannot
    be read there, or may not or cannot be written here, the rest comes in, and the command ends with 3 or 4.

    \b
    Example:
        amp adopt .claude/agent-memory --apply
    """
    here, who = call.workspace(), call.actor()
    planned = here.plan_adoption(sources, actor=who)
    if do:
        planned = here.apply_adoption(planned, actor=who)
    call.answer({"applied": do, "adoptions": [one.to_json() for one in planned]}, _lines(planned, is_done=do))
    sys.exit(max((left.exit_code for one in planned for left in one.left_out), default=0))


def _lines(planned: Sequence[Adoption], *, is_done: bool) -> Iterator[str]:
    for one in planned:
        yield from _about(one)
    to_do = [one for one in planned if one.does_something]
    if not to_do:
        yield "nothing to bring in"
        return
    entries, notes = sum(len(one.entries) for one in to_do), sum(len(one.notes) for one in to_do)
    new = f"{counted(entries, 'entry')} and {counted(notes, 'note')}"
    yield f"{new} brought in" if is_done else f"{new} would come in; {NOT_APPLIED}"


@click.command("find-stores")
@call_with(json_option, root_option)
def find_stores_command(call: Call) -> None:
    """List where else memory of this project lies.

    Looked at are this project, its worktrees, the folders beside it that are checkouts of the same repository, and the
    person's own memory of Claude Code for any of these.

    \b
    Example:
        amp find-stores
    """
    here = call.workspace()
    found = here.find_stores()
    said = [] if found else ["no memory of this project was found elsewhere"]
    for one in found:
        path = quote(os.path.relpath(one.path, here.path))
        said += [one.path, f"    {one.kind}; `amp adopt {path}` plans to bring it in"]
    call.answer({"root": str(here.path), "stores": [{"path": one.path, "kind": one.kind} for one in found]}, said)


def _about(one: Adoption) -> Iterator[str]:
    store = one.store
    yield f"{store.path}  ({store.kind})  ->  {store.target}"
    if one.present:
        yield f"  = {counted(one.present, 'entry')} {'is' if one.present == 1 else 'are'} here already"
    yield from _new([first_words(text, behind=4) for text in one.entries], "entries")
    if one.text is not None and not one.entries:
        yield "  + the lines of its index"
    yield from _new([f"{file} (a note)" for file in one.notes], "notes")
    if one.index_lines:
        yield f"  + {counted(len(one.index_lines), 'line')} of its index, in INDEX.md"
    for pair in one.contradictions:
        yield f"  ? {first_words(pair.new)}"
        yield f"    contradicts  {first_words(pair.standing)}"
    for left in one.left_out:
        note(f"left out: {left.where}: {left.reason}")


def _new(lines: Sequence[str], what: str) -> Iterator[str]:
    for line in lines[:_SHOWN]:
        yield f"  + {line}"
    if len(lines) > _SHOWN:
        yield f"  + and {len(lines) - _SHOWN} more {what}"

"""`amp adopt` and `amp find-stores`: bring in memory that other tools keep, and find where it lies."""

import os
import sys
from collections.abc import Iterator, Sequence
from shlex import quote

import click

from ..learning.merge_in import Adoption
from ..text.phrases import counted
from ..tiers.meet import OPPOSITE
from .choosing import Choosing, ChoosingCommand, choosing_options
from .options import NOT_APPLIED, Call, call_options, call_with, json_option, root_option
from .printing import first_words, note, own_words, plain

_SHOWN = 8  # So many new entries and notes of a store are shown; the rest are counted
_NAMED = 3  # So many rules files are named one by one that now say what memory says


@click.command("adopt", cls=ChoosingCommand)
@click.argument("sources", nargs=-1, required=True, metavar="SOURCE...", type=click.Path())
@click.option("--apply", "do", is_flag=True, help="Import. Without it, amp only shows the plan.")
@click.option("--link", is_flag=True, help="With --apply: leave one line in each rules file that was fully imported.")
@choosing_options("adopt")
@call_options
def adopt_command(call: Call, sources: tuple[str, ...], do: bool, link: bool, choosing: Choosing) -> None:
    """Import memory and rules from other tools. Existing entries are skipped.

    SOURCE is a folder or a file. `amp adopt .` finds CLAUDE.md, AGENTS.md, GEMINI.md, and rules of Cursor, Cline,
    Windsurf, Copilot and others, with the files they include. It also finds agent memory and auto memory of Claude
    Code, Serena's memories, Squad's histories and a memory bank. You can also name a Markdown page, another
    .scaffolding folder or agent-memory/0.1 files.

    Rules become entries under their headings, with their source and globs. A long section becomes a note. SOURCE does
    not change, except with --link. Text with a secret is not imported. The command lists what it left out and then ends
    with 3 or 4.

    \b
    Examples:
        amp adopt .
        amp adopt CLAUDE.md .cursor/rules --apply
        amp adopt .claude/agent-memory --apply
    """
    here, who = call.workspace(), call.actor()
    planned = choosing.chosen(choosing.settle(here, who, lambda: here.plan_adoption(sources, actor=who), list))
    if do:
        planned = here.apply_adoption(planned, actor=who)
    linked: list[str] = []
    if link:
        linked = here.link_originals(planned, actor=who) if do else here.originals(planned, actor=who)
    values = {"applied": do, "adoptions": [one.to_json() for one in planned], "linked": linked if do else []}
    call.answer(values, [*_lines(planned, is_done=do), *_moved(linked, is_done=do)])
    new = [one for one in planned if one.does_something]
    originals = here.originals(new, actor=who) if do and not link else []
    for path in originals if len(originals) <= _NAMED else ():
        note(f"{path}: its agents now read these facts twice; `amp adopt {path} --link --apply` moves what it says")
    if len(originals) > _NAMED:
        command = f"amp adopt {' '.join(map(quote, sources))} --link --apply"
        note(f"agents now read the facts of {len(originals)} rules files twice; `{command}` moves what they say")
    if link:
        for one in planned:
            if one.left_out and one.store.path not in linked:
                note(f"{plain(one.store.path)} stays as it is: not all of it was imported")
    if linked and do:
        note("only agents whose host has amp are given memory; `amp doctor` says which have it")
    left_out = [left for one in planned for left in one.left_out]
    sys.exit(max((left.exit_code or 3 * do for left in left_out), default=0))


def _moved(linked: Sequence[str], *, is_done: bool) -> Iterator[str]:
    for path in linked:
        if is_done:
            yield own_words(f"{path} has one line now; `amp restore {quote(path)} --apply` brings it back")
        else:
            yield f"{path} would be one line that points to memory; {NOT_APPLIED}"


def _lines(planned: Sequence[Adoption], *, is_done: bool) -> Iterator[str]:
    # What a person decides about comes first.
    for pair in (pair for one in planned for pair in one.contradictions):
        yield f"? {first_words(pair.new)}"
        says = "contradicts" if pair.way == OPPOSITE else "has another value than"
        yield f"    {says}  {first_words(pair.standing)}"
    old = [text for one in planned for text in one.old]
    yield from (f"? old, is it still true? {first_words(text, behind=23)}" for text in old[:_SHOWN])
    if len(old) > _SHOWN:
        yield own_words(f"? and {len(old) - _SHOWN} more old entries; once they are imported, `amp review` lists them")
    for one in planned:
        yield from _about(one)
    to_do = [one for one in planned if one.does_something]
    if not to_do:
        yield "nothing to import"
        return
    sizes = {"entry": sum(len(one.entries) for one in to_do), "note": sum(len(one.notes) for one in to_do)}
    new = " and ".join(counted(size, what) for what, size in sizes.items() if size) or "the lines of an index"
    yield f"{new} imported" if is_done else f"{new} would be imported; {NOT_APPLIED}"


@click.command("find-stores")
@call_with(json_option, root_option)
def find_stores_command(call: Call) -> None:
    """List other places that hold memory of this project.

    It looks in this project, its worktrees and neighbouring checkouts of the same repository. It also looks at your own
    Claude Code memory for each of them.

    \b
    Example:
        amp find-stores
    """
    here = call.workspace()
    found = here.find_stores()
    said = [] if found else ["found no memory of this project elsewhere"]
    for one in found:
        path = quote(os.path.relpath(one.path, here.path))
        said += [one.path, own_words(f"    {one.kind}; `amp adopt {path}` shows what it would import")]
    call.answer({"root": str(here.path), "stores": [{"path": one.path, "kind": one.kind} for one in found]}, said)


def _about(one: Adoption) -> Iterator[str]:
    store = one.store
    yield f"{one.id}  {plain(_from_here(store.path))}  ({store.kind})  ->  {store.target}"
    if one.present:
        yield f"  = {counted(one.present, 'entry')} {'is' if one.present == 1 else 'are'} here already"
    yield from _new([first_words(text, behind=4) for text in one.entries], "entries")
    if one.text is not None and not one.entries:
        yield "  + the lines of its index"
    yield from _new([f"{file} (a note)" for file in one.notes], "notes")
    if one.index_lines:
        yield f"  + {counted(len(one.index_lines), 'line')} of its index, in INDEX.md"
    for left in one.left_out:
        note(f"left out: {left.where}: {left.reason}")


def _from_here(path: str) -> str:
    """Return a path below the current folder as it is named from there."""
    name = os.path.relpath(path)
    return path if name.startswith(os.pardir) else name


def _new(lines: Sequence[str], what: str) -> Iterator[str]:
    for line in lines[:_SHOWN]:
        yield f"  + {line}"
    if len(lines) > _SHOWN:
        yield f"  + and {len(lines) - _SHOWN} more {what}"

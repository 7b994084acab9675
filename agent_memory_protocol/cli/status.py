"""`amp status` and `amp where`: how full the memory is, and where it lies."""

import sys

import click

from .. import PROTOCOL, __version__
from ..answers import Status
from ..workspace import Workspace
from .cells import cells, padded
from .options import Call, call_options, conversation_option, nothing_yet, problems_in_settings
from .printing import can_print, colour, columns, first_words, note, plain, uncoloured

_BAR = 20
_MANY = 10  # With more documents than that, a page shows what a table cannot
_WAYS = ("injected", "searched", "opened")
_NARROW = (1, 5)  # The columns that say in other words what another says: the bar, and the tokens


@click.command("status")
@click.option("--use", "shows_use", is_flag=True, help="Show how often each entry was recalled and found here.")
@conversation_option
@call_options
def status_command(call: Call, shows_use: bool, conversation: str | None) -> None:
    """Show how full each memory file is, and how old it is.

    Exit code 4: a file could not be read.

    \b
    Example:
        amp status
    """
    here = call.workspace()
    if shows_use:
        _show_use(call, here, conversation)
        return
    rows = here.status(call.actor(conversation))
    if not problems_in_settings(here) and not rows and here.path.is_dir():
        note(nothing_yet(here))
    said = table(rows, columns()) if rows else []
    call.answer({"root": str(here.path), "documents": [row.to_json() for row in rows]}, said)
    if len(rows) > _MANY:
        note("`amp view` shows them as bars of their lines, coloured by age, in the browser")
    sys.exit(4 if any(row.problem for row in rows) else 0)


def _show_use(call: Call, here: Workspace, conversation: str | None) -> None:
    """Show what was counted of each entry, least used first."""
    rows = here.usage(call.actor(conversation))
    if not here.settings.count:
        note("nothing is counted; set `count = true` under [recall] in .scaffolding/amp.toml")
    values = [
        {"id": one, "target": str(target), **{how: row.get(how, 0) for how in _WAYS}, "last": row.get("last")}
        for target, one, _, row in rows
    ]
    told = [
        f"{' '.join(f'{row.get(how, 0):>8}' for how in _WAYS)}  {row.get('last') or 'never':<10}  "
        f"{target} {one}  {first_words(text, 60)}".rstrip()
        for target, one, text, row in rows
    ]
    documents = [row.to_json() for row in here.status(call.actor(conversation))]
    head = f"{' '.join(f'{how:>8}' for how in _WAYS)}  last        entry"
    call.answer({"root": str(here.path), "documents": documents, "use": values}, [head, *told] if told else [])


def table(rows: list[Status], width: int) -> list[str]:
    """Return the rows as an aligned table with a bar for how full each document is.

    Where `width` is too little for it, it is narrower, and has neither the bars nor the tokens.
    """
    wide = _table(rows)
    return wide if all(cells(uncoloured(line)) <= width for line in wide) else _table(rows, without=_NARROW)


def _table(rows: list[Status], without: tuple[int, ...] = ()) -> list[str]:
    full, empty = ("█", "░") if can_print("█░") else ("#", ".")
    titles = ["document", "" if without else "full", "full" if without else ""]
    grid = [[*titles, "lines", "bytes", "~tokens", "entries", "dated", "oldest", "newest", "notes"]]
    for row in rows:
        filled = min(_BAR, round(row.share * _BAR))
        grid.append(
            [
                plain(str(row.target)),
                full * filled + empty * (_BAR - filled),
                f"{row.percent}%",
                str(row.lines),
                f"{row.bytes:,}",
                f"{row.tokens:,}",
                str(row.entries),
                str(row.dated),
                row.oldest.isoformat() if row.oldest else "-",
                row.newest.isoformat() if row.newest else "-",
                f"{row.notes - row.unlisted} of {row.notes}" if row.unlisted else str(row.notes),
            ]
        )
    widths = [max(map(cells, column)) for column in zip(*grid, strict=True)]
    left = {0, 1, 8, 9}
    lines = []
    for number, cell in enumerate(grid):
        text = [
            padded(value, width, right=column not in left)
            for column, (value, width) in enumerate(zip(cell, widths, strict=True))
        ]
        row = rows[number - 1]
        if number and row.problem:
            lines.append(f"{text[0]}  {colour(f'not readable: {row.problem}', 'red')}")
            continue
        if number:
            shows = 2 if without else 1
            text[shows] = colour(text[shows], "red" if row.share > 1 else "yellow" if row.share >= 0.9 else "green")
        gap = " " if without else "  "
        lines.append(gap.join(value for column, value in enumerate(text) if column not in without).rstrip())
    return lines


@click.command("where")
@call_options
def where_command(call: Call) -> None:
    """Show the project root, each path in use, and the settings. It also says how the root was found.

    \b
    Example:
        amp where
    """
    call.actor()  # refuses a name that breaks the rule
    here = call.workspace(tells_settings=True)
    call.answer(where_json(here), where_lines(here))


def where_lines(here: Workspace) -> list[str]:
    """Return the answer of `amp where` as text."""
    answer = here.where()
    lines = [
        f"root      {here.path}",
        f"found as  {here.how}",
        f"version   {__version__}, protocol {PROTOCOL}",
        "paths",
    ]
    lines += [f"  {'' if there else 'not there: '}{path}" for path, there in answer.paths]
    lines.append("settings" if answer.settings else "settings  all defaults")
    lines += [f"  {name} = {value!r}  ({origin})" for name, value, origin in answer.settings]
    lines += [f"  problem: {problem}" for problem in answer.problems]
    return lines


def where_json(here: Workspace) -> dict[str, object]:
    """Return the answer of `amp where` as JSON."""
    project = {"root": str(here.path), "how": here.how, "amp": __version__, "protocol": PROTOCOL}
    return {**project, **here.where().to_json()}

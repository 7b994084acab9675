"""`amp review`: the monthly upkeep list, the most urgent first, on one screen."""

import sys
from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import date

import click

from ..text.phrases import counted
from ..verbs.review import KINDS, Item
from .cells import cells, cut
from .choosing import Choosing, ChoosingCommand, choosing_options
from .options import Call, call_options
from .printing import columns, first_words, note, own_command, own_words

SCREEN = 36
"""Lines of a list that is not asked for whole. With what is said on stderr it fits a screen of 40."""

TITLES = {
    "opposite": "one denies the other",
    "changed": "have another value",
    "renewed": "the first may be out of date",
    "merge": "say much the same",
    "stale": "past their age; the command says that they are still true, `amp forget ID` removes them",
    "unneeded": "not recalled, found or opened here for 90 days",
    "unlisted": "notes that no index leads to",
    "close": "conversations that are over; `amp close --over` ends them all",
    "agent": "agents with another name",
    "crowded": "more notes than are read at a glance",
    "undated": "undated, from the top of each file; the command says that they are still true",
}
_ONE_LINE = ("stale", "unneeded", "close", "agent", "undated", "unlisted")
_TEXTS = 3  # So many texts of a group are shown
_INDENT = " " * 12
_WIDE = 80  # A command and what is said of it are on two lines if they take more cells, or do not fit the terminal
_LEAST = 20  # So many cells of a text are worth showing behind a command


@click.command("review", cls=ChoosingCommand)
@click.option("--done", is_flag=True, help="Record that the review was done today.")
@click.option("--all", "whole", is_flag=True, help="Show the whole list, even if it is long.")
@choosing_options("review")
@call_options
def review_command(call: Call, done: bool, whole: bool, choosing: Choosing) -> None:
    """List conflicts, entries to merge and old entries. One screen; each row has its command.

    `amp check` says when a review is due: one month after the last one.

    \b
    Examples:
        amp review
        amp review --refuse 3fa29c01
        amp review --done
    """
    here = call.workspace()
    who = call.actor()
    if done:
        here.record_review(actor=who)
        today = date.today().isoformat()
        call.answer({"reviewed": today}, [f"reviewed on {today}; the next is due in a month"])
        return
    problems: list[str] = []

    def plan() -> list[Item]:
        problems.clear()
        return here.review(actor=who, on_problem=lambda _, problem: problems.append(problem))

    found = choosing.chosen(choosing.settle(here, who, plan, list))
    found = [replace(item, command=own_command(item.command)) for item in found]
    for problem in problems:
        note(problem)
    call.answer(
        {"items": [item.to_json() for item in found], "problems": problems},
        screen(found, sys.maxsize if whole else SCREEN),
    )
    sys.exit(4 if problems else 0)


def screen(found: Sequence[Item], most: int) -> Iterator[str]:
    """Yield the list in at most so many lines, something of every kind in it."""
    lists = {kind: rows for kind in KINDS if (rows := [_rows(item) for item in found if item.kind == kind])}
    least = {kind: 1 + len(rows[0]) + (len(rows) > 1) for kind, rows in lists.items()}
    left = most - 2
    is_cut = False
    for kind, rows in lists.items():
        left += least[kind] - sum(least.values()) if kind == next(iter(lists)) else least[kind]
        shown, used = 0, 1
        for number, row in enumerate(rows, 1):
            if shown and used + len(row) + (number < len(rows)) > left:
                break
            shown, used = number, used + len(row)
        title = own_words(TITLES[kind])
        yield f"{title}:" if shown == len(rows) else f"{title} ({len(rows)}):"
        for row in rows[:shown]:
            yield from row
        if shown < len(rows):
            yield f"  … {len(rows) - shown} more"
            used += 1
            is_cut = True
        left -= used
    if not found:
        yield "nothing to look at"
    elif most < sys.maxsize:
        yield own_words("`amp review --all` shows every row; `--refuse ID` never shows one again")
        if is_cut:
            note("`amp view` shows each of them beside its entry, in the browser")
    note("when you have finished, `amp review --done` records it")


def _rows(item: Item) -> list[str]:
    """Return how one item is shown: its id, what to do, and what it says."""
    if item.kind in _ONE_LINE:
        said = ", ".join(one.name for one in item.texts) if item.kind == "unlisted" else item.text
        told = "" if item.kind == "undated" else f"{item.message}  "
        command, rest = f"  {item.id}  {item.command}  ", f"{told}{_short(item.texts[0].place)}  "
        line = f"{command}{rest}"
        if cells(line) + _LEAST > columns():
            rest = f"{_INDENT}{rest}"
            return [command.rstrip(), f"{rest}{first_words(said, 60, behind=cells(rest))}"]
        return [f"{line}{first_words(said, 60, behind=cells(line))}"]
    command = f"  {item.id}  {item.command}  ({item.message})"
    is_long = cells(command) > min(columns(), _WIDE)
    rows = [f"  {item.id}  {item.command}", f"{_INDENT}{item.message}"] if is_long else [command]
    for one in item.texts[:_TEXTS]:
        place = f"{_INDENT}{_short(one.place)}  "
        rows.append(cut(f"{place}{first_words(one.text, behind=cells(place))}", columns()))
    if len(item.texts) > _TEXTS:
        rows.append(f"{_INDENT}… {counted(len(item.texts) - _TEXTS, 'more text')}")
    return rows


def _short(place: str) -> str:
    return place.removeprefix(".scaffolding/").removeprefix("agent-memory/").replace("/agent-memory/context.md", "")

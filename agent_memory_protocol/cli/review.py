"""`amp review`: the monthly upkeep list."""

import sys
from collections.abc import Sequence
from datetime import date

import click

from ..verbs.review import Item
from .options import actor, as_option, first_words, json_option, note, plain, print_json, root_option, workspace

_TITLES = {
    "merge": "say much the same",
    "crowded": "more than is read at a glance",
    "stale": "past their age",
    "undated": "undated, from the top of each file",
}


@click.command("review")
@click.option("--done", is_flag=True, help="Record that the review was done today.")
@json_option
@root_option
@as_option
def review_command(done: bool, as_json: bool, root: str | None, as_agent: str | None) -> None:
    """List what to merge, what is old, what to look at again.

    `amp check` says when a review is due: a month after the last.

    \b
    Examples:
        amp review
        amp review --done
    """
    here = workspace(root)
    who = actor(as_agent)
    if done:
        here.record_review(actor=who)
        today = date.today().isoformat()
        if as_json:
            print_json({"reviewed": today})
        else:
            click.echo(f"reviewed on {today}; the next is due in a month")
        return
    problems: list[str] = []
    found = here.review(actor=who, on_problem=lambda _, problem: problems.append(problem))
    for problem in problems:
        note(problem)
    if as_json:
        items = [{"kind": item.kind, "place": item.place, "message": item.message, "text": item.text} for item in found]
        print_json({"items": items, "problems": problems})
    else:
        _show(found)
    sys.exit(4 if problems else 0)


def _show(found: Sequence[Item]) -> None:
    for kind, title in _TITLES.items():
        listed = [item for item in found if item.kind == kind]
        if listed:
            click.echo(f"{title}:")
            for item in listed:
                click.echo(f"  {plain(item.place)}  {plain(item.message)}\n      {first_words(item.text, behind=6)}")
    if not found:
        click.echo("nothing to look at")
    if any(item.kind == "stale" for item in found):
        note("`amp edit ID --dated` says that an entry still holds, `amp forget ID` takes it out")
    note("when you are through, `amp review --done` records it")

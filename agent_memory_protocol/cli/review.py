"""`amp review`: the monthly upkeep list."""

import sys
from collections.abc import Iterator, Sequence
from datetime import date

import click

from ..verbs.review import Item
from .options import Call, call_options, first_words, note, plain

_TITLES = {
    "opposite": "say the opposite of each other",
    "changed": "have another value",
    "merge": "say much the same",
    "crowded": "more than is read at a glance",
    "stale": "past their age",
    "undated": "undated, from the top of each file",
}


@click.command("review")
@click.option("--done", is_flag=True, help="Record that the review was done today.")
@call_options
def review_command(call: Call, done: bool) -> None:
    """List what disagrees, what to merge, and what is old.

    `amp check` says when a review is due: a month after the last.

    \b
    Examples:
        amp review
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
    found = here.review(actor=who, on_problem=lambda _, problem: problems.append(problem))
    for problem in problems:
        note(problem)
    call.answer({"items": [item.to_json() for item in found], "problems": problems}, _lines(found))
    sys.exit(4 if problems else 0)


def _lines(found: Sequence[Item]) -> Iterator[str]:
    for kind, title in _TITLES.items():
        listed = [item for item in found if item.kind == kind]
        if listed:
            yield f"{title}:"
            for item in listed:
                yield f"  {plain(item.place)}  {plain(item.message)}"
                for text in filter(None, (item.text, item.other)):
                    yield f"      {first_words(text, behind=6)}"
    if not found:
        yield "nothing to look at"
    if any(item.kind == "stale" for item in found):
        note("`amp edit ID --dated` says that an entry still holds, `amp forget ID` takes it out")
    note("when you are through, `amp review --done` records it")

"""`amp route`: where a text belongs."""

import click

from ..learning import route
from ..learning.route_words import REPOSITORY, SECRET, STATE
from .options import Call, TextCommand, call_options
from .write import read_text

_PLACES = {
    STATE: "state: the project's state files or its journal",
    SECRET: "secret: an env file outside git",
    REPOSITORY: "repository: it can be looked up there",
}


@click.command("route", cls=TextCommand)
@click.argument("text")
@call_options
def route_command(call: Call, text: str) -> None:
    """Show where TEXT belongs, and which command saves it there. `-` reads the text from stdin.

    State (what is true right now) belongs in a state file or journal, a secret in an env file. What the repository
    shows already is not saved. A lesson belongs in memory: amp names the tier, or the type of note. It judges by words
    alone.

    \b
    Examples:
        amp route "Sent the report on the 8th."
        amp route "Redis must run with AOF on, or a restart loses the queue."
    """
    call.actor()  # refuses a name that breaks the rule
    text = read_text(text)
    found = route.route(text)
    command = route.command(found, text)
    said = [_PLACES.get(found.place) or _lesson(found), f"why:  {found.reason}"]
    said += [f"ask:  {found.question}"] if found.question else []
    call.answer({**found.to_json(), "command": command}, [*said, f"save: {command}"])


def _lesson(found: route.Route) -> str:
    what = f"a {found.note_type} note beside the {found.tier} tier" if found.note_type else f"the {found.tier} tier"
    return f"lesson: {what}"

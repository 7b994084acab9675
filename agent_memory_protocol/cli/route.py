"""`amp route`: where a text belongs."""

import click

from ..learning import route
from ..learning.route_words import REPOSITORY, SECRET, STATE
from .options import TextCommand, actor, as_option, json_option, plain, print_json, root_option
from .write import read_text

_PLACES = {
    STATE: "state: the project's state files or its journal",
    SECRET: "secret: an env file outside git",
    REPOSITORY: "repository: it can be looked up there",
}


@click.command("route", cls=TextCommand)
@click.argument("text")
@json_option
@root_option
@as_option
def route_command(text: str, as_json: bool, root: str | None, as_agent: str | None) -> None:  # noqa: ARG001 - every verb takes it
    """Say where TEXT belongs, and which command saves it there. `-` reads the text from stdin.

    State (what is true right now) belongs in a state file or journal, a secret in an env file, what the repository
    shows nowhere else, and a lesson in memory: in which tier, or in a note of which type. It goes by words alone.

    \b
    Examples:
        amp route "Sent the report on the 8th."
        amp route "Redis must run with AOF on, or a restart loses the queue."
    """
    actor(as_agent)
    text = read_text(text)
    found = route.route(text)
    command = route.command(found, text)
    if as_json:
        print_json(
            {
                "place": found.place,
                "tier": found.tier.value if found.tier else None,
                "note_type": found.note_type,
                "reason": found.reason,
                "question": found.question or None,
                "sure": found.is_sure,
                "command": command,
            }
        )
        return
    click.echo(_PLACES.get(found.place) or _lesson(found))
    click.echo(plain(f"why:  {found.reason}"))
    if found.question:
        click.echo(f"ask:  {found.question}")
    click.echo(plain(f"save: {command}"))


def _lesson(found: route.Route) -> str:
    what = f"a {found.note_type} note beside the {found.tier} tier" if found.note_type else f"the {found.tier} tier"
    return f"lesson: {what}"

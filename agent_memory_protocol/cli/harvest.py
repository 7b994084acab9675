"""`amp harvest`: a read-only agent's findings become memory, saved by an agent that may write."""

import sys

import click

from ..disk.errors import explain, shown
from ..errors import StorageError
from ..hosts.harvest import Harvested, harvest
from .options import actor, as_option, first_words, json_option, note, print_json, root_option, target_json, workspace
from .write import LARGEST_TEXT, decode_text, read_text


@click.command("harvest")
@click.argument("file", default="-", type=click.Path(exists=True, dir_okay=False, allow_dash=True), metavar="[FILE]")
@click.option("--reporter", metavar="NAME", help="Who reported; by default who the output names in its front matter.")
@click.option("--conversation", metavar="ID", help="The conversation it was reported in; by default AMP_CONVERSATION.")
@json_option
@root_option
@as_option
def harvest_command(
    file: str, reporter: str | None, conversation: str | None, as_json: bool, root: str | None, as_agent: str | None
) -> None:
    """Save the findings that a read-only agent has reported.

    Each bullet of a `memory-findings` block becomes one entry of the tier it names, without one of the conversation.
    FILE is the output; without it, or with -, it is read from stdin. The entry names who reported and who saved it.

    \b
    Example:
        amp harvest review.md --reporter reviewer --as developer --conversation 7f3a
    """
    saved = harvest(
        workspace(root),
        _output(file),
        actor=actor(as_agent, conversation),
        conversation=conversation,
        reporter=reporter,
    )
    if as_json:
        print_json({"findings": [_as_json(one) for one in saved]})
    elif not saved:
        note("there is no memory-findings block in it, or no bullet in the block")
    for one in saved:
        if one.done is None:
            note(f"not saved: {first_words(one.finding.text, 60) or 'a finding'}: {one.problem}")
        elif not as_json:
            what = "saved" if one.done.status == "added" else "already there"
            click.echo(f"{what}: {one.done.entry.target.path}:{one.done.line}  [{one.done.entry.id}]")
    if any(one.problem for one in saved):
        sys.exit(3)


def _output(file: str) -> str:
    """Return what the agent has said, from a file or from stdin."""
    if file == "-":
        return read_text("-")
    try:
        with open(file, "rb") as opened:
            data = opened.read(LARGEST_TEXT + 1)
    except OSError as error:
        raise StorageError(f"{shown(file)}: cannot be read: {explain(error)}") from error
    return decode_text(data, shown(file))


def _as_json(one: Harvested) -> dict[str, object]:
    found: dict[str, object] = {"text": one.finding.text, "status": "refused", "problem": one.problem or None}
    if one.done is not None:
        found |= {"status": one.done.status, "id": one.done.entry.id, **target_json(one.done.entry.target)}
    return found

"""`amp harvest`: a read-only agent's findings become memory, saved by an agent that may write."""

import sys

import click

from ..disk.errors import shown
from ..formats.record_files import reading
from ..hosts.harvest import harvest
from .options import Call, call_options
from .printing import first_words, note
from .write import LARGEST_TEXT, decode_text, read_text


@click.command("harvest")
@click.argument("file", default="-", type=click.Path(exists=True, dir_okay=False, allow_dash=True), metavar="[FILE]")
@click.option("--reporter", metavar="NAME", help="The agent that reported. Default: the name in the front matter.")
@click.option("--conversation", metavar="ID", help="The conversation of the report. Default: AMP_CONVERSATION.")
@click.option("--section", metavar="HEADING", help="Where bullets go that have no heading above them in the block.")
@call_options
def harvest_command(call: Call, file: str, reporter: str | None, conversation: str | None, section: str | None) -> None:
    """Save the findings that a read-only agent reported.

    Each bullet of a `memory-findings` block becomes one entry in the tier it names; by default in the conversation.
    FILE is the output of the agent; without it, or with -, amp reads stdin. The entry names the reporter and the agent
    that saved it.

    \b
    Example:
        amp harvest out.md --reporter reviewer --as developer --conversation 7f3a
    """
    saved = harvest(
        call.workspace(),
        _output(file),
        actor=call.actor(conversation),
        conversation=conversation,
        reporter=reporter,
        section=section,
    )
    kept = [(one.done, "saved" if one.done.status == "added" else "already there") for one in saved if one.done]
    call.answer(
        {"findings": [one.to_json() for one in saved]},
        [f"{what}: {done.entry.target.path}:{done.line}  [{done.entry.id}]" for done, what in kept],
    )
    if not saved and not call.as_json:
        note("there is no memory-findings block in it, or no bullet in the block")
    for one in saved:
        for line in one.done.notes if one.done else ():
            note(line)
        if one.done is None:
            note(f"not saved: {first_words(one.finding.text, 60) or 'a finding'}: {one.problem}")
    if any(one.problem for one in saved):
        sys.exit(3)


def _output(file: str) -> str:
    """Return what the agent has said, from a file or from stdin."""
    if file == "-":
        return read_text("-")
    with reading(file) as opened:
        data = opened.read(LARGEST_TEXT + 1)
    return decode_text(data, shown(file))

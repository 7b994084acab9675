"""`amp recall`: the block an agent starts its task with. On the way of every task start, so it loads little."""

import sys
from collections.abc import Iterator
from contextlib import suppress
from typing import TYPE_CHECKING

import click

from ..errors import AgentMemoryError
from ..recall.agent import recall_here
from ..recall.block import Budget, Recall
from .options import Call, budget_options, call_options, today_option
from .printing import first_words, note, print_json, say_text

if TYPE_CHECKING:
    from datetime import date


@click.command("recall")
@click.argument("agent", required=False)
@click.option("--conversation", metavar="ID", help="The conversation the task belongs to.")
@click.option("--task", metavar="TEXT", help="AGENT's task. If memory does not fit, entries about it are kept.")
@today_option
@budget_options
@click.option("--explain", is_flag=True, help="Print on stderr what was kept, what was left out, and where it is.")
@call_options
def recall_command(
    call: Call,
    agent: str | None,
    conversation: str | None,
    task: str | None,
    today: "date | None",
    max_lines: int | None,
    max_chars: int | None,
    max_tokens: int | None,
    explain: bool,
) -> None:
    """Print the memory that AGENT gets when a task starts.

    It prints shared memory, AGENT's own memory, the conversation's memory and the records. If there is nothing to
    recall, it prints nothing; on a terminal it says so.

    \b
    Example:
        amp recall developer --conversation 7f3a --max-chars 10000
    """
    who = call.reader(agent, conversation)
    budget = Budget(max_lines=max_lines, max_chars=max_chars, max_tokens=max_tokens)
    found = recall_here(who, budget, root=call.root, task=task, today=today)
    # What is wrong with the store itself is wrong with each document in it, and said once.
    for warning in dict.fromkeys([*found.warnings, *(part.problem for part in found.parts if part.problem)]):
        note(warning)
    if agent is not None and not any(part.target.owner == who.agent for part in found.parts):
        _say_of_no_memory(call, agent, explain)
    if explain:
        if not found.parts and not found.warnings:
            call.workspace()  # says whether memory is switched off
        for line in _explained(found):
            note(line)
    # What was left out is looked for only where it is asked for.
    if call.as_json:
        print_json(found.to_json(), as_it_is=True)
    elif found.text:
        say_text(found.text, as_it_is=True)
    elif not explain and sys.stdout is not None and sys.stdout.isatty():
        note("there is nothing to recall; `amp doctor` says why")


def _say_of_no_memory(call: Call, agent: str, explain: bool) -> None:
    """Say which agent's name was probably misspelt, if the one that was given has no memory."""
    from ..layout import Tier
    from ..project.agents import nearest
    from ..workspace import Workspace

    with suppress(AgentMemoryError):  # what is wrong with the store has been said
        owners = [one.owner for one in Workspace.open(call.root).targets(call.actor()) if one.tier is Tier.AGENT]
        meant = nearest(agent, owners)
        if agent not in owners and (meant or explain):
            note(f"agent {agent} has no memory yet{f'; did you mean {meant}?' if meant else ''}")


def _explained(found: Recall) -> Iterator[str]:
    from ..text.labels import in_front_of_item

    if not found.parts and found.records is None:
        yield "there is nothing to recall"
    if found.records is not None:
        yield f"records: {len(found.records.hits)} of {found.records.number}"
    for part in found.parts:
        if part.problem:
            yield f"{part.target}: not read"
            continue
        whole = "" if part.left_out else ", every entry"
        yield f"{part.target}: {part.lines} of {part.lines_in_file} lines{', one entry cut' if part.cut else whole}"
        for left_out in part.left_out:
            alone = in_front_of_item(left_out.label, left_out.text)
            yield f"  left out, line {left_out.first_line}: {first_words(alone, 80)}"

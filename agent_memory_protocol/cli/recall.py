"""`amp recall`: the block an agent starts its task with. On the way of every task start, so it loads little."""

import click

from ..recall.agent import recall_here
from ..recall.block import Budget, Recall
from .options import (
    as_option,
    budget_options,
    first_words,
    json_option,
    note,
    print_json,
    reader,
    root_option,
    target_json,
    workspace,
)


@click.command("recall")
@click.argument("agent", required=False)
@click.option("--conversation", metavar="ID", help="The conversation the task belongs to.")
@click.option("--task", metavar="TEXT", help="What AGENT is to do: where not all fits, what it is about stays.")
@budget_options
@click.option("--explain", is_flag=True, help="Say on stderr what was kept, what was left out, and where it stands.")
@json_option
@root_option
@as_option
def recall_command(
    agent: str | None,
    conversation: str | None,
    task: str | None,
    max_lines: int | None,
    max_chars: int | None,
    max_tokens: int | None,
    explain: bool,
    as_json: bool,
    root: str | None,
    as_agent: str | None,
) -> None:
    """Print the memory that AGENT starts its task with.

    Shared memory always, AGENT's own, and that of the conversation. Nothing to recall: nothing is printed.

    \b
    Example:
        amp recall developer --conversation 7f3a --max-chars 10000
    """
    who = reader(agent, as_agent, conversation, root)
    budget = Budget(max_lines=max_lines, max_chars=max_chars, max_tokens=max_tokens)
    found = recall_here(who, budget, root=root, task=task)
    # What is wrong with the store itself is wrong with each document in it, and said once.
    for warning in dict.fromkeys([*found.warnings, *(part.problem for part in found.parts if part.problem)]):
        note(warning)
    if explain:
        if not found.parts and not found.warnings:
            workspace(root)  # says whether memory is switched off
        _explain(found)
    if as_json:
        print_json(_as_json(found))
    elif found.text:
        click.echo(found.text)


def _explain(found: Recall) -> None:
    if not found.parts:
        note("there is nothing to recall")
    for part in found.parts:
        if part.problem:
            note(f"{part.target}: not read")
            continue
        note(f"{part.target}: {part.lines} of {part.lines_in_file} lines{', one entry cut' if part.cut else ''}")
        for left_out in part.left_out:
            note(f"  left out, line {left_out.first_line}: {first_words(left_out.text, 80)}")


def _as_json(found: Recall) -> dict[str, object]:
    parts = [
        {
            **target_json(part.target),
            "lines": part.lines,
            "lines_in_file": part.lines_in_file,
            "cut": part.cut,
            "problem": part.problem or None,
            "left_out": [
                {"line": left.first_line, "last_line": left.last_line, "date": left.date or None, "text": left.text}
                for left in part.left_out
            ],
        }
        for part in found.parts
    ]
    return {"text": found.text, "parts": parts, "warnings": found.warnings}

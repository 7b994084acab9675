"""`amp agent`: what concerns one agent's memory as a whole."""

import click

from ..text.phrases import counted
from .options import NOT_APPLIED, Call, call_options


@click.group("agent")
def agent_command() -> None:
    """Give an agent another name, with all its memory.

    \b
    Example:
        amp agent rename developer backend --apply
    """


@agent_command.command("rename")
@click.argument("old")
@click.argument("new")
@click.option("--apply", "do", is_flag=True, help="Rename. Without it, amp only shows the plan.")
@call_options
def rename_command(call: Call, old: str, new: str, do: bool) -> None:
    """Rename an agent, with its folder, title, ledger and notes.

    If you moved the folder already, as with git mv, amp updates the title and the ledger. The agent's definition
    belongs to its host.

    \b
    Example:
        amp agent rename developer backend --apply
    """
    here, who = call.workspace(), call.actor()
    planned = here.plan_renaming(old, new, actor=who)
    if do:
        here.rename_agent(planned, actor=who)
    does = "moved" if do else "would move"
    counts = f"{counted(planned.entries, 'entry')}, {counted(planned.ledger_lines, 'ledger line')}"
    said = [f"{planned.old.path} {does} to {planned.new.path}: {counts}", *(f"  {name}" for name in planned.files)]
    call.answer({"applied": do, **planned.to_json()}, said if do else [*said, NOT_APPLIED])

"""`amp ledger`: what concerns the ledgers as files."""

import click

from ..layout import parse_target
from ..text.phrases import counted
from .options import NOT_APPLIED, Call, call_options


@click.group("ledger")
def ledger_command() -> None:
    """Make old ledgers smaller.

    \b
    Example:
        amp ledger compact --apply
    """


@ledger_command.command("compact")
@click.argument("targets", nargs=-1, metavar="[TARGET]...")
@click.option("--apply", "do", is_flag=True, help="Compact. Without it, amp only shows the plan.")
@call_options
def compact_command(call: Call, targets: tuple[str, ...], do: bool) -> None:
    """Remove lines that nobody needs any more from ledgers.

    The other lines are written in short form. TARGET is shared, agent:NAME or conversation:ID; without one, all
    ledgers. What `amp restore`, `amp search --history` and every list say is the same before and after.

    \b
    Examples:
        amp ledger compact
        amp ledger compact shared --apply
    """
    chosen = [parse_target(one) for one in targets] or None
    found = call.workspace().compact_ledgers(chosen, apply=do, actor=call.actor())
    values = [
        {"target": str(target), "lines": [*one.lines], "bytes": [*one.size]}  # before and after
        for target, one in found
    ]
    told = [
        f"{target}: {counted(one.lines[0], 'line')} of {one.size[0]:,} bytes {'became' if do else 'would become'} "
        f"{one.lines[1]} of {one.size[1]:,} bytes"
        for target, one in found
        if one.changes_something
    ]
    if not told:
        told = ["nothing to compact"]
    elif not do:
        told.append(NOT_APPLIED)
    call.answer({"applied": do, "ledgers": values}, told)

"""`amp resolve` and `amp dispute`: settle two facts that disagree, entries and records alike."""

from typing import TYPE_CHECKING

import click

from .options import Call, call_options, conversation_option
from .record_options import has_records, open_memory

if TYPE_CHECKING:
    from ..memory import Memory

_reason_option = click.option("--reason", metavar="R", default="", help="Why; kept in the ledger, or with the records.")


@click.command("resolve")
@click.argument("loser", metavar="LOSER")
@click.argument("winner", metavar="WINNER")
@_reason_option
@conversation_option
@call_options
def resolve_command(call: Call, loser: str, winner: str, reason: str, conversation: str | None) -> None:
    """Retire LOSER: WINNER replaces it.

    Both are entries, or both are records. A retired entry goes to the ledger, which names its successor. `amp restore`
    brings it back. A retired record stays readable. The beginning of an id is enough.

    \b
    Example:
        amp resolve 3f9a1c2b7d10 92ccd762afbc --reason "upgraded in March"
    """
    from .. import settle

    done = settle.resolve(call.workspace(), _records(call), call.actor(conversation), loser, winner, reason=reason)
    call.answer(done.to_json(), [f"retired: {done.retired}, since {done.successor} holds"])


@click.command("dispute")
@click.argument("one", metavar="ID")
@click.argument("other", metavar="ID")
@_reason_option
@conversation_option
@call_options
def dispute_command(call: Call, one: str, other: str, reason: str, conversation: str | None) -> None:
    """Mark two facts as disputed with each other.

    Both are entries, or both are records. Recall shows both with their marks. `amp resolve` decides and removes the
    marks. If one of the two is removed, the other loses its mark. Running it again changes nothing.

    \b
    Example:
        amp dispute 3f9a1c2b7d10 92ccd762afbc --reason "the wiki says otherwise"
    """
    from .. import settle

    ids = settle.dispute(call.workspace(), _records(call), call.actor(conversation), one, other, reason=reason)
    call.answer({"disputed": [*ids]}, [f"disputed: {' and '.join(ids)}"])


def _records(call: Call) -> "Memory | None":
    return open_memory(call, None) if has_records(call, None) else None

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
@click.option("--end", is_flag=True, help="End their dispute: both are true. The marks go.")
@conversation_option
@call_options
def dispute_command(call: Call, one: str, other: str, reason: str, end: bool, conversation: str | None) -> None:
    """Mark two facts as disputed with each other.

    Both are entries, or both are records. Recall shows both with their marks. `amp resolve` decides and removes the
    marks. If one of the two is removed, the other loses its mark. Running it again changes nothing.

    With --end, both stay and lose their marks. The first of two records then gets a new id.

    \b
    Examples:
        amp dispute 3f9a1c2b7d10 92ccd762afbc --reason "the wiki says otherwise"
        amp dispute 3f9a1c2b7d10 92ccd762afbc --end
    """
    from .. import settle

    do = settle.end_dispute if end else settle.dispute
    ids = do(call.workspace(), _records(call), call.actor(conversation), one, other, reason=reason)
    answer = {"disputed": [], "ended": [*ids]} if end else {"disputed": [*ids]}
    call.answer(answer, [f"{'no longer disputed' if end else 'disputed'}: {' and '.join(ids)}"])


def _records(call: Call) -> "Memory | None":
    return open_memory(call, None) if has_records(call, None) else None

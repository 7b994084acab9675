"""Settle what disagrees: say which entries do, retire one for the other, or mark both as disputed."""

from collections.abc import Callable, Iterator, Sequence

from ..change.session import Session
from ..errors import StorageError
from ..layout import Target
from ..text.phrases import beginning
from ..tiers.document import Document
from ..tiers.meet import CHANGED, OPPOSITE, SAME, Meeting, Placed, meeting_of, meetings

_SAID = {SAME: "says the same", OPPOSITE: "says the opposite", CHANGED: "has another value"}
_SHOWN = 120
"""Characters of an entry in a remark."""


def disagreements(session: Session, documents: Sequence[Document]) -> list[Meeting]:
    """Return which entries say the opposite, and then which have another value, the older of each two first."""
    learned = _learned(session)
    return [one.in_order_of_age(learned) for one in meetings(documents)]


def remarks(document: Document, entry_id: str) -> Iterator[str]:
    """Tell the writer of a new entry which other one it meets, and the command that settles it."""
    met = meeting_of(document, entry_id)
    if met is None:
        return
    told = f"{met.first.id} {_SAID[met.way]}: “{beginning(met.first.text, _SHOWN)}”"
    if met.way == SAME:
        yield f"{told}; keep one (`amp forget {entry_id}` takes this one out)"
    else:
        met = met.in_order_of_age()
        yield f"{told}; `{met.resolve}` retires the older, or `{met.dispute}` marks both as disputed"


def _learned(session: Session) -> Callable[[Placed], str]:
    """Return what says when an entry was learned, as its ledger has it; "" where it has nothing."""
    known: dict[Target, dict[str, str]] = {}

    def learned(one: Placed) -> str:
        target = one.document.target
        if target not in known:
            try:
                known[target] = session.books(target).moments()
            except StorageError:  # what cannot be read is told elsewhere
                known[target] = {}
        return known[target].get(one.id, "")

    return learned

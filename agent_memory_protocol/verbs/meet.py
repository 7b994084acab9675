"""Tell the writer of a new entry which other one it meets, and the command that settles it."""

from collections.abc import Iterator

from ..text.phrases import beginning
from ..tiers.document import Document
from ..tiers.meet import CHANGED, OPPOSITE, SAME, meeting_of

_SAID = {SAME: "says the same", OPPOSITE: "says the opposite", CHANGED: "has another value"}
_SHOWN = 120
"""Characters of an entry in a remark."""


def remarks(document: Document, entry_id: str) -> Iterator[str]:
    """Say of a new entry which other one it meets first; nothing where it meets none."""
    met = meeting_of(document, entry_id)
    if met is None:
        return
    told = f"{met.first.id} {_SAID[met.way]}: “{beginning(met.first.text, _SHOWN)}”"
    if met.way == SAME:
        yield f"{told}; keep one (`amp forget {entry_id}` takes this one out)"
    else:
        met = met.in_order_of_age()
        yield f"{told}; `{met.resolve}` retires the older, or `{met.dispute}` marks both as disputed"

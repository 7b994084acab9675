"""A conversation ends: when it is over, what of it is worth keeping, and where its document goes (decision 51)."""

from contextlib import suppress
from datetime import date, timedelta

from ..change.session import Session
from ..errors import AgentMemoryError
from ..git.moves import committed_on
from ..layout import Tier
from ..text.moments import instant, of_clock
from ..tiers.document import Document
from ..tiers.entries import OWN

ENDS_AFTER = timedelta(days=30)  # A conversation is over when it has shown no sign of life for longer than this
CLOSED = "closed: the conversation is over"  # The reason in the ledger for what left with its conversation


def last_sign(session: Session, document: Document) -> date:
    """Return the day of the last sign of life: an entry's own date, a ledger line, a commit, else the file's time."""
    target = document.target
    days = [entry.day for entry in document.outline.entries if entry.day is not None and entry.day_source == OWN]
    signs = [date.fromordinal(day) for day in days if day <= session.now.date().toordinal()]
    archived = instant(session.books(target).latest_stamp())
    signs += [archived.date()] if archived else []
    committed = committed_on(session.root.path, target)
    if committed is None:
        found = session.root.locate(target.parts)
        info = None if found is None else found.info
        signs.append(of_clock(0 if info is None else info.st_mtime).date())
    else:
        signs.append(committed)
    return max(signs)


def over(session: Session, today: date) -> list[str]:
    """Return the conversations that are over, of those that can be read."""
    found = []
    for target in session.readable():
        if target.tier is Tier.CONVERSATION:
            with suppress(AgentMemoryError):
                current = session.read(target)
                if current is not None and today - last_sign(session, current) > ENDS_AFTER:
                    found.append(target.owner)
    return found

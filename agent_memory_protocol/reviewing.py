"""When the memory was last reviewed: one date in one file, which travels with the repository."""

from datetime import date

from .access import Actor
from .dates import day_number
from .layout import SCAFFOLDING, Target, Tier
from .session import Session
from .writing import create, make_folders, replace

FILE = (SCAFFOLDING, "agent-memory", "reviewed")
"""Where it stands, below the root."""


def last(session: Session) -> date | None:
    """Return the day of the last review; None where there was none, or the file says nothing that is a day."""
    content = session.root.read(FILE)
    day = None if content is None else day_number(content.data.decode("ascii", "replace").strip())
    return None if day is None else date.fromordinal(day)


def record(session: Session, actor: Actor, today: date) -> None:
    """Write down that the memory was reviewed on this day."""
    session.check_write(actor, Target(Tier.SHARED))
    line = f"{today.isoformat()}\n".encode()
    content = session.root.read(FILE)
    if content is None:
        make_folders(session.root, FILE[:-1])
        create(session.root, FILE, line)
    else:
        replace(session.root, FILE, line, expected=content)

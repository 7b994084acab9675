"""The verb that ends a conversation: what is worth keeping is carried on, and the rest goes to its ledger."""

from collections.abc import Sequence
from datetime import date

from ..answers import StoredEntry
from ..change.session import Session
from ..consolidation.proposals import Operator
from ..errors import InvalidArgument, Refused
from ..layout import Target, Tier
from ..project.access import Actor
from ..tiers import store
from ..values import dataclass
from . import distill, rewrite
from .conversations import CLOSED
from .distill import Distillation, Distilled
from .proposals import Choice
from .stored import stored_entries


@dataclass(frozen=True, slots=True)
class Closing:
    """What closing a conversation would do.

    Attributes:
        kept: what it has taught, as proposals.
        entries: what goes to its ledger; empty where it is closed already.
    """

    target: Target
    kept: Distillation
    entries: tuple[StoredEntry, ...]

    def to_json(self, closed: "Closed | None" = None) -> dict[str, object]:
        """Return the plan, or what was done of it, as it is in a JSON answer."""
        return {
            **self.kept.to_json(closed.kept if closed else None),
            "proposals": [one.to_json() for one in self.kept.candidates],
            "archived": [one.to_json() for one in (closed.archived if closed else self.entries)],
        }


@dataclass(frozen=True, slots=True)
class Closed:
    """What was done: the proposals that were taken, those that failed, and the entries that went to the ledger."""

    kept: Distilled
    archived: tuple[StoredEntry, ...]


def plan(session: Session, conversation: str, operator: Operator | None = None) -> Closing:
    """Say what closing a conversation would keep and archive. Changes nothing."""
    target = store.locate(session.root, Target(Tier.CONVERSATION, conversation))
    session.check_read(target)
    if target not in session.readable(ledgers=True):
        there = [one.owner for one in session.readable() if one.tier is Tier.CONVERSATION]
        raise InvalidArgument(f"no conversation {conversation!a}; there are: {', '.join(there) or 'none'}")
    current = session.read(target)
    entries = () if current is None else tuple(stored_entries(current))
    return Closing(target, distill.plan(session, Actor(session.actor.agent, target.owner), operator), entries)


def apply(session: Session, planned: Closing, choice: Choice, today: date) -> Closed:
    """Carry on what was chosen, then archive the document. If something is refused, such as a secret, it stays open."""
    session.check_write(planned.target)
    _check_secrets(session, planned.entries)
    kept = distill.apply(session, planned.kept, choice, today)
    if kept.refused or session.read(planned.target) is None:
        return Closed(kept, ())
    archived: list[StoredEntry] = []

    def away(_: str | None) -> None:
        current = session.read(planned.target)
        archived[:] = [] if current is None else stored_entries(current)
        _check_secrets(session, archived)

    rewrite.rewrite(session, planned.target, "", away, CLOSED)
    return Closed(kept, tuple(archived))


def _check_secrets(session: Session, entries: Sequence[StoredEntry]) -> None:
    for one in entries:
        why = session.why_held(one.text)
        if why:
            raise Refused(f"{one.id} {why}; {one.target} stays open")

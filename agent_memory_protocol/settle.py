"""Decide between two facts, or mark them as disputed, whether they are entries of tiers or records.

An id that names an entry and a record is refused: nobody can tell which is meant (docs/protocol.md, “Resolve and
dispute”).
"""

from .answers import About, Json
from .errors import IllegalMove, InvalidArgument, UnknownRecord
from .memory import Memory
from .project.access import Actor
from .records.record import SCHEME, Record
from .text.ids import complete
from .values import HasJson, dataclass
from .workspace import Workspace

BY_HAND = "decided by hand"  # The reason of a record that nobody gave one for: a record keeps one always


@dataclass(frozen=True, slots=True)
class Decision(HasJson):
    """One of two facts was retired: its id, and the id of the one that holds in its place."""

    JSON = "retired successor"

    retired: str
    successor: str


@dataclass(frozen=True, slots=True)
class Instead:
    """A record that was kept in place of another one: whether it is new, both ids, and what else is to be said."""

    new: bool
    id: str
    replaced: str
    notes: tuple[str, ...]

    def to_json(self) -> Json:
        """Return the JSON answer."""
        status = "added" if self.new else "kept"
        return {"status": status, "id": self.id, "replaced": self.replaced, "notes": [*self.notes]}


def resolve(
    workspace: Workspace, records: Memory | None, actor: Actor, loser: str, winner: str, *, reason: str = ""
) -> Decision:
    """Retire one of two facts for the other.

    Raises:
        InvalidArgument: an id is ambiguous or unknown, or one names an entry and the other a record.
        AccessDenied: this actor may not write the loser.
        IllegalMove: the records are in other disputes, or one is no longer active.
    """
    if records is None or not _are_records(workspace, records, actor, loser, winner):
        done = workspace.resolve(loser, winner, reason=reason, actor=actor)
        return Decision(done.retired.id, done.successor)
    lost, won = decide(records, records.find_id(loser), records.find_id(winner), reason or BY_HAND)
    return Decision(lost.id, won.id)


def decide(records: Memory, loser: str, winner: str, reason: str) -> tuple[Record, Record]:
    """Retire one of two records for the other, whether they are in a dispute or not; return both.

    Raises:
        IllegalMove: one is in another dispute, or no longer active.
    """
    if records.history(loser)[-1].transition is None:
        return records.supersede(loser, winner, reason)
    return records.resolve(loser, winner, reason)


def remember_instead(
    workspace: Workspace, records: Memory | None, actor: Actor, text: str, replaces: str, about: About, **others: object
) -> Instead | None:
    """Keep a text as a record in place of another one; None if `replaces` names an entry, or nothing.

    `others` are arguments that only an entry takes.

    Raises:
        InvalidArgument: it names an entry and a record, or something is given that a record does not have.
        IllegalMove: the record is disputed or no longer active.
    """
    if records is None or not _are_records(workspace, records, actor, replaces):
        return None
    others |= {"kind": about.kind, "confidence": about.confidence}
    for name in (name for name, value in others.items() if value not in (None, False)):
        raise InvalidArgument(f"{replaces} is a record, and a record has no {name} to choose; leave out {name}")
    old = records.find_id(replaces)
    kept = records.remember(text, tags=about.tags, source=about.source, replaces=old)
    return Instead(kept.new, kept.record_id, old, kept.notes)


def dispute(
    workspace: Workspace, records: Memory | None, actor: Actor, one: str, other: str, *, reason: str = ""
) -> tuple[str, str]:
    """Mark two facts as disputed with each other, and return their ids. A second time changes nothing. Raises as above.

    Raises:
        InvalidArgument, AccessDenied, IllegalMove: as `resolve`.
    """
    if records is None or not _are_records(workspace, records, actor, one, other):
        return workspace.dispute(one, other, reason=reason, actor=actor).ids
    first, second = records.dispute(records.find_id(one), records.find_id(other), reason or BY_HAND)
    return first.id, second.id


def end_dispute(
    workspace: Workspace, records: Memory | None, actor: Actor, one: str, other: str, *, reason: str = ""
) -> tuple[str, str]:
    """Say that two facts are not disputed with each other: both hold; return their ids.

    The history of a record only grows. So the first one is archived, which frees the other, and what it says is born
    again as another record, whose id is returned.

    Raises:
        InvalidArgument, AccessDenied, IllegalMove: as `resolve`, and where they are in no dispute with each other.
    """
    if records is None or not _are_records(workspace, records, actor, one, other):
        return workspace.end_dispute(one, other, actor=actor).ids
    first, second = records.find_id(one), records.find_id(other)
    transition = records.history(first)[-1].transition
    if transition is None or {*transition.sides} != {first, second}:
        raise IllegalMove(f"{first} and {second} are not disputed with each other")
    return _put_away_and_back(records, first, reason or BY_HAND).id, second


def _put_away_and_back(records: Memory, record_id: str, reason: str) -> Record:
    """Archive a record, which ends its dispute, and bring back what it says; return the record that says it now."""
    records.archive(record_id, reason)
    return records.reactivate(record_id, reason)


def _are_records(workspace: Workspace, records: Memory, actor: Actor, *ids: str) -> bool:
    """Say whether these are ids of records; if not, they are looked up as entries. No entry begins with `mem:`."""
    entries = {one.id: one.text for one in workspace.entries(actor, on_problem=lambda *_: None)}
    found = []
    for one in ids:
        is_entry = complete(one, entries, entries.__getitem__) is not None
        is_record = _is_record(records, one, is_entry=is_entry)
        if is_entry and is_record:
            raise InvalidArgument(f"{one} is the beginning of an entry's id and of a record's; give more of it")
        found.append(is_record)
    if any(found) and not all(found):
        raise InvalidArgument(f"{ids[found.index(True)]} is a record and {ids[found.index(False)]} is not; name two")
    return all(found)


def _is_record(records: Memory, start: str, *, is_entry: bool) -> bool:
    try:
        records.find_id(start)
    except UnknownRecord:
        if start.startswith(SCHEME):
            raise
        return False
    except InvalidArgument:
        if is_entry:
            return False
        raise
    return True

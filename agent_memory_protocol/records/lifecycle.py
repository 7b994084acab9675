"""The life of a record: which state may follow which, and the functions that move one on.

Every function takes records and returns records; none touches a store, and a move that the table does not list is
refused. Two facts that contradict each other stay side by side until someone decides, and what is replaced stays
readable: nothing here deletes. A move clears the signature, which was over the version before.
"""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from datetime import datetime

from ..errors import IllegalMove
from ..values import dataclass
from .canonical import EMPTY, cut_moment
from .record import LIVE, REDACTED_BODY, REDACTION, Provenance, Record, RecordType, State, Transition, by_birth

SUPERSEDE, DISPUTE, RESOLVE, ARCHIVE = "supersede", "dispute", "resolve", "archive"

NO_EVIDENCE = "all evidence records are archived or superseded"  # The reason on a flagged rule

_SEALED = (State.SUPERSEDED, State.ARCHIVED)


@dataclass(frozen=True, slots=True)
class Move:
    """One legal move: from a state to a state, by which function, on what condition."""

    source: State
    target: State
    by: str
    condition: str


MOVES = (
    Move(State.ACTIVE, State.SUPERSEDED, SUPERSEDE, "an active successor names the record; a reason is given"),
    Move(State.ACTIVE, State.TRANSITIONAL, DISPUTE, "both sides carry the same transition; a reason is given"),
    Move(State.TRANSITIONAL, State.ACTIVE, RESOLVE, "the winner of its transition; a reason is given"),
    Move(State.TRANSITIONAL, State.SUPERSEDED, RESOLVE, "the loser of its transition; a reason is given"),
    Move(State.ACTIVE, State.ARCHIVED, ARCHIVE, "a reason is given"),
    Move(State.TRANSITIONAL, State.ARCHIVED, ARCHIVE, "a reason is given"),
    Move(State.SUPERSEDED, State.ARCHIVED, ARCHIVE, "a reason is given"),
)
"""Every legal move there is. Archived is the end."""

_TABLE = {(move.source, move.target): move for move in MOVES}


def is_legal(source: State, target: State) -> bool:
    """Say whether a record in one state may ever go to the other."""
    return (source, target) in _TABLE


def supersede(old: Record, successor: Record, *, reason: str, now: datetime) -> Record:
    """Return `old` as replaced by a record that names it in `supersedes` and is active."""
    _check(old, State.SUPERSEDED, SUPERSEDE, reason)
    if successor.id == old.id:
        raise IllegalMove(f"{old.id} cannot replace itself")
    if successor.supersedes != old.id:
        raise IllegalMove(f"{successor.id} does not name {old.id} in supersedes; a replacement says what it replaces")
    if successor.state is not State.ACTIVE:
        raise IllegalMove(f"{successor.id} is {successor.state} and replaces nothing; {way_on(successor)}")
    return _next(old, now, state=State.SUPERSEDED, superseded_by=successor.id, state_reason=reason)


def dispute(one: Record, other: Record, *, reason: str, now: datetime) -> tuple[Record, Record]:
    """Return both sides of a contradiction, each carrying the transition that names the other."""
    for side in (one, other):
        _check(side, State.TRANSITIONAL, DISPUTE, reason)
    if one.id == other.id:
        raise IllegalMove(f"{one.id} cannot contradict itself")
    transition = Transition((one.id, other.id), reason)
    return (
        _next(one, now, state=State.TRANSITIONAL, transition=transition),
        _next(other, now, state=State.TRANSITIONAL, transition=transition),
    )


def resolve(winner: Record, loser: Record, *, reason: str, now: datetime) -> tuple[Record, Record]:
    """Decide a contradiction: return the winner as active, and the loser as replaced by it.

    A loser that was archived or redacted meanwhile stays as it is, and the winner is free again.
    """
    _check(winner, State.ACTIVE, RESOLVE, reason)
    gone = loser.state is State.ARCHIVED
    if not gone:
        _check(loser, State.SUPERSEDED, RESOLVE, reason)
    transition = winner.transition
    sides = transition.sides if transition is not None else ()
    if set(sides) != {winner.id, loser.id} or not (gone or loser.transition == transition):
        raise IllegalMove(f"{winner.id} and {loser.id} are not the two sides of one dispute; {way_on(winner)}")
    won = _next(winner, now, state=State.ACTIVE, transition=None, state_reason=reason)
    if gone:
        return won, loser
    lost = _next(loser, now, state=State.SUPERSEDED, transition=None, superseded_by=winner.id, state_reason=reason)
    return won, lost


def archive(record: Record, *, reason: str, now: datetime) -> Record:
    """Return a record as archived: it stays readable and is not recalled any more. There is no way back."""
    _check(record, State.ARCHIVED, ARCHIVE, reason)
    return _next(record, now, state=State.ARCHIVED, transition=None, state_reason=reason)


def refresh_flag(rule: Record, evidence: Mapping[str, Record | None], *, now: datetime) -> Record:
    """Return a rule flagged if none of its evidence is live, unflagged if any is; the same rule if that is so already.

    `evidence` has every id that the rule names; None says that no store holds the record any more.
    """
    if rule.type is not RecordType.RULE:
        raise IllegalMove(f"{rule.id} is a {rule.type}; only rules rest on evidence")
    missing = [one for one in rule.evidence if one not in evidence]
    if missing:
        raise IllegalMove(f"{rule.id} also rests on {', '.join(missing)}; a flag takes all the evidence")
    records = (evidence[one] for one in rule.evidence)
    doubtful = not any(record is not None and record.state in LIVE for record in records)
    if doubtful == rule.flagged or rule.redacted:
        return rule
    return _next(rule, now, flagged=doubtful, flag_reason=NO_EVIDENCE if doubtful else None)


def redact(record: Record, *, reason: str, now: datetime) -> Record:
    """Return the tombstone of a record: id, type, birth and links stay, its content goes. Every state allows it."""
    if record.redacted:
        raise IllegalMove(f"{record.id} is redacted already")
    if not reason.strip():
        raise IllegalMove(f"{record.id}: say why it is redacted; the reason stays")
    return Record(
        id=record.id,
        type=record.type,
        body=REDACTED_BODY,
        slots=EMPTY,
        state=State.ARCHIVED,
        confidence=0.0,
        created_at=record.created_at,
        updated_at=_later(record, now),
        provenance=Provenance(REDACTION),
        evidence=record.evidence,
        supersedes=record.supersedes,
        superseded_by=record.superseded_by,
        redacted=True,
        redaction_reason=reason,
        birth_digest=record.digest(),
    )


def check_replaced(old: Record, body: str) -> None:
    """Refuse to put a new text in the place of a record that it cannot replace; say what can be done."""
    if old.state is not State.ACTIVE:
        raise IllegalMove(f"{old.id} is {old.state}, so nothing new replaces it; {way_on(old)}")
    if old.body == body:
        raise IllegalMove(f"{old.id} says this already, so nothing replaces it; leave out what it replaces")


def check_version(newest: Record, record: Record) -> None:
    """Refuse a version that may not follow the newest one of the same record. Stores ask before they add one.

    The state stays, or moves as the table says. A superseded or archived record stays as it is, but for a rule's flag
    and a signature.
    """
    if newest.id != record.id:
        raise IllegalMove(f"{record.id} is not a version of {newest.id}")
    if newest.redacted:
        raise IllegalMove(f"{record.id} is redacted; no version is added")
    if record.redacted:  # it takes the place of every version, which is not what adding one does
        raise IllegalMove("a tombstone is not added as a version; redact the record in its store")
    if (newest.type, newest.occurred_at) != (record.type, record.occurred_at):
        raise IllegalMove(f"{record.id}: type and occurred_at are those of its birth")
    if record.state is not newest.state:
        if not is_legal(newest.state, record.state):
            raise _illegal(newest, record.state)
        _check_moved(newest, record)
        return
    if record.transition != newest.transition:
        raise IllegalMove(f"{record.id}: its transition is not decided; resolve it first")
    if record.state in _SEALED and _sealed(record) != _sealed(newest):
        raise IllegalMove(f"{record.id} is {record.state}; only its flag and its signature may change")


def _check_moved(newest: Record, record: Record) -> None:
    """Refuse a version in another state that lacks what the move to that state must say."""
    if record.transition is None and not (record.state_reason or "").strip():
        raise IllegalMove(f"{record.id} is {newest.state} and becomes {record.state} for no reason; the reason stays")
    others = {record.superseded_by} if newest.transition is None else {*newest.transition.sides} - {record.id}
    if record.state is State.SUPERSEDED and record.superseded_by not in others:
        raise IllegalMove(f"{record.id} is disputed; only the other side of its transition can replace it")


def _check(record: Record, target: State, by: str, reason: str) -> None:
    move = _TABLE.get((record.state, target))
    if move is None or move.by != by:
        raise _illegal(record, target, by)
    if not reason.strip():
        raise IllegalMove(f"{record.id}: say why; the reason stays with the record")


def _illegal(record: Record, target: State, by: str = "") -> IllegalMove:
    how = f" by {by}" if by else ""
    return IllegalMove(f"{record.id} is {record.state} and cannot become {target}{how}; {way_on(record)}")


def way_on(record: Record) -> str:
    """Say what can be done with a record as it is, and the command for it."""
    back = f"`amp record reactivate {record.id}` brings back what it says"
    if record.redacted:
        return "nothing of it is left"
    if record.transition is not None:
        sides = " and ".join(record.transition.sides)
        return f"decide first between {sides}: `amp record resolve LOSER WINNER --reason R`"
    if record.state is State.SUPERSEDED:
        return f"{record.superseded_by} replaced it; {back}"
    if record.state is State.ARCHIVED:
        return back
    return f"it is in no dispute; `amp record archive {record.id}` retires it, `amp record resolve` replaces it"


def chain_of(newest: Iterable[Record], id: str) -> tuple[Record, ...]:
    """Return a record with all that replaced each other or brought each other back, each after what it replaced."""
    records = {record.id: record for record in newest}
    before: dict[str, set[str]] = {one: set() for one in records}
    beside: dict[str, set[str]] = {one: set() for one in records}
    for record in records.values():
        for old, new in ((record.supersedes, record.id), (record.id, record.superseded_by)):
            if old in records and new in records:
                before[new].add(old)
                beside[old].add(new)
                beside[new].add(old)
    tied, waiting = set(), [id] if id in records else []
    while waiting:
        tied.add(one := waiting.pop())
        waiting += beside[one] - tied
    left = {one: before[one] for one in sorted(tied, key=lambda one: by_birth(records[one]))}
    found = []
    while left:
        # In a store that was tampered with, records may replace each other in a circle.
        one = next((one for one, others in left.items() if left.keys().isdisjoint(others)), next(iter(left)))
        del left[one]
        found.append(records[one])
    return tuple(found)


def _next(record: Record, now: datetime, **changes: object) -> Record:
    changes |= {"updated_at": _later(record, now), "signed_by": None, "signature": ""}
    return replace(record, **changes)  # type: ignore[arg-type]


def _later(record: Record, now: datetime) -> datetime:
    """Return when the next version is made: a clock that was set back does not make it older than the one before."""
    return max(cut_moment(now), record.updated_at)


def _sealed(record: Record) -> Record:
    """Return what of a superseded or archived record never changes."""
    return replace(record, updated_at=record.created_at, flagged=False, flag_reason=None, signed_by=None, signature="")

"""Proposals: everything an operator may ask for, and the report of what came of it.

An operator, be it a heuristic or a model, never holds a store. It is asked a question and answers with proposals; each
is checked before anything is written, and one that breaks a rule is refused as it stands, never put right. There is no
proposal that rewrites a record.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Protocol, TypeAlias

from ..records.record import Provenance, Record


class Stage(StrEnum):
    """The steps in which records are looked after, in their order; each has its own kinds of proposal."""

    WRITE = "write"
    DEDUP = "dedup"
    CONTRADICTION = "contradiction"
    RESOLUTION = "resolution"
    PROMOTION = "promotion"
    FLAGS = "flags"
    DECAY = "decay"


@dataclass(frozen=True, slots=True)
class Create:
    """Add a new record."""

    record: Record
    reason: str = "new"

    @property
    def ids(self) -> tuple[str, ...]:
        """The record it adds."""
        return (self.record.id,)


@dataclass(frozen=True, slots=True)
class Supersede:
    """Let one record stand for others that say the same.

    Attributes:
        record: a new record, which names one of the others in `supersedes` and each of them as evidence; or one that
            stands already, when the others are its exact copies.
        replaced: the ids of the others.
        reason: why; it stays with each of them.
    """

    record: Record
    replaced: tuple[str, ...]
    reason: str

    @property
    def ids(self) -> tuple[str, ...]:
        """The records it replaces, and then the one that stands for them."""
        return (*self.replaced, self.record.id)


@dataclass(frozen=True, slots=True)
class Dispute:
    """Mark two records as contradicting each other; both stay visible until someone decides."""

    sides: tuple[str, str]
    reason: str

    @property
    def ids(self) -> tuple[str, ...]:
        """Both sides."""
        return self.sides


@dataclass(frozen=True, slots=True)
class Resolve:
    """Decide a contradiction: the winner is active again, the loser is superseded by it."""

    winner: str
    loser: str
    reason: str

    @property
    def ids(self) -> tuple[str, ...]:
        """The winner, then the loser."""
        return (self.winner, self.loser)


@dataclass(frozen=True, slots=True)
class Promote:
    """Add a rule that rests on several episodes, all of which its evidence names."""

    record: Record
    reason: str

    @property
    def ids(self) -> tuple[str, ...]:
        """The rule."""
        return (self.record.id,)


@dataclass(frozen=True, slots=True)
class Flag:
    """Look again at whether a rule has live evidence."""

    id: str
    reason: str

    @property
    def ids(self) -> tuple[str, ...]:
        """The rule."""
        return (self.id,)


@dataclass(frozen=True, slots=True)
class Archive:
    """Put a record away: it stays readable and is not recalled any more."""

    id: str
    reason: str

    @property
    def ids(self) -> tuple[str, ...]:
        """The record."""
        return (self.id,)


@dataclass(frozen=True, slots=True)
class Defer:
    """Do nothing about these records now, and say why in the report."""

    ids: tuple[str, ...]
    reason: str


@dataclass(frozen=True, slots=True)
class Unreadable:
    """What an operator answered where a proposal belongs; it is refused for this reason."""

    reason: str
    ids: tuple[str, ...] = ()


Proposal: TypeAlias = Create | Supersede | Dispute | Resolve | Promote | Flag | Archive | Defer | Unreadable


def kind_of(proposal: Proposal) -> str:
    """Return what reports call a proposal of this kind."""
    return type(proposal).__name__.lower()


MAY_PROPOSE: Mapping[Stage, tuple[type, ...]] = {
    Stage.WRITE: (Create,),
    Stage.DEDUP: (Supersede,),
    Stage.CONTRADICTION: (Dispute,),
    Stage.RESOLUTION: (Resolve,),
    Stage.PROMOTION: (Promote,),
    Stage.FLAGS: (Flag,),
    Stage.DECAY: (Archive,),
}
"""What each stage is there for. `Defer` and `Unreadable` change nothing, so every stage may answer with them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """What an operator is asked: in the write stage to find records in a text, else to look at records.

    Attributes:
        stage: what it may propose; see `MAY_PROPOSE`.
        now: the moment of the pass, for the records it makes.
        records: the newest version of every record, by birth and then by id; none in the write stage.
        text: what to find records in; empty but in the write stage.
        provenance: where the text comes from; None but in the write stage.
    """

    stage: Stage
    now: datetime
    records: Sequence[Record] = ()
    text: str = ""
    provenance: Provenance | None = None


class Operator(Protocol):
    """Where a model or a heuristic plugs in."""

    @property
    def name(self) -> str:
        """What reports call it."""

    def propose(self, question: Question) -> Sequence[Proposal]:
        """Return what should happen, in order of preference; nothing is an answer too.

        Raises:
            OperatorFailed: it cannot answer. The pass goes on without it, and the report says so.
        """


@dataclass(frozen=True, slots=True)
class Action:
    """One line of a report.

    Attributes:
        stage: in which step.
        kind: what was asked for, as create, supersede, dispute.
        ids: the records it is about, in the order that the proposal's class says.
        reason: why it was done, refused, deferred or protected.
        by: the name of the operator that asked for it.
        before: the states of these records as they were, empty for one that was not there; only where it was done.
        after: their states now.
    """

    stage: Stage
    kind: str
    ids: tuple[str, ...]
    reason: str
    by: str = ""
    before: tuple[str, ...] = ()
    after: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Report:
    """What one pass did and did not do, each with its reason; the same input gives the same report.

    Attributes:
        done: what changed, in order.
        refused: what an operator asked for and a rule forbids.
        deferred: what has to wait, as for a dispute that nobody has decided yet.
        protected: what would have been put away or replaced, and is kept.
    """

    done: tuple[Action, ...] = ()
    refused: tuple[Action, ...] = ()
    deferred: tuple[Action, ...] = ()
    protected: tuple[Action, ...] = ()

    def to_json(self) -> dict[str, list[dict[str, object]]]:
        """Return it as JSON can hold it."""
        return {
            kept: [
                {field: list(value) if isinstance(value, tuple) else str(value) for field, value in _fields(action)}
                for action in getattr(self, kept)
            ]
            for kept in ("done", "refused", "deferred", "protected")
        }


def _fields(action: Action) -> list[tuple[str, object]]:
    return [(name, getattr(action, name)) for name in Action.__slots__]


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a pass comes to. Nothing is written yet.

    Attributes:
        writes: the new versions, to be stored one by one in this order, each after the newest version of its record.
            Stopping in between leaves nothing that the next pass does not finish.
        report: what was done and what was not.
        reinforced: the ids of records that were there already when they were created again.
    """

    writes: tuple[Record, ...] = ()
    report: Report = field(default_factory=Report)
    reinforced: tuple[str, ...] = ()

    @property
    def changed(self) -> dict[str, Record]:
        """The newest version of every record that changed, by id."""
        return {record.id: record for record in self.writes}

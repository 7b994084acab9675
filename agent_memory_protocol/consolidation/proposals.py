"""Proposals: everything an operator may ask for, and the report of what came of it.

An operator, a heuristic or a model, never holds a store. It is asked a question and answers with proposals. Each is
checked before anything is written; one that breaks a rule is refused whole, never corrected. No proposal rewrites a
record.
"""

from collections.abc import Mapping, Sequence
from dataclasses import field
from datetime import datetime
from enum import StrEnum
from typing import Protocol, TypeAlias

from ..records.record import Provenance, Record
from ..values import HasJson, dataclass


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


@dataclass(frozen=True, slots=True)
class Supersede:
    """Let one record replace others that say the same."""

    # a new record, which names one of the others in `supersedes` and each of them as evidence; or a known record,
    # when the others are its exact copies
    record: Record
    replaced: tuple[str, ...]  # the ids of the others
    reason: str  # why; each of them keeps it


@dataclass(frozen=True, slots=True)
class Dispute:
    """Mark two records as contradicting each other; both stay visible until someone decides."""

    ids: tuple[str, str]
    reason: str


@dataclass(frozen=True, slots=True)
class Resolve:
    """Decide a contradiction: the winner is active again and supersedes the loser."""

    winner: str
    loser: str
    reason: str


@dataclass(frozen=True, slots=True)
class Promote:
    """Add a rule that rests on several episodes, all of which its evidence names."""

    record: Record
    reason: str


@dataclass(frozen=True, slots=True)
class Flag:
    """Look again at whether a rule has live evidence."""

    id: str
    reason: str


@dataclass(frozen=True, slots=True)
class Archive:
    """Put a record away: it stays readable and is not recalled any more."""

    id: str
    reason: str


@dataclass(frozen=True, slots=True)
class Defer:
    """Do nothing about these records now, and say why in the report."""

    ids: tuple[str, ...]
    reason: str


@dataclass(frozen=True, slots=True)
class Unreadable:
    """An answer of an operator that is not a proposal; it is refused for this reason."""

    reason: str
    ids: tuple[str, ...] = ()


Proposal: TypeAlias = Create | Supersede | Dispute | Resolve | Promote | Flag | Archive | Defer | Unreadable


def kind_of(proposal: Proposal) -> str:
    """Return what reports call a proposal of this kind."""
    return type(proposal).__name__.lower()


def ids_of(proposal: Proposal) -> tuple[str, ...]:
    """Return the ids of the records that a proposal is about; what replaces others comes after them."""
    match proposal:
        case Create(record) | Promote(record):
            return (record.id,)
        case Supersede(record, replaced):
            return (*replaced, record.id)
        case Resolve(winner, loser):
            return (winner, loser)
        case Flag(id) | Archive(id):
            return (id,)
        case Dispute() | Defer() | Unreadable():
            return proposal.ids


MAY_PROPOSE: Mapping[Stage, type[Proposal]] = {
    Stage.WRITE: Create,
    Stage.DEDUP: Supersede,
    Stage.CONTRADICTION: Dispute,
    Stage.RESOLUTION: Resolve,
    Stage.PROMOTION: Promote,
    Stage.FLAGS: Flag,
    Stage.DECAY: Archive,
}
"""The proposal of each stage. `Defer` and `Unreadable` change nothing, so every stage may answer with them."""


_UNKNOWN = Provenance("unknown")


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """What an operator is asked: in the write stage to find records in a text, else to look at records.

    `records` are the newest versions of all records, by birth and then by id. `text` and its `provenance` are given in
    the write stage only, `records` in every other. `now` is the moment of the pass, for the records that it makes.
    """

    stage: Stage
    now: datetime
    records: Sequence[Record] = ()
    text: str = ""
    provenance: Provenance = _UNKNOWN


class Operator(Protocol):
    """Where a model or a heuristic plugs in."""

    @property
    def name(self) -> str:
        """The name in reports."""

    def propose(self, question: Question) -> Sequence[Proposal]:
        """Return what should happen, in order of preference; it may be nothing.

        Raises:
            OperatorFailed: it cannot answer. The pass goes on without it, and the report says so.
        """


@dataclass(frozen=True, slots=True)
class Action(HasJson):
    """One line of a report: who asked for what, in which stage, and why it was done, refused, deferred or protected.

    `kind` is the name of the proposal's class in lower case, and `ids` are in the order that the class says. Where it
    was done, `before` and `after` are the states of these records, "" for one that did not exist. `id` names the
    proposal, the same in every pass that makes it; "" for what no operator asks for.
    """

    JSON = "stage kind ids reason by before after id"

    stage: Stage
    kind: str
    ids: tuple[str, ...]
    reason: str
    by: str = ""
    before: tuple[str, ...] = ()
    after: tuple[str, ...] = ()
    id: str = field(default="", compare=False)

    @property
    def summary(self) -> str:
        """What it is about, for people."""
        return f"{self.kind}: {self.reason}"


@dataclass(frozen=True, slots=True)
class Report(HasJson):
    """What one pass did and did not do, each with its reason; the same input gives the same report.

    Attributes:
        done: what changed, in order.
        refused: what an operator asked for and a rule forbids.
        deferred: what has to wait, as for the decision of a dispute.
        protected: what would have been put away or replaced, and is kept.
        left: what was not chosen, and stays open.
    """

    JSON = "done refused deferred protected left"

    done: tuple[Action, ...] = ()
    refused: tuple[Action, ...] = ()
    deferred: tuple[Action, ...] = ()
    protected: tuple[Action, ...] = ()
    left: tuple[Action, ...] = ()


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a pass comes to. Nothing is written yet."""

    # the new versions, to be stored in this order, each after the newest version of its record. After a stop in
    # between, the next pass finishes the rest
    writes: tuple[Record, ...] = ()
    report: Report = field(default_factory=Report)  # what was done and what was not
    reinforced: tuple[str, ...] = ()  # the ids of known records that were to be created again
    # the records before the pass, by id
    given: Mapping[str, Record] = field(default_factory=dict, compare=False, repr=False)

    @property
    def changed(self) -> dict[str, Record]:
        """The newest version of every record that changed, by id."""
        return {record.id: record for record in self.writes}

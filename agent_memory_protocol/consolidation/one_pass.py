"""One pass: proposals change the newest records one by one, and each gets its line in the report."""

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from datetime import datetime

from ..errors import AgentMemoryError, InvalidArgument, OperatorFailed
from ..records.lifecycle import refresh_flag
from ..records.record import Record, by_birth, has_expired
from ..text.ids import id_of_proposal
from .door import Kept, Standing, Waits, admit
from .proposals import (
    Action,
    Defer,
    Flag,
    Operator,
    Outcome,
    Proposal,
    Question,
    Report,
    Stage,
    Unreadable,
    ids_of,
    kind_of,
)


class Pass:
    """The newest version of every record, what has changed since the pass began, and the answer to each proposal."""

    def __init__(
        self,
        records: Iterable[Record],
        *,
        now: datetime,
        allow: Collection[str] = (),
        takes: Callable[[str], bool] = lambda _: True,
    ) -> None:
        given = list(records)
        self.standing = Standing(sorted(given, key=by_birth))
        if len(self.standing.records) != len(given):
            raise InvalidArgument("two records have one id; give the newest version of each")
        self._given = dict(self.standing.records)
        self.now = now
        self.allow = allow
        self._takes = takes
        self._writes: list[Record] = []
        self._reinforced: list[str] = []
        self._report: dict[str, list[Action]] = {"done": [], "refused": [], "deferred": [], "protected": [], "left": []}

    def in_order(self) -> tuple[Record, ...]:
        """Return the records as they are, by birth and then by id."""
        return tuple(sorted(self.standing.records.values(), key=by_birth))

    def ask(self, stage: Stage, operator: Operator) -> None:
        """Put the question of a stage to an operator, and its answers through the door."""
        records = self.in_order()
        if stage in (Stage.DEDUP, Stage.CONTRADICTION):  # what is over says nothing that others could repeat or deny
            records = tuple(one for one in records if not has_expired(one, self.now))
        for proposal in ask(operator, Question(stage=stage, now=self.now, records=records)):
            self.offer(stage, proposal, by=operator.name, proposed=True)

    def reinforce(self, id: str, *, by: str) -> None:
        """Report that a known record was to be created again."""
        self._reinforced.append(id)
        self._report["done"].append(Action(Stage.WRITE, "reinforce", (id,), "it is there already", by))

    def decide(self, kind: str, ids: tuple[str, ...], reason: str, versions: Sequence[Record]) -> None:
        """Take in what a person has decided, in versions that the lifecycle has allowed."""
        before = self._states(ids)
        self.standing.take(versions)
        self._writes += versions
        self._report["done"].append(Action(Stage.RESOLUTION, kind, ids, reason, "a person", before, self._states(ids)))

    def offer(
        self, stage: Stage, proposal: Proposal, *, by: str, by_person: bool = False, proposed: bool = False
    ) -> None:
        """Do what a proposal asks for, or report why not. What is only `proposed` waits to be taken."""
        ids = ids_of(proposal)
        name = self._id_of(proposal) if proposed else ""
        if name and not self._takes(name):
            part, reason = "left", getattr(proposal, "reason", "")
        elif isinstance(proposal, (Defer, Unreadable)):
            part, reason = "deferred" if isinstance(proposal, Defer) else "refused", proposal.reason
        else:
            before = self._states(ids)
            try:
                versions = admit(proposal, stage, self.standing, now=self.now, allow=self.allow, by_person=by_person)
            except Waits as error:
                part, reason = "deferred", str(error)
            except Kept as error:
                part, reason = "protected", f"{proposal.reason}; kept, since {error}"
            except AgentMemoryError as error:
                part, reason = "refused", str(error)
            else:
                if versions:
                    self.standing.take(versions)
                    self._writes += versions
                    states = (before, self._states(ids))
                    action = Action(stage, kind_of(proposal), ids, proposal.reason, by, *states, name)
                    self._report["done"].append(action)
                return
        self._report[part].append(Action(stage, kind_of(proposal), ids, reason, by, id=name))

    def _id_of(self, proposal: Proposal) -> str:
        """Return what names a proposal, the same in every pass; "" for what changes nothing."""
        if isinstance(proposal, (Defer, Unreadable)):
            return ""
        made = getattr(proposal, "record", None)
        ids = [one for one in ids_of(proposal) if made is None or one != made.id or one in self._given]
        about = [*ids, *(() if made is None or ids else made.evidence)]
        return id_of_proposal(kind_of(proposal), *sorted({origin for one in about for origin in self._origins(one)}))

    def _origins(self, id: str) -> Iterator[str]:
        """Yield the records that were there before the pass and that one is made of."""
        if id in self._given or id not in self.standing.records:
            yield id
            return
        for one in self.standing.records[id].evidence:
            yield from self._origins(one) if one != id else [one]

    def sweep_flags(self, *, whole: bool = True) -> None:
        """Flag every rule that has lost all its evidence, and unflag every rule that has some again.

        Evidence that is not among the records is gone if the records are the whole; else such a rule is left as it is.
        """
        for rule in self.standing.rules:
            evidence = {one: self.standing.records.get(one) for one in rule.evidence}
            if whole or None not in evidence.values():
                fresh = refresh_flag(rule, evidence, now=self.now)
                if fresh is not rule:
                    reason = fresh.flag_reason or "some of its evidence is live again"
                    self.offer(Stage.FLAGS, Flag(rule.id, reason), by="flags")

    def outcome(self) -> Outcome:
        """Return what the pass comes to."""
        self._report["protected"] = list(dict.fromkeys(self._report["protected"]))  # copies are looked for twice
        report = Report(**{part: tuple(actions) for part, actions in self._report.items()})
        return Outcome(tuple(self._writes), report, tuple(dict.fromkeys(self._reinforced)), self._given)

    def _states(self, ids: tuple[str, ...]) -> tuple[str, ...]:
        records = self.standing.records
        return tuple(records[one].state.value if one in records else "" for one in ids)


def ask(operator: Operator, question: Question) -> Sequence[Proposal]:
    """Return the answer of an operator; a failure is an answer that will be refused."""
    try:
        return operator.propose(question)
    except OperatorFailed as error:
        return (Unreadable(str(error)),)

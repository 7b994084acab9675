"""Resolution: contradictions that need no person to decide, and what a stopped pass has left undone."""

from collections.abc import Iterable, Iterator, Mapping, Sequence

from ..records.record import Record, State, slots_said
from .duplicates import CORRECTION
from .proposals import Defer, Dispute, Proposal, Question, Resolve


class CautiousResolver:
    """Decides two cases and leaves every other to a person.

    A correction beats what was not one. The newer side wins only where both have the same kind of provenance and the
    same slots: that something is newer does not make it true. Newer is what happened later, where both say when.
    """

    name = "cautious resolver"

    def propose(self, question: Question) -> Sequence[Proposal]:
        """Return who wins, for each dispute that is one of the two cases."""
        records = {record.id: record for record in question.records}
        return [decided for one, other in disputes(records) if (decided := _decide(one, other)) is not None]


def disputes(records: Mapping[str, Record]) -> Iterator[tuple[Record, Record]]:
    """Yield both sides of every contradiction that nobody has decided."""
    for record in records.values():
        if record.transition is not None and record.id == record.transition.sides[0]:
            other = records.get(record.transition.sides[1])
            if other is not None and other.transition == record.transition:
                yield record, other


def _decide(one: Record, other: Record) -> Resolve | None:
    kinds = (one.provenance.kind, other.provenance.kind)
    if kinds[0] != kinds[1]:
        if CORRECTION not in kinds:
            return None
        winner, loser = (one, other) if kinds[0] == CORRECTION else (other, one)
        return Resolve(winner.id, loser.id, "a correction beats what was not one")
    if slots_said(one).keys() != slots_said(other).keys():
        return None
    if one.occurred_at is not None and other.occurred_at is not None:
        moments, reason = (one.occurred_at, other.occurred_at), "it happened later"
    else:
        moments, reason = (one.created_at, other.created_at), "it was learned later, from the same kind of source"
    if moments[0] == moments[1]:
        return None
    winner, loser = (one, other) if moments[0] > moments[1] else (other, one)
    return Resolve(winner.id, loser.id, reason)


def unfinished(records: Mapping[str, Record]) -> Iterable[Proposal]:
    """Yield what completes a dispute or a decision of which only one side was stored, or one side is gone."""
    for one_id in list(records):
        record = records[one_id]  # an earlier proposal may have changed it
        if record.transition is None:
            continue
        one, other = record.transition.sides
        rest = records.get(other if record.id == one else one)
        if rest is None:
            yield Defer((record.id,), "the other side of its dispute is not here")
        elif rest.state is State.ACTIVE:
            yield Dispute(record.transition.sides, record.transition.reason)
        elif rest.state is not State.TRANSITIONAL:
            decided = rest.superseded_by == record.id and rest.state_reason
            yield Resolve(record.id, rest.id, decided or f"the other side is {rest.state}")
        elif rest.transition != record.transition:
            yield Defer((record.id, rest.id), "the other side is in another dispute; decide that first")

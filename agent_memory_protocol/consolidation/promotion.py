"""Promotion: what has happened often enough becomes a rule, which rests on all of the episodes."""

from collections.abc import Sequence
from datetime import datetime

from ..errors import InvalidArgument
from ..records.record import Provenance, Record, RecordType, State, new_record, slots_said
from .proposals import Promote, Proposal, Question


class RepeatedEpisodes:
    """Makes a rule of active episodes of one kind, once there are enough; each kind gets one rule.

    Episodes with the same signature are of one kind, and of those without one what says the same in the same words.
    """

    name = "repeated episodes"

    def __init__(self, at_least: int = 3) -> None:
        if at_least < 2:
            raise InvalidArgument(f"at_least is {at_least}; a rule rests on two episodes or more")
        self.at_least = at_least

    def propose(self, question: Question) -> Sequence[Proposal]:
        """Return a rule for each kind of episode that has enough of them and no rule yet."""
        groups: dict[tuple[tuple[str, ...], str], list[Record]] = {}
        ruled: set[tuple[str, ...]] = {()}
        cited: set[str] = set()
        for record in question.records:
            if record.type is RecordType.RULE and record.state is not State.ARCHIVED:
                ruled.add(signature(record))
                cited.update(record.evidence)
            elif record.type is RecordType.EPISODE and record.state is State.ACTIVE:
                known = signature(record)
                groups.setdefault((known, "" if known else record.body), []).append(record)
        return [
            promote(episodes, signature=known, now=question.now)
            for (known, words), episodes in sorted(groups.items())
            if len(episodes) >= self.at_least
            and (cited.isdisjoint(one.id for one in episodes) if words else known not in ruled)
        ]


def signature(record: Record) -> tuple[str, ...]:
    """Return what makes episodes the same kind: their tags, or where they have none the names of their slots."""
    return tuple(sorted(set(record.tags) or set(slots_said(record))))


def promote(
    episodes: Sequence[Record], *, signature: tuple[str, ...], now: datetime, body: str = "", reason: str = ""
) -> Promote:
    """Return the rule that rests on these episodes, given from the oldest to the newest; its words may be given too."""
    kind = ", ".join(signature)
    times = f"Happened {len(episodes)} times"
    rule = new_record(
        RecordType.RULE,
        body or (f"{times} ({kind}), most recently: {episodes[-1].body}" if kind else f"{times}: {episodes[-1].body}"),
        provenance=Provenance("consolidation", f"promotion:{'+'.join(signature) or 'same words'}"),
        now=now,
        confidence=min(episode.confidence for episode in episodes),
        evidence=tuple(sorted(episode.id for episode in episodes)),
        tags=signature,
    )
    return Promote(rule, reason or f"{len(episodes)} episodes share {kind or 'their words'}")

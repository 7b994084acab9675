"""Promotion: what has happened often enough becomes a rule, which rests on all of the episodes."""

from collections.abc import Sequence
from datetime import datetime

from ..errors import InvalidArgument
from ..records.record import Provenance, Record, RecordType, State, new_record, slots_said
from .proposals import Promote, Proposal, Question


class RepeatedEpisodes:
    """Makes a rule of active episodes with the same signature, once there are enough; each signature gets one rule."""

    name = "repeated episodes"

    def __init__(self, at_least: int = 3) -> None:
        if at_least < 2:
            raise InvalidArgument(f"at_least is {at_least}; a rule rests on two episodes or more")
        self.at_least = at_least

    def propose(self, question: Question) -> Sequence[Proposal]:
        """Return a rule for each signature that has enough episodes and no rule yet."""
        groups: dict[tuple[str, ...], list[Record]] = {}
        ruled = set()
        for record in question.records:
            if record.type is RecordType.RULE and record.state is not State.ARCHIVED:
                ruled.add(signature(record))
            elif record.type is RecordType.EPISODE and record.state is State.ACTIVE:
                groups.setdefault(signature(record), []).append(record)
        return [
            promote(groups[known], signature=known, now=question.now)
            for known in sorted(groups)
            if known and known not in ruled and len(groups[known]) >= self.at_least
        ]


def signature(record: Record) -> tuple[str, ...]:
    """Return what makes episodes the same kind: their tags, or where they have none the names of their slots."""
    return tuple(sorted(set(record.tags) or set(slots_said(record))))


def promote(
    episodes: Sequence[Record], *, signature: tuple[str, ...], now: datetime, body: str = "", reason: str = ""
) -> Promote:
    """Return the rule that rests on these episodes, given from the oldest to the newest; its words may be given too."""
    kind = ", ".join(signature)
    rule = new_record(
        RecordType.RULE,
        body or f"Happened {len(episodes)} times ({kind}), most recently: {episodes[-1].body}",
        provenance=Provenance("consolidation", f"promotion:{'+'.join(signature)}"),
        now=now,
        confidence=min(episode.confidence for episode in episodes),
        evidence=tuple(sorted(episode.id for episode in episodes)),
        tags=signature,
    )
    return Promote(rule, reason or f"{len(episodes)} episodes share {kind}")

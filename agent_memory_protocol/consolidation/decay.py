"""Decay: what nobody has needed for long is archived, by arithmetic alone, and what is protected is named.

Nothing is deleted: an archived record keeps its history. Uses are counted outside the records, so that reading makes no
new versions; without a count, decay goes by the age of the last change.
"""

from collections.abc import Iterable, Mapping
from datetime import datetime, timedelta

from ..errors import InvalidArgument
from ..records.record import Record, RecordType, State
from ..records.usage import Uses
from ..values import dataclass
from .one_pass import Pass
from .proposals import Archive, Outcome, Stage


@dataclass(frozen=True, slots=True, kw_only=True)
class Rates:
    """How fast records decay.

    Attributes:
        half_life: the time in which what nobody uses loses half of its salience.
        bonus: what each use adds to salience, as a part of it.
        threshold: below this salience a record is archived.
    """

    half_life: timedelta = timedelta(days=30)
    bonus: float = 0.25
    threshold: float = 0.05

    def __post_init__(self) -> None:
        if self.half_life <= timedelta(0) or self.bonus < 0 or self.threshold < 0:
            raise InvalidArgument("a half-life is longer than nothing, and neither bonus nor threshold is below 0")


def salience(record: Record, uses: Uses | None, *, now: datetime, rates: Rates) -> float:
    """Return how much a record still counts: its confidence, halved for each half-life of rest, raised by each use."""
    last, count = (record.updated_at, 0) if uses is None else (max(record.updated_at, uses.last), uses.count)
    rest = max(now - last, timedelta(0)) / rates.half_life
    return float(record.confidence * 0.5**rest * (1 + rates.bonus * count))


def decay(
    records: Iterable[Record], *, now: datetime, uses: Mapping[str, Uses] | None = None, rates: Rates | None = None
) -> Outcome:
    """Archive what has sunk below the threshold; report what has too but is protected, and by what.

    Disputed records, rules with live evidence, the evidence of live rules and what is tagged `keep` are protected.
    `uses` says by id how often each was used.
    """
    uses, rates = uses or {}, rates or Rates()
    work = Pass(records, now=now)
    # Rules first: a rule that goes now does not protect its evidence any more.
    for record in sorted(work.in_order(), key=lambda record: record.type is not RecordType.RULE):
        if record.state is not State.ARCHIVED:
            score = salience(record, uses.get(record.id), now=now, rates=rates)
            if score < rates.threshold:
                proposal = Archive(record.id, f"its salience is {score:.4f}, below {rates.threshold}")
                work.offer(Stage.DECAY, proposal, by="decay")
    return work.outcome()

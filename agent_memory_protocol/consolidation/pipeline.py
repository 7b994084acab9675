"""The pipeline: the order in which records are looked after.

It takes the newest version of every record and touches nothing else. It returns new versions, each of which the
lifecycle allows, and a report. The order of the records does not change the outcome.
"""

from collections.abc import Callable, Collection, Iterable
from dataclasses import replace
from datetime import datetime

from ..disk import collector
from ..records import lifecycle
from ..records.record import Record
from ..text import alike
from ..values import dataclass
from .contradiction import Contradictions
from .duplicates import OtherWords, SameWords, find_copies
from .one_pass import Pass
from .promotion import RepeatedEpisodes
from .proposals import Defer, Dispute, Operator, Outcome, Resolve, Stage
from .resolution import unfinished


@dataclass(frozen=True, slots=True, kw_only=True)
class Operators:
    """Who proposes in each stage, one after the other; each sees the changes of the ones before.

    People decide contradictions, unless a resolver is given.
    """

    dedup: tuple[Operator, ...] = (SameWords(), OtherWords())
    contradiction: tuple[Operator, ...] = (Contradictions(),)
    resolution: tuple[Operator, ...] = ()
    promotion: tuple[Operator, ...] = (RepeatedEpisodes(),)


def consolidate(
    records: Iterable[Record],
    *,
    now: datetime,
    operators: Operators | None = None,
    allow: Collection[str] = (),
    whole: bool = True,
    takes: Callable[[str], bool] = lambda _: True,
) -> Outcome:
    """Look for duplicates, contradictions, decisions and rules, in that order, and say what becomes of them.

    A second pass changes nothing, unless an operator proposes something new. The default operators need no model and
    decide no contradiction. Records that are not the `whole` leave rules with evidence elsewhere as they are. `takes`
    says of a proposal's id whether it is done; the rest stays open.
    """
    with collector.left_alone():
        work = Pass(records, now=now, allow=allow, takes=takes)
        _look_for_all(work, operators or Operators())
        work.sweep_flags(whole=whole)
        alike.forget()
        return work.outcome()


def _look_for_all(work: Pass, operators: Operators) -> None:
    _finish(work)
    _fold_copies(work)
    for stage in (Stage.DEDUP, Stage.CONTRADICTION, Stage.RESOLUTION, Stage.PROMOTION):
        for operator in getattr(operators, stage):
            work.ask(stage, operator)
        if stage is Stage.DEDUP:
            _fold_copies(work)  # a merged record may be the copy of an older one


def _finish(work: Pass) -> None:
    """Finish what a stopped pass has left, one by one: each may free a side that another waits for."""
    written = -1
    while written != (written := len(work.outcome().writes)):
        for ready in unfinished(work.standing.records):
            if not isinstance(ready, Defer):
                stage = Stage.RESOLUTION if isinstance(ready, Resolve) else Stage.CONTRADICTION
                work.offer(stage, ready, by="unfinished")
    for waiting in unfinished(work.standing.records):
        if isinstance(waiting, Defer):
            work.offer(Stage.CONTRADICTION, waiting, by="unfinished")


def _fold_copies(work: Pass) -> None:
    for copy in find_copies(work.in_order(), work.standing.cited):
        work.offer(Stage.DEDUP, copy, by="exact copies", proposed=True)


def resolve(records: Iterable[Record], *, winner: str, loser: str, reason: str, now: datetime) -> Outcome:
    """Decide a contradiction as a person does, and look again at the rules that rested on the loser."""
    work = Pass(records, now=now)
    work.offer(Stage.RESOLUTION, Resolve(winner, loser, reason), by="a person", by_person=True)
    work.sweep_flags()
    return work.outcome()


def dispute(records: Iterable[Record], *, ids: tuple[str, str], reason: str, now: datetime) -> Outcome:
    """Mark two records as a person does who knows that they contradict each other. Refusals are in the report."""
    work = Pass(records, now=now)
    work.offer(Stage.CONTRADICTION, Dispute(ids, reason), by="a person", by_person=True)
    return work.outcome()


def refresh_flags(records: Iterable[Record], *, now: datetime) -> Outcome:
    """Flag the rules that have lost all their evidence, as after a redaction; unflag those that have some again."""
    work = Pass(records, now=now)
    work.sweep_flags()
    return work.outcome()


def supersede(records: Iterable[Record], *, old: str, new: str, reason: str, now: datetime) -> Outcome:
    """Let one record replace another as a person does who knows that the other no longer holds."""
    work = Pass(records, now=now)
    replaced, successor = (work.standing.get(one) for one in (old, new))
    if successor.supersedes != old:
        tagged = tuple(dict.fromkeys([*successor.tags, *replaced.tags]))
        later = max(now, successor.updated_at)
        successor = replace(successor, supersedes=old, tags=tagged, updated_at=later, signed_by=None, signature="")
    lost = lifecycle.supersede(replaced, successor, reason=reason, now=now)
    work.decide("supersede", (old, new), reason, [successor, lost])
    work.sweep_flags()
    return work.outcome()


def archive(records: Iterable[Record], *, id: str, reason: str, now: datetime) -> Outcome:
    """Put a record away as a person does, free the other side of its dispute, and look at the rules that rest on it."""
    work = Pass(records, now=now)
    work.decide("archive", (id,), reason, [lifecycle.archive(work.standing.get(id), reason=reason, now=now)])
    _finish(work)
    work.sweep_flags()
    return work.outcome()

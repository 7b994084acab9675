"""The verb that takes out what is outdated: a plan that is shown, and then exactly that is done."""

from collections.abc import Callable, Collection, Sequence
from dataclasses import replace
from datetime import date, timedelta
from functools import cache, partial

from ..answers import About
from ..change.session import Session
from ..change.transaction import Change
from ..disk import collector
from ..errors import InvalidArgument, Refused, StorageError
from ..layout import Target, Tier
from ..learning.meet import Lasting
from ..project.settings import parse_days
from ..recall import use
from ..text.dates import parse_day
from ..text.phrases import counted
from ..tiers import prune as rules
from ..tiers import store
from ..tiers.document import Document
from ..tiers.meet import CHANGED, OPPOSITE, Fact, Meeting, Outside, Placed, first_meeting
from ..tiers.prune import Judged, Plan
from .conversations import ENDS_AFTER, last_sign
from .upkeep_answers import Pruning, Removed

_EVER = 10_000_000  # Days: nothing is so old

Progress = Callable[[int, int], None]
Again = Callable[[Pruning], None]
"""Is told the plan that was made under the lock, in place of one whose document had changed."""


class PlanOutdated(StorageError):
    """Documents were changed after plans for them were made; nothing was changed in them. Plan again."""

    def __init__(self, message: str, targets: Sequence[Target] = (), removed: Sequence[Removed] = ()) -> None:
        super().__init__(message)
        self.targets = tuple(targets)
        self.removed = tuple(removed)  # what has left the others


def parse_age(text: str, today: date) -> timedelta:
    """Read an age: `90d`, `12w`, `1y`, a number of days, or a date that has passed, for what is older than that day."""
    if "-" in text:
        age = today - date.fromordinal(parse_day(text))
        if age < timedelta():
            raise InvalidArgument(f"{text} lies in the future; give a day that has passed, or an age such as 90d")
        return age
    days = parse_days(text)
    if days is None:
        raise InvalidArgument(f"{text[:40]!a} is not an age; write 90d, 12w or a date such as 2026-01-31")
    return timedelta(days=days)


def plan(
    session: Session,
    targets: Sequence[Target] | None,
    *,
    today: date,
    older_than: timedelta | None,
    sections: bool,
    to_limit: bool,
    progress: Progress | None,
) -> list[Pruning]:
    """Say what is outdated, document by document. One that cannot be read is reported, and the others are planned."""
    plans = []
    named = session.readable() if targets is None else targets
    chosen = list(dict.fromkeys(store.locate(session.root, target) for target in named))
    plan_one = partial(
        _plan,
        today=today,
        older_than=older_than,
        chosen=frozenset(chosen),
        lasting=cache(lambda: Lasting(session)),
        sections=sections,
        to_limit=to_limit,
    )
    with collector.left_alone():
        for number, target in enumerate(chosen):
            session.check_read(target)
            try:
                current = session.read(target)
                if current is not None:
                    plans.append(plan_one(session, current))
            except (StorageError, Refused) as error:
                plans.append(Pruning(target, session.path(target), None, problem=str(error)))
            if progress is not None:
                progress(number + 1, len(chosen))
    return plans


def apply(
    session: Session,
    plans: Sequence[Pruning],
    *,
    force: bool,
    progress: Progress | None,
    again: Again | None = None,
) -> list[Removed]:
    """Take out exactly what the plans say. What is held back keeps no other document from its pruning."""
    held = [] if force else [one for one in plans if one.held]
    work = [one for one in plans if one.removals and one not in held]
    session.notices += [_why_held_back(one) for one in held]
    for one in work:
        session.check_write(one.target)
    gone: list[Removed] = []
    outdated: list[Target] = []
    for number, one in enumerate(work):
        try:
            gone += _prune(session, one, again, force=force)
        except PlanOutdated:
            outdated.append(one.target)
        if progress is not None:
            progress(number + 1, len(work))
    if outdated:
        named = ", ".join(target.path for target in outdated)
        raise PlanOutdated(f"{named} was changed after the plan was made; plan again", outdated, gone)
    return gone


def _why_held_back(one: Pruning) -> str:
    entries = counted(len(one.removals) + len(one.kept), "entry")
    told = f"{one.target} was not pruned: {len(one.removals)} of {entries} would go"
    return f"{told}, more than half; `{one.by_force}` does it"


def _prune(session: Session, given: Pruning, again: Again | None, *, force: bool) -> list[Removed]:
    target, planned = given.target, given
    if session.plan_healing(target).has_work:
        session.change(target, Change)

    def change(current: Document) -> Change:
        nonlocal planned
        planned = given
        if given.plan is None or current.data != given.plan.document.data:
            if again is None or given.made_by is None:
                raise PlanOutdated(current.target.path)
            planned = given.made_by(session, current)
        if planned.plan is None or (planned.held and not force):
            return Change(current)
        return Change(planned.plan.result, reasons={one.id: f"pruned: {_why(one)}" for one in planned.removals})

    done = session.change(target, change)
    if again is not None and planned is not given:
        again(planned)
    if planned.held and not force:
        session.notices.append(_why_held_back(planned))
        return []
    said = session.known(target)
    return [
        Removed(target, one.id, one.text, done.run, one.label, about=said.get(one.id, About()))
        for one in planned.removals
    ]


def _why(one: Judged) -> str:
    """Return why an entry was pruned, for the ledger: its text there says how old it is."""
    return "old" if one.cause == "old" else one.reason


def _plan(
    session: Session,
    current: Document,
    *,
    today: date,
    older_than: timedelta | None,
    chosen: Collection[Target],
    lasting: Callable[[], Lasting] | None = None,
    sections: bool,
    to_limit: bool,
) -> Pruning:
    made_by = partial(_plan, today=today, older_than=older_than, chosen=chosen, sections=sections, to_limit=to_limit)
    lasting = lasting or cache(lambda: Lasting(session))
    settings = session.settings
    days = settings.older_than if older_than is None else older_than.days
    last = last_sign(session, current) if current.target.tier is Tier.CONVERSATION else today
    spared: dict[str, str] = {}

    def holds(text: str) -> str:
        return session.why_held(text) or spared.get(text, "")

    def stays(one: Fact) -> bool:
        """Say whether a fact of another document is there after this pruning."""
        if isinstance(one, Outside):
            return True
        age = days if one.target in chosen and not to_limit else _EVER
        return rules.stays(one.entry, today=today, older_than=age, sections=sections)

    while True:
        if to_limit:
            plan = rules.plan_to_limit(
                current,
                today=today,
                max_lines=settings.max_lines,
                max_bytes=settings.max_bytes,
                sections=sections,
                older_than=None if older_than is None else days,
                holds=holds,
            )
        else:
            plan = rules.plan_pruning(current, today=today, older_than=days, sections=sections, holds=holds)
        found = _newer_here(lasting, plan, spared, stays)
        if found.keys() <= spared.keys():
            break
        spared |= found
    kept = [replace(one, cause="newer") if one.text in spared and one.cause == "held" else one for one in plan.kept]
    plan = replace(plan, kept=tuple(kept))
    room = session.headroom(plan.result)
    since = use.unneeded(use.read(session.root), today) if settings.count else {}
    unneeded = sum(use.name_of(current.target, one) in since for one in current.ids)
    return Pruning(
        current.target,
        session.path(current.target),
        plan,
        tuple(rules.old_sections(current, today=today, older_than=days)),
        (max(0, -room.lines), max(0, -room.bytes)),
        ended=last if today - last > ENDS_AFTER else None,
        unneeded=unneeded,
        said=session.known(current.target),
        made_by=made_by,
    )


def _newer_here(
    lasting: Callable[[], Lasting], plan: Plan, spared: Collection[str], stays: Callable[[Fact], bool]
) -> dict[str, str]:
    """Return the texts that must not go, since their older value stays in another document; each with that reason.

    Looked at is what would go, and what is `spared` already. Of several newer values of one, the newest is returned.
    """
    going = {one.id: one for one in plan.removals if one.cause == "old"}
    going |= {one.id: one for one in plan.kept if one.text in spared}
    facts = [Placed(plan.document, entry) for one, entry in plan.document.by_id if one in going]
    newest: dict[str, tuple[Placed, Meeting]] = {}
    for own in facts:
        beside = [one for one in lasting().beside(own) if stays(one)]
        # The newest first: if that is older, all are.
        met = first_meeting(own, sorted(beside, key=lambda one: one.day, reverse=True))
        if met is not None and met.way in (CHANGED, OPPOSITE) and met.first.day <= (own.entry.day or 0):
            before = newest.get(met.first.id)
            if before is None or (before[0].entry.day or 0) <= (own.entry.day or 0):
                newest[met.first.id] = own, met
    return {
        going[own.id].text: f"{met.first.place} may be its old value; {met.settles if met.dispute else met.advice}"
        for own, met in newest.values()
    }

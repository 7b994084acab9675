"""What people decide about records: dispute, resolve, replace, archive, bring back, redact and sign."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable
from dataclasses import replace
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from .disk.writing import ChangedMeanwhile
from .errors import IllegalMove, InvalidArgument, Refused
from .records.canonical import cut_moment
from .records.home import Home
from .records.lifecycle import way_on
from .records.record import LIVE, Record, State, revived
from .records.shelf import Shelf
from .records.signing import Signer, sign_record
from .records.store import RecordStore, Redacting

if TYPE_CHECKING:
    from .consolidation.proposals import Action, Outcome, Report

TRIES = 10
_MILLISECOND = timedelta(milliseconds=1)


class Decisions:
    """The part of `Memory` that changes records because somebody says so."""

    _home: Home
    _shelf: Shelf
    _store: RecordStore
    _identity: Signer | None
    _clock: Callable[[], datetime]
    _last: datetime
    _lock: threading.RLock

    def resolve(self, loser_id: str, winner_id: str, reason: str) -> tuple[Record, Record]:
        """Decide a dispute: the winner holds, the loser is replaced by it and stays readable; return loser and winner.

        Raises:
            IllegalMove: they are not the two sides of one dispute, or no reason is given.
        """
        from .consolidation.pipeline import resolve

        def plan() -> Outcome:
            concerned = self._with_rules(loser_id, winner_id)
            decided = resolve(concerned, winner=winner_id, loser=loser_id, reason=reason, now=self._now())
            for action in decided.report.refused:
                raise IllegalMove(action.reason)
            return decided

        with self._lock:
            self._decide(reason, plan)
            return self._store.get(loser_id), self._store.get(winner_id)

    def dispute(self, one_id: str, other_id: str, reason: str) -> tuple[Record, Record]:
        """Mark two records as disputed with each other; return both. Where they are already, nothing is changed.

        Raises:
            IllegalMove: one is in another dispute or no longer active, they are not facts or procedures, or no reason
                is given.
        """
        from .consolidation.pipeline import dispute

        if one_id == other_id:
            raise InvalidArgument("a record is not disputed with itself; name two records")

        def plan() -> Outcome:
            concerned = [self._store.get(one_id), self._store.get(other_id)]
            marked = dispute(concerned, ids=(one_id, other_id), reason=reason, now=self._now())
            for action in (*marked.report.refused, *marked.report.deferred):
                raise IllegalMove(action.reason)
            return marked

        with self._lock:
            self._check_change(reason)
            sides = self._store.get(one_id), self._store.get(other_id)
            if sides[0].transition is None or sides[0].transition != sides[1].transition:
                both = {one_id, other_id}  # one that is marked already is left of a dispute that was not finished
                open_ones = [one for one in sides if one.transition is None or {*one.transition.sides} != both]
                for side in (one for one in open_ones if one.state is not State.ACTIVE):
                    raise IllegalMove(f"{side.id} is {side.state} and cannot be disputed; {way_on(side)}")
                self._decide(reason, plan)
            return self._store.get(one_id), self._store.get(other_id)

    def supersede(self, old_id: str, new_id: str, reason: str) -> tuple[Record, Record]:
        """Say that a fact was replaced by another one; return both. They need no dispute; of one, `resolve` decides.

        Raises:
            IllegalMove: one is disputed or no longer active, or no reason is given.
        """
        from .consolidation.pipeline import supersede

        def plan() -> Outcome:
            concerned = self._with_rules(old_id, new_id)
            return supersede(concerned, old=old_id, new=new_id, reason=reason, now=self._now())

        with self._lock:
            self._decide(reason, plan)
            return self._store.get(old_id), self._store.get(new_id)

    def archive(self, record_id: str, reason: str) -> Record:
        """Put a record away: it stays readable and is not recalled. The other side of its dispute is free then.

        Raises:
            IllegalMove: it is archived already, or no reason is given.
        """
        from .consolidation.pipeline import archive

        def plan() -> Outcome:
            record = self._store.get(record_id)
            sides = record.transition.sides if record.transition is not None else (record_id,)
            finder = self._shelf.look()
            concerned = finder.seen.read_each(sides)
            concerned |= finder.rules_on(concerned)
            return archive(concerned.values(), id=record_id, reason=reason, now=self._now())

        with self._lock:
            self._decide(reason, plan)
            return self._store.get(record_id)

    def reactivate(self, record_id: str, reason: str) -> Record:
        """Bring back what was archived or replaced; return the record that holds it now.

        An archived record stays as it is. What it says is born again as another record, which names it.

        Raises:
            IllegalMove: it is live, it is redacted, or no reason is given.
        """
        with self._lock:
            self._check_change(reason)
            old = self._store.get(record_id)
            if old.state in LIVE:
                raise IllegalMove(f"{old.id} is {old.state}, so there is nothing to bring back; it is recalled")
            if old.redacted:
                raise IllegalMove(f"{old.id} is redacted; nothing of it is left")
            with self._shelf.alone():
                same = self._shelf.look().holding(old, self._clock())
                return same or self._put(revived(old, reason=reason, now=self._now()))

    def redact(self, record_id: str, reason: str) -> Record:
        """Take the content of a record away for good, in every version and every index; return what is left.

        Other records keep what they say, even if they were made from this one: ask `echoes` before.

        Raises:
            IllegalMove: no reason is given.
            Refused: the store cannot redact.
        """
        from .consolidation.pipeline import refresh_flags

        def plan() -> Outcome:
            concerned = {**self._shelf.look().rules_on([record_id]), record_id: tombstone}
            return refresh_flags(concerned.values(), now=self._now())

        with self._lock:
            self._check_change(reason)
            if not isinstance(self._store, Redacting):
                raise Refused(f"{type(self._store).__name__} cannot redact; take the content out of it by hand")
            with self._shelf.alone():
                finder = self._shelf.look()
                finder.forget()  # before and after: nothing may be left in it, wherever this ends
                tombstone = self._store.redact(record_id, reason=reason, now=self._now())
                finder.wrote(tombstone)
                finder.forget()
                self._shelf.usage.forget(record_id)
                self._carry_out(plan)
            return tombstone

    def sign(self, ids: Iterable[str] = ()) -> tuple[Record, ...]:
        """Sign the newest version of these records, or of all that nobody has signed; return what was signed.

        Raises:
            InvalidArgument: the memory has no identity.
        """
        with self._lock:
            self._home.check_may_change()
            if self._identity is None:
                raise InvalidArgument("there is no identity to sign with; name an identity file")
            named = [self._store.get(one) for one in ids]
            records = named or [record for record in self._store.list() if not record.signed]
            return tuple(self._put(record, after=record) for record in records if not record.redacted)

    # -- steps -------------------------------------------------------------------------------------------------------

    def _now(self) -> datetime:
        """Return a moment for what is written, later than any before, so that lists keep the order of writing."""
        self._last = max(cut_moment(self._clock()), self._last + _MILLISECOND)
        return self._last

    def _decide(self, reason: str, plan: Callable[[], Outcome]) -> None:
        """Carry out what somebody wants for a reason, while nobody else decides."""
        self._check_change(reason)
        with self._shelf.alone():
            self._carry_out(plan)

    def _with_rules(self, *ids: str) -> Iterable[Record]:
        """Return these records, and the rules that rest on them with all that those rest on."""
        concerned = {one: self._store.get(one) for one in ids}
        return (concerned | self._shelf.look().rules_on(concerned)).values()

    def _check_change(self, reason: str) -> None:
        self._home.check_may_change()
        self._home.check_text(reason, "reason")

    def _carry_out(self, plan: Callable[[], Outcome]) -> Report:
        """Store what a plan comes to; where somebody was quicker, plan again."""
        done: list[Action] = []
        for _ in range(TRIES):
            outcome = plan()
            newest = dict(outcome.given)
            left = list(outcome.writes)
            try:
                while left:
                    newest[left[0].id] = self._put(left[0], after=newest.get(left[0].id))
                    del left[0]
            except ChangedMeanwhile as error:
                changed = error
                unwritten = {record.id for record in left}
                done += [action for action in outcome.report.done if unwritten.isdisjoint(action.ids)]
            else:
                return replace(outcome.report, done=(*done, *outcome.report.done))
        raise changed

    def _put(self, record: Record, after: Record | None = None) -> Record:
        """Store a version, signed where there is an identity. What is redacted has nothing left to sign."""
        if self._identity is not None and not record.redacted:
            record = sign_record(record, self._identity)
        self._store.put(record, after=after)
        self._shelf.wrote(record)
        return record

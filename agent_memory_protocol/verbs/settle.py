"""Settle what disagrees: say which entries do, retire one for the other, or mark both as disputed."""

import os
import shlex
from bisect import bisect_right
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import date
from functools import partial
from itertools import accumulate, chain, pairwise
from typing import cast

from ..answers import About
from ..change import ledger
from ..change.session import Session
from ..change.transaction import Change
from ..errors import AccessDenied, AgentMemoryError, InvalidArgument, StorageError
from ..git import births
from ..layout import RECORDS, Target
from ..learning.meet import of_notes, of_records
from ..notes.note import Note
from ..text.moments import sort_key
from ..tiers import dispute as marks
from ..tiers import remove
from ..tiers.document import Document, plain_id
from ..tiers.meet import (
    CHANGED,
    RENEWED,
    Compared,
    Fact,
    Found,
    Meeting,
    Outside,
    Placed,
    may_differ,
    of_one_shape,
    placed_in,
    renewals,
    suspicions,
)
from ..tiers.taken import Taken, take
from .known import Known, Places
from .upkeep_answers import Disputed, Removed, Resolved

_MOST_ASKED = 50  # Of so many documents git is asked when their lines were written; each takes a start of git
_MOST_RECORDS = 10_000  # So many records are compared with entries and notes: reading them takes seconds


def disagreements(
    session: Session, documents: Sequence[Document], notes: Iterable[tuple[Target, Note]]
) -> list[Meeting]:
    """Return which facts in documents, notes and records say the opposite, then which have another value."""
    compared = Comparison(session, documents, notes)
    return compared.meetings([step() for step in compared.steps])


class Comparison:
    """All facts of some documents and notes, and of the records, compared in steps that may be taken apart.

    There is no step where it is known which disagree: from an earlier run, or from the last one in this process, since
    a review often follows a check. Then only the documents and notes that have such facts are taken apart.
    """

    _last: tuple[Hashable, Places] = ((), [])

    def __init__(
        self,
        session: Session,
        documents: Sequence[Document],
        notes: Iterable[tuple[Target, Note]],
        known: Known | None = None,
    ) -> None:
        read, records = [*notes], [*_records(session)]
        self._session, self._known = session, known
        self._sources: list[Callable[[], Sequence[Fact]]] = [partial(placed_in, one) for one in documents]
        self._sources += [partial(_of_note, *one) for one in read]
        self._sources.append(lambda: records)
        self._texts = (
            *((one.target, one.data) for one in documents),
            *((target, note.file, note.text) for target, note in read),
            *((one.id, one.text, *one.topics, one.is_disputed) for one in records),
        )
        self._digest = "" if known is None else known.digest_of_facts(self._texts)
        places = None if known is None else known.met(self._digest)
        if places is None and self._last[0] == self._texts:
            places = self._last[1]
        self._places: Places | None = None
        self.steps: list[Callable[[], Found]] = []
        if places is not None:
            with suppress(IndexError):  # what was kept leads to no fact
                self._met, self._places = self._met_at(places), places
        if self._places is None:
            facts = [source() for source in self._sources]
            within = cast(list[list[Placed]], facts[: len(documents)])
            self._compared = Compared(within, cast(list[Outside], [*chain(*facts[len(documents) :])]))
            self._starts = [0, *accumulate(map(len, facts))]
            self.steps = self._compared.steps

    def meetings(self, found: Sequence[Found]) -> list[Meeting]:
        """Return which facts disagree, from what the steps have found."""
        if self._places is None:
            self._places = [*self._found_in(found)]
            self._met = self._met_at(self._places)
        Comparison._last = self._texts, self._places
        if self._known is not None:
            self._known.keep_met(self._digest, self._places)
        learned = _learned(self._session)
        return [one.in_order_of_age(learned) for one in self._met]

    def _met_at(self, places: Places) -> list[Meeting]:
        facts = {source: self._sources[source]() for one in places for source in (one[0], one[2])}
        return [Meeting(way, facts[one][at], facts[other][its]) for one, at, other, its, way in places]

    def _found_in(self, found: Sequence[Found]) -> Iterator[tuple[int, int, int, int, str]]:
        for one, other, way in self._compared.pairs(found):
            first, second = (bisect_right(self._starts, number) - 1 for number in (one, other))
            yield first, one - self._starts[first], second, other - self._starts[second], way


def _of_note(target: Target, note: Note) -> list[Outside]:
    return [*of_notes(target, [note])]


def holding(met: Iterable[Meeting], today: date) -> list[Meeting]:
    """Return the meetings of facts that both hold on a day. What has expired is reported as that, and not recalled."""
    day = today.toordinal()
    return [
        one
        for one in met
        if not any(isinstance(side, Placed) and side.entry.is_expired(day) for side in (one.first, one.second))
    ]


def may_be_over(session: Session, documents: Sequence[Document]) -> list[Meeting]:
    """Return the entries that may be out of date, each as the first of two, by what the other one says."""
    learned = _learned(session)
    guesses = [replace(one, way=RENEWED) for document in documents for one in suspicions(document, names=False)]
    series = [one for document in documents for one in _series(document, learned)]
    newest = {side.id: one.second.id for one in series for side in (one.first, one.second)}
    others = (
        one for one in (*guesses, *renewals(documents)) if newest.get(one.first.id, "") != newest.get(one.second.id)
    )
    return [*series, *(one.in_order_of_age(learned) for one in others)]


def _series(document: Document, learned: Callable[[Fact], str]) -> Iterator[Meeting]:
    """Yield each entry that differs in one value only from one learned on a later day. A list is learned on one day."""
    for alike in of_one_shape(document):
        days = {learned(one)[:10]: one for one in alike}
        *older, newest = (days[day] for day in sorted(days))
        if len(days) == len(alike) and "" not in days:
            yield from (Meeting(RENEWED, one, newest) for one in older if may_differ(one, newest))


def edited_apart(session: Session, documents: Sequence[Document]) -> list[Meeting]:
    """Return the entries that were made of one entry: two branches edited it, and a merge has kept both."""
    learned = _learned(session)
    found = []
    for document in documents:
        made_of: dict[str, list[Placed]] = {}
        edited: Mapping[str, set[str]] = {}
        with suppress(StorageError):  # what cannot be read is told elsewhere
            edited = ledger.edited_from(session.books(document.target).lines())
        for one, entry in document.by_id if edited else ():
            for earlier in ledger.with_earlier({plain_id(one)}, edited) - {plain_id(one)}:
                made_of.setdefault(earlier, []).append(Placed(document, entry))
        pairs = {(one.id, other.id): (one, other) for made in made_of.values() for one, other in pairwise(made)}
        found += [Meeting(CHANGED, *pair).in_order_of_age(learned) for pair in pairs.values()]
    return found


def _records(session: Session) -> Iterator[Outside]:
    """Yield what the records of the project say; those that cannot be read are told by `amp record`."""
    if os.path.lexists(os.path.join(session.root.path, *RECORDS)):
        from ..recall.records import newest

        with suppress(AgentMemoryError, OSError):
            records, others = newest(session.root, _MOST_RECORDS)
            if others:
                looked = f"looked at {len(records):,} of {len(records) + others:,} records, those written last"
                session.notices.append(looked)
            yield from of_records(records)


def resolve(session: Session, loser: str, winner: str, reason: str) -> Resolved:
    """Retire an entry into its ledger, which names the one that holds in its place; see `Workspace.resolve`."""
    session.check_said(reason, "reason")
    places = _find_both(session, loser, winner)
    (loser_in, loser), (winner_in, winner) = places
    check_write(session, loser_in, f"amp resolve {loser} {winner}", reason)
    retired = retire(session, loser_in, loser, winner, reason)
    if winner_in != loser_in:
        with suppress(AccessDenied):  # its mark goes with the next write of somebody who may
            session.check_write(winner_in)
            session.change(winner_in, partial(_won, session, winner, loser))
    return Resolved(retired, winner)


def retire(session: Session, target: Target, loser: str, winner: str, reason: str = "") -> Removed:
    """Take an entry out of its document for another one, and take the mark of the dispute off that one."""
    gone: list[Taken] = []

    def change(current: Document) -> Change:
        if loser not in current.ids:
            raise InvalidArgument(f"{loser} has just left {target.path}")
        taken = take(current, loser)
        shown = current.spelled_out(taken.markdown), current.spelled_out(taken.place.label_text)
        gone[:] = [replace(taken, shown=shown)]
        left = retiring(Change(current), loser, winner, reason)
        return replace(left, document=_settled(session, left.document, winner))

    done = session.change(target, change)
    return Removed(target, loser, gone[0].said, done.run, gone[0].label)


def retiring(change: Change, loser: str, winner: str, reason: str = "") -> Change:
    """Return a change that also retires an entry for another one."""
    if loser == winner:
        raise InvalidArgument(f"{loser} says this already; nothing was changed")
    return replace(
        change,
        document=remove.remove(change.document, [loser]),
        reasons={**change.reasons, loser: reason or f"resolved: {winner} holds"},
        successors={**change.successors, loser: winner},
        retired=change.retired | {loser},
    )


def dispute(session: Session, one: str, other: str, reason: str) -> Disputed:
    """Mark two entries as disputed with each other; see `Workspace.dispute`."""
    session.check_said(reason, "reason")
    places = _find_both(session, one, other)
    (_, one), (_, other) = places
    for target, _ in places:
        check_write(session, target, f"amp dispute {one} {other}", reason)
    for target, side in places:
        current = session.read(target)
        if current is not None and side in current.ids:
            marks.marked(current, side)  # asked of both before one is written
    for target in dict.fromkeys(target for target, _ in places):
        sides = [(mine, theirs) for (here, mine), theirs in zip(places, (other, one), strict=True) if here == target]
        session.change(target, partial(_mark, session, sides, reason))
    return Disputed((one, other))


def _mark(session: Session, sides: Sequence[tuple[str, str]], reason: str, current: Document) -> Change:
    """Mark those of two disputed entries that are in this document; each with the other side."""
    document, about = current, {}
    for mine, theirs in sides:
        if mine not in current.ids:
            raise InvalidArgument(f"{mine} has just left {current.target.path}")
        document = marks.marked(document, mine)
        said = _disputes_of(session, current, mine)
        if document is not current or theirs not in said.disputed_with:
            others = tuple(dict.fromkeys([*said.disputed_with, theirs]))
            about[mine] = replace(said, disputed_with=others, dispute_reason=reason or said.dispute_reason)
    return Change(document, about=about) if about else Change(current)


def _disputes_of(session: Session, current: Document, entry_id: str) -> About:
    """Return what is known of an entry. Its disputes have ended where it has no mark."""
    said = session.books(current.target).said_of(entry_id)
    entry = current.entry(entry_id)
    return said if entry is not None and entry.marks.disputed else said.of_another_text


def end_dispute(session: Session, one: str, other: str) -> Disputed:
    """Say that two entries are not disputed with each other; see `Workspace.end_dispute`."""
    places = _find_both(session, one, other)
    (_, one), (_, other) = places
    for target, _ in places:
        check_write(session, target, f"amp dispute {one} {other} --end")
    sides = [(*mine, theirs) for mine, theirs in zip(places, (other, one), strict=True)]
    if not any(theirs in _known_disputes(session, target, mine) for target, mine, theirs in sides):
        raise InvalidArgument(f"{one} and {other} are not disputed with each other")
    for target, mine, theirs in sides:
        session.change(target, partial(_unmark, session, mine, theirs))
    return Disputed((one, other))


def _known_disputes(session: Session, target: Target, entry_id: str) -> tuple[str, ...]:
    current = session.read(target)
    return () if current is None else _disputes_of(session, current, entry_id).disputed_with


def _unmark(session: Session, mine: str, theirs: str, current: Document) -> Change:
    """End the dispute of an entry of this document with another one; its mark stays if there are more."""
    if mine not in current.ids:
        return Change(current)
    said = _disputes_of(session, current, mine)
    left = tuple(one for one in said.disputed_with if one != theirs)
    if left:
        return Change(current, about={mine: replace(said, disputed_with=left)})
    return Change(marks.unmarked(current, mine), about={mine: said.of_another_text})


def _settled(session: Session, document: Document, winner: str) -> Document:
    """Take the mark off the one that holds, unless it is disputed with another that is left."""
    if winner not in document.ids:
        return document
    others = session.books(document.target).said_of(winner).disputed_with
    open_still = any(other in document.ids for other in others)
    return document if open_still else marks.unmarked(document, winner)


def _won(session: Session, winner: str, loser: str, current: Document) -> Change:
    """Say of an entry that it holds in place of one of another document, and take its mark off."""
    known = session.books(current.target).said_of(winner)
    about = {winner: known.with_more(About(replaced=(loser,)))} if winner in current.ids else {}
    return Change(_settled(session, current, winner), about=about)


def _find_both(session: Session, one: str, other: str) -> list[tuple[Target, str]]:
    """Find two entries, each by its id or the beginning of it, in the order in which they are named."""
    found = []
    for named in (one, other):
        ((target, (entry_id,)),) = session.locate([named]).items()
        found.append((target, entry_id))
    if found[0] == found[1]:
        raise InvalidArgument(f"{one} and {other} are the same entry; name two")
    return found


def check_write(session: Session, target: Target, command: str, reason: str = "") -> None:
    """Refuse what this actor may not write, with a message in the form of a finding, for somebody who may."""
    try:
        session.check_write(target)
    except AccessDenied as error:
        finding = f"- {command}{f' --reason {shlex.quote(reason)}' if reason else ''}"
        error.args = (f"{error}; as a finding: ```memory-findings {finding} ```",)
        raise


def _learned(session: Session) -> Callable[[Fact], str]:
    """Return what says when a fact was learned: by git, else its ledger or its record; "" if nothing is known."""
    known: dict[Target, tuple[dict[str, str], dict[str, str]]] = {}

    def learned(one: Fact) -> str:
        if isinstance(one, Outside):
            return one.learned
        target = one.document.target
        if target not in known:
            written = births.last_written(session.root.path, target.path) if len(known) < _MOST_ASKED else {}
            try:
                known[target] = written, session.books(target).moments()
            except StorageError:  # what cannot be read is told elsewhere
                known[target] = written, {}
        written, moments = known[target]
        found = written.get(one.document.lines[one.entry.start].rstrip("\r\n")) or moments.get(one.id, "")
        return found or (sort_key(session.now.isoformat()) if written else "")

    return learned

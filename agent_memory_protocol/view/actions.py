"""What a person can do on the live page: each verb is planned, shown, and applied by the workspace or refused by it.

Each deed can be taken back, by the verbs that there are. Where something can not, its plan says so.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import field
from datetime import date
from functools import partial
from urllib.parse import quote

from .. import settle
from ..answers import StoredEntry
from ..errors import InvalidArgument, Refused, RefusedText, UnknownRecord
from ..layout import Target, parse_target
from ..memory import Memory
from ..project.access import Actor
from ..records.record import LIVE, Record
from ..text.dates import parse_day
from ..text.markdown import marker_width
from ..text.phrases import counted
from ..tiers.document import check_writable
from ..tiers.entries import OWN
from ..values import dataclass
from ..verbs.prune import parse_age
from ..verbs.upkeep_answers import Pruning, Restorable
from ..workspace import Workspace
from .page import mark_of

ENTRY_VERBS = ("Edit", "Date", "Forget", "Dispute", "Resolve")
VERBS = (*ENTRY_VERBS, "Archive", "Reactivate", "Restore", "Prune", "Distill", "Refuse")

_ANOTHER_ID = "Undo brings it back under another id, since the history of a record only grows."
_BY_HAND = "on the page"  # The reason of a change of a record that nobody gave one for

Records = Callable[[], AbstractContextManager[Memory | None]]
Undo = Callable[[], object]


@dataclass(frozen=True, slots=True)
class Wanted:
    """What is asked for: the verb, what it is about, and what this verb needs besides."""

    verb: str
    # the entries, of Distill and Refuse the proposals, of Restore what has left; for the other verbs one
    ids: tuple[str, ...]
    other: str = ""  # the other entry of Dispute and Resolve
    text: str = ""  # with `dated` and `reason`: the new text of Edit, the day of Date ("" takes it off), and why
    dated: str = ""
    reason: str = ""
    # with `of`: from which age on, and in which document, Prune looks; "" for the settings' age, and for all
    older: str = ""
    of: str = ""
    sections: str = ""  # with `limit`: "yes" to prune what is under dated headings, and only until a document fits
    limit: str = ""
    force: str = ""  # "yes" to prune a document that would lose more than half
    seen: str = ""  # what tells the text that the person saw, see `mark_of`; "" if it does not matter

    @classmethod
    def of_form(cls, fields: Sequence[tuple[str, str]]) -> "Wanted":
        """Read the fields of a form; others than its own are passed over."""
        given = {name: value.replace("\r\n", "\n").strip() for name, value in fields}
        ids = tuple(value for name, value in fields if name == "id" and value)
        if given.get("verb") not in VERBS:
            raise InvalidArgument(f"a change needs one of {', '.join(VERBS)}")
        if not ids:
            raise InvalidArgument("nothing was chosen")
        return cls(given["verb"], ids, **{name: given.get(name, "") for name in ("text", *_HIDDEN)})

    @property
    def id(self) -> str:
        """The first of its ids."""
        return self.ids[0]

    @property
    def day(self) -> date:
        """The day that is given."""
        return date.fromordinal(parse_day(self.dated))

    @property
    def hidden(self) -> Mapping[str, str]:
        """The fields of the form that applies a plan, but for its ids and its text."""
        return {name: getattr(self, name) for name in ("verb", *_HIDDEN) if getattr(self, name)}


_HIDDEN = ("other", "dated", "reason", "older", "of", "sections", "limit", "force", "seen")


@dataclass(frozen=True, slots=True)
class Step:
    """One side of a plan: what happens, in words, and the text that it happens to."""

    what: str
    text: str


@dataclass(frozen=True, slots=True)
class Planned:
    """What would happen, and what a person must know of taking it back; "" if Undo takes all of it back."""

    steps: Sequence[Step]
    undo: str = ""


@dataclass(frozen=True, slots=True)
class Deed:
    """What was done, in words, where it can be seen, and what takes it back: one step after another, or none."""

    said: str  # what was done
    back_to: str = "/"  # the address of the page that shows it
    # what would take it back; each step returns what it could not do, if there is anything
    undo: list[Undo] = field(default_factory=list)
    notes: tuple[str, ...] = field(default=())  # what the one who did it should know besides


@dataclass(frozen=True, slots=True)
class Changes:
    """What one reader can do with one memory today."""

    here: Workspace
    actor: Actor
    today: date
    records: Records

    def plan(self, wanted: Wanted) -> Planned:
        """Say what would happen. Changes nothing.

        Raises:
            AgentMemoryError: the workspace would refuse it, as it will when the plan is applied.
        """
        if wanted.verb in self._several:
            return self._several[wanted.verb][0](wanted)
        return self._plan_record(wanted) if is_record(wanted.id) else self._plan_entry(wanted)

    def apply(self, wanted: Wanted) -> Deed:
        """Do it. Raises AgentMemoryError if the workspace refuses it; nothing was changed."""
        if wanted.verb in self._several:
            return self._several[wanted.verb][1](wanted)
        return self._apply_record(wanted) if is_record(wanted.id) else self._apply_entry(wanted)

    @property
    def _several(self) -> Mapping[str, tuple[Callable[[Wanted], Planned], Callable[[Wanted], Deed]]]:
        """How to plan and how to do what may be about several entries."""
        return {
            "Restore": (self._plan_restore, self._restore),
            "Prune": (self._plan_prune, self._prune),
            "Distill": (self._plan_distill, self._distill),
            "Refuse": (self._plan_distill, self._refuse),
        }

    def _check_write(self, target: Target) -> None:
        """Refuse a plan for a document that this reader may not write, or nobody before it is mended."""
        self.here.check_write(self.actor, target)
        for document in self.here.documents(self.actor, [target]):
            check_writable(document)

    # -- an entry ------------------------------------------------------------------------------------------------------

    def _plan_entry(self, wanted: Wanted) -> Planned:
        entry = self._entry(wanted)
        self._check_write(entry.target)
        if wanted.verb == "Edit":
            if refusal := self.here.why_refused(wanted.text, standing=entry.text):
                raise RefusedText(refusal)
            steps = [Step("goes to the history", entry.alone), Step("takes its place", wanted.text)]
            return Planned(steps, self._why_lost(entry))
        if wanted.verb == "Date":
            loses_it = not wanted.dated and _has_own_date(entry)
            return Planned([Step("loses its date" if loses_it else f"is dated {wanted.day}", entry.alone)])
        if wanted.verb == "Forget":
            return Planned([Step("goes to the history", entry.alone)])
        other = self.here.entry(_other(wanted), self.actor)
        if wanted.verb == "Resolve":
            return Planned([Step("goes to the history", entry.alone), Step("holds in its place", other.alone)])
        self._check_write(other.target)
        return Planned([Step("is marked as disputed", one.alone) for one in (entry, other)])

    def _apply_entry(self, wanted: Wanted) -> Deed:
        deeds = {
            "Edit": self._edit,
            "Date": self._date,
            "Forget": self._forget,
            "Dispute": self._dispute,
            "Resolve": self._resolve,
        }
        if wanted.verb not in deeds:
            raise InvalidArgument(f"{wanted.verb} is for records")
        return deeds[wanted.verb](self._entry(wanted), wanted)

    def _entry(self, wanted: Wanted) -> StoredEntry:
        """Return the entry that is meant, if it is as the person saw it: under its id, a date and marks may be others.

        Raises:
            Refused: it is not.
        """
        entry = self.here.entry(wanted.id, self.actor)
        _check_same(entry, wanted.seen)
        return entry

    def _edit(self, entry: StoredEntry, wanted: Wanted) -> Deed:
        text, lost = without_bullet(entry), self._why_lost(entry)
        made = self.here.edit(entry.id, wanted.text, actor=self.actor).entry
        back = [lambda: self.here.edit(made.id, text, actor=self.actor), *self._dispute_again(entry)]
        return Deed("It has another text.", place_of(made), [] if lost else back)

    def _why_lost(self, entry: StoredEntry) -> str:
        """Say why the text of an entry cannot come back; "" if it can."""
        why = self.here.why_refused(without_bullet(entry))
        return f"It cannot be undone: the old text {why}." if why else ""

    def _date(self, entry: StoredEntry, wanted: Wanted) -> Deed:
        before = entry.date if _has_own_date(entry) else None
        day = wanted.day if wanted.dated or before is None else None
        made = self._dated(entry.id, day)

        def back() -> None:
            _check_same(self.here.entry(entry.id, self.actor), mark_of(made))
            self._dated(entry.id, before)

        return Deed("It has lost its date." if day is None else f"It is dated {day}.", place_of(entry), [back])

    def _dated(self, entry_id: str, day: date | None) -> StoredEntry:
        return self.here.edit(entry_id, actor=self.actor, dated=day, undated=day is None).entry

    def _forget(self, entry: StoredEntry, wanted: Wanted) -> Deed:
        self.here.forget([entry.id], actor=self.actor, reason=wanted.reason or "forgotten")
        back = [lambda: self._bring_back([entry.id]), *self._dispute_again(entry)]
        return Deed("It has left the document.", page_of(entry), back)

    def _resolve(self, entry: StoredEntry, wanted: Wanted) -> Deed:
        other = self.here.entry(_other(wanted), self.actor)
        self.here.resolve(entry.id, other.id, actor=self.actor, reason=wanted.reason)
        back = [lambda: self._bring_back([entry.id]), *self._dispute_again(entry)]
        return Deed("It has left the document, and the other holds.", place_of(other), back)

    def _dispute(self, entry: StoredEntry, wanted: Wanted) -> Deed:
        other = self.here.entry(_other(wanted), self.actor)
        is_old = other.id in entry.about.disputed_with
        self.here.dispute(entry.id, other.id, actor=self.actor, reason=wanted.reason)
        back: Undo = partial(self.here.end_dispute, entry.id, other.id, actor=self.actor)
        return Deed("Both are marked as disputed.", place_of(entry), [] if is_old else [back])

    def _dispute_again(self, entry: StoredEntry) -> Iterator[Undo]:
        """Return what marks it as disputed again, which ends when one side leaves."""
        for other in entry.about.disputed_with:
            yield partial(self.here.dispute, entry.id, other, actor=self.actor, reason=entry.about.dispute_reason)

    # -- several entries -----------------------------------------------------------------------------------------------

    def _plan_restore(self, wanted: Wanted) -> Planned:
        gone = [one_gone(self.here, self.actor, one) for one in wanted.ids]
        for left in gone:
            self._check_write(left.target)
        return Planned([Step(f"comes back to {left.target}", left.archived.taken.alone) for left in gone])

    def _restore(self, wanted: Wanted) -> Deed:
        gone = [one_gone(self.here, self.actor, one) for one in wanted.ids]
        before = self._texts(one.target for one in gone)
        back = self._bring_back(wanted.ids)
        after = self._texts(before)
        ids = [one.id for one in back]
        why = "restored by mistake"
        undo: list[Undo] = [
            partial(self.here.remove_note, one.archived.note, target=one.target, actor=self.actor, reason=why)
            for one in gone
            if one.archived.note
        ]
        if {*ids} <= {one.id for one in self.here.entries(self.actor, [*before], on_problem=lambda *_: None)}:
            undo += [lambda: self.here.forget(ids, actor=self.actor, reason=why)] if ids else []
        else:  # a heading or a label has no id that `forget` knows
            undo.append(lambda: self._text_back(before, after, why))
        return Deed("It is back.", place_of(back[0]) if back else "/history", undo)

    def _bring_back(self, ids: Sequence[str]) -> Sequence[StoredEntry]:
        done = self.here.restore([one_gone(self.here, self.actor, one) for one in ids], actor=self.actor)
        if done.problems:
            raise Refused("; ".join(done.problems))
        return done.entries

    def _texts(self, targets: Iterable[Target]) -> dict[Target, str | None]:
        return {target: self.here.read_file(target, actor=self.actor) for target in dict.fromkeys(targets)}

    def _check_as_left(self, after: Mapping[Target, str | None]) -> None:
        changed = [target.path for target, text in self._texts(after).items() if text != after[target]]
        if changed:
            raise Refused(f"{', '.join(changed)} was changed by others since, so it cannot be put back")

    def _text_back(self, before: Mapping[Target, str | None], after: Mapping[Target, str | None], why: str) -> None:
        """Give documents the text that they had before, unless others have written to them since."""
        self._check_as_left(after)
        for target, text in before.items():
            self.here.rewrite(target, lambda _, text=text: text, actor=self.actor, reason=why)  # type: ignore[misc]

    def _plan_prune(self, wanted: Wanted) -> Planned:
        plans = self._pruning(wanted)
        for one in plans:
            self._check_write(one.target)
        steps = [Step(f"goes to the history of {one.target}", gone.alone) for one in plans for gone in one.removals]
        return Planned(steps)

    def _prune(self, wanted: Wanted) -> Deed:
        plans = self._pruning(wanted)
        force = wanted.force == "yes"
        if not force and (held := [one for one in plans if one.held]):
            named = ", ".join(str(one.target) for one in held)
            raise Refused(f"more than half of {named} would go; choose fewer, or say so")
        # Healing may come first: what was chosen is still what goes.
        gone = self.here.apply_pruning(plans, actor=self.actor, force=force, again=lambda _: None)
        ids = [one.id for one in gone]
        left = f"{counted(len(ids), 'entry')} left {'its document' if len(ids) == 1 else 'their documents'}."
        return Deed(left, "/prune", [lambda: self._bring_back(ids)] if ids else [])

    def _pruning(self, wanted: Wanted) -> list[Pruning]:
        """Return the plans for what was chosen, which must all be outdated still."""
        plans = pruning(self.here, self.actor, self.today, wanted)
        _check_all_there(wanted, [one.id for plan in plans for one in plan.removals])
        return [left for one in plans if (left := one.only(wanted.ids)).removals]

    def _plan_distill(self, wanted: Wanted) -> Planned:
        found = self.here.plan_distillation(actor=self.actor).candidates
        _check_all_there(wanted, [one.id for one in found])
        chosen = [one for one in found if one.id in wanted.ids]
        if wanted.verb == "Refuse":
            return Planned([Step("is not proposed again", one.text) for one in chosen])
        return Planned([Step(f"{one.action}: {one.target}, since {one.reason}", one.text) for one in chosen])

    def _distill(self, wanted: Wanted) -> Deed:
        planned = self.here.plan_distillation(actor=self.actor)
        _check_all_there(wanted, [one.id for one in planned.candidates])
        done = self.here.apply_distillation(planned, only=wanted.ids, actor=self.actor, today=self.today)
        if not done.done and done.refused:
            raise Refused("; ".join(str(error) for _, error in done.refused))
        after = self._texts(self.here.targets(self.actor))
        backup = done.backup

        def back() -> None:
            self._check_as_left(after)
            self.here.restore_distillation(backup, actor=self.actor)

        refused = tuple(str(error) for _, error in done.refused)
        return Deed(f"{counted(len(done.done), 'change')} made.", "/distill", [back] if backup else [], refused)

    def _refuse(self, wanted: Wanted) -> Deed:
        found = self.here.plan_distillation(actor=self.actor).candidates
        ids = self.here.refuse("distill", found, wanted.ids, actor=self.actor)
        back = partial(self.here.forget_refusals, "distill", ids, actor=self.actor)
        return Deed(f"{counted(len(ids), 'proposal')} will not come again.", "/distill", [back])

    # -- records -------------------------------------------------------------------------------------------------------

    @contextmanager
    def _memory(self) -> Iterator[Memory]:
        with self.records() as memory:
            if memory is None:
                raise UnknownRecord("the project has no records")
            yield memory

    def _plan_record(self, wanted: Wanted) -> Planned:
        with self._memory() as memory:
            one = _record(memory, wanted.id)
            if wanted.verb == "Archive":
                return Planned([Step("stays readable and is not recalled", one.body)], _ANOTHER_ID)
            if wanted.verb == "Reactivate":
                if said := [same for same in memory.saying(one.body) if same.state in LIVE]:
                    raise InvalidArgument(f"{said[0].id} says this already")
                return Planned([Step("is said again, by another record that names it", one.body)])
            other = _record(memory, _other(wanted))
        if wanted.verb == "Resolve":
            steps = [Step("is replaced and stays readable", one.body), Step("holds in its place", other.body)]
            return Planned(steps, _ANOTHER_ID)
        if wanted.verb == "Dispute":
            return Planned([Step("is marked as disputed", side.body) for side in (one, other)], _ANOTHER_ID)
        raise InvalidArgument(f"{wanted.verb} is for entries")

    def _apply_record(self, wanted: Wanted) -> Deed:
        self.plan(wanted)
        reason = wanted.reason or _BY_HAND
        with self._memory() as memory:
            one = _record(memory, wanted.id)
            if wanted.verb == "Archive":
                memory.archive(one.id, reason)
                return Deed("It is put away and stays readable.", "/records", [partial(self._live_again, one)])
            if wanted.verb == "Reactivate":
                made = memory.reactivate(one.id, reason)
                return Deed("It is said again.", "/records", [partial(self._put_away, made.id)])
            given = (self.here, memory, self.actor, wanted.id, wanted.other)
            if wanted.verb == "Resolve":
                settle.resolve(*given, reason=wanted.reason)
                said = "The other record holds; this one stays readable."
                return Deed(said, "/records", [partial(self._live_again, one)])
            settle.dispute(*given, reason=wanted.reason)
            back: Undo = partial(self._end_dispute, wanted.id, wanted.other)
            return Deed("Both records are marked as disputed.", "/records", [] if one.transition else [back])

    def _live_again(self, before: Record) -> None:
        """Restore what a record said, and the dispute that it was in."""
        with self._memory() as memory:
            now = memory.reactivate(before.id, _BY_HAND)
            if before.transition is not None:
                (other,) = {*before.transition.sides} - {before.id}
                memory.dispute(now.id, other, before.transition.reason)

    def _put_away(self, record_id: str) -> None:
        with self._memory() as memory:
            memory.archive(record_id, _BY_HAND)

    def _end_dispute(self, one: str, other: str) -> None:
        with self._memory() as memory:
            settle.end_dispute(self.here, memory, self.actor, one, other)


def pruning(here: Workspace, actor: Actor, today: date, wanted: Wanted) -> list[Pruning]:
    """Return what Prune finds with the options of a form. Raises InvalidArgument if the age cannot be read."""
    return here.plan_pruning(
        [parse_target(wanted.of)] if wanted.of else None,
        actor=actor,
        older_than=parse_age(wanted.older, today) if wanted.older else None,
        sections=wanted.sections == "yes",
        to_limit=wanted.limit == "yes",
        today=today,
    )


def _check_all_there(wanted: Wanted, there: Sequence[str]) -> None:
    missing = [one for one in wanted.ids if one not in there]
    if missing:
        raise InvalidArgument(f"{', '.join(missing)} is not proposed any more; open the page again")


def _check_same(entry: StoredEntry, seen: str) -> None:
    if seen and seen != mark_of(entry):
        raise Refused(f"{entry.id} was changed meanwhile; look at it again")


def _has_own_date(entry: StoredEntry) -> bool:
    return entry.date_source == OWN


def _other(wanted: Wanted) -> str:
    if not wanted.other:
        raise InvalidArgument("which other one? give its id, or the beginning of it")
    return wanted.other


def _record(memory: Memory, record_id: str) -> Record:
    found = memory.newest(record_id)
    if found is None:
        raise UnknownRecord(f"there is no record {record_id!a}")
    return found


def is_record(name: str) -> bool:
    """Say whether an id is a record's."""
    return name.startswith("mem:")


def page_of(entry: StoredEntry) -> str:
    """Return the address of the page with an entry's document."""
    return f"/document?of={quote(str(entry.target), safe=':')}"


def place_of(entry: StoredEntry) -> str:
    """Return the address of an entry in its document."""
    return f"{page_of(entry)}&entry={entry.id}#e-{entry.id}"


def one_gone(here: Workspace, actor: Actor, entry_id: str) -> Restorable:
    """Return what has left a document, by its id."""
    found = here.restorable([entry_id], actor=actor)
    if len(found) != 1:
        raise InvalidArgument(f"{entry_id!a} names {len(found)} entries that have left; `amp restore` lists them")
    return found[0]


def without_bullet(entry: StoredEntry) -> str:
    """Return the text of an entry as `edit` takes it: without its bullet, its indent, and the mark of a dispute."""
    first, *rest = entry.text.split("\n")
    own = first[marker_width(first) :].lstrip()
    width = len(first) - len(own)
    if entry.disputed:
        own = own.replace("[disputed] ", "", 1)
    return "\n".join([own, *(line[min(width, len(line) - len(line.lstrip(" "))) :] for line in rest)])

"""What a person can do on the live page: each verb is planned, shown, and applied by the workspace or refused by it."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from datetime import date, timedelta
from functools import partial
from urllib.parse import quote

from .. import settle
from ..answers import StoredEntry
from ..errors import InvalidArgument, Refused, RefusedText, UnknownRecord
from ..layout import parse_target
from ..memory import Memory
from ..project.access import Actor
from ..text.dates import parse_day
from ..text.markdown import marker_width
from ..text.phrases import counted
from ..verbs.upkeep_answers import Pruning, Restorable
from ..workspace import Workspace
from .page import mark_of

ENTRY_VERBS = ("Edit", "Date", "Forget", "Dispute", "Resolve")
VERBS = (*ENTRY_VERBS, "Restore", "Prune", "Distill")

Records = Callable[[], AbstractContextManager[Memory | None]]


@dataclass(frozen=True, slots=True)
class Wanted:
    """What is asked for: the verb, what it is about, and what this verb needs besides.

    Attributes:
        ids: the entries, of Distill the proposals, of Restore what has left; for the other verbs one.
        other: the other entry of Dispute and Resolve.
        text, dated, reason: the new text of Edit, the day of Date, and why.
        days, of: from which age on, and in which document, Prune looks; "" for the settings' age, and for all.
        force: "yes" to prune a document that would lose more than half.
        seen: what tells the text that the person saw, see `mark_of`; "" where it does not matter.
    """

    verb: str
    ids: tuple[str, ...]
    other: str = ""
    text: str = ""
    dated: str = ""
    reason: str = ""
    days: str = ""
    of: str = ""
    force: str = ""
    seen: str = ""

    @classmethod
    def of_form(cls, fields: Sequence[tuple[str, str]]) -> "Wanted":
        """Read the fields of a form; others than its own are passed over.

        Raises:
            InvalidArgument: the verb is unknown, or nothing was chosen.
        """
        given = {name: value.replace("\r\n", "\n").strip() for name, value in fields}
        ids = tuple(value for name, value in fields if name == "id" and value)
        if given.get("verb") not in VERBS:
            raise InvalidArgument(f"a change needs one of {', '.join(VERBS)}")
        if not ids:
            raise InvalidArgument("nothing was chosen")
        more = ("other", "text", "dated", "reason", "days", "of", "force", "seen")
        return cls(given["verb"], ids, **{name: given.get(name, "") for name in more})

    @property
    def id(self) -> str:
        """The first of its ids."""
        return self.ids[0]

    @property
    def day(self) -> date:
        """The day that is given."""
        return date.fromordinal(parse_day(self.dated))


@dataclass(frozen=True, slots=True)
class Step:
    """One side of a plan: what happens, in words, and the text that it happens to."""

    what: str
    text: str


@dataclass(frozen=True, slots=True)
class Deed:
    """What was done, in words, where it can be seen, and what takes it back: one step after another, or none.

    Attributes:
        said: what was done.
        back_to: the address of the page that shows it.
        undo: what would take it back.
        notes: what the one who did it should know besides.
    """

    said: str
    back_to: str = "/"
    undo: tuple[Callable[[], object], ...] = ()
    notes: tuple[str, ...] = field(default=())


@dataclass(frozen=True, slots=True)
class Changes:
    """What one reader can do with one memory today."""

    here: Workspace
    actor: Actor
    today: date
    records: Records

    # -- plans ---------------------------------------------------------------------------------------------------------

    def plan(self, wanted: Wanted) -> list[Step]:
        """Say what would happen. Changes nothing.

        Raises:
            AgentMemoryError: the workspace would refuse it, as it will when the plan is applied.
        """
        if wanted.verb == "Prune":
            plans = self._pruning(wanted)
            for one in plans:
                self.here.check_write(self.actor, one.target)
            return [Step(f"goes to the history of {one.target}", gone.alone) for one in plans for gone in one.removals]
        if wanted.verb == "Distill":
            chosen = [one for one in self.here.plan_distillation(actor=self.actor).candidates if one.id in wanted.ids]
            _check_all_there(wanted, [one.id for one in chosen])
            return [Step(f"{one.action}: {one.target}, since {one.reason}", one.text) for one in chosen]
        if wanted.verb == "Restore":
            gone = [one_gone(self.here, self.actor, one) for one in wanted.ids]
            for left in gone:
                self.here.check_write(self.actor, left.target)
            return [Step(f"comes back to {left.target}", left.archived.taken.alone) for left in gone]
        return self._plan_record(wanted) if is_record(wanted.id) else self._plan_entry(wanted)

    def _plan_entry(self, wanted: Wanted) -> list[Step]:
        entry = self.here.entry(wanted.id, self.actor)
        self.here.check_write(self.actor, entry.target)
        _check_unchanged(entry, wanted)
        if wanted.verb == "Edit":
            if refusal := self.here.why_refused(wanted.text):
                raise RefusedText(refusal)
            return [Step("goes to the history", entry.alone), Step("takes its place", wanted.text)]
        if wanted.verb == "Date":
            return [Step(f"is dated {wanted.day}", entry.alone)]
        if wanted.verb == "Forget":
            return [Step("goes to the history", entry.alone)]
        other = self.here.entry(_other(wanted), self.actor)
        if wanted.verb == "Resolve":
            return [Step("goes to the history", entry.alone), Step("holds in its place", other.alone)]
        self.here.check_write(self.actor, other.target)
        return [Step("is marked as disputed", entry.alone), Step("is marked as disputed", other.alone)]

    def _plan_record(self, wanted: Wanted) -> list[Step]:
        with self.records() as memory:
            found = [None if memory is None else memory.newest(one) for one in (wanted.id, _other(wanted))]
        one, other = found
        if one is None or other is None:
            raise UnknownRecord(f"there is no record {wanted.id if one is None else wanted.other!a}")
        if wanted.verb == "Resolve":
            return [Step("is replaced and stays readable", one.body), Step("holds in its place", other.body)]
        if wanted.verb == "Dispute":
            return [Step("is marked as disputed", one.body), Step("is marked as disputed", other.body)]
        raise InvalidArgument(f"{wanted.verb} is for entries; records are resolved and disputed")

    # -- deeds ---------------------------------------------------------------------------------------------------------

    def apply(self, wanted: Wanted) -> Deed:
        """Do it.

        Raises:
            AgentMemoryError: the workspace refuses it; nothing was changed.
        """
        several = {"Restore": self._restore, "Prune": self._prune, "Distill": self._distill}
        if wanted.verb in several:
            return several[wanted.verb](wanted)
        if is_record(wanted.id):
            return self._apply_record(wanted)
        entry = self.here.entry(wanted.id, self.actor)
        _check_unchanged(entry, wanted)
        return getattr(self, f"_{wanted.verb.lower()}")(entry, wanted)  # type: ignore[no-any-return]

    def _edit(self, entry: StoredEntry, wanted: Wanted) -> Deed:
        made = self.here.edit(entry.id, wanted.text, actor=self.actor).entry
        text = without_bullet(entry)
        return Deed("It has another text.", place_of(made), (lambda: self.here.edit(made.id, text, actor=self.actor),))

    def _date(self, entry: StoredEntry, wanted: Wanted) -> Deed:
        self.here.edit(entry.id, actor=self.actor, dated=wanted.day)
        before = entry.date
        back = (lambda: self.here.edit(entry.id, actor=self.actor, dated=before),) if before else ()
        return Deed(f"It is dated {wanted.day}.", place_of(entry), back)

    def _forget(self, entry: StoredEntry, wanted: Wanted) -> Deed:
        self.here.forget([entry.id], actor=self.actor, reason=wanted.reason or "forgotten")
        back = (lambda: self._bring_back([entry.id]), *self._dispute_again(entry, entry.about.disputed_with))
        return Deed("It has left the document.", page_of(entry), back)

    def _resolve(self, entry: StoredEntry, wanted: Wanted) -> Deed:
        other = self.here.entry(_other(wanted), self.actor)
        self.here.resolve(entry.id, other.id, actor=self.actor, reason=wanted.reason)
        back = (lambda: self._bring_back([entry.id]), *self._dispute_again(entry, entry.about.disputed_with))
        return Deed("It has left the document, and the other holds.", place_of(other), back)

    def _dispute(self, entry: StoredEntry, wanted: Wanted) -> Deed:
        self.here.dispute(entry.id, _other(wanted), actor=self.actor, reason=wanted.reason)
        return Deed("Both are marked as disputed.", place_of(entry))

    def _dispute_again(self, entry: StoredEntry, others: Sequence[str]) -> Iterator[Callable[[], object]]:
        """Return what marks it as disputed again, which ends when one side leaves."""
        for other in others:
            yield partial(self.here.dispute, entry.id, other, actor=self.actor, reason=entry.about.dispute_reason)

    def _restore(self, wanted: Wanted) -> Deed:
        back = self._bring_back(wanted.ids)
        ids = [one.id for one in back]
        undo = (lambda: self.here.forget(ids, actor=self.actor, reason="restored by mistake"),) if ids else ()
        return Deed("It is back.", place_of(back[0]) if back else "/history", undo)

    def _prune(self, wanted: Wanted) -> Deed:
        plans = self._pruning(wanted)
        force = wanted.force == "yes"
        if not force and (held := [one for one in plans if one.held]):
            named = ", ".join(str(one.target) for one in held)
            raise Refused(f"more than half of {named} would go; nothing was changed: choose fewer, or say so")
        gone = self.here.apply_pruning(plans, actor=self.actor, force=force)
        ids = [one.id for one in gone]
        left = f"{counted(len(ids), 'entry')} left {'its document' if len(ids) == 1 else 'their documents'}."
        return Deed(left, "/prune", (lambda: self._bring_back(ids),) if ids else ())

    def _distill(self, wanted: Wanted) -> Deed:
        planned = self.here.plan_distillation(actor=self.actor)
        _check_all_there(wanted, [one.id for one in planned.candidates])
        done = self.here.apply_distillation(planned, only=wanted.ids, actor=self.actor, today=self.today)
        if not done.done and done.refused:
            raise Refused("; ".join(str(error) for _, error in done.refused))
        backup = done.backup
        undo = (lambda: self.here.restore_distillation(backup, actor=self.actor),) if backup else ()
        refused = tuple(str(error) for _, error in done.refused)
        return Deed(f"{counted(len(done.done), 'change')} made.", "/distill", undo, refused)

    def _apply_record(self, wanted: Wanted) -> Deed:
        self.plan(wanted)
        with self.records() as memory:
            given = (self.here, memory, self.actor, wanted.id, wanted.other)
            if wanted.verb == "Resolve":
                settle.resolve(*given, reason=wanted.reason)
                return Deed("The other record holds; this one stays readable.", "/records")
            settle.dispute(*given, reason=wanted.reason)
        return Deed("Both records are marked as disputed.", "/records")

    def _bring_back(self, ids: Sequence[str]) -> Sequence[StoredEntry]:
        done = self.here.restore([one_gone(self.here, self.actor, one) for one in ids], actor=self.actor)
        if done.problems:
            raise Refused("; ".join(done.problems))
        return done.entries

    def _pruning(self, wanted: Wanted) -> list[Pruning]:
        """Return the plans for what was chosen, which must all be outdated still."""
        days = timedelta(days=int(wanted.days)) if wanted.days.isdecimal() and len(wanted.days) < 7 else None
        targets = [parse_target(wanted.of)] if wanted.of else None
        plans = self.here.plan_pruning(targets, actor=self.actor, older_than=days, today=self.today)
        _check_all_there(wanted, [gone.id for one in plans for gone in one.removals])
        return [left for one in plans if (left := one.only(wanted.ids)).removals]


def _check_all_there(wanted: Wanted, there: Sequence[str]) -> None:
    missing = [one for one in wanted.ids if one not in there]
    if missing:
        raise InvalidArgument(f"{', '.join(missing)} is not proposed any more; open {wanted.verb} again")


def _check_unchanged(entry: StoredEntry, wanted: Wanted) -> None:
    """Refuse to change what is not as the person saw it: a date and marks may be others, under the same id."""
    if wanted.seen and wanted.seen != mark_of(entry):
        raise Refused(f"{entry.id} was changed meanwhile; nothing was changed: look at it again")


def _other(wanted: Wanted) -> str:
    if not wanted.other:
        raise InvalidArgument("which other one? give its id, or the beginning of it")
    return wanted.other


def is_record(name: str) -> bool:
    """Say whether an id is a record's."""
    return name.startswith("mem:")


def page_of(entry: StoredEntry) -> str:
    """Return the address of the page with an entry's document."""
    return f"/document?of={quote(str(entry.target), safe=':')}"


def place_of(entry: StoredEntry) -> str:
    """Return the address of an entry in its document."""
    return f"{page_of(entry)}#e-{entry.id}"


def one_gone(here: Workspace, actor: Actor, entry_id: str) -> Restorable:
    """Return what has left a document, by its id."""
    found = here.restorable([entry_id], actor=actor)
    if len(found) != 1:
        raise InvalidArgument(f"{entry_id!a} names {len(found)} entries that have left; `amp restore` lists them")
    return found[0]


def without_bullet(entry: StoredEntry) -> str:
    """Return the text of an entry as `edit` takes it: without its bullet, and without what that indents.

    A dispute was about the old text, so its mark is left out, too.
    """
    first, *rest = entry.text.split("\n")
    own = first[marker_width(first) :].lstrip()
    width = len(first) - len(own)
    if entry.disputed:
        own = own.replace("[disputed] ", "", 1)
    return "\n".join([own, *(line[min(width, len(line) - len(line.lstrip(" "))) :] for line in rest)])


def fields_of(wanted: Wanted) -> Mapping[str, str]:
    """Return the fields of the form that applies a plan, but for its ids and its text."""
    names = ("verb", "other", "dated", "reason", "days", "of", "force", "seen")
    return {name: getattr(wanted, name) for name in names if getattr(wanted, name)}

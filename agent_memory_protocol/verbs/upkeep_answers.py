"""What the verbs answer that keep memory current: what goes, what comes back, and what has gone."""

import shlex
from collections.abc import Callable, Collection, Mapping
from dataclasses import field, replace
from datetime import date
from pathlib import Path
from typing import Any

from ..answers import NOTHING_KNOWN, About, Headroom, StoredEntry
from ..change.ledger import Archived
from ..layout import Target
from ..text import labels
from ..tiers.prune import Judged, Plan, only
from ..values import HasJson, dataclass, json_of


@dataclass(frozen=True, slots=True)
class Pruning:
    """What pruning would take out of one document, and leave in it.

    Attributes:
        plan: the plan for it; it names the document's version it was made from.
        old_sections: the headings whose own date is old: line, text, date. `sections=True` takes their entries.
        still_over: how many lines and bytes the document would be over its limit after it, zeros where it fits.
        problem: why no plan could be made; "" if one was.
        unneeded: how many of its entries were not recalled, found or opened here for 90 days, where that is counted.
        ended: for a conversation that is over, the day of its last sign of life; else None.
        said: what is known of the entries, by their ids.
        made_by: makes the same plan for the document as it is now.
    """

    target: Target
    path: Path
    plan: Plan | None
    old_sections: tuple[tuple[int, str, date], ...] = ()
    still_over: tuple[int, int] = (0, 0)
    problem: str = ""
    ended: date | None = None
    unneeded: int = 0
    said: Mapping[str, About] = field(default_factory=dict)
    made_by: Callable[[Any, Any], "Pruning"] | None = field(default=None, compare=False, repr=False)

    @property
    def removals(self) -> tuple[Judged, ...]:
        """What would go."""
        return self.plan.removals if self.plan else ()

    @property
    def kept(self) -> tuple[Judged, ...]:
        """What would stay."""
        return self.plan.kept if self.plan else ()

    @property
    def held(self) -> bool:
        """Whether it is done only by force: more than half of the entries would go, of what is not over."""
        return self.ended is None and self.plan is not None and self.plan.drops_most

    @property
    def by_force(self) -> str:
        """The command that prunes this document all the same."""
        return f"amp prune {shlex.quote(str(self.target))} --apply --force"

    def only(self, ids: Collection[str]) -> "Pruning":
        """Return the plan for these entries alone, of those that would go."""
        if self.plan is None:
            return self
        plan_again = self.made_by
        made_by = plan_again and (lambda *given: plan_again(*given).only(ids))
        return replace(self, plan=only(self.plan, ids), made_by=made_by)

    def to_json(self) -> dict[str, list[object]]:
        """Return the JSON answer for this document; that for several is these lists, one after another."""
        sections = [
            {**self.target.to_json(), "line": line, "section": text, "date": day.isoformat()}
            for line, text, day in self.old_sections
        ]
        return {
            "removals": [self._told(one) for one in self.removals],
            "kept": [self._told(one) for one in self.kept],
            "old_sections": [*sections],
            "held": [{**self.target.to_json(), "command": self.by_force}] if self.held else [],
            "ended": [{**self.target.to_json(), "date": self.ended.isoformat()}] if self.ended else [],
            "unneeded": [{**self.target.to_json(), "entries": self.unneeded}] if self.unneeded else [],
            "problems": [self.problem] if self.problem else [],
        }

    def _told(self, one: Judged) -> dict[str, object]:
        return {**one.to_json(self.target), "about": self.said.get(one.id, NOTHING_KNOWN).to_json()}


@dataclass(frozen=True, slots=True)
class Removed(labels.Labelled, HasJson):
    """An entry that has left its document.

    Attributes:
        run: the id of the command that took it out.
        label: the label it was under, "" if it was under none.
        went_along: the headings and the label above it that nothing else needed, and that left with it.
        about: what is known of it besides its text.
    """

    JSON = "id *target label went_along about"

    target: Target
    id: str
    text: str
    run: str
    label: str = ""
    went_along: tuple[str, ...] = ()
    about: About = NOTHING_KNOWN


@dataclass(frozen=True, slots=True)
class Resolved(HasJson):
    """What `resolve` did: the entry that was retired, and the id of the one that holds in its place."""

    JSON = "retired=retired.id successor"

    retired: Removed
    successor: str


@dataclass(frozen=True, slots=True)
class Disputed(HasJson):
    """What `dispute` did: the ids of the two entries that are marked now."""

    JSON = "disputed=ids"

    ids: tuple[str, str]


@dataclass(frozen=True, slots=True)
class Edited(HasJson):
    """What `edit` did: the entry that went and the one that replaces it."""

    JSON = "id=entry.id old_id *entry.target line=entry.line"

    old_id: str
    entry: StoredEntry
    path: Path
    headroom: Headroom


@dataclass(frozen=True, slots=True)
class Restorable(HasJson):
    """An entry that can come back, the document it comes back to, and what is known of it."""

    JSON = (
        "id=archived.taken.id *target removed_at=archived.removed_at reason=archived.reason run=archived.run"
        " note=archived.note? section=archived.taken.place.section label=archived.taken.label about"
        " text=archived.taken.said"
    )

    target: Target
    archived: Archived
    about: About = NOTHING_KNOWN


@dataclass(frozen=True, slots=True)
class Restored:
    """What came back: entries, the files of notes, and why others could not."""

    entries: tuple[StoredEntry, ...]
    notes: tuple[str, ...] = ()
    problems: tuple[str, ...] = ()

    def to_json(self) -> dict[str, object]:
        """Return the JSON answer."""
        entries = [{"id": entry.id, **entry.target.to_json(), "line": entry.line} for entry in self.entries]
        return {"restored": entries, "notes": [*self.notes], "problems": [*self.problems]}


@dataclass(frozen=True, slots=True)
class Synced:
    """What healing would do, or did, to one document.

    Attributes:
        put_back: texts that go back.
        removed_by_hand: texts that were taken out by hand, for the ledger.
        kept_out: texts by id that should go back but have no room any more, for the ledger.
        unkept: why others that were taken out by hand are kept nowhere: what each of them holds, without its value.
        noted_again: texts that the ledger had, and that git had taken back with it.
        problem: why it could not be healed; "" if it could.
    """

    target: Target
    path: Path
    put_back: tuple[str, ...] = ()
    removed_by_hand: tuple[str, ...] = ()
    kept_out: Mapping[str, str] = field(default_factory=dict)
    unkept: tuple[str, ...] = ()
    noted_again: tuple[str, ...] = ()
    problem: str = ""

    def to_json(self) -> dict[str, object]:
        """Return it as it is in a JSON answer."""
        again = "noted_again " if self.noted_again else ""
        answer = json_of(self, f"*target put_back removed_by_hand kept_out unkept {again}problem?")
        return answer | {"kept_out": [{"id": entry_id, "text": text} for entry_id, text in self.kept_out.items()]}


@dataclass(frozen=True, slots=True)
class Redacted(HasJson):
    """Where a redacted entry was: in the document, on how many ledger lines, and where the same text still is."""

    JSON = "id *target elsewhere"

    id: str
    target: Target
    was_in_document: bool
    ledger_lines: int
    elsewhere: tuple[str, ...] = ()

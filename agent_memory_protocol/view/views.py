"""The views of the live page: what each asks the workspace, and the template that shows the answer.

No rule is here. A view is a function of what was asked for to the values of its template.
"""

import os
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import field
from datetime import date
from threading import Lock
from time import monotonic
from typing import Any

from ..answers import Found, StoredEntry
from ..errors import AgentMemoryError, InvalidArgument
from ..layout import Target, Tier, parse_target
from ..memory import Memory
from ..project.access import Actor
from ..recall.block import Recall
from ..records.record import Record
from ..values import dataclass
from ..verbs.review import Item
from ..workspace import Workspace
from . import actions
from .page import Asking, Glance, Said, glance, grouped

DOCUMENTS_A_PAGE = 60
ENTRIES_A_PAGE = 200
NOTES_A_PAGE = 50
ROWS_A_PAGE = 50
_LONGEST_KEPT = 300.0
"""Seconds that a dear answer is kept for: what it says of the repository's other files may have changed."""
_MOST_FOUND = 30
_FEW_ENTRIES = 2_000  # With so many entries a review takes a moment, with more it may take a minute

Values = dict[str, Any]


@dataclass
class KeptAnswers:
    """Answers that take long to find, kept as long as the memory is the same."""

    _values: dict[str, tuple[object, float, Any]] = field(default_factory=dict)
    _locks: dict[str, Lock] = field(default_factory=dict)

    def get(self, name: str, state: object, make: Callable[[], Any]) -> Any:
        """Return the answer of this name for this state, and find it only where nobody has yet."""
        with self._locks.setdefault(name, Lock()):
            before, since, value = self._values.get(name, (None, 0.0, None))
            if before != state or monotonic() - since > _LONGEST_KEPT:
                value = make()
                self._values[name] = (state, monotonic(), value)
            return value


@dataclass(frozen=True, slots=True)
class Query:
    """What a view is asked with: the memory, its reader, the day, and the query of the address."""

    here: Workspace
    actor: Actor
    today: date
    query: Mapping[str, str]
    # opens the records; None inside where the project has none
    records: Callable[[], AbstractContextManager[Memory | None]]
    keep: Callable[[str, Callable[[], Any]], Any]  # returns an answer of this name that was found before, or finds it

    @property
    def asking(self) -> Asking:
        """Something that asks this workspace for this reader."""
        return Asking(self.here, self.actor, self.today)

    def number(self, name: str, usual: int) -> int:
        """Return a number of the query; the usual one unless it is a sane one above 0."""
        text = self.query.get(name, "")
        return int(text) if text.isascii() and text.isdecimal() and len(text) < 10 and int(text) else usual

    def target(self) -> Target:
        """Return the document that is asked for, if this reader may read it."""
        asked = self.query.get("of", "shared")
        target = parse_target(asked)
        if target not in self.here.targets(self.actor):
            raise InvalidArgument(f"there is no document {asked!a} that {self.actor} may read")
        return target

    def page(self, rows: Sequence[Any], size: int, *, holds: str = "") -> Values:
        """Return the rows of the page that is asked for, or that holds an id, with what leads to the others."""
        at = next((number for number, row in enumerate(rows) if holds and row.id == holds), None)
        first = at // size * size + 1 if at is not None else min(self.number("from", 1), max(1, len(rows)))
        return {"rows": rows[first - 1 : first - 1 + size], "first": first, "size": size, "total": len(rows)}


def overview(asked: Query) -> Values:
    """Every document at a glance, and what wants a decision."""
    found = _overview(asked)
    tiers = {
        tier: asked.page([one for one in found["glances"] if one.target.tier is tier], DOCUMENTS_A_PAGE)
        for tier in (Tier.SHARED, Tier.AGENT, Tier.CONVERSATION)
    }
    return {**found, "tiers": tiers, "max_lines": asked.here.settings.max_lines}


def _overview(asked: Query) -> Values:
    def look() -> Values:
        asking = asked.asking
        seen = asking.glances()
        disputed = [one.target for one in seen if one.disputed]
        entries = asking.ask(lambda: asked.here.entries(asked.actor, disputed))
        return {
            "glances": seen,
            "disputes": _disputes(entries),
            "records": asking.one(lambda: _records_status(asked)),
            "problems": [*asking.ask(asked.here.git_notes), *asking.problems],
        }

    found: Values = asked.keep("overview", look)
    return found


def _records_status(asked: Query) -> Any:
    with asked.records() as memory:
        return None if memory is None else memory.status()


def document(asked: Query) -> Values:
    """One document: its entries, and what recall gives of it for a task and within a number of characters."""
    here, target, asking = asked.here, asked.target(), asked.asking
    entries = here.entries(asked.actor, [target], on_problem=asking.tell)
    (status,) = here.status(asked.actor, [target])
    task, bound = asked.query.get("task", ""), asked.number("max_chars", 0)
    recalled = asking.one(lambda: _recall(asked, target, task, bound))
    whole = asking.one(lambda: _recall(asked, target, "", 0)) if task or bound else recalled
    size = len(whole.text) if whole else 0
    parts = recalled.parts if recalled else ()
    left_out = {gone.first_line for part in parts if part.target == target for gone in part.left_out}
    shown = asked.page(entries, ENTRIES_A_PAGE, holds=asked.query.get("entry", ""))
    notes = asking.ask(lambda: here.notes(asked.actor, [target])) if target.tier.has_notes else ()
    chosen = notes[: asked.number("notes", NOTES_A_PAGE)]
    is_judged = "judged" in asked.query
    part = asking.part(
        glance(status, entries, asked.today, asking.old),
        shown["rows"],
        chosen,
        _said(asked, target) if is_judged else Said.of(usage=_usage(asked)),
        left_out,
        by_id=_disputed_with(asked, shown["rows"]),
    )
    return {
        **shown,
        "part": part,
        "recall": recalled,
        "whole": size,
        "task": task,
        "bound": bound or here.settings.max_chars or size,
        "judged": is_judged,
        "reviewed": not is_judged or _is_small(asked),
        "left_out": sum(entry.line in left_out for entry in entries),
        "more_notes": len(notes) - len(chosen),
        "max_lines": here.settings.max_lines,
        "problems": [*asking.problems, *(recalled.warnings if recalled else ())],
    }


def entry(asked: Query) -> Values:
    """One entry: what it says, what disputes it, its life, and what can be done with it."""
    lived = asked.here.life(asked.query.get("id", ""), asked.actor)
    one = lived.entry
    gone = None if one else actions.one_gone(asked.here, asked.actor, lived.id)
    found = None
    if one is not None:
        (status,) = asked.here.status(asked.actor, [lived.target])
        whole = asked.here.entries(asked.actor, [lived.target])
        part = asked.asking.part(
            glance(status, whole, asked.today, asked.asking.old),
            [one],
            [],
            Said.of(usage=_usage(asked)),
            asked.asking.left_out(lived.target),
            by_id=_disputed_with(asked, [one]),
        )
        (found,) = part.cards
    return {
        "life": lived,
        "card": found,
        "gone": gone,
        "text": actions.without_bullet(one) if one else "",
        "replaced": _named(asked, one.about.replaced) if one else (),
    }


def search(asked: Query) -> Values:
    """What fits some words: entries, notes, and what has left, each with the reasons."""
    query = asked.query.get("q", "").strip()
    asking = asked.asking
    found: Sequence[Found] = ()
    gone: Sequence[Found] = ()
    if query:
        found = asking.ask(
            lambda: asked.here.search(
                query,
                asked.actor,
                limit=_MOST_FOUND,
                today=asked.today,
                counts=False,
                on_problem=lambda why: asking.tell(None, why),
            )
        )
        gone = asking.ask(lambda: asked.here.search_archived(query, asked.actor, limit=10))
    records: Sequence[Any] = asking.ask(lambda: _found_records(asked, query)) if query else ()
    return {"q": query, "found": found, "gone": gone, "records": records, "problems": asking.problems}


def _found_records(asked: Query, query: str) -> Sequence[Any]:
    with asked.records() as memory:
        return () if memory is None else memory.search(query, limit=10, include_history=True).hits


def history(asked: Query) -> Values:
    """What has left the documents, the newest first."""
    rows = [*reversed(asked.here.restorable(actor=asked.actor))]
    of = asked.query.get("of", "")
    shown = asked.page([one for one in rows if not of or str(one.target) == of], ROWS_A_PAGE)
    days = grouped(shown["rows"], lambda one: one.archived.removed_at[:10])
    targets = sorted({str(one.target) for one in rows})
    return {**shown, "days": days, "of": of, "targets": targets, "problems": [*asked.here.notices]}


def upkeep(asked: Query) -> Values:
    """What check finds and review proposes, document by document."""
    asking = asked.asking
    findings = asking.ask(lambda: _check(asked))
    items: Sequence[Item] = asking.ask(lambda: _review(asked))
    kinds = grouped(items, lambda one: one.kind)
    kind = asked.query.get("kind", "")
    rows = [("check", one) for one in findings if kind in ("", "check")]
    rows += [(one.kind, one) for one in items if kind in ("", one.kind)]
    places = {target.path: str(target) for target in asked.here.targets(asked.actor)}
    entries = asking.ask(lambda: asked.here.entries(asked.actor, on_problem=asking.tell))
    wanted = {(one.path, one.line) for one in findings}
    at = {(entry.target.path, line): entry.id for entry in entries for line in range(entry.line, entry.last_line + 1)}
    return {
        **asked.page(rows, ROWS_A_PAGE),
        "findings": len(findings),
        "kinds": {name: (of_kind[0].says, len(of_kind)) for name, of_kind in kinds.items()},
        "kind": kind,
        "places": places,
        "known": {entry.id for entry in entries},
        "at": {place: at[place] for place in wanted & at.keys()},
        "problems": asking.problems,
    }


def records(asked: Query) -> Values:
    """The records: each chain with what holds first, the disputed ones first of all."""
    with asked.records() as memory:
        found = () if memory is None else memory.records()
    state = asked.query.get("state", "")
    states = grouped(found, lambda one: one.state.value)
    chains = _chains([one for one in found if not state or one.state.value == state], found)
    shown = asked.page(chains, ROWS_A_PAGE)
    pairs: dict[str, Record] = {}
    for head in (chain[0] for chain in shown["rows"]):
        other = _other_side(head, found)
        if other is not None and other.id not in pairs:
            pairs[head.id] = other
    counts = {name: len(those) for name, those in states.items()}
    return {**shown, "states": counts, "state": state, "pairs": pairs}


def compare(asked: Query) -> Values:
    """What changed in memory between two commits, or since one."""
    base, head = asked.query.get("base", "").strip() or "HEAD", asked.query.get("head", "").strip()
    found = asked.here.diff(base, head, actor=asked.actor)
    documents = grouped(found.differences, lambda one: str(one.target))
    return {"base": base, "head": head, "diff": found, "documents": documents, "problems": asked.here.notices}


def prune(asked: Query) -> Values:
    """What is outdated, to be chosen by rows."""
    if asked.query.get("of"):
        asked.target()
    names = ("older", "of", "sections", "limit")
    wanted = actions.Wanted("Prune", (), **{name: asked.query.get(name, "").strip() for name in names})
    plans = actions.pruning(asked.here, asked.actor, asked.today, wanted)
    if asked.query.get("what") == "expired":
        plans = [plan.only([one.id for one in plan.removals if one.cause == "expired"]) for plan in plans]
    return {
        "wanted": wanted,
        "what": asked.query.get("what", ""),
        "usual": asked.here.settings.older_than,
        "targets": [str(one) for one in asked.here.targets(asked.actor)],
        "plans": [one for one in plans if one.removals],
        "old_sections": [] if wanted.sections else [(one.target, old) for one in plans for old in one.old_sections],
        "still_over": [one for one in plans if wanted.limit and any(one.still_over)],
        "problems": [one.problem for one in plans if one.problem],
    }


def distill(asked: Query) -> Values:
    """What conversations taught, to be chosen by rows."""
    return {"planned": asked.here.plan_distillation(actor=asked.actor)}


VIEWS: dict[str, Callable[[Query], Values]] = {
    "": overview,
    "document": document,
    "search": search,
    "upkeep": upkeep,
    "history": history,
    "records": records,
    "compare": compare,
    "entry": entry,
}
"""What is looked at, by the last part of the address."""

CHANGING: dict[str, Callable[[Query], Values]] = {"prune": prune, "distill": distill}
"""What proposes changes; a read-only page has none of it."""


# -- what they ask -----------------------------------------------------------------------------------------------------


def _recall(asked: Query, target: Target, task: str, bound: int) -> Recall:
    """Return what the one gets whose document it is, or with the shared document the reader."""
    owner = {target.tier.owner: target.owner}
    made_for = Actor(owner.get("agent", asked.actor.agent), owner.get("conversation", asked.actor.conversation))
    return asked.here.recall(made_for, task=task or None, max_chars=bound or None, today=asked.today, counts=False)


def _check(asked: Query) -> Any:
    return asked.keep("check", lambda: asked.here.check(actor=asked.actor, today=asked.today))


def _review(asked: Query) -> Any:
    skip = lambda *_: None  # noqa: E731 the check tells it
    return asked.keep("review", lambda: asked.here.review(actor=asked.actor, today=asked.today, on_problem=skip))


def _usage(asked: Query) -> Any:
    return asked.here.usage(asked.actor) if asked.here.settings.count else ()


def _said(asked: Query, target: Target) -> Said:
    """Return what check says of a document and its notes, what review proposes for a small one, and its use."""
    folder = os.path.join(asked.here.path, *target.folder)

    def look() -> Any:
        return asked.here.check([folder], actor=asked.actor, today=asked.today)

    findings = asked.asking.ask(lambda: asked.keep(f"check {target}", look))
    return Said.of(findings, asked.asking.ask(lambda: _review(asked)) if _is_small(asked) else (), _usage(asked))


def _is_small(asked: Query) -> bool:
    seen: Sequence[Glance] = _overview(asked)["glances"]
    return sum(one.status.entries for one in seen) <= _FEW_ENTRIES


def _disputed_with(asked: Query, entries: Sequence[StoredEntry]) -> dict[str, StoredEntry]:
    """Return the other sides of disputes, as far as this reader may read them."""
    found = {}
    for other in dict.fromkeys(one for entry in entries for one in entry.about.disputed_with):
        try:
            found[other] = asked.here.entry(other, asked.actor)
        except AgentMemoryError:
            continue
    return found


def _named(asked: Query, ids: Sequence[str]) -> list[tuple[str, str]]:
    """Return what entries said that were replaced, by their ids, as far as a ledger has them."""
    gone = {one.archived.taken.id: one.archived.taken.alone for one in asked.here.restorable(actor=asked.actor)}
    return [(one, gone.get(one, "")) for one in ids]


def _disputes(entries: Sequence[StoredEntry]) -> list[tuple[StoredEntry, StoredEntry | None]]:
    """Return each pair of entries that are disputed with each other, once."""
    by_id = {one.id: one for one in entries if one.disputed}
    seen: set[str] = set()
    pairs = []
    for one in by_id.values():
        if one.id not in seen:
            other = next((by_id[name] for name in one.about.disputed_with if name in by_id), None)
            seen |= {one.id, other.id if other else ""}
            pairs.append((one, other))
    return pairs


def _chains(wanted: Sequence[Record], everything: Sequence[Record]) -> list[list[Record]]:
    """Return each record with what it replaced behind it; what was replaced is a row of its own only if asked for."""
    by_id = {one.id: one for one in everything}
    before: dict[str, list[str]] = {}
    for one in everything:
        if one.superseded_by and one.superseded_by in by_id:
            before.setdefault(one.superseded_by, []).append(one.id)
        if one.supersedes and one.supersedes in by_id and one.supersedes not in before.get(one.id, ()):
            before.setdefault(one.id, []).append(one.supersedes)
    ids = {one.id for one in wanted}
    behind = {name for one, names in before.items() if one in ids for name in names}
    heads = [one for one in wanted if one.id not in behind]
    chains = []
    for head in sorted(heads, key=lambda one: (one.transition is None, -one.updated_at.timestamp())):
        chain = {head.id: head}
        left = [*before.get(head.id, ())]
        while left:
            name = left.pop(0)
            if name not in chain:
                chain[name] = by_id[name]
                left += before.get(name, ())
        chains.append([*chain.values()])
    return chains


def _other_side(one: Record, everything: Sequence[Record]) -> Record | None:
    """Return the record that this one is in a dispute with."""
    sides = one.transition.sides if one.transition else ()
    return next((other for other in everything if other.id in sides and other.id != one.id), None)

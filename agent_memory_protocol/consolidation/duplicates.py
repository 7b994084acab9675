"""Duplicates: which records say the same, and what would be lost if two others were taken for the same.

Of records that say *the same*, one is read, and the others only in the history. So it goes by the words. A number,
port, path, version, name or negation that only one side has always makes two of them.
"""

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime

from ..records.canonical import encode
from ..records.record import (
    CARRIED,
    LIVE,
    Provenance,
    Record,
    RecordType,
    State,
    event_of,
    headings_of,
    new_record,
    slots_said,
    until_of,
)
from ..text.alike import groups
from ..text.gist import gist
from ..values import dataclass
from .proposals import Proposal, Question, Supersede

CLAIMS = (RecordType.FACT, RecordType.PROCEDURE)
"""The types of records of which two may say the same, or contradict each other: of events, both have happened."""

CORRECTION = "correction"  # The kind of provenance of what a person has put right; no operator may overrule it


@dataclass(frozen=True, slots=True)
class Echoes:
    """Where the content of a record is found a second time, or may be.

    Attributes:
        saying: records with its words, in any form, alone or among others, said or denied.
        resting: other records that name it as evidence: a merge or a rule, in words of their own.
    """

    saying: tuple[Record, ...] = ()
    resting: tuple[Record, ...] = ()


def find_echoes(record: Record, others: Iterable[Record]) -> Echoes:
    """Find what a redaction of this record would leave of its content in others: consolidation copies and quotes."""
    words = gist(record.body).words
    saying, resting = [], []
    for other in others:
        if other.id == record.id or other.redacted:
            continue
        if other.body == record.body or (words and _stand_in(words, gist(other.body).words)):
            saying.append(other)
        elif record.id in other.evidence:
            resting.append(other)
    return Echoes(tuple(saying), tuple(resting))


def _stand_in(words: tuple[str, ...], others: tuple[str, ...]) -> bool:
    return any(others[at : at + len(words)] == words for at in range(len(others) - len(words) + 1))


class SameWords:
    """Finds facts and procedures that say the same but for case, punctuation, plurals and words that carry nothing."""

    name = "same words"

    def propose(self, question: Question) -> Sequence[Proposal]:
        """Return one merge for each group that says the same.

        What a rule rests on cannot be merged. It is proposed with its group, so that the report names it, and then the
        others without it.
        """
        by_words: dict[object, list[Record]] = {}
        for record in _active_claims(question):
            said = gist(record.body)
            if said.words and said.is_claim:
                by_words.setdefault((record.type, said), []).append(record)
        return _merges(by_words.values(), question)


class OtherWords:
    """Finds facts and procedures that say the same in other words; see `text.alike`."""

    name = "other words"

    def propose(self, question: Question) -> Sequence[Proposal]:
        """Return one merge for each group, as `SameWords` does."""
        claims = _active_claims(question)
        found: list[list[Record]] = []
        for kind in CLAIMS:
            records = [record for record in claims if record.type is kind]
            alike = groups([record.body for record in records])
            found += [[records[place] for place in group] for group in alike]
        # What holds the same words is merged, or kept, before this is asked.
        found = [members for members in found if len({gist(record.body) for record in members}) > 1]
        return _merges(found, question)


def _active_claims(question: Question) -> list[Record]:
    return [record for record in question.records if record.state is State.ACTIVE and record.type in CLAIMS]


def _merges(found: Iterable[list[Record]], question: Question) -> list[Proposal]:
    cited = cited_by_rules(question.records)
    merges: list[Proposal] = []
    for members in found:
        free = [record for record in members if record.id not in cited]
        if 1 < len(members) != len(free):
            merges.append(merge(members, now=question.now))
        merges += [merge(group, now=question.now) for group in _with_agreeing_slots(free) if len(group) > 1]
    return merges


def cited_by_rules(records: Iterable[Record]) -> frozenset[str]:
    """Return the ids that rules rest on which are neither superseded nor archived."""
    rules = (record for record in records if record.type is RecordType.RULE)
    return frozenset(one for rule in rules if rule.state in LIVE for one in rule.evidence)


def find_copies(records: Iterable[Record], cited: frozenset[str]) -> list[Supersede]:
    """Return what lets one of several exact copies replace the others: the same type, body and slots.

    Copies of an episode also say when it happened and who tells of it. A copy in `cited`, which rules rest on, stays.
    """
    groups: dict[object, list[Record]] = {}
    for record in records:
        if record.state is State.ACTIVE and (record.type is not RecordType.EPISODE or record.occurred_at is not None):
            slots = encode(record.slots) if record.slots else b""
            groups.setdefault((record.type, record.body, slots, event_of(record)), []).append(record)
    found = []
    for members in groups.values():
        if len(members) > 1:
            keeper, *copies = sorted(members, key=lambda record: (record.id in cited, _strength(record)), reverse=True)
            found += [Supersede(keeper, (copy.id,), f"an exact copy of {keeper.id}") for copy in reversed(copies)]
    return found


def merge(sides: Sequence[Record], *, now: datetime, body: str = "", reason: str = "") -> Supersede:
    """Return what lets one new record replace several, with the words of the strongest unless others are given.

    Corrections are stronger than what was inferred; then confidence decides, then youth.
    """
    *weaker, strongest = sorted(sides, key=_strength)
    ids = {side.id for side in sides}
    replaced = tuple(side.id for side in (*weaker, strongest))
    reason = reason or f"says the same as {strongest.id}"
    for side in sides:
        if ids - {side.id} <= set(side.evidence):
            # An earlier pass made it, and was stopped before it had replaced the others.
            return Supersede(side, tuple(one for one in replaced if one != side.id), reason)
    slots: dict[str, object] = {}
    carried: dict[str, object] = {}
    for side in (*weaker, strongest):
        slots |= side.slots
        pairs = side.slots.get(CARRIED)
        if isinstance(pairs, Mapping):
            carried |= pairs
            slots[CARRIED] = carried
    record = new_record(
        strongest.type,
        body or strongest.body,
        provenance=Provenance(strongest.provenance.kind, f"merge:{strongest.id}"),
        now=now,
        slots=slots,
        confidence=strongest.confidence,
        occurred_at=max((side.occurred_at for side in sides if side.occurred_at is not None), default=None),
        evidence=tuple(sorted(ids)),
        supersedes=replaced[0],
        tags=tuple(sorted({tag for side in sides for tag in side.tags})),
    )
    return Supersede(record, replaced, reason)


def slots_disagree(one: Record, other: Record) -> bool:
    """Say whether two records give one slot different values, end at different times or were under other headings."""
    return _bounds(one) != _bounds(other) or not _agree(slots_said(one), slots_said(other))


def _with_agreeing_slots(members: list[Record]) -> list[list[Record]]:
    """Divide records that say the same: those whose slots, ends or headings disagree are never merged."""
    groups: list[tuple[dict[str, object], list[Record]]] = []
    for record in sorted(members, key=_strength, reverse=True):
        for slots, group in groups:
            if _bounds(group[0]) == _bounds(record) and _agree(slots, slots_said(record)):
                slots.update(slots_said(record))
                group.append(record)
                break
        else:
            groups.append((dict(slots_said(record)), [record]))
    return [group for _, group in groups]


def _bounds(record: Record) -> tuple[str, tuple[str, ...]]:
    """Return up to when and under which headings it holds what a record says."""
    return until_of(record), headings_of(record)


def _agree(slots: Mapping[str, object], others: Mapping[str, object]) -> bool:
    return all(slots[key] == others[key] for key in slots.keys() & others.keys())


def _strength(record: Record) -> tuple[bool, float, datetime, str]:
    return (record.provenance.kind == CORRECTION, record.confidence, record.created_at, record.id)

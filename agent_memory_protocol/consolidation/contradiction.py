"""Contradictions: which records cannot both hold, told by a negation or by slots, and by nothing else.

Slots are compared only with slots that share all but one value, so that a pass over many records stays near linear.
A contradiction without a negation needs an operator that reads.
"""

from collections import defaultdict
from collections.abc import Container, Iterable, Iterator, Sequence

from ..records.canonical import encode
from ..records.record import LIVE, Record, RecordType, State, headings_of, slots_said
from ..text import alike
from ..text.changed import Stated, changes
from ..text.claims import denials
from ..text.gist import gist
from ..text.language import ENGLISH, Language
from .duplicates import CLAIMS
from .proposals import Defer, Dispute, Proposal, Question

NEGATES = "one side negates the other"  # The reason of a dispute that a negation or an opposite has shown
RIVALS = "one side has another value"  # The reason where only one value can hold


class Contradictions:
    """Finds facts and procedures of which one denies what the other says, or whose slots differ in one value."""

    name = "contradictions"

    def __init__(self, languages: Iterable[Language] = (ENGLISH,)) -> None:
        self.languages = tuple(languages)

    def propose(self, question: Question) -> Sequence[Proposal]:
        """Return every pair: first those that deny exactly what the other says, then by birth.

        A record can be in one dispute at a time. The pairs after the first wait, and the report names them. What is
        equal but for one value may have changed: that is only said, since both may hold.
        """
        found: dict[tuple[int, int], tuple[int, str]] = {}
        groups: defaultdict[RecordType, list[tuple[int, Record]]] = defaultdict(list)
        for place, record in enumerate(question.records):
            if record.type in CLAIMS and record.state in LIVE:
                groups[record.type].append((place, record))
        for group in groups.values():
            for language in self.languages:
                bodies = [record.body for _, record in group]
                for denial in alike.denials(bodies) if language is ENGLISH else denials(bodies, language):
                    one, other = sorted((group[denial.denying][0], group[denial.said][0]))
                    pair = (one, other)
                    found[pair] = min(found.get(pair, (denial.more, NEGATES)), (denial.more, NEGATES))
            for at, other_at in alike.rivals([record.body for _, record in group]):
                one, other = sorted((group[at][0], group[other_at][0]))
                found.setdefault((one, other), (0, RIVALS))
            for one, other, reason in _by_slots(group):
                found.setdefault((one, other), (0, reason))
        proposals: list[Proposal] = []
        for (one, other), (_, reason) in sorted(found.items(), key=lambda item: (item[1][0], item[0])):
            first, second = question.records[one], question.records[other]
            if len({headings_of(first), headings_of(second)} - {()}) > 1:
                continue  # under “Staging” and “Production” both may hold
            if first.transition is None or first.transition != second.transition:
                proposals.append(Dispute((first.id, second.id), reason))
        return [*proposals, *_changed(groups.values(), found)]


def _changed(groups: Iterable[list[tuple[int, Record]]], opposed: Container[tuple[int, int]]) -> Iterator[Proposal]:
    """Yield what says to decide about two records that are equal but for one value, the older one first."""
    for group in groups:
        active = [(place, record) for place, record in group if record.state is State.ACTIVE]
        for one, other in changes([Stated(record.body, headings_of(record)) for _, record in active]):
            (place, old), (number, new) = active[one], active[other]
            if (place, number) not in opposed:
                yield Defer(
                    (old.id, new.id), f"another value; if the older no longer holds: amp resolve {old.id} {new.id}"
                )


def _by_slots(group: list[tuple[int, Record]]) -> Iterator[tuple[int, int, str]]:
    """Yield the places of two records that are the same but for the value of one slot, and why they contradict."""
    alike: defaultdict[object, list[tuple[int, Record]]] = defaultdict(list)
    for place, record in group:
        said = slots_said(record)
        for key, value in said.items():
            others = {name: item for name, item in said.items() if name != key}
            words = frozenset(gist(record.body).words) - frozenset(gist(str(value)).words)
            alike[key, encode(others), words].append((place, record))
    for (key, _, _), members in alike.items():  # type: ignore[misc]
        (first, one), *rest = members
        second: tuple[int, Record] | None = None
        for place, record in rest:
            # Each that differs is named once, with the first that has another value.
            if record.slots[key] != one.slots[key]:
                second = second or (place, record)
                yield first, place, f"the slot {key} has two values"
            elif second is not None:
                yield second[0], place, f"the slot {key} has two values"

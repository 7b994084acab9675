"""Contradictions: which records cannot both hold, told by a negation or by slots, and by nothing else.

A denial is compared only with what holds its rarest word, and slots only with slots that share all but one value, so
that a pass over many records stays near linear. What contradicts without a negation needs an operator that reads.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence

from ..records.canonical import encode
from ..records.record import LIVE, Record, RecordType, slots_said
from ..text.claims import gist
from .claims import Claim, claims, denies
from .duplicates import CLAIMS
from .language import ENGLISH, Language
from .proposals import Dispute, Proposal, Question

NEGATES = "one side negates the other"
"""The reason of a dispute that a negation has shown."""


class Contradictions:
    """Finds facts and procedures of which one denies what the other says, or whose slots differ in one value."""

    name = "contradictions"

    def __init__(self, languages: Iterable[Language] = (ENGLISH,)) -> None:
        self.languages = tuple(languages)

    def propose(self, question: Question) -> Sequence[Proposal]:
        """Return every pair: first those that deny exactly what the other says, then by birth.

        A record can be in one dispute at a time. The pairs after the first wait, and the report names them.
        """
        found: dict[tuple[int, int], tuple[int, str]] = {}
        groups: defaultdict[RecordType, list[tuple[int, Record]]] = defaultdict(list)
        for place, record in enumerate(question.records):
            if record.type in CLAIMS and record.state in LIVE:
                groups[record.type].append((place, record))
        for group in groups.values():
            for language in self.languages:
                for one, other, more in _negated(group, language):
                    pair = (min(one, other), max(one, other))
                    found[pair] = min(found.get(pair, (more, NEGATES)), (more, NEGATES))
            for one, other, reason in _by_slots(group):
                found.setdefault((one, other), (0, reason))
        proposals = []
        for (one, other), (_, reason) in sorted(found.items(), key=lambda item: (item[1][0], item[0])):
            first, second = question.records[one], question.records[other]
            if first.transition is None or first.transition != second.transition:
                proposals.append(Dispute((first.id, second.id), reason))
        return proposals


def contradict(one: str, other: str, language: Language = ENGLISH) -> bool:
    """Say whether one text denies what the other says."""
    first, second = claims(one, language), claims(other, language)
    return any(denies(a, b) or denies(b, a) for a in first for b in second)


def _negated(group: list[tuple[int, Record]], language: Language) -> Iterator[tuple[int, int, int]]:
    """Yield the places of two records of which one denies the other, and by how many words more is said than denied."""
    said: list[tuple[int, Claim]] = []
    denials: list[tuple[int, Claim]] = []
    for place, record in group:
        for claim in claims(record.body, language):
            (denials if claim.denied else said).append((place, claim))
    if not denials:
        return
    wanted = {word for _, denial in denials for word in denial.words}
    frequency = Counter(word for _, claim in said for word in claim.words if word in wanted)
    rarest = {denial: min(denial.words, key=lambda word: (frequency[word], word)) for _, denial in denials}
    asked_for = set(rarest.values())
    holding: defaultdict[str, list[tuple[int, Claim]]] = defaultdict(list)
    for place, claim in said:
        for word in asked_for.intersection(claim.words):
            holding[word].append((place, claim))
    for place, denial in denials:
        for other, claim in holding[rarest[denial]]:
            if other != place and denies(denial, claim):
                yield place, other, len(claim.words) - len(denial.words)


def _by_slots(group: list[tuple[int, Record]]) -> Iterator[tuple[int, int, str]]:
    """Yield the places of two records that are the same but for the value of one slot, and why they contradict.

    The texts have to be the same as well, apart from the value: ports of two services do not contradict each other.
    """
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
            # Each that differs is told of once, beside the first of another value.
            if record.slots[key] != one.slots[key]:
                second = second or (place, record)
                yield first, place, f"the slot {key} has two values"
            elif second is not None:
                yield second[0], place, f"the slot {key} has two values"

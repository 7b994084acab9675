"""The write stage: records out of a text, by an extractor that may create and nothing else.

The extractors here need no model: the text as it is, or its sentences that read like facts and events.
"""

import re
from collections.abc import Callable, Collection, Container, Iterable, Mapping, Sequence
from dataclasses import field, replace
from datetime import datetime

from ..errors import InvalidArgument
from ..records.record import WRITTEN, Provenance, Record, RecordType, new_record
from ..values import dataclass
from .one_pass import Pass, ask
from .proposals import Create, Operator, Outcome, Proposal, Question, Report, Stage

_SENTENCE_END = re.compile(r"(?<=[.!?])\s+|\n+")
_EVENT = re.compile(
    r"\b(?:broke|crashed|deployed|did|failed|fixed|happened|met|merged|moved|ran|released|reverted|succeeded|tried|went)\b",
    re.IGNORECASE,
)
_FACT = re.compile(
    r"\b(?:are|belongs?|has|have|is|likes?|listens?|lives?|means?|must|needs?|owns?|prefers?|requires?|runs?|uses?|was|were)\b",
    re.IGNORECASE,
)
_SHORTEST = 8


@dataclass(frozen=True, slots=True)
class RememberedRecord:
    """What came of remembering.

    Attributes:
        record_id: the record that says it, the first one of several; "" if nothing was kept.
        added: the ids of the records that are new.
        known: the ids of records that said so already, and are counted as used once more.
        refused: why something that an extractor proposed was not kept, one line each.
        consolidation: what was found when the new records were compared with others; None if that was not due.
        meets: looks up `notes`.
    """

    record_id: str
    added: tuple[str, ...] = ()
    known: tuple[str, ...] = ()
    refused: tuple[str, ...] = ()
    consolidation: Report | None = None
    meets: Callable[[], tuple[str, ...]] = field(default=tuple, repr=False, compare=False)

    @property
    def notes(self) -> tuple[str, ...]:
        """What the new records repeat, contradict or change, one line each, with the command that settles it."""
        return self.meets()

    @property
    def new(self) -> bool:
        """Whether anything was added."""
        return bool(self.added)


def take_in(
    text: str | Mapping[str, object],
    *,
    extractor: Operator,
    provenance: Provenance,
    known: Container[str],
    now: datetime,
    tags: Iterable[str] = (),
    allow: Collection[str] = (),
) -> Outcome:
    """Return the records that an extractor finds in a text, and what it proposed that cannot be taken.

    An event, a mapping, is read as sorted lines of `key: value`. A record whose id is `known` is not new: it is in
    `reinforced`. Every record gets the `tags` too.
    """
    if not isinstance(text, str):
        text = "\n".join(f"{key}: {value}" for key, value in sorted(text.items()))
    tags = tuple(tags)
    work = Pass((), now=now, allow=allow)
    question = Question(stage=Stage.WRITE, now=now, text=text, provenance=provenance)
    for proposal in ask(extractor, question):
        if isinstance(proposal, Create) and (
            proposal.record.id in known or proposal.record.id in work.standing.records
        ):
            work.reinforce(proposal.record.id, by=extractor.name)
        else:
            work.offer(Stage.WRITE, _tagged(proposal, tags), by=extractor.name)
    return work.outcome()


def _tagged(proposal: Proposal, tags: tuple[str, ...]) -> Proposal:
    if not tags or not isinstance(proposal, Create):
        return proposal
    record = proposal.record
    return Create(replace(record, tags=tuple(dict.fromkeys([*record.tags, *tags]))), proposal.reason)


class WholeText:
    """Remembers the whole text as one record, word for word: a fact, where no other type is given."""

    name = "whole text"

    def __init__(
        self, confidence: float = 0.9, type: RecordType = RecordType.FACT, occurred_at: datetime | None = None
    ) -> None:
        self.confidence = confidence
        self.type = type
        self.occurred_at = occurred_at

    def propose(self, question: Question) -> Sequence[Proposal]:
        """Return the record; nothing where there is only white space."""
        body = question.text.strip()
        return [_create(self.type, body, question, self.confidence, self.occurred_at)] if body else []


def whole_text(type: RecordType | str | None, occurred_at: datetime | None, old: Record | None) -> WholeText:
    """Return what remembers a text as this type, or else as that of a record which it replaces.

    Raises:
        InvalidArgument: nobody writes a record of that type, or only an event has a time.
    """
    default = RecordType.FACT if old is None or old.type is RecordType.RULE else old.type
    if type is not None and type not in WRITTEN:
        why = "; `amp consolidate` makes rules of events that repeat" if type == RecordType.RULE else ""
        raise InvalidArgument(f"{str(type)[:40]!a} is not a type to write; types are {', '.join(WRITTEN)}{why}")
    chosen = default if type is None else RecordType(type)
    if occurred_at is not None and chosen is not RecordType.EPISODE:
        raise InvalidArgument(f"only an event has a time, and this is a {chosen}; give the type episode, or no time")
    if occurred_at is None and old is not None and chosen is RecordType.EPISODE:
        occurred_at = old.occurred_at
    return WholeText(type=chosen, occurred_at=occurred_at)


class Sentences:
    """Remembers each sentence that reads like an event or a fact, and lets the others go."""

    name = "sentences"

    def __init__(self, confidence: float = 0.5) -> None:
        self.confidence = confidence

    def propose(self, question: Question) -> Sequence[Proposal]:
        """Return one record for each of these sentences, in their order."""
        found: list[Proposal] = []
        for sentence in map(str.strip, _SENTENCE_END.split(question.text)):
            if len(sentence) >= _SHORTEST:
                for kind, pattern in ((RecordType.EPISODE, _EVENT), (RecordType.FACT, _FACT)):
                    if pattern.search(sentence):
                        found.append(_create(kind, sentence, question, self.confidence))
                        break
        return found


def _create(
    type: RecordType, body: str, question: Question, confidence: float, occurred_at: datetime | None = None
) -> Create:
    return Create(
        new_record(
            type, body, provenance=question.provenance, now=question.now, confidence=confidence, occurred_at=occurred_at
        )
    )

"""Extractors that need no model: the text as it stands, or its sentences that read like facts and events."""

import re
from collections.abc import Sequence

from ..records.record import Provenance, RecordType, new_record
from .proposals import Create, Proposal, Question

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


class WholeText:
    """Remembers the whole text as one fact, word for word."""

    name = "whole text"

    def __init__(self, confidence: float = 0.9) -> None:
        self.confidence = confidence

    def propose(self, question: Question) -> Sequence[Proposal]:
        """Return the fact; nothing where there is only white space."""
        return [_create(RecordType.FACT, body, question, self.confidence)] if (body := question.text.strip()) else []


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


def _create(type: RecordType, body: str, question: Question, confidence: float) -> Create:
    provenance = question.provenance or Provenance("unknown")
    return Create(new_record(type, body, provenance=provenance, now=question.now, confidence=confidence))

"""The write stage: records out of a text, by an extractor that may create and nothing else."""

from collections.abc import Collection, Container, Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime

from ..records.record import Provenance
from .one_pass import Pass, ask
from .proposals import Create, Operator, Outcome, Proposal, Question, Report, Stage


@dataclass(frozen=True, slots=True)
class RememberedRecord:
    """What came of remembering.

    Attributes:
        record_id: the record that says it, the first one of several; "" where nothing was kept.
        added: the ids of the records that are new.
        known: the ids of records that said so already, and are counted as used once more.
        refused: why something that an extractor proposed was not kept, one line each.
        consolidation: what was found when the new records were compared with others; None where that was not due.
    """

    record_id: str
    added: tuple[str, ...] = ()
    known: tuple[str, ...] = ()
    refused: tuple[str, ...] = ()
    consolidation: Report | None = None

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

    A record whose id is known already is no new one: it is named in `reinforced`.

    Args:
        text: the text, or an event, which is read as sorted lines of `key: value`.
        extractor: who finds records in it.
        provenance: where the text comes from.
        known: the ids of all records there are.
        now: the moment of birth.
        tags: what every record is tagged with, besides what the extractor says.
        allow: fingerprints of what looks like a secret and is none.
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

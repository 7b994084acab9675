"""What a new entry or note meets in a project: another entry, a note, or a record."""

import os
from collections.abc import Iterator, Sequence
from contextlib import suppress

from ..change.session import Session
from ..errors import AgentMemoryError
from ..layout import MEMORY, RECORDS, Target
from ..learning.meet import MOST_NEW, Beside, met_by, of_notes, of_records
from ..notes import note
from ..tiers.document import Document
from ..tiers.meet import Fact, Outside, Placed

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ..records.record import Record

_ALIKE = 16
"""So many records, those that look most like a new fact, are compared with it."""


def remarks(session: Session, document: Document, entry_ids: Sequence[str]) -> Iterator[str]:
    """Say of new entries of a document which other fact each meets first; nothing where they meet none."""
    new: list[Fact] = [Placed(document, document.outline.entries[document.ids.index(one)]) for one in entry_ids]
    yield from _remarks(session, new, document)


def remarks_on_note(session: Session, target: Target, file: str, text: str, before: str = "") -> Iterator[str]:
    """Say of what a note says, and did not say before, which other fact each meets first."""
    known = {one.text for one in of_notes(target, [note.parse(before, file)])}
    new = [one for one in of_notes(target, [note.parse(text, file)]) if one.text not in known]
    yield from _remarks(session, new, None)


def _remarks(session: Session, new: Sequence[Fact], document: Document | None) -> Iterator[str]:
    new = new[:MOST_NEW]
    if not new:
        return
    texts = [one.text for one in new]
    beside = Beside(session, texts, document)
    others = [*beside.facts, *_records(session, texts)]
    yield from met_by(new, others, None if document is None else document.target)
    if beside.unread:
        yield beside.unread


def _records(session: Session, texts: Sequence[str]) -> list[Outside]:
    """Return the records of the project that look like one of these texts."""
    if not os.path.lexists(os.path.join(session.root.path, *RECORDS)):
        return []
    from ..memory import Memory

    found: dict[str, Record] = {}
    with suppress(AgentMemoryError, OSError), Memory(os.path.join(session.root.path, *MEMORY)) as records:
        for text in texts:
            found |= {hit.record.id: hit.record for hit in records.search(text, limit=_ALIKE)}
    return [*of_records(found.values())]

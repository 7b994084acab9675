"""What a new entry or note meets in a project: another entry, a note, or a record."""

import os
from collections.abc import Iterator, Sequence
from contextlib import suppress

from ..change.session import Session
from ..errors import AgentMemoryError
from ..layout import MEMORY, RECORDS, Target
from ..learning.meet import MOST_NEW, Beside, met_by, of_notes, of_records, true_only_now
from ..notes import note
from ..tiers.document import Document
from ..tiers.meet import Fact, Outside, Placed

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ..records.record import Record

_ALIKE = 16  # So many records, those that look most like a new fact, are compared with it

_MOST_INDEXED = 10_000
"""Of more records than that, an index that is not there yet would take too long to make for somebody who waits."""


def remarks(
    session: Session, document: Document, entry_ids: Sequence[str], *, only_meetings: bool = False
) -> Iterator[str]:
    """Say of new entries of a document which of them are true only now, and which other fact each meets first.

    With `only_meetings`, only the latter.
    """
    new: list[Fact] = [Placed(document, document.outline.entries[document.ids.index(one)]) for one in entry_ids]
    if not only_meetings:
        yield from true_only_now(new[:MOST_NEW])
    yield from _remarks(session, new, document)


def remarks_on_note(
    session: Session, target: Target, file: str, text: str, before: str = "", *, only_meetings: bool = False
) -> Iterator[str]:
    """Say the same of what a note says, and did not say before."""
    known = {one.text for one in of_notes(target, [note.parse(before, file)])}
    new = [one for one in of_notes(target, [note.parse(text, file)]) if one.text not in known]
    if not only_meetings:
        yield from true_only_now(new[:MOST_NEW])
    yield from _remarks(session, new, None)


def _remarks(session: Session, new: Sequence[Fact], document: Document | None) -> Iterator[str]:
    if not new:
        return
    texts = [one.text for one in new[:MOST_NEW]]
    beside = Beside(session, texts, document)
    records, unread = _records(session, texts)
    others = [*beside.facts, *records]
    yield from met_by(new[:MOST_NEW], others, None if document is None else document.target)
    if len(new) > MOST_NEW:
        yield f"looked at {MOST_NEW} of {len(new):,} new facts; `amp check` compares all of them"
    yield from filter(None, [beside.unread, unread])


def _records(session: Session, texts: Sequence[str]) -> tuple[list[Outside], str]:
    """Return the records of the project that look like one of these texts, and what was not looked at, in words."""
    folder = os.path.join(session.root.path, *RECORDS)
    found: dict[str, Record] = {}
    unread = ""
    with suppress(AgentMemoryError, OSError):
        if not os.path.lexists(folder):
            return [], ""
        if len(os.listdir(folder)) > _MOST_INDEXED:
            from ..recall.records import MOST, newest

            last, others = newest(session.root, MOST)
            found = {one.id: one for one in last}
            unread = f"looked at {len(last):,} of {len(last) + others:,} records, those written last"
        else:
            from ..memory import Memory

            with Memory(os.path.join(session.root.path, *MEMORY)) as records:
                for text in texts:
                    found |= {hit.record.id: hit.record for hit in records.search(text, limit=_ALIKE)}
    return [*of_records(found.values())], unread

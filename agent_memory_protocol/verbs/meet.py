"""What a fact is compared with beside its own document: other documents, notes and records; and how that is told."""

import os
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from itertools import islice

from ..change.session import Session
from ..errors import AgentMemoryError
from ..layout import RECORDS, Target, Tier
from ..notes import store
from ..notes.note import Note
from ..text.phrases import beginning
from ..tiers import document as documents
from ..tiers.document import Document
from ..tiers.meet import CHANGED, NOTE, OPPOSITE, RECORD, SAME, Fact, Outside, Placed, meeting_of

_SAID = {SAME: "says the same", OPPOSITE: "says the opposite", CHANGED: "has another value"}
_SHOWN = 120
"""Characters of an entry in a remark."""

_MOST_DOCUMENTS = 20
_MOST_NOTES = 200
"""A writer waits for the answer, so a large memory is compared in part; `amp check` compares all of it."""


def remarks(session: Session, document: Document, entry_id: str) -> Iterator[str]:
    """Say of a new entry which other fact it meets first; nothing where it meets none."""
    met = meeting_of(document, entry_id, _others(session, document.target))
    if met is None:
        return
    other = met.first.id if isinstance(met.first, Placed) else f"the {met.first.kind} {met.first.id}"
    where = "" if met.first.target == document.target and isinstance(met.first, Placed) else f" in {met.first.path}"
    told = f"{other}{where} {_SAID[met.way]}: “{beginning(met.first.text, _SHOWN)}”"
    if met.way == SAME:
        yield f"{told}; keep one (`amp forget {entry_id}` removes this one)"
    else:
        met = met.in_order_of_age()
        dispute = f", or `{met.dispute}` marks both as disputed" if met.dispute else ""
        yield f"{told}; `{met.resolve}` retires the older{dispute}"


def of_notes(target: Target, notes: Iterable[Note]) -> Iterator[Outside]:
    """Yield what the notes beside a document say: their description, and each entry of what is before the Why."""
    agent = f" --agent {target.owner}" if target.tier is Tier.AGENT else ""
    for one in notes:
        page = documents.parse(one.fact.encode(), target)
        texts = [one.head.description, *map(page.alone, page.outline.entries)]
        path = "/".join((*target.parts[:-1], one.file))
        for text in dict.fromkeys(filter(None, texts)):
            yield Outside(NOTE, one.file, target, path, text, f"amp note remove {one.file}{agent}")


def of_records(session: Session) -> list[Outside]:
    """Return what the newest records of the project say that hold now."""
    if not os.path.lexists(os.path.join(session.root.path, *RECORDS)):
        return []
    from ..recall.records import PATH, standing

    return [
        Outside(
            RECORD,
            one.id,
            Target(Tier.SHARED),
            f"{PATH}/{one.id.removeprefix('mem:')}",
            one.body,
            f"amp record archive {one.id}",
            one.created_at.isoformat(),
        )
        for one in standing(session.root)
    ]


def _others(session: Session, target: Target) -> Sequence[Fact]:
    """Return what a new entry of a document is compared with beside that document: what lasts and its writer may read.

    What cannot be read is told elsewhere.
    """
    found: list[Fact] = []
    targets = [one for one in session.readable() if one.tier.lasts]
    for one in targets[:_MOST_DOCUMENTS]:
        with suppress(AgentMemoryError):
            other = None if one == target else session.read(one)
            found += [Placed(other, entry) for entry in other.outline.entries] if other is not None else []
    folders = [one for one in dict.fromkeys([Target(Tier.SHARED), target]) if one.tier.has_notes]
    for beside, read in read_notes(session, filter(session.may_read, folders), _MOST_NOTES):
        found += of_notes(beside, [read])
    with suppress(AgentMemoryError, OSError):
        found += of_records(session)
    return found


def read_notes(session: Session, targets: Iterable[Target], most: int | None = None) -> Iterator[tuple[Target, Note]]:
    """Yield the notes beside documents, at most so many of each folder; what cannot be read is told elsewhere."""
    for target in targets:
        folder = target.parts[:-1]
        with suppress(AgentMemoryError):
            for name in islice(store.list_names(session.root, folder, target.parts[-1]), most):
                with suppress(AgentMemoryError):
                    read = store.read(session.root, folder, name)
                    if read is not None:
                        yield target, read[0]

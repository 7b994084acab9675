"""The entries of a document as a workspace answers them: their text, place and days, and what the ledger says."""

from collections.abc import Mapping
from dataclasses import replace
from datetime import date

from ..answers import NOTHING_KNOWN, About, StoredEntry
from ..tiers import frame
from ..tiers.document import Document


def stored_entries(document: Document, said: Mapping[str, About] | None = None) -> list[StoredEntry]:
    """Return the entries of a document as a workspace answers them, with what its ledger says of them."""
    found = []
    for number, one in enumerate(document.ids):
        about = (said or {}).get(one, NOTHING_KNOWN)
        if about.replaced:
            # What is there again was not replaced for good.
            about = replace(about, replaced=tuple(old for old in about.replaced if old not in document.ids))
        if about.disputed_with and not document.outline.entries[number].marks.disputed:
            about = about.of_another_text  # the dispute has ended with its mark
        found.append(_stored(document, number, about))
    return found


def stored_entry(document: Document, entry_id: str, about: About = NOTHING_KNOWN) -> StoredEntry:
    """Return one entry of a document as a workspace answers it."""
    return _stored(document, document.ids.index(entry_id), about)


def stored_frame(document: Document) -> list[StoredEntry]:
    """Return the headings, labels and index lines of a document as if they were entries."""
    return [
        StoredEntry(
            id=one.id,
            target=document.target,
            text=one.markdown,
            section=one.place.section,
            headings=one.place.sections,
            date=None,
            date_source="",
            line=line + 1,
            last_line=line + one.markdown.count("\n") + 1,
        )
        for line, one in frame.placed(document)
    ]


def _stored(document: Document, number: int, about: About) -> StoredEntry:
    entry = document.outline.entries[number]
    return StoredEntry(
        id=document.ids[number],
        target=document.target,
        text=document.said(entry),
        section=document.section(entry),
        headings=document.sections(entry),
        date=None if entry.day is None else date.fromordinal(entry.day),
        date_source=entry.day_source,
        line=entry.start + 1,
        last_line=entry.end,
        label=document.spelled_out(document.label(entry)),
        keep=entry.kept,
        until=None if entry.marks.until is None else date.fromordinal(entry.marks.until),
        disputed=entry.marks.disputed,
        as_of=_claimed(entry.paragraph),
        about=about,
    )


def _claimed(text: str) -> date | None:
    """Return the day as of which an entry says that it is true (decision 40)."""
    if "as of" not in text.lower():
        return None
    from ..text.unread import claim_day

    day = claim_day(text)
    return None if day is None else date.fromordinal(day)

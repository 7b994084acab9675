"""The marks `[disputed]` and `[until D]`: put in front of an entry, and taken off where what they say has ended.

None changes the entry's id or anything else in the document (docs/protocol.md, “Marks”). A date goes in the same way.
"""

from collections.abc import Callable, Collection, Mapping

from ..errors import Refused
from ..text.marks import BOXES, words_of
from .document import Document, mark_span, rebuilt

MARK = "[disputed]"


def marked(document: Document, entry_id: str) -> Document:
    """Return the document with this entry marked. Raises Refused if a mark in front of it would change what it says."""
    entry = document.outline.entries[document.ids.index(entry_id)]
    if entry.marks.disputed:
        return document
    return _put_in_front(document, entry_id, MARK)


def held_until(document: Document, entry_id: str, day: int) -> Document:
    """Return the document with this entry marked as holding until a day, an ordinal; raises as `marked`."""
    entry = document.outline.entries[document.ids.index(entry_id)]
    if entry.marks.until == day:
        return document
    (mark,) = words_of(until=day)
    return _put_in_front(unmarked(document, entry_id, "[until "), entry_id, mark)


def _put_in_front(document: Document, entry_id: str, mark: str) -> Document:
    entry = document.outline.entries[document.ids.index(entry_id)]
    raw = list(document.raw)
    line = raw[entry.start]
    place = entry.column + 4 * line[entry.column :].startswith(BOXES)
    raw[entry.start] = f"{line[:place]}{mark} {line[place:]}"
    changed = rebuilt(document, raw)
    now = changed.entry(entry_id)
    has_mark = now is not None and len(now.marks.spans) == len(entry.marks.spans) + 1
    is_free = entry.paragraph and not document.is_footnote(entry)
    if not is_free or not _only_marks_differ(document, changed) or not has_mark:
        raise Refused(f"{document.target.path}:{entry.start + 1}: it cannot be marked here; add the mark by hand")
    return changed


def unmarked(document: Document, entry_id: str, mark: str = MARK) -> Document:
    """Return the document without a mark of this entry; the same where it has none or it cannot be taken off."""
    entry = document.outline.entries[document.ids.index(entry_id)]
    raw = list(document.raw)
    line = raw[entry.start]
    for start, end in reversed(entry.marks.spans):
        if entry.paragraph[start:end].lower().startswith(mark):
            before, after = line[: entry.column + start], line[entry.column + end :]
            line = before + (after.removeprefix(" "))
    raw[entry.start] = line
    changed = rebuilt(document, raw)
    return changed if _only_marks_differ(document, changed) else document


def undated(document: Document, entry_id: str) -> Document:
    """Return the document without an entry's own date. Raises Refused if it would say something else without it."""
    entry = document.outline.entries[document.ids.index(entry_id)]
    if entry.mark is None:
        return document
    number, start, end = mark_span(document, entry, entry.mark)
    raw = list(document.raw)
    raw[number] = raw[number][:start] + raw[number][end:].removeprefix(" ")
    changed = rebuilt(document, raw)
    now = changed.entry(entry_id)
    if not entry.mark.bracketed or changed.ids != document.ids or now is None or now.mark is not None:
        raise Refused(f"{document.target.path}:{number + 1}: its date cannot be taken off here; edit the line by hand")
    return changed


def without_ended(
    document: Document, others: Mapping[str, Collection[str]], is_there: Callable[[str], bool]
) -> Document:
    """Return the document without the marks of disputes that have ended: nothing of the other side is left.

    `others` are the known other sides of each entry; a mark that a person has typed has none, and stays. `is_there`
    says whether another document has an entry.
    """
    for entry_id in document.ids:
        entry = document.entry(entry_id)
        known = others.get(entry_id, ())
        if entry is None or not entry.marks.disputed or not known:
            continue
        if not any(other in document.ids or is_there(other) for other in known):
            document = unmarked(document, entry_id)
    return document


def _only_marks_differ(old: Document, new: Document) -> bool:
    days = [entry.day for entry in old.outline.entries]
    return old.ids == new.ids and days == [entry.day for entry in new.outline.entries]

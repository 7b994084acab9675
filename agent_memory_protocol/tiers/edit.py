"""Replace an entry by another one, and say what an edit must leave as it was.

After every edit the document is read again: everything else must be what it was, or the edit is refused
(decisions 17 and 21).
"""

from collections.abc import Sequence

from ..errors import Refused
from ..text import markdown
from .compose import NewEntry
from .document import Document, item_lines, signature, with_block
from .entries import Entry, items_of


def replace(document: Document, entry_id: str, new: NewEntry) -> tuple[Document, str]:
    """Return the document with another entry in an entry's place, and the new one's id.

    Raises:
        Refused: what stands around it would change.
    """
    index = document.ids.index(entry_id)
    entry = document.outline.entries[index]
    line = document.lines[entry.start]
    text = line.lstrip(" ")
    marker, indent = "-", ""
    if entry.is_item:
        marker, indent = text[: markdown.marker_width(text)], line[: len(line) - len(text)]
    lines = item_lines(new, marker, indent)
    if entry.items > 1 and markdown.marker_width(new.lines[0]):
        lines = [indent + line for line in new.lines]  # steps in the place of steps
    for before, after in ((False, False), (True, False), (False, True), (True, True)):
        block = [""] * before + lines + [""] * after
        changed = with_block(document, entry.start, entry.end, block)
        others = [signature(changed, other) for other in changed.outline.entries]
        wanted = [signature(document, other) for other in document.outline.entries]
        if len(others) == len(wanted) and others[:index] + others[index + 1 :] == wanted[:index] + wanted[index + 1 :]:
            there = changed.outline.entries[index]
            if there.end - there.start == len(lines):
                return changed, changed.ids[index]
    raise Refused(f"{document.target.path}:{entry.start + 1}: the text cannot stand there; edit the file by hand")


def texts(document: Document, entries: Sequence[Entry]) -> list[tuple[str, tuple[str, ...], str]]:
    """Return what must stay the same of entries: text, headings and label.

    Prose under one heading is joined, for what stood between may have gone, and a numbered list is its items.
    """
    found: list[tuple[str, tuple[str, ...], str]] = []
    was_prose = False
    for entry in (item for one in entries for item in items_of(document.lines, document.outline, one)):
        text, headings, label, _ = signature(document, entry)
        if not entry.is_item:
            text = "\n".join(line for line in text.split("\n") if line.strip(" \t"))
        if was_prose and not entry.is_item and found[-1][1] == headings:
            found[-1] = (f"{found[-1][0]}\n{text}", headings, "")
        else:
            found.append((text, headings, label))
        was_prose = not entry.is_item
    return found


def texts_apart(document: Document, entries: Sequence[Entry]) -> list[tuple[str, tuple[str, ...], str]]:
    """Return text, headings and label of entries, each for itself."""
    return [signature(document, entry)[:3] for entry in entries]


def items_apart(document: Document, entries: Sequence[Entry]) -> list[tuple[str, tuple[str, ...], str]]:
    """Return the same, a numbered list item by item."""
    return texts_apart(document, [item for one in entries for item in items_of(document.lines, document.outline, one)])

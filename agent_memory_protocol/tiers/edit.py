"""Replace an entry by another one, and say what an edit must leave as it was.

After every edit the document is read again: everything else must be what it was, or the edit is refused
(decisions 17 and 21).
"""

from collections.abc import Sequence

from ..errors import Refused
from ..text import markdown
from .compose import NewEntry
from .document import Document, item_lines, signature, with_block
from .entries import MOST_LIST_BYTES, MOST_LIST_LINES, Entry, is_long, items_of


def replace(document: Document, entry_id: str, new: NewEntry) -> tuple[Document, str]:
    """Return the document with another entry in an entry's place, and its id; Refused if anything else would change."""
    index = document.ids.index(entry_id)
    entry = document.outline.entries[index]
    line = document.lines[entry.start]
    text = line.lstrip(" ")
    marker, indent = "-", ""
    if entry.is_item:
        marker, indent = text[: markdown.marker_width(text)], line[: len(line) - len(text)]
    # Steps in the place of steps, and of what no number is in front of.
    is_bare = markdown.marker_width(new.lines[0]) if entry.items > 1 else new.is_steps and not marker[:1].isdigit()
    blanks = ((False, False), (True, False), (False, True), (True, True))
    for bullet, (before, after) in ((one, way) for one in ["", marker][not is_bare :] for way in blanks):
        lines = item_lines(new, bullet, indent)
        block = [""] * before + lines + [""] * after
        changed = with_block(document, entry.start, entry.end, block)
        others = [signature(changed, other) for other in changed.outline.entries]
        wanted = [signature(document, other) for other in document.outline.entries]
        if len(others) == len(wanted) and others[:index] + others[index + 1 :] == wanted[:index] + wanted[index + 1 :]:
            there = changed.outline.entries[index]
            if there.end - there.start == len(lines):
                return changed, changed.ids[index]
        if entry.is_numbered:
            first = entry.start + before
            made = _crossing(document, changed, entry, range(first, first + len(lines)))
            if made:
                return changed, made
    raise Refused(f"{document.target.path}:{entry.start + 1}: the text cannot be there; edit the file by hand")


def _crossing(old: Document, new: Document, entry: Entry, lines: range) -> str:
    """Return the id of the first entry in these lines, if a numbered list has become many entries or one; else "".

    Outside the lines everything must be what it was, item by item, and in them there must be steps alone.
    """

    def outside(document: Document, inside: range) -> list[tuple[str, tuple[str, ...], str]]:
        items = [item for one in document.outline.entries for item in items_of(document.lines, document.outline, one)]
        return texts_apart(document, [one for one in items if one.start not in inside])

    within = [(one, found) for one, found in new.by_id if found.start < lines.stop and found.end > lines.start]
    steps = [item for _, found in within for item in items_of(new.lines, new.outline, found) if item.start in lines]
    if not steps or (steps[0].start, steps[-1].end) != (lines.start, lines.stop):
        return ""
    all_numbered = all(found.is_numbered for _, found in within)
    same = outside(old, range(entry.start, entry.end)) == outside(new, lines)
    return within[0][0] if all_numbered and same else ""


def crossed_borders(old: Document, new: Document) -> list[str]:
    """Say of each numbered list that a write has made long or short what its items are now (decision 39)."""
    before, after = ([_texts_of(document, one) for one in _long_lists(document)] for document in (old, new))
    were_long = {text for items in before for text in items}
    told = [
        f"line {found[0].start + 1}: a numbered list has over {MOST_LIST_LINES} lines or {MOST_LIST_BYTES:,} bytes now,"
        f" so each of its {len(found)} items is an entry by itself"
        for found, items in zip(_long_lists(new), after, strict=True)
        if not were_long.intersection(items)
    ]
    for entry in new.outline.entries:
        items = _texts_of(new, items_of(new.lines, new.outline, entry)) if entry.items > 1 else []
        if were_long.intersection(items):
            told.append(f"line {entry.start + 1}: a numbered list is short now, so it is one entry")
    return told


def _long_lists(document: Document) -> list[list[Entry]]:
    """Return the numbered lists whose items are entries because there are many of them, each as its items."""
    lists: list[list[Entry]] = []
    for entry in document.outline.entries:
        if entry.items == 1 and entry.is_numbered:
            last = lists[-1][-1] if lists else None
            goes_on = last is not None and not any(line.strip(" \t") for line in document.lines[last.end : entry.start])
            if goes_on and last is not None and last.headings == entry.headings:
                lists[-1].append(entry)
            else:
                lists.append([entry])
    return [one for one in lists if is_long(document.lines[one[0].start : one[-1].end])]


def _texts_of(document: Document, entries: Sequence[Entry]) -> list[str]:
    return [document.text(entry) for entry in entries]


def texts(document: Document, entries: Sequence[Entry]) -> list[tuple[str, tuple[str, ...], str]]:
    """Return what must stay the same of entries: text, headings and label.

    Prose under one heading is joined, for what was between may have gone, and a numbered list is its items.
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

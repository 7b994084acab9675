"""Take entries out of a document, put them back where they were, and replace one by another.

After every edit the document is read again: everything else must be what it was, or the edit is refused
(decisions 17 and 21).
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from agent_memory_protocol import markdown
from agent_memory_protocol.errors import Refused
from agent_memory_protocol.tiers.compose import NewEntry
from agent_memory_protocol.tiers.document import Document, item_lines, rebuilt, section_key, signature
from agent_memory_protocol.tiers.entries import Entry


@dataclass(frozen=True, slots=True)
class Above:
    """A heading or label that an entry stood under: its Markdown, and the blank lines before and after it."""

    markdown: str
    blank_before: int = 1
    blank_after: int = 1


@dataclass(frozen=True, slots=True)
class Place:
    """Where an entry stood, in words that survive other edits.

    Attributes:
        headings: the headings above it, outermost first.
        label: the label above its list; None where there is none.
        after: the id of the entry before it in the file, "" for the first.
        before: the id of the entry after it in the file, "" for the last.
        next_heading: the Markdown of the heading after it in the file, "" for none.
        blank_before, blank_after: the blank lines around it.
    """

    headings: tuple[Above, ...] = ()
    label: Above | None = None
    after: str = ""
    before: str = ""
    next_heading: str = ""
    blank_before: int = 0
    blank_after: int = 0


@dataclass(frozen=True, slots=True)
class Taken:
    """An entry outside its document: its id, its exact Markdown, and where it stood."""

    id: str
    markdown: str
    place: Place


def as_json(taken: Taken) -> dict[str, object]:
    """Return an entry's Markdown and place as JSON values, for the ledger and the journal."""
    place = taken.place
    fields: dict[str, object] = {"headings": [_above_json(one) for one in place.headings]}
    if place.label is not None:
        fields["label"] = _above_json(place.label)
    fields |= {"after": place.after, "before": place.before, "next_heading": place.next_heading}
    fields["blank"] = [place.blank_before, place.blank_after]
    return {"markdown": taken.markdown, "place": fields}


def from_json(entry_id: str, fields: Mapping[str, Any]) -> Taken:
    """Read back what `as_json` returned. A place that is not as it writes one counts as unknown.

    Raises:
        ValueError: there is no Markdown.
    """
    text = fields.get("markdown")
    if not isinstance(text, str):
        raise ValueError("no Markdown")  # noqa: TRY004 - a line of another tool, not a caller's mistake
    try:
        place = fields["place"]
        label = place.get("label")
        before, after = place["blank"]
        return Taken(
            entry_id,
            text,
            Place(
                headings=tuple(_read_above(one) for one in place["headings"]),
                label=None if label is None else _read_above(label),
                after=str(place["after"]),
                before=str(place["before"]),
                next_heading=str(place["next_heading"]),
                blank_before=int(before),
                blank_after=int(after),
            ),
        )
    except (KeyError, TypeError, ValueError, AttributeError):
        return Taken(entry_id, text, Place())


def section_of(place: Place) -> str:
    """Return the text of the heading an entry stood under, "" where it stood under none."""
    return _heading_text(place.headings[-1].markdown) if place.headings else ""


def _above_json(one: Above) -> list[object]:
    return [one.markdown, one.blank_before, one.blank_after]


def _read_above(value: Any) -> Above:
    text, before, after = value
    return Above(str(text), int(before), int(after))


def take(document: Document, entry_id: str) -> Taken:
    """Describe an entry so that `put_back` can restore it. Changes nothing."""
    index = document.ids.index(entry_id)
    entry = document.outline.entries[index]
    headings = (document.outline.headings[number] for number in entry.headings)
    label = None if entry.label is None else document.outline.labels[entry.label]
    place = Place(
        headings=tuple(_above(document, heading.start, heading.end) for heading in headings),
        label=None if label is None else _above(document, label.start, label.end),
        after=document.ids[index - 1] if index else "",
        before=document.ids[index + 1] if index + 1 < len(document.ids) else "",
        next_heading=next(
            (_text(document, one.start, one.end) for one in document.outline.headings if one.start >= entry.end), ""
        ),
        blank_before=_blank_before(document, entry.start),
        blank_after=_blank_after(document, entry.end),
    )
    return Taken(entry_id, document.text(entry), place)


def remove(document: Document, ids: Collection[str]) -> Document:
    """Return the document without these entries. A heading or label goes with its last entry (decisions 17, 22).

    The file's first heading stays, and a heading that a comment stands under.

    Raises:
        Refused: what stands around them would change its meaning.
    """
    if not ids:
        return document
    gone = [entry for entry, entry_id in zip(document.outline.entries, document.ids, strict=True) if entry_id in ids]
    spans = [(entry.start, entry.end) for entry in gone]
    spans += _orphaned_headings(document, gone)
    spans += _orphaned_labels(document, gone)
    expected = _texts(document, [entry for entry in document.outline.entries if entry not in gone])
    for keep_blank in (False, True):
        changed = rebuilt(document, _without_spans(document, sorted(spans), keep_blank=keep_blank))
        changed = _without_doubled_rules(document, changed)
        if _texts(changed, changed.outline.entries) == expected:
            return changed
    raise Refused(f"{document.target.path}: taking the entry out would change what stands around it; edit it by hand")


def replace(document: Document, entry_id: str, new: NewEntry) -> tuple[Document, str]:
    """Return the document with another entry in an entry's place, and the new one's id.

    Raises:
        Refused: what stands around it would change.
    """
    index = document.ids.index(entry_id)
    entry = document.outline.entries[index]
    line = document.lines[entry.start]
    text = line.lstrip(" ")
    marker, indent = (text[0], line[: len(line) - len(text)]) if entry.is_item and text[0] in "-*+" else ("-", "")
    lines = item_lines(new, marker, indent)
    for before, after in ((False, False), (True, False), (False, True), (True, True)):
        block = [""] * before + lines + [""] * after
        changed = _with_block(document, entry.start, entry.end, block)
        others = [signature(changed, other) for other in changed.outline.entries]
        wanted = [signature(document, other) for other in document.outline.entries]
        if len(others) == len(wanted) and others[:index] + others[index + 1 :] == wanted[:index] + wanted[index + 1 :]:
            there = changed.outline.entries[index]
            if there.end - there.start == len(lines):
                return changed, changed.ids[index]
    raise Refused(f"{document.target.path}:{entry.start + 1}: the text cannot stand there; edit the file by hand")


def put_back(document: Document, taken: Taken) -> Document:
    """Return the document with an entry back where it was, as near as can be told.

    Headings and the label that went with it come back too, and the blank lines that stood around it.

    Raises:
        Refused: it cannot stand there without changing what stands around it.
    """
    place = taken.place
    heading, missing = _find_headings(document, place)
    lines = taken.markdown.split("\n")
    for position, label in _positions(document, place, heading, missing):
        above = [*missing, *([label] if label else [])]
        block: list[str] = []
        for one in above:
            block += [*one.markdown.split("\n"), *[""] * one.blank_after]
        blank_before = above[0].blank_before if above else place.blank_before
        # Blank lines that stand there already count, before the entry first.
        standing = _blank_after(document, position)
        used = min(standing, blank_before)
        exact = (used, blank_before - used, max(0, place.blank_after - standing + used))
        for skip, before, after in dict.fromkeys([exact, (0, 0, 0), (0, 1, 0), (0, 0, 1), (0, 1, 1)]):
            added = [""] * before + block + lines + [""] * after
            changed = _with_block(document, position + skip, position + skip, added)
            if _is_back(document, changed, taken, position + skip + before + len(block)):
                return changed
    raise Refused(f"{document.target.path}: the entry {taken.id} cannot go back where it stood; add it by hand")


def _positions(
    document: Document, place: Place, heading: int | None, missing: Sequence[Above]
) -> list[tuple[int, Above | None]]:
    """List where an entry may go back, best first: right after which line, and the label to make again."""
    before = document.entry(place.before) if place.before else None
    after = document.entry(place.after) if place.after else None
    found: list[tuple[int, Above | None]] = []
    if missing:
        # Its own heading went with it: it is made again between the entries that stood around it.
        if before is not None and (heading is None or heading in before.headings):
            below = [index for index in before.headings if heading is None or index > heading]
            found.append((document.outline.headings[below[0]].start if below else before.start, place.label))
        for index, one in enumerate(document.outline.headings):
            is_below = heading is None or (index > heading and one.start < _end_under(document, heading))
            if is_below and place.next_heading == _text(document, one.start, one.end):
                found.append((one.start, place.label))
        if after is not None and (heading is None or heading in after.headings):
            below = [index for index in after.headings if heading is None or index > heading]
            found.append((_end_under(document, below[0]) if below else after.end, place.label))
        found.append((_end_under(document, heading), place.label))
        return [(_back_over_blanks(document, position), label) for position, label in found]
    here = [entry for entry in document.outline.entries if _innermost(entry) == heading]
    block = _label(document, here, place.label)
    siblings = [entry for entry in here if entry.label == (None if block is None else block.start)]
    label = place.label if block is None else None
    if after is not None and after in siblings:
        found.append((after.end, label))
    if before is not None and before in siblings:
        found.append((before.start, label))
    if block is not None:
        found.append((block.end, None))
    if after is not None and after in here:
        found.append((after.end, label))
    if before is not None and before in here:
        found.append((before.start if before.label is None else before.label, label))
    found.append((_after_heading(document, heading), label))
    found.append((here[-1].end if here else _end_under(document, heading), label))
    found.append((_end_under(document, heading), label))
    return [(_back_over_blanks(document, position), label) for position, label in found]


def _is_back(old: Document, new: Document, taken: Taken, line: int) -> bool:
    index = next((index for index, entry in enumerate(new.outline.entries) if entry.start == line), None)
    if index is None or new.text(new.outline.entries[index]) != taken.markdown:
        return False
    # Its date and headings may be others by now; the headings of every other entry may not.
    others = [entry for number, entry in enumerate(new.outline.entries) if number != index]
    return _texts(new, others) == _texts(old, old.outline.entries)


def _texts(document: Document, entries: Sequence[Entry]) -> list[tuple[str, tuple[str, ...]]]:
    """Return the text and headings of entries. Prose under one heading is joined: what stood between may have gone."""
    texts: list[tuple[str, tuple[str, ...]]] = []
    was_prose = False
    for entry in entries:
        text, headings, _ = signature(document, entry)
        if was_prose and not entry.is_item and texts[-1][1] == headings:
            texts[-1] = (f"{texts[-1][0]}\n{text}".replace("\n\n", "\n"), headings)
        else:
            texts.append((text.replace("\n\n", "\n") if not entry.is_item else text, headings))
        was_prose = not entry.is_item
    return texts


def _find_headings(document: Document, place: Place) -> tuple[int | None, Sequence[Above]]:
    """Follow an entry's headings as far as they stand. Return the last one found, and those that are missing.

    Of several with one name, the one that holds a former neighbour is meant.
    """
    headings = document.outline.headings
    neighbours = [document.entry(entry_id) for entry_id in (place.after, place.before) if entry_id]
    near = {index for entry in neighbours if entry is not None for index in entry.headings}
    found: int | None = None
    for depth, one in enumerate(place.headings):
        above = () if found is None else (*headings[found].above, found)
        key = section_key(_heading_text(one.markdown))
        matching = [
            index
            for index, heading in enumerate(headings)
            if heading.above == above and section_key(heading.text) == key
        ]
        if not matching:
            # The title may have been reworded; what stood under it stands under the file's first heading now.
            titles = [index for index, heading in enumerate(headings) if heading.level == 1]
            if depth == 0 and titles == [0] and _level(one.markdown) == 1:
                found = 0
                continue
            return found, place.headings[depth:]
        found = next((index for index in reversed(matching) if index in near), matching[-1])
    return found, ()


def _level(text: str) -> int:
    first, *rest = text.split("\n")
    if rest:
        return 1 if rest[-1].strip()[:1] == "=" else 2
    return markdown.heading_level(first.strip(" \t"))


def _heading_text(text: str) -> str:
    lines = text.split("\n")
    return markdown.heading_text(lines[0]) if len(lines) == 1 else " ".join(line.strip() for line in lines[:-1])


def _innermost(entry: Entry) -> int | None:
    return entry.headings[-1] if entry.headings else None


def _label(document: Document, entries: Sequence[Entry], wanted: Above | None) -> markdown.Block | None:
    """Return the label with this text that stands above a list of these entries."""
    if wanted is None:
        return None
    for entry in entries:
        block = None if entry.label is None else document.outline.labels[entry.label]
        if block is not None and _text(document, block.start, block.end) == wanted.markdown:
            return block
    return None


def _above(document: Document, start: int, end: int) -> Above:
    return Above(_text(document, start, end), _blank_before(document, start), _blank_after(document, end))


def _blank_before(document: Document, line: int) -> int:
    return line - _back_over_blanks(document, line)


def _back_over_blanks(document: Document, line: int) -> int:
    while line > document.begin and not document.lines[line - 1].strip(" \t"):
        line -= 1
    return line


def _blank_after(document: Document, line: int) -> int:
    end = line
    while end < len(document.lines) and not document.lines[end].strip(" \t"):
        end += 1
    return end - line


def _end_under(document: Document, heading: int | None) -> int:
    """Return the line after the last one that stands under a heading, blank lines not counted."""
    end = len(document.lines)
    if heading is not None:
        own = document.outline.headings[heading]
        later = [other.start for other in document.outline.headings[heading + 1 :] if other.level <= own.level]
        end = later[0] if later else end
    return _back_over_blanks(document, end)


def _after_heading(document: Document, heading: int | None) -> int:
    if heading is None:
        return document.begin
    position = document.outline.headings[heading].end
    for block in document.outline.blocks:
        if block.start >= position:
            if block.kind != markdown.COMMENT:
                break
            position = block.end
    return position


def _orphaned_headings(document: Document, gone: Collection[Entry]) -> list[tuple[int, int]]:
    """Return the headings that lose their last entry: not the first of the file, nor one a comment stands under."""
    outline = document.outline
    losing = {index for entry in gone for index in entry.headings}
    staying = {index for entry in outline.entries if entry not in gone for index in entry.headings}
    staying |= {index for line in outline.index_lines for index in line.headings}
    spans = []
    for index in losing - staying - {0}:
        heading = outline.headings[index]
        end = _end_under(document, index)
        held = any(
            heading.end <= block.start < end and block.kind in (markdown.COMMENT, markdown.DEFINITION, markdown.HTML)
            for block in outline.blocks
        )
        if not held:
            spans.append((heading.start, heading.end))
    return spans


def _orphaned_labels(document: Document, gone: Collection[Entry]) -> list[tuple[int, int]]:
    outline = document.outline
    staying = {entry.label for entry in outline.entries if entry not in gone}
    staying |= {line.label for line in outline.index_lines}
    losing = {entry.label for entry in gone if entry.label is not None} - staying
    return [(outline.labels[label].start, outline.labels[label].end) for label in losing if label is not None]


def _without_spans(document: Document, spans: list[tuple[int, int]], *, keep_blank: bool) -> list[str]:
    """Return the lines without these spans, and without the blank lines that would be left doubled where one was."""
    lines = document.lines
    raw = list(document.raw)
    drop: set[int] = set()
    for start, end in spans:
        drop.update(range(start, end))
    for start, end in _joined(lines, spans):
        drop.update(range(start, end))
        before, after = start, end
        while before and not lines[before - 1].strip(" \t"):
            before -= 1
        while after < len(lines) and not lines[after].strip(" \t"):
            after += 1
        at_end = after == len(lines)
        if at_end:
            drop.update(range(before, start))
        elif before < start or start == 0:
            drop.update(range(end, after))
        if keep_blank and not at_end and before == start and after == end and start:
            drop.discard(start)
            raw[start] = document.newline
    return [line for number, line in enumerate(raw) if number not in drop]


def _joined(lines: Sequence[str], spans: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """Join spans that only blank lines keep apart."""
    joined: list[tuple[int, int]] = []
    for start, end in spans:
        if joined and not any(line.strip(" \t") for line in lines[joined[-1][1] : start]):
            joined[-1] = (joined[-1][0], max(end, joined[-1][1]))
        else:
            joined.append((start, end))
    return joined


def _without_doubled_rules(old: Document, new: Document) -> Document:
    """Take out a rule that stands right after a rule now and did not before (decision 22)."""

    def doubled(document: Document) -> list[tuple[int, int]]:
        blocks = document.outline.blocks
        return [
            (second.start, second.end)
            for first, second in pairwise(blocks)
            if first.kind == second.kind == markdown.RULE
        ]

    spans = doubled(new)
    if len(spans) <= len(doubled(old)):
        return new
    return rebuilt(new, _without_spans(new, spans, keep_blank=False))


def _with_block(document: Document, start: int, end: int, block: Sequence[str]) -> Document:
    newline = document.newline
    before, after = list(document.raw[:start]), list(document.raw[end:])
    if before and not before[-1].endswith(("\n", "\r")):
        before[-1] += newline
    return rebuilt(document, [*before, *(line + newline for line in block), *after])


def _text(document: Document, start: int, end: int) -> str:
    return "\n".join(document.lines[start:end])

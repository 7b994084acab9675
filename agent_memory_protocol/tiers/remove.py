"""Take entries out of a document, with the headings and labels that were only there for them.

After it the document is read again: everything else must be what it was, or nothing is taken out (decisions 17, 21).
"""

from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import replace as replace_fields
from itertools import pairwise, tee

from ..errors import Refused
from ..text import footnotes, labels, markdown
from ..text.visible import KEEPER, LIST_KEEPER
from .document import Document, plain_id, rebuilt
from .edit import items_apart, texts_apart
from .entries import Entry, Label, Outline, closing_after
from .taken import Taken, end_under, sayings, take


def remove(document: Document, ids: Collection[str]) -> Document:
    """Return the document without these entries. A heading or label goes with its last entry (decisions 17, 22).

    The file's first heading stays, and a heading that a comment is under. Where two neighbours would become one
    entry, an empty comment is left between them (decision 39). Raises Refused if the meaning of anything else would
    change.
    """
    if not ids:
        return document
    going = set(ids)
    gone = {entry for entry, entry_id in zip(document.outline.entries, document.ids, strict=True) if entry_id in going}
    spans = [(entry.start, entry.end) for entry in gone]
    spans += _orphaned_headings(document, gone)
    spans += _orphaned_labels(document, gone)
    joined = _joined(document.lines, sorted(spans))
    _check_labels(document, gone)
    _check_footnotes(document, gone)
    staying = [entry for entry in document.outline.entries if entry not in gone]
    # What holds others apart is asked of one span at a time, so only where the simplest way has failed.
    by_text, by_item = tee(_apart(document, joined))
    for said, ways in ((texts_apart, by_text), (items_apart, by_item)):
        for apart, keepers, sign in ways:
            kept = _without_spans(document, joined, blank_for=apart, comment_for=keepers, sign=sign)
            changed = rebuilt(document, kept)
            changed = _without_doubled_rules(document, changed)
            if said(changed, changed.outline.entries) == said(document, staying):
                return changed
    raise Refused(f"{document.target.path}: taking the entry out would change the lines around it; edit it by hand")


def going_along(document: Document, ids: Collection[str]) -> dict[str, tuple[str, ...]]:
    """Return, for each of these entries, the headings and the label above it that go with the last of them."""
    ids = {*ids}  # of many, a list would be looked through for each entry
    gone = {entry for entry, one in zip(document.outline.entries, document.ids, strict=True) if one in ids}
    spans = {*_orphaned_headings(document, gone), *_orphaned_labels(document, gone)}
    found = {}
    for entry_id, entry in zip(document.ids, document.outline.entries, strict=True):
        if entry_id in ids:
            headings = [document.outline.headings[index] for index in entry.headings]
            above = [(one.start, one.end) for one in headings]
            above += [] if entry.label is None else [_going(document.outline, document.outline.labels[entry.label])]
            found[entry_id] = tuple("\n".join(document.lines[slice(*span)]) for span in above if span in spans)
    return found


def leaving(old: Document, new: Document, named: Collection[str] = ()) -> list[tuple[str, Taken]]:
    """Describe each entry that a newer version of a document lacks, with the id it had.

    When one of several equal entries goes, the others move up, so it is described under the id that is free now.
    Which of them went is known from `named`, else from their texts and labels. What became a part of other prose, or
    of a list that is one entry now, has not left.
    """
    if not named and set(old.ids) <= set(new.ids):
        return []
    there = {*new.ids}
    staying = {*there, *(one for one in regrouped(new, old) if one not in named)}
    changed = {plain_id(one) for one in old.ids if one not in staying or one in named}
    groups: dict[str, list[str]] = {}
    for one in old.ids if changed else ():
        if (plain := plain_id(one)) in changed:
            groups.setdefault(plain, []).append(one)
    found: dict[str, tuple[str, Taken]] = {}
    for group in groups.values():
        free = [one for one in group if one not in staying]
        gone = [one for one in group if one in named]
        if len(gone) != len(free):
            left = Counter(_said(new, one) for one in group if one in there)
            gone = [one for one in group if not _stands(old, one, left)]
        if len(gone) != len(free):
            gone = free
        taken = [take(old, one) for one in gone]
        for one, described, mine in zip(gone, free, taken, strict=True):
            found[one] = (one, replace_fields(mine, id=described, rank=_rank_left(old, one, taken, mine)))
    return [found[one] for one in old.ids if one in found]


def _rank_left(old: Document, entry_id: str, gone: Sequence[Taken], mine: Taken) -> int:
    """Return the rank that is free when some equal entries have gone: the others of its label have moved up."""
    if len(gone) == 1 and mine.rank == 1 and old.number(f"{plain_id(entry_id)}-2") is None:
        return 1
    alike = [one for one in gone if one.saying[:2] == mine.saying[:2]]
    before = sum(said[:2] == mine.saying[:2] for said in sayings(old))
    return before - len(alike) + alike.index(mine) + 1


def regrouped(old: Document, new: Document) -> set[str]:
    """Return the ids of prose and of numbered lists that are new only as entries: their lines were other entries."""
    before, after = _loose_lines(old), _loose_lines(new)
    gone = {line for entry_id, lines in before.items() if entry_id not in after for line in lines}
    return {entry_id for entry_id, lines in after.items() if entry_id not in before and gone.issuperset(lines)}


def _loose_lines(document: Document) -> dict[str, list[str]]:
    return {
        entry_id: [line for line in document.lines[entry.start : entry.end] if line.strip(" \t")]
        for entry_id, entry in zip(document.ids, document.outline.entries, strict=True)
        if not entry.is_item or entry.is_numbered
    }


def _stands(document: Document, entry_id: str, left: Counter[tuple[str, str]]) -> bool:
    said = _said(document, entry_id)
    left[said] -= 1
    return left[said] >= 0


def _said(document: Document, entry_id: str) -> tuple[str, str]:
    entry = document.outline.entries[document.number(entry_id) or 0]
    return labels.key(document.label(entry)), document.text(entry)


def _orphaned_headings(document: Document, gone: AbstractSet[Entry]) -> list[tuple[int, int]]:
    """Return the headings that lose their last entry: not the first of the file, nor one a comment is under."""
    outline = document.outline
    losing = {index for entry in gone for index in entry.headings}
    staying = {index for entry in outline.entries if entry not in gone for index in entry.headings}
    staying |= {index for line in outline.index_lines for index in line.headings}
    spans = []
    for index in losing - staying - {0}:
        heading = outline.headings[index]
        end = end_under(document, index)
        held = any(
            heading.end <= block.start < end and block.kind in (markdown.COMMENT, markdown.DEFINITION, markdown.HTML)
            for block in outline.blocks
        )
        if not held:
            spans.append((heading.start, heading.end))
    return spans


def _orphaned_labels(document: Document, gone: AbstractSet[Entry]) -> list[tuple[int, int]]:
    outline = document.outline
    staying = {entry.label for entry in outline.entries if entry not in gone}
    staying |= {line.label for line in outline.index_lines}
    losing = {entry.label for entry in gone if entry.label is not None} - staying
    lost = [outline.labels[label] for label in losing if label is not None]
    closing = [
        block
        for label in lost
        if not label.is_entry and (block := closing_after(document.lines, outline, label)) is not None
    ]
    spans = [span for label in lost if (span := _going(outline, label))[0] < span[1]]
    return [*spans, *((block.start, block.end) for block in closing)]


def _going(outline: Outline, label: Label) -> tuple[int, int]:
    """Return the lines of a label that go with its last item: all, but for a first paragraph that is an entry."""
    if not label.is_entry:
        return label.start, label.end
    inner = (block.start for block in outline.blocks if label.start < block.start < label.end)
    return next(inner, label.end), label.end


def _check_labels(document: Document, gone: AbstractSet[Entry]) -> None:
    """Refuse to take out a paragraph while the list that its end is the label of stays."""
    for entry in document.outline.entries:
        if entry not in gone and entry.label is not None:
            label = document.outline.labels[entry.label]
            if label.is_entry and any(one.start == label.start for one in gone):
                raise Refused(
                    f"{document.target.path}:{label.start + 1}: the paragraph ends in the label of the list below it,"
                    f" {label.text!r}; take out the list's entries first, or edit the paragraph"
                )


def _check_footnotes(document: Document, gone: AbstractSet[Entry]) -> None:
    """Refuse to take out a footnote while what refers to it stays."""
    defined = {one: entry for entry in gone for one in footnotes.defined_in(_lines_of(document, entry))}
    if defined:
        taken = {number for entry in gone for number in range(entry.start, entry.end)}
        left = [line for number, line in enumerate(document.lines) if number not in taken]
        for name in sorted((footnotes.names_in(left) - footnotes.defined_in(left)) & defined.keys()):
            raise Refused(
                f"{document.target.path}:{defined[name].start + 1}: others refer to the footnote [^{name}]; take them"
                " out first, or edit the footnote"
            )


def _lines_of(document: Document, entry: Entry) -> Sequence[str]:
    return document.lines[entry.start : entry.end]


def _apart(
    document: Document, spans: list[tuple[int, int]]
) -> Iterator[tuple[list[tuple[int, int]], list[tuple[int, int]], str]]:
    """Yield the spans that leave a blank line, and those that leave a comment and which: as few as part all others."""
    yield [], [], ""
    tight = [span for span in spans if _holds_apart(document, span, blank=False)]
    yield tight, [], ""
    yield spans, [], ""
    keepers = [span for span in spans if _holds_apart(document, span, blank=True)]
    yield tight, keepers, KEEPER
    yield tight, keepers, LIST_KEEPER
    yield spans, spans, KEEPER


def _holds_apart(document: Document, span: tuple[int, int], *, blank: bool) -> bool:
    """Say whether others would change, were these lines gone alone, with a blank line left for them or not."""
    start, end = span
    staying = [entry for entry in document.outline.entries if entry.end <= start or entry.start >= end]
    changed = rebuilt(document, _without_spans(document, [span], blank_for=[span] if blank else ()))
    return texts_apart(changed, changed.outline.entries) != texts_apart(document, staying)


def _without_spans(
    document: Document,
    spans: Sequence[tuple[int, int]],
    *,
    blank_for: Collection[tuple[int, int]],
    comment_for: Collection[tuple[int, int]] = (),
    sign: str = KEEPER,
) -> list[str]:
    """Return the lines without these spans, and without the blank lines that would be left doubled where one was."""
    lines = document.lines
    raw = list(document.raw)
    drop: set[int] = set()
    for start, end in spans:
        drop.update(range(start, end))
        if (start, end) in comment_for and end < len(lines):
            drop.discard(start)
            above = "" if not start or not lines[start - 1].strip(" \t") else document.newline
            below = "" if not lines[end].strip(" \t") else document.newline
            raw[start] = f"{above}{sign}{document.newline}{below}"
            continue
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
        elif after == end and (start, end) in blank_for:
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
    """Take out a rule that is right after a rule now and was not before (decision 22)."""

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
    return rebuilt(new, _without_spans(new, spans, blank_for=()))

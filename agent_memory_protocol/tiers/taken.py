"""An entry outside its document: what it said, and where it was, in words that survive other edits.

A block's key is made from its text alone, as an entry's id is, so it survives other edits and tells nothing.
"""

from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Mapping
from dataclasses import field, replace
from functools import lru_cache
from itertools import islice, takewhile
from typing import Any

from ..layout import Target
from ..text import labels, markdown
from ..text.markdown import Block
from ..text.over_lists import label_in
from ..values import dataclass
from .document import Document, bare_text, end_of_section, entry_id, key_of_label, plain_id, section_key
from .document import after_heading as after_title
from .entries import Entry, Heading, IndexLine, Label

_MOST = 10_000  # More blank lines, or headings of one name, no document has

_NEAR = 6
"""Hex digits by which what was around an entry is known: of the blocks of one document they tell one from another."""

TITLE = "#"
"""Means the title of the document, which stays when an entry goes."""


@dataclass(frozen=True, slots=True)
class Above:
    """A heading or label that an entry was under."""

    markdown: str
    blank_before: int = 1  # with `blank_after`: the blank lines around it
    blank_after: int = 1
    previous: str = ""  # the key of the block before it
    twins: int = 1  # how many headings had the same name in the same place, this one included

    @property
    def title(self) -> str:
        """The text of a heading."""
        lines = self.markdown.split("\n")
        return markdown.heading_text(lines[0]) if len(lines) == 1 else " ".join(line.strip() for line in lines[:-1])

    @property
    def level(self) -> int:
        """How deep a heading is, from 1; 0 for a label."""
        first, *rest = self.markdown.split("\n")
        if rest:
            return 1 if rest[-1].strip()[:1] == "=" else 2
        return markdown.heading_level(first.strip(" \t"))


@dataclass(frozen=True, slots=True)
class Place:
    """Where an entry was, in words that survive other edits.

    A block's key is made from its text alone, as an entry's id is, so a place tells nothing of what was around it.
    """

    headings: tuple[Above, ...] = ()  # the headings above it, outermost first
    label: Above | None = None  # the label above its list; None without one
    after: str = ""  # how the id of the entry before it in the file begins, as `near` says; "" for the first
    before: str = ""  # that of the entry after it, "" for the last
    # the key of the block right before it, be it an entry, a heading, a rule or a comment; "" for none
    previous: str = ""
    following: str = ""  # the key of the block right after it
    next_heading: str = ""  # the key of the next heading in the file, where nothing else says where that was
    blank_before: int = 0  # with `blank_after`: the blank lines around it
    blank_after: int = 0

    @property
    def section(self) -> str:
        """The text of the heading it was under, "" if it was under none."""
        return self.headings[-1].title if self.headings else ""

    @property
    def sections(self) -> tuple[str, ...]:
        """The texts of the headings it was under, outermost first, without a title."""
        return tuple(one.title for depth, one in enumerate(self.headings) if depth or one.level > 1)

    @property
    def label_text(self) -> str:
        """The text of the label it was under, "" if it was under none."""
        return "" if self.label is None else label_in(self.label.markdown.split("\n"))

    @property
    def governed_by(self) -> tuple[str, ...]:
        """The headings and the label it was under, outermost first."""
        return (*(one.title for one in self.headings), *filter(None, [self.label_text]))


@dataclass(frozen=True, slots=True)
class Taken:
    """An entry outside its document: its id, its exact Markdown, and where it was."""

    id: str
    markdown: str
    place: Place
    rank: int = 1  # which of the entries with the same text and label it was, from 1
    part: str = ""  # what it was where it was no entry: `heading`, `label` or `index line`; else ""
    governs: tuple[str, ...] = ()  # the ids of what a heading or label was over
    # its Markdown and its label with their footnotes, where they are known
    shown: tuple[str, str] | None = field(default=None, compare=False)

    @property
    def saying(self) -> tuple[str, str, int]:
        """What tells it from other entries: the id that its text makes, the key of its label, and its rank."""
        return plain_id(self.id), labels.key(self.place.label_text), self.rank

    @property
    def texts(self) -> tuple[str, ...]:
        """Every text that may come into a document with it: its own, and those of its headings and label."""
        above = (*self.place.headings, *filter(None, [self.place.label]))
        return (self.markdown, *(one.markdown for one in above))

    @property
    def alone(self) -> str:
        """Its text with the label in front, as it is shown alone."""
        return labels.in_front_of_item(self.label, self.said)

    @property
    def said(self) -> str:
        """Its Markdown as it is shown, with the footnotes it refers to."""
        return self.shown[0] if self.shown else self.markdown

    @property
    def label(self) -> str:
        """The label it was under, as it is shown."""
        return self.shown[1] if self.shown else self.place.label_text


def sayings(document: Document) -> list[tuple[str, str, int]]:
    """Return what the entries of a document say, each as `Taken.saying`."""
    seen: Counter[tuple[str, str]] = Counter()
    found = []
    for one, entry in document.by_id:
        said = plain_id(one), key_of_label(document.outline, entry)
        seen[said] += 1
        found.append((*said, seen[said]))
    return found


def take(document: Document, taken_id: str) -> Taken:
    """Describe an entry so that `put_back` can restore it. Changes nothing."""
    index = document.number(taken_id)
    if index is None:
        raise ValueError(f"{taken_id} is not an entry of {document.target.path}")
    entry = document.outline.entries[index]
    headings = document.outline.headings
    label = None if entry.label is None else document.outline.labels[entry.label]
    next_one = bisect_left(headings, entry.end, key=lambda heading: heading.start)
    next_heading = span_key(document, headings[next_one]) if next_one < len(headings) else ""
    following = key_after(document, entry.end)
    before = document.outline.entries[index + 1] if index + 1 < len(document.ids) else None
    is_followed = before is not None and before.headings == entry.headings
    place = Place(
        headings=tuple(_heading_above(document, number, index) for number in entry.headings),
        label=None if label is None else above_of(document, label),
        after=near(document.ids[index - 1]) if index else "",
        before=near(document.ids[index + 1]) if before is not None else "",
        previous=key_before(document, entry.start),
        following=following,
        next_heading="" if is_followed or next_heading == following else next_heading,
        blank_before=blanks_before(document, entry.start),
        blank_after=blanks_after(document, entry.end),
    )
    has_equals = "-" in taken_id or document.number(f"{taken_id}-2") is not None
    return Taken(taken_id, document.text(entry), place, sayings(document)[index][2] if has_equals else 1)


def near(entry_id: str) -> str:
    """Return how an id begins, with its number where it has one: enough to tell it from others of its document."""
    plain, dash, number = entry_id.partition("-")
    return plain[:_NEAR] + dash + number


def as_json(taken: Taken, title: str = "") -> dict[str, object]:
    """Return an entry's Markdown and place as JSON values, without what is usual; `title` is the document's title."""
    place = taken.place
    headings = place.headings
    if title and headings and headings[0].markdown == title:
        above: list[object] = [_above_json(one) for one in headings[1:]]
        rest: dict[str, object] = {}
    else:
        above = [_above_json(one) for one in headings]
        rest = {"whole": 1}
    rest |= {
        "label": None if place.label is None else _above_json(place.label),
        "keys": _trimmed([place.previous, place.following, place.next_heading], _usual_keys(place.after, place.before)),
        "blank": _trimmed([place.blank_before, place.blank_after], _usual_blanks(place)),
        "rank": 0 if taken.rank == _rank_by(taken.id) else taken.rank,
    }
    rest = {key: one for key, one in rest.items() if one}
    around = f"{place.after},{place.before}".rstrip(",")
    found: dict[str, object] = {"markdown": taken.markdown, "place": [around, *above, *([rest] if rest else [])]}
    return found | ({"part": taken.part, "governs": [*taken.governs]} if taken.part else {})


def from_json(taken_id: str, fields: Mapping[str, Any]) -> Taken:
    """Read back what `as_json`, or an older version, returned. Raises ValueError if there is no Markdown."""
    text = fields.get("markdown")
    if not isinstance(text, str):
        raise ValueError("no Markdown")  # noqa: TRY004 - a line of another tool, not a caller's mistake
    place, rank = fields.get("place"), fields.get("rank")
    try:
        place, rank = _read_place(place) if isinstance(place, list | tuple) else (_read_old(place), rank)
    except (KeyError, TypeError, ValueError, AttributeError):
        place = Place()
    rank = rank if type(rank) is int and rank else _rank_by(taken_id)
    part, governs = str(fields.get("part", "")), fields.get("governs", ())
    return Taken(taken_id, text, place, rank, part, tuple(map(str, governs)) if isinstance(governs, list) else ())


def _read_place(value: Any) -> tuple[Place, Any]:
    """Return a place, and the rank where it is said."""
    around, *above = value
    rest = above.pop() if above and isinstance(above[-1], dict) else {}
    after, _, before = str(around).partition(",")
    headings = [] if rest.get("whole") else [Above(TITLE, 0, 0)]
    label = rest.get("label")
    previous, following, next_heading = _filled(rest.get("keys", []), _usual_keys(after, before))
    place = Place(
        headings=(*headings, *map(_read_above, above)),
        label=None if label is None else _read_above(label),
        after=after,
        before=before,
        previous=str(previous),
        following=str(following),
        next_heading=str(next_heading),
    )
    blank_before, blank_after = _filled(rest.get("blank", []), _usual_blanks(place))
    return replace(place, blank_before=_count(blank_before), blank_after=_count(blank_after)), rest.get("rank")


def _read_old(place: Any) -> Place:
    """Return a place as it was spelled before: with a name for each field, and ids and keys in full."""
    label = place.get("label")
    before, after = _filled(place.get("blank", []), [0, 0])
    # Still older lines give each key a name of its own.
    old = [place.get(name, "") for name in ("previous", "following", "next_heading")]
    previous, following, next_heading = (str(one)[:_NEAR] for one in _filled(place.get("keys", []), old))
    return Place(
        headings=tuple(_read_above(one) for one in place.get("headings", [])),
        label=None if label is None else _read_above(label),
        after=near(str(place.get("after", ""))),
        before=near(str(place.get("before", ""))),
        previous=previous,
        following=following,
        next_heading=next_heading,
        blank_before=_count(before),
        blank_after=_count(after),
    )


def _usual_keys(after: str, before: str) -> list[Any]:
    """Return the keys of what is around an entry where that is the entry on each side."""
    return [plain_id(after), plain_id(before), ""]


def _usual_blanks(place: Place) -> list[Any]:
    """Return how many blank lines are around an entry mostly: one where it begins or ends a list."""
    is_first = not place.previous or place.previous != plain_id(place.after)
    is_last = bool(place.following) and place.following != plain_id(place.before)
    return [int(is_first), int(is_last)]


def with_title(taken: Taken, title: Above | None) -> Taken:
    """Return an entry whose place says the title of its document; None if the document has no title."""
    headings = taken.place.headings
    if not headings or headings[0].markdown != TITLE:
        return taken
    return replace(taken, place=replace(taken.place, headings=(*([title] if title else []), *headings[1:])))


def title_of(document: Document) -> Above | None:
    """Return the title of a document."""
    title = document.outline.title
    return None if title is None else above_of(document, title)


def _rank_by(taken_id: str) -> int:
    """Return the rank that an id says: with equal texts under one label only, it is that."""
    number = taken_id.partition("-")[2]
    return int(number) if number.isdecimal() and len(number) < len(str(_MOST)) else 1


_USUAL_ABOVE: list[Any] = [1, 1, "", 1]


def _above_json(one: Above) -> object:
    rest = _trimmed([one.blank_before, one.blank_after, one.previous, one.twins], _USUAL_ABOVE)
    if rest[:2] == [1, 1] and len(rest) == 3:
        rest = [one.previous]
    return [one.markdown, *rest] if rest else one.markdown


def _read_above(value: Any) -> Above:
    text, *rest = [value] if isinstance(value, str) else value
    if len(rest) == 1 and isinstance(rest[0], str):
        rest = [1, 1, rest[0]]
    before, after, previous, twins = _filled(rest, _USUAL_ABOVE)
    return Above(str(text), _count(before), _count(after), str(previous)[:_NEAR], _count(twins))


def _trimmed(values: list[Any], usual: list[Any]) -> list[Any]:
    """Return values without those at the end that are as usual."""
    while values and values[-1] == usual[len(values) - 1]:
        values = values[:-1]
    return values


def _filled(values: list[Any], usual: list[Any]) -> list[Any]:
    return [*values, *usual[len(values) :]]


def _count(value: Any) -> int:
    """Return a count of lines or headings. A file of anyone's may have a number of any size there."""
    if not isinstance(value, int) or not 0 <= value <= _MOST:
        raise ValueError(f"{value!r:.20} is no such count")
    return int(value)


def above_of(document: Document, span: Block | Heading | Label, twins: int = 1) -> Above:
    """Describe a heading or label so that it can be made again."""
    return Above(
        span_text(document, span),
        blanks_before(document, span.start),
        blanks_after(document, span.end),
        key_before(document, span.start),
        twins,
    )


def _heading_above(document: Document, number: int, index: int) -> Above:
    """Return a heading over an entry. What was before it is said where it may go with the entry, or has equals."""
    heading = document.outline.headings[number]
    same = len(twins(document, heading.text, heading.above))
    entries = document.outline.entries
    has_others = any(
        number in other.headings for other in (*entries[max(index - 1, 0) : index], *entries[index + 1 : index + 2])
    )
    found = above_of(document, heading, twins=same)
    return replace(found, previous="") if has_others and same == 1 and heading.above else found


def span_text(document: Document, span: Block | Heading | Label | IndexLine) -> str:
    """Return the Markdown of a block or heading."""
    return "\n".join(document.lines[span.start : span.end])


def span_key(document: Document, span: Block | Heading) -> str:
    """Return what tells a block from others, wherever it is: of an entry, how its id begins."""
    entries = document.outline.entries
    index = bisect_left(entries, span.start, key=lambda entry: entry.start)
    if index < len(entries) and (entries[index].start, entries[index].end) == (span.start, span.end):
        return plain_id(document.ids[index])[:_NEAR]
    return block_key(span_text(document, span), document.target)


def has_key(document: Document, span: Block | Heading, *keys: str) -> bool:
    """Say whether a block has one of these keys, or that of its whole text, date and all, which older ledgers use."""
    text, own = span_text(document, span), span_key(document, span)
    whole = block_key(text, document.target)
    is_item = isinstance(span, Block) and span.kind == markdown.ITEM
    return own in keys or whole in keys or (is_item and own == whole and _item_key(text, document.target) in keys)


@lru_cache(maxsize=1 << 12)
def _item_key(text: str, target: Target) -> str:
    return block_key(bare_text(text), target)


def block_key(markdown_text: str, target: Target) -> str:
    """Return what tells a block of this text from others."""
    return entry_id(markdown_text, target)[:_NEAR]


def key_before(document: Document, line: int) -> str:
    """Return the key of the block that ends before a line; "" without one, or if the line is inside one."""
    block = _block_before(document, line)
    return span_key(document, block) if block else ""


def key_after(document: Document, line: int) -> str:
    """Return the key of the block that begins at or after a line; "" without one, or if the line is inside one."""
    block = _block_after(document, line)
    return span_key(document, block) if block else ""


def _block_before(document: Document, line: int) -> Block | None:
    blocks = document.outline.blocks
    number = bisect_left(blocks, line, key=lambda block: block.start)
    return blocks[number - 1] if number and blocks[number - 1].end <= line else None


def _block_after(document: Document, line: int) -> Block | None:
    blocks = document.outline.blocks
    number = bisect_right(blocks, line, key=lambda block: block.end)
    return blocks[number] if number < len(blocks) and blocks[number].start >= line else None


def stands_after(document: Document, line: int, key: str) -> bool:
    """Say whether the block before a line has this key, "" without one."""
    block = _block_before(document, line)
    return has_key(document, block, key) if block else not key


def stands_before(document: Document, line: int, key: str) -> bool:
    """Say whether the block from a line on has this key, "" without one."""
    block = _block_after(document, line)
    return has_key(document, block, key) if block else not key


def stands_between(document: Document, position: int, previous: str, following: str) -> bool:
    """Say whether a line is between the same two blocks as before."""
    return stands_after(document, position, previous) and stands_before(document, position, following)


def blanks_before(document: Document, line: int) -> int:
    """Count the blank lines that end before a line."""
    return line - back_over_blanks(document, line)


def blanks_after(document: Document, line: int) -> int:
    """Count the blank lines from a line on."""
    end = line
    while end < len(document.lines) and not document.lines[end].strip(" \t"):
        end += 1
    return end - line


def back_over_blanks(document: Document, line: int) -> int:
    """Return the line after the last one before it that is not blank."""
    while line > document.begin and not document.lines[line - 1].strip(" \t"):
        line -= 1
    return line


def blocks_in(document: Document, entry: Entry) -> list[tuple[int, int]]:
    """Return where each block of an entry begins and ends. A paragraph that dates part is a block of each of them."""
    blocks = document.outline.blocks
    first = max(bisect_right(blocks, entry.start, key=lambda block: block.start) - 1, 0)
    within = takewhile(lambda block: block.start < entry.end, islice(blocks, first, None))
    return [(max(one.start, entry.start), min(one.end, entry.end)) for one in within if one.end > entry.start]


def is_part_of(document: Document, prose: Entry, markdown_text: str) -> bool:
    """Say whether a text is some whole blocks of a longer prose entry. A line inside a block is a sample, and none."""
    lines = markdown_text.split("\n")
    if prose.is_item or prose.end - prose.start == len(lines):
        return False
    blocks = blocks_in(document, prose)
    ends = {end for _, end in blocks}
    return any(
        start + len(lines) in ends and document.lines[start : start + len(lines)] == lines for start, _ in blocks
    )


def twins(document: Document, title: str, above: tuple[int, ...]) -> list[int]:
    """Return the headings of one name under the same headings."""
    name = section_key(title)
    return [
        index
        for index, heading in enumerate(document.outline.headings)
        if heading.above == above and section_key(heading.text) == name
    ]


def innermost(entry: Entry) -> int | None:
    """Return the index of the heading right above an entry; None if it is under none."""
    return entry.headings[-1] if entry.headings else None


def end_under(document: Document, heading: int | None) -> int:
    """Return the line after the last one that is under a heading, blank lines not counted."""
    if heading is None:
        return back_over_blanks(document, len(document.lines))
    return back_over_blanks(document, end_of_section(document, document.outline.headings[heading]))


def after_heading(document: Document, heading: int | None) -> int:
    """Return the line after a heading and the comments right under it."""
    return document.begin if heading is None else after_title(document, document.outline.headings[heading])

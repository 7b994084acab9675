"""An entry outside its document: what it said, and where it stood, in words that survive other edits.

A block's key is made from its text alone, as an entry's id is, so it survives other edits and tells nothing.
"""

from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import islice, takewhile
from typing import Any

from ..text import labels, markdown
from ..text.markdown import Block
from .document import Document, entry_id, key_of_label, plain_id, section_key
from .document import after_heading as after_title
from .entries import Entry, Heading, IndexLine, Label, label_in

_MOST = 10_000
"""More blank lines, or headings of one name, no document has."""


@dataclass(frozen=True, slots=True)
class Above:
    """A heading or label that an entry stood under.

    Attributes:
        markdown: its Markdown.
        blank_before, blank_after: the blank lines around it.
        previous: the key of the block before it.
        twins: how many headings had the same name in the same place, this one included.
    """

    markdown: str
    blank_before: int = 1
    blank_after: int = 1
    previous: str = ""
    twins: int = 1

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
    """Where an entry stood, in words that survive other edits.

    A block's key is made from its text alone, as an entry's id is, so a place tells nothing of what stood around it.

    Attributes:
        headings: the headings above it, outermost first.
        label: the label above its list; None where there is none.
        after: the id of the entry before it in the file, "" for the first.
        before: the id of the entry after it in the file, "" for the last.
        previous: the key of the block right before it, be it an entry, a heading, a rule or a comment; "" for none.
        following: the key of the block right after it.
        next_heading: the key of the next heading in the file.
        blank_before, blank_after: the blank lines around it.
    """

    headings: tuple[Above, ...] = ()
    label: Above | None = None
    after: str = ""
    before: str = ""
    previous: str = ""
    following: str = ""
    next_heading: str = ""
    blank_before: int = 0
    blank_after: int = 0

    @property
    def section(self) -> str:
        """The text of the heading it stood under, "" where it stood under none."""
        return self.headings[-1].title if self.headings else ""

    @property
    def label_text(self) -> str:
        """The text of the label it stood under, "" where it stood under none."""
        return "" if self.label is None else label_in(self.label.markdown.split("\n"))

    @property
    def governed_by(self) -> tuple[str, ...]:
        """The headings and the label it stood under, outermost first."""
        return (*(one.title for one in self.headings), *filter(None, [self.label_text]))


@dataclass(frozen=True, slots=True)
class Taken:
    """An entry outside its document: its id, its exact Markdown, and where it stood.

    Attributes:
        rank: which of the entries with the same text and label it was, from 1.
        part: what it was where it was no entry: `heading`, `label` or `index line`; else "".
        governs: the ids of what a heading or label stood over.
    """

    id: str
    markdown: str
    place: Place
    rank: int = 1
    part: str = ""
    governs: tuple[str, ...] = ()

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
        return labels.in_front_of_item(self.place.label_text, self.markdown)


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
    following = bisect_left(headings, entry.end, key=lambda heading: heading.start)
    place = Place(
        headings=tuple(
            above_of(document, heading, twins=len(twins(document, heading.text, heading.above)))
            for heading in (headings[number] for number in entry.headings)
        ),
        label=None if label is None else above_of(document, label),
        after=document.ids[index - 1] if index else "",
        before=document.ids[index + 1] if index + 1 < len(document.ids) else "",
        previous=key_before(document, entry.start),
        following=key_after(document, entry.end),
        next_heading=span_key(document, headings[following]) if following < len(headings) else "",
        blank_before=blanks_before(document, entry.start),
        blank_after=blanks_after(document, entry.end),
    )
    has_equals = "-" in taken_id or f"{taken_id}-2" in document.ids
    return Taken(taken_id, document.text(entry), place, sayings(document)[index][2] if has_equals else 1)


def as_json(taken: Taken) -> dict[str, object]:
    """Return an entry's Markdown and place as JSON values for the ledger and the journal, without what is usual."""
    place = taken.place
    fields: dict[str, object] = {
        "headings": [_above_json(one) for one in place.headings],
        "label": None if place.label is None else _above_json(place.label),
        "after": place.after,
        "before": place.before,
        "keys": _trimmed([place.previous, place.following, place.next_heading], ["", "", ""]),
        "blank": _trimmed([place.blank_before, place.blank_after], [0, 0]),
    }
    found: dict[str, object] = {"markdown": taken.markdown, "place": {key: one for key, one in fields.items() if one}}
    found |= {"part": taken.part, "governs": [*taken.governs]} if taken.part else {}
    return found if taken.rank == _rank_by(taken.id) else {**found, "rank": taken.rank}


def from_json(taken_id: str, fields: Mapping[str, Any]) -> Taken:
    """Read back what `as_json` returned. A place that is not as it writes one counts as unknown.

    Raises:
        ValueError: there is no Markdown.
    """
    text = fields.get("markdown")
    if not isinstance(text, str):
        raise ValueError("no Markdown")  # noqa: TRY004 - a line of another tool, not a caller's mistake
    rank = fields.get("rank")
    rank = rank if type(rank) is int else _rank_by(taken_id)
    part, governs = str(fields.get("part", "")), fields.get("governs", ())
    more = (rank, part, tuple(map(str, governs)) if isinstance(governs, list) else ())
    try:
        place = fields["place"]
        label = place.get("label")
        before, after = _filled(place.get("blank", []), [0, 0])
        # Older lines give each key a name of its own.
        old = [place.get(name, "") for name in ("previous", "following", "next_heading")]
        previous, following, next_heading = _filled(place.get("keys", []), old)
        return Taken(
            taken_id,
            text,
            Place(
                headings=tuple(_read_above(one) for one in place.get("headings", [])),
                label=None if label is None else _read_above(label),
                after=str(place.get("after", "")),
                before=str(place.get("before", "")),
                previous=str(previous),
                following=str(following),
                next_heading=str(next_heading),
                blank_before=_count(before),
                blank_after=_count(after),
            ),
            *more,
        )
    except (KeyError, TypeError, ValueError, AttributeError):
        return Taken(taken_id, text, Place(), *more)


def _rank_by(taken_id: str) -> int:
    """Return the rank that an id says: with equal texts under one label only, it is that."""
    number = taken_id.partition("-")[2]
    return int(number) if number.isdecimal() and len(number) < len(str(_MOST)) else 1


_USUAL_ABOVE: list[Any] = [1, 1, "", 1]


def _above_json(one: Above) -> object:
    rest = _trimmed([one.blank_before, one.blank_after, one.previous, one.twins], _USUAL_ABOVE)
    return [one.markdown, *rest] if rest else one.markdown


def _read_above(value: Any) -> Above:
    text, *rest = [value] if isinstance(value, str) else value
    before, after, previous, twins = _filled(rest, _USUAL_ABOVE)
    return Above(str(text), _count(before), _count(after), str(previous), _count(twins))


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


def span_text(document: Document, span: Block | Heading | Label | IndexLine) -> str:
    """Return the Markdown of a block or heading."""
    return "\n".join(document.lines[span.start : span.end])


def span_key(document: Document, span: Block | Heading) -> str:
    """Return what tells a block from others, wherever it stands."""
    return entry_id(span_text(document, span), document.target)


def key_before(document: Document, line: int) -> str:
    """Return the key of the block that ends before a line; "" where there is none, or the line is inside one."""
    blocks = document.outline.blocks
    number = bisect_left(blocks, line, key=lambda block: block.start)
    return span_key(document, blocks[number - 1]) if number and blocks[number - 1].end <= line else ""


def key_after(document: Document, line: int) -> str:
    """Return the key of the block that begins at or after a line; "" where there is none, or the line is inside one."""
    blocks = document.outline.blocks
    number = bisect_right(blocks, line, key=lambda block: block.end)
    return span_key(document, blocks[number]) if number < len(blocks) and blocks[number].start >= line else ""


def stands_between(document: Document, position: int, previous: str, following: str) -> bool:
    """Say whether a line is between the same two blocks as before."""
    return key_before(document, position) == previous and key_after(document, position) == following


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
    """Return the index of the heading right above an entry; None where it stands under none."""
    return entry.headings[-1] if entry.headings else None


def end_under(document: Document, heading: int | None) -> int:
    """Return the line after the last one that stands under a heading, blank lines not counted."""
    end = len(document.lines)
    if heading is not None:
        own = document.outline.headings[heading]
        later = [other.start for other in document.outline.headings[heading + 1 :] if other.level <= own.level]
        end = later[0] if later else end
    return back_over_blanks(document, end)


def after_heading(document: Document, heading: int | None) -> int:
    """Return the line after a heading and the comments right under it."""
    return document.begin if heading is None else after_title(document, document.outline.headings[heading])

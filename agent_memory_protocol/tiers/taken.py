"""An entry outside its document: what it said, and where it stood, in words that survive other edits."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ..text import markdown
from ..text.markdown import Block
from . import around
from .document import Document
from .entries import Heading


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


@dataclass(frozen=True, slots=True)
class Taken:
    """An entry outside its document: its id, its exact Markdown, and where it stood."""

    id: str
    markdown: str
    place: Place


def take(document: Document, entry_id: str) -> Taken:
    """Describe an entry so that `put_back` can restore it. Changes nothing."""
    index = document.ids.index(entry_id)
    entry = document.outline.entries[index]
    headings = document.outline.headings
    label = None if entry.label is None else document.outline.labels[entry.label]
    place = Place(
        headings=tuple(
            _above(document, heading, twins=len(around.twins(document, heading.text, heading.above)))
            for heading in (headings[number] for number in entry.headings)
        ),
        label=None if label is None else _above(document, label),
        after=document.ids[index - 1] if index else "",
        before=document.ids[index + 1] if index + 1 < len(document.ids) else "",
        previous=around.key_before(document, entry.start),
        following=around.key_after(document, entry.end),
        next_heading=next((around.key(document, one) for one in headings if one.start >= entry.end), ""),
        blank_before=around.blanks_before(document, entry.start),
        blank_after=around.blanks_after(document, entry.end),
    )
    return Taken(entry_id, document.text(entry), place)


def as_json(taken: Taken) -> dict[str, object]:
    """Return an entry's Markdown and place as JSON values, for the ledger and the journal."""
    place = taken.place
    fields: dict[str, object] = {"headings": [_above_json(one) for one in place.headings]}
    if place.label is not None:
        fields["label"] = _above_json(place.label)
    fields |= {"after": place.after, "before": place.before}
    fields |= {"previous": place.previous, "following": place.following, "next_heading": place.next_heading}
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
                previous=str(place["previous"]),
                following=str(place["following"]),
                next_heading=str(place["next_heading"]),
                blank_before=int(before),
                blank_after=int(after),
            ),
        )
    except (KeyError, TypeError, ValueError, AttributeError):
        return Taken(entry_id, text, Place())


def _above_json(one: Above) -> list[object]:
    return [one.markdown, one.blank_before, one.blank_after, one.previous, one.twins]


def _read_above(value: Any) -> Above:
    text, before, after, previous, twins = value
    return Above(str(text), int(before), int(after), str(previous), int(twins))


def _above(document: Document, span: Block | Heading, twins: int = 1) -> Above:
    return Above(
        around.text(document, span),
        around.blanks_before(document, span.start),
        around.blanks_after(document, span.end),
        around.key_before(document, span.start),
        twins,
    )

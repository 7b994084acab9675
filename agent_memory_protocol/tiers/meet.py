"""How two entries meet: they say the same, the opposite, or have another value (docs/protocol.md).

An entry is compared together with the label and the headings that govern it.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

from ..text import labels
from ..text.alike import denials, same
from ..text.changed import Stated, changes, renamed
from ..text.gist import gist, is_claim
from .document import Document, identity_text, section_key
from .entries import OWN, Entry

SAME, OPPOSITE, CHANGED = "same", "opposite", "changed"

_OWN_SUBJECT = 3
"""Under different headings, a text of fewer words may be about different things: “The database is Postgres.”"""


@dataclass(frozen=True, slots=True, eq=False)
class Placed:
    """An entry in its document."""

    document: Document
    entry: Entry

    @property
    def id(self) -> str:
        """Its id."""
        return self.document.ids[self.document.outline.entries.index(self.entry)]

    @property
    def place(self) -> str:
        """Its file and line."""
        return f"{self.document.target.path}:{self.entry.start + 1}"

    @property
    def day(self) -> int:
        """The day of its own date; 0 without one."""
        return self.entry.day or 0 if self.entry.day_source == OWN else 0

    @property
    def text(self) -> str:
        """What it says, with its label in front."""
        return labels.in_front(self.document.label(self.entry), identity_text(self.document.lines, self.entry))


@dataclass(frozen=True, slots=True, eq=False)
class Meeting:
    """Two entries that meet, and in which way. Of what disagrees, the first is the one to retire unless it is right."""

    way: str
    first: Placed
    second: Placed

    @property
    def resolve(self) -> str:
        """The command that retires the first for the second."""
        return f"amp resolve {self.first.id} {self.second.id}"

    @property
    def dispute(self) -> str:
        """The command that marks both."""
        return f"amp dispute {self.first.id} {self.second.id}"

    def in_order_of_age(self, learned: Callable[[Placed], str] = lambda _: "") -> "Meeting":
        """Return it with the older entry first: by their own dates, then by when each was `learned`, else as it is."""
        one, other = self.first, self.second
        days, moments = (one.day, other.day), (learned(one), learned(other))
        is_told_by_days = all(days) and days[0] != days[1]
        is_younger = days[0] > days[1] if is_told_by_days else all(moments) and moments[0] > moments[1]
        return replace(self, first=other, second=one) if is_younger else self


def meetings(documents: Sequence[Document]) -> list[Meeting]:
    """Return what says the opposite in these documents, and then what has another value in one of them.

    An entry is opposed to the first one only. Two conversations are not compared: nobody is given both.
    """
    placed = [Placed(document, entry) for document in documents for entry in document.outline.entries]
    first: dict[int, int] = {}
    texts = [one.text for one in placed]
    for denial in denials([text if is_claim(text) else "" for text in texts]):
        earlier, later = sorted((denial.denying, denial.said))
        one, other = placed[earlier], placed[later]
        if _share_topic(one, other, denial.words) and not _apart(one, other):
            first[later] = min(earlier, first.get(later, earlier))
    found = [Meeting(OPPOSITE, placed[earlier], placed[later]) for later, earlier in sorted(first.items())]
    return found + [meeting for document in documents for meeting in _changes(document)]


def meeting_of(document: Document, entry_id: str) -> Meeting | None:
    """Return the first other entry of a document that a new entry meets, in any way, and the new entry as the second.

    A changed name counts here, too: the writer can tell whether it is a change.
    """
    placed = [Placed(document, entry) for entry in document.outline.entries]
    texts = [one.text for one in placed]
    place = document.ids.index(entry_id)
    own, words = placed[place], gist(texts[place]).words
    if not is_claim(texts[place]):
        return None
    shared = [len({*words}.intersection(gist(text).words)) for text in texts]
    enough = min(2, len({*words}) - 1)
    compared = [text if is_claim(text) and count >= enough else "" for text, count in zip(texts, shared, strict=True)]
    opposed = {
        denial.denying + denial.said - place
        for denial in denials(compared)
        if place in (denial.denying, denial.said)
        and _share_topic(placed[denial.denying], placed[denial.said], denial.words)
    }
    for number, other in enumerate(placed):
        if number in opposed:
            return Meeting(OPPOSITE, other, own)
        if (
            number != place
            and shared[number] >= enough
            and same(texts[place], texts[number])
            and _share_topic(own, other, len(words))
        ):
            return Meeting(SAME, other, own)
    if len({*words}) < 2:
        return None  # too few words to say what has changed
    near = [one for one, count in zip(placed, shared, strict=True) if count > 1]
    stated = [_stated(one) for one in near]
    here = near.index(own)
    changed = [one + other - here for one, other in changes(stated) if here in (one, other)]
    found = changed[0] if changed else renamed(stated, here)
    return None if found is None else Meeting(CHANGED, near[found], own)


def _changes(document: Document) -> Iterator[Meeting]:
    placed = [Placed(document, entry) for entry in document.outline.entries]
    for one, other in changes([_stated(one) for one in placed]):
        yield Meeting(CHANGED, placed[one], placed[other])


def _stated(one: Placed) -> Stated:
    governed_by = (one.entry.headings, labels.key(one.document.label(one.entry)))
    return Stated(identity_text(one.document.lines, one.entry), governed_by)


def _share_topic(one: Placed, other: Placed, words: int) -> bool:
    """Say whether two entries may be about the same thing: under the same headings, or in enough words of their own."""
    return words >= _OWN_SUBJECT or _topics(one) == _topics(other)


def _topics(one: Placed) -> list[str]:
    """Return the headings that say what an entry is about: neither the title of its document nor a date alone."""
    outline = one.document.outline
    headings = [outline.headings[index] for index in one.entry.headings]
    if headings and headings[0] is outline.headings[0] and headings[0].level == 1:
        del headings[0]
    keys = [section_key(heading.text) for heading in headings]
    return [key for key in keys if not key.lstrip("[(")[:1].isdigit() or any(map(str.isalpha, key.split()))]


def _apart(one: Placed, other: Placed) -> bool:
    """Say whether these are in two conversations."""
    first, second = one.document.target, other.document.target
    return not first.tier.lasts and not second.tier.lasts and first != second

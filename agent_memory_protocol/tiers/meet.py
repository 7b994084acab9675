"""How two facts meet: they say the same, the opposite, or have another value (docs/protocol.md).

An entry is compared together with the label and the headings that govern it. Facts are also in notes and records.
"""

from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from dataclasses import replace
from heapq import nlargest
from itertools import chain, pairwise, starmap
from operator import itemgetter

from ..layout import Target, Tier
from ..text import labels, nearly, renewed
from ..text.alike import denials, denials_in_other_words, denials_in_the_same_words, may_deny, same, together
from ..text.changed import (
    MOST_VALUES,
    OWN_SUBJECT,
    Sourced,
    Stated,
    changes,
    changes_between,
    guesses,
    shapes,
    suspected,
)
from ..text.claims import Denial
from ..text.east_asian import is_written_in
from ..text.gist import Near, gist, is_claim
from ..text.markdown import marker_width
from ..text.opposites import exclude_each_other
from ..text.reported import unsigned
from ..text.values import may_hold_value
from ..values import dataclass, once
from .document import Document, identity_text, section_key
from .entries import OWN, Entry

SAME, OPPOSITE, CHANGED = "same", "opposite", "changed"
RENEWED, ALIKE = "renewed", "alike"
"""What only who writes is asked: whether the one tells what has become of the other, and whether both say the same."""
NOTE, RECORD = "note", "record"

MOST = 100  # So many facts are compared with a new one: the writer waits for the answer, and `amp check` compares all

Pairs = list[tuple[int, int, str]]
"""The places of each two facts that meet, and in which way."""
Found = list[tuple[int, int, int]]
"""What a step of a comparison finds: the places of each two facts, and how many words the first of them denies."""


@dataclass(frozen=True, eq=False)
class Placed:
    """An entry in its document. What it says is asked for often, so it is read once."""

    document: Document
    entry: Entry

    @property
    def id(self) -> str:
        """Its id."""
        return self.document.ids[self.document.outline.entries.index(self.entry)]

    @property
    def target(self) -> Target:
        """Its document."""
        return self.document.target

    @property
    def path(self) -> str:
        """Its file."""
        return self.document.target.path

    @property
    def line(self) -> int | None:
        """Its line, from 1."""
        return self.entry.start + 1

    @property
    def place(self) -> str:
        """Its file and line."""
        return f"{self.path}:{self.line}"

    @property
    def is_disputed(self) -> bool:
        """Whether it has the mark `[disputed]`."""
        return self.entry.marks.disputed

    @once
    def topics(self) -> list[str]:
        """The names of the headings that say what it is about: neither the title of its document nor a date alone."""
        outline = self.document.outline
        headings = [outline.headings[index] for index in self.entry.headings]
        if headings and headings[0] is outline.headings[0] and headings[0].level == 1:
            del headings[0]
        keys = [section_key(heading.text) for heading in headings]
        return [key for key in keys if not key.lstrip("[(")[:1].isdigit() or any(map(str.isalpha, key.split()))]

    @property
    def day(self) -> int:
        """The day of its own date; 0 without one."""
        return self.entry.day or 0 if self.entry.day_source == OWN else 0

    @property
    def retire(self) -> str:
        """The command that takes it out."""
        return f"amp forget {self.id}"

    @once
    def text(self) -> str:
        """What it says, with its label in front, and without who reported it."""
        label = self.document.label(self.entry)
        return labels.in_front(label, unsigned(self.alone)) if label else unsigned(self.alone)

    @once
    def alone(self) -> str:
        """What it says without its label, and without the number that its list begins with."""
        entry = self.entry
        if entry.alone is None:
            text = identity_text(self.document.lines, entry).lstrip()
            said = self.document.spelled_out(text)
            alone = said[marker_width(said) :].lstrip() if said[:1].isdigit() else said
            if "[" in text:  # what it refers to elsewhere may change without it
                return alone
            entry.alone = alone
        return entry.alone


@dataclass(frozen=True, slots=True, eq=False)
class Outside:
    """A fact outside tier documents: what a note or a record says."""

    kind: str  # NOTE or RECORD
    id: str  # the file of the note, or the id of the record
    target: Target  # the document that the note is beside; shared memory for a record
    path: str
    text: str
    retire: str  # the command that takes it out
    learned: str = ""  # when it was written, as far as it is known: a stamp in UTC
    topics: Sequence[str] = ()
    line: int | None = None
    day: int = 0
    is_disputed: bool = False

    @property
    def place(self) -> str:
        """Its file."""
        return self.path


Fact = Placed | Outside


@dataclass(frozen=True, slots=True, eq=False)
class Meeting:
    """Two facts that meet, and in which way. Of what disagrees, the first is the one to retire unless it is right."""

    way: str
    first: Fact
    second: Fact

    @property
    def resolve(self) -> str:
        """The command that retires the first for the second, or edits it where not all who read it read the second."""
        if self.reaches_fewer:
            return f"amp edit {self.first.id} TEXT"
        return f"amp resolve {self.first.id} {self.second.id}" if self._is_of_one_kind else self.first.retire

    @property
    def settles(self) -> str:
        """That command, and what it does."""
        return f"`{self.resolve}` " + ("corrects it for all who read it" if self.reaches_fewer else "retires the older")

    @property
    def reaches_fewer(self) -> bool:
        """Whether the second is in another document than the first, and not in shared memory, which everybody reads."""
        return self._is_of_one_kind and self.second.target not in (self.first.target, Target(Tier.SHARED))

    @property
    def dispute(self) -> str:
        """The command that marks both; "" if an entry meets a note or a record, or a note is one of the two."""
        return f"amp dispute {self.first.id} {self.second.id}" if self._is_of_one_kind else ""

    @property
    def _is_of_one_kind(self) -> bool:
        """Whether both are entries, or both are records."""
        return {_kind(self.first), _kind(self.second)} in ({""}, {RECORD})

    @property
    def advice(self) -> str:
        """How it is settled, in words. Which of an entry, a note and a record is older, nobody may know."""
        if not self.dispute:
            return f"remove what is no longer true: `{self.first.retire}` or `{self.second.retire}`"
        is_marked = self.first.is_disputed and self.second.is_disputed
        return self.settles + ("" if is_marked else f", `{self.dispute}` marks both as disputed")

    def in_order_of_age(self, learned: Callable[[Fact], str] = lambda _: "") -> "Meeting":
        """Return it with the older entry first: by their own dates, then by when each was `learned`, else as it is."""
        one, other = self.first, self.second
        if one.day and other.day and one.day != other.day:
            is_younger = one.day > other.day
        else:
            moments = learned(one), learned(other)
            is_younger = all(moments) and moments[0] > moments[1]
        return replace(self, first=other, second=one) if is_younger else self


def meetings(documents: Sequence[Document], outside: Sequence[Outside] = ()) -> list[Meeting]:
    """Return what says the opposite in documents, notes and records, and then what has another value."""
    compared = Compared([placed_in(one) for one in documents], outside)
    pairs = compared.pairs([step() for step in compared.steps])
    return [Meeting(way, compared.facts[one], compared.facts[other]) for one, other, way in pairs]


class Compared:
    """Facts of documents, notes and records that are compared with each other, in steps that may be taken apart.

    `within` are those of each document, in its order; `outside` those of notes and records. A fact is opposed to the
    first one only. Two conversations are not compared: nobody is given both.
    """

    def __init__(self, within: Sequence[Sequence[Placed]], outside: Iterable[Outside] = ()) -> None:
        self.facts: list[Fact] = [*chain.from_iterable(within), *outside]
        self._within = within
        self._texts = [one.text for one in self.facts]
        self.steps: list[Callable[[], Found]] = [
            lambda: self._denied(denials_in_the_same_words),
            lambda: self._denied(denials_in_other_words),
            self._changed,
        ]

    def pairs(self, found: Sequence[Found]) -> Pairs:
        """Return what says the opposite and then what has another value, from what the steps have found."""
        same, other, changed = found
        denied = together(*(starmap(Denial, ((*one, 0) for one in step)) for step in (same, other)))
        first: dict[int, int] = {}
        for denial in denied:
            earlier, later = sorted((denial.denying, denial.said))
            one, another = self.facts[earlier], self.facts[later]
            if _share_topic(one, another, denial.words) and not _left_out(one, another):
                first[later] = min(earlier, first.get(later, earlier))
        opposed = [(earlier, later, OPPOSITE) for later, earlier in sorted(first.items())]
        return opposed + [(one, another, CHANGED) for one, another, _ in changed]

    def _denied(self, find: Callable[[Sequence[str]], Iterable[Denial]]) -> Found:
        return [(one.denying, one.said, one.words) for one in find(self._texts)]

    def _changed(self) -> Found:
        found: Found = []
        start = 0
        for placed in self._within:
            found += [(start + one, start + other, 0) for one, other in changes([_stated(one) for one in placed])]
            start += len(placed)
        told = set()
        for one, other in _between(self.facts, self._texts):
            pair = self.facts[one], self.facts[other]
            ids = tuple(side.id for side in pair)
            if ids not in told and not _left_out(*pair):
                told.add(ids)
                found.append((one, other, 0))
        return found


def nearest(document: Document, nears: Sequence[Near]) -> list[Placed]:
    """Return the entries of a document that a new text may meet: those that share enough words, `MOST` for each text.

    Of more than that, those that share most; one more, as the new text may be in the document.
    """
    every = document.outline.entries
    found: set[int] = set()
    for near in nears:
        shared = []
        for number, entry in enumerate(every):
            bag = entry.bag
            if bag is None:
                placed = Placed(document, entry)
                if not near(placed.text):
                    continue
                bag = gist(placed.text).bag
                entry.bag = None if entry.alone is None else bag
            count = len(near.words & bag)
            if count >= near.enough:
                shared.append((count / max(1, len(bag) + len(near.words) - count), number))
        if len(shared) > MOST + 1:
            shared = nlargest(MOST + 1, shared, key=itemgetter(0))
        found.update(number for _, number in shared)
    return [Placed(document, every[number]) for number in sorted(found)]


def first_meeting(own: Fact, others: Sequence[Fact]) -> Meeting | None:
    """Return the first of some facts that a new one meets, in any way, and the new one as the second.

    Guesses count too: the writer can tell whether it is a change. Those that share no words with it may be left out of
    the `others`; see `text.gist.Near`. Of more than `MOST` that share enough words, those that share most are compared.
    """
    if not (is_claim(own.text) or is_written_in(own.text)):
        return None
    words = gist(own.text).bag
    enough = Near(own.text).enough
    counted = ((one, len(words & gist(one.text).bag)) for one in others)
    shared = [(one, count) for one, count in counted if count >= enough and not _apart(own, one)]
    if len(shared) > MOST:
        share = [count / max(1, len(gist(one.text).bag) + len(words) - count) for one, count in shared]
        most = nlargest(MOST, range(len(shared)), key=share.__getitem__)
        shared = [shared[number] for number in sorted(most)]
    claimed = [one for one, _ in shared if is_claim(one.text) or is_written_in(one.text)]
    opposed = _opposed(own, claimed)
    for number, other in enumerate(claimed):
        if number in opposed:
            return Meeting(OPPOSITE, other, own)
        if same(own.text, other.text) and _share_topic(own, other, len(words)):
            return Meeting(SAME, other, own)
    if len(words) < 2:
        return None  # too few words to say what has changed
    near = [one for one, _ in shared]
    changed = _changed(own, near)
    if changed is not None:
        return Meeting(CHANGED, changed, own)
    old = next((one for one in near if renewed.may_renew(own.text, one.text) and _on_one_topic(own, one)), None)
    if old is not None:
        return Meeting(RENEWED, old, own)
    alike = (
        one
        for one, count in shared
        if count >= nearly.MANY * len(words) and not exclude_each_other(own.topics, one.topics)
    )
    closest = max(alike, key=lambda one: nearly.share(own.text, one.text), default=None)
    return Meeting(ALIKE, closest, own) if closest is not None and nearly.is_near(own.text, closest.text) else None


def _opposed(own: Fact, others: Sequence[Fact]) -> set[int]:
    """Return the places of the facts that deny a new one, or that it denies."""
    # Of two facts that are opposed, one denies something: where the new one does not, only those that do are read.
    any_may = may_deny(own.text) or is_written_in(own.text)
    numbers = [number for number, one in enumerate(others) if any_may or may_deny(one.text)]
    placed = [own, *(others[number] for number in numbers)]
    found = {
        denial.denying + denial.said
        for denial in denials([one.text for one in placed] if numbers else ())
        if 0 in (denial.denying, denial.said)
        and _share_topic(placed[denial.denying], placed[denial.said], denial.words)
    }
    return {numbers[number - 1] for number in found}


def _changed(own: Fact, others: Sequence[Fact]) -> Fact | None:
    """Return the first fact of which a new one has another value, or else perhaps another name."""
    near = _of_its_shape(own, others, shapes, _said)
    found = [*_pairs_within(own, near, changes)]
    near = _of_its_shape(own, others, shapes, lambda one: one.text)
    found += [near[one + other] for one, other in _between(near, [one.text for one in near]) if 0 in (one, other)]
    if not found:
        near = _of_its_shape(own, others, guesses, _said)
        found += _pairs_within(own, near, suspected)
        anywhere = [_stated_anywhere(one) for one in near]
        found += [near[one + other] for one, other in suspected(anywhere) if 0 in (one, other)]
    return found[0] if found else None


def shapes_of(one: Fact) -> frozenset[Hashable]:
    """Return what a fact says but for a value, or what may be one. A fact that has another value shares one of them."""
    return shapes(_said(one)) | shapes(one.text) | guesses(_said(one))


def _of_its_shape(
    own: Fact, others: Sequence[Fact], shapes_of: Callable[[str], frozenset[Hashable]], text_of: Callable[[Fact], str]
) -> list[Fact]:
    """Return a fact with those that have a shape of its own: no other one changes what it has to do with them."""
    own_shapes = shapes_of(text_of(own))
    return [own, *(one for one in others if own_shapes and not own_shapes.isdisjoint(shapes_of(text_of(one))))]


def _pairs_within(
    own: Fact, near: Sequence[Fact], pairs: Callable[[Sequence[Stated]], Iterator[tuple[int, int]]]
) -> Iterator[Fact]:
    """Yield what makes a pair with a new entry of a document, among those of the same document."""
    if isinstance(own, Placed):
        within = [one for one in near if isinstance(one, Placed) and one.document is own.document]
        within.sort(key=lambda one: one.entry.start)
        here = within.index(own)
        found = pairs([_stated(one) for one in within])
        yield from (within[one + other - here] for one, other in found if here in (one, other))


def suspicions(document: Document, *, names: bool = True) -> Iterator[Meeting]:
    """Yield what may have changed in a document: a guess, of names as of short values. See `text.changed.suspected`."""
    placed = placed_in(document)
    for one, other in suspected([_stated(one) for one in placed], names=names):
        yield Meeting(CHANGED, placed[one], placed[other])


def renewals(documents: Sequence[Document]) -> Iterator[Meeting]:
    """Yield the entries of which one may be out of date: guesses, which a person has to look at."""
    placed = [one for document in documents for one in placed_in(document)]
    for old, new in renewed.pairs([one.text for one in placed]):
        one, other = placed[old], placed[new]
        # What a conversation tells of its work renews nothing that lasts.
        is_told = one.target.tier.lasts == other.target.tier.lasts
        if is_told and not _apart(one, other) and _on_one_topic(one, other):
            yield Meeting(RENEWED, one, other)


def rivals(document: Document) -> Iterator[list[int]]:
    """Yield the places of entries that cannot all hold: of opposites, and of what differs, or may, in one value only.

    Guesses count too, and so do three values in a row: ask before something goes that may have replaced another.
    """
    place = {id(one): number for number, one in enumerate(document.outline.entries)}
    for group in chain(((one.first, one.second) for one in meetings([document])), of_one_shape(document)):
        yield [place[id(one.entry)] for one in group if isinstance(one, Placed)]


def of_one_shape(document: Document) -> Iterator[list[Placed]]:
    """Yield the entries, a few each time, that are governed by the same and differ, or may, in one value only."""
    of_shape: dict[tuple[Hashable, Hashable], list[Placed]] = {}
    for one in placed_in(document):
        for shape in shapes(_said(one)) | guesses(_said(one)):
            of_shape.setdefault((shape, _stated(one).governed_by), []).append(one)
    for alike in of_shape.values():
        if 1 < len(alike) <= MOST_VALUES and any(starmap(may_differ, pairwise(alike))):
            yield alike


def may_differ(one: Placed, other: Placed) -> bool:
    """Say whether two entries differ, or may, in one value only."""
    stated = [_stated(one), _stated(other)]
    return any(chain(changes(stated), suspected(stated)))


def _between(placed: Sequence[Fact], texts: Sequence[str]) -> Iterator[tuple[int, int]]:
    """Yield the places of facts of two sources of which one has another value; what has no value is not looked at."""
    valued = [number for number, text in enumerate(texts) if may_hold_value(text)]
    sourced = [Sourced(texts[number], placed[number].path, tuple(placed[number].topics)) for number in valued]
    return ((valued[one], valued[other]) for one, other in changes_between(sourced))


def _said(one: Fact) -> str:
    return one.text if isinstance(one, Outside) else unsigned(one.alone)


def _stated(one: Placed) -> Stated:
    return Stated(_said(one), (one.entry.headings, labels.key(one.document.label(one.entry))), one.day)


def _stated_anywhere(one: Fact) -> Stated:
    """Return a fact to be compared with those of other documents, which have other headings of the same names."""
    label = "" if isinstance(one, Outside) else one.document.label(one.entry)
    return Stated(_said(one), (tuple(one.topics), labels.key(label)))


def _share_topic(one: Fact, other: Fact, words: int) -> bool:
    """Say whether two facts may be about the same thing: under the same headings, or in enough words of their own.

    What is under headings that exclude each other is about two things.
    """
    is_same = [*one.topics] == [*other.topics]
    return is_same or (words >= OWN_SUBJECT and not exclude_each_other(one.topics, other.topics))


def _on_one_topic(one: Fact, other: Fact) -> bool:
    """Say whether two facts are under headings of the same names, or one is under none."""
    return [*one.topics] == [*other.topics] or not (one.topics and other.topics)


def placed_in(document: Document) -> list[Placed]:
    """Return the entries of a document that are compared: all but footnotes, which go with what refers to them."""
    return [Placed(document, entry) for entry in document.outline.entries if not document.is_footnote(entry)]


def _kind(one: Fact) -> str:
    return one.kind if isinstance(one, Outside) else ""


def _apart(one: Fact, other: Fact) -> bool:
    """Say whether two facts are not compared: they are one, or in two conversations, or in one note."""
    if isinstance(one, Placed) and isinstance(other, Placed) and one.document is other.document:
        return one.entry is other.entry
    if isinstance(one, Outside) and isinstance(other, Outside):
        return one.path == other.path
    return in_two_conversations(one.target, other.target)


def in_two_conversations(one: Target, other: Target) -> bool:
    """Say whether two documents are of two conversations: nobody is given both."""
    return not one.tier.lasts and not other.tier.lasts and one != other


def _left_out(one: Fact, other: Fact) -> bool:
    """Say whether two facts are not compared where all are: consolidation compares records with each other."""
    return _kind(one) == _kind(other) == RECORD or _apart(one, other)

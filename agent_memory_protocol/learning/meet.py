"""What new facts meet among the documents, notes and records of a project: where that is looked for, and its remark."""

import re
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress

from ..change.opening import open_session
from ..change.session import Session
from ..errors import AgentMemoryError
from ..layout import RECORDS, Target, Tier
from ..notes import store
from ..notes.note import Note
from ..project.access import Actor
from ..secrets.mask import beginning
from ..text.alike import denials
from ..text.gist import Near, gist
from ..tiers import document as documents
from ..tiers.document import Document, section_key
from ..tiers.meet import (
    ALIKE,
    CHANGED,
    NOTE,
    OPPOSITE,
    RECORD,
    RENEWED,
    SAME,
    Fact,
    Meeting,
    Outside,
    Placed,
    first_meeting,
    nearest,
    placed_in,
    shapes_of,
)
from . import route
from .route_words import STATE

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ..records.record import Record

_SAID = {
    SAME: "says the same",
    OPPOSITE: "says the opposite",
    CHANGED: "has another value",
    RENEWED: "may be out of date",
    ALIKE: "uses much the same words",
}
_PLAIN_LINE = re.compile(r"[A-Za-z][^(\[\]<>\\|\r\n]*[^(\[\]<>\\|\r\n\s:]")
"""A line in which nothing can be a mark, a date, a link, a comment or the label of a list."""

_SHOWN = 120  # Characters of a fact in a remark

MOST_NEW = 5  # So many new facts of one write are compared with the others; `amp check` compares all

_MOST_READ = 300  # So many documents that have words of a new fact are read for it: who writes waits for the answer


class Beside:
    """The facts of a project's documents and notes that may meet new ones: those that share enough words with one.

    What the actor cannot read is told elsewhere; `unread` says in words what was not looked at.
    """

    def __init__(self, session: Session, texts: Iterable[str], besides: Document | None = None) -> None:
        self._session = session
        self._nears = [Near(text) for text in texts]
        self._read = 0
        self.facts: list[Fact] = []
        self.unread = ""
        lasting = [one for one in session.readable() if one.tier.lasts]
        places = [*dict.fromkeys([Target(Tier.SHARED), *lasting])]
        if besides is not None:
            self.facts += nearest(besides, self._nears)
        for number, target in enumerate(places):
            if self._read == _MOST_READ:
                self.unread = f"looked at {number:,} of {len(places):,} documents; `amp check` compares all of them"
                break
            if target in lasting and (besides is None or target != besides.target):
                self.facts += self._entries(target)
            self.facts += self._notes(target) if session.may_read(target) else ()

    def _near(self, text: str) -> bool:
        for near in self._nears:  # noqa: SIM110  (asked of every entry, and this takes a third of the time of any())
            if near(text):
                return True
        return False

    def _entries(self, target: Target) -> Iterator[Fact]:
        with suppress(AgentMemoryError):
            content = self._session.root.read(target.parts)
            if content is not None and self._near(content.data.decode("utf-8", "replace")):
                self._read += 1
                other = self._session.read(target)
                yield from nearest(other, self._nears) if other is not None else ()

    def _notes(self, target: Target) -> Iterator[Fact]:
        for _, note, text in read_notes(self._session, [target]):
            if self._near(text):
                yield from of_notes(target, [note])


class Lasting:
    """The facts of a project's lasting documents and notes, by what a newer value or a denial shares with each.

    It reads all of them once, so that many facts can be compared with them.
    """

    def __init__(self, session: Session) -> None:
        self._denied: dict[str, set[str]] = {}
        self._by_shape: dict[Hashable, list[Fact]] = {}
        self._by_text: dict[str, list[Fact]] = {}
        for one in self._read(session):
            self._by_text.setdefault(one.text, []).append(one)
            for shape in shapes_of(one):
                self._by_shape.setdefault(shape, []).append(one)
        texts = [*self._by_text]
        for denial in denials(texts):
            denying, said = texts[denial.denying], texts[denial.said]
            self._denied.setdefault(denying, set()).add(said)
            self._denied.setdefault(said, set()).add(denying)

    @staticmethod
    def _read(session: Session) -> Iterator[Fact]:
        for target in session.readable():
            if target.tier.lasts:
                with suppress(AgentMemoryError):
                    found = session.read(target)
                    yield from placed_in(found) if found is not None else ()
                yield from of_notes(target, (note for _, note, _ in read_notes(session, [target])))

    def beside(self, one: Fact) -> list[Fact]:
        """Return the facts of other documents and notes that may have another value than this one, or deny it."""
        found = {id(other): other for shape in shapes_of(one) for other in self._by_shape.get(shape, ())}
        for text in self._denied.get(one.text, ()):
            found |= {id(other): other for other in self._by_text[text]}
        return [other for other in found.values() if other.path != one.path]


def met_by(facts: Sequence[Fact], others: Sequence[Fact], home: Target | None = None) -> Iterator[str]:
    """Say of each new fact which other it meets first; nothing where it meets none."""
    for one in facts:
        met = first_meeting(one, others)
        if met is not None:
            yield _told(met, home)


def true_only_now(facts: Iterable[Fact]) -> Iterator[str]:
    """Say of each fact without a date and an end that it is true only now, where it surely is."""
    for one in facts:
        ends = bool(one.day) if isinstance(one, Outside) else (one.entry.day or one.entry.marks.until) is not None
        found = route.misplaced(one.text, one.target.tier, is_dated=ends)
        if found is not None and found.place == STATE:
            yield f"“{beginning(one.text, _SHOWN)}”: {route.doubt(found)} (`{one.retire}` takes it out here)"


def met_by_records(
    new: Sequence["Record"], others: Iterable["Record"], project: tuple[str, Mapping[str, str], Actor] | None
) -> Iterator[str]:
    """Say of each record which other fact it meets first; `project` is the root, environment and actor of theirs."""
    facts = [*of_records(new)][:MOST_NEW]
    if not facts:
        return
    yield from true_only_now(facts)
    around: list[Fact] = [*of_records(others)]
    unread = ""
    if project is not None:
        with suppress(AgentMemoryError), open_session(*project) as session:
            beside = Beside(session, [one.text for one in facts])
            around, unread = [*beside.facts, *around], beside.unread
    yield from met_by(facts, around)
    if unread:
        yield unread


def _told(met: Meeting, home: Target | None) -> str:
    """Say of a new fact, the second of a meeting, which other it meets, and the command that settles it."""
    first = met.first
    if isinstance(first, Placed):
        other = first.id if first.target == home else f"{first.id} in {first.path}"
    else:
        other = f"the record {first.id}" if first.kind == RECORD else f"the note {first.path}"
    told = f"{other} {_SAID[met.way]}: “{beginning(first.text, _SHOWN)}”"
    if met.way == SAME and isinstance(first, Outside) and first.kind == NOTE and _beside_it(first, met.second):
        merge = f"amp note merge {met.second.id} --into {first.id} {first.target.option}"
        return f"{told}; `{merge}` makes one of them"
    if met.way in (SAME, ALIKE):
        keep = "keep one" if met.way == SAME else "if both say the same, keep one"
        first_says = gist(first.text).bag
        if met.dispute and first.target == met.second.target and first_says < gist(met.second.text).bag:
            return f"{told}; this one says more (`{met.resolve}` keeps it alone)"
        return f"{told}; {keep} (`{met.second.retire}` removes this one)"
    # What comes in from elsewhere may be older than what is here.
    met = met.in_order_of_age(lambda one: one.learned if isinstance(one, Outside) else "")
    if not met.dispute:
        return f"{told}; {met.advice}"
    return f"{told}; {met.settles}, or `{met.dispute}` marks both as disputed"


def _beside_it(one: Outside, other: Fact) -> bool:
    """Say whether another fact is in a note of the same folder."""
    return isinstance(other, Outside) and other.kind == NOTE and other.target == one.target


def of_notes(target: Target, notes: Iterable[Note]) -> Iterator[Outside]:
    """Yield what the notes beside a document say: their description, and each entry of what is before the Why."""
    agent = f" --agent {target.owner}" if target.tier is Tier.AGENT else ""
    for one in notes:
        texts = [one.head.description, *_said(one.fact, target)]
        path = "/".join((*target.parts[:-1], one.file))
        for text in dict.fromkeys(filter(None, texts)):
            yield Outside(NOTE, one.file, target, path, text, f"amp note remove {one.file}{agent}")


def _said(fact: str, target: Target) -> list[str]:
    """Return what each entry of a note's fact says. Mostly it is one plain line, and that is one entry."""
    if _PLAIN_LINE.fullmatch(fact) and fact.isprintable():
        return [fact]
    page = documents.read_whole(fact.encode(), target)  # to keep it would let go of the document itself
    return [*map(page.alone, page.outline.entries)]


def of_records(records: Iterable["Record"]) -> Iterator[Outside]:
    """Yield what records say that hold now: facts, procedures and rules; of events, two may both have happened."""
    from ..formats.record_entries import IMPORT
    from ..records.record import LIVE, RecordType

    path = "/".join(RECORDS)
    for one in records:
        if one.state in LIVE and not one.redacted and one.type is not RecordType.EPISODE:
            yield Outside(
                RECORD,
                one.id,
                Target(Tier.SHARED),
                f"{path}/{one.id.removeprefix('mem:')}",
                one.body,
                f"amp record archive {one.id}",
                one.created_at.isoformat(),
                # Of what was imported, these are the headings that it was under.
                [section_key(tag) for tag in one.tags] if one.provenance.kind == IMPORT else (),
                is_disputed=one.transition is not None,
            )


def read_notes(session: Session, targets: Iterable[Target]) -> Iterator[tuple[Target, Note, str]]:
    """Yield the notes beside documents, each with its text; what cannot be read is told elsewhere."""
    for target in targets:
        folder = target.parts[:-1]
        with suppress(AgentMemoryError):
            for name in store.list_names(session.root, folder, target.parts[-1]) if target.tier.has_notes else ():
                with suppress(AgentMemoryError):
                    read = store.read(session.root, folder, name)
                    if read is not None:
                        yield target, *read

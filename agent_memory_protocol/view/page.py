"""What a page shows: the answers that a workspace gives one reader, each put at the place where it belongs.

No rule is here. What a reader may not see is in none of these answers.
"""

import os
import sys
import traceback
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import field
from datetime import date, timedelta
from hashlib import sha256
from itertools import groupby
from typing import TypeVar

from ..answers import NoteRow, Status, StoredEntry
from ..errors import AgentMemoryError
from ..layout import Target
from ..lint.finding import Finding
from ..project.access import Actor
from ..recall.block import Recall
from ..records.record import Record
from ..text.visible import show_invisible
from ..values import dataclass
from ..verbs.review import Item
from ..verbs.upkeep_answers import Restorable
from ..workspace import Workspace

Answer = TypeVar("Answer")
Key = TypeVar("Key")
MOST_JUDGED = 5_000
"""With more entries a file leaves out what check and review say: they compare all with all, which takes long."""
_MONTH = timedelta(days=30)
_COLUMNS = 400  # So many stripes a bar has at most, however many lines its document has


@dataclass(frozen=True, slots=True)
class Glance:
    """A document at a glance: its figures and its bar."""

    status: Status
    # the first line, the number of lines and the age of each stretch of the bar
    bands: tuple[tuple[int, int, str], ...] = ()
    # with `expiring` and `expired`: how many of its entries are disputed, hold for 30 days more or fewer, or no more
    disputed: int = 0
    expiring: int = 0
    expired: int = 0

    @property
    def target(self) -> Target:
        """The document."""
        return self.status.target

    @property
    def stripes(self) -> dict[str, str]:
        """The bands of each age as the one path that an SVG draws them with, a bar of ten high."""
        ages = grouped(self.bands, lambda band: band[2])
        return {
            age: "".join(f"M{first} 0h{lines}v10h-{lines}z" for first, lines, _ in own) for age, own in ages.items()
        }


@dataclass(frozen=True, slots=True)
class Card:
    """An entry, and what is said of it elsewhere."""

    entry: StoredEntry
    age: str  # `lasting` for an undated one, `fresh`, `aged`, `old` where it could be pruned, or `expired`
    is_left_out: bool = False  # whether recall leaves it out
    against: tuple[StoredEntry, ...] = ()
    findings: tuple[Finding, ...] = ()  # what `amp check` says of its lines
    items: tuple[Item, ...] = ()
    # what was counted of it (`Workspace.usage`); empty where nothing is counted
    use: Mapping[str, int | str] = field(default_factory=dict)

    @property
    def anchor(self) -> str:
        """Its place on the page."""
        return f"e-{self.entry.id}"


@dataclass(frozen=True, slots=True)
class Leaf:
    """A note: its place on the page, its row and its text, None if it cannot be read; and what is said of it."""

    anchor: str
    row: NoteRow
    text: str | None
    findings: tuple[Finding, ...] = ()
    items: tuple[Item, ...] = ()


@dataclass(frozen=True, slots=True)
class DocumentPart:
    """A document with its entries in the order of the file, the notes in its folder, and what is said of it whole."""

    anchor: str
    glance: Glance
    cards: tuple[Card, ...]
    notes: tuple[Leaf, ...]
    findings: tuple[Finding, ...]

    @property
    def target(self) -> Target:
        """The document."""
        return self.glance.target

    @property
    def left_out(self) -> int:
        """How many of its entries recall leaves out."""
        return sum(card.is_left_out for card in self.cards)

    @property
    def chapters(self) -> list[tuple[str, list[Card]]]:
        """Its entries under the heading above them, in the order of the file."""
        return [(section, [*cards]) for section, cards in groupby(self.cards, lambda card: card.entry.place)]

    @property
    def places(self) -> dict[str, str]:
        """The anchor of each note by its file."""
        return {note.row.file: note.anchor for note in self.notes}


@dataclass(frozen=True, slots=True)
class Said:
    """What is said of documents, entries and notes beside what they say: findings by file, proposals by id or file."""

    findings: Mapping[str, Sequence[Finding]] = field(default_factory=dict)
    items: Mapping[str, Sequence[Item]] = field(default_factory=dict)
    use: Mapping[str, Mapping[str, int | str]] = field(default_factory=dict)

    @classmethod
    def of(
        cls,
        findings: Iterable[Finding] = (),
        items: Iterable[Item] = (),
        usage: Iterable[tuple[Target, str, str, Mapping[str, int | str]]] = (),
    ) -> "Said":
        """Sort it by what it is about."""
        by_name: dict[str, list[Item]] = {}
        for item in items:
            for name in dict.fromkeys(text.name for text in item.texts):
                by_name.setdefault(name, []).append(item)
        return cls(
            grouped(findings, lambda one: one.path),
            by_name,
            {f"{target} {name}": counts for target, name, _, counts in usage if counts},
        )


@dataclass(frozen=True, slots=True)
class MemoryPage:
    """All that is shown to one reader on one day. Without `is_judged` nobody has asked check and review."""

    project: str
    reader: Actor
    today: date
    max_lines: int
    parts: tuple[DocumentPart, ...]
    recall: Recall | None
    gone: tuple[Restorable, ...]
    findings: tuple[Finding, ...]
    items: tuple[Item, ...]
    records: tuple[Record, ...]
    problems: tuple[str, ...]
    is_judged: bool = True
    most_judged: int = MOST_JUDGED

    @property
    def anchors(self) -> dict[str, str]:
        """The place of each entry on the page, by its id."""
        return {card.entry.id: card.anchor for part in self.parts for card in part.cards}


def tell_failure(error: Exception, what: str) -> str:
    """Say in one line on the terminal that something went wrong here, and return what a person reads on the page."""
    last = traceback.extract_tb(error.__traceback__)[-1:]
    place = "".join(f" ({os.path.basename(frame.filename)}:{frame.lineno})" for frame in last)
    said = " ".join(f"{type(error).__name__}: {error}".split())[:300]
    sys.stderr.write(show_invisible(f"amp: view: {what}: {said}{place}") + "\n")
    return f"This could not be shown, which is a fault of amp: {said}."


@dataclass
class Asking:
    """Asks a workspace one question after another; what cannot be answered is told on the page."""

    here: Workspace
    actor: Actor
    today: date
    problems: list[str] = field(default_factory=list)

    def ask(self, question: Callable[[], Sequence[Answer]]) -> Sequence[Answer]:
        """Return the answer; none, and a problem on the page, where there cannot be one."""
        try:
            return question()
        except AgentMemoryError as error:
            self.problems.append(str(error))
        except Exception as error:  # noqa: BLE001 the rest of the page is shown all the same
            self.problems.append(tell_failure(error, "a part of the page"))
        return ()

    def one(self, question: Callable[[], Answer]) -> Answer | None:
        """Return the one answer; None, and a problem on the page, where there cannot be one."""
        return next(iter(self.ask(lambda: [question()])), None)

    def tell(self, _: object, problem: str) -> None:
        """Take in a problem."""
        self.problems.append(problem)

    def glances(self) -> list[Glance]:
        """Return all documents at a glance."""
        entries = grouped(self.here.entries(self.actor, on_problem=self.tell), lambda one: one.target)
        old = self.old
        return [glance(one, entries.get(one.target, []), self.today, old) for one in self.here.status(self.actor)]

    @property
    def old(self) -> timedelta:
        """From which age on a dated entry could be pruned."""
        return timedelta(days=self.here.settings.older_than)

    def left_out(self, target: Target) -> set[int]:
        """Return the lines of a document that recall leaves out."""
        return {line for line, _ in self.ask(lambda: self.here.left_out(target, self.actor, today=self.today) or ())}

    def part(
        self,
        seen: Glance,
        entries: Sequence[StoredEntry],
        notes: Sequence[NoteRow],
        said: Said,
        left_out: set[int],
        *,
        number: int = 1,
        by_id: Mapping[str, StoredEntry] | None = None,
    ) -> DocumentPart:
        """Return a document with these of its entries and notes; `by_id` has those that a dispute may name."""
        target, old = seen.target, self.old
        about, sides = said.findings.get(target.path, ()), by_id or {}
        row = {entry.id: place for place, entry in enumerate(entries)}
        cards = tuple(
            Card(
                entry,
                _age(entry, self.today, old),
                entry.line in left_out,
                # Of a dispute on one page the upper card shows both sides.
                tuple(sides[one] for one in entry.about.disputed_with if one in sides and row.get(one, at) >= at),
                tuple(one for one in about if one.line and entry.line <= one.line <= entry.last_line),
                # That it has no date is seen by its colour.
                tuple(one for one in said.items.get(entry.id, ()) if one.kind != "undated"),
                said.use.get(f"{target} {entry.id}", {}),
            )
            for at, entry in enumerate(entries)
        )
        folder = target.path.rpartition("/")[0]
        leaves = tuple(
            Leaf(
                f"d{number}-n{place}",
                row,
                self._text_of(row),
                tuple(said.findings.get(f"{folder}/{row.file}", ())),
                tuple(one for one in said.items.get(row.file, ()) if any(text.target == target for text in one.texts)),
            )
            for place, row in enumerate(notes, 1)
        )
        shown = {id(one) for card in cards for one in card.findings}
        return DocumentPart(f"d{number}", seen, cards, leaves, tuple(one for one in about if id(one) not in shown))

    def _text_of(self, row: NoteRow) -> str | None:
        if not row.file:
            return None
        return self.one(lambda: self.here.read_file(row.target, note=row.file, actor=self.actor))


def gather(
    here: Workspace,
    actor: Actor,
    today: date,
    records: Callable[[], Sequence[Record]] = tuple,
    *,
    most_judged: int = MOST_JUDGED,
) -> MemoryPage:
    """Ask for everything that this reader may see; check and review only if there are at most so many entries."""
    asking = Asking(here, actor, today)
    settings = here.settings
    entries = here.entries(actor, on_problem=asking.tell)
    notes = asking.ask(lambda: here.notes(actor))
    is_judged = len(entries) <= most_judged
    findings = asking.ask(lambda: here.check(actor=actor, today=today)) if is_judged else ()
    items = asking.ask(lambda: here.review(actor=actor, today=today, on_problem=asking.tell)) if is_judged else ()
    said = Said.of(findings, items, asking.ask(lambda: here.usage(actor)) if settings.count else ())
    by_id = {entry.id: entry for entry in entries}
    in_document = grouped(entries, lambda one: one.target)
    beside = grouped(notes, lambda one: one.target)
    parts = []
    for number, status in enumerate(here.status(actor), 1):
        own = in_document.get(status.target, [])
        left_out = set() if status.problem else asking.left_out(status.target)
        seen = glance(status, own, today, asking.old)
        parts.append(asking.part(seen, own, beside.get(status.target, []), said, left_out, number=number, by_id=by_id))
    gone = asking.ask(lambda: here.restorable(actor=actor))
    kept = asking.ask(records)
    recalled = asking.one(lambda: here.recall(actor, today=today, counts=False))
    warnings = recalled.warnings if recalled else ()
    problems = dict.fromkeys([*asking.problems, *warnings, *(one.problem for one in notes if one.problem)])
    return MemoryPage(
        here.path.name,
        actor,
        today,
        settings.max_lines,
        tuple(parts),
        recalled,
        tuple(reversed(gone)),
        tuple(findings),
        tuple(items),
        tuple(kept),
        tuple(problems),
        is_judged,
        most_judged,
    )


def glance(status: Status, entries: Sequence[StoredEntry], today: date, old: timedelta) -> Glance:
    """Return a document at a glance; `old` is the age from which a dated entry could be pruned."""
    return Glance(
        status,
        tuple(_bands([(entry, _age(entry, today, old)) for entry in entries], status.lines)),
        sum(entry.disputed for entry in entries),
        sum(entry.until is not None and today <= entry.until <= today + _MONTH for entry in entries),
        sum(entry.is_expired(today) for entry in entries),
    )


def mark_of(entry: StoredEntry) -> str:
    """Return what tells the text of an entry, with its marks, from any other."""
    return sha256(entry.text.encode("utf-8", "surrogateescape")).hexdigest()[:16]


def grouped(values: Iterable[Answer], by: Callable[[Answer], Key]) -> dict[Key, list[Answer]]:
    """Return values by what they have in common, in their order."""
    groups: dict[Key, list[Answer]] = {}
    for value in values:
        groups.setdefault(by(value), []).append(value)
    return groups


def _age(entry: StoredEntry, today: date, old: timedelta) -> str:
    if entry.is_expired(today):
        return "expired"
    if entry.date is None:
        return "lasting"
    age = today - entry.date
    return "fresh" if age <= _MONTH else "old" if age > old and not entry.keep else "aged"


def _bands(entries: Sequence[tuple[StoredEntry, str]], lines: int) -> list[tuple[int, int, str]]:
    """Return the stretches of a bar: neighbours of one age are one, and so is what shares a column of it."""
    wide = max(1, -(-lines // _COLUMNS))
    bands: list[tuple[int, int, str]] = []
    for entry, age in entries:
        first = (entry.line - 1) // wide * wide
        last = -(-entry.last_line // wide) * wide
        if bands and bands[-1][0] + bands[-1][1] > first:
            first = bands[-1][0] + bands[-1][1]
        if first >= last:
            continue
        if bands and bands[-1][2] == age and bands[-1][0] + bands[-1][1] == first:
            bands[-1] = (bands[-1][0], last - bands[-1][0], age)
        else:
            bands.append((first, last - first, age))
    return bands

"""What a page shows: the answers that a workspace gives one reader, each put at the place where it belongs.

No rule is here. What a reader may not see is in none of these answers.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from datetime import date, timedelta
from itertools import groupby
from typing import TypeVar

from ..answers import NoteRow, Status, StoredEntry
from ..errors import AgentMemoryError
from ..layout import Target
from ..lint.finding import Finding
from ..project.access import Actor
from ..recall.block import Recall
from ..records.record import Record
from ..verbs.review import Item
from ..verbs.upkeep_answers import Restorable
from ..workspace import Workspace

Answer = TypeVar("Answer")
Key = TypeVar("Key")
_MONTH = timedelta(days=30)


@dataclass(frozen=True, slots=True)
class Card:
    """An entry, and what is said of it elsewhere.

    Attributes:
        anchor: its place on the page.
        age: `lasting` for an undated one, `fresh`, `aged`, `old` where it could be pruned, or `expired`.
        is_left_out: whether recall leaves it out.
        against: the entries it is disputed with that this reader may read.
        findings: what `amp check` says of its lines.
    """

    anchor: str
    entry: StoredEntry
    age: str
    is_left_out: bool
    against: tuple[StoredEntry, ...]
    findings: tuple[Finding, ...]


@dataclass(frozen=True, slots=True)
class Leaf:
    """A note: its place on the page, its row and its text; None where it cannot be read."""

    anchor: str
    row: NoteRow
    text: str | None


@dataclass(frozen=True, slots=True)
class DocumentPart:
    """A document with its entries in the order of the file, the notes in its folder, and how its bar is coloured.

    Attributes:
        bands: the first line, the number of lines and the age of each stretch of the bar.
        expiring: how many entries hold for 30 days more, or fewer.
    """

    anchor: str
    status: Status
    cards: tuple[Card, ...]
    notes: tuple[Leaf, ...]
    findings: tuple[Finding, ...]
    bands: tuple[tuple[int, int, str], ...]
    expiring: int

    @property
    def target(self) -> Target:
        """The document."""
        return self.status.target

    @property
    def disputed(self) -> int:
        """How many of its entries are disputed."""
        return sum(card.entry.disputed for card in self.cards)

    @property
    def left_out(self) -> int:
        """How many of its entries recall leaves out."""
        return sum(card.is_left_out for card in self.cards)

    @property
    def chapters(self) -> list[tuple[str, list[Card]]]:
        """Its entries under the heading above them, in the order of the file."""
        return [(section, [*cards]) for section, cards in groupby(self.cards, lambda card: card.entry.section)]

    @property
    def places(self) -> dict[str, str]:
        """The anchor of each note by its file."""
        return {note.row.file: note.anchor for note in self.notes}


@dataclass(frozen=True, slots=True)
class MemoryPage:
    """All that is shown to one reader on one day."""

    project: str
    reader: Actor
    today: date
    max_lines: int
    parts: tuple[DocumentPart, ...]
    recall: Recall
    gone: tuple[Restorable, ...]
    findings: tuple[Finding, ...]
    items: tuple[Item, ...]
    records: tuple[Record, ...]
    problems: tuple[str, ...]
    task: str = ""
    max_chars: int | None = None

    @property
    def anchors(self) -> dict[str, str]:
        """The place of each entry on the page, by its id."""
        return {card.entry.id: card.anchor for part in self.parts for card in part.cards}


@dataclass
class _Asking:
    """Asks a workspace one question after another; what cannot be answered is told on the page."""

    here: Workspace
    actor: Actor
    today: date
    problems: list[str] = field(default_factory=list)

    def ask(self, question: Callable[[], Sequence[Answer]]) -> Sequence[Answer]:
        try:
            return question()
        except AgentMemoryError as error:
            self.problems.append(str(error))
            return ()

    def left_out(self, target: Target) -> set[int]:
        return {line for line, _ in self.ask(lambda: self.here.left_out(target, self.actor, today=self.today) or ())}

    def tell(self, _: object, problem: str) -> None:
        self.problems.append(problem)


def gather(
    here: Workspace,
    actor: Actor,
    today: date,
    records: Sequence[Record] = (),
    *,
    task: str = "",
    max_chars: int | None = None,
) -> MemoryPage:
    """Ask for everything that this reader may see, and for what recall gives within `max_chars` for a task.

    Raises:
        StorageError: the settings or the folders cannot be read. A single document that cannot be is told on the page.
    """
    asking = _Asking(here, actor, today)
    settings = here.settings
    old = timedelta(days=settings.older_than)
    entries = here.entries(actor, on_problem=asking.tell)
    notes = asking.ask(lambda: here.notes(actor))
    findings = asking.ask(lambda: here.check(actor=actor, today=today))
    by_id = {entry.id: entry for entry in entries}
    in_document = _grouped(entries, lambda one: one.target)
    in_file = _grouped(findings, lambda one: one.path)
    beside = _grouped(notes, lambda one: one.target)
    parts = []
    for number, status in enumerate(here.status(actor), 1):
        target = status.target
        own = in_document.get(target, [])
        about = in_file.get(target.path, [])
        left_out = set() if status.problem else asking.left_out(target)
        cards = tuple(
            Card(
                f"d{number}-e{place}",
                entry,
                _age(entry, today, old),
                entry.line in left_out,
                tuple(by_id[one] for one in entry.about.disputed_with if one in by_id),
                tuple(one for one in about if one.line and entry.line <= one.line <= entry.last_line),
            )
            for place, entry in enumerate(own, 1)
        )
        leaves = tuple(
            Leaf(f"d{number}-n{place}", row, _text_of(asking, row))
            for place, row in enumerate(beside.get(target, []), 1)
        )
        shown = {id(one) for card in cards for one in card.findings}
        parts.append(
            DocumentPart(
                f"d{number}",
                status,
                cards,
                leaves,
                tuple(one for one in about if id(one) not in shown),
                tuple(_bands(cards)),
                sum(entry.until is not None and today <= entry.until <= today + _MONTH for entry in own),
            )
        )
    gone_for_now = asking.ask(lambda: here.restorable(actor=actor))
    items = asking.ask(lambda: here.review(actor=actor, today=today, on_problem=asking.tell))
    recalled = here.recall(actor, today=today, task=task or None, max_chars=max_chars)
    problems = dict.fromkeys([*asking.problems, *recalled.warnings, *(one.problem for one in notes if one.problem)])
    return MemoryPage(
        here.path.name,
        actor,
        today,
        settings.max_lines,
        tuple(parts),
        recalled,
        tuple(reversed(gone_for_now)),
        tuple(findings),
        tuple(items),
        tuple(records),
        tuple(problems),
        task,
        max_chars,
    )


def _grouped(values: Iterable[Answer], by: Callable[[Answer], Key]) -> dict[Key, list[Answer]]:
    groups: dict[Key, list[Answer]] = {}
    for value in values:
        groups.setdefault(by(value), []).append(value)
    return groups


def _text_of(asking: _Asking, row: NoteRow) -> str | None:
    if not row.file:
        return None
    found = asking.ask(lambda: [asking.here.read_file(row.target, note=row.file, actor=asking.actor)])
    return found[0] if found else None


def _age(entry: StoredEntry, today: date, old: timedelta) -> str:
    if entry.is_expired(today):
        return "expired"
    if entry.date is None:
        return "lasting"
    age = today - entry.date
    return "fresh" if age <= _MONTH else "old" if age > old and not entry.keep else "aged"


def _bands(cards: Sequence[Card]) -> list[tuple[int, int, str]]:
    """Return the stretches of a bar: neighbours of one age are one."""
    bands: list[tuple[int, int, str]] = []
    for card in cards:
        first, last = card.entry.line - 1, card.entry.last_line
        if bands and bands[-1][2] == card.age and bands[-1][0] + bands[-1][1] == first:
            bands[-1] = (bands[-1][0], last - bands[-1][0], card.age)
        else:
            bands.append((first, last - first, card.age))
    return bands

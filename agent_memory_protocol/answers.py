"""What a workspace answers: frozen values that every surface prints in its own way."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date
from math import ceil, floor
from pathlib import Path
from typing import TYPE_CHECKING

from . import limits
from .layout import Target

if TYPE_CHECKING:
    from .ledger import Archived
    from .tiers.prune import Judged, Plan


@dataclass(frozen=True, slots=True)
class Headroom:
    """How much more a document holds: lines and bytes left, and the limits they are left of."""

    lines: int
    bytes: int
    max_lines: int
    max_bytes: int

    @property
    def is_near(self) -> bool:
        """Whether 90 % of a limit are used (decision 13)."""
        # Divided, not multiplied: then exactly 90 % is 0.9 to the computer too.
        used = ((self.max_lines - self.lines) / self.max_lines, (self.max_bytes - self.bytes) / self.max_bytes)
        return max(used) >= limits.NEAR

    @property
    def warning(self) -> str:
        """What to warn of: `nearly full`, `over its limit`, or nothing."""
        if min(self.lines, self.bytes) < 0:
            return "over its limit"
        return "nearly full" if self.is_near else ""


@dataclass(frozen=True, slots=True)
class Found:
    """An entry or a note that matches a query.

    Attributes:
        kind: `entry` or `note`.
        target: the document it stands in, or beside.
        id: the id of the entry, or the file name of the note.
        path: the file it stands in.
        line: where it begins in it, from 1.
        text: the entry's Markdown, or what the note is about.
        score: above 0 and at most 1, which the best of an answer has.
        reasons: why it was found.
    """

    kind: str
    target: Target
    id: str
    path: Path
    line: int
    text: str
    score: float
    reasons: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class StoredEntry:
    """An entry as it stands in its document.

    Attributes:
        id: 12 hex digits, the same wherever the entry stands and whatever date it has.
        target: the document.
        text: its Markdown, lines joined with newlines.
        section: the heading it stands under.
        date: the day it is dated with, its own or a heading's; None for a lasting entry.
        line, last_line: where it stands, counted from 1.
    """

    id: str
    target: Target
    text: str
    section: str
    date: date | None
    date_source: str
    line: int
    last_line: int


@dataclass(frozen=True, slots=True)
class Remembered:
    """What `remember` did.

    Attributes:
        status: `added`, `kept` (the entry was there already, nothing changed) or `redated`.
        entry: the entry as it stands now.
        path: the document's file.
        line: where the entry begins in it, counted from 1.
        headroom: what is left in the document.
        notes: what the writer should know: a section that was created, one of two with the same name.
    """

    status: str
    entry: StoredEntry
    path: Path
    line: int
    headroom: Headroom
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Created:
    """A tier document that `init` made, or found there already."""

    target: Target
    path: Path
    created: bool


@dataclass(frozen=True, slots=True)
class Status:
    """One document at a glance. Where it cannot be read, `problem` says why and the figures are 0."""

    target: Target
    path: Path
    lines: int = 0
    bytes: int = 0
    tokens: int = 0
    share: float = 0.0
    """The larger of lines and bytes, as a share of its limit; 1.0 is full."""
    entries: int = 0
    dated: int = 0
    oldest: date | None = None
    newest: date | None = None
    indexed: int = 0
    """How many index lines it has."""
    notes: int = 0
    """How many notes lie beside it."""
    unlisted: int = 0
    """How many of them it does not name."""
    problem: str = ""

    @property
    def percent(self) -> int:
        """The share in percent: 100 only for a document that is exactly full."""
        percent = round(self.share * 100, 6)
        return ceil(percent) if percent > 100 else floor(percent)


@dataclass(frozen=True, slots=True)
class Shown:
    """A document as it is on disk now, its lines numbered from 1."""

    target: Target
    path: Path
    lines: list[tuple[int, str]] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Where:
    """Each path in use and whether it exists, and the settings: those set somewhere, and all with their origin."""

    paths: list[tuple[str, bool]]
    settings: list[tuple[str, object, str]]
    all_settings: list[tuple[str, object, str]]
    problems: list[str]


@dataclass(frozen=True, slots=True)
class Pruning:
    """What pruning would take out of one document, and leave in it.

    Attributes:
        target, path: the document.
        plan: the plan for it; it names the document's version it was made from.
        old_sections: the headings whose own date is old: line, text, date. `sections=True` takes their entries.
        still_over: how many lines and bytes the document would be over its limit after it, zeros where it fits.
        problem: why no plan could be made; "" where one was.
    """

    target: Target
    path: Path
    plan: Plan | None
    old_sections: tuple[tuple[int, str, date], ...] = ()
    still_over: tuple[int, int] = (0, 0)
    problem: str = ""

    @property
    def removals(self) -> tuple[Judged, ...]:
        """What would go."""
        return self.plan.removals if self.plan else ()

    @property
    def kept(self) -> tuple[Judged, ...]:
        """What would stay."""
        return self.plan.kept if self.plan else ()


@dataclass(frozen=True, slots=True)
class Removed:
    """An entry that has left its document: where from, what it said, and the id of the command that took it out."""

    target: Target
    id: str
    text: str
    run: str


@dataclass(frozen=True, slots=True)
class Edited:
    """What `edit` did: the entry that went and the one that stands in its place."""

    old_id: str
    entry: StoredEntry
    path: Path
    headroom: Headroom


@dataclass(frozen=True, slots=True)
class Restorable:
    """An entry that can come back, and the document it comes back to."""

    target: Target
    archived: Archived


@dataclass(frozen=True, slots=True)
class Restored:
    """What came back: entries, the files of notes, and why others could not."""

    entries: tuple[StoredEntry, ...]
    notes: tuple[str, ...] = ()
    problems: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Synced:
    """What healing would do, or did, to one document.

    Attributes:
        target: the document.
        path: its file.
        put_back: texts that go back.
        removed_by_hand: texts that were taken out by hand, for the ledger.
        kept_out: texts by id that should go back but have no room any more, for the ledger.
        unkept: why others that were taken out by hand are kept nowhere: what each of them holds, without its value.
        problem: why it could not be healed; "" where it could.
    """

    target: Target
    path: Path
    put_back: tuple[str, ...] = ()
    removed_by_hand: tuple[str, ...] = ()
    kept_out: Mapping[str, str] = field(default_factory=dict)
    unkept: tuple[str, ...] = ()
    problem: str = ""


@dataclass(frozen=True, slots=True)
class Redacted:
    """Where a redacted entry stood: in the document, on how many ledger lines, and where the same text still is."""

    id: str
    target: Target
    was_in_document: bool
    ledger_lines: int
    elsewhere: tuple[str, ...] = field(default_factory=tuple)


@dataclass(frozen=True, slots=True)
class NoteRow:
    """A note in a list: where it lies, its type, title and description, and whether an index line names it.

    With a `problem` it cannot be read; where it has no file, the whole folder cannot.
    """

    target: Target
    file: str
    type: str
    title: str
    description: str
    is_listed: bool
    problem: str = ""


@dataclass(frozen=True, slots=True)
class StoredFile:
    """A file of memory: a document, or with `note` the note of that name beside it. `size` is its bytes."""

    target: Target
    note: str
    size: int


@dataclass(frozen=True, slots=True)
class Rewritten:
    """What `rewrite` did.

    Attributes:
        target, note: the document, or the note beside it.
        headroom: what is left in the document; None for a note, and for a document that has gone.
        notes: what the writer should know: what the ledger does not keep, what healing put back.
    """

    target: Target
    note: str
    headroom: Headroom | None
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Indexed:
    """What the index of a folder is, or was made to be.

    Attributes:
        target, path: the tier file that holds it.
        notes: how many notes the folder has.
        listed: how many of them the tier file named before.
        added: the notes whose line is new.
        dangling: lines, from 1, and the file they link to, which is gone; only a person may take them out.
        unlisted: how many notes have no line because the tier file is full.
        changed: whether the tier file is, or would be, another than before.
        problem: what could not be read; "" for nothing.
        left: the tier file as it was left; b"" where it was only looked at.
    """

    target: Target
    path: Path
    notes: int = 0
    listed: int = 0
    added: tuple[str, ...] = ()
    dangling: tuple[tuple[int, str], ...] = ()
    unlisted: int = 0
    changed: bool = False
    problem: str = ""
    left: bytes = field(default=b"", repr=False)

    @property
    def is_clean(self) -> bool:
        """Whether every note has a line and every line has a note."""
        return not (self.changed or self.dangling or self.unlisted or self.problem)

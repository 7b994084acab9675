"""What a workspace answers: frozen values, and the JSON that every door gives of them."""

import datetime as dt
from collections.abc import Iterable, Sequence
from dataclasses import field, replace
from datetime import date
from math import ceil, floor
from pathlib import Path
from typing import Protocol

from . import limits
from .layout import Target
from .text import labels
from .text.labels import BELOW
from .values import HasJson, dataclass, json_of

Json = dict[str, object]
"""One object of a JSON answer, the same at every door. Its keys are promised; those of the classes are not."""


@dataclass(frozen=True, slots=True)
class Headroom(HasJson):
    """How much more a document holds: lines and bytes left, and the limits they are left of."""

    JSON = "lines bytes"

    lines: int
    bytes: int
    max_lines: int
    max_bytes: int

    @property
    def is_near(self) -> bool:
        """Whether 90 % of a limit are used (decision 13)."""
        lines, size = self.max_lines - self.lines, self.max_bytes - self.bytes
        return limits.share_of_limits(lines, size, self.max_lines, self.max_bytes) >= limits.NEAR

    @property
    def warning(self) -> str:
        """What to warn of: `nearly full`, `over its limit`, or nothing."""
        if min(self.lines, self.bytes) < 0:
            return "over its limit"
        return "nearly full" if self.is_near else ""


@dataclass(frozen=True, slots=True)
class About(HasJson):
    """What is known of an entry besides its text. The ledger keeps it, not the document (decision 42).

    Attributes:
        source, kind, confidence, tags: what its writer says of it.
        disputed_with: the ids of the entries that it is disputed with.
        dispute_reason: why, as the last dispute has it.
        writer: the agent that wrote it; None if nobody said, "" if a person did.
        replaced: the ids of the entries in whose place it holds, the first one first.
        scope: where it holds, as an agent-memory/0.1 file has it; None for everywhere.
        expires_at: the moment its mark `[until D]` was made of, RFC 3339.
        created: the moment its date was made of, RFC 3339.
    """

    JSON = "kind source confidence tags writer? replaced disputed_with scope expires_at"

    source: str | None = None
    kind: str | None = None
    confidence: float | None = None
    tags: tuple[str, ...] = ()
    disputed_with: tuple[str, ...] = ()
    dispute_reason: str = ""
    writer: str | None = None
    replaced: tuple[str, ...] = ()
    scope: str | None = None
    expires_at: str | None = None
    created: str | None = None

    @property
    def says_something(self) -> bool:
        """Whether any of it is given."""
        return replace(self, source=self.source or None, writer=self.writer or None, dispute_reason="") != About()

    @property
    def names_only_the_writer(self) -> bool:
        """Whether the writer is all that is known."""
        return bool(self.writer) and self == About(writer=self.writer)

    @property
    def of_another_text(self) -> "About":
        """What of it holds of the text that takes the entry's place: the dispute was about the old one."""
        return replace(self, disputed_with=(), dispute_reason="")

    def with_more(self, more: "About") -> "About":
        """Return it with what else is said now; of two that differ, the later counts. The writer stays."""
        return replace(
            self,
            source=more.source or self.source,
            kind=more.kind or self.kind,
            confidence=self.confidence if more.confidence is None else more.confidence,
            tags=tuple(dict.fromkeys([*self.tags, *more.tags])),
            replaced=tuple(dict.fromkeys([*self.replaced, *more.replaced])),
            scope=more.scope or self.scope,
            expires_at=more.expires_at or self.expires_at,
            created=more.created or self.created,
        )

    def __str__(self) -> str:
        said = [
            ("kind", self.kind),
            ("source", self.source),
            ("confidence", self.confidence),
            ("tags", ", ".join(self.tags)),
            ("written by", self.writer),
            ("replaced", ", ".join(self.replaced)),
            ("disputed with", ", ".join(self.disputed_with)),
            ("scope", self.scope),
            ("expires at", self.expires_at),
        ]
        return "; ".join(f"{name} {value}" for name, value in said if value not in (None, ""))


NOTHING_KNOWN = About()  # What is known of most entries


@dataclass(frozen=True, slots=True)
class Found(labels.Labelled):
    """An entry or a note that matches a query.

    Attributes:
        kind: `entry`, `note`, or `archived` for what has left its document.
        target: the document it is in, or whose note it is.
        id: the id of the entry, or the file name of the note.
        line: its first line, from 1; of a note the one that fits best; 0 in a ledger.
        text: the entry's Markdown, or what the note is about.
        score: above 0 and at most 1, which the best of an answer has.
        label: the label that governs the entry, "" if none does.
        about: what is known of the entry besides its text.
        section: the heading above the entry, "" without one.
        headings: all headings above it, outermost first, without the title of its document.
        date: the day it is from: of an entry its date, of a note the one in its header, else that of its file; of what
            has left, the day it left on. None for a lasting entry.
        passage: the part of it that matched, on one line, with its label in front.
        passage_line: the line of its file that the match begins in; 0 in a ledger.
        lines: the lines around that one, with their numbers, where they were asked for.
        tokens: what matched, as `search.words.places` finds it in a text.
        meant: each word of the query that was taken for a slip, with the word that was looked for instead.
        fit: from 0 to 1, what it has of what was asked for; below `search.port.LEAST_FIT` it does not answer the query.
    """

    kind: str
    target: Target
    id: str
    path: Path
    line: int
    text: str
    score: float
    reasons: tuple[str, ...]
    label: str = ""
    about: About = NOTHING_KNOWN
    section: str = ""
    headings: tuple[str, ...] = ()
    date: dt.date | None = None
    passage: str = ""
    passage_line: int = 0
    lines: tuple[tuple[int, str], ...] = ()
    tokens: tuple[str, ...] = ()
    meant: tuple[tuple[str, str], ...] = ()
    fit: float = 1.0

    @property
    def place(self) -> str:
        """The headings above it on one line, as `--section` takes them."""
        return BELOW.join(self.headings) or self.section

    @property
    def file(self) -> str:
        """The path of its file below the root."""
        return "/".join((*self.target.folder, self.path.name))

    def to_json(self) -> Json:
        """Return it as it is in a JSON answer."""
        answer = json_of(self, "kind id target path=file line section headings label date text passage")
        answer |= {"target": str(self.target), "passage": {"line": self.passage_line, "text": self.passage}}
        if self.lines:
            answer["lines"] = [{"line": line, "text": text} for line, text in self.lines]
        answer |= json_of(self, "score fit reasons" if self.kind == "note" else "score fit reasons about")
        return answer | {"score": round(self.score, 4)}

    to_hit = to_json


class Matched(Protocol):
    """A hit of any kind."""

    @property
    def meant(self) -> Sequence[tuple[str, str]]:
        """Each word of the query that was taken for a slip, with the word that was looked for instead."""


@dataclass(frozen=True, slots=True)
class Correction(HasJson):
    """A word of a query that is nowhere, and the words that were looked for instead."""

    JSON = "word searched"

    word: str
    searched: tuple[str, ...]


def corrections(hits: Iterable[Matched]) -> list[Correction]:
    """Return what was looked for in place of misspelt words, as the hits of one answer say it."""
    instead: dict[str, list[str]] = {}
    for word, meant in dict.fromkeys(one for hit in hits for one in hit.meant):
        instead.setdefault(word, []).append(meant)
    return [Correction(word, tuple(meant)) for word, meant in instead.items()]


@dataclass(frozen=True, slots=True)
class StoredEntry(labels.Labelled, HasJson):
    """An entry as it is in its document.

    Attributes:
        id: 12 hex digits, the same at every place and with every date.
        text: its Markdown, lines joined with newlines.
        section: the heading above it, "" without one.
        headings: all headings above it, outermost first, without the title of its document.
        date: the day it is dated with, its own or a heading's; None for a lasting entry.
        line, last_line: its lines, counted from 1.
        label: the label that governs it, "" if none does.
        keep, until, disputed: its marks: `[keep]`, the last day on which it holds, `[disputed]`.
        as_of: the day as of which it says that it is true; no date of its own.
        about: what its writer said of it, where the ledger was asked.
    """

    JSON = "id *target section headings label date date_source? line last_line keep until disputed as_of *about text"

    id: str
    target: Target
    text: str
    section: str
    date: date | None
    date_source: str
    line: int
    last_line: int
    label: str = ""
    keep: bool = False
    until: dt.date | None = None
    disputed: bool = False
    as_of: dt.date | None = None
    about: About = NOTHING_KNOWN
    headings: tuple[str, ...] = ()

    @property
    def place(self) -> str:
        """The headings above it on one line, as `--section` takes them."""
        return BELOW.join(self.headings) or self.section

    def is_expired(self, today: dt.date) -> bool:
        """Say whether its last day is before today."""
        return self.until is not None and self.until < today


@dataclass(frozen=True, slots=True)
class Remembered(HasJson):
    """What `remember` did.

    Attributes:
        status: `added`, `kept` (the entry was there already, nothing changed) or `redated`.
        entry: the entry as it is now.
        line: where the entry begins in it, counted from 1.
        headroom: what is left in the document.
        notes: what the writer should know: a section that was created, one of two with the same name.
        replaced: the id of the entry that was retired for it, "" for none.
    """

    JSON = "status id=entry.id *entry.target line date=entry.date headroom notes replaced?"

    status: str
    entry: StoredEntry
    path: Path
    line: int
    headroom: Headroom
    notes: tuple[str, ...] = ()
    replaced: str = ""


@dataclass(frozen=True, slots=True)
class Created(HasJson):
    """A tier document that `init` made, or found there already."""

    JSON = "*target created"

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
    share: float = 0.0  # The larger of lines and bytes, as a share of its limit; 1.0 is full
    entries: int = 0
    dated: int = 0
    oldest: date | None = None
    newest: date | None = None
    indexed: int = 0  # How many index lines it has
    notes: int = 0  # How many notes are in its folder
    unlisted: int = 0  # How many of them it does not name
    problem: str = ""

    @property
    def undated(self) -> int:
        """How many entries have no date."""
        return self.entries - self.dated

    @property
    def percent(self) -> int:
        """The share in percent: 100 only for a document that is exactly full."""
        percent = round(self.share * 100, 6)
        return ceil(percent) if percent > 100 else floor(percent)

    def to_json(self) -> Json:
        """Return it as it is in a JSON answer."""
        counts = "entries dated undated oldest newest notes_indexed=indexed notes notes_unlisted=unlisted"
        return json_of(self, f"*target lines bytes tokens share {counts} problem?") | {"share": round(self.share, 4)}


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

    def to_json(self) -> Json:
        """Return the JSON answer, without the project's root and the program's version."""
        return {
            "paths": [{"path": path, "exists": there} for path, there in self.paths],
            "settings": [{"key": name, "value": value, "origin": origin} for name, value, origin in self.all_settings],
            "problems": self.problems,
        }


@dataclass(frozen=True, slots=True)
class NoteRow(HasJson):
    """A note in a list: its document, file, type, title and description, and whether an index line names it.

    With a `problem` it cannot be read; where it has no file, the whole folder cannot.
    """

    JSON = "*target file type? title description listed=is_listed problem?"

    target: Target
    file: str
    type: str
    title: str
    description: str
    is_listed: bool
    problem: str = ""


@dataclass(frozen=True, slots=True)
class StoredFile:
    """A file of memory: a document, or with `note` the note of that name in its folder. `size` is its bytes."""

    target: Target
    note: str
    size: int


@dataclass(frozen=True, slots=True)
class Rewritten:
    """What `rewrite` did.

    Attributes:
        target, note: the document, or the note in its folder.
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
        unlisted: how many notes have no line anywhere: none, once the index is up to date.
        beside: how many have their line in `INDEX.md`, because the tier file is full.
        changed: whether a file of the index is, or would be, another than before.
        problem: what could not be read; "" for nothing.
        left: the tier file as it was left; b"" if it was only looked at.
    """

    target: Target
    path: Path
    notes: int = 0
    listed: int = 0
    added: tuple[str, ...] = ()
    dangling: tuple[tuple[int, str], ...] = ()
    unlisted: int = 0
    beside: int = 0
    changed: bool = False
    problem: str = ""
    left: bytes = field(default=b"", repr=False)

    @property
    def is_clean(self) -> bool:
        """Whether every note has a line and every line has a note."""
        return not (self.changed or self.dangling or self.unlisted or self.problem)

    def to_json(self) -> Json:
        """Return it as it is in a JSON answer."""
        answer = json_of(self, "*target notes listed added dangling unlisted beside changed problem?")
        return answer | {"dangling": [{"line": line, "file": file} for line, file in self.dangling]}

"""Together: entries that several processes add to one document at the same time become one write.

Who finds the document locked asks the process that holds the lock (`disk.waiting`). That process judges each entry as
its own, adds all to the document in one step, and answers when the disk has confirmed it. An entry that it cannot add
has no answer: its writer adds it alone, and is told why where it cannot be added.
"""

import json
from collections.abc import Callable
from dataclasses import fields, replace
from datetime import date
from typing import Any, Protocol

from ..answers import About
from ..change import ledger
from ..change.books import lock_name
from ..change.session import Session
from ..change.transaction import Change
from ..disk import waiting
from ..errors import AgentMemoryError, LimitExceeded, StorageError
from ..layout import Target
from ..tiers.document import Document, Section, plain_id
from ..tiers.taken import take
from ..values import dataclass


@dataclass(frozen=True, slots=True)
class NewText:
    """An entry as it is asked for; see `Workspace.remember`. `by` is the agent that asks, "" for a person."""

    text: str
    section: Section | None
    under: str | None
    dated: date | bool | None
    until: date | None
    about: About
    today: date
    by: str

    @property
    def line(self) -> bytes:
        """What another process is asked, as JSON."""
        said = {one.name: getattr(self.about, one.name) for one in fields(About)}
        days = {name: day.isoformat() for name, day in (("until", self.until), ("today", self.today)) if day}
        dated = self.dated.isoformat() if isinstance(self.dated, date) else self.dated
        value = {"text": self.text, "section": self.section, "under": self.under, "by": self.by, "about": said}
        return json.dumps({**value, **days, "dated": dated}).encode() + b"\n"


class Writer(Protocol):
    """What writes an entry into a document, and what has come of it when it did so last."""

    entry_id: str
    status: str
    notes: tuple[str, ...]

    def change(self, current: Document) -> Change:
        """Write it."""


class Together:
    """What other processes want to add to a document, while this one holds its lock; `prepare` judges each entry."""

    def __init__(self, session: Session, target: Target, prepare: Callable[[NewText], Writer]) -> None:
        self._session = session
        self._target = target
        self._prepare = prepare
        self._asked: list[waiting.OtherRequest] | None = None
        self._granted: list[tuple[waiting.OtherRequest, Writer]] = []

    def with_others(self, current: Document, own: Writer) -> Change:
        """Change a document as one writer does and then as the others want to."""
        changed = own.change(current)
        self._granted = []
        if self._asked is None:
            self._asked = waiting.asked(self._session.root, lock_name(self._target))
        if not self._asked or not self._fits(current, changed.document):
            return changed
        texts = {plain_id(own.entry_id)}
        for one in self._asked:
            made = self._made_of(one.line, changed.document)
            # What the ledger says of two entries goes by their ids, and those of equal texts are not settled yet.
            if made is not None and plain_id(made[0].entry_id) not in texts:
                writer, other = made
                texts.add(plain_id(writer.entry_id))
                changed = replace(changed, document=other.document, about={**changed.about, **other.about})
                self._granted.append((one, writer))
        return changed

    def _made_of(self, line: bytes, current: Document) -> tuple[Writer, Change] | None:
        """Return what a request makes of a document; None where its writer has to do that alone, or is refused."""
        wanted = read(line)
        if wanted is None:
            return None
        try:
            writer = self._prepare(wanted)
            made = writer.change(current)
            for entry_id, said in made.about.items():
                markdown = take(made.document, entry_id).markdown
                ledger.about_line(entry_id, markdown, said, now=self._session.now, latest="")
        except (AgentMemoryError, ValueError, TypeError, AttributeError):  # one that was forged may hold anything
            return None
        return (writer, made) if self._fits(current, made.document) else None

    def _fits(self, old: Document, new: Document) -> bool:
        try:
            self._session.check_limits(old, new)
        except LimitExceeded:
            return False
        return True

    def answer(self) -> None:
        """Tell the others what is written."""
        for one, writer in self._granted:
            one.answer(json.dumps([writer.entry_id, writer.status, writer.notes]).encode() + b"\n")

    def close(self) -> None:
        """Let go of what they asked for."""
        for one in self._asked or ():
            one.close()


def read(line: bytes) -> NewText | None:
    """Return what another process asks for; None where that cannot be told."""
    try:
        value: Any = json.loads(line)
        text, section, under, by, dated = (value[name] for name in ("text", "section", "under", "by", "dated"))
        said: dict[str, Any] = value["about"]
        said = {name: tuple(one) if isinstance(one, list) else one for name, one in said.items()}
        until = date.fromisoformat(value["until"]) if "until" in value else None
        day = date.fromisoformat(dated) if isinstance(dated, str) else dated
        path = section if isinstance(section, list) else [section or ""]
        if all(isinstance(one, str) for one in (text, under or "", by, *path)):
            return NewText(text, section, under, day, until, About(**said), date.fromisoformat(value["today"]), by)
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
        pass
    return None


def read_answer(line: bytes) -> tuple[str, str, tuple[str, ...]]:
    """Return the id, the status and the notes of an entry that another process has written."""
    try:
        entry_id, status, notes = json.loads(line)
        if all(isinstance(one, str) for one in (entry_id, status, *notes)):
            return entry_id, status, tuple(notes)
    except (ValueError, TypeError, RecursionError):
        pass
    raise StorageError("the process that held the lock gave an answer that cannot be read; run this again")

"""Rules on ledgers."""

import json
from collections.abc import Collection, Iterator, Sequence

from ..formats.jsonl import EntryLine, Line, UnreadableLine
from ..formats.jsonl_view import Contents
from ..values import dataclass
from .finding import ERROR, WARNING, Remark, rule


@dataclass(frozen=True, slots=True)
class LedgerView:
    """A ledger as the rules see it."""

    lines: Sequence[tuple[Line, str]]  # each of its lines: what it is, and its text
    contents: Contents  # what they mean together
    redacted: Collection[str] = ()  # the ids of entries that were taken out of it for good
    is_ignored: bool = False  # whether git ignores it while it tracks the document
    allowed: Collection[str] = ()

    def texts(self) -> Iterator[tuple[int, str, str]]:
        """Yield the number of each line, the id of its entry ("" if it is not one), and every text in it."""
        for number, (line, text) in enumerate(self.lines, start=1):
            said = text if isinstance(line, UnreadableLine) else "\n".join(dict.fromkeys(_texts_in(json.loads(text))))
            yield number, line.id if isinstance(line, EntryLine) else "", said


@rule(
    "ledger-unreadable",
    ERROR,
    "ledger",
    "A line of the ledger is not an agent-memory/0.1 line: cut off, or edited by hand. It "
    "is passed over and kept. Restore it from git, or delete it.",
)
def unreadable(view: LedgerView) -> Iterator[Remark]:
    for line in view.contents.unreadable:
        if not line.blank:
            yield Remark(line.line, f"not readable: {line.reason}; restore it from git or delete the line")


@rule("ledger-header", ERROR, "ledger", "The ledger does not begin with its format line, so nothing is written to it.")
def header(view: LedgerView) -> Iterator[Remark]:
    if not view.contents.known and (view.contents.entries or view.contents.tombstones):
        yield Remark(1, "the first line is not an agent-memory/0.1 header; put it back")


@rule(
    "ledger-tombstone",
    WARNING,
    "ledger",
    "A tombstone without the entry it buries, which was not redacted: what it removed cannot be restored. A merge or "
    "an edit by hand lost the entry's line; bring it back from git.",
)
def tombstone(view: LedgerView) -> Iterator[Remark]:
    for entry_id in view.contents.tombstones:
        if entry_id not in view.contents.entries and entry_id not in view.redacted:
            yield Remark(None, f"the tombstone of {entry_id} has no entry; it cannot be restored")


@rule(
    "ledger-ignored",
    WARNING,
    "ledger",
    "Git tracks the document and ignores its ledger, so what is pruned is lost to everybody else. Track both.",
)
def ignored(view: LedgerView) -> Iterator[Remark]:
    if view.is_ignored:
        yield Remark(None, "git ignores this ledger but tracks its document; track both")


def _texts_in(value: object) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for key, inner in value.items():
            yield from (key, *_texts_in(inner))
    elif isinstance(value, list):
        for inner in value:
            yield from _texts_in(inner)

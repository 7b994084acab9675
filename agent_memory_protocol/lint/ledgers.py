"""Rules on ledgers."""

from collections.abc import Iterator
from dataclasses import dataclass

from agent_memory_protocol.formats.jsonl_view import Contents
from agent_memory_protocol.lint.finding import ERROR, WARNING, Hit, rule


@dataclass(frozen=True, slots=True)
class LedgerView:
    """A ledger as the rules see it: its contents, and whether git ignores it while it tracks the document."""

    contents: Contents
    is_ignored: bool = False


@rule(
    "ledger-unreadable",
    ERROR,
    "ledger",
    "A line of the ledger is no agent-memory/0.1 line: cut off, or edited by hand. It "
    "is passed over and kept. Restore it from git, or delete it.",
)
def unreadable(view: LedgerView) -> Iterator[Hit]:
    for line in view.contents.unreadable:
        if not line.blank:
            yield Hit(line.line, f"not readable: {line.reason}; restore it from git or delete the line")


@rule("ledger-header", ERROR, "ledger", "The ledger does not begin with its format line, so nothing is written to it.")
def header(view: LedgerView) -> Iterator[Hit]:
    if not view.contents.known and (view.contents.entries or view.contents.tombstones):
        yield Hit(1, "the first line is no agent-memory/0.1 header; put it back")


@rule(
    "ledger-tombstone",
    WARNING,
    "ledger",
    "A tombstone without the entry it buries: what it removed cannot be restored. Harmless after a redaction.",
)
def tombstone(view: LedgerView) -> Iterator[Hit]:
    for entry_id in view.contents.tombstones:
        if entry_id not in view.contents.entries:
            yield Hit(None, f"the tombstone of {entry_id} has no entry; it cannot be restored")


@rule(
    "ledger-ignored",
    WARNING,
    "ledger",
    "Git tracks the document and ignores its ledger, so what is pruned is lost to everybody else. Track both.",
)
def ignored(view: LedgerView) -> Iterator[Hit]:
    if view.is_ignored:
        yield Hit(None, "git ignores this ledger but tracks its document; track both")

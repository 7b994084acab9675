"""What leaves memory for a record file: the entries of tier documents, the notes beside them, and records."""

from collections.abc import Iterator, Sequence
from types import MappingProxyType

from .access import Actor
from .formats import markdown, record_entries
from .formats.entry import BadEntry, MemoryEntry, Problem, check, named
from .layout import Target
from .memory import Memory
from .notes import note
from .workspace import Workspace

RECORDS = "records"
"""What stands in the place of a document's name for the records of the store."""


def documents(workspace: Workspace, actor: Actor, targets: Sequence[Target] | None) -> Iterator[MemoryEntry | Problem]:
    """Yield the entries of these documents and the notes beside them, or of all that this actor may read.

    Where each comes from stands in `extra.target`.

    Raises:
        AccessDenied: this actor may not read one of them.
        DamagedFile: one cannot be read.
    """
    for found in workspace.documents(actor, targets):
        for one in markdown.entries_of(found):
            yield _placed(one, found.target) if isinstance(one, MemoryEntry) else one
    for row in workspace.notes(actor, targets):
        if row.problem:
            yield Problem(f"{row.target}: {row.file}", row.problem)
            continue
        file, text = workspace.show_note(row.file, target=row.target, actor=actor)
        try:
            yield _placed(note_entry(note.parse(text, file)), row.target)
        except BadEntry as error:
            yield Problem(f"{row.target}: {file}", str(error))


def note_entry(found: note.Note) -> MemoryEntry:
    """Return a note as an entry: its fact as the text, its Why and How in `extra`.

    Raises:
        BadEntry: it is too large for one.
    """
    extra = {
        "kind": found.head.type,
        "name": found.stem,
        "description": found.head.description,
        "why": note.part(found, found.why),
        "how": note.part(found, found.how),
    }
    key, pairs = named(f"note: {found.file}", {name: value for name, value in extra.items() if value})
    return check(MemoryEntry(key, 0, found.fact or found.head.description, ("note",), extra=pairs))


def records(memory: Memory) -> Iterator[MemoryEntry | Problem]:
    """Yield the newest version of every record.

    Raises:
        StorageError: one cannot be read.
    """
    for record in memory.records():
        try:
            yield record_entries.entry_of(record)
        except BadEntry as error:
            yield Problem(record.id, str(error))


def _placed(entry: MemoryEntry, target: Target) -> MemoryEntry:
    return entry._replace(extra=MappingProxyType({**entry.extra, "target": str(target)}))

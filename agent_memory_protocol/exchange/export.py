"""What leaves memory for a record file: the entries of tier documents, the notes beside them, and records."""

from collections.abc import Collection, Iterable, Iterator, Sequence
from types import MappingProxyType

from ..answers import NOTHING_KNOWN, About
from ..formats import known, markdown, record_entries
from ..formats.entry import MemoryEntry, Problem, attempt, check, named, original_id, to_milliseconds, to_moment
from ..layout import Target
from ..limits import split_lines
from ..memory import Memory
from ..notes import note
from ..project.access import Actor
from ..secrets.find import Secret, find_secrets
from ..text.markers import conflict_line
from ..workspace import Workspace

RECORDS = "records"  # What is in the place of a document's name for the records of the store


def documents(workspace: Workspace, actor: Actor, targets: Sequence[Target] | None) -> Iterator[MemoryEntry | Problem]:
    """Yield the entries of these documents and the notes beside them, or of all that this actor may read.

    `extra` says of each where it comes from, which of its tags are headings, and what its ledger knows of it.
    """
    problems: list[tuple[Target, str]] = []
    stored = workspace.entries(actor, targets, on_problem=lambda *problem: problems.append(problem))
    about = {one.id: one.about for one in stored}
    for found in workspace.documents(actor, targets, on_problem=lambda *problem: problems.append(problem)):
        for one in markdown.entries_of(found):
            if isinstance(one, Problem):
                yield one
                continue
            yield _placed(_with(one, about.get(original_id(one), NOTHING_KNOWN)), found.target)
    rows = workspace.notes(actor, targets)
    problems += [(row.target, row.problem) for row in rows if row.problem]
    yield from (Problem(str(target), problem) for target, problem in dict.fromkeys(problems))
    for row in rows:
        if row.problem:
            continue
        file, text = workspace.show_note(row.file, target=row.target, actor=actor)
        if (line := conflict_line(split_lines(text))) is not None:
            yield Problem(f"{row.target}: {file}", f"line {line}: unresolved merge conflict; resolve it first")
            continue
        found_note = attempt(f"{row.target}: {file}", note_entry, note.parse(text, file))
        yield _placed(found_note, row.target) if isinstance(found_note, MemoryEntry) else found_note


def note_entry(found: note.Note) -> MemoryEntry:
    """Return a note as an entry: its fact as the text, its Why and How in `extra`."""
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
    """Yield the newest version of every record. Raises StorageError if one cannot be read."""
    for record in memory.records():
        yield attempt(record.id, record_entries.entry_of, record)


class Withheld:
    """Keeps back, and counts, what holds a secret: a file that leaves memory is one more place where it lies."""

    def __init__(self, allow: Collection[str]) -> None:
        self.count = 0
        self._allow = allow

    def pass_on(self, entries: Iterable[MemoryEntry | Problem]) -> Iterator[MemoryEntry | Problem]:
        """Yield the entries, and in place of one that holds a secret why it is kept back, without repeating it."""
        for entry in entries:
            if isinstance(entry, MemoryEntry) and (secret := self._secret(entry)):
                self.count += 1
                where = f"rule {secret.rule}, fingerprint {secret.fingerprint}"
                reason = f"an entry holds {secret.description} ({where}); `amp check --select secret` says where"
                yield Problem(entry.extra.get(known.TARGET, RECORDS), reason)
            else:
                yield entry

    def _secret(self, entry: MemoryEntry) -> Secret | None:
        texts = "\n".join([entry.text, entry.source, *entry.tags, *entry.extra.values()])
        return next((one for one in find_secrets(texts) if one.fingerprint not in self._allow), None)


def _with(entry: MemoryEntry, said: About) -> MemoryEntry:
    """Return an entry with what its ledger knows of it."""
    extra = {**entry.extra, **known.pairs_of(said)}
    if entry.tags or said.tags:
        extra[known.HEADINGS] = known.listed(entry.tags)
    last = known.last_day(said.expires_at)
    # A mark or a date that somebody has changed by hand means what it says now.
    if said.expires_at and last and last.isoformat() == extra.get(known.UNTIL):
        extra[known.EXPIRES] = said.expires_at
        del extra[known.UNTIL]
    created = known.moment_of(said.created, to_moment(entry.timestamp_ms).date()) if entry.timestamp_ms else None
    return check(
        entry._replace(
            tags=(*entry.tags, *said.tags),
            source=said.source or "",
            timestamp_ms=to_milliseconds(created) if created else entry.timestamp_ms,
            extra=MappingProxyType(extra),
        )
    )


def _placed(entry: MemoryEntry, target: Target) -> MemoryEntry:
    return entry._replace(extra=MappingProxyType({**entry.extra, known.TARGET: str(target)}))

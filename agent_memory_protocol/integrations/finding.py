"""Search the entries and notes that an actor may read, in an index that is brought up to date for every query."""

from collections.abc import Iterator
from dataclasses import dataclass

from ..answers import StoredEntry
from ..layout import Target
from ..search.port import Passage, Source, source_of
from .tool import Door, is_foreign


@dataclass(frozen=True, slots=True)
class Found:
    """An entry or a note that matches.

    Attributes:
        target: the document it stands in, or beside.
        entry: the entry; None for a note.
        note: the file of the note; "" for an entry.
        text: what it says.
        score: above 0 and at most 1, which the best has.
        reasons: why it was found.
    """

    target: Target
    entry: StoredEntry | None
    note: str
    text: str
    score: float
    reasons: tuple[str, ...]


def find(door: Door, query: str, limit: int) -> tuple[list[Found], list[str]]:
    """Return what matches, best first, and why a document could not be looked at."""
    problems: list[str] = []
    entries = {(str(one.target), one.id): one for one in _entries(door, problems)}
    notes = {(f"{target}/{file}", file): (target, text) for target, file, text in _notes(door, problems)}
    door.index.refresh([*_documents(entries), *(_note(key, text) for key, (_, text) in notes.items())])
    found = []
    for hit in door.index.search(query, limit=limit):
        key = (hit.source, hit.key)
        if key in entries:
            entry = entries[key]
            found.append(Found(entry.target, entry, "", entry.text, hit.score, hit.reasons))
        elif key in notes:
            target, text = notes[key]
            found.append(Found(target, None, hit.key, text, hit.score, hit.reasons))
    return found, problems


def _entries(door: Door, problems: list[str]) -> list[StoredEntry]:
    targets = [one for one in door.workspace.targets(door.actor) if not is_foreign(door, one)]
    return door.workspace.entries(door.actor, targets, on_problem=lambda _, problem: problems.append(problem))


def _notes(door: Door, problems: list[str]) -> Iterator[tuple[Target, str, str]]:
    for row in door.workspace.notes(door.actor):
        if row.problem:
            problems.append(row.problem)
            continue
        yield row.target, row.file, door.workspace.show_note(row.file, target=row.target, actor=door.actor)[1]


def _documents(entries: dict[tuple[str, str], StoredEntry]) -> Iterator[Source]:
    passages: dict[str, list[Passage]] = {}
    for (document, entry_id), entry in entries.items():
        passages.setdefault(document, []).append(Passage(entry_id, entry.text, entry.section))
    for document, inside in passages.items():
        yield source_of(document, *inside)


def _note(key: tuple[str, str], text: str) -> Source:
    return source_of(key[0], Passage(key[1], text, key[1]))

"""An entry's life: what its document's ledger and git tell of it, from its first line to its retirement."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace

from ..answers import About, StoredEntry
from ..change import ledger
from ..change.session import Session
from ..errors import InvalidArgument
from ..formats.jsonl import EntryLine, Line, Tombstone
from ..git import births
from ..layout import Target
from ..text import footnotes
from ..text.labels import in_front_of_item
from ..text.moments import sort_key
from ..tiers.document import plain_id
from ..tiers.taken import from_json
from ..values import dataclass
from .stored import stored_entries

COMMITTED, WRITTEN, DISPUTED, EDITED, RETIRED, LEFT = "committed", "written", "disputed", "edited", "retired", "left"


@dataclass(frozen=True, slots=True)
class Happening:
    """One thing that happened to an entry."""

    at: str
    what: str  # COMMITTED (git has it since then), WRITTEN, DISPUTED, EDITED, RETIRED (another holds instead) or LEFT
    id: str  # with `text`: what it was called and said then, its label in front; no text where nobody kept that
    text: str = ""
    reason: str = ""
    by: str = ""
    other: str = ""  # the id of the entry that replaced it, or that it was disputed with; "" for none


@dataclass(frozen=True, slots=True)
class Life:
    """What happened to one entry, the first thing first, and the entry itself where it is in its document now."""

    target: Target
    id: str
    events: tuple[Happening, ...]
    entry: StoredEntry | None


def life(session: Session, entry_id: str) -> Life:
    """Return what happened to an entry; see `Workspace.life`."""
    located = session.locate([entry_id], ledgers=True)
    if len(located) != 1:
        raise InvalidArgument(f"{entry_id} is in {' and in '.join(map(str, located))}; give more of the id")
    ((target, (found,)),) = located.items()
    document = session.read(target)
    lines = session.books(target).lines()
    said = ledger.read_said_of(lines, target)
    entries = {one.id: one for one in (stored_entries(document, said) if document else [])}
    family = ledger.versions_of([found], lines)
    standing = entries.get(found)
    notes = [line for one in lines if isinstance(one, EntryLine) for line in ledger.markdown_of(one).split("\n")]
    known = footnotes.definitions([*(document.lines if document else ()), *notes])
    told = [*_events(lines, family, ledger.owner_of(target), entries)]
    kept = (ledger.markdown_of(one) for one in lines if isinstance(one, EntryLine) and plain_id(one.id) in family)
    oldest = next(filter(None, kept), standing.text if standing else "")
    born = births.first_commit(session.root.path, target.path, oldest.split("\n")[0]) if oldest else None
    told = [replace(one, text=footnotes.spelled_out(one.text, known)) for one in told]
    if born is not None:
        told.append(Happening(born.at, COMMITTED, found, reason=born.commit, by=born.author))
    return Life(target, found, tuple(sorted(told, key=lambda one: sort_key(one.at))), standing)


def _events(
    lines: Sequence[Line], family: Iterable[str], owner: str, standing: Mapping[str, StoredEntry]
) -> Iterator[Happening]:
    plain = set(family)
    labels = _labels(lines, standing)
    texts: dict[str, str] = {}
    written: set[str] = set()
    for number, line in enumerate(lines):
        if not isinstance(line, EntryLine | Tombstone) or plain_id(line.id) not in plain:
            continue
        if isinstance(line, EntryLine):
            markdown = ledger.markdown_of(line)
            said = in_front_of_item(labels.get(line.id, ""), markdown) if markdown else ""
            texts[line.id] = said or texts.get(line.id, "")
            after = lines[number + 1] if number + 1 < len(lines) else None
            # What leaves is written down in a line of its own just before the line that says that it leaves.
            if not (isinstance(after, Tombstone) and after.id == line.id):
                yield from _said(line, ledger.said_of(line, owner), texts[line.id], written)
            continue
        extra = line.extra or {}
        other = str(extra.get("successor", ""))
        what = LEFT if not other else RETIRED if extra.get("retired") else EDITED
        written |= {other} - {""}
        yield Happening(
            line.created_at, what, line.id, texts.get(line.id, ""), str(extra.get("reason", "")), other=other
        )


def _labels(lines: Iterable[Line], standing: Mapping[str, StoredEntry]) -> dict[str, str]:
    """Return the label of each entry; only the line of one that leaves names it, whatever was said before."""
    found: dict[str, str] = {}
    for line in lines:
        if isinstance(line, EntryLine) and (markdown := ledger.markdown_of(line)):
            with suppress(ValueError):
                label = from_json(line.id, {**(line.extra or {}), "markdown": markdown}).place.label_text
                found[line.id] = label or found.get(line.id, "")
    return found | {one: entry.label for one, entry in standing.items()}


def _said(line: EntryLine, about: About, text: str, written: set[str]) -> Iterator[Happening]:
    if about.disputed_with:
        yield Happening(
            line.created_at, DISPUTED, line.id, text, about.dispute_reason, other=", ".join(about.disputed_with)
        )
    elif line.id not in written:
        yield Happening(line.created_at, WRITTEN, line.id, text, by=about.writer or "")
    written.add(line.id)

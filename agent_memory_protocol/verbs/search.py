"""The verb that finds entries and notes, and what has left them, by their words, for one actor, never stale.

Whether a file has changed is asked of the file system for every query, and a file that changed just now is read, since
its times may not show it yet. What an index answers is looked up again in the file before it is given.
"""

import os
import stat
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import date
from functools import lru_cache
from pathlib import Path

from ..answers import About, Found
from ..change.session import SEARCH, Session
from ..disk.errors import shown
from ..disk.looked import TICK, Sign
from ..disk.writing import make_local_folder
from ..errors import AgentMemoryError, InvalidArgument, StorageError
from ..layout import LEDGER, OWNED_TIERS, Target, Tier, check_target
from ..notes import store as note_store
from ..notes.index import is_beside
from ..notes.index import read as read_index
from ..notes.note import Note
from ..project import local_state
from ..project.access import Actor, check_tier
from ..search.opening import open_index
from ..search.port import Embedder, Hit, Passage, SearchIndex, Source, source_of
from ..search.scan import ScanIndex
from ..text.dates import day_number
from ..text.digest import blake2b
from ..text.relative_dates import with_dates
from ..tiers import store
from ..tiers.document import Document
from ..values import dataclass
from . import index as indexing
from .found import found_by, look_up

INDEX = "entries.sqlite"
"""The file of the index, in `.scaffolding/.amp/search/`. Deleting it loses nothing."""


def index_path(session: Session) -> str | None:
    """Return the path of the index; None if none can be written and believed."""
    try:
        if not local_state.has_own_tables(session.root):
            return None
        return os.path.join(session.root.path, *make_local_folder(session.root, SEARCH), INDEX)
    except StorageError:
        return None


def search(
    session: Session,
    query: str,
    index: SearchIndex | None,
    *,
    embedder: Embedder | None,
    limit: int,
    where: "Within",
    since: date | None,
    context: int,
    today: date,
    on_problem: Callable[[str], object] | None,
) -> list[Found]:
    """Return the entries and notes that fit best, best first, of what this actor may read.

    Without an index, that of the project is used, a file in `.scaffolding/.amp/`.
    """
    is_asked = _asked(session, where)
    folders: dict[str, Target] = {}
    sources: list[Source] = []
    within: set[str] = set()
    unread: set[str] = set()
    told: set[str] = set()

    def tell(text: str) -> None:
        if on_problem is not None and text not in told:
            told.add(text)
            on_problem(text)

    def place(path: str) -> tuple[Target, str]:
        folder, _, file = path.rpartition("/")
        target = folders[folder]
        return target, "" if file == target.parts[-1] else file

    def read(path: str) -> Iterable[Passage]:
        try:
            return _read(session, *place(path))
        except AgentMemoryError as error:
            unread.add(path)
            if path in within:
                tell(str(error))
            return []

    # All that use the index share it, so everything is in it; what this actor may not read is not even told of.
    for target, states in _named(session, lambda target, text: tell(text) if is_asked(target) else None):
        folder = target.path.rpartition("/")[0]
        folders[folder] = target
        found = [Source(f"{folder}/{file}", state, read) for file, state in states.items()]
        sources += found
        if is_asked(target):
            within.update(source.key for source in found)
    if not within:
        return []
    used = index or open_index(index_path(session), embedder=embedder)
    asked_for = with_dates(query, today)
    try:
        used.refresh(sources)
        if unread:
            used.refresh((), gone=unread)  # so that the next query reads them again, and tells of them again
        asked_in = within if len(within) < len(sources) else None
        answer = _take(
            lambda count: used.search(asked_for, limit=count, within=asked_in),
            lambda hit: look_up(session, *place(hit.source), hit, today=today, context=context),
            since,
            limit,
        )
    finally:
        if index is None:
            used.close()
    said = lru_cache(maxsize=None)(session.known)
    return [replace(one, about=said(one.target).get(one.id, About())) for one in answer]


def _take(
    ask: Callable[[int], list[Hit]], find: Callable[[Hit], Found | None], since: date | None, limit: int
) -> list[Found]:
    """Return the best hits that are still there, `since` that day; ask for more as needed.

    A note is found by what it says and by what a line of an index says of it, and is given once.
    """
    answer: dict[tuple[Path, str], Found] = {}
    count, done = 2 * limit, 0
    while len(answer) < limit:
        hits = ask(count)
        for one in filter(None, map(find, hits[done:])):
            if since is None or (one.date is not None and one.date >= since):
                answer.setdefault((one.path, one.id), one)
        if len(hits) < count:
            break
        count, done = 4 * count, count
    return [*answer.values()][:limit]


def search_archived(
    session: Session,
    query: str,
    *,
    limit: int,
    where: "Within",
    since: date | None,
    on_problem: Callable[[str], object] | None,
) -> list[Found]:
    """Return what has left the documents that this actor may read, and fits best, best first.

    No file keeps these words: what is redacted must be gone from all of them.
    """
    from ..change.ledger import parts_of
    from .restore import restorable

    tell = on_problem or (lambda _: None)
    is_asked = _asked(session, where)
    try:
        archived = [one for one in restorable(session, (), last=False, since=since) if is_asked(one.target)]
    except StorageError as error:
        tell(str(error))
        return []
    for problem in session.notices:
        tell(problem)
    index = ScanIndex()
    words = ("\n".join([*one.archived.taken.place.governed_by, *one.about.tags]) for one in archived)
    index.refresh(
        source_of(str(number), Passage("", one.archived.taken.said, around))
        for number, (one, around) in enumerate(zip(archived, words, strict=True))
    )
    answer = []
    for hit in index.search(query, limit=limit):
        gone = archived[int(hit.source)]
        one, target = gone.archived, gone.target
        path = session.path(target).with_name(parts_of(target)[-1])
        label = one.taken.label
        found = found_by(hit, "archived", target, path, one.taken.id, one.taken.said, label)
        left_on = day_number(one.removed_at[:10])
        day = None if left_on is None else date.fromordinal(left_on)
        answer.append(replace(found, reasons=(*hit.reasons, one.reason), about=gone.about, date=day))
    return answer


@dataclass(frozen=True, slots=True)
class Within:
    """Where to search: in the documents, and the notes beside them, of these targets, tier, agent and conversation."""

    targets: Sequence[Target] | None = None
    tier: Tier | None = None
    agent: str | None = None
    conversation: str | None = None

    @property
    def named(self) -> list[Target]:
        """The documents that are named by their owner; refused if one of them is not of the tier."""
        check_tier(self.tier)
        for target in self.targets or ():
            check_target(target)
        named = Actor(self.agent, self.conversation)
        found = [Target(tier, owner) for tier in OWNED_TIERS if (owner := named.owned(tier)) is not None]
        for target in found:
            if self.tier not in (None, target.tier):
                raise InvalidArgument(f"{target} is not in the tier {self.tier!s}; name only one of the two")
        return found


def _asked(session: Session, where: Within) -> Callable[[Target], bool]:
    """Return what says whether a document is searched. What is named and may not be read is refused."""
    named = where.named
    for target in named:
        session.check_read(target)
        if not any(one == target for one in store.places(session.root)):
            session.notices.append(f"there is no memory of {target} yet; `amp status` lists the documents there are")

    def is_asked(target: Target) -> bool:
        if where.targets is not None and target not in where.targets:
            return False
        if named:
            return target in named
        return session.may_read(target) and where.tier in (None, target.tier)

    return is_asked


def _states(session: Session, on_problem: Callable[[Target, str], object]) -> Iterator[tuple[Target, dict[str, str]]]:
    """Yield each document, and the notes next to it: by file name, what changes whenever the content does."""
    settled = int(session.now.timestamp() * 1e9) - TICK

    def sign(info: os.stat_result) -> str:
        if info.st_mtime_ns > settled or info.st_ctime_ns > settled:
            return ""
        return f"{info.st_dev}-{info.st_ino}-{info.st_size}-{info.st_mtime_ns}-{info.st_ctime_ns}"

    def state(name: str, sign: Sign | None, at: int) -> str:
        is_told = sign is not None and max(sign[-2:]) <= at - TICK
        return "-".join(map(str, sign[1:])) if sign and is_told else _digest(session, (*folder, name))

    for target in store.list_targets(session.root):
        beside = (*target.folder, LEDGER)  # what it says of an entry is searched, too
        signs = [
            (info and sign(info)) or _digest(session, parts)
            for parts in (target.parts, beside)
            if (info := _info(session, parts)) or parts == target.parts
        ]
        yield target, {target.parts[-1]: " ".join(signs)}
    for target in indexing.all_folders(session):
        folder, tier_file = target.folder, target.parts[-1]
        try:
            looked = note_store.look(session.root, folder, tier_file)
        except StorageError as error:
            on_problem(target, str(error))
            continue
        states = looked.made.get(SEARCH)
        if not isinstance(states, dict):
            states = {file: state(file, sign, looked.at) for file, sign in looked.files.items()}
            if looked.is_settled:
                looked.made[SEARCH] = states
        yield target, states


def _named(session: Session, on_problem: Callable[[Target, str], object]) -> Iterator[tuple[Target, dict[str, str]]]:
    """Yield what `_states` does, without files that no index can hold: their names are not text."""
    for target, states in _states(session, on_problem):
        folder = target.path.rpartition("/")[0]
        odd = [file for file in states if not _is_text(f"{folder}/{file}")]
        for file in odd:
            on_problem(target, f"{shown(folder, file)}: has a name that is not UTF-8; rename it")
        yield target, {file: state for file, state in states.items() if file not in odd} if odd else states


def _is_text(path: str) -> bool:
    return path.isascii() or path == path.encode(errors="replace").decode()


def _info(session: Session, parts: tuple[str, ...]) -> os.stat_result | None:
    """Return what the system says of a regular file; None for anything else."""
    try:
        folder = session.root.folder(parts[:-1])
        info = None if folder is None else folder.stat(parts[-1])
    except (AgentMemoryError, OSError):
        return None
    return info if info is not None and stat.S_ISREG(info.st_mode) else None


def _digest(session: Session, parts: tuple[str, ...]) -> str:
    """Return what changes whenever the content does, where what the system says does not tell."""
    try:
        content = session.root.read(parts)
    except AgentMemoryError:
        return "unreadable"
    return "gone" if content is None else blake2b(content.data, digest_size=16).hexdigest()


def _read(session: Session, target: Target, file: str) -> Iterable[Passage]:
    """Return what is to be found in a document, or in a note next to it."""
    if not file:
        document = session.read(target)
        if document is None:
            return []
        return [*passages_of(document, session.known(target)), *lines_by_hand("".join(document.raw))]
    found = note_store.read(session.root, target.folder, file)
    if found is not None and is_beside(file):
        return list(lines_by_hand(found[1]))
    return [] if found is None else [passage_of_note(found[0])]


def lines_by_hand(text: str) -> Iterator[Passage]:
    """Yield the index lines that a person wrote, once for each note: what they say may be nowhere else."""
    seen: set[str] = set()
    for one in read_index(text).lines:
        if not one.in_block and one.file not in seen:
            seen.add(one.file)
            yield Passage(one.file, one.text)


def passages_of(document: Document, said: Mapping[str, About]) -> Iterator[Passage]:
    """Yield the entries in their order, each with the words around it: its tags, its headings and its label."""
    for entry, entry_id in zip(document.outline.entries, document.ids, strict=True):
        around = [document.outline.headings[index].text for index in entry.headings]
        if entry.label is not None:
            around.append(document.label(entry))
        around += said[entry_id].tags if entry_id in said else ()
        if not (entry.holds_place(document.lines) or document.is_footnote(entry)):
            yield Passage(entry_id, document.said(entry), "\n".join(around))


def passage_of_note(note: Note) -> Passage:
    """Return a note as it is searched: what it says, with its title and its file name around it."""
    return Passage(note.file, "\n".join([note.head.description, *note.body]), f"{note.title}\n{note.stem}")

"""Memory kept elsewhere: find what other tools have written for a project, and read it without changing anything.

Each tool has its own folders. They hold three kinds of things: a *document* is a page of entries, a *note* is one fact
in a file with its own name, and a *page* is a longer text. `merge_in` says what becomes of them.
"""

import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from dataclasses import replace as replace_fields
from datetime import datetime
from itertools import islice
from shlex import quote

from ..answers import About
from ..change import ledger
from ..disk.files import Root, decode
from ..errors import AgentMemoryError, InvalidArgument, InvalidName
from ..formats import known, markdown
from ..formats.jsonl import parse_file
from ..formats.jsonl_entries import entry_of
from ..formats.jsonl_view import sort_out, view
from ..layout import OWNED_TIERS, SCAFFOLDING, Target, Tier, check_owner
from ..text import marks
from ..tiers.document import entry_id

LARGEST = 1 << 20
"""Larger files are not read: an agent could not use them as memory."""

_READS = (
    "Claude Code's agent memory (agent-memory/NAME/) and auto memory (a folder with a MEMORY.md), Serena's memories, "
    "Squad's histories, a memory bank, another .scaffolding, agent-memory/0.1 files and single Markdown files"
)
_DEEPEST = 8
_NAMED = 3
"""At most so many folders below are named."""
_MOST_LOOKED_AT = 2_000
_NO_MEMORY = (".git", "node_modules", ".venv")
_DOCUMENTS = ("memory.md", "knowledge.md", "context.md", "history.md")
"""What a page of entries is called; if a folder has several, the first of these."""

_SHARED = Target(Tier.SHARED)


@dataclass(frozen=True, slots=True)
class Page:
    """A file: its path as a person would name it, its file name, its text."""

    path: str
    name: str
    text: str


@dataclass(frozen=True, slots=True)
class Store:
    """The memory of one owner, as another tool keeps it.

    Attributes:
        kind: whose memory it is, in words.
        path: the folder or file it was found in.
        target: where it belongs here.
        document: its page of entries; None if it has none.
        notes: files of one fact each.
        pages: longer texts.
        problems: what could not be read, and why.
        said: what is known of the entries of its page, by the ids that they have here.
    """

    kind: str
    path: str
    target: Target
    document: Page | None = None
    notes: tuple[Page, ...] = ()
    pages: tuple[Page, ...] = ()
    problems: tuple[str, ...] = ()
    said: Mapping[str, About] = field(default_factory=dict)


def read_stores(path: str, now: datetime) -> list[Store]:
    """Read every store at a path: a store's own folder or file, or a project that holds some.

    What has expired at the moment `now` is left out.

    Raises:
        InvalidArgument: nothing is there, or no memory that amp knows; the message says what amp reads.
        StorageError: the folder itself cannot be listed.
    """
    path = os.path.abspath(path)
    if not os.path.exists(path):
        raise InvalidArgument(f"{path} is not there; name a folder or a file that holds memory")
    real = os.path.realpath(path)
    if SCAFFOLDING in os.path.dirname(real).split(os.sep):
        found = list(_within_scaffolding(real))  # where it lies says whose it is, whatever links to it
    elif os.path.isdir(path):
        found = list(_from_folder(path, now))
    else:
        found = list(_from_file(path, now))
    if not found:
        below = [quote(folder) for folder in islice(_memory_below(path), _NAMED)]
        if below:
            raise InvalidArgument(f"{path} itself holds no memory; name the folders in it that do: {' '.join(below)}")
        way_in = "where it lies deeper, or as pages of its own, name that folder or those pages"
        raise InvalidArgument(f"{path} holds no memory that amp knows; it reads {_READS}; {way_in}")
    return found


def _memory_below(path: str) -> Iterator[str]:
    """Yield folders below a folder that hold a MEMORY.md. Large trees are not walked to the end."""
    for folder, folders, files in islice(os.walk(path), _MOST_LOOKED_AT):
        if folder != path and any(name.lower() == "memory.md" for name in files):
            yield folder
        depth = folder[len(path) :].count(os.sep)
        folders[:] = sorted(name for name in folders if name not in _NO_MEMORY) if depth < _DEEPEST else []


def store_folders(project: str) -> list[tuple[str, str]]:
    """List the folders of a project in which other tools keep memory, and which tool does."""
    found = []
    for parts, (kind, _) in _KNOWN.items():
        folder = os.path.join(project, *parts)
        if os.path.isdir(folder) and not os.path.islink(folder):
            found.append((folder, kind))
    return found


def _from_file(path: str, now: datetime) -> Iterator[Store]:
    """Read a single file. In the folder of a tool it is what it is there, so it keeps its owner."""
    folder, name = os.path.split(path)
    kept = list(_within_a_tools_folder(path))
    if kept:
        yield from kept
        return
    with Root.open(folder) as root:
        if name.endswith(".jsonl"):
            yield _from_memory_file(root, name, now)
        elif name.lower().endswith(".md"):
            reader = _Reader(root, "a file")
            page = reader.page((name,))
            is_document = name.lower() in _DOCUMENTS
            pages = [] if page is None or is_document else [page]
            yield reader.store((name,), document=page if is_document else None, pages=pages)


def _within_a_tools_folder(path: str) -> Iterator[Store]:
    folder = os.path.dirname(path)
    while os.path.dirname(folder) != folder:
        if (stores := _of_a_tool(folder)) is not None:
            for store in stores:
                document = store.document if store.document is not None and store.document.path == path else None
                notes, pages = (
                    tuple(page for page in some if page.path == path) for some in (store.notes, store.pages)
                )
                if document or notes or pages:
                    yield Store(store.kind, path, store.target, document, notes, pages)
            return
        folder = os.path.dirname(folder)


def _of_a_tool(path: str) -> Iterable[Store] | None:
    """Return the stores in a folder whose name says which tool keeps them; None for another folder."""
    names = tuple(path.split(os.sep))
    for parts, (kind, read) in _KNOWN.items():
        if names[-len(parts) :] == parts:
            return read(path, kind)
    if len(names) > 1 and names[-2].startswith("agent-memory"):
        return [_agent(os.path.dirname(path), names[-1], "agent memory of Claude Code")]
    return None


def _from_folder(path: str, now: datetime) -> Iterator[Store]:
    names = tuple(path.split(os.sep))
    if (stores := _of_a_tool(path)) is not None:
        yield from stores
        return
    if names[-1] == SCAFFOLDING:
        yield from _scaffolding(os.path.dirname(path))
        return
    known = [folder for folder, _ in store_folders(path)]
    if os.path.isdir(os.path.join(path, SCAFFOLDING)):
        known.append(os.path.join(path, SCAFFOLDING))
    for folder in known:
        yield from _from_folder(folder, now)
    if known:
        return
    with Root.open(path) as root:
        if any(name.lower() == "memory.md" for name in root.list_files(())):
            yield _Reader(root, "auto memory of Claude Code").document_and_notes((), _SHARED)


def _within_scaffolding(path: str) -> Iterator[Store]:
    """Read what lies in another scaffolding: it keeps its owner. What is nobody's document or note is not memory."""
    names = path.split(os.sep)
    for store in _scaffolding(os.sep.join(names[: names.index(SCAFFOLDING)])):
        if os.path.commonpath([path, store.path]) == path:
            yield store
        elif os.path.dirname(path) == store.path:
            document = store.document if store.document is not None and store.document.path == path else None
            notes = tuple(page for page in store.notes if page.path == path)
            if document or notes:
                yield replace_fields(store, document=document, notes=notes, problems=())


def _agents(path: str, kind: str) -> Iterator[Store]:
    with Root.open(path) as root:
        names = root.list_folders(())
    yield from (_agent(path, name, kind) for name in names)


def _agent(path: str, name: str, kind: str) -> Store:
    with Root.open(path) as root:
        reader = _Reader(root, kind)
        target = reader.owned_by(Tier.AGENT, name)
        return reader.store((name,)) if target is None else reader.document_and_notes((name,), target)


def _pages(path: str, kind: str) -> Iterator[Store]:
    with Root.open(path) as root:
        reader = _Reader(root, kind)
        yield reader.store(pages=reader.read_all(reader.files(())))


def _squad(path: str, kind: str) -> Iterator[Store]:
    with Root.open(path) as root:
        reader = _Reader(root, kind)
        for name in root.list_folders(("agents",)):
            page = reader.page(("agents", name, "history.md"))
            if page is not None or reader.problems:
                target = reader.owned_by(Tier.AGENT, name)
                yield reader.store(("agents", name), target or _SHARED, page if target else None)
        page = reader.page(("decisions.md",))
        if page is not None:
            yield reader.store(pages=[page])


def _scaffolding(path: str) -> Iterator[Store]:
    with Root.open(path) as root:
        reader = _Reader(root, "another scaffolding")
        targets = [_SHARED]
        for tier in OWNED_TIERS:
            names = reader.names(root.list_folders, tier.folder)
            if reader.problems:
                yield reader.store(tier.folder)
            for name in names:
                target = reader.owned_by(tier, name)
                if target is None:
                    yield reader.store((*tier.folder, name))
                else:
                    targets.append(target)
        for target in targets:
            *folder, file = target.parts
            document = reader.page(target.parts)
            names = reader.names(root.list_files, tuple(folder)) if target.tier.has_notes else []
            notes = reader.read_all((*folder, name) for name in names if name.lower().endswith(".md") and name != file)
            said = reader.ledger(target) if document else {}
            if document or notes or reader.problems:
                yield replace_fields(reader.store(tuple(folder), target, document, notes), said=said)


def _from_memory_file(root: Root, name: str, now: datetime) -> Store:
    """Read an agent-memory/0.1 file as a page of entries, the kinds its headings, with the labels it names."""
    path = os.path.join(root.path, name)
    content = root.read((name,), limit=LARGEST * 16)
    lines = list(parse_file([b"" if content is None else content.data]))
    if not sort_out(lines).known:
        raise InvalidArgument(f"{path} is no agent-memory/0.1 file; `amp import` reads other formats")
    pieces, said = [], {}
    for line in view(lines, now).entries:
        # It comes in undated, so a label that would date it stays in front of the text.
        entry = entry_of(line)._replace(timestamp_ms=0)
        label, text = markdown.label_and_text(entry)
        front = marks.in_front(markdown.marks_of(entry), None)
        text = " ".join(text.split())
        pieces.append(markdown.Piece((line.kind.capitalize(),), (f"{front} {text}" if front else text,), label))
        said[entry_id(text, _SHARED)] = replace_fields(
            known.about_of(entry.extra, entry.source, entry.tags),
            disputed_with=known.disputed_with(entry.extra) if entry.extra.get("target") == str(_SHARED) else (),
        )
    page = Page(path, name, markdown.render(pieces))
    return Store("an agent-memory/0.1 file", path, _SHARED, page, said=said)


class _Reader:
    """Reads the Markdown of an open folder into stores of one kind, each with what could not be read for it."""

    def __init__(self, root: Root, kind: str) -> None:
        self._root = root
        self._kind = kind
        self.problems: list[str] = []

    def store(
        self,
        parts: tuple[str, ...] = (),
        target: Target = _SHARED,
        document: Page | None = None,
        notes: Iterable[Page] = (),
        pages: Iterable[Page] = (),
    ) -> Store:
        """Return a store, with the problems since the last one."""
        problems, self.problems = tuple(self.problems), []
        path = os.path.join(self._root.path, *parts)
        return Store(self._kind, path, target, document, tuple(notes), tuple(pages), problems)

    def document_and_notes(self, parts: tuple[str, ...], target: Target) -> Store:
        """Return a folder with a page of entries and notes next to it; deeper files are longer texts."""
        pages = self.read_all(self.files(parts))
        folder = os.path.join(self._root.path, *parts)
        beside = [page for page in pages if os.path.dirname(page.path) == folder]
        document = next((page for name in _DOCUMENTS for page in beside if page.name.lower() == name), None)
        # A note cannot have the name that the document has here.
        taken = target.parts[-1].lower()
        notes = [page for page in beside if page is not document and page.name.lower() != taken]
        return self.store(
            parts, target, document, notes, [page for page in pages if page is not document and page not in notes]
        )

    def owned_by(self, tier: Tier, name: str) -> Target | None:
        """Return the document of the owner that a folder is named after; None if no owner may have that name."""
        try:
            return Target(tier, check_owner(tier, name))
        except InvalidName as error:
            self.problems.append(str(error))
            return None

    def names(self, listed: Callable[[tuple[str, ...]], list[str]], parts: tuple[str, ...]) -> list[str]:
        """Return what a folder holds; nothing if it cannot be read."""
        try:
            return listed(parts)
        except AgentMemoryError as error:
            self.problems.append(str(error))
            return []

    def files(self, parts: tuple[str, ...]) -> Iterator[tuple[str, ...]]:
        """Yield the paths of all Markdown files in a folder and below it."""

        def enter(folder: tuple[str, ...]) -> bool:
            if folder[-1].startswith("."):
                return False
            if len(folder) > _DEEPEST:
                path = os.path.join(self._root.path, *folder)
                self.problems.append(f"{path}: lies too deep; name it as a source")
            return len(folder) <= _DEEPEST

        found = self._root.files_below(parts, enter, lambda error: self.problems.append(str(error)))
        return (one for one in found if one[-1].lower().endswith(".md") and one[-1][0] not in ".#~")

    def ledger(self, target: Target) -> dict[str, About]:
        """Read what the ledger beside a document knows of its entries; nothing where it cannot be read."""
        parts = ledger.parts_of(target)
        try:
            content = self._root.read(parts)
            return {} if content is None else ledger.read_said(content.data, target)
        except AgentMemoryError as error:
            self.problems.append(f"{os.path.join(self._root.path, *parts)}: {error}")
            return {}

    def read_all(self, paths: Iterable[tuple[str, ...]]) -> list[Page]:
        """Read the files that can be read."""
        return [page for parts in paths if (page := self.page(parts)) is not None]

    def page(self, parts: tuple[str, ...]) -> Page | None:
        """Read one file; None if it is missing or cannot be read."""
        path = os.path.join(self._root.path, *parts)
        try:
            content = self._root.read(parts, limit=LARGEST)
            return None if content is None else Page(path, parts[-1], decode(content.data, path))
        except AgentMemoryError as error:
            self.problems.append(str(error))
            return None


_KNOWN: dict[tuple[str, ...], tuple[str, Callable[[str, str], Iterator[Store]]]] = {
    (".claude", "agent-memory"): ("agent memory of Claude Code", _agents),
    (".claude", "agent-memory-local"): ("agent memory of Claude Code, local", _agents),
    (".serena", "memories"): ("memories of Serena", _pages),
    (".squad",): ("histories of Squad", _squad),
    ("memory-bank",): ("a memory bank", _pages),
}
"""Where other tools keep memory in a project, and how each is read."""

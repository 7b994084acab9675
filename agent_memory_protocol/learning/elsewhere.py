"""Memory kept elsewhere: find what other tools have written for a project, and read it without changing anything.

Each tool has its own folders; what they hold is always one of three things. A *document* is a page of entries, a *note*
is one fact in a file with its own name, and a *page* is a longer text. What becomes of them is `adoption`'s to say.
"""

import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from dataclasses import replace as replace_fields
from datetime import datetime
from itertools import islice
from shlex import quote

from ..disk.files import Root, decode
from ..errors import AgentMemoryError, InvalidArgument, InvalidName
from ..formats.jsonl import EntryLine, parse_file
from ..formats.jsonl_view import sort_out, view
from ..layout import OWNED_TIERS, SCAFFOLDING, Target, Tier, check_owner

LARGEST = 1 << 20
"""No larger file is read: it is no memory that an agent could use."""

_READS = (
    "Claude Code's agent memory (agent-memory/NAME/) and auto memory (a folder with a MEMORY.md), Serena's memories, "
    "Squad's histories, a memory bank, another .scaffolding, agent-memory/0.1 files and single Markdown files"
)
_DEEPEST = 8
_NAMED = 3
"""Of more folders below than this, only so many are named."""
_MOST_LOOKED_AT = 2_000
_NO_MEMORY = (".git", "node_modules", ".venv")
_DOCUMENTS = ("memory.md", "knowledge.md", "context.md", "history.md")
"""What a page of entries is called; where a folder has several, the first of these."""

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
        document: its page of entries; None where it has none.
        notes: files of one fact each.
        pages: longer texts.
        problems: what could not be read, and why.
    """

    kind: str
    path: str
    target: Target
    document: Page | None = None
    notes: tuple[Page, ...] = ()
    pages: tuple[Page, ...] = ()
    problems: tuple[str, ...] = ()


def read_stores(path: str, now: datetime) -> list[Store]:
    """Read every store at a path: a store's own folder or file, or a project that holds some.

    Args:
        path: the folder or file.
        now: the present moment, for what has an expiry.

    Raises:
        InvalidArgument: there is nothing, or nothing that is memory; the message says what would be.
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
    folder, name = os.path.split(path)
    with Root.open(folder) as root:
        if name.endswith(".jsonl"):
            yield _from_memory_file(root, name, now)
        elif name.lower().endswith(".md"):
            reader = _Reader(root)
            page = reader.page((name,))
            is_document = name.lower() in _DOCUMENTS
            pages = () if page is None or is_document else (page,)
            yield Store("a file", path, _SHARED, page if is_document else None, (), pages, tuple(reader.problems))


def _from_folder(path: str, now: datetime) -> Iterator[Store]:
    names = tuple(path.split(os.sep))
    for parts, (kind, read) in _KNOWN.items():
        if names[-len(parts) :] == parts:
            yield from read(path, kind)
            return
    parent = names[-2] if len(names) > 1 else ""
    if parent.startswith("agent-memory"):
        yield from _agent(os.path.dirname(path), names[-1], "agent memory of Claude Code")
        return
    if names[-1] == SCAFFOLDING:
        yield from _scaffolding(os.path.dirname(path), "another scaffolding")
        return
    known = [folder for folder, _ in store_folders(path)]
    if os.path.isdir(os.path.join(path, SCAFFOLDING)):
        known.append(os.path.join(path, SCAFFOLDING))
    for folder in known:
        yield from _from_folder(folder, now)
    if known:
        return
    with Root.open(path) as root:
        is_store = any(name.lower() == "memory.md" for name in root.list_files(()))
    if is_store:
        yield from _folder(path, (), _SHARED, "auto memory of Claude Code")


def _within_scaffolding(path: str) -> Iterator[Store]:
    """Read what lies in another scaffolding: it keeps its owner. What is nobody's document or note is no memory."""
    names = path.split(os.sep)
    root = os.sep.join(names[: names.index(SCAFFOLDING)])
    for store in _scaffolding(root, "another scaffolding"):
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
    for name in names:
        yield from _agent(path, name, kind)


def _agent(path: str, name: str, kind: str) -> Iterator[Store]:
    try:
        target = Target(Tier.AGENT, check_owner(Tier.AGENT, name))
    except InvalidName as error:
        yield Store(kind, os.path.join(path, name), _SHARED, problems=(str(error),))
        return
    yield from _folder(path, (name,), target, kind)


def _folder(path: str, parts: tuple[str, ...], target: Target, kind: str) -> Iterator[Store]:
    """Read a folder with a page of entries and notes beside it; what lies deeper is a longer text."""
    with Root.open(path) as root:
        reader = _Reader(root)
        read = [(found, page) for found in reader.files(parts) if (page := reader.page(found)) is not None]
        beside = [page for found, page in read if len(found) == len(parts) + 1]
        named = [page for name in _DOCUMENTS for page in beside if page.name.lower() == name]
        document = named[0] if named else None
        # What is called as the document is here cannot stand beside it as a note.
        taken = target.parts[-1].lower()
        notes = [page for page in beside if page is not document and page.name.lower() != taken]
        pages = [page for _, page in read if page is not document and page not in notes]
        yield Store(
            kind, os.path.join(path, *parts), target, document, tuple(notes), tuple(pages), tuple(reader.problems)
        )


def _pages(path: str, kind: str) -> Iterator[Store]:
    with Root.open(path) as root:
        reader = _Reader(root)
        pages = [page for parts in reader.files(()) if (page := reader.page(parts)) is not None]
        yield Store(kind, path, _SHARED, pages=tuple(pages), problems=tuple(reader.problems))


def _squad(path: str, kind: str) -> Iterator[Store]:
    with Root.open(path) as root:
        names = root.list_folders(("agents",)) if root.exists(("agents",)) else []
        for name in names:
            reader = _Reader(root)
            page = reader.page(("agents", name, "history.md"))
            if page is not None or reader.problems:
                folder = os.path.join(path, "agents", name)
                try:
                    target = Target(Tier.AGENT, check_owner(Tier.AGENT, name))
                except InvalidName as error:
                    yield Store(kind, folder, _SHARED, problems=(str(error),))
                    continue
                yield Store(kind, folder, target, page, problems=tuple(reader.problems))
        reader = _Reader(root)
        page = reader.page(("decisions.md",))
        if page is not None:
            yield Store(kind, path, _SHARED, pages=(page,), problems=tuple(reader.problems))


def _scaffolding(path: str, kind: str) -> Iterator[Store]:
    with Root.open(path) as root:
        targets = [_SHARED]
        for tier in OWNED_TIERS:
            folder = tier.folder
            try:
                names = root.list_folders(folder) if root.exists(folder) else []
            except AgentMemoryError as error:
                yield Store(kind, os.path.join(path, *folder), _SHARED, problems=(str(error),))
                continue
            for name in names:
                try:
                    targets.append(Target(tier, check_owner(tier, name)))
                except InvalidName as error:
                    yield Store(kind, os.path.join(path, *folder, name), _SHARED, problems=(str(error),))
        for target in targets:
            reader = _Reader(root)
            document = reader.page(target.parts)
            folder = target.parts[:-1]
            notes = reader.beside(target) if target.tier.has_notes else []
            if document or notes or reader.problems:
                yield Store(
                    kind, os.path.join(path, *folder), target, document, tuple(notes), (), tuple(reader.problems)
                )


def _from_memory_file(root: Root, name: str, now: datetime) -> Store:
    """Read an agent-memory/0.1 file as a page of entries, the kinds its headings."""
    path = os.path.join(root.path, name)
    content = root.read((name,), limit=LARGEST * 16)
    lines = list(parse_file([b"" if content is None else content.data]))
    if not sort_out(lines).known:
        raise InvalidArgument(f"{path} is no agent-memory/0.1 file; `amp import` reads other formats")
    sections: dict[str, list[EntryLine]] = {}
    for entry in view(lines, now).entries:
        sections.setdefault(entry.kind, []).append(entry)
    text = "# Memory\n"
    for kind, entries in sections.items():
        text += f"\n## {kind.capitalize()}\n\n" + "".join(f"- {' '.join(entry.text.split())}\n" for entry in entries)
    return Store("an agent-memory/0.1 file", path, _SHARED, Page(path, name, text))


class _Reader:
    """Reads the Markdown of a folder, and keeps what it could not read."""

    def __init__(self, root: Root) -> None:
        self._root = root
        self._seen: set[str] = set()
        self.problems: list[str] = []

    def files(self, parts: tuple[str, ...]) -> Iterator[tuple[str, ...]]:
        """Yield the paths of all Markdown files in a folder and below it.

        A folder that links lead to as well is looked at once, and so is one that holds a link to itself.
        """
        real = os.path.realpath(os.path.join(self._root.path, *parts))
        if real in self._seen:
            return
        self._seen.add(real)
        try:
            names, folders = self._root.list_files(parts), self._root.list_folders(parts)
        except AgentMemoryError as error:
            self.problems.append(str(error))
            return
        for name in names:
            if name.lower().endswith(".md") and not name.startswith((".", "#", "~")):
                yield (*parts, name)
        folders = [name for name in folders if not name.startswith(".")]
        if len(parts) < _DEEPEST:
            for name in folders:
                yield from self.files((*parts, name))
        else:
            path = os.path.join(self._root.path, *parts)
            self.problems += [f"{os.path.join(path, name)}: lies too deep; name it as a source" for name in folders]

    def beside(self, target: Target) -> list[Page]:
        """Read the Markdown that stands beside a document."""
        folder = target.parts[:-1]
        try:
            names = self._root.list_files(folder) if self._root.exists(folder) else []
        except AgentMemoryError as error:
            self.problems.append(str(error))
            return []
        found = [self.page((*folder, name)) for name in names if name.lower().endswith(".md")]
        return [page for page in found if page is not None and page.name != target.parts[-1]]

    def page(self, parts: tuple[str, ...]) -> Page | None:
        """Read one file; None where there is none, or it cannot be read."""
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

"""Memory kept elsewhere: find what other tools have written for a project, and read it without changing anything.

Each tool has its own folders. They hold three kinds of things: a *document* is a page of entries, a *note* is one fact
in a file with its own name, and a *page* is a longer text. `merge_in` says what becomes of them.
"""

import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import field
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
from ..text import headers, marks
from ..tiers.document import entry_id, parse
from ..values import dataclass
from . import rules_files

LARGEST = 1 << 20  # Larger files are not read: an agent could not use them as memory

_READS = (
    "Claude Code's agent memory (agent-memory/NAME/) and auto memory (a folder with a MEMORY.md), Serena's memories, "
    "Squad's histories, a memory bank, rules files (CLAUDE.md, AGENTS.md, .cursor/rules and the like), another "
    ".scaffolding, agent-memory/0.1 files and single Markdown files"
)
_DEEPEST = 8
_MOST_LOOKED_AT = 2_000
_NO_MEMORY = rules_files.NEVER_ENTERED | {".git", ".venv"}
MEMORY_FOLDER = "a folder of memory with a MEMORY.md"
_DOCUMENTS = ("memory.md", "knowledge.md", "context.md", "history.md")
"""What a page of entries is called; if a folder has several, the first of these."""

_SHARED = Target(Tier.SHARED)


@dataclass(frozen=True, slots=True)
class Page:
    """A file: its path as a person would name it, its file name, its text.

    Where the text was only made from the file, `original` is what the file says, and `source` its path for a reader;
    else both are "".
    """

    path: str
    name: str
    text: str
    original: str = ""
    source: str = ""

    @property
    def whole(self) -> str:
        """What the file itself says."""
        return self.original or self.text

    def place(self, line: str, count: int = 1) -> str:
        """Return the path with the number of the line that says this, and of the last where there are more."""
        wanted = line.strip()
        lines = self.whole.splitlines()
        number = next((number for number, one in enumerate(lines, start=1) if one.strip() == wanted), 0)
        last = f"-{number + count - 1}" if count > 1 else ""
        return f"{self.path}:{number}{last}" if number else self.path


@dataclass(frozen=True, slots=True)
class Store:
    """The memory of one owner, as another tool keeps it."""

    kind: str
    path: str  # the folder or file it was found in
    target: Target
    document: Page | None = None  # its page of entries; None if it has none
    notes: tuple[Page, ...] = ()  # files of one fact each
    pages: tuple[Page, ...] = ()  # longer texts
    problems: tuple[str, ...] = ()
    outside: tuple[str, ...] = ()  # what its pages include that is not a file of the project, as it is written there
    # what is known of the entries of its page, by the ids that they have here
    said: Mapping[str, About] = field(default_factory=dict)


def read_stores(path: str, now: datetime, project: str = "") -> list[Store]:
    """Read every store at a path: its own folder or file, or a project that holds some.

    What has expired `now` is left out. Rules files are named by their path from `project`. Raises InvalidArgument for
    a path without a memory that amp knows.
    """
    path = os.path.abspath(path)
    if not os.path.exists(path):
        raise InvalidArgument(f"{path} is not there; name a folder or a file that holds memory")
    real = os.path.realpath(path)
    if SCAFFOLDING in os.path.dirname(real).split(os.sep):
        found = list(_within_scaffolding(real))  # where it lies says whose it is, whatever links to it
    elif os.path.isdir(path):
        found = list(_from_folder(path, now, project))
    else:
        found = list(_from_file(path, now, project))
    if not found:
        below = [quote(folder) for folder in islice(memory_below(path), 3)]
        if below:
            raise InvalidArgument(f"{path} itself holds no memory; name the folders in it that do: {' '.join(below)}")
        pages = quote(path if os.path.isdir(path) else os.path.dirname(path))
        told = f"{path} holds no memory that amp knows; it reads {_READS}"
        raise InvalidArgument(f"{told}; pages of another kind come in by name: `amp adopt {pages}/*.md`")
    return found


def memory_below(path: str) -> Iterator[str]:
    """Yield folders below a folder that hold a MEMORY.md. Large trees are not walked to the end."""
    for folder, folders, files in islice(os.walk(path), _MOST_LOOKED_AT):
        if folder != path and any(name.lower() == "memory.md" for name in files):
            yield folder
        depth = folder[len(path) :].count(os.sep)
        folders[:] = sorted(name for name in folders if name not in _NO_MEMORY) if depth < _DEEPEST else []


def store_folders(project: str) -> list[tuple[str, str]]:
    """List the folders of a project in which other tools keep memory, and which tool does."""
    found = []
    for below in range(3):  # so deep may its packages lie, each with memory of its own
        for folder in _folders(project, below):
            for parts, (kind, _) in _KNOWN.items():
                path = os.path.join(folder, *parts)
                if os.path.isdir(path) and not os.path.islink(path) and (kind != MEMORY_FOLDER or _has_page(path)):
                    found.append((path, kind))
    return found


def _folders(project: str, below: int) -> list[str]:
    """Return the folders of a project at this depth, without those that hold nobody's own work."""
    if not below:
        return [project]
    found = []
    for folder in _folders(project, below - 1):
        with suppress(OSError), os.scandir(folder) as entries:
            names = [one.name for one in entries if one.is_dir(follow_symlinks=False)]
            found += [os.path.join(folder, one) for one in sorted(names) if one[0] != "." and one not in _NO_MEMORY]
    return found[:_MOST_LOOKED_AT]


def _has_page(folder: str) -> bool:
    with suppress(OSError):
        return any(name.lower() == "memory.md" for name in os.listdir(folder))
    return False


def _from_file(path: str, now: datetime, project: str) -> Iterator[Store]:
    """Read a single file. In the folder of a tool it is what it is there, so it keeps its owner."""
    folder, name = os.path.split(path)
    kept = list(_within_a_tools_folder(path))
    if kept:
        yield from kept
        return
    if rules_files.kind_of(path):
        yield from _rules([path], _base(path, project))
        return
    with Root.open(folder) as root:
        if name.endswith(".jsonl"):
            yield _from_memory_file(root, name, now)
        elif name.lower().endswith(".md"):
            reader = _Reader(root, "a file")
            page = reader.page((name,))
            is_document = name.lower() in _DOCUMENTS
            if page is None or is_document or headers.split_header(page.text):
                pages = [] if page is None or is_document else [page]
                yield reader.store((name,), document=page if is_document else None, pages=pages)
            else:
                yield from _rules([path], _base(path, project))


def _base(path: str, project: str) -> str:
    """Return the folder that rules files are named from: the project, where they lie in it, else their own."""
    real = os.path.realpath(path)
    if project and os.path.commonpath([real, os.path.realpath(project)]) == os.path.realpath(project):
        return os.path.realpath(project)
    return path if os.path.isdir(path) else rules_files.base_of(path)


def _rules(paths: Sequence[str], project: str) -> Iterator[Store]:
    """Read files of rules, and those that they include from inside the project."""
    left, seen = [*paths], set[str]()
    while left:
        path = left.pop(0)
        if (real := os.path.realpath(path)) in seen:
            continue
        seen.add(real)
        with Root.open(os.path.dirname(path)) as root:
            reader = _Reader(
                root, rules_files.kind_of(path) or ("a file" if path in paths else "rules that other rules include")
            )
            page = reader.page((os.path.basename(path),))
            shown = os.path.relpath(real, os.path.realpath(project))
            rules = rules_files.read(page.text if page and page.text != rules_files.LINE else "", shown)
            outside = []
            for one in (*rules.imports, *rules.mentions):
                included = os.path.normpath(os.path.join(os.path.dirname(path), one))
                if os.path.commonpath([included, project]) == project and os.path.isfile(included):
                    left.append(included)
                elif one in rules.imports:  # a sentence that names a file comes in itself
                    outside.append(f"@{one}")
            stem = rules_files.stem_of(shown)
            text = page.text if page else ""
            pages = [
                Page(path, f"{stem}-{name}.md", f"# {rules_files.under(rules.topic, name)}\n\n{one}\n", text, shown)
                for name, one in rules.sections
            ]
            document = Page(path, f"{stem}.md", rules.text, text, shown) if rules.text else None
            if document or pages or outside or reader.problems or (page and page.text == rules_files.LINE):
                store = reader.store((os.path.basename(path),), _SHARED, document, (), pages)
                about = About(source=shown.replace(os.sep, "/"))
                said = dict.fromkeys(parse(rules.text.encode(), _SHARED).ids, about)
                yield replace_fields(store, said=said, outside=tuple(outside))


def _within_a_tools_folder(path: str) -> Iterator[Store]:
    folder = os.path.dirname(path)
    while os.path.dirname(folder) != folder:
        if (stores := _of_a_tool(folder)) is not None:
            yield from (replace_fields(one, path=path) for store in stores for one in _only(path, store))
            return
        folder = os.path.dirname(folder)


def _only(path: str, store: Store) -> Iterator[Store]:
    """Yield a store with no more than one of its files, if it has that."""
    document = store.document if store.document is not None and store.document.path == path else None
    notes, pages = (tuple(page for page in some if page.path == path) for some in (store.notes, store.pages))
    if document or notes or pages:
        yield replace_fields(store, document=document, notes=notes, pages=pages, problems=())


def _of_a_tool(path: str) -> Iterable[Store] | None:
    """Return the stores in a folder whose name says which tool keeps them; None for another folder."""
    names = tuple(path.split(os.sep))
    for parts, (kind, read) in _KNOWN.items():
        if names[-len(parts) :] == parts:
            return read(path, kind)
    if len(names) > 1 and names[-2].startswith("agent-memory"):
        return [_agent(os.path.dirname(path), names[-1], "agent memory of Claude Code")]
    return None


def _from_folder(path: str, now: datetime, project: str = "") -> Iterator[Store]:
    names = tuple(path.split(os.sep))
    if (stores := _of_a_tool(path)) is not None:
        yield from stores
        return
    if names[-1] == SCAFFOLDING:
        yield from _scaffolding(os.path.dirname(path))
        return
    if rules_files.kind_of(os.path.join(path, "x.md")):
        yield from _rules(list(rules_files.inside(path)), _base(os.path.join(path, "x.md"), project))
        return
    known = [folder for folder, _ in store_folders(path)]
    rules = list(_rules([one for one, _ in rules_files.find(path)], _base(path, project)))
    yield from rules
    if os.path.isdir(os.path.join(path, SCAFFOLDING)):
        known.append(os.path.join(path, SCAFFOLDING))
    for folder in known:
        yield from _from_folder(folder, now, project)
    page = next((name for name in sorted(os.listdir(path)) if name.lower() == "memory.md"), "")
    if not page:
        return
    with Root.open(path) as root:
        if known or rules:  # the other files of a project are not notes
            reader = _Reader(root, "a page of memory")
            yield reader.store((page,), _SHARED, reader.page((page,)))
        else:
            yield _Reader(root, "auto memory of Claude Code").document_and_notes((), _SHARED)


def _within_scaffolding(path: str) -> Iterator[Store]:
    """Read what lies in another scaffolding: it keeps its owner. What is nobody's document or note is not memory."""
    names = path.split(os.sep)
    for store in _scaffolding(os.sep.join(names[: names.index(SCAFFOLDING)])):
        if os.path.commonpath([path, store.path]) == path:
            yield store
        elif os.path.dirname(path) == store.path:
            yield from _only(path, store)


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


def _one_folder(path: str, kind: str) -> Iterator[Store]:
    with Root.open(path) as root:
        yield _Reader(root, kind).document_and_notes((), _SHARED)


def _squad(path: str, kind: str) -> Iterator[Store]:
    with Root.open(path) as root:
        reader = _Reader(root, kind)
        for name in root.list_folders(("agents",)):
            page, *older = [reader.page(("agents", name, "history.md")), *reader.beside(("agents", name), "history-")]
            if page or older or reader.problems:
                target = reader.owned_by(Tier.AGENT, name)
                yield reader.store(("agents", name), *((target, page, (), older) if target else ()))
        if shared := [*reader.beside((), "decisions"), *reader.beside(("identity",))]:
            yield reader.store(pages=shared)


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
        raise InvalidArgument(f"{path} is not an agent-memory/0.1 file; `amp import` reads other formats")
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

    def beside(self, parts: tuple[str, ...], begins: str = "") -> list[Page]:
        """Read the Markdown files right in a folder whose names begin so."""
        names = (one for one in self.names(self._root.list_files, parts) if one.endswith(".md"))
        return self.read_all((*parts, one) for one in names if one.startswith(begins))

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
    (".claude", "memory"): (MEMORY_FOLDER, _one_folder),
    ("memory",): (MEMORY_FOLDER, _one_folder),
}
"""Where other tools keep memory in a project, and how each is read."""

"""The rules files that memory was adopted from: told twice as long as they stay, moved on request (decision 56)."""

import os
from collections.abc import Iterable, Iterator, Sequence

from ..change.ledger import Archived
from ..change.session import Session
from ..disk.files import decode
from ..disk.writing import create, replace
from ..errors import AgentMemoryError
from ..layout import Target, Tier
from ..learning import rules_files
from ..learning.merge_in import Adoption
from ..learning.rules_files import LINE
from ..lint.store import Trouble
from ..tiers.document import Document, entry_id, parse

_SHARED = Target(Tier.SHARED)
_LARGEST = 1 << 20


def is_one(path: str) -> bool:
    """Say whether a path, as a ledger has it, is a rules file's."""
    return bool(rules_files.kind_of(path)) and ".." not in path.split("/")


def of(session: Session, adoptions: Iterable[Adoption]) -> Iterator[tuple[Adoption, str]]:
    """Yield the adoptions of rules files of this project that came in whole, each with the path below the root."""
    root = os.path.realpath(session.root.path)
    for one in adoptions:
        path = os.path.relpath(os.path.realpath(one.store.path), root).replace(os.sep, "/")
        is_whole = not one.left_out and (one.present or one.entries or one.notes)
        if is_whole and not path.startswith("../") and rules_files.kind_of(path):
            yield one, path


def move(session: Session, adoptions: Sequence[Adoption]) -> list[str]:
    """Leave one line in each file that came in whole, its text going to the ledger. Returns the files."""
    moved = []
    for _, path in of(session, adoptions):
        parts = tuple(path.split("/"))
        with session.locked(_SHARED):
            content = session.root.read(parts, limit=_LARGEST)
            text = "" if content is None else decode(content.data, path)
            if content is None or text == LINE:
                continue
            books = session.books(_SHARED)
            books.archive_note(path, entry_id(f"{path}\n{text}", _SHARED), text, f"adopted: {_SHARED.path} holds it")
            replace(session.root, parts, LINE.encode(), expected=content)
        moved.append(path)
    return moved


def put_back(session: Session, archived: Archived) -> bool:
    """Give a file its text again; False where it says something else than the line that was left in it."""
    parts = tuple(archived.note.split("/"))
    content = session.root.read(parts, limit=_LARGEST)
    text = archived.taken.markdown.encode()
    if content is None:
        return create(session.root, parts, text)
    if content.data != LINE.encode():
        return False
    replace(session.root, parts, text, expected=content)
    return True


def told_twice(session: Session, shared: Document | None) -> list[Trouble]:
    """Return the rules files whose entries are in memory, too: their host reads them, and is told the same twice."""
    if shared is None:
        return []
    there = dict.fromkeys(source for one, source in _sources(session).items() if one in {*shared.ids})
    return [Trouble(path, told) for path in there if (told := _told(session, path, shared))]


def sources(session: Session) -> set[str]:
    """Return the rules files that shared memory was adopted from."""
    return {*_sources(session).values()}


def _sources(session: Session) -> dict[str, str]:
    """Return the rules file that each entry of shared memory is from, by id; none where the ledger cannot be read."""
    try:
        said = session.said(_SHARED)
    except AgentMemoryError:
        return {}
    return {one: about.source for one, about in said.items() if about.source and rules_files.kind_of(about.source)}


def _told(session: Session, path: str, shared: Document) -> str:
    try:
        content = session.root.read(tuple(path.split("/")), limit=_LARGEST)
        text = "" if content is None else decode(content.data, path)
    except AgentMemoryError:
        return ""
    theirs = parse(rules_files.read(text, path).text.encode(), _SHARED)
    count = len({*theirs.ids} & {*shared.ids})
    if not count:
        return ""
    are, them = ("is", "it") if count == 1 else ("are", "them")
    command = f"`amp adopt {path} --link --apply` moves {them}"
    return f"{count} of its entries {are} in memory, so its host is told twice; {command}"

"""The notes of a folder on disk: list them, read their heads quickly, read one whole."""

from collections.abc import Iterable
from dataclasses import field

from ..disk import files, looked
from ..disk.files import Root
from ..disk.looked import Looked, Sign
from ..errors import DamagedFile
from ..text import links
from ..values import dataclass
from . import note
from .index import beside_name, is_beside
from .note import Head, Note

_START_BYTES = 512
_HEADER_BYTES = 16_384
_LARGEST = 1 << 20


@dataclass(frozen=True, slots=True)
class Folder:
    """The notes of a folder.

    Attributes:
        heads: what each note's index line is made from, by file name, in the order of names.
        problems: what cannot be read as a note, and why: links that lead nowhere, pipes, text in another encoding.
    """

    heads: dict[str, Head] = field(default_factory=dict)
    problems: dict[str, str] = field(default_factory=dict)

    def read(self, root: Root, folder: tuple[str, ...], name: str) -> None:
        """Take in one note as it is on disk now. What cannot be read is a problem, not an error."""
        try:
            head = read_head(root, (*folder, name))
        except DamagedFile as error:
            self.problems[name] = str(error)
        else:
            if head is not None:
                self.heads[name] = head


class KnownNotes:
    """The notes of a folder as they were read, so that the next time only those are read that have changed.

    `disk.looked` says how a change is seen. A file that was changed just before a look is read again at the next.
    """

    def __init__(self) -> None:
        self.folder = Folder()
        self._signs: dict[str, Sign | None] = {}
        self._looked: Looked | None = None

    def __contains__(self, name: str) -> bool:
        """Say whether a note was there, and could be read."""
        return name in self.folder.heads

    def look(self, root: Root, folder: tuple[str, ...], tier_file: str) -> None:
        """Look at every note, and read those that are new or have changed; `folder` stays the same if there are none.

        What could not be read is always read again.
        """
        now = look(root, folder, tier_file)
        if now is self._looked and now.is_settled and not self.folder.problems:
            return
        old, self.folder, self._looked = self.folder, Folder(), now
        found = {name: sign for name, sign in now.files.items() if not is_beside(name)}
        for name, sign in found.items():
            if sign is not None and sign == self._signs.get(name) and name in old.heads:
                self.folder.heads[name] = old.heads[name]
            else:
                self.folder.read(root, folder, name)
            if sign is not None and max(sign[-2:]) > now.at - looked.TICK:
                found[name] = None
        self._signs = found

    def look_at(self, root: Root, folder: tuple[str, ...], names: Iterable[str]) -> bool:
        """Read some of the known notes again. Says whether anything that an index line is made from has changed."""
        before = {name: self.folder.heads.get(name) for name in names}
        now = Folder()
        for name in before:
            now.read(root, folder, name)
            self._signs[name] = None
        self._looked = None
        self.folder = Folder({**self.folder.heads, **now.heads}, {**self.folder.problems, **now.problems})
        for name in before.keys() - now.heads.keys():
            self.folder.heads.pop(name, None)
        return before != {name: now.heads.get(name) for name in before}


def is_note(name: str, tier_file: str) -> bool:
    """Say whether a file of a memory folder is a note: Markdown, not hidden, no tier file, no file of its index."""
    # Asked of thousands of names, of which hardly one is as long as the tier file is called.
    is_markdown = name[-3:].lower() == ".md" and name[0] not in ".#~"
    return is_markdown and (len(name) != len(tier_file) or name.lower() != tier_file.lower()) and not is_beside(name)


def read_beside(root: Root, folder: tuple[str, ...]) -> list[str]:
    """Read the files beside a tier file that hold what its index has no room for, in their order."""
    texts: list[str] = []
    while True:
        parts = (*folder, beside_name(len(texts) + 1))
        content = root.read(parts, limit=_LARGEST)
        if content is None:
            return texts
        texts.append(files.decode(content.data, "/".join(parts)))


def parts_of_notes(root: Root, folder: tuple[str, ...], names: Iterable[str]) -> set[str]:
    """Return those of these files that are further parts of a note: `STEM.2.md`, which `STEM.md` names."""
    all_names = set(names)
    first = {name: f"{name[:-3].rpartition('.')[0]}.md" for name in all_names if name[:-3].rpartition(".")[2].isdigit()}
    found = set()
    for name, stem in first.items():
        content = root.read((*folder, stem), limit=_LARGEST) if stem in all_names else None
        if content is not None and f"({links.target(name)})".encode() in content.data:
            found.add(name)
    return found


def list_names(root: Root, folder: tuple[str, ...], tier_file: str) -> list[str]:
    """List the file names of a folder's notes."""
    return [name for name in root.list_files(folder) if is_note(name, tier_file)]


def look(root: Root, folder: tuple[str, ...], tier_file: str) -> Looked:
    """Look at the notes of a folder, and at the files beside its tier file."""
    return looked.look(root, folder, lambda name: is_note(name, tier_file) or is_beside(name))


def has_notes(root: Root, folder: tuple[str, ...], tier_file: str) -> bool:
    """Say whether a folder has a note at all."""
    return root.has_file(folder, lambda name: is_note(name, tier_file))


def read_folder(root: Root, folder: tuple[str, ...], tier_file: str) -> Folder:
    """Read the heads of a folder's notes."""
    found = Folder()
    for name in list_names(root, folder, tier_file):
        found.read(root, folder, name)
    return found


def read_head(root: Root, parts: tuple[str, ...]) -> Head | None:
    """Read a note's head; None if the file does not exist. Mostly its first 512 bytes are enough."""
    start = root.read_start(parts, _START_BYTES)
    if start is None:
        return None
    head = note.read_head(_text(start, parts, whole=len(start) < _START_BYTES))
    if head is None and len(start) == _START_BYTES:
        start = root.read_start(parts, _HEADER_BYTES) or b""
        head = note.read_head(_text(start, parts, whole=len(start) < _HEADER_BYTES))
    return head or Head()


def read(root: Root, folder: tuple[str, ...], name: str) -> tuple[Note, str] | None:
    """Read a note whole, and its text; None if it does not exist."""
    parts = (*folder, name)
    content = root.read(parts, limit=_LARGEST)
    if content is None:
        return None
    text = files.decode(content.data, "/".join(parts))
    return note.parse(text, name), text


def _text(data: bytes, parts: tuple[str, ...], *, whole: bool) -> str:
    try:
        text = data.decode()
    except UnicodeDecodeError as error:
        if whole or len(data) - error.start > 3:
            return files.decode(data, "/".join(parts))
        text = data[: error.start].decode()
    text = text.removeprefix("\ufeff")
    return text.replace("\r\n", "\n").replace("\r", "\n") if "\r" in text else text

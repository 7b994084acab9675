"""The notes of a folder on disk: list them, read their heads quickly, read one whole."""

import os
import time
from collections.abc import Callable, Iterable
from dataclasses import field
from typing import TypeVar

from ..disk import files
from ..disk.files import Root
from ..errors import DamagedFile
from ..text import links
from ..values import dataclass
from . import note
from .index import beside_name, is_beside
from .note import Head, Note

Signed = TypeVar("Signed")

_START_BYTES = 512
_HEADER_BYTES = 16_384
_LARGEST = 1 << 20
_TICK = 2_000_000_000  # The coarsest clock, in nanoseconds, by which a file system tells when a file was written


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

    A change is seen by disk, inode, size and both times: an edit of equal size may set back the one that it can set. A
    file that was changed just now is read again the next time whatever they say, since a second write within one tick
    of the clock of its disk leaves the times as they are.
    """

    def __init__(self) -> None:
        self.folder = Folder()
        self._stamps: dict[str, tuple[int, ...] | None] = {}

    def __contains__(self, name: str) -> bool:
        """Say whether a note was there, and could be read."""
        return name in self.folder.heads

    def look(self, root: Root, folder: tuple[str, ...], tier_file: str) -> None:
        """Look at every note, and read those that are new or have changed."""
        just_now = time.time_ns() - _TICK
        old, self.folder = self.folder, Folder()
        found = stamps(root, folder, tier_file, _signed)
        for name, stamp in found.items():
            if stamp is not None and stamp == self._stamps.get(name) and name in old.heads:
                self.folder.heads[name] = old.heads[name]
            else:
                self.folder.read(root, folder, name)
            if stamp is not None and max(stamp[-2:]) > just_now:
                found[name] = None
        self._stamps = found

    def look_at(self, root: Root, folder: tuple[str, ...], names: Iterable[str]) -> bool:
        """Read some of the known notes again. Says whether anything that an index line is made from has changed."""
        before = {name: self.folder.heads.get(name) for name in names}
        now = Folder()
        for name in before:
            now.read(root, folder, name)
            self._stamps[name] = None
        self.folder.heads.update(now.heads)
        self.folder.problems.update(now.problems)
        for name in before.keys() - now.heads.keys():
            self.folder.heads.pop(name, None)
        return before != {name: now.heads.get(name) for name in before}


def _signed(info: os.stat_result) -> tuple[int, ...]:
    return info.st_dev, info.st_ino, info.st_size, info.st_mtime_ns, info.st_ctime_ns


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


def stamps(
    root: Root, folder: tuple[str, ...], tier_file: str, sign: Callable[[os.stat_result], Signed]
) -> dict[str, Signed | None]:
    """Return what `sign` makes of what the system says of each of these, by file name; None for a link."""
    return root.stamps(folder, lambda name: is_note(name, tier_file), sign)


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

"""The notes of a folder on disk: list them, read their heads quickly, read one whole."""

from collections.abc import Iterable
from dataclasses import dataclass, field

from agent_memory_protocol import files
from agent_memory_protocol.errors import DamagedFile
from agent_memory_protocol.files import Root
from agent_memory_protocol.notes import note
from agent_memory_protocol.notes.note import Head, Note

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


def is_note(name: str, tier_file: str) -> bool:
    """Say whether a file of a memory folder is a note: Markdown, not hidden, not the tier file itself."""
    return name.lower().endswith(".md") and not name.startswith((".", "#", "~")) and name.lower() != tier_file.lower()


def list_names(root: Root, folder: tuple[str, ...], tier_file: str) -> list[str]:
    """List the file names of a folder's notes."""
    return [name for name in root.list_files(folder) if is_note(name, tier_file)]


def read_folder(root: Root, folder: tuple[str, ...], tier_file: str, names: Iterable[str] | None = None) -> Folder:
    """Read the heads of a folder's notes, of all or of those named. What cannot be read is a problem, not an error."""
    found = Folder()
    for name in list_names(root, folder, tier_file) if names is None else names:
        try:
            head = read_head(root, (*folder, name))
        except DamagedFile as error:
            found.problems[name] = str(error)
            continue
        if head is not None:
            found.heads[name] = head
    return found


def read_head(root: Root, parts: tuple[str, ...]) -> Head | None:
    """Read a note's head; None where the file does not exist. Mostly its first 512 bytes are enough.

    Raises:
        DamagedFile: it cannot be read as text.
    """
    start = root.read_start(parts, _START_BYTES)
    if start is None:
        return None
    head = note.read_head(_text(start, parts, whole=len(start) < _START_BYTES))
    if head is None and len(start) == _START_BYTES:
        start = root.read_start(parts, _HEADER_BYTES) or b""
        head = note.read_head(_text(start, parts, whole=len(start) < _HEADER_BYTES))
    return head or Head()


def read(root: Root, folder: tuple[str, ...], name: str) -> tuple[Note, str] | None:
    """Read a note whole, and its text; None where it does not exist.

    Raises:
        DamagedFile: it cannot be read as text.
    """
    parts = (*folder, name)
    content = root.read(parts, limit=_LARGEST)
    if content is None:
        return None
    text = files.decode(content.data, "/".join(parts))
    return note.parse(text, name), text


def _text(data: bytes, parts: tuple[str, ...], *, whole: bool) -> str:
    data = files.split_bom(data)[1]
    try:
        text = data.decode()
    except UnicodeDecodeError as error:
        if whole or len(data) - error.start > 3:
            return files.decode(data, "/".join(parts))
        text = data[: error.start].decode()
    return text.replace("\r\n", "\n").replace("\r", "\n") if "\r" in text else text

"""Find and read tier documents on disk; the only part of `tiers` that touches it, through `files`."""

from agent_memory_protocol import files
from agent_memory_protocol.disk_errors import shown
from agent_memory_protocol.errors import DamagedFile, InvalidName
from agent_memory_protocol.files import Root
from agent_memory_protocol.layout import OWNER_FOLDERS, Target, Tier, check_owner, name_key
from agent_memory_protocol.limits import count_lines, split_lines

WHOLE_BYTES = 256 * 1024
"""A larger file is never read whole: ten times the limit is no page of memory any more."""

_HEAD_BYTES = 64 * 1024
_TAIL_BYTES = 128 * 1024


class Source:
    r"""A tier document as text, for reading only.

    Attributes:
        target: the document, its owner spelled as the folder on disk is.
        data: its bytes, or those of its two ends, without a byte-order mark.
        text: the same as text, every line ending ``\n``.
        lines: how many lines the file has.
        gap: None where the file was read whole; else how many lines `text` has before the part that was not read.
    """

    __slots__ = ("data", "gap", "lines", "target", "text")

    def __init__(self, target: Target, data: bytes, text: str, lines: int, gap: int | None = None) -> None:
        self.target = target
        self.data = data
        self.text = text
        self.lines = lines
        self.gap = gap


def locate(root: Root, target: Target) -> Target:
    """Return the target with its owner spelled as an existing folder is (decision 2).

    The name as given wins where such a folder exists; only otherwise are the other folders looked at.
    """
    if target.tier is Tier.SHARED or root.folder((*OWNER_FOLDERS[target.tier], target.owner)) is not None:
        return target
    wanted = name_key(target.owner)
    for name in root.list_folders(OWNER_FOLDERS[target.tier]):
        if name_key(name) == wanted:
            return Target(target.tier, name)
    return target


def list_targets(root: Root, *, beside: str = "") -> list[Target]:
    """List every tier document that exists: shared, then agents, then conversations, by name.

    With `beside`, also those of which only a file of that name, beside where the document would be, is left.
    """
    candidates = [Target(Tier.SHARED)]
    for tier, folder in OWNER_FOLDERS.items():
        candidates += [Target(tier, name) for name in root.list_folders(folder)]
    return [
        target
        for target in candidates
        if root.exists(target.parts) or (beside and root.exists((*target.parts[:-1], beside)))
    ]


def why_nobodys(target: Target) -> str:
    """Say why no agent or conversation can have the name of a folder found on disk; "" where one can."""
    if not target.owner:
        return ""
    try:
        if name_key(check_owner(target.tier, target.owner)) == name_key(target.owner):
            return ""
        reason = "a folder's name holds no colon"
    except InvalidName as error:
        reason = str(error)
    return f"nobody can recall this: {reason}; rename its folder"


def check_name(target: Target) -> None:
    """Refuse a document that nobody can recall.

    Raises:
        DamagedFile: its folder has a name that no agent or conversation can have.
    """
    reason = why_nobodys(target)
    if reason:
        raise DamagedFile(reason, path=shown(*target.parts))


def read(root: Root, target: Target) -> Source | None:
    """Read a document for recall or display; None where it does not exist. Of a huge file, only both ends are read.

    Raises:
        DamagedFile: it cannot be read, or is not UTF-8 text.
    """
    target = locate(root, target)
    try:
        content = root.read(target.parts, limit=WHOLE_BYTES)
    except files.TooLarge:
        return _read_ends(root, target)
    if content is None:
        return None
    data = files.split_bom(content.data)[1]
    return Source(target, data, _plain(files.decode(content.data, target.path)), count_lines(data))


def _read_ends(root: Root, target: Target) -> Source | None:
    from agent_memory_protocol import large_files

    # What the head leaves open is known only after the middle has gone by, so each possibility is followed.
    trackers = [_Hidden(waiting) for waiting in (b"", *_CLOSINGS.values())]

    def feed(piece: bytes) -> None:
        for tracker in trackers:
            tracker.feed(piece)

    ends = large_files.read_ends(root, target.parts, head=_HEAD_BYTES, tail=_TAIL_BYTES, middle=feed)
    if ends is None:
        return None
    head = _Hidden(b"")
    head.feed(ends.head)
    shown_head = ends.head[: head.opened_at] if head.waiting else ends.head
    open_into_tail = next(tracker.waiting for tracker in trackers if tracker.began == head.waiting)
    shown_tail = ends.tail
    if open_into_tail:
        closing = shown_tail.find(open_into_tail)
        line_end = shown_tail.find(b"\n", closing)
        shown_tail = shown_tail[line_end + 1 :] if closing >= 0 <= line_end else b""
    text = _plain(files.decode(shown_head, target.path))
    gap = len(split_lines(text))
    try:
        text += _plain(shown_tail.decode())
    except UnicodeDecodeError:
        raise DamagedFile("is not UTF-8 near its end; save it as UTF-8", path=target.path) from None
    return Source(target, shown_head + shown_tail, text, ends.lines, gap)


_CLOSINGS = {b"<!--": b"-->", b"<?": b"?>"}


class _Hidden:
    """Follows whether a comment or a processing instruction is open, in a file that goes by in pieces.

    Only one that begins its line can reach beyond a paragraph; code is not told apart, so at worst too much is hidden.
    """

    def __init__(self, waiting: bytes) -> None:
        self.began = waiting
        self.waiting = waiting
        """The closing that must come before anything is visible again; empty when nothing is open."""
        self.opened_at = 0
        """Where, in all that was fed, the line of the last opening begins."""
        self._carry = b""
        self._fed = 0

    def feed(self, piece: bytes) -> None:
        data = self._carry + piece
        start = self._fed - len(self._carry)
        position = 0
        while position >= 0:
            if self.waiting:
                found = data.find(self.waiting, position)
                position = found + len(self.waiting) if found >= 0 else -1
                if found >= 0:
                    self.waiting = b""
            else:
                places = [(data.find(opening, position), opening) for opening in _CLOSINGS]
                found, opening = min(((at, opening) for at, opening in places if at >= 0), default=(-1, b""))
                position = found + len(opening) if found >= 0 else -1
                line = data.rfind(b"\n", 0, max(found, 0)) + 1
                if found >= 0 and not data[line:found].strip(b" \t>-+*0123456789.)"):
                    self.waiting = _CLOSINGS[opening]
                    self.opened_at = start + line
        self._fed += len(piece)
        self._carry = data[-3:]


def _plain(text: str) -> str:
    return text.replace("\r\n", "\n").replace("\r", "\n") if "\r" in text else text

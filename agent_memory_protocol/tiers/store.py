"""Find and read tier documents on disk; the only part of `tiers` that touches it, through `files`."""

from ..disk import files
from ..disk.errors import shown
from ..disk.files import Root, TooLarge
from ..errors import DamagedFile, InvalidName
from ..layout import (
    ATTRIBUTES,
    OWNED_TIERS,
    RECORDS,
    REFUSED,
    REVIEWED,
    SCAFFOLDING,
    SIGHTINGS,
    Target,
    Tier,
    check_owner,
    check_target,
    name_key,
)
from ..limits import count_lines, same_lines, split_lines
from ..text.visible import blank_hidden, rare_bytes

WHOLE_BYTES = 256 * 1024  # A larger file is never read whole: ten times the limit is not a page of memory any more
LARGEST = 4 << 20  # A larger file is not a page of memory; it is never rewritten
UNLISTED = "*"  # The owner of one target that is used for all documents of a folder that cannot be listed

_KEPT = 64
_KEPT_BYTES = 64 * 1024
"""So many documents of so many bytes at most are kept as they were read last, for the next time they are the same."""

_HEAD_BYTES = 64 * 1024
_TAIL_BYTES = 128 * 1024

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from ..disk.files import Content
    from .document import Document


class TierText:
    """A tier document as text, for reading only."""

    __slots__ = ("before", "data", "gap", "lines", "rare", "rendered", "same", "target", "text")

    def __init__(
        self,
        target: Target,
        data: bytes,
        text: str,
        *,
        lines: int | None = None,
        gap: int | None = None,
        before: "TierText | None" = None,
        same: int = 0,
    ) -> None:
        self.target = target  # the document, its owner spelled as the folder on disk is
        self.data = data  # its bytes, or those of its two ends, without a byte-order mark
        self.before = before  # how the file was when it was read last, if it begins as it did
        self.same = same  # how many bytes of both are the same, up to the beginning of a line
        if before is None:
            self.rare = rare_bytes(data)  # what `visible.rare_bytes` leaves of them
        else:
            gone = len(rare_bytes(before.data[same:]))
            self.rare = before.rare[: len(before.rare) - gone] + rare_bytes(data[same:])
        self.text = text  # the same as text, every line ending ``\n``
        self.lines = count_lines(data, self.rare) if lines is None else lines  # how many lines the file has
        # None if the file was read whole; else how many lines `text` has before the part that was not read
        self.gap = gap
        # what recall has made of it, to be asked again as long as the file is the same
        self.rendered: dict[object, object] = {}


_kept: "dict[tuple[str, Target], tuple[bytes, TierText]]" = {}


def locate(root: Root, target: Target) -> Target:
    """Return the target with its owner spelled as an existing folder is (decision 2).

    The name as given wins where such a folder exists; only otherwise are the other folders looked at.
    """
    check_target(target)
    if not target.owner or root.folder((*target.tier.folder, target.owner)) is not None:
        return target
    wanted = name_key(target.owner)
    for name in root.list_folders(target.tier.folder):
        if name_key(name) == wanted:
            return Target(target.tier, name)
    return target


def places(root: Root) -> list[Target]:
    """List every document that has a folder, whether it exists or not: shared, then agents, then conversations.

    Where the folder of a tier cannot be listed, `agent:*` or `conversation:*` is in the place of its documents: who
    reads that is told why.
    """
    found = [Target(Tier.SHARED)]
    root.folder((SCAFFOLDING,))
    for tier in OWNED_TIERS:
        try:
            found += [Target(tier, name) for name in root.list_folders(tier.folder)]
        except DamagedFile:
            found.append(Target(tier, UNLISTED))
    return found


def owners(root: Root, tier: Tier) -> list[str]:
    """List the names of the folders that agents, or conversations, have; none where they cannot be listed."""
    return [one.owner for one in places(root) if one.tier is tier and one.owner != UNLISTED]


def odd_files(root: Root) -> "Iterator[DamagedFile]":
    """Yield why files of the memory as a whole cannot be read, and what is in the place of an owner's folder."""
    wanted = [REVIEWED, REFUSED, SIGHTINGS, ATTRIBUTES, RECORDS]
    for tier in OWNED_TIERS:
        try:
            wanted += [(*tier.folder, name) for name in root.list_files(tier.folder)]
        except DamagedFile:
            continue  # `places` names a folder that cannot be listed
    for parts in wanted:
        try:
            root.folder(parts) if parts == RECORDS else root.read_start(parts, 1)
        except DamagedFile as error:
            yield error


def list_targets(root: Root, *, beside: str = "") -> list[Target]:
    """List every tier document that exists: shared, then agents, then conversations, by name.

    With `beside`, also those of which only a file of that name is left. What lies in a folder that cannot be read is
    listed: anyone who reads it is told.
    """
    return [
        target
        for target in places(root)
        if may_exist(root, target.parts) or (beside and may_exist(root, (*target.parts[:-1], beside)))
    ]


def lookalikes(root: Root) -> list[tuple[Target, str]]:
    """List the files whose names differ from that of the document in their place only by case, each with the document.

    Where the file system folds case they are the document, as long as no other system has a copy.
    """
    found = []
    for target in places(root):
        folder, own = target.parts[:-1], target.parts[-1]
        try:
            found += [(target, name) for name in root.list_files(folder) if name.lower() == own.lower() and name != own]
        except DamagedFile:
            continue  # anyone who reads the document is told
    return found


def may_exist(root: Root, parts: tuple[str, ...]) -> bool:
    """Say whether anything is there, or cannot be told from what is, since its folder cannot be read."""
    try:
        return root.exists(parts)
    except DamagedFile:
        return True


def why_nobodys(target: Target) -> str:
    """Say why no agent or conversation can have the name of a folder found on disk; "" if one can."""
    if target.owner in ("", UNLISTED):
        return ""
    try:
        if name_key(check_owner(target.tier, target.owner)) == name_key(target.owner):
            return ""
        reason = "a folder's name holds no colon"
    except InvalidName as error:
        reason = str(error)
    return f"nobody can recall this: {reason}; rename its folder"


def check_name(target: Target) -> None:
    """Refuse a document whose folder has a name that no agent or conversation can have. Raises DamagedFile."""
    reason = why_nobodys(target)
    if reason:
        raise DamagedFile(reason, path=shown(*target.parts))


def read(root: Root, target: Target) -> TierText | None:
    """Read a document for recall or display; None if it is missing. Of a huge file, only both ends are read."""
    target = locate(root, target)
    try:
        content = root.read(target.parts, limit=WHOLE_BYTES)
    except files.TooLarge:
        return _read_ends(root, target)
    if content is None:
        return None
    known = _kept.get((root.path, target))
    if known is not None and known[0] == content.data:
        return known[1]
    data = files.split_bom(content.data)[1]
    before = known[1] if known is not None else None
    same = same_lines(before.data, data) if before is not None else 0
    if before is None or not same:
        found = TierText(target, data, _plain(files.decode(content.data, target.path)))
    else:
        before.before = None
        try:
            gone = len(_plain(before.data[same:].decode()))
            text = before.text[: len(before.text) - gone] + _plain(data[same:].decode())
        except UnicodeDecodeError:
            text = _plain(files.decode(content.data, target.path))
        found = TierText(target, data, text, before=before, same=same)
    if len(_kept) >= _KEPT:
        _kept.clear()
    if len(data) <= _KEPT_BYTES:
        _kept[root.path, target] = (content.data, found)
    return found


def _read_ends(root: Root, target: Target) -> TierText | None:
    from ..disk import large_files

    middle = [_Hiding(*marks) for marks in _HIDING]

    def feed(piece: bytes) -> None:
        for one in middle:
            one.feed(piece)

    ends = large_files.read_ends(root, target.parts, head=_HEAD_BYTES, tail=_TAIL_BYTES, middle=feed)
    if ends is None:
        return None
    head_end, tail_start = len(ends.head), 0
    for one in middle:
        before = _Hiding(one.opening, one.closing)
        before.feed(ends.head)
        if before.is_open:
            head_end = min(head_end, before.opened_at)
        if one.is_open or (before.is_open and not one.was_closed):
            closing = ends.tail.find(one.closing)
            line_end = ends.tail.find(b"\n", closing)
            tail_start = max(tail_start, line_end + 1 if closing >= 0 <= line_end else len(ends.tail))
    shown_head, shown_tail = ends.head[:head_end], ends.tail[tail_start:]
    text = _closed(_plain(files.decode(shown_head, target.path)))
    gap = len(split_lines(text))
    try:
        # Whether the tail begins in code, or in an item, nobody knows who has not read the middle.
        text += blank_hidden(_plain(shown_tail.decode()))
    except UnicodeDecodeError:
        raise DamagedFile("is not UTF-8 near its end; save it as UTF-8", path=target.path) from None
    return TierText(target, shown_head + shown_tail, text, lines=ends.lines, gap=gap)


def _closed(text: str) -> str:
    """Close the fence that a head leaves open, in place of its last line: the tail is not part of it."""
    from ..text import markdown

    lines = split_lines(text)
    closed = markdown.close_fence(lines)
    return text if len(closed) == len(lines) else "\n".join([*lines[:-1], closed[-1], ""])


_HIDING = ((b"<!--", b"-->"), (b"<?", b"?>"))
_LIST_MARKS = b" \t>-+*0123456789.)"


class _Hiding:
    """Follows whether a comment, or a processing instruction, is open, in a file that goes by in pieces.

    Only one that begins its line can reach beyond a paragraph. Code is not told apart, nor is one kind inside the
    other, so at worst too much is hidden. Only the last closing and what follows it is looked at, whatever went before.
    """

    def __init__(self, opening: bytes, closing: bytes) -> None:
        self.opening = opening
        self.closing = closing
        self.is_open = False
        self.opened_at = 0
        """Where, in all that was fed, the line begins that opened what is open."""
        self.was_closed = False
        self._carry = b""
        self._fed = 0
        self._begins_line = True
        """Whether nothing but list marks is in the line before what is carried over."""

    def feed(self, piece: bytes) -> None:
        data = (self._carry + piece).replace(b"\r", b"\n")
        closed = data.rfind(self.closing)
        if closed >= 0:
            self.is_open, self.was_closed = False, True
        if not self.is_open:
            line = self._find_opening(data, closed + len(self.closing) if closed >= 0 else 0)
            if line is not None:
                self.is_open, self.opened_at = True, self._fed - len(self._carry) + line
        self._fed += len(piece)
        self._carry = data[-3:]
        line = data.rfind(b"\n", 0, -3) + 1
        self._begins_line = (line > 0 or self._begins_line) and not data[line:-3].strip(_LIST_MARKS)

    def _find_opening(self, data: bytes, position: int) -> int | None:
        """Return where the first line begins that opens one, looking from a position on."""
        line = data.rfind(b"\n", 0, position) + 1
        while (found := data.find(self.opening, position)) >= 0:
            line = max(line, data.rfind(b"\n", position, found) + 1)
            if (line > 0 or self._begins_line) and not data[line:found].strip(_LIST_MARKS):
                return line
            position = data.find(b"\n", found)
            if position < 0:
                return None
        return None


def _plain(text: str) -> str:
    return text.replace("\r\n", "\n").replace("\r", "\n") if "\r" in text else text


def read_document(root: Root, target: Target) -> "tuple[Document, Content] | None":
    """Read a document whole, with what tells later whether it is still the same; None if it is missing."""
    from .document import parse

    check_name(target)
    try:
        content = root.read(target.parts, limit=LARGEST)
    except TooLarge as error:
        raise DamagedFile("is too large to be a page of memory; split it up by hand", path=target.path) from error
    return None if content is None else (parse(content.data, target), content)

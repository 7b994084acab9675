"""The current view: what the lines of an agent-memory/0.1 file mean together.

Later lines win, as the format has it: the clocks of those who append to a file need not agree, the order of its
lines is the same for all. In a ledger, whose header says that it is one, order in time decides, and order in the file
where times are equal: git merges ledgers line by line (`merge=union`), and afterwards only the stamps, which amp never
sets back, tell what came last. Whichever side is merged into which, what a ledger says is the same.
"""

from collections.abc import Iterable
from datetime import datetime

from ..text.moments import expired, sort_key
from ..values import dataclass
from .jsonl import FORMAT, EntryLine, HeaderLine, Line, Tombstone, UnreadableLine, parse_file

Place = tuple[str, int]  # Where a line is in the order that decides: its stamp in a ledger, and its number


@dataclass(frozen=True, slots=True)
class Notice:
    """Something a reader of the file should know. `line` is None when no single line is meant."""

    line: int | None
    message: str

    def __str__(self) -> str:
        return self.message if self.line is None else f"line {self.line}: {self.message}"


@dataclass(frozen=True, slots=True)
class FileView:
    """The entries that hold now, oldest first, what was wrong on the way, and the entries that have expired."""

    entries: tuple[EntryLine, ...]
    warnings: tuple[Notice, ...] = ()
    expired: tuple[EntryLine, ...] = ()


@dataclass(frozen=True, slots=True)
class Contents:
    """What is in a file, before anybody asks what holds now."""

    header: HeaderLine | None  # the first line that is not blank, if it is a header, of whatever format
    entries: dict[str, EntryLine]  # the last entry of each id, in the order of the file, whether it holds or not
    deleted: set[str]  # the ids among them whose last line is a tombstone
    tombstones: dict[str, str]  # when each id was last deleted, as a sort key
    unreadable: tuple[UnreadableLine, ...]  # the lines that are nothing, blank ones among them

    @property
    def known(self) -> bool:
        """Whether the file says it is of this format."""
        return self.header is not None and self.header.format == FORMAT

    @property
    def latest(self) -> str:
        """The latest stamp of all lines."""
        keys = [sort_key(entry.created_at) for entry in self.entries.values()]
        keys += self.tombstones.values()
        if self.header is not None and self.header.created_at:
            keys.append(sort_key(self.header.created_at))
        return f"{max(keys)}Z" if keys else ""


def sort_out(lines: Iterable[Line], *, by_time: bool = False) -> Contents:
    """Find the line that counts for each id: the last in the file, in a ledger (`by_time`) the last in time.

    A second header is what a merge or `cat` leaves behind: it says nothing new. One of another format is reported.
    """
    header: HeaderLine | None = None
    first = True
    entries: dict[str, tuple[Place, EntryLine]] = {}
    tombstones: dict[str, tuple[Place, Tombstone]] = {}
    unreadable: list[UnreadableLine] = []
    for number, line in enumerate(lines, 1):
        if isinstance(line, UnreadableLine):
            unreadable.append(line)
            if line.blank:
                continue
        elif isinstance(line, HeaderLine):
            if first:
                header = line
                by_time = by_time or line.is_ledger
            elif line.format != FORMAT:
                unreadable.append(UnreadableLine(number, f"a header of another format, {ascii(line.format)[:60]}"))
        else:
            place = (sort_key(line.created_at) if by_time else "", number)
            if isinstance(line, Tombstone):
                tombstones[line.id] = max(tombstones.get(line.id, (place, line)), (place, line))
            elif line.id not in entries or place > entries[line.id][0]:
                entries.pop(line.id, None)  # so that the order is that of the lines that count
                entries[line.id] = (place, line)
        first = False
    return Contents(
        header,
        {key: line for key, (_, line) in entries.items()},
        {key for key, (place, _) in tombstones.items() if key in entries and place > entries[key][0]},
        {key: sort_key(line.created_at) for key, (_, line) in tombstones.items()},
        tuple(unreadable),
    )


def view(lines: Iterable[Line], now: datetime, scope: str | None = None) -> FileView:
    """Return what holds at `now`, whose zone decides when an expiry date is over; see `current`.

    With a scope, that is what is `global` or of exactly that scope: `github.com` does not contain `api.github.com`.
    """
    return current(sort_out(lines), now, scope)


def current(contents: Contents, now: datetime, scope: str | None = None) -> FileView:
    """Return what of a file's contents holds at `now`, like `view`.

    A superseded entry is gone for good, even if its successor is deleted, expired, of another scope or further up.
    """
    notices = [Notice(line.line, line.reason) for line in contents.unreadable]
    if contents.header is None and (contents.entries or contents.tombstones or contents.unreadable):
        notices.insert(0, Notice(None, f"the first line is not an {FORMAT} header; the file is read, never written"))
    elif contents.header is not None and not contents.known:
        # Another version may mean other things by the same lines: a deleted entry must not show.
        reason = f"its format is {ascii(contents.header.format)[:60]}, not {FORMAT}; nothing in it is read or written"
        return FileView((), (Notice(None, reason),))
    superseded, cycles = _superseded(contents.entries)
    gone = superseded | contents.deleted
    live: list[EntryLine] = []
    over: list[EntryLine] = []
    for entry in contents.entries.values():
        if entry[0] not in gone and (scope is None or entry.scope == scope or entry.scope == "global"):
            ended = entry.expires_at is not None and expired(entry.expires_at, now)
            (over if ended else live).append(entry)
    live.sort(key=lambda entry: sort_key(entry.created_at))
    return FileView(tuple(live), (*notices, *cycles), tuple(over))


@dataclass(frozen=True, slots=True)
class Compacted:
    """What `compact` did: how many entries are left, how many lines went, and the unreadable ones it kept."""

    kept: int
    dropped: int
    unreadable: tuple[Notice, ...]


def compacted(data: bytes, now: datetime) -> tuple[bytes, Compacted]:
    """Return a file's bytes with only its header, what holds at `now`, and what cannot be read."""
    lines = list(parse_file([data]))
    contents = sort_out(lines)
    holds = current(contents, now).entries
    notices = tuple(Notice(line.line, line.reason) for line in contents.unreadable if not line.blank)
    unread = {notice.line for notice in notices}
    kept = {id(line) for line in (contents.header, *holds)}
    raw = data.removesuffix(b"\n").split(b"\n")
    left = [
        piece + b"\n"
        for number, (piece, line) in enumerate(zip(raw, lines, strict=True), 1)
        if id(line) in kept or number in unread
    ]
    return b"".join(left), Compacted(len(holds), len(lines) - len(left), notices)


def _superseded(entries: dict[str, EntryLine]) -> tuple[set[str], list[Notice]]:
    """Return the ids that another entry replaces. In a circle the newest stays if nothing outside replaces it."""
    replaced = {entry.id: entry.supersedes for entry in entries.values() if entry.supersedes is not None}
    order = {key: place for place, key in enumerate(replaced)}
    notices = []
    walked: set[str] = set()
    spared: set[str] = set()
    for start in replaced:
        path: list[str] = []
        step: str | None = start
        while step is not None and step not in walked:
            walked.add(step)
            path.append(step)
            step = replaced.get(step)
        if step not in path:
            continue
        circle = path[path.index(step) :]
        if len(circle) == 1:
            notices.append(Notice(None, f"entry {step!a} supersedes itself, which means nothing"))
            spared.add(step)
            continue
        newest = max(circle, key=lambda key: (sort_key(entries[key].created_at), order[key]))
        spared.add(next(key for key in circle if replaced[key] == newest))
        names = ", ".join(ascii(key) for key in sorted(circle))
        notices.append(Notice(None, f"entries {names} supersede each other; the newest, {newest!a}, stays"))
    return {old for key, old in replaced.items() if key not in spared}, notices

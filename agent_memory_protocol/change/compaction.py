"""Compaction of a ledger: the lines that nobody needs any more go, and what it tells stays the same (decision 23)."""

from collections.abc import Iterator, Sequence

from ..errors import AgentMemoryError, StorageError
from ..formats.jsonl import EntryLine, HeaderLine, Line, Tombstone, UnreadableLine, encode, parse_file
from ..formats.jsonl_view import Contents
from ..text.moments import sort_key
from ..values import dataclass
from . import ledger


@dataclass(frozen=True, slots=True)
class Compaction:
    """A ledger's bytes as they would be, and how many lines and bytes it has before and after."""

    data: bytes
    lines: tuple[int, int]
    size: tuple[int, int]

    @property
    def changes_something(self) -> bool:
        """Whether it becomes smaller."""
        return self.size[1] < self.size[0]


def plan(data: bytes, path: str) -> Compaction:
    """Say what a ledger is when only its needed lines are left, in short form; what cannot be read stays.

    What is restored, listed and known is the same before and after, or StorageError is raised.
    """
    lines = list(parse_file([data]))
    contents = ledger.sorted_out(lines, path)
    needed = _needed(lines, contents)
    raw = data.removesuffix(b"\n").split(b"\n")
    kept = [_short(line, text + b"\n") for text, line in zip(raw, lines, strict=True) if id(line) in needed]
    made = b"".join(kept)
    if _told(data, path) != _told(made, path):
        raise StorageError(f"{path}: it would tell something else without its old lines; nothing was changed")
    return Compaction(made, (len(lines), len(kept)), (len(data), len(made)))


def _needed(lines: Sequence[Line], contents: Contents) -> set[int]:
    """Return the `id()` of each line to keep: of an entry the first line, the last, and the last tombstone.

    A tombstone with a successor links two versions, and one of a redaction keeps its text from coming back.
    """
    first: dict[str, EntryLine] = {}
    last: dict[str, Tombstone] = {}
    needed = {id(line) for line in contents.entries.values()}
    has_header = False
    for line in lines:
        if isinstance(line, EntryLine):
            if line.id not in first or sort_key(line.created_at) < sort_key(first[line.id].created_at):
                first[line.id] = line
        elif isinstance(line, Tombstone):
            extra = line.extra or {}
            if extra.get("successor") or line.id in ledger.redacted([line]):
                needed.add(id(line))
            if ledger.is_later(line, last.get(line.id)):
                last[line.id] = line
        elif isinstance(line, HeaderLine):
            needed |= set() if has_header else {id(line)}
            has_header = True
        elif not line.blank:
            needed.add(id(line))
    return needed | {id(line) for line in first.values()} | {id(line) for line in last.values()}


def _short(line: Line, raw: bytes) -> bytes:
    """Return a line as it is written today, where that is shorter."""
    if isinstance(line, UnreadableLine | HeaderLine):
        return raw
    try:
        made = encode(ledger.respelled(line) if isinstance(line, EntryLine) else line, allow=None, short=True)
    except AgentMemoryError:
        return raw  # another tool wrote what may not be written
    return min(made, raw, key=len)


def _told(data: bytes, path: str) -> list[object]:
    """Return everything that is asked of a ledger."""
    lines = list(parse_file([data]))
    contents = ledger.sorted_out(lines, path)
    return [
        ledger.archived(contents, lines, ()),
        ledger.said(contents, lines),
        {one: ledger.markdown_of(entry) or entry.text for one, entry in contents.entries.items()},
        ledger.redacted(lines),
        ledger.last_command(lines),
        contents.latest,
        set(moments(lines).items()),
        set(_links(lines)),
    ]


def moments(lines: Sequence[Line]) -> dict[str, str]:
    """Return when a ledger first heard of each entry, as keys that sort by time."""
    found: dict[str, str] = {}
    for line in lines:
        if isinstance(line, EntryLine):
            moment = sort_key(line.created_at)
            found[line.id] = min(found.get(line.id, moment), moment)
    return found


def _links(lines: Sequence[Line]) -> Iterator[tuple[str, str]]:
    for line in lines:
        if isinstance(line, Tombstone) and (line.extra or {}).get("successor"):
            yield line.id, str((line.extra or {})["successor"])

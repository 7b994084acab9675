"""Merge three versions of a memory file: what it holds decides how, and a person is told what they should look at.

Nothing here is read from the disk, nothing written: three files' bytes in, one file's bytes out.
"""

from collections import Counter

from ..errors import DamagedFile
from ..formats.jsonl import HeaderLine, parse_line
from ..layout import Target, Tier
from ..limits import over_limits
from ..secrets.mask import beginning
from ..tiers import document
from ..tiers.merge import merge
from ..values import dataclass

_WIDTH = 60


@dataclass(frozen=True, slots=True)
class MergedFile:
    """A merged file, and what to tell anyone who merges: entries that are there twice, a limit that is passed."""

    data: bytes
    notes: tuple[str, ...] = ()


def merge_file(
    base: bytes, ours: bytes, theirs: bytes, path: str, *, max_lines: int, max_bytes: int
) -> MergedFile | None:
    """Merge two versions of a tier document or a ledger that come from `base`; None if it is not certain.

    `base` is empty where both made the file. The result keeps the order and line endings of ours. Only the name at
    `path` says what the file is. The limits are to be told when the result passes one.
    """
    if path.endswith(".jsonl"):
        return MergedFile(_merge_lines(base, ours, theirs))
    try:
        # The place of a document is a part of its entries' ids only, and all three have the same.
        versions = [document.parse(data, Target(Tier.SHARED)) for data in (base, ours, theirs)]
    except DamagedFile:
        return None
    merged = merge(*versions)
    if merged is None:
        return None
    result = merged.document
    notes = [
        f"both sides edited one entry; both forms are kept: {beginning(mine, _WIDTH)} / {beginning(other, _WIDTH)}"
        for mine, other in merged.twice
    ]
    notes += [
        f"the file has {count:,} of {most:,} {unit} now; `amp prune` says what may go"
        for count, most, unit in over_limits(result.data, max_lines, max_bytes)
    ]
    return MergedFile(result.data, tuple(notes))


def _merge_lines(base: bytes, ours: bytes, theirs: bytes) -> bytes:
    """Merge files of one JSON object a line: what either side added is there, what either took out is not."""
    old, mine, other = _lines(base), _lines(ours), _lines(theirs)
    kept = [line for line in mine if line not in old or line in other]
    added = [line for line in other if line not in old and line not in mine]
    if kept and added and _is_header(kept[0][0]):
        added = [line for line in added if not _is_header(line[0])]
    return b"".join(line + b"\n" for line, _ in [*kept, *added])


def _lines(data: bytes) -> dict[tuple[bytes, int], None]:
    """Return the lines of a file, each with how often it has come before: an entry may return after its tombstone."""
    counts = Counter[bytes]()
    found: dict[tuple[bytes, int], None] = {}
    for line in data.split(b"\n"):
        if line:
            found[line, counts[line]] = None
            counts[line] += 1
    return found


def _is_header(line: bytes) -> bool:
    return isinstance(parse_line(line, 1), HeaderLine)

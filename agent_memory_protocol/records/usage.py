"""How often records were used: counts next to the records, which may be lost at any time.

A use is a recall that showed the record, or a second `remember` of the same text. It is not part of the record: a
signed version for each look would be noise, and a merge conflict for each branch.
"""

import json
from collections.abc import Iterable, Mapping
from contextlib import suppress
from datetime import datetime
from typing import Protocol

from ..disk.side_file import SideFile
from ..errors import InvalidRecord
from ..values import dataclass
from .canonical import format_moment, parse_moment
from .record import is_id

COUNTS_ELSEWHERE = "salience.json"
"""Where the published reference implementation counts, in the same memory directory. It is read, never written."""

_TABLES = "CREATE TABLE uses (record_id TEXT PRIMARY KEY, count INTEGER NOT NULL, last TEXT NOT NULL)"
_ADD = (
    "INSERT INTO uses VALUES (?, 1, ?) ON CONFLICT (record_id) DO UPDATE"
    " SET count = count + 1, last = MAX(last, excluded.last)"
)


@dataclass(frozen=True, slots=True)
class Uses:
    """How often a record was used, and when last."""

    count: int
    last: datetime


class Counting(Protocol):
    """What counts uses."""

    def close(self) -> None:
        """Close what is open. The next call opens it again."""

    def count(self, ids: Iterable[str], now: datetime) -> None:
        """Count one use of each of these records."""

    def forget(self, id: str) -> None:
        """Drop the count of a record."""

    def of(self, ids: Iterable[str] | None = None) -> dict[str, Uses]:
        """Return the uses of those of these records, or of all, that were used."""


class Usage:
    """The counts in a file, or with the path None in this process.

    `others` are counts that another program keeps of the same records; they are added, and never written.
    """

    def __init__(self, path: str | None = None, others: Mapping[str, Uses] | None = None) -> None:
        self._file = SideFile(path, _TABLES)
        self._others = dict(others or {})

    def close(self) -> None:
        """Close the file. The next call opens it again."""
        self._file.close()

    def count(self, ids: Iterable[str], now: datetime) -> None:
        """Count one use of each of these records."""
        moment = format_moment(now)
        self._file.write((_ADD, [(name, moment) for name in ids]))

    def forget(self, id: str) -> None:
        """Drop the count of a record."""
        self._file.write(("DELETE FROM uses WHERE record_id = ?", [(id,)]))

    def of(self, ids: Iterable[str] | None = None) -> dict[str, Uses]:
        """Return the uses of those of these records, or of all, that were used."""
        query, wanted = "SELECT record_id, count, last FROM uses", None if ids is None else list(ids)
        if wanted is not None:
            query += f" WHERE record_id IN ({', '.join('?' * len(wanted))})"
        found = {name: uses for name, uses in self._others.items() if wanted is None or name in wanted}
        for name, uses in counted(self._file.rows(query, wanted or ())).items():
            other = found.get(name, Uses(0, uses.last))
            found[name] = Uses(uses.count + other.count, max(uses.last, other.last))
        return found


def counted(rows: Iterable[tuple[str, int, str]]) -> dict[str, Uses]:
    """Return the uses that rows of a table say; one that is not a count is left out, since others may write them."""
    found = {}
    for name, count, moment in rows:
        with suppress(InvalidRecord):
            if count > 0:
                found[name] = Uses(count, parse_moment(moment))
    return found


def read_counts(data: bytes) -> dict[str, Uses]:
    """Return the counts in the file `COUNTS_ELSEWHERE`; what is not a count is left out."""
    found = {}
    with suppress(ValueError, RecursionError, LookupError, TypeError, AttributeError):
        for name, entry in json.loads(data)["scores"].items():
            with suppress(InvalidRecord, LookupError, TypeError):
                if is_id(name) and isinstance(entry["touches"], int) and entry["touches"] > 0:
                    found[name] = Uses(entry["touches"], parse_moment(entry["last_touched"]))
    return found

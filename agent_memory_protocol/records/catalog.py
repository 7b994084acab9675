"""What was last seen of each record: which have changed since, which say a text, and which are rules.

It holds no content, only hashes, and may be deleted at any time: then every record is read again.
"""

from collections.abc import Iterable

from ..disk.database import check_sqlite
from ..text.digest import blake2b
from .record import Record, RecordType
from .side_file import SideFile

_TABLES = (
    "CREATE TABLE IF NOT EXISTS seen (record_id TEXT PRIMARY KEY, stamp TEXT, type TEXT, body BLOB)",
    "CREATE INDEX IF NOT EXISTS seen_body ON seen (body)",
    "CREATE INDEX IF NOT EXISTS seen_type ON seen (type)",
)


class Catalog:
    """What was seen of the records of one store, in a file, or with the path None in this process."""

    def __init__(self, path: str | None = None) -> None:
        self._file = SideFile(path, *_TABLES)

    def close(self) -> None:
        """Close the file. The next call opens it again."""
        self._file.close()

    def stamps(self) -> dict[str, str]:
        """Return for each record the stamp that it had when it was seen."""
        return dict(self._file.rows("SELECT record_id, stamp FROM seen"))

    def saying(self, body: str) -> list[str]:
        """Return the ids of the records that say exactly this.

        Raises:
            StorageError: there is no SQLite. Without the answer, what is there already would be written again.
        """
        check_sqlite()
        return [row[0] for row in self._file.rows("SELECT record_id FROM seen WHERE body = ?", (_hash(body),))]

    def rules(self) -> list[str]:
        """Return the ids of the rules. Raises as `saying`."""
        check_sqlite()
        return [row[0] for row in self._file.rows("SELECT record_id FROM seen WHERE type = ?", (RecordType.RULE,))]

    def note(self, seen: Iterable[tuple[Record, str]], gone: Iterable[str] = ()) -> None:
        """Note what was seen: records, each with its stamp, and the ids of those that are no longer there."""
        self._file.write(
            ("DELETE FROM seen WHERE record_id = ?", [(name,) for name in gone]),
            (
                "INSERT OR REPLACE INTO seen VALUES (?, ?, ?, ?)",
                [(record.id, stamp, record.type, _hash(record.body)) for record, stamp in seen],
            ),
        )


def _hash(body: str) -> bytes:
    return blake2b(body.encode(), digest_size=16).digest()

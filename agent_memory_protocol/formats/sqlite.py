"""Entries in one SQLite file: found by time, by tag and by likeness without reading the others.

`entries` holds one row an entry, with what is `derived` of it: SQLite works out the time and the day itself. Triggers
keep `entry_tags` and the indexes, so a program that adds a row with nothing but SQL has a file that still finds it. The
file is in WAL mode: readers wait for nobody.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterable, Iterator
from contextlib import closing, contextmanager
from math import hypot
from operator import mul
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, TypeVar

from ..disk.database import WAIT, explaining
from ..disk.errors import shown
from ..errors import DamagedFile, InvalidArgument
from ..search.float32 import unpack
from .derived import place_of
from .entry import ENTRY_BYTES, NOTHING, BadEntry, MemoryEntry, Problem, attempt, check
from .loss import Loss, unknown_fields
from .record_files import reading

if TYPE_CHECKING:
    import sqlite3

VERSION = 1
_LIMIT_LENGTH = 0  # SQLITE_LIMIT_LENGTH
LAST_TIME = 2**63 - 1

LOSSES = (
    Loss(
        "times that take 64 bits (after the year 292 million)",
        "the last time that fits into 63",
        lambda entry: entry.timestamp_ms > LAST_TIME,
        lambda entry: entry._replace(timestamp_ms=LAST_TIME),
    ),
    unknown_fields(),
)

SCHEMA = """
CREATE TABLE entries (
    seq INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    timestamp_ms INTEGER NOT NULL,
    text TEXT NOT NULL,
    tags TEXT NOT NULL DEFAULT '[]',
    source TEXT NOT NULL DEFAULT '',
    embedding BLOB NOT NULL DEFAULT x'',
    relevance REAL NOT NULL DEFAULT 0,
    extra TEXT NOT NULL DEFAULT '{}',
    created_at TIMESTAMP AS (
        CASE WHEN timestamp_ms BETWEEN 1 AND 253402300799999
        THEN strftime('%Y-%m-%d %H:%M:', timestamp_ms / 1000, 'unixepoch')
            || printf('%02d.%03d', timestamp_ms / 1000 % 60, timestamp_ms % 1000) END
    ),
    tier TEXT,
    section TEXT,
    date DATE AS (CASE WHEN timestamp_ms BETWEEN 1 AND 253402300799999
        THEN strftime('%Y-%m-%d', timestamp_ms / 1000, 'unixepoch') END)
);
CREATE INDEX entries_by_time ON entries (timestamp_ms);
CREATE TABLE entry_tags (
    tag TEXT NOT NULL,
    timestamp_ms INTEGER NOT NULL,
    seq INTEGER NOT NULL,
    PRIMARY KEY (tag, timestamp_ms, seq)
) WITHOUT ROWID;
CREATE TRIGGER entries_added AFTER INSERT ON entries WHEN new.tags <> '[]' BEGIN
    INSERT OR IGNORE INTO entry_tags SELECT value, new.timestamp_ms, new.seq FROM json_each(new.tags);
END;
CREATE TRIGGER entries_removed AFTER DELETE ON entries BEGIN
    DELETE FROM entry_tags WHERE timestamp_ms = old.timestamp_ms AND seq = old.seq
        AND tag IN (SELECT value FROM json_each(old.tags));
END;
CREATE TRIGGER entries_changed AFTER UPDATE OF tags, timestamp_ms ON entries BEGIN
    DELETE FROM entry_tags WHERE timestamp_ms = old.timestamp_ms AND seq = old.seq
        AND tag IN (SELECT value FROM json_each(old.tags));
    INSERT OR IGNORE INTO entry_tags SELECT value, new.timestamp_ms, new.seq FROM json_each(new.tags);
END;
PRAGMA user_version = 1;
"""

Kind = TypeVar("Kind")
Row = tuple[str, int, str, str, str, bytes, float, str, str | None, str | None]
_COLUMNS = "id, timestamp_ms, text, tags, source, embedding, relevance, extra"
_INSERT = f"INSERT INTO entries ({_COLUMNS}, tier, section) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"  # noqa: S608 ours
_INSERT_AS_BEFORE = _INSERT.replace(", tier, section", "").replace(", ?, ?)", ")")
"""For files of before there were these two columns."""
_MAGIC = b"SQLite format 3\0"


def encode(entry: MemoryEntry) -> Row:
    """Return an entry as its row."""
    key, when, text, tags, source, embedding, relevance, extra, _ = entry
    tags_text, pairs = _dump(tags) if tags else "[]", _dump(dict(extra)) if extra else "{}"
    return key, when, text, tags_text, source, embedding, relevance, pairs, *place_of(extra)


_dump = json.JSONEncoder(ensure_ascii=False, separators=(",", ":")).encode


def write(path: str, rows: Iterable[Row]) -> None:
    """Write a new file from what `encode` has returned."""
    with _connected(path) as connection:
        # Nobody else sees the file before it is whole, so nothing in it need be taken back.
        connection.executescript("PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF;" + SCHEMA)
        connection.execute("BEGIN")
        connection.executemany(_INSERT, rows)
        connection.execute("COMMIT")
        connection.execute("PRAGMA journal_mode = WAL")


def append(path: str, row: Row) -> None:
    """Add a row to a file that exists; an `InvalidArgument` where it has an entry of this id already."""
    with _opened(path, for_writing=True) as connection:
        import sqlite3

        has_place = connection.execute("SELECT 1 FROM pragma_table_info('entries') WHERE name = 'tier'").fetchone()
        try:
            connection.execute(*(_INSERT, row) if has_place else (_INSERT_AS_BEFORE, row[:-2]))
        except sqlite3.IntegrityError as error:
            raise InvalidArgument(f"{shown(path)}: an entry with the id {row[0]!a} is there already") from error


def read(path: str) -> Iterator[MemoryEntry | Problem]:
    """Read the entries in the order they were added."""
    with _opened(path) as connection:
        for seq, *row in connection.execute(f"SELECT seq, {_COLUMNS} FROM entries ORDER BY seq"):  # noqa: S608
            yield attempt(f"row {seq}", _decode, row)


def newest(path: str, tag: str | None = None, limit: int = 10) -> list[MemoryEntry]:
    """Return the newest entries, those with a tag if one is given, newest first; of equal times the last one added."""
    first = "ORDER BY timestamp_ms DESC, seq DESC LIMIT :limit"
    tagged = "" if tag is None else f"WHERE seq IN (SELECT seq FROM entry_tags WHERE tag = :tag {first})"  # noqa: S608
    return _select(path, f"SELECT seq, {_COLUMNS} FROM entries {tagged} {first}", tag=tag, limit=limit)  # noqa: S608


def _widths(path: str) -> set[int]:
    """Return how many bytes the embeddings of a file have."""
    with _opened(path) as connection:
        rows = connection.execute("SELECT DISTINCT length(embedding) FROM entries WHERE length(embedding) > 0")
        return {width for (width,) in rows}


def nearest(path: str, embedding: bytes, *, tag: str | None = None, limit: int = 10) -> list[MemoryEntry]:
    """Return the entries whose embedding is most like a given one, by cosine, the score in `relevance`; best first.

    Those of another width are not compared; BadEntry if none is of this width.
    """
    check(MemoryEntry("query", 0, "", embedding=embedding))
    columns = _COLUMNS.replace("relevance", "likeness(embedding) AS score")
    tagged = "AND seq IN (SELECT seq FROM entry_tags WHERE tag = :tag)" if tag is not None else ""
    query = f"SELECT seq, {columns} FROM entries WHERE length(embedding) = :width {tagged}"  # noqa: S608
    found = _select(
        path,
        f"{query} ORDER BY score DESC, seq DESC LIMIT :limit",
        likeness=_likeness_to(embedding),
        width=len(embedding),
        tag=tag,
        limit=limit,
    )
    if not found and limit > 0 and (widths := _widths(path)) and len(embedding) not in widths:
        here = " or ".join(str(width // 4) for width in sorted(widths))
        raise BadEntry(f"the embedding has {len(embedding) // 4} numbers, and those of {shown(path)} have {here}")
    return found


def _likeness_to(embedding: bytes) -> Callable[[bytes], float]:
    """Return the cosine with an embedding, as a function of another one of its width."""
    mine = unpack(embedding)
    length = hypot(*mine)

    def likeness(other: bytes) -> float:
        numbers = unpack(other)
        product = length * hypot(*numbers)
        return sum(map(mul, mine, numbers)) / product if product else 0.0

    return likeness


def _select(
    path: str, query: str, *, likeness: Callable[[bytes], float] | None = None, **values: object
) -> list[MemoryEntry]:
    with _opened(path) as connection:
        if likeness is not None:
            connection.create_function("likeness", 1, likeness, deterministic=True)
        found = [attempt(f"row {seq}", _decode, row) for seq, *row in connection.execute(query, values)]
    for one in found:
        if isinstance(one, Problem):
            raise DamagedFile(f"{one.place}: {one.reason}", path=shown(path))
    return [one for one in found if isinstance(one, MemoryEntry)]


def _decode(row: list[Any]) -> MemoryEntry:
    key, timestamp_ms, text, tags, source, embedding, relevance, extra = row
    if not (isinstance(embedding, bytes) and isinstance(relevance, (int, float))):
        raise BadEntry("a column holds another type than the table says")
    return check(
        MemoryEntry(
            key,
            timestamp_ms,
            text,
            () if tags == "[]" else tuple(_load(tags, list)),
            source,
            embedding,
            float(relevance),
            NOTHING if extra == "{}" else MappingProxyType(_load(extra, dict)),
        )
    )


def _load(text: object, kind: type[Kind]) -> Kind:
    try:
        value = json.loads(text) if isinstance(text, str) else None
    except (ValueError, RecursionError):
        value = None
    if not isinstance(value, kind):
        raise BadEntry(f"a column holds no JSON {'array' if kind is list else 'object'}")
    return value


@contextmanager
def _opened(path: str, *, for_writing: bool = False) -> Iterator[sqlite3.Connection]:
    with reading(path) as file:
        # What is missing at the end SQLite would read as zeros, and a vector of zeros is one.
        begin = file.read(100)
        size = os.fstat(file.fileno()).st_size
    width = int.from_bytes(begin[16:18], "big")
    pages = int.from_bytes(begin[28:32], "big")
    if begin.startswith(_MAGIC) and size < pages * (width if width > 1 else 1 << 16):
        raise DamagedFile("is not a sound SQLite file: its end is missing", path=shown(path))
    # Who closes a file last removes its helper files, if it may write; so a reader opens it for writing, too.
    if for_writing or (os.access(path, os.W_OK) and os.access(os.path.dirname(os.path.abspath(path)), os.W_OK)):
        mode = "rw"
    else:
        mode = "ro" if os.path.exists(f"{path}-wal") else "ro&immutable=1"
    with _connected(path, mode) as connection:
        connection.execute(f"PRAGMA query_only = {'OFF' if for_writing else 'ON'}")
        connection.setlimit(_LIMIT_LENGTH, 2 * ENTRY_BYTES)
        connection.execute("PRAGMA trusted_schema = OFF")
        kinds = connection.execute("SELECT type FROM sqlite_master WHERE name IN ('entries', 'entry_tags')").fetchall()
        version = connection.execute("PRAGMA user_version").fetchone()[0]
        if kinds != [("table",), ("table",)]:
            other = "it has no tables entries and entry_tags; of another program's file, import a table as CSV"
            raise DamagedFile(f"is not a file of entries: {other}", path=shown(path))
        if version != VERSION:
            raise DamagedFile(f"its version is {version}, and this program reads {VERSION}", path=shown(path))
        yield connection


@contextmanager
def _connected(path: str, mode: str = "rwc") -> Iterator[sqlite3.Connection]:
    with explaining(path):
        import sqlite3

        name = os.path.abspath(path).replace("%", "%25").replace("?", "%3f").replace("#", "%23")
        connection = sqlite3.connect(f"file:{name}?mode={mode}", timeout=WAIT, isolation_level=None, uri=True)
        with closing(connection):
            yield connection

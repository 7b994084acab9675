"""Entries as a Parquet file, which DuckDB and most tools for tables read: one row an entry, one column a field.

DuckDB does the work; it comes with the extra `duckdb` and is imported where it is used. It takes entries as lines of
JSON, much faster than row by row, and tags, embedding and extra become a list, a list of FLOAT and a map, so that
`list_cosine_similarity(embedding, …)` and `list_contains(tags, …)` work on the file as it is. The time is there as a
TIMESTAMP, too, with the other columns of `derived`.
"""

import json
import os
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from functools import cache
from itertools import chain
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from ..disk.errors import shown
from ..errors import DamagedFile, InvalidArgument, MissingExtra, StorageError
from ..search.float32 import unpack
from . import record_files
from .derived import derived
from .entry import NOTHING, BadEntry, MemoryEntry, Problem, attempt, check, embedding_of
from .loss import unknown_fields
from .rows import tags_of

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

LOSSES = (unknown_fields(),)

COLUMNS = {
    "id": "VARCHAR",
    "timestamp_ms": "UBIGINT",
    "text": "VARCHAR",
    "tags": "VARCHAR[]",
    "source": "VARCHAR",
    "embedding": "FLOAT[]",
    "relevance": "DOUBLE",
    "extra": "MAP(VARCHAR, VARCHAR)",
}
DERIVED = {"created_at": "TIMESTAMP", "tier": "VARCHAR", "section": "VARCHAR", "date": "DATE"}
_REQUIRED = ("id", "timestamp_ms", "text", "embedding")
_BATCH = 1000
_PATTERN = frozenset("*?[]{}")


def encode(entry: MemoryEntry) -> bytes:
    """Return an entry as the line of JSON that DuckDB makes a row from."""
    fields = entry._asdict()
    del fields["embedding"], fields["unknown"]
    fields["extra"] = dict(entry.extra)
    fields |= derived(entry)._asdict()
    line = json.dumps(fields, ensure_ascii=False, separators=(",", ":"))
    numbers = unpack(entry.embedding)
    # Nine digits tell every float32 from its neighbours; one format for all numbers is three times as fast as each.
    vector = _format_of(len(numbers)) % tuple(numbers)
    if "-0," in vector or "-0]" in vector:
        vector = vector.replace("-0,", "-0.0,").replace("-0]", "-0.0]")  # a JSON reader takes -0 for the number 0
    return f'{line[:-1]},"embedding":{vector}}}\n'.encode()


@cache
def _format_of(width: int) -> str:
    return f"[{','.join(['%.9g'] * width)}]"


def write(path: str, lines: Iterable[bytes]) -> None:
    """Write a new file from what `encode` has returned."""
    kinds = COLUMNS | DERIVED
    columns = ", ".join(f"{name}: '{kind}'" for name, kind in kinds.items())
    with tempfile.TemporaryDirectory(dir=os.path.dirname(path)) as folder, _duckdb(path) as connection:
        rows = os.path.join(folder, "rows.ndjson")
        with open(rows, "wb", buffering=record_files.CHUNK) as file:
            file.writelines(lines)
        connection.execute(
            f"COPY (SELECT {', '.join(kinds)} FROM read_json(?, format = 'newline_delimited',"  # noqa: S608
            f" columns = {{{columns}}}, maximum_object_size = 64000000)) TO '{path.replace(chr(39), chr(39) * 2)}'"
            " (FORMAT parquet, COMPRESSION zstd)",
            [rows],
        )


def read(path: str) -> Iterator[MemoryEntry | Problem]:
    """Read a file, in batches. Columns that the schema does not name are left out."""
    with _opened(path) as (connection, columns):
        cursor = connection.execute(f"SELECT {columns} FROM read_parquet(?)", [path])  # noqa: S608
        batches = iter(lambda: cursor.fetchmany(_BATCH), [])
        for number, row in enumerate(chain.from_iterable(batches), start=1):
            yield attempt(f"row {number:,}", _decode, row)


def rows(path: str) -> Iterator[dict[str, Any]]:
    """Yield each row of any Parquet file, by the names of its columns."""
    _check_name(path)
    with _duckdb(path) as connection:
        cursor = connection.execute("SELECT * FROM read_parquet(?)", [path])
        names = [column[0] for column in cursor.description or ()]
        batches = iter(lambda: cursor.fetchmany(_BATCH), [])
        for row in chain.from_iterable(batches):
            yield dict(zip(names, row, strict=True))


def has_entries(path: str) -> bool:
    """Say whether a Parquet file has the columns of entries, in their types."""
    _check_name(path)
    with _duckdb(path) as connection:
        kinds = _kinds(connection, path)
    return all(name in kinds for name in _REQUIRED) and kinds.get("tags", "VARCHAR[]") == "VARCHAR[]"


def _kinds(connection: "DuckDBPyConnection", path: str) -> dict[str, str]:
    """Return the columns of a file, each with its type."""
    described = connection.execute("DESCRIBE SELECT * FROM read_parquet(?)", [path]).fetchall()
    return {row[0]: row[1] for row in described}


def _check_name(path: str) -> None:
    with record_files.reading(path):
        pass  # DuckDB would not say as well what is wrong with a file that is not one
    if _PATTERN & {*path}:
        raise InvalidArgument(f"{shown(path)}: DuckDB takes this name for a pattern; rename the file")


def newest(path: str, tag: str, limit: int = 10) -> list[MemoryEntry]:
    """Return the newest entries with a tag; a `DamagedFile` where one of them breaks a rule."""
    with _opened(path) as (connection, columns):
        rows = connection.execute(
            f"SELECT {columns} FROM read_parquet(?, file_row_number = true)"  # noqa: S608
            " WHERE list_contains(tags, ?) ORDER BY timestamp_ms DESC, file_row_number DESC LIMIT ?",
            [path, tag, limit],
        ).fetchall()
    try:
        return list(map(_decode, rows))
    except BadEntry as error:
        raise DamagedFile(str(error), path=shown(path)) from None


@contextmanager
def _opened(path: str) -> Iterator[tuple["DuckDBPyConnection", str]]:
    """Give a connection and the columns to select from a file that has them."""
    _check_name(path)
    with _duckdb(path) as connection:
        there = _kinds(connection, path)
        missing = [name for name in _REQUIRED if name not in there]
        if missing:
            raise DamagedFile(f"is not a file of entries: it has no column {', '.join(missing)}", path=shown(path))
        yield connection, ", ".join(name if name in there else f"NULL AS {name}" for name in COLUMNS)


def _decode(row: tuple[Any, ...]) -> MemoryEntry:
    key, timestamp_ms, text, tags, source, embedding, relevance, extra = row
    try:
        return check(
            MemoryEntry(
                key,
                timestamp_ms,
                text,
                tags_of(tags),
                source or "",
                # Other tools write vectors as bytes, too.
                bytes(embedding) if isinstance(embedding, (bytes, bytearray)) else embedding_of(embedding or ()),
                float(relevance or 0),
                MappingProxyType(dict(extra)) if extra else NOTHING,
            )
        )
    except BadEntry:
        raise
    except (TypeError, ValueError, OverflowError) as error:
        raise BadEntry(f"a column holds what no entry has there: {error}") from None


@contextmanager
def _duckdb(path: str) -> Iterator["DuckDBPyConnection"]:
    """Give a connection that reaches nothing but files, and say in our words what goes wrong with them."""
    try:
        import duckdb
    except ImportError:
        raise MissingExtra("Parquet files need DuckDB: pip install 'agent-memory-protocol[duckdb]'") from None
    settings: dict[str, str | bool | int | float | list[str]] = {
        "autoinstall_known_extensions": "false",
        "autoload_known_extensions": "false",
    }
    try:
        with duckdb.connect(":memory:", config=settings) as connection:
            yield connection
    except (duckdb.InvalidInputException, duckdb.SerializationException, duckdb.ConversionException) as error:
        raise DamagedFile(f"is not a sound Parquet file: {_line(error)}", path=shown(path)) from error
    except duckdb.Error as error:
        raise StorageError(f"{shown(path)}: DuckDB says: {_line(error)}") from error


def _line(error: Exception) -> str:
    return " ".join(str(error).partition("\n\nLINE ")[0].split())[:200]

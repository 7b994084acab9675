"""How a file is read for import: in its own format, or row by row where another tool has written it."""

import json
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from itertools import islice

from ..errors import DamagedFile
from ..formats import jsonl_entries, parquet, rows, table
from ..formats.entry import MemoryEntry, Problem, attempt
from ..formats.graph import is_graph
from ..formats.record_files import read_whole, reading
from ..formats.rows import Columns
from ..text.phrases import counted

CSV = "csv"
ENDINGS = (".csv", ".tsv")
_LOOKED_AT, _LONGEST_LINE = 1_000, 1 << 20
_NAMED = 3
_LINES = ("ndjson", "json", "mcp-graph", "jsonl")

Read = Callable[[], Iterable[MemoryEntry | Problem]]


def reader_of(path: str, name: str, format: str, columns: Columns) -> tuple[str, Read]:
    """Return the name of a file's format, and what reads its entries; row by row where any of the `columns` is named.

    `name` is what the file is called where that is not its path, and `format` may be `auto`.
    """
    if format == CSV or (format == table.AUTO and name.casefold().endswith(ENDINGS)):
        return CSV, partial(rows.read_csv, path, columns)
    try:
        found = table.detect(path, name=name) if format == table.AUTO else table.by_name(format)
    except DamagedFile:
        if not columns.named and not has_rows(path):
            raise
        return "ndjson", partial(rows.read_lines, path, columns)
    if found.name == "parquet" and (columns.named or not parquet.has_entries(path)):
        return found.name, partial(_read_parquet, path, columns)
    if found.name == "ndjson" or (found.name in _LINES and columns.named):
        return "ndjson", partial(rows.read_lines, path, columns)
    if found.name in ("mcp-graph", "json") and format == table.AUTO and has_rows(path):
        return "ndjson", partial(rows.read_lines, path, columns)
    return found.name, partial(found.read, path)


def expired(kind: str, path: str) -> str:
    """Say which entries of an agent-memory/0.1 file have expired and therefore do not come; "" for none."""
    if kind != jsonl_entries.NAME:
        return ""
    over = jsonl_entries.expired(path)
    if not over:
        return ""
    named = ", ".join(f"{one.id} ({one.expires_at})" for one in over[:_NAMED])
    more = f" and {len(over) - _NAMED:,} more" if len(over) > _NAMED else ""
    return f"{counted(len(over), 'entry')} of the file expired and will not come in: {named}{more}"


def _read_parquet(path: str, columns: Columns) -> Iterator[MemoryEntry | Problem]:
    for number, row in enumerate(parquet.rows(path), start=1):
        yield attempt(f"row {number:,}", rows.entry, row, columns)


def has_rows(path: str) -> bool:
    """Say whether a file holds JSON objects of another tool: what begins it is one, and no part of a graph."""
    with reading(path) as file:
        lines = list(islice(iter(lambda: file.readline(_LONGEST_LINE), b""), _LOOKED_AT))
    head = b"".join(lines)
    found = _rows_of(head) or [row for line in lines for row in _rows_of(line) or ()]
    if not found and b'"timestamp_ms"' not in head:  # one value on many lines, or cut off: reading it says where
        found = _rows_of(read_whole(path, rows.LARGEST)) or [{}] * head.lstrip().startswith(b"[")
    return bool(found) and not any(is_graph(row) or "timestamp_ms" in row for row in found)


def _rows_of(data: bytes) -> list[dict[str, object]] | None:
    """Return the objects in one JSON value; None if the bytes are not one."""
    try:
        found = rows.listed(json.loads(data))
    except (ValueError, RecursionError):
        return None
    return [one for one in found if isinstance(one, dict)]

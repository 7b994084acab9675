"""How a file is read for import: in its own format, or row by row where another tool has written it."""

import json
from collections.abc import Callable, Iterable, Iterator
from functools import partial

from ..errors import DamagedFile
from ..formats import parquet, rows, table
from ..formats.entry import MemoryEntry, Problem, attempt
from ..formats.graph import is_graph
from ..formats.rows import Columns

CSV = "csv"
_ENDINGS = (".csv", ".tsv")
_LINES = ("ndjson", "json", "mcp-graph", "jsonl")

Read = Callable[[], Iterable[MemoryEntry | Problem]]


def reader_of(path: str, name: str, format: str, columns: Columns) -> tuple[str, Read]:
    """Return the name of a file's format, and what reads its entries.

    Args:
        path: the file.
        name: what it is called, where that is not its path.
        format: the format to read it as; `auto` where the file says which.
        columns: which columns are which fields. Where any is named, the file is read row by row.

    Raises:
        DamagedFile: it has no known format.
        InvalidArgument: there is no such format.
    """
    if format == CSV or (format == table.AUTO and name.casefold().endswith(_ENDINGS)):
        return CSV, partial(rows.read_csv, path, columns)
    try:
        found = table.detect(path, name=name) if format == table.AUTO else table.by_name(format)
    except DamagedFile:
        if not columns.named and not _has_texts(path):
            raise
        return "ndjson", partial(rows.read_lines, path, columns)
    if found.name == "parquet" and (columns.named or not parquet.has_entries(path)):
        return found.name, partial(_read_parquet, path, columns)
    if found.name == "ndjson" or (found.name in _LINES and columns.named):
        return "ndjson", partial(rows.read_lines, path, columns)
    if found.name in ("mcp-graph", "json") and format == table.AUTO and _has_texts(path):
        return "ndjson", partial(rows.read_lines, path, columns)
    return found.name, partial(found.read, path)


def _read_parquet(path: str, columns: Columns) -> Iterator[MemoryEntry | Problem]:
    for number, row in enumerate(parquet.rows(path), start=1):
        yield attempt(f"row {number:,}", rows.entry, row, columns)


def _has_texts(path: str) -> bool:
    """Say whether the first line, or the first object of an array, is a row with a text."""
    with open(path, "rb") as file:
        line = file.readline(1 << 20)
    try:
        value = json.loads(line)
    except (ValueError, RecursionError):
        return False
    first = value[0] if isinstance(value, list) and value else value
    return isinstance(first, dict) and isinstance(first.get("text"), str) and not is_graph(first)

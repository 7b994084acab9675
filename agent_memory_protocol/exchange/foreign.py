"""How a file is read for import: in its own format, or row by row where another tool has written it."""

import csv
import json
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from functools import partial
from io import StringIO
from itertools import islice

from ..disk.errors import shown
from ..disk.files import split_bom
from ..errors import DamagedFile
from ..formats import jsonl_entries, parquet, rows, table
from ..formats.entry import BadEntry, MemoryEntry, Problem, attempt
from ..formats.graph import is_graph
from ..formats.json_schema import entry_of
from ..formats.jsonl_rules import BadLine, without_doubles
from ..formats.record_files import read_whole, reading
from ..formats.rows import Columns, called, columns_in
from ..text.phrases import counted

CSV = "csv"
ENDINGS = (".csv", ".tsv")
_LOOKED_AT, _LONGEST_LINE = 1_000, 1 << 20
_NAMED = 3
LARGEST = 256 << 20
_HEAD = 1 << 16  # So many characters hold the header of any CSV file
_SEPARATOR = re.compile(r"sep=([,;:|\t])\r?\n", re.IGNORECASE)
"""How table programs say on the first line of a CSV file what is between the cells."""
_LINES = ("ndjson", "json", "mcp-graph", "jsonl")

Read = Callable[[], Iterable[MemoryEntry | Problem]]


def reader_of(path: str, name: str, format: str, columns: Columns) -> tuple[str, Read]:
    """Return the name of a file's format, and what reads its entries; row by row where any of the `columns` is named.

    `name` is what the file is called where that is not its path, and `format` may be `auto`.
    """
    if format == CSV or (format == table.AUTO and name.casefold().endswith(ENDINGS)):
        return CSV, partial(_read_csv, path, columns)
    try:
        found = table.detect(path, name=name) if format == table.AUTO else table.by_name(format)
    except DamagedFile:
        if not columns.named and not has_rows(path):
            raise
        return "ndjson", partial(_read_lines, path, columns)
    if found.name == "parquet" and (columns.named or not parquet.has_entries(path)):
        return found.name, partial(_read_parquet, path, columns)
    if found.name == "ndjson" or (found.name in _LINES and columns.named):
        return "ndjson", partial(_read_lines, path, columns)
    if found.name in ("mcp-graph", "json", "jsonl") and format == table.AUTO and has_rows(path):
        return "ndjson", partial(_read_lines, path, columns)
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
    columns.check(parquet.rows(path), path)
    for number, row in enumerate(parquet.rows(path), start=1):
        yield attempt(f"row {number:,}", rows.entry, row, columns)


def has_rows(path: str) -> bool:
    """Say whether a file holds JSON objects of another tool: what begins it is one, and no part of a graph."""
    with reading(path) as file:
        lines = list(islice(iter(lambda: file.readline(_LONGEST_LINE), b""), _LOOKED_AT))
    head = b"".join(lines)
    found = _rows_of(head) or [row for line in lines for row in _rows_of(line) or ()]
    if not found and b'"timestamp_ms"' not in head:  # one value on many lines, or cut off: reading it says where
        found = _rows_of(read_whole(path, LARGEST)) or [{}] * head.lstrip().startswith(b"[")
    return bool(found) and not any(is_graph(row) or "timestamp_ms" in row or table.is_jsonl(row) for row in found)


def _rows_of(data: bytes) -> list[dict[str, object]] | None:
    """Return the objects in one JSON value; None if the bytes are not one."""
    try:
        found = _listed(json.loads(data))
    except (ValueError, RecursionError):
        return None
    return [one for one in found if isinstance(one, dict)]


def _read_lines(path: str, columns: Columns) -> Iterator[MemoryEntry | Problem]:
    """Read JSON objects: one a line, a JSON array of them, or an object whose only list is of them."""
    data = split_bom(read_whole(path, LARGEST))[1]
    found = _one_value(data, path)
    columns.check((row for row in found or _parsed(data) if isinstance(row, dict)), path)
    if found is not None:
        for number, row in enumerate(found, start=1):
            yield attempt(f"entry {number:,}", _from_object, row, columns)
        return
    for number, line in enumerate(data.split(b"\n"), start=1):
        if line.strip():
            yield attempt(f"line {number:,}", _from_line, line, columns)


def _parsed(data: bytes) -> Iterator[object]:
    for line in data.split(b"\n"):
        with suppress(ValueError, RecursionError):
            yield json.loads(line)


def _listed(value: object) -> list[object]:
    """Return the rows in a JSON value: an array, an object's only list of objects, or a table as pandas writes it."""
    if not isinstance(value, dict):
        return value if isinstance(value, list) else [value]
    names, cells = value.get("columns"), value.get("data")
    if isinstance(names, list) and isinstance(cells, list) and all(isinstance(row, list) for row in cells):
        return [dict(zip(names, row, strict=True)) if len(row) == len(names) else row for row in cells]
    text = called(value, "text")
    if text and all(isinstance(column, dict) for column in value.values()):
        return [{name: column.get(key) for name, column in value.items()} for key in value[text]]
    if not text and value and all(isinstance(one, dict) and called(one, "text") for one in value.values()):
        # A number is a row's place in a table, and no name of its own
        return [{**one, **({} if key.isdigit() or called(one, "id") else {"id": key})} for key, one in value.items()]
    if not text:
        lists = [one for one in value.values() if isinstance(one, list) and one and isinstance(one[0], dict)]
        return lists[0] if len(lists) == 1 else [value]
    return [value]


def _one_value(data: bytes, path: str) -> list[object] | None:
    """Return the objects of one JSON value; None if each line is one."""
    try:
        return _listed(json.loads(data, object_pairs_hook=without_doubles))
    except (ValueError, RecursionError) as error:
        if data.lstrip().startswith(b"[") or (isinstance(error, BadLine) and b"\n{" not in data.strip()):
            raise DamagedFile(f"is not JSON: {error}", path=shown(path)) from None
        return None


def _read_csv(path: str, columns: Columns) -> Iterator[MemoryEntry | Problem]:
    """Read a CSV file with a header, of commas, semicolons or tabs."""
    data = split_bom(read_whole(path, LARGEST))[1]
    try:
        text = data.decode()
    except UnicodeDecodeError:
        raise DamagedFile("is not UTF-8; save it as UTF-8", path=shown(path)) from None
    if not text.strip():
        raise DamagedFile("is empty; the first line of CSV names its columns", path=shown(path))
    csv.field_size_limit(LARGEST)
    delimiter, is_said = _delimiter(text, columns)
    lines = csv.reader(StringIO(text, newline=""), delimiter=delimiter)
    names = [name.strip() for name in next(islice(lines, is_said, None), [])]
    header = dict.fromkeys(names, "")
    if not _has_text(header, columns) and "text" not in columns.named:
        first = "its first line names no column text; add a line that names the columns, or"
        raise DamagedFile(f"{first} name its column with --text (columns: {columns_in(header)})", path=shown(path))
    columns.check([header], path)
    twice = [name for name, count in Counter(names).items() if name and count > 1]
    if twice:
        raise DamagedFile(f"has several columns called {', '.join(twice)}; rename all but one", path=shown(path))
    is_open = text.count('"') % 2 == 1
    last = text.count("\n") + (not text.endswith("\n"))
    for cells in filter(None, lines):
        place = f"line {lines.line_num:,}"
        if any(cells[len(names) :]):
            yield Problem(
                place,
                f"it has {len(cells)} cells, and the header {len(names)}; put quotes around a text with {delimiter!r}",
            )
        elif is_open and lines.line_num >= last and any("\n" in cell for cell in cells):
            yield Problem(
                place,
                "a quotation mark is never closed, so the rest of the file is one cell; close it, or write it twice",
            )
        else:
            row = {name: cell or None for name, cell in zip(names, cells, strict=False)}
            yield attempt(place, rows.entry, row, columns)


def _delimiter(text: str, columns: Columns) -> tuple[str, bool]:
    """Return what is between the cells of a CSV file, and whether the first line does nothing but say so."""
    if said := _SEPARATOR.match(text):
        return said[1], True

    def weigh(delimiter: str) -> tuple[bool, int]:
        names = next(csv.reader(StringIO(text[:_HEAD], newline=""), delimiter=delimiter), [])
        return _has_text({name.strip(): "" for name in names}, columns), len(names)

    return max(",;\t|", key=weigh), False


def _has_text(header: Mapping[str, object], columns: Columns) -> bool:
    named = columns.named.get("text")
    return named in header if named else bool(called(header, "text"))


def _from_line(line: bytes, columns: Columns) -> MemoryEntry:
    try:
        row = json.loads(line, object_pairs_hook=without_doubles)
    except (ValueError, RecursionError) as error:
        raise BadEntry(f"is not JSON: {str(error)[:100]}") from None
    return _from_object(row, columns)


def _from_object(row: object, columns: Columns) -> MemoryEntry:
    if not isinstance(row, dict):
        raise BadEntry("is not a JSON object")
    if not columns.named and columns.embeds:
        try:
            return entry_of(row)
        except BadEntry:
            pass
    return rows.entry(row, columns)

"""Rows of other tools: JSON lines, CSV and Parquet whose columns are not those of an entry, read as entries.

What is missing is made: an id from the content, a time of 0 where nobody knows. A column that no field is made of goes
into `extra` as text, so nothing of a row is lost; only our own `derived` columns are left out while they say the same.
"""

import csv
import json
import math
import re
import uuid
from ast import literal_eval
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import field
from datetime import UTC, date, datetime
from decimal import Decimal
from email.utils import parsedate_to_datetime
from io import StringIO
from types import MappingProxyType

from ..disk.errors import shown
from ..disk.files import split_bom
from ..errors import DamagedFile, InvalidArgument
from ..limits import split_lines
from ..values import dataclass
from . import record_files
from .derived import SECTION, TIER, Derived, derived
from .entry import BadEntry, MemoryEntry, Problem, attempt, check, embedding_of, to_milliseconds, to_moment, uuid_of
from .json_schema import entry_of

FIELDS = ("id", "timestamp_ms", "text", "tags", "source", "relevance", "extra", "embedding")
_NAMESPACE = uuid.UUID("5a0c0a0e-3f1b-5c53-9d0c-6f1f0c3b7a11")
LARGEST = 256 << 20
_NAMES = {
    "text": ("text", "content", "memory", "fact", "body", "note"),
    "timestamp_ms": ("timestamp_ms", "timestamp", "created_at", "createdat", "time", "date"),
    "tags": ("tags", "labels", "keywords"),
}
"""What columns are called, in any case, that are taken for a field where no other is named: the first that is there."""

_SLASHES = re.compile(r"\d{4}/\d{2}/\d{2}")

_UNKNOWN = ("nat", "nan", "null", "none", "na", "n/a", "-", "")  # How tools spell a time or a number that is not known

_UNITS = ((10**11, 1000.0), (10**14, 1.0), (10**17, 1e-3), (math.inf, 1e-6))
"""A number below each of these counts seconds, milliseconds, microseconds or nanoseconds: in the next it is in 1973."""


@dataclass(frozen=True, slots=True)
class Columns:
    """Which column is which field of an entry. A field that no column is named for is the column of its own name."""

    named: Mapping[str, str] = field(default_factory=dict)  # the column of each field that has another name
    embeds: bool = True  # whether embeddings are read

    @classmethod
    def of(
        cls, pairs: Mapping[str, str], *, text: str | None = None, time: str | None = None, embeds: bool = True
    ) -> "Columns":
        """Return the columns that pairs of a column and a field name, and those of the text and the time."""
        given = [*((target, column) for column, target in pairs.items()), ("text", text), ("timestamp_ms", time)]
        named: dict[str, str] = {}
        for said, column in given:
            if column is None:
                continue
            target = "timestamp_ms" if said == "time" else said
            if target not in FIELDS:
                swapped = f"; is it {target}={column}?" if column in FIELDS else ""
                known = f"write COLUMN=FIELD; fields are {', '.join(FIELDS)}"
                raise InvalidArgument(f"{column}={target}: there is no field {target}{swapped}; {known}")
            if named.setdefault(target, column) != column:
                raise InvalidArgument(f"{target} has two columns, {named[target]} and {column}; name one")
        return cls(named, embeds)


def entry(row: Mapping[str, object], columns: Columns) -> MemoryEntry:
    """Return a row as an entry. Raises BadEntry if it has no text, or a value that no field of an entry can have."""
    left = {str(name): value for name, value in row.items() if name not in (None, "")}  # "" is the index of pandas
    fields = {name: _take(left, column) for name, column in columns.named.items()}
    for name in FIELDS:
        if name not in fields:
            fields[name] = left.pop(_called(left, name), None)
    text = fields["text"]
    if not isinstance(text, str) or not text.strip():
        raise BadEntry(_no_text(row, columns))
    text = "\n".join(split_lines(text))
    when = _milliseconds(fields["timestamp_ms"])
    carried = _pairs(fields["extra"])
    made = derived(MemoryEntry("", when, text, extra=carried))
    extra = {
        **carried,
        **{name: _text(value) for name, value in left.items() if not (_is_missing(value) or _says(name, value, made))},
    }
    key = _text(fields["id"]) if not _is_missing(fields["id"]) else ""
    return check(
        MemoryEntry(
            id=key or uuid_of(f"{when}\0{text}", _NAMESPACE),
            timestamp_ms=when,
            text=text,
            tags=tags_of(fields["tags"]),
            source="" if _is_missing(fields["source"]) else _text(fields["source"]),
            embedding=_vector(fields["embedding"]) if columns.embeds else b"",
            relevance=_number(fields["relevance"]),
            extra=MappingProxyType(extra),
        )
    )


def _called(row: Mapping[str, object], name: str) -> str:
    """Return the column of a row that is taken for a field; "" without one."""
    known = {column.casefold(): column for column, value in row.items() if value is not None}
    return next((known[one] for one in _NAMES.get(name, (name,)) if one in known), "")


def _take(row: dict[str, object], column: str) -> object:
    """Take a value out of a row: that of a column, or with `a.b` of a key in an object."""
    if column in row:
        return row.pop(column)
    outer, dot, key = column.partition(".")
    inner = row.get(outer)
    if not dot or not isinstance(inner, Mapping):
        return None
    rest = {**inner}
    value = _take(rest, key)
    row[outer] = rest
    if not rest:
        del row[outer]
    return value


def _no_text(row: Mapping[str, object], columns: Columns) -> str:
    column = columns.named.get("text") or _called({str(name): "" for name in row}, "text")
    if column in row:
        return f"its {column} is empty, or no text"
    keys = ", ".join([*_keys(row)][:8]) or "none"
    return f"it has no text in {column or 'text'}; name its column with --text (columns: {keys})"


def _keys(row: Mapping[str, object]) -> Iterator[str]:
    for name, value in row.items():
        if isinstance(value, Mapping) and value:
            yield from (f"{name}.{key}" for key in _keys(value))
        elif name:
            yield str(name)


def tags_of(value: object) -> tuple[str, ...]:
    """Return tags as other tools write them: a list, one as JSON or Python, or one text with commas or semicolons."""
    if _is_missing(value):
        return ()
    if isinstance(value, str):
        if value.lstrip().startswith("["):
            for read in (json.loads, literal_eval):  # pandas writes a list into a CSV file as Python does
                with suppress(ValueError, SyntaxError, RecursionError, MemoryError):
                    return tags_of(read(value))
        return tuple(part.strip() for part in value.replace(";", ",").split(",") if part.strip())
    if isinstance(value, (list, tuple)):
        known = [one for one in value if not _is_missing(one)]
        if all(isinstance(one, (str, int)) and not isinstance(one, bool) for one in known):
            return tuple(map(str, known))
    raise BadEntry("tags is neither a text nor a list of texts")


def read_lines(path: str, columns: Columns) -> Iterator[MemoryEntry | Problem]:
    """Read JSON objects: one a line, a JSON array of them, or an object whose only list is of them."""
    data = split_bom(record_files.read_whole(path, LARGEST))[1]
    rows = _listed(data, path)
    if rows is not None:
        for number, row in enumerate(rows, start=1):
            yield attempt(f"entry {number:,}", _from_object, row, columns)
        return
    for number, line in enumerate(data.split(b"\n"), start=1):
        if line.strip():
            yield attempt(f"line {number:,}", _from_line, line, columns)


def listed(value: object) -> list[object]:
    """Return the rows in a JSON value: an array, an object's only list of objects, or a table as pandas writes it."""
    if not isinstance(value, dict):
        return value if isinstance(value, list) else [value]
    names, cells = value.get("columns"), value.get("data")
    if isinstance(names, list) and isinstance(cells, list) and all(isinstance(row, list) for row in cells):
        return [dict(zip(names, row, strict=False)) for row in cells]
    text = _called(value, "text")
    if text and all(isinstance(column, dict) for column in value.values()):
        return [{name: column.get(key) for name, column in value.items()} for key in value[text]]
    if not text and all(key.isdigit() and isinstance(one, dict) for key, one in value.items()):
        return [*value.values()]
    if not text:
        lists = [one for one in value.values() if isinstance(one, list) and one and isinstance(one[0], dict)]
        return lists[0] if len(lists) == 1 else [value]
    return [value]


def _listed(data: bytes, path: str) -> list[object] | None:
    """Return the objects of one JSON value; None if each line is one."""
    try:
        return listed(json.loads(data))
    except (ValueError, RecursionError) as error:
        if data.lstrip().startswith(b"["):
            raise DamagedFile(f"is not JSON: {error}", path=shown(path)) from None
        return None


def read_csv(path: str, columns: Columns) -> Iterator[MemoryEntry | Problem]:
    """Read a CSV file with a header, of commas, semicolons or tabs."""
    data = split_bom(record_files.read_whole(path, LARGEST))[1]
    try:
        text = data.decode()
    except UnicodeDecodeError:
        raise DamagedFile("is not UTF-8; save it as UTF-8", path=shown(path)) from None
    first = text.split("\n", 1)[0]
    delimiter = max(",;\t", key=first.count)
    csv.field_size_limit(LARGEST)
    rows = csv.reader(StringIO(text, newline=""), delimiter=delimiter)
    names = [name.strip() for name in next(rows, [])]
    header = dict.fromkeys(names, "")
    if (columns.named.get("text") or _called(header, "text")) not in header:
        raise DamagedFile(_no_text(header, columns), path=shown(path))
    twice = [name for name, count in Counter(names).items() if name and count > 1]
    if twice:
        raise DamagedFile(f"has several columns called {', '.join(twice)}; rename all but one", path=shown(path))
    is_open = text.count('"') % 2 == 1
    last = text.count("\n") + (not text.endswith("\n"))
    for cells in filter(None, rows):
        place = f"line {rows.line_num:,}"
        if any(cells[len(names) :]):
            yield Problem(
                place,
                f"it has {len(cells)} cells, and the header {len(names)}; put quotes around a text with {delimiter!r}",
            )
        elif is_open and rows.line_num >= last and any("\n" in cell for cell in cells):
            yield Problem(
                place, "a quotation mark is never closed, so the rest of the file is one cell; close or double it"
            )
        else:
            yield attempt(place, entry, {name: cell or None for name, cell in zip(names, cells, strict=False)}, columns)


def _from_line(line: bytes, columns: Columns) -> MemoryEntry:
    try:
        row = json.loads(line)
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
    return entry(row, columns)


def _is_missing(value: object) -> bool:
    return value is None or (isinstance(value, float) and math.isnan(value))


def _says(name: str, value: object, made: Derived) -> bool:
    """Say whether a column is one of our own and says what was made of the fields."""
    if name not in made._fields:
        return False
    expected = getattr(made, name)
    if name in (TIER, SECTION) or expected is None:
        return bool(value == expected)
    try:
        said = to_moment(_milliseconds(value)).replace(tzinfo=None).isoformat(sep=" ", timespec="milliseconds")
    except BadEntry:
        return False
    return said.startswith(str(expected))


def _text(value: object) -> str:
    if isinstance(value, str):
        return value
    if isinstance(value, (datetime, date)):
        return value.isoformat()
    is_json = isinstance(value, (Mapping, list, tuple, bool, int, float))
    return json.dumps(value, ensure_ascii=False, default=str) if is_json else str(value)


def _pairs(value: object) -> dict[str, str]:
    if _is_missing(value) or value == "":
        return {}
    if isinstance(value, str):
        try:
            value = json.loads(value)
        except ValueError:
            return {"extra": str(value)}
    if not isinstance(value, Mapping):
        return {"extra": _text(value)}
    return {str(name): _text(one) for name, one in value.items() if not _is_missing(one)}


def _number(value: object) -> float:
    if _is_missing(value) or str(value).strip().casefold() in _UNKNOWN:
        return 0.0
    try:
        return float(str(value))
    except ValueError:
        raise BadEntry("relevance is not a number") from None


def _vector(value: object) -> bytes:
    if isinstance(value, bytes):
        return value
    if isinstance(value, (list, tuple)):
        try:
            return embedding_of([float(one) for one in value])
        except (TypeError, ValueError):
            raise BadEntry("embedding is not a list of numbers") from None
    return b""


def _milliseconds(value: object) -> int:
    """Return a moment as milliseconds: of a number of seconds or milliseconds, or of a text with a date."""
    if _is_missing(value) or value == "":
        return 0
    if isinstance(value, str):
        return 0 if value.strip().casefold() in _UNKNOWN else _milliseconds(_moment(value))
    if isinstance(value, datetime):
        return to_milliseconds(value if value.tzinfo else value.replace(tzinfo=UTC))
    if isinstance(value, date):
        return to_milliseconds(datetime(value.year, value.month, value.day, tzinfo=UTC))
    if isinstance(value, (int, float, Decimal)) and not isinstance(value, bool) and math.isfinite(value):
        if value < 0:
            raise BadEntry(f"{value} is before 1970, where timestamp_ms begins")
        return int(float(value) * next(unit for end, unit in _UNITS if value < end))
    raise _no_moment(str(value))


def _no_moment(text: str) -> BadEntry:
    return BadEntry(f"{text[:40]!a} is not a moment; give ISO 8601, or seconds or milliseconds since 1970")


def _moment(text: str) -> float | datetime:
    try:
        return float(text)
    except ValueError:
        pass
    text = text.strip()
    try:
        return datetime.fromisoformat(text.replace("/", "-") if _SLASHES.match(text) else text)
    except ValueError:
        with suppress(ValueError):
            return parsedate_to_datetime(text)
        raise _no_moment(text) from None

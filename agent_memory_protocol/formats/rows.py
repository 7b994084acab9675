"""Rows of other tools: JSON lines, CSV and Parquet whose columns are not those of an entry, read as entries.

What is missing is made: an id from the content, a time of 0 where nobody knows. A column that no field is made of goes
into `extra` as text, so nothing of a row is lost; only our own `derived` columns are left out while they say the same.
"""

import json
import math
import re
import uuid
from ast import literal_eval
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import field
from datetime import UTC, date, datetime
from decimal import Decimal
from email.utils import parsedate_to_datetime
from types import MappingProxyType

from ..disk.errors import shown
from ..errors import DamagedFile, InvalidArgument
from ..limits import split_lines
from ..values import dataclass
from .derived import LAST_MOMENT, SECTION, TIER, Derived, derived
from .entry import BadEntry, MemoryEntry, check, embedding_of, to_milliseconds, to_moment, uuid_of

FIELDS = ("id", "timestamp_ms", "text", "tags", "source", "relevance", "extra", "embedding")
_NAMESPACE = uuid.UUID("5a0c0a0e-3f1b-5c53-9d0c-6f1f0c3b7a11")
_NAMES = {
    "text": ("text", "content", "memory", "fact", "body", "note"),
    "timestamp_ms": ("timestamp_ms", "timestamp", "created_at", "createdat", "time", "date"),
    "tags": ("tags", "labels", "keywords"),
}
"""What columns are called, in any case, that are taken for a field where no other is named: the first that is there."""

_SLASHES = re.compile(r"\d{4}/\d{2}/\d{2}")

_UNKNOWN = ("nat", "nan", "null", "none", "na", "n/a", "-", "")  # How tools spell a time or a number that is not known

_UNITS = ((10**11, 1000, 1), (10**14, 1, 1), (10**17, 1, 1000), (LAST_MOMENT * 10**6, 1, 10**6))
"""A number below each of these counts seconds, milliseconds, microseconds or nanoseconds: in the next it is in 1973."""
_LEAST = 10**8  # Seconds up to 1973: a smaller number is a day of a table program, a year or a count

_WITH_ZONE = re.compile(r"(?<=\d) ?(?:UTC|GMT)$")


@dataclass(frozen=True, slots=True)
class Columns:
    """Which column is which field of an entry. A field that no column is named for is the column of its own name."""

    named: Mapping[str, str] = field(default_factory=dict)  # the column of each field that has another name
    embeds: bool = True  # whether embeddings are read

    @classmethod
    def of(
        cls,
        pairs: Iterable[tuple[str, str]] = (),
        *,
        text: str | None = None,
        time: str | None = None,
        embeds: bool = True,
    ) -> "Columns":
        """Return the columns that pairs of a column and a field name, and those of the text and the time."""
        given = [*((target, column) for column, target in pairs), ("text", text), ("timestamp_ms", time)]
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
        for column, count in Counter(named.values()).items():
            if count > 1:
                fields = " and ".join(one for one in named if named[one] == column)
                raise InvalidArgument(f"{column} can be one field only, and here it is {fields}; name one")
        return cls(named, embeds)

    def check(self, rows: Iterable[Mapping[str, object]], path: str) -> None:
        """Raise DamagedFile if a column that is named is in none of the rows of a file. Of no rows nothing is said."""
        missing, names = {*self.named.values()}, ""
        for row in rows if missing else ():
            missing = {column for column in missing if not _has(row, column)}
            if not missing:
                return
            names = names or columns_in(row)
        if names:
            raise DamagedFile(f"has no column {', '.join(sorted(missing))} (columns: {names})", path=shown(path))


def entry(row: Mapping[str, object], columns: Columns) -> MemoryEntry:
    """Return a row as an entry. Raises BadEntry if it has no text, or a value that no field of an entry can have."""
    left = {str(name): value for name, value in row.items() if name not in (None, "")}  # "" is the index of pandas
    taken = {**columns.named}
    fields = {name: _take(left, column) for name, column in taken.items()}
    for name in FIELDS:
        if name not in fields:
            taken[name] = called(left, name)
            fields[name] = left.pop(taken[name], None)
    text = fields["text"]
    if isinstance(text, bytes):
        text = _text(text)
    if not isinstance(text, str) or not text.strip():
        raise BadEntry(_no_text(row, columns))
    text = "\n".join(split_lines(text))
    when = _milliseconds(fields["timestamp_ms"], is_exact=taken["timestamp_ms"] == "timestamp_ms")
    carried = _pairs(fields["extra"])
    made = derived(MemoryEntry("", when, text, extra=carried))
    more = {name: _text(value) for name, value in left.items() if not (_is_missing(value) or _says(name, value, made))}
    key = _text(fields["id"]) if not _is_missing(fields["id"]) else _made_id(when, text)
    extra = {
        **{f"extra.{name}" if more.get(name, one) != one else name: one for name, one in carried.items()},
        **more,
    }
    return check(
        MemoryEntry(
            id=key,
            timestamp_ms=when,
            text=text,
            tags=tags_of(fields["tags"]),
            source="" if _is_missing(fields["source"]) else _text(fields["source"]),
            embedding=_vector(fields["embedding"]) if columns.embeds else b"",
            relevance=_number(fields["relevance"]),
            extra=MappingProxyType(extra),
        )
    )


def has_own_id(entry: MemoryEntry) -> bool:
    """Say whether a row brought an id, or it was made."""
    return entry.id != _made_id(entry.timestamp_ms, entry.text)


def _made_id(timestamp_ms: int, text: str) -> str:
    return uuid_of(f"{timestamp_ms}\0{text}", _NAMESPACE)


def called(row: Mapping[str, object], name: str) -> str:
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
    column = columns.named.get("text") or called({str(name): "" for name in row}, "text")
    if column in row:
        return f"its {column} is empty, or no text"
    return f"it has no text in {column or 'text'}; name its column with --text (columns: {columns_in(row)})"


def columns_in(row: Mapping[str, object]) -> str:
    """Return the first columns of a row, with those in its objects, as people read them."""
    return ", ".join([*_keys(row)][:8]) or "none"


def _has(row: Mapping[str, object], column: str) -> bool:
    outer, dot, key = column.partition(".")
    inner = row.get(outer)
    return column in row or (bool(dot) and isinstance(inner, Mapping) and _has(inner, key))


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
    if isinstance(value, (bytes, bytearray)):
        with suppress(UnicodeDecodeError):
            return value.decode()
        return f"\\x{value.hex()}"
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


def _milliseconds(value: object, *, is_exact: bool = False) -> int:
    """Return a moment as milliseconds: of a number since 1970, or of a text with a date.

    With `is_exact` a number is milliseconds, also one so small that nobody could tell what it counts.
    """
    if _is_missing(value) or value == "":
        return 0
    if isinstance(value, str):
        return 0 if value.strip().casefold() in _UNKNOWN else _milliseconds(_moment(value), is_exact=is_exact)
    if isinstance(value, datetime):
        return to_milliseconds(value if value.tzinfo else value.replace(tzinfo=UTC))
    if isinstance(value, date):
        return to_milliseconds(datetime(value.year, value.month, value.day, tzinfo=UTC))
    if isinstance(value, (int, float, Decimal)) and not isinstance(value, bool):
        if value < 0:
            raise BadEntry(f"{value} is before 1970, where timestamp_ms begins")
        if 0 < value < _LEAST:
            return int(value) if is_exact else _milliseconds(_day(value))
        for end, times, parts in _UNITS:
            if value < end:
                return int(value * times // parts)
    raise _no_moment(str(value))


def _day(value: float | Decimal) -> date:
    """Return the day that a number such as 20260131 spells."""
    with suppress(ValueError):
        if value == int(value) and len(str(int(value))) == len("YYYYMMDD"):
            return date.fromisoformat(str(int(value)))
    raise BadEntry(f"{value:g} could count years, days or seconds; give ISO 8601, or seconds from 1973 on")


def _no_moment(text: str) -> BadEntry:
    return BadEntry(f"{text[:40]!a} is not a moment; give ISO 8601, or seconds or milliseconds since 1970")


def _moment(text: str) -> float | datetime:
    try:
        return float(text)
    except ValueError:
        pass
    text = text.strip()
    plain = _WITH_ZONE.sub("+00:00", text.replace("/", "-") if _SLASHES.match(text) else text)
    try:
        return datetime.fromisoformat(plain)
    except ValueError:
        with suppress(ValueError):
            return parsedate_to_datetime(text)
        raise _no_moment(text) from None

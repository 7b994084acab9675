"""One line of an agent-memory/0.1 file: a header, an entry or a tombstone, read strictly and written canonically.

Everything here is a function over values; `jsonl_view` says what the lines of a file mean together, `jsonl_file`
is the file on disk. A line that breaks a rule is never guessed at: it becomes an `Unreadable` with its number and
every reason, and stays in the file. What a rule of *writing* forbids (a line break in a text, an odd scope) is
still read when another tool wrote it, as long as its types are right.
"""

import json
from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import NamedTuple

from ..disk.files import split_bom
from ..errors import InvalidArgument
from .jsonl_rules import (
    DEPTH,
    ENTRY_RULES,
    HEADER_RULES,
    TOMBSTONE_RULES,
    BadLine,
    check_text,
    check_value,
    is_writable_scope,
    refuse_constant,
    take,
    without_doubles,
)

FORMAT = "agent-memory/0.1"
USER = "user"  # The source of what the person said

LINE_BYTES = 1 << 20

_SAID, _INFERRED = 1.0, 0.7

# Named tuples, because a frozen dataclass takes longer to make than its line to parse.


class HeaderLine(NamedTuple):
    """The first line of a file. `extra` holds keys we do not know, None without any."""

    format: str
    created_at: str | None = None
    extra: Mapping[str, object] | None = None

    @property
    def is_ledger(self) -> bool:
        """Whether the file is a ledger, which git merges line by line and nobody compacts (decision 23)."""
        return (self.extra or {}).get("ledger") is True


class EntryLine(NamedTuple):
    """One thing to remember; the fields are those of the specification, `extra` the keys it does not name."""

    id: str
    kind: str
    text: str
    scope: str = "global"
    tags: tuple[str, ...] = ()
    source: str | None = None
    confidence: float = _INFERRED
    expires_at: str | None = None
    supersedes: str | None = None
    created_at: str = ""
    extra: Mapping[str, object] | None = None


class Tombstone(NamedTuple):
    """A line that deletes the entry with its id. `extra` holds further keys, None without any."""

    id: str
    created_at: str
    extra: Mapping[str, object] | None = None


class UnreadableLine(NamedTuple):
    """A line that is not one of the three, and why."""

    line: int
    reason: str
    blank: bool = False


Line = HeaderLine | EntryLine | Tombstone | UnreadableLine


def default_confidence(source: str | None) -> float:
    """Return how sure an entry is when nobody says: what an agent inferred starts below 1."""
    return _SAID if source == USER else _INFERRED


# Reading


def parse_line(line: bytes | str, number: int) -> Line:
    """Read one line, with or without its ending. `number` is its place in the file, counted from 1."""
    try:
        data = line.encode() if isinstance(line, str) else line
        if len(data) > LINE_BYTES:
            return UnreadableLine(number, f"larger than {LINE_BYTES:,} bytes")
        if not data.strip(b" \t\r\n"):
            return UnreadableLine(number, "blank", blank=True)
        value = _DECODER.decode(data.decode())
        check_value(value, DEPTH)
        return _interpret(value)
    except UnicodeError:
        return UnreadableLine(number, "not valid UTF-8")
    except BadLine as error:
        return UnreadableLine(number, str(error))
    except json.JSONDecodeError as error:
        return UnreadableLine(number, f"not valid JSON: {error.msg} at character {error.pos + 1}")
    except ValueError:
        return UnreadableLine(number, "a number is too long")
    except RecursionError:
        return UnreadableLine(number, "nested too deeply")


_DECODER = json.JSONDecoder(object_pairs_hook=without_doubles, parse_constant=refuse_constant)


def _interpret(fields: object) -> HeaderLine | EntryLine | Tombstone:
    if not isinstance(fields, dict):
        raise BadLine("not a JSON object")
    if "format" in fields and "id" not in fields:
        return HeaderLine(**take(fields, HEADER_RULES))
    deleted = fields.get("deleted")
    if deleted is not None and deleted is not False:
        values = take(fields, TOMBSTONE_RULES)
        del values["deleted"]
        return Tombstone(**values)
    values = take(fields, ENTRY_RULES)
    values["tags"] = tuple(values["tags"])
    if values["confidence"] is None:
        values["confidence"] = default_confidence(values["source"])
    return EntryLine(**values)


def parse_file(chunks: Iterable[bytes]) -> Iterator[Line]:
    r"""Read the lines of a file, which may come in pieces cut anywhere; only ``\n`` ends a line.

    A last line without its end that is nothing by itself was torn off. One that is whole counts.
    """
    number = 0
    rest = b""
    for chunk in chunks:
        *whole, rest = (rest + chunk).split(b"\n")
        for data in whole:
            number += 1
            yield parse_line(data if number > 1 else split_bom(data)[1], number)
        # Of a line that is too long anyway its beginning is enough.
        rest = rest[: LINE_BYTES + 1]
    if rest:
        line = parse_line(rest if number else split_bom(rest)[1], number + 1)
        if isinstance(line, UnreadableLine) and not line.blank:
            line = UnreadableLine(line.line, f"torn off, its writer was stopped half way ({line.reason})")
        yield line


# Writing

FIELDS = EntryLine._fields[:-1]


def encode(
    line: HeaderLine | EntryLine | Tombstone, *, allow: Collection[str] | None = (), short: bool = False
) -> bytes:
    """Return a line as it is written: compact JSON in UTF-8, keys in the specification's order, then `extra`, then LF.

    `allow` are fingerprints of what is not a secret; None for texts that are in memory already. `short` leaves out
    fields that hold what they mean when they are missing. Raises InvalidArgument, RefusedText or SecretFound.
    """
    fields = line._asdict()
    extra = fields.pop("extra") or {}
    if isinstance(line, EntryLine):
        _check_texts(line, allow)
        if short:
            usual = {**EntryLine._field_defaults, "confidence": default_confidence(line.source)}
            fields = {name: value for name, value in fields.items() if name == "created_at" or value != usual.get(name)}
    elif isinstance(line, Tombstone):
        fields = {"id": line.id, "deleted": True, "created_at": line.created_at}
    if not extra.keys().isdisjoint(fields):
        raise InvalidArgument(f"extra may not hold {', '.join(sorted(extra.keys() & fields.keys()))}")
    try:
        text = json.dumps({**fields, **extra}, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
        data = escape_separators(text).encode()
    except (ValueError, TypeError, RecursionError) as error:
        raise InvalidArgument(f"this cannot be written as JSON: {error}") from error
    again = parse_line(data, 1)
    if isinstance(again, UnreadableLine):
        raise InvalidArgument(f"this cannot be a line of {FORMAT}: {again.reason}")
    if type(again) is not type(line) or again != line._replace(extra=extra or None):
        raise InvalidArgument(f"this cannot be a line of {FORMAT}: it would read back as something else")
    return data + b"\n"


_ESCAPED = {code: f"\\u{code:04x}" for code in (*range(0x7F, 0xA0), *range(0x2028, 0x202F), *range(0x2066, 0x206A))}


def escape_separators(text: str) -> str:
    """Return JSON without what JSON leaves as it is, and some tools end a line at or a terminal obeys."""
    return text if text.isascii() and "\x7f" not in text else text.translate(_ESCAPED)


def _check_texts(entry: EntryLine, allow: Collection[str] | None) -> None:
    """Hold the texts of an entry against the rules of writing; reading it back checks the types."""
    scope = entry.scope
    if isinstance(scope, str) and not is_writable_scope(scope):
        raise InvalidArgument(
            f"{scope!a:.60} is not a scope; a scope is global, a domain in lower case or project:NAME"
        )
    named = [("text", entry.text), ("id", entry.id), ("source", entry.source), ("scope", scope)]
    for what, text in (*named, *(("tag", tag) for tag in entry.tags)):
        if isinstance(text, str):
            check_text(text, what, allow)

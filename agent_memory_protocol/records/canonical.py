"""Canonical JSON: one spelling in bytes for each value, so that a hash or a signature over it means something.

Keys are sorted by code point, there is nothing between tokens, text is UTF-8 in normal form C, and there are no
floats, whose spelling differs between languages. Moments have one spelling as well. Values are frozen when they
come in: a caller can rely on the bytes of one.
"""

import json
import re
import unicodedata
from collections.abc import Mapping
from contextlib import suppress
from datetime import UTC, datetime
from types import MappingProxyType
from typing import NoReturn, TypeAlias

from ..errors import InvalidRecord

Json: TypeAlias = "bool | int | str | tuple[Json, ...] | Mapping[str, Json] | None"

DEPTH = 100  # Lists and objects may lie this deep in each other

_NUMBER_BITS = 14_000  # Python reads and writes whole numbers of up to 4,300 digits
_CONTROL_BEFORE_OTHER = re.compile(r"[\x00-\x1f][^\x00-\x7f]")
_MOMENT = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}T(?:[01][0-9]|2[0-3])(?::[0-5][0-9]){2}\.[0-9]{3}Z")

EMPTY: Mapping[str, Json] = MappingProxyType({})


def canonical(value: object) -> bytes:
    """Return the canonical bytes of a value. Raises InvalidRecord for floats and whatever has no canonical form."""
    return encode(freeze(value))


def freeze(value: object, depth: int = 0) -> Json:
    """Return a copy that nobody can change: text in normal form C, lists as tuples, objects as read-only mappings."""
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, str):
        return freeze_text(value)
    if isinstance(value, int):
        if value.bit_length() > _NUMBER_BITS:
            raise InvalidRecord("holds a number of thousands of digits; write it as text")
        return int(value)
    if isinstance(value, float):
        raise InvalidRecord(f"holds the float {value!r}; write it as a whole number or as text")
    if depth > DEPTH:
        raise InvalidRecord(f"lists and objects lie more than {DEPTH} deep in each other")
    if isinstance(value, (list, tuple)):
        return tuple(freeze(item, depth + 1) for item in value)
    if isinstance(value, Mapping):
        return freeze_object(value, depth)
    raise InvalidRecord(f"holds a {type(value).__name__}, which is not JSON")


def freeze_object(value: Mapping[str, object], depth: int = 0) -> Mapping[str, Json]:
    """Freeze an object. Raises as `freeze` does."""
    if not value:
        return EMPTY
    frozen: dict[str, Json] = {}
    for key, item in value.items():
        name = freeze_text(key)
        if name in frozen:
            raise InvalidRecord(f"has two keys that are both {name!a} in normal form C")
        frozen[name] = freeze(item, depth + 1)
    return MappingProxyType(frozen)


def freeze_text(value: object) -> str:
    """Return a text in normal form C. Raises as `freeze` does."""
    if type(value) is str and value.isascii():
        return value
    if not isinstance(value, str):
        raise InvalidRecord(f"holds a {type(value).__name__} where text belongs")
    text = str(value)
    if text.isascii():
        return text
    try:
        text.encode()
    except UnicodeEncodeError:
        raise InvalidRecord("holds half of a surrogate pair, which UTF-8 cannot spell") from None
    text = unicodedata.normalize("NFC", text)
    # The form is defined over the whole JSON, which spells a line feed with a letter: `\n` and a combining tilde
    # would become `\\ñ`, which no reader takes.
    if _CONTROL_BEFORE_OTHER.search(text) and not unicodedata.is_normalized("NFC", _ENCODER.encode(text)):
        raise InvalidRecord("has a combining character right after a control character; put something between them")
    return text


def thaw(value: Json) -> object:
    """Return a value as plain dictionaries and lists, which `json` writes."""
    if isinstance(value, Mapping):
        return {key: thaw(item) for key, item in value.items()}
    return [thaw(item) for item in value] if isinstance(value, tuple) else value


def encode(frozen: Json) -> bytes:
    """Return the canonical bytes of what `freeze` has returned."""
    return _ENCODER.encode(frozen).encode()


def decode(data: bytes) -> object:
    """Read JSON in UTF-8 that may be canonical, without floats; the caller compares the bytes."""
    try:
        return _DECODER.decode(data.decode())
    except UnicodeDecodeError as error:
        raise InvalidRecord(f"byte 0x{data[error.start]:02X} at {error.start} is not UTF-8") from None
    except InvalidRecord:
        raise
    except (ValueError, RecursionError) as error:
        raise InvalidRecord(f"is not JSON: {str(error)[:100]}") from None


def format_moment(moment: datetime) -> str:
    """Spell a moment: UTC, to the millisecond, the rest cut off."""
    return f"{moment.astimezone(UTC).isoformat(timespec='milliseconds').removesuffix('+00:00')}Z"


def parse_moment(text: str) -> datetime:
    """Read a moment in its one spelling. Raises InvalidRecord if it is spelled in another way, or is not a moment."""
    if _MOMENT.fullmatch(text):  # Python reads further spellings, of which more with each release
        with suppress(ValueError):
            return datetime.fromisoformat(text)
    raise InvalidRecord(f"{text[:40]!a} is not a moment; spell it like 2026-01-31T09:30:00.000Z")


def cut_moment(moment: datetime) -> datetime:
    """Return a moment as precise as it is written, in UTC. Raises InvalidRecord if it has no time zone, or no year."""
    if moment.tzinfo is None:
        raise InvalidRecord(f"the moment {moment} has no time zone")
    try:
        moment = moment.astimezone(UTC)
    except OverflowError:
        raise InvalidRecord(f"the moment {moment} lies outside the years 1 to 9999 in UTC") from None
    rest = moment.microsecond % 1000
    return moment.replace(microsecond=moment.microsecond - rest) if rest else moment


def _default(value: object) -> object:
    if isinstance(value, MappingProxyType):
        return dict(value)
    raise InvalidRecord(f"holds a {type(value).__name__}, which is not JSON")


def _refuse_number(text: str) -> NoReturn:
    raise InvalidRecord(f"holds the number {text[:40]}; only whole numbers have one spelling")


_ENCODER = json.JSONEncoder(
    ensure_ascii=False, allow_nan=False, sort_keys=True, separators=(",", ":"), default=_default
)
_DECODER = json.JSONDecoder(parse_float=_refuse_number, parse_constant=_refuse_number)

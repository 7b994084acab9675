"""The fields of a record: what each may be, in a record and in a file.

What they must be together, `record` says.
"""

import re
from collections.abc import Callable, Mapping
from datetime import datetime
from enum import StrEnum
from functools import lru_cache, partial
from typing import Any, NamedTuple

from ..errors import InvalidRecord
from ..values import dataclass
from .canonical import Json, cut_moment, format_moment, freeze_object, freeze_text, parse_moment

_CONFIDENCE = re.compile(r"0\.[0-9]{4}|1\.0000")


class RecordType(StrEnum):
    """What a record is. Rules rest on other records, their evidence."""

    FACT = "fact"
    EPISODE = "episode"
    PROCEDURE = "procedure"
    RULE = "rule"


class State(StrEnum):
    """Where a record is in its life; `lifecycle` says what may follow what."""

    ACTIVE = "active"
    TRANSITIONAL = "transitional"
    SUPERSEDED = "superseded"
    ARCHIVED = "archived"


@dataclass(frozen=True, slots=True)
class Provenance:
    """Where a record comes from."""

    kind: str  # the kind of source, in free words: conversation, observation, tool, consolidation, import, …
    ref: str | None = None  # the source itself, when it can be named
    agent: str | None = None  # the address of the agent that wrote it, when it has one

    def __post_init__(self) -> None:
        if not self.kind:
            raise InvalidRecord("provenance.kind is empty")
        object.__setattr__(self, "kind", freeze_text(self.kind))
        object.__setattr__(self, "ref", _freeze_nullable(self.ref))
        object.__setattr__(self, "agent", _freeze_nullable(self.agent))

    def wire(self) -> dict[str, Json]:
        """Return it as it is spelled in a record."""
        return {"kind": self.kind, "ref": self.ref, "agent": self.agent}


@dataclass(frozen=True, slots=True)
class Transition:
    """A contradiction that nobody has decided yet: the ids of its two sides, and why they cannot both hold."""

    sides: tuple[str, str]
    reason: str

    def __post_init__(self) -> None:
        sides = tuple(freeze_text(side) for side in self.sides)
        if len(sides) != 2 or sides[0] == sides[1] or not all(sides):
            raise InvalidRecord("transition.sides must name exactly two different records")
        if not self.reason:
            raise InvalidRecord("transition.reason is empty")
        object.__setattr__(self, "sides", sides)
        object.__setattr__(self, "reason", freeze_text(self.reason))

    def wire(self) -> dict[str, Json]:
        """Return it as it is spelled in a record."""
        return {"sides": self.sides, "reason": self.reason}


def _freeze_nullable(value: object) -> str | None:
    return None if value is None else freeze_text(value)


def _freeze_list(items: object) -> tuple[str, ...]:
    if not isinstance(items, (list, tuple)):
        raise InvalidRecord(f"holds a {type(items).__name__} where a list of texts belongs")
    return tuple(freeze_text(item) for item in items)


def _cut_confidence(value: object) -> float:
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise InvalidRecord(f"confidence is a {type(value).__name__}, not a number")
    if not 0 <= value <= 1:
        raise InvalidRecord(f"confidence is {value!r}, not between 0 and 1")
    return float(f"{abs(value):.4f}")


def _cut_nullable(value: datetime | None) -> datetime | None:
    return None if value is None else cut_moment(value)


def _is_text(value: object) -> bool:
    return isinstance(value, str)


def _is_nullable(value: object) -> bool:
    return value is None or isinstance(value, str)


def _is_texts(value: object) -> bool:
    return isinstance(value, (list, tuple)) and all(isinstance(item, str) for item in value)


def _is_object(value: object, **fields: Callable[[Any], bool]) -> bool:
    return (
        isinstance(value, Mapping)
        and set(value) == set(fields)
        and all(fits(value[name]) for name, fits in fields.items())
    )


def same(value: Any) -> Any:
    """Return a value as it is: what a spelling does that changes nothing."""
    return value


ANY: tuple[type, ...] = (object,)


class Spelling(NamedTuple):
    """What a field may be, in a record and in a file."""

    expected: str  # what it must be in a file, for a message
    fits: Callable[[Any], bool]  # says of a value of parsed JSON whether it is that
    freeze: Callable[[Any], Any] = same  # returns the value for a record; raises where it cannot be one
    types: tuple[type, ...] = ANY  # the only types of a value in a record, where `freeze` does not look
    read: Callable[[Any], Any] = same
    write: Callable[[Any], Json] = same


# The same few moments are written again and again.
_format = lru_cache(maxsize=4096)(format_moment)

_TYPES, _STATES = tuple(RecordType), tuple(State)
_TEXT = Spelling("text", _is_text, freeze_text)
_NULLABLE = Spelling("text or null", _is_nullable, _freeze_nullable)
_TEXTS = Spelling("a list of texts", _is_texts, _freeze_list)
_MOMENT = Spelling("text", _is_text, cut_moment, (datetime,), parse_moment, _format)

FIELDS = {
    "id": Spelling("text", _is_text, types=(str,)),
    "type": Spelling("one of " + ", ".join(RecordType), _TYPES.__contains__, RecordType),
    "body": _TEXT,
    "slots": Spelling("an object", lambda value: isinstance(value, Mapping), freeze_object, (Mapping,)),
    "state": Spelling("one of " + ", ".join(State), _STATES.__contains__, State),
    "confidence": Spelling(
        "text with four digits, from 0.0000 to 1.0000",
        lambda value: isinstance(value, str) and _CONFIDENCE.fullmatch(value) is not None,
        _cut_confidence,
        read=float,
        write="{:.4f}".format,
    ),
    "created_at": _MOMENT,
    "updated_at": _MOMENT,
    "provenance": Spelling(
        "an object of kind, ref and agent",
        partial(_is_object, kind=_is_text, ref=_is_nullable, agent=_is_nullable),
        types=(Provenance,),
        read=lambda value: Provenance(**value),
        write=Provenance.wire,
    ),
    "evidence": _TEXTS,
    "supersedes": _NULLABLE,
    "superseded_by": _NULLABLE,
    "transition": Spelling(
        "null, or an object of sides and reason",
        lambda value: value is None or _is_object(value, sides=_is_texts, reason=_is_text),
        types=(Transition, type(None)),
        read=lambda value: value and Transition(tuple(value["sides"]), value["reason"]),
        write=lambda value: value and value.wire(),
    ),
    "state_reason": _NULLABLE,
    "tags": _TEXTS,
    "flagged": Spelling("true or false", lambda value: isinstance(value, bool), types=(bool,)),
    "flag_reason": _NULLABLE,
    "signed_by": _NULLABLE,
    "signature": _TEXT,
    "occurred_at": _MOMENT._replace(freeze=_cut_nullable, types=(datetime, type(None))),
    "redacted": Spelling("true, or left out", lambda value: value is True, types=(bool,)),
    "redaction_reason": Spelling("text", _is_text, _freeze_nullable),
    "birth_digest": Spelling("text", _is_text, _freeze_nullable),
}
"""Every field that the format names, in its order."""

IF_SET = ("occurred_at", "redacted", "redaction_reason", "birth_digest")
"""Written only when set, so that records from before a field existed keep their bytes and signatures."""

BIRTH = ("type", "body", "slots", "provenance", "created_at")  # What is so at birth, and names the record

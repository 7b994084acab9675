"""How each field of a record is spelled in a file: a table of checks on parsed JSON, field by field.

What the fields must be together is the business of `record`.
"""

import re
from collections.abc import Mapping
from enum import StrEnum

_CONFIDENCE = re.compile(r"0\.[0-9]{4}|1\.0000")


class RecordType(StrEnum):
    """What a record is. Rules rest on other records, their evidence."""

    FACT = "fact"
    EPISODE = "episode"
    PROCEDURE = "procedure"
    RULE = "rule"


class State(StrEnum):
    """Where a record stands in its life; `lifecycle` says what may follow what."""

    ACTIVE = "active"
    TRANSITIONAL = "transitional"
    SUPERSEDED = "superseded"
    ARCHIVED = "archived"


def _is_text(value: object) -> bool:
    return isinstance(value, str)


def _is_text_or_null(value: object) -> bool:
    return value is None or isinstance(value, str)


def _is_texts(value: object) -> bool:
    return isinstance(value, (list, tuple)) and all(isinstance(item, str) for item in value)


def _is_object(value: object) -> bool:
    return isinstance(value, Mapping)


def _is_provenance(value: object) -> bool:
    return (
        isinstance(value, Mapping)
        and set(value) == {"kind", "ref", "agent"}
        and isinstance(value["kind"], str)
        and _is_text_or_null(value["ref"])
        and _is_text_or_null(value["agent"])
    )


def _is_transition(value: object) -> bool:
    if value is None:
        return True
    return (
        isinstance(value, Mapping)
        and set(value) == {"sides", "reason"}
        and _is_texts(value["sides"])
        and isinstance(value["reason"], str)
    )


_TEXT = ("text", _is_text)
_NULLABLE = ("text or null", _is_text_or_null)
_TEXTS = ("a list of texts", _is_texts)

SPELLINGS = {
    "id": _TEXT,
    "type": ("one of " + ", ".join(RecordType), lambda value: value in tuple(RecordType)),
    "body": _TEXT,
    "slots": ("an object", _is_object),
    "state": ("one of " + ", ".join(State), lambda value: value in tuple(State)),
    "confidence": (
        "text with four digits, from 0.0000 to 1.0000",
        lambda value: isinstance(value, str) and _CONFIDENCE.fullmatch(value) is not None,
    ),
    "created_at": _TEXT,
    "updated_at": _TEXT,
    "occurred_at": _TEXT,
    "provenance": ("an object of kind, ref and agent", _is_provenance),
    "evidence": _TEXTS,
    "supersedes": _NULLABLE,
    "superseded_by": _NULLABLE,
    "transition": ("null, or an object of sides and reason", _is_transition),
    "state_reason": _NULLABLE,
    "tags": _TEXTS,
    "flagged": ("true or false", lambda value: isinstance(value, bool)),
    "flag_reason": _NULLABLE,
    "signed_by": _NULLABLE,
    "signature": _TEXT,
    "redacted": ("true, or left out", lambda value: value is True),
    "redaction_reason": _TEXT,
    "birth_digest": _TEXT,
}
"""What each field of the format looks like in a file."""

IF_SET = {"occurred_at", "redacted", "redaction_reason", "birth_digest"}
MOMENTS = ("created_at", "updated_at", "occurred_at")
LINKS_AND_REASONS = ("supersedes", "superseded_by", "state_reason", "flag_reason", "signed_by")

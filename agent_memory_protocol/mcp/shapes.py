"""The JSON Schemas of what tools answer. A key is of one kind in every answer, so its kind is said once, here."""

from collections.abc import Collection

from ..answers import Json

TEXT_OR_NULL: Json = {"type": ["string", "null"]}
TEXTS: Json = {"type": "array", "items": {"type": "string"}}
COUNTS: Json = {"type": "object", "additionalProperties": {"type": "integer"}}
DOCUMENT = ("target", "tier", "agent", "conversation", "path")
"""How `Target.to_json` names a document: with `agent`, with `conversation` or with neither."""

_PLAIN = {
    "string": "agent body by conversation id kind label path reason record_id retired section stage state successor"
    " text tier",
    "integer": "bytes disputes last_line left_out line lines lines_in_file records",
    "number": "fit score",
    "boolean": "cut more new",
}
_KINDS: dict[str, Json] = {
    **{key: {"type": kind} for kind, keys in _PLAIN.items() for key in keys.split()},
    **dict.fromkeys(
        ("after", "before", "disputed", "ids", "notes", "problems", "reasons", "warnings", "went_along"),
        TEXTS,
    ),
    **dict.fromkeys(("date_source", "problem", "replaced"), TEXT_OR_NULL),
    "date": {**TEXT_OR_NULL, "description": "YYYY-MM-DD; null for what is lasting"},
    "target": {"type": "string", "description": "shared, agent:NAME or conversation:ID"},
}


KNOWN: dict[str, Json] = {
    **dict.fromkeys(("kind", "source", "until", "as_of", "writer", "scope", "expires_at"), TEXT_OR_NULL),
    "confidence": {"type": ["number", "null"]},
    **dict.fromkeys(("headings", "tags", "replaced", "disputed_with"), TEXTS),
    **{key: {"type": "boolean"} for key in ("keep", "disputed")},
}
"""What is known of an entry besides its text: from its ledger, and its marks."""


def shape(*keys: str, may_lack: Collection[str] = (), **others: Json) -> Json:
    """Return the schema of an object with these keys, known everywhere, and `others` with theirs, and no more."""
    properties = {**{key: _KINDS[key] for key in keys}, **others}
    required = [key for key in properties if key not in ("agent", "conversation", *may_lack)]
    return {"type": "object", "properties": properties, "required": required, "additionalProperties": False}


def list_of(of: Json) -> Json:
    """Return the schema of a list."""
    return {"type": "array", "items": of}

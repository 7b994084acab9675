"""The JSON schema of `amp.toml`, made from the table that the program reads it by."""

from typing import Any

from .settings import KEYS, Key

_NAME: dict[str, object] = {"type": "string", "pattern": r"\S"}
_KINDS: dict[str, dict[str, object]] = {
    "switch": {"type": "boolean"},
    "count": {"type": "integer", "minimum": 1},
    "size": {"type": "integer", "minimum": 0},
    "days": {
        "anyOf": [
            {"type": "integer", "minimum": 1, "maximum": 999_999},
            {"type": "string", "pattern": r"^\s*0*[1-9][0-9]*[dwyDWY]?\s*$"},
        ]
    },
    "conversation": _NAME,
    "agents": {"type": "array", "items": _NAME},
    "texts": {"type": "array", "items": _NAME},
    "files": {"type": "array", "items": {"type": "string", "pattern": r"^(?!/)[^\\]*\S[^\\]*(?<!/)$"}},
    "folders": {"type": "array", "items": {"type": "string", "pattern": r"^(/|~$|~/|[A-Za-z]:[/\\])"}},
}


def settings_schema() -> dict[str, Any]:
    """Return what describes a project's `amp.toml`, and a person's `config.toml`, to editors and forms."""
    properties: dict[str, object] = {}
    tables: dict[str, dict[str, object]] = {}
    for key in KEYS:
        table, _, name = key.name.rpartition(".")
        (tables.setdefault(table, {}) if table else properties)[name] = _described(key)
    for table, below in tables.items():
        properties[table] = {"title": _title(table), **_object(below)}
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": "urn:agent-memory-protocol:settings",
        "title": "Settings of agent memory",
        "description": "`.scaffolding/amp.toml` of a project, or a person's own `config.toml`.",
        **_object(properties),
    }


def _object(properties: dict[str, object]) -> dict[str, object]:
    return {"type": "object", "additionalProperties": False, "properties": properties}


def _described(key: Key) -> dict[str, object]:
    default = list(key.default) if isinstance(key.default, tuple) else key.default
    about = f"{key.about}; only in a person's own file" if key.merge == "personal" else key.about
    return {
        "title": _title(key.name.rpartition(".")[2]),
        "description": about,
        **(_KINDS.get(key.kind) or {"enum": key.kind.split("|")}),
        **({} if default is None else {"default": default}),
    }


def _title(name: str) -> str:
    return name.replace("_", " ").capitalize()

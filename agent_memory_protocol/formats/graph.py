"""Knowledge graphs of the MCP memory server, and their relatives, as entries: read, never written.

An observation is a thing remembered, so each becomes an entry of its own that says whose it is; a relation becomes
one, too. Lines come in several shapes; of one that is not one of them, its keys are told.
"""

import json
from collections.abc import Iterator, Mapping
from types import MappingProxyType

from ..text.moments import instant
from . import record_files
from .entry import BadEntry, MemoryEntry, Problem, check, named, to_milliseconds

LINE_BYTES = 2 << 20
_TIMES = ("timestamp", "updatedAt", "createdAt", "created_at", "updated_at")
_TEXTS = ("text", "content", "observation")


def is_graph(value: Mapping[str, object]) -> bool:
    """Say whether a JSON object is a line, or a whole graph, of this kind."""
    return _shape(value) != ""


def read(path: str) -> Iterator[MemoryEntry | Problem]:
    """Read a graph: a line of JSON for each entity and relation, or one object with lists of both."""
    with record_files.reading(path) as file:
        for number, line in enumerate(iter(lambda: file.readline(LINE_BYTES), b""), start=1):
            place = f"line {number:,}"
            if line.isspace():
                continue
            try:
                value = json.loads(line)
            except (ValueError, RecursionError):
                yield Problem(place, "is not JSON")
                continue
            yield from _of_line(value, place)


def _of_line(value: object, place: str) -> Iterator[MemoryEntry | Problem]:
    if not isinstance(value, Mapping):
        yield Problem(place, f"is neither entity nor relation; it has {type(value).__name__}")
        return
    shape = _shape(value)
    if shape == "graph":
        for part in [*value["entities"], *value["relations"]]:
            yield from _of_line(part, place)
    elif not shape:
        keys = ", ".join(sorted(map(str, value))[:8])
        yield Problem(place, f"is neither entity nor relation; it has {keys[:120] or 'nothing'}")
    else:
        try:
            found = list(_relation(value) if shape == "relation" else _entity(value))
        except (BadEntry, TypeError, ValueError) as error:
            yield Problem(place, str(error))
            return
        yield from found
        if not found:
            yield Problem(place, "is an entity that nothing is known about")


def _shape(value: Mapping[str, object]) -> str:
    """Say what an object is: a whole graph, a relation or an entity; "" for anything else."""
    if isinstance(value.get("entities"), list) and isinstance(value.get("relations"), list):
        return "graph"
    if isinstance(value.get("from"), str) and isinstance(value.get("to"), str):
        return "relation"
    if _name(value) and (isinstance(value.get("observations"), list) or isinstance(value.get("observation"), str)):
        return "entity"
    return ""


def _name(value: Mapping[str, object]) -> str:
    return next((str(value[key]) for key in ("name", "entityName") if isinstance(value.get(key), str)), "")


def _entity(value: Mapping[str, object]) -> Iterator[MemoryEntry]:
    name, kind = _name(value), value.get("entityType")
    observations = value.get("observations")
    for one in observations if isinstance(observations, list) else [value]:
        about = one if isinstance(one, Mapping) else value
        text = one if isinstance(one, str) else next((about[key] for key in _TEXTS if key in about), None)
        if not isinstance(text, str):
            raise BadEntry("an observation is not text")
        yield _entry(f"{name}: {text}", (kind,) if isinstance(kind, str) and kind else (), about, entity=name)


def _relation(value: Mapping[str, object]) -> Iterator[MemoryEntry]:
    kind = value.get("relationType") or value.get("type") or "relates to"
    yield _entry(f"{value['from']} {kind} {value['to']}", ("relation",), value)


def _entry(text: str, tags: tuple[str, ...], about: Mapping[str, object], **extra: str) -> MemoryEntry:
    moments = [instant(str(about[key])) or instant(f"{about[key]}T00:00:00Z") for key in _TIMES if about.get(key)]
    moment = next((moment for moment in moments if moment), None)
    source = about.get("source")
    key, _ = named(f"graph: {text}")
    return check(
        MemoryEntry(
            id=key,
            timestamp_ms=to_milliseconds(moment) if moment else 0,
            text=text,
            tags=tags,
            source=source if isinstance(source, str) else "",
            extra=MappingProxyType(extra),
        )
    )

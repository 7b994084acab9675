"""The journal: what was promised lately, so that no promise is lost to a crash or to an editor without our lock.

Agents and editors rewrite memory files as they like. The journal of a document, local and short-lived, holds each
write with the document's fingerprint before and after it; `healing` compares it with the document.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from typing import Any

from .tiers.taken import Taken, as_json, from_json

KEEP_SECONDS = 86_400
"""A journal whose last line is older is begun anew."""

LARGEST = 256 * 1024
"""From this size on, a journal is begun anew with the adds of the last minutes."""


@dataclass(frozen=True, slots=True)
class Add:
    """An entry that was written and acknowledged, or was about to be.

    Attributes:
        taken: its id, Markdown and place.
        at: when, in seconds since the epoch.
        again: whether it was put back before; it is not put back twice.
    """

    taken: Taken
    at: float
    again: bool = False


@dataclass(frozen=True, slots=True)
class State:
    """A document as it was found, from which the following writes went on."""

    fingerprint: str
    text: str
    at: float
    recent: tuple[Add, ...] = ()


@dataclass(frozen=True, slots=True)
class Write:
    """One write of a document.

    Attributes:
        run: its id.
        before, after: the document's fingerprint before and after it.
        at: when, in seconds since the epoch.
        adds: what it added.
        gone: the ids that it took out.
        archived: the ids of overwritten entries that had no room and went to the ledger before: nothing owes them.
    """

    run: str
    before: str
    after: str
    at: float
    adds: tuple[Add, ...] = ()
    gone: tuple[str, ...] = ()
    archived: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Done:
    """The write of that run has reached the document."""

    run: str


Record = State | Write | Done


def fingerprint(data: bytes) -> str:
    """Return what tells one version of a document from another."""
    return blake2b(data, digest_size=16).hexdigest()


def rest_of(records: Sequence[Record], since: float) -> tuple[Add, ...]:
    """Return the adds made since a moment, for a journal that is begun anew."""
    stopped = broken_off(records)
    writes = [record for record in records if isinstance(record, Write)]
    adds = [add for record in records if isinstance(record, State) for add in record.recent]
    adds += [add for write in writes if write.run not in stopped for add in write.adds]
    gone = {entry_id for write in writes for entry_id in (*write.gone, *write.archived)}
    return tuple(add for add in adds if add.at >= since and add.taken.id not in gone)


def last_known(records: Sequence[Record]) -> float:
    """Return when the document was last seen or written, in seconds since the epoch; 0 where it never was."""
    return max((record.at for record in records if not isinstance(record, Done)), default=0.0)


def broken_off(records: Sequence[Record]) -> set[str]:
    """Return the runs that were to take something out and perhaps never reached the document: nobody was told of them.

    One that only added may be finished at any time, so it is none of these.
    """
    reached = {record.run for record in records if isinstance(record, Done)}
    built_on: set[str] = set()
    stopped: set[str] = set()
    for record in reversed(records):
        if isinstance(record, State):
            built_on.add(record.fingerprint)
        elif isinstance(record, Write):
            if record.gone and record.run not in reached and record.after not in built_on:
                stopped.add(record.run)
            built_on.add(record.before)
    return stopped


# How the lines are written.


def encode(record: Record) -> bytes:
    """Return a record as one line of JSON."""
    return json.dumps(_as_json(record), ensure_ascii=False, separators=(",", ":")).encode() + b"\n"


def decode(data: bytes) -> list[Record]:
    """Read a journal. A line that was torn off, or is none of ours, is passed over."""
    records = []
    for line in data.split(b"\n"):
        if line:
            record = _read(line)
            if record is not None:
                records.append(record)
    return records


def last_write_is(data: bytes, now: str) -> bool:
    """Say, from the end of a journal alone, whether its last write left the document with this fingerprint."""
    for line in reversed(data[-65_536:].split(b"\n")[-3:]):
        if line.startswith(b'{"run":'):
            record = _read(line)
            return isinstance(record, Write) and record.after == now
    return False


def _as_json(record: Record) -> dict[str, object]:
    if isinstance(record, Done):
        return {"done": record.run}
    if isinstance(record, State):
        recent = {"recent": [_add_json(add) for add in record.recent]} if record.recent else {}
        return {"state": record.fingerprint, "at": record.at, "text": record.text, **recent}
    fields: dict[str, object] = {"run": record.run, "before": record.before, "after": record.after, "at": record.at}
    if record.adds:
        fields["adds"] = [_add_json(add) for add in record.adds]
    if record.gone:
        fields["gone"] = list(record.gone)
    if record.archived:
        fields["archived"] = list(record.archived)
    return fields


def _add_json(add: Add) -> dict[str, object]:
    again = {"again": True} if add.again else {}
    return {"id": add.taken.id, "at": add.at, **again, **as_json(add.taken)}


def _read(line: bytes) -> Record | None:
    try:
        value: Any = json.loads(line)
        if "done" in value:
            return Done(str(value["done"]))
        if "state" in value:
            recent = tuple(_read_add(add) for add in value.get("recent", ()))
            return State(str(value["state"]), str(value["text"]), float(value["at"]), recent)
        adds = tuple(_read_add(add) for add in value.get("adds", ()))
        gone, archived = (tuple(map(str, value.get(name, ()))) for name in ("gone", "archived"))
        run, before, after = (str(value[name]) for name in ("run", "before", "after"))
        return Write(run, before, after, float(value["at"]), adds, gone, archived)
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
        return None


def _read_add(value: Mapping[str, Any]) -> Add:
    taken = from_json(str(value["id"]), value)
    return Add(taken, float(value["at"]), bool(value.get("again", False)))

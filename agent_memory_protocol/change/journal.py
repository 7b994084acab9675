"""The journal: what was promised lately, so that no promise is lost to a crash or to an editor without our lock.

Agents and editors rewrite memory files as they like. The journal of a document, local and short-lived, holds each
write with the document's fingerprint before and after it; `healing` compares it with the document.
"""

import json
from collections.abc import Mapping, Sequence
from typing import Any

from ..text.digest import blake2b
from ..tiers.taken import Taken, as_json, from_json
from ..values import dataclass

KEEP_SECONDS = 86_400  # A journal whose last line is older is begun again

LARGEST = 256 * 1024
"""When so many bytes of writes have come to it, a journal is begun again with the adds of the last minutes."""

_MOST_OWED = 1 << 20
_LATEST = 1e11  # No moment is later, in seconds since the epoch: the year is 5138


@dataclass(frozen=True, slots=True)
class Add:
    """An entry that was written, or was about to be, at a moment in seconds; `again` if it was put back before."""

    taken: Taken
    at: float
    again: bool = False


@dataclass(frozen=True, slots=True)
class Version:
    """A document as it was found, from which the following writes went on. `of` names it: it may be missing later."""

    fingerprint: str
    text: str
    at: float
    recent: tuple[Add, ...] = ()
    of: str = ""


@dataclass(frozen=True, slots=True)
class Write:
    """One write of a document."""

    run: str
    before: str
    after: str
    at: float
    adds: tuple[Add, ...] = ()
    gone: tuple[str, ...] = ()
    # the ids of overwritten entries that had no room and went to the ledger before: nothing owes them
    archived: tuple[str, ...] = ()
    ledger: str = ""  # what told one state of the ledger from another before the document was replaced
    # the ids of entries whose ledger lines a branch of git has: nothing owes those lines any more
    settled: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Done:
    """The write of that run has reached the document."""

    run: str


@dataclass(frozen=True, slots=True)
class Owed:
    """Lines that were added to the ledger. Git may take them back with it, and then they are added again."""

    lines: str


Line = Version | Write | Done | Owed


def fingerprint(data: bytes) -> str:
    """Return what tells one version of a document from another."""
    return blake2b(data, digest_size=16).hexdigest()


def rest_of(lines: Sequence[Line], since: float) -> tuple[Add, ...]:
    """Return the adds made since a moment, for a journal that is begun again."""
    stopped = broken_off(lines)
    found: dict[str, Add] = {}
    for line in lines:
        if isinstance(line, Write):
            for entry_id in (*line.gone, *line.archived):
                found.pop(entry_id, None)
        adds = line.recent if isinstance(line, Version) else line.adds if isinstance(line, Write) else ()
        if not isinstance(line, Write) or line.run not in stopped:
            found |= {add.taken.id: add for add in adds if add.at >= since}
    return tuple(found.values())


def last_known(lines: Sequence[Line]) -> float:
    """Return when the document was last seen or written, in seconds since the epoch; 0 where it never was."""
    return max((line.at for line in lines if isinstance(line, Version | Write)), default=0.0)


def owed(lines: Sequence[Line]) -> list[str]:
    """Return the lines that the ledger must have, oldest first: of each entry its last text, then its last removal."""
    found: dict[tuple[str, bool], str] = {}
    for line in lines:
        for text in line.lines.splitlines(keepends=True) if isinstance(line, Owed) else ():
            key = _named(text)
            found.pop(key, None)
            found[key] = text
        for entry_id in line.settled if isinstance(line, Write) else ():
            found.pop((entry_id, False), None)
            found.pop((entry_id, True), None)
    return [text for key, text in found.items() if key[0]]


def _named(text: str) -> tuple[str, bool]:
    try:
        value: Any = json.loads(text)
        return str(value.get("id", "")), "deleted" in value
    except (ValueError, AttributeError, RecursionError):
        return "", False


def newest(lines: Sequence[str]) -> list[str]:
    """Return the last of these lines, as many as a journal that is begun again takes along."""
    kept, size = len(lines), 0
    while kept and size + len(lines[kept - 1]) <= _MOST_OWED:
        kept -= 1
        size += len(lines[kept])
    return [*lines[kept:]]


def broken_off(lines: Sequence[Line]) -> set[str]:
    """Return the runs that were to take something out and perhaps never reached the document."""
    reached = {line.run for line in lines if isinstance(line, Done)}
    built_on: set[str] = set()
    stopped: set[str] = set()
    for line in reversed(lines):
        if isinstance(line, Version):
            built_on.add(line.fingerprint)
        elif isinstance(line, Write):
            if line.gone and line.run not in reached and line.after not in built_on:
                stopped.add(line.run)
            built_on.add(line.before)
    return stopped


# How the lines are written.


def encode(line: Line) -> bytes:
    """Return a line as JSON, with its end."""
    return json.dumps(_as_json(line), ensure_ascii=False, separators=(",", ":")).encode() + b"\n"


def decode(data: bytes) -> list[Line]:
    """Read a journal. A line that was torn off, or is not one of ours, is passed over."""
    return [line for text in data.split(b"\n") if text and (line := _read(text)) is not None]


def last_write_is(data: bytes, now: str, ledger: str | None = None) -> bool:
    """Say, from its last write alone, whether a journal knows the document, and the ledger, as they are."""
    start = data.rfind(b'\n{"run":') + 1
    line = _read(data[start : (data.find(b"\n", start) + 1 or len(data) + 1) - 1])
    return isinstance(line, Write) and line.after == now and ledger in (None, line.ledger)


def size_of_writes(data: bytes) -> int:
    """Return how many bytes have come to a journal since it was begun."""
    start = data.find(b'\n{"run":')
    return len(data) - start if start >= 0 else 0


def _as_json(line: Line) -> dict[str, object]:
    if isinstance(line, Done):
        return {"done": line.run}
    if isinstance(line, Version):
        recent = {"recent": [_add_json(add) for add in line.recent]} if line.recent else {}
        of = {"of": line.of} if line.of else {}
        return {"state": line.fingerprint, "at": line.at, **of, "text": line.text, **recent}
    if isinstance(line, Owed):
        return {"owed": line.lines}
    fields: dict[str, object] = {"run": line.run, "before": line.before, "after": line.after, "at": line.at}
    if line.adds:
        fields["adds"] = [_add_json(add) for add in line.adds]
    more = {"gone": [*line.gone], "archived": [*line.archived], "ledger": line.ledger, "settled": [*line.settled]}
    return {**fields, **{name: value for name, value in more.items() if value}}


def _add_json(add: Add) -> dict[str, object]:
    again = {"again": True} if add.again else {}
    return {"id": add.taken.id, "at": add.at, **again, **as_json(add.taken)}


def _read(text: bytes) -> Line | None:
    try:
        value: Any = json.loads(text)
        if "done" in value:
            return Done(str(value["done"]))
        if "state" in value:
            recent = tuple(_read_add(add) for add in value.get("recent", ()))
            return Version(
                str(value["state"]), str(value["text"]), _moment(value["at"]), recent, str(value.get("of", ""))
            )
        if "owed" in value:
            return Owed(str(value["owed"]))
        adds = tuple(_read_add(add) for add in value.get("adds", ()))
        gone, archived, settled = (tuple(map(str, value.get(name, ()))) for name in ("gone", "archived", "settled"))
        run, before, after = (str(value[name]) for name in ("run", "before", "after"))
        ledger = str(value.get("ledger", ""))
        return Write(run, before, after, _moment(value["at"]), adds, gone, archived, ledger, settled)
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
        return None


def _read_add(value: Mapping[str, Any]) -> Add:
    taken = from_json(str(value["id"]), value)
    return Add(taken, _moment(value["at"]), bool(value.get("again", False)))


def _moment(value: float) -> float:
    """Return a moment that can be one. A number of any size may be there."""
    if not 0 <= value <= _LATEST:
        raise ValueError("no moment")
    return float(value)

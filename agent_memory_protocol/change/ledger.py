"""The ledger: what has left a document, word for word, so that it can come back (decision 23).

`ledger.jsonl` beside each document is an append-only agent-memory/0.1 file that travels with the repository. The
document is the truth about what is there: an entry that is in it is live, whatever the ledger says.
"""

import json
from collections.abc import Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import field, replace
from datetime import datetime
from typing import Any

from ..answers import About
from ..errors import StorageError
from ..formats.jsonl import FORMAT, EntryLine, HeaderLine, Line, Tombstone, default_confidence, encode, parse_file
from ..formats.jsonl_view import Contents, sort_out
from ..layout import LEDGER, Target, Tier
from ..text.moments import new_stamp, sort_key
from ..text.visible import show_invisible
from ..tiers.document import plain_id
from ..tiers.taken import Taken, as_json, from_json
from ..values import dataclass

_REDACTED = "redacted"

BEGINNING = b'{"format":"agent-memory/0.1",'  # What every ledger begins with that amp has begun

_MARKDOWN, _SPACES, _NO_TEXT = "markdown", "spaces", "."
_BY, _UNSAID, _CREATED = "by", "unsaid", "created"
"""Keys of a line's extra: the agent that wrote the entry ("" for the owner of the document), the fields that hold
what is usual since nobody said it, and the moment that the entry's date was made of."""


@dataclass(frozen=True, slots=True)
class Archived:
    """An entry that has left its document."""

    taken: Taken  # its id, exact Markdown and former place
    removed_at: str
    reason: str
    run: str  # the id of the command that removed it; entries removed together share it
    note: str = ""  # the file name where it was a whole note; "" for an entry of the document
    # how many lines and bytes the document had when it left, if it was over a limit then; else 0
    size: tuple[int, int] = (0, 0)
    # what takes the whole removal back to the byte; it is with one entry of a command
    undo: Mapping[str, object] = field(default_factory=dict)


def parts_of(target: Target) -> tuple[str, ...]:
    """Return the path of a document's ledger below the root."""
    return (*target.parts[:-1], LEDGER)


def read(data: bytes, path: str) -> Contents:
    """Read a ledger; what cannot be read is left out. Raises StorageError if its first line names another format."""
    return sorted_out(parse_file([data]), path)


def sorted_out(lines: Iterable[Line], path: str) -> Contents:
    """Say what the lines of a ledger come to. Raises as `read`."""
    contents = sort_out(lines, by_time=True)
    if contents.header is not None and not contents.known:
        raise StorageError(f"{path}: the format {contents.header.format!r} is unknown here; use a newer amp")
    return contents


def archived(contents: Contents, lines: Iterable[object], standing: Collection[tuple[str, str, int]]) -> list[Archived]:
    """List what was removed and is not in the document now, oldest removal first. `standing` has its sayings."""
    tombstones: dict[str, Tombstone] = {}
    for line in lines:
        # After a merge the latest need not be the last.
        if isinstance(line, Tombstone) and is_later(line, tombstones.get(line.id)):
            tombstones[line.id] = line
    found = []
    for entry_id in contents.deleted:
        tombstone = tombstones[entry_id]
        try:
            entry = contents.entries[entry_id]
            taken = from_json(entry_id, {**(entry.extra or {}), "markdown": markdown_of(entry) or None})
        except ValueError:
            continue  # some other tool's line: nothing that could be put back
        if taken.saying in standing:
            continue
        about = tombstone.extra or {}
        note = str((contents.entries[entry_id].extra or {}).get("note", ""))
        reason, run = str(about.get("reason", "")), str(about.get("run", ""))
        undo = about.get("undo")
        undo = undo if isinstance(undo, Mapping) else {}
        size = _size(about.get("size")) if about.get("over") is True else (0, 0)
        found.append(Archived(taken, tombstone.created_at, reason, run, note, size, undo))
    order = {entry_id: number for number, entry_id in enumerate(contents.entries)}
    return sorted(found, key=lambda one: (one.removed_at, order[one.taken.id]))


def _size(value: object) -> tuple[int, int]:
    is_size = isinstance(value, list | tuple) and len(value) == 2 and all(type(one) is int for one in value)
    return (value[0], value[1]) if is_size else (0, 0)  # type: ignore[index]


def way_back(target: Target, ids: Sequence[str]) -> str:
    """Say how entries come back that the ledger has because there was no room for them."""
    them = "it" if len(ids) == 1 else "them"
    return (
        f"there is no room for {them}, so the ledger has {them}: "
        f"make room, as with `amp prune {target} --apply`, then `amp restore {' '.join(ids)} --apply`"
    )


def is_later(one: Tombstone, other: Tombstone | None) -> bool:
    """Say whether a tombstone counts, rather than one that is before it in the file."""
    return other is None or sort_key(one.created_at) >= sort_key(other.created_at)


def last_command(lines: Iterable[object]) -> tuple[str, str]:
    """Return when the last command took something out, as a sort key, and its id; two empty texts where none did."""
    last = ("", "")
    for line in lines:
        run = (line.extra or {}).get("run") if isinstance(line, Tombstone) else None
        if isinstance(line, Tombstone) and isinstance(run, str) and run and sort_key(line.created_at) >= last[0]:
            last = (sort_key(line.created_at), run)
    return last


def redaction(entry_id: str, *, now: datetime, latest: str) -> bytes:
    """Return the line that says that an entry was taken out of the ledger for good."""
    return encode(Tombstone(entry_id, new_stamp(now, latest), {"reason": _REDACTED}))


def is_explained(stone: Tombstone) -> bool:
    """Say whether a tombstone has a reason that somebody has written."""
    return (stone.extra or {}).get("reason", _REDACTED) != _REDACTED


def unexplained(stone: Tombstone) -> bytes:
    """Return the line of a tombstone without its reason."""
    extra = {key: value for key, value in (stone.extra or {}).items() if key != "reason"}
    return encode(Tombstone(stone.id, stone.created_at, extra))


def redacted(lines: Iterable[object]) -> set[str]:
    """Return the ids of entries that were taken out of the ledger for good."""
    return {line.id for line in lines if isinstance(line, Tombstone) and (line.extra or {}).get("reason") == _REDACTED}


def versions_of(entry_ids: Iterable[str], lines: Iterable[object]) -> set[str]:
    """Return these ids, those of equal entries, and those of what each of them was edited from, by their plain form."""
    return with_earlier({plain_id(one) for one in entry_ids}, edited_from(lines))


def edited_from(lines: Iterable[object]) -> dict[str, set[str]]:
    """Return of which entries each was made by an edit; all ids in their plain form."""
    found: dict[str, set[str]] = {}
    for line in lines:
        extra = (line.extra or {}) if isinstance(line, Tombstone) else {}
        successor = None if extra.get("retired") else extra.get("successor")
        if isinstance(line, Tombstone) and isinstance(successor, str):
            found.setdefault(plain_id(successor), set()).add(plain_id(line.id))
    return found


def with_earlier(left: set[str], edited: Mapping[str, set[str]]) -> set[str]:
    """Return these ids and those of all that they were edited from, as `edited_from` has them."""
    found: set[str] = set()
    while left:
        found |= left
        left = {earlier for one in left for earlier in edited.get(one, ())} - found
    return found


def removal_lines(
    taken: Sequence[tuple[Taken, str]],
    *,
    now: datetime,
    latest: str,
    run: str,
    known: Mapping[str, EntryLine],
    successors: Mapping[str, str] | None = None,
    retired: Collection[str] = (),
    size: tuple[int, int] = (0, 0),
    is_over: bool = False,
    undo: Mapping[str, object] | None = None,
    title: str = "",
) -> bytes:
    """Return the lines that archive entries, each with a reason, before they leave: a fresh line, then its tombstone.

    Args:
        taken: the entries, and for each the reason why it goes.
        now: the present moment, with its zone.
        latest: the latest stamp in the ledger; no line is stamped earlier, whatever the clock says.
        run: the id of this command; "" for what people took out by hand.
        known: what the ledger knows of entries already: source, kind, confidence and tags stay.
        successors: for what was edited or retired, by id, the id of the entry that holds in its place.
        retired: which of them say something else than their successors: these are not versions of them.
        size: how many lines and bytes the document has with them.
        is_over: whether that is over a limit.
        undo: what takes all of it back to the byte.
        title: the Markdown of the title that the document keeps.
    """
    stamp = new_stamp(now, latest)
    lines = []
    for one, reason in taken:
        # What leaves a document is kept word for word; secrets are refused where a text comes in.
        lines.append(encode(_entry(one, stamp, known.get(one.id), title), allow=None, short=True))
        about: dict[str, object] = {"reason": reason, "run": run, "successor": (successors or {}).get(one.id, "")}
        about |= {"retired": one.id in retired, "size": [*size] if is_over and any(size) else None}
        about |= {"over": is_over, "undo": undo if one is taken[0][0] else None}
        lines.append(encode(Tombstone(one.id, stamp, {name: value for name, value in about.items() if value})))
    return b"".join(lines)


def note_lines(file: str, entry_id: str, text: str, reason: str, *, now: datetime, latest: str, run: str) -> bytes:
    """Return the lines that archive a whole note before its file is removed."""
    stamp = new_stamp(now, latest)
    extra = {"note": file, **_spelling(text)}
    entry = EntryLine(
        entry_id, "fact", _one_line(text), confidence=default_confidence(None), created_at=stamp, extra=extra
    )
    return encode(entry, allow=None, short=True) + encode(Tombstone(entry_id, stamp, {"reason": reason, "run": run}))


def about_line(entry_id: str, markdown: str, about: About, *, now: datetime, latest: str, owner: str = "") -> bytes:
    """Return the line that keeps what is known of an entry, a short one for its writer alone.

    `owner` is whose document it is.
    """
    stamp = new_stamp(now, latest)
    by = "" if about.writer == owner else about.writer
    if about.names_only_the_writer:
        # Every write of an agent adds such a line, so it has what the format asks for, and no more.
        fields = {"id": entry_id, "kind": "fact", "text": _NO_TEXT, "created_at": stamp, _BY: by}
        return json.dumps(fields, ensure_ascii=False, separators=(",", ":")).encode() + b"\n"
    confidence = default_confidence(about.source) if about.confidence is None else about.confidence
    more = {
        _UNSAID: [name for name in ("kind", "confidence") if getattr(about, name) is None],
        **({_BY: by} if about.writer else {}),
        **({_CREATED: about.created} if about.created else {}),
        **({"disputed_with": [*about.disputed_with]} if about.disputed_with else {}),
        **({"dispute_reason": about.dispute_reason} if about.dispute_reason else {}),
    }
    return encode(
        EntryLine(
            id=entry_id,
            kind=about.kind or "fact",
            text=_one_line(markdown),
            scope=about.scope or "global",
            tags=about.tags,
            source=about.source,
            confidence=confidence,
            expires_at=about.expires_at,
            supersedes=next(iter(about.replaced), None),
            created_at=stamp,
            extra={**_spelling(markdown), **more},
        ),
        allow=None,  # the writer was refused already, or it is allowed
        short=True,
    )


def read_said(data: bytes, target: Target) -> dict[str, About]:
    """Return what a ledger beside a document knows of each entry. Raises as `read`."""
    return read_said_of(list(parse_file([data])), target)


def read_said_of(lines: Sequence[Line], target: Target) -> dict[str, About]:
    """Return what the lines of a ledger beside a document say of each entry. Raises as `read`."""
    return said(sorted_out(lines, "/".join(parts_of(target))), lines, owner_of(target))


def owner_of(target: Target) -> str:
    """Return the agent whose document it is, "" for other documents."""
    return target.owner if target.tier is Tier.AGENT else ""


def said(contents: Contents, lines: Iterable[object], owner: str = "") -> dict[str, About]:
    """Return what a ledger, beside the document of `owner`, knows of each entry by its id."""
    found = {one: said_of(entry, owner) for one, entry in contents.entries.items()}
    for line in lines:
        successor = (line.extra or {}).get("successor") if isinstance(line, Tombstone) else None
        if isinstance(line, Tombstone) and isinstance(successor, str) and line.id in contents.deleted:
            about = found.get(successor, About())
            found[successor] = replace(about, replaced=tuple(dict.fromkeys([*about.replaced, line.id])))
    return found


def said_of(entry: EntryLine, owner: str = "") -> About:
    """Return what the line of an entry says of it; `owner` is the agent whose document it is beside."""
    extra = entry.extra or {}
    others = extra.get("disputed_with")
    unsaid = extra.get(_UNSAID)
    is_plain = entry.kind == "fact" and entry.confidence == default_confidence(entry.source)
    if not isinstance(unsaid, list):
        unsaid = ["kind", "confidence"] if is_plain and not entry.source and not entry.tags else []
    by = extra.get(_BY)
    return About(
        source=entry.source,
        kind=None if "kind" in unsaid else entry.kind,
        confidence=None if "confidence" in unsaid else entry.confidence,
        tags=entry.tags,
        disputed_with=tuple(map(str, others)) if isinstance(others, list) else (),
        dispute_reason=str(extra.get("dispute_reason", "")),
        writer=(by or owner or None) if isinstance(by, str) else None,
        replaced=() if entry.supersedes is None else (entry.supersedes,),
        scope=None if entry.scope == "global" else entry.scope,
        expires_at=entry.expires_at,
        created=str(extra[_CREATED]) if _CREATED in extra else None,
    )


def header_line(now: datetime) -> bytes:
    """Return the first line of a ledger."""
    return encode(HeaderLine(FORMAT, new_stamp(now), {"ledger": True}))


def _entry(taken: Taken, stamp: str, known: EntryLine | None, title: str) -> EntryLine:
    """Return the line of an entry that leaves. What is known of it stays, but for disputes, which end here."""
    extra = as_json(taken, title)
    del extra["markdown"]
    extra |= _spelling(taken.markdown)
    if known is None:
        confidence = default_confidence(None)
        text = _one_line(taken.markdown)
        return EntryLine(taken.id, "fact", text, confidence=confidence, created_at=stamp, extra=extra)
    extra |= {key: value for key, value in (known.extra or {}).items() if key in (_BY, _UNSAID, _CREATED)}
    return known._replace(text=_one_line(taken.markdown), created_at=stamp, extra=extra)


def markdown_of(entry: EntryLine) -> str:
    """Return the exact Markdown of a ledger's entry; "" if the line has none, as when it names only the writer."""
    extra = entry.extra or {}
    markdown, spaces = extra.get(_MARKDOWN), extra.get(_SPACES)
    if isinstance(markdown, str):
        return markdown
    if isinstance(spaces, list):
        with suppress(TypeError, ValueError, IndexError):
            return _spaced(entry.text, spaces)
    is_whole = entry.text != _NO_TEXT and not extra.keys().isdisjoint(("place", "note", _UNSAID))
    return entry.text if is_whole else ""


def respelled(entry: EntryLine) -> EntryLine:
    """Return the line of an entry in today's short form, where it says the same; else as it is."""
    extra = dict(entry.extra or {})
    markdown = markdown_of(entry)
    if not markdown or not isinstance(extra.get(_MARKDOWN), str):
        return entry
    taken = from_json(entry.id, extra)
    if "place" in extra:
        extra.pop("rank", None)
        extra |= as_json(taken)
    del extra[_MARKDOWN]
    made = entry._replace(text=_one_line(markdown), extra={**extra, **_spelling(markdown)})
    same = markdown_of(made) == markdown and from_json(entry.id, {**(made.extra or {}), _MARKDOWN: markdown}) == taken
    return made if same and made.text == entry.text else entry


def _spelling(markdown: str) -> dict[str, object]:
    """Return what makes an entry's exact Markdown from the line that `_one_line` makes of it; mostly nothing.

    `spaces` lists what is between two words but a single space: the number of the gap, and its characters.
    """
    text = _one_line(markdown)
    if text == markdown and text != _NO_TEXT:
        return {}
    words = markdown.split()
    spaces: list[list[object]] = []
    place = 0
    for number, word in enumerate([*words, ""]):
        end = markdown.index(word, place) if word else len(markdown)
        if markdown[place:end] != (" " if 0 < number < len(words) else ""):
            spaces.append([number, markdown[place:end]])
        place = end + len(word)
    return {_SPACES: spaces} if words and _spaced(text, spaces) == markdown else {_MARKDOWN: markdown}


def _spaced(text: str, spaces: Sequence[Any]) -> str:
    words = text.split(" ")
    gaps = ["", *[" "] * (len(words) - 1), ""]
    for number, gap in spaces:
        gaps[number] = gap
    return "".join(gap + word for gap, word in zip(gaps, [*words, ""], strict=True))


def _one_line(markdown: str) -> str:
    """Return an entry as the one sentence that an agent-memory/0.1 line holds; see `markdown_of`."""
    return show_invisible(" ".join(markdown.split())) or "(nothing)"

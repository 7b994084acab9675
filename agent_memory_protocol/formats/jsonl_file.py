"""`MemoryFile`: one agent-memory/0.1 file on disk, which any number of processes append to at once.

A line is added by one write and confirmed by the disk before `append` returns. Writers take turns by the lock of the
file itself. `compact` puts another file in its place. Readers wait for nobody.
"""

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import date, datetime
from secrets import token_hex
from typing import BinaryIO

from ..disk import collector
from ..disk.errors import shown
from ..disk.files import Root, is_there, split_bom
from ..disk.writing import ChangedMeanwhile, append, replace
from ..errors import InvalidArgument, Refused, SecretFound
from ..layout import LEDGER
from ..text.ids import complete
from ..text.moments import expiry_text, new_stamp, sort_key
from .jsonl import (
    FORMAT,
    USER,
    EntryLine,
    HeaderLine,
    Line,
    Tombstone,
    UnreadableLine,
    default_confidence,
    encode,
    parse_file,
    parse_line,
)
from .jsonl_prompt import Outranked, find_outranked, render_prompt
from .jsonl_view import Compacted, Contents, FileView, compacted, current, sort_out
from .record_files import allowances, locked, opened_folder

_START = 1 << 16
_TAIL = 1 << 12
_HEADER_START = encode(HeaderLine(FORMAT))[:-1].partition(b',"created_at"')[0]
_HEADER_LENGTH = 200


class MemoryFile:
    """One agent-memory/0.1 file. Holding one keeps nothing open; every call sees the file as it is then."""

    def __init__(self, path: str) -> None:
        self.path = path

    @classmethod
    def open(cls, path: str | os.PathLike[str]) -> "MemoryFile":
        """Name the file. Nothing is read yet, and nothing is created before the first `append`.

        Raises:
            InvalidArgument: no file can have this path.
        """
        name = os.fspath(path)
        if not isinstance(name, str) or "\0" in name or not os.path.basename(name):
            raise InvalidArgument(f"{name!a} cannot be the path of a memory file")
        return cls(name)

    def view(self, now: datetime | None = None, scope: str | None = None) -> FileView:
        """Return the entries that hold now, oldest first, with what is wrong in the file.

        Args:
            now: the moment that expiry is measured at; without a zone it is local time.
            scope: leave out what is neither `global` nor of exactly this scope.

        Raises:
            StorageError: the file cannot be read. A file that does not exist is an empty one.
        """
        return current(self._contents(), _aware(now), scope)

    def to_prompt(self, scope: str | None = None, *, now: datetime | None = None) -> str:
        """Return the view as a block for the top of an agent's context; "" when there is nothing to say."""
        return render_prompt(self.view(now, scope).entries)

    def outranked(self, scope: str | None = None, *, now: datetime | None = None) -> list[Outranked]:
        """Return the inferred entries that `to_prompt` leaves out because the user said the same or the opposite."""
        return find_outranked(self.view(now, scope).entries)

    def append(
        self,
        text: str,
        *,
        kind: str,
        scope: str = "global",
        tags: Sequence[str] = (),
        source: str | None = None,
        confidence: float | None = None,
        expires_at: str | date | datetime | None = None,
        supersedes: str | None = None,
        now: datetime | None = None,
    ) -> EntryLine:
        """Add an entry, and return it once the disk has confirmed it. The first one creates the file.

        Without `confidence` it is 1 for what the user said, else below. See `jsonl.encode` for what may be written.

        Raises:
            InvalidArgument, RefusedText, SecretFound: a rule forbids this entry. What only looks like a secret is
                allowed by the settings of the project that the file is in.
            Refused: the file does not begin with a header of this format.
            StorageError: it was not written, or the disk did not confirm it.
        """
        if isinstance(tags, str):
            raise InvalidArgument("tags is a list of texts, not one text")
        moment = _aware(now)
        draft = EntryLine(
            id=token_hex(6),
            kind=kind,
            text=text,
            scope=scope,
            tags=tuple(tags),
            source=source,
            confidence=default_confidence(source) if confidence is None else confidence,
            expires_at=expiry_text(expires_at),
            supersedes=supersedes,
            created_at=new_stamp(moment),
        )
        allow: tuple[str, ...] = ()
        try:
            encode(draft)  # what may not be written must not create a file either
        except SecretFound:
            allow = allowances(self.path)
            encode(draft, allow=allow)
        with self._locked(moment) as (root, parts, file):
            if supersedes is not None:
                draft = draft._replace(supersedes=self._replaced(supersedes, source))
            entry = draft._replace(created_at=new_stamp(moment, _latest_at_end(file)))
            append(root, parts, encode(entry, allow=allow))
        return entry

    def _replaced(self, start: str, source: str | None) -> str:
        """Return the id of the entry that is superseded, by its beginning.

        Raises:
            InvalidArgument: no entry begins so, or several do, or it is superseded already.
            Refused: the user said it, and this is somebody else's word.
        """
        contents = self._contents()
        there = {key: entry for key, entry in contents.entries.items() if key not in contents.deleted}
        found = complete(start, there, lambda key: there[key].text)
        if found is None:
            raise InvalidArgument(f"{shown(self.path)} has no entry {start!a} to supersede; the view lists the ids")
        after = next((one.id for one in contents.entries.values() if one.supersedes == found != one.id), None)
        if after is not None:
            raise InvalidArgument(f"{found} is superseded by {after} already, so nothing else supersedes it")
        if there[found].source == USER and source != USER:
            raise Refused(f"the user said {found}, so only the user's word (source={USER!r}) supersedes it")
        return found

    def delete(self, id: str, now: datetime | None = None) -> Tombstone:
        """Delete an entry by adding a tombstone, and return that. What it superseded stays gone.

        Raises:
            InvalidArgument: no entry has this id, or it is deleted already.
            Refused: the file does not begin with a header of this format.
            StorageError: it was not written, or the disk did not confirm it.
        """
        moment = _aware(now)
        unknown = InvalidArgument(f"{shown(self.path)} has no entry {id!a}; the view lists the ids")
        if not is_there(self.path):
            raise unknown
        with self._locked(moment) as (root, parts, _):
            contents = self._contents()
            if id not in contents.entries:
                raise unknown
            if id in contents.deleted:
                raise InvalidArgument(f"entry {id!a} of {shown(self.path)} is deleted already")
            tombstone = Tombstone(id, new_stamp(moment, contents.latest))
            append(root, parts, encode(tombstone))
        return tombstone

    def compact(self, now: datetime | None = None) -> Compacted:
        """Rewrite the file with its header and the entries that hold now. The view is the same before and after.

        Unreadable lines stay as they are, where they are; blank ones go. Writers of ours wait meanwhile. A foreign
        one that takes no lock makes it start over, unless it writes in the very moment of the replacement.

        Raises:
            Refused: the file is a ledger, whose past is its purpose, or does not begin with a header of this format.
            StorageError: the file was not replaced; it is as it was.
        """
        moment = _aware(now)
        with opened_folder(self.path) as (_, parts):
            if LEDGER in (os.path.basename(self.path), *parts):
                raise Refused(f"{shown(self.path)} is a ledger and is never compacted")
        if not is_there(self.path):
            return Compacted(0, 0, ())
        with self._locked(moment) as (root, parts, _):
            for _ in range(10):
                try:
                    return _compact(root, parts, moment)
                except ChangedMeanwhile as error:
                    changed = error
            raise changed

    def _contents(self) -> Contents:
        with opened_folder(self.path) as (root, parts):
            content = root.read(parts)
        with collector.left_alone():
            return sort_out(() if content is None else parse_file([content.data]))

    @contextmanager
    def _locked(self, now: datetime) -> Iterator[tuple[Root, tuple[str, ...], BinaryIO]]:
        """Hold the lock of a file that begins with our header; one that does not exist or is empty gets it."""
        header = encode(HeaderLine(FORMAT, new_stamp(now)))
        while True:
            with locked(self.path, begin=header) as (root, parts, file):
                data = file.read(_START)
                if not _is_torn_header(data, parts):
                    yield root, parts, file
                    return
                content = root.read(parts)
                if content is not None and content.data == data:
                    replace(root, parts, header, expected=content)


def _first_line(data: bytes) -> Line:
    return parse_line(next((line for line in split_bom(data)[1].split(b"\n") if line.strip()), b""), 1)


def _is_torn_header(data: bytes, parts: tuple[str, ...]) -> bool:
    """Say whether a file holds only a part of our header. Raises Refused if it begins with anything else."""
    line = _first_line(data)
    if isinstance(line, HeaderLine):
        if line.format == FORMAT:
            return False
        found = f"its format is {ascii(line.format)[:60]}"
    elif (
        len(data) < _HEADER_LENGTH
        and b"\n" not in data
        and (_HEADER_START.startswith(data) or data.startswith(_HEADER_START))
    ):
        return True
    else:
        found = "it has no header"
    raise Refused(f"{shown(*parts)} is not an {FORMAT} file, {found}; nothing was written")


def _latest_at_end(file: BinaryIO) -> str:
    """Return the latest stamp of the last lines: enough to never go back, as nobody else does."""
    size = file.seek(0, os.SEEK_END)
    length = _TAIL
    while True:
        start = file.seek(max(0, size - length))
        pieces = file.read(length).split(b"\n")
        found = [parse_line(piece, 1) for piece in (pieces[1:] if start else pieces)]
        stamps = [line.created_at for line in found if not isinstance(line, UnreadableLine) and line.created_at]
        if stamps or not start:
            return max(stamps, key=sort_key, default="")
        length *= 8


def _compact(root: Root, parts: tuple[str, ...], now: datetime) -> Compacted:
    """Put a file with only what holds in place of this one."""
    content = root.read(parts)
    if content is None:
        raise ChangedMeanwhile(f"{shown(*parts)}: someone has removed it")
    header = _first_line(content.data)
    if isinstance(header, HeaderLine) and header.is_ledger:
        raise Refused(f"{shown(*parts)} is a ledger and is never compacted")
    data, done = compacted(content.data, now)
    if done.dropped:
        replace(root, parts, data, expected=content)
    return done


def _aware(now: datetime | None) -> datetime:
    """Return a moment with its zone: expiry dates are over by the local calendar."""
    if now is None:
        return datetime.now().astimezone()
    return now if now.tzinfo else now.astimezone()

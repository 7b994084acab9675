"""`MemoryFile`: one agent-memory/0.1 file on disk, which any number of processes append to at once.

A line is added by one write and confirmed by the disk before `append` returns. Writers take turns by a kernel lock
on the file itself: it leaves nothing behind, and goes when its holder ends. `compact` puts another file in this
one's place, so whoever gets the lock looks whether what it has locked is still the file. Readers wait for nobody.
"""

import os
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import date, datetime
from secrets import token_hex

from ..disk import garbage
from ..disk.errors import damaged, explain, shown
from ..disk.files import Root, is_there
from ..disk.walk import close
from ..disk.writing import ChangedMeanwhile, append, create
from ..errors import InvalidArgument, Refused, SecretFound, StorageError
from ..layout import LEDGER
from .jsonl import FORMAT, EntryLine, HeaderLine, Tombstone, default_confidence, encode, parse_file
from .jsonl_lock import WAIT, Locked, chunks, open_for_lock
from .jsonl_prompt import Outranked, find_outranked, render_prompt
from .jsonl_view import Compacted, Contents, FileView, current, sort_out
from .moments import expiry_text, new_stamp
from .record_files import allowances


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

        Without `confidence` it is 1 for what the user said, else below. See `check_entry` for what may be written.

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
        allow = self._allow_for(draft)  # what may not be written must not create a file either
        with self._locked(moment) as file:
            entry = draft._replace(created_at=new_stamp(moment, file.latest_at_end()))
            append(file.root, file.parts, encode(entry, allow=allow))
        return entry

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
        with self._locked(moment) as file:
            contents = sort_out(file.lines())
            if id not in contents.entries:
                raise unknown
            if id in contents.deleted:
                raise InvalidArgument(f"entry {id!a} of {shown(self.path)} is deleted already")
            tombstone = Tombstone(id, new_stamp(moment, contents.latest))
            append(file.root, file.parts, encode(tombstone))
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
        if LEDGER in (os.path.basename(self.path), os.path.basename(self._real_path())):
            raise Refused(f"{shown(self.path)} is a ledger and is never compacted")
        if not is_there(self.path):
            return Compacted(0, 0, ())
        with self._locked(moment) as file:
            for _ in range(10):
                try:
                    return file.compact(moment)
                except ChangedMeanwhile as error:
                    changed = error
            raise changed

    def _allow_for(self, draft: EntryLine) -> tuple[str, ...]:
        """Make sure that an entry may be written. Returns the allowances that it needs: mostly none."""
        try:
            encode(draft)
        except SecretFound:
            allow = allowances(self.path)
            encode(draft, allow=allow)
            return allow
        return ()

    def _contents(self) -> Contents:
        with self._door() as (root, parts):
            opened = root.open_file(parts)
            if opened is None:
                return sort_out(())
            try:
                with garbage.left_alone():
                    return sort_out(parse_file(chunks(opened[0])))
            except OSError as error:
                raise damaged(error, parts) from error
            finally:
                close(opened[0])

    def _real_path(self) -> str:
        try:
            return os.path.realpath(self.path)
        except OSError as error:
            raise StorageError(f"{shown(self.path)}: cannot be reached: {explain(error)}") from error

    @contextmanager
    def _door(self) -> Iterator[tuple[Root, tuple[str, ...]]]:
        folder, name = os.path.split(self._real_path())
        if not os.path.isdir(folder):
            raise StorageError(f"{shown(self.path)}: its folder does not exist; create it first")
        with Root.open(folder) as root:
            yield root, (name,)

    @contextmanager
    def _locked(self, now: datetime) -> Iterator["Locked"]:
        """Hold the file's lock, on a file that begins with our header; one that does not exist or is empty gets it."""
        header = encode(HeaderLine(FORMAT, new_stamp(now)))
        deadline = time.monotonic() + WAIT
        with self._door() as (root, parts):
            while True:
                try:
                    fd = open_for_lock(root, parts)
                    if fd is None:
                        create(root, parts, header)
                        continue
                    file = Locked(root, parts, fd)
                    try:
                        if file.lock(deadline) and file.begins_with(header):
                            yield file
                            return
                    finally:
                        file.unlock()
                except OSError as error:
                    raise StorageError(f"{shown(*parts)}: not written: {explain(error)}") from error


def _aware(now: datetime | None) -> datetime:
    """Return a moment with its zone: expiry dates are over by the local calendar."""
    if now is None:
        return datetime.now().astimezone()
    return now if now.tzinfo else now.astimezone()

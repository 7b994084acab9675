"""A search index in one SQLite file, which many processes share.

SQLite picks the passages that may fit, `ranking` puts them in order, so the answer is a scan's. A search answers from
exactly the sources of the last `refresh` and of updates since, even where another process has changed the file in
between. Nothing in the file is of worth by itself: one that is damaged, foreign or of another version is made anew, and
where none can be written the index lives in this process.
"""

import os
import threading
from collections.abc import Callable, Collection, Iterable
from contextlib import suppress
from typing import TYPE_CHECKING, TypeVar

from ..database import Database
from ..errors import DamagedFile, StorageError
from . import tables, words
from .port import Hit, Source
from .ranking import rank
from .slips import mend
from .words import Term

if TYPE_CHECKING:
    from sqlite3 import Connection

CANDIDATES = 200
"""Passages that SQLite picks for `ranking` to order, at least."""

_TRIES = 5
"""How often others may change the file just before a search, until this process keeps an index to itself."""

Result = TypeVar("Result")


class KeywordIndex:
    """A search index in one file; see `SearchIndex`. Threads may share it.

    Args:
        path: the file. Whatever else stands there is replaced. None: the index lives in this process.
    """

    def __init__(self, path: str | os.PathLike[str] | None = None) -> None:
        self._database = Database(path, tables.prepare)
        self._lock = threading.RLock()
        self._wanted: dict[str, Source] = {}
        self._in_line: tuple[Connection, int] | None = None

    def close(self) -> None:
        """Close the file. The next call opens it again."""
        self._database.close()

    def delete(self) -> None:
        """Remove the file, with all that is left in it of passages that are gone. The next call makes it anew."""
        with self._lock:
            self.close()
            if self._database.path is not None:
                for ending in ("", "-wal", "-shm"):
                    with suppress(OSError):
                        os.unlink(self._database.path + ending)

    def refresh(self, sources: Iterable[Source]) -> int:
        """Bring the index in line with exactly these sources; see `SearchIndex`."""
        with self._lock:
            return self._bring_in_line({source.key: source for source in sources})

    def update(self, sources: Iterable[Source], gone: Iterable[str] = ()) -> int:
        """Bring the index in line with these sources and forget those that are gone; see `SearchIndex`."""
        with self._lock:
            wanted = self._wanted | {source.key: source for source in sources}
            for key in gone:
                wanted.pop(key, None)
            return self._bring_in_line(wanted)

    def search(self, query: str, *, limit: int = 10, within: Collection[str] | None = None) -> list[Hit]:
        """Return the passages that fit best; see `SearchIndex`."""
        terms = words.terms(query)
        if not terms or limit < 1:
            return []
        with self._lock:
            for _ in range(_TRIES):
                hits = self._do(lambda connection: self._search(connection, terms, limit, within))
                if hits is not None:
                    return hits
                self._bring_in_line(self._wanted)
            self._keep_to_this_process()
            self._bring_in_line(self._wanted)
            return self._do(lambda connection: self._search(connection, terms, limit, within)) or []

    def _search(
        self, connection: "Connection", terms: tuple[Term, ...], limit: int, within: Collection[str] | None
    ) -> list[Hit] | None:
        """Return the hits, or None where the file is not in line with the sources."""
        if self._in_line != (connection, tables.data_version(connection)) and any(
            self._difference(connection, self._wanted)
        ):
            return None
        lookup = tables.Lookup(connection, within)
        terms = mend(terms, lookup.known, lookup.like)
        tokens = dict.fromkeys(token for term in terms for token in term.tokens)
        return rank(terms, lookup.candidates(tokens, max(CANDIDATES, 2 * limit)), lookup.collected(tokens), limit)

    def _bring_in_line(self, wanted: dict[str, Source]) -> int:
        """Read what has changed, write it down, and return how many sources differed."""
        read: dict[str, tables.Read] = {}
        differed = 0
        while True:
            changed, gone = self._do(lambda connection: self._difference(connection, wanted))
            differed = max(differed, len(changed) + len(gone))
            # Sources are read between transactions: it may take long, and their errors are none of the file's.
            read.update((key, tables.read(wanted[key])) for key in changed if key not in read)
            if not (changed or gone) or self._do(lambda connection: self._write(connection, wanted, read), write=True):
                self._wanted = wanted
                return differed

    def _difference(self, connection: "Connection", wanted: dict[str, Source]) -> tuple[list[str], list[str]]:
        """Return the sources that the file does not hold as they are wanted, and those that are not wanted."""
        stored = tables.fingerprints(connection)
        changed = [key for key, source in wanted.items() if stored.get(key) != source.fingerprint]
        gone = [key for key in stored if key not in wanted]
        if not (changed or gone):
            self._in_line = (connection, tables.data_version(connection))
        return changed, gone

    def _write(self, connection: "Connection", wanted: dict[str, Source], read: dict[str, tables.Read]) -> bool:
        """Write what differs, unless another process has changed that meanwhile to something that is not read yet."""
        changed, gone = self._difference(connection, wanted)
        if any(key not in read for key in changed):
            return False
        tables.forget(connection, [*changed, *gone])
        tables.add(connection, [wanted[key] for key in changed], read)
        self._in_line = (connection, tables.data_version(connection))
        return True

    def _do(self, work: "Callable[[Connection], Result]", *, write: bool = False) -> Result:
        """Do something in one transaction: in a new file if this one is of no use, and in none if that fails too."""
        for mend_file in (self.delete, self._keep_to_this_process):
            try:
                if self._database.path is not None and os.path.islink(self._database.path):
                    self.delete()  # it could lead anywhere
                with self._database.transaction(write=write) as connection:
                    return work(connection)
            except DamagedFile:
                mend_file()
            except StorageError:
                self._keep_to_this_process()
        with self._database.transaction(write=write) as connection:
            return work(connection)

    def _keep_to_this_process(self) -> None:
        self.close()
        self._database = Database(None, tables.prepare)


def available() -> bool:
    """Say whether this SQLite can search full text."""
    database = Database(None, tables.prepare)
    try:
        with database.connection():
            return True
    except StorageError:
        return False
    finally:
        database.close()

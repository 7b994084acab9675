"""The records of one memory: the store that keeps them, what finds them, and how often each was used."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from functools import partial
from typing import Protocol, runtime_checkable

from ..errors import DamagedFile
from ..search.opening import open_index
from ..search.port import Embedder, SearchIndex
from .finder import Finder
from .heads import file_elsewhere
from .home import Home
from .proof import Owner
from .record import Record
from .seen import Seen
from .signing import Signer
from .store import Bulk, DirectoryStore, RecordStore, Tables
from .usage import COUNTS_ELSEWHERE, Counting, Usage, read_counts


@runtime_checkable
class Shared(Protocol):
    """What a store of many machines can do besides, since what is kept on one of them is not enough."""

    @property
    def place(self) -> str:
        """Where it is, as it may be shown."""

    def finder(self, indexes: Sequence[SearchIndex], embedder: Embedder | None) -> Finder:
        """Return what finds its records."""

    def usage(self) -> Counting:
        """Return what counts their uses."""

    def alone(self, wait: float) -> AbstractContextManager[None]:
        """Keep other processes from deciding at the same time; see `Shelf.alone`."""

    def close(self) -> None:
        """Close the connection. The next call opens it again."""


class Shelf:
    """The records of a memory directory, or of a store that was given. Callers let no two threads in at once."""

    def __init__(
        self, home: Home, store: RecordStore | None, indexes: Sequence[SearchIndex] | None, embedder: Embedder | None
    ) -> None:
        self.is_at_home = store is None  # whether the store is the memory directory
        self.store: RecordStore = DirectoryStore(home.root, home.parts) if store is None else store
        self.finder: Finder | None = None  # finds records; None before the first look
        self.usage: Counting = self.store.usage() if isinstance(self.store, Shared) else Usage()  # counts uses
        self._home = home
        self._indexes = tuple(indexes or ())
        self._embedder = embedder

    def close(self) -> None:
        """Close the derived files of the records. The next call opens them again."""
        self.usage.close()
        if self.finder is not None:
            self.finder.close()
        if isinstance(self.store, Shared):
            self.store.close()

    def see(self) -> Finder:
        """Look, and return what finds records: nothing where memory is switched off."""
        return self.look() if self._home.is_on() else self._nothing()

    def look(self, *, hurried: bool = False) -> Finder:
        """Take in what others have written. As long as there is nothing, nothing is created."""
        if self.finder is None:
            if self.is_at_home and not self._home.has_records():
                return self._nothing()
            self.finder = self._open()
        self.finder.look(hurried=hurried)
        return self.finder

    def histories(self, ids: Iterable[str]) -> Iterator[tuple[str, Callable[[], Sequence[Record]]]]:
        """Yield the id of each of these records, and what reads its versions; one that is missing raises then."""
        left = dict.fromkeys(ids)
        if isinstance(self.store, Bulk):
            for name, read in self.store.histories([*left]):
                left.pop(name, None)
                yield name, read
        yield from ((name, partial(self.store.history, name)) for name in left)

    def every_history(self) -> Iterator[tuple[str, Callable[[], Sequence[Record]]]]:
        """Yield as `histories` every record, and what the store has left of records that nothing finds."""
        yield from self.histories(self.look().every_id)
        for name in self.store.strays() if isinstance(self.store, Tables) else ():
            yield name, partial(_lost, name)

    def owner(self, signer: Signer | None) -> Owner:
        """Return whose records these are, for who opens them with an identity; else everybody's."""
        address = None if signer is None else signer.address
        return Owner(address, self.store.history, has_writers=isinstance(self.store, Shared))

    def wrote(self, record: Record) -> None:
        """Take in a version that was just written."""
        if self.finder is None:
            self.look()
        else:
            self.finder.wrote(record)

    @contextmanager
    def alone(self, wait: float = 10.0) -> Iterator[None]:
        """Keep other processes from deciding at the same time, where the records are a memory directory."""
        if isinstance(self.store, Shared):
            with self.store.alone(wait):
                yield
        elif self.is_at_home and self._home.has_records():
            with self._home.alone(wait):
                yield
        else:
            yield

    def _nothing(self) -> Finder:
        return Finder(Seen(self.store), ())  # it has not looked, so it knows no record

    def _open(self) -> Finder:
        if isinstance(self.store, Shared):
            return self.store.finder(self._indexes, self._embedder)
        if not self.is_at_home:
            path = getattr(self.store, "path", None)
            seen = Seen(self.store, None if path is None else file_elsewhere(path))
            return Finder(seen, self._indexes or (open_index(embedder=self._embedder),))
        local = self._home.local_file
        self.usage = Usage(local("usage.sqlite"), read_counts(self._home.read(COUNTS_ELSEWHERE)))
        indexes = self._indexes or (open_index(local("search.sqlite"), embedder=self._embedder),)
        return Finder(Seen(self.store, local("catalog.sqlite")), indexes)


def _lost(id: str) -> Sequence[Record]:
    raise DamagedFile(f"{id!a:.60} is in the store, and nothing finds it; restore the store from a backup")

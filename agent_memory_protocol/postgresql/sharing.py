"""A store on a server with all that a memory of many machines asks for: what finds, counts, and decides one by one."""

import os
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from ..disk.cache import cache_path, make_cache
from ..errors import LockBusy
from ..records.finder import Finder
from ..search.opening import open_index
from ..search.picking import MANY
from ..search.port import Embedder, SearchIndex
from ..text.digest import blake2b
from .address import Address
from .served import FedSeen, ServedFinder
from .store import PostgresqlStore
from .usage import ServerUsage

_PAUSE = 0.02


class SharedStore(PostgresqlStore):
    """Records of many machines; see `PostgresqlStore` and `Shared`.

    Args:
        address: `postgresql://user@host/database?namespace=NAME`.
        keeps_index: whether a search index may be made on this machine; one that is there is used in any case.
    """

    def __init__(self, address: str | Address, *, keeps_index: bool = False) -> None:
        super().__init__(address)
        self._keeps_index = keeps_index

    @property
    def place(self) -> str:
        """The address, without its password."""
        return str(self.address)

    def finder(self, indexes: Sequence[SearchIndex], embedder: Embedder | None) -> Finder:
        """Return what finds these records: an index on this machine where there may be one, else the server."""
        folder = cache_path(blake2b(str(self.address).encode(), digest_size=12).hexdigest())
        catalog, index = (os.path.join(folder, name) for name in ("catalog.sqlite", "search.sqlite"))
        may_be_kept = os.path.exists(index) or (self._keeps_index and self.count() <= MANY)
        if indexes or (embedder is not None and not may_be_kept):
            return Finder(FedSeen(self), indexes or [open_index(embedder=embedder)])
        if not (may_be_kept and make_cache(folder)):
            return ServedFinder(self)
        return Finder(FedSeen(self, catalog), [open_index(index, embedder=embedder)])

    def usage(self) -> ServerUsage:
        """Return what counts the uses of these records, for all machines together."""
        return ServerUsage(self.server)

    @contextmanager
    def alone(self, wait: float) -> Iterator[None]:
        """Keep other processes, of whatever machine, out of a `with` block; LockBusy after `wait` seconds."""
        key = f"agent-memory {self.address.namespace}"
        deadline = time.monotonic() + wait
        while not self.server.ask("SELECT pg_try_advisory_lock(hashtextextended(%s, 0))", [key])[0][0]:
            if time.monotonic() > deadline:
                raise LockBusy(f"{self.address}: another process has been deciding for {wait:.0f} s; try again")
            time.sleep(_PAUSE)
        try:
            yield
        finally:
            self.server.ask("SELECT pg_advisory_unlock(hashtextextended(%s, 0))", [key])

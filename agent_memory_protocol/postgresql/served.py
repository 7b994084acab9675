"""How records of a server are found: by an index on this machine that the change feed keeps in line, or by the server.

Both find the same. An index on this machine spares the server, and needs a file and a first reading; the server answers
at once.
"""

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping
from datetime import date, datetime

from ..disk.side_file import SideFile
from ..errors import DamagedFile
from ..records import heads
from ..records.finder import Finder, MemoryStatus
from ..records.record import LIVE, Record, State
from ..records.seen import Seen, hash_of
from .search import ServerIndex
from .store import PostgresqlStore

_MANY_ALIKE = 100


class _OnServer(Seen):
    """What both ways have in common: the records are those of a server."""

    def __init__(self, store: PostgresqlStore, path: str | None = None) -> None:
        super().__init__(store, path)
        self._records = store

    def set_back(self, newest: Mapping[str, datetime | None]) -> list[str]:
        """Say which of the records have an earlier version now than this machine saw, by an index or when last asked.

        An index is in a cache, which people empty.
        """
        file = SideFile(heads.file_elsewhere(str(self._records.address)), heads.TABLE)
        problems = heads.set_back(file, newest)
        file.write(heads.noted_moments(newest))
        file.close()
        return [*dict.fromkeys([*super().set_back(newest), *problems])]


class FedSeen(_OnServer):
    """What was last seen of each record of a server. A look reads from the change feed what is new.

    `path` is the file of what was seen, and of how far the feed was read; None keeps that in this process.
    """

    tables = (*Seen.tables, "CREATE TABLE position (one INTEGER PRIMARY KEY, text TEXT)")

    def __init__(self, store: PostgresqlStore, path: str | None = None) -> None:
        super().__init__(store, path)
        self._position: str | None = None

    def look(self, *, hurried: bool = False) -> list[Record]:
        """Return the newest versions of the records that are new or have changed; see `Seen`."""
        if not self._looked:
            self._stamps = dict(self._file.rows("SELECT record_id, stamp FROM seen"))
            self._position = next((text for (text,) in self._file.rows("SELECT text FROM position")), None)
        changes, position, is_all = self._records.changes(self._position)
        changed = {}
        gone = self._stamps.keys() - {one.id for one in changes} if is_all else set[str]()
        for name, stamp, payload in changes:
            if self._stamps.get(name) != stamp:
                try:
                    changed[name] = self._records.read(payload, name)
                except DamagedFile as error:
                    self.problems[name] = str(error)
                    gone |= self._stamps.keys() & {name}
                else:
                    self.problems.pop(name, None)
                    self._stamps[name] = stamp
        for name in gone:
            del self._stamps[name]
        self.revision += bool(changed or gone or not self._looked)
        if changed or gone or not self._looked:
            # Both or none: what the position has passed does not come again.
            self._note(changed, gone, ("INSERT OR REPLACE INTO position VALUES (1, ?)", [(position,)]))
        self._looked, self._position = True, position
        return list(changed.values())


class Asked(_OnServer):
    """The records of a server as they are: nothing is kept on this machine, and every question is put to the server."""

    def __init__(self, store: PostgresqlStore) -> None:
        super().__init__(store)
        self._ids = _Ids(store)

    @property
    def stamps(self) -> Mapping[str, str]:
        """For each record a text that changes with its newest version."""
        return self._ids

    def look(self, *, hurried: bool = False) -> list[Record]:
        """Return nothing: what others have written is there whenever it is asked for."""
        return []

    def wrote(self, record: Record) -> None:
        """Do nothing: the server knows."""

    def changed(self, since: date, ids: Collection[str]) -> set[str]:
        """Return which of these records have changed on a day (UTC) or later."""
        return self._records.changed(since, ids)

    def saying(self, body: str) -> list[Record]:
        """Return the records that say exactly this."""
        return self._records.find("said = %s", [hash_of(body)])

    def rules(self) -> list[Record]:
        """Return the rules."""
        return self._records.find("type = 'rule'", [])

    def beginning(self, start: str) -> Iterable[str]:
        """Return the ids that begin so, or enough of them to tell that they are many."""
        return self._records.ids(start, _MANY_ALIKE)


class ServedFinder(Finder):
    """What finds records by asking the server alone."""

    def __init__(self, store: PostgresqlStore) -> None:
        self._asked = ServerIndex(store.server)
        super().__init__(Asked(store), [self._asked])
        self._store = store

    def look(self, *, hurried: bool = False) -> None:
        """Ask the server again from now on; see `Finder`."""
        super().look(hurried=hurried)
        self._asked.look()

    def everything(self) -> list[Record]:
        """Return every record that can be read."""
        return list(self._store.list())

    def count(self) -> MemoryStatus:
        """Count what there is, without reading it."""
        counted = self._store.server.ask("SELECT state, type, count(*) FROM $ns.heads GROUP BY state, type")
        states, types = Counter[str](), Counter[str]()
        for state, kind, number in counted:
            states[state] += number
            types[kind] += number
        disputes = {
            frozenset(one.transition.sides) for one in self._store.list(state=State.TRANSITIONAL) if one.transition
        }
        return MemoryStatus(
            states.total(), dict(states), dict(types), len(disputes), tuple(self.seen.problems.values())
        )

    def has_few(self) -> bool:
        """Say that there are many: a server is for those, and to count them would take a question more."""
        return False

    def total(self, query: str, *, include_history: bool, since: date | None = None) -> int:
        """Return how many records look like a query; among very many, about how many."""
        if since is not None:
            return super().total(query, include_history=include_history, since=since)
        return self._asked.count(query, keys=None if include_history else LIVE)

    def _update_index(self) -> None:
        """Do nothing: the server does it with each version that is put."""


class _Ids(Mapping[str, str]):
    """The ids of all records, each with what changes with its newest version."""

    def __init__(self, store: PostgresqlStore) -> None:
        self._store = store

    def __getitem__(self, id: str) -> str:
        return self._store.stamps([id])[id]

    def __iter__(self) -> Iterator[str]:
        return iter(self._store.ids())

    def __len__(self) -> int:
        return self._store.count()

"""The records of one store, found by their words, and current whoever writes them."""

from collections.abc import Iterable, Sequence
from functools import partial

from .records.catalog import Catalog
from .records.record import Record, State
from .records.store import RecordStore
from .records.view import View
from .retrieval import Candidate, partner_of
from .search.port import Passage, SearchIndex, Source

CANDIDATES = 64
"""How many records that look like a query are weighed against each other."""

_LIVE = (State.ACTIVE, State.TRANSITIONAL)


class Finder:
    """What finds records in one store. Whoever uses it lets no two threads in at once."""

    def __init__(self, store: RecordStore, catalog: Catalog, indexes: Sequence[SearchIndex]) -> None:
        self._catalog = catalog
        self._view = View(store, catalog)
        self._indexes = indexes
        self._indexed = False

    def close(self) -> None:
        """Close the file of what was seen. The next call opens it again."""
        self._catalog.close()

    @property
    def ids(self) -> tuple[str, ...]:
        """The ids of the records that can be read."""
        return tuple(self._view.stamps)

    @property
    def every_id(self) -> tuple[str, ...]:
        """The ids of all records, those that cannot be read among them."""
        return tuple(sorted({*self._view.stamps, *self._view.problems}))

    @property
    def problems(self) -> tuple[str, ...]:
        """Why some records cannot be read, one line each."""
        return tuple(self._view.problems.values())

    def look(self, *, hurried: bool = False) -> None:
        """Take in what others have written. `hurried` is for whoever writes much; see `View.look`."""
        changes = self._view.look(hurried=hurried)
        if not self._indexed:
            stamps = self._view.stamps
            everything = [Source(one, stamp, partial(self._passages_of, one)) for one, stamp in stamps.items()]
            for index in self._indexes:
                index.refresh(everything)
            self._indexed = True
        elif changes.records or changes.gone:
            self._update(changes.records, changes.gone)

    def wrote(self, record: Record) -> None:
        """Take in a version that was just written."""
        self._view.wrote([record])
        self._update([record])

    def everything(self) -> list[Record]:
        """Return every record that can be read."""
        return [record for record in map(self._view.read, self.ids) if record is not None]

    def saying(self, body: str) -> tuple[Record, ...]:
        """Return the records that say exactly this, the oldest first."""
        found = map(self._view.read, self._catalog.saying(body))
        same = [record for record in found if record is not None and record.body == body and not record.redacted]
        return tuple(sorted(same, key=lambda record: (record.created_at, record.id)))

    def find(self, query: str, *, include_history: bool) -> list[Candidate]:
        """Return the records that look most like a query, each as it is now."""
        limit = CANDIDATES
        while True:
            hits = self._indexes[0].search(query, limit=limit)
            # What is replaced or archived stays so. Where that crowds out the rest, look further down.
            shown = [hit for hit in hits if include_history or hit.key in _LIVE][:CANDIDATES]
            if len(shown) == CANDIDATES or len(hits) < limit:
                break
            limit *= 4
        read = ((hit, self._view.read(hit.source)) for hit in shown)
        return [Candidate(record, hit.score, hit.reasons) for hit, record in read if record is not None]

    def linked(self, candidates: Iterable[Candidate], *, include_history: bool) -> dict[str, Record]:
        """Return by id what may have to come together with some of the candidates, and is none itself.

        That is the other side of a dispute and, with `include_history`, what was replaced.
        """
        known = {candidate.record.id for candidate in candidates}
        found: dict[str, Record] = {}
        wanted = [candidate.record for candidate in candidates]
        while wanted:
            record = wanted.pop()
            for link in (partner_of(record), record.supersedes if include_history else None):
                if link is not None and link not in known:
                    known.add(link)
                    if (other := self._view.read(link)) is not None:
                        found[link] = other
                        wanted.append(other)
        return found

    def _update(self, records: Iterable[Record], gone: Iterable[str] = ()) -> None:
        stamps = self._view.stamps
        sources = [Source(one.id, stamps.get(one.id, ""), partial(_passages, one)) for one in records]
        for index in self._indexes:
            index.update(sources, gone)

    def _passages_of(self, id: str) -> tuple[Passage, ...]:
        record = self._view.read(id)
        return () if record is None else _passages(record)


def _passages(record: Record) -> tuple[Passage, ...]:
    """Return what an index knows of a record. The key says its state."""
    return () if record.redacted else (Passage(record.state.value, record.body, " ".join(record.tags)),)

"""The records of one store, found by their words, and as they are now, even where other processes write them."""

from collections import Counter
from collections.abc import Iterable, Sequence
from datetime import date, datetime

from ..disk import collector
from ..errors import UnknownRecord
from ..search.fusion import FusedIndex
from ..search.keyword import KeywordIndex
from ..search.port import Hit, Passage, SearchIndex, Source
from ..search.words import tokens
from ..text.ids import complete
from ..values import dataclass
from .canonical import EMPTY
from .proof import EVERYBODY, FOREIGN, SET_BACK, Owner
from .rank import Match, partner_of
from .record import LIVE, Record, by_birth, event_of, has_expired, headings_of, is_id, slots_said
from .seen import Seen

MATCHES = 40  # How many records that look like a query are weighed against each other

_FEW = 20
_ALL = 100_000


@dataclass(frozen=True, slots=True)
class MemoryStatus:
    """What there is in a memory: the number of records, those in each state and of each type, and open disputes.

    `problems` says why a record cannot be read, one line each.
    """

    records: int
    by_state: dict[str, int]
    by_type: dict[str, int]
    disputes: int
    problems: tuple[str, ...]


class Finder:
    """What finds records in one store as it was last `seen`. A caller lets in one thread at a time."""

    def __init__(self, seen: Seen, indexes: Sequence[SearchIndex]) -> None:
        self.seen = seen
        self._index = indexes[0] if len(indexes) == 1 else FusedIndex(*((1, index) for index in indexes))
        self._indexed: dict[str, str] | None = None
        self._revision = -1
        self._unread: dict[str, tuple[Passage, ...]] = {}

    def close(self) -> None:
        """Close the files of what was seen. The next call opens them again."""
        self.seen.close()
        self._index.close()

    @property
    def every_id(self) -> tuple[str, ...]:
        """The ids of all records, those that cannot be read among them."""
        return tuple(sorted({*self.seen.stamps, *self.seen.problems}))

    def has(self, id: str) -> bool:
        """Say whether there is a record with this id, which may be one that cannot be read."""
        return id in self.seen.stamps or id in self.seen.problems

    def look(self, *, hurried: bool = False) -> None:
        """Take in what others have written. `hurried` is for a caller that writes much; see `Seen.look`."""
        changed = self.seen.look(hurried=hurried)
        self._unread |= {record.id: _passages(record) for record in changed}
        if any(record.redacted for record in changed):
            self.forget()

    def wrote(self, record: Record) -> None:
        """Take in what this process has just written."""
        self._unread.pop(record.id, None)
        self.seen.wrote(record)

    def forget(self) -> None:
        """Remove the index: a file may keep traces of what was only taken out. The next question makes it again."""
        self._index.delete()
        self._indexed = None

    def everything(self) -> list[Record]:
        """Return every record that can be read."""
        return [*self.seen.read_each(self.seen.stamps).values()]

    def count(self) -> MemoryStatus:
        """Count what there is."""
        records = self.everything()
        return MemoryStatus(
            len(records),
            dict(Counter(record.state.value for record in records)),
            dict(Counter(record.type.value for record in records)),
            len({frozenset(one.transition.sides) for one in records if one.transition is not None}),
            tuple(self.seen.problems.values()),
        )

    def find_id(self, start: str) -> str:
        """Return the one id that begins so, with or without its `mem:`, and with at least four characters after it."""
        digits = start.removeprefix("mem:")
        if is_id(f"mem:{digits}"):
            return f"mem:{digits}"
        known = {one.removeprefix("mem:"): one for one in self.seen.beginning(f"mem:{digits}")}
        found = complete(digits, known, lambda one: getattr(self.seen.read(known[one]), "body", ""))
        if found is None:
            raise UnknownRecord(f"no record begins with {ascii(start)[1:-1][:40]}; `amp record list` shows them")
        return known[found]

    def holding(self, record: Record, now: datetime) -> Record | None:
        """Return the live record that says what a new one would say; one whose end is over says it no more.

        Under other headings the same words say something else: “Owner is Ana.”
        """
        for same in self.saying(record.body):
            is_alike = same.type is record.type and slots_said(record) in (EMPTY, slots_said(same))
            is_alike &= headings_of(record) in ((), headings_of(same)) or same.tags == record.tags
            is_over = has_expired(same, now) and not has_expired(record, now)
            if same.state in LIVE and is_alike and not is_over and event_of(same) == event_of(record):
                return same
        return None

    def saying(self, body: str) -> tuple[Record, ...]:
        """Return the records that say exactly this, the oldest first."""
        same = (record for record in self.seen.saying(body) if record.body == body and not record.redacted)
        return tuple(sorted(same, key=by_birth))

    def find(
        self,
        query: str,
        *,
        include_history: bool,
        count: int = MATCHES,
        since: date | None = None,
        owner: Owner = EVERYBODY,
    ) -> list[Match]:
        """Return as many records that look most like a query, each as it is now, or as its `owner` holds it.

        With `include_history`, as many again that are replaced or archived: they may not crowd out those that hold.
        With `since`, only those that have changed on that day or later.
        """
        self._update_index()
        limit = count if since is None else _ALL
        while True:
            hits = self._index.search(query, limit=limit)
            if since is not None:
                hits = self._recent(hits, since)
            back = self._held_against([hit.source for hit in hits if hit.key not in LIVE], owner)
            live = [hit for hit in hits if hit.key in LIVE or hit.source in back]
            if len(live) >= count or len(hits) < limit:
                break
            limit *= 4
        gone = [hit for hit in hits if hit.key not in LIVE and hit.source not in back] if include_history else []
        shown = [*live[:count], *gone[:count]]
        read = self.seen.read_each(hit.source for hit in shown)
        return [
            Match(owner.hold(record), hit.score, hit.reasons, tokens=hit.tokens, meant=hit.meant, fit=hit.fit)
            for hit in shown
            if (record := read.get(hit.source))
        ]

    def doubt(self, record: Record, owner: Owner) -> str:
        """Return what has to be said of who wrote a version that `find` or `linked` gave; see `Owner.doubt`."""
        doubt = owner.doubt(record)
        return SET_BACK if doubt in ("", FOREIGN) and self.seen.was_set_back(record) else doubt

    def _held_against(self, gone: Sequence[str], owner: Owner) -> set[str]:
        """Return which of these records are gone by somebody else's word, and not by the owner's."""
        read = self.seen.read_each(gone) if owner.address is not None else {}
        return {name for name, record in read.items() if owner.hold(record).state in LIVE}

    def _recent(self, hits: Sequence[Hit], since: date) -> list[Hit]:
        """Return those of which the record has changed on that day or later, without reading a record."""
        changed = self.seen.changed(since, [hit.source for hit in hits])
        return [hit for hit in hits if hit.source in changed]

    def has_few(self) -> bool:
        """Say whether there are so few records that how rare a word is among them says nothing."""
        return len(self.seen.stamps) < _FEW

    def total(self, query: str, *, include_history: bool, since: date | None = None) -> int:
        """Return how many records look like a query, of those that have changed on a day or later."""
        keys = None if include_history else [state.value for state in LIVE]
        if isinstance(self._index, KeywordIndex) and since is None:
            return self._index.count(query, keys=keys)
        hits = self._index.search(query, limit=_ALL)
        if since is not None:
            hits = self._recent(hits, since)
        return sum(keys is None or hit.key in keys for hit in hits)

    def linked(self, matches: Iterable[Match], *, include_history: bool, owner: Owner = EVERYBODY) -> dict[str, Record]:
        """Return by id what may have to come with some of these: other sides of disputes, and what was replaced."""
        wanted = [match.record for match in matches]
        known = {record.id for record in wanted}
        found: dict[str, Record] = {}
        while wanted:
            record = wanted.pop()
            for link in (partner_of(record), record.supersedes if include_history else None):
                if link is not None and link not in known:
                    known.add(link)
                    if (other := self.seen.read(link)) is not None:
                        found[link] = other = owner.hold(other)
                        wanted.append(other)
        return found

    def rules_on(self, ids: Iterable[str]) -> dict[str, Record]:
        """Return by id every rule that rests on one of these records, and all that such a rule rests on."""
        wanted = set(ids)
        found = {rule.id: rule for rule in self.seen.rules() if not wanted.isdisjoint(rule.evidence)}
        for one in {one for rule in found.values() for one in rule.evidence}:
            if (record := self.seen.read(one)) is not None:
                found[one] = record
        return found

    def alike(self, records: Iterable[Record], count: int) -> dict[str, Record]:
        """Return by id these records, as many of those most like each, and all that is tied to them."""
        found: dict[str, Record] = {}
        for record in records:
            matches = self.find(record.body, include_history=False, count=count)
            found |= {one.record.id: one.record for one in matches} | self.linked(matches, include_history=False)
            if record.id not in found and (now := self.seen.read(record.id)) is not None:
                found[record.id] = now
        return found | self.rules_on(found)

    def _update_index(self) -> None:
        """Bring the index in line. That takes time in proportion to the store, so it waits until somebody asks."""
        if self._revision == self.seen.revision and self._indexed is not None:
            return
        now, before = self.seen.stamps, self._indexed
        if now != before:
            changed = now if before is None else dict(now.items() - before.items())
            gone = None if before is None else before.keys() - now.keys()
            with collector.left_alone():
                read = self._passages
                self._index.refresh([Source(one, stamp, read) for one, stamp in changed.items()], gone)
            self._indexed = dict(now)
        self._revision = self.seen.revision
        self._unread.clear()

    def _passages(self, id: str) -> tuple[Passage, ...]:
        """Return what an index knows of a record: what the last look has read, or what is there now."""
        found = self._unread.get(id)
        return _passages(self.seen.read(id)) if found is None else found


def foremost(matches: Sequence[Match], count: int) -> list[Match]:
    """Return the first `count` of the records that hold, and of those that are replaced or archived."""
    live = [one for one in matches if one.record.state in LIVE]
    gone = [one for one in matches if one.record.state not in LIVE]
    return [*live[:count], *gone[:count]]


def sharing(matches: Iterable[Match], records: Iterable[Record]) -> set[str]:
    """Return the ids of the records that have a word for which one of these matches was found."""
    asked = {token for match in matches for token in match.tokens}
    parts = ((one.id, f"{part.text} {part.context}") for one in records for part in _passages(one))
    return {name for name, text in parts if not asked.isdisjoint(tokens(text, set()))}


def _passages(record: Record | None) -> tuple[Passage, ...]:
    """Return what an index knows of a record. The key says its state."""
    if record is None or record.redacted:
        return ()
    return (Passage(record.state.value, record.body, "\n".join(record.tags)),)

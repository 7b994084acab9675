"""`Memory`: records with a lifecycle, behind two calls: remember, and recall.

It holds the order of the steps, and asks the clock and the disk. What a record is, what may become of it and which
records answer a query are rules of `records` and `consolidation`.
"""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Callable, Collection, Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import UTC, date, datetime
from functools import partial
from typing import TYPE_CHECKING, Self

from .decisions import TRIES, Decisions
from .disk import collector
from .disk.writing import ChangedMeanwhile, write_file
from .errors import BadSignature, DamagedFile, IllegalMove, InvalidArgument, StorageError, UnknownRecord
from .limits import split_lines
from .postgresql.address import is_address
from .project.access import Actor, acting
from .records.arrival import arrive
from .records.canonical import encode, freeze_text
from .records.finder import MATCHES, Finder, MemoryStatus, foremost, sharing
from .records.home import Home
from .records.lifecycle import chain_of, check_replaced
from .records.proof import Checked, check_histories, check_history, is_forged
from .records.rank import BUDGET_TOKENS, LEAST_FIT, Match, Recalled, choose, with_partners
from .records.record import Provenance, Record, RecordType, State, has_expired
from .records.shelf import Shared, Shelf
from .records.signing import Identity, Signer, check_signer
from .records.store import RecordStore, chosen
from .search.port import Embedder, SearchIndex

if TYPE_CHECKING:
    from .consolidation.decay import Rates
    from .consolidation.duplicates import Echoes
    from .consolidation.pipeline import Operators
    from .consolidation.proposals import Operator, Outcome, Report
    from .consolidation.write import RememberedRecord
    from .formats.signed_file import SignedMemoryFile

CONSOLIDATE_EVERY = 4
"""After so many new records, these are compared with the ones that resemble them; less often among thousands."""

_ALIKE = 16


class Memory(Decisions):
    """The records of one agent, or of one project. Threads may share it, and processes its directory.

    Every call that writes raises `AccessDenied` where the actor may not, `Disabled` where memory is switched off,
    `RefusedText` or `SecretFound` for what may not be kept, and `StorageError` where something was not written. Calls
    that read raise `StorageError` for a record that cannot be read, and calls with an id `UnknownRecord` for one that
    does not exist. `history`, `verify`, `check` and `export` raise `Disabled`, too.

    Args:
        path: the memory directory, a file that ends in `.sqlite`, or `postgresql://…`, the address of a store that many
            machines share (docs/records-on-postgresql.md); without one and without a store, that of the project around
            the current folder. Nothing is created before the first record.
        store: the records' store, in place of a directory.
        indexes: find records; by default an index of their words.
        embedder: finds them by similar meaning too, in the default index.
        extractor: makes records of a text; without one a text becomes one fact, word for word.
        operators: propose what becomes of records; without them, those that need no model.
        identity: signs every version that is written and every export: the path of an identity file, which is created
            when it does not exist, or a signer.
        actor: who acts; an agent that may write nowhere changes no record either.
        consolidate_every: after so many new records, these are compared with similar ones; with 0 only `consolidate`
            does that.
        clock: returns the time.

    Raises:
        InvalidArgument: the path cannot be one.
        StorageError: no project is found, or the identity file cannot be used.
        MissingExtra: there is an identity, and PyNaCl is not installed.
    """

    def __init__(
        self,
        path: str | os.PathLike[str] | None = None,
        *,
        store: RecordStore | None = None,
        indexes: Sequence[SearchIndex] | None = None,
        embedder: Embedder | None = None,
        extractor: Operator | None = None,
        operators: Operators | None = None,
        identity: Signer | str | os.PathLike[str] | None = None,
        actor: Actor | None = None,
        consolidate_every: int = CONSOLIDATE_EVERY,
        clock: Callable[[], datetime] | None = None,
    ) -> None:
        if store is None and is_address(path):
            from .postgresql.sharing import SharedStore

            path, store = None, SharedStore(str(path), keeps_index=True)
        elif store is None and isinstance(path, (str, os.PathLike)) and _is_database(path):
            from .records.sqlite_store import SqliteStore

            path, store = None, SqliteStore(path)
        self._home = Home(path, actor=acting(actor))
        self._shelf = Shelf(self._home, store, indexes, embedder)
        self._store = self._shelf.store
        self._extractor = extractor
        self._operators = operators
        self._consolidate_every = consolidate_every
        self._fresh: list[Record] = []
        if isinstance(identity, (str, os.PathLike)):
            identity = Identity.load_or_create(os.fspath(identity))
        if identity is not None:
            check_signer(identity)
        self._identity: Signer | None = identity
        self._owner = self._shelf.owner(identity)
        self._clock = clock or partial(datetime.now, UTC)
        self._last = datetime.min.replace(tzinfo=UTC)
        self._lock = threading.RLock()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the derived files of the records. The next call opens them again."""
        with self._lock:
            self._shelf.close()

    @property
    def path(self) -> str | None:
        """The memory directory, or the address of a server; None if the records are in another store."""
        if isinstance(self._store, Shared):
            return self._store.place
        return self._home.path if self._shelf.is_at_home else None

    @property
    def store(self) -> RecordStore:
        """The store of the records."""
        return self._store

    # -- two calls ---------------------------------------------------------------------------------------------------

    def remember(
        self,
        text: str,
        *,
        tags: Sequence[str] = (),
        source: str | None = None,
        replaces: str | None = None,
        type: RecordType | str | None = None,
        time: datetime | None = None,
    ) -> RememberedRecord:
        """Keep a text as a record. An active record with the same text is counted as used and gets the tags.

        Args:
            text: what to keep, without its outer blanks.
            tags: words to find it by.
            source: where it comes from.
            replaces: the id of an active record that no longer holds, since this one does.
            type: `fact`, `procedure` or `episode`, which is an event. The default is the type of what it replaces, else
                a fact. An event that happens at another time, or that another source tells of, is another record.
            time: when an event happened.

        Raises:
            IllegalMove: what it replaces is disputed, no longer active, or says the same; nothing is written.
            InvalidArgument: there is no such type, or only an event has a time.
        """
        from .consolidation.write import RememberedRecord, take_in, whole_text

        if isinstance(tags, str):
            raise InvalidArgument("tags is a list of texts, not one text")
        if not isinstance(text, str):
            raise InvalidArgument(f"what is remembered must be text, not {text.__class__.__name__}")
        with self._lock:
            allow = self._home.check_may_change()
            old = None if replaces is None else self._store.get(replaces)
            body = freeze_text("\n".join(split_lines(text.strip())))
            if old is not None:
                check_replaced(old, body)
            whole = whole_text(type, time, old)
            self._home.check_texts(("text", body), ("source", source), *(("tag", tag) for tag in tags))
            outcome = take_in(
                body,
                extractor=whole if self._extractor is None or type is not None else self._extractor,
                provenance=Provenance("conversation", source, self._owner.address),
                known=self._shelf.look(hurried=True).seen.stamps,
                now=self._now(),
                tags=tags,
                allow=allow,
            )
            kept = [self._keep(record) for record in outcome.writes]
            added = tuple(record.id for record, is_new in kept if is_new)
            known = tuple(dict.fromkeys([*outcome.reinforced, *(record.id for record, is_new in kept if not is_new)]))
            self._shelf.usage.count(known, self._last)
            self._fresh += [record for record, is_new in kept if is_new]
            first = kept[0][0].id if kept else next(iter(known), "")
            if replaces is not None and first and first != replaces:
                self.supersede(replaces, first, "a newer record replaces it")
            return RememberedRecord(
                first,
                added,
                known,
                tuple(action.reason for action in outcome.report.refused),
                self._consolidate_fresh(),
                partial(self.meets, added),
            )

    def add(self, record: Record, *, apply: bool = True, once: bool = False) -> tuple[str, bool]:
        """Take in a record that was made elsewhere; return the id of the one that holds it here, and whether it is new.

        A signed record keeps its signature. Of a known record, what has become of it elsewhere is taken over: its state
        where it may follow, its tags and its evidence. With `once`, a live record that says the same gets the tags.
        Without `apply` this only says what would become of it.

        Raises:
            IllegalMove: the record has gone another way here; nothing is changed.
        """
        from .consolidation.door import strings_of

        slots = encode(record.slots).decode() if record.slots else None
        with self._lock:
            self._check_pass(apply)
            self._home.check_texts(
                ("text", record.body),
                ("source", record.provenance.ref or None),
                *(("tag", tag) for tag in record.tags if tag),
                ("slots", slots),
                # Spelled as JSON, a control character is an escape that can be seen.
                *(("slots", text) for text in strings_of(record.slots) if text.strip()),
            )
            finder = self._shelf.look(hurried=True)
            known = self._store.history(record.id) if finder.has(record.id) else ()
            same = finder.holding(record, self._clock()) if once and not known else None
            if same is not None:
                return (self._keep(record)[0] if apply else same).id, False
            version = arrive(known, record, finder.seen.read) if known else record
            if version is None or not apply:
                return record.id, version is not None
            after = known[-1] if known else None
            is_own = any(one.signed_by is not None and one.signed_by == self._owner.address for one in known)
            if version is record and record.signed and not is_own:
                self._store.put(record, after=after)
                self._shelf.wrote(record)
            else:
                self._put(version, after)
            return record.id, True

    def recall(self, query: str, *, budget_tokens: int = BUDGET_TOKENS, include_history: bool = False) -> Recalled:
        """Return what the memory knows about something, best first: whole records, as many as fit.

        Of a dispute both sides come, or none. Where nothing fits the query well, nothing comes, and `left_out` says how
        many records have some word of it: `search` shows them. Among fewer than 20 records all that have one come.

        Args:
            query: any text.
            budget_tokens: how many tokens the prompt block may have.
            include_history: whether to show what was replaced or archived, too.

        Raises:
            InvalidArgument: the budget is not a positive number.
            StorageError: the records cannot be listed. A record that cannot be read is left out and reported.
        """
        if budget_tokens < 1:
            raise InvalidArgument(f"a budget of {budget_tokens} tokens holds nothing; give a positive number")
        with self._lock:
            count = MATCHES * max(1, budget_tokens // BUDGET_TOKENS)
            recalled = self._recall(query, budget_tokens, count, include_history=include_history, least=LEAST_FIT)
            self._shelf.usage.count(recalled.ids, self._clock())
            return recalled

    def search(
        self, query: str, *, limit: int = 10, include_history: bool = False, since: date | None = None
    ) -> Recalled:
        """Return at most so many records as `recall` does, of any size; they are not counted as used.

        With `since`, only those that have changed on that day (UTC) or later.

        Raises:
            InvalidArgument: the limit is not a positive number.
        """
        if limit < 1:
            raise InvalidArgument(f"a limit of {limit} shows nothing; give a positive number")
        with self._lock:
            count = limit + MATCHES  # what is worth most is not always what looks most like the query
            return self._recall(query, sys.maxsize, count, include_history=include_history, limit=limit, since=since)

    def _recall(
        self,
        query: str,
        budget_tokens: int,
        count: int,
        *,
        include_history: bool,
        limit: int = sys.maxsize,
        since: date | None = None,
        least: float = 0,
    ) -> Recalled:
        """Weigh `count` matches, and with history as many again of what is gone; give `limit`, and count the others.

        Where none fits at `least` so well, none is given; among few records that says nothing.
        """
        finder = self._shelf.see()
        least = 0 if finder.has_few() else least
        found = finder.find(query, include_history=include_history, count=count, since=since, owner=self._owner)
        if not include_history:
            found = [one for one in found if not has_expired(one.record, self._clock())]
        weighed = foremost(found, count)
        recalled = self._choose(finder, query, weighed, budget_tokens, include_history=include_history)
        hits = recalled.hits[:limit] if any(one.fit >= least for one in recalled) else ()
        matching, total = {one.record.id for one in found}, len(found)
        if total >= count:
            # What only came along with a match may be one of those that were not looked at.
            matching |= sharing(found, [one.record for one in hits if one.record.id not in matching])
            total = finder.total(query, include_history=include_history, since=since)
        left_out = max(total - sum(one.record.id in matching for one in hits), 0)
        return replace(recalled, hits=tuple(with_partners(hits)), left_out=left_out)

    def _choose(
        self, finder: Finder, query: str, found: Sequence[Match], budget_tokens: int, *, include_history: bool
    ) -> Recalled:
        uses = self._shelf.usage.of(one.record.id for one in found)
        recalled = choose(
            query,
            [replace(one, uses=uses[one.record.id].count) if one.record.id in uses else one for one in found],
            finder.linked(found, include_history=include_history, owner=self._owner),
            budget_tokens=budget_tokens,
            include_history=include_history,
            now=self._clock(),
            doubt=partial(finder.doubt, owner=self._owner),
        )
        return replace(recalled, problems=tuple(finder.seen.problems.values()))

    # -- looking after the records -----------------------------------------------------------------------------------

    def consolidate(self, *, apply: bool = True, takes: Callable[[str], bool] | None = None) -> Report:
        """Merge what says the same, mark what contradicts, make rules of what happens again, and flag rules in doubt.

        Contradictions are decided only where `operators` has a resolver. Without `apply` nothing is written, and the
        report says what would be. What was done before an error is whole; call it again. `takes` says of the id of a
        proposal whether it is done; the others are in the report's `left`.
        """
        from .consolidation.pipeline import consolidate

        with self._lock:
            allow = self._check_pass(apply)
            report = self._look_after(
                lambda records: consolidate(
                    records, now=self._now(), operators=self._operators, allow=allow, takes=takes or (lambda _: True)
                ),
                apply,
            )
            if apply:
                self._fresh.clear()
            return report

    def decay(self, *, apply: bool = True, rates: Rates | None = None) -> Report:
        """Archive what nobody has needed for long; the report names what is protected, too.

        Without `apply` nothing is written, and the report says what would be.
        """
        from .consolidation.decay import decay

        with self._lock:
            self._check_pass(apply)
            self._shelf.look()
            return self._look_after(
                lambda records: decay(records, now=self._now(), uses=self._shelf.usage.of(), rates=rates), apply
            )

    def _look_after(self, rule: Callable[[Sequence[Record]], Outcome], apply: bool) -> Report:
        """Ask a rule about all records and apply its answer, or only report it."""
        with collector.left_alone():
            if not apply:
                return rule(self._store.list()).report
            with self._shelf.alone():
                return self._carry_out(lambda: rule(self._store.list()))

    # -- reading -----------------------------------------------------------------------------------------------------

    def records(
        self, *, state: State | str | None = None, type: RecordType | str | None = None, tag: str | None = None
    ) -> tuple[Record, ...]:
        """Return the newest version of the records that meet every condition given, by birth.

        With an identity, a version that somebody else has signed over one of its own does not count.

        Raises:
            InvalidArgument: there is no such state or type.
        """
        try:
            in_state = None if state is None else State(state)
            of_type = None if type is None else RecordType(type)
        except ValueError as error:
            raise InvalidArgument(f"{error}; states are {', '.join(State)}, types {', '.join(RecordType)}") from error
        if self._owner.address is None and self._home.is_on():
            return self._store.list(state=in_state, type=of_type, tag=tag)
        return chosen(map(self._owner.hold, self._store.list() if self._home.is_on() else ()), in_state, of_type, tag)

    def history(self, record_id: str) -> tuple[Record, ...]:
        """Return every version of a record, oldest first."""
        self._home.check_is_on()
        return self._store.history(record_id)

    def chain(self, record_id: str) -> tuple[Record, ...]:
        """Return all that a record replaced, it, and all that replaced it or brought it back, in their newest versions.

        What was replaced by one of them, too, is there. Each comes after what it replaced.
        """
        return chain_of(self._store.list() if self._home.is_on() else (), record_id)

    def newest(self, record_id: str) -> Record | None:
        """Return the newest version of a record; None if there is no such record, or it cannot be read."""
        with self._lock:
            return self._shelf.look(hurried=True).seen.read(record_id)

    def signers(self) -> frozenset[str]:
        """Return the addresses that are trusted here: the identity's, or without one all that have signed a record."""
        if self._identity is not None:
            return frozenset([self._identity.address])
        return frozenset(one.signed_by for one in self.records() if one.signed_by and not is_forged(one))

    def find_id(self, start: str) -> str:
        """Return the one id that begins so; see `Finder.find_id`."""
        with self._lock:
            return self._shelf.see().find_id(start)

    def saying(self, text: str) -> tuple[Record, ...]:
        """Return the records that say exactly this, in whatever state."""
        with self._lock:
            return self._shelf.see().saying(freeze_text(text))

    def echoes(self, record_id: str) -> Echoes:
        """Return the other records that hold what this one says, or may: what `redact` would leave of it."""
        from .consolidation.duplicates import find_echoes

        with self._lock:
            return find_echoes(self._store.get(record_id), self._shelf.see().everything())

    def meets(self, record_ids: Sequence[str]) -> tuple[str, ...]:
        """Say what some records repeat, contradict or change, one line each, with the command that settles it.

        They are compared with the records that look most like them and, where the records are a project's, with the
        entries and notes that the actor may read. A record that no longer holds meets nothing.

        Raises:
            InvalidArgument: the ids are one text in place of several.
        """
        from .learning.meet import met_by_records

        if isinstance(record_ids, str):
            raise InvalidArgument("record_ids is a list of ids, not one id")
        with self._lock:
            finder = self._shelf.see()
            new = [one for one in map(finder.seen.read, record_ids) if one is not None]
            alike = [one for one in finder.alike(new, _ALIKE).values() if not has_expired(one, self._clock())]
            return tuple(met_by_records(new, alike, self._home.project()))

    def status(self) -> MemoryStatus:
        """Count what there is."""
        with self._lock:
            return self._shelf.see().count()

    def verify(self, *, owners: Collection[str] = ()) -> None:
        """Return if everything verifies: versions, order, signatures, links, and that nothing was set back.

        Args:
            owners: the addresses that must have signed the newest versions.

        Raises:
            StorageError, BadSignature: the first thing that does not verify.
            MissingExtra: something is signed, and PyNaCl is not installed.
        """
        checked = self.check(owners=owners)
        for _, read in self._shelf.histories(self._shelf.look().every_id if checked.problems else ()):
            with suppress(UnknownRecord):
                check_history(read())
        for problem in checked.problems:
            raise BadSignature(problem) if checked.foreign else DamagedFile(problem)

    def check(self, *, owners: Collection[str] = ()) -> Checked:
        """Verify everything as `verify` does, and return all that is wrong.

        Of a memory with an identity, `foreign` names the records that it has not signed; that alone is not a problem.
        """
        with self._lock:
            self._home.check_is_on()
            finder = self._shelf.look()
            with collector.left_alone():
                checked = check_histories(
                    self._shelf.every_history(),
                    owners=owners,
                    mine=() if self._owner.address is None else (self._owner.address,),
                    set_back=finder.seen.set_back,
                )
            if isinstance(self._store, Shared):
                counted = "how often records were used, which each writer may say"
                checked = replace(checked, unproved=(*checked.unproved, counted))
            return checked

    def export(self, path: str | os.PathLike[str] | None = None) -> SignedMemoryFile:
        """Return the newest version of every record as one file, signed where the memory has an identity.

        With a path it is written there, in the place of what was there before.

        Raises:
            BadSignature: a record claims a signature that does not verify; nobody could load the file.
        """
        from .formats.signed_file import SignedMemoryFile

        with self._lock:
            self._home.check_is_on()
            records = self._store.list()
            for record in records:
                if is_forged(record):
                    raise BadSignature(
                        f"{record.id}: its signature does not verify; restore it, or sign it again if it is right, "
                        f"as with `amp record sign {record.id}`"
                    )
            file = SignedMemoryFile(created_at=self._clock(), records=records)
            if self._identity is not None:
                file = file.sign(self._identity)
        if path is not None:
            write_file(os.path.abspath(os.fspath(path)), file.to_bytes())
        return file

    # -- steps -------------------------------------------------------------------------------------------------------

    def _check_pass(self, apply: bool) -> tuple[str, ...]:
        """Return the fingerprints of allowed secrets, if a pass may be made."""
        return self._home.check_may_change() if apply else self._home.check_is_on()

    def _keep(self, record: Record) -> tuple[Record, bool]:
        """Store a new record; an active one with the same text gets the tags instead."""
        for _ in range(TRIES):
            same = None if self._shelf.finder is None else self._shelf.finder.holding(record, self._clock())
            if same is None:
                try:
                    return self._put(record), True
                except IllegalMove:
                    # Another process has just made the very same record, and it has gone further already.
                    return self._store.get(record.id), False
            tags = tuple(dict.fromkeys([*same.tags, *record.tags]))
            if tags == same.tags:
                return same, False
            now = max(self._now(), same.updated_at)
            with suppress(ChangedMeanwhile):
                tagged = replace(same, tags=tags, updated_at=now, signed_by=None, signature="")
                return self._put(tagged, after=same), False
        raise ChangedMeanwhile(f"{record.body[:40]!a}: others change what says so all the time; try again")

    def _consolidate_fresh(self) -> Report | None:
        """Compare new records with similar ones, when enough have come; `consolidate` finds what is missed now.

        It also makes the rules, which need all episodes.
        """
        finder = self._shelf.finder
        every, count = self._consolidate_every, len(self._fresh)
        if finder is None or not every or count < every or count < len(finder.seen.stamps) // 1000:
            return None
        from .consolidation.pipeline import Operators, consolidate

        fresh, self._fresh = self._fresh, []
        operators = replace(self._operators or Operators(), promotion=())

        def plan() -> Outcome:
            alike = finder.alike(fresh, _ALIKE).values()
            return consolidate(alike, now=self._now(), operators=operators, whole=False)

        with suppress(StorageError), self._shelf.alone(wait=0):  # the records are kept, whatever becomes of this
            return self._carry_out(plan)
        return None


def _is_database(path: str | os.PathLike[str]) -> bool:
    """Say whether a path is that of one SQLite file, by its ending. A folder that is called so is a folder."""
    return os.fspath(path).endswith(".sqlite") and not os.path.isdir(path)

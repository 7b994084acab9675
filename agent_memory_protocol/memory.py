"""`Memory`: records with a lifecycle, behind two calls: remember, and recall.

It holds the order of the steps, and is where the clock and the disk are asked. What a record is, what may become of it,
and which records answer a query are rules, and stand elsewhere.
"""

from __future__ import annotations

import os
import sys
import threading
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Self

from .consolidation.answers import Checked, MemoryStatus, RememberedRecord
from .disk.files import Root
from .disk.writing import ChangedMeanwhile, create
from .disk.writing import replace as replace_file
from .errors import BadSignature, IllegalMove, InvalidArgument, Refused, StorageError, UnknownRecord
from .limits import split_lines
from .project.access import Actor, acting
from .records.canonical import EMPTY, cut_moment, encode, freeze_text
from .records.finder import Finder
from .records.home import Home
from .records.proof import check_history, is_forged
from .records.rank import BUDGET_TOKENS, Recalled, choose
from .records.record import LIVE, Provenance, Record, RecordType, State, is_id
from .records.seen import Seen
from .records.signing import Identity, Signer, sign_record
from .records.store import DirectoryStore, RecordStore, Redacting
from .records.usage import COUNTS_ELSEWHERE, Usage, read_counts
from .search.opening import open_index
from .search.port import Embedder, SearchIndex
from .text.ids import complete

if TYPE_CHECKING:
    from .consolidation.decay import Rates
    from .consolidation.duplicates import Echoes
    from .consolidation.pipeline import Operators
    from .consolidation.proposals import Action, Operator, Outcome, Report
    from .formats.signed_file import SignedMemoryFile

CONSOLIDATE_EVERY = 4
"""After so many new records, these are compared with the ones that resemble them; less often among thousands."""

_ALIKE = 16
_TRIES = 10
_MILLISECOND = timedelta(milliseconds=1)


def _utc_now() -> datetime:
    return datetime.now(UTC)


class Memory:
    """The records of one agent, or of one project. Threads may share it, and processes its directory.

    Args:
        path: the memory directory; without one and without a store, that of the project around the current folder.
            Nothing is created before the first record.
        store: where the records are instead.
        indexes: what finds records; by default an index of their words.
        embedder: finds them by similar meaning too, in the default index.
        extractor: what makes records of a text; without one a text becomes one fact, word for word.
        operators: who proposes what becomes of records; see `Operators`. Without them, those that need no model.
        identity: who signs every version that is written and every export: the path of an identity file, which is
            created when it does not exist, or a signer.
        actor: who acts; an agent that may write nowhere changes no record either.
        consolidate_every: after how many new records these are compared with the ones that resemble them; 0: only
            `consolidate` does that.
        clock: what says how late it is.

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
        clock: Callable[[], datetime] = _utc_now,
    ) -> None:
        self._home = Home(path, actor=acting(actor))
        self._is_at_home = store is None
        self._store: RecordStore = DirectoryStore(self._home.root, self._home.parts) if store is None else store
        self._indexes = tuple(indexes or ())
        self._embedder = embedder
        self._finder: Finder | None = None
        self._usage = Usage()
        self._extractor = extractor
        self._operators = operators
        self._consolidate_every = consolidate_every
        self._fresh: list[Record] = []
        if isinstance(identity, (str, os.PathLike)):
            identity = Identity.load_or_create(os.fspath(identity))
        self._identity: Signer | None = identity
        self._clock = clock
        self._last = datetime.min.replace(tzinfo=UTC)
        self._lock = threading.RLock()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the files beside the records. The next call opens them again."""
        with self._lock:
            self._usage.close()
            if self._finder is not None:
                self._finder.close()

    @property
    def path(self) -> str | None:
        """The memory directory; None where the records are in a store that was given."""
        return self._home.path if self._is_at_home else None

    @property
    def store(self) -> RecordStore:
        """The store of the records."""
        return self._store

    # -- two calls ---------------------------------------------------------------------------------------------------

    def remember(self, text: str, *, tags: Sequence[str] = (), source: str | None = None) -> RememberedRecord:
        """Keep a text as a record. One that is there already, and still holds, is counted as used and gets the tags.

        Args:
            text: what to keep; its outer blanks do not count.
            tags: words to find it by.
            source: where it comes from.

        Raises:
            RefusedText, SecretFound: this may not be kept; the message says why.
            AccessDenied, Disabled: the actor may not change records, or memory is switched off.
            StorageError: it was not written.
        """
        from .consolidation.extractors import WholeText
        from .consolidation.write import take_in

        if isinstance(tags, str):
            raise InvalidArgument("tags is a list of texts, not one text")
        if not isinstance(text, str):
            raise InvalidArgument(f"what is remembered must be text, not {type(text).__name__}")
        with self._lock:
            allow = self._home.check_may_change()
            body = freeze_text("\n".join(split_lines(text.strip())))
            for what, said in (("text", body), ("source", source), *(("tag", tag) for tag in tags)):
                if said is not None:
                    self._home.check_text(said, what)
            finder = self._look(hurried=True)
            address = None if self._identity is None else self._identity.address
            outcome = take_in(
                body,
                extractor=WholeText() if self._extractor is None else self._extractor,
                provenance=Provenance("conversation", source, address),
                known=() if finder is None else finder.ids,
                now=self._now(),
                tags=tags,
                allow=allow,
            )
            kept = [self._keep(record) for record in outcome.writes]
            added = tuple(record.id for record, is_new in kept if is_new)
            known = tuple(dict.fromkeys([*outcome.reinforced, *(record.id for record, is_new in kept if not is_new)]))
            self._usage.count(known, self._last)
            self._fresh += [record for record, is_new in kept if is_new]
            return RememberedRecord(
                kept[0][0].id if kept else next(iter(known), ""),
                added,
                known,
                tuple(action.reason for action in outcome.report.refused),
                self._consolidate_fresh(),
            )

    def add(self, record: Record, *, apply: bool = True) -> tuple[str, bool]:
        """Take in a record that was made elsewhere; return the id of the one that holds it here, and whether it is new.

        One whose id is here, or whose text a live record says word for word, is not taken in again. One that is signed
        keeps its signature. Without `apply` this only says what would become of it.

        Raises:
            RefusedText, SecretFound: it may not be kept; the message says why.
            AccessDenied, Disabled: the actor may not change records, or memory is switched off.
            StorageError: it was not written.
        """
        said = [("text", record.body), ("source", record.provenance.ref), *(("tag", tag) for tag in record.tags)]
        said.append(("slots", None if not record.slots else encode(record.slots).decode()))
        with self._lock:
            self._check_pass(apply)
            for what, text in said:
                if text:
                    self._home.check_text(text, what)
            finder = self._look(hurried=True)
            if finder is not None:
                if record.id in finder.every_id:
                    return record.id, False
                for same in finder.saying(record.body):
                    if same.state in LIVE and record.state in LIVE:
                        return same.id, False
            if apply and record.signed:
                self._store.put(record)
                self._wrote(record)
            elif apply:
                self._put(record)
            return record.id, True

    def recall(self, query: str, *, budget_tokens: int = BUDGET_TOKENS, include_history: bool = False) -> Recalled:
        """Return what the memory knows about something, best first: whole records, as many as fit.

        Of a dispute both sides come, or none.

        Args:
            query: what to look for; any text.
            budget_tokens: how many tokens the prompt block may have.
            include_history: whether to show what was replaced or archived, too.

        Raises:
            InvalidArgument: the budget is no positive number.
            StorageError: the records cannot be listed. One that cannot be read is left out, and said to be.
        """
        if budget_tokens < 1:
            raise InvalidArgument(f"a budget of {budget_tokens} tokens holds nothing; give a positive number")
        with self._lock:
            recalled = self._recall(query, budget_tokens, include_history=include_history)
            self._usage.count(recalled.ids, self._clock())
            return recalled

    def search(self, query: str, *, limit: int = 10, include_history: bool = False) -> Recalled:
        """Return at most so many records as `recall` does, of any size, for somebody who looks; that is no use of them.

        Raises:
            InvalidArgument: the limit is no positive number.
            StorageError: as for `recall`.
        """
        if limit < 1:
            raise InvalidArgument(f"a limit of {limit} shows nothing; give a positive number")
        with self._lock:
            found = self._recall(query, sys.maxsize, include_history=include_history)
            return replace(found, hits=found.hits[:limit], left_out=max(len(found.hits) - limit, 0))

    def _recall(self, query: str, budget_tokens: int, *, include_history: bool) -> Recalled:
        finder = self._look() if self._home.is_on() else None
        if finder is None:
            return Recalled(query)
        found = finder.find(query, include_history=include_history)
        uses = self._usage.of(one.record.id for one in found)
        recalled = choose(
            query,
            [replace(one, uses=uses[one.record.id].count) if one.record.id in uses else one for one in found],
            finder.linked(found, include_history=include_history),
            budget_tokens=budget_tokens,
            include_history=include_history,
            now=self._clock(),
            is_forged=is_forged,
        )
        return replace(recalled, problems=finder.problems)

    # -- deciding ----------------------------------------------------------------------------------------------------

    def resolve(self, loser_id: str, winner_id: str, reason: str) -> tuple[Record, Record]:
        """Decide a dispute: the winner holds, the loser is replaced by it and stays readable; return loser and winner.

        Raises:
            IllegalMove: they are not the two sides of one dispute, or no reason is given.
            UnknownRecord: there is no such record.
            RefusedText, SecretFound, AccessDenied, Disabled, StorageError: as for `remember`.
        """
        from .consolidation.pipeline import resolve

        def plan() -> tuple[Outcome, dict[str, Record]]:
            concerned = {one: self._store.get(one) for one in (loser_id, winner_id)}
            concerned |= self._rules_on(concerned)
            decided = resolve(concerned.values(), winner=winner_id, loser=loser_id, reason=reason, now=self._now())
            for action in decided.report.refused:
                raise IllegalMove(action.reason)
            return decided, concerned

        with self._lock:
            self._check_change(reason)
            with self._alone():
                self._carry_out(plan)
            return self._store.get(loser_id), self._store.get(winner_id)

    def redact(self, record_id: str, reason: str) -> Record:
        """Take the content of a record away for good, in every version and every index; return what is left.

        What other records say stays, those too that were made of this one: ask `echoes` before.

        Raises:
            IllegalMove: no reason is given.
            UnknownRecord: there is no such record.
            Refused: the store cannot redact.
            RefusedText, SecretFound, AccessDenied, Disabled, StorageError: as for `remember`.
        """
        with self._lock:
            self._check_change(reason)
            if not isinstance(self._store, Redacting):
                raise Refused(f"{type(self._store).__name__} cannot redact; take the content out of it by hand")
            with self._alone():
                finder = self._look()
                if finder is not None:
                    finder.forget()  # before and after: nothing may be left in it, wherever this ends
                tombstone = self._store.redact(record_id, reason=reason, now=self._now())
                if finder is not None:
                    finder.wrote(tombstone)
                    finder.forget()
                self._usage.forget(record_id)
                self._carry_out(lambda: self._plan_flags(tombstone))
            return tombstone

    def sign(self, ids: Iterable[str] = ()) -> tuple[Record, ...]:
        """Sign the newest version of these records, or of all that nobody has signed; return what was signed.

        Raises:
            InvalidArgument: the memory has no identity.
            UnknownRecord, AccessDenied, Disabled, StorageError: as above.
        """
        with self._lock:
            self._home.check_may_change()
            if self._identity is None:
                raise InvalidArgument("there is no identity to sign with; name an identity file")
            named = [self._store.get(one) for one in ids]
            records = named or [record for record in self._store.list() if not record.signed]
            return tuple(self._put(record, after=record) for record in records if not record.redacted)

    # -- looking after the records -----------------------------------------------------------------------------------

    def consolidate(self, *, apply: bool = True) -> Report:
        """Merge what says the same, mark what contradicts, make rules of what happens again, and flag rules in doubt.

        No contradiction is decided, unless `operators` has somebody who does. Without `apply` nothing is written, and
        the report says what would be.

        Raises:
            StorageError: a record cannot be read, or something was not written. What was done is whole; call it again.
            AccessDenied, Disabled: as for `remember`.
        """
        from .consolidation.pipeline import consolidate

        with self._lock:
            allow = self._check_pass(apply)

            def plan() -> tuple[Outcome, dict[str, Record]]:
                records = self._store.list()
                outcome = consolidate(records, now=self._now(), operators=self._operators, allow=allow)
                return outcome, {record.id: record for record in records}

            if not apply:
                return plan()[0].report
            with self._alone():
                report = self._carry_out(plan)
            self._fresh.clear()
            return report

    def decay(self, *, apply: bool = True, rates: Rates | None = None) -> Report:
        """Archive what nobody has needed for long; the report names what is protected, too.

        Without `apply` nothing is written, and the report says what would be. Raises as `consolidate`.
        """
        from .consolidation.decay import Touch, decay

        with self._lock:
            self._check_pass(apply)
            self._look()

            def plan() -> tuple[Outcome, dict[str, Record]]:
                records = self._store.list()
                touches = {one: Touch(uses.count, uses.last) for one, uses in self._usage.all().items()}
                outcome = decay(records, now=self._now(), touches=touches, rates=rates)
                return outcome, {record.id: record for record in records}

            if not apply:
                return plan()[0].report
            with self._alone():
                return self._carry_out(plan)

    # -- reading -----------------------------------------------------------------------------------------------------

    def records(
        self, *, state: State | str | None = None, type: RecordType | str | None = None, tag: str | None = None
    ) -> tuple[Record, ...]:
        """Return the newest version of the records that meet every condition given, by birth.

        Raises:
            InvalidArgument: there is no such state or type.
            StorageError: one cannot be read.
        """
        try:
            in_state = None if state is None else State(state)
            of_type = None if type is None else RecordType(type)
        except ValueError as error:
            raise InvalidArgument(f"{error}; states are {', '.join(State)}, types {', '.join(RecordType)}") from error
        return self._store.list(state=in_state, type=of_type, tag=tag) if self._home.is_on() else ()

    def history(self, record_id: str) -> tuple[Record, ...]:
        """Return every version of a record, oldest first.

        Raises:
            UnknownRecord: there is no such record.
            Disabled: memory is switched off.
            StorageError: one cannot be read, or is missing.
        """
        self._home.check_is_on()
        return self._store.history(record_id)

    def find_id(self, start: str) -> str:
        """Return the one id that begins so, with or without its `mem:`; four characters behind that are the fewest.

        Raises:
            UnknownRecord: no id begins so.
            InvalidArgument: several do, or it is too short.
        """
        digits = start.removeprefix("mem:")
        if is_id(f"mem:{digits}"):
            return f"mem:{digits}"
        with self._lock:
            finder = self._look() if self._home.is_on() else None
            known = {} if finder is None else {one.removeprefix("mem:"): one for one in finder.ids}
            found = complete(digits, known, lambda one: finder.text_of(known[one]) if finder else "")
        if found is None:
            raise UnknownRecord(f"no record begins with {ascii(start)[1:-1][:40]}; `amp record list` shows them")
        return known[found]

    def saying(self, text: str) -> tuple[Record, ...]:
        """Return the records that say exactly this, in whatever state."""
        with self._lock:
            finder = self._look() if self._home.is_on() else None
            return () if finder is None else finder.saying(freeze_text(text))

    def echoes(self, record_id: str) -> Echoes:
        """Return the other records that hold what this one says, or may: what `redact` would leave of it.

        Raises:
            UnknownRecord: there is no such record.
            StorageError: it cannot be read, or is missing.
        """
        from .consolidation.duplicates import Echoes, find_echoes

        with self._lock:
            record = self._store.get(record_id)
            finder = self._look() if self._home.is_on() else None
            return Echoes() if finder is None else find_echoes(record, finder.everything())

    def status(self) -> MemoryStatus:
        """Count what there is."""
        with self._lock:
            finder = self._look() if self._home.is_on() else None
            records = [] if finder is None else finder.everything()
            return MemoryStatus(
                len(records),
                dict(Counter(record.state.value for record in records)),
                dict(Counter(record.type.value for record in records)),
                len({frozenset(one.transition.sides) for one in records if one.transition is not None}),
                () if finder is None else finder.problems,
            )

    def verify(self) -> None:
        """Return if every version of every record can be read, may stand there, and verifies where it is signed.

        Raises:
            StorageError, BadSignature: the first thing that does not verify.
            MissingExtra: something is signed, and PyNaCl is not installed.
            Disabled: memory is switched off.
        """
        with self._lock:
            for one in self._every_id():
                check_history(self._store.history(one))

    def check(self) -> Checked:
        """Verify everything as `verify` does, and return all that is wrong.

        Raises:
            MissingExtra, Disabled: as for `verify`.
        """
        records = versions = signed = 0
        problems = []
        with self._lock:
            for one in self._every_id():
                try:
                    history = self._store.history(one)
                    records, versions = records + 1, versions + len(history)
                    signed += sum(version.signed for version in history)
                    check_history(history)
                except (StorageError, BadSignature) as error:
                    problems.append(str(error))
        return Checked(records, versions, signed, tuple(problems))

    def export(self, path: str | os.PathLike[str] | None = None) -> SignedMemoryFile:
        """Return the newest version of every record as one file, signed where the memory has an identity.

        With a path it is written there, in the place of what was there before.

        Raises:
            Disabled: memory is switched off.
            BadSignature: a record claims a signature that does not verify; nobody could load the file.
            StorageError: a record cannot be read, or the file cannot be written.
        """
        from .formats.signed_file import SignedMemoryFile

        with self._lock:
            self._home.check_is_on()
            records = self._store.list()
            for record in records:
                if is_forged(record):
                    raise BadSignature(
                        f"{record.id}: its signature does not verify; restore it, or sign it anew if it is right, "
                        f"as with `amp record sign {record.id}`"
                    )
            file = SignedMemoryFile(created_at=self._clock(), records=records)
            if self._identity is not None:
                file = file.sign(self._identity)
        if path is not None:
            _write(os.path.abspath(os.fspath(path)), file.to_bytes())
        return file

    def _every_id(self) -> tuple[str, ...]:
        self._home.check_is_on()
        finder = self._look()
        return () if finder is None else finder.every_id

    # -- steps -------------------------------------------------------------------------------------------------------

    def _now(self) -> datetime:
        """Return a moment for what is written: none twice, so that what came later is later in every list."""
        self._last = max(cut_moment(self._clock()), self._last + _MILLISECOND)
        return self._last

    def _check_change(self, reason: str) -> None:
        self._home.check_may_change()
        self._home.check_text(reason, "reason")

    def _check_pass(self, apply: bool) -> tuple[str, ...]:
        """Return the fingerprints of what is no secret, if a pass may be made."""
        return self._home.check_may_change() if apply else self._home.check_is_on()

    @contextmanager
    def _alone(self, wait: float = 10.0) -> Iterator[None]:
        """Keep other processes from deciding at the same time, where the records are a memory directory."""
        if not (self._is_at_home and self._home.has_records()):
            yield
            return
        with self._home.alone(wait):
            yield

    def _keep(self, record: Record) -> tuple[Record, bool]:
        """Store a new record; where one says the same and holds, give that one the tags instead."""
        for _ in range(_TRIES):
            same = self._standing(record)
            if same is None:
                try:
                    return self._put(record), True
                except IllegalMove:
                    # Another process has just made the very same record, and it has gone further already.
                    return self._store.get(record.id), False
            tags = tuple(dict.fromkeys([*same.tags, *record.tags]))
            if tags == same.tags:
                return same, False
            now = max(self._last, same.updated_at)
            with suppress(ChangedMeanwhile):
                tagged = replace(same, tags=tags, updated_at=now, signed_by=None, signature="")
                return self._put(tagged, after=same), False
        raise ChangedMeanwhile(f"{record.body[:40]!a}: others change what says so all the time; try again")

    def _standing(self, record: Record) -> Record | None:
        """Return the record that says what a new one would say, and holds."""
        found = () if self._finder is None else self._finder.saying(record.body)
        for same in found:
            if same.state in LIVE and same.type is record.type and record.slots in (EMPTY, same.slots):
                return same
        return None

    def _carry_out(self, plan: Callable[[], tuple[Outcome, dict[str, Record]]]) -> Report:
        """Store what a plan comes to; where somebody was quicker, plan again. A plan says what it was made of."""
        done: list[Action] = []
        for _ in range(_TRIES):
            outcome, newest = plan()
            left = list(outcome.writes)
            try:
                while left:
                    newest[left[0].id] = self._put(left[0], after=newest.get(left[0].id))
                    del left[0]
            except ChangedMeanwhile as error:
                changed = error
                unwritten = {record.id for record in left}
                done += [action for action in outcome.report.done if unwritten.isdisjoint(action.ids)]
            else:
                return replace(outcome.report, done=(*done, *outcome.report.done))
        raise changed

    def _rules_on(self, ids: Iterable[str]) -> dict[str, Record]:
        finder = self._look()
        return {} if finder is None else finder.rules_on(ids)

    def _plan_flags(self, record: Record) -> tuple[Outcome, dict[str, Record]]:
        from .consolidation.pipeline import refresh_flags

        concerned = {**self._rules_on([record.id]), record.id: record}
        return refresh_flags(concerned.values(), now=self._now()), concerned

    def _consolidate_fresh(self) -> Report | None:
        """Compare new records with those that resemble them, when enough have come; what is missed now is found later.

        Rules are made of all episodes there are, so that is left to `consolidate`.
        """
        finder = self._finder
        every = max(self._consolidate_every, len(finder.ids) // 1000) if finder is not None else 0
        if finder is None or not self._consolidate_every or len(self._fresh) < every:
            return None
        from .consolidation.pipeline import Operators, consolidate

        fresh, self._fresh = self._fresh, []
        operators = replace(self._operators or Operators(), promotion=())

        def plan() -> tuple[Outcome, dict[str, Record]]:
            alike = finder.alike(fresh, _ALIKE)
            outcome = consolidate(alike.values(), now=self._now(), operators=operators, whole=False)
            return outcome, alike

        with suppress(StorageError), self._alone(wait=0):  # the records are kept, whatever becomes of this
            return self._carry_out(plan)
        return None

    def _put(self, record: Record, after: Record | None = None) -> Record:
        """Store a version, signed where there is an identity."""
        if self._identity is not None:
            record = sign_record(record, self._identity)
        self._store.put(record, after=after)
        self._wrote(record)
        return record

    def _wrote(self, record: Record) -> None:
        if self._finder is None:
            self._look()
        else:
            self._finder.wrote(record)

    def _look(self, *, hurried: bool = False) -> Finder | None:
        """Take in what others have written; None as long as there is nothing, and nothing is created for that."""
        if self._finder is None:
            if self._is_at_home and not self._home.has_records():
                return None
            self._finder = self._open_finder()
        self._finder.look(hurried=hurried)
        return self._finder

    def _open_finder(self) -> Finder:
        if not self._is_at_home:
            return Finder(Seen(self._store), self._indexes or (open_index(embedder=self._embedder),))
        local = self._home.local_file
        self._usage = Usage(local("usage.sqlite"), read_counts(self._home.read(COUNTS_ELSEWHERE)))
        return Finder(
            Seen(self._store, local("catalog.sqlite")),
            self._indexes or (open_index(local("search.sqlite"), embedder=self._embedder),),
        )


def _write(path: str, data: bytes) -> None:
    with Root.open(os.path.dirname(path), external_links=True) as root:
        parts = (os.path.basename(path),)
        content = root.read(parts)
        if content is None:
            create(root, parts, data)
        else:
            replace_file(root, parts, data, expected=content)

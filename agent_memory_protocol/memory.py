"""`Memory`: records with a lifecycle, behind two calls: remember, and recall.

It holds the order of the steps, and is where the clock and the disk are asked. What a record is, what may become of it,
and which records answer a query are rules, and stand elsewhere.
"""

import os
import threading
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from typing import Self

from .access import Actor
from .errors import BadSignature, InvalidArgument, Refused, StorageError, UnknownRecord
from .files import Root
from .formats.memory_file import SignedMemoryFile
from .limits import split_lines
from .memory_home import Home
from .record_finder import Finder
from .records import lifecycle
from .records.canonical import cut_moment, freeze_text
from .records.catalog import Catalog
from .records.proof import check_history
from .records.record import Provenance, Record, RecordType, State, is_id, new_record
from .records.signing import Identity, Signer, sign_record
from .records.store import DirectoryStore, RecordStore, Redacting
from .records.usage import COUNTS_ELSEWHERE, Usage, read_counts
from .retrieval import BUDGET_TOKENS, Recalled, choose
from .search.port import SearchIndex
from .search.scan import ScanIndex
from .writing import create
from .writing import replace as replace_file

_LIVE = (State.ACTIVE, State.TRANSITIONAL)
_CONFIDENCE = 0.9
_MILLISECOND = timedelta(milliseconds=1)


@dataclass(frozen=True, slots=True)
class RememberedRecord:
    """What came of remembering.

    Attributes:
        record_id: the record that says it.
        new: whether it was added; False where a record said so already, which was counted as used once more.
    """

    record_id: str
    new: bool


@dataclass(frozen=True, slots=True)
class MemoryStatus:
    """What there is in a memory.

    Attributes:
        records: the number of records.
        by_state, by_type: how many of them are in each state, and of each type.
        disputes: how many contradictions wait for a decision.
        problems: why a record cannot be read, one line each.
    """

    records: int
    by_state: dict[str, int]
    by_type: dict[str, int]
    disputes: int
    problems: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Checked:
    """What verifying has come to.

    Attributes:
        records, versions: how many could be read.
        signed: how many of the versions claim a signature.
        problems: what does not verify, one line each.
    """

    records: int
    versions: int
    signed: int
    problems: tuple[str, ...]


def _utc_now() -> datetime:
    return datetime.now(UTC)


class Memory:
    """The records of one agent, or of one project. Threads may share it, and processes its directory.

    Args:
        path: the memory directory; without one and without a store, that of the project around the current folder.
            Nothing is created before the first record.
        store: where the records are instead.
        indexes: what finds records.
        identity: who signs every version that is written and every export: the path of an identity file, which is
            created when it does not exist, or a signer.
        actor: who acts; an agent that may write nowhere changes no record either.
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
        identity: Signer | str | os.PathLike[str] | None = None,
        actor: Actor | None = None,
        clock: Callable[[], datetime] = _utc_now,
    ) -> None:
        self._home = Home(path, actor=actor or Actor())
        self._is_at_home = store is None
        self._store: RecordStore = DirectoryStore(self._home.root, self._home.parts) if store is None else store
        self._indexes = tuple(indexes or ())
        self._finder: Finder | None = None
        self._usage = Usage()
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
        if isinstance(tags, str):
            raise InvalidArgument("tags is a list of texts, not one text")
        with self._lock:
            self._home.check_may_change()
            body = freeze_text("\n".join(split_lines(text.strip())))
            for what, said in (("text", body), ("source", source), *(("tag", tag) for tag in tags)):
                if said is not None:
                    self._home.check_text(said, what)
            finder = self._look(hurried=True)
            now = self._now()
            for same in () if finder is None else finder.saying(body):
                if same.state in _LIVE:
                    self._tag(same, tags, now)
                    self._usage.count([same.id], now)
                    return RememberedRecord(same.id, new=False)
            address = None if self._identity is None else self._identity.address
            record = new_record(
                RecordType.FACT,
                body,
                provenance=Provenance("conversation", source, address),
                now=now,
                confidence=_CONFIDENCE,
                tags=tuple(dict.fromkeys(tags)),
            )
            self._put(record)
            return RememberedRecord(record.id, new=True)

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
            if not self._home.is_on():
                return Recalled(query)
            finder = self._look()
            if finder is None:
                return Recalled(query)
            now = self._clock()
            found = finder.find(query, include_history=include_history)
            uses = self._usage.of(one.record.id for one in found)
            recalled = choose(
                query,
                [replace(one, uses=uses[one.record.id].count) if one.record.id in uses else one for one in found],
                finder.linked(found, include_history=include_history),
                budget_tokens=budget_tokens,
                include_history=include_history,
                now=now,
            )
            self._usage.count(recalled.ids, now)
            return replace(recalled, problems=finder.problems)

    # -- deciding ----------------------------------------------------------------------------------------------------

    def resolve(self, loser_id: str, winner_id: str, reason: str) -> tuple[Record, Record]:
        """Decide a dispute: the winner holds, the loser is replaced by it and stays readable; return loser and winner.

        Raises:
            IllegalMove: they are not the two sides of one dispute, or no reason is given.
            UnknownRecord: there is no such record.
            RefusedText, SecretFound, AccessDenied, Disabled, StorageError: as for `remember`.
        """
        with self._lock:
            self._check_change(reason)
            loser, winner = self._store.get(loser_id), self._store.get(winner_id)
            won, lost = lifecycle.resolve(winner, loser, reason=reason, now=self._now())
            # The loser first: if this is the end, the winner is still disputed, and who asks again finishes it.
            return self._put(lost, after=loser) if lost != loser else loser, self._put(won, after=winner)

    def redact(self, record_id: str, reason: str) -> Record:
        """Take the content of a record away for good, in every version and every index; return what is left.

        What says the same elsewhere stays: `saying` finds it.

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
            tombstone = self._store.redact(record_id, reason=reason, now=self._now())
            self._wrote(tombstone)
            self._usage.forget(record_id)
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

    # -- reading -----------------------------------------------------------------------------------------------------

    def records(
        self, *, state: State | None = None, type: RecordType | None = None, tag: str | None = None
    ) -> tuple[Record, ...]:
        """Return the newest version of the records that meet every condition given, by birth.

        Raises:
            StorageError: one cannot be read.
        """
        return self._store.list(state=state, type=type, tag=tag) if self._home.is_on() else ()

    def history(self, record_id: str) -> tuple[Record, ...]:
        """Return every version of a record, oldest first.

        Raises:
            UnknownRecord: there is no such record.
            StorageError: one cannot be read, or is missing.
        """
        return self._store.history(record_id)

    def find_id(self, start: str) -> str:
        """Return the one id that begins so, with or without its `mem:`.

        Raises:
            UnknownRecord: no id begins so.
            InvalidArgument: several do.
        """
        wanted = f"mem:{start.removeprefix('mem:')}"
        if is_id(wanted):
            return wanted
        with self._lock:
            finder = self._look()
            found = [] if finder is None else [one for one in finder.ids if one.startswith(wanted)]
        if len(found) > 1:
            raise InvalidArgument(f"{len(found)} records begin with {ascii(start)[1:-1][:40]}; give more of the id")
        if not found or not start.removeprefix("mem:"):
            raise UnknownRecord(f"no record begins with {ascii(start)[1:-1][:40]}; `amp record list` shows them")
        return found[0]

    def saying(self, text: str) -> tuple[Record, ...]:
        """Return the records that say exactly this, in whatever state."""
        with self._lock:
            finder = self._look()
            return () if finder is None else finder.saying(freeze_text(text))

    def status(self) -> MemoryStatus:
        """Count what there is."""
        with self._lock:
            finder = self._look()
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
        """
        with self._lock:
            for one in self._every_id():
                check_history(self._store.history(one))

    def check(self) -> Checked:
        """Verify everything as `verify` does, and return all that is wrong. Raises only `MissingExtra`."""
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
            StorageError: a record cannot be read, or the file cannot be written.
        """
        with self._lock:
            file = SignedMemoryFile(created_at=self._clock(), records=self._store.list())
            if self._identity is not None:
                file = file.sign(self._identity)
        if path is not None:
            _write(os.path.abspath(os.fspath(path)), file.to_bytes())
        return file

    def _every_id(self) -> tuple[str, ...]:
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

    def _tag(self, record: Record, tags: Sequence[str], now: datetime) -> None:
        merged = tuple(dict.fromkeys((*record.tags, *map(freeze_text, tags))))
        if merged != record.tags:
            changed = replace(record, tags=merged, updated_at=max(now, record.updated_at), signed_by=None, signature="")
            self._put(changed, after=record)

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
            return Finder(self._store, Catalog(), self._indexes or (ScanIndex(),))
        self._usage = Usage(self._home.local_file("usage.sqlite"), read_counts(self._home.read(COUNTS_ELSEWHERE)))
        return Finder(self._store, Catalog(self._home.local_file("catalog.sqlite")), self._indexes or (ScanIndex(),))


def _write(path: str, data: bytes) -> None:
    with Root.open(os.path.dirname(path), external_links=True) as root:
        parts = (os.path.basename(path),)
        content = root.read(parts)
        if content is None:
            create(root, parts, data)
        else:
            replace_file(root, parts, data, expected=content)

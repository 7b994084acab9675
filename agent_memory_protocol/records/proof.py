"""Whether what a store holds of a record can be believed: its signatures, and that each version may follow the last."""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from datetime import datetime
from itertools import pairwise
from typing import NamedTuple

from ..errors import BadSignature, DamagedFile, IllegalMove, MissingExtra, StorageError, UnknownRecord
from ..values import dataclass
from .lifecycle import check_version
from .record import Record, State, Transition
from .signing import verify_record

FORGED, FOREIGN = "signature does not verify", "not signed by the owner"
SET_BACK = "set back, this machine has seen a newer version"
CHANGED = "changed by somebody else, see `amp record verify`"


def is_forged(record: Record) -> bool:
    """Say whether a record claims a signature that does not verify; where PyNaCl is not installed, nobody can say."""
    if record.signed:
        try:
            verify_record(record)
        except BadSignature:
            return True
        except MissingExtra:
            pass
    return False


def check_history(versions: Sequence[Record]) -> None:
    """Return if every version of a record that claims a signature verifies, and each may follow the one before.

    Raises BadSignature, or DamagedFile if the lifecycle does not allow a version where it is.
    """
    for number, version in enumerate(versions, start=1):
        if version.signed:
            try:
                verify_record(version)
            except BadSignature as error:
                raise BadSignature(f"{error} (version {number})") from None
    if any(version.redacted for version in versions):
        if len(set(versions)) > 1:
            raise DamagedFile(f"{versions[-1].id}: not every version of it is redacted; redact it again")
        return
    for number, (before, after) in enumerate(pairwise(versions), start=2):
        try:
            check_version(before, after)
        except IllegalMove as error:
            raise DamagedFile(f"{error} (version {number}); restore its folder from a backup") from None


class Owner:
    """Whose records a memory holds: what the owner has signed is not changed by what somebody else has signed.

    A change of state that nobody has signed holds: the record format clears the signature with such a change.

    Args:
        address: the owner's; without one, every newest version holds.
        history: returns the versions of a record, oldest first.
        has_writers: whether the store has several writers: then what any of them has signed holds.
    """

    def __init__(
        self, address: str | None, history: Callable[[str], Sequence[Record]], *, has_writers: bool = False
    ) -> None:
        self.address = address
        self._history = history
        self._has_writers = has_writers
        self._held: dict[str, tuple[Record, Record]] = {}  # the newest version of what was asked about, and what holds

    def hold(self, newest: Record) -> Record:
        """Return the version that holds: the last one of the owner where somebody else has changed that since."""
        if self.address is None or newest.redacted:
            return newest
        known = self._held.get(newest.id)
        if known is None or known[0] != newest:
            known = self._held[newest.id] = (newest, self._last_own(newest))
        return known[1]

    def _last_own(self, newest: Record) -> Record:
        if self._is_own(newest):
            return newest
        is_strange = False  # whether somebody else has signed a version after the last own one
        with suppress(StorageError):
            for version in reversed(self._history(newest.id)):
                if self._is_own(version):
                    return version if is_strange else newest
                is_strange = is_strange or version.signed
        return newest

    def _is_own(self, version: Record) -> bool:
        is_meant = version.signed and (self._has_writers or version.signed_by == self.address)
        return is_meant and not is_forged(version)

    def doubt(self, record: Record) -> str:
        """Return what has to be said of a version that holds and of its signature; "" for nothing."""
        newest, held = self._held.get(record.id, (record, record))
        if newest != record == held:
            return CHANGED
        if is_forged(record):
            return FORGED
        return FOREIGN if self.address is not None and is_foreign(record, (self.address,)) else ""


EVERYBODY = Owner(None, lambda _: ())


@dataclass(frozen=True, slots=True)
class Checked:
    """What was verified, and what was not.

    Attributes:
        records, versions: how many could be read.
        signed: how many versions are signed.
        problems: what does not verify, one line each.
        foreign: the ids of the records whose newest version the owner has not signed; empty where no owner is named.
        unproved: what no check here can show, one line each.
    """

    records: int
    versions: int
    signed: int
    problems: tuple[str, ...]
    foreign: tuple[str, ...] = ()
    unproved: tuple[str, ...] = ()


def check_histories(
    histories: Iterable[tuple[str, Callable[[], Sequence[Record]]]],
    *,
    owners: Collection[str] = (),
    mine: Collection[str] = (),
    vouched: bool = False,
    set_back: Callable[[Mapping[str, datetime | None]], Iterable[str]] = lambda _: (),
) -> Checked:
    """Check the history of each record, its links to the others and its owner, and return all that is wrong.

    Args:
        histories: the id of each record, and what reads its versions.
        owners: the addresses that must have signed the newest versions; without any, everybody may have.
        vouched: whether an owner has signed all of them together, so that only what another has signed is foreign.
        mine: without owners, the addresses of which only `foreign` says what they have not signed.
        set_back: says which of the newest versions, by their moments, are older than what was seen before.
    """
    # Of each record only this is kept: all of them as a whole would fill the memory of the machine.
    moments: dict[str, datetime | None] = {}
    links: dict[str, Links] = {}
    wrong: set[str] = set()
    foreign: dict[str, str] = {}
    versions = signed = unsigned = 0
    problems = []
    for name, read in histories:
        try:
            history = read()
            newest = history[-1]
            moments[name], links[name] = newest.updated_at, Links.of(newest)
            if (owners or mine) and not (vouched and not newest.signed) and is_foreign(newest, owners or mine):
                foreign[name] = _signer(newest)
            versions += len(history)
            signed += sum(version.signed for version in history)
            unsigned += not newest.signed
            check_history(history)
        except UnknownRecord:  # it was seen, and is gone: `set_back` says so
            continue
        except (StorageError, BadSignature) as error:
            problems.append(str(error))
            wrong.add(name)
            moments[name] = None
    problems += check_links(links, wrong)
    if owners:
        problems += [f"{name}: {signer}, and not by {' or '.join(sorted(owners))}" for name, signer in foreign.items()]
    problems += set_back(moments)
    unproved = ["what was never seen on this machine and is gone from the store"]
    if unsigned:
        unproved.append(f"who wrote the {unsigned:,} records whose newest version is not signed")
    if signed and not owners:
        unproved.append("that the signers are the owners; name them with --signer")
    return Checked(len(links), versions, signed, tuple(problems), tuple(foreign), tuple(unproved))


def is_foreign(record: Record, owners: Collection[str]) -> bool:
    """Say whether no owner has signed a record. What is redacted has nothing left to sign."""
    return record.signed_by not in owners and not record.redacted


class Links(NamedTuple):
    """What the newest version of a record says of others, and its state."""

    state: State
    successor: str | None
    replaced: str | None
    evidence: tuple[str, ...]
    transition: Transition | None

    @classmethod
    def of(cls, record: Record) -> "Links":
        """Return the links of a record; most records have none, and share theirs."""
        links = cls(record.state, record.superseded_by, record.supersedes, record.evidence, record.transition)
        return _NO_LINKS.get(links.state, links) if not any(links[1:]) else links

    def named(self) -> Iterator[str]:
        """Yield the ids of the records that it names."""
        sides = () if self.transition is None else self.transition.sides
        yield from filter(None, (self.successor, self.replaced, *self.evidence, *sides))


_NO_LINKS = {state: Links(state, None, None, (), None) for state in State}


def check_links(
    newest: Mapping[str, Links], wrong: Collection[str] = (), *, among: Iterable[str] | None = None
) -> Iterator[str]:
    """Say which records name one that is missing, or that does not fit what they say of it; of all, or `among` some.

    `wrong` are the ids of those that do not verify, of which that is said already.
    """
    for name, links in newest.items() if among is None else ((one, newest[one]) for one in among):
        if links is _NO_LINKS[links.state]:
            continue
        named = [("its successor", links.successor), ("what it replaced,", links.replaced)]
        for what, one in [*named, *(("its evidence", one) for one in links.evidence)]:
            if one is not None and one not in newest and one not in wrong:
                yield f"{name}: {what} {one} is missing; restore it from a backup"
        if links.successor in newest and _goes_round(name, newest):
            yield f"{name}: it and its successors replace each other in a circle, so none of them is recalled"
        if links.transition is not None:
            one, other = links.transition.sides
            partner = other if one == name else one
            side = newest.get(partner)
            if side is None and not wrong:
                yield f"{name}: the other side of its dispute is missing; restore it from a backup"
            elif side is not None and side.transition != links.transition and side.state is not State.ARCHIVED:
                said = f"{side.state}; consolidate finishes that"
                if side.transition is not None:
                    said = "in another dispute; decide that, and consolidate finishes this one"
                yield f"{name}: the other side of its dispute, {partner}, is {said}"


def _goes_round(name: str, newest: Mapping[str, Links]) -> bool:
    seen: set[str] = set()
    after: str | None = name
    while after is not None and after not in seen:
        seen.add(after)
        after = newest[after].successor if after in newest else None
    return after is not None


def _signer(record: Record) -> str:
    return f"is signed by {record.signed_by}" if record.signed_by else "is not signed"

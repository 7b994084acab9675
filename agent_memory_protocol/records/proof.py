"""Whether what a store holds of a record can be believed: its signatures, and that each version may follow the last."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise

from ..errors import BadSignature, DamagedFile, IllegalMove, MissingExtra, StorageError
from .lifecycle import check_version
from .record import Record
from .signing import verify_record
from .store import RecordStore


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
    """Return if every version of a record verifies that claims a signature, and each may follow the one before.

    Raises:
        BadSignature: a signature is wrong; the message says of which version.
        DamagedFile: the lifecycle does not allow a version where it is, so something else has put it there.
        MissingExtra: something is signed, and PyNaCl is not installed.
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


@dataclass(frozen=True, slots=True)
class Checked:
    """How many records and versions could be read, how many versions are signed, and what does not verify."""

    records: int
    versions: int
    signed: int
    problems: tuple[str, ...]


def check_histories(store: RecordStore, ids: Iterable[str]) -> Checked:
    """Check the history of each of these records, and return all that is wrong.

    Raises:
        MissingExtra: something is signed, and PyNaCl is not installed.
    """
    records = versions = signed = 0
    problems = []
    for one in ids:
        try:
            history = store.history(one)
            records, versions = records + 1, versions + len(history)
            signed += sum(version.signed for version in history)
            check_history(history)
        except (StorageError, BadSignature) as error:
            problems.append(str(error))
    return Checked(records, versions, signed, tuple(problems))

"""What becomes of a record when another store's newest version of it arrives: known, the next version, or a conflict.

Two stores with a common past may both have gone on. One side's state wins only where the lifecycle lets it follow the
other's; tags and evidence are joined. What cannot be joined stays as it is here, and the error says what differs.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace

from ..errors import IllegalMove
from .fields import FIELDS
from .lifecycle import check_version
from .record import LIVE, Record, State

Find = Callable[[str], Record | None]


def arrive(here: Sequence[Record], record: Record, find: Find) -> Record | None:
    """Return the version to add for a record that arrives; None if all that it says is known.

    `here` are the versions in this store, oldest first, and `find` returns the newest version of another record.
    Raises IllegalMove if both sides have gone on in ways that exclude each other.
    """
    newest = here[-1]
    if any(_content(version) == _content(record) for version in here[:-1]):
        return None
    if _content(newest) == _content(record):
        return record if record.signed and not newest.signed else None
    if newest.redacted or record.redacted:
        if newest.redacted and record.redacted:
            return None
        where, act = ("here", "its text stays out") if newest.redacted else ("in the file", "redact it here too")
        raise IllegalMove(f"{record.id} is redacted {where}; {act}")
    forward, backward = _may_follow(newest, record), _may_follow(record, newest)
    if forward and backward:  # the same state, or one that was left and entered again: the later version says which
        forward = (record.updated_at, record.to_bytes()) > (newest.updated_at, newest.to_bytes())
    elif not forward and not backward:
        raise IllegalMove(f"{record.id} {_differing(newest, record)}; it stays as it is")
    chosen, other = (record, newest) if forward else (newest, record)
    joined = _joined(chosen, other)
    if forward:
        _check_successor(record, find)
        if record.updated_at < newest.updated_at:
            joined = _unsigned(joined, newest)
    return None if joined == newest else joined


def _joined(chosen: Record, other: Record) -> Record:
    """Return a version with the tags and the evidence of both; as it is signed where it has them already."""
    if chosen.state not in LIVE:
        return chosen
    tags = tuple(dict.fromkeys([*chosen.tags, *other.tags]))
    evidence = tuple(dict.fromkeys([*chosen.evidence, *other.evidence]))
    if (tags, evidence) == (chosen.tags, chosen.evidence):
        return chosen
    return _unsigned(replace(chosen, tags=tags, evidence=evidence), other)


def _unsigned(record: Record, other: Record) -> Record:
    return replace(record, updated_at=max(record.updated_at, other.updated_at), signed_by=None, signature="")


def _may_follow(before: Record, after: Record) -> bool:
    try:
        check_version(before, after)
    except IllegalMove:
        return False
    return True


def _check_successor(record: Record, find: Find) -> None:
    """Refuse to let a record be replaced by one that it has itself replaced: both would be gone."""
    seen = {record.id}
    after = record.superseded_by
    while after is not None:
        if after in seen:
            raise IllegalMove(f"{record.id} is replaced by {record.superseded_by} in the file, and the reverse here")
        seen.add(after)
        successor = find(after)
        after = None if successor is None else successor.superseded_by


def _differing(here: Record, there: Record) -> str:
    """Say how a record here and one in a file exclude each other: by state, or by what never changes."""
    said, other = _said(here), _said(there)
    if said != other:
        return f"is {said} here and {other} in the file"
    names = [name for name in FIELDS if getattr(here, name) != getattr(there, name) and not name.startswith("sign")]
    return f"has another {' and '.join(names)} in the file than here"


def _said(record: Record) -> str:
    if record.state is State.SUPERSEDED:
        return f"replaced by {record.superseded_by}"
    if record.transition is not None:
        return f"disputed between {' and '.join(record.transition.sides)}"
    return record.state.value


def _content(record: Record) -> Record:
    """Return what a version says, no matter who has signed it."""
    return replace(record, signed_by=None, signature="") if record.signed else record

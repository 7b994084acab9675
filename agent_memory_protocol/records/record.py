"""Records: one remembered thing each, with a state, its links to others, and a name made from its content.

A record is a value. Whatever changes makes another version of it under the same id, because the id is a hash over
what was so at its birth: type, body, slots, provenance and moment. A record that breaks a rule of the format cannot
be made, so no caller checks one again. Fields we do not know are kept, written back and signed.
"""

import json
import re
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import field, replace
from datetime import datetime
from typing import Self

from ..errors import InvalidRecord
from ..text import marks
from ..text.dates import day_text
from ..text.moments import expired, is_expiry
from ..values import dataclass
from .canonical import EMPTY, Json, decode, encode, format_moment, freeze_object, thaw
from .fields import ANY, BIRTH, FIELDS, IF_SET, Provenance, RecordType, State, Transition, same

__all__ = [
    "CARRIED",
    "LIVE",
    "REDACTED_BODY",
    "REDACTION",
    "SCHEME",
    "WRITTEN",
    "Provenance",
    "Record",
    "RecordType",
    "State",
    "Transition",
    "address",
    "by_birth",
    "event_of",
    "is_id",
    "new_record",
    "revived",
]

WRITTEN = tuple(one.value for one in RecordType if one is not RecordType.RULE)
"""The types that somebody may say a text is. A rule rests on evidence, so it is made and not written."""

LIVE = (State.ACTIVE, State.TRANSITIONAL)  # The states of records that hold, disputed or not

SCHEME = "mem:"  # What every id begins with

REDACTED_BODY = "[redacted]"
REDACTION = "redaction"  # The kind of provenance that a tombstone has
CARRIED = "extra"  # The slot for the pairs that a record file carried beside a text, such as where the text was

_ID = re.compile(r"mem:[0-9a-f]{32}")
_FROZEN = [(name, each.types, each.freeze) for name, each in {**FIELDS, "extra": FIELDS["slots"]}.items()]
_SPELLED = [(name, None if each.write is same else each.write, name in IF_SET) for name, each in FIELDS.items()]
_BORN_WITH = [(name, FIELDS[name].write) for name in BIRTH]
_NEEDED = FIELDS.keys() - {*IF_SET}
_DIGEST = re.compile(r"[0-9a-f]{64}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Record:
    """One version of one record. The fields are those of the format; `extra` holds the ones it does not name.

    An id that is left empty is computed. Moments are cut to milliseconds, confidence to four digits.

    Raises:
        InvalidRecord: a rule of the format is broken; the message says every one that is.
    """

    id: str = ""
    type: RecordType
    body: str
    slots: Mapping[str, Json] = field(default_factory=dict, hash=False)
    state: State = State.ACTIVE
    confidence: float = 1.0
    created_at: datetime
    updated_at: datetime
    occurred_at: datetime | None = None
    provenance: Provenance
    evidence: tuple[str, ...] = ()
    supersedes: str | None = None
    superseded_by: str | None = None
    transition: Transition | None = None
    state_reason: str | None = None
    tags: tuple[str, ...] = ()
    flagged: bool = False
    flag_reason: str | None = None
    signed_by: str | None = None
    signature: str = ""
    redacted: bool = False
    redaction_reason: str | None = None
    birth_digest: str | None = None
    extra: Mapping[str, Json] = field(default_factory=dict, hash=False)

    def __post_init__(self) -> None:
        try:
            self._freeze()
        except (InvalidRecord, TypeError, ValueError) as error:
            raise InvalidRecord(f"{_called(self.id)}: {error}") from None
        digest = "" if self.redacted else self.digest()
        if not self.id and digest:
            object.__setattr__(self, "id", address(digest))
        problems = [*_check_name(self, digest), *_check_life(self)]
        if self.redacted:
            problems += _check_tombstone(self)
        elif self.redaction_reason is not None or self.birth_digest is not None:
            problems.append("redaction_reason and birth_digest belong to a redacted record only")
        if problems:
            raise InvalidRecord(f"{_called(self.id)}: {'; '.join(problems)}")

    def _freeze(self) -> None:
        for name, types, freeze in _FROZEN:
            value = getattr(self, name)
            if types is not ANY and not isinstance(value, types):
                raise InvalidRecord(f"{name} cannot be of type {type(value).__name__}")
            if freeze is not same and (frozen := freeze(value)) is not value:
                object.__setattr__(self, name, frozen)

    @classmethod
    def from_bytes(cls, data: bytes) -> Self:
        """Read the canonical bytes of a record, and nothing else that means the same."""
        record = cls.from_json(decode(data))
        if record.to_bytes() != data:
            raise InvalidRecord(f"{record.id}: these are not its canonical bytes; something has rewritten them")
        return record

    @classmethod
    def from_json(cls, value: object) -> Self:
        """Make a record from a parsed JSON object that has every field; InvalidRecord says all that is wrong."""
        if not isinstance(value, Mapping):
            raise InvalidRecord("a record is a JSON object")
        called = _called(value.get("id"))
        missing = _NEEDED - value.keys()
        problems = [f"{name} is missing" for name in FIELDS if name in missing] if missing else []
        problems += [
            f"{name} must be {each.expected}"
            for name, each in FIELDS.items()
            if name in value and not each.fits(value[name])
        ]
        if problems:
            raise InvalidRecord(f"{called}: {'; '.join(problems)}")
        try:
            given = {
                name: value[name] if each.read is same else each.read(value[name])
                for name, each in FIELDS.items()
                if name in value
            }
        except InvalidRecord as error:
            raise InvalidRecord(f"{called}: {error}") from None
        extra = {name: item for name, item in value.items() if name not in FIELDS} if len(given) < len(value) else EMPTY
        record = cls(**given, extra=extra)
        if not given["id"]:
            raise InvalidRecord(f"{record.id}: id is empty")
        return record

    def to_bytes(self) -> bytes:
        """Return the canonical bytes, as they are in a file."""
        return encode(self.wire())

    def to_json(self) -> dict[str, object]:
        """Return the record as a JSON object, its fields in the order of the format."""
        return {name: thaw(item) for name, item in self.wire().items()}

    def payload(self) -> dict[str, Json]:
        """Return what a signature covers: everything but the signature."""
        wire = self.wire()
        del wire["signature"]
        return wire

    def digest(self) -> str:
        """Return the hash over what was so at birth, which names the record; for a redacted one it means nothing."""
        from hashlib import sha256

        birth = {name: write(getattr(self, name)) for name, write in _BORN_WITH}
        return sha256(encode(birth)).hexdigest()

    def __reduce__(self) -> tuple[Callable[[bytes], Self], tuple[bytes]]:
        return type(self).from_bytes, (self.to_bytes(),)

    @property
    def signed(self) -> bool:
        """Whether it claims to be signed; `signing.verify_record` says whether it is."""
        return self.signed_by is not None or self.signature != ""

    def wire(self) -> dict[str, Json]:
        """Return the record as it is spelled in files, its fields in the order of the format, ready for `encode`."""
        wire: dict[str, Json] = {}
        for name, write, is_optional in _SPELLED:
            value = getattr(self, name)
            if value or not is_optional:
                wire[name] = value if write is None else write(value)
        wire.update(self.extra)
        return wire


def new_record(
    type: RecordType,
    body: str,
    *,
    provenance: Provenance,
    now: datetime,
    slots: Mapping[str, object] | None = None,
    confidence: float = 1.0,
    occurred_at: datetime | None = None,
    evidence: tuple[str, ...] = (),
    supersedes: str | None = None,
    tags: tuple[str, ...] = (),
) -> Record:
    """Return a record as it is born at `now`: active, unflagged, unsigned. Raises as `Record` does."""
    return Record(
        type=type,
        body=body,
        slots=freeze_object(slots or {}),
        confidence=confidence,
        created_at=now,
        updated_at=now,
        occurred_at=occurred_at,
        provenance=provenance,
        evidence=evidence,
        supersedes=supersedes,
        tags=tags,
    )


def revived(old: Record, *, reason: str, now: datetime) -> Record:
    """Return a record that is born at `now` and says what an older one said, which it names."""
    record = new_record(
        old.type,
        old.body,
        provenance=Provenance(old.provenance.kind, f"reactivate:{old.id}", old.provenance.agent),
        now=now,
        slots=thaw(old.slots),  # type: ignore[arg-type]
        confidence=old.confidence,
        occurred_at=old.occurred_at,
        evidence=old.evidence,
        supersedes=old.id,
        tags=old.tags,
    )
    return replace(record, state_reason=reason)


def by_birth(record: Record) -> tuple[datetime, str]:
    """Return what records are ordered by: when they were born, and then their id."""
    return (record.created_at, record.id)


def event_of(record: Record) -> tuple[str | None, str | None] | None:
    """Return when an event happened and who tells of it; in the same words it may happen again. None for all else."""
    if record.type is not RecordType.EPISODE:
        return None
    return format_moment(record.occurred_at or record.created_at), record.provenance.ref


def slots_said(record: Record) -> Mapping[str, Json]:
    """Return the slots that are part of what a record says: all but the pairs under `CARRIED`."""
    if not isinstance(record.slots.get(CARRIED), Mapping):
        return record.slots
    return {name: value for name, value in record.slots.items() if name != CARRIED}


def until_of(record: Record) -> str:
    """Return the day or moment up to which what a record says holds; "" without an end. An entry it was had a mark."""
    said = _carried(record, "until") or _carried(record, "expires_at")
    return said if is_expiry(said) else ""


def has_expired(record: Record, now: datetime) -> bool:
    """Say whether an end of what a record says is over at `now`: one that came with it, or a mark in its text."""
    ends = [_carried(record, "until"), _carried(record, "expires_at")]
    if record.body.startswith("["):
        last = marks.read(record.body.partition("\n\n")[0]).until
        ends += [] if last is None else [day_text(last)]
    return any(expired(end, now) for end in ends)


def came_disputed(record: Record) -> bool:
    """Say whether a record came from an entry marked `[disputed]`, and nobody has decided that since."""
    return bool(_carried(record, "disputed")) and record.transition is None and record.state_reason is None


def headings_of(record: Record) -> tuple[str, ...]:
    """Return the headings that an entry or a page had above what became this record; () where nothing says so."""
    with suppress(ValueError, RecursionError):
        found = json.loads(_carried(record, "headings") or "[]")
        return tuple(one for one in found if isinstance(one, str)) if isinstance(found, list) else ()
    return ()


def _carried(record: Record, name: str) -> str:
    if not record.slots:
        return ""
    pairs = record.slots.get(CARRIED)
    said = pairs.get(name) if isinstance(pairs, Mapping) else None
    return said if isinstance(said, str) else ""


def address(digest: str) -> str:
    """Return the id of a record whose birth has this hash."""
    return f"{SCHEME}{digest[:32]}"


def is_id(text: object) -> bool:
    """Say whether a text is spelled like the id of a record."""
    return isinstance(text, str) and _ID.fullmatch(text) is not None


# The rules


def _check_name(record: Record, digest: str) -> list[str]:
    problems = []
    if record.redacted:
        digest = record.birth_digest or ""
        if not _DIGEST.fullmatch(digest):
            problems.append("a redacted record needs the birth_digest of what it was, 64 hex digits")
    if not problems and record.id != address(digest):
        problems.append(f"its id is not that of its content, {address(digest)}")
    unknown = set(record.extra) & set(FIELDS)
    if unknown:
        problems.append(f"extra fields may not be called {', '.join(sorted(unknown))}")
    return problems


def _check_life(record: Record) -> list[str]:
    transition = record.transition
    problems = {
        "a rule needs evidence": record.type is RecordType.RULE and not record.evidence,
        "a link to another record is empty": "" in (*record.evidence, record.supersedes, record.superseded_by),
        "a transitional record, and no other, has a transition": (
            (record.state is State.TRANSITIONAL) != (transition is not None)
        ),
        "its transition does not name it as a side": transition is not None and record.id not in transition.sides,
        "a superseded record must name its successor in superseded_by": (
            record.state is State.SUPERSEDED and record.superseded_by is None
        ),
        f"a record that is {record.state} has no superseded_by": (
            record.state in LIVE and record.superseded_by is not None
        ),
        "only a rule can be flagged": record.flagged and record.type is not RecordType.RULE,
    }
    return [problem for problem, is_there in problems.items() if is_there]


def _check_tombstone(record: Record) -> list[str]:
    # Nothing ties this content to the id any more, so anybody could have made up what is here.
    content = (record.body, record.slots, record.tags, record.occurred_at, record.confidence, record.provenance)
    bare = (REDACTED_BODY, EMPTY, (), None, 0.0, Provenance(REDACTION))
    problems = {
        "a redacted record is archived": record.state is not State.ARCHIVED,
        "a redacted record needs a redaction_reason": not record.redaction_reason,
        "a redacted record has no content: no body, slots, tags, occurred_at, confidence, provenance": content != bare,
    }
    return [problem for problem, is_there in problems.items() if is_there]


def _called(id: object) -> str:
    return id if isinstance(id, str) and is_id(id) else "record"

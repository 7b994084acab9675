"""Records: one remembered thing each, with a state, its links to others, and a name made from its content.

A record is a value. Whatever changes makes another version of it under the same id, because the id is a hash over
what was so at its birth: type, body, slots, provenance and moment. A record that breaks a rule of the format cannot
be made, so nobody who holds one checks it again. Fields we do not know are kept, written back and signed.
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from functools import lru_cache
from typing import Self

from ..errors import InvalidRecord
from .canonical import (
    EMPTY,
    Json,
    cut_moment,
    decode,
    encode,
    format_moment,
    freeze_object,
    freeze_text,
    no_fields,
    parse_moment,
    thaw,
)
from .spelling import IF_SET, LINKS_AND_REASONS, MOMENTS, SPELLINGS, RecordType, State

__all__ = [
    "CARRIED",
    "LIVE",
    "REDACTED_BODY",
    "REDACTION",
    "Provenance",
    "Record",
    "RecordType",
    "State",
    "Transition",
    "address",
    "is_id",
    "new_record",
]

LIVE = (State.ACTIVE, State.TRANSITIONAL)
"""The states of records that hold, disputed or not."""

REDACTED_BODY = "[redacted]"
REDACTION = "redaction"
"""The kind of provenance that a tombstone has."""

CARRIED = "extra"
"""The slot for the pairs that a record file carried beside a text, such as where it stood."""

_ID = re.compile(r"mem:[0-9a-f]{32}")
_DIGEST = re.compile(r"[0-9a-f]{64}")


@dataclass(frozen=True, slots=True)
class Provenance:
    """Where a record comes from.

    Attributes:
        kind: the kind of source, in free words: conversation, observation, tool, consolidation, import, …
        ref: the source itself, when it can be named.
        agent: the address of the agent that wrote it, when it has one.
    """

    kind: str
    ref: str | None = None
    agent: str | None = None

    def __post_init__(self) -> None:
        if not self.kind:
            raise InvalidRecord("provenance.kind is empty")
        _freeze_texts(self, "kind", "ref", "agent")

    def wire(self) -> dict[str, Json]:
        """Return it as it is spelled in a record."""
        return {"kind": self.kind, "ref": self.ref, "agent": self.agent}


@dataclass(frozen=True, slots=True)
class Transition:
    """A contradiction that nobody has decided yet: the ids of its two sides, and why they cannot both hold."""

    sides: tuple[str, str]
    reason: str

    def __post_init__(self) -> None:
        sides = tuple(freeze_text(side) for side in self.sides)
        if len(sides) != 2 or sides[0] == sides[1] or not all(sides):
            raise InvalidRecord("transition.sides must name exactly two different records")
        if not self.reason:
            raise InvalidRecord("transition.reason is empty")
        object.__setattr__(self, "sides", sides)
        _freeze_texts(self, "reason")

    def wire(self) -> dict[str, Json]:
        """Return it as it is spelled in a record."""
        return {"sides": self.sides, "reason": self.reason}


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
    slots: Mapping[str, Json] = field(default_factory=no_fields, hash=False)
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
    extra: Mapping[str, Json] = field(default_factory=no_fields, hash=False)

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
        put = object.__setattr__
        for name, kinds in _KINDS.items():
            if not isinstance(getattr(self, name), kinds):
                raise InvalidRecord(f"{name} cannot be of type {type(getattr(self, name)).__name__}")
        put(self, "type", RecordType(self.type))
        put(self, "state", State(self.state))
        put(self, "confidence", _cut_confidence(self.confidence))
        put(self, "created_at", cut_moment(self.created_at))
        put(self, "updated_at", cut_moment(self.updated_at))
        if self.occurred_at is not None:
            put(self, "occurred_at", cut_moment(self.occurred_at))
        put(self, "body", freeze_text(self.body))
        put(self, "signature", freeze_text(self.signature))
        put(self, "slots", freeze_object(self.slots))
        put(self, "extra", freeze_object(self.extra))
        put(self, "evidence", _freeze_list(self.evidence))
        put(self, "tags", _freeze_list(self.tags))
        _freeze_texts(self, *LINKS_AND_REASONS, "redaction_reason", "birth_digest")

    @classmethod
    def from_bytes(cls, data: bytes) -> Self:
        """Read the canonical bytes of a record, and nothing else that means the same.

        Raises:
            InvalidRecord: they are no record, or spell one in another way than the canonical one.
        """
        record = cls.from_json(decode(data))
        if record.to_bytes() != data:
            raise InvalidRecord(f"{record.id}: these are not its canonical bytes; something has rewritten them")
        return record

    @classmethod
    def from_json(cls, value: object) -> Self:
        """Make a record from a parsed JSON object that has every field, each as it is spelled in files.

        Raises:
            InvalidRecord: it is no record; the message says every reason that its fields alone show.
        """
        if not isinstance(value, Mapping):
            raise InvalidRecord("a record is a JSON object")
        called = _called(value.get("id"))
        problems = [f"{name} is missing" for name in SPELLINGS if name not in value and name not in IF_SET]
        problems += [
            f"{name} must be {expected}"
            for name, (expected, spelled) in SPELLINGS.items()
            if name in value and not spelled(value[name])
        ]
        if problems:
            raise InvalidRecord(f"{called}: {'; '.join(problems)}")
        given = {name: value[name] for name in SPELLINGS if name in value}
        try:
            given |= {name: parse_moment(given[name]) for name in MOMENTS if name in given}
            given["provenance"] = Provenance(**given["provenance"])
            if given["transition"] is not None:
                given["transition"] = Transition(tuple(given["transition"]["sides"]), given["transition"]["reason"])
        except InvalidRecord as error:
            raise InvalidRecord(f"{called}: {error}") from None
        given["confidence"] = float(given["confidence"])
        extra = {name: item for name, item in value.items() if name not in SPELLINGS}
        record = cls(**given, extra=extra)
        if not given["id"]:
            raise InvalidRecord(f"{record.id}: id is empty")
        return record

    def to_bytes(self) -> bytes:
        """Return the canonical bytes, as they stand in a file."""
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

        birth: dict[str, Json] = {
            "type": self.type,
            "body": self.body,
            "slots": self.slots,
            "provenance": self.provenance.wire(),
            "created_at": _format(self.created_at),
        }
        return sha256(encode(birth)).hexdigest()

    def __reduce__(self) -> tuple[Callable[[bytes], Self], tuple[bytes]]:
        return type(self).from_bytes, (self.to_bytes(),)

    @property
    def signed(self) -> bool:
        """Whether it claims to be signed; `signing.verify_record` says whether it is."""
        return self.signed_by is not None or self.signature != ""

    def wire(self) -> dict[str, Json]:
        """Return the record as it is spelled in files, its fields in the order of the format, ready for `encode`."""
        wire: dict[str, Json] = {
            "id": self.id,
            "type": self.type,
            "body": self.body,
            "slots": self.slots,
            "state": self.state,
            "confidence": f"{self.confidence:.4f}",
            "created_at": _format(self.created_at),
            "updated_at": _format(self.updated_at),
            "provenance": self.provenance.wire(),
            "evidence": self.evidence,
            "supersedes": self.supersedes,
            "superseded_by": self.superseded_by,
            "transition": None if self.transition is None else self.transition.wire(),
            "state_reason": self.state_reason,
            "tags": self.tags,
            "flagged": self.flagged,
            "flag_reason": self.flag_reason,
            "signed_by": self.signed_by,
            "signature": self.signature,
        }
        # Written only when set, so that records from before a field existed keep their bytes and signatures.
        if self.occurred_at is not None:
            wire["occurred_at"] = _format(self.occurred_at)
        if self.redacted:
            wire["redacted"] = True
            wire["redaction_reason"] = self.redaction_reason
            wire["birth_digest"] = self.birth_digest
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


def slots_said(record: Record) -> Mapping[str, Json]:
    """Return the slots that are part of what a record says: all but the pairs under `CARRIED`."""
    if not isinstance(record.slots.get(CARRIED), Mapping):
        return record.slots
    return {name: value for name, value in record.slots.items() if name != CARRIED}


def address(digest: str) -> str:
    """Return the id of a record whose birth has this hash."""
    return f"mem:{digest[:32]}"


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
    unknown = set(record.extra) & set(SPELLINGS)
    if unknown:
        problems.append(f"extra fields may not be called {', '.join(sorted(unknown))}")
    return problems


def _check_life(record: Record) -> list[str]:
    problems = []
    if record.type is RecordType.RULE and not record.evidence:
        problems.append("a rule needs evidence")
    if not all(record.evidence) or record.supersedes == "" or record.superseded_by == "":
        problems.append("a link to another record is empty")
    if (record.state is State.TRANSITIONAL) != (record.transition is not None):
        problems.append("a transitional record, and no other, has a transition")
    if record.transition is not None and record.id not in record.transition.sides:
        problems.append("its transition does not name it as a side")
    if record.state is State.SUPERSEDED and record.superseded_by is None:
        problems.append("a superseded record must name its successor in superseded_by")
    if record.state in LIVE and record.superseded_by is not None:
        problems.append(f"a record that is {record.state} has no superseded_by")
    if record.flagged and record.type is not RecordType.RULE:
        problems.append("only a rule can be flagged")
    return problems


def _check_tombstone(record: Record) -> list[str]:
    problems = []
    if record.state is not State.ARCHIVED:
        problems.append("a redacted record is archived")
    if not record.redaction_reason:
        problems.append("a redacted record needs a redaction_reason")
    # Nothing ties this content to the id any more, so whatever stands here could have been made up.
    bare = (REDACTED_BODY, EMPTY, (), None, 0.0, Provenance(REDACTION))
    if bare != (
        record.body,
        record.slots,
        record.tags,
        record.occurred_at,
        record.confidence,
        record.provenance,
    ):
        problems.append("a redacted record has no content: no body, slots, tags, occurred_at, confidence, provenance")
    return problems


_NONE = type(None)
_KINDS: dict[str, tuple[type, ...]] = {
    "id": (str,),
    "slots": (Mapping,),
    "created_at": (datetime,),
    "updated_at": (datetime,),
    "occurred_at": (datetime, _NONE),
    "provenance": (Provenance,),
    "transition": (Transition, _NONE),
    "flagged": (bool,),
    "redacted": (bool,),
    "extra": (Mapping,),
}
"""What the values of a record are that are not checked where they are frozen."""


def _called(id: object) -> str:
    return id if isinstance(id, str) and is_id(id) else "record"


def _cut_confidence(value: object) -> float:
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise InvalidRecord(f"confidence is a {type(value).__name__}, not a number")
    if not 0 <= value <= 1:
        raise InvalidRecord(f"confidence is {value!r}, not between 0 and 1")
    return float(f"{abs(value):.4f}")


def _freeze_list(items: object) -> tuple[str, ...]:
    if not isinstance(items, (list, tuple)):
        raise InvalidRecord(f"holds a {type(items).__name__} where a list of texts belongs")
    return tuple(freeze_text(item) for item in items)


def _freeze_texts(value: object, *names: str) -> None:
    for name in names:
        text = getattr(value, name)
        if text is not None:
            object.__setattr__(value, name, freeze_text(text))


@lru_cache(maxsize=4096)
def _format(moment: datetime) -> str:
    return format_moment(moment)

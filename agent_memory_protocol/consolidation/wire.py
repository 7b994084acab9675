"""How a question is put to a program, and how its answer is read: JSON on both sides.

A program sees the records that its stage is about, without signatures and history. Its answer names records by id and
gives words and reasons; ids, moments and links of new records are made here. A misspelled item is refused, and never
guessed at.
"""

import json
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any

from ..errors import InvalidRecord, OperatorFailed
from ..records.canonical import format_moment, parse_moment, thaw
from ..records.record import Record, RecordType, State, new_record
from .duplicates import CLAIMS, merge
from .promotion import promote, signature
from .proposals import (
    MAY_PROPOSE,
    Create,
    Dispute,
    Promote,
    Proposal,
    Question,
    Resolve,
    Stage,
    Supersede,
    Unreadable,
)

VERSION = 1

_ABOUT: Mapping[Stage, tuple[Collection[RecordType], State]] = {
    Stage.DEDUP: (CLAIMS, State.ACTIVE),
    Stage.CONTRADICTION: (CLAIMS, State.ACTIVE),
    Stage.RESOLUTION: (CLAIMS, State.TRANSITIONAL),
    Stage.PROMOTION: ((RecordType.EPISODE, RecordType.RULE), State.ACTIVE),
}
"""Which records a program is shown in which stage; in the write stage it is shown a text."""


def relevant(question: Question) -> list[Record]:
    """Return the records that a stage is about; with fewer than two there is nothing to ask."""
    types, state = _ABOUT.get(question.stage, ((), State.ACTIVE))
    return [record for record in question.records if record.type in types and record.state is state]


def spell(question: Question, records: Sequence[Record]) -> bytes:
    """Return a question as a program reads it, with these records."""
    asked: dict[str, object] = {
        "version": VERSION,
        "stage": question.stage.value,
        "may_propose": [MAY_PROPOSE[question.stage].__name__.lower()],
        "now": format_moment(question.now),
    }
    if question.stage is Stage.WRITE:
        asked |= {"text": question.text, "provenance": thaw(question.provenance.wire())}
    else:
        asked["records"] = [_shown(record) for record in records]
    return json.dumps(asked, ensure_ascii=False).encode() + b"\n"


def read(data: bytes, question: Question) -> list[Proposal]:
    """Return the proposals in a program's answer, without a fence around it.

    Raises OperatorFailed if there are none.
    """
    try:
        text = data.decode().strip()
        if text.startswith("```") and text.endswith("```") and "\n" in text:
            text = text[text.index("\n") : -3]
        answer = json.loads(text)
    except UnicodeDecodeError:
        raise OperatorFailed("its answer is not UTF-8") from None
    except (ValueError, RecursionError) as error:
        raise OperatorFailed(f"its answer is not JSON: {str(error)[:100]}") from None
    if not isinstance(answer, dict) or not isinstance(answer.get("proposals"), list):
        raise OperatorFailed('its answer is not of the form {"proposals": […]}')
    return [_proposal(item, question) for item in answer["proposals"]]


def _shown(record: Record) -> dict[str, object]:
    spelled = record.to_json()
    names = ("id", "type", "body", "slots", "state", "confidence", "created_at", "provenance", "tags", "evidence")
    shown = {name: spelled[name] for name in names}
    for name in ("occurred_at", "transition"):
        if spelled.get(name) is not None:
            shown[name] = spelled[name]
    return shown


class _Wrong(Exception):
    """An item is misspelled."""


def _proposal(item: object, question: Question) -> Proposal:
    try:
        return _read_item(item, question)
    except (_Wrong, InvalidRecord) as error:
        return Unreadable(str(error))


def _read_item(item: object, question: Question) -> Proposal:
    if not isinstance(item, dict):
        raise _Wrong("a proposal is a JSON object")
    kind = MAY_PROPOSE[question.stage]
    name = kind.__name__.lower()
    if item.get("kind") != name:
        raise _Wrong(f"kind is not one of those that the stage {question.stage} takes: {name}")
    required, optional, make = _KINDS[kind]
    names = item.keys() - {"kind"}
    if names - {*required, *optional} or {*required} - names:
        wanted = ", ".join([*required, *(f"[{one}]" for one in optional)])
        raise _Wrong(f"a proposal to {name} has kind, {wanted}, and nothing else")
    return make({one: _field(one, item[one]) for one in names}, question)


def _field(name: str, value: object) -> Any:
    read, what = _FIELDS[name]
    try:
        return read(value)
    except InvalidRecord:
        raise
    except (TypeError, ValueError, OverflowError):
        raise _Wrong(f"{name} is {what}") from None


def _text(value: object) -> str:
    if not isinstance(value, str) or not value.strip():
        raise TypeError
    return value.strip()


def _texts(value: object) -> tuple[str, ...]:
    if not isinstance(value, list) or not all(isinstance(one, str) and one for one in value):
        raise TypeError
    return tuple(value)


def _object(value: object) -> Mapping[str, object]:
    if not isinstance(value, dict):
        raise TypeError
    return value


def _number(value: object) -> float:
    if isinstance(value, bool) or not isinstance(value, (int, float, str)):
        raise TypeError
    return float(value)


_A_TEXT = (_text, "a text that is not empty")
_FIELDS: dict[str, tuple[Callable[[Any], Any], str]] = {
    "body": _A_TEXT,
    "confidence": (_number, "a number from 0 to 1"),
    "ids": (_texts, "a list of texts"),
    "loser": _A_TEXT,
    "occurred_at": (lambda value: parse_moment(_text(value)), "a text that is not empty"),
    "reason": _A_TEXT,
    "slots": (_object, "a JSON object"),
    "tags": (_texts, "a list of texts"),
    "type": (lambda value: RecordType(_text(value)), "fact, episode or procedure"),
    "winner": _A_TEXT,
}


def _create(given: dict[str, Any], question: Question) -> Create:
    reason = given.pop("reason", "new")
    given.setdefault("confidence", 0.5)
    return Create(new_record(provenance=question.provenance, now=question.now, **given), reason)


def _supersede(given: dict[str, Any], question: Question) -> Supersede:
    sides = _named(given["ids"], question)
    return merge(sides, now=question.now, body=given.get("body", ""), reason=given["reason"])


def _dispute(given: dict[str, Any], _: Question) -> Dispute:
    if len(given["ids"]) != 2:
        raise _Wrong("ids names the two sides of a dispute")
    return Dispute(**given)


def _promote(given: dict[str, Any], question: Question) -> Promote:
    episodes = _named(given["ids"], question)
    tags = tuple(sorted(set(given.get("tags") or signature(episodes[0]))))
    return promote(episodes, signature=tags, now=question.now, body=given["body"], reason=given["reason"])


def _named(ids: tuple[str, ...], question: Question) -> list[Record]:
    records = {record.id: record for record in question.records}
    if not 2 <= len(ids) == len(set(ids)):
        raise _Wrong("ids names at least 2 records, each once")
    unknown = [one for one in ids if one not in records]
    if unknown:
        raise _Wrong(f"there is no record {unknown[0][:80]!a}")
    return [records[one] for one in ids]


_KINDS: dict[type, tuple[tuple[str, ...], tuple[str, ...], Callable[[dict[str, Any], Question], Proposal]]] = {
    Create: (("type", "body"), ("slots", "tags", "confidence", "occurred_at", "reason"), _create),
    Supersede: (("ids", "reason"), ("body",), _supersede),
    Dispute: (("ids", "reason"), (), _dispute),
    Resolve: (("winner", "loser", "reason"), (), lambda given, _: Resolve(**given)),
    Promote: (("ids", "body", "reason"), ("tags",), _promote),
}
"""Which fields a proposal of each kind must have and may have, and what makes one of them."""

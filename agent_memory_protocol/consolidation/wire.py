"""How a question is put to a program, and how its answer is read: JSON on both sides.

A program sees the records that its stage is about, without signatures and history. Its answer names records by id and
gives words and reasons; ids, moments and links of new records are made here. A misspelled item is refused, and never
guessed at.
"""

import json
from collections.abc import Callable, Collection, Mapping, Sequence
from datetime import datetime
from typing import Any

from ..errors import InvalidRecord, OperatorFailed
from ..records.canonical import format_moment, parse_moment, thaw
from ..records.record import Provenance, Record, RecordType, State, new_record
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
        "may_propose": [kind.__name__.lower() for kind in MAY_PROPOSE[question.stage]],
        "now": format_moment(question.now),
    }
    if question.stage is Stage.WRITE:
        provenance = question.provenance or Provenance("unknown")
        asked |= {"text": question.text, "provenance": thaw(provenance.wire())}
    else:
        asked["records"] = [_shown(record) for record in records]
    return json.dumps(asked, ensure_ascii=False).encode() + b"\n"


def read(data: bytes, question: Question) -> list[Proposal]:
    """Return the proposals in a program's answer, without the fence of backquotes that models like to put around it.

    Raises:
        OperatorFailed: the answer as a whole is not `{"proposals": […]}`.
    """
    try:
        text = data.decode().strip()
        if text.startswith("```") and text.endswith("```") and "\n" in text:
            text = text[text.index("\n") : -3]
        answer = json.loads(text)
    except UnicodeDecodeError:
        raise OperatorFailed("its answer is not UTF-8") from None
    except (ValueError, RecursionError) as error:
        raise OperatorFailed(f"its answer is no JSON: {str(error)[:100]}") from None
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
    kinds = {kind.__name__.lower(): kind for kind in MAY_PROPOSE[question.stage]}
    kind = kinds.get(str(item.get("kind")))
    if kind is None:
        raise _Wrong(f"kind is none of those that the stage {question.stage} takes: {', '.join(kinds)}")
    required, optional, make = _KINDS[kind]
    names = item.keys() - {"kind"}
    if names - {*required, *optional} or {*required} - names:
        wanted = ", ".join([*required, *(f"[{name}]" for name in optional)])
        raise _Wrong(f"a proposal to {item['kind']} has kind, {wanted}, and nothing else")
    return make({name: _FIELDS[name](name, item[name]) for name in names}, question)


def _text(name: str, value: object) -> str:
    if not isinstance(value, str) or not value.strip():
        raise _Wrong(f"{name} is a text that is not empty")
    return value.strip()


def _texts(name: str, value: object) -> tuple[str, ...]:
    if not isinstance(value, list) or not all(isinstance(one, str) and one for one in value):
        raise _Wrong(f"{name} is a list of texts")
    return tuple(value)


def _object(name: str, value: object) -> Mapping[str, object]:
    if not isinstance(value, dict):
        raise _Wrong(f"{name} is a JSON object")
    return value


def _type(name: str, value: object) -> RecordType:
    try:
        return RecordType(_text(name, value))
    except ValueError:
        raise _Wrong(f"{name} is fact, episode or procedure") from None


def _confidence(name: str, value: object) -> float:
    if isinstance(value, (int, float, str)) and not isinstance(value, bool):
        try:
            return float(value)
        except ValueError:
            pass
    raise _Wrong(f"{name} is a number from 0 to 1")


def _moment(name: str, value: object) -> datetime:
    return parse_moment(_text(name, value))


_FIELDS: dict[str, Callable[[str, object], Any]] = {
    "body": _text,
    "confidence": _confidence,
    "ids": _texts,
    "loser": _text,
    "occurred_at": _moment,
    "reason": _text,
    "slots": _object,
    "tags": _texts,
    "type": _type,
    "winner": _text,
}


def _create(given: dict[str, Any], question: Question) -> Create:
    reason = given.pop("reason", "new")
    given.setdefault("confidence", 0.5)
    provenance = question.provenance or Provenance("unknown")
    return Create(new_record(provenance=provenance, now=question.now, **given), reason)


def _supersede(given: dict[str, Any], question: Question) -> Supersede:
    sides = _named(given["ids"], question, at_least=2)
    return merge(sides, now=question.now, body=given.get("body", ""), reason=given["reason"])


def _dispute(given: dict[str, Any], _: Question) -> Dispute:
    if len(given["ids"]) != 2:
        raise _Wrong("ids names the two sides of a dispute")
    return Dispute(given["ids"], given["reason"])


def _resolve(given: dict[str, Any], _: Question) -> Resolve:
    return Resolve(given["winner"], given["loser"], given["reason"])


def _promote(given: dict[str, Any], question: Question) -> Promote:
    episodes = _named(given["ids"], question, at_least=2)
    tags = tuple(sorted(set(given.get("tags") or signature(episodes[0]))))
    return promote(episodes, signature=tags, now=question.now, body=given["body"], reason=given["reason"])


def _named(ids: tuple[str, ...], question: Question, at_least: int) -> list[Record]:
    records = {record.id: record for record in question.records}
    if len(set(ids)) < at_least or len(set(ids)) != len(ids):
        raise _Wrong(f"ids names at least {at_least} records, each once")
    unknown = [one for one in ids if one not in records]
    if unknown:
        raise _Wrong(f"there is no record {unknown[0][:80]!a}")
    return [records[one] for one in ids]


_KINDS: dict[type, tuple[tuple[str, ...], tuple[str, ...], Callable[[dict[str, Any], Question], Proposal]]] = {
    Create: (("type", "body"), ("slots", "tags", "confidence", "occurred_at", "reason"), _create),
    Supersede: (("ids", "reason"), ("body",), _supersede),
    Dispute: (("ids", "reason"), (), _dispute),
    Resolve: (("winner", "loser", "reason"), (), _resolve),
    Promote: (("ids", "body", "reason"), ("tags",), _promote),
}
"""Which fields a proposal of each kind must have and may have, and what makes one of them."""

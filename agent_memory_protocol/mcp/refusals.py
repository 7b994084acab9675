"""Why a line is not a JSON-RPC message, and which request waits for the answer.

The SDK drops such a line without a word, so a client would wait for ever. JSON-RPC 2.0 (section 5.1) wants an error,
under the request's id where that can be told.
"""

import json
from collections.abc import Iterator

from ..values import dataclass
from . import frames

_NO_MESSAGE = "this is not a JSON-RPC 2.0 message; send one request a line, its id a whole number or a text"
_HALF = "a surrogate (\\ud800 to \\udfff) without its other half"
_LONGEST = 100


@dataclass(frozen=True, slots=True)
class Refusal:
    """Why a line is not read, in one line with what to do; the id of the request it was, if it shows one."""

    id: int | str | None
    is_json: bool
    message: str


def explain(line: str) -> Refusal:
    """Say what is wrong with a line that could not be read as a message."""
    try:
        sent = json.loads(line)
    except (ValueError, RecursionError) as error:
        data = line.encode("utf-8", "replace")
        why = str(error) if isinstance(error, json.JSONDecodeError) else "too deep, or a number too long"
        return Refusal(frames.request_id(data, data), False, f"the message is not JSON ({why}); send it again, whole")
    request = _request_id(sent)
    place = next(_halves(sent), None)
    if place is None:
        return Refusal(request, True, _NO_MESSAGE)
    where = place[:_LONGEST] or "a name in the message"
    return Refusal(request, True, f"{where} has half a character: {_HALF}; send text without it")


def has_id(line: str) -> bool:
    """Say whether a message has an id of any kind. Then it is not a notification (JSON-RPC 2.0, section 4.1)."""
    return '"id"' in line and "id" in json.loads(line)


def _request_id(sent: object) -> int | str | None:
    """Return the id of what has the form of a request. A response has an id too, but its sender waits for nothing."""
    if not isinstance(sent, dict) or not isinstance(sent.get("method"), str):
        return None
    found = sent.get("id")
    is_one = isinstance(found, int | str) and not isinstance(found, bool)
    return found if is_one and not _has_half(str(found)) else None


def _halves(sent: object) -> Iterator[str]:
    """Yield the places of texts with a lone surrogate, as `params.arguments.text`; "" if a key holds it."""
    waiting: list[tuple[str, object]] = [("", sent)]
    while waiting:
        place, value = waiting.pop()
        if isinstance(value, str) and _has_half(value):
            yield place
        elif isinstance(value, list):
            waiting += ((f"{place}[{number}]", one) for number, one in enumerate(value))
        elif isinstance(value, dict):
            if any(map(_has_half, value)):
                yield ""
                continue
            waiting += ((f"{place}.{key}" if place else key, one) for key, one in value.items())


def _has_half(text: str) -> bool:
    return any("\ud800" <= character <= "\udfff" for character in text)

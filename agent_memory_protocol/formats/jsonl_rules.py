"""What the keys of an agent-memory/0.1 line may hold: checked strictly on reading, more strictly on writing."""

import re
from collections import Counter
from collections.abc import Callable, Collection, Mapping
from math import isfinite
from typing import Any, NoReturn

from ..errors import RefusedText
from ..text.moments import is_expiry, is_instant
from ..text.visible import refuse_invisible

LINE_BREAKS = frozenset("\n\r\t\v\f\x1c\x1d\x1e\x85\u2028\u2029")
"""What some program takes for the end of a line, and the tab: a text has none of them."""


def on_one_line(text: str) -> str:
    """Return a text with blanks in place of what breaks a line."""
    return " ".join("".join(" " if one in LINE_BREAKS else one for one in text).split(" "))


KINDS = ("preference", "lesson", "fact", "source", "avoid")
DEPTH = 32  # How deeply the keys we do not know may nest lists and objects


class BadLine(ValueError):
    """Why a line cannot be read."""


def refuse_constant(name: str) -> NoReturn:
    """Refuse `NaN` and `Infinity`, which Python's JSON reader knows and JSON does not."""
    raise BadLine(f"{name} is not a JSON number")


def without_doubles(pairs: list[tuple[str, object]]) -> dict[str, object]:
    """Make a dict of the pairs of a JSON object, in which a key may be only once."""
    found = dict(pairs)
    if len(found) != len(pairs):
        double = Counter(name for name, _ in pairs).most_common(1)[0][0]
        raise BadLine(f"the key {ascii(double)[:60]} is in it twice")
    return found


def check_value(value: object, depth: int) -> None:
    """Refuse what JSON can spell but no writer could have meant, or could write back."""
    if isinstance(value, str):
        if not value.isascii() and any("\ud800" <= character <= "\udfff" for character in value):
            raise BadLine("a text holds half a surrogate pair")
    elif isinstance(value, float):
        if not isfinite(value):
            raise BadLine("a number is too large")
    elif isinstance(value, (dict, list)):
        if not depth:
            raise BadLine("nested too deeply")
        for item in value:
            check_value(item, depth - 1)
            if isinstance(value, dict):
                check_value(value[item], depth - 1)


Rules = Mapping[str, tuple[object, Callable[[Any], bool], str]]
"""For each key: its value where it is absent or null, what must hold for it, and how to say that."""


def take(fields: dict[str, Any], rules: Rules) -> dict[str, Any]:
    """Return a value for each key that has a rule, and the other keys as `extra`."""
    values: dict[str, Any] = {}
    problems = []
    for name, (default, holds, rule) in rules.items():
        value = fields.get(name)
        if value is None:
            values[name] = default
            if default is _REQUIRED:
                problems.append(f"it has no {name}")
        elif holds(value):
            values[name] = value
        else:
            problems.append(f"{name} is not {rule}")
    if problems:
        raise BadLine("; ".join(problems))
    values["extra"] = {name: value for name, value in fields.items() if name not in rules} or None
    return values


def _is_name(value: object) -> bool:
    return isinstance(value, str) and value != ""


def _is_text(value: object) -> bool:
    return isinstance(value, str) and value != "" and not value.isspace()


def _is_share(value: object) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool) and 0 <= value <= 1


def _is_list_of_names(value: object) -> bool:
    return isinstance(value, list) and all(map(_is_name, value))


_REQUIRED = object()
_TIME = "a time such as 2026-11-09T07:51:02Z"
HEADER_RULES: Rules = {
    "format": (_REQUIRED, _is_name, "the name of a format"),
    "created_at": (None, is_instant, _TIME),
}
TOMBSTONE_RULES: Rules = {
    "id": (_REQUIRED, _is_name, "a text"),
    "deleted": (_REQUIRED, lambda value: value is True, "true or false"),
    "created_at": (_REQUIRED, is_instant, _TIME),
}
ENTRY_RULES: Rules = {
    "id": (_REQUIRED, _is_name, "a text"),
    "kind": (_REQUIRED, lambda value: isinstance(value, str) and value in KINDS, f"one of {', '.join(KINDS)}"),
    "text": (_REQUIRED, _is_text, "a text with something in it"),
    "scope": ("global", _is_name, "a text"),
    "tags": ((), _is_list_of_names, "a list of texts"),
    "source": (None, _is_name, "a text"),
    "confidence": (None, _is_share, "a number from 0 to 1"),
    "expires_at": (None, is_expiry, f"{_TIME} or a date"),
    "supersedes": (None, _is_name, "the id of an entry"),
    "created_at": (_REQUIRED, is_instant, _TIME),
}


_LABEL = r"[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?"
_SCOPE = re.compile(rf"global|(?:{_LABEL}\.)+{_LABEL}|project:\S(?:.{{0,98}}\S)?")


def is_writable_scope(scope: str) -> bool:
    """Say whether a scope is `global`, a domain in lower case or `project:NAME`."""
    return _SCOPE.fullmatch(scope) is not None


def check_text(text: str, what: str = "text", allow: Collection[str] | None = ()) -> None:
    """Refuse a text that no memory may hold; every text passes through here before a byte is written.

    `what` names it in the message. `allow` are fingerprints of what is not a secret; None for a text that is in
    memory already. Raises RefusedText or SecretFound.
    """
    if not text or text.isspace():
        raise RefusedText(f"the {what} is empty")
    if allow is not None:
        from ..secrets.find import check_text as check_secrets

        check_secrets(text, allow=allow, what=what)
    if text.isascii() and text.isprintable():
        return
    if not LINE_BREAKS.isdisjoint(text):
        raise RefusedText(f"the {what} holds a line break or tab; an entry is one sentence on one line")
    refuse_invisible(text, what)

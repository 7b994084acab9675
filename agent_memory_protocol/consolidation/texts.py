"""What may stand in a record and in a reason: something, nothing that hides, and no secret."""

from collections.abc import Collection, Iterator, Mapping

from ..errors import Refused, RefusedText
from ..records.canonical import Json
from ..records.record import Record
from ..secrets.find import check_text
from ..text.visible import first_invisible

LONGEST_REASON = 500
"""So many characters of a reason are shown wherever its record is."""


def check_texts(record: Record, allow: Collection[str] = ()) -> None:
    """Refuse a record that is empty, or in which something is hidden or secret.

    Raises:
        RefusedText: it has no text, or characters that nobody sees.
        SecretFound: it holds a secret.
    """
    if not record.body.strip():
        raise RefusedText("a record without text remembers nothing")
    for text in _texts(record):
        _check_shown(text, allow, "record")


def check_reason(reason: str, allow: Collection[str]) -> None:
    """Refuse a reason that is none, or that could be taken for more than a reason where it is shown.

    Raises:
        Refused: it is empty, long or of several lines, or what `check_texts` refuses stands in it.
    """
    if not reason.strip():
        raise Refused("say why; the reason stays with the record")
    if len(reason) > LONGEST_REASON or len(reason.splitlines()) > 1:
        raise Refused(f"a reason is one line of at most {LONGEST_REASON} characters")
    _check_shown(reason, allow, "reason")


def _check_shown(text: str, allow: Collection[str], what: str) -> None:
    hidden = first_invisible(text)
    if hidden is not None:
        line, character = hidden
        raise RefusedText(f"line {line} of the {what} has the invisible character {character}; take it out")
    check_text(text, allow=allow, what=what)


def _texts(record: Record) -> Iterator[str]:
    yield record.body
    yield from record.tags
    yield record.provenance.ref or ""
    yield from _strings(record.slots)


def _strings(value: Json) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for key, item in value.items():
            yield key
            yield from _strings(item)
    elif isinstance(value, tuple):
        for item in value:
            yield from _strings(item)

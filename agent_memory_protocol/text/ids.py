"""One id out of its beginning: nobody has to type all of it, and two that begin so are never mixed up."""

from collections.abc import Callable, Collection

from ..errors import InvalidArgument
from .phrases import beginning

FEWEST = 4
"""The fewest characters that are a beginning, as in git."""

_NAMED = 4
_SHOWN = 40


def complete(start: str, ids: Collection[str], text_of: Callable[[str], str]) -> str | None:
    """Return the id that is this, or else the only one that begins so; None if there is none.

    Args:
        start: an id, or at least the first four characters of one, in either case.
        ids: those there are.
        text_of: gives the text that a person knows an id by.

    Raises:
        InvalidArgument: it is too short, or several begin so; the message names them and their texts.
    """
    if start in ids:
        return start
    found = sorted(one for one in ids if start and one.startswith(start.lower()))
    if found and len(start) < FEWEST:
        raise InvalidArgument(f"{start!a} is too short for the beginning of an id; give at least {FEWEST} characters")
    if len(found) > 1:
        named = [f"{one} ({beginning(text_of(one), _SHOWN)})" for one in found[:_NAMED]]
        more = [f"{len(found) - _NAMED} more"] if len(found) > _NAMED else []
        raise InvalidArgument(f"several begin with {start}: {', '.join([*named, *more])}; give more of the id")
    return found[0] if found else None

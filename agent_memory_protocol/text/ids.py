"""Ids that people type: by their beginning, which is enough where no other begins so."""

from collections.abc import Callable, Collection

from ..errors import InvalidArgument
from .digest import blake2b
from .phrases import beginning

FEWEST = 4  # The fewest characters that are a beginning, as in git

_NAMED = 4
_SHOWN = 40


def id_of_proposal(*parts: str) -> str:
    """Return the id of what is proposed, eight hex digits, from the texts that make it the same proposal."""
    return blake2b("\0".join(parts).encode(), digest_size=4).hexdigest()


def is_start(text: str) -> bool:
    """Say whether a text can be the id of an entry, or the beginning of one."""
    return text != "" and not text.strip("0123456789abcdefABCDEF-")


def complete(start: str, ids: Collection[str], text_of: Callable[[str], str]) -> str | None:
    """Return the id that is this, else the only one that begins so; None without one.

    Raises InvalidArgument for fewer than four characters, and if several begin so; it shows their texts.
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

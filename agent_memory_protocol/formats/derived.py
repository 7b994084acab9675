"""Derived columns: what tables of entries show beside the fields, made from them, so that nobody has to unpack them.

They are written for who asks with SQL or a data frame, and never read back: the fields say the same.
"""

import json
from collections.abc import Mapping
from contextlib import suppress
from typing import NamedTuple

from .entry import MemoryEntry, to_moment
from .known import HEADINGS, TARGET

CREATED_AT, TIER, SECTION, DAY = "created_at", "tier", "section", "date"
LAST_MOMENT = 253_402_300_799_999  # The last millisecond of the year 9999, the last one that dates go to


class Derived(NamedTuple):
    """The columns of one entry, each None if nobody knows."""

    created_at: str | None  # when it was created, in UTC, as tables spell a TIMESTAMP
    tier: str | None  # the document that it was in, such as `shared` or `agent:developer`
    section: str | None  # the innermost heading that it was under there
    date: str | None  # the day it was created on, in UTC


def derived(entry: MemoryEntry) -> Derived:
    """Return the columns of an entry."""
    created_at = None
    if 0 < entry.timestamp_ms <= LAST_MOMENT:
        created_at = to_moment(entry.timestamp_ms).replace(tzinfo=None).isoformat(sep=" ", timespec="milliseconds")
    return Derived(created_at, *place_of(entry.extra), created_at and created_at[:10])


def place_of(extra: Mapping[str, str]) -> tuple[str | None, str | None]:
    """Return the document that an entry was in, and the innermost heading there."""
    return extra.get(TARGET), _section(extra)


def _section(extra: Mapping[str, str]) -> str | None:
    with suppress(ValueError, RecursionError):
        found = json.loads(extra.get(HEADINGS, "[]"))
        if isinstance(found, list) and found and isinstance(found[-1], str):
            return found[-1]
    return None

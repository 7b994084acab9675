"""Points in time as agent-memory/0.1 spells them: RFC 3339 stamps, and expiry dates.

A file is sorted out by its stamps, and machines whose clocks disagree write into one file. So stamps of foreign
writers are read in every RFC 3339 spelling, and our own never go backwards.
"""

import re
from datetime import UTC, date, datetime, timedelta
from functools import lru_cache

from ..errors import InvalidArgument

_RFC_3339 = re.compile(
    r"[0-9]{4}-[0-9]{2}-[0-9]{2}[Tt ][0-9]{2}:[0-9]{2}:[0-9]{2}(\.[0-9]+)?([Zz]|[+-][0-9]{2}:[0-9]{2})"
)
_DAY = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")
_FIRST, _LAST = -62_135_510_400, 253_402_214_400  # The second and the last day that a calendar has, in every time zone


def instant(text: str) -> datetime | None:
    """Return the moment an RFC 3339 stamp names, in UTC, or None if it is not one."""
    if not _RFC_3339.fullmatch(text):
        return None
    if text[17:19] == "60":  # a leap second, which datetime does not know
        text = text[:17] + "59" + text[19:]
    try:
        return datetime.fromisoformat(text.upper()).astimezone(UTC)
    except (ValueError, OverflowError):
        return None


def of_clock(seconds: float) -> datetime:
    """Return a time of a file or of a commit, in seconds since 1970, as a moment in UTC; at most of the year 9999."""
    return datetime.fromtimestamp(min(max(seconds, _FIRST), _LAST), UTC)


def parse_time(text: str) -> datetime:
    """Read when something happened: a stamp, or a day, which is its begin in UTC. Raises InvalidArgument."""
    moment = instant(f"{text}T00:00:00Z" if _DAY.fullmatch(text) else text)
    if moment is None:
        raise InvalidArgument(f"{text[:40]!a} is not a time; write it as 2026-01-31 or 2026-01-31T09:30:00Z")
    return moment


def is_instant(text: object) -> bool:
    """Say whether a value is a stamp."""
    return isinstance(text, str) and instant(text) is not None


def sort_key(stamp: str) -> str:
    """Return what stamps sort by in time, however they are spelled."""
    if len(stamp) == 20 and stamp[10] == "T" and stamp[19] == "Z":
        return stamp[:19]
    moment = instant(stamp)
    return moment.replace(tzinfo=None).isoformat() if moment else ""


def new_stamp(now: datetime, latest: str = "") -> str:
    """Return the stamp for a line written at `now`, never one before `latest`: clocks may be set back."""
    moment = now.astimezone(UTC).replace(microsecond=0)
    last = instant(latest)
    if last and last > moment:
        moment = last
        if moment.microsecond and moment < datetime.max.replace(microsecond=0, tzinfo=UTC):
            moment = moment.replace(microsecond=0) + timedelta(seconds=1)
    return moment.replace(tzinfo=None).isoformat() + "Z"  # with the microseconds of a latest moment there is no later


@lru_cache(maxsize=4096)
def _end(text: str) -> datetime | date | None:
    if not _DAY.fullmatch(text):
        return instant(text)
    try:
        return date.fromisoformat(text)
    except ValueError:
        return None


def is_expiry(text: object) -> bool:
    """Say whether a value can be under `expires_at`: a stamp, or a calendar date."""
    return type(text) is str and _end(text) is not None


def expired(expires_at: str, now: datetime) -> bool:
    """Say whether an entry no longer holds at `now`: after its stamp, or its day in the zone of `now`."""
    end = _end(expires_at)
    if isinstance(end, datetime):
        return now > end
    return end is not None and now.date() > end


def expiry_text(expires_at: str | date | datetime | None) -> str | None:
    """Return an expiry as it is written; a time of day without a zone is local time."""
    if isinstance(expires_at, datetime):
        return new_stamp(expires_at)
    return expires_at.isoformat() if isinstance(expires_at, date) else expires_at

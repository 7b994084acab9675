"""What is known about an entry besides its text, as pairs of `extra`, so that each format with `extra` carries it.

Marks are known too: in Markdown they are in front of the text, and everywhere else they are pairs (decision 42).
"""

import json
from collections.abc import Mapping, Sequence
from contextlib import suppress
from datetime import UTC, date, datetime, time, timedelta

from ..answers import About
from ..text.moments import instant, is_expiry
from .jsonl_rules import KINDS, is_writable_scope

KEEP, DISPUTED, UNTIL, EXPIRES = "keep", "disputed", "until", "expires_at"
"""The keys of the marks `[keep]`, `[disputed]` and `[until D]`, the last one also as the moment that it means."""
MARKS = (KEEP, DISPUTED, UNTIL, EXPIRES)
YES = "true"  # What a mark has that names no day
HEADINGS = "headings"
"""The key of the headings that an entry was under. They are the first of its tags as well."""
DATED_BY = "dated_by"
"""The key of what an entry without a date of its own has its day from: the heading or the label above it."""
TARGET = "target"  # The key of the document that an entry was in
WRITER, DISPUTED_WITH, SUPERSEDES = "writer", "disputed_with", "supersedes"
IN_LEDGERS = ("kind", "scope", "confidence", WRITER, DISPUTED_WITH, SUPERSEDES)
"""The keys of what is in a ledger and in no document."""

_DAY = timedelta(days=1)


def pairs_of(about: About) -> dict[str, str]:
    """Return what is known as pairs; source and tags are fields of every entry."""
    known = {
        "kind": about.kind,
        "scope": about.scope,
        "confidence": None if about.confidence is None else json.dumps(about.confidence),
        WRITER: about.writer,
        SUPERSEDES: about.replaced[-1] if about.replaced else None,
        DISPUTED_WITH: listed(about.disputed_with) if about.disputed_with else None,
    }
    return {key: value for key, value in known.items() if value}


def about_of(extra: Mapping[str, str], source: str, tags: Sequence[str]) -> About:
    """Return what pairs say; `tags` are all that the entry has. What breaks a rule of ledgers is left out."""
    kind, scope, expires_at = extra.get("kind"), extra.get("scope"), extra.get(EXPIRES)
    return About(
        source=source or None,
        kind=kind if kind in KINDS else None,
        confidence=_confidence(extra.get("confidence", "")),
        tags=tuple(tags[len(headings_of(extra, tags)) :] if HEADINGS in extra else tags),
        writer=extra.get(WRITER, ""),
        replaced=(extra[SUPERSEDES],) if extra.get(SUPERSEDES) else (),
        scope=scope if scope and scope != "global" and is_writable_scope(scope) else None,
        expires_at=expires_at if is_expiry(expires_at) and UNTIL not in extra else None,
    )


def headings_of(extra: Mapping[str, str], tags: Sequence[str]) -> tuple[str, ...]:
    """Return the tags that are headings; all of them, where nothing says which are."""
    named = _read_list(extra.get(HEADINGS, ""))
    return named if HEADINGS in extra and tuple(tags[: len(named)]) == named else tuple(tags)


def disputed_with(extra: Mapping[str, str]) -> tuple[str, ...]:
    """Return the ids of the entries that one is disputed with."""
    return _read_list(extra.get(DISPUTED_WITH, ""))


def ends_on(day: date) -> dict[str, str]:
    """Return the pairs of a bare mark `[until D]`: the day, and the moment that it means, which begins the next day."""
    moment = f"{(day + _DAY).isoformat()}T00:00:00Z" if day < date.max else f"{day.isoformat()}T23:59:59Z"
    return {UNTIL: day.isoformat(), EXPIRES: moment}


def last_day(expires_at: str | None) -> date | None:
    """Return the day that the mark of an expiry names: of a moment at midnight in UTC the day before."""
    if not is_expiry(expires_at) or expires_at is None:
        return None
    moment = instant(expires_at)
    if moment is None:
        return date.fromisoformat(expires_at)
    day = moment.date()
    return day - _DAY if moment.time() == time() and day > date.min else day


def end_of(extra: Mapping[str, str]) -> date | None:
    """Return the last day on which an entry with these pairs holds: of two that differ, the earlier one."""
    days = [day for name in (UNTIL, EXPIRES) if (day := last_day(extra.get(name)))]
    return min(days, default=None)


def moment_of(created: str | None, day: date) -> datetime | None:
    """Return the moment that a date was made of, where that is a moment of this day."""
    moment = instant(created) if created else None
    return moment if moment is not None and moment.astimezone(UTC).date() == day else None


def _confidence(text: str) -> float | None:
    with suppress(ValueError):
        value = float(text)
        return value if 0 <= value <= 1 else None
    return None


def listed(texts: Sequence[str]) -> str:
    """Return texts as one text that `headings_of` and `disputed_with` read."""
    return json.dumps([*texts], ensure_ascii=False)


def _read_list(text: str) -> tuple[str, ...]:
    try:
        found = json.loads(text or "[]")
    except (ValueError, RecursionError):
        return ()
    return tuple(one for one in found if isinstance(one, str) and one) if isinstance(found, list) else ()

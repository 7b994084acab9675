"""When an entry ends whose mark `[until D]` was made of a moment: the ledger keeps the moment, and recall goes by it.

Few entries end about today, so this is loaded only where one does (docs/protocol.md, “What is known of an entry”).
"""

import json
from collections.abc import Collection
from contextlib import suppress
from datetime import UTC, date, datetime, timedelta

from ..disk.files import Root
from ..layout import LEDGER, Target
from ..tiers.document import entry_id, identity_text
from ..tiers.entries import Entry

_DAY = timedelta(days=1)


def go_by_moments(
    root: Root, target: Target, lines: list[str], entries: Collection[Entry], today: int, now: datetime
) -> None:
    """Have entries end at the moments that the ledger knows, where their marks still name the days of these."""
    ids = {entry_id(identity_text(lines, entry), target): entry for entry in entries}
    content = root.read((*target.parts[:-1], LEDGER))
    for one, moment in _moments(b"" if content is None else content.data, ids).items():
        marks = ids[one].marks
        if marks.until == _last_day(moment).toordinal():
            marks.until = today if now <= moment else today - 1


def _moments(data: bytes, ids: Collection[str]) -> dict[str, datetime]:
    """Return what the last line of each of these entries says of its end."""
    latest: dict[str, tuple[str, object]] = {}
    wanted = [one.encode() for one in ids]
    for line in data.split(b"\n"):
        if any(one in line for one in wanted):
            with suppress(ValueError, RecursionError, KeyError, TypeError):
                fields = json.loads(line)
                if fields["id"] in ids and "text" in fields:
                    said = str(fields["created_at"]), fields.get("expires_at")
                    latest[fields["id"]] = max(latest.get(fields["id"], said), said, key=lambda pair: pair[0])
    found = {}
    for one, (_, expires_at) in latest.items():
        with suppress(ValueError, OverflowError):
            if isinstance(expires_at, str) and len(expires_at) > 10:  # a day without a time is what the mark says
                found[one] = datetime.fromisoformat(expires_at.upper()).astimezone(UTC)
    return found


def _last_day(moment: datetime) -> date:
    """Return the day that the mark of a moment names: of midnight in UTC the day before."""
    return (moment - _DAY if (moment.hour, moment.minute, moment.second) == (0, 0, 0) else moment).date()

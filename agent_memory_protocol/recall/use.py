"""Use: how often entries and notes were recalled, found and opened here; counted only where the setting says so.

The count is a file of this checkout, never in git, and may be deleted at any time (`recall.count`). That it cannot be
written keeps nobody from reading memory.
"""

import json
from collections.abc import Iterable
from contextlib import suppress
from datetime import date, timedelta

from ..disk.files import Root
from ..disk.lock import hold
from ..disk.writing import LOCAL, create, make_local_folder, replace
from ..errors import AgentMemoryError
from ..layout import Target
from ..tiers.store import read_document
from .block import Recall

INJECTED, SEARCHED, OPENED = "injected", "searched", "opened"
LAST, FIRST = "last", "first"

UNNEEDED_AFTER = timedelta(days=90)  # What was not recalled, found or opened for longer than this is worth a look

_FILE = ("use", "counts.json")

Counts = dict[str, dict[str, int | str]]
"""For each name, `TARGET ID` or `TARGET FILE`: how often it was injected, searched and opened, and the last day.

What could have been injected and was not has `first`, the day when that was seen first.
"""


def name_of(target: Target, entry: str) -> str:
    """Return what an entry or note is counted under."""
    return f"{target} {entry}"


def read(root: Root) -> Counts:
    """Return the count. What is damaged counts for nothing."""
    content = root.read((*LOCAL, *_FILE))
    try:
        found = json.loads(b"{}" if content is None else content.data)
    except (ValueError, RecursionError):
        return {}
    return {name: row for name, row in found.items() if isinstance(row, dict)} if isinstance(found, dict) else {}


def unneeded(counts: Counts, today: date) -> dict[str, date]:
    """Return the names that were not needed for 90 days, each with the day since which."""
    found = {}
    for name, row in counts.items():
        with suppress(ValueError):
            since = date.fromisoformat(str(row.get(LAST) or row.get(FIRST)))
            if today - since > UNNEEDED_AFTER:
                found[name] = since
    return found


def count(
    root: Root, how: str, names: Iterable[str], today: date | None = None, *, passed_over: Iterable[str] = ()
) -> None:
    """Count that each of these was injected, searched or opened now. What was `passed_over` is known from now on."""
    with suppress(AgentMemoryError, OSError):
        folder = make_local_folder(root, _FILE[0])
        with hold(root, "use"):
            root.forget()
            counts = read(root)
            for name in dict.fromkeys(names):
                row = counts.setdefault(name, {})
                before = row.get(how)
                row[how] = before + 1 if isinstance(before, int) else 1
                row[LAST] = str(today or date.today())
            for name in passed_over:
                counts.setdefault(name, {FIRST: str(today or date.today())})
            data = json.dumps(counts, ensure_ascii=False, indent=0).encode() + b"\n"
            content = root.read((*folder, _FILE[1]))
            if content is None:
                create(root, (*folder, _FILE[1]), data)
            else:
                replace(root, (*folder, _FILE[1]), data, expected=content)


def count_recalled(root: Root, recalled: Recall, today: date | None = None) -> None:
    """Count the entries of a block. It reads the documents again, so this takes a while."""
    names: list[str] = []
    others: list[str] = []
    with suppress(AgentMemoryError, OSError):
        for part in recalled.parts:
            found = None if part.problem else read_document(root, part.target)
            if found is not None:
                left = {one.first_line for one in part.left_out}
                for one, entry in found[0].by_id:
                    (others if entry.start + 1 in left else names).append(name_of(part.target, one))
    if names:
        count(root, INJECTED, names, today, passed_over=others)

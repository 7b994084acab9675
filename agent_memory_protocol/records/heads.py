"""Heads: which version of each record this machine last saw, so that a store which was set back shows.

Only moments are kept, beside the store or in the person's state folder, and never an earlier one in the place of a
later one. Who can write this file can hide that; it proves nothing to anybody else.
"""

import os
from collections.abc import Iterable, Mapping
from datetime import datetime
from hashlib import sha256

from ..disk.side_file import SideFile
from ..project.local_state import state_folder
from .canonical import format_moment
from .record import Record

TABLE = "CREATE TABLE heads (record_id TEXT PRIMARY KEY, updated TEXT NOT NULL)"

_NOTE = (
    "INSERT INTO heads VALUES (?, ?) ON CONFLICT (record_id) DO UPDATE SET updated = excluded.updated"
    " WHERE excluded.updated > heads.updated"
)
_FOLDER = "agent-memory-protocol"


def noted(records: Iterable[Record]) -> tuple[str, list[tuple[str, str]]]:
    """Return the statement that notes these newest versions, with its values."""
    return noted_moments({one.id: one.updated_at for one in records})


def noted_moments(newest: Mapping[str, datetime | None]) -> tuple[str, list[tuple[str, str]]]:
    """Return the same for the moments of newest versions. Of what cannot be read there is None."""
    return _NOTE, [(name, format_moment(moment)) for name, moment in newest.items() if moment is not None]


def set_back(file: SideFile, newest: Mapping[str, datetime | None]) -> list[str]:
    """Say which records have an earlier version than this machine has seen, or are gone. None cannot be read."""
    problems = []
    for name, updated in file.rows("SELECT record_id, updated FROM heads ORDER BY record_id"):
        moment = newest.get(name)
        if name not in newest:
            problems.append(f"{name}: is gone, and this machine has seen it; restore it from a backup")
        elif moment is not None and format_moment(moment) < updated:
            problems.append(f"{name}: was set back; this machine has seen its version of {updated}")
    return problems


def file_elsewhere(path: str) -> str | None:
    """Return where to note the heads of a store or file that has no folder of its own; None if that cannot be."""
    base = state_folder()
    if base is None:
        return None
    folder = os.path.join(base, _FOLDER)
    try:
        os.makedirs(folder, mode=0o700, exist_ok=True)
    except OSError:
        return None
    return os.path.join(folder, f"seen-{sha256(os.path.realpath(path).encode()).hexdigest()[:32]}.sqlite")

"""What entries name and the repository does not have any more: paths, and with less certainty lines and symbols."""

import re
from collections.abc import Collection, Mapping
from dataclasses import field

from ..change.session import Session
from ..errors import AgentMemoryError
from ..git import history
from ..limits import split_lines
from ..text.paths import Mention
from ..values import dataclass

_MOST = 20
"""So many functions are looked for in the repository's history in one run: each is a search through all of it."""


@dataclass(frozen=True, slots=True)
class Stale:
    """What is missing: paths that git knew once, with their names today ("" for none), and what else, in words."""

    gone: Mapping[str, str] = field(default_factory=dict)
    lost: Mapping[Mention, str] = field(default_factory=dict)


def find(session: Session, said: Collection[Mention], *, hints: bool = True) -> Stale:
    """Say which of what documents name the repository does not have any more (decision 52)."""
    folder = session.root.path
    gone = history.gone(folder, {one.path for one in said} - {""})
    lost: dict[Mention, str] = {}
    for one in sorted(said, key=lambda one: (one.path, one.line, one.symbol)) if hints else ():
        if one.path and (one.line or one.symbol) and one.path not in gone:
            lost[one] = _lost_in_file(session, one)
    functions = sorted({one.symbol for one in said if not one.path}) if hints else []
    once = {name for name in history.unused(folder, functions)[:_MOST] if history.had(folder, name)}
    lost |= {one: f"no file has `{one.symbol}` any more" for one in said if not one.path and one.symbol in once}
    return Stale(gone, {one: why for one, why in lost.items() if why})


def _lost_in_file(session: Session, one: Mention) -> str:
    """Return what a file lacks of what a text names in it; "" if it has it, or is not one file of the project."""
    try:
        content = session.root.read(tuple(one.path.split("/")))
    except AgentMemoryError:
        return ""
    if content is None:
        return ""
    text = content.data.decode("utf-8", "replace")
    count = len(split_lines(text))
    if one.line > count:
        return f"`{one.path}` has only {count} lines"
    if one.symbol and not re.search(rf"\b{re.escape(one.symbol)}\b", text):
        return f"`{one.path}` has no `{one.symbol}`"
    return ""

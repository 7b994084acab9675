"""Entries as a short block for the top of an agent's context: by kind, what the user said first."""

from collections.abc import Iterable

from ..text.bullets import bullet
from ..text.digest import blake2b
from ..text.gist import Gist, gist
from ..text.visible import escape_line
from ..values import dataclass
from .jsonl import USER, EntryLine
from .jsonl_rules import KINDS

FRAME = "Agents and the user noted this earlier. It is reference data and may be out of date."


@dataclass(frozen=True, slots=True)
class Outranked:
    """An inferred entry that gives way to one the user said: it repeats that one, or says the opposite."""

    entry: EntryLine
    by: EntryLine
    opposite: bool


def find_outranked(entries: Iterable[EntryLine]) -> list[Outranked]:
    """Find the inferred entries that say the same as, or the opposite of, a user's entry of the same scope and kind.

    Of several user's entries that do, the newest is named (decision 25).
    """
    entries = list(entries)
    said: dict[tuple[str, str, tuple[str, ...]], tuple[Gist, EntryLine]] = {}
    for entry in entries:
        if entry.source == USER:
            essence = gist(entry.text)
            said[entry.scope, entry.kind, essence.words] = (essence, entry)
    found = []
    for entry in entries if said else ():
        if entry.source != USER:
            essence = gist(entry.text)
            heard = said.get((entry.scope, entry.kind, essence.words))
            if heard and essence.words:
                found.append(Outranked(entry, heard[1], opposite=essence.negations != heard[0].negations))
    return found


def render_prompt(entries: Iterable[EntryLine]) -> str:
    """Return the block for these entries, "" when there are none.

    One bullet an entry, so a text can open nothing. The markers carry an id that comes from the content.
    """
    entries = list(entries)
    outranked = find_outranked(entries)
    hidden = {loser.entry.id for loser in outranked}
    lines = []
    for kind in KINDS:
        group = [entry for entry in entries if entry.kind == kind and entry.id not in hidden]
        group.sort(key=lambda entry: entry.source != USER)
        if group:
            lines += [f"{kind}:", *(_bullet(entry) for entry in group)]
    if not lines:
        return ""
    if outranked:
        lines.append(_report(outranked))
    body = "\n".join([FRAME, *lines])
    mark = blake2b(body.encode(), digest_size=8).hexdigest()
    return f'<agent-memory id="{mark}">\n{body}\n</agent-memory id="{mark}">\n'


def _bullet(entry: EntryLine) -> str:
    text = bullet(entry.text)
    return text if entry.scope == "global" else f"{text} ({escape_line(entry.scope)})"


def _report(outranked: list[Outranked]) -> str:
    opposite = sum(loser.opposite for loser in outranked)
    counts = [(opposite, "contradict"), (len(outranked) - opposite, "repeat")]
    told = " and ".join(f"{count} that {verb}" for count, verb in counts if count)
    return f"(not shown: inferred entries, {told} what the user said)"

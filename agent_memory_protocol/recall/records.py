"""The records of a project in the block: those that are worth most, or fit a task best, in the room that is left.

It is loaded only where there are records. Nothing is written, no index and no count of uses: recall changes no file.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import UTC, date, datetime, time
from typing import TypeVar

from ..disk.files import Root
from ..errors import AgentMemoryError, UnknownRecord
from ..layout import RECORDS
from ..project.access import Actor
from ..records.proof import EVERYBODY
from ..records.rank import BUDGET_TOKENS, Match, Recalled, choose, partner_of
from ..records.record import LIVE, Record
from ..records.store import DirectoryStore
from ..text.visible import escape_line
from . import block
from .block import DATAMARK, NO_LIMIT, Budget, Recall, RecordSource, RecordsPart
from .task import fitting, scores

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ..project.settings import Settings

PATH = "/".join(RECORDS)  # Where the records of a project are, below its root

MOST = 300
"""So many records, the last that were written, are weighed. To read more would take longer than an agent can wait."""

_LEAST = 0.05  # What a record is worth that shares no word with the task, against the one that fits best

D = TypeVar("D")


def of_project(root: Root, today: date | None) -> RecordSource:
    """Return what finds the records of a project on a day; the moment of the day changes nothing."""
    now = datetime.combine(today or date.today(), time.max, UTC)

    def find(task: str | None) -> Recalled:
        records, unread, problems = _newest(root)
        return replace(best(records, task, now), left_out=unread, problems=problems)

    return RecordSource(PATH, find)


def rest(
    root: Root, settings: "Settings", actor: Actor, task: str, given: Recall, least: float, room: int
) -> RecordsPart | None:
    """Return the records that a recall has not given and that fit a task at least so well; None for none."""
    try:
        records, _, _ = _newest(root)
    except (AgentMemoryError, OSError):
        return None  # the start has said why
    shared = fitting(task, [_said(record) for record in records])
    there = set() if given.records is None else {hit.record.id for hit in given.records.hits}
    wanted = [one for one, score in zip(records, shared, strict=True) if score >= least and one.id not in there]
    mark = DATAMARK if settings.datamark else ""
    found = best(wanted, task, datetime.now(UTC))
    search = _search(actor)
    frame = _part(found, PATH, 0, settings.max_lines, mark, search).frame
    part = _part(found, PATH, room - len(frame), settings.max_lines, mark, search)
    return part if part.hits else None


def newest(root: Root, most: int) -> tuple[list[Record], int]:
    """Return so many records, those that were written last, and how many others there are."""
    records, others, _ = _newest(root, most)
    return records, others


def _newest(root: Root, most: int = MOST) -> tuple[list[Record], int, tuple[str, ...]]:
    """Read the records that were written last. Return them, how many others there are, and what cannot be read."""
    store = DirectoryStore(root.path, RECORDS)
    stamps = store.stamps()
    tried: set[str] = set()
    newest = sorted(stamps, key=lambda one: (stamps[one], one), reverse=True)[:most]
    records: dict[str, Record] = {}
    problems = []
    while newest:
        for one, read in store.newest(newest):
            try:
                records[one] = read()
            except UnknownRecord:  # an empty folder, as a killed writer leaves it
                del stamps[one]
            except AgentMemoryError as error:
                problems.append(str(error))
        # Of a dispute both sides are given, or none.
        tried.update(newest)
        others = {partner_of(record) for record in records.values()} - tried
        newest = [one for one in stamps if one in others]
    return list(records.values()), len(stamps) - len(records), tuple(problems[:1])


def beside(
    documents: "Callable[[Budget], tuple[Recall, D]]",
    found: Recalled,
    path: str,
    settings: "Settings",
    budget: Budget,
    actor: Actor,
) -> "tuple[Recall, D]":
    """Recall documents and put records behind them, in the room that is left; of a bounded block at least a quarter."""
    mark = DATAMARK if settings.datamark else ""
    max_lines = settings.max_lines if budget.max_lines is None else budget.max_lines
    most = 4 * BUDGET_TOKENS
    search = "memory_search" if budget.shown_by else _search(actor)
    whole = _part(found, path, most, max_lines, mark, search)
    size = len(whole.data) + len(whole.frame.encode()) if whole.hits else 0
    held = min(size, min(budget.bytes, budget.characters) // 4)
    recalled, drafts = documents(budget.less(held)) if held else documents(budget)
    if held and not recalled.text:
        recalled, drafts = documents(budget)
    recalled.warnings += found.problems
    frame = len((recalled.text or block.frame(())).encode()) + len(whole.frame.encode())
    part = _part(found, path, min(most, budget.bytes - frame, budget.characters - frame), max_lines, mark, search)
    text = block.render([*recalled.parts, part], budget) if part.hits else ""
    if text:
        recalled.text, recalled.records = text, part
    return recalled, drafts


def best(
    records: Sequence[Record],
    task: str | None,
    now: datetime,
    doubt: Callable[[Record], str] = EVERYBODY.doubt,
) -> Recalled:
    """Return the records that hold now, best first; with a task, first those that share most words with it."""
    live = [record for record in records if record.state in LIVE and not record.redacted]
    shared = [1.0] * len(live) if task is None else scores(task, [_said(one) for one in live])
    most = max(shared, default=0.0) or 1.0
    matches = [
        Match(record, max(share / most, _LEAST), ("fits the task",) if task and share else ())
        for record, share in zip(live, shared, strict=True)
    ]
    return choose(task or "", matches, {}, budget_tokens=NO_LIMIT, include_history=False, now=now, doubt=doubt)


def _said(record: Record) -> str:
    return " ".join([record.body, *record.tags])


def _search(actor: Actor) -> str:
    """Return the command that finds what is not shown, as its reader may give it."""
    return f"amp search QUERY --as {actor.agent}" if actor.agent else "amp search QUERY"


def _part(found: Recalled, path: str, room: int, max_lines: int, mark: str, search: str) -> RecordsPart:
    """Return the records that fit into so many bytes and lines, best first, with a line for those that do not."""
    lines = {hit.record.id: mark + escape_line(hit.line) for hit in found.hits}
    sizes = {one: len(line.encode()) + 1 for one, line in lines.items()}
    number = len(lines) + found.left_out
    is_whole = not found.left_out and sum(sizes.values()) <= room + 1 and len(lines) <= max_lines
    note = f"{mark}({number:,} more records are not shown; `{search}` finds what they say)"
    left, left_lines = (room + 1, max_lines) if is_whole else (room - len(note), max_lines - 1)
    kept: set[str] = set()
    for hit in found.hits:
        unit = {one for one in (hit.record.id, partner_of(hit.record)) if one is not None and one in lines} - kept
        size = sum(sizes[one] for one in unit)
        if size <= left and len(unit) <= left_lines:
            left, left_lines = left - size, left_lines - len(unit)
            kept |= unit
    hits = [hit for hit in found.hits if hit.record.id in kept]
    text = [lines[hit.record.id] for hit in hits]
    if hits and len(hits) < number:
        more = number - len(hits)
        them = "1 more record is" if more == 1 else f"{more:,} more records are"
        text.append(f"{mark}({them} not shown; `{search}` finds what they say)")
    return RecordsPart(escape_line(path).replace('"', "'"), text, hits, number)

"""The tools over records: remember, recall, consolidate and status, as the record format's own server names them."""

import os
from dataclasses import asdict
from datetime import UTC, datetime
from typing import Any

from ..answers import Json
from ..layout import MEMORY
from ..recall.block import RecordSource
from ..recall.records import MOST, best
from ..records.rank import BUDGET_TOKENS, Recalled
from ..records.record import WRITTEN
from ..text.commands import by_tools
from ..text.moments import parse_time
from ..text.visible import show_text
from .arguments import FLAG, TEXT, TEXTS, WHOLE, Parameter
from .shapes import COUNTS, TEXT_OR_NULL, list_of, shape
from .tool import Answer, Door, Tool

_HIT = shape("record_id", "body", "label", "state", "score", "reasons", may_lack=("label",))
_ACTIONS = list_of(shape("stage", "kind", "ids", "reason", "by", "before", "after", "id"))


def instructions(door: Door) -> str:
    """Return what a model is told of these tools when it connects."""
    where = f"in {show_text(str(door.records.path))}: facts with a state and a history, found by a query."
    disputed = "If two records contradict each other, both are shown as disputed until a person decides."
    if door.workspace.why_read_only(door.actor) is not None:
        return f"\nrecall and status read records {where} {disputed}"
    return (
        f"\nremember, recall, consolidate and status keep records {where} They do not write to the project's Markdown "
        f"memory; memory_remember does. {disputed}"
    )


def source_of(door: Door) -> RecordSource | None:
    """Return where the records for a recall come from; None for those of the project."""
    records = door.records
    if records.path == os.path.join(door.workspace.path, *MEMORY):
        return None

    def find(task: str | None) -> Recalled:
        if task is not None:
            return records.search(task, limit=MOST)
        return best(records.records(), None, datetime.now(UTC))

    return RecordSource(show_text(records.path or "the store of this server"), find)


def _remember(door: Door, text: str, replaces: str | None = None, time: str | None = None, **about: Any) -> Answer:
    retired = None if replaces is None else door.records.find_id(replaces)
    happened = None if time is None else parse_time(time)
    kept = door.records.remember(text, replaces=retired, time=happened, **about)
    return Answer({"record_id": kept.record_id, "new": kept.new, "notes": [*map(by_tools, kept.notes)]})


def _archive(door: Door, record_id: str, reason: str) -> Answer:
    gone = door.records.archive(door.records.find_id(record_id), reason)
    return Answer({"record_id": gone.id, "state": gone.state.value})


def _reactivate(door: Door, record_id: str, reason: str) -> Answer:
    back = door.records.reactivate(door.records.find_id(record_id), reason)
    return Answer({"record_id": back.id, "state": back.state.value})


def _recall(door: Door, query: str, budget_tokens: int = BUDGET_TOKENS, include_history: bool = False) -> Answer:
    found = door.records.recall(query, budget_tokens=budget_tokens, include_history=include_history)
    hits = [
        {
            "record_id": hit.record.id,
            "body": hit.record.body,
            **({"label": hit.label} if hit.label else {}),
            "state": hit.record.state.value,
            "score": hit.score,
            "reasons": hit.reasons,
        }
        for hit in found
    ]
    block = found.as_prompt_block()
    values: Json = {"text": block, "hits": hits, "left_out": found.left_out, "problems": found.problems}
    left = (
        f"Of {found.left_out} records with words of the query, none answers it well, or none fits into {budget_tokens} "
        "tokens. Ask in other words, or with a larger budget_tokens."
    )
    return Answer(values, block or (left if found.left_out else "No record matches."))


def _consolidate(door: Door, dry_run: bool = False) -> Answer:
    return Answer({**door.records.consolidate(apply=not dry_run).to_json()})


def _status(door: Door) -> Answer:
    return Answer({"path": door.records.path, **asdict(door.records.status())})


RECORD_TOOLS = (
    Tool(
        "remember",
        "Remember a record",
        "Save a fact, an event or a procedure as a record, in the store of records, not in the project's Markdown "
        "memory (memory_remember writes there). If a record already says the same, it is counted as used once more; an "
        "event at another time, or from another source, is another one. The notes of the answer say what it repeats, "
        "contradicts or changes.",
        (
            Parameter("text", TEXT, "The fact.", required=True),
            Parameter("tags", TEXTS, "Words to find it by."),
            Parameter("source", TEXT, "Its source."),
            Parameter("type", TEXT, "What it is (fact). An episode is an event.", choices=WRITTEN),
            Parameter("time", TEXT, "When the event happened: YYYY-MM-DD or 2026-01-31T09:30:00Z."),
            Parameter("replaces", TEXT, "The id of a record to retire; this one replaces it."),
        ),
        shape("record_id", "new", "notes"),
        _remember,
        writes=True,
    ),
    Tool(
        "recall",
        "Recall records",
        "Give the records that answer a query, best first, each whole, as many as fit the budget. Disputed "
        "and replaced records say so.",
        (
            Parameter("query", TEXT, "What to look for; any text.", required=True),
            Parameter("budget_tokens", WHOLE, f"At most this many tokens in the answer ({BUDGET_TOKENS}).", minimum=1),
            Parameter("include_history", FLAG, "Also show what was replaced or archived."),
        ),
        shape("text", "left_out", "problems", hits=list_of(_HIT)),
        _recall,
    ),
    Tool(
        "archive",
        "Archive a record",
        "Archive a record that no longer matters: it is not recalled, but stays readable. If another record "
        "replaces it, use memory_resolve.",
        (
            Parameter("record_id", TEXT, "The id of the record.", required=True),
            Parameter("reason", TEXT, "The reason, for later readers.", required=True),
        ),
        shape("record_id", "state"),
        _archive,
        writes=True,
    ),
    Tool(
        "reactivate",
        "Bring a record back",
        "Bring back a record that was archived or replaced: a new record with its text takes effect.",
        (
            Parameter("record_id", TEXT, "The id of the record.", required=True),
            Parameter("reason", TEXT, "The reason, for later readers.", required=True),
        ),
        shape("record_id", "state"),
        _reactivate,
        writes=True,
    ),
    Tool(
        "consolidate",
        "Consolidate records",
        "Merge records that say the same, mark contradictions as disputed, make rules from repeated events, and flag "
        "rules in doubt. It decides no dispute and deletes nothing.",
        (Parameter("dry_run", FLAG, "Only say what it would do."),),
        shape(done=_ACTIONS, refused=_ACTIONS, deferred=_ACTIONS, protected=_ACTIONS, left=_ACTIONS),
        _consolidate,
        writes=True,
    ),
    Tool(
        "status",
        "Count records",
        "Count the records by state and type, and the disputes that wait for a decision.",
        (),
        shape("records", "disputes", "problems", path=TEXT_OR_NULL, by_state=COUNTS, by_type=COUNTS),
        _status,
    ),
)

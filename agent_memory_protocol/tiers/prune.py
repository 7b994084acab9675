"""What is outdated in a document: a plan, made from dates alone (decision 22).

An entry's own date says it is time-sensitive. A section's date mostly says when its entries were learned, so those
go only when asked for. What has no date stays.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date

from agent_memory_protocol.tiers import edit
from agent_memory_protocol.tiers.document import Document
from agent_memory_protocol.tiers.entries import OWN, Entry

SUSPICIOUS_DAYS = 180


@dataclass(frozen=True, slots=True)
class Judged:
    """An entry, and why it goes or stays.

    Attributes:
        id: the entry's id.
        line: where it stands, counted from 1.
        text: its Markdown.
        date: the day it is dated with; None for an undated one.
        date_source: `own mark`, `heading` or `label`; "" for an undated one.
        section: the heading it stands under.
        reason: in words, why it goes or stays.
        cause: why it stays, in one word: undated, kept, future, suspicious, section, recent; `old` where it goes.
    """

    id: str
    line: int
    text: str
    date: date | None
    date_source: str
    section: str
    reason: str
    cause: str


@dataclass(frozen=True, slots=True)
class Plan:
    """What pruning one document would take out, and what it would leave and why.

    Attributes:
        document: the document the plan was made from.
        removals: what goes, in file order.
        kept: what stays, in file order.
        result: the document without what goes.
    """

    document: Document
    removals: tuple[Judged, ...]
    kept: tuple[Judged, ...]
    result: Document

    @property
    def drops_most(self) -> bool:
        """Whether more than half of the document's entries would go."""
        return len(self.removals) * 2 > len(self.removals) + len(self.kept)


def plan_pruning(document: Document, *, today: date, older_than: int, sections: bool = False) -> Plan:
    """Say which entries are more than `older_than` days old, going by their own dates.

    With `sections`, entries whose date is their section's go as well, once that is old. Changes nothing.
    """
    judged = _judge(document, today=today.toordinal(), older_than=older_than, sections=sections)
    return _plan(document, judged)


def plan_to_limit(
    document: Document,
    *,
    today: date,
    max_lines: int,
    max_bytes: int,
    sections: bool = False,
    older_than: int | None = None,
    spare: str = "",
) -> Plan:
    """Say which of the oldest dated entries must go for the document to fit; as many as can, where it never will.

    With `older_than` only entries of more than that many days go; the entry with the id `spare` never goes.
    """
    age = older_than if older_than is not None else -1
    judged = _judge(document, today=today.toordinal(), older_than=age, sections=sections)
    old = [one for one in judged if one.cause == "old" and one.id != spare]
    candidates = sorted(old, key=lambda one: (one.date or today, one.line))
    if document.line_count <= max_lines and len(document.data) <= max_bytes:
        candidates = []
    low, high = 0, len(candidates)
    while low < high:
        middle = (low + high) // 2
        smaller = edit.remove(document, {one.id for one in candidates[:middle]})
        if smaller.line_count <= max_lines and len(smaller.data) <= max_bytes:
            high = middle
        else:
            low = middle + 1
    gone = {one.id for one in candidates[:low]}
    settled = [
        one
        if one.cause != "old"
        else _again(one, "old", "among the oldest; the document is over its limit")
        if one.id in gone
        else _again(one, "recent", "the document fits without it going")
        for one in judged
    ]
    return _plan(document, settled)


def old_sections(document: Document, *, today: date, older_than: int) -> list[tuple[int, str, date]]:
    """Return the headings whose own date is old: line from 1, text, date. `--sections` would take their entries."""
    return [
        (heading.start + 1, heading.text, date.fromordinal(heading.day))
        for heading in document.outline.headings
        if heading.day is not None and today.toordinal() - heading.day > older_than
    ]


def suspicious_days(entries: Sequence[Entry]) -> set[int]:
    """Return the indexes of entries dated more than 180 days before both dated neighbours: a mistyped year, mostly."""
    dated = [
        (index, entry.day) for index, entry in enumerate(entries) if entry.day is not None and entry.day_source == OWN
    ]
    return {
        index
        for (_, before), (index, day), (_, after) in zip(dated, dated[1:], dated[2:], strict=False)
        if min(before, after) - day > SUSPICIOUS_DAYS
    }


def _judge(document: Document, *, today: int, older_than: int, sections: bool) -> list[Judged]:
    suspicious = suspicious_days(document.outline.entries)
    judged = []
    for index, (entry, entry_id) in enumerate(zip(document.outline.entries, document.ids, strict=True)):
        cause, reason = _reason(entry, today, older_than, is_suspicious=index in suspicious, sections=sections)
        judged.append(
            Judged(
                id=entry_id,
                line=entry.start + 1,
                text=document.text(entry),
                date=None if entry.day is None else date.fromordinal(entry.day),
                date_source=entry.day_source,
                section=document.section(entry),
                reason=reason,
                cause=cause,
            )
        )
    return judged


def _reason(entry: Entry, today: int, older_than: int, *, is_suspicious: bool, sections: bool) -> tuple[str, str]:
    if entry.day is None:
        return "undated", "undated, so lasting"
    written = date.fromordinal(entry.day).isoformat()
    if entry.day > today:
        return "future", f"dated {written}, in the future; correct the date"
    if today - entry.day <= older_than:
        return "recent", f"dated {written}, not older than {older_than} days"
    if entry.kept:
        return "kept", "marked [keep]"
    if is_suspicious:
        return "suspicious", f"dated {written}, long before the entries around it; is the year right?"
    if entry.day_source != OWN and not sections:
        return "section", f"its section is dated {written}; --sections takes it"
    return "old", f"dated {written}, older than {older_than} days"


def _plan(document: Document, judged: Sequence[Judged]) -> Plan:
    removals = tuple(one for one in judged if one.cause == "old")
    result = edit.remove(document, {one.id for one in removals})
    return Plan(document, removals, tuple(one for one in judged if one.cause != "old"), result)


def _again(one: Judged, cause: str, reason: str) -> Judged:
    return Judged(one.id, one.line, one.text, one.date, one.date_source, one.section, reason, cause)

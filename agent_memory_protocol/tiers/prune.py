"""What is outdated in a document: a plan, made from dates alone (decision 22).

An entry's own date says it is time-sensitive. A section's date mostly says when its entries were learned, so those
go only when asked for. What has no date stays. What has expired goes whatever its date (decision 41).

What may have replaced an entry that stays does not go before it: the older value would be all that is left.
"""

from bisect import bisect_left
from collections.abc import Callable, Collection, Sequence
from dataclasses import replace
from datetime import date

from ..errors import Refused
from ..layout import Target
from ..limits import over_limits
from ..text import labels
from ..values import dataclass, json_of
from .document import Document
from .entries import OWN, Entry, suspicious_days
from .remove import remove

_GOES = ("expired", "old")


@dataclass(frozen=True, slots=True)
class Judged(labels.Labelled):
    """An entry, and why it goes or stays."""

    id: str
    line: int  # where it is, counted from 1
    text: str
    date: date | None  # the day it is dated with; None for an undated one
    date_source: str  # `own mark`, `heading` or `label`; "" for an undated one
    section: str
    label: str
    reason: str  # in words, why it goes or stays
    # `old` or `expired` where it goes; else why it stays: undated, kept, future, suspicious, section, recent, newer,
    # held, stuck or unchosen
    cause: str

    def to_json(self, target: Target) -> dict[str, object]:
        """Return it as it is in a JSON answer; `target` is its document."""
        answer = json_of(self, "line date date_source? section label text cause reason")
        return {"id": self.id, **target.to_json(), **answer}


@dataclass(frozen=True, slots=True)
class Plan:
    """What pruning one document would take out, and what it would leave and why."""

    document: Document
    removals: tuple[Judged, ...]  # what goes, in file order
    kept: tuple[Judged, ...]  # what stays, in file order
    result: Document  # the document without what goes

    @property
    def drops_most(self) -> bool:
        """Whether more than half of the document's entries would go. What has expired does not count."""
        old = sum(one.cause == "old" for one in self.removals)
        return old * 2 > old + len(self.kept)


def plan_pruning(
    document: Document,
    *,
    today: date,
    older_than: int,
    sections: bool = False,
    holds: Callable[[str], str] | None = None,
) -> Plan:
    """Say which entries have expired, and which are more than `older_than` days old, going by their own dates.

    With `sections`, entries whose date is their section's go as well, once that is old. What was dated today never
    goes, nor does an entry whose text gives `holds` a reason why it must not. Changes nothing.
    """
    age = max(0, older_than)
    by_date = _judge(document, today=today.toordinal(), older_than=age, sections=sections, holds=holds)
    gone: set[str] = set()
    while True:
        judged = _with_suspicions(document, by_date, gone)
        going = {one.id for one in judged if one.cause in _GOES}
        if going == gone and not (newer := _newer(document, judged)):
            return _plan(document, judged)
        by_date = [newer.get(one.id, one) for one in by_date] if going == gone else by_date
        gone = going


def plan_to_limit(
    document: Document,
    *,
    today: date,
    max_lines: int,
    max_bytes: int,
    sections: bool = False,
    older_than: int | None = None,
    spare: str = "",
    holds: Callable[[str], str] | None = None,
) -> Plan:
    """Say which of the oldest dated entries must go for the document to fit; as many as can, where it never will.

    What has expired goes first, all of it. With `older_than` only entries of more than that many days go. The entry
    with the id `spare` never goes, nor does one whose text gives `holds` a reason why it must not.
    """

    def fits(one: Document) -> bool:
        return not over_limits(one.data, max_lines, max_bytes)

    def fits_without(count: int) -> bool:
        return fits(_take_out(document, candidates[:count])[0])

    age = max(0, older_than) if older_than is not None else -1
    by_date = _judge(document, today=today.toordinal(), older_than=age, sections=sections, holds=holds)
    gone: set[str] = set()
    while True:
        judged = _with_suspicions(document, by_date, gone)
        expired = [one.id for one in judged if one.cause == "expired" and one.id != spare]
        old = [one for one in judged if one.cause == "old" and one.id != spare]
        candidates = expired + [one.id for one in sorted(old, key=lambda one: (one.date or today, one.line))]
        low = len(expired)
        if not fits(document):
            low += bisect_left(range(low, len(candidates)), x=True, key=fits_without)
        if low < len(candidates) or gone == set(candidates) or fits_without(len(candidates)):
            leaving = {*candidates[:low]}
            staying = [one if one.id in leaving else replace(one, cause="recent") for one in judged]
            newer = _newer(document, staying)
            if not newer:
                break
            by_date = [newer.get(one.id, one) for one in by_date]
        else:
            gone = set(candidates)
    going = set(candidates[:low])
    settled = [
        one
        if one.cause != "old"
        else replace(one, reason="among the oldest; the document is over its limit")
        if one.id in going
        else replace(one, cause="recent", reason="the document fits without it going")
        for one in judged
    ]
    return _plan(document, settled)


def stays(entry: Entry, *, today: date, older_than: int, sections: bool) -> bool:
    """Say whether an entry would stay, going by its own date and its end alone."""
    return _reason(entry, today.toordinal(), max(0, older_than), sections=sections)[0] not in _GOES


def only(plan: Plan, ids: Collection[str]) -> Plan:
    """Return the plan for some of what it would take out; the rest stays."""
    left = [
        one if one.id in ids else replace(one, cause="unchosen", reason="it was not chosen") for one in plan.removals
    ]
    return _plan(plan.document, sorted([*left, *plan.kept], key=lambda one: one.line))


def old_sections(document: Document, *, today: date, older_than: int) -> list[tuple[int, str, date]]:
    """Return the headings whose own date is old: line from 1, text, date. `--sections` would take their entries."""
    return [
        (heading.start + 1, heading.text, date.fromordinal(heading.day))
        for heading in document.outline.headings
        if heading.day is not None and today.toordinal() - heading.day > older_than
    ]


def _judge(
    document: Document, *, today: int, older_than: int, sections: bool, holds: Callable[[str], str] | None
) -> list[Judged]:
    """Judge each entry by its own date, whatever is beside it."""
    judged = []
    for entry, entry_id in zip(document.outline.entries, document.ids, strict=True):
        text = document.said(entry)
        cause, reason = _reason(entry, today, older_than, sections=sections)
        if cause in _GOES and holds is not None and (why := holds(text)):
            cause, reason = "held", why
        judged.append(
            Judged(
                id=entry_id,
                line=entry.start + 1,
                text=text,
                date=None if entry.day is None else date.fromordinal(entry.day),
                date_source=entry.day_source,
                section=document.section(entry),
                label=document.spelled_out(document.label(entry)),
                reason=reason,
                cause=cause,
            )
        )
    return judged


def _reason(entry: Entry, today: int, older_than: int, *, sections: bool) -> tuple[str, str]:
    if entry.is_expired(today):
        ended = date.fromordinal(entry.marks.until or 0)
        return ("kept", "marked [keep]") if entry.kept else ("expired", f"expired on {ended}")
    if entry.day is None:
        return "undated", "undated, so lasting"
    written = date.fromordinal(entry.day).isoformat()
    if entry.day > today:
        return "future", f"dated {written}, in the future; correct the date"
    if today - entry.day <= older_than:
        return "recent", f"dated {written}, not older than {older_than} days"
    if entry.kept:
        return "kept", "marked [keep]"
    if entry.day_source != OWN and not sections:
        return "section", f"its section is dated {written}; --sections takes it"
    return "old", f"dated {written}, older than {older_than} days"


def _with_suspicions(document: Document, judged: Sequence[Judged], gone: Collection[str]) -> list[Judged]:
    """Spare what may have a mistyped year. The date of one that goes speaks against no other's."""
    staying = [index for index, one in enumerate(judged) if one.id not in gone]
    found = list(judged)
    for index in suspicious_days(document.outline.entries, staying):
        one = found[index]
        if one.cause in ("old", "held", "section"):
            reason = f"dated {one.date}, long before the entries around it; is the year right?"
            found[index] = replace(one, cause="suspicious", reason=reason)
    return found


def _newer(document: Document, judged: Sequence[Judged]) -> dict[str, Judged]:
    """Return what is to be spared: where some of what cannot all hold stays, the newest, if only older ones stay."""
    spared: dict[str, Judged] = {}
    if all(one.cause != "old" for one in judged):
        return spared
    from .meet import rivals  # where nothing goes, it need not be loaded

    for group in rivals(document):
        going = [judged[place] for place in group if judged[place].cause == "old"]
        staying = [judged[place] for place in group if judged[place].cause not in _GOES]
        if going and staying:
            newest = max(going, key=lambda one: (one.date or date.min, one.line))
            if all(one.date is None or one.date <= (newest.date or date.min) for one in staying):
                other = staying[-1]
                told = f"line {other.line} may be its old value; `amp resolve {other.id} {newest.id}` retires that"
                spared[newest.id] = replace(newest, cause="newer", reason=told)
    return spared


def _plan(document: Document, judged: Sequence[Judged]) -> Plan:
    result, stuck = _take_out(document, [one.id for one in judged if one.cause in _GOES])
    if stuck:
        reason = "cannot be removed without changing the lines around it; edit it by hand"
        judged = [replace(one, cause="stuck", reason=reason) if one.id in stuck else one for one in judged]
    removals = tuple(one for one in judged if one.cause in _GOES)
    return Plan(document, removals, tuple(one for one in judged if one.cause not in _GOES), result)


def _take_out(document: Document, ids: Sequence[str]) -> tuple[Document, set[str]]:
    """Return the document without these entries, and those that cannot go: one odd entry must not keep all others."""
    try:
        return remove(document, ids), set()
    except Refused:
        pass
    result, going = document, set[str]()
    tried = -1
    while tried < len(going):
        tried = len(going)
        for one in ids:
            if one not in going:
                try:
                    result = remove(document, {*going, one})
                except Refused:
                    continue
                going.add(one)
    return result, set(ids) - going

"""What a record file holds goes into memory: a plan first, then the same done. What is there already comes in once.

Every entry is judged on its own, so a bad one costs no other; who wants all or nothing says so, and then nothing is
written before everything is known to be good.
"""

import json
from collections import Counter
from collections.abc import Callable, Collection, Hashable, Iterable, Iterator, Mapping
from dataclasses import field, replace
from datetime import UTC, datetime
from types import MappingProxyType

from ..answers import About
from ..errors import AgentMemoryError, DamagedFile, LimitExceeded, MissingExtra, Refused
from ..formats import known, markdown, record_entries
from ..formats.entry import MADE_BY, MemoryEntry, Problem, original_id, to_milliseconds, to_moment
from ..formats.jsonl_rules import KINDS
from ..formats.loss import EMBEDDING, OVER, RELEVANCE, Loss, unknown_fields
from ..formats.record_files import reading
from ..formats.rows import has_own_id
from ..layout import Target
from ..memory import Memory
from ..notes import note
from ..project.access import Actor
from ..records.canonical import Json
from ..records.proof import Links, check_links
from ..records.record import CARRIED, Record, RecordType, event_of, headings_of, until_of
from ..secrets.find import check_text
from ..text import labels
from ..tiers import compose
from ..tiers.document import Document, Section
from ..tiers.entries import Entry
from ..values import dataclass
from ..workspace import Workspace
from .acceptance import Acceptance
from .convert import TOLD, keep, readable

NEW, KNOWN, LEFT_OUT = "new", "known", "left_out"
_TEXT_BYTES = 64 << 20
MEETS_AT_MOST = 50  # So many new records are compared with what is there: people wait for it
_TELLING = 8  # A text of so few characters may be on many lines

Take = Callable[[MemoryEntry, bool], bool]
"""Takes an entry in, or with False says what would become of it: whether it is new. Raises what refuses it."""


@dataclass
class Import:
    """What became of the entries of a file, or would."""

    applied: bool = False
    counts: Counter[str] = field(default_factory=Counter)  # how many are new, known or left out
    added: list[str] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)  # what is left out and why, the first `TOLD`
    refused: bool = False  # whether a rule of memory was the reason, for some of them
    lost: Counter[Loss] = field(default_factory=Counter)  # of how many of the new ones what was lost
    notes: list[str] = field(default_factory=list)

    def to_json(self) -> dict[str, object]:
        """Return the JSON answer, without where the entries come from and go to."""
        return {
            "applied": self.applied,
            **{what: self.counts[what] for what in (NEW, KNOWN, LEFT_OUT)},
            "texts": self.added,
            "losses": [{"what": one.what, "instead": one.instead, "entries": n} for one, n in self.lost.items()],
            "problems": [one._asdict() for one in self.problems],
            "notes": self.notes,
        }


def import_file(
    path: str,
    read: Callable[[], Iterable[MemoryEntry | Problem]],
    take: Take,
    *,
    apply: bool,
    strict: bool = False,
    losses: Collection[Loss] = (),
    progress: Callable[[int], object] | None = None,
) -> Import:
    """Plan what would become of a file's entries, and with `apply` do it.

    `path` says on which line a refused entry is, `losses` what cannot be kept where they go, and `take` takes one in.
    When `strict`, the first problem is an error, before anything is written.
    """
    if apply and strict:
        import_file(path, read, take, apply=False, strict=True, progress=progress)
    done = Import(applied=apply)

    def leave_out(problem: Problem, *, refused: bool = False) -> None:
        keep(done.problems, problem, strict=strict, kind=Refused if refused else DamagedFile)
        done.counts[LEFT_OUT] += 1
        done.refused |= refused

    for number, one in enumerate(readable(read()), start=1):
        if progress is not None and number % 100 == 0:
            progress(number)
        if isinstance(one, Problem):
            leave_out(one)
            continue
        if OVER in losses and OVER.found(one):
            done.lost[OVER] += 1
            continue
        try:
            is_new = take(one, apply)
        except (MissingExtra, OSError):
            raise
        except AgentMemoryError as error:
            leave_out(Problem(_place(path, one, number), str(error)), refused=isinstance(error, Refused))
            continue
        done.counts[NEW if is_new else KNOWN] += 1
        done.lost.update(loss for loss in losses if is_new and loss.found(one))
        if is_new and len(done.added) < TOLD:
            done.added.append(one.text)
    return done


def _place(path: str, entry: MemoryEntry, number: int) -> str:
    """Say on which line of a text file an entry is; where that cannot be said, its number."""
    first = entry.text.strip().split("\n")[0]
    said = first.rpartition(": ")[2] if entry.extra.get("entity") else first
    signs = [json.dumps(part, ensure_ascii=False)[1:-1] for part in (said[:60], said[-60:]) if len(part) > _TELLING]
    signs += [json.dumps(name) for name in (original_id(entry), entry.id)]
    with reading(path) as file:
        data = file.read(_TEXT_BYTES).strip()
    if b"\0" in data:  # a database or protobuf has no lines that an editor shows
        return f"entry {number:,}"
    lines = data.split(b"\n")
    if len(lines) == 1 and record_entries.RECORD in entry.extra:  # a memory file is one line
        return f"record {number:,}"
    for sign in signs:
        found = [line for line, text in enumerate(lines, start=1) if sign.encode() in text]
        if len(found) == 1:
            return f"line {found[0]:,}"
    return f"entry {number:,}"


def into_records(
    memory: Memory,
    now: datetime | None = None,
    *,
    accept: Acceptance | None = None,
    from_page: bool = False,
    new: list[str] | None = None,
    left: set[str] | None = None,
) -> Take:
    """Return what takes entries in as records: the record an entry carries, else a new one with what it says.

    A heading such as `Never` goes in front of what is under it, as a label does. Only what `accept` lets in comes in.
    What a record says already gets the tags. The list `new` gets the ids of the records that are written, the set
    `left` the pairs of `extra` that stay out since another record has other ones.
    """
    moment = now or datetime.now(UTC)
    seen: dict[tuple[bool, Hashable], Record] = {}  # in the plan, and then again in the deed

    def take(entry: MemoryEntry, apply: bool) -> bool:
        kept = record_entries.kept_record(entry) if accept is None else accept.check(entry)
        record = kept or _record_of(entry, moment, from_page=from_page)
        said: Hashable = kept or (record.type, record.body, headings_of(record), until_of(record), event_of(record))
        before = seen.get((apply, said))
        if kept and before:
            return False
        record_id, is_new = memory.add(record, apply=apply, once=kept is None)
        is_new = is_new and before is None
        there = before or (record if is_new else memory.newest(record_id) or record)
        seen[apply, said] = there
        if new is not None and is_new and apply:
            new.append(record_id)
        if left is not None and kept is None:
            left.update(name for name, value in _pairs(record).items() if _pairs(there).get(name) != value)
        return is_new

    return take


def _record_of(entry: MemoryEntry, moment: datetime, *, from_page: bool) -> Record:
    """Return a new record of a plain fact, with its headings and its id, since a record has another one."""
    headings = known.headings_of(entry.extra, entry.tags) if from_page or known.HEADINGS in entry.extra else ()
    pairs = {known.HEADINGS: known.listed(headings)} if headings else {}
    pairs |= {"id": entry.id} if has_own_id(entry) else {}
    turning = next(filter(labels.turns, reversed(headings)), "")
    return record_entries.record_of(
        entry._replace(
            timestamp_ms=entry.timestamp_ms or to_milliseconds(moment),
            text=labels.in_front(turning, entry.text),
            extra=MappingProxyType({**pairs, **entry.extra}),
        )
    )


def _pairs(record: Record) -> dict[str, Json]:
    """Return the pairs that a record carries and that only its source knows the meaning of."""
    pairs = record.slots.get(CARRIED)
    return {name: one for name, one in pairs.items() if name not in _KEPT} if isinstance(pairs, Mapping) else {}


def meetings(memory: Memory, new: list[str]) -> list[str]:
    """Say what new records lack, repeat, contradict or change; of more than `MEETS_AT_MOST`, what the first ones do."""
    looked = new[:MEETS_AT_MOST]
    told = dict.fromkeys([*missing(memory, new), *(line for one in looked for line in memory.meets([one]))])
    if len(new) > len(looked):
        told[f"looked at {len(looked)} of {len(new):,} new records; `amp consolidate` compares all of them"] = None
    return [*told]


def missing(memory: Memory, new: list[str]) -> list[str]:
    """Say what new records name that is not there: it has not come with them."""
    records = [one for one in map(memory.newest, new) if one is not None]
    newest = {one.id: Links.of(one) for one in records}
    named = {link for links in newest.values() for link in links.named()} - newest.keys()
    there = {one.id: Links.of(one) for one in map(memory.newest, sorted(named)) if one is not None}
    return list(check_links({**newest, **there}, among=newest))


class IntoDocument:
    """Takes entries into a tier document, or as a note. The tags of a page are its headings, and no more.

    Only what `accept` lets in comes in. The list `notes` gets what is said of the new ones. Each goes under the
    headings that it was under, or else that its last tag names, and under its label; what is known of it goes into
    the ledger. An entry that was a note becomes one again, beside the document.
    """

    def __init__(
        self,
        workspace: Workspace,
        target: Target,
        actor: Actor,
        *,
        accept: Acceptance | None = None,
        from_page: bool = False,
        notes: list[str] | None = None,
    ) -> None:
        self._workspace, self._target, self._actor = workspace, target, actor
        self._accept, self._from_page = accept, from_page
        self._settings = workspace.settings
        self._told: list[str] = [] if notes is None else notes
        self._here = {page.alone(entry) for page, entry in self._entries()}
        self._keeps_notes = target.tier.has_notes
        self._files = {row.file for row in workspace.notes(actor, [target])} if self._keeps_notes else set()
        # The headings that a text has come under, in the plan and then again in the deed
        self._under: dict[tuple[bool, str], list[tuple[str, ...]]] = {}

    def __call__(self, entry: MemoryEntry, apply: bool) -> bool:
        """Take one entry in, or say whether it would be new; see `Take`."""
        if self._accept is not None:
            self._accept.check(entry)
        if self._keeps_notes and _is_note(entry):
            return self._take_note(entry, apply)
        headings = known.headings_of(entry.extra, entry.tags)
        if not self._from_page and known.HEADINGS not in entry.extra:
            headings = headings[-1:]  # tags of another tool, of which the last is as good a heading as any
        seen = self._under.setdefault((apply, entry.text), [])
        if headings in seen or (seen and self._is_there_as_often(entry.text, headings, len(seen))):
            return False
        seen.append(headings)
        if apply:
            return self._remember(entry, headings, twice=len(seen) > 1)
        compose.compose(markdown.label_and_text(entry)[1], max_bytes=self._settings.max_bytes)
        self._check(entry.text)
        return len(seen) > 1 or entry.text.strip() not in self._here

    def _remember(self, entry: MemoryEntry, headings: tuple[str, ...], *, twice: bool) -> bool:
        target = self._target
        label, text = markdown.label_and_text(entry)
        # A label further down is another one than one that was under no section.
        section: Section | None = headings or (() if label else None)
        is_dated = bool(entry.timestamp_ms) and not markdown.is_dated_by_others(entry, headings)
        try:
            done = self._workspace.remember(
                compose.with_marks(text, markdown.marks_of(entry)),
                tier=target.tier,
                agent=target.owner if target.tier.owner == "agent" else None,
                conversation=target.owner if target.tier.owner == "conversation" else None,
                actor=self._actor,
                section=section,
                under=label or None,
                dated=is_dated and to_moment(entry.timestamp_ms).date(),
                about=_about(entry._replace(tags=()) if self._from_page else entry, target),
                keep=True,
                twice=twice,
            )
        except LimitExceeded as error:
            raise Refused(f"{target} is full: {error}") from None
        self._told.extend(done.notes)
        return done.status == "added"

    def _take_note(self, entry: MemoryEntry, apply: bool) -> bool:
        about = entry.extra
        if note.file_name(about["kind"], about.get("name", "")) in self._files:
            return False
        if apply:
            self._workspace.new_note(
                about["kind"],
                about["name"],
                description=about.get("description") or entry.text,
                why=about["why"],
                how=about["how"],
                body=entry.text,
                target=self._target,
                actor=self._actor,
            )
        else:
            self._check("\n".join((entry.text, *about.values())))
        return True

    def _check(self, text: str) -> None:
        check_text(text, allow=self._settings.secrets_allow)

    def _is_there_as_often(self, text: str, headings: tuple[str, ...], count: int) -> bool:
        """Say whether a text that comes again under other headings is there for these, or was moved from them."""
        there = [page.sections(entry) for page, entry in self._entries() if page.alone(entry) == text]
        return headings in there or len(there) > count

    def _entries(self) -> Iterator[tuple[Document, Entry]]:
        """Yield the entries that the document has now, each with the document."""
        for page in self._workspace.documents(self._actor, [self._target]):
            yield from ((page, entry) for entry in page.outline.entries)


_KEPT = {"id", known.TARGET, MADE_BY, markdown.LABEL, known.HEADINGS, *known.IN_LEDGERS, *known.MARKS}


def _has_other_kind(entry: MemoryEntry) -> bool:
    kind = entry.extra.get("kind", "")
    return kind not in ("", *KINDS, RecordType.FACT) and not _is_note(entry)


def _has_other_pairs(entry: MemoryEntry) -> bool:
    left = {*entry.extra} - _KEPT
    return any(not key.startswith(markdown.HEADER) for key in left) and not _is_note(entry)


def _has_header(entry: MemoryEntry) -> bool:
    return any(key.startswith(markdown.HEADER) for key in entry.extra)


_FOREIGN_EMBEDDING = replace(
    EMBEDDING, found=lambda entry: entry.embedding != b"" and not {MADE_BY, record_entries.RECORD} & {*entry.extra}
)
RECORD_LOSSES = (_FOREIGN_EMBEDDING, *record_entries.OF_CONTENT)
"""What records cannot keep of an entry."""

DOCUMENT_LOSSES = (
    OVER,
    _FOREIGN_EMBEDDING,
    RELEVANCE,
    Loss("kinds that no entry of a document has", "no kind", _has_other_kind, lambda entry: entry),
    Loss("what the header of their file says", "left out", _has_header, lambda entry: entry),
    Loss("other columns and pairs of extra", "left out", _has_other_pairs, lambda entry: entry),
    unknown_fields(),
)
"""What a document and its ledger cannot keep of an entry."""


def _is_note(entry: MemoryEntry) -> bool:
    """Say whether an entry was a note: it has all that one has."""
    return entry.extra.get("kind") in note.TYPES and all(entry.extra.get(key) for key in ("name", "why", "how"))


def _about(entry: MemoryEntry, target: Target) -> About:
    """Return what is known of an entry, as the ledger of this document keeps it."""
    about = known.about_of(entry.extra, entry.source, entry.tags)
    is_at_midnight = entry.timestamp_ms % markdown.DAY == 0
    return replace(
        about,
        created=None if is_at_midnight else to_moment(entry.timestamp_ms).isoformat(timespec="milliseconds"),
        # Elsewhere these ids name other entries, or none.
        disputed_with=known.disputed_with(entry.extra) if entry.extra.get(known.TARGET) == str(target) else (),
    )

"""What becomes of memory that another tool has kept: a plan, from what it holds and what is here already.

A page of entries is merged into the document it belongs to, so that what both have is there once. What is too long for
a memory file becomes a note in parts, each within its limits, with one line in the index. Lines of an index without
room are kept beside it (decision 44). Values in, values out.
"""

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import field
from dataclasses import replace as replace_fields
from functools import partial
from itertools import chain, count

from ..errors import DamagedFile, InvalidName, Refused
from ..layout import NOTE_NAME_LENGTH, Target, Tier, check_note_file, name_key
from ..limits import most_that_fits, over_limits, split_lines
from ..notes import index
from ..notes.index import is_beside
from ..text import labels, markdown, visible
from ..text.dates import day_text
from ..text.footnotes import with_addresses
from ..text.headers import front_matter_end
from ..text.ids import id_of_proposal
from ..text.markers import conflict_line
from ..text.opposites import scope
from ..text.topics import is_elsewhere, subject
from ..tiers import document
from ..tiers.document import Document
from ..tiers.entries import Entry, IndexLine
from ..tiers.meet import CHANGED, OPPOSITE, Placed, meetings, suspicions
from ..tiers.merge import merge, named_apart
from ..tiers.remove import remove
from ..tiers.taken import is_part_of
from ..values import dataclass, json_of
from .elsewhere import Page, Store
from .parts import in_parts, slug_of

_LEAD_LINES = 9
_LEAD_BYTES = 200  # What the block of an index takes that only leads to `INDEX.md`; its bytes twice

_MOST_SECRETS = 100
_REMARK = "(a line with a secret was left out here)"
_FRONT = re.compile(r"[ \t]*(?:(?:[-*+]|\d+[.)]|#+|>)[ \t]+)*")
_LONGEST_STEM = NOTE_NAME_LENGTH - len("_99.99999")  # What may come before the numbers of a page and its part


@dataclass(frozen=True, slots=True)
class KeptOut:
    """Something that is not brought in, why, and the exit code of the error; 0 if its content is the reason."""

    where: str
    reason: str
    exit_code: int = 0


@dataclass(frozen=True, slots=True)
class Contradiction:
    """A new entry and one that is here, of which one says the opposite of the other, or has another value."""

    new: str
    standing: str
    way: str = OPPOSITE


@dataclass(frozen=True, slots=True)
class Adoption:
    """What becomes of one store.

    Attributes:
        entries: the new entries, their Markdown.
        present: how many of its entries are here already.
        text: the document with them; None if it stays as it is.
        notes: the new notes, by file name.
        index_lines: lines of its index that have no room in the document, each with what it was under.
        left_out: what does not come in, and why.
        contradictions: new entries that contradict entries here.
        old: new entries whose own date is past the age at which entries are pruned.
    """

    store: Store
    entries: tuple[str, ...] = ()
    present: int = 0
    text: str | None = None
    notes: Mapping[str, str] = field(default_factory=dict)
    index_lines: tuple[tuple[str, str], ...] = ()
    left_out: tuple[KeptOut, ...] = ()
    contradictions: tuple[Contradiction, ...] = ()
    old: tuple[str, ...] = ()

    @property
    def id(self) -> str:
        """Names the proposal; the same whenever the same place is adopted."""
        return id_of_proposal("adopt", self.store.path, str(self.store.target))

    @property
    def summary(self) -> str:
        """What it is about, for people."""
        return f"{self.store.path} ({self.store.kind})"

    @property
    def does_something(self) -> bool:
        """Whether anything would be written."""
        return self.text is not None or bool(self.notes) or bool(self.index_lines)

    def to_json(self) -> dict[str, object]:
        """Return it as it is in a JSON answer."""
        return {
            **json_of(self, "id source=store.path kind=store.kind *store.target entries present"),
            "notes": [*self.notes],
            "index_lines": [line for _, line in self.index_lines],
            "left_out": [json_of(left, "where reason") for left in self.left_out],
            "old": [*self.old],
            "contradictions": [json_of(pair, "new standing way") for pair in self.contradictions],
        }


@dataclass(frozen=True, slots=True)
class Here:
    """What is here, where a store's memory belongs."""

    text: str  # the document, or the header a new one begins with
    notes: Mapping[str, str]
    # the ids of entries that were taken out here, each with the key of its label; they do not come back
    gone: Collection[tuple[str, str]]
    secret_in: Callable[[str], str]  # describes the first secret in a text, "" without one
    max_lines: int
    max_bytes: int
    beside: Collection[str] = ()  # the lines in the files beside it that its index has no room for
    today: int = 0  # the day as an ordinal: what ended before it has expired
    old_before: int = 0  # entries dated before this day, as an ordinal, are past the age at which they are pruned


def plan(store: Store, here: Here) -> Adoption:
    """Say what becomes of a store. The same store, planned again when that is done, gives nothing to do."""
    work = _Plan(store, here)
    for page in store.notes:
        work.add_note(page)
    for page in store.pages:
        work.add_page(page)
    if store.document is not None:
        work.add_document(store.document)
    return work.done()


class _Plan:
    def __init__(self, store: Store, here: Here) -> None:
        self.store = store
        self.here = here
        self.entries: list[str] = []
        self.present = 0
        self.text: str | None = None
        self.notes: dict[str, str] = {}
        self.index_lines: list[tuple[str, str]] = []
        self.left_out = [KeptOut(store.path, problem, DamagedFile.exit_code) for problem in store.problems]
        self.left_out += [
            KeptOut(store.path, f"includes {one}, which is not a file of this project") for one in store.outside
        ]
        self.contradictions: list[Contradiction] = []
        self.old: list[str] = []
        self.stems: set[str] = set()

    def done(self) -> Adoption:
        out, against, lines = tuple(self.left_out), tuple(self.contradictions), tuple(self.index_lines)
        entries, old = tuple(self.entries), tuple(self.old)
        return Adoption(self.store, entries, self.present, self.text, self.notes, lines, out, against, old)

    # -- notes and pages -------------------------------------------------------------------------------------------

    def add_note(self, page: Page) -> None:
        """Bring in a note under its own name, for index lines name it; one that is too long in parts."""
        page = self._without_secrets(page)
        text = page.text
        if is_beside(page.name):
            theirs = document.parse(text.encode(), self.store.target)
            self._add_index_lines(theirs, page, theirs.outline.index_lines)
            return
        try:
            file = check_note_file(page.name)
        except InvalidName as error:
            self.left_out.append(KeptOut(page.path, f"{error}; rename it"))
            return
        secret = self.here.secret_in(file)
        if conflict := conflict_line(split_lines(text)):
            told = f"line {conflict}: unresolved merge conflict; resolve it first"
            self.left_out.append(KeptOut(page.path, told, DamagedFile.exit_code))
        elif secret:
            self.left_out.append(KeptOut(page.path, f"its name holds {secret}; rename it"))
        elif self._fits(text):
            self._put(file, text, page)
        else:
            self._put_parts([file[:-3]], page)

    def _add_index_lines(self, theirs: Document, page: Page, lines: Sequence[IndexLine]) -> None:
        """Keep lines of an index that a person wrote for the files beside the document here."""
        made = {line.line for line in index.read("\n".join(theirs.lines)).lines if line.in_block}
        for line in lines:
            text = "\n".join(theirs.lines[line.start : line.end])
            if line.start + 1 in made or is_beside(line.target) or theirs.lines[line.start] in self.here.beside:
                continue
            if secret := self.here.secret_in(text):
                self.left_out.append(KeptOut(page.place(text), f"holds {secret}; say where it is kept instead"))
                continue
            above = [one.text for one in map(theirs.outline.headings.__getitem__, line.headings) if one.level > 1]
            governs = [*(f"## {one}" for one in above[-1:]), *filter(None, [theirs.label(line)])]
            self.index_lines.append(("\n\n".join(governs), text))

    def add_page(self, page: Page) -> None:
        """Bring in a longer text as notes that say where it comes from."""
        page = self._without_secrets(page)
        name, folder = slug_of(page.name[:-3]), page.path.replace("\\", "/").split("/")[-2]
        self._put_parts([f"reference_{name}", f"reference_{slug_of(folder)}-{name}"], page)

    def _put_parts(self, stems: Sequence[str], page: Page) -> None:
        """Bring in a page under the first of these names that no other page of the store has, else a number too."""
        if not self.store.target.tier.has_notes:
            self.left_out.append(KeptOut(page.path, "is too long for a memory file, and a conversation has no notes"))
            return
        self.stems.add(stem := self._free(stems))
        for file, text in self._as_notes(stem, page):
            self._put(file, text, page)

    def _free(self, stems: Sequence[str]) -> str:
        short = [stem[:_LONGEST_STEM].rstrip("-_. ") for stem in stems]
        numbered = (f"{short[0]}_{number}" for number in count(2))
        return next(one for one in chain(short, numbered) if one not in self.stems)

    def _as_notes(self, stem: str, page: Page) -> Iterator[tuple[str, str]]:
        source = page.source or page.name
        yield from in_parts(stem, _shown(page.text), source, self.here.max_lines, self.here.max_bytes).items()

    def _put(self, file: str, text: str, page: Page) -> None:
        secret = self.here.secret_in(text)
        all_notes = {**self.here.notes, **self.notes}
        standing = all_notes.get(file)
        alike = next((one for one in all_notes if one != file and name_key(one) == name_key(file)), "")
        if secret:
            self.left_out.append(KeptOut(page.path, f"holds {secret}; say where it is kept instead"))
        elif alike:
            reason = f"{alike} is here, and many file systems do not tell it from {file}; compare the two"
            self.left_out.append(KeptOut(page.path, reason))
        elif standing is None:
            self.notes[file] = text
        elif standing.split() != text.split():
            self.left_out.append(KeptOut(page.path, f"another note is called {file} here; compare the two"))

    # -- documents -------------------------------------------------------------------------------------------------

    def add_document(self, page: Page) -> None:
        """Merge a page of entries into the document here; what does not fit becomes notes."""
        target = self.store.target
        try:
            mine = document.parse(self.here.text.encode(), target)
            theirs = _closed(document.parse("\n".join(with_addresses(_shown(page.text).split("\n"))).encode(), target))
            theirs = self._without_unwanted(mine, theirs, page)
            page = self._without_secrets(replace_fields(page, text="".join(theirs.raw), original=page.whole))
            theirs = named_apart(document.parse(page.text.encode(), target), mine)
            standing = _in_prose(mine, theirs)
            theirs = remove(theirs, standing)
        except (DamagedFile, Refused) as error:
            self.left_out.append(KeptOut(page.path, str(error)))
            return
        secret = self.here.secret_in("\n".join(theirs.lines))
        if document.conflict_line(theirs) or secret:
            reason = f"holds {secret} outside its entries; say where it is kept instead"
            conflict = "holds conflict markers; resolve them, then adopt it"
            self.left_out.append(KeptOut(page.path, reason if secret else conflict))
            return
        there = {*mine.lines, *self.here.beside}
        lines = [one for one in theirs.outline.index_lines if theirs.lines[one.start] not in there]
        stem = f"reference_{slug_of(target.owner or 'shared')}-{slug_of(page.name[:-3])}"
        whole = replace_fields(page, text=_text_without_lines(page.text)) if target.tier.has_notes else page
        if target.tier.has_notes and self._came_as_notes(stem, whole):
            self.present = len(standing) + len(theirs.ids)
            self._add_index_lines(theirs, page, lines)
            return

        new = [one for one, entry in theirs.by_id if _standing(mine, theirs, one, entry) is None]
        self.present = len(standing) + len(theirs.ids) - len(new)
        merged, surplus = self._as_much_as_fits(mine, theirs, lines)
        if merged is not None:
            self._add_index_lines(theirs, page, surplus)
            self.entries = [_entry_text(theirs, one) for one in new]
            self.contradictions = [*_contradictions(mine, theirs, new), *_changes(merged, new)]
            days = {one: entry.day for one, entry in theirs.by_id}
            self.old = [_entry_text(theirs, one) for one in new if 0 < (days[one] or 0) < self.here.old_before]
            # Headings, rules and comments alone are nothing to import.
            self.text = merged.data.decode() if (new or lines) and merged.data != mine.data else None
            return
        if target.tier.has_notes:
            self._add_index_lines(theirs, page, lines)
        if new or (lines and not target.tier.has_notes):
            self.present = 0
            self._put_parts([stem], whole)

    def _as_much_as_fits(
        self, mine: Document, theirs: Document, lines: Sequence[IndexLine]
    ) -> tuple[Document | None, Sequence[IndexLine]]:
        """Merge a document in with as many of its new index lines as have room, and return the others."""
        known = [one for one in theirs.outline.index_lines if one not in lines]
        merged = _merged(mine, _without_lines(theirs, known))
        if merged is not None and self._fits(merged.data.decode()):
            return merged, ()
        lead, size = (1, _LEAD_BYTES) if index.read(self.here.text).blocks else (_LEAD_LINES, 2 * _LEAD_BYTES)

        def merged_with(count: int) -> Document | None:
            made = _merged(mine, _without_lines(theirs, [*known, *lines[count:]]))
            over = made is None or over_limits(made.data, self.here.max_lines - lead, self.here.max_bytes - size)
            return None if over else made

        room = most_that_fits(len(lines), lambda count: merged_with(count) is not None)
        return (merged_with(room), lines[room:]) if lines and self.store.target.tier.has_notes else (None, lines)

    def _without_unwanted(self, mine: Document, theirs: Document, page: Page) -> Document:
        """Take out the entries of one line with a secret, and those that were taken out here or have expired here."""
        unwanted = []
        for one, entry in theirs.by_id:
            is_gone = (document.plain_id(one), labels.key(theirs.label(entry))) in self.here.gone
            is_short = entry.end - entry.start == 1
            secret = self.here.secret_in(theirs.text(entry)) if is_short else ""
            there = _standing(mine, theirs, one, entry)
            reason = f"holds {secret}; say where it is kept instead" if secret else ""
            if is_gone:
                reason = reason or "was removed here before; `amp restore` brings it back"
            elif there is not None and there.is_expired(self.here.today):
                day = day_text(there.marks.until or 0)
                reason = reason or f"expired here on {day}; if it is true again, say it with `amp remember`"
            if reason:
                self.left_out.append(KeptOut(page.place(theirs.lines[entry.start]), reason))
                unwanted.append(one)
        return remove(theirs, unwanted)

    def _without_secrets(self, page: Page) -> Page:
        """Return a page, as a reader sees it, with a remark in place of each line that holds a secret.

        Where several lines make the secret, such as a table or a key, they go up to the next blank line. A line of the
        header keeps its key.
        """
        lines = _shown(page.text).split("\n")
        begin = front_matter_end(lines)
        for number, line in enumerate(lines[:begin]):
            secret = self.here.secret_in(line)
            if secret:
                where = page.place(line)
                self.left_out.append(KeptOut(where, f"holds {secret}; say where it is kept instead"))
                key, colon, _ = line.partition(":")
                is_key = colon and not self.here.secret_in(key)
                lines[number] = f"{key}: {_REMARK}" if is_key else f"{_FRONT.match(line)[0]}{_REMARK}"  # type: ignore[index]
        for _ in range(_MOST_SECRETS):
            body = lines[begin:]
            secret = self.here.secret_in("\n".join(body))
            if not secret:
                break

            def holds(some: Sequence[str]) -> bool:
                return bool(self.here.secret_in("\n".join(some)))

            end = len(body) - most_that_fits(len(body), lambda less, body=body: holds(body[: len(body) - less]))  # type: ignore[misc]
            start = most_that_fits(end, lambda start, body=body, end=end: holds(body[start:end]))  # type: ignore[misc]
            if end - start > 1:
                end = next((number for number in range(end, len(body)) if not body[number].strip()), len(body))
            where = page.place(body[start], end - start)
            self.left_out.append(KeptOut(where, f"holds {secret}; say where it is kept instead"))
            lines[begin + start : begin + end] = [f"{_FRONT.match(body[start])[0]}{_REMARK}"]  # type: ignore[index]
        return replace_fields(page, text="\n".join(lines), original=page.whole)

    def _came_as_notes(self, stem: str, page: Page) -> bool:
        """Say whether this page once had no room, and is here as notes: it stays so, even if there is room by now."""
        made = self._as_notes(self._free([stem]), page)
        return all(self.here.notes.get(file, "").split() == text.split() for file, text in made)

    def _fits(self, text: str) -> bool:
        return not over_limits(text.encode(), self.here.max_lines, self.here.max_bytes)


def _closed(theirs: Document) -> Document:
    """Return a document in which what it leaves open is closed, so that nothing that follows becomes a part of it."""
    found = markdown.left_open(theirs.lines, theirs.outline.blocks)
    if found is None:
        return theirs
    end = theirs.outline.blocks[-1].end
    return document.rebuilt(
        theirs, [*(line + theirs.newline for line in theirs.lines[:end]), found[1] + theirs.newline]
    )


def _in_prose(mine: Document, theirs: Document) -> list[str]:
    """Return the prose of theirs that is part of longer prose here, since prose joins the prose it is put next to."""
    longer = [entry for entry in mine.outline.entries if not entry.is_item]
    return [
        one
        for one, entry in zip(theirs.ids, theirs.outline.entries, strict=True)
        if not entry.is_item
        and one not in mine.ids
        and any(is_part_of(mine, prose, theirs.text(entry)) for prose in longer)
    ]


def _standing(mine: Document, theirs: Document, one: str, entry: Entry) -> Entry | None:
    """Return the entry here that says what an entry of theirs says, about the same; None if no entry does."""
    elsewhere = partial(is_elsewhere, theirs.sections(entry))
    return document.standing(mine, document.plain_id(one), theirs.label(entry), elsewhere)


def _subject(mine: Document, other: Document, entry: Entry, one: str) -> Iterable[str]:
    """Return what an entry is about; if it is here already, what the one here is about."""
    there = None if other is mine else _standing(mine, other, one, entry)
    sections = other.sections(entry) if there is None else mine.sections(there)
    return scope(sections) | subject(sections)


def _merged(mine: Document, theirs: Document) -> Document | None:
    """Merge two documents that share no past; None if that is not certain."""
    if theirs.begin:
        theirs = document.rebuilt(theirs, theirs.raw[theirs.begin :])
    merged = merge(document.parse(b"", mine.target), mine, theirs, where=partial(_subject, mine))
    return None if merged is None else merged.document


def _text_without_lines(text: str) -> str:
    page = document.parse(_shown(text).encode(), Target(Tier.SHARED))
    lines = page.outline.index_lines
    return _without_lines(page, lines).data.decode() if lines else text


def _without_lines(theirs: Document, lines: Sequence[IndexLine]) -> Document:
    """Return a document without some index lines, and without the headings that were only there for them."""
    outline = theirs.outline
    others: list[Entry | IndexLine] = [*outline.entries, *(line for line in outline.index_lines if line not in lines)]
    staying = {index for unit in others for index in unit.headings}
    labels_staying = {unit.label for unit in others}
    spans = [(one.start, one.end) for one in lines]
    spans += [
        (outline.headings[index].start, outline.headings[index].end)
        for index in {index for line in lines for index in line.headings} - staying - {0}
    ]
    losing = {line.label for line in lines if line.label is not None} - labels_staying
    spans += [(outline.labels[label].start, outline.labels[label].end) for label in losing if label is not None]
    gone = {number for start, end in spans for number in range(start, end)}
    return document.rebuilt(theirs, [line for number, line in enumerate(theirs.raw) if number not in gone])


def _contradictions(mine: Document, theirs: Document, new: Sequence[str]) -> Iterator[Contradiction]:
    for meeting in meetings([mine, theirs]):
        first, second = meeting.first, meeting.second
        if not (isinstance(first, Placed) and isinstance(second, Placed)):
            continue
        if first.document is mine and second.document is theirs and second.id in new:
            yield Contradiction(_entry_text(theirs, second.id), _entry_text(mine, first.id), meeting.way)


def _changes(merged: Document, new: Sequence[str]) -> Iterator[Contradiction]:
    """Yield the new entries that have another value than one that is here, from the document that has both."""
    told = set()
    for meeting in (*meetings([merged]), *suspicions(merged)):
        ids = (meeting.first.id, meeting.second.id)
        if meeting.way == CHANGED and (ids[0] in new) != (ids[1] in new) and ids not in told:
            told.add(ids)
            fresh, standing = ids if ids[0] in new else ids[::-1]
            yield Contradiction(_entry_text(merged, fresh), _entry_text(merged, standing), CHANGED)


def _entry_text(doc: Document, entry_id: str) -> str:
    return doc.as_item(doc.outline.entries[doc.ids.index(entry_id)])


def _shown(text: str) -> str:
    """Return a text with the characters made visible that a reader would not see."""
    return visible.show_text(text.replace("\r\n", "\n").replace("\r", "\n"))

"""Remember: one text becomes one entry of one document, or is found to be there already."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from datetime import date
from functools import partial

from ..answers import NOTHING_KNOWN, About, Remembered, StoredEntry
from ..change.books import lock_name
from ..change.ledger import way_back
from ..change.session import Session, room_by_dates
from ..change.transaction import Change
from ..disk.lock import Answered
from ..disk.waiting import Request
from ..errors import InvalidArgument, LimitExceeded
from ..layout import Target, Tier
from ..learning import route
from ..project import agents
from ..text import labels, marks
from ..text.dates import day_text
from ..text.labels import BELOW
from ..text.opposites import exclude_each_other
from ..tiers import compose, dispute, document, store
from ..tiers.add import Added, add, label_meant
from ..tiers.compose import NewEntry
from ..tiers.document import Document, Section
from ..tiers.entries import Entry
from ..tiers.taken import take
from ..values import dataclass
from .stored import stored_entry
from .together import NewText, Together, read_answer


def _full(full: Document) -> str:
    return room_by_dates(full, f"add --make-room to archive its oldest dated entries, or run `amp prune {full.target}`")


def _full_yet(_: Document) -> str:
    return (
        "removing dated entries makes too little room; merge what `amp review` lists, or remove some with `amp forget`"
    )


def remember(
    session: Session,
    target: Target,
    text: str,
    section: Section | None,
    dated: date | bool | None,
    about: About | None,
    *,
    under: str | None = None,
    until: date | None = None,
    make_room: bool,
    replaces: str | None = None,
    keep: bool = False,
    twice: bool = False,
    today: date,
) -> Remembered:
    """Write one entry; see `Workspace.remember`."""
    about = about or About()
    session.check_write(target)
    by = session.actor.agent if about.writer is None else about.writer
    wanted = NewText(text, section, under, dated, until, about, today, by or "")
    work = _prepared(session, target, wanted)
    new = work.new
    target = store.locate(session.root, target)
    old_in, old = (None, "") if replaces is None else _replaced(session, replaces)
    if old_in not in (None, target):
        more = About(replaced=(*about.replaced, old))  # no ledger line of this document will say so
        work.about, work.signed = about.with_more(more), work.signed.with_more(more)
    begins = target.tier is Tier.AGENT and session.read(target) is None
    work.old, work.makes_room, work.twice = old if old_in == target else "", today if make_room else None, twice
    try:
        now = _write(session, target, wanted, work, way_out=_full_yet if make_room else _full)
    except LimitExceeded as error:
        if keep:
            error.args = (_kept(session, target, work, str(error)),)
        raise
    entry_id, status, notes = work.entry_id, work.status, work.notes
    if old_in is not None and old_in != target:
        from .settle import retire

        retire(session, old_in, old, entry_id)
    is_known = status == "added" and not old
    known = work.signed if is_known else session.known(target).get(entry_id, NOTHING_KNOWN)
    entry = stored_entry(now, entry_id, known)
    if status == "added":
        notes = (*notes, *_doubts(session, text, target, new, entry), *_met(session, now, entry_id))
        if begins:
            notes = (*notes, *_misspelt(session, target, entry_id))
    notes = (*notes, *session.notices)
    session.notices.clear()
    return Remembered(status, entry, session.path(target), entry.line, session.headroom(now), notes, old)


def _prepared(session: Session, target: Target, wanted: NewText) -> _Writing:
    """Judge an entry by itself: refuse what no entry can be, and whatever of it holds a secret."""
    section, about = wanted.section, wanted.about
    session.check_secrets(wanted.text)
    session.check_secrets(section if section is None else labels.BELOW.join(document.path_of(section)), "section")
    session.check_secrets(wanted.under, "label")
    for what, said in (("source", about.source), *(("tag", tag) for tag in about.tags)):
        session.check_said(said, what)
    if section is not None:
        document.check_section_name(section)
    label = None if wanted.under is None else document.check_label(wanted.under)
    new = _compose(session, target, wanted.text, wanted.dated, wanted.until, wanted.today)
    signed = replace(about, writer=wanted.by or None)
    return _Writing(session, new, section, label, about, signed, wanted.today)


def _write(
    session: Session, target: Target, wanted: NewText, work: _Writing, *, way_out: Callable[[Document], str]
) -> Document:
    """Write an entry together with those of others who wait, or let another process write it with its own.

    Returns the document with the entry.
    """
    others = Together(session, target, partial(_prepared, session, target))
    is_alone = work.old or work.makes_room or work.twice  # what only its own writer may decide
    request = None if is_alone else Request(session.root, lock_name(target), wanted.line)
    try:
        change = partial(others.with_others, own=work)
        return session.change(target, change, way_out=way_out, request=request, then=others.answer).document
    except Answered:
        written = session.read(target)
        work.entry_id, work.status, work.notes = read_answer(b"" if request is None else request.answer)
        if written is None or work.entry_id not in written.ids:  # others have changed it since
            written = work.change(written or document.parse(session.header(target).encode(), target)).document
        return written
    finally:
        others.close()
        if request is not None:
            request.withdraw()


@dataclass(slots=True)
class _Writing:
    """What is to be written, and what has come of it when its document was changed last."""

    session: Session
    new: NewEntry
    section: Section | None
    label: str | None
    about: About
    signed: About  # the same, and who writes it
    today: date
    old: str = ""  # the entry of this document that it replaces, "" for none
    makes_room: date | None = None  # today, where old entries may go for it
    twice: bool = False
    entry_id: str = ""
    status: str = "kept"
    notes: tuple[str, ...] = ()

    def change(self, current: Document) -> Change:
        """Write the entry into a document; may be asked again when others write meanwhile."""
        self.entry_id, self.status, self.notes = document.id_of_new(self.new, current.target), "kept", ()
        written = self._write(current)
        if not self.old:
            return written
        from .settle import retiring

        return retiring(written, self.old, self.entry_id)

    def _write(self, current: Document) -> Change:
        new, leaving = self.new, [self.old] if self.old else []
        is_named = self.section is not None or self.label is not None or not leaving
        heading, over = (self.section, self.label) if is_named else _place_of(current, self.old)
        over = over and label_meant(current, heading, over)
        there = None if self.twice else _standing(current, new, self.entry_id, over or "", heading or ())
        if there is not None:
            self.entry_id = current.ids[current.outline.entries.index(there)]
            again, self.status, notes = _again(self.session, current, self.entry_id, new, self.about, self.today)
            self.notes = (*notes, *_elsewhere(current, there, self.section))
            return again
        added, reasons = _add(self.session, current, new, heading, over, leaving, today=self.makes_room)
        self.entry_id, self.status, self.notes = added.entry_id, "added", added.notes
        return Change(added.document, reasons=reasons, about={self.entry_id: self.signed})


def _standing(current: Document, new: NewEntry, entry_id: str, label: str, section: Section) -> Entry | None:
    """Return the entry that the new one repeats, if there is one."""
    bare = document.bare_text("\n".join(document.own_lines(new)))
    is_elsewhere = partial(exclude_each_other, [section] if isinstance(section, str) else section)
    there = document.standing(current, entry_id, label, is_elsewhere)
    return there or document.standing_alone(current, bare, label, is_elsewhere)


def _elsewhere(current: Document, there: Entry, section: Section | None) -> Iterator[str]:
    """Say where an entry is that was to come under another heading: it may say something else there."""
    above = {current.outline.headings[index] for index in there.headings}
    if section and above.isdisjoint(document.find_sections(current, section)):
        where, wanted = BELOW.join(current.sections(there)), BELOW.join(document.path_of(section))
        place = f"under {where!r}" if where else "above all sections"
        yield f"it stays {place}; if {wanted!r} needs it too, say so in the text"


def _kept(session: Session, target: Target, work: _Writing, error: str) -> str:
    """Put an entry without room into the ledger, as if it had been there (decision 44). Returns what to say of it."""
    said = error.partition("; nothing was changed")[0]
    with session.locked(target):
        current = session.read(target) or document.parse(session.header(target).encode(), target)
        added = add(current, work.new, work.section, work.label)
        taken = take(added.document, added.entry_id)
        books = session.books(target)
        if all(one.taken.saying != taken.saying for one in books.archived(current)):
            if work.signed.says_something:
                books.note({taken.id: (taken.markdown, work.signed)})
            books.archive([(taken, "came in, but there was no room")])
    return f"{said}; {way_back(target, [taken.id])}"


def _again(
    session: Session, current: Document, entry_id: str, new: NewEntry, more: About, today: date
) -> tuple[Change, str, tuple[str, ...]]:
    """Say of an entry that is there already what is new: what is known of it, its end, or a newer date."""
    notes: tuple[str, ...] = ()
    known = session.books(current.target).said_of(entry_id) if more.says_something else more
    told = {} if known.with_more(more) == known else {entry_id: known.with_more(more)}
    if told:
        notes = ("what you said about it is saved",)
    until = next((one.marks.until for one in document.parse_new(new, current.target).outline.entries), None)
    there = current.entry(entry_id)
    changed = current
    if until is not None:
        changed = dispute.held_until(current, entry_id, until)
        said = f"it is now true until {day_text(until)}"
    elif there is not None and there.is_expired(today.toordinal()):
        changed = dispute.unmarked(current, entry_id, "[until ")
        said = f"it had expired on {day_text(there.marks.until or 0)} and is now true without an end"
    if changed is not current:
        notes = (*notes, said)
    there = changed.entry(entry_id)
    if new.day is None or there is None or there.mark is None or there.mark.day >= new.day:
        return Change(changed, about=told), "kept", notes
    return Change(document.redate(changed, there, new.day), about=told), "redated", notes


def _replaced(session: Session, entry_id: str) -> tuple[Target, str]:
    """Find the entry that the new one is to replace, if this actor may retire it."""
    from .settle import check_write

    ((target, (found,)),) = session.locate([entry_id]).items()
    check_write(session, target, f"amp forget {found}")
    return target, found


def _place_of(current: Document, entry_id: str) -> tuple[Section | None, str | None]:
    entry = current.entry(entry_id)
    return (None, None) if entry is None else (current.sections(entry), current.label(entry) or None)


def _doubts(session: Session, text: str, target: Target, new: NewEntry, entry: StoredEntry) -> list[str]:
    """Say why the text may not belong here. It is written all the same: no program can judge meaning."""
    secret = route.loosely_secret(text)
    if secret is not None:
        return [f"{route.doubt(secret)} (`amp forget {entry.id} --redact` removes it without a copy)"]
    found = route.misplaced(text, target.tier, is_dated=new.day is not None or entry.until is not None)
    why = "" if found is None else route.advice(found, text)
    why = why or _restated(session, target, new, entry.label) or _raw(target, new)
    return [f"{why} (`amp forget {entry.id}` takes it out here)"] if why else []


def _met(session: Session, now: Document, entry_id: str) -> Iterator[str]:
    from .meet import remarks

    return remarks(session, now, [entry_id], only_meetings=True)


def _restated(session: Session, target: Target, new: NewEntry, label: str) -> str:
    """Say where the documentation has a text that is to be shared."""
    if target.tier is not Tier.SHARED:
        return ""
    from ..learning import docs

    said = document.bare_text("\n".join(document.own_lines(new)))
    place = docs.place_of(session.root, labels.in_front(label, said))
    return f"{place} already says the same" if place else ""


def _raw(target: Target, new: NewEntry) -> str:
    """Say that a conversation is given data in place of what was found in it."""
    if target.tier.lasts or len(new.lines) < 2:
        return ""
    from ..lint.tiers import told_as_raw

    return told_as_raw(new.lines)


def _misspelt(session: Session, target: Target, entry_id: str) -> list[str]:
    """Say which agent was meant, where a memory begins for one whose name is nearly that of another."""
    owner = str(target.owner)
    known = agents.defined(session.root)
    if owner in known:
        return []
    meant = agents.nearest(owner, [*known, *(one.owner for one in session.readable() if one.tier is Tier.AGENT)])
    if meant is None:
        return []
    return [f"this is the first entry of agent {owner}; if you meant {meant}, `amp forget {entry_id}` removes it here"]


def _compose(
    session: Session, target: Target, text: str, dated: date | bool | None, until: date | None, today: date
) -> NewEntry:
    """Compose the entry. A day that is asked for goes before one that begins the text, and that before today's."""
    max_bytes = session.settings.max_bytes
    if not (dated is None or isinstance(dated, date | bool)):
        raise InvalidArgument(f"dated is a date, True, False or None, not {dated!a}")
    day = dated.toordinal() if isinstance(dated, date) else None
    front = marks.words_of(until=None if until is None else until.toordinal())
    named = [word for word in marks.taken_off(text.strip())[0] if word.lower().startswith("[until ")]
    if front and named and named != front:
        raise InvalidArgument(f"the text says {named[0]} and the option {front[0]}; give one of the two")
    new = compose.compose(text, day=day, front=front, max_bytes=max_bytes)
    wants_today = not target.tier.lasts if dated is None else dated is True
    is_dated = dated is None and any(one.mark for one in document.parse_new(new, target).outline.entries)
    if new.day is None and wants_today and not is_dated:
        return compose.compose(text, day=today.toordinal(), front=front, max_bytes=max_bytes)
    return new


def _add(
    session: Session,
    current: Document,
    new: NewEntry,
    section: Section | None,
    label: str | None,
    leaving: Sequence[str],
    *,
    today: date | None,
) -> tuple[Added, dict[str, str]]:
    """Add an entry. With a `today`, what is `leaving` for it and then the oldest dated entries make room if need be."""
    added = add(current, new, section, label)
    if today is None:
        return added, {}
    from ..tiers import prune, remove

    left = remove.remove(added.document, leaving)
    if session.fits(left):
        return added, {}
    plan = prune.plan_to_limit(
        left,
        today=today,
        max_lines=session.settings.max_lines,
        max_bytes=session.settings.max_bytes,
        spare=added.entry_id,
        holds=session.why_held,
    )
    reasons = {one.id: "made room for a new entry" for one in plan.removals}
    with_room = add(remove.remove(current, list(reasons)), new, section, label)
    if not session.fits(remove.remove(with_room.document, leaving)):
        return added, {}  # what would go would go for nothing: the entry is refused
    expired = sum(one.cause == "expired" for one in plan.removals)
    what = f"{len(reasons)} of the oldest dated entries" if not expired else f"{len(reasons)} expired or old entries"
    note = f"archived {what} to make room; `amp restore --last` shows them"
    return replace(with_room, notes=(*with_room.notes, note)), reasons

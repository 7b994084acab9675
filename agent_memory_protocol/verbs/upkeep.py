"""Keep memory current and lose nothing: forget, edit, heal, and make ledgers smaller.

Each function is a verb of `Workspace`, on an opened session. What leaves a document is archived first; what the
reader is shown as a plan is what is done.
"""

from collections.abc import Sequence
from dataclasses import replace as replace_fields
from datetime import date

from ..answers import About
from ..change.compaction import Compaction
from ..change.healing import Healing
from ..change.session import Session
from ..change.transaction import Change, pending
from ..errors import AgentMemoryError, InvalidArgument
from ..layout import Target
from ..text import marks
from ..tiers import compose, document, remove, store
from ..tiers.dispute import undated as without_date
from ..tiers.document import Document
from ..tiers.edit import replace
from ..tiers.taken import take
from .meet import remarks
from .stored import stored_entry
from .upkeep_answers import Edited, Removed, Synced


def forget(session: Session, entry_ids: Sequence[str], reason: str) -> list[Removed]:
    """Take entries out of their documents into the ledgers."""
    session.check_said(reason, "reason")
    found = session.find(entry_ids)
    return [gone for target, ids in found.items() for gone in _forget_in(session, target, ids, reason)]


def _forget_in(session: Session, target: Target, ids: Sequence[str], reason: str) -> list[Removed]:
    gone: dict[str, Removed] = {}

    def change(current: Document) -> Change:
        standing = {*current.ids}
        taken = {one: take(current, one) for one in ids if one in standing}
        along = remove.going_along(current, list(taken))
        gone.clear()
        for one, what in taken.items():
            text, label = map(current.spelled_out, (what.markdown, what.place.label_text))
            gone[one] = Removed(target, one, text, "", label, along[one])
        return Change(remove.remove(current, list(gone)), reasons=dict.fromkeys(gone, reason))

    run = session.change(target, change).run
    said = session.said(target)
    return [replace_fields(one, run=run, about=said.get(one.id, About())) for one in gone.values()]


def edit(session: Session, entry_id: str, text: str | None, day: date | None, *, undated: bool = False) -> Edited:
    """Put another text in an entry's place, or give it another date only, or none."""
    if undated and (text is not None or day is not None):
        raise InvalidArgument("to take the date off, give neither a new text nor a day")
    if text is None and (undated or day is not None):
        return _redate(session, entry_id, day)
    return _replace_text(session, entry_id, text or "", day)


def _redate(session: Session, entry_id: str, day: date | None) -> Edited:
    """Give an entry another date, its first, or none; it says the same, so nothing goes to the ledger.

    The date of a line that dates its section is a part of its text: that line has another id then.
    """
    ((target, (entry_id,)),) = session.find([entry_id]).items()
    made = entry_id

    def change(current: Document) -> Change:
        nonlocal made
        old = current.entry(entry_id)
        if old is None:
            raise InvalidArgument(f"{entry_id} has just left {target.path}")
        if day is None:
            return Change(without_date(current, entry_id))
        if old.dated_by == old.start:
            changed = document.with_date_line(current, old, day.toordinal())
            made = changed.ids[current.ids.index(entry_id)]
            return _replaced(changed, entry_id, made, session.books(target).said_of(entry_id))
        return Change(document.with_date(current, old, day.toordinal()))

    done = session.change(target, change)
    entry = stored_entry(done.document, made, session.known(target).get(made, About()))
    return Edited(entry_id, entry, session.path(target), session.headroom(done.document))


def _replace_text(session: Session, entry_id: str, text: str, day: date | None) -> Edited:
    """Put another text in an entry's place; the old one goes to the ledger, unless it holds a secret."""
    ((target, (entry_id,)),) = session.find([entry_id]).items()
    session.check_secrets(text)
    max_bytes = session.settings.max_bytes
    made = ""

    def change(current: Document) -> Change:
        nonlocal made
        old = current.entry(entry_id)
        if old is None:
            raise InvalidArgument(f"{entry_id} has just left {target.path}")
        front = marks.words_of(keep=old.is_marked_keep, until=old.marks.until)
        new = compose.compose(text, day=None if day is None else day.toordinal(), front=front, max_bytes=max_bytes)
        if new.day is None and old.mark is not None:
            new = compose.compose(text, day=old.mark.day, front=front, max_bytes=max_bytes)
        wanted = document.id_of_new(new, target)
        if wanted in current.ids and wanted != entry_id:
            raise InvalidArgument(f"{target.path} already has an entry with that text, {wanted}")
        changed, made = replace(current, entry_id, new)
        said = session.books(target).said_of(entry_id).of_another_text
        said = replace_fields(said, writer=session.actor.agent or said.writer)
        has_secret = session.secret_in(take(current, entry_id).markdown)
        unarchived = frozenset([entry_id] if has_secret else [])
        return replace_fields(_replaced(changed, entry_id, made, said), unarchived=unarchived)

    done = session.change(target, change)
    entry = stored_entry(done.document, made, session.known(target).get(made, About()))
    if made != entry_id:
        session.notices += remarks(session, done.document, [made])
    return Edited(entry_id, entry, session.path(target), session.headroom(done.document))


def _replaced(changed: Document, entry_id: str, made: str, said: About) -> Change:
    """Return a change in which one entry holds in the place of another, and what is said of it."""
    reasons = {entry_id: f"edited: {made} replaces it"}
    return Change(changed, reasons=reasons, successors={entry_id: made}, about={made: said})


def compact_ledgers(
    session: Session, targets: Sequence[Target] | None, *, apply: bool
) -> list[tuple[Target, Compaction]]:
    """Say, and with `apply` do, how much smaller each ledger is without lines that nobody needs."""
    there = session.readable(ledgers=True)
    chosen = there if targets is None else [store.locate(session.root, one) for one in targets]
    if missing := [str(one) for one in chosen if one not in there]:
        raise InvalidArgument(f"there is no ledger of {', '.join(missing)}; there are: {', '.join(map(str, there))}")
    planned = [(one, session.books(one).plan_compaction()) for one in chosen]
    found = {one: plan for one, plan in planned if plan is not None}
    smaller = [one for one, plan in found.items() if apply and plan.changes_something]
    for target in smaller:
        session.check_write(target)  # all of them, before the first is changed
    for target in smaller:
        with session.locked(target):
            found[target] = session.books(target).compact() or found[target]
    return list(found.items())


def sync(session: Session, targets: Sequence[Target] | None, *, apply: bool) -> list[Synced]:
    """Say, and with `apply` do, what healing has to do."""
    found = []
    for target in session.readable() if targets is None else targets:
        try:
            healing = session.plan_healing(target)
            if healing.has_work and apply:
                session.check_write(target)
                # Other writers heal too: what is told is what was found under the lock.
                healing = session.change(target, Change).healing
            if healing.has_work:
                found.append(_synced(session, target, healing))
        except AgentMemoryError as error:
            found.append(Synced(target, session.path(target), problem=str(error)))
    return found


def _synced(session: Session, target: Target, healing: Healing) -> Synced:
    gone = {one.alone: session.secret_in(one.markdown) for one in (*healing.removed, *healing.edited)}
    return Synced(
        target,
        session.path(target),
        tuple(add.taken.alone for add in healing.put_back),
        tuple(text for text, secret in gone.items() if not secret),
        {one.id: one.alone for one in healing.kept_out},
        tuple(filter(None, gone.values())),
        tuple(one.taken.alone for one in pending(Healing(owed=healing.owed), session.now)),
    )

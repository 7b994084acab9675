"""Keep memory current and lose nothing: forget, edit, prune, restore, heal, redact.

Each function is a verb of `Workspace`, on an opened session. What leaves a document is archived first; what the
reader is shown as a plan is what is done.
"""

from collections.abc import Callable, Collection, Sequence
from contextlib import suppress
from dataclasses import replace as replace_fields
from datetime import date, timedelta
from functools import partial

from ..answers import About, StoredEntry
from ..change import backups, redaction
from ..change.books import JOURNALS
from ..change.compaction import Compaction
from ..change.healing import Healing
from ..change.ledger import Archived
from ..change.session import Session, stored_entries, stored_entry
from ..change.transaction import FEW, Change, pending
from ..disk import garbage
from ..disk.writing import LOCAL, remove_leftovers, remove_tree
from ..errors import AgentMemoryError, InvalidArgument, LimitExceeded, Refused, StorageError
from ..layout import Target, Tier
from ..project import local_state
from ..project.settings import parse_days
from ..recall import use
from ..text import labels, marks
from ..text.dates import parse_day
from ..text.ids import complete
from ..text.phrases import counted
from ..tiers import compose, document, frame, prune, remove, store
from ..tiers.dispute import undated as without_date
from ..tiers.document import Document
from ..tiers.edit import replace
from ..tiers.prune import Judged, Plan
from ..tiers.restore import put_back_all
from ..tiers.taken import Taken, sayings, take
from ..tiers.undo import literal_text, undone
from . import notes as notekeeping
from .conversations import ENDS_AFTER, last_sign
from .meet import remarks
from .upkeep_answers import Edited, Pruning, Redacted, Removed, Restorable, Restored, Synced

Progress = Callable[[int, int], None]


class PlanOutdated(StorageError):
    """Documents were changed after plans for them were made; nothing was changed in them. Plan again.

    Attributes:
        removed: what has left the others.
    """

    def __init__(self, message: str, targets: Sequence[Target] = (), removed: Sequence[Removed] = ()) -> None:
        super().__init__(message)
        self.targets = tuple(targets)
        self.removed = tuple(removed)


def forget(session: Session, entry_ids: Sequence[str], reason: str) -> list[Removed]:
    """Take entries out of their documents into the ledgers."""
    session.check_secrets(reason, "reason")
    found = session.find(entry_ids)
    return [gone for target, ids in found.items() for gone in _forget_in(session, target, ids, reason)]


def _forget_in(session: Session, target: Target, ids: Sequence[str], reason: str) -> list[Removed]:
    gone: dict[str, Taken] = {}
    along: dict[str, tuple[str, ...]] = {}

    def change(current: Document) -> Change:
        gone.clear()
        gone.update((one, take(current, one)) for one in ids if one in current.ids)
        along.update(remove.going_along(current, list(gone)))
        return Change(remove.remove(current, list(gone)), reasons=dict.fromkeys(gone, reason))

    run = session.change(target, change).run
    said = session.said(target)
    return [
        Removed(target, one, taken.markdown, run, taken.place.label_text, along[one], said.get(one, About()))
        for one, taken in gone.items()
    ]


def edit(session: Session, entry_id: str, text: str | None, day: date | None, *, undated: bool = False) -> Edited:
    """Put another text in an entry's place, or give it another date only, or none."""
    if undated and (text is not None or day is not None):
        raise InvalidArgument("to take the date off, give neither a new text nor a day")
    if text is None and (undated or day is not None):
        return _redate(session, entry_id, day)
    return _replace_text(session, entry_id, text or "", day)


def _redate(session: Session, entry_id: str, day: date | None) -> Edited:
    """Give an entry another date, its first, or none; it says the same, so nothing goes to the ledger."""
    ((target, (entry_id,)),) = session.find([entry_id]).items()

    def change(current: Document) -> Change:
        old = current.entry(entry_id)
        if old is None:
            raise InvalidArgument(f"{entry_id} has just left {target.path}")
        if day is None:
            return Change(without_date(current, entry_id))
        return Change(document.with_date(current, old, day.toordinal()))

    done = session.change(target, change)
    entry = stored_entry(done.document, entry_id, session.known(target).get(entry_id, About()))
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
        return Change(
            changed,
            reasons={entry_id: f"edited: {made} replaces it"},
            successors={entry_id: made},
            about={made: said},
            unarchived=frozenset([entry_id] if has_secret else []),
        )

    done = session.change(target, change)
    entry = stored_entry(done.document, made, session.known(target).get(made, About()))
    if made != entry_id:
        session.notices += remarks(session, done.document, [made])
    return Edited(entry_id, entry, session.path(target), session.headroom(done.document))


def parse_age(text: str, today: date) -> timedelta:
    """Read an age: `90d`, `12w`, `1y`, a number of days, or a date, which means older than that day.

    Raises:
        InvalidArgument: it has another form, or the day is yet to come.
    """
    if "-" in text:
        age = today - date.fromordinal(parse_day(text))
        if age < timedelta():
            raise InvalidArgument(f"{text} lies in the future; give a day that has passed, or an age such as 90d")
        return age
    days = parse_days(text)
    if days is None:
        raise InvalidArgument(f"{text[:40]!a} is not an age; write 90d, 12w or a date such as 2026-01-31")
    return timedelta(days=days)


def plan_pruning(
    session: Session,
    targets: Sequence[Target] | None,
    *,
    today: date,
    older_than: timedelta | None,
    sections: bool,
    to_limit: bool,
    progress: Progress | None,
) -> list[Pruning]:
    """Say what is outdated, document by document. One that cannot be read is reported, and the others are planned."""
    plans = []
    named = session.readable() if targets is None else targets
    chosen = list(dict.fromkeys(store.locate(session.root, target) for target in named))
    with garbage.left_alone():
        for number, target in enumerate(chosen):
            session.check_read(target)
            try:
                current = session.read(target)
                if current is not None:
                    plans.append(_plan(session, current, today, older_than, sections=sections, to_limit=to_limit))
            except (StorageError, Refused) as error:
                plans.append(Pruning(target, session.path(target), None, problem=str(error)))
            if progress is not None:
                progress(number + 1, len(chosen))
    return plans


def apply_pruning(
    session: Session, plans: Sequence[Pruning], *, force: bool, progress: Progress | None
) -> list[Removed]:
    """Take out exactly what the plans say. What is held back keeps no other document from its pruning."""
    held = [] if force else [one for one in plans if one.held]
    work = [(one.target, one.plan) for one in plans if one.plan is not None and one.removals and one not in held]
    session.notices += [
        f"{one.target} was not pruned: {len(one.removals)} of {counted(len(one.removals) + len(one.kept), 'entry')}"
        f" would go, more than half; `{one.by_force}` does it"
        for one in held
    ]
    for target, _ in work:
        session.check_write(target)
    gone: list[Removed] = []
    outdated: list[Target] = []
    for number, (target, plan) in enumerate(work):
        try:
            gone += _prune(session, target, plan)
        except PlanOutdated:
            outdated.append(target)
        if progress is not None:
            progress(number + 1, len(work))
    if outdated:
        named = ", ".join(target.path for target in outdated)
        raise PlanOutdated(f"{named} was changed after the plan was made; plan again", outdated, gone)
    return gone


def _prune(session: Session, target: Target, plan: Plan) -> list[Removed]:
    if session.plan_healing(target).has_work:
        session.change(target, Change)

    def change(current: Document) -> Change:
        if current.data != plan.document.data:
            raise PlanOutdated(current.target.path)
        return Change(plan.result, reasons={one.id: f"pruned: {_why(one)}" for one in plan.removals})

    done = session.change(target, change)
    said = session.known(target)
    return [
        Removed(target, one.id, one.text, done.run, one.label, about=said.get(one.id, About())) for one in plan.removals
    ]


def _why(one: Judged) -> str:
    """Return why an entry was pruned, for the ledger: its text there says how old it is."""
    return "old" if one.cause == "old" else one.reason


def restorable(session: Session, entry_ids: Sequence[str], *, last: bool, since: date | None) -> list[Restorable]:
    """List what can come back, oldest removal first: what the ledgers have, and what the next write gives them.

    One that cannot be read hides no other.
    """
    found: list[Restorable] = []
    commands: list[tuple[str, str]] = []
    problems: list[str] = []
    for target in session.readable(ledgers=True):
        try:
            books = session.books(target)
            listed = books.archived(session.read(target))
            ids = {one.taken.id for one in listed}
            owed = [one for one in pending(session.plan_healing(target), session.now) if one.taken.id not in ids]
            said = books.said()
            found += [Restorable(target, one, said.get(one.taken.id, About())) for one in (*listed, *owed)]
            commands.append(books.last_command())
        except StorageError as error:
            problems.append(str(error))
    if problems and (last or not found):  # the last command may be in a ledger that cannot be read
        raise StorageError("; ".join(problems))
    session.notices += problems
    found.sort(key=lambda one: one.archived.removed_at)
    if since is not None:
        found = [one for one in found if one.archived.removed_at[:10] >= since.isoformat()]
    if last:
        command = max(commands, default=("", ""))[1]
        # Where no command has taken anything out, it is what was last found to be gone by hand, or with its file.
        newest = max((one.archived.removed_at for one in found), default="")
        found = [one for one in found if one.archived.run == command and (command or one.archived.removed_at == newest)]
    texts = {one.archived.taken.id: one.archived.taken.markdown for one in found}
    left = sorted(set(entry_ids) - set(texts))
    if left and problems:
        raise StorageError(f"{', '.join(left)} may be in what cannot be read: {'; '.join(problems)}")
    whole = {start: complete(start, texts, texts.__getitem__) for start in entry_ids}
    missing = sorted(start for start, one in whole.items() if one is None)
    if missing:
        raise InvalidArgument(
            f"no ledger has {', '.join(missing)}, or it is back; `amp restore --list` names what can come back"
        )
    return [one for one in found if one.archived.taken.id in whole.values()] if entry_ids else found


def restore(session: Session, chosen: Sequence[Restorable]) -> Restored:
    """Put entries and notes back where they were."""
    groups: dict[Target, list[Restorable]] = {}
    for one in chosen:
        groups.setdefault(one.target, []).append(one)
    for target in groups:
        session.check_write(target)
    restored: list[StoredEntry] = []
    notes: list[str] = []
    problems: list[str] = []
    for target, group in groups.items():
        for one in group.copy():
            # A ledger comes with the repository, and anyone may have written it.
            if why := session.why_refused("\n".join([one.archived.note, *one.archived.taken.texts])):
                group.remove(one)
                problems.append(f"{one.archived.taken.id} {why} and stays where it is")
        back, refused = _put_back(session, target, [one.archived for one in group if not one.archived.note])
        restored += back
        problems += refused
        for one in group:
            if one.archived.note and notekeeping.put_back(session, target, one.archived):
                notes.append(str(notekeeping.path_of(session, target, one.archived)))
            elif one.archived.note:
                problems.append(
                    f"{one.archived.note} is not a note's name, or is there already beside {target.path}; move it away"
                )
    return Restored(tuple(restored), tuple(notes), tuple(problems))


def _put_back(session: Session, target: Target, chosen: Sequence[Archived]) -> tuple[list[StoredEntry], list[str]]:
    """Put entries back into one document. Return them, and why others cannot go back.

    The document may become as large as it was when one of them left (decision 44).
    """
    refused: dict[str, str] = {}
    entries = [one.taken for one in chosen]
    largest = max((one.size[0] for one in chosen), default=0), max((one.size[1] for one in chosen), default=0)

    def change(current: Document) -> Change:
        refused.clear()
        archived = [one for one in session.books(target).archived(current) if not one.note]
        gone = {one.taken.id: one.taken for one in archived}
        chosen_ids = set(gone).intersection(one.id for one in entries)
        check = partial(session.check_limits, as_large_as=largest)
        with suppress(LimitExceeded):  # then piece by piece, as many as have room
            made = _as_they_were(session, current, archived, chosen_ids)
            check(current, made)
            current = made
        standing = {*sayings(current), *frame.sayings(current)}
        left = [one for one in entries if one.saying not in standing]
        changed, why = put_back_all(current, left, gone, check)
        refused.update((one, f"{one}: {error}") for one, error in why.items())
        return Change(changed)

    if not entries:
        return [], []
    made = session.change(target, change, as_large_as=largest).document
    standing = [*stored_entries(made), *_stored_frame(made)]
    of_text: dict[str, list[StoredEntry]] = {}
    for entry in standing:
        of_text.setdefault(document.plain_id(entry.id), []).append(entry)
    found = []
    for one in entries:
        # Prose that came back beside other prose is a part of it.
        label = labels.key(one.place.label_text)
        same = of_text.get(document.plain_id(one.id), [])
        holding = [entry for entry in same if labels.key(entry.label) == label] or [
            entry for entry in standing if one.id not in refused and one.markdown in entry.text
        ]
        found += holding[:1]
    return sorted(found, key=lambda entry: entry.line), list(refused.values())


def _stored_frame(made: Document) -> list[StoredEntry]:
    """Return the headings, labels and index lines of a document as if they were entries."""
    return [
        StoredEntry(
            id=one.id,
            target=made.target,
            text=one.markdown,
            section=one.place.section,
            date=None,
            date_source="",
            line=line + 1,
            last_line=line + one.markdown.count("\n") + 1,
        )
        for line, one in frame.placed(made)
    ]


def _as_they_were(
    session: Session, current: Document, archived: Sequence[Archived], chosen: Collection[str]
) -> Document:
    """Take whole commands back to the byte, the last one first, as long as nothing else has changed since."""
    standing = session.read(current.target)
    # A blank file is given a header before it is changed, and may have had another one, or none.
    blank = [standing] if standing is not None and not any(line.strip() for line in standing.lines) else []
    placed = current
    for run in dict.fromkeys(one.run for one in reversed(archived)):
        command = [one for one in archived if one.run == run]
        undo = next((one.undo for one in command if one.undo), None)
        if any(one.taken.id not in chosen for one in command):
            continue
        if undo is None:
            # Their places alone say how; it counts where the command before fits then.
            back, refused = put_back_all(placed, [one.taken for one in command[:FEW]])
            placed = placed if refused or len(command) > FEW else back
            continue
        entries = [one.taken for one in command]
        starts = (placed, current, *blank)
        made = next((made for one in starts if (made := undone(one, undo, entries)) is not None), None)
        # A ledger comes with the repository, and anyone may have written it.
        if made is not None and not session.why_refused(literal_text(undo)):
            current = placed = made
    return current


def compact_ledgers(
    session: Session, targets: Sequence[Target] | None, *, apply: bool
) -> list[tuple[Target, Compaction]]:
    """Say, and with `apply` do, how much smaller each ledger is without lines that nobody needs.

    Raises:
        InvalidArgument: no such document is there.
        AccessDenied: with `apply`, the actor may not write one of the documents; nothing was changed.
    """
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


def redact(session: Session, entry_ids: Sequence[str]) -> list[Redacted]:
    """Take entries, their equals and what they were edited from out of document, books, backups and index for good.

    Where it was stopped half way, the same call finishes it: what was begun is noted until nothing is left.
    """
    noted = redaction.unfinished(session.root)
    begun = [whole for one in entry_ids if (whole := complete(one, noted, lambda _: ""))]
    others = [one for one in entry_ids if not complete(one, noted, lambda _: "")]
    found = _found_for_redaction(session, others) if others else {}
    for one in begun:
        session.check_write(noted[one])
        found.setdefault(noted[one], []).append(one)
    for target, ids in found.items():
        redaction.begin(session.root, target, ids)
    session.drop_search()  # before and after: nothing may be left in it, wherever this ends
    remove_tree(session.root, (*LOCAL, local_state.SET_ASIDE))
    gone = [one for target, ids in found.items() for one in _redact_in(session, target, ids)]
    session.drop_search()
    redaction.finish(session.root, [one for ids in found.values() for one in ids])
    return gone


def _found_for_redaction(session: Session, entry_ids: Sequence[str]) -> dict[Target, list[str]]:
    """Find the documents of entries, also of those that only the journal has yet: the ledger is given them first."""
    try:
        return session.find(entry_ids, ledgers=True)
    except InvalidArgument:
        if not sync(session, None, apply=True):
            raise
        return session.find(entry_ids, ledgers=True)


def _redact_in(session: Session, target: Target, ids: Sequence[str]) -> list[Redacted]:
    stood: dict[str, str] = {}

    def change(current: Document) -> Change:
        stood.clear()
        plain = {document.plain_id(one) for one in ids}
        equals = [one for one in current.ids if document.plain_id(one) in plain]
        stood.update((one, take(current, one).markdown) for one in equals)
        return Change(remove.remove(current, equals), unarchived=frozenset(equals))

    current = session.read(target)
    texts = {} if current is None else {one: current.text(entry) for one, entry in current.by_id if one in ids}
    for one in ids:
        texts |= session.books(target).versions_of(one)
    for name in backups.drop_with(session.root, texts.values()):
        session.notices.append(f"the backup {name} held it too, and was removed")
    if current is not None:
        session.change(target, change)
    texts |= stood
    lines: dict[str, int] = {}
    with session.locked(target):
        books = session.books(target)
        versions = {one: books.versions_of(one) for one in ids}
        for known in versions.values():
            texts |= known
        # The ledger knows what each was edited from, so it goes last.
        books.forget_texts(session.read(target), {*ids, *texts})
        lines |= {one: books.redact(known) for one, known in versions.items()}
        for folder in (target.parts[:-1], (*LOCAL, JOURNALS)):
            if session.root.folder(folder) is not None:
                remove_leftovers(session.root, folder)
    found = []
    for one in ids:
        same = {text for other, text in texts.items() if document.plain_id(other) == document.plain_id(one)}
        found.append(Redacted(one, target, one in stood, lines[one], _same_text(session, same)))
    return found


def _plan(
    session: Session, current: Document, today: date, older_than: timedelta | None, *, sections: bool, to_limit: bool
) -> Pruning:
    settings = session.settings
    days = settings.older_than if older_than is None else older_than.days
    last = last_sign(session, current) if current.target.tier is Tier.CONVERSATION else today
    if to_limit:
        plan = prune.plan_to_limit(
            current,
            today=today,
            max_lines=settings.max_lines,
            max_bytes=settings.max_bytes,
            sections=sections,
            older_than=None if older_than is None else days,
            holds=session.why_held,
        )
    else:
        plan = prune.plan_pruning(current, today=today, older_than=days, sections=sections, holds=session.why_held)
    room = session.headroom(plan.result)
    since = use.unneeded(use.read(session.root), today) if settings.count else {}
    unneeded = sum(use.name_of(current.target, one) in since for one in current.ids)
    return Pruning(
        current.target,
        session.path(current.target),
        plan,
        tuple(prune.old_sections(current, today=today, older_than=days)),
        (max(0, -room.lines), max(0, -room.bytes)),
        ended=last if today - last > ENDS_AFTER else None,
        unneeded=unneeded,
        said=session.known(current.target),
    )


def _same_text(session: Session, texts: Collection[str]) -> tuple[str, ...]:
    """Name the files that still hold one of these texts, as far as this actor may read them."""
    wanted = {" ".join(document.bare_text(text).split()) for text in texts} - {""}
    found = []
    for target in session.readable(ledgers=True):
        for path, read in ((target.path, _document_text), (session.books(target).path, _ledger_text)):
            try:
                text = " ".join(read(session, target).split())
            except StorageError:
                found.append(f"{path}, perhaps: it cannot be read")
                continue
            if any(one in text for one in wanted):
                found.append(path)
    return tuple(found)


def _document_text(session: Session, target: Target) -> str:
    source = store.read(session.root, target)
    return "" if source is None else source.text


def _ledger_text(session: Session, target: Target) -> str:
    return "\n\n".join(session.books(target).texts())

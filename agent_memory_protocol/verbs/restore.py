"""The verb that brings back what has left: entries and notes, from the ledger to where they were."""

from collections.abc import Collection, Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import date
from functools import partial

from ..answers import About, StoredEntry
from ..change.ledger import Archived
from ..change.session import Session
from ..change.transaction import FEW, Change, pending
from ..errors import InvalidArgument, LimitExceeded, StorageError
from ..layout import Target
from ..text import footnotes, labels
from ..text.ids import complete
from ..text.phrases import counted
from ..tiers import document, frame
from ..tiers.document import Document
from ..tiers.restore import put_back_all
from ..tiers.taken import sayings
from ..tiers.undo import literal_text, undone
from . import notes as notekeeping
from .stored import stored_entries, stored_frame
from .upkeep_answers import Restorable, Restored


def restorable(session: Session, entry_ids: Sequence[str], *, last: bool, since: date | None) -> list[Restorable]:
    """List what can come back, oldest removal first: what the ledgers have, and what the next write gives them."""
    found: list[Restorable] = []
    commands: list[tuple[str, str]] = []
    problems: list[str] = []
    for target in session.readable(ledgers=True):
        try:
            books = session.books(target)
            current = session.read(target)
            listed = books.archived(current)
            owed = _owed(session, target, {one.taken.id for one in listed}, problems)
            said = books.said()
            gone = _spelled_out([*listed, *owed], current)
            found += [Restorable(target, one, said.get(one.taken.id, About())) for one in gone]
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
    left = sorted(set(entry_ids) - set(texts) - {one.archived.note for one in found})
    if left and problems:
        raise StorageError(f"{', '.join(left)} may be in what cannot be read: {'; '.join(problems)}")
    files = {one.archived.note: one.archived.taken.id for one in found if one.archived.note}
    whole = {start: files.get(start) or complete(start, texts, texts.__getitem__) for start in entry_ids}
    missing = sorted(start for start, one in whole.items() if one is None)
    if missing:
        raise InvalidArgument(
            f"no ledger has {', '.join(missing)}, or it is back; `amp restore --list` names what can come back"
        )
    return [one for one in found if one.archived.taken.id in whole.values()] if entry_ids else found


def _owed(session: Session, target: Target, listed: Collection[str], problems: list[str]) -> list[Archived]:
    """Return what the next write gives the ledger; nothing where the journal cannot be read, which is a problem."""
    try:
        return [one for one in pending(session.plan_healing(target), session.now) if one.taken.id not in listed]
    except StorageError as error:
        problems += [] if str(error) in problems else [str(error)]
        return []


def _spelled_out(gone: Sequence[Archived], current: Document | None) -> list[Archived]:
    """Return what has left with the footnotes that it is shown with, of what is there and of what has left."""
    lines = [line for one in gone for line in one.taken.markdown.split("\n")]
    known = footnotes.definitions([*(current.lines if current else ()), *lines])
    if not known:
        return [*gone]
    said = [
        [footnotes.spelled_out(text, known) for text in (one.taken.markdown, one.taken.place.label_text)]
        for one in gone
    ]
    return [
        replace(one, taken=replace(one.taken, shown=(text, label)))
        for one, (text, label) in zip(gone, said, strict=True)
    ]


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
    """Put entries back, up to the size that the document had (decision 44); return them, and why others stay gone."""
    refused: dict[str, str] = {}
    before: set[tuple[str, str, int]] = set()  # what the document said already
    entries = [one.taken for one in chosen]
    largest = max((one.size[0] for one in chosen), default=0), max((one.size[1] for one in chosen), default=0)

    def change(current: Document) -> Change:
        refused.clear()
        before.clear()
        before.update(sayings(current), frame.sayings(current))
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
        run_of = {one.taken.id: one.run for one in chosen}
        changed = current
        for run in reversed(dict.fromkeys(run_of[one.id] for one in left)):  # where the last one went, no other one was
            changed, why = put_back_all(changed, [one for one in left if run_of[one.id] == run], gone, check)
            refused.update((one, f"{one}: {error}") for one, error in why.items())
        return Change(changed)

    if not entries:
        return [], []
    done = session.change(target, change, as_large_as=largest)
    made = done.document
    # Others restore too, and what they have brought back is not what this call did.
    already = sum(one.saying in before and one.id not in done.healed for one in entries)
    if already:
        session.notices.append(f"{counted(already, 'entry')} {'was' if already == 1 else 'were'} back already")
    standing = [*stored_entries(made), *stored_frame(made)]
    of_text: dict[str, list[StoredEntry]] = {}
    for entry in standing:
        of_text.setdefault(document.plain_id(entry.id), []).append(entry)
    found = []
    for one in entries:
        # Prose that came back beside other prose is a part of it.
        label = labels.key(one.place.label_text)
        same = of_text.get(document.plain_id(one.id), [])
        holding = [entry for entry in same if labels.key(entry.label) == label] or [
            entry for entry in standing if one.id not in refused and made.spelled_out(one.markdown) in entry.text
        ]
        found += holding[:1]
    return sorted(found, key=lambda entry: entry.line), list(refused.values())


def _as_they_were(
    session: Session, current: Document, archived: Sequence[Archived], chosen: Collection[str]
) -> Document:
    """Take whole commands back to the byte, the last one first, while nothing else has changed since."""
    standing = session.read(current.target)
    # A blank file is given a header before it is changed, and may have had another one, or none.
    blank = [standing] if standing is not None and not any(line.strip() for line in standing.lines) else []
    placed = current
    is_last = True  # nothing that is known has changed since this command
    for run in dict.fromkeys(one.run for one in reversed(archived)):
        command = [one for one in archived if one.run == run]
        undo = next((one.undo for one in command if one.undo), None)
        if any(one.taken.id not in chosen for one in command):
            is_last = False
            continue
        if undo is None:
            # Their places alone say how, as was tried when they left; after that only where the command before fits.
            back, refused = put_back_all(placed, [one.taken for one in command[:FEW]])
            is_last = is_last and not refused and len(command) <= FEW
            placed = placed if refused or len(command) > FEW else back
            current = placed if is_last else current
            continue
        entries = [one.taken for one in command]
        starts = (placed, current, *blank)
        made = next((made for one in starts if (made := undone(one, undo, entries)) is not None), None)
        # A ledger comes with the repository, and anyone may have written it.
        if made is not None and not session.why_refused(literal_text(undo)):
            current = placed = made
        else:
            is_last = False
    return current

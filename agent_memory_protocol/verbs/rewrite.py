"""The verb that writes a document or note as a whole new text, for doors that know files and not entries.

Such a door reads a file, changes its text and writes it back. What is promised of entries holds all the same: who may,
what no file may hold, how large it may get, and that what disappears is in the ledger first.
"""

import os
import stat
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import replace as replace_fields

from .. import limits
from ..answers import About, Headroom, Rewritten, StoredFile
from ..change.healing import successors
from ..change.session import Session, split_link
from ..change.transaction import Change
from ..disk.files import decode
from ..disk.walk import check_name
from ..disk.writing import ChangedMeanwhile, create, make_folders, remove, replace
from ..errors import DamagedFile, InvalidName, LinkRefused, RefusedText
from ..layout import SCAFFOLDING, Target, check_note_file
from ..notes import store as note_store
from ..notes.index import is_beside
from ..text import visible
from ..tiers import document as documents
from ..tiers import store, taken
from ..tiers.document import Document
from ..tiers.store import LARGEST
from . import index as indexing
from . import notes as notekeeping
from .meet import remarks, remarks_on_note

Edit = Callable[[str | None], str | None]
"""Makes the new text of a file from its present one. None means no file: it is missing, or it is to be removed."""


def files(session: Session) -> list[StoredFile]:
    """List the documents and notes that this actor may read, links and what cannot be read left out."""
    found = []
    for target in dict.fromkeys((*session.readable(), *indexing.folders(session))):
        folder, tier_file = target.folder, target.parts[-1]
        try:
            notes = note_store.list_names(session.root, folder, tier_file) if target.tier.has_notes else []
        except DamagedFile:
            notes = []
        beside = filter(is_beside, session.root.list_files(folder)) if notes else ()
        for note in ("", *notes, *beside):
            size = _size(session, target, note)
            if size is not None:
                found.append(StoredFile(target, note, size))
    return found


def read(session: Session, target: Target, note: str) -> str | None:
    """Return the text of a document, or of a note beside it, as it is on disk; None without one."""
    session.check_read(target)
    return _read(session, _located(session, target, note))


def rewrite(
    session: Session,
    target: Target,
    note: str,
    change: Edit,
    reason: str,
    *,
    index: bool = True,
    said: Mapping[str, About] | None = None,
) -> Rewritten:
    """Give a document, or a note beside it, the text that `change` makes of its present one.

    Without `index`, the caller updates the index once afterwards. `said` is what is known of new entries that others
    wrote.
    """
    session.check_write(target)
    session.check_said(reason, "reason")
    parts = _located(session, target, note)
    target = store.locate(session.root, target)
    # Asked once before a lock is made: what is refused leaves nothing behind.
    present = _read(session, parts)
    if note and present is None:
        session.check_said(check_note_file(note), "file's name")
    new = change(present)
    if new is not None:
        _check_text(session, parts, present or "", new)
    room = None
    if note:
        before, after = _rewrite_note(session, target, note, change, reason)
        if index:
            indexing.refresh(session, target)
            session.notices += remarks_on_note(session, target, note, after, before)
    else:
        room = _rewrite_document(session, target, change, reason, said)
    told = tuple(session.notices)
    session.notices.clear()
    return Rewritten(target, note, room, told)


def _rewrite_document(
    session: Session, target: Target, change: Edit, reason: str, said: Mapping[str, About] | None
) -> Headroom | None:
    goes = False
    unkept: list[str] = []
    come: list[str] = []

    def changed(current: Document) -> Change:
        nonlocal goes
        unkept.clear()
        come.clear()
        content = session.root.read(target.parts, limit=LARGEST)
        text = "".join(current.raw)
        if content is not None and not content.data.strip():
            text = decode(content.data, target.path)  # the header that a blank file is given is not in it yet
        new_text = change(None if content is None else text)
        goes = new_text is None
        if new_text is None:
            new = documents.parse(session.header(target).encode(), target)
        elif content is not None and new_text == text:
            return Change(current)
        else:
            _check_text(session, target.parts, "" if content is None else text, new_text)
            new = _parse(current, new_text)
        come[:] = [one for one in new.ids if one not in current.ids]
        gone, unkept[:] = _archiving(session, current, new, reason)
        return replace_fields(gone, about=_about(session, current, gone, said))

    done = session.change(target, changed)
    session.notices += unkept
    session.notices += remarks(session, done.document, come)
    if not goes:
        return session.headroom(done.document)
    with session.locked(target):
        content = session.root.read(target.parts, limit=LARGEST)
        # Anyone who has written to it since then has made it again.
        if content is not None and content.data == done.document.data:
            remove(session.root, target.parts)
    return None


def _archiving(session: Session, current: Document, new: Document, reason: str) -> tuple[Change, list[str]]:
    """Return the step from one document to the other, and what the ledger does not keep of the entries that go."""
    gone = [one for one in current.ids if one not in new.ids]
    secrets = {one: secret for one in gone if (secret := session.secret_in(taken.take(current, one).markdown))}
    unkept = [f"{one} held {secret}, so the ledger keeps no copy of it" for one, secret in secrets.items()]
    come = [one for one in new.ids if one not in current.ids]
    # One for one is an edit, whatever it says now.
    is_edit = len(gone) == len(come) == 1
    left = [taken.take(current, one) for one in gone]
    edited = dict(zip(gone, come, strict=True)) if is_edit else successors(left, current.ids, new)
    reasons = {one: f"edited: {edited[one]} replaces it" if one in edited else reason for one in gone}
    return Change(new, reasons=reasons, successors=edited, unarchived=frozenset(secrets)), unkept


def _about(session: Session, current: Document, step: Change, said: Mapping[str, About] | None) -> dict[str, About]:
    """Return what is known of the entries that come: what was known of those they have been edited from, and more."""
    come = [one for one in step.document.ids if one not in current.ids]
    known = session.said(current.target) if step.successors else {}
    about: dict[str, About] = {}
    for old, new in step.successors.items():
        about[new] = known.get(old, About()).of_another_text.with_more(about.get(new, About()))
    for one in come:
        old_writer, more = about.get(one, About()), (said or {}).get(one, About())
        writer = more.writer if said is not None else session.actor.agent
        about[one] = replace_fields(old_writer.with_more(more), writer=writer or old_writer.writer)
    return about


def _parse(current: Document, text: str) -> Document:
    new = documents.parse(current.bom + text.encode(), current.target)
    try:
        documents.check_writable(new)
    except DamagedFile as error:
        raise RefusedText(f"{error}; nothing was changed") from error
    return new


def _rewrite_note(session: Session, target: Target, note: str, change: Edit, reason: str) -> tuple[str, str]:
    """Rewrite a note; return its text before and after, "" for no file."""
    parts = (*target.folder, note)
    standing = session.read(target)
    if standing is not None:
        documents.check_writable(standing)  # the index in it is about to change
    with session.locked(target):
        content = session.root.read(parts, limit=LARGEST)
        text = None if content is None else decode(content.data, "/".join(parts))
        new = change(text)
        if new == text:
            return text or "", text or ""
        if new is not None:
            _check_text(session, parts, text or "", new)
        if text is not None and (new is None or _loses_a_line(text, new)):
            _archive_note(session, target, note, text, reason)
        if new is None:
            remove(session.root, parts)
        elif content is not None:
            bom = content.data[: len(content.data) - len((text or "").encode())]
            replace(session.root, parts, bom + new.encode(), expected=content)
            if content.links > 1:
                session.notices.append(split_link("/".join(parts), content.links - 1))
        else:
            make_folders(session.root, parts[:-1])
            if not create(session.root, parts, new.encode()):
                raise ChangedMeanwhile(f"{'/'.join(parts)}: was created meanwhile")
        return text or "", new or ""


def _archive_note(session: Session, target: Target, note: str, text: str, reason: str) -> None:
    secret = session.secret_in(text)
    if secret:
        session.notices.append(f"{note} held {secret}, so the ledger keeps no copy of what it said")
    else:
        notekeeping.archive(session, target, note, reason)


def _check_text(session: Session, parts: tuple[str, ...], old: str, new: str) -> None:
    """Refuse what no text may bring in that was not there before, and a file too large."""
    there = set(limits.split_lines(old))
    for number, line in enumerate(limits.split_lines(new), start=1):
        if line not in there and (found := visible.name_invisible(line)):
            raise RefusedText(f"line {number} of {parts[-1]} holds {found}; take it out")
    session.check_secrets(new, parts[-1], standing=old)
    session.check_size("/".join(parts), old.encode(), new.encode(), "say it shorter, or take something else out first")


def _loses_a_line(old: str, new: str) -> bool:
    return bool(Counter(limits.split_lines(old)) - Counter(limits.split_lines(new)))


def _read(session: Session, parts: tuple[str, ...]) -> str | None:
    content = session.root.read(parts, limit=LARGEST)
    return None if content is None else decode(content.data, "/".join(parts))


def _located(session: Session, target: Target, note: str) -> tuple[str, ...]:
    """Return the path of a document or note. Nothing else that lies beside a document is read or written here."""
    target = store.locate(session.root, target)
    if not note:
        parts = target.parts
    elif not target.tier.has_notes or not (note_store.is_note(note, target.parts[-1]) or is_beside(note)):
        raise InvalidName(f"{note!a} is not a note that can be beside {target.path}")
    else:
        parts = (*target.folder, note)
    _refuse_links(session, parts)
    return parts


def _size(session: Session, target: Target, note: str) -> int | None:
    try:
        place = session.root.locate(_located(session, target, note))
    except (DamagedFile, LinkRefused):
        return None
    info = None if place is None else place.info
    return info.st_size if info is not None and stat.S_ISREG(info.st_mode) else None


def _refuse_links(session: Session, parts: tuple[str, ...]) -> None:
    """Refuse a file that is reached by a link: a name must mean the same to access rules and on disk."""
    for name in parts:
        check_name(name)
    top = os.path.realpath(os.path.join(session.root.path, SCAFFOLDING))
    if os.path.realpath(os.path.join(session.root.path, *parts)) != os.path.join(top, *parts[1:]):
        raise LinkRefused(
            f"{'/'.join(parts)}: is reached by a link; edit what it leads to, or put the file in its place"
        )

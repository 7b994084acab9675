"""Change one document as a whole or not at all: lock, read, heal, change, check, archive, journal, replace.

The order is the promise (decision 23): what is about to leave is in the ledger first, then what is about to be
added in the journal, then the document is replaced, and success is reported after.
"""

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import field
from dataclasses import replace as replace_fields
from datetime import datetime

from ..answers import About
from ..disk.files import Content, Root
from ..disk.lock import WhileWaiting, hold
from ..disk.writing import ChangedMeanwhile, NotConfirmed, create, make_folders, replace
from ..errors import AgentMemoryError, StorageError
from ..formats.jsonl import parse_file
from ..formats.jsonl_view import sort_out
from ..layout import Target
from ..text.moments import new_stamp
from ..tiers import document as documents
from ..tiers import frame
from ..tiers.document import Document
from ..tiers.remove import leaving as entries_leaving
from ..tiers.store import read_document
from ..tiers.taken import Taken, take, title_of
from ..values import dataclass
from .books import Books, lock_name
from .healing import Healing, heal
from .ledger import Archived, archived

BY_HAND = "taken out by hand"
TAKEN_BACK = "gone with an earlier version of the file, by git or an undo"
DELETED = "gone with the file, which was deleted or emptied"
EDITED_BY_HAND = "edited by hand"
REWRITTEN = "the document was written without it"
PUT_BACK = "overwritten by another program; the next write puts it back"
KEPT_OUT = "overwritten by another program, and no room for it"

QUIET_SECONDS = 0.05
"""How long a file that others write must have been left alone: an editor empties it, or takes it away, to save it."""

_TRIES = 20

FEW = 5
"""So many entries are put back by their places alone; of more, the ledger says how the text was."""


@dataclass(frozen=True, slots=True)
class Change:
    """A changed document, why entries leave it, and what is said of entries that come."""

    document: Document
    # for each entry that goes, why; "removed" where nothing is said
    reasons: Mapping[str, str] = field(default_factory=dict)
    about: Mapping[str, About] = field(default_factory=dict)  # for new entries, what their writer said beside the text
    # entries that go without a copy in the ledger: what must not be kept anywhere
    unarchived: frozenset[str] = frozenset()
    # for entries that are edited or retired, the ids of those that hold in their places
    successors: Mapping[str, str] = field(default_factory=dict)
    retired: frozenset[str] = frozenset()  # the entries that say something else than their successors
    was_over: bool = False


@dataclass(frozen=True, slots=True)
class Changed:
    """What a transaction did."""

    document: Document
    run: str  # the id, in the ledger, of the command that this was a part of
    healing: Healing = field(default_factory=Healing)  # what was healed, as it was found under the lock
    healed: tuple[str, ...] = ()
    # the ids of entries that had gone missing by accident and do not fit any more, now in the ledger
    kept_out: tuple[str, ...] = ()
    removed_by_hand: tuple[str, ...] = ()  # the ids of entries that someone took out, now in the ledger
    unkept: tuple[str, ...] = ()  # the ids of entries that someone took out and that may be kept nowhere
    other_names: int = 0  # how many other names (hard links) the file had, which still have the old text


def change_document(
    root: Root,
    target: Target,
    change: Callable[[Document], Change],
    *,
    header: Callable[[], str],
    check: Callable[[Document, Document], None],
    now: datetime,
    command: str = "",
    may_keep: Callable[[str], bool] = lambda _: True,
    may_come: Callable[[str], bool] = lambda _: True,
    wait: float = 10.0,
    request: WhileWaiting | None = None,
    then: Callable[[], None] = lambda: None,
) -> Changed:
    """Change one document under its lock; read it again and start over if someone else was quicker.

    Args:
        root: the opened project.
        target: the document, its owner spelled as its folder is.
        change: makes the new document from the present one. It may be called several times.
        header: gives the text a document that does not exist yet begins with.
        check: raises when the step from the old to the new document breaks a limit.
        now: the present moment, with its zone.
        command: the id, in the ledger, of the command that this change is a part of.
        may_keep: says of a text that was taken out by hand whether the ledger may keep it.
        may_come: says of a text that goes back whether a document may have it.
        wait: how many seconds to wait for the lock.
        request: what is asked of the process that holds the lock; `lock.Answered` is raised if it has done that.
        then: called when the document is changed, before the lock is given up.
    """
    with hold(root, lock_name(target), wait=wait, request=request):
        books = Books(root, target, lock_name(target), now, command)
        tries, deadline = 0, time.monotonic() + wait
        while tries < _TRIES or time.monotonic() < deadline:
            root.forget()
            tries += 1
            try:
                done = _attempt(root, target, change, header, check, books, tries, may_keep, may_come)
            except _BeingSaved:
                time.sleep(QUIET_SECONDS)
            except ChangedMeanwhile:
                continue
            else:
                then()
                return done
    raise StorageError(f"{target.path}: something else writes this file all the time; nothing was changed")


def plan_healing(
    root: Root,
    target: Target,
    *,
    header: Callable[[], str],
    check: Callable[[Document, Document], None],
    now: datetime,
) -> Healing:
    """Say what the next write to a document would put back, and what it would note in the ledger."""
    read = read_document(root, target)
    current = _begun(read[0] if read else None, target, header)
    healing = Books(root, target, lock_name(target), now).plan_healing(current, _changed_at(read))
    return heal(current, healing, check)[1]


def pending(healing: Healing, now: datetime) -> list[Archived]:
    """List what the next write would put back or note in the ledger, as the ledger would list it then."""
    coming = [(add.taken, PUT_BACK) for add in healing.put_back]
    found = [Archived(one, new_stamp(now), why, "") for one, why in (*coming, *why_gone(healing))]
    lines = [*parse_file([healing.owed.encode()])]
    return [*archived(sort_out(lines, by_time=True), lines, ()), *found]


class _BeingSaved(Exception):
    """Another program is perhaps in the middle of saving the document."""


def _attempt(
    root: Root,
    target: Target,
    change: Callable[[Document], Change],
    header: Callable[[], str],
    check: Callable[[Document, Document], None],
    books: Books,
    tries: int,
    may_keep: Callable[[str], bool],
    may_come: Callable[[str], bool],
) -> Changed:
    read = read_document(root, target)
    if read:
        documents.check_writable(read[0])
    current = _begun(read[0] if read else None, target, header)
    healing = books.plan_healing(current, _changed_at(read))
    if not healing.is_known and books.has_journal and not _is_quiet(read, tries):
        raise _BeingSaved
    healed, healing = heal(current, healing, check, may_come)
    changed = change(healed)
    new = changed.document
    if new is current and not healing.has_work:
        _note(books, healing, changed, may_keep)
        return Changed(current, books.command)
    check(healed, new)
    make_folders(root, target.parts[:-1])
    keepable = _keepable(healing, may_keep)
    try:
        _archive(books, keepable, changed, healed, may_keep)
        _note(books, healing, changed, may_keep)
        books.begin(current, new, archived=[one.id for one in healing.kept_out])
        if new is not current:
            _write(root, target, new, read)
    except NotConfirmed:
        raise
    except AgentMemoryError:
        if not _stands(root, target, new):
            books.undo()
        raise
    books.done()
    before = set(current.ids)
    return Changed(
        new,
        books.command,
        healing,
        healed=tuple(one for one in healed.ids if one not in before),
        kept_out=tuple(one.id for one in keepable.kept_out),
        removed_by_hand=tuple(one.id for one in keepable.removed),
        unkept=tuple(one.id for one in healing.removed if one not in keepable.removed),
        other_names=read[1].links - 1 if read and new is not current else 0,
    )


def _keepable(healing: Healing, may_keep: Callable[[str], bool]) -> Healing:
    kept_out, removed, edited = (
        tuple(one for one in taken if may_keep(one.markdown))
        for taken in (healing.kept_out, healing.removed, healing.edited)
    )
    return replace_fields(healing, kept_out=kept_out, removed=removed, edited=edited)


def why_gone(healing: Healing) -> list[tuple[Taken, str]]:
    """Return what healing notes in the ledger, each with the reason."""
    removed = DELETED if healing.is_deleted else TAKEN_BACK if healing.is_back else BY_HAND
    found = ((healing.kept_out, KEPT_OUT), (healing.removed, removed), (healing.edited, EDITED_BY_HAND))
    return [(one, why) for taken, why in found for one in taken]


def _archive(
    books: Books, healing: Healing, changed: Change, healed: Document, may_keep: Callable[[str], bool]
) -> None:
    """Put into the ledger what was found gone, and what leaves now."""
    new = changed.document
    by_hand = why_gone(healing)
    books.add_again(healing.owed)
    size = healed.line_count, len(healed.data)
    texts = [one.markdown for one, _ in by_hand]
    with_them = size[0] + sum(text.count("\n") + 1 for text in texts), size[1] + len("\n".join([*texts, ""]).encode())
    over = changed.was_over
    kept = title_of(new)
    title = kept.markdown if kept else ""
    books.archive(by_hand, by_hand=True, successors=healing.successors, size=with_them, is_over=over, title=title)
    gone = entries_leaving(healed, new, {*changed.reasons, *changed.unarchived})
    leaving = [(taken, changed.reasons.get(one, "removed")) for one, taken in gone if one not in changed.unarchived]
    undo = None
    if leaving and not changed.unarchived and not changed.successors:
        from ..tiers.undo import literal_text, undo_of

        undo = None if _comes_back(healed, new, gone) else undo_of(healed, new, gone)
        undo = undo if undo and may_keep(literal_text(undo)) else None
    leaving += [(taken, REWRITTEN) for taken in frame.leaving(healed, new)]
    successors, retired = changed.successors, changed.retired
    books.archive(leaving, successors=successors, retired=retired, size=size, is_over=over, undo=undo, title=title)


def _comes_back(old: Document, new: Document, gone: Sequence[tuple[str, Taken]]) -> bool:
    """Say whether their places alone bring back the whole text, so that the ledger need not say how."""
    if len(gone) > FEW:
        return False  # many are slow to put back, and their undo is short for each
    from ..tiers.restore import put_back_all

    back, refused = put_back_all(new, [taken for _, taken in gone])
    return not refused and back.data == old.data


def _note(books: Books, healing: Healing, changed: Change, may_keep: Callable[[str], bool]) -> None:
    """Put into the ledger what is known of what comes. What was edited by hand hands it on to what it has become."""
    new, about = changed.document, dict(changed.about)
    if healing.successors:
        known = books.said()
        for old, successor in healing.successors.items():
            inherited = known.get(old, About()).of_another_text
            about[successor] = inherited.with_more(about.get(successor, About()))
    coming = [one for one, said in about.items() if said.says_something and one in new.ids]
    noted = {one: (take(new, one).markdown, about[one]) for one in coming}
    books.note({one: kept for one, kept in noted.items() if one in changed.about or may_keep(kept[0])})


def _write(root: Root, target: Target, new: Document, read: tuple[Document, Content] | None) -> None:
    if read is not None:
        replace(root, target.parts, new.data, expected=read[1])
    elif not create(root, target.parts, new.data, alone=True):
        raise ChangedMeanwhile(f"{target.path}: was created meanwhile")


def _stands(root: Root, target: Target, new: Document) -> bool:
    """Say whether the new document is in place, whatever error the system gave for its renaming."""
    try:
        content = root.read(target.parts)
    except StorageError:
        return True
    return content is not None and content.data == new.data


def _is_quiet(read: tuple[Document, Content] | None, tries: int) -> bool:
    """Say whether nobody is writing a file now. A missing file is looked for twice."""
    if read is None or tries > _TRIES:
        return tries > 1
    return not 0 <= time.time() - read[1].stamp[2] / 1e9 < QUIET_SECONDS


def _says_something(document: Document | None) -> bool:
    return document is not None and any(line.strip() for line in document.lines)


def _changed_at(read: tuple[Document, Content] | None) -> float | None:
    """Return when a file was last changed, in seconds since the epoch; None for one that is missing or blank."""
    return read[1].stamp[2] / 1e9 if read and _says_something(read[0]) else None


def _begun(current: Document | None, target: Target, header: Callable[[], str]) -> Document:
    """Return the document to change: as it is, or where it is missing or blank with its header."""
    if current is not None and _says_something(current):
        return current
    return documents.parse((current.bom if current else b"") + header().encode(), target)

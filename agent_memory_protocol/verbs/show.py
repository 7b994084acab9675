"""The verbs that show documents as they are on disk now: their lines, their entries, their figures."""

import os
from collections.abc import Callable, Sequence
from contextlib import suppress
from datetime import date
from pathlib import Path

from .. import limits
from ..answers import About, Shown, Status, StoredEntry, Where
from ..change.session import Session
from ..disk.files import decode
from ..disk.writing import LOCAL
from ..errors import AgentMemoryError, DamagedFile, StorageError
from ..layout import OWNED_TIERS, RECORDS, Target, Tier, check_target
from ..project import local_state
from ..project.access import Actor
from ..project.settings import PROJECT_FILE, personal_file
from ..recall.agent import recall
from ..recall.block import Budget
from ..tiers import document, store
from ..tiers.document import Document
from . import index
from .stored import stored_entries


def show(session: Session, target: Target, section: str | None) -> Shown | None:
    """Return a document, or one section of it; None without one."""
    session.check_read(target)
    target = store.locate(session.root, target)
    content = session.root.read(target.parts)
    if content is None:
        return None
    # Only a section asks for the document's structure; the lines of a file of any size are soon split.
    if section is None:
        lines = limits.split_lines(decode(content.data, target.path))
        return Shown(target, session.path(target), list(enumerate(lines, start=1)))
    found = session.read(target)
    if found is None:
        return None
    start, end = document.section_span(found, section)
    return Shown(target, session.path(target), list(enumerate(found.lines, start=1))[start:end])


def left_out(
    session: Session, target: Target, agent: str | None, budget: Budget, today: date | None
) -> list[tuple[int, str]] | None:
    """Return the numbered lines that recall, for `agent` or else the actor, leaves out, with what governs them."""
    found = show(session, target, None)
    if found is None:
        return None
    named, actor = Actor(agent), session.actor
    owner = {target.tier.owner: target.owner}
    made_for = Actor(owner.get("agent", named.agent or actor.agent), owner.get("conversation", actor.conversation))
    lines = dict(found.lines)
    numbers = {
        number
        for part in recall(session.root, session.settings, made_for, budget, today=today).parts
        if part.target == target
        for gone in part.left_out
        for number in (*gone.context, *range(gone.first_line, gone.last_line + 1))
    }
    # The line that names what `INDEX.md` lists is not a line of the file.
    return [(number, lines[number]) for number in sorted(numbers) if number in lines]


def documents(
    session: Session, targets: Sequence[Target] | None, on_problem: Callable[[Target, str], object] | None
) -> list[Document]:
    """Return these documents, or all that the actor may read; without those that do not exist."""
    found = []
    for target in session.readable() if targets is None else targets:
        session.check_read(target)
        try:
            read = session.read(store.locate(session.root, target))
        except StorageError as error:
            if on_problem is None:
                raise
            on_problem(target, str(error))
        else:
            found += [] if read is None else [read]
    return found


def entries(
    session: Session, targets: Sequence[Target] | None, on_problem: Callable[[Target, str], object] | None
) -> list[StoredEntry]:
    """Return every entry of these documents, or of all that the actor may read, with what their ledgers say of it."""
    found = []
    for one in documents(session, targets, on_problem):
        said: dict[str, About] = {}
        try:
            said = session.said(one.target)
        except AgentMemoryError as error:
            if on_problem is None:
                raise
            on_problem(one.target, str(error))
        stored = zip(stored_entries(one, said), one.outline.entries, strict=True)
        found += [entry for entry, standing in stored if not standing.holds_place(one.lines)]
    return found


def entry(session: Session, entry_id: str) -> StoredEntry:
    """Return one entry with what its ledger says of it. Raises as `Session.locate`."""
    ((target, (found,)),) = session.locate([entry_id]).items()
    return next(one for one in entries(session, [target], None) if one.id == found)


def status(session: Session, targets: Sequence[Target] | None) -> list[Status]:
    """Return the figures of these documents, or of all that the actor may read."""
    rows = []
    for target in session.readable() if targets is None else targets:
        check_target(target)
        try:
            rows.append(_status(session, target))
        except AgentMemoryError as error:
            rows.append(Status(target, session.path(target), problem=str(error)))
    return rows


def _status(session: Session, target: Target) -> Status:
    store.check_name(target)
    source = store.read(session.root, target)
    if source is None:
        return Status(target, session.path(target), problem="it has just gone")
    if source.gap is not None:
        raise DamagedFile(
            f"has {source.lines:,} lines; that is not a page of memory any more; split it up by hand", path=target.path
        )
    found = document.outline_of(source.text)
    lines = limits.split_lines(source.text)
    entries = [entry for entry in found.entries if not entry.holds_place(lines)]
    notes, unlisted = index.count(session, target, source.text)
    days = [entry.day for entry in entries if entry.day is not None]
    size, settings = len(source.data), session.settings
    return Status(
        target,
        session.path(target),
        lines=source.lines,
        bytes=size,
        tokens=limits.estimate_tokens(size),
        share=limits.share_of_limits(source.lines, size, settings.max_lines, settings.max_bytes),
        entries=len(entries),
        dated=len(days),
        oldest=date.fromordinal(min(days)) if days else None,
        newest=date.fromordinal(max(days)) if days else None,
        indexed=len(found.index_lines),
        notes=notes,
        unlisted=unlisted,
    )


def where(session: Session, problem: str) -> Where:
    """Say which paths and settings are in use, and what is wrong with them, `problem` first where there is one."""
    settings, personal = session.settings, personal_file(session.environ)
    below = [Target(Tier.SHARED).parts, *(tier.folder for tier in OWNED_TIERS), RECORDS, PROJECT_FILE]
    paths = [*(Path(session.root.path, *parts) for parts in below), *([Path(personal)] if personal else [])]
    rows = settings.rows()
    why = ""
    with suppress(AgentMemoryError):  # why it cannot be looked at is said where documents are read
        why = local_state.find(session.root).why_not
    not_believed = f"{'/'.join(LOCAL)} {why}; it is not believed" if why else ""
    return Where(
        # What may not be looked at counts as not there; Path.exists would raise.
        paths=[(str(path), os.path.exists(path)) for path in paths],
        settings=[row for row in rows if row[2] != "default"],
        all_settings=rows,
        problems=[*([problem] if problem else []), *settings.problems, *([not_believed] if not_believed else [])],
    )

"""The index as a verb on an opened session: which folders hold notes, and one line for each in the tier file."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from ..answers import Indexed
from ..change.session import Session
from ..errors import DamagedFile
from ..layout import Target
from ..limits import split_lines
from ..notes import index
from ..notes import store as note_store
from ..notes.note import Head
from ..notes.store import Folder, KnownNotes
from ..tiers import document as documents
from ..tiers import store
from ..tiers.document import Document

if TYPE_CHECKING:
    from ..change.transaction import Change


def reindex(session: Session, targets: Sequence[Target] | None, *, check: bool) -> list[Indexed]:
    """Bring the index of these folders up to date, or with `check` only say what differs."""
    found = []
    for named in folders(session) if targets is None else targets:
        target = named
        try:
            target = store.locate(session.root, named)
            session.check_read(target)
            if check:
                found.append(_compare(session, target))
            else:
                session.check_write(target)
                found.append(refresh(session, target))
        except DamagedFile as error:
            found.append(Indexed(target, session.path(target), problem=str(error)))
    return found


def reindex_known(
    session: Session, target: Target, known: KnownNotes, touched: Collection[str] | None, *, anyway: bool
) -> Indexed | None:
    """Bring one index up to date, reading of its notes only what has changed since they were read last.

    Args:
        session: the opened project.
        target: the tier file.
        known: what was read of its notes; it is brought up to date too.
        touched: the notes that may have changed, all of them known; None where any may have, or come, or gone.
        anyway: whether the tier file itself may have changed, so that the index is looked at whatever the notes say.

    Returns:
        None where nothing that an index line is made from has changed, and for a conversation, which has no notes.
    """
    if not target.tier.has_notes:
        return None
    session.check_write(target)
    folder = target.parts[:-1]
    if touched is None:
        known.look(session.root, folder, target.parts[-1])
    elif not known.look_at(session.root, folder, touched) and not anyway:
        return None
    return refresh(session, target, lambda: known.folder)


def folders(session: Session) -> list[Target]:
    """List the folders that hold notes and that the actor may read, and those of which nobody can say."""
    return [target for target in all_folders(session) if session.may_read(target)]


def all_folders(session: Session) -> list[Target]:
    """List the folders that hold notes, whoever may read them, and those of which nobody can say."""
    return [
        target
        for target in store.places(session.root)
        if target.tier.has_notes and session.settings.has_tier(target.tier) and _may_have_notes(session, target)
    ]


def _may_have_notes(session: Session, target: Target) -> bool:
    try:
        return note_store.has_notes(session.root, target.parts[:-1], target.parts[-1])
    except DamagedFile:
        return True  # whoever reads it is told, and one folder costs no other


def count(session: Session, target: Target, text: str) -> tuple[int, int]:
    """Return how many notes lie beside a tier file, given its text, and how many of them it does not name."""
    folder, tier_file = target.parts[:-1], target.parts[-1]
    if not target.tier.has_notes or not note_store.has_notes(session.root, folder, tier_file):
        return 0, 0
    files = index.by_key(note_store.list_names(session.root, folder, tier_file))
    return len(files), len(files.keys() - index.read(text).files)


def refresh(session: Session, target: Target, read: Callable[[], Folder] | None = None) -> Indexed:
    """Give every note of a folder its line. `read` gives the notes; without it they are read from the disk."""
    from ..change.transaction import Change

    state = Indexed(target, session.path(target))
    read = read or (lambda: _notes(session, target))

    def change(current: Document) -> Change:
        nonlocal state
        text = "".join(current.raw)
        built, state = _build(session, target, text, read())
        if built == text:
            return Change(current)
        return Change(documents.parse(current.bom + built.encode(), target))

    folder, tier_file = target.parts[:-1], target.parts[-1]
    if not session.root.exists(target.parts) and not note_store.has_notes(session.root, folder, tier_file):
        return state
    left = session.change(target, change).document
    return replace(state, left=left.data)


def _compare(session: Session, target: Target) -> Indexed:
    current = session.read(target)
    text = "".join(current.raw) if current else session.header(target)
    return _build(session, target, text, _notes(session, target))[1]


def _notes(session: Session, target: Target) -> Folder:
    return note_store.read_folder(session.root, target.parts[:-1], target.parts[-1])


def _build(session: Session, target: Target, text: str, notes: Folder) -> tuple[str, Indexed]:
    """Return the tier file's text with its index up to date, and what that index is."""
    whose = f" --agent {target.owner}" if target.owner else ""
    before, files = index.read(text), index.by_key(notes.heads)
    if before.problem:
        raise DamagedFile(before.problem, path=target.path, line=before.problem_line)

    def build(heads: dict[str, Head]) -> index.Built:
        return index.build(
            text,
            before,
            files,
            heads,
            max_lines=session.settings.max_lines,
            max_bytes=session.settings.max_bytes,
            more=f"amp note list{whose}",
        )

    built = build(notes.heads)
    if built.problem:
        raise DamagedFile(built.problem, path=target.path)
    problems = list(notes.problems.values())
    if built.text != text and _has_new_secret(session, text, built.text):
        held = _heads_with_secrets(session, notes.heads)
        # A line that says nothing but the file's name copies no secret.
        built = build({**notes.heads, **dict.fromkeys(held, Head())})
        problems += [
            f"{'/'.join((*target.parts[:-1], file))}: its description holds {secret}; its index line leaves that out"
            for file, secret in held.items()
        ]
    after = before if built.text == text else index.read(built.text)
    state = _state(Indexed(target, session.path(target)), files, notes.problems, before, after)
    return built.text, replace(
        state,
        unlisted=built.unlisted,
        changed=state.changed or built.text != text,
        problem="; ".join(problems),
    )


def _state(
    state: Indexed, files: Mapping[str, str], unreadable: Collection[str], before: index.Index, after: index.Index
) -> Indexed:
    """Return what an index is, given what the tier file says before and after it is brought up to date."""
    # Of thousands of notes the tier file names few, so what it names is looked up among them and not they in it.
    there = {*files, *index.by_key(unreadable)} if unreadable else files.keys()
    named, named_after = before.files, after.files
    return replace(
        state,
        notes=len(files),
        listed=sum(key in files for key in named),
        added=tuple(sorted(files[key] for key in named_after - named if key in files)),
        dangling=tuple((line.line, line.file) for line in after.lines if line.file not in there),
        changed=any(line.file not in there and line.file not in named_after for line in before.lines),
    )


def _has_new_secret(session: Session, before: str, after: str) -> bool:
    there = set(split_lines(before))
    return bool(session.secret_in("\n".join(line for line in split_lines(after) if line not in there)))


def _heads_with_secrets(session: Session, heads: dict[str, Head]) -> dict[str, str]:
    """Return the notes whose index line would hold a secret, and what it is."""
    said = {file: session.secret_in(f"{head.name}\n{head.heading}\n{head.description}") for file, head in heads.items()}
    return {file: secret for file, secret in said.items() if secret}

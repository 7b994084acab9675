"""Notes and their index, as verbs on an opened session: make, list, show, remove, merge, and index."""

from collections.abc import Sequence

from . import ledger, routing
from .access import Actor
from .answers import Indexed, NoteRow
from .errors import DamagedFile, InvalidArgument
from .layout import Target, Tier
from .lock import hold
from .notes import index, note
from .notes import store as note_store
from .notes.note import Note
from .session import Session
from .tiers import document as documents
from .tiers import store
from .tiers.document import Document
from .transaction import Change, lock_name
from .writing import create, make_folders, remove, replace


def new(
    session: Session,
    actor: Actor,
    target: Target,
    note_type: str,
    slug: str,
    *,
    description: str,
    why: str,
    how: str,
    body: str,
) -> str:
    """Write one new note and its index line. Returns its file name."""
    session.check_write(actor, target)
    file = note.file_name(note_type, slug)
    text = note.render(note_type, file, description, why=why, how=how, body=body)
    session.check_secrets(text, f"note {file}")
    session.check_size(file, b"", text.encode(), "say it shorter, or in two notes")
    target = store.locate(session.root, target)
    folder = target.parts[:-1]
    make_folders(session.root, folder)
    if not create(session.root, (*folder, file), text.encode()):
        raise InvalidArgument(f"{'/'.join((*folder, file))} exists already; choose another name or edit that file")
    found = routing.outside(description) or routing.outside(body)
    if found is not None:
        session.notices.append(
            f"{routing.advice(found, description)} (`amp note remove {file[:-3]}` takes it out here)"
        )
    refresh(session, target)
    return file


def rows(session: Session, actor: Actor, targets: Sequence[Target] | None) -> list[NoteRow]:
    """List the notes of these folders, or of all that this actor may read."""
    found = []
    for target in folders(session, actor) if targets is None else targets:
        session.check_read(actor, target)
        located = store.locate(session.root, target)
        folder = located.parts[:-1]
        listed = _index_of(session, located).files
        read = note_store.read_folder(session.root, folder, located.parts[-1])
        for file, head in read.heads.items():
            found.append(
                NoteRow(
                    located, file, head.type, note.title_of(file, head), head.description, index.key(file) in listed
                )
            )
        found += [NoteRow(located, file, "", file, "", False, problem) for file, problem in read.problems.items()]
    return found


def show(session: Session, actor: Actor, target: Target, name: str) -> tuple[str, str]:
    """Return a note's file name and its text."""
    session.check_read(actor, target)
    located = store.locate(session.root, target)
    file = _find(session, located, name)
    read = note_store.read(session.root, located.parts[:-1], file)
    if read is None:
        raise InvalidArgument(f"there is no note {name!r} beside {located.path}; `amp note list` names them")
    return file, read[1]


def take_out(session: Session, actor: Actor, target: Target, name: str, reason: str) -> str:
    """Remove a note: its text goes to the ledger, its line out of the index. Returns its file name."""
    session.check_write(actor, target)
    session.check_secrets(reason, "reason")
    target = store.locate(session.root, target)
    file = _find(session, target, name)
    with hold(session.root, lock_name(target)):
        session.root.forget()
        archive(session, target, file, reason)
        remove(session.root, (*target.parts[:-1], file))
    refresh(session, target)
    return file


def merge(session: Session, actor: Actor, target: Target, names: Sequence[str], into: str) -> str:
    """Add the facts of some notes to another, and remove them. Returns the file that holds them all."""
    session.check_write(actor, target)
    target = store.locate(session.root, target)
    folder = target.parts[:-1]
    keeper = _find(session, target, into)
    files = [_find(session, target, name) for name in names]
    if keeper in files or not files:
        raise InvalidArgument("merge other notes into one: name at least one that is not the one they go into")
    with hold(session.root, lock_name(target)):
        session.root.forget()
        content = session.root.read((*folder, keeper))
        others = [_read(session, target, file) for file in files]
        if content is None:
            raise InvalidArgument(f"there is no note {into!r} beside {target.path}")
        text = note.merged(content.data.decode(), others)
        session.check_size(keeper, content.data, text.encode(), "merge fewer notes, or shorten them first")
        replace(session.root, (*folder, keeper), text.encode(), expected=content)
        for file in files:
            archive(session, target, file, f"merged into {keeper}")
            remove(session.root, (*folder, file))
    refresh(session, target)
    return keeper


def put_back(session: Session, target: Target, archived: ledger.Archived) -> bool:
    """Write a removed note again; False where a file of its name is there."""
    parts = (*target.parts[:-1], archived.note)
    made = create(session.root, parts, archived.taken.markdown.encode())
    if made:
        refresh(session, target)
    return made


def reindex(session: Session, actor: Actor, targets: Sequence[Target] | None, *, check: bool) -> list[Indexed]:
    """Bring the index of these folders up to date, or with `check` only say what differs."""
    found = []
    for named in folders(session, actor) if targets is None else targets:
        target = store.locate(session.root, named)
        session.check_read(actor, target)
        try:
            if check:
                found.append(_compare(session, target))
            else:
                session.check_write(actor, target)
                found.append(refresh(session, target))
        except DamagedFile as error:
            found.append(Indexed(target, session.path(target), problem=str(error)))
    return found


def folders(session: Session, actor: Actor) -> list[Target]:
    """List the folders that hold notes and that this actor may read."""
    candidates = session.readable(actor)
    for tier, names in _owners(session).items():
        for name in names:
            target = Target(tier, name)
            if target not in candidates:
                candidates.append(target)
    return [
        target
        for target in candidates
        if target.tier is not Tier.CONVERSATION
        and session.may_read(actor, target)
        and note_store.list_names(session.root, target.parts[:-1], target.parts[-1])
    ]


def _owners(session: Session) -> dict[Tier, list[str]]:
    agents = session.root.list_folders(Target(Tier.AGENT, "x").parts[:-2])
    return {Tier.SHARED: [""], Tier.AGENT: agents}


def refresh(session: Session, target: Target) -> Indexed:
    """Bring the index of one folder up to date."""
    state = Indexed(target, session.path(target))

    def change(current: Document) -> Change:
        nonlocal state
        read = note_store.read_folder(session.root, target.parts[:-1], target.parts[-1])
        text = "".join(current.raw)
        built = _build(session, target, text, read)
        state = _state(session, target, text, built, read)
        if built.text == text:
            return Change(current)
        return Change(documents.parse(current.bom + built.text.encode(), target))

    folder = target.parts[:-1]
    if not session.root.exists(target.parts) and not note_store.list_names(session.root, folder, target.parts[-1]):
        return state
    session.change(target, change)
    return state


def _compare(session: Session, target: Target) -> Indexed:
    read = note_store.read_folder(session.root, target.parts[:-1], target.parts[-1])
    current = session.read(target)
    text = "".join(current.raw) if current else session.header(target)
    return _state(session, target, text, _build(session, target, text, read), read)


def _build(session: Session, target: Target, text: str, read: note_store.Folder) -> index.Built:
    whose = f" --agent {target.owner}" if target.owner else ""
    return index.build(
        text,
        read.heads,
        max_lines=session.settings.max_lines,
        max_bytes=session.settings.max_bytes,
        more=f"amp note list{whose}",
    )


def _state(session: Session, target: Target, text: str, built: index.Built, read: note_store.Folder) -> Indexed:
    before, after = index.read(text), index.read(built.text)
    named, named_after = before.files, after.files
    there = {index.key(file) for file in (*read.heads, *read.problems)}
    missing = [file for file in read.heads if index.key(file) not in named]
    lines = {line.file for line in before.lines}
    return Indexed(
        target,
        session.path(target),
        notes=len(read.heads),
        listed=len(read.heads) - len(missing),
        added=tuple(sorted(file for file in missing if index.key(file) in named_after)),
        dangling=tuple((line.line, line.file) for line in after.lines if line.file not in there),
        unlisted=built.unlisted,
        changed=built.text != text or bool(lines - there - named_after),
        problem="; ".join(read.problems.values()),
    )


def _index_of(session: Session, target: Target) -> index.Index:
    current = session.read(target)
    return index.read("".join(current.raw) if current else "")


def _find(session: Session, target: Target, name: str) -> str:
    """Return the file of a note named by its file, its stem, or its slug without the type."""
    names = note_store.list_names(session.root, target.parts[:-1], target.parts[-1])
    for wanted in (name, f"{name}.md", *(f"{prefix}_{name}.md" for prefix in note.TYPES)):
        if wanted in names:
            return wanted
    raise InvalidArgument(f"there is no note {name!r} beside {target.path}; `amp note list` names them")


def _read(session: Session, target: Target, file: str) -> Note:
    read = note_store.read(session.root, target.parts[:-1], file)
    if read is None:
        raise InvalidArgument(f"there is no note {file!r} beside {target.path}; `amp note list` names them")
    return read[0]


def archive(session: Session, target: Target, file: str, reason: str) -> None:
    """Keep a note word for word in the ledger, before it changes or goes."""
    read = note_store.read(session.root, target.parts[:-1], file)
    if read is not None:
        entry_id = documents.entry_id(f"{file}\n{read[1]}", target)
        session.books(target).archive_note(file, entry_id, read[1], reason)

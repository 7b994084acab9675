"""Notes as verbs on an opened session: make, list, show, remove, merge, and put back."""

from collections.abc import Sequence
from pathlib import Path

from ..answers import NoteRow
from ..change import backups, ledger, redaction
from ..change.session import Session
from ..disk.files import decode, split_bom
from ..disk.writing import LOCAL, create, make_folders, remove, remove_tree, replace
from ..errors import AgentMemoryError, DamagedFile, InvalidArgument, SecretFound
from ..layout import Target, Tier
from ..learning import route
from ..notes import index, note
from ..notes import store as note_store
from ..notes.note import Note
from ..project import local_state
from ..project.agents import nearest
from ..tiers import document as documents
from ..tiers import store
from .index import folders, refresh
from .index import listed as index_listed


def new(
    session: Session,
    target: Target | None,
    note_type: str,
    slug: str,
    *,
    description: str,
    why: str,
    how: str,
    body: str,
) -> Path:
    """Write one new note and its index line. Returns its file."""
    target = target or session.own
    session.check_write(target)
    file = note.file_name(note_type, slug)
    text = note.render(note_type, file, description, why=why, how=how, body=body)
    session.check_secrets(text, f"note {file}")
    session.check_size(file, b"", text.encode(), "say it shorter, or in two notes", target=target)
    target = store.locate(session.root, target)
    folder = target.folder
    make_folders(session.root, folder)
    if not create(session.root, (*folder, file), text.encode()):
        raise InvalidArgument(f"{'/'.join((*folder, file))} exists already; choose another name or edit that file")
    found = route.outside(description) or route.outside(body)
    if found is not None:
        session.notices.append(f"{route.advice(found, description)} (`amp note remove {file[:-3]}` takes it out here)")
    _index(session, target)
    from .meet import remarks_on_note

    session.notices += [
        *_where_listed(session, target, file),
        *remarks_on_note(session, target, file, text, only_meetings=True),
    ]
    return session.path(target).with_name(file)


def _where_listed(session: Session, target: Target, file: str) -> list[str]:
    """Say where the line of a new note is, if the tier file has no room for it."""
    if index.key(file) in _index_of(session, target).files:
        return []
    for number, text in enumerate(note_store.read_beside(session.root, target.folder), start=1):
        if index.key(file) in index.read(text).files:
            place = "/".join((*target.folder, index.beside_name(number)))
            return [f"{target.path} has no room for its line; it is in {place}, which recall names"]
    return []


def rows(session: Session, targets: Sequence[Target] | None) -> list[NoteRow]:
    """List the notes of these folders, or of all that this actor may read; a folder that cannot be read has one row."""
    found = []
    for target in folders(session) if targets is None else targets:
        session.check_read(target)
        try:
            found += _rows(session, store.locate(session.root, target))
        except DamagedFile as error:
            if targets is not None:
                raise
            found.append(NoteRow(target, "", "", "", "", False, str(error)))
    return found


def _rows(session: Session, target: Target) -> list[NoteRow]:
    current = session.read(target)
    read = note_store.read_folder(session.root, target.folder, target.parts[-1])
    listed = index_listed(session, target, "".join(current.raw) if current else "", read.heads)
    found = [
        NoteRow(target, file, head.type, note.title_of(file, head), head.description, index.key(file) in listed)
        for file, head in read.heads.items()
    ]
    return found + [NoteRow(target, file, "", file, "", False, problem) for file, problem in read.problems.items()]


def show(session: Session, target: Target | None, name: str) -> tuple[str, str]:
    """Return the file name and the text of a note: beside that document, else the actor's own, else the shared one."""
    located = []
    for one in [target] if target else [session.own, Target(Tier.SHARED)]:
        session.check_read(one)
        located.append(store.locate(session.root, one))
    target = next((one for one in located if _named(session, one, name) is not None), located[0])
    file = _find(session, target, name)
    return file, _read(session, target, file)[1]


def take_out(session: Session, target: Target | None, name: str, reason: str, *, redact: bool = False) -> str:
    """Remove a note: its text goes to the ledger, its line out of the index. Returns its file name.

    With `redact` nothing of it is kept, in the ledger either; without, a note that holds a secret is refused.
    """
    target = target or session.own
    session.check_write(target)
    session.check_said(reason, "reason")
    target = store.locate(session.root, target)
    file = _redacted_halfway(session, target, name) if redact else ""
    file = file or _find(session, target, name)
    ids: list[str] = []
    if redact:
        redaction.begin(session.root, target, [file])
        session.drop_search()
        remove_tree(session.root, (*LOCAL, local_state.SET_ASIDE))
    with session.locked(target):
        if redact:
            books = session.books(target)
            ids = books.ids_of_note(file)
            books.redact(ids)
        else:
            _check_may_be_kept(session, target, file)
            archive(session, target, file, reason)
        remove(session.root, (*target.folder, file))
    _index(session, target)
    if redact:
        with session.locked(target):  # the index said what the note says, so the journal and backups may say it too
            session.books(target).forget_texts(session.read(target), {file, *ids})
        backups.drop_with(session.root, [f"({file})"])
        session.drop_search()
        redaction.finish(session.root, [file])
    return file


def merge(session: Session, target: Target | None, names: Sequence[str], into: str) -> str:
    """Add the facts of some notes to another, and remove them. Returns its file. A note with a secret is refused."""
    target = target or session.own
    session.check_write(target)
    target = store.locate(session.root, target)
    folder = target.folder
    keeper = _find(session, target, into)
    files = [file for file in dict.fromkeys(_find(session, target, name) for name in names) if file != keeper]
    if not files:
        raise InvalidArgument("merge other notes into one: name at least one that is not the one they go into")
    with session.locked(target):
        content = session.root.read((*folder, keeper))
        if content is None:
            raise InvalidArgument(f"there is no note {into!r} beside {target.path}")
        for file in files:
            _check_may_be_kept(session, target, file)
        others = [_read(session, target, file)[0] for file in files]
        bom, text = split_bom(content.data)[0], decode(content.data, "/".join((*folder, keeper)))
        merged = bom + note.merged(text, others).encode()
        session.check_size(keeper, content.data, merged, "merge fewer notes, or shorten them first", target=target)
        replace(session.root, (*folder, keeper), merged, expected=content)
        for file in files:
            archive(session, target, file, f"merged into {keeper}")
            remove(session.root, (*folder, file))
    _index(session, target)
    return keeper


def path_of(session: Session, target: Target, archived: ledger.Archived) -> Path:
    """Return the file that an archived note, or a rules file, is put back to."""
    from . import originals

    name = archived.note
    return Path(session.root.path, name) if originals.is_one(name) else session.path(target).with_name(name)


def put_back(session: Session, target: Target, archived: ledger.Archived) -> bool:
    """Write a removed note again; False where a file of its name is there, or the name is not a note's."""
    from . import originals

    name = archived.note
    if originals.is_one(name):
        return originals.put_back(session, archived)
    if not target.tier.has_notes or "/" in name or "\\" in name or not note_store.is_note(name, target.parts[-1]):
        return False
    parts = (*target.folder, archived.note)
    made = create(session.root, parts, archived.taken.markdown.encode())
    if made:
        _index(session, target)
    return made


def _index(session: Session, target: Target) -> None:
    """Bring the index up to date after a change. If that fails, the change is still done."""
    try:
        refresh(session, target)
    except AgentMemoryError as error:
        session.notices.append(f"the index was not brought up to date: {error}")


def _check_may_be_kept(session: Session, target: Target, file: str) -> None:
    secret = session.secret_in(_read(session, target, file)[1])
    if secret:
        whose = f" --agent {target.owner}" if target.owner else ""
        raise SecretFound(
            f"{file} holds {secret}, which the ledger would keep; nothing was changed: take it out of the note, or "
            f"`amp note remove {file[:-3]}{whose} --redact` removes the note without a copy",
            target=target,
            path=file,
        )


def _index_of(session: Session, target: Target) -> index.Index:
    current = session.read(target)
    return index.read("".join(current.raw) if current else "")


def _find(session: Session, target: Target, name: str) -> str:
    """Return the file of a note named by its file, its stem, or its slug without the type."""
    file = _named(session, target, name)
    if file is not None:
        return file
    elsewhere = [other.option for other in folders(session) if _named(session, other, name) is not None]
    stems = [file.removesuffix(".md") for file in note_store.list_names(session.root, target.folder, target.parts[-1])]
    meant = nearest(name.removesuffix(".md"), stems)
    way_out = f"did you mean {meant}?" if meant else "`amp note list` names them"
    way_out = f"there is one with {' or '.join(elsewhere)}" if elsewhere else way_out
    raise InvalidArgument(f"there is no note {name!r} beside {target.path}; {way_out}")


def _redacted_halfway(session: Session, target: Target, name: str) -> str:
    """Return the file of a note whose redaction was begun and is not finished, however much of it is left; else ""."""
    begun = [one for one, home in redaction.unfinished(session.root).items() if home == target and one.endswith(".md")]
    return _called(begun, name) or ""


def _named(session: Session, target: Target, name: str) -> str | None:
    return _called(note_store.list_names(session.root, target.folder, target.parts[-1]), name)


def _called(files: Sequence[str], name: str) -> str | None:
    names = {index.key(file): file for file in files}
    for wanted in (name, f"{name}.md", *(f"{prefix}_{name}.md" for prefix in note.TYPES)):
        if index.key(wanted) in names:
            return names[index.key(wanted)]
    return None


def _read(session: Session, target: Target, file: str) -> tuple[Note, str]:
    read = note_store.read(session.root, target.folder, file)
    if read is None:
        raise InvalidArgument(f"there is no note {file!r} beside {target.path}; `amp note list` names them")
    return read


def archive(session: Session, target: Target, file: str, reason: str) -> None:
    """Keep a note word for word in the ledger, before it changes or goes."""
    text = _read(session, target, file)[1]
    session.books(target).archive_note(file, documents.entry_id(f"{file}\n{text}", target), text, reason)

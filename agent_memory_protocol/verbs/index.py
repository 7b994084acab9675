"""The index as a verb on an opened session: which folders hold notes, and one line for each in the tier file."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, TypeVar

from ..answers import Indexed
from ..change.session import Session
from ..disk import writing
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

_known: dict[tuple[str, ...], KnownNotes] = {}  # by root and folder, what this process has read of its notes
_built: dict[tuple[str, ...], tuple[Folder, object, tuple[index.Built, Indexed]]] = {}
"""By root and folder, what was built last, of which notes and of what else."""
_MOST_KNOWN = 16

Kept = TypeVar("Kept")


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
    """Bring one index up to date, reading of its notes only what has changed; see `Workspace.index_known`."""
    if not target.tier.has_notes:
        return None
    session.check_write(target)
    folder = target.folder
    if touched is None:
        known.look(session.root, folder, target.parts[-1])
    elif not known.look_at(session.root, folder, touched) and not anyway:
        return None
    return refresh(session, target, lambda: known.folder)


def folders(session: Session) -> list[Target]:
    """List the folders that hold notes and that the actor may read, and those of which nobody can say."""
    return [target for target in all_folders(session) if session.may_read(target)]


def all_folders(session: Session) -> list[Target]:
    """List the folders that hold notes, no matter who may read them, and those of which nobody can say."""
    return [
        target
        for target in store.places(session.root)
        if target.tier.has_notes and session.settings.has_tier(target.tier) and _may_have_notes(session, target)
    ]


def _may_have_notes(session: Session, target: Target) -> bool:
    try:
        return note_store.has_notes(session.root, target.folder, target.parts[-1])
    except DamagedFile:
        return True  # anyone who reads it is told, and one folder costs no other


def count(session: Session, target: Target, text: str) -> tuple[int, int]:
    """Return how many notes lie beside a tier file, given its text, and how many of them it does not name."""
    folder, tier_file = target.folder, target.parts[-1]
    if not target.tier.has_notes or not note_store.has_notes(session.root, folder, tier_file):
        return 0, 0
    names = note_store.list_names(session.root, folder, tier_file)
    return len(names), len(index.by_key(names).keys() - listed(session, target, text, names))


def listed(session: Session, target: Target, text: str, names: Iterable[str]) -> set[str]:
    """Return the keys of the notes that an index lists: in the tier file, beside it, or as a part of another note."""
    folder = target.folder
    found = set(index.read(text).files)
    for one in note_store.read_beside(session.root, folder):
        found |= index.read(one).files
    return found | index.by_key(note_store.parts_of_notes(session.root, folder, names)).keys()


def refresh(session: Session, target: Target, read: Callable[[], Folder] | None = None) -> Indexed:
    """Give every note of a folder its line. `read` gives the notes; without it they are read from the disk."""
    from ..change.transaction import Change

    state = Indexed(target, session.path(target))
    read = read or (lambda: _notes(session, target))

    def change(current: Document) -> Change:
        nonlocal state
        text = "".join(current.raw)
        beside = note_store.read_beside(session.root, folder)
        built, state = _build(session, target, text, read(), beside)
        # Before a line leaves the tier file it is in the other.
        _write_beside(session, folder, beside, built.beside)
        if built.text == text:
            return Change(current)
        return Change(documents.parse(current.bom + built.text.encode(), target))

    folder, tier_file = target.folder, target.parts[-1]
    if not session.root.exists(target.parts) and not note_store.has_notes(session.root, folder, tier_file):
        return state
    left = session.change(target, change).document
    return replace(state, left=left.data)


def _compare(session: Session, target: Target) -> Indexed:
    current = session.read(target)
    text = "".join(current.raw) if current else session.header(target)
    beside = note_store.read_beside(session.root, target.folder)
    return _build(session, target, text, _notes(session, target), beside)[1]


def _notes(session: Session, target: Target) -> Folder:
    """Return the notes as they are on disk; a process that lives long reads only those that have changed."""
    folder = target.folder
    where = (session.root.path, *folder)
    known = _known.pop(where, None) or KnownNotes()  # nobody else has it meanwhile
    known.look(session.root, folder, target.parts[-1])
    _keep(_known, where, known)
    return known.folder


def _keep(kept: dict[tuple[str, ...], Kept], where: tuple[str, ...], one: Kept) -> None:
    """Keep something of a folder, and let go of what is of the folders that were asked for longest ago."""
    kept.pop(where, None)
    kept[where] = one
    for other in [*kept][:-_MOST_KNOWN]:
        kept.pop(other, None)


def _write_beside(session: Session, folder: tuple[str, ...], old: Sequence[str], new: Sequence[str]) -> None:
    """Bring the files beside a tier file up to date; the document is locked."""
    for number in range(1, max(len(old), len(new)) + 1):
        parts = (*folder, index.beside_name(number))
        content = session.root.read(parts)
        if number > len(new):
            writing.remove(session.root, parts)
        elif content is None:
            writing.create(session.root, parts, new[number - 1].encode())
        elif old[number - 1] != new[number - 1]:
            bom = content.data[: len(content.data) - len(old[number - 1].encode())]
            writing.replace(session.root, parts, bom + new[number - 1].encode(), expected=content)


def add_lines(session: Session, target: Target, lines: Sequence[tuple[str, str]]) -> None:
    """Put lines that a person wrote, with what each was under, beside a tier file that has no room for them."""
    settings, folder = session.settings, target.folder

    def change(current: Document) -> Change:
        beside = note_store.read_beside(session.root, folder)
        new = index.add_lines(beside, lines, settings.max_lines, settings.max_bytes)
        _write_beside(session, folder, beside, new)
        return Change(current)

    from ..change.transaction import Change

    session.change(target, change)


def _build(
    session: Session, target: Target, text: str, notes: Folder, beside: Sequence[str]
) -> tuple[index.Built, Indexed]:
    """Return the tier file's text with its index up to date, the files beside it, and what that index is.

    Of the same notes, which another look at the folder has found unchanged, the same is made.
    """
    limits = session.settings
    where = (session.root.path, *target.parts)
    given = (text, *beside), limits.max_lines, limits.max_bytes, limits.secrets_allow
    known = _built.get(where)
    if known is not None and known[0] is notes and known[1] == given:
        return known[2]
    made = _build_now(session, target, text, notes, beside)
    _keep(_built, where, (notes, given, made))
    return made


def _build_now(
    session: Session, target: Target, text: str, notes: Folder, beside: Sequence[str]
) -> tuple[index.Built, Indexed]:
    before = [index.read(one) for one in (text, *beside)]
    lines = [line for one in before for line in one.lines if line.in_block]
    # A note that cannot be read today keeps its line.
    unread = {file for key, file in index.by_key(notes.problems).items() if any(line.file == key for line in lines)}
    all_heads = {**notes.heads, **dict.fromkeys(unread, Head())}
    parts = note_store.parts_of_notes(session.root, target.folder, notes.heads)
    files = index.by_key(file for file in all_heads if file not in parts)

    def build(heads: dict[str, Head]) -> index.Built:
        limits = session.settings
        return index.build(
            text,
            files,
            heads,
            max_lines=limits.max_lines,
            max_bytes=limits.max_bytes,
            beside=beside,
            standing=standing,
        )

    conflicted = {file for file, head in notes.heads.items() if head.is_conflicted}
    kept = index.by_key(conflicted | unread)
    standing = {kept[line.file]: line.text for line in lines if line.file in kept}
    built = build(all_heads)
    if built.problem:
        raise DamagedFile(built.problem, path=target.path, line=before[0].problem_line)
    problems = list(notes.problems.values())
    problems += [
        f"{'/'.join((*target.folder, one))}: merge conflict in its header; its index line stays as it is"
        for one in sorted(conflicted)
    ]
    if _has_new_secret(session, (text, *beside), (built.text, *built.beside)):
        held = _heads_with_secrets(session, notes.heads)
        # A line that says nothing but the file's name copies no secret.
        built = build({**all_heads, **dict.fromkeys(held, Head())})
        problems += [
            f"{'/'.join((*target.folder, file))}: its description holds {secret}; its index line leaves that out"
            for file, secret in held.items()
        ]
    after = [index.read(one) for one in (built.text, *built.beside)]
    state = _state(Indexed(target, session.path(target)), files, {*notes.problems, *parts}, before, after)
    is_changed = built.text != text or [*built.beside] != [*beside]
    return built, replace(
        state,
        notes=len(all_heads),
        listed=state.listed + len(parts),
        beside=built.surplus,
        changed=state.changed or is_changed,
        problem="; ".join(problems),
    )


def _state(
    state: Indexed,
    files: Mapping[str, str],
    others: Collection[str],
    before: Sequence[index.Index],
    after: Sequence[index.Index],
) -> Indexed:
    """Return what an index is, from its files `before` and `after`, the tier file first; `others` need no line."""
    # Of thousands of notes the tier file names few, so what it names is looked up among them and not they in it.
    there = {*files, *index.by_key(others)} if others else files.keys()
    named, named_after = (set().union(*(one.files for one in indexes)) for indexes in (before, after))
    return replace(
        state,
        listed=sum(key in files for key in named),
        added=tuple(sorted(files[key] for key in named_after - named if key in files)),
        dangling=tuple((line.line, line.file) for line in after[0].lines if _dangles(line.file, there)),
        changed=any(_dangles(line.file, there) and line.file not in named_after for line in before[0].lines),
    )


def _dangles(file: str, there: Collection[str]) -> bool:
    return file not in there and not index.is_beside(file)


def _has_new_secret(session: Session, before: Iterable[str], after: Iterable[str]) -> bool:
    there = {line for text in before for line in split_lines(text)}
    new = [line for text in after for line in split_lines(text) if line not in there]
    return bool(new) and bool(session.secret_in("\n".join(new)))


def _heads_with_secrets(session: Session, heads: dict[str, Head]) -> dict[str, str]:
    said = {file: session.secret_in(f"{head.name}\n{head.heading}\n{head.description}") for file, head in heads.items()}
    return {file: secret for file, secret in said.items() if secret}

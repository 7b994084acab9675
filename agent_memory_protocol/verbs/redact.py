"""The verb that takes entries out for good: of document, books, backups and search, so that no copy is left."""

from collections.abc import Collection, Sequence

from ..change import backups, redaction
from ..change.session import Session
from ..change.transaction import Change
from ..disk.writing import LOCAL, remove_tree
from ..errors import InvalidArgument, StorageError
from ..layout import Target
from ..project import local_state
from ..text.ids import complete
from ..tiers import document, remove, store
from ..tiers.document import Document
from ..tiers.taken import take
from . import upkeep
from .upkeep_answers import Redacted


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
        if not upkeep.sync(session, None, apply=True):
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
    found = []
    for one in ids:
        same = {text for other, text in texts.items() if document.plain_id(other) == document.plain_id(one)}
        found.append(Redacted(one, target, one in stood, lines[one], _same_text(session, same)))
    return found


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

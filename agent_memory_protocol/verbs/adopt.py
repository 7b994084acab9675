"""The verb that brings in memory kept elsewhere: plan it, or do it, store by store.

Nothing in a store changes. What is written goes through the same door as any other text, so who may, limits, secrets
and the ledger hold; and what was planned is planned again on what is here when it is written.
"""

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace as replace_fields

from ..change.session import Session
from ..errors import AgentMemoryError, StorageError
from ..layout import SCAFFOLDING, Target
from ..learning.elsewhere import Store, read_stores
from ..learning.merge_in import Adoption, Here, KeptOut, plan
from ..notes import store as note_store
from ..tiers import store as documents
from ..tiers.document import plain_id
from . import index, proposals, rewrite


def plan_adoption(session: Session, paths: Sequence[str]) -> list[Adoption]:
    """Say what becomes of each store at these paths, when the ones before it are brought in."""
    stores = [store for path in paths for store in _stores(session, path)]
    planned = []
    seen: dict[Target, Here] = {}
    for one in stores:
        try:
            session.check_write(one.target)
            here = seen.get(one.target) or _here(session, one.target)
        except AgentMemoryError as error:
            planned.append(Adoption(one, left_out=(KeptOut(one.path, str(error), error.exit_code),)))
            continue
        made = plan(one, here)
        if not proposals.open_ones(session, [made]):
            continue
        planned.append(made)
        text = here.text if made.text is None else made.text
        lines = {line.split("\n")[0] for _, line in made.index_lines}
        notes = {**here.notes, **made.notes}
        seen[one.target] = replace_fields(here, text=text, notes=notes, beside={*here.beside, *lines})
    return planned


def _stores(session: Session, path: str) -> list[Store]:
    """Read the stores at a path. The project itself is not a store: what is in its scaffolding is here already."""
    found = read_stores(path, session.now, session.root.path)
    own = os.path.realpath(session.root.path)
    if os.path.realpath(path) != own:
        return found
    return [one for one in found if not os.path.realpath(one.path).startswith(os.path.join(own, SCAFFOLDING))]


def apply_adoption(session: Session, planned: Sequence[Adoption]) -> list[Adoption]:
    """Write what is planned. What could not be written is no longer in the answer's plan, but in what it left out."""
    return [_apply(session, one) if one.does_something else one for one in planned]


def _apply(session: Session, planned: Adoption) -> Adoption:
    """Do what is planned of one store. The stores before it have filled the document, so it is planned once more."""
    store = planned.store
    reason = f"adopted from {store.path}"
    refused = []
    done = adoption = plan(store, _here(session, store.target))
    if adoption.text is not None:
        merging = _Merging(session, store, adoption)
        try:
            rewrite.rewrite(session, store.target, "", merging, reason, said=store.said)
            done = adoption = merging.made
        except AgentMemoryError as error:
            refused.append(KeptOut(store.path, str(error), error.exit_code))
            done = replace_fields(done, text=None, entries=())
    written = dict(adoption.notes)
    for file, text in adoption.notes.items():
        try:
            rewrite.rewrite(session, store.target, file, _unless_there(text, file), reason, index=False)
        except AgentMemoryError as error:
            refused.append(KeptOut(file, str(error), error.exit_code))
            del written[file]
    if written or adoption.index_lines or adoption.text is not None:
        try:
            target = documents.locate(session.root, store.target)
            if adoption.index_lines:
                index.add_lines(session, target, adoption.index_lines)
            if target.tier.has_notes:
                index.refresh(session, target)
        except AgentMemoryError as error:
            reason = f"the notes are here, their index is not up to date: {error}"
            done = replace_fields(done, index_lines=())
            refused.append(KeptOut(store.path, reason, error.exit_code))
    return replace_fields(done, notes=written, left_out=(*adoption.left_out, *refused))


class _Merging:
    """Makes a document's new text from the one that is there when it is written, and keeps the plan it is from."""

    def __init__(self, session: Session, store: Store, made: Adoption) -> None:
        self._session, self._store, self.made = session, store, made

    def __call__(self, present: str | None) -> str:
        here = _here(self._session, self._store.target, present)
        self.made = plan(self._store, here)
        return here.text if self.made.text is None else self.made.text


def _unless_there(text: str, file: str) -> Callable[[str | None], str]:
    def change(present: str | None) -> str:
        if present is not None and present != text:
            raise StorageError(f"{file} was made meanwhile; nothing was changed in it, compare the two")
        return text

    return change


def _here(session: Session, target: Target, text: str | None = None) -> Here:
    """Return what is where a store's memory belongs."""
    target = documents.locate(session.root, target)
    standing = session.read(target)
    if text is None:
        text = session.header(target) if standing is None else standing.data.decode()
    archived = (one.taken.saying[:2] for one in session.books(target).archived(standing))
    gone = {(plain_id(one), label) for one, label in archived}
    limits = session.settings
    beside = note_store.read_beside(session.root, target.folder) if target.tier.has_notes else []
    today = session.now.date().toordinal()
    old = today - limits.older_than
    lines = {line for one in beside for line in one.split("\n")}
    room = limits.max_lines, limits.max_bytes
    return Here(text, _notes(session, target), gone, session.secret_in, *room, lines, today, old)


def _notes(session: Session, target: Target) -> Mapping[str, str]:
    folder = target.folder
    if not target.tier.has_notes or not session.root.exists(folder):
        return {}
    found = {}
    for name in note_store.list_names(session.root, folder, target.parts[-1]):
        try:
            read = note_store.read(session.root, folder, name)
        except StorageError as error:
            found[name] = ""  # its name is taken
            session.notices += [] if str(error) in session.notices else [str(error)]
        else:
            found |= {} if read is None else {name: read[1]}
    return found

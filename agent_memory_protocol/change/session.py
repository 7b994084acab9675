"""One piece of work on one project: the opened root, its settings, and what every verb needs of both.

Who may write, which documents an actor sees, and the one way to change a document are asked here, by whatever verb.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, suppress
from dataclasses import replace
from datetime import UTC, date, datetime
from functools import partial
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING

from .. import limits
from ..answers import About, Headroom
from ..disk.files import Root
from ..errors import AgentMemoryError, InvalidArgument, LimitExceeded, RefusedText, SecretFound, StorageError
from ..layout import LEDGER, Target, check_owner, check_target
from ..project import agents
from ..project.access import Actor, check, document_meant, joined, why_not_read, why_not_write
from ..project.settings import Settings
from ..text.ids import complete, is_start
from ..text.phrases import counted
from ..tiers import store
from ..tiers.document import Document
from ..tiers.edit import crossed_borders
from ..tiers.entries import may_be_pruned

if TYPE_CHECKING:
    from ..disk.lock import WhileWaiting
    from .books import Books
    from .healing import Healing
    from .transaction import Change, Changed

SEARCH = "search"
"""The folder in `.scaffolding/.amp/` that holds what makes a search fast. Deleting it loses nothing."""

WayOut = Callable[[Document], str]  # Says of a document that would pass a limit what to do


class Session:
    """An opened project, and who acts in it. `opening.open_session` makes one, for one call of a workspace."""

    def __init__(self, root: Root, settings: Settings, environ: Mapping[str, str], actor: Actor) -> None:
        self.root = root
        self.settings = settings
        self.actor = actor
        self.now = datetime.now(UTC)
        self.command = os.urandom(4).hex()
        """What tells, in the ledgers, what was taken out together."""
        self.notices: list[str] = []
        """What a writer should be told beside the answer: what had happened to a document behind our back."""
        self.environ = environ

    @property
    def own(self) -> Target:
        """The document of who acts: the agent's, else the shared one."""
        return document_meant(self.actor, None, None, None)

    def path(self, target: Target) -> Path:
        """Return the file of a document."""
        return Path(self.root.path, *target.parts)

    # -- who and which ---------------------------------------------------------------------------------------------

    def readable(
        self, *, ledgers: bool = False, failed: Callable[[StorageError], object] | None = None
    ) -> list[Target]:
        """List the documents that this actor may read; with `ledgers` also those that only a ledger or journal has.

        `failed` is told which journal cannot be read; without it, that is a notice.
        """
        found = store.list_targets(self.root, beside=LEDGER if ledgers else "")
        if ledgers:
            from .books import only_in_journals

            failed = failed or (lambda error: self.notices.append(str(error)))
            found = [*found, *only_in_journals(self.root, found, failed)]
        return [target for target in found if self.may_read(target)]

    def may_read(self, target: Target) -> bool:
        """Say whether this actor may read a document, and its tier is switched on."""
        is_on = self.settings.has_tier(target.tier)
        return is_on and why_not_read(self.actor, target, self.settings.readers_of_all) is None

    def find(self, entry_ids: Sequence[str], *, ledgers: bool = False) -> dict[Target, list[str]]:
        """Find the document of each entry, and check that this actor may write them all. Raises as `locate`."""
        found = self.locate(entry_ids, ledgers=ledgers)
        for target in found:
            self.check_write(target)
        return found

    def locate(self, entry_ids: Sequence[str], *, ledgers: bool = False) -> dict[Target, list[str]]:
        """Find the document of each entry, among those that this actor may read.

        An entry is named by its id or the beginning of it; the answer has whole ids. Raises InvalidArgument for one
        that is not there, and StorageError if it may be in what cannot be read.
        """
        if not entry_ids:
            raise InvalidArgument("which entry? give its id; `amp list` shows them")
        texts: dict[Target, dict[str, str]] = {}
        problems = []
        for target in self.readable(ledgers=ledgers):
            try:
                texts[target] = self.books(target).known_texts() if ledgers else {}
                read = self.read(target)
            except StorageError as error:
                texts.pop(target, None)
                problems.append(str(error))
                continue
            if read is not None:
                texts[target] |= zip(read.ids, map(read.text, read.outline.entries), strict=True)
        known = {one: text for here in texts.values() for one, text in here.items()}
        # What begins so and can be read need not be what was meant, where something cannot be read.
        left = sorted(set(entry_ids) - set(known))
        if left and problems:
            raise StorageError(f"{', '.join(left)} may be in what cannot be read: {'; '.join(problems)}")
        whole = {start: complete(start, known, known.__getitem__) for start in entry_ids}
        missing = sorted(start for start, one in whole.items() if one is None)
        if missing:
            could_join = self.actor.agent and not self.actor.conversation
            elsewhere = ", and with --conversation those of a conversation" if could_join else ""
            words = "" if all(map(is_start, missing)) else "; `amp search` finds entries by their words"
            ids = f"`amp list` shows the ids there are{elsewhere}"
            if missing[0].startswith("mem:"):
                ids, words = "that is how a record is named; `amp record list` shows those there are", ""
            raise InvalidArgument(
                f"there is no entry {', '.join(one if is_start(one) else repr(one) for one in missing)}; {ids}{words}"
            )
        named = [one for one in dict.fromkeys(whole.values()) if one is not None]
        found = {target: [one for one in named if one in here] for target, here in texts.items()}
        return {target: here for target, here in found.items() if here}

    def check_read(self, target: Target) -> None:
        """Refuse what this actor may not read, and what is switched off."""
        check_target(target)
        self.settings.check_tier(target.tier)
        check(why_not_read(joined(self.actor, target), target, self.settings.readers_of_all), target)

    def check_write(self, target: Target) -> None:
        """Refuse what this actor may not write, and what is switched off."""
        check_target(target)
        self.settings.check_tier(target.tier)
        if target.tier.owner:
            # A target that was made by hand may hold any name, and a folder would be made of it.
            check_owner(target.tier, target.owner, strict=self.settings.strict_conversation_ids)
        check(why_not_write(joined(self.actor, target), target, read_only_reason=self.read_only_reason()), target)

    def check_secrets(self, text: str | None, what: str = "text", *, standing: str = "") -> None:
        """Refuse a text that holds a secret, before anything is written (decision 26). `what` names it in the message.

        What is in the file already, in `standing`, is not news: anyone who mends another line need not mend this one.
        A text that was copied from where a secret is not shown is refused too: it would take the place of the secret.
        """
        if text:
            from ..secrets.find import check_text, find_secrets
            from ..secrets.mask import COPIED, holds_mask

            if holds_mask(text) and not holds_mask(standing):
                raise RefusedText(f"the {what} {COPIED}")
            known = {one.fingerprint for one in find_secrets(standing)} if standing else set()
            check_text(text, allow={*self.settings.secrets_allow, *known}, what=what)

    def check_said(self, text: str | None, what: str) -> None:
        """Refuse what is said about an entry, such as a reason, where it holds a secret or a hidden character."""
        if text:
            from ..text.visible import refuse_invisible

            self.check_secrets(text, what)
            refuse_invisible(text, what)

    def secret_in(self, text: str) -> str:
        """Describe the first secret in a text, without its value; "" without one."""
        from ..secrets.find import find_secrets

        found = (one for one in find_secrets(text) if one.fingerprint not in self.settings.secrets_allow)
        return next((f"{one.description} (rule {one.rule}, fingerprint {one.fingerprint})" for one in found), "")

    def why_refused(self, text: str, *, standing: str = "") -> str:
        """Say why a text that anyone may have written is refused, as `remember` would refuse it; "" if it is not.

        What is in the file already, in `standing`, is not news.
        """
        from ..text.visible import name_invisible

        known = set(standing.split("\n"))
        text = "\n".join(line for line in text.split("\n") if line not in known)
        found = self.secret_in(text) or name_invisible(text.replace("\r", ""))
        return f"holds {found}" if found else ""

    def why_held(self, text: str) -> str:
        """Say why an entry may not go into the ledger; "" if it may."""
        secret = self.secret_in(text)
        return f"holds {secret}, which the ledger would keep; forget it with --redact" if secret else ""

    def read_only_reason(self) -> str | None:
        """Return why this actor's agent is read-only; None if it may write, and for a person."""
        if self.actor.unnamed:
            return "nobody has said which agent it is"
        if self.actor.agent is None:
            return None
        return agents.read_only_reason(self.root, self.actor.agent, self.settings, environ=self.environ)

    # -- documents -------------------------------------------------------------------------------------------------

    def read(self, target: Target) -> Document | None:
        """Read a document whole; None if it does not exist."""
        read = store.read_document(self.root, target)
        return read[0] if read else None

    def change(
        self,
        target: Target,
        change: Callable[[Document], Change],
        *,
        way_out: WayOut | None = None,
        as_large_as: tuple[int, int] = (0, 0),
        request: WhileWaiting | None = None,
        then: Callable[[], None] = lambda: None,
    ) -> Changed:
        """Change one document, all or nothing; see `transaction.change_document`, also for `request` and `then`.

        `way_out` says what to do if it would pass a limit; by default, to prune. It may pass a limit up to
        `as_large_as`, in lines and bytes. Raises SecretFound if an entry that leaves holds a secret, which the ledger
        would keep.
        """
        from ..tiers import remove as removing
        from .transaction import change_document

        unarchived = False
        disputed: set[str] = set()
        crossed: list[str] = []

        def checked(current: Document) -> Change:
            nonlocal unarchived
            changed = change(current)
            disputed.update(one for one, entry in current.by_id if entry.marks.disputed)
            document = self._without_ended_disputes(changed.document)
            changed = replace(changed, document=document, was_over=not self.fits(current))
            crossed[:] = crossed_borders(current, changed.document)
            unarchived = bool(changed.unarchived)
            for one, taken in removing.leaving(current, changed.document, {*changed.reasons, *changed.unarchived}):
                secret = "" if one in changed.unarchived else self.secret_in(taken.markdown)
                if secret:
                    raise SecretFound(
                        f"{one} holds {secret}, which the ledger would keep; nothing was changed: "
                        f"`amp forget {one} --redact` removes it without a copy",
                        target=target,
                        path=target.path,
                    )
            return changed

        is_new = False

        def header() -> str:
            nonlocal is_new
            is_new = True
            return self.header(target)

        done = change_document(
            self.root,
            target,
            checked,
            header=header,
            check=partial(self.check_limits, way_out=way_out, as_large_as=as_large_as),
            now=self.now,
            command=self.command,
            may_keep=lambda text: not self.secret_in(text),
            may_come=lambda text: not self.why_refused(text),
            request=request,
            then=then,
        )
        self.notices += _healing_notes(target, done)
        self.notices += [f"{target.path}, {told}" for told in crossed]
        if done.other_names > 0:
            self.notices.append(split_link(target.path, done.other_names))
        if unarchived:
            self.drop_search()
        if is_new:
            self.begin()
        gone = {*disputed, *done.removed_by_hand}.difference(done.document.ids)
        if gone:
            self._end_disputes_with(gone, target)
        return done

    def _without_ended_disputes(self, document: Document) -> Document:
        if not _has_disputes(document):
            return document
        from ..tiers.dispute import without_ended

        return without_ended(document, self._disputes(document.target), partial(self._stands_beside, document.target))

    def _end_disputes_with(self, gone: set[str], target: Target) -> None:
        """Take the marks off in other documents. What may not be written now loses them with its next write."""
        from .transaction import Change

        for other in store.list_targets(self.root):
            with suppress(AgentMemoryError):
                document = None if other == target else self.read(other)
                if document is None or not _has_disputes(document):
                    continue
                if not gone.isdisjoint(chain.from_iterable(self._disputes(other).values())):
                    self.check_write(other)
                    self.change(other, Change)

    def _disputes(self, target: Target) -> dict[str, tuple[str, ...]]:
        return {one: said.disputed_with for one, said in self.books(target).said().items()}

    def _stands_beside(self, own: Target, entry_id: str) -> bool:
        """Say whether another document has this entry. One that cannot be read may have it."""
        for target in store.list_targets(self.root):
            try:
                document = None if target == own else self.read(target)
            except StorageError:
                return True
            if document is not None and entry_id in document.ids:
                return True
        return False

    def drop_search(self) -> None:
        """Remove what searches and checks keep: it may hold words of what must not be kept. The next one makes it."""
        from ..disk.writing import CHECKED, LOCAL, remove

        remove(self.root, CHECKED)
        folder = (*LOCAL, SEARCH)
        for name in self.root.list_files(folder):
            remove(self.root, (*folder, name))

    def begin(self) -> None:
        """Write down that the memory began today, where its first document has just been made."""
        from . import reviews

        with suppress(StorageError):  # the document is written; without this only a review is due sooner
            reviews.begin(self.root, date.today())

    def plan_healing(self, target: Target) -> Healing:
        """Say what the next write to a document would put back, and what it would note in the ledger."""
        from .transaction import plan_healing

        header = partial(self.header, target)
        return plan_healing(self.root, target, header=header, check=self.check_limits, now=self.now)

    def books(self, target: Target) -> Books:
        """Return the journal and ledger of a document."""
        from .books import Books, lock_name

        return Books(self.root, target, lock_name(target), self.now, self.command)

    def locked(self, target: Target) -> AbstractContextManager[None]:
        """Keep other writers of a document, its notes and its books away for a `with` block; see `lock.hold`."""
        from ..disk.lock import hold
        from .books import lock_name

        return hold(self.root, lock_name(target))

    def said(self, target: Target) -> dict[str, About]:
        """Return what the writers of a document's entries said of them, by id, as its ledger keeps it."""
        return self.books(target).said() if self.root.exists((*target.parts[:-1], LEDGER)) else {}

    def known(self, target: Target) -> dict[str, About]:
        """Return the same, nothing where the ledger cannot be read, which `amp check` reports."""
        try:
            return self.said(target)
        except StorageError:
            return {}

    def header(self, target: Target) -> str:
        """Return the text that a new document begins with."""
        from ..project.templates import render_header

        limits = self.settings
        return render_header(target, self.root, max_lines=limits.max_lines, max_bytes=limits.max_bytes)

    def headroom(self, document: Document) -> Headroom:
        """Say how much more a document holds."""
        return Headroom(
            lines=self.settings.max_lines - document.line_count,
            bytes=self.settings.max_bytes - len(document.data),
            max_lines=self.settings.max_lines,
            max_bytes=self.settings.max_bytes,
        )

    def fits(self, document: Document) -> bool:
        """Say whether a document keeps its limits."""
        return not limits.over_limits(document.data, self.settings.max_lines, self.settings.max_bytes)

    def check_size(
        self,
        path: str,
        old: bytes,
        new: bytes,
        way_out: str,
        *,
        target: Target | None = None,
        as_large_as: tuple[int, int] = (0, 0),
    ) -> None:
        """Refuse to make a file pass a limit. A change that makes it smaller is always welcome (decision 13)."""
        max_lines = max(self.settings.max_lines, as_large_as[0])
        max_bytes = max(self.settings.max_bytes, as_large_as[1])
        for have, limit, unit in limits.over_limits(new, max_lines, max_bytes, old=old):
            raise LimitExceeded(
                f"{path} would have {have:,} {unit}, {limit:,} are allowed; nothing was changed: {way_out}",
                target=target or "",
                path=path,
                limit=limit,
                size=have,
                unit=unit,
            )

    def check_limits(
        self, old: Document, new: Document, *, way_out: WayOut | None = None, as_large_as: tuple[int, int] = (0, 0)
    ) -> None:
        """Refuse a document that would pass a limit, and be larger than `as_large_as` says, in lines and bytes."""
        way_out = way_out or (lambda full: room_by_dates(full, f"run `amp prune {full.target}`"))
        self.check_size(new.target.path, old.data, new.data, way_out(old), target=new.target, as_large_as=as_large_as)


def _has_disputes(document: Document) -> bool:
    return any(entry.marks.disputed for entry in document.outline.entries)


def room_by_dates(full: Document, way_out: str) -> str:
    """Say what to do with a full document: what is said, where there are dated entries that can be archived."""
    if may_be_pruned(full.outline.entries):
        return way_out
    if not full.outline.entries:
        return "say it shorter"
    return (
        f"it has no dated entry for --make-room or `amp prune {full.target}` to archive; "
        "merge what `amp review` lists, or remove some with `amp forget`"
    )


def split_link(path: str, others: int) -> str:
    """Say of a file that was written that it was hard-linked: amp replaces files whole."""
    names = "another name" if others == 1 else f"{others} other names"
    return f"{path} had {names} (hard links); what they lead to still has the old text; a symbolic link would not"


def _healing_notes(target: Target, done: Changed) -> list[str]:
    """Say what had happened to a document behind our back, where it was mended."""
    from .ledger import way_back

    notes = []
    if done.healed:
        them = counted(len(done.healed), "remembered entry")
        notes.append(f"another program had overwritten {them}, now back")
    if done.kept_out:
        them = counted(len(done.kept_out), "remembered entry")
        notes.append(f"another program had overwritten {them}; {way_back(target, done.kept_out)}")
    if done.removed_by_hand:
        them = counted(len(done.removed_by_hand), "entry")
        they = "it" if len(done.removed_by_hand) == 1 else "they"
        notes.append(f"{them} had been taken out, by hand or by git; the ledger keeps what {they} said")
    if done.healing.owed:
        notes.append("the ledger had lost entries, by git; it has them again")
    if done.unkept:
        them = counted(len(done.unkept), "entry")
        notes.append(f"{them} with a secret had been taken out by hand; no copy was kept")
    return [f"{target.path}: {note}" for note in notes]

"""One project's memory: the only way in for whoever writes its Markdown.

Every surface (command line, library, hooks, servers) goes through `Workspace`, so access, limits and locking hold for
all of them alike. This module holds no rule, only the order of steps: who may, lock, read, change, check, write.
"""

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime, timedelta
from pathlib import Path

from . import agents, config, git_ignore, ledger, limits
from .access import Actor, check_read, check_write, why_not_read
from .answers import (
    Created,
    Edited,
    Headroom,
    Pruning,
    Redacted,
    Remembered,
    Removed,
    Restorable,
    Shown,
    Status,
    StoredEntry,
    Synced,
    Where,
)
from .books import Books
from .diagnosis import Diagnosis
from .errors import (
    AgentMemoryError,
    DamagedFile,
    Disabled,
    InvalidArgument,
    LimitExceeded,
    Refused,
    StorageError,
)
from .files import Root
from .layout import OWNER_FOLDERS, Target, Tier, check_conversation_id, check_owner
from .ledger import About
from .lock import hold
from .recall import Budget, Recall, recall_here
from .settings import PROJECT_FILE, Settings, personal_file
from .tiers import compose, document, edit, prune, store
from .tiers.document import Document
from .tiers.prune import Plan
from .transaction import Change, Outcome, change_document, lock_name, plan_healing, read_document


class PlanOutdated(StorageError):
    """A document was changed after a plan for it was made; nothing was changed."""


@dataclass(slots=True)
class _Made:
    """What `remember` has come to; filled in anew at every try."""

    entry_id: str = ""
    status: str = "kept"
    notes: tuple[str, ...] = ()


class Workspace:
    """The memory of one project.

    Attributes:
        path: the project root.
        how: how the root was found, in words.
    """

    def __init__(self, found: config.FoundRoot, environ: Mapping[str, str]) -> None:
        self.path = Path(found.path)
        self.how = found.how
        self._missing = found.missing
        self._environ = environ

    @classmethod
    def open(
        cls, root: "str | os.PathLike[str] | None" = None, *, environ: Mapping[str, str] | None = None
    ) -> "Workspace":
        """Find the project root, from the current folder or as `root` says (decision 1). Creates nothing.

        Raises:
            StorageError: no root can be used; the message says what to do.
        """
        environ = os.environ if environ is None else environ
        return cls(config.find_root(explicit=root, environ=environ), environ)

    @property
    def settings(self) -> Settings:
        """The settings as they are on disk now."""
        if self._missing:
            return config.load_settings(None, self._environ)
        with self._opened() as (_, settings):
            return settings

    # -- reading -------------------------------------------------------------------------------------------------------

    def recall(
        self,
        actor: Actor,
        *,
        max_lines: int | None = None,
        max_chars: int | None = None,
        max_bytes: int | None = None,
        max_tokens: int | None = None,
    ) -> Recall:
        """Return what this actor may know when a task starts; see `recall_for_agent`."""
        budget = Budget(max_lines=max_lines, max_chars=max_chars, max_bytes=max_bytes, max_tokens=max_tokens)
        return recall_here(actor, budget, root=str(self.path), environ=self._environ)

    def target(
        self,
        actor: Actor,
        *,
        tier: Tier | None = None,
        agent: str | None = None,
        conversation: str | None = None,
    ) -> Target:
        """Say which document is meant. Without a tier: the agent's where one is named or acts, else the shared one.

        Raises:
            InvalidArgument: the tier needs a name that nobody gave.
            InvalidName: a name breaks the name rule.
        """
        if tier is None:
            if agent is not None or (conversation is None and actor.agent is not None):
                tier = Tier.AGENT
            else:
                tier = Tier.SHARED if conversation is None else Tier.CONVERSATION
        if tier is Tier.SHARED:
            return Target(tier)
        owner = (agent or actor.agent) if tier is Tier.AGENT else (conversation or actor.conversation)
        if owner is None:
            raise InvalidArgument(f"which {tier.owner}? name it with --{tier.owner}")
        return Target(tier, check_owner(tier, owner))

    def targets(self, actor: Actor | None = None) -> list[Target]:
        """List the documents that exist and that this actor may read."""
        if self._missing:
            return []
        with self._opened() as (root, settings):
            return self._readable(root, settings, actor or Actor())

    def show(self, target: Target, actor: Actor | None = None, *, section: str | None = None) -> Shown | None:
        """Return a document, or one section of it, as it is on disk now; None where there is none (S4-27, S4-29).

        Raises:
            AccessDenied: this actor may not read it.
            DamagedFile: it cannot be read.
            InvalidArgument: it has no such section.
        """
        if self._missing:
            return None
        with self._opened() as (root, settings):
            check_read(_joined(actor or Actor(), target), target, settings.readers_of_all)
            target = store.locate(root, target)
            content = root.read(target.parts)
            if content is None:
                return None
            found = document.parse(content.data, target)
            numbered = list(enumerate(found.lines, start=1))
            if section is not None:
                start, end = document.section_span(found, section)
                numbered = numbered[start:end]
            return Shown(target, self._path(target), numbered)

    def entries(self, actor: Actor | None = None, targets: Sequence[Target] | None = None) -> list[StoredEntry]:
        """List every entry of these documents, or of all that this actor may read."""
        if self._missing:
            return []
        actor = actor or Actor()
        found = []
        with self._opened() as (root, settings):
            for target in self._readable(root, settings, actor) if targets is None else targets:
                check_read(_joined(actor, target), target, settings.readers_of_all)
                read = read_document(root, store.locate(root, target))
                if read is not None:
                    found += _stored_entries(read[0])
        return found

    def status(self, actor: Actor | None = None) -> list[Status]:
        """Return the figures of each document that this actor may read. One that cannot be read says why."""
        if self._missing:
            return []
        rows = []
        with self._opened() as (root, settings):
            for target in self._readable(root, settings, actor or Actor()):
                try:
                    rows.append(self._status(root, settings, target))
                except AgentMemoryError as error:
                    rows.append(Status(target, self._path(target), problem=str(error)))
        return rows

    def left_out(
        self,
        target: Target,
        actor: Actor | None = None,
        *,
        agent: str | None = None,
        max_lines: int | None = None,
        max_chars: int | None = None,
        max_tokens: int | None = None,
    ) -> list[tuple[int, str]]:
        """Return the lines of a document that recall leaves out under these bounds, each with its number.

        Args:
            target: the document.
            actor: who asks; access is theirs.
            agent: for whom recall is made, where that matters for the bounds of the whole block.
        """
        actor = actor or Actor()
        shown = self.show(target, actor)
        if shown is None:
            return []
        agent = target.owner if target.tier is Tier.AGENT else agent or actor.agent
        conversation = target.owner if target.tier is Tier.CONVERSATION else actor.conversation
        made_for = Actor(agent, conversation)
        recalled = self.recall(made_for, max_lines=max_lines, max_chars=max_chars, max_tokens=max_tokens)
        lines = dict(shown.lines)
        return [
            (number, lines[number])
            for part in recalled.parts
            if part.target == target
            for left_out in part.left_out
            for number in range(left_out.first_line, left_out.last_line + 1)
        ]

    def where(self) -> Where:
        """Say which paths and settings are in use."""
        settings = self.settings
        rows = settings.rows()
        return Where(
            paths=[(str(path), path.exists()) for path in self._paths()],
            settings=[row for row in rows if row[2] != "default"],
            all_settings=rows,
            problems=list(settings.problems),
        )

    def diagnose(self, actor: Actor) -> list[Diagnosis]:
        """Say what keeps an actor's memory away, or that nothing does."""
        from . import diagnosis

        settings = self.settings
        found = diagnosis.of_settings(settings)
        if self._missing:
            return [*found, Diagnosis(f"{self.path} does not exist; `amp init` makes it", is_problem=True)]
        existing = []
        try:
            existing = self.targets()
            with self._opened() as (root, _):
                for tier, folder in OWNER_FOLDERS.items():
                    found += diagnosis.of_names(root.list_folders(folder), tier.value)
                if actor.agent is not None:
                    reason = agents.read_only_reason(root, actor.agent, settings, environ=self._environ)
                    found.append(Diagnosis(f"{actor} is read-only: {reason}" if reason else f"{actor} may write"))
        except AgentMemoryError as error:
            found.append(Diagnosis(str(error), is_problem=True, is_damage=True))
        if settings.enabled:
            found += diagnosis.of_recall(self.recall(actor), actor, existing)
        recalled = {Target(Tier.SHARED), *([Target(Tier.AGENT, actor.agent)] if actor.agent else [])}
        for row in self.status(actor):
            if row.problem and row.target not in recalled:
                found.append(Diagnosis(f"{row.target}: {row.problem}", is_problem=True, is_damage=True))
            elif row.share > 1:
                found.append(Diagnosis(f"{row.target} is over its limit ({row.share:.0%}); prune it", is_problem=True))
        return [*found, *(Diagnosis(note) for note in self.git_notes())]

    # -- writing -------------------------------------------------------------------------------------------------------

    def init(
        self, *, agents: Sequence[str] = (), conversation: str | None = None, actor: Actor | None = None
    ) -> list[Created]:
        """Create the tier files that are missing, each with its header. One that exists is never touched (S4-65).

        Raises:
            AccessDenied: the actor may not write one of them; nothing was created.
            InvalidName: a name breaks the name rule; nothing was created.
            StorageError: one cannot be created.
        """
        actor = actor or Actor()
        targets = [Target(Tier.SHARED), *(Target(Tier.AGENT, check_owner(Tier.AGENT, agent)) for agent in agents)]
        if conversation is not None:
            targets.append(Target(Tier.CONVERSATION, check_owner(Tier.CONVERSATION, conversation)))
        made = []
        with self._opened(for_writing=True) as (root, settings):
            for target in targets:
                self._check_write(root, settings, actor, target)
            for target in targets:
                target = store.locate(root, target)
                created = not root.exists(target.parts) and self._create(
                    root, target, self._header(root, settings, target)
                )
                made.append(Created(target, self._path(target), created))
            git_ignore.merge_ledgers(root)
        return made

    def remember(
        self,
        text: str,
        *,
        tier: Tier | None = None,
        actor: Actor | None = None,
        agent: str | None = None,
        conversation: str | None = None,
        section: str | None = None,
        dated: date | bool | None = None,
        about: About | None = None,
        make_room: bool = False,
        today: date | None = None,
    ) -> Remembered:
        """Write one entry into one tier document, which is created with its header where it is missing.

        A repeat of an entry that is there changes nothing, except that a newer date moves its date forward.

        Args:
            text: what to remember; one entry, whatever it holds. A date that begins it is its date.
            tier: the tier; by default the agent's where an agent is named or acts, else shared.
            actor: who writes; a person where it is left out.
            agent: whose document, where it is not the actor's.
            conversation: which conversation's document.
            section: the heading to write under; created at the end where it does not exist.
            dated: a date, True for today, False for none; by default today in the conversation tier, else none.
            about: source, kind, confidence and tags, kept in the ledger beside the document.
            make_room: archive the oldest dated entries where the document would pass its limit, never undated ones.
            today: the local calendar date (decision 19); the clock's where it is left out.

        Raises:
            AccessDenied: this actor may not write this document.
            LimitExceeded: the document would pass its limit.
            RefusedText: the text cannot be remembered.
            StorageError: the document cannot be read or written.
        """
        actor = actor or Actor()
        target = self.target(actor, tier=tier, agent=agent, conversation=conversation)
        with self._opened(for_writing=True) as (root, settings):
            self._check_write(root, settings, actor, target)
            if section is not None:
                document.check_section_name(section)
            if dated is None:
                dated = target.tier is Tier.CONVERSATION
            today = today or date.today()
            day = dated.toordinal() if isinstance(dated, date) else None
            new = compose.compose(text, day=day, max_bytes=settings.max_bytes)
            if new.day is None and dated is True:
                new = compose.compose(text, day=today.toordinal(), max_bytes=settings.max_bytes)
            target = store.locate(root, target)
            made = _Made()

            def change(current: Document) -> Change:
                made.entry_id = document.id_of_new(new, target)
                made.status, made.notes = "kept", ()
                there = current.entry(made.entry_id)
                if there is not None:
                    if new.day is None or there.mark is None or there.mark.day >= new.day:
                        return Change(current)
                    made.status = "redated"
                    return Change(document.redate(current, there, new.day))
                added, reasons = self._add(current, new, section, settings, make_room=make_room, today=today)
                made.entry_id, made.status, made.notes = added.entry_id, "added", added.notes
                return Change(added.document, reasons=reasons, about={added.entry_id: about or About()})

            done = self._change(root, settings, target, change)
            entry = next(entry for entry in _stored_entries(done.document) if entry.id == made.entry_id)
            return Remembered(
                made.status,
                entry,
                self._path(target),
                entry.line,
                _headroom(done.document, settings),
                (*made.notes, *_healing_notes(done)),
            )

    def forget(
        self, entry_ids: Sequence[str], *, actor: Actor | None = None, reason: str = "forgotten"
    ) -> list[Removed]:
        """Take entries out of their documents. Their text stays in the ledger, from where `restore` brings it back.

        Raises:
            InvalidArgument: there is no such entry; nothing was changed.
            AccessDenied: this actor may not write its document; nothing was changed.
        """
        actor = actor or Actor()
        gone: list[Removed] = []
        with self._opened(for_writing=True) as (root, settings):
            for target, ids in self._find(root, settings, actor, entry_ids).items():
                texts: dict[str, str] = {}

                def change(current: Document, ids: list[str] = ids, texts: dict[str, str] = texts) -> Change:
                    standing = [one for one in ids if one in current.ids]
                    texts.update((one, edit.take(current, one).markdown) for one in standing)
                    return Change(edit.remove(current, standing), reasons=dict.fromkeys(standing, reason))

                done = self._change(root, settings, target, change)
                gone += [Removed(target, one, texts[one], done.run) for one in ids if one in texts]
        return gone

    def edit(self, entry_id: str, text: str, *, actor: Actor | None = None) -> Edited:
        """Put another text in an entry's place. It keeps its date unless the text begins with one; the old text stays
        in the ledger.

        Raises:
            InvalidArgument: there is no such entry, or one with the new text is there already.
            RefusedText, LimitExceeded, AccessDenied: nothing was changed.
        """
        actor = actor or Actor()
        with self._opened(for_writing=True) as (root, settings):
            ((target, ids),) = self._find(root, settings, actor, [entry_id]).items()
            made: list[str] = []

            def change(current: Document) -> Change:
                old = current.entry(ids[0])
                if old is None:
                    raise InvalidArgument(f"{ids[0]} has just left {target.path}")
                new = compose.compose(text, max_bytes=settings.max_bytes)
                if new.day is None and old.mark is not None:
                    new = compose.compose(text, day=old.mark.day, max_bytes=settings.max_bytes)
                new_id = document.id_of_new(new, target)
                if new_id in current.ids and new_id != ids[0]:
                    raise InvalidArgument(f"{target.path} already has an entry with that text, {new_id}")
                changed, new_id = edit.replace(current, ids[0], new)
                made[:] = [new_id]
                return Change(changed, reasons={ids[0]: f"edited: {new_id} stands in its place"})

            done = self._change(root, settings, target, change)
            entry = next(entry for entry in _stored_entries(done.document) if entry.id == made[0])
            return Edited(ids[0], entry, self._path(target), _headroom(done.document, settings))

    def plan_pruning(
        self,
        targets: Sequence[Target] | None = None,
        *,
        actor: Actor | None = None,
        older_than: timedelta | None = None,
        sections: bool = False,
        to_limit: bool = False,
        today: date | None = None,
        progress: Callable[[int, int], None] | None = None,
    ) -> list[Pruning]:
        """Say what is outdated in these documents, or in all (decision 22). Changes nothing.

        Args:
            targets: the documents; all that this actor may read where it is left out.
            actor: who asks.
            older_than: the age in days from which dated entries go; by default the setting `prune.older_than`.
            sections: take entries whose section is dated as well.
            to_limit: take the oldest dated entries until the document fits, instead of all that are old.
            today: the local calendar date (decision 19); the clock's where it is left out.
            progress: called with how many of how many documents are done.
        """
        if self._missing:
            return []
        today = today or date.today()
        plans = []
        with self._opened() as (root, settings):
            chosen = self._readable(root, settings, actor or Actor()) if targets is None else targets
            for number, target in enumerate(chosen):
                target = store.locate(root, target)
                try:
                    check_read(_joined(actor or Actor(), target), target, settings.readers_of_all)
                    read = read_document(root, target)
                    if read is not None:
                        plans.append(
                            self._plan(read[0], settings, today, older_than, sections=sections, to_limit=to_limit)
                        )
                except StorageError as error:
                    plans.append(Pruning(target, self._path(target), None, problem=str(error)))
                if progress is not None:
                    progress(number + 1, len(chosen))
        return plans

    def apply_pruning(
        self,
        plans: Sequence[Pruning],
        *,
        actor: Actor | None = None,
        force: bool = False,
        progress: Callable[[int, int], None] | None = None,
    ) -> list[Removed]:
        """Take out what the plans say: exactly that, archived in the ledgers first.

        Raises:
            ChangedMeanwhile: a document is no longer the one its plan was made from; plan again.
            Refused: more than half of a document's entries would go, and `force` is not given; nothing was changed.
            AccessDenied: this actor may not write one of the documents; nothing was changed.
        """
        actor = actor or Actor()
        work = [plan for plan in plans if plan.plan is not None and plan.removals]
        most = [plan for plan in work if plan.plan is not None and plan.plan.drops_most]
        if most and not force:
            named = ", ".join(
                f"{plan.target} ({len(plan.removals)} of {len(plan.removals) + len(plan.kept)})" for plan in most
            )
            raise Refused(
                f"more than half of the entries would go from {named}; nothing was changed: add --force to do it"
            )
        gone: list[Removed] = []
        with self._opened(for_writing=True) as (root, settings):
            for plan in work:
                self._check_write(root, settings, actor, plan.target)
            for number, plan in enumerate(work):
                planned = plan.plan
                assert planned is not None

                def change(current: Document, planned: Plan = planned) -> Change:
                    if current.data != planned.document.data:
                        raise PlanOutdated(f"{current.target.path} was changed after the plan was made; plan again")
                    return Change(planned.result, reasons={one.id: f"pruned: {one.reason}" for one in planned.removals})

                done = self._change(root, settings, plan.target, change)
                gone += [Removed(plan.target, one.id, one.text, done.run) for one in plan.removals]
                if progress is not None:
                    progress(number + 1, len(work))
        return gone

    def restorable(
        self,
        entry_ids: Sequence[str] = (),
        *,
        actor: Actor | None = None,
        last: bool = False,
        since: date | None = None,
    ) -> list[Restorable]:
        """List entries that the ledgers can bring back, oldest removal first: all, those named, those of the last
        command that removed any, or those removed since a day (UTC).

        Raises:
            InvalidArgument: one that is named is in no ledger.
        """
        if self._missing:
            return []
        actor = actor or Actor()
        found: list[Restorable] = []
        with self._opened() as (root, settings):
            for target in self._with_ledgers(root, settings, actor):
                read = read_document(root, target)
                books = Books(root, target, lock_name(target), _now())
                found += [Restorable(target, one) for one in books.archived(read[0] if read else None)]
        found.sort(key=lambda one: one.archived.removed_at)
        if since is not None:
            found = [one for one in found if one.archived.removed_at[:10] >= since.isoformat()]
        if last and found:
            found = [one for one in found if one.archived.run == found[-1].archived.run]
        missing = set(entry_ids) - {one.archived.taken.id for one in found}
        if missing:
            raise InvalidArgument(
                f"no ledger has {', '.join(sorted(missing))}; `amp restore --list` names what there is"
            )
        return [one for one in found if one.archived.taken.id in entry_ids] if entry_ids else found

    def restore(
        self, chosen: Sequence[Restorable], *, actor: Actor | None = None
    ) -> tuple[list[StoredEntry], list[str]]:
        """Put entries back where they stood, as near as can be told. Returns them, and why others could not go back.

        Raises:
            AccessDenied: this actor may not write one of the documents; nothing was changed.
            LimitExceeded: a document would pass its limit; the documents before it are restored.
        """
        actor = actor or Actor()
        restored: list[StoredEntry] = []
        problems: list[str] = []
        by_target: dict[Target, list[Restorable]] = {}
        for one in chosen:
            by_target.setdefault(one.target, []).append(one)
        with self._opened(for_writing=True) as (root, settings):
            for target in by_target:
                self._check_write(root, settings, actor, target)
            for target, group in by_target.items():
                refused: list[str] = []

                def change(current: Document, group: list[Restorable] = group, refused: list[str] = refused) -> Change:
                    refused.clear()
                    for one in group:
                        if one.archived.taken.id not in current.ids:
                            try:
                                current = edit.put_back(current, one.archived.taken)
                            except Refused as error:
                                refused.append(str(error))
                    return Change(current)

                done = self._change(root, settings, target, change)
                problems += refused
                wanted = {one.archived.taken.id for one in group}
                restored += [entry for entry in _stored_entries(done.document) if entry.id in wanted]
        return restored, problems

    def sync(self, *, actor: Actor | None = None, apply: bool = False) -> list[Synced]:
        """Say what went missing by accident and goes back, and what was taken out by hand and is noted (decision 23).

        With `apply` it is done: for every document that this actor may write.
        """
        if self._missing:
            return []
        actor = actor or Actor()
        found = []
        with self._opened(for_writing=apply) as (root, settings):
            for target in self._readable(root, settings, actor):
                try:
                    healing = plan_healing(root, target, now=_now())
                    if apply and healing.has_work:
                        self._check_write(root, settings, actor, target)
                        self._change(root, settings, target, Change)
                except AgentMemoryError as error:
                    found.append(Synced(target, self._path(target), problem=str(error)))
                    continue
                if healing.has_work:
                    back = tuple(add.taken.markdown for add in healing.put_back)
                    by_hand = tuple(one.markdown for one in healing.removed)
                    found.append(Synced(target, self._path(target), back, by_hand))
        return found

    def redact(self, entry_ids: Sequence[str], *, actor: Actor | None = None) -> list[Redacted]:
        """Take entries out of document, ledger and journal for good (S2-29). Git history is beyond its reach.

        Raises:
            InvalidArgument: neither a document nor a ledger has such an entry; nothing was changed.
        """
        actor = actor or Actor()
        found = []
        with self._opened(for_writing=True) as (root, settings):
            for target, ids in self._find(root, settings, actor, entry_ids, in_ledgers=True).items():
                texts: dict[str, str] = {}

                def change(current: Document, ids: list[str] = ids, texts: dict[str, str] = texts) -> Change:
                    texts.clear()
                    texts.update((one, edit.take(current, one).markdown) for one in ids if one in current.ids)
                    return Change(edit.remove(current, list(texts)), reasons=dict.fromkeys(texts, "redacted"))

                self._change(root, settings, target, change)
                with hold(root, lock_name(target)):
                    root.forget()
                    books = Books(root, target, lock_name(target), _now())
                    lines = {one: books.redact([one]) for one in ids}
                    books.drop_journal()
                for one in ids:
                    elsewhere = self._same_text(root, settings, texts.get(one, ""), target)
                    found.append(Redacted(one, target, one in texts, lines[one], elsewhere))
        return found

    def set_git_tracking(self, wish: str) -> list[str]:
        """Let git track the memory (`track`) or not (`ignore`), by one line of the root's `.gitignore`."""
        with self._opened(for_writing=True) as (root, _):
            changed = git_ignore.track(root) if wish == "track" else git_ignore.ignore(root)
        line = f"`{git_ignore.LINE}` {'taken out of' if wish == 'track' else 'added to'} .gitignore"
        notes = [line] if changed else []
        if wish == "track" and git_ignore.is_ignored(self.path):
            notes.append(
                "git still ignores the memory; `git check-ignore -v .scaffolding/agent-memory` says by which line"
            )
        return notes

    def git_notes(self) -> list[str]:
        """Say when git ignores the memory: it is then in this checkout alone, and reviewed by nobody."""
        if git_ignore.is_ignored(self.path):
            return ["git ignores the memory, so it stays on this machine; `amp init --track` changes that"]
        return []

    # -- the steps -----------------------------------------------------------------------------------------------------

    @contextmanager
    def _opened(self, *, for_writing: bool = False) -> Iterator[tuple[Root, Settings]]:
        if for_writing:
            if config.is_disabled(self._environ):
                raise Disabled("memory is switched off by AMP_DISABLE; unset it to write")
            if self._missing:
                os.makedirs(self.path, exist_ok=True)
                self._missing = False
        with Root.open(str(self.path)) as root:
            settings = config.load_settings(root, self._environ)
            root.external_links = settings.external_links
            if for_writing and not settings.enabled:
                raise Disabled(f"memory is switched off by enabled = false in {settings.origin['enabled']}")
            if for_writing and settings.damaged:
                raise StorageError(f"{'; '.join(settings.problems)}; mend it first, a limit may stand in it")
            yield root, settings

    def _change(self, root: Root, settings: Settings, target: Target, change: Callable[[Document], Change]) -> Outcome:
        return change_document(
            root,
            target,
            change,
            header=lambda: self._header(root, settings, target),
            check=lambda old, new: _check_limits(old, new, settings),
            now=_now(),
        )

    def _plan(
        self,
        current: Document,
        settings: Settings,
        today: date,
        older_than: timedelta | None,
        *,
        sections: bool,
        to_limit: bool,
    ) -> Pruning:
        days = settings.older_than if older_than is None else older_than.days
        if to_limit:
            plan = prune.plan_to_limit(
                current,
                today=today,
                max_lines=settings.max_lines,
                max_bytes=settings.max_bytes,
                sections=sections,
                older_than=None if older_than is None else days,
            )
        else:
            plan = prune.plan_pruning(current, today=today, older_than=days, sections=sections)
        room = _headroom(plan.result, settings)
        return Pruning(
            current.target,
            self._path(current.target),
            plan,
            tuple(prune.old_sections(current, today=today, older_than=days)),
            (max(0, -room.lines), max(0, -room.bytes)),
        )

    def _add(
        self,
        current: Document,
        new: compose.NewEntry,
        section: str | None,
        settings: Settings,
        *,
        make_room: bool,
        today: date,
    ) -> tuple[document.Added, dict[str, str]]:
        """Add an entry; where it does not fit and room may be made, archive the oldest dated entries until it does."""
        added = document.add(current, new, section)
        if not make_room or _fits(added.document, settings):
            return added, {}
        plan = prune.plan_to_limit(
            added.document,
            today=today,
            max_lines=settings.max_lines,
            max_bytes=settings.max_bytes,
            spare=added.entry_id,
        )
        reasons = {one.id: "made room for a new entry" for one in plan.removals}
        added = document.add(edit.remove(current, list(reasons)), new, section)
        note = (
            f"archived {len(reasons)} of the oldest dated entries to make room; `amp restore --last` brings them back"
        )
        return replace(added, notes=(*added.notes, note) if reasons else added.notes), reasons

    def _find(
        self, root: Root, settings: Settings, actor: Actor, entry_ids: Sequence[str], *, in_ledgers: bool = False
    ) -> dict[Target, list[str]]:
        """Find the document of each entry, and check that this actor may write them all."""
        if not entry_ids:
            raise InvalidArgument("which entry? give its id; `amp list` shows them")
        found: dict[Target, list[str]] = {}
        left = set(entry_ids)
        for target in (
            self._with_ledgers(root, settings, actor) if in_ledgers else self._readable(root, settings, actor)
        ):
            read = read_document(root, target)
            ids = set(read[0].ids) if read else set()
            if in_ledgers:
                books = Books(root, target, lock_name(target), _now())
                ids |= books.known_ids()
            here = [one for one in dict.fromkeys(entry_ids) if one in ids]
            if here:
                found[target] = here
                left -= set(here)
        if left:
            raise InvalidArgument(f"there is no entry {', '.join(sorted(left))}; `amp list` shows the ids there are")
        for target in found:
            self._check_write(root, settings, actor, target)
        return found

    def _with_ledgers(self, root: Root, settings: Settings, actor: Actor) -> list[Target]:
        """List documents that exist, and those of which only the ledger is left."""
        return [
            target
            for target in store.list_targets(root, beside=ledger.NAME)
            if settings.has_tier(target.tier) and why_not_read(actor, target, settings.readers_of_all) is None
        ]

    def _same_text(self, root: Root, settings: Settings, text: str, but: Target) -> tuple[str, ...]:
        """Name the other documents that hold a text."""
        wanted = " ".join(text.split())
        return tuple(
            target.path
            for target in self._readable(root, settings, Actor())
            if wanted
            and target != but
            and (source := store.read(root, target)) is not None
            and wanted in " ".join(source.text.split())
        )

    def _create(self, root: Root, target: Target, text: str) -> bool:
        from .writing import create, make_folders

        make_folders(root, target.parts[:-1])
        return create(root, target.parts, text.encode())

    def _header(self, root: Root, settings: Settings, target: Target) -> str:
        from .templates import project_templates, render_header

        return render_header(
            target,
            read_project_template=project_templates(root),
            max_lines=settings.max_lines,
            max_bytes=settings.max_bytes,
        )

    def _readable(self, root: Root, settings: Settings, actor: Actor) -> list[Target]:
        return [
            target
            for target in store.list_targets(root)
            if settings.has_tier(target.tier) and why_not_read(actor, target, settings.readers_of_all) is None
        ]

    def _check_write(self, root: Root, settings: Settings, actor: Actor, target: Target) -> None:
        if not settings.has_tier(target.tier):
            raise Disabled(f"the {target.tier} tier is switched off by tiers.{target.tier} = false")
        if target.tier is Tier.CONVERSATION:
            self._check_conversation(target.owner, settings)
        reason = None
        if actor.agent is not None:
            reason = agents.read_only_reason(root, actor.agent, settings, environ=self._environ)
        check_write(_joined(actor, target), target, read_only_reason=reason)

    def _check_conversation(self, conversation: str | None, settings: Settings) -> None:
        if conversation is not None and settings.strict_conversation_ids:
            check_conversation_id(conversation, strict=True)

    def _status(self, root: Root, settings: Settings, target: Target) -> Status:
        source = store.read(root, target)
        if source is None:
            return Status(target, self._path(target), problem="it has just gone")
        if source.gap is not None:
            raise DamagedFile(f"has {source.lines:,} lines; that is no page of memory any more", path=target.path)
        parsed = document.outline_of(source.text)
        days = [entry.day for entry in parsed.entries if entry.day is not None]
        size = len(source.data)
        return Status(
            target,
            self._path(target),
            lines=source.lines,
            bytes=size,
            tokens=limits.estimate_tokens(size),
            share=max(source.lines / settings.max_lines, size / settings.max_bytes),
            entries=len(parsed.entries),
            dated=len(days),
            oldest=date.fromordinal(min(days)) if days else None,
            newest=date.fromordinal(max(days)) if days else None,
            indexed=len(parsed.index_lines),
        )

    def _paths(self) -> list[Path]:
        personal = personal_file(self._environ)
        return [
            self._path(Target(Tier.SHARED)),
            *(self.path.joinpath(*folder) for folder in OWNER_FOLDERS.values()),
            self.path.joinpath(*PROJECT_FILE),
            *([Path(personal)] if personal else []),
        ]

    def _path(self, target: Target) -> Path:
        return self.path.joinpath(*target.parts)


def _joined(actor: Actor, target: Target) -> Actor:
    """Naming a conversation is membership in it, where the actor is in none yet (decision 7)."""
    if target.tier is Tier.CONVERSATION and actor.conversation is None:
        return Actor(actor.agent, target.owner)
    return actor


def _stored_entries(parsed: Document) -> list[StoredEntry]:
    return [
        StoredEntry(
            id=entry_id,
            target=parsed.target,
            text=parsed.text(entry),
            section=parsed.section(entry),
            date=None if entry.day is None else date.fromordinal(entry.day),
            date_source=entry.day_source,
            line=entry.start + 1,
            last_line=entry.end,
        )
        for entry_id, entry in zip(parsed.ids, parsed.outline.entries, strict=True)
    ]


def _headroom(parsed: Document, settings: Settings) -> Headroom:
    return Headroom(
        lines=settings.max_lines - parsed.line_count,
        bytes=settings.max_bytes - len(parsed.data),
        max_lines=settings.max_lines,
        max_bytes=settings.max_bytes,
    )


def _fits(parsed: Document, settings: Settings) -> bool:
    return parsed.line_count <= settings.max_lines and len(parsed.data) <= settings.max_bytes


def _healing_notes(done: Outcome) -> list[str]:
    """Say what had happened to the document behind our back, where it was mended."""
    notes = []
    if done.healed:
        notes.append(f"{len(done.healed)} remembered entries had been overwritten by another program; they are back")
    if done.removed_by_hand:
        notes.append(f"{len(done.removed_by_hand)} entries were taken out by hand; the ledger keeps them")
    return notes


def _now() -> datetime:
    return datetime.now(UTC)


def _check_limits(old: Document, new: Document, settings: Settings) -> None:
    """Refuse a change that passes a limit. One that makes a document smaller is always welcome (decision 13)."""
    size = len(new.data)
    for have, limit, unit, grows in (
        (new.line_count, settings.max_lines, "lines", new.line_count > old.line_count),
        (size, settings.max_bytes, "bytes", size > len(old.data)),
    ):
        if have > limit and grows:
            raise LimitExceeded(
                f"{new.target.path} would have {have:,} {unit}, {limit:,} are allowed; nothing was changed: "
                f"add --make-room to archive its oldest dated entries, or run `amp prune {new.target}`"
            )

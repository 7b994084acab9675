"""One project's memory: the only way in for whoever reads or writes its Markdown.

Every surface (command line, library, hooks, servers) goes through `Workspace`, so access, limits and locking hold for
all of them alike. This module holds no rule, only the order of steps; what a verb does stands in its module, such as
`remembering`. A verb that takes long to load is loaded where it is called, so that nobody waits for the others.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING

from . import limits
from .answers import Created, Shown, Status, Where
from .change.session import Session, open_session, stored_entries
from .disk.errors import shown
from .disk.files import decode, is_there
from .disk.writing import create, make_folders
from .errors import AgentMemoryError, DamagedFile, InvalidArgument, StorageError
from .layout import OWNED_TIERS, RECORDS, TIERS, Target, Tier, check_owner
from .project import agents
from .project.access import Actor, acting
from .project.root import FoundRoot, find_root
from .project.settings import PROJECT_FILE, Settings, load_settings, personal_file
from .recall.agent import recall_here, targets_of
from .recall.block import Budget, Recall
from .tiers import document, store
from .tiers.document import Document

if TYPE_CHECKING:
    from .answers import Found, Indexed, NoteRow, Remembered, Rewritten, StoredEntry, StoredFile
    from .change.ledger import About
    from .learning.merge_in import Adoption
    from .learning.scattered import MemoryFolder
    from .lint.finding import Finding
    from .notes.store import KnownNotes
    from .search.port import Embedder, SearchIndex
    from .verbs.distill import Distillation, Distilled
    from .verbs.doctor import Diagnosis
    from .verbs.review import Item
    from .verbs.upkeep_answers import Edited, Pruning, Redacted, Removed, Restorable, Restored, Synced


class Workspace:
    """The memory of one project.

    Attributes:
        path: the project root.
        how: how the root was found, in words.
        problem: why it may not be the root that was meant; "" where nothing speaks against it.
        notices: what writers should be told beside the answers: that entries which another program had overwritten
            are back, or that some had been taken out by hand.
    """

    def __init__(self, found: FoundRoot, environ: Mapping[str, str]) -> None:
        self.path = Path(found.path)
        self.how = found.how
        self.problem = found.problem
        self._untold = found.problem
        self._environ = environ
        self.notices: list[str] = []

    @classmethod
    def open(cls, root: str | os.PathLike[str] | None = None, *, environ: Mapping[str, str] | None = None) -> Workspace:
        """Find the project root, from the current folder or as `root` says (decision 1). Creates nothing.

        Raises:
            StorageError: no root can be used; the message says what to do.
        """
        environ = os.environ if environ is None else environ
        return cls(find_root(explicit=root, environ=environ), environ)

    @property
    def settings(self) -> Settings:
        """The settings as they are on disk now."""
        if self._missing:
            return load_settings(None, self._environ)
        with self._session() as session:
            return session.settings

    # -- reading -------------------------------------------------------------------------------------------------------

    def recall(
        self,
        actor: Actor,
        *,
        max_lines: int | None = None,
        max_chars: int | None = None,
        max_bytes: int | None = None,
        max_tokens: int | None = None,
        task: str | None = None,
    ) -> Recall:
        """Return what this actor may know when a task starts; see `recall_for_agent`."""
        budget = Budget(max_lines=max_lines, max_chars=max_chars, max_bytes=max_bytes, max_tokens=max_tokens)
        recalled = recall_here(acting(actor), budget, root=str(self.path), task=task, environ=self._environ)
        if self.problem:
            recalled.warnings.append(self.problem)
        return recalled

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
        # Both are checked, needed or not: a bad name is a mistake wherever it stands.
        named = Actor(agent, conversation)
        if tier is not None and tier not in TIERS:
            raise InvalidArgument(f"the tier must be one of {', '.join(map(repr, TIERS))}, not {tier!a}")
        if tier is None:
            who = named if named.agent or named.conversation else Actor(actor.agent)
            tier = next((one for one in OWNED_TIERS if who.owned(one)), Tier.SHARED)
        owner = named.owned(tier) or actor.owned(tier)
        if owner is None:
            raise InvalidArgument(f"which {tier.owner}? name it with --{tier.owner}")
        return Target(tier, owner)

    def targets(self, actor: Actor | None = None) -> list[Target]:
        """List the documents that exist and that this actor may read."""
        if self._missing:
            return []
        with self._session() as session:
            return session.readable(acting(actor))

    def show(self, target: Target, actor: Actor | None = None, *, section: str | None = None) -> Shown | None:
        """Return a document, or one section of it, as it is on disk now; None where there is none (S4-27, S4-29).

        Raises:
            AccessDenied: this actor may not read it.
            DamagedFile: it cannot be read.
            InvalidArgument: it has no such section.
        """
        if self._missing:
            return None
        with self._session() as session:
            session.check_read(acting(actor), target)
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

    def entries(
        self,
        actor: Actor | None = None,
        targets: Sequence[Target] | None = None,
        *,
        on_problem: Callable[[Target, str], object] | None = None,
    ) -> list[StoredEntry]:
        """List every entry of these documents, or of all that this actor may read.

        With `on_problem`, a document that cannot be read is told there, and the others are listed (decision 21).
        """
        documents = self.documents(actor, targets, on_problem=on_problem)
        return [entry for one in documents for entry in stored_entries(one)]

    def why_read_only(self, actor: Actor) -> str | None:
        """Return why this actor's agent is read-only, as the end of a sentence; None where it may write (S4-52)."""
        if self._missing:
            return actor.agent and agents.named_in_settings(actor.agent, self.settings)
        with self._session() as session:
            return session.read_only_reason(actor)

    def files(self, actor: Actor | None = None) -> list[StoredFile]:
        """List the documents, and the notes beside them, that this actor may read. Links are left out."""
        from .verbs import rewrite as rewriting

        if self._missing:
            return []
        with self._session() as session:
            return rewriting.files(session, acting(actor))

    def read_file(self, target: Target, *, note: str = "", actor: Actor | None = None) -> str | None:
        """Return a document, or the note of that file name beside it, as it is on disk; None where there is none.

        Raises:
            AccessDenied: this actor may not read it.
            DamagedFile: it cannot be read.
            LinkRefused: a link leads to it.
        """
        from .verbs import rewrite as rewriting

        actor = acting(actor)
        if self._missing:
            return None
        with self._session() as session:
            return rewriting.read(session, actor, target, note)

    def documents(
        self,
        actor: Actor | None = None,
        targets: Sequence[Target] | None = None,
        *,
        on_problem: Callable[[Target, str], object] | None = None,
    ) -> list[Document]:
        """Return these documents, or all that this actor may read; without those that do not exist.

        With `on_problem`, a document that cannot be read is told there, and the others are returned (decision 21).

        Raises:
            AccessDenied: this actor may not read one of those named.
            DamagedFile: one cannot be read.
        """
        if self._missing:
            return []
        actor = acting(actor)
        found = []
        with self._session() as session:
            for target in session.readable(actor) if targets is None else targets:
                session.check_read(actor, target)
                try:
                    read = session.read(store.locate(session.root, target))
                except StorageError as error:
                    if on_problem is None:
                        raise
                    on_problem(target, str(error))
                else:
                    found += [] if read is None else [read]
        return found

    def search(
        self,
        query: str,
        actor: Actor | None = None,
        *,
        limit: int = 10,
        targets: Sequence[Target] | None = None,
        index: SearchIndex | None = None,
        embedder: Embedder | None = None,
        on_problem: Callable[[str], object] | None = None,
    ) -> list[Found]:
        """Find entries and notes by their words, best first, as they are on disk now.

        Any text is a query. Code words are found whole and by their parts, and one wrong letter does not matter.

        Args:
            query: what to look for.
            actor: who asks; only what they may read is found.
            limit: how many at most.
            targets: the only documents, with the notes beside them, to look in.
            index: where the words are kept; by default a file in `.scaffolding/.amp/`, made anew whenever it is gone.
            embedder: finds by similar meaning too, in the default index.
            on_problem: is told of each file that could not be read.
        """
        from .verbs import search as searching

        _check_text("the query", query)
        if self._missing:
            return []
        with self._session() as session:
            told = on_problem or (lambda _: None)
            return searching.search(
                session,
                acting(actor),
                query,
                index,
                embedder=embedder,
                limit=limit,
                targets=targets,
                on_problem=told,
            )

    def search_archived(
        self,
        query: str,
        actor: Actor | None = None,
        *,
        limit: int = 10,
        on_problem: Callable[[str], object] | None = None,
    ) -> list[Found]:
        """Find what has left the documents that this actor may read, best first; `restore` brings it back."""
        from .verbs import search as searching

        if self._missing:
            return []
        with self._session() as session:
            told = on_problem or (lambda _: None)
            return searching.search_archived(session, acting(actor), query, limit=limit, on_problem=told)

    def status(self, actor: Actor | None = None, targets: Sequence[Target] | None = None) -> list[Status]:
        """Return the figures of these documents, or of all that this actor may read. One unreadable says why."""
        if self._missing:
            return []
        rows = []
        with self._session() as session:
            for target in session.readable(acting(actor)) if targets is None else targets:
                try:
                    rows.append(_status(session, target))
                except AgentMemoryError as error:
                    rows.append(Status(target, session.path(target), problem=str(error)))
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
    ) -> list[tuple[int, str]] | None:
        """Return the numbered lines that recall leaves out of a document under these bounds; None where there is none.

        Args:
            target: the document.
            actor: who asks; access is theirs.
            agent: for whom recall is made, where that matters for the bounds of the whole block.
            max_lines: the bound on lines of one document, as `recall` takes it.
            max_chars: the bound on characters of the block.
            max_tokens: the bound on tokens of the block.
        """
        actor = acting(actor)
        shown = self.show(target, actor)
        if shown is None:
            return None
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
            # What may not be looked at counts as not there; Path.exists would raise.
            paths=[(str(path), os.path.exists(path)) for path in self._paths()],
            settings=[row for row in rows if row[2] != "default"],
            all_settings=rows,
            problems=[*([self.problem] if self.problem else []), *settings.problems],
        )

    def diagnose(self, actor: Actor) -> list[Diagnosis]:
        """Say what keeps an actor's memory away, or that nothing does."""
        from .verbs import doctor
        from .verbs.doctor import Diagnosis

        settings = self.settings
        found = doctor.of_settings(settings)
        if self.problem:
            found.append(Diagnosis(self.problem, is_problem=True))
        if self._missing:
            return [*found, Diagnosis(f"{self.path} does not exist; `amp init` makes it", is_problem=True)]
        existing: list[Target] = []
        rows: list[Status] = []
        try:
            existing = self.targets()
            rows = self.status(actor)
            with self._session() as session:
                for tier in OWNED_TIERS:
                    names = session.root.list_folders(tier.folder)
                    found += doctor.of_names(names, tier.value)
                    # Told to everyone: it may be their memory that lies under a name nobody can recall.
                    found += _misnamed(session, [Target(tier, name) for name in names])
                found += [
                    doctor.of_lookalike(target, file, exists=session.root.exists(target.parts))
                    for target, file in store.lookalikes(session.root)
                ]
                if actor.agent is not None:
                    reason = session.read_only_reason(actor)
                    found.append(Diagnosis(f"{actor} is read-only: {reason}" if reason else f"{actor} may write"))
        except AgentMemoryError as error:
            found.append(Diagnosis(str(error), is_problem=True, is_damage=True))
        if settings.enabled:
            said = {one.message for one in found}
            found += [
                one
                for one in doctor.of_recall(self.recall(actor), targets_of(actor, settings), existing)
                if one.message not in said
            ]
        for row in rows:
            if row.problem and not any(row.problem in one.message for one in found):
                found.append(Diagnosis(f"{row.target}: {row.problem}", is_problem=True, is_damage=True))
            elif row.share > 1:
                found.append(Diagnosis(f"{row.target} is over its limit ({row.percent}%); prune it", is_problem=True))
        return [*found, *(Diagnosis(note) for note in self.git_notes())]

    def check_write(self, actor: Actor, target: Target) -> None:
        """Refuse what this actor may not write, before anything is done (decision 9).

        Raises:
            AccessDenied, Disabled, InvalidName: the message says which rule forbids it.
        """
        with self._session(for_writing=True) as session:
            session.check_write(actor, target)

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
        from .git import ignore as git_ignore

        _check_several("agents", agents)
        actor = acting(actor)
        targets = [Target(Tier.SHARED), *(Target(Tier.AGENT, check_owner(Tier.AGENT, agent)) for agent in agents)]
        if conversation is not None:
            targets.append(Target(Tier.CONVERSATION, check_owner(Tier.CONVERSATION, conversation)))
        made = []
        with self._session(for_writing=True) as session:
            for target in targets:
                session.check_write(actor, target)
            # Two spellings of one name are one agent; both at once would make two folders for it (decision 2).
            for target in [store.locate(session.root, target) for target in dict.fromkeys(targets)]:
                created = False
                if not session.root.exists(target.parts):
                    make_folders(session.root, target.parts[:-1])
                    created = create(session.root, target.parts, session.header(target).encode())
                    session.begin()
                made.append(Created(target, session.path(target), created))
            git_ignore.merge_by_lines(session.root)
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
        from .change.ledger import About
        from .verbs import remember as remembering

        _check_text("what is remembered", text)
        actor = acting(actor)
        target = self.target(actor, tier=tier, agent=agent, conversation=conversation)
        with self._session(for_writing=True) as session:
            return remembering.remember(
                session,
                actor,
                target,
                text,
                section=section,
                dated=dated,
                about=about or About(),
                make_room=make_room,
                today=today or date.today(),
            )

    def forget(
        self, entry_ids: Sequence[str], *, actor: Actor | None = None, reason: str = "forgotten"
    ) -> list[Removed]:
        """Take entries out of their documents. Their text stays in the ledger, from where `restore` brings it back.

        Raises:
            InvalidArgument: there is no such entry; nothing was changed.
            AccessDenied: this actor may not write its document; nothing was changed.
        """
        from .verbs import upkeep

        _check_several("entry_ids", entry_ids)
        with self._session(for_writing=True) as session:
            return upkeep.forget(session, acting(actor), entry_ids, reason)

    def edit(
        self, entry_id: str, text: str | None = None, *, actor: Actor | None = None, dated: date | None = None
    ) -> Edited:
        """Put another text in an entry's place; the old one stays in the ledger. Or say that it holds on another day.

        Args:
            entry_id: the entry.
            text: its new text; where it is left out, only the date is changed.
            actor: who edits; a person where it is left out.
            dated: its new date; without it, it keeps its own unless the new text begins with one.

        Raises:
            InvalidArgument: there is no such entry, or one with the new text is there already.
            RefusedText, LimitExceeded, AccessDenied: nothing was changed.
        """
        from .verbs import upkeep

        if text is None and dated is not None:
            with self._session(for_writing=True) as session:
                return upkeep.date_anew(session, acting(actor), entry_id, dated)
        _check_text("the new text", text)
        with self._session(for_writing=True) as session:
            return upkeep.replace_text(session, acting(actor), entry_id, text or "", dated)

    def rewrite(
        self,
        target: Target,
        change: Callable[[str | None], str | None],
        *,
        note: str = "",
        actor: Actor | None = None,
        reason: str = "rewritten",
    ) -> Rewritten:
        """Give a document, or a note beside it, a whole new text: for doors that edit files and know no entries.

        What disappears stands in the ledger first, from where `restore` brings it back, unless it holds a secret.

        Args:
            target: the document.
            change: makes the new text from the present one, and may be called again when others write meanwhile. None
                is no file: there is none yet, or it is to go. What it raises is raised here, and nothing is changed.
            note: the file name of a note beside the document, where that is meant.
            actor: who writes.
            reason: why what disappears goes, for the ledger.

        Raises:
            AccessDenied, LimitExceeded, SecretFound, RefusedText, LinkRefused: nothing was changed.
            StorageError: it cannot be read or written.
        """
        from .verbs import rewrite as rewriting

        with self._session(for_writing=True) as session:
            return rewriting.rewrite(session, acting(actor), target, note, change, reason)

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
            older_than: the age from which dated entries go, in whole days; by default the setting `prune.older_than`.
            sections: take entries whose section is dated as well.
            to_limit: take the oldest dated entries until the document fits, instead of all that are old.
            today: the local calendar date (decision 19); the clock's where it is left out.
            progress: called with how many of how many documents are done.
        """
        from .verbs import upkeep

        if not (older_than is None or isinstance(older_than, timedelta)):
            raise InvalidArgument(f"older_than is a timedelta, such as timedelta(days=90), not {older_than!a}")
        if self._missing:
            return []
        with self._session() as session:
            return upkeep.plan_pruning(
                session,
                acting(actor),
                targets,
                today=today or date.today(),
                older_than=older_than,
                sections=sections,
                to_limit=to_limit,
                progress=progress,
            )

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
            PlanOutdated: documents are no longer what their plans were made from; it says which, and what was done.
            Refused: more than half of a document's entries would go, and `force` is not given; nothing was changed.
            AccessDenied: this actor may not write one of the documents; nothing was changed.
        """
        from .verbs import upkeep

        with self._session(for_writing=True) as session:
            return upkeep.apply_pruning(session, acting(actor), plans, force=force, progress=progress)

    def restorable(
        self,
        entry_ids: Sequence[str] = (),
        *,
        actor: Actor | None = None,
        last: bool = False,
        since: date | None = None,
    ) -> list[Restorable]:
        """List entries that the ledgers can bring back, oldest removal first.

        All of them, those named, those of the last command that took any out, or those since a day (UTC).

        Raises:
            InvalidArgument: one that is named is in no ledger.
        """
        from .verbs import upkeep

        _check_several("entry_ids", entry_ids)
        if self._missing:
            return []
        with self._session() as session:
            return upkeep.restorable(session, acting(actor), entry_ids, last=last, since=since)

    def restore(self, chosen: Sequence[Restorable], *, actor: Actor | None = None) -> Restored:
        """Put entries and notes back where they were, as near as can be told.

        The answer says why others could not go back: a document would pass its limit, or what stands there forbids it.

        Raises:
            AccessDenied: this actor may not write one of the documents; nothing was changed.
        """
        from .verbs import upkeep

        with self._session(for_writing=True) as session:
            return upkeep.restore(session, acting(actor), chosen)

    def sync(
        self, *, actor: Actor | None = None, targets: Sequence[Target] | None = None, apply: bool = False
    ) -> list[Synced]:
        """Say what went missing by accident and goes back, and what was taken out by hand and is noted (decision 23).

        With `apply` it is done: for these documents, or for every one that this actor may write.
        """
        from .verbs import upkeep

        if self._missing:
            return []
        with self._session(for_writing=apply) as session:
            return upkeep.sync(session, acting(actor), targets, apply=apply)

    def redact(self, entry_ids: Sequence[str], *, actor: Actor | None = None) -> list[Redacted]:
        """Take entries out of document, ledger and journal for good (S2-29). Git history is beyond its reach.

        Raises:
            InvalidArgument: neither a document nor a ledger has such an entry; nothing was changed.
        """
        from .verbs import upkeep

        _check_several("entry_ids", entry_ids)
        with self._session(for_writing=True) as session:
            return upkeep.redact(session, acting(actor), entry_ids)

    # -- checking ------------------------------------------------------------------------------------------------------

    def check(
        self,
        paths: Sequence[str] = (),
        *,
        actor: Actor | None = None,
        select: Sequence[str] = (),
        ignore: Sequence[str] = (),
        today: date | None = None,
        progress: Callable[[int, int], None] | None = None,
    ) -> list[Finding]:
        """Return what is wrong with the memory, by file and line: every rule on every tier file, note, index, ledger.

        Args:
            paths: only at or below these, as the caller names them.
            actor: who asks; what they may not read is not checked.
            select: only these rules or groups; without any, all that are on by default.
            ignore: not these rules or groups.
            today: the local calendar date; the clock's where it is left out.
            progress: called with how many of how many documents are done.
        """
        from .lint import finding
        from .verbs import check as checking

        if self._missing:
            return []
        selected = finding.select(select, ignore)
        named = [checking.relative(str(self.path), path) for path in paths]
        with self._session() as session:
            return checking.check(
                session,
                acting(actor),
                paths=named,
                selected=selected,
                today=today or date.today(),
                progress=progress,
            )

    def fix(self, found: Sequence[Finding], *, actor: Actor | None = None) -> list[Finding]:
        """Mend what can be mended without losing anything. Returns the findings that are mended."""
        from .verbs import mending

        if not any(one.fix for one in found):
            return []
        with self._session(for_writing=True) as session:
            return mending.fix(session, acting(actor), found)

    def review(
        self,
        *,
        actor: Actor | None = None,
        today: date | None = None,
        on_problem: Callable[[Target, str], object] | None = None,
    ) -> list[Item]:
        """Return the upkeep list: near-repeats to merge, entries past their age, old undated ones (S2-27, S2-28).

        With `on_problem`, a document that cannot be read is told there, and the others are looked at (decision 21).
        """
        from .verbs import review

        if self._missing:
            return []
        actor = acting(actor)
        age = timedelta(days=self.settings.older_than)
        entries = self.entries(actor, on_problem=on_problem)
        return review.items(entries, self.notes(actor), today=today or date.today(), older_than=age)

    def record_review(self, *, actor: Actor | None = None, today: date | None = None) -> None:
        """Record that the review was done, in a file that travels with the repository."""
        from .change import reviews

        with self._session(for_writing=True) as session:
            session.check_write(acting(actor), Target(Tier.SHARED))
            reviews.record(session.root, today or date.today())

    # -- notes ---------------------------------------------------------------------------------------------------------

    def new_note(
        self,
        note_type: str,
        slug: str,
        *,
        description: str,
        why: str,
        how: str,
        body: str = "",
        target: Target | None = None,
        actor: Actor | None = None,
    ) -> Path:
        """Write one fact as one file beside a tier file, and its index line. Returns the file (S2-11 to S2-16).

        Args:
            note_type: user, feedback, project or reference.
            slug: what it is called; the file is `TYPE_SLUG.md`.
            description: one sentence, the hook of its index line.
            why: why it is so.
            how: how to apply it.
            body: the fact, where the description does not say it whole.
            target: beside which document; the acting agent's, else the shared one, where it is left out.
            actor: who writes.

        Raises:
            InvalidArgument, RefusedText, AccessDenied: nothing was written.
        """
        from .verbs import notes as notekeeping

        actor = acting(actor)
        target = target or self.target(actor)
        with self._session(for_writing=True) as session:
            file = notekeeping.new(
                session, actor, target, note_type, slug, description=description, why=why, how=how, body=body
            )
            return session.path(target).with_name(file)

    def note_folders(self, actor: Actor | None = None) -> list[Target]:
        """List the documents beside which notes lie."""
        from .verbs import index as indexing

        if self._missing:
            return []
        with self._session() as session:
            return indexing.folders(session, acting(actor))

    def notes(self, actor: Actor | None = None, targets: Sequence[Target] | None = None) -> list[NoteRow]:
        """List the notes beside these documents, or beside all that this actor may read."""
        from .verbs import notes as notekeeping

        if self._missing:
            return []
        with self._session() as session:
            return notekeeping.rows(session, acting(actor), targets)

    def show_note(self, name: str, *, target: Target | None = None, actor: Actor | None = None) -> tuple[str, str]:
        """Return a note's file name and text; it is named by file, stem, or what follows the type (S2-25).

        Without a `target` it is looked for beside the actor's own document, then beside the shared one.

        Raises:
            InvalidArgument: there is no such note.
            AccessDenied: this actor may not read it.
        """
        from .verbs import notes as notekeeping

        actor = acting(actor)
        targets = [target] if target else list(dict.fromkeys([self.target(actor), Target(Tier.SHARED)]))
        with self._session() as session:
            return notekeeping.show(session, actor, targets, name)

    def remove_note(
        self,
        name: str,
        *,
        target: Target | None = None,
        actor: Actor | None = None,
        reason: str = "removed",
        redact: bool = False,
    ) -> str:
        """Remove a note and its index line; its text stays in the ledger, from where `restore` brings it back.

        With `redact` no text of it is kept anywhere: for a note that holds a secret, which is refused otherwise.
        """
        from .verbs import notes as notekeeping

        actor = acting(actor)
        with self._session(for_writing=True) as session:
            target = target or self.target(actor)
            return notekeeping.take_out(session, actor, target, name, reason, redact=redact)

    def merge_notes(
        self, names: Sequence[str], into: str, *, target: Target | None = None, actor: Actor | None = None
    ) -> str:
        """Add the facts of some notes to another and remove them (S2-27). Returns the file that holds them all."""
        from .verbs import notes as notekeeping

        actor = acting(actor)
        with self._session(for_writing=True) as session:
            return notekeeping.merge(session, actor, target or self.target(actor), names, into)

    def index(
        self, targets: Sequence[Target] | None = None, *, actor: Actor | None = None, check: bool = False
    ) -> list[Indexed]:
        """Bring the indexes up to date (decision 29), or with `check` only say what differs.

        No note is ever removed, and no line that a person wrote is ever changed.
        """
        from .verbs import index as indexing

        if self._missing:
            return []
        with self._session(for_writing=not check) as session:
            return indexing.reindex(session, acting(actor), targets, check=check)

    def index_known(
        self, target: Target, known: KnownNotes, touched: Collection[str] | None = None, *, anyway: bool = False
    ) -> Indexed | None:
        """Bring one index up to date as a watcher does, which knows the notes and is told which were touched.

        Args:
            target: the document that holds the index.
            known: what was read of its notes; it is brought up to date too.
            touched: the known notes that may have changed; None where any may have, or come, or gone.
            anyway: whether the document itself may have changed, too.

        Returns:
            What the index is now; None where nothing that it is made from has changed.
        """
        from .verbs import index as indexing

        with self._session(for_writing=True) as session:
            return indexing.reindex_known(session, target, known, touched, anyway=anyway)

    # -- what was learned elsewhere ------------------------------------------------------------------------------------

    def plan_adoption(self, paths: Sequence[str], *, actor: Actor | None = None) -> list[Adoption]:
        """Say what would become of memory that other tools keep at these paths. Changes nothing, here or there.

        Raises:
            InvalidArgument: a path holds no memory that is known here.
        """
        from .learning import elsewhere
        from .verbs import adopt

        actor = acting(actor)
        stores = [store for path in paths for store in elsewhere.read_stores(path, datetime.now(UTC))]
        with self._session() as session:
            return adopt.plan_adoption(session, actor, stores)

    def apply_adoption(self, planned: Sequence[Adoption], *, actor: Actor | None = None) -> list[Adoption]:
        """Bring in what was planned; the answer says what was done, and why the rest was left out.

        Raises:
            StorageError: the project cannot be opened.
        """
        from .verbs import adopt

        with self._session(for_writing=True) as session:
            return adopt.apply_adoption(session, acting(actor), planned)

    def plan_distillation(self, *, actor: Actor | None = None) -> Distillation:
        """Say which insights of conversations deserve a longer life, and what has outlived itself. Changes nothing."""
        from .verbs import distill

        with self._session() as session:
            return distill.plan(session, acting(actor))

    def plan_learning(self, conversation: str, *, agent: str | None = None, actor: Actor | None = None) -> Distillation:
        """Say what one conversation has taught. Changes nothing.

        Args:
            conversation: its id.
            agent: who is to learn what no other conversation confirms; by default the acting agent, else the agent
                whose memory is most about it.
            actor: who asks.

        Raises:
            InvalidName: the id or the name breaks the name rule.
        """
        from .verbs import distill

        actor = acting(actor)
        with self._session() as session:
            named = Actor(agent, conversation)
            return distill.plan(session, actor, conversation=named.conversation, agent=named.agent or actor.agent)

    def apply_distillation(
        self, planned: Distillation, *, actor: Actor | None = None, today: date | None = None
    ) -> Distilled:
        """Make the changes of a plan; the answer names the backup that `restore_distillation` goes back to.

        Raises:
            StorageError: the project cannot be written.
        """
        from .verbs import distill

        with self._session(for_writing=True) as session:
            return distill.apply(session, acting(actor), planned, today or date.today())

    def restore_distillation(
        self, backup: str | None = None, *, actor: Actor | None = None
    ) -> tuple[str, list[Target]]:
        """Give the documents the text they had before a distillation: the one named, else the last.

        Raises:
            InvalidArgument: there is no such backup.
        """
        from .verbs import distill

        with self._session(for_writing=True) as session:
            return distill.restore(session, acting(actor), backup)

    def find_stores(self) -> list[MemoryFolder]:
        """List where else memory of this project lies: in other tools' folders, other checkouts, the home folder."""
        from .learning.scattered import find_places

        return find_places(str(self.path), self._environ.get("HOME") or None)

    # -- git -----------------------------------------------------------------------------------------------------------

    def set_git_tracking(self, wish: str) -> list[str]:
        """Let git track the memory (`track`) or not (`ignore`); say what was done, and what else has to be."""
        from .git import ignore as git_ignore

        with self._session(for_writing=True) as session:
            return git_ignore.set_tracking(session.root, wish)

    def plan_git_attributes(
        self, *, add: Sequence[str] = (), drop: Sequence[str] = ()
    ) -> tuple[bytes | None, bytes] | None:
        """Return what `.scaffolding/.gitattributes` holds, and what `set_git_attributes` would make of it.

        None where nothing would change.
        """
        from .git import ignore as git_ignore

        with self._session() as session:
            return git_ignore.plan_attributes(session.root, add=add, drop=drop)

    def set_git_attributes(self, *, add: Sequence[str] = (), drop: Sequence[str] = ()) -> bool:
        """Add lines to `.scaffolding/.gitattributes` or take them out; say whether anything changed.

        Raises:
            StorageError: it cannot be written.
        """
        from .git import ignore as git_ignore

        with self._session(for_writing=True) as session:
            return git_ignore.set_attributes(session.root, add=add, drop=drop)

    def git_notes(self) -> list[str]:
        """Say when git ignores the memory: it is then in this checkout alone, and reviewed by nobody."""
        from .git import ignore as git_ignore

        if git_ignore.is_ignored(self.path):
            return ["git ignores the memory, so it stays on this machine; `amp init --track` changes that"]
        return []

    # -- steps ---------------------------------------------------------------------------------------------------------

    @contextmanager
    def _session(self, *, for_writing: bool = False) -> Iterator[Session]:
        with open_session(str(self.path), self._environ, for_writing=for_writing) as session:
            if for_writing and self._untold:
                session.notices.append(self._untold)
                self._untold = ""
            yield session
            self.notices += session.notices

    @property
    def _missing(self) -> bool:
        """Whether the root was named outright and is not there: nothing to read, and a writer makes it."""
        return not is_there(str(self.path))

    def _paths(self) -> list[Path]:
        personal = personal_file(self._environ)
        return [
            self.path.joinpath(*Target(Tier.SHARED).parts),
            *(self.path.joinpath(*tier.folder) for tier in OWNED_TIERS),
            self.path.joinpath(*RECORDS),
            self.path.joinpath(*PROJECT_FILE),
            *([Path(personal)] if personal else []),
        ]


def _check_several(what: str, given: Sequence[str]) -> None:
    """Refuse one text where a list is meant: each of its letters would be taken for a name (a str is a sequence)."""
    if isinstance(given, str):
        raise InvalidArgument(f"{what} is a list of texts, not one text; write [{given!a}]")


def _misnamed(session: Session, targets: list[Target]) -> list[Diagnosis]:
    from .verbs.doctor import Diagnosis

    found = []
    for target in targets:
        reason = store.why_nobodys(target)
        if reason and session.root.exists(target.parts):
            found.append(Diagnosis(f"{shown(*target.parts)}: {reason}", is_problem=True, is_damage=True))
    return found


def _status(session: Session, target: Target) -> Status:
    from .verbs import index as indexing

    store.check_name(target)
    source = store.read(session.root, target)
    if source is None:
        return Status(target, session.path(target), problem="it has just gone")
    if source.gap is not None:
        raise DamagedFile(
            f"has {source.lines:,} lines; that is no page of memory any more; split it up by hand", path=target.path
        )
    found = document.outline_of(source.text)
    notes, unlisted = indexing.count(session, target, source.text)
    days = [entry.day for entry in found.entries if entry.day is not None]
    size = len(source.data)
    return Status(
        target,
        session.path(target),
        lines=source.lines,
        bytes=size,
        tokens=limits.estimate_tokens(size),
        share=max(source.lines / session.settings.max_lines, size / session.settings.max_bytes),
        entries=len(found.entries),
        dated=len(days),
        oldest=date.fromordinal(min(days)) if days else None,
        newest=date.fromordinal(max(days)) if days else None,
        indexed=len(found.index_lines),
        notes=notes,
        unlisted=unlisted,
    )


def _check_text(what: str, given: object) -> None:
    """Refuse what is no text, such as the None of a call that had no answer."""
    if not isinstance(given, str):
        raise InvalidArgument(f"{what} must be text, not {type(given).__name__}")

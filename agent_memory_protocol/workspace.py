"""One project's memory: the only way in for all who read or write its Markdown.

Every surface (command line, library, hooks, servers) goes through `Workspace`, so access, limits and locking hold for
all of them alike. This module holds no rule, only the order of steps; what a verb does is in its module, such as
`verbs.remember`, which is loaded when it is asked for, so that nobody waits for the others.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from datetime import date, timedelta
from pathlib import Path
from typing import TYPE_CHECKING

from . import verbs
from .answers import Created
from .disk.files import is_there
from .errors import InvalidArgument
from .layout import Target, Tier
from .project.access import Actor, acting
from .reading import Reader, check_several, check_text

if TYPE_CHECKING:
    from .answers import About, Indexed, NoteRow, Remembered, Rewritten
    from .change.compaction import Compaction
    from .consolidation.proposals import Operator
    from .learning.merge_in import Adoption
    from .learning.scattered import MemoryFolder
    from .lint.finding import Finding
    from .notes.store import KnownNotes
    from .reading import Answered, Given, Verb
    from .tiers.document import Section
    from .verbs.agents import Renaming
    from .verbs.close import Closed, Closing
    from .verbs.distill import Distillation, Distilled
    from .verbs.proposals import Proposal
    from .verbs.review import Item
    from .verbs.upkeep_answers import (
        Disputed,
        Edited,
        Pruning,
        Redacted,
        Removed,
        Resolved,
        Restorable,
        Restored,
        Synced,
    )


class Workspace(Reader):
    """The memory of one project: all that `Reader` reads, and what changes it."""

    def init(
        self, *, agents: Sequence[str] = (), conversation: str | None = None, actor: Actor | None = None
    ) -> list[Created]:
        """Create the tier files that are missing, each with its header. One that exists is never touched.

        Raises:
            AccessDenied: the actor may not write one of them; nothing was created.
            InvalidName: a name breaks the name rule; nothing was created.
            StorageError: one cannot be created.
        """
        check_several("agents", agents)
        self.begins = True
        return self._write(actor, verbs.init.init, agents, conversation)

    def remember(
        self,
        text: str,
        *,
        tier: Tier | None = None,
        actor: Actor | None = None,
        agent: str | None = None,
        conversation: str | None = None,
        section: Section | None = None,
        under: str | None = None,
        dated: date | bool | None = None,
        until: date | None = None,
        about: About | None = None,
        make_room: bool = False,
        replaces: str | None = None,
        keep: bool = False,
        twice: bool = False,
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
            section: the heading to write under; created at the end where it does not exist. `Staging > Database` is
                the heading Database under Staging, and so is `("Staging", "Database")`.
            under: the label to write under, such as `Never`; created at the end of the section where it does not
                exist. Without it, the entry goes under no label.
            dated: a date, True for today, False for none; by default today in the conversation tier, else none.
            until: the last day on which it holds: the mark `[until D]`.
            about: source, kind, confidence and tags, kept in the ledger beside the document. Which agent wrote the
                entry is kept there, too.
            make_room: archive the oldest dated entries where the document would pass its limit, never undated ones.
            replaces: an entry that this one holds in place of, by its id or the beginning of it. It is retired in the
                same step, as by `resolve`. Without a `section`, the new one goes under the same heading.
            keep: put an entry for which the document has no room into the ledger, from where `restore` brings it back:
                for what comes from elsewhere and would be lost. LimitExceeded is raised all the same, and says so.
            twice: write it also where the same text is there already, under other headings.
            today: the local calendar date (decision 19); the clock's where it is left out.

        Raises:
            AccessDenied: this actor may not write this document.
            LimitExceeded: the document would pass its limit.
            RefusedText: the text cannot be remembered.
            StorageError: the document cannot be read or written.
        """
        check_text("what is remembered", text)
        actor = acting(actor)
        target = self.target(actor, tier=tier, agent=agent, conversation=conversation)
        return self._write(
            actor,
            verbs.remember.remember,
            target,
            text,
            section,
            dated,
            about,
            under=under,
            until=until,
            make_room=make_room,
            replaces=replaces,
            keep=keep,
            twice=twice,
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
        check_several("entry_ids", entry_ids)
        return self._write(actor, verbs.upkeep.forget, entry_ids, reason)

    def resolve(self, loser: str, winner: str, *, reason: str = "", actor: Actor | None = None) -> Resolved:
        """Decide between two entries: retire one into its ledger, which names the other as its successor.

        Marks of a dispute between them are taken off. `restore` brings the retired one back.

        Args:
            loser: the entry that goes, by its id or the beginning of it.
            winner: the entry that holds.
            reason: why, for the ledger.
            actor: who decides; a person where it is left out.

        Raises:
            InvalidArgument: one of them does not exist, or both are the same; nothing was changed.
            AccessDenied: this actor may not write the loser's document; the message has the form of a finding.
        """
        check_text("the reason", reason)
        return self._write(actor, verbs.settle.resolve, loser, winner, reason)

    def dispute(self, one: str, other: str, *, reason: str = "", actor: Actor | None = None) -> Disputed:
        """Mark two entries as disputed with each other. A second time changes nothing.

        The mark goes with `resolve`, with `end_dispute`, or when the other side has left.

        Args:
            one: an entry, by its id or the beginning of it.
            other: the other entry.
            reason: why, for the ledger.
            actor: who says so; a person where it is left out.

        Raises:
            InvalidArgument: one of them does not exist, or both are the same; nothing was changed.
            AccessDenied: this actor may not write both; the message has the form of a finding.
            Refused: no mark can be put in front of one of them.
        """
        check_text("the reason", reason)
        return self._write(actor, verbs.settle.dispute, one, other, reason)

    def end_dispute(self, one: str, other: str, *, actor: Actor | None = None) -> Disputed:
        """Say that two entries are not disputed with each other: both hold. Marks of other disputes stay.

        Raises:
            InvalidArgument: one of them does not exist, or they are in no dispute; nothing was changed.
            AccessDenied: this actor may not write both; the message has the form of a finding.
        """
        return self._write(actor, verbs.settle.end_dispute, one, other)

    def edit(
        self,
        entry_id: str,
        text: str | None = None,
        *,
        actor: Actor | None = None,
        dated: date | None = None,
        undated: bool = False,
    ) -> Edited:
        """Put another text in an entry's place; the old one stays in the ledger. Or say that it holds on another day.

        Args:
            entry_id: the entry.
            text: its new text; where it is left out, only the date is changed.
            actor: who edits; a person where it is left out.
            dated: its new date; without it, it keeps its own unless the new text begins with one.
            undated: take its date off instead: it lasts.

        Raises:
            InvalidArgument: there is no such entry, or one with the new text is there already.
            Refused: its date cannot be changed without changing what it says.
            RefusedText, LimitExceeded, AccessDenied: nothing was changed.
        """
        if text is not None or not (undated or dated):
            check_text("the new text", text)
        return self._write(actor, verbs.upkeep.edit, entry_id, text, dated, undated=undated)

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

        What disappears is in the ledger first, from where `restore` brings it back, unless it holds a secret.

        Args:
            target: the document.
            change: makes the new text from the present one, and may be called again when others write meanwhile. None
                means no file: it is missing, or it is to be removed. If it raises, nothing is changed.
            note: the file name of a note beside the document, where that is meant.
            actor: who writes.
            reason: why what disappears goes, for the ledger.

        Raises:
            AccessDenied, LimitExceeded, SecretFound, RefusedText, LinkRefused: nothing was changed.
            StorageError: it cannot be read or written.
        """
        return self._write(actor, verbs.rewrite.rewrite, target, note, change, reason)

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
        if not (older_than is None or isinstance(older_than, timedelta)):
            raise InvalidArgument(f"older_than is a timedelta, such as timedelta(days=90), not {older_than!a}")
        return self._read(
            actor,
            verbs.prune.plan,
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
        again: Callable[[Pruning], None] | None = None,
    ) -> list[Removed]:
        """Take out what the plans say: exactly that, archived in the ledgers first.

        Without `force`, a document that would lose more than half of its entries is left alone: `Pruning.held` says
        so beforehand, `notices` afterwards. With `again`, a document that has changed since is planned again under its
        lock; `again` is given the new plan, and that is done.

        Raises:
            PlanOutdated: documents are no longer what their plans were made from; it says which, and what was done.
            AccessDenied: this actor may not write one of the documents; nothing was changed.
        """
        return self._write(actor, verbs.prune.apply, plans, force=force, progress=progress, again=again)

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
        check_several("entry_ids", entry_ids)
        return self._read(actor, verbs.restore.restorable, entry_ids, last=last, since=since)

    def restore(self, chosen: Sequence[Restorable], *, actor: Actor | None = None) -> Restored:
        """Put entries and notes back where they were, as near as can be told.

        The answer says why others could not go back: a document would pass its limit, or what is there forbids it.

        Raises:
            AccessDenied: this actor may not write one of the documents; nothing was changed.
        """
        return self._write(actor, verbs.restore.restore, chosen)

    def sync(
        self, *, actor: Actor | None = None, targets: Sequence[Target] | None = None, apply: bool = False
    ) -> list[Synced]:
        """Say what went missing by accident and goes back, and what was taken out by hand and is noted (decision 23).

        With `apply` it is done: for these documents, or for every one that this actor may write.
        """
        if apply:
            self.check_begun()
        with self._session(actor, for_writing=apply and is_there(str(self.path))) as session:
            return verbs.upkeep.sync(session, targets, apply=apply)

    def redact(self, entry_ids: Sequence[str], *, actor: Actor | None = None) -> list[Redacted]:
        """Take entries out of document, ledger and journal for good. Git history is beyond its reach.

        Raises:
            InvalidArgument: neither a document nor a ledger has such an entry; nothing was changed.
        """
        check_several("entry_ids", entry_ids)
        return self._write(actor, verbs.redact.redact, entry_ids)

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
        return self._read(actor, verbs.check.check, paths, select, ignore, today or date.today(), progress)

    def fix(self, found: Sequence[Finding], *, actor: Actor | None = None) -> list[Finding]:
        """Mend what can be mended without losing anything. Returns the findings that are mended."""
        if not any(one.fix for one in found):
            return []
        return self._write(actor, verbs.check.fix, found)

    def review(
        self,
        *,
        actor: Actor | None = None,
        today: date | None = None,
        on_problem: Callable[[Target, str], object] | None = None,
    ) -> list[Item]:
        """Return the upkeep list: what says the opposite or has another value, near-repeats to merge, what is old.

        With `on_problem`, a document that cannot be read is told there, and the others are looked at (decision 21).
        """
        documents, notes = self.documents(actor, on_problem=on_problem), self.notes(actor)
        return self._read(actor, verbs.review.review, documents, notes, today or date.today())

    def record_review(self, *, actor: Actor | None = None, today: date | None = None) -> None:
        """Record that the review was done, in a file that travels with the repository."""
        from .change import reviews

        with self._session(actor, for_writing=True) as session:
            session.check_write(Target(Tier.SHARED))
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
        """Write one fact as one file beside a tier file, and its index line. Returns the file.

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
        return self._write(
            actor, verbs.notes.new, target, note_type, slug, description=description, why=why, how=how, body=body
        )

    def note_folders(self, actor: Actor | None = None) -> list[Target]:
        """List the documents beside which notes lie."""
        return self._read(actor, verbs.index.folders)

    def notes(self, actor: Actor | None = None, targets: Sequence[Target] | None = None) -> list[NoteRow]:
        """List the notes beside these documents, or beside all that this actor may read."""
        return self._read(actor, verbs.notes.rows, targets)

    def show_note(self, name: str, *, target: Target | None = None, actor: Actor | None = None) -> tuple[str, str]:
        """Return a note's file name and text; it is named by file, stem, or what follows the type.

        Without a `target` it is looked for beside the actor's own document, then beside the shared one.

        Raises:
            InvalidArgument: there is no such note.
            AccessDenied: this actor may not read it.
        """
        with self._session(actor) as session:
            file, text = verbs.notes.show(session, target, name)
            if session.settings.count:
                from .recall import use

                use.count(session.root, use.OPENED, [use.name_of(target or Target(Tier.SHARED), file)])
            return file, text

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
        return self._write(actor, verbs.notes.take_out, target, name, reason, redact=redact)

    def merge_notes(
        self, names: Sequence[str], into: str, *, target: Target | None = None, actor: Actor | None = None
    ) -> str:
        """Add the facts of some notes to another and remove them. Returns the file that holds them all."""
        return self._write(actor, verbs.notes.merge, target, names, into)

    def index(
        self, targets: Sequence[Target] | None = None, *, actor: Actor | None = None, check: bool = False
    ) -> list[Indexed]:
        """Bring the indexes up to date (decision 29), or with `check` only say what differs.

        No note is ever removed, and no line that a person wrote is ever changed.
        """
        with self._session(actor, for_writing=not check and is_there(str(self.path))) as session:
            return verbs.index.reindex(session, targets, check=check)

    def index_known(
        self, target: Target, known: KnownNotes, touched: Collection[str] | None = None, *, anyway: bool = False
    ) -> Indexed | None:
        """Bring one index up to date as a watcher does, which knows the notes and is told which were touched.

        Args:
            target: the document that holds the index.
            known: what was read of its notes; it is brought up to date too.
            touched: the known notes that may have changed; None if any may have, or come, or gone.
            anyway: whether the document itself may have changed, too.

        Returns:
            What the index is now; None if nothing that it is made from has changed, and for a conversation.
        """
        return self._write(None, verbs.index.reindex_known, target, known, touched, anyway=anyway)

    # -- what was learned elsewhere ------------------------------------------------------------------------------------

    def plan_adoption(self, paths: Sequence[str], *, actor: Actor | None = None) -> list[Adoption]:
        """Say what would become of memory that other tools keep at these paths. Changes nothing, here or there.

        Raises:
            InvalidArgument: a path holds no memory that is known here.
        """
        return self._read(actor, verbs.adopt.plan_adoption, paths)

    def apply_adoption(self, planned: Sequence[Adoption], *, actor: Actor | None = None) -> list[Adoption]:
        """Bring in what was planned; the answer says what was done, and why the rest was left out.

        Raises:
            StorageError: the project cannot be opened.
        """
        return self._write(actor, verbs.adopt.apply_adoption, planned)

    def link_originals(self, adopted: Sequence[Adoption], *, actor: Actor | None = None) -> list[str]:
        """Leave one line in each rules file of this project that came in whole; the ledger keeps its text.

        Returns the files, relative to the root. `restore` brings them back.

        Raises:
            AccessDenied: this actor may not write shared memory.
        """
        with self._session(actor, for_writing=True) as session:
            session.check_write(Target(Tier.SHARED))
            return verbs.originals.move(session, adopted)

    def originals(self, adopted: Sequence[Adoption], *, actor: Actor | None = None) -> list[str]:
        """Name the rules files of this project that came in whole: their hosts are told twice."""
        with self._session(actor) as session:
            return [path for _, path in verbs.originals.of(session, adopted)]

    def plan_distillation(self, *, operator: Operator | None = None, actor: Actor | None = None) -> Distillation:
        """Say which insights of conversations deserve a longer life, and what has outlived itself. Changes nothing.

        `operator` is asked which wordings say the same, after the rules of this package; see `consolidation`.
        """
        return self._read(actor, verbs.distill.plan, operator=operator)

    def plan_learning(
        self,
        conversation: str,
        *,
        agent: str | None = None,
        operator: Operator | None = None,
        actor: Actor | None = None,
    ) -> Distillation:
        """Say what one conversation has taught. Changes nothing.

        Args:
            conversation: its id.
            agent: who is to learn what no other conversation confirms; by default the acting agent, else the agent
                whose memory is most about it.
            operator: is asked which wordings say the same.
            actor: who asks.

        Raises:
            InvalidName: the id or the name breaks the name rule.
        """
        return self._read(actor, verbs.distill.plan, Actor(agent, conversation), operator)

    def apply_distillation(
        self,
        planned: Distillation,
        *,
        only: Sequence[str] = (),
        without: Sequence[str] = (),
        actor: Actor | None = None,
        today: date | None = None,
    ) -> Distilled:
        """Make changes of a plan; the answer names the backup that `restore_distillation` goes back to.

        Args:
            planned: the plan.
            only: the ids of the changes to make; by default all that are safe: nothing leaves but exact repeats.
            without: the ids of changes to leave open.
            actor: who makes them.
            today: the day they are made; the clock's where it is left out.

        Raises:
            InvalidArgument: an id names none of the changes, or several.
            StorageError: the project cannot be written.
        """
        choice = verbs.proposals.Choice(tuple(only), tuple(without))
        return self._write(actor, verbs.distill.apply, planned, choice, today or date.today())

    def plan_closing(
        self, conversation: str, *, operator: Operator | None = None, actor: Actor | None = None
    ) -> Closing:
        """Say what closing a conversation would keep, and what would go to its ledger. Changes nothing.

        Raises:
            InvalidArgument: no conversation has this id.
        """
        return self._read(actor, verbs.close.plan, conversation, operator)

    def close(
        self,
        planned: Closing,
        *,
        only: Sequence[str] = (),
        without: Sequence[str] = (),
        actor: Actor | None = None,
        today: date | None = None,
    ) -> Closed:
        """End a conversation: keep what is chosen of the plan, as `apply_distillation` does, and archive the rest.

        Raises:
            InvalidArgument: an id names none of the proposals, or several.
            Refused: an entry holds a secret; nothing was changed.
        """
        choice = verbs.proposals.Choice(tuple(only), tuple(without))
        return self._write(actor, verbs.close.apply, planned, choice, today or date.today())

    def plan_renaming(self, old: str, new: str, *, actor: Actor | None = None) -> Renaming:
        """Say what would move if an agent had another name. Changes nothing.

        Raises:
            InvalidArgument: there is no such agent, or both names are one.
            InvalidName: the new name breaks the name rule.
            Refused: the new name has a memory of its own.
        """
        return self._read(actor, verbs.agents.plan, old, new)

    def rename_agent(self, planned: Renaming, *, actor: Actor | None = None) -> None:
        """Give an agent another name: folder, title, ledger and notes in one step. What was archived can come back.

        Raises:
            AccessDenied: the actor may not write both documents; nothing was changed.
        """
        self._write(actor, verbs.agents.rename, planned)

    def compact_ledgers(
        self, targets: Sequence[Target] | None = None, *, apply: bool = False, actor: Actor | None = None
    ) -> list[tuple[Target, Compaction]]:
        """Say, and with `apply` do, how much smaller each ledger is without lines that nobody needs.

        Raises:
            InvalidArgument: no such document is there.
            AccessDenied: with `apply`, the actor may not write one of the documents; nothing was changed.
        """
        with self._session(actor, for_writing=apply) as session:
            return verbs.upkeep.compact_ledgers(session, targets, apply=apply)

    def refuse(
        self, verb: str, proposals: Sequence[Proposal], ids: Sequence[str], *, actor: Actor | None = None
    ) -> list[str]:
        """Keep these proposals of a verb from being made again; return their whole ids.

        Raises:
            InvalidArgument: an id names none of the proposals, or several.
        """
        return self._write(actor, verbs.proposals.refuse, verb, proposals, ids)

    def forget_refusals(self, verb: str, ids: Sequence[str] = (), *, actor: Actor | None = None) -> int:
        """Let a verb propose again what was refused, all or these whole ids; return how many proposals that are."""
        check_several("ids", ids)
        return self._write(actor, verbs.proposals.forget_refusals, verb, ids)

    def restore_distillation(
        self, backup: str | None = None, *, actor: Actor | None = None
    ) -> tuple[str, list[Target]]:
        """Give the documents the text they had before a distillation: the one named, else the last.

        Raises:
            InvalidArgument: there is no such backup; the message names those there are.
            DamagedFile: the backup is not as it was written; nothing was changed.
        """
        return self._write(actor, verbs.distill.restore, backup)

    def find_stores(self) -> list[MemoryFolder]:
        """List where else memory of this project lies: in other tools' folders, other checkouts, the home folder."""
        from .learning.scattered import find_places

        return find_places(str(self.path), self._environ.get("HOME") or None)

    # -- git -----------------------------------------------------------------------------------------------------------

    def set_git_tracking(self, wish: str) -> list[str]:
        """Let git track the memory (`track`) or not (`ignore`); say what was done, and what else has to be."""
        from .git import ignore

        with self._session(for_writing=True) as session:
            return ignore.set_tracking(session.root, wish)

    def plan_git_attributes(
        self, *, add: Sequence[str] = (), drop: Sequence[str] = ()
    ) -> tuple[bytes | None, bytes] | None:
        """Return what `.scaffolding/.gitattributes` holds, and what `set_git_attributes` would make of it.

        None if nothing would change.
        """
        from .git import ignore

        with self._session() as session:
            return ignore.plan_attributes(session.root, add=add, drop=drop)

    def set_git_attributes(self, *, add: Sequence[str] = (), drop: Sequence[str] = ()) -> bool:
        """Add lines to `.scaffolding/.gitattributes` or take them out; say whether anything changed.

        Raises:
            StorageError: it cannot be written.
        """
        from .git import ignore

        with self._session(for_writing=True) as session:
            return ignore.set_attributes(session.root, add=add, drop=drop)

    def git_notes(self) -> list[str]:
        """Say when git ignores the memory: it is then in this checkout alone, and reviewed by nobody."""
        from .git import ignore

        return ignore.notes(self.path)

    # -- steps ---------------------------------------------------------------------------------------------------------

    def _write(
        self, actor: Actor | None, do: Verb[Given, Answered], *given: Given.args, **named: Given.kwargs
    ) -> Answered:
        """Do what a verb does in a session of an actor, who may change something."""
        with self._session(actor, for_writing=True) as session:
            return do(session, *given, **named)

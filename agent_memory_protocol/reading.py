"""What one project's Markdown memory says, behind one class that only reads.

`Workspace` adds what writes. This module holds no rule, only the order of steps; what a verb does is in its module,
such as `verbs.show`, which is loaded when it is asked for.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import date
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from . import verbs
from .answers import Shown, Status, Where
from .change.opening import open_session
from .change.session import Session
from .errors import InvalidArgument, Refused
from .layout import Target, Tier
from .project.access import Actor, acting, document_meant
from .project.root import OF_ENVIRONMENT, FoundRoot, find_root, why_not_begun
from .project.settings import Settings
from .recall.agent import recall_here
from .recall.block import Budget, Recall
from .tiers.document import Document

if TYPE_CHECKING:
    from typing import Concatenate, ParamSpec, Self, TypeAlias, TypeVar

    from .answers import Found, StoredEntry, StoredFile
    from .recall.block import RecordSource
    from .search.port import Embedder, SearchIndex
    from .verbs.diff import Diff
    from .verbs.doctor import Diagnosis
    from .verbs.life import Life

    Given = ParamSpec("Given")
    Answered = TypeVar("Answered")
    Verb: TypeAlias = Callable[Concatenate[Session, Given], Answered]


class Reader:
    """The memory of one project, for reading. It creates nothing.

    Attributes:
        how: how the root was found, in words.
        problem: why it may not be the root that was meant; "" if nothing speaks against it.
        begins: whether a write may begin a memory at a root that was named outright; false where one types names, as
            in AMP_ROOT.
        notices: what writers should be told beside the answers: that entries which another program had overwritten
            are back, or that some had been taken out by hand.
    """

    def __init__(self, found: FoundRoot, environ: Mapping[str, str]) -> None:
        self.path = Path(found.path)
        self.how = found.how
        self.problem = found.problem
        self.begins = found.how != OF_ENVIRONMENT
        self._untold = found.problem
        self._not_begun = partial(why_not_begun, found)
        self._environ = environ
        self.notices: list[str] = []

    @classmethod
    def open(cls, root: str | os.PathLike[str] | None = None, *, environ: Mapping[str, str] | None = None) -> Self:
        """Find the project root, from the current folder or as `root` says (decision 1). Creates nothing.

        Raises:
            StorageError: no root can be used; the message says what to do.
        """
        environ = os.environ if environ is None else environ
        return cls(find_root(explicit=root, environ=environ), environ)

    @property
    def settings(self) -> Settings:
        """The settings as they are on disk now."""
        with self._session() as session:
            return session.settings

    def recall(
        self,
        actor: Actor,
        *,
        max_lines: int | None = None,
        max_chars: int | None = None,
        max_bytes: int | None = None,
        max_tokens: int | None = None,
        task: str | None = None,
        today: date | None = None,
        records: RecordSource | None = None,
        shown_by: str = "",
        counts: bool = True,
    ) -> Recall:
        """Return what this actor may know when a task starts; see `recall_for_agent`.

        `records` finds those of another store than the project's. `shown_by` is the command, or the tool, that shows
        the caller what is left out; by default the one of the command line. `counts` says whether an agent is given
        it: then it counts as use, where the settings ask for that.
        """
        budget = Budget(
            max_lines=max_lines, max_chars=max_chars, max_bytes=max_bytes, max_tokens=max_tokens, shown_by=shown_by
        )
        where = str(self.path)
        recalled = recall_here(
            acting(actor),
            budget,
            root=where,
            task=task,
            today=today,
            records=records,
            environ=self._environ,
            counts=counts,
        )
        if self.problem:
            recalled.warnings.append(self.problem)
        return recalled

    def target(
        self, actor: Actor, *, tier: Tier | None = None, agent: str | None = None, conversation: str | None = None
    ) -> Target:
        """Say which document is meant. Without a tier: the agent's where one is named or acts, else the shared one.

        Raises:
            InvalidArgument: there is no such tier, or it needs a name that nobody gave.
            InvalidName: a name breaks the name rule.
        """
        return document_meant(actor, tier, agent, conversation)

    def targets(self, actor: Actor | None = None) -> list[Target]:
        """List the documents that exist and that this actor may read."""
        with self._session(actor) as session:
            return session.readable()

    def conversations_over(self, actor: Actor | None = None, *, today: date | None = None) -> list[str]:
        """Return the conversations that have shown no sign of life in the last 30 days (decision 51)."""
        day = today or date.today()
        return self._read(actor, verbs.conversations.over, day)

    def refused_proposals(self, actor: Actor | None = None) -> set[str]:
        """Return the ids of the proposals that somebody has refused."""
        return self._read(actor, verbs.proposals.refused)

    def show(self, target: Target, actor: Actor | None = None, *, section: str | None = None) -> Shown | None:
        """Return a document, or one section of it, as it is on disk now; None without one.

        Raises:
            AccessDenied: this actor may not read it.
            DamagedFile: it cannot be read.
            InvalidArgument: it has no such section.
        """
        return self._read(actor, verbs.show.show, target, section)

    def entries(
        self,
        actor: Actor | None = None,
        targets: Sequence[Target] | None = None,
        *,
        on_problem: Callable[[Target, str], object] | None = None,
    ) -> list[StoredEntry]:
        """List every entry of these documents, or of all that this actor may read.

        Each says what its document's ledger keeps of it: kind, source, confidence and tags. With `on_problem`, a
        document or ledger that cannot be read is told there, and the others are listed (decision 21).
        """
        return self._read(actor, verbs.show.entries, targets, on_problem)

    def entry(self, entry_id: str, actor: Actor | None = None) -> StoredEntry:
        """Return one entry, by its id or the beginning of it, with what its document's ledger keeps of it.

        Raises:
            InvalidArgument: this actor may read no such entry, or several begin so.
            StorageError: a document that may have it cannot be read.
        """
        check_text("the id", entry_id)
        return self._read(actor, verbs.show.entry, entry_id)

    def life(self, entry_id: str, actor: Actor | None = None) -> Life:
        """Return what happened to one entry, in a document or gone from it, by its id or the beginning of it.

        Raises:
            InvalidArgument: this actor may read no such entry, or several begin so.
            StorageError: a document or ledger that may have it cannot be read.
        """
        check_text("the id", entry_id)
        return self._read(actor, verbs.life.life, entry_id)

    def why_refused(self, text: str, standing: str = "") -> str:
        """Say why no memory may take in a text of anyone's; "" if it may. Lines in `standing` are there already."""
        with self._session() as session:
            return session.why_refused(text, standing=standing)

    def why_read_only(self, actor: Actor) -> str | None:
        """Return why this actor's agent is read-only, as the end of a sentence; None if it may write."""
        with self._session(actor) as session:
            return session.read_only_reason()

    def files(self, actor: Actor | None = None) -> list[StoredFile]:
        """List the documents, and the notes beside them, that this actor may read. Links are left out."""
        return self._read(actor, verbs.rewrite.files)

    def read_file(self, target: Target, *, note: str = "", actor: Actor | None = None) -> str | None:
        """Return a document, or the note of that file name beside it, as it is on disk; None without one.

        Raises:
            AccessDenied: this actor may not read it.
            DamagedFile: it cannot be read.
            LinkRefused: a link leads to it.
        """
        return self._read(actor, verbs.rewrite.read, target, note)

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
        return self._read(actor, verbs.show.documents, targets, on_problem)

    def search(
        self,
        query: str,
        actor: Actor | None = None,
        *,
        limit: int = 10,
        targets: Sequence[Target] | None = None,
        tier: Tier | None = None,
        agent: str | None = None,
        conversation: str | None = None,
        since: date | None = None,
        context: int = 0,
        index: SearchIndex | None = None,
        embedder: Embedder | None = None,
        today: date | None = None,
        on_problem: Callable[[str], object] | None = None,
        counts: bool = True,
    ) -> list[Found]:
        """Find entries and notes by their words, best first, as they are on disk now.

        Any text is a query. Code words are found whole and by their parts, and one wrong letter does not matter.

        Args:
            query: what to look for.
            actor: who asks; only what they may read is found.
            limit: how many at most.
            targets: the only documents, with the notes beside them, to look in.
            tier: look only in documents of this tier, and the notes beside them.
            agent: look only in what this agent has.
            conversation: look only in what this conversation has.
            since: find only what is from this day or a later one; lasting entries have no day.
            context: how many lines to give on both sides of the one that matched.
            index: where the words are kept; by default a file in `.scaffolding/.amp/`, made again whenever it is gone.
            embedder: finds by similar meaning too, in the default index.
            today: decides which entries have expired, and what `last March` is; the clock's where it is left out.
            on_problem: is told of each file that could not be read.
            counts: whether it counts as use, where the settings ask for that; a search for each letter typed does not.

        Raises:
            AccessDenied: this actor may not read what the agent or the conversation has.
            InvalidArgument: the agent or conversation that is named has no such tier.
        """
        check_text("the query", query)
        with self._session(actor) as session:
            found = verbs.search.search(
                session,
                query,
                index,
                embedder=embedder,
                limit=limit,
                where=verbs.search.Within(targets, tier, agent, conversation),
                since=since,
                context=context,
                today=today or date.today(),
                on_problem=on_problem,
            )
            if counts and session.settings.count:
                from .recall import use

                use.count(session.root, use.SEARCHED, (use.name_of(one.target, one.id) for one in found))
            return found

    def search_archived(
        self,
        query: str,
        actor: Actor | None = None,
        *,
        limit: int = 10,
        targets: Sequence[Target] | None = None,
        tier: Tier | None = None,
        agent: str | None = None,
        conversation: str | None = None,
        since: date | None = None,
        on_problem: Callable[[str], object] | None = None,
    ) -> list[Found]:
        """Find what has left the documents that this actor may read, best first; `restore` brings it back.

        `targets`, `tier`, `agent` and `conversation` say where it was, as for `search`. With `since`, only what has
        left on that day (UTC) or later is found.
        """
        with self._session(actor) as session:
            where = verbs.search.Within(targets, tier, agent, conversation)
            return verbs.search.search_archived(
                session, query, limit=limit, where=where, since=since, on_problem=on_problem
            )

    def diff(self, base: str = "HEAD", head: str = "", *, actor: Actor | None = None) -> Diff:
        """Say what changed in memory between two commits, or since one where `head` is left out.

        Raises:
            InvalidArgument: the project is in no git repository, or git knows no such commit.
        """
        return self._read(actor, verbs.diff.diff, base, head)

    def status(self, actor: Actor | None = None, targets: Sequence[Target] | None = None) -> list[Status]:
        """Return the figures of these documents, or of all that this actor may read. One unreadable says why."""
        return self._read(actor, verbs.show.status, targets)

    def usage(self, actor: Actor | None = None) -> list[tuple[Target, str, str, dict[str, int | str]]]:
        """Return what was counted here of the entries and notes that this actor may read, least used first.

        A row has the document, the id or the note's file, the entry's text and what was counted (`recall.count`):
        `injected`, `searched`, `opened` and `last`, the day. What never happened has no key.
        """
        from .recall import use

        texts = {use.name_of(one.target, one.id): one.text for one in self.entries(actor)}
        with self._session(actor) as session:
            counts = use.read(session.root)
            there = {str(target): target for target in session.readable()}
        notes = [name for name in counts if name.endswith(".md") and name.partition(" ")[0] in there]
        names = [name.partition(" ")[::2] for name in (*texts, *notes)]
        rows = [
            (there[target], one, texts.get(f"{target} {one}", ""), counts.get(f"{target} {one}", {}))
            for target, one in names
            if target in there
        ]
        return sorted(rows, key=lambda row: sum(number for number in row[3].values() if isinstance(number, int)))

    def left_out(
        self,
        target: Target,
        actor: Actor | None = None,
        *,
        agent: str | None = None,
        max_lines: int | None = None,
        max_chars: int | None = None,
        max_tokens: int | None = None,
        today: date | None = None,
    ) -> list[tuple[int, str]] | None:
        """Return the numbered lines that recall leaves out of a document under these bounds; None without one.

        The headings and the label that govern a line come before it.

        Args:
            target: the document.
            actor: who asks; access is theirs.
            agent: for whom recall is made, where that matters for the bounds of the whole block.
            max_lines: the bound on lines of one document, as `recall` takes it.
            max_chars: the bound on characters of the block.
            max_tokens: the bound on tokens of the block.
            today: the day it is recalled for; the clock's where it is left out.
        """
        with self._session(actor) as session:
            budget = Budget(max_lines=max_lines, max_chars=max_chars, max_tokens=max_tokens)
            return verbs.show.left_out(session, target, agent, budget, today)

    def where(self) -> Where:
        """Say which paths and settings are in use."""
        return self._read(None, verbs.show.where, self.problem)

    def diagnose(self, actor: Actor) -> list[Diagnosis]:
        """Say what keeps an actor's memory away, or that nothing does."""
        return self._read(actor, verbs.doctor.diagnose, self.problem)

    def check_write(self, actor: Actor, target: Target) -> None:
        """Refuse what this actor may not write, before anything is done (decision 9).

        Raises:
            AccessDenied, Disabled, InvalidName: the message says which rule forbids it.
        """
        with self._session(actor, for_writing=True) as session:
            session.check_write(target)

    def check_begun(self) -> None:
        """Refuse to write at a root that may be a mistyped name, unless this may begin a memory.

        Raises:
            Refused: the message names the command that begins one there.
        """
        problem = "" if self.begins else self._not_begun()
        if problem:
            raise Refused(problem)

    # -- steps ---------------------------------------------------------------------------------------------------------

    def _read(
        self, actor: Actor | None, do: Verb[Given, Answered], *given: Given.args, **named: Given.kwargs
    ) -> Answered:
        """Do what a verb does in a session of an actor, who changes nothing."""
        with self._session(actor) as session:
            return do(session, *given, **named)

    @contextmanager
    def _session(self, actor: Actor | None = None, *, for_writing: bool = False) -> Iterator[Session]:
        if for_writing:
            self.check_begun()
        with open_session(str(self.path), self._environ, acting(actor), for_writing=for_writing) as session:
            if for_writing and self._untold:
                session.notices.append(self._untold)
                self._untold = ""
            yield session
            self.notices += session.notices


def check_several(what: str, given: Sequence[str]) -> None:
    """Refuse one text where a list is meant: each of its letters would be taken for a name (a str is a sequence)."""
    if isinstance(given, str):
        raise InvalidArgument(f"{what} is a list of texts, not one text; write [{given!a}]")


def check_text(what: str, given: object) -> None:
    """Refuse what is not text, such as the None of a call that had no answer."""
    if not isinstance(given, str):
        raise InvalidArgument(f"{what} must be text, not {type(given).__name__}")

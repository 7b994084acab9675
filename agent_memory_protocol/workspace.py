"""One project's memory: the only way in for whoever writes its Markdown.

Every surface (command line, library, hooks, servers) goes through `Workspace`, so access, limits and locking hold for
all of them alike. This module holds no rule, only the order of steps: who may, lock, read, change, check, write.
"""

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import date
from pathlib import Path

from . import agents, config, limits
from .access import Actor, check_read, check_write
from .diagnosis import Diagnosis
from .errors import (
    AgentMemoryError,
    DamagedFile,
    Disabled,
    InvalidArgument,
    LimitExceeded,
    StorageError,
)
from .files import Content, Root, TooLarge
from .layout import OWNER_FOLDERS, Target, Tier, check_conversation_id, check_owner, name_key
from .recall import Budget, Recall, recall_here
from .settings import PROJECT_FILE, Settings, personal_file
from .tiers import compose, document, store
from .tiers.document import Document
from .tiers.entries import Entry

_LARGEST_WRITABLE = 4 << 20
_TRIES = 20


@dataclass(frozen=True, slots=True)
class Headroom:
    """How much more a document holds: lines and bytes left, and the limits they are left of."""

    lines: int
    bytes: int
    max_lines: int
    max_bytes: int

    @property
    def is_near(self) -> bool:
        """Whether 90 % of a limit are used (decision 13)."""
        return (
            self.lines <= self.max_lines * (1 - limits.NEAR) or self.bytes <= self.max_bytes * (1 - limits.NEAR)
        )


@dataclass(frozen=True, slots=True)
class StoredEntry:
    """An entry as it stands in its document.

    Attributes:
        id: 12 hex digits, the same wherever the entry stands and whatever date it has.
        target: the document.
        text: its Markdown, lines joined with newlines.
        section: the heading it stands under.
        date: the day it is dated with, its own or a heading's; None for a lasting entry.
        line, last_line: where it stands, counted from 1.
    """

    id: str
    target: Target
    text: str
    section: str
    date: date | None
    date_source: str
    line: int
    last_line: int


@dataclass(frozen=True, slots=True)
class Remembered:
    """What `remember` did.

    Attributes:
        status: `added`, `kept` (the entry was there already, nothing changed) or `redated`.
        entry: the entry as it stands now.
        path: the document's file.
        line: where the entry begins in it, counted from 1.
        headroom: what is left in the document.
        notes: what the writer should know: a section that was created, one of two with the same name.
    """

    status: str
    entry: StoredEntry
    path: Path
    line: int
    headroom: Headroom
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Created:
    """A tier document that `init` made, or found there already."""

    target: Target
    path: Path
    created: bool


@dataclass(frozen=True, slots=True)
class Status:
    """One document at a glance. Where it cannot be read, `problem` says why and the figures are 0."""

    target: Target
    path: Path
    lines: int = 0
    bytes: int = 0
    tokens: int = 0
    share: float = 0.0
    """The larger of lines and bytes, as a share of its limit; 1.0 is full."""
    entries: int = 0
    dated: int = 0
    oldest: date | None = None
    newest: date | None = None
    indexed: int = 0
    """How many notes have an index line in it."""
    problem: str = ""


@dataclass(frozen=True, slots=True)
class Shown:
    """A document as it is on disk now, its lines numbered from 1."""

    target: Target
    path: Path
    lines: list[tuple[int, str]] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Where:
    """Each path in use and whether it exists, and the settings: those set somewhere, and all with their origin."""

    paths: list[tuple[str, bool]]
    settings: list[tuple[str, object, str]]
    all_settings: list[tuple[str, object, str]]
    problems: list[str]


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
    def open(cls, root: "str | os.PathLike[str] | None" = None, *, environ: Mapping[str, str] | None = None) -> "Workspace":
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
                read = self._read(root, store.locate(root, target))
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
            day = (today or date.today()) if dated is True else dated or None
            new = compose.compose(
                text, day=None if dated is True else day and day.toordinal(), max_bytes=settings.max_bytes
            )
            if new.day is None and day is not None:
                new = compose.compose(text, day=day.toordinal(), max_bytes=settings.max_bytes)
            target = store.locate(root, target)

            def change(current: Document) -> tuple[Document, str, tuple[str, ...], str]:
                entry_id = document.id_of_new(new, target)
                there = current.entry(entry_id)
                if there is None:
                    added = document.add(current, new, section)
                    position = added.document.outline.entries.index(added.entry)
                    return added.document, "added", added.notes, added.document.ids[position]
                if new.day is not None and there.mark is not None and there.mark.day < new.day:
                    return document.redate(current, there, new.day), "redated", (), entry_id
                return current, "kept", (), entry_id

            result, status, notes, entry_id = self._change(root, settings, target, change)
            entry = next(entry for entry in _stored_entries(result) if entry.id == entry_id)
            return Remembered(status, entry, self._path(target), entry.line, _headroom(result, settings), notes)

    def set_git_tracking(self, wish: str) -> list[str]:
        """Let git track the memory (`track`) or not (`ignore`), by one line of the root's `.gitignore`."""
        from . import git_ignore

        with self._opened(for_writing=True) as (root, _):
            changed = git_ignore.track(root) if wish == "track" else git_ignore.ignore(root)
        line = f"`{git_ignore.LINE}` {'taken out of' if wish == 'track' else 'added to'} .gitignore"
        notes = [line] if changed else []
        if wish == "track" and git_ignore.is_ignored(self.path):
            notes.append("git still ignores the memory; `git check-ignore -v .scaffolding/agent-memory` says by which line")
        return notes

    def git_notes(self) -> list[str]:
        """Say when git ignores the memory: it is then in this checkout alone, and reviewed by nobody."""
        from . import git_ignore

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

    def _change(
        self,
        root: Root,
        settings: Settings,
        target: Target,
        change: Callable[[Document], tuple[Document, str, tuple[str, ...], str]],
    ) -> tuple[Document, str, tuple[str, ...], str]:
        """Change one document under its lock: read, change, check, write; again if someone else was quicker."""
        from .lock import hold
        from .writing import ChangedMeanwhile, make_folders, replace

        with hold(root, lock_name(target)):
            for attempt in range(_TRIES):
                root.forget()
                read = self._read(root, target)
                if read is None:
                    current = document.parse(self._header(root, settings, target).encode(), target)
                else:
                    current = read[0]
                    document.check_writable(current)
                    if not any(line.strip() for line in current.lines):
                        header = self._header(root, settings, target).encode()
                        current = document.parse(current.bom + header, target)
                changed = change(current)
                new = changed[0]
                if new is current:
                    return changed
                _check_limits(current, new, settings)
                try:
                    if read is not None:
                        replace(root, target.parts, new.data, expected=read[1])
                        return changed
                    make_folders(root, target.parts[:-1])
                    if self._create(root, target, new.data.decode()):
                        return changed
                except ChangedMeanwhile:
                    if attempt == _TRIES - 1:
                        raise
        raise StorageError(f"{target.path}: something else writes this file all the time; nothing was changed")

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

    def _read(self, root: Root, target: Target) -> tuple[Document, Content] | None:
        try:
            content = root.read(target.parts, limit=_LARGEST_WRITABLE)
        except TooLarge as error:
            raise DamagedFile("is too large to be a page of memory; split it up by hand", path=target.path) from error
        return None if content is None else (document.parse(content.data, target), content)

    def _readable(self, root: Root, settings: Settings, actor: Actor) -> list[Target]:
        from .access import why_not_read

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


def lock_name(target: Target) -> str:
    """Return the name of the lock, and of the journal, that a document has."""
    if not target.owner:
        return target.tier.value
    from hashlib import blake2b

    # A name may be longer, in bytes, than a file name; its digest never is.
    key = name_key(target.owner)
    return f"{target.tier}-{key if len(key.encode()) <= 100 else blake2b(key.encode(), digest_size=16).hexdigest()}"


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

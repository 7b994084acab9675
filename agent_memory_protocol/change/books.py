"""The books of a document: its journal and its ledger on disk.

Anyone who uses them holds the document's lock. `journal` and `ledger` say what the lines mean; here they are read and
written, through `files` and `writing`.
"""

import os
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace as replace_fields
from datetime import UTC, datetime
from functools import partial

from ..answers import About
from ..disk.files import Content, Root
from ..disk.writing import LOCAL, append, create, cut, make_local_folder, remove, replace
from ..errors import InvalidArgument, InvalidName, StorageError
from ..formats.jsonl import EntryLine, HeaderLine, Line, Tombstone, encode, parse_file
from ..formats.jsonl_view import Contents
from ..git import ignore
from ..git.moves import moved_entries
from ..layout import Target, name_key, parse_target
from ..project import local_state
from ..project.local_state import LocalState
from ..text.digest import blake2b
from ..text.moments import new_stamp
from ..tiers import document as documents
from ..tiers import frame
from ..tiers.document import Document, plain_id
from ..tiers.remove import leaving, regrouped
from ..tiers.taken import Taken, sayings, take, title_of, with_title
from . import compaction, healing, journal, ledger
from .compaction import Compaction
from .healing import RACE_SECONDS, Healing
from .journal import Add
from .ledger import Archived

JOURNALS = "journal"

_END = 4096


def lock_name(target: Target) -> str:
    """Return the name of the lock, and of the journal, that a document has."""
    if not target.owner:
        return target.tier.value
    # A name may be longer, in bytes, than a file name; its digest never is.
    key = name_key(target.owner)
    name = key.encode("utf-8", "surrogateescape")
    return f"{target.tier}-{key if len(name) <= 100 else blake2b(name, digest_size=16).hexdigest()}"


def only_in_journals(
    root: Root, found: Collection[Target], failed: Callable[[StorageError], object] = lambda _: None
) -> list[Target]:
    """List the documents that a journal knows and that are not among those found: git may clean them away.

    `failed` is told why a journal cannot be read.
    """
    known = {f"{lock_name(target)}.jsonl" for target in found}
    targets: list[Target] = []
    try:
        left = [name for name in root.list_files((*LOCAL, JOURNALS)) if name not in known]
    except StorageError as error:
        failed(error)
        return targets
    for name in left:
        try:
            content = root.read((*LOCAL, JOURNALS, name))
            lines = [] if content is None else journal.decode(local_state.find(root).own(content.data))
        except StorageError as error:
            failed(error)
            continue
        last = next((line.of for line in reversed(lines) if isinstance(line, journal.Version) and line.of), "")
        with suppress(InvalidArgument, InvalidName):
            targets += [parse_target(last)] if last else []
    return targets


def _is_of(text: str, plain: Collection[str]) -> bool:
    line = next(iter(parse_file([text.encode()])), None)
    note = (getattr(line, "extra", None) or {}).get("note")
    return note in plain or plain_id(getattr(line, "id", "")) in plain


class Books:
    """The journal and the ledger of one document, at one moment."""

    def __init__(self, root: Root, target: Target, name: str, now: datetime, command: str = "") -> None:
        self._root = root
        self._target = target
        self._owner = ledger.owner_of(target)
        self._parts = (*LOCAL, JOURNALS, f"{name}.jsonl")
        self._now = now.astimezone(UTC)
        self._journal: Content | None = None
        self._local = LocalState()
        self._known = b""
        self._lines: list[journal.Line] = []
        self._healing = Healing()
        self._ledger_size = 0
        self._has_header = False
        self._added_to_ledger = b""
        self._reframed: Document | None = None
        self.run = os.urandom(6).hex()
        """The id of this write in the journal."""
        self.command = command or self.run
        """The id, in the ledger, of the command that it is a part of."""

    # -- the journal ---------------------------------------------------------------------------------------------------

    def plan_healing(self, current: Document, changed_at: float | None) -> Healing:
        """Say what must go back into the document as it is, and what was taken out by hand.

        `changed_at` is when its file was last changed, in seconds since the epoch; None if there is no file,
        or nothing in it.
        """
        self._journal = self._root.read(self._parts)
        self._local = LocalState() if self._journal is None else local_state.find(self._root)
        self._known = self._local.own(self._journal.data) if self._journal else b""
        self._lines = []
        self._added_to_ledger = b""
        if not self._known:
            self._healing = Healing()
        elif journal.last_write_is(self._known, journal.fingerprint(current.data), self._ledger_mark()):
            self._healing = Healing(is_known=True)
        else:
            self._lines = journal.decode(self._known)
            plan = healing.plan_healing(self._lines, current, changed_at, partial(self._settled, current))
            self._healing = self._with_owed(plan, current)
        return self._healing

    def _with_owed(self, plan: Healing, current: Document) -> Healing:
        """Add to the plan the lines that the ledger lost, of entries that are gone and that no branch has."""
        lines = [(text, line) for text in journal.owed(self._lines) for line in parse_file([text.encode()])]
        coming = (*current.ids, *(one.id for one in plan.removed), *(add.taken.id for add in plan.put_back))
        left = {line.id for _, line in lines if isinstance(line, Tombstone)}.difference(coming)
        contents, known = self._ledger() if left else (None, [])
        missing = left.difference(contents.deleted, ledger.redacted(known)) if contents else set()
        if not missing:
            return plan
        since = journal.last_known(self._lines)
        settled = moved_entries(self._root.path, self._target, missing, since, ledger=True).left
        said = {line.id: line for _, line in lines if isinstance(line, EntryLine)}
        stones = [
            line for _, line in lines if isinstance(line, Tombstone) and line.id in said.keys() & missing - settled
        ]
        # What was said of an entry later, while it was there, does not undo its removal.
        pairs = ((said[stone.id]._replace(created_at=stone.created_at), stone) for stone in stones)
        owed = b"".join(encode(line, allow=None) for pair in pairs for line in pair)
        return replace_fields(plan, owed=owed.decode(), unowed=settled)

    def _settled(self, current: Document, missing: Sequence[Taken], since: float, is_back: bool) -> set[str]:
        """Return the missing entries that a branch or the ledger still has, since git or an undo removed them."""
        moved = moved_entries(self._root.path, self._target, {one.id for one in missing}, since)
        dropped = [one for one in missing if is_back or one.id in moved.dropped]
        texts = {one.taken.id: one.taken.markdown for one in self.archived(current)} if dropped else {}
        return {*moved.left, *(one.id for one in dropped if texts.get(one.id) == one.markdown)}

    def begin(self, current: Document, new: Document, *, archived: Collection[str] = ()) -> None:
        """Note what is about to be written, so that it is finished should this process end half way.

        `archived` are the ids of overwritten entries that are in the ledger now, instead of in the document.
        """
        now = self._now.timestamp()
        again = {add.taken.id for add in self._healing.put_back}
        then = set(new.ids)
        # Prose that is only in other pieces now was told long ago: no race can have cost it.
        loose = regrouped(current, new)
        adds = tuple(Add(take(new, one), 0) for one in new.ids if one in loose)
        adds += tuple(Add(taken, now, again=taken.id in again) for _, taken in leaving(new, current))
        gone = (*(one for one in current.ids if one not in then), *(one.id for one in frame.leaving(current, new)))
        self._reframed = new if frame.coming(current, new) else None
        before, after = journal.fingerprint(current.data), journal.fingerprint(new.data)
        mark, settled = self._ledger_mark(), tuple(self._healing.unowed)
        write = journal.Write(self.run, before, after, now, adds, gone, tuple(archived), mark, settled)
        owes = journal.encode(journal.Owed(self._added_to_ledger.decode())) if self._added_to_ledger else b""
        if not self._local.is_believed:
            self._local = local_state.claim(self._root)
            self._journal = self._root.read(self._parts)  # another checkout's is set aside now
        if self._must_start_over(now):
            earlier = "".join(journal.newest(journal.owed(self._all_lines())))
            lines = self._version(current) + (journal.encode(journal.Owed(earlier)) if earlier else b"")
            self._start_over(lines + owes + journal.encode(write))
        else:
            version = b"" if self._healing.is_known else self._version(current)
            append(self._root, self._parts, self._local.seal(version + owes + journal.encode(write)))

    def _start_over(self, lines: bytes) -> None:
        make_local_folder(self._root, JOURNALS)
        if self._journal is None:
            create(self._root, self._parts, self._local.seal(lines), alone=True)
        else:
            replace(self._root, self._parts, self._local.seal(lines), expected=self._journal)

    def _all_lines(self) -> list[journal.Line]:
        self._lines = self._lines or journal.decode(self._known)
        return self._lines

    def undo(self) -> None:
        """Take back what was noted, since the document was not written.

        Should that fail too, the next write mends it.
        """
        with suppress(StorageError):
            parts = ledger.parts_of(self._target)
            content = self._root.read(parts) if self._added_to_ledger else None
            before = self._ledger_size - len(self._added_to_ledger)
            if (
                content is not None
                and content.size == self._ledger_size
                and content.data[before:] == self._added_to_ledger
            ):
                cut(self._root, parts, before) if before else remove(self._root, parts)
        with suppress(StorageError):
            now = self._root.read(self._parts)
            if now is None or self._journal is None:
                remove(self._root, self._parts)
            elif now.data.startswith(self._journal.data):
                cut(self._root, self._parts, self._journal.size)
            else:
                replace(self._root, self._parts, self._journal.data, expected=now)

    def done(self) -> None:
        """Note that the write has reached the document. It has, so a disk too full for the note is not a failure."""
        with suppress(StorageError):
            lines = journal.encode(journal.Done(self.run))
            if self._reframed is not None:
                # Adds say what they are under. What else governs now is known from the text alone.
                content = self._root.read(self._parts)
                self._lines = journal.decode(self._local.own(content.data)) if content else []
                lines += self._version(self._reframed)
            append(self._root, self._parts, self._local.seal(lines), sync=False)

    def drop_journal(self) -> None:
        """Remove the journal."""
        remove(self._root, self._parts)

    def forget_texts(self, current: Document | None, names: Collection[str]) -> None:
        """Begin the journal again without the texts of some entries or notes, and with all else that it must know."""
        self.plan_healing(current or documents.parse(b"", self._target), self._now.timestamp())
        plain = {plain_id(one) for one in names}
        owed = [one for one in journal.owed(self._all_lines()) if not _is_of(one, plain)]
        noted, standing = self._ledger()[0].deleted, {*(current.ids if current else ())}
        recent = tuple(
            add
            for add in journal.rest_of(self._all_lines(), self._now.timestamp() - RACE_SECONDS)
            if plain_id(add.taken.id) not in plain and (add.taken.id in standing or add.taken.id not in noted)
        )
        if current is None or not self._known:
            self.drop_journal()
            return
        version = self._version(current, recent)
        self._start_over(version + journal.encode(journal.Owed("".join(owed))))

    @property
    def has_journal(self) -> bool:
        """Whether anything is known of earlier writes."""
        return self._known != b""

    def _must_start_over(self, now: float) -> bool:
        if self._journal is None or not self._known or journal.size_of_writes(self._known) > journal.LARGEST:
            return True
        changed_at = self._journal.stamp[2] / 1e9
        return abs(now - changed_at) > journal.KEEP_SECONDS

    def _version(self, current: Document, recent: tuple[Add, ...] | None = None) -> bytes:
        """Return the line that says how the document was found, with what was added to it in the last minutes."""
        if recent is None:
            since, standing = self._now.timestamp() - RACE_SECONDS, {*current.ids}
            recent = tuple(add for add in journal.rest_of(self._all_lines(), since) if add.taken.id in standing)
        text, now = current.data.decode(), self._now.timestamp()
        return journal.encode(journal.Version(journal.fingerprint(current.data), text, now, recent, str(self._target)))

    # -- the ledger ----------------------------------------------------------------------------------------------------

    def add_again(self, lines: str) -> None:
        """Add lines to the ledger that it had and that git has taken back with it. They are its newest then."""
        if not lines:
            return
        stamp = new_stamp(self._now, self._ledger()[0].latest)
        for line in parse_file([lines.encode()]):
            if isinstance(line, EntryLine | Tombstone):
                self._append_to_ledger(encode(line._replace(created_at=stamp), allow=None))

    def _ledger_mark(self) -> str:
        """Return what tells one state of the ledger from another: its size and its end. Reading it whole takes long."""

        def mark(fd: int, info: os.stat_result) -> str:
            os.lseek(fd, max(0, info.st_size - _END), os.SEEK_SET)
            return f"{info.st_size} {journal.fingerprint(os.read(fd, _END))}"

        return self._root.use_file(ledger.parts_of(self._target), mark) or ""

    def archive(
        self,
        taken: Sequence[tuple[Taken, str]],
        *,
        by_hand: bool = False,
        successors: Mapping[str, str] | None = None,
        retired: Collection[str] = (),
        size: tuple[int, int] = (0, 0),
        is_over: bool = False,
        undo: Mapping[str, object] | None = None,
        title: str = "",
    ) -> None:
        """Keep entries word for word, each with the reason why it goes, before they leave; see `ledger.removal_lines`.

        What went `by_hand` is not the work of this command, and does not come back with it.
        """
        if not taken:
            return
        contents, _ = self._ledger()
        command = "" if by_hand else self.command
        lines = ledger.removal_lines(
            taken,
            now=self._now,
            latest=contents.latest,
            run=command,
            known=contents.entries,
            successors=successors,
            retired=retired,
            size=size,
            is_over=is_over,
            undo=undo,
            title=title,
        )
        self._append_to_ledger(lines)

    def note(self, about: Mapping[str, tuple[str, About]]) -> None:
        """Keep what is known of entries: for each id, its Markdown and the rest."""
        if not about:
            return
        latest = self._latest_for(about)
        lines = (
            ledger.about_line(one, markdown, said, now=self._now, latest=latest, owner=self._owner)
            for one, (markdown, said) in about.items()
        )
        # A writer's name may go with the power: to wait for the disk at every write would cost more.
        is_needed = not all(said.names_only_the_writer for _, said in about.values())
        self._append_to_ledger(b"".join(lines), sync=is_needed)

    def _latest_for(self, entry_ids: Collection[str]) -> str:
        """Return the stamp that no line of these entries may be before: "" if all are new, as they mostly are."""
        content = self._root.read(ledger.parts_of(self._target))
        data = b"" if content is None else content.data
        if not data.endswith(b"\n") or any(one.encode() in data for one in entry_ids):
            return self._ledger()[0].latest
        self._ledger_size = len(data)
        self._has_header = data.startswith(ledger.BEGINNING) or self._ledger()[0].known
        return ""

    def archive_note(self, file: str, entry_id: str, text: str, reason: str) -> None:
        """Keep a whole note word for word before its file is removed."""
        contents, _ = self._ledger()
        lines = ledger.note_lines(file, entry_id, text, reason, now=self._now, latest=contents.latest, run=self.command)
        self._append_to_ledger(lines)
        owner = local_state.find(self._root)
        if owner.is_believed and self._root.exists(self._parts):
            append(self._root, self._parts, owner.seal(journal.encode(journal.Owed(lines.decode()))), sync=False)

    def archived(self, current: Document | None) -> list[Archived]:
        """List what was removed from the document and is not in it now, oldest first."""
        contents, lines = self._ledger()
        standing = set() if current is None else {*sayings(current), *frame.sayings(current)}
        found = ledger.archived(contents, lines, standing)
        if current is None:
            return found
        title = title_of(current)
        return [replace_fields(one, taken=with_title(one.taken, title)) for one in found]

    def last_command(self) -> tuple[str, str]:
        """Return when a command last took something out of the document, as a sort key, and the command's id."""
        return ledger.last_command(self._ledger()[1])

    def latest_stamp(self) -> str:
        """Return when the ledger was last written to, as its newest line says; "" if there is no ledger."""
        return self._ledger()[0].latest

    @property
    def path(self) -> str:
        """The ledger's path below the root, for people."""
        return "/".join(ledger.parts_of(self._target))

    def lines(self) -> list[Line]:
        """Return every line of the ledger, in its order."""
        return self._ledger()[1]

    def texts(self) -> list[str]:
        """Return the Markdown of every entry that the ledger has, the last of each."""
        entries = self._ledger()[0].entries.values()
        return [ledger.markdown_of(entry) or entry.text for entry in entries]

    def said_of(self, entry_id: str) -> About:
        """Return what is known of an entry besides its text."""
        return self.said().get(entry_id, About())

    def said(self) -> dict[str, About]:
        """Return what is known of entries besides their texts, by the id of the entry."""
        return ledger.said(*self._ledger(), self._owner)

    def moments(self) -> dict[str, str]:
        """Return when the ledger first heard of each entry, as keys that sort by time."""
        return compaction.moments(self._ledger()[1])

    def known_texts(self) -> dict[str, str]:
        """Return every entry that the ledger has a text of: the text, by its id."""
        return {one: entry.text for one, entry in self._ledger()[0].entries.items()}

    def ids_of_note(self, file: str) -> list[str]:
        """Return the ids under which the ledger has texts of a note."""
        entries = self._ledger()[0].entries
        return [one for one, entry in entries.items() if (entry.extra or {}).get("note") == file]

    def versions_of(self, entry_id: str) -> dict[str, str]:
        """Return the ledger's texts of an entry, of its equals, and of what each was edited from, by their ids."""
        contents, lines = self._ledger()
        versions = ledger.versions_of([entry_id], lines)
        texts = {one: ledger.markdown_of(entry) for one, entry in contents.entries.items()}
        return {one: text for one, text in texts.items() if plain_id(one) in versions}

    def redact(self, entry_ids: Collection[str]) -> int:
        """Take these entries' texts out of the ledger, and the reasons for which they left; a tombstone of each stays.

        Returns how many lines went or lost their reason.
        """
        parts = ledger.parts_of(self._target)
        content = self._root.read(parts)
        if content is None:
            return 0
        kept, dropped = [], 0
        for raw in content.data.splitlines(keepends=True):
            line = next(iter(parse_file([raw])), None)
            if isinstance(line, EntryLine) and line.id in entry_ids:
                dropped += 1
            elif isinstance(line, Tombstone) and line.id in entry_ids and ledger.is_explained(line):
                # The reason may repeat the text.
                kept.append(ledger.unexplained(line))
                dropped += 1
            else:
                kept.append(raw)
        if dropped:
            latest = ledger.read(content.data, "/".join(parts)).latest
            stones = [ledger.redaction(one, now=self._now, latest=latest) for one in entry_ids]
            joint = b"" if not kept or kept[-1].endswith(b"\n") else b"\n"
            replace(self._root, parts, b"".join([*kept, joint, *stones]), expected=content)
        return dropped

    def plan_compaction(self) -> Compaction | None:
        """Say what the ledger would be without the lines that nobody needs; None if there is no ledger."""
        content = self._root.read(ledger.parts_of(self._target))
        return None if content is None else compaction.plan(content.data, self.path)

    def compact(self) -> Compaction | None:
        """Make the ledger what `plan_compaction` says. The caller holds the document's lock."""
        content = self._root.read(ledger.parts_of(self._target))
        planned = None if content is None else compaction.plan(content.data, self.path)
        if content is not None and planned is not None and planned.changes_something:
            replace(self._root, ledger.parts_of(self._target), planned.data, expected=content)
        return planned

    def _ledger(self) -> tuple[Contents, list[Line]]:
        parts = ledger.parts_of(self._target)
        content = self._root.read(parts)
        data = b"" if content is None else content.data
        self._ledger_size = len(data)
        lines = list(parse_file([data]))
        # A first line that was torn or garbled is passed over; one header further down is enough.
        self._has_header = any(isinstance(line, HeaderLine) for line in lines)
        return ledger.sorted_out(lines, "/".join(parts)), lines

    def _append_to_ledger(self, lines: bytes, *, sync: bool = True) -> None:
        if not self._has_header:
            lines = ledger.header_line(self._now) + lines
            ignore.merge_by_lines(self._root)
        append(self._root, ledger.parts_of(self._target), lines, sync=sync)
        self._added_to_ledger += lines
        self._ledger_size += len(lines)

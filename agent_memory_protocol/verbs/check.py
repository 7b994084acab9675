"""`check` as a verb on an opened session: read what there is, and let every rule look at it."""

import os
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import field, replace
from datetime import date
from functools import partial
from typing import Any

from ..change import ledger
from ..change import reviews as reviewing
from ..change.session import Session
from ..change.transaction import Change
from ..disk import collector, divided
from ..disk.files import Root, split_bom
from ..disk.writing import LOCAL
from ..errors import InvalidArgument, StorageError
from ..formats.jsonl import parse_file
from ..formats.jsonl_view import sort_out
from ..git import ignore
from ..layout import OWNED_TIERS, REVIEWED, SCAFFOLDING, Target, Tier
from ..learning import docs
from ..learning.scattered import other_scaffoldings
from ..limits import split_lines
from ..lint import excerpt as excerpts
from ..lint import finding, index, ledgers, notes, tiers
from ..lint.excerpt import Excerpt
from ..lint.finding import Finding, Fix
from ..lint.repeats import DISAGREEMENTS
from ..lint.store import StoreView, Trouble
from ..notes import index as indexes
from ..notes import note
from ..notes import store as note_store
from ..notes.note import Note
from ..project.settings import PROJECT_FILE
from ..tiers import document as documents
from ..tiers import store
from ..tiers.document import Document
from ..tiers.meet import Meeting
from ..values import dataclass
from . import originals, review, rewrite, settle, stale
from .doctor import of_local_state, of_lookalike, of_names
from .index import folders
from .known import Known, Looked
from .stale import Stale

_FOLDER = "is a folder, not a file; move it away"
_PARTS = 100  # In so many parts the texts are looked at: two processes take one after the other
_WORTH_DIVIDING = 500  # From so many texts on a second process takes less time than it costs


@collector.left_alone()
def check(
    session: Session,
    named: Sequence[str],
    select: Sequence[str],
    ignored: Sequence[str],
    today: date,
    progress: Callable[[int, int], None] | None,
) -> list[Finding]:
    """Return what is wrong in what this actor may read, below the paths that are named."""
    if not session.root.exists(()):
        return []
    session.root.list_once()
    selected = finding.select(select, ignored)
    paths: Sequence[str] = [relative(session.root.path, path) for path in named]
    for path in paths:
        if not os.path.lexists(os.path.join(session.root.path, *path.split("/"))):
            raise InvalidArgument(f"{path!a} does not exist; name a path, such as {Target(Tier.SHARED).path}")
    if any({*path.split("/")} <= {".", ".."} for path in paths):
        paths = ()  # the project's own folder, or one above: everything lies below it
    known = Known(session.root, selected, session.settings.secrets_allow)
    run = _Check(session, selected, today, known)
    there = [*session.readable(ledgers=True, failed=run.cannot_read), *folders(session)]
    targets = [target for target in dict.fromkeys(there) if _below(target.parts[:-1], paths)]
    run.read(targets)
    for target in targets:
        run.folder(target)
    run.look(None if progress is None or not targets else partial(_report, progress, len(targets)))
    run.store(targets, whole=not paths)
    if not paths:
        known.keep()
    found = [one for one in run.found if _below(tuple(one.path.split("/")), paths)]
    return sorted(found, key=lambda one: (one.rule not in DISAGREEMENTS, one.path, one.line or 0, one.rule))


@dataclass(slots=True)
class _Check:
    """One run of the selected rules: what was read of the memory, and what was found in it so far."""

    session: Session
    selected: Sequence[str]
    today: date
    known: Known
    documents: dict[Target, Document] = field(default_factory=dict)
    digests: dict[Target, str] = field(default_factory=dict)
    excerpts: dict[Target, Excerpt] = field(default_factory=dict)
    elsewhere: dict[str, tuple[str, tuple[str, ...]]] = field(default_factory=dict)
    stale: Stale = field(default_factory=Stale)
    unreadable: list[Trouble] = field(default_factory=list)
    found: list[Finding] = field(default_factory=list)
    has_notes: bool = False
    notes: list[tuple[Target, Note]] = field(default_factory=list)
    looks: list[Callable[[], Looked]] = field(default_factory=list)
    disagreements: Sequence[Meeting] = ()

    def read(self, targets: Sequence[Target]) -> None:
        """Read every tier document, once for all rules."""
        for target in targets:
            try:
                document = self.session.read(target)
            except StorageError as error:
                self.cannot_read(error, target.path)
            else:
                if document is not None:
                    self._take_in(document)
        if "tier-restates" in self.selected:
            told = originals.sources(self.session)
            self.elsewhere = _elsewhere(self.session.root, self.excerpts, told)
        if {"tier-missing-path", "tier-missing-symbol"}.intersection(self.selected):
            said = {one for excerpt in self.excerpts.values() for one in excerpt.mentions}
            self.stale = stale.find(self.session, said, hints="tier-missing-symbol" in self.selected)

    def _take_in(self, document: Document) -> None:
        """Take in a document, with what the rules ask of it that look beyond its text."""
        target = document.target
        digest = self.known.digest("tier", target.path, document.data)
        excerpt = self.known.take(digest, lambda: excerpts.of(document)) or excerpts.of(document)
        self.documents[target], self.digests[target], self.excerpts[target] = document, digest, excerpt

    def folder(self, target: Target) -> None:
        """Read the notes, index and ledger beside a tier document, and say how to look at it and at them."""
        if target in self.documents:
            document = self.documents[target]
            self.looks.append(
                partial(self.known.run, "tier", self._tier_view(document), target.path, self.digests[target])
            )
        if target.tier.has_notes:
            self._notes_and_index(target)
        path = "/".join(ledger.parts_of(target))
        try:
            self._ledger(target, path)
        except StorageError as error:
            self.cannot_read(error, path)

    def look(self, report: Callable[[int, int], None] | None) -> None:
        """Look at each text, and compare what they say; two processes do it where there is much."""
        compared = None
        if {*DISAGREEMENTS}.intersection(self.selected):
            compared = settle.Comparison(self.session, [*self.documents.values()], self.notes, self.known)
        steps = compared.steps if compared is not None else []
        size = len(self.looks) // _PARTS + 1
        parts = [self.looks[start : start + size] for start in range(0, len(self.looks), size)]
        jobs: list[Callable[[], Any]] = [*steps, *(partial(_each, part) for part in parts)]
        done = divided.run(jobs, in_two=self.known.unknown >= _WORTH_DIVIDING, report=report)
        if compared is not None:
            self.disagreements = settle.holding(compared.meetings(done[: len(steps)]), self.today)
        for looked in done[len(steps) :]:
            self.found += [one for found, *_ in looked for one in found]
            self.known.keep_looked(looked)

    def store(self, targets: Sequence[Target], *, whole: bool) -> None:
        """Check the memory as one; what only the whole of it shows, only where the whole is checked."""
        root = self.session.root
        for error in store.odd_files(root) if whole else ():
            self.cannot_read(error)
        twins = [
            Trouble("/".join(tier.folder), one.message)
            for tier in OWNED_TIERS
            for one in of_names(store.owners(root, tier), tier.value)
        ]
        twins += [
            Trouble("/".join((*target.parts[:-1], file)), one.message.partition(": ")[2])
            for target, file in store.lookalikes(root)
            for one in [of_lookalike(target, file, exists=root.exists(target.parts))]
        ]
        nested = [path for target in targets if target.tier.has_notes for path in _nested(root, target)]
        view = StoreView(
            [*self.documents.values()],
            self.unreadable,
            twins,
            nested,
            self._review() if whole else None,
            [relative(root.path, path) for path in other_scaffoldings(root.path)] if whole else [],
            [place for place in map(_in_settings, self.session.settings.problems) if place is not None],
            self.disagreements,
            [Trouble("/".join(LOCAL), one.removeprefix(f"{'/'.join(LOCAL)}: ")) for one in of_local_state(root)]
            if whole and "store-local" in self.selected
            else (),
            originals.told_twice(self.session, self.documents.get(Target(Tier.SHARED))) if whole else (),
        )
        self._run("store", view, SCAFFOLDING)

    def _run(self, subject: str, view: object, path: str) -> None:
        self.found += finding.run(subject, view, path, self.selected)

    def cannot_read(self, error: StorageError, path: str = SCAFFOLDING) -> None:
        """Take in why a file cannot be read, and which; `path` where the error does not say that."""
        path = getattr(error, "path", "") or path
        place = Trouble(path, str(error).removeprefix(f"{path}: "), getattr(error, "line", None))
        self.unreadable += [] if place in self.unreadable else [place]

    def _tier_view(self, document: Document) -> tiers.TierView:
        settings = self.session.settings
        return tiers.TierView(
            document,
            self.excerpts[document.target],
            partial(self.session.header, document.target),
            settings.max_lines,
            settings.max_bytes,
            self.today.toordinal(),
            self.stale.gone,
            self.stale.lost,
            self.elsewhere,
            settings.secrets_allow,
        )

    def _notes_and_index(self, target: Target) -> None:
        root, folder = self.session.root, target.parts[:-1]
        try:
            names = note_store.list_names(root, folder, target.parts[-1])
            called_so = [name for name in root.list_folders(folder) if note_store.is_note(name, "")]
        except StorageError as error:
            self.cannot_read(error, "/".join(folder))
            return
        self.unreadable += [
            Trouble("/".join((*folder, name)), _FOLDER) for name in called_so if name != target.parts[-1]
        ]
        self.has_notes = self.has_notes or bool(names)
        unread = set()
        found = []
        for name in names:
            try:
                read = note_store.read(root, folder, name)
            except StorageError as error:
                self.cannot_read(error, "/".join((*folder, name)))
                unread.add(name)
                continue
            if read is not None:
                found.append(read[0])
        self.notes += [(target, one) for one in found]
        parts = note_store.parts_of_notes(root, folder, names)
        linked = frozenset[str]()
        if any("[[" in one.text for one in found):
            linked = frozenset(notes.link_name(name) for name in (*names, *(one.head.name for one in found)))
        for one in found:
            is_part = one.file in parts
            path = "/".join((*folder, one.file))
            digest = self.known.digest("note", path, "part" if is_part else "", one.text)
            self.known.take(digest, lambda: None)
            view = notes.NoteView(one, linked, self.session.settings.secrets_allow, is_part)
            self.looks.append(partial(self.known.run, "note", view, path, digest))
        document = self.documents.get(target)
        if document is not None or (names and not store.may_exist(root, target.parts)):
            text, lines = ("".join(document.raw), document.lines) if document else ("", [])
            files = indexes.by_key(names)
            elsewhere = self._beside_index(target, files)
            elsewhere |= indexes.by_key(parts).keys()
            if files or "](" in text or "<!--" in text:  # else there is no note, no index line and no marker
                listing = partial(index.IndexView, elsewhere=frozenset(elsewhere))
                look = partial(self._listed, listing, text, lines, files, frozenset(unread), path=target.path)
                self.looks.append(look)

    def _listed(
        self, listing: Callable[..., index.IndexView], text: str, lines: Sequence[str], *more: object, path: str
    ) -> Looked:
        view = listing(indexes.read(text), tuple(lines), *more)
        return finding.run("index", view, path, self.selected), "", 0

    def _beside_index(self, target: Target, files: Mapping[str, str]) -> set[str]:
        """Check the files for index lines that have no room in a tier file. Returns the keys of the notes they list."""
        folder, listed = target.parts[:-1], set[str]()
        try:
            texts = note_store.read_beside(self.session.root, folder)
        except StorageError as error:
            self.cannot_read(error, "/".join(folder))
            return listed
        selected = [rule for rule in self.selected if rule != "index-over-screen"]
        for number, text in enumerate(texts, start=1):
            name = indexes.beside_name(number)
            view = index.IndexView(indexes.read(text), tuple(split_lines(text)), files, elsewhere=frozenset(files))
            found = finding.run("index", view, "/".join((*folder, name)), selected)
            as_note = notes.NoteView(note.parse(text, name), frozenset(), self.session.settings.secrets_allow)
            shown = [rule for rule in selected if rule in ("secret", "note-invisible-characters")]
            found += finding.run("note", as_note, "/".join((*folder, name)), shown)
            self.found += [replace(one, fix=None) for one in found]
            listed |= view.index.files
        return listed

    def _ledger(self, target: Target, path: str) -> None:
        content = self.session.root.read(ledger.parts_of(target))
        if content is None:
            return
        asks = "ledger-ignored" in self.selected
        lines = list(parse_file([content.data]))
        texts = split_bom(content.data)[1].decode("utf-8", "replace").split("\n")
        view = ledgers.LedgerView(
            list(zip(lines, texts, strict=False)),
            sort_out(lines, by_time=True),
            ledger.redacted(lines),
            asks and ignore.ignores_one_of(self.session.root.path, path, target.path),
            self.session.settings.secrets_allow,
        )
        self._run("ledger", view, path)

    def _review(self) -> Trouble | None:
        """Return when the last review was, where the next one is due."""
        reviews = reviewing.Reviews()
        with suppress(StorageError):  # what cannot be read is told as such
            reviews = reviewing.read(self.session.root)
        first = min((day for one in self.excerpts.values() for day in one.days), default=None)
        has_entries = any(one.count for one in self.excerpts.values())
        # Anyone who begins a memory today may bring what happened long ago: it is a month old here in a month.
        oldest = reviews.begun if reviews.begun and (has_entries or self.has_notes) else None
        if reviews.begun is None and first is not None:
            oldest = date.fromordinal(first)
        if not review.is_due(reviews.last, oldest, self.today):
            return None
        never = f"never, and begun on {reviews.begun}" if reviews.begun else "never"
        return Trouble("/".join(REVIEWED), reviews.last.isoformat() if reviews.last else never)


def _each(looks: Sequence[Callable[[], Looked]]) -> list[Looked]:
    return [look() for look in looks]


def _report(progress: Callable[[int, int], None], total: int, done: int, jobs: int) -> None:
    progress(total * done // jobs, total)


def _in_settings(problem: str) -> Trouble | None:
    """Return a problem in the project's settings with its place; None for one in the person's own."""
    path = "/".join(PROJECT_FILE)
    where, _, message = problem.partition(": ")
    if not where.startswith(path):
        return None
    line = where.removeprefix(f"{path}:")
    return Trouble(path, message, int(line) if line.isdigit() else None)


def _nested(root: Root, target: Target) -> Iterator[str]:
    """Yield the folders beside a tier document that hold Markdown files."""
    folder = target.parts[:-1]
    with suppress(StorageError):  # what cannot be listed is told where its notes are read
        for inner in root.list_folders(folder):
            if root.has_file((*folder, inner), lambda name: name.lower().endswith(".md")):
                yield "/".join((*folder, inner))


def _elsewhere(
    root: Root, read: Mapping[Target, Excerpt], told: Collection[str]
) -> dict[str, tuple[str, tuple[str, ...]]]:
    """Return the lines of the documentation and of lasting memory by their keys: where each is, under which headings.

    The rules files in `told`, which memory was adopted from, have a rule of their own: `store-told-twice`.
    """
    found: dict[str, tuple[str, tuple[str, ...]]] = {}
    for path, text in docs.read(root):
        if path in told:
            continue
        for number, line in docs.lines(text):
            key = excerpts.key_of(line)
            if key:
                found.setdefault(key, (f"{path}:{number}", ()))
    for target, excerpt in read.items():
        for one in excerpt.lines:
            found.setdefault(one.key, (f"{target.path}:{one.number}", one.sections))
    return found


def _below(parts: tuple[str, ...], paths: Sequence[str]) -> bool:
    """Say whether a path lies at or below one of these, or above it; without any, everything does."""
    if not paths:
        return True
    own = "/".join(parts)
    return any(own == path or own.startswith(f"{path}/") or path.startswith(f"{own}/") for path in paths)


def relative(session_root: str, path: str) -> str:
    """Return a path named on the command line as one below the root, with forward slashes."""
    full = os.path.abspath(path) if os.path.exists(path) else os.path.join(session_root, path)
    found = os.path.relpath(full, session_root)
    if found.startswith(os.pardir):
        # By another way, such as a link to the project, it may lie there all the same.
        found = os.path.relpath(os.path.realpath(full), os.path.realpath(session_root))
    return found.replace(os.sep, "/")


def fix(session: Session, found: Sequence[Finding]) -> list[Finding]:
    """Make the fixes that lose nothing. Returns the findings that are mended."""
    by_path: dict[str, list[Finding]] = {}
    for one in found:
        if one.fix is not None:
            by_path.setdefault(one.path, []).append(one)
    mended: list[Finding] = []
    for target in session.readable():
        wanted = by_path.get(target.path)
        if wanted:
            session.check_write(target)
            mended += _fix_document(session, target, [one for one in wanted if one.fix and not one.fix.edits])
            mended += [one for one in wanted if one.fix and one.fix.edits and _edit_line(session, target, one.fix)]
    return mended


def _edit_line(session: Session, target: Target, wanted: Fix) -> bool:
    """Give one line another text, the old one going to the ledger. Says whether it was still what it was."""
    done = False

    def edited(text: str | None) -> str | None:
        nonlocal done
        lines = (text or "").splitlines(keepends=True)
        old = lines[wanted.line - 1] if wanted.line <= len(lines) else ""
        done = old.rstrip("\r\n") == wanted.before
        if not done:
            return text
        lines[wanted.line - 1] = wanted.after + old[len(wanted.before) :]
        return "".join(lines)

    rewrite.rewrite(session, target, "", edited, "edited: a path has another name")
    return done


def _fix_document(session: Session, target: Target, wanted: Sequence[Finding]) -> list[Finding]:
    done: list[Finding] = []

    def change(current: Document) -> Change:
        changed = _with_fixes(current, wanted)
        done[:] = wanted
        if changed is None:
            # One of them would lose something. The others are made.
            done.clear()
            changed = current
            for one in wanted:
                better = _with_fixes(changed, [one])
                if better is not None:
                    changed = better
                    done.append(one)
        return Change(changed if done else current)

    session.change(target, change)
    return done


def _with_fixes(document: Document, wanted: Sequence[Finding]) -> Document | None:
    """Make some fixes; None if a line is no longer what it was, or an entry would not keep its id and its date."""
    raw = list(document.raw)
    for one in wanted:
        old = raw[one.fix.line - 1] if one.fix is not None and one.fix.line <= len(raw) else ""
        if one.fix is None or old.rstrip("\r\n") != one.fix.before:
            return None
        raw[one.fix.line - 1] = one.fix.after + old[len(old.rstrip("\r\n")) :]
    changed = documents.rebuilt(document, raw)
    days = dict(zip(changed.ids, (entry.day for entry in changed.outline.entries), strict=True))
    kept = all(
        days.get(entry_id, 0) == entry.day
        for entry_id, entry in zip(document.ids, document.outline.entries, strict=True)
    )
    return changed if kept else None

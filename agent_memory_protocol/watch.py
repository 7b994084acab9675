"""Watch a project's memory: keep indexes fresh, heal what other programs overwrote, warn when a file is full.

File events only wake the watcher, and say where to look first. What it does is decided by what it reads there, so an
event too many costs little, and one too few is made up for by the next look at everything. It writes through the
workspace, and only what differs.
"""

import os
import threading
import time
from collections.abc import AsyncIterator, Collection, Generator, Iterator
from contextlib import suppress
from dataclasses import field

from .answers import Json
from .change.ledger import way_back
from .disk.errors import damaged
from .disk.file_events import FileEvents
from .disk.files import Root, stamp
from .disk.writing import LOCAL
from .errors import AgentMemoryError
from .layout import SCAFFOLDING, Target
from .limits import NEAR
from .notes.store import KnownNotes
from .project.access import Actor
from .project.settings import PROJECT_FILE
from .secrets.mask import beginning
from .text.digest import blake2b
from .text.phrases import counted
from .tiers.store import LARGEST
from .values import dataclass
from .workspace import Workspace

DEBOUNCE = 0.2  # Seconds of quiet after an event before the watcher looks: an editor's save is several events
LOOK_AGAIN = 60.0  # Seconds after which the watcher looks without having been woken: events get lost
POLL = 2.0  # Seconds between looks where the system offers no events
HEARTBEAT = 1.0  # Seconds after which the watcher makes sure that it still hears of its folders

_SETTLE = 10
_TICK = 100_000_000  # So many nanoseconds apart, two changes of a file have different times on every file system in use

_WIDTH = 70


@dataclass(frozen=True, slots=True)
class Happened:
    """Something the watcher has done or seen."""

    what: str  # `watching`, `indexed`, `healed`, `noted`, `near-limit`, `problem` or `polling`
    target: Target | None  # the document; None for the project
    message: str

    def to_json(self) -> Json:
        """Return it as it is in a JSON answer."""
        where = self.target.to_json() if self.target else {}
        return {"event": self.what, **where, "message": self.message}

    def __str__(self) -> str:
        return f"{self.target}: {self.message}" if self.target else self.message


@dataclass(slots=True)
class _Seen:
    """What the watcher has seen of one folder, so that it looks no second time and says nothing twice."""

    folder: str
    target: Target
    files: dict[str, tuple[int, ...]] = field(default_factory=dict)
    unsettled: set[str] = field(default_factory=set)
    document: bytes = b""
    notes: KnownNotes = field(default_factory=KnownNotes)
    problem: str = ""
    is_near: bool = False

    @property
    def document_name(self) -> str:
        return self.target.parts[-1]

    def forget(self) -> None:
        """Look at everything the next time."""
        self.files, self.document, self.notes = {}, b"", KnownNotes()


@dataclass(slots=True)
class Watcher:
    """Looks after the memory of one workspace. `look` does one pass; `run` goes on until it is stopped."""

    workspace: Workspace
    debounce: float = DEBOUNCE
    poll: float | None = None
    look_again: float = LOOK_AGAIN
    _events: FileEvents = field(default_factory=FileEvents)
    _seen: dict[str, _Seen] = field(default_factory=dict)
    _problem: str = ""
    _are_new: bool = False

    def stop(self) -> None:
        """End `run` soon. May be called from any thread and from a signal handler."""
        self._events.stop()

    def run(self) -> Iterator[Happened]:
        """Look once at everything, then whenever something changes, until `stop`. Yields what happens."""
        try:
            if self.poll is None:
                yield from self._listen()
            yield Happened("watching", None, f"watching {self.workspace.path}")
            yield from self.look()
            while not self._events.is_stopped:
                yield from self._wait_and_look()
        finally:
            self._events.close()

    def look(self) -> Iterator[Happened]:
        """Look at every folder, and bring those in order that have changed since the last look."""
        folders = self._folders()
        for gone in self._seen.keys() - folders.keys():
            del self._seen[gone]
        for folder, target in folders.items():
            yield from self._look_into(self._seen.setdefault(folder, _Seen(folder, target)))
        self._are_new = True

    def look_at(self, paths: Collection[str]) -> Iterator[Happened]:
        """Look at some files only, as far as they are known notes and documents; else at everything."""
        touched: dict[str, set[str]] = {}
        for path in paths:
            folder, name = os.path.split(path)
            if name.lower().endswith(".md"):
                touched.setdefault(folder, set()).add(name)
            elif name == PROJECT_FILE[-1]:
                self._seen.clear()  # limits may be others now
        if touched.keys() - self._seen.keys() or not self._seen:
            yield from self.look()
            return
        for folder, names in touched.items():
            seen = self._seen[folder]
            stamps = _stamps(folder, names)
            if names == stamps.keys() and all(name in seen.notes or name == seen.document_name for name in names):
                if (yield from self._bring_in_order(seen, names)):
                    seen.files.update(stamps)
            else:
                yield from self._look_into(seen)

    def _wait_and_look(self) -> Iterator[Happened]:
        if self.poll is not None:
            self._events.sleep(self.poll)
            if not self._events.is_stopped:
                yield from self._or_tell(self.look())
        elif (yield from self._is_woken()):
            touched = self._events.take()
            if not self._events.is_stopped:
                yield from self._or_tell(self.look() if touched is None else self.look_at(touched))
        else:
            found = list(self._or_tell(self.look()))
            yield from found
            # An event that is only late is here by now; one that is lost will not be the last.
            if found and not self._events.wait(self.debounce, self.debounce):
                yield from self._begin_polling("file events get lost here")

    def _is_woken(self) -> Generator[Happened, None, bool]:
        """Wait for an event; say whether one came. A folder that is deleted and made again is listened to again."""
        deadline = time.monotonic() + self.look_again
        while not self._events.is_stopped and (left := deadline - time.monotonic()) > 0:
            if self._events.wait(min(left, HEARTBEAT), self.debounce):
                return True
            if self._events.is_lost:
                self._events.close()
                yield from self._listen()
                return True
            if self._are_new and self._events.is_deaf_to(self._ways_in()):
                yield from self._begin_polling("no events of some folders (the limit of inotify watches is reached)")
                return True
            self._are_new = False
        return False

    def _ways_in(self) -> Iterator[str]:
        """Yield every folder that memory is in, or may yet come in through."""
        yield from self._seen
        for folder, below, _ in os.walk(self.workspace.path / SCAFFOLDING):
            below[:] = [name for name in below if name != LOCAL[-1]]
            yield folder

    def _listen(self) -> Iterator[Happened]:
        problem = self._events.start(str(self.workspace.path / SCAFFOLDING))
        if problem:
            yield from self._begin_polling(f"no file events ({problem})")

    def _or_tell(self, look: Iterator[Happened]) -> Iterator[Happened]:
        """Look, or tell once why that cannot be done: permissions flip, and folders move, while the watcher runs."""
        problem = ""
        try:
            yield from look
        except (AgentMemoryError, OSError) as error:
            problem = str(error)
            if problem != self._problem:
                yield Happened("problem", None, problem)
        self._problem = problem

    def _begin_polling(self, why: str) -> Iterator[Happened]:
        self.poll = POLL
        yield Happened("polling", None, f"{why}; looking every {POLL:g} seconds instead")

    def _look_into(self, seen: _Seen) -> Iterator[Happened]:
        for _ in range(_SETTLE):
            looked_at = time.time_ns()
            files = _stamps(seen.folder)
            if not files and (yield from self._is_unreadable(seen)):
                break
            changed = {name for name in files.keys() | seen.files.keys() if files.get(name) != seen.files.get(name)}
            changed |= seen.unsettled & files.keys()
            seen.unsettled = set()
            # What changes while this works is looked at once more, so the stamps are those from before it.
            if not changed or not (yield from self._bring_in_order(seen, changed)):
                break
            seen.files = files
            # A file that changed just now can change again within the same tick of its clock.
            seen.unsettled = {name for name in changed & files.keys() if looked_at - max(files[name][2:]) < _TICK}

    def _bring_in_order(self, seen: _Seen, changed: set[str]) -> Generator[Happened, None, bool]:
        """Heal and index one folder, given which of its files may have changed. Says whether that is done.

        What cannot be done is told once, tried again with the next look, and keeps the watcher from no other folder.
        """
        is_document = seen.document_name in changed and self._digest(seen) != seen.document
        notes: set[str] | None = changed - {seen.document_name}
        if not (notes or is_document):
            return True  # it was the watcher itself
        if not all(name in seen.notes for name in notes or ()):
            notes = None
        try:
            if is_document:
                yield from self._heal(seen.target)
            yield from self._index(seen, notes, anyway=is_document)
            if is_document:
                yield from self._warn(seen)
        except (AgentMemoryError, OSError) as error:
            problem = str(error)
            if problem != seen.problem:
                yield Happened("problem", seen.target, problem)
            seen.problem = problem
            seen.forget()
            return False
        return True

    def _digest(self, seen: _Seen) -> bytes | None:
        """Return what tells one text of a folder's tier document from another; None if it cannot be read."""
        try:
            with Root.open(str(self.workspace.path), external_links=self.workspace.settings.external_links) as root:
                content = root.read(seen.target.parts, limit=LARGEST)
        except AgentMemoryError:
            return None  # healing says why
        return b"" if content is None else _digest_of(content.data)

    def _is_unreadable(self, seen: _Seen) -> Generator[Happened, None, bool]:
        """Say whether nothing was found in a folder because it cannot be read, and tell it once."""
        try:
            os.scandir(seen.folder).close()
        except FileNotFoundError:
            return False
        except OSError as error:
            problem = str(damaged(error, seen.target.parts[:-1]))
            if problem != seen.problem:
                yield Happened("problem", seen.target, problem)
            seen.problem = problem
            return True
        return False

    def _heal(self, target: Target) -> Iterator[Happened]:
        for synced in self.workspace.sync(apply=True, targets=[target]):
            for text in synced.put_back:
                yield Happened("healed", target, f"put back what was overwritten: {beginning(text, _WIDTH)}")
            if synced.kept_out:
                yield Happened("problem", target, f"overwritten: {way_back(target, list(synced.kept_out))}")
            for text in synced.removed_by_hand:
                yield Happened("noted", target, f"taken out by hand, kept in the ledger: {beginning(text, _WIDTH)}")
            for text in synced.noted_again:
                yield Happened("noted", target, f"lost from the ledger, noted again: {beginning(text, _WIDTH)}")
            for secret in synced.unkept:
                yield Happened("noted", target, f"taken out by hand, kept nowhere: holds {secret}")

    def _index(self, seen: _Seen, touched: Collection[str] | None, *, anyway: bool) -> Iterator[Happened]:
        state = self.workspace.index_known(seen.target, seen.notes, touched, anyway=anyway)
        if state is None:
            return
        seen.document = _digest_of(state.left)
        if state.changed:
            done = f"{counted(len(state.added), 'line')} added" if state.added else "lines brought up to date"
            yield Happened("indexed", seen.target, f"{counted(state.notes, 'note')}, {done}")
        if state.problem and state.problem != seen.problem:
            yield Happened("problem", seen.target, state.problem)
        seen.problem = state.problem

    def _warn(self, seen: _Seen) -> Iterator[Happened]:
        for row in self.workspace.status(targets=[seen.target]):
            is_near = row.share >= NEAR
            if is_near and not seen.is_near:
                used = f"{row.share:.0%} of the limit is used"
                yield Happened("near-limit", seen.target, f"{used}; `amp prune {seen.target}`")
            seen.is_near = is_near

    def _folders(self) -> dict[str, Target]:
        targets = dict.fromkeys([*self.workspace.targets(Actor()), *self.workspace.note_folders()])
        return {str(self.workspace.path.joinpath(*target.parts[:-1])): target for target in targets}


async def changes(watcher: Watcher) -> AsyncIterator[Happened]:
    """Yield what happens, inside a running asyncio loop. Leaving the iteration stops the watcher."""
    import asyncio

    loop = asyncio.get_running_loop()
    queue: asyncio.Queue[Happened | None] = asyncio.Queue()

    def tell(happened: Happened | None) -> None:
        # A loop that was closed meanwhile can be told nothing.
        with suppress(RuntimeError):
            loop.call_soon_threadsafe(queue.put_nowait, happened)

    def work() -> None:
        try:
            for happened in watcher.run():
                tell(happened)
        finally:
            tell(None)

    thread = threading.Thread(target=work, name="amp-watch", daemon=True)
    thread.start()
    try:
        while (happened := await queue.get()) is not None:
            yield happened
    finally:
        watcher.stop()


def _stamps(folder: str, names: Collection[str] | None = None) -> dict[str, tuple[int, ...]]:
    """Return the Markdown files of a folder, or those of these, each with what tells one state of it from another."""
    found: dict[str, tuple[int, ...]] = {}
    with suppress(OSError):
        for name in os.listdir(folder) if names is None else names:
            if name.lower().endswith(".md"):
                path = os.path.join(folder, name)
                with suppress(OSError):
                    # A link that leads nowhere has no other stamp than its own; anyone who reads it says what is wrong.
                    info = os.stat(path) if os.path.exists(path) else os.lstat(path)
                    found[name] = (*stamp(info), info.st_ctime_ns)
    return found


def _digest_of(data: bytes) -> bytes:
    return blake2b(data, digest_size=16).digest()

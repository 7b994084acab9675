"""Watch a project's memory: keep indexes fresh, heal what other programs overwrote, warn when a file is full.

File events only wake the watcher. What it does is decided by looking again at what has changed, so an event too many
costs nothing and one too few is made up for by the next look. It writes through the workspace, and only what differs.
"""

import logging
import os
import threading
from collections.abc import AsyncIterator, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from time import monotonic

from watchdog.events import FileSystemEvent, FileSystemEventHandler
from watchdog.observers import Observer
from watchdog.observers.api import BaseObserver

from .access import Actor
from .disk_errors import explain
from .errors import AgentMemoryError
from .files import TEMPORARY
from .layout import SCAFFOLDING, Target
from .ledger import way_back
from .limits import NEAR
from .workspace import Workspace

# An event that arrives while watchdog stops makes it log a line, which would go to stderr where nobody set up logging.
logging.getLogger("watchdog").addHandler(logging.NullHandler())

DEBOUNCE = 0.2
"""Seconds of quiet after an event before the watcher looks: an editor's save is several events."""

LOOK_AGAIN = 60.0
"""Seconds after which the watcher looks without having been woken: events get lost when the system's queue is full."""

POLL = 2.0
"""Seconds between looks where the system offers no events."""

_WAKING = frozenset(["created", "modified", "moved", "deleted", "closed"])
_SETTLE = 10


@dataclass(frozen=True, slots=True)
class Happened:
    """Something the watcher has done or seen.

    Attributes:
        what: `watching`, `indexed`, `healed`, `noted`, `near-limit`, `problem` or `polling`.
        target: the document; None for the project.
        message: the same in words.
    """

    what: str
    target: Target | None
    message: str


@dataclass(slots=True)
class _Seen:
    """What the watcher has seen of one folder, so that it looks no second time and says nothing twice."""

    signature: tuple[tuple[str, int, int, int], ...] = ()
    problem: str = ""
    is_near: bool = False


@dataclass(slots=True)
class Watcher:
    """Looks after the memory of one workspace. `look` does one pass; `run` goes on until it is stopped."""

    workspace: Workspace
    debounce: float = DEBOUNCE
    poll: float | None = None
    look_again: float = LOOK_AGAIN
    _stopped: threading.Event = field(default_factory=threading.Event)
    _woken: threading.Event = field(default_factory=threading.Event)
    _seen: dict[str, _Seen] = field(default_factory=dict)

    def stop(self) -> None:
        """End `run` soon. May be called from any thread and from a signal handler."""
        self._stopped.set()
        self._woken.set()

    def run(self) -> Iterator[Happened]:
        """Look once at everything, then whenever something changes, until `stop`. Yields what happens."""
        observer, problem = self._observe()
        try:
            if problem:
                yield Happened("polling", None, problem)
            yield Happened("watching", None, f"watching {self.workspace.path}")
            yield from self.look()
            while not self._stopped.is_set():
                self._wait(polling=observer is None)
                if not self._stopped.is_set():
                    yield from self.look()
        finally:
            if observer is not None:
                observer.stop()
                observer.join()

    def look(self) -> Iterator[Happened]:
        """Look at every folder that has changed since the last look, and bring it in order."""
        folders = self._folders()
        for gone in set(self._seen) - set(folders):
            del self._seen[gone]
        for folder, target in folders.items():
            seen = self._seen.setdefault(folder, _Seen())
            for _ in range(_SETTLE):
                signature = _signature(folder)
                if signature == seen.signature:
                    break
                yield from self._mend(target, seen)
                # What was just written is no change to look at; what changed meanwhile is.
                seen.signature = signature
        return

    def _mend(self, target: Target, seen: _Seen) -> Iterator[Happened]:
        """Heal and index one folder. One bad file never keeps the watcher from the others."""
        try:
            yield from self._heal(target)
            yield from self._index(target, seen)
            yield from self._warn(target, seen)
        except (AgentMemoryError, OSError) as error:
            problem = str(error)
            if problem != seen.problem:
                yield Happened("problem", target, problem)
            seen.problem = problem

    def _heal(self, target: Target) -> Iterator[Happened]:
        for synced in self.workspace.sync(apply=True, targets=[target]):
            for text in synced.put_back:
                yield Happened("healed", target, f"put back what was overwritten: {_words(text)}")
            if synced.kept_out:
                yield Happened("problem", target, f"overwritten: {way_back(target, list(synced.kept_out))}")
            for text in synced.removed_by_hand:
                yield Happened("noted", target, f"taken out by hand, kept in the ledger: {_words(text)}")

    def _index(self, target: Target, seen: _Seen) -> Iterator[Happened]:
        for state in self.workspace.index([target]):
            if state.changed:
                yield Happened("indexed", target, f"{state.notes} notes, {len(state.added)} lines added")
            if state.problem and state.problem != seen.problem:
                yield Happened("problem", target, state.problem)
            seen.problem = state.problem

    def _warn(self, target: Target, seen: _Seen) -> Iterator[Happened]:
        for row in self.workspace.status(targets=[target]):
            is_near = row.share >= NEAR
            if is_near and not seen.is_near:
                yield Happened("near-limit", target, f"{row.share:.0%} of the limit are used; `amp prune {target}`")
            seen.is_near = is_near

    def _folders(self) -> dict[str, Target]:
        """Return every folder that holds a tier document or notes, and the document."""
        targets = dict.fromkeys([*self.workspace.targets(Actor()), *self.workspace.note_folders()])
        return {str(self.workspace.path.joinpath(*target.parts[:-1])): target for target in targets}

    def _observe(self) -> tuple[BaseObserver | None, str]:
        """Ask the system for file events. Returns None, and why, where it has none to give."""
        if self.poll is not None:
            return None, ""
        observer = Observer()
        try:
            observer.schedule(Wake(self._woken), str(self.workspace.path / SCAFFOLDING), recursive=True)
            observer.start()
        except OSError as error:
            why = explain(error) if error.errno != 28 else "the inotify watch limit of this system is reached"
            return None, f"no file events ({why}); looking every {POLL:g} seconds instead"
        return observer, ""

    def _wait(self, *, polling: bool) -> None:
        """Wait for an event and then for quiet, or until it is time to look without one."""
        if polling:
            self._stopped.wait(self.poll or POLL)
            return
        if not self._woken.wait(self.look_again):
            return
        deadline = monotonic() + _SETTLE * self.debounce
        while monotonic() < deadline and not self._stopped.is_set():
            self._woken.clear()
            if not self._woken.wait(self.debounce):
                return


class Wake(FileSystemEventHandler):
    """Wakes the watcher at events that may mean a change: not at reading, nor at its own locks and temporary files."""

    def __init__(self, woken: threading.Event) -> None:
        self._woken = woken

    def on_any_event(self, event: FileSystemEvent) -> None:
        """Take in one event."""
        paths = [os.fsdecode(path) for path in (event.src_path, event.dest_path) if path]
        if event.event_type in _WAKING and any(map(_matters, paths)):
            self._woken.set()


async def changes(watcher: Watcher) -> AsyncIterator[Happened]:
    """Yield what happens, inside a running asyncio loop. Leaving the iteration stops the watcher."""
    import asyncio

    loop = asyncio.get_running_loop()
    queue: asyncio.Queue[Happened | None] = asyncio.Queue()

    def tell(happened: Happened | None) -> None:
        # A loop that has been closed meanwhile has nobody left to tell.
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


def _matters(path: str) -> bool:
    name = os.path.basename(path)
    inside_local = f"{os.sep}.amp{os.sep}" in path or name == ".amp"
    return not inside_local and not name.endswith((TEMPORARY, ".swp", ".swx", "~", ".jsonl"))


def _signature(folder: str) -> tuple[tuple[str, int, int, int], ...]:
    """Return what tells one state of a folder's Markdown files from another: names, inodes, sizes, times."""
    found = []
    try:
        with os.scandir(folder) as entries:
            for entry in entries:
                if entry.name.endswith(".md"):
                    info = entry.stat(follow_symlinks=False)
                    found.append((entry.name, info.st_ino, info.st_size, info.st_mtime_ns))
    except OSError:
        return ()
    return tuple(sorted(found))


def _words(text: str) -> str:
    shown = " ".join(text.split())
    return shown if len(shown) <= 70 else shown[:69] + "…"

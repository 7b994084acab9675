"""File events: that something below a folder has changed, and which files, as far as the system says.

Events come in another thread, doubled, in any order, and some never. So they are kept as a set of
paths for the caller to look at, and never taken for the truth.
"""

import errno
import logging
import os
import warnings
from collections.abc import Iterable
from contextlib import suppress
from threading import Event, Lock
from time import monotonic

from watchdog.events import FileSystemEvent, FileSystemEventHandler
from watchdog.observers import Observer
from watchdog.observers.api import BaseObserver

from .errors import explain
from .files import TEMPORARY

# An event that arrives while watchdog stops makes it log a line, which would go to stderr where nobody set up logging.
logging.getLogger("watchdog").addHandler(logging.NullHandler())

_CHANGING = frozenset(["created", "modified", "moved", "deleted", "closed"])
_LIMITS = {
    errno.ENOSPC: "the limit of inotify watches is reached",
    errno.EMFILE: "the limit of inotify instances or of open files is reached",
}
_MOST = 500  # So many files at once are a checkout or a sync: to look at everything is as quick
_LONGEST = 10
"""So many times the quiet that is waited for: a file that is written all the time must not be waited for for ever."""


class FileEvents(FileSystemEventHandler):
    """Which files below a folder have changed since one last asked."""

    def __init__(self) -> None:
        self._observer: BaseObserver | None = None
        self._lock = Lock()
        self._woken = Event()
        self._stopped = Event()
        self._touched: set[str] | None = set()
        self._folder, self._inode, self._can_tell = "", 0, False

    @property
    def is_stopped(self) -> bool:
        """Whether `stop` was called."""
        return self._stopped.is_set()

    def start(self, folder: str) -> str:
        """Ask the system for the events below a folder. Returns why it has none to give; "" if it has."""
        # Of a folder made together with the one around it watchdog may hear twice, and warns of that on stderr.
        warnings.filterwarnings("ignore", r"Callback with id \S+ already exists for watch", RuntimeWarning)
        try:
            observer = Observer()
            observer.schedule(self, folder, recursive=True)
            observer.start()
        except OSError as error:
            return _LIMITS.get(error.errno or 0) or explain(error)
        self._observer = observer
        self._folder, self._inode = folder, _inode(folder)
        self._can_tell = self._inode in _watched()  # some file systems number their files twice
        return ""

    @property
    def is_lost(self) -> bool:
        """Whether the folder that is listened to is no longer the one that is there."""
        now = _inode(self._folder)
        return self._observer is not None and now != 0 and (now != self._inode or self.is_deaf_to([self._folder]))

    def is_deaf_to(self, folders: Iterable[str]) -> bool:
        """Say whether the system gives no events of one of these folders: it tells nobody of a limit met later."""
        watched = {0, *_watched()} if self._can_tell else set()
        return bool(watched) and any(_inode(one) not in watched for one in folders)

    def stop(self) -> None:
        """End every wait. May be called from any thread and from a signal handler."""
        self._stopped.set()
        self._woken.set()

    def close(self) -> None:
        """Ask for no more events."""
        if self._observer is not None:
            self._observer.stop()
            self._observer.join()
            self._observer = None
        with self._lock:
            self._touched = None  # what happens from now on is not heard of

    def wait(self, seconds: float, quiet: float) -> bool:
        """Wait for an event and then for so many seconds of quiet. Says whether one came within `seconds`."""
        if not self._woken.wait(seconds):
            return False
        deadline = monotonic() + _LONGEST * quiet
        while monotonic() < deadline and not self.is_stopped:
            self._woken.clear()
            if not self._woken.wait(quiet):
                break
        return True

    def sleep(self, seconds: float) -> None:
        """Wait so long, whatever happens, or until `stop`."""
        self._stopped.wait(seconds)

    def take(self) -> set[str] | None:
        """Return the paths that events have named since the last call; None if anything may have changed."""
        with self._lock:
            touched, self._touched = self._touched, set()
        return touched

    def on_any_event(self, event: FileSystemEvent) -> None:
        """Take in one event."""
        if event.event_type not in _CHANGING or (event.is_directory and event.event_type in ("modified", "closed")):
            return  # reading changes nothing, and of a folder the events of its files say what has changed
        paths = {path for path in map(os.fsdecode, (event.src_path, event.dest_path)) if path and _matters(path)}
        if not paths:
            return
        with self._lock:
            if event.is_directory or self._touched is None or len(self._touched) > _MOST:
                self._touched = None
            else:
                self._touched |= paths
        self._woken.set()


def _inode(folder: str) -> int:
    try:
        return os.stat(folder).st_ino
    except OSError:
        return 0


def _watched() -> set[int]:
    """Return the numbers of what this process has inotify watch, as Linux tells it; nothing elsewhere."""
    found: set[int] = set()
    with suppress(OSError):
        for fd in os.listdir("/proc/self/fd"):
            with suppress(OSError):
                if os.readlink(f"/proc/self/fd/{fd}") == "anon_inode:inotify":
                    with open(f"/proc/self/fdinfo/{fd}", encoding="ascii") as lines:
                        found |= {int(line.split("ino:", 1)[1].split()[0], 16) for line in lines if " ino:" in line}
    return found


def _matters(path: str) -> bool:
    """Say whether a path can be memory: not a lock or a journal, a half-written file, or an editor's own."""
    name = os.path.basename(path)
    is_local = f"{os.sep}.amp{os.sep}" in path or name == ".amp"
    return not is_local and not name.endswith((TEMPORARY, ".swp", ".swx", "~", ".jsonl"))

"""Notice that other programs have written: file events wake it, and a look at every file decides."""

import os
from threading import Lock, Thread

from ..disk.file_events import FileEvents

_AT_LEAST_EVERY = 1.0
"""Seconds after which it looks although no event came: some systems have none, and some events get lost."""
_QUIET = 0.05


class Pulse:
    """Counts the states that a folder has been in. One thread looks for all who ask."""

    def __init__(self, folder: str) -> None:
        self._folder = folder
        self._events = FileEvents()
        self._lock = Lock()
        self._thread: Thread | None = None
        self.count = 0
        """Another number whenever something has changed."""

    def start(self) -> None:
        """Begin to look, if nobody has begun yet."""
        with self._lock:
            if self._thread is None:
                self._thread = Thread(target=self._look, name="amp view: looks for changes", daemon=True)
                self._thread.start()

    def stop(self) -> None:
        """End it. May be called from a signal handler."""
        self._events.stop()

    def _look(self) -> None:
        folder = self._folder
        before = state_of(folder)
        hears = not self._events.start(folder) if os.path.isdir(folder) else False
        while not self._events.is_stopped:
            if hears:
                self._events.wait(_AT_LEAST_EVERY, _QUIET)
            else:
                self._events.sleep(_AT_LEAST_EVERY)
            now = state_of(folder)
            self.count += now != before
            before = now
        self._events.close()


def state_of(folder: str) -> int:
    """Return a number that is another one when any file has been written, made or removed; local state aside."""
    seen = []
    for above, folders, files in os.walk(folder):
        folders[:] = [name for name in folders if name != ".amp"]
        for name in files:
            try:
                info = os.lstat(os.path.join(above, name))
            except OSError:
                continue
            seen.append((above, name, info.st_mtime_ns, info.st_ctime_ns, info.st_size))
    return hash(tuple(sorted(seen)))

"""Opening: a project is opened for one piece of work; to write, its folder is made where it is missing."""

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress

from ..disk.errors import explain, shown
from ..disk.files import MissingRoot, Root, is_there
from ..errors import StorageError
from ..project.access import Actor
from ..project.settings import Settings, is_disabled, load_settings
from .session import Session


@contextmanager
def open_session(
    path: str, environ: Mapping[str, str], actor: Actor, *, for_writing: bool = False
) -> Iterator[Session]:
    """Open a project for one piece of work. A root that is missing is made for writing; for reading it is empty.

    Raises Disabled if it is to be written while memory is off, StorageError if its settings cannot be read: a limit
    or a ban may be in them.
    """
    if for_writing and is_disabled(environ):
        load_settings(None, environ).check_enabled()
    made = _make_root(path) if for_writing else []
    try:
        with Root.open(path) if is_there(path) else MissingRoot(path) as root:
            settings = load_settings(root, environ)
            root.external_links = settings.external_links
            if for_writing:
                _check_writable(settings)
            yield Session(root, settings, environ, actor)
    except BaseException:
        _remove_empty(made)  # what was refused leaves nothing behind
        raise


def _check_writable(settings: Settings) -> None:
    """Refuse to write where memory is switched off, or settings cannot be read: a limit may be in them."""
    settings.check_enabled()
    if settings.damaged:
        raise StorageError(f"{'; '.join(settings.problems)}; mend it first, it may set a limit")


def _make_root(path: str) -> list[str]:
    """Make the root's folder where it was named outright and is missing; return the folders that had to be made."""
    missing = []
    folder = path
    while not os.path.isdir(folder):
        missing.append(folder)
        folder = os.path.dirname(folder)
    made: list[str] = []
    try:
        for folder in reversed(missing):
            with suppress(FileExistsError):
                os.mkdir(folder)
                made.append(folder)
    except OSError as error:
        _remove_empty(made)
        raise StorageError(f"{shown(path)}: the project root was not created: {explain(error)}") from error
    return made


def _remove_empty(folders: list[str]) -> None:
    for folder in reversed(folders):
        with suppress(OSError):
            os.rmdir(folder)

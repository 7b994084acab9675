"""Find the project root: the folder whose `.scaffolding` holds the memory.

Agents start in subfolders and in git worktrees; memory found from one folder and not from the next is the fault
users meet most. So the search climbs, knows where a repository ends, and says how it found what it found
(decision 1). It reads a few names and never creates anything. `AMP_ROOT` and `--root` name the root outright: `~`
is the home folder, a relative AMP_ROOT is taken from the git top level (without git, from the current folder),
a relative `--root` from the current folder, and an empty value counts as unset.
"""

import os
import stat

from ..disk.errors import shown
from ..disk.files import Root
from ..errors import StorageError
from ..layout import SCAFFOLDING
from .settings import home_folder, load_settings

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping


OF_ENVIRONMENT = "AMP_ROOT"
_NAMED = ("--root", OF_ENVIRONMENT)  # How a root was found that was named outright


class FoundRoot:
    """A project root and how it was found, in words for `amp where`.

    `missing` says that it was named outright and no folder is there: nothing can be read, and a write may make it.
    `problem` says, in one sentence, why this may not be the root that was meant; else it is "".
    """

    __slots__ = ("how", "missing", "path", "problem")

    def __init__(self, path: str, how: str, *, missing: bool = False, problem: str = "") -> None:
        self.path = path
        self.how = how
        self.missing = missing
        self.problem = problem

    def __repr__(self) -> str:
        return f"FoundRoot({self.path!r}, {self.how!r})"


def find_root(
    start: "str | os.PathLike[str] | None" = None,
    *,
    explicit: "str | os.PathLike[str] | None" = None,
    environ: "Mapping[str, str] | None" = None,
) -> FoundRoot:
    """Find the project root: the one named `explicit`ly, or by AMP_ROOT, or looked for from `start` on.

    StorageError says what to do if the folder is gone, is not one, or belongs to another user.
    """
    environ = os.environ if environ is None else environ
    if explicit is not None and os.fspath(explicit):
        return _named(os.fspath(explicit), _NAMED[0], "", environ)
    named = environ.get("AMP_ROOT", "")
    if named and (os.path.isabs(named) or named[0] == "~"):
        return _named(named, _NAMED[1], "", environ)
    folder = _folder_to_start(start)
    if named:
        return _named(named, _NAMED[1], git_top(folder, environ) or folder, environ)
    return _search(folder, environ)


def why_not_begun(found: FoundRoot) -> str:
    """Say why a named root may be a mistyped one, and what begins a memory there; "" for a project."""
    if found.how not in _NAMED or any(_look(os.path.join(found.path, mark)) for mark in (SCAFFOLDING, ".git")):
        return ""
    why = "does not exist" if found.missing else f"holds no {SCAFFOLDING} and is not the top of a git checkout"
    command = begins_with(found.path, found.how)
    return f"{found.how} names {shown(found.path)}, which {why}; if you mean it, `{command}` begins a memory there"


def begins_with(path: str, how: str) -> str:
    """Return the command that begins a memory at a root that was found in this way."""
    from shlex import quote

    return shown(f"amp init --root {quote(path)}") if how in _NAMED else "amp init"


def _search(start: str, environ: "Mapping[str, str]") -> FoundRoot:
    for folder in _ancestors(start, environ):
        mark = _look(os.path.join(folder, SCAFFOLDING))
        if mark is not None:
            _check_owner(folder, mark, environ, climbed=folder != start)
            return _with_memory(folder, environ)
        git = _look(os.path.join(folder, ".git"))
        if git is not None:
            _check_owner(folder, None, environ, climbed=folder != start)
            return (
                FoundRoot(folder, "the git top level")
                if stat.S_ISDIR(git.st_mode)
                else _in_worktree(start, folder, environ)
            )
    return FoundRoot(start, f"the current folder (no git, no {SCAFFOLDING})")


def _with_memory(folder: str, environ: "Mapping[str, str]") -> FoundRoot:
    """Answer for a folder that holds memory. In a linked worktree that git gave it to, the settings may name another.

    Only `worktree = "shared"`, in its own settings or else the main checkout's, makes it that one's: what git tracks
    belongs to the branch.
    """
    how = f"the nearest folder with {SCAFFOLDING}"
    git = _look(os.path.join(folder, ".git"))
    if git is not None and stat.S_ISDIR(git.st_mode):
        return FoundRoot(folder, how)
    top = git_top(folder, environ)
    if top is None:
        return FoundRoot(folder, how)
    from .git_files import main_checkout

    main = main_checkout(top)
    if main is None or main == top:
        return FoundRoot(folder, how)
    wish, origin = _worktree_setting(folder, environ)
    there = os.path.normpath(os.path.join(main, os.path.relpath(folder, top)))
    mark = _look(os.path.join(there, SCAFFOLDING))
    if not origin and mark is not None:
        # A branch may be older than the setting, or git may not track the settings.
        _check_owner(there, mark, environ, climbed=True)
        wish, origin = _worktree_setting(there, environ)
        origin = f"{origin} of the main checkout" if origin else ""
    if wish == "own" or not origin:
        why = f'worktree = "own" in {origin}' if origin else "worktree is not set, and git keeps memory on this branch"
        return FoundRoot(folder, f"{how}, this worktree's own ({why})")
    if mark is None:
        missing = (
            f'{how}, this worktree\'s own: worktree = "shared" in {origin}, but {shown(there)} has no {SCAFFOLDING}'
        )
        return FoundRoot(folder, missing)
    _check_owner(there, mark, environ, climbed=True)
    return FoundRoot(there, f'the main checkout of this git worktree (worktree = "shared" in {origin})')


def _in_worktree(start: str, top: str, environ: "Mapping[str, str]") -> FoundRoot:
    """Answer for a checkout whose `.git` is a file: a linked worktree uses the main checkout's memory."""
    from .git_files import foreign_git_folder, lost_git_folder, main_checkout

    main = main_checkout(top)
    if main is None or main == top:
        lost, foreign = lost_git_folder(top), foreign_git_folder(top)
        problem = _lost(top, lost) if lost else _foreign(top, foreign) if foreign else ""
        return FoundRoot(top, "the git top level", problem=problem)
    # From the same subfolder both checkouts must come to the same root.
    folder = main if start == top else os.path.join(main, os.path.relpath(start, top))
    mark = _look(os.path.join(folder, SCAFFOLDING))
    while mark is None and folder != main:
        folder = os.path.dirname(folder)
        mark = _look(os.path.join(folder, SCAFFOLDING))
    _check_owner(folder, mark, environ, climbed=True)
    wish, origin = _worktree_setting(folder, environ)
    if wish == "own":
        return FoundRoot(top, f'this git worktree (worktree = "own" in {origin})')
    return FoundRoot(folder, "the main checkout of this git worktree")


def _lost(top: str, git_folder: str) -> str:
    return (
        f"{shown(top)} is a git worktree whose main checkout is not where its .git says ({shown(git_folder)}), so "
        "the memory there cannot be found, and what is saved begins a second one here; run `git worktree repair` in "
        "the main checkout, or name it with AMP_ROOT"
    )


def _foreign(top: str, git_folder: str) -> str:
    return (
        f"{shown(top)} has a .git file that names {shown(git_folder)}, which does not know of this folder, so the "
        "memory there is not used; if this is a worktree that was moved, run `git worktree repair` in it"
    )


def _worktree_setting(folder: str, environ: "Mapping[str, str]") -> tuple[str, str]:
    """Return whose memory a worktree uses by the settings of a root, and the file that says so; "" for the default."""
    with Root.open(folder) as opened:
        settings = load_settings(opened, environ)
    return settings.worktree, settings.origin.get("worktree", "")


def _ancestors(folder: str, environ: "Mapping[str, str]") -> "Iterator[str]":
    """Yield the folder and those above it, up to and including the home folder or a mount point."""
    yield folder
    home = _look(home_folder(environ), follow=True)
    info = _look(folder)
    while True:
        parent = os.path.dirname(folder)
        if parent == folder or (info and home and os.path.samestat(info, home)):
            return
        above = _look(parent)
        if info and above and info.st_dev != above.st_dev:
            return
        folder, info = parent, above
        yield folder


def git_top(start: str, environ: "Mapping[str, str]") -> str | None:
    """Return the nearest folder with a `.git`, from a folder upwards; None without one."""
    return next((folder for folder in _ancestors(start, environ) if _look(os.path.join(folder, ".git"))), None)


def _check_owner(folder: str, mark: os.stat_result | None, environ: "Mapping[str, str]", *, climbed: bool) -> None:
    """Refuse memory that another user may have planted where our agents pass by, as in a shared /tmp."""
    user = os.geteuid() if hasattr(os, "geteuid") else 0
    if user == 0:
        return
    owners = {user} if mark is None else {mark.st_uid}
    if climbed or owners != {user}:
        info = _look(folder)
        owners |= {info.st_uid} if info else set()
    foreign = owners - {0, user}
    if not foreign:
        return
    settings = load_settings(None, environ)
    real = os.path.join(os.path.realpath(folder), "")
    if any(real.startswith(os.path.join(os.path.realpath(trusted), "")) for trusted in settings.trusted_roots):
        return
    raise StorageError(
        f"{shown(folder)}: the project root found here belongs to another user (uid {min(foreign)}), so its memory "
        "is not used; if you trust it, name it with --root or AMP_ROOT, or put it in trusted_roots in your settings"
    )


def _named(path: str, how: str, base: str, environ: "Mapping[str, str]") -> FoundRoot:
    """Take a root that was named outright: any folder, or a place where one can be made."""
    if path == "~" or path.startswith(("~/", "~" + os.sep)):
        home = home_folder(environ)
        if not home:
            raise StorageError(f"{how} is {shown(path)}, but HOME names no folder; write the whole path")
        path = home + path[1:]
    elif path[0] == "~":
        path = os.path.expanduser(path)
    if not os.path.isabs(path):
        path = os.path.join(base or _folder_to_start(None), path)
    path = os.path.normpath(path)
    try:
        is_folder = stat.S_ISDIR(os.stat(path).st_mode)
    except FileNotFoundError:
        return FoundRoot(path, how, missing=True)
    except NotADirectoryError:
        is_folder = False
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        raise StorageError(
            f"{how} is {shown(path)}, which cannot be looked at: {reason}; name another folder"
        ) from error
    if not is_folder:
        raise StorageError(f"{how} is {shown(path)}, which is not a folder; name the folder that holds {SCAFFOLDING}")
    return FoundRoot(path, how)


def _folder_to_start(start: "str | os.PathLike[str] | None") -> str:
    try:
        return os.getcwd() if start is None else os.path.realpath(os.fspath(start))
    except (OSError, ValueError) as error:
        raise StorageError(
            "the current folder does not exist any more, or cannot be read; "
            "change to one that does, or name the project with --root or AMP_ROOT"
        ) from error


def _look(path: str, *, follow: bool = False) -> os.stat_result | None:
    """Look at what is there; None if there is nothing, or if it is not ours to see."""
    try:
        return os.stat(path, follow_symlinks=follow)
    except (OSError, ValueError):
        return None

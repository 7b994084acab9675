"""Find where memory of one project lies scattered: in subfolders, worktrees, sister checkouts, and the home folder.

Memory that is keyed by a folder's path is lost when the folder moves. Nothing is read but names;
git is asked for the commit that a clone began with.
"""

import os
from collections.abc import Callable, Iterator

from ..git.ask import answer
from ..layout import MEMORY, SCAFFOLDING
from ..project.git_files import checkouts_of, remote_of
from ..values import dataclass
from .elsewhere import MEMORY_FOLDER, memory_below, store_folders
from .rules_files import NEVER_ENTERED

_MOST_FOLDERS = 200


@dataclass(frozen=True, slots=True)
class MemoryFolder:
    """A folder that holds memory of this project, or may, and whose memory it is, in words."""

    path: str
    kind: str


def find_places(project: str, home: str | None) -> list[MemoryFolder]:
    """List where else memory of a project lies, its own `.scaffolding` left out. `home` is the person's, if any."""
    project = os.path.realpath(project)
    found = [
        MemoryFolder(os.path.join(path, SCAFFOLDING), "another scaffolding") for path in other_scaffoldings(project)
    ]
    checkouts = [project, *_other_checkouts(project)]
    for checkout in checkouts:
        if checkout != project and _has_memory(checkout):
            found.append(MemoryFolder(os.path.join(checkout, SCAFFOLDING), "the scaffolding of another checkout"))
        known = store_folders(checkout)
        found += [MemoryFolder(path, kind) for path, kind in known]
        found += [
            MemoryFolder(path, MEMORY_FOLDER)
            for path in memory_below(checkout)
            if SCAFFOLDING not in path.split(os.sep) and not any(_is_in(path, folder) for folder, _ in known)
        ]
        found += [
            MemoryFolder(os.path.join(checkout, name), "a page of memory")
            for name in sorted(_names(checkout))
            if name.lower() == "memory.md"
        ]
    if home is not None:
        found += _of_claude_code(home, checkouts)
    return list(dict.fromkeys(found))


def other_scaffoldings(project: str) -> list[str]:
    """List other folders of one repository with a memory of their own: above a project, or up to two folders below."""
    above = []
    folder = project
    while not os.path.exists(os.path.join(folder, ".git")) and os.path.dirname(folder) != folder:
        folder = os.path.dirname(folder)
        above.append(folder)
    if not os.path.exists(os.path.join(folder, ".git")):
        above = []
    below = _subfolders(project)
    below += [path for folder in below for path in _subfolders(folder)]
    return [path for path in [*above, *below] if _has_memory(path)]


def projects_below(folder: str, onerror: Callable[[OSError], object] | None = None) -> Iterator[str]:
    """Yield each folder with a memory, from this one down; hidden folders and installed packages are not entered."""
    for path, names, _ in os.walk(folder, onerror=onerror):
        names[:] = sorted(name for name in names if not name.startswith(".") and name not in NEVER_ENTERED)
        if _has_memory(path):
            yield path


def _other_checkouts(project: str) -> Iterator[str]:
    """Yield the worktrees of a repository, and the folders next to it that are checkouts of the same one."""
    yield from (path for path in checkouts_of(project) if path != project)
    remote, first = remote_of(project), ""
    beside = [one for one in _subfolders(os.path.dirname(project)) if os.path.exists(os.path.join(one, ".git"))]
    for path in beside if os.path.exists(os.path.join(project, ".git")) else ():
        first = first or _first_commit(project)
        if path != project and ((remote and remote_of(path) == remote) or (first and _first_commit(path) == first)):
            yield path


def _first_commit(folder: str) -> str:
    """Return the commit that a repository began with, which all of its clones have; "" for none."""
    said = answer(folder, "rev-list", "--max-parents=0", "HEAD").split()
    return said[-1].decode("ascii", "replace") if said else ""


def _of_claude_code(home: str, checkouts: list[str]) -> Iterator[MemoryFolder]:
    """Yield the memory that Claude Code keeps for a person: its folders are named after the path of the project."""
    agents = os.path.join(home, ".claude", "agent-memory")
    if os.path.isdir(agents):
        yield MemoryFolder(agents, "agent memory of Claude Code, for all of a person's projects")
    projects = os.path.join(home, ".claude", "projects")
    own = {_as_name(path) for path in checkouts}
    alike = _as_name(os.sep + os.path.basename(checkouts[0]))
    for name in sorted(_names(projects)):
        folder = os.path.join(projects, name, "memory")
        if not os.path.isdir(folder):
            continue
        if name in own:
            yield MemoryFolder(folder, "auto memory of Claude Code")
        elif name.endswith(alike):
            yield MemoryFolder(folder, "auto memory of Claude Code for a folder called alike; perhaps another project")


def _as_name(path: str) -> str:
    """Return what Claude Code calls a project: its path, all but letters and digits as dashes."""
    return "".join(character if character.isascii() and character.isalnum() else "-" for character in path)


def _is_in(path: str, folder: str) -> bool:
    return path == folder or path.startswith(folder + os.sep)


def _has_memory(path: str) -> bool:
    return os.path.isdir(os.path.join(path, *MEMORY))


def _names(path: str) -> list[str]:
    try:
        return os.listdir(path)
    except OSError:
        return []


def _subfolders(path: str) -> list[str]:
    try:
        with os.scandir(path) as entries:
            found = [entry for entry in entries if entry.is_dir(follow_symlinks=False)]
    except OSError:
        return []
    names = (entry for entry in found if not entry.name.startswith(".") and entry.name not in NEVER_ENTERED)
    return sorted(entry.path for entry in names)[:_MOST_FOLDERS]

"""Find a linked worktree's main checkout from the files git keeps, so that git need not be installed."""

import os

from ..disk.files import Root
from ..errors import StorageError

_LARGEST_FILE = 1 << 20
_TRUE = ("true", "yes", "on", "1")


def main_checkout(top: str) -> str | None:
    """Return the main checkout of the linked worktree at `top`.

    None for a submodule, a bare repository, and wherever the files do not say it for certain.
    """
    git_folder = _pointed(top)
    common = _common_of(git_folder) if git_folder and _points_back(git_folder, top) else ""
    if not common:
        return None
    core = _core_of(common)
    if core.get("bare", "false").lower() in _TRUE:
        return None
    if "worktree" in core:
        main = os.path.realpath(os.path.join(common, core["worktree"]))
    elif os.path.basename(common) == ".git":
        main = os.path.dirname(common)
    else:
        return None
    return main if os.path.isdir(main) else None


def own_git_folder(top: str) -> str:
    """Return the git folder of the checkout at `top`; "" without one, or for one that belongs to another checkout.

    A `.git` file comes with an archive like any other file, and can name any folder.
    """
    folder = os.path.join(top, ".git")
    if os.path.isdir(folder) and not os.path.islink(folder):
        return folder if _read(folder, "HEAD") else ""
    pointed = _pointed(top)
    return os.path.realpath(pointed) if pointed and _read(pointed, "HEAD") and _points_back(pointed, top) else ""


def _points_back(git_folder: str, top: str) -> bool:
    """Say whether the git folder that a `.git` file names knows this checkout as a worktree or submodule."""
    back = _path(_read(git_folder, "gitdir"))
    if back:
        return os.path.realpath(os.path.join(git_folder, back)) == os.path.realpath(os.path.join(top, ".git"))
    work_tree = _core_of(git_folder).get("worktree", "")
    return bool(work_tree) and os.path.realpath(os.path.join(git_folder, work_tree)) == os.path.realpath(top)


def lost_git_folder(top: str) -> str | None:
    """Return the git folder that the `.git` file at `top` names, if nothing is there: something was moved."""
    git_folder = _pointed(top)
    return None if not git_folder or os.path.lexists(os.path.normpath(git_folder)) else os.path.normpath(git_folder)


def foreign_git_folder(top: str) -> str:
    """Return the git folder that a `.git` file or link at `top` names, if it belongs to another checkout; else "".

    One that lies apart (`git init --separate-git-dir`) names no checkout, so it belongs to this one.
    """
    path = os.path.join(top, ".git")
    git_folder = os.path.realpath(path) if os.path.islink(path) and os.path.isdir(path) else _pointed(top)
    if not git_folder or _points_back(git_folder, top):
        return ""
    core = _core_of(git_folder)
    is_of_another = (
        os.path.basename(os.path.normpath(git_folder)) == ".git"
        or _common_of(git_folder)
        or "worktree" in core
        or core.get("bare", "false").lower() in _TRUE
    )
    return os.path.normpath(git_folder) if is_of_another else ""


def checkouts_of(top: str) -> list[str]:
    """List the checkouts of a repository that exist: the main one, and the linked worktrees it knows of."""
    common = _common_folder(top)
    if not common:
        return []
    found = [os.path.dirname(common)] if os.path.basename(common) == ".git" else []
    linked = os.path.join(common, "worktrees")
    try:
        names = sorted(os.listdir(linked))
    except OSError:
        names = []
    for name in names:
        pointer = _path(_read(os.path.join(linked, name), "gitdir"))
        if pointer:
            found.append(os.path.dirname(os.path.join(linked, name, pointer)))
    return [os.path.realpath(path) for path in found if os.path.isdir(path)]


def remote_of(top: str) -> str:
    """Return the URL that a checkout's repository was cloned from; "" without one."""
    common = _common_folder(top)
    return _settings_of('remote "origin"', _read(common, "config")).get("url", "") if common else ""


def _common_folder(top: str) -> str:
    """Return the folder in which git keeps what all checkouts of a repository share; "" without one."""
    folder = os.path.join(top, ".git")
    if os.path.isdir(folder):
        return os.path.realpath(folder)
    git_folder = _pointed(top)
    return (_common_of(git_folder) or os.path.realpath(git_folder)) if git_folder else ""


def _pointed(top: str) -> str:
    """Return the git folder that the `.git` file at `top` names, not resolved; "" if there is no such file."""
    pointer = _read(top, ".git")
    return os.path.join(top, _path(pointer.removeprefix("gitdir:"))) if pointer.startswith("gitdir:") else ""


def _common_of(git_folder: str) -> str:
    """Return the folder that a linked worktree's git folder names as the one of the repository; "" if it names none."""
    git_folder = os.path.realpath(git_folder)
    common = _path(_read(git_folder, "commondir"))
    return os.path.realpath(os.path.join(git_folder, common)) if common else ""


def _core_of(git_folder: str) -> dict[str, str]:
    """Return what the configuration of a git folder says of its checkout, also where that is kept by worktree."""
    return _settings_of("core", _read(git_folder, "config")) | _settings_of(
        "core", _read(git_folder, "config.worktree")
    )


def _settings_of(wanted: str, config: str) -> dict[str, str]:
    """Return one section of a git configuration file; a key without a value is true."""
    found = {}
    section = ""
    for line in config.splitlines():
        text = line.strip()
        if text.startswith("["):
            section = text[1:].partition("]")[0].strip()
            section = section if '"' in section else section.lower()
        elif section == wanted and text and text[0] not in "#;":
            name, equals, value = text.partition("=")
            found[name.strip().lower()] = value.strip().strip('"') if equals else "true"
    return found


def _read(folder: str, name: str) -> str:
    """Read a small file; "" if it is missing or cannot be read."""
    try:
        with Root.open(folder, external_links=True) as opened:
            content = opened.read((name,), limit=_LARGEST_FILE)
    except StorageError:
        return ""
    return "" if content is None or b"\0" in content.data else os.fsdecode(content.data)


def _path(text: str) -> str:
    # Blanks are part of a path, except the one that git writes after `gitdir:`.
    return text.removeprefix(" ").rstrip("\r\n")

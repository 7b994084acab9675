"""Find a linked worktree's main checkout from the files git keeps, so that git need not be installed."""

import os

from .errors import StorageError
from .files import Root

_LARGEST_FILE = 1 << 20
_TRUE = ("true", "yes", "on", "1")


def main_checkout(top: str) -> str | None:
    """Return the main checkout of the linked worktree at `top`.

    None where there is none: `top` is a submodule or keeps its git folder elsewhere, the repository is bare, or the
    main checkout is not where the files say.
    """
    pointer = _read(top, ".git")
    if not pointer.startswith("gitdir:"):
        return None
    git_folder = os.path.realpath(os.path.join(top, _path(pointer.removeprefix("gitdir:"))))
    common = _path(_read(git_folder, "commondir"))
    if not common:
        return None
    common = os.path.realpath(os.path.join(git_folder, common))
    core = _core_settings(_read(common, "config")) | _core_settings(_read(common, "config.worktree"))
    if core.get("bare", "false").lower() in _TRUE:
        return None
    if "worktree" in core:
        main = os.path.realpath(os.path.join(common, core["worktree"]))
    elif os.path.basename(common) == ".git":
        main = os.path.dirname(common)
    else:
        return None
    return main if os.path.isdir(main) else None


def _core_settings(config: str) -> dict[str, str]:
    """Return the `[core]` section of a git configuration file; a key without a value is true."""
    found = {}
    section = ""
    for line in config.splitlines():
        text = line.strip()
        if text.startswith("["):
            section = text[1:].partition("]")[0].strip().lower()
        elif section == "core" and text and text[0] not in "#;":
            name, equals, value = text.partition("=")
            found[name.strip().lower()] = value.strip().strip('"') if equals else "true"
    return found


def _read(folder: str, name: str) -> str:
    """Read a small file; "" where there is none that can be read."""
    try:
        with Root.open(folder, external_links=True) as opened:
            content = opened.read((name,), limit=_LARGEST_FILE)
    except StorageError:
        return ""
    return "" if content is None or b"\0" in content.data else os.fsdecode(content.data)


def _path(text: str) -> str:
    # Blanks are part of a path, save the one git writes after `gitdir:`.
    return text.removeprefix(" ").rstrip("\r\n")

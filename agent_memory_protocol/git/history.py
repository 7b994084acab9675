"""Which paths git's history has known that are gone now, and what their names are today (decision 52)."""

import os
from collections.abc import Collection, Sequence

from .ask import answer, ask

_MOST = 200
"""So many missing paths are looked up in one go; a memory that names more is out of date as a whole."""

_GREP = ("grep", "--no-color", "-howIF")

_RENAMES = 5
"""So often a path is followed from one name to the next."""


def gone(folder: str, paths: Collection[str]) -> dict[str, str]:
    """Return, of these paths, those that were tracked once and are gone, each with its name today, "" for none.

    A path may leave out the folders that it begins in: `lib/a.py` is there as long as any tracked file ends with it.
    Without git, or where git takes too long, nothing is gone.
    """
    tracked = _lines(answer(folder, "ls-files", "--full-name", ":/")) if paths else []
    if not tracked:
        return {}
    # Each file between slashes: a path is the end of one, or a folder of one, where it stands between slashes too.
    there = "/\n/".join(["", *tracked, ""])
    missing = [
        path
        for path in sorted(paths)
        if f"/{path}/" not in there and not os.path.lexists(os.path.join(folder, *path.split("/")))
    ]
    found = {}
    files = set(tracked)
    for path, (commit, full) in _deletions(folder, missing[:_MOST]).items():
        found[path] = _shortened(_renamed(folder, commit, full, files), path, full)
    return found


def unused(folder: str, names: Sequence[str]) -> list[str]:
    """Return the names that no tracked file has as a whole word; none where git cannot tell."""
    if not names or not (found := ask(folder, *_GREP, *(part for name in names for part in ("-e", name)))):
        return []
    used = {*os.fsdecode(found.stdout).split()} if found.returncode in (0, 1) else {*names}
    return [name for name in names if name not in used]


def had(folder: str, name: str) -> bool:
    """Say whether the code had a name once, outside of the memory."""
    words = (
        "log",
        "-1",
        "--format=%H",
        f"-S{name}(",
        "--",
        ":(top)",
        ":(top,exclude,glob)**/*.md",
    )
    return answer(folder, *words) != b""


def _deletions(folder: str, paths: Collection[str]) -> dict[str, tuple[str, str]]:
    """Return, for each path that git knew, the last commit that took it out, and its whole path then."""
    if not paths:
        return {}
    specs = [f":(top,glob)**/{path}{rest}" for path in paths for rest in ("", "/**")]
    said = answer(
        *(folder, "log", "--no-renames", "--diff-filter=D"),
        *("--name-only", "--format=commit %H", "--", *specs),
    )
    found: dict[str, tuple[str, str]] = {}
    commit = ""
    for line in _lines(said):
        if line.startswith("commit ") and len(line) >= 47:
            commit = line[7:]
            continue
        for path in paths:
            inside = f"/{line}/".find(f"/{path}/")
            if inside >= 0 and path not in found:
                found[path] = (commit, line[: inside + len(path)])
    return found


def _renamed(folder: str, commit: str, path: str, tracked: Collection[str]) -> str:
    """Return the tracked path that a file has been renamed to since; "" if there is none."""
    for _ in range(_RENAMES):
        said = answer(
            *(folder, "show", "--format=", "--name-status"),
            *("-M", "--diff-filter=R", commit),
        )
        names = [line.split("\t") for line in _lines(said)]
        new = next((name[2] for name in names if len(name) == 3 and name[1] == path), "")
        if not new or new in tracked:
            return new
        found = _deletions(folder, [new])
        if new not in found or found[new][1] != new:
            return ""
        commit, path = found[new]
    return ""


def _shortened(new: str, path: str, full: str) -> str:
    """Return a new name without the folders that the old one left out, too."""
    left_out = full[: len(full) - len(path)]
    return new.removeprefix(left_out) if left_out and new.startswith(left_out) else new


def _lines(said: bytes) -> list[str]:
    return [line for line in os.fsdecode(said).splitlines() if line]

"""Which paths git's history has known that are gone now, and what their names are today (decision 52)."""

import os
from collections.abc import Collection, Sequence

from .ask import answer, ask

_MOST = 200
"""So many missing paths are looked up in one go; a memory that names more is out of date as a whole."""

_USUAL = frozenset(
    (
        *("app", "client", "config", "conftest", "constants", "data", "dockerfile", "helpers", "index", "init", "main"),
        *("makefile", "manifest", "models", "package", "readme", "results", "schema", "server", "settings", "setup"),
        *("test", "tests", "types", "utils"),
    )
)
"""Names that files of many folders have."""

_GREP = ("grep", "--no-color", "-howIF")

_CODE = (":(top)", ":(top,exclude,glob)**/*.md", ":(top,exclude,glob)**/*.mdc")
"""All but what tells of code, as memory does."""

_RENAMES = 5  # So often a path is followed from one name to the next


def gone(folder: str, paths: Collection[str]) -> dict[str, str]:
    """Return, of these paths, those that were tracked once and are gone, each with its name today, "" for none.

    A path may leave out the folders that it begins in. Where git takes too long, or is missing, nothing is gone.
    """
    tracked = _lines(answer(folder, "ls-files", "--full-name", ":/")) if paths else []
    if not tracked:
        return {}
    # Each file between slashes: a path is the end of one, or a folder of one, where it is between slashes too.
    there = "/\n/".join(["", *tracked, ""])
    missing = [
        path
        for path in sorted(paths)
        if f"/{path}/" not in there and not os.path.lexists(os.path.join(folder, *path.split("/")))
    ]
    files = set(tracked)
    deleted = _deletions(folder, missing[:_MOST])
    top = os.fsdecode(answer(folder, "rev-parse", "--show-toplevel")).rstrip("\n")
    made_again = _ignored(top, [name for _, full, file in deleted.values() for name in (full, file)])
    return {
        path: _shortened(_renamed(folder, commit, full, files), path, full)
        for path, (commit, full, file) in deleted.items()
        if made_again.isdisjoint((full, file))
    }


def unused(folder: str, names: Sequence[str]) -> list[str]:
    """Return the names that no tracked file of code has as a whole word; none where git cannot tell."""
    words = [part for name in names for part in ("-e", name)]
    if not names or not (found := ask(folder, *_GREP, *words, "--", *_CODE)):
        return []
    used = {*os.fsdecode(found.stdout).split()} if found.returncode in (0, 1) else {*names}
    return [name for name in names if name not in used]


def had(folder: str, name: str) -> bool:
    """Say whether the code had a name once, outside of the memory."""
    return answer(folder, "log", "-1", "--format=%H", f"-S{name}(", "--", *_CODE) != b""


def _deletions(folder: str, paths: Collection[str]) -> dict[str, tuple[str, str, str]]:
    """Return, for each path that git knew, the last commit that took it out, its whole path then, and a file of it."""
    if not paths:
        return {}
    # Git would try each path on each change of each commit; the deletions alone are read in no time.
    said = answer(folder, "log", "--no-renames", "--diff-filter=D", "--name-only", "--format=commit %H")
    beginning: dict[str, list[str]] = {}
    for path in paths:
        beginning.setdefault(path.partition("/")[0], []).append(path)
    found: dict[str, tuple[str, str, str]] = {}
    named: dict[str, set[str]] = {}
    commit = ""
    for line in _lines(said):
        if line.startswith("commit ") and len(line) >= 47:
            commit = line[7:]
            continue
        start = 0
        for part in line.split("/"):
            for path in beginning.get(part, ()):
                if f"{line}/".startswith(f"{path}/", start):
                    full = line[: start + len(path)]
                    found.setdefault(path, (commit, full, line))
                    if full == line:
                        named.setdefault(path, set()).add(line)
            start += len(part) + 1
    return {path: one for path, one in found.items() if _is_told_by(path, one[1], named.get(path, set()))}


def _is_told_by(path: str, full: str, files: Collection[str]) -> bool:
    """Say whether a path identifies a file. A bare name does only if just one file ever had it."""
    if "/" in path or path == full:
        return True
    return len(files) == 1 and path.split(".", maxsplit=1)[0].lower() not in _USUAL


def _ignored(folder: str, paths: Collection[str]) -> set[str]:
    """Return the paths that git ignores now: what makes them makes them again."""
    given = "".join(f"{path}\0" for path in paths).encode(errors="surrogateescape")
    done = ask(folder, "check-ignore", "-z", "--stdin", given=given) if paths else None
    return {*os.fsdecode(done.stdout).split("\0")} if done is not None and done.returncode == 0 else set()


def _renamed(folder: str, commit: str, path: str, tracked: Collection[str]) -> str:
    """Return the tracked path that a file has been renamed to since; "" without one."""
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
        commit, path, _ = found[new]
    return ""


def _shortened(new: str, path: str, full: str) -> str:
    """Return a new name without the folders that the old one left out, too."""
    left_out = full[: len(full) - len(path)]
    return new.removeprefix(left_out) if left_out and new.startswith(left_out) else new


def _lines(said: bytes) -> list[str]:
    return [line for line in os.fsdecode(said).splitlines() if line]

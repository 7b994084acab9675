"""Paths of the project that a text names in code, and the first of them that is missing."""

from collections.abc import Callable

_PATH_STARTS = ("src/", "lib/", "app/", "apps/", "packages/", "tests/", "test/", "docs/", "scripts/", "./")
_PATH_CHARACTERS = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_./")


def first_missing_path(text: str, exists: Callable[[str], bool]) -> str:
    """Return the first path of this repository that a text names and that is missing; "" if there is none."""
    for path in _named_paths(text):
        # If even the folder is missing, the path starts somewhere else: in a package, or another repository.
        if exists(path.partition("/")[0]) and not exists(path):
            return path
    return ""


def _named_paths(text: str) -> list[str]:
    """Return the paths in code spans that look like files of this repository."""
    found = []
    for piece in text.split("`")[1::2]:
        path = piece.partition(":")[0].rstrip("/")
        if (
            path.startswith(_PATH_STARTS)
            and not set(path) - _PATH_CHARACTERS
            and ".." not in path
            and "." in path.rpartition("/")[2]
        ):
            found.append(path.removeprefix("./"))
    return found

"""When a line first came into a file, as git's history has it."""

from ..values import dataclass
from .ask import answer


@dataclass(frozen=True, slots=True)
class Birth:
    """The commit that brought a line: when its author wrote it, its short name, and who that was."""

    at: str
    commit: str
    author: str


def first_commit(folder: str, path: str, line: str) -> Birth | None:
    """Return the commit that first put a line into a file below a folder; None if git knows none."""
    if not line.strip() or "\0" in line:
        return None
    found = answer(folder, "log", "--format=%aI%x00%h%x00%an", f"-S{line}", "--", path)
    lines = found.decode("utf-8", "replace").splitlines()
    parts = lines[-1].split("\0") if lines else []
    return Birth(*parts) if len(parts) == 3 else None

"""When the lines of a file were written, as git's history has it."""

from ..text.moments import of_clock, sort_key
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


def last_written(folder: str, path: str) -> dict[str, str]:
    """Return when each line of a file was last written, as keys that sort by time; nothing if git does not have it.

    What a branch wrote has the time of its own commit, wherever a merge has put it. Of equal lines the last one counts.
    """
    found: dict[str, str] = {}
    moments: dict[str, str] = {}
    commit = ""
    # Of the commit, not of the file: git would put the file through whatever programs the checkout names.
    said = answer(folder, "blame", "--porcelain", "--no-textconv", "HEAD", "--", path)
    for line in said.decode("utf-8", "replace").split("\n"):
        if line.startswith("\t"):
            found[line[1:].rstrip("\r")] = moments.get(commit, "")
        elif line.startswith("author-time "):
            moments[commit] = sort_key(of_clock(int(line[12:])).isoformat())
        elif len(parts := line.split(" ", 1)) == 2 and len(parts[0]) in (40, 64):
            commit = parts[0]
    return found

"""The files of a folder as a commit has them."""

import os

from ..errors import InvalidArgument
from .ask import answer

_LARGEST = 1024 * 1024  # A larger file is not a page of memory, and is not read


def files_at(folder: str, commit: str, below: str) -> dict[str, bytes]:
    """Return every plain file below a folder of a project at a commit: its bytes, by its path from there."""
    if os.path.exists(os.path.join(folder, below, ".git")):
        folder, below = os.path.join(folder, below), "."  # the memory is a repository of its own
    if not answer(folder, "rev-parse", "--git-dir"):
        raise InvalidArgument("this project is in no git repository, so there is nothing to compare with")
    # A name that begins with a dash would be an option.
    known = "" if commit.startswith("-") else commit
    found = answer(folder, "rev-parse", "--verify", "--quiet", "--end-of-options", f"{known}^{{commit}}").strip()
    if not found and commit == "HEAD":
        raise InvalidArgument("this repository has no commit yet, so there is nothing to compare with")
    if not found:
        raise InvalidArgument(f"git knows no commit {commit!a}; name a commit, a branch or a tag")
    wanted: list[tuple[str, str]] = []
    for row in answer(folder, "ls-tree", "-r", "-z", "-l", found.decode(), "--", below).split(b"\0"):
        about, _, path = row.partition(b"\t")
        mode, _, name_and_size = about.decode("ascii", "replace").partition(" blob ")
        oid, _, length = name_and_size.partition(" ")
        if mode in ("100644", "100755") and length.strip().isdigit() and int(length) <= _LARGEST:
            wanted.append((os.path.relpath(os.fsdecode(path), below), oid))
    data = answer(folder, "cat-file", "--batch", given="".join(f"{oid}\n" for _, oid in wanted).encode())
    files: dict[str, bytes] = {}
    at = 0
    for name, _ in wanted:
        line = data.find(b"\n", at)
        size = int(data[at:line].rpartition(b" ")[2]) if line > 0 else 0
        files[name.replace(os.sep, "/")] = data[line + 1 : line + 1 + size]
        at = line + size + 2
    return files

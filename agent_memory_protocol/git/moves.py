"""Which entries git has taken out of a document, by going from one commit to another, and whether a branch has them.

HEAD's reflog says where this checkout has been, and git has the document as it was there. So a step took out
an entry that was in it at one commit, and at none since (decision 23).
"""

import os
import time
from collections.abc import Callable, Collection, Sequence
from contextlib import suppress
from datetime import UTC, date, datetime
from functools import cache, partial

from ..errors import DamagedFile
from ..formats.jsonl import EntryLine, parse_file
from ..layout import LEDGER, Target
from ..tiers import document as documents
from ..tiers import frame
from ..values import dataclass
from .ask import answer, ask

_STEPS = 100  # How many steps of HEAD are looked at: many more than a person takes between two writes
_NO_CLOCK = 1 << 37  # Seconds since the epoch that no calendar of Python has a day for
_LARGEST = 256 * 1024  # A larger document is not a page of memory, and is not read
_AT_WORK = 2.0  # So many seconds after its last sign git may be at work still

_LOOK_AGAIN = 0.05


@dataclass(frozen=True, slots=True)
class Moved:
    """What steps of HEAD have taken out of a document, by the ids of its entries."""

    left: frozenset[str] = frozenset()  # is on a branch that was left for a commit that does not build on it
    # was committed, and is gone in a later commit, in one that came instead, or in one that is merged now
    dropped: frozenset[str] = frozenset()


def moved_entries(folder: str, target: Target, ids: Collection[str], since: float, *, ledger: bool = False) -> Moved:
    """Say which of these entries, missing from a document or (`ledger`) its ledger, git has taken out `since` then.

    An entry that the present commit has, or that was never committed, is in neither set. Both are empty if git, a
    repository or its reflog is missing. Git notes steps to the second, and those of the same second count.
    """
    folder, path = _nearest(folder, target, LEDGER if ledger else target.parts[-1])
    ids_at = partial(_ids_at, folder, path, _ids_of_ledger if ledger else partial(_ids_of_document, target))
    merged = _merged_out(folder, ids_at) if ids else frozenset()
    steps = _steps(folder, since) if ids else []
    there = ids_at(steps) if len(steps) > 1 else None
    if there is None:
        return Moved(dropped=merged.intersection(ids))
    has_branch = cache(partial(_has_branch, folder))
    builds_on = cache(partial(_builds_on, folder))
    left, dropped = set(), {*merged.intersection(ids)}
    for one in {*ids} - there[0] - merged:
        having = [number for number, stood in enumerate(there) if one in stood]
        if not having:
            continue
        last = having[0]
        # What an earlier commit of this line of history had was taken out on this line.
        was_here = any(
            builds_on(steps[at], steps[number]) for at, number in [(last - 1, last), *((0, n) for n in having)]
        )
        if not was_here and any(has_branch(steps[number]) for number in having):
            left.add(one)
        else:
            dropped.add(one)
    return Moved(frozenset(left), frozenset(dropped))


def _merged_out(folder: str, ids_at: Callable[[Sequence[str]], list[frozenset[str]] | None]) -> frozenset[str]:
    """Return what an uncommitted merge, pick or rebase takes out: both sides had it, and theirs has not."""
    gone: set[str] = set()
    for head in ("MERGE_HEAD", "CHERRY_PICK_HEAD", "REBASE_HEAD"):
        base = answer(folder, "merge-base", "HEAD", head).decode("ascii", "replace").strip()
        if base and (there := ids_at([base, head])):
            gone |= there[0] - there[1]
    return frozenset(gone)


def committed_on(folder: str, target: Target) -> date | None:
    """Return the day of the last commit that changed a document, in UTC; None if git knows none."""
    folder, path = _nearest(folder, target, target.parts[-1])
    stamp = answer(folder, "log", "-1", "--format=%ct", "--", path).strip()
    return datetime.fromtimestamp(int(stamp), UTC).date() if stamp.isdigit() and int(stamp) < _NO_CLOCK else None


def _nearest(folder: str, target: Target, file: str) -> tuple[str, str]:
    """Return the folder nearest to a document, and its path from there; `.scaffolding` may be its own repository."""
    *names, _ = target.parts
    while names and os.path.isdir(os.path.join(folder, names[0])):
        folder = os.path.join(folder, names.pop(0))
    return folder, "/".join([*names, file])


def _steps(folder: str, since: float) -> list[str]:
    """Return the commits that HEAD has been at, newest first, back to the one it was at at that moment."""
    _wait_for_git(folder)
    # The person's settings may ask for signatures, which would be between these lines.
    words = ("reflog", "show", "--date=unix", f"-n{_STEPS}", "--format=%H %gd", "HEAD")
    steps = []
    for line in answer(folder, *words).decode("ascii", "replace").splitlines():
        commit, _, name = line.partition(" ")
        steps.append(commit)
        moment = name.partition("@{")[2].rstrip("}")
        if not moment.isdecimal() or int(moment) < int(since):
            break
    return steps


def _wait_for_git(folder: str) -> None:
    """Wait briefly for a git that is running: it changes the files first, and moves HEAD last."""
    name = os.fsdecode(answer(folder, "rev-parse", "--git-path", "index.lock")).rstrip("\r\n")
    path = os.path.join(folder, name) if name else ""
    with suppress(OSError):
        # One that is older was left by a git that was killed, or that waits for a person.
        while path and 0 <= time.time() - os.stat(path).st_mtime < _AT_WORK:
            time.sleep(_LOOK_AGAIN)


def _ids_of_document(target: Target, data: bytes) -> frozenset[str]:
    found = documents.parse(data, target)
    return frozenset([*found.ids, *frame.parts(found)])


def _ids_of_ledger(data: bytes) -> frozenset[str]:
    return frozenset(line.id for line in parse_file([data]) if isinstance(line, EntryLine))


def _ids_at(
    folder: str, path: str, ids_of: Callable[[bytes], frozenset[str]], commits: Sequence[str]
) -> list[frozenset[str]] | None:
    """Return the ids of a file's entries at each of these commits; no ids where the file was missing."""
    names = os.fsencode("".join(f"{commit}:./{path}\n" for commit in commits))
    objects = answer(folder, "cat-file", "--batch-check", given=names).splitlines()
    if len(objects) != len(commits):
        return None
    known: dict[bytes, frozenset[str]] = {}
    there = []
    for one in objects:
        if not one.endswith(b" missing") and one not in known:
            name, _, rest = one.partition(b" ")
            kind, _, size = rest.partition(b" ")
            if kind != b"blob" or int(size) > _LARGEST:
                return None
            data = answer(folder, "cat-file", "blob", name.decode())
            if len(data) != int(size):
                return None
            try:
                known[one] = ids_of(data)
            except DamagedFile:
                return None
        there.append(known.get(one, frozenset()))
    return there


def _builds_on(folder: str, commit: str, other: str) -> bool:
    """Say whether another commit is in the history of this one. Where git cannot tell, it may be."""
    done = ask(folder, "merge-base", "--is-ancestor", other, commit)
    return done is None or done.returncode != 1


def _has_branch(folder: str, commit: str) -> bool:
    """Say whether a branch, a remote's branch or a tag contains a commit: then git does not forget it."""
    refs = ("refs/heads", "refs/remotes", "refs/tags")
    return answer(folder, "for-each-ref", "--count=1", f"--contains={commit}", "--format=%(refname)", *refs) != b""

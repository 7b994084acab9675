"""Git's merge driver for memory files: the three versions that git hands over become one, entry by entry.

If that is not certain, the result is git's own: its markers around what a person has to decide.
"""

import os
from functools import partial
from typing import TYPE_CHECKING

from ..change.merge import merge_file
from ..disk.files import Root, read_named
from ..disk.writing import replace
from ..errors import InvalidArgument, StorageError
from ..git.ask import ask
from ..layout import SCAFFOLDING, TIERS
from ..project.access import Actor
from ..project.outside import check_outside
from ..values import dataclass
from ..workspace import Workspace
from .install import FileChange, InstallPlan

if TYPE_CHECKING:
    from subprocess import CompletedProcess

NAME = "amp-memory"  # What the driver is called in git's configuration and attributes

COMMAND = "agent-memory"
PROGRAM = (
    f"command -v {COMMAND} >/dev/null && {COMMAND} merge --write --path %P %O %A %B && exit 0; "
    "grep -q '^<<<<<<< ours' %A && exit 1; "
    "git merge-file -L ours -L base -L theirs --marker-size=%L %A %O %B"
)
"""The command git runs. If this program is missing or fails, the command does what git does without a driver.

A conflict without markers in the file would hold our side alone, and theirs would be lost with the next commit. The
program has its longer name here: other tools are called `amp` too, and git believes whatever ends with 0.
"""

ATTRIBUTES = tuple(f"{tier.file} merge={NAME}" for tier in TIERS)
_CONFIGURATION = {
    f"merge.{NAME}.name": "memory of agents, entry by entry",
    f"merge.{NAME}.driver": PROGRAM,
}
_FILE = f"{SCAFFOLDING}/.gitattributes"
_ERROR = 128  # From this exit code on, git has not merged at all


@dataclass(frozen=True, slots=True)
class Driven:
    """A merge: the bytes of the result, what to tell a person, and whether conflict markers are left in it."""

    data: bytes
    notes: tuple[str, ...]
    has_conflicts: bool


def merge_paths(base: str, ours: str, theirs: str, *, path: str, max_lines: int, max_bytes: int) -> Driven:
    """Merge the files at three paths: the version that both sides come from, ours and theirs.

    The name at `path`, in the repository, says what they hold. The limits are those of a tier document.
    """
    merged = merge_file(read(base), read(ours), read(theirs), path=path, max_lines=max_lines, max_bytes=max_bytes)
    if merged is not None:
        return Driven(merged.data, merged.notes, has_conflicts=False)
    labels = [part for name in ("ours", "base", "theirs") for part in ("-L", name)]
    done = _git(os.curdir, "merge-file", "-p", *labels, *map(os.path.abspath, (ours, base, theirs)))
    if done.returncode >= _ERROR:
        raise StorageError(f"{path}: neither amp nor git can merge it ({_said(done)}); merge it by hand")
    if not done.returncode:
        note = "merged line by line, as git does: whether its entries are right was not certain, read it once"
        return Driven(done.stdout, (note,), has_conflicts=False)
    return Driven(done.stdout, (f"{done.returncode} conflict(s) left, between markers; a person must decide",), True)


def write(ours: str, data: bytes, actor: Actor) -> None:
    """Put the result in the place of our version, which is a copy: an agent may name no file of the memory there."""
    check_outside(actor, ours)
    folder, name = os.path.split(os.path.abspath(ours))
    with Root.open(folder) as root:
        content = root.read((name,))
        if content is not None and content.data != data:
            replace(root, (name,), data, expected=content)


def plan(workspace: Workspace, *, installs: bool) -> InstallPlan:
    """Say what makes git merge this project's memory with `amp`, in this checkout, or what takes that out again.

    The attributes travel with the repository. Git is told in each checkout which program they name: a repository must
    not say which programs run.
    """
    made = InstallPlan()
    for key, wanted in _CONFIGURATION.items():
        value = wanted if installs else None
        now = _configured(workspace, key)
        if now != value:
            do = ("config", "--local", "--unset-all", key) if value is None else ("config", "--local", key, value)
            before, after = (None if text is None else f"{text}\n".encode() for text in (now, value))
            made.changes.append(FileChange(f"git config {key}", before, after, partial(_git_here, workspace, *do)))
    lines = {"add": ATTRIBUTES} if installs else {"drop": ATTRIBUTES}
    change = workspace.plan_git_attributes(**lines)
    if change is not None:
        made.changes.append(FileChange(_FILE, *change, partial(workspace.set_git_attributes, **lines)))
    return made


def _configured(workspace: Workspace, key: str) -> str | None:
    done = _git(str(workspace.path), "config", "--local", "--get", key)
    if done.returncode not in (0, 1):
        raise StorageError(f"{workspace.path}: git does not work here ({_said(done)}); is it a git repository?")
    return done.stdout.decode(errors="replace").removesuffix("\n") if done.returncode == 0 else None


def _git_here(workspace: Workspace, *args: str) -> None:
    done = _git(str(workspace.path), *args)
    if done.returncode:
        raise StorageError(f"{workspace.path}: git {args[0]} failed: {_said(done)}")


def _git(folder: str, *args: str) -> "CompletedProcess[bytes]":
    done = ask(folder, *args)
    if done is None:
        raise StorageError("git cannot be run, or takes too long; install it or merge by hand")
    return done


def _said(done: "CompletedProcess[bytes]") -> str:
    return " ".join(done.stderr.decode(errors="replace").split()) or f"exit code {done.returncode}"


def read(path: str) -> bytes:
    """Return a file that git hands over. Raises as `merge_paths`."""
    content = read_named(path)
    if content is None:
        raise InvalidArgument(f"{path} is not there; name a file, or an empty one where there was none")
    return content.data

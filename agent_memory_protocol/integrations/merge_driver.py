"""Git's merge driver for memory files: the three versions that git hands over become one, entry by entry.

Where that is not certain, the result is git's own: its markers around what a person has to decide.
"""

import os
import subprocess
from dataclasses import dataclass

from agent_memory_protocol.access import Actor
from agent_memory_protocol.errors import StorageError
from agent_memory_protocol.files import Root
from agent_memory_protocol.layout import SCAFFOLDING
from agent_memory_protocol.merging import merge_file
from agent_memory_protocol.outside import check_outside
from agent_memory_protocol.workspace import Workspace
from agent_memory_protocol.writing import replace

NAME = "amp-memory"
"""What the driver is called in git's configuration and attributes."""

PROGRAM = (
    "if command -v amp >/dev/null; then amp merge --write --path %P %O %A %B; "
    "else git merge-file -L ours -L base -L theirs --marker-size=%L %A %O %B; fi"
)
"""The command git runs. In a checkout without `amp` it does what git does without a driver."""

ATTRIBUTES = tuple(f"{name} merge={NAME}" for name in ("KNOWLEDGE.md", "MEMORY.md", "context.md"))
_CONFIGURATION = {
    f"merge.{NAME}.name": "memory of agents, entry by entry",
    f"merge.{NAME}.driver": PROGRAM,
}
_SECONDS = 30
_ERROR = 128
"""From this exit code on, git has not merged at all."""


@dataclass(frozen=True, slots=True)
class Driven:
    """A merge: the bytes of the result, what to tell a person, and whether conflict markers are left in it."""

    data: bytes
    notes: tuple[str, ...]
    has_conflicts: bool


def merge_paths(base: str, ours: str, theirs: str, *, path: str, max_lines: int, max_bytes: int) -> Driven:
    """Merge three files, which may lie anywhere.

    Args:
        base: the path of the version both sides come from.
        ours: the path of our version.
        theirs: the path of theirs.
        path: where the merged file stands in the repository; its name says what it holds.
        max_lines: the limit of a tier document.
        max_bytes: the other limit.

    Raises:
        StorageError: one of them cannot be read, or git is not there to mark what is not certain.
    """
    merged = merge_file(_read(base), _read(ours), _read(theirs), path=path, max_lines=max_lines, max_bytes=max_bytes)
    if merged is not None:
        return Driven(merged.data, merged.notes, has_conflicts=False)
    labels = [part for name in ("ours", "base", "theirs") for part in ("-L", name)]
    done = _git("merge-file", "-p", *labels, *map(os.path.abspath, (ours, base, theirs)))
    if done.returncode >= _ERROR:
        raise StorageError(f"{path}: neither amp nor git can merge it ({_said(done)}); merge it by hand")
    if not done.returncode:
        note = "merged line by line, as git does: whether its entries are right was not certain, read it once"
        return Driven(done.stdout, (note,), has_conflicts=False)
    return Driven(done.stdout, (f"{done.returncode} conflict(s) left, between markers; a person must decide",), True)


def write(ours: str, data: bytes, actor: Actor) -> None:
    """Put the result in the place of our version, where git looks for it.

    Git hands over copies. An agent that names the memory itself would write into any of its files.

    Raises:
        AccessDenied: an agent names a file of the memory.
        StorageError: it cannot be written; our version stands there as it was.
    """
    check_outside(actor, ours)
    folder, name = os.path.split(os.path.abspath(ours))
    with Root.open(folder) as root:
        content = root.read((name,))
        if content is not None and content.data != data:
            replace(root, (name,), data, expected=content)


def install(workspace: Workspace) -> list[str]:
    """Have git merge this project's memory with `amp`, in this checkout; return what was changed, in words.

    The attributes travel with the repository. What they name, git learns in each checkout anew, for a repository must
    not say which programs run.

    Raises:
        StorageError: there is no git repository, or no git.
    """
    changed = []
    for key, value in _CONFIGURATION.items():
        if _configured(workspace, key) != value:
            _git_here(workspace, "config", "--local", key, value)
            changed.append(f"git config {key}")
    if workspace.set_git_attributes(add=ATTRIBUTES):
        changed.append(f"{SCAFFOLDING}/.gitattributes")
    return changed


def uninstall(workspace: Workspace) -> list[str]:
    """Take out what `install` put in, and nothing else; return what was changed, in words.

    Raises:
        StorageError: there is no git repository, or no git.
    """
    changed = []
    for key in _CONFIGURATION:
        if _configured(workspace, key) is not None:
            _git_here(workspace, "config", "--local", "--unset-all", key)
            changed.append(f"git config {key}")
    if workspace.set_git_attributes(drop=ATTRIBUTES):
        changed.append(f"{SCAFFOLDING}/.gitattributes")
    return changed


def _configured(workspace: Workspace, key: str) -> str | None:
    done = _git("-C", str(workspace.path), "config", "--local", "--get", key)
    if done.returncode not in (0, 1):
        raise StorageError(f"{workspace.path}: git does not work here ({_said(done)}); is it a git repository?")
    return done.stdout.decode(errors="replace").removesuffix("\n") if done.returncode == 0 else None


def _git_here(workspace: Workspace, *args: str) -> None:
    done = _git("-C", str(workspace.path), *args)
    if done.returncode:
        raise StorageError(f"{workspace.path}: git {args[0]} failed: {_said(done)}")


def _git(*args: str) -> "subprocess.CompletedProcess[bytes]":
    try:
        return subprocess.run(["git", *args], capture_output=True, timeout=_SECONDS, check=False)
    except (OSError, subprocess.SubprocessError) as error:
        raise StorageError(f"git cannot be run ({error}); install it or merge by hand") from error


def _said(done: "subprocess.CompletedProcess[bytes]") -> str:
    return " ".join(done.stderr.decode(errors="replace").split()) or f"exit code {done.returncode}"


def _read(path: str) -> bytes:
    folder, name = os.path.split(os.path.abspath(path))
    with Root.open(folder) as root:
        content = root.read((name,))
    if content is None:
        raise StorageError(f"{path} is not there; name a file, or an empty one where there was none")
    return content.data

"""Git's merge driver for memory files: the three versions that git hands over become one, entry by entry.

Where that is not certain, the result is git's own: its markers around what a person has to decide.
"""

import os
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from ..change.merge import merge_file
from ..disk.files import Root
from ..disk.writing import replace
from ..errors import InvalidArgument, StorageError
from ..layout import SCAFFOLDING, TIERS
from ..project.access import Actor
from ..project.outside import check_outside
from ..workspace import Workspace
from .install import diff_of, in_a_word

NAME = "amp-memory"
"""What the driver is called in git's configuration and attributes."""

COMMAND = "agent-memory"
PROGRAM = (
    f"command -v {COMMAND} >/dev/null && {COMMAND} merge --write --path %P %O %A %B && exit 0; "
    "grep -q '^<<<<<<< ours' %A && exit 1; "
    "git merge-file -L ours -L base -L theirs --marker-size=%L %A %O %B"
)
"""The command git runs. Where this program is missing or fails, it does what git does without a driver: a conflict that
git reports without markers in the file holds our side alone, and theirs is lost when that is committed. It goes by its
longer name, since other tools are called `amp` too, and git believes whatever ends with 0.
"""

ATTRIBUTES = tuple(f"{tier.file} merge={NAME}" for tier in TIERS)
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


@dataclass(frozen=True, slots=True)
class Step:
    """Something that becomes something else: one key of git's configuration, or the file of attributes.

    Attributes:
        place: how a person knows it.
        before: its text now; None where there is none.
        after: its text afterwards; None where there is none.
        key: the key, where it is one of the configuration.
        add: the lines that the attributes get.
        drop: the lines that they lose.
    """

    place: str
    before: str | None
    after: str | None
    key: str = ""
    add: Sequence[str] = ()
    drop: Sequence[str] = ()

    @property
    def what(self) -> str:
        """What happens to it, in one word."""
        return in_a_word(self.before, self.after)

    @property
    def diff(self) -> str:
        """The change as a unified diff."""
        ending = "\n" if self.key else ""
        before, after = (None if text is None else f"{text}{ending}".encode() for text in (self.before, self.after))
        return diff_of(before, after, self.place)


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
        InvalidArgument: one of them is not there.
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


def plan_install(workspace: Workspace) -> list[Step]:
    """Say what makes git merge this project's memory with `amp`, in this checkout. Changes nothing.

    The attributes travel with the repository. What they name, git learns in each checkout anew, for a repository must
    not say which programs run.

    Raises:
        StorageError: there is no git repository, or no git.
    """
    return [*_configuration(workspace, _CONFIGURATION), *_attributes(workspace, add=ATTRIBUTES)]


def plan_uninstall(workspace: Workspace) -> list[Step]:
    """Say what takes out what installing put in, and nothing else. Changes nothing.

    Raises:
        StorageError: there is no git repository, or no git.
    """
    return [*_configuration(workspace, dict.fromkeys(_CONFIGURATION)), *_attributes(workspace, drop=ATTRIBUTES)]


def carry_out(workspace: Workspace, plan: Sequence[Step]) -> None:
    """Do what was planned.

    Raises:
        StorageError: git, or the system, refuses one of the steps; those before it are done.
    """
    for step in plan:
        if step.key and step.after is not None:
            _git_here(workspace, "config", "--local", step.key, step.after)
        elif step.key:
            _git_here(workspace, "config", "--local", "--unset-all", step.key)
        else:
            workspace.set_git_attributes(add=step.add, drop=step.drop)


def _configuration(workspace: Workspace, wanted: Mapping[str, str | None]) -> Iterator[Step]:
    for key, value in wanted.items():
        now = _configured(workspace, key)
        if now != value:
            yield Step(f"git config {key}", now, value, key=key)


def _attributes(workspace: Workspace, *, add: Sequence[str] = (), drop: Sequence[str] = ()) -> Iterator[Step]:
    change = workspace.plan_git_attributes(add=add, drop=drop)
    if change is not None:
        before, after = (None if one is None else one.decode("utf-8", "replace") for one in change)
        yield Step(f"{SCAFFOLDING}/.gitattributes", before, after, add=add, drop=drop)


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
        raise InvalidArgument(f"{path} is not there; name a file, or an empty one where there was none")
    return content.data

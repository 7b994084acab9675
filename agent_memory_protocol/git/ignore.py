"""What git is told about the memory: whether to track it, and which files to merge by keeping both sides' lines."""

import os
from collections.abc import Callable, Sequence
from pathlib import Path

from ..disk.files import Content, Root, split_bom
from ..disk.lock import hold
from ..disk.writing import create, replace
from ..layout import ATTRIBUTES, LEDGER, REFUSED, REVIEWED, SCAFFOLDING, SIGHTINGS, Target, Tier
from .ask import answer, ask

_PARTS = (".gitignore",)
LINE = f"{SCAFFOLDING}/"
_SAME = frozenset(f"{before}{SCAFFOLDING}{after}".encode() for before in ("", "/") for after in ("", "/"))

_BOTH_SIDES = (
    # Code hosts fold the changes of what is generated: a reviewer reads the document, from which the entries have gone.
    f"{LEDGER} merge=union -text linguist-generated",
    f"{'/'.join(SIGHTINGS[1:])} merge=union -text linguist-generated",
    f"{'/'.join(REVIEWED[1:])} merge=union -text",
    f"{'/'.join(REFUSED[1:])} merge=union -text",
)


def set_tracking(root: Root, wish: str) -> list[str]:
    """Let git track the memory (`track`) or not (`ignore`), by a line of `.gitignore`.

    Return what else is to be done.
    """
    tracks = wish == "track"
    changed = track(root) if tracks else ignore(root)
    told = [f"`{LINE}` {'taken out of' if tracks else 'added to'} .gitignore"] if changed else []
    is_now = is_ignored(Path(root.path))
    if tracks and is_now:
        told.append("git still ignores the memory; `git check-ignore -v .scaffolding/agent-memory` says by which line")
    elif not tracks and is_tracked(Path(root.path)):
        told.append("git tracks the memory already; `git rm -r --cached .scaffolding` stops that")
    elif not tracks and is_now is False:
        told.append("git does not ignore the memory yet: another line of a .gitignore includes it")
    return told


def ignore(root: Root) -> bool:
    """Add the line that keeps the memory out of git, at the end. Says whether anything changed."""
    content = root.read(_PARTS)
    there = content is not None and any(map(_is_ours, content.data.splitlines()))
    return _put(root, _PARTS, content, _edited(content, add=[] if there else [LINE]))


def track(root: Root) -> bool:
    """Take out the lines that keep the memory out of git, and nothing else. Says whether anything changed."""
    content = root.read(_PARTS)
    return _put(root, _PARTS, content, _edited(content, goes=_is_ours))


def merge_by_lines(root: Root) -> bool:
    """Have git merge ledgers, sightings and the days of reviews by keeping both sides' lines (decision 23)."""
    return set_attributes(root, add=_BOTH_SIDES)


def plan_attributes(
    root: Root, *, add: Sequence[str] = (), drop: Sequence[str] = ()
) -> tuple[bytes | None, bytes] | None:
    """Return the bytes of `.scaffolding/.gitattributes` and those that `set_attributes` would give it.

    None if equal.
    """
    content = root.read(ATTRIBUTES)
    old, data = b"" if content is None else content.data, _with_attributes(content, add, drop)
    return None if data == old else (None if content is None else old, data)


def set_attributes(root: Root, *, add: Sequence[str] = (), drop: Sequence[str] = ()) -> bool:
    """Add lines to `.scaffolding/.gitattributes`, or take them out; say whether anything changed."""
    if plan_attributes(root, add=add, drop=drop) is None:
        return False
    # The holder of this lock may clear away what a killed writer of the file left.
    with hold(root, "gitattributes"):
        content = root.read(ATTRIBUTES)
        return _put(root, ATTRIBUTES, content, _with_attributes(content, add, drop), alone=True)


def _with_attributes(content: Content | None, add: Sequence[str], drop: Sequence[str]) -> bytes:
    """Return the file's bytes without some lines, and with others if it says nothing of the same names."""
    dropped = [line.encode() for line in drop]
    lines = [] if content is None else content.data.splitlines()
    named = {line.split()[0] for line in lines if line.strip() and line.strip() not in dropped}
    missing = [line for line in add if line.split()[0].encode() not in named]
    return _edited(content, add=missing, goes=lambda line: line.strip() in dropped)


def _edited(
    content: Content | None, *, add: Sequence[str] = (), goes: Callable[[bytes], bool] = lambda _: False
) -> bytes:
    """Return a file's bytes without the lines that go, and with new ones at the end, in its own line endings."""
    bom, old = split_bom(b"" if content is None else content.data)
    ending = b"\r\n" if b"\r\n" in old else b"\n"
    lines = [line for line in old.splitlines(keepends=True) if not goes(line)]
    if add and lines and not lines[-1].endswith(b"\n"):
        lines[-1] += ending
    return b"".join([bom, *lines, *(line.encode() + ending for line in add)])


def _put(root: Root, parts: tuple[str, ...], content: Content | None, data: bytes, *, alone: bool = False) -> bool:
    """Write a file that was read as `content`; say whether that changes it."""
    if data == (b"" if content is None else content.data):
        return False
    if content is None:
        return create(root, parts, data, alone=alone)
    replace(root, parts, data, expected=content)
    return True


def is_ignored(root: Path) -> bool | None:
    """Ask git whether it ignores the shared document; None if git or a repository is missing."""
    return _ignores(str(root), Target(Tier.SHARED).path)


def notes(root: Path) -> list[str]:
    """Say when git ignores the memory: it is then in this checkout alone, and reviewed by nobody."""
    if is_ignored(root):
        return ["git ignores the memory, so it stays on this machine; `amp init --track` changes that"]
    return []


def ignores_one_of(root: str, path: str, other: str) -> bool:
    """Say whether git ignores the first of two paths but not the second; False if git cannot tell."""
    if not os.path.exists(os.path.join(root, ".git")):
        return False
    return _ignores(root, path) is True and _ignores(root, other) is False


def is_tracked(root: Path) -> bool:
    """Say whether git tracks files of the memory already: then no line in `.gitignore` keeps them out."""
    return answer(str(root), "ls-files", "--", SCAFFOLDING) != b""


def _ignores(root: str, path: str) -> bool | None:
    done = ask(root, "check-ignore", "--quiet", "--no-index", path)
    return None if done is None else {0: True, 1: False}.get(done.returncode)


def _is_ours(line: bytes) -> bool:
    """Say whether a line of `.gitignore` names the memory's folder, as git reads it: bytes, in whatever encoding."""
    return split_bom(line)[1].rstrip(b" \r\n") in _SAME

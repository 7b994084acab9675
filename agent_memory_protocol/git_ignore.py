"""What git is told about the memory: whether to track it, and to merge ledgers by keeping both sides' lines."""

import os
import subprocess
from pathlib import Path

from .files import Root, decode
from .layout import SCAFFOLDING, Target, Tier
from .ledger import NAME
from .limits import split_lines, split_lines_with_ends
from .writing import create, replace

_PARTS = (".gitignore",)
LINE = f"{SCAFFOLDING}/"
_SAME = frozenset([SCAFFOLDING, f"{SCAFFOLDING}/", f"/{SCAFFOLDING}", f"/{SCAFFOLDING}/"])
_SECONDS = 5

_ATTRIBUTES = (SCAFFOLDING, ".gitattributes")
MERGE_LINE = f"{NAME} merge=union -text"


def ignore(root: Root) -> bool:
    """Add the line that keeps the memory out of git, at the end. Says whether anything changed."""
    content = root.read(_PARTS)
    if content is None:
        return create(root, _PARTS, f"{LINE}\n".encode())
    lines = split_lines_with_ends(decode(content.data, ".gitignore"))
    if any(line.strip() in _SAME for line in lines):
        return False
    ending = "\r\n" if lines and lines[0].endswith("\r\n") else "\n"
    joint = b"" if not content.data or content.data.endswith(b"\n") else ending.encode()
    replace(root, _PARTS, content.data + joint + f"{LINE}{ending}".encode(), expected=content)
    return True


def track(root: Root) -> bool:
    """Take out the lines that keep the memory out of git, and nothing else. Says whether anything changed."""
    content = root.read(_PARTS)
    if content is None:
        return False
    lines = split_lines_with_ends(decode(content.data, ".gitignore"))
    kept = [line for line in lines if line.strip() not in _SAME]
    if kept == lines:
        return False
    bom = content.data[: len(content.data) - len("".join(lines).encode())]
    replace(root, _PARTS, bom + "".join(kept).encode(), expected=content)
    return True


def merge_ledgers(root: Root) -> bool:
    """Write `.scaffolding/.gitattributes`, or add its line to it (decision 23). Says whether anything changed.

    A hosted merge ignores it; a ledger that was merged by hand still reads right.
    """
    content = root.read(_ATTRIBUTES)
    if content is None:
        return create(root, _ATTRIBUTES, f"{MERGE_LINE}\n".encode())
    if any(line.split()[:1] == [NAME] for line in split_lines(decode(content.data, "/".join(_ATTRIBUTES)))):
        return False
    joint = b"" if not content.data or content.data.endswith(b"\n") else b"\n"
    replace(root, _ATTRIBUTES, content.data + joint + f"{MERGE_LINE}\n".encode(), expected=content)
    return True


def is_ignored(root: Path) -> bool | None:
    """Ask git whether it ignores the shared document; None where git or a repository is missing."""
    return _ignores(str(root), Target(Tier.SHARED).path)


def ignores_one_of(root: str, path: str, other: str) -> bool:
    """Say whether git ignores the first of two paths but not the second; False where nobody can tell."""
    if not os.path.exists(os.path.join(root, ".git")):
        return False
    return _ignores(root, path) is True and _ignores(root, other) is False


def _ignores(root: str, path: str) -> bool | None:
    try:
        answer = subprocess.run(
            ["git", "-C", root, "check-ignore", "--quiet", "--no-index", path],
            capture_output=True,
            timeout=_SECONDS,
            check=False,
        )
    except (OSError, subprocess.SubprocessError):
        return None
    return {0: True, 1: False}.get(answer.returncode)

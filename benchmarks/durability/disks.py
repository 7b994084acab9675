"""Disks that are full, read-only, busy or somebody else's: reading goes on, writing refuses in one line."""

import ctypes
import os
import subprocess
from collections.abc import Callable
from functools import partial
from pathlib import Path

from .project import Done, Project, amp, new_project, start, wait_for
from .row import NotHere, Row, Size, problems

_NEW_NAMESPACE = 0x00020000
_NOBODY = 65534
_VERBS = (
    ("remember", "One more."),
    ("edit", "ID", "Changed."),
    ("forget", "ID"),
    ("prune", "--apply"),
    ("restore", "--last", "--apply"),
)


def refusing(folder: Path, size: Size) -> list[Row]:  # noqa: ARG001  (short enough to be tried whole)
    """Try each verb on each of the disks."""
    if os.geteuid() != 0:
        raise NotHere("mounts and other users need root")
    kinds = [
        ("disk full", "a tmpfs of 128 KiB, filled up", _full),
        ("read-only mount", "the project mounted read-only", _read_only),
        ("rename refused with EBUSY", "the document bind-mounted over itself", _busy),
        ("no rights: files and folders of another user", "setuid to an unprivileged user", _someone_else),
    ]
    rows = []
    for number, (fault, method, make) in enumerate(kinds):
        answer = folder / f"answer-{number}"
        answer.write_text("it could not be mounted here")
        place = folder / str(number)
        place.mkdir()
        wait_for(start(partial(_try, place, make, answer)))
        wrong = answer.read_text()
        rows.append(
            Row(
                fault,
                f"{method}; {len(_VERBS)} verbs that write, then `amp recall`",
                "exit 4 and one clear line each, not one byte changed, recall answers; once mended, all verbs work",
                wrong or f"{len(_VERBS)} of {len(_VERBS)} refused, recalled, all there; then all worked",
                None if wrong == "it could not be mounted here" else not wrong,
            )
        )
    return rows


def _try(
    folder: Path, make: Callable[[Project], tuple[Callable[[], object], Callable[[], object]]], answer: Path
) -> None:
    """Run the verbs in a mount namespace of this process's own, where mounts end with it."""
    if ctypes.CDLL(None, use_errno=True).unshare(_NEW_NAMESPACE):
        return
    _mount("--make-rprivate", "/")
    (folder / "disk").mkdir()
    if make is _full:
        _mount("-t", "tmpfs", "-o", "size=128k", "none", str(folder / "disk"))
    project = new_project(folder / "disk" / "project")
    for text in ("The first port is 80.", "[2020-01-01] An old one.", "[2020-02-02] Another.", "Use pnpm.", "Ask Ada."):
        project.workspace().remember(text)
    project.workspace().forget([project.parsed().ids[1]])
    before, mend = make(project)
    answer.write_text(problems(_wrong(project, folder, before, mend)))


def _wrong(project: Project, folder: Path, before: Callable[[], object], mend: Callable[[], object]) -> list[str]:
    whole = _snapshot(project)
    outside = Project(folder / "outside")
    found = []

    def begin() -> None:
        os.chdir(project.path)
        before()

    def run(*words: str) -> Done:
        return amp(outside, *words, before=begin)

    verbs = [[project.parsed().ids[0] if word == "ID" else word for word in verb] for verb in _VERBS]
    outside.path.mkdir()
    for words in verbs:
        done = run(*words)
        if done.code != 4 or not done.is_clear:
            found.append(f"{words[0]}: exit {done.code}, {done.err.strip()!r}")
        if _snapshot(project) != whole:
            found.append(f"{words[0]}: something has changed")
            whole = _snapshot(project)
    recalled = run("recall", "developer")
    if recalled.code != 0 or "Use pnpm." not in recalled.out:
        found.append(f"recall: exit {recalled.code}, {recalled.err.strip()!r}")
    mend()
    for words in verbs:
        done = amp(project, *words)
        if done.code != 0 and not (words[0] == "forget" and "no entry" in done.err):
            found.append(f"mended, {words[0]}: exit {done.code}, {done.err.strip()!r}")
    return found


def _snapshot(project: Project) -> dict[str, bytes]:
    """Return everything but locks and the folder that is only local."""
    return {
        str(path): path.read_bytes()
        for path in sorted(project.path.rglob("*"))
        if path.is_file() and ".amp" not in path.parts
    }


def _full(project: Project) -> tuple[Callable[[], object], Callable[[], object]]:
    filler = project.path.parent / "filler"
    try:
        with filler.open("wb", buffering=0) as file:
            while True:
                file.write(b"x" * 512)
    except OSError:
        pass
    return (lambda: None), filler.unlink


def _read_only(project: Project) -> tuple[Callable[[], object], Callable[[], object]]:
    place = str(project.path)
    _mount("--bind", place, place)
    _mount("-o", "remount,bind,ro", place)
    return (lambda: None), lambda: _mount("-o", "remount,bind,rw", place)


def _busy(project: Project) -> tuple[Callable[[], object], Callable[[], object]]:
    document = str(project.document)
    _mount("--bind", document, document)
    return (lambda: None), lambda: subprocess.run(["umount", document], check=True)


def _someone_else(project: Project) -> tuple[Callable[[], object], Callable[[], object]]:
    del project

    def become_nobody() -> None:
        os.setgroups([])
        os.setgid(_NOBODY)
        os.setuid(_NOBODY)

    return become_nobody, lambda: None


def _mount(*words: str) -> None:
    subprocess.run(["mount", *words], check=True, capture_output=True)

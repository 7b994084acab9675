"""Our verbs, git's, editors of four kinds and SIGKILL in random order: is every acknowledged entry still named?"""

import os
import random
import signal
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

from agent_memory_protocol.errors import AgentMemoryError

from .project import Project, new_project, start, wait_for, wait_until
from .row import Row, Size, problems

_SAVED = "- An editor wrote line "


def in_random_order(folder: Path, size: Size) -> list[Row]:
    """Take random steps; after each few, look for every entry that somebody was told is saved."""
    steps = (40, 100, 1000)[size]
    rows = []
    for watched in (False, True):
        place = folder / f"watched-{watched}"
        place.mkdir()
        told, wrong = _Walk(place, random.Random(7), watched=watched).take(steps)
        rows.append(
            Row(
                f"git, editors and kills, {'with' if watched else 'without'} a watcher",
                f"{steps:,} random steps: remember, edit, forget, restore; reset --hard, stash, pop, a stash around a "
                "hook, rebase, checkout of files, clean -fd, a merge aborted; editors in place, by rename, with a "
                "backup, slow; SIGKILL",
                "every acknowledged entry is in the document or named by `amp restore --list`",
                problems(wrong) or f"{told:,} acknowledged, 0 lost",
                not wrong,
            )
        )
    return rows


class _Walk:
    """One project on its way through the steps."""

    def __init__(self, folder: Path, dice: random.Random, *, watched: bool) -> None:
        self._dice = dice
        self._watched = watched
        self._folder = folder
        self._project: Project = new_project(folder / "project")
        self._memory = self._project.workspace()
        self._told: list[str] = []
        self._number = 0
        self._open: list[tuple[bytes, str]] = []
        self._git("init", "-qb", "main")
        for name, value in (("user.name", "a"), ("user.email", "a@b"), ("gc.auto", "0"), ("core.hooksPath", "none")):
            self._git("config", name, value)
        self._remember()
        self._commit()
        self._remember()
        self._commit()

    def take(self, steps: int) -> tuple[int, list[str]]:
        """Take so many steps. Returns how many entries were acknowledged, and what was lost at which step."""
        ways: dict[Callable[[], object], int] = {
            self._remember: 12,
            self._edit: 3,
            self._forget: 3,
            self._restore: 2,
            self._sync: 2,
            self._commit: 3,
            self._reset: 3,
            self._reset_to_an_earlier_commit: 1,
            self._stash: 2,
            self._pop: 2,
            self._stash_around_a_hook: 2,
            self._rebase: 1,
            self._checkout_files: 2,
            self._clean: 1,
            self._merge_and_abort: 1,
            self._editor_opens: 4,
            self._editor_saves: 4,
            self._kill: 1,
        }
        taken: list[str] = []
        for number in range(steps):
            (step,) = self._dice.choices([*ways], [*ways.values()])
            # A file with conflict markers is refused, and an id may have gone: nobody is told that anything was saved.
            with suppress(AgentMemoryError, FileNotFoundError):
                step()
            taken.append(step.__name__)
            if self._watched:
                with suppress(AgentMemoryError):
                    self._sync()
            if number % 5 == 4 or number == steps - 1:
                lost = self._lost()
                if lost:
                    return len(self._told), [f"after step {number} ({' '.join(taken[-8:])}): lost {lost}"]
        return len(self._told), []

    def _lost(self) -> list[str]:
        known = [entry.text for entry in self._memory.entries(on_problem=lambda *_: None)]
        known += [one.archived.taken.markdown for one in self._memory.restorable()]
        text = "\n".join(known)
        return [one for one in self._told if f"- {one}" not in text]

    # -- our verbs -----------------------------------------------------------------------------------------------------

    def _new(self) -> str:
        self._number += 1
        port, service = self._dice.randrange(10_000), self._dice.choice(("api", "queue", "cache", "mail", "build"))
        return f"Fact {self._number}: the {service} answers at port {port}."

    def _remember(self) -> None:
        text = self._new()
        self._memory.remember(text)
        self._told.append(text)

    def _ids(self) -> list[str]:
        return [one.id for one in self._memory.entries() if "Fact" in one.text]

    def _edit(self) -> None:
        for one in self._dice.sample(ids := self._ids(), min(1, len(ids))):
            text = self._new()
            self._memory.edit(one, text)
            self._told.append(text)

    def _forget(self) -> None:
        for one in self._dice.sample(ids := self._ids(), min(1, len(ids))):
            self._memory.forget([one])

    def _restore(self) -> None:
        for one in self._dice.sample(there := self._memory.restorable(), min(1, len(there))):
            self._memory.restore([one])

    def _sync(self) -> None:
        self._memory.sync(apply=True)

    def _kill(self) -> None:
        log = self._folder / "log"
        log.write_text("")
        texts = [self._new() for _ in range(40)]
        child = start(lambda: [log.open("a").write(f"{one}\n") for one in self._each_remembered(texts)])
        with suppress(TimeoutError):
            wait_until(lambda: log.stat().st_size > 0, 5)
        time.sleep(self._dice.uniform(0, 0.05))
        os.kill(child, signal.SIGKILL)
        wait_for(child)
        self._told += log.read_text().split("\n")[:-1]

    def _each_remembered(self, texts: list[str]) -> Iterator[str]:
        memory = self._project.workspace()
        for text in texts:
            memory.remember(text)
            yield text

    # -- git's ---------------------------------------------------------------------------------------------------------

    def _git(self, *words: str, given: bytes = b"") -> subprocess.CompletedProcess[bytes]:
        command = ["git", "-C", str(self._project.path), *words]
        return subprocess.run(command, check=False, capture_output=True, input=given)

    def _commit(self) -> None:
        self._git("add", "-A")
        self._git("commit", "-qm", "step")

    def _reset(self) -> None:
        self._git("reset", "-q", "--hard")

    def _reset_to_an_earlier_commit(self) -> None:
        self._git("reset", "-q", "--hard", "HEAD~1")

    def _stash(self) -> None:
        self._git("stash", "-q", *self._dice.choice(([], ["-u"])))

    def _pop(self) -> None:
        if self._git("stash", "pop", "-q").returncode:
            self._git("checkout", "-q", "-f", "HEAD", "--", ".")

    def _stash_around_a_hook(self) -> None:
        """Do what pre-commit does with what is not staged, while something is remembered."""
        patch = self._git("diff", "--binary", "--no-color").stdout
        self._git("checkout", "-q", "--", ".")
        try:
            self._remember()
        finally:
            if patch and self._git("apply", "--whitespace=nowarn", given=patch).returncode:
                self._git("checkout", "-q", "--", ".")
                self._git("apply", "--whitespace=nowarn", given=patch)

    def _aside(self, change: Callable[[], object]) -> None:
        """Commit something on a branch beside, and come back."""
        self._commit()
        self._git("checkout", "-qB", "aside", "HEAD~1")
        change()
        self._git("add", "-A")
        self._git("commit", "-qm", "aside")
        self._git("checkout", "-qf", "main")

    def _rebase(self) -> None:
        self._aside((self._project.path / f"other-{self._number}").touch)
        if self._git("rebase", "-q", "aside").returncode:
            self._git("rebase", "--abort")
        self._git("branch", "-qD", "aside")  # what a branch has is not lost, and named there only

    def _merge_and_abort(self) -> None:
        path = self._project.document
        self._aside(lambda: path.exists() and path.write_bytes(path.read_bytes() + b"- From aside.\n"))
        self._git("merge", "-q", "--no-commit", "--no-ff", "aside")
        with suppress(AgentMemoryError):
            self._remember()
        if self._git("merge", "--abort").returncode:
            self._git("reset", "-q", "--merge")
        self._git("branch", "-qD", "aside")

    def _checkout_files(self) -> None:
        files = ([".scaffolding/agent-memory"], [str(self._project.document)], [str(self._project.ledger)])
        self._git("checkout", "-q", self._dice.choice(("HEAD", "HEAD~1")), "--", *self._dice.choice(files))

    def _clean(self) -> None:
        self._git("rm", "-rq", "--cached", ".scaffolding/agent-memory")
        self._git("clean", "-qfd")

    # -- editors -------------------------------------------------------------------------------------------------------

    def _editor_opens(self) -> None:
        self._open.append(
            (self._project.document.read_bytes(), self._dice.choice(("place", "rename", "backup", "slow")))
        )

    def _editor_saves(self) -> None:
        """Save what was opened some steps ago, with a line more, and perhaps another changed."""
        if not self._open:
            return
        data, kind = self._open.pop(self._dice.randrange(len(self._open)))
        self._number += 1
        if self._dice.random() < 0.3:
            data = data.replace(b"answers", b"replies", 1)
        data += f"{_SAVED}{self._number}.\n".encode()
        path = self._project.document
        if kind == "place":
            path.write_bytes(data)
        elif kind == "rename":
            other = path.with_name("KNOWLEDGE.md~")
            other.write_bytes(data)
            other.rename(path)
        elif kind == "backup":
            path.rename(path.with_name("KNOWLEDGE.md~"))
            path.write_bytes(data)
            path.with_name("KNOWLEDGE.md~").unlink()
        else:
            child = start(lambda: _save_slowly(path, data))
            with suppress(AgentMemoryError):
                self._remember()
            wait_for(child)


def _save_slowly(path: Path, data: bytes) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("wb", buffering=0) as file:
        half = len(data) // 2
        file.write(data[:half])
        time.sleep(0.02)
        file.write(data[half:])

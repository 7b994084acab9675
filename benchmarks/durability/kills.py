"""kill -9 at a random moment, again and again, on a process that adds, edits and forgets."""

import os
import random
import signal
import time
from functools import partial
from pathlib import Path

from agent_memory_protocol.layout import Target, Tier

from .project import Project, new_project, start, wait_for, wait_until
from .row import Row, Size, problems

_A_DOCUMENT = 100


def at_random(folder: Path, size: Size) -> list[Row]:
    """Kill a writer at random, and hold what is on disk against what it was told."""
    rounds = (10, 40, 1000)[size]
    dice = random.Random(0)
    project = new_project(folder / "project")
    wrong: list[str] = []
    owners: list[str] = []
    for number in range(rounds):
        owner = f"run-{number // _A_DOCUMENT}"
        if owner not in owners:
            owners.append(owner)
        log = folder / owner
        written = log.stat().st_size if log.exists() else 0
        child = start(partial(_work, project, owner, number, log))
        if number % 2:  # a busy machine may kill each of the others before it has written anything
            wait_until(lambda log=log, written=written: log.exists() and log.stat().st_size > written)  # type: ignore[misc]
        time.sleep(dice.uniform(0.005, 0.15))
        os.kill(child, signal.SIGKILL)
        wait_for(child)
        wrong += [f"round {number}: {one}" for one in _damage(_of(project, owner))]
    said = 0
    for owner in owners:
        there = _of(project, owner)
        project.workspace().remember("The last one.", conversation=owner, dated=False)
        log = (folder / owner).read_text().splitlines()
        said += sum(line.startswith("+") for line in log)
        wrong += _broken_promises(there, log)
    # What is made once for all documents, without a lock, cannot be cleared away by the next write.
    left = [name for name in project.litter() if "..gitattributes." not in name]
    wrong += [f"left behind: {name}" for name in left]
    return [
        Row(
            "kill -9 at random",
            f"{rounds:,} times, while one process remembers, edits and forgets",
            "no acknowledged entry lost, none twice, every file whole after each kill, no litter after the next write",
            problems(wrong)
            or f"{said:,} acknowledged, 0 lost, 0 twice, {rounds:,} times whole, {len(left)} left behind",
            not wrong and said >= rounds // 2,
        )
    ]


def _of(project: Project, owner: str) -> Project:
    return Project(project.path, Target(Tier.CONVERSATION, owner))


def _work(project: Project, owner: str, number: int, log: Path) -> None:
    """Write until killed, and note before and after what is said: `+` is there, `?` may be leaving, `-` has gone."""
    workspace = project.workspace()
    with log.open("ab", buffering=0) as say:
        for count in range(10_000):
            text = f"Round {number}, fact {count}."
            entry = workspace.remember(text, conversation=owner, dated=False).entry
            say.write(f"+{text}\n".encode())
            if count % 3 == 1:
                say.write(f"?{text}\n".encode())
                new = f"{text} It was checked."
                entry = workspace.edit(entry.id, new).entry
                say.write(f"-{text}\n+{new}\n".encode())
                text = new
            if count % 2:
                say.write(f"?{text}\n".encode())
                workspace.forget([entry.id])
                say.write(f"-{text}\n".encode())


def _damage(project: Project) -> list[str]:
    if not project.document.exists():
        return []
    data = project.document.read_bytes()
    texts = project.texts()
    found = [] if project.parsed().data == data and data.endswith(b"\n") else ["the document is not whole"]
    project.archived()
    return found if len(texts) == len(set(texts)) else [*found, "an entry is there twice"]


def _broken_promises(project: Project, log: list[str]) -> list[str]:
    there = {text.removeprefix("- ") for text in project.texts()}
    kept = {text.removeprefix("- ") for text in project.archived()}
    last: dict[str, str] = {}
    for line in log:
        last[line[1:]] = line[:1]
    found = []
    for text, state in last.items():
        if state == "+" and text not in there:
            found.append(f"lost: {text}")
        if state == "-" and (text in there or text not in kept):
            found.append(f"{'back' if text in there else 'unknown to the ledger'}: {text}")
        if state == "?" and text not in there | kept:
            found.append(f"lost while leaving: {text}")
    return found

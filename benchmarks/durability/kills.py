"""kill -9 at a random moment, again and again, on a process that adds, edits and forgets."""

import os
import random
import signal
import time
from functools import partial
from pathlib import Path

from agent_memory_protocol.disk.waiting import FOLDER
from agent_memory_protocol.layout import Target, Tier

from .project import Project, new_project, start, wait_for, wait_until
from .row import Row, Size, problems

_A_DOCUMENT = 100
_WRITERS = 6


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


def among_writers(folder: Path, size: Size) -> list[Row]:
    """Kill writers of one document at random while others wait for them, and hold what is there against what was said.

    Who holds the lock writes for those that wait (`verbs.together`), so some die between asking and being answered.
    """
    rounds = (3, 12, 200)[size]
    dice = random.Random(0)
    project = new_project(folder / "project")
    wrong: list[str] = []
    said = 0
    for number in range(rounds):
        owner = f"run-{number // 8}"
        logs = [folder / f"{number}-{writer}" for writer in range(_WRITERS)]
        children = [start(partial(_say_all, project, owner, log)) for log in logs]
        wait_until(lambda logs=logs: all(map(Path.exists, logs)))  # type: ignore[misc]
        for child in dice.sample(children, len(children)):
            time.sleep(dice.uniform(0.001, 0.04))
            os.kill(child, signal.SIGKILL)
            wait_for(child)
        here = _of(project, owner)
        texts = [text.removeprefix("- ") for text in here.texts()]
        told = [line for log in logs for line in log.read_text().splitlines()]
        said += len(told)
        wrong += [f"round {number}: {one}" for one in _damage(here)]
        wrong += [f"round {number}: lost: {text}" for text in {*told}.difference(texts)]
        here.workspace().remember(f"After round {number}.", conversation=owner, dated=False)
    waiting = project.path.joinpath(*FOLDER)
    left = [*project.litter(), *(os.listdir(waiting) if waiting.exists() else ())]
    wrong += [f"left behind: {name}" for name in left if "..gitattributes." not in name]
    return [
        Row(
            "kill -9 among writers",
            f"{rounds:,} times {_WRITERS} processes that write one document and wait for each other, each killed",
            "no acknowledged entry lost, none twice, every file whole after each kill, no request left behind",
            problems(wrong) or f"{said:,} acknowledged, 0 lost, 0 twice, {rounds:,} times whole, 0 left behind",
            not wrong and said >= rounds,
        )
    ]


def _say_all(project: Project, owner: str, log: Path) -> None:
    """Remember until killed, and note each entry that was acknowledged."""
    workspace = project.workspace()
    with log.open("ab", buffering=0) as say:
        for count in range(10_000):
            text = f"{log.name}, fact {count}."
            workspace.remember(text, conversation=owner, dated=False)
            say.write(f"{text}\n".encode())


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

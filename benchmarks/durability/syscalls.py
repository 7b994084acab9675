"""Every system call of every verb that writes, once ended by SIGKILL and once failing with each error: strace does it.

A child of this process, which has all modules loaded, waits until strace has attached to it; then it runs one command,
and its N-th call is the last, or fails. N counts up until the command gets through unharmed. The document must then be
exactly the old one or the new one, and what comes next must work.
"""

import os
import shutil
import subprocess
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from agent_memory_protocol.formats.jsonl_file import MemoryFile

from .project import Done, Project, amp, new_project, start, start_amp, wait_for
from .row import NotHere, Row, Size, problems

WRITING = (
    "write,pwrite64,fsync,fdatasync,rename,renameat,renameat2,link,linkat,unlink,unlinkat,mkdir,mkdirat,ftruncate,"
    "fchmod,fchown,flock"
)
OPENING = "openat,close"
READING = "read,pread64,newfstatat,fstat,stat,lseek,getdents64,faccessat,faccessat2,readlink,readlinkat,fcntl,getcwd"
ALL = f"{WRITING},{OPENING},{READING}"
ERRORS = {
    "ENOSPC": f"{WRITING},openat",
    "EIO": ALL,
    "EDQUOT": f"{WRITING},openat",
    "EACCES": ALL,
    "EROFS": f"{WRITING},openat",
    "EMFILE": "openat,fcntl",
}
"""The errors, and the calls that can give them."""

_SHORT = {
    "ENOSPC": "write,renameat",
    "EIO": "read,renameat",
    "EDQUOT": "write",
    "EACCES": "renameat",
    "EROFS": "renameat",
    "EMFILE": "fcntl",
}

_SHORTEST = {"ENOSPC": "renameat,linkat"}

_LAST = "Said afterwards."
_MEMORY = "notes.jsonl"
_NOW = datetime(2026, 6, 1, tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class Case:
    """A command, the project it runs in, and that project after it.

    Attributes:
        name: the verb.
        words: the command; none for `compact`, which is a call and no command.
        old, new: what the file holds before and after.
        project: where everything is as it is before the command.
    """

    name: str
    words: tuple[str, ...]
    project: Project
    old: tuple[str, ...]
    new: tuple[str, ...]


def killed(folder: Path, size: Size) -> list[Row]:
    """Kill each verb at each of its system calls."""
    rows = []
    for case in _cases(folder, size):
        wrong: list[str] = []
        tried = 0
        calls = ("renameat,linkat", "fsync,renameat,linkat", ALL)[size]
        for call, _, project in _each(case, folder, calls, "signal=SIGKILL"):
            tried += 1
            found = _state_problems(case, project) or _heal_problems(case, project, folder, all_next=size == Size.LONG)
            wrong += [f"{call}: {one}" for one in found]
        rows.append(
            Row(
                f"SIGKILL at each system call: {case.name}",
                f"`strace --inject=…:signal=SIGKILL:when=N`, each call in turn, {tried} in all",
                "exactly old or new, now and after the next write; nothing left behind; the command can be repeated",
                problems(wrong) or f"{tried} of {tried}",
                not wrong and tried > 0,
            )
        )
    return rows


def failing(folder: Path, size: Size) -> list[Row]:
    """Let each system call of each verb fail once, with each error."""
    rows = []
    for case in _cases(folder, size):
        short = _SHORT if case.name == "edit" else _SHORTEST
        errors = (_SHORTEST, short, ERRORS)[size]
        rows += [_fail(case, folder, calls, error) for error, calls in errors.items()]
    return rows


_SECRET = "The vault opens with violet-otter-canyon"


def redacted(folder: Path, size: Size) -> list[Row]:
    """Kill a redaction at each of its system calls, and repeat it: nothing of the text may be left anywhere."""
    base = new_project(folder / "base")
    memory = base.workspace()
    entry = memory.remember(f"{_SECRET}.").entry
    entry = memory.edit(entry.id, f"{_SECRET}, at noon.").entry
    memory.remember("Something else.")
    memory.search("vault")
    for place in (base.document.parent / ".KNOWLEDGE.md", base.journal.parent / ".shared.jsonl"):
        Path(f"{place}.0123456789abcdef.amp-tmp").write_text(f"- {_SECRET}")
    case = Case("forget --redact", ("forget", entry.id, "--redact"), base, (), ())
    calls = ("renameat,unlinkat", "fsync,renameat,unlinkat,ftruncate", ALL)[size]
    wrong: list[str] = []
    tried = 0
    for call, done, project in _each(case, folder, calls, "signal=SIGKILL"):
        tried += 1
        # What was killed before it began has nothing to finish; the rest is said, and the same command finishes it.
        again = amp(project, *case.words)
        if again.code != 0 and not (again.code == 2 and "no entry" in again.err):
            wrong.append(f"{call}: {done.code}, then {again.code}: {again.err.strip()}")
        left = [
            str(path) for path in project.path.rglob("*") if path.is_file() and b"violet-otter" in path.read_bytes()
        ]
        wrong += [f"{call}: left in {', '.join(left)}"] if left else []
        if "- Something else." not in project.texts():
            wrong.append(f"{call}: another entry was lost")
    return [
        Row(
            "SIGKILL at each system call: forget --redact",
            f"`strace --inject=…:signal=SIGKILL:when=N`, each call in turn, {tried} in all, then the same command",
            "the repeated command finishes it: no copy in document, ledger, journal, index, backup or temporary file",
            problems(wrong) or f"{tried} of {tried}",
            not wrong and tried > 0,
        )
    ]


def unconfirmed(folder: Path, size: Size) -> list[Row]:
    """Let each fsync fail once: what the disk has not confirmed is not acknowledged."""
    return [_fail(case, folder, "fsync", "EIO", strict=True) for case in _cases(folder, size)]


def _fail(case: Case, folder: Path, calls: str, error: str, *, strict: bool = False) -> Row:
    wrong: list[str] = []
    tried = refused = 0
    for call, done, project in _each(case, folder, calls, f"error={error}"):
        tried += 1
        refused += done.code != 0
        found = _state_problems(case, project)
        if done.code == 0 and (strict or _content(case, project) != case.new):
            found.append("acknowledged, but not there" if not strict else "acknowledged, but not confirmed")
        if done.code not in (0, 4):
            found.append(f"exit {done.code}: {(done.err.splitlines() or ['nothing said'])[-1]}")
        elif done.code == 4 and not done.is_clear:
            found.append(f"exit 4, said: {done.err!r}")
        found += _heal_problems(case, project, folder, all_next=False)
        wrong += [f"{call}: {one}" for one in found]
    what = "each fsync fails once" if strict else f"{error} at each system call"
    return Row(
        f"{what}: {case.name}",
        f"`strace --inject=…:error={error}:when=N`, each call in turn, {tried} in all",
        "never acknowledged unless durable; old bytes or new; one clear line and exit 4; the next call works",
        problems(wrong) or f"{tried} of {tried}, {refused} refused, {tried - refused} did not matter",
        not wrong and tried > 0,
    )


def _cases(folder: Path, size: Size) -> Iterator[Case]:
    """Make the projects that the commands run in, and find out what each command does when nothing goes wrong."""
    if shutil.which("strace") is None:
        raise NotHere("strace is not installed")
    base = new_project(folder / "base")
    for text in (
        "The first port is 80.",
        "[2020-01-01] An old one.",
        "[2020-02-02] Another old one.",
        "Use pnpm here.",
    ):
        base.workspace().remember(text)
    base.workspace().remember("Ask Ada.", section="Billing")
    pruned = base.copy_to(folder / "pruned")
    amp(pruned, "prune", "--apply")
    edited = base.parsed().ids[3]
    made: list[tuple[str, tuple[str, ...], Project]] = [
        ("remember", ("remember", "A new one.", "--source", "user"), base),
        ("remember, the first of all", ("remember", "A new one."), new_project(folder / "nothing")),
        ("prune", ("prune", "--apply"), base),
        ("restore", ("restore", "--last", "--apply"), pruned),
        ("edit", ("edit", edited, "Use npm here."), base),
        ("compact", (), base),
    ]
    memory = MemoryFile.open(base.path / _MEMORY)
    first = memory.append("Compact me.", kind="fact", now=_NOW)
    memory.append("Keep me.", kind="fact", now=_NOW)
    memory.delete(first.id, now=_NOW)
    for name, words, project in made[:: 2 if size == Size.QUICK else 1]:
        after = project.copy_to(folder / f"after {name}")
        case = Case(name, words, project, (), ())
        if wait_for(_start(case, after, folder / "out", folder / "err", lambda: None)):
            raise RuntimeError(f"{name} does not work at all: {(folder / 'err').read_text()}")
        yield Case(name, words, project, _content(case, project), _content(case, after))


def _each(case: Case, folder: Path, calls: str, what: str) -> Iterator[tuple[str, Done, Project]]:
    """Run the command again and again, each time with another call hit. strace counts each kind of call by itself."""
    _, lines = _traced(case, case.project.copy_to(folder / "tried"), folder, calls)
    made = {line.split()[1].partition("(")[0] for line in lines if "(" in line}
    for call in sorted(name for name in made if name in calls.split(",")):
        number = 0
        while True:
            number += 1
            project = case.project.copy_to(folder / "tried")
            done, lines = _traced(case, project, folder, call, f"{what}:when={number}")
            if not (done.was_killed or any("INJECTED" in line for line in lines)):
                break
            yield f"{call} {number}", done, project


def _traced(case: Case, project: Project, folder: Path, calls: str, inject: str = "") -> tuple[Done, list[str]]:
    """Run the command under strace; return how it ended and what strace has seen of these calls."""
    reader, writer = os.pipe()
    is_there, says_so = os.pipe()
    out, err, log = folder / "out", folder / "err", folder / "log"

    def wait() -> None:
        os.close(writer)
        os.write(says_so, b"!")
        with suppress(OSError):  # this call, too, may be the one that is hit
            os.read(reader, 1)

    child = _start(case, project, out, err, wait)
    os.read(is_there, 1)
    for one in (reader, is_there, says_so):
        os.close(one)
    command = ["strace", "-f", "-qq", "-o", str(log), f"--trace={calls}", "-p", str(child)]
    if inject:
        command.append(f"--inject={calls}:{inject}")
    tracer = subprocess.Popen(command, stdin=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    while f"TracerPid:\t{tracer.pid}\n" not in Path(f"/proc/{child}/status").read_text():
        if tracer.poll() is not None:
            break  # it could not take hold of the child, or the child has ended at once
        time.sleep(0.001)
    os.close(writer)
    code = wait_for(child)
    why = tracer.communicate()[1].strip()
    if why:
        raise NotHere(f"strace: {why}")
    return Done(code, out.read_text(), err.read_text()), log.read_text().splitlines()


def _start(case: Case, project: Project, out: Path, err: Path, before: Callable[[], None]) -> int:
    if case.words:
        return start_amp(project, case.words, out, err, before)

    def compact() -> None:
        before()
        os.chdir(project.path)
        MemoryFile.open(_MEMORY).compact(_NOW)

    def quiet() -> None:
        os.dup2(os.open(err, os.O_WRONLY | os.O_TRUNC), 2)
        from agent_memory_protocol.errors import AgentMemoryError

        try:
            compact()
        except AgentMemoryError as error:
            os.write(2, f"amp: {error}\n".encode())
            raise SystemExit(error.exit_code) from error

    out.write_text("")
    err.write_text("")
    return start(quiet)


def _content(case: Case, project: Project) -> tuple[str, ...]:
    if not case.words:
        file = MemoryFile.open(project.path / _MEMORY)
        raw = (project.path / _MEMORY).read_text()
        return (*(entry.text for entry in file.view(_NOW).entries), f"{raw.count(chr(10))} lines")
    return tuple(project.texts())


def _state_problems(case: Case, project: Project) -> list[str]:
    """Say where the file is neither the old nor the new one, as it stands."""
    content = _content(case, project)
    if content not in (case.old, case.new):
        return [f"neither old nor new: {content}"]
    archived = set(project.archived())
    return [f"lost: {text!r}" for text in case.old if case.words and text not in content and text not in archived]


def _heal_problems(case: Case, project: Project, folder: Path, *, all_next: bool) -> list[str]:
    """Say what goes wrong in what comes next: another entry, or the same command again."""
    found = []
    nexts: Sequence[tuple[str, ...]] = [("remember", _LAST)]
    if case.words:
        nexts = [("remember", _LAST), case.words]
        if all_next:
            nexts = [*nexts, ("prune", "--apply"), ("sync", "--apply"), ("forget", project_id(project))]
    for words in nexts:
        again = project.copy_to(folder / "again")
        done = amp(again, *words)
        repeated = words == case.words
        if done.code != 0 and not (repeated and _content(case, again) == case.new) and "no entry" not in done.err:
            found.append(f"then `amp {' '.join(words)}`: {done.code} {done.err.strip()}")
        content = tuple(text for text in _content(case, again) if _LAST not in text)
        if words[0] == "remember" and content not in (case.old, case.new):
            found.append(f"then `amp {' '.join(words)}`: neither old nor new: {content}")
        if repeated and content != case.new:
            found.append(f"repeated: {content}")
        # What is made once for all documents, without a lock, cannot be cleared away by the next one.
        left = [name for name in again.litter() if name != _MEMORY and "..gitattributes." not in name]
        if words[-1] == _LAST and case.words and left:
            found.append(f"left behind: {left}")
    if not case.words:
        MemoryFile.open(project.path / _MEMORY).append("One more.", kind="fact", now=_NOW)
        MemoryFile.open(project.path / _MEMORY).compact(_NOW)
        left = [path.name for path in project.path.iterdir() if path.name not in (_MEMORY, ".scaffolding")]
        if left:
            found.append(f"left behind: {left}")
    return found


def project_id(project: Project) -> str:
    """Return the id of the document's first entry, or one that nothing has."""
    return project.parsed().ids[0] if project.document.exists() and project.parsed().ids else "none"

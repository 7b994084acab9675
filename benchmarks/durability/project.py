"""A project to be mistreated: make one, run `amp` in it, and look at what is left."""

import os
import shutil
import signal
import sys
import time
import traceback
from collections.abc import Callable, Sequence
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass
from datetime import UTC, datetime
from io import StringIO
from pathlib import Path

from agent_memory_protocol.change.books import Books, lock_name
from agent_memory_protocol.cli.main import main
from agent_memory_protocol.disk.files import Root
from agent_memory_protocol.layout import LEDGER, Target, Tier
from agent_memory_protocol.tiers import document as documents
from agent_memory_protocol.tiers.document import Document
from agent_memory_protocol.workspace import Workspace

SHARED = Target(Tier.SHARED)
_NO_LIMITS = "[limits]\nmax_lines = 1000000\nmax_bytes = 1000000000\n"


@dataclass(frozen=True, slots=True)
class Done:
    """How a command ended."""

    code: int
    out: str
    err: str

    @property
    def was_killed(self) -> bool:
        """Whether a signal ended it."""
        return self.code < 0

    @property
    def is_clear(self) -> bool:
        """Whether it has said in one line what is wrong."""
        return self.err.startswith("amp: ") and self.err.count("\n") == 1


@dataclass(frozen=True, slots=True)
class Project:
    """A project root on disk, with the shared document in view."""

    path: Path
    target: Target = SHARED

    @property
    def document(self) -> Path:
        """The document's path."""
        return self.path.joinpath(*self.target.parts)

    @property
    def ledger(self) -> Path:
        """The path of its ledger."""
        return self.document.parent / LEDGER

    @property
    def journal(self) -> Path:
        """The path of its journal."""
        return self.path / ".scaffolding" / ".amp" / "journal" / f"{lock_name(self.target)}.jsonl"

    def workspace(self) -> Workspace:
        """Open it."""
        return Workspace.open(self.path)

    def parsed(self) -> Document:
        """Read the document."""
        return documents.parse(self.document.read_bytes(), self.target)

    def texts(self) -> list[str]:
        """Return the Markdown of each entry in the document."""
        if not self.document.exists():
            return []
        parsed = self.parsed()
        return [parsed.text(entry) for entry in parsed.outline.entries]

    def archived(self) -> list[str]:
        """Return the Markdown of each entry that the ledger can bring back."""
        with Root.open(str(self.path)) as root:
            books = Books(root, self.target, lock_name(self.target), datetime.now(UTC))
            current = self.parsed() if self.document.exists() else None
            return [one.taken.markdown for one in books.archived(current)]

    def litter(self) -> list[str]:
        """List what lies about that is neither memory, settings nor local data."""
        usual = ("KNOWLEDGE.md", "MEMORY.md", "context.md", LEDGER, "amp.toml", ".gitattributes", "reviewed")
        return [
            str(path.relative_to(self.path))
            for path in self.path.rglob("*")
            if path.is_file() and ".amp" not in path.parts and path.name not in usual
        ]

    def temporaries(self) -> list[str]:
        """List half-written files outside local data."""
        return [path.name for path in self.path.rglob("*.amp-tmp") if ".amp" not in path.parts]

    def copy_to(self, path: Path) -> "Project":
        """Copy it, in place of what stands there."""
        shutil.rmtree(path, ignore_errors=True)
        shutil.copytree(self.path, path, symlinks=True)
        local = path / ".scaffolding" / ".amp"
        if (local / "id").exists():
            # A copy is not believed. For these trials it counts as the checkout that made it.
            known = Path(os.environ["HOME"], ".local", "state", "amp", (local / "id").read_text().strip())
            known.write_text(f"{local.stat().st_ino} {known.read_text().split()[1]}\n")
        return Project(path, self.target)


def new_project(path: Path, *, limits: bool = False, target: Target = SHARED) -> Project:
    """Make an empty project, without limits on its documents unless `limits` are wanted."""
    (path / ".scaffolding").mkdir(parents=True)
    if not limits:
        (path / ".scaffolding" / "amp.toml").write_text(_NO_LIMITS)
    return Project(path, target)


def amp(project: Project, *words: str, before: Callable[[], object] | None = None) -> Done:
    """Run a command to its end, in a child of this process; `before` happens there first."""
    out, err = project.path.with_suffix(".out"), project.path.with_suffix(".err")
    code = wait_for(start_amp(project, words, out, err, before))
    return Done(code, out.read_text(), err.read_text())


def start_amp(
    project: Project, words: Sequence[str], out: Path, err: Path, before: Callable[[], object] | None = None
) -> int:
    """Start a command in a child of this process, which has all modules loaded, and return its process id."""

    def run() -> None:
        os.chdir(project.path)
        for number, path in ((1, out), (2, err)):
            os.dup2(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC), number)
        if before is not None:
            before()
        sys.argv = ["amp", *words]
        main()

    out.write_text("")
    err.write_text("")
    return start(run)


def start(work: Callable[[], object]) -> int:
    """Do something in a child process; return its id."""
    child = os.fork()
    if child:
        return child
    code = 1
    try:
        signal.signal(signal.SIGINT, signal.SIG_DFL)
        sys.stdout, sys.stderr = open(1, "w", closefd=False), open(2, "w", closefd=False)  # noqa: SIM115
        work()
        code = 0
    except SystemExit as error:
        code = error.code if isinstance(error.code, int) else 0
    except BaseException:  # noqa: BLE001  (the child ends here, whatever happened)
        traceback.print_exc()
    finally:
        try:
            sys.stdout.flush()
            sys.stderr.flush()
        finally:
            os._exit(code)


def wait_for(*children: int) -> int:
    """Wait for children, and return how the last one ended: its exit code, or minus the signal that ended it."""
    code = 0
    for child in children:
        code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    return code


def wait_until(happens: Callable[[], bool], seconds: float = 20) -> None:
    """Wait for something to happen."""
    deadline = time.monotonic() + seconds
    while not happens():
        if time.monotonic() > deadline:
            raise TimeoutError("what was waited for has not happened")
        time.sleep(0.005)


def warm_up(folder: Path) -> None:
    """Load all that the commands load, so that children need nothing from outside their project."""
    project = new_project(folder / "warm-up")
    here = os.getcwd()
    os.chdir(project.path)
    said = StringIO()
    words = [
        ["init"],
        ["remember", "[2020-01-01] Old.", "--source", "user"],
        ["remember", "New."],
        ["remember", "Newer."],
        ["recall", "developer"],
        ["prune", "--apply"],
        ["restore", "--last", "--apply"],
        ["sync", "--apply"],
        ["list", "--json"],
        ["edit", "none", "Nothing."],
        ["forget", "none"],
        ["nonsense"],
    ]
    with redirect_stdout(said), redirect_stderr(said):
        for one in words:
            sys.argv = ["amp", *one]
            try:
                main()
            except SystemExit:
                continue
    os.chdir(here)
    project.texts()

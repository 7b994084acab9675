"""A project folder, and three ways to run `amp` in it: in this process, as a process, as a user without rights."""

import io
import json
import os
import pkgutil
import subprocess
import sys
import sysconfig
import tempfile
import traceback
from collections.abc import Iterator, Mapping
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any, NamedTuple

import pytest

import agent_memory_protocol
from agent_memory_protocol.cli.main import main
from tests.folder import everything

SECONDS = 30
"""How long a process may take: one that hangs must not hang the tests."""

NOBODY = 65_534
OURS = ("AMP_", "XDG_CONFIG_HOME", "CLAUDE_", "NO_COLOR", "FORCE_COLOR")
"""What in the environment of whoever runs the tests would change an answer."""


@cache
def load_the_package() -> None:
    """Load what commands use: all but what starts a command, or loads the SDK of another for seconds."""
    for module in pkgutil.walk_packages(agent_memory_protocol.__path__, "agent_memory_protocol."):
        if not module.name.endswith(("__main__", "mcp.server", "sdk", "anthropic_tool")):
            import_module(module.name)


class Answer(NamedTuple):
    """What a command ended with, and what it said."""

    code: int
    out: str
    err: str

    def refuses(self, code: int, *words: str) -> None:
        """Check that this is a refusal: one line on stderr with these words, and with --json the same on stdout."""
        assert self.code == code, self
        if self.out:
            error = self.json(code)["error"]
            assert (error["exit"], error["message"]) == (code, self.err[5:-1]), self
        assert self.err.startswith("amp: "), self
        assert self.err.endswith("\n"), self
        assert self.err[:-1].isprintable(), self
        for word in words:
            assert word in self.err, self

    def json(self, code: int = 0) -> Any:
        """Return the one JSON object that this answer is."""
        assert self.code == code, self
        answer = json.loads(self.out)
        assert answer["version"] == 1
        return answer


class Amp:
    """The `amp` command in one project, whose folder is the current one of every command."""

    script = Path(sysconfig.get_path("scripts"), "amp")

    def __init__(self, root: Path, home: Path) -> None:
        self.root = root
        self.home = home

    def __call__(
        self, *args: str, stdin: str | bytes = b"", environ: Mapping[str, str] | None = None, cwd: Path | None = None
    ) -> Answer:
        """Run a command in this process, by the function that the installed script calls."""
        buffers = [io.BytesIO(stdin.encode() if isinstance(stdin, str) else stdin), io.BytesIO(), io.BytesIO()]
        streams = [io.TextIOWrapper(buffer, "utf-8", write_through=True) for buffer in buffers]
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(sys, "argv", ["amp", *args])
            for name, stream in zip(("stdin", "stdout", "stderr"), streams, strict=True):
                patch.setattr(sys, name, stream)
            for name in [name for name in os.environ if name.startswith(OURS)]:
                patch.delenv(name)
            for name, value in {"HOME": str(self.home), **(environ or {})}.items():
                patch.setenv(name, value)
            patch.chdir(cwd or self.root)
            with pytest.raises(SystemExit) as ended:
                main()
        code = ended.value.code
        assert isinstance(code, int)
        return Answer(code, *(buffer.getvalue().decode() for buffer in buffers[1:]))

    def process(
        self, *args: str, stdin: str | bytes = b"", environ: Mapping[str, str] | None = None, cwd: Path | None = None
    ) -> Answer:
        """Run the installed script."""
        done = subprocess.run(
            [self.script, *args],
            input=stdin.encode() if isinstance(stdin, str) else stdin,
            capture_output=True,
            cwd=cwd or self.root,
            env=self.environ(environ),
            timeout=SECONDS,
            check=False,
        )
        return Answer(done.returncode, done.stdout.decode(errors="backslashreplace"), done.stderr.decode())

    def environ(self, more: Mapping[str, str] | None = None) -> dict[str, str]:
        """Return the environment of a process."""
        kept = {name: value for name, value in os.environ.items() if not name.startswith(OURS)}
        return {**kept, "HOME": str(self.home), **(more or {})}

    def as_nobody(self, *args: str) -> Answer:
        """Run a command as a user who has no rights but everyone's; where we have no others ourselves, as ourselves."""
        if os.geteuid() != 0:
            return self(*args)
        load_the_package()  # nobody may perhaps not read it
        with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
            child = os.fork()
            if not child:
                code = 70
                try:
                    os.setgroups([])
                    os.setgid(NOBODY)
                    os.setuid(NOBODY)
                    code, *said = self(*args)
                    for file, text in zip((out, err), said, strict=True):
                        file.write(text.encode())
                except BaseException:  # noqa: BLE001 what is wrong in the child is told by its parent
                    err.write(traceback.format_exc().encode())
                finally:
                    out.flush()
                    err.flush()
                    os._exit(code)
            status = os.waitpid(child, 0)[1]
            for file in (out, err):
                file.seek(0)
            return Answer(os.waitstatus_to_exitcode(status), out.read().decode(), err.read().decode())

    def give_to_nobody(self) -> None:
        """Make that user the owner of all there is."""
        if os.geteuid() == 0:
            for path in [self.root, *self.root.rglob("*")]:
                os.chown(path, NOBODY, NOBODY)

    def write(self, path: str, data: str | bytes) -> Path:
        """Write a file of the project by hand, as an editor would."""
        file = self.root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(data.encode() if isinstance(data, str) else data)
        return file

    def tree(self, folder: Path | None = None) -> dict[str, tuple[int, bytes]]:
        """Return every file, link and folder with its mode and bytes, those aside that may be deleted at any time."""
        return {
            name: found
            for name, found in everything(folder or self.root).items()
            if ".scaffolding/.amp" not in name or name.endswith("amp.toml")
        }


@pytest.fixture
def amp(tmp_path: Path) -> Amp:
    """`amp` in an empty folder. The search for the root ends at the home folder, which is the one above."""
    (tmp_path / "project").mkdir()
    return Amp(tmp_path / "project", tmp_path)


@pytest.fixture
def public_amp() -> Iterator[Amp]:
    """`amp` in an empty folder that every user can come to."""
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder)
        home.chmod(0o755)
        (home / "project").mkdir(mode=0o755)
        yield Amp(home / "project", home)
        for path in home.rglob("*"):
            if path.is_dir() and not path.is_symlink():
                path.chmod(0o755)

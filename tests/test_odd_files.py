"""Something odd is where a file or folder of the project should be: nothing hangs, and all else goes on.

Each row runs some commands in a process of its own, which is ended if it takes too long.
"""

import contextlib
import io
import json
import os
import select
import shutil
import signal
import socket
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from agent_memory_protocol import Workspace
from agent_memory_protocol.cli.main import main
from tests.cli.conftest import load_the_package
from tests.each_row import each_row
from tests.folder import Kept

SECONDS = 60
"""So long may a row take. A command that hangs never ends."""

MEMORY = ".scaffolding/agent-memory"
AMP = ".scaffolding/.amp"
DOCUMENTS = {
    f"{MEMORY}/shared/KNOWLEDGE.md": "pineapple",
    f"{MEMORY}/agents/dev/MEMORY.md": "mango",
    f"{MEMORY}/agents/ann/MEMORY.md": "kiwi",
    ".scaffolding/conversations/c1/agent-memory/context.md": "plum",
}
"""What each document says."""

READERS = (
    "list",
    "recall ann --conversation c1",
    "search kiwi",
    "status",
    "restore --list",
    "export --output o.ndjson",
)
WRITERS = ("sync --apply", "index", "distill --apply", "prune --apply", "remember New. --agent ann", "check")


def as_socket(path: Path) -> None:
    before = Path.cwd()
    os.chdir(path.parent)  # a socket's path has only about a hundred bytes
    with contextlib.closing(socket.socket(socket.AF_UNIX)) as server:
        server.bind(path.name)
    os.chdir(before)


def as_huge(path: Path) -> None:
    path.touch()
    os.truncate(path, 5 << 30)


def as_folder(path: Path) -> None:
    path.mkdir()
    (path / "inside.md").write_text("- inside\n")


KINDS: dict[str, Callable[[Path], object]] = {
    "pipe": os.mkfifo,
    "socket": as_socket,
    "endless": lambda path: path.symlink_to("/dev/zero"),
    "loop": lambda path: path.symlink_to(path.name),
    "dangling": lambda path: path.symlink_to("nowhere/at-all"),
    "folder": as_folder,
    "huge": as_huge,
    "no text": lambda path: path.write_bytes(b"\xff\xfe\xe9 \xe9\n"),
}
PLACES = [
    ".scaffolding/amp.toml",
    ".scaffolding/.gitattributes",
    *(
        f"{MEMORY}/shared{name}"
        for name in ("", "/KNOWLEDGE.md", "/ledger.jsonl", "/odd.md", "/MEMORY.md", "/INDEX.md")
    ),
    *(f"{MEMORY}/agents{name}" for name in ("", "/dev", "/dev/MEMORY.md", "/dev/ledger.jsonl", "/odd")),
    *(f".scaffolding/conversations{name}" for name in ("", "/c1", "/c1/agent-memory", "/odd")),
    *(f".scaffolding/conversations/c1/agent-memory/{name}" for name in ("context.md", "ledger.jsonl")),
    *(f"{MEMORY}/{name}" for name in ("reviewed", "refused", "sightings.jsonl", "records")),
    *(f"{AMP}{name}" for name in ("", "/journal", "/journal/shared.jsonl", "/journal/ghost.jsonl", "/search", "/id")),
    *(
        f"{AMP}/{name}"
        for name in ("search/entries.sqlite", "locks", "locks/shared.lock", "checked.json", ".gitignore")
    ),
]
STOPS_WRITING = (".scaffolding/amp.toml", AMP, f"{AMP}/locks", f"{AMP}/journal")
REMADE = (*tuple(one for one in PLACES if one.startswith(f"{AMP}/")), f"{MEMORY}/shared/INDEX.md")
"""Where nobody can know a limit, keep writers apart, or note what is written: these stop those who write."""


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("project")
    here = Workspace.open(root, environ={"HOME": str(root)})
    here.remember("Shared pineapple.")
    here.remember("Dev mango.", agent="dev")
    here.remember("Ann kiwi.", agent="ann")
    here.remember("Said plum.", conversation="c1")
    for agent in ("dev", "ann"):
        here.forget([here.remember("It goes.", agent=agent).entry.id])
    here.forget([here.remember("It goes.").entry.id])
    (root / MEMORY / "shared" / "well.md").write_text("---\nname: well\ntype: user\n---\nA cherry fact.\n")
    here.index()
    assert here.search("pineapple")
    return root


@pytest.fixture
def in_project(project: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(project)
    monkeypatch.setenv("HOME", str(project))
    load_the_package()
    return project


def answers(commands: list[str], root: Path) -> dict[str, tuple[int, str]]:
    """Run commands in a process of their own; return of each its exit code and what it said."""
    reader, writer = os.pipe()
    child = os.fork()
    if not child:
        os.close(reader)
        _run_all(commands, root, writer)
    os.close(writer)
    data = b""
    with open(reader, "rb", buffering=0) as pipe:
        while select.select([pipe], [], [], SECONDS)[0] and (piece := pipe.read(1 << 20)):
            data += piece
        if not data.endswith(b"end\n"):
            os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    lines = data.decode().splitlines()
    said = {command: (code, out) for command, code, out in map(json.loads, filter("end".__ne__, lines))}
    stopped = next((one for one in commands if one not in said), None)
    assert stopped is None, f"`amp {stopped}` did not end"
    return said


def _run_all(commands: list[str], root: Path, writer: int) -> None:
    import resource

    resource.setrlimit(resource.RLIMIT_AS, (4 << 30, 4 << 30))  # an endless file must not take all memory
    with open(writer, "w") as pipe:
        for command in commands:
            said = io.TextIOWrapper(io.BytesIO(), encoding="utf-8", write_through=True)
            code: object = 0
            with contextlib.redirect_stdout(said), contextlib.redirect_stderr(said):
                sys.argv = ["amp", *command.split()]
                os.chdir(root)
                try:
                    main()
                except SystemExit as ended:
                    code = ended.code or 0
                except BaseException as error:  # noqa: BLE001 that is what is looked for
                    code = f"{type(error).__name__}: {error}"
            pipe.write(json.dumps([command, code, said.buffer.getvalue().decode()]) + "\n")
            pipe.flush()
        pipe.write("end\n")
    os._exit(0)


def check_row(root: Path, place: str, kind: str) -> None:
    kept = Kept(root)
    path = root / place
    if path.is_dir():
        shutil.rmtree(path)
    path.unlink(missing_ok=True)
    path.parent.mkdir(parents=True, exist_ok=True)
    KINDS[kind](path)
    mode = path.lstat().st_mode
    said = answers([*READERS, *WRITERS], root)
    there = [word for one, word in DOCUMENTS.items() if not f"{one}/".startswith(f"{place}/")]
    try:
        for command, (code, out) in said.items():
            assert code in (0, 1, 3, 4), (command, code, out)
            assert "\x1b" not in out
        shows = {"list": there, "recall ann --conversation c1": there, "search kiwi": there, "restore --list": ["goes"]}
        shows["export --output o.ndjson"] = ["entries from memory"]
        for command, words in shows.items():
            out = said[command][1]
            wanted = [one for one in words if one != "mango" or command == "list"]
            wanted = [one for one in wanted if one == "kiwi" or command != "search kiwi"]
            assert [one for one in wanted if one not in out] == [], (command, out)
        if "kiwi" in there and place != f"{MEMORY}/agents/ann" and place not in STOPS_WRITING:
            assert said["remember New. --agent ann"][0] == 0, said["remember New. --agent ann"]
        if kind not in ("folder", "huge", "no text") and place not in REMADE:
            assert place in said["check"][1], said["check"]
            assert path.lstat().st_mode == mode
    finally:
        kept.put_back()


def test_a_note_that_cannot_be_read_keeps_its_line(tmp_path: Path) -> None:
    here = Workspace.open(tmp_path, environ={"HOME": str(tmp_path)})
    note = tmp_path / MEMORY / "shared" / "well.md"
    note.parent.mkdir(parents=True)
    note.write_text("---\nname: well\ndescription: Cherries\n---\nA cherry fact.\n")
    here.index()
    document = note.with_name("KNOWLEDGE.md")
    before = document.read_bytes()
    note.unlink()
    os.mkfifo(note)
    assert "named pipe" in here.index()[0].problem
    assert document.read_bytes() == before


@each_row("place", PLACES)
def test_a_pipe_in_any_place_stops_nothing_else(in_project: Path, place: str) -> None:
    check_row(in_project, place, "pipe")


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
@each_row("place", PLACES)
def test_nothing_odd_in_any_place_stops_anything_else(in_project: Path, place: str, kind: str) -> None:
    check_row(in_project, place, kind)

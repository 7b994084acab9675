"""An agent names memory by its owner, never by its file: no verb that takes a path reads or writes another's."""

import os

import pytest
from click.testing import CliRunner

from agent_memory_protocol import Workspace
from agent_memory_protocol.cli.main import amp
from agent_memory_protocol.errors import AccessDenied, StorageError
from agent_memory_protocol.project.access import Actor
from agent_memory_protocol.project.outside import check_outside


@pytest.fixture
def private(tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.chdir(tmp_path)
    Workspace.open(tmp_path, environ={"HOME": str(tmp_path)}).remember("A pineapple fact.", agent="reviewer")
    (tmp_path / "note.md").write_text("# N\n\n- A mango fact.\n")
    (tmp_path / "link.md").symlink_to(".scaffolding/agent-memory/agents/reviewer/MEMORY.md")
    return ".scaffolding/agent-memory/agents/reviewer/MEMORY.md"


COMMANDS = [
    ["merge", "note.md", "FILE", "note.md"],
    ["merge", "FILE", "note.md", "note.md"],
    ["merge", "note.md", "note.md", "link.md"],
    ["import", "FILE"],
    ["import", "link.md"],
    ["convert", "FILE", "-", "--format", "ndjson"],
    ["convert", "note.md", "FILE", "--format", "markdown", "--force"],
    ["export", "shared", "--output", "FILE", "--force"],
]


@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
def test_no_verb_that_takes_a_path_shows_or_replaces_what_an_agent_may_not_read(private, tmp_path, command):
    before = (tmp_path / private).read_bytes()
    done = CliRunner().invoke(amp, [*(private if word == "FILE" else word for word in command), "--as", "dev"])
    assert isinstance(done.exception, AccessDenied)
    assert "pineapple" not in done.output
    assert (tmp_path / private).read_bytes() == before


def test_a_person_names_any_file_and_an_agent_any_other(private, tmp_path):
    check_outside(Actor(), private)
    check_outside(Actor("dev"), "note.md")
    with pytest.raises(AccessDenied):
        check_outside(Actor("dev"), os.path.join(".scaffolding", "not-there-yet.md"))


@pytest.mark.parametrize(
    "command", [["export", "shared", "--output", "PIPE"], ["convert", "note.md", "PIPE"]], ids=" ".join
)
def test_a_pipe_or_device_is_never_replaced_by_a_file(private, tmp_path, command):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    words = [str(pipe) if word == "PIPE" else word for word in command]
    done = CliRunner().invoke(amp, [*words, "--format", "ndjson", "--force"])
    assert isinstance(done.exception, StorageError)
    assert "is not a regular file" in str(done.exception)
    assert pipe.is_fifo()

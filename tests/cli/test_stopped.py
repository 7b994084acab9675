"""Ctrl-C while a program loads ends it quietly, wherever Python is: no traceback, and the promised exit code."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

# At each import the process divides: in one copy Ctrl-C comes there, and the other goes on and tells how that ended.
_SITE = """
import itertools, json, os, signal, sys, tempfile, weakref

class Thing: pass

def interrupt(kind):
    if kind == "error":
        raise KeyboardInterrupt
    if kind == "signal":
        os.kill(os.getpid(), signal.SIGINT)
    else:  # as in the callback that ends each import, where Python can only say what was raised
        thing = Thing()
        kept = weakref.ref(thing, lambda _: os.kill(os.getpid(), signal.SIGINT))
        del thing

class Interrupts:
    kinds = None

    def find_spec(self, name, path=None, target=None):
        if self.kinds is None:
            if name == os.environ["INTERRUPT_AFTER"]:
                self.kinds = itertools.cycle(["signal", "error", "callback"])
            return None
        kind = next(self.kinds)
        out, err = tempfile.TemporaryFile(), tempfile.TemporaryFile()
        child = os.fork()
        if not child:
            os.dup2(out.fileno(), 1), os.dup2(err.fileno(), 2)
            sys.meta_path.remove(self)
            interrupt(kind)
            return None
        code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        out.seek(0), err.seek(0)
        with open(os.environ["INTERRUPTS_TOLD"], "a") as file:
            print(json.dumps([name, kind, code, out.read().decode(), err.read().decode()]), file=file)
        return None

signal.signal(signal.SIGINT, signal.default_int_handler)
sys.meta_path.insert(0, Interrupts())
"""


def _interrupted(folder: Path, words: list[str], after: str, told: bytes = b"") -> list[tuple[str, str, int, str, str]]:
    """Run a program that is interrupted at every import after one; return where, how, its exit code, output, errors."""
    (folder / "sitecustomize.py").write_text(_SITE)
    environ = {key: value for key, value in os.environ.items() if not key.startswith(("AMP_", "COV_"))}
    environ |= {"PYTHONPATH": str(folder), "INTERRUPT_AFTER": after, "INTERRUPTS_TOLD": str(folder / "told")}
    environ |= {"HOME": str(folder), "XDG_CONFIG_HOME": str(folder)}
    shared = folder / "project" / ".scaffolding" / "agent-memory" / "shared"
    shared.mkdir(parents=True)
    (shared / "KNOWLEDGE.md").write_text("# Shared Knowledge\n\n- A known fact.\n")
    subprocess.run(words, cwd=folder / "project", env=environ, input=told, capture_output=True, check=True)
    return [tuple(json.loads(line)) for line in (folder / "told").read_text().splitlines()]


def _script(name: str) -> str:
    return str(Path(sys.executable).with_name(name))


@pytest.mark.slow
@pytest.mark.parametrize(
    "words", [[_script("amp")], [sys.executable, "-m", "agent_memory_protocol"]], ids=["amp", "python -m"]
)
def test_ctrl_c_at_any_import_ends_amp_in_one_line(tmp_path, words):
    ended = _interrupted(tmp_path, [*words, "remember", "A fact."], after="agent_memory_protocol.cli")
    assert len({name for name, *_ in ended}) > 50
    assert [row for row in ended if (row[2], row[4].strip()) not in ((130, "amp: stopped"), (0, ""))] == []
    assert [name for name, _, code, *_ in ended if code == 0 and name.startswith("agent_memory_protocol")] == []


@pytest.mark.slow
def test_ctrl_c_at_any_import_lets_a_hook_answer_nothing(tmp_path):
    words = [_script("amp-hook"), "session-start", "--host", "claude"]
    ended = _interrupted(tmp_path, words, after="agent_memory_protocol.hosts.hook", told=b"{}")
    assert len({name for name, *_ in ended}) > 20
    assert [row for row in ended if row[2] or row[4] or not isinstance(json.loads(row[3]), dict)] == []

"""A project with memory, the hook as a process, and the shapes that hosts publish for what a hook answers."""

import json
import os
import subprocess
import sysconfig
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from agent_memory_protocol.hosts import hook as hooks
from tests.folder import files

RECORDED = Path(__file__).parents[1] / "data" / "hooks"
SECONDS = 30
OURS = ("AMP_", "XDG_CONFIG_HOME", "CLAUDE_", "GEMINI_", "CODEX_", "QWEN_", "COPILOT_", "CURSOR_")

ALIKE = {
    "session-start": "SessionStart",
    "prompt": "UserPromptSubmit",
    "subagent-start": "SubagentStart",
    "pre-tool-use": "PreToolUse",
    "stop": "Stop",
    "subagent-stop": "SubagentStop",
}
NATIVE = {
    "claude": ALIKE,
    "codex": ALIKE,
    "gemini": {
        "session-start": "SessionStart",
        "prompt": "BeforeAgent",
        "pre-tool-use": "BeforeTool",
        "stop": "AfterAgent",
    },
    "qwen": {event: name for event, name in ALIKE.items() if event != "subagent-start"},
    "copilot": {
        "session-start": "sessionStart",
        "prompt": "userPromptSubmitted",
        "subagent-start": "subagentStart",
        "pre-tool-use": "preToolUse",
        "stop": "agentStop",
        "subagent-stop": "subagentStop",
    },
    "cursor": {
        "session-start": "sessionStart",
        "pre-tool-use": "preToolUse",
        "stop": "stop",
        "subagent-stop": "subagentStop",
    },
    "opencode": {event: event for event in ALIKE if event != "prompt"},
}
"""How each host calls the events it has."""

FLAT = {
    "copilot": {"additionalContext", "permissionDecision", "permissionDecisionReason", "decision", "reason"},
    "cursor": {"additional_context", "permission", "user_message", "agent_message", "followup_message"},
}
"""What the answers of these hosts hold, which have nothing inside of anything."""

COMMON = {"continue", "stopReason", "suppressOutput", "systemMessage"}
DECISION = {"permissionDecision", "permissionDecisionReason", "updatedInput", "additionalContext"}
FIELDS = {
    **{(host, "pre-tool-use"): DECISION for host in ("claude", "codex", "qwen", "opencode")},
    ("gemini", "pre-tool-use"): {"tool_input"},
    ("codex", "stop"): None,
    ("codex", "subagent-stop"): None,
    ("gemini", "stop"): {"clearContext"},
}
"""What may stand in `hookSpecificOutput`, where that is not `additionalContext` alone; None: it may not be there."""


def check_shape(host: str, event: str, answer: Any) -> None:
    """Hold an answer to what its host publishes. Codex refuses every key it does not know, so we hold all to that."""
    assert isinstance(answer, dict)
    if host in FLAT:
        assert set(answer) <= FLAT[host] | {"systemMessage"}
        assert all(isinstance(value, str) and value.strip() for value in answer.values())
        return
    allowed = set(COMMON)
    if event in ("stop", "subagent-stop") or (host, event) == ("gemini", "pre-tool-use"):
        allowed |= {"decision", "reason"}
    fields = FIELDS.get((host, event), {"additionalContext"})
    if fields is not None:
        allowed.add("hookSpecificOutput")
    assert set(answer) <= allowed, answer
    if "decision" in answer:
        assert answer["decision"] in ({"allow", "deny", "block"} if host == "gemini" else {"block"})
        assert answer["reason"].strip()
    if "hookSpecificOutput" in answer:
        specific = dict(answer["hookSpecificOutput"])
        assert specific.pop("hookEventName") == NATIVE[host][event]
        assert set(specific) <= (fields or set()), answer
        assert all(isinstance(value, str) and value.strip() for value in specific.values())
        if "permissionDecision" in specific:
            assert specific["permissionDecision"] == "deny"
            assert specific["permissionDecisionReason"]
    if "systemMessage" in answer:
        assert answer["systemMessage"].strip()


class Said(NamedTuple):
    """What a hook said to its host, and on stderr."""

    answer: Any
    err: str

    @property
    def context(self) -> str:
        """What the agent is told."""
        inside = self.answer.get("hookSpecificOutput", self.answer)
        given = inside.get("additionalContext", inside.get("additional_context", ""))
        assert isinstance(given, str)
        return given

    @property
    def denied(self) -> str:
        """Why a tool call is denied; "" where it is not."""
        inside = self.answer.get("hookSpecificOutput", self.answer)
        reason = inside.get("permissionDecisionReason") or inside.get("reason") or inside.get("agent_message")
        assert isinstance(reason, str | None)
        return reason or ""


class Project:
    """A project with memory, and the installed hook in it."""

    script = Path(sysconfig.get_path("scripts"), "amp-hook")

    def __init__(self, root: Path, home: Path) -> None:
        self.root = root
        self.home = home

    def environ(self, more: Mapping[str, str] | None = None) -> dict[str, str]:
        """Return the environment of a process."""
        kept = {name: value for name, value in os.environ.items() if not name.startswith(OURS)}
        return {**kept, "HOME": str(self.home), **(more or {})}

    def recorded(self, host: str, name: str, **changes: object) -> str:
        """Return what a host has said, in this project and with these changes."""
        text = (RECORDED / host / f"{name}.json").read_text(encoding="utf-8")
        message = json.loads(text.replace("/home/user/project", str(self.root)))
        return json.dumps(message | changes)

    def hook(
        self,
        event: str,
        sent: str | bytes | Mapping[str, object],
        host: str = "claude",
        environ: Mapping[str, str] | None = None,
        words: Sequence[str] = (),
    ) -> Said:
        """Answer in this process as the hook does, hold the answer to the host's shape, and return what it said."""
        said: list[bytes] = []
        write = os.write

        def write_or_keep(file: int, data: bytes) -> int:
            if file != 2:
                return write(file, data)
            said.append(data)
            return len(data)

        with pytest.MonkeyPatch.context() as patch:
            for name in set(os.environ) - set(self.environ()):
                patch.delenv(name)
            for name, value in {"HOME": str(self.home), **(environ or {})}.items():
                patch.setenv(name, value)
            patch.chdir(self.home)
            patch.setattr(hooks, "read_stdin", lambda _: _bytes(sent))
            patch.setattr(os, "write", write_or_keep)
            answer = hooks.run([event, "--host", host, *words])
        return _checked(host, event, answer, b"".join(said))

    def process(self, event: str, sent: str | bytes | Mapping[str, object], host: str = "claude") -> Said:
        """Run the installed hook, hold its answer to the host's shape, and return what it said."""
        done = subprocess.run(
            [self.script, event, "--host", host],
            input=_bytes(sent),
            capture_output=True,
            cwd=self.home,
            env=self.environ(),
            timeout=SECONDS,
            check=False,
        )
        assert done.returncode == 0
        assert b"Traceback" not in done.stderr
        return _checked(host, event, done.stdout, done.stderr)

    def write(self, path: str, text: str) -> Path:
        """Write a file of the project by hand."""
        file = self.root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")
        return file

    def tree(self) -> dict[str, bytes]:
        """Return every file below the home folder with its bytes."""
        return files(self.home)


def _bytes(sent: str | bytes | Mapping[str, object]) -> bytes:
    data = json.dumps(sent) if isinstance(sent, Mapping) else sent
    return data.encode() if isinstance(data, str) else data


def _checked(host: str, event: str, printed: str | bytes, err: bytes) -> Said:
    answer = json.loads(printed)
    if host in NATIVE and event in NATIVE[host]:
        check_shape(host, event, answer)
    else:
        assert answer == {}
    return Said(answer, err.decode())


@pytest.fixture
def empty(tmp_path: Path) -> Project:
    """A project without memory. The search for the root ends at the home folder, which is the one above."""
    (tmp_path / "project").mkdir()
    return Project(tmp_path / "project", tmp_path)


@pytest.fixture
def project(empty: Project) -> Project:
    """A project with something in each tier."""
    # By hand, without waiting for the disk as `amp` does.
    memory = ".scaffolding/agent-memory"
    empty.write(f"{memory}/shared/KNOWLEDGE.md", "# Shared Knowledge\n\n- The shared fact.\n")
    empty.write(f"{memory}/agents/developer/MEMORY.md", "# Developer Memory\n\n- The own fact.\n")
    empty.write(".scaffolding/conversations/c1/agent-memory/context.md", "# Conversation c1\n\n- The decision.\n")
    return empty

"""Shell commands that are meant to change memory, or not to, and a project to run each of them in."""

import json
import os
import subprocess
import sysconfig
import tarfile
import tomllib
import zipfile
from collections.abc import Iterator
from contextlib import suppress
from functools import reduce
from pathlib import Path

from agent_memory_protocol.guard.glance import may_concern_memory
from agent_memory_protocol.guard.judge import reason_to_deny
from agent_memory_protocol.hosts import envelopes

_DATA = Path(__file__).parents[1] / "data" / "guard"
_MEMORY = ".scaffolding/agent-memory"
_SHORT = {
    "@K": f"{_MEMORY}/shared/KNOWLEDGE.md",
    "@D": f"{_MEMORY}/shared",
    "@M": _MEMORY,
    "@A": f"{_MEMORY}/agents/developer/MEMORY.md",
}
_SECONDS = 10
_PROGRAMS = sysconfig.get_path("scripts")


def commands(name: str) -> Iterator[tuple[str, str]]:
    """Yield the commands of a list, each with its kind."""
    for kind, texts in tomllib.loads((_DATA / f"{name}.toml").read_text(encoding="utf-8")).items():
        for text in texts:
            yield kind, reduce(lambda said, one: said.replace(*one), _SHORT.items(), text)


def make_project(root: Path) -> None:
    """Make a repository with memory, two commits, and what the commands need."""
    files = {
        _SHORT["@K"]: "# Shared Knowledge\n\n- The shared fact.\n",
        _SHORT["@A"]: "# Developer Memory\n\n- The own fact.\n",
        f"{_MEMORY}/agents/tester/MEMORY.md": "# Tester Memory\n\n- Another fact.\n",
        ".scaffolding/conversations/c1/agent-memory/context.md": "# Conversation c1\n\n- The decision.\n",
        ".scaffolding/conversations/c1/specs/design.md": "A design.\n",
        "README.md": "# Read me\n\nText with a fact.\n",
        "notes.txt": "a note\n",
        "docs/guide.md": "# Guide\n",
        "src/main.py": "print('hello')\n",
        "x.json": "{}\n",
        "x.hex": "00000000: 6162 630a                                abc.\n",
        "x.patch": "--- KNOWLEDGE.md\n+++ KNOWLEDGE.md\n@@ -3 +3 @@\n-- The shared fact.\n+- A lie.\n",
        "list.txt": "notes.txt\n",
        "rules.mk": "all:\n\techo x > $(OUT)\n",
        "rewrite.py": "#!/usr/bin/env python3\nimport sys\nopen(sys.argv[1].removeprefix('--file='), 'a').write('x')\n",
        "copy.js": "require('fs').copyFileSync(process.argv[2], process.argv[3])\n",
    }
    for path, text in files.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text, encoding="utf-8")
    (root / "rewrite.py").chmod(0o755)
    (root / _MEMORY / "empty").mkdir()
    (root / _MEMORY / "x").mkdir()
    (root / _MEMORY / "x" / "y.md").write_text("not tracked\n")
    with tarfile.open(root / "x.tar", "w") as archive:
        archive.add(root / "README.md", "KNOWLEDGE.md")
    with zipfile.ZipFile(root / "x.zip", "w") as bundle:
        bundle.write(root / "README.md", "KNOWLEDGE.md")
    said = (root / _SHORT["@K"]).read_text()
    (root / ".gitignore").write_text(f"{_MEMORY}/x\n")
    (root / _SHORT["@K"]).write_text(said.replace("fact", "older fact"))
    git = ["git", "-c", "user.name=a", "-c", "user.email=a@acme.example", "-c", "init.defaultBranch=main"]
    for words in (["init", "-q"], ["add", "."], ["commit", "-qm", "one"]):
        subprocess.run([*git, *words], cwd=root, check=True)
    (root / _SHORT["@K"]).write_text(said)
    subprocess.run([*git, "commit", "-qam", "two"], cwd=root, check=True)
    subprocess.run(["gzip", "-k", root / "README.md"], check=True)
    (root / "README.md.gz").rename(root / "x.gz")


def changes_memory(command: str, root: Path, home: Path) -> bool:
    """Run a command in a project, and say whether memory is another than before."""
    before = _state(root)
    environ = {"HOME": str(home), "PATH": f"{_PROGRAMS}{os.pathsep}{os.environ['PATH']}", "LANG": "C.UTF-8"}
    with suppress(subprocess.TimeoutExpired):
        subprocess.run(
            ["bash", "-c", command],
            cwd=root,
            env=environ,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            timeout=_SECONDS,
            check=False,
        )
    return _state(root) != before


def is_denied(command: str, root: Path, home: Path, agent: str = "reviewer") -> bool:
    """Say whether the guard denies a command of an agent, as the hook would."""
    data = json.dumps(
        {"tool_name": "Bash", "tool_input": {"command": command}, "cwd": str(root), "agent_type": agent}
    ).encode()
    call = envelopes.read("pre-tool-use", "claude", data)
    environ = {"HOME": str(home)}
    return may_concern_memory(data, environ) and reason_to_deny(call, environ) != ""


def _state(root: Path) -> dict[str, object]:
    """Return what memory holds: names, content, rights and times of its files."""
    found: dict[str, object] = {}
    for folder, _, names in os.walk(root / ".scaffolding"):
        found[folder] = os.lstat(folder).st_mode
        for name in names:
            path = Path(folder, name)
            about = path.lstat()
            is_file = path.is_file() and not path.is_symlink()
            content = path.read_bytes() if is_file and os.access(path, os.R_OK) else None
            times = () if "/.amp/" in str(path) else (about.st_mode, about.st_nlink)
            found[str(path)] = (content, *times, about.st_mtime_ns if content is not None else 0)
    return found

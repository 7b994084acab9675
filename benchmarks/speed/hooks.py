"""`amp-hook`, from start to end: what a host waits for before every tool call and at every session's start.

The script in front of it is the installer's. Those of older pips import `re` first, which alone takes half of
`python -c pass`; a script as newer pips and uv write it is measured beside the installed one.
"""

import json
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path

from benchmarks.speed import material
from benchmarks.speed.installed import environment
from benchmarks.speed.measure import Effort, Figure, in_turn, ratio, run

_PAIRS = 60
_COMMON = {"session_id": material.CONVERSATION, "transcript_path": "/home/user/.claude/projects/p/7f3a.jsonl"}
_ORDINARY = {
    "hook_event_name": "PreToolUse",
    "tool_name": "Bash",
    "tool_input": {"command": "python -m pytest tests/test_upload.py -x && git status --short", "description": "test"},
}
_START = {"hook_event_name": "SessionStart", "source": "startup", "agent_type": material.AGENT}
_PROMPT = {
    "hook_event_name": "UserPromptSubmit",
    "session_id": "",
    "prompt": "Add a migration for the new index on the orders table",
}
_NEWER_SCRIPT = """\
#!{python}
import sys
from agent_memory_protocol.hosts.hook import main
if __name__ == "__main__":
    sys.exit(main())
"""


def figures(python: Path, folder: Path, effort: Effort) -> Iterator[Figure]:
    """Measure a tool call that is none of memory's business, session starts, and prompts that few entries fit."""
    installed = python.parent / "amp-hook"
    note = "script imports re" if "import re" in installed.read_text() else "script of the installed pip"
    newer = folder / "amp-hook"
    newer.write_text(_NEWER_SCRIPT.format(python=python))
    newer.chmod(0o755)
    some = material.three_files(folder / "hooks-some", lines=40)
    full = material.three_files(folder / "hooks-full", lines=200)
    for script, about in ((installed, note), (newer, "script as newer pips write it")):
        for what, root, event, message, target in (
            ("pre-tool-use, an ordinary call", full, "pre-tool-use", _ORDINARY, 1.6),
            ("session-start, 3 × 40 lines", some, "session-start", _START, 2.7),
            ("session-start, 3 × 200 lines into 10,000 characters", full, "session-start", _START, 2.7),
            ("prompt, 3 × 200 lines of which most were left out", full, "prompt", _PROMPT, 3),
        ):
            stdin = folder / "event.json"
            stdin.write_text(json.dumps({**_COMMON, "cwd": str(root), **message}))
            ours, nothing = [script, event, "--host", "claude"], [python, "-c", "pass"]
            pairs = in_turn(
                *(partial(_time_of, one, root, stdin, folder) for one in (ours, nothing)), effort.rounds(_PAIRS)
            )
            yield ratio(f"amp-hook {what}", pairs, target=target, note=about)


def _time_of(command: Sequence[object], root: Path, stdin: Path, folder: Path) -> float:
    return run(command, root, environment(folder), folder / "output", stdin=stdin).processor

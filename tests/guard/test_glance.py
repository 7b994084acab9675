"""One look at the bytes of a call tells most calls apart from those that concern memory."""

import json

from agent_memory_protocol.guard.glance import may_concern_memory
from tests.each_row import each_row

HOME = "/home/user"
RECORDS = [
    f"{HOME}/.claude/projects/p/7f3a.jsonl",
    f"{HOME}/.codex/sessions/x.jsonl",
    f"{HOME}/.gemini/tmp/p/x.json",
    None,
]


def call(record, given):
    said = {"session_id": "7f3a", "transcript_path": record, "cwd": f"{HOME}/p", "tool_name": "Bash"}
    return json.dumps({**said, "tool_input": given}).encode()


@each_row("record", RECORDS)
def test_where_the_host_keeps_its_record_makes_no_call_concern_memory(record):
    assert not may_concern_memory(call(record, {"command": "pytest -x && git status"}), {})
    assert not may_concern_memory(call(record, {"file_path": "src/app.py", "content": "stamp"}), {})


@each_row("record", RECORDS)
@each_row(
    "given",
    [
        {"command": "rm .claude/agents/reviewer.md"},
        {"transcript_path": ".claude/agents/x.md"},
        {"a": {"transcript_path": ".scaffolding/agent-memory"}},
        {"command": 'echo "transcript_path": ".claude/settings.json"'},
    ],
)
def test_what_the_tool_is_given_is_looked_at_as_a_whole(record, given):
    assert may_concern_memory(call(record, given), {})
    assert may_concern_memory(json.dumps({"tool_input": given, "transcript_path": record}).encode(), {})

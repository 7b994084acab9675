"""As an agent stops: what it reports is kept for its conversation, and it is reminded once, if there is reason to."""

import json
import os
from pathlib import Path

import pytest

from agent_memory_protocol.hosts import envelopes
from agent_memory_protocol.hosts import stop as stopping
from agent_memory_protocol.hosts.reminder import Signs, began_at, read_signs
from tests.each_row import each_row

CONTEXT = ".scaffolding/conversations/s1/agent-memory/context.md"
FINDINGS = "Done.\n\n```memory-findings\n- shared: Staging runs Postgres 14.\n- The import fails.\n```\n"
RECORD = [
    {"type": "user", "timestamp": "2031-01-02T03:04:05.678Z", "message": {"content": "mend it"}},
    {"type": "assistant", "message": {"content": [{"type": "tool_use", "name": "Edit", "input": {"file_path": "a"}}]}},
    {"type": "user", "message": {"content": [{"type": "tool_result", "is_error": True}]}},
    {"type": "assistant", "message": {"content": [{"type": "text", "text": "mended"}]}},
]


def record(project, lines=RECORD):
    path = project.home / f"record-{len(lines)}.jsonl"
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return str(path)


def stop(project, host="claude", event="stop", **changes):
    changes = {"session_id": "s1", "transcript_path": record(project), **changes}
    return project.hook(event, project.recorded(host, event, **changes), host)


def of_subagent(project):
    return {"agent_transcript_path": record(project), "last_assistant_message": "Done."}


def context_of(project, name=CONTEXT):
    path = project.root / name
    return path.read_text() if path.exists() else ""


@pytest.mark.requirement("S4-56", "S4-57")
def test_what_a_subagent_reports_is_kept_for_its_conversation_alone(project):
    said = stop(project, event="subagent-stop", agent_type="plugin:reviewer", last_assistant_message=FINDINGS)
    assert said.answer == {"systemMessage": "amp: 2 findings of plugin:reviewer saved in the conversation's memory"}
    text = context_of(project)
    assert "Staging runs Postgres 14. (reported by reviewer, meant for shared)\n" in text
    assert "The import fails. (reported by reviewer)\n" in text
    assert "Postgres" not in context_of(project, ".scaffolding/agent-memory/shared/KNOWLEDGE.md")
    again = stop(project, event="subagent-stop", agent_type="reviewer", last_assistant_message=FINDINGS)
    assert "systemMessage" not in again.answer
    assert context_of(project) == text


@pytest.mark.parametrize("host", ["claude", "codex", "gemini"])
def test_a_session_s_own_report_is_kept_where_it_says_whose_it_is(project, host):
    key = "prompt_response" if host == "gemini" else "last_assistant_message"
    stop(project, host, **{key: FINDINGS})
    assert context_of(project) == ""
    stop(project, host, **{key: "---\nagent: reviewer\n---\n" + FINDINGS})
    assert "The import fails. (reported by reviewer)\n" in context_of(project)


def test_the_agent_that_the_session_runs_as_is_the_writer(project):
    sent = project.recorded(
        "claude", "subagent-stop", session_id="s1", agent_type="reviewer", last_assistant_message=FINDINGS
    )
    said = project.hook("subagent-stop", sent, environ={"AMP_AGENT": "developer"})
    assert "2 findings" in said.answer["systemMessage"]
    assert "(reported by reviewer, saved by developer)" in context_of(project)


def test_a_session_that_may_not_write_harvests_nothing(project):
    sent = project.recorded("claude", "subagent-stop", session_id="s1", agent_type="x", last_assistant_message=FINDINGS)
    said = project.hook("subagent-stop", sent, environ={"AMP_AGENT": "reviewer"})
    assert said.answer == {}
    assert "it is read-only" in said.err
    assert context_of(project) == ""


def test_the_settings_switch_the_harvest_off(project):
    project.write(".scaffolding/amp.toml", "[hooks]\nharvest = false\n")
    stop(project, event="subagent-stop", agent_type="reviewer", last_assistant_message=FINDINGS)
    assert context_of(project) == ""


def test_a_secret_in_a_report_is_not_kept_and_the_rest_is(project):
    token = "ghp" + "_" + "Kq7Zt2Xw9Lm4Rb6Yc1Vn8Hd3Js5Pf0Ga7Ue2"
    message = FINDINGS.replace("The import fails.", f"The token is {token}.")
    said = stop(project, event="subagent-stop", agent_type="reviewer", last_assistant_message=message)
    assert "1 finding of reviewer" in said.answer["systemMessage"]
    assert "rule github-token" in said.err
    assert token not in said.err + context_of(project)


@pytest.mark.requirement("S4-31")
def test_who_changed_files_and_saved_nothing_is_reminded_once(project):
    said = stop(project)
    assert "files were changed once and tools failed once" in said.context
    assert "`amp remember TEXT --conversation s1`" in said.context
    assert stop(project).answer == {}
    assert stop(project, session_id="s2").answer


def test_an_agent_is_told_how_to_save_in_its_own_name(project):
    said = stop(project, event="subagent-stop", agent_type="developer", **of_subagent(project))
    assert "`amp remember TEXT --as developer --tier shared`" in said.context
    assert "`amp remember TEXT --as developer`" in said.context


@pytest.mark.parametrize(
    ("host", "mode", "answer"),
    [
        ("claude", "block", {"decision": "block"}),
        ("codex", "block", {"decision": "block"}),
        ("gemini", "block", {"decision": "deny"}),
        ("codex", "advise", {"systemMessage": "…"}),
        ("gemini", "advise", {"systemMessage": "…"}),
    ],
)
def test_the_settings_say_how_strongly_it_is_reminded(project, host, mode, answer):
    project.write(".scaffolding/amp.toml", f'[hooks]\nreminder = "{mode}"\n')
    said = stop(project, host).answer
    assert set(said) == set(answer) | ({"reason"} if mode == "block" else set())
    assert "files were changed" in str(said)
    assert mode != "block" or said["decision"] == answer["decision"]


def test_a_host_that_writes_its_record_behind_is_waited_for(project, monkeypatch):
    project.write(".scaffolding/amp.toml", '[hooks]\nreminder = "block"\n')
    began = {"type": "session.start", "data": {}, "timestamp": "2031-01-02T03:04:05.678Z"}
    edited = {"type": "tool.execution_start", "data": {"toolCallId": "1", "toolName": "create"}}
    path = Path(record(project, [began]))
    said = {"sessionId": "s1", "timestamp": 1796277330236, "cwd": str(project.root), "transcriptPath": str(path)}
    call = envelopes.read("stop", "copilot", json.dumps(said).encode())
    waits = []

    def host_goes_on(seconds):
        waits.append(seconds)
        with path.open("a") as written:
            written.write(json.dumps(edited, separators=(",", ":")) + "\n")

    monkeypatch.setattr("time.sleep", host_goes_on)
    said = stopping.stop(call, {"HOME": str(project.home)}, print)
    assert "files were changed once" in str(said["reason"])
    assert len(waits) == 1
    path.write_text(json.dumps(began) + '\n{"type":"hook.start","data":{"input":{"timestamp":1796277330236}}}\n')
    assert stopping.stop(call, {"HOME": str(project.home)}, print) == {}
    assert len(waits) == 1


@pytest.mark.parametrize(
    "changes",
    [{"stop_hook_active": True}, {"transcript_path": ""}, {"transcript_path": "/nowhere"}, {"transcript_path": "/dev"}],
    ids=str,
)
def test_there_is_no_reminder_without_reason(project, changes):
    assert stop(project, **changes).answer == {}


def test_there_is_no_reminder_where_it_is_off_or_nothing_was_learned(project):
    assert stop(project, transcript_path=record(project, [RECORD[0], RECORD[3]])).answer == {}
    project.write(".scaffolding/amp.toml", '[hooks]\nreminder = "off"\n')
    assert stop(project).answer == {}


@pytest.mark.parametrize("agent", ["reviewer", "architect"])
def test_who_may_not_write_is_not_told_to(project, agent):
    said = stop(project, event="subagent-stop", agent_type=agent, **of_subagent(project))
    assert said.answer == {}


def test_who_saved_something_is_not_reminded(project):
    document = project.root / ".scaffolding" / "agent-memory" / "agents" / "developer" / "MEMORY.md"
    later = 1_925_089_446.0  # a second after the record begins
    os.utime(document, (later, later))
    assert stop(project).answer == {}
    os.utime(document, (later - 60, later - 60))
    assert stop(project).answer


def test_nothing_happens_where_there_is_no_memory(empty):
    changes = {"agent_type": "reviewer", "last_assistant_message": FINDINGS, "transcript_path": record(empty)}
    assert empty.hook("subagent-stop", empty.recorded("claude", "subagent-stop", **changes)).answer == {}
    assert empty.hook("stop", empty.recorded("claude", "stop", **changes)).answer == {}
    assert not (empty.root / ".scaffolding").exists()


def test_a_pipe_in_a_record_s_place_is_not_waited_for(project):
    os.mkfifo(project.home / "pipe")
    assert stop(project, transcript_path=str(project.home / "pipe")).answer == {}


CODEX = {"type": "response_item", "payload": {"type": "function_call", "name": "exec_command", "arguments": "{}"}}
SIGNS = [
    ([], Signs()),
    ([{"message": {"content": [{"type": "tool_use", "name": name}]}} for name in ("Edit", "Write", "Read")], Signs(2)),
    ([{"toolCalls": [{"name": "replace"}, {"name": "write_file"}, {"name": "read", "status": "error"}]}], Signs(2, 1)),
    ([CODEX], Signs()),
    ([{"type": "response_item", "payload": {"type": "custom_tool_call", "name": "apply_patch"}}], Signs(1)),
    ([{"type": "response_item", "payload": {"type": "function_call", "arguments": "*** Begin Patch"}}], Signs(1)),
    ([{"type": "session_meta", "instructions": "a patch starts with *** Begin Patch"}], Signs()),
    ([{"output": "Process exited with code 1"}, {"output": "Process exited with code 0"}], Signs(0, 1)),
    ([{"is_error": True}, {"is_error": False}], Signs(0, 1)),
]  # fmt: skip


@each_row("lines, signs", SIGNS, ids=range(len(SIGNS)))
def test_signs_are_read_from_the_records_of_each_host(lines, signs):
    for separators in ((",", ":"), (", ", ": ")):
        data = "\n".join(json.dumps(line, separators=separators) for line in lines).encode()
        assert read_signs(data) == signs


def test_a_single_failure_teaches_nothing_but_two_do():
    assert not Signs(0, 1).something_was_learned
    assert Signs(0, 2).something_was_learned
    assert Signs(1, 0).something_was_learned


def test_a_record_says_when_it_began():
    assert began_at(b'{"timestamp": "2031-01-02T03:04:05.678Z"}\n{"timestamp":"2032-01-02T03:04:05Z"}') == (
        "2031-01-02T03:04:05.678Z"
    )
    assert began_at(b'{"timestamp": "yesterday"}') == ""

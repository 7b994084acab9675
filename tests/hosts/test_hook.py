"""The program that hosts run: it answers in their shape, is quick to answer, and never keeps them from working."""

import fcntl
import json
import os
import subprocess
import sys
import termios
import time
from contextlib import suppress

import pytest

from agent_memory_protocol.hosts import hook
from tests.each_row import each_row

from .conftest import NATIVE

HOSTS = ("claude", "codex", "gemini", "qwen", "copilot", "cursor", "opencode")
SHARED = ".scaffolding/agent-memory/shared/KNOWLEDGE.md"


@pytest.mark.requirement("S4-21", "S4-26")
@each_row("host", HOSTS)
def test_a_session_is_given_the_shared_memory(project, host):
    answer = project.process if host in ("claude", "cursor") else project.hook
    said = answer("session-start", project.recorded(host, "session-start"), host)
    assert said.err == ""
    assert "- The shared fact.\n" in said.context
    assert "The own fact." not in said.context


@pytest.mark.requirement("S4-23", "S4-58", "S4-70", "S4P-01")
@pytest.mark.parametrize("agent", ["developer", "scaffolding:developer", "DEVELOPER"])
def test_a_subagent_is_given_its_own_memory_and_the_conversation_s(project, agent):
    (project.root / "src" / "deep").mkdir(parents=True)
    sent = project.recorded("claude", "subagent-start", cwd=str(project.root / "src" / "deep"), agent_type=agent)
    given = project.hook("subagent-start", sent, environ={"AMP_CONVERSATION": "c1"}).context
    assert given.index("The shared fact.") < given.index("The own fact.") < given.index("The decision.")


def test_the_environment_names_the_conversation_before_the_settings_and_they_before_the_host(project):
    sent = project.recorded("claude", "session-start", session_id="c1")
    assert "The decision." in project.hook("session-start", sent).context
    project.write(".scaffolding/amp.toml", '[hooks]\nconversation = "c2"\n')
    assert "The decision." not in project.hook("session-start", sent).context
    assert "The decision." in project.hook("session-start", sent, environ={"AMP_CONVERSATION": "c1"}).context


def test_of_several_folders_of_a_window_that_with_memory_counts(project):
    beside = project.root.parent / "beside"
    beside.mkdir()
    for roots in ([project.root, beside], [beside, project.root]):
        sent = project.recorded("cursor", "session-start", workspace_roots=[str(one) for one in roots])
        assert "The shared fact." in project.hook("session-start", sent, "cursor").context
    for odd in ([str(beside)], [], [5, None], "x", ["a\0b"]):
        sent = project.recorded("cursor", "session-start", workspace_roots=odd)
        assert project.hook("session-start", sent, "cursor").err == ""


def test_the_environment_names_the_agent_of_a_session(project):
    sent = project.recorded("claude", "session-start")
    assert "The own fact." in project.hook("session-start", sent, environ={"AMP_AGENT": "developer"}).context
    other = project.recorded("claude", "subagent-start", agent_type="tester")
    given = project.hook("subagent-start", other, environ={"AMP_AGENT": "developer"}).context
    assert "The own fact." not in given


@pytest.mark.parametrize("source", ["startup", "clear", "compact", "something-new"])
def test_a_fresh_context_is_given_the_block(project, source):
    sent = project.recorded("claude", "session-start", source=source)
    assert project.hook("session-start", sent).context.startswith("<agent-memory id=")


@pytest.mark.parametrize("source", ["resume", "fork"])
def test_a_context_that_has_the_block_hears_only_what_there_is_now(project, source):
    sent = project.recorded("claude", "session-start", source=source, session_id="c1")
    given = project.hook("session-start", sent).context
    assert "The shared fact." not in given
    assert f"- shared: {SHARED}, 3 lines\n" in given
    assert "- conversation:c1: .scaffolding/conversations/c1/agent-memory/context.md, 3 lines\n" in given
    assert "`amp recall --conversation c1`" in given


@pytest.mark.parametrize("host", HOSTS)
def test_a_resumed_session_of_a_host_that_forgets_is_given_the_block_again(project, host):
    sent = project.recorded(host, "session-start", source="resume", session_id="c1")
    given = project.hook("session-start", sent, host).context
    assert given.startswith("<agent-memory id=") == (host in ("gemini", "qwen"))


TOPICS = """
pricing webhooks mail search refunds login tickets imports exports status loyalty checkin billing invoices carts coupons
shipping returns reviews ratings wishlists sessions cookies banners footers
"""
LARGE = "".join(
    f"- Put {topic} behaviour behind a flag first, {'e' * number}.\n"
    for number in range(91, 95)
    for topic in TOPICS.split()
)
MIGRATIONS = (
    f"- Keep migrations small: the June one locked the table for four minutes.{' No checkout went through.' * 5}\n"
)


@pytest.fixture
def full(project):
    """A project whose shared memory does not fit into a start; the entry on migrations is what goes first."""
    project.write(SHARED, f"# Shared Knowledge\n\n## Rules\n\n{MIGRATIONS}{LARGE}")
    for host in HOSTS:
        assert MIGRATIONS not in project.hook("session-start", project.recorded(host, "session-start"), host).context
    return project


def asked(project, prompt, **changes):
    return project.recorded("claude", "prompt", **{"prompt": prompt, **changes})


@pytest.mark.slow
@pytest.mark.parametrize("host", [host for host in HOSTS if "prompt" in NATIVE[host]])
def test_the_first_prompt_brings_what_the_start_left_out_and_it_is_about_once(full, host):
    given = full.hook("prompt", asked(full, "Add a migration for a new column"), host).context
    assert given.startswith("<agent-memory id=")
    assert f"## Rules\n{MIGRATIONS}" in given
    assert "behind a flag" not in given
    assert len(given) <= 2_000
    assert full.hook("prompt", asked(full, "Add a migration for a new column"), host).answer == {}
    assert MIGRATIONS in full.hook("prompt", asked(full, "Another migration", session_id="other"), host).context


@pytest.mark.slow
@pytest.mark.parametrize(
    "prompt", ["hello", "please go on", "", "fix it, and put new behaviour first", "Bäume 🌳", "?" * 9000]
)
def test_a_prompt_that_memory_knows_nothing_of_brings_nothing_and_the_next_one_may(full, prompt):
    assert full.hook("prompt", asked(full, prompt)).answer == {}
    assert MIGRATIONS in full.hook("prompt", asked(full, "Now write the migration")).context


def test_what_hooks_have_said_before_a_prompt_is_not_what_it_asks_for(full):
    """Gemini CLI puts it in front of the first prompt."""
    said = '<hook_context>&lt;agent-memory id="1"&gt;\n- Every migration adds a column.</hook_context>\n\n'
    assert full.hook("prompt", asked(full, f"{said}hello"), "gemini").answer == {}
    assert MIGRATIONS in full.hook("prompt", asked(full, f"{said}Add a migration"), "gemini").context


def test_a_prompt_brings_nothing_that_the_start_has_given(project):
    assert project.hook("prompt", asked(project, "The shared fact and the own fact")).answer == {}


@pytest.mark.slow
@pytest.mark.parametrize("source", ["clear", "compact"])
def test_a_context_that_was_emptied_is_given_the_rest_again(full, source):
    sent = asked(full, "Add a migration")
    assert MIGRATIONS in full.hook("prompt", sent).context
    start = full.recorded("claude", "session-start", source=source, session_id=json.loads(sent)["session_id"])
    full.hook("session-start", start)
    assert MIGRATIONS in full.hook("prompt", sent).context


def test_the_settings_say_how_much_a_prompt_brings(full):
    about = "The pricing, webhooks, mail, search and refunds behaviour of migrations"
    sizes = []
    for number, chars in enumerate([0, 700, 4_000]):
        full.write(".scaffolding/amp.toml", f"[hooks]\nprompt_chars = {chars}\n")
        sizes.append(len(full.hook("prompt", asked(full, about, session_id=str(number))).context))
    assert sizes[0] == 0 < sizes[1] <= 700 < sizes[2] <= 4_000


def test_what_has_expired_comes_with_no_prompt(full):
    (full.root / SHARED).write_text(
        (full.root / SHARED).read_text().replace("- Keep mig", "- [until 2020-01-01] Keep mig")
    )
    assert full.hook("prompt", asked(full, "Add a migration for a new column")).answer == {}


def test_where_a_person_has_the_hooks_too_those_of_the_project_are_silent(project):
    sent = project.recorded("claude", "session-start")
    settings = project.home / ".claude" / "settings.json"
    settings.parent.mkdir()
    settings.write_text('{"hooks": {"SessionStart": "amp-hook session-start --host claude --user || true"}}')
    assert project.hook("session-start", sent).answer == {}
    assert "The shared fact." in project.hook("session-start", sent, words=["--user"]).context
    settings.write_text('{"hooks": {"SessionStart": "amp-hook session-start --host claude"}}')
    assert "The shared fact." in project.hook("session-start", sent).context


LIMITS = {"claude": (9_000, 10_000), "codex": (9_000, 10_000), "gemini": (9_000, 10_000)}


@pytest.mark.slow
@pytest.mark.parametrize("host", HOSTS)
@pytest.mark.parametrize("letter", ["e", "é"])
def test_the_block_keeps_to_what_the_host_takes_and_says_what_is_left_out(project, host, letter):
    project.write(SHARED, "# Shared\n\n" + "".join(f"- fact {number} {letter * 150}\n" for number in range(150)))
    given = project.hook("session-start", project.recorded(host, "session-start"), host).context
    size = -(-len(given.encode()) // 4) if host == "codex" else len(given)
    low, high = (2_300, 2_500) if host == "codex" else (9_000, 10_000)
    assert low < size <= high
    assert "older entries on" in given or "entries on" in given
    project.write(".scaffolding/amp.toml", "[recall]\nmax_chars = 3000\n")
    given = project.hook("session-start", project.recorded(host, "session-start"), host).context
    assert 2_000 < len(given) <= 3_000


@pytest.mark.requirement("S2-38", "S2-39")
def test_a_project_that_lists_its_state_files_has_them_named_after_memory_and_before_deciding(project):
    project.write(".scaffolding/amp.toml", '[hooks]\nstate_files = ["STATE.md", "data/ledger.json"]\n')
    project.write("STATE.md", "balance: 12\n")
    given = project.hook("session-start", project.recorded("claude", "session-start")).context
    memory, checklist = given.split("<session-checklist>\n")
    assert memory.rstrip().endswith(">")
    lines = checklist.splitlines()
    assert [line[:2] for line in lines[:3]] == ["1.", "2.", "3."]
    assert "STATE.md, data/ledger.json (not there)" in lines[1]
    assert "balance" not in given
    assert "STATE.md" not in memory + lines[0] + lines[2]
    resumed = project.recorded("claude", "session-start", source="resume")
    assert "<session-checklist>" in project.hook("session-start", resumed).context


def test_the_checklist_is_part_of_what_the_host_takes(project):
    project.write(SHARED, "# Shared\n\n" + "".join(f"- fact {number} {'e' * 150}\n" for number in range(150)))
    files = [f"state/file-{number:03d}.md" for number in range(100)]
    project.write(".scaffolding/amp.toml", f"[hooks]\nstate_files = {json.dumps(files)}\n")
    given = project.hook("session-start", project.recorded("claude", "session-start")).context
    assert 9_000 < len(given) <= 10_000
    assert "state/file-099.md" in given


@pytest.mark.parametrize("path", ["/etc/passwd", "../x", "a/../b", "a//b", "a\\b", "", "a\nb"])
def test_a_state_file_lies_below_the_root(project, path):
    project.write(".scaffolding/amp.toml", f"[hooks]\nstate_files = [{json.dumps(path)}]\n")
    said = project.hook("session-start", project.recorded("claude", "session-start"))
    assert "<session-checklist>" not in said.context
    assert "hooks.state_files must be a list of files below the project root" in said.err


def test_nothing_is_said_and_nothing_is_made_where_there_is_no_memory(empty):
    for host in HOSTS:
        assert empty.hook("session-start", empty.recorded(host, "session-start"), host) == ({}, "")
    assert empty.tree() == {}


def test_nothing_is_changed_by_giving_memory(project):
    before = project.tree()
    project.hook("session-start", project.recorded("claude", "session-start"))
    project.hook("subagent-start", project.recorded("claude", "subagent-start"))
    assert project.tree() == before


def test_memory_that_is_switched_off_is_not_given(project):
    sent = project.recorded("claude", "session-start")
    assert project.hook("session-start", sent, environ={"AMP_DISABLE": "1"}) == ({}, "")
    project.write(".scaffolding/amp.toml", 'enabled = false\n[hooks]\nstate_files = ["STATE.md"]\n')
    assert project.hook("session-start", sent) == ({}, "")


def test_a_document_that_cannot_be_read_is_said_in_the_block(project):
    (project.root / SHARED).write_bytes(b"# Shared\n- caf\xe9\n")
    given = project.hook("session-start", project.recorded("claude", "session-start")).context
    assert "(not read: " in given


def test_a_root_that_cannot_be_used_is_said_in_the_block_and_on_stderr(project):
    (project.root / "file").write_text("x")
    sent = project.recorded("claude", "session-start")
    said = project.hook("session-start", sent, environ={"AMP_ROOT": str(project.root / "file")})
    assert "which is not a folder" in said.context
    assert "which is not a folder" in said.err


WRONG = {
    "nothing": "",
    "blank": " \n",
    "no-json": "{not json",
    "half": '{"session_id": "x", "cwd": "/tm',
    "array": "[]",
    "text": '"x"',
    "null": "null",
    "not-utf-8": b'{"cwd": "caf\xe9"}',
    "nul": b"\0\0",
    "deep": "[" * 200_000,
    "deep-object": '{"a":' * 200_000,
    "two": "{} {}",
}


@each_row("event", hook.EVENTS)
@each_row("sent", WRONG.values(), ids=WRONG)
def test_whatever_is_sent_is_answered(project, event, sent):
    assert project.hook(event, sent).answer == {}


@each_row("sent", WRONG.values(), ids=WRONG)
def test_whatever_is_sent_the_host_goes_on_and_a_line_on_stderr_says_why(project, sent):
    answer = project.process if sent in ("", WRONG["deep"], WRONG["not-utf-8"]) else project.hook
    said = answer("session-start", sent)
    assert said.answer == {}
    assert said.err.startswith("amp-hook: ")
    assert said.err.count("\n") == 1


ODD = [
    {},
    {"cwd": 7, "session_id": None, "source": [], "agent_type": {}},
    {"cwd": "/nowhere/at/all"},
    {"cwd": "a\0b"},
    {"cwd": "x" * 100_000, "session_id": "y" * 100_000},
    {"tool_name": "Write", "tool_input": "scaffolding"},
    {"tool_name": ["scaffolding"], "tool_input": {"file_path": ["scaffolding"], "content": 7}},
]


@pytest.mark.slow
@each_row("event", hook.EVENTS)
@each_row("message", ODD, ids=range(len(ODD)))
def test_fields_of_the_wrong_kind_hold_nothing_up(empty, event, message):
    for host in HOSTS:
        empty.hook(event, message, host)
    assert empty.tree() == {}


@pytest.mark.slow
@pytest.mark.parametrize(
    "words",
    [(), ("frobnicate",), ("session-start", "stop"), ("session-start", "--host"), ("session-start", "--host", "emacs")],
    ids=" ".join,
)
def test_an_unknown_event_or_host_is_no_reason_to_stop_a_host(project, words):
    done = subprocess.run(
        [project.script, *words], input=b"{}", capture_output=True, env=project.environ(), check=False
    )
    assert (done.returncode, done.stdout) == (0, b"{}")
    assert b"the events are " in done.stderr or b"the hosts are " in done.stderr


@pytest.mark.parametrize("words", [["--help"], ["stop", "-h"]], ids=" ".join)
def test_who_asks_for_help_is_told_the_events(words):
    told = hook.run(words)
    assert told.startswith("Usage: amp-hook EVENT")
    assert all(event in told for event in hook.EVENTS)


@pytest.mark.parametrize("event", ["subagent-start", "subagent-stop"])
def test_an_event_that_a_host_does_not_have_is_said(project, event):
    assert "gemini has no event" in project.hook(event, "{}", "gemini").err


@pytest.mark.slow
@pytest.mark.parametrize("said", [b"", b'{"source": "startup"}', b'{"source": '], ids=["nothing", "whole", "half"])
def test_a_pipe_that_stays_open_is_not_waited_for(project, said):
    with subprocess.Popen(
        [project.script, "session-start"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        cwd=project.root,
        env=project.environ(),
    ) as process:
        assert process.stdin is not None
        process.stdin.write(said)
        process.stdin.flush()
        assert process.wait(30) == 0
        assert process.stdout is not None
        answer = json.load(process.stdout)
        assert bool(answer) == said.endswith(b"}")


def waiting(pipe) -> int:
    """How many bytes of a pipe nobody has read yet."""
    return int.from_bytes(fcntl.ioctl(pipe.fileno(), termios.FIONREAD, b"\0" * 4), sys.byteorder)


def test_what_comes_in_pieces_is_read_whole(project):
    sent = project.recorded("claude", "session-start").encode()
    with subprocess.Popen(
        [project.script, "session-start"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        cwd=project.root,
        env=project.environ(),
    ) as process:
        assert process.stdin is not None
        for piece in (sent[:40], sent[40:80], sent[80:]):
            process.stdin.write(piece)
            process.stdin.flush()
            while waiting(process.stdin) and process.poll() is None:
                time.sleep(0.001)
        process.stdin.close()
        assert process.stdout is not None
        assert "The shared fact." in process.stdout.read().decode()


def test_no_more_than_a_bounded_part_of_stdin_is_read(project):
    """The rest cannot be written: nobody reads it."""
    with subprocess.Popen(
        [project.script, "session-start"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=project.environ(),
    ) as process:
        assert process.stdin is not None
        written = 0
        with suppress(BrokenPipeError):
            while written < 4 * hook.MOST_BYTES:
                written += process.stdin.write(b'{"cwd": "' + b"x" * (1 << 20))
        assert process.wait(30) == 0
        assert process.stdout is not None
        assert process.stderr is not None
        assert process.stdout.read() == b"{}"
        assert b"more than 16,777,216 bytes" in process.stderr.read()
        assert written < hook.MOST_BYTES + (4 << 20)
    process.stdin = None


@pytest.mark.slow
@pytest.mark.parametrize("closed", ["<&-", ">&-", "2>&-", "<&- >&- 2>&-"])
def test_closed_streams_end_with_0(project, closed):
    done = subprocess.run(
        ["bash", "-c", f'"$1" session-start {closed}', "bash", project.script],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        env=project.environ(),
        timeout=30,
        check=False,
    )
    assert done.returncode == 0


def test_a_host_that_does_not_listen_is_no_error(project):
    with subprocess.Popen(
        [project.script, "session-start"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.close()
        process.stdin.write(b"{}")
        process.stdin.close()
        assert process.wait(30) == 0
        assert b"Traceback" not in process.stderr.read()


@pytest.mark.slow
@pytest.mark.parametrize("host", HOSTS)
def test_amp_hook_is_the_same_program(project, host):
    sent = project.recorded(host, "session-start")
    done = subprocess.run(
        [project.script.with_name("amp"), "hook", "session-start", "--host", host],
        input=sent,
        capture_output=True,
        encoding="utf-8",
        env=project.environ(),
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert json.loads(done.stdout) == project.process("session-start", sent, host).answer


def test_a_module_call_is_the_same_program(project):
    done = subprocess.run(
        [sys.executable, "-m", "agent_memory_protocol.hosts.hook", "session-start"],
        input=project.recorded("claude", "session-start"),
        capture_output=True,
        encoding="utf-8",
        env=project.environ(),
        check=False,
    )
    assert "The shared fact." in done.stdout


def test_a_pipe_in_place_of_the_person_s_settings_holds_no_session_up(project):
    (project.home / ".claude").mkdir(exist_ok=True)
    os.mkfifo(project.home / ".claude" / "settings.json")
    sent = {"session_id": "s1", "cwd": str(project.root), "source": "startup"}
    assert "<agent-memory" in project.hook("session-start", sent).context

"""`amp doctor` runs each hook as its host would: it says what an agent is given, or why not and what mends it."""

import json
import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from agent_memory_protocol.hosts import table

FILES = {"claude": ".claude/settings.json", "codex": ".codex/hooks.json", "gemini": ".gemini/settings.json"}
SHARED = ".scaffolding/agent-memory/shared/KNOWLEDGE.md"
OWN = ".scaffolding/agent-memory/agents/developer/MEMORY.md"


@pytest.fixture
def whole(amp, monkeypatch):
    """A project with memory, in which a shell finds the real `amp-hook` and nothing else of this installation."""
    (amp.home / "bin").mkdir()
    (amp.home / "bin" / "amp-hook").symlink_to(amp.script.with_name("amp-hook"))
    monkeypatch.setenv("PATH", f"{amp.home / 'bin'}{os.pathsep}/usr/bin:/bin")
    amp.write(SHARED, "# Shared\n\n- Redis needs AOF on.\n")
    amp.write(OWN, "# Developer\n\n- Never push to main.\n")
    return amp


def hosts_lines(answer):
    """What doctor says of hosts."""
    titles = "|".join(host.title for host in table.HOSTS.values())
    return [line for line in answer.out.splitlines() if re.match(rf"(ok|!!)  ({titles}): ", line)]


def edit(amp, host, change):
    path = amp.root / FILES[host]
    path.write_text(change(path.read_text()))


def change_json(change):
    def changed(amp, host):
        def text(old):
            values = json.loads(old)
            change(values, table.HOSTS[host])
            return json.dumps(values)

        edit(amp, host, text)

    return changed


def native(host, event="session-start"):
    return host.events[event][0]


def a_hook(values, host, event):
    return values["hooks"][native(host, event)][0]["hooks"][0]


@pytest.mark.slow
@pytest.mark.parametrize("host", FILES)
def test_doctor_says_what_each_agent_would_be_given_at_its_start(whole, host):
    assert hosts_lines(whole("doctor")) == []
    whole("install", host)
    answer = whole("doctor", "developer")
    assert answer.code == 0
    title = table.HOSTS[host].title
    assert hosts_lines(answer) == [f"ok  {title}: developer would be given 13 lines (0.5 kB) at its start"]
    assert hosts_lines(whole("doctor")) == [
        f"ok  {title}: a session would be given 8 lines (0.3 kB) at its start",
        f"ok  {title}: developer would be given 13 lines (0.5 kB) at its start",
    ]


def no_program(amp, _):
    (amp.home / "bin" / "amp-hook").unlink()


def dead_program(amp, _):
    (amp.home / "bin" / "amp-hook").unlink()
    (amp.home / "bin" / "amp-hook").write_text("#!/deleted/venv/bin/python\n")
    (amp.home / "bin" / "amp-hook").chmod(0o755)


def other_program(amp, _):
    (amp.home / "bin" / "amp-hook").unlink()
    (amp.home / "bin" / "amp-hook").write_text("#!/bin/sh\necho Amplifier 1.0\n")
    (amp.home / "bin" / "amp-hook").chmod(0o755)


def settings_gone(amp, host):
    (amp.root / FILES[host]).unlink()


def settings_emptied(amp, host):
    edit(amp, host, lambda _: "{}")


def never_installed(amp, host):
    amp("uninstall", host)
    (amp.root / FILES[host]).parent.mkdir(exist_ok=True)


def misspelt_event(amp, host):
    edit(amp, host, lambda text: text.replace("amp-hook session-start", "amp-hook sesion-start"))


def misspelt_program(amp, host):
    edit(amp, host, lambda text: text.replace("amp-hook session-start", "amphook session-start"))


def misspelt_host(amp, host):
    edit(amp, host, lambda text: text.replace(f"session-start --host {host}", "session-start --host cluade"))


def a_person_s_own_guard_of_one_tool(amp, host):
    amp("uninstall", host)
    hook = {"type": "command", "command": f"amp-hook pre-tool-use --host {host} || true"}
    guard = {native(table.HOSTS[host], "pre-tool-use"): [{"matcher": "Read", "hooks": [hook]}]}
    amp.write(FILES[host], json.dumps({"hooks": guard}))


def unreadable(amp, host):
    edit(amp, host, lambda text: text.replace("{", "{,", 1))


def a_comma_too_many(amp, host):
    edit(amp, host, lambda text: text.rstrip().removesuffix("}").rstrip() + ",\n}\n")


BREAKS = {
    "the program is in no folder of PATH": (no_program, "the shell does not find it", True),
    "the program's environment was deleted": (dead_program, "does not run", True),
    "another program has that name": (other_program, "answers something else", False),
    "the settings are gone": (settings_gone, "has lost what was installed", True),
    "the settings were emptied": (settings_emptied, "has lost what was installed", True),
    "it was never installed": (never_installed, "is not installed for this host", True),
    "the event is misspelt": (misspelt_event, "lacks the hook for SessionStart", True),
    "the program is misspelt": (misspelt_program, "lacks the hook for SessionStart", True),
    "the host is misspelt": (misspelt_host, "lacks the hook for SessionStart", True),
    "the hook is under another event": (
        change_json(lambda values, host: values["hooks"].update(SesionStart=values["hooks"].pop(native(host)))),
        "lacks the hook for SessionStart",
        True,
    ),
    "the hook is gone": (
        change_json(lambda values, host: values["hooks"].pop(native(host))),
        "lacks the hook for SessionStart",
        True,
    ),
    "the guard is gone": (
        change_json(lambda values, host: values["hooks"].pop(native(host, "pre-tool-use"))),
        "lacks the hook for",
        True,
    ),
    "the hook is not a command": (
        change_json(lambda values, host: a_hook(values, host, "session-start").update(type="prompt")),
        "is of the type 'prompt', so it does not run",
        True,
    ),
    "the hook is not waited for": (
        change_json(lambda values, host: a_hook(values, host, "session-start").update({"async": True})),
        "runs in the background (`async`), so its answer is lost",
        True,
    ),
    "the guard is asked about one tool": (
        change_json(lambda values, host: values["hooks"][native(host, "pre-tool-use")][0].update(matcher="Read")),
        "the guard is not asked about ",
        True,
    ),
    "a person's own guard is asked about one tool": (a_person_s_own_guard_of_one_tool, "lacks the hook for", True),
    "the settings are not JSON": (unreadable, "it cannot read", False),
    "a comma is too many": (a_comma_too_many, "there is a comma after the last one", False),
}


@pytest.mark.slow
@pytest.mark.parametrize("host", FILES)
@pytest.mark.parametrize("broken", BREAKS)
def test_doctor_says_why_there_is_no_memory_and_the_command_that_it_names_mends_it(whole, host, broken):
    do, told, is_mended = BREAKS[broken]
    whole("install", host)
    do(whole, host)
    answer = whole("doctor", "developer")
    assert answer.code == 1
    problems = [line for line in hosts_lines(answer) if line.startswith("!!")]
    assert problems
    assert all(f"!!  {table.HOSTS[host].title}: " in line for line in problems)
    assert told in problems[0]
    command = re.search(r"`amp (install [^`]*)`", problems[0])
    assert bool(command) is is_mended or broken == "another program has that name"
    if command and is_mended and host == "claude":  # the same words are said of each host
        done = whole(*command[1].split())
        if broken == "the program's environment was deleted":
            done.refuses(4, "does not run", "mend the program that is found")
        else:
            assert [line[:2] for line in hosts_lines(whole("doctor", "developer"))] == ["ok"]


def in_file(path, text):
    return lambda amp: amp.write(path, text)


OFF = {
    "claude": [
        in_file(".claude/settings.local.json", '{"disableAllHooks": true}'),
        lambda amp: edit(amp, "claude", lambda text: text.replace("{", '{"disableAllHooks": true,', 1)),
        lambda amp: (
            (amp.home / ".claude").mkdir() or (amp.home / FILES["claude"]).write_text('{"disableAllHooks": true}')
        ),
    ],
    "codex": [in_file(".codex/config.toml", "[features]\nhooks = false\n")],
    "gemini": [
        lambda amp: edit(amp, "gemini", lambda text: text.replace("{", '{"hooksConfig": {"enabled": false},', 1)),
        lambda amp: edit(
            amp,
            "gemini",
            lambda text: text.replace(
                "{", '{"hooksConfig": {"disabled": ["amp-hook session-start --host gemini || true"]},', 1
            ),
        ),
    ],
}


@pytest.mark.slow
@pytest.mark.parametrize(("host", "number"), [(host, number) for host in OFF for number in range(len(OFF[host]))])
def test_doctor_says_which_switch_keeps_hooks_from_running(whole, host, number):
    whole("install", host)
    OFF[host][number](whole)
    answer = whole("doctor")
    assert answer.code == 1
    assert [line for line in hosts_lines(answer) if "its hooks are off: " in line], answer


@pytest.mark.slow
@pytest.mark.parametrize("host", FILES)
def test_in_a_subfolder_doctor_says_whether_the_host_reads_the_settings_above(whole, host):
    subprocess.run(["git", "init", "-q"], cwd=whole.root, check=True)
    whole("install", host)
    below = whole.root / "src" / "deep"
    below.mkdir(parents=True)
    answer = whole("doctor", cwd=below)
    if host == "codex":
        assert answer.code == 0
        assert "would be given 8 lines" in hosts_lines(answer)[0]
        return
    assert answer.code == 1
    assert f"it does not read {FILES[host]}, so there is no memory and no guard" in hosts_lines(answer)[0]
    assert whole("install", host, "--user").code == 0
    answer = whole("doctor", cwd=below)
    assert answer.code == 0
    assert "would be given 8 lines" in hosts_lines(answer)[0]


@pytest.mark.slow
def test_in_a_worktree_doctor_says_where_the_settings_are(whole):
    def git(*words):
        subprocess.run(["git", "-c", "user.name=a", "-c", "user.email=a@b", *words], cwd=whole.root, check=True)

    git("init", "-q")
    git("commit", "-q", "--allow-empty", "-m", "x")
    whole("install", "claude")
    git("worktree", "add", "-q", str(whole.home / "tree"))
    answer = whole("doctor", cwd=whole.home / "tree")
    assert "it does not read .claude/settings.json" in hosts_lines(answer)[0]
    whole("install", "claude", "--user")
    assert whole("doctor", cwd=whole.home / "tree").code == 0


@pytest.mark.slow
@pytest.mark.parametrize("host", FILES)
def test_with_both_scopes_installed_there_is_one_block_and_one_guard(whole, host):
    whole("install", host)
    whole("install", host, "--user")
    assert len(hosts_lines(whole("doctor", "developer"))) == 1
    assert whole("doctor", "developer").code == 0
    whole("uninstall", host)
    assert [line[:2] for line in hosts_lines(whole("doctor", "developer"))] == ["ok"]
    whole("uninstall", host, "--user")
    assert hosts_lines(whole("doctor", "developer")) == []


@pytest.mark.slow
def test_two_sets_of_hooks_that_both_give_memory_are_told(whole):
    whole("install", "claude")
    shutil.copytree(whole.root / ".claude", whole.home / ".claude")
    answer = whole("doctor")
    assert answer.code == 1
    assert "a session would be given memory twice, by .claude/settings.json and ~/.claude/settings.json" in answer.out
    assert whole("install", "claude", "--user").code == 0
    assert {line[:2] for line in hosts_lines(whole("doctor"))} == {"ok"}


@pytest.mark.slow
def test_a_hook_that_is_twice_in_one_file_is_told(whole):
    whole("install", "claude")
    start = native(table.HOSTS["claude"])

    def doubled(text):
        values = json.loads(text)
        values["hooks"][start] *= 2
        return json.dumps(values)

    edit(whole, "claude", doubled)
    told = hosts_lines(whole("doctor"))[0]
    assert told.endswith("would be given memory twice, by .claude/settings.json; take one of its two hooks out")


@pytest.mark.slow
def test_a_plugin_that_is_not_the_one_that_was_installed_is_told(whole):
    whole("install", "opencode")
    plugin = whole.root / ".opencode/plugins/agent-memory.js"
    assert {line[:2] for line in hosts_lines(whole("doctor"))} == {"ok"}
    plugin.write_text(plugin.read_text()[:-40])
    told = hosts_lines(whole("doctor"))[0]
    assert told.startswith("!!  opencode: .opencode/plugins/agent-memory.js is not the plugin that this amp puts there")
    assert told.endswith("; remove it, and `amp install opencode` puts it back")
    plugin.unlink()
    whole("install", "opencode")
    assert {line[:2] for line in hosts_lines(whole("doctor"))} == {"ok"}


@pytest.mark.slow
def test_a_slow_hook_is_told_and_not_waited_for(whole, monkeypatch):
    assert whole("install", "claude").code == 0
    monkeypatch.setattr("agent_memory_protocol.hosts.rehearsal.SECONDS", 0.2)
    (whole.home / "bin" / "amp-hook").unlink()
    (whole.home / "bin" / "amp-hook").write_text("#!/bin/sh\nsleep 60\n")
    (whole.home / "bin" / "amp-hook").chmod(0o755)
    answer = whole("doctor", "developer")
    assert answer.code == 1
    assert "takes longer than the 0.2 seconds that the host waits" in answer.out


@pytest.mark.slow
def test_where_no_entry_may_be_read_doctor_says_so_and_nothing_is_wrong(whole):
    for path in (SHARED, OWN):
        (whole.root / path).unlink()
    whole("install", "claude")
    answer = whole("doctor")
    assert answer.code == 0
    assert "a session would be given nothing at its start: there is no entry that it may read yet" in answer.out


@pytest.mark.slow
@pytest.mark.parametrize("host", FILES)
def test_the_command_line_itself_ends_with_0_whatever_becomes_of_the_program(whole, host):
    whole("install", host)
    hooks = json.loads((whole.root / FILES[host]).read_text())["hooks"]
    commands = [one["command"] for groups in hooks.values() for group in groups for one in group["hooks"]]
    assert len(commands) == len(table.HOSTS[host].events)
    program = Path(whole.home / "bin" / "amp-hook")
    program.unlink()
    for text in (None, "#!/nowhere\n", "#!/bin/sh\nexit 2\n", "#!/bin/sh\nkill -9 $$\n"):
        if text is not None:
            program.write_text(text)
            program.chmod(0o755)
        done = subprocess.run("\n".join(f"({one})" for one in commands), shell=True, capture_output=True, check=False)
        assert done.returncode == 0
        assert done.stdout == b""

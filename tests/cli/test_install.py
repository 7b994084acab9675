"""`amp install` adds its part to a host's files and to nothing else; `amp uninstall` takes out exactly that."""

import json
import os
import re
import shutil
import stat
from pathlib import Path

import pytest

from agent_memory_protocol.hosts import settings_text, table
from tests.each_row import each_row

DATA = Path(__file__).parents[1] / "data" / "installed"
HOSTS = {
    "claude": ".claude/settings.json",
    "codex": ".codex/hooks.json",
    "gemini": ".gemini/settings.json",
    "qwen": ".qwen/settings.json",
    "copilot": ".github/hooks/agent-memory.json",
    "cursor": ".cursor/hooks.json",
}
PLUGIN = ".opencode/plugins/agent-memory.js"
SKILLS = {
    "claude": ".claude",
    "codex": ".agents",
    "gemini": ".gemini",
    "qwen": ".qwen",
    "copilot": ".github",
    "cursor": ".cursor",
}
SKILL = (Path(__file__).parents[2] / "skill" / "agent-memory" / "SKILL.md").read_bytes()
TARGETS = [*HOSTS, "opencode", "agents-md"]
RECEIPT = ".scaffolding/installed.json"

GOLDEN = sorted(path.name.removesuffix(".before") for path in DATA.glob("*.before"))
"""`HOST-WHAT.before` and `HOST-WHAT.after`: a host's file before and after installing."""


@pytest.fixture
def found(amp, monkeypatch):
    """A project in which a shell finds `amp-hook` by its name, and no other one further along the path."""
    folder = amp.home / "bin"
    folder.mkdir()
    (folder / "amp-hook").write_text("#!/bin/sh\necho '{}'\n")
    (folder / "amp-hook").chmod(0o755)
    monkeypatch.setenv("PATH", f"{folder}{os.pathsep}{os.defpath}")
    return amp


def everything(amp):
    """Every file and folder below the home folder, with its bytes."""
    return {str(path): path.read_bytes() if path.is_file() else b"" for path in sorted(amp.home.rglob("*"))}


def file_of(target):
    return {**HOSTS, "opencode": PLUGIN}.get(target, "AGENTS.md")


@pytest.mark.slow
@each_row("name", GOLDEN, fresh=True)
def test_a_file_becomes_what_is_written_down_and_goes_back_byte_for_byte(found, name):
    target = next(one for one in TARGETS if name.startswith(one))
    before = (DATA / f"{name}.before").read_bytes()
    found.write(file_of(target), before)
    tree = everything(found)

    assert found("install", target).code == 0
    after = (found.root / file_of(target)).read_bytes()
    assert after == (DATA / f"{name}.after").read_bytes()

    installed = everything(found)
    assert found("install", target).out == "nothing to change\n"
    assert everything(found) == installed

    assert found("uninstall", target).code == 0
    assert everything(found) == tree


@pytest.mark.slow
@each_row("host", [*HOSTS, "opencode"], fresh=True)
def test_who_has_installed_for_a_host_is_told_what_comes_next_and_only_then(found, host):
    assert found("install", host).err.splitlines()[-1] == f"amp: {table.HOSTS[host].next}"
    assert found("install", host).err == ""
    assert found("uninstall", host).err == ""


@pytest.mark.slow
@each_row("target", TARGETS, fresh=True)
def test_an_empty_project_is_empty_again(found, target):
    tree = everything(found)
    assert found("install", target).code == 0
    assert everything(found) != tree
    assert found("install", target).out == "nothing to change\n"
    assert found("uninstall", target).code == 0
    assert everything(found) == tree
    assert found("uninstall", target).out == "nothing to change\n"


@pytest.mark.slow
def test_all_hosts_live_side_by_side_and_go_in_any_order(found):
    tree = everything(found)
    for target in TARGETS:
        assert found("install", target).code == 0
    assert set(json.loads((found.root / RECEIPT).read_text())["hosts"]) == set(TARGETS)
    for target in ("codex", "agents-md", "claude", *(set(TARGETS) - {"codex", "agents-md", "claude"})):
        assert found("uninstall", target).code == 0
    assert everything(found) == tree


def test_a_file_of_its_own_is_named_and_what_changes_in_a_person_s_file_is_shown(found):
    assert found("install", "claude").out.splitlines()[0] == f"created: {HOSTS['claude']}"
    assert found("uninstall", "claude").out.splitlines()[0] == f"removed: {HOSTS['claude']}"
    found.write(HOSTS["claude"], b"{}\n")
    assert f"+++ b/{HOSTS['claude']}" in found("install", "claude").out


@pytest.mark.requirement("S4-03", "S4P-12")
@each_row("target", HOSTS, fresh=True)
def test_the_skill_lies_where_the_host_looks_for_skills(found, target):
    found("install", target)
    assert (found.root / SKILLS[target] / "skills" / "agent-memory" / "SKILL.md").read_bytes() == SKILL


@pytest.mark.slow
@each_row("target", TARGETS, fresh=True)
def test_a_dry_run_shows_the_change_and_makes_none(found, target):
    tree = everything(found)
    answer = found("install", target, "--dry-run")
    assert answer.code == 0
    assert f"+++ b/{file_of(target)}" in answer.out
    assert f"would create: {file_of(target)}" in answer.out
    assert "leave out --dry-run to do this" in answer.err
    assert everything(found) == tree
    found("install", target)
    tree = everything(found)
    assert f"would remove: {file_of(target)}" in found("uninstall", target, "--dry-run").out
    assert everything(found) == tree


@pytest.mark.slow
@each_row("target", HOSTS, fresh=True)
def test_what_others_add_after_installing_stays(found, target):
    path = found.write(file_of(target), '{\n  "theme": "dark"\n}\n')
    found("install", target)
    path.write_text(path.read_text().replace('"theme": "dark"', '"theme": "light", // mine\n  "model": "x"'))
    assert found("uninstall", target).code == 0
    assert path.read_text() == '{\n  "theme": "light", // mine\n  "model": "x"\n}\n'


@pytest.mark.slow
@each_row("target", HOSTS, fresh=True)
def test_hooks_of_others_beside_ours_stay_even_in_one_group(found, target):
    found("install", target)
    path = found.root / file_of(target)
    text = path.read_text()
    first = re.search(r'\{\s*"type": "command",\s*"command": "amp-hook session-start[^}]*\}', text)
    assert first is not None
    other = '{"type": "command", "command": "amp-hooked-on-jazz session-start --host claude"}'
    path.write_text(text.replace(first[0], f"{other}, {first[0]}"))
    assert found("uninstall", target).code == 0
    row = table.HOSTS[target]
    left = [json.loads(other)] if row.is_flat else [{"hooks": [json.loads(other)]}]
    assert json.loads(path.read_text())["hooks"] == {row.events["session-start"][0]: left}


@pytest.mark.slow
@each_row("command", ["my-logger; {}", "{} | tee log", "env X=1 {}", "/opt/{}", "{} --verbose", "# {}"], fresh=True)
def test_a_hook_of_a_person_that_only_holds_our_command_stays(found, command):
    """Only the whole command that was installed is ours (decision 48)."""
    own = {"type": "command", "command": command.format("amp-hook session-start --host claude")}
    path = found.write(HOSTS["claude"], json.dumps({"hooks": {"SessionStart": [{"hooks": [own]}]}}))
    assert found("uninstall", "claude").out == "nothing to change\n"
    for verb, hooks in (("install", 2), ("install", 2), ("uninstall", 1)):
        path.write_text(path.read_text() + "\n")  # so that the hooks are looked for, and not taken out where they were
        found(verb, "claude")
        groups = json.loads(path.read_text())["hooks"]["SessionStart"]
        assert len(groups) == hooks
        assert groups[0] == {"hooks": [own]}


MENTIONED = "# P\n\nAll after <!-- amp:memory --> is a tool's.\n\n- Never push to main.\n\n"
SAMPLED = "# P\n\n```\n<!-- amp:memory -->\nNever push to main.\n<!-- /amp:memory -->\n```\n\n"


@pytest.mark.parametrize("own", [MENTIONED, SAMPLED, "- Never push to main: <!-- /amp:memory -->\n\n"])
def test_a_marker_in_a_person_s_text_is_not_taken_for_the_block(found, own):
    found("install", "agents-md")
    path = found.root / "AGENTS.md"
    path.write_text(own + path.read_text())
    assert found("install", "agents-md").code == 0
    assert path.read_text().startswith(own)
    assert path.read_text().count("## Agent memory") == 1
    assert found("uninstall", "agents-md").code == 0
    assert path.read_text().rstrip() == own.rstrip()


NEVER_END = ("```\nrun", "~~~~ sh", "<!-- to do", "<pre>", "<?php", "<script>\nx")


@each_row(
    "text, code, line",
    [
        ("# P\n\n<!-- amp:memory -->\n\n- Never push.\n", 4, 3),
        ("<!-- /amp:memory -->\n\n- Never push.\n\n<!-- amp:memory -->\n", 4, 1),
        ("<!-- amp:memory -->\n- Never push.\n<!-- /amp:memory -->\n" * 2, 4, 4),
        ("# P\n<!-- amp:memory -->\n- Never push.\n<!-- /amp:memory -->\n", 3, 2),
        ("\ufeff<!-- amp:memory -->\n- Never push.\n<!-- /amp:memory -->\n", 3, 1),
        ("<!-- amp:memory -->\n" * 2 + "- Never push.\n" + "<!-- /amp:memory -->\n" * 2, 4, 2),
        *((f"# P\n\n- Never push.\n\n{opened}\n", 4, "") for opened in NEVER_END),
    ],
    fresh=True,
)
def test_a_block_that_is_not_as_it_was_written_is_refused_by_name_and_stays(found, text, code, line):
    path = found.write("AGENTS.md", text)
    found("install", "agents-md").refuses(code, f"AGENTS.md:{line}{': ' if line else ''}")
    assert found("uninstall", "agents-md").out == "nothing to change\n"
    assert path.read_text() == text


@each_row(
    "before, mark, after, left",
    [
        ("", "\ufeff", "", None),
        ("", "\ufeff", "Mine.\n", "\ufeffMine.\n"),
        ("One.\n", "", "Another.\n", "One.\n\nAnother.\n"),
        ("One.\n", "", "\nAnother.\n", "One.\n\nAnother.\n"),
        ("- a\n", "\ufeff", "- b\n", "\ufeff- a\n\n- b\n"),
    ],
    fresh=True,
)
def test_what_an_editor_adds_around_the_block_stays_apart_when_the_block_goes(found, before, mark, after, left):
    path = found.root / "AGENTS.md"
    path.write_text(before) if before else path.unlink(missing_ok=True)
    found("install", "agents-md")
    path.write_text(mark + path.read_text() + after)
    assert found("install", "agents-md").code == 0
    assert path.read_text().count("## Agent memory") == 1
    assert found("uninstall", "agents-md").code == 0
    assert (path.read_text() if path.exists() else None) == left


def test_a_block_that_a_person_has_reworded_stays_when_it_is_uninstalled(found):
    found("install", "agents-md")
    path = found.root / "AGENTS.md"
    path.write_text(path.read_text().replace("What agents learn", "What agents have learnt"))
    reworded = path.read_text()
    found("install", "agents-md").refuses(3, "AGENTS.md:1: ")
    assert "AGENTS.md was changed since" in found("uninstall", "agents-md").err
    assert path.read_text() == reworded


def test_without_the_receipt_hooks_are_nobody_s_and_stay(found):
    path = found.write(HOSTS["claude"], '{"a": 1}')
    found("install", "claude")
    installed = path.read_text()
    (found.root / RECEIPT).unlink()
    answer = found("uninstall", "claude")
    assert answer.code == 0
    assert "runs amp-hook at SessionStart, which amp did not write; it stays" in answer.err
    assert path.read_text() == installed
    assert "it stays, and nothing is added to it" in found("install", "claude").err
    assert path.read_text() == installed


PERSONS = [
    "my-logger; amp-hook session-start --host claude",
    "amp-hook session-start --host claude",
    "amp-hook session-start --host claude | tee log",
    "AMP_AGENT=developer amp-hook session-start --host claude",
    "/opt/venv/bin/amp-hook session-start --host claude || true",
    "'/opt/my tools/amp-hook' session-start --host claude",
    "timeout 5 amp-hook session-start",
    "[ -x amp-hook ] && amp-hook session-start --host claude || true",
    "amp-hooked-on-jazz session-start --host claude",
    "echo amp-hook session-start --host claude",
]


@pytest.mark.slow
@each_row("command", PERSONS, fresh=True)
def test_a_person_s_own_hook_is_never_taken_out(found, command):
    own = {"hooks": {"SessionStart": [{"hooks": [{"type": "command", "command": command}]}]}}
    path = found.write(HOSTS["claude"], json.dumps(own))
    for verb in ("uninstall", "install", "uninstall"):
        assert found(verb, "claude").code == 0
    assert json.loads(path.read_text()) == own
    found("install", "claude")
    path.write_text(json.dumps(json.loads(path.read_text()), indent=1))  # another program has formatted it
    found("uninstall", "claude")
    assert json.loads(path.read_text()) == own


IDLE = [{"matcher": "Bash"}, {"async": True}, {"type": "prompt"}, {"timeout": 0}]


@each_row("odd", IDLE, fresh=True)
def test_where_the_same_call_is_there_but_does_not_do_its_work_one_is_added(found, odd):
    command = "amp-hook pre-tool-use --host gemini || true"
    hook = {"type": "command", "command": command} | {name: value for name, value in odd.items() if name != "matcher"}
    group = {"hooks": [hook]} | {name: value for name, value in odd.items() if name == "matcher"}
    path = found.write(HOSTS["gemini"], json.dumps({"hooks": {"BeforeTool": [group]}}))
    own = path.read_bytes()
    assert "did not write" not in found("install", "gemini").err
    theirs, ours = json.loads(path.read_text())["hooks"]["BeforeTool"]
    assert theirs == group
    assert ours["hooks"][0]["command"] == command
    found("uninstall", "gemini")
    assert path.read_bytes() == own


def test_hooks_are_found_in_settings_that_begin_with_a_comment(found):
    path = found.write(HOSTS["gemini"], "// mine\n{}\n")
    found("install", "gemini")
    assert len(settings_text.commands(path.read_text())) == 4


def test_where_the_same_call_is_there_already_no_second_one_is_added(found):
    own = "amp-hook session-start --host claude"
    settings = {"hooks": {"SessionStart": [{"hooks": [{"type": "command", "command": own}]}]}}
    path = found.write(HOSTS["claude"], json.dumps(settings))
    assert "runs amp-hook at SessionStart, which amp did not write" in found("install", "claude").err
    hooks = json.loads(path.read_text())["hooks"]
    assert len(hooks["SessionStart"]) == 1
    assert hooks["Stop"][0]["hooks"][0]["command"] == "amp-hook stop --host claude || true"


def test_what_an_older_version_installed_goes_at_upgrade_and_uninstall(found):
    path = found.write(HOSTS["claude"], '{\n  "a": 1\n}\n')
    found("install", "claude")
    for file in (path, found.root / RECEIPT):
        file.write_text(file.read_text().replace(" || true", ""))
    receipt = json.loads((found.root / RECEIPT).read_text())
    receipt["hosts"]["claude"]["files"][HOSTS["claude"]]["digest"] = "another version's"
    (found.root / RECEIPT).write_text(json.dumps(receipt))
    old = (path.read_text(), (found.root / RECEIPT).read_text())
    assert found("install", "claude").code == 0
    assert (
        path.read_text().count("amp-hook session-start")
        == path.read_text().count("session-start --host claude ||")
        == 1
    )
    path.write_text(old[0])
    (found.root / RECEIPT).write_text(old[1])
    assert found("uninstall", "claude").code == 0
    assert path.read_text() == '{\n  "a": 1\n}\n'


def test_a_skill_that_was_changed_by_hand_stays(found):
    found("install", "claude")
    skill = found.root / ".claude" / "skills" / "agent-memory" / "SKILL.md"
    skill.write_text("mine\n")
    assert "is not what amp put there; it stays" in found("install", "claude").err
    found("uninstall", "claude")
    assert skill.read_text() == "mine\n"


@pytest.mark.slow
@each_row(
    "target, before",
    [*((target, None) for target in TARGETS), *((one, "own") for one in [*HOSTS, "agents-md"])],
    fresh=True,
)
def test_a_checkout_with_other_line_ends_is_still_as_it_was_installed(found, target, before):
    if before:
        found.write(file_of(target), "# Mine\n" if target == "agents-md" else '{\n  "description": "1"\n}\n')
    found("install", target)
    for path in found.root.rglob("*"):
        if path.is_file():
            path.write_bytes(path.read_bytes().replace(b"\n", b"\r\n"))
    tree = everything(found)
    assert found("install", target).out == "nothing to change\n"
    assert everything(found) == tree
    assert found("uninstall", target).code == 0
    left = {path.name: path.read_bytes() for path in found.root.rglob("*") if path.is_file()}
    wanted = b"# Mine\r\n" if target == "agents-md" else b'{\r\n  "description": "1"\r\n}\r\n'
    assert list(left.values()) == ([wanted] if before else [])


ODD = {
    "a byte-order mark": '\ufeff{"description": 1}',
    "a comment": '{\n  "description": 1 /* one */\n}',
    "a comma after the last one": '{\n  "hooks": {},\n  "description": [1,]\n}',
    "a doubled name": '{\n  "description": {"b": 1, "b": 2}\n}',
    "half a character": '{"description": "\\ud800"}',
    "a name that it does not know": '{"$schema": "x"}',
    "a group of hooks that is not an object": '{"hooks": {"STOP": ["make"]}}',
    "a group without hooks": '{"hooks": {"STOP": [{"matcher": "x"}]}}',
    "a matcher that is not a text": '{"hooks": {"STOP": [{"matcher": 3, "hooks": [{OK}]}]}}',
    "a hook that is not an object": '{"hooks": {"STOP": [{"hooks": [null]}]}}',
    "a hook without a type": '{"hooks": {"STOP": [{"hooks": [{"command": "make"}]}]}}',
    "a hook without a command": '{"hooks": {"STOP": [{"hooks": [{"type": "command", "command": ["make"]}]}]}}',
    "a timeout that is not a number above 0": '{"hooks": {"STOP": [{"hooks": [{"timeout": "9", OK}]}]}}',
}
MISSHAPEN = {what for what, text in ODD.items() if "STOP" in text}
TAKEN = {
    "claude": {"a byte-order mark", "a doubled name", "half a character", "a name that it does not know"},
    "codex": {"a group without hooks"},
    "gemini": set(ODD) - {"a byte-order mark", "a comma after the last one"},
    "qwen": set(ODD),
    "copilot": set(ODD) - {"a byte-order mark", "a comment", "a comma after the last one", "half a character"},
    "cursor": {*MISSHAPEN, "a name that it does not know"},  # not tried: no package has its program
}
"""What the readers of these hosts take, as tried with their programs. What they do not take costs the whole file."""


@pytest.mark.slow
@pytest.mark.parametrize("target", HOSTS)
@each_row("what", list(ODD))
def test_settings_that_the_host_could_not_read_are_refused_and_all_others_are_not(found, target, what):
    text = ODD[what].replace("STOP", table.HOSTS[target].events["stop"][0])
    path = found.write(file_of(target), text.replace("OK", '"type": "command", "command": "make"'))
    tree = everything(found)
    if what in TAKEN[target]:
        assert found("install", target).code == 0
        assert "amp-hook" in path.read_text()
        assert found("uninstall", target).code == 0
    else:
        line = 3 if what == "a comma after the last one" else 2 if "\n" in text else 1
        told = f"{table.HOSTS[target].title} cannot read this: there is {what}; nothing was changed"
        found("install", target).refuses(4, f"{file_of(target)}:{line}: {told}")
        told = f"it cannot read {file_of(target)}:{line}: there is {what}, so it passes over the file"
        assert told in found("doctor").out
    assert everything(found) == tree


@each_row(
    "program, told",
    [
        ("#!/nowhere/python\n", "does not run"),
        ("#!/bin/sh\nexit 3\n", "it ends with 3"),
        ("#!/bin/sh\necho '<html>'\n", "answers something else"),
        ("#!/bin/sh\nkill -9 $$\n", "does not run"),
    ],
    fresh=True,
)
def test_a_program_that_does_not_run_is_not_installed(found, program, told):
    (found.home / "bin" / "amp-hook").write_text(program)
    tree = everything(found)
    found("install", "claude").refuses(4, told, "nothing was installed")
    assert everything(found) == tree


BROKEN = [
    *("{", '{"hooks": []}', '{"hooks": {"SessionStart": {}}}', '{"hooks": {"SessionStart": [{"hooks": {}}]}}', "[]"),
    *('"x"', "{} x", "nope", '{"a": 1', b"\xff\xfe{"),
]


@pytest.mark.slow
@each_row("target", HOSTS, fresh=True)
def test_what_cannot_be_read_is_refused_and_nothing_is_changed(found, target):
    for text in BROKEN:
        native = table.HOSTS[target].events["session-start"][0]
        found.write(file_of(target), text.replace("SessionStart", native) if isinstance(text, str) else text)
        tree = everything(found)
        for verb in ("install", "uninstall"):
            found(verb, target).refuses(4, file_of(target))
        assert file_of(target) in found("doctor").out
        assert everything(found) == tree


@each_row("target", HOSTS, fresh=True)
def test_a_pipe_in_place_of_settings_is_refused_and_waited_for_by_nobody(found, target):
    path = found.root / file_of(target)
    path.parent.mkdir(parents=True)
    os.mkfifo(path)
    for verb in ("install", "uninstall"):
        found(verb, target).refuses(4, file_of(target))
    assert f"it cannot read {file_of(target)}: that is not a file; move it away" in found("doctor").out


@each_row("target", [name for name in HOSTS if getattr(table.HOSTS.get(name), "toml", ())], fresh=True)
def test_a_pipe_in_place_of_a_hosts_second_settings_is_waited_for_by_nobody(found, target):
    host = table.HOSTS[target]
    path = found.root / host.settings[0] / host.toml[0]
    path.parent.mkdir(parents=True, exist_ok=True)
    os.mkfifo(path)
    assert found("install", target, "--dry-run").code == 0
    assert found("doctor").code is not None


def a_file_for_a_folder(path):
    path.parent.rmdir()
    path.parent.write_text("x")


@each_row(
    "make, told",
    [
        (lambda path: path.symlink_to("nowhere.json"), "/settings.json: that is a link that leads nowhere; mend it or"),
        (lambda path: path.write_text(" " * (4 << 20) + "{}"), "/settings.json: amp reads at most 4,194,304 bytes"),
        (a_file_for_a_folder, ": that is not a folder; move it away"),
    ],
)
def test_doctor_says_in_one_line_what_is_in_place_of_settings(found, make, told):
    path = found.root / HOSTS["claude"]
    path.parent.mkdir()
    make(path)
    found("install", "claude").refuses(4, ".claude")
    lines = [line for line in found("doctor").out.splitlines() if line.startswith("!!  Claude Code: ")]
    assert len(lines) == 1
    assert f".claude{told}" in lines[0]
    for one in (path, path.parent):
        if one.is_symlink() or one.is_file():
            one.unlink()
    if path.parent.exists():
        path.parent.rmdir()


@pytest.mark.parametrize(("target", "settings"), [("claude", '{"disableAllHooks": true}')], ids=["claude"])
def test_who_installs_hooks_that_are_switched_off_is_told(found, target, settings):
    told = "its hooks are off, so agents get no memory"
    assert told not in found("install", target).err
    found("uninstall", target)
    found.write(file_of(target), settings)
    assert told in found("install", target).err


def test_a_receipt_of_something_else_is_refused(found):
    found.write(RECEIPT, "[]")
    found("install", "claude").refuses(4, RECEIPT)
    found("uninstall", "claude").refuses(4, RECEIPT)


@each_row("target", HOSTS, fresh=True)
def test_a_link_that_leads_outside_the_project_is_refused(found, target):
    outside = found.home / "outside.json"
    outside.write_text("{}")
    path = found.root / file_of(target)
    path.parent.mkdir(parents=True)
    path.symlink_to(outside)
    found("install", target).refuses(4, "leads outside the project")
    assert outside.read_text() == "{}"


def test_a_link_that_leads_out_of_the_home_folder_is_refused_as_that(found):
    outside = found.home.parent / "outside.json"
    outside.write_text("{}")
    path = found.home / ".claude" / "settings.json"
    path.parent.mkdir(parents=True)
    path.symlink_to(outside)
    found("install", "claude", "--user").refuses(4, "leads outside your home folder")
    assert outside.read_text() == "{}"


def test_mode_and_links_inside_the_project_stay(found):
    real = found.write("shared/settings.json", "{}")
    real.chmod(0o640)
    path = found.root / HOSTS["claude"]
    path.parent.mkdir()
    path.symlink_to("../shared/settings.json")
    found("install", "claude")
    assert path.is_symlink()
    assert "amp-hook" in real.read_text()
    assert stat.S_IMODE(real.stat().st_mode) == 0o640
    found("uninstall", "claude")
    assert real.read_text() == "{}"


@pytest.mark.slow
@each_row("target", [*HOSTS, "opencode"], fresh=True)
def test_a_person_s_own_installation_lies_in_the_home_folder(found, target):
    tree = everything(found)
    answer = found("install", target, "--user")
    assert answer.code == 0
    moved = file_of(target).replace(".github", ".copilot").replace(".opencode", ".config/opencode")
    assert (found.home / moved).exists()
    assert (found.home / ".config" / "amp" / "installed.json").exists()
    assert not (found.root / ".scaffolding").exists()
    assert found("uninstall", target, "--user").code == 0
    assert everything(found) == tree


@each_row(
    "target, variable, file",
    [
        ("codex", "CODEX_HOME", "hooks.json"),
        ("qwen", "QWEN_HOME", "settings.json"),
        ("copilot", "COPILOT_HOME", "hooks/agent-memory.json"),
        ("opencode", "XDG_CONFIG_HOME", "opencode/plugins/agent-memory.js"),
    ],
    fresh=True,
)
def test_a_host_may_have_its_home_elsewhere(found, target, variable, file):
    elsewhere = found.home / "elsewhere"
    (elsewhere / file).parent.mkdir(parents=True)
    tree = everything(found)
    environ = {variable: str(elsewhere)}
    assert found("install", target, "--user", environ=environ).code == 0
    assert (elsewhere / file).exists()
    assert found("uninstall", target, "--user", environ=environ).code == 0
    assert everything(found) == tree


@pytest.mark.slow
def test_a_program_that_no_shell_finds_is_named_by_its_path(amp, monkeypatch):
    monkeypatch.setenv("PATH", str(amp.home / "empty"))
    answer = amp("install", "claude")
    assert "the settings name its path on this machine" in answer.err
    command = f"'{amp.script.with_name('amp-hook')}' session-start --host claude || true"
    assert command in (amp.root / HOSTS["claude"]).read_text()
    assert amp("install", "claude").out == "nothing to change\n"
    assert amp("uninstall", "claude").code == 0


@each_row("verb", ["install", "uninstall"], fresh=True)
@each_row("environ", [{"AMP_AGENT": "developer"}, {"AMP_AGENT": "reviewer"}], ids=str, fresh=True)
def test_an_agent_changes_nothing_that_guards_it(found, verb, environ):
    found("install", "claude")
    tree = everything(found)
    found(verb, "claude", environ=environ).refuses(3, "may not change what its host runs")
    assert everything(found) == tree


@each_row(
    "args, words",
    [
        (("install", "emacs"), "'emacs' is not one of"),
        (("install",), "missing argument"),
        (("install", "agents-md", "--user"), "AGENTS.md belongs to a project"),
        (("install", "git", "--user"), "works in one checkout"),
    ],
    fresh=True,
)
def test_a_mistake_is_told_in_one_line(found, args, words):
    found(*args).refuses(2, words)


def test_who_installs_a_merge_driver_that_git_will_not_find_is_told(amp, monkeypatch):
    os.system(f"git init -q '{amp.root}'")
    folder = amp.home / "bin"
    folder.mkdir()
    (folder / "git").symlink_to(shutil.which("git"))
    monkeypatch.setenv("PATH", str(folder))
    told = "amp: the shell does not find agent-memory; until it does, git merges memory line by line\n"
    assert amp("install", "git").err == told
    assert amp("install", "git").err == told
    assert amp("uninstall", "git").err == ""


def test_the_same_command_installs_the_merge_driver(found):
    os.system(f"git init -q '{found.root}'")
    (found.home / "bin" / "agent-memory").symlink_to(found.home / "bin" / "amp-hook")
    answer = found("install", "git")
    assert answer.code == 0
    assert "created: git config merge.amp-memory.driver" in answer.out
    assert answer.err == ""
    assert found("install", "git").out == "nothing to change\n"
    assert "removed: git config" in found("uninstall", "git").out


def test_doctor_says_which_skill_or_block_has_gone(found):
    assert "AGENTS.md" not in found("doctor").out
    found("install", "claude")
    found("install", "agents-md")
    assert "ok  AGENTS.md tells agents of memory" in found("doctor").out
    (found.root / ".claude/skills/agent-memory/SKILL.md").unlink()
    (found.root / "AGENTS.md").write_text("# Ours\n")
    answer = found("doctor")
    assert answer.code == 1
    for target in ("claude", "agents-md"):
        assert f"`amp install {target}` puts it back" in answer.out
    found.write(RECEIPT, "{")
    answer = found("doctor")
    assert answer.code == 4
    assert "is not a receipt of amp" in answer.out


@pytest.mark.parametrize("scope", ["project", "person"])
def test_settings_behind_a_link_are_changed_where_the_person_lets_links_be_followed(found, tmp_path_factory, scope):
    words, below = ([], found.root) if scope == "project" else (["--user"], found.home)
    elsewhere = tmp_path_factory.mktemp("elsewhere")
    (elsewhere / "settings.json").write_text("{}\n")
    link = below / HOSTS["claude"]
    link.parent.mkdir(parents=True, exist_ok=True)
    link.symlink_to(elsewhere / "settings.json")
    found("install", "claude", *words).refuses(4, "set external_links = true in your own settings")
    assert (elsewhere / "settings.json").read_text() == "{}\n"

    own = found.home / ".config" / "amp" / "config.toml"
    own.parent.mkdir(parents=True)
    own.write_text("external_links = true\n")
    assert found("install", "claude", *words).code == 0
    assert link.is_symlink()
    assert "amp-hook stop" in (elsewhere / "settings.json").read_text()
    assert found("uninstall", "claude", *words).code == 0
    assert link.is_symlink()
    assert (elsewhere / "settings.json").read_text() == "{}\n"


NO_RECEIPTS = [
    "{",
    "[]",
    '{"hosts": [], "folders": []}',
    '{"hosts": {"claude": []}, "folders": []}',
    '{"hosts": {"claude": {"files": []}}, "folders": []}',
    '{"hosts": {"claude": {"files": {".claude/settings.json": 5}}}, "folders": []}',
    '{"hosts": {"claude": {"files": {".claude/settings.json": {"inserted": [["x", 1]]}}}}, "folders": []}',
    '{"hosts": {"claude": {"files": {".claude/settings.json": {"inserted": [1]}}}}, "folders": []}',
    '{"hosts": {"claude": {}}, "folders": [1]}',
    '{"hosts": {"claude": {}}, "folders": ["a\\u0000b"]}',
    '{"hosts": {"claude": {}}, "folders": ["../empty"]}',
    '{"hosts": {"claude": {}}, "folders": ["a/../../empty"]}',
    '{"hosts": {"claude": {}}, "folders": ["/empty"]}',
]


@pytest.mark.slow
@each_row("receipt", NO_RECEIPTS, fresh=True)
def test_a_receipt_that_is_none_is_said_so_and_takes_nothing_away(found, receipt):
    (found.root.parent / "empty").mkdir()
    found.write(HOSTS["claude"], "{}")
    found.write(RECEIPT, receipt)
    before = everything(found)
    for words in (["doctor"], ["install", "claude"], ["uninstall", "claude"]):
        answer = found(*words)
        assert answer.code == 4
        assert f"{RECEIPT}: is not a receipt of amp; remove it, and install again" in answer.out + answer.err
    assert everything(found) == before


def test_json_says_what_changes(found):
    planned = found("install", "claude", "--dry-run", "--json").json()
    done = found("install", "claude", "--json").json()
    assert (planned.pop("applied"), done.pop("applied")) == (False, True)
    assert planned == done
    assert [(one["path"], one["what"]) for one in done["files"]] == [
        (HOSTS["claude"], "create"),
        (".claude/skills/agent-memory/SKILL.md", "create"),
        (RECEIPT, "create"),
    ]


def test_what_is_installed_runs_at_every_event_the_host_has(found):
    for host, row in table.HOSTS.items():
        found("install", host)
        text = (found.root / file_of(host)).read_text()
        if host in HOSTS:
            hooks = json.loads(text)["hooks"]
            assert list(hooks) == [native for native, _ in row.events.values()]
            listed = [group for groups in hooks.values() for group in groups]
            commands = [one["command"] for group in listed for one in group.get("hooks", [group])]
        else:
            commands = re.findall(r'^  "[a-z-]+": "(amp-hook [^"]*)"', text, re.MULTILINE)
        assert commands == [f"amp-hook {event} --host {host} || true" for event in row.events]

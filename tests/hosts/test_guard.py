"""The guard: what an agent may not write by `amp`, it may not write by its host's tools; all else passes in silence."""

import json
import os
from functools import partial

import click
import pytest

from agent_memory_protocol.cli.main import amp
from agent_memory_protocol.guard import own
from agent_memory_protocol.guard.glance import MOVING, may_concern_memory
from agent_memory_protocol.guard.judge import reason_to_deny
from agent_memory_protocol.hosts import envelopes
from agent_memory_protocol.hosts.table import HOSTS
from agent_memory_protocol.mcp.record_tools import RECORD_TOOLS
from agent_memory_protocol.mcp.tier_tools import TIER_TOOLS
from agent_memory_protocol.project import agents
from agent_memory_protocol.project.access import Actor
from agent_memory_protocol.project.agents import SERVER_FILES
from agent_memory_protocol.workspace import Workspace
from tests.each_row import each_row

SHARED = ".scaffolding/agent-memory/shared/KNOWLEDGE.md"
OWN = ".scaffolding/agent-memory/agents/developer/MEMORY.md"
OTHERS = ".scaffolding/agent-memory/agents/tester/MEMORY.md"
CONVERSATION = ".scaffolding/conversations/c1/agent-memory/context.md"
TOKEN = "ghp" + "_" + "Kq7Zt2Xw9Lm4Rb6Yc1Vn8Hd3Js5Pf0Ga7Ue2"
ENTRY = "- An entry.\n"


class Judge:
    """Ask the guard, by the bytes that a host would send."""

    def __init__(self, project):
        self.project = project
        self.root = project.root

    def __call__(self, tool, given, agent=None, host="claude", environ=None, cwd=None):
        message = {"tool_name": tool, "tool_input": given, "cwd": str(cwd or self.root), "session_id": "s1"}
        data = json.dumps(message | ({"agent_type": agent} if agent else {})).encode()
        home = {"HOME": str(self.project.home)}
        environ = home | (environ or {})
        reason = reason_to_deny(envelopes.read("pre-tool-use", host, data), environ)
        assert reason == "" or may_concern_memory(data, environ), "what is denied must not be passed over at a glance"
        return reason


@pytest.fixture
def judge(project):
    return Judge(project)


def shell(judge, command, agent="reviewer", **more):
    return judge("Bash", {"command": command, "description": "d"}, agent, **more)


FORBIDDEN = [
    ("reviewer", SHARED, "it is read-only"),
    ("reviewer", ".scaffolding/agent-memory/agents/reviewer/MEMORY.md", "it is read-only"),
    ("reviewer", CONVERSATION, "it is read-only"),
    ("reviewer", ".scaffolding/agent-memory/shared/feedback_x.md", "it is read-only"),
    ("reviewer", ".scaffolding/amp.toml", "it is read-only"),
    ("plugin:reviewer", SHARED, "it is read-only"),
    ("Reviewer", SHARED, "it is read-only"),
    ("developer", OTHERS, "only agent tester itself may"),
    ("developer", ".scaffolding/agent-memory/agents/tester/ledger.jsonl", "only agent tester itself may"),
    ("architect", OWN, "it is read-only"),
    ("x:developer2", OWN, "drive letter"),
    ("developer2", OWN, "only agent developer itself may"),
    ("../x", SHARED, "is not allowed"),
]
ALLOWED = [
    ("developer", SHARED),
    ("developer", OWN),
    ("scaffolding:developer", OWN),
    ("DEVELOPER", OWN),
    ("developer", ".scaffolding/agent-memory/agents/developer/feedback_x.md"),
    ("developer", CONVERSATION),
    ("reviewer", "src/main.py"),
    ("reviewer", ".scaffolding/conversations/c1/specs/design.md"),
    ("reviewer", "docs/agent-memory.md"),
    ("reviewer", "KNOWLEDGE.md"),
    ("reviewer", "scaffolding/agent-memory/shared/KNOWLEDGE.md"),
    (None, SHARED),
    (None, OTHERS),
    (None, CONVERSATION),
]
TOOLS = {
    "Write": lambda path: {"file_path": path, "content": ENTRY},
    "Edit": lambda path: {"file_path": path, "old_string": "a", "new_string": "b"},
    "MultiEdit": lambda path: {"file_path": path, "edits": [{"old_string": "a", "new_string": "b"}]},
    "NotebookEdit": lambda path: {"notebook_path": path, "new_source": "x"},
    "write_file": lambda path: {"file_path": path, "content": ENTRY},
    "replace": lambda path: {"file_path": path, "old_string": "a", "new_string": "b", "instruction": "x"},
    "mcp__filesystem__write_file": lambda path: {"path": path, "content": ENTRY},
    "mcp__serena__replace_symbol_body": lambda path: {"relative_path": path, "name_path": "x", "body": "x"},
    "mcp__serena__insert_after_symbol": lambda path: {"relative_path": path, "content": "x"},
    "mcp__serena__execute_shell_command": lambda path: {"command": f"rm {path}"},
    "mcp__jetbrains__create_new_file": lambda path: {"pathInProject": path, "text": ENTRY},
    "mcp__jetbrains__execute_terminal_command": lambda path: {"command": f"echo x >> {path}"},
    "mcp__commander__edit_block": lambda path: {"file_path": path, "old_string": "a", "new_string": "b"},
    "mcp__commander__start_process": lambda path: {"command": f"rm {path}", "timeout_ms": 100},
    "mcp__fs__move_files": lambda path: {"files": [{"from": path, "to": "x"}]},
    "mcp__notes__upsert": lambda path: {"uri": f"file://{path}" if path[0] == "/" else path, "body": "x"},
    "mcp__py__run_python_code": lambda path: {"code": f"open('{path}', 'w').write('x')"},
    "mcp_files_write_file": lambda path: {"path": path, "content": ENTRY},
    "mcp__shell__sh": lambda path: {"cmd": f"rm {path}"},
    "mcp__tmux__send_keys": lambda path: {"keys": f"rm {path}\n"},
    "mcp__fs__trash": lambda path: {"path": path},
    "mcp__fs__write_several": lambda path: {"files": {path: "x"}},
    "mcp__jetbrains__reformat_file": lambda path: {"path": path},
    "mcp__editor__str_replace_based_edit_tool": lambda path: {"command": "insert", "path": path, "insert_text": "x"},
    "Monitor": lambda path: {"command": f"rm {path}"},
    "write": lambda path: {"filePath": path, "content": ENTRY},
    "edit": lambda path: {"filePath": path, "oldString": "a", "newString": "b"},
    "create": lambda path: {"path": path, "file_text": ENTRY},
    "write_stdin": lambda path: {"session_id": 1, "chars": f"echo x >> {path}\n"},
    "write_bash": lambda path: {"sessionId": "1", "input": f"rm {path}{{enter}}", "delay": 1},
    "mcp__filesystem__move_file": lambda path: {"source": "a.txt", "destination": path},
    "apply_patch": lambda path: {"command": f"*** Begin Patch\n*** Update File: {path}\n@@\n-a\n+b\n*** End Patch\n"},
    "Bash": lambda path: {"command": f"echo '- x' >> '{path}'"},
    "run_shell_command": lambda path: {"command": f"echo '- x' >> '{path}'"},
}


@pytest.mark.slow
@pytest.mark.requirement("S4-12", "S4-14", "S4-54", "S4-55", "S4P-01", "S4P-03")
@each_row("tool", TOOLS)
def test_a_tool_writes_no_memory_that_its_agent_may_not_write(judge, tool):
    for agent, path, words in FORBIDDEN:
        for spelled in (path, str(judge.root / path)):
            assert words in judge(tool, TOOLS[tool](spelled), agent), (agent, spelled)


@pytest.mark.slow
@pytest.mark.requirement("S4-08", "S4-12", "S4-17")
@each_row("tool", TOOLS)
def test_a_tool_writes_what_its_agent_may_write(judge, tool):
    for agent, path in ALLOWED:
        for spelled in (path, str(judge.root / path)):
            assert judge(tool, TOOLS[tool](spelled), agent) == "", (agent, spelled)


def test_a_denial_says_what_to_do_instead(judge):
    assert "report findings in your output in a ```memory-findings block" in judge(
        "Write", TOOLS["Write"](SHARED), "reviewer"
    )
    assert "write to shared, or to your own" in judge("Write", TOOLS["Write"](OTHERS), "developer")


def test_what_a_tool_writes_is_seen_by_who_reads_it(judge):
    for hidden in ("\u200b", "\x1b[31m", "\u202e", "\U000e0041"):
        assert "invisible or control character" in judge(
            "Write", {"file_path": SHARED, "content": f"CI{hidden}"}, "dev"
        )
    for shown in ("CI uses\tPostgres.\r\n", "Größe: 3 €, 漢字 👩\u200d💻"):
        assert judge("Write", {"file_path": SHARED, "content": shown}, "dev") == ""


@each_row("tool", ["Read", "Grep", "Glob", "LS", "read_file", "Task", "Agent", "WebFetch", "TodoWrite"])
def test_reading_is_none_of_its_business(judge, tool):
    assert judge(tool, {"file_path": SHARED, "path": SHARED, "prompt": f"read {SHARED}"}, "reviewer") == "" or (
        tool == "TodoWrite"
    )


READING_TOOLS = {
    "mcp__serena__read_file": {"relative_path": SHARED},
    "mcp__serena__find_symbol": {"relative_path": SHARED, "name_path": "x"},
    "mcp__jetbrains__get_file_text_by_path": {"pathInProject": SHARED},
    "mcp__filesystem__list_directory": {"path": ".scaffolding"},
    "mcp__github__create_issue": {"title": "x", "body": f"see {SHARED}"},
    "mcp__slack__post_message": {"channel": "x", "text": SHARED},
    "mcp__commander__start_process": {"command": f"cat {SHARED}"},
    "SlashCommand": {"command": f"/review {SHARED}"},
    "mcp__editor__str_replace_based_edit_tool": {"command": "view", "path": "src/main.py"},
    "mcp__thinking__sequentialthinking": {"thought": f"rm {SHARED}"},
    "mcp__py__run_python_code": {"code": f"print(open('{SHARED}').read())"},
    "write_stdin": {"session_id": 1, "chars": f"cat {SHARED}\n"},
    "mcp__agent-memory__memory_recall": {},
    "mcp_agent-memory_memory_search": {"query": "x"},
}


@each_row("tool", READING_TOOLS)
def test_a_foreign_tool_may_read_and_speak_of_memory(judge, tool):
    assert judge(tool, READING_TOOLS[tool], "reviewer") == ""


OWN_TOOLS = [
    "mcp__agent-memory__memory_remember",
    "mcp_agent-memory_memory_forget",
    "agent-memory_memory_resolve",
    "mcp__agent_memory__consolidate",
]


@each_row("tool", OWN_TOOLS)
def test_an_own_tool_is_judged_by_the_agent_that_calls_it(judge, tool):
    assert "it is read-only" in judge(tool, {"text": "x", "tier": "shared"}, "reviewer")
    assert judge(tool, {"text": "x", "tier": "shared"}, "developer") == ""
    assert judge(tool, {"text": "x", "tier": "shared"}) == ""


@each_row("tool", OWN_TOOLS)
def test_an_own_tool_writes_no_other_agent_s_memory(judge, tool):
    assert "may not write agent:tester" in judge(tool, {"text": "x", "agent": "tester"}, "developer")
    assert judge(tool, {"text": "x", "agent": "developer"}, "developer") == ""
    assert judge(tool, {"text": "x", "agent": "tester"}) == ""


@pytest.mark.parametrize("tool", ["mcp__agent-memory__memory_show", "mcp_agent-memory_memory_show"])
def test_an_own_tool_reads_what_the_agent_that_calls_it_may_read(judge, tool):
    assert "may not read agent:developer" in judge(tool, {"agent": "developer"}, "reviewer")
    assert judge(tool, {"agent": "developer"}, "developer") == ""
    assert judge(tool, {"agent": "developer"}, "architect") == ""
    assert judge(tool, {"agent": "developer"}) == ""


@each_row("path", [".mcp.json", ".gemini/settings.json"])
@each_row("tool", ["memory_recall", "memory_search", "memory_remember"])
def test_a_server_that_acts_for_one_agent_is_used_by_no_other(judge, path, tool):
    server = {"command": "amp-mcp", "args": ["--root", ".", "--agent", "developer"]}
    file = judge.root / path
    file.parent.mkdir(exist_ok=True)
    file.write_text(json.dumps({"mcpServers": {"agent-memory": server, "other": {"command": "x"}}}))
    for spelt in (f"mcp__agent-memory__{tool}", f"mcp_agent-memory_{tool}"):
        given = {"text": "x"} if tool == "memory_remember" else {}
        assert "which acts for agent developer" in judge(spelt, given, "tester")
        assert judge(spelt, given, "plugin:developer") == ""
        assert judge(spelt, given) == ""
    file.write_text("{not json")
    assert judge(f"mcp__agent-memory__{tool}", {}, "tester") == ""


IN_THE_HOME = {
    ".config/opencode/opencode.json": lambda server, _: json.dumps(
        {"mcp": {"agent-memory": {"command": [server["command"], *server["args"]]}}}
    ),
    ".codeium/windsurf/mcp_config.json": lambda server, _: json.dumps({"mcpServers": {"agent-memory": server}}),
    ".claude.json": lambda server, root: json.dumps({"projects": {root: {"mcpServers": {"agent-memory": server}}}}),
    ".copilot/mcp-config.json": lambda server, _: json.dumps({"mcpServers": {"agent-memory": server}}),
    ".codex/config.toml": lambda server, _: f"[mcp_servers.agent-memory]\nargs = {json.dumps(server['args'])}\n",
}


@pytest.mark.parametrize("path", IN_THE_HOME)
def test_a_server_of_the_person_that_acts_for_one_agent_is_used_by_no_other(judge, path):
    server = {"command": "amp-mcp", "args": ["--agent", "developer"]}
    file = judge.project.home / path
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(IN_THE_HOME[path](server, str(judge.root)))
    assert "which acts for agent developer" in judge("mcp__agent-memory__memory_search", {"query": "x"}, "tester")
    assert judge("mcp__agent-memory__memory_search", {"query": "x"}, "developer") == ""
    file.write_text(IN_THE_HOME[path](server, "/another/project").replace("developer", "tester"))
    denied = judge("mcp__agent-memory__memory_search", {"query": "x"}, "developer")
    assert ("which acts for agent tester" in denied) is (path != ".claude.json")


@each_row("key", ["dir_path", "workdir", "cwd", "working_directory"])
def test_a_command_runs_in_the_folder_that_its_tool_names(judge, key):
    for folder in (".scaffolding/agent-memory/shared", str(judge.root / ".scaffolding/agent-memory/shared")):
        given = {"command": "rm KNOWLEDGE.md", key: folder}
        assert "it is read-only" in judge("run_shell_command", given, "reviewer", host="gemini")
        assert judge("run_shell_command", {**given, "command": "cat KNOWLEDGE.md"}, "reviewer", host="gemini") == ""
        assert judge("run_shell_command", {**given, key: "src"}, "reviewer", host="gemini") == ""


def places_of_hosts():
    """Yield every place, as any door of ours knows it, where a host keeps who its agents are, or what it runs."""
    yield from SERVER_FILES
    yield from map("/".join, ((*folder, "x", "reviewer.md") for folder in (*agents._FOLDERS, *agents._INSTALLED)))
    yield from map("/".join, ((*folder, "installed.json") for folder in agents._PLUGINS))
    for host in HOSTS.values():
        for settings in {host.settings, host.parts(host.settings, for_person=True)}:
            yield from ("/".join((*settings[:-1], name)) for name in (settings[-1], *host.beside, *host.toml[:1]))


ALSO_GUARDING = (".opencode/plugin/agent-memory.js", "Library/Application Support/Claude/claude_desktop_config.json")
GUARDING = [*dict.fromkeys((*places_of_hosts(), *ALSO_GUARDING))]


@each_row("path", GUARDING)
def test_an_agent_does_not_change_who_guards_it(judge, path):
    for spelled in (path, str(judge.root / path), f"~/{path}"):
        assert "a person may" in judge("Write", {"file_path": spelled, "content": "x"}, "developer")
        word = spelled.replace(" ", "\\ ")
        assert "a person may" in shell(judge, f"rm {word}")
        assert "a person may" in shell(judge, f"echo x > {word}", agent="developer")
        assert shell(judge, f"cat {word}", agent="developer") == ""
        assert judge("Write", {"file_path": spelled, "content": "x"}) == ""
    assert "a person may" in shell(judge, f"python3 -c \"open('{path}', 'w')\"", agent="developer")
    folder = path.rpartition("/")[0]
    for gone in (folder, f"{folder}/*") if folder.startswith(".") and not folder.startswith(".scaffolding") else ():
        assert "a person may" in shell(judge, f"rm -r {gone}", agent="developer")


@pytest.mark.parametrize("variable", [one for one in MOVING if one != "XDG_CONFIG_HOME"])
@each_row("folder", ["moved", "elsewhere/A b"])
def test_an_agent_does_not_change_who_guards_it_where_a_variable_has_moved_that(judge, variable, folder):
    path = judge.project.home / folder / "agents" / "reviewer.md"
    ask = partial(judge, agent="developer", environ={variable: str(path.parents[1])})
    for spelled in (str(path), f"~/{folder}/agents/reviewer.md"):
        assert "a person may" in ask(
            "Write", {"file_path": spelled.replace("~", str(judge.project.home)), "content": "x"}
        )
        assert ask("Bash", {"command": f"cat '{spelled}'"}) == ""
    assert "a person may" in ask("Bash", {"command": f'rm "${variable}/agents/reviewer.md"'})
    assert "a person may" in ask("Bash", {"command": f"rm -r '{path.parents[1]}'"})
    beside = ask("Write", {"file_path": str(path.parents[1] / "notes.md"), "content": "x"})
    assert bool(beside) is (variable == "COPILOT_HOME"), "of that host, the whole folder is guarded"
    assert judge("Write", {"file_path": str(path), "content": "x"}, "developer") == ""


def test_every_variable_that_moves_a_folder_of_definitions_is_known_to_the_guard():
    """Gemini's names another home, in which the host's own folder has its name still."""
    assert {*MOVING} == {*agents.MOVED.values()} - {"GEMINI_CLI_HOME"}


NO_GUARDING = (
    *(".claude/skills/x/SKILL.md", ".github/workflows/ci.yml", ".cursor/rules/x.mdc", "src/.mcp.json.md"),
    *(
        ".claude/AGENTS.md",
        ".zed/tasks.json",
        ".vscode/settings.json",
        "opencode/agent/x.ts",
        ".codeium/windsurf/memories/global_rules.md",
    ),
)


@each_row("path", NO_GUARDING)
def test_an_agent_changes_what_its_host_keeps_beside_that(judge, path):
    assert judge("Write", {"file_path": path, "content": "x"}, "developer") == ""
    assert shell(judge, f"echo x > {path}", agent="developer") == ""


@each_row("name", ["opencode", "zed"])
def test_a_project_may_be_called_as_a_host_is(judge, name):
    (judge.root / name).mkdir()
    for command in (f"prettier --write {name} .github/x.yml", f"rm -r {name}"):
        assert shell(judge, command, agent="developer") == ""
    moved = {"XDG_CONFIG_HOME": str(judge.root / "x")}
    file = {"opencode": "agents/x.md", "zed": "settings.json"}[name]
    for path, environ in ((f".config/{name}/{file}", {}), (f"x/{name}/{file}", moved)):
        denied = judge("Write", {"file_path": str(judge.root / path), "content": "x"}, "developer", environ=environ)
        assert "a person may" in denied, path


def test_a_template_is_shared(judge):
    path = ".scaffolding/templates/KNOWLEDGE.md"
    assert "it is read-only" in judge("Write", TOOLS["Write"](path), "reviewer")
    assert judge("Write", TOOLS["Write"](path), "developer") == ""


def test_what_guards_agents_elsewhere_is_not_ours(empty):
    judge = Judge(empty)
    assert judge("Write", {"file_path": ".claude/settings.json", "content": "x"}, "developer") == ""


@pytest.mark.parametrize(
    "where",
    [
        ".claude/agents/r.md",
        ".claude/agents/x/r.md",
        ".claude/plugins/cache/market/plugin/1.2.3/agents/r.md",
        ".claude/plugins/cache/market/plugin/1.2.3/custom/agents/team/r.md",
        ".claude/plugins/marketplaces/market/plugins/plugin/agents/auditor.md",
        ".claude/plugins/marketplaces/market/agents/auditor.md",
        ".gemini/extensions/x/agents/r.md",
        ".qwen/extensions/x/agents/r.md",
        ".copilot/installed-plugins/market/plugin/agents/r.md",
        "$CLAUDE_CONFIG_DIR/agents/r.md",
        "$CLAUDE_CONFIG_DIR/plugins/cache/market/plugin/1.2.3/agents/r.md",
        "$GEMINI_CLI_HOME/.gemini/agents/r.md",
    ],
)
def test_a_definition_in_the_person_s_home_decides_too(project, where):
    variable, _, below = where.removeprefix("$").partition("/") if where.startswith("$") else ("", "", where)
    moved = {variable: str(project.home / "moved")} if variable else {}
    judge = partial(Judge(project), environ=moved)
    file = project.home / ("moved" if variable else "") / below
    file.parent.mkdir(parents=True)
    file.write_text("---\nname: auditor\ntools: Read, Grep\n---\n")
    for agent in ("auditor", "plugin:auditor"):
        assert "gives it neither Write nor Edit" in judge("Write", TOOLS["Write"](SHARED), agent)
    project.write(".claude/agents/a.md", "---\nname: auditor\ntools: Write\n---\n")
    assert judge("Write", TOOLS["Write"](SHARED), "auditor") == "", "the project's own comes first"


READING_SHELL = [
    f"cat {SHARED}",
    f"grep -rn Redis .scaffolding && wc -l < {SHARED}",
    f"cp {SHARED} /tmp/copy.md",
    "cp -r .scaffolding backup > /dev/null 2>&1",
    f"sed -n 1,20p {SHARED} | tee /tmp/head.md",
    f"diff <(cat {SHARED}) {OWN}",
    f"awk '{{print > \"/tmp/x\"}}' {SHARED}",
    f"git log --oneline -- {SHARED}",
    f"git diff > /tmp/{os.path.basename(SHARED)}",
    "find .scaffolding -name '*.md'",
    "find .scaffolding -name '*.md' -exec grep -l Redis {} +",
    "find .scaffolding -name '*.md' -exec cp {} /tmp ';'",
    f"echo 'write {SHARED} > later' > notes.txt",
    f"python3 -c \"print(open('{SHARED}').read())\"",
    f"cat > notes.txt <<'EOF'\necho x > {SHARED}\nEOF",
    f"# rm {SHARED}\nls",
    "amp recall reviewer && amp show shared",
    "amp list --json | head; amp status; amp check; amp prune",
    "cd /tmp && echo amp > x",
    "./example --stamp amp-clamp",
    # a folder that only a subshell was in, or that was left again
    "(cd .scaffolding/agent-memory/shared && cat KNOWLEDGE.md); rm build.log",
    "x=$(cd .scaffolding/agent-memory/shared && ls); rm build.log",
    "bash -c 'cd .scaffolding/agent-memory/shared && ls'; rm build.log",
    "cd .scaffolding/agent-memory/shared && ls; cd - && rm build.log",
    "cd .scaffolding/agent-memory/shared && ls; cd && rm build.log",
    "pushd .scaffolding/agent-memory/shared; ls; popd; rm build.log",
    # a place to look in, or to look past
    "find .scaffolding -name '*.md' | xargs wc -l",
    "find .scaffolding -name '*.md' | xargs -I{} cp {} /tmp/backup",
    "find . -name '*.py' -not -path './.scaffolding/*' | xargs sed -i s/a/b/",
    "git ls-files .scaffolding | xargs grep -l Redis",
    "git clean -n .scaffolding",
    "git -C /tmp/other checkout main && ls .scaffolding",
    # a text that is written about memory, not into it
    "sed -i 's/.scaffolding/memory/' README.md",
    "sed -i '' 's/.scaffolding/memory/' README.md",
    "perl -pi -e 's/.scaffolding/memory/' README.md",
    "grep -rl '.scaffolding/agent-memory' docs | xargs sed -i s/a/b/",
    f"python3 - <<'PY'\nopen('README.md', 'w').write('see {SHARED}')\nPY",
    f"git apply <<'EOF'\n--- a/README.md\n+++ b/README.md\n@@ -1 +1 @@\n-a\n+see {SHARED}\nEOF",
    f'git commit -m "$(cat <<EOF\nDo not rm {SHARED}\nEOF\n)"',
    # code that reads, and does other things with what it has read
    f"python3 -c \"print(open('{SHARED}').read().replace('a', 'b'))\"",
    f"python3 -c \"t = open('{SHARED}', encoding='utf-8').read(); open('/tmp/x', 'w').write(t)\"",
    f"python3 -c \"from pathlib import Path; Path('/tmp/x').write_text(Path('{SHARED}').read_text())\"",
    f"python3 - <<'PY'\nfound = []\nfor line in open('{SHARED}'): found.append(line)\nPY",
    f"node -e \"fs.writeFileSync('/tmp/x', fs.readFileSync('{SHARED}', 'utf8'))\"",
]


@each_row("command", READING_SHELL)
def test_a_shell_may_read_memory(judge, command):
    assert shell(judge, command) == ""


WRITING_SHELL = [
    f"echo x > {SHARED}",
    f"echo x >> {SHARED}",
    f"echo x >| {SHARED}",
    f": > '{SHARED}'",
    f"echo x | tee {SHARED}",
    f"echo x | sudo tee -a {SHARED} > /dev/null",
    f"cat >> {SHARED} <<'EOF'\n- x\nEOF",
    f"cat <<EOF | tee -a {SHARED}\n- x\nEOF",
    f"sed -i 's/a/b/' {SHARED}",
    f"sed -i.bak -e 's/a/b/' {SHARED}",
    f"sed --in-place 's/a/b/' {SHARED}",
    f"perl -pi -e 's/a/b/' {SHARED}",
    f"cp /tmp/x {SHARED}",
    "cp -t .scaffolding/agent-memory/shared /tmp/x",
    f"mv /tmp/x {SHARED}",
    f"mv {SHARED} /tmp/x",
    f"rm {SHARED}",
    "rm -rf .scaffolding",
    "rm -rf .scaffolding/agent-memory/",
    "find .scaffolding -name '*.md' -delete",
    "find .scaffolding -name '*.md' -exec sed -i s/a/b/ {} +",
    "find .scaffolding -type f -exec rm {} ';'",
    f"truncate -s 0 {SHARED}",
    f"dd if=/dev/null of={SHARED}",
    f"ln -sf /tmp/x {SHARED}",
    f"git checkout HEAD~3 -- {SHARED}",
    f"git rm {SHARED}",
    f"curl -s https://acme.example/x -o {SHARED}",
    f"touch {SHARED}",
    "cd .scaffolding/agent-memory && echo x > shared/KNOWLEDGE.md",
    "(cd .scaffolding && cd agent-memory/shared; rm KNOWLEDGE.md)",
    f"F={SHARED}; echo x > $F",
    'export D=.scaffolding/agent-memory; echo x > "$D/shared/KNOWLEDGE.md"',
    f"for f in a.txt {SHARED}; do echo x > $f; done",
    f"if true; then echo x > {SHARED}; fi",
    f"bash -c 'echo x > {SHARED}'",
    f"sh -c \"bash -lc 'echo x > {SHARED}'\"",
    f'eval "echo x > {SHARED}"',
    f"bash <<'EOF'\necho x > {SHARED}\nEOF",
    f"echo $(echo x > {SHARED})",
    f"true; env A=1 nohup timeout 5 rm {SHARED}",
    f"echo {SHARED} | xargs -I{{}} rm {SHARED}",
    f'echo x > "$(git rev-parse --show-toplevel)/{SHARED}"',
    f"echo x > $HOME_OF_IT/{SHARED}",
    f"echo x > ./src/../{SHARED}",
    f"python3 -c \"open('{SHARED}', 'w').write('x')\"",
    f"python3 - <<'PY'\nfrom pathlib import Path\nPath('{SHARED}').write_text('x')\nPY",
    f"node -e \"require('fs').appendFileSync('{SHARED}', 'x')\"",
    f"python3 -c \"p = '{SHARED}'; t = open(p).read(); open(p, 'w').write(t)\"",
    f"python3 -c \"t = open('{SHARED}').read(); open('{SHARED}', 'w').write(t)\"",
    f"python3 -c \"import os; os.rename('x', '{SHARED}')\"",
    f"(cd /tmp; ls); rm {SHARED}",
    "cd .scaffolding/agent-memory/shared && (cd /tmp && ls) && rm KNOWLEDGE.md",
    "pushd .scaffolding/agent-memory/shared; pushd /tmp; popd; rm KNOWLEDGE.md",
    f"cd src; cd -; rm {SHARED}",
    f"function f {{ rm {SHARED}; }}; f",
    f"A=' '; $A rm {SHARED}",
    f"E=; rm $E{SHARED}",
    f"E=; F=${{E}}{SHARED}; rm $F",
    f"f() {{ rm {SHARED}; }}; f",
    f"echo 'rm {SHARED}' | bash",
    f"cat <<'EOF' | sh -e\nrm {SHARED}\nEOF",
    "find .scaffolding -name '*.md' | xargs rm",
    "find .scaffolding -name '*.md' -print0 | xargs -0 -n1 sed -i s/a/b/",
    "find .scaffolding -type f | xargs -I FILE mv FILE /tmp",
    "grep -rl Redis .scaffolding | xargs sed -i s/Redis/Valkey/",
    "git ls-files .scaffolding | xargs rm",
    f"xargs rm <<< {SHARED}",
    f"git -C . checkout HEAD~3 -- {SHARED}",
    "git -C .scaffolding/agent-memory rm shared/KNOWLEDGE.md",
    f"git -c user.name=x rm {SHARED}",
    f"curl -fsSLo {SHARED} https://acme.example/x",
    f"curl -o{SHARED} https://acme.example/x",
    f"wget -qO {SHARED} https://acme.example/x",
    f"git apply <<'EOF'\n--- a/{SHARED}\n+++ b/{SHARED}\n@@ -1 +1 @@\n-a\n+b\nEOF",
    f"cat <<'EOF' | patch -p1\n--- a/{SHARED}\n+++ b/{SHARED}\n@@ -1 +1 @@\n-a\n+b\nEOF",
    f"Set-Content -Path {SHARED} -Value x",
    f"Remove-Item {SHARED}",
    f"apply_patch <<'EOF'\n*** Begin Patch\n*** Update File: {SHARED}\n+x\n*** End Patch\nEOF",
    f"apply_patch <<'EOF'\n*** Begin Patch\n*** Delete File: {SHARED}\n*** End Patch\nEOF",
    f"apply_patch <<'EOF'\n*** Begin Patch\n*** Update File: a\n*** Move to: {SHARED}\n*** End Patch\nEOF",
]


@pytest.mark.slow
@pytest.mark.requirement("S4-54")
@each_row("command", WRITING_SHELL)
def test_a_read_only_agent_s_shell_writes_no_memory(judge, command):
    assert "it is read-only" in shell(judge, command)
    assert shell(judge, command, agent=None) == ""


WRITING_PROGRAMS = [
    f"gzip {SHARED}",
    f"xz -k {SHARED}",
    "tar -C .scaffolding/agent-memory/shared -xf /tmp/x.tar",
    "tar xf /tmp/x.tar --directory=.scaffolding/agent-memory",
    f"tar cf {SHARED} src",
    "unzip -o x.zip -d .scaffolding/agent-memory/shared",
    f"zip -r {SHARED} src",
    f"prettier --write {SHARED}",
    f"black -q {SHARED}",
    f"pandoc notes.txt -o {SHARED}",
    f"split -l 5 notes.txt {SHARED}",
    f"awk '{{print > \"{SHARED}\"}}' notes.txt",
    f"awk '{{print > FILENAME}}' {SHARED}",
    f"awk 'BEGIN {{system(\"rm {SHARED}\")}}'",
    f"sed -n 'w {SHARED}' notes.txt",
    f"sed -ni.bak p {SHARED}",
    f"vim -es -c ':%d' -c wq {SHARED}",
    f"vim notes.txt -c ':w! {SHARED}'",
    f"emacs --batch {SHARED} --eval '(save-buffer)'",
    f"nano {SHARED}",
    f"node rewrite.js {SHARED}",
    f"python3 rewrite.py {SHARED}",
    f"python3 rewrite.py --file={SHARED}",
    f"./rewrite {SHARED}",
    f"make OUT={SHARED} notes",
    f"sqlite3 x.db '.output {SHARED}' 'select 1;'",
    f"duckdb -c \"copy (select 1) to '{SHARED}'\"",
    f"ffmpeg -i x.wav {SHARED}",
    f"openssl rand -out {SHARED} 10",
    f"gpg -o {SHARED} -d x.gpg",
    f"sort notes.txt -o {SHARED}",
    f"tree -o {SHARED}",
    f"find . -fprint {SHARED}",
    "find . -path './.scaffolding/*' -delete",
    f"uniq notes.txt {SHARED}",
    f"xxd -r notes.hex {SHARED}",
    f"git diff --output={SHARED}",
    f"git archive HEAD -o {SHARED}",
    "git --work-tree=.scaffolding/agent-memory checkout HEAD -- shared",
    f"git stash push -- {SHARED}",
    "wget -P .scaffolding/agent-memory/shared https://acme.example/x",
    f"curl -D {SHARED} https://acme.example/x",
    "mkdir -p .scaffolding/agent-memory/shared/x",
    f"rsync --remove-source-files {SHARED} /tmp/",
    f'perl -e \'open(F, ">", "{SHARED}"); print F 1\'',
    f"ruby -e 'File.write(\"{SHARED}\", 1)'",
    f"php -r 'file_put_contents(\"{SHARED}\", 1);'",
    f"python3 -c \"import os; os.system('rm {SHARED}')\"",
    f"python3 -c \"import subprocess; subprocess.run(['rm', '{SHARED}'])\"",
    f"python3 -c \"import sys; open(sys.argv[1], 'w')\" {SHARED}",
    f"python3 -m rewrite {SHARED}",
    f"yq -i .a=1 {SHARED}",
    "cd .scaffolding/agent-memory/shared && gzip KNOWLEDGE.md",
    "tar --directory=.scaffolding/agent-memory -xf /tmp/x.tar",
    f"awk 'BEGIN {{print 1 > \"{SHARED}\"}}'",
    f"awk -F : -v f={SHARED} '{{print > f}}' notes.txt",
    f"awk -F : '{{print > \"{SHARED}\"}}' notes.txt",
    f"python3 -c \"import os; p = '{SHARED}'; os.remove(p)\"",
    f"python3 -c \"import os; os.replace('x', '{SHARED}')\"",
    f"python3 -c \"import shutil; to = '{SHARED}'; shutil.copy('x', to)\"",
    f"bash -x rewrite.sh {SHARED}",
    # words of the program itself, which say nothing about what it does
    f"python3 rewrite.py -m cat {SHARED}",
    f"python3 -E rewrite.py {SHARED}",
    f"git -c alias.x=log -C . clone -c clone log {SHARED}",
]
SHELL_FORMS = [
    f"F={SHARED} bash -c 'echo x >> $F'",
    f"env F={SHARED} sh -c 'echo x >> \"$F\"'",
    f"bash -c 'echo x >> $1' _ {SHARED}",
    f"bash -c 'echo x >> \"$@\"' _ {SHARED}",
    f'set -- {SHARED}; echo x >> "$1"',
    f'set -- a {SHARED}; rm "$@"',
    f"while read -r f; do rm $f; done <<< {SHARED}",
    f"while read f; do echo x >> \"$f\"; done <<'EOF'\na.txt\n{SHARED}\nEOF",
    f'echo {SHARED} | while read f; do rm "$f"; done',
    f'while read f; do rm "$f"; done < <(echo {SHARED})',
    "find .scaffolding -name '*.md' | while read -r f; do rm \"$f\"; done",
    f"read F <<< {SHARED}; rm $F",
    "find .scaffolding -name '*.md' -exec sh -c 'echo x >> \"$1\"' _ {} ';'",
    "find .scaffolding -name '*.md' -exec sh -c 'rm {}' \\;",
    "find .scaffolding -name '*.md' -execdir gzip {} +",
    "find .scaffolding -name '*.md' | xargs sh -c 'rm \"$@\"' _",
    "find .scaffolding -name '*.md' | xargs -I{} sh -c 'rm {}'",
    "find .scaffolding -name '*.md' | sort | xargs rm",
    "rm $(find .scaffolding -name '*.md')",
    "for f in $(find .scaffolding -name '*.md'); do rm $f; done",
    "rm .scaffolding/{agent-memory,x}/shared/KNOWLEDGE.md",
    "echo x > .scaffolding/agent-memory/{shared,x}/KNOWLEDGE.md",
    f"rm {{a.txt,{SHARED}}}",
    "rm .scaffolding/agent-memor*/shared/KNOWLEDGE.md",
    "rm .scaff*/agent-memory/shared/KNOWLEDGE.md",
    f"F='a.txt {SHARED}'; rm $F",
    f'F=(a.txt {SHARED}); rm "${{F[@]}}"',
    f"rm ${{F:-{SHARED}}}",
    f"F={SHARED}; rm ${{F%.bak}}",
    "cd .scaffolding/agent-memory && rm $PWD/shared/KNOWLEDGE.md",
    "env -C .scaffolding/agent-memory rm shared/KNOWLEDGE.md",
    "sudo env --chdir=.scaffolding/agent-memory/shared gzip KNOWLEDGE.md",
    f"trap 'rm {SHARED}' EXIT",
    f"flock /tmp/l rm {SHARED}",
    f"parallel echo x '>>' ::: {SHARED}",
    f"parallel 'gzip {{}}' ::: {SHARED}",
    f'w() {{ tee "$TO"; }}; TO={SHARED}; echo x | w',
    f"F={SHARED} ./rewrite",
    f"export F={SHARED}; python3 -c \"import os; open(os.environ['F'], 'w')\"",
    "cd .scaffolding/agent-memory/shared && python3 -c \"open('KNOWLEDGE.md', 'w')\"",
    f"cat > x.sh <<'E'\nexport A=1\nrm {SHARED}\nE\nbash x.sh",
    f"cat <<'E' | bash\nrm {SHARED}\nE",
    "true | { git grep -l Redis | xargs sed -i s/a/b/; }",
    f"echo x 1>> {SHARED}",
    f'f() {{ rm "$1"; }}; f {SHARED}',
    f"for text in a {SHARED}; do rm $text; done",
    f"{'$(' * 20}rm {SHARED}{')' * 20}",
    f"{'$(' * 20}true{')' * 20}; rm {SHARED}",
]
INNOCENT = [
    "cd .scaffolding/agent-memory/shared && python3 -c \"print(open('KNOWLEDGE.md').read())\"",
    "ruff check --exclude .scaffolding .",
    f"python3 -c \"import shutil; shutil.copy('{SHARED}', '/tmp/x')\"",
    f"grep -n fact {SHARED} | fzf",
    f"T=$(mktemp); grep fact {SHARED} > $T; rm $T",
    f"F=a.txt; cat {SHARED}; rm $F",
    "find . '(' -path ./.scaffolding -o -path ./.git ')' -prune -o -name '*.tmp' -exec rm {} +",
    f"touch -r {SHARED} /tmp/x",
    f"chmod --reference={SHARED} /tmp/x",
    "find . -path ./.scaffolding -prune -o -name '*.py' -exec sed -i s/a/b/ {} +",
    "find . -not -path './.scaffolding/*' -name '*.pyc' -delete",
    "find .scaffolding -name '*.md' -exec sh -c 'wc -l \"$1\"' _ {} ';'",
    f"python3 -c \"from pathlib import Path; p = Path('{SHARED}'); print(p.read_text().replace('a', 'b'))\"",
    f"python3 -c \"import sys; sys.stdout.write(open('{SHARED}').read())\"",
    f"python3 -c \"import json; t = open('{SHARED}').read(); json.dump(t, open('/tmp/x', 'w'))\"",
    f"python3 - <<'PY'\nlines = []\nfor line in open('{SHARED}'):\n    lines.append(line)\nprint(lines > [])\nPY",
    f'python3 -c "import sys; print(open(sys.argv[1]).read())" {SHARED}',
    f"python3 -m json.tool {SHARED}",
    f"gzip -c {SHARED} > /tmp/x.gz",
    "tar czf /tmp/backup.tgz .scaffolding",
    "tar -czf backup.tgz .scaffolding src",
    "zip -r backup.zip .scaffolding",
    "rsync -a .scaffolding/ /tmp/backup/",
    f"split -l 5 {SHARED} /tmp/part",
    f"dd if={SHARED} of=/tmp/x",
    f"pandoc {SHARED} -o /tmp/x.html",
    f"sort {SHARED} -o /tmp/x",
    f"prettier --check {SHARED}",
    f"markdownlint {SHARED}",
    f"awk '$1 > 3 {{print $2}}' {SHARED}",
    f"awk '{{ if (NR >= 3) print }}' {SHARED}",
    f"sed -E 's/a/b/; s/c/d/' {SHARED}",
    f"perl -ne 'print if /Redis/' {SHARED}",
    f"git add {SHARED} && git commit -m 'Write {SHARED}' && git push",
    f"git rm --cached {SHARED}",
    f"git reset -- {SHARED}",
    f"git stash show && git show HEAD:{SHARED}",
    f"gh pr create --title x --body 'It changes {SHARED} and more.'",
    f"[ -f {SHARED} ] && [[ -s {SHARED} ]] && test -r {SHARED}",
    f"case {SHARED} in *.md) echo yes;; esac",
    f'F={SHARED}; while read -r line; do echo "$line"; done < $F',
    f'while read f; do cat "$f"; done <<< {SHARED}',
    f'set -- {SHARED}; head -3 "$1"',
    f'F=({SHARED} {OWN}); cat "${{F[@]}}"',
    "cat .scaffolding/agent-memory/{shared,agents/developer}/*.md",
    "echo '{.scaffolding,x}' > notes.txt",
    f"F={SHARED} bash -c 'cat $F'",
    "sed -E -i 's/.scaffolding/memory/' README.md",
    f"awk -F : '$1 > 3' {SHARED}",
    f"awk -v least=3 '$1 > least' {SHARED}",
    f"bash -ec 'cat \"$1\"' _ {SHARED}",
    f"bash -c 'cat \"$1\"' _ {SHARED}",
    "env -C .scaffolding/agent-memory cat shared/KNOWLEDGE.md",
    "for f in $(find .scaffolding -name '*.md'); do wc -l $f; done",
    f"timeout 5 sudo cat {SHARED} | less",
    f"code-review --version {SHARED}",
    f"diff {SHARED} <(git show HEAD:{SHARED})",
    "cd .scaffolding/agent-memory/shared && git status && grep -c Redis KNOWLEDGE.md",
    "mkdir -p .scaffolding/conversations/c1/specs",
]


@pytest.mark.slow
@each_row("command", [*WRITING_PROGRAMS, *SHELL_FORMS])
def test_a_program_that_is_not_known_to_read_writes_what_it_names(judge, command):
    assert "it is read-only" in shell(judge, command)
    assert shell(judge, command, agent=None) == ""


@each_row("command", INNOCENT)
def test_what_only_reads_memory_passes(judge, command):
    assert shell(judge, command) == ""


@each_row(
    "command",
    [
        "echo x > .scaffolding/agent-memory/agents/*/MEMORY.md",
        "echo x > .scaffolding/agent-memory/agents/$WHO/MEMORY.md",
        "for a in developer tester; do echo x >> .scaffolding/agent-memory/agents/$a/MEMORY.md; done",
        "rm -rf .scaffolding/agent-memory/agents",
        "rm -rf .scaffolding/conversations",
        "git clean -fdx .scaffolding",
    ],
)
def test_an_agent_changes_nothing_that_may_be_another_s(judge, command):
    assert shell(judge, command, agent="developer")
    assert shell(judge, command, agent=None) == ""


def test_powershell_may_spell_a_path_its_way(judge):
    path = SHARED.replace("/", "\\")
    for command in (
        f"Add-Content {path} 'x'",
        f"Set-Content -Path '{path}' -Value x",
        f"'x' | Out-File -FilePath {path} -Append",
        f"'x' > {path}",
        f"$f = '{path}'; Remove-Item $f",
        f"Copy-Item README.md -Destination {path}",
        f"Move-Item {path} old.md",
        f"New-Item -Force {path}",
        f"[IO.File]::WriteAllText('{path}', 'x')",
        f"(Get-Content {path}) -replace 'a', 'b' | Set-Content {path}",
        f"cmd /c del {path}",
        "Get-ChildItem .scaffolding -Recurse -Filter *.md | Remove-Item",
        f'pwsh -Command "Clear-Content {path}"',
    ):
        assert "it is read-only" in judge("PowerShell", {"command": command}, "reviewer"), command
    for command in (
        f"Get-Content {path} | Select-Object -First 3",
        "Get-ChildItem .scaffolding -Recurse | Measure-Object",
        f"Select-String fact {path} | ForEach-Object {{ $_.Line }}",
        f"[IO.File]::ReadAllText('{path}')",
        f"Copy-Item {path} C:/temp/x.md",
        f"if (Test-Path {path}) {{ Write-Host yes }}",
    ):
        assert judge("PowerShell", {"command": command}, "reviewer") == "", command


@pytest.mark.slow
@pytest.mark.parametrize(
    "command",
    [
        "amp\n" + "$(for i in a b c d e f g h i j k l m n; do " * 3 + "rm $i" + ")" * 3,
        pytest.param(
            "amp\n" + "$(for i in a b c d e f g h i j k l m n; do " * 12 + "rm $i" + ")" * 12, marks=pytest.mark.slow
        ),
        "amp; a=xxxxxxxxxx; " + "a=$a$a$a$a$a$a$a$a; " * 40 + "rm $a",
        "rm " + " ".join(f".scaffolding/agent-memory/agents/developer/note_{number}.md" for number in range(3_000)),
        "amp; gzip " + "x" * 1_000_000,
        "amp; rm {" + "a," * 200_000,
        "amp" + " | cat" * 5_000 + " | xargs rm",
        "amp; " + "xargs " * 5_000 + "rm",
        "amp; " + "find " + "a " * 30 + "-exec find {} x y z -exec find {} u v w -exec " * 12 + "rm {} +",
        "amp; python3 - <<'E'\nos.remove(x)\n" + "open('" * 50_000 + "\nE",
        "amp; sed" + " -e s/a/b/" * 50_000,
        "amp; touch" + " -r a" * 50_000,
        "amp; " + "".join(f"a{number}=1;" for number in range(10_000)) + "(true);" * 10_000,
        "amp; git apply <<'E'\n--- a/x\n" + "+y\n" * 200_000 + "E",
        "amp; rm " + "}" * 200_000 + "{" * 200_000,
        "amp; " + "cd a; pushd a; " * 5_000,
        "amp; echo x > f0; " + "".join(f"cat f{n} ./f{n} > f{n + 1}; " for n in range(2_000)),
        "amp; echo 'sh f' > f; sh f",
        "cat .scaffolding/amp.toml; echo" + " $x y=" * 50_000,
    ],
    ids=["loops inside of loops", "many loops inside of loops", "a value that doubles", "many files", *range(15)],
)
def test_a_command_that_would_take_for_ever_is_judged_as_far_as_it_was_read(judge, command):
    assert shell(judge, command, agent="developer") == ""


def test_edits_that_double_a_file_again_and_again_pass_its_limit(judge):
    judge.project.write(SHARED, "a\n")
    edits = [{"old_string": "a", "new_string": "aa", "replace_all": True}] * 60
    assert "25,600 are allowed" in judge("MultiEdit", {"file_path": SHARED, "edits": edits}, "developer")


def test_an_agent_inside_the_memory_folder_is_held_to_the_same(judge):
    folder = judge.root / ".scaffolding" / "agent-memory" / "agents" / "developer"
    assert "only agent developer itself" in shell(judge, "echo x >> MEMORY.md", agent="tester", cwd=folder)
    assert shell(judge, "echo x >> MEMORY.md", agent="developer", cwd=folder) == ""


def test_a_link_into_memory_is_memory(judge):
    (judge.root / "notes").symlink_to(judge.root / ".scaffolding" / "agent-memory" / "shared")
    assert "it is read-only" in judge("Write", TOOLS["Write"]("notes/KNOWLEDGE.md"), "reviewer")


def test_a_worktree_s_agent_is_held_to_the_path_it_writes(judge):
    elsewhere = judge.project.home / "other"
    elsewhere.mkdir()
    assert "it is read-only" in judge("Write", TOOLS["Write"](str(judge.root / SHARED)), "reviewer", cwd=elsewhere)


@pytest.mark.requirement("S4-52", "S4P-03")
def test_a_definition_and_the_settings_decide_who_is_read_only(judge):
    judge.project.write(".claude/agents/helper.md", "---\nname: helper\ndisallowedTools: Write, Edit\n---\n")
    assert ".claude/agents/helper.md" in judge("Write", TOOLS["Write"](SHARED), "helper")
    judge.project.write(".claude/agents/r.md", "---\nname: reviewer\ntools: Read, Write\n---\n")
    assert judge("Write", TOOLS["Write"](SHARED), "reviewer") == ""
    judge.project.write(".scaffolding/amp.toml", '[access]\nread_only = ["developer"]\n')
    assert "access.read_only" in judge("Write", TOOLS["Write"](SHARED), "developer")


@pytest.mark.requirement("S4-17")
@pytest.mark.requirement("S4-54")
@pytest.mark.parametrize("followed", [True, False])
def test_a_definition_behind_a_link_decides_as_it_does_at_every_door(judge, followed):
    """Whoever keeps the definitions of agents elsewhere follows links that lead there (decision 6)."""
    elsewhere = judge.project.home / "definitions"
    elsewhere.mkdir(parents=True)
    (elsewhere / "developer.md").write_text("---\nname: developer\ntools: Read, Grep\n---\n")
    (judge.root / ".claude").mkdir()
    (judge.root / ".claude" / "agents").symlink_to(elsewhere)
    settings = judge.project.home / ".config" / "amp" / "config.toml"
    settings.parent.mkdir(parents=True)
    settings.write_text(f"external_links = {str(followed).lower()}\n")
    workspace = Workspace.open(judge.root, environ={"HOME": str(judge.project.home)})
    refused = workspace.why_read_only(Actor("developer")) is not None
    denied = "it is read-only" in judge("Write", TOOLS["Write"](OWN), "developer")
    assert (refused, denied) == (followed, followed)


def test_only_a_conversation_that_is_fixed_can_have_outsiders(judge):
    other = CONVERSATION.replace("c1", "c10")
    assert judge("Write", TOOLS["Write"](other), "developer") == ""
    assert "it acts in conversation c1" in judge(
        "Write", TOOLS["Write"](other), "developer", environ={"AMP_CONVERSATION": "c1"}
    )
    assert judge("Write", TOOLS["Write"](CONVERSATION), "developer", environ={"AMP_CONVERSATION": "c1"}) == ""


def test_the_environment_names_the_agent_of_the_session(judge):
    assert "it is read-only" in judge("Write", TOOLS["Write"](SHARED), environ={"AMP_AGENT": "reviewer"})
    assert judge("Write", TOOLS["Write"](SHARED), "developer", environ={"AMP_AGENT": "reviewer"}) == ""


def test_memory_that_is_switched_off_is_not_guarded(judge):
    assert judge("Write", TOOLS["Write"](SHARED), "reviewer", environ={"AMP_DISABLE": "1"}) == ""
    judge.project.write(".scaffolding/amp.toml", "enabled = false\n")
    assert judge("Write", TOOLS["Write"](SHARED), "reviewer") == ""


LONG = "# T\n\n" + ENTRY * 250
LIMIT = "would have 252 lines, 200 are allowed"


@pytest.mark.slow
@pytest.mark.requirement("S4-59")
@each_row("agent", [None, "developer"])
@each_row("path", [SHARED, OWN, CONVERSATION])
def test_a_write_that_would_pass_the_limit_is_denied(judge, agent, path):
    assert LIMIT in judge("Write", {"file_path": path, "content": LONG}, agent)
    assert LIMIT in judge("Write", {"file_path": path, "content": LONG.replace("\n", "\r\n")}, agent)
    assert "bytes, 25,600 are allowed" in judge("Write", {"file_path": path, "content": "- " + "x" * 30_000}, agent)
    assert LIMIT in shell(judge, f"cat > {path} <<'EOF'\n{LONG}EOF", agent=agent)
    assert judge("Write", {"file_path": path, "content": "# T\n\n" + ENTRY * 198}, agent) == ""
    assert judge("Write", {"file_path": "src/x.md", "content": LONG}, agent) == ""
    note = path.rpartition("/")[0] + "/reference_x.md"
    assert LIMIT in judge("Write", {"file_path": note, "content": LONG}, agent)
    beside = path.rpartition("/")[0] + "/data.csv"
    assert judge("Write", {"file_path": beside, "content": LONG}, agent) == ""


def test_what_is_added_to_a_file_counts_with_what_is_in_it(judge):
    full = "# T\n\n" + ENTRY * 197  # 199 lines
    judge.project.write(SHARED, full)
    assert shell(judge, f"echo '- x' >> {SHARED}", agent="developer") == ""
    assert "201 lines" in shell(judge, f"cat >> {SHARED} <<EOF\n- x\n- y\nEOF", agent="developer")
    edit = {"file_path": SHARED, "old_string": "# T\n", "new_string": "# T\n\nx\n\ny\n"}
    assert "203 lines" in judge("Edit", edit, "developer")
    assert judge("Edit", {**edit, "new_string": "# T\nx\n"}, "developer") == ""
    everywhere = {"file_path": SHARED, "old_string": ENTRY, "new_string": ENTRY * 2, "replace_all": True}
    assert "396 lines" in judge("Edit", everywhere, "developer")
    assert "200 lines" not in judge("Edit", {**everywhere, "replace_all": False}, "developer")
    patch = f"*** Begin Patch\n*** Update File: {SHARED}\n@@\n # T\n+x\n+y\n*** End Patch\n"
    assert "201 lines" in judge("apply_patch", {"command": patch}, "developer", host="codex")
    assert judge("apply_patch", {"command": patch.replace("+y", "-y")}, "developer", host="codex") == ""


def test_a_file_over_its_limit_may_become_smaller(judge):
    judge.project.write(SHARED, "# T\n\n" + ENTRY * 400)
    assert judge("Write", {"file_path": SHARED, "content": "# T\n\n" + ENTRY * 300}, "developer") == ""
    assert judge("Write", {"file_path": SHARED, "content": "# T\n\n" + ENTRY * 401}, "developer")


def test_the_settings_give_the_limit(judge):
    judge.project.write(".scaffolding/amp.toml", "[limits]\nmax_lines = 5\n")
    assert "6 lines, 5 are allowed" in judge("Write", {"file_path": SHARED, "content": ENTRY * 6}, "developer")
    assert "amp prune shared" in judge("Write", {"file_path": SHARED, "content": ENTRY * 6}, "developer")


@pytest.mark.requirement("S0-30", "S2-05", "S2-29")
@pytest.mark.parametrize("agent", [None, "developer"])
def test_a_secret_comes_into_memory_by_no_tool(judge, agent):
    secret = f"- The token is {TOKEN}.\n"
    calls = [
        ("Write", {"file_path": SHARED, "content": secret}),
        ("Write", {"file_path": SHARED.replace("KNOWLEDGE", "reference_ci"), "content": secret}),
        ("Edit", {"file_path": OWN, "old_string": "x", "new_string": secret}),
        ("MultiEdit", {"file_path": OWN, "edits": [{"old_string": "x", "new_string": secret}]}),
        ("replace", {"file_path": OWN, "old_string": "x", "new_string": secret}),
        ("apply_patch", {"command": f"*** Begin Patch\n*** Add File: {CONVERSATION}\n+{secret}*** End Patch"}),
        ("Bash", {"command": f"echo '{secret.strip()}' >> {SHARED}"}),
        ("Bash", {"command": f"cat >> {SHARED} <<'EOF'\n{secret}EOF"}),
        ("Bash", {"command": f"T={TOKEN}; python3 -c \"open('{SHARED}','a').write('$T')\""}),
    ]
    for tool, given in calls:
        reason = judge(tool, given, agent)
        assert "rule github-token" in reason, (tool, given)
        assert TOKEN not in reason
    assert judge("Write", {"file_path": "env/tokens.txt", "content": secret}, agent) == ""
    assert judge("Write", {"file_path": SHARED, "content": "- The token is in env/tokens.txt.\n"}, agent) == ""


WRITING_VERBS = ["remember x", "init", "forget abc", "edit abc x", "note new user x", "index", "prune --apply", "watch"]
STARTS = [
    "amp",
    "agent-memory",
    "/opt/venv/bin/amp",
    "python3 -m agent_memory_protocol",
    "uv run amp",
    "poetry -n run amp",
    "uvx --from agent-memory-protocol amp",
    "sudo -u root env A=1 amp",
    "cd /tmp && nohup amp",
    "true | xargs amp",
]


@pytest.mark.slow
@each_row("verb", WRITING_VERBS)
@each_row("start", STARTS)
def test_an_agent_runs_a_writing_command_in_its_own_name(judge, start, verb):
    for agent in ("developer", "scaffolding:developer"):
        reason = shell(judge, f"{start} {verb}", agent=agent)
        assert "as nobody" in reason
        assert "add --as developer" in reason
        assert "as 'tester'" in shell(judge, f"{start} {verb} --as tester", agent=agent)
        assert shell(judge, f"{start} {verb} --as developer", agent=agent) == ""
        assert shell(judge, f"{start} {verb} --as=Developer", agent=agent) == ""
    assert shell(judge, f"{start} {verb}", agent=None) == ""


IDENTITIES = [
    ("amp remember x --as developer --as tester", "as 'tester'"),
    ("amp remember -- x --as developer", "as nobody"),
    ("amp remember x --as ''", "as ''"),
    ("amp remember x --as", "as ''"),
    ("AMP_AGENT=developer amp remember x", ""),
    ("AMP_AGENT=tester amp remember x", "as 'tester'"),
    ("env AMP_AGENT=tester amp remember x", "as 'tester'"),
    ("export AMP_AGENT=developer; amp remember x && amp forget y", ""),
    ("export AMP_AGENT=developer; unset AMP_AGENT; amp remember x", "as nobody"),
    ("bash -c 'amp remember x'", "as nobody"),
    ("AMP_AGENT=developer bash -c 'amp remember x && amp forget y'", ""),
    ("env AMP_AGENT=developer timeout 5 sh -c 'cd src; amp remember x'", ""),
    ("AMP_AGENT=tester bash -c 'amp remember x'", "as 'tester'"),
    ("AMP_AGENT=developer bash -c 'unset AMP_AGENT; amp remember x'", "as nobody"),
    ("AMP_AGENT=developer bash -c 'amp remember x'; amp forget y", "as nobody"),
    ("bash -c 'export AMP_AGENT=developer'; amp remember x", "as nobody"),
    ("(export AMP_AGENT=developer); amp remember x", "as nobody"),
    ("(export AMP_AGENT=developer; amp remember x)", ""),
    ("export AMP_AGENT=developer; (amp remember x)", ""),
    ("echo 'amp remember x' | bash", "as nobody"),
    ("echo x | amp remember -", "as nobody"),
    ("amp remember - <<'EOF'\nx --as developer\nEOF", "as nobody"),
    ("amp recall developer; amp remember x", "as nobody"),
    ("amp remember --help", ""),
    ("amp", ""),
    ("amp-hook stop", ""),
    ("echo amp remember x", ""),
    ("man amp", ""),
]


@each_row("command, words", IDENTITIES, ids=[command for command, _ in IDENTITIES])
def test_the_identity_of_a_command_is_what_the_shell_would_make_it(judge, command, words):
    reason = shell(judge, command, agent="developer")
    assert words in reason if words else reason == ""


def test_the_identity_that_the_host_passes_on_counts(judge):
    inherited = {"AMP_AGENT": "coordinator"}
    assert "as 'coordinator'" in shell(judge, "amp remember x", agent="developer", environ=inherited)
    assert shell(judge, "amp remember x", agent=None, environ=inherited) == ""
    assert "as nobody" in shell(judge, "env -u AMP_AGENT amp remember x", agent=None, environ=inherited)
    assert "as nobody" in shell(judge, "env -i amp remember x", agent=None, environ=inherited)
    assert "as 'developer'" in shell(judge, "amp remember x --as developer", agent=None, environ=inherited)


def verbs(group: click.Group, start: str = ""):
    context = click.Context(group)
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        if isinstance(command, click.Group):
            yield from verbs(command, f"{start}{name} ")
        elif command is not None:
            yield f"{start}{name}", {option for parameter in command.params for option in parameter.opts}


READ = {
    *("recall", "show", "list", "status", "where", "route", "doctor", "hook", "search", "find-stores"),
    *("export", "convert", "schema", "bench", "mcp", "diff", "help", "version", "completion"),
    *("note list", "note show", "record list", "record show", "record history", "record verify"),
}
UNLESS = {"check": "--fix", "review": "--done", "conformance": "--command"}


def amp_writes(words):
    return own.writes(["amp", *words])


def test_every_command_there_is_is_known_to_read_or_held_to_write():
    for verb, options in verbs(amp):
        words = verb.split()
        writing = "--apply" if "--apply" in options else UNLESS.get(verb)
        if writing:
            assert not amp_writes(words), verb
            assert amp_writes([*words, writing]), verb
        else:
            assert amp_writes(words) is READ.isdisjoint({verb, words[0]}), verb
    for started in (["--operator", "sh x.sh"], ["--operator=sh x.sh"]):  # a program may write anything
        assert amp_writes(["consolidate", *started])
    assert not amp_writes(["index", "--check"])
    assert not amp_writes(["view", "--output", "m.html"])
    for refused in ("distill", "learn", "adopt", "close", "review"):
        assert amp_writes([refused, "--refuse", "3fa29c01"])
    assert not amp_writes([])


TAKING = ["git clean -fdx", "git clean -fXd .", "git -C . clean -xf", "git stash -a", "cd src; git stash push --all"]


@each_row("command", TAKING)
def test_git_takes_no_memory_with_what_it_ignores(judge, command):
    for agent in ("reviewer", "developer"):
        assert "end the command with -- ':!.scaffolding'" in shell(judge, command, agent=agent)
        assert shell(judge, f"{command} -- ':!.scaffolding'", agent=agent) == ""
    assert shell(judge, command, agent=None) == ""


def test_git_may_take_what_is_no_memory(judge):
    passing = ["git clean -fdx -e .scaffolding", "git clean -nx", "git clean -fdx build", "cd src; git clean -fdx"]
    for command in (*passing, "git stash -u", "git stash -a -- src", "git clean -fd", "git -C src clean -fx"):
        assert shell(judge, command) == "", command
    assert shell(judge, "git clean -fdX -e .scaffolding"), "with -X, -e names more to take"


HARMLESS = [
    {"tool_name": "Bash", "tool_input": {"command": "pytest -x && git status"}},
    {"tool_name": "Read", "tool_input": {"file_path": "/srv/project/src/example.py"}},
    {"tool_name": "Write", "tool_input": {"file_path": "/srv/a.py", "content": "timestamp = example(lamp)\nstamp\n"}},
    {"tool_name": "Bash", "tool_input": {"command": "echo\tcamp\nchampion amplify"}},
]


@each_row("message", HARMLESS, ids=range(len(HARMLESS)))
def test_an_ordinary_call_is_passed_over_at_a_glance(message):
    assert not may_concern_memory(json.dumps(message).encode(), {})
    assert not may_concern_memory(json.dumps(message, ensure_ascii=False).encode(), {})


@each_row("command", ["amp remember x", "ls\namp remember x", "ls;amp init", "(amp init)", "x\tamp init"])
def test_a_command_is_seen_at_a_glance_wherever_it_stands(command):
    assert may_concern_memory(json.dumps({"tool_input": {"command": command}}).encode(), {})


def test_cursor_s_event_before_a_shell_command_names_no_tool(project):
    sent = {"hook_event_name": "beforeShellExecution", "cwd": str(project.root), "agent_type": "reviewer"}
    assert "it is read-only" in project.hook("pre-tool-use", sent | {"command": f"rm {SHARED}"}, "cursor").denied
    assert project.hook("pre-tool-use", sent | {"command": f"cat {SHARED}"}, "cursor").answer == {}


SHELLS = {"gemini": "run_shell_command", "qwen": "run_shell_command", "copilot": "bash", "cursor": "Shell"}


@pytest.mark.parametrize("host", ["claude", "codex", "gemini", "qwen", "copilot", "cursor", "opencode"])
def test_a_denial_reaches_its_host(project, host):
    name = "pre-tool-use-shell"
    given = "toolArgs" if host == "copilot" else "tool_input"
    sent = project.recorded(host, name, **{given: {"command": f"echo x > {SHARED}"}, "agent_type": "reviewer"})
    tool = json.loads(sent).get("tool_name", json.loads(sent).get("toolName"))
    assert tool == {"opencode": "bash", **SHELLS}.get(host, "Bash")
    assert "it is read-only" in project.hook("pre-tool-use", sent, host).denied
    assert project.hook("pre-tool-use", project.recorded(host, name), host) == ({}, "")


@pytest.mark.parametrize("given", [json.dumps({"path": SHARED}), f"*** Begin Patch\n*** Delete File: {SHARED}\n"])
def test_what_a_tool_is_given_may_be_a_text(project, given):
    sent = {"cwd": str(project.root), "agentType": "reviewer", "toolArgs": given}
    sent["toolName"] = "apply_patch" if given.startswith("*") else "delete"
    assert "it is read-only" in project.hook("pre-tool-use", sent, "copilot").denied


@pytest.mark.parametrize("host", ["qwen", "copilot"])
def test_a_subagent_s_call_is_judged_by_what_its_host_says_of_it(project, host):
    """Qwen Code names the agent in the agent's id, Copilot CLI in words of its own."""
    sent = project.recorded(host, "pre-tool-use-shell-subagent").replace("echo hi", f"echo x > {SHARED}")
    assert project.hook("pre-tool-use", sent, host).answer == {}
    assert "it is read-only" in project.hook("pre-tool-use", sent.replace("developer", "reviewer"), host).denied


@pytest.mark.parametrize("host", ["claude", "gemini"])
@pytest.mark.parametrize("name", ["pre-tool-use-write", "pre-tool-use-edit"])
def test_what_hosts_really_send_is_understood(project, host, name):
    sent = json.loads(project.recorded(host, name, agent_type="reviewer"))
    assert project.hook("pre-tool-use", sent, host) == ({}, "")
    sent["tool_input"]["file_path"] = str(project.root / SHARED)
    assert "it is read-only" in project.hook("pre-tool-use", sent, host).denied


@pytest.mark.parametrize("tool", [*TIER_TOOLS, *RECORD_TOOLS], ids=lambda tool: tool.name)
def test_a_read_only_agent_may_call_each_tool_of_the_server_that_does_not_write(judge, tool):
    for spelt in (f"mcp__agent-memory__{tool.name}", f"mcp_agent-memory_{tool.name}"):
        assert bool(judge(spelt, {}, "reviewer")) == tool.writes


FOREIGN = {
    "mcp__git__git_checkout": {"files": [SHARED]},
    "mcp__git__restore": {"paths": [SHARED]},
    "mcp__x__apply": {"patch": f"--- a/{SHARED}\n+++ b/{SHARED}\n@@ -1 +1 @@\n-a\n+b\n"},
}


@pytest.mark.parametrize("tool", FOREIGN)
def test_a_foreign_tool_that_puts_a_file_back_or_applies_a_patch_writes(judge, tool):
    assert "it is read-only" in judge(tool, FOREIGN[tool], "reviewer")
    other = json.loads(json.dumps(FOREIGN[tool]).replace(SHARED, "src/main.py"))
    assert judge(tool, other, "reviewer") == ""

"""Which agents are read-only, by their definition or by the settings."""

import os
from pathlib import Path

import pytest

from agent_memory_protocol.disk.files import Root
from agent_memory_protocol.project.agents import read_only_reason, split_tools
from agent_memory_protocol.project.settings import Settings, load_settings
from tests.each_row import each_row

BY_DEFAULT = "the setting access.read_only names it (by default) and no agent definition says otherwise"


@pytest.fixture
def reason(tmp_path):
    """Ask why an agent of the project at `tmp_path` is read-only."""

    def reason(agent: str, settings: Settings | None = None, **environ: str) -> str | None:
        with Root.open(str(tmp_path)) as root:
            return read_only_reason(root, agent, settings or Settings(), environ=environ)

    return reason


def define(folder: Path, file: str, *lines: str, name: str = "agent") -> Path:
    path = folder / file
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("\n".join(["---", f"name: {name}", *lines, "---", "You are an agent.", ""]), encoding="utf-8")
    return path


def project(tmp_path: Path) -> Path:
    return tmp_path / ".claude" / "agents"


@pytest.mark.requirement("S4-52", "S4P-03")
@pytest.mark.parametrize(
    "lines",
    [
        pytest.param(["disallowedTools: Write, Edit"], id="comma"),
        pytest.param(["disallowedTools:   WRITE ,edit  "], id="case-and-spaces"),
        pytest.param(["disallowedTools: Write Edit"], id="blanks"),
        pytest.param(["disallowedTools: [Write, Edit]"], id="in-line-list"),
        pytest.param(["disallowedTools:", "  - Write", "  - Edit  # no changes"], id="list"),
        pytest.param(["disallowedTools:", '- "Write"', "- 'Edit'"], id="unindented-list"),
        pytest.param(["disallowed-tools: Write, Edit"], id="other-spelling-of-the-key"),
        pytest.param(["disallowedTools: Write, Edit, NotebookEdit, Bash(rm:*, mv:*)"], id="more"),
        pytest.param(["disallowedTools: Write(*), Edit(**)"], id="patterns-that-take-all"),
        pytest.param(['disallowedTools: "*"'], id="all"),
        pytest.param(["tools: Read, Grep, Bash"], id="allowlist"),
        pytest.param(["tools: [Read, Grep]"], id="allowlist-in-line"),
        pytest.param(["tools:", "  - Read", "  - Bash(cat Write, Edit)"], id="named-only-inside-a-pattern"),
        pytest.param(["tools: Read, MultiEdit, NotebookEdit"], id="other-editing-tools-do-not-count"),
        pytest.param(["tools: []"], id="no-tool"),
        pytest.param(["tools: Read, Write", "disallowedTools: [Write]"], id="the-rest-of-both"),
        pytest.param(["tools: Read, Write, Edit", "disallowedTools: Edit, Write"], id="taken-back"),
    ],
)
def test_an_agent_left_without_write_and_edit_is_read_only(tmp_path, reason, lines):
    define(project(tmp_path), "agent.md", *lines)
    assert reason("agent") == ".claude/agents/agent.md gives it neither Write nor Edit"


@pytest.mark.requirement("S4-52", "S4P-03")
@pytest.mark.parametrize(
    "lines",
    [
        pytest.param([], id="no-tools-key-is-all-tools"),
        pytest.param(["disallowedTools: Edit"], id="write-is-left"),
        pytest.param(["disallowedTools: [Write]"], id="edit-is-left"),
        pytest.param(["disallowedTools: Write(secrets/**), Edit"], id="a-pattern-takes-a-part"),
        pytest.param(["disallowedTools:"], id="nothing-taken"),
        pytest.param(["tools: Read, write"], id="allowlist"),
        pytest.param(["tools: Bash(git add:*, git commit:*), Edit"], id="after-a-pattern-with-commas"),
        pytest.param(["tools: [Bash(git add:*, git commit:*), Edit]"], id="the-same-in-a-list"),
        pytest.param(["tools: Write(docs/**)"], id="a-pattern-grants"),
        pytest.param(['tools: "*"'], id="all"),
        pytest.param(["tools: [Read, Write]", "disallowedTools:", "  - Edit"], id="both"),
        pytest.param(["description: |", "  tools: Read", "  disallowedTools: Write, Edit"], id="only-in-the-prose"),
    ],
)
def test_an_agent_that_keeps_write_or_edit_is_not(tmp_path, reason, lines):
    define(project(tmp_path), "agent.md", *lines)
    assert reason("agent") is None


@pytest.mark.requirement("S4-53")
@pytest.mark.parametrize("agent", ["architect", "reviewer", "Reviewer"])
def test_architect_and_reviewer_are_read_only_without_a_definition(reason, agent):
    assert reason(agent) == BY_DEFAULT
    assert reason("developer") is None


@pytest.mark.requirement("S4-53")
@pytest.mark.parametrize("agent", ["architect", "Architect"])
def test_a_definition_that_leaves_write_overrides_the_default(tmp_path, reason, agent):
    define(project(tmp_path), "architect.md", "tools: Read, Write", "disallowedTools: [Edit]", name="architect")
    assert reason(agent) is None
    assert reason("reviewer") == BY_DEFAULT


def test_the_settings_name_other_agents(tmp_path, reason):
    (tmp_path / ".scaffolding").mkdir()
    (tmp_path / ".scaffolding" / "amp.toml").write_text('[access]\nread_only = ["Auditor"]')
    with Root.open(str(tmp_path)) as root:
        settings = load_settings(root, {})
    assert reason("architect", settings) is None
    assert reason("auditor", settings) == (
        "the setting access.read_only names it (.scaffolding/amp.toml) and no agent definition says otherwise"
    )


def test_the_name_in_the_header_decides_and_not_that_of_the_file(tmp_path, reason):
    define(project(tmp_path), "developer.md", "tools: Read", name="tester")
    assert reason("developer") is None
    assert reason("tester") == ".claude/agents/developer.md gives it neither Write nor Edit"


def test_without_a_name_in_the_header_that_of_the_file_decides(tmp_path, reason):
    path = define(project(tmp_path), "tester.md", "tools: Read")
    path.write_text("---\ntools: Read\n---\n")
    assert reason("tester") == ".claude/agents/tester.md gives it neither Write nor Edit"


@pytest.mark.parametrize("written", ["José", "jose\u0301", '"JOSÉ"', "'josé'  # the reviewer"])
def test_names_are_compared_without_case_and_unicode_form(tmp_path, reason, written):
    define(project(tmp_path), "x.md", "tools: Read", name=written)
    assert reason("josé")
    assert reason("jose") is None


def test_definitions_are_found_in_subfolders(tmp_path, reason):
    define(project(tmp_path), "team/review/lead.md", "tools: Read", name="lead")
    assert reason("lead") == ".claude/agents/team/review/lead.md gives it neither Write nor Edit"


@pytest.mark.parametrize(("mode", "reads"), [("read-only", True), ("workspace-write", False), (None, False)])
def test_a_definition_of_codex_is_read_only_where_its_sandbox_is(tmp_path, reason, mode, reads):
    file = tmp_path / ".codex" / "agents" / "x.toml"
    file.parent.mkdir(parents=True)
    file.write_text('name = "auditor"\n' + (f'sandbox_mode = "{mode}"\n' if mode else ""))
    assert reason("auditor") == (".codex/agents/x.toml gives it neither Write nor Edit" if reads else None)
    file.write_text("name = [")
    assert reason("auditor") is None


def test_plugins_come_after_the_project(tmp_path, reason):
    plugins = tmp_path / ".claude" / "plugins"
    define(plugins / "one" / "agents", "reviewer.md", name="reviewer")
    define(plugins / "two" / "agents", "auditor.md", "tools: Read", name="auditor")
    define(plugins / "two" / "elsewhere", "tester.md", "tools: Read", name="tester")
    assert reason("reviewer") is None
    assert reason("auditor") == ".claude/plugins/two/agents/auditor.md gives it neither Write nor Edit"
    assert reason("tester") is None
    define(project(tmp_path), "reviewer.md", "tools: Read", name="reviewer")
    define(project(tmp_path), "auditor.md", name="auditor")
    assert reason("reviewer") == ".claude/agents/reviewer.md gives it neither Write nor Edit"
    assert reason("auditor") is None


def test_the_plugin_that_the_host_names_is_asked_last(tmp_path, reason, tmp_path_factory):
    plugin = tmp_path_factory.mktemp("plugin")
    path = define(plugin / "agents", "auditor.md", "tools: Read", name="auditor")
    assert reason("auditor", CLAUDE_PLUGIN_ROOT=str(plugin)) == f"{path} gives it neither Write nor Edit"
    assert reason("auditor", CLAUDE_PLUGIN_ROOT="") is None
    assert reason("reviewer", CLAUDE_PLUGIN_ROOT=str(plugin / "missing")) == BY_DEFAULT
    define(tmp_path / ".claude/plugins/own/agents", "auditor.md", name="auditor")
    assert reason("auditor", CLAUDE_PLUGIN_ROOT=str(plugin)) is None


def test_of_two_definitions_of_one_agent_the_stricter_holds(tmp_path, reason):
    define(project(tmp_path), "a.md", name="agent")
    define(project(tmp_path), "b.md", "tools: Read", name="Agent")
    assert reason("agent") == ".claude/agents/b.md gives it neither Write nor Edit"


@pytest.mark.parametrize(
    "content",
    [
        pytest.param(b"", id="empty"),
        pytest.param(b"You review code.\n", id="no-header"),
        pytest.param(b"---\nname: reviewer\ntools: Read, Write\n", id="never-closed"),
        pytest.param(b"---\nname: reviewer\ntools:\n  write: true\n---\n", id="tools-as-a-table"),
        pytest.param(b"---\n" + b"a: b\n" * 300_000 + b"---\n", id="too-large"),
    ],
)
def test_a_definition_that_cannot_be_read_leaves_it_to_the_settings(tmp_path, reason, content):
    for name in ("reviewer", "developer"):
        define(project(tmp_path), f"{name}.md").write_bytes(content)
        define(tmp_path / ".claude/plugins/p/agents", "other.md")
    assert reason("reviewer") == BY_DEFAULT
    assert reason("developer") is None


def test_a_projects_unreadable_definition_is_not_replaced_by_a_plugins(tmp_path, reason):
    define(tmp_path / ".claude/plugins/p/agents", "reviewer.md", name="reviewer")
    assert reason("reviewer") is None
    project(tmp_path).mkdir()
    (project(tmp_path) / "reviewer.md").symlink_to("/etc/hostname")
    assert reason("reviewer") == BY_DEFAULT


def test_odd_things_among_the_definitions_do_no_harm(tmp_path, reason):
    folder = project(tmp_path)
    define(folder, "latin.md", "description: caf\udce9".encode("utf-8", "surrogateescape").decode("latin-1"), name="x")
    (folder / "latin1.md").write_bytes(
        b"\xef\xbb\xbf---\r\nname: latin\r\ndescription: caf\xe9\r\ntools: Read\r\n---\r\n"
    )
    os.mkfifo(folder / "pipe.md")
    (folder / "folder.md").mkdir()
    (folder / "loop").symlink_to(folder)
    (folder / "other").symlink_to("loop")
    (folder / "gone.md").symlink_to("nowhere")
    assert reason("latin") == ".claude/agents/latin1.md gives it neither Write nor Edit"
    assert reason("reviewer") == BY_DEFAULT
    assert reason("pipe") is None


@pytest.mark.parametrize("place", [".claude", ".claude/agents", ".claude/plugins"])
def test_a_file_in_place_of_a_folder_does_no_harm(tmp_path, reason, place):
    path = tmp_path / place
    path.parent.mkdir(exist_ok=True)
    path.write_text("a file")
    assert reason("reviewer") == BY_DEFAULT


def test_a_file_name_that_hides_something_is_shown_escaped(tmp_path, reason):
    define(project(tmp_path), "a\u202eb.md", "tools: Read", name="agent")
    assert reason("agent") == ".claude/agents/a\\u202eb.md gives it neither Write nor Edit"


@each_row(
    "text, names",
    [
        ("", []),
        (" , ,", []),
        ("Read,Write", ["read", "write"]),
        ("Bash(a, b (c, d), e), Edit", ["bash(a, b (c, d), e)", "edit"]),
        ("Read), Write", ["read)", "write"]),
        ("Bash(never closed, Write", ["bash(never closed, write"]),
    ],
)
def test_tools_are_split_outside_parentheses(text, names):
    assert split_tools(text) == names


@pytest.mark.parametrize(
    ("path", "header", "writes"),
    [
        (".qwen/agents/auditor.md", "tools:\n  - read_file\n  - grep_search", False),
        (".qwen/agents/auditor.md", "tools:\n  - read_file\n  - write_file", True),
        (".gemini/agents/auditor.md", "tools: [read_file, replace]", True),
        (".cursor/agents/auditor.md", "readonly: true", False),
        (".cursor/agents/auditor.md", "readonly: false", True),
        (".github/agents/auditor.agent.md", 'tools: ["read", "search"]', False),
        (".github/agents/auditor.agent.md", 'tools: ["read", "edit"]', True),
        (".opencode/agent/auditor.md", "mode: subagent", True),
    ],
)
def test_the_definitions_of_other_hosts_decide_too(tmp_path, reason, path, header, writes):
    (tmp_path / path).parent.mkdir(parents=True)
    (tmp_path / path).write_text(f"---\ndescription: audits\n{header}\n---\n")
    assert (reason("auditor") is None) is writes

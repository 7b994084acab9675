"""The hosts' own programs, with what `amp install` put into their settings and a model that follows a script.

They run with `-m hosts`, for each of `claude`, `codex` and `gemini` that the PATH has; no network is needed.
"""

import html
import os
import shutil
import subprocess
from pathlib import Path

import pytest

from .model import Answer, running

pytestmark = pytest.mark.hosts

NEW = ".scaffolding/agent-memory/agents/tester/MEMORY.md"
FINDINGS = "Looked.\n\n```memory-findings\n- shared: Staging runs Postgres 14.\n```\n"
PROGRAMS = {name: shutil.which(name) or "" for name in ("claude", "codex", "gemini")}


def has(host):
    return pytest.mark.skipif(not PROGRAMS[host], reason=f"{host} is not installed")


HOSTS = [pytest.param(host, marks=has(host)) for host in PROGRAMS]


class Host:
    """One host in one project, with memory installed into it."""

    def __init__(self, name, project):
        self.name = name
        self.project = project
        subprocess.run(["git", "init", "-q"], cwd=project.root, check=True)
        scripts = project.script.parent
        self.environ = {
            **project.environ(),
            "PATH": f"{scripts}{os.pathsep}{os.environ['PATH']}",
            "IS_SANDBOX": "1",
            "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
            "ANTHROPIC_API_KEY": "none",
            "GEMINI_API_KEY": "none",
            "OPENAI_API_KEY": "none",
            "GEMINI_CLI_TRUST_WORKSPACE": "true",
        }
        subprocess.run(
            [scripts / "amp", "install", name], cwd=project.root, env=self.environ, check=True, capture_output=True
        )

    def run(self, *script: Answer, environ=None):
        """Let the model say this, and return everything that it was sent."""
        with running(script) as model:
            url = f"http://127.0.0.1:{model.port}"
            environ = {
                **self.environ,
                "ANTHROPIC_BASE_URL": url,
                "GOOGLE_GEMINI_BASE_URL": url,
                **(environ or {}),
            }
            done = subprocess.run(
                self.command(url),
                cwd=self.project.root,
                env=environ,
                stdin=subprocess.DEVNULL,
                capture_output=True,
                encoding="utf-8",
                timeout=180,
                check=False,
            )
        assert done.returncode == 0, done.stdout + done.stderr
        return html.unescape(model.heard)

    def command(self, url):
        program = PROGRAMS[self.name]
        if self.name == "claude":
            flags = ["--permission-mode", "acceptEdits", "--allowedTools", "Bash,Write,Edit,Agent"]
            return [program, "-p", "hello", *flags]
        if self.name == "gemini":
            settings = Path(self.environ["HOME"]) / ".gemini" / "settings.json"
            settings.parent.mkdir(exist_ok=True)
            settings.write_text('{"security": {"auth": {"selectedType": "gemini-api-key"}}}')
            return [program, "--approval-mode", "yolo", "-m", "gemini-2.5-flash", "-p", "hello"]
        home = Path(self.environ["HOME"]) / ".codex"
        home.mkdir(exist_ok=True)
        (home / "config.toml").write_text(
            'model = "none"\nmodel_provider = "here"\n'
            f'[model_providers.here]\nname = "here"\nbase_url = "{url}/v1"\nwire_api = "responses"\n'
            f'[projects."{self.project.root}"]\ntrust_level = "trusted"\n'
        )
        flags = ["--dangerously-bypass-approvals-and-sandbox", "--dangerously-bypass-hook-trust"]
        return [program, "exec", *flags, "hello"]

    def write(self, path, text):
        """Return the tool call by which this host's model writes a file."""
        if self.name == "codex":
            added = "".join(f"+{line}\n" for line in text.splitlines())
            patch = f"*** Begin Patch\n*** Add File: {path}\n{added}*** End Patch\n"
            return "exec_command", {"cmd": f"apply_patch <<'EOF'\n{patch}EOF"}
        tool = "write_file" if self.name == "gemini" else "Write"
        return tool, {"file_path": str(self.project.root / path), "content": text}


@pytest.fixture
def host(request, project):
    return Host(request.param, project)


@pytest.mark.requirement("S4-26")
@pytest.mark.parametrize("host", HOSTS, indirect=True)
def test_the_model_is_given_the_memory(host):
    heard = host.run("done")
    assert "- The shared fact." in heard
    assert "The own fact." not in heard


@pytest.mark.requirement("S4-54", "S4-59")
@pytest.mark.parametrize("host", HOSTS, indirect=True)
def test_the_model_is_told_why_a_write_is_denied(host):
    heard = host.run(host.write(NEW, "- x\n"), "done", environ={"AMP_AGENT": "reviewer"})
    assert "it is read-only" in heard
    heard = host.run(host.write(NEW, "- x\n" * 300), "done")
    assert "would have 300 lines, 200 are allowed" in heard
    assert not (host.project.root / NEW).exists()


@pytest.mark.parametrize("host", HOSTS, indirect=True)
def test_an_ordinary_write_goes_on(host):
    host.run(host.write("notes.txt", "a note\n"), "done")
    assert (host.project.root / "notes.txt").read_text() == "a note\n"


@pytest.mark.parametrize("host", HOSTS, indirect=True)
def test_who_changed_files_is_reminded_and_the_host_takes_it(host):
    host.project.write(".scaffolding/amp.toml", '[hooks]\nreminder = "block"\n')
    heard = host.run(host.write("notes.txt", "a note\n"), "done", "really done")
    assert "nothing was added to this repository's agent memory" in heard


@pytest.mark.requirement("S4-23", "S4-57")
@has("claude")
@pytest.mark.parametrize("host", ["claude"], indirect=True)
def test_a_subagent_has_its_memory_and_its_findings_are_kept(host):
    host.project.write(
        ".claude/agents/developer.md", "---\nname: developer\ndescription: develops\n---\nYou develop.\n"
    )
    call = ("Agent", {"description": "x", "prompt": "look", "subagent_type": "developer"})
    heard = host.run(call, FINDINGS, "done", environ={"AMP_CONVERSATION": "c1"})
    assert "- The own fact." in heard
    text = (host.project.root / ".scaffolding/conversations/c1/agent-memory/context.md").read_text()
    assert "Staging runs Postgres 14. (reported by developer, meant for shared)" in text


@pytest.mark.parametrize("host", HOSTS, indirect=True)
def test_a_host_finds_the_skill(host):
    if host.name == "gemini":
        done = subprocess.run(
            [PROGRAMS["gemini"], "skills", "list"],
            cwd=host.project.root,
            env=host.environ,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            encoding="utf-8",
            timeout=120,
            check=False,
        )
        assert "agent-memory" in done.stdout + done.stderr
    else:
        assert "3-tier persistent memory protocol" in host.run("done")

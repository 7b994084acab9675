"""The hosts' own programs, with what `amp install` put into their settings and a model that follows a script.

They run with `-m hosts`, for each host that the PATH has; what it lacks, npm installs once, where npm is there, with a
Node that is new enough for all of them. The programs themselves need no network.
"""

import html
import json
import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from agent_memory_protocol.hosts import table

from .model import Answer, running

pytestmark = pytest.mark.hosts

SECONDS = 900
"""opencode fetches a package of its own at its first start, for each folder with settings of its own."""

NEW = ".scaffolding/agent-memory/agents/tester/MEMORY.md"
FINDINGS = "Looked.\n\n```memory-findings\n- shared: Staging runs Postgres 14.\n```\n"
PACKAGES = {
    "claude": "@anthropic-ai/claude-code",
    "codex": "@openai/codex",
    "gemini": "@google/gemini-cli",
    "qwen": "@qwen-code/qwen-code",
    "copilot": "@github/copilot",
    "opencode": "opencode-ai",
}
NODE = 22
"""The version of Node that the newest of these packages needs."""

HOSTS = [*PACKAGES]
SUBAGENTS = ["claude", "qwen", "copilot", "opencode"]
"""The hosts that tell hooks which agent works."""


@pytest.fixture(scope="session")
def programs(tmp_path_factory):
    """Return where each host's program is, installed if need be; hosts that cannot be had are left out."""
    found = {name: shutil.which(name) for name in PACKAGES}
    lacking = [PACKAGES[name] for name, path in found.items() if not path]
    if lacking and shutil.which("npm"):
        folder = tmp_path_factory.mktemp("npm")
        install = ["npm", "install", "--no-audit", "--no-fund", "--foreground-scripts", "--prefix", folder]
        if _version("node") < (NODE,):  # npm would take an older program for an older Node
            subprocess.run([*install, f"node@{NODE}"], check=False, capture_output=True, timeout=900)
            os.environ["PATH"] = f"{folder / 'node_modules' / 'node' / 'bin'}{os.pathsep}{os.environ['PATH']}"
        subprocess.run([*install, *lacking], check=False, capture_output=True, timeout=900)
        for script in folder.glob("node_modules/@anthropic-ai/claude-code/install.cjs"):
            subprocess.run(["node", script], cwd=script.parent, check=False, capture_output=True, timeout=300)
        found |= {
            name: shutil.which(name, path=folder / "node_modules" / ".bin") or path for name, path in found.items()
        }
    return {name: path for name, path in found.items() if path}


class Host:
    """One host in one project, with memory installed into it."""

    def __init__(self, name, project, program):
        self.name = name
        self.program = program
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
            "ANTHROPIC_MODEL": "m",
            "COPILOT_OFFLINE": "true",
            "COPILOT_AUTO_UPDATE": "false",
            "COPILOT_PROVIDER_TYPE": "anthropic",
            "COPILOT_PROVIDER_API_KEY": "none",
            "COPILOT_MODEL": "m",
            "OPENCODE_DISABLE_AUTOUPDATE": "1",
            "OPENCODE_DISABLE_MODELS_FETCH": "1",
        }
        settings = project.home / ".gemini" / "settings.json"
        settings.parent.mkdir()
        settings.write_text('{"security": {"auth": {"selectedType": "gemini-api-key"}}}')
        self.amp("install", name)

    def amp(self, *words):
        """Run a command of ours."""
        command = [self.project.script.with_name("amp"), *words]
        subprocess.run(command, cwd=self.project.root, env=self.environ, check=True, capture_output=True)

    def run(self, *script: Answer, environ=None, prompt="hello", more=(), cwd=None):
        """Let the model say this, and return everything that it was sent."""
        with running(script) as model:
            url = f"http://127.0.0.1:{model.port}"
            environ = {
                **self.environ,
                "ANTHROPIC_BASE_URL": url,
                "GOOGLE_GEMINI_BASE_URL": url,
                "COPILOT_PROVIDER_BASE_URL": url,
                "PWD": str(cwd or self.project.root),  # opencode believes it
                **(environ or {}),
            }
            # Into a file: what a host leaves running would hold a pipe open.
            with (self.project.home / "said.txt").open("wb") as said:
                done = subprocess.run(
                    [*self.command(url), prompt, *more],
                    cwd=cwd or self.project.root,
                    env=environ,
                    stdin=subprocess.DEVNULL,
                    stdout=said,
                    stderr=subprocess.STDOUT,
                    timeout=SECONDS,
                    check=False,
                )
        assert done.returncode == 0, (self.project.home / "said.txt").read_text(errors="replace")
        self.sent = [html.unescape(request) for request in model.sent]
        return html.unescape(model.heard)

    def command(self, url):
        program = self.program
        if self.name == "claude":
            return [program, "--permission-mode", "acceptEdits", "--allowedTools", "Bash,Write,Edit,Agent", "-p"]
        if self.name == "gemini":
            return [program, "--approval-mode", "yolo", "-m", "gemini-2.5-flash", "-p"]
        if self.name == "qwen":
            return [program, "--auth-type", "anthropic", "--model", "m", "--approval-mode", "yolo", "-p"]
        if self.name == "copilot":
            return [program, "--allow-all-tools", "--trust-folder", "-p"]
        if self.name == "opencode":
            provider = {"options": {"baseURL": f"{url}/v1", "apiKey": "none"}}
            model = "anthropic/claude-sonnet-4-5"
            chosen = {
                "model": model,
                "small_model": model,
                "permission": "allow",
                "snapshot": False,
                "autoupdate": False,
                "provider": {"anthropic": provider},
            }
            (self.project.root / "opencode.json").write_text(json.dumps(chosen))
            return [program, "run"]
        home = Path(self.environ["HOME"]) / ".codex"
        home.mkdir(exist_ok=True)
        (home / "config.toml").write_text(
            'model = "none"\nmodel_provider = "here"\n'
            f'[model_providers.here]\nname = "here"\nbase_url = "{url}/v1"\nwire_api = "responses"\n'
            f'[projects."{self.project.root}"]\ntrust_level = "trusted"\n'
        )
        flags = ["--dangerously-bypass-approvals-and-sandbox", "--dangerously-bypass-hook-trust"]
        return [program, "exec", "--skip-git-repo-check", *flags]

    def write(self, path, text):
        """Return the tool call by which this host's model writes a file."""
        if self.name == "codex":
            added = "".join(f"+{line}\n" for line in text.splitlines())
            patch = f"*** Begin Patch\n*** Add File: {path}\n{added}*** End Patch\n"
            return "exec_command", {"cmd": f"apply_patch <<'EOF'\n{patch}EOF"}
        full = str(self.project.root / path)
        if self.name == "copilot":
            return "create", {"path": full, "file_text": text}
        if self.name == "opencode":
            return "write", {"filePath": full, "content": text}
        return "Write" if self.name == "claude" else "write_file", {"file_path": full, "content": text}

    def define(self, agent):
        """Define an agent as this host reads it, and return the tool call that starts it."""
        folder, name = {
            "claude": (".claude/agents", f"{agent}.md"),
            "qwen": (".qwen/agents", f"{agent}.md"),
            "copilot": (".github/agents", f"{agent}.agent.md"),
            "opencode": (".opencode/agent", f"{agent}.md"),
        }[self.name]
        header = "mode: subagent\n" if self.name == "opencode" else f"name: {agent}\n"
        self.project.write(f"{folder}/{name}", f"---\n{header}description: develops\n---\nYou develop.\n")
        tool = {"claude": "Agent", "qwen": "agent"}.get(self.name, "task")
        key = "agent_type" if self.name == "copilot" else "subagent_type"
        return tool, {"description": "x", "prompt": "look", key: agent, "name": "x", "run_in_background": False}


def _version(program):
    """Return the version that a program says it is of, as numbers."""
    said = subprocess.run([program, "--version"], capture_output=True, encoding="utf-8", timeout=60, check=False).stdout
    return tuple(map(int, re.findall(r"\d+", said)[:2]))


@pytest.fixture
def host(request, project, programs):
    if request.param not in programs:
        pytest.skip(f"{request.param} is not installed")
    if request.param == "qwen" and _version(programs["qwen"]) < (0, 24):
        pytest.skip("Qwen Code before 0.24 gives its model nothing of a hook; later ones need Node 22")
    return Host(request.param, project, programs[request.param])


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


@pytest.mark.parametrize("host", [one for one in HOSTS if one != "opencode"], indirect=True)
def test_who_changed_files_is_reminded_and_the_host_takes_it(host):
    host.project.write(".scaffolding/amp.toml", '[hooks]\nreminder = "block"\n')
    heard = host.run(host.write("notes.txt", "a note\n"), "done", "really done")
    assert "nothing was added to this repository's agent memory" in heard


@pytest.mark.requirement("S4-23", "S4-57")
@pytest.mark.parametrize("host", SUBAGENTS, indirect=True)
def test_a_subagent_has_its_memory_and_its_findings_are_kept(host):
    heard = host.run(host.define("developer"), FINDINGS, "done", environ={"AMP_CONVERSATION": "c1"})
    assert ("- The own fact." in heard) is ("subagent-start" in table.HOSTS[host.name].events)
    text = (host.project.root / ".scaffolding/conversations/c1/agent-memory/context.md").read_text()
    assert "Staging runs Postgres 14. (reported by developer, meant for shared)" in text


@pytest.mark.parametrize("host", HOSTS, indirect=True)
def test_a_host_finds_the_skill(host):
    if host.name == "gemini":
        done = subprocess.run(
            [host.program, "skills", "list"],
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


MIGRATIONS = f"- Keep migrations small: the June one locked the table for four minutes.{' Nobody could pay.' * 6}"


@pytest.mark.parametrize("host", [one for one in HOSTS if "prompt" in table.HOSTS[one].events], indirect=True)
def test_the_first_prompt_brings_what_it_is_about(host):
    others = "".join(f"- Topic {number} is behind a flag, {'e' * 140}.\n" for number in range(100))
    host.project.write(".scaffolding/agent-memory/shared/KNOWLEDGE.md", f"# Shared\n\n{MIGRATIONS}\n{others}")
    assert MIGRATIONS not in host.run("done")
    assert MIGRATIONS in host.run("done", prompt="Add a migration for a new column")


BROKEN = {
    "missing": None,
    "of a deleted environment": "#!/deleted/venv/bin/python\n",
    "killed": "#!/bin/sh\nkill -9 $$\n",
    "talking nonsense": "#!/bin/sh\necho '<html>'\necho nonsense >&2\nexit 2\n",
}


@pytest.mark.parametrize("host", HOSTS, indirect=True)
def test_a_broken_program_costs_the_host_nothing(host):
    host.run(host.write("notes.txt", "a note\n"), "done")
    usual = len(host.sent)
    folder = host.project.home / "bin"
    folder.mkdir()
    path = host.environ["PATH"].partition(os.pathsep)[2]
    for text in BROKEN.values():
        if text is not None:
            (folder / "amp-hook").write_text(text)
            (folder / "amp-hook").chmod(0o755)
        (host.project.root / "notes.txt").unlink()
        host.run(host.write("notes.txt", "a note\n"), "done", environ={"PATH": f"{folder}{os.pathsep}{path}"})
        assert (host.project.root / "notes.txt").read_text() == "a note\n"
        assert len(host.sent) <= usual


@pytest.mark.parametrize("host", HOSTS, indirect=True)
def test_both_scopes_give_one_block_and_the_person_s_holds_in_a_subfolder(host):
    host.amp("install", host.name, "--user")
    host.run("done")
    # Some hosts ask for a title of the session as well, and give no memory with that.
    assert max(request.count("- The shared fact.") for request in host.sent) == 1
    below = host.project.root / "src"
    below.mkdir()
    assert "- The shared fact." in host.run("done", cwd=below)


@pytest.mark.parametrize("host", ["gemini"], indirect=True)
def test_a_resumed_session_of_gemini_has_its_memory(host):
    host.run("done")
    assert "- The shared fact." in host.run("done", more=["--resume", "latest"])

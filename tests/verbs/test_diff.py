"""What changed in memory between two commits, as memory: for people, for a pull request, for programs."""

import json
import os
import re
import subprocess
import sys
from datetime import date
from pathlib import Path

import pytest
import yaml
from click.testing import CliRunner

from agent_memory_protocol import Actor, Workspace
from agent_memory_protocol.cli.main import amp
from agent_memory_protocol.errors import AgentMemoryError, InvalidArgument
from agent_memory_protocol.verbs.diff import KINDS

SHARED = ".scaffolding/agent-memory/shared/KNOWLEDGE.md"
REDIS = "- Redis needs AOF."
CI = Path(__file__).parents[2] / "docs" / "ci"


class Repository:
    def __init__(self, root):
        self.root = root
        self.workspace = Workspace.open(root, environ={"HOME": str(root)})
        self.git("init", "-q")

    def git(self, *args):
        named = ("-c", "user.name=t", "-c", "user.email=t@t", "-c", "commit.gpgsign=false")
        subprocess.run(["git", "-C", self.root, *named, *args], check=True, capture_output=True)

    def commit(self):
        self.git("add", "-A")
        self.git("commit", "-qm", "x")

    def told(self, *refs):
        """Return what changed: the kind, the text before, and the text."""
        return [(one.kind, one.before, one.text) for one in self.workspace.diff(*refs).differences]

    def run(self, *args):
        return CliRunner().invoke(amp, ["diff", *args, "--root", str(self.root)], env={"AMP_AGENT": None})


@pytest.fixture
def repository(tmp_path):
    made = Repository(tmp_path)
    for text in ("The queue is on port 8080.", "Goes.", "Stays.", "Redis needs AOF."):
        made.workspace.remember(text)
    made.commit()
    return made


def id_of(workspace, text):
    return next(one.id for one in workspace.entries() if text in one.text)


@pytest.mark.slow
def test_each_kind_of_change_is_told_once(repository):
    workspace = repository.workspace
    assert repository.told() == []
    workspace.remember("Comes.")
    workspace.forget([id_of(workspace, "Goes")], reason="It went.")
    workspace.edit(id_of(workspace, "Redis"), "Redis needs AOF on.")
    workspace.remember("The port is 9090.", replaces=id_of(workspace, "8080"))
    workspace.remember("Stays not.")
    workspace.dispute(id_of(workspace, "Stays."), id_of(workspace, "Stays not"))
    assert set(repository.told()) == {
        ("added", "", "- Comes."),
        ("added", "", "- The port is 9090."),
        ("added", "", "- [disputed] Stays not."),
        ("edited", "- Redis needs AOF.", "- Redis needs AOF on."),
        ("retired", "", "- Goes."),
        ("retired", "", "- The queue is on port 8080."),
        ("disputed", "", "- [disputed] Stays."),
    }
    found = {one.text: one for one in workspace.diff().differences}
    assert found["- Goes."].reason == "It went."
    assert found["- The queue is on port 8080."].by == id_of(workspace, "9090")
    repository.commit()
    assert repository.told() == []
    workspace.restore([one for one in workspace.restorable() if "Goes" in one.archived.taken.markdown])
    assert repository.told() == [("restored", "", "- Goes.")]
    assert len(repository.told("HEAD~1", "HEAD")) == 7


@pytest.mark.slow
@pytest.mark.parametrize(
    ("edit", "told"),
    [
        (lambda text: text.replace("needs", "always needs"), [("edited", REDIS, "- Redis always needs AOF.")]),
        (lambda text: text.replace("- Goes.\n", ""), [("retired", "", "- Goes.")]),
        (lambda text: text.replace("- Goes.\n", "") + "\n## Moved\n\n- Goes.\n", []),
        (lambda text: text.replace("- Stays.", "* Stays."), []),
        (lambda text: text.replace("- Stays.", "- [2026-01-02] Stays."), []),
    ],
    ids=["edited", "retired", "moved", "another bullet", "dated"],
)
def test_what_a_hand_did_is_told_by_what_it_means(repository, edit, told):
    path = repository.root / SHARED
    path.write_text(edit(path.read_text()))
    assert repository.told() == told


def test_a_label_is_told_with_its_items(repository):
    path = repository.root / SHARED
    path.write_text(path.read_text() + "\n**Never:**\n\n- push to main\n")
    assert repository.told() == [("added", "", "Never: push to main")]


def test_what_a_reviewer_looks_at_first_comes_first(repository):
    workspace = repository.workspace
    (repository.root / ".scaffolding/amp.toml").write_text("[limits]\nmax_lines = 9\n")
    path = repository.root / SHARED
    token = "ghp" + "_" + "Kq7Zt2Xw9Lm4Rb6Yc1Vn8Hd3Js5Pf0Ga7Ue2"
    path.write_text(path.read_text() + f"- The queue is on port 9090.\n- Log in with {token}.\n" + "- more\n" * 6)
    found = {one.rule for one in workspace.diff().findings}
    assert found == {"tier-changed", "secret", "tier-over-limit"}
    lines = repository.run().output.splitlines()
    assert [line[:2] for line in lines[:3]] == ["! "] * 3
    shown = [repository.run("--format", form).output for form in ("text", "markdown", "json")]
    assert not any(token in text for text in shown)
    assert all("(not shown: " in text for text in shown)
    assert all("- more" in text for text in shown)


def test_an_agent_that_writes_into_anothers_memory_is_named(repository):
    (repository.root / ".scaffolding/agent-memory/agents/dev").mkdir(parents=True)
    workspace = repository.workspace
    workspace.remember("Mine.", agent="dev", actor=Actor("dev"))
    assert not workspace.diff().findings


def test_notes_are_told_by_their_file(repository):
    workspace = repository.workspace
    workspace.new_note("feedback", "small", description="Small.", why="w", how="h")
    assert [one.id for one in workspace.diff().of("added") if one.id.endswith(".md")] == ["feedback_small.md"]
    repository.commit()
    workspace.remove_note("feedback_small")
    assert [one.id for one in workspace.diff().of("retired") if one.id.endswith(".md")] == ["feedback_small.md"]


@pytest.mark.slow
@pytest.mark.parametrize("ref", ["nowhere", "--output=x", "HEAD^{tree}"])
def test_an_unknown_commit_is_named(repository, ref):
    with pytest.raises(InvalidArgument, match="git knows no commit"):
        repository.workspace.diff(ref)


def test_without_a_commit_there_is_nothing_to_compare_with(tmp_path):
    subprocess.run(["git", "init", "--quiet", str(tmp_path)], check=True)
    with pytest.raises(InvalidArgument, match="this repository has no commit yet"):
        Workspace.open(tmp_path).diff()


def test_without_git_there_is_nothing_to_compare_with(tmp_path):
    with pytest.raises(AgentMemoryError, match="in no git repository"):
        Workspace.open(tmp_path, environ={}).diff()


def test_who_may_not_read_a_file_is_told_nothing_of_it(repository):
    repository.workspace.remember("Secret plans.", conversation="c1")
    told = repository.workspace.diff(actor=Actor("dev", "c2")).differences
    assert not [one for one in told if "Secret" in one.text]


def test_a_comment_pings_nobody_and_holds_no_html(repository):
    repository.workspace.remember("Ask @everyone, see <img src=x> and `code` [x](http://x).", dated=date(2026, 1, 2))
    line = repository.run("--format", "markdown").output.splitlines()[-1]
    assert line.startswith("- added: ``- [2026-01-02] Ask @everyone")
    assert line.endswith("``")


def test_the_json_answer_has_a_list_of_every_kind(repository):
    answer = json.loads(repository.run("--json").output)
    assert {*KINDS, "findings", "base", "head", "version"} == set(answer)


# -- the workflow files ------------------------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize(("name", "schema"), [("github", "vendor.github-workflows"), ("gitlab", "vendor.gitlab-ci")])
def test_the_workflow_files_are_valid_by_the_published_schemas(name, schema):
    command = [sys.executable, "-m", "check_jsonschema", "--builtin-schema", schema, CI / f"{name}.yml"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout


@pytest.mark.slow
@pytest.mark.parametrize("name", ["github", "gitlab"])
def test_the_commands_of_the_workflow_files_check_and_tell_what_changed(repository, name, tmp_path):
    """They run here as they stand. What installs and what posts is only noted."""
    file = yaml.safe_load((CI / f"{name}.yml").read_text())
    job = file["jobs"]["memory"]["steps"] if name == "github" else file["memory"]["script"]
    script = "\n".join(step if isinstance(step, str) else step.get("run", "") for step in job)
    repository.workspace.remember("Comes.")
    repository.commit()
    stubs = "".join(f'{tool}() {{ echo "{tool} $*" >> posted; }}\n' for tool in ("pip", "gh", "curl"))
    environ = {
        **os.environ,
        "GITHUB_BASE_REF": "main",
        "GITHUB_STEP_SUMMARY": "summary",
        "PULL_REQUEST": "7",
        "MEMORY_TOKEN": "x",
        "CI_MERGE_REQUEST_IID": "7",
        "CI_MERGE_REQUEST_DIFF_BASE_SHA": "HEAD~1",
        "AMP": "agent-memory-protocol",
        "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
        "HOME": str(tmp_path),
        "CI_API_V4_URL": "https://host.example",
        "CI_PROJECT_ID": "1",
    }
    repository.git("update-ref", "refs/remotes/origin/main", "HEAD~1")
    done = subprocess.run(
        ["bash", "-euc", stubs + script], cwd=repository.root, env=environ, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert "added: `- Comes.`" in (repository.root / "memory.md").read_text()
    if name == "github":
        assert json.loads((repository.root / "memory.sarif").read_text())["version"] == "2.1.0"
    else:
        assert isinstance(json.loads((repository.root / "memory-findings.json").read_text()), list)
    assert re.search(r"^pip install agent-memory-protocol\n(gh|curl) ", (repository.root / "posted").read_text())

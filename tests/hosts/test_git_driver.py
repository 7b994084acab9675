"""Git merges memory with amp: real repositories, real branches, the program as it is installed."""

import os
import re
import shutil
import subprocess
import sysconfig
from datetime import date
from pathlib import Path

import pytest

from agent_memory_protocol import Workspace
from agent_memory_protocol.hosts import git_driver
from agent_memory_protocol.hosts.install import FileChange

FILE = ".scaffolding/agent-memory/shared/KNOWLEDGE.md"
SCRIPTS = sysconfig.get_path("scripts")


class Repository:
    def __init__(self, path: Path, environ: dict[str, str]) -> None:
        self.path = path
        self.environ = environ
        self.git("init", "-q", "-b", "main")
        self.workspace.init()
        self.workspace.remember("The first fact.")
        self.commit("first")

    @property
    def workspace(self) -> Workspace:
        return Workspace.open(self.path, environ=self.environ)

    def run(self, *command: str) -> "subprocess.CompletedProcess[str]":
        return subprocess.run(command, cwd=self.path, env=self.environ, capture_output=True, text=True, check=False)

    def git(self, *args: str) -> str:
        done = self.run("git", *args)
        assert done.returncode == 0, done.stderr
        return done.stdout

    def commit(self, message: str) -> None:
        self.git("add", ".")
        self.git("commit", "-q", "-m", message)

    def install(self, *, installs: bool = True) -> list[FileChange]:
        plan = git_driver.plan(self.workspace, installs=installs)
        plan.carry_out()
        return plan.changes

    def uninstall(self) -> list[FileChange]:
        return self.install(installs=False)

    def branches(self, ours: str, theirs: str) -> None:
        """Have each of two branches remember something, and end on ours."""
        self.git("checkout", "-q", "-b", "theirs")
        self.workspace.remember(theirs)
        self.commit("theirs")
        self.git("checkout", "-q", "main")
        self.workspace.remember(ours)
        self.commit("ours")

    @property
    def text(self) -> str:
        return (self.path / FILE).read_text()


@pytest.fixture
def repository(tmp_path):
    environ = {
        "HOME": str(tmp_path),
        "PATH": os.pathsep.join([SCRIPTS, os.environ["PATH"]]),
        "GIT_CONFIG_NOSYSTEM": "1",
        **{f"GIT_{who}_{what}": "t@example.invalid" for who in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")},
    }
    path = tmp_path / "project"
    path.mkdir()
    return Repository(path, environ)


@pytest.mark.slow
def test_what_two_branches_remember_is_merged_without_a_conflict(repository):
    repository.install()
    repository.commit("attributes")
    repository.branches("Ours is uv.", "Theirs is ruff.")
    assert repository.run("git", "merge", "theirs").returncode == 0
    assert repository.text.endswith("- The first fact.\n- Ours is uv.\n- Theirs is ruff.\n")
    assert repository.git("status", "--porcelain") == ""


def test_reviews_on_two_branches_are_no_conflict_and_the_last_one_counts(repository):
    for branch, day in (("theirs", date(2026, 5, 20)), ("main", date(2026, 3, 1))):
        repository.git("checkout", "-q", *(["-b"] if branch == "theirs" else []), branch)
        repository.workspace.record_review(today=day)
        repository.commit(branch)
    assert repository.run("git", "merge", "theirs").returncode == 0
    for today, is_due in ((date(2026, 6, 1), False), (date(2026, 7, 1), True)):
        assert bool(repository.workspace.check(select=["review-due"], today=today)) is is_due


def test_what_has_been_distilled_is_counted_here_and_is_no_change_of_the_repository(repository):
    (repository.path / ".scaffolding/conversations").mkdir(exist_ok=True)
    repository.workspace.remember("Gotcha: redis is slow at dawn.", conversation="c1")
    repository.workspace.apply_distillation(repository.workspace.plan_distillation())
    repository.commit("c1")
    assert "sightings" not in repository.run("git", "ls-files").stdout
    shutil.rmtree(repository.path / ".scaffolding/conversations/c1")
    repository.workspace.remember("Gotcha: redis is slow at dawn.", conversation="c2")
    (found,) = repository.workspace.plan_distillation().candidates
    assert "c1, c2" in found.reason


@pytest.mark.slow
def test_without_the_driver_the_same_is_a_conflict(repository):
    repository.branches("Ours is uv.", "Theirs is ruff.")
    assert repository.run("git", "merge", "theirs").returncode == 1
    assert "<<<<<<<" in repository.text


@pytest.mark.slow
def test_a_conflict_that_stands_already_is_resolved_by_the_commands_that_are_named(repository):
    repository.branches("Ours is uv.", "Theirs is ruff.")
    repository.run("git", "merge", "theirs")
    (finding,) = repository.workspace.check(select=["tier-conflict-markers"])
    refused = repository.run("amp", "remember", "x").stderr
    for told in (finding.message, refused):
        for command in re.findall("`([^`]+)`", told):
            assert repository.run(*command.split()).returncode == 0
    assert repository.text.endswith("- The first fact.\n- Ours is uv.\n- Theirs is ruff.\n")
    assert repository.run("amp", "remember", "x").returncode == 0


FAILING = {
    "missing": None,
    "broken": "#!/nowhere/python\n",
    "ends-with-a-traceback": "#!/bin/sh\nexit 1\n",
    "refuses": "#!/bin/sh\nexit 3\n",
    "killed": "#!/bin/sh\nkill -9 $$\n",
}


@pytest.mark.slow
@pytest.mark.parametrize("program", FAILING.values(), ids=FAILING)
def test_where_amp_is_missing_or_fails_git_merges_as_it_always_does(repository, tmp_path, program):
    repository.install()
    repository.commit("attributes")
    repository.branches("Ours is uv.", "Theirs is ruff.")
    repository.environ["PATH"] = os.environ["PATH"].replace(SCRIPTS, "")
    if program is not None:
        _put_first(repository, tmp_path, "agent-memory", program)
    assert repository.run("git", "merge", "theirs").returncode == 1
    assert repository.text.count("<<<<<<<") == 1
    assert "Ours is uv." in repository.text
    assert "Theirs is ruff." in repository.text


@pytest.mark.slow
def test_an_environment_that_amp_refuses_costs_no_side(repository):
    repository.install()
    repository.commit("attributes")
    repository.branches("Ours is uv.", "Theirs is ruff.")
    repository.environ["AMP_AGENT"] = "../.."
    repository.run("git", "merge", "theirs")
    assert "Ours is uv." in repository.text
    assert "Theirs is ruff." in repository.text


@pytest.mark.slow
def test_another_tool_that_is_called_amp_merges_nothing(repository, tmp_path):
    repository.install()
    repository.commit("attributes")
    repository.branches("Ours is uv.", "Theirs is ruff.")
    _put_first(repository, tmp_path, "amp", "#!/bin/sh\nexit 0\n")
    assert repository.run("git", "merge", "theirs").returncode == 0
    assert repository.text.endswith("- The first fact.\n- Ours is uv.\n- Theirs is ruff.\n")


def _put_first(repository: Repository, tmp_path: Path, name: str, program: str) -> None:
    """Have a program be found before any other of its name."""
    folder = tmp_path / "programs"
    folder.mkdir()
    (folder / name).write_text(program)
    (folder / name).chmod(0o755)
    repository.environ["PATH"] = os.pathsep.join([str(folder), repository.environ["PATH"]])


@pytest.mark.slow
def test_two_titles_are_left_to_a_person_between_markers(repository):
    repository.install()
    repository.commit("attributes")
    file = repository.path / FILE
    repository.git("checkout", "-q", "-b", "theirs")
    file.write_text(file.read_text().replace("# Shared Knowledge", "# Their title"))
    repository.commit("theirs")
    repository.git("checkout", "-q", "main")
    file.write_text(file.read_text().replace("# Shared Knowledge", "# Our title"))
    repository.commit("ours")
    assert repository.run("git", "merge", "theirs").returncode == 1
    assert repository.text.startswith("<<<<<<< ours\n# Our title\n=======\n# Their title\n>>>>>>> theirs\n")


def test_installing_twice_is_installing_once_and_uninstalling_leaves_nothing(repository):
    config, attributes = repository.path / ".git" / "config", repository.path / ".scaffolding" / ".gitattributes"
    before = config.read_text(), attributes.read_text()
    assert len(repository.install()) == 3
    assert repository.install() == []
    installed = config.read_text(), attributes.read_text()
    assert installed[1].startswith(before[1])
    assert len(repository.uninstall()) == 3
    assert repository.uninstall() == []
    assert attributes.read_text() == before[1]
    assert git_driver.NAME not in config.read_text()


@pytest.mark.slow
@pytest.mark.parametrize("verb", ["install", "uninstall"])
def test_a_dry_run_shows_what_would_be_done_and_does_nothing(repository, verb):
    if verb == "uninstall":
        repository.install()
    config, attributes = repository.path / ".git" / "config", repository.path / ".scaffolding" / ".gitattributes"
    before = config.read_bytes(), attributes.read_bytes()
    planned = repository.run("amp", verb, "git", "--dry-run")
    assert (planned.returncode, config.read_bytes(), attributes.read_bytes()) == (0, *before)
    assert planned.stderr == "amp: nothing was changed; leave out --dry-run to do this\n"
    sign = "+" if verb == "install" else "-"
    assert {f"{sign}{line}" for line in (*git_driver.ATTRIBUTES, git_driver.PROGRAM)} <= set(
        planned.stdout.splitlines()
    )
    done = repository.run("amp", verb, "git").stdout
    did = [("would create", "created"), ("would change", "changed"), ("would remove", "removed")]
    for would, has in did:
        planned.stdout = planned.stdout.replace(would, has)
    # Only a plan shows what is made or taken away as a whole.
    assert done == planned.stdout[planned.stdout.index("--- a/.scaffolding/.gitattributes") :]
    assert repository.run("amp", verb, "git", "--dry-run").stdout == "nothing to change\n"


def test_a_driver_that_someone_has_changed_is_shown_with_what_it_was(repository):
    repository.install()
    repository.git("config", "merge.amp-memory.driver", "other %A")
    (step,) = git_driver.plan(repository.workspace, installs=True).changes
    assert (step.name, step.what) == ("git config merge.amp-memory.driver", "change")
    assert f"-other %A\n+{git_driver.PROGRAM}\n" in step.diff


@pytest.mark.slow
def test_an_agent_writes_no_memory_by_merging_into_it(repository):
    file = repository.path / FILE
    (repository.path / "base.md").write_text("")
    (repository.path / "theirs.md").write_text("# Theirs\n\n- Planted.\n")
    before = file.read_bytes()
    done = repository.run("amp", "merge", "--as", "dev", "--write", "base.md", FILE, "theirs.md")
    assert (done.returncode, file.read_bytes()) == (3, before)
    assert "merge it with git" in done.stderr


@pytest.mark.slow
def test_by_hand_the_result_is_printed_and_nothing_is_changed(repository):
    (repository.path / "base.md").write_text("# S\n\n- a\n")
    (repository.path / "ours.md").write_text("# S\n\n- a\n- b\n")
    (repository.path / "theirs.md").write_text("# S\n\n- c\n")
    done = repository.run("amp", "merge", "base.md", "ours.md", "theirs.md")
    assert (done.returncode, done.stdout, done.stderr) == (0, "# S\n\n- b\n- c\n", "")
    assert (repository.path / "ours.md").read_text() == "# S\n\n- a\n- b\n"


@pytest.mark.slow
@pytest.mark.parametrize("missing", ["base.md", "ours.md", "theirs.md"])
def test_a_file_that_is_not_there_is_named(repository, missing):
    for name in {"base.md", "ours.md", "theirs.md"} - {missing}:
        (repository.path / name).write_text("# S\n")
    done = repository.run("amp", "merge", "base.md", "ours.md", "theirs.md")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == f"amp: {missing} is not there; name a file, or an empty one where there was none\n"


def test_outside_a_repository_installing_says_so(tmp_path):
    (tmp_path / ".scaffolding").mkdir()
    with pytest.raises(Exception, match="is it a git repository"):
        git_driver.plan(Workspace.open(tmp_path, environ={"HOME": str(tmp_path)}), installs=True)

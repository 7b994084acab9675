"""A container with another user id, and the folder mounted: what this user may read and write decides, and is said."""

import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

import click
import pytest

from agent_memory_protocol.layout import Target, Tier
from agent_memory_protocol.workspace import Workspace

from .test_local_state import EVIL as LOST
from .test_local_state import a_project

REPOSITORY = Path(__file__).parents[2]
DOCUMENT = Path(*Target(Tier.SHARED).parts)
OTHER = 12345
MODULES = os.pathsep.join([str(REPOSITORY), str(Path(click.__file__).parents[1])])
PYTHON = shutil.which("python3", path="/usr/bin:/usr/local/bin")

pytestmark = pytest.mark.slow


@pytest.fixture
def project(monkeypatch) -> Iterator[Path]:
    """Return a project of this user, with an entry that an editor has overwritten. Everybody may write there."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        folder.chmod(0o755)
        home = folder / "home"
        home.mkdir()
        os.chown(home, OTHER, OTHER)
        monkeypatch.setenv("XDG_STATE_HOME", str(folder / "state"))
        a_project(folder / "p")
        for path in [folder / "p", *(folder / "p").rglob("*")]:
            path.chmod(0o777 if path.is_dir() else 0o666)
        if PYTHON is None or as_other(folder / "p", "version").returncode:
            pytest.skip("another user has no Python here that can load the package")
        yield folder / "p"


@pytest.fixture(autouse=True)
def only_root() -> None:
    if os.geteuid() or not shutil.which("setpriv"):
        pytest.skip("only root can be another user")


def as_other(project: Path, *words: str) -> subprocess.CompletedProcess[str]:
    """Run a command as another user."""
    user = ["setpriv", f"--reuid={OTHER}", f"--regid={OTHER}", "--clear-groups"]
    environ = {"HOME": str(project.parent / "home"), "PYTHONPATH": MODULES, "PATH": os.environ["PATH"]}
    command = [*user, PYTHON or "", "-m", "agent_memory_protocol", *words]
    return subprocess.run(command, cwd=project, env=environ, capture_output=True, text=True, check=False)


def test_who_may_read_the_git_folder_heals_what_the_other_user_wrote(project):
    assert as_other(project, "sync", "--apply").returncode == 0
    assert LOST in (project / DOCUMENT).read_text()


def test_who_may_not_believes_nothing_and_says_so(project):
    (project / ".git" / "amp").chmod(0o700)
    assert "is not believed" in as_other(project, "where").stdout
    assert as_other(project, "remember", "A fact of the other user.").returncode == 0
    text = (project / DOCUMENT).read_text()
    assert "A fact of the other user." in text
    assert LOST not in text
    assert "was set aside" in as_other(project, "check").stdout
    Workspace.open(project, environ={}).remember("Mine again.")
    assert (project / DOCUMENT).read_text().count("fact of the other") == 1


@pytest.mark.parametrize("is_readable", [True, False], ids=["believed", "not believed"])
def test_who_may_not_write_reads_all_and_changes_nothing(project, is_readable):
    for path in [project, *project.rglob("*")]:
        path.chmod(0o755 if path.is_dir() else 0o644)
    (project / ".git" / "amp").chmod(0o755 if is_readable else 0o700)
    before = {path: path.read_bytes() for path in project.rglob("*") if path.is_file()}
    assert "Legit fact 3." in as_other(project, "recall").stdout
    refused = as_other(project, "remember", "A fact of the other user.")
    assert (refused.returncode, refused.stdout) == (4, "")
    assert "permission denied" in refused.stderr
    assert refused.stderr.count("\n") == 1
    assert before == {path: path.read_bytes() for path in project.rglob("*") if path.is_file()}


def test_who_can_keep_the_copy_nowhere_is_told_so(project):
    """Another write would not help, so nobody is told that it would."""
    shutil.rmtree(project / ".scaffolding" / ".amp")
    for folder in (".git", ".git/amp"):
        (project / folder).chmod(0o755)
    (project.parent / "home").chmod(0o555)
    assert as_other(project, "remember", "A fact of the other user.").returncode == 0
    for verb in ("where", "check", "doctor"):
        said = as_other(project, verb).stdout
        assert "neither the git folder nor the state folder can be written" in said
        assert "the next write" not in said

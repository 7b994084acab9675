"""Which folder is the project root, from where, and who says so."""

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from agent_memory_protocol import Actor, Workspace
from agent_memory_protocol.errors import Refused, StorageError
from agent_memory_protocol.project.root import FoundRoot, find_root

NEAREST = "the nearest folder with .scaffolding"
GIT_TOP = "the git top level"
MAIN = "the main checkout of this git worktree"
NOTHING = "the current folder (no git, no .scaffolding)"


@pytest.fixture
def home(tmp_path, monkeypatch):
    """A home folder apart from everything, and the environment of a person who has set nothing."""
    folder = tmp_path / "home"
    folder.mkdir()
    for name in ("AMP_ROOT", "AMP_DISABLE", "XDG_CONFIG_HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(folder))
    return folder


@pytest.fixture
def project(home):
    """A folder for a project, outside the home folder."""
    folder = home.parent / "project"
    folder.mkdir()
    return folder


def make(folder: Path, *below: str) -> Path:
    folder = folder.joinpath(*below)
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def git(*arguments: object, cwd: Path) -> None:
    command = ["git", "-c", "user.name=T", "-c", "user.email=t@example.org", "-c", "init.defaultBranch=main"]
    command += ["-c", "protocol.file.allow=always", *map(str, arguments)]
    subprocess.run(command, cwd=cwd, check=True, capture_output=True)


def commit(folder: Path) -> Path:
    make(folder)
    git("init", cwd=folder)
    git("commit", "--allow-empty", "-m", "Start", cwd=folder)
    return folder


def settings(folder: Path, text: str) -> Path:
    path = make(folder, ".scaffolding") / "amp.toml"
    path.write_text(text, encoding="utf-8")
    return path


def found(start: Path | None = None, **arguments: Any) -> tuple[Path, str]:
    root = find_root(start, **arguments)
    return Path(root.path), root.how


def watch_looks(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Return the list that every path looked at from now on is added to."""
    looked_at: list[str] = []
    real = os.stat

    def look(path: str, *, follow_symlinks: bool = True) -> os.stat_result:
        looked_at.append(path)
        return real(path, follow_symlinks=follow_symlinks)

    monkeypatch.setattr(os, "stat", look)
    return looked_at


# Climbing


def test_a_folder_with_scaffolding_is_its_own_root(project, monkeypatch):
    make(project, ".scaffolding")
    monkeypatch.chdir(project)
    assert found() == (project, NEAREST)


def test_subfolders_use_the_memory_above_them_and_nothing_is_created(project):
    make(project, ".scaffolding")
    deep = make(project, "src", "deep")
    before = sorted(project.rglob("*"))
    assert found(deep) == (project, NEAREST)
    assert sorted(project.rglob("*")) == before


def test_the_nearest_of_two_wins(project):
    make(project, ".scaffolding")
    make(project, "packages", "a", ".scaffolding")
    assert found(make(project, "packages", "a", "src"))[0] == project / "packages" / "a"
    assert found(make(project, "packages", "b"))[0] == project


def test_from_inside_the_memory_the_root_is_the_folder_that_holds_it(project):
    inside = make(project, ".scaffolding", "agent-memory", "shared")
    assert found(inside) == (project, NEAREST)
    assert found(project / ".scaffolding")[0] == project


def test_a_file_in_place_of_the_memory_folder_is_found_and_not_passed_by(project):
    make(project, ".scaffolding")
    inner = make(project, "inner")
    (inner / ".scaffolding").write_text("a file")
    assert found(inner)[0] == inner


def test_the_climb_ends_at_the_git_top_level(project):
    make(project, ".scaffolding")
    repository = commit(project / "repository")
    assert found(make(repository, "src")) == (repository, GIT_TOP)
    make(repository, ".scaffolding")
    assert found(repository / "src") == (repository, NEAREST)


def test_the_climb_ends_at_the_home_folder(home):
    make(home.parent, ".scaffolding")
    inside = make(home, "work")
    assert found(inside) == (inside, NOTHING)
    make(home, ".scaffolding")
    assert found(inside) == (home, NEAREST)


def test_the_home_folder_may_be_named_through_a_link(home, monkeypatch):
    make(home.parent, ".scaffolding")
    (home.parent / "link").symlink_to(home)
    monkeypatch.setenv("HOME", str(home.parent / "link"))
    inside = make(home, "work")
    assert found(inside) == (inside, NOTHING)


@pytest.mark.skipif(not os.path.ismount("/dev/shm"), reason="needs a second file system")
def test_the_climb_ends_at_a_mount_point(home, monkeypatch):
    inside = Path("/dev/shm")
    looked_at = watch_looks(monkeypatch)
    find_root(inside)
    assert "/dev/shm/.scaffolding" in looked_at
    assert "/dev/.scaffolding" not in looked_at


def test_without_git_and_memory_it_is_the_current_folder(project):
    assert found(project) == (project, NOTHING)


def test_a_start_through_a_link_is_where_the_link_leads(project):
    make(project, ".scaffolding")
    make(project, "src")
    (project.parent / "link").symlink_to(project / "src")
    assert found(project.parent / "link") == (project, NEAREST)


def test_a_start_that_is_gone_is_climbed_from_by_name(project):
    make(project, ".scaffolding")
    assert found(project / "removed" / "branch") == (project, NEAREST)


def test_a_deleted_current_folder_is_one_clear_error(project):
    code = (
        "import os\n"
        "from agent_memory_protocol.project.root import find_root\n"
        "os.rmdir(os.getcwd())\n"
        "try: find_root(environ={})\n"
        "except Exception as error: print(type(error).__name__, error)"
    )
    gone = make(project, "gone")
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[2])}
    command = [sys.executable, "-c", code]
    done = subprocess.run(command, cwd=gone, env=environment, capture_output=True, text=True, check=False)
    assert done.stdout.startswith("StorageError the current folder does not exist any more"), done.stderr
    assert "--root or AMP_ROOT" in done.stdout


# Worktrees


@pytest.fixture
def repository(project):
    return commit(project / "main")


def worktree(repository: Path, place: str = "../tree") -> Path:
    folder = Path(os.path.normpath(repository / place))
    git("worktree", "add", "--detach", folder, cwd=repository)
    return folder


@pytest.mark.requirement("S4P-04")
@pytest.mark.parametrize("place", ["../tree", "trees/one", ".claude/worktrees/two"])
def test_a_worktree_uses_the_memory_of_the_main_checkout(repository, place):
    make(repository, ".scaffolding")
    tree = worktree(repository, place)
    assert found(tree) == (repository, MAIN)
    assert found(make(tree, "src", "deep")) == (repository, MAIN)


def test_git_need_not_be_installed(repository, monkeypatch):
    make(repository, ".scaffolding")
    tree = worktree(repository)
    monkeypatch.setenv("PATH", "")
    assert found(tree) == (repository, MAIN)


def test_a_worktree_without_any_memory_will_keep_it_in_the_main_checkout(repository):
    assert found(worktree(repository)) == (repository, MAIN)


def test_a_worktree_that_has_the_memory_checked_out_uses_its_own(repository):
    tree = worktree(repository)
    make(repository, ".scaffolding")
    make(tree, ".scaffolding")
    root, how = found(make(tree, "src"))
    assert root == tree
    assert how == f"{NEAREST}, this worktree's own (worktree is not set, and git keeps memory on this branch)"


@pytest.mark.parametrize("file", ["project", "person"])
def test_the_settings_name_the_main_checkouts_memory_where_git_tracks_it_too(repository, home, file):
    tree = worktree(repository)
    make(repository, ".scaffolding")
    scaffolding = make(tree, ".scaffolding")
    personal = make(home, ".config", "amp") / "config.toml"
    (scaffolding / "amp.toml" if file == "project" else personal).write_text('worktree = "shared"\n')
    root, how = found(make(tree, "src"))
    assert root == repository
    assert how.startswith('the main checkout of this git worktree (worktree = "shared" in ')
    (scaffolding / "amp.toml").write_text('worktree = "own"\n')
    assert found(tree)[0] == tree


@pytest.mark.parametrize(("wish", "is_shared"), [("shared", True), ("own", False)])
def test_the_main_checkouts_settings_count_where_a_branch_has_none(repository, wish, is_shared):
    tree = worktree(repository)
    settings(repository, f'worktree = "{wish}"')
    make(tree, ".scaffolding")
    root, how = found(tree)
    assert root == (repository if is_shared else tree)
    assert f'worktree = "{wish}" in .scaffolding/amp.toml of the main checkout' in how
    (tree / ".scaffolding" / "amp.toml").write_text('worktree = "own"\n')
    assert found(tree)[0] == tree


def test_where_the_main_checkout_has_no_memory_the_worktrees_own_is_used_and_where_says_why(repository):
    tree = worktree(repository)
    (make(tree, ".scaffolding") / "amp.toml").write_text('worktree = "shared"\n')
    root, how = found(tree)
    assert root == tree
    assert how.endswith(f"but {repository} has no .scaffolding")


def test_the_same_subfolder_has_the_same_root_in_every_worktree(repository):
    tree = worktree(repository)
    make(repository, ".scaffolding")
    make(repository, "packages", "a", ".scaffolding")
    assert found(make(tree, "packages", "a", "src"))[0] == repository / "packages" / "a"
    assert found(make(tree, "packages", "b"))[0] == repository


def test_a_pointer_with_a_relative_path_is_followed(repository):
    make(repository, ".scaffolding")
    tree = worktree(repository)
    (tree / ".git").write_text("gitdir: ../main/.git/worktrees/tree\n")
    assert found(tree) == (repository, MAIN)


def test_after_the_project_is_moved_the_memory_moves_along(repository):
    make(repository, ".scaffolding")
    moved = repository.rename(repository.parent / "renamed project")
    assert found(moved) == (moved, NEAREST)


def test_a_worktree_whose_main_checkout_is_gone_is_its_own_root(repository):
    tree = worktree(repository)
    assert find_root(tree, environ={}).problem == ""
    repository.rename(repository.parent / "elsewhere")
    assert found(tree) == (tree, GIT_TOP)


@pytest.mark.requirement("S2-34", "S4P-04")
@pytest.mark.parametrize("moved", [False, True], ids=["in-place", "moved"])
def test_a_worktree_cut_off_from_its_main_checkout_says_so_to_whoever_reads_or_writes(repository, moved):
    make(repository, ".scaffolding")
    tree = worktree(repository)
    if moved:
        repository.rename(repository.parent / "elsewhere")
    workspace = Workspace(find_root(tree, environ={}), {})
    told = [
        *workspace.where().problems,
        *workspace.recall(Actor()).warnings,
        *[one.message for one in workspace.diagnose(Actor()) if one.is_problem],
        *workspace.remember("Redis needs AOF.").notes,
    ]
    assert ["`git worktree repair`" in one and str(repository) in one for one in told] == [True] * 4 * moved
    assert workspace.remember("Redis needs RDB.").notes == ()


def test_a_git_file_that_came_with_an_archive_opens_no_other_memory(repository, project):
    tree = worktree(repository)
    (repository / ".scaffolding").mkdir()
    planted = project / "planted"
    planted.mkdir()
    (planted / ".git").write_bytes((tree / ".git").read_bytes())
    root = find_root(planted, environ={})
    assert root.path == str(planted)
    assert "does not know of this folder" in root.problem


@pytest.mark.parametrize("kind", ["submodule", "separate"])
def test_a_git_folder_kept_elsewhere_is_no_problem(repository, kind):
    other = commit(repository.parent / "other")
    (other / ".git").rename(repository / ".git" / kind)
    (other / ".git").write_text(f"gitdir: ../main/.git/{kind}\n")
    assert (found(other), find_root(other, environ={}).problem) == ((other, GIT_TOP), "")


def test_the_main_checkouts_settings_give_each_worktree_its_own(repository):
    settings(repository, 'worktree = "own"')
    tree = worktree(repository)
    assert found(make(tree, "src")) == (tree, 'this git worktree (worktree = "own" in .scaffolding/amp.toml)')
    assert found(repository) == (repository, NEAREST)


def test_the_persons_own_settings_give_each_worktree_its_own_unless_the_repository_says_otherwise(repository, home):
    file = make(home, ".config", "amp") / "config.toml"
    file.write_text('worktree = "own"')
    tree = worktree(repository)
    assert found(tree) == (tree, f'this git worktree (worktree = "own" in {file})')
    settings(repository, 'worktree = "shared"')
    assert found(tree) == (repository, MAIN)


def test_a_submodule_is_its_own_top_level(repository, project):
    make(repository, ".scaffolding")
    library = commit(project / "library")
    git("submodule", "add", library, "vendor", cwd=repository)
    assert found(make(repository, "vendor", "src")) == (repository / "vendor", GIT_TOP)


@pytest.mark.slow
def test_a_worktree_of_a_submodule_uses_the_submodules_memory(repository, project):
    git("submodule", "add", commit(project / "library"), "vendor", cwd=repository)
    tree = worktree(repository / "vendor", "../../tree")
    make(repository, "vendor", ".scaffolding")
    assert found(tree) == (repository / "vendor", MAIN)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["bare.git", ".bare", ".git"])
def test_a_bare_repository_has_no_main_checkout(repository, project, name):
    holder = make(project, "holder")
    git("clone", "--bare", repository, holder / name, cwd=project)
    git("worktree", "add", "--detach", project / "tree", cwd=holder / name)
    make(holder, ".scaffolding")
    assert found(project / "tree") == (project / "tree", GIT_TOP)


def test_bareness_is_also_read_from_the_configuration_of_the_worktrees(repository, project):
    git("clone", "--bare", repository, project / "holder" / ".git", cwd=project)
    git("worktree", "add", "--detach", project / "tree", cwd=project / "holder" / ".git")
    (project / "holder" / ".git" / "config").write_text("[core]\n\trepositoryformatversion = 1\n")
    assert found(project / "tree") == (project / "holder", MAIN)
    (project / "holder" / ".git" / "config.worktree").write_text("[core]\n\tbare\n")
    assert found(project / "tree") == (project / "tree", GIT_TOP)


def test_a_git_folder_kept_elsewhere_is_a_git_top_level(project):
    checkout = make(project, "checkout")
    git("init", "--separate-git-dir", project / "elsewhere", cwd=checkout)
    assert found(make(checkout, "src")) == (checkout, GIT_TOP)


@pytest.mark.parametrize(
    "content", [b"", b"gitdir:", b"gitdir: /nowhere\n", b"nonsense", b"\xff\x00", b"gitdir: .\n", b"gitdir: a\0b"]
)
def test_a_pointer_that_leads_nowhere_makes_the_folder_a_git_top_level(project, content):
    (project / ".git").write_bytes(content)
    assert found(make(project, "src")) == (project, GIT_TOP)


def test_a_pipe_in_place_of_the_pointer_does_not_hang(project):
    os.mkfifo(project / ".git")
    assert found(project) == (project, GIT_TOP)


# Roots named outright


def test_amp_root_overrides_the_search_and_the_option_overrides_both(project, monkeypatch):
    make(project, ".scaffolding")
    named, other = make(project, "named"), make(project, "other")
    monkeypatch.setenv("AMP_ROOT", str(named))
    monkeypatch.chdir(project)
    assert found() == (named, "AMP_ROOT")
    assert found(explicit="other") == (other, "--root")
    assert found(explicit=other) == (other, "--root")


def test_an_empty_value_counts_as_unset(project, monkeypatch):
    make(project, ".scaffolding")
    monkeypatch.setenv("AMP_ROOT", "")
    assert found(project) == (project, NEAREST)
    assert found(project, explicit="") == (project, NEAREST)


def test_a_tilde_is_the_home_folder(home, project):
    memory = make(home, "my memory")
    for value in ("~/my memory", "~/my memory/", "~/./my memory"):
        assert found(project, environ={"HOME": str(home), "AMP_ROOT": value}) == (memory, "AMP_ROOT")
    assert found(project, environ={"HOME": str(home), "AMP_ROOT": "~"})[0] == home
    with pytest.raises(StorageError, match="HOME names no folder"):
        find_root(project, environ={"AMP_ROOT": "~/x"})


def test_a_relative_amp_root_is_taken_from_the_git_top_level(repository, monkeypatch):
    memory, deep = make(repository, "docs", "memory"), make(repository, "src", "deep")
    monkeypatch.setenv("AMP_ROOT", "docs/memory")
    assert found(deep) == (memory, "AMP_ROOT")
    monkeypatch.chdir(deep)
    assert found() == (memory, "AMP_ROOT")


def test_without_git_a_relative_amp_root_is_taken_from_the_current_folder(project, monkeypatch):
    monkeypatch.setenv("AMP_ROOT", "memory")
    monkeypatch.chdir(project)
    assert found() == (project / "memory", "AMP_ROOT")


def test_a_named_folder_may_be_missing(project):
    root = find_root(project, environ={"AMP_ROOT": str(project / "later" / "on")})
    assert (root.path, root.missing) == (str(project / "later" / "on"), True)
    assert not (project / "later").exists()
    assert find_root(explicit=project).missing is False


@pytest.mark.parametrize("below", ["", "/below"])
def test_a_named_file_is_one_clear_error(project, below):
    (project / "file").write_text("text")
    with pytest.raises(StorageError, match=r"^AMP_ROOT is /.*file.*, which is not a folder; name the folder that"):
        find_root(project, environ={"AMP_ROOT": f"{project}/file{below}"})


def test_a_name_that_no_folder_can_have_is_one_clear_error(project):
    for name in ("a\0b", "x" * 5000):
        with pytest.raises(StorageError, match="cannot be looked at"):
            find_root(explicit=name)


# Owners

STRANGER, SELF = 4321, 1234


@pytest.fixture
def as_user(monkeypatch):
    """Let files be given to others, and the search believe that it runs as an ordinary user."""
    if os.geteuid() != 0:
        pytest.skip("only root can give files away")
    monkeypatch.setattr(os, "geteuid", lambda: SELF)


def give(user: int, *paths: Path) -> None:
    for path in paths:
        os.chown(path, user, -1)


@pytest.mark.parametrize("owner", [0, SELF])
def test_memory_above_that_is_roots_or_our_own_is_used(project, as_user, owner):
    give(owner, project, make(project, ".scaffolding"))
    assert found(make(project, "src")) == (project, NEAREST)


def test_memory_planted_above_by_another_user_is_refused_with_advice(project, as_user):
    give(STRANGER, make(project, ".scaffolding"))
    for start in (project, make(project, "src")):
        with pytest.raises(StorageError, match="trusted_roots") as refused:
            find_root(start)
        assert str(refused.value).startswith(f"{project}: ")
        assert "4321" in str(refused.value)
        assert "\n" not in str(refused.value)


def test_a_folder_above_that_belongs_to_another_user_is_refused(project, as_user):
    make(project, ".scaffolding")
    give(STRANGER, project)
    with pytest.raises(StorageError):
        find_root(make(project, "src"))
    with pytest.raises(StorageError):
        find_root(project)


def test_a_git_top_level_or_main_checkout_of_another_user_is_refused(repository, as_user):
    tree = worktree(repository)
    give(STRANGER, repository)
    for start in (tree, make(repository, "src")):
        with pytest.raises(StorageError):
            find_root(start)


def test_standing_in_another_users_folder_is_fine_while_the_memory_is_our_own(project, as_user):
    give(STRANGER, project)
    assert found(project) == (project, NOTHING)
    give(SELF, make(project, ".scaffolding"))
    assert found(project) == (project, NEAREST)


def test_root_and_named_roots_are_never_refused(project, monkeypatch, as_user):
    give(STRANGER, project, make(project, ".scaffolding"))
    assert found(explicit=project)[0] == project
    assert found(environ={"AMP_ROOT": str(project)})[0] == project
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    assert found(project)[0] == project


def test_the_persons_own_settings_can_trust_a_foreign_root_and_the_repository_cannot(project, home, as_user):
    settings(project, f'trusted_roots = ["{project}"]')
    give(STRANGER, project / ".scaffolding")
    file = make(home, ".config", "amp") / "config.toml"
    for trusted in ("", f"{project}x", f"{project}/src"):
        file.write_text(f'trusted_roots = ["{trusted}"]')
        with pytest.raises(StorageError):
            find_root(project)
    for trusted in (project, project.parent):
        file.write_text(f'trusted_roots = ["{trusted}"]')
        assert found(project) == (project, NEAREST)


# Cost


def test_the_usual_case_looks_at_three_things(project, monkeypatch):
    make(project, ".scaffolding")
    make(project, ".git")
    monkeypatch.chdir(project)
    looked_at = watch_looks(monkeypatch)
    assert isinstance(find_root(), FoundRoot)
    assert len(looked_at) <= 3


def test_a_write_of_a_program_begins_no_memory_where_only_the_environment_names_a_folder(tmp_path):
    typed = tmp_path / "typo"
    workspace = Workspace.open(environ={"HOME": str(tmp_path), "AMP_ROOT": str(typed)})
    with pytest.raises(Refused, match=r"AMP_ROOT names .*typo, which does not exist.*amp init --root"):
        workspace.remember("A fact.")
    assert not typed.exists()
    workspace.init()
    workspace.remember("A fact.")
    assert [entry.text for entry in workspace.entries()] == ["- A fact."]

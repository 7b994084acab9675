"""Git never runs a program that the configuration of a checkout names, and asks about no repository but this one."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from agent_memory_protocol.git.ask import answer, ask

PROGRAMS = [
    *("core.fsmonitor", "core.pager", "core.editor", "core.sshCommand", "core.askPass", "core.alternateRefsCommand"),
    *("diff.external", "diff.evil.textconv", "diff.evil.command", "gpg.program", "pager.log", "pager.ls-files"),
    *("filter.evil.clean", "filter.evil.smudge", "filter.evil.process", "alias.ls-files", "alias.log"),
]
HOOKS = ("post-index-change", "pre-commit", "reference-transaction", "post-checkout", "fsmonitor-watchman")
QUESTIONS = [
    ("ls-files", "--", "."),
    ("ls-files", "--full-name", ":/"),
    ("check-ignore", "--quiet", "--no-index", "a.txt"),
    ("rev-parse", "--show-prefix"),
    ("rev-parse", "--git-path", "index.lock"),
    ("log", "-1", "--format=%ct", "--", "a.txt"),
    ("log", "-1", "--format=%H", "-Stwo(", "--", ":(top)"),
    ("log", "--no-renames", "--diff-filter=D", "--name-only", "--format=%H"),
    ("show", "--format=", "--name-status", "-M", "HEAD"),
    ("reflog", "show", "--date=unix", "--format=%H %gd", "HEAD"),
    ("grep", "--no-color", "-howIF", "-e", "two"),
    ("blame", "--porcelain", "--no-textconv", "HEAD", "--", "a.txt"),
    ("cat-file", "blob", "HEAD:a.txt"),
    ("merge-base", "--is-ancestor", "HEAD", "HEAD"),
    ("for-each-ref", "--count=1", "--contains=HEAD"),
    ("config", "--local", "--get", "core.bare"),
    ("merge-file", "-p", "a.txt", "a.txt", "a.txt"),
]


def git(folder: Path, *args: str) -> None:
    subprocess.run(["git", "-C", folder, *args], check=True, capture_output=True)


@pytest.fixture
def evil(tmp_path: Path) -> Path:
    """A checkout whose `.git` came out of an archive: all that can name a program names one that leaves a mark."""
    top = tmp_path / "evil"
    top.mkdir()
    git(top, "init", "-q")
    for name, value in (("user.name", "x"), ("user.email", "x@example.org")):
        git(top, "config", name, value)
    for text in ("one\n", "two(\n"):
        (top / "a.txt").write_text(text)
        (top / ".gitattributes").write_text("*.txt diff=evil filter=evil\n")
        git(top, "add", ".")
        git(top, "commit", "-qm", text)
    program = tmp_path / "program"
    program.write_text(f"#!/bin/sh\necho \"$0 $*\" >> '{tmp_path}/ran'\n")
    program.chmod(0o755)
    hooks = top / ".git" / "hooks"
    hooks.mkdir(exist_ok=True)
    for name in HOOKS:
        (hooks / name).write_text(program.read_text())
        (hooks / name).chmod(0o755)
    for name in PROGRAMS:
        git(top, "config", name, f"!{program}" if name.startswith("alias.") else str(program))
    git(top, "config", "log.showSignature", "true")
    os.utime(top / "a.txt", (1, 1))  # so that git looks at the file again
    return top


@pytest.mark.slow
@pytest.mark.parametrize("words", QUESTIONS, ids=" ".join)
def test_no_program_of_the_checkout_runs(evil, tmp_path, words, monkeypatch):
    for name in ("GIT_EXTERNAL_DIFF", "GIT_PAGER", "GIT_EDITOR", "GIT_SSH_COMMAND"):
        monkeypatch.setenv(name, str(tmp_path / "program"))
    done = ask(str(evil), *words)
    assert done is not None
    assert done.returncode in (0, 1), done
    assert not (tmp_path / "ran").exists(), (tmp_path / "ran").read_text()


def test_the_programs_would_run_otherwise(evil, tmp_path):
    subprocess.run(["git", "-C", evil, "log", "-p"], check=False, capture_output=True)
    subprocess.run(["git", "-C", evil, "status"], check=False, capture_output=True)
    assert (tmp_path / "ran").exists()


@pytest.mark.slow
def test_a_folder_that_looks_like_a_repository_is_none(evil, tmp_path):
    """A clone brings it along with a configuration of its own."""
    inner = evil / "vendor"
    inner.mkdir()
    subprocess.run(["cp", "-r", *(evil / ".git").iterdir(), inner], check=True)
    git(inner, "config", "core.bare", "true")
    for words in QUESTIONS[:4]:
        assert answer(str(inner), *words) == b""
    assert not (tmp_path / "ran").exists()


@pytest.mark.slow
def test_what_git_s_hooks_have_in_their_environment_names_no_other_repository(evil, tmp_path, monkeypatch):
    other = tmp_path / "other"
    other.mkdir()
    git(other, "init", "-q")
    monkeypatch.setenv("GIT_DIR", str(other / ".git"))
    monkeypatch.setenv("GIT_WORK_TREE", str(other))
    monkeypatch.setenv("GIT_CONFIG_COUNT", "1")
    monkeypatch.setenv("GIT_CONFIG_KEY_0", "core.worktree")
    monkeypatch.setenv("GIT_CONFIG_VALUE_0", str(other))
    assert answer(str(evil), "ls-files") == b".gitattributes\na.txt\n"


def as_a_file(place: Path, other: Path) -> None:
    (place / ".git").write_text(f"gitdir: {other / '.git'}\n")


def as_a_link(place: Path, other: Path) -> None:
    (place / ".git").symlink_to(other / ".git")


def as_its_worktree(place: Path, other: Path) -> None:
    git(other, "worktree", "add", "-q", "--no-checkout", str(other.parent / "linked"))
    shutil.copy(other.parent / "linked" / ".git", place / ".git")


def as_its_submodule(place: Path, other: Path) -> None:
    git(other, "-c", "protocol.file.allow=always", "submodule", "add", "-q", str(other), "inner")
    (place / ".git").write_text(f"gitdir: {other / '.git/modules/inner'}\n")


def as_a_bare_one(place: Path, other: Path) -> None:
    git(other, "clone", "-q", "--bare", ".", str(other.parent / "bare"))
    (place / ".git").write_text(f"gitdir: {other.parent / 'bare'}\n")


@pytest.mark.slow
@pytest.mark.parametrize("points", [as_a_file, as_a_link, as_its_worktree, as_its_submodule, as_a_bare_one])
def test_the_repository_of_another_checkout_is_not_asked(evil, tmp_path, points):
    """An archive may hold a `.git` file or link; what it names does not know of this folder."""
    place = tmp_path / "place"
    (place / "below").mkdir(parents=True)
    points(place, evil)
    assert subprocess.run(["git", "-C", place, "log", "-1"], check=False, capture_output=True).stdout
    for folder in (place, place / "below"):
        assert ask(str(folder), "log", "-1") is None


def set_apart(place: Path, other: Path) -> Path:
    git(other, "clone", "-q", "--separate-git-dir", str(other.parent / "apart"), ".", str(place))
    return place


def a_worktree(place: Path, other: Path) -> Path:
    git(other, "worktree", "add", "-q", "--no-checkout", str(place))
    return place


def a_submodule(place: Path, other: Path) -> Path:
    git(other, "-c", "protocol.file.allow=always", "submodule", "add", "-q", str(other), "inner")
    return other / "inner"


def a_sparse_submodule(place: Path, other: Path) -> Path:
    git(a_submodule(place, other), "sparse-checkout", "set", "--no-cone", "*")
    return other / "inner"


@pytest.mark.slow
@pytest.mark.parametrize("made", [set_apart, a_worktree, a_submodule, a_sparse_submodule])
def test_a_checkout_whose_git_folder_lies_elsewhere_is_asked(evil, tmp_path, made):
    place = made(tmp_path / "place", evil)
    assert (place / ".git").is_file()
    assert answer(str(place), "log", "-1")


@pytest.mark.slow
def test_what_a_partial_clone_lacks_is_not_fetched_also_by_a_git_that_fetches_unasked(evil, tmp_path, monkeypatch):
    """Its configuration can allow each protocol by name, and one of them runs a program."""
    older = tmp_path / "bin" / "git"
    older.parent.mkdir()
    older.write_text(f'#!/bin/sh\nunset GIT_NO_LAZY_FETCH\nexec {shutil.which("git")} "$@"\n')
    older.chmod(0o755)
    blob = answer(str(evil), "rev-parse", "HEAD:a.txt").decode().strip()
    (evil / ".git" / "objects" / blob[:2] / blob[2:]).unlink()
    for name, value in (
        ("core.repositoryFormatVersion", "1"),
        ("extensions.partialClone", "origin"),
        ("remote.origin.promisor", "true"),
        ("remote.origin.url", f"ext::{tmp_path}/program"),
        ("protocol.ext.allow", "always"),
    ):
        git(evil, "config", name, value)
    (tmp_path / "ran").unlink(missing_ok=True)
    monkeypatch.setenv("PATH", str(older.parent), prepend=os.pathsep)
    assert answer(str(evil), "cat-file", "blob", blob) == b""
    assert not (tmp_path / "ran").exists()
    subprocess.run(["git", "-C", evil, "cat-file", "blob", blob], check=False, capture_output=True)
    assert (tmp_path / "ran").exists()


@pytest.mark.slow
@pytest.mark.parametrize("name", ["mailmap.file", "diff.orderFile"])
def test_a_file_without_an_end_that_the_checkout_names_is_not_read(evil, name):
    git(evil, "config", name, "/dev/zero")
    done = ask(str(evil), "blame", "--porcelain", "--no-textconv", "HEAD", "--", "a.txt")
    assert done is not None
    assert done.stdout, done.stderr
    assert answer(str(evil), "log", "--name-only", "--format=%H")

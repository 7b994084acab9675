"""Git never runs a program that the configuration of a checkout names, and asks about no repository but this one."""

import os
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

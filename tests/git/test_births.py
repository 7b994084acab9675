"""When lines were written, as a history has it that anybody may have made up."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from agent_memory_protocol.git.births import last_written

pytestmark = pytest.mark.skipif(shutil.which("git") is None, reason="git is not installed")


def test_a_commit_may_be_of_any_time(tmp_path: Path) -> None:
    def git(*args: str, at: str = "0") -> None:
        environ = {"GIT_AUTHOR_DATE": f"@{at} +0000", "GIT_COMMITTER_DATE": "@0 +0000", "PATH": os.environ["PATH"]}
        settings = ["-c", "user.name=dev", "-c", "user.email=dev@example.com"]
        subprocess.run(["git", *settings, *args], cwd=tmp_path, env=environ, check=True, capture_output=True)

    git("init", "-q")
    lines: list[str] = []
    for at in ("0", "253402300799", "99999999999999", "9223372036854775000"):
        lines.append(f"- Committed at {at}.")
        (tmp_path / "F.md").write_text("".join(f"{line}\n" for line in lines))
        git("add", "-A")
        git("commit", "-qm", "x", at=at)
    found = last_written(str(tmp_path), "F.md")
    assert [*found] == lines
    assert sorted(found.values()) == [*found.values()]
    assert found[lines[0]] == "1970-01-01T00:00:00"
    assert all(moment.startswith("9999-12-31") for moment in [*found.values()][1:])

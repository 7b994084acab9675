"""What the README tells a reader to run does what it says."""

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).parents[1]
README = (REPOSITORY / "README.md").read_text(encoding="utf-8")
ENVIRONMENT = {key: value for key, value in os.environ.items() if not key.startswith("AMP_")}


def blocks(language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```$", README, re.MULTILINE | re.DOTALL)


def run(*command: str | Path, cwd: Path) -> str:
    done = subprocess.run(command, cwd=cwd, env=ENVIRONMENT, capture_output=True, encoding="utf-8", check=False)
    assert done.returncode == 0, f"{command} ended with {done.returncode}\n{done.stdout}\n{done.stderr}"
    return done.stdout


def test_two_commands_do_everything():
    main_job, install_and_test = blocks("sh")
    assert "amp recall" in main_job
    assert not {"&&", "export", "$("} & set(main_job.split())  # it is pasted into fish, too
    assert README.count("\n") < 150
    assert install_and_test.count("\n") == 1
    assert install_and_test.endswith("-m pytest -n auto\n")


@pytest.mark.docs
def test_the_first_command_recalls_what_it_remembered(tmp_path):
    checkout = tmp_path / "checkout"
    left_behind = shutil.ignore_patterns(".git", ".venv", ".scaffolding", ".*_cache", "__pycache__", ".hypothesis")
    shutil.copytree(REPOSITORY, checkout, ignore=left_behind)
    command = blocks("sh")[0]

    printed = run("sh", "-c", command, cwd=checkout)

    block = printed[printed.index("<agent-memory id=") :]
    remembered = re.findall(r'amp remember "(.+?)"', command)
    assert remembered
    for text in remembered:
        assert f"- {text}\n" in block
    assert not (checkout / ".scaffolding").exists()


def test_the_first_screen_says_the_problem_shows_it_and_gives_the_commands():
    said = (
        "know",
        "how-it-works.svg",
        "amp recall developer",
        "**alpha**",
        "$ amp install claude\n",
        "## Why not just",
    )
    places = [README.index(text) for text in said]
    assert places == sorted(places)

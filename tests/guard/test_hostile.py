"""Of commands that really change memory nearly all are denied, and of innocent ones nearly none."""

import shutil

import pytest

from .hostile import changes_memory, commands, is_denied, make_project

MOST_MISSED = 0.03
MOST_INNOCENT_DENIED = 0.01


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    home = tmp_path_factory.mktemp("home")
    (home / "project").mkdir()
    make_project(home / "project")
    return home / "project"


def test_hostile_commands_are_denied_but_for_a_few(made):
    listed = [command for _, command in commands("hostile")]
    missed = [command for command in listed if not is_denied(command, made, made.parent)]
    assert len(listed) >= 400
    assert len({kind for kind, _ in commands("hostile")}) >= 40
    assert len(missed) <= MOST_MISSED * len(listed), missed


def test_innocent_commands_pass_but_for_a_few(made):
    listed = [command for _, command in commands("innocent")]
    denied = [command for command in listed if is_denied(command, made, made.parent)]
    assert len(listed) >= 300
    assert len(denied) <= MOST_INNOCENT_DENIED * len(listed), denied


@pytest.mark.slow
def test_commands_that_were_seen_to_change_memory_are_denied(made, tmp_path, sized):
    changing, missed = 0, []
    every = sized(5, 5, 1)
    for _, command in list(commands("hostile"))[::every]:
        shutil.copytree(made, tmp_path / "project", symlinks=True)
        if changes_memory(command, tmp_path / "project", made.parent):
            changing += 1
            missed += [] if is_denied(command, made, made.parent) else [command]
        shutil.rmtree(tmp_path / "project")
    assert changing >= 300 // every
    assert len(missed) <= MOST_MISSED * changing, missed

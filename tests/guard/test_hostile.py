"""Of commands that really change memory nearly all are denied, and of innocent ones nearly none.

The held-out commands were written without a look at the guard, so that they show whether its rules generalise.
"""

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


def test_hostile_commands_are_of_many_kinds():
    assert len({kind for kind, _ in commands("hostile")}) >= 40


@pytest.mark.slow
@pytest.mark.parametrize(("name", "least"), [("hostile", 400), ("held_out_hostile", 190)])
def test_hostile_commands_are_denied_but_for_a_few(made, name, least):
    listed = [command for _, command in commands(name)]
    missed = [command for command in listed if not is_denied(command, made, made.parent)]
    assert len(listed) >= least
    assert len(missed) <= MOST_MISSED * len(listed), missed


@pytest.mark.slow
@pytest.mark.parametrize(("name", "least"), [("innocent", 300), ("held_out_innocent", 160)])
def test_innocent_commands_pass_but_for_a_few(made, name, least):
    listed = [command for _, command in commands(name)]
    denied = [command for command in listed if is_denied(command, made, made.parent)]
    assert len(listed) >= least
    assert len(denied) <= MOST_INNOCENT_DENIED * len(listed), denied


@pytest.mark.slow
@pytest.mark.parametrize(("name", "least"), [("hostile", 300), ("held_out_hostile", 190)])
def test_commands_that_were_seen_to_change_memory_are_denied(made, tmp_path, sized, name, least):
    changing, missed = 0, []
    every = sized(5, 5, 1)
    for _, command in list(commands(name))[::every]:
        shutil.copytree(made, tmp_path / "project", symlinks=True)
        if changes_memory(command, tmp_path / "project", made.parent):
            changing += 1
            missed += [] if is_denied(command, made, made.parent) else [command]
        shutil.rmtree(tmp_path / "project")
    assert changing >= least // every
    assert len(missed) <= MOST_MISSED * changing, missed

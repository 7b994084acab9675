"""A task: where memory does not fit, what the task is about is kept; where it does, nothing changes."""

import subprocess
import sysconfig
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agent_memory_protocol import recall_for_agent

FILE = ".scaffolding/agent-memory/shared/KNOWLEDGE.md"
OTHERS = "".join(
    f"- [2026-03-{day:02d}] Entry {day} is about something quite different from it.\n" for day in range(1, 31)
)
TEXT = (
    "# Shared Knowledge\n\n## Storage\n\n- [2025-01-01] Redis loses its queue on restart.\n\n"
    f"## Build\n\n- [2025-01-02] `maxRetryCount` is read once.\n{OTHERS}"
)


@pytest.fixture
def project(tmp_path):
    file = tmp_path / FILE
    file.parent.mkdir(parents=True)
    file.write_text(TEXT)
    return tmp_path


def recall(project, **more):
    return recall_for_agent(root=str(project), environ={"HOME": str(project)}, **more)


TASKS = [
    pytest.param("restarting redis", "Redis loses its queue on restart.", id="other-endings"),
    pytest.param("why is max_retry_count ignored?", "`maxRetryCount` is read once.", id="code-words"),
    pytest.param("move the storage", "Redis loses its queue on restart.", id="the-heading-above"),
]


@pytest.mark.parametrize(("task", "entry"), TASKS)
def test_under_a_tight_budget_what_fits_the_task_is_kept(project, task, entry):
    assert entry not in recall(project, max_lines=4)
    block = recall(project, max_lines=4, task=task)
    assert entry in block
    assert recall(project, max_lines=4, task=task) == block


@pytest.mark.parametrize("task", ["restarting redis", "", "the", "\0", "数据库"])
def test_where_everything_fits_a_task_changes_nothing(project, task):
    assert recall(project, task=task) == recall(project)


def test_a_task_that_is_about_nothing_there_changes_no_choice(project):
    lines = recall(project, max_lines=12).splitlines()
    with_task = recall(project, max_lines=12, task="zebra").splitlines()
    assert [one for one in with_task if one.startswith("- ")] == [one for one in lines if one.startswith("- ")]


@pytest.mark.slow
@settings(max_examples=40)
@given(task=st.text(max_size=80), budget=st.integers(200, 3_000))
def test_whatever_the_task_the_budget_holds(tmp_path_factory, task, budget):
    folder = tmp_path_factory.getbasetemp() / "task"
    if not folder.exists():
        (folder / FILE).parent.mkdir(parents=True)
        (folder / FILE).write_text(TEXT)
    block = recall(folder, max_chars=budget, task=task)
    assert len(block) <= budget
    assert block.count("<agent-memory id=") == (1 if block else 0)


@pytest.mark.slow
def test_the_command_takes_a_task(project):
    amp = Path(sysconfig.get_path("scripts"), "amp")
    command = [amp, "recall", "--root", project, "--max-lines", "8", "--task", "restarting redis"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert "Redis loses its queue" in done.stdout
    assert "`amp show shared` shows them" in done.stdout

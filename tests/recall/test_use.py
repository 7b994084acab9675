"""What was recalled, found and opened is counted where a person wants it, here alone."""

import json
import subprocess
from datetime import date, timedelta

import pytest
from click.testing import CliRunner

from agent_memory_protocol import Workspace, recall_for_agent
from agent_memory_protocol.cli.main import amp

COUNTS = ".scaffolding/.amp/use/counts.json"


@pytest.fixture
def workspace(tmp_path):
    made = Workspace.open(tmp_path, environ={"HOME": str(tmp_path)})
    for text in ("Redis loses its queue.", "The parser is slow.", "Coffee is at ten."):
        made.remember(text)
    made.new_note("feedback", "small", description="Small changes.", why="w", how="h")
    return made


def switch_on(tmp_path):
    (tmp_path / ".scaffolding/amp.toml").write_text("[recall]\ncount = true\n")


def use(tmp_path):
    done = CliRunner().invoke(amp, ["status", "--use", "--json", "--root", str(tmp_path)])
    return {one["id"]: one for one in json.loads(done.stdout)["use"]}, done.stderr


def test_nothing_is_counted_unless_it_is_switched_on(workspace, tmp_path):
    recall_for_agent("developer", root=tmp_path)
    workspace.search("redis")
    workspace.show_note("small")
    assert not (tmp_path / COUNTS).exists()
    rows, told = use(tmp_path)
    assert {row["injected"] for row in rows.values()} == {0}
    assert "count = true" in told


def test_what_was_recalled_found_and_opened_is_counted_and_shown_least_used_first(workspace, tmp_path):
    switch_on(tmp_path)
    full = recall_for_agent("developer", root=tmp_path)
    short = recall_for_agent("developer", root=tmp_path, max_chars=len(full) - 10)
    found = {one.id for one in workspace.search("redis")}
    workspace.show_note("small")
    rows, _ = use(tmp_path)
    said = {one.id: one.text for one in workspace.entries()}
    for one, text in said.items():
        assert rows[one]["injected"] == 1 + (text in short)
        assert rows[one]["searched"] == int(one in found)
    assert rows["feedback_small.md"]["opened"] == 1
    totals = [sum(row[how] for how in ("injected", "searched", "opened")) for row in rows.values()]
    assert totals == sorted(totals)


@pytest.mark.slow
@pytest.mark.parametrize("damaged", [b"{", b"[1]", b'{"shared x": 3}', b"\xff"])
def test_a_damaged_count_begins_again_and_stays_out_of_git(workspace, tmp_path, damaged):
    switch_on(tmp_path)
    before = recall_for_agent("developer", root=tmp_path)
    (tmp_path / COUNTS).write_bytes(damaged)
    assert recall_for_agent("developer", root=tmp_path) == before
    assert {row["injected"] for row in use(tmp_path)[0].values() if row["injected"]} == {1}
    subprocess.run(["git", "init", "-q", tmp_path], check=True)
    listed = subprocess.run(
        ["git", "status", "--short", "-uall"], cwd=tmp_path, capture_output=True, text=True, check=True
    )
    assert "counts" not in listed.stdout


def test_what_was_not_needed_for_ninety_days_is_in_the_review_and_told_by_prune(workspace, tmp_path):
    switch_on(tmp_path)
    full = recall_for_agent(root=tmp_path)
    short = recall_for_agent(root=tmp_path, max_chars=len(full) - 10)  # one entry was needed once, and is not since
    assert len(short) < len(full)
    counts = json.loads((tmp_path / COUNTS).read_text())
    left, *_ = (name for name, row in counts.items() if row["injected"] == 1)
    later = date.today() + timedelta(days=91)
    kept = {name: {**row, "last": str(later)} for name, row in counts.items() if name != left}
    (tmp_path / COUNTS).write_text(json.dumps({**counts, **kept}))
    (item,) = [one for one in workspace.review(today=later) if one.kind == "unneeded"]
    assert (item.command, item.message) == (f"amp forget {left.split()[1]}", f"since {date.today()}")
    assert [one.unneeded for one in workspace.plan_pruning(today=later)] == [1]
    assert [one for one in workspace.review() if one.kind == "unneeded"] == []
    (tmp_path / ".scaffolding/amp.toml").write_text("")
    again = Workspace.open(tmp_path, environ={"HOME": str(tmp_path)})
    assert [one for one in again.review(today=later) if one.kind == "unneeded"] == []


def test_what_was_always_left_out_is_unneeded_since_it_was_first_passed_over(workspace, tmp_path):
    switch_on(tmp_path)
    full = recall_for_agent(root=tmp_path)
    (tmp_path / COUNTS).unlink()
    recall_for_agent(root=tmp_path, max_chars=len(full) - 10)
    later = date.today() + timedelta(days=91)
    found = [one for one in workspace.review(today=later) if one.kind == "unneeded"]
    assert len(found) == 3

"""What was recalled, found and opened is counted where a person wants it, here alone."""

import json
import subprocess

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

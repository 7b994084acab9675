"""Compacting a ledger: it becomes smaller, and what anyone asks of it has the same answer."""

import json
from datetime import date

import pytest
from click.testing import CliRunner

from agent_memory_protocol import Actor, Workspace
from agent_memory_protocol.answers import About
from agent_memory_protocol.cli.main import amp
from agent_memory_protocol.errors import AccessDenied
from agent_memory_protocol.layout import Target, Tier

SHARED = Target(Tier.SHARED)
LEDGER = ".scaffolding/agent-memory/shared/ledger.jsonl"


@pytest.fixture
def workspace(tmp_path):
    """A memory whose entries came, went, came back, were edited, retired, disputed and redacted."""
    made = Workspace.open(tmp_path, environ={"HOME": str(tmp_path)})
    kept = made.remember("The parser needs Redis.", about=About(source="user", kind="avoid", tags=("git",)))
    coming = made.remember("Goes and comes.\n\n  On two lines.", section="Rules", dated=date(2026, 1, 2))
    for _ in range(3):
        made.forget([coming.entry.id])
        made.restore(made.restorable())
    made.forget([coming.entry.id])
    edited = made.remember("Say this.")
    made.edit(edited.entry.id, "Say that.")
    other = made.remember("The parser does not need Redis.")
    made.dispute(kept.entry.id, other.entry.id)
    made.resolve(other.entry.id, kept.entry.id)
    secret = made.remember("The office is in the east wing.")
    made.redact([secret.entry.id])
    return made


def told(workspace):
    entries = [(one.id, one.text, one.about) for one in workspace.entries()]
    archived = [(str(one.target), one.archived) for one in workspace.restorable()]
    return entries, archived, [str(one) for one in workspace.search_archived("say")]


@pytest.mark.slow
def test_a_compacted_ledger_tells_the_same_in_fewer_bytes_and_is_compact_then(workspace, tmp_path):
    before, old = told(workspace), (tmp_path / LEDGER).read_bytes()
    ((target, planned),) = workspace.compact_ledgers()
    assert (target, (tmp_path / LEDGER).read_bytes()) == (SHARED, old)
    workspace.compact_ledgers(apply=True)
    assert told(workspace) == before
    assert len((tmp_path / LEDGER).read_bytes()) == planned.size[1] < len(old)
    assert not any(one.changes_something for _, one in workspace.compact_ledgers())
    assert not [one for one in workspace.check(ignore=["review"]) if one.rule.startswith("ledger")]


@pytest.mark.slow
def test_lines_of_older_versions_become_short_and_what_cannot_be_read_stays(workspace, tmp_path):
    workspace.compact_ledgers(apply=True)
    before, path = told(workspace), tmp_path / LEDGER
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    usual: dict[str, object] = {
        "scope": "global",
        "tags": [],
        "source": None,
        "confidence": 0.7,
        "expires_at": None,
        "supersedes": None,
    }
    for line in lines:
        if "place" in line and "spaces" not in line:
            line |= {**usual, **line, "markdown": line["text"]}
    path.write_text("".join(json.dumps(line) + "\n" for line in lines) + "torn {\n")
    assert told(workspace) == before
    workspace.compact_ledgers([SHARED], apply=True)
    assert told(workspace) == before
    assert '"markdown"' not in path.read_text()
    assert path.read_text().endswith("torn {\n")


@pytest.mark.slow
def test_who_may_not_write_compacts_nothing_and_the_command_shows_a_plan_first(workspace, tmp_path):
    old = (tmp_path / LEDGER).read_bytes()
    with pytest.raises(AccessDenied):
        workspace.compact_ledgers(apply=True, actor=Actor("reviewer"))
    plan = CliRunner().invoke(amp, ["ledger", "compact", "--root", str(tmp_path)])
    assert (plan.exit_code, "would become" in plan.output, "--apply" in plan.output) == (0, True, True)
    assert (tmp_path / LEDGER).read_bytes() == old
    done = CliRunner().invoke(amp, ["ledger", "compact", "shared", "--apply", "--root", str(tmp_path)])
    assert (done.exit_code, "became" in done.output) == (0, True)
    again = CliRunner().invoke(amp, ["ledger", "compact", "--root", str(tmp_path)])
    assert again.output == "nothing to compact\n"

"""Each rule on ledgers: what it must find, and what it must leave alone."""

import subprocess

import pytest

SHARED = ".scaffolding/agent-memory/shared/KNOWLEDGE.md"
LEDGER = ".scaffolding/agent-memory/shared/ledger.jsonl"


@pytest.fixture
def ledger(project):
    """Return the file of a ledger with one removed entry."""
    done = project.workspace.remember("Redis needs AOF.")
    project.workspace.forget([done.entry.id])
    return project.root / LEDGER


def test_a_ledger_as_it_is_written_has_no_findings(project, ledger):
    assert project.check("ledger") == []


def test_the_union_of_two_ledgers_has_no_findings(project, ledger):
    ledger.write_bytes(ledger.read_bytes() * 2)
    assert project.check("ledger") == []


def test_a_line_that_cannot_be_read_is_found_where_it_stands(project, ledger):
    lines = ledger.read_bytes().count(b"\n")
    ledger.write_bytes(ledger.read_bytes() + b'{"id": "cut o\n\n')
    assert [(one.rule, one.severity, one.line) for one in project.check("ledger")] == [
        ("ledger-unreadable", "error", lines + 1)
    ]


def test_a_missing_header_is_found(project, ledger):
    ledger.write_bytes(b"".join(ledger.read_bytes().splitlines(keepends=True)[1:]))
    assert "ledger-header" in [one.rule for one in project.check("ledger")]


def test_a_tombstone_without_its_entry_is_found(project, ledger):
    lines = ledger.read_bytes().splitlines(keepends=True)
    ledger.write_bytes(b"".join([lines[0], lines[-1]]))
    assert [one.rule for one in project.check("ledger")] == ["ledger-tombstone"]


@pytest.mark.parametrize(
    ("ignored", "is_found"), [("ledger.jsonl\n", True), (".scaffolding/\n", False), ("*.log\n", False)]
)
def test_a_ledger_that_git_ignores_while_it_tracks_the_document_is_found(project, ledger, ignored, is_found):
    subprocess.run(["git", "init", "-q"], cwd=project.root, check=True)
    (project.root / ".gitignore").write_text(ignored)
    assert bool(project.check("ledger-ignored")) is is_found

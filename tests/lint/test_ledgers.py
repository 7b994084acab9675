"""Each rule on ledgers: what it must find, and what it must leave alone."""

import json
import subprocess

import pytest

from agent_memory_protocol.secrets.find import find_secrets

SHARED = ".scaffolding/agent-memory/shared/KNOWLEDGE.md"
LEDGER = ".scaffolding/agent-memory/shared/ledger.jsonl"
TOKEN = "ghp" + "_" + "Kq7Zt2Xw9Lm4Rb6Yc1Vn8Hd3Js5Pf0Ga7Ue2"


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


def test_a_tombstone_of_a_redacted_entry_has_no_findings(project, ledger):
    (archived,) = project.workspace.restorable()
    project.workspace.redact([archived.archived.taken.id])
    assert b"Redis" not in ledger.read_bytes()
    assert project.check("ledger") == []


@pytest.mark.requirement("S2-29", "S0-30")
@pytest.mark.parametrize("key", ["text", "markdown", "source", "tags"])
def test_a_secret_is_found_once_on_the_line_that_keeps_it_and_the_message_says_how_it_goes(project, ledger, key):
    lines = ledger.read_text().splitlines()
    entry = json.loads(lines[1])
    told = f"Deploys use {TOKEN}."
    entry |= {"text": told, "markdown": f"- {told}"} if key == "text" else {key: [TOKEN] if key == "tags" else told}
    ledger.write_text("\n".join([lines[0], json.dumps(entry), *lines[2:]]) + "\n")

    (found,) = project.check("secret")

    assert (found.path, found.line) == (LEDGER, 2)
    assert TOKEN not in found.message
    assert f"`amp forget {entry['id']} --redact`" in found.message
    project.workspace.redact([entry["id"]])
    assert TOKEN not in ledger.read_text()
    assert project.check("secret", "ledger") == []


def test_a_secret_in_a_line_that_cannot_be_read_is_found_too(project, ledger):
    ledger.write_text(f'{ledger.read_text()}{{"text": "Deploys use {TOKEN}\n')
    assert [one.line for one in project.check("secret")] == [4]


@pytest.mark.parametrize("text", ["the token is in env/ci.txt", "3f78685c7d1fe7a9b6a2f0f3a1d8c5b4e6f7a8b9"])
def test_a_ledger_that_keeps_no_secret_has_no_findings(project, ledger, text):
    done = project.workspace.remember(f"Deploys: {text}")
    project.workspace.forget([done.entry.id], reason="no longer so")
    assert project.check("secret") == []


def test_what_the_project_allows_is_no_secret_in_a_ledger_either(project, ledger):
    fingerprint = find_secrets(TOKEN)[0].fingerprint
    project.write({".scaffolding/amp.toml": f'[secrets]\nallow = ["{fingerprint}"]\n'})
    done = project.workspace.remember(f"The docs show {TOKEN}.")
    project.workspace.forget([done.entry.id])
    assert TOKEN in ledger.read_text()
    assert project.check("secret") == []

"""Where Python was built without SQLite, memory works; what cannot do without it says so (S4-71)."""

import json
import subprocess
import sys

import pytest

BLOCKED = "import sys; sys.modules['sqlite3'] = None; "
AMP = BLOCKED + "import agent_memory_protocol.cli.main as amp; amp.main()"


@pytest.fixture
def without(amp):
    """Run `amp` in a Python whose sqlite3 cannot be imported, on a project with one entry in each tier and a record."""
    amp("remember", "Redis needs AOF on.", "--tier", "shared")
    amp("remember", "Run the migrations first.", "--agent", "dev")
    amp("remember", "We keep Postgres.", "--conversation", "c1")
    entry = {"id": "0f1d8c9e-6f0b-4b8e-9a44-0a4f8f0e5a10", "timestamp_ms": 1, "text": "Deploys need the VPN."}
    entry["embedding"] = "AAAAAA=="
    (amp.root / "in.ndjson").write_text(json.dumps(entry) + "\n")
    other = {**entry, "id": "1f1d8c9e-6f0b-4b8e-9a44-0a4f8f0e5a10", "text": "Another fact."}
    (amp.root / "other.ndjson").write_text(json.dumps(other) + "\n")
    assert amp("import", "in.ndjson", "--apply").code == 0

    def run(*arguments, code=AMP, text=""):
        return subprocess.run(
            [sys.executable, "-c", code, *arguments],
            input=text,
            capture_output=True,
            text=True,
            cwd=amp.root,
            env=amp.environ(),
            timeout=60,
            check=False,
        )

    return run


@pytest.mark.slow
@pytest.mark.requirement("S4-69", "S4-71")
@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ("recall dev --conversation c1", "We keep Postgres."),
        ("remember Another --conversation c1", "remembered: "),
        ("show --conversation c1", "We keep Postgres."),
        ("list", "We keep Postgres."),
        ("search postgres --conversation c1", "We keep Postgres."),
        ("search vpn", "Deploys need the VPN."),
        ("record list", "Deploys need the VPN."),
        ("learn c1", "nothing"),
        ("export --format ndjson", "We keep Postgres."),
        ("convert in.ndjson -", "Deploys need the VPN."),
        ("convert --losses", "sqlite"),
        ("watch --once", ""),
        ("doctor dev", "shared is recalled"),
    ],
)
def test_what_needs_no_sqlite_works_without_it(without, arguments, said):
    done = without(*arguments.split(), *(["--format", "ndjson"] if arguments.endswith(" -") else []))
    assert (done.returncode, "Traceback" in done.stderr) == (0, False), done.stderr
    assert said in done.stdout


@pytest.mark.slow
@pytest.mark.requirement("S4-71")
@pytest.mark.parametrize(
    "arguments", ["export --output out.sqlite", "convert in.ndjson out.sqlite", "import other.ndjson --apply"]
)
def test_what_needs_sqlite_says_so_and_changes_nothing(without, amp, arguments):
    before = sorted(path.name for path in amp.root.rglob("*"))
    done = without(*arguments.split())
    assert (done.returncode, "Traceback" in done.stderr) == (4, False), done.stderr
    assert "this Python has no SQLite" in done.stderr
    assert sorted(path.name for path in amp.root.rglob("*")) == before


@pytest.mark.slow
@pytest.mark.requirement("S4-71")
def test_the_mcp_server_serves_memory_without_sqlite(without, amp):
    begin = {"protocolVersion": "2025-03-26", "capabilities": {}, "clientInfo": {"name": "x", "version": "1"}}
    lines = [
        {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": begin},
        {"jsonrpc": "2.0", "method": "notifications/initialized"},
        {"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": {"name": "memory_recall", "arguments": {}}},
    ]
    server = subprocess.Popen(
        [sys.executable, "-c", BLOCKED + "import agent_memory_protocol.cli.main as amp; amp.mcp()"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        cwd=amp.root,
        env=amp.environ(),
    )
    with server:
        assert server.stdin is not None
        assert server.stdout is not None
        server.stdin.write("".join(json.dumps(line) + "\n" for line in lines))
        server.stdin.flush()
        answers = [json.loads(server.stdout.readline()) for _ in range(2)]
        server.stdin.close()
    assert "Redis needs AOF on." in json.dumps(answers[1])

"""`amp` with a store on PostgreSQL: every verb for records, and one clear line for each refusal."""

import json
import sys

import pytest

from agent_memory_protocol import Memory
from agent_memory_protocol.postgresql import server
from agent_memory_protocol.postgresql.sharing import SharedStore
from tests.postgresql_server import PASSWORD

UP, DOWN = "The staging host is up.", "The staging host is not up."


@pytest.fixture(autouse=True)
def _quick(monkeypatch):
    monkeypatch.setattr(server, "WAIT", 0.2)


@pytest.fixture
def by_tcp(address, postgresql):
    """The same namespace with a password in its address."""
    return f"{postgresql.by_tcp()}&namespace={address.partition('namespace=')[2]}"


@pytest.mark.slow
def test_every_verb_for_records_works_on_it(amp, by_tcp):
    store = ("--store", by_tcp)
    with Memory(amp.root / "here", consolidate_every=0) as here:
        ids = [here.remember(text).record_id for text in (UP, DOWN, "Deploys go out on Tuesdays.")]
        here.export(amp.root / "facts.amem.json")
    said = [
        amp("import", "facts.amem.json", "--apply", "--accept-unsigned", *store),
        amp("consolidate", "--apply", "--identity", "agent.key", *store),
        amp("record", "list", *store),
        amp("record", "show", ids[0], *store),
        amp("record", "history", ids[0][:12], *store),
        amp("record", "resolve", ids[0], ids[1], "--reason", "looked", *store),
        amp("record", "sign", "--identity", "agent.key", *store),
        amp("search", "staging", *store),
        amp("search", "stagng", "--json", *store),
        amp("decay", *store),
        amp("export", "records", "--output", "out.amem.json", *store),
        amp("record", "redact", ids[2], "--reason", "no", *store),
        amp("record", "verify", *store),
    ]
    assert [answer.code for answer in said] == [0] * len(said), said
    listed = said[2].out
    assert listed.count("transitional") == 2
    assert "everything verifies: 3 records" in said[-1].out
    assert len(json.loads((amp.root / "out.amem.json").read_text())["records"]) == 3
    for answer in said:
        assert PASSWORD not in answer.out + answer.err
    assert not (amp.home / ".cache").exists(), "no index is made on this machine"


@pytest.mark.slow
def test_a_store_that_was_set_back_or_changed_by_hand_does_not_verify(amp, address, postgresql):
    name = address.partition("namespace=")[2]
    with Memory(store=SharedStore(address)) as memory:
        one, other = (memory.remember(text).record_id for text in (UP, "Deploys go out on Tuesdays."))
        old = postgresql.run(f"SELECT * FROM {name}.heads")
        memory.dispute(one, other, "x")
    assert amp("record", "verify", address).code == 0
    postgresql.run(f"DELETE FROM {name}.versions WHERE version = 2")
    assert "is missing" in amp("record", "verify", "--store", address).out
    postgresql.run(f"DELETE FROM {name}.heads")
    for row in old:
        postgresql.run(f"INSERT INTO {name}.heads VALUES ({', '.join(['%s'] * len(row))})", *row)
    answer = amp("record", "verify", address)
    assert (answer.code, answer.out.count("was set back; this machine has seen")) == (4, 2)


@pytest.mark.slow
@pytest.mark.parametrize("keeps_index", [False, True])
def test_whatever_is_taken_out_of_a_store_is_missed(amp, address, postgresql, keeps_index):
    name = address.partition("namespace=")[2]

    def filled() -> str:
        postgresql.run(f"TRUNCATE {name}.heads, {name}.versions")
        with Memory(store=SharedStore(address, keeps_index=keeps_index), consolidate_every=0) as memory:
            one, other = (memory.remember(text).record_id for text in (UP, "Deploys go out on Tuesdays."))
            memory.archive(other, "over")
        return one

    def said() -> list[str]:
        with Memory(store=SharedStore(address, keeps_index=keeps_index)) as memory:
            return [*memory.check().problems]

    one = filled()
    assert said() == []
    postgresql.run(f"DELETE FROM {name}.heads WHERE record_id = %s", one)
    assert any("nothing finds it" in line for line in said())
    postgresql.run(f"DELETE FROM {name}.versions WHERE record_id = %s", one)
    assert [line for line in said() if one in line and "machine has seen it" in line]
    one = filled()
    for table in ("heads", "versions"):
        postgresql.run(f"UPDATE {name}.{table} SET record_id = 'stray' WHERE record_id = %s", one)
    assert any("'stray' is in the store, and nothing finds it" in line for line in said())
    one = filled()
    postgresql.run(f"UPDATE {name}.versions SET payload = 'x' WHERE record_id = %s", one)
    assert any(one in line and "is not JSON" in line for line in said())


@pytest.mark.slow
def test_an_emptied_cache_does_not_hide_that_a_store_was_set_back(tmp_path, monkeypatch, address, postgresql):
    name = address.partition("namespace=")[2]
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    with Memory(store=SharedStore(address, keeps_index=True)) as memory:
        one = memory.remember(UP).record_id
        assert memory.check().problems == ()
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "another"))
    postgresql.run(f"TRUNCATE {name}.heads, {name}.versions")
    with Memory(store=SharedStore(address, keeps_index=True)) as memory:
        assert memory.check().problems == (f"{one}: is gone, and this machine has seen it; restore it from a backup",)


@pytest.mark.slow
def test_a_store_is_made_by_sql_that_is_shown_first(amp, postgresql):
    address = f"{postgresql.by_tcp()}&sslmode=prefer"
    shown = amp("record", "init-store", address, "--namespace", "made_here")
    assert shown.code == 0
    assert 'CREATE SCHEMA IF NOT EXISTS "made_here"' in shown.out
    for role in ("made_here_reader", "made_here_writer"):
        assert role in shown.out
    assert "nothing was changed" in shown.err
    by_hand = amp("record", "init-store", address, "--namespace", "from_psql").out
    postgresql.run(by_hand)  # as `… | psql` does
    assert amp("record", "list", "--store", f"{address}&namespace=from_psql", "--json").json()["records"] == []
    in_it = ("--store", f"{address}&namespace=made_here")
    amp("record", "list", *in_it).refuses(4, "there is no namespace made_here", "--apply")
    made = amp("record", "init-store", address, "--namespace", "made_here", "--apply", "--json").json()
    assert made["applied"]
    assert made["namespace"] == "made_here"
    assert amp("record", "list", *in_it, "--json").json()["records"] == []
    again = amp("record", "init-store", f"{address}&namespace=made_here", "--apply")
    assert again.out.startswith("brought up to date")
    for answer in (shown, again):
        assert PASSWORD not in answer.out + answer.err
    roles = postgresql.run("SELECT rolname FROM pg_roles WHERE rolname ~ '^made_here_' ORDER BY 1")
    assert roles == [("made_here_reader",), ("made_here_writer",)]


WRONG = {
    "wrong password": (PASSWORD, "hunter2", 4, "user or password is wrong"),
    "no password": (f":{PASSWORD}", "", 4, "~/.pgpass"),
    "no such user": ("postgres:", "nobody_known:", 4, "user or password"),
    "no database": ("/postgres?", "/nothing?", 4, "this database is missing"),
    "no namespace": ("namespace=", "namespace=no_", 4, "there is no namespace"),
    "bad namespace": ("namespace=", "namespace=A", 2, "cannot be a namespace"),
    "server away": ("@127.0.0.1:", "@127.0.0.2:", 4, "cannot be reached"),
    "unknown host": ("127.0.0.1", "nowhere.invalid", 4, "host"),
    "no tls": ("namespace=", "sslmode=require&namespace=", 4, "cannot be encrypted"),
    "no service": ("namespace=", "service=nope&namespace=", 4, "no service file has this service"),
    "bad value": ("namespace=", "sslmode=perhaps&namespace=", 4, "a value that libpq does not know"),
    "unknown parameter": ("namespace=", "colour=red&namespace=", 2, "libpq cannot read this address"),
    "slash in the password": (PASSWORD, f"{PASSWORD}/x", 2, "%2F"),
}


@pytest.mark.slow
@pytest.mark.parametrize(("old", "new", "code", "words"), WRONG.values(), ids=WRONG)
def test_what_is_wrong_is_one_line_without_a_password(old, new, code, words, amp, by_tcp):
    verb = {2: ("record", "list"), 4: ("search", "x")}[code]
    answer = amp(*verb, "--store", by_tcp.replace(old, new))
    answer.refuses(code, words)
    assert PASSWORD not in answer.err
    assert "hunter2" not in answer.err


def test_the_password_comes_from_the_usual_places(amp, by_tcp, postgresql):
    bare = by_tcp.replace(f":{PASSWORD}", "")
    assert amp("record", "list", "--store", bare, environ={"PGPASSWORD": PASSWORD}).code == 0
    file = amp.home / ".pgpass"
    file.write_text(f"127.0.0.1:{postgresql.port}:*:postgres:{PASSWORD}\n")
    file.chmod(0o600)
    assert amp("record", "list", "--store", bare).code == 0
    file.chmod(0o644)
    assert "chmod 600" in amp("record", "list", "--store", bare).err
    elsewhere = {"PGHOST": str(postgresql.folder), "PGPORT": str(postgresql.port), "PGUSER": "postgres"}
    name = by_tcp.partition("namespace=")[2]
    assert amp("record", "list", "--store", f"postgresql:///postgres?namespace={name}", environ=elsewhere).code == 0


def test_without_psycopg_the_extra_is_named(amp, address, monkeypatch):
    monkeypatch.setitem(sys.modules, "psycopg", None)
    for verb in (("record", "list", "--store", address), ("record", "init-store", address, "--apply")):
        amp(*verb).refuses(2, "pip install 'agent-memory-protocol[postgresql]'")
    assert amp("record", "init-store", address).code == 0


def test_a_reader_is_told_that_it_may_not_write(amp, address, postgresql):
    name = address.partition("namespace=")[2]
    postgresql.run(f"CREATE ROLE {name}_u LOGIN IN ROLE {name}_reader")
    with Memory(amp.root / "here") as here:
        here.remember(UP)
        here.export(amp.root / "facts.amem.json")
    store = ("--store", address.replace("postgres@", f"{name}_u@"))
    assert amp("record", "list", *store).code == 0
    answer = amp("import", "facts.amem.json", "--apply", "--accept-unsigned", *store)
    assert answer.code == 3
    assert f"GRANT {name}_reader or {name}_writer" in answer.err
    assert amp("record", "list", *store, "--json").json()["records"] == []


def test_the_settings_of_an_mcp_host_hold_no_password(amp, by_tcp):
    answer = amp("mcp", "--path", by_tcp, "--config")
    assert PASSWORD not in answer.out + answer.err
    assert "~/.pgpass" in answer.err
    arguments = json.loads(answer.out)["mcpServers"]["agent-memory"]["args"]
    assert arguments[-2] == "--path"
    assert arguments[-1].startswith("postgresql://postgres@127.0.0.1:")

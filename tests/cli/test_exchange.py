"""`amp export` and `amp import`, as their users run them."""

import json

import pytest

TOKEN = "ghp" + "_" + "Kq7Zt2Xw9Lm4Rb6Yc1Vn8Hd3Js5Pf0Ga7Ue2"


@pytest.fixture
def full(amp):
    """A project with something in it."""
    amp("remember", "Redis needs AOF on.", "--section", "Infra")
    amp("remember", "Own fact.", "--agent", "developer")
    return amp


def test_exporting_says_which_of_the_documents_named_are_not_there(full):
    missing = "amp: .scaffolding/agent-memory/agents/nobody/MEMORY.md does not exist yet"
    assert missing in full("export", "agent:nobody", "--output", "a.ndjson").err
    told = full("export", "shared", "agent:nobody", "--output", "b.ndjson").err
    assert (missing in told, told.count("does not exist"), "1 entry from memory" in told) == (True, 1, True)
    assert "does not exist" not in full("export", "--output", "c.ndjson").err


def test_memory_goes_out_and_comes_in_again(full):
    assert full("export", "--output", "a.pb").code == 0
    planned = full("import", "a.pb")
    assert planned.out.splitlines() == ["new    Redis needs AOF on.", "new    Own fact."]
    assert planned.err.splitlines() == [
        "amp: 2 entries of protobuf would go into records",
        "amp: nothing was changed; add --apply to do it",
    ]
    assert full("record", "list", "--json").json()["records"] == []
    done = full("import", "a.pb", "--apply")
    assert done.out.splitlines() == ["added  Redis needs AOF on.", "added  Own fact."]
    assert {one["body"] for one in full("record", "list", "--json").json()["records"]} == {
        "Redis needs AOF on.",
        "Own fact.",
    }
    again = full("import", "a.pb", "--apply", "--json").json()
    assert (again["new"], again["known"], again["left_out"], again["to"]) == (0, 2, 0, "records")


@pytest.mark.slow
def test_what_is_named_goes_out_to_stdout(full):
    answer = full.process("export", "agent:developer", "--format", "ndjson")
    assert [json.loads(line)["text"] for line in answer.out.splitlines()] == ["Own fact."]
    told = full("export", "shared", "--output", "a.sqlite", "--json").json()
    assert (told["from"], told["to"], told["entries"]) == ("memory", "sqlite", 1)
    full("export", "shared", "--output", "a.sqlite").refuses(3, "a.sqlite exists already", "--force")


def test_records_go_out_when_they_are_named(full):
    full("export", "--output", "a.ndjson")
    full("import", "a.ndjson", "--apply")
    assert full("export", "records", "--output", "b.amem.json", "--json").json()["entries"] == 2
    assert len(json.loads((full.root / "b.amem.json").read_bytes())["records"]) == 2


def test_entries_go_into_a_document(full):
    full("export", "shared", "--output", "a.ndjson")
    assert full("import", "a.ndjson", "--to", "agent:developer", "--apply").code == 0
    (entry,) = (
        one
        for one in full("list", "--json").json()["entries"]
        if one["text"] == "- Redis needs AOF on." and one["tier"] == "agent"
    )
    assert entry["section"] == "Infra"


def test_a_secret_is_refused_with_its_line(full):
    full("export", "shared", "--output", "a.ndjson")
    path = full.root / "a.ndjson"
    value = json.loads(path.read_bytes())
    path.write_bytes(
        path.read_bytes() + json.dumps({**value, "id": "x", "text": f"The token is {TOKEN}"}).encode() + b"\n"
    )
    answer = full("import", "a.ndjson", "--apply")
    assert answer.code == 3
    assert "amp: left out: line 2: " in answer.err
    assert TOKEN not in answer.err + answer.out
    full("import", "a.ndjson", "--apply", "--strict").refuses(3, "line 2: ", "nothing was written")


@pytest.mark.slow
@pytest.mark.requirement("S2-29")
@pytest.mark.parametrize("name", ["a.ndjson", "a.pb", "a.sqlite", "a.jsonl", "a.md"])
@pytest.mark.parametrize("where", ["entry", "note"])
def test_a_secret_in_a_memory_file_leaves_by_no_export_and_costs_no_other(full, name, where):
    folder = full.root / ".scaffolding/agent-memory/shared"
    if where == "entry":
        file = folder / "KNOWLEDGE.md"
        file.write_text(f"{file.read_text()}- The deploy token is {TOKEN}\n")
    else:
        head = "---\nname: project_a\ndescription: d\nmetadata:\n  type: project\n---\nf\n\n"
        (folder / "project_a.md").write_text(f"{head}**Why:** the token is {TOKEN}\n\n**How to apply:** h\n")
    answer = full("export", "--output", name)
    assert answer.code == 3
    assert "left out: shared: an entry holds a GitHub token" in answer.err
    assert "Redis needs AOF on." in full("convert", name, "-", "--format", "ndjson").out
    assert TOKEN.encode() not in (full.root / name).read_bytes() + (answer.out + answer.err).encode()
    fingerprint = answer.err.partition("fingerprint ")[2].partition(")")[0]
    (full.root / ".scaffolding/amp.toml").write_text(f'[secrets]\nallow = ["{fingerprint}"]\n')
    allowed = full("export", "--output", name, "--force")
    assert allowed.code == 0
    assert name == "a.md" or TOKEN.encode() in (full.root / name).read_bytes()


@pytest.mark.slow
@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        (("export", "--format", "json", "--json"), 2, "add --output"),
        (("export", "nonsense", "--output", "a.pb"), 2, "is not a document"),
        (("export", "--output", "a.txt"), 2, "end the name with one of"),
        (("export", "agent:developer", "--output", "a.pb", "--as", "tester"), 3, "developer"),
        (("import", "missing.pb"), 2, "missing.pb is not there; name a file that is, or - for stdin"),
        (("import", "other"), 4, "none of the known formats"),
        (("import", "other", "--format", "nonsense"), 2, "there is no format"),
        (("import", "other", "--format", "json", "--to", "nonsense"), 2, "is not a document"),
    ],
)
def test_a_mistake_is_one_line_and_leaves_nothing(full, arguments, code, words):
    (full.root / "other").write_bytes(b"\0")
    before = sorted(full.root.rglob("*"))
    full(*arguments).refuses(code, words)
    assert sorted(full.root.rglob("*")) == before


def test_the_graph_of_the_mcp_server_comes_in(amp):
    graph = {"type": "entity", "name": "Redis", "entityType": "service", "observations": ["needs AOF"]}
    (amp.root / "memory.jsonl").write_text(json.dumps(graph) + '\n{"pattern": "x"}\n')
    answer = amp("import", "memory.jsonl", "--apply")
    assert answer.code == 4
    assert answer.out == "added  Redis: needs AOF\n"
    assert "left out: line 2: is neither entity nor relation; it has pattern" in answer.err


HEAD = '{"format":"agent-memory/0.1","created_at":"2026-01-01T00:00:00Z"}'


def line(key, text, **fields):
    common = {"kind": "fact", "scope": "global", "tags": [], "source": "user", "created_at": "2026-01-01T00:00:00Z"}
    return json.dumps({"id": key, "text": text, **common, **fields})


@pytest.mark.slow
@pytest.mark.parametrize("to", [(), ("--to", "agent:developer")], ids=["records", "document"])
def test_an_import_says_what_the_new_entries_meet(full, to):
    full("remember", "The API listens on port 9090.")
    (full.root / "m.jsonl").write_text("\n".join((HEAD, line("a", "The API listens on port 8080."), "")))
    assert "has another value" not in full("import", "m.jsonl", *to).err
    done = full("import", "m.jsonl", *to, "--apply")
    assert done.err.count("has another value: “The API listens on port 9090.”") == 1
    (full.root / "m.jsonl").write_text("\n".join((HEAD, line("b", "Deploys happen on Fridays."), "")))
    assert full("import", "m.jsonl", *to, "--apply", "--json").json()["notes"] == []


def test_an_import_says_what_has_expired(full):
    told = [line("a", "The freeze is on.", expires_at="2026-02-01"), line("b", "The freeze is over.")]
    (full.root / "m.jsonl").write_text("\n".join((HEAD, *told, "")))
    answer = full("import", "m.jsonl")
    assert "amp: 1 entry of the file expired and will not come in: a (2026-02-01)" in answer.err
    assert (answer.code, answer.out) == (0, "new    The freeze is over.\n")
    (full.root / "m.jsonl").write_text("\n".join((HEAD, told[1], "")))
    assert "expired" not in full("import", "m.jsonl").err


@pytest.mark.parametrize("name", ["a.pb", "a.sqlite"])
def test_an_entry_of_a_file_without_lines_is_named_by_its_number(full, name):
    full("export", "shared", "--output", "a.ndjson")
    value = json.loads((full.root / "a.ndjson").read_bytes())
    value |= {"id": "00000000-0000-4000-8000-000000000001", "text": f"The token is {TOKEN}"}
    with (full.root / "a.ndjson").open("a") as file:
        file.write(json.dumps(value) + "\n")
    full("convert", "a.ndjson", name)
    assert "amp: left out: entry 2: " in full("import", name, "--apply").err


def test_each_refused_record_of_a_memory_file_has_its_own_number(full):
    full("export", "--output", "a.ndjson")
    full("import", "a.ndjson", "--apply")
    full("export", "records", "--output", "b.amem.json")
    answer = full("import", "b.amem.json", "--store", "elsewhere")
    places = [said.split(": ")[2] for said in answer.err.splitlines() if "left out" in said]
    assert places == ["record 1", "record 2"]


@pytest.mark.parametrize(("day", "is_older"), [("2020-01-01", True), ("2099-01-01", False)], ids=["older", "newer"])
def test_the_older_of_two_records_is_retired_wherever_it_comes_from(amp, day, is_older):
    here = amp("record", "remember", "The API listens on port 9090.", "--json").json()["id"]
    text = line("a", "The API listens on port 8080.", created_at=f"{day}T00:00:00Z")
    (amp.root / "m.jsonl").write_text(f"{HEAD}\n{text}\n")
    told = amp("import", "m.jsonl", "--apply").err
    (come,) = {one["id"] for one in amp("record", "list", "--json").json()["records"]} - {here}
    older, newer = (come, here) if is_older else (here, come)
    assert f"`amp resolve {older} {newer}` retires the older" in told


def test_an_output_that_can_be_no_path_is_refused_in_one_line(amp):
    amp("export", "--output", "a\0b.jsonl").refuses(4, "no file has a NUL in its name")

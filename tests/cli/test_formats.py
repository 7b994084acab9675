"""`amp convert` and `amp schema`, as their users run them."""

import json
import subprocess
import sys

import pytest

from agent_memory_protocol.formats import json_schema, protobuf, schemas
from agent_memory_protocol.formats.entry import MemoryEntry, embedding_of
from agent_memory_protocol.formats.table import loss_rows

ENTRIES = [
    MemoryEntry(
        f"0f8fad5b-d9cb-469f-a165-70867728950{number}", number, f"fact {number}", ("task",), "shell",
        embedding_of([1.0, float(number)]), 0.5 * number,
    )
    for number in range(3)
]  # fmt: skip
LINES = b"".join(json_schema.encode(entry) + b"\n" for entry in ENTRIES)


@pytest.mark.requirement("S3-09", "S3-11", "S3-17")
@pytest.mark.parametrize(
    ("which", "file"), [("proto", schemas.PROTO), ("json", schemas.JSON), ("answers", schemas.ANSWERS)]
)
def test_a_schema_is_printed_as_it_ships(amp, which, file):
    assert amp("schema", which) == (0, schemas.text(file), "")


@pytest.mark.requirement("S3-23")
def test_a_file_is_converted_and_what_is_lost_is_said(amp):
    (amp.root / "a.ndjson").write_bytes(LINES)
    assert amp("convert", "a.ndjson", "a.pb") == (0, "", "amp: 3 entries from ndjson to protobuf\n")
    assert list(protobuf.iter_entries(amp.root / "a.pb")) == ENTRIES
    answer = amp("convert", "a.pb", "a.jsonl")
    assert (answer.code, answer.out) == (0, "")
    assert answer.err.splitlines() == [
        "amp: jsonl cannot carry embeddings, of 3 entries: left out; where one is needed, it is made from the text",
        "amp: jsonl cannot carry relevance scores, of 2 entries: left out",
        "amp: 3 entries from protobuf to jsonl",
    ]
    told = amp("convert", "a.jsonl", "b.ndjson", "--json").json()
    assert (told["from"], told["to"], told["entries"], told["embedded"]) == ("jsonl", "ndjson", 3, 3)
    assert (told["losses"], told["problems"], told["left_out"], told["doubles"]) == ([], [], 0, 0)


@pytest.mark.slow
def test_stdin_and_stdout_take_the_place_of_files(amp):
    made = amp.process("convert", "-", "-", "--format", "json", stdin=LINES)
    assert made.code == 0
    assert [one["id"] for one in json.loads(made.out)] == [entry.id for entry in ENTRIES]
    assert amp.process("convert", "-", "a.sqlite", stdin=made.out).code == 0
    assert amp.process("convert", "a.sqlite", "-", "--format", "ndjson").out.encode() == LINES


@pytest.mark.slow
def test_binary_goes_through_a_pipe_as_it_is(amp):
    program = [str(amp.script), "convert", "-", "-", "--format"]
    made = subprocess.run([*program, "protobuf"], input=LINES, capture_output=True, cwd=amp.root, check=True).stdout
    back = subprocess.run([*program, "ndjson"], input=made, capture_output=True, cwd=amp.root, check=True).stdout
    assert back == LINES


def test_a_bad_line_is_told_and_costs_no_other(amp):
    (amp.root / "a.ndjson").write_bytes(b"nonsense\n" + LINES)
    answer = amp("convert", "a.ndjson", "a.sqlite")
    assert answer.code == 4
    assert "amp: left out: line 1: is not JSON" in answer.err
    assert answer.err.endswith("amp: 3 entries from ndjson to sqlite\n")
    amp("convert", "a.ndjson", "b.sqlite", "--strict").refuses(4, "line 1: is not JSON", "nothing was written")
    assert not (amp.root / "b.sqlite").exists()


def test_many_bad_lines_are_counted(amp):
    (amp.root / "a.ndjson").write_bytes(b"{}\n" * 50)
    amp("convert", "a.ndjson", "a.json").refuses(
        4, "line 1: it has no id", "and 49 more are wrong; nothing was written"
    )
    (amp.root / "a.ndjson").write_bytes(b"{}\n" * 50 + LINES)
    answer = amp("convert", "a.ndjson", "a.json")
    assert (answer.code, answer.err.count("left out: line")) == (4, 20)
    assert "left out: 30 more like these" in answer.err


def test_what_stands_there_is_replaced_only_with_force(amp):
    (amp.root / "a.ndjson").write_bytes(LINES)
    (amp.root / "a.json").write_text("precious")
    amp("convert", "a.ndjson", "a.json").refuses(3, "a.json exists already", "--force")
    assert (amp.root / "a.json").read_text() == "precious"
    assert amp("convert", "a.ndjson", "a.json", "--force").code == 0
    assert len(json.loads((amp.root / "a.json").read_bytes())) == 3


@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        ((), 2, "name IN and OUT"),
        (("a.ndjson",), 2, "name IN and OUT"),
        (("a.ndjson", "a.txt"), 2, "say --format, or end the name with one of"),
        (("a.ndjson", "-", "--format", "json", "--json"), 2, "name a file for OUT"),
        (("a.ndjson", "a.x", "--format", "mcp-graph"), 2, "can only be read"),
        (("a.ndjson", "a.x", "--format", "nonsense"), 2, "there is no format 'nonsense'"),
        (("missing.pb", "a.json"), 2, "missing.pb is not there; name a file that is, or - for stdin"),
        (("a.ndjson", "no/a.json"), 4, "there is no such file or folder"),
        (("other.txt", "a.json"), 4, "none of the known formats"),
        (("a.ndjson", "a.json", "--from", "protobuf"), 4, "is not an entry"),
    ],
)
def test_a_mistake_is_one_line_and_leaves_nothing(amp, arguments, code, words):
    (amp.root / "a.ndjson").write_bytes(LINES)
    (amp.root / "other.txt").write_bytes(b"\0")
    before = sorted(amp.root.iterdir())
    amp("convert", *arguments).refuses(code, words)
    assert sorted(amp.root.iterdir()) == before


@pytest.mark.requirement("S3-23")
def test_the_losses_are_those_of_the_code(amp):
    answer = amp("convert", "--losses")
    assert answer.code == 0
    assert len(answer.out.splitlines()) == len(list(loss_rows()))
    assert "jsonl        embeddings: left out" in answer.out
    listed = amp("convert", "--losses", "--json").json()["losses"]
    assert [tuple(row.values()) for row in listed] == list(loss_rows())


@pytest.mark.slow
def test_a_package_that_is_not_installed_is_named(amp):
    (amp.root / "a.ndjson").write_bytes(LINES)
    program = (
        "import sys; sys.modules['google.protobuf'] = sys.modules['duckdb'] = None\n"
        "from agent_memory_protocol.cli.main import main\nmain()"
    )
    for name, extra in (("a.pb", "protobuf"), ("a.parquet", "duckdb")):
        done = subprocess.run(
            [sys.executable, "-c", program, "convert", "a.ndjson", name],
            cwd=amp.root, capture_output=True, encoding="utf-8", check=False,
        )  # fmt: skip
        assert done.returncode == 2
        assert f"pip install 'agent-memory-protocol[{extra}]'" in done.stderr
        assert done.stderr.count("\n") == 1
    assert [path.name for path in amp.root.iterdir()] == ["a.ndjson"]


def test_without_a_format_stdout_is_ndjson_and_that_is_said(amp):
    (amp.root / "a.ndjson").write_bytes(LINES)
    answer = amp("convert", "a.ndjson", "-")
    assert (answer.code, answer.out.encode()) == (0, LINES)
    assert answer.err.startswith("amp: written as ndjson; --format names another format\n")
    named = amp("convert", "a.ndjson", "-", "--format", "ndjson")
    assert (named.out, "written as" in named.err) == (answer.out, False)
    amp("remember", "A fact to take along.")
    exported = amp("export", "shared")
    assert [json.loads(line)["text"] for line in exported.out.splitlines()] == ["A fact to take along."]
    assert "written as ndjson" in exported.err


def test_quiet_leaves_remarks_away_and_never_an_error(amp):
    (amp.root / "a.ndjson").write_bytes(LINES)
    assert amp("convert", "a.ndjson", "a.md", "--quiet") == (0, "", "")
    assert amp("list", "-q") == (0, "", "")
    assert amp("list").err != ""
    amp("convert", "a.ndjson", "a.md", "--quiet").refuses(3, "a.md")
    amp("list", "--quiet", "--nonsense").refuses(2)


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("facts.csv", "text,when\nRedis needs AOF on.,2026-01-05\n"),
        ("FACTS.TSV", "text\twhen\nRedis needs AOF on.\t2026-01-05\n"),
        ("facts.jsonl", '{"id": "1", "text": "Redis needs AOF on."}\n'),
        ("facts", '{"memory": "Redis needs AOF on."}\n'),
        ("facts.json", '[{"content": "Redis needs AOF on.", "role": "user"}]'),
    ],
)
def test_what_can_only_be_imported_is_not_converted_and_the_command_that_does_is_named(amp, name, text):
    (amp.root / name).write_text(text)
    amp("convert", name, "x.json").refuses(
        2, f"{name} holds rows of another tool, not entries; `amp import {name} --apply`"
    )
    assert not (amp.root / "x.json").exists()
    assert "1 entry" in amp("import", name).err


def test_a_file_of_no_format_is_refused_with_the_option_that_names_one(amp):
    (amp.root / "facts").write_bytes(b"\0\1\2")
    amp("convert", "facts", "x.json").refuses(4, "say which with --from")
    amp("import", "facts").refuses(4, "say which with --format")

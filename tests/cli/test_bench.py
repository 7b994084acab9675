"""`amp bench formats`, as its users run it."""

import subprocess
import sys

import pytest

from agent_memory_protocol.exchange.sample import sample
from agent_memory_protocol.formats import json_schema

SMALL = ("bench", "formats", "--records", "40", "--dimensions", "4", "--rounds", "1")


@pytest.mark.slow
@pytest.mark.requirement("S3-02", "S3-03")
def test_the_formats_stand_side_by_side(amp):
    answer = amp(*SMALL)
    assert answer.code == 0
    lines = answer.out.splitlines()
    assert lines[0].split() == ["ndjson", "json", "protobuf", "sqlite", "parquet"]
    assert [line[: len(word)] for line, word in zip(lines[1:], ROWS, strict=True)] == ROWS
    assert answer.err == "amp: 40 entries, tag task; 1 round: the median (the fastest–the slowest)\n"
    assert list(amp.root.iterdir()) == []


ROWS = [
    *("on disk", "all written", "all read", "one added", "10 newest with a tag, asked first"),
    *("10 newest with a tag, asked again", "a later field is", "* the whole file is written again"),
]


@pytest.mark.slow
def test_the_figures_are_drawn_where_asked(amp):
    assert amp(*SMALL, "--plot", "a.svg").code == 0
    assert (amp.root / "a.svg").read_text(encoding="utf-8").startswith("<svg ")
    amp(*SMALL, "--plot", "a.png").refuses(2, "end the name with .svg")


@pytest.mark.slow
def test_own_entries_are_measured_by_their_most_usual_tag(amp):
    found = [entry._replace(tags=("mine", *entry.tags)) for entry in sample(30, 3)]
    (amp.root / "own.ndjson").write_bytes(b"".join(json_schema.encode(entry) + b"\n" for entry in found) + b"{}\n")
    answer = amp("bench", "formats", "--from", "own.ndjson", "--rounds", "1", "--json")
    told = answer.json()
    assert (told["records"], told["dimensions"], told["tag"]) == (30, 3, "mine")
    assert "1 entry of own.ndjson cannot be read" in answer.err


def test_entries_without_tags_have_nothing_to_ask_for(amp):
    (entry,) = sample(1, 3)
    (amp.root / "own.ndjson").write_bytes(json_schema.encode(entry._replace(tags=())) + b"\n")
    amp("bench", "formats", "--from", "own.ndjson").refuses(2, "no entry has a tag to ask for")


def test_a_file_that_is_not_there_is_named(amp):
    amp("bench", "formats", "--from", "missing.pb").refuses(2, "missing.pb is not there; name a file that is")


def test_a_format_whose_package_is_missing_is_left_out_and_named(amp):
    program = (
        "import sys; sys.modules['google.protobuf'] = sys.modules['duckdb'] = None\n"
        "from agent_memory_protocol.cli.main import main\nmain()"
    )
    done = subprocess.run(
        [sys.executable, "-c", program, *SMALL], cwd=amp.root, capture_output=True, encoding="utf-8", check=True
    )
    assert done.stdout.splitlines()[0].split() == ["ndjson", "json", "sqlite"]
    assert "protobuf is left out" in done.stderr
    assert "parquet is left out" in done.stderr

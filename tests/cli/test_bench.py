"""`amp bench formats`, as its users run it."""

import subprocess
import sys

import pytest

from agent_memory_protocol.cli.bench import table
from agent_memory_protocol.exchange.measure import STEPS, Measured
from agent_memory_protocol.exchange.sample import sample
from agent_memory_protocol.formats import json_schema
from agent_memory_protocol.formats.table import by_name

SMALL = ("bench", "formats", "--records", "40", "--dimensions", "4", "--rounds", "1")


@pytest.mark.slow
@pytest.mark.requirement("S3-02", "S3-03")
def test_the_formats_stand_side_by_side(amp):
    answer = amp(*SMALL)
    assert answer.code == 0
    lines = answer.out.splitlines()
    assert max(map(len, lines)) <= 80
    assert all(word in answer.out for word in ROWS)
    assert answer.err == "amp: 40 entries, tag task; 1 round: the median; --json has the fastest and the slowest, too\n"
    assert list(amp.root.iterdir()) == []


ROWS = [
    *("on disk", "all written", "all read", "one added", "10 newest with a tag, asked first"),
    *("10 newest with a tag, asked again", "a later field is kept", "* the whole file is written again"),
]


@pytest.mark.parametrize(("width", "first"), [(200, "ndjson"), (80, "ndjson"), (40, "ndjson")], ids=str)
def test_the_table_is_no_wider_than_it_may_be(width, first):
    formats = [by_name(name) for name in ("ndjson", "json", "protobuf", "sqlite", "parquet")]
    seconds = {step: [0.0011, 0.0012, 0.0022] for step in STEPS}
    found = [Measured(one, 20_000, seconds, keeps_unknown=True) for one in formats]
    lines = table(found, width)
    assert max(map(len, lines)) <= max(width, 50)
    assert ("1.2 (1.1–2.2) ms" in lines[2]) == (width == 200)
    assert lines[0].split()[0] == first


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


@pytest.mark.slow
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

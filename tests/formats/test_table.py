"""Every format by the same rules: found by its content, and nothing lost that the table does not name."""

import json
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from agent_memory_protocol.errors import AgentMemoryError, DamagedFile, InvalidArgument
from agent_memory_protocol.formats import table
from agent_memory_protocol.formats.entry import MemoryEntry, embedding_of
from agent_memory_protocol.formats.table import FORMATS, Format, by_name, by_suffix, detect, to_write

from .conftest import ENTRIES

WRITABLE = [one for one in FORMATS if one.writes]
VECTOR = embedding_of([1.0, 0.0])


def through(path: Path, target: Format, entries: list[MemoryEntry]) -> tuple[list[MemoryEntry], list[MemoryEntry]]:
    """Write entries and read them back; return what should have come back, and what did."""
    kept, encoded = [], []
    for given_entry in entries:
        try:
            entry, _ = target.carry(given_entry)
            entry = entry._replace(embedding=entry.embedding or VECTOR) if target.needs_embedding else entry
            encoded.append(target.encode(entry))
        except AgentMemoryError:
            continue  # said to be refused, never lost in silence
        kept.append(entry)
    target.write(str(path), encoded)
    back = [one for one in target.read(str(path)) if isinstance(one, MemoryEntry)]
    return kept, back


def in_order(entries: list[MemoryEntry]) -> list[tuple[object, ...]]:
    return sorted(entry[:8] for entry in ((*one[:7], sorted(one.extra.items())) for one in entries))


@pytest.mark.slow
@pytest.mark.requirement("S3-23")
@pytest.mark.parametrize("one", WRITABLE, ids=lambda one: one.name)
def test_through_any_two_formats_nothing_is_lost_that_the_table_does_not_name(tmp_path_factory, one):
    @settings(max_examples=3, phases=[Phase.generate])
    @given(st.lists(ENTRIES, min_size=3, max_size=8, unique_by=lambda entry: (entry.id, entry.text)))
    def check(entries):
        folder = tmp_path_factory.mktemp("pair")
        kept, back = through(folder / "one", one, entries)
        assert in_order(back) == in_order(kept)
        for other in WRITABLE:
            again, last = through(folder / other.name, other, back)
            assert in_order(last) == in_order(again), other.name

    check()


@pytest.mark.parametrize("target", WRITABLE, ids=lambda one: one.name)
def test_what_a_format_carries_it_carries_again(target, some):
    for entry in some:
        once, _ = target.carry(entry)
        assert target.carry(once) == (once, [])


@pytest.mark.parametrize("target", WRITABLE, ids=lambda one: one.name)
def test_a_file_is_known_by_its_content_whatever_it_is_called(tmp_path, target, some):
    usual = str(tmp_path / f"memory{target.suffixes[0]}")
    target.write(usual, [target.encode(target.carry(entry)[0]) for entry in some])
    assert detect(usual) == target
    assert list(target.read(usual))
    data = Path(usual).read_bytes()
    if target.name in ("markdown", "json"):
        return  # any text is Markdown, and a JSON array may be called as its user likes
    for name in ("memory", "memory.md", "memory.pb", "memory.ndjson"):
        (tmp_path / name).write_bytes(data)
        assert detect(str(tmp_path / name)) == target, name


@pytest.mark.parametrize(
    ("name", "data", "expected"),
    [
        ("a", b"# Title\n\n- a fact\n", "markdown"),
        ("a", b"\xef\xbb\xbf- a fact\n", "markdown"),
        ("a", b"#\n", "markdown"),
        ("a.jsonl", b'{"type":"entity","name":"A","entityType":"x","observations":["b"]}\n', "mcp-graph"),
        ("a.json", b'{"entities":[],"relations":[]}', "mcp-graph"),
        ("a.jsonl", b'{"id":"x","timestamp_ms":1,"text":"x","embedding":""}\n', "ndjson"),
        ("a.json", b'{"id":"x","timestamp_ms":1,"text":"x","embedding":""}\n', "json"),
        ("a", b'{\n "id": "x"\n}', "json"),
        ("a", b'[{"id":"x"}]', "json"),
        ("a", b'{"id":"x","kind":"fact","text":"x","created_at":"2026-01-01T00:00:00Z"}', "jsonl"),
        ("a.ndjson", b'{"something":"else"}', "ndjson"),
        ("a.ndjson", b"", "ndjson"),
        ("a.ndjson", b"\n", "ndjson"),
        ("a.pb", b"\x03\x0a\x01a", "protobuf"),
        ("a.pb", b"", "protobuf"),
    ],
)
def test_content_decides_and_the_ending_only_where_it_cannot(tmp_path, name, data, expected):
    (tmp_path / name).write_bytes(data)
    assert detect(str(tmp_path / name)).name == expected


@pytest.mark.parametrize("data", [b"", b"\0\0\0", b"\x89PNG\r\n\x1a\n\0\0", b'{"something":"else"}', b"{1:2}"])
def test_what_is_none_of_them_is_said_to_be(tmp_path, data):
    (tmp_path / "a").write_bytes(data)
    if data.startswith(b"{1"):
        assert detect(str(tmp_path / "a")).name == "json"
        return
    with pytest.raises(DamagedFile, match="none of the known formats; say which with --format"):
        detect(str(tmp_path / "a"))


def test_a_database_of_another_program_is_read_as_one_and_refused(tmp_path):
    with closing(sqlite3.connect(tmp_path / "a")) as connection:
        connection.execute("CREATE TABLE other (a)")
    found = detect(str(tmp_path / "a"))
    assert found.name == "sqlite"
    with pytest.raises(DamagedFile):
        list(found.read(str(tmp_path / "a")))


def test_the_longest_ending_counts():
    assert by_suffix("x.AMEM.json") == by_name("memory-file")
    assert by_suffix("x.json") == by_name("json")
    assert by_suffix("x.txt") is None
    assert to_write("x.txt", "ndjson") == by_name("ndjson")


@pytest.mark.parametrize(
    ("path", "name", "reason"),
    [
        ("x.txt", None, r"end the name with one of \.ndjson, "),
        ("x.pb", "nonsense", "there is no format 'nonsense'; there are ndjson, json, protobuf"),
        ("x", "mcp-graph", "mcp-graph can only be read"),
    ],
)
def test_what_cannot_be_written_is_said(path, name, reason):
    with pytest.raises(InvalidArgument, match=reason):
        to_write(path, name)


def test_every_format_has_its_place_in_the_table():
    names = [one.name for one in FORMATS]
    assert len(set(names)) == len(names)
    suffixes = [suffix for one in FORMATS for suffix in one.suffixes]
    assert len(set(suffixes)) == len(suffixes)
    rows = list(table.loss_rows())
    assert {row[0] for row in rows} == {one.name for one in WRITABLE}
    assert json.dumps(rows)

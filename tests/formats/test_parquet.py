import struct
import sys
from datetime import UTC, date, datetime
from pathlib import Path

import duckdb
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agent_memory_protocol.errors import DamagedFile, InvalidArgument, MissingExtra, StorageError
from agent_memory_protocol.formats import parquet
from agent_memory_protocol.formats.entry import MemoryEntry, Problem, embedding_of

from .conftest import ENTRIES


def write(path: Path, *entries: MemoryEntry) -> None:
    parquet.write(str(path), map(parquet.encode, entries))


def sql(query: str) -> list[tuple[object, ...]]:
    with duckdb.connect(":memory:") as connection:
        return connection.execute(query).fetchall()


@pytest.fixture
def path(tmp_path):
    return tmp_path / "memory.parquet"


@pytest.mark.slow
@pytest.mark.requirement("S3-02", "S3-23")
@settings(max_examples=10)
@given(st.lists(ENTRIES, max_size=6))
def test_entries_come_back_in_their_order(tmp_path_factory, found):
    path = tmp_path_factory.mktemp("one") / "memory.parquet"
    for loss in parquet.LOSSES:
        found = [loss.without(entry) if loss.found(entry) else entry for entry in found]
    write(path, *found)
    assert list(parquet.read(str(path))) == found
    assert [one.name for one in path.parent.iterdir()] == [path.name]


@pytest.mark.slow
@pytest.mark.requirement("S3-02")
def test_duckdb_asks_the_file_itself(path, some):
    write(path, *some)
    assert sql(f"SELECT text FROM '{path}' WHERE list_contains(tags, 'redis')") == [("Redis needs AOF on.",)]
    assert sql(f"SELECT extra['run'], relevance FROM '{path}' ORDER BY timestamp_ms DESC LIMIT 1") == [("2", 0.8)]
    nearest = (
        f"SELECT text FROM '{path}' ORDER BY list_cosine_similarity(embedding, [0.5, -1.25, 2]::FLOAT[]) DESC LIMIT 1"
    )
    assert sql(nearest) == [("Two\nlines.",)]


@pytest.mark.slow
def test_what_other_tools_wrote_is_read_with_vectors_as_bytes_or_numbers(path):
    sql(
        "COPY (SELECT 'a' AS id, 1 AS timestamp_ms, 'x' AS text, from_hex('0000803f') AS embedding, 7 AS later)"
        f" TO '{path}' (FORMAT parquet)"
    )
    expected = MemoryEntry("a", 1, "x", embedding=struct.pack("<f", 1))
    assert list(parquet.read(str(path))) == [expected]
    sql(
        "COPY (SELECT 'a' AS id, 1 AS timestamp_ms, 'x' AS text, [1.0::DOUBLE] AS embedding, NULL::VARCHAR AS source)"
        f" TO '{path}' (FORMAT parquet)"
    )
    assert list(parquet.read(str(path))) == [expected]


def test_one_wrong_row_is_named_and_costs_no_other(path):
    rows = "(VALUES ('a', 1, [1.0]), ('', 1, [1.0]), ('c', NULL, [1.0]), ('d', 1, ['nan'::DOUBLE]), ('e', 1, [1.0]))"
    sql(
        f"COPY (SELECT id, timestamp_ms, 'x' AS text, embedding FROM {rows} AS t(id, timestamp_ms, embedding))"
        f" TO '{path}' (FORMAT parquet)"
    )
    found = list(parquet.read(str(path)))
    assert [one.id for one in found if isinstance(one, MemoryEntry)] == ["a", "e"]
    assert [one.place for one in found if isinstance(one, Problem)] == ["row 2", "row 3", "row 4"]


@pytest.mark.slow
@pytest.mark.parametrize("data", [b"", b"PAR1", b"PAR1" + b"x" * 1000 + b"PAR1", b"rubbish" * 100])
def test_a_file_that_is_none_is_refused(path, data):
    path.write_bytes(data)
    with pytest.raises(StorageError, match=r"memory\.parquet"):
        list(parquet.read(str(path)))


def test_a_file_without_the_columns_is_refused(path):
    sql(f"COPY (SELECT 1 AS id) TO '{path}' (FORMAT parquet)")
    with pytest.raises(DamagedFile, match="no column timestamp_ms, text, embedding"):
        list(parquet.read(str(path)))


def test_a_name_that_is_a_pattern_reads_no_other_file(tmp_path, some):
    write(tmp_path / "a.parquet", *some)
    (tmp_path / "*.parquet").write_bytes(b"")
    with pytest.raises(InvalidArgument, match="takes this name for a pattern"):
        list(parquet.read(str(tmp_path / "*.parquet")))


@pytest.mark.slow
def test_an_embedding_keeps_every_bit(path):
    numbers = [0.1, -0.0, 1e-45, 3.4028234663852886e38, 1.17549435e-38, 1 / 3]
    entry = MemoryEntry("a", 1, "x", embedding=embedding_of(numbers))
    write(path, entry)
    (found,) = parquet.read(str(path))
    assert isinstance(found, MemoryEntry)
    assert found.embedding == entry.embedding


def test_without_duckdb_the_message_names_the_extra(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "duckdb", None)
    with pytest.raises(MissingExtra, match=r"pip install 'agent-memory-protocol\[duckdb\]'"):
        write(tmp_path / "memory.parquet")


@pytest.mark.slow
def test_the_time_and_the_place_of_an_entry_are_columns(path):
    extra = {"target": "shared", "headings": '["Tests", "CI"]'}
    found = [
        MemoryEntry("1", 1_775_001_600_250, "Retry once.", ("Tests", "CI"), extra=extra),
        MemoryEntry("2", 0, "Undated."),
        MemoryEntry("3", 2**64 - 1, "Beyond."),
    ]
    write(path, *found)
    assert sql(f"SELECT created_at, tier, section, date FROM '{path}'") == [
        (datetime(2026, 4, 1, 0, 0, 0, 250_000, UTC).replace(tzinfo=None), "shared", "CI", date(2026, 4, 1)),
        (None, None, None, None),
        (None, None, None, None),
    ]
    assert [*parquet.read(str(path))] == found

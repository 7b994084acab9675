import os
from pathlib import Path

import pytest

from agent_memory_protocol.errors import DamagedFile, Refused, StorageError
from agent_memory_protocol.exchange.convert import TOLD, Conversion, convert
from agent_memory_protocol.formats import protobuf
from agent_memory_protocol.formats.entry import MADE_BY, MemoryEntry, Problem, embedding_of
from agent_memory_protocol.formats.table import by_name, by_suffix
from agent_memory_protocol.search.embedding import HashEmbedder

VECTOR = embedding_of([1.0, 2.0])
ONE = MemoryEntry("0f8fad5b-d9cb-469f-a165-70867728950e", 1, "one", embedding=VECTOR)
TWO = MemoryEntry("0f8fad5b-d9cb-469f-a165-70867728950f", 2, "two", embedding=VECTOR)


def conversion(name: str, *, strict: bool = False) -> Conversion:
    return Conversion(by_name(name), HashEmbedder(8), strict=strict)


def do(source: Path, target: Path, *, strict: bool = False, overwrite: bool = False) -> Conversion:
    found, chosen = by_suffix(source.name), by_suffix(target.name)
    assert found
    assert chosen
    going = conversion(chosen.name, strict=strict)
    convert(str(source), found, going, str(target), overwrite=overwrite)
    return going


def write(path: Path, *entries: MemoryEntry) -> bytes:
    protobuf.write(str(path), map(protobuf.encode, entries))
    return path.read_bytes()


def read(path: Path) -> list[MemoryEntry]:
    found = by_suffix(path.name)
    assert found
    return [one for one in found.read(str(path)) if isinstance(one, MemoryEntry)]


@pytest.mark.slow
@pytest.mark.requirement("S3-23")
@pytest.mark.parametrize("middle", ["a.ndjson", "a.json", "a.sqlite", "a.parquet"])
def test_there_and_back_nothing_is_lost(tmp_path, middle):
    write(tmp_path / "a.pb", ONE, TWO)
    assert do(tmp_path / "a.pb", tmp_path / middle).lost == {}
    done = do(tmp_path / middle, tmp_path / "b.pb")
    assert (done.entries, done.left_out, done.embedded) == (2, 0, 0)
    assert read(tmp_path / "b.pb") == [ONE, TWO]


def test_what_is_lost_is_counted_by_what_it_is():
    going = conversion("jsonl")
    found = [ONE, TWO._replace(text="two\nlines", relevance=0.5)]
    assert len(list(going.carry(found))) == 2
    assert {loss.what: number for loss, number in going.lost.items()} == {
        "embeddings": 2,
        "relevance scores": 1,
        "line breaks and tabs in a text": 1,
    }


@pytest.mark.parametrize("name", ["protobuf", "ndjson", "json"])
def test_an_embedding_that_is_missing_is_made_and_marked(tmp_path, name):
    going = conversion(name)
    path = tmp_path / "made"
    going.target.write(str(path), going.carry([ONE._replace(embedding=b""), TWO]))
    (made, kept) = going.target.read(str(path))
    assert isinstance(made, MemoryEntry)
    assert made.embedding == embedding_of(HashEmbedder(8).embed(["one"])[0])
    assert made.extra == {MADE_BY: "hash-8"}
    assert kept == TWO
    assert going.embedded == 1


def test_a_problem_costs_no_other_entry_and_strict_stops_at_it():
    found: list[MemoryEntry | Problem] = [ONE, Problem("line 2", "is not JSON"), TWO]
    going = conversion("ndjson")
    assert len(list(going.carry(found))) == 2
    assert (going.entries, going.left_out, going.problems) == (2, 1, found[1:2])
    with pytest.raises(DamagedFile, match="line 2: is not JSON; nothing was written"):
        list(conversion("ndjson", strict=True).carry(found))


def test_what_the_target_refuses_is_a_problem():
    going = conversion("jsonl")
    assert len(list(going.carry([ONE._replace(text=""), TWO]))) == 1
    assert going.problems == [Problem("entry 1", "the text is empty")]


def test_of_two_entries_with_one_id_the_first_counts_and_a_double_is_none():
    going = conversion("ndjson")
    assert len(list(going.carry([ONE, ONE, ONE._replace(text="other"), TWO]))) == 2
    assert going.doubles == 1
    assert going.problems == [Problem("entry 3", f"the id {ONE.id!r} is that of an earlier entry")]


def test_many_problems_are_counted_and_not_kept():
    going = conversion("ndjson")
    with pytest.raises(DamagedFile, match="line: wrong, and 4,999 more are wrong; nothing was written"):
        list(going.carry(Problem("line", "wrong") for _ in range(5000)))
    assert going.left_out == 5000
    assert len(going.problems) == TOLD


def test_of_a_torn_file_the_whole_entries_are_saved(tmp_path):
    data = write(tmp_path / "a.pb", ONE, TWO)
    (tmp_path / "a.pb").write_bytes(data[:-1])
    done = do(tmp_path / "a.pb", tmp_path / "b.pb")
    assert [one.place for one in done.problems] == ["the rest"]
    assert read(tmp_path / "b.pb") == [ONE]


def test_a_file_of_which_nothing_can_be_read_is_not_converted(tmp_path):
    (tmp_path / "a.pb").write_bytes(b"\x06\x0a\x04v2.0")
    with pytest.raises(DamagedFile, match=r"v2\.0"):
        do(tmp_path / "a.pb", tmp_path / "b.ndjson")
    assert os.listdir(tmp_path) == ["a.pb"]


@pytest.mark.parametrize("strict", [True, False])
def test_what_stands_there_is_replaced_only_when_asked_and_when_all_went_well(tmp_path, strict):
    data = write(tmp_path / "a.pb", ONE, TWO)
    target = tmp_path / "b.ndjson"
    target.write_text("precious\n")
    with pytest.raises(Refused, match="--force"):
        do(tmp_path / "a.pb", target)
    (tmp_path / "a.pb").write_bytes(data[:-1])
    if strict:
        with pytest.raises(DamagedFile):
            do(tmp_path / "a.pb", target, strict=True, overwrite=True)
        assert target.read_text() == "precious\n"
    else:
        do(tmp_path / "a.pb", target, overwrite=True)
        assert read(target) == [ONE]
    assert sorted(os.listdir(tmp_path)) == ["a.pb", "b.ndjson"]


def test_a_target_in_a_folder_that_is_not_there_is_named(tmp_path):
    write(tmp_path / "a.pb", ONE)
    with pytest.raises(StorageError, match="there is no such file or folder"):
        do(tmp_path / "a.pb", tmp_path / "missing" / "b.ndjson")


@pytest.mark.slow
def test_progress_is_told_now_and_then():
    told: list[int] = []
    going = Conversion(by_name("ndjson"), HashEmbedder(8), progress=told.append)
    found = (ONE._replace(id=f"id-{number}") for number in range(2500))
    assert sum(1 for _ in going.carry(found)) == 2500
    assert told == [1000, 2000]

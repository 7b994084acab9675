import os
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agent_memory_protocol.errors import DamagedFile
from agent_memory_protocol.formats import protobuf, protobuf_index
from agent_memory_protocol.formats.entry import MemoryEntry, embedding_of
from agent_memory_protocol.formats.protobuf_index import newest

VECTOR = embedding_of([1.0, 2.0])


def made(number: int, when: int | None = None, *tags: str) -> MemoryEntry:
    return MemoryEntry(f"id-{number}", number if when is None else when, f"fact {number}", tags, embedding=VECTOR)


def write(path: Path, *entries: MemoryEntry) -> None:
    protobuf.write(str(path), map(protobuf.encode, entries))


def by_hand(entries: list[MemoryEntry], tag: str | None, limit: int = 10) -> list[MemoryEntry]:
    """Return the same answer from a look at every entry."""
    numbered = [(one.timestamp_ms, place, one) for place, one in enumerate(entries) if tag is None or tag in one.tags]
    return [one for _, _, one in sorted(numbered, key=lambda row: row[:2], reverse=True)[:limit]]


@pytest.fixture
def path(tmp_path):
    return tmp_path / "memory.pb"


@pytest.mark.requirement("S3-08")
@settings(max_examples=30)
@given(
    st.lists(
        st.tuples(st.integers(0, 5) | st.just(2**64 - 1), st.lists(st.sampled_from("abc"), max_size=3)), max_size=20
    ),
    st.integers(0, 20),
)
def test_the_newest_are_those_that_a_look_at_all_finds(tmp_path_factory, rows, before):
    path = tmp_path_factory.mktemp("one") / "memory.pb"
    entries = [made(number, when, *tags) for number, (when, tags) in enumerate(rows)]
    write(path, *entries[:before])
    newest(path)
    for entry in entries[before:]:
        protobuf.append(str(path), protobuf.encode(entry))
    for tag in (None, "a", "b", "unheard of"):
        assert newest(path, tag) == by_hand(entries, tag)
        assert newest(path, tag, limit=2) == by_hand(entries, tag, 2)


def test_of_what_was_indexed_nothing_is_read_again(path, monkeypatch):
    write(path, *(made(number, None, "task") for number in range(50)))
    newest(path, "task")
    protobuf.append(str(path), protobuf.encode(made(50, None, "task")))
    decoded = []

    def decode(message: bytes | None) -> MemoryEntry:
        decoded.append(message)
        return protobuf.decode(message)

    monkeypatch.setattr(protobuf_index, "decode", decode)
    assert [entry.id for entry in newest(path, "task", 3)] == ["id-50", "id-49", "id-48"]
    assert len(decoded) == 1 + 3


@pytest.mark.parametrize("keep_size", [True, False])
def test_a_file_that_was_written_anew_is_indexed_anew(path, keep_size):
    write(path, made(1, None, "a"), made(2, None, "a"))
    assert len(newest(path, "a")) == 2
    other = [made(3, None, "a"), made(4, None, "a" if keep_size else "bb")]
    write(path, *other)
    os.utime(path, ns=(0, 0))
    assert newest(path, "a") == by_hand(other, "a")


def test_an_entry_changed_in_place_makes_the_index_anew(path):
    entries = [made(number, None, "a") for number in range(1, 400)]
    write(path, *entries)
    newest(path, "a")
    info = path.stat()
    data = path.read_bytes()
    changed = entries[200]._replace(tags=("b",))
    path.write_bytes(data.replace(protobuf.encode(entries[200]), protobuf.encode(changed)))
    os.utime(path, ns=(info.st_atime_ns, info.st_mtime_ns))
    entries[200] = changed
    assert newest(path, "a", 399) == by_hand(entries, "a", 399)


@pytest.mark.parametrize(
    "index", [b"", b"rubbish" * 1000, b"SQLite format 3\0" + bytes(4096)], ids=["empty", "rubbish", "torn"]
)
def test_an_index_that_is_none_is_replaced(path, index):
    write(path, made(1, None, "a"))
    Path(f"{path}{protobuf_index.SUFFIX}").write_bytes(index)
    assert [entry.id for entry in newest(path, "a")] == ["id-1"]
    assert Path(f"{path}{protobuf_index.SUFFIX}").read_bytes().startswith(b"SQLite format 3\0")


def test_where_no_index_can_be_written_the_answer_is_the_same(path):
    write(path, made(1, None, "a"))
    os.mkdir(f"{path}{protobuf_index.SUFFIX}")
    assert [entry.id for entry in newest(path, "a")] == ["id-1"]


def test_whole_entries_before_a_torn_end_and_around_wrong_ones_are_found(path):
    write(path, made(1, None, "a"))
    wrong = protobuf.encode(made(2, None, "a")._replace(id=""))
    path.write_bytes(path.read_bytes() + wrong + protobuf.encode(made(3, None, "a")) + protobuf.encode(made(4))[:-1])
    for _ in range(2):
        assert [entry.id for entry in newest(path, "a")] == ["id-3", "id-1"]


def test_a_file_of_another_version_is_refused(path):
    path.write_bytes(b"\x06\x0a\x04v2.0" + protobuf.encode(made(1)))
    with pytest.raises(DamagedFile, match=r"v2\.0"):
        newest(path)

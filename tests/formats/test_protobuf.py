import io
import os
import struct
import subprocess
import sys
import tracemalloc
import uuid
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agent_memory_protocol.errors import AgentMemoryError, DamagedFile, MissingExtra, SecretFound, StorageError
from agent_memory_protocol.formats import agentmemory_pb2, protobuf, schemas
from agent_memory_protocol.formats.entry import BadEntry, MemoryEntry, Problem, embedding_of
from agent_memory_protocol.formats.protobuf import append_entry, iter_entries, newest

from .conftest import ENTRIES

VECTOR = embedding_of([0.25, -1.0, 3.0])


def write(path: Path, *entries: MemoryEntry) -> bytes:
    protobuf.write(str(path), map(protobuf.encode, entries))
    return path.read_bytes()


def delimited(message: bytes) -> bytes:
    prefix = bytearray()
    length = len(message)
    while length > 127:
        prefix.append(length & 127 | 128)
        length >>= 7
    return bytes([*prefix, length]) + message


def whole(**fields: object) -> bytes:
    message = agentmemory_pb2.MemoryEntry(id="a", timestamp_ms=1, text="x", embedding=VECTOR)
    for name, value in fields.items():
        if isinstance(value, (list, dict)):
            getattr(message, name).extend(value) if isinstance(value, list) else getattr(message, name).update(value)
        else:
            setattr(message, name, value)
    return delimited(message.SerializeToString())


def read_until_damage(path: Path) -> tuple[list[MemoryEntry], str]:
    found = []
    try:
        for entry in iter_entries(path):
            found.append(entry)  # noqa: PERF402 - what came before the error counts
    except DamagedFile as error:
        return found, str(error)
    return found, ""


# Appending


@pytest.mark.requirement("S3-20", "S3-21", "S3-22", "S3-23")
def test_what_is_appended_is_read_back_with_the_defaults(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    first = append_entry("Redis needs AOF on.", VECTOR)
    second = append_entry("b", VECTOR, ["task", "redis"], "shell", 0.8, {"host": "ci"})

    assert list(iter_entries()) == [first, second]
    assert uuid.UUID(first.id).version == 4
    assert first.timestamp_ms <= second.timestamp_ms < first.timestamp_ms + 3_600_000
    assert first[2:] == ("Redis needs AOF on.", (), "", VECTOR, 0.0, {}, None)
    assert second[2:] == ("b", ("task", "redis"), "shell", VECTOR, 0.8, {"host": "ci"}, None)
    assert os.listdir(tmp_path) == ["agent_memory.pb"]


@pytest.mark.requirement("S3-20")
def test_appending_leaves_every_earlier_byte_as_it_was(tmp_path):
    path = tmp_path / "memory.pb"
    before = b""
    for number in range(5):
        append_entry(f"fact {number}", VECTOR, path=path)
        data = path.read_bytes()
        assert data.startswith(before)
        assert len(data) > len(before)
        before = data


def test_entries_are_read_one_at_a_time(tmp_path):
    path = tmp_path / "memory.pb"
    write(path, *(MemoryEntry(str(number), 1, "x" * 100_000, embedding=VECTOR) for number in range(100)))
    tracemalloc.start()
    try:
        assert sum(1 for _ in iter_entries(path)) == 100
        assert tracemalloc.get_traced_memory()[1] < 4 << 20
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        (("x", b""), "no embedding"),
        (("x", b"abc"), "3 bytes"),
        (("x", struct.pack("<f", float("nan"))), "not finite"),
        (("x", [0.5]), "given as bytes"),
        (("x", VECTOR, "task"), "not one text"),
        (("x", VECTOR, ["a", 1]), "a tag is not text"),
        (("\udc80", VECTOR), "surrogate"),
        (("x", VECTOR, None, None, float("inf")), "relevance"),
    ],
)
def test_what_breaks_a_rule_is_not_written(tmp_path, arguments, reason):
    with pytest.raises((BadEntry, AgentMemoryError), match=reason):
        append_entry(*arguments, path=tmp_path / "memory.pb")
    assert os.listdir(tmp_path) == []


@pytest.mark.requirement("S0-30")
@pytest.mark.parametrize("where", ["text", "tags", "source", "extra"])
def test_a_secret_is_refused_before_the_first_byte(tmp_path, where):
    secret = "ghp" + "_" + "Kq7Zt2Xw9Lm4Rb6Yc1Vn8Hd3Js5Pf0Ga7Ue2"
    values: dict[str, object] = {"text": secret, "tags": [secret], "source": secret, "extra": {"token": secret}}
    arguments = {"text": "a fact", "embedding": VECTOR, where: values[where]}
    with pytest.raises(SecretFound, match="rule github-token") as caught:
        append_entry(**arguments, path=tmp_path / "memory.pb")  # type: ignore[arg-type]
    assert secret not in str(caught.value)
    assert os.listdir(tmp_path) == []


def test_nothing_is_appended_behind_half_an_entry(tmp_path):
    path = tmp_path / "memory.pb"
    data = write(path, MemoryEntry("a", 1, "x", embedding=VECTOR))
    path.write_bytes(data + whole()[:-1])
    with pytest.raises(DamagedFile, match="amp convert"):
        append_entry("y", VECTOR, path=path)
    assert path.read_bytes() == data + whole()[:-1]
    path.write_bytes(data)
    append_entry("y", VECTOR, path=path)
    assert [entry.text for entry in iter_entries(path)] == ["x", "y"]


def test_a_file_that_cannot_take_an_entry_stays_as_it_was(tmp_path, monkeypatch):
    path = tmp_path / "memory.pb"
    append_entry("x", VECTOR, path=path)
    before = path.read_bytes()
    write_some = os.write
    monkeypatch.setattr(os, "write", lambda fd, data: write_some(fd, bytes(data)[:5]) and _full())
    with pytest.raises(StorageError, match="the disk is full"):
        append_entry("y", VECTOR, path=path)
    assert path.read_bytes() == before


def _full() -> int:
    raise OSError(28, "No space left on device")


@pytest.mark.slow
def test_processes_append_at_once_and_lose_nothing(tmp_path):
    program = (
        "import sys\nfrom agent_memory_protocol.formats.protobuf import append_entry\n"
        "for number in range(20): append_entry(f'{sys.argv[2]}-{number}', bytes(400), path=sys.argv[1])\n"
    )
    path = tmp_path / "memory.pb"
    running = [subprocess.Popen([sys.executable, "-c", program, str(path), str(one)]) for one in range(3)]
    assert [one.wait() for one in running] == [0, 0, 0]
    assert {entry.text for entry in iter_entries(path)} == {
        f"{one}-{number}" for one in range(3) for number in range(20)
    }


def test_a_folder_and_a_pipe_are_no_files(tmp_path):
    os.mkfifo(tmp_path / "pipe.pb")
    for path in (tmp_path, tmp_path / "pipe.pb"):
        with pytest.raises(StorageError):
            list(iter_entries(path))
    with pytest.raises(StorageError, match="no such file"):
        list(iter_entries(tmp_path / "missing.pb"))


# The header


@pytest.mark.requirement("S3-12", "S3-19", "S3-25")
@pytest.mark.parametrize("version", ["v1.0", "v1", "v1.7"])
def test_a_header_of_version_1_is_no_entry(tmp_path, version):
    header = agentmemory_pb2.MemoryFileHeader(format_version=version, created_unix_ms=1)
    (tmp_path / "memory.pb").write_bytes(delimited(header.SerializeToString()) + whole())
    assert [entry.id for entry in iter_entries(tmp_path / "memory.pb")] == ["a"]


@pytest.mark.requirement("S3-19")
@pytest.mark.parametrize("version", ["v2.0", "", "1.0", "v1.0 and more"])
def test_a_header_of_another_version_is_refused(tmp_path, version):
    header = agentmemory_pb2.MemoryFileHeader(format_version=version, created_unix_ms=1)
    (tmp_path / "memory.pb").write_bytes(delimited(header.SerializeToString()) + whole())
    assert read_until_damage(tmp_path / "memory.pb") == (
        [],
        f"{tmp_path}/memory.pb: its header names the format version {version!r}, and this program reads v1",
    )


@pytest.mark.requirement("S3-19", "S3-20")
@pytest.mark.parametrize(("version", "takes"), [("v1.0", True), ("v1.7", True), ("v2.0", False), ("1.0", False)])
def test_only_a_file_of_a_version_that_is_read_here_is_added_to(tmp_path, version, takes):
    header = agentmemory_pb2.MemoryFileHeader(format_version=version, created_unix_ms=1)
    data = delimited(header.SerializeToString()) + whole()
    path = tmp_path / "memory.pb"
    path.write_bytes(data)
    for _ in range(2):
        if takes:
            append_entry("More.", embedding_of([1.0]), path=path)
        else:
            with pytest.raises(DamagedFile, match=f"names the format version '{version}', and this program reads v1"):
                append_entry("More.", embedding_of([1.0]), path=path)
            assert path.read_bytes() == data
    assert len(read_until_damage(path)[0]) == (3 if takes else 0)


@pytest.mark.requirement("S3-25")
@pytest.mark.parametrize("field", [b"\x1a\x00", b"\x32\x00"], ids=["empty text", "empty embedding"])
def test_a_first_message_with_field_3_or_6_is_no_header(tmp_path, field):
    (tmp_path / "memory.pb").write_bytes(delimited(b"\x0a\x04v2.0\x10\x01" + field) + whole())
    found, damage = read_until_damage(tmp_path / "memory.pb")
    assert [entry.id for entry in found] == ["a"]
    assert "message 1, at byte 0: it has neither text nor embedding" in damage


def test_a_header_in_the_middle_is_reported_and_costs_nothing(tmp_path):
    header = delimited(agentmemory_pb2.MemoryFileHeader(format_version="v1.0").SerializeToString())
    (tmp_path / "memory.pb").write_bytes(header + whole() + header + whole(id="b"))
    found, damage = read_until_damage(tmp_path / "memory.pb")
    assert [entry.id for entry in found] == ["a", "b"]
    assert "a header may only be at the start" in damage


# Hostile files


@pytest.mark.requirement("S3-22")
def test_a_file_cut_off_anywhere_gives_its_whole_entries_and_says_so(tmp_path, some):
    path = tmp_path / "memory.pb"
    data = write(path, *some)
    ends = [*[begin for begin, _ in protobuf.frames(io.BytesIO(data), len(data), "a.pb")][1:], len(data)]
    for cut in range(len(data)):
        path.write_bytes(data[:cut])
        found, damage = read_until_damage(path)
        assert found == some[: max(sum(end <= cut for end in ends) - 1, 0)]
        assert (damage == "") == (cut in (0, *ends))


HOSTILE = {
    "two gigabytes": (b"\xff\xff\xff\xff\x07", "a message of 2,147,483,647 bytes begins, and 0 follow"),
    "a length of ten bytes": (b"\xff" * 9 + b"\x01", "a length that no entry has"),
    "a run of zeros": (b"\0" * 100_000, "a length of 0"),
    "half a length": (b"\x80\x80", "half a length"),
    "no entry": (delimited(b"\xff\xff\xff"), "is not an entry"),
    "groups within groups": (delimited(b"\x4b" * 10_000 + b"\x4c" * 10_000), "is not an entry"),
    "text that is not UTF-8": (delimited(b"\x0a\x01a\x1a\x01\xff\x32\x04abcd"), "is not an entry"),
    "an embedding that is not finite": (whole(embedding=struct.pack("<ff", 1, float("nan"))), "not finite"),
    "an embedding of odd length": (whole(embedding=b"abcde"), "5 bytes"),
    "no id": (whole(id=""), "it has no id"),
    "a relevance that is not finite": (whole(relevance=float("inf")), "relevance is not a finite number"),
    "a thousand tags and one": (whole(tags=["x"] * 1001), "1,001 tags"),
    "a million tags": (whole(tags=["x"] * 1_000_000), "larger than"),
    "more pairs than are allowed": (whole(extra={str(number): "" for number in range(2000)}), "2,000 pairs in extra"),
}
STOPPING = {"two gigabytes", "a length of ten bytes", "a run of zeros", "half a length"}
"""Behind these nobody can tell where the next message begins."""


@pytest.mark.requirement("S3-22")
@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_file_is_named_in_little_memory_and_keeps_what_is_whole(tmp_path, name):
    data, reason = HOSTILE[name]
    path = tmp_path / "memory.pb"
    path.write_bytes(whole() + data + (b"" if name in STOPPING else whole(id="b")))
    tracemalloc.start()
    try:
        found, damage = read_until_damage(path)
        assert tracemalloc.get_traced_memory()[1] < 4 << 20
    finally:
        tracemalloc.stop()
    assert reason in damage
    assert "memory.pb" in damage
    assert [entry.id for entry in found] == (["a"] if name in STOPPING else ["a", "b"])


def test_a_file_that_is_something_else_is_named(tmp_path):
    for data in (b"# Shared Knowledge\n\n- a fact\n", b"SQLite format 3\0" + bytes(100), bytes(range(256)) * 10):
        (tmp_path / "memory.pb").write_bytes(data)
        assert read_until_damage(tmp_path / "memory.pb")[1]


def test_many_wrong_messages_are_counted(tmp_path):
    (tmp_path / "memory.pb").write_bytes(whole(id="") * 50)
    assert "it has no id; and 49 more are wrong" in read_until_damage(tmp_path / "memory.pb")[1]


@pytest.mark.requirement("S3-23")
@settings(max_examples=min(settings().max_examples, 50))
@given(ENTRIES)
def test_an_entry_comes_back_as_the_format_carries_it(entry):
    for loss in protobuf.LOSSES:
        entry = loss.without(entry) if loss.found(entry) else entry
    if not entry.embedding:
        with pytest.raises(BadEntry, match="no embedding"):
            protobuf.encode(entry)
        return
    data = protobuf.encode(entry)
    ((begin, message),) = protobuf.frames(io.BytesIO(data), len(data), "a.pb")
    assert begin == 0
    assert message is not None
    assert data.endswith(message)
    assert protobuf.decode(message) == entry


# With the official runtime


SEED = """
import struct, sys, time, uuid
from pathlib import Path
import agentmemory_pb2 as am
from google.protobuf.internal import encoder

assert not any(name.startswith("agent_memory_protocol") for name in sys.modules)

def write(path, count):
    with Path(path).open("ab") as file:
        for number in range(count):
            entry = am.MemoryEntry(id=str(uuid.uuid4()), timestamp_ms=1700000000000 + number, text=f"fact {number}",
                                   tags=["task"], source="", embedding=struct.pack("<3f", 1, 2, number),
                                   relevance=0.5, extra={"a": "b"})
            if len(sys.argv) > 3:
                entry.later = 7
                entry.more.name = "kept"
            data = entry.SerializeToString()
            file.write(encoder._VarintBytes(len(data)) + data)

def read(path):
    data, at = Path(path).read_bytes(), 0
    while at < len(data):
        size = shift = 0
        while True:
            byte = data[at]; at += 1
            size |= (byte & 0x7F) << shift
            if not byte & 0x80: break
            shift += 7
        entry = am.MemoryEntry(); entry.ParseFromString(data[at:at + size]); at += size
        later = f" {entry.later} {entry.more.name}" if len(sys.argv) > 3 else ""
        if entry.embedding:
            print(entry.id, entry.timestamp_ms, entry.text, list(entry.tags), entry.source,
                  struct.unpack("<3f", entry.embedding), round(entry.relevance, 6), sorted(entry.extra.items()), later)

{"write": lambda: write(sys.argv[2], 4), "read": lambda: read(sys.argv[2])}[sys.argv[1]]()
"""


@pytest.fixture(scope="module")
def plainly(tmp_path_factory):
    """Run a program that knows nothing but a module the compiler has made, of our schema or of a later one."""
    folders = {}
    for later in (False, True):
        folder = folders[later] = tmp_path_factory.mktemp("later" if later else "plain")
        text = schemas.text(schemas.PROTO)
        if later:
            text = text.replace(
                "map<string, string> extra = 8;",
                "map<string, string> extra = 8; int64 later = 9; message More { string name = 1; } More more = 10;",
            )
        (folder / schemas.PROTO).write_text(text, encoding="utf-8")
        compiler = [sys.executable, "-W", "ignore", "-m", "grpc_tools.protoc", "-I.", "--python_out=.", schemas.PROTO]
        subprocess.run(compiler, cwd=folder, check=True)
        (folder / "program.py").write_text(SEED, encoding="utf-8")

    def run(what: str, path: Path, *, later: bool = False) -> list[str]:
        command = [sys.executable, "program.py", what, str(path), *(["later"] if later else [])]
        done = subprocess.run(command, cwd=folders[later], capture_output=True, encoding="utf-8", check=False)
        assert done.returncode == 0, done.stderr
        return done.stdout.splitlines()

    return run


@pytest.mark.slow
@pytest.mark.requirement("S3-24")
def test_a_file_of_the_official_runtime_is_read(tmp_path, plainly):
    path = tmp_path / "memory.pb"
    plainly("write", path)
    found = list(iter_entries(path))
    assert [entry.text for entry in found] == [f"fact {number}" for number in range(4)]
    assert found[2][3:] == (("task",), "", struct.pack("<3f", 1, 2, 2), 0.5, {"a": "b"}, None)


@pytest.mark.requirement("S3-24")
def test_the_official_runtime_reads_our_file(tmp_path, plainly):
    path = tmp_path / "memory.pb"
    made = append_entry("Größe 日本語", VECTOR, ["task", "a"], "shell", 0.8, {"b": "1", "a": "2"}, path=path)
    said = "Größe 日本語 ['task', 'a'] shell (0.25, -1.0, 3.0) 0.8 [('a', '2'), ('b', '1')] "
    assert plainly("read", path) == [f"{made.id} {made.timestamp_ms} {said}"]


@pytest.mark.slow
@pytest.mark.requirement("S3-18")
def test_fields_of_a_later_schema_are_kept_when_the_entry_is_written_again(tmp_path, plainly):
    theirs, ours = tmp_path / "theirs.pb", tmp_path / "ours.pb"
    plainly("write", theirs, later=True)
    found = list(iter_entries(theirs))
    assert all(entry.unknown for entry in found)
    write(ours, *found)
    assert plainly("read", ours, later=True) == plainly("read", theirs, later=True)
    assert plainly("read", ours, later=True)[0].endswith(" 7 kept")


@pytest.mark.slow
@pytest.mark.requirement("S3-18")
def test_an_older_reader_reads_what_a_later_writer_wrote(tmp_path, plainly):
    path = tmp_path / "memory.pb"
    plainly("write", path, later=True)
    assert len(plainly("read", path)) == 4


def test_without_the_runtime_the_message_names_the_extra(tmp_path, monkeypatch):
    protobuf._runtime.cache_clear()
    monkeypatch.setitem(sys.modules, "agent_memory_protocol.formats.agentmemory_pb2", None)
    monkeypatch.delattr("agent_memory_protocol.formats.agentmemory_pb2", raising=False)
    try:
        with pytest.raises(MissingExtra, match=r"pip install 'agent-memory-protocol\[protobuf\]'"):
            append_entry("x", VECTOR, path=tmp_path / "memory.pb")
    finally:
        protobuf._runtime.cache_clear()
    assert os.listdir(tmp_path) == []


def test_the_same_entries_make_the_same_bytes(some):
    mixed = [entry._replace(extra=dict(reversed(entry.extra.items()))) for entry in some]
    assert list(map(protobuf.encode, mixed)) == list(map(protobuf.encode, some))


def test_problems_say_where_they_are(tmp_path):
    path = tmp_path / "memory.pb"
    path.write_bytes(whole() + whole(id=""))
    found = list(protobuf.read(str(path)))
    assert found[1] == Problem(f"message 2, at byte {len(whole())}", "it has no id")


# The newest


def made(number: int, when: int | None = None, *tags: str) -> MemoryEntry:
    return MemoryEntry(f"id-{number}", number if when is None else when, f"fact {number}", tags, embedding=VECTOR)


def by_hand(entries: list[MemoryEntry], tag: str | None, limit: int = 10) -> list[MemoryEntry]:
    """Return the same answer from a look at every entry."""
    numbered = [(one.timestamp_ms, place, one) for place, one in enumerate(entries) if tag is None or tag in one.tags]
    return [one for _, _, one in sorted(numbered, key=lambda row: row[:2], reverse=True)[:limit]]


@pytest.mark.requirement("S3-08")
@settings(max_examples=min(settings().max_examples, 30))
@given(
    st.lists(
        st.tuples(st.integers(0, 5) | st.just(2**64 - 1), st.lists(st.sampled_from("aé"), max_size=3)), max_size=20
    ),
    st.integers(0, 20),
)
def test_the_newest_are_those_that_a_look_at_all_finds(tmp_path_factory, rows, before):
    path = tmp_path_factory.mktemp("one") / "memory.pb"
    entries = [made(number, when, *tags) for number, (when, tags) in enumerate(rows)]
    write(path, *entries[:before])
    for entry in entries[before:]:
        protobuf.append(str(path), protobuf.encode(entry))
    for tag in (None, "a", "é", "unheard of", "\ud800"):
        assert newest(path, tag) == by_hand(entries, tag)
        assert newest(path, tag, limit=2) == by_hand(entries, tag, 2)


def test_only_entries_that_can_have_the_tag_are_decoded(tmp_path, monkeypatch):
    path = tmp_path / "memory.pb"
    write(path, *(made(number, None, "task" if number % 10 == 0 else "other") for number in range(50)))
    decoded = []
    decode = protobuf.decode

    def counted(message: bytes | None) -> MemoryEntry:
        decoded.append(message)
        return decode(message)

    monkeypatch.setattr(protobuf, "decode", counted)
    assert [entry.id for entry in newest(path, "task", 3)] == ["id-40", "id-30", "id-20"]
    assert len(decoded) == 5


def test_a_file_that_was_written_again_gives_its_own_entries(tmp_path):
    path = tmp_path / "memory.pb"
    write(path, made(1, None, "a"), made(2, None, "a"))
    assert len(newest(path, "a")) == 2
    other = [made(3, None, "a"), made(4, None, "bb")]
    write(path, *other)
    assert newest(path, "a") == by_hand(other, "a")


def test_whole_entries_before_a_torn_end_and_around_wrong_ones_are_found(tmp_path):
    path = tmp_path / "memory.pb"
    write(path, made(1, None, "a"))
    wrong = protobuf.encode(made(2, None, "a")._replace(id=""))
    path.write_bytes(path.read_bytes() + wrong + protobuf.encode(made(3, None, "a")) + protobuf.encode(made(4))[:-1])
    assert [entry.id for entry in newest(path, "a")] == ["id-3", "id-1"]


def test_the_newest_of_a_file_of_another_version_are_refused(tmp_path):
    path = tmp_path / "memory.pb"
    path.write_bytes(b"\x06\x0a\x04v2.0" + protobuf.encode(made(1)))
    with pytest.raises(DamagedFile, match=r"v2\.0"):
        newest(path)

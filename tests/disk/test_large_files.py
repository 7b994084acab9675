"""Large files: the ends are read at line borders, all lines are counted, and what is between is shown but not held."""

import os
import tempfile
import tracemalloc
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent_memory_protocol.disk import large_files
from agent_memory_protocol.disk.files import Root
from agent_memory_protocol.disk.large_files import Ends, read_ends
from agent_memory_protocol.errors import DamagedFile
from agent_memory_protocol.limits import count_lines


def ends_of(folder: Path, data: bytes, head: int, tail: int) -> tuple[Ends, bytes]:
    (folder / "x.md").write_bytes(data)
    middle: list[bytes] = []
    with Root.open(str(folder)) as root:
        ends = read_ends(root, ("x.md",), head=head, tail=tail, middle=middle.append)
    assert ends is not None
    return ends, b"".join(middle)


@pytest.mark.parametrize(
    ("data", "head", "middle", "tail"),
    [
        (b"one\ntwo\nthree\nfour\nfive\n", b"one\ntwo\n", b"three\nfour\n", b"five\n"),
        (b"one\r\ntwo\r\nthree\r\nfour\r\n", b"one\r\ntwo\r\n", b"three\r\n", b"four\r\n"),
        (b"a" * 40, b"a" * 10, b"a" * 20, b"a" * 10),
        (b"x" + "é".encode() * 20, b"x" + "é".encode() * 4, "é".encode() * 11, "é".encode() * 5),
        ("é".encode() * 20 + b"x", "é".encode() * 5, "é".encode() * 11, "é".encode() * 4 + b"x"),
        ("💡".encode() * 8, "💡".encode() * 2, "💡".encode() * 4, "💡".encode() * 2),
        (b"short\n", b"short\n", b"", b""),
        (b"", b"", b"", b""),
    ],
    ids=[
        "lines",
        "crlf",
        "one line",
        "two bytes a character",
        "cut at the other end",
        "four bytes a character",
        "small",
        "empty",
    ],
)
def test_ends_are_cut_between_lines_or_else_between_characters(
    tmp_path: Path, data: bytes, head: bytes, middle: bytes, tail: bytes
) -> None:
    ends, between = ends_of(tmp_path, data, 10, 10)
    assert ends.head + between + ends.tail == data
    for end in (ends.head, ends.tail):
        end.decode()
        assert len(end) <= 10
    assert (ends.head, between, ends.tail) == (head, middle, tail)


@given(
    data=st.lists(st.sampled_from([b"\r", b"\n", b"\r\n", b"a", "é💡".encode()]), max_size=40).map(b"".join),
    head=st.integers(0, 12),
    tail=st.integers(0, 12),
    piece=st.integers(1, 7),
)
def test_whatever_the_pieces_nothing_is_lost_and_lines_are_counted_alike(
    data: bytes, head: int, tail: int, piece: int
) -> None:
    real = os.read
    with tempfile.TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as patch:
        patch.setattr(os, "read", lambda fd, size: real(fd, min(size, piece)))
        ends, between = ends_of(Path(folder), data, head, tail)
    assert ends.head + between + ends.tail == data
    assert ends.lines == count_lines(data)
    assert ends.size == len(data)
    if len(data) > head + tail:
        assert len(ends.head) <= head
        assert len(ends.tail) <= tail


@pytest.mark.slow
def test_fifty_megabytes_are_counted_in_little_memory(tmp_path: Path) -> None:
    line = b"- a line of a file that nobody pruned, with a few words more\r\n"
    with (tmp_path / "x.md").open("wb") as file:
        for _ in range(50):
            file.write(line * (1_000_000 // len(line)))
        file.write(b"<!-- left open")
    tracemalloc.start()
    with Root.open(str(tmp_path)) as root:
        ends = read_ends(root, ("x.md",), head=30_000, tail=30_000)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert ends is not None
    assert ends.lines == 50 * (1_000_000 // len(line)) + 1
    assert ends.head.endswith(b"more\r\n")
    assert ends.tail.startswith(b"- a line")
    assert ends.tail.endswith(b"<!-- left open")
    assert peak < 5_000_000


def test_what_does_not_exist_is_nothing_and_what_is_no_file_is_named(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    with Root.open(str(tmp_path)) as root:
        assert read_ends(root, ("none",), head=1, tail=1) is None
        with pytest.raises(DamagedFile, match="pipe: is a named pipe"):
            read_ends(root, ("pipe",), head=1, tail=1)


def test_a_file_cut_short_while_it_is_read_ends_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "x.md").write_bytes(b"line\n" * 100)
    real = os.read

    def cut(fd: int, size: int) -> bytes:
        os.truncate(tmp_path / "x.md", 50)
        return real(fd, size)

    monkeypatch.setattr(os, "read", cut)
    monkeypatch.setattr(large_files, "_CHUNK", 20)
    with Root.open(str(tmp_path)) as root:
        ends = read_ends(root, ("x.md",), head=10, tail=10)
    assert ends is not None
    assert (ends.head, ends.tail, ends.lines) == (b"line\n" * 2, b"", 10)

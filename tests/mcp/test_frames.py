"""Lines from a pipe: whole ones as they came, too long ones named by their request's id, and an end that is one."""

import asyncio
import os
import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent_memory_protocol.mcp.frames import Lines, Splitter, TooLong
from tests.each_row import each_row


@given(st.lists(st.binary(max_size=12).map(lambda line: line.replace(b"\n", b"")), max_size=8), st.randoms())
def test_lines_are_the_same_however_they_are_cut(lines, chance):
    data = b"".join(line + b"\n" for line in lines)
    cuts = sorted(chance.randint(0, len(data)) for _ in range(chance.randint(0, 6)))
    splitter = Splitter(largest=12)
    found = [line for a, b in zip([0, *cuts], [*cuts, len(data)], strict=True) for line in splitter.feed(data[a:b])]
    assert found + splitter.last() == [line.decode(errors="replace") for line in lines]


@pytest.mark.parametrize("size", [1, 7, 1000])
def test_a_line_of_the_cap_is_whole_and_one_byte_more_is_too_long(size):
    data = b"x" * 100 + b"\n" + b"y" * 101 + b"\n" + b"z" * 100
    splitter = Splitter(largest=100)
    found = [line for start in range(0, len(data), size) for line in splitter.feed(data[start : start + size])]
    assert found + splitter.last() == ["x" * 100, TooLong(None), "z" * 100]


LONG = "x" * 4000
TOO_LONG = [
    ('{"jsonrpc":"2.0","id":7,"method":"m","params":{"id":8,"text":"' + LONG + '"}}', 7),
    ('{"method":"m","params":{"id":8,"text":"' + LONG + '"},"jsonrpc":"2.0","id":"seven"}', "seven"),
    ('{"id": -3 , "method":"m","params":{"text":"' + LONG + '"}} ', -3),
    ('{"jsonrpc":"2.0","method":"m","params":{"text":"' + LONG + '","id":8}}', None),
    ('{"jsonrpc":"2.0","method":"m","params":{"text":"' + LONG, None),
    ("}" * 4000, None),
]


@each_row("line, request_id", TOO_LONG, ids=[line[:40] for line, _ in TOO_LONG])
def test_the_id_of_a_request_that_is_too_long_is_seen_at_its_ends(line, request_id):
    assert Splitter(largest=1000).feed(line.encode() + b"\n") == [TooLong(request_id)]


def test_lines_come_from_a_pipe_until_it_ends():
    sent = [random.Random(number).randbytes(50).hex() for number in range(100)]
    refused: list[TooLong] = []

    async def read() -> list[str]:
        async def refuse(line: TooLong) -> None:
            refused.append(line)

        there, here = os.pipe()
        with os.fdopen(here, "wb") as writer:
            lines = Lines(there, refuse)
            writing = asyncio.to_thread(_write, writer, sent)
            task = asyncio.ensure_future(writing)
            found = [line async for line in lines]
            await task
        os.close(there)
        return found

    assert asyncio.run(read()) == sent
    assert refused == [TooLong(None)]


def _write(writer, lines):
    writer.write(b"x" * ((1 << 20) + 1) + b"\n")
    for line in lines[:-1]:
        writer.write(line.encode() + b"\n")
    writer.write(lines[-1].encode())
    writer.close()

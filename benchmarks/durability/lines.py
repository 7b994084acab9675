"""agent-memory/0.1 files that were cut off, or whose bits have flipped: every whole line is read, the rest reported."""

import random
from datetime import UTC, datetime
from pathlib import Path

from agent_memory_protocol.errors import AgentMemoryError
from agent_memory_protocol.formats.jsonl_file import MemoryFile

from .row import Row, Size, problems

_NOW = datetime(2026, 6, 1, tzinfo=UTC)


def damaged(folder: Path, size: Size) -> list[Row]:
    """Cut a file at each byte of its last lines, and flip bits of it at random."""
    return [_cut(folder, (1, 1, 3)[size]), _flipped(folder, (40, 200, 20_000)[size])]


def _file(path: Path) -> tuple[MemoryFile, list[bytes]]:
    path.unlink(missing_ok=True)
    file = MemoryFile.open(path)
    for number in range(5):
        file.append(f"Fact {number}, wörd for wörd.", kind="fact", source="user" if number % 2 else None, now=_NOW)
    return file, path.read_bytes().splitlines(keepends=True)


def _cut(folder: Path, last: int) -> Row:
    path = folder / "cut.jsonl"
    file, lines = _file(path)
    data = b"".join(lines)
    start = len(b"".join(lines[:-last]))
    wrong = []
    for size in range(start, len(data)):
        path.write_bytes(data[:size])
        # A last line that only lacks its end is whole.
        there = data[:size].count(b"\n") - 1 + (data[size : size + 1] == b"\n")
        torn = data[:size][-1:] != b"\n" and data[size : size + 1] != b"\n"
        view = file.view(_NOW)
        if len(view.entries) != there or len(view.warnings) != torn:
            wrong.append(f"cut at {size}: {len(view.entries)} of {there} lines read, {len(view.warnings)} reports")
        file.append("Said afterwards.", kind="fact", now=_NOW)
        if len(file.view(_NOW).entries) != there + 1 or not path.read_bytes().startswith(data[:size]):
            wrong.append(f"cut at {size}: the next line is not on its own")
    tried = len(data) - start
    return Row(
        "JSONL cut off",
        f"at each of the {tried} byte offsets of its last {last} lines",
        "every whole line read, one report for the torn one, the next line on its own, nothing taken out",
        problems(wrong) or f"{tried} of {tried}",
        not wrong,
    )


def _flipped(folder: Path, rounds: int) -> Row:
    path = folder / "flipped.jsonl"
    file, lines = _file(path)
    dice = random.Random(0)
    wrong, unseen = [], 0
    for number in range(rounds):
        which = dice.randrange(1, len(lines))
        line = bytearray(lines[which])
        for _ in range(dice.choice((1, 1, 2, 8))):
            line[dice.randrange(len(line))] ^= 1 << dice.randrange(8)
        path.write_bytes(b"".join([*lines[:which], bytes(line), *lines[which + 1 :]]))
        try:
            view = file.view(_NOW)
            texts = {entry.text for entry in view.entries}
            others = {f"Fact {one}, wörd for wörd." for one in range(5) if one != which - 1}
            joined = line[-1:] != b"\n" and which < len(lines) - 1
            if joined:
                others.discard(f"Fact {which}, wörd for wörd.")
            if not others <= texts:
                wrong.append(f"round {number}: lines that were not touched are missing")
            unseen += len(view.warnings) == 0
            file.append("Said afterwards.", kind="fact", now=_NOW)
            if "Said afterwards." not in {entry.text for entry in file.view(_NOW).entries}:
                wrong.append(f"round {number}: the next line is not read")
        except AgentMemoryError as error:
            wrong.append(f"round {number}: {error}")
    return Row(
        "JSONL with flipped bits",
        f"1 to 8 bits of one line, {rounds:,} times",
        "every other line read, nothing breaks, the next line is read",
        problems(wrong)
        or f"{rounds:,} of {rounds:,}; {unseen:,} flips made another valid line, which nothing can tell",
        not wrong,
    )

"""Record files beside the plainest script that does the same: `python -m benchmarks.formats [--records N] [--quick]`.

`amp bench formats` compares the formats with each other; here each is compared with what anybody would write with the
library that it uses, so that a ratio over 1 is work that is ours.
"""

import base64
import json
import sqlite3
from argparse import ArgumentParser
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from time import process_time

from google.protobuf.internal import encoder

from agent_memory_protocol.exchange.sample import TAG, sample
from agent_memory_protocol.formats import agentmemory_pb2, json_schema, protobuf, sqlite
from agent_memory_protocol.formats.entry import MemoryEntry
from benchmarks.speed.measure import Effort, Figure, add_quick, in_turn, ratio, table

_ROUNDS = 7


def timed(work: Callable[[], object]) -> Callable[[], float]:
    """Return what does the work and says how long the processor took for it."""

    def measured() -> float:
        begin = process_time()
        work()
        return process_time() - begin

    return measured


def figures(entries: Sequence[MemoryEntry], folder: Path, effort: Effort) -> Iterator[Figure]:
    """Measure writing, reading and finding."""

    def compare(what: str, ours: Callable[[], object], other: Callable[[], object], target: float | None) -> Figure:
        return ratio(what, in_turn(timed(ours), timed(other), effort.rounds(_ROUNDS)), target=target)

    stream, plain = folder / "a.pb", folder / "plain.pb"
    yield compare(
        "protobuf: written, beside messages and lengths by hand",
        lambda: protobuf.write(str(stream), map(protobuf.encode, entries)),
        lambda: write_messages(plain, entries),
        1,
    )
    database = folder / "a.sqlite"
    yield compare(
        "sqlite: written, beside two tables filled by hand",
        lambda: (database.unlink(missing_ok=True), sqlite.write(str(database), map(sqlite.encode, entries))),
        lambda: write_tables(folder / "plain.sqlite", entries),
        1,
    )
    lines = folder / "a.ndjson"
    json_schema.write(str(lines), map(json_schema.encode, entries))
    yield compare(
        "ndjson: all read and checked but the vectors, beside json.loads of each line",
        lambda: count(json_schema.read(str(lines), vectors=False)),
        lambda: count(map(json.loads, lines.open("rb"))),
        1.3,
    )
    yield compare(
        "ndjson: all read and checked with vectors, beside json.loads and base64 of each line",
        lambda: count(json_schema.read(str(lines))),
        lambda: count(base64.b64decode(json.loads(line)["embedding"]) for line in lines.open("rb")),
        None,
    )
    yield compare(
        "protobuf: 10 newest with a tag, beside all read",
        lambda: protobuf.newest(stream, TAG),
        lambda: count(protobuf.read(str(stream))),
        0.5,
    )
    yield compare(
        "sqlite: 10 newest with a tag, beside all read",
        lambda: sqlite.newest(str(database), TAG),
        lambda: count(sqlite.read(str(database))),
        0.01,
    )


def write_messages(path: Path, entries: Sequence[MemoryEntry]) -> None:
    """Write a stream with nothing but the official runtime."""
    with path.open("wb") as file:
        for one in entries:
            message = agentmemory_pb2.MemoryEntry(
                id=one.id,
                timestamp_ms=one.timestamp_ms,
                text=one.text,
                tags=one.tags,
                source=one.source,
                embedding=one.embedding,
                relevance=one.relevance,
                extra=one.extra,
            )
            data = message.SerializeToString()
            file.write(encoder._VarintBytes(len(data)))  # type: ignore[attr-defined]
            file.write(data)


def write_tables(path: Path, entries: Sequence[MemoryEntry]) -> None:
    """Write a database that answers the same questions, with nothing but sqlite3."""
    path.unlink(missing_ok=True)
    connection = sqlite3.connect(path)
    connection.executescript(
        "CREATE TABLE entries (seq INTEGER PRIMARY KEY, id TEXT UNIQUE, timestamp_ms INTEGER, text TEXT, tags TEXT,"
        " source TEXT, embedding BLOB, relevance REAL, extra TEXT);"
        "CREATE INDEX by_time ON entries (timestamp_ms);"
        "CREATE TABLE tags (tag TEXT, timestamp_ms INTEGER, seq INTEGER);"
        "CREATE INDEX by_tag ON tags (tag, timestamp_ms)"
    )
    with connection:
        for seq, one in enumerate(entries):
            connection.execute(
                "INSERT INTO entries VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
                (
                    seq,
                    one.id,
                    one.timestamp_ms,
                    one.text,
                    json.dumps(one.tags),
                    one.source,
                    one.embedding,
                    one.relevance,
                    json.dumps(dict(one.extra)),
                ),
            )
            for tag in one.tags:
                connection.execute("INSERT INTO tags VALUES (?, ?, ?)", (tag, one.timestamp_ms, seq))
    connection.close()


def count(found: Iterator[object]) -> int:
    """Go through everything, and keep nothing of it."""
    return sum(1 for _ in found)


def main() -> None:
    """Measure, and print one table."""
    parser = ArgumentParser(prog="python -m benchmarks.formats", description="Record files beside plain scripts.")
    parser.add_argument("--records", type=int, default=20_000, metavar="N", help="how many entries (20000)")
    parser.add_argument("--json", action="store_true", help="print JSON in place of the table")
    add_quick(parser)
    arguments = parser.parse_args()
    effort = Effort(arguments.quick)
    entries = sample(effort.size(arguments.records), 384)
    with TemporaryDirectory(prefix="amp-benchmarks-") as name:
        found = list(figures(entries, Path(name), effort))
    if arguments.json:
        print(json.dumps({"formats": [one.as_json() for one in found]}, ensure_ascii=False, indent=2))
    else:
        print(table(found))


if __name__ == "__main__":
    main()

"""Very many records on a PostgreSQL server, and a tenth of them in a SQLite file on the same machine.

The server is one of this machine, started for this, and it waits for the disk as a server does.
"""

import os
import sys
from collections.abc import Callable, Iterable, Iterator
from datetime import UTC, datetime
from itertools import islice
from pathlib import Path
from time import perf_counter
from typing import Any

from agent_memory_protocol import Memory
from agent_memory_protocol.postgresql.sharing import SharedStore
from agent_memory_protocol.postgresql.store import COLUMNS, PostgresqlStore, columns_of
from agent_memory_protocol.postgresql.tokens import tokens_of
from agent_memory_protocol.records.record import Provenance, Record, RecordType, new_record
from agent_memory_protocol.records.sqlite_store import SqliteStore
from benchmarks.records import material
from benchmarks.speed.measure import Effort, Figure, figure, ratio
from tests.postgresql_server import Cluster, why_not

SETTINGS = {"shared_buffers": "256MB", "maintenance_work_mem": "256MB", "max_wal_size": "4GB"}
ON_SERVER, IN_FILE, FED = 1_000_000, 100_000, 10_000
QUERIES, REMEMBERED = 100, 200

_BATCH = 20_000
_BORN = datetime(2026, 11, 15, 12, tzinfo=UTC)


def figures(folder: Path, effort: Effort) -> Iterator[Figure]:
    """Measure both; nothing where no server can be started."""
    if reason := why_not():
        print(f"nothing is measured with PostgreSQL: {reason}", file=sys.stderr)
        return
    os.environ["XDG_CACHE_HOME"] = str(folder / "cache")
    cluster = Cluster(SETTINGS)
    try:
        yield from _figures(folder, effort, cluster)
    finally:
        cluster.stop()


def _figures(folder: Path, effort: Effort, cluster: Cluster) -> Iterator[Figure]:
    many, few, fed = (effort.size(count) for count in (ON_SERVER, IN_FILE, FED))
    texts = material.facts(many + fed + effort.size(REMEMBERED))
    with SharedStore(cluster.new_namespace()) as store, SqliteStore(folder / "records.sqlite") as file:
        begin = perf_counter()
        _fill_server(store, _records(islice(texts, many)))
        store.server.ask("VACUUM ANALYZE $ns.heads")
        took = perf_counter() - begin
        material.in_a_file(folder / "records.sqlite", material.facts(few))
        ((size,),) = store.server.ask(
            "SELECT sum(pg_total_relation_size(oid))::bigint FROM pg_class"
            " WHERE relnamespace = '$ns'::regnamespace AND relkind = 'r'"
        )
        note = f"{size / 2**20:,.0f} MB; filled by COPY in {took:.0f} s"
        yield figure(f"size of each of {many:,} records on a server", [size / many] * 2, " B", None, note)

        position = store.position()
        _fill_server(store, _records(islice(texts, fed)))
        times = []
        for _ in range(effort.rounds(5)):
            begin = perf_counter()
            changes, _, _ = store.changes(position)
            assert len([store.read(one.payload, one.id) for one in changes]) == fed
            times.append(1000 * (perf_counter() - begin))
        yield figure(f"change feed of {fed:,} of {many:,} records, read and checked", times, " ms", None)

        rest = list(texts)
        with Memory(store=store) as shared, Memory(store=file) as alone:
            alone.recall("warm")
            beside = f"{many:,} records on a server, beside {few:,} in SQLite"
            pairs = [
                (_time(shared.recall, one), _time(alone.recall, one)) for one in material.queries(effort.size(QUERIES))
            ]
            yield ratio(f"recall: {beside}", pairs)
            pairs = [(_time(shared.remember, one), _time(alone.remember, one)) for one in rest]
            yield ratio(f"remember: {beside}", pairs)


def _time(call: Callable[[str], object], text: str) -> float:
    begin = perf_counter()
    call(text)
    return perf_counter() - begin


def _records(texts: Iterable[str]) -> Iterator[Record]:
    source = Provenance("conversation")
    return (new_record(RecordType.FACT, text, provenance=source, now=_BORN, confidence=0.9) for text in texts)


def _fill_server(store: PostgresqlStore, records: Iterator[Record]) -> None:
    """Write many records as one would who moves in."""
    while batch := list(islice(records, _BATCH)):
        rows = [(one, tokens_of(one)) for one in batch]
        words = sorted(set().union(*(tokens.spellings for _, tokens in rows)))

        def work(connection: Any, rows: list[Any] = rows, words: list[str] = words) -> None:
            with connection.transaction(), connection.cursor() as cursor:
                ns = f'"{store.address.namespace}"'
                with cursor.copy(f"COPY {ns}.heads (record_id, version, {COLUMNS}) FROM STDIN") as copy:
                    for one, tokens in rows:
                        copy.write_row((one.id, 1, *columns_of(one, tokens)))
                with cursor.copy(f"COPY {ns}.versions FROM STDIN") as copy:
                    for one, _ in rows:
                        copy.write_row((one.id, 1, one.to_bytes().decode()))
                store.server.rows(
                    connection,
                    "INSERT INTO $ns.spellings (word) SELECT unnest(%s::text[]) ON CONFLICT DO NOTHING",
                    [words],
                )

        store.server.do(work)

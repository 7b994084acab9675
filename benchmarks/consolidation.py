"""Consolidating records, beside the published reference and as their number grows.

`python -m benchmarks.consolidation` needs `fg-agent-memory`, which `pip install -e '.[dev]'` brings.
"""

import json
import sys
from argparse import ArgumentParser
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from time import process_time

from agent_memory_protocol.consolidation.pipeline import consolidate
from agent_memory_protocol.records.record import Provenance, Record, RecordType, new_record
from benchmarks.speed.measure import Effort, Figure, add_quick, figure, in_turn, ratio, table

NOW = datetime(2026, 11, 15, 12, tzinfo=UTC)
_SUBJECTS = ("staging", "production", "billing", "ledger", "search", "queue", "worker", "gateway")
_BODIES = (
    "The {0} database is Postgres.",
    "The {0} database is not Postgres.",
    "the {0} database is postgres",
    "The {0} needs approval from team {1}.",
    "Deploys of {0} take {1} minutes.",
    "No restart is needed for {0}.",
    "A restart is required for {0}.",
    "Logs of {0} go to /var/log/{1}.",
    "Never push {0} on Friday.",
    "Use pnpm {1} for {0}.",
)


def services(count: int) -> list[Record]:
    """Return facts that differ in their numbers alone."""
    return _facts(f"service s{number} listens on port {1000 + number}" for number in range(count))


def varied(count: int) -> list[Record]:
    """Return facts of which in every ten two say the same and four contradict each other in pairs."""
    names = (f"{_SUBJECTS[number // 10 % 8]} service {number // 80}" for number in range(count))
    return _facts(_BODIES[number % 10].format(name, number) for number, name in enumerate(names))


def _facts(bodies: Iterator[str]) -> list[Record]:
    source = Provenance("conversation", "benchmark")
    return [
        new_record(RecordType.FACT, body, provenance=source, now=NOW - timedelta(seconds=number))
        for number, body in enumerate(bodies)
    ]


def against_reference(count: int, rounds: int) -> Iterator[Figure]:
    """Compare one pass over the same records, all in memory, with what the reference needs for it."""
    import fg_agent_memory as reference

    for make in (services, varied):
        records = make(count)
        theirs = [reference.MemoryRecord.model_validate(record.to_json()) for record in records]

        def other(theirs: list[object] = theirs) -> float:
            store = reference.InMemoryRecordStore()
            for record in theirs:
                store.put(record)
            return _time(lambda: reference.consolidate(store, now=NOW))

        pairs = in_turn(lambda records=records: _time(lambda: consolidate(records, now=NOW)), other, rounds)  # type: ignore[misc]
        yield ratio(f"consolidating {count:,} records, {make.__name__}, to the reference", pairs, target=1 / 20)


def growth(small: int, large: int, rounds: int) -> Iterator[Figure]:
    """Compare the time that one record takes among many with what it takes among few."""
    for make in (services, varied):
        few, many = make(small), make(large)
        taken = [
            (_time(lambda few=few: consolidate(few, now=NOW)), _time(lambda many=many: consolidate(many, now=NOW)))  # type: ignore[misc]
            for _ in range(rounds)
        ]
        values = [(of_many / large) / (of_few / small) for of_few, of_many in taken]
        note = f"{small:,} in {taken[-1][0]:.2f} s, {large:,} in {taken[-1][1]:.1f} s"
        yield figure(f"one record of {large:,} to one of {small:,}, {make.__name__}", values, "×", 2, note)


def _time(work: Callable[[], object]) -> float:
    begin = process_time()
    work()
    return process_time() - begin


def main() -> None:
    """Measure, and print one table."""
    parser = ArgumentParser(prog="python -m benchmarks.consolidation", description="Measure consolidation.")
    parser.add_argument("--json", action="store_true", help="print JSON in place of the table")
    parser.add_argument("--rounds", type=int, default=3, help="how often each is measured; 3 by default")
    parser.add_argument("--records", type=int, default=1_000, help="how many beside the reference; 1000 by default")
    parser.add_argument("--many", type=int, default=100_000, help="how many alone; 100000 by default")
    add_quick(parser)
    arguments = parser.parse_args()
    effort = Effort(arguments.quick)
    rounds, records, many = effort.rounds(arguments.rounds), effort.size(arguments.records), effort.size(arguments.many)
    if min(arguments.rounds, arguments.records, arguments.many) < 2:
        parser.error("all numbers are above 1")
    print("measuring …", file=sys.stderr)
    figures = [
        *against_reference(records, rounds),
        *growth(many // 10, many, rounds),
    ]
    if arguments.json:
        print(json.dumps([one.as_json() for one in figures], ensure_ascii=False, indent=2))
    else:
        print(table(figures))


if __name__ == "__main__":
    main()

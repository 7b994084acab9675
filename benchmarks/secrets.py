"""How long a search for secrets takes, and how that grows: `python -m benchmarks.secrets [--quick] [--json]`."""

import json
from argparse import ArgumentParser
from collections.abc import Iterator
from functools import partial
from time import process_time

from agent_memory_protocol.secrets.find import find_secrets
from agent_memory_protocol.secrets.table import FAMILIES
from benchmarks.speed.material import REPOSITORY
from benchmarks.speed.measure import Effort, Figure, add_quick, figure, in_turn, ratio, table

_CLEAN = (
    "- [2026-01-31] The queue is drained before a deploy; see docs/deploy.md#drain, tests/test_queue.py and #412.\n"
)
_FILLINGS = ("", " ", "a", "=", "0123456789abcdef" * 4, "aB3_" * 2_000, ' = "')
_SIZE = 6_000


def figures(effort: Effort) -> Iterator[Figure]:
    """Measure clean texts, then the texts that are slowest to search beside ones four times as long."""
    for what, text, target in (("a page of 25,600 bytes", (_CLEAN * 250)[:25_600], 2.0), ("a sentence", _CLEAN, 0.1)):
        times = [1000 * _time(text) for _ in range(effort.rounds(50))]
        yield figure(f"searching {what} without a secret", times, " ms", target)
    pumps = json.loads((REPOSITORY / "tests" / "data" / "pumps.json").read_text(encoding="utf-8"))
    keywords = {f"{family.id}: {word}": word for family in FAMILIES for word in family.keywords}
    filled = {f"{name} {filling[:8]}": word + filling for name, word in keywords.items() for filling in _FILLINGS}
    for what, texts in (("repeated texts", pumps), ("keywords of families", filled)):
        chosen = dict(list(texts.items())[: effort.rounds(len(texts))])
        yield max((_growth(f"{what}, the slowest: {name}", pump, effort) for name, pump in chosen.items()), key=_value)


def _growth(what: str, pump: str, effort: Effort) -> Figure:
    short, long = ((pump * (size // len(pump) + 1))[:size] for size in (_SIZE, 4 * _SIZE))
    return ratio(
        f"four times the text, {what}", in_turn(partial(_time, long), partial(_time, short), effort.rounds(3)), target=8
    )


def _value(one: Figure) -> float:
    return one.value


def _time(text: str) -> float:
    begin = process_time()
    find_secrets(text)
    return process_time() - begin


def main() -> None:
    """Measure, and print one table."""
    parser = ArgumentParser(prog="python -m benchmarks.secrets", description="Measure the search for secrets.")
    parser.add_argument("--json", action="store_true", help="print JSON in place of the table")
    add_quick(parser)
    arguments = parser.parse_args()
    found = list(figures(Effort(arguments.quick)))
    print(json.dumps([one.as_json() for one in found], indent=2) if arguments.json else table(found))


if __name__ == "__main__":
    main()

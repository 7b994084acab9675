"""Install the package and measure it: `python -m benchmarks.speed [NAME ...] [--quick] [--json] [--python PATH]`."""

import json
import sys
from argparse import ArgumentParser
from collections.abc import Callable, Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

from benchmarks.speed import hooks, in_process, large, lines, notes, processes, verbs
from benchmarks.speed.installed import install
from benchmarks.speed.measure import Effort, Figure, add_quick, table

BENCHMARKS: dict[str, Callable[[Path, Path, Effort], Iterator[Figure]]] = {
    "in_process": in_process.figures,
    "processes": processes.figures,
    "verbs": verbs.figures,
    "hooks": hooks.figures,
    "huge_file": large.huge_file,
    "many_agents": large.many_agents,
    "many_notes": notes.figures,
    "many_lines": lines.figures,
}


def main() -> None:
    """Run the benchmarks that are named, or all, and print one table."""
    parser = ArgumentParser(prog="python -m benchmarks.speed", description="Measure what must be fast, side by side.")
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"one of {', '.join(BENCHMARKS)}; all by default")
    parser.add_argument("--json", action="store_true", help="print JSON in place of the table")
    add_quick(parser)
    parser.add_argument("--python", type=Path, metavar="PATH", help="measure what this interpreter has installed")
    arguments = parser.parse_args()
    if unknown := [name for name in arguments.names if name not in BENCHMARKS]:
        parser.error(f"no benchmark is called {unknown[0]}")
    figures: dict[str, list[Figure]] = {}
    with TemporaryDirectory(prefix="amp-benchmarks-") as name:
        python = arguments.python.absolute() if arguments.python else install(Path(name))
        for benchmark in arguments.names or BENCHMARKS:
            print(f"measuring {benchmark} …", file=sys.stderr)
            figures[benchmark] = list(BENCHMARKS[benchmark](python, Path(name), Effort(arguments.quick)))
    if arguments.json:
        answer = {benchmark: [one.as_json() for one in found] for benchmark, found in figures.items()}
        print(json.dumps(answer, ensure_ascii=False, indent=2))
    else:
        print(table([one for found in figures.values() for one in found]))


if __name__ == "__main__":
    main()

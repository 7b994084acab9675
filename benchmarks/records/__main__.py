"""Measure records: `python -m benchmarks.records [NAME ...] [--folder DIR] [--most N] [--quick] [--json]`."""

import json
import sys
from argparse import ArgumentParser
from pathlib import Path
from tempfile import TemporaryDirectory

from benchmarks.records import beside, growth, shared
from benchmarks.speed.measure import Effort, Figure, add_quick, table

NAMES = ("beside", "growth", "shared")


def main() -> None:
    """Run the benchmarks that are named, or all, and print one table."""
    parser = ArgumentParser(prog="python -m benchmarks.records", description="Measure how long records take.")
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"one of {', '.join(NAMES)}; all by default")
    parser.add_argument("--folder", type=Path, metavar="DIR", help="where to write; default: that for temporary files")
    parser.add_argument("--most", type=int, default=100_000, metavar="N", help="the most records to grow to (100,000)")
    parser.add_argument("--json", action="store_true", help="print JSON in place of the table")
    add_quick(parser)
    arguments = parser.parse_args()
    effort = Effort(arguments.quick)
    if unknown := [name for name in arguments.names if name not in NAMES]:
        parser.error(f"no benchmark is called {unknown[0]}")
    found: dict[str, list[Figure]] = {}
    with TemporaryDirectory(prefix="amp-benchmarks-", dir=arguments.folder) as name:
        for benchmark in arguments.names or NAMES:
            print(f"measuring {benchmark} …", file=sys.stderr)
            if benchmark == "beside":
                few, many = effort.size(1_000), effort.size(10_000)
                found[benchmark] = list(beside.figures(Path(name), effort, few=few, many=many))
            elif benchmark == "shared":
                found[benchmark] = list(shared.figures(Path(name), effort))
            else:
                usual = (1_000, 10_000, 100_000, 1_000_000)
                counts = [effort.size(count) for count in usual if count <= arguments.most]
                found[benchmark] = list(growth.figures(Path(name), counts=counts))
    if arguments.json:
        print(json.dumps({key: [one.as_json() for one in found[key]] for key in found}, ensure_ascii=False, indent=2))
    else:
        print(table([one for figures in found.values() for one in figures]))


if __name__ == "__main__":
    main()

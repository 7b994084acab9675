"""The table, from the command line."""

import argparse
import json
import os
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

from .project import warm_up
from .row import NotHere, Row, Size, Trial, markdown
from .trials import TRIALS


def run(trials: Sequence[Trial], folder: Path, size: Size) -> list[Row]:
    """Try each, and return what was measured."""
    rows: list[Row] = []
    os.umask(0o022)
    folder.chmod(0o755)
    home = folder / "home"
    home.mkdir()
    for name in [name for name in os.environ if name.startswith(("AMP_", "XDG_"))]:
        del os.environ[name]
    os.environ["HOME"] = str(home)
    warm_up(folder)
    for trial in trials:
        place = folder / trial.name
        place.mkdir()
        began = time.monotonic()
        try:
            rows += trial.run(place, size)
        except NotHere as error:
            rows.append(Row(trial.name, "", "", f"not tried: {error}", None))
        print(f"{trial.name}: {time.monotonic() - began:.1f} s", file=sys.stderr)
    return rows


def main() -> int:
    """Run what is named, or everything; print the table; end with 1 where a promise was broken."""
    names = [trial.name for trial in TRIALS]
    parser = argparse.ArgumentParser(prog="python -m benchmarks.durability", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"which: {', '.join(names)}; default: all")
    much = parser.add_mutually_exclusive_group()
    much.add_argument("--quick", action="store_true", help="the least, to see that each fault is met")
    much.add_argument("--long", action="store_true", help="the full numbers, an hour or so")
    parser.add_argument("--json", action="store_true", help="print JSON instead of Markdown")
    given = parser.parse_args()
    unknown = set(given.names) - set(names)
    if unknown:
        parser.error(f"there is no {', '.join(sorted(unknown))}; there are {', '.join(names)}")
    chosen = [trial for trial in TRIALS if not given.names or trial.name in given.names]
    with tempfile.TemporaryDirectory(prefix="amp-durability-") as folder:
        rows = run(chosen, Path(folder), Size.LONG if given.long else Size.QUICK if given.quick else Size.SHORT)
    print(json.dumps([asdict(row) for row in rows], indent=2) if given.json else markdown(rows))
    return 1 if any(row.held is False for row in rows) else 0


if __name__ == "__main__":
    sys.exit(main())

"""The first paint of the page in the browser, with very much memory beside very little.

`python -m benchmarks.view` needs Chromium, and Playwright, which `pip install -e '.[dev]'` brings. The time is the
browser's own: from the moment it asks for the page to the moment it shows the first text.
"""

import json
import random
import sys
import tempfile
from argparse import ArgumentParser
from collections.abc import Iterator
from datetime import date, timedelta
from pathlib import Path
from typing import Any

from benchmarks.speed.measure import Effort, Figure, add_quick, in_turn, ratio, table
from tests.view.browser import browser, program, served

_A_PAGE = 190
_FEW = (10, 2)
_MANY = (10_000, 2_000)
_VIEWS = {"overview": "/", "document": "/document?of=shared", "history": "/history"}
_PAINT = "performance.getEntriesByName('first-contentful-paint')[0]?.startTime"


def fill(root: Path, entries: int, notes: int) -> None:
    """Write so many entries, as many documents as they need, and notes beside them."""
    words = random.Random(1)
    documents = -(-entries // _A_PAGE)
    for number in range(documents):
        folder = root / ".scaffolding" / "agent-memory" / (f"agents/a{number}" if number else "shared")
        folder.mkdir(parents=True)
        lines = ["# Memory", ""]
        for entry in range(number * _A_PAGE, min(entries, (number + 1) * _A_PAGE)):
            day = f"[{date.today() - timedelta(days=words.randrange(200))}] " if entry % 2 else ""
            lines.append(f"- {day}{' '.join(f'w{words.randrange(5_000)}' for _ in range(11))} {entry}.")
        (folder / ("MEMORY.md" if number else "KNOWLEDGE.md")).write_text("\n".join([*lines, ""]))
        for note in range(number, notes, documents):
            header = f"---\nname: n{note}\ndescription: Note {note}.\ntype: user\n---\n"
            (folder / f"user_n{note}.md").write_text(f"{header}\nNote {note}.\n\n**Why:** w\n\n**How to apply:** h\n")


def first_paint(chromium: Any, address: str, path: str) -> float:
    """Open a page in a browser without a past, and return the seconds until it shows something."""
    context = chromium.new_context()
    page = context.new_page()
    page.goto(address)
    page.goto(f"{address.partition('/?')[0]}{path}")
    while (moment := page.evaluate(_PAINT)) is None:
        page.wait_for_timeout(20)
    seconds: float = moment / 1000
    context.close()
    return seconds


def figures(effort: Effort, rounds: int) -> Iterator[Figure]:
    """Compare each view with much memory and with little."""
    with tempfile.TemporaryDirectory() as above, browser() as chromium:
        roots = [Path(above, name) for name in ("many", "few")]
        for root, (entries, notes) in zip(roots, (_MANY, _FEW), strict=True):
            fill(root, max(10, effort.size(entries)), max(2, effort.size(notes)))
        with served(roots[0]) as many, served(roots[1]) as few:
            for name, path in _VIEWS.items():
                pairs = in_turn(
                    lambda path=path: first_paint(chromium, many.address, path),  # type: ignore[misc]
                    lambda path=path: first_paint(chromium, few.address, path),  # type: ignore[misc]
                    rounds,
                )
                yield ratio(f"first paint of the {name}, 10,000 entries beside 10", pairs, target=4)


def main() -> None:
    """Measure, and print the table."""
    parser = ArgumentParser(prog="python -m benchmarks.view", description=__doc__)
    parser.add_argument("--rounds", type=int, default=7, help="how often each is measured")
    parser.add_argument("--json", action="store_true", help="for a program")
    add_quick(parser)
    arguments = parser.parse_args()
    effort = Effort(arguments.quick)
    if program() is None:
        print("there is no Chromium on this machine: nothing was measured", file=sys.stderr)
        return
    found = [*figures(effort, effort.rounds(arguments.rounds))]
    print(json.dumps([one.as_json() for one in found], indent=2) if arguments.json else table(found))


if __name__ == "__main__":
    main()

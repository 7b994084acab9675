"""`amp watch`: keep indexes fresh, heal, warn."""

import signal
import sys
import time

import click

from ..watch import DEBOUNCE, Happened, Watcher
from .options import Call, call_with, root_option
from .printing import note, print_json, say


@click.command("watch")
@click.option("--once", is_flag=True, help="Make one full pass and end.")
@click.option(
    "--poll", type=click.FloatRange(min=0.05), metavar="SECONDS", help="Look this often, instead of using file events."
)
@click.option(
    "--debounce", type=click.IntRange(min=0), metavar="MS", help="Wait for this much quiet after an event (200 ms)."
)
@click.option("--json", "as_json", is_flag=True, help="One JSON object per line.")
@call_with(root_option)
def watch_command(call: Call, once: bool, poll: float | None, debounce: int | None) -> None:
    """Keep indexes up to date and repair files while it runs.

    It indexes notes, puts back what other programs overwrote, and warns when a file is nearly full. Ctrl-C and SIGTERM
    end it cleanly. With --once, exit code 4: something could not be read or repaired.

    \b
    Examples:
        amp watch
        amp watch --once --json
    """
    seconds = DEBOUNCE if debounce is None else debounce / 1000
    here = call.workspace()
    watcher = Watcher(here, debounce=seconds, poll=poll)
    if not once:
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, lambda *_: watcher.stop())
    problems = 0
    for happened in watcher.look() if once else watcher.run():
        _say(happened, as_json=call.as_json)
        problems += happened.what == "problem"
    sys.exit(4 if once and problems else 0)


def _say(happened: Happened, *, as_json: bool) -> None:
    if as_json:
        print_json({**happened.to_json(), "at": time.time()}, indent=None)
    elif happened.what in ("problem", "near-limit", "polling"):
        note(str(happened))
    else:
        say(str(happened))

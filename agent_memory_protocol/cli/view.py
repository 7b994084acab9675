"""`amp view`: memory as a page for a browser, live or as one file."""

import os
import sys
from collections.abc import Callable, Sequence
from datetime import date
from functools import partial
from typing import TYPE_CHECKING

import click

from ..formats.record_files import replacing
from ..project.access import Actor
from ..project.outside import check_outside
from .formats import STDIO, output_file
from .options import Call, as_option, call_with, conversation_option, note, root_option, say
from .record_options import has_records

if TYPE_CHECKING:
    from ..records.record import Record
    from ..workspace import Workspace


@click.command("view")
@click.option("--output", metavar="FILE", help="Write one self-contained HTML file; - is stdout.")
@click.option("--force", is_flag=True, help="Replace FILE if it exists.")
@click.option("--read-only", is_flag=True, help="Serve a page on which nothing can be changed.")
@click.option("--port", type=click.IntRange(0, 65_535), default=0, metavar="N", help="The port; default: a free one.")
@click.option("--no-open", is_flag=True, help="Print the address, and open no browser.")
@conversation_option
@call_with(root_option, as_option)
def view_command(
    call: Call,
    output: str | None,
    force: bool,
    read_only: bool,
    port: int,
    no_open: bool,
    conversation: str | None,
) -> None:
    """Show memory as a page in the browser.

    It shows every document with its entries and notes, the records and the removed entries. It also shows what recall
    leaves out and what `amp check` and `amp review` say. It shows only what you may read.

    The page is served on this machine alone until Ctrl-C, and needs the extra `view`. The first line printed is its
    address. With --output it is one file that needs no server and no network. A file that would be larger than two
    megabytes leaves the history out and says so.

    \b
    Examples:
        amp view
        amp view --read-only --as developer --no-open
        amp view --output memory.html --force
    """
    who = call.actor(conversation)
    here = call.workspace()
    records = partial(_records, here, who) if has_records(call, None) else tuple
    if output is None:
        _serve(here, who, records, port=port, read_only=read_only, opens=not no_open)
        return
    from ..view.html import single_file
    from ..view.page import gather

    if output != STDIO:
        check_outside(who, output)
    data = single_file(gather(here, who, date.today(), records()))
    with (
        output_file(output) as path,
        replacing(path, overwrite=force or output == STDIO) as new,
        open(new, "wb") as file,
    ):
        file.write(data)
    if output != STDIO:
        note(f"wrote {output}: {len(data):,} bytes")


def _records(here: "Workspace", who: Actor) -> "Sequence[Record]":
    from ..layout import MEMORY
    from ..memory import Memory

    with Memory(os.path.join(here.path, *MEMORY), actor=who) as memory:
        return memory.records()


def _serve(
    here: "Workspace", who: Actor, records: "Callable[[], Sequence[Record]]", *, port: int, read_only: bool, opens: bool
) -> None:
    from ..view import live
    from ..workspace import Workspace

    here.settings.check_enabled()
    bound = live.bind(port)
    page = live.LivePage(
        lambda: Workspace.open(here.path), records, who, bound.getsockname()[1], is_read_only=read_only
    )
    say(page.address)
    sys.stdout.flush()
    if opens:
        import webbrowser

        webbrowser.open(page.address)
    live.serve(page, bound)

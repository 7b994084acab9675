"""`amp view`: memory as a page for a browser, live or as one file."""

import os
import sys
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from datetime import date
from typing import TYPE_CHECKING

import click

from ..formats.record_files import replacing
from ..project.access import Actor
from ..project.outside import check_outside
from .formats import STDIO, output_file
from .options import Call, as_option, call_with, conversation_option, root_option
from .printing import note, say_text
from .record_options import has_records

if TYPE_CHECKING:
    from ..memory import Memory
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
    call: Call, output: str | None, force: bool, read_only: bool, port: int, no_open: bool, conversation: str | None
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
    if output is None:
        _serve(here, who, port=port, read_only=read_only, opens=not no_open)
        return
    from ..view.html import single_file
    from ..view.page import gather

    if output != STDIO:
        check_outside(who, output)
    with _records(here, who, are_there=has_records(call, None)) as memory:
        data = single_file(gather(here, who, date.today(), tuple if memory is None else memory.records))
    with (
        output_file(output) as path,
        replacing(path, overwrite=force or output == STDIO) as new,
        open(new, "wb") as file,
    ):
        file.write(data)
    if output != STDIO:
        note(f"wrote {output}: {len(data):,} bytes")


@contextmanager
def _records(here: "Workspace", who: Actor, *, are_there: bool) -> "Iterator[Memory | None]":
    if not are_there:
        yield None
        return
    from ..layout import MEMORY
    from ..memory import Memory

    with Memory(os.path.join(here.path, *MEMORY), actor=who) as memory:
        yield memory


def _serve(here: "Workspace", who: Actor, *, port: int, read_only: bool, opens: bool) -> None:
    from ..layout import RECORDS
    from ..view import live
    from ..workspace import Workspace

    here.settings.check_enabled()
    bound = live.bind(port)

    def records() -> "AbstractContextManager[Memory | None]":
        return _records(here, who, are_there=os.path.lexists(os.path.join(here.path, *RECORDS)))

    page = live.LivePage(
        lambda: Workspace.open(here.path), records, who, bound.getsockname()[1], is_read_only=read_only
    )
    say_text(page.address, as_it_is=True)  # it holds the token that opens the page
    sys.stdout.flush()
    if opens:
        import webbrowser

        webbrowser.open(page.address)
    live.serve(page, bound)

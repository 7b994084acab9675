"""`amp view`: memory as a page for a browser."""

from datetime import date

import click

from ..formats.record_files import replacing
from ..project.outside import check_outside
from .formats import STDIO, output_file
from .options import Call, as_option, call_with, conversation_option, note, root_option, today_option
from .record_options import has_records, open_memory


@click.command("view")
@click.option("--output", metavar="FILE", help="The HTML file to write; - is stdout.")
@click.option("--force", is_flag=True, help="Replace FILE if it exists.")
@today_option
@conversation_option
@call_with(root_option, as_option)
def view_command(call: Call, output: str | None, force: bool, today: date | None, conversation: str | None) -> None:
    """Write memory as one page for a browser.

    It shows every document with its entries and notes, the records and the removed entries. It also shows what recall
    leaves out and what `amp check` and `amp review` say. It shows only what you may read. The file needs no server and
    no network. A page that would be larger than two megabytes leaves the history out and says so.

    \b
    Examples:
        amp view --output memory.html
        amp view --output memory.html --as developer --force
    """
    from ..view.html import single_file
    from ..view.page import gather

    if output is None:
        raise click.UsageError("where to? name the file to write, as in --output memory.html")
    who = call.actor(conversation)
    if output != STDIO:
        check_outside(who, output)
    records = open_memory(call, None).records() if has_records(call, None) else ()
    page = gather(call.workspace(), who, today or date.today(), records)
    data = single_file(page)
    with (
        output_file(output) as path,
        replacing(path, overwrite=force or output == STDIO) as new,
        open(new, "wb") as file,
    ):
        file.write(data)
    if output != STDIO:
        note(f"wrote {output}: {len(data):,} bytes")

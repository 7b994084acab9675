"""`amp search`: what memory says about something, with the reasons."""

import click

from .options import TextCommand, as_option, json_option, note, plain, print_json, root_option
from .records import open_memory, store_option


@click.command("search", cls=TextCommand)
@click.argument("text", metavar="QUERY")
@click.option(
    "--limit", type=click.IntRange(min=1), default=10, show_default=True, metavar="N", help="At most so many."
)
@click.option("--history", is_flag=True, help="What was replaced or archived, too.")
@store_option
@json_option
@root_option
@as_option
def search_command(
    text: str, limit: int, history: bool, store: str | None, as_json: bool, root: str | None, as_agent: str | None
) -> None:
    """Find records by their words, best first, with the reasons.

    Any text is a query. Code words are found whole and by their parts, whatever joins them.

    \b
    Example:
        amp search "staging database"
    """
    found = open_memory(store, root, as_agent).search(text, limit=limit, include_history=history)
    for problem in found.problems:
        note(problem)
    if as_json:
        hits = [
            {
                "kind": "record",
                "id": hit.record.id,
                "state": hit.record.state.value,
                "text": hit.record.body,
                "score": round(hit.score, 4),
                "reasons": list(hit.reasons),
            }
            for hit in found
        ]
        print_json({"hits": hits})
        return
    for hit in found:
        click.echo(f"{hit.record.id}  {plain(hit.line.removeprefix('- '))}")
        click.echo(f"    {plain('; '.join(hit.reasons))}")
    if not len(found):
        note("nothing matches")
    elif found.left_out:
        note(f"{found.left_out} more match; --limit {limit + found.left_out} shows them")

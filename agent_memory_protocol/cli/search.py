"""`amp search`: what memory says about something, with the reasons."""

import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import date
from itertools import chain, zip_longest
from shlex import quote
from typing import TYPE_CHECKING

import click

from ..answers import Found, Json
from .cells import cells
from .options import Call, TextCommand, call_options, conversation_option, first_words, note, today_option
from .record_options import has_records, open_memory, shown_store, store_option

if TYPE_CHECKING:
    from ..memory import Memory
    from ..search.port import Embedder


@dataclass(frozen=True, slots=True)
class _Hit:
    """One line of the answer: what is printed of it, and its JSON."""

    head: str
    shown_by: str
    reasons: Sequence[str]
    fields: Json


@click.command("search", cls=TextCommand)
@click.argument("text", metavar="QUERY")
@click.option(
    "--limit", type=click.IntRange(min=1), default=10, show_default=True, metavar="N", help="Show at most N results."
)
@click.option("--vectors", is_flag=True, help="Also search by meaning, with the model of the extra `vectors`.")
@click.option("--history", is_flag=True, help="Also search what was removed, replaced or archived.")
@today_option
@store_option
@conversation_option
@call_options
def search_command(
    call: Call,
    text: str,
    limit: int,
    vectors: bool,
    history: bool,
    today: date | None,
    store: str | None,
    conversation: str | None,
) -> None:
    """Find entries, notes and records by their words.

    Any text is a query. Names in code are found whole and by their parts. One wrong letter does not matter. The best
    results come first. Each says where it is, why it matched and which command shows it. With --store, only the records
    there are searched. Exit code 4: something could not be read; the rest was searched.

    \b
    Example:
        amp search "staging database"
    """
    embedder = _model() if vectors else None
    problems: list[str] = []
    records: list[_Hit] = []
    left_out = 0
    if has_records(call, store):
        memory = open_memory(call, store, embedder=embedder)
        records, left_out = _records(memory, text, limit, history, store, problems)
    lasting: list[_Hit] = []
    gone: list[_Hit] = []
    if store is None:
        who, here = call.actor(conversation), call.workspace()
        hits = here.search(text, who, limit=limit, embedder=embedder, today=today, on_problem=problems.append)
        lasting = [_hit(one, _place(one), _shown_by(one)) for one in hits]
        if history:
            archived = here.search_archived(text, who, limit=limit, on_problem=problems.append)
            gone = [_hit(one, f"{one.target}, archived", f"amp restore {one.id}") for one in archived]
    # The scores of two answers do not compare, their ranks do.
    found = [one for one in chain.from_iterable(zip_longest(lasting, gone, records)) if one is not None][:limit]
    problems = list(dict.fromkeys(problems))
    for problem in problems:
        note(problem)
    matching = len(lasting) + len(gone) + len(records) + left_out
    call.answer({"hits": [one.fields for one in found], "problems": problems}, _lines(found, matching, limit, history))
    sys.exit(4 if problems else 0)


def _lines(found: Sequence[_Hit], matching: int, limit: int, history: bool) -> Iterator[str]:
    for one in found:
        yield one.head
        yield f"    {'; '.join(one.reasons)}; `{one.shown_by}`"
    more = matching - len(found)
    if not found:
        note("nothing matches" if history else "nothing matches; --history looks at what was taken out, too")
    elif more:
        note(f"{more} more match; --limit {limit + more} shows them")


def _model() -> "Embedder":
    from ..search.minilm import MiniLM

    return MiniLM()


def _place(found: Found) -> str:
    """Return where a hit is: the line counts in the document, or in the file of the note."""
    return f"{found.target}, line {found.line}" if found.kind == "note" else f"{found.target}:{found.line}"


def _shown_by(found: Found) -> str:
    name = found.id.removesuffix(".md") if found.kind == "note" else found.id
    shown_by = f"amp note show {quote(name)}" if found.kind == "note" else "amp show"
    return shown_by + (f" {found.target.option}" if found.kind == "note" or found.target.owner else " shared")


def _hit(found: Found, where: str, shown_by: str) -> _Hit:
    head = f"{found.id}  {where}  "
    head += first_words(found.alone, behind=cells(head))
    return _Hit(head, shown_by, found.reasons, found.to_json())


def _records(
    memory: "Memory", text: str, limit: int, history: bool, store: str | None, problems: list[str]
) -> tuple[list[_Hit], int]:
    found = memory.search(text, limit=limit, include_history=history)
    problems += found.problems
    hits = []
    for hit in found:
        shown_by = f"amp record show {hit.record.id}" + (f" --store {quote(shown_store(store))}" if store else "")
        hits.append(_Hit(f"{hit.record.id}  {hit.line.removeprefix('- ')}", shown_by, hit.reasons, hit.to_json()))
    return hits, found.left_out

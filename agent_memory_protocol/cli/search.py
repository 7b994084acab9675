"""`amp search`: what memory says about something, where it says so, and the reasons."""

import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import date
from itertools import chain, zip_longest
from shlex import quote
from typing import TYPE_CHECKING

import click

from ..answers import Found, Json, corrections
from ..errors import InvalidArgument
from ..layout import Tier
from ..search.port import LEAST_FIT
from .cells import cells, cut
from .options import (
    Call,
    TextCommand,
    call_options,
    colour,
    conversation_option,
    first_words,
    note,
    plain,
    room,
    since_option,
    tier_names,
    today_option,
)
from .record_options import has_records, open_memory, shown_store, store_option

if TYPE_CHECKING:
    from ..memory import Memory
    from ..records.rank import RecalledRecord
    from ..search.port import Embedder

_INDENT = "    "
_LEAST = 20
"""Cells that what is said behind a place needs; with fewer it goes on a line of its own."""


@dataclass(frozen=True, slots=True)
class _Hit:
    """One result: what is printed of it, and its JSON.

    Attributes:
        place: where it is; never shortened, so that it can be clicked or copied.
        said: what else the first line says, as far as there is room.
        passage: the part of it that matched.
        lines: what is printed in place of the passage: numbered lines, where those around it were asked for.
        shown_by: the command that shows it whole.
        tokens, meant: what matched, and what was searched for in place of a slip.
    """

    place: str
    said: str
    passage: str
    shown_by: str
    reasons: Sequence[str]
    tokens: Sequence[str]
    meant: Sequence[tuple[str, str]]
    fields: Json
    lines: Sequence[tuple[int, str]] = ()


@click.command("search", cls=TextCommand)
@click.argument("text", metavar="QUERY")
@click.option(
    "--limit", type=click.IntRange(min=1), default=10, show_default=True, metavar="N", help="Show at most N results."
)
@click.option(
    "--context", type=click.IntRange(0, 1000), default=0, metavar="N", help="Also show N lines before and after."
)
@click.option("--tier", type=tier_names, help="Search only this tier.")
@click.option("--agent", metavar="NAME", help="Search only the memory of this agent.")
@since_option
@click.option("--vectors", is_flag=True, help="Also search by meaning, with a sentence model that is installed.")
@click.option("--history", is_flag=True, help="Also search what was removed, replaced or archived.")
@today_option
@store_option
@conversation_option
@call_options
def search_command(
    call: Call,
    text: str,
    limit: int,
    context: int,
    tier: str | None,
    agent: str | None,
    since: date | None,
    vectors: bool,
    history: bool,
    today: date | None,
    store: str | None,
    conversation: str | None,
) -> None:
    """Find entries, notes and records by their words.

    Any text is a query. Names in code are found whole and by their parts. One wrong letter does not matter. The best
    results come first. Each shows its file and line, the passage that matched, why it matched, and which command shows
    all of it. Records are searched unless --tier or --agent says where to look; with --store, only the records there
    are. --since leaves out lasting entries, which have no date. Exit code 4: something could not be read; the rest was
    searched.

    \b
    Examples:
        amp search "staging database"
        amp search port --agent developer --context 2
        amp search redis --since 2026-05-01 --history
    """
    is_narrowed = tier is not None or agent is not None
    if store is not None and is_narrowed:
        raise InvalidArgument("records are in no tier; leave out --store, or --tier and --agent")
    embedder = _model() if vectors else None
    problems: list[str] = []
    records: list[_Hit] = []
    left_out = 0
    if not is_narrowed and has_records(call, store):
        memory = open_memory(call, store, embedder=embedder)
        records, left_out = _records(memory, text, limit, history, since, store, problems)
    lasting: list[_Hit] = []
    is_answered = True
    gone: list[_Hit] = []
    if store is None:
        who, here = call.actor(conversation), call.workspace()
        only = Tier.parse(tier) if tier else None
        named = conversation if only is Tier.CONVERSATION else None
        hits = here.search(
            text,
            who,
            limit=limit,
            tier=only,
            agent=agent,
            conversation=named,
            since=since,
            context=context,
            embedder=embedder,
            today=today,
            on_problem=problems.append,
        )
        lasting = [_hit(one) for one in hits]
        is_answered = not hits or hits[0].fit >= LEAST_FIT
        if history:
            archived = here.search_archived(
                text,
                who,
                limit=limit,
                tier=only,
                agent=agent,
                conversation=named,
                since=since,
                on_problem=problems.append,
            )
            gone = [_left(one) for one in archived]
    # The scores of two answers do not compare, their ranks do.
    found = [one for one in chain.from_iterable(zip_longest(lasting, gone, records)) if one is not None][:limit]
    problems = list(dict.fromkeys(problems))
    for problem in problems:
        note(problem)
    searched = corrections(found)
    matching = len(lasting) + len(gone) + len(records) + left_out
    answer = {
        "hits": [one.fields for one in found],
        "corrections": [one.to_json() for one in searched],
        "problems": problems,
    }
    if searched:
        told = (f"{' or '.join(one.searched)} instead of {one.word}" for one in searched)
        note(f"searched for {', '.join(told)}")
    if not is_answered and not records:
        note("nothing matches well; these come closest")
    call.answer(answer, _lines(found, matching, limit, history, since is not None))
    sys.exit(4 if problems else 0)


def _lines(found: Sequence[_Hit], matching: int, limit: int, history: bool, is_since: bool) -> Iterator[str]:
    for number, one in enumerate(found):
        if number and one.lines:
            yield ""
        behind = cells(one.place) + 2
        is_beside = room(behind) > _LEAST
        said = _marked(first_words(one.said, behind=behind if is_beside else len(_INDENT)), one.tokens)
        yield f"{one.place}  {said}" if said and is_beside else one.place
        if said and not is_beside:
            yield _INDENT + said
        yield from _numbered(one) if one.lines else _wrapped(one)
        yield f"{_INDENT}{'; '.join(one.reasons)}; `{one.shown_by}`"
    more = matching - len(found)
    if not found:
        told = "" if history else "; --history also searches what was removed"
        note(f"nothing matches{'; without --since, undated entries are searched too' if is_since else told}")
    elif more:
        note(f"{more} more match; --limit {limit + more} shows them")


def _wrapped(hit: _Hit) -> Iterator[str]:
    """Yield the passage: on a terminal as wide as that is, elsewhere on one line."""
    most = room(len(_INDENT))
    line = ""
    for word in plain(hit.passage).split(" "):
        if line and cells(line) + 1 + cells(word) > most:
            yield _INDENT + _marked(line, hit.tokens)
            line = ""
        line = f"{line} {word}" if line else word
        while cells(line) > most:  # what has no blanks is broken wherever the line ends
            head = cut(line, most + 1).removesuffix("…")
            yield _INDENT + _marked(head, hit.tokens)
            line = line[len(head) :]
    yield _INDENT + _marked(line, hit.tokens)


def _numbered(hit: _Hit) -> Iterator[str]:
    """Yield the lines around the match with their numbers."""
    from ..search.excerpt import excerpt

    width = len(str(hit.lines[-1][0]))
    for number, text in hit.lines:
        line, most = plain(text), room(len(_INDENT) + width + 2)
        line = cut(excerpt(line, hit.tokens, most) if cells(line) > most else line, most)
        yield f"{_INDENT}{number:>{width}}  {_marked(line, hit.tokens)}"


def _marked(line: str, tokens: Sequence[str]) -> str:
    """Return a line with what matched in another colour, where stdout shows colours."""
    if colour("x", "match") == "x":
        return line
    from ..search.words import places

    parts, end = [], 0
    for first, behind in places(line, tokens):
        parts += [line[end:first], colour(line[first:behind], "match")]
        end = behind
    return "".join([*parts, line[end:]])


def _model() -> "Embedder":
    from ..search.models import installed_model

    return installed_model()


def _hit(found: Found) -> _Hit:
    name = found.id.removesuffix(".md") if found.kind == "note" else found.id
    place = f"{found.file}:{found.passage_line}"
    if found.kind == "note":
        said = found.text
        shown_by = f"amp note show {quote(name)} {found.target.option}"
    else:
        place, said = f"{place}  {found.id}", found.section
        in_conversation = found.target.tier is Tier.CONVERSATION
        shown_by = f"amp show {name}" + (f" {found.target.option}" if in_conversation else "")
    return _Hit(
        plain(place),
        said,
        found.passage,
        shown_by,
        found.reasons,
        found.tokens,
        found.meant,
        found.to_json(),
        found.lines,
    )


def _left(found: Found) -> _Hit:
    """Return a hit for what has left its document."""
    place = f"{found.file}  {found.id}"
    left_on = f"left {found.target}" + (f" on {found.date}" if found.date else "")
    return _Hit(
        plain(place),
        left_on,
        found.passage,
        f"amp restore {found.id}",
        found.reasons,
        found.tokens,
        found.meant,
        found.to_json(),
    )


def _records(
    memory: "Memory", text: str, limit: int, history: bool, since: date | None, store: str | None, problems: list[str]
) -> tuple[list[_Hit], int]:
    found = memory.search(text, limit=limit, include_history=history, since=since)
    problems += found.problems
    return [_record(hit, store) for hit in found], found.left_out


def _record(hit: "RecalledRecord", store: str | None) -> _Hit:
    shown_by = f"amp record show {hit.record.id}" + (f" --store {quote(shown_store(store))}" if store else "")
    said = f"record of {hit.record.updated_at:%Y-%m-%d} {hit.marks}".rstrip()
    return _Hit(hit.record.id, said, hit.passage, shown_by, hit.reasons, hit.matched, hit.meant, hit.to_hit())

"""`amp search`: what memory says about something, where it says so, and the reasons."""

import sys
from collections.abc import Iterator, Sequence
from datetime import date
from shlex import quote
from typing import TYPE_CHECKING

import click

from ..answers import Found
from ..errors import InvalidArgument
from ..layout import Tier
from ..query import ask
from ..values import dataclass
from .cells import cells, cut
from .options import Call, TextCommand, call_options, conversation_option, since_option, tier_names, today_option
from .printing import colour, first_words, note, own_command, plain, room
from .record_options import has_records, open_memory, shown_store, store_option

if TYPE_CHECKING:
    from ..records.rank import RecalledRecord

_INDENT = "    "
_LEAST = 20  # Cells that what is said behind a place needs; with fewer it goes on a line of its own


@dataclass(frozen=True, slots=True)
class _Hit:
    """How one result is shown."""

    place: str  # where it is; never shortened, so that it can be clicked or copied
    said: str  # what else the first line says, as far as there is room
    shown_by: str  # the command that shows it whole
    found: "Found | RecalledRecord"

    @property
    def tokens(self) -> Sequence[str]:
        return self.found.tokens if isinstance(self.found, Found) else self.found.matched

    @property
    def reasons(self) -> Sequence[str]:
        about = "" if isinstance(self.found, Found) else plain(self.found.label)
        return [*self.found.reasons, *([f"about: {about}"] if about else [])]

    @property
    def lines(self) -> Sequence[tuple[int, str]]:
        """The numbered lines that are printed in place of the passage, where those around it were asked for."""
        return self.found.lines if isinstance(self.found, Found) else ()


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
    embedder = None
    if vectors:
        from ..search.models import installed_model

        embedder = installed_model()
    has_them = not is_narrowed and has_records(call, store)
    only = Tier.parse(tier) if tier else None
    found = ask(
        call.workspace() if store is None else None,
        open_memory(call, store, embedder=embedder) if has_them else None,
        call.actor(conversation),
        text,
        limit=limit,
        tier=only,
        agent=agent,
        conversation=conversation if only is Tier.CONVERSATION else None,
        since=since,
        history=history,
        context=context,
        embedder=embedder,
        today=today,
    )
    for problem in found.problems:
        note(problem)
    if searched := [f"{' or '.join(one.searched)} instead of {one.word}" for one in found.corrections]:
        note(f"searched for {', '.join(searched)}")
    if not found.fits:
        note("nothing matches well; these come closest")
    hits = [_hit(one, store) for one in found.hits]
    call.answer(found.to_json(), _lines(hits, found.more, limit, history, since is not None))
    sys.exit(4 if found.problems else 0)


def _lines(found: Sequence[_Hit], more: bool, limit: int, history: bool, is_since: bool) -> Iterator[str]:
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
        yield f"{_INDENT}{'; '.join(one.reasons)}; `{own_command(one.shown_by)}`"
    if not found:
        told = "" if history else "; --history also searches what was removed"
        note(f"nothing matches{'; without --since, undated entries are searched too' if is_since else told}")
    elif more:
        note(f"more match; --limit {2 * limit} shows more of them")


def _wrapped(hit: _Hit) -> Iterator[str]:
    """Yield the passage: on a terminal as wide as that is, elsewhere on one line."""
    most = room(len(_INDENT))
    line = ""
    for word in plain(hit.found.passage.replace("\n", " ")).split(" "):
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


def _hit(found: "Found | RecalledRecord", store: str | None) -> _Hit:
    if not isinstance(found, Found):
        shown_by = f"amp record show {found.record.id}" + (f" --store {quote(shown_store(store))}" if store else "")
        place = f"record of {found.record.updated_at:%Y-%m-%d} {found.marks}".rstrip()
        return _Hit(found.record.id, place, shown_by, found)
    if found.kind == "archived":
        left_on = f"left {found.target}" + (f" on {found.date}" if found.date else "")
        return _Hit(plain(f"{found.file}  {found.id}"), left_on, f"amp restore {found.id}", found)
    place = plain(f"{found.file}:{found.passage_line}")
    if found.kind == "note":
        shown_by = f"amp note show {quote(found.id.removesuffix('.md'))} {found.target.option}"
        return _Hit(place, found.text, shown_by, found)
    in_conversation = found.target.tier is Tier.CONVERSATION
    shown_by = f"amp show {found.id}" + (f" {found.target.option}" if in_conversation else "")
    return _Hit(f"{place}  {found.id}", found.place, shown_by, found)

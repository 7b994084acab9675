"""`amp show` and `amp list`: what is on disk now."""

import sys
from collections.abc import Iterator, Mapping, Sequence
from datetime import date

import click

from ..answers import StoredEntry
from ..errors import InvalidArgument
from ..layout import Target, Tier, parse_target
from ..project.access import Actor
from ..secrets.mask import masked_lines
from ..text.ids import is_start
from .options import (
    Call,
    budget_options,
    call_options,
    conversation_option,
    document_options,
    problems_in_settings,
    tier_names,
    today_option,
)
from .printing import first_words, note


@click.command("show")
@click.argument("tier", required=False, metavar="[TIER|TARGET|ID]")
@document_options
@click.option("--section", metavar="HEADING", help="Only this section.")
@click.option("--about", is_flag=True, help="Show details below each entry.")
@click.option("--left-out", is_flag=True, help="Show what recall leaves out of this document, with the limits below.")
@today_option
@budget_options
@call_options
def show_command(
    call: Call,
    tier: str | None,
    agent: str | None,
    conversation: str | None,
    section: str | None,
    about: bool,
    left_out: bool,
    today: date | None,
    max_lines: int | None,
    max_chars: int | None,
    max_tokens: int | None,
) -> None:
    """Show a memory file as it is on disk now, with line numbers.

    TIER is shared, agent or conversation; TARGET names a document as `amp list` does, such as agent:developer. With the
    ID of an entry, or its beginning, it shows that entry and its details.

    \b
    Examples:
        amp show
        amp show 4fd0
        amp show agent:developer --about
        amp show --agent developer --section Testing
        amp show --agent developer --left-out
    """
    if tier is not None and is_start(tier) and (agent, section, left_out) == (None, None, False):
        _show_entry(call, tier, call.actor(conversation))
        return
    if tier is not None and tier not in tier_names.choices:
        if agent is not None or conversation is not None:
            raise InvalidArgument(f"{tier!a} names the document already; leave out --agent and --conversation")
        named = parse_target(tier)
        tier = named.tier.value
        agent, conversation = (named.owner, None) if named.tier is Tier.AGENT else (None, named.owner)
    here = call.workspace()
    who = call.actor(conversation)
    target = here.target(who, tier=Tier.parse(tier) if tier else None, agent=agent, conversation=conversation)
    lines: list[tuple[int, str]] | None
    if left_out:
        if section is not None:
            raise InvalidArgument("--section and --left-out exclude each other; give one of them")
        bounds = {"max_lines": max_lines, "max_chars": max_chars, "max_tokens": max_tokens}
        lines = here.left_out(target, who, agent=agent, today=today, **bounds)
        absent = f"recall leaves nothing out of {target.path}"
    else:
        shown = here.show(target, who, section=section)
        lines = shown.lines if shown else None
        absent = f"{target.path} does not exist yet; `amp remember` makes it"
    if lines:
        whole = here.show(target, who)
        texts = [text for _, text in whole.lines] if whole else []
        hidden = {number: text for number, text in enumerate(masked_lines(texts), 1) if text != texts[number - 1]}
        lines = [(number, hidden.get(number, text)) for number, text in lines]
    numbered = [{"line": number, "text": text} for number, text in lines or ()]
    shown_lines = {number for number, _ in lines or ()}
    found = here.entries(who, [target]) if about and lines else []
    entries = [one for one in found if one.line in shown_lines]
    call.answer(
        {
            **target.to_json(),
            "exists": lines is not None,
            "lines": numbered,
            **({"entries": [one.to_json() for one in entries]} if about else {}),
        },
        _numbered(lines or (), {one.last_line: _known(one) for one in entries}),
    )
    if not lines and not call.as_json:
        note(absent if lines is None or left_out else f"{target.path} is empty")


def _numbered(lines: Sequence[tuple[int, str]], known: Mapping[int, str]) -> Iterator[str]:
    """Yield lines with their numbers, each followed by what is known of the entry that ends with it."""
    width = len(str(lines[-1][0])) if lines else 0
    for number, text in lines:
        yield f"{number:>{width}}  {text}"
        if known.get(number):
            yield f"{'':{width}}    ({known[number]})"


def _show_entry(call: Call, entry_id: str, who: Actor) -> None:
    """Show one entry, also one that has left its document."""
    here = call.workspace()
    try:
        entry = here.entry(entry_id, who)
    except InvalidArgument:
        try:
            (gone,) = here.restorable([entry_id], actor=who)
        except (InvalidArgument, ValueError):
            gone = None
        if gone is None:
            raise
        left = gone.archived
        lines = [
            f"{left.taken.id}  {gone.target}, left on {left.removed_at[:10]}: {left.reason}",
            *masked_lines([left.taken.alone]),
            *([f"    ({gone.about})"] if str(gone.about) else []),
        ]
        call.answer({"archived": gone.to_json()}, lines)
        note(f"`amp restore {left.taken.id} --apply` brings it back")
        return
    call.answer({"entry": entry.to_json()}, _alone(entry))


def _alone(entry: StoredEntry) -> Iterator[str]:
    yield f"{entry.id}  {entry.target}:{entry.line}  {entry.place}".rstrip()
    yield from masked_lines([entry.alone])
    if known := _known(entry):
        yield f"    ({known})"


@click.command("list")
@click.argument("targets", nargs=-1, metavar="[TARGET]...")
@click.option("--long", "is_long", is_flag=True, help="Also show the details of each: kind, source, tags, writer, …")
@today_option
@conversation_option
@call_options
def list_command(
    call: Call, targets: tuple[str, ...], is_long: bool, today: date | None, conversation: str | None
) -> None:
    """List every entry: its id, document, date and first words.

    TARGET is shared, agent:NAME or conversation:ID; default: all that you may read. Exit code 4: a document could not
    be read; the others are listed.

    \b
    Examples:
        amp list
        amp list --long
        amp list agent:developer --json
    """
    here = call.workspace()
    problems: list[str] = []
    chosen = [parse_target(target) for target in targets]
    # To name a conversation is to join it (decision 7).
    joined = conversation or next((target.owner for target in chosen if target.tier is Tier.CONVERSATION), None)
    entries = here.entries(call.actor(joined), chosen or None, on_problem=lambda _, problem: problems.append(problem))
    for problem in problems:
        note(problem)
    if not problems_in_settings(here) and not problems and not entries:
        from ..verbs.doctor import writer_of

        where = f" in {', '.join(targets)}" if targets else ""
        note(f"there are no entries yet{where}; {writer_of((chosen or [Target(Tier.SHARED)])[0])} writes the first")
    said = _lines(entries, today or date.today(), is_long=is_long)
    call.answer({"entries": [entry.to_json() for entry in entries], "problems": problems}, said)
    sys.exit(4 if problems else 0)


def _lines(entries: Sequence[StoredEntry], today: date, *, is_long: bool) -> Iterator[str]:
    shown = ""
    for entry in entries:
        # By the path: of twins, which are one document by their names, each has its own.
        if entry.target.path != shown:
            yield f"{entry.target}  {entry.target.path}"
            shown = entry.target.path
        when = entry.date.isoformat() if entry.date else "-" * 10
        said = f"(expired) {entry.alone}" if entry.is_expired(today) else entry.alone
        yield f"  {entry.id:<14}  {when}  {entry.line:>4}  {first_words(said, behind=36)}"
        if is_long and (known := _known(entry)):
            yield f"{'':36}{known}"


def _known(entry: StoredEntry) -> str:
    until = f"true until {entry.until.isoformat()}" if entry.until else ""
    as_of = f"as of {entry.as_of.isoformat()}" if entry.as_of else ""
    marks = ["kept when pruning" if entry.keep else "", until, as_of, "disputed" if entry.disputed else ""]
    return "; ".join(filter(None, [str(entry.about), *marks]))

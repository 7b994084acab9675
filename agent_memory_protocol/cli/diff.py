"""`amp diff`: what changed in memory between two commits, for people, for a pull request, for programs."""

from collections.abc import Iterator

import click

from ..secrets.mask import beginning
from ..verbs.diff import ADDED, DISPUTED, EDITED, RESTORED, RETIRED, Diff, Difference, summary
from .options import Call, as_option, call_with, root_option
from .printing import first_words, plain, print_json, say

_SIGNS = {ADDED: "+", EDITED: "~", RETIRED: "-", RESTORED: "^", DISPUTED: "!"}
_MOST = 200  # Characters of a text in a comment


@click.command("diff")
@click.argument("base", default="HEAD")
@click.argument("head", default="")
@click.option(
    "--format",
    "form",
    type=click.Choice(["text", "markdown", "json"]),
    default="text",
    show_default=True,
    help="For people, for the comment of a pull request, or for programs.",
)
@click.option("--json", "as_json", is_flag=True, help="The same as --format json.")
@call_with(root_option, as_option)
def diff_command(call: Call, base: str, head: str, form: str) -> None:
    """Show what changed in memory between two commits. Entries and notes are compared, not lines.

    Without HEAD, amp compares BASE with the files. Without BASE, it compares the last commit. Contradictions, secrets,
    limits and edits of other agents' files come first.

    \b
    Examples:
        amp diff
        amp diff origin/main HEAD --format markdown
    """
    found = call.workspace().diff(base, head, actor=call.actor())
    if call.as_json or form == "json":
        print_json(found.to_json())
        return
    for line in _markdown(found) if form == "markdown" else _text(found):
        say(line)


def _text(found: Diff) -> Iterator[str]:
    yield from (f"! {plain(one.place)}: {plain(one.message)}  [{one.rule}]" for one in found.findings)
    target = None
    for one in found.differences:
        if one.target != target:
            target = one.target
            yield f"{target}  {plain(target.path)}"
        told = plain(_told(one))
        if one.kind == EDITED:
            yield f"  ~ {first_words(one.before, behind=4)}"
            yield f"  → {first_words(one.text, behind=4)}{told}"
        else:
            yield f"  {_SIGNS[one.kind]} {first_words(one.text, behind=4)}{told}"
    yield summary(found)


def _told(one: Difference) -> str:
    """Return what is known of a change beside its text."""
    parts = [
        one.kind if one.kind in (RESTORED, DISPUTED) else "",
        f"by {one.writer}" if one.writer else "",
        one.reason,
        f"now {one.by}" if one.by and one.kind == RETIRED else f"with {one.by}" if one.by else "",
    ]
    told = "; ".join(filter(None, parts))
    return f"  ({told})" if told else ""


def _markdown(found: Diff) -> Iterator[str]:
    yield f"### Memory: {summary(found)}"
    if found.findings:
        yield ""
        yield from (f"- ⚠ {_code(one.place)}: {_code(one.message)}" for one in found.findings)
    target = None
    for one in found.differences:
        if one.target != target:
            target = one.target
            yield from ("", f"**{_code(str(target))}**", "")
        changed = f"{_code(one.before)} → {_code(one.text)}" if one.kind == EDITED else _code(one.text)
        told = _told(one)
        yield f"- {one.kind}: {changed}{f' {_code(told.strip())}' if told else ''}"


def _code(text: str) -> str:
    """Return a text as a code span on one line: nothing in it is a link, a mention or HTML to a code host."""
    line = beginning(plain(" ".join(text.split())), _MOST)
    fence = "`"
    while fence in line:
        fence += "`"
    blank = " " if line.startswith("`") or line.endswith("`") else ""
    return f"{fence}{blank}{line}{blank}{fence}"

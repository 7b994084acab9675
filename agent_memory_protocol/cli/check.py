"""`amp check`: what is wrong with the memory, for people, CI and code hosts."""

import os
import sys
from collections.abc import Iterator, Sequence
from datetime import date
from typing import TYPE_CHECKING
from urllib.parse import quote

import click

from .. import __version__
from ..errors import InvalidArgument
from ..git.ask import answer
from ..layout import SCAFFOLDING
from ..lint.finding import ERROR, NOTE, RULES, WARNING, Finding, in_order, unknown
from ..text.phrases import counted
from .options import (
    Call,
    as_option,
    call_with,
    colour,
    note,
    plain,
    print_json,
    problems_in_settings,
    progress,
    root_option,
    say,
    today_option,
)

if TYPE_CHECKING:
    from ..workspace import Workspace

_SARIF = "https://json.schemastore.org/sarif-2.1.0.json"


@click.command("check")
@click.argument("paths", nargs=-1, metavar="[PATH]...")
@click.option("--fix", is_flag=True, help="Mend what can be mended without losing anything.")
@click.option(
    "--select", "only", multiple=True, metavar="RULE", help="Only this rule or group, such as date; repeatable."
)
@click.option("--ignore", "ignored", multiple=True, metavar="RULE", help="Not this rule or group; repeatable.")
@click.option(
    "--format",
    "form",
    type=click.Choice(["text", "json", "github", "sarif"]),
    default="text",
    help="How to answer: for people, programs, or the annotations of a code host.",
)
@click.option("--json", "as_json", is_flag=True, help="The same as --format json.")
@click.option(
    "--fail-on",
    type=click.Choice([WARNING, ERROR]),
    default=WARNING,
    show_default=True,
    help="The least that exit code 1 is for. Some warnings come with time alone.",
)
@today_option
@click.option("--rules", "list_rules", is_flag=True, help="List the rules instead.")
@call_with(root_option, as_option)
def check_command(
    call: Call,
    paths: tuple[str, ...],
    fix: bool,
    only: tuple[str, ...],
    ignored: tuple[str, ...],
    form: str,
    fail_on: str,
    today: date | None,
    list_rules: bool,
) -> None:
    """Check memory files, notes, indexes, ledgers and the settings. Exit code 1 when something was found.

    \b
    Examples:
        amp check
        amp check --fix --select date
        amp check --format github --fail-on error
    """
    if list_rules:
        for rule in in_order():
            say(f"{rule.id:<26}  {rule.severity:<8} {'on ' if rule.on else 'off'}  {rule.about}")
        return
    strange = unknown([*only, *ignored])
    if strange:
        raise InvalidArgument(f"there is no rule {', '.join(map(ascii, strange))}; `amp check --rules` lists them")
    here = call.workspace(tells_settings=True)
    who = call.actor()
    looked_at = 0
    shown = progress("checking")

    def count(done: int, total: int) -> None:
        nonlocal looked_at
        looked_at = total
        if shown is not None:
            shown(done, total)

    found = here.check(paths, actor=who, select=only, ignore=ignored, today=today, progress=count)
    if fix:
        mended = here.fix(found, actor=who)
        note(f"{len(mended)} of {len(found)} findings mended")
        found = here.check(paths, actor=who, select=only, ignore=ignored, today=today, progress=count)
    if not looked_at and not found:
        for line in _nothing_there(here, paths):
            note(line)
    told = {one.message for one in found}
    for problem in problems_in_settings(here):
        if problem.partition(": ")[2] not in told:
            note(problem)
    form = "json" if call.as_json else form
    if form == "json":
        print_json({"findings": [one.to_json() for one in found]})
    elif form == "sarif":
        print_json(_sarif(found, _folder_in_git(here)), version=None)
    else:
        folder = _folder_in_git(here) if form == "github" and found else ""
        for one in found:
            say(_github(one, folder) if form == "github" else _line(one))
        if form == "text":
            _sum_up(found)
    sys.exit(1 if any(one.severity in (ERROR, fail_on) for one in found) else 0)


def _nothing_there(here: "Workspace", paths: Sequence[str]) -> Iterator[str]:
    """Say that there was no memory to look at, which is not the same as one that is in order."""
    if not paths:
        yield f"no memory yet in {here.path}; `amp init` lays it out"
    for path in paths:
        if os.path.isdir(os.path.join(path, SCAFFOLDING)):
            yield f"{path} has a memory of its own, which was not checked: `amp check --root {path}` does"
        elif SCAFFOLDING not in os.path.abspath(path).split(os.sep):
            yield f"nothing of the memory in {here.path} lies below {path}"


def _folder_in_git(here: "Workspace") -> str:
    """Return the folder of the project in its repository, with a slash: code hosts know files by that path."""
    return os.fsdecode(answer(str(here.path), "rev-parse", "--show-prefix")).rstrip("\r\n")


def _line(one: Finding) -> str:
    place = one.path if one.line is None else f"{one.path}:{one.line}"
    severity = colour(one.severity, {ERROR: "red", WARNING: "yellow"}.get(one.severity))
    return f"{place}: {severity}: {one.message}  [{one.rule}]"


def _sum_up(found: Sequence[Finding]) -> None:
    errors, hints = (sum(one.severity == severity for one in found) for severity in (ERROR, NOTE))
    fixable = sum(one.fix is not None for one in found)
    if not found:
        say("nothing is wrong")
        return
    more = f", {counted(hints, 'hint')}" if hints else ""
    mend = f"; `amp check --fix` mends {fixable}" if fixable else ""
    note(f"{counted(errors, 'error')}, {counted(len(found) - errors - hints, 'warning')}{more}{mend}")


def _github(one: Finding, folder: str) -> str:
    line = "" if one.line is None else f",line={one.line}"
    # Escapes first: what is left of control characters is text, and needs no code of its own.
    message = plain(one.message).replace("%", "%25")
    path = plain(f"{folder}{one.path}").replace("%", "%25").replace(",", "%2C").replace(":", "%3A")
    level = "notice" if one.severity == NOTE else one.severity
    return f"::{level} file={path}{line},title={one.rule}::{message}"


def _sarif(found: Sequence[Finding], folder: str) -> dict[str, object]:
    used = sorted({one.rule for one in found})
    rules = [
        {
            "id": rule_id,
            "shortDescription": {"text": RULES[rule_id].about.partition(". ")[0].removesuffix(".") + "."},
            "help": {"text": RULES[rule_id].about},
            "defaultConfiguration": {"level": RULES[rule_id].severity},
        }
        for rule_id in used
    ]
    results = [
        {
            "ruleId": one.rule,
            "ruleIndex": used.index(one.rule),
            "level": one.severity,
            "message": {"text": one.message},
            "locations": [
                {
                    "physicalLocation": {
                        "artifactLocation": {"uri": quote(f"{folder}{one.path}")},
                        **({} if one.line is None else {"region": {"startLine": one.line}}),
                    }
                }
            ],
        }
        for one in found
    ]
    driver = {"name": "amp", "version": __version__, "rules": rules}
    return {"$schema": _SARIF, "version": "2.1.0", "runs": [{"tool": {"driver": driver}, "results": results}]}

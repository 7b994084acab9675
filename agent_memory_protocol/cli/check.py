"""`amp check`: what is wrong with the memory, for people, CI and code hosts."""

import os
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import field, replace
from datetime import date
from typing import TYPE_CHECKING

import click

from ..disk.errors import explain, shown
from ..errors import InvalidArgument
from ..git.ask import answer
from ..layout import SCAFFOLDING
from ..learning.scattered import projects_below
from ..lint.finding import ERROR, NOTE, WARNING, Finding, in_order, unknown
from ..project.access import Actor
from ..text.phrases import counted
from ..values import dataclass
from . import reports
from .options import Call, as_option, call_with, nothing_yet, problems_in_settings, root_option, today_option
from .printing import note, own_words, print_json, progress, say, say_text

if TYPE_CHECKING:
    from ..workspace import Workspace

_TWICE = "store-twice"  # The rule that finds other projects: where each of them is checked, it has nothing to say


@click.command("check")
@click.argument("paths", nargs=-1, metavar="[PATH]...")
@click.option("--fix", is_flag=True, help="Fix what can be fixed without losing anything.")
@click.option(
    "--select", "only", multiple=True, metavar="RULE", help="Check only this rule or group, such as date; repeatable."
)
@click.option("--ignore", "ignored", multiple=True, metavar="RULE", help="Skip this rule or group; repeatable.")
@click.option(
    "--format",
    "form",
    type=click.Choice(["text", "json", "github", "gitlab", "junit", "sarif"]),
    default="text",
    help="Output for people, for programs, or for the reports of a code host.",
)
@click.option("--json", "as_json", is_flag=True, help="The same as --format json.")
@click.option(
    "--fail-on",
    type=click.Choice([WARNING, ERROR]),
    default=WARNING,
    show_default=True,
    help="Lowest severity that makes amp exit 1.",
)
@click.option(
    "--missing",
    type=click.Choice(["ok", "warn", "fail"]),
    default="warn",
    show_default=True,
    help="If there is no memory: say nothing, say so, or say so and exit 1.",
)
@click.option("-r", "--recursive", is_flag=True, help="Check this project and each one in a folder below.")
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
    missing: str,
    recursive: bool,
    today: date | None,
    list_rules: bool,
) -> None:
    """Check memory files, notes, indexes, ledgers and the settings. Exit code 1: there are findings.

    With --recursive, amp looks for projects in the folder PATH.

    \b
    Examples:
        amp check
        amp check --fix --select date
        amp check --format github --fail-on error
        amp check --recursive --missing fail
    """
    if list_rules:
        for rule in in_order():
            say(f"{rule.id:<26}  {rule.severity:<8} {'on ' if rule.on else 'off'}  {rule.about}")
        return
    strange = unknown([*only, *ignored])
    if strange:
        raise InvalidArgument(f"there is no rule {', '.join(map(ascii, strange))}; `amp check --rules` lists them")
    here = call.workspace(tells_settings=True)
    run = _Run(call.actor(), only, ignored, today, fixes=fix, recursive=recursive)
    if recursive:
        for path, place in _projects(here, paths):
            run.check(Call(path).workspace(tells_settings=True) if place else here, (), place)
    else:
        run.check(here, paths)
    missed = [] if missing == "ok" else run.missed
    for line in missed:
        # Where it is the reason for exit code 1, --quiet does not keep it back.
        say(f"amp: {own_words(line)}", err=True) if missing == "fail" else note(line)

    def fails(one: Finding) -> bool:
        return one.severity in (ERROR, fail_on)

    _print(run.found, "json" if call.as_json else form, here, fails, sums_up=bool(run.found) or not missed)
    sys.exit(1 if any(map(fails, run.found)) or (missed and missing == "fail") else 0)


@dataclass(slots=True)
class _Run:
    """One call of `amp check`: what it looks for, what it has found in each project, and where no memory was."""

    who: Actor
    only: Sequence[str]
    ignored: Sequence[str]
    today: date | None
    fixes: bool
    recursive: bool
    found: list[Finding] = field(default_factory=list)
    missed: list[str] = field(default_factory=list)

    def check(self, here: "Workspace", paths: Sequence[str], place: str = "") -> None:
        """Check one project. Findings name files with `place`, its folder, in front."""
        found, looked_at = self._look(here, paths)
        if self.fixes:
            mended = here.fix(found, actor=self.who)
            note(f"{place and f'{place}: '}{len(mended)} of {len(found)} findings fixed")
            found, looked_at = self._look(here, paths)
        if not looked_at and not found:
            self.missed += _nothing_there(here, paths)
        told = {one.message for one in found}
        for problem in problems_in_settings(here):
            if problem.partition(": ")[2] not in told:
                note(f"{place}{problem}")
        self.found += [replace(one, path=place + one.path, message=own_words(one.message)) for one in found]

    def _look(self, here: "Workspace", paths: Sequence[str]) -> tuple[list[Finding], int]:
        """Return the findings in a project, and how many documents were looked at."""
        looked_at = 0
        shown = progress("checking")

        def count(done: int, total: int) -> None:
            nonlocal looked_at
            looked_at = total
            if shown is not None:
                shown(done, total)

        found = here.check(
            paths, actor=self.who, select=self.only, ignore=self.ignored, today=self.today, progress=count
        )
        if self.recursive or not looked_at:
            found = [one for one in found if one.rule != _TWICE]
        return found, looked_at


def _projects(here: "Workspace", paths: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Yield each project in these folders, else in this project's: its path, and that as findings begin with it."""
    own = os.path.realpath(here.path)
    projects: dict[str, None] = {}
    for folder in paths or [str(here.path)]:
        if not os.path.isdir(folder):
            raise InvalidArgument(f"{folder!a} is not a folder; with --recursive, name folders to look for projects in")
        projects |= dict.fromkeys(projects_below(os.path.realpath(folder), _unread))
    for path in projects or {own: None}:
        yield path, "" if path == own else f"{os.path.relpath(path, own).replace(os.sep, '/')}/"


def _unread(error: OSError) -> None:
    note(f"{shown(os.fspath(error.filename))} cannot be searched for projects: {explain(error)}")


def _nothing_there(here: "Workspace", paths: Sequence[str]) -> Iterator[str]:
    """Say that there was no memory to look at, which is not the same as one that is in order."""
    if not paths:
        below = next(projects_below(str(here.path)), None)
        yield nothing_yet(here, "`amp check --recursive` checks the projects below" if below else "")
    for path in paths:
        if os.path.isdir(os.path.join(path, SCAFFOLDING)):
            yield f"{path} has a memory of its own, which was not checked: `amp check --root {path}` does"
        elif SCAFFOLDING not in os.path.abspath(path).split(os.sep):
            yield f"nothing of the memory in {here.path} lies below {path}"


def _print(
    found: Sequence[Finding], form: str, here: "Workspace", fails: Callable[[Finding], bool], *, sums_up: bool
) -> None:
    """Print findings in a form; `sums_up` says whether people get a last line."""
    folder = "" if form in ("text", "json") else _folder_in_git(here)
    if form == "json":
        print_json({"findings": [one.to_json() for one in found]})
    elif form == "sarif":
        print_json(reports.sarif(found, folder), version=None)
    elif form == "gitlab":
        print_json(reports.gitlab(found, folder), version=None)
    elif form == "junit":
        say_text(reports.junit(found, folder, fails))
    elif form == "github":
        for one in found:
            say(reports.github(one, folder))
    else:
        for one in found:
            say(reports.as_line(one))
        if sums_up:
            _sum_up(found)


def _folder_in_git(here: "Workspace") -> str:
    """Return the folder of the project in its repository, with a slash: code hosts know files by that path."""
    return os.fsdecode(answer(str(here.path), "rev-parse", "--show-prefix")).rstrip("\r\n")


def _sum_up(found: Sequence[Finding]) -> None:
    errors, notes = (sum(one.severity == severity for one in found) for severity in (ERROR, NOTE))
    fixable = sum(one.fix is not None for one in found)
    if not found:
        say("nothing is wrong")
        return
    more = f", {counted(notes, 'note')}" if notes else ""
    mend = f"; `amp check --fix` fixes {fixable}" if fixable else ""
    note(f"{counted(errors, 'error')}, {counted(len(found) - errors - notes, 'warning')}{more}{mend}")

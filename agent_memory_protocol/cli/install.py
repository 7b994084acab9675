"""`amp install` and `amp uninstall`: a host's files, with our part in them and without."""

import os
import shutil
import sysconfig
from collections.abc import Iterator, Sequence

import click

from ..errors import InvalidArgument
from ..hosts import checkup, install, receipt, table
from ..project.settings import home_folder
from ..secrets.mask import masked
from .options import Call, call_options
from .printing import note, plain

_GIT = "git"
_target = click.argument("target", type=click.Choice([*install.TARGETS, _GIT]))
_user = click.option("--user", is_flag=True, help="For you in all projects, not for everyone in this one.")
_dry_run = click.option("--dry-run", is_flag=True, help="Only show what would change.")
_WHOLE = ("SKILL.md", "installed.json")  # Files that are ours as a whole: their diff tells a person nothing
_DID = {"create": "created", "change": "changed", "remove": "removed"}


@click.command("install")
@_target
@_user
@_dry_run
@call_options
def install_command(call: Call, target: str, user: bool, dry_run: bool) -> None:
    """Set up a coding agent's host to use this memory.

    claude, codex, gemini, qwen, copilot, cursor: adds hooks to the host's settings and keeps your own settings. It also
    adds the skill that teaches agents the protocol. opencode: adds a plugin instead of hooks. agents-md: adds a short
    block to AGENTS.md, for hosts that read only that file. git: adds the driver that merges memory files entry by
    entry. `--dry-run` shows each change as a diff; `amp uninstall` removes it.

    \b
    Examples:
        amp install claude --dry-run
        amp install codex --user
        amp install git --dry-run
    """
    install.check_may_install(call.actor())
    if target == _GIT:
        _git(call, user, dry_run, installs=True)
        return
    place = _place(call, user)
    installed = os.path.join(sysconfig.get_path("scripts"), "amp-hook")
    program = install.program_for(target, place, shutil.which("amp-hook"), installed)
    plan = install.plan_install(place, target, program)
    install.check_runs(place, target, program, os.environ)
    if installed in program and place.is_project and plan.changes:
        plan.notes.append("the shell does not find amp-hook, so the settings name its path on this machine")
    if target in table.HOSTS:
        started = checkup.Started(place.base, place.base, home_folder(os.environ), os.environ, (), {})
        if off := checkup.switched_off(table.HOSTS[target], started):
            plan.notes.append(f"its hooks are off, so agents get no memory: {off}; remove that")
    _do(call, plan, dry_run, _about(place))


@click.command("uninstall")
@_target
@_user
@_dry_run
@call_options
def uninstall_command(call: Call, target: str, user: bool, dry_run: bool) -> None:
    """Remove what `amp install` added.

    Later additions by others stay. Files and folders that `amp install` created are removed if nothing else is in them.
    Memory itself does not change.

    \b
    Example:
        amp uninstall claude
    """
    install.check_may_install(call.actor())
    if target == _GIT:
        _git(call, user, dry_run, installs=False)
        return
    place = _place(call, user)
    _do(call, install.plan_uninstall(place, target), dry_run, _about(place))


def _place(call: Call, user: bool) -> receipt.InstallPlace:
    if user:
        return receipt.for_person(os.environ)
    here = call.workspace()
    return receipt.in_project(str(here.path), external_links=here.settings.external_links)


def _git(call: Call, user: bool, dry_run: bool, *, installs: bool) -> None:
    from ..hosts import git_driver

    if user:
        raise InvalidArgument("git's merge driver works in one checkout; leave out --user")
    plan = git_driver.plan(call.workspace(), installs=installs)
    if installs and shutil.which(git_driver.COMMAND) is None:
        plan.notes.append(
            f"the shell does not find {git_driver.COMMAND}; until it does, git merges memory line by line"
        )
    _do(call, plan, dry_run)


def _do(call: Call, plan: install.InstallPlan, dry_run: bool, about: str = "") -> None:
    """Carry out a plan, and print what was done, or would be; `about` is what a person should know of the place."""
    if not dry_run:
        plan.carry_out()
    files = [{"path": change.name, "what": change.what, "diff": change.diff} for change in plan.changes]
    notes = [about, *plan.notes] if about and plan.changes and not dry_run else plan.notes
    call.answer({"applied": not dry_run, "files": files, "notes": plan.notes}, _lines(plan.changes, notes, dry_run))


def _about(place: receipt.InstallPlace) -> str:
    return "" if place.is_project else f"this applies to all your projects; the files are below {place.base}"


def _lines(changes: Sequence[install.FileChange], notes: Sequence[str], dry_run: bool) -> Iterator[str]:
    for change in changes:
        # What amp writes or removes as a whole is a file of its own: only a plan shows what is in it.
        if not change.name.endswith(_WHOLE) and (dry_run or change.what == "change"):
            yield from map(plain, masked(change.diff).splitlines())
    for change in changes:
        yield f"{'would ' + change.what if dry_run else _DID[change.what]}: {change.name}"
    if not changes:
        yield "nothing to change"
    for line in notes:
        note(line)
    if dry_run and changes:
        note("nothing was changed; leave out --dry-run to do this")

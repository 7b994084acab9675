"""`amp install` and `amp uninstall`: a host's files, with our part in them and without."""

import os
import shutil
import sysconfig

import click

from agent_memory_protocol.disk_errors import shown
from agent_memory_protocol.errors import InvalidArgument
from agent_memory_protocol.integrations import installing, receipt

from .options import actor, as_option, json_option, note, plain, print_json, root_option, workspace

_GIT = "git"
_target = click.argument("target", type=click.Choice([*installing.TARGETS, _GIT]))
_user = click.option("--user", is_flag=True, help="For you in every project, in place of this project for everyone.")
_dry_run = click.option("--dry-run", is_flag=True, help="Only show what would change.")
_DID = {"create": "created", "change": "changed", "remove": "removed"}


@click.command("install")
@_target
@_user
@_dry_run
@json_option
@root_option
@as_option
def install_command(
    target: str, user: bool, dry_run: bool, as_json: bool, root: str | None, as_agent: str | None
) -> None:
    """Make a host of agents use this memory.

    claude, codex, gemini: adds hooks to the host's settings, beside what stands there, and the skill that teaches
    agents the protocol. agents-md: a short block in AGENTS.md, for hosts that read only that. git: the driver that
    merges memory files entry by entry. The change is shown as a diff; `amp uninstall` takes it out again.

    \b
    Examples:
        amp install claude --dry-run
        amp install codex --user
    """
    installing.check_may_install(actor(as_agent))
    if target == _GIT:
        _git(root, user, dry_run, as_json, installs=True)
        return
    place = _place(root, user)
    installed = os.path.join(sysconfig.get_path("scripts"), "amp-hook")
    program = installing.program_for(target, place, shutil.which("amp-hook"), installed)
    plan = installing.plan_install(place, target, program)
    if installed in program and place.is_project and plan.changes:
        plan.notes.append("no shell finds amp-hook here, so the settings name its path on this machine")
    _do(plan, place, dry_run, as_json)


@click.command("uninstall")
@_target
@_user
@_dry_run
@json_option
@root_option
@as_option
def uninstall_command(
    target: str, user: bool, dry_run: bool, as_json: bool, root: str | None, as_agent: str | None
) -> None:
    """Take out what `amp install` put in.

    Exactly that: what others have added since stays. Files and folders that installing had made go where nothing else
    is in them. Memory itself is not touched.

    \b
    Example:
        amp uninstall claude
    """
    installing.check_may_install(actor(as_agent))
    if target == _GIT:
        _git(root, user, dry_run, as_json, installs=False)
        return
    place = _place(root, user)
    _do(installing.plan_uninstall(place, target), place, dry_run, as_json)


def _place(root: str | None, user: bool) -> receipt.Place:
    return receipt.for_person(os.environ) if user else receipt.in_project(str(workspace(root).path))


def _do(plan: installing.Plan, place: receipt.Place, dry_run: bool, as_json: bool) -> None:
    names = [shown(*change.parts) if change.base == place.base else shown(change.path) for change in plan.changes]
    if not dry_run:
        installing.carry_out(plan)
    if as_json:
        files = [
            {"path": name, "what": change.what, "diff": change.diff(name)}
            for name, change in zip(names, plan.changes, strict=True)
        ]
        print_json({"applied": not dry_run, "files": files, "notes": plan.notes})
        return
    for name, change in zip(names, plan.changes, strict=True):
        if not change.parts[-1].endswith(("SKILL.md", "installed.json")):
            for line in change.diff(name).splitlines():
                click.echo(plain(line))
    for name, change in zip(names, plan.changes, strict=True):
        click.echo(f"{'would ' + change.what if dry_run else _DID[change.what]}: {name}")
    if not plan.changes:
        click.echo("nothing to change")
    elif not dry_run and not place.is_project:
        note(f"this holds for every project of yours; the files lie below {place.base}")
    for line in plan.notes:
        note(line)
    if dry_run and plan.changes:
        note("nothing was changed; leave out --dry-run to do this")


def _git(root: str | None, user: bool, dry_run: bool, as_json: bool, *, installs: bool) -> None:
    from agent_memory_protocol.integrations import merge_driver

    if user or dry_run:
        raise InvalidArgument("git's merge driver is for one checkout, and soon taken out: no --user and no --dry-run")
    here = workspace(root)
    changed = merge_driver.install(here) if installs else merge_driver.uninstall(here)
    if as_json:
        print_json({"applied": True, "files": [], "notes": changed})
        return
    for line in changed or ["nothing to change"]:
        click.echo(f"changed: {line}" if changed else line)

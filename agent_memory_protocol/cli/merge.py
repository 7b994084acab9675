"""`amp merge`: three versions of a memory file become one."""

import sys

import click

from ..project.outside import check_outside
from .options import Call, as_option, call_with, root_option
from .printing import note, say_data


@click.command("merge")
@click.argument("base", type=click.Path())
@click.argument("ours", type=click.Path())
@click.argument("theirs", type=click.Path())
@click.option("--path", metavar="FILE", help="The path of the file in the repository. Default: OURS.")
@click.option("--write", is_flag=True, help="Write the result into OURS, as git's merge driver does.")
@call_with(root_option, as_option)
def merge_command(call: Call, base: str, ours: str, theirs: str, path: str | None, write: bool) -> None:
    """Merge two versions of a memory file, entry by entry.

    BASE is the version that both come from. The result has the additions and the removals of both sides. Edits in
    different rows of one table, or items of one list, make one entry. Any other entry that both edited appears twice.
    If that is not certain, the result is git's own merge with its markers, and the exit code is 1. amp prints the
    result; only --write changes a file.

    \b
    Example:
        amp merge base.md ours.md theirs.md > merged.md
    """
    from ..hosts import git_driver

    who = call.actor()
    for file in (base, ours, theirs):
        check_outside(who, file)
    here = call.workspace()
    settings = here.settings
    merged = git_driver.merge_paths(
        base, ours, theirs, path=path or ours, max_lines=settings.max_lines, max_bytes=settings.max_bytes
    )
    standing = b"".join(map(git_driver.read, (base, ours))).decode("utf-8", "replace")
    if why := here.why_refused(merged.data.decode("utf-8", "replace"), standing):
        note(f"{path or ours}: what the other side adds {why}; nothing was merged: take it out there, or merge by hand")
        sys.exit(1)
    if write:
        git_driver.write(ours, merged.data, who)
    else:
        say_data(merged.data)
    for line in merged.notes:
        note(f"{path or ours}: {line}")
    if merged.has_conflicts:
        sys.exit(1)

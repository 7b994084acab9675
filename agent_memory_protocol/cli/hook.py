"""`amp hook`: the same as the program `amp-hook`, which starts in a third of the time."""

import click

from ..hosts import hook


@click.command("hook", context_settings={"ignore_unknown_options": True, "allow_extra_args": True})
@click.argument("event", default="")
@click.option(
    "--host", default="claude", metavar="HOST", help="The host that calls, as `amp install` names it. Default: claude."
)
def hook_command(event: str, host: str) -> None:
    """Answer an event of an agent's host.

    EVENT is session-start, prompt, subagent-start, pre-tool-use, stop or subagent-stop. The host sends JSON on stdin
    and gets JSON on stdout. It always ends with 0. The program `amp-hook` does the same and starts faster.

    \b
    Example:
        amp hook session-start --host claude < event.json
    """
    click.echo(hook.run([event, "--host", host]))

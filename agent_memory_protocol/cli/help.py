"""`amp help`, `amp version` and `amp completion`: what there is, and how a shell completes it."""

import click

from .. import PROTOCOL, __version__
from ..errors import InvalidArgument
from .main import COMPLETES, SHOWS_ALL
from .printing import say, say_text

_SHELLS = ("bash", "zsh", "fish")


@click.command("help")
@click.argument("verb", nargs=-1, metavar="[VERB]...")
@click.option("--all", "whole", is_flag=True, help="List every command.")
@click.pass_context
def help_command(ctx: click.Context, verb: tuple[str, ...], whole: bool) -> None:
    """Show this list, or what one command does.

    \b
    Examples:
        amp help --all
        amp help remember
        amp help note new
    """
    program = ctx.find_root()
    command, context = program.command, program
    context.meta[SHOWS_ALL] = whole
    for word in verb:
        found = command.get_command(context, word) if isinstance(command, click.Group) else None
        if found is None:
            raise click.UsageError(f"No such command {word!a}.", context)
        command, context = found, click.Context(found, context, word)
    say_text(command.get_help(context))


@click.command("version")
def version_command() -> None:
    """Print the version.

    \b
    Example:
        amp version
    """
    say(f"{__version__}, protocol {PROTOCOL}")


@click.command("completion")
@click.argument("shell", type=click.Choice(_SHELLS))
@click.pass_context
def completion_command(ctx: click.Context, shell: str) -> None:
    """Print the script that completes commands in a shell.

    It also completes agents, conversations, ids with their first words, sections, rules and targets.

    \b
    Examples:
        eval "$(amp completion bash)"
        amp completion fish | source
    """
    from click.shell_completion import get_completion_class

    found = get_completion_class(shell)
    if found is None:
        raise InvalidArgument(f"no completion for {shell}")
    say_text(found(ctx.find_root().command, {}, "amp", COMPLETES).source())

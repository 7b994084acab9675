"""The `amp` program: its verbs, each loaded only when it is called, and how it ends."""

import sys
from importlib import import_module

import click

from agent_memory_protocol import PROTOCOL, __version__
from agent_memory_protocol.errors import AgentMemoryError

_VERBS = {
    "init": "write",
    "recall": "recall",
    "remember": "write",
    "show": "read",
    "list": "read",
    "status": "status",
    "where": "status",
    "doctor": "doctor",
}
"""Each verb and the module of this package that has it. The order is that of `amp --help`."""


class Verbs(click.Group):
    """The group of verbs. Importing one module a call keeps `amp recall` as quick as a task start needs."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Name the verbs in the order a newcomer meets them."""
        return list(_VERBS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Load a verb."""
        if cmd_name not in _VERBS:
            return None
        module = import_module(f"agent_memory_protocol.cli.{_VERBS[cmd_name]}")
        command: click.Command = getattr(module, f"{cmd_name}_command")
        return command


@click.group(
    cls=Verbs,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    epilog="Exit codes: 0 done, 1 check found problems, 2 usage, 3 refused by a rule, 4 damaged or unreadable.",
)
@click.version_option(__version__, message=f"%(version)s, protocol {PROTOCOL}")
def amp() -> None:
    """Keep the memory of a repository's agents: readable, bounded, safe."""


def main() -> None:
    """Run `amp` and end with the exit code of decision 36."""
    for stream in (sys.stdout, sys.stderr):
        # A code page that lacks a character must not end the program; the escape can still be read.
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")
    try:
        amp.main(prog_name="amp", standalone_mode=False)
        sys.stdout.flush()
    except click.exceptions.Exit as error:
        sys.exit(error.exit_code)
    except click.ClickException as error:
        error.show()
        sys.exit(error.exit_code)
    except click.Abort:
        click.echo("amp: stopped", err=True)
        sys.exit(130)
    except AgentMemoryError as error:
        click.echo(f"amp: {' '.join(str(error).split())}", err=True)
        sys.exit(error.exit_code)
    except BrokenPipeError:
        # The reader has seen enough (`amp recall | head -1`). Closing now keeps Python from complaining at its end.
        sys.stderr.close()
        sys.exit(0)

"""`amp mcp`, also `amp-mcp`: the MCP server, and the settings by which a host starts it."""

import os
import sys
import sysconfig
from pathlib import Path

import click

from ..hosts.mcp_settings import FORMS, PLAIN
from ..postgresql.address import Address, is_address
from ..project.access import Actor
from ..project.agents import SERVERS
from .options import Call, root_option
from .printing import note, print_json, say_text
from .record_options import shown_store


@click.command("mcp")
@root_option
@click.option("--agent", metavar="NAME", help="The agent that calls. Default: AMP_AGENT.")
@click.option("--person", is_flag=True, help="You call, not an agent; you may read and write everything.")
@click.option("--conversation", metavar="ID", help="The conversation of the agent. Default: AMP_CONVERSATION.")
@click.option("--records", is_flag=True, help="Also offer the tools for records.")
@click.option("--path", metavar="DIR", help="The directory of records, or postgresql://…; implies --records.")
@click.option("--config", is_flag=True, help="Print the host settings that start it with these options.")
@click.option(
    "--host",
    type=click.Choice([*FORMS]),
    metavar="HOST",
    help=f"The host for --config: {', '.join(FORMS)}. Default: the settings that most hosts read.",
)
def mcp_command(
    root: str | None,
    agent: str | None,
    person: bool,
    conversation: str | None,
    records: bool,
    path: str | None,
    config: bool,
    host: str | None,
) -> None:
    """Serve memory to an MCP host over stdin and stdout.

    Project, agent and conversation do not change while it runs. Without --agent, --person or --path the caller is
    an agent without a name: it reads shared memory and writes nothing. Needs the extra `mcp`.

    \b
    Examples:
        amp mcp --agent developer --config
        amp mcp --config --host codex
    """
    if agent is not None and person:
        raise click.UsageError("--agent and --person contradict each other; give one of them")
    named = None if person else (os.environ.get("AMP_AGENT") or None) if agent is None else agent
    if host is not None and not config:
        raise click.UsageError("--host says whose settings are printed; give --config, too")
    actor = Actor(
        named,
        (os.environ.get("AMP_CONVERSATION") or None) if conversation is None else conversation,
        unnamed=not (person or path),
    )
    here = Call(root).workspace()
    if not here.path.exists():
        here.check_begun()
    here.begins = True
    if config:
        arguments = ["--root", str(here.path)]
        for name, value in (("--agent", actor.agent), ("--conversation", actor.conversation)):
            arguments += [name, value] if value else []
        arguments += ["--person"] if person else []
        arguments += ["--records"] if records and not path else []
        arguments += ["--path", shown_store(path) if is_address(path) else os.path.abspath(path)] if path else []
        if path and is_address(path) and Address.parse(path).has_password:
            note("the password is left out; put it into ~/.pgpass of the user that runs the host")
        settings = FORMS.get(host or "", PLAIN).write(_script(), arguments)
        if isinstance(settings, str):
            say_text(settings)
        else:
            print_json(settings, version=None)
        if host:
            note(f"add this to {SERVERS[host]}")
        return
    from ..layout import MEMORY
    from ..mcp.server import serve
    from ..mcp.tool import Door
    from ..memory import Memory

    directory = os.path.join(here.path, *MEMORY) if path is None else path
    with Memory(directory, actor=actor) as memory:
        serve(Door(here, actor, memory, keeps_records=records or path is not None))


def _script() -> str:
    """Return the program to start: the script that is installed with this Python, whatever the host's PATH is."""
    script = Path(sysconfig.get_path("scripts"), "amp-mcp.exe" if sys.platform == "win32" else "amp-mcp")
    return str(script) if script.exists() else "amp-mcp"

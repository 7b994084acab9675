"""`amp mcp`, also `amp-mcp`: the MCP server, and the settings by which a host starts it."""

import json
import os
import sys
import sysconfig
from pathlib import Path

import click

from ..project.access import Actor
from .options import Call, root_option, typed


@click.command("mcp")
@root_option
@click.option("--agent", metavar="NAME", help="Whose memory it is; by default AMP_AGENT, else a person's.")
@click.option("--conversation", metavar="ID", help="The conversation it is in; by default AMP_CONVERSATION.")
@click.option("--path", metavar="DIR", help="The memory directory of the records; by default the project's.")
@click.option("--config", is_flag=True, help="Print the mcpServers JSON that starts it with these options.")
def mcp_command(root: str | None, agent: str | None, conversation: str | None, path: str | None, config: bool) -> None:
    """Serve memory to an MCP host over stdin and stdout.

    Project, agent and conversation are fixed for as long as it runs. Needs the extra `mcp`.

    \b
    Example:
        amp mcp --agent developer --config
    """
    actor = Actor(
        (os.environ.get("AMP_AGENT") or None) if agent is None else agent,
        (os.environ.get("AMP_CONVERSATION") or None) if conversation is None else conversation,
    )
    here = Call(root).workspace()
    if config:
        arguments = ["--root", str(here.path)]
        for name, value in (("--agent", actor.agent), ("--conversation", actor.conversation)):
            arguments += [name, value] if value else []
        arguments += ["--path", os.path.abspath(path)] if path else []
        server = {"command": _script(), "args": arguments}
        click.echo(typed(json.dumps({"mcpServers": {"agent-memory": server}}, indent=2)))
        return
    from ..layout import MEMORY
    from ..mcp.server import serve
    from ..mcp.tool import Door
    from ..memory import Memory

    directory = os.path.join(here.path, *MEMORY) if path is None else path
    with Memory(directory, actor=actor) as records:
        serve(Door(here, actor, records))


def _script() -> str:
    """Return the program to start: the script that is installed with this Python, whatever the host's PATH is."""
    script = Path(sysconfig.get_path("scripts"), "amp-mcp.exe" if sys.platform == "win32" else "amp-mcp")
    return str(script) if script.exists() else "amp-mcp"

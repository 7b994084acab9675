"""What several verbs share: the root, who acts, which document, and how answers are printed."""

import os
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

import click

from agent_memory_protocol.access import Actor

if TYPE_CHECKING:
    from agent_memory_protocol.layout import Target
    from agent_memory_protocol.workspace import Workspace

Function = TypeVar("Function", bound=Callable[..., Any])

root_option = click.option("--root", metavar="DIR", help="The project root; by default it is found from here.")
as_option = click.option("--as", "as_agent", metavar="AGENT", help="Who acts; by default AMP_AGENT, else a person.")
json_option = click.option("--json", "as_json", is_flag=True, help="Answer with one JSON object.")
tier_names = click.Choice(["shared", "agent", "conversation"])


def document_options(function: Function) -> Function:
    """Add `--agent` and `--conversation`, which say whose document is meant."""
    function = click.option("--conversation", metavar="ID", help="The conversation's document.")(function)
    return click.option("--agent", metavar="NAME", help="The agent's document.")(function)


def budget_options(function: Function) -> Function:
    """Add the bounds of a recalled block."""
    function = click.option("--max-tokens", type=int, metavar="N", help="Tokens of the block, at 4 bytes each.")(function)
    function = click.option("--max-chars", type=int, metavar="N", help="Characters of the whole block.")(function)
    return click.option("--max-lines", type=int, metavar="N", help="Lines of each document (200).")(function)


def actor(as_agent: str | None, conversation: str | None = None) -> Actor:
    """Return who acts: `--as`, else AMP_AGENT; in AMP_CONVERSATION, else in the conversation that is named."""
    return Actor(
        as_agent or os.environ.get("AMP_AGENT") or None, os.environ.get("AMP_CONVERSATION") or conversation or None
    )


def workspace(root: str | None) -> "Workspace":
    """Open the project."""
    from agent_memory_protocol.workspace import Workspace

    return Workspace.open(root)


def print_json(answer: dict[str, object]) -> None:
    """Print one JSON object that carries the version of its shape."""
    import json

    click.echo(json.dumps({"version": 1, **answer}, ensure_ascii=False, indent=2))


def note(message: str) -> None:
    """Say something beside the answer, on stderr."""
    click.echo(f"amp: {message}", err=True)


def target_json(target: "Target") -> dict[str, object]:
    """Return how a document is named in JSON."""
    names = {target.tier.owner: target.owner} if target.owner else {}
    return {"target": str(target), "tier": target.tier.value, **names, "path": target.path}


def plain(line: str) -> str:
    """Return a line with control and invisible characters escaped, so that it cannot play with the terminal."""
    from agent_memory_protocol.visible import show_invisible

    return show_invisible(line)

"""`amp doctor`: one answer to "why is my memory not there?"."""

import os
import sys
from collections.abc import Iterator, Sequence
from contextlib import suppress

import click

from ..disk.files import read_named
from ..errors import AgentMemoryError
from ..layout import Tier
from ..project.access import Actor
from ..project.settings import home_folder
from ..verbs.doctor import Diagnosis, of_protocol
from ..workspace import Workspace
from .options import Call, call_options
from .printing import colour, columns
from .status import table, where_json, where_lines


@click.command("doctor")
@click.argument("agent", required=False)
@click.option("--conversation", metavar="ID", help="The conversation to recall for.")
@click.option(
    "--protocol",
    type=click.Path(exists=True, dir_okay=False),
    help="Check whether this protocol text is the implemented one.",
)
@call_options
def doctor_command(call: Call, agent: str | None, conversation: str | None, protocol: str | None) -> None:
    """Show what an agent would get, and report problems.

    It runs the hooks of each host in use here, as the host would run them in this folder. Exit code 1: there is a
    problem. Exit code 4: something on disk is damaged or unreadable.

    \b
    Examples:
        amp doctor
        amp doctor developer --conversation 7f3a
    """
    here = call.workspace(tells_settings=True)
    who = call.reader(agent, conversation)
    findings = here.diagnose(who)
    if here.path.is_dir() and here.settings.enabled:
        findings += _of_hosts(call, here, agent, [finding.message for finding in findings])
    if protocol is not None:
        content = read_named(protocol)
        findings.append(of_protocol(content.data if content else b"", protocol))
    values = {"where": where_json(here), "checks": [finding.to_json() for finding in findings]}
    call.answer(values, _lines(here, who, findings))
    sys.exit(4 if any(one.is_damage for one in findings) else int(any(one.is_problem for one in findings)))


def _of_hosts(call: Call, here: Workspace, agent: str | None, told: Sequence[str]) -> list[Diagnosis]:
    """Say what the hosts that are used here would give: to this agent, or to a session and to each that has memory."""
    from ..hosts import checkup, install, receipt

    root = str(here.path)
    try:
        owners = [target.owner for target in here.targets() if target.tier is Tier.AGENT]
        places = {False: receipt.in_project(root, external_links=here.settings.external_links)}
        home = home_folder(os.environ)
        if home:
            places[True] = receipt.for_person(os.environ)
        receipts = {for_person: receipt.Receipt.read(place) for for_person, place in places.items()}
        found = [one for for_person, read in receipts.items() for one in install.diagnose(places[for_person], read)]
    except AgentMemoryError as error:
        return [] if str(error) in told else [Diagnosis(str(error), is_problem=True, is_damage=True)]
    installed = {for_person: frozenset(read.hosts) for for_person, read in receipts.items()}
    folder = root if call.root else os.getcwd()
    agents = [agent] if agent else ["", *owners]
    return [*found, *checkup.examine(checkup.Started(root, folder, home, os.environ, agents, installed))]


def _lines(here: Workspace, who: Actor, findings: Sequence[Diagnosis]) -> Iterator[str]:
    yield from where_lines(here)
    with suppress(AgentMemoryError):  # why the memory cannot be read is among the findings
        if rows := here.status(who):
            yield from ["", *table(rows, columns())]
    yield ""
    for finding in findings:
        mark = colour("!!", "red") if finding.is_problem else "ok"
        yield f"{mark}  {finding.message}"

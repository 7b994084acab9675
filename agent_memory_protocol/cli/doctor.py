"""`amp doctor`: one answer to "why is my memory not there?"."""

import sys
from collections.abc import Iterator, Sequence
from contextlib import suppress

import click

from ..disk.files import read_named
from ..errors import AgentMemoryError
from ..project.access import Actor
from ..verbs.doctor import Diagnosis, of_protocol
from ..workspace import Workspace
from .options import Call, call_options, columns, plain
from .status import table, where_json, where_lines


@click.command("doctor")
@click.argument("agent", required=False)
@click.option("--conversation", metavar="ID", help="The conversation to recall for.")
@click.option(
    "--protocol",
    type=click.Path(exists=True, dir_okay=False),
    help="A protocol text: say whether it is the one implemented.",
)
@call_options
def doctor_command(
    call: Call,
    agent: str | None,
    conversation: str | None,
    protocol: str | None,
) -> None:
    """Say where memory lies, what AGENT recalls, what is wrong.

    Ends with exit code 4 when something on disk is damaged or unreadable.

    \b
    Examples:
        amp doctor
        amp doctor developer --conversation 7f3a
    """
    here = call.workspace(tells_settings=True)
    who = call.reader(agent, conversation)
    findings = here.diagnose(who)
    if here.path.is_dir():
        from ..hosts import install, receipt

        findings += install.diagnose(receipt.in_project(str(here.path), external_links=here.settings.external_links))
    if protocol is not None:
        content = read_named(protocol)
        findings.append(of_protocol(content.data if content else b"", protocol))
    values = {"where": where_json(here), "checks": [finding.to_json() for finding in findings]}
    call.answer(values, _lines(here, who, findings))
    sys.exit(4 if any(finding.is_damage for finding in findings) else 0)


def _lines(here: Workspace, who: Actor, findings: Sequence[Diagnosis]) -> Iterator[str]:
    yield from where_lines(here)
    with suppress(AgentMemoryError):  # why the memory cannot be read is among the findings
        if rows := here.status(who):
            yield from ["", *table(rows, columns())]
    yield ""
    for finding in findings:
        mark = click.style("!!", fg="red") if finding.is_problem else "ok"
        yield f"{mark}  {plain(finding.message)}"

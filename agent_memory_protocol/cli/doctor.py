"""`amp doctor`: one answer to "why is my memory not there?"."""

import sys
from contextlib import suppress
from pathlib import Path

import click

from ..errors import AgentMemoryError
from ..verbs.doctor import of_protocol
from .options import as_option, columns, json_option, plain, print_json, reader, root_option, workspace
from .status import table, where_json, where_lines


@click.command("doctor")
@click.argument("agent", required=False)
@click.option("--conversation", metavar="ID", help="The conversation to recall for.")
@click.option(
    "--protocol",
    type=click.Path(exists=True, dir_okay=False),
    help="A protocol text: say whether it is the one implemented.",
)
@json_option
@root_option
@as_option
def doctor_command(
    agent: str | None,
    conversation: str | None,
    protocol: str | None,
    as_json: bool,
    root: str | None,
    as_agent: str | None,
) -> None:
    """Say where memory lies, what AGENT recalls, what is wrong.

    Ends with exit code 4 when something on disk is damaged or unreadable.

    \b
    Examples:
        amp doctor
        amp doctor developer --conversation 7f3a
    """
    here = workspace(root, tells_settings=True)
    who = reader(agent, as_agent, conversation, root)
    findings = here.diagnose(who)
    if here.path.is_dir():
        from ..hosts import install, receipt

        findings += install.diagnose(receipt.in_project(str(here.path), external_links=here.settings.external_links))
    if protocol is not None:
        findings.append(of_protocol(Path(protocol).read_bytes(), protocol))
    damaged = any(finding.is_damage for finding in findings)
    if as_json:
        listed = [{"ok": not finding.is_problem, "message": finding.message} for finding in findings]
        print_json({"where": where_json(here), "checks": listed})
    else:
        click.echo("\n".join(where_lines(here)))
        with suppress(AgentMemoryError):  # why the memory cannot be read is among the findings
            if rows := here.status(who):
                click.echo("\n" + "\n".join(table(rows, columns())))
        click.echo()
        for finding in findings:
            mark = click.style("!!", fg="red") if finding.is_problem else "ok"
            click.echo(f"{mark}  {plain(finding.message)}")
    sys.exit(4 if damaged else 0)

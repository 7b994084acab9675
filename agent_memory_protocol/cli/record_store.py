"""`amp record init-store`: a place for records on a PostgreSQL server."""

import click

from ..postgresql.address import Address
from .options import Call, call_options
from .printing import note


@click.command("init-store")
@click.argument("url", metavar="URL")
@click.option("--namespace", metavar="NAME", help="The namespace. Default: the URL's, or agent_memory.")
@click.option("--apply", is_flag=True, help="Run the SQL. Without it, amp only prints the SQL.")
@call_options
def init_store_command(call: Call, url: str, namespace: str | None, apply: bool) -> None:
    """Create a store of records on a PostgreSQL server.

    It prints the SQL for the tables of a namespace and for two roles, NAME_reader and NAME_writer. Run it again after
    you upgrade amp or restore a backup; stored data does not change. It needs the extra `postgresql`.

    \b
    Example:
        amp record init-store postgresql://db.example.org/memory --apply
    """
    from ..postgresql.preparing import prepare, sql_of

    address = Address.parse(url, namespace)
    sql, name = sql_of(address), address.namespace
    before = prepare(address) if apply else ""
    said = sql.rstrip().split("\n")
    if apply:
        was = f"brought up to date from {before}" if before else "made"
        said = [f"{was}: {address}", f'let a user write: GRANT "{name}_writer" TO "…"; or read: GRANT "{name}_reader"']
    call.answer({"store": str(address), "namespace": name, "sql": sql, "applied": apply}, said)
    if not (apply or call.as_json):
        note("nothing was changed; add --apply to run this, or give it to psql")

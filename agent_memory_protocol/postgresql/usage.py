"""How often the records of a server were used, by all machines together; decay goes by it."""

from collections.abc import Iterable
from contextlib import suppress
from datetime import datetime

from ..errors import AgentMemoryError
from ..records.canonical import format_moment
from ..records.usage import Uses, counted
from .server import Server

# A recall does not wait for the disk: a count that is lost with a server's power is not a loss.
_ADD = """
    WITH hasty AS MATERIALIZED (SELECT set_config('synchronous_commit', 'off', true))
    INSERT INTO $ns.uses SELECT record_id, 1, %s FROM hasty, unnest(%s::text[]) AS record_id
    ON CONFLICT (record_id) DO UPDATE SET count = uses.count + 1, last = greatest(uses.last, EXCLUDED.last)"""


class ServerUsage:
    """The counts; see `Counting`. Uses by those who may only read are not counted."""

    def __init__(self, server: Server) -> None:
        self._server = server

    def close(self) -> None:
        """Do nothing; the store closes the connection."""

    def count(self, ids: Iterable[str], now: datetime) -> None:
        """Count one use of each of these records."""
        if used := sorted(set(ids)):  # in one order, so that two who count the same do not wait for each other
            with suppress(AgentMemoryError):
                self._server.ask(_ADD, [format_moment(now), used])

    def forget(self, id: str) -> None:
        """Drop the count of a record; who redacts owns the tables."""
        self._server.ask("DELETE FROM $ns.uses WHERE record_id = %s", [id])

    def of(self, ids: Iterable[str] | None = None) -> dict[str, Uses]:
        """Return the uses of those of these records, or of all, that were used."""
        query, wanted = "SELECT record_id, count, last FROM $ns.uses", None if ids is None else [*ids]
        found = (
            self._server.ask(query)
            if wanted is None
            else self._server.ask(f"{query} WHERE record_id = ANY(%s)", [wanted])
        )
        return counted(found)

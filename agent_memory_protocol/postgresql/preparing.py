"""Make a namespace, or bring one of an earlier version up to this one, as the owner of a database."""

from contextlib import suppress

from ..errors import AccessDenied, InvalidRecord, StorageError
from ..records.record import Record
from .address import Address
from .schema import VERSION, script
from .server import Connection, Server
from .store import COLUMNS, columns_of
from .tokens import WORDS, tokens_of

OLDEST = 15  # The first version of PostgreSQL that is supported

_BATCH = 1000
_MEND = f"""
    WITH spelled AS (INSERT INTO $ns.spellings (word) SELECT unnest(%s::text[]) ON CONFLICT DO NOTHING)
    UPDATE $ns.heads SET written = pg_current_xact_id(), ({COLUMNS}) = (%s, %s, %s, %s, %s, %s::tsvector)
    WHERE record_id = %s AND ({COLUMNS}) IS DISTINCT FROM (%s, %s, %s, %s, %s, %s::tsvector)"""  # noqa: S608 ours


def sql_of(address: Address) -> str:
    """Return the SQL that `prepare` runs, for people who run such things themselves."""
    return script(address.namespace, words=WORDS)


def prepare(address: Address) -> str:
    """Make the namespace of an address, or bring it up to date; return what was there before, "" for nothing.

    What finds the records is mended where it is not made of their newest versions. Positions in the change feed end
    here: those who follow it read everything again, so a restored backup is safe to go on with.
    """
    server = Server(address, checked=False)

    def work(connection: Connection) -> str:
        with connection.transaction():
            server.rows(connection, "SELECT pg_advisory_xact_lock(hashtextextended('$ns', 1))")
            settings = "SELECT current_setting('server_version_num')::int / 10000, current_setting('server_encoding')"
            ((version, encoding),) = server.rows(connection, settings)
            if version < OLDEST or encoding != "UTF8":
                raise StorageError(
                    f"{address}: this is PostgreSQL {version} with texts in {encoding}; it has to be {OLDEST} or newer,"
                    " with UTF8"
                )
            found = _found(server, connection)
            if found and found[0] > VERSION:
                raise StorageError(
                    f"{address}: its tables are of version {found[0]}, and this program knows {VERSION};"
                    " install a newer agent-memory-protocol"
                )
            server.rows(connection, sql_of(address))
            if found:
                _read_again(server, connection)
            server.rows(connection, "UPDATE $ns.about SET words = %s, made = gen_random_uuid()", [WORDS])
            return f"version {found[0]}.{found[1]}" if found else ""

    try:
        return server.do(work)
    except AccessDenied:
        raise AccessDenied(
            f"{address}: this user may not make the schema or its roles; run this as the database owner, with the"
            " right to create roles, or give the SQL to somebody who may"
        ) from None
    finally:
        server.close()


def _found(server: Server, connection: Connection) -> tuple[int, int] | None:
    """Return the versions of the tables and of the words in them; None if there are no tables."""
    if server.rows(connection, "SELECT to_regclass('$ns.about')") == [(None,)]:
        return None
    return next(iter(server.rows(connection, "SELECT version, words FROM $ns.about")), None)


def _read_again(server: Server, connection: Connection) -> None:
    """Make what finds each record of its newest version, where it is not."""
    last = ""
    query = """
        SELECT record_id, payload FROM $ns.heads JOIN $ns.versions USING (record_id, version)
        WHERE record_id > %s ORDER BY record_id LIMIT %s"""
    while batch := server.rows(connection, query, [last, _BATCH]):
        for last, payload in batch:
            with suppress(InvalidRecord):  # `verify` names it
                record = Record.from_bytes(payload.encode())
                tokens = tokens_of(record)
                columns = columns_of(record, tokens)
                server.rows(connection, _MEND, [sorted(tokens.spellings), *columns, last, *columns])

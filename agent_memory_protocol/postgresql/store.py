"""A store on a PostgreSQL server, for the agents, runners and repositories of many machines.

Versions are only added. A writer reads the newest one and writes the next, and only if that is the newest still: nobody
waits for a lock while others think. The same version is never there twice in a row, so a writer that lost its answer
asks again, and nothing is written twice.
"""

import builtins
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import suppress
from datetime import date, datetime
from functools import partial
from itertools import groupby
from operator import itemgetter
from typing import Any, NamedTuple, Self

from ..disk.writing import NotConfirmed
from ..errors import DamagedFile
from ..records.record import Record, RecordType, State, is_id
from ..records.seen import hash_of
from ..records.store import batches, check_put, chosen, never_still, parsed, read_version, tombstone_of, unknown
from ..search.picking import MANY
from .address import Address
from .search import SIZE
from .server import Connection, Server, Unreachable
from .tokens import Tokens, tokens_of, words_of

_TRIES = 1000
_HEADS = "SELECT record_id, payload FROM $ns.heads LEFT JOIN $ns.versions USING (record_id, version)"
_CHANGED = f"""
    SELECT record_id FROM ({_HEADS} WHERE record_id = ANY(%s)) AS found
    WHERE substring(payload FROM '.*"updated_at":"([^"]*)"') >= %s"""  # noqa: S608 ours; `updated_at` is the last field
_NEWEST = f"{_HEADS.replace('record_id', 'version', 1)} WHERE record_id = %s"
COLUMNS = "state, type, tags, said, size, tokens"
_BIRTH = f"""
    WITH head AS (
        INSERT INTO $ns.heads (record_id, version, {COLUMNS}) VALUES (%s, %s + 1, %s, %s, %s, %s, %s, %s::tsvector)
        ON CONFLICT DO NOTHING RETURNING record_id, version),
    spelled AS (INSERT INTO $ns.spellings (word) SELECT unnest(%s::text[]) ON CONFLICT DO NOTHING)
    INSERT INTO $ns.versions SELECT record_id, version, %s FROM head RETURNING version"""  # noqa: S608 ours
_NEXT = f"""
    WITH head AS (
        UPDATE $ns.heads SET version = version + 1, written = pg_current_xact_id(),
            ({COLUMNS}) = (%s, %s, %s, %s, %s, %s::tsvector)
        WHERE record_id = %s AND version = %s RETURNING record_id, version),
    spelled AS (INSERT INTO $ns.spellings (word) SELECT unnest(%s::text[]) ON CONFLICT DO NOTHING)
    INSERT INTO $ns.versions SELECT record_id, version, %s FROM head RETURNING version"""  # noqa: S608 ours
_HISTORY = """
    SELECT asked.record_id, v.version, v.payload, h.version,
        ARRAY(SELECT lexeme || ' ' || array_to_string(weights, '') FROM unnest(h.tokens)),
        h.state, h.type, h.tags, h.said, h.size
    FROM unnest(%s::text[]) AS asked (record_id) LEFT JOIN $ns.heads h USING (record_id)
    LEFT JOIN $ns.versions v USING (record_id) ORDER BY asked.record_id, v.version"""
_STRAYS = """
    SELECT record_id FROM $ns.versions EXCEPT SELECT record_id FROM $ns.heads
    UNION SELECT record_id FROM $ns.heads WHERE record_id !~ '^mem:[0-9a-f]{32}$'"""
_SPELLED = "SELECT word FROM $ns.spellings WHERE word = ANY(%s)"
_BURIAL = f"""
    UPDATE $ns.heads SET ({COLUMNS}) = (%s, %s, %s, %s, %s, %s::tsvector), written = pg_current_xact_id()
    WHERE record_id = %s"""  # noqa: S608 ours
_FORGET = """
    DELETE FROM $ns.spellings s USING unnest(%s::text[], %s::text[]) AS gone (word, token)
    WHERE s.word = gone.word AND NOT EXISTS (SELECT FROM $ns.heads WHERE tokens @@ quote_literal(token)::tsquery)"""
_NOW = """
    SELECT CASE WHEN NOT pg_is_in_recovery() THEN now::text
        ELSE concat(pg_snapshot_xmin(now), ':', pg_snapshot_xmin(now), ':') END AS snapshot
    FROM pg_current_snapshot() AS now"""
# A copy that follows another server does not list in a snapshot what is under way, so all of that may come again.
_FEED = f"""
    WITH now AS ({_NOW})
    SELECT now.snapshot, found.record_id, found.stamp, found.payload FROM now LEFT JOIN LATERAL (
        SELECT record_id, h.version || ' ' || h.written AS stamp, payload
        FROM $ns.heads h LEFT JOIN $ns.versions v USING (record_id, version) WHERE {{}}) found ON true"""  # noqa: S608 ours
_SINCE = "h.written >= pg_snapshot_xmin(%s::pg_snapshot) AND NOT pg_visible_in_snapshot(h.written, %s::pg_snapshot)"
_EPOCH = """
    SELECT concat_ws('/', (SELECT system_identifier FROM pg_control_system()), CASE WHEN pg_is_in_recovery()
        THEN (SELECT upper(to_hex(timeline_id)) FROM pg_control_checkpoint())
        ELSE ltrim(left(pg_walfile_name(pg_current_wal_insert_lsn()), 8), '0') END, made) FROM $ns.about"""


class NewVersion(NamedTuple):
    """A record that is new or has another version: its id, what its stamp is now, and the bytes of that version."""

    id: str
    stamp: str
    payload: str


class PostgresqlStore:
    """Records in a namespace of a PostgreSQL database. Threads may share it; a forked child opens its own connection.

    Nothing is connected before the first call. Lost connections are opened again, for up to ten seconds. The address
    is `postgresql://user@host/database?namespace=NAME`.
    """

    def __init__(self, address: str | Address) -> None:
        self.address = address if isinstance(address, Address) else Address.parse(address)
        self.server = Server(self.address)

    def __repr__(self) -> str:
        return f"PostgresqlStore({self.address})"

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the connection. The next call opens it again."""
        self.server.close()

    def put(self, record: Record, *, after: Record | None = None) -> int:
        """Add a version; see `RecordStore`. The newest one is not added again.

        Raises NotConfirmed if the server was lost meanwhile. Put it again then: it is not written twice.
        """
        payload = record.to_bytes().decode()
        is_sent = False

        def work(connection: Connection) -> int:
            nonlocal is_sent
            if is_sent and (written := self._number_of(connection, record.id, payload)):
                return written  # the answer was lost, and others may have added more since
            for _ in range(_TRIES):
                number, newest = self._newest(connection, record.id)
                if newest == payload and not record.redacted:
                    return number
                check_put(self.read(newest, record.id) if number else None, record, after)
                is_sent = True
                if self._add(connection, record, payload, number):
                    return number + 1
            raise never_still(record.id)

        try:
            return self.server.do(work)
        except Unreachable as error:
            if not is_sent:
                raise
            raise NotConfirmed(
                f"{error}; whether {record.id} was written is unknown: do it again, and nothing is written twice"
            ) from None

    def get(self, id: str) -> Record:
        """Return the newest version; see `RecordStore`."""
        for _, read in self.newest([id]):
            return read()
        raise unknown(id)

    def history(self, id: str) -> tuple[Record, ...]:
        """Return every version; see `RecordStore`."""
        for _, read in self.histories([id]):
            return read()
        raise unknown(id)

    def newest(self, ids: Iterable[str]) -> Iterator[tuple[str, Callable[[], Record]]]:
        """Yield what reads the newest version of each; see `Bulk`."""
        for batch in batches(filter(is_id, ids)):
            for name, payload in self.server.ask(f"{_HEADS} WHERE record_id = ANY(%s)", [batch]):
                yield name, partial(self.read, payload, name)

    def histories(self, ids: Iterable[str]) -> Iterator[tuple[str, Callable[[], tuple[Record, ...]]]]:
        """Yield what reads the versions of each; see `Bulk`."""
        spelled: set[str] = set()
        for batch in batches(filter(is_id, ids)):
            for name, found in groupby(self.server.ask(_HISTORY, [batch]), itemgetter(0)):
                rows = [row[1:] for row in found]
                if rows[0][0] is not None or rows[0][2] is not None:
                    yield name, partial(self._whole, name, rows, spelled)

    def _whole(self, id: str, rows: Sequence[tuple[Any, ...]], spelled: set[str]) -> tuple[Record, ...]:
        """Return the versions of a record from all that is stored of it. Raises as `history`.

        `spelled` are words that the server is known to have in `spellings`; it gets those that are asked for here.
        """
        last, marks, *columns = rows[0][2:]
        if [row[0] for row in rows] != list(range(1, (last or 0) + 1)):
            raise DamagedFile(f"a version of {id} is missing; restore it from a backup", path=str(self.address))
        versions = tuple(self.read(payload, id) for _, payload, *_ in rows)
        tokens = tokens_of(versions[-1])
        if new := tokens.spellings - spelled:
            spelled |= {word for (word,) in self.server.ask(_SPELLED, [[*new]])}
        expected = [*columns_of(versions[-1], tokens)[:-1], sorted(tokens.marks or ())]
        if [*columns, sorted(marks)] != expected or not tokens.spellings <= spelled:
            reason = (
                f"what finds {id} is not made of its newest version; its owner runs `amp record init-store --apply`"
            )
            raise DamagedFile(reason, path=str(self.address))
        return versions

    def read(self, payload: str | None, id: str) -> Record:
        """Return the version of a record that these bytes are. Raises DamagedFile if they are not."""
        if payload is None:
            raise DamagedFile(f"a version of {id} is missing; restore it from a backup", path=str(self.address))
        return read_version(payload.encode(), id, str(self.address))

    def list(
        self, *, state: State | None = None, type: RecordType | None = None, tag: str | None = None
    ) -> tuple[Record, ...]:
        """Return the newest versions; see `RecordStore`."""
        asked = {"state = %s": state, "type = %s": type, "tags @> ARRAY[%s]": None if tag is None else _plain(tag)}
        wanted = {condition: str(value) for condition, value in asked.items() if value is not None}
        return chosen(self.find(" AND ".join(wanted) or "true", [*wanted.values()]), state, type, tag)

    def redact(self, id: str, *, reason: str, now: datetime) -> Record:
        """Put a tombstone in place of every version.

        See `Redacting`. Backups and the server's log may keep the bytes.
        """

        def work(connection: Connection) -> Record:
            rows = partial(self.server.rows, connection)
            with connection.transaction():
                rows("SELECT FROM $ns.heads WHERE record_id = %s FOR UPDATE", [id])
                found = rows("SELECT payload FROM $ns.versions WHERE record_id = %s ORDER BY version DESC", [id])
                versions = [partial(self.read, payload, id) for (payload,) in found]
                tombstone = tombstone_of(versions, reason=reason, now=now)
                rows("UPDATE $ns.versions SET payload = %s WHERE record_id = %s", [tombstone.to_bytes().decode(), id])
                columns = columns_of(tombstone, tokens_of(tombstone))
                rows(_BURIAL, [*columns, id])
                for read in versions:
                    with suppress(DamagedFile):
                        gone = words_of(read())
                        rows(_FORGET, [[*gone], [*gone.values()]])
            return tombstone

        if not self.stamps([id]):
            raise unknown(id)
        tombstone = self.server.do(work)
        parsed.cache_clear()
        return tombstone

    # -- questions that a search index on this machine would answer --------------------------------------------------

    def find(self, condition: str, values: Sequence[object]) -> builtins.list[Record]:
        """Return the newest versions that meet a condition in SQL."""
        found = self.server.ask(f"{_HEADS} WHERE {condition}", values)
        return [self.read(payload, name) for name, payload in found]

    def ids(self, start: str = "", most: int | None = None) -> builtins.list[str]:
        """Return the ids that begin so, all by default, or the first ones."""
        query = "SELECT record_id FROM $ns.heads WHERE record_id >= %s AND record_id < %s ORDER BY record_id LIMIT %s"
        return [name for (name,) in self.server.ask(query, [start, f"{start}~", most])]

    def changed(self, since: date, ids: Collection[str]) -> set[str]:
        """Return which of these records have changed on a day (UTC) or later; the server reads them."""
        return {name for (name,) in self.server.ask(_CHANGED, [[*ids], since.isoformat()])}

    def count(self) -> int:
        """Return how many records there are; where they are many, about how many."""
        ((estimate,),) = self.server.ask(SIZE)
        return int(estimate if estimate > MANY else self.server.ask("SELECT count(*) FROM $ns.heads")[0][0])

    def strays(self) -> builtins.list[str]:
        """Return the ids of versions without a head, and heads whose id is malformed; see `Tables`."""
        return [name for (name,) in self.server.ask(_STRAYS)]

    # -- what has changed --------------------------------------------------------------------------------------------

    def mark(self) -> object:
        """Return what is equal as long as nobody has written; see `Watched`."""
        return self.server.ask("SELECT pg_current_snapshot()::text")

    def stamps(self, ids: Iterable[str] | None = None) -> dict[str, str]:
        """Return a text for each record's newest version; see `Watched`."""
        query = "SELECT record_id, version || ' ' || written FROM $ns.heads"
        if ids is None:
            return dict(self.server.ask(query))
        return dict(self.server.ask(f"{query} WHERE record_id = ANY(%s)", [[*filter(is_id, ids)]]))

    def position(self) -> str:
        """Return the position in the feed as it is now, to ask for only what comes after."""
        ((epoch, snapshot),) = self.server.ask(f"SELECT ({_EPOCH}), ({_NOW})")
        return f"{epoch} {snapshot}"

    def changes(self, since: str | None = None) -> tuple[tuple[NewVersion, ...], str, bool]:
        """Return what has changed since a position, the position now, and whether the changes are everything there is.

        A position is what this has returned before; without one everything comes. Nothing is left out, not even what
        a slow writer began long ago and finished just now, and nothing comes twice. After the server was restored
        from a backup, old positions mean nothing, and everything comes again.
        """
        ((epoch,),) = self.server.ask(_EPOCH)
        before, _, snapshot = (since or "").partition(" ")
        is_all = before != epoch
        query, values = (_FEED.format("true"), []) if is_all else (_FEED.format(_SINCE), [snapshot, snapshot])
        found = self.server.ask(query, values)
        changes = tuple(NewVersion(*row[1:]) for row in found if row[1] is not None)
        return changes, f"{epoch} {found[0][0]}", is_all

    # -- steps -------------------------------------------------------------------------------------------------------

    def _newest(self, connection: Connection, id: str) -> tuple[int, str]:
        """Return the number and the payload of the newest version; 0 without one."""
        for number, payload in self.server.rows(connection, _NEWEST, [id]):
            return number, payload
        return 0, ""

    def _number_of(self, connection: Connection, id: str, payload: str) -> int:
        query = "SELECT max(version) FROM $ns.versions WHERE record_id = %s AND payload = %s"
        ((number,),) = self.server.rows(connection, query, [id, payload])
        return int(number or 0)

    def _add(self, connection: Connection, record: Record, payload: str, number: int) -> bool:
        """Add the version after this number; False where somebody was quicker."""
        tokens = tokens_of(record)
        columns, spellings = columns_of(record, tokens), sorted(tokens.spellings)
        if number:
            return bool(self.server.rows(connection, _NEXT, [*columns, record.id, number, spellings, payload]))
        return bool(self.server.rows(connection, _BIRTH, [record.id, number, *columns, spellings, payload]))


def columns_of(record: Record, tokens: Tokens) -> list[object]:
    """Return what a row of `heads` holds of a record, apart from its id and version."""
    tags = sorted(set(map(_plain, record.tags)))
    return [record.state.value, record.type.value, tags, hash_of(record.body), tokens.size, tokens.vector]


def _plain(tag: str) -> str:
    """Return a tag without the one character that PostgreSQL does not store."""
    return tag.replace("\0", "\u2400")

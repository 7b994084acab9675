"""One connection to a PostgreSQL server: opened when needed, and again when it was lost, with errors one can act on.

Only this module imports psycopg, which comes with the extra `postgresql`. What is asked is given as work that may be
done again: a server that is restarted, or a cable that is pulled, is waited for.
"""

import os
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from types import ModuleType
from typing import Any, TypeVar

from ..disk.errors import shown
from ..errors import AccessDenied, InvalidArgument, LockBusy, MissingExtra, StorageError
from .address import Address
from .schema import VERSION
from .tokens import WORDS

Answer = TypeVar("Answer")
Connection = Any  # A connection of psycopg, which may not be installed
WAIT = 10.0  # Seconds to wait for a server that has gone away, and for others who hold what is needed

_PAUSE = 0.05
_LONGEST_PAUSE = 0.5
_SETTINGS = {
    # A server that nobody can reach any more sends nothing, not even a refusal.
    "connect_timeout": ("PGCONNECT_TIMEOUT", "10"),
    "keepalives_idle": ("", "20"),
    "tcp_user_timeout": ("", "20000"),
    "client_encoding": ("", "utf8"),
    "fallback_application_name": ("", "amp"),
}
"""What holds where neither the address nor the environment variable says otherwise."""

_FINAL = {
    "no password supplied": "it asks for a password; put one into PGPASSWORD or ~/.pgpass, and run chmod 600 on that",
    "password authentication failed": "user or password is wrong; look at the address, ~/.pgpass and PGPASSWORD",
    "no pg_hba.conf entry": "it lets nobody in from here in this way; see its pg_hba.conf, or add sslmode=require",
    "authentication failed": "it does not believe who this is; see its pg_hba.conf",
    'role "': "it does not know this user; make the role, or name another one in the address",
    'database "': "this database is missing, or not for this user; make it with createdb, or name another one",
    "does not support SSL": "the connection cannot be encrypted as sslmode asks; see sslmode and sslrootcert",
    "certificate": "its certificate is not accepted; see sslmode and sslrootcert",
    "SSL was required": "the connection cannot be encrypted as sslmode asks; see sslmode and sslrootcert",
    'service "': "no service file has this service; look at PGSERVICE, PGSERVICEFILE and the address",
    "invalid ": "a parameter of the address has a value that libpq does not know",
    "permission denied": "this user may not connect to the database",
}
"""Words in the refusal of a connection that time does not mend, and what they mean."""

_TEMPORARY = {
    "too many": "it has no connection left; close some and try again",
    "could not translate": "its name is unknown; look at the host in the address",
    "failed to resolve": "its name is unknown; look at the host in the address",
    "timeout": "it does not answer; look at host and port, and whether a firewall is between",
    "starting up": "it is starting; try again soon",
    "shutting down": "it is shutting down; try again when it is back",
}
_AWAY = "it cannot be reached; see whether it runs, and look at host and port"

_CODES = {
    "42501": (AccessDenied, "this user may not do that; ask the owner for GRANT NAME_reader or NAME_writer TO it"),
    "25006": (StorageError, "the server is a read-only copy; name the server that takes writes"),
    "53100": (StorageError, "not written: the disk of the server is full; free some space and try again"),
    "53200": (StorageError, "the server is out of memory; try again"),
    "55P03": (LockBusy, f"others have held what is needed for {WAIT:.0f} s; try again"),
    "57014": (StorageError, "the server has ended this query; see its statement_timeout"),
}
_MISSING = ("42P01", "3F000", "42703")
_AGAIN = ("40001", "40P01")  # The server has chosen this transaction to give way to another

_inherited: list[Connection] = []
"""Connections that a fork has copied. The child must neither use nor close them."""

_LOST = ("57P01", "57P02", "57P03", "57P05", "08000", "08003", "08006", "08P01")


class Unreachable(StorageError):
    """The server cannot be reached, or not any more."""


class Server:
    """A server, as the user of an address sees it. Threads may share it, one at a time; a forked child opens its own.

    Args:
        checked: whether the tables of the namespace must be there, in the version that this program knows.
    """

    def __init__(self, address: Address, *, checked: bool = True) -> None:
        self.address = address
        self._checked = checked
        self._lock = threading.RLock()
        self._connection: Connection = None
        self._process = 0

    def close(self) -> None:
        """Close the connection. The next call opens it again."""
        with self._lock:
            if self._connection is not None and self._process == os.getpid():
                self._connection.close()
            self._connection = None

    def __del__(self) -> None:
        self.close()

    def ask(self, query: str, values: Sequence[object] = ()) -> list[tuple[Any, ...]]:
        """Return what one statement answers. `$ns` in it is the namespace. It must do no harm when it runs twice."""
        return self.do(lambda connection: self.rows(connection, query, values))

    def rows(self, connection: Connection, query: str, values: Sequence[object] = ()) -> list[tuple[Any, ...]]:
        """Return what one statement answers to a connection; nothing where it answers with no table."""
        cursor = connection.execute(query.replace("$ns", f'"{self.address.namespace}"'), values or None)
        return cursor.fetchall() if cursor.description else []

    def do(self, work: Callable[[Connection], Answer]) -> Answer:
        """Do something, and again from its beginning where the connection is lost. Raises as `ask`."""
        with self._lock, self.explaining():
            psycopg = _psycopg()
            deadline = 0.0
            while True:
                try:
                    return work(self._connect(deadline))
                except psycopg.Error as error:
                    again = error.sqlstate in _AGAIN
                    if not again and not self._is_lost(error):
                        raise
                    now = time.monotonic()
                    deadline = deadline or now + WAIT
                    if now > deadline:
                        raise
                    if not again:
                        self.close()

    @contextmanager
    def explaining(self) -> Iterator[None]:
        """Say in our words what goes wrong in a `with` block. Raises as `ask`."""
        psycopg = _psycopg()
        try:
            yield
        except psycopg.Error as error:
            code = error.sqlstate or ""
            if code in _MISSING:
                raise self._no_namespace() from None
            kind, reason = _CODES.get(code, (StorageError, ""))
            if self._is_lost(error):
                kind, reason = Unreachable, _AWAY
            # Only a server that answers knows what to quote; a password is never sent to it as text.
            reason = reason or f"{_first_line(error)}; mend that and try again"
            raise kind(f"{self.address}: {reason.replace('NAME', self.address.namespace)}") from None

    def _is_lost(self, error: Any) -> bool:
        connection = self._connection
        return error.sqlstate in _LOST or (connection is not None and (connection.closed or connection.broken))

    def _connect(self, deadline: float) -> Connection:
        """Return the connection, and open it where it is closed; after it was lost until `deadline`."""
        if self._connection is not None:
            if self._process == os.getpid() and not self._connection.closed:
                return self._connection
            if self._process != os.getpid():
                _inherited.append(self._connection)
            else:  # it was lost, perhaps between two calls
                deadline = deadline or time.monotonic() + WAIT
            self._connection = None
        pause = _PAUSE
        while True:
            try:
                self._connection = self._open()
            except Unreachable:
                if time.monotonic() + pause > deadline:
                    raise
                time.sleep(pause)
                pause = min(2 * pause, _LONGEST_PAUSE)
            else:
                self._process = os.getpid()
                return self._connection

    def _open(self) -> Connection:
        psycopg = _psycopg()
        try:
            given = psycopg.conninfo.conninfo_to_dict(self.address.conninfo)
        except psycopg.Error:  # which quotes the address
            raise InvalidArgument(f"{self.address}: libpq cannot read this address; look at its parameters") from None
        for name, (variable, value) in _SETTINGS.items():
            if not os.environ.get(variable):
                given.setdefault(name, value)
        try:
            connection = psycopg.connect(**given, autocommit=True)
        except psycopg.Error as error:
            raise self._refused(str(error)) from None
        try:
            # To compile a query takes longer than each of ours.
            connection.execute(f"SET lock_timeout = {WAIT * 1000:.0f}; SET jit = off")
            if self._checked:
                self._check(connection)
        except psycopg.OperationalError as error:
            connection.close()
            raise self._refused(str(error)) from None
        except BaseException:
            connection.close()
            raise
        return connection

    def _check(self, connection: Connection) -> None:
        for found in self.rows(connection, "SELECT version, words FROM $ns.about"):
            if found == (VERSION, WORDS):
                return
            versions = [f"{version}.{words}" for version, words in (found, (VERSION, WORDS))]
            told = f"its tables are of version {versions[0]}, and this program knows {versions[1]}"
            mend = f"its owner runs `amp record init-store '{self.address}' --apply`"
            if max(found[0] - VERSION, found[1] - WORDS) > 0:
                mend = "install a newer agent-memory-protocol"
            raise StorageError(f"{self.address}: {told}; {mend}")
        raise self._no_namespace()

    def _no_namespace(self) -> StorageError:
        return StorageError(
            f"{self.address}: there is no namespace {self.address.namespace};"
            f" make it with `amp record init-store '{self.address}' --apply`"
        )

    def _refused(self, said: str) -> StorageError:
        for table, kind in ((_FINAL, StorageError), (_TEMPORARY, Unreachable)):
            for words, reason in table.items():
                if words in said:
                    return kind(f"{self.address}: {reason}")
        return Unreachable(f"{self.address}: {_AWAY}")


def _first_line(error: object) -> str:
    return shown(str(error).strip().partition("\n")[0])


def _psycopg() -> ModuleType:
    try:
        import psycopg
        import psycopg.conninfo
    except ImportError:
        raise MissingExtra(
            "a store on PostgreSQL needs psycopg: pip install 'agent-memory-protocol[postgresql]'"
        ) from None
    found: ModuleType = psycopg
    return found

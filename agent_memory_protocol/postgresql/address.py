"""Addresses of stores on PostgreSQL: where the server is, which namespace is meant, and what of that may be shown.

An address is libpq's own, `postgresql://user@host/database?sslmode=…`, with `namespace=NAME` among its parameters. What
it leaves out comes from where libpq looks: PGHOST, PGPASSWORD, PGSSLMODE and so on, a service file, `~/.pgpass`.
"""

import re
from dataclasses import field
from typing import Self
from urllib.parse import unquote

from ..errors import InvalidArgument
from ..values import dataclass

NAMESPACE = "agent_memory"  # The namespace of an address that names none

_SCHEMES = ("postgresql://", "postgres://")
_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]+://")
"""What begins the address of some server; no folder is made of it, since a password may be in it."""
_NAME = re.compile(r"[a-z][a-z0-9_]{0,54}")
_HOST = re.compile(r"(\[[^]]*\]|[^:@]*)(:\d*)?")
_RESERVED = ("public", "information_schema")
_SHOWN = ("host", "port", "user", "dbname", "service", "sslmode", "sslrootcert", "sslcert", "target_session_attrs")
"""Parameters that may be printed. Nobody knows what else is a password."""


def is_address(store: object) -> bool:
    """Say whether the name of a store is the address of a server, of whatever kind."""
    return isinstance(store, str) and _SCHEME.match(store) is not None


@dataclass(frozen=True, slots=True)
class Address:
    """Where a namespace is. As text it has no password."""

    conninfo: str = field(repr=False)  # the address as libpq takes it, with the password if there is one
    namespace: str
    has_password: bool  # whether there is one
    _shown: str

    def __str__(self) -> str:
        return self._shown

    @classmethod
    def parse(cls, text: str, namespace: str | None = None) -> Self:
        """Read an address of a PostgreSQL server; a `namespace` that is given must not contradict the one in it."""
        text = _SCHEME.sub(lambda found: found[0].lower(), text, count=1)
        scheme = next((one for one in _SCHEMES if text.startswith(one)), None)
        if scheme is None or not text.isprintable():
            raise InvalidArgument("the address of a store on PostgreSQL begins with postgresql://")
        rest = text.removeprefix(scheme)
        # As libpq reads it: before the first slash there may be a user, and in a password a question mark.
        start = rest.find("?", rest.partition("/")[0].rfind("@") + 1)
        place, query = (rest, "") if start < 0 else (rest[:start], rest[start + 1 :])
        pairs = [pair.partition("=")[::2] for pair in query.split("&") if pair]
        named = {unquote(value) for name, value in pairs if name == "namespace"} | ({namespace} - {None})
        if len(named) > 1:
            raise InvalidArgument("the address and --namespace name two namespaces; name one")
        name = check_namespace(named.pop() if named else NAMESPACE)
        given = [f"{key}={value}" for key, value in pairs if key != "namespace"]
        shown = [f"{key}={value}" for key, value in pairs if key in _SHOWN]
        shown += [f"namespace={name}"] if name != NAMESPACE else []
        where, slash, database = place.partition("/")
        user, at, host = where.rpartition("@")
        if "@" in database or not all(map(_HOST.fullmatch, host.split(","))):
            raise InvalidArgument(
                "the address has no port where one should be; in a password, write / as %2F, ? as %3F and @ as %40"
            )
        public = f"{user.partition(':')[0]}{at}{host}{slash}{database}"
        has_password = ":" in user or any(key.endswith("password") for key, _ in pairs)
        return cls(_joined(scheme, place, given), name, has_password, _joined(scheme, public, shown))


def check_namespace(name: str | None) -> str:
    """Check the name of a namespace, which is also that of a schema and the beginning of two roles; return it."""
    if name is None or not _NAME.fullmatch(name) or name.startswith("pg_") or name in _RESERVED:
        raise InvalidArgument(
            f"{str(name)[:80]!a} cannot be a namespace; one is a letter from a to z and then up to 54 of a to z, 0 to 9"
            " and _, does not begin with pg_, and is not public"
        )
    return name


def _joined(scheme: str, place: str, pairs: list[str]) -> str:
    return f"{scheme}{place}{'?' if pairs else ''}{'&'.join(pairs)}"

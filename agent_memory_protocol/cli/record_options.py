"""What the verbs for records share: which records are meant."""

import os
from functools import partial
from typing import TYPE_CHECKING

import click

from ..errors import InvalidArgument
from ..layout import MEMORY, RECORDS
from ..postgresql.address import Address, is_address
from .options import Call, Verb, call_options

if TYPE_CHECKING:
    from ..consolidation.pipeline import Operators
    from ..memory import Memory
    from ..search.port import Embedder

store_option = click.option(
    "--store", metavar="DIR", help="The memory directory, an .sqlite file, or postgresql://…; default: the project's."
)
identity_option = click.option("--identity", metavar="FILE", help="The identity file to sign with; created if missing.")


def record_options(function: Verb) -> Verb:
    """Add what every verb for records takes."""
    verb: Verb = store_option(call_options(function))
    return verb


def open_memory(
    call: Call,
    store: str | None,
    identity: str | None = None,
    embedder: "Embedder | None" = None,
    operators: "Operators | None" = None,
) -> "Memory":
    """Open the memory directory that is meant."""
    from ..exchange.verify import is_database
    from ..memory import Memory
    from ..records.sqlite_store import SqliteStore

    open_it = partial(Memory, actor=call.actor(), identity=identity, embedder=embedder, operators=operators)
    if is_address(store):
        from ..postgresql.sharing import SharedStore

        made = open_it(store=SharedStore(str(store)))
    elif store is not None and (store.endswith(".sqlite") or os.path.isfile(store)):
        if os.path.isfile(store) and os.path.getsize(store) and not is_database(store):
            raise InvalidArgument(f"{store!a} is a file and no store; `amp import` and `amp record verify` read files")
        made = open_it(store=SqliteStore(store))
    elif store is not None:
        made = open_it(store)
    else:
        made = open_it(os.path.join(call.workspace().path, *MEMORY))
    click.get_current_context().call_on_close(made.close)
    return made


def check_store(place: str) -> str:
    """Return the memory directory or database that is meant, where there is one with records at a place.

    Raises:
        InvalidArgument: nothing is there; the message says what to name.
    """
    from ..records.record import is_id
    from ..records.sqlite_store import has_history

    if os.path.isfile(place):
        if has_history(place):
            return place
        raise InvalidArgument(f"{place!a} is a database without records; nothing in it can be verified")
    if not os.path.isdir(place):
        raise InvalidArgument(f"{place!a} is neither a file nor a folder; name a memory directory or a memory file")
    for parts in ((), MEMORY):
        if os.path.isdir(os.path.join(place, *parts, RECORDS[-1])):
            return os.path.join(place, *parts)
    if any(is_id(f"mem:{name}") for name in os.listdir(place)):
        above = os.path.dirname(os.path.abspath(place))
        raise InvalidArgument(f"{place!a} is the inside of a store; name the folder above it, {above}")
    raise InvalidArgument(f"{place!a} holds no records, so nothing in it can be verified; name a memory directory")


def shown_store(store: str) -> str:
    """Return a store as it may be printed: of an address, all but the password."""
    return str(Address.parse(store)) if is_address(store) else store


def has_records(call: Call, store: str | None) -> bool:
    """Say whether a store is named, or the project has records. Most have none, and need not load what reads them."""
    return store is not None or os.path.lexists(os.path.join(call.workspace().path, *RECORDS))

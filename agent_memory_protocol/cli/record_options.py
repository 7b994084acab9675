"""What the verbs for records share: which records are meant."""

import os
from functools import partial
from typing import TYPE_CHECKING

import click

from ..layout import MEMORY, RECORDS
from ..postgresql.address import Address, is_address
from .options import Call, Verb, call_options

if TYPE_CHECKING:
    from ..consolidation.pipeline import Operators
    from ..memory import Memory
    from ..search.port import Embedder

store_option = click.option(
    "--store",
    metavar="DIR",
    help="The memory directory, an .sqlite file, or postgresql://…; default: the project's.",
)
identity_option = click.option("--identity", metavar="FILE", help="The identity file to sign with; made if missing.")


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
    from ..memory import Memory
    from ..records.sqlite_store import SqliteStore

    open_it = partial(Memory, actor=call.actor(), identity=identity, embedder=embedder, operators=operators)
    if is_address(store):
        from ..postgresql.sharing import SharedStore

        made = open_it(store=SharedStore(str(store)))
    elif store is not None and store.endswith(".sqlite"):
        made = open_it(store=SqliteStore(store))
    elif store is not None:
        made = open_it(store)
    else:
        made = open_it(os.path.join(call.workspace().path, *MEMORY))
    click.get_current_context().call_on_close(made.close)
    return made


def shown_store(store: str) -> str:
    """Return a store as it may be printed: of an address, all but the password."""
    return str(Address.parse(store)) if is_address(store) else store


def has_records(call: Call, store: str | None) -> bool:
    """Say whether a store is named, or the project has records. Most have none, and need not load what reads them."""
    return store is not None or os.path.lexists(os.path.join(call.workspace().path, *RECORDS))

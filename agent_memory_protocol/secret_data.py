"""What `secrets.toml` holds: read once, when the first text is searched."""

import pkgutil
import tomllib
from functools import cache
from typing import Any

DATA = "secrets.toml"


@cache
def table() -> dict[str, Any]:
    """Return the whole file."""
    data = pkgutil.get_data(__package__, DATA)
    if data is None:  # a loader that serves code but no data
        raise ImportError(f"{DATA} is missing from {__package__}; install it again")
    return tomllib.loads(data.decode())


@cache
def words(name: str) -> frozenset[str]:
    """Return one of its lists of words."""
    return frozenset(table()["words"][name].split())

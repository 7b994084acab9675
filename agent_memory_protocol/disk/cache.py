"""The person's cache folder, for what may be deleted at any time and belongs to no project."""

import os
from contextlib import suppress

_FOLDER = "agent-memory-protocol"


def cache_path(name: str) -> str:
    """Return the path of a folder in the person's cache, which may not exist."""
    base = os.environ.get("XDG_CACHE_HOME", "")
    if not os.path.isabs(base):
        base = os.path.join(os.path.expanduser("~"), ".cache")
    return os.path.join(base, _FOLDER, name)


def make_cache(path: str) -> bool:
    """Create such a folder, for its owner alone; False where there can be none."""
    with suppress(OSError):
        os.makedirs(path, mode=0o700, exist_ok=True)
        return True
    return False

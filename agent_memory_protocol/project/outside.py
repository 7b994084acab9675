"""Files outside the memory that a caller names by their paths, and which of them an agent may not name.

The reader of such a file does not ask whose it is. So an agent may not name a file in a memory by its path. The verbs
that name a document by its owner do ask.
"""

import os

from ..errors import AccessDenied
from ..layout import SCAFFOLDING
from .access import Actor


def check_outside(actor: Actor, path: str) -> None:
    """Make sure that a path an agent names leads to no file of a memory, not even through a link."""
    if not actor.is_person and SCAFFOLDING in os.path.realpath(path).split(os.sep):
        raise AccessDenied(
            f"{path}: lies in {SCAFFOLDING}, and {actor} names what is there by its owner; use `amp show` or "
            "`amp export`, and merge it with git"
        )

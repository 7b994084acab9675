"""The verbs: one module for each thing that people and agents do with Markdown memory, loaded when it is asked for."""

from importlib import import_module
from importlib.util import find_spec

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import ModuleType

    from . import (  # noqa: F401  (what a workspace calls)
        adopt,
        agents,
        check,
        close,
        conversations,
        diff,
        distill,
        doctor,
        index,
        init,
        life,
        notes,
        originals,
        proposals,
        prune,
        redact,
        remember,
        restore,
        review,
        rewrite,
        search,
        settle,
        show,
        upkeep,
    )


def __getattr__(name: str) -> "ModuleType":
    if find_spec(f"{__name__}.{name}") is None:
        raise AttributeError(name)
    return import_module(f"{__name__}.{name}")

"""The verbs: one module for each thing that people and agents do with Markdown memory, loaded when it is asked for."""

from importlib import import_module

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import ModuleType

    from . import (
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
        remember,
        review,
        rewrite,
        search,
        settle,
        show,
        upkeep,
    )

__all__ = [
    "adopt",
    "agents",
    "check",
    "close",
    "conversations",
    "diff",
    "distill",
    "doctor",
    "index",
    "init",
    "life",
    "notes",
    "originals",
    "proposals",
    "remember",
    "review",
    "rewrite",
    "search",
    "settle",
    "show",
    "upkeep",
]


def __getattr__(name: str) -> "ModuleType":
    if name in __all__:
        return import_module(f"{__name__}.{name}")
    raise AttributeError(name)

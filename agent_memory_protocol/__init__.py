"""The engine of the agent memory protocol: repository memory for coding agents, as Markdown that people review.

The names below are bound when they are first used, so that `recall_for_agent` starts in a fraction of the time the
whole package would take to load.
"""

__version__ = "0.2.0"

PROTOCOL = "agent-memory git:20260409.25dc3caA"
"""The label of the protocol text this package implements."""

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .errors import AgentMemoryError as AgentMemoryError
    from .errors import InvalidName as InvalidName
    from .formats.jsonl_file import MemoryFile as MemoryFile
    from .layout import Tier as Tier
    from .memory import Memory as Memory
    from .project.access import Actor as Actor
    from .recall.agent import recall_for_agent as recall_for_agent
    from .workspace import Workspace as Workspace

_MODULES = {
    "Actor": "project.access",
    "AgentMemoryError": "errors",
    "InvalidName": "errors",
    "Memory": "memory",
    "MemoryFile": "formats.jsonl_file",
    "Tier": "layout",
    "Workspace": "workspace",
    "recall_for_agent": "recall.agent",
}

__all__ = [
    "PROTOCOL",
    "Actor",
    "AgentMemoryError",
    "InvalidName",
    "Memory",
    "MemoryFile",
    "Tier",
    "Workspace",
    "recall_for_agent",
]


def __getattr__(name: str) -> object:
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    value = getattr(import_module(f".{_MODULES[name]}", __name__), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)

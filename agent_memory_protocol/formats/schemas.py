"""The two descriptions of an entry that ship with the package: for protobuf, and for JSON."""

from importlib.resources import files

PROTO = "agentmemory.proto"
JSON = "agent_memory_schema.json"


def text(name: str) -> str:
    """Return the text of `PROTO` or `JSON`."""
    return files(__package__).joinpath(name).read_text(encoding="utf-8")

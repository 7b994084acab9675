"""The schemas that ship with the package: of entries in protobuf and in JSON, and of what `amp` answers in JSON."""

from importlib.resources import files

PROTO = "agentmemory.proto"
JSON = "agent_memory_schema.json"
ANSWERS = "answers_schema.json"


def text(name: str) -> str:
    """Return the text of `PROTO`, `JSON` or `ANSWERS`."""
    return files(__package__).joinpath(name).read_text(encoding="utf-8")

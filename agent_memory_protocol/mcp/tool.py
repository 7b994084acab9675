"""What a tool is, whatever protocol offers it: what it takes, what it answers, and what it works on."""

import json
from collections.abc import Callable
from dataclasses import dataclass, field

from ..layout import Target, Tier
from ..memory import Memory
from ..project.access import Actor
from ..search.port import SearchIndex
from ..search.scan import ScanIndex
from ..text.visible import show_invisible
from ..workspace import Workspace
from .arguments import Arguments, Parameter, schema

Json = dict[str, object]


@dataclass(frozen=True, slots=True)
class Door:
    """What the tools work on, and for whom: a project, a memory directory of records, what finds entries and notes."""

    workspace: Workspace
    actor: Actor
    records: Memory
    index: SearchIndex = field(default_factory=ScanIndex)


def is_foreign(door: Door, target: Target) -> bool:
    """Say whether a document belongs to another conversation: a person may read it, but has not asked for it here."""
    return target.tier is Tier.CONVERSATION and target != Target(Tier.CONVERSATION, door.actor.conversation or "")


@dataclass(frozen=True, slots=True)
class Answer:
    """What a tool answers: values, and a text for models where their JSON is not the best there is."""

    values: Json
    text: str = ""

    def __str__(self) -> str:
        return self.text or json.dumps(self.values, ensure_ascii=False)


@dataclass(frozen=True, slots=True)
class Tool:
    """One tool.

    Attributes:
        name, title, description: what it is to a host and a model.
        parameters: what it takes.
        output: the JSON Schema of what it answers.
        run: does it.
        writes: whether it changes memory; it is not offered to read-only agents then.
        takes_away: whether something may leave memory by it.
        repeatable: whether a second call with the same arguments changes nothing more.
    """

    name: str
    title: str
    description: str
    parameters: tuple[Parameter, ...]
    output: Json
    run: Callable[[Door, Arguments], Answer]
    writes: bool = False
    takes_away: bool = False
    repeatable: bool = True

    @property
    def input(self) -> Json:
        """The JSON Schema of what it takes."""
        return schema(self.parameters)


def shape_of(**properties: Json) -> Json:
    """Return the JSON Schema of an object that has exactly these values."""
    return {"type": "object", "properties": properties, "required": [*properties], "additionalProperties": False}


def list_of(of: Json) -> Json:
    """Return the JSON Schema of a list."""
    return {"type": "array", "items": of}


A_TEXT: Json = {"type": "string"}
A_NUMBER: Json = {"type": "integer"}
A_TARGET: Json = {"type": "string", "description": "shared, agent:NAME or conversation:ID"}


def shown(text: str) -> str:
    """Return a text with what a reader cannot see as escapes (decision 27)."""
    return "\n".join(show_invisible(line) for line in text.split("\n"))

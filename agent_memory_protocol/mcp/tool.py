"""What a tool is, whatever protocol offers it: what it takes, what it answers, and what it works on."""

import json
from collections.abc import Callable, Mapping
from dataclasses import field

from ..answers import Json
from ..layout import Target, Tier
from ..memory import Memory
from ..project.access import Actor
from ..search.port import SearchIndex
from ..search.scan import ScanIndex
from ..secrets.mask import masked, masked_values
from ..text.visible import show_text
from ..values import dataclass
from ..workspace import Workspace
from .arguments import Parameter, read, schema


@dataclass(frozen=True, slots=True)
class Door:
    """What the tools work on, and for whom."""

    workspace: Workspace
    actor: Actor
    records: Memory
    index: SearchIndex = field(default_factory=ScanIndex)
    keeps_records: bool = False  # whether the tools of the record format's own server are offered, which write records


def is_foreign(door: Door, target: Target) -> bool:
    """Say whether a document belongs to another conversation: a person may read it, but has not asked for it here."""
    return target.tier is Tier.CONVERSATION and target != Target(Tier.CONVERSATION, door.actor.conversation or "")


@dataclass(frozen=True, slots=True)
class Answer:
    """What a tool answers: values, and a text for models where their JSON is not the best there is.

    What a reader cannot see is an escape in both, so that it cannot hide in what a model is told (decision 27). No
    secret is in either.
    """

    values: Json
    text: str = ""

    def to_json(self) -> Json:
        """Return the values as JSON holds them."""
        return {name: _shown(masked_values(value)) for name, value in self.values.items()}

    def __str__(self) -> str:
        return show_text(masked(self.text)) if self.text else json.dumps(self.to_json(), ensure_ascii=False)


@dataclass(frozen=True, slots=True)
class Tool:
    """One tool.

    Attributes:
        name, title, description: what it is to a host and a model.
        run: does it; takes the door, and the arguments by their names.
        writes: whether it changes memory; it is not offered to read-only agents then.
        takes_away: whether something may leave memory by it.
        repeatable: whether a second call with the same arguments changes nothing more.
    """

    name: str
    title: str
    description: str
    parameters: tuple[Parameter, ...]
    output: Json
    run: Callable[..., Answer]
    writes: bool = False
    takes_away: bool = False
    repeatable: bool = True

    @property
    def input(self) -> Json:
        """The JSON Schema of what it takes."""
        return schema(self.parameters)

    def call(self, door: Door, sent: Mapping[str, object] | None) -> Answer:
        """Check what was sent, and do it. Raises AgentMemoryError if it cannot be done."""
        return self.run(door, **read(self.parameters, sent))


def _shown(value: object) -> object:
    if isinstance(value, str):
        return show_text(value)
    if isinstance(value, dict):
        return {show_text(name): _shown(one) for name, one in value.items()}
    return [_shown(one) for one in value] if isinstance(value, list | tuple) else value

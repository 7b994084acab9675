"""What a tool takes: one table gives its JSON Schema and the check of what a caller sends."""

from collections.abc import Mapping, Sequence
from typing import Any

from ..errors import InvalidArgument
from ..values import dataclass

TEXT, NUMBER, WHOLE, FLAG, TEXTS = "string", "number", "integer", "boolean", "array"
"""The kinds of argument, by their names in JSON Schema; a list holds texts."""


@dataclass(frozen=True, slots=True)
class Parameter:
    """One argument of a tool."""

    name: str
    kind: str
    description: str
    required: bool = False
    choices: tuple[str, ...] = ()  # the only values that are allowed; empty for any
    minimum: int | None = None  # the least value of a number, and the fewest texts of a list
    maximum: int | None = None

    @property
    def schema(self) -> dict[str, object]:
        """The argument as JSON Schema."""
        found: dict[str, object] = {"type": self.kind, "description": self.description}
        if self.choices:
            found["enum"] = list(self.choices)
        if self.kind == TEXTS:
            found["items"] = {"type": TEXT}
        if self.minimum is not None:
            found["minItems" if self.kind == TEXTS else "minimum"] = self.minimum
        if self.maximum is not None:
            found["maximum"] = self.maximum
        return found

    def value(self, sent: Any) -> Any:
        """Return a checked value as a tool takes it: a whole number may be sent as 5.0."""
        return int(sent) if self.kind == WHOLE else tuple(sent) if self.kind == TEXTS else sent


def schema(parameters: Sequence[Parameter]) -> dict[str, object]:
    """Return the JSON Schema of an object with these arguments and no others."""
    return {
        "type": "object",
        "properties": {one.name: one.schema for one in parameters},
        "required": [one.name for one in parameters if one.required],
        "additionalProperties": False,
    }


def read(parameters: Sequence[Parameter], sent: Mapping[str, object] | None) -> dict[str, Any]:
    """Check what a caller sent and return the keywords that the tool is called with. What is null is left out.

    InvalidArgument names every argument that is missing, unknown or of the wrong kind.
    """
    values = {name: value for name, value in (sent or {}).items() if value is not None}
    known = {one.name: one for one in parameters}
    problems = [
        f"{name[:60]!a} is not an argument; there are {', '.join(known) or 'none'}"
        for name in values
        if name not in known
    ]
    for name, one in known.items():
        if name not in values and one.required:
            problems.append(f"{name} is missing: {one.description}")
        elif name in values and (wanted := _wanted(one, values[name])):
            problems.append(f"{name} must be {wanted}")
    if problems:
        raise InvalidArgument("; ".join(problems))
    return {name: known[name].value(value) for name, value in values.items()}


def _wanted(one: Parameter, value: object) -> str:
    """Say what the value should be; "" if it is that."""
    if one.choices:
        return "" if value in one.choices else f"one of {', '.join(one.choices)}"
    if one.kind == TEXT:
        return "" if isinstance(value, str) else "a text"
    if one.kind == FLAG:
        return "" if isinstance(value, bool) else "true or false"
    least = "" if one.minimum is None else f", at least {one.minimum}"
    if one.kind == TEXTS:
        texts = value if isinstance(value, list) else [None]
        fits = len(texts) >= (one.minimum or 0) and all(isinstance(text, str) for text in texts)
        return "" if fits else f"a list of texts{least}"
    most = "" if one.maximum is None else f", at most {one.maximum}"
    wanted = f"{'a whole number' if one.kind == WHOLE else 'a number'}{least}{most}"
    if isinstance(value, bool) or not isinstance(value, (int, float)) or (one.kind == WHOLE and value != value // 1):
        return wanted
    in_range = (one.minimum is None or value >= one.minimum) and (one.maximum is None or value <= one.maximum)
    return "" if in_range else wanted

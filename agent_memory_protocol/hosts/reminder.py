"""The reminder: what an agent hears when it stops after it has learned something and saved nothing.

Signs in the conversation's record show that something was learned: files were changed, or tools failed more than once.
The text states facts. Only the agent can know what is worth saving.
"""

import re

from ..values import dataclass

_FAILURES = 2
_EDIT = re.compile(
    rb'"name"\s*:\s*"(?:Edit|Write|MultiEdit|NotebookEdit|write_file|edit|replace|apply_patch)"'
    rb'|"tool\.execution_start".*?"toolName":"(?:create|edit|str_replace_editor|apply_patch)"'
)
_CALL = re.compile(rb'"type"\s*:\s*"(?:function_call|custom_tool_call)"')
_PATCH = b"*** Begin Patch"
_FAILURE = re.compile(rb'"is_error"\s*:\s*true|exited with code [1-9]|"status"\s*:\s*"error"')
_MOMENT = re.compile(rb'"timestamp"\s*:\s*"(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z)"')


@dataclass(frozen=True, slots=True)
class Signs:
    """What the record of a conversation shows: how often files were changed, and how often a tool failed."""

    edits: int = 0
    failures: int = 0

    @property
    def something_was_learned(self) -> bool:
        """Whether the next task may be glad to know something of it."""
        return self.edits > 0 or self.failures >= _FAILURES

    def __str__(self) -> str:
        told = []
        if self.edits:
            told.append(f"files were changed {'once' if self.edits == 1 else f'{self.edits} times'}")
        if self.failures:
            told.append(f"tools failed {'once' if self.failures == 1 else f'{self.failures} times'}")
        return " and ".join(told)


def read_signs(record: bytes) -> Signs:
    """Return the signs in a conversation's record, as the hosts write it."""
    edits = failures = 0
    for line in record.split(b"\n"):
        named = len(_EDIT.findall(line))
        edits += named or bool(_PATCH in line and _CALL.search(line))
        failures += len(_FAILURE.findall(line))
    return Signs(edits, failures)


def began_at(record: bytes) -> str:
    """Return the first moment that a record names, RFC 3339 in UTC; "" if it names no moment."""
    found = _MOMENT.search(record)
    return found[1].decode() if found else ""


def reminder(signs: Signs, agent: str | None, conversation: str | None) -> str:
    """Return what is said to an agent that saved nothing."""
    by = f" --as {agent}" if agent else ""
    ways = [f"what the whole project should know, with `amp remember TEXT{by} --tier shared`"]
    if agent:
        ways.append(f"what {agent} should know, with `amp remember TEXT{by}`")
    if conversation:
        ways.append(f"what this conversation should know, with `amp remember TEXT{by} --conversation {conversation}`")
    return (
        f"In this session {signs}, and nothing was added to this repository's agent memory. What can be saved: "
        f"{'; '.join(ways)}. If nothing would help a later task, save nothing. "
        "You get this reminder once in a conversation."
    )

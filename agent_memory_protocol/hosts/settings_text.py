"""A host's settings with our hooks in them and without: text in, text out, and not another byte changed.

What was added is found by its insertions if the text is still as it was left, else by the whole command of a hook: one
that only holds ours is a person's. Hooks of others, comments and order stay as they are either way.
"""

import json
import re
from collections.abc import Collection, Iterable, Mapping

from . import json_text
from .json_text import Insertion, Node, NotJson

_COMMAND = re.compile(r'"command":\s*("(?:[^"\\]|\\.)*")')


def with_hooks(text: str, wanted: Mapping[str, object]) -> tuple[str, list[Insertion]]:
    """Return the settings with our group of hooks added at the end of each event's list, and what was inserted.

    Raises:
        NotJson: the text is not a JSON object, or what should hold the hooks is something else.
    """
    made: list[Insertion] = []
    if _is_blank(text):
        made = [(len(text), "{\n}\n")]
        text = json_text.apply(text, made)
    for event, group in wanted.items():
        top = _top(text)
        hooks = _member(text, top, "hooks", dict)
        groups = hooks and _member(text, hooks, event, list)
        if groups:
            step = json_text.insert(text, groups, group)
        elif hooks:
            step = json_text.insert(text, hooks, [group], event)
        else:
            step = json_text.insert(text, top, {event: [group]}, "hooks")
        text = json_text.apply(text, step)
        made += step
    return text, made


def without_hooks(text: str, recorded: Iterable[str], wanted: Mapping[str, object]) -> str:
    """Return the settings without our hooks; lists and tables left empty by that go too.

    Args:
        text: the settings.
        recorded: the pieces of text that were inserted, as the receipt has them.
        wanted: the hooks that this version adds.

    Raises:
        NotJson: the text is not JSON.
    """
    if _is_blank(text):
        return text
    written = _COMMAND.findall("\n".join([*recorded, json.dumps(wanted)]))
    commands = {json.loads(command, strict=False) for command in written}
    while (found := _find_ours(text, commands)) is not None:
        text = json_text.remove(text, *found)
    return text


def is_bare(text: str) -> bool:
    """Say whether settings hold nothing at all."""
    return _is_blank(text) or json_text.parse(text).value == {}


def _find_ours(text: str, written: Collection[str]) -> tuple[Node, Node] | None:
    """Return something to remove, after the object or the list that holds it."""
    top = _top(text)
    hooks = _member(text, top, "hooks", dict)
    if hooks is None:
        return None
    for event in hooks.inside:
        for group in event.inside:
            commands = group.member("hooks")
            ours = [hook for hook in commands.inside if _command(hook) in written] if commands else []
            if commands and ours:
                if len(ours) < len(commands.inside):
                    return commands, ours[0]
                if len(event.inside) > 1:
                    return event, group
                return (hooks, event) if len(hooks.inside) > 1 else (top, hooks)
    return None


def _command(hook: Node) -> str:
    command = hook.member("command")
    return command.value if command is not None and isinstance(command.value, str) else ""


def _is_blank(text: str) -> bool:
    return not text.strip(" \t\r\n\ufeff")


def _top(text: str) -> Node:
    top = json_text.parse(text)
    if not isinstance(top.value, dict):
        raise NotJson("it is not an object", text, top.start)
    return top


def _member(text: str, node: Node, name: str, kind: type[dict[str, object]] | type[list[object]]) -> Node | None:
    found = node.member(name)
    if found and not isinstance(found.value, kind):
        raise NotJson(f"{name!r} is not {'an object' if kind is dict else 'a list'}", text, found.start)
    return found

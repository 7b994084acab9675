"""A host's settings with our hooks in them and without: text in, text out, and not another byte changed.

What was added is known by its insertions where the text is still as it was left, and else by our program's name in a
hook's command; hooks of others, comments and order stay as they are either way.
"""

import re

from . import json_text
from .json_text import Insertion, Node

_OURS = re.compile(r"(?:^|[\s\"'/\\])amp-hook(?:\.exe)?[\"']? +[a-z-]+ +--host +[a-z]+")


def with_hooks(text: str, wanted: "dict[str, list[dict[str, object]]]") -> tuple[str, list[Insertion]]:
    """Return the settings with our hooks added at the end of each event's list, and what was inserted.

    Raises:
        NotJson: the text is no JSON object, or what should hold the hooks is something else.
    """
    made: list[Insertion] = []
    if _is_blank(text):
        made = [(len(text), "{\n}\n")]
        text = json_text.apply(text, made)
    for event, groups in wanted.items():
        for group in groups:
            hooks = _object(text, _top(text), "hooks")
            if hooks is None:
                step = json_text.insert_member(text, _top(text), "hooks", {event: [group]})
            else:
                events = _list(text, hooks, event)
                step = (
                    json_text.insert_member(text, hooks, event, [group])
                    if events is None
                    else json_text.insert_item(text, events, group)
                )
            text = json_text.apply(text, step)
            made += step
    return text, made


def without_hooks(text: str) -> str:
    """Return the settings without our hooks, found by our program's name; lists and tables left empty by that go too.

    Raises:
        NotJson: the text is no JSON.
    """
    if _is_blank(text):
        return text
    while (span := _find_ours(text)) is not None:
        text = json_text.remove(text, *span)
    return text


def is_bare(text: str) -> bool:
    """Say whether settings hold nothing at all."""
    return _is_blank(text) or json_text.plain(json_text.parse(_after_mark(text))) == {}


def _find_ours(text: str) -> tuple[Node, int, int] | None:
    """Return the container of something to remove, and where that begins and ends."""
    top = _top(text)
    hooks = _object(text, top, "hooks")
    if hooks is None or hooks.members is None or top.members is None:
        return None
    for event, member in hooks.members.items():
        for group in member.node.items or []:
            inner = (group.members or {}).get("hooks")
            commands = (inner.node.items or []) if inner else []
            ours = [command for command in commands if _is_ours(command)]
            if inner and ours:
                everything = len(ours) == len(commands)
                if not everything:
                    return inner.node, ours[0].start, ours[0].end
                if len(member.node.items or []) > 1:
                    return member.node, group.start, group.end
                if len(hooks.members) > 1:
                    return hooks, hooks.members[event].start, member.node.end
                whole = top.members["hooks"]
                return top, whole.start, whole.node.end
    return None


def _is_blank(text: str) -> bool:
    return not text.strip(" \t\r\n\ufeff")


def _is_ours(command: Node) -> bool:
    member = (command.members or {}).get("command")
    return member is not None and isinstance(member.node.value, str) and _OURS.search(member.node.value) is not None


def _top(text: str) -> Node:
    mark = len(text) - len(_after_mark(text))
    top = json_text.parse(" " * mark + text[mark:])
    if top.members is None:
        raise json_text.NotJson("it is no object", text, top.start)
    return top


def _after_mark(text: str) -> str:
    return text.removeprefix("\ufeff")


def _object(text: str, node: Node, name: str) -> Node | None:
    found = (node.members or {}).get(name)
    if found is not None and found.node.members is None:
        raise json_text.NotJson(f"{name!r} is no object", text, found.node.start)
    return found.node if found else None


def _list(text: str, node: Node, name: str) -> Node | None:
    found = (node.members or {}).get(name)
    if found is not None and found.node.items is None:
        raise json_text.NotJson(f"{name!r} is no list", text, found.node.start)
    return found.node if found else None

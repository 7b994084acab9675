"""A host's settings with our hooks in them and without: text in, text out, and not another byte changed.

A hook is ours only where its whole command is one that the receipt says we wrote. Hooks of others, comments and order
stay as they are.
"""

import json
import re
from collections.abc import Iterable, Iterator, Mapping

from . import json_text
from .json_text import Insertion, Node, NotJson
from .table import Host

_COMMAND = re.compile(r'"command":\s*("(?:[^"\\]|\\.)*")')
_IN_PLUGIN = re.compile(r'^  "([a-z-]+)": ("(?:[^"\\]|\\.)*")', re.MULTILINE)
"""A line of the plugin that we write: an event, and the command line for it."""
_CALL = re.compile(r"""(?<![\w-])amp-hook(?:\.exe)?["']? +([a-z-]+)(?: +--host[ =]([a-z]+))?""")
"""A call of our program, by name or at the end of a path: the event, and the host if one is named."""


def with_hooks(text: str, wanted: Mapping[str, object], begins: str) -> tuple[str, list[Insertion]]:
    """Return the settings with our group of hooks at the end of each event's list, and what was inserted.

    An empty file becomes `begins` first. NotJson: what should hold the hooks is something else.
    """
    made: list[Insertion] = []
    if _is_blank(text):
        made = [(len(text), begins)]
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


def without_hooks(text: str, recorded: Iterable[str]) -> str:
    """Return the settings without the hooks that were inserted; lists and tables left empty by that go too.

    `recorded` are the inserted texts of the receipt (decision 48). Of two equal hooks, the later one goes.
    """
    for piece in recorded:
        for quoted in _COMMAND.findall(piece):
            found = None if _is_blank(text) else _find(text, json.loads(quoted))
            if found is not None:
                text = json_text.remove(text, *found)
    return text


def check(text: str, host: Host) -> None:
    """Refuse settings that this host would not read; NotJson names the first thing that it does not take, and where."""
    if _is_blank(text):
        return
    odd: list[tuple[str, int]] = [*json_text.oddities(text)]
    top = _top(text)
    odd += [
        ("a name that it does not know", one.begin) for one in top.inside if host.knows and one.name not in host.knows
    ]
    table = _member(text, top, "hooks", dict)
    ours = {native for native, _ in host.events.values()}
    for event in table.inside if table else ():
        if event.name in ours or isinstance(event.value, dict):  # some hosts have a switch or a list beside the events
            _check(text, event, event.name, list)
        for group in event.inside:
            odd += _odd_group(group, is_flat=host.is_flat)
    for what, position in sorted(odd, key=lambda one: one[1]):
        if what not in host.forgives:
            raise NotJson(f"there is {what}", text, position)


def is_bare(text: str) -> bool:
    """Say whether settings hold nothing but what some new files begin with."""
    return _is_blank(text) or json_text.parse(text).value in ({}, {"version": 1})


def commands(text: str) -> list[tuple[str, str]]:
    """Return each hook's event, in the host's words, and its command line."""
    if _is_blank(text):
        return []
    if _is_plugin(text):
        return [(event, json.loads(command)) for event, command in _IN_PLUGIN.findall(text)]
    return [(event.name, _command(hook)) for event, _, _, hook in _hooks(text) if _command(hook)]


def values(text: str) -> object:
    """Return what settings say, as `json.loads` would. Raises NotJson where they are not JSON."""
    return {} if _is_blank(text) or _is_plugin(text) else json_text.parse(text).value


def idle(said: object, host: Host) -> dict[str, str]:
    """Return the events, in the host's words, at which hooks that call us do not do their work, each with the reason.

    They are never run, not heard, or not asked of all tools. `said` is what settings say.
    """
    found = {}
    events = said.get("hooks") if isinstance(said, dict) else None
    for native, groups in events.items() if isinstance(events, dict) else ():
        reasons, asked = [], list[str]()
        for group in filter(_is_object, groups if isinstance(groups, list) else ()):
            listed = group.get("hooks", [group])
            for hook in filter(_is_object, listed if isinstance(listed, list) else ()):
                if (called(str(hook.get("command"))) or ("", ""))[1] != host.name:
                    continue
                kind, timeout, matcher = hook.get("type", "command"), hook.get("timeout", 1), group.get("matcher", "")
                if kind != "command":
                    reasons.append(f"the hook for {native} is of the type {kind!r}, so it does not run")
                elif hook.get("async") is True:
                    reasons.append(f"the hook for {native} runs in the background (`async`), so its answer is lost")
                elif isinstance(timeout, (int, float)) and timeout <= 0:
                    reasons.append(f"the hook for {native} has no time to answer (`timeout`: {timeout})")
                else:
                    asked += ["*"] if matcher in ("", "*", ".*") else str(matcher).split("|")
        tools = next((tools for name, tools in host.events.values() if name == native), "")
        unseen = [tool for tool in tools.split("|") if tool and not {tool, "*"} & {*asked}]
        if asked and unseen:
            reasons = [f"the guard is not asked about {', '.join(unseen)} (`matcher`)"]
        if reasons and (unseen or not asked):
            found[native] = reasons[0]
    return found


def _is_object(value: object) -> bool:
    return isinstance(value, dict)


def called(command: str) -> tuple[str, str] | None:
    """Return the event and the host for which a command line calls `amp-hook`; None if it does not."""
    found = _CALL.search(command)
    return None if found is None else (found[1], found[2] or "claude")


def _find(text: str, command: str) -> tuple[Node, Node] | None:
    """Return what goes with the last hook of this command, after the object or the list that holds it."""
    top = _top(text)
    table = _member(text, top, "hooks", dict)
    found = [place for place in _hooks(text) if _command(place[3]) == command]
    if table is None or not found:
        return None
    event, group, listed, hook = found[-1]
    if len(listed.inside) > 1:
        return listed, hook
    if len(event.inside) > 1:
        return event, group
    return (table, event) if len(table.inside) > 1 else (top, table)


def _hooks(text: str) -> Iterator[tuple[Node, Node, Node, Node]]:
    """Yield each hook after the event, the group and the list that hold it. Hosts pass over a file of another shape."""
    table = _member(text, _top(text), "hooks", dict)
    for event in table.inside if table else ():
        if isinstance(event.value, dict):  # some hosts have a switch or a list of names beside the events
            _check(text, event, event.name, list)
        for group in event.inside:
            listed = _member(text, group, "hooks", list)
            if listed is not None:
                yield from ((event, group, listed, hook) for hook in listed.inside)
            else:
                yield event, group, event, group


def _odd_group(group: Node, *, is_flat: bool) -> Iterator[tuple[str, int]]:
    """Yield what is odd in a group of hooks, or in a hook where a host lists them without groups."""
    matcher, listed = group.member("matcher"), group.member("hooks")
    if not isinstance(group.value, dict):
        yield "a group of hooks that is not an object", group.start
        return
    if matcher is not None and not isinstance(matcher.value, str):
        yield "a matcher that is not a text", matcher.start
    if is_flat:
        yield from _odd_hook(group)
    elif listed is None:
        yield "a group without hooks", group.start
    else:
        for hook in listed.inside:
            yield from _odd_hook(hook)


def _odd_hook(hook: Node) -> Iterator[tuple[str, int]]:
    kind, timeout = hook.member("type"), hook.member("timeout")
    if not isinstance(hook.value, dict):
        yield "a hook that is not an object", hook.start
        return
    if kind is None or not isinstance(kind.value, str):
        yield "a hook without a type", hook.start
    elif kind.value == "command" and not _command(hook):
        yield "a hook without a command", hook.start
    if timeout is not None and (type(timeout.value) not in (int, float) or not timeout.value > 0):  # type: ignore[operator]
        yield "a timeout that is not a number above 0", timeout.start


def _command(hook: Node) -> str:
    command = hook.member("command")
    return command.value if command is not None and isinstance(command.value, str) else ""


def _is_plugin(text: str) -> bool:
    """Say whether a text is a plugin that we write, and no settings that begin with a comment."""
    return text.startswith("//") and "HOOKS = {" in text


def _is_blank(text: str) -> bool:
    return not text.strip(" \t\r\n\ufeff")


def _top(text: str) -> Node:
    top = json_text.parse(text)
    if not isinstance(top.value, dict):
        raise NotJson("it is not an object", text, top.start)
    return top


def _member(text: str, node: Node, name: str, kind: type[dict[str, object]] | type[list[object]]) -> Node | None:
    found = node.member(name)
    return found and _check(text, found, name, kind)


def _check(text: str, node: Node, name: str, kind: type[dict[str, object]] | type[list[object]]) -> Node:
    if not isinstance(node.value, kind):
        raise NotJson(f"{name!r} is not {'an object' if kind is dict else 'a list'}", text, node.start)
    return node

"""JSON settings that people write by hand, edited as text: what is added is added, every other byte stays.

Comments and trailing commas are read over, as the hosts whose settings these are do. A text is never written anew; an
addition is a list of insertions, and taking them out again in reverse gives the text there was before.
"""

import json
import re
from dataclasses import dataclass, field

_BLANK = " \t\r\n"
_LITERAL = re.compile(r"-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null")
_DEEPEST = 100

Insertion = tuple[int, str]
"""Where in a text something is put in, and what. Several are made one after the other, each in what the last gave."""


class NotJson(ValueError):
    """A text is not JSON, not even with comments; it says in which line and why."""

    def __init__(self, reason: str, text: str, position: int) -> None:
        super().__init__(reason)
        self.line = text.count("\n", 0, position) + 1


@dataclass(slots=True)
class Node:
    """A value in a text: where it begins and ends, and what is in it.

    Attributes:
        start, end: the first character, and the one after the last.
        value: what `json.loads` would give for a text, a number or a literal; None for an object or a list.
        members: the members of an object; None where it is none. Of two with one name the last counts.
        items: the items of a list; None where it is none.
    """

    start: int
    end: int = 0
    value: object = None
    members: "dict[str, Member] | None" = None
    items: "list[Node] | None" = None


@dataclass(slots=True)
class Member:
    """A member of an object: where its name begins, and its value."""

    start: int
    node: Node = field(default_factory=lambda: Node(0))


def parse(text: str) -> Node:
    """Read a text.

    Raises:
        NotJson: it is not JSON.
    """
    reader = _Reader(text)
    node = reader.value(0)
    reader.skip()
    if reader.position < len(text):
        raise NotJson("something follows the end of the value", text, reader.position)
    return node


def plain(node: Node) -> object:
    """Return what a node says, as `json.loads` would."""
    if node.members is not None:
        return {name: plain(member.node) for name, member in node.members.items()}
    return node.value if node.items is None else [plain(item) for item in node.items]


def insert_member(text: str, node: Node, name: str, value: object) -> list[Insertion]:
    """Return what puts a member at the end of an object."""
    last = list((node.members or {}).values())[-1:]
    return _insert(text, node, last[0].start if last else None, last[0].node.end if last else None, value, name=name)


def insert_item(text: str, node: Node, value: object) -> list[Insertion]:
    """Return what puts an item at the end of a list."""
    last = (node.items or [])[-1:]
    return _insert(text, node, last[0].start if last else None, last[0].end if last else None, value)


def apply(text: str, insertions: list[Insertion]) -> str:
    """Put insertions in, one after the other."""
    for position, piece in insertions:
        text = text[:position] + piece + text[position:]
    return text


def take_out(text: str, insertions: list[Insertion]) -> str | None:
    """Take insertions out again, the last one first; None where the text is not what they gave."""
    for position, piece in reversed(insertions):
        if text[position : position + len(piece)] != piece:
            return None
        text = text[:position] + text[position + len(piece) :]
    return text


def remove(text: str, container: Node, start: int, end: int) -> str:
    """Take a member or an item out of its container, with its comma, and its lines where nothing else is on them."""
    after = _skip(text, end)
    comma = after if text[after : after + 1] == "," else -1
    if comma < 0:
        comma = _comma_before(text, container, start)
    else:
        end = comma + 1
        comma = -1
    line = text.rfind("\n", 0, start) + 1
    stop = end
    while stop < len(text) and text[stop] in " \t\r":
        stop += 1
    if not text[line:start].strip() and text[stop : stop + 1] == "\n" and line > container.start:
        start, end = line, stop + 1
    elif text[end : end + 1] == " ":
        end += 1
    text = text[:start] + text[end:]
    return (
        text if comma < 0 else text[:comma] + text[comma + (2 if text[comma + 1 : comma + 3] in (" }", " ]") else 1) :]
    )


def _insert(
    text: str, node: Node, first: int | None, last: int | None, value: object, *, name: str | None = None
) -> list[Insertion]:
    newline = "\r\n" if "\r\n" in text else "\n"
    unit = _unit(text)
    flat = "\n" not in text[node.start : node.end] and (last is not None or "\n" not in text.strip())
    label = "" if name is None else f"{json.dumps(name)}: "
    if flat:
        piece = label + json.dumps(value, ensure_ascii=False)
        return [(node.end - 1, piece)] if last is None else [(last, ", " + piece)]
    outer = _indent_of(text, node.start)
    indent = _indent_of(text, first) if first is not None else outer + unit
    lines = json.dumps(value, ensure_ascii=False, indent=unit).split("\n")
    piece = newline + indent + label + (newline + indent).join(lines)
    if last is None:
        inside = text[node.start + 1 : node.end - 1]
        closing = "" if "\n" in inside else newline + outer
        return [(node.start + 1 + len(inside.rstrip(_BLANK)) if closing == "" else node.end - 1, piece + closing)]
    after = _skip(text, last)
    if text[after] == ",":
        return [(_line_rest(text, after + 1), piece)]
    return [(last, ","), (_line_rest(text, last) + 1, piece)]


def _line_rest(text: str, position: int) -> int:
    """Return where the line ends, if only a comment follows on it; else the position itself."""
    end = text.find("\n", position)
    end = len(text) if end < 0 else end
    rest = text[position:end].rstrip("\r")
    comment = rest.strip()
    if comment.startswith("//") or (comment.startswith("/*") and comment.endswith("*/")):
        return position + len(rest)
    return position


def _unit(text: str) -> str:
    """Return what one level is indented by."""
    for line in text.split("\n"):
        margin = line[: len(line) - len(line.lstrip(" \t"))]
        if margin and line.strip() and not line.lstrip().startswith(("//", "*", "/*")):
            return margin
    return "  "


def _indent_of(text: str, position: int) -> str:
    line = text[text.rfind("\n", 0, position) + 1 : position]
    return line[: len(line) - len(line.lstrip(" \t"))]


def _comma_before(text: str, container: Node, start: int) -> int:
    """Return where the comma before an item stands; -1 where it is the first."""
    ends = [member.node.end for member in (container.members or {}).values()]
    ends += [item.end for item in container.items or []]
    before = [end for end in ends if end <= start]
    if not before:
        return -1
    comma = _skip(text, max(before))
    return comma if text[comma : comma + 1] == "," else -1


def _skip(text: str, position: int) -> int:
    reader = _Reader(text, position)
    reader.skip()
    return reader.position


class _Reader:
    def __init__(self, text: str, position: int = 0) -> None:
        self.text = text
        self.position = position

    def fail(self, reason: str) -> NotJson:
        return NotJson(reason, self.text, self.position)

    def skip(self) -> None:
        """Go over blanks and comments."""
        while self.position < len(self.text):
            if self.text[self.position] in _BLANK:
                self.position += 1
            elif self.text.startswith("//", self.position):
                end = self.text.find("\n", self.position)
                self.position = len(self.text) if end < 0 else end
            elif self.text.startswith("/*", self.position):
                end = self.text.find("*/", self.position + 2)
                if end < 0:
                    raise self.fail("a comment is not closed")
                self.position = end + 2
            else:
                return

    def value(self, depth: int) -> Node:
        self.skip()
        if depth > _DEEPEST:
            raise self.fail("it is nested too deep")
        node = Node(self.position)
        character = self.text[self.position : self.position + 1]
        if character == "{":
            node.members = {}
            self._fill(node, "}", depth)
        elif character == "[":
            node.items = []
            self._fill(node, "]", depth)
        elif character == '"':
            node.value = self.string()
        else:
            literal = _LITERAL.match(self.text, self.position)
            if literal is None:
                raise self.fail(f"{character!a} is no beginning of a value" if character else "it ends too early")
            node.value = json.loads(literal[0])
            self.position = literal.end()
        node.end = self.position
        return node

    def _fill(self, node: Node, closing: str, depth: int) -> None:
        self.position += 1
        self.skip()
        while self.text[self.position : self.position + 1] != closing:
            if node.members is not None:
                member = Member(self.position)
                name = self.string()
                self.skip()
                if self.text[self.position : self.position + 1] != ":":
                    raise self.fail("a colon is missing after a name")
                self.position += 1
                member.node = self.value(depth + 1)
                node.members.pop(name, None)
                node.members[name] = member
            elif node.items is not None:
                node.items.append(self.value(depth + 1))
            self.skip()
            if self.text[self.position : self.position + 1] == ",":
                self.position += 1
                self.skip()
            elif self.text[self.position : self.position + 1] != closing:
                raise self.fail(f"a comma or {closing} is missing")
        self.position += 1

    def string(self) -> str:
        if self.text[self.position : self.position + 1] != '"':
            raise self.fail("a name in double quotes is missing")
        end = self.position + 1
        while end < len(self.text) and self.text[end] not in '"\n':
            end += 2 if self.text[end] == "\\" else 1
        try:
            read: str = json.loads(self.text[self.position : end + 1])
        except ValueError as error:
            raise self.fail("a text is not closed, or has a wrong escape") from error
        self.position = end + 1
        return read

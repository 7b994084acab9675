"""JSON settings that people write by hand, edited as text: what is added is added, every other byte stays.

Comments and trailing commas are allowed, as the hosts whose settings these are allow them. A text is never rendered
again: an addition is a list of insertions, and taking them out in reverse gives the text there was before.
"""

import json
import re
from collections.abc import Iterator
from typing import Literal

from ..values import dataclass

_GAP = re.compile(r"(?:[ \t\r\n]|//[^\n]*|/\*.*?\*/)*", re.DOTALL)
_STRING = re.compile(r'"(?:[^"\\\n]|\\.)*"')
_LITERAL = re.compile(r"-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null")
_CLOSING = {"{": "}", "[": "]"}
_DEEPEST = 100

Insertion = tuple[int, str]
"""Where in a text something is put in, and what. Several are made one after the other, each in what the last gave."""


Oddity = Literal["a byte-order mark", "a comment", "a comma after the last one", "a doubled name", "half a character"]
"""What not every reader of JSON takes."""


class NotJson(ValueError):
    """A text is not JSON, not even with comments; it says in which line and why."""

    def __init__(self, reason: str, text: str, position: int) -> None:
        super().__init__(reason)
        self.line = text.count("\n", 0, position) + 1


@dataclass(frozen=True, slots=True)
class Node:
    """A value in a text, and its name if it is a member of an object."""

    name: str
    begin: int  # the first character, that of the name if there is one
    start: int  # with `end`: the first character of the value, and the one after its last
    end: int
    value: object
    inside: "tuple[Node, ...]" = ()  # the members of an object, or the items of a list

    def member(self, name: str) -> "Node | None":
        """Return the member of this name, of two the last, as JSON readers do; None without one."""
        return next((one for one in reversed(self.inside) if one.name == name), None)


def parse(text: str) -> Node:
    """Read a text; a byte-order mark before it is skipped. Raises NotJson if it is not JSON."""
    return _Reader(text).read_all()


def oddities(text: str) -> list[tuple[Oddity, int]]:
    """Return what in a text a strict reader of JSON would not take, and where."""
    reader = _Reader(text)
    reader.read_all()
    return reader.odd


def insert(text: str, node: Node, value: object, name: str | None = None) -> list[Insertion]:
    """Return what puts a value at the end of a list, or, with a name, at the end of an object."""
    newline = "\r\n" if "\r\n" in text else "\n"
    unit = _unit(text)
    last = node.inside[-1] if node.inside else None
    label = "" if name is None else f"{json.dumps(name)}: "
    if "\n" not in text[node.start : node.end] and (last or "\n" not in text.strip()):
        piece = label + json.dumps(value, ensure_ascii=False)
        return [(node.end - 1, piece)] if last is None else [(last.end, ", " + piece)]
    outer = _indent_of(text, node.start)
    indent = _indent_of(text, last.begin) if last else outer + unit
    lines = json.dumps(value, ensure_ascii=False, indent=unit).split("\n")
    piece = newline + indent + label + (newline + indent).join(lines)
    if last is None:
        inside = text[node.start + 1 : node.end - 1]
        if "\n" not in inside:
            return [(node.end - 1, piece + newline + outer)]
        return [(node.start + 1 + len(inside.rstrip(" \t\r\n")), piece)]
    after = _after_gap(text, last.end)
    if text[after] == ",":
        return [(_line_rest(text, after + 1), piece)]
    return [(last.end, ","), (_line_rest(text, last.end) + 1, piece)]


def apply(text: str, insertions: list[Insertion]) -> str:
    """Put insertions in, one after the other."""
    for position, piece in insertions:
        text = text[:position] + piece + text[position:]
    return text


def take_out(text: str, insertions: list[Insertion]) -> str | None:
    """Take insertions out again, the last one first; None if the text is not what they gave."""
    for position, piece in reversed(insertions):
        if not text.startswith(piece, position):
            return None
        text = text[:position] + text[position + len(piece) :]
    return text


def remove(text: str, container: Node, node: Node) -> str:
    """Take a member or an item out of its container, with its comma, and its lines if nothing else is on them."""
    start, end = node.begin, node.end
    after, comma = _after_gap(text, end), None
    if text[after] == ",":
        end = after + 1
    elif node is not container.inside[0]:
        comma = _after_gap(text, container.inside[-2].end)  # only the last one has no comma after it
    line = text.rfind("\n", 0, start) + 1
    stop = len(text) - len(text[end:].lstrip(" \t\r"))
    if not text[line:start].strip() and text.startswith("\n", stop) and line > container.start:
        start, end = line, stop + 1
    elif text.startswith(" ", end):
        end += 1
    text = text[:start] + text[end:]
    if comma is None:
        return text
    return text[:comma] + text[comma + (2 if text.startswith((" }", " ]"), comma + 1) else 1) :]


def _line_rest(text: str, position: int) -> int:
    """Return where the line ends, if only a comment follows on it; else the position itself."""
    rest = text[position:].partition("\n")[0].rstrip("\r")
    comment = rest.strip()
    is_comment = comment.startswith("//") or (comment.startswith("/*") and comment.endswith("*/"))
    return position + len(rest) if is_comment else position


def _unit(text: str) -> str:
    """Return what one level is indented by."""
    for line in text.split("\n"):
        margin = _indent_of(line, len(line))
        if margin and line.strip() and not line.lstrip().startswith(("//", "*", "/*")):
            return margin
    return "  "


def _indent_of(text: str, position: int) -> str:
    line = text[text.rfind("\n", 0, position) + 1 : position]
    return line[: len(line) - len(line.lstrip(" \t"))]


def _after_gap(text: str, position: int) -> int:
    """Return the first position from this one on that is in no blank and no comment."""
    gap = _GAP.match(text, position)
    return position if gap is None else gap.end()


class _Reader:
    def __init__(self, text: str) -> None:
        self.text = text
        self.position = len(text) - len(text.removeprefix("\ufeff"))
        self.odd: list[tuple[Oddity, int]] = [("a byte-order mark", 0)] if self.position else []

    def fail(self, reason: str) -> NotJson:
        return NotJson(reason, self.text, self.position)

    def read_all(self) -> Node:
        self.peek()
        node = self.value("", self.position, 0)
        if self.peek():
            raise self.fail("something follows the end of the value")
        return node

    def peek(self) -> str:
        """Go over blanks and comments, and return the next character; "" at the end."""
        start, self.position = self.position, _after_gap(self.text, self.position)
        blanks = self.text[start : self.position]
        if "/" in blanks:
            self.odd.append(("a comment", start + blanks.index("/")))
        if self.text.startswith("/*", self.position):
            raise self.fail("a comment is not closed")
        return self.text[self.position : self.position + 1]

    def value(self, name: str, begin: int, depth: int) -> Node:
        character = self.peek()
        start = self.position
        value: object
        inside: tuple[Node, ...] = ()
        if depth > _DEEPEST:
            raise self.fail("it is nested too deep")
        if character in _CLOSING:
            inside = tuple(self.inside(_CLOSING[character], depth + 1))
            value = {one.name: one.value for one in inside} if character == "{" else [one.value for one in inside]
        elif character == '"':
            value = self.string()
        elif literal := _LITERAL.match(self.text, start):
            value = json.loads(literal[0])
            self.position = literal.end()
        else:
            raise self.fail(f"{character!a} cannot begin a value" if character else "it ends too early")
        return Node(name, begin, start, self.position, value, inside)

    def inside(self, closing: str, depth: int) -> Iterator[Node]:
        self.position += 1
        names: set[str] = set()
        comma = None
        while self.peek() != closing:
            name, begin = "", self.position
            if closing == "}":
                name = self.string()
                if name in names:
                    self.odd.append(("a doubled name", begin))
                names.add(name)
                if self.peek() != ":":
                    raise self.fail("a colon is missing after a name")
                self.position += 1
            yield self.value(name, begin, depth)
            comma = self.position if self.peek() == "," else None
            if comma is not None:
                self.position += 1
            elif self.peek() != closing:
                raise self.fail(f"a comma or {closing} is missing")
        if comma is not None:
            self.odd.append(("a comma after the last one", comma))
        self.position += 1

    def string(self) -> str:
        if not self.text.startswith('"', self.position):
            raise self.fail("a name in double quotes is missing")
        found = _STRING.match(self.text, self.position)
        quoted = found[0] if found else ""
        try:
            read: str = json.loads(quoted)
        except ValueError as error:
            raise self.fail("a text is not closed, or has a wrong escape") from error
        if any("\ud800" <= character <= "\udfff" for character in read):
            self.odd.append(("half a character", self.position))
        self.position += len(quoted)
        return read

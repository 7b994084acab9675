"""What the memory tool is told and what it answers: paths, ranges, listings, letter by letter as the published tool."""

import re
from collections.abc import Iterator, Mapping

from ..answers import Rewritten, StoredFile
from ..errors import AgentMemoryError, InvalidArgument
from ..text.visible import show_text

ROOT = "/memories"
MOST_LINES = 999_999  # A file of more lines is not shown
_NUMBER_WIDTH = 6
_LEVELS = 2
_UNITS = "BKMG"
# As `re.escape` spells an escape of ours.
_ESCAPE = re.compile(r"\\\\(?:x([0-9a-f]{2})|u([0-9a-f]{4})|U(00(?:0[0-9a-f]|10)[0-9a-f]{4}))")

Names = tuple[str, ...]  # A path below `/memories`, one name each
Tree = Mapping[Names, StoredFile | None]
"""The paths below a folder: files, and None for folders that exist even while they are empty."""


class MemoryToolError(AgentMemoryError):
    """The answer to a command that cannot be carried out, in the words of the published tool."""

    def __init__(self, message: str) -> None:
        super().__init__(show_text(message))


def names_of(path: str) -> Names:
    """Return the names of a path below `/memories`."""
    if path != ROOT and not path.startswith(f"{ROOT}/"):
        raise MemoryToolError(f"Path must start with {ROOT}, got: {path}")
    names: list[str] = []
    for name in path[len(ROOT) :].split("/"):
        if name == "..":
            if not names:
                raise MemoryToolError(f"Path {path} would escape {ROOT} directory")
            names.pop()
        elif name not in ("", "."):
            names.append(name)
    return tuple(names)


def path_of(names: Names) -> str:
    """Return a path as the tool spells it."""
    return "/".join((ROOT, *names))


def text_of(command: Mapping[str, object], key: str) -> str:
    """Return a text of a command. Raises InvalidArgument if it is missing, or not a text."""
    value = command.get(key)
    if not isinstance(value, str):
        raise InvalidArgument(f"the command needs {key}, a text")
    return value


def view_range(command: Mapping[str, object], lines: int) -> tuple[int, int]:
    """Return which lines are asked for, as the bounds of a slice. Numbers outside the file are not an error."""
    asked = command.get("view_range")
    if asked is None or asked == []:
        return 0, lines
    if not isinstance(asked, list) or any(not isinstance(one, int) or isinstance(one, bool) for one in asked):
        raise InvalidArgument("view_range is a list of two line numbers")
    if len(asked) != 2:
        return 0, lines
    return max(1, asked[0]) - 1, lines if asked[1] == -1 else asked[1]


def plain_text(text: str) -> str:
    r"""Return a text with `\n` for its line ends where all of them are `\r\n`, as a model will send them."""
    ends = text.count("\r\n")
    return text.replace("\r\n", "\n") if ends and ends == text.count("\n") else text


def as_stored(text: str, old: str) -> str:
    """Return `old` as a text has it, if it was copied from an answer that shows hidden characters as escapes."""
    quoted = re.escape(old)
    if old in text or _ESCAPE.search(quoted) is None:
        return old
    form = _ESCAPE.sub(lambda one: f"(?:{re.escape(chr(int(one[one.lastindex or 0], 16)))}|{one[0]})", quoted)
    found = re.search(form, text)
    return found[0] if found else old


def replaced_once(text: str, old: str, new: str, path: str) -> tuple[str, int]:
    """Return the text with the one place of `old` replaced, and the index of the line where that is."""
    count = text.count(old)
    if count == 0:
        raise MemoryToolError(f"No replacement was performed, old_str `{old}` did not appear verbatim in {path}.")
    places = [place for place in range(len(text)) if text.startswith(old, place)]
    lines = [text.count("\n", 0, place) for place in places]
    if count > 1:
        numbers = ", ".join(str(line + 1) for line in lines)
        raise MemoryToolError(
            f"No replacement was performed. Multiple occurrences of old_str `{old}` in lines: {numbers}. "
            "Please ensure it is unique"
        )
    return text.replace(old, new), lines[0]


def numbered(lines: list[str], first: int) -> str:
    """Return lines with their numbers, as the tool shows them."""
    return "\n".join(f"{number:>{_NUMBER_WIDTH}}\t{line}" for number, line in enumerate(lines, start=first))


def listing(path: str, tree: Tree) -> str:
    """Return the files and folders below a folder, two levels deep, with sizes."""
    header = f"Here're the files and directories up to 2 levels deep in {path}, excluding hidden items:"
    folder = path.rstrip("/")
    rows = [(_shown_size(tree), folder), *((size, f"{folder}/{name}") for size, name in _rows(tree, _LEVELS))]
    return "\n".join([header, *(f"{size}\t{name}" for size, name in rows)])


def _rows(tree: Tree, levels: int) -> Iterator[tuple[str, str]]:
    """Yield the size and the name of each file and folder, folders with a slash, as many levels deep."""
    for name in sorted({path[0] for path in tree}):
        below = {path[1:]: file for path, file in tree.items() if path[0] == name}
        is_file = below.get(()) is not None
        yield _shown_size(below), name if is_file else f"{name}/"
        if levels > 1 and not is_file:
            inside = {path: file for path, file in below.items() if path}
            yield from ((size, f"{name}/{rest}") for size, rest in _rows(inside, levels - 1))


def _shown_size(tree: Tree) -> str:
    """Return the size of all files together as the published tool prints sizes: 0B, 13B, 4K, 1.5K."""
    size = float(sum(file.size for file in tree.values() if file is not None))
    unit = 0
    while size >= 1024 and unit < len(_UNITS) - 1:
        size /= 1024
        unit += 1
    return f"{int(size) if size == int(size) else format(size, '.1f')}{_UNITS[unit]}"


def answer(said: str, done: Rewritten | None) -> str:
    """Return the published text, and below it what else the model should know, a line each."""
    notes = [] if done is None else [*done.notes]
    room = None if done is None else done.headroom
    if room is not None and room.warning:
        notes.append(
            f"the file is {room.warning}: {max(room.lines, 0)} of {room.max_lines} lines "
            f"and {max(room.bytes, 0):,} of {room.max_bytes:,} bytes are left"
        )
    return "\n".join([said, *(f"({note})" for note in notes)])
